/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* view.c - some rows and columns of a buffer, and transposes, as operands of mma: what is read is
 * the buffer, and nothing is copied.
 *     let sV = sC[_, 0 .. 512];     acc += pv(P, sV');
 *  -> mma %acc, %P, %sC window_b=(0,64,0,512,1) */
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

/* `_`, or a range of what is there. */
static bool view_range(Sema *s, const Node *n, int64_t *at, int64_t *extent)
{
	int64_t from, to;
	if (n->kind != N_RANGE) {
		Value v = eval(s, n);
		return v.kind == V_ANY ||
		       (v.kind != V_BAD &&
			reject(s, n->loc, D_E0203,
			       "a view has a range of rows and one of columns, this is %s\n"
			       "write 0 .. %" PRId64 ", or _ for all of them",
			       value_text(&v), *extent));
	}
	if (n->kids.at[2]->kind != N_NONE)
		return reject(s, n->loc, D_E0203,
			      "a view has all rows and columns of a range\n"
			      "leave by out: 0 .. %" PRId64,
			      *extent);
	if (!eval_int(s, n->kids.at[0], 0, *extent - 1, "where a view begins", &from) ||
	    !eval_int(s, n->kids.at[1], from + 1, *extent, "where a view ends", &to))
		return false;
	*at += from;
	*extent = to - from;
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
		int mode = w.turned ? 1 - i : i;
		if (!view_range(s, n->kids.at[1 + i], &w.at[mode], &w.n[mode]))
			return value_bad();
	}
	return view_new(s, of, w);
}

Value eval_turned(Sema *s, const Node *n)
{
	Value v = eval(s, n->kids.at[0]);
	if (v.kind == V_BAD)
		return v;
	if (!is_buffer(&v))
		return rejected(s, n->loc, D_E0203,
				"' transposes a buffer for an mma, this is %s\n%s", value_text(&v),
				v.kind == V_TENSOR || v.kind == V_TILES || v.kind == V_TILE
					? "declare the tensor with its modes exchanged, "
					  "A : bf16 (K,M):(1,K)"
					: "transpose the buffer that an mma reads: mm(sA, sB')");
	Window w = value_window(s, &v);
	w.turned = !w.turned;
	return view_new(s, &v, w);
}
