/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* exchange.c - rows that lie in several warps, which shuffles do not cross: what each warp has of a
 * row goes into shared memory, where all threads of the row read it. sync/exchange.c has them meet.
 *     %r = reduce %x combine=max                     %x (2,4096), four warps a row
 * ->  %p = reduce %x combine=max                     (2,4): one column of each warp
 *     store.shared %sR[t], %p ; load.shared %q, %sR[t]
 *     %r = reduce %q combine=max                     of a thread's own registers
 *     %y = scan %x                                   of such rows
 * ->  %p, %q as above, of the sums ; %y = scan %x, %q
 * Beside an mma, columns do, of which a thread needs many: it reduces some, and reads all again.
 *     %r = reduce %x combine=sum                     %x (128,64)
 * ->  %p = reduce %x combine=sum                     (8,64): of each 16 rows
 *     store.shared %sP[t], %p ; load.shared %q, %sP[t]
 *     %c = reduce %q combine=sum                     (1,64), one of a thread
 *     store.shared %sC[t], %c ; load.shared %r, %sC[t] */
#include "passes/epilogue/exchange.h"
#include "passes/smem/rings.h"
#include "passes/atoms/copy_choice.h"
#include "passes/why.h"

int64_t warps_of_row(const Op *op)
{
	enum { MOST = 16 };
	TvExchange all[MOST];
	if (op->kind == OP_SCAN)
		return HAS_IN(op, PARTS) ? 1 : tv_row_warps(op->out->type);
	int n = tv_exchanges(IN(op, X).val->type, op->out->type, all, MOST);
	int64_t warps = 1;
	for (int i = 0; i < n; i++)
		warps *= all[i].step >= WARP_THREADS ? 2 : 1;
	return warps;
}

/* One mode before those of a layout. */
static const Layout *behind_mode(Ctx *c, int64_t extent, int64_t stride, const Layout *l)
{
	const Layout *modes[TV_MODES + 1];
	int n = layout_rank(l);
	modes[0] = layout_new(c, tup_int(c, extent), tup_int(c, stride));
	for (int i = 0; i < n; i++)
		modes[i + 1] = layout_mode(c, l, i);
	return layout_cat(c, modes, n + 1);
}

/* All parts of the rows that the thread has in `rows`, of each row side by side. */
static const Layout *all_parts(Ctx *c, const Type *rows, int64_t parts)
{
	int64_t height = layout_size_int(rows->layout);
	const Layout *modes[2] = {
		layout_mode(c, rows->tv, 0),
		behind_mode(c, parts, height, layout_mode(c, rows->tv, 1)),
	};
	return layout_cat(c, modes, 2);
}

/* ------------------------------------------------------------------ rings */
static const Op *loop_around(const Op *at)
{
	const Op *up = op_parent(at);
	return up && up->kind == OP_FOR ? up : NULL;
}

/* How often the block of `at` was run before, over all loops around it; NULL: no expression says
 * it. */
static const Ix *turn_at(const Kernel *k, const Op *at)
{
	Ctx *c = k->ctx;
	const Ix *turn = ix_int(k, 0), *each = ix_int(k, 1);
	for (const Op *loop = loop_around(at); loop; loop = loop_around(loop)) {
		const Ix *trips = ix_sub(c, IX(loop, TO), IX(loop, FROM));
		const Ix *here = ix_sub(c, ix_sym(c, loop->sym[0]), IX(loop, FROM));
		for (const Op *up = loop_around(loop); up; up = loop_around(up))
			if (varies_in(trips, up))
				return NULL;
		bool never_less = ix_least(trips, kernel_facts(k)) >= 0;
		turn = ix_add(c, turn, ix_mul(c, here, each));
		each = ix_mul(c, each, never_less ? trips : ix_new(c, IX_MAX, trips, ix_int(k, 0)));
	}
	return turn;
}

/* Two where tiles follow each other: who writes a slot again has then met all others at a later
 * position, after their reads. One where no number says which turn it is: all meet twice. */
static int64_t slots_for(const Kernel *k, const Op *at, int64_t times)
{
	return loop_around(at) && times == 1 && turn_at(k, at) ? 2 : times;
}

bool exchange_fits(const Kernel *k, const Op *at, const Type *buffer)
{
	int64_t bytes = slots_for(k, at, 1) * type_slot_bytes(buffer);
	for (const Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED)) {
		const Type *t = op->out->type;
		bytes = round_up(bytes, buffer_align(t)) +
			attrs_int(&op->attrs, A_SLOTS, 1) * type_slot_bytes(t);
	}
	bytes += buffer_align(buffer);
	return bytes <= kernel_smem(k);
}

