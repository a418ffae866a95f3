/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* core.c - one letter: each agent's steps in order, all agents greedily, until nobody can go on.
 * Barriers are here; buffers and groups are in memory.c.
 *     producer: wait empty, expect full, load   consumer: wait full, wgmma   ->  both at their ends
 */
#include "verify/run/run.h"

#include <string.h>

bool why_is_limit(WhyId id)
{
	return id == WHY_LIMIT;
}

bool why_is_open(WhyId id)
{
	static const bool open[WHY_COUNT] = {
#define WHY(id, code, text) [WHY_##id] = D_##code == D_W0411 || D_##code == D_W0412,
#include "verify/whys.def"
	};
	return open[id];
}

static bool is_of_proxies(WhyId id)
{
	return id == WHY_PROXY || id == WHY_READ_PROXY || id == WHY_OVER_PROXY ||
	       id == WHY_WROTE_PROXY;
}

/* Which may be right where lanes that access a slot are those that arrive, or wait. */
static bool is_rough(const Run *r, WhyId id, int other)
{
	AgentSet who = AGENT(r->agent) | (other >= 0 ? AGENT(other) : 0);
	bool order = id == WHY_OVERWRITE || id == WHY_OVER_READ || id == WHY_READ_WRITE ||
		     id == WHY_UNORDERED || is_of_proxies(id);
	return order && r->m->rough & who;
}

bool run_wrong(Run *r, WhyId id, int key, int cell, int other)
{
	if (is_rough(r, id, other))
		id = WHY_SOME_LANES;
	else if (r->m->in_turns && is_of_proxies(id))
		id = WHY_FENCE_LANES;
	*r->why = (Why){.id = id, .agent = r->agent, .other = other, .key = key, .cell = cell};
	r->why->step = r->step;
	return false;
}

static bool wrong_count(Run *r, WhyId id, int key, int64_t n, int64_t m)
{
	run_wrong(r, id, key, -1, -1);
	r->why->n = n;
	r->why->m = m;
	return false;
}

/* ------------------------------------------------------------------ phases */
/* That the last phase is over: said by the barrier, or by all who arrived in it. */
static bool known_done(Run *r, int key)
{
	const Machine *m = r->m;
	const KeyState *k = key_of(m, r->s, key);
	if (fact_known(m, r->s, r->agent, m->f_done[key]))
		return true;
	if (!m->exact || !k->last || k->last_loads)
		return false;
	for (AgentSet left = k->last; left; left &= left - 1) {
		int came = m->f_came_last[key * m->na + agent_first(left)];
		if (!fact_known(m, r->s, r->agent, came))
			return false;
	}
	return true;
}

/* Of barriers that a lane of their warp made, others know when they have met it. Of all lanes, some
 * have not made them; of one lane, it may be the one that did. */
static bool lanes_know_init(Run *r, int key)
{
	enum { ALL_LANES = 32 };
	bool unmet = r->step->others && agent_of(r->m, r->s, r->agent)->owed.made;
	WhyId id = r->step->lanes == ALL_LANES ? WHY_NO_INIT : WHY_INIT_LANES;
	return !unmet || r->m->alike || run_wrong(r, id, key, -1, -1);
}

bool run_can_arrive(Run *r, int key)
{
	const Machine *m = r->m;
	if (!m->keys[key].named && !lanes_know_init(r, key))
		return false;
	if (!m->keys[key].named && !fact_known(m, r->s, r->agent, m->f_init[key]))
		return run_wrong(r, WHY_NO_INIT, key, -1, -1);
	return known_done(r, key) || run_wrong(r, WHY_PHASE, key, -1, -1);
}

static void land(Run *r, int key)
{
	const Machine *m = r->m;
	for (int i = 0; i < m->nc; i++) {
		CellState *c = cell_of(m, r->s, i);
		if (c->pending != key)
			continue;
		c->pending = -1;
		fact_set(m, r->s, knows_next(m, key), m->f_wrote[i]);
	}
}

