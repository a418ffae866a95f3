/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* manifest.c - the manifest there and back, and every way in which it can be wrong. */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void same_text(const char *a, const char *b)
{
	if (a && b)
		assert_string_equal(a, b);
	else
		assert_ptr_equal(a, b);
}

static void same_texts(const char *const *a, const char *const *b, int n)
{
	for (int i = 0; i < n; i++)
		same_text(a[i], b[i]);
}

static void same_interface(const KDesc *a, const KDesc *b)
{
	for (int i = 0; i < KD_MAX_ARGS; i++) {
		const KArg *p = &a->args[i], *q = &b->args[i];
		same_text(p->name, q->name);
		assert_true(p->kind == q->kind && p->elem == q->elem && p->dir == q->dir &&
			    p->rank == q->rank && p->align == q->align &&
			    p->constant == q->constant && p->in_place == q->in_place);
		same_texts(p->shape, q->shape, KD_MAX_RANK);
		same_texts(p->stride, q->stride, KD_MAX_RANK);
	}
	same_texts(a->syms, b->syms, KD_MAX_SYMS);
	for (int i = 0; i < KD_MAX_FACTS; i++) {
		same_text(a->facts[i].cond, b->facts[i].cond);
		same_text(a->facts[i].text, b->facts[i].text);
		same_text(a->facts[i].field, b->facts[i].field);
		same_text(a->facts[i].rule, b->facts[i].rule);
	}
	for (int i = 0; i < KD_MAX_PARAMS; i++)
		assert_memory_equal(&a->params[i], &b->params[i], sizeof(KParam));
}

static void same_launch(const KDesc *a, const KDesc *b)
{
	for (int i = 0; i < KD_MAX_MAPS; i++) {
		const KMap *p = &a->maps[i], *q = &b->maps[i];
		assert_true(p->arg == q->arg && p->elem == q->elem && p->rank == q->rank &&
			    p->swizzle == q->swizzle && p->store == q->store &&
			    p->optional == q->optional && p->copy == q->copy);
		same_texts(p->dims, q->dims, KD_MAX_RANK);
		same_texts(p->strides, q->strides, KD_MAX_RANK - 1);
		assert_memory_equal(p->box, q->box, sizeof p->box);
	}
	same_texts(a->grid, b->grid, 3);
	assert_memory_equal(a->cluster, b->cluster, sizeof a->cluster);
	assert_true(a->block == b->block && a->smem == b->smem && a->ctas == b->ctas &&
		    a->regs == b->regs && a->entry_regs == b->entry_regs && a->pdl == b->pdl);
	same_text(a->schedule, b->schedule);
	for (int i = 0; i < KD_MAX_SMEM; i++) {
		same_text(a->smem_map[i].name, b->smem_map[i].name);
		assert_true(a->smem_map[i].offset == b->smem_map[i].offset &&
			    a->smem_map[i].bytes == b->smem_map[i].bytes &&
			    a->smem_map[i].slots == b->smem_map[i].slots);
	}
	for (int i = 0; i < KD_MAX_CONSTS; i++) {
		same_text(a->consts[i].name, b->consts[i].name);
		same_text(a->consts[i].word, b->consts[i].word);
		assert_true(a->consts[i].value == b->consts[i].value);
	}
}

static void same_cost(const KCost *a, const KCost *b)
{
	same_text(a->family, b->family);
	assert_memory_equal(&a->product, &b->product, sizeof a->product);
	assert_memory_equal(&a->variant, &b->variant, sizeof a->variant);
#define COST_SIZE(field) same_text(a->field, b->field);
#include "runtime/variants.def"
}

static void same_kernel(const KDesc *a, const KDesc *b)
{
	same_cost(&a->cost, &b->cost);
	same_text(a->name, b->name);
	same_text(a->symbol, b->symbol);
	assert_true(a->nargs == b->nargs && a->nsyms == b->nsyms && a->nfacts == b->nfacts &&
		    a->nparams == b->nparams && a->nmaps == b->nmaps && a->nsmem == b->nsmem &&
		    a->nconsts == b->nconsts);
	same_interface(a, b);
	same_launch(a, b);
}

static void there_and_back(void **state)
{
	(void)state;
	Sample s;
	Buf json = {0};
	KModuleDesc *d = NULL;
	sample_fill(&s);
	s.module.source = "odd \"name\"\\ \xc3\xa9\n.gemm";
	sample_two_ways(&s);
	sample_copies(&s);
	sample_constant(&s);
	s.kernel[0].args[GEMM_A].in_place = 1;
	manifest_write(&s.module, &json);
	assert_status(dsl_desc_parse(json.s, json.n, &d), DSL_OK);
	assert_int_equal(d->abi, KDESC_ABI);
	assert_int_equal(d->min_driver, 13000);
	assert_int_equal(d->nkernels, 2);
	same_text(d->tool, s.module.tool);
	same_text(d->llvm, s.module.llvm);
	same_text(d->ptxas, s.module.ptxas);
	same_text(d->source, s.module.source);
	same_text(d->source_hash, s.module.source_hash);
	same_text(d->target, s.module.target);
	same_kernel(&d->kernels[0], &s.kernel[0]);
	same_kernel(&d->kernels[1], &s.kernel[1]);
	dsl_desc_free(d);
	buf_free(&json);
}

