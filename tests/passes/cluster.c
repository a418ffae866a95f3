/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* passes.cluster - the pass tiles with random clusters: every tile of the plane
 * is computed once, what lies beyond is beyond, all CTAs of a cluster make as many steps; and the
 * groups that same.h finds in the coordinates are compared with the coordinates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "passes/pass.h"
#include "passes/multicast/masks.h"

#ifndef CONFIGS
#define CONFIGS 1000
#endif
enum { SEED = 517, SIDE = 16, NAMES = 32, CTAS = 640, TILE = 128 };

typedef struct {
	int64_t tiles[2], cluster[2], group, sms;
	bool persistent, along_n;
} Config;

typedef struct {
	const char *name[NAMES];
	int64_t value[NAMES];
	int n;
} Env;

/* What a CTA computes in one iteration. */
typedef struct {
	Env env;
	int64_t m, n;
} Step;

typedef struct {
	Ctx *c;
	uint64_t seed;
	Config g;
	Kernel *k;
	int visits[SIDE][SIDE];
	int beyond, shared;
} World;

static int below(World *w, int n)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((w->seed >> 33) % (uint64_t)n);
}

static Config config_draw(World *w)
{
	static const int64_t clusters[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2},
					      {8, 1}, {3, 1}, {1, 3}, {2, 3}, {4, 4}, {5, 2}};
	Config g = {.group = below(w, 5), .sms = 1 + below(w, 40)};
	int at = below(w, COUNTOF(clusters));
	for (int i = 0; i < 2; i++) {
		g.tiles[i] = 1 + below(w, SIDE);
		g.cluster[i] = clusters[at][i];
	}
	g.persistent = below(w, 4);
	g.along_n = below(w, 2);
	return g;
}

/* ------------------------------------------------------------------ the kernel */
static Kernel *kernel_make(World *w)
{
	static const char body[] =
		" {\n  sym M 0..2147483647\n  sym K 0..2147483647\n  sym N 0..2147483647\n"
		"  arg %A : global bf16 (M,K):(K,1)\n  arg %B : global bf16 (N,K):(K,1)\n"
		"  arg out %D : global bf16 (M,N):(N,1)\n  ring ab slots=4\n"
		"  %sA = shared ring=ab auto=1 : shared bf16 (128,64):(1,128)\n"
		"  %sB = shared ring=ab auto=1 : shared bf16 (128,64):(1,128)\n"
		"  grid m, n ((M + 127) / 128, (N + 127) / 128) {\n"
		"    %acc = frag : reg f32 (128,128):(1,128)\n    fill %acc value=0\n"
		"    for k (0, (K + 63) / 64) {\n"
		"      %t = tile %A (m * 128, k * 64) : global bf16 (128,64):(K,1)\n"
		"      copy %sA, %t\n"
		"      %t.1 = tile %B (n * 128, k * 64) : global bf16 (128,64):(K,1)\n"
		"      copy %sB, %t.1\n"
		"      mma %acc, %sA, %sB atom=wgmma.m64n128k16.f32.bf16.bf16 arrange=(2,1,1)\n"
		"    }\n    %c = cvt %acc : reg bf16 (128,128):(1,128)\n"
		"    %t.2 = tile %D (m * 128, n * 128) : global bf16 (128,128):(N,1)\n"
		"    copy %t.2, %c\n  }\n}\n";
	const Config *g = &w->g;
	Buf b = {0};
	const char *why = NULL;
	buf_printf(&b, "kernel gemm tile sm_90a roles=cooperative inflight=1");
	if (g->group)
		buf_printf(&b, " group=%d along=%s", (int)g->group, g->along_n ? "n" : "m");
	if (g->persistent)
		buf_printf(&b, " persistent=1");
	buf_printf(&b, " cluster=(%d,%d)", (int)g->cluster[0], (int)g->cluster[1]);
	buf_add(&b, body, strlen(body));
	Module *m = module_parse(w->c, ctx_src(w->c, "test", b.s, b.n));
	assert_non_null(m);
	buf_free(&b);
	Kernel *k = m->kernels.at[0];
	assert_true(passes_run(k, &(PassOpt){.stop_after = -1, .only = pass_by_name("tiles")}));
	if (!kernel_verify(k, &why))
		fail_msg("%s", why);
	return k;
}