/* Those who stand at a named barrier go on and know what all brought. */
static void release(Run *r, KeyState *k, int key)
{
	for (AgentSet left = k->meeting; left; left &= left - 1) {
		int a = agent_first(left);
		facts_add(r->m, r->s, knows_agent(r->m, a), knows_past(r->m, key));
		const Step *st = &r->letter->of[a].steps[r->at[a].n++];
		if (r->seen)
			r->seen(r->user, a, st, false);
	}
	k->meeting = 0;
}

bool run_count_bytes(Run *r, int key, int64_t more)
{
	KeyState *k = key_of(r->m, r->s, key);
	more += k->tx;
	if (more <= MBAR_MOST && more >= -MBAR_MOST) {
		k->tx = (int32_t)more;
		return true;
	}
	run_wrong(r, WHY_TX, key, -1, -1);
	r->why->bytes = more;
	return false;
}

/* Of a slot it is known that it was loaded, not which parts: who learns it of the last one must
 * have been told of the others at the same barrier, and who loads that one know of them. Parts have
 * no byte in common, so that it is not wrong otherwise: it is not followed. */
bool run_parts_apart(const Run *r, const Step *st)
{
	const CellState *c = cell_of(r->m, r->s, st->cell);
	int wrote = r->m->f_wrote[st->cell];
	bool told = fact_in(r->m, r->s, knows_next(r->m, st->key), wrote) && run_knows(r, wrote);
	return !r->m->alike && c->mode == CELL_WRITTEN && c->mask && !(c->mask & st->mask) &&
	       (c->pending >= 0 ? c->pending != st->key : !told);
}

bool run_complete(Run *r, int key)
{
	const Machine *m = r->m;
	KeyState *k = key_of(m, r->s, key);
	if (k->arrived < k->need || k->tx)
		return true;
	for (AgentSet left = k->waited; left; left &= left - 1) {
		int a = agent_first(left);
		if (!fact_in(m, r->s, knows_next(m, key), m->f_seen[key * m->na + a]))
			return run_wrong(r, WHY_UNSEEN, key, -1, a);
	}
	if (m->exact && k->last && !k->last_loads)
		facts_settle(m, r->s, key, k->last);
	if (k->loads)
		land(r, key);
	k->waited = 0;
	k->arrived = 0;
	k->last = m->exact ? k->from : 0;
	k->last_loads = m->exact && k->loads;
	k->from = 0;
	k->loads = 0;
	k->parity ^= 1;
	facts_advance(m, r->s, key);
	release(r, k, key);
	return true;
}

/* What an arrival tells. At another CTA's barrier it must come before that CTA is gone. */
static void tell(Run *r, int key)
{
	const Machine *m = r->m;
	int rank = m->keys[key].rank, next = knows_next(m, key);
	int known = knows_agent(m, r->agent), own = knows_own(m, r->agent);
	const uint64_t *carried = r->step->kind == STEP_BAR_RELAXED ? m->inits : m->all;
	if (rank >= 0 && rank != m->agents[r->agent].rank) {
		run_sends(r, key);
		carried = m->abroad;
	}
	facts_add_of(m, r->s, next, known, carried);
	facts_add_of(m, r->s, next, own, carried);
}

/* n arrivals by each warp of the agent */
static bool count(Run *r, int key, int64_t n)
{
	const Machine *m = r->m;
	KeyState *k = key_of(m, r->s, key);
	if (!run_can_arrive(r, key))
		return false;
	if (n <= 0)
		return run_wrong(r, WHY_NO_ARRIVAL, key, -1, -1);
	n = n * m->agents[r->agent].warps + k->arrived;
	if (n > k->need)
		return wrong_count(r, WHY_EXCESS, key, k->need, 0);
	k->arrived = (int32_t)n;
	k->from |= AGENT(r->agent);
	fact_forget(m, r->s, m->f_came[key * m->na + r->agent]); /* known of the first only */
	return true;
}

/* Each lane does when its copies are there, some time from now on: that it came, its agent does not
 * know. It counts at once, since no phase is complete without it. Nothing but the copies is ordered
 * by it, beside time (PTX ISA, cp.async.mbarrier.arrive). */
