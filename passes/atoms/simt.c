/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* simt.c - how tiles are spread over threads where no mma decides it: vectors of 16 bytes along the
 * mode whose elements are neighbours in memory, the lanes of a warp beside each other along it as
 * far as the tile goes, then along the other mode, warps after lanes.
 *     (64,256) of bf16, neighbours along n, 128 threads
 * ->  ((32,4),(8,16)):((512,1),(64,4))       32 lanes of 8 columns are a row, a warp each row */
#include "passes/why.h"

static void mode(TvModes *m, int which, int64_t extent, int64_t stride)
{
	if (extent == 1)
		return;
	m->shape[which][m->n[which]] = extent;
	m->stride[which][m->n[which]++] = stride;
}

static int64_t at_most(int64_t of, int64_t most)
{
	int64_t n = 1;
	while (n * 2 <= most && of % (n * 2) == 0)
		n *= 2;
	return n;
}

/* Over which mode the elements of a tile are neighbours, how many threads take vectors of how many
 * of them, and how rows lie that are reduced: in one warp each, or in several, which then hold
 * neighbouring parts of it. */
typedef enum { ROWS_ANY, ROWS_WHOLE, ROWS_PARTS } Rows;
typedef struct {
	int fast;
	int64_t vector, threads;
	Rows rows;
	bool columns;       /* they are reduced, too: warps hold neighbouring rows */
	int64_t most_lanes; /* side by side along `fast`, where others of them lie across it */
} Simt;

/* Of 16 bytes: a line of memory. More of them side by side meet in the banks of a buffer through
 * which tiles change threads. */
enum { LANES_OF_LINE = 8 };

/* Of a side of the tile: lanes, one unit apart, and after them warps and the values of a thread,
 * warps first unless each is to have neighbours. */
static void steps_of(const Simt *s, int side, int64_t unit, int64_t lanes, int64_t warps,
		     int64_t values, int64_t *warp, int64_t *value)
{
	int mode = side ? 1 - s->fast : s->fast;
	bool parts = mode ? s->rows == ROWS_PARTS : s->columns;
	*warp = unit * lanes * (parts ? values : 1);
	*value = unit * lanes * (parts ? 1 : warps);
}

/* NULL: the threads are more than the tile's vectors. */
static const Layout *simt_tv(Ctx *c, const int64_t extent[2], const Simt *s)
{
	const int64_t step[2] = {1, extent[0]}, all = s->threads / WARP_THREADS;
	int64_t side[2] = {extent[s->fast] / s->vector, extent[1 - s->fast]}, lanes[2], values[2];
	int64_t warps[2] = {1, 1}, unit[2] = {step[s->fast] * s->vector, step[1 - s->fast]};
	int64_t warp[2], value[2];
	TvModes m = {0};
	if (s->rows == ROWS_WHOLE) /* along m, which is side 0 where it is the fast one */
		warps[s->fast] = at_most(side[s->fast], all);
	lanes[0] = at_most(side[0] / warps[0], s->vector > 1 ? s->most_lanes : WARP_THREADS);
	lanes[1] = at_most(side[1] / warps[1], WARP_THREADS / lanes[0]);
	if (s->rows != ROWS_WHOLE) {
		warps[1] = at_most(side[1] / lanes[1], all);
		warps[0] = at_most(side[0] / lanes[0], all / warps[1]);
	}
	if (lanes[0] * lanes[1] * warps[0] * warps[1] != s->threads)
		return NULL;
	for (int i = 0; i < 2; i++) {
		values[i] = side[i] / lanes[i] / warps[i];
		steps_of(s, i, unit[i], lanes[i], warps[i], values[i], &warp[i], &value[i]);
	}
	mode(&m, 0, lanes[0], unit[0]);
	mode(&m, 0, lanes[1], unit[1]);
	mode(&m, 0, warps[1], warp[1]);
	mode(&m, 0, warps[0], warp[0]);
	mode(&m, 1, s->vector, step[s->fast]);
	mode(&m, 1, values[0], value[0]);
	mode(&m, 1, values[1], value[1]);
	return tv_layout(c, &m);
}

/* ------------------------------------------------------------------ of a kernel */
static const Val *tile_of_copy(const Op *copy)
{
	for (int i = 0; i < 2; i++)
		if (copy->in[i].val->type->space == SP_GLOBAL)
			return copy->in[i].val;
	return NULL;
}

