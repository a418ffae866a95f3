/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* beside.c - `copies beside`: where TMA cannot take an operand as it lies, the launcher copies
 * ahead of the kernel the rows that the first tiles read; warps of the producer's that load nothing
 * copy the others while tiles are computed, and who loads rows waits until they are there.
 *     role producer { if (warp == 8) { for t { let m .. ; for k { load.tma %sA, %a, %A.map } } } }
 * ->  role producer {
 *       if (warp == 8) {
 *         for t { let m .. ; rest.wait %A.map (m * 128, m * 128 + 128) ; for k { load.tma .. } } }
 *       if (9 <= warp) { rest.copy %A.map (1024) } }
 * How many are ahead decides only who copies what: about a square of tiles is computed first, as
 * their order has it. Which rows a warp copies, it draws, so all are copied if any CTA runs. */
#include "ir/schedule.h"
#include "passes/tiles.h"

#include <string.h>

enum { REGISTERS = 56 /* of a thread that copies: codegen/rest_copy.ptx */ };

typedef struct {
	Kernel *k;
	Op *producer;
	int64_t group; /* tiles of a cluster each, along the mode that is grouped */
	int64_t swept; /* those beside each other along the other, that run at one time */
	bool along_n;  /* the mode that is grouped */
} Beside;

static void refuse(Kernel *k, const char *why, const char *remedy)
{
	diag_remedy(k->ctx, diag(k->ctx, k->loc, D_E0407, "copies beside: %s", why), "%s", remedy);
}

/* ------------------------------------------------------------------ which rows */
/* The mode of the tensor that rows of a copy lie along; -1: it has no such, or more. Whose data is
 * constant is read before the copies are known to be there. */
static int rows_of(const Kernel *k, const Op *load)
{
	const Op *map = load->in[2].val->def;
	const Val *tensor = load->in[1].val->def->in[0].val, *arg = map->in[0].val;
	ModeList modes = layout_map_modes(arg->type->layout);
	const Arg *a = &k->args.at[arg->arg];
	bool copied = !map->nsym && !a->is_out && !attrs_get(&map->attrs, A_RAGGED);
	return copied && !a->is_constant && tensor == arg && modes.n == 2 ? modes.at[1] : -1;
}

/* Behind the tile's last row. */
static const Ix *end_of(const Kernel *k, const Op *load, int mode)
{
	const Val *tile = load->in[1].val;
	return ix_add(k->ctx, tile->def->ix[mode], ix_int(k, val_extent(tile, mode)));
}

/* Before the loops in which the rows are the same; the load: there is none. */
static Op *place_of_wait(Op *load, const Ix *end)
{
	Op *at = load;
	for (Op *up = op_parent(at); up && up->kind == OP_FOR && op_leaves(up, end);
	     up = op_parent(at))
		at = up;
	return at;
}

/* ------------------------------------------------------------------ how many are ahead */
/* Whether rows of the buffer are rows of B: columns of the output. */
static bool is_along_n(const Kernel *k, const Val *buffer)
{
	bool swapped = attrs_int(&k->attrs, A_SWAP, 0);
	for (const Op *mma = kernel_mma(k, NULL); mma; mma = kernel_mma(k, mma))
		for (int i = 1; i <= 2; i++)
			if (mma->in[i].val == buffer)
				return (i == 2) != swapped;
	return false;
}

/* Rows of a tile's operand that a cluster reads. */
static int64_t side(const Kernel *k, const Op *load, int mode)
{
	const Attr *cluster = attrs_get(&k->attrs, A_CLUSTER);
	bool n = is_along_n(k, load->in[0].val);
	return val_extent(load->in[1].val, mode) * (cluster ? cluster->i[n] : 1);
}

static int64_t rows_ahead(const Beside *b, const Op *load, int mode)
{
	bool n = is_along_n(b->k, load->in[0].val);
	return side(b->k, load, mode) * (n == b->along_n ? b->group : b->swept);
}

/* As tiles.c orders them. */
static void first_tiles(Beside *b, int64_t side_m, int64_t side_n)
{
	Kernel *k = b->k;
	int ctas = kernel_cluster_ctas(k);
	int64_t at_once = target_by_name(k->target)->sms * kernel_ctas(k) / ctas;
	int64_t begun = at_once * (kernel_pingpong(k) ? TURNS : 1);
	b->along_n = !strcmp(attrs_str(&k->attrs, A_ALONG, "m"), "n");
	b->group = attrs_int(&k->attrs, A_GROUP, 0);
	if (!b->group)
		b->group = tiles_square(at_once, b->along_n ? side_n : side_m,
					b->along_n ? side_m : side_n);
	b->swept = (begun + b->group - 1) / b->group;
}

