/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* family.c - kernels that are variants of one name, against the fake driver: which of them a launch
 * takes, and that all that is asked beside a launch is asked of the same. */
#include "sample.h"

#include "runtime/cost.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { VARIANTS = 4, SHAPES = 64 };
static const dsl_addr space = UINT64_C(1) << 40, semaphores = UINT64_C(1) << 41;
static const char *const names[VARIANTS] = {"gemm__1", "gemm__2", "gemm__3", "gemm__4"};

typedef struct {
	Fake *fake;
	dsl_device *dev;
	dsl_module *mod;
	Sample sample;
	KDesc kernels[VARIANTS];
} Bench;

static int bench_open(void **state)
{
	static Bench b;
	b.fake = fake_reset();
	b.fake->kernel_params = 6;
	sample_fill(&b.sample);
	sample_family(&b.sample, b.kernels, VARIANTS);
	b.dev = device_open();
	b.mod = module_open(b.dev, &b.sample.module);
	*state = &b;
	return 0;
}

static int bench_close(void **state)
{
	Bench *b = *state;
	dsl_device_close(b->dev);
	return 0;
}

/* The same after the kernels were changed. */
static void bench_again(Bench *b)
{
	assert_status(dsl_module_unload(b->mod), DSL_OK);
	b->mod = module_open(b->dev, &b->sample.module);
}

/* Sizes from few rows to many, in no order. */
static void shape(dsl_arg args[GEMM_ARGS], int i)
{
	i = i * 37 % SHAPES;
	sample_args(args, 16 + i * i * 4, 256 << i % 5, 1024 << i % 3);
}

static double estimate(const Bench *b, int variant, const dsl_arg *args)
{
	CostDevice d = cost_device("Fake H200", 132, 1.98, 4.916736);
	const KCost *c = &b->kernels[variant].cost;
	double pitch = 2.0 * (double)args[GEMM_K].v.i;
	CostSizes s = {(double)args[GEMM_M].v.i,
		       (double)args[GEMM_N].v.i,
		       (double)args[GEMM_K].v.i,
		       1,
		       pitch,
		       pitch};
	return cost_us(&c->product, &c->variant, &s, &d, NULL);
}

/* The variant of least cost but those in without, a bit each. */
static int cheapest(const Bench *b, const dsl_arg *args, unsigned without)
{
	int best = -1;
	for (int i = 0; i < VARIANTS; i++)
		if (!(without >> i & 1) &&
		    (best < 0 || estimate(b, i, args) < estimate(b, best, args)))
			best = i;
	return best;
}

/* The variant that was launched last. */
static int launched(const Bench *b)
{
	for (int i = 0; i < VARIANTS; i++)
		if (b->fake->config.blockDimX == (unsigned)b->kernels[i].block)
			return i;
	return -1;
}

static int launch(Bench *b, const char *name, const dsl_arg *args, const dsl_launch_opts *opts)
{
	b->fake->config.blockDimX = 0;
	assert_status(dsl_launch(b->mod, name, args, GEMM_ARGS, NULL, opts), DSL_OK);
	return launched(b);
}

static void by_the_cost(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	unsigned taken = 0;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < SHAPES; i++) {
			const char *name = NULL;
			char why[256];
			shape(args, i);
			int best = cheapest(b, args, 0);
			assert_int_equal(launch(b, "gemm", args, NULL), best);
			assert_status(dsl_choice(b->mod, "gemm", args, GEMM_ARGS, &name, why, 256),
				      DSL_OK);
			assert_string_equal(name, names[best]);
			taken |= 1u << best;
		}
	assert_true(taken & (taken - 1)); /* not always the same */
}

static void a_variant_by_its_name(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	char why[256];
	const char *name;
	shape(args, 5);
	for (int i = 0; i < VARIANTS; i++) {
		assert_int_equal(launch(b, names[i], args, NULL), i);
		assert_status(dsl_choice(b->mod, names[i], args, GEMM_ARGS, &name, why, 256),
			      DSL_OK);
		assert_string_equal(name, names[i]);
		assert_says(why, names[i], "no other kernel", NULL);
	}
	assert_status(dsl_launch(b->mod, "gemm__5", args, GEMM_ARGS, NULL, NULL),
		      DSL_ERR_KERNEL_NAME);
	assert_says(dsl_detail(), "no kernel gemm__5; it has gemm", NULL);
	assert_null(strstr(dsl_detail(), "gemm__1"));
}

