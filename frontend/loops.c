/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* loops.c - the grid over the tiles of an output, and the loops in it, over tiles or a range.
 *     for (m,n) in gD { for k in gA[m] { ... } for k in 0 .. m + 1 { ... } }
 *  -> grid m, n ((M + 127) / 128, (N + 255) / 256) {
 *       for k (0, (K + 63) / 64) { ... }
 *       for k.1 (0, m + 1) { ... } } */
#include "frontend/sema.h"

#include <string.h>

/* `sym` is its name in the IR. */
static void add_coord(Sema *s, const Node *name, const char *sym, const Tiling *t, int mode)
{
	Value v = value_ix(ix_sym(s->ctx, sym));
	Coord *c = NEW(s->arena, Coord);
	*c = (Coord){name->name, tiling_extent(s, t, mode), t->extent[mode],
		     tiling_begins(t, mode) ? t->first : NULL};
	v.coord = c;
	scope_add(s, name, v);
}

/* `_` in place of a name: there is one tile. */
static bool is_nameless(const Node *name)
{
	return !strcmp(name->name, "_");
}

static bool names_fit(Sema *s, const Node *names)
{
	bool good = true;
	int mark = scope_mark(s);
	for (int i = 0; i < names->kids.n; i++) {
		const Node *n = names->kids.at[i];
		if (is_nameless(n))
			continue;
		good &= name_is_free(s, n->name, n->loc) && name_fits_ir(s, n->name, n->loc);
		if (good)
			scope_add(s, n, value_bad());
	}
	scope_leave(s, mark);
	return good;
}

static void body(Sema *s, const Node *block, Op *op, Place place)
{
	Block *outer = s->block;
	Place before = s->place;
	s->block = op_body(s->kernel, op);
	s->place = place;
	region_enter(s);
	sema_block(s, block);
	region_leave(s);
	s->block = outer;
	s->place = before;
}

/* `_` may stand for tiles that loops in the grid go through. */
static bool is_left_to_loops(Sema *s, const Tiling *t, int mode)
{
	bool may = s->grid_open < 0 && !t->names;
	if (may)
		s->grid_open = mode;
	return may;
}

/* The first name is that of the tiles of mode 0, or of groups, which have one, as their rows. */
static bool nameless_fit(Sema *s, const Node *names, const Tiling *t, bool of_groups)
{
	int groups = names->kids.n - t->rank, rows = of_groups ? groups_mode(t) : -1;
	s->grid_open = -1;
	for (int j = 0; j < names->kids.n; j++) {
		const Node *n = names->kids.at[j];
		int i = j - groups;
		if (!is_nameless(n) || (i > rows && ix_is(tiles_count(s, t, i), 1)))
			continue;
		if (i <= rows)
			return reject(s, n->loc, D_E0307,
				      "'_' stands for one tile, and there may be many %s\n"
				      "give it a name",
				      i < rows ? "groups" : "tiles of a group's rows");
		if (!groups && is_left_to_loops(s, t, i))
			continue;
		return reject(s, n->loc, D_E0307,
			      "'_' stands for one tile, mode %d of '%s' has %s\n"
			      "give it a name",
			      i, t->tensor->name, ix_text(s->ctx, tiles_count(s, t, i)));
	}
	return true;
}

static bool grid_fits(Sema *s, const Node *n, const Value *v, bool groups)
{
	const Node *names = n->kids.at[0];
	if (v->kind == V_BAD)
		return false;
	if (v->kind != V_TILES) {
		const char *name = v->kind == V_TENSOR ? v->tensor->name : "D";
		return reject(s, v->loc, D_E0307,
			      "the grid is over the tiles of an output, not over %s\n"
			      "write for (m,n) in g%s, with let g%s = %s / (bM,bN)",
			      value_text(v), name, name, name);
	}
	const Tensor *t = v->tiling->tensor;
	if (!t->is_out)
		return reject(s, v->loc, D_E0307,
			      "the grid is over the tiles of an output, and '%s' is an input\n"
			      "declare it out",
			      t->name);
	if (names->kids.n != v->tiling->rank + (groups && !groups_mode(v->tiling)))
		return reject(s, names->loc, D_E0206,
			      "%d name%s for the %stiles of '%s', which has rank %d\n"
			      "write a name for each mode, in their order%s",
			      names->kids.n, names->kids.n == 1 ? "" : "s",
			      groups ? "groups and the " : "", t->name, v->tiling->rank,
			      groups ? ", and that of the groups before them: for (g,m,n) in .."
				     : ", or _ where there is one tile");
	if (s->grid_loc.src >= 0)
		return reject(s, n->loc, D_E0301,
			      "not built yet: a second grid in one kernel\n"
			      "write a kernel for each grid: a file holds several");
	return names_fit(s, names) && nameless_fit(s, names, v->tiling, groups);
}

