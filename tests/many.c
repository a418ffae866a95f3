/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* many.c - dslc as often as standard input has lines, in one process, which is started once: of a
 * compilation of 20 ms ten are that. A line has dslc's arguments, which blanks divide and nothing
 * quotes. The first that fails is the last.
 *     explain gemm.gemm -DbN=64 -o full.gemm
 *     --emit=llvm full.gemm -o full.ll
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, WORDS_MAX = 64 };

int dslc_main(int argc, char **argv); /* driver/tool.c */

static int words(char *line, char **to)
{
	int n = 0;
	char *rest = NULL;
	to[n++] = "dslc";
	for (char *at = strtok_r(line, " \n", &rest); at; at = strtok_r(NULL, " \n", &rest)) {
		if (n == WORDS_MAX - 1) {
			fprintf(stderr, "dslc_many: more than %d words\n", n);
			exit(2);
		}
		to[n++] = at;
	}
	to[n] = NULL;
	return n;
}

int main(void)
{
	static char line[LINE_MAX_BYTES], shown[LINE_MAX_BYTES];
	char *word[WORDS_MAX];
	while (fgets(line, sizeof line, stdin)) {
		memcpy(shown, line, sizeof shown);
		if (!strchr(line, '\n'))
			return fprintf(stderr, "dslc_many: no end of line: %s\n", line), 2;
		int code = dslc_main(words(line, word), word);
		if (code) {
			fprintf(stderr, "dslc_many: %d from: %s", code, shown);
			return code;
		}
	}
	return 0;
}
