/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random_sizes - legal programs with where clauses made at random: divisors, residues, bounds and
 * equalities of sizes, under random schedules. Each must be proved.
 *     random_sizes SECONDS [SEED]      as many as there is time for
 *     random_sizes --count N [SEED]    until N are proved
 *     random_sizes --show SEED         the program
 * Program i has the seed SEED + i. What is not proved is printed, with what was said of it. */
#include "chance.h"
#include "driver/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { PROVED, REFUSED, WRONG, OUTCOMES } Outcome;
static const char *const outcome_names[OUTCOMES] = {"proved", "beyond what a CTA has",
						    "not proved"};

typedef struct {
	uint64_t state;
	Buf text, facts;
	int bm, bn, bk, stages;
} Make;

/* ------------------------------------------------------------------ chance */
static int within(Make *k, int lo, int hi)
{
	return chance_within(&k->state, lo, hi);
}

static bool chance(Make *k, int percent)
{
	return chance_of(&k->state, percent);
}

static int one_of(Make *k, const int *numbers, int n)
{
	return numbers[within(k, 0, n - 1)];
}
#define ONE_OF(k, ...) \
	one_of(k, (const int[]){__VA_ARGS__}, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)))

/* ------------------------------------------------------------------ clauses */
static void begin_fact(Make *k)
{
	buf_printf(&k->facts, "%s", k->facts.n ? ", " : " where ");
}

/* A multiple of something that tiles and stages hang on, or of something else. */
static int divisor(Make *k, int tile)
{
	int times[] = {1, 2, 3, 4, 5, 6, 8, 16, k->stages, 2 * k->stages};
	int by = times[within(k, 0, (int)(sizeof times / sizeof *times) - 1)];
	return chance(k, 80) ? tile * by : ONE_OF(k, 2, 3, 8, 24, 40, 100, 256, 1000);
}

/* What two clauses on one name say goes together: the bounds lie a period apart at least. */
static void facts_of(Make *k, const char *name, int tile)
{
	int q = divisor(k, tile), r = chance(k, 30) ? within(k, 0, q - 1) : 0;
	int lo = within(k, 0, 8 * tile);
	if (chance(k, 60)) {
		begin_fact(k);
		buf_printf(&k->facts, "%s %% %d == %d", name, q, chance(k, 50) ? r / 8 * 8 : r);
	}
	if (chance(k, 30)) {
		begin_fact(k);
		buf_printf(&k->facts, chance(k, 50) ? "%s >= %d" : "%s > %d", name, lo);
	}
	if (chance(k, 25)) {
		begin_fact(k);
		buf_printf(&k->facts, chance(k, 50) ? "%s <= %d" : "%s < %d", name,
			   lo + q + within(k, 1, 16 * tile));
	}
}

/* Of two that are equal one has the other clauses. */
static void make_facts(Make *k)
{
	static const char *const pairs[][2] = {{"K", "N"}, {"N", "K"}, {"M", "N"}, {"M", "K"}};
	const char *const *equal = chance(k, 30) ? pairs[within(k, 0, 3)] : NULL;
	const char *names[] = {"K", "M", "N"};
	const int tiles[] = {k->bk, k->bm, k->bn};
	if (equal) {
		begin_fact(k);
		buf_printf(&k->facts, "%s == %s", equal[0], equal[1]);
	}
	for (int i = 0; i < 3; i++)
		if ((!equal || strcmp(equal[1], names[i]) != 0) && chance(k, i ? 40 : 90))
			facts_of(k, names[i], tiles[i]);
}

/* ------------------------------------------------------------------ the program */
static void put_schedule(Make *k, int w)
{
	static const char *const roles[] = {"none", "cooperative", "pingpong"};
	int role = within(k, 0, w == 2 ? 1 : 2);
	bool persistent = role == 2 || chance(k, 70);
	buf_printf(&k->text, "    schedule { roles %s; persistent %s; inflight %d;", roles[role],
		   persistent ? "on" : "off", within(k, 0, k->stages > 2 ? 2 : 1));
	if (chance(k, 40))
		buf_printf(&k->text, " group(%d);", within(k, 1, 9));
	if (chance(k, 25))
		buf_printf(&k->text, " cluster (%s);", chance(k, 50) ? "2,1" : "1,2");
	buf_printf(&k->text, " }\n}\n");
}

