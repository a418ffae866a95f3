/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* member.c - threads of a warp that meet by a member mask (PTX ISA: shfl.sync, vote.sync,
 * match.sync, redux.sync, elect.sync, bar.warp.sync). Each waits for the living threads of its own
 * mask, wherever they are. Who executes the same operation with the same mask is of one party, and
 * the result is made from the party alone.
 *   lanes 0..15 at one vote, 16..31 at another, all with mask 0xffffffff  ->  one party of 32 */
#include "sim/lanes.h"

static bool same_operation(const Ins *a, const Ins *b)
{
	return a == b || (a->run == b->run && a->type[0] == b->type[0] &&
			  !memcmp(a->mods, b->mods, sizeof a->mods));
}

static u32 mask_of(Warp *w, const Ins *in, int k, u32 lane)
{
	return (u32)arg_get(w, &in->args[k], lane);
}

/* Those of all parked splits who wait at the operation with this mask. */
static Party party_of(Warp *w, const Ins *in, int k, u32 members)
{
	Party p = {0};
	for (u32 i = 0; i < w->nsplits; i++) {
		const Split *s = &w->splits[i];
		const Ins *at = &w->code->ins[s->pc];
		if (!s->parked || !same_operation(at, in))
			continue;
		EACH_LANE(l, s->parked & ~w->met)
		{
			if (mask_of(w, at, k, l) != members)
				continue;
			p.mask |= 1u << l;
			p.in[l] = at;
		}
	}
	return p;
}

/* Runs op for the parties of these threads that are complete. */
static void parties_meet(Warp *w, const Ins *in, u32 mask, int k, Together op)
{
	for (u32 left = mask & ~w->met; left;) {
		u32 members = mask_of(w, in, k, lane_first(left));
		Party p = party_of(w, in, k, members);
		left &= ~p.mask;
		if (members & w->live & ~p.mask)
			continue;
		hb_meet(w, p.mask);
		op(w, &p);
		w->met |= p.mask;
		if (p.mask & ~mask)
			w->cluster->events++;
	}
}

/* The usual case: all living members are here, and nobody else. */
static bool all_here(Warp *w, const Ins *in, u32 mask, int k)
{
	u32 members = mask_of(w, in, k, lane_first(mask));
	if ((members & w->live) != mask)
		return false;
	if (in->args[k].isconst || in->args[k].kind != A_SLOT)
		return true;
	EACH_LANE(l, mask & (mask - 1))
	if (mask_of(w, in, k, l) != members)
		return false;
	return true;
}

static void strangers_report(Warp *w, const Ins *in, u32 mask, int k)
{
	EACH_LANE(l, mask)
	{
		u32 members = mask_of(w, in, k, l);
		if (members >> l & 1)
			continue;
		report(w, in, (s32)l, SIM_DIVERGED,
		       "the member mask 0x%08x does not name the thread that executes %s", members,
		       in->text);
		return;
	}
}

Run members_run(Warp *w, const Ins *in, u32 mask, int k, Together op)
{
	Split *s = w->cur;
	if (!s->parked) {
		if (all_here(w, in, mask, k)) {
			Party p = {.mask = mask};
			EACH_LANE(l, mask)
			p.in[l] = in;
			hb_meet(w, p.mask);
			op(w, &p);
			return RUN_NEXT;
		}
		strangers_report(w, in, mask, k);
		s->parked = mask;
	}
	parties_meet(w, in, mask, k, op);
	u32 waiting = mask & ~w->met;
	w->met &= ~mask | waiting;
	if (!waiting) {
		s->parked = 0;
		return RUN_NEXT;
	}
	Run r = wait_for(w, in,
			 (Wait){.kind = W_SHFL,
				.lane = lane_first(waiting),
				.phase = mask_of(w, in, k, lane_first(waiting)) & w->live &
					 ~waiting});
	if (waiting == s->mask)
		return r;
	split_part(w, waiting);
	return RUN_NEXT;
}

u32 members_missing(Warp *w)
{
	u32 missing = 0;
	for (u32 i = 0; i < w->nsplits; i++)
		missing |= w->splits[i].parked ? (u32)w->splits[i].wait.phase : 0;
	return missing;
}
