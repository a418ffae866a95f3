/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* plan.c - a kernel description made ready for launching: every expression is compiled into one
 * pool, so that a launch parses no text and allocates nothing. Needs a description that lives as
 * long. */
#include "runtime/rt.h"

#include <stdlib.h>
#include <string.h>

typedef struct Visitor Visitor;
struct Visitor {
	dsl_status (*each)(Visitor *v, Expr *e, const char *text);
	const Why *why;
	Plan *plan;
	size_t n; /* tokens so far */
};

static dsl_status visit_list(Visitor *v, Expr *e, const char *const *text, int n)
{
	dsl_status st = DSL_OK;
	for (int i = 0; i < n && !st; i++)
		st = v->each(v, &e[i], text[i]);
	return st;
}

static dsl_status visit_args(Visitor *v)
{
	Plan *p = v->plan;
	dsl_status st = DSL_OK;
	for (int i = 0; i < p->k->nargs && !st; i++) {
		const KArg *a = &p->k->args[i];
		st = visit_list(v, p->shape[i], a->shape, a->rank);
		if (!st)
			st = visit_list(v, p->stride[i], a->stride, a->rank);
	}
	return st;
}

static dsl_status visit_maps(Visitor *v)
{
	Plan *p = v->plan;
	dsl_status st = DSL_OK;
	for (int i = 0; i < p->k->nmaps && !st; i++) {
		const KMap *m = &p->k->maps[i];
		st = visit_list(v, p->dims[i], m->dims, m->rank);
		if (!st)
			st = visit_list(v, p->strides[i], m->strides, m->rank - 1);
	}
	return st;
}

static dsl_status visit(Visitor *v)
{
	Plan *p = v->plan;
	dsl_status st = visit_args(v);
	for (int i = 0; i < p->k->nfacts && !st; i++)
		st = v->each(v, &p->facts[i], p->k->facts[i].cond);
	if (!st)
		st = visit_maps(v);
	if (!st)
		st = visit_list(v, p->works, p->k->works, p->k->nworks);
	return st ? st : visit_list(v, p->grid, p->k->grid, 3);
}

static dsl_status count_tokens(Visitor *v, Expr *e, const char *text)
{
	(void)e;
	v->n++;
	for (; *text; text++)
		v->n += *text == ' ';
	return DSL_OK;
}

static dsl_status compile(Visitor *v, Expr *e, const char *text)
{
	const KDesc *k = v->plan->k;
	ExprIns ins[KD_MAX_EXPR];
	const char *reason;
	int n = expr_compile(text, k->syms, k->nsyms, ins, &reason);
	if (n < 0)
		return why_fail(v->why, DSL_ERR_MANIFEST,
				"manifest, kernel %s: expression \"%.80s\": %s", k->name, text,
				reason);
	*e = (Expr){v->plan->pool + v->n, n};
	memcpy(v->plan->pool + v->n, ins, sizeof *ins * (size_t)n);
	v->n += (size_t)n;
	return DSL_OK;
}

dsl_status plan_init(const Why *w, Plan *p, const KDesc *k)
{
	memset(p, 0, sizeof *p);
	p->k = k;
	Visitor v = {count_tokens, w, p, 0};
	visit(&v);
	p->pool = malloc(v.n * sizeof *p->pool);
	if (!p->pool)
		return why_fail(w, DSL_ERR_MEMORY, "no memory for kernel %s", k->name);
	v.each = compile;
	v.n = 0;
	dsl_status st = visit(&v);
	if (st)
		plan_free(p);
	return st;
}

void plan_free(Plan *p)
{
	free(p->pool);
	p->pool = NULL;
}

int kernel_cluster(const KDesc *k)
{
	return k->cluster[0] * k->cluster[1] * k->cluster[2];
}
