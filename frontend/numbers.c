/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* numbers.c - integers that the kernel reads from tensors: where tiles lie, how often loops run.
 *     for j in 0 .. (len[b] + 63) / 64 { sK <- gK[table[b,j],0,0]; .. }     len : s32 (B)
 *  -> number len.b %len (b, b < B)
 *     for j (0, min(max((len.b + 63) / 64, 0), T)) {
 *       number table.b %table (b * T + j, b < B, j < T)
 *       %t = tile %K (max(table.b, ..) * 64, 0, 0) .. }
 * An index outside is one tile after the last, which reads zeros. A loop runs at most as often as
 * what its name indexes has tiles. */
#include "frontend/sema.h"

#include <string.h>

enum { NUMBERED = INT32_MAX - (1 << 21) /* elements of a mode whose tiles numbers index */ };

/* ------------------------------------------------------------------ one integer */
/* Whether x has a name of the grid, or of tiles that a loop goes through, of several elements. */
static bool of_several(const Sema *s, const Ix *x)
{
	bool some = s->groups.row && ix_uses(x, s->groups.row->name);
	for (int i = 0; i < s->grid->rank; i++)
		some |= s->grid->extent[i] > 1 && s->grid_at[i] && s->grid_at[i]->kind == IX_SYM &&
			ix_uses(x, s->grid_at[i]->name);
	return some;
}

bool is_number_index(Sema *s, const Tensor *t, const Value *at, int n)
{
	if (t->elem != EL_I32 || n != layout_rank(t->layout) || !s->grid || !s->grid_op)
		return false;
	for (int i = 0; i < n; i++)
		if (at[i].kind != V_INT || of_several(s, at[i].ix))
			return false;
	return true;
}

/* The same integer, read before where it can be seen from here. */
static const Op *number_read(const Sema *s, const Val *list, const Ix *const *ix, int n)
{
	const Op *op = s->block->last ? s->block->last : s->block->owner;
	for (; op; op = op->prev ? op->prev : op_parent(op)) {
		bool same = op->kind == OP_NUMBER && IN(op, FROM).val == list && op->nix == n;
		for (int i = 0; same && i < n; i++)
			same = op->ix[i] == ix[i];
		if (same)
			return op;
	}
	return NULL;
}

static const Ix *number_build(Sema *s, Loc loc, const Tensor *t, const Ix *const *ix, int n)
{
	const Op *read = number_read(s, t->val, ix, n);
	if (read)
		return ix_sym(s->ctx, read->sym[0]);
	Op *op = build_in(s, build(s, OP_NUMBER, loc), t->val);
	op_sym(s->kernel, op, kernel_fresh(s->kernel, t->name));
	for (int i = 0; i < n; i++)
		op_ix(s->kernel, op, ix[i]);
	facts_of_op(op, &s->facts, ctx_arena(s->ctx));
	vec_push(s->arena, &s->numbers, op->sym[0]);
	return ix_sym(s->ctx, op->sym[0]);
}

/* Of a mode that one of the loops around here indexes by its name. */
static void note_extent(Sema *s, const Ix *at, const Ix *tiles)
{
	for (Bounded *b = s->bounded; b; b = b->up) {
		bool plain = at == b->name ||
			     (at->kind == IX_ADD && (at->a == b->name || at->b == b->name));
		if (plain)
			b->least = b->least ? ix_new(s->ctx, IX_MIN, b->least, tiles) : tiles;
	}
}

