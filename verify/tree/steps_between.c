/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* steps_between.c - what a role does between two loops of its own stands as early in the tree as it
 * may: before loops that the role leaves out. What waits there for who comes later is put off.
 *     for k { fill }, and another role: wait for what is filled   ->   it waits after the loop
 */
#include "verify/tree/tree.h"

typedef struct {
	Tree *t;
	const Segment *g;
	bool some;
} Late;

static bool has_op(const Item *it, const Op *op)
{
	bool has = it->op == op;
	for (int i = 0; i < it->body.n && !has; i++)
		has = has_op(it->body.at[i], op);
	return has;
}

/* From the n-th on, before what stands there. */
static void move(Arena *a, Items *from, int n, Items *to)
{
	Items all = {0};
	for (int i = n; i < from->n; i++)
		vec_push(a, &all, from->at[i]);
	for (int i = 0; i < to->n; i++)
		vec_push(a, &all, to->at[i]);
	*to = all;
	from->n = n;
}

static void note_stuck(void *user, int agent, const Step *step, bool stuck)
{
	Late *l = user;
	Branch *in = l->g->in;
	Sequence *q = in ? &in->body : &l->t->root;
	int at = l->g->at, first = 0;
	if (!stuck || at == q->loops.n || q->loops.at[at]->of[agent])
		return;
	Items *from = &q->parts.at[at]->of[agent];
	while (first < from->n && !has_op(from->at[first], step->op))
		first++;
	if (first == from->n)
		return;
	move(l->t->p->arena, from, first, &q->parts.at[at + 1]->of[agent]);
	l->some = true;
}

bool put_off(Tree *t, const Segment *g, State *s, const Letter *letter)
{
	Late l = {t, g, false};
	Why why;
	letter_run(&t->p->m, s, letter, note_stuck, &l, &why);
	return l.some;
}
