/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* common.c - what several passes ask of a kernel: places, rings, tiled mmas, tensor maps. */
#include "passes/pass.h"

#include <string.h>

Op *op_after(Kernel *k, Op *at, OpKind kind)
{
	Op *op = op_new(k, kind, at->loc);
	op_insert_after(at, op);
	return op;
}

Op *op_before(Kernel *k, Op *at, OpKind kind)
{
	Op *op = op_new(k, kind, at->loc);
	op_insert_before(at, op);
	return op;
}

Op *op_append(Kernel *k, Block *b, OpKind kind, Loc loc)
{
	Op *op = op_new(k, kind, loc);
	block_append(b, op);
	return op;
}

const Ix *op_let(Kernel *k, Op *at, const char *name, const Ix *x)
{
	Op *op = op_before(k, at, OP_LET);
	op_sym(k, op, name);
	op_ix(k, op, x);
	return ix_sym(k->ctx, name);
}

const Ix *op_turns(Kernel *k, Op *loop, const char *name, const Ix *n, int unroll)
{
	op_sym(k, loop, name);
	op_ixs(k, loop, ix_int(k, 0), n);
	op_int(k, loop, A_UNROLL, unroll);
	return ix_sym(k->ctx, name);
}

Op *ring_new(Kernel *k, const char *stem, int64_t slots, Loc loc)
{
	Op *ring = op_new(k, OP_RING, loc);
	op_sym(k, ring, kernel_fresh(k, stem));
	op_int(k, ring, A_SLOTS, slots);
	return ring;
}

Val *ring_buffer(Kernel *k, Op *ring, const char *name, const Type *t)
{
	Op *op = op_after(k, ring, OP_SHARED);
	op_str(k, op, A_RING, ring->sym[0]);
	op_int(k, op, A_SLOTS, attrs_int(&ring->attrs, A_SLOTS, 1));
	return op_result(k, op, name, t);
}

const Ix *ix_int(const Kernel *k, int64_t v)
{
	return ix_const(k->ctx, v);
}

const Ix *ix_warpgroup(const Kernel *k)
{
	return ix_div(k->ctx, ix_sym(k->ctx, "warp"), ix_int(k, 4));
}

bool op_is_mma(const Op *op)
{
	return attrs_get(&op->attrs, A_ATOM);
}

bool op_is_atom(const Op *op)
{
	return copy_row_of(op->kind) || (op_is_mma(op) && op_rows[op->kind].stages == ST_WARP);
}

Op *kernel_mma(const Kernel *k, const Op *after)
{
	Op *op = after ? op_next(after) : kernel_first(k);
	while (op && !op_is_mma(op))
		op = op_next(op);
	return op;
}

bool kernel_multiplies(const Kernel *k)
{
	const Op *op = kernel_first(k);
	while (op && !op_is_mma(op))
		op = op_next(op);
	return op;
}

Op *kernel_ring(const Kernel *k, const char *name)
{
	for (Op *r = kernel_find(k, OP_RING); r; r = op_find_next(r, OP_RING))
		if (!strcmp(r->sym[0], name))
			return r;
	return NULL;
}

void op_unwrap(Op *region)
{
	for (Op *op = region->body->first, *next; op; op = next) {
		next = op->next;
		op_insert_before(region, op);
	}
	op_remove(region);
}

void drop_unused(Kernel *k, OpKind kind)
{
	for (Op *op = kernel_find(k, kind), *next; op; op = next) {
		next = op_find_next(op, kind);
		if (!val_used(k, op->out))
			op_remove(op);
	}
}

int64_t round_up(int64_t x, int64_t to)
{
	return (x + to - 1) / to * to;
}

bool operand_on_ring(const Operand *in, const char *ring)
{
	return in->val->type->kind == TY_TILE && in->val->type->space == SP_SHARED &&
	       attrs_str(&in->val->def->attrs, A_RING, "") == ring;
}

bool op_touches(const Op *op, const char *ring, int effects)
{
	for (int i = 0; i < op->nin; i++)
		if ((op_effect(op, i) & effects) && operand_on_ring(&op->in[i], ring))
			return true;
	return false;
}

/* The effect by which op writes what others wait for. */
static int filling(const Op *op)
{
	return op_done_by(op, DONE_BY_LANES) || op_done_by(op, DONE_BY_LANE) ? FX_W : FX_AW;
}

