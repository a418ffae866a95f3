/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_boxes.c - does a TMA box start where the hardware can start one? Along the tensor's fast
 * mode that is at a multiple of 16 bytes; anything else is an illegal instruction.
 *     let n (cta % cols)
 *     tma.load %sB, %B.map, %full (0, n * 64, 0)      bf16: right
 *     tma.load %sB, %B.map, %full (0, n * 4, 0)       n may be 1: refused */
#include "ir/verify.h"

enum { START_BITS = 128 };

const char *box_rule(Ctx *c, const Scope *s, const Op *op)
{
	const Type *tensor = IN(IN(op, MAP).val->def, OF).val->type;
	int every = START_BITS / elem_rows[tensor->elem].bits;
	int64_t divisor = ix_divisor(IX(op, COORD), (IxFacts){.at = s->facts.at, .n = s->facts.n});
	if (divisor % every == 0)
		return NULL;
	return ctx_strf(c,
			"a box starts at a multiple of 16 bytes, %d elements, along the tensor's "
			"fast mode, which %s is not shown to be",
			every, ix_text(c, IX(op, COORD)));
}
