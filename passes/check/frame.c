/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* frame.c - where rings stand: in each segment, the position of its next use is 0, and its slots
 * are named from there. From one segment to another a ring turns by how far its next use is from
 * the last one's, which must be a number: so its uses follow each other.
 *     wait full[(t * T + k) % 4], then full[(t * T + k + 1) % 4]   ->   full[0], turned by 1
 */
#include "passes/check/tree.h"

/* ------------------------------------------------------------------ rings */
static void add_units(Tree *t, const Op *decl, int first)
{
	int64_t slots = attrs_int(&decl->attrs, A_SLOTS, 1);
	int64_t groups = attrs_int(&decl->attrs, A_GROUPS, 1);
	bool barrier = decl->kind == OP_MBARRIER;
	int *of = barrier ? t->unit_of_key : t->unit_of_cell;
	for (int g = 0; g < groups; g++) {
		bool room = t->nunits < MAX_UNITS;
		Unit u = {first + g * (int)slots, (int)slots, g, barrier, false};
		for (int i = 0; i < slots; i++)
			of[u.first + i] = room ? t->nunits : -1;
		if (room)
			t->units[t->nunits++] = u;
	}
}

void find_units(Tree *t)
{
	int keys = 0, cells = 0;
	t->unit_of_key = NEWN(t->p->arena, int, t->cta_keys + 1);
	t->unit_of_cell = NEWN(t->p->arena, int, t->cta_cells + 1);
	for (const Op *op = kernel_first(t->p->k); op; op = op_next(op)) {
		int64_t n = attrs_int(&op->attrs, A_SLOTS, 1) * attrs_int(&op->attrs, A_GROUPS, 1);
		if (op->kind == OP_MBARRIER) {
			add_units(t, op, keys);
			keys += (int)n;
		} else if (op->kind == OP_SHARED) {
			add_units(t, op, cells);
			cells += (int)n;
		}
	}
}

static int unit_of(const Tree *t, int first, bool barrier)
{
	if (barrier)
		return first < t->cta_keys * t->p->m.ranks ? t->unit_of_key[first % t->cta_keys]
							   : -1;
	return t->unit_of_cell[first % t->cta_cells];
}

static void add_use(Tree *t, Segment *g, int agent, int first, bool barrier, const Ix *at,
		    const Ix *parity)
{
	int unit = first < 0 || !at ? -1 : unit_of(t, first, barrier);
	if (unit < 0)
		return;
	Uses *of = &g->uses[unit];
	for (int i = 0; i < of->n; i++)
		if (of->at[i].at == at && of->at[i].parity == parity && of->at[i].agent == agent)
			return;
	vec_push(t->p->arena, of, ((Use){agent, unit, at, parity}));
}

/* Of short loops, the first turn. */
static void add_uses(Tree *t, Segment *g, int agent, const Items *items, View *v)
{
	for (int i = 0; i < items->n; i++) {
		const Item *it = items->at[i];
		const Step *s = &it->step;
		int names = v->names.n;
		if (it->kind == ITEM_STEP) {
			bool waits = s->kind == STEP_WAIT;
			const Ix *at[] = {it->at_key, it->at_cell, it->at_cell2};
			for (int j = 0; j < 3; j++)
				at[j] = at[j] ? stage(v, at[j]) : NULL;
			add_use(t, g, agent, s->key, true, at[0],
				waits ? stage(v, it->number) : NULL);
			add_use(t, g, agent, s->cell, false, at[1], NULL);
			add_use(t, g, agent, s->cell2, false, at[2], NULL);
		}
		if (it->kind == ITEM_LOOP)
			vec_push(t->p->arena, &v->names,
				 ((Named){it->op->sym[0], stage(v, it->from)}));
		add_uses(t, g, agent, &it->body, v);
		v->names.n = names;
	}
}

void find_uses(Tree *t)
{
	for (int i = 0; i < t->segments.n; i++) {
		Segment *g = t->segments.at[i];
		g->uses = NEWN(t->p->arena, Uses, t->nunits + 1);
		for (int turns = 0; turns < 2; turns++)
			for (int a = 0; a < t->p->m.na; a++) {
				View v = {.ctx = t->p->k->ctx};
				if ((t->p->scripts[a].turns > 1) == turns)
					add_uses(t, g, a, &g->of[a], &v);
			}
	}
}