/* Each number of a cost differs from the others, so that none takes the place of another. */
static void families_there_and_back(void **state)
{
	(void)state;
	Sample s;
	KDesc kernels[4];
	Buf json = {0};
	KModuleDesc *d = NULL;
	int number = 0;
	sample_fill(&s);
	sample_family(&s, kernels, 4);
	KCost *c = &kernels[1].cost;
#define COST_INT(part, field, least, most) \
	if ((most) > 64)                   \
		c->part.field = (least) + ++number;
#include "runtime/variants.def"
	c->variant.roles = COST_PINGPONG;
	for (int i = 0; i < 4; i++)
		kernels[i].cost.product = c->product;
	manifest_write(&s.module, &json);
	assert_status(dsl_desc_parse(json.s, json.n, &d), DSL_OK);
	assert_int_equal(d->nkernels, 4);
	for (int i = 0; i < 4; i++)
		same_kernel(&d->kernels[i], &kernels[i]);
	assert_int_equal(kdesc_variants(d, 0), 4);
	assert_int_equal(kdesc_variants(d, 1), 1); /* it names itself */
	dsl_desc_free(d);
	buf_free(&json);
}

static void one_launcher_a_family(void **state)
{
	(void)state;
	Sample s;
	KDesc kernels[4];
	Buf json = {0}, header = {0};
	char array[64];
	sample_fill(&s);
	sample_family(&s, kernels, 4);
	manifest_write(&s.module, &json);
	header_write(&s.module, "gemm", "GEMM_H", &header);
	snprintf(array, sizeof array, " gemm_manifest[%zu]", json.n);
	assert_says(header.s, "gemm_launch(", "\"gemm\", v, 6", array, NULL);
	assert_null(strstr(header.s, "gemm__"));
	buf_free(&json);
	buf_free(&header);
}

/* In a manifest that does not say it, an input may have the address of an output of its form. */
static void without_in_place(void **state)
{
	(void)state;
	Sample s;
	Buf json = {0};
	KModuleDesc *d = NULL;
	sample_fill(&s);
	manifest_write(&s.module, &json);
	for (char *at = json.s; (at = strstr(at, "\"in_place\"")); at++)
		memcpy(at, "\"elsewher\"", 10);
	assert_status(dsl_desc_parse(json.s, json.n, &d), DSL_OK);
	for (int i = GEMM_A; i <= GEMM_D; i++)
		assert_int_equal(d->kernels[0].args[i].in_place, i != GEMM_D);
	dsl_desc_free(d);
	buf_free(&json);
}

static void writing_is_reproducible(void **state)
{
	(void)state;
	Sample s;
	Buf a = {0}, b = {0};
	sample_fill(&s);
	manifest_write(&s.module, &a);
	manifest_write(&s.module, &b);
	assert_string_equal(a.s, b.s);
	buf_free(&a);
	buf_free(&b);
}

static dsl_status parse_with(const char *old, const char *new)
{
	Sample s;
	sample_fill(&s);
	sample_two_ways(&s);
	sample_copies(&s);
	sample_constant(&s);
	return sample_parse_with(&s.module, old, new);
}

