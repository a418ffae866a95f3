/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* exchange.c - rows that lie in several warps, which shuffles do not cross: what each warp has of a
 * row goes into shared memory, where all threads of the row read it. sync_exchange.c has them meet.
 *     %r = reduce %x combine=max                     %x (2,4096), four warps a row
 * ->  %p = reduce %x combine=max                     (2,4): one column of each warp
 *     store.shared %sR[t], %p ; load.shared %q, %sR[t]
 *     %r = reduce %q combine=max                     of a thread's own registers */
#include "passes/exchange.h"
#include "passes/rings.h"
#include "passes/ways.h"
#include "passes/why.h"

/* Over how many warps a row of the reduction's operand is spread. */
static int64_t warps_of_row(const Op *op)
{
	enum { MOST = 16 };
	TvExchange all[MOST];
	int n = tv_exchanges(op->in[0].val->type, op->out->type, all, MOST);
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
		int64_t least, most;
		const Ix *trips = ix_sub(c, loop->ix[1], loop->ix[0]);
		const Ix *here = ix_sub(c, ix_sym(c, loop->sym[0]), loop->ix[0]);
		for (const Op *up = loop_around(loop); up; up = loop_around(up))
			if (varies_in(trips, up))
				return NULL;
		ix_range(trips, kernel_facts(k), &least, &most);
		turn = ix_add(c, turn, ix_mul(c, here, each));
		each = ix_mul(c, each, least < 0 ? ix_new(c, IX_MAX, trips, ix_int(k, 0)) : trips);
	}
	return turn;
}

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
	Op *first = kernel_find(k, OP_SHARED), *decl = op_new(k, OP_RING, at->loc);
	Op *op = op_new(k, OP_SHARED, at->loc);
	const char *name = kernel_fresh(k, ring);
	int64_t slots = slots_for(k, at, times);
	op_sym(k, decl, name);
	op_int(k, decl, A_SLOTS, slots);
	op_insert_before(first ? first : kernel_first(k), decl);
	op_str(k, op, A_RING, name);
	op_int(k, op, A_SLOTS, slots);
	op_result(k, op, ctx_strf(k->ctx, "s%s", ring), t);
	op_insert_after(decl, op);
	return op->out;
}

const Ix *exchange_at(const Kernel *k, const Op *at, int64_t times, int64_t i)
{
	const Ix *turn = turn_at(k, at);
	if (!turn) /* of one slot, or as many as times, where any number will do */
		turn = ix_sym(k->ctx, loop_around(at)->sym[0]);
	return ix_add(k->ctx, ix_mul(k->ctx, turn, ix_int(k, times)), ix_int(k, i));
}

/* ------------------------------------------------------------------ rows */
static void exchange(Kernel *k, Op *op, Val *buffer, const Ix *at, int64_t warps)
{
	Ctx *c = k->ctx;
	const Type *whole = op->in[0].val->type, *rows = op->out->type;
	int64_t height = layout_size_int(rows->layout);
	const Layout *parts = layout_2d(c, height, warps, 1, height);
	const char *combine = attrs_str(&op->attrs, A_COMBINE, "");
	Op *own = op_before(k, op, OP_REDUCE);
	op_in(k, own, op->in[0].val, NULL);
	op_str(k, own, A_COMBINE, combine);
	Val *p = op_result(k, own, "p",
			   type_frag(c, EL_F32, parts,
				     tv_of_part(c, whole->tv, whole->layout, parts)));
	Op *put = op_before(k, op, way_rows[WAY_EXCHANGE].first), *all = op_before(k, op, OP_FRAG);
	op_in(k, put, buffer, at);
	op_in(k, put, p, ix_int(k, 0));
	Val *q = op_result(k, all, "q", type_frag(c, EL_F32, parts, all_parts(c, rows, warps)));
	Op *get = op_before(k, op, way_rows[WAY_EXCHANGE].last);
	op_in(k, get, q, ix_int(k, 0));
	op_in(k, get, buffer, at);
	op->in[0].val = q;
}

typedef VEC(Op *) Ops;

/* Those of a block take turns in one ring. */
static void exchange_block(Kernel *k, const Op *first, const Ops *all, int64_t warps)
{
	int64_t rows = layout_size_int(first->out->type->layout), times = 0, i = 0;
	for (int j = 0; j < all->n; j++)
		times += all->at[j]->block == first->block;
	const Type *parts =
		type_tile(k->ctx, SP_SHARED, EL_F32, layout_2d(k->ctx, rows, warps, warps, 1));
	Val *buffer = exchange_buffer(k, first, "rows", parts, times);
	for (int j = 0; j < all->n; j++)
		if (all->at[j]->block == first->block)
			exchange(k, all->at[j], buffer, exchange_at(k, first, times, i++), warps);
}

static bool is_first(const Ops *all, int i)
{
	for (int j = 0; j < i; j++)
		if (all->at[j]->block == all->at[i]->block)
			return false;
	return true;
}

void exchange_rows(Kernel *k)
{
	Ops all = {0};
	for (Op *op = kernel_find(k, OP_REDUCE); op; op = op_find_next(op, OP_REDUCE))
		if (warps_of_row(op) > 1)
			vec_push(ctx_arena(k->ctx), &all, op);
	if (!all.n)
		return;
	int64_t warps = warps_of_row(all.at[0]);
	for (int i = 0; i < all.n; i++)
		if (is_first(&all, i))
			exchange_block(k, all.at[i], &all, warps);
	why_row_parts(k, (int)warps, all.n);
}
