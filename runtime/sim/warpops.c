/* warpops.c - what the threads of a warp say to each other, and control flow (PTX ISA: shfl.sync,
 * vote.sync, match.sync, elect.sync, redux.sync, activemask, bra, ret, trap, setmaxnreg,
 * griddepcontrol). Threads named in a member mask that are elsewhere are waited for. */
#include "runtime/sim/lanes.h"
#include "runtime/sim/number.h"

/* Whether all living members have come. Those who have not are in other splits: this one waits, and
 * when nobody is left to run it goes on without them, which is an error. */
static bool members(Warp *w, const Ins *in, u32 mask, int k)
{
	u32 want = (u32)arg_get(w, &in->args[k], lane_first(mask)) & w->live;
	if ((want & ~mask) == 0)
		return true;
	report(w, in, (s32)lane_first(want & ~mask), SIM_DIVERGED,
	       "the member mask 0x%08x names threads that are not here; here are 0x%08x", want,
	       mask);
	return false;
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
Run run_shfl(Warp *w, const Ins *in, u32 mask)
{
	u32 from[LANES], ok = 0;
	if (!members(w, in, mask, 5))
		return RUN_FAIL;
	memcpy(from, lanes(w, in, 2), sizeof from);
	EACH_LANE(l, mask)
	{
		bool inside;
		u32 b = (u32)arg_get(w, &in->args[3], l), c = (u32)arg_get(w, &in->args[4], l);
		u32 j = shfl_source(in, l, b, c, &inside);
		ok |= (u32)inside << l;
		arg_set(w, &in->args[0], l, from[j & 31]);
	}
	if (in->args[1].kind)
		pred_set(w, &in->args[1], mask, ok);
	return RUN_NEXT;
}

Run run_vote(Warp *w, const Ins *in, u32 mask)
{
	if (!members(w, in, mask, 2))
		return RUN_FAIL;
	u32 p = pred_get(w, &in->args[1]) & mask;
	bool r = has(in, M_ALL) ? p == mask : has(in, M_ANY) ? p != 0 : p == mask || p == 0;
	pred_set(w, &in->args[0], mask, r ? FULL : 0);
	return RUN_NEXT;
}

Run run_ballot(Warp *w, const Ins *in, u32 mask)
{
	if (!members(w, in, mask, 2))
		return RUN_FAIL;
	u32 p = pred_get(w, &in->args[1]) & mask;
	EACH_LANE(l, mask)
	arg_set(w, &in->args[0], l, p);
	return RUN_NEXT;
}

Run run_match(Warp *w, const Ins *in, u32 mask)
{
	u32 same[LANES], all = 1;
	if (!members(w, in, mask, 3))
		return RUN_FAIL;
	EACH_LANE(l, mask)
	{
		same[l] = 0;
		for (u32 k = 0; k < LANES; k++)
			if (mask >> k & 1 &&
			    arg_get(w, &in->args[2], k) == arg_get(w, &in->args[2], l))
				same[l] |= 1u << k;
		all &= same[l] == mask;
	}
	EACH_LANE(l, mask)
	arg_set(w, &in->args[0], l, has(in, M_ANY) ? same[l] : all ? mask : 0);
	if (in->args[1].kind)
		pred_set(w, &in->args[1], mask, all ? FULL : 0);
	return RUN_NEXT;
}

Run run_activemask(Warp *w, const Ins *in, u32 mask)
{
	EACH_LANE(l, mask)
	arg_set(w, &in->args[0], l, mask);
	return RUN_NEXT;
}

/* The lowest member; the choice is the implementation's, this is the hardware's. */
Run run_elect(Warp *w, const Ins *in, u32 mask)
{
	if (!members(w, in, mask, 2))
		return RUN_FAIL;
	u32 leader = lane_first(mask);
	if (in->args[0].kind == A_SLOT)
		EACH_LANE(l, mask)
	arg_set(w, &in->args[0], l, leader);
	if (in->args[1].kind)
		pred_set(w, &in->args[1], mask, 1u << leader);
	return RUN_NEXT;
}

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

Run run_redux(Warp *w, const Ins *in, u32 mask)
{
	if (!members(w, in, mask, 2))
		return RUN_FAIL;
	u32 first = lane_first(mask), r = (u32)arg_get(w, &in->args[1], first);
	EACH_LANE(l, mask & (mask - 1))
	r = reduce(in, r, (u32)arg_get(w, &in->args[1], l));
	EACH_LANE(l, mask)
	arg_set(w, &in->args[0], l, r);
	return RUN_NEXT;
}

Run run_warp_sync(Warp *w, const Ins *in, u32 mask)
{
	return members(w, in, mask, 0) ? RUN_NEXT : RUN_FAIL;
}

Run run_bra(Warp *w, const Ins *in, u32 mask)
{
	(void)w;
	(void)in;
	(void)mask;
	return RUN_JUMP;
}

Run run_exit(Warp *w, const Ins *in, u32 mask)
{
	w->exit_line = (u32)in->line;
	warp_exit(w, mask);
	return RUN_JUMP;
}

Run run_trap(Warp *w, const Ins *in, u32 mask)
{
	report(w, in, (s32)lane_first(mask), SIM_TRAP, "the kernel ran into %s", in->text);
	return RUN_FAIL;
}

/* The pool of a CTA has what its warps gave back; inc waits until it has enough. */
Run run_setmaxnreg(Warp *w, const Ins *in, u32 mask)
{
	u32 want = (u32)in->args[0].imm;
	(void)mask;
	if (want < 24 || want > 256 || want % 8) {
		report(w, in, -1, SIM_OPERAND,
		       "setmaxnreg %u: a multiple of 8 from 24 to 256 is needed", want);
		return RUN_FAIL;
	}
	if (has(in, M_DEC) ? want > w->regs : want < w->regs) {
		report(w, in, -1, SIM_OPERAND,
		       "setmaxnreg.%s to %u, but each thread has %u registers",
		       has(in, M_DEC) ? "dec" : "inc", want, w->regs);
		return RUN_FAIL;
	}
	if (has(in, M_DEC)) {
		w->cta->pool += (w->regs - want) * LANES;
		w->regs = want;
		cluster_event(w->cluster);
		return RUN_NEXT;
	}
	u32 need = (want - w->regs) * LANES;
	if (need > w->cta->pool)
		return wait_for(w, in, (Wait){.kind = W_REGS, .phase = want});
	w->cta->pool -= need;
	w->regs = want;
	return RUN_NEXT;
}

/* Grids run one after the other, so the one before has ended; what is remembered is that the warp
 * could know it. */
Run run_grid(Warp *w, const Ins *in, u32 mask)
{
	(void)mask;
	if (has(in, M_WAIT))
		clock_raise(&w->know.seen, w->cluster->grid_actor, 1);
	return RUN_NEXT;
}