static const Val *regs_of_copy(const Op *copy)
{
	return copy->in[IN(copy, TO).val->type->space == SP_GLOBAL].val;
}

/* Of the tile's neighbours along `fast`, as many as one instruction takes. */
static int64_t vector_of(const Kernel *k, const Val *tile, int fast)
{
	int64_t n = 8 * widest_access(k) / elem_rows[tile->type->elem].bits;
	n = n > 0 ? n : 1;
	while (n > 1 && !tile_in_vectors(k, tile, fast, (int)n))
		n /= 2;
	return n;
}

/* The mode along which the first tensor has its neighbours that is written, or else read, in tiles
 * of the shape. */
static int fast_mode(const Kernel *k, const Layout *shape)
{
	for (int side = 0; side < 2; side++)
		for (const Op *op = kernel_find(k, OP_COPY); op; op = op_find_next(op, OP_COPY)) {
			const Val *tile = op->in[side].val;
			if (tile->type->space == SP_GLOBAL &&
			    op->in[1 - side].val->type->layout == shape)
				return !ix_is(tile_stride(k, tile, 0), 1);
		}
	return 1;
}

/* Whether no tensor has its neighbours along the other mode. */
static bool lie_alike(const Kernel *k, int fast)
{
	for (const Op *op = kernel_find(k, OP_COPY); op; op = op_find_next(op, OP_COPY)) {
		const Val *tile = tile_of_copy(op);
		if (tile && !val_is_vector(regs_of_copy(op)) &&
		    ix_is(tile_stride(k, tile, 1 - fast), 1))
			return false;
	}
	return true;
}

/* As the widest copy has them. */
static int64_t widest_vector(const Kernel *k, int fast)
{
	int64_t most = 1;
	for (const Op *op = kernel_find(k, OP_COPY); op; op = op_find_next(op, OP_COPY)) {
		const Val *tile = tile_of_copy(op);
		int64_t n = tile ? vector_of(k, tile, fast) : 1;
		most = n > most ? n : most;
	}
	return most;
}

/* A few tens of elements each. */
static int64_t threads_for(const Kernel *k, const Val *tile)
{
	enum { ELEMENTS = 32 };
	int64_t most = target_by_name(k->target)->max_threads;
	int64_t n = at_most(layout_size_int(tile->type->layout) / ELEMENTS, most);
	return n > WARP_THREADS ? n : WARP_THREADS;
}

static const Layout *tile_tv(Kernel *k, const Val *v, Simt s)
{
	const int64_t extent[2] = {val_extent(v, 0), val_extent(v, 1)};
	const Layout *tv = NULL;
	if (extent[s.fast] == 1)
		s.fast = 1 - s.fast;
	for (s.vector = at_most(extent[s.fast], s.vector); s.vector && !tv; s.vector /= 2) {
		tv = simt_tv(k->ctx, extent, &s);
		Simt parts = s;
		parts.rows = ROWS_PARTS;
		if (!tv && s.rows == ROWS_WHOLE)
			tv = simt_tv(k->ctx, extent, &parts);
	}
	return tv;
}

const Layout *simt_along(Kernel *k, const Val *v, const Val *tile, int fast)
{
	int64_t vector = vector_of(k, tile, fast), threads = attrs_int(&k->attrs, A_BLOCK, 0);
	return tile_tv(k, v, (Simt){fast, vector, threads, ROWS_ANY, false, LANES_OF_LINE});
}

const Layout *simt_into(Kernel *k, const Val *v, const Val *buffer, int64_t threads)
{
	SlotForm f;
	int bits = elem_rows[buffer->type->elem].bits;
	if (slot_form(k->ctx, buffer->type, &f))
		return NULL;
	return tile_tv(k, v,
		       (Simt){f.fast, 8 * VECTOR_BYTES / bits, threads, ROWS_ANY, false,
			      LANES_OF_LINE});
}

/* 0: op gives no tile in registers. */
static int64_t size_of_result(const Op *op)
{
	const Type *t = op && op->out ? op->out->type : NULL;
	return t && t->kind == TY_TILE && t->space == SP_REG ? layout_size_int(t->layout) : 0;
}

