/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* roles.c - who runs what. `none`: every warp runs the whole body. `cooperative`: a producer warp
 * runs what is issued by one thread and completes on an mbarrier (the loads), the consumers all the
 * rest; loops and lets come along with both. Registers move from producer to consumers by
 * setmaxnreg.
 *     for k { load.tma; mma.wgmma } store
 * ->  role producer { for k { load.tma } }
 *     role consumer { for k { mma.wgmma } store } */
#include "passes/roles/loaders.h"
#include "passes/atoms/registers.h"
#include "passes/roles/pingpong.h"
#include "passes/why.h"

#include <string.h>

enum {
	OVERHEAD = 26,  /* registers beside the accumulator */
	TWO_WAYS = 16,  /* more, where results leave by TMA or without it */
	DIVIDES = 8,    /* more, where ptxas calls what divides, or takes roots, of rare numbers */
	MOST_REGS = 255 /* of a thread */
};

static bool is_consumers(void *user, const Op *op)
{
	(void)user;
	return !op_fills_shared(op);
}

/* How many tiles there are, or how long a group is, is the same for all roles, which so make as
 * many turns: read once, before them. */
static bool is_program(const Op *op)
{
	return !(op_rows[op->kind].flags & OPF_DECL) && op->kind != OP_ROLE &&
	       op->kind != OP_CONST && op->kind != OP_GROUPS_COUNT && op->kind != OP_GROUPS_AT &&
	       op->kind != OP_NUMBER && op->kind != OP_TICKETS;
}

/* ------------------------------------------------------------------ budgets */
typedef struct {
	int producer, consumer; /* 0: as assigned at launch, nothing to move */
	int limit;              /* registers that a consumer thread may have */
} Budget;

static const struct Share {
	int warpgroups;
	bool busy;
	int ctas;
	Budget is;
} shares[] = {
#define BUDGET(warpgroups, busy, ctas, producer, consumer) \
	{warpgroups, busy, ctas, {producer, consumer, (consumer) ? (consumer) : MOST_REGS}},
#include "passes/budgets.def"
};

static bool leaves_two_ways(const Kernel *k)
{
	for (const Op *map = kernel_find(k, OP_TMAP); map; map = op_find_next(map, OP_TMAP))
		if (map->nsym)
			return true;
	return false;
}

/* Registers of a consumer beside the accumulator. */
static int registers_beside(const Kernel *k)
{
	bool divides = kernel_find(k, OP_DIV) || kernel_find(k, OP_SQRT);
	return OVERHEAD + (leaves_two_ways(k) ? TWO_WAYS : 0) + (divides ? DIVIDES : 0);
}

/* Whether a producer holds indices, by which it computes in each iteration where rows lie. */
static bool is_busy(const Kernel *k)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op_is_atom(op) && op_fills_shared(op) && tile_indices(IN(op, FROM).val))
			return true;
	return false;
}

static Budget budget_shared(Kernel *k, int warpgroups, int needed)
{
	const Attr *cluster = attrs_get(&k->attrs, A_CLUSTER);
	int64_t ctas = cluster ? cluster->i[0] * cluster->i[1] : 1; /* that share loads */
	const struct Share *refused = NULL;
	for (const struct Share *s = shares; s < shares + COUNTOF(shares); s++) {
		if (s->warpgroups != warpgroups || ctas < s->ctas || (s->busy && !is_busy(k)))
			continue;
		if (refused && !refused->busy)
			why_few_registers(k, refused->is.consumer, needed);
		if (needed <= s->is.limit)
			return s->is;
		refused = s;
	}
	if (refused)
		return refused->is;
	diag(k->ctx, k->loc, D_E0402, "no registers are shared among %d warpgroups that consume",
	     warpgroups);
	return (Budget){0};
}

static Budget budget_cooperative(Kernel *k, int warpgroups, int tiles)
{
	const Attr *given = attrs_get(&k->attrs, A_ROLE_REGS);
	if (given)
		return (Budget){(int)given->i[0], (int)given->i[1], (int)given->i[1]};
	return budget_shared(k, warpgroups, tiles + registers_beside(k));
}

static int budget_alike(const Kernel *k, int threads)
{
	return kernel_entry_regs(k, threads);
}

/* Threads of several CTAs of an SM begin with few registers, and ptxas may give a consumer no more
 * than these: nothing is moved unless the schedule says how many. */
