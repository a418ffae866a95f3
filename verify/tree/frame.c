/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* frame.c - where rings stand: in each segment, the position of its next use is 0, and its slots
 * are named from there. From one segment to another a ring turns by how far its next use is from
 * the last one's, which must be a number: so its uses follow each other.
 *     wait full[(t * T + k) % 4], then full[(t * T + k + 1) % 4]   ->   full[0], turned by 1
 */
#include "verify/tree/tree.h"

#include <string.h>

/* ------------------------------------------------------------------ names */
static const Ix *named(const Tree *t, const char *form, int i)
{
	Ctx *c = t->p->k->ctx;
	return ix_sym(c, ctx_strf(c, form, i));
}

/* What stands for it where its class is not known: no fact holds of that. */
static const Ix *any_count(const Tree *t, int i)
{
	const Ix *by = t->counts[i].by;
	return by->kind == IX_SYM ? named(t, "#any%d", i) : by;
}

const Ix *count_is(const Tree *t, const int32_t *class, int i)
{
	const Count *n = &t->counts[i];
	return class[i] >= CLASS_EXACT   ? ix_const(t->p->k->ctx, class[i] - CLASS_EXACT)
	       : class[i] == CLASS_BELOW ? n->none
	       : class[i] == CLASS_LONG  ? n->by
					 : any_count(t, i);
}

/* Of another trip, as far as is known. */
static const Ix *count_in(const Tree *t, const Scope *s, int i)
{
	return s->gone[i] && t->counts[i].by->kind == IX_SYM ? named(t, "#gone%d", i)
							     : count_is(t, s->count, i);
}

const Ix *scope_trips(const Tree *t, const Scope *s, const Branch *b)
{
	Ctx *c = t->p->k->ctx;
	return ix_add(c, ix_mul(c, s->u[b->id], ix_const(c, b->period)),
		      ix_const(c, s->residue[b->id]));
}

static void put(const Tree *t, View *v, const char *name, const Ix *by)
{
	vec_push(t->arena, &v->names, ((Named){name, by}));
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
		const Ix *all = count_in(t, s, (int)(b->count - t->counts));
		if (s->ahead[i] && b->count->below)
			all = ix_new(c, IX_MAX, all, ix_const(c, 0));
		put(t, v, sh->rest, ix_sub(c, all, scope_trips(t, s, b)));
		for (int j = 0; j < sh->counters; j++)
			put(t, v, sh->counter[j], s->carried[b->counter[agent][j]]);
	}
	for (int i = 0; i < t->of_role[agent]->n; i++)
		if (t->count_of[agent][i])
			put(t, v, t->count_name[i],
			    count_in(t, s, (int)(t->count_of[agent][i] - t->counts)));
}

const Ix *scope_put(const Tree *t, const Scope *s, int agent, const Ix *x)
{
	View v = {.ctx = t->p->k->ctx};
	if (!x || x->kind == IX_CONST)
		return x;
	scope_view(t, s, agent, &v);
	return stage(&v, x);
}

bool is_in_turn(const Branch *in, const Scope *s, int agent)
{
	for (; in; in = in->up) {
		const Shared *sh = in->of[agent];
		if (!sh || s->residue[in->id] % sh->turns != sh->turn)
			return false;
	}
	return true;
}