/* ------------------------------------------------------------------ names */
static const Ix *count_ix(const Tree *t, const int32_t *class, int i)
{
	const Count *n = &t->counts[i];
	return class[i] >= CLASS_EXACT   ? ix_const(t->p->k->ctx, class[i] - CLASS_EXACT)
	       : class[i] == CLASS_BELOW ? n->none
					 : n->by;
}

static const Ix *trips_done(const Tree *t, const Scope *s, const Branch *b)
{
	Ctx *c = t->p->k->ctx;
	return ix_add(c, ix_mul(c, s->u[b->id], ix_const(c, b->period)),
		      ix_const(c, s->residue[b->id]));
}

void scope_at(const Tree *t, const Where *at, Scope *s)
{
	Ctx *c = t->p->k->ctx;
	for (int i = 0; i < t->loops.n; i++) {
		const Branch *b = t->loops.at[i];
		const Trip *trip = &at->trip[i];
		s->u[i] = NULL;
		if (trip->kind == TRIP_NONE)
			continue;
		bool exact = trip->kind == TRIP_EXACT;
		s->u[i] = exact ? ix_const(c, trip->n / b->period) : ix_sym(c, b->name);
		s->residue[i] = exact ? trip->n % b->period : trip->residue;
	}
	for (int i = 0; i < t->ncarried; i++)
		s->carried[i] = ix_sym(c, t->carried[i].name);
	for (int i = 0; i < t->ncounts; i++)
		s->count[i] = at->count[i];
}

static void put(const Tree *t, View *v, const char *name, const Ix *by)
{
	vec_push(t->p->arena, &v->names, ((Named){name, by}));
}

/* A role's names of loops in those of the tree. */
void scope_view(const Tree *t, const Scope *s, int agent, View *v)
{
	Ctx *c = t->p->k->ctx;
	v->ctx = c;
	for (int i = 0; i < t->loops.n; i++) {
		const Branch *b = t->loops.at[i];
		const Shared *sh = b->of[agent];
		if (!sh || !s->u[i])
			continue;
		const Ix *each = ix_const(c, b->period / sh->turns);
		int64_t more = (s->residue[i] - sh->turn) / sh->turns;
		put(t, v, sh->own, ix_add(c, ix_mul(c, s->u[i], each), ix_const(c, more)));
		const Ix *all = count_ix(t, s->count, (int)(b->count - t->counts));
		put(t, v, sh->rest, ix_sub(c, all, trips_done(t, s, b)));
		for (int j = 0; j < sh->counters; j++)
			put(t, v, sh->counter[j], s->carried[b->counter[agent][j]]);
	}
	for (int i = 0; i < t->of_role[agent].n; i++)
		if (t->count_of[agent][i])
			put(t, v, branch_count(c, i),
			    count_ix(t, s->count, (int)(t->count_of[agent][i] - t->counts)));
}

static const Ix *in_scope(const Tree *t, const Scope *s, int agent, const Ix *x)
{
	View v = {.ctx = t->p->k->ctx};
	if (!x || x->kind == IX_CONST)
		return x;
	scope_view(t, s, agent, &v);
	return stage(&v, x);
}

static bool is_of(const Branch *in, const Scope *s, int agent)
{
	for (; in; in = in->up) {
		const Shared *sh = in->of[agent];
		if (!sh || s->residue[in->id] % sh->turns != sh->turn)
			return false;
	}
	return true;
}

