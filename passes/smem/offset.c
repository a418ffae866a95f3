/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* offset.c - bytes of a slot at symbolic coordinates. A swizzle exchanges the units of a row by
 * bits of the row's number, so rows and elements of a row are summed apart.
 *     (8,64):(64,1), x of mode 0   ->   row x      x of mode 1   ->   col x
 *     32:2 after rows of 8        ->   row x / 4, col x % 4 * 2 */
#include "passes/smem/offset.h"

Place place_in(Ctx *c, const Type *buffer)
{
	return (Place){c, buffer, ix_const(c, 0), ix_const(c, 0)};
}

/* Elements that the swizzle exchanges among each other; without one, all are one row. */
static int64_t row_of(const Type *buffer)
{
	if (!buffer->layout->swizzle.b)
		return layout_cosize_int(buffer->layout);
	return INT64_C(1) << (buffer->layout->swizzle.m + buffer->layout->swizzle.b);
}

/* l in front of the coordinates (element of a row, row): what crosses rows is cut there. */
static const Layout *by_rows(const Place *p, const Layout *l)
{
	Ctx *c = p->c;
	const char *why = NULL;
	int64_t row = row_of(p->buffer), all = layout_cosize_int(p->buffer->layout);
	const Tup *extents[2] = {tup_int(c, row), tup_int(c, all / row)};
	const Layout *at =
		layout_composition(c, layout_identity(c, tup_new(c, extents, 2)), l, &why);
	if (!at)
		panic("%s", why);
	return at;
}

void place_add(Place *p, const Layout *l, const Ix *x)
{
	const Tup *at = layout_eval(p->c, by_rows(p, l), tup_leaf(p->c, x));
	if (tup_is_leaf(at)) /* nowhere, whatever x is */
		return;
	p->col = ix_add(p->c, p->col, tup_get(at, 0)->leaf);
	if (tup_rank(at) > 1)
		p->row = ix_add(p->c, p->row, tup_get(at, 1)->leaf);
}

void place_step(Place *p, int64_t elements)
{
	int64_t row = row_of(p->buffer);
	p->row = ix_add(p->c, p->row, ix_const(p->c, elements / row));
	p->col = ix_add(p->c, p->col, ix_const(p->c, elements % row));
}

const Ix *place_byte(const Place *p)
{
	Ctx *c = p->c;
	Swizzle sw = p->buffer->layout->swizzle;
	const Ix *unit = ix_const(c, INT64_C(1) << sw.m), *units = ix_const(c, INT64_C(1) << sw.b);
	const Ix *row = ix_const(c, row_of(p->buffer));
	const Ix *turn = ix_const(c, INT64_C(1) << (sw.s - sw.b)); /* rows of one turn */
	const Ix *moved = ix_new(c, IX_XOR, ix_div(c, p->col, unit),
				 ix_mod(c, ix_div(c, p->row, turn), units));
	const Ix *at = ix_add(c, ix_mul(c, moved, unit), ix_mod(c, p->col, unit));
	return elem_bytes_of(c, p->buffer->elem, ix_add(c, ix_mul(c, p->row, row), at));
}
