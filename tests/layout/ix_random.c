/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout.ix_random - random expressions against a plain evaluation of the tree they were made from:
 * the normal form, text, every rule by itself, and simplification keep the value; bounds and
 * divisors hold. A fixed seed; each rule must have applied often enough for its part to mean
 * something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "layout/ixp.h"

#ifndef ROUNDS
#define ROUNDS 40000
#endif
enum { PER_CTX = 1000, ASSIGNMENTS = 6 };

static uint64_t seed = 77;

static int random_below(int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % (uint64_t)n);
}

static const IxFact facts_at[] = {
	{"i", 0, 31, 1},  {"j", 0, 7, 1},   {"t", -20, 40, 1},
	{"K", 8, 200, 8}, {"N", 1, 100, 1}, {"m", 0, INT64_MAX, 4},
};
enum { NAMES = COUNTOF(facts_at) };
static const IxFacts facts = {.at = facts_at, .n = NAMES};
static int64_t values[NAMES];

static int64_t random_value(const IxFact *f)
{
	int64_t hi = f->hi > 300 ? 300 : f->hi, v = f->lo + random_below((int)(hi - f->lo) + 1);
	v = v / f->div * f->div;
	return v < f->lo ? v + f->div : v;
}

static bool get_value(void *user, const char *name, int64_t *v)
{
	(void)user;
	for (int i = 0; i < NAMES; i++)
		if (!strcmp(name, facts_at[i].name))
			return *v = values[i], true;
	return false;
}

/* ------------------------------------------------------------------ plain trees */
typedef struct Node Node;
struct Node {
	IxKind kind;
	int64_t value;
	int name;
	Node *a, *b;
};

static Node *random_leaf(Arena *a)
{
	static const int64_t often[] = {0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64, -1, -3, -8};
	Node *n = NEW(a, Node);
	n->kind = random_below(3) ? IX_SYM : IX_CONST;
	n->name = random_below(NAMES);
	n->value = often[random_below(COUNTOF(often))];
	return n;
}

static Node *random_divisor(Arena *a)
{
	static const int64_t often[] = {1, 2, 3, 4, 6, 8, 8, 16, 32};
	Node *n = NEW(a, Node);
	n->kind = random_below(6) ? IX_CONST : IX_SYM;
	n->name = 3 + random_below(2);
	n->value = often[random_below(COUNTOF(often))];
	return n;
}

static Node *random_node(Arena *a, int depth);

static Node *node_of(Arena *a, IxKind kind, Node *x, Node *y)
{
	Node *n = NEW(a, Node);
	*n = (Node){.kind = kind, .a = x, .b = y};
	return n;
}

/* x / c * c + x % c, or with the quotient taken % b: chance alone seldom makes these. */
static Node *split_node(Arena *a, Node *x)
{
	Node *c = random_divisor(a), *q = node_of(a, IX_DIV, x, c);
	if (random_below(2))
		q = node_of(a, IX_MOD, q, random_divisor(a));
	return node_of(a, IX_ADD, node_of(a, IX_MUL, q, c), node_of(a, IX_MOD, x, c));
}

/* of a shift: 0..3 */
static Node *random_count(Arena *a, int depth)
{
	Node *k = NEW(a, Node);
	*k = (Node){.kind = IX_CONST, .value = 1 + random_below(4)};
	return node_of(a, IX_MOD, random_node(a, depth), k);
}

static Node *random_node(Arena *a, int depth)
{
	static const IxKind kinds[] = {IX_ADD, IX_ADD, IX_ADD, IX_MUL, IX_MUL, IX_DIV, IX_DIV,
				       IX_DIV, IX_MOD, IX_MOD, IX_MOD, IX_MIN, IX_MAX, IX_SHL,
				       IX_SHR, IX_LT,  IX_LE,  IX_EQ,  IX_NE,  IX_AND, IX_OR};
	if (depth == 0 || random_below(8) == 0)
		return random_leaf(a);
	if (random_below(16) == 0)
		return split_node(a, random_node(a, depth - 1));
	Node *n = NEW(a, Node);
	n->kind = kinds[random_below(depth > 2 ? COUNTOF(kinds) : 15)];
	n->a = random_node(a, depth - 1);
	bool divided =
		n->kind == IX_DIV || n->kind == IX_MOD || (n->kind == IX_MUL && random_below(2));
	bool shift = n->kind == IX_SHL || n->kind == IX_SHR;
	n->b = shift     ? random_count(a, depth - 1)
	       : divided ? random_divisor(a)
			 : random_node(a, depth - 1);
	return n;
}

static const Ix *build(Ctx *c, const Node *n)
{
	if (n->kind == IX_CONST)
		return ix_const(c, n->value);
	if (n->kind == IX_SYM)
		return ix_sym(c, facts_at[n->name].name);
	return ix_new(c, n->kind, build(c, n->a), build(c, n->b));
}

static int64_t floor_quotient(int64_t a, int64_t b)
{
	int64_t q = a / b;
	return q * b > a ? q - 1 : q;
}

