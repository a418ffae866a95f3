/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* split.c - the loop over k is cut into parts, one for each of the CTAs that have the same tile.
 * All parts are equally long: what lies after the last column of an operand is loaded as zeros, so
 * CTAs that share loads make the same loops.
 *     for k (0, T) { .. tile %A (m, k * 64) .. mma %acc, .. }
 * ->  let trips ((T + 3) / 4)  let first (rank * trips)
 *     for k (0, trips) { .. tile %A (m, min(first + k, T) * 64) .. mma %acc, .. }
 *     sum.parts %acc
 * After the loop only the sums may differ from part to part: what else a loop carries cannot be
 * split, and is refused. */
#include "ir/schedule.h"
#include "passes/epilogue/split_owners.h"

enum { BEYOND = 1 << 21 /* columns that parts may lie after the last */ };

int64_t split_parts(const Kernel *k)
{
	return attrs_int(&k->attrs, A_SPLIT_K, 1);
}

int64_t split_tiles(const Kernel *k)
{
	const Attr *cluster = attrs_get(&k->attrs, A_CLUSTER);
	return cluster ? cluster->i[0] * cluster->i[1] : 1;
}

bool split_by_workspace(const Kernel *k)
{
	return split_parts(k) > 1 && schedule_by_workspace(k);
}

static bool refuse(Kernel *k, Loc loc, const char *why, const char *remedy)
{
	diag(k->ctx, loc, D_E0407,
	     "split_k %d: %s\n"
	     "%s",
	     (int)split_parts(k), why, remedy);
	return false;
}

/* ------------------------------------------------------------------ which loop */
/* The loop in which all products stand; NULL after an error. */
static Op *loop_over_k(Kernel *k)
{
	static const char whole[] = "leave split_k out";
	Op *loop = NULL;
	for (const Op *mma = kernel_mma(k, NULL); mma; mma = kernel_mma(k, mma)) {
		Op *own = NULL;
		for (Op *up = op_parent(mma); up; up = op_parent(up))
			if (up->kind == OP_FOR && !loop_is_of_tiles(k, up))
				own = up;
		if (!own) {
			refuse(k, mma->loc, "the mma stands in no loop over k", whole);
			return NULL;
		}
		if (loop && loop != own) {
			refuse(k, mma->loc, "there are products in two loops", whole);
			return NULL;
		}
		loop = own;
	}
	if (!loop)
		refuse(k, k->loc, "the kernel has no mma, whose sum over k could be split", whole);
	return loop;
}

/* Each iteration would write its tile in one CTA, but what was added up there is a part of k. */
static bool writes_nothing(Kernel *k, const Op *loop)
{
	for (const Op *op = loop; op && op_inside(op, loop); op = op_next(op))
		if (op->kind == OP_COPY && IN(op, TO).val->type->space == SP_GLOBAL)
			return refuse(k, op->loc,
				      ctx_strf(k->ctx, "%s is written in the loop over k",
					       tensor_arg(IN(IN(op, TO).val->def, OF).val)->name),
				      "leave split_k out");
	return true;
}

/* Whether the loop of the name goes over so many: the split one by itself, or one in it by groups.
 */
static bool goes_over(const Kernel *k, const Op *loop, const Op *at, const char *name,
		      const Ix *trips)
{
	Ctx *c = k->ctx;
	IxFacts facts = kernel_facts(k);
	for (const Op *in = op_parent(at); in && in != loop; in = op_parent(in)) {
		int64_t n;
		if (in->kind != OP_FOR || in->sym[0] != name)
			continue;
		const Ix *first = ix_sym(c, loop->sym[0]);
		if (!ix_is_const(ix_simplify(c, ix_sub(c, IX(in, TO), IX(in, FROM)), facts), &n) ||
		    n < 1 || IX(in, FROM) != ix_mul(c, first, ix_int(k, n)))
			return false;
		trips = ix_ceil_div(c, trips, ix_int(k, n));
		name = loop->sym[0];
	}
	return name == loop->sym[0] &&
	       ix_is(ix_simplify(c, ix_sub(c, IX(loop, TO), trips), facts), 0);
}

/* What says where the group lies along that mode, of which the tile has a part; NULL: it is no
 * group's. */
static const Op *group_along(const Kernel *k, const Op *tile, int mode)
{
	const Op *at = kernel_find(k, OP_GROUPS_AT);
	while (at && IN(tile, OF).at != ix_sym(k->ctx, at->sym[1]))
		at = op_find_next(at, OP_GROUPS_AT);
	return at && tile_end_mode(k, tile->out) == mode ? at : NULL;
}