Value number_index(Sema *s, Loc loc, const Value *tensor, const Value *at, int n)
{
	Ctx *c = s->ctx;
	const Tensor *t = tensor->tensor;
	const Ix *ix[2 * RANK_MAX + 1] = {ix_const(c, 0)};
	int all = 1;
	if (t->is_out)
		return rejected(s, loc, D_E0203,
				"'%s' is an output, whose elements cannot be read\n"
				"numbers are an input, which an earlier launch has written",
				t->name);
	for (int i = 0; i < n; i++) {
		const Layout *mode = layout_mode(c, t->layout, i);
		const Ix *extent = layout_size(c, mode);
		int64_t lo, hi;
		ix_range(at[i].ix, facts_seen(&s->facts), &lo, &hi);
		ix[0] = ix_add(c, ix[0], layout_at(c, mode, at[i].ix));
		if (lo < 0)
			ix[all++] = ix_new(c, IX_LE, ix_const(c, 0), at[i].ix);
		ix[all++] = ix_new(c, IX_LT, at[i].ix, extent);
		note_extent(s, at[i].ix, extent);
	}
	Value v = value_ix(number_build(s, loc, t, ix, all));
	v.loc = loc;
	v.tile = vector_element(s, tensor, at, n);
	return v;
}

void number_to_tile(Value *v)
{
	if (v->kind == V_INT && v->tile)
		v->kind = V_TILE;
}

/* ------------------------------------------------------------------ as an index of tiles */
bool is_from_memory(const Sema *s, const Ix *x)
{
	bool some = false;
	for (int i = 0; i < s->numbers.n && !some; i++)
		some = ix_uses(x, s->numbers.at[i]);
	for (const Bounded *b = s->bounded; b && !some; b = b->up)
		some = ix_uses(x, b->name->name);
	return some;
}

static void narrow(void *user, const char *name)
{
	kernel_sym(user, name, INT64_MIN, NUMBERED, 1);
}

/* x where it is one of so many, else the one after the last. */
static const Ix *held(Sema *s, const Ix *x, const Ix *tiles)
{
	Ctx *c = s->ctx;
	int64_t lo, hi;
	ix_range(x, facts_seen(&s->facts), &lo, &hi);
	if (lo < 0)
		x = ix_new(c, IX_MAX, x, ix_mul(c, ix_new(c, IX_LT, x, ix_const(c, 0)), tiles));
	return ix_new(c, IX_MIN, x, tiles);
}

const Ix *number_tile(Sema *s, const Tiling *t, int mode, const Ix *at)
{
	const Ix *tiles = tiles_count(s, t, mode), *each = ix_const(s->ctx, t->extent[mode]);
	bool plain = false;
	note_extent(s, at, ix_ceil_div(s->ctx, tiling_extent(s, t, mode), each));
	ix_names(tiling_extent(s, t, mode), narrow, s->kernel);
	for (const Bounded *b = s->bounded; b; b = b->up)
		plain |= at == b->name;
	return plain ? at : held(s, at, tiles);
}

/* ------------------------------------------------------------------ as the bound of a loop */
bool number_fits(Sema *s, const Value *v)
{
	const Tiling *t = v->kind == V_TILE ? v->tile->tiling : NULL;
	if (!t || t->tensor->elem != EL_I32)
		return true;
	return reject(s, v->loc, D_E0203,
		      "this is a tile of '%s', and a range ends at one number\n"
		      "index it by names that count one element a tile, or by those of loops",
		      t->tensor->name);
}

static const Ix *bound_held(Sema *s, const Ix *x, const Ix *least)
{
	const Ix *above = ix_new(s->ctx, IX_MAX, x, ix_const(s->ctx, 0));
	return ix_new(s->ctx, IX_MIN, above, least);
}

bool number_loop_end(Sema *s, Op *loop, const Bounded *b)
{
	if (!b->least)
		return reject(s, loop->loc, D_E0211,
			      "the length of this loop is read from memory, and '%s' indexes "
			      "nothing that says how long it may be\n"
			      "index a tensor by it: gK[%s,0], or table[%s]",
			      b->name->name, b->name->name, b->name->name);
	if (is_from_memory(s, IX(loop, FROM)))
		IX(loop, FROM) = bound_held(s, IX(loop, FROM), b->least);
	IX(loop, TO) = bound_held(s, IX(loop, TO), b->least);
	return true;
}

/* ------------------------------------------------------------------ what nothing uses */
/* A number that is only a value is read as a tile of one element. */
void numbers_finish(Sema *s)
{
	if (s->numbers.n)
		kernel_sweep(s->kernel);
}
