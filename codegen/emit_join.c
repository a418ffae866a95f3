/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_join.c - values joined to what global memory holds, by one instruction that no other can
 * come between (PTX ISA, red). There is none for the larger of two f32: their bits are in the order
 * of integers where the sign is clear, in the reverse order where it is set (IEEE 754).
 *     st.global %S, %r[0] (..) combine=sum  ->  red.relaxed.gpu.global.add.f32 [%rd1], %f1 */
#include "codegen/cg.h"

/* What is no number is left out. */
#define BY_SIGN(set, clear)                                                   \
	"{ .reg .pred some, below, above; .reg .b32 bits; mov.b32 bits, $1; " \
	"setp.num.f32 some, $1, $1; setp.lt.and.s32 below, bits, 0, some; "   \
	"setp.ge.and.s32 above, bits, 0, some; "                              \
	"@below red.relaxed.gpu.global." set " [$0], bits; "                  \
	"@above red.relaxed.gpu.global." clear " [$0], bits; }"

static const struct {
	OpKind by;
	const char *text;
} joins[] = {
	{OP_ADD, "red.relaxed.gpu.global.add.f32 [$0], $1;"},
	{OP_MAX, BY_SIGN("min.u32", "max.s32")},
	{OP_MIN, BY_SIGN("max.u32", "min.s32")},
};

void cg_join(Cg *g, const CombineRow *by, LLVMValueRef to, LLVMValueRef v)
{
	LLVMValueRef args[2] = {to, v};
	for (size_t i = 0; i < COUNTOF(joins); i++) {
		if (joins[i].by != by->op)
			continue;
		cg_asm(g, ASM_ACTS, g->m->tvoid, joins[i].text, "l,f,~{memory}", args, 2);
		return;
	}
	panic("nothing joins to global memory by %s", by->name);
}
