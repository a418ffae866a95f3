/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mbar.c - mbarriers (PTX ISA: mbarrier): phases, arrivals, bytes on their way, remote arrivals,
 * parity and state waits. State is kept beside shared memory; the 8 bytes of the object are the
 * program's to leave alone.
 *   init 1; arrive.expect_tx 4096; (4096 bytes land)  ->  phase 0 complete, waits for parity 0 pass
 */
#include "sim/lanes.h"

enum { TX_LIMIT = (1 << 20) - 1, TOKEN_SHIFT = 20 };

Mbar *mbar_at(Cta *cta, u32 offset)
{
	u32 i = offset >= SMEM_BASE && offset + 8 <= cta->smem_end
			? cta->mbar_at[(offset - SMEM_BASE) / 8]
			: 0;
	return i && !(offset & 7) && cta->mbars[i - 1].live ? &cta->mbars[i - 1] : NULL;
}

Mbar *mbar_find(Warp *w, const Ins *in, u32 lane, Cta *cta, u32 offset, const char *what)
{
	Mbar *b = mbar_at(cta, offset);
	Text t = {0};
	if (b)
		return b;
	shared_name(w->cluster, offset, &t);
	report(w, in, (s32)lane, SIM_BARRIER, "%s: there is no mbarrier at %s of CTA rank %u%s",
	       what, t.at ? t.at : "?", cta->rank, offset & 7 ? " (not a multiple of 8)" : "");
	text_free(&t);
	return NULL;
}

/* By what the warp knows itself, or by fence.mbarrier_init and a barrier of the cluster. */
bool mbar_init_known(const Warp *w, const Mbar *b)
{
	return knows(w, LANES, b->init_actor, b->init_clock) ||
	       (b->made_actor && clock_of(&w->know.seen, b->made_actor) >= b->made_clock);
}

/* Its initialisation must be ordered before its use. */
static void order_check(Warp *w, const Ins *in, u32 lane, const Mbar *b)
{
	if (!checked(w->cluster, CHECK_RACE) || mbar_init_known(w, b))
		return;
	report(w, in, (s32)lane, SIM_RACE,
	       "the mbarrier is used here, not ordered after its initialisation at line %u",
	       b->init_line);
}

static void phase_end(Cluster *c, Mbar *b)
{
	b->phase++;
	b->expected -= b->drop;
	b->drop = 0;
	b->pending = b->expected;
	know_join(&b->done, &b->gather);
	know_forget(&b->gather);
	if (c->job->opt->checks)
		clock_raise(&b->done.seen, b->actor, (u32)b->phase);
	cluster_event(c);
}

static void phase_check(Cluster *c, Mbar *b)
{
	c->progress = c->steps;
	if (!b->pending && !b->tx && b->expected)
		phase_end(c, b);
}

static bool tx_add(Warp *w, const Ins *in, u32 lane, Mbar *b, s64 bytes)
{
	b->tx += bytes;
	if (b->tx <= TX_LIMIT && b->tx >= -TX_LIMIT)
		return true;
	report(w, in, (s32)lane, SIM_BARRIER,
	       "the transaction count of the mbarrier becomes %lld, the limit is %d",
	       (long long)b->tx, TX_LIMIT);
	return false;
}

/* A copy has landed bytes. */
void mbar_complete(Cluster *c, const Async *as, Mbar *b, u32 bytes)
{
	if (as->rec)
		shadow_settle(c, as->rec, (u32)b->phase + 1);
	if (tx_add(as->warp, as->in, as->lane, b, -(s64)bytes))
		phase_check(c, b);
}

static void arrive_note(Mbar *b, u32 line)
{
	for (u32 i = 0; i < b->narrive; i++)
		if (b->arrive_line[i] == line)
			return;
	if (b->narrive < SIM_COUNT(b->arrive_line))
		b->arrive_line[b->narrive++] = line;
}

void mbar_arrived(Cluster *c, Warp *w, const Ins *in, u32 lane, Cta *cta, Mbar *b, u32 count)
{
	arrive_note(b, (u32)in->line);
	b->arrivals += count;
	if (count > b->pending) {
		Text t = {0};
		shared_name(c, b->offset, &t);
		report(w, in, (s32)lane, SIM_BARRIER,
		       "%s of CTA rank %u: %u arrivals where %u of %u are left in phase %llu", t.at,
		       cta->rank, count, b->pending, b->expected, (unsigned long long)b->phase);
		text_free(&t);
		b->pending = 0;
	} else {
		b->pending -= count;
	}
	phase_check(c, b);
}