static void in_a_sentence(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	char why[256], cut[8], tile[64], us[64], next[64];
	shape(args, 9);
	int best = cheapest(b, args, 0), other = cheapest(b, args, 1u << best);
	const CostVariant *v = &b->kernels[best].cost.variant;
	snprintf(tile, sizeof tile, "%s: tile %d x %d x 64", names[best], v->tile_m, v->tile_n);
	snprintf(us, sizeof us, "about %.1f us", estimate(b, best, args));
	snprintf(next, sizeof next, "next %s, %.1f us", names[other], estimate(b, other, args));
	assert_status(dsl_choice(b->mod, "gemm", args, GEMM_ARGS, NULL, why, sizeof why), DSL_OK);
	assert_says(why, tile, "4 stages, cooperative", us, " bound", next, NULL);
	assert_status(dsl_choice(b->mod, "gemm", args, GEMM_ARGS, NULL, cut, sizeof cut), DSL_OK);
	assert_string_equal(cut, names[best]);
}

static void wrong_questions(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	char why[256];
	shape(args, 0);
	assert_status(dsl_choice(NULL, "gemm", args, GEMM_ARGS, NULL, why, 256), DSL_ERR_INVALID);
	assert_says(why, "dsl_choice: mod is NULL", NULL);
	assert_status(dsl_choice(b->mod, "gemm", NULL, 3, NULL, why, 256), DSL_ERR_INVALID);
	assert_status(dsl_choice(b->mod, "gem", args, GEMM_ARGS, NULL, why, 256),
		      DSL_ERR_KERNEL_NAME);
	assert_status(dsl_choice(b->mod, "gemm", args, 5, NULL, NULL, 0), DSL_ERR_ARG_MISSING);
	args[GEMM_M].v.i = -1;
	assert_status(dsl_choice(b->mod, "gemm", args, GEMM_ARGS, NULL, why, 256), DSL_ERR_EXTENT);
	assert_says(why, "M = -1", NULL);
	args[GEMM_M].v.i = INT64_C(1) << 62;
	args[GEMM_K].v.i = INT64_C(1) << 62;
	assert_status(dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_ERR_EXTENT);
	args[GEMM_M].v.i = 0;
	args[GEMM_K].v.i = 64;
	assert_status(dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_OK);
	assert_int_equal(b->fake->launches, 0);
}

/* Two modules with the same sizes, one of them loaded twice: orders are not taken for another's. */
static void of_several_modules(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	KDesc turned[VARIANTS];
	Sample other = b->sample;
	for (int i = 0; i < VARIANTS; i++) {
		turned[i] = b->kernels[i];
		turned[i].cost.variant = b->kernels[VARIANTS - 1 - i].cost.variant;
	}
	other.module.kernels = turned;
	dsl_module *first = b->mod, *second = module_open(b->dev, &other.module);
	for (int i = 0; i < SHAPES; i++) {
		shape(args, i);
		int best = cheapest(b, args, 0);
		b->mod = second;
		assert_int_equal(launch(b, "gemm", args, NULL), VARIANTS - 1 - best);
		b->mod = first;
		assert_int_equal(launch(b, "gemm", args, NULL), best);
		if (i % 8)
			continue;
		bench_again(b);
		first = b->mod;
	}
}

typedef struct {
	const Bench *b;
	int start, wrong;
} Asker;

static void *ask(void *user)
{
	Asker *a = user;
	for (int i = 0; i < 20 * SHAPES; i++) {
		dsl_arg args[GEMM_ARGS];
		const char *name = "";
		shape(args, a->start + i);
		dsl_choice(a->b->mod, "gemm", args, GEMM_ARGS, &name, NULL, 0);
		a->wrong += strcmp(name, names[cheapest(a->b, args, 0)]) != 0;
	}
	return NULL;
}