static void grid_name(Sema *s, Op *op, const Node *name, const Tiling *t, int mode)
{
	s->grid_at[mode] = mode == s->grid_open ? NULL : ix_const(s->ctx, 0);
	if (is_nameless(name))
		return;
	op_sym(s->kernel, op, name->name);
	op_ix(s->kernel, op, tiles_count(s, t, mode));
	add_coord(s, name, name->name, t, mode);
	s->grid_at[mode] = ix_sym(s->ctx, name->name);
}

/* The names in front of those of columns; the mode of the last of them. */
static int group_names(Sema *s, Op *op, const Node *names, const Tiling *t, const Tensor *ends)
{
	const Node *group = names->kids.at[0], *row = names->kids.at[1];
	Value v;
	Coord *c = NEW(s->arena, Coord);
	groups_begin(s, op, group->name, row->name, ends);
	*c = (Coord){group->name, s->groups.extent, 1, NULL};
	v = value_ix(s->groups.group);
	v.coord = c;
	scope_add(s, group, v);
	int mode = groups_mode(t);
	add_coord(s, row, row->name, t, mode);
	s->grid_at[0] = s->groups.group;
	s->grid_at[mode] = s->groups.row;
	return mode;
}

static void grid_has_tiles(Sema *s, const Op *grid, const Tensor *of)
{
	for (int i = 0; i < grid->nix; i++)
		if (ix_most(grid->ix[i], kernel_facts(s->kernel)) < 1)
			reject(s, grid->loc, D_E0311, "the where clauses leave no tile of '%s'",
			       of->name);
}

static void grid(Sema *s, const Node *n)
{
	const Node *names = n->kids.at[0], *domain = n->kids.at[1];
	Value v = value_bad();
	const Tensor *ends = node_calls(domain, W_GROUPS) ? groups_ends(s, domain, &v) : NULL;
	int mark = scope_mark(s), groups = node_calls(domain, W_GROUPS);
	if (!groups)
		v = eval(s, domain);
	if (!grid_fits(s, n, &v, groups))
		return;
	s->grid_loc = n->loc;
	s->grid = v.tiling;
	buffers_build(s);
	Op *op = s->grid_op = build(s, OP_GRID, n->loc);
	int named = groups ? group_names(s, op, names, v.tiling, ends) + 1 : 0;
	for (int i = named; i < v.tiling->rank; i++)
		grid_name(s, op, names->kids.at[i + names->kids.n - v.tiling->rank], v.tiling, i);
	if (!op->nsym) { /* one tile in all */
		op_sym(s->kernel, op, kernel_fresh(s->kernel, "one"));
		op_ix(s->kernel, op, ix_const(s->ctx, 1));
	}
	grid_has_tiles(s, op, v.tiling->tensor);
	facts_of_op(op, &s->facts, ctx_arena(s->ctx));
	body(s, n->kids.at[2], op, AT_GRID);
	scope_leave(s, mark);
	if (diag_errors(s->ctx) == s->errors_before_kernel)
		buffers_check(s);
}

static bool one_name(Sema *s, const Node *names)
{
	if (names->kids.n == 1)
		return names_fit(s, names);
	return reject(s, names->loc, D_E0206, "%d names for one mode", names->kids.n);
}

/* gA[m] in `for k in gA[m]`: all modes but one are given */
static bool loop_fits(Sema *s, const Node *n, const Value *v)
{
	const Node *names = n->kids.at[0];
	int mode, open = v->kind == V_TILES  ? v->tiling->rank
			 : v->kind == V_TILE ? tile_open(v->tile, &mode)
					     : 1;
	if (v->kind == V_INT)
		reject(s, v->loc, D_E0203,
		       "what a loop runs over is a tile of a tensor, this is an integer\n"
		       "write for k in gA[m], or a range: for k in 0 .. n");
	if (v->kind == V_INT ||
	    (v->kind != V_TILES && !want(s, v, V_TILE, "what a loop runs over")))
		return false;
	if (open > 1)
		return reject(s, v->loc, D_E0307,
			      "this loop has %d modes to run over\n"
			      "give all but one: for k in gA[m], or gA[m,_,l]",
			      open);
	if (!open)
		return reject(s, v->loc, D_E0307, "this leaves no mode to run over");
	return one_name(s, names);
}

/* Loops in sequence may use one name; in the IR each has its own. */
static Op *loop_new(Sema *s, const Node *n, const Ix *from, const Ix *to)
{
	const Node *name = n->kids.at[0]->kids.at[0];
	Op *op = build(s, OP_FOR, n->loc);
	op_sym(s->kernel, op, kernel_fresh(s->kernel, name->name));
	op_ixs(s->kernel, op, from, to);
	facts_of_op(op, &s->facts, ctx_arena(s->ctx));
	return op;
}

/* Whether the loop goes through the tiles that the grid has no name for. */
static bool is_loop_of_grid(Sema *s, const Tiling *t, int mode)
{
	int open = s->grid_open;
	return open >= 0 && s->place == AT_GRID && !s->grid_at[open] && !t->first &&
	       t->extent[mode] == s->grid->extent[open] &&
	       tiling_extent(s, t, mode) == tiling_extent(s, s->grid, open);
}