static const char *show(World *w)
{
	Buf b = {0};
	const Config *g = &w->g;
	kernel_print(w->k, &b);
	const char *s = ctx_strf(w->c, "%d x %d tiles, %d SMs\n%s", (int)g->tiles[0],
				 (int)g->tiles[1], (int)g->sms, b.s);
	buf_free(&b);
	return s;
}

#define MUST(x) ((x) ? (void)0 : failed(w, #x, __LINE__))

static void failed(World *w, const char *what, int line)
{
	fail_msg("line %d: %s: %s", line, what, show(w));
}

/* ------------------------------------------------------------------ running it */
static void bind(Env *e, const char *name, int64_t v)
{
	assert_true(e->n < NAMES);
	e->name[e->n] = name;
	e->value[e->n++] = v;
}

static bool env_get(void *user, const char *name, int64_t *v)
{
	const Env *e = user;
	for (int i = e->n - 1; i >= 0; i--)
		if (!strcmp(e->name[i], name))
			return *v = e->value[i], true;
	return false;
}

static int64_t eval(World *w, Env *e, const Ix *x)
{
	int64_t v = -1;
	MUST(ix_eval(x, env_get, e, &v));
	return v;
}

/* All that stands before the accumulator, of one iteration. */
static Step run_lets(World *w, Env env, const Op *op)
{
	Step s = {.env = env};
	for (; op->kind != OP_FRAG; op = op->next)
		if (op->kind == OP_LET)
			bind(&s.env, op->sym[0], eval(w, &s.env, op->ix[0]));
	s.m = eval(w, &s.env, ix_sym(w->c, "m"));
	s.n = eval(w, &s.env, ix_sym(w->c, "n"));
	return s;
}

/* The iterations of a CTA: their number, and the first op of an iteration. */
static int64_t run_until_loop(World *w, Env *env, const Op **first)
{
	const Op *op = kernel_first(w->k);
	while (op->kind != OP_LET)
		op = op->next;
	*first = op;
	if (!w->g.persistent)
		return 1;
	for (; op->kind != OP_FOR; op = op->next)
		if (op->kind == OP_LET)
			bind(env, op->sym[0], eval(w, env, op->ix[0]));
	*first = op->body->first;
	return eval(w, env, op->ix[1]);
}

static const Op *outer_loop(const World *w)
{
	return w->g.persistent ? kernel_find(w->k, OP_FOR) : NULL;
}

static Env env_of(World *w, int64_t cta, int64_t ctas)
{
	const Config *g = &w->g;
	int64_t size = g->cluster[0] * g->cluster[1];
	Env e = {.n = 0};
	bind(&e, "M", g->tiles[0] * TILE - 5);
	bind(&e, "N", g->tiles[1] * TILE);
	bind(&e, "K", 640);
	bind(&e, "sms", g->sms);
	bind(&e, "ctas", ctas);
	bind(&e, "clusters", ctas / size);
	bind(&e, "cta", cta);
	bind(&e, "rank", cta % size);
	bind(&e, "cluster", cta / size);
	return e;
}

/* ------------------------------------------------------------------ groups */
typedef struct {
	Same same[2];
	Share share[2];
} Groups;

static Groups groups_find(World *w)
{
	int ranks = (int)(w->g.cluster[0] * w->g.cluster[1]);
	const Op *tile = kernel_find(w->k, OP_TILE);
	SameFrame f = {w->c, kernel_facts(w->k), ranks};
	Groups all;
	for (int b = 0; b < 2; b++, tile = op_find_next(tile, OP_TILE)) {
		const Ix *at[2];
		for (int i = 0; i < 2; i++)
			at[i] = same_resolve(w->k, tile, tile->ix[i]);
		all.same[b] = same_bulk(&f, at, 2);
		all.share[b] = share_load(w->c, &all.same[b], ISSUE_AUTO, 64);
		w->shared += all.share[b].issue != ISSUE_EACH;
	}
	return all;
}

