/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* picks_list.c - what the cost model likes best for many sizes, for those who measure it.
 *     picks_list FILE.gemm COUNT [DEFINE...] <SIZES     a line "M=16,N=4096,K=4096" each
 * Prints, for each line, COUNT lines: the sizes, the estimate in us, and the defines, all apart by
 * tabs. */
#include "driver/choose/choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void list_one(const Source *s, const CompileOpt *given, char *line, int count)
{
	Ctx *c = ctx_new();
	SizeArgs sizes = {0};
	RankedVec all = {0};
	line[strcspn(line, "\n")] = '\0';
	const char *wrong = sizes_parse(ctx_arena(c), line, &sizes);
	CompileOpt opt = *given;
	opt.sizes = &sizes;
	opt.nsizes = 1;
	if (wrong || !choose_ranked(c, s, &opt, count, &all))
		fprintf(stderr, "picks_list: nothing for '%s'\n", line);
	for (int i = 0; i < all.n; i++) {
		printf("%s\t%.2f", line, all.at[i].us);
		for (int j = 0; j < all.at[i].defines.n; j++)
			printf("\t%s", all.at[i].defines.at[j]);
		for (int j = 0; j < opt.ndefines; j++)
			printf("\t%s", opt.defines[j]);
		printf("\n");
	}
	ctx_free(c);
}

int main(int argc, char **argv)
{
	static char text[1 << 20], line[256];
	FILE *f = argc > 2 ? fopen(argv[1], "r") : NULL;
	if (!f) {
		fprintf(stderr, "usage: picks_list FILE.gemm COUNT [DEFINE...] <SIZES\n");
		return 2;
	}
	size_t n = fread(text, 1, sizeof text, f);
	Source s = {.name = argv[1], .text = text, .size = n};
	fclose(f);
	CompileOpt opt = {.stop_after = AFTER_LAST,
			  .only = -1,
			  .defines = (const char *const *)argv + 3,
			  .ndefines = argc - 3};
	while (fgets(line, sizeof line, stdin))
		list_one(&s, &opt, line, atoi(argv[2]));
	return 0;
}