static bool moves_registers(const Kernel *k)
{
	return target_has(k->target, FT_SETMAXNREG) &&
	       (kernel_ctas(k) == 1 || attrs_get(&k->attrs, A_ROLE_REGS));
}

/* The row of the table that leaves the most, or what the schedule says. */
static int most_moved(const Kernel *k, int warpgroups)
{
	const Attr *given = attrs_get(&k->attrs, A_ROLE_REGS);
	int most = 0;
	for (const struct Share *s = shares; s < shares + COUNTOF(shares); s++)
		if (s->warpgroups == warpgroups && s->is.limit > most)
			most = s->is.limit;
	return given ? (int)given->i[1] : most;
}

int registers_of_tiles(const Kernel *k, TiledMma t)
{
	int warpgroups = kernel_pingpong(k) ? TURNS : tiled_mma_warpgroups(t);
	bool moved = kernel_has_roles(k) && moves_registers(k);
	int all = moved ? most_moved(k, warpgroups) : budget_alike(k, warpgroups * GROUP_THREADS);
	return all - OVERHEAD;
}

static const char *what_shares(const Kernel *k)
{
	int ctas = kernel_ctas(k);
	return ctas > 1 ? ctx_strf(k->ctx, " to each of %d CTAs of an SM", ctas) : "";
}

static const char *what_beside(Needs n)
{
	if (!n.a && !n.b)
		return n.read ? "with what the epilogue reads " : "";
	return n.read ? "with the mma's operands and what the epilogue reads "
		      : "with the mma's operands ";
}

/* The most columns that fit. What is read in chunks does not grow with the tile, nor does A. */
static int most_columns(TiledMma t, Needs n, int limit)
{
	int free = limit - OVERHEAD - n.a - (n.read < n.acc ? n.read : 0), each = n.acc + n.b;
	each += n.read < n.acc ? 0 : n.read;
	int columns = t.n * free / each / 8 * 8;
	return columns < t.n ? columns : t.n - 8;
}

/* Which value is in the way, beside the accumulators. */
static void say_most(Kernel *k, DiagMsg *m, Needs n)
{
	enum { NOTABLE = 4 /* an accumulator of so many registers to one */ };
	int regs;
	const char *from = n.most ? needs_most(k, n, &regs) : NULL;
	if (!from || regs * NOTABLE < n.acc)
		return;
	diag_note(k->ctx, m, n.most->loc, "%d of them hold what is read here of '%s' at a time",
		  regs, from);
}

/* Whether as many warpgroups share out the rows of all tiles, and have room for them. */
static bool groups_fit(Kernel *k, Needs n, int groups, int more)
{
	int room = 0;
	for (const struct Share *s = shares; s < shares + COUNTOF(shares); s++)
		room = s->warpgroups == more && s->is.limit > room ? s->is.limit : room;
	for (const Op *mma = kernel_mma(k, NULL); mma; mma = kernel_mma(k, mma)) {
		TiledMma t = op_tiled_mma(k->ctx, mma);
		if (t.m % (t.rows * more))
			return false;
	}
	return needs_all(n) * groups / more + OVERHEAD <= room;
}

static void too_many(Kernel *k, Loc loc, Needs n, int limit, int groups, const char *what,
		     const char *remedy)
{
	DiagMsg *m = diag(k->ctx, loc, D_E0402,
			  "%s %stake%s %d registers a thread on %d warpgroup%s; with %d for "
			  "addresses that is more than the %d available%s\n%s",
			  what, what_beside(n), n.tiles > 1 ? "" : "s", needs_all(n), groups,
			  groups > 1 ? "s" : "", OVERHEAD, limit, what_shares(k), remedy);
	say_most(k, m, n);
}

/* Of several tiles none is the one to blame. */
static void too_many_tiles(Kernel *k, TiledMma t, Loc loc, Needs n, int limit)
{
	int groups = tiled_mma_warpgroups(t);
	const char *or = "";
	if (kernel_pingpong(k))
		or = ", or roles cooperative: under pingpong each warpgroup multiplies a whole one";
	else if (groups_fit(k, n, groups, groups + 1))
		or = ctx_strf(k->ctx, ", or more warpgroups: * (%d,1,1)", (groups + 1) * t.warps);
	too_many(k, loc, n, limit, groups, ctx_strf(k->ctx, "the %d tiles in registers", n.tiles),
		 ctx_strf(k->ctx, "take smaller tiles%s", or));
}

