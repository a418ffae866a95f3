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

static bool names_one(const Op *op, const Ix *const *ix, int n)
{
	bool some = false;
	for (int i = 0; i < op->nsym; i++)
		for (int x = 0; x < n; x++)
			some |= ix_uses(ix[x], op->sym[i]);
	return some;
}

/* The outermost loop in which the integer is the same each time; NULL: it changes in each. */
static Op *unchanged_in(const Sema *s, const Ix *const *ix, int n)
{
	Op *loop = NULL;
	for (Op *up = s->block->owner; up && up->kind == OP_FOR; up = op_parent(up)) {
		bool changes = names_one(up, ix, n);
		for (const Op *op = up->body->first; op && !changes; op = op->next)
			changes = names_one(op, ix, n);
		if (changes)
			break;
		loop = up;
	}
	return loop;
}

static const Ix *number_build(Sema *s, Loc loc, const Tensor *t, const char *text,
			      const Ix *const *ix, int n)
{
	const Op *read = number_read(s, t->val, ix, n);
	if (read)
		return ix_sym(s->ctx, read->sym[0]);
	Op *loop = unchanged_in(s, ix, n), *op = build_in(s, build(s, OP_NUMBER, loc), t->val);
	op_sym(s->kernel, op, kernel_fresh(s->kernel, t->name));
	for (int i = 0; i < n; i++)
		op_ix(s->kernel, op, ix[i]);
	facts_of_op(op, &s->facts, ctx_arena(s->ctx));
	if (loop) {
		op_remove(op);
		op_insert_before(loop, op);
	}
	vec_push(s->arena, &s->numbers, ((Number){op->sym[0], text}));
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
	Tiling each = {.tensor = tensor->tensor, .rank = n};
	const char *text = t->name;
	int all = 1;
	for (int i = 0; i < n; i++)
		each.extent[i] = 1;
	if (t->is_out)
		return rejected(s, loc, D_E0203,
				"'%s' is an output, whose elements cannot be read\n"
				"numbers are an input, which an earlier launch has written",
				t->name);
	for (int i = 0; i < n; i++) {
		const Layout *mode = layout_mode(c, t->layout, i);
		const Ix *extent = layout_size(c, mode);
		ix[0] = ix_add(c, ix[0], layout_at(c, mode, at[i].ix));
		if (ix_least(at[i].ix, facts_seen(&s->facts)) < 0)
			ix[all++] = ix_new(c, IX_LE, ix_const(c, 0), at[i].ix);
		ix[all++] = ix_new(c, IX_LT, at[i].ix, extent);
		note_extent(s, at[i].ix, extent);
		warn_of_other_tiles(s, &each, i, &at[i]);
		text = ctx_strf(c, "%s%s%s", text, i ? "," : "[", ix_spelled(s, at[i].ix));
	}
	Value v = value_ix(number_build(s, loc, t, ctx_strf(c, "%s]", text), ix, all));
	v.loc = loc;
	v.tile = vector_element(s, tensor, at, n);
	return v;
}

void number_to_tile(Value *v)
{
	if (v->kind == V_INT && v->tile)
		v->kind = V_TILE;
}

/* As arguments are declared: (B), (B,T):(T,1). */
static const char *form_str(Sema *s, const Layout *l)
{
	bool plain = tup_is_leaf(l->shape) && ix_is(l->stride->leaf, 1);
	return plain ? ctx_strf(s->ctx, "(%s)", ix_text(s->ctx, l->shape->leaf))
		     : layout_str(s->ctx, l);
}

/* An element by itself of a tensor that has none: by its rank, or by its type. */
Value number_missing(Sema *s, Loc loc, const Value *tensor, const Value *at, int n)
{
	const Tensor *t = tensor->tensor;
	bool one = s->grid_op;
	for (int i = 0; i < n && one; i++)
		one = at[i].kind == V_INT && !of_several(s, at[i].ix);
	const char *help = help_tensor(s, t);
	if (t->elem == EL_I32 && n != layout_rank(t->layout))
		return rejected(s, loc, D_E0206, "%d ind%s for '%s', which has rank %d\nwrite %s",
				n, n == 1 ? "ex" : "ices", t->name, layout_rank(t->layout),
				element_example(s, t));
	if (one && t->elem != EL_I32 && strncmp(help, "name", strlen("name")) != 0)
		return rejected(s, loc, D_E0205,
				"'%s' holds %s, and an integer is read from a tensor of s32\n"
				"declare it as %s : s32 %s",
				t->name, elem_rows[t->elem].name, t->name, form_str(s, t->layout));
	return rejected(s, tensor->loc, D_E0203, "what is indexed is %s, this is %s\n%s",
			value_rows[V_TILES].text, value_text(tensor), help);
}

