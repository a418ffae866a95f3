/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tree.c - the loops of all roles as one tree: those that run equally often and use the same
 * barriers are one.
 *     producer: for k { fill a }  for j { fill b }     reader: for k { read a }  for j { read b }
 * ->  for k { fill a | read a }  for j { fill b | read b }
 */
#include "verify/tree/merge.h"

/* ------------------------------------------------------------------ equal loops */
typedef struct {
	Item *at[MAX_ROW];
	int n;
	int as[MAX_ROW]; /* which of the common ones */
} Row;

/* In names that two roles share, of which one may take some of the other's trips only. */
static const Ix *in_common(const Merger *m, const Branch *up, int agent, int other, const Ix *x)
{
	Ctx *c = m->c;
	for (; up; up = up->up) {
		const Shared *own = up->of[agent], *of = up->of[other];
		const Ix *trip = ix_sym(c, up->name);
		if (!own)
			continue;
		if (of && own->turns == 1 && of->turns > 1)
			trip = ix_add(c, ix_mul(c, trip, ix_const(c, of->turns)),
				      ix_const(c, of->turn));
		x = ix_subst(c, x, own->own, trip);
		for (int i = 0; i < own->counters; i++)
			x = ix_subst(c, x, own->counter[i],
				     ix_sym(c, m->t->carried[up->counter[agent][i]].name));
	}
	return x;
}

static bool comparable(const Branch *up, int a, int b)
{
	for (; up; up = up->up) {
		const Shared *x = up->of[a], *y = up->of[b];
		if (!x || !y ||
		    (x->turns > 1 && y->turns > 1 && (x->turns != y->turns || x->turn != y->turn)))
			return false;
	}
	return true;
}

/* Of roles that never take the same trip, where no loop around decides it. */
bool merge_same_in(const Merger *m, const Branch *up, int a, const Ix *x, int b, const Ix *y)
{
	const Ix *p = in_common(m, up, a, b, x), *q = in_common(m, up, b, a, y);
	return (comparable(up, a, b) || (p == x && q == y)) && ix_same(m->c, p, q, m->t->facts);
}

/* Whether a role's loop is one of another: of all its trips, or of some in turn. */
static bool is_one(const Merger *m, const Branch *up, int a, const Shared *x, int b,
		   const Shared *y)
{
	if (x->turns == y->turns && x->turn == y->turn)
		return merge_same_in(m, up, a, x->trip, b, y->trip);
	Script s = {.turns = 1};
	if (up || (x->turns > 1 && y->turns > 1))
		return false;
	return x->turns > 1 ? read_takes_turns(m->r, &s, y->trip, x->trip)
			    : read_takes_turns(m->r, &s, x->trip, y->trip);
}

/* Barriers and buffers that two loops touch. */
static int both_touch(const Shared *x, const Shared *y)
{
	int n = 0;
	for (int rank = 0; rank < MAX_RANKS; rank++)
		n += __builtin_popcountll(x->touches[rank] & y->touches[rank]);
	return n;
}

/* Of two that never take the same trip, one that takes all sees whether they are one. */
static bool is_seen(const Merger *m, const Branch *b, int agent, int other)
{
	for (int a = 0; a < m->p->m.na; a++)
		if (b->of[a] && comparable(b->up, agent, a) && comparable(b->up, other, a))
			return true;
	return false;
}

/* How well a role's loop goes with one of the tree; 0: it is another. */
static int likeness(const Merger *m, const Branch *b, int agent, const Shared *sh)
{
	int common = 0;
	for (int a = 0; a < m->p->m.na; a++) {
		const Shared *of = b->of[a];
		if (!of || (of->turns > 1 && sh->turns > 1 && of->turn != sh->turn))
			continue; /* that is seen when one takes all */
		if (!comparable(b->up, agent, a) && is_seen(m, b, agent, a))
			continue;
		if (!is_one(m, b->up, agent, sh, a, of))
			return 0;
		common += 2 * both_touch(of, sh);
	}
	return 1 + common;
}

