/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* coord.c - where the elements of a tile lie along a mode of its tensor, as integers. Nothing is
 * loaded.
 *     coord(gQ[b,m,0], 1)   of tiles (1,128,64), m a name of the grid
 *  -> %q = series (m * 128) : reg s32 (128,1):(1,0)
 *     coord(gK[b,j,0], 1)   of tiles (1,96,64), which a loop copies to sK for qk(sQ, sK)
 *  -> %k = series (j * 96) : reg s32 (1,96):(0,1)
 * A row of operand B lies along a column of the accumulator, whatever the grid's name of it.
 * Coordinates along one side are not compared: i >= j is then the same for the whole tile. */
#include "frontend/sema.h"

#include <inttypes.h>

#include <string.h>

/* ------------------------------------------------------------------ which operand a tile is */
enum { AS_A = 1, AS_B = 2 };

static bool names(const Node *n, const char *name)
{
	bool found = n->kind == N_NAME && !strcmp(n->name, name);
	for (int i = 0; i < n->kids.n && !found; i++)
		found = names(n->kids.at[i], name);
	return found;
}

/* What a let in `block` names so; NULL: none does. */
static const Node *bound(const Node *block, const char *name)
{
	const Node *found = NULL;
	for (int i = 0; i < block->kids.n && !found; i++) {
		const Node *n = block->kids.at[i];
		bool is = block->kind == N_LET && n->kind == N_BIND && !strcmp(n->name, name);
		found = is ? n->kids.at[0] : bound(n, name);
	}
	return found;
}

/* The node, or what a let gives its name to. */
static const Node *meant(const Sema *s, const Node *n)
{
	enum { LETS_MOST = 8 };
	for (int i = 0; n->kind == N_NAME && i < LETS_MOST; i++) {
		const Node *of = bound(s->body, n->name);
		if (!of)
			break;
		n = of;
	}
	return n;
}

/* Operand B as it lies in the buffer, or in a part of it. Transposed, its rows are summed over; of
 * what is computed from it, they are rows, too. */
static int as_b(const Sema *s, const Node *n, const char *buffer)
{
	n = meant(s, n);
	if (n->kind == N_NAME)
		return strcmp(n->name, buffer) ? 0 : AS_B;
	if (n->kind == N_TURNED)
		return 0;
	if (n->kind == N_INDEX)
		return as_b(s, n->kids.at[0], buffer);
	return names(n, buffer) ? AS_A | AS_B : 0;
}

/* mm(x, sB) reads B from a buffer, and A from one, or from what is computed. */
static int operand_of_call(Sema *s, const Node *n, const char *buffer)
{
	const Node *head = n->kind == N_CALL && n->kids.n == 3 ? n->kids.at[0] : NULL;
	const Symbol *sym = head && head->kind == N_NAME ? scope_find(s, head->name) : NULL;
	if (!sym || sym->value.kind != V_MMA)
		return 0;
	return (names(meant(s, n->kids.at[1]), buffer) ? AS_A : 0) | as_b(s, n->kids.at[2], buffer);
}

static int operand_within(Sema *s, const Node *n, const char *buffer)
{
	int as = operand_of_call(s, n, buffer);
	for (int i = 0; i < n->kids.n; i++)
		as |= operand_within(s, n->kids.at[i], buffer);
	return as;
}

static bool node_alike(const Node *a, const Node *b)
{
	bool same = a->kind == b->kind && a->op == b->op && a->num == b->num &&
		    a->name == b->name && a->kids.n == b->kids.n;
	for (int i = 0; i < a->kids.n && same; i++)
		same = node_alike(a->kids.at[i], b->kids.at[i]);
	return same;
}

/* Whether a copy brings tiles of the same tensor, at the same place along the mode. */
static bool brings(Sema *s, const Node *copy, const Node *tile, int mode)
{
	const Node *to = copy->kind == N_COPY ? copy->kids.at[0] : NULL,
		   *from = to ? meant(s, copy->kids.at[1]) : NULL;
	if (!to || to->kind != N_NAME || from->kind != N_INDEX || tile->kind != N_INDEX ||
	    from->kids.n != tile->kids.n || from->kids.at[0]->kind != N_NAME ||
	    mode + 1 >= tile->kids.n)
		return false;
	const Symbol *a = scope_find(s, from->kids.at[0]->name),
		     *b = scope_find(s, tile->kids.at[0]->name);
	return a && b && a->value.kind == V_TILES && a->value.tiling == b->value.tiling &&
	       node_alike(from->kids.at[mode + 1], tile->kids.at[mode + 1]);
}

/* As which operands the kernel multiplies what it copies from there. */
static int operand_of(Sema *s, const Node *n, const Node *tile, int mode)
{
	int as = brings(s, n, tile, mode) ? operand_within(s, s->body, n->kids.at[0]->name) : 0;
	for (int i = 0; i < n->kids.n; i++)
		as |= operand_of(s, n->kids.at[i], tile, mode);
	return as;
}