/* ------------------------------------------------------------------ as messages call it */
/* The name in the source of what the IR calls so: len[b] of len.1, k of k.1. */
static const char *spelled(Sema *s, const char *name)
{
	for (int i = 0; i < s->numbers.n; i++)
		if (!strcmp(s->numbers.at[i].name, name))
			return s->numbers.at[i].text;
	return ctx_strf(s->ctx, "%.*s", (int)strcspn(name, "."), name);
}

const char *ix_spelled(Sema *s, const Ix *x)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.0123456789";
	Buf b = {0};
	for (const char *at = ix_text(s->ctx, x); *at;) {
		int n = (int)strspn(at, letters);
		const char *word = ctx_strf(s->ctx, "%.*s", n ? n : 1, at);
		buf_printf(&b, "%s", n ? spelled(s, word) : word);
		at += strlen(word);
	}
	return ctx_buf(s->ctx, &b);
}

/* ------------------------------------------------------------------ as an index of tiles */
bool is_from_memory(const Sema *s, const Ix *x)
{
	bool some = false;
	for (int i = 0; i < s->numbers.n && !some; i++)
		some = ix_uses(x, s->numbers.at[i].name);
	for (const Bounded *b = s->bounded; b && !some; b = b->up)
		some = ix_uses(x, b->name->name);
	return some;
}

/* x where it is one of so many, else the one after the last. */
static const Ix *held(Sema *s, const Ix *x, const Ix *tiles)
{
	Ctx *c = s->ctx;
	if (ix_least(x, facts_seen(&s->facts)) < 0)
		x = ix_new(c, IX_MAX, x, ix_mul(c, ix_new(c, IX_LT, x, ix_const(c, 0)), tiles));
	return ix_new(c, IX_MIN, x, tiles);
}

const Ix *number_tile(Sema *s, const Tiling *t, int mode, const Ix *at)
{
	const Ix *tiles = tiles_count(s, t, mode), *each = ix_const(s->ctx, t->extent[mode]);
	bool plain = false;
	note_extent(s, at, ix_ceil_div(s->ctx, tiling_extent(s, t, mode), each));
	kernel_syms_most(s->kernel, tiling_extent(s, t, mode), NUMBERED);
	for (const Bounded *b = s->bounded; b; b = b->up)
		plain |= at == b->name;
	return plain ? at : held(s, at, tiles);
}

/* ------------------------------------------------------------------ as the bound of a loop */
/* The tensor, or scalar, that the first of a value's tiles is of. */
static const Val *read_by(const Val *v)
{
	const Op *copy = v->def && v->def->kind == OP_FRAG ? v->def->next : NULL;
	const Val *found = v->def && v->def->kind == OP_TILE ? v : NULL;
	if (copy && copy->kind == OP_COPY && IN(copy, TO).val == v)
		found = read_by(IN(copy, FROM).val);
	for (int i = 0; v->def && i < v->def->nin && !found; i++)
		found = read_by(v->def->in[i].val);
	while (found && found->def)
		found = IN(found->def, OF).val;
	return found;
}

static const char *scalar_name(const Value *v)
{
	return v->val->arg >= 0 ? v->val->name : "n";
}

bool number_wanted(Sema *s, const Value *v, const char *what)
{
	const Val *of = v->kind == V_TILE   ? v->tile->tiling->tensor->val
			: v->kind == V_FRAG ? read_by(v->val)
					    : NULL;
	if (of && of->type->elem != EL_I32)
		return reject(s, v->loc, D_E0205,
			      "'%s' holds %s, and %s is an integer, which is read from s32\n"
			      "declare it as %s : s32 %s",
			      of->name, elem_rows[of->type->elem].name, what, of->name,
			      form_str(s, of->type->layout));
	if (of)
		return reject(
			s, v->loc, D_E0203,
			"this is a tile of '%s', and %s is one number\n"
			"index it by names that count one element a tile, or by those of loops",
			of->name, what);
	if (v->kind == V_TENSOR)
		return reject(s, v->loc, D_E0203, "%s is an integer, this is a tensor\n%s", what,
			      layout_rank(v->tensor->layout) == 1
				      ? help_tensor(s, v->tensor)
				      : ctx_strf(s->ctx, "write %s",
						 element_example(s, v->tensor)));
	if (v->kind == V_SCALAR)
		return reject(s, v->loc, D_E0203,
			      "%s is an integer, this is a scalar\n"
			      "declare a tensor of one element, %s : s32 (1), and write %s[0]",
			      what, scalar_name(v), scalar_name(v));
	return want(s, v, V_INT, what);
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
