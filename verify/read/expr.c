/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* expr.c - expressions as the agent that is being read sees them, and as each of its lanes does.
 *     tid % 128 == 0, in warp 4  ->  lane == 0: holds in lane 0
 */
#include "verify/read/read.h"

#include <string.h>

/* What stands for a name; NULL: itself. */
static const Ix *bound(const View *s, const char *name)
{
	for (int i = s->names.n - 1; i >= 0; i--)
		if (s->names.at[i].name == name)
			return s->names.at[i].by;
	return NULL;
}

static bool get_named(void *user, const char *name, int64_t *v)
{
	const Ix *by = bound(user, name);
	return by && ix_is_const(by, v);
}

/* ------------------------------------------------------------------ made before */
Recall *recall_new(Arena *a)
{
	Recall *of = NEW(a, Recall);
	of->by_lane.arena = of->names_in.arena = of->made.arena = a;
	return of;
}

typedef VEC(const char *) Names;
typedef struct {
	Arena *arena;
	Names *names;
} Noted;

static void note_name(void *user, const char *name)
{
	Noted *in = user;
	for (int i = 0; i < in->names->n; i++)
		if (in->names->at[i] == name)
			return;
	vec_push(in->arena, in->names, name);
}

/* The names in an expression, each once. */
static const Names *names_in(Reader *r, const Ix *x)
{
	PtrMap *m = &r->p->recall->names_in;
	Names *names = ptrmap_get(m, x);
	if (names)
		return names;
	names = NEW(m->arena, Names);
	ix_names(x, note_name, &(Noted){m->arena, names});
	ptrmap_set(m, x, names);
	return names;
}

/* In a replay what the lane decides is met turn by turn, mostly with what was put in before: from
 * the expression, then from what stands for each of its names, to what was made of it. */
static const Ix *stage_once(Reader *r, const Ix *x)
{
	const Names *names = names_in(r, x);
	PtrMap *m = &r->p->recall->made;
	const void *key = x;
	for (int i = 0; i < names->n; i++) {
		const Ix *by = bound(&r->view, names->at[i]);
		m = ptrmap_in(m, key);
		key = by ? (const void *)by : names->at[i];
	}
	Ix *made = ptrmap_get(m, key);
	if (!made) {
		made = (Ix *)(uintptr_t)stage(&r->view, x);
		ptrmap_set(m, key, made);
	}
	return made;
}

/* With what the view says, which names and counts that are put in change: what was made before
 * stands until then. */
static const Ix *stage_here(Reader *r, const Ix *x)
{
	View v = r->view;
	Here here = {v.names.n, v.counts.n, v.total, v.passed, v.rest, v.core, v.core_by};
	if (memcmp(&here, &r->here, sizeof here) != 0)
		ptrmap_clear(&r->seen);
	r->here = here;
	v.before = &r->seen;
	return stage(&v, x);
}

/* In a replay most are numbers, of which no expression need be made. */
const Ix *read_expr(Reader *r, const Ix *x)
{
	View *v = &r->view;
	int64_t value;
	x = stage(&r->lets, x);
	if (!r->p->sized || v->core || v->counts.n || v->total)
		return stage_here(r, x);
	return ix_eval(x, get_named, v, &value) ? ix_const(v->ctx, value) : stage_once(r, x);
}

void read_put_name(Reader *r, const char *name, const Ix *by)
{
	vec_push(r->p->arena, &r->view.names, ((Named){name, by}));
}

void read_put_ring(Reader *r, const Op *op, const Ix *position)
{
	Ctx *c = r->p->k->ctx;
	const Ix *slots = ix_const(c, attrs_int(&op->attrs, A_SLOTS, 1));
	if (op->kind != OP_FOR_RING)
		return;
	read_put_name(r, op->sym[1], ix_mod(c, position, slots));
	read_put_name(r, op->sym[2], ix_mod(c, ix_div(c, position, slots), ix_const(c, 2)));
}

/* ------------------------------------------------------------------ lanes */
bool read_of_lane(Reader *r, const Ix *x)
{
	const Names *names = names_in(r, x);
	for (int i = 0; i < names->n; i++)
		if (names->at[i] == r->lane)
			return true;
	return false;
}

const ByLane *read_by_lane(const Program *p, const Ix *x)
{
	Ctx *c = p->k->ctx;
	PtrMap *m = &p->recall->by_lane;
	ByLane *b = ptrmap_get(m, x);
	if (b)
		return b;
	const char *lane = ctx_str(c, "lane");
	b = NEW(m->arena, ByLane);
	b->known = true;
	for (int i = 0; i < LANES && b->known; i++) {
		b->known = ix_value_at(c, x, lane, i, &b->value[i]);
		b->which |= (uint32_t)(b->value[i] != 0) << i;
	}
	ptrmap_set(m, x, b);
	return b;
}

bool read_lanes_of(Reader *r, const Ix *x, uint32_t *which)
{
	if (!read_of_lane(r, x))
		return false;
	const ByLane *b = read_by_lane(r->p, x);
	*which = b->which;
	return b->known;
}

bool read_same_by_lane(Reader *r, const Ix *x, const Ix *y)
{
	if (!read_of_lane(r, x) && !read_of_lane(r, y))
		return false;
	const ByLane *a = read_by_lane(r->p, x), *b = read_by_lane(r->p, y);
	return a->known && b->known && memcmp(a->value, b->value, sizeof a->value) == 0;
}

bool read_is_by_lane(Reader *r, const Ix *x)
{
	return read_by_lane(r->p, x)->known;
}
