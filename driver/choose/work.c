/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* work.c - what a kernel multiplies, read from the tile stage: which tensors fill the operands of
 * its mma, along which modes, and what leaves beside the loop.
 *     copy %sA, tile %A (m * 128, k * 64); copy %sB, tile %B (n * 256, k * 64)
 *     mma %acc, %sA, %sB   ->   M N K of A's and B's rows, tile 128 x 256 x 64 */
#include "driver/choose/work.h"
#include "ir/schedule.h"

#include <string.h>

/* An operand of the product: a tile of a matrix. */
typedef struct {
	const Op *tile, *rows; /* the tensor's; what says which rows: itself, or the indices */
	int row, col;          /* modes of the tensor */
	int row_of;            /* the mode of rows' tensor that counts them */
} Side;

/* ------------------------------------------------------------------ operands */
static const Op *filled_by(const Kernel *k, const Val *to)
{
	for (const Op *op = kernel_find(k, OP_COPY); op; op = op_find_next(op, OP_COPY))
		if (IN(op, TO).val == to)
			return op;
	return NULL;
}

/* The tile of memory that a value comes from, through buffers and elementwise operations: of
 * several the first that has one. */
static const Op *tile_of(const Kernel *k, const Val *v, int depth)
{
	enum { DEEP = 16 };
	const Op *op = v ? v->def : NULL, *found = NULL;
	if (op && (op->kind == OP_SHARED || op->kind == OP_FRAG))
		op = filled_by(k, v);
	if (op && op->kind == OP_COPY)
		return tile_of(k, IN(op, FROM).val, depth);
	if (!op || op->kind == OP_TILE || depth == DEEP)
		return op && op->kind == OP_TILE ? op : NULL;
	for (int i = 0; i < op->nin && !found; i++)
		found = tile_of(k, op->in[i].val, depth + 1);
	return found;
}

static int64_t extent_of(const Op *tile, int mode)
{
	int64_t n;
	const Tup *t = tup_get(tile->out->type->layout->shape, mode);
	return tup_is_leaf(t) && ix_is_const(t->leaf, &n) ? n : 0;
}

static int mode_with(const Op *tile, int64_t extent)
{
	int rank = layout_rank(tile->out->type->layout);
	for (int i = 0; i < rank; i++)
		if (extent_of(tile, i) == extent)
			return i;
	return -1;
}

/* rows: of the accumulator, along this side. */
static bool side_of(Kernel *k, const Val *operand, int64_t rows, Side *s)
{
	*s = (Side){.tile = tile_of(k, operand, 0)};
	if (!s->tile)
		return false;
	ModeList modes = type_modes(k->ctx, s->tile->out->type);
	if (modes.n != 2)
		return false;
	bool across = extent_of(s->tile, modes.at[0]) != rows;
	s->row = s->row_of = modes.at[across];
	s->col = modes.at[!across];
	s->rows = s->tile;
	if (attrs_int(&s->tile->attrs, A_GATHER, -1) == s->row && HAS_IN(s->tile, INDEX)) {
		s->rows = tile_of(k, IN(s->tile, INDEX).val, 0);
		s->row_of = s->rows ? mode_with(s->rows, extent_of(s->tile, s->row)) : -1;
	}
	return s->row_of >= 0 && extent_of(s->tile, s->row) == rows && extent_of(s->tile, s->col);
}

static const Layout *tensor_of(const Op *tile)
{
	return IN(tile, OF).val->type->layout;
}

static const Ix *whole_extent(Ctx *c, const Op *tile, int mode)
{
	return tup_product(c, tup_get(tensor_of(tile)->shape, mode));
}

/* From one row to the next, or from one column, whichever is farther; NULL: modes in parts. */
static const Ix *pitch_of(Ctx *c, const Side *s)
{
	const Tup *row = tup_get(tensor_of(s->tile)->stride, s->row);
	const Tup *col = tup_get(tensor_of(s->tile)->stride, s->col);
	if (!tup_is_leaf(row) || !tup_is_leaf(col))
		return NULL;
	return elem_bytes_of(c, s->tile->out->type->elem,
			     ix_is(row->leaf, 1) ? col->leaf : row->leaf);
}

static int bits_of(const Side *s)
{
	return elem_rows[s->tile->out->type->elem].bits;
}

/* ------------------------------------------------------------------ several products */
static bool is_same(const Side *x, const Side *y)
{
	return IN(x->tile, OF).val == IN(y->tile, OF).val;
}

