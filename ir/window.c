/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* window.c - a view of a matrix: some of its rows and columns, perhaps as their transpose. An op
 * says it of an operand, which stays the whole buffer: its slots, barriers and bytes are the same.
 *     mma %acc, %p, %sC window_b=(0,64,0,512,1)   B is (512,64): columns 0 to 511 of sC, transposed
 */
#include "ir/ir.h"

enum { WINDOW_INTS = 5 }; /* and the mode along which it moves */

static const AttrId window_attrs[] = {ATTR_COUNT, A_WINDOW, A_WINDOW_B}; /* by operand */

const Attr *op_window_attr(const Op *op, int operand)
{
	bool has = operand > 0 && operand < (int)COUNTOF(window_attrs);
	return has ? attrs_get(&op->attrs, window_attrs[operand]) : NULL;
}

Window type_window(Ctx *c, const Type *t)
{
	Window w = {.turned = false};
	for (int i = 0; i < 2; i++)
		if (!ix_is_const(layout_size(c, layout_mode(c, t->layout, i)), &w.n[i]))
			panic("a matrix of known extents");
	return w;
}

Window op_window(Ctx *c, const Op *op, int operand)
{
	const Attr *a = op_window_attr(op, operand);
	if (!a)
		return type_window(c, op->in[operand].val->type);
	Window w = {.at = {a->i[0], a->i[2]}, .n = {a->i[1], a->i[3]}, .turned = a->i[4]};
	if (a->n > WINDOW_INTS && HAS_IX(op, BEGIN_B)) {
		w.begin = operand == 1 ? IX(op, BEGIN_A) : IX(op, BEGIN_B);
		w.moves = (int)a->i[WINDOW_INTS];
	}
	return w;
}

void op_read_window(Kernel *k, Op *op, int operand, Window w)
{
	const int64_t ints[WINDOW_INTS + 1] = {w.at[0], w.n[0], w.at[1], w.n[1], w.turned, w.moves};
	op_ints(k, op, window_attrs[operand], ints, WINDOW_INTS + !!w.begin);
	if (!w.begin)
		return;
	while (op->nix <= op_index_place(op->kind, ON_BEGIN_B))
		op_ix(k, op, ix_const(k->ctx, op->nix == 0));
	*(operand == 1 ? &IX(op, BEGIN_A) : &IX(op, BEGIN_B)) = w.begin;
}

void op_read_all(Op *op, int operand)
{
	attrs_drop(&op->attrs, window_attrs[operand]);
}

int64_t window_extent(Window w, int mode)
{
	return w.n[w.turned ? 1 - mode : mode];
}

void window_place(Window w, const int64_t *at, int64_t *of)
{
	for (int i = 0; i < 2; i++)
		of[i] = w.at[i] + at[w.turned ? 1 - i : i];
}

int64_t window_room(Ctx *c, const Type *t, Window w)
{
	return w.begin ? type_window(c, t).n[w.moves] - w.n[w.moves] - w.at[w.moves] : 0;
}

bool window_same(Window a, Window b)
{
	return a.turned == b.turned && a.begin == b.begin && a.moves == b.moves &&
	       a.at[0] == b.at[0] && a.at[1] == b.at[1] && a.n[0] == b.n[0] && a.n[1] == b.n[1];
}
