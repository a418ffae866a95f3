/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* staged.c - a TMA store that a program writes out: the buffer through which tiles of an output
 * leave has the columns that leave together, and its pipeline the slots of a warpgroup. What is
 * said so is what the schedule may say.
 *     smem sD : bf16 (64,64); tma stD = store(sD, D); pipeline ep(2) { sD via stD }
 *  -> subtile=64 staging=2 */
#include "frontend/sema.h"
#include "runtime/swizzle.h"

#include <inttypes.h>

enum { GROUP_ROWS = 64, WIDEST_ROW = 128 /* bytes */, UNIT_BITS = 128, MOST_SLOTS = 8 };

static int64_t row_bytes(const Buffer *b)
{
	int64_t cols = layout_size_int(b->type->layout) / GROUP_ROWS;
	return cols * elem_rows[b->type->elem].bits / 8;
}

/* As tiles lie on their way: rows in the swizzle of their length, or as they are. */
static const Layout *layout_of_staging(Sema *s, const Buffer *b)
{
	int unit = 0,
	    bits = elem_rows[b->type->elem].bits; /* elements of 16 bytes, as a power of 2 */
	int64_t cols = layout_size_int(b->type->layout) / GROUP_ROWS;
	const Layout *plain = layout_2d(s->ctx, GROUP_ROWS, cols, cols, 1);
	const SwizzleRow *row = swizzle_row(row_bytes(b));
	if (!row || !row->bits)
		return plain;
	while (bits << unit < UNIT_BITS)
		unit++;
	Swizzle sw = {row->bits, unit, 3};
	return layout_swizzled(s->ctx, sw, ix_const(s->ctx, 0), plain);
}

static bool lies_so(Sema *s, const Buffer *b)
{
	const Layout *as = layout_of_staging(s, b), *l = b->type->layout;
	bool same = true;
	for (int64_t i = 0; same && i < layout_size_int(as); i++)
		same = layout_at_int(l, i) == layout_at_int(as, i);
	return b->is_auto || same;
}

static bool buffer_fits(Sema *s, const Node *n, const Buffer *b)
{
	int64_t rows = layout_size_int(layout_mode(s->ctx, b->type->layout, 0));
	const ElemRow *e = &elem_rows[b->type->elem];
	const char *why = NULL;
	if (rows != GROUP_ROWS)
		why = ctx_strf(s->ctx,
			       "'%s' has %" PRId64 " rows, and a warpgroup's %d leave at a time",
			       b->name, rows, GROUP_ROWS);
	else if (row_bytes(b) > WIDEST_ROW)
		why = ctx_strf(s->ctx,
			       "rows of '%s' have %" PRId64
			       " bytes, and at most %d leave at a time",
			       b->name, row_bytes(b), WIDEST_ROW);
	else if (!lies_so(s, b))
		why = ctx_strf(s->ctx, "tiles on their way to TMA lie as %s",
			       layout_str(s->ctx, layout_of_staging(s, b)));
	return !why || reject(s, n->loc, D_E0303,
			      "%s\n"
			      "write the shape alone, whose layout is derived: %s : %s (%d,%d)",
			      why, b->name, e->name, GROUP_ROWS, WIDEST_ROW * 8 / e->bits);
}

static bool tensor_fits(Sema *s, const Node *n, const Tensor *t, const Buffer *b)
{
	int last = layout_rank(t->layout) - 1;
	const Tup *next = layout_mode(s->ctx, t->layout, last)->stride;
	if (!t->is_out)
		return reject(s, n->loc, D_E0213,
			      "'%s' is an input\n"
			      "a tma copy into a buffer is load(%s, %s)",
			      t->name, t->name, b->name);
	if (t->elem != b->type->elem)
		return reject(s, n->loc, D_E0205, "'%s' holds %s, '%s' has %s", b->name,
			      elem_rows[b->type->elem].name, t->name, elem_rows[t->elem].name);
	if (!last || !tup_is_leaf(next) || !ix_is(next->leaf, 1))
		return reject(s, n->loc, D_E0301,
			      "not built yet: tma stores of outputs whose rows are not contiguous\n"
			      "leave it out: how tiles leave is derived");
	return true;
}

Value staged_store(Sema *s, const Node *call)
{
	Value v = value_of(V_TMA);
	if (call->kids.n != 3)
		return rejected(s, call->loc, D_E0206,
				"store takes a buffer and a tensor, store(sD, D)");
	Value from = eval(s, call->kids.at[1]), to = eval(s, call->kids.at[2]);
	if (!want(s, &from, V_BUFFER, "the source") || !want(s, &to, V_TENSOR, "the target") ||
	    !tensor_fits(s, call->kids.at[2], to.tensor, from.buffer) ||
	    !buffer_fits(s, call->kids.at[1], from.buffer))
		return value_bad();
	from.buffer->leaves = true;
	TmaLoad *t = NEW(s->arena, TmaLoad);
	*t = (TmaLoad){.tensor = to.tensor, .buffer = from.buffer, .stores = true};
	v.load = t;
	vec_push(s->arena, &s->stores, t);
	return v;
}

/* ------------------------------------------------------------------ to the schedule */
static void say(Sema *s, Loc loc, AttrId id, int64_t v)
{
	const Attr *a = attrs_get(&s->kernel->attrs, id);
	if (!a)
		kernel_int(s->kernel, id, v);
	else if (a->i[0] != v)
		reject(s, loc, D_E0308,
		       "%s is %" PRId64 " here, and %" PRId64 " elsewhere\n"
		       "say it once: by the buffer of a store, or in the schedule",
		       id == A_SUBTILE ? "subtile" : "staging", v, a->i[0]);
}

static const char *no_store(const Sema *s)
{
	if (s->mma_loc.src < 0)
		return "tma stores in kernels without an mma";
	return s->mma && s->mma->swap ? "tma stores under swap" : NULL;
}

void staged_finish(Sema *s)
{
	for (int i = 0; i < s->stores.n; i++) {
		const Buffer *b = s->stores.at[i]->buffer;
		if (no_store(s)) {
			reject(s, b->decl->name_loc, D_E0301,
			       "not built yet: %s\n"
			       "leave it out: how tiles leave is derived",
			       no_store(s));
			continue;
		}
		say(s, b->decl->name_loc, A_SUBTILE, layout_size_int(b->type->layout) / GROUP_ROWS);
		if (b->ring && b->ring->slots > MOST_SLOTS)
			reject(s, b->ring->loc, D_E0211,
			       "a warpgroup has at most %d slots on the way out", MOST_SLOTS);
		else if (b->ring && b->ring->slots)
			say(s, b->ring->loc, A_STAGING, b->ring->slots);
	}
}
