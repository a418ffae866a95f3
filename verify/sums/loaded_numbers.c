/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* loaded_numbers.c - what an operation finds in a loop is a function of what it is asked, and no
 * more is known of it: a loop may be as long as that says.
 *     groups.at first, last, rows %ends (G, T, g)   ->   rows is a % (1 + (g + 1) * b)
 * Each list of numbers is that for some a and b (Goedel's), so what is proved for all of these is
 * proved for all lists; and numbers for them are a list, with which a run can be shown. Of a number
 * that may be negative there is a least: it is that and more. Two roles find the same where they
 * read one address, since the kernel writes no such tensor (ir/verify_ops.c).
 *     number x %len (b, b < B)   ->   x is (a % (1 + (b + 1) * b') - c) * (b < B) */
#include "verify/read/read.h"

static bool finds(const Op *op)
{
	return op_only_names(op) && op->nin && HAS_IX(op, WHICH);
}

/* ------------------------------------------------------------------ whether lengths hang on it */
typedef struct {
	PtrMap names; /* of what is found in loops, and made of that */
	bool some;
} Hangs;

static void note_hung(void *user, const char *name)
{
	Hangs *m = user;
	m->some |= ptrmap_get(&m->names, name) != NULL;
}

static bool is_hung(Hangs *m, const Op *op)
{
	m->some = false;
	for (int i = 0; i < op->nix; i++)
		ix_names(op->ix[i], note_hung, m);
	return m->some;
}

static bool sets_lengths(Reader *r)
{
	Hangs m = {.names.arena = r->p->arena};
	for (const Op *op = kernel_first(r->p->k); op; op = op_next(op)) {
		bool found = finds(op) && (read_outer_loop(op) || r->p->m.ranks > 1);
		if (read_is_loop(op) && !read_is_plain(op) && is_hung(&m, op))
			return true;
		for (int i = 0; (found || (op->kind == OP_LET && is_hung(&m, op))) && i < op->nsym;
		     i++)
			ptrmap_set(&m.names, op->sym[i], (void *)(uintptr_t)op);
	}
	return false;
}

/* ------------------------------------------------------------------ functions */
static const Val *list_of(const Op *op)
{
	return (HAS_IN(op, ENDS) ? IN(op, ENDS) : IN(op, FROM)).val;
}

/* Those that find the same where they are asked the same. */
static bool alike(const Op *x, const Op *y)
{
	bool same = x->kind == y->kind && list_of(x) == list_of(y);
	for (int i = 0; i < IX_PLACE(x, WHICH) && same; i++)
		same = x->ix[i] == y->ix[i];
	return same && attrs_int(&x->attrs, A_ROWS, 1) == attrs_int(&y->attrs, A_ROWS, 1) &&
	       !attrs_get(&x->attrs, A_COUNTS) == !attrs_get(&y->attrs, A_COUNTS);
}

static const char *number_of(Reader *r, const Op *op, int i, char which)
{
	Ctx *c = r->p->k->ctx;
	const char *name =
		ctx_strf(c, "%s %c of %d", list_of(op)->name, which, r->p->found.n * 4 + i);
	vec_push(r->p->arena, &r->p->lists, name);
	return name;
}

static void add_function(Reader *r, const Op *op)
{
	FoundBy by = {.op = op};
	for (int i = 0; i < op->nsym; i++) {
		by.a[i] = number_of(r, op, i, 'a');
		by.b[i] = number_of(r, op, i, 'b');
	}
	by.least = op->kind == OP_NUMBER ? number_of(r, op, 0, 'c') : NULL;
	vec_push(r->p->arena, &r->p->found, by);
}

static const FoundBy *function_of(const Reader *r, const Op *op)
{
	for (int i = 0; i < r->p->found.n; i++)
		if (alike(r->p->found.at[i].op, op))
			return &r->p->found.at[i];
	return NULL;
}

/* Both are natural numbers. */
static void add_facts(Reader *r)
{
	VEC(IxFact) all = {0};
	for (int i = 0; i < r->facts.n; i++)
		vec_push(r->p->arena, &all, r->facts.at[i]);
	for (int i = 0; i < r->p->lists.n; i++)
		vec_push(r->p->arena, &all, ((IxFact){r->p->lists.at[i], 0, INT64_MAX, 1}));
	r->facts = (IxFacts){.at = all.at, .n = all.n};
}

/* Also those that stand in no loop, which may be asked the same. */
void read_found(Reader *r)
{
	if (!sets_lengths(r))
		return;
	for (const Op *op = kernel_first(r->p->k); op; op = op_next(op))
		if (finds(op) && !function_of(r, op))
			add_function(r, op);
	add_facts(r);
}

static const Ix *value_at(const View *v, const FoundBy *by, const Op *op, int i, const Ix *asked)
{
	Ctx *c = v->ctx;
	const Ix *one = ix_const(c, 1), *a = stage(v, ix_sym(c, by->a[i]));
	const Ix *times = ix_mul(c, ix_add(c, asked, one), stage(v, ix_sym(c, by->b[i])));
	const Ix *x = ix_mod(c, a, ix_add(c, one, times));
	if (by->least)
		x = ix_sub(c, x, stage(v, ix_sym(c, by->least)));
	for (int j = IX_PLACE(op, COND); by->least && j < op->nix; j++)
		x = ix_mul(c, x, stage(v, op->ix[j]));
	return x;
}

void read_put_names(Reader *r, const Op *op, View *v)
{
	const FoundBy *by = finds(op) ? function_of(r, op) : NULL;
	const Ix *asked = by ? stage(v, IX(op, WHICH)) : NULL;
	for (int i = 0; by && i < op->nsym; i++)
		vec_push(r->p->arena, &v->names,
			 ((Named){op->sym[i], value_at(v, by, op, i, asked)}));
	if (op->kind == OP_LET)
		vec_push(r->p->arena, &v->names, ((Named){op->sym[0], stage(v, IX(op, VALUE))}));
}
