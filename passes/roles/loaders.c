/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* loaders.c - which warps load. What one thread issues, one lane of a warp does for each ring; what
 * all lanes issue, whole warps do, as many as share out each tile, and one lane of theirs what one
 * thread issues for the same ring.
 *     load.tma %sA[k]; load.async %sB[k]; load.tma %sD[k]
 * ->  if (8 <= warp, warp < 10) { load.tma %sA[k]; load.async %sB[k] first=8 warps=2 }
 *     if (warp == 10) { elect { load.tma %sD[k] } } */
#include "passes/roles/loaders.h"
#include "passes/atoms/units.h"

#include <string.h>

/* Rings that lanes fill, or that they do not. Of the first `parts` several warps issue parts of the
 * loads, and this one those alone. */
typedef struct {
	VEC(const char *) of;
	int parts;
} Loads;

static bool fills_by_lanes(const Op *op, const char *ring)
{
	return op_fills(op, ring) && op_done_by(op, DONE_BY_LANES);
}

/* What fills one of the rings, and what says where from. */
static bool is_loader(void *loads, const Op *op)
{
	const Loads *l = loads;
	bool some = false;
	for (int i = 0; i < l->of.n; i++)
		some |= op_fills(op, l->of.at[i]) && (i >= l->parts || op_loads_rows(op));
	return some || (op_rows[op->kind].flags & (OPF_PURE | OPF_SYMS | OPF_EACH));
}

static bool block_fills(const Block *b, const char *ring,
			bool (*how)(const Op *op, const char *ring))
{
	for (const Op *op = b->first; op; op = op->next)
		if (how(op, ring) || (op->body && block_fills(op->body, ring, how)))
			return true;
	return false;
}

static Loads loads_of(Kernel *k, const Block *body, bool lanes)
{
	Loads all = {0};
	for (Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING))
		if (block_fills(body, ring->sym[0], op_fills) &&
		    block_fills(body, ring->sym[0], fills_by_lanes) == lanes)
			vec_push(ctx_arena(k->ctx), &all.of, ring->sym[0]);
	return all;
}

/* Lanes tell the CTAs that wait for them, one each. */
static bool is_told_cluster(const Kernel *k, const Block *b)
{
	bool told = false;
	for (const Op *op = b->first; op && op_inside(op, b->owner) && !told; op = op_next(op))
		if (op_rows[op->kind].flags & OPF_EACH)
			told = attrs_get(&kernel_ring(k, attrs_str(&IN(op, FROM).val->def->attrs,
								   A_RING, ""))
						  ->attrs,
					 A_FROM);
	return told;
}

/* The first op of what one lane can do by itself: all of it, or what follows those that give names
 * to a turn of a loop and take a whole warp. */
static Op *behind_names(const Kernel *k, const Block *b)
{
	Op *first = b->first;
	for (Op *op = b->first; op && op_inside(op, b->owner); op = op_next(op))
		if (op_is_of_groups(op) || (op->kind == OP_TICKET_AT && is_told_cluster(k, b)))
			first = op->next;
	while (first && op_only_names(first) && first != b->first)
		first = first->next;
	return first;
}

/* It and what follows it in its block, but for what all lanes of a loop are told. */
static void by_one_lane(Kernel *k, Op *first, Loc loc)
{
	Op *elect = op_before(k, first, OP_ELECT);
	elect->loc = loc;
	for (Op *next; first && !(op_rows[first->kind].flags & OPF_EACH); first = next) {
		next = first->next;
		block_append(op_body(k, elect), first);
	}
}

static void set_share(Kernel *k, Block *b, int share, int warps)
{
	for (Op *op = b->first; op; op = op->next) {
		if (op->body)
			set_share(k, op->body, share, warps);
		if (!op_loads_rows(op) || warps == 1)
			continue;
		op_int(k, op, A_SHARE, share);
		op_int(k, op, A_WARPS, warps);
	}
}

/* Warp `share` of so many that fill the first of the rings. */
static void loader(Kernel *k, Op *producer, const Block *body, int64_t warp, Loads *loads,
		   int share, int warps)
{
	Op *only = op_append(k, producer->body, OP_IF, producer->loc);
	op_ix(k, only, ix_new(k->ctx, IX_EQ, ix_sym(k->ctx, "warp"), ix_int(k, warp)));
	loads->parts = share > 0;
	block_copy(k, body, op_body(k, only), NULL, 0, is_loader, loads);
	set_share(k, only->body, share, warps);
	by_one_lane(k, behind_names(k, only->body), producer->loc);
}

/* The most rows by indices that a CTA issues for the ring at a time; 1: none. */
static int64_t most_rows(const Block *body, const char *ring)
{
	int64_t most = 1;
	for (const Op *op = body->first; op; op = op->next) {
		int64_t rows = op->body ? most_rows(op->body, ring) : 1;
		if (op_loads_rows(op) && op_fills(op, ring))
			rows = rows_issued(op);
		most = rows > most ? rows : most;
	}
	return most;
}

/* Rings of rows before the others, which then get what warps are left. */
static void rows_first(const Block *body, Loads *all)
{
	int rows = 0;
	for (int i = 0; i < all->of.n; i++) {
		const char *ring = all->of.at[i];
		if (most_rows(body, ring) == 1)
			continue;
		memmove(all->of.at + rows + 1, all->of.at + rows, sizeof ring * (size_t)(i - rows));
		all->of.at[rows++] = ring;
	}
}