static bool arrive_behind_copies(Run *r, const Step *st)
{
	const Machine *m = r->m;
	int next = knows_next(m, st->key);
	if (!count(r, st->key, st->lanes))
		return false;
	if (st->lanes == WARP_LANES)
		run_tell_copies(r, st->key);
	facts_add_of(m, r->s, next, knows_agent(m, r->agent), m->timely);
	facts_add_of(m, r->s, next, knows_own(m, r->agent), m->timely);
	return run_complete(r, st->key);
}

static bool arrive(Run *r, int key, int64_t n)
{
	const Machine *m = r->m;
	KeyState *k = key_of(m, r->s, key);
	if (!count(r, key, n))
		return false;
	fact_make(m, r->s, r->agent, m->f_came[key * m->na + r->agent]);
	tell(r, key);
	bool alone = k->from == AGENT(r->agent) && !k->loads && m->agents[r->agent].warps == 1;
	if (!run_complete(r, key))
		return false;
	/* It need not wait to know that the phase is over; what its other lanes did each lane does
	 * not know. */
	bool each = !m->alike && (r->step->kind == STEP_BAR_ARRIVE ||
				  (r->step->kind == STEP_ARRIVE && r->step->lanes > 1));
	if (alone && !k->from)
		facts_add_of(m, r->s, knows_agent(m, r->agent), knows_past(m, key),
			     each ? m->timely : m->all);
	return true;
}

/* The parity lets phase L through, or waits for the next, where L phases are known to be done; the
 * barrier must be at neither more. */
static bool wait(Run *r, const Step *st)
{
	const Machine *m = r->m;
	KeyState *k = key_of(m, r->s, st->key);
	bool last = known_done(r, st->key);
	if (!fact_known(m, r->s, r->agent, m->f_init[st->key]))
		return run_wrong(r, WHY_NO_INIT, st->key, -1, -1);
	if (!lanes_know_init(r, st->key))
		return false;
	if (st->n != 0 && st->n != 1)
		return wrong_count(r, WHY_NO_PARITY, st->key, st->n, 0);
	if (!last && !fact_known(m, r->s, r->agent, m->f_prev[st->key]))
		return run_wrong(r, WHY_PARITY, st->key, -1, -1);
	bool passes = (int)k->parity != st->n;
	if (!last && !passes)
		return run_wrong(r, WHY_PARITY, st->key, -1, -1);
	if (!passes) {
		r->blocked = true;
		return true;
	}
	k->waited |= AGENT(r->agent);
	facts_add(m, r->s, knows_agent(m, r->agent), knows_past(m, st->key));
	run_learn(r, knows_past(m, st->key));
	fact_forget(m, r->s, m->f_seen[st->key * m->na + r->agent]); /* of an earlier wait */
	fact_make(m, r->s, r->agent, m->f_seen[st->key * m->na + r->agent]);
	return true;
}

static bool meet(Run *r, const Step *st)
{
	KeyState *k = key_of(r->m, r->s, st->key);
	AgentSet me = AGENT(r->agent);
	r->blocked = true;
	if (k->meeting & me)
		return true;
	if (st->n != k->need && r->m->keys[st->key].rank >= 0)
		return wrong_count(r, WHY_THREADS, st->key, st->n, k->need);
	k->meeting |= me;
	agent_of(r->m, r->s, r->agent)->owed.made = 0;
	run_meet(r);
	if (st->kind == STEP_BAR)
		run_join(r);
	if (!arrive(r, st->key, 1))
		return false;
	r->moved = true;
	return true;
}

static bool signal(Run *r, const Step *st)
{
	KeyState *k = key_of(r->m, r->s, st->key);
	if (st->n != k->need)
		return wrong_count(r, WHY_THREADS, st->key, st->n, k->need);
	if (r->m->alike)
		run_meet(r);
	else
		run_each_arrives(r, st->key);
	return arrive(r, st->key, 1);
}

