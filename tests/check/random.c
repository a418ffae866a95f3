/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random - role programs made at random, each judged twice: by the verifier for all trip
 * counts, and by exploring every interleaving for small trip counts. The verdicts must agree.
 *     random [PROGRAMS [SEED [ONLY]]]
 * A program has up to 4 roles in up to 2 CTAs and 3 rings; most begin right and have up to three
 * steps changed. What differs is made as small as it gets, and printed. */
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STATES = 3000, FEW_STATES = 300 };
typedef enum { AGREE_PROVED, AGREE_REFUTED, LEFT_OPEN, TOO_LARGE, DIFFERENT, VERDICTS } Verdict;
typedef struct {
	Verdict verdict;
	int trips;
	Why why;
	bool refuted, joined;
	const char *runs;
} Judged;

/* Whether a proved program is worth exploring with more trips: up to 3, small ones up to 7. */
static bool goes_on(const Runs *r, const Prog *p, int trips)
{
	int hi = p->src.trips_hi ? p->src.trips_hi : MOST_TRIPS;
	return trips < hi && runs_states(r) <= (trips < 3 ? MOST_STATES : FEW_STATES);
}

/* Refuted: in a run of that many trips. Proved: with some. */
static Judged judge(Runs *r, Prog *p)
{
	Said said;
	bool joined = prog_joins(p), decided = prog_prove(p, BY_TIME, &said);
	Judged j = {.refuted = said.verdict == SAID_REFUTED,
		    .trips = said.trips,
		    .why = said.why,
		    .joined = joined};
	if (!decided) {
		j.verdict = LEFT_OPEN; /* only the ends of letters are in the way: unknown */
		return j;
	}
	j.verdict = j.refuted ? AGREE_REFUTED : AGREE_PROVED;
	if (j.refuted && joined) {
		j.verdict = DIFFERENT;
		j.runs = "and joined states prove it";
		return j;
	}
	if (j.refuted && j.trips > MOST_TRIPS) {
		j.verdict = TOO_LARGE;
		return j;
	}
	j.trips = j.refuted ? j.trips : p->src.trips_lo;
	for (bool more = true; more; j.trips += more) {
		bool wrong = runs_wrong(r, p, j.trips);
		j.runs = runs_why(r);
		if (runs_full(r) && !wrong)
			j.verdict = TOO_LARGE;
		else if (wrong != j.refuted)
			j.verdict = DIFFERENT;
		more = j.verdict == AGREE_PROVED && goes_on(r, p, j.trips);
	}
	return j;
}

/* ------------------------------------------------------------------ what differs */
static bool differs(Runs *r, const Source *s, bool refuted)
{
	Arena *arena = arena_new();
	Judged j = judge(r, prog_build(arena, s));
	arena_free(arena);
	return j.verdict == DIFFERENT && j.refuted == refuted;
}

typedef struct {
	Runs *runs;
	bool refuted;
} Like;

static bool differs_alike(void *user, const Source *s)
{
	const Like *as = user;
	return differs(as->runs, s, as->refuted);
}

static void print_different(Runs *r, Source s, int number, const Judged *j)
{
	static const char *const whys[] = {
		"",
#define WHY(id, code, text) #id,
#include "verify/whys.def"
	};
	printf("program %d, %d trips: the verifier says %s %s, the interleavings do not %s\n",
	       number, j->trips, j->refuted ? "refuted" : "proved", whys[j->why.id], j->runs);
	source_shrink(&s, differs_alike, &(Like){r, j->refuted});
	source_print(&s);
}

/* ------------------------------------------------------------------ all */
enum { CLUSTER, MULTICAST, TWO_WARPS, BARRIERS, WGMMA, BULK, GROUPS_OR_NAMED, ALL, KINDS };
static const char *const kinds[KINDS] = {
	"of two CTAs", "of these with multicast", "with two warps",          "with named barriers",
	"with wgmma",  "with bulk stores",        "with one of these three", "programs"};
typedef int Tally[KINDS][VERDICTS];

static bool is_of_kind(const Source *s, int kind)
{
	switch (kind) {
	case CLUSTER:
		return s->ctas == 2;
	case MULTICAST:
		return source_loads_abroad(s);
	case TWO_WARPS:
		return source_warps(s, -1) > s->roles;
	case BARRIERS:
		return source_uses(s, STEP_BAR) || source_uses(s, STEP_BAR_ARRIVE);
	case WGMMA:
		return source_uses(s, STEP_MMA);
	case BULK:
		return source_uses(s, STEP_STORE);
	case GROUPS_OR_NAMED:
		return is_of_kind(s, BARRIERS) || is_of_kind(s, WGMMA) || is_of_kind(s, BULK);
	default:
		return true;
	}
}

static int total(const int *of)
{
	int n = 0;
	for (int v = 0; v < VERDICTS; v++)
		n += of[v];
	return n;
}

static void print_tally(Tally t)
{
	for (int k = KINDS - 1; k >= 0; k--)
		printf("%5d %s: %d proved, %d refuted, %d left open, %d too large, %d wrong\n",
		       total(t[k]), kinds[k], t[k][AGREE_PROVED], t[k][AGREE_REFUTED],
		       t[k][LEFT_OPEN], t[k][TOO_LARGE], t[k][DIFFERENT]);
}

/* Enough of each sort, and all but one in thousand decided. */
static bool is_good(Tally t, int n)
{
	bool good = !t[ALL][DIFFERENT] && 1000 * (t[ALL][LEFT_OPEN] + t[ALL][TOO_LARGE]) <= n;
	for (int k = 0; k < KINDS; k++)
		good &= total(t[k]) >= n / 10 && t[k][AGREE_PROVED] >= total(t[k]) / 5 &&
			t[k][AGREE_REFUTED] >= total(t[k]) / 5;
	return good && 3 * total(t[CLUSTER]) >= n && 3 * total(t[GROUPS_OR_NAMED]) >= n;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10000, only = argc > 3 ? atoi(argv[3]) : -1, joined = 0;
	Runs *r = runs_new();
	Tally t = {0};
	random_seed(argc > 2 ? (uint64_t)atoll(argv[2]) : 1);
	for (int i = 0; i < n && t[ALL][DIFFERENT] < 3; i++) {
		Arena *arena = arena_new();
		Source s = source_make();
		if (only < 0 || only == i) {
			Judged j = judge(r, prog_build(arena, &s));
			for (int k = 0; k < KINDS; k++)
				t[k][j.verdict] += is_of_kind(&s, k);
			joined += j.joined;
			if (j.verdict == DIFFERENT)
				print_different(r, s, i, &j);
			if (only >= 0 || (j.verdict >= LEFT_OPEN && j.verdict != DIFFERENT)) {
				printf("program %d: verdict %d at %d trips, %d states\n", i,
				       j.verdict, j.trips, runs_states(r));
				if (only >= 0)
					source_print(&s);
			}
		}
		arena_free(arena);
	}
	print_tally(t);
	printf("%5d proved by joining states\n", joined);
	runs_free(r);
	if (only >= 0)
		return t[ALL][AGREE_PROVED] + t[ALL][AGREE_REFUTED] != 1;
	return !is_good(t, n) || 10 * joined < 9 * t[ALL][AGREE_PROVED];
}
