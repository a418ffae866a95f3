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

#define RED "red.relaxed.gpu.global."

static const struct {
	OpKind by;
	Elem elem;
	int n;
	const char *text, *ties;
} joins[] = {
	{OP_ADD, EL_F32, 1, RED "add.f32 [$0], $1;", "l,f,~{memory}"},
	{OP_ADD, EL_F32, 2, RED "add.v2.f32 [$0], {$1, $2};", "l,f,f,~{memory}"},
	{OP_ADD, EL_F32, 4, RED "add.v4.f32 [$0], {$1, $2, $3, $4};", "l,f,f,f,f,~{memory}"},
	{OP_ADD, EL_BF16, 1, RED "add.noftz.bf16 [$0], $1;", "l,h,~{memory}"},
	{OP_ADD, EL_BF16, 2, RED "add.noftz.bf16x2 [$0], $1;", "l,r,~{memory}"},
	{OP_ADD, EL_I32, 1, RED "add.s32 [$0], $1;", "l,r,~{memory}"},
	{OP_MAX, EL_F32, 1, BY_SIGN("min.u32", "max.s32"), "l,f,~{memory}"},
	{OP_MAX, EL_I32, 1, RED "max.s32 [$0], $1;", "l,r,~{memory}"},
	{OP_MIN, EL_F32, 1, BY_SIGN("max.u32", "min.s32"), "l,f,~{memory}"},
	{OP_MIN, EL_I32, 1, RED "min.s32 [$0], $1;", "l,r,~{memory}"},
};

/* Registers of an instruction: of 16 bits one or a pair. */
static int joined_registers(Cg *g, const Op *op, LLVMValueRef *regs)
{
	const Bound *from = cg_val(g, IN(op, FROM).val);
	int n = (int)attrs_int(&op->attrs, A_N, 1), first = cg_first_register(g, &IN(op, FROM));
	bool halves = elem_rows[from->val->type->elem].bits == 16;
	for (int i = 0; i < n && !halves; i++)
		regs[i] = cg_reg(g, from, first + i);
	if (!halves)
		return n;
	regs[0] = LLVMBuildBitCast(g->b, cg_vector(g, from, first, n),
				   n == 1 ? g->m->i16 : g->m->i32, "");
	return 1;
}

void cg_join(Cg *g, const Op *op, LLVMValueRef to)
{
	enum { MOST = 4 };
	LLVMValueRef args[1 + MOST] = {to};
	OpKind by = combine_of(op)->op;
	Elem elem = IN(op, TO).val->type->elem;
	int regs = joined_registers(g, op, args + 1);
	for (size_t i = 0; i < COUNTOF(joins); i++) {
		if (joins[i].by != by || joins[i].elem != elem ||
		    joins[i].n != attrs_int(&op->attrs, A_N, 1))
			continue;
		cg_asm(g, ASM_ACTS, g->m->tvoid, joins[i].text, joins[i].ties, args, 1 + regs);
		return;
	}
	panic("nothing joins %s to global memory by %s", elem_rows[elem].name,
	      combine_of(op)->name);
}
