/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_mma_sync.c - mma by the threads of one warp (PTX ISA: mma). All its operands are registers,
 * of 32 bits or of one element, and it is done when it is issued, so that it is inline PTX without
 * effects.
 *     mma.sync %acc[4], %a[0], %b[8] atom=mma_sync.m16n8k16.f32.bf16.bf16
 *     ->  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {d}, {a}, {b}, {c} */
#include "codegen/cg.h"

enum { OPERANDS = 3, MOST_WORDS = 32, REG_BITS = 32 };
enum { PIECE_M = 8, PIECE_K = 4 }; /* of f64, without FT_F64_ROWS */

/* An instruction: its rows and depth, and the registers of the accumulator, of A and of B. PTX has
 * halves of rows in turn, where ours of A follow each other. */
typedef struct {
	int m, k, n[OPERANDS], first[OPERANDS], halves[OPERANDS];
} Piece;

/* Elements of a register. */
static int per_register(const Op *op, int i)
{
	int bits = elem_rows[op->in[i].val->type->elem].bits;
	return bits < REG_BITS ? REG_BITS / bits : 1;
}

static Piece whole(Cg *g, const Op *op)
{
	Atom atom = attrs_get(&op->attrs, A_ATOM)->atom;
	const AtomRow *row = &atom_rows[atom.id];
	int elements[OPERANDS] = {row->m * atom.n, row->m * row->k, atom.n * row->k};
	bool wide = elem_rows[row->a].bits > REG_BITS;
	Piece p = {.m = row->m, .k = row->k, .halves = {1, wide ? row->m / PIECE_M : 1, 1}};
	for (int i = 0; i < OPERANDS; i++) {
		int per = per_register(op, i);
		p.n[i] = elements[i] / atom_threads(g->m->ctx, atom) / per;
		p.first[i] = cg_first_register(g, &op->in[i]) / per;
	}
	return p;
}

static int spell_list(Buf *text, int at, int n, const char *end)
{
	for (int i = 0; i < n; i++)
		buf_printf(text, "%s$%d", i ? "," : "{", at + i);
	buf_printf(text, "}%s", end);
	return at + n;
}

static char letter(Elem e)
{
	return elem_rows[e].bits > REG_BITS ? 'd' : e == EL_F32 ? 'f' : 'r';
}

static void spell(const Op *op, const Piece *p, Buf *text, Buf *ties)
{
	Atom atom = attrs_get(&op->attrs, A_ATOM)->atom;
	const AtomRow *row = &atom_rows[atom.id];
	const char *c = elem_rows[row->c].name;
	char of_a = elem_rows[row->a].bits > REG_BITS ? 'd' : 'r';
	buf_printf(text, "mma.sync.aligned.m%dn%dk%d.row.col.%s.%s.%s.%s ", p->m, atom.n, p->k, c,
		   elem_rows[row->a].name, elem_rows[row->b].name, c);
	int at = spell_list(text, 0, p->n[0], ", ");
	at = spell_list(text, at + p->n[0], p->n[1], ", ");
	spell_list(text, at, p->n[2], ", ");
	spell_list(text, p->n[0], p->n[0], ";");
	for (int i = 0; i < p->n[0]; i++)
		buf_printf(ties, "=%c,", letter(row->c));
	for (int i = 0; i < p->n[0]; i++)
		buf_printf(ties, "%d,", i);
	for (int i = 0; i < p->n[1] + p->n[2]; i++)
		buf_printf(ties, "%c%s", of_a, i + 1 < p->n[1] + p->n[2] ? "," : "");
}

/* Of operand i, what the instruction names in place n. */
static LLVMValueRef register_of(Cg *g, const Op *op, const Piece *p, int i, int n)
{
	const Bound *v = cg_val(g, op->in[i].val);
	int halves = p->halves[i];
	int r = p->first[i] + n % halves * (p->n[i] / halves) + n / halves;
	if (elem_rows[v->val->type->elem].bits > REG_BITS)
		return cg_reg(g, v, r);
	return i ? cg_packed(g, v, r) : cg_word(g, v, r);
}

static void emit_piece(Cg *g, const Op *op, const Piece *p)
{
	const Bound *acc = cg_val(g, IN(op, TO).val);
	LLVMValueRef args[MOST_WORDS];
	Buf text = {0}, ties = {0};
	int n = 0;
	for (int i = 0; i < OPERANDS; i++)
		for (int r = 0; r < p->n[i]; r++, n++)
			args[n] = register_of(g, op, p, i, r);
	spell(op, p, &text, &ties);
	LLVMValueRef r =
		cg_asm(g, ASM_COMPUTES, cg_types(g, args, p->n[0]), text.s, ties.s, args, n);
	buf_free(&text);
	buf_free(&ties);
	for (int i = 0; i < p->n[0]; i++)
		cg_set_word(g, acc, p->first[0] + i,
			    LLVMBuildExtractValue(g->b, r, (unsigned)i, ""));
}

/* Halves of 8 rows have two registers of C, and of A one for each step of K. */
static void emit_pieces(Cg *g, const Op *op, const Piece *all)
{
	int halves = all->m / PIECE_M, steps = all->k / PIECE_K;
	Piece p = {.m = PIECE_M, .k = PIECE_K, .n = {2, 1, 1}, .halves = {1, 1, 1}};
	for (int s = 0; s < steps; s++)
		for (int h = 0; h < halves; h++) {
			p.first[0] = all->first[0] + p.n[0] * h;
			p.first[1] = all->first[1] + steps * h + s;
			p.first[2] = all->first[2] + s;
			emit_piece(g, op, &p);
		}
}

void emit_MMA_SYNC(Cg *g, const Op *op)
{
	Piece p = whole(g, op);
	bool wide = elem_rows[IN(op, TO).val->type->elem].bits > REG_BITS;
	(wide && !target_has(g->k->target, FT_F64_ROWS) ? emit_pieces : emit_piece)(g, op, &p);
}