/* Small numbers only: nothing here overflows. */
static int64_t plain_value(const Node *n)
{
	if (n->kind == IX_CONST)
		return n->value;
	if (n->kind == IX_SYM)
		return values[n->name];
	int64_t a = plain_value(n->a), b = plain_value(n->b);
	switch (n->kind) {
	case IX_ADD:
		return a + b;
	case IX_MUL:
		return a * b;
	case IX_DIV:
		return floor_quotient(a, b);
	case IX_MOD:
		return a - floor_quotient(a, b) * b;
	case IX_MIN:
		return a < b ? a : b;
	case IX_MAX:
		return a < b ? b : a;
	case IX_SHL:
		return a * (INT64_C(1) << b);
	case IX_SHR:
		return floor_quotient(a, INT64_C(1) << b);
	case IX_LT:
		return a < b;
	case IX_LE:
		return a <= b;
	case IX_EQ:
		return a == b;
	case IX_NE:
		return a != b;
	case IX_AND:
		return a && b;
	case IX_OR:
		return a || b;
	default:
		abort();
	}
}

/* ------------------------------------------------------------------ checks */
static const char *show(Ctx *c, const Ix *x)
{
	Buf b = {0};
	ix_print(x, &b);
	const char *s = ctx_str(c, b.s);
	buf_free(&b);
	return s;
}

static void assign(void)
{
	for (int i = 0; i < NAMES; i++)
		values[i] = random_value(&facts_at[i]);
}

/* y has a value wherever x has one, and the same. */
static void same_value(Ctx *c, const Ix *x, const Ix *y, const char *what)
{
	for (int n = 0; n < ASSIGNMENTS; n++) {
		int64_t v, w = 0;
		assign();
		if (!ix_eval(x, get_value, NULL, &v))
			continue;
		if (!ix_eval(y, get_value, NULL, &w) || v != w)
			fail_msg("%s: %s became %s, %lld became %lld", what, show(c, x), show(c, y),
				 (long long)v, (long long)w);
	}
}

static void check_bounds(Ctx *c, const Ix *x)
{
	int64_t lo, hi, v, div = ix_divisor(x, facts);
	ix_range(x, facts, &lo, &hi);
	for (int n = 0; n < ASSIGNMENTS; n++) {
		assign();
		if (!ix_eval(x, get_value, NULL, &v))
			continue;
		if (v < lo || v > hi || (div ? v % div : v))
			fail_msg("%s is %lld, not in %lld..%lld by %lld", show(c, x), (long long)v,
				 (long long)lo, (long long)hi, (long long)div);
	}
}

static const char *const rule_names[] = {
#define RULE(id, root, law, when, theorem) #id,
#include "layout/rules.def"
};
static int hits[RULE_COUNT];

static void check_rules(Ctx *c, const Ix *x)
{
	if (!x->a)
		return;
	check_rules(c, x->a);
	check_rules(c, x->b);
	for (int rule = 0; rule < RULE_COUNT; rule++) {
		const Ix *y = ix_rule_apply(c, (IxRule)rule, x, facts);
		hits[rule] += y != NULL;
		if (y)
			same_value(c, x, y, rule_names[rule]);
	}
}

static void check_text(Ctx *c, const Ix *x)
{
	Ctx *other = ctx_new();
	const char *text = show(c, x), *s = text, *why = "";
	if (ix_parse(c, &s, &why) != x || *s)
		fail_msg("%s reads as something else (%s)", text, why);
	s = text;
	assert_string_equal(show(other, ix_parse(other, &s, &why)), text);
	ctx_free(other);
}

static void check_value(Ctx *c, const Node *n, const Ix *x)
{
	for (int k = 0; k < ASSIGNMENTS; k++) {
		int64_t v = 0;
		assign();
		if (!ix_eval(x, get_value, NULL, &v) || v != plain_value(n))
			fail_msg("%s: %lld, expected %lld", show(c, x), (long long)v,
				 (long long)plain_value(n));
	}
}

static void one_round(Ctx *c)
{
	Node *n = random_node(ctx_arena(c), 2 + random_below(3));
	const Ix *x = build(c, n);
	check_value(c, n, x);
	check_text(c, x);
	check_bounds(c, x);
	check_rules(c, x);
	const Ix *y = ix_simplify(c, x, facts);
	same_value(c, x, y, "simplify");
	if (ix_simplify(c, y, facts) != y)
		fail_msg("%s is simple, but becomes %s", show(c, y),
			 show(c, ix_simplify(c, y, facts)));
}

static void test_random(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round += PER_CTX) {
		Ctx *c = ctx_new();
		for (int i = 0; i < PER_CTX; i++)
			one_round(c);
		ctx_free(c);
	}
	for (int rule = 0; rule < RULE_COUNT; rule++) {
		print_message("%s applied %d times\n", rule_names[rule], hits[rule]);
		assert_true(hits[rule] >= 20);
	}
}

/* Constants at the edge of 64 bits: what is folded is right, and text still round-trips. */
static void test_edges(void **state)
{
	static const int64_t edge[] = {INT64_MIN,        INT64_MIN + 1, -2,       -1, 0, 1, 2, 3,
				       INT64_C(1) << 62, INT64_MAX - 1, INT64_MAX};
	static const IxKind kinds[] = {IX_ADD, IX_ADD, IX_MUL, IX_MIN, IX_LT};
	(void)state;
	for (int round = 0; round < 5000; round++) {
		Ctx *c = ctx_new();
		const Ix *x = ix_sym(c, "a");
		for (int i = 0; i < 8; i++) {
			const Ix *k = random_below(3)
					      ? ix_const(c, edge[random_below(COUNTOF(edge))])
					      : ix_sym(c, random_below(2) ? "a" : "b");
			if (random_below(3) == 0)
				k = ix_mul(c, ix_sym(c, "a"), k);
			x = ix_new(c, kinds[random_below(COUNTOF(kinds))], x, k);
		}
		check_text(c, x);
		ctx_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_edges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
