/* roles.c - who runs what. `none`: every warp runs the whole body. `cooperative`: a producer warp
 * runs what is issued by one thread and completes on an mbarrier (the loads), the consumers all the
 * rest; loops and lets come along with both. Registers move from producer to consumers by
 * setmaxnreg. for k { load.tma; mma.wgmma } store
 * ->  role producer { for k { load.tma } }  role consumer { for k { mma.wgmma } store } */
#include "passes/why.h"

#include <string.h>

enum {
	WARPS = 4,
	WARP_THREADS = 32,
	OVERHEAD = 26, /* registers beside the accumulator */
	TURNS = 2
};

static bool is_producers(void *user, const Op *op)
{
	(void)user;
	return op_fills_shared(op) || (op_rows[op->kind].flags & (OPF_PURE | OPF_SYMS));
}

static bool is_consumers(void *user, const Op *op)
{
	(void)user;
	return !op_fills_shared(op);
}

static bool is_program(const Op *op)
{
	return !(op_rows[op->kind].flags & OPF_DECL) && op->kind != OP_ROLE && op->kind != OP_CONST;
}

/* ------------------------------------------------------------------ budgets */
typedef struct {
	int producer, consumer; /* 0: as assigned at launch, nothing to move */
	int limit;              /* registers that a consumer thread may have */
} Budget;

/* Producer and consumer registers by number of consumer warpgroups; the sum over the CTA fits 64
 * Ki. With three, ptxas compiles for the 128 registers that 512 threads start with. */
static const Budget shares[] = {{0, 0, 255}, {40, 232, 232}, {24, 240, 240}, {32, 160, 128}};

static int accumulators(const Kernel *k)
{
	int regs = 0;
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op->kind == OP_FRAG && op->out->type->tv)
			regs += type_regs(op->out->type);
	return regs;
}

static Budget budget_cooperative(Kernel *k, int warpgroups, int acc)
{
	const Attr *given = attrs_get(&k->attrs, A_ROLE_REGS);
	if (given)
		return (Budget){(int)given->i[0], (int)given->i[1], (int)given->i[1]};
	if (warpgroups == 1)
		return shares[0];
	if (warpgroups == 2 && acc + OVERHEAD <= shares[1].limit)
		return shares[1];
	if (warpgroups == 2)
		why_few_registers(k, shares[1].consumer, acc + OVERHEAD);
	return shares[warpgroups];
}

static int budget_alike(const Kernel *k, int threads)
{
	const Target *t = target_by_name(k->target);
	int regs = t->regs / threads / 8 * 8;
	return regs < t->max_regs_thread ? regs : t->max_regs_thread;
}

static void check_registers(Kernel *k, TiledMma t, Loc loc, int acc, int limit)
{
	if (acc + OVERHEAD <= limit)
		return;
	int threads = WARPS * WARP_THREADS * tiled_mma_warpgroups(t);
	int columns = (limit - OVERHEAD) * threads / t.m / 8 * 8;
	diag_remedy(k->ctx,
		    diag(k->ctx, loc, D_E0402,
			 "the accumulator of %d x %d takes %d registers a thread on %d "
			 "warpgroup%s; with %d for "
			 "addresses that is more than the %d there are",
			 t.m, t.n, acc, tiled_mma_warpgroups(t),
			 tiled_mma_warpgroups(t) > 1 ? "s" : "", OVERHEAD, limit),
		    "the largest tile of %d rows that fits is %d x %d", t.m, t.m, columns);
}

/* setmaxnreg: multiples of 8 from 24 to 256, and what all warps hold fits the register file. */
static void check_given(Kernel *k, Budget b, int warpgroups, Loc loc)
{
	int total = (b.producer + b.consumer * warpgroups) * WARPS * WARP_THREADS;
	const Target *t = target_by_name(k->target);
	if (!b.producer)
		return;
	if (b.producer % 8 || b.consumer % 8 || b.producer < 24 || b.consumer > 256 ||
	    b.consumer < 24)
		diag(k->ctx, loc, D_E0402,
		     "setmaxnreg takes multiples of 8 from 24 to 256, not %d and %d", b.producer,
		     b.consumer);
	else if (total > t->regs)
		diag(k->ctx, loc, D_E0402,
		     "%d registers for the producer's warpgroup and %d for %d consumer warpgroup%s "
		     "are %d, more "
		     "than the %d of an SM",
		     b.producer, b.consumer, warpgroups, warpgroups > 1 ? "s" : "", total, t->regs);
}