/* A row that is reduced has to be one of a narrower tile, too. */
static const char *in_parts(const Kernel *k)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op->kind == OP_REDUCE && val_extent(op->out, 1) == 1)
			return ", and declare modes whose tiles are reduced in parts of as many: "
			       "(bN,T)";
	return "";
}

static void too_large_tile(Kernel *k, TiledMma t, Loc loc, Needs n, int limit)
{
	int groups = tiled_mma_warpgroups(t), columns = most_columns(t, n, limit);
	const char *remedy;
	if (columns <= 0)
		remedy = ctx_strf(k->ctx, "no tile of %d rows fits: take fewer", t.m);
	else if (n.read && n.b) /* other columns may be read, and leave, in other ways */
		remedy = ctx_strf(k->ctx, "take a tile of fewer columns%s", in_parts(k));
	else if (n.read < n.acc)
		remedy = ctx_strf(k->ctx, "the largest tile of %d rows that fits is %d x %d", t.m,
				  t.m, columns);
	else /* a smaller tile may leave by other ways, and take less */
		remedy = ctx_strf(k->ctx, "a tile of %d x %d fits", t.m, columns);
	too_many(k, loc, n, limit, groups, ctx_strf(k->ctx, "the accumulator of %d x %d", t.m, t.n),
		 remedy);
}

static void check_registers(Kernel *k, TiledMma t, Loc loc, Needs n, int limit)
{
	if (needs_all(n) + OVERHEAD <= limit)
		return;
	if (n.tiles > 1)
		too_many_tiles(k, t, loc, n, limit);
	else
		too_large_tile(k, t, loc, n, limit);
}

/* setmaxnreg: multiples of 8 from 24 to 256, and what all warps hold is what they began with: the
 * pool of a CTA has what its warps gave back, not what is left of the SM. PTX ISA: setmaxnreg */
static void check_given(Kernel *k, Budget b, int warpgroups, Loc loc)
{
	int group = GROUP_THREADS, threads = group * (warpgroups + 1);
	int total = (b.producer + b.consumer * warpgroups) * group;
	int entry = budget_alike(k, threads);
	if (!b.producer)
		return;
	if (b.producer % 8 || b.consumer % 8 || b.producer < 24 || b.consumer > 256 ||
	    b.consumer < 24)
		diag(k->ctx, loc, D_E0402,
		     "setmaxnreg takes multiples of 8 from 24 to 256, not %d and %d", b.producer,
		     b.consumer);
	else if (total > entry * threads || b.producer > entry || b.consumer < entry)
		diag(k->ctx, loc, D_E0402,
		     "%d registers for the producer's warpgroup and %d for %d consumer warpgroup%s "
		     "are %d a thread and warpgroup, and %d threads begin with %d each",
		     b.producer, b.consumer, warpgroups, warpgroups > 1 ? "s" : "", total / group,
		     threads, entry);
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
		if (is_program(op))
			block_append(&b, op);
	}
	return b;
}

/* Only a whole warpgroup gives registers to others: without that, as many warps as load. */
static int producer_warps(Kernel *k)
{
	return moves_registers(k) ? GROUP_WARPS : loading_warps(k);
}