static const char *const wrong[][4] = {
	/* old, new, what the sentence says */
	{"\"abi\":2", "\"abi\":\"2\"", "abi", "integer"},
	{"\"tool\"", "\"tooth\"", "tool", "missing"},
	{"\"min_driver\":13000", "\"min_driver\":-1", "min_driver", "-1"},
	{"\"min_driver\":13000", "\"min_driver\":1e9", "min_driver", "integer"},
	{"\"kernels\":[", "\"kernels\":7,\"x\":[", "kernels", "list"},
	{"\"name\":\"gemm\"", "\"name\":\"g mm\"", "g mm", "not a name"},
	{"\"name\":\"scale\"", "\"name\":\"gemm\"", "two kernels", "gemm"},
	{"\"kind\":\"tensor\"", "\"kind\":\"tenor\"", "tenor", "args 0"},
	{"\"elem\":\"bf16\"", "\"elem\":\"bf15\"", "bf15", "args 0"},
	{"\"dir\":\"out\"", "\"dir\":\"off\"", "off", "args 2"},
	{"\"name\":\"B\"", "\"name\":\"A\"", "two arguments A", "args 1"},
	{"\"syms\":[\n        \"M\"", "\"syms\":[\n        \"A\"", "symbol", "\"A\""},
	{"\"syms\":[\n        \"M\"", "\"syms\":[\n        \"K\"", "symbol", "\"K\""},
	{"\"cond\":", "\"con\":", "cond", "facts 0"},
	{"\"map\":2", "\"map\":3", "map", "params 2"},
	{"\"sym\":\"N\"", "\"sym\":\"Q\"", "no symbol", "Q"},
	{"\"arg\":\"alpha\"", "\"arg\":\"x\"", "wrong kind", "x"},
	{"\"arg\":\"D\"", "\"arg\":\"Z\"", "no argument", "Z"},
	{"\"swizzle\":64", "\"swizzle\":48", "48", "maps 2"},
	{"\"swizzle\":64", "\"swizzle\":32", "wider", "maps 2"},
	{"\"store\":true", "\"store\":1", "store", "maps 2"},
	{"\"optional\":false", "\"optional\":0", "optional", "maps 0"},
	{"\"constant\":true", "\"constant\":1", "constant", "args 1"},
	{"\"dir\":\"out\"", "\"dir\":\"out\",\"constant\":true", "no input", "tensor D"},
	{"\"in_place\":false", "\"in_place\":0", "in_place", "args 0"},
	{"\"copy\":true", "\"copy\":1", "copy", "maps 0"},
	{"\"optional\":true", "\"optional\":true,\"copy\":true", "no input", "maps 2"},
	{"\"kind\":\"made\",\n          \"map\":2", "\"kind\":\"made\",\n          \"map\":3",
	 "map", "params 6"},
	{"\"align\":4", "\"align\":17", "align", "args 2"},
	{"        32,\n", "        257,\n", "257", "box"},
	{"        32,\n", "        4,\n", "8 bytes", "box"},
	{"\"block\":384", "\"block\":0", "block", "0"},
	{"\"block\":384", "\"block\":1025", "block", "1025"},
	{"\"cluster\":[\n        2,", "\"cluster\":[\n        17,", "cluster", "17"},
	{"\"cluster\":[\n        2,\n        1", "\"cluster\":[\n        8,\n        4", "8 x 4",
	 "16 CTAs"},
	{"\"slots\":4", "\"slots\":0", "slots", "smem_map 0"},
	{"\"bM\":128", "\"bM\":[]", "bM", "integer"},
	{"\"consts\":{", "\"consts\":3,\"y\":{", "consts", "table"},
	{"\"schedule\":\"cooperative\"", "\"schedule\":\"a\\u0000b\"", "schedule", "NUL"},
};

static void each_wrong_entry_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(wrong); i++) {
		dsl_status st = parse_with(wrong[i][0], wrong[i][1]);
		if (st != DSL_ERR_MANIFEST)
			fail_msg("%s gave %s", wrong[i][1], dsl_status_name(st));
		assert_says(dsl_detail(), wrong[i][2], wrong[i][3], NULL);
	}
}

static const char *const wrong_families[][4] = {
	{"\"cost\":{", "\"cost\":3,\"y\":{", "gemm, cost", "table"},
	{"\"family\":\"gemm\"", "\"family\":\"g mm\"", "g mm", "not a name"},
	{"\"family\":\"gemm\"", "\"family\":7", "gemm, cost", "family"},
	{"\"name\":\"gemm\"", "\"name\":\"gemm__0\"", "gemm__0", "does not follow"},
	{"\"family\":\"gemm\"", "\"family\":\"other\"", "gemm", "follow the variants of other"},
	{"\"tile_m\":128", "\"tile_m\":0", "tile_m", "outside 1"},
	{"\"split\":1", "\"split\":1025", "split", "outside 1"},
	{"\"roles\":1", "\"roles\":3", "roles", "outside 0 .. 2"},
	{"\"bits_a\":16", "\"bits_a\":8", "gemm__2", "costs"},
	{"\"batch\":\"1\"", "\"batch\":\"2\"", "gemm__2", "costs"},
	{"\"batch\":\"1\"", "\"batch\":1", "batch", "text"},
	{"\"name\":\"B\"", "\"name\":\"C\"", "no argument", "B"},
	{"\"dir\":\"out\"", "\"dir\":\"inout\"", "gemm__2", "arguments"},
	{"\"K\"\n      ],\n      \"facts\"", "\"K\",\"J\"],\"facts\"", "gemm__2", "sizes"},
	{"\"strides\":[\n            \"K 2 *\"", "\"strides\":[\n            \"N 2 *\"", "gemm__2",
	 "arguments"},
};

