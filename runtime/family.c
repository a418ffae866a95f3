/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* family.c - kernels that are variants of one name: what they have in common, and which of them a
 * launch takes.
 *   gemm, gemm__2, gemm__3 at M = 16  ->  gemm__3, then gemm, then gemm__2 */
#include "runtime/rt.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void cost_texts(const KCost *c, const char *out[COST_SIZES])
{
	int n = 0;
#define COST_SIZE(field) out[n++] = c->field;
#include "runtime/variants.def"
}

static bool same_texts(const char *const *a, const char *const *b, int n)
{
	int i = 0;
	while (i < n && strcmp(a[i], b[i]) == 0)
		i++;
	return i == n;
}

static bool same_map(const KMap *a, const KMap *b)
{
	return a->elem == b->elem && a->rank == b->rank && same_texts(a->dims, b->dims, a->rank) &&
	       same_texts(a->strides, b->strides, a->rank - 1);
}

/* A tensor that was packed for one variant is right for each that takes packed ones. */
static bool same_arg(const KDesc *k, const KDesc *l, int i)
{
	const KArg *a = &k->args[i], *b = &l->args[i];
	int p = pack_map(k, i), q = pack_map(l, i);
	return strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->elem == b->elem &&
	       a->dir == b->dir && a->rank == b->rank && same_texts(a->shape, b->shape, a->rank) &&
	       same_texts(a->stride, b->stride, a->rank) &&
	       (p < 0 || q < 0 || same_map(&k->maps[p], &l->maps[q]));
}

static bool same_args(const KDesc *a, const KDesc *b)
{
	int i = 0;
	while (i < a->nargs && same_arg(a, b, i))
		i++;
	return i == a->nargs;
}

static bool same_product(const KCost *a, const KCost *b)
{
	const char *x[COST_SIZES], *y[COST_SIZES];
	cost_texts(a, x);
	cost_texts(b, y);
	return memcmp(&a->product, &b->product, sizeof a->product) == 0 &&
	       same_texts(x, y, COST_SIZES);
}

const char *variant_differs(const KDesc *a, const KDesc *b)
{
	if (a->nargs != b->nargs || !same_args(a, b))
		return "arguments";
	if (a->nsyms != b->nsyms || !same_texts(a->syms, b->syms, a->nsyms))
		return "sizes";
	return same_product(&a->cost, &b->cost) ? NULL : "costs of the product";
}

/* ------------------------------------------------------------------ the order of the variants */

static void family_fill(Family *f, const Plan *first, int n, const CostDevice *device)
{
	static _Atomic uint64_t families;
	*f = (Family){.id = ++families, .n = n, .device = *device};
	for (int i = 0; i < n; i++)
		f->ready[i] =
			cost_ready(&first->k->cost.product, &first[i].k->cost.variant, device);
}

dsl_status families_init(const Why *w, dsl_module *m)
{
	bool has_row = m->dev && m->dev->cost.name;
	CostDevice device = has_row ? m->dev->cost : cost_device("NVIDIA H200", 132, 1.98, 4.8);
	for (int i = 0, n; i < m->desc->nkernels; i += n) {
		n = kdesc_variants(m->desc, i);
		if (!m->desc->kernels[i].cost.family)
			continue;
		m->plans[i].family = malloc(sizeof(Family));
		if (!m->plans[i].family)
			return why_fail(w, DSL_ERR_MEMORY,
					"no memory for the variants of kernel %s",
					m->desc->kernels[i].name);
		family_fill(m->plans[i].family, &m->plans[i], n, &device);
	}
	return DSL_OK;
}

/* A size that the launch will refuse is 1. */
static CostSizes sizes_at(const Plan *first, const int64_t env[EXPR_ENV])
{
	double s[COST_SIZES];
	for (int i = 0; i < COST_SIZES; i++) {
		int64_t v = 1;
		bool is_known = expr_eval(first->cost[i], env, &v) == EXPR_OK;
		s[i] = is_known && v > 0 ? (double)v : 1;
	}
	return (CostSizes){s[0], s[1], s[2], s[3], s[4], s[5]};
}

