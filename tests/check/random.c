/* random - role programs made at random, each judged twice: by the verifier for all trip
 * counts, and by exploring every interleaving for small trip counts. The verdicts must agree.
 *     random [PROGRAMS [SEED]]
 * A program has up to 4 roles in up to 2 CTAs and 3 rings; most begin right and have up to three
 * steps changed. What differs is made as small as it gets, and printed. */
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* LAPS: a barrier that no one waits for and that gets one arrival of 4 a trip recurs in so many. */
enum { MOST_STATES = 3000, LAPS = 12 };
typedef enum { AGREE_PROVED, AGREE_REFUTED, LEFT_OPEN, TOO_LARGE, DIFFERENT, VERDICTS } Verdict;
typedef struct {
	Verdict verdict;
	int trips;
	Why why;
	bool refuted;
	const char *runs;
} Judged;

static void prove(Prog *p, WordsResult *w)
{
	WordsLimits limits = {1, 1, 20000};
	Machine *m = &p->m;
	for (int exact = 0; exact < 2; exact++) {
		m->exact = exact;
		machine_layout(m);
		/* Interleavings know no order that is weaker than time: here a load orders what
		 * went before, and an arrival at another CTA also what was written. */
		memset(m->timely, 0xff, sizeof *m->timely * (size_t)m->words);
		memset(m->abroad, 0xff, sizeof *m->abroad * (size_t)m->words);
		for (int laps = 1; laps <= LAPS; laps *= LAPS) {
			p->words.trip_repeat = laps * PERIOD;
			words_prove(m, &p->words, limits, w);
			if (w->verdict != WORDS_LIMIT)
				break;
		}
		if (w->verdict != WORDS_REFUTED)
			return;
	}
}

/* Refuted: in a run of that many trips. Proved: up to 3 trips, or as many as are not too large. */
static Judged judge(Runs *r, Prog *p)
{
	WordsResult w;
	prove(p, &w);
	Judged j = {.refuted = w.verdict == WORDS_REFUTED, .trips = (int)w.at.trips, .why = w.why};
	if (w.verdict > WORDS_REFUTED ||
	    (j.refuted && words_run(&p->m, &p->words, 1, j.trips, NULL, NULL, &j.why))) {
		j.verdict = LEFT_OPEN; /* only the ends of letters are in the way: unknown */
		return j;
	}
	j.verdict = j.refuted ? AGREE_REFUTED : AGREE_PROVED;
	if (j.refuted && j.trips > MOST_TRIPS) {
		j.verdict = TOO_LARGE;
		return j;
	}
	int first = j.refuted ? j.trips : p->src.trips_lo;
	int last = j.refuted ? j.trips : p->src.trips_hi ? p->src.trips_hi : 3;
	for (int trips = first; trips <= last; trips++) {
		bool wrong = runs_wrong(r, p, trips);
		j.runs = runs_why(r);
		j.trips = trips;
		if (runs_full(r) && !wrong)
			j.verdict = TOO_LARGE;
		else if (wrong != j.refuted)
			j.verdict = DIFFERENT;
		if (j.verdict >= TOO_LARGE || runs_states(r) > MOST_STATES)
			return j;
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

/* Without one move after another, as long as it differs. */
static void shrink(Runs *r, Source *s, bool refuted)
{
	for (int a = 0; a < s->roles; a++)
		for (int part = 0; part < PARTS; part++)
			for (int i = 0; i < s->role[a].part[part].n;) {
				Source less = *s;
				Body *b = &less.role[a].part[part];
				memmove(&b->at[i], &b->at[i + 1],
					sizeof *b->at * (size_t)(b->n-- - i - 1));
				if (differs(r, &less, refuted))
					*s = less;
				else
					i++;
			}
}

static void print_different(Runs *r, Source s, int number, const Judged *j)
{
	static const char *const whys[] = {
		"",
#define WHY(id, code, text) #id,
#include "passes/check/whys.def"
	};
	printf("program %d, %d trips: the verifier says %s %s, the interleavings do not %s\n",
	       number, j->trips, j->refuted ? "refuted" : "proved", whys[j->why.id], j->runs);
	printf("agent %d other %d key %d cell %d n %d m %d step %d\n", j->why.agent, j->why.other,
	       j->why.key, j->why.cell, (int)j->why.n, (int)j->why.m,
	       j->why.step ? j->why.step->kind : -1);
	shrink(r, &s, j->refuted);
	source_print(&s);
}

/* ------------------------------------------------------------------ all */
static const struct {
	const char *name;
	StepKind kind[3];
} kinds[] = {
	{"2 CTAs", {0}},
	{"named barriers", {STEP_BAR, STEP_BAR_ARRIVE}},
	{"wgmma groups", {STEP_MMA}},
	{"bulk groups", {STEP_STORE}},
	{"groups or named", {STEP_BAR, STEP_MMA, STEP_STORE}},
};
enum { KINDS = COUNTOF(kinds), ALL = KINDS };
typedef int Tally[KINDS + 1][VERDICTS];

static bool is_of_kind(const Source *s, int kind)
{
	bool is = kind == ALL || (!kind && s->ctas == 2);
	for (int i = 0; kind && kind < KINDS && i < 3; i++)
		is |= kinds[kind].kind[i] && source_uses(s, kinds[kind].kind[i]);
	return is;
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
	for (int k = KINDS; k >= 0; k--)
		printf("%5d %s: %d proved, %d refuted, %d left open, %d too large, %d wrong\n",
		       total(t[k]), k == ALL ? "programs" : kinds[k].name, t[k][AGREE_PROVED],
		       t[k][AGREE_REFUTED], t[k][LEFT_OPEN], t[k][TOO_LARGE], t[k][DIFFERENT]);
}

/* Enough of each sort, and each of them decided. */
static bool is_good(Tally t, int n)
{
	bool good = !t[ALL][DIFFERENT] && !t[ALL][TOO_LARGE] && !t[ALL][LEFT_OPEN];
	for (int k = 0; k < KINDS + 1; k++)
		good &= t[k][AGREE_PROVED] >= total(t[k]) / 5 &&
			t[k][AGREE_REFUTED] >= total(t[k]) / 5;
	return good && 3 * total(t[0]) >= n && 3 * total(t[KINDS - 1]) >= n;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10000, only = argc > 3 ? atoi(argv[3]) : -1;
	Runs *r = runs_new();
	Tally t = {0};
	random_seed(argc > 2 ? (uint64_t)atoll(argv[2]) : 1);
	for (int i = 0; i < n && t[ALL][DIFFERENT] < 3; i++) {
		Arena *arena = arena_new();
		Source s = source_make();
		if (only < 0 || only == i) {
			Judged j = judge(r, prog_build(arena, &s));
			for (int k = 0; k < KINDS + 1; k++)
				t[k][j.verdict] += is_of_kind(&s, k);
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
	runs_free(r);
	return !is_good(t, n);
}
