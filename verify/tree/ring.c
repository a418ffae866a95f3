/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ring.c - rings of slots, who uses them, and which slot a use is of as seen from its ring's
 * position.
 *     full[(t * T + k + 3) % 4], with the ring at t * T + k   ->   full[3]
 */
#include "verify/tree/tree.h"

/* ------------------------------------------------------------------ rings */
/* Of so many CTAs, from one of which `first` is. */
static void add_units(Tree *t, const Op *decl, int first, int ctas)
{
	int64_t slots = attrs_int(&decl->attrs, A_SLOTS, 1);
	int64_t groups = attrs_int(&decl->attrs, A_GROUPS, 1);
	bool barrier = decl->kind == OP_MBARRIER;
	int *of = barrier ? t->unit_of_key : t->unit_of_cell;
	int each = barrier ? t->cta_keys : t->cta_cells;
	for (int g = 0; g < groups; g++) {
		bool room = t->nunits < MAX_UNITS;
		Unit u = {first + g * (int)slots, (int)slots, g, barrier, TRUST_ALL, false, false};
		for (int i = 0; i < slots * ctas; i++)
			of[u.first + i % slots + i / slots * each] = room ? t->nunits : -1;
		if (room)
			t->units[t->nunits++] = u;
	}
}

static void add_rings(Tree *t, const Op *decl, int first)
{
	int ranks = t->p->m.ranks;
	int each = decl->kind == OP_MBARRIER ? t->cta_keys : t->cta_cells;
	bool apart = t->apart && program_is_local(t->p->k, decl->out);
	for (int rank = 0; rank < (apart ? ranks : 1); rank++)
		add_units(t, decl, first + rank * each, apart ? 1 : ranks);
}

void find_units(Tree *t)
{
	int keys = 0, cells = 0;
	t->unit_of_key = NEWN(t->p->arena, int, t->cta_keys * t->p->m.ranks + 1);
	t->unit_of_cell = NEWN(t->p->arena, int, t->p->m.nc + 1);
	for (const Op *op = kernel_first(t->p->k); op; op = op_next(op)) {
		int64_t n = attrs_int(&op->attrs, A_SLOTS, 1) * attrs_int(&op->attrs, A_GROUPS, 1);
		if (op->kind == OP_MBARRIER) {
			add_rings(t, op, keys);
			keys += (int)n;
		} else if (op->kind == OP_SHARED) {
			add_rings(t, op, cells);
			cells += (int)n;
		}
	}
}

static int unit_of(const Tree *t, int first, bool barrier)
{
	if (barrier)
		return first < t->cta_keys * t->p->m.ranks ? t->unit_of_key[first] : -1;
	return t->unit_of_cell[first];
}

/* Not a whole number of its own: no position is divided there. */
static bool is_quotient(const Ix *x)
{
	return x->kind == IX_DIV && x->b->kind == IX_CONST && !ix_is_half(x);
}

static bool is_whole(const Tree *t, const Ix *x, const Ix *d)
{
	int64_t n;
	return x->kind == IX_DIV && x->b == d && ix_is_const(d, &n) && n > 0 &&
	       ix_divisor(x->a, t->facts) % n == 0;
}

/* Where facts say that nothing was lost: i * (n / 4) * 4  ->  i * n */
static const Ix *undivided(const Tree *t, const Ix *x)
{
	Ctx *c = t->p->k->ctx;
	const Ix *a = x->a, *b = x->b;
	if (x->kind == IX_ADD)
		return ix_add(c, undivided(t, a), undivided(t, b));
	if (x->kind != IX_MUL || a->kind != IX_MUL)
		return x;
	return is_whole(t, a->a, b)   ? ix_mul(c, a->a->a, a->b)
	       : is_whole(t, a->b, b) ? ix_mul(c, a->a, a->b->a)
				      : x;
}

/* Sums with a quotient are one quotient: what is made of a position is then seen.
 *     i + n / 2                           ->   (2 * i + n) / 2
 *     (n / 3 % 2 + (n % 3 + 2) / 3) % 2   ->   (n + 2) / 3 % 2 */
static const Ix *gathered(const Tree *t, const Ix *x)
{
	Ctx *c = t->p->k->ctx;
	int64_t d, m;
	if (x->kind == IX_CONST || x->kind == IX_SYM)
		return x;
	const Ix *a = gathered(t, x->a), *b = gathered(t, x->b);
	const Ix *of = is_quotient(a) ? a : b, *more = of == a ? b : a;
	if (x->kind == IX_ADD && is_quotient(of))
		return ix_div(c, ix_add(c, of->a, ix_mul(c, more, of->b)), of->b);
	if (x->kind == IX_MOD && a->kind == IX_DIV && ix_is_const(a->b, &d) && ix_is_const(b, &m) &&
	    a->a->kind == IX_ADD) {
		const Ix *all = stage_modulo(c, ix_simplify(c, a->a, t->facts), d * m);
		all = undivided(t, ix_simplify(c, all, t->facts));
		return ix_mod(c, ix_div(c, all, a->b), b);
	}
	return a == x->a && b == x->b ? x : ix_new(c, x->kind, a, b);
}

