/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_mma_sync.c - mma by the threads of one warp (PTX ISA: mma). All its operands are registers
 * of 32 bits, and it is done when it is issued, so that it is inline PTX without effects.
 *     mma.sync %acc[4], %a[0], %b[8] atom=mma_sync.m16n8k16.f32.bf16.bf16
 *     ->  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {d}, {a}, {b}, {c} */
#include "codegen/cg.h"

enum { OPERANDS = 3, MOST_WORDS = 32 };

/* Registers of 32 bits of the accumulator, of A and of B. */
typedef struct {
	int n[OPERANDS], first[OPERANDS];
} Words;

static Words words_of(Cg *g, const Op *op)
{
	Atom atom = attrs_get(&op->attrs, A_ATOM)->atom;
	const AtomRow *row = &atom_rows[atom.id];
	int elements[OPERANDS] = {row->m * atom.n, row->m * row->k, atom.n * row->k};
	Words w;
	for (int i = 0; i < OPERANDS; i++) {
		int per = 32 / elem_rows[op->in[i].val->type->elem].bits;
		w.n[i] = elements[i] / atom_threads(g->m->ctx, atom) / per;
		w.first[i] = cg_first_register(g, &op->in[i]) / per;
	}
	return w;
}

static int spell_list(Buf *text, int at, int n, const char *end)
{
	for (int i = 0; i < n; i++)
		buf_printf(text, "%s$%d", i ? "," : "{", at + i);
	buf_printf(text, "}%s", end);
	return at + n;
}

static void spell(const Op *op, const Words *w, Buf *text, Buf *ties)
{
	Atom atom = attrs_get(&op->attrs, A_ATOM)->atom;
	const AtomRow *row = &atom_rows[atom.id];
	const char *c = elem_rows[row->c].name, *kind = row->c == EL_F32 ? "f" : "r";
	buf_printf(text, "mma.sync.aligned.m%dn%dk%d.row.col.%s.%s.%s.%s ", row->m, atom.n, row->k,
		   c, elem_rows[row->a].name, elem_rows[row->b].name, c);
	int at = spell_list(text, 0, w->n[0], ", ");
	at = spell_list(text, at + w->n[0], w->n[1], ", ");
	spell_list(text, at, w->n[2], ", ");
	spell_list(text, w->n[0], w->n[0], ";");
	for (int i = 0; i < w->n[0]; i++)
		buf_printf(ties, "=%s,", kind);
	for (int i = 0; i < w->n[0]; i++)
		buf_printf(ties, "%d,", i);
	for (int i = 0; i < w->n[1] + w->n[2]; i++)
		buf_printf(ties, "r%s", i + 1 < w->n[1] + w->n[2] ? "," : "");
}

static LLVMValueRef inline_asm(LLVMTypeRef type, const Op *op, const Words *w)
{
	Buf text = {0}, ties = {0};
	spell(op, w, &text, &ties);
	LLVMValueRef f = LLVMGetInlineAsm(type, text.s, text.n, ties.s, ties.n, false, false,
					  LLVMInlineAsmDialectATT, false);
	buf_free(&text);
	buf_free(&ties);
	return f;
}

void emit_MMA_SYNC(Cg *g, const Op *op)
{
	Words w = words_of(g, op);
	const Bound *acc = cg_val(g, op->in[0].val);
	LLVMTypeRef in[MOST_WORDS];
	LLVMValueRef args[MOST_WORDS];
	int n = 0;
	for (int i = 0; i < OPERANDS; i++)
		for (int r = 0; r < w.n[i]; r++, n++) {
			const Bound *v = cg_val(g, op->in[i].val);
			args[n] =
				i ? cg_packed(g, v, w.first[i] + r) : cg_word(g, v, w.first[i] + r);
			in[n] = LLVMTypeOf(args[n]);
		}
	LLVMTypeRef out = LLVMStructTypeInContext(g->m->lc, in, (unsigned)w.n[0], false);
	LLVMTypeRef type = LLVMFunctionType(out, in, (unsigned)n, false);
	LLVMValueRef r =
		LLVMBuildCall2(g->b, type, inline_asm(type, op, &w), args, (unsigned)n, "");
	for (int i = 0; i < w.n[0]; i++)
		cg_set_word(g, acc, w.first[0] + i,
			    LLVMBuildExtractValue(g->b, r, (unsigned)i, ""));
}
