/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout.speed - how long operations take on the layouts of a real kernel: a staged, swizzled
 * operand, the accumulator of wgmma m64n256, its tiled output. Prints microseconds; the bound that
 * fails is wide, because builds with sanitizers and busy machines pass through here too. The
 * figures of docs/layouts.md come from a release build of this program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <time.h>

#include "layout/layout.h"

enum { TIMES = 2000 };
static const double microseconds_most = 1000, times = TIMES;

#define OPERAND  "Sw<3,3,3> o ((8,16),(64,1),(1,4)):((64,512),(1,0),(0,8192))"
#define FRAGMENT "((4,8,4),(2,2,32)):((128,1,16),(64,8,512))"
#define OUTPUT   "(4096,4096):(4096,1)"

static const struct {
	const char *op, *a, *b;
} rows[] = {
	{"composition", OPERAND, "(64,16):(1,64)"},
	{"composition", "(64,256):(1,128)", FRAGMENT},
	{"composition", OUTPUT, "(128,256):(1,4096)"},
	{"logical_divide", OUTPUT, "128:1"},
	{"zipped_divide", OUTPUT, "128:1"},
	{"tiled_divide", OPERAND, "(8,16):(1,8)"},
	{"logical_product", "(8,64):(64,1)", "(16,1,4):(1,0,16)"},
	{"blocked_product", "Sw<3,3,3> o (8,64):(64,1)", "(16,1):(1,0)"},
	{"raked_product", "(16,8):(8,1)", "(8,8):(8,1)"},
	{"tile_to_shape", "Sw<3,3,3> o (8,64):(64,1)", "(128,64,4)"},
	{"complement", FRAGMENT, "16384"},
	{"right_inverse", FRAGMENT, NULL},
	{"left_inverse", FRAGMENT, NULL},
	{"right_inverse", OPERAND, NULL},
	{"max_common_layout", OUTPUT, OUTPUT},
	{"make_layout_tv", "(16,8):(8,1)", "(8,8):(8,1)"},
	{"coalesce", OPERAND, NULL},
	{"filter", OPERAND, NULL},
	{"flatten", FRAGMENT, NULL},
	{"make_layout_like", FRAGMENT, NULL},
	{"upcast", OPERAND, "8"},
	{"cosize", OPERAND, NULL},
	{"crd2idx", "(17,(3,2))", "(128,(8,8)):(64,(1,8))"},
	{"idx2crd", "5000", "(128,(8,8))"},
};

static Alg operand(Ctx *c, const char *text)
{
	const char *s = text, *why = "";
	if (!strchr(text, ':')) {
		const Tup *t = tup_parse(c, &s, &why);
		assert_non_null(t);
		return (Alg){.kind = ALG_TUP, .tup = t};
	}
	const Layout *l = layout_parse(c, &s, &why);
	assert_non_null(l);
	return (Alg){.kind = ALG_LAYOUT, .layout = l};
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void test_speed(void **state)
{
	double worst = 0;
	(void)state;
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		Ctx *c = ctx_new();
		Alg args[2] = {operand(c, rows[i].a)};
		int n = rows[i].b ? 2 : 1, op = layout_op_find(rows[i].op);
		const char *why = "";
		AlgResult r;
		if (n == 2)
			args[1] = operand(c, rows[i].b);
		double start = now();
		for (int k = 0; k < TIMES; k++)
			if (!layout_op_apply(c, op, args, n, &r, &why))
				fail_msg("%s(%s, %s): %s", rows[i].op, rows[i].a, rows[i].b, why);
		double each = (now() - start) / times;
		print_message("%-18s %6.2f us  %s  %s\n", rows[i].op, each, rows[i].a,
			      rows[i].b ? rows[i].b : "");
		worst = each > worst ? each : worst;
		ctx_free(c);
	}
	print_message("worst %.2f us\n", worst);
	assert_true(worst < microseconds_most);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_speed)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
