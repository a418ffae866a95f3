/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout.ix - index expressions: normal form and text, evaluation, what simplification gives, and
 * the rules of rules.def one by one: the law of each by enumeration, and an example on which it
 * applies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "layout/ixp.h"

static const IxFact facts_at[] = {
	{"i", 0, 63, 1},        {"j", 0, 7, 1},         {"k", 0, 1000, 1}, {"K", 1, 1 << 20, 64},
	{"M", 1, INT64_MAX, 1}, {"N", 1, INT64_MAX, 8}, {"one", 1, 1, 1},  {"z", -100, 100, 1},
};
static const IxFacts facts = {.at = facts_at, .n = (int)COUNTOF(facts_at)};

static const Ix *read_ix(Ctx *c, const char *text)
{
	const char *s = text, *why = "";
	const Ix *x = ix_parse(c, &s, &why);
	if (!x || *s)
		fail_msg("%s: %s at '%s'", text, why, s);
	return x;
}

static const char *show(Ctx *c, const Ix *x)
{
	Buf b = {0};
	ix_print(x, &b);
	const char *s = ctx_str(c, b.s);
	buf_free(&b);
	return s;
}

/* ------------------------------------------------------------------ text */
static const struct {
	const char *text, *printed;
} normal[] = {
	{"2*k + k", "k * 3"},
	{"3 + b + 2*a - a", "a + b + 3"},
	{"a - a", "0"},
	{"0 * a + 1 * b", "b"},
	{"-a", "a * -1"},
	{"b - a", "a * -1 + b"},
	{"x - 3 * y - 7", "x - y * 3 - 7"},
	{"2 * (a + 3 * b) * n", "n * (a * 2 + b * 6)"},
	{"n * (a + b) * 2", "n * (a + b) * 2"},
	{"(M + 127) / 128 * 128", "(M + 127) / 128 * 128"},
	{"a - (b - c)", "a - b + c"},
	{"a / (b / c)", "a / (b / c)"},
	{"a / b / c", "a / b / c"},
	{"a % (b * c)", "a % (b * c)"},
	{"min(8, min(b, min(a, 3)))", "min(min(a, b), 3)"},
	{"max(a, a)", "a"},
	{"shl(shr(a, b), b)", "shl(shr(a, b), b)"},
	{"shl(a, 3) + shr(b, 2)", "a * 8 + b / 4"},
	{"shl(3, 63)", "shl(3, 63)"},
	{"7 / 2", "3"},
	{"-7 / 2", "-4"},
	{"-7 % 2", "1"},
	{"a > 3 && b >= c", "3 < a && c <= b"},
	{"(a < b) == (c < d)", "a < b == c < d"},
	{"3 == a", "a == 3"},
	{"a == a", "1"},
	{"a || 1", "1"},
	{"a && 1", "a != 0"},
	{"a && (b || c)", "a && (b || c)"},
	{"a && b || c", "a && b || c"},
	{"1 + 2 < 4", "1"},
	{"k.1 + k.12", "k.1 + k.12"},
	{"minimum + max", "max + minimum"},
	{"9223372036854775807 + 1", "1 + 9223372036854775807"},
	{"-9223372036854775808", "-9223372036854775808"},
	{"x * 4611686018427387904 * 2", "x * 2 * 4611686018427387904"},
	{"(x + 1) * 4611686018427387904 * 3",
	 "(x * 4611686018427387904 + 4611686018427387904) * 3"},
};

static void test_normal(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(normal); i++) {
		Ctx *c = ctx_new();
		const Ix *x = read_ix(c, normal[i].text);
		assert_string_equal(show(c, x), normal[i].printed);
		assert_ptr_equal(read_ix(c, normal[i].printed), x);
		ctx_free(c);
	}
}

static const struct {
	const char *text, *why, *rest;
} unreadable[] = {
	{"", "expected a number, a name or '('", ""},
	{"a +", "expected a number, a name or '('", ""},
	{"(a", "expected ')'", ""},
	{"a / 0", "the divisor is not positive", ""},
	{"a % -2", "the divisor is not positive", ""},
	{"a / (3 - 3) + b", "the divisor is not positive", "+ b"},
	{"min(a)", "expected ',' and a second operand", ")"},
	{"max(a, b", "expected ')'", ""},
	{"12ab", "a letter follows the number", "ab"},
	{"9223372036854775808", "the number does not fit in 64 bits", "8"},
	{"%a", "expected a number, a name or '('", "%a"},
};

