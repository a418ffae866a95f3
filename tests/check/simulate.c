/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* simulate - a second judge of the mutants that the verifier proves: each is compiled and runs on
 * the simulator without a report, all in one process.
 *     simulate [-s SIZES] KERNEL.ir...      kernels at the ptx stage; at so many random sizes each
 * Sizes at which a kernel is not launched are left out; a kernel that never runs is an error. */
#include "check/problem.h"
#include "driver/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILE = 1 << 20, MOST_SIZE = 4096 };

#define DEVICE "sim:seed=%d,steps=3000000,reports=1,checks=all,-uninit,warps,portability"

typedef struct {
	const char *file;
	char *text;
	size_t size;
	CompileOut out; /* made without the verifier */
} Mutant;

/* ------------------------------------------------------------------ sizes */
static int below(uint64_t *r, int n)
{
	*r = *r * 6364136223846793005u + 1442695040888963407u;
	return (int)((*r >> 33) % (uint64_t)n);
}

static int64_t random_size(uint64_t r, const IxFact *f)
{
	static const int grains[] = {1, 8, 16, 32, 64, 64, 128};
	int64_t div = f->div > 1 ? f->div : 1, grain = grains[below(&r, (int)COUNTOF(grains))];
	int64_t v = below(&r, below(&r, 8) ? 400 : 32) / grain * grain;
	v += below(&r, 2) ? below(&r, (int)grain) : 0;
	v = v / div * div;
	v = v > f->lo ? v : f->lo + (div - f->lo % div) % div;
	return v > f->hi ? f->hi : v ? v : div;
}

/* Every fourth time all alike. */
static ProblemSpec choose(const Kernel *k, int seed)
{
	uint64_t r = (uint64_t)seed * 0x9e3779b97f4a7c15u + 1, same = r;
	const Attr *cluster = attrs_get(&k->attrs, A_CLUSTER);
	ProblemSpec o = {.tiles = -1, .any_stage = true, .sms = 1 + below(&r, 3)};
	for (int i = 0; cluster && i < cluster->n; i++)
		o.sms *= cluster->i[i];
	for (int i = 0; i < k->syms.n; i++) {
		const IxFact *f = &k->syms.at[i];
		below(&r, 2);
		int64_t v = random_size(seed % 4 == 3 ? same : r, f);
		vec_push(ctx_arena(k->ctx), &o.sizes, ((SizeArg){f->name, v}));
	}
	return o;
}

static bool is_small(const ProblemSpec *o)
{
	for (int i = 0; i < o->sizes.n; i++)
		if (o->sizes.at[i].value > MOST_SIZE)
			return false;
	return true;
}

/* ------------------------------------------------------------------ runs */
static dsl_status launch(Problem *p, const Mutant *m, int seed)
{
	char name[128];
	dsl_module *mod;
	const Buf *cubin = &m->out.out[EMIT_CUBIN];
	problem_fill(p, DATA_INTEGERS, (uint64_t)seed);
	snprintf(name, sizeof name, DEVICE, seed);
	dsl_status st = dsl_device_open(name, &p->dev);
	st = st ? st : dsl_module_load_data(p->dev, cubin->s, cubin->n, &mod);
	return st ? st : problem_launch(p, mod);
}

/* DSL_ERR_FACT: nothing is launched at these sizes. */
static dsl_status run_at(const Mutant *m, int seed)
{
	Problem p;
	const char *why;
	dsl_status st = DSL_ERR_FACT;
	Ctx *c = ctx_new();
	const Module *mod = module_parse(c, ctx_src(c, m->file, m->text, m->size));
	ProblemSpec o = choose(mod->kernels.at[0], seed);
	if (is_small(&o) && problem_open(&p, m->text, &o, &why)) {
		st = launch(&p, m, seed);
		problem_close(&p);
	}
	ctx_free(c);
	return st;
}

static bool compile(Ctx *c, Mutant *m)
{
	Source source = {m->file, m->text, m->size, .is_ir = true};
	CompileOpt opt = {.emit = EMIT_BIT(EMIT_CUBIN),
			  .ir_after = AFTER_LAST,
			  .stop_after = AFTER_LAST,
			  .only = -1,
			  .verify = VERIFY_OFF,
			  .cg = {.opt_level = 2, .unassembled = true}};
	return compile_run(c, &source, &opt, &m->out);
}

static bool runs(Mutant *m, int sizes)
{
	Ctx *c = ctx_new();
	const char *wrong = compile(c, m) ? NULL : "is not compiled";
	int ran = 0;
	for (int i = 0; i < sizes && !wrong; i++) {
		dsl_status st = run_at(m, i);
		ran += st == DSL_OK;
		wrong = st && st != DSL_ERR_FACT ? dsl_detail() : NULL;
	}
	wrong = wrong || ran ? wrong : "is launched at no size";
	if (wrong)
		printf("%s: proved, and %s\n", m->file, wrong);
	compile_out_free(&m->out);
	ctx_free(c);
	return !wrong;
}

static bool judge(const char *file, int sizes)
{
	static char text[MOST_FILE];
	FILE *f = fopen(file, "r");
	Mutant m = {.file = file, .text = text};
	m.size = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	text[m.size] = 0;
	return m.size && runs(&m, sizes);
}

int main(int argc, char **argv)
{
	int sizes = 6, first = 1, wrong = 0;
	if (argc > 2 && strcmp(argv[1], "-s") == 0) {
		sizes = atoi(argv[2]);
		first = 3;
	}
	for (int i = first; i < argc; i++)
		wrong += !judge(argv[i], sizes);
	printf("%d kernels, %d fail\n", argc - first, wrong);
	return wrong || first == argc;
}
