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
	static const char ties[] = "l,f,~{memory}";
	LLVMTypeRef params[2] = {LLVMTypeOf(to), LLVMTypeOf(v)};
	LLVMTypeRef type = LLVMFunctionType(g->m->tvoid, params, 2, false);
	LLVMValueRef args[2] = {to, v};
	for (size_t i = 0; i < COUNTOF(joins); i++) {
		const char *text = joins[i].text;
		if (joins[i].by != by->op)
			continue;
		LLVMValueRef f = LLVMGetInlineAsm(type, text, strlen(text), ties, sizeof ties - 1,
						  true, false, LLVMInlineAsmDialectATT, false);
		LLVMBuildCall2(g->b, type, f, args, 2, "");
		return;
	}
	panic("nothing joins to global memory by %s", by->name);
}