bool op_fills(const Op *op, const char *ring)
{
	return op_touches(op, ring, filling(op));
}

bool op_fills_shared(const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if ((op_effect(op, i) & filling(op)) && op->in[i].val->type->space == SP_SHARED)
			return true;
	return false;
}

bool ring_is_filled(const Kernel *k, const Op *ring)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op_fills(op, ring->sym[0]))
			return true;
	return false;
}

bool ring_filled_by_lanes(const Kernel *k, const char *ring)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op_fills(op, ring) && op_done_by(op, DONE_BY_LANES))
			return true;
	return false;
}

bool kernel_has_roles(const Kernel *k)
{
	return strcmp(attrs_str(&k->attrs, A_ROLES, "none"), "none") != 0;
}

bool kernel_pingpong(const Kernel *k)
{
	return !strcmp(attrs_str(&k->attrs, A_ROLES, "none"), "pingpong");
}

/* ------------------------------------------------------------------ tiled mma */
static int64_t tup_extent(const Tup *t)
{
	int64_t n = 1, x;
	if (tup_is_leaf(t)) {
		if (!ix_is_const(t->leaf, &x))
			panic("a tile has constant extents");
		return x;
	}
	for (int i = 0; i < t->n; i++)
		n *= tup_extent(t->at[i]);
	return n;
}

int val_extent(const Val *v, int mode)
{
	return (int)tup_extent(tup_get(v->type->layout->shape, mode));
}

bool val_is_registers(const Val *v)
{
	return v && v->type->kind == TY_TILE && v->type->space == SP_REG;
}

bool val_is_vector(const Val *v)
{
	return val_extent(v, 0) == 1 || val_extent(v, 1) == 1;
}

bool val_is_one(const Val *v)
{
	return val_extent(v, 0) == 1 && val_extent(v, 1) == 1;
}

int64_t widest_access(const Kernel *k)
{
	return attrs_int(&k->attrs, A_VECTOR, VECTOR_BYTES);
}

bool tile_ends_whole(const Kernel *k, const Val *tile, int fast, int n)
{
	const Layout *tensor = IN(tile->def, OF).val->type->layout;
	const Tup *extent = tup_get(tensor->shape, tile_mode(k, tile, fast));
	return ix_divisor(tup_product(k->ctx, extent), kernel_facts(k)) % n == 0;
}

bool strides_are_multiples(const Kernel *k, const Layout *l, int except, int64_t n)
{
	IxFacts facts = kernel_facts(k);
	for (int m = 0; m < tup_rank(l->stride); m++)
		for (int i = 0; i < tup_rank(tup_get(l->stride, m)) && m != except; i++)
			if (ix_divisor(tup_get(tup_get(l->stride, m), i)->leaf, facts) % n)
				return false;
	return true;
}

/* Whether a multiple of n along the tile's mode `fast` is one in memory, and no row ends within
 * n, unless the program asks for vectors all the same. */
bool tile_in_vectors(const Kernel *k, const Val *tile, int fast, int n)
{
	int mode = tile_mode(k, tile, fast);
	if (!ix_is(tile_stride(k, tile, fast), 1) || mode == tile_end_mode(k, tile) ||
	    !strides_are_multiples(k, IN(tile->def, OF).val->type->layout, mode, n))
		return false;
	return attrs_get(&k->attrs, A_VECTOR) || tile_ends_whole(k, tile, fast, n);
}

/* Atoms of a warp: those of a warpgroup lie along m, as many as there are, and the others along n;
 * the tile's columns are one block. */
static void find_block(Ctx *c, TiledMma *t)
{
	int threads = atom_threads(c, t->atom), all = GROUP_THREADS / threads;
	bool alone = threads == GROUP_THREADS;
	t->warps = t->along_m % all ? t->along_m : all;
	t->beside = all / t->warps;
	t->along_m /= t->warps;
	t->along_n /= t->beside;
	t->rows = atom_rows[t->atom.id].m * t->warps;
	t->cols = alone ? t->atom.n : t->n / t->along_n;
	t->steps = t->cols / (t->atom.n * t->beside);
}