/* The mode of the tensor along which the tile goes with a loop, as n times its name, from the first
 * element of the tensor or the group on; -1: none. */
static int mode_along(const Kernel *k, const Op *tile, const char *name, int64_t *step)
{
	Ctx *c = k->ctx;
	int mode = -1;
	for (int m = 0; m < tile->nix; m++) {
		if (!ix_uses(tile->ix[m], name))
			continue;
		const Op *group = group_along(k, tile, m);
		const Ix *first = group ? ix_sym(c, group->sym[0]) : ix_int(k, 0);
		const Ix *at = ix_sub(c, tile->ix[m], first);
		const Ix *once = ix_subst(c, at, name, ix_int(k, 1));
		bool plain = mode < 0 && ix_is_const(once, step) && *step > 0 &&
			     at == ix_mul(c, ix_sym(c, name), ix_int(k, *step));
		if (!plain)
			return -1;
		mode = m;
	}
	return mode;
}

/* Whether the copy brings zeros in trips that the loop does not have. */
static bool ends_with_tensor(Kernel *k, const Op *loop, const Op *copy)
{
	const Op *tile = IN(copy, FROM).val->def;
	if (!tile || tile->kind != OP_TILE || HAS_IN(tile, INDEX))
		return false;
	const Layout *l = IN(tile, OF).val->type->layout;
	for (const Op *in = op_parent(copy); in; in = in == loop ? NULL : op_parent(in)) {
		int64_t step = 0;
		int mode = in->kind == OP_FOR ? mode_along(k, tile, in->sym[0], &step) : -1;
		if (mode < 0)
			continue;
		const Op *group = group_along(k, tile, mode);
		const Ix *all = tup_product(k->ctx, tup_get(l->shape, mode));
		const Ix *extent = group ? ix_sym(k->ctx, group->sym[2]) : all;
		const Ix *trips = ix_ceil_div(k->ctx, extent, ix_int(k, step));
		if (!goes_over(k, loop, copy, in->sym[0], trips))
			return false;
		kernel_syms_most(k, all, INT32_MAX - BEYOND);
		return true;
	}
	return false;
}

static bool goes_along(const Op *copy, const char *name)
{
	const Op *tile = IN(copy, FROM).val->def;
	bool along = false;
	for (int m = 0; tile && tile->kind == OP_TILE && !HAS_IN(tile, INDEX) && m < tile->nix; m++)
		along |= ix_uses(tile->ix[m], name);
	return along;
}

/* NULL: one of the factors is 0 there, and what the other loads on is no inf. Or what is wrong. */
static const Op *loads_behind(Kernel *k, const Op *loop, const Op *mma)
{
	const Op *wrong = mma;
	for (const Op *op = loop->body->first; op && op_inside(op, loop); op = op_next(op))
		for (int i = 1; i <= 2 && op->kind == OP_COPY; i++) {
			if (IN(op, TO).val != mma->in[i].val)
				continue;
			bool ends = ends_with_tensor(k, loop, op);
			if (!ends && goes_along(op, loop->sym[0]))
				return op;
			wrong = ends ? NULL : wrong;
		}
	return wrong;
}

/* ------------------------------------------------------------------ what the loop carries */
typedef enum { UNTOUCHED, OWN, SUM, CARRIED } Use;

static bool overwrites(const Op *op, const Val *v)
{
	return (op->kind == OP_FILL || op->kind == OP_COPY) && IN(op, TO).val == v;
}

/* The only op that uses the value; NULL: there are others. */
static const Op *only_use(const Kernel *k, const Val *v)
{
	const Op *use = NULL;
	for (const Op *op = kernel_first(k); op; op = op_next(op)) {
		if (!op_takes(op, v))
			continue;
		if (use)
			return NULL;
		use = op;
	}
	return use;
}

/* acc += .., by an mma or as `acc <- acc + x` */
static bool adds_to(const Kernel *k, const Op *op, const Val *acc)
{
	if (op_is_mma(op))
		return IN(op, TO).val == acc && IN(op, A).val != acc && IN(op, B).val != acc;
	if (op->kind == OP_COPY && IN(op, TO).val == acc) {
		const Op *sum = IN(op, FROM).val->def;
		return sum && sum->kind == OP_ADD && op_takes(sum, acc);
	}
	const Op *use =
		op->kind == OP_ADD && IN(op, X).val != IN(op, Y).val ? only_use(k, op->out) : NULL;
	return use && use->kind == OP_COPY && IN(use, TO).val == acc;
}

static bool is_zero_at_first(const Op *op)
{
	const Attr *value = op->kind == OP_FILL ? attrs_get(&op->attrs, A_VALUE) : NULL;
	return value && value->real == 0;
}

