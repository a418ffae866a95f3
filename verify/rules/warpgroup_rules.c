/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* warpgroup_rules.c - a wgmma is of a warpgroup: its four warps do it together, so that they come
 * to the same ones and commit them in the same groups; so is setmaxnreg. Needs the scripts of all
 * agents.
 *     if (warp == 0) { wgmma .. }   ->   "wgmma is for whole warpgroups, and some warps go past it"
 */
#include "verify/read/read.h"

enum { GROUP_WARPS = 4 };

static bool is_of_group(const Item *it)
{
	for (int i = 0; i < it->body.n; i++)
		if (is_of_group(it->body.at[i]))
			return true;
	return it->kind == ITEM_STEP &&
	       (it->step.kind == STEP_MMA || it->step.kind == STEP_MMA_COMMIT ||
		it->step.kind == STEP_REGS);
}

static const Item *next_of(const Items *items, int *i)
{
	while (*i < items->n && !is_of_group(items->at[*i]))
		++*i;
	return *i < items->n ? items->at[(*i)++] : NULL;
}

static bool same_when(const Item *x, const Item *y)
{
	bool same = x->kind == y->kind && x->op == y->op && x->nconds == y->nconds &&
		    x->from == y->from && x->to == y->to;
	for (int i = 0; i < x->nconds && same; i++)
		same = x->conds[i] == y->conds[i];
	return same;
}

/* The first op in it that is for a warpgroup. */
static const Op *op_of_group(const Item *it)
{
	for (int i = 0; i < it->body.n; i++)
		if (is_of_group(it->body.at[i]))
			return op_of_group(it->body.at[i]);
	return it->op;
}

/* The first op at which two warps part; NULL: none. */
static const Op *parting(const Items *a, const Items *b)
{
	for (int i = 0, j = 0;;) {
		const Item *x = next_of(a, &i), *y = next_of(b, &j);
		if (!x && !y)
			return NULL;
		if (!x || !y || !same_when(x, y))
			return op_of_group(x ? x : y);
		const Op *in = parting(&x->body, &y->body);
		if (in)
			return in;
	}
}

/* How often the registers are set, more than once where a loop does it. */
static int times_set(const Items *items)
{
	int n = 0;
	for (int i = 0; i < items->n; i++) {
		const Item *it = items->at[i];
		n += it->kind == ITEM_STEP && it->step.kind == STEP_REGS;
		n += (it->kind == ITEM_LOOP || it->kind == ITEM_SHARED ? 2 : 1) *
		     times_set(&it->body);
	}
	return n;
}

/* Before the first loop that roles share. */
static int times_first(const Items *items)
{
	Items before = *items;
	for (before.n = 0; before.n < items->n; before.n++)
		if (items->at[before.n]->kind == ITEM_SHARED)
			break;
	return times_set(&before);
}

static void find_setters(Program *p)
{
	for (int a = 0; a < p->m.na; a++) {
		const Script *s = &p->scripts[a];
		int first = times_first(&s->items), n = 2 * times_set(&s->items) - first;
		p->m.setters |= n > 1 ? AGENT(a) : 0;
		p->m.regs_late |= n > first;
	}
}

static bool go_together(Reader *r, const Script *a, const Script *b)
{
	static const Items nothing = {0};
	bool turn = a->turns == b->turns && a->turn == b->turn; /* they take the same tiles */
	const Op *op = a == b ? NULL : parting(&a->items, turn ? &b->items : &nothing);
	return !op || read_problem(r, D_E0411, op->loc,
				   "%s is for whole warpgroups, and some of "
				   "the four warps go past it",
				   op_rows[op->kind].name);
}

bool read_groups(Reader *r)
{
	static const Script nothing = {.turns = 1};
	const Program *p = r->p;
	int warps = (int)(attrs_int(&p->k->attrs, A_BLOCK, 0) / 32);
	find_setters(r->p);
	for (int cta = 0; cta < p->m.ranks; cta++)
		for (int w = 0; w < warps; w++) {
			int first = w / GROUP_WARPS * GROUP_WARPS;
			const int *of = p->agent_of_warp[cta];
			const Script *own = &p->scripts[of[w]];
			for (int v = first; v < first + GROUP_WARPS && v < warps; v++)
				r->p->m.mates[of[w]] |= AGENT(of[v]);
			bool whole = first + GROUP_WARPS <= warps;
			if (!go_together(r, whole ? &p->scripts[of[first]] : &nothing, own))
				return false;
		}
	return true;
}
