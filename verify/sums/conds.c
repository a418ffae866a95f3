/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* conds.c - each part of a condition is evaluated where the last of its own names gets a value. */
#include "verify/sums/conds.h"

#include "base/ptrmap.h"

typedef struct {
	IxKind kind;
	int a, b; /* numbers of its parts */
	int last; /* the last name that it needs; -1: none */
	uint64_t names;
	int64_t value;
	bool known, cut;
} Part;

typedef struct {
	int part;
	int cost; /* 0: to be evaluated; else: a condition, which must hold */
} Step;

typedef struct {
	int part; /* the name itself; -1: no condition has it */
	VEC(Step) steps;
} Name;

struct Conds {
	Arena *arena;
	NumberOf *number;
	void *user;
	VEC(Part) parts;
	PtrMap part_of; /* of an expression: its number + 1 */
	Name *names;
	int n;
	VEC(int) wanted, cut; /* parts */
};

Conds *conds_new(Ctx *c, int names, NumberOf *number, void *user)
{
	if (names > MAX_LEVELS)
		panic("%d names", names);
	Conds *of = NEW(ctx_arena(c), Conds);
	*of = (Conds){.arena = ctx_arena(c), .number = number, .user = user};
	of->part_of.arena = of->arena;
	of->names = NEWN(of->arena, Name, names);
	of->n = names;
	for (int i = 0; i < names; i++)
		of->names[i].part = -1;
	return of;
}

static void evaluate(Part *parts, Part *p)
{
	const Part *a = &parts[p->a], *b = &parts[p->b];
	IxKind kind = p->kind;
	p->known = a->known;
	if (!p->known)
		return;
	int64_t left = a->value;
	if ((kind == IX_AND && !left) || (kind == IX_OR && left))
		p->value = left != 0;
	else
		p->known = b->known && ix_fold(kind, left, b->value, &p->value);
}

static int new_part(Conds *c, const Ix *x, Part p)
{
	p.kind = x->kind;
	ptrmap_set(&c->part_of, x, (void *)(intptr_t)(c->parts.n + 1));
	vec_push(c->arena, &c->parts, p);
	return c->parts.n - 1;
}

static int leaf(Conds *c, const Ix *x)
{
	if (x->kind == IX_CONST)
		return new_part(c, x, (Part){.last = -1, .value = x->value, .known = true});
	int name = c->number(c->user, x->name);
	int at = new_part(c, x, (Part){.last = name, .known = name >= 0});
	if (name < 0)
		return at;
	c->names[name].part = at;
	c->parts.at[at].names = UINT64_C(1) << name;
	return at;
}

static int part_of(Conds *c, const Ix *x)
{
	int seen = (int)(intptr_t)ptrmap_get(&c->part_of, x);
	if (seen)
		return seen - 1;
	if (!x->a)
		return leaf(c, x);
	Part p = {.a = part_of(c, x->a), .b = part_of(c, x->b)};
	const Part *a = &c->parts.at[p.a], *b = &c->parts.at[p.b];
	p.last = a->last > b->last ? a->last : b->last;
	p.names = a->names | b->names;
	int at = new_part(c, x, p);
	if (p.last < 0)
		evaluate(c->parts.at, &c->parts.at[at]);
	else
		vec_push(c->arena, &c->names[p.last].steps, ((Step){at, 0}));
	return at;
}

void conds_add(Conds *c, const Ix *x, int last, int cost)
{
	int part = part_of(c, x);
	vec_push(c->arena, &c->names[last].steps, ((Step){part, cost}));
}

void conds_want(Conds *c, const Ix *x)
{
	vec_push(c->arena, &c->wanted, part_of(c, x));
}

/* ------------------------------------------------------------------ what later names ask */
static void cut(Conds *c, int part, int name)
{
	Part *p = &c->parts.at[part];
	if (p->cut || p->last < 0 || p->last >= name)
		return;
	p->cut = true;
	vec_push(c->arena, &c->cut, part);
}

static void cut_step(Conds *c, const Step *s, int name)
{
	const Part *p = &c->parts.at[s->part];
	if (s->cost) {
		cut(c, s->part, name);
		return;
	}
	cut(c, p->a, name);
	cut(c, p->b, name);
}

int conds_cut(Conds *c, int name)
{
	for (int i = name; i < c->n; i++)
		for (int j = 0; j < c->names[i].steps.n; j++)
			cut_step(c, &c->names[i].steps.at[j], name);
	for (int i = 0; i < c->wanted.n; i++)
		cut(c, c->wanted.at[i], name);
	return 2 * c->cut.n;
}

void conds_cut_values(const Conds *c, int64_t *values)
{
	for (int i = 0; i < c->cut.n; i++) {
		const Part *p = &c->parts.at[c->cut.at[i]];
		values[2 * i] = p->known;
		values[2 * i + 1] = p->known ? p->value : 0;
	}
}

/* ------------------------------------------------------------------ asking */

/* One of constants alone fails whatever the name is: that is a condition on it too. */
static uint64_t to_blame(const Part *p, int name)
{
	return p->names ? p->names : UINT64_C(1) << name;
}

uint64_t conds_hold(Conds *c, int name, int64_t value, int *spent)
{
	const Name *of = &c->names[name];
	const Step *s = of->steps.at, *end = s + of->steps.n;
	Part *parts = c->parts.at;
	if (of->part >= 0)
		parts[of->part].value = value;
	for (; s < end; s++) {
		Part *p = &parts[s->part];
		int cost = s->cost;
		if (!cost) {
			evaluate(parts, p);
			continue;
		}
		*spent += cost;
		if (!p->known || !p->value)
			return to_blame(p, name);
	}
	return 0;
}

bool conds_value(const Conds *c, const Ix *x, int name, int64_t *value)
{
	const Part *p = &c->parts.at[(intptr_t)ptrmap_get(&c->part_of, x) - 1];
	*value = p->value;
	return p->known && p->last < name;
}

uint64_t conds_names(const Conds *c, const Ix *x)
{
	return c->parts.at[(intptr_t)ptrmap_get(&c->part_of, x) - 1].names;
}
