/* epilogue.c - how results leave. Where rows allow it, a warpgroup's fragment goes chunk by chunk
 * through staging buffers of its own in shared memory, from which TMA stores it in whole lines and
 * clips what lies outside; otherwise every thread stores its own registers under a guard (`store`
 * stays). store %t, %c   ->   store.shared %D.out[e], %c[0] ; store.tma %t.1, %D.out[e], %D.map.1 ;
 * ... */
#include "passes/why.h"

enum { ROWS = 64, MOST_SLOTS = 4, ALIGN = 1024, BARRIER_BYTES = 8 };

typedef struct {
	Kernel *k;
	Op *store;
	const Op *tile;
	TiledMma t;
	KMajor chunk;   /* of the staging buffer */
	int bytes;      /* of an element */
	int warpgroups; /* each with slots of its own */
} Epilogue;

/* The widest row of 128, 64 or 32 bytes that divides the columns of one atom. */
static int chunk_bytes(const Epilogue *e)
{
	for (int w = 128; w >= 32; w /= 2)
		if (e->t.atom.n * e->bytes % w == 0)
			return w;
	return 0;
}

static bool rows_are_contiguous(const Op *tile)
{
	const Layout *l = tile->in[0].val->type->layout;
	return layout_rank(l) == 2 && tup_is_leaf(tup_get(l->stride, 1)) &&
	       ix_is(tup_get(l->stride, 1)->leaf, 1);
}

/* Whether TMA can store it from chunks of that width; slots that were asked for are refused. */
static bool can_stage(const Epilogue *e, int width)
{
	const Val *tensor = e->tile->in[0].val;
	int64_t slots = attrs_int(&e->k->attrs, A_STAGING, 0);
	if (width && rows_are_contiguous(e->tile))
		return true;
	why_direct(e->k, tensor, e->t.atom.n * e->bytes, rows_are_contiguous(e->tile));
	if (slots) {
		DiagMsg *m = diag(e->k->ctx, e->store->loc, D_E0407,
				  "staging %lld, but %s takes %s", (long long)slots, tensor->name,
				  kernel_why_find(e->k, WHY_STAGING, tensor->name)->text);
		diag_remedy(e->k->ctx, m, "write staging 0");
	}
	return false;
}

/* As the schedule or the pipeline says; 0: rings takes what is left. */
static int64_t user_stages(const Kernel *k)
{
	const Op *ring = kernel_find(k, OP_RING);
	int64_t stages = attrs_int(&k->attrs, A_STAGES, 0);
	return stages || !ring ? stages : attrs_int(&ring->attrs, A_SLOTS, 0);
}