static Mbar *mbar_new(Cta *cta, u32 offset)
{
	u16 *at = &cta->mbar_at[(offset - SMEM_BASE) / 8];
	if (*at)
		return &cta->mbars[*at - 1];
	if (!list_grow(&cta->mbars, &cta->mbars_cap, cta->nmbars + 1, sizeof *cta->mbars))
		return NULL;
	cta->mbars[cta->nmbars] = (Mbar){.offset = offset, .actor = actor_new(cta->cluster)};
	*at = (u16)++cta->nmbars;
	return &cta->mbars[*at - 1];
}

/* The shared memory that an mbarrier operand of this thread means. */
static bool operand(Warp *w, const Ins *in, const Arg *a, u32 lane, Place *p)
{
	if (!place_at(w, in, lane, mem_space(in), mem_address(w, a, lane), 8, 8, p))
		return false;
	if (p->cta)
		return true;
	report(w, in, (s32)lane, SIM_OPERAND,
	       "an mbarrier is in shared memory, this address is not");
	return false;
}

/* The mbarrier there, which accesses before are ordered with; NULL: there is none. */
static Mbar *operand_mbar(Warp *w, const Ins *in, int arg, u32 lane, const char *what, Place *p)
{
	Mbar *b = operand(w, in, &in->args[arg], lane, p)
			  ? mbar_find(w, in, lane, p->cta, p->offset, what)
			  : NULL;
	if (b)
		order_check(w, in, lane, b);
	return b;
}

static bool idle(const Mbar *b)
{
	return b->pending == b->expected && !b->tx;
}

static bool each_mbar_init(Warp *w, const Ins *in, u32 l)
{
	Place p;
	if (!operand(w, in, &in->args[0], l, &p))
		return false;
	u32 n = (u32)arg_get(w, &in->args[1], l);
	if (!n || n > TX_LIMIT) {
		report(w, in, (s32)l, SIM_BARRIER,
		       "an mbarrier is initialised with a count of %u; 1 to %d is needed", n,
		       TX_LIMIT);
		return false;
	}
	Mbar *b = mbar_new(p.cta, p.offset);
	if (!b)
		return false;
	if (b->live && !idle(b) && checked(w->cluster, CHECK_MBAR))
		report(w, in, (s32)l, SIM_BARRIER,
		       "the mbarrier is initialised again while phase %llu has %u of %u "
		       "arrivals and %lld bytes outstanding",
		       (unsigned long long)b->phase, b->expected - b->pending, b->expected,
		       (long long)b->tx);
	b->live = false;
	if (w->cluster->job->opt->checks)
		shadow_touch(p.cta, p.offset, 8,
			     &(Access){.w = w, .in = in, .lane = l, .write = true});
	b->live = true;
	b->fenced = false;
	b->expected = b->pending = n;
	b->tx = 0;
	b->phase += b->phase & 1; /* parity starts at 0; clocks only grow */
	b->init_line = (u32)in->line;
	b->init_actor = thread_actor(w, l);
	b->made_actor = 0;
	b->init_clock = thread_clock(w, l);
	return true;
}

PER_LANE(mbar_init)

static bool each_mbar_inval(Warp *w, const Ins *in, u32 l)
{
	Place p;
	Mbar *b = operand_mbar(w, in, 0, l, "inval", &p);
	if (!b)
		return false;
	b->live = false;
	return true;
}

PER_LANE(mbar_inval)

void mbars_fence(Warp *w, bool published)
{
	u32 clock = 0;
	if (published && w->cluster->job->opt->checks) {
		w->made_actor = w->made_actor ? w->made_actor : actor_new(w->cluster);
		clock = clock_of(&w->know.seen, w->made_actor) + 1;
		clock_raise(&w->know.seen, w->made_actor, clock);
	}
	for (u32 i = 0; i < w->cta->nmbars; i++) {
		Mbar *b = &w->cta->mbars[i];
		if (b->init_actor - w->actor >= (w->own ? LANES : 1u))
			continue;
		b->fenced = true;
		if (clock && !b->made_actor) {
			b->made_actor = w->made_actor;
			b->made_clock = clock;
		}
	}
}

enum { ARRIVE_DROP = 1, ARRIVE_EXPECT = 2 };

void prepare_expect(Pool *a, Ins *in)
{
	(void)a;
	in->extra = ARRIVE_EXPECT;
}

void prepare_arrive(Pool *a, Ins *in)
{
	bool value = in->args[2].kind != A_NONE;
	if (has(in, M_EXPECT_TX) && !value)
		refuse(a, in, "expect_tx needs a number of bytes");
	if (has(in, M_SHARED_CLUSTER) && in->args[0].kind != A_SINK)
		refuse(a, in, "a remote arrive has no result: _ is needed");
}

