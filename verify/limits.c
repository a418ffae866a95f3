/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* limits.c - what is said of a limit that was met.
 *     LIMIT_COUNTS   ->   "loops have more than 16 trip counts"
 */
#include "verify/limits.h"

#include <string.h>

static const struct {
	const char *text;
	int most;
} limits[] = {
	{"", 0},
#define LIMIT(id, most, text) {text, most},
#include "verify/limits.def"
};

const char *limit_text(Ctx *c, LimitId id)
{
	const char *text = limits[id].text, *at = strstr(text, "%d");
	return ctx_strf(c, "%.*s%d%s", (int)(at - text), text, limits[id].most, at + 2);
}
