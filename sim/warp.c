/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* warp.c - one warp: its splits (threads that run together), where they part and meet again, and
 * the step that runs one of them for a while. Parted threads wait for each other at the immediate
 * postdominator of their branch; both sides run by turns, so one may wait for what the other does.
 *   @%p bra L; (16 threads)  ->  two splits of 16, one meeting point at the branch's reconv */
#include "sim/handlers.h"
#include "sim/machine.h"

void warp_start(Warp *w)
{
	w->splits[0] = (Split){.mask = w->live, .rec = -1};
	w->nsplits = w->live ? 1 : 0;
	for (u32 i = 0; i < SIM_COUNT(w->meets); i++)
		w->meets[i].parent = -2;
}

static void split_add(Warp *w, u32 pc, u32 mask, s32 rec)
{
	w->splits[w->nsplits++] = (Split){.pc = pc, .mask = mask, .rec = rec};
}

static void split_drop(Warp *w, u32 i)
{
	w->splits[i] = w->splits[--w->nsplits];
	w->cur = NULL;
}

static s32 meet_new(Warp *w, u32 pc, u32 expected, s32 parent, bool soft)
{
	for (u32 i = 0; i < SIM_COUNT(w->meets); i++) {
		if (w->meets[i].parent == -2) {
			w->meets[i] = (Meet){pc, expected, 0, parent, soft};
			return (s32)i;
		}
	}
	return parent;
}

/* Goes on when all who are still alive have come. */
static void meet_check(Warp *w, s32 at)
{
	Meet *m = &w->meets[at];
	u32 expected = m->expected & w->live, arrived = m->arrived & w->live;
	if (arrived != expected)
		return;
	s32 parent = m->parent;
	m->parent = -2;
	if (arrived)
		split_add(w, m->pc, arrived, parent);
}

/* Those who have come go on without the others. */
static void meet_leave(Warp *w, s32 at)
{
	Meet *m = &w->meets[at];
	u32 arrived = m->arrived & w->live;
	m->expected &= ~arrived;
	m->arrived = 0;
	split_add(w, m->pc, arrived, m->parent);
	meet_check(w, at);
}

/* A meeting is a convenience: who is waited for elsewhere need not wait in it for ever; in a soft
 * one, whose others may end, nobody need. */
static bool warp_release(Warp *w, bool soft)
{
	u32 missing = members_missing(w);
	bool any = false;
	for (s32 i = 0; i < (s32)SIM_COUNT(w->meets); i++) {
		const Meet *m = &w->meets[i];
		u32 arrived = m->parent == -2 ? 0 : m->arrived & w->live;
		if (!arrived || !(soft ? m->soft : arrived & missing))
			continue;
		meet_leave(w, i);
		any = true;
	}
	return any;
}

bool meets_release(Cluster *c)
{
	bool any = false;
	for (int soft = 0; soft < 2 && !any; soft++)
		for (u32 i = 0; i < c->nwarps; i++)
			any |= c->warps[i].live && warp_release(&c->warps[i], soft);
	return any;
}

void split_part(Warp *w, u32 waiting)
{
	Split *s = w->cur;
	s->rec = meet_new(w, s->pc + 1, s->mask, s->rec, true);
	w->splits[w->nsplits] = *s;
	w->splits[w->nsplits].mask = w->splits[w->nsplits].parked = waiting;
	w->splits[w->nsplits].blocked = true;
	w->nsplits++;
	s->mask &= ~waiting;
	s->parked = 0;
}

static void branch(Warp *w, Split *s, const Ins *in, u32 taken)
{
	u32 other = s->mask & ~taken;
	if (!other) {
		s->pc = (u32)in->target;
		return;
	}
	bool known = s->rec >= 0 && (s32)w->meets[s->rec].pc == in->reconv;
	if (in->reconv >= 0 && !known)
		s->rec = meet_new(w, (u32)in->reconv, s->mask, s->rec, in->flags & F_SOFT);
	split_add(w, (u32)in->target, taken, s->rec);
	s->mask = other;
	s->pc++;
}

void warp_exit(Warp *w, u32 mask)
{
	Cluster *c = w->cluster;
	w->live &= ~mask;
	for (u32 i = 0; i < w->nsplits; i++)
		w->splits[i].mask &= w->live;
	for (s32 i = 0; i < (s32)SIM_COUNT(w->meets); i++)
		if (w->meets[i].parent != -2)
			meet_check(w, i);
	warp_left(w, mask);
	if (w->live) {
		c->events++; /* a party may not wait for them any more */
		return;
	}
	c->live--;
	trace_span(c, w, "warp", "life", 0, c->steps);
	cta_left(w);
	cluster_event(c);
}

/* Instructions of a whole warp: guard and branches must have kept it together. */
static void converged(Warp *w, const Split *s, const Ins *in, u32 mask)
{
	if (!(in->flags & F_CONVERGED) && !has(in, M_ALIGNED))
		return;
	if (s->mask == w->live && mask == s->mask)
		return;
	if (!checked(w->cluster, CHECK_MBAR))
		return;
	report(w, in, (s32)lane_first(mask), SIM_DIVERGED,
	       "threads 0x%08x of the warp are here, 0x%08x are not: all must run %s together",
	       mask, w->live & ~mask, in->text);
}