void scope_at(const Tree *t, const Where *at, Scope *s)
{
	Ctx *c = t->p->k->ctx;
	memset(s->ahead, 0, sizeof s->ahead);
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
	for (int i = 0; i < t->ncounts; i++) {
		const Branch *home = t->counts[i].home;
		s->count[i] = at->count[i];
		s->gone[i] = home && !s->u[home->id];
	}
	for (int i = 0; i < t->ncarried; i++)
		s->carried[i] = scope_carried(t, s, i, &at->trip[t->carried[i].of->id]);
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
/* Where a use finds its ring, in slots from the first; NULL: it does not say. */
static const Ix *position_of(const Tree *t, const Scope *s, const Use *use, int *group)
{
	Ctx *c = t->p->k->ctx;
	int64_t slots = t->units[use->unit].slots;
	Position p = position_in(c, use->at, 1), by = {NULL, 0};
	*group = group_in(t, use->unit, use->at, &p);
	if (use->parity)
		by = position_in(c, use->parity, slots);
	p = by.x ? by : p; /* which has not lost what is a multiple of slots */
	if (p.x)
		return ix_mul(c, scope_put(t, s, use->agent, p.x), ix_const(c, p.each));
	return slots > 1 ? scope_put(t, s, use->agent, use->at) : NULL;
}

typedef struct {
	Tree *t;
	int unit; /* that is looked for */
	int trust;
} Finder;

/* Where it hangs on a count of another trip, nothing. */
static void note_gone(void *user, const char *name)
{
	bool *gone = user;
	*gone |= !strncmp(name, "#gone", 5);
}

static const Ix *known(const Ix *x)
{
	bool gone = false;
	ix_names(x, note_gone, &gone);
	return gone ? NULL : x;
}

/* What happens on a condition says less: its position may be another's where that does not hold. */
static bool is_trusted(const Finder *f, const Segment *g, const Use *use)
{
	const Shared *sh = g->in ? g->in->of[use->agent] : NULL;
	bool goes = sh && ix_uses(use->at, sh->own), inner = sh && !g->in->body.loops.n;
	if (f->trust == TRUST_TESTING)
		return use->parity && (!use->guarded || goes);
	return !use->guarded || f->trust == TRUST_ALL || (goes && f->trust == TRUST_GOING) ||
	       (goes && inner && f->trust == TRUST_INNER);
}

/* Of those that test a phase first: the others may have lost what is a multiple of slots. */
static const Ix *first_of(Finder *f, const Segment *g, const Scope *s, bool tests)
{
	const Tree *t = f->t;
	int group, first = f->unit - t->units[f->unit].group;
	const Uses *uses = &g->uses[first];
	EACH(const Use, use, *uses) {
		if ((use->parity != NULL) != tests || !is_trusted(f, g, use) ||
		    !is_in_turn(g->in, s, use->agent))
			continue;
		const Ix *x = position_of(t, s, use, &group);
		if (x && group == t->units[f->unit].group)
			return known(x);
	}
	return NULL;
}

static const Ix *first_in(Finder *f, const Segment *g, const Scope *s)
{
	const Ix *x = f->t->units[f->unit].barrier ? first_of(f, g, s, true) : NULL;
	return x ? x : first_of(f, g, s, false);
}

static void forget_counts(const Tree *t, const Branch *home, Scope *s)
{
	for (int i = 0; i < t->ncounts; i++)
		if (t->counts[i].home == home && home) {
			s->count[i] = CLASS_NONE;
			s->gone[i] = true;
		}
}

/* In a trip of an outer loop that the role leaves to others, nothing. */
static const Ix *said_by(const Tree *t, const Scope *s, const Carried *k, const Ix *x)
{
	Ctx *c = t->p->k->ctx;
	return is_in_turn(k->of->up, s, k->agent) ? scope_put(t, s, k->agent, x)
						  : ix_sym(c, "#gone");
}

static void begin(const Tree *t, const Branch *b, const Scope *from, Scope *to)
{
	*to = *from;
	to->u[b->id] = ix_const(t->p->k->ctx, 0);
	to->residue[b->id] = 0;
	to->ahead[b->id] = true;
	for (int i = 0; i < t->ncarried; i++) {
		const Carried *k = &t->carried[i];
		if (k->of == b)
			to->carried[i] = said_by(t, from, k, b->of[k->agent]->start[k->number]);
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
			to->carried[i] = said_by(t, from, k, sh->step[k->number]);
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

/* After the last trip of a loop there is no other: `ends` is where a run is, or NULL. */
static const Ix *use_behind(Finder *f, const Segment *g, const Where *ends, const Scope *at)
{
	const Sequence *q = g->in ? &g->in->body : &f->t->root;
	const Ix *x = next_in(f, q, g->at, at);
	Scope s = *at;
	for (const Branch *b = g->in; b && !x; b = b->up) {
		bool last = ends && ends->trip[b->id].kind == TRIP_LAST;
		x = last ? NULL : next_round(f, b, &s);
		if (x)
			return x;
		s.u[b->id] = NULL;
		forget_counts(f->t, b, &s);
		x = next_in(f, b->up ? &b->up->body : &f->t->root, b->at + 1, &s);
	}
	return x;
}

/* In the trip that a loop would have next when it has ended. */
static const Ix *next_of(Finder *f, const Branch *b, const Scope *at)
{
	const Tree *t = f->t;
	Ctx *c = t->p->k->ctx;
	const Ix *all = count_in(t, at, (int)(b->count - t->counts));
	Scope s = *at;
	if (b->period > 1)
		return NULL;
	s.u[b->id] = b->count->below ? ix_new(c, IX_MAX, all, ix_const(c, 0)) : all;
	s.residue[b->id] = 0;
	forget_counts(t, b, &s);
	return next_in(f, &b->body, 0, &s);
}

/* Where all uses are in loops that have ended. */
static const Ix *use_beyond(Finder *f, const Segment *g, const Scope *at)
{
	const Branch *in = g->in;
	const Ix *x = NULL;
	int n = g->at;
	for (;;) {
		const Sequence *q = in ? &in->body : &f->t->root;
		for (int i = n - 1; i >= 0 && !x; i--)
			x = next_of(f, q->loops.at[i], at);
		if (x || !in)
			return x;
		n = in->at;
		in = in->up;
	}
}

/* For uses here or after that are not trusted, where there is none, as if there were another
 * trip. */
static const Ix *next_use(Finder *f, const Segment *g, const Where *where, const Scope *at)
{
	const Ix *x = use_behind(f, g, where, at);
	Finder any = {f->t, f->unit, TRUST_ALL};
	bool used = g->uses[f->unit - f->t->units[f->unit].group].n > 0;
	if (x || (!used && (f->trust == TRUST_ALL || !use_behind(&any, g, where, at))))
		return x;
	x = use_behind(f, g, NULL, at);
	return x ? x : use_beyond(f, g, at);
}

/* Where all that is not a residue is open. */
static void scope_open(const Tree *t, const Segment *g, const Where *at, Where *open)
{
	memset(open, 0, sizeof *open);
	for (const Branch *b = g->in; b; b = b->up) {
		const Trip *trip = &at->trip[b->id];
		bool exact = trip->kind == TRIP_EXACT;
		bool last = exact && at->count[b->count - t->counts] == CLASS_EXACT + trip->n + 1;
		int64_t residue = exact ? trip->n % b->period : trip->residue;
		open->trip[b->id] = (Trip){last ? TRIP_LAST : TRIP_STEADY, last, (int32_t)residue};
	}
}

/* No more than that: of what it is a remainder is still seen.
 *     (2 * max(T, 0) + 5) % 4, T > 0   ->   (2 * T + 5) % 4, not T % 2 * 2 + 1 */
const Ix *frame_simple(const Tree *t, const Ix *x)
{
	Ctx *c = t->p->k->ctx;
	if (!x || x->kind == IX_CONST || x->kind == IX_SYM)
		return x;
	if (x->kind == IX_MIN || x->kind == IX_MAX)
		return ix_simplify(c, x, t->facts);
	const Ix *a = frame_simple(t, x->a), *b = frame_simple(t, x->b);
	return a == x->a && b == x->b ? x : ix_new(c, x->kind, a, b);
}

OpenRefs *refs_open(Tree *t, const Segment *g, const Where *at)
{
	OpenRefs *new;
	Where open;
	Scope s;
	scope_open(t, g, at, &open);
	for (int i = 0; i < g->refs.n; i++)
		if (!memcmp(&g->refs.at[i]->at, &open, sizeof open))
			return g->refs.at[i];
	new = NEW(t->arena, OpenRefs);
	new->at = open;
	scope_at(t, &new->at, &s);
	for (int i = 0; i < t->nunits; i++) {
		Finder f = {t, i, t->units[i].trust};
		new->bare.of[i] = t->units[i].plain ? NULL : next_use(&f, g, &new->at, &s);
		new->refs.of[i] = frame_simple(t, new->bare.of[i]);
	}
	vec_push(t->arena, &((Segment *)(uintptr_t)g)->refs, new);
	return new;
}

const View *view_open(const Tree *t, OpenRefs *open, int agent)
{
	Scope s;
	if (!open->views[agent]) {
		View *v = open->views[agent] = NEW(t->arena, View);
		scope_at(t, &open->at, &s);
		scope_view(t, &s, agent, v);
		v->before = NEW(t->arena, PtrMap);
		v->before->arena = t->arena;
	}
	return open->views[agent];
}

void refs_at(Tree *t, const Segment *g, const Where *at, Refs *refs)
{
	const Refs *open = &refs_open(t, g, at)->bare;
	Ctx *c = t->p->k->ctx;
	View v = {.ctx = c};
	Scope s;
	scope_at(t, at, &s);
	refs->at = at;
	for (const Branch *b = g->in; b; b = b->up)
		if (at->trip[b->id].kind == TRIP_EXACT)
			put(t, &v, b->name, ix_const(c, at->trip[b->id].n / b->period));
	for (int i = 0; i < t->ncarried; i++)
		put(t, &v, t->carried[i].name, s.carried[i]);
	for (int i = 0; i < t->ncounts; i++)
		if (t->counts[i].by->kind == IX_SYM && at->count[i] != CLASS_NONE)
			put(t, &v, any_count(t, i)->name, count_is(t, at->count, i));
	for (int i = 0; i < t->nunits; i++)
		refs->of[i] = open->of[i] ? frame_simple(t, stage(&v, open->of[i])) : NULL;
}

/* ------------------------------------------------------------------ from segment to segment */
/* Names of the second segment in those of the first. */
static void put_then(const Move *m, const Scope *from, View *v)
{
	const Tree *t = m->t;
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
		if (t->counts[i].home == b && t->counts[i].by->kind == IX_SYM) {
			const Ix *is = scope_said(t, &to, &t->counts[i]);
			put(t, v, t->counts[i].by->name, is ? is : named(t, "#then%d", i));
			put(t, v, t->counts[i].none->name, is ? is : named(t, "#then_below%d", i));
			put(t, v, any_count(t, i)->name, is ? is : named(t, "#then_any%d", i));
		}
}

/* A count that is c + t or c - t in trip t of a loop says which trip it is, or is said by it. */
static const Ix *with_trip(const Move *m, View *v, const Count *n, const Ix *is)
{
	Ctx *c = m->t->p->k->ctx;
	const Branch *home = n->home;
	int64_t more, at, sign = 1;
	bool steady = home && home != m->next && home != m->into && home != m->out &&
		      home->period == 1 && m->from->trip[home->id].kind > TRIP_EXACT;
	const Shared *sh = steady ? home->of[n->agent] : NULL;
	if (!sh || sh->turns > 1)
		return is;
	const Ix *own = ix_sym(c, sh->own), *trip = ix_sym(c, home->name);
	if (!ix_is_const(ix_sub(c, n->trip, own), &more)) {
		sign = -1;
		if (!ix_is_const(ix_add(c, n->trip, own), &more))
			return is;
	}
	if (is == n->by)
		return ix_add(c, ix_mul(c, trip, ix_const(c, sign)), ix_const(c, more));
	if (ix_is_const(is, &at))
		put(m->t, v, home->name, ix_const(c, (at - more) * sign));
	return is;
}

/* Where it is known how often a loop runs that goes on. */
static const int32_t *classes_in(const Move *m, int i)
{
	const Branch *home = m->t->counts[i].home;
	bool same = !home || (home != m->next && home != m->into);
	return m->from->count[i] != CLASS_NONE || !same ? m->from->count : m->to->count;
}

static void put_classes(const Move *m, View *v)
{
	for (int i = 0; i < m->t->ncounts; i++) {
		const int32_t *class = classes_in(m, i);
		if (m->t->counts[i].by->kind == IX_SYM && class[i] != CLASS_NONE)
			put(m->t, v, any_count(m->t, i)->name, count_is(m->t, class, i));
	}
}

/* What is known after the last trip of a loop: which it was, or how many there were; and which
 * number counts are that go on. */
static void put_known(const Move *m, const Scope *from, View *v)
{
	const Tree *t = m->t;
	Ctx *c = t->p->k->ctx;
	const Branch *b = m->out;
	const Trip *trip = b ? &m->from->trip[b->id] : NULL;
	const Ix *all = b ? count_is(t, m->from->count, (int)(b->count - t->counts)) : NULL;
	for (int i = 0; i < t->ncounts; i++) {
		const Count *n = &t->counts[i];
		const int32_t *class = classes_in(m, i);
		const Ix *is = count_is(t, class, i);
		if (n->by->kind == IX_SYM && class[i] == CLASS_NONE &&
		    (is = scope_said(t, from, n)))
			put(t, v, any_count(t, i)->name, is);
		if (n->by->kind != IX_SYM || class[i] == CLASS_NONE)
			continue;
		if (b && b->count == n && trip->kind == TRIP_EXACT)
			is = ix_const(c, trip->n + 1);
		is = with_trip(m, v, n, is);
		if (b && b->count == n && b->period > 1 && is == n->by)
			is = ix_add(c, scope_trips(t, from, b), ix_const(c, 1));
		put(t, v, n->by->name, is);
		put(t, v, any_count(t, i)->name, is);
		all = b && b->count == n ? is : all;
	}
	if (b && trip->kind != TRIP_EXACT && b->period == 1)
		put(t, v, b->name, ix_sub(c, all, ix_const(c, 1)));
}

static bool apart(const Tree *t, const Ix *y, const Ix *x, int64_t lap, int64_t *by)
{
	Ctx *c = t->p->k->ctx;
	*by = 0;
	return x == y || ix_apart_by(c, y, x, t->facts, lap, by) ||
	       ix_apart(stage_modulo(c, y, lap), 1, stage_modulo(c, x, lap), lap, by);
}

/* In trips that are not among the first of their loops. */
static bool apart_later(const Move *m, const Ix *x, int64_t lap, int64_t *by)
{
	Tree *t = m->t;
	VEC(IxFact) all = {0};
	bool some = false;
	for (int i = 0; i < t->facts.n; i++) {
		IxFact f = t->facts.at[i];
		for (int j = 0; j < t->loops.n; j++) {
			const Branch *b = t->loops.at[j];
			bool later = m->from->trip[j].kind > TRIP_EXACT && b->period == 1 &&
				     b->name == f.name && f.lo < b->first && b->first <= f.hi;
			f.lo = later ? b->first : f.lo;
			some |= later && ix_uses(x, b->name);
		}
		vec_push(t->arena, &all, f);
	}
	IxFacts facts = {.at = all.at, .n = all.n, .places = t->facts.places};
	return some &&
	       ix_apart(ix_simplify(t->p->k->ctx, x, facts), 1, ix_const(t->p->k->ctx, 0), lap, by);
}

bool move_turns(const Move *m, int64_t *by)
{
	Tree *t = m->t;
	Ctx *c = t->p->k->ctx;
	Scope from;
	View then = {.ctx = c}, classes = {.ctx = c}, known_by = {.ctx = c};
	scope_at(t, m->from, &from);
	put_then(m, &from, &then);
	put_classes(m, &classes);
	put_known(m, &from, &known_by);
	for (int i = 0; i < t->nunits; i++) {
		const Ix *x = m->before->of[i], *y = m->after->of[i];
		by[i] = 0;
		if (t->units[i].plain || !y)
			continue;
		t->open = i;
		y = stage(&then, y);
		int64_t lap = (t->units[i].barrier ? 2 : 1) * t->units[i].slots;
		if (!x)
			return false;
		x = frame_simple(t, stage(&known_by, frame_simple(t, stage(&classes, x))));
		y = frame_simple(t, stage(&known_by, frame_simple(t, stage(&classes, y))));
		t->unclear = ix_sub(c, y, x);
		if (apart(t, y, x, lap, &by[i]) ||
		    apart_by_sizes(t, &from, &known_by, t->unclear, lap, &by[i]) ||
		    apart_later(m, t->unclear, lap, &by[i]))
			t->unclear = NULL;
		if (t->unclear)
			return false;
		by[i] = (by[i] % lap + lap) % lap;
	}
	t->open = -1;
	return true;
}