/* Sums of products of the trip alone: they begin at 0 in it. */
static bool is_of_trip(const Kernel *k, const Op *loop, const Val *frag)
{
	bool begun = false;
	for (const Op *op = loop->body->first; op && op_inside(op, loop); op = op_next(op)) {
		if (!op_takes(op, frag))
			continue;
		bool begins = op_parent(op) == loop && is_zero_at_first(op);
		bool writes = op_effect(op, 0) & FX_W && IN(op, TO).val == frag;
		if (writes && !begins && !(begun && adds_to(k, op, frag) && op_is_mma(op)))
			return false;
		begun |= begins;
	}
	return begun;
}

/* Whether the value is 0 in trips after the last tile: products that are, and their multiples. */
static bool is_zero_behind(const Kernel *k, const Op *loop, const Val *v)
{
	const Op *def = v->def;
	if (def->kind == OP_FRAG)
		return is_of_trip(k, loop, v);
	if (def->kind == OP_MUL)
		return is_zero_behind(k, loop, IN(def, X).val) ||
		       is_zero_behind(k, loop, IN(def, Y).val);
	return (def->kind == OP_CVT || def->kind == OP_NEG) &&
	       is_zero_behind(k, loop, IN(def, X).val);
}

/* Functions of floats that have a pole: of zeros, too. */
static bool has_pole(const Op *op)
{
	static const OpKind kinds[] = {OP_DIV, OP_SQRT, OP_RSQRT, OP_LOG, OP_LOG2, OP_POW};
	bool has = false;
	for (size_t i = 0; i < COUNTOF(kinds); i++)
		has |= op->kind == kinds[i];
	return has && elem_is_float(op->out->type->elem);
}

/* The first op that might add something to the sum in trips after the last tile. */
static const Op *adds_behind(const Kernel *k, const Op *loop, const Val *sum)
{
	for (const Op *op = loop->body->first; op && op_inside(op, loop); op = op_next(op)) {
		if (has_pole(op))
			return op;
		if (op->kind != OP_ADD || !op_takes(op, sum) || !adds_to(k, op, sum))
			continue;
		if (!is_zero_behind(k, loop, op->in[IN(op, X).val == sum].val))
			return op;
	}
	return NULL;
}

static bool used_behind(const Op *loop, const Val *v)
{
	for (const Op *op = loop->next; op; op = op_next(op))
		if (op_takes(op, v))
			return true;
	return false;
}

static Use use_in(const Kernel *k, const Op *loop, const Val *frag, const Op **where)
{
	bool written = false, sums = true, first = true, own = false;
	for (const Op *op = loop->body->first; op && op_inside(op, loop); op = op_next(op)) {
		if (!op_takes(op, frag))
			continue;
		own = first ? overwrites(op, frag) && !adds_to(k, op, frag) : own;
		first = false;
		for (int i = 0; i < op->nin; i++)
			written |= op->in[i].val == frag && op_effect(op, i) & FX_W;
		if (!adds_to(k, op, frag) && !own) {
			sums = false;
			*where = op;
		}
	}
	if (!written || (own && !used_behind(loop, frag)))
		return written ? OWN : UNTOUCHED;
	return sums && !own ? SUM : CARRIED;
}

static bool begins_at_zero(const Kernel *k, const Op *loop, const Val *acc)
{
	bool zero = false;
	for (const Op *op = kernel_first(k); op != loop; op = op_next(op))
		if (op_takes(op, acc))
			zero = is_zero_at_first(op);
	return zero;
}

/* ------------------------------------------------------------------ the cut */
static void shift(Kernel *k, const Op *loop, const char *name, const Ix *by)
{
	for (Op *op = loop->body->first; op && op_inside(op, loop); op = op_next(op))
		for (int i = 0; i < op->nix; i++)
			op->ix[i] = ix_subst(k->ctx, op->ix[i], name, by);
}

static void cut(Kernel *k, Op *loop)
{
	Ctx *c = k->ctx;
	const Ix *each = ix_ceil_div(c, IX(loop, TO), ix_int(k, split_parts(k)));
	const Ix *trips = op_let(k, loop, kernel_fresh(k, "trips"), each);
	const Ix *first =
		op_let(k, loop, kernel_fresh(k, "first"), ix_mul(c, owner_part(k), trips));
	const Ix *at = ix_add(c, first, ix_sym(c, loop->sym[0]));
	shift(k, loop, loop->sym[0], ix_new(c, IX_MIN, at, IX(loop, TO)));
	IX(loop, TO) = each;
}

/* All threads of a cluster meet where sums are exchanged, but those that have exited: who only
 * loads has, where a CTA has one tile. */