Val *exchange_buffer(Kernel *k, const Op *at, const char *ring, const Type *t, int64_t times)
{
	Op *first = kernel_find(k, OP_SHARED);
	Op *decl = ring_new(k, ring, slots_for(k, at, times), at->loc);
	op_insert_before(first ? first : kernel_first(k), decl);
	return ring_buffer(k, decl, ctx_strf(k->ctx, "s%s", ring), t);
}

const Ix *exchange_at(const Kernel *k, const Op *at, int64_t times, int64_t i)
{
	const Ix *turn = turn_at(k, at);
	if (!turn) /* of one slot, or as many as times, where any number will do */
		turn = ix_sym(k->ctx, loop_around(at)->sym[0]);
	return ix_add(k->ctx, ix_mul(k->ctx, turn, ix_int(k, times)), ix_int(k, i));
}

/* ------------------------------------------------------------------ what is exchanged */
/* How the parts of an op's result are spread: as each warp has them, and as threads read them. */
typedef struct {
	const Layout *parts, *own, *all;
	int64_t warps;
} Parts;

/* The type of a value for each row. */
static const Type *rows_of(Ctx *c, const Op *op)
{
	const Type *t = op->out->type;
	const Layout *row = layout_2d(c, val_extent(op->out, 0), 1, 1, 0);
	if (op->kind == OP_REDUCE)
		return t;
	return type_frag(c, t->elem, row, tv_of_part(c, t->tv, t->layout, row));
}

static Parts parts_of_row(const Kernel *k, const Op *op)
{
	Ctx *c = k->ctx;
	const Type *whole = IN(op, X).val->type, *rows = rows_of(c, op);
	int64_t height = layout_size_int(rows->layout), warps = warps_of_row(op);
	const Layout *parts = layout_2d(c, height, warps, 1, height);
	return (Parts){parts, tv_of_part(c, whole->tv, whole->layout, parts),
		       all_parts(c, rows, warps), warps};
}

/* Each thread some whole columns: neighbours lie in neighbouring threads, as many as share them out
 * evenly. */
static const Layout *by_threads(Ctx *c, const Type *columns, int64_t parts)
{
	int64_t cols = layout_size_int(columns->layout), n = 1;
	int64_t threads = layout_size_int(layout_mode(c, columns->tv, 0));
	while (n * 2 <= threads && threads % (n * 2) == 0 && cols % (n * 2) == 0)
		n *= 2;
	const Layout *modes[2] = {layout_2d(c, n, threads / n, parts, 0),
				  layout_2d(c, parts, cols / n, 1, n * parts)};
	return layout_cat(c, modes, 2);
}

static Parts parts_of_column(const Kernel *k, const Op *op)
{
	Ctx *c = k->ctx;
	const Type *whole = IN(op, X).val->type, *columns = op->out->type;
	int64_t rows = val_extent(IN(op, X).val, 0);
	int64_t parts = kernel_multiplies(k) ? rows / WARP_ROWS : warps_of_row(op);
	const Layout *l = layout_2d(c, parts, val_extent(op->out, 1), 1, parts);
	bool wide = val_extent(op->out, 1) > 1;
	return (Parts){l, tv_shared_out(c, whole, l),
		       (wide ? by_threads : all_parts)(c, columns, parts), parts};
}

static bool is_of_columns(const Op *op)
{
	return op->kind == OP_REDUCE && val_extent(op->out, 0) == 1 &&
	       val_extent(IN(op, X).val, 0) > 1;
}

static const Type *buffer_of(Ctx *c, const Layout *l)
{
	int64_t rows = layout_size_int(layout_mode(c, l, 0)), cols = layout_size_int(l) / rows;
	return type_tile(c, SP_SHARED, EL_F32, layout_2d(c, rows, cols, cols, 1));
}

/* ------------------------------------------------------------------ through a buffer */
/* What all that need it read of it, as `tv` has it. */
static Val *pass_through(Kernel *k, Op *before, Val *buffer, const Ix *at, Val *from,
			 const Type *as)
{
	Op *put = op_in(k, op_before(k, before, way_rows[WAY_EXCHANGE].first), buffer, at);
	op_in(k, put, from, ix_int(k, 0));
	Op *all = op_before(k, before, OP_FRAG);
	Val *to = op_result(k, all, "q", as);
	Op *get = op_in(k, op_before(k, before, way_rows[WAY_EXCHANGE].last), to, ix_int(k, 0));
	op_in(k, get, buffer, at);
	return to;
}

static void exchange(Kernel *k, Op *op, Val *buffer, const Ix *at, Parts p)
{
	Ctx *c = k->ctx;
	Op *own = op_in(k, op_before(k, op, OP_REDUCE), IN(op, X).val, NULL);
	op_str(k, own, A_COMBINE, attrs_str(&op->attrs, A_COMBINE, "sum"));
	Val *part = op_result(k, own, "p", type_frag(c, EL_F32, p.parts, p.own));
	Val *all = pass_through(k, op, buffer, at, part, type_frag(c, EL_F32, p.parts, p.all));
	if (op->kind == OP_SCAN)
		op_in(k, op, all, NULL);
	else
		IN(op, X).val = all;
}