/* ------------------------------------------------------------------ who copies, who waits */
static void put_copy(Beside *b, Op *warps, const Op *load, int mode)
{
	for (Op *op = warps->body ? warps->body->first : NULL; op; op = op->next)
		if (op->in[0].val == load->in[2].val)
			return;
	Op *copy = op_append(b->k, op_body(b->k, warps), OP_REST_COPY, load->loc);
	op_in(b->k, copy, load->in[2].val, NULL);
	op_ix(b->k, copy, ix_int(b->k, rows_ahead(b, load, mode)));
}

static void put_wait(Beside *b, Op *load, int mode)
{
	const Ix *end = end_of(b->k, load, mode);
	const Val *tile = load->in[1].val;
	Op *wait = op_before(b->k, place_of_wait(load, end), OP_REST_WAIT);
	wait->loc = load->loc;
	op_in(b->k, wait, load->in[2].val, NULL);
	op_ix(b->k, wait, tile->def->ix[mode]);
	op_ix(b->k, wait, end);
}

static bool is_load(const Beside *b, const Op *op, int *mode)
{
	bool boxes = op_done_by(op, DONE_BY_BARRIER) && op_is_atom(op) && !op_loads_rows(op);
	*mode = boxes && op_inside(op, b->producer) ? rows_of(b->k, op) : -1;
	return *mode >= 0 && place_of_wait((Op *)(uintptr_t)op, end_of(b->k, op, *mode)) != op;
}

/* Those of a mode, in the order of the program. */
static void copies_along(Beside *b, Op *warps, bool n)
{
	int mode;
	for (Op *op = kernel_first(b->k); op; op = op_next(op))
		if (is_load(b, op, &mode) && is_along_n(b->k, op->in[0].val) == n)
			put_copy(b, warps, op, mode);
}

static void waits(Beside *b)
{
	int mode;
	for (Op *op = kernel_first(b->k); op; op = op_next(op))
		if (is_load(b, op, &mode))
			put_wait(b, op, mode);
}

/* The role's warps from that one on. */
static Op *idle_warps(Beside *b, int64_t first)
{
	Ctx *c = b->k->ctx;
	Op *only = op_append(b->k, b->producer->body, OP_IF, b->producer->loc);
	op_ix(b->k, only, ix_new(c, IX_LE, ix_int(b->k, first), ix_sym(c, "warp")));
	return only;
}

/* Of the operand along that mode; 1: none is loaded. */
static int64_t side_along(const Beside *b, bool n)
{
	int mode;
	for (const Op *op = kernel_first(b->k); op; op = op_next(op))
		if (is_load(b, op, &mode) && is_along_n(b->k, op->in[0].val) == n)
			return side(b->k, op, mode);
	return 1;
}

/* What the tiles of the first sweep have in common is needed longest by them alone, and the other
 * operand's rows first. */
static void put_copies(Beside *b, int64_t first)
{
	first_tiles(b, side_along(b, false), side_along(b, true));
	Op *warps = idle_warps(b, first);
	copies_along(b, warps, !b->along_n);
	copies_along(b, warps, b->along_n);
	if (warps->body && warps->body->first)
		waits(b);
	else
		refuse(b->k,
		       "no operand is loaded by tma in tiles of whole rows that lie along k, of a "
		       "tensor of two modes that is not constant",
		       "leave copies out");
}

void pass_beside(Kernel *k)
{
	Beside b = {.k = k, .producer = kernel_find(k, OP_ROLE)};
	if (!schedule_copies_beside(k))
		return;
	if (!b.producer || !op_find_next(b.producer, OP_ROLE)) {
		refuse(k, "all warps compute, so none is left to copy",
		       "write: roles cooperative; or leave copies out");
		return;
	}
	const Attrs *role = &b.producer->attrs;
	int64_t active = attrs_int(role, A_ACTIVE, 0), regs = attrs_int(role, A_REGS, 0);
	if (regs < REGISTERS)
		refuse(k,
		       ctx_strf(
			       k->ctx,
			       "a warp that copies takes %d registers a thread, and the producer's "
			       "have %d beside such accumulators",
			       REGISTERS, (int)regs),
		       "take smaller tiles, or leave copies out");
	else if (active == attrs_int(role, A_WARPS, 0))
		refuse(k, "all warps of the producer load, so none is left to copy",
		       "leave copies out");
	else
		put_copies(&b, attrs_int(role, A_FIRST, 0) + active);
}