/* ------------------------------------------------------------------ the start */
static void fence_init(Run *r)
{
	for (int i = 0; i < r->m->nk; i++) {
		KeyState *k = key_of(r->m, r->s, i);
		if (r->m->keys[i].named || !(k->meeting >> r->agent & 1))
			continue;
		k->meeting = 0;
		agent_of(r->m, r->s, r->agent)->owed.made = 1;
		fact_make(r->m, r->s, r->agent, r->m->f_init[i]);
	}
}

static bool init(Run *r, const Step *st)
{
	KeyState *k = key_of(r->m, r->s, st->key);
	if (st->n <= 0 || st->n > MBAR_MOST)
		return wrong_count(r, WHY_COUNT_OUT, st->key, st->n, 0);
	if (k->need)
		return run_wrong(r, WHY_REINIT, st->key, -1, -1);
	if (st->lanes != 1 || r->m->agents[r->agent].warps != 1)
		return run_wrong(r, WHY_LANES, st->key, -1, -1);
	k->need = st->n;
	k->meeting = AGENT(r->agent); /* until it is fenced */
	if (r->m->inits_plain)
		fence_init(r);
	return true;
}

/* Between two times that a warpgroup sets its registers all its warps meet: the time before is over
 * for those that have set them now as for the others. */
static bool have_met(Run *r)
{
	const Machine *m = r->m;
	AgentSet all = m->setters >> r->agent & 1 ? m->setters & m->mates[r->agent] : 0;
	for (AgentSet left = all; left; left &= left - 1) {
		int a = agent_first(left);
		bool ahead = agent_of(m, r->s, a)->sets != agent_of(m, r->s, r->agent)->sets;
		if (!fact_known(m, r->s, r->agent, (ahead ? m->f_set_before : m->f_set)[a]))
			return run_wrong(r, WHY_REGS_MET, -1, -1, a);
	}
	return true;
}

static void note_set(Run *r)
{
	const Machine *m = r->m;
	if (!(m->setters >> r->agent & 1))
		return;
	agent_of(m, r->s, r->agent)->sets ^= 1;
	fact_age(m, r->s, m->f_set[r->agent]);
	fact_make(m, r->s, r->agent, m->f_set[r->agent]);
}

static bool set_regs(Run *r, const Step *st)
{
	AgentState *a = agent_of(r->m, r->s, r->agent);
	int more = (st->n - a->regs) * 32 * r->m->agents[r->agent].warps;
	int *pool = &r->pool[r->m->agents[r->agent].rank];
	if (!have_met(r))
		return false;
	if (st->op && st->n != a->regs &&
	    (st->n > a->regs) != (attrs_int(&st->op->attrs, A_N, 0) == 1))
		return wrong_count(r, WHY_REGS_WAY, -1, a->regs, st->n);
	if (more > *pool || (more > 0 && r->holds)) {
		r->blocked = true;
		return true;
	}
	*pool -= more;
	a->regs = st->n;
	note_set(r);
	return true;
}

/* ------------------------------------------------------------------ one step */
static bool barrier_step(Run *r, const Step *st)
{
	switch ((StepKind)st->kind) {
	case STEP_INIT:
		return init(r, st);
	case STEP_FENCE_INIT:
		fence_init(r);
		return true;
	case STEP_BAR:
	case STEP_BAR_RELAXED:
		return meet(r, st);
	case STEP_BAR_ARRIVE:
		return signal(r, st);
	case STEP_WAIT:
		return wait(r, st);
	case STEP_WARP:
		run_join(r);
		run_meet(r);
		return true;
	case STEP_ARRIVE:
		if (st->lanes == WARP_LANES && r->m->alike)
			run_meet(r);
		else if (st->lanes == WARP_LANES)
			run_each_arrives(r, st->key);
		return arrive(r, st->key, (int64_t)st->n * st->lanes);
	case STEP_COPY_ARRIVE:
		return arrive_behind_copies(r, st);
	case STEP_EXPECT:
		return run_count_bytes(r, st->key,
				       (int64_t)st->n * st->lanes * r->m->agents[r->agent].warps) &&
		       arrive(r, st->key, st->lanes);
	case STEP_REGS:
		return set_regs(r, st);
	case STEP_NOWHERE:
		return wrong_count(r, WHY_SLOT, st->key, st->n, 0);
	case STEP_BEYOND:
		return wrong_count(r, WHY_BEYOND, -1, st->n, 0);
	default:
		return run_memory(r, st);
	}
}