/* ------------------------------------------------------------------ the order of loops */
/* Which of the tree's loops each of a role's is, in order, so that the likeness is the most. */
static void align(const Merger *m, const Sequence *q, int agent, Row *row)
{
	int best[MAX_ROW + 1][MAX_ROW + 1] = {{0}}, like[MAX_ROW][MAX_ROW];
	int n = q->loops.n, i = 0, j = 0;
	for (i = row->n - 1; i >= 0; i--)
		for (j = n - 1; j >= 0; j--) {
			int both = likeness(m, q->loops.at[j], agent, row->at[i]->shared);
			like[i][j] = both;
			int skip =
				best[i + 1][j] > best[i][j + 1] ? best[i + 1][j] : best[i][j + 1];
			both = both ? both + best[i + 1][j + 1] : 0;
			best[i][j] = both > skip ? both : skip;
		}
	for (i = j = 0; i < row->n;) {
		row->as[i] = -1;
		if (j < n && like[i][j] && best[i][j] == like[i][j] + best[i + 1][j + 1])
			row->as[i++] = j++;
		else if (j < n && best[i][j] == best[i][j + 1])
			j++;
		else
			i++;
	}
}

static Branch *branch_new(Merger *m, Branch *up)
{
	Tree *t = m->t;
	Branch *b = NEW(m->p->arena, Branch);
	b->id = t->loops.n;
	b->up = up;
	b->name = ctx_strf(m->c, "#trip%d", b->id);
	b->period = b->first = b->last = 1;
	vec_push(m->p->arena, &t->loops, b);
	return b;
}

static void insert(Merger *m, Sequence *q, int at, Branch *b)
{
	vec_push(m->p->arena, &q->loops, b);
	for (int i = q->loops.n - 1; i > at; i--)
		q->loops.at[i] = q->loops.at[i - 1];
	q->loops.at[at] = b;
}

/* A loop that uses what another does, and runs more or less often. */
static bool contradicts(Merger *m, const Sequence *q, int agent, const Item *loop)
{
	for (int i = 0; i < q->loops.n; i++)
		for (int a = 0; a < m->p->m.na; a++) {
			const Branch *b = q->loops.at[i];
			const Shared *of = b->of[a], *own = loop->shared;
			if (!of || !both_touch(of, own) || b->of[agent] ||
			    !comparable(b->up, agent, a) || is_one(m, b->up, agent, own, a, of))
				continue;
			read_differ(m->r, a, of->op, of->raw, agent, own->raw);
			return true;
		}
	return false;
}

/* In the same code as another warp's, it stands after what comes first there; before `end`. */
static int place_among(const Merger *m, const Sequence *q, int agent, const Op *loop, int at,
		       int end)
{
	int place = at;
	for (int i = at; i < end; i++)
		for (int a = 0; a < m->p->m.na; a++) {
			const Shared *of = q->loops.at[i]->of[a];
			bool same = m->p->scripts[a].role == m->p->scripts[agent].role;
			place = of && same && op_precedes(of->op, loop) ? i + 1 : place;
		}
	return place;
}

static bool put_row(Merger *m, Sequence *q, Branch *up, int agent, Row *row)
{
	int at = 0;
	align(m, q, agent, row);
	for (int i = 0; i < row->n; i++) {
		if (row->as[i] < 0 && contradicts(m, q, agent, row->at[i]))
			return false;
		if (row->as[i] < 0) {
			int next = i + 1;
			while (next < row->n && row->as[next] < 0)
				next++;
			at = !m->t->among ? at
					  : place_among(m, q, agent, row->at[i]->shared->op, at,
							next < row->n ? row->as[next] : q->loops.n);
			insert(m, q, at, branch_new(m, up));
			for (int j = i + 1; j < row->n; j++)
				row->as[j] += row->as[j] >= 0;
			row->as[i] = at;
		}
		at = row->as[i] + 1;
		q->loops.at[row->as[i]]->of[agent] = row->at[i]->shared;
	}
	return m->t->loops.n <= MAX_BRANCHES || read_limit(m->r, LIMIT_BRANCHES, m->p->k->loc);
}