static void from_several_threads(void **state)
{
	Bench *b = *state;
	pthread_t thread[4];
	Asker asker[4];
	for (int i = 0; i < 4; i++) {
		asker[i] = (Asker){b, i * 7, 0};
		assert_int_equal(pthread_create(&thread[i], NULL, ask, &asker[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(thread[i], NULL), 0);
		assert_int_equal(asker[i].wrong, 0);
	}
}

/* What the cheapest cannot take, another takes, also where the sizes are known already. */
static void refusals(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	char why[256];
	shape(args, 9);
	int best = cheapest(b, args, 0), other = cheapest(b, args, 1u << best);
	KDesc *k = &b->kernels[best];
	k->facts[k->nfacts++] = (KFact){"N 1 + 2 % 0 ==", "N % 2 == 1", "N", "odd rule"};
	bench_again(b);
	for (int i = 0; i < 2; i++)
		assert_int_equal(launch(b, "gemm", args, NULL), other);
	assert_status(dsl_choice(b->mod, "gemm", args, GEMM_ARGS, NULL, why, sizeof why), DSL_OK);
	assert_says(why, names[other], names[best], "cannot take these arguments", NULL);
	assert_status(dsl_launch(b->mod, names[best], args, GEMM_ARGS, NULL, NULL), DSL_ERR_FACT);
	for (int i = 0; i < VARIANTS; i++)
		if (i != best)
			b->kernels[i].facts[1] = (KFact){"N 0 <", "N < 0", "N", "other rule"};
	bench_again(b);
	assert_status(dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_ERR_FACT);
	assert_says(dsl_detail(), k->name, "odd rule", NULL);
	assert_status(dsl_can_run(b->mod, "gemm", args, GEMM_ARGS, why, sizeof why), DSL_ERR_FACT);
	assert_says(why, "odd rule", NULL);
}

/* Whether an address is aligned is asked at each launch. */
static void refusals_are_not_remembered(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	shape(args, 9);
	int best = cheapest(b, args, 0), other = cheapest(b, args, 1u << best);
	for (int i = 0; i < VARIANTS; i++)
		b->kernels[i].maps[2].optional = 1;
	b->kernels[best].args[GEMM_D].align = 16;
	bench_again(b);
	for (int i = 0; i < 4; i++) {
		args[GEMM_D].v.ptr = 0x30000000 + (i % 2 ? 4 : 0);
		assert_int_equal(launch(b, "gemm", args, NULL), i % 2 ? other : best);
	}
}

static void add_workspace(KDesc *k)
{
	k->together = 1;
	k->nworks = 1;
	k->works[0] = "$sms 4096 *";
	k->params[k->nparams++] = (KParam){KP_WORK, 0};
	k->params[k->nparams++] = (KParam){KP_SEMAPHORES, 0};
	k->params[k->nparams++] = (KParam){KP_EPOCH, 0};
	k->grid[0] = "$sms";
}

/* The workspace is that of the chosen variant, whatever the launch says of SMs; a launch that
 * cannot have any takes a variant that needs none. */
static void workspace(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	size_t bytes;
	dsl_pool *pool;
	shape(args, 9);
	int best = cheapest(b, args, 0), other = cheapest(b, args, 1u << best);
	add_workspace(&b->kernels[best]);
	bench_again(b);
	assert_status(dsl_workspace_size(b->mod, "gemm", args, GEMM_ARGS, &bytes), DSL_OK);
	assert_int_equal(bytes, 132 * 4096);
	dsl_launch_opts opts = {.size = sizeof opts,
				.workspace = space,
				.workspace_size = bytes,
				.semaphores = semaphores,
				.semaphores_size = DSL_SEMAPHORES};
	b->fake->kernel_params = 9;
	assert_int_equal(launch(b, "gemm", args, &opts), best);
	opts.sms = 100;
	assert_int_equal(launch(b, "gemm", args, &opts), best);
	assert_int_equal(b->fake->config.gridDimX, 100);
	opts.workspace_size = 100 * 4096 - 1;
	assert_status(dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, &opts), DSL_ERR_WORKSPACE);
	assert_says(dsl_detail(), b->kernels[best].name, "409600 bytes", NULL);
	assert_status(dsl_pool_create(b->dev, NULL, &pool), DSL_OK);
	b->fake->config.blockDimX = 0;
	assert_status(dsl_pool_launch(pool, b->mod, "gemm", args, GEMM_ARGS, NULL), DSL_OK);
	assert_int_equal(launched(b), best);
	assert_status(dsl_pool_destroy(pool), DSL_OK);
	b->fake->kernel_params = 6;
	assert_int_equal(launch(b, "gemm", args, NULL), other);
	assert_status(dsl_can_run(b->mod, "gemm", args, GEMM_ARGS, NULL, 0), DSL_OK);
}

/* The device holds no CTA of the cheapest: the others run. */
static void too_large_for_the_device(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	shape(args, 9);
	int best = cheapest(b, args, 0), other = cheapest(b, args, 1u << best);
	b->kernels[best].smem = b->fake->smem + 1;
	bench_again(b);
	assert_int_equal(launch(b, "gemm", args, NULL), other);
	assert_status(dsl_launch(b->mod, names[best], args, GEMM_ARGS, NULL, NULL),
		      DSL_ERR_RESOURCES);
	assert_says(dsl_detail(), "cannot hold", NULL);
	for (int i = 0; i < VARIANTS; i++)
		b->kernels[i].smem = b->fake->smem + 1;
	bench_again(b);
	assert_status(dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, NULL), DSL_ERR_RESOURCES);
	assert_says(dsl_detail(), b->kernels[best].name, NULL);
}

