/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* write_launcher.c - writes the launcher header or the C array of the sample's cubin, for
 * launcher.c and launcher.sh.
 *   write_launcher header|array FILE */
#include "sample.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	Sample s;
	Buf out = {0}, cubin = {0};
	if (argc != 3)
		return 2;
	sample_fill(&s);
	sample_copies(&s);
	s.kernel[0].args[0].name = "class"; /* no member name in C++ */
	s.kernel[0].schedule = "odd \"quotes\" \\ and ?"
			       "?/ trigraphs";
	sample_cubin_write(&s.module, &cubin);
	if (strcmp(argv[1], "header") == 0)
		header_write(&s.module, "sample", "SAMPLE_LAUNCH_H", &out);
	else
		c_write(cubin.s, cubin.n, "sample", &out);
	FILE *f = fopen(argv[2], "w");
	if (!f || fwrite(out.s, 1, out.n, f) != out.n || fclose(f))
		return 1;
	buf_free(&out);
	buf_free(&cubin);
	return 0;
}