/* Of the columns that each thread has reduced. */
static const Layout *reduced_by_threads(Ctx *c, const Op *op)
{
	const Type *from = IN(op, X).val->type;
	return tv_of_part(c, from->tv, from->layout, op->out->type->layout);
}

/* Whoever has a column may store it, and convert it before. */
static bool is_only_stored(const Kernel *k, const Val *v)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op_takes(op, v) && op->kind != OP_STORE &&
		    !(op->kind == OP_CVT && is_only_stored(k, op->out)))
			return false;
	return true;
}

static void respread(Kernel *k, Val *v, const Layout *tv)
{
	v->type = type_frag(k->ctx, v->type->elem, v->type->layout, tv);
	for (Op *op = kernel_first(k); op; op = op_next(op))
		if (op->kind == OP_CVT && IN(op, X).val == v)
			respread(k, op->out, tv);
}

/* The columns that each thread has reduced, to all that need them. */
static void hand_out(Kernel *k, Op *op, Val *buffer, const Ix *at)
{
	Ctx *c = k->ctx;
	const Type *needed = op->out->type;
	const Layout *tv = reduced_by_threads(c, op);
	Op *reduce = op_in(k, op_before(k, op, OP_REDUCE), IN(op, X).val, NULL);
	op_str(k, reduce, A_COMBINE, attrs_str(&op->attrs, A_COMBINE, ""));
	Val *mine = op_result(k, reduce, "c", type_frag(c, EL_F32, needed->layout, tv));
	kernel_replace(k, op->out, pass_through(k, op, buffer, at, mine, needed));
	op_remove(op);
}

/* ------------------------------------------------------------------ */
typedef VEC(Op *) Ops;

static bool exchanges(const Op *op)
{
	return (op->kind == OP_REDUCE || op->kind == OP_SCAN) && warps_of_row(op) > 1;
}

/* Those whose parts lie in one buffer, and in one block. */
static Ops alike(Kernel *k, Op *first)
{
	Ops all = {0};
	for (Op *op = first; op; op = op_next(op))
		if (op->kind == first->kind && exchanges(op) && op->out->type == first->out->type &&
		    IN(op, X).val->type == IN(first, X).val->type && op->block == first->block)
			vec_push(ctx_arena(k->ctx), &all, op);
	return all;
}

/* A tile of one warpgroup under pingpong is exchanged in slots of its own. */
static Val *buffer_for(Kernel *k, const Op *at, const char *name, const Layout *l, int64_t times)
{
	Val *buffer = exchange_buffer(k, at, name, buffer_of(k->ctx, l), times);
	if (kernel_multiplies(k) && kernel_pingpong(k))
		op_int(k, buffer->def, A_GROUPS, 2);
	return buffer;
}

static void hand_out_all(Kernel *k, Ops all)
{
	Ops needed = {0};
	for (int i = 0; i < all.n; i++)
		if (is_only_stored(k, all.at[i]->out))
			respread(k, all.at[i]->out, reduced_by_threads(k->ctx, all.at[i]));
		else
			vec_push(ctx_arena(k->ctx), &needed, all.at[i]);
	if (!needed.n)
		return;
	Val *buffer =
		buffer_for(k, needed.at[0], "column", needed.at[0]->out->type->layout, needed.n);
	for (int i = 0; i < needed.n; i++)
		hand_out(k, needed.at[i], buffer, exchange_at(k, needed.at[i], needed.n, i));
}

static void exchange_alike(Kernel *k, Ops all)
{
	bool columns = is_of_columns(all.at[0]);
	const char *name = columns ? "columns" : "rows";
	Parts p = (columns ? parts_of_column : parts_of_row)(k, all.at[0]);
	Val *buffer = buffer_for(k, all.at[0], name, p.parts, all.n);
	for (int i = 0; i < all.n; i++)
		exchange(k, all.at[i], buffer, exchange_at(k, all.at[i], all.n, i), p);
	if (columns && val_extent(all.at[0]->out, 1) > 1)
		hand_out_all(k, all);
	why_parts_of(k, name, (int)p.warps, all.n);
}

static Op *across_warps(Kernel *k)
{
	Op *op = kernel_first(k);
	while (op && !exchanges(op))
		op = op_next(op);
	return op;
}

PASS_OF(exchange)
{
	for (Op *op = across_warps(k); op; op = across_warps(k))
		exchange_alike(k, alike(k, op));
}
