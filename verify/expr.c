/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* expr.c - expressions as the agent that is being read sees them, and as each of its lanes does.
 *     tid % 128 == 0, in warp 4  ->  lane == 0: holds in lane 0
 */
#include "verify/read.h"

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
/* Expressions are the context's, and what is kept of one is a matter of it alone. */
void read_recall(Reader *r)
{
	Program *p = r->p;
	if (p->sized)
		p->recall = p->sized->recall;
	if (!p->recall) {
		p->recall = NEW(p->arena, Recall);
		*p->recall =
			(Recall){{.arena = p->arena}, {.arena = p->arena}, {.arena = p->arena}};
	}
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
	Names *names = ptrmap_get(&r->p->recall->names_in, x);
	if (names)
		return names;
	names = NEW(r->p->arena, Names);
	ix_names(x, note_name, &(Noted){r->p->arena, names});
	ptrmap_set(&r->p->recall->names_in, x, names);
	return names;
}

static PtrMap *map_in(PtrMap *m, const void *key)
{
	PtrMap *in = ptrmap_get(m, key);
	if (!in) {
		in = NEW(m->arena, PtrMap);
		in->arena = m->arena;
		ptrmap_set(m, key, in);
	}
	return in;
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
		m = map_in(m, key);
		key = by ? (const void *)by : names->at[i];
	}
	Ix *made = ptrmap_get(m, key);
	if (!made) {
		made = (Ix *)(uintptr_t)stage(&r->view, x);
		ptrmap_set(m, key, made);
	}
	return made;
}

/* In a replay most are numbers, of which no expression need be made. */
const Ix *read_expr(Reader *r, const Ix *x)
{
	View *v = &r->view;
	int64_t value;
	x = stage(&r->lets, x);
	if (!r->p->sized || v->core || v->trips || v->counts.n || v->total)
		return stage(v, x);
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
bool read_of_lane(const Reader *r, const Ix *x)
{
	return ix_uses(x, ctx_str(r->p->k->ctx, "lane"));
}

enum { LANES_KNOWN = 1, LANES_MORE = 2 };

/* The lanes in which a condition holds << 2 | LANES_KNOWN, or LANES_MORE: the lane alone does not
 * decide it. */
static uintptr_t find_lanes(Reader *r, const Ix *x)
{
	const char *lane = ctx_str(r->p->k->ctx, "lane");
	uint64_t which = 0;
	if (!read_of_lane(r, x))
		return LANES_MORE;
	for (int i = 0; i < 32; i++) {
		int64_t v;
		if (!ix_value_at(r->p->k->ctx, x, lane, i, &v))
			return LANES_MORE;
		which |= (uint64_t)(v != 0) << i;
	}
	return which << 2 | LANES_KNOWN;
}

bool read_lanes_of(Reader *r, const Ix *x, uint32_t *which)
{
	uintptr_t found = (uintptr_t)ptrmap_get(&r->p->recall->lanes_of, x);
	if (!found) {
		found = find_lanes(r, x);
		ptrmap_set(&r->p->recall->lanes_of, x, (void *)found);
	}
	*which = (uint32_t)(found >> 2);
	return found & LANES_KNOWN;
}

bool read_same_by_lane(Reader *r, const Ix *x, const Ix *y)
{
	Ctx *c = r->p->k->ctx;
	const char *lane = ctx_str(c, "lane");
	bool same = ix_uses(x, lane) || ix_uses(y, lane);
	for (int i = 0; i < 32 && same; i++) {
		int64_t a, b;
		same = ix_value_at(c, x, lane, i, &a) && ix_value_at(c, y, lane, i, &b) && a == b;
	}
	return same;
}

bool read_is_by_lane(Reader *r, const Ix *x)
{
	Ctx *c = r->p->k->ctx;
	const char *lane = ctx_str(c, "lane");
	bool known = true;
	int64_t v;
	for (int i = 0; i < 32 && known; i++)
		known = ix_value_at(c, x, lane, i, &v);
	return known;
}