TiledMma op_tiled_mma(Ctx *c, const Op *mma)
{
	const Attr *atom = attrs_get(&mma->attrs, A_ATOM),
		   *arrange = attrs_get(&mma->attrs, A_ARRANGE),
		   *depth = attrs_get(&mma->attrs, A_DEPTH);
	TiledMma t = {.atom = atom->atom,
		      .along_m = (int)arrange->i[0],
		      .along_n = (int)arrange->i[1]};
	t.m = val_extent(IN(mma, TO).val, 0);
	t.n = val_extent(IN(mma, TO).val, 1);
	t.k = (int)window_extent(op_window(c, mma, 1), 1);
	t.from = depth ? (int)depth->i[0] : 0;
	t.to = depth ? (int)depth->i[1] : t.k;
	find_block(c, &t);
	t.repeat_m = t.m / (t.rows * t.along_m);
	t.repeat_n = t.n / (t.cols * t.along_n);
	return t;
}

TiledMma tiled_mma_part(TiledMma t, int cols)
{
	t.m = t.rows * t.along_m;
	t.n = cols * t.along_n;
	t.cols = cols;
	t.atom.n = t.steps * t.beside > 1 ? t.atom.n : cols;
	t.steps = cols / (t.atom.n * t.beside);
	t.repeat_m = t.repeat_n = 1;
	return t;
}

int tiled_mma_registers(TiledMma t)
{
	return t.rows * t.cols / GROUP_THREADS;
}

int tiled_mma_warpgroups(TiledMma t)
{
	return t.along_m * t.along_n;
}

int tiled_mma_unit(TiledMma t)
{
	return t.beside > 1 ? t.atom.n * t.beside : 1;
}

int tiled_mma_columns(TiledMma t, int most)
{
	int unit = tiled_mma_unit(t), cols = most / 8 * 8;
	cols = cols > unit ? cols : unit;
	while (t.cols % cols || cols % unit)
		cols -= 8;
	return cols;
}

/* Values that go on where the last mode ends are of that mode: so two atoms that cover a tile by
 * different repeats spread it alike where they do. */
static void tv_mode(TvModes *tv, int which, int64_t extent, int64_t stride)
{
	int last = tv->n[which] - 1;
	if (extent == 1)
		return;
	if (which == 1 && last >= 0 && tv->shape[which][last] * tv->stride[which][last] == stride) {
		tv->shape[which][last] *= extent;
		return;
	}
	tv->shape[which][last + 1] = extent;
	tv->stride[which][last + 1] = stride;
	tv->n[which]++;
}

static const Tup *tup_ints(Ctx *c, const int64_t *v, int n)
{
	const Tup *at[5];
	for (int i = 0; i < n; i++)
		at[i] = tup_int(c, v[i]);
	return tup_new(c, at, n);
}

/* The atom's form, restrided from its own tile of `rows` to the whole one of so many. */
static TvModes tv_of_atom(const Layout *atom, int64_t rows, int64_t all)
{
	TvModes tv = {0};
	for (int w = 0; w < 2; w++) {
		const Tup *shape = tup_get(atom->shape, w), *stride = tup_get(atom->stride, w);
		for (int i = 0; i < tup_rank(shape); i++) {
			int64_t d = tv_leaf(tup_get(stride, i));
			tv_mode(&tv, w, tv_leaf(tup_get(shape, i)), d % rows + d / rows * all);
		}
	}
	return tv;
}

const Layout *tv_layout(Ctx *c, const TvModes *tv)
{
	const Tup *shape[2], *stride[2];
	for (int w = 0; w < 2; w++) {
		shape[w] = tup_ints(c, tv->shape[w], tv->n[w]);
		stride[w] = tup_ints(c, tv->stride[w], tv->n[w]);
	}
	return layout_new(c, tup_new(c, shape, 2), tup_new(c, stride, 2));
}

/* Atoms side by side are a block; then warpgroups and repeats. */
const Layout *tiled_mma_tv(Ctx *c, TiledMma t)
{
	int64_t am = atom_rows[t.atom.id].m;
	TvModes tv = tv_of_atom(atom_tv_c(c, t.atom), am, t.m);
	tv_mode(&tv, 0, t.warps, am);
	tv_mode(&tv, 0, t.beside, (int64_t)t.atom.n * t.m);
	tv_mode(&tv, 1, t.steps, (int64_t)t.atom.n * t.beside * t.m);
	tv_mode(&tv, 0, t.along_m, t.rows);
	tv_mode(&tv, 0, t.along_n, (int64_t)t.cols * t.m);
	tv_mode(&tv, 1, t.repeat_m, (int64_t)t.rows * t.along_m);
	tv_mode(&tv, 1, t.repeat_n, (int64_t)t.cols * t.along_n * t.m);
	return tv_layout(c, &tv);
}