static void make_text(Make *k, uint64_t seed)
{
	int w = within(k, 1, 2);
	k->bm = 64 * w;
	k->bn = ONE_OF(k, 64, 96, 128);
	k->bk = ONE_OF(k, 32, 64);
	k->stages = within(k, 2, 6);
	make_facts(k);
	buf_printf(&k->text,
		   "// seed %llu\n"
		   "kernel sizes(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), "
		   "D : out bf16 (M,N):(N,1))%s\n{\n"
		   "    const bM = %d, bN = %d, bK = %d;\n"
		   "    let gA = A / (bM,bK), gB = B / (bN,bK), gD = D / (bM,bN);\n"
		   "    mma      mm = wgmma<64,bN,16>(bf16, bf16, f32) * (%d,1,1);\n"
		   "    smem     sA : bf16 (bM,bK), sB : bf16 (bN,bK);\n"
		   "    pipeline ab(%d) { sA, sB }\n"
		   "    for (m,n) in gD {\n"
		   "        acc : f32 mm.C(bM,bN) = 0;\n"
		   "        for k in gA[m] {\n"
		   "            sA <- gA[m,k];\n            sB <- gB[n,k];\n"
		   "            acc += mm(sA, sB);\n        }\n"
		   "        gD[m,n] <- bf16(acc);\n    }\n",
		   (unsigned long long)seed, k->facts.n ? k->facts.s : "", k->bm, k->bn, k->bk, w,
		   k->stages);
	put_schedule(k, w);
}

/* ------------------------------------------------------------------ one */
static bool is_room(const Ctx *c)
{
	static const DiagId room[] = {D_E0401, D_E0402, D_E0406, D_E0407};
	for (const DiagMsg *m = diag_first(c); m; m = m->next) {
		bool may = diag_rows[m->id].severity != SEV_ERROR;
		for (size_t i = 0; i < sizeof room / sizeof *room; i++)
			may |= m->id == room[i];
		if (!may)
			return false;
	}
	return diag_errors(c) > 0;
}

static Outcome check(const Make *k)
{
	Source source = {"sizes.gemm", k->text.s, k->text.n, .is_ir = false};
	CompileOpt opt = {.ir_after = AFTER_LAST,
			  .stop_after = AFTER_LAST,
			  .only = -1,
			  .only_check = true};
	CompileOut out = {0};
	Buf said = {0};
	Ctx *c = ctx_new();
	bool ok = compile_run(c, &source, &opt, &out) && out.verified.n;
	Outcome o = ok ? PROVED : is_room(c) ? REFUSED : WRONG;
	diag_text(c, &said, false);
	if (o == WRONG)
		printf("%s%s\n", k->text.s, said.s ? said.s : "");
	buf_free(&said);
	compile_out_free(&out);
	ctx_free(c);
	return o;
}

static Outcome one(uint64_t seed, bool show)
{
	Make k = {.state = seed * 0x5851f42d4c957f2du};
	Outcome o = REFUSED;
	make_text(&k, seed);
	if (show)
		printf("%s", k.text.s);
	else
		o = check(&k);
	buf_free(&k.text);
	buf_free(&k.facts);
	return o;
}

int main(int argc, char **argv)
{
	enum { FAR = 1 << 30, MOST_WRONG = 5 };
	bool count = argc > 2 && !strcmp(argv[1], "--count");
	bool show = argc > 2 && !strcmp(argv[1], "--show");
	int want = count ? atoi(argv[2]) : FAR, n[OUTCOMES] = {0};
	double end = now_seconds() + (count ? 1e9 : argc > 1 ? atof(argv[1]) : 10);
	const char *from = argc > 2 + count ? argv[2 + count] : "1";
	uint64_t seed = strtoull(from, NULL, 10);
	if (show)
		return one(seed, true) == WRONG;
	while (n[PROVED] + n[WRONG] < want && n[WRONG] < MOST_WRONG && now_seconds() < end)
		n[one(seed++, false)]++;
	for (int o = 0; o < OUTCOMES; o++)
		printf("%d %s%s", n[o], outcome_names[o], o + 1 < OUTCOMES ? ", " : "\n");
	return n[WRONG] || n[PROVED] < 1 || n[REFUSED] > 4 * n[PROVED];
}
