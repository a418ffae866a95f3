/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_roles - the random role programs of random.c, judged by the verifier for all trip
 * counts and by the stepper in random interleavings of a few. They must agree:
 *     stepper_roles [PROGRAMS [SEED [ONLY]]]
 * What is proved fails in no interleaving of 0 to 4 trips; what is refuted fails in one, at the
 * trip count of its refutation. */
#include "roles_trace.h"

#include <stdio.h>
#include <stdlib.h>

enum { TRIPS = 4, PROVED_RUNS = 24, REFUTED_RUNS = 2000 };
typedef enum { PROVED, REFUTED, OPEN, LEFT_OUT, WRONG, VERDICTS } Verdict;

static bool fails(const Source *s, int trips, int runs, Finding *out)
{
	Ctx *c = ctx_new();
	PtxTrace *t = roles_trace(c, s, trips);
	bool failed = false;
	for (int i = 0; i < runs && !failed; i++)
		failed = !stepper_run(t, (uint64_t)i, out);
	ctx_free(c);
	return failed;
}

static bool prove(const Source *s, Said *w)
{
	Arena *arena = arena_new();
	bool decided = prog_prove(prog_build(arena, s), BY_KNOWLEDGE, w);
	arena_free(arena);
	return decided;
}

/* A role that writes a slot by one lane and by all: the verifier takes it that these are different
 * bytes, which they are not here. */
static bool mixes(const Role *r)
{
	int by[RINGS] = {0};
	for (int part = 0; part < PARTS; part++)
		for (int i = 0; i < r->part[part].n; i++)
			if (r->part[part].at[i].kind == STEP_WRITE)
				by[r->part[part].at[i].ring] |=
					r->part[part].at[i].lanes == LANES ? 1 : 2;
	return by[0] == 3 || by[1] == 3 || by[2] == 3;
}

static Verdict judge(const Source *s, Said *w, int *trips, Finding *out)
{
	bool decided = prove(s, w);
	bool refuted = w->verdict == SAID_REFUTED, failed = false;
	int hi = s->trips_hi ? s->trips_hi : TRIPS;
	for (int a = 0; a < s->roles; a++)
		if (mixes(&s->role[a]))
			return LEFT_OUT;
	if (!decided)
		return OPEN;
	*trips = w->trips;
	if (refuted)
		return fails(s, *trips, REFUTED_RUNS, out) ? REFUTED : WRONG;
	for (*trips = s->trips_lo; *trips <= hi && !failed; *trips += !failed)
		failed = fails(s, *trips, PROVED_RUNS, out);
	return failed ? WRONG : PROVED;
}

/* user: what the verifier said */
static bool differs(void *user, const Source *s)
{
	const Said *as = user;
	Said w;
	Finding f = {0};
	int trips;
	return judge(s, &w, &trips, &f) == WRONG && w.verdict == as->verdict &&
	       (w.verdict == SAID_PROVED || w.why.id == as->why.id);
}

static void print_wrong(const Source *s, int number, const Said *w, int trips, const Finding *f)
{
	static const char *const whys[] = {
		"",
#define WHY(id, code, text) #id,
#include "verify/whys.def"
	};
	bool refuted = w->verdict == SAID_REFUTED;
	Source least = *s;
	printf("program %d, %d trips: %s %s, %s\n", number, trips, refuted ? "refuted" : "proved",
	       refuted ? whys[w->why.id] : "", refuted ? "and nothing fails" : f->what);
	source_shrink(&least, differs, (void *)(uintptr_t)w);
	source_print(&least);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000, only = argc > 3 ? atoi(argv[3]) : -1;
	int total[VERDICTS] = {0};
	random_seed(argc > 2 ? (uint64_t)atoll(argv[2]) : 1);
	for (int i = 0; i < n && total[WRONG] < 3; i++) {
		Source s = source_make();
		Said w;
		Finding f = {0};
		int trips;
		if (only >= 0 && i != only)
			continue;
		Verdict v = judge(&s, &w, &trips, &f);
		total[v]++;
		if (v == WRONG)
			print_wrong(&s, i, &w, trips, &f);
	}
	printf("%d programs: %d proved, %d refuted, %d neither, %d left out, %d judged "
	       "differently\n",
	       n, total[PROVED], total[REFUTED], total[OPEN], total[LEFT_OUT], total[WRONG]);
	return total[WRONG] || (only < 0 && (5 * total[PROVED] < n || 5 * total[REFUTED] < n ||
					     50 * (total[OPEN] + total[LEFT_OUT]) > n));
}