/* ------------------------------------------------------------------ counts */
static bool names_of(const Shared *sh, const Ix *x)
{
	bool uses = ix_uses(x, sh->own);
	for (int i = 0; i < sh->counters; i++)
		uses |= ix_uses(x, sh->counter[i]);
	return uses;
}

static Branch *home_of(const Branch *b, int agent, const Ix *trip)
{
	for (Branch *up = b->up; up; up = up->up)
		if (up->of[agent] && names_of(up->of[agent], trip))
			return up;
	return NULL;
}

/* What is known where the loops around it have no more trips than they may. */
static IxFacts facts_in(const Merger *m, const Branch *b, int agent)
{
	VEC(IxFact) all = {0};
	for (int i = 0; i < m->t->facts.n; i++) {
		IxFact f = m->t->facts.at[i];
		for (const Branch *up = b->up; up; up = up->up)
			if (up->of[agent] && up->of[agent]->own == f.name)
				f.hi = most_trip(up);
		vec_push(m->p->arena, &all, f);
	}
	return (IxFacts){.at = all.at, .n = all.n, .places = m->t->facts.places};
}

/* Within which bounds it is, also where the trips to come say how many there were. */
static void range_in(const Merger *m, const Branch *b, int agent, int64_t *lo, int64_t *hi)
{
	const Ix *x = b->of[agent]->trip;
	IxFacts facts = facts_in(m, b, agent);
	ix_range(x, facts, lo, hi);
	for (const Branch *up = b->up; up; up = up->up) {
		const Shared *sh = up->of[agent];
		int64_t least, most;
		if (!sh || sh->turns > 1 || !ix_uses(x, sh->own))
			continue;
		const Ix *by = ix_sub(m->c, sh->trip, ix_sym(m->c, sh->rest));
		ix_range(ix_subst(m->c, x, sh->own, by), facts, &least, &most);
		*lo = least > *lo ? least : *lo;
		*hi = most < *hi ? most : *hi;
	}
}

static Count *count_new(Merger *m, const Branch *b, int agent)
{
	Tree *t = m->t;
	Count *n = &t->counts[t->ncounts++];
	const Ix *trip = b->of[agent]->trip;
	Num is = read_number(m->r, trip);
	*n = (Count){.trip = trip, .agent = agent, .home = home_of(b, agent, trip)};
	range_in(m, b, agent, &n->lo, &n->hi);
	n->lo = is.lo > n->lo ? is.lo : n->lo;
	n->hi = is.hi < n->hi && is.hi < INT32_MAX / 4 ? is.hi : n->hi;
	n->mod = is.mod > 1 ? is.mod : 1;
	n->res = is.mod > 1 ? is.res : 0;
	n->below = n->lo < 0;
	n->by = trip->kind == IX_CONST ? trip
				       : ix_sym(m->c, branch_trips(m->c, t->ncounts - 1, true));
	n->none = ix_sym(m->c, branch_trips(m->c, t->ncounts - 1, false));
	return n;
}

/* All trips, not some in turn: of who takes all. */
static int teller(const Merger *m, const Branch *b)
{
	int best = -1;
	for (int a = m->p->m.na - 1; a >= 0; a--) {
		const Branch *root = b;
		while (root->up)
			root = root->up;
		if (b->of[a] && (best < 0 || root->of[a]->turns == 1))
			best = a;
	}
	return best;
}

