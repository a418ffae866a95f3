/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tensors.c - sizes from the tensors of a call, and what is said of tensors that do not agree. */
#include "sample.h"
#include "runtime/tensors.h"

#include <string.h>

typedef struct {
	dsl_device *dev;
	dsl_module *mod;
	const KDesc *k;
} Bench;

static const int64_t a[] = {500, 264}, b[] = {520, 264}, d[] = {500, 520};

static void call_fill(TensorCall *c)
{
	memset(c, 0, sizeof *c);
	c->view[0] = (TensorView){.base = 0x10000, .elem = EL_BF16, .rank = 2, .extent = a};
	c->view[1] = (TensorView){.base = 0x20000, .elem = EL_BF16, .rank = 2, .extent = b};
	c->view[2] = (TensorView){.base = 0x30000000, .elem = EL_BF16, .rank = 2, .extent = d};
}

static void open_bench(Bench *t)
{
	static Sample s;
	fake_reset();
	sample_fill(&s);
	t->dev = device_open();
	t->mod = module_open(t->dev, &s.module);
	t->k = &dsl_module_desc(t->mod)->kernels[0];
}

static int64_t size_of(const Bench *t, const TensorCall *c, const char *name)
{
	for (int i = 0; i < t->k->nsyms; i++)
		if (strcmp(t->k->syms[i], name) == 0)
			return c->args[t->k->nargs + i].v.i;
	fail();
	return -1;
}

static void sizes_are_found(void **state)
{
	Bench t;
	TensorCall c;
	(void)state;
	open_bench(&t);
	call_fill(&c);
	assert_status(dsl_tensors_bind(t.mod, t.k, &c), DSL_OK);
	assert_true(size_of(&t, &c, "M") == 500 && size_of(&t, &c, "N") == 520 &&
		    size_of(&t, &c, "K") == 264);
	assert_true(c.args[1].kind == DSL_PTR && c.args[1].v.ptr == 0x20000);
	dsl_device_close(t.dev);
}

static void what_disagrees_is_named(void **state)
{
	static const int64_t short_b[] = {520, 256}, wide[] = {300, 1}, turned[] = {1, 500};
	static const int64_t one_row[] = {1, 264}, any[] = {7, 1}, row_d[] = {1, 520};
	Bench t;
	TensorCall c;
	(void)state;
	open_bench(&t);
	call_fill(&c);
	c.view[1].extent = short_b;
	assert_status(dsl_tensors_bind(t.mod, t.k, &c), DSL_ERR_SHAPE);
	assert_says(dsl_detail(), "tensor B", "extent 1 is 256", "K = 264", NULL);
	call_fill(&c);
	c.view[0].stride = wide;
	assert_status(dsl_tensors_bind(t.mod, t.k, &c), DSL_ERR_SHAPE);
	assert_says(dsl_detail(), "tensor A", "stride 0 is 300", "K = 264", NULL);
	c.view[0].stride = turned;
	assert_status(dsl_tensors_bind(t.mod, t.k, &c), DSL_ERR_SHAPE);
	call_fill(&c);
	c.view[2].rank = 1;
	assert_status(dsl_tensors_bind(t.mod, t.k, &c), DSL_ERR_SHAPE);
	assert_says(dsl_detail(), "tensor D", "2 dimensions (M, N)", "got 500", NULL);
	call_fill(&c);
	c.view[1].elem = EL_F16;
	assert_status(dsl_tensors_bind(t.mod, t.k, &c), DSL_ERR_ARG_TYPE);
	assert_says(dsl_detail(), "tensor B", "is bf16", "got f16", NULL);
	call_fill(&c); /* nobody steps along one row */
	c.view[0].extent = one_row;
	c.view[0].stride = any;
	c.view[2].extent = row_d;
	assert_status(dsl_tensors_bind(t.mod, t.k, &c), DSL_OK);
	dsl_device_close(t.dev);
}

static void a_size_may_be_given(void **state)
{
	Bench t;
	TensorCall c;
	(void)state;
	open_bench(&t);
	for (int i = 0; i < t.k->nsyms; i++) {
		call_fill(&c);
		c.args[t.k->nargs + i] = dsl_arg_int(t.k->syms[i], 3);
		c.given[t.k->nargs + i] = true;
		assert_status(dsl_tensors_bind(t.mod, t.k, &c), DSL_ERR_SHAPE);
		assert_says(dsl_detail(), t.k->syms[i], "= 3", NULL);
	}
	dsl_device_close(t.dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_found),
		cmocka_unit_test(what_disagrees_is_named),
		cmocka_unit_test(a_size_may_be_given),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