static void test_bad_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(unreadable); i++) {
		Ctx *c = ctx_new();
		const char *s = unreadable[i].text, *why = "no message";
		assert_null(ix_parse(c, &s, &why));
		assert_string_equal(why, unreadable[i].why);
		assert_string_equal(s, unreadable[i].rest);
		ctx_free(c);
	}
}

/* An expression ends where nothing continues it. */
static void test_stops(void **state)
{
	static const char *const rests[] = {"]", ", b", " %v", " -> t", " o 2", ") + 1", ": 3"};
	(void)state;
	for (size_t i = 0; i < COUNTOF(rests); i++) {
		Ctx *c = ctx_new();
		const char *text = ctx_strf(c, "a + 1%s", rests[i]), *s = text, *why = "";
		assert_ptr_equal(ix_parse(c, &s, &why), read_ix(c, "a + 1"));
		assert_string_equal(s + strspn(s, " "), rests[i] + strspn(rests[i], " "));
		ctx_free(c);
	}
}

static void test_long(void **state)
{
	Ctx *c = ctx_new();
	Buf b = {0};
	const char *why = "";
	(void)state;
	for (int i = 0; i < 300; i++)
		buf_add(&b, "(", 1);
	const char *s = b.s;
	assert_null(ix_parse(c, &s, &why));
	assert_string_equal(why, "nested too deeply");
	b.n = 0;
	for (int i = 0; i < 4100; i++)
		buf_printf(&b, "a * ");
	buf_printf(&b, "a");
	s = b.s;
	assert_null(ix_parse(c, &s, &why));
	assert_string_equal(why, "the expression is too long");
	buf_free(&b);
	ctx_free(c);
}

static void test_postfix(void **state)
{
	static const char *const rows[][2] = {
		{"(M + 127) / 128", "M 127 + 128 /"},
		{"min(a, 4) % b", "a 4 min b %"},
		{"a <= b && b != 3 || c < 4", "a b <= b 3 != and c 4 < or"},
		{"-5", "-5"},
	};
	(void)state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		Ctx *c = ctx_new();
		Buf b = {0};
		ix_postfix(read_ix(c, rows[i][0]), &b);
		assert_string_equal(b.s, rows[i][1]);
		buf_free(&b);
		ctx_free(c);
	}
}

/* ------------------------------------------------------------------ values */
typedef struct {
	const char *name;
	int64_t value;
} Binding;
typedef struct {
	Binding at[8];
	int n;
} Bindings;

static bool get_binding(void *user, const char *name, int64_t *v)
{
	const Bindings *b = user;
	for (int i = 0; i < b->n; i++)
		if (!strcmp(b->at[i].name, name))
			return *v = b->at[i].value, true;
	return false;
}

static void test_eval(void **state)
{
	static const struct {
		const char *text;
		int64_t value;
	} rows[] = {
		{"a / b", -4},
		{"a % b", 1},
		{"a / b * b + a % b", -7},
		{"min(a, b) - 1", -8},
		{"max(a, b) * 3", 6},
		{"a < b", 1},
		{"a >= b", 0},
		{"a == 0 - 7", 1},
		{"a != a + 0 * b", 0},
		{"b == 2 || a / zero", 1},
		{"zero && a / zero", 0},
	};
	static const char *const fails[] = {"a / zero", "a % (zero - 1)", "a + unknown",
					    "a * 9223372036854775807", "b + 9223372036854775807"};
	Bindings env = {{{"a", -7}, {"b", 2}, {"zero", 0}}, 3};
	(void)state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		Ctx *c = ctx_new();
		int64_t v = 0;
		assert_true(ix_eval(read_ix(c, rows[i].text), get_binding, &env, &v));
		assert_int_equal(v, rows[i].value);
		ctx_free(c);
	}
	for (size_t i = 0; i < COUNTOF(fails); i++) {
		Ctx *c = ctx_new();
		int64_t v = 0;
		assert_false(ix_eval(read_ix(c, fails[i]), get_binding, &env, &v));
		ctx_free(c);
	}
}

static void count_name(void *user, const char *name)
{
	*(int *)user += !strcmp(name, "a");
}

