/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_mma.c - wgmma (PTX ISA: asynchronous warpgroup matrix multiply-accumulate). LLVM has no
 * intrinsic for it, so the instruction is inline PTX whose accumulator registers are tied to its
 * inputs; a scale of 0 overwrites them (scale-d), else it accumulates.
 * Descriptor (PTX ISA: matrix descriptor): bits 0-13 address / 16, 16-29 leading byte offset / 16,
 * 32-45 stride byte offset / 16, 62-63 swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes. */
#include "codegen/cg.h"

static uint64_t swizzle_code(int64_t bytes)
{
	switch (bytes) {
	case 0:
		return 0;
	case 128:
		return 1;
	case 64:
		return 2;
	case 32:
		return 3;
	default:
		panic("a swizzle of %d bytes", (int)bytes);
	}
}

static int64_t per_operand(const Op *op, AttrId id, int i)
{
	const Attr *a = attrs_get(&op->attrs, id);
	if (!a || a->n <= i)
		panic("wgmma without %s", attr_rows[id].name);
	return a->i[i];
}

/* Operand i (0: A, 1: B). The high half is constant; the low half's leading offset is added with
 * the constant part of the address, which is below it and does not carry. */
static LLVMValueRef descriptor(Cg *g, const Op *op, int i)
{
	int64_t lbo = per_operand(op, A_LBO, i) >> 4 & 0x3fff;
	uint64_t sbo = (uint64_t)per_operand(op, A_SBO, i) >> 4 & 0x3fff;
	uint64_t high = swizzle_code(per_operand(op, A_SWIZZLES, i)) << 62 | sbo << 32;
	LLVMValueRef low = cg_smem16(g, op->in[1 + i], op->ix[i], lbo << 16);
	low = LLVMBuildZExt(g->b, low, g->m->i64, "");
	return LLVMBuildOr(g->b, low, LLVMConstInt(g->m->i64, high, false), "");
}

/* 1: the operand's neighbours along m or n lie side by side (imm-trans-a, imm-trans-b). */
static int is_transposed(const Op *op, int i)
{
	const Attr *a = attrs_get(&op->attrs, A_MN_MAJOR);
	return a ? (int)a->i[i] : 0;
}

/* wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {...}, a-desc, b-desc, p, 1, 1, 0, 0 */
static void spell(const Op *first, int n, int ops, bool scaled, Buf *text, Buf *ties)
{
	Atom atom = attrs_get(&first->attrs, A_ATOM)->atom;
	const AtomRow *row = &atom_rows[atom.id];
	int scale = 2 * (n + ops); /* the operand, where the first op has one */
	buf_printf(text, "{\n\t.reg .pred p, q;\n\tsetp.ne.b32 p, 1, 0;\n");
	if (scaled)
		buf_printf(text, "\tsetp.ne.b32 q, $%d, 0;\n", scale);
	for (int op = 0; op < ops; op++) {
		buf_printf(text, "\t%s.mma_async.sync.aligned.m%dn%dk%d.%s.%s.%s {", row->name,
			   row->m, atom.n, row->k, elem_rows[row->c].name, elem_rows[row->a].name,
			   elem_rows[row->b].name);
		for (int i = 0; i < n; i++)
			buf_printf(text, "%s$%d", i ? "," : "", i);
		buf_printf(text, "}, $%d, $%d, %c%s", 2 * (n + op), 2 * (n + op) + 1,
			   op == 0 && scaled ? 'q' : 'p', row->immediates ? ", 1, 1" : "");
		if (row->immediates == 4)
			buf_printf(text, ", %d, %d", is_transposed(first, 0),
				   is_transposed(first, 1));
		buf_printf(text, ";\n");
	}
	buf_printf(text, "\t}");
	for (int i = 0; i < n; i++)
		buf_printf(ties, elem_is_float(row->c) ? "=f," : "=r,");
	for (int i = 0; i < n; i++)
		buf_printf(ties, "%d,", i);
	for (int i = 0; i < 2 * ops; i++)
		buf_printf(ties, "l,");
	buf_printf(ties, scaled ? "r,~{memory}" : "~{memory}");
}

