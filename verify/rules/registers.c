/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* registers.c - what a role says it needs, each of its warps has: at entry, or by setmaxnreg. Needs
 * the scripts of all agents, as a condition may leave warps out.
 *     role consumer regs=232 { if (3 < warp) { setmaxnreg regs=232 } }  ->  warps 0-3 have 168
 */
#include "verify/read/read.h"

enum { REGS_MAX = 255 };

/* The fewest that a role's warp is left with. */
typedef struct {
	const Op *role;
	int64_t enters;   /* with so many it comes to the role */
	int64_t has, may; /* by what it sets in any run; by what it may set */
	bool sets, may_set;
} Left;

static bool is_before(const Op *op, const Op *role)
{
	while (op_parent(op))
		op = op_parent(op);
	while (op && op != role)
		op = op->next;
	return op != NULL;
}

static int64_t fewer(bool any, int64_t before, int64_t n)
{
	return any && before < n ? before : n;
}

static void set(Left *l, const Op *op, int64_t n, bool certain)
{
	if (!op_inside(op, l->role)) {
		if (is_before(op, l->role))
			l->enters = certain ? n : fewer(true, l->enters, n);
		return;
	}
	if (certain)
		l->has = fewer(l->sets, l->has, n);
	else
		l->may = fewer(l->may_set, l->may, n);
	l->sets |= certain;
	l->may_set |= !certain;
}

/* A loop between numbers. */
static bool is_counted(const Item *it, bool *some)
{
	int64_t from, to;
	bool is = it->kind == ITEM_LOOP && ix_is_const(it->from, &from) && ix_is_const(it->to, &to);
	*some = !is || from < to;
	return is;
}

static void set_all(Left *l, const Items *items, bool certain)
{
	for (int i = 0; i < items->n; i++) {
		const Item *it = items->at[i];
		bool some, counted = is_counted(it, &some);
		if (it->kind == ITEM_STEP && it->step.kind == STEP_REGS)
			set(l, it->op, it->step.n, certain);
		if (some)
			set_all(l, &it->body, certain && counted);
	}
}

static Left left_of(const Program *p, int agent)
{
	const Script *s = &p->scripts[agent];
	int64_t regs = p->m.agents[agent].regs;
	Left l = {.role = s->role, .enters = regs < REGS_MAX ? regs : REGS_MAX};
	set_all(&l, &s->items, true);
	return l;
}

static bool too_few(Reader *r, int agent, int64_t needs, int64_t has)
{
	const Op *role = r->p->scripts[agent].role;
	return read_problem(r, D_E0412, role->loc,
			    "role %s needs %d registers a thread and has %d in %s", role->sym[0],
			    (int)needs, (int)has, r->p->m.agents[agent].name);
}

bool read_registers(Reader *r)
{
	for (int a = 0; a < r->p->m.na && !r->p->sized; a++) {
		const Op *role = r->p->scripts[a].role;
		int64_t needs = role ? attrs_int(&role->attrs, A_REGS, 0) : 0;
		Left l = left_of(r->p, a);
		int64_t has = l.sets ? l.has : l.enters;
		if (has < needs && (l.sets || !l.may_set || l.may < needs))
			return too_few(r, a, needs, has);
		if (has < needs || (l.may_set && l.may < needs))
			return read_problem(r, D_W0411, role->loc,
					    "registers that are set in a condition that a run "
					    "decides");
	}
	return true;
}