/* That is read, or computed of rows and columns. */
static Op *largest_tile(Kernel *k)
{
	Op *most = NULL;
	for (Op *op = kernel_first(k); op; op = op_next(op))
		if (size_of_result(op) > size_of_result(most))
			most = op;
	return most;
}

static void cannot_share(Kernel *k, const Op *op, int64_t threads)
{
	diag(k->ctx, op->loc, D_E0405,
	     "%d threads do not share a tile of %s: lanes and warps take powers of two of its rows "
	     "and columns\n"
	     "give the tile extents like 64 and 128%s",
	     (int)threads, layout_str(k->ctx, op->out->type->layout),
	     threads > WARP_THREADS ? ", or write schedule { threads 32; }" : "");
}

/* Of what is written, where the program says how wide its vectors are: whether they are. */
static bool takes_vectors(Kernel *k, const Op *copy)
{
	const Val *tile = IN(copy, TO).val, *regs = IN(copy, FROM).val;
	if (tile->type->space != SP_GLOBAL)
		return true;
	int fast = !ix_is(tile_stride(k, tile, 0), 1), bits = elem_rows[tile->type->elem].bits;
	int64_t n = 8 * widest_access(k) / bits;
	if (vector_of(k, tile, fast) == n && val_extent(regs, fast) % n == 0)
		return true;
	bool rows = vector_of(k, tile, fast) == n;
	diag(k->ctx, copy->loc, D_E0405,
	     rows ? "vectors of %d bytes are %d elements of '%s', and its tiles are no whole "
		    "number "
		    "of them\n"
		    "give the tile an extent that is a multiple of %d"
		  : "vectors of %d bytes are %d elements of '%s', and its rows are not known to "
		    "begin "
		    "at multiples of them\n"
		    "say where the distance between rows is a multiple of %d, as where N %% %d == "
		    "0, "
		    "or leave via out",
	     (int)widest_access(k), (int)n, tensor_arg(IN(tile->def, OF).val)->name, (int)n,
	     (int)n);
	return false;
}

static bool all_take_vectors(Kernel *k)
{
	bool ok = true;
	for (Op *op = kernel_find(k, OP_COPY); op; op = op_find_next(op, OP_COPY))
		ok &= takes_vectors(k, op);
	return ok;
}

static bool reduces_columns(const Kernel *k)
{
	for (const Op *op = kernel_find(k, OP_REDUCE); op; op = op_find_next(op, OP_REDUCE))
		if (val_extent(op->out, 0) < val_extent(IN(op, X).val, 0))
			return true;
	return false;
}

/* As many threads as the schedule says, else as suit the tile and can share it. */
static const Layout *share(Kernel *k, const Val *tile)
{
	const Attr *given = attrs_get(&k->attrs, A_BLOCK);
	int fast = fast_mode(k, tile->type->layout);
	fast = val_extent(tile, fast) == 1 ? 1 - fast : fast;
	Simt s = {fast,
		  widest_vector(k, fast),
		  given ? given->i[0] : threads_for(k, tile),
		  kernel_find(k, OP_REDUCE) || kernel_find(k, OP_SCAN) ? ROWS_WHOLE : ROWS_ANY,
		  reduces_columns(k),
		  lie_alike(k, fast) ? WARP_THREADS : LANES_OF_LINE};
	const Layout *tv = tile_tv(k, tile, s);
	for (; !tv && !given && s.threads > WARP_THREADS; tv = tile_tv(k, tile, s))
		s.threads /= 2;
	kernel_int(k, A_BLOCK, s.threads);
	why_threads(k, (int)s.threads, (int)(layout_size_int(tile->type->layout) / s.threads));
	return tv;
}

/* Gives the tile, spread; NULL: there is none, or it is reported. */
Val *spread_simt(Kernel *k)
{
	Op *op = largest_tile(k);
	if (attrs_get(&k->attrs, A_VECTOR) && !all_take_vectors(k))
		return NULL;
	const Layout *tv = op ? share(k, op->out) : NULL;
	if (op && !tv)
		cannot_share(k, op, attrs_int(&k->attrs, A_BLOCK, 0));
	if (!tv)
		return NULL;
	op->out->type = type_frag(k->ctx, op->out->type->elem, op->out->type->layout, tv);
	return op->out;
}