static bool agent_run(Run *r, int a)
{
	const Part *p = &r->letter->of[a];
	r->agent = a;
	while (r->at[a].n < p->n) {
		r->step = &p->steps[r->at[a].n];
		r->blocked = false;
		if (!barrier_step(r, r->step))
			return false;
		if (r->blocked)
			return true;
		r->moved = true;
		r->at[a].n++;
		if (r->seen)
			r->seen(r->user, a, r->step, false);
	}
	return true;
}

static const Step *next_of(const Run *r, int a)
{
	const Part *p = &r->letter->of[a];
	return r->at[a].n < p->n ? &p->steps[r->at[a].n] : NULL;
}

/* How many agents are stuck at this one's barrier: the fewer, the nearer it is to the cause. */
static int company(const Run *r, int key)
{
	int n = 0;
	for (int a = 0; a < r->m->na; a++)
		n += next_of(r, a) && next_of(r, a)->key == key;
	return n;
}

static bool stuck(Run *r)
{
	int who = -1, least = MAX_AGENTS + 1;
	for (int a = 0; a < r->m->na; a++) {
		const Step *st = next_of(r, a);
		int n = st ? company(r, st->key) : 0;
		if (st && r->seen)
			r->seen(r->user, a, st, true);
		if (st && n < least) {
			who = a;
			least = n;
		}
	}
	if (who < 0)
		return true;
	r->agent = who;
	r->step = next_of(r, who);
	if (r->step->kind == STEP_REGS)
		return run_wrong(r, WHY_DEAD_REGS, -1, -1, -1);
	const KeyState *k = key_of(r->m, r->s, r->step->key);
	wrong_count(r, WHY_DEADLOCK, r->step->key, k->arrived, k->need);
	r->why->bytes = k->tx;
	return false;
}

static bool run_all(Run *r)
{
	do {
		r->moved = false;
		for (int a = 0; a < r->m->na; a++)
			if (!agent_run(r, a))
				return false;
	} while (r->moved);
	return true;
}

/* Registers that the agent still takes in this letter. */
static int taken_by(const Run *r, int a)
{
	const Part *p = &r->letter->of[a];
	int regs = agent_of(r->m, r->s, a)->regs, more = 0;
	for (int i = r->at[a].n; i < p->n; i++) {
		const Step *st = &p->steps[i];
		if (st->kind != STEP_REGS)
			continue;
		more += st->n > regs ? st->n - regs : 0;
		regs = st->n;
	}
	return more * 32 * r->m->agents[a].warps;
}

/* Who takes registers first matters, unless what is given back without that is enough for all. */
static bool order_matters(const Run *r)
{
	int left[MAX_RANKS];
	bool some = false, few = false;
	memcpy(left, r->pool, sizeof left);
	for (int a = 0; a < r->m->na; a++) {
		int more = taken_by(r, a), rank = r->m->agents[a].rank;
		some |= more > 0;
		left[rank] -= more;
		few |= more > 0 && left[rank] < 0;
	}
	return few || (some && r->m->regs_late);
}

bool letter_run(const Machine *m, State *s, const Letter *l, StepSeen *seen, void *user, Why *why)
{
	Run r = {.m = m, .s = s, .letter = l, .why = why, .seen = seen, .user = user};
	if (m->fills)
		fills_begin(m->fills);
	for (int a = 0; a < m->na; a++)
		r.pool[m->agents[a].rank] -=
			(agent_of(m, s, a)->regs - m->agents[a].regs) * 32 * m->agents[a].warps;
	r.holds = true;
	if (!run_all(&r))
		return false;
	r.holds = false;
	bool open = order_matters(&r);
	if (!run_all(&r) || !stuck(&r))
		return false;
	return !open || run_wrong(&r, WHY_REGS_ORDER, -1, -1, -1);
}
