/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* halves.h - which of the patterns one of two programs looks at: -h 0 those of even places, -h 1
 * those of odd ones; all without -h, or with EVERY=1 in the environment. */
#ifndef DSL_TESTS_CHECK_HALVES_H
#define DSL_TESTS_CHECK_HALVES_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE = -1 };

static bool in_half(int half, int i)
{
	const char *every = getenv("EVERY");
	return half == WHOLE || i % 2 == half || (every && !strcmp(every, "1"));
}

#endif