/* Whatever was taken for one loop is one. */
static bool is_right(const Merger *m, const Branch *b, int first)
{
	bool right = true;
	for (int a = 0; a < m->p->m.na && right; a++)
		right = !b->of[a] || (b->of[first]->turns == 1 &&
				      is_one(m, b->up, a, b->of[a], first, b->of[first]));
	return right;
}

/* That of another loop, of which a role says that it runs as often. */
static Count *count_known(const Merger *m, const Branch *b)
{
	for (int a = 0; a < m->p->m.na; a++) {
		const Shared *sh = b->of[a];
		Count *n = sh && sh->turns == 1 ? m->t->count_of[a][sh->count] : NULL;
		if (n)
			return n;
	}
	return NULL;
}

static bool put_counts(Merger *m, Branch *b)
{
	Tree *t = m->t;
	int first = teller(m, b);
	if (!is_right(m, b, first))
		return read_problem(m->r, D_W0411, b->of[first]->op->loc,
				    "loops that roles take in turn");
	b->count = count_known(m, b);
	if (!b->count && t->ncounts == MAX_COUNTS)
		return read_limit(m->r, LIMIT_COUNTS, b->of[first]->op->loc);
	b->count = b->count ? b->count : count_new(m, b, first);
	for (int a = 0; a < m->p->m.na; a++) {
		if (!b->of[a] || b->of[a]->turns > 1)
			continue;
		Count **own = &t->count_of[a][b->of[a]->count];
		if (*own && *own != b->count)
			return read_problem(m->r, D_W0411, b->of[a]->op->loc,
					    "loops of which a role does not say that they run "
					    "equally often");
		*own = b->count;
	}
	return true;
}

/* ------------------------------------------------------------------ what stands between */
/* As early as they may be: what waits there for who comes later is put off (tour.c). */
static void put_between(Merger *m, Sequence *q, int agent, const Items *list, const Row *row)
{
	int at = 0, next = 0;
	for (int i = 0; i < list->n; i++) {
		Item *it = list->at[i];
		bool exits = it->kind == ITEM_STEP && it->step.kind == STEP_EXIT;
		if (it->kind == ITEM_SHARED)
			at = row->as[next++] + 1;
		else
			vec_push(m->p->arena, &q->parts.at[exits ? q->loops.n : at]->of[agent], it);
	}
}

static bool put_parts(Merger *m, Sequence *q, Branch *in)
{
	for (int i = 0; i <= q->loops.n; i++) {
		Segment *g = NEW(m->p->arena, Segment);
		g->id = m->t->segments.n;
		g->in = in;
		g->at = i;
		vec_push(m->p->arena, &q->parts, g);
		vec_push(m->p->arena, &m->t->segments, g);
	}
	return true;
}

typedef struct {
	const Items *of[MAX_AGENTS];
} Lists;

static bool merge(Merger *m, Sequence *q, Branch *in, const Lists *lists);

static bool merge_body(Merger *m, Branch *b, const Row *rows)
{
	Lists *in = NEW(m->p->arena, Lists);
	for (int a = 0; a < m->p->m.na; a++)
		for (int i = 0; b->of[a] && i < rows[a].n; i++)
			if (rows[a].at[i]->shared == b->of[a])
				in->of[a] = &rows[a].at[i]->body;
	return merge_counters(m, b) && put_counts(m, b) && merge(m, &b->body, b, in);
}

static bool find_row(Merger *m, const Items *list, Row *row)
{
	for (int i = 0; list && i < list->n; i++) {
		if (list->at[i]->kind != ITEM_SHARED)
			continue;
		if (row->n == MAX_ROW)
			return read_limit(m->r, LIMIT_ROW, list->at[i]->op->loc);
		row->at[row->n++] = list->at[i];
	}
	return true;
}

/* Whose loops are put first: of who takes all trips; of all; of the role with the most and those
 * who take the same trips, then of who takes all. */
typedef enum { OF_ALL_TRIPS, OF_ALL, OF_LEADER, ORDERS } Order;