/* A of all rows of a warpgroup's block, and of one K of the atom; all along n hold the same. */
static TvModes tv_a_modes(Ctx *c, TiledMma t)
{
	int64_t am = atom_rows[t.atom.id].m;
	TvModes tv = tv_of_atom(atom_tv_a(c, t.atom), am, t.m);
	tv_mode(&tv, 0, t.warps, am);
	tv_mode(&tv, 0, t.beside, 0);
	tv_mode(&tv, 0, t.along_m, t.rows);
	tv_mode(&tv, 0, t.along_n, 0);
	return tv;
}

static const Layout *tiled_mma_tv_a(Ctx *c, TiledMma t)
{
	int64_t k = atom_rows[t.atom.id].k;
	TvModes tv = tv_a_modes(c, t);
	tv_mode(&tv, 1, t.repeat_m, (int64_t)t.rows * t.along_m);
	tv_mode(&tv, 1, t.k / k, k * t.m);
	return tv_layout(c, &tv);
}

/* All warps along m hold the same of B. */
static const Layout *tiled_mma_tv_b(Ctx *c, TiledMma t)
{
	int64_t k = atom_rows[t.atom.id].k;
	TvModes tv = tv_of_atom(atom_tv_b(c, t.atom), t.atom.n, t.n);
	tv_mode(&tv, 0, (int64_t)t.warps * t.along_m, 0);
	tv_mode(&tv, 0, t.beside, t.atom.n);
	tv_mode(&tv, 1, t.steps, (int64_t)t.atom.n * t.beside);
	tv_mode(&tv, 0, t.along_n, t.cols);
	tv_mode(&tv, 1, t.repeat_n, (int64_t)t.cols * t.along_n);
	tv_mode(&tv, 1, t.k / k, k * t.n);
	return tv_layout(c, &tv);
}

const Layout *tiled_mma_tv_of(Ctx *c, TiledMma t, int operand)
{
	return operand == 1 ? tiled_mma_tv_a(c, t) : tiled_mma_tv_b(c, t);
}

int tiled_mma_a(Ctx *c, TiledMma t, const Type *a, int i, int col)
{
	const AtomRow *row = &atom_rows[t.atom.id];
	TvModes tv = tv_a_modes(c, t);
	int64_t first = (int64_t)i * t.rows * t.along_m + (int64_t)col * t.m;
	int regs = t.rows * row->k / GROUP_THREADS, at = tv_register_at(a, first);
	const Layout *values = layout_new(c, tup_ints(c, tv.shape[1], tv.n[1]),
					  tup_ints(c, tv.stride[1], tv.n[1]));
	if (tup_get(a->tv->shape, 0) != tup_ints(c, tv.shape[0], tv.n[0]) ||
	    tup_get(a->tv->stride, 0) != tup_ints(c, tv.stride[0], tv.n[0]))
		return -1;
	for (int r = 0; r < regs && at >= 0; r++)
		if (tv_register_offset(a->tv, at + r) != first + layout_at_int(values, r))
			return -1;
	return at;
}

int tiled_mma_b(TiledMma t, const Type *b, int j, int step, int col)
{
	int64_t row = (int64_t)j * t.cols * t.along_n + (int64_t)step * t.atom.n * t.beside;
	return tv_register_at(b, row + (int64_t)col * t.n);
}

bool tiled_mma_reads(Ctx *c, TiledMma t, const Type *a)
{
	const AtomRow *row = &atom_rows[t.atom.id];
	if (!*row->tv_a)
		return false;
	for (int i = 0; i < t.repeat_m; i++)
		for (int col = 0; col < t.k; col += row->k)
			if (tiled_mma_a(c, t, a, i, col) < 0)
				return false;
	return true;
}

const Op *mma_spread_as(const Kernel *k, const Val *v)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op_is_mma(op) && IN(op, TO).val->type->tv == v->type->tv)
			return op;
	return NULL;
}

/* ------------------------------------------------------------------ tiles of tensors */
bool tile_named(const Op *tile, const char *name)
{
	for (int i = 0; i < tile->nix; i++)
		if (ix_uses(tile->ix[i], name))
			return true;
	return false;
}

