/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lower.c - to the ptx stage: positions become slots and phases, a tile copy its TMA boxes, a tile
 * mma its wgmma instructions with byte offsets.
 *     mbar.wait %ab.full[k] lap=0         ->  mbar.wait %ab.full[k % 4] (k / 4 % 2)
 *     load.tma %sA[k], %t, %A.map, %f     ->  tma.load %sA[k % 4], %A.map, %f[k % 4]
 *                                                 (0, k * 64, m * 128) */
#include "passes/lower/lower.h"

/* ------------------------------------------------------------------ loads */
/* The byte in the slot of the element `row` rows down and `col` along a row. */
static int64_t box_byte(const Op *op, SlotForm f, int64_t row, int64_t col)
{
	int64_t at[2];
	at[f.fast] = col;
	at[1 - f.fast] = row;
	return slot_byte(IN(op, TO).val->type, at[0], at[1]);
}

/* Of the tile's rows those that this load brings: so many from `first` on. */
typedef struct {
	const Ix *first;
	int64_t n;
} Rows;

static Rows rows_of(Kernel *k, const Op *op, SlotForm f)
{
	int64_t slice = f.rows / attrs_int(&op->attrs, A_SLICES, 1);
	int64_t n = slice / attrs_int(&op->attrs, A_WARPS, 1);
	const Ix *part = op->nix ? IX(op, PARTS) : ix_int(k, 0);
	return (Rows){ix_add(k->ctx, ix_mul(k->ctx, part, ix_int(k, slice)),
			     ix_int(k, n * attrs_int(&op->attrs, A_SHARE, 0))),
		      n};
}

/* Of rows that indices name, registers hold the coordinates. After a group's end these are of the
 * next group's rows: a box outside the tensor takes five times as long as one inside. */
static void by_indices(Kernel *k, const Op *op, Op *load, int64_t n)
{
	const Val *view = IN(IN(op, FROM).val->def, OF).val;
	int mode = (int)attrs_int(&IN(op, FROM).val->def->attrs, A_GATHER, 0);
	int at = map_coordinate(view->type->layout, mode);
	op_in(k, load, IN(op, INDEX).val, ix_int(k, 0));
	op_int(k, load, A_N, n);
	op_int(k, load, A_GATHER, layout_map_modes(tensor_arg(view)->type->layout).at[at]);
}

/* Of a tensor without rows the map has one element (runtime/check.c), which none of them is. */
static const Ix *behind_nothing(Kernel *k, const Val *tile, SlotForm f)
{
	const Ix *rows = tile_extent(k, tile, 1 - f.fast), *zero = ix_int(k, 0);
	return ix_mul(k->ctx, ix_new(k->ctx, IX_EQ, rows, zero), ix_int(k, f.span));
}

/* One box of a load that may go to several CTAs, and be a part of the tile. */
static void lower_box(Kernel *k, Op *op, Op *at, SlotForm f, int col)
{
	Ctx *c = k->ctx;
	const Ix *more[2];
	Rows rows = rows_of(k, op, f);
	bool named = op_loads_rows(op);
	int64_t step = rows.n < f.rows ? box_byte(op, f, 1, 0) : 0;
	const Operand *full = &IN(op, BARRIER);
	Op *load = op_before(k, at, (OpKind)copy_row_of(op->kind)->op);
	op_in(k, load, IN(op, TO).val, IN(op, TO).at);
	op_in(k, load, IN(op, MAP).val, NULL);
	op_in(k, load, full->val, full->at);
	op_ix(k, load,
	      ix_add(c, ix_mul(c, rows.first, ix_int(k, step)),
		     ix_int(k, box_byte(op, f, 0, col))));
	more[f.fast] = ix_int(k, col);
	if (named)
		more[f.fast] = ix_add(c, more[f.fast], behind_nothing(k, IN(op, FROM).val, f));
	more[1 - f.fast] = named ? ix_int(k, 0) : rows.first;
	op_box(k, load, IN(op, FROM).val, more);
	if (named)
		by_indices(k, op, load, rows.n);
	if (attrs_get(&op->attrs, A_CACHE))
		op_str(k, load, A_CACHE, attrs_str(&op->attrs, A_CACHE, ""));
	if (op->nix) {
		op_ix(k, load, IX(op, MASK));
		op_int(k, load, A_SHARED, 1);
	}
}

