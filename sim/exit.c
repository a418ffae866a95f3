/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* exit.c - what threads, warps and CTAs may not leave behind: copies that still read or write their
 * shared memory, peers that still arrive, groups nobody waited for. A remote access must have
 * happened before its target exits, in every order, so clocks decide and not the order of this run.
 */
#include "sim/machine.h"

#include <stdlib.h>

void warp_left(Warp *w, u32 mask)
{
	Cluster *c = w->cluster;
	const Ins *in = &w->code->ins[w->cur ? w->cur->pc : 0];
	if (!w->live) {
		u64 *slot = &c->bar_of[w - c->warps];
		if (*slot == c->bar_phase + 1)
			c->bar_gone++;
		regs_left(w);
	}
	if (!checked(c, CHECK_EXIT) || !w->bulk)
		return;
	EACH_LANE(l, mask)
	{
		const Groups *g = &w->bulk[l];
		if (g->used > g->waited)
			report(w, in, (s32)l, SIM_LEFT,
			       "the thread exits with bulk group %u of %u not waited for: its "
			       "copies may still "
			       "read shared memory",
			       g->waited + 1, g->used);
	}
}

void shadow_remote(Warp *w, const Ins *in, u32 lane, Cta *target, u32 actor, u32 clock)
{
	if (!checked(w->cluster, CHECK_EXIT))
		return;
	if (target->exited)
		report(w, in, (s32)lane, SIM_EXIT, "%s reaches CTA rank %u, which has exited",
		       in->text, target->rank);
	for (u32 i = 0; i < target->nremote; i++) {
		if (target->remote[i].actor == actor) {
			target->remote[i].clock = clock;
			target->remote[i].in = in;
			return;
		}
	}
	u32 n = target->nremote;
	if (list_grow(&target->remote, &target->remote_cap, n + 1, sizeof *target->remote))
		target->remote[target->nremote++] = (Remote){actor, clock, w, in, lane};
}

static void remote_check(Cta *cta)
{
	for (u32 i = 0; i < cta->nremote; i++) {
		const Remote *r = &cta->remote[i];
		if (clock_of(&cta->exit.seen, r->actor) < r->clock)
			report(r->warp, r->in, (s32)r->lane, SIM_EXIT,
			       "CTA rank %u may exit before this %s of CTA rank %u reaches it: "
			       "nothing orders "
			       "its exit after it",
			       cta->rank, r->in->text, r->warp->cta->rank);
	}
}

void cta_left(Warp *w)
{
	Cta *cta = w->cta;
	hb_exit(w);
	cta->live_warps--;
	bars_recount(cta);
	cluster_bar_check(cta->cluster);
	if (cta->live_warps)
		return;
	cta->exited = true;
	if (checked(cta->cluster, CHECK_EXIT))
		remote_check(cta);
}