/* Shared memory that the rings of the main loop take: what the user says, or two stages. */
static int64_t ring_bytes(const Kernel *k)
{
	int64_t bytes = 0, stages = user_stages(k);
	for (const Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		bytes += round_up(type_slot_bytes(op->out->type) * (stages ? stages : 2), ALIGN);
	return bytes + 2 * BARRIER_BYTES * (stages ? stages : 2);
}

/* How many staging slots a warpgroup gets from what is left; 0: none. */
static int staging_slots(const Epilogue *e)
{
	int64_t left = target_by_name(e->k->target)->smem_bytes - ring_bytes(e->k);
	int64_t one = (int64_t)ROWS * e->chunk.swizzle * e->warpgroups;
	int64_t most = user_stages(e->k) ? MOST_SLOTS : MOST_SLOTS / 2;
	int64_t fit = left < 0 ? 0 : left / one, given = attrs_int(&e->k->attrs, A_STAGING, -1);
	int slots = (int)(fit > most ? most : fit);
	if (given >= 0)
		return (int)given;
	why_staging(e->k, e->tile->in[0].val, slots, (int)most, one, left);
	return slots;
}

static Op *staging(const Epilogue *e, int slots)
{
	Kernel *k = e->k;
	const Val *tensor = e->tile->in[0].val;
	const char *name = kernel_fresh(k, ctx_strf(k->ctx, "%s.out", tensor->name));
	Op *ring = op_new(k, OP_RING, e->store->loc), *op = op_new(k, OP_SHARED, e->store->loc);
	op_sym(k, ring, name);
	op_int(k, ring, A_SLOTS, slots);
	op_insert_after(kernel_find(k, OP_RING), ring);
	op_str(k, op, A_RING, name);
	op_int(k, op, A_SLOTS, slots);
	op_int(k, op, A_GROUPS, e->warpgroups);
	op_result(k, op, ctx_strf(k->ctx, "s%s", tensor->name),
		  type_tile(k->ctx, SP_SHARED, tensor->type->elem,
			    kmajor_layout(k->ctx, e->chunk, e->bytes)));
	op_insert_after(ring, op);
	return op;
}

/* The iteration of the loop over tiles that the store stands in. */
static const Ix *turn(const Epilogue *e)
{
	const Op *up = op_parent(e->store);
	return up && up->kind == OP_FOR ? ix_sym(e->k->ctx, up->sym[0]) : ix_int(e->k, 0);
}

static const Ix *plus(const Epilogue *e, const Ix *a, const Ix *group, int64_t step, int64_t more)
{
	Ctx *c = e->k->ctx;
	return ix_add(c, ix_add(c, a, ix_mul(c, group, ix_int(e->k, step))), ix_int(e->k, more));
}

static Val *chunk_tile(const Epilogue *e, int i, int j, int col)
{
	Kernel *k = e->k;
	Ctx *c = k->ctx;
	const Ix *wg = ix_warpgroup(k), *zero = ix_int(k, 0);
	const Ix *wm = e->t.along_m == 1 ? zero : ix_mod(c, wg, ix_int(k, e->t.along_m));
	const Ix *wn = e->t.along_n == 1 ? zero : ix_div(c, wg, ix_int(k, e->t.along_m));
	const Layout *whole = e->tile->out->type->layout;
	const Tup *shape[2] = {tup_int(c, ROWS), tup_int(c, e->chunk.cols)};
	Op *tile = op_before(k, e->store, OP_TILE);
	op_in(k, tile, e->tile->in[0].val, NULL);
	op_ix(k, tile, plus(e, e->tile->ix[0], wm, ROWS, (int64_t)i * ROWS * e->t.along_m));
	op_ix(k, tile,
	      plus(e, e->tile->ix[1], wn, e->t.atom.n,
		   (int64_t)j * e->t.atom.n * e->t.along_n + col));
	return op_result(k, tile, "t",
			 type_tile(c, SP_GLOBAL, e->tile->out->type->elem,
				   layout_new(c, tup_new(c, shape, 2), whole->stride)));
}

static void chunk(const Epilogue *e, Val *buffer, Val *map, const Ix *at, int i, int j, int col)
{
	Kernel *k = e->k;
	int atom_regs = ROWS * e->t.atom.n / 128;
	int reg = (i + e->t.repeat_m * j) * atom_regs + col * ROWS / 128;
	Op *put = op_before(k, e->store, OP_STORE_SHARED);
	op_in(k, put, buffer, at);
	op_in(k, put, e->store->in[1].val, ix_int(k, reg));
	Val *tile = chunk_tile(e, i, j, col);
	Op *out = op_before(k, e->store, OP_STORE_TMA);
	op_in(k, out, tile, NULL);
	op_in(k, out, buffer, at);
	op_in(k, out, map, NULL);
}

static void by_chunks(const Epilogue *e, int slots)
{
	Kernel *k = e->k;
	Val *buffer = staging(e, slots)->out;
	Val *map = kernel_map(k, e->store->loc, e->tile->in[0].val, e->chunk)->out;
	int per_atom = e->t.atom.n / e->chunk.cols;
	int64_t n = 0, chunks = (int64_t)e->t.repeat_m * e->t.repeat_n * per_atom;
	const Ix *base = ix_mul(k->ctx, turn(e), ix_int(k, chunks));
	for (int j = 0; j < e->t.repeat_n; j++)
		for (int q = 0; q < per_atom; q++)
			for (int i = 0; i < e->t.repeat_m; i++, n++)
				chunk(e, buffer, map, ix_add(k->ctx, base, ix_int(k, n)), i, j,
				      q * e->chunk.cols);
	op_remove(e->store);
}

static void store(Kernel *k, Op *op, const Op *mma)
{
	Epilogue e = {.k = k, .store = op, .tile = op->in[0].val->def, .t = op_tiled_mma(mma)};
	e.bytes = elem_rows[op->in[1].val->type->elem].bits / 8;
	e.warpgroups = kernel_pingpong(k) ? 2 : tiled_mma_warpgroups(e.t);
	int width = chunk_bytes(&e);
	e.chunk = (KMajor){ROWS, width / e.bytes, width / e.bytes, width};
	if (!can_stage(&e, width))
		return;
	int slots = staging_slots(&e);
	if (slots)
		by_chunks(&e, slots);
}

void pass_epilogue(Kernel *k)
{
	const Op *mma = kernel_find(k, OP_MMA_WGMMA);
	for (Op *op = kernel_first(k), *next; op && mma; op = next) {
		next = op_next(op);
		if (op->kind == OP_STORE)
			store(k, op, mma);
	}
	kernel_sweep(k);
}
