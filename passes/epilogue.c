/* epilogue.c - how results leave. A warpgroup's fragment goes chunk by chunk through staging
 * buffers of its own in shared memory, from which TMA stores it in whole lines and clips what lies
 * outside. What TMA cannot take, every thread stores from its registers, under a guard (`store`
 * stays). Where only the arguments decide, the tensor map has a name, and the threads copy the
 * chunks where it is 0.
 *     store %t, %c   ->   store.shared %sD[e], %c[0]
 *                         if (D_by_tma == 1) { store.tma %t.1, %sD[e], %D.map }
 *                         if (D_by_tma == 0) { store.staged %t.1, %sD[e] } ... */
#include "passes/pass.h"

enum {
	ROWS = 64,
	MOST_COLS = 64, /* of a chunk of a tensor with contiguous columns */
	MOST_SLOTS = 4,
	ALIGN = 1024,
	BARRIER_BYTES = 8,
	TMA_BYTES = 16 /* strides and addresses of a tensor are multiples of it */
};

typedef enum { TMA_NEVER, TMA_ALWAYS, TMA_ASK } Legal;

typedef struct {
	Kernel *k;
	Op *store;
	const Op *tile;
	TiledMma t;
	const char *name; /* 1 where TMA can take the tensor; NULL: it always can */
	bool m_fast;      /* the tensor's columns are contiguous, not its rows */
	KMajor chunk;     /* of the staging buffer; its rows are columns of the tile where m_fast */
	int cols;         /* of the tile in a chunk */
	int bytes;        /* of an element */
	int warpgroups;   /* each with slots of its own */
} Epilogue;

/* ------------------------------------------------------------------ chunks */
/* Rows of the widest swizzle of 128, 64 or 32 bytes that divides the columns of one atom. */
static bool chunk_of_rows(Epilogue *e)
{
	for (int w = 128; w >= 32; w /= 2) {
		e->cols = w / e->bytes;
		e->chunk = (KMajor){ROWS, e->cols, e->cols, w};
		if (e->t.atom.n * e->bytes % w == 0)
			return true;
	}
	return false;
}

/* The most columns in eights that divide those of one atom, each of 64 elements in spans of 128
 * bytes. */
static bool chunk_of_columns(Epilogue *e)
{
	int most = MOST_COLS * 2 / e->bytes;
	for (e->cols = most; e->t.atom.n % e->cols; e->cols -= 8)
		;
	e->chunk = (KMajor){e->cols, ROWS, 128 / e->bytes, 128};
	return true;
}

/* Whether TMA's rule for the stride of the slow mode holds. */
static Legal legal(const Epilogue *e, const Ix **stride)
{
	Ctx *c = e->k->ctx;
	const Layout *l = e->tile->in[0].val->type->layout;
	*stride = ix_mul(c, tup_get(l->stride, e->m_fast)->leaf, ix_int(e->k, e->bytes));
	*stride = ix_simplify(c, *stride, kernel_facts(e->k));
	const Ix *rest = ix_mod(c, *stride, ix_int(e->k, TMA_BYTES));
	const Ix *holds = ix_new(c, IX_EQ, rest, ix_int(e->k, 0));
	int64_t v;
	if (!ix_is_const(ix_simplify(c, holds, kernel_facts(e->k)), &v))
		return TMA_ASK;
	return v ? TMA_ALWAYS : TMA_NEVER;
}

static void direct(const Epilogue *e, const char *why)
{
	diag(e->k->ctx, e->store->loc, D_N0401, "%s is stored from registers, without TMA: %s",
	     e->tile->in[0].val->name, why);
}

static const char *text_of(const Kernel *k, const Ix *x)
{
	Buf b = {0};
	ix_print(x, &b);
	const char *s = ctx_str(k->ctx, b.s);
	buf_free(&b);
	return s;
}

/* ------------------------------------------------------------------ room in shared memory */
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

/* How many times a warpgroup fills a slot for one tile. */
static int chunks(const Epilogue *e)
{
	return e->t.repeat_m * e->t.repeat_n * (e->t.atom.n / e->cols);
}

static bool one_tile(const Epilogue *e)
{
	return !attrs_int(&e->k->attrs, A_PERSISTENT, 0);
}

/* How many staging slots a warpgroup gets: with one tile a CTA from all memory, which the stages do
 * not need any more, else from what they leave; 0: none. */
static int staging_slots(const Epilogue *e)
{
	int64_t left = target_by_name(e->k->target)->smem_bytes;
	int64_t one = round_up((int64_t)ROWS * e->cols * e->bytes, ALIGN) * e->warpgroups;
	int64_t most = user_stages(e->k) ? MOST_SLOTS : MOST_SLOTS / 2;
	if (one_tile(e))
		most = chunks(e) < MOST_SLOTS ? chunks(e) : MOST_SLOTS;
	else
		left -= ring_bytes(e->k);
	int64_t fit = left < 0 ? 0 : left / one;
	return (int)(fit > most ? most : fit);
}