static void add_use(Tree *t, Segment *g, int agent, int first, bool barrier, const Ix *at,
		    const Ix *parity, bool guarded)
{
	int unit = first < 0 || !at ? -1 : unit_of(t, first, barrier);
	if (unit < 0)
		return;
	Uses *of = &g->uses[unit];
	for (int i = 0; i < of->n; i++)
		if (of->at[i].at == at && of->at[i].parity == parity && of->at[i].agent == agent &&
		    of->at[i].guarded == guarded)
			return;
	vec_push(t->arena, of, ((Use){agent, unit, at, parity, guarded}));
}

/* A buffer of which one use names a slot by anything but a number may turn. */
static void note_turning(Tree *t, int first, const Ix *at)
{
	int unit = first < 0 || !at || ix_is_const(at, NULL) ? -1 : unit_of(t, first, false);
	for (; unit >= 0; unit = unit + 1 < t->nunits && t->units[unit + 1].group ? unit + 1 : -1)
		t->units[unit].turns = true;
}

/* Of short loops, the first turn. */
static void add_uses(Tree *t, Segment *g, int agent, const Items *items, View *v, bool guarded)
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
				waits ? gathered(t, stage(v, it->number)) : NULL, guarded);
			add_use(t, g, agent, s->cell, false, at[1], NULL, guarded);
			add_use(t, g, agent, s->cell2, false, at[2], NULL, guarded);
			note_turning(t, s->cell, it->at_cell);
			note_turning(t, s->cell2, it->at_cell2);
		}
		if (it->kind == ITEM_LOOP)
			vec_push(t->arena, &v->names,
				 ((Named){it->op->sym[0], stage(v, it->from)}));
		add_uses(t, g, agent, &it->body, v, guarded || it->kind == ITEM_IF);
		v->names.n = names;
	}
}

void find_uses(Tree *t)
{
	for (int i = 0; i < t->segments.n; i++) {
		Segment *g = t->segments.at[i];
		g->uses = NEWN(t->arena, Uses, t->nunits + 1);
		for (int turns = 0; turns < 2; turns++)
			for (int a = 0; a < t->p->m.na; a++) {
				View v = {.ctx = t->p->k->ctx};
				if ((t->p->scripts[a].turns > 1) == turns)
					add_uses(t, g, a, &g->of[a], &v, false);
			}
	}
	for (int i = 0; i < t->nunits; i++)
		t->units[i].plain |= !t->units[i].barrier && !t->units[i].turns;
}

/* ------------------------------------------------------------------ positions */
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

/* Of a whole half, what is divided: n * (n + 1) / 4 is n * (n + 1) / 2 / 2. */
static Position half_in(Ctx *c, const Ix *x, int64_t each, Position other)
{
	int64_t d = x->b->value;
	if (each < 2 || d != 2 * each)
		return other;
	const Ix *half = ix_div(c, x->a, ix_const(c, 2));
	return ix_is_half(half) ? (Position){half, 1} : other;
}