/* ------------------------------------------------------------------ where the coordinates lie */
/* Along the rows (0) or the columns (1) of what is computed; -1: reported. */
static int side_of_coord(Sema *s, const Node *call, const Tile *t, int mode, int in_tile)
{
	int side = side_of(s, t->at[mode]);
	if (in_tile)
		return side >= 0 ? side : in_tile;
	int as = operand_of(s, s->body, meant(s, call->kids.at[1]), mode);
	if (as != (AS_A | AS_B) || side >= 0)
		return as == AS_B ? 1 : side >= 0 ? side : 0;
	reject(s, call->loc, D_E0203,
	       "these rows of '%s' are rows of operand A and of operand B, so that they lie along "
	       "rows and columns\n"
	       "divide '%s' twice, let gA = .., gB = .., and copy each operand from its own",
	       t->tiling->tensor->name, t->tiling->tensor->name);
	return -1;
}

/* The place of the mode among those of the tile's matrix; -1: the tile has one element along it. */
static int place_of(Sema *s, const Tiling *t, int mode)
{
	ModeList matrix = tiling_modes(s, t);
	for (int i = 0; i < matrix.n; i++)
		if (matrix.at[i] == mode)
			return i;
	return -1;
}

Value coord_series(Sema *s, Loc loc, const Ix *from, int side, int64_t n)
{
	Value v = value_of(V_FRAG);
	Op *op = build(s, OP_SERIES, loc);
	op_ix(s->kernel, op, from);
	v.val = op_result(s->kernel, op, "i",
			  type_tile(s->ctx, SP_REG, EL_I32, vector_shape(s, side, n)));
	v.loc = loc;
	return v;
}

/* Of rows that indices name, those. */
static Value named_rows(const Tile *t)
{
	Value v = value_of(V_TILE);
	v.tile = t->names;
	return v;
}

static Value coordinates(Sema *s, const Node *call, const Value *tile, int mode)
{
	const Tile *t = tile->tile;
	const Tiling *g = t->tiling;
	int in_tile = place_of(s, g, mode);
	if (t->names && t->gather == mode)
		return named_rows(t);
	const Ix *from = tile_origin(s, g, mode, t->at[mode]);
	if (in_tile < 0 || g->extent[mode] == 1)
		return value_ix(from);
	int side = side_of_coord(s, call, t, mode, in_tile);
	return side < 0 ? value_bad() : coord_series(s, call->loc, from, side, g->extent[mode]);
}

/* The coordinates that the value is, or to which it adds a scalar. */
static const Op *series_of(const Value *v)
{
	const Val *at = v->kind == V_FRAG ? v->val : NULL;
	while (at && at->def && (at->def->kind == OP_ADD || at->def->kind == OP_SUB)) {
		const Val *x = IN(at->def, X).val, *y = IN(at->def, Y).val;
		bool first = x->type->kind == TY_TILE, adds = at->def->kind == OP_ADD;
		at = first && y->type->kind != TY_TILE ? x : !first && adds ? y : NULL;
	}
	return at && at->def && at->def->kind == OP_SERIES ? at->def : NULL;
}

int coords_side(const Value *a, const Value *b)
{
	const Op *x = series_of(a), *y = series_of(b);
	if (!x || !y || x->out->type->layout != y->out->type->layout)
		return -1;
	return shape_extent(x->out->type->layout, 0) == 1;
}

static bool mode_of_call(Sema *s, const Node *call, const Tiling *t, int64_t *mode)
{
	Value v = eval(s, call->kids.at[2]);
	bool beyond = v.kind == V_INT && ix_is_const(v.ix, mode) && *mode >= t->rank;
	if (beyond)
		return reject(s, v.loc, D_E0211,
			      "mode %" PRId64 " of '%s', which has %d\n"
			      "modes count from 0: the last is mode %d",
			      *mode, t->tensor->name, t->rank, t->rank - 1);
	return want_int(s, &v, 0, t->rank - 1, "a mode of the tensor", mode);
}

Value coord_call(Sema *s, const Node *call)
{
	int64_t mode;
	if (call->kids.n != 3)
		return rejected(s, call->loc, D_E0206,
				"coord takes a tile and a mode of its tensor\n"
				"write coord(gX[m,n], 1)");
	Value tile = eval(s, call->kids.at[1]);
	if (tile.kind == V_TENSOR || tile.kind == V_TILES)
		return rejected(s, tile.loc, D_E0203, "coord is of a tile, this is %s\n%s",
				value_text(&tile), help_value(s, &tile));
	if (is_buffer(&tile))
		return rejected(s, tile.loc, D_E0203,
				"coord is of a tile of a tensor, this is %s\n"
				"write the tile that is copied there, as coord(gK[j,0], 0)",
				value_text(&tile));
	if (!want(s, &tile, V_TILE, "what has coordinates") || !is_whole_tile(s, &tile) ||
	    !mode_of_call(s, call, tile.tile->tiling, &mode))
		return value_bad();
	if (!(s->place & (AT_LOOP | AT_GRID)))
		return rejected(s, call->loc, D_E0309,
				"values on tiles and scalars are computed in the grid");
	return coordinates(s, call, &tile, (int)mode);
}