/* Of equal ranks, that of the lower number comes first. */
static void order_fill(const Plan *first, const int64_t env[EXPR_ENV], uint8_t *order)
{
	const Family *f = first->family;
	float rank[KD_MAX_VARIANTS];
	CostSizes sizes = sizes_at(first, env);
	CostAt at = cost_at(&first->k->cost.product, &sizes, &f->device);
	for (int i = 0; i < f->n; i++) {
		int j = i;
		rank[i] = cost_rank(&f->ready[i], &at);
		for (; j > 0 && rank[order[j - 1]] > rank[i]; j--)
			order[j] = order[j - 1];
		order[j] = (uint8_t)i;
	}
}

/* The orders of the sizes that this thread asked for last, by a hash of family and sizes. Two sizes
 * with one hash would share an order, which costs time and nothing else: launches are checked. */
typedef struct {
	uint64_t key;
	uint8_t order[KD_MAX_VARIANTS];
} Known;
enum { KNOWN_BITS = 8 };
static _Thread_local Known known[1 << KNOWN_BITS];

const uint8_t *family_order(const Plan *first, const int64_t env[EXPR_ENV])
{
	uint64_t key = first->family->id;
	for (int i = 0; i < first->k->nsyms; i++)
		key = (key ^ (uint64_t)env[i]) * UINT64_C(0x9e3779b97f4a7c15);
	Known *k = &known[key >> (64 - KNOWN_BITS)];
	key |= 1; /* no slot has this before it is used */
	if (k->key != key) {
		k->key = key;
		order_fill(first, env, k->order);
	}
	return k->order;
}

/* ------------------------------------------------------------------ for people */

static void variant_line(const CostVariant *v, Line *l)
{
	static const char *const roles[] = {"one role", "cooperative", "pingpong"};
	line_add(l, "tile %d x %d x %d, %d stages, %s", v->tile_m, v->tile_n, v->tile_k, v->stages,
		 roles[v->roles]);
	if (v->persistent)
		line_add(l, ", persistent");
	if (v->swap)
		line_add(l, ", swap");
	if (v->cluster_m * v->cluster_n > 1)
		line_add(l, ", cluster (%d,%d)", v->cluster_m, v->cluster_n);
	if (v->split > 1)
		line_add(l, ", split_k %d%s", v->split, v->workspace ? " through workspace" : "");
	if (v->ctas > 1)
		line_add(l, ", %d CTAs an SM", v->ctas);
}

static const char *bound_by(const CostTerms *t)
{
	return t->sm >= t->hbm && t->sm >= t->l2 ? "SM" : t->hbm >= t->l2 ? "HBM" : "L2";
}

void family_explain(const Variants *v, const Plan *p, const int64_t env[EXPR_ENV], Line *out)
{
	static const char alone[] = "no other kernel has this name";
	line_add(out, "%s: ", p->k->symbol);
	if (!v->first->family) {
		line_add(out, alone);
		return;
	}
	const uint8_t *order = family_order(v->first, env);
	bool best = v->n > 1 && p == &v->first[order[0]];
	const KDesc *k = p->k, *other = v->first[order[best]].k;
	const CostDevice *device = &v->first->family->device;
	CostSizes sizes = sizes_at(v->first, env);
	CostTerms t;
	double us = cost_us(&k->cost.product, &k->cost.variant, &sizes, device, &t);
	variant_line(&k->cost.variant, out);
	line_add(out, "; about %.1f us, %s bound; ", us, bound_by(&t));
	if (v->n == 1) {
		line_add(out, alone);
		return;
	}
	line_add(out, "%s%s, %.1f us%s", best ? "next " : "", other->symbol,
		 cost_us(&other->cost.product, &other->cost.variant, &sizes, device, NULL),
		 best ? "" : ", cannot take these arguments");
}