Val *tile_indices(const Val *tile)
{
	const Op *def = tile->def;
	return def && def->kind == OP_TILE && HAS_IN(def, INDEX) ? IN(def, INDEX).val : NULL;
}

Val *tensor_arg(const Val *tensor)
{
	const Op *def = tensor->def;
	return def && def->kind == OP_VIEW ? IN(def, OF).val : (Val *)(uintptr_t)tensor;
}

int tile_mode(const Kernel *k, const Val *tile, int mode)
{
	ModeList m = type_modes(k->ctx, tile->type);
	if (mode >= m.n || mode >= MODES_MOST)
		panic("%%%s is no matrix", tile->name);
	return m.at[mode];
}

const Ix *tile_at(const Kernel *k, const Val *tile, int mode)
{
	return tile->def->ix[tile_mode(k, tile, mode)];
}

const Ix *tile_stride(const Kernel *k, const Val *tile, int mode)
{
	const Layout *l = IN(tile->def, OF).val->type->layout;
	const Tup *parts = tup_flatten(k->ctx, tup_get(l->stride, tile_mode(k, tile, mode)));
	int at = 0;
	while (at + 1 < tup_rank(parts) && ix_is(tup_get(parts, at)->leaf, 1))
		at++;
	return tup_get(parts, at)->leaf;
}

const Ix *tile_extent(const Kernel *k, const Val *tile, int mode)
{
	const Layout *l = IN(tile->def, OF).val->type->layout;
	return tup_product(k->ctx, tup_get(l->shape, tile_mode(k, tile, mode)));
}

static const Ix *known(Ctx *c, void *k, const Ix *x)
{
	return ix_simplify(c, x, kernel_facts(k));
}

/* The parts of a mode of the tile's tensor, as numbers where facts say so. */
static const Tup *tile_parts(const Kernel *k, const Val *tile, int mode)
{
	const Tup *parts = tup_get(IN(tile->def, OF).val->type->layout->shape, mode);
	return tup_is_leaf(parts) ? parts : tup_map(k->ctx, parts, known, (Kernel *)(uintptr_t)k);
}

/* How many elements of the part the tile of `rows` rows covers; the tile begins at a multiple of
 * its rows. 0: it begins or ends within a part. */
static int64_t rows_in_part(const Tup *parts, int part, int64_t rows)
{
	int64_t n = rows;
	for (int i = 0; i <= part; i++, rows /= n) {
		n = rows;
		if (i + 1 == tup_rank(parts))
			break;
		int64_t all = tv_leaf(tup_get(parts, i));
		if (all % rows && rows % all)
			return 0;
		n = all < rows ? all : rows;
	}
	return n;
}

bool tile_is_box(const Kernel *k, const Val *tile, int mode, int64_t rows)
{
	const Tup *parts = tile_parts(k, tile, tile_mode(k, tile, mode));
	return tup_is_leaf(parts) ||
	       (rows_in_part(parts, tup_rank(parts) - 1, rows) &&
		ix_divisor(tile_at(k, tile, mode), kernel_facts(k)) % rows == 0);
}

int tile_end_mode(const Kernel *k, const Val *tile)
{
	if (!IN(tile->def, OF).at)
		return -1;
	return (int)attrs_int(&tile->def->attrs, A_RAGGED, tile_mode(k, tile, 0));
}

bool loop_is_of_tiles(const Kernel *k, const Op *loop)
{
	bool turns = attrs_int(&k->attrs, A_PERSISTENT, 0) || kernel_find(k, OP_GROUPS_COUNT);
	return turns && loop->kind == OP_FOR && !op_parent(loop);
}

void op_of_tensor(Kernel *k, Op *tile, Val *tensor, const Val *other, const int *at)
{
	int end = tile_end_mode(k, other);
	bool said = at || attrs_get(&other->def->attrs, A_RAGGED);
	op_in(k, tile, tensor, IN(other->def, OF).at);
	for (int i = 0; end >= 0 && said && i < other->def->nix; i++)
		if ((at ? at[i] : i) == end)
			op_int(k, tile, A_RAGGED, i);
}