/* The dividend that stands innermost. */
Position position_in(Ctx *c, const Ix *x, int64_t each)
{
	Position at = {NULL, 0};
	int64_t d;
	for (;;) {
		x = stripped(x, &each);
		bool divides = x->kind == IX_DIV || x->kind == IX_MOD;
		if (!divides || !ix_is_const(x->b, &d) || d < 1)
			return at;
		if (x->kind == IX_DIV && each % d)
			return half_in(c, x, each, at);
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
int group_in(const Tree *t, int unit, const Ix *at, const Position *p)
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

/* ------------------------------------------------------------------ slots in their frame */
typedef struct {
	Tree *t;
	Ctx *c;
	const Ix *ref, *sym; /* which stands for it */
	int64_t slots, lap;
	int64_t step, off; /* the ref is off modulo step */
	int64_t mod, res;  /* and res modulo mod */
	int64_t lo, hi;    /* and within that */
} Rewrite;

/* x % n where x is apart from the ref by a number modulo n; NULL: it is not. */
static const Ix *wrapped(const Rewrite *w, const Ix *x)
{
	Ctx *c = w->c;
	int64_t n, by;
	if (x->kind != IX_MOD || !ix_is_const(x->b, &n) || n < 1 ||
	    !ix_apart(stage_modulo(c, x->a, n), 1, stage_modulo(c, w->ref, n), n, &by))
		return NULL;
	return ix_mod(c, ix_add(c, w->sym, ix_const(c, by)), x->b);
}

typedef struct {
	const char *sym;
	bool some;
} Others;

static void note_other(void *user, const char *name)
{
	Others *o = user;
	o->some |= name != o->sym;
}

/* Whether there are names in it beside the ref's. */
static bool others(const Rewrite *w, const Ix *x)
{
	Others o = {w->sym->name, false};
	ix_names(x, note_other, &o);
	return o.some;
}

/* The ref is `off` modulo m too; false: it cannot be. */
static bool steps(Rewrite *w, int64_t m, int64_t off)
{
	int64_t all = lcm(w->step, m);
	for (int64_t i = 0; i < all; i++)
		if (i % w->step == w->off && (i - off) % m == 0) {
			w->step = all;
			w->off = i;
			return true;
		}
	return false;
}

/* With all that is apart from the ref by a number made of it. */
static const Ix *rewritten(Rewrite *w, const Ix *x)
{
	int64_t by;
	if (x->kind == IX_CONST)
		return x;
	for (int64_t m = 1; m <= w->slots; m++) {
		if (w->slots % m || !ix_apart(x, m, w->ref, w->lap, &by) || !steps(w, m, -by))
			continue;
		const Ix *y = ix_add(w->c, w->sym, ix_const(w->c, by));
		return m == 1 ? y : ix_div(w->c, y, ix_const(w->c, m));
	}
	if (x->kind == IX_SYM)
		return x;
	const Ix *a = rewritten(w, x->a), *b = rewritten(w, x->b), *y = wrapped(w, x);
	if (y && others(w, a))
		return y;
	return a == x->a && b == x->b ? x : ix_new(w->c, x->kind, a, b);
}

/* A place is a number, and not one modulo something: what is rewritten is below a remainder. */
static const Ix *placed(Rewrite *w, const Ix *x)
{
	if (x->kind == IX_MOD)
		return rewritten(w, x);
	if (!x->a)
		return x;
	const Ix *a = placed(w, x->a), *b = placed(w, x->b);
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
	return !x || ix_value_at(w->c, x, w->sym->name, at, v);
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

/* A slot that has lost what is a multiple of slots, x % slots or a number, with the ref in it.
 * NULL: it is not known. */
static const Ix *turned(const Rewrite *w, const Where *where, const Ix *at)
{
	int64_t v, by;
	bool number = ix_is_const(at, &v) && v >= 0 && v < w->slots;
	bool turns = at->kind == IX_MOD && ix_is_const(at->b, &v) && v == w->slots;
	at = number ? at : at->a;
	if ((!number && !turns) ||
	    (!ix_apart(at, 1, w->ref, w->slots, &by) &&
	     !apart_at(w->t, where, ix_sub(w->c, at, w->ref), w->slots, &by)))
		return NULL;
	return ix_mod(w->c, ix_add(w->c, w->sym, ix_const(w->c, by)), ix_const(w->c, w->slots));
}

/* What the ref is modulo a lap, whatever its names are. */
static void find_residue(Rewrite *w, IxFacts facts)
{
	const Ix *core = w->ref;
	int64_t more = 0;
	if (core->kind == IX_ADD && ix_is_const(core->b, &more))
		core = core->a;
	if (ix_is_const(core, &more))
		w->mod = w->lap;
	else
		w->mod = num_gcd(ix_divisor(core, facts), w->lap);
	w->res = (more % w->mod + w->mod) % w->mod;
	for (int64_t m = w->lap; m > w->mod; m--)
		if (w->lap % m == 0 && ix_apart(w->ref, 1, ix_const(w->c, 0), m, &more)) {
			w->mod = m;
			w->res = (more % m + m) % m;
		}
	ix_range(w->ref, facts, &w->lo, &w->hi);
}

/* Whether the ref may be that modulo a lap. */
static bool may_be(const Rewrite *w, int64_t at)
{
	int64_t least;
	if (w->lo < 0 || w->hi > INT64_MAX / 2)
		return true;
	least = (w->lo - at + w->lap - 1) / w->lap * w->lap + at;
	return least <= w->hi;
}

/* A slot and phase as seen from where the ring stands; below 0: not known. */
static int64_t seen_with(const Rewrite *w, int groups, const Ix *at, const Ix *parity)
{
	int64_t here = -1;
	if (!recurs(w, at) || !recurs(w, parity))
		return -1;
	for (int64_t i = w->res; i < w->lap; i += w->mod) {
		if (i % w->step != w->off || !may_be(w, i))
			continue;
		if (is_out(w, at, parity, i, (int64_t)groups * w->slots))
			return -1;
		int64_t seen = seen_from(w, at, parity, i);
		if (seen < 0 || (here >= 0 && seen != here))
			return -1;
		here = seen;
	}
	return here;
}

typedef struct {
	const Rewrite *w;
	const Where *at;
	bool turns; /* a phase is asked for */
	int64_t here;
} Tried;

static bool see(void *user, const int64_t *v)
{
	Tried *s = user;
	int64_t S = s->w->slots, own = v[0] % S, place = (v[1] - own + S) % S;
	int64_t phase = s->turns ? (v[2] + v[0] / S + (v[1] < own)) & 1 : 0;
	bool same = s->here < 0 || s->here == place * 2 + phase;
	s->here = place * 2 + phase;
	return same;
}

/* A remainder or a number: x is that modulo n. */
static bool is_below(const Ix *x, int64_t n)
{
	int64_t v;
	if (x->kind == IX_MOD)
		return ix_is_const(x->b, &v) && v == n;
	return ix_is_const(x, &v) && v >= 0 && v < n;
}

/* By all residues that names may have there. */
static int64_t seen_tried(const Rewrite *w, const Where *where, const Ix *at, const Ix *parity)
{
	Tried s = {w, where, parity != NULL, -1};
	Zeros z;
	if (!is_below(at, w->slots) || (parity && !is_below(parity, 2)))
		return -1;
	zeros_at(w->t, where, &z);
	Residue of[] = {{stage(&z.sizes, w->ref), parity ? w->lap : w->slots},
			{stage(&z.sizes, at), w->slots},
			{parity ? stage(&z.sizes, parity) : NULL, 2}};
	return residues_try(of, parity ? 3 : 2, &z, see, &s) ? s.here : -1;
}

/* Whatever the run: 1 + it, or 0. A kernel's roles name slots alike, in many segments. */
static intptr_t *seen_before(Tree *t, const Unit *u, const Ix *ref, const Ix *at, const Ix *parity)
{
	PtrMap *m = ptrmap_in(ptrmap_in(&t->seen, u), ref ? (const void *)ref : t);
	const void *key = parity ? (const void *)parity : t;
	m = ptrmap_in(m, at);
	intptr_t *seen = ptrmap_get(m, key);
	if (!seen) {
		seen = NEW(m->arena, intptr_t);
		ptrmap_set(m, key, seen);
	}
	return seen;
}

static int64_t seen_in(Tree *t, const Refs *refs, int unit, int groups, const Ix *at,
		       const Ix *parity)
{
	Ctx *c = t->p->k->ctx;
	int64_t slots = t->units[unit].slots, here;
	intptr_t *before = seen_before(t, &t->units[unit], refs->of[unit], at, parity);
	if (*before)
		return *before - 1;
	Rewrite w = {t, c, refs->of[unit], ix_sym(c, "#ref"), slots, 2 * slots, 1, 0, 1, 0, 0, 0};
	const Ix *slot = at, *whole = parity;
	if (!w.ref)
		w.ref = ix_sym(c, "#nowhere");
	find_residue(&w, t->facts);
	if (!ix_is_const(w.ref, NULL)) {
		slot = placed(&w, at);
		parity = parity ? placed(&w, parity) : NULL;
	}
	here = seen_with(&w, groups, slot, parity);
	*before = here + 1;
	slot = here < 0 && groups == 1 ? turned(&w, refs->at, at) : NULL;
	here = slot ? seen_with(&w, groups, slot, parity) : here;
	return here < 0 && groups == 1 ? seen_tried(&w, refs->at, at, whole) : here;
}

int frame_use(Tree *t, const Refs *refs, const View *v, int first, bool barrier, const Ix *at,
	      const Ix *parity, int64_t *slot, int64_t *phase)
{
	int unit = unit_of(t, first, barrier);
	if (unit < 0)
		return 0;
	at = frame_simple(t, stage(v, at));
	parity = parity ? gathered(t, frame_simple(t, stage(v, parity))) : NULL;
	Position p = position_in(t->p->k->ctx, at, 1);
	int group = group_in(t, unit, at, &p), groups = groups_of(t, unit);
	int64_t here;
	parity = parity ? frame_within(t, parity, 2) : NULL;
	at = groups == 1 ? frame_within(t, at, t->units[unit].slots) : at;
	if (group < 0 || group >= groups || t->units[unit + group].plain)
		return 0;
	t->open = unit + group;
	here = seen_in(t, refs, unit + group, groups, at, parity);
	if (here < 0)
		return -1;
	t->open = -1;
	*slot = here / 2;
	*phase = here & 1;
	return 1;
}