static void lower_load(Kernel *k, Op *op)
{
	SlotForm f;
	const char *why = slot_form(k->ctx, IN(op, TO).val->type, &f);
	if (why)
		panic("%s: %s", IN(op, TO).val->name, why);
	Op *end = op_before(k, op, OP_BAR_WARP), *issues = NULL;
	if (op->nix && !ix_is(IX(op, ISSUES), 1)) {
		issues = op_ix(k, op_before(k, end, OP_IF), IX(op, ISSUES));
		block_append(op_body(k, issues), end);
	}
	for (int col = 0; col < f.cols; col += f.span)
		lower_box(k, op, end, f, col);
	op_remove(end);
	op_remove(op);
}

/* All CTAs of a cluster announce a ticket, and the first draws it. */
static void lower_deal(Kernel *k, Op *op)
{
	Op *first = op_before(k, op, OP_IF);
	op_ix(k, first, ix_new(k->ctx, IX_EQ, ix_sym(k->ctx, "rank"), ix_int(k, 0)));
	block_append(op_body(k, first), op);
}

/* ------------------------------------------------------------------ mma */
typedef struct {
	TiledMma t;
	SlotDesc a, b;
	const Ix *along_m, *along_n; /* of this thread's warpgroup */
} MmaPlan;

/* Of an operand in registers there is none. */
static SlotDesc operand_desc(Kernel *k, SlotsAsked *asked, const Op *op, int i, int rows)
{
	SlotDesc d = {0};
	const Val *v = op->in[i].val;
	int depth = atom_rows[op_tiled_mma(k->ctx, op).atom.id].k;
	const char *why = v->type->space == SP_REG
				  ? NULL
				  : slot_desc_once(k->ctx, asked, v->type, op_window(k->ctx, op, i),
						   rows, depth, &d);
	if (why)
		panic("%s: %s", v->name, why);
	return d;
}

static MmaPlan mma_plan(Kernel *k, SlotsAsked *asked, const Op *op)
{
	Ctx *c = k->ctx;
	MmaPlan p = {.t = op_tiled_mma(k->ctx, op)};
	const Op *role = op_role(op);
	const Ix *warp =
		ix_sub(c, ix_sym(c, "warp"), ix_int(k, attrs_int(&role->attrs, A_FIRST, 0)));
	const Ix *group = ix_div(c, warp, ix_int(k, 4));
	p.a = operand_desc(k, asked, op, 1, p.t.rows);
	p.b = operand_desc(k, asked, op, 2, p.t.cols);
	p.along_m = p.t.along_m == 1 ? ix_int(k, 0) : ix_mod(c, group, ix_int(k, p.t.along_m));
	p.along_n = p.t.along_n == 1 ? ix_int(k, 0) : ix_div(c, group, ix_int(k, p.t.along_m));
	return p;
}

/* Bytes of the operand's first row of this warpgroup and repeat, at column col: a warpgroup's rows
 * begin `rows` after those of the one before. */
static const Ix *operand_bytes(Kernel *k, const Op *op, int i, const Ix *group, int64_t rows,
			       int64_t row, int64_t col)
{
	const Type *t = op->in[i].val->type;
	Window w = op_window(k->ctx, op, i);
	int64_t first = window_byte(t, w, 0, 0), base = window_byte(t, w, row, col);
	int64_t step = ix_is(group, 0) ? 0 : window_byte(t, w, rows, 0) - first;
	const Ix *of_group = ix_mul(k->ctx, group, ix_int(k, step));
	return ix_add(k->ctx, ix_add(k->ctx, of_group, window_moved(k->ctx, t, w)),
		      ix_int(k, base));
}

/* Atom `step` of block (i,j), at column col of the operands. */
typedef struct {
	int i, j, step, col;
} AtomAt;

/* Its slot and the byte in it, or its first register, and no byte. */
static void operand_a(Kernel *k, const Op *op, Op *mma, const MmaPlan *p, AtomAt at)
{
	Val *a = IN(op, A).val;
	int64_t row = (int64_t)at.i * p->t.rows * p->t.along_m;
	bool shared = a->type->space == SP_SHARED;
	op_in(k, mma, a,
	      shared ? IN(op, A).at : ix_int(k, tiled_mma_a(k->ctx, p->t, a->type, at.i, at.col)));
	if (op_rows[mma->kind].nix)
		op_ix(k, mma,
		      shared ? operand_bytes(k, op, 1, p->along_m, p->t.rows, row, at.col)
			     : ix_int(k, 0));
}

static void operand_b(Kernel *k, const Op *op, Op *mma, const MmaPlan *p, AtomAt at)
{
	Val *b = IN(op, B).val;
	int64_t row = (int64_t)at.j * p->t.cols * p->t.along_n;
	bool shared = b->type->space == SP_SHARED;
	op_in(k, mma, b,
	      shared ? IN(op, B).at : ix_int(k, tiled_mma_b(p->t, b->type, at.j, at.step, at.col)));
	if (shared)
		op_ix(k, mma, operand_bytes(k, op, 2, p->along_n, p->t.cols, row, at.col));
}