/* ------------------------------------------------------------------ tensor maps */
static Op *map_find(const Kernel *k, const Val *tensor, const int64_t *box, int n, int swizzle,
		    int ragged)
{
	for (Op *op = kernel_find(k, OP_TMAP); op; op = op_find_next(op, OP_TMAP)) {
		const Attr *b = attrs_get(&op->attrs, A_BOX);
		if (IN(op, OF).val == tensor && b->n == n &&
		    !memcmp(b->i, box, sizeof *box * (size_t)n) &&
		    attrs_int(&op->attrs, A_SWIZZLE, 0) == swizzle &&
		    attrs_int(&op->attrs, A_RAGGED, -1) == ragged)
			return op;
	}
	return NULL;
}

Op *kernel_map(Kernel *k, Loc loc, const Val *tile, SlotForm f)
{
	Val *view = IN(tile->def, OF).val, *tensor = tensor_arg(view);
	ModeList modes = layout_map_modes(view->type->layout);
	ModeList own = layout_map_modes(tensor->type->layout); /* in the same order */
	int ragged = -1;
	int64_t box[MODES_MOST] = {1, 1, 1, 1, 1};
	for (int i = 0; i < modes.n; i++) {
		ModePart p = layout_part(view->type->layout, modes.at[i]);
		const Tup *parts = tile_parts(k, tile, p.mode);
		ragged = p.mode == tile_end_mode(k, tile) ? own.at[i] : ragged;
		bool rows = p.mode == tile_mode(k, tile, 0) || p.mode == tile_mode(k, tile, 1);
		rows = rows && !tile_indices(tile);
		box[i] = !i ? f.span : rows ? rows_in_part(parts, p.part, f.rows) : 1;
	}
	int rank = modes.n + (ragged < 0 ? 0 : 2);
	Op *map = map_find(k, tensor, box, rank, f.swizzle, ragged);
	if (map)
		return map;
	map = op_new(k, OP_TMAP, loc);
	op_in(k, map, tensor, NULL);
	if (ragged >= 0)
		op_int(k, map, A_RAGGED, ragged);
	op_ints(k, map, A_BOX, box, rank);
	op_int(k, map, A_SWIZZLE, f.swizzle);
	op_result(k, map, ctx_strf(k->ctx, "%s.map", tensor->name), type_tmap(k->ctx));
	op_insert_after(kernel_first(k), map);
	return map;
}

const Ix *ix_in_part(const Kernel *k, const Ix *x, const Tup *parts, int part)
{
	if (tup_is_leaf(parts))
		return x;
	parts = tup_map(k->ctx, parts, known, (Kernel *)(uintptr_t)k);
	x = ix_simplify(k->ctx, x, kernel_facts(k));
	return tup_get(tup_idx2crd(k->ctx, x, parts), part)->leaf;
}

void op_box(Kernel *k, Op *op, const Val *tile, const Ix *const more[2])
{
	const Layout *l = IN(tile->def, OF).val->type->layout;
	ModeList modes = layout_map_modes(l);
	const Ix *end = IN(tile->def, OF).at, *to[3] = {0};
	for (int i = 0; i < modes.n; i++) {
		ModePart p = layout_part(l, modes.at[i]);
		const Ix *at = tile->def->ix[p.mode];
		for (int m = 0; m < 2; m++)
			if (p.mode == tile_mode(k, tile, m))
				at = ix_add(k->ctx, at, more[m]);
		if (p.mode == tile_end_mode(k, tile)) {
			ragged_at(k->ctx, at, end, to);
			at = to[0];
		}
		op_ix(k, op, ix_in_part(k, at, tup_get(l->shape, p.mode), p.part));
	}
	for (int i = 1; end && i < 3; i++)
		op_ix(k, op, to[i]);
}

bool tma_takes_stride(const Ix *stride, int bytes)
{
	int64_t v;
	return !ix_is_const(stride, &v) || (v > 0 && v * bytes % TMA_STRIDE == 0);
}

bool ring_is_put(const Kernel *k, const Op *buffer)
{
	const Op *ring = kernel_ring(k, attrs_str(&buffer->attrs, A_RING, ""));
	return ring && attrs_get(&ring->attrs, A_PUT);
}

bool ring_is_own(const Kernel *k, const char *ring)
{
	for (const Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		if (attrs_str(&op->attrs, A_RING, "") == ring && attrs_get(&op->attrs, A_GROUPS))
			return true;
	return false;
}