static void test_names(void **state)
{
	Ctx *c = ctx_new();
	const Ix *x = read_ix(c, "a / b + min(a, 3)");
	int n = 0;
	(void)state;
	ix_names(x, count_name, &n);
	assert_int_equal(n, 2);
	assert_true(ix_uses(x, "b"));
	assert_false(ix_uses(x, "c"));
	assert_ptr_equal(ix_subst(c, x, "a", read_ix(c, "6 * b")),
			 read_ix(c, "6 * b / b + min(6 * b, 3)"));
	assert_ptr_equal(ix_subst(c, x, "c", read_ix(c, "1")), x);
	assert_string_equal(show(c, ix_subst(c, x, "b", ix_const(c, 0))), "min(a, 3) + a / 0");
	int64_t v;
	assert_true(ix_value_at(c, read_ix(c, "a * 3 + 1"), "a", 5, &v) && v == 16);
	assert_true(ix_value_at(c, read_ix(c, "a * b + 1"), "a", 0, &v) && v == 1);
	assert_false(ix_value_at(c, read_ix(c, "a * b + 1"), "a", 2, &v));
	assert_false(ix_value_at(c, read_ix(c, "3 / a"), "a", 0, &v));
	ctx_free(c);
}

/* ------------------------------------------------------------------ simplification */
static const struct {
	const char *text, *simple;
} simplified[] = {
	{"(m * 64 + i) / 64", "m"},
	{"(m * 64 + i) % 64", "i"},
	{"(m * 64 + i + 64) / 64", "m + 1"},
	{"(m * 128 + i * 2) % 128 / 2", "i"},
	{"(K + 63) / 64 * 64", "K"},
	{"K % 64", "0"},
	{"(N * 2) % 16", "0"},
	{"k / 8 * 8 + k % 8", "k"},
	{"k / 4 % 8 * 4 + k % 4", "k % 32"},
	{"k / 32 * 32 + k / 4 % 8 * 4 + k % 4", "k"},
	{"(m * N + n * N) / N", "m + n"},
	{"(m * N + n) / N", "m + n / N"},
	{"m * N % N", "0"},
	{"k / 3 / 5", "k / 15"},
	{"k % 32 / 4", "k / 4 % 8"},
	{"k % 32 % 8", "k % 8"},
	{"(k % 32 + m * 8) % 8", "k % 8"},
	{"(i * 4 + 3) / 4", "i"},
	{"(4 * a + 8 * b) / 4", "a + b * 2"},
	{"(6 * a + 2) / 4", "(a * 3 + 1) / 2"},
	{"6 * a % 4", "a % 2 * 2"},
	{"5 * a % 4", "a % 4"},
	{"min(i, 64)", "i"},
	{"max(i, M * 0 + 63)", "63"},
	{"min(M, M + 1)", "M"},
	{"i < 64", "1"},
	{"i >= 64", "0"},
	{"i / 8 < 3", "i < 24"},
	{"3 <= i / 8", "24 <= i"},
	{"i == 64", "0"},
	{"4 * a == 2 * b + 1", "0"},
	{"a + i != a + 64", "1"},
	{"M > 0", "1"},
	{"M > 1", "1 < M"},
	{"one * a", "a"},
	{"(a + one) / one", "a + 1"},
	{"M / M", "1"},
	{"z / 4 * 4", "z / 4 * 4"},
	{"z % 4", "z % 4"},
	{"z / 200", "z / 200"},
	{"(z + 100) / 201", "0"},
	{"(z - 302) / 201 + 2", "0"},
	{"(z + 301) % 201", "z + 100"},
};

static void test_simplified(void **state)
{
	int bad = 0;
	(void)state;
	for (size_t i = 0; i < COUNTOF(simplified); i++) {
		Ctx *c = ctx_new();
		const Ix *x = ix_simplify(c, read_ix(c, simplified[i].text), facts);
		if (strcmp(show(c, x), simplified[i].simple)) {
			print_error("%s: got %s, expected %s\n", simplified[i].text, show(c, x),
				    simplified[i].simple);
			bad++;
		}
		ctx_free(c);
	}
	assert_int_equal(bad, 0);
}