bool takes_part(const Branch *in, const Where *at, int agent)
{
	for (; in; in = in->up) {
		const Shared *sh = in->of[agent];
		const Trip *trip = &at->trip[in->id];
		int64_t done = trip->kind == TRIP_EXACT ? trip->n : trip->residue;
		if (!sh || done % sh->turns != sh->turn)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------ positions */
typedef struct {
	const Ix *x;  /* of which a slot or a parity is made */
	int64_t each; /* slots for each 1 of x */
} Position;

static const Ix *stripped(const Ix *x, int64_t *each)
{
	int64_t m;
	for (;;) {
		if (x->kind == IX_ADD && ix_is_const(x->b, NULL))
			x = x->a;
		else if (x->kind == IX_MUL && ix_is_const(x->b, &m) && m > 0) {
			*each *= m;
			x = x->a;
		} else
			return x;
	}
}

/* The dividend that stands innermost. */
static Position position_in(const Ix *x, int64_t each)
{
	Position at = {NULL, 0};
	int64_t d;
	for (;;) {
		x = stripped(x, &each);
		bool divides = x->kind == IX_DIV || x->kind == IX_MOD;
		if (!divides || !ix_is_const(x->b, &d) || d < 1 || (x->kind == IX_DIV && each % d))
			return at;
		each = x->kind == IX_DIV ? each / d : each;
		x = x->a;
		at = (Position){x, each};
	}
}

static const Ix *replaced(Ctx *c, const Ix *x, const Ix *old, const Ix *by)
{
	if (x == old)
		return by;
	if (x->kind == IX_CONST || x->kind == IX_SYM)
		return x;
	const Ix *a = replaced(c, x->a, old, by), *b = replaced(c, x->b, old, by);
	return a == x->a && b == x->b ? x : ix_new(c, x->kind, a, b);
}

static int groups_of(const Tree *t, int unit)
{
	int n = 1;
	while (unit + n < t->nunits && t->units[unit + n].group)
		n++;
	return n;
}

/* Which of a declaration's groups a slot is of; below 0: it is not known. */
static int group_in(const Tree *t, int unit, const Ix *at, const Position *p)
{
	Ctx *c = t->p->k->ctx;
	int64_t v;
	if (groups_of(t, unit) == 1)
		return 0;
	if (p->x)
		at = replaced(c, at, p->x, ix_const(c, 0));
	if (!ix_is_const(at, &v) || v < 0)
		return -1;
	return (int)(v / t->units[unit].slots);
}

/* Where a use finds its ring, in slots from the first; NULL: it does not say. */
static const Ix *position_of(const Tree *t, const Scope *s, const Use *use, int *group)
{
	Ctx *c = t->p->k->ctx;
	int64_t slots = t->units[use->unit].slots;
	const Ix *at = in_scope(t, s, use->agent, use->at);
	const Ix *parity = in_scope(t, s, use->agent, use->parity);
	Position p = position_in(at, 1);
	*group = group_in(t, use->unit, at, &p);
	if (!p.x && parity && !ix_is_const(parity, NULL))
		p = position_in(parity, slots);
	if (p.x)
		return ix_mul(c, p.x, ix_const(c, p.each));
	return ix_is_const(at, NULL) && slots > 1 ? at : NULL;
}

typedef struct {
	Tree *t;
	int unit; /* that is looked for */
} Finder;

/* Where it hangs on a count that is not chosen yet, nothing. */
static const Ix *known(const Finder *f, const Scope *s, const Ix *x)
{
	for (int i = 0; i < f->t->ncounts; i++) {
		const Count *n = &f->t->counts[i];
		if (s->count[i] == CLASS_NONE && n->by->kind == IX_SYM && ix_uses(x, n->by->name))
			return NULL;
	}
	return x;
}

static const Ix *first_in(Finder *f, const Segment *g, const Scope *s)
{
	const Tree *t = f->t;
	int group, first = f->unit - t->units[f->unit].group;
	const Uses *uses = &g->uses[first];
	for (int i = 0; i < uses->n; i++) {
		const Use *use = &uses->at[i];
		if (!is_of(g->in, s, use->agent))
			continue;
		const Ix *x = position_of(t, s, use, &group);
		if (x && group == t->units[f->unit].group)
			return known(f, s, x);
	}
	return NULL;
}

static void forget_counts(const Tree *t, const Branch *home, Scope *s)
{
	for (int i = 0; i < t->ncounts; i++)
		if (t->counts[i].home == home && home)
			s->count[i] = CLASS_NONE;
}

static void begin(const Tree *t, const Branch *b, const Scope *from, Scope *to)
{
	*to = *from;
	to->u[b->id] = ix_const(t->p->k->ctx, 0);
	to->residue[b->id] = 0;
	for (int i = 0; i < t->ncarried; i++) {
		const Carried *k = &t->carried[i];
		if (k->of == b)
			to->carried[i] =
				in_scope(t, from, k->agent, b->of[k->agent]->start[k->number]);
	}
	forget_counts(t, b, to);
}

static void go_on(const Tree *t, const Branch *b, const Scope *from, Scope *to)
{
	Ctx *c = t->p->k->ctx;
	*to = *from;
	if (++to->residue[b->id] == b->period) {
		to->residue[b->id] = 0;
		to->u[b->id] = ix_add(c, from->u[b->id], ix_const(c, 1));
	}
	for (int i = 0; i < t->ncarried; i++) {
		const Carried *k = &t->carried[i];
		const Shared *sh = k->of == b ? b->of[k->agent] : NULL;
		if (sh && from->residue[b->id] % sh->turns == sh->turn)
			to->carried[i] = in_scope(t, from, k->agent, sh->step[k->number]);
	}
	forget_counts(t, b, to);
}

static const Ix *next_in(Finder *f, const Sequence *q, int from, const Scope *s)
{
	for (int i = from; i <= q->loops.n; i++) {
		const Ix *x = first_in(f, q->parts.at[i], s);
		if (x || i == q->loops.n)
			return x;
		Scope in;
		begin(f->t, q->loops.at[i], s, &in);
		x = next_in(f, &q->loops.at[i]->body, 0, &in);
		if (x)
			return x;
	}
	return NULL;
}

/* In the next trips of a loop, as many as there are residues. */
static const Ix *next_round(Finder *f, const Branch *b, const Scope *s)
{
	Scope now = *s, then;
	const Ix *x = NULL;
	for (int64_t i = 0; i < b->period && !x; i++) {
		go_on(f->t, b, &now, &then);
		x = next_in(f, &b->body, 0, &then);
		now = then;
	}
	return x;
}

static const Ix *next_use(Finder *f, const Segment *g, const Scope *at)
{
	const Sequence *q = g->in ? &g->in->body : &f->t->root;
	const Ix *x = next_in(f, q, g->at, at);
	Scope s = *at;
	for (const Branch *b = g->in; b && !x; b = b->up) {
		x = next_round(f, b, &s);
		if (x)
			return x;
		s.u[b->id] = NULL;
		forget_counts(f->t, b, &s);
		x = next_in(f, b->up ? &b->up->body : &f->t->root, b->at + 1, &s);
	}
	return x;
}

void refs_at(Tree *t, const Segment *g, const Where *at, Refs *refs)
{
	Scope s;
	scope_at(t, at, &s);
	for (int i = 0; i < t->nunits; i++) {
		Finder f = {t, i};
		refs->of[i] = t->units[i].plain ? NULL : next_use(&f, g, &s);
	}
}

/* ------------------------------------------------------------------ from segment to segment */
/* Names of the second segment in those of the first. */
static void put_then(const Move *m, const Scope *from, View *v)
{
	const Tree *t = m->t;
	Ctx *c = t->p->k->ctx;
	const Branch *b = m->into ? m->into : m->next;
	Scope to;
	if (!b)
		return;
	if (m->into)
		begin(t, b, from, &to);
	else
		go_on(t, b, from, &to);
	const Trip *trip = &m->to->trip[b->id];
	if (trip->kind == TRIP_STEADY || trip->kind == TRIP_LAST)
		put(t, v, b->name, to.u[b->id]);
	for (int i = 0; i < t->ncarried; i++)
		if (t->carried[i].of == b)
			put(t, v, t->carried[i].name, to.carried[i]);
	for (int i = 0; i < t->ncounts; i++)
		if (t->counts[i].home == b && t->counts[i].by->kind == IX_SYM)
			put(t, v, t->counts[i].by->name, ix_sym(c, ctx_str(c, "#then")));
}

/* What is known behind the last trip of a loop: which it was, or how many there were. */
static const Ix *left(const Move *m, const Ix *x)
{
	const Tree *t = m->t;
	Ctx *c = t->p->k->ctx;
	const Branch *b = m->out;
	if (!b)
		return x;
	const Trip *trip = &m->from->trip[b->id];
	const Ix *all = count_ix(t, m->from->count, (int)(b->count - t->counts));
	if (trip->kind == TRIP_EXACT)
		return all->kind == IX_SYM ? ix_subst(c, x, all->name, ix_const(c, trip->n + 1))
					   : x;
	return b->period > 1 ? x : ix_subst(c, x, b->name, ix_sub(c, all, ix_const(c, 1)));
}

bool move_turns(const Move *m, int64_t *by)
{
	Tree *t = m->t;
	Ctx *c = t->p->k->ctx;
	Scope from;
	View then = {.ctx = c};
	scope_at(t, m->from, &from);
	put_then(m, &from, &then);
	for (int i = 0; i < t->nunits; i++) {
		const Ix *x = m->before->of[i], *y = m->after->of[i];
		by[i] = 0;
		if (t->units[i].plain || !y)
			continue;
		t->open = i;
		y = stage(&then, y);
		int64_t lap = 2 * t->units[i].slots;
		if (!x || !ix_apart(c, left(m, y), left(m, x), t->facts, lap, &by[i]))
			return false;
		by[i] = (by[i] % lap + lap) % lap;
	}
	t->open = -1;
	return true;
}

/* ------------------------------------------------------------------ slots in their frame */
typedef struct {
	Tree *t;
	Ctx *c;
	const Ix *ref, *sym;      /* which stands for it */
	int64_t slots, lap, step; /* step: the ref is a multiple of it */
} Rewrite;

/* With all that is apart from the ref by a number made of it. */
static const Ix *rewritten(Rewrite *w, const Ix *x)
{
	int64_t by;
	if (x->kind == IX_CONST)
		return x;
	for (int64_t m = 1; m <= w->slots; m++) {
		const Ix *times = ix_mul(w->c, x, ix_const(w->c, m));
		if (w->slots % m || !ix_apart(w->c, times, w->ref, w->t->facts, w->lap, &by) ||
		    by % m)
			continue;
		w->step = lcm(w->step, m);
		const Ix *y = ix_add(w->c, w->sym, ix_const(w->c, by));
		return m == 1 ? y : ix_div(w->c, y, ix_const(w->c, m));
	}
	if (x->kind == IX_SYM)
		return x;
	const Ix *a = rewritten(w, x->a), *b = rewritten(w, x->b);
	return a == x->a && b == x->b ? x : ix_new(w->c, x->kind, a, b);
}

static void take_need(void *user, const char *name, int64_t q)
{
	int64_t *need = user;
	(void)name;
	*need = lcm(*need, q);
}

/* It says the same wherever the ring has gone once or twice round. */
static bool recurs(const Rewrite *w, const Ix *x)
{
	int64_t need = 1;
	if (!x)
		return true;
	ix_needs(x, 1, take_need, &need);
	return w->lap % need == 0;
}

static bool value_at(const Rewrite *w, const Ix *x, int64_t at, int64_t *v)
{
	*v = 0;
	return !x || ix_is_const(ix_subst(w->c, x, w->sym->name, ix_const(w->c, at)), v);
}

/* slot and phase of the ring that stands at `at`, as seen from there. Below 0: there are none. */
static int64_t seen_from(const Rewrite *w, const Ix *slot, const Ix *phase, int64_t at)
{
	int64_t s, v, S = w->slots, group;
	if (!value_at(w, slot, at, &s) || !value_at(w, phase, at, &v) || s < 0 || v < 0 || v > 1)
		return -1;
	group = s / S;
	s %= S;
	int64_t own = at % S, lap = at / S;
	int64_t place = (s - own + S) % S;
	v = phase ? (v + lap + (s < own)) & 1 : 0;
	return (group * S + place) * 2 + v;
}

static bool is_out(const Rewrite *w, const Ix *slot, const Ix *phase, int64_t at, int64_t most)
{
	int64_t s, v;
	return value_at(w, slot, at, &s) && value_at(w, phase, at, &v) &&
	       (s < 0 || s >= most || v < 0 || v > 1);
}

int frame_use(Tree *t, const Refs *refs, const View *v, int first, bool barrier, const Ix *at,
	      const Ix *parity, int64_t *slot, int64_t *phase)
{
	Ctx *c = t->p->k->ctx;
	int unit = unit_of(t, first, barrier);
	if (unit < 0)
		return 0;
	at = stage(v, at);
	parity = parity ? stage(v, parity) : NULL;
	Position p = position_in(at, 1);
	int group = group_in(t, unit, at, &p), groups = groups_of(t, unit);
	if (group < 0 || group >= groups || t->units[unit + group].plain)
		return 0;
	Rewrite w = {t,
		     c,
		     refs->of[unit + group],
		     ix_sym(c, ctx_str(c, "#ref")),
		     t->units[unit].slots,
		     2 * t->units[unit].slots,
		     1};
	int64_t from = 0, here;
	t->open = unit + group;
	if (!w.ref)
		w.ref = ix_sym(c, ctx_str(c, "#nowhere"));
	if (ix_is_const(w.ref, &from)) {
		from = (from % w.lap + w.lap) % w.lap;
	} else {
		at = rewritten(&w, at);
		parity = parity ? rewritten(&w, parity) : NULL;
	}
	if (!recurs(&w, at) || !recurs(&w, parity) ||
	    is_out(&w, at, parity, from, (int64_t)groups * w.slots))
		return -1;
	here = seen_from(&w, at, parity, from);
	for (int64_t i = w.step; i < w.lap && here >= 0 && !ix_is_const(w.ref, NULL); i += w.step)
		if (seen_from(&w, at, parity, i) != here)
			return -1;
	if (here < 0)
		return -1;
	t->open = -1;
	*slot = here / 2;
	*phase = here & 1;
	return 1;
}