/* ------------------------------------------------------------------ roles */
static Op *role_new(Kernel *k, const char *name, int first, int warps, int active, int regs)
{
	Op *role = op_append(k, &k->body, OP_ROLE, k->loc);
	op_sym(k, role, name);
	op_int(k, role, A_WARPS, warps);
	op_int(k, role, A_FIRST, first);
	op_int(k, role, A_ACTIVE, active);
	op_int(k, role, A_REGS, regs);
	op_body(k, role);
	return role;
}

static void move_registers(Kernel *k, Op *role, int regs, bool more)
{
	if (!regs)
		return;
	Op *op = op_append(k, role->body, OP_SETMAXNREG, role->loc);
	op_int(k, op, A_REGS, regs);
	op_int(k, op, A_N, more);
}

/* The program alone, in a block of its own, so that roles can be copied from it. */
static Block program(Kernel *k)
{
	Block b = {0};
	for (Op *op = k->body.first, *next; op; op = next) {
		next = op->next;
		if (!is_program(op))
			continue;
		op_remove(op);
		block_append(&b, op);
	}
	return b;
}

static void cooperative(Kernel *k, int warpgroups, Budget b)
{
	Block body = program(k);
	int warps = WARPS * warpgroups;
	Op *producer = role_new(k, "producer", warps, WARPS, 1, b.producer ? b.producer : b.limit);
	move_registers(k, producer, b.producer, false);
	block_copy(k, &body, producer->body, NULL, 0, is_producers, NULL);
	Op *consumer = role_new(k, "consumer", 0, warps, warps, b.consumer ? b.consumer : b.limit);
	move_registers(k, consumer, b.consumer, true);
	block_copy(k, &body, consumer->body, NULL, 0, is_consumers, NULL);
	kernel_int(k, A_BLOCK, (warps + WARPS) * WARP_THREADS);
}

/* ------------------------------------------------------------------ turns */
static Op *turn_op(Kernel *k, OpKind kind, const Ix *cond, const Ix *which, Loc loc)
{
	Op *some = op_new(k, OP_IF, loc), *bar = op_new(k, kind, loc);
	op_ix(k, some, cond);
	op_ix(k, bar, which);
	op_int(k, bar, A_THREADS, (int64_t)TURNS * WARPS * WARP_THREADS);
	block_append(op_body(k, some), bar);
	return some;
}

static Op *main_loop(const Op *tiles)
{
	for (Op *op = tiles->body->first; op; op = op->next)
		if (op->kind == OP_FOR)
			return op;
	panic("a loop over tiles without a main loop");
}

/* A warpgroup's own buffers count its own turns: positions of a ring follow each other in whoever
 * uses it, or waiting for all but the last few uses would miss one. */
static void own_positions(Kernel *k, Op *tiles, const char *t, const Ix *turn)
{
	for (Op *op = tiles->body->first; op && op_inside(op, tiles); op = op_next(op))
		for (int i = 0; i < op->nin; i++) {
			const Val *v = op->in[i].val;
			if (op->in[i].at && v->def && attrs_get(&v->def->attrs, A_GROUPS))
				op->in[i].at = ix_subst(k->ctx, op->in[i].at, t, turn);
		}
}

/* The consumers' warpgroups take tiles by turns, t = 2 j + w, and their main loops in the order of
 * tiles: who has issued his last mma gives the turn to the other, so that one multiplies while the
 * other stores, and nobody tests a phase of the ring a lap too early. */
