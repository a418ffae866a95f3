/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* warpops.c - what the threads of a warp say to each other, and control flow (PTX ISA: shfl.sync,
 * vote.sync, match.sync, elect.sync, redux.sync, activemask, bra, ret, trap, griddepcontrol).
 * Results are of the party that member.c brings together. */
#include "sim/lanes.h"

/* What the threads of a member mask do together; the mask is operand `at`. */
#define MEMBERS(name, at)                                  \
	Run run_##name(Warp *w, const Ins *in, u32 mask)   \
	{                                                  \
		return members_run(w, in, mask, at, name); \
	}

/* A predicate of one thread, if the instruction has it. */
static void result(Warp *w, const Arg *a, u32 lane, bool is)
{
	if (a->kind)
		pred_set(w, a, 1u << lane, is ? FULL : 0);
}

static u32 shfl_source(const Ins *in, u32 l, u32 b, u32 c, bool *inside)
{
	u32 seg = c >> 8 & 31, clamp = c & 31, top = (l & seg) | (clamp & ~seg), low = l & seg, j;
	b &= 31;
	if (has(in, M_UP)) {
		j = l - b;
		*inside = (s32)j >= (s32)top;
	} else if (has(in, M_DOWN)) {
		j = l + b;
		*inside = j <= top;
	} else if (has(in, M_BFLY)) {
		j = l ^ b;
		*inside = j <= top;
	} else {
		j = low | (b & ~seg);
		*inside = j <= top;
	}
	return *inside ? j : l;
}

/* d|p, a, b, c, membermask */
static void shfl(Warp *w, const Party *p)
{
	u32 from[LANES], any = lane_first(p->mask);
	for (u32 l = 0; l < LANES; l++)
		from[l] = r32(w, p->in[p->mask >> l & 1 ? l : any]->args[2].slot)[l];
	EACH_LANE(l, p->mask)
	{
		const Ins *in = p->in[l];
		bool inside;
		u32 b = (u32)arg_get(w, &in->args[3], l), c = (u32)arg_get(w, &in->args[4], l);
		u32 j = shfl_source(in, l, b, c, &inside);
		arg_set(w, &in->args[0], l, from[j & 31]);
		result(w, &in->args[1], l, inside);
	}
}

MEMBERS(shfl, 5)

/* The members whose predicate holds. */
static u32 ayes(Warp *w, const Party *p)
{
	u32 r = 0;
	EACH_LANE(l, p->mask)
	r |= pred_get(w, &p->in[l]->args[1]) & 1u << l;
	return r;
}

static void vote(Warp *w, const Party *p)
{
	const Ins *op = p->in[lane_first(p->mask)];
	u32 r = ayes(w, p);
	bool all = r == p->mask, any = r != 0;
	bool is = has(op, M_ALL) ? all : has(op, M_ANY) ? any : all || !any;
	EACH_LANE(l, p->mask)
	result(w, &p->in[l]->args[0], l, is);
}

MEMBERS(vote, 2)

static void ballot(Warp *w, const Party *p)
{
	u32 r = ayes(w, p);
	EACH_LANE(l, p->mask)
	arg_set(w, &p->in[l]->args[0], l, r);
}

MEMBERS(ballot, 2)

static void match(Warp *w, const Party *p)
{
	u64 value[LANES];
	u32 same[LANES] = {0};
	bool all = true, some = has(p->in[lane_first(p->mask)], M_ANY);
	EACH_LANE(l, p->mask)
	value[l] = arg_get(w, &p->in[l]->args[2], l);
	EACH_LANE(l, p->mask)
	{
		for (u32 k = 0; k < LANES; k++)
			if (p->mask >> k & 1 && value[k] == value[l])
				same[l] |= 1u << k;
		all &= same[l] == p->mask;
	}
	EACH_LANE(l, p->mask)
	{
		arg_set(w, &p->in[l]->args[0], l, some ? same[l] : all ? p->mask : 0);
		result(w, &p->in[l]->args[1], l, all);
	}
}

MEMBERS(match, 3)

RUN(activemask, EACH_SET(mask))

/* The lowest member; the choice is the implementation's, this is the hardware's. */
static void elect(Warp *w, const Party *p)
{
	u32 leader = lane_first(p->mask);
	EACH_LANE(l, p->mask)
	{
		if (p->in[l]->args[0].kind == A_SLOT)
			arg_set(w, &p->in[l]->args[0], l, leader);
		result(w, &p->in[l]->args[1], l, l == leader);
	}
}

MEMBERS(elect, 2)

static u32 reduce(const Ins *in, u32 a, u32 b)
{
	if (has(in, M_ADD))
		return a + b;
	if (has(in, M_AND))
		return a & b;
	if (has(in, M_OR))
		return a | b;
	if (has(in, M_XOR))
		return a ^ b;
	bool less = in->type[0] == T_S32 ? (s32)a < (s32)b : a < b;
	return less == has(in, M_MIN) ? a : b;
}

static void redux(Warp *w, const Party *p)
{
	u32 first = lane_first(p->mask), r = (u32)arg_get(w, &p->in[first]->args[1], first);
	EACH_LANE(l, p->mask & (p->mask - 1))
	r = reduce(p->in[l], r, (u32)arg_get(w, &p->in[l]->args[1], l));
	EACH_LANE(l, p->mask)
	arg_set(w, &p->in[l]->args[0], l, r);
}

MEMBERS(redux, 2)

static void warp_sync(Warp *w, const Party *p)
{
	(void)w;
	(void)p;
}

MEMBERS(warp_sync, 0)

Run run_bra(Warp *w, const Ins *in, u32 mask)
{
	(void)w, (void)in, (void)mask;
	return RUN_JUMP;
}

Run run_exit(Warp *w, const Ins *in, u32 mask)
{
	(void)in;
	warp_exit(w, mask);
	return RUN_JUMP;
}

Run run_trap(Warp *w, const Ins *in, u32 mask)
{
	report(w, in, (s32)lane_first(mask), SIM_TRAP, "the kernel ran into %s", in->text);
	return RUN_FAIL;
}

Run run_unknown(Warp *w, const Ins *in, u32 mask)
{
	report(w, in, (s32)lane_first(mask), SIM_UNKNOWN, "%s: %s", in->text, in->lacks);
	return RUN_FAIL;
}

/* Grids run one after the other, so the one before has ended; what is remembered is that the warp
 * could know it. */
RUN(grid, if (has(in, M_WAIT)) clock_raise(&w->know.seen, w->cluster->grid_actor, 1))