static LLVMValueRef inline_asm(LLVMTypeRef type, const Op *first, int n, int ops, bool scaled)
{
	Buf text = {0}, ties = {0};
	spell(first, n, ops, scaled, &text, &ties);
	LLVMValueRef f = LLVMGetInlineAsm(type, text.s, text.n, ties.s, ties.n, true, false,
					  LLVMInlineAsmDialectATT, false);
	buf_free(&text);
	buf_free(&ties);
	return f;
}

/* Only the first of a piece may overwrite its registers. */
static bool is_scaled(const Op *op)
{
	return op->nix == 3;
}

static bool same_group(Cg *g, const Op *a, const Op *b)
{
	return a && b && !(b->kind == OP_WGMMA && is_scaled(b)) && a->kind == OP_WGMMA &&
	       b->kind == OP_WGMMA && a->in[0].val == b->in[0].val &&
	       cg_first_register(g, &a->in[0]) == cg_first_register(g, &b->in[0]) &&
	       is_transposed(a, 0) == is_transposed(b, 0) &&
	       is_transposed(a, 1) == is_transposed(b, 1) &&
	       memcmp(&attrs_get(&a->attrs, A_ATOM)->atom, &attrs_get(&b->attrs, A_ATOM)->atom,
		      sizeof(Atom)) == 0;
}

/* Those that follow each other on the same registers are one piece of inline PTX: LLVM's time is in
 * the hundreds of operands, not in the text. */
void emit_WGMMA(Cg *g, const Op *op)
{
	Atom atom = attrs_get(&op->attrs, A_ATOM)->atom;
	int n = atom_rows[atom.id].m * atom.n / 128, first = cg_first_register(g, &op->in[0]),
	    ops = 1;
	if (same_group(g, op->prev, op))
		return;
	for (const Op *at = op; same_group(g, at, at->next); at = at->next)
		ops++;
	const Bound *acc = cg_val(g, op->in[0].val);
	bool scaled = is_scaled(op);
	int nargs = n + 2 * ops + scaled;
	const Ix *scale = scaled ? op->ix[2] : NULL;
	LLVMTypeRef *in = NEWN(g->arena, LLVMTypeRef, nargs);
	LLVMValueRef *args = NEWN(g->arena, LLVMValueRef, nargs);
	for (int i = 0; i < n; i++) {
		in[i] = acc->type;
		args[i] = cg_reg(g, acc, first + i);
	}
	const Op *one = op;
	for (int i = n; i < n + 2 * ops; i += 2, one = one->next)
		for (int j = 0; j < 2; j++) {
			in[i + j] = g->m->i64;
			args[i + j] = descriptor(g, one, j);
		}
	if (scaled) {
		in[nargs - 1] = g->m->i32;
		args[nargs - 1] = LLVMBuildZExt(g->b, cg_cond(g, scale), g->m->i32, "");
	}
	LLVMTypeRef out = LLVMStructTypeInContext(g->m->lc, in, (unsigned)n, false);
	LLVMTypeRef type = LLVMFunctionType(out, in, (unsigned)nargs, false);
	LLVMValueRef r = LLVMBuildCall2(g->b, type, inline_asm(type, op, n, ops, scaled), args,
					(unsigned)nargs, "");
	for (int i = 0; i < n; i++)
		cg_set_reg(g, acc, first + i, LLVMBuildExtractValue(g->b, r, (unsigned)i, ""));
}

void emit_WGMMA_FENCE(Cg *g, const Op *op)
{
	(void)op;
	cg_call(g, "llvm.nvvm.wgmma.fence.sync.aligned", NULL, NULL, 0);
}

void emit_WGMMA_COMMIT(Cg *g, const Op *op)
{
	(void)op;
	cg_call(g, "llvm.nvvm.wgmma.commit_group.sync.aligned", NULL, NULL, 0);
}

void emit_WGMMA_WAIT(Cg *g, const Op *op)
{
	LLVMValueRef n = LLVMConstInt(g->m->i64, (uint64_t)attrs_int(&op->attrs, A_N, 0), false);
	cg_call(g, "llvm.nvvm.wgmma.wait_group.sync.aligned", NULL, &n, 1);
}