static void take_turns(Kernel *k, Op *tiles)
{
	Ctx *c = k->ctx;
	const Ix *w = ix_mod(c, ix_warpgroup(k), ix_int(k, TURNS)), *n = tiles->ix[1];
	const char *t = tiles->sym[0], *j = kernel_fresh(k, "j");
	Op *main = main_loop(tiles), *let = op_new(k, OP_LET, tiles->loc);
	const Ix *tile = ix_sym(c, t), *base = ix_int(k, NAMED_TURN), *one = ix_int(k, 1);
	const Ix *mine = ix_add(c, base, w), *others = ix_sub(c, ix_add(c, base, one), w);
	own_positions(k, tiles, t, ix_sym(c, j));
	tiles->sym[0] = j;
	tiles->ix[1] = ix_ceil_div(c, ix_sub(c, n, w), ix_int(k, TURNS));
	op_sym(k, let, t);
	op_ix(k, let, ix_add(c, ix_mul(c, ix_sym(c, j), ix_int(k, TURNS)), w));
	op_insert_before(tiles->body->first, let);
	const Ix *not_first = ix_new(c, IX_LE, one, tile);
	const Ix *not_last = ix_new(c, IX_LT, ix_add(c, tile, one), n);
	op_insert_before(main, turn_op(k, OP_BAR_SYNC, not_first, mine, main->loc));
	op_insert_after(main, turn_op(k, OP_BAR_ARRIVE, not_last, others, main->loc));
}

static void pingpong(Kernel *k, Budget b)
{
	cooperative(k, TURNS, b);
	Op *consumer = op_find_next(kernel_find(k, OP_ROLE), OP_ROLE);
	op_int(k, consumer, A_TURNS, TURNS);
	for (Op *op = consumer->body->first; op; op = op->next)
		if (op->kind == OP_FOR) {
			take_turns(k, op);
			return;
		}
}

static void alike(Kernel *k, int warpgroups, int regs)
{
	Block body = program(k);
	int warps = WARPS * warpgroups;
	Op *role = role_new(k, "main", 0, warps, warps, regs);
	block_copy(k, &body, role->body, NULL, 0, NULL, NULL);
	kernel_int(k, A_BLOCK, warps * WARP_THREADS);
}

static bool check_schedule(Kernel *k, const Op *mma)
{
	if (!mma)
		diag(k->ctx, k->loc, D_E0407,
		     "kernel %s has no mma: elementwise kernels are not built yet", k->name);
	else if (kernel_pingpong(k) && !attrs_int(&k->attrs, A_PERSISTENT, 0))
		diag_remedy(
			k->ctx,
			diag(k->ctx, k->loc, D_E0407,
			     "pingpong without persistent: with one tile a CTA there are no turns"),
			"write: roles pingpong; persistent;");
	return !diag_errors(k->ctx);
}

static bool check_threads(Kernel *k, int threads, Loc loc)
{
	int most = target_by_name(k->target)->max_threads;
	if (threads > most)
		diag(k->ctx, loc, D_E0402, "%d threads are more than the %d of a CTA", threads,
		     most);
	return threads <= most;
}

void pass_roles(Kernel *k)
{
	const Op *mma = kernel_find(k, OP_MMA_WGMMA);
	if (!check_schedule(k, mma))
		return;
	TiledMma t = op_tiled_mma(mma);
	bool turns = kernel_pingpong(k);
	bool split = strcmp(attrs_str(&k->attrs, A_ROLES, "none"), "none") != 0;
	int warpgroups = turns ? TURNS : tiled_mma_warpgroups(t), acc = accumulators(k);
	int threads = (warpgroups + split) * WARPS * WARP_THREADS;
	if (!check_threads(k, threads, mma->loc))
		return;
	Budget b = budget_cooperative(k, warpgroups, acc);
	if (!split)
		b = (Budget){0, 0, budget_alike(k, threads)};
	why_registers(k, b.producer, b.consumer ? b.consumer : b.limit, acc, OVERHEAD);
	check_given(k, b, warpgroups, k->loc);
	check_registers(k, t, mma->loc, acc, b.limit);
	if (diag_errors(k->ctx))
		return;
	if (turns)
		pingpong(k, b);
	else if (split)
		cooperative(k, warpgroups, b);
	else
		alike(k, warpgroups, b.limit);
	kernel_sweep(k);
}
