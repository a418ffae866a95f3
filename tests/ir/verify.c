/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ir.verify - what text cannot say: kernels that a pass broke in memory. Each starts right, is
 * verified, is damaged, and must be refused with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ir/ir.h"

static const char text[] = "kernel k tile sm_90a {\n"
			   "  sym M 0..\n"
			   "  arg %x : f32\n"
			   "  arg out %D : global f32 (8,8):(8,1)\n"
			   "  let i (M + 1)\n"
			   "  if (i < 4) {\n"
			   "    %y = neg %x : f32\n"
			   "    %z = add %y, %x : f32\n"
			   "  }\n"
			   "  %w = abs %x : f32\n"
			   "}\n";

static Kernel *fresh(Ctx *c)
{
	Module *m = module_parse(c, ctx_src(c, "k.ir", text, strlen(text)));
	const char *why = NULL;
	assert_non_null(m);
	assert_true(kernel_verify(m->kernels.at[0], &why));
	return m->kernels.at[0];
}

static Op *find(const Kernel *k, const char *value)
{
	Op *op = kernel_first(k);
	while (op && !(op->out && !strcmp(op->out->name, value)))
		op = op_next(op);
	return op;
}

static void move_below(Kernel *k)
{
	Op *z = find(k, "z"), *y = find(k, "y");
	op_remove(y);
	op_insert_after(z, y);
}

static void move_out_of_the_body(Kernel *k)
{
	Op *z = find(k, "z");
	op_remove(z);
	block_append(&k->body, z);
}

static void drop_the_definition(Kernel *k)
{
	op_remove(find(k, "y"));
}

static void drop_the_let(Kernel *k)
{
	op_remove(kernel_first(k));
}

static void rename_alike(Kernel *k)
{
	find(k, "w")->out->name = find(k, "y")->out->name;
}

static void cut_a_link(Kernel *k)
{
	find(k, "z")->prev = NULL;
}

static void forget_the_block(Kernel *k)
{
	find(k, "z")->block = &k->body;
}

static void lose_the_last(Kernel *k)
{
	k->body.last = k->body.first;
}

static void change_the_stage(Kernel *k)
{
	Op *op = op_new(k, OP_BAR_CTA, NOLOC);
	block_append(&k->body, op);
}

static void forget_the_target(Kernel *k)
{
	k->target = ctx_str(k->ctx, "sm_70");
}

static void write_what_is_constant(Kernel *k)
{
	for (int i = 0; i < k->args.n; i++)
		if (k->args.at[i].is_out)
			kernel_arg_constant(k, k->args.at[i].val);
}

static void forget_a_result(Kernel *k)
{
	find(k, "w")->out = NULL;
}

static const struct {
	void (*damage)(Kernel *k);
	const char *why;
} cases[] = {
	{move_below, "'%y' is not defined here"},
	{move_out_of_the_body, "'%y' is not defined here"},
	{drop_the_definition, "'%y' is not defined here"},
	{drop_the_let, "the name 'i' is not bound here"},
	{rename_alike, "two values are called '%y'"},
	{cut_a_link, "not linked"},
	{forget_the_block, "not linked"},
	{lose_the_last, "last op"},
	{change_the_stage, "bar.cta is not an op of this stage"},
	{forget_the_target, "unknown target 'sm_70'"},
	{write_what_is_constant, "the output '%D' cannot be constant"},
	{forget_a_result, "abs has a result"},
};

static void test_damage(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(cases); i++) {
		Ctx *c = ctx_new();
		Kernel *k = fresh(c);
		const char *why = NULL;
		cases[i].damage(k);
		assert_false(kernel_verify(k, &why));
		if (!strstr(why, cases[i].why))
			fail_msg("said '%s', not '%s'", why, cases[i].why);
		ctx_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_damage)};
	return cmocka_run_group_tests_name("ir.verify", tests, NULL, NULL);
}
