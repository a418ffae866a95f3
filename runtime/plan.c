/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* plan.c - a kernel description made ready for launching: every expression is compiled into one
 * pool, so that a launch parses no text and allocates nothing. Needs a description that lives as
 * long. And a launch as devices read it. */
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

static dsl_status visit_both(Visitor *v, Expr *e, const char *const *extents, int n, Expr *f,
			     const char *const *strides, int m)
{
	dsl_status st = visit_list(v, e, extents, n);
	return st ? st : visit_list(v, f, strides, m);
}

static dsl_status visit_cost(Visitor *v)
{
	const char *text[COST_SIZES];
	cost_texts(&v->plan->k->cost, text);
	return visit_list(v, v->plan->cost, text, COST_SIZES);
}

static dsl_status visit(Visitor *v)
{
	Plan *p = v->plan;
	dsl_status st = DSL_OK;
	for (int i = 0; i < p->k->nargs && !st; i++) {
		const KArg *a = &p->k->args[i];
		st = visit_both(v, p->shape[i], a->shape, a->rank, p->stride[i], a->stride,
				a->rank);
	}
	for (int i = 0; i < p->k->nfacts && !st; i++)
		st = v->each(v, &p->facts[i], p->k->facts[i].cond);
	for (int i = 0; i < p->k->nmaps && !st; i++) {
		const KMap *m = &p->k->maps[i];
		st = visit_both(v, p->dims[i], m->dims, m->rank, p->strides[i], m->strides,
				m->rank - 1);
	}
	if (!st)
		st = visit_list(v, p->works, p->k->works, p->k->nworks);
	if (!st && p->k->cost.family)
		st = visit_cost(v);
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
	free(p->family);
	free(p->pool);
	p->family = NULL;
	p->pool = NULL;
}

int kernel_cluster(const KDesc *k)
{
	return k->cluster[0] * k->cluster[1] * k->cluster[2];
}

dsl_raw kernel_shape(const KDesc *k)
{
	dsl_raw raw = {.block = {(uint32_t)k->block, 1, 1}, .smem = (uint32_t)k->smem};
	for (int i = 0; i < 3; i++)
		raw.cluster[i] = kernel_cluster(k) > 1 ? (uint32_t)k->cluster[i] : 0;
	return raw;
}

dsl_map launch_map(const Launch *l, int i)
{
	const KMap *m = &l->plan->k->maps[i];
	const MapGeom *g = &l->maps[i];
	dsl_map map = {.base = g->base, .rank = (uint32_t)m->rank, .swizzle = (uint32_t)m->swizzle};
	for (int j = 0; j < m->rank; j++) {
		map.dims[j] = g->dims[j];
		map.box[j] = (uint32_t)m->box[j];
		if (j < m->rank - 1)
			map.strides[j] = g->strides[j];
	}
	return map;
}

const void *launch_param(const Launch *l, const KParam *p)
{
	switch (p->kind) {
	case KP_MADE:
		return &l->made[p->index];
	case KP_SYM:
		return &l->env[p->index];
	case KP_WORK:
		return &l->works[p->index];
	case KP_SEMAPHORES:
		return &l->semaphores;
	case KP_EPOCH:
		return &l->epoch;
	default:
		return &l->value[p->index];
	}
}

uint64_t map_span(Elem e, const dsl_map *m)
{
	uint64_t bytes = m->dims[0] * (uint64_t)elem_rows[e].bits / 8;
	for (uint32_t i = 1; i < m->rank; i++)
		bytes += (m->dims[i] - 1) * m->strides[i - 1];
	return bytes;
}