static bool can_meet(Kernel *k)
{
	if (kernel_pingpong(k))
		return refuse(k, k->loc,
			      "under pingpong the warpgroups have tiles of their own, and meet the "
			      "cluster at different times",
			      "write roles cooperative; without persistent");
	if (split_by_workspace(k) && attrs_int(&k->attrs, A_PERSISTENT, 0))
		return refuse(
			k, k->loc,
			"with persistent, CTAs would wait for each other's tiles in turn, and "
			"sums by workspace are of one tile a CTA",
			"leave persistent out");
	if (attrs_int(&k->attrs, A_PERSISTENT, 0) && kernel_has_roles(k))
		return refuse(
			k, k->loc,
			"with persistent, the producer loads the next tile while the cluster "
			"meets for the sums of this one",
			"leave persistent out: a CTA then computes one tile, and split_k makes "
			"as many CTAs as there are parts");
	return true;
}

static bool can_split(Kernel *k, const Op *loop)
{
	static const char whole[] = "leave split_k out";
	if (op_parent(loop) && op_parent(op_parent(loop)))
		return refuse(k, loop->loc, "the loop over k stands in another loop", whole);
	if (numbers_bound(k, loop))
		return refuse(k, loop->loc,
			      "memory says how often the loop runs: a part of it, which a CTA "
			      "gets before, could be empty or all of it",
			      whole);
	if (loop->nsym > 1 || !ix_is(IX(loop, FROM), 0))
		return refuse(k, loop->loc, "the loop over k does not begin with the first tile",
			      whole);
	for (const Op *mma = kernel_mma(k, NULL); mma; mma = kernel_mma(k, mma)) {
		const Op *wrong = loads_behind(k, loop, mma);
		if (wrong)
			return refuse(
				k, wrong->loc,
				"the loop does not go over all tiles along one mode of an "
				"operand, or its name is in the index of another mode too: a "
				"part would load what the loop leaves out",
				"write for k in gA[m], of an operand that each trip loads, and "
				"k as one index of it");
	}
	return true;
}

/* Parts are equally long, and the last ones may have trips that the loop does not. */
static bool adds_nothing_behind(Kernel *k, const Op *loop, const Val *sum)
{
	Ctx *c = k->ctx;
	const Ix *over = ix_mod(c, IX(loop, TO), ix_int(k, split_parts(k)));
	const Op *op = adds_behind(k, loop, sum);
	if (!op || ix_is(ix_simplify(c, over, kernel_facts(k)), 0))
		return true;
	return refuse(k, op->loc,
		      "parts are equally long, so that the last may have trips after the last "
		      "tile; operands are 0 there, and what this adds need not be",
		      "add multiples of products, or say by 'where' that K is a multiple of a "
		      "tile's for each part");
}

/* Whether a sum over the loop can be one of parts; false after an error. */
static bool can_add(Kernel *k, Op *loop, const Val *acc)
{
	if (!begins_at_zero(k, loop, acc))
		return refuse(k, loop->loc,
			      ctx_strf(k->ctx,
				       "%%%s does not begin at 0, and each part would begin so",
				       acc->name),
			      "begin at 0, and add the rest after the loop");
	if (elem_rows[acc->type->elem].bits != 32)
		return refuse(k, loop->loc,
			      ctx_strf(k->ctx, "%%%s is of %s, and sums of parts are of 32 bits",
				       acc->name, elem_rows[acc->type->elem].name),
			      "take an mma that adds up in f32");
	return adds_nothing_behind(k, loop, acc);
}

/* The loop over k becomes that of this CTA's part, and its sums wait for those of the others. */
static bool split_loop(Kernel *k, Op *loop)
{
	Op *last = loop;
	for (Op *op = kernel_first(k); op != loop; op = op_next(op)) {
		const Op *where = loop;
		Use use = op->kind == OP_FRAG ? use_in(k, loop, op->out, &where) : UNTOUCHED;
		if (use == CARRIED)
			return refuse(k, where->loc,
				      ctx_strf(k->ctx,
					       "%%%s is carried from trip to trip and is no sum",
					       op->out->name),
				      "leave split_k out, or only add up in the loop: "
				      "acc += mm(sA, sB)");
		if (use != SUM)
			continue;
		if (!can_add(k, loop, op->out))
			return false;
		last = op_in(k, op_after(k, last, OP_SUM_PARTS), op->out, NULL);
	}
	return true;
}

PASS_OF(split)
{
	Op *loop = split_parts(k) > 1 ? loop_over_k(k) : NULL;
	if (loop && can_meet(k) && writes_nothing(k, loop) && can_split(k, loop) &&
	    split_loop(k, loop))
		cut(k, loop);
}
