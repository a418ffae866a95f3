/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* limits.h - private to verify/: how much is followed, by the table limits.def.
 *     LIMIT(COUNTS, 16, ..)   ->   MAX_COUNTS == 16, LIMIT_COUNTS
 */
#ifndef DSL_VERIFY_LIMITS_H
#define DSL_VERIFY_LIMITS_H

#include "base/base.h"

enum {
#define LIMIT(id, most, text) MAX_##id = most,
#include "verify/limits.def"
};
typedef enum {
	LIMIT_NONE,
#define LIMIT(id, most, text) LIMIT_##id,
#include "verify/limits.def"
} LimitId;

const char *limit_text(Ctx *c, LimitId id); /* that it was met, in a sentence with its number */

#endif