void prepare_drop(Pool *a, Ins *in)
{
	prepare_arrive(a, in);
	in->extra = ARRIVE_DROP;
}

static bool each_mbar_tx(Warp *w, const Ins *in, u32 l)
{
	Place p;
	Mbar *b = operand_mbar(w, in, 0, l, in->text, &p);
	if (!b)
		return false;
	s64 n = (u32)arg_get(w, &in->args[1], l);
	if (!tx_add(w, in, l, b, in->extra == ARRIVE_EXPECT ? n : -n))
		return false;
	phase_check(w->cluster, b);
	return true;
}

PER_LANE(mbar_tx)

static bool each_mbar_arrive(Warp *w, const Ins *in, u32 l)
{
	Place p;
	Mbar *b = operand_mbar(w, in, 1, l, in->text, &p);
	if (!b)
		return false;
	if (p.cta != w->cta)
		shadow_remote(w, in, l, p.cta, thread_actor(w, l), thread_clock(w, l));
	bool expect = has(in, M_EXPECT_TX), value = in->args[2].kind != A_NONE;
	u32 v = value ? (u32)arg_get(w, &in->args[2], l) : 1;
	if (in->args[0].kind == A_SLOT)
		arg_set(w, &in->args[0], l, b->phase << TOKEN_SHIFT | b->pending);
	w->acting = 1u << l;
	if (!has(in, M_RELAXED))
		hb_release(w, &b->gather);
	if (expect && !tx_add(w, in, l, b, v))
		return false;
	if (in->extra & ARRIVE_DROP)
		b->drop += expect ? 1 : v;
	mbar_arrived(w->cluster, w, in, l, p.cta, b, expect ? 1 : v);
	return true;
}

PER_LANE(mbar_arrive)

void prepare_test(Pool *a, Ins *in)
{
	(void)a;
	in->extra = 1;
}

static bool passed(const Ins *in, const Mbar *b, u64 operand_value)
{
	if (has(in, M_PARITY))
		return (b->phase & 1) != (operand_value & 1);
	return b->phase > operand_value >> TOKEN_SHIFT;
}

/* Woken too late: the phase it waited for is over, and so is the next, whose parity looks the same
 * as before. */
static void overrun_check(Warp *w, const Ins *in, u32 lane, const Mbar *b)
{
	if (w->cur->blocked && b->phase >= w->cur->wait.phase + 2 &&
	    checked(w->cluster, CHECK_MBAR))
		report(w, in, (s32)lane, SIM_BARRIER,
		       "the mbarrier went from phase %llu to %llu while this warp waited: the "
		       "parity is "
		       "mistaken",
		       (unsigned long long)w->cur->wait.phase, (unsigned long long)b->phase);
}

static void trace_wait(const Cluster *c, const Warp *w, u32 offset)
{
	Text t = {0};
	if (!c->job->trace)
		return;
	shared_name(c, offset, &t);
	trace_span(c, w, t.at ? t.at : "mbarrier", "wait", w->cur->wait.since, c->steps);
	text_free(&t);
}

/* p, [bar], parity or state. try_wait sleeps until the phase completes; a seed other than 0 lets it
 * give up now and then, as the hardware may. */
Run run_mbar_wait(Warp *w, const Ins *in, u32 mask)
{
	u32 done = 0;
	Place p;
	Mbar *b = NULL;
	EACH_LANE(l, mask)
	{
		b = operand_mbar(w, in, 1, l, in->text, &p);
		if (!b)
			return RUN_FAIL;
		if (passed(in, b, arg_get(w, &in->args[2], l))) {
			w->acting = 1u << l;
			done |= 1u << l;
			if (!has(in, M_RELAXED))
				hb_acquire(w, &b->done);
		} else {
			overrun_check(w, in, l, b);
		}
	}
	Cluster *c = w->cluster;
	if (done || in->extra ||
	    (!w->cur->blocked && c->job->opt->seed && !rng_below(&c->rng, 64))) {
		pred_set(w, &in->args[0], mask, done);
		if (done && w->cur->blocked)
			trace_wait(c, w, p.offset);
		return RUN_NEXT;
	}
	u64 phase = w->cur->blocked ? w->cur->wait.phase : b->phase;
	return wait_for(w, in,
			(Wait){.kind = W_MBAR,
			       .cta = p.cta,
			       .offset = p.offset,
			       .phase = phase,
			       .lane = lane_first(mask)});
}

RUN(mbar_pending, EACH_SET(GET(1) & TX_LIMIT))
