/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_names.c - index expressions with a value for each lane of a warp.
 *     lane / 16 + k  ->  0 0 .. 1 1 .. plus k */
#include "stepper.h"

#include "layout/ptrmap.h"

#include <string.h>

struct LaneNames {
	PtrMap map;
};

LaneNames *names_new(Arena *arena)
{
	LaneNames *n = NEW(arena, LaneNames);
	n->map.arena = arena;
	return n;
}

void names_bind(LaneNames *n, const char *name, const LaneValue *v)
{
	LaneValue *at = ptrmap_get(&n->map, name);
	if (!at) {
		at = NEW(n->map.arena, LaneValue);
		ptrmap_set(&n->map, name, at);
	}
	*at = *v;
}

static void set_all(LaneValue *v, int64_t x)
{
	v->bad = 0;
	v->varies = false;
	for (int i = 0; i < LANES; i++)
		v->at[i] = x;
}

void names_bind_int(LaneNames *n, const char *name, int64_t x)
{
	LaneValue v;
	set_all(&v, x);
	names_bind(n, name, &v);
}

static bool divide(IxKind kind, int64_t a, int64_t b, int64_t *out)
{
	if (b <= 0)
		return false;
	int64_t q = a / b - (a % b < 0);
	*out = kind == IX_DIV ? q : a - q * b;
	return true;
}

/* What the language says of each operator; false: it has no value. */
static bool apply(IxKind kind, int64_t a, int64_t b, int64_t *out)
{
	switch ((int)kind) {
	case IX_MIN:
		*out = a < b ? a : b;
		return true;
	case IX_MAX:
		*out = a > b ? a : b;
		return true;
	case IX_XOR:
		*out = a ^ b;
		return true;
	case IX_SHL:
		return b >= 0 && b <= 62 && !__builtin_mul_overflow(a, (int64_t)1 << b, out);
	case IX_SHR:
		*out = b >= 0 && b <= 62 ? a >> b : 0;
		return b >= 0 && b <= 62;
	case IX_MUL:
		return !__builtin_mul_overflow(a, b, out);
	case IX_DIV:
	case IX_MOD:
		return divide(kind, a, b, out);
	case IX_ADD:
		return !__builtin_add_overflow(a, b, out);
	case IX_LT:
		*out = a < b;
		return true;
	case IX_LE:
		*out = a <= b;
		return true;
	case IX_EQ:
		*out = a == b;
		return true;
	case IX_NE:
		*out = a != b;
		return true;
	case IX_AND:
		*out = a && b;
		return true;
	case IX_OR:
		*out = a || b;
		return true;
	default:
		return false;
	}
}

/* One value for all lanes is that of lane 0 until somebody asks for each. */
static void set_one(LaneValue *v, int64_t x, uint32_t bad)
{
	v->at[0] = x;
	v->bad = bad;
	v->varies = false;
}

static void spread(LaneValue *v)
{
	for (int i = 1; i < LANES; i++)
		v->at[i] = v->at[0];
}

static void eval_leaf(const LaneNames *n, const Ix *x, LaneValue *out)
{
	const LaneValue *v = x->kind == IX_SYM ? ptrmap_get(&n->map, x->name) : NULL;
	if (!v)
		set_one(out, x->value, x->kind == IX_SYM ? ALL_LANES : 0);
	else if (v->varies)
		*out = *v;
	else
		set_one(out, v->at[0], v->bad);
}

static void eval_each(const Ix *x, LaneValue *a, LaneValue *b)
{
	if (!a->varies)
		spread(a);
	if (!b->varies)
		spread(b);
	a->varies = true;
	a->bad |= b->bad;
	for (int i = 0; i < LANES; i++)
		if (!apply(x->kind, a->at[i], b->at[i], &a->at[i]))
			a->bad |= 1u << i;
}

static void eval(const LaneNames *n, const Ix *x, LaneValue *out)
{
	if (!x->a) {
		eval_leaf(n, x, out);
		return;
	}
	LaneValue b;
	int64_t v = 0;
	eval(n, x->a, out);
	eval(n, x->b, &b);
	if (out->varies || b.varies)
		eval_each(x, out, &b);
	else if (apply(x->kind, out->at[0], b.at[0], &v))
		set_one(out, v, out->bad | b.bad);
	else
		set_one(out, v, ALL_LANES);
}

void names_eval(const LaneNames *n, const Ix *x, LaneValue *out)
{
	eval(n, x, out);
	if (!out->varies)
		spread(out);
}

bool names_int(const LaneNames *n, const Ix *x, int64_t *out)
{
	LaneValue v;
	eval(n, x, &v);
	*out = v.at[0];
	return !v.bad && !v.varies;
}

/* ------------------------------------------------------------------ what the hardware binds */
static void bind(LaneNames *n, Ctx *c, const char *name, int64_t v)
{
	names_bind_int(n, ctx_str(c, name), v);
}

void names_of_sizes(LaneNames *n, Ctx *c, const Sizes *s)
{
	bind(n, c, "sms", s->sms);
	for (int i = 0; i < s->n; i++)
		names_bind_int(n, s->at[i].name, s->at[i].value);
}

int cluster_ctas(const Kernel *k)
{
	const Attr *a = attrs_get(&k->attrs, A_CLUSTER);
	int ctas = 1;
	for (int i = 0; a && i < a->n; i++)
		ctas *= (int)a->i[i];
	return ctas;
}

int64_t launch_ctas(const Kernel *k, const LaneNames *n)
{
	int64_t all = 1;
	for (const Op *op = k->body.first; op; op = op->next)
		for (int i = 0; op->kind == OP_LAUNCH && i < op->nix; i++) {
			int64_t v;
			if (!names_int(n, op->ix[i], &v) || v <= 0)
				return 0;
			all *= v;
		}
	return all;
}

void names_of_cta(LaneNames *n, Ctx *c, const Sizes *s, int64_t ctas, int cluster_size, int rank)
{
	bind(n, c, "ctas", ctas);
	bind(n, c, "clusters", ctas / cluster_size);
	bind(n, c, "cluster", s->cluster);
	bind(n, c, "rank", rank);
	bind(n, c, "cta", s->cluster * cluster_size + rank);
}

void names_of_warp(LaneNames *n, Ctx *c, int warp)
{
	LaneValue lane = {.varies = true}, tid = {.varies = true};
	for (int i = 0; i < LANES; i++) {
		lane.at[i] = i;
		tid.at[i] = warp * LANES + i;
	}
	bind(n, c, "warp", warp);
	names_bind(n, ctx_str(c, "lane"), &lane);
	names_bind(n, ctx_str(c, "tid"), &tid);
}