static bool slot_busy(const Warp *w, const Arg *a)
{
	if (a->kind == A_VEC) {
		for (int i = 0; i < a->n; i++)
			if (slot_busy(w, &a->list[i]))
				return true;
		return false;
	}
	return (a->kind == A_SLOT || a->kind == A_MEM) && w->busy[a->slot >> 6];
}

static void slot_soil(Warp *w, const Arg *a)
{
	if (a->kind == A_VEC) {
		for (int i = 0; i < a->n; i++)
			slot_soil(w, &a->list[i]);
	} else if (a->kind == A_SLOT) {
		w->dirty[a->slot >> 6] = 1;
	}
}

/* Registers of a wgmma in flight may not be touched; others that are written need a fence. */
static void registers_check(Warp *w, const Ins *in)
{
	if (in->run == run_wgmma)
		return;
	bool flying = w->wgmma.flying;
	for (int i = 0; i < in->nargs; i++) {
		if (flying && slot_busy(w, &in->args[i])) {
			report(w, in, -1, SIM_WGMMA,
			       "%s touches a register that a wgmma in flight owns: "
			       "wgmma.wait_group must "
			       "come first",
			       in->text);
			break;
		}
	}
	for (int i = 0; i < in->nargs; i++)
		if (in->written >> i & 1)
			slot_soil(w, &in->args[i]);
}

static Run run_one(Warp *w, const Split *s, const Ins *in, u32 mask)
{
	if (in->flags & F_CLUSTERED && !w->cluster->job->clustered) {
		report(w, in, (s32)lane_first(mask), SIM_CLUSTER,
		       "%s is an illegal instruction in a launch without clusters: launch it in "
		       "clusters, be they of one CTA",
		       in->text);
		return RUN_FAIL;
	}
	converged(w, s, in, mask);
	if (w->busy)
		registers_check(w, in);
	w->acting = mask;
	bool together = w->own && (in->flags & F_CONVERGED || has(in, M_ALIGNED));
	if (together)
		hb_meet(w, mask);
	Run run = (in->flags & F_TRACKED && w->undefs ? undef_run : in->run)(w, in, mask);
	if (together)
		hb_meet(w, mask);
	return run;
}

/* Splits whose threads have met those of split number i at the same place go on with it. */
static bool splits_join(Warp *w, u32 i)
{
	Split *s = &w->splits[i];
	u32 joined = 0;
	for (u32 k = 0; k < w->nsplits; k++) {
		Split *o = &w->splits[k];
		bool here = o->pc + 1 == s->pc && o->rec == s->rec && o->parked == o->mask;
		if (k == i || !o->parked || !here || o->parked & ~w->met)
			continue;
		joined |= o->mask;
		o->mask = 0;
	}
	if (!joined)
		return true;
	w->met &= ~joined;
	s->mask |= joined;
	for (u32 k = w->nsplits; k-- > 0;)
		if (!w->splits[k].mask)
			split_drop(w, k);
	return false;
}

/* One instruction of split number i; false when the turn is over. */
static bool split_step(Warp *w, u32 i)
{
	Split *s = &w->splits[i];
	const Ins *in = &w->code->ins[s->pc];
	if (s->rec >= 0 && s->pc == w->meets[s->rec].pc) {
		s32 rec = s->rec;
		w->meets[rec].arrived |= s->mask;
		split_drop(w, i);
		meet_check(w, rec);
		return false;
	}
	u32 mask = s->mask;
	if (in->guarded) {
		u32 p = *r32(w, in->guard);
		if (in->flags & F_TRACKED)
			undef_guard(w, in, mask);
		mask &= in->guard_not ? ~p : p;
	}
	w->cluster->steps++;
	if (!mask) {
		s->pc++;
		return true;
	}
	switch (run_one(w, s, in, mask)) {
	case RUN_NEXT:
		s->pc++;
		s->blocked = false;
		return (!w->met || splits_join(w, i)) && !w->cluster->failed;
	case RUN_JUMP:
		if (in->run == run_bra) {
			branch(w, s, in, mask);
			return true;
		}
		if (!s->mask)
			split_drop(w, i);
		else
			s->pc++;
		return false;
	case RUN_BLOCK:
		s->blocked = true;
		s->stamp = w->cluster->events;
		return false;
	case RUN_FAIL:
		break;
	}
	w->cluster->failed = true;
	return false;
}

/* Runs one split for a while. A split that only waits on has not run, and the next may try. */
bool warp_step(Warp *w, u32 quantum)
{
	u64 events = w->cluster->events;
	u32 first = w->turn;
	for (u32 k = 0; k < w->nsplits; k++) {
		u32 i = (first + k) % w->nsplits;
		Split *s = &w->splits[i];
		if (s->blocked && s->stamp == events)
			continue;
		w->turn = i + 1;
		w->cur = s;
		bool was = s->blocked;
		u32 left = quantum;
		u64 steps = w->cluster->steps;
		while (left-- && split_step(w, i))
			;
		if (!was || w->cluster->steps > steps + 1 || w->cur != s || !s->blocked)
			return true;
	}
	return false;
}
