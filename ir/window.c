/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* window.c - a view of a matrix: some of its rows and columns, perhaps as their transpose. An op
 * says it of an operand, which stays the whole buffer: its slots, barriers and bytes are the same.
 *     mma %acc, %p, %sC window_b=(0,64,0,512,1)   B is (512,64): columns 0 to 511 of sC, transposed
 */
#include "ir/ir.h"

enum { WINDOW_INTS = 5 };

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
	return (Window){{a->i[0], a->i[2]}, {a->i[1], a->i[3]}, a->i[4]};
}

void op_read_window(Kernel *k, Op *op, int operand, Window w)
{
	const int64_t ints[WINDOW_INTS] = {w.at[0], w.n[0], w.at[1], w.n[1], w.turned};
	op_ints(k, op, window_attrs[operand], ints, WINDOW_INTS);
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

bool window_same(Window a, Window b)
{
	return a.turned == b.turned && a.at[0] == b.at[0] && a.at[1] == b.at[1] &&
	       a.n[0] == b.n[0] && a.n[1] == b.n[1];
}