static int place_of(const Branch *in, Order order, int leader, int agent)
{
	bool all = merge_takes_all(in, agent);
	if (order == OF_ALL)
		return 0;
	if (order == OF_LEADER && !all && comparable(in, leader, agent))
		return 0;
	return all ? 1 : 2;
}

/* Of those, who has the most first. */
static bool put_rows(Merger *m, Sequence *q, Branch *in, Row *rows, Order order)
{
	int na = m->p->m.na, leader = 0;
	for (int a = 0; a < na; a++)
		leader = rows[a].n > rows[leader].n ? a : leader;
	for (int place = 0; place <= 2; place++)
		for (int n = MAX_ROW; n > 0; n--)
			for (int a = 0; a < na; a++)
				if (rows[a].n == n && place_of(in, order, leader, a) == place &&
				    !put_row(m, q, in, a, &rows[a]))
					return false;
	return true;
}

/* What roles touch in one loop. */
static int in_common_of(const Merger *m, const Sequence *q)
{
	int n = 0;
	for (int i = 0; i < q->loops.n; i++)
		for (int a = 0; a < m->p->m.na; a++)
			for (int b = 0; b < a && q->loops.at[i]->of[a]; b++)
				if (q->loops.at[i]->of[b])
					n += both_touch(q->loops.at[i]->of[a],
							q->loops.at[i]->of[b]);
	return n;
}

/* In the order that makes the fewest loops of them, and of those with the most in common. */
static bool order_rows(Merger *m, Sequence *q, Branch *in, Row *rows)
{
	int before = m->t->loops.n, least = MAX_ROW + 1, common = -1, most = 0;
	Order best = OF_ALL_TRIPS;
	for (int a = 0; a < m->p->m.na; a++)
		most = rows[a].n > most ? rows[a].n : most;
	for (Order order = 0; order <= ORDERS; order++) {
		m->t->loops.n = before;
		q->loops.n = 0;
		bool ok = put_rows(m, q, in, rows, order == ORDERS ? best : order);
		if (order == ORDERS || (ok && most == 1 && q->loops.n == 1))
			return ok;
		int both = in_common_of(m, q);
		if (ok && (q->loops.n < least || (q->loops.n == least && both > common))) {
			best = order;
			least = q->loops.n;
			common = both;
		}
		m->p->problem = NULL;
	}
	return false;
}

static bool merge(Merger *m, Sequence *q, Branch *in, const Lists *lists)
{
	int na = m->p->m.na;
	Row *rows = NEWN(m->p->arena, Row, na);
	for (int a = 0; a < na; a++)
		if (!find_row(m, lists->of[a], &rows[a]))
			return false;
	if (!order_rows(m, q, in, rows))
		return false;
	for (int a = 0; a < na; a++) /* loops that came later have moved them */
		for (int i = 0; i < rows[a].n; i++)
			for (int j = 0; j < q->loops.n; j++)
				if (q->loops.at[j]->of[a] == rows[a].at[i]->shared)
					rows[a].as[i] = j;
	for (int i = 0; i < q->loops.n; i++)
		q->loops.at[i]->at = i;
	put_parts(m, q, in);
	for (int a = 0; a < na; a++)
		if (lists->of[a])
			put_between(m, q, a, lists->of[a], &rows[a]);
	for (int i = 0; i < q->loops.n; i++)
		if (!merge_body(m, q->loops.at[i], rows))
			return false;
	return true;
}

bool read_merge(Reader *r)
{
	Merger m = {r, r->p, r->p->tree, r->p->k->ctx};
	Lists *all = NEW(r->p->arena, Lists);
	m.t->p = r->p;
	m.t->cta_keys = r->cta_keys;
	m.t->cta_cells = r->cta_cells;
	m.t->open = -1;
	for (int a = 0; a < r->p->m.na; a++)
		all->of[a] = &r->p->scripts[a].items;
	return merge(&m, &m.t->root, NULL, all);
}