static void test_bounds(void **state)
{
	static const struct {
		const char *text;
		int64_t lo, hi, div;
	} rows[] = {
		{"i * 4 + 3", 3, 255, 1},
		{"i * -4 + 8", -244, 8, 4},
		{"K * 2", 2, 1 << 21, 128},
		{"M + 1", 2, INT64_MAX, 1},
		{"M * -1", INT64_MIN, -1, 1},
		{"K / 16", 0, 1 << 16, 4},
		{"unknown % 5", 0, 4, 1},
		{"unknown", INT64_MIN, INT64_MAX, 1},
		{"min(i, 10)", 0, 10, 1},
		{"max(N * 4, 32)", 32, INT64_MAX, 32},
		{"z / 7", -15, 14, 1},
		{"z * z", -10000, 10000, 1},
		{"a < b", 0, 1, 1},
		{"0", 0, 0, 0},
		{"-12", -12, -12, 12},
		{"M * 9223372036854775807", 9223372036854775806, INT64_MAX, 9223372036854775807},
	};
	(void)state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		Ctx *c = ctx_new();
		int64_t lo, hi;
		const Ix *x = read_ix(c, rows[i].text);
		ix_range(x, facts, &lo, &hi);
		assert_int_equal(lo, rows[i].lo);
		assert_int_equal(hi, rows[i].hi);
		assert_int_equal(ix_divisor(x, facts), rows[i].div);
		ctx_free(c);
	}
}

/* ------------------------------------------------------------------ rules */
typedef struct {
	const char *name, *law, *when;
} RuleRow;
static const RuleRow rules[] = {
#define RULE(id, root, law, when, theorem) {#id, law, when},
#include "layout/rules.def"
};

/* How many of all small values satisfy `when`; -1 if the law fails on one of them. */
static int enumerate(const Ix *law, const Ix *when, Bindings *env, int at)
{
	int total = 0;
	if (at == env->n) {
		int64_t v;
		if (!ix_eval(when, get_binding, env, &v) || !v)
			return 0;
		return ix_eval(law, get_binding, env, &v) && v ? 1 : -1;
	}
	bool divisor = !strcmp(env->at[at].name, "c") || !strcmp(env->at[at].name, "g");
	if (!ix_uses(law, env->at[at].name))
		return enumerate(law, when, env, at + 1);
	for (int v = divisor ? 1 : -8; v <= (divisor ? 6 : 9); v++) {
		env->at[at].value = v;
		int n = enumerate(law, when, env, at + 1);
		if (n < 0)
			return -1;
		total += n;
	}
	return total;
}

static int law_holds(const char *law, const char *when)
{
	Bindings env = {{{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}, {"g", 0}, {"q", 0}}, 6};
	Ctx *c = ctx_new();
	const Ix *x = read_ix(c, law);
	assert_int_equal(x->kind, IX_EQ);
	int n = enumerate(x, read_ix(c, when), &env, 0);
	ctx_free(c);
	return n;
}

static void test_laws(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(rules); i++) {
		int n = law_holds(rules[i].law, rules[i].when);
		if (n < 50)
			fail_msg("%s: %s when %s: %d cases", rules[i].name, rules[i].law,
				 rules[i].when, n);
	}
}

/* The same check finds what is wrong. */
static void test_wrong_laws(void **state)
{
	static const char *const wrong[][2] = {
		{"(a + b) / c == a / c + b / c", "1"},
		{"(a + b) % c == a % c + b % c", "1"},
		{"a * (b / c) == a * b / c", "1"},
		{"a / b / c == a / (b * c)", "b != 0 && c > 1 || a == 1"},
		{"(a * g + b) / (c * g) == a / c", "b < g"},
		{"a / c < b == (a <= b * c)", "1"},
		{"min(a, b) == a", "a < b + 2"},
	};
	(void)state;
	for (size_t i = 0; i < COUNTOF(wrong); i++)
		assert_int_equal(law_holds(wrong[i][0], wrong[i][1]), -1);
}