static void cooperative(Kernel *k, int warpgroups, Budget b)
{
	int warps = GROUP_WARPS * warpgroups, loading = producer_warps(k);
	Block body = program(k);
	Op *producer =
		role_new(k, "producer", warps, loading, 1, b.producer ? b.producer : b.limit);
	move_registers(k, producer, b.producer, false);
	put_loaders(k, producer, &body);
	Op *consumer = role_new(k, "consumer", 0, warps, warps, b.consumer ? b.consumer : b.limit);
	move_registers(k, consumer, b.consumer, true);
	block_copy(k, &body, consumer->body, NULL, 0, is_consumers, NULL);
	kernel_int(k, A_BLOCK, (warps + loading) * WARP_THREADS);
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

static void alike(Kernel *k, int warps, int regs)
{
	Block body = program(k);
	Op *role = role_new(k, "main", 0, warps, warps, regs);
	block_copy(k, &body, role->body, NULL, 0, NULL, NULL);
	load_by_all(k, role, warps);
	kernel_int(k, A_BLOCK, warps * WARP_THREADS);
}

static bool check_schedule(Kernel *k, const Op *mma)
{
	if (!mma && kernel_has_roles(k))
		diag(k->ctx, k->loc, D_E0407,
		     "roles %s split loads from an mma, and kernel %s has none\n"
		     "write: roles none;",
		     attrs_str(&k->attrs, A_ROLES, ""), k->name);
	else if (kernel_pingpong(k) && !attrs_int(&k->attrs, A_PERSISTENT, 0))
		diag(k->ctx, k->loc, D_E0407,
		     "pingpong without persistent: with one tile a CTA there are no turns\n"
		     "write: roles pingpong; persistent;");
	return !pass_failed(k);
}

static bool check_threads(Kernel *k, int threads, Loc loc)
{
	const Target *t = target_by_name(k->target);
	int ctas = kernel_ctas(k);
	if (threads > t->max_threads)
		diag(k->ctx, loc, D_E0402, "%d threads are more than the %d of a CTA", threads,
		     t->max_threads);
	else if (ctas * threads > t->sm_threads)
		diag(k->ctx, loc, D_E0402,
		     "%d CTAs of %d threads are more than the %d threads of an SM\n"
		     "ctas %d fits",
		     ctas, threads, t->sm_threads, t->sm_threads / threads);
	return !pass_failed(k);
}

/* The mma whose tile takes the most registers: what is said of too many is said of it. */
static const Op *largest_mma(const Kernel *k)
{
	const Op *most = NULL;
	for (const Op *mma = kernel_mma(k, NULL); mma; mma = kernel_mma(k, mma))
		if (!most || needs_of_mma(mma) > needs_of_mma(most))
			most = mma;
	return most;
}

/* Where that many are not left, results that TMA does not take leave element by element. */
static void few_registers(Kernel *k, int tiles, int limit)
{
	int64_t spilled = attrs_int(&k->attrs, A_THRIFT, 0);
	bool narrower = spilled == 1 && !attrs_get(&k->attrs, A_SUBTILE); /* chunks, first */
	if ((!spilled || narrower) && tiles + registers_beside(k) <= limit)
		return;
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		const CopyRow *one = copy_row_with(op->kind, 0);
		if (one && one != copy_row_of(op->kind))
			op_int(k, op, A_N, 1);
	}
}

/* As many threads as the tiles are spread over. */
static void without_mma(Kernel *k)
{
	int threads = (int)attrs_int(&k->attrs, A_BLOCK, 0), tiles = needs_all(needs_of(k));
	if (threads < WARP_THREADS) {
		diag(k->ctx, k->loc, D_E0407,
		     "kernel %s multiplies nothing, and nothing says how many threads it has\n"
		     "write block=128 after the kernel's name",
		     k->name);
		return;
	}
	if (!check_threads(k, threads, k->loc))
		return;
	int limit = budget_alike(k, threads);
	why_registers(k, 0, limit, tiles, registers_beside(k));
	few_registers(k, tiles, limit);
	alike(k, threads / WARP_THREADS, limit);
}

static void with_mma(Kernel *k, const Op *mma)
{
	TiledMma t = op_tiled_mma(k->ctx, mma);
	bool turns = kernel_pingpong(k);
	bool split = kernel_has_roles(k);
	int warpgroups =
		turns ? TURNS : tiled_mma_warpgroups(t); /* tile/expected.c: of every mma */
	Needs needs = needs_of(k);
	int tiles = needs_all(needs);
	int threads = warpgroups * GROUP_THREADS + (split ? producer_warps(k) * WARP_THREADS : 0);
	if (!check_threads(k, threads, mma->loc))
		return;
	Budget b = budget_cooperative(k, warpgroups, tiles);
	if (!split || !moves_registers(k))
		b = (Budget){0, 0, budget_alike(k, threads)};
	/* ptxas holds a single instruction to what threads begin with. */
	if (tiled_mma_registers(t) + OVERHEAD > budget_alike(k, threads))
		b.limit = budget_alike(k, threads);
	why_registers(k, b.producer, b.consumer ? b.consumer : b.limit, tiles, registers_beside(k));
	check_given(k, b, warpgroups, k->loc);
	needs.read = needs.live < needs.read ? needs.live : needs.read; /* no room for more */
	check_registers(k, t, needs.mma ? needs.mma->loc : mma->loc, needs, b.limit);
	if (pass_failed(k))
		return;
	few_registers(k, tiles, b.limit);
	if (turns)
		pingpong(k, b);
	else if (split)
		cooperative(k, warpgroups, b);
	else
		alike(k, warpgroups * GROUP_WARPS, b.limit);
}

PASS_OF(roles)
{
	const Op *mma = largest_mma(k);
	if (!check_schedule(k, mma))
		return;
	if (mma)
		with_mma(k, mma);
	else
		without_mma(k);
	kernel_sweep(k);
}
