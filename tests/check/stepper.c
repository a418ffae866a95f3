/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper - what the stepper says of the known patterns: those that are right fail nowhere, and
 * each that is wrong does, in some interleaving at some sizes.
 *     stepper PATTERN.ir...      "# verified" or "# error .." in the file says which it is
 */
#include "stepper.h"

#include <stdio.h>
#include <string.h>

/* Fewer of both with sanitizers: CMakeLists.txt. */
#ifndef INTERLEAVINGS
#define INTERLEAVINGS 30
#define SIZES_RIGHT   40 /* of a pattern that is right */
#endif

enum { SIZES = 40, MOST = 1 << 20 };

static bool fails(const Kernel *k, int sizes, Finding *out)
{
	bool found = false;
	Arena *arena = arena_new();
	for (int i = 0; i < sizes && !found; i++) {
		Sizes s;
		const char *why;
		PtxTrace *t = NULL;
		if (stepper_sizes(k, (uint64_t)i, 1 + i % 7, i * 5 % 9, &s))
			t = stepper_trace(arena, k, &s, &why);
		for (int n = 0; t && n < INTERLEAVINGS && !found; n++)
			found = !stepper_run(t, (uint64_t)(i * INTERLEAVINGS + n), out);
		arena_reset(arena);
	}
	arena_free(arena);
	return found;
}

/* Text that is no kernel says nothing, nor does what nobody claims to decide. */
static bool judge(const char *file, int *judged)
{
	static char text[MOST];
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(text, 1, MOST - 1, f) : 0;
	bool right = true;
	if (f)
		fclose(f);
	text[n] = 0;
	bool verified = strstr(text, "\n# verified\n"), wrong = strstr(text, "\n# error ");
	Ctx *c = ctx_new();
	Module *m = module_parse(c, ctx_src(c, file, text, n));
	if (m && m->kernels.n && (verified || wrong)) {
		Finding found = {0};
		bool failed = fails(m->kernels.at[0], wrong ? SIZES : SIZES_RIGHT, &found);
		right = failed == wrong;
		++*judged;
		if (!right)
			printf("%s: %s: %s\n", file, failed ? found.what : "nothing fails",
			       found.text);
	}
	ctx_free(c);
	return right;
}

int main(int argc, char **argv)
{
	int judged = 0, bad = 0;
	for (int i = 1; i < argc; i++)
		bad += !judge(argv[i], &judged);
	printf("%d patterns, %d otherwise than they say\n", judged, bad);
	return bad || 10 * judged < 8 * (argc - 1);
}