static void descriptors(Kernel *k, Op *mma, const MmaPlan *p)
{
	int64_t lbo[2] = {p->a.lbo, p->b.lbo}, sbo[2] = {p->a.sbo, p->b.sbo};
	int64_t swizzles[2] = {p->a.swizzle, p->b.swizzle};
	int64_t mn_major[2] = {p->a.mn_major, p->b.mn_major};
	op_ints(k, mma, A_LBO, lbo, 2);
	op_ints(k, mma, A_SBO, sbo, 2);
	op_ints(k, mma, A_SWIZZLES, swizzles, 2);
	if (mn_major[0] || mn_major[1])
		op_ints(k, mma, A_MN_MAJOR, mn_major, 2);
}

static void instruction(Kernel *k, Op *op, const MmaPlan *p, AtomAt at)
{
	int block = tiled_mma_registers(p->t), step = block / p->t.steps;
	Op *mma = op_before(k, op, (OpKind)atom_rows[p->t.atom.id].op);
	op_in(k, mma, IN(op, TO).val,
	      ix_int(k, (at.i + p->t.repeat_m * at.j) * block + at.step * step));
	operand_a(k, op, mma, p, at);
	operand_b(k, op, mma, p, at);
	if (at.col == p->t.from && op->nix && !ix_is(IX(op, SCALE), 1))
		op_ix(k, mma, IX(op, SCALE));
	op_atom(k, mma, p->t.atom);
	if (!atom_holds_b(p->t.atom))
		descriptors(k, mma, p);
}

static void lower_mma(Kernel *k, SlotsAsked *asked, Op *op)
{
	MmaPlan p = mma_plan(k, asked, op);
	for (int j = 0; j < p.t.repeat_n; j++)
		for (int col = p.t.from; col < p.t.to; col += atom_rows[p.t.atom.id].k)
			for (int i = 0; i < p.t.repeat_m; i++)
				for (int step = 0; step < p.t.steps; step++)
					instruction(k, op, &p, (AtomAt){i, j, step, col});
	op_remove(op);
}

/* ------------------------------------------------------------------ */
/* Rings, and views of arguments, which have places and offsets now. */
static void drop_rings(Kernel *k)
{
	for (Op *op = kernel_first(k), *next; op; op = next) {
		next = op_next(op);
		if (op->kind == OP_RING || op->kind == OP_VIEW)
			op_remove(op);
	}
}

/* A copy by its homes: registers to or from what, or boxes of a tensor map to or from a buffer. */
static void lower_copy(Kernel *k, Op *op)
{
	bool map = HAS_IN(op, MAP), to_shared = IN(op, TO).val->type->space == SP_SHARED;
	bool shared = to_shared || IN(op, FROM).val->type->space == SP_SHARED;
	bool regs =
		IN(op, TO).val->type->space == SP_REG || IN(op, FROM).val->type->space == SP_REG;
	if (map)
		(to_shared ? lower_load : lower_store_tma)(k, op);
	else if (!regs)
		(to_shared ? lower_by_threads : lower_store_staged)(k, op);
	else
		(shared ? lower_shared : lower_vectors)(k, op);
}

PASS_OF(lower)
{
	SlotsAsked asked = {0};
	lower_rings(k);
	for (Op *op = kernel_first(k), *next; op; op = next) {
		next = op_next(op);
		if (copy_row_of(op->kind))
			lower_copy(k, op);
		else if (op->kind == OP_TICKET_DEAL)
			lower_deal(k, op);
		else if (op->kind == OP_INSIDE)
			lower_inside(k, op);
		else if (op->kind == OP_SERIES)
			lower_series(k, op);
		else if (op_is_atom(op))
			lower_mma(k, &asked, op);
	}
	kernel_sweep(k);
	drop_rings(k);
}

PASS_OF(prefetch)
{
	Op *elect = kernel_find(k, OP_ELECT);
	for (Op *map = kernel_find(k, OP_TMAP); map && elect; map = op_find_next(map, OP_TMAP)) {
		Op *op = op_new(k, OP_TMAP_PREFETCH, map->loc);
		op_in(k, op, map->out, NULL);
		Op *first = elect->body->first,
		   *some = map->nsym ? op_before(k, first, OP_IF) : NULL;
		if (some) {
			op_ix(k, some,
			      ix_new(k->ctx, IX_EQ, ix_sym(k->ctx, map->sym[0]), ix_int(k, 1)));
			block_append(op_body(k, some), op);
		} else {
			op_insert_before(first, op);
		}
	}
}