/* More CTAs that wait for each other than run at one time: another variant. */
static void ctas_that_wait(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	size_t bytes = 1;
	shape(args, 9);
	int best = cheapest(b, args, 0), other = cheapest(b, args, 1u << best);
	add_workspace(&b->kernels[best]);
	b->kernels[best].grid[0] = "$sms 1 +";
	bench_again(b);
	assert_status(dsl_workspace_size(b->mod, "gemm", args, GEMM_ARGS, &bytes), DSL_OK);
	assert_int_equal(bytes, 0);
	dsl_launch_opts opts = {.size = sizeof opts, .sms = 64};
	assert_int_equal(launch(b, "gemm", args, &opts), other);
}

/* What was packed for the family is read by each variant that reads copies. */
static void packed(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS], copy;
	size_t bytes;
	sample_args(args, 400, 520, 1025);
	int best = cheapest(b, args, 0), other = cheapest(b, args, 1u << best);
	for (int i = 0; i < VARIANTS; i++)
		b->kernels[i].maps[1].copy = i != 0 && i != best;
	for (int i = 0; i < VARIANTS; i++)
		b->kernels[i].maps[0].copy = 1;
	bench_again(b);
	assert_status(dsl_pack_size(b->mod, "gemm", "B", args, GEMM_ARGS, &bytes), DSL_OK);
	assert_status(dsl_pack(b->mod, "gemm", "B", args, GEMM_ARGS, space, bytes, NULL, &copy),
		      DSL_OK);
	args[GEMM_B] = copy;
	dsl_launch_opts opts = {.size = sizeof opts,
				.workspace = 2 * space,
				.workspace_size = 1 << 20};
	if (best == 0)
		assert_int_equal(launch(b, "gemm", args, &opts), other);
	else
		assert_int_equal(launch(b, "gemm", args, &opts), cheapest(b, args, 1u << best | 1));
	b->kernels[0].maps[1].copy = b->kernels[best].maps[1].copy = 1;
	bench_again(b);
	assert_int_equal(launch(b, "gemm", args, &opts), best);
	for (int i = 0; i < VARIANTS; i++)
		b->kernels[i].maps[1].copy = 0;
	bench_again(b);
	assert_status(dsl_pack_size(b->mod, "gemm", "B", args, GEMM_ARGS, &bytes),
		      DSL_ERR_ARG_TYPE);
	assert_status(dsl_launch(b->mod, "gemm", args, GEMM_ARGS, NULL, &opts), DSL_ERR_ARG_TYPE);
}

static void without_a_device(void **state)
{
	Bench *b = *state;
	dsl_arg args[GEMM_ARGS];
	Buf json = {0};
	char why[256] = "";
	shape(args, 9);
	manifest_write(&b->sample.module, &json);
	assert_status(dsl_manifest_choice(json.s, json.n, "gemm", args, GEMM_ARGS, why, 256),
		      DSL_OK);
	assert_says(why, "gemm__", "us", "next gemm__", NULL);
	for (int i = 0; i < VARIANTS; i++)
		b->kernels[i].facts[1] = (KFact){"N 0 <", "N < 0", "N", "other rule"};
	buf_free(&json);
	manifest_write(&b->sample.module, &json);
	assert_status(dsl_manifest_can_run(json.s, json.n, "gemm", args, GEMM_ARGS, why, 256),
		      DSL_ERR_FACT);
	assert_says(why, "other rule", NULL);
	assert_status(dsl_manifest_choice(json.s, json.n, "gemm", args, GEMM_ARGS, why, 256),
		      DSL_ERR_FACT);
	b->kernels[2].facts[1] = b->kernels[2].facts[0];
	buf_free(&json);
	manifest_write(&b->sample.module, &json);
	assert_status(dsl_manifest_can_run(json.s, json.n, "gemm", args, GEMM_ARGS, why, 256),
		      DSL_OK);
	assert_status(dsl_manifest_can_run(json.s, json.n, "gemm__2", args, GEMM_ARGS, why, 256),
		      DSL_ERR_FACT);
	assert_status(dsl_manifest_choice(json.s, 7, "gemm", args, GEMM_ARGS, why, 256),
		      DSL_ERR_MANIFEST);
	assert_status(dsl_manifest_choice(NULL, 7, "gemm", args, GEMM_ARGS, why, 256),
		      DSL_ERR_INVALID);
	buf_free(&json);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_open, bench_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_the_cost),        TEST(a_variant_by_its_name),
		TEST(in_a_sentence),      TEST(wrong_questions),
		TEST(of_several_modules), TEST(from_several_threads),
		TEST(refusals),           TEST(refusals_are_not_remembered),
		TEST(workspace),          TEST(too_large_for_the_device),
		TEST(ctas_that_wait),     TEST(packed),
		TEST(without_a_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