/* How many warps fill the ring, a power of 2 that shares out its rows: as many as other rings
 * leave, and no fewer than hold the indices. */
static int ring_warps(const Block *body, const char *ring, int left, int others)
{
	int64_t rows = most_rows(body, ring);
	int warps = 1;
	while (2 * warps <= left && rows % ((int64_t)2 * warps) == 0 &&
	       (2 * warps <= left - others || rows > (int64_t)INDICES_MOST * warps))
		warps *= 2;
	return warps;
}

/* Each ring is filled by one lane of a warp of its own, or of several: none waits for the slots of
 * another. Where there are more, the last warp fills the rest in the order of the program, in which
 * no fill waits for a later one. Returns how many warps. */
static int loaders(Kernel *k, Op *producer, const Block *body, Loads all, int before)
{
	int64_t first = attrs_int(&producer->attrs, A_FIRST, 0) + before;
	int warps = 0, most = GROUP_WARPS - before;
	rows_first(body, &all);
	for (int i = 0, n = 1; i < all.of.n; i += n) {
		int own = ring_warps(body, all.of.at[i], most - warps, all.of.n - i - 1);
		for (int w = 0; w < own; w++, warps++) {
			n = warps == most - 1 ? all.of.n - i : 1;
			Loads some = {.of = {.at = all.of.at + i, .n = n}};
			loader(k, producer, body, first + warps, &some, w, own);
		}
	}
	return warps;
}

/* What the threads share out alike: units, and where rows have indices, rows of one swizzle. */
static int64_t to_share(const Kernel *k, const Op *op)
{
	Units u = units_of(k, op);
	return tile_indices(IN(op, FROM).val) ? u.f.rows * u.row : u.units;
}

/* Of at most so many warps, as many as share out every tile that threads load: a power of 2. */
static int lane_warps(const Kernel *k, const Block *body, int most)
{
	int warps = 1;
	while (2 * warps <= most)
		warps *= 2;
	for (const Op *op = body->first; op; op = op->next) {
		if (op->body)
			warps = lane_warps(k, op->body, warps);
		if (!op_fills_shared(op) || !op_done_by(op, DONE_BY_LANES))
			continue;
		int64_t units = to_share(k, op);
		while (warps > 1 && units % ((int64_t)warps * WARP_THREADS))
			warps /= 2;
	}
	return warps;
}

static void set_warps(Kernel *k, Block *b, int64_t first, int warps)
{
	for (Op *op = b->first; op; op = op->next) {
		if (op->body)
			set_warps(k, op->body, first, warps);
		if (!op_fills_shared(op) || !op_done_by(op, DONE_BY_LANES))
			continue;
		op_int(k, op, A_FIRST, first);
		op_int(k, op, A_WARPS, warps);
	}
}

/* Of what all lanes load, where so many rings are others'; 0: there is nothing. */
static int warps_of_lanes(Kernel *k, const Block *body, int others)
{
	int most = others < GROUP_WARPS ? GROUP_WARPS - others : 1;
	return loads_of(k, body, true).of.n ? lane_warps(k, body, most) : 0;
}

int loading_warps(Kernel *k)
{
	Loads all = loads_of(k, &k->body, false);
	int alone = all.of.n, warps = alone + warps_of_lanes(k, &k->body, alone);
	for (int i = 0; i < all.of.n; i++)
		if (most_rows(&k->body, all.of.at[i]) > 1)
			return GROUP_WARPS;
	return warps < GROUP_WARPS ? warps : GROUP_WARPS;
}

/* What all lanes load, whole warps do, in program order with the rest of these rings. */
static int lane_loaders(Kernel *k, Op *producer, const Block *body, int others)
{
	Ctx *c = k->ctx;
	Loads all = loads_of(k, body, true);
	int warps = warps_of_lanes(k, body, others);
	if (!warps)
		return 0;
	int64_t first = attrs_int(&producer->attrs, A_FIRST, 0);
	Op *only = op_append(k, producer->body, OP_IF, producer->loc);
	op_ix(k, only, ix_new(c, IX_LE, ix_int(k, first), ix_sym(c, "warp")));
	op_ix(k, only, ix_new(c, IX_LT, ix_sym(c, "warp"), ix_int(k, first + warps)));
	block_copy(k, body, op_body(k, only), NULL, 0, is_loader, &all);
	set_warps(k, only->body, first, warps);
	return warps;
}

void put_loaders(Kernel *k, Op *producer, const Block *body)
{
	Loads alone = loads_of(k, body, false);
	int warps = lane_loaders(k, producer, body, alone.of.n);
	warps += loaders(k, producer, body, alone, warps);
	op_int(k, producer, A_ACTIVE, warps);
}

void load_by_all(Kernel *k, Op *role, int warps)
{
	if (loads_of(k, role->body, true).of.n && lane_warps(k, role->body, warps) != warps)
		diag(k->ctx, k->loc, D_E0407,
		     "%d warps do not share out what threads load: each takes as much\n"
		     "write roles cooperative, in which warps of their own load",
		     warps);
	set_warps(k, role->body, 0, warps);
}
