/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ways.c - what is said where no way copies a tile: that there is none, the reason of the only one
 * with its code and remedy, or all that were tried, each with its reason. */
#include "passes/atoms/copy_choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* after the four above, which it needs */
#include <cmocka.h>

/* copy shared -> shared */
static Copying copying(Ctx *c)
{
	Kernel *k = kernel_new(module_new(c), "k", (Loc){0});
	Op *copy = op_new(k, OP_COPY, (Loc){0});
	const Type *t = type_tile(c, SP_SHARED, EL_BF16, layout_2d(c, 64, 64, 64, 1));
	k->target = "sm_90a";
	for (int i = 0; i < 2; i++)
		op_in(k, copy, op_result(k, op_new(k, OP_SHARED, (Loc){0}), "s", t), NULL);
	return (Copying){.k = k, .op = copy};
}

static void no_row(void **state)
{
	Ctx *c = ctx_new();
	Copying copy = copying(c);
	WayChoice w = way_choose(&copy);
	(void)state;
	assert_int_equal(w.way, WAY_COUNT);
	assert_int_equal(w.refused, 0);
	way_none(&copy, &w);
	assert_string_equal(diag_first(c)->text, "no atom of sm_90a copies shared to shared");
	ctx_free(c);
}

static void one_row(void **state)
{
	Ctx *c = ctx_new();
	Copying copy = copying(c);
	WayChoice w = {.tried = {WAY_TMA_LOAD}, .refused = 1};
	(void)state;
	w.why[0] = (Refusal){D_E0403, "its box has 512 rows", "take 256"};
	way_none(&copy, &w);
	assert_int_equal(diag_first(c)->id, D_E0403);
	assert_string_equal(diag_first(c)->text, "its box has 512 rows");
	assert_string_equal(diag_first(c)->remedy, "take 256");
	ctx_free(c);
}

static void several_rows(void **state)
{
	Ctx *c = ctx_new();
	Copying copy = copying(c);
	WayChoice w = {.tried = {WAY_TMA_LOAD, WAY_MOVE}, .refused = 2};
	(void)state;
	w.why[0] = (Refusal){D_E0403, "512 rows", NULL};
	w.why[1] = (Refusal){D_E0405, "no registers", NULL};
	way_none(&copy, &w);
	assert_int_equal(diag_first(c)->id, D_E0405);
	assert_string_equal(diag_first(c)->text, "no atom of sm_90a copies shared to shared: TMA: "
						 "512 rows; moves: no registers");
	ctx_free(c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_row),
		cmocka_unit_test(one_row),
		cmocka_unit_test(several_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