static Op *staging(const Epilogue *e, int slots)
{
	Kernel *k = e->k;
	const Val *tensor = e->tile->in[0].val;
	const char *name = kernel_fresh(k, ctx_strf(k->ctx, "%s.out", tensor->name));
	const char *loads = kernel_find(k, OP_RING)->sym[0];
	Op *ring = op_new(k, OP_RING, e->store->loc), *op = op_new(k, OP_SHARED, e->store->loc);
	op_sym(k, ring, name);
	op_int(k, ring, A_SLOTS, slots);
	op_insert_after(kernel_find(k, OP_RING), ring);
	op_str(k, op, A_RING, name);
	op_int(k, op, A_SLOTS, slots);
	op_int(k, op, A_GROUPS, e->warpgroups);
	if (one_tile(e))
		op_str(k, op, A_OVER, loads);
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
	const Tup *shape[2] = {tup_int(c, ROWS), tup_int(c, e->cols)};
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

/* An op that runs where the name of the map has that value, or always where the map has none. */
static Op *where_tma(const Epilogue *e, OpKind kind, int64_t is)
{
	Kernel *k = e->k;
	if (!e->name)
		return op_before(k, e->store, kind);
	Op *some = op_before(k, e->store, OP_IF);
	op_ix(k, some, ix_new(k->ctx, IX_EQ, ix_sym(k->ctx, e->name), ix_int(k, is)));
	return op_append(k, op_body(k, some), kind, e->store->loc);
}

static void chunk(const Epilogue *e, Val *buffer, Val *map, const Ix *at, int i, int j, int col)
{
	Kernel *k = e->k;
	int atom_regs = ROWS * e->t.atom.n / 128;
	int reg = (i + e->t.repeat_m * j) * atom_regs + col * ROWS / 128;
	Op *put = op_before(k, e->store, OP_STORE_SHARED);
	op_in(k, put, buffer, at);
	op_in(k, put, e->store->in[1].val, ix_int(k, reg));
	if (e->m_fast)
		op_int(k, put, A_TRANS, 1);
	Val *tile = chunk_tile(e, i, j, col);
	Op *out = where_tma(e, OP_STORE_TMA, 1);
	op_in(k, out, tile, NULL);
	op_in(k, out, buffer, at);
	op_in(k, out, map, NULL);
	if (!e->name)
		return;
	Op *copy = where_tma(e, OP_STORE_STAGED, 0);
	op_in(k, copy, tile, NULL);
	op_in(k, copy, buffer, at);
}

static void by_chunks(const Epilogue *e, Val *buffer, Val *map)
{
	Kernel *k = e->k;
	int per_atom = e->t.atom.n / e->cols, n = 0;
	const Ix *base = ix_mul(k->ctx, turn(e), ix_int(k, chunks(e)));
	for (int j = 0; j < e->t.repeat_n; j++)
		for (int q = 0; q < per_atom; q++)
			for (int i = 0; i < e->t.repeat_m; i++, n++)
				chunk(e, buffer, map, ix_add(k->ctx, base, ix_int(k, n)), i, j,
				      q * e->cols);
}

/* ------------------------------------------------------------------ which way */
static void by_tma(Epilogue *e, int slots, bool ask)
{
	Kernel *k = e->k;
	const Val *tensor = e->tile->in[0].val;
	Op *map = kernel_map(k, e->store->loc, e->tile->in[0].val, e->chunk);
	if (ask) {
		e->name = kernel_fresh(k, ctx_strf(k->ctx, "%s_by_tma", tensor->name));
		op_sym(k, map, e->name);
	}
	by_chunks(e, staging(e, slots)->out, map->out);
	op_remove(e->store);
}

static void store(Kernel *k, Op *op, const Op *mma)
{
	Epilogue e = {.k = k, .store = op, .tile = op->in[0].val->def, .t = op_tiled_mma(mma)};
	const Ix *stride;
	e.bytes = elem_rows[op->in[1].val->type->elem].bits / 8;
	e.warpgroups = kernel_pingpong(k) ? 2 : tiled_mma_warpgroups(e.t);
	e.m_fast = ix_is(tup_get(e.tile->in[0].val->type->layout->stride, 0)->leaf, 1);
	Legal tma = legal(&e, &stride);
	if (tma == TMA_NEVER) {
		direct(&e, ctx_strf(k->ctx,
				    "its stride of %s bytes is no multiple of 16 (PTX ISA, tensor "
				    "maps)",
				    text_of(k, stride)));
	} else if (!(e.m_fast ? chunk_of_columns(&e) : chunk_of_rows(&e))) {
		direct(&e, ctx_strf(k->ctx,
				    "the %d columns of an mma are no multiple of 32 bytes, the "
				    "narrowest swizzle",
				    e.t.atom.n));
	} else {
		int slots = staging_slots(&e);
		if (slots)
			by_tma(&e, slots, tma == TMA_ASK);
		else
			direct(&e, "no shared memory is left beside the stages");
	}
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