static void each_wrong_family_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(wrong_families); i++) {
		Sample s;
		KDesc kernels[2];
		sample_fill(&s);
		sample_copies(&s);
		sample_family(&s, kernels, 2);
		dsl_status st =
			sample_parse_with(&s.module, wrong_families[i][0], wrong_families[i][1]);
		if (st != DSL_ERR_MANIFEST)
			fail_msg("%s gave %s", wrong_families[i][1], dsl_status_name(st));
		assert_says(dsl_detail(), wrong_families[i][2], wrong_families[i][3], NULL);
	}
}

static void too_many_variants(void **state)
{
	(void)state;
	enum { MANY = KD_MAX_VARIANTS + 1 };
	static KDesc kernels[MANY];
	char names[MANY][16];
	Sample s;
	sample_fill(&s);
	sample_family(&s, kernels, 1);
	for (int i = 1; i < MANY; i++) {
		snprintf(names[i], sizeof names[i], "gemm__%d", i + 1);
		kernels[i] = kernels[0];
		kernels[i].name = kernels[i].symbol = names[i];
	}
	s.module.nkernels = KD_MAX_VARIANTS;
	assert_status(sample_parse_with(&s.module, "", ""), DSL_OK);
	s.module.nkernels = MANY;
	assert_status(sample_parse_with(&s.module, "", ""), DSL_ERR_MANIFEST);
	assert_says(dsl_detail(), "kernel gemm__33", "gemm has more than 32 variants", NULL);
}

static void another_abi(void **state)
{
	(void)state;
	assert_status(parse_with("\"abi\":2", "\"abi\":3"), DSL_ERR_ABI);
	assert_says(dsl_detail(), "ABI 3", "ABI 2", NULL);
}

static void not_json(void **state)
{
	(void)state;
	static const char *const rows[] = {"",        " ",       "{",       "[]",
					   "7",       "null",    "{} {}",   "{\"a\":}",
					   "{\"a\"}", "{'a':1}", "\"abi\"", "{}x"};
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		KModuleDesc *d = NULL;
		dsl_status st = dsl_desc_parse(rows[i], strlen(rows[i]), &d);
		if (st != DSL_ERR_MANIFEST)
			fail_msg("%s gave %s", rows[i], dsl_status_name(st));
		assert_null(d);
	}
	char deep[200];
	memset(deep, '[', sizeof deep);
	KModuleDesc *d = NULL;
	assert_status(dsl_desc_parse(deep, sizeof deep, &d), DSL_ERR_MANIFEST);
	assert_status(dsl_desc_parse(NULL, 1, &d), DSL_ERR_INVALID);
	assert_status(dsl_desc_parse("", 0, NULL), DSL_ERR_INVALID);
	dsl_desc_free(NULL);
}

/* A copy of exactly its size, so that the sanitizer sees a read beyond it. */
static char *exact_copy(const char *s, size_t n)
{
	char *copy = malloc(n ? n : 1);
	assert_non_null(copy);
	memcpy(copy, s, n);
	return copy;
}

static void cut_short_anywhere(void **state)
{
	(void)state;
	Sample s;
	Buf json = {0};
	sample_fill(&s);
	manifest_write(&s.module, &json);
	for (size_t n = 0; n < json.n - 1; n += 1 + n / 500) {
		KModuleDesc *d = NULL;
		char *copy = exact_copy(json.s, n);
		assert_status(dsl_desc_parse(copy, n, &d), DSL_ERR_MANIFEST);
		free(copy);
	}
	buf_free(&json);
}

static void damaged_anywhere(void **state)
{
	(void)state;
	Sample s;
	KDesc kernels[2];
	Buf json = {0};
	uint32_t u = 11;
	int refused = 0;
	sample_fill(&s);
	sample_family(&s, kernels, 2);
	manifest_write(&s.module, &json);
	for (int i = 0; i < 4000; i++) {
		char *copy = exact_copy(json.s, json.n);
		KModuleDesc *d = NULL;
		for (int flips = 0; flips < 1 + i % 3; flips++) {
			u = u * 1664525 + 1013904223;
			copy[(u >> 4) % json.n] ^= (char)(1 << (u >> 29));
		}
		dsl_status st = dsl_desc_parse(copy, json.n, &d);
		assert_true(st == DSL_OK || st == DSL_ERR_MANIFEST || st == DSL_ERR_ABI);
		refused += st != DSL_OK;
		if (!st)
			dsl_desc_free(d);
		free(copy);
	}
	assert_true(refused > 2000);
	buf_free(&json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(families_there_and_back),
		cmocka_unit_test(one_launcher_a_family),
		cmocka_unit_test(without_in_place),
		cmocka_unit_test(writing_is_reproducible),
		cmocka_unit_test(each_wrong_entry_is_named),
		cmocka_unit_test(each_wrong_family_is_named),
		cmocka_unit_test(too_many_variants),
		cmocka_unit_test(another_abi),
		cmocka_unit_test(not_json),
		cmocka_unit_test(cut_short_anywhere),
		cmocka_unit_test(damaged_anywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
