/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_mma.c - wgmma (PTX ISA: asynchronous warpgroup matrix multiply-accumulate). LLVM has no
 * intrinsic for it, so the instruction is inline PTX whose accumulator registers are tied to its
 * inputs; a scale of 0 overwrites them (scale-d), else it accumulates.
 * Descriptor (PTX ISA: matrix descriptor): bits 0-13 address / 16, 16-29 leading byte offset / 16,
 * 32-45 stride byte offset / 16, 62-63 swizzle, as runtime/swizzles.def has it. */
#include "codegen/cg.h"
#include "runtime/swizzle.h"

#include <stdio.h>

static uint64_t swizzle_code(int64_t bytes)
{
	const SwizzleRow *row = swizzle_row(bytes);
	if (!row)
		panic("a swizzle of %d bytes", (int)bytes);
	return row->code;
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

/* Only the first of a piece may overwrite its registers. */
static bool is_scaled(const Op *op)
{
	return HAS_IX(op, SCALE);
}

/* Registers of 32 bits in which A lies; 0: it is in shared memory. */
static int a_registers(const Op *op)
{
	const AtomRow *row = &atom_rows[attrs_get(&op->attrs, A_ATOM)->atom.id];
	bool shared = IN(op, A).val->type->space == SP_SHARED;
	return shared ? 0 : row->m * row->k / 128 * elem_rows[row->a].bits / 32;
}

/* Those that follow each other on the same registers. */
typedef struct {
	const Op *first;
	int ops, regs; /* instructions; registers of the accumulator, of 32 bits */
	int a, each;   /* registers of A; operands of one instruction beside the accumulator */
	bool scaled;
} Piece;

static Piece piece_of(const Op *first, int ops)
{
	Atom atom = attrs_get(&first->attrs, A_ATOM)->atom;
	int a = a_registers(first);
	const AtomRow *row = &atom_rows[atom.id];
	return (Piece){.first = first,
		       .ops = ops,
		       .regs = row->m * atom.n / 128 * elem_rows[row->c].bits / 32,
		       .a = a,
		       .each = (a ? a : 1) + 1,
		       .scaled = is_scaled(first)};
}

/* a-desc, or {a0, a1, a2, a3}; then b-desc */
static void spell_operands(const Piece *p, int at, Buf *text)
{
	for (int i = 0; i < p->a; i++)
		buf_printf(text, "%s$%d%s", i ? "," : "{", at + i, i + 1 < p->a ? "" : "}");
	if (!p->a)
		buf_printf(text, "$%d", at);
	buf_printf(text, ", $%d", at + p->each - 1);
}

/* wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {...}, a-desc, b-desc, p, 1, 1, 0, 0 */
static void spell(const Piece *p, Buf *text, Buf *ties)
{
	Atom atom = attrs_get(&p->first->attrs, A_ATOM)->atom;
	const AtomRow *row = &atom_rows[atom.id];
	int n = p->regs, scale = 2 * n + p->each * p->ops; /* where the first op has one */
	buf_printf(text, "{\n\t.reg .pred p, q;\n\tsetp.ne.b32 p, 1, 0;\n");
	if (p->scaled)
		buf_printf(text, "\tsetp.ne.b32 q, $%d, 0;\n", scale);
	for (int op = 0; op < p->ops; op++) {
		buf_printf(text, "\t%s.mma_async.sync.aligned.m%dn%dk%d.%s.%s.%s {", row->name,
			   row->m, atom.n, row->k, elem_rows[row->c].name, elem_rows[row->a].name,
			   elem_rows[row->b].name);
		for (int i = 0; i < n; i++)
			buf_printf(text, "%s$%d", i ? "," : "", i);
		buf_printf(text, "}, ");
		spell_operands(p, 2 * n + p->each * op, text);
		buf_printf(text, ", %c%s", op == 0 && p->scaled ? 'q' : 'p',
			   row->immediates ? ", 1, 1" : "");
		for (int i = p->a ? 1 : 0; row->immediates == 4 && i < 2; i++)
			buf_printf(text, ", %d", is_transposed(p->first, i));
		buf_printf(text, ";\n");
	}
	buf_printf(text, "\t}");
	for (int i = 0; i < n; i++)
		buf_printf(ties, row->c == EL_F32 ? "=f," : "=r,");
	for (int i = 0; i < n; i++)
		buf_printf(ties, "%d,", i);
	for (int op = 0; op < p->ops; op++) {
		for (int i = 0; i < p->each - 1; i++)
			buf_printf(ties, p->a ? "r," : "l,");
		buf_printf(ties, "l,");
	}
	buf_printf(ties, p->scaled ? "r,~{memory}" : "~{memory}");
}

static bool same_group(Cg *g, const Op *a, const Op *b)
{
	return a && b && !(b->kind == OP_WGMMA && is_scaled(b)) && a->kind == OP_WGMMA &&
	       b->kind == OP_WGMMA && IN(a, TO).val == IN(b, TO).val &&
	       cg_first_register(g, &IN(a, TO)) == cg_first_register(g, &IN(b, TO)) &&
	       a_registers(a) == a_registers(b) && is_transposed(a, 0) == is_transposed(b, 0) &&
	       is_transposed(a, 1) == is_transposed(b, 1) &&
	       memcmp(&attrs_get(&a->attrs, A_ATOM)->atom, &attrs_get(&b->attrs, A_ATOM)->atom,
		      sizeof(Atom)) == 0;
}

/* A's descriptor or registers, then B's descriptor. */
static void operands(Cg *g, const Op *op, const Piece *p, LLVMValueRef *args)
{
	int first = p->a ? cg_first_register(g, &IN(op, A)) : 0, n = 0;
	int per = 32 / elem_rows[IN(op, A).val->type->elem].bits;
	for (; n < p->a; n++)
		args[n] = cg_packed(g, cg_val(g, IN(op, A).val), first / per + n);
	for (int j = p->a ? 1 : 0; j < 2; j++, n++)
		args[n] = descriptor(g, op, j);
}

static void piece(Cg *g, const Piece *p)
{
	const Op *op = p->first, *one = op;
	int n = p->regs, each = 32 / elem_rows[IN(op, TO).val->type->elem].bits;
	int first = cg_first_register(g, &IN(op, TO)) / each;
	int all = n + p->each * p->ops + p->scaled;
	const Bound *acc = cg_val(g, IN(op, TO).val);
	LLVMValueRef *args = NEWN(g->arena, LLVMValueRef, all);
	Buf text = {0}, ties = {0};
	for (int i = 0; i < n; i++)
		args[i] = cg_word(g, acc, first + i);
	for (int i = 0; i < p->ops; i++, one = one->next)
		operands(g, one, p, args + n + i * p->each);
	if (p->scaled)
		args[all - 1] = LLVMBuildZExt(g->b, cg_cond(g, IX(op, SCALE)), g->m->i32, "");
	spell(p, &text, &ties);
	LLVMValueRef r = cg_asm(g, ASM_ACTS, cg_types(g, args, n), text.s, ties.s, args, all);
	buf_free(&text);
	buf_free(&ties);
	for (int i = 0; i < n; i++)
		cg_set_word(g, acc, first + i, LLVMBuildExtractValue(g->b, r, (unsigned)i, ""));
}

/* Those that follow each other on the same registers are one piece of inline PTX: LLVM's time is in
 * the hundreds of operands, not in the text. */
void emit_WGMMA(Cg *g, const Op *op)
{
	int ops = 1;
	if (same_group(g, op->prev, op))
		return;
	for (const Op *at = op; same_group(g, at, at->next); at = at->next)
		ops++;
	Piece p = piece_of(op, ops);
	piece(g, &p);
}

void emit_WGMMA_FENCE(Cg *g, const Op *op)
{
	if (!cg_order_before(g, op, "wgmma.fence.sync.aligned;"))
		cg_call(g, "llvm.nvvm.wgmma.fence.sync.aligned", NULL, NULL, 0);
}

void emit_WGMMA_WAIT(Cg *g, const Op *op)
{
	int64_t groups = attrs_int(&op->attrs, A_N, 0);
	LLVMValueRef n = LLVMConstInt(g->m->i64, (uint64_t)groups, false);
	char text[64];
	snprintf(text, sizeof text, "wgmma.wait_group.sync.aligned %d;", (int)groups);
	if (!cg_order_behind(g, op, text))
		cg_call(g, "llvm.nvvm.wgmma.wait_group.sync.aligned", NULL, &n, 1);
}