/* The body, in which the grid has names for all modes where the loop is of its tiles. */
static void loop_body(Sema *s, const Node *n, Op *op, Tile *turn, int mode)
{
	const Tile *outer = s->turn;
	bool of_grid = is_loop_of_grid(s, turn->tiling, mode);
	turn->at[mode] = ix_sym(s->ctx, op->sym[0]);
	s->turn = turn;
	if (of_grid)
		s->grid_at[s->grid_open] = turn->at[mode];
	body(s, n->kids.at[2], op, of_grid ? AT_GRID : AT_LOOP);
	if (of_grid)
		s->grid_at[s->grid_open] = NULL;
	s->turn = outer;
}

static void loop_over_tiles(Sema *s, const Node *n)
{
	bool of_group = node_calls(n->kids.at[1], W_GROUPS);
	Value v = of_group ? group_loop_tiles(s, n) : eval(s, n->kids.at[1]);
	int mode = 0;
	if (v.kind == V_BAD || !loop_fits(s, n, &v))
		return;
	Tile turn = v.kind == V_TILES ? (Tile){.tiling = v.tiling} : *v.tile;
	const Tiling *t = turn.tiling;
	tile_open(&turn, &mode);
	const Ix *all = tiling_extent(s, t, mode);
	const Ix *turns = of_group ? group_loop_begin(s, n->loc, all, t->extent[mode])
				   : tiles_count(s, t, mode);
	Op *op = loop_new(s, n, ix_const(s->ctx, 0), turns);
	add_coord(s, n->kids.at[0]->kids.at[0], op->sym[0], t, mode);
	if (of_group)
		s->along.name = ix_sym(s->ctx, op->sym[0]);
	loop_body(s, n, op, &turn, mode);
	if (of_group)
		s->along.name = NULL;
	bool some = of_group || tiling_begins(t, mode);
	promote_group(s, op, some ? NULL : &(LoopMode){all, t->extent[mode]});
}

/* A size divided by a number that is not known to divide it; NULL: there is none in x. */
static const Ix *floored(Sema *s, const Ix *x)
{
	int64_t by;
	if (!x || x->kind == IX_CONST || x->kind == IX_SYM)
		return NULL;
	if (x->kind == IX_DIV && x->a->kind == IX_SYM && ix_is_const(x->b, &by))
		return ix_divisor(x->a, facts_seen(&s->facts)) % by ? x : NULL;
	const Ix *found = floored(s, x->a);
	return found ? found : floored(s, x->b);
}

static void warn_of_tail(Sema *s, const Value *end)
{
	const Ix *x = floored(s, end->ix);
	if (!x)
		return;
	const char *name = ix_spelled(s, x->a);
	long long by = x->b->value;
	diag(s->ctx, end->loc, D_W0205,
	     "where '%s' is no multiple of %lld, the last elements are left out\n"
	     "write where %s %% %lld == 0, if it is one; or (%s + %lld) / %lld: elements "
	     "beyond the last read as zeros",
	     name, by, name, by, name, by - 1, by);
}

/* for k in lo .. hi: from lo on, below hi */
static void loop_over_range(Sema *s, const Node *n)
{
	const Node *range = n->kids.at[1];
	Value lo = eval(s, range->kids.at[0]), hi = eval(s, range->kids.at[1]);
	if (!number_wanted(s, &lo, "where a range begins") ||
	    !number_wanted(s, &hi, "where a range ends") || !one_name(s, n->kids.at[0]))
		return;
	warn_of_tail(s, &hi);
	Op *op = loop_new(s, n, lo.ix, hi.ix);
	const Tile *outer = s->turn;
	const Ix *name = ix_sym(s->ctx, op->sym[0]);
	bool memory = is_from_memory(s, lo.ix) || is_from_memory(s, hi.ix);
	Bounded bounded = {.name = name, .up = s->bounded};
	int before = diag_errors(s->ctx);
	scope_add(s, n->kids.at[0]->kids.at[0], value_ix(name));
	s->turn = NULL;
	s->bounded = memory ? &bounded : s->bounded;
	body(s, n->kids.at[2], op, AT_LOOP);
	s->bounded = bounded.up;
	s->turn = outer;
	if (diag_errors(s->ctx) > before || (memory && !number_loop_end(s, op, &bounded)))
		return;
	promote_group(s, op, NULL);
}

static void loop(Sema *s, const Node *n)
{
	int mark = scope_mark(s);
	s->work_loc = n->loc;
	if (n->kids.at[1]->kind == N_RANGE)
		loop_over_range(s, n);
	else
		loop_over_tiles(s, n);
	scope_leave(s, mark);
}

void stmt_for(Sema *s, const Node *n)
{
	if (s->place == AT_KERNEL)
		grid(s, n);
	else
		loop(s, n);
}