/* For each rule: where it applies and what it gives, and where it must not. */
static const struct {
	IxRule rule;
	const char *from, *to, *not;
} examples[] = {
	{RULE_DIV_RANGE, "(i + 64) / 64", "1", "(i + 1) / 64"},
	{RULE_DIV_EXACT, "(a * 8 + b) / 8", "a + b / 8", "(a * 8 + b) / 3"},
	{RULE_DIV_SPLIT, "(K + a) / 64", "K / 64 + a / 64", "(K + a) / 128"},
	{RULE_DIV_FACTOR, "K * a / 64", "a * (K / 64)", "K * a / 128"},
	{RULE_DIV_SMALL, "(a * 8 + j) / 24", "a * 8 / 24", "(a * 4 + j) / 24"},
	{RULE_DIV_COMMON, "(a * 6 + 3) / 9", "(a * 2 + 1) / 3", "(a * 6 + 1) / 9"},
	{RULE_DIV_DIV, "a / b / c", "a / (b * c)", "a / (b / c)"},
	{RULE_DIV_MOD, "a % 12 / 4", "a / 4 % 3", "a % 12 / 5"},
	{RULE_MOD_RANGE, "(i + 64) % 64", "i", "(i + 1) % 64"},
	{RULE_MOD_EXACT, "(a * 8 + b) % 8", "b % 8", "(a * 8 + b) % 3"},
	{RULE_MOD_SPLIT, "(K + a) % 64", "a % 64", "(K + a) % 128"},
	{RULE_MOD_SMALL, "(a * 8 + j) % 24", "j + a * 8 % 24", "(a * 4 + j) % 24"},
	{RULE_MOD_COMMON, "a * 6 % 9", "a * 2 % 3 * 3", "a * 6 % 5"},
	{RULE_MOD_MOD, "(a % 12 + b) % 4", "(a + b) % 4", "(a % 12 + b) % 5"},
	{RULE_MOD_COEF, "(a * 5 - b * 6) % 4", "(a + b * 2) % 4", "(a * 3 - b * 3) % 4"},
	{RULE_MUL_DIV, "K / 64 * 128", "K * 2", "K / 64 * 32"},
	{RULE_ADD_REST, "a / 5 * 15 + a % 5 * 3", "a * 3", "a / 5 * 15 + a % 5"},
	{RULE_ADD_CARRY, "a / 5 % 2 * 5 + a % 5", "a % 10", "a / 5 % 2 * 5 + a % 4"},
	{RULE_MIN_RANGE, "min(i, i + a % 2)", "i", "min(i, a)"},
	{RULE_MAX_RANGE, "max(i, i + a % 2)", "i + a % 2", "max(i, a)"},
	{RULE_LT_RANGE, "i < 64", "1", "i < 63"},
	{RULE_LT_DIV, "a / 8 < b", "a < b * 8", "a < b / 8"},
	{RULE_LE_RANGE, "i <= 63", "1", "i <= 62"},
	{RULE_LE_DIV, "b <= a / 8", "b * 8 <= a", "b / 8 <= a"},
	{RULE_EQ_RANGE, "K == a * 2 + 1", "0", "K == a * 2 + 2"},
	{RULE_NE_RANGE, "K != a * 2 + 1", "1", "K != a * 2 + 2"},
};

static void test_rules(void **state)
{
	bool seen[RULE_COUNT] = {false};
	(void)state;
	for (size_t i = 0; i < COUNTOF(examples); i++) {
		Ctx *c = ctx_new();
		const Ix *from = read_ix(c, examples[i].from), *not = read_ix(c, examples[i].not);
		const Ix *to = ix_rule_apply(c, examples[i].rule, from, facts);
		seen[examples[i].rule] = true;
		if (!to || strcmp(show(c, to), examples[i].to))
			fail_msg("%s: %s gives %s", rules[examples[i].rule].name, examples[i].from,
				 to ? show(c, to) : "nothing");
		if (ix_rule_apply(c, examples[i].rule, not, facts))
			fail_msg("%s applies to %s", rules[examples[i].rule].name, examples[i].not);
		ctx_free(c);
	}
	for (int i = 0; i < RULE_COUNT; i++)
		if (!seen[i])
			fail_msg("%s has no example", rules[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal),     cmocka_unit_test(test_bad_text),
		cmocka_unit_test(test_stops),      cmocka_unit_test(test_long),
		cmocka_unit_test(test_postfix),    cmocka_unit_test(test_eval),
		cmocka_unit_test(test_names),      cmocka_unit_test(test_simplified),
		cmocka_unit_test(test_bounds),     cmocka_unit_test(test_laws),
		cmocka_unit_test(test_wrong_laws), cmocka_unit_test(test_rules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
