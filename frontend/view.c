/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* view.c - some rows and columns of a buffer, and transposes, as operands of mma: what is read is
 * the buffer, and nothing is copied.
 *     let sV = sC[_, 0 .. 512];     acc += pv(P, sV');
 *  -> mma %acc, %P, %sC window_b=(0,64,0,512,1)
 * A vector transposed is read along the other mode of what it is combined with:
 *     gG[h,c]'   of tiles (1,64)   ->   tile %g.m (h, c * 64, 0) : global f32 (64,1):(1,0) */
#include "frontend/sema.h"

#include <inttypes.h>

bool is_buffer(const Value *v)
{
	return v->kind == V_BUFFER || v->kind == V_VIEW;
}

Window value_window(Sema *s, const Value *v)
{
	return v->kind == V_VIEW ? *v->window : type_window(s->ctx, v->buffer->type);
}

static Value view_new(Sema *s, const Value *of, Window w)
{
	Value v =
		value_of(window_same(w, type_window(s->ctx, of->buffer->type)) ? V_BUFFER : V_VIEW);
	Window *at = NEW(s->arena, Window);
	*at = w;
	v.buffer = of->buffer;
	v.window = at;
	return v;
}

/* A range that begins where names of the grid and of loops say; its length is a number. */
static bool view_moves(Sema *s, const Node *n, const Ix *from, const Ix *to, int mode, Window *w)
{
	int64_t extent;
	const Ix *length = ix_simplify(s->ctx, ix_sub(s->ctx, to, from), facts_seen(&s->facts));
	if (!s->kernel || !ix_is_const(length, &extent))
		return reject(s, n->loc, D_E0203,
			      "how long a range of a view is, is known only at run time\n"
			      "write a number of rows or columns from there on, m * 64 .. m * 64 + "
			      "64");
	if (extent < 1 || !ix_within(from, facts_seen(&s->facts), 0, w->n[mode] - extent))
		return reject(s, n->loc, D_E0211,
			      "this range may lie outside 0..%" PRId64 " of the view", w->n[mode]);
	if (w->begin)
		return reject(s, n->loc, D_E0301,
			      "not built yet: views that begin where an index says along both "
			      "modes, or within such a view; along one they are");
	w->begin = from;
	w->moves = mode;
	w->n[mode] = extent;
	return true;
}

/* `_`, or a range of what is there. */
static bool view_range(Sema *s, const Node *n, int mode, Window *w)
{
	if (n->kind != N_RANGE) {
		Value v = eval(s, n);
		return v.kind == V_ANY ||
		       (v.kind != V_BAD &&
			reject(s, n->loc, D_E0203,
			       "a view has a range of rows and one of columns, this is %s\n"
			       "write 0 .. %" PRId64 ", or _ for all of them",
			       value_text(&v), w->n[mode]));
	}
	if (n->kids.at[2]->kind != N_NONE)
		return reject(s, n->loc, D_E0203,
			      "a view has all rows and columns of a range\n"
			      "leave by out: 0 .. %" PRId64,
			      w->n[mode]);
	Value from = eval(s, n->kids.at[0]), to = eval(s, n->kids.at[1]);
	int64_t first, end;
	if (from.kind == V_INT && to.kind == V_INT && !ix_is_const(from.ix, NULL))
		return view_moves(s, n, from.ix, to.ix, mode, w);
	if (!want_int(s, &from, 0, w->n[mode] - 1, "where a view begins", &first) ||
	    !want_int(s, &to, first + 1, w->n[mode], "where a view ends", &end))
		return false;
	w->at[mode] += first;
	w->n[mode] = end - first;
	return true;
}

Value view_index(Sema *s, const Node *n, const Value *of)
{
	Window w = value_window(s, of);
	int count = n->kids.n - 1;
	if (count != BUFFER_RANK)
		return rejected(s, n->loc, D_E0206,
				"a buffer has rows and columns, and %d range%s here\n"
				"write %s[_,0 .. %" PRId64 "]",
				count, count == 1 ? " is" : "s are", of->buffer->name,
				window_extent(w, 1));
	for (int i = 0; i < BUFFER_RANK; i++) {
		if (!view_range(s, n->kids.at[1 + i], w.turned ? 1 - i : i, &w))
			return value_bad();
	}
	return view_new(s, of, w);
}

/* ------------------------------------------------------------------ vectors */
static bool has_one_mode(Sema *s, const Tile *t)
{
	const Layout *shape = tiling_shape(s, t->tiling);
	return layout_rank(shape) < BUFFER_RANK || shape_extent(shape, 0) == 1 ||
	       shape_extent(shape, 1) == 1;
}

/* A vector of a tensor, read along the other mode; of small types, as f32. */
static Value turned_vector(Sema *s, const Value *v)
{
	enum { F32_BITS = 32 };
	Tile *t = NEW(s->arena, Tile);
	Value turned = *v;
	*t = *v->tile;
	if (!has_one_mode(s, t))
		return rejected(s, v->loc, D_E0203,
				"' transposes a tile of one row or one column, this is one of %s\n"
				"declare the tensor with its modes exchanged, "
				"A : bf16 (K,M):(1,K)",
				shape_str(s, tiling_shape(s, t->tiling)));
	if (t->names || tile_repeats(s, t))
		return rejected(s, v->loc, D_E0301,
				"not built yet: ' of tiles by index, and of tiles whose elements "
				"repeat; of others it is");
	t->turned = true;
	turned.tile = t;
	if (!elt_read(s, &turned))
		return value_bad();
	return elem_rows[elt_elem(&turned)].bits < F32_BITS ? elt_cast(s, v->loc, EL_F32, &turned)
							    : turned;
}

/* Coordinates, along the other mode. */
static Value turned_series(Sema *s, const Value *v)
{
	const Op *of = v->val->def;
	const Layout *l = v->val->type->layout;
	return coord_series(s, v->loc, IX(of, FROM), shape_extent(l, 0) > 1, layout_size_int(l));
}

static bool is_series(const Value *v)
{
	return v->kind == V_FRAG && v->val->def && v->val->def->kind == OP_SERIES;
}

static const char *help_turned(const Value *v)
{
	if (v->kind == V_TENSOR || v->kind == V_TILES)
		return "declare the tensor with its modes exchanged, A : bf16 (K,M):(1,K)";
	if (v->kind == V_FRAG)
		return "transpose the vector where it is read: exp(gX[m,n]')";
	return "transpose the buffer that an mma reads: mm(sA, sB')";
}

Value eval_turned(Sema *s, const Node *n)
{
	Value v = eval(s, n->kids.at[0]);
	if (v.kind == V_BAD)
		return v;
	if (v.kind == V_TILE)
		return turned_vector(s, &v);
	if (is_series(&v))
		return turned_series(s, &v);
	if (!is_buffer(&v))
		return rejected(s, n->loc, D_E0203,
				"' transposes a buffer for an mma, or a vector of a tensor, this "
				"is %s\n%s",
				value_text(&v), help_turned(&v));
	Window w = value_window(s, &v);
	w.turned = !w.turned;
	return view_new(s, &v, w);
}
