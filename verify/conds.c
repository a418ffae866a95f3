/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* conds.c - each part of a condition is evaluated where the last of its own names gets a value. */
#include "verify/conds.h"

#include "layout/ptrmap.h"

typedef struct {
	const Ix *x;
	int a, b; /* numbers of its parts */
	int last; /* the last name that it needs; -1: none */
	uint64_t names;
	int64_t value;
	bool known;
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
};

Conds *conds_new(Ctx *c, int names, NumberOf *number, void *user)
{
	if (names > MAX_LEVELS)
		panic("%d names", names);
	Conds *of = NEW(ctx_arena(c), Conds);
	*of = (Conds){.arena = ctx_arena(c), .number = number, .user = user};
	of->part_of.arena = of->arena;
	of->names = NEWN(of->arena, Name, names);
	for (int i = 0; i < names; i++)
		of->names[i].part = -1;
	return of;
}

static void evaluate(Conds *c, Part *p)
{
	const Part *a = &c->parts.at[p->a], *b = &c->parts.at[p->b];
	bool decided = a->known &&
		       ((p->x->kind == IX_AND && !a->value) || (p->x->kind == IX_OR && a->value));
	if (decided)
		p->value = a->value != 0;
	p->known = decided ||
		   (a->known && b->known && ix_fold(p->x->kind, a->value, b->value, &p->value));
}

static int new_part(Conds *c, Part p)
{
	ptrmap_set(&c->part_of, p.x, (void *)(intptr_t)(c->parts.n + 1));
	vec_push(c->arena, &c->parts, p);
	return c->parts.n - 1;
}

static int leaf(Conds *c, const Ix *x)
{
	if (x->kind == IX_CONST)
		return new_part(c, (Part){.x = x, .last = -1, .value = x->value, .known = true});
	int name = c->number(c->user, x->name);
	int at = new_part(c, (Part){.x = x, .last = name, .known = name >= 0});
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
	Part p = {.x = x, .a = part_of(c, x->a), .b = part_of(c, x->b)};
	const Part *a = &c->parts.at[p.a], *b = &c->parts.at[p.b];
	p.last = a->last > b->last ? a->last : b->last;
	p.names = a->names | b->names;
	int at = new_part(c, p);
	if (p.last < 0)
		evaluate(c, &c->parts.at[at]);
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
	part_of(c, x);
}

/* One of constants alone fails whatever the name is: that is a condition on it too. */
static uint64_t to_blame(const Part *p, int name)
{
	return p->names ? p->names : UINT64_C(1) << name;
}

uint64_t conds_hold(Conds *c, int name, int64_t value, int *spent)
{
	const Name *of = &c->names[name];
	if (of->part >= 0)
		c->parts.at[of->part].value = value;
	for (int i = 0; i < of->steps.n; i++) {
		const Step *s = &of->steps.at[i];
		Part *p = &c->parts.at[s->part];
		*spent += s->cost;
		if (!s->cost)
			evaluate(c, p);
		else if (!p->known || !p->value)
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
