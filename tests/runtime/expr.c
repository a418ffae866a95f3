/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* expr.c - the manifest's expressions: values, errors and how they read to a person. */
#include "runtime/rt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
/* after the ones above, which it needs */
#include <cmocka.h>

static const char *const syms[] = {"M", "N", "K", "lda"};
static const int64_t env[EXPR_ENV] = {300, 7, 0, -5, [EXPR_SMS] = 132};

static int compile(const char *text, ExprIns *ins)
{
	const char *reason;
	return expr_compile(text, syms, 4, ins, &reason);
}

static ExprResult eval(const char *text, int64_t *out)
{
	ExprIns ins[KD_MAX_EXPR];
	Expr e = {ins, compile(text, ins)};
	assert_true(e.n > 0);
	return expr_eval(e, env, out);
}

static void values(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t value;
	} rows[] = {
		{"7", 7},
		{"-7", -7},
		{"M", 300},
		{"$sms", 132},
		{"M 127 + 128 /", 3},
		{"M 127 + 128 / N 255 + 256 / *", 3},
		{"lda 2 /", -3}, /* floors */
		{"lda 3 %", 1},
		{"-6 3 /", -2},
		{"-6 3 %", 0},
		{"M N min", 7},
		{"M N max", 300},
		{"M N <", 0},
		{"N M <", 1},
		{"M M <=", 1},
		{"M M <", 0},
		{"M 300 ==", 1},
		{"M 300 !=", 0},
		{"M 8 % 0 == N 8 < and", 0},
		{"M 8 % 0 == N 8 < or", 1},
		{"N lda -", 12},
		{"9223372036854775807", INT64_MAX},
		{"-9223372036854775808", INT64_MIN},
	};
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		int64_t v = 0;
		assert_int_equal(eval(rows[i].text, &v), EXPR_OK);
		if (v != rows[i].value)
			fail_msg("%s is %lld", rows[i].text, (long long)v);
	}
}

static void arithmetic_is_checked(void **state)
{
	(void)state;
	int64_t v;
	assert_int_equal(eval("9223372036854775807 1 +", &v), EXPR_OVERFLOW);
	assert_int_equal(eval("-9223372036854775808 1 -", &v), EXPR_OVERFLOW);
	assert_int_equal(eval("M 9223372036854775807 *", &v), EXPR_OVERFLOW);
	assert_int_equal(eval("M K /", &v), EXPR_ZERO);
	assert_int_equal(eval("M K %", &v), EXPR_ZERO);
	assert_int_equal(eval("M lda /", &v), EXPR_ZERO);
}

static void wrong_texts_are_refused(void **state)
{
	(void)state;
	static const char *const wrong[] = {"",        " ",    "M ",     " M",
					    "M  N +",  "+",    "M +",    "M N",
					    "M N + +", "Q",    "$smsx",  "m",
					    "1x",      "-",    "M N ^",  "--1",
					    "+1",      "0x10", "M\tN +", "9223372036854775808",
					    "M N <>"};
	ExprIns ins[KD_MAX_EXPR];
	for (size_t i = 0; i < COUNTOF(wrong); i++)
		if (compile(wrong[i], ins) != -1)
			fail_msg("\"%s\" was taken", wrong[i]);
	char many[3 * KD_MAX_EXPR] = "1";
	for (int i = 0; i < KD_MAX_EXPR / 2; i++)
		strcat(many, " 1 +");
	assert_int_equal(compile(many, ins), -1);
	many[strlen(many) - 4] = 0;
	assert_int_equal(compile(many, ins), KD_MAX_EXPR - 1);
}

/* Any text is either refused or evaluated, never more: the sanitizers watch. */
static void random_texts(void **state)
{
	(void)state;
	static const char *const tokens[] = {"M",   "1", "+",    "*", "/",
					     "min", "<", "$sms", "x", "-3"};
	uint32_t u = 7;
	int taken = 0;
	for (int i = 0; i < 200000; i++) {
		char text[128] = "";
		for (int n = (int)(u >> 20) % 8; n >= 0; n--) {
			u = u * 1664525 + 1013904223;
			strcat(text, tokens[(u >> 16) % COUNTOF(tokens)]);
			strcat(text, n ? " " : "");
		}
		ExprIns ins[KD_MAX_EXPR];
		Expr e = {ins, compile(text, ins)};
		int64_t v;
		Line l = {.n = 0};
		expr_infix(text, &l);
		if (e.n > 0 && expr_eval(e, env, &v) == EXPR_OK)
			taken++;
	}
	assert_true(taken > 1000);
}

static void infix_reads_well(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"M", "M"},
		{"K 2 *", "K * 2"},
		{"M 127 + 128 /", "(M + 127) / 128"},
		{"M 127 + 128 / N 255 + 256 / *", "(M + 127) / 128 * ((N + 255) / 256)"},
		{"M N K - -", "M - (N - K)"},
		{"M N - K -", "M - N - K"},
		{"M N min 2 *", "min(M, N) * 2"},
		{"M 8 % 0 == N 8 < and", "M % 8 == 0 and N < 8"},
		{"M N or K and", "(M or N) and K"},
	};
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		Line l = {.n = 0};
		expr_infix(rows[i][0], &l);
		assert_string_equal(l.at, rows[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(arithmetic_is_checked),
		cmocka_unit_test(wrong_texts_are_refused),
		cmocka_unit_test(random_texts),
		cmocka_unit_test(infix_reads_well),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
