/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ix.c - index expressions: interning, folding constructors, evaluation, substitution.
 *     ix_add(k, ix_mul(ix_const(2), k)) is the node that prints as `k * 3`.
 * Every constructor goes through ix_new, which keeps the normal form that ix_sum.c describes. */
#include "layout/ixp.h"

#include <string.h>

const struct IxRow ix_rows[IX_COUNT] = {
#define IX(id, text, post, prec) [IX_##id] = {text, post, prec},
#include "layout/ix.def"
};

/* ------------------------------------------------------------------ interning */
enum { SMALL = 256 };

typedef struct {
	InternSet set;
	const Ix *small[SMALL]; /* the constants 0..SMALL-1, once made */
} IxTable;

static uint64_t node_hash(const void *entry)
{
	const Ix *x = entry;
	uint64_t h = hash_mix(x->kind, (uint64_t)x->value);
	h = hash_mix(h, (uint64_t)(uintptr_t)x->name);
	h = hash_mix(h, x->a ? x->a->id + 1 : 0);
	return hash_mix(h, x->b ? x->b->id + 1 : 0);
}

static bool node_eq(const void *entry, const void *key)
{
	const Ix *x = entry, *y = key;
	return x->kind == y->kind && x->value == y->value && x->name == y->name && x->a == y->a &&
	       x->b == y->b;
}

static IxTable *table_of(Ctx *c)
{
	return ctx_table(c, CTX_IX, sizeof(IxTable));
}

static const Ix *node_intern(Ctx *c, Ix key)
{
	void **where;
	IxTable *t = table_of(c);
	Ix *x = intern_find(&t->set, node_hash(&key), node_eq, node_hash, &key, ctx_arena(c),
			    &where);
	if (x)
		return x;
	*where = x = NEW(ctx_arena(c), Ix);
	*x = key;
	x->id = (uint32_t)t->set.n - 1;
	return x;
}

const Ix *ix_const(Ctx *c, int64_t v)
{
	IxTable *t = table_of(c);
	bool small = v >= 0 && v < SMALL;
	if (small && t->small[v])
		return t->small[v];
	const Ix *x = node_intern(c, (Ix){.kind = IX_CONST, .value = v});
	if (small)
		t->small[v] = x;
	return x;
}

const Ix *ix_sym(Ctx *c, const char *name)
{
	return node_intern(c, (Ix){.kind = IX_SYM, .name = ctx_str(c, name)});
}

const Ix *ix_node(Ctx *c, IxKind kind, const Ix *a, const Ix *b)
{
	return node_intern(c, (Ix){.kind = kind, .a = a, .b = b});
}

/* ------------------------------------------------------------------ order */
static int kind_rank(const Ix *x)
{
	return x->kind == IX_CONST ? IX_COUNT : (int)x->kind;
}