/* A second product of the loop beside the first: of the same rows it has more columns, of the same
 * columns more rows, else more of k. */
static void add_beside(Ctx *c, Work *w, const Side first[2], const Side also[2])
{
	const Ix **extent[] = {&w->n, &w->m, &w->k};
	int *tile[] = {&w->variant.tile_n, &w->variant.tile_m, &w->variant.tile_k};
	int which = is_same(&first[0], &also[0]) ? 0 : is_same(&first[1], &also[1]) ? 1 : 2;
	int64_t more[] = {extent_of(also[1].tile, also[1].row),
			  extent_of(also[0].tile, also[0].row),
			  extent_of(also[0].tile, also[0].col)};
	*extent[which] =
		ix_add(c, *extent[which],
		       which == 2 ? whole_extent(c, also[0].tile, also[0].col)
				  : whole_extent(c, also[!which].rows, also[!which].row_of));
	*tile[which] += (int)more[which];
}

static bool sides_of(Kernel *k, const Op *mma, Side s[2])
{
	const Val *operands[] = {IN(mma, A).val, IN(mma, B).val};
	bool swap = attrs_int(&mma->attrs, A_SWAP, 0); /* B's rows are its first operand */
	for (int i = 0; i < 2; i++) {
		int64_t rows;
		if (!ix_is_const(tup_get(IN(mma, TO).val->type->layout->shape, i)->leaf, &rows) ||
		    !side_of(k, operands[i != swap], rows, &s[i]))
			return false;
	}
	return true;
}

static bool read_products(Kernel *k, const Op *first, const Side side[2], Work *w)
{
	for (const Op *op = first; (op = op_find_next(op, OP_MMA));) {
		Side also[2];
		if (op_parent(op) != op_parent(first) || !sides_of(k, op, also))
			return false;
		add_beside(k->ctx, w, side, also);
		w->several = true;
	}
	return true;
}

/* ------------------------------------------------------------------ the grid, the epilogue */
static bool names_rows(const Side *s, const char *name)
{
	return ix_uses(s->rows->ix[s->row_of], name);
}

/* Whether a loop around goes through rows of a side: an iteration of the grid has several tiles of
 * products. */
static bool goes_through_rows(const Op *mma, const Side side[2])
{
	for (const Op *op = op_parent(mma); op && op->kind == OP_FOR; op = op_parent(op))
		if (names_rows(&side[0], op->sym[0]) || names_rows(&side[1], op->sym[0]))
			return true;
	return false;
}

/* How many products there are: tiles along the names of the grid that move neither side's rows. Of
 * a grid of groups: each group is one; its first names are the group, a row and an end. */
static const Ix *batch_of(Ctx *c, const Op *grid, const Side side[2])
{
	enum { OF_GROUPS = 3 };
	bool groups = HAS_IN(grid, ENDS);
	const Ix *all = groups ? IX(grid, GROUPS) : ix_const(c, 1);
	for (int i = groups ? OF_GROUPS : 0; i < grid->nsym; i++)
		if (!names_rows(&side[0], grid->sym[i]) && !names_rows(&side[1], grid->sym[i]))
			all = ix_mul(c, all, grid->ix[i]);
	return all;
}

static bool names_group(const Op *tile, const char *group)
{
	bool names = false;
	for (int i = 0; i < tile->nix; i++)
		names |= ix_uses(tile->ix[i], group);
	return names;
}

/* Only the device knows the groups: all count as equal. Of M rows in G groups each has M / G. */
static void share_groups(Ctx *c, const Op *grid, const Op *along_k, const Side side[2], Work *w)
{
	const Ix **extent[] = {&w->m, &w->n};
	for (int i = 0; i < 2 && HAS_IN(grid, ENDS); i++)
		if (names_rows(&side[i], grid->sym[1]) && !names_group(side[i].rows, grid->sym[0]))
			*extent[i] = ix_ceil_div(c, *extent[i], IX(grid, GROUPS));
	if (along_k)
		w->k = ix_ceil_div(c, w->k, IX(along_k, GROUPS));
	w->several |= along_k || HAS_IN(grid, ENDS);
}

static int64_t elements_of(const Op *tile)
{
	int64_t n = 1;
	for (int i = 0; i < layout_rank(tile->out->type->layout); i++)
		n *= extent_of(tile, i);
	return n;
}

