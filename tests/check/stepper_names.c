/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_names.c - index expressions with a value for each lane of a warp.
 *     lane / 16 + k  ->  0 0 .. 1 1 .. plus k */
#include "stepper.h"

#include "base/ptrmap.h"

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

static LaneValue *place(LaneNames *n, const char *name)
{
	LaneValue *at = ptrmap_get(&n->map, name);
	if (!at) {
		at = NEW(n->map.arena, LaneValue);
		ptrmap_set(&n->map, name, at);
	}
	return at;
}

/* Of what does not vary the first lane is kept. */
static void put_one(LaneValue *at, int64_t v, uint32_t bad)
{
	at->at[0] = v;
	at->bad = bad;
	at->varies = false;
}

void names_bind(LaneNames *n, const char *name, const LaneValue *v)
{
	if (v->varies)
		*place(n, name) = *v;
	else
		put_one(place(n, name), v->at[0], v->bad);
}

void names_bind_int(LaneNames *n, const char *name, int64_t v)
{
	put_one(place(n, name), v, 0);
}

/* One value for all lanes, or none. */
typedef struct {
	int64_t v;
	uint32_t bad; /* lanes for which it has none */
	bool varies;  /* it is each lane's own, elsewhere */
} One;

static One value(int64_t v)
{
	return (One){.v = v};
}

static One none(int64_t v)
{
	return (One){.v = v, .bad = ALL_LANES};
}

static One product(int64_t a, int64_t b)
{
	int64_t v = 0;
	return __builtin_mul_overflow(a, b, &v) ? none(v) : value(v);
}

static One sum(int64_t a, int64_t b)
{
	int64_t v = 0;
	return __builtin_add_overflow(a, b, &v) ? none(v) : value(v);
}

static One divide(IxKind kind, int64_t a, int64_t b)
{
	if (b <= 0)
		return none(0);
	int64_t q = a / b - (a % b < 0);
	return value(kind == IX_DIV ? q : a - q * b);
}

static One shift(IxKind kind, int64_t a, int64_t b)
{
	if (b < 0 || b > 62)
		return none(0);
	return kind == IX_SHR ? value(a >> b) : product(a, (int64_t)1 << b);
}

/* What the language says of each operator. */
static One apply(IxKind kind, int64_t a, int64_t b)
{
	switch ((int)kind) {
	case IX_MIN:
		return value(a < b ? a : b);
	case IX_MAX:
		return value(a > b ? a : b);
	case IX_XOR:
		return value(a ^ b);
	case IX_SHL:
	case IX_SHR:
		return shift(kind, a, b);
	case IX_MUL:
		return product(a, b);
	case IX_DIV:
	case IX_MOD:
		return divide(kind, a, b);
	case IX_ADD:
		return sum(a, b);
	case IX_LT:
		return value(a < b);
	case IX_LE:
		return value(a <= b);
	case IX_EQ:
		return value(a == b);
	case IX_NE:
		return value(a != b);
	case IX_AND:
		return value(a && b);
	case IX_OR:
		return value(a || b);
	default:
		return none(0);
	}
}

static One eval_leaf(const LaneNames *n, const Ix *x, LaneValue *out)
{
	const LaneValue *v = x->kind == IX_SYM ? ptrmap_get(&n->map, x->name) : NULL;
	if (!v)
		return x->kind == IX_SYM ? none(x->value) : value(x->value);
	if (v->varies && out)
		*out = *v;
	return (One){v->at[0], v->bad, v->varies};
}

static int64_t of_lane(One one, const LaneValue *each, int lane)
{
	return one.varies ? each->at[lane] : one.v;
}

static uint32_t bad_of(One one, const LaneValue *each)
{
	return one.varies ? each->bad : one.bad;
}

/* Of which one varies at least; *out may be the lanes of either. */
static One apply_each(IxKind kind, One a, const LaneValue *as, One b, const LaneValue *bs,
		      LaneValue *out)
{
	out->bad = bad_of(a, as) | bad_of(b, bs);
	out->varies = true;
	for (int i = 0; i < LANES; i++) {
		One one = apply(kind, of_lane(a, as, i), of_lane(b, bs, i));
		out->at[i] = one.v;
		out->bad |= one.bad & 1u << i;
	}
	return (One){.varies = true};
}

static One eval(const LaneNames *n, const Ix *x, LaneValue *out);

static One eval_right(const LaneNames *n, const Ix *x, LaneValue *out)
{
	LaneValue each;
	One b = eval(n, x->b, &each);
	return apply_each(x->kind, (One){.varies = true}, out, b, &each, out);
}

/* The lanes, where they vary and are asked for, go to *out. */
static One eval(const LaneNames *n, const Ix *x, LaneValue *out)
{
	if (!x->a)
		return eval_leaf(n, x, out);
	One a = eval(n, x->a, out);
	if (a.varies)
		return out ? eval_right(n, x, out) : a;
	One b = eval(n, x->b, out);
	if (b.varies)
		return out ? apply_each(x->kind, a, NULL, b, out, out) : b;
	One both = apply(x->kind, a.v, b.v);
	both.bad |= a.bad | b.bad;
	return both;
}

void names_eval(const LaneNames *n, const Ix *x, LaneValue *out)
{
	One one = eval(n, x, out);
	if (one.varies)
		return;
	put_one(out, one.v, one.bad);
	for (int i = 1; i < LANES; i++)
		out->at[i] = one.v;
}

bool names_int(const LaneNames *n, const Ix *x, int64_t *out)
{
	One one = eval(n, x, NULL);
	*out = one.v;
	return !one.bad && !one.varies;
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