int ix_cmp(const Ix *a, const Ix *b)
{
	while (a != b) {
		if (a->kind != b->kind)
			return kind_rank(a) < kind_rank(b) ? -1 : 1;
		if (a->kind == IX_CONST)
			return a->value < b->value ? -1 : 1;
		if (a->kind == IX_SYM)
			return strcmp(a->name, b->name);
		if (a->a == b->a) {
			a = a->b, b = b->b;
		} else {
			a = a->a, b = b->a;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------ folding */
bool ix_is(const Ix *x, int64_t v)
{
	return x->kind == IX_CONST && x->value == v;
}

bool ix_is_const(const Ix *x, int64_t *v)
{
	if (x->kind != IX_CONST)
		return false;
	if (v)
		*v = x->value;
	return true;
}

bool ix_is_comparison(IxKind kind)
{
	return kind == IX_LT || kind == IX_LE || kind == IX_EQ || kind == IX_NE;
}

static int64_t floor_mod(int64_t a, int64_t b)
{
	return a % b < 0 ? a % b + b : a % b;
}

bool ix_fold(IxKind kind, int64_t a, int64_t b, int64_t *out)
{
	switch (kind) {
	case IX_CONST:
	case IX_SYM:
	case IX_COUNT:
		return false;
	case IX_MIN:
		return *out = a < b ? a : b, true;
	case IX_MAX:
		return *out = a > b ? a : b, true;
	case IX_XOR:
		return *out = a ^ b, true;
	case IX_SHL:
		return b >= 0 && b <= 62 && !__builtin_mul_overflow(a, INT64_C(1) << b, out);
	case IX_SHR:
		return b >= 0 && b <= 62 && ix_fold(IX_DIV, a, INT64_C(1) << b, out);
	case IX_ADD:
		return !__builtin_add_overflow(a, b, out);
	case IX_MUL:
		return !__builtin_mul_overflow(a, b, out);
	case IX_DIV:
		return b > 0 && (*out = a / b - (a % b < 0), true);
	case IX_MOD:
		return b > 0 && (*out = floor_mod(a, b), true);
	case IX_LT:
		return *out = a < b, true;
	case IX_LE:
		return *out = a <= b, true;
	case IX_EQ:
		return *out = a == b, true;
	case IX_NE:
		return *out = a != b, true;
	case IX_AND:
		return *out = a && b, true;
	case IX_OR:
		return *out = a || b, true;
	}
	return false;
}

static const Ix *new_quotient(Ctx *c, IxKind kind, const Ix *a, const Ix *b)
{
	if (ix_is(b, 1))
		return kind == IX_DIV ? a : ix_const(c, 0);
	if (ix_is(a, 0) && (b->kind != IX_CONST || b->value > 0))
		return a;
	return ix_node(c, kind, a, b);
}

static const Ix *new_xor(Ctx *c, const Ix *a, const Ix *b)
{
	if (ix_is(a, 0) || ix_is(b, 0))
		return ix_is(a, 0) ? b : a;
	if (a == b)
		return ix_const(c, 0);
	return ix_cmp(a, b) > 0 ? ix_node(c, IX_XOR, b, a) : ix_node(c, IX_XOR, a, b);
}

/* By a constant: a product or a quotient, which the rules know. */
static const Ix *new_shift(Ctx *c, IxKind kind, const Ix *a, const Ix *b)
{
	int64_t v;
	if (ix_is(a, 0))
		return a;
	if (!ix_is_const(b, &v) || v < 0 || v > 62)
		return ix_node(c, kind, a, b);
	return ix_new(c, kind == IX_SHL ? IX_MUL : IX_DIV, a, ix_const(c, INT64_C(1) << v));
}

static const Ix *new_comparison(Ctx *c, IxKind kind, const Ix *a, const Ix *b)
{
	if (a == b)
		return ix_const(c, kind == IX_LE || kind == IX_EQ);
	if ((kind == IX_EQ || kind == IX_NE) && ix_cmp(a, b) > 0)
		return ix_node(c, kind, b, a);
	return ix_node(c, kind, a, b);
}

static bool is_truth(const Ix *x)
{
	return ix_is_comparison(x->kind) || x->kind == IX_AND || x->kind == IX_OR || ix_is(x, 0) ||
	       ix_is(x, 1);
}

static const Ix *as_truth(Ctx *c, const Ix *x)
{
	return is_truth(x) ? x : ix_new(c, IX_NE, x, ix_const(c, 0));
}

/* One side is a constant: it decides, or it drops out. */
static const Ix *new_logic(Ctx *c, IxKind kind, const Ix *a, const Ix *b)
{
	const Ix *known = a->kind == IX_CONST ? a : b, *other = known == a ? b : a;
	if (a == b)
		return as_truth(c, a);
	if (known->kind != IX_CONST)
		return ix_node(c, kind, a, b);
	if ((known->value != 0) == (kind == IX_OR))
		return ix_const(c, kind == IX_OR);
	return as_truth(c, other);
}

const Ix *ix_new(Ctx *c, IxKind kind, const Ix *a, const Ix *b)
{
	int64_t v;
	if (a->kind == IX_CONST && b->kind == IX_CONST && ix_fold(kind, a->value, b->value, &v))
		return ix_const(c, v);
	switch (kind) {
	case IX_ADD:
		return ix_add(c, a, b);
	case IX_MUL:
		return ix_product(c, a, b);
	case IX_MIN:
	case IX_MAX:
		return ix_extreme(c, kind, a, b);
	case IX_XOR:
		return new_xor(c, a, b);
	case IX_SHL:
	case IX_SHR:
		return new_shift(c, kind, a, b);
	case IX_DIV:
	case IX_MOD:
		return new_quotient(c, kind, a, b);
	case IX_LT:
	case IX_LE:
	case IX_EQ:
	case IX_NE:
		return new_comparison(c, kind, a, b);
	case IX_AND:
	case IX_OR:
		return new_logic(c, kind, a, b);
	case IX_CONST:
	case IX_SYM:
	case IX_COUNT:
		break;
	}
	panic("kind %d is not binary", (int)kind);
}

const Ix *ix_mul(Ctx *c, const Ix *a, const Ix *b)
{
	return ix_new(c, IX_MUL, a, b);
}

const Ix *ix_sub(Ctx *c, const Ix *a, const Ix *b)
{
	return ix_add(c, a, ix_mul(c, b, ix_const(c, -1)));
}

const Ix *ix_div(Ctx *c, const Ix *a, const Ix *b)
{
	if (ix_is(b, 0))
		panic("division by the constant 0");
	return ix_new(c, IX_DIV, a, b);
}

const Ix *ix_mod(Ctx *c, const Ix *a, const Ix *b)
{
	if (ix_is(b, 0))
		panic("remainder by the constant 0");
	return ix_new(c, IX_MOD, a, b);
}

const Ix *ix_ceil_div(Ctx *c, const Ix *a, const Ix *b)
{
	return ix_div(c, ix_add(c, a, ix_sub(c, b, ix_const(c, 1))), b);
}

/* ------------------------------------------------------------------ names and values */
const Ix *ix_subst(Ctx *c, const Ix *x, const char *name, const Ix *by)
{
	if (x->kind == IX_CONST)
		return x;
	if (x->kind == IX_SYM)
		return strcmp(x->name, name) ? x : by;
	const Ix *a = ix_subst(c, x->a, name, by), *b = ix_subst(c, x->b, name, by);
	return a == x->a && b == x->b ? x : ix_new(c, x->kind, a, b);
}

bool ix_uses(const Ix *x, const char *name)
{
	if (x->kind == IX_CONST)
		return false;
	if (x->kind == IX_SYM)
		return !strcmp(x->name, name);
	return ix_uses(x->a, name) || ix_uses(x->b, name);
}

void ix_names(const Ix *x, void (*visit)(void *user, const char *name), void *user)
{
	if (x->kind == IX_SYM)
		visit(user, x->name);
	if (!x->a)
		return;
	ix_names(x->a, visit, user);
	ix_names(x->b, visit, user);
}

bool ix_eval(const Ix *x, bool (*get)(void *user, const char *name, int64_t *v), void *user,
	     int64_t *out)
{
	int64_t a, b;
	if (x->kind == IX_CONST)
		return *out = x->value, true;
	if (x->kind == IX_SYM)
		return get && get(user, x->name, out);
	if (!ix_eval(x->a, get, user, &a))
		return false;
	if ((x->kind == IX_AND && !a) || (x->kind == IX_OR && a))
		return *out = a != 0, true;
	return ix_eval(x->b, get, user, &b) && ix_fold(x->kind, a, b, out);
}

typedef struct {
	const char *name;
	int64_t at;
} OneName;

static bool get_one(void *user, const char *name, int64_t *v)
{
	const OneName *one = user;
	*v = one->at;
	return !strcmp(name, one->name);
}

/* Nothing is made where this name is the only one. */
bool ix_value_at(Ctx *c, const Ix *x, const char *name, int64_t at, int64_t *out)
{
	OneName one = {name, at};
	return ix_eval(x, get_one, &one, out) ||
	       ix_is_const(ix_subst(c, x, name, ix_const(c, at)), out);
}