/* Bits of memory that leave, or come, outside the loop for each element of the product. */
static void read_epilogue(const Kernel *k, const Op *loop, Work *w)
{
	int64_t of = (int64_t)w->variant.tile_m * w->variant.tile_n, out = 0, in = 0;
	for (const Op *op = kernel_find(k, OP_COPY); op; op = op_find_next(op, OP_COPY)) {
		const Op *to = IN(op, TO).val->def, *from = IN(op, FROM).val->def;
		const Op *tile = to && to->kind == OP_TILE ? to : from;
		if (!tile || tile->kind != OP_TILE || op_inside(op, loop))
			continue;
		*(tile == to ? &out : &in) +=
			elements_of(tile) * elem_rows[tile->out->type->elem].bits;
	}
	w->product.bits_out = (int)(out / of);
	w->product.bits_in = (int)(in / of);
}

/* ------------------------------------------------------------------ the schedule */
static int role_of(const Kernel *k)
{
	const char *roles = attrs_str(&k->attrs, A_ROLES, "none");
	return !strcmp(roles, "pingpong")      ? COST_PINGPONG
	       : !strcmp(roles, "cooperative") ? COST_COOPERATIVE
					       : COST_NONE;
}

static void read_schedule(Kernel *k, const Op *mma, CostVariant *v)
{
	const Attr *arrange = attrs_get(&mma->attrs, A_ARRANGE);
	const Attr *cluster = attrs_get(&k->attrs, A_CLUSTER);
	const Attr *atom = attrs_get(&mma->attrs, A_ATOM);
	int64_t warps = arrange->i[0] * arrange->i[1];
	v->warpgroups = (int)(warps * atom_threads(k->ctx, atom->atom) / GROUP_THREADS);
	v->roles = role_of(k);
	v->persistent = attrs_int(&k->attrs, A_PERSISTENT, 0) != 0;
	v->swap = (int)attrs_int(&k->attrs, A_SWAP, 0);
	v->group = (int)attrs_int(&k->attrs, A_GROUP, 0);
	v->cluster_m = cluster ? (int)cluster->i[0] : 1;
	v->cluster_n = cluster ? (int)cluster->i[1] : 1;
	v->split = (int)attrs_int(&k->attrs, A_SPLIT_K, 1);
	v->workspace = schedule_by_workspace(k);
	v->ctas = kernel_ctas(k);
}

/* The fewest stages that a ring is given. */
static void read_stages(const Kernel *k, Work *w)
{
	int64_t given = attrs_int(&k->attrs, A_STAGES, 0);
	for (const Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		int64_t slots = given ? given : attrs_int(&ring->attrs, A_SLOTS, 0);
		if (slots && (!w->variant.stages || slots < w->variant.stages))
			w->variant.stages = (int)slots;
	}
}

bool work_of(const Kernel *kernel, Work *w)
{
	Kernel *k = (Kernel *)(uintptr_t)kernel;
	Ctx *c = k->ctx;
	const Op *mma = kernel_find(k, OP_MMA), *grid = kernel_find(k, OP_GRID);
	Side s[2];
	*w = (Work){.kernel = kernel};
	if (!mma || !grid || !attrs_get(&mma->attrs, A_ARRANGE) || !sides_of(k, mma, s))
		return false;
	if (goes_through_rows(mma, s))
		return false;
	Atom atom = attrs_get(&mma->attrs, A_ATOM)->atom;
	w->product = (CostProduct){.bits_a = bits_of(&s[0]),
				   .bits_b = bits_of(&s[1]),
				   .bits_mma = elem_rows[atom_rows[atom.id].a].bits};
	for (int i = 0; i < 2; i++)
		w->tensor[i] = IN(s[i].tile, OF).val->arg;
	w->m = whole_extent(c, s[0].rows, s[0].row_of);
	w->n = whole_extent(c, s[1].rows, s[1].row_of);
	w->k = whole_extent(c, s[0].tile, s[0].col);
	w->batch = batch_of(c, grid, s);
	w->pitch_a = pitch_of(c, &s[0]);
	w->pitch_b = pitch_of(c, &s[1]);
	w->variant.tile_m = (int)extent_of(s[0].tile, s[0].row);
	w->variant.tile_n = (int)extent_of(s[1].tile, s[1].row);
	w->variant.tile_k = (int)extent_of(s[0].tile, s[0].col);
	if (!w->pitch_a || !w->pitch_b || !read_products(k, mma, s, w))
		return false;
	share_groups(c, grid, kernel_find(k, OP_GROUPS_AT), s, w);
	read_epilogue(k, op_parent(mma), w);
	read_schedule(k, mma, &w->variant);
	read_stages(k, w);
	return true;
}