static void check_groups(World *w, const Groups *all, Step *at)
{
	int ranks = all->same[0].ranks;
	for (int b = 0; b < 2; b++) {
		const Share *share = &all->share[b];
		int issued[CLUSTER_CTAS] = {0};
		for (int r = 0; r < ranks; r++) {
			int64_t mask = eval(w, &at[r].env, share->mask), truth = 0;
			bool issues = eval(w, &at[r].env, share->issues);
			for (int q = 0; q < ranks; q++) {
				bool same = b ? at[q].n == at[r].n : at[q].m == at[r].m;
				truth |= (int64_t)same << q;
				issued[q] += issues && mask >> q & 1;
				MUST(!(issues && mask >> q & 1) || share->into[r] >> q & 1);
			}
			MUST(mask == truth);
		}
		for (int r = 0; r < ranks; r++)
			MUST(issued[r] == share->slices);
	}
}

static void visit(World *w, const Step *s)
{
	const Config *g = &w->g;
	MUST(s->m >= 0 && s->n >= 0);
	if (s->m < g->tiles[0] && s->n < g->tiles[1])
		w->visits[s->m][s->n]++;
	else
		w->beyond++;
	MUST((s->m + 1) * TILE < INT32_MAX && (s->n + 1) * TILE < INT32_MAX);
}

static void run_cluster(World *w, const Groups *all, int64_t first, int64_t ctas)
{
	int ranks = all->same[0].ranks;
	Step at[CLUSTER_CTAS];
	Env env[CLUSTER_CTAS];
	const Op *body = NULL, *loop = outer_loop(w);
	int64_t trips = 0;
	for (int r = 0; r < ranks; r++) {
		env[r] = env_of(w, first + r, ctas);
		int64_t n = run_until_loop(w, &env[r], &body);
		MUST(r == 0 || n == trips);
		trips = n;
	}
	for (int64_t t = 0; t < trips; t++) {
		for (int r = 0; r < ranks; r++) {
			Env e = env[r];
			if (loop)
				bind(&e, loop->sym[0], t);
			at[r] = run_lets(w, e, body);
			visit(w, &at[r]);
		}
		check_groups(w, all, at);
	}
}

static void check_config(World *w)
{
	const Config *g = &w->g;
	int64_t size = g->cluster[0] * g->cluster[1];
	w->k = kernel_make(w);
	memset(w->visits, 0, sizeof w->visits);
	Groups all = groups_find(w);
	Env e = env_of(w, 0, 1);
	int64_t ctas = eval(w, &e, kernel_find(w->k, OP_LAUNCH)->ix[0]);
	MUST(ctas > 0 && ctas % size == 0 && ctas <= CTAS);
	for (int64_t cta = 0; cta < ctas; cta += size)
		run_cluster(w, &all, cta, ctas);
	for (int m = 0; m < g->tiles[0]; m++)
		for (int n = 0; n < g->tiles[1]; n++)
			MUST(w->visits[m][n] == 1);
	/* What a cluster computes at a time is one block: groups are known, and all of them. */
	for (int b = 0; b < 2; b++) {
		MUST(!all.same[b].narrowed);
		MUST(__builtin_popcount(all.same[b].with[0]) == g->cluster[!b]);
	}
}

static void test_random(void **state)
{
	World *w = *state;
	print_message("seed %d\n", SEED);
	for (int i = 0; i < CONFIGS; i++) {
		if (i % 50 == 0) {
			ctx_free(w->c);
			w->c = ctx_new();
		}
		w->g = config_draw(w);
		check_config(w);
	}
	print_message("%d analyses: shared %d; %d tiles beyond the plane\n", 2 * CONFIGS, w->shared,
		      w->beyond);
	assert_true(w->shared > CONFIGS / 2 && w->beyond > CONFIGS);
}

static int setup(void **state)
{
	static World w;
	w = (World){.c = ctx_new(), .seed = SEED};
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	World *w = *state;
	ctx_free(w->c);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
