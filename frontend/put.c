/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* put.c - a value that threads hold, written to a buffer as a whole: an mma reads it there, as A or
 * as B.
 *     smem sP : bf16 (128,64);  sP <- bf16(p);   ->   %sP = shared ring=sP.once ; copy %sP, %p */
#include "frontend/sema.h"

bool is_put(const Value *from)
{
	return from->kind == V_FRAG || from->kind == V_ACC;
}

/* Whether threads alone write the buffer, each time as a whole. */
static bool is_free(Sema *s, const Node *n, const Buffer *b)
{
	const char *name = b->name;
	if (b->ring && !b->ring->own)
		return reject(s, n->loc, D_E0305,
			      "'%s' is in pipeline '%s', which loads fill, and this is a value in "
			      "registers\n"
			      "leave '%s' out of the pipeline",
			      name, b->ring->name, name);
	if (b->ever.src >= 0 && !b->put)
		diag_note(s->ctx,
			  diag(s->ctx, n->loc, D_E0305,
			       "'%s' is filled with tiles of a tensor, and with a value in "
			       "registers here\n"
			       "declare another buffer for the value",
			       name),
			  b->ever, "the tile is copied here");
	return b->ever.src < 0 || b->put;
}

static bool value_fits(Sema *s, const Buffer *b, const Value *v)
{
	const Type *t = b->type;
	if (!is_held_whole(s, v, "what is written to a buffer") || !elt_whole(s, v))
		return false;
	if (!shape_same(s, v->val->type->layout, t->layout))
		return reject(s, v->loc, D_E0204,
			      "a value of %s does not fill '%s' of %s\n"
			      "give the value and the buffer one shape",
			      shape_str(s, v->val->type->layout), b->name, shape_str(s, t->layout));
	return elem_fits(s, v, b->name, "holds", t->elem);
}

bool stmt_put(Sema *s, const Node *n, const Value *to, const Value *from)
{
	Buffer *b = to->buffer;
	const Node *via = n->kids.at[2];
	if (via->kind != N_NONE)
		return reject(s, via->loc, D_E0312,
			      "a value goes to a buffer from registers, and by no copy\n"
			      "leave out via %s",
			      via->name);
	if (!is_free(s, n, b) || !value_fits(s, b, from) || !fill_fits(s, b, to->loc))
		return false;
	b->put = true;
	if (!b->ring)
		own_ring(s, b);
	fill(s, b, n->loc);
	scope_find(s, b->name)->value.tile = NULL;
	build_copy(s, n->loc, b->val, from->val);
	return true;
}
