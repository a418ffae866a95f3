/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_mutants - changes kernels at random and judges each mutant twice: by the verifier, for
 * all sizes, and by the stepper, in random interleavings at a few sizes. They must agree:
 *     stepper_mutants [-n MUTANTS] [-s SECONDS] [-r SEED] [-o ONLY] [-k KIND] [-v] KERNEL.ir...
 *     stepper_mutants [-h 0|1] -u KERNEL.ir...      each as it stands (halves.h)
 * What is proved fails in none of 200 interleavings at five sizes; what is refuted by a run fails
 * at the sizes that are shown. Mutant i of a seed is the same in every call. */
#include "halves.h"
#include "stepper_change.h"
#include "verify/check.h"
#include "stepper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	SIZES = 5,
	INTERLEAVINGS = 40,
	FEW = 4, /* where another test looks at more */
	POOL = 24,
	REPLAYS = 1000,
	FORMS = 8, /* one mutant in so many is of a form */
	MOST_SMS = 4096,
	KERNELS = 512,
	MOST_SLOTS = 9,
	MOST_WHYS = 8,
	MANY = 100
};

typedef enum { PROVED, REFUTED, REFUTED_SILENT, UNDECIDED, NO_KERNEL, WRONG, VERDICTS } Verdict;
static const char *const verdict_names[VERDICTS] = {
	"proved",  "refuted by a run", "refuted without one",
	"neither", "no kernels",       "judged differently"};

typedef struct {
	const char *file;
	char *text;
	size_t size;
	int slots;
	Ctx *c;
	int npool;
	Sizes pool[POOL];
	bool good[POOL];
} Base;

typedef struct {
	int mutants, kernels, half, given;
	double seconds;
	uint64_t seed;
	int only;
	const char *kind; /* of changes; NULL: all */
	bool verbose, unchanged;
	Arena *arena; /* of a trace */
	Base base[KERNELS];
	int total[VERDICTS];
	int skipped;           /* sizes that give no run */
	double proof, slowest; /* processor time of the verifier: of the last, of the slowest one */
	int slowest_number;
} Judge;

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------ the stepper's word */
/* The first interleaving that fails; false: none does, or the sizes give no run. */
static bool fails_at(Judge *j, const Kernel *k, const Sizes *s, int runs, uint64_t seed,
		     Finding *out)
{
	const char *why = NULL;
	PtxTrace *t = stepper_trace(j->arena, k, s, &why);
	bool fails = false;
	j->skipped += !t;
	for (int i = 0; t && i < runs && !fails; i++)
		fails = !stepper_run(t, seed + (uint64_t)i, out);
	arena_reset(j->arena);
	return fails;
}

static void print_sizes(const Sizes *s)
{
	for (int i = 0; i < s->n; i++)
		printf(" %s=%lld", s->at[i].name, (long long)s->at[i].value);
	printf(" sms=%d cluster=%d lane=%d: %d tiles of %d trips", (int)s->sms, (int)s->cluster,
	       s->leader, s->tiles, s->trips);
}

/* Small, large and odd: at most one lap, several, none. */
static void make_sizes(Base *b, const Kernel *k, uint64_t seed, int n)
{
	b->npool = n;
	for (int i = 0; i < n; i++) {
		Random r = {seed * 977 + (uint64_t)i};
		random_under(&r, 2);
		int tiles = 1 + random_under(&r, 6);
		int trips = i % 4 == 3 ? random_under(&r, 3) : random_under(&r, 2 * b->slots + 3);
		b->good[i] = stepper_sizes(k, seed + (uint64_t)i, tiles, trips, false, &b->pool[i]);
	}
}

static bool some_sizes(const Kernel *k, const Base *b, int i, Sizes *out)
{
	*out = b->pool[i % b->npool];
	for (int n = 0; n < out->n; n++)
		out->at[n].name = ctx_str(k->ctx, out->at[n].name);
	return b->good[i % b->npool];
}

static bool fails_somewhere(Judge *j, const Kernel *k, const Base *b, uint64_t seed, Sizes *at,
			    Finding *out)
{
	for (int i = 0; i < SIZES; i++)
		if (some_sizes(k, b, (int)(seed % (unsigned)b->npool) + i, at) &&
		    fails_at(j, k, at, j->unchanged ? FEW : INTERLEAVINGS,
			     seed + (uint64_t)(i * INTERLEAVINGS), out))
			return true;
	return false;
}

/* ------------------------------------------------------------------ the verifier's word */
/* The note of a refutation: "the shortest run that shows it has 3 tiles of 2 trips, D_by_tma is 0,
 * with M = 64, K = 128, 2 CTAs, in cluster 1"; of several loops "a run that shows it, with M = 64,
 * ..", of trip counts that differ "so no role can go on: .., with M = 64, ..". */
static const char *run_of(const Ctx *c)
{
	for (const DiagMsg *m = diag_first(c); m; m = m->next)
		for (const DiagMsg *n = m->notes; n; n = n->next)
			if (strstr(n->text, "run that shows it") || !strncmp(n->text, "so ", 3))
				return n->text;
	return NULL;
}

/* The number behind "name" and `is` in the note's first line, or otherwise. */
static int64_t number_in(const char *note, const char *name, const char *is, int64_t otherwise)
{
	size_t n = strlen(name), m = strlen(is), end = strcspn(note, "\n");
	for (const char *s = note; s + n + m < note + end; s++)
		if (s[0] == ' ' && !strncmp(s + 1, name, n) && !strncmp(s + 1 + n, is, m))
			return atoll(s + 1 + n + m);
	return otherwise;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The number before a word, where that comes last behind one in the first line. */
static int64_t number_before(const char *note, const char *word)
{
	const char *s = NULL, *end = note + strcspn(note, "\n"), *at = strstr(note, word);
	for (; at && at < end; at = strstr(at + 1, word))
		s = at > note && is_digit(at[-1]) ? at : s;
	while (s && s > note && is_digit(s[-1]))
		s--;
	return s ? atoll(s) : 0;
}

/* As many SMs as make that many CTAs. */
static bool find_sms(const Kernel *k, Sizes *s, int64_t ctas)
{
	Arena *arena = arena_new();
	int64_t n = 0;
	for (s->sms = 0; n != ctas && s->sms < MOST_SMS;) {
		LaneNames *names = names_new(arena);
		s->sms++;
		names_of_sizes(names, k->ctx, s);
		n = launch_ctas(k, names);
	}
	arena_free(arena);
	return n == ctas;
}

static void bind(Sizes *s, const char *name, int64_t v)
{
	if (s->n == MOST_NAMES)
		return;
	s->at[s->n].name = name;
	s->at[s->n++].value = v;
}

/* "where groups.at finds 0, 65, 65, ..", "where groups.count finds 2": the last goes on. */
static void bind_found(const char *note, Sizes *s)
{
	const char *at = strstr(note, "groups.count finds "), *end = note + strcspn(note, "\n");
	s->heights = at && at < end ? atoll(at + strlen("groups.count finds ")) : 0;
	at = strstr(note, "groups.at finds ");
	if (!at || at > end)
		return;
	at += strlen("groups.at finds ");
	for (int i = 0; i < MOST_LENGTHS; i++) {
		s->length[i] = is_digit(*at) ? atoll(at) : s->length[i - (i > 0)];
		at += strspn(at, "0123456789");
		at += strspn(at, ", ");
	}
}

/* The sizes of the note. */
static bool sizes_of_run(const Kernel *k, const char *note, Sizes *s)
{
	*s = (Sizes){.tiles = (int)number_before(note, " tile"),
		     .trips = (int)number_before(note, " trip")};
	for (int i = 0; i < k->syms.n; i++)
		bind(s, k->syms.at[i].name,
		     number_in(note, k->syms.at[i].name, " = ", k->syms.at[i].lo));
	for (const Op *op = k->body.first; op; op = op->next)
		for (int i = 0; op->kind == OP_TMAP && i < op->nsym; i++)
			bind(s, op->sym[i], number_in(note, op->sym[i], " is ", 1));
	bind_found(note, s);
	s->cluster = number_in(note, "in cluster", " ", number_in(note, "in CTA", " ", 0));
	return find_sms(k, s, number_before(note, " CTA"));
}

/* Whether the refutation's run fails here too, whichever lane elect takes. */
static bool replays(Judge *j, const Kernel *k, uint64_t seed, Sizes *at, Finding *out)
{
	static const int leaders[] = {0, 1, LANES - 1, 13};
	if (!sizes_of_run(k, run_of(k->ctx), at))
		return false;
	for (int i = 0; i < (int)COUNTOF(leaders); i++) {
		at->leader = leaders[i];
		if (fails_at(j, k, at, 2 * INTERLEAVINGS, seed + (uint64_t)(i * REPLAYS), out))
			return true;
	}
	return false;
}

static Verdict judge(Judge *j, const Kernel *k, const Base *b, uint64_t seed, Sizes *at,
		     Finding *out, const char **why)
{
	CheckResult r;
	double start = now(CLOCK_PROCESS_CPUTIME_ID);
	CheckVerdict verdict = check_kernel(k, NULL, &r);
	j->proof = now(CLOCK_PROCESS_CPUTIME_ID) - start;
	switch (verdict) {
	case CHECK_PROVED:
		*why = "proved, and fails";
		return fails_somewhere(j, k, b, seed, at, out) ? WRONG : PROVED;
	case CHECK_REFUTED:
		*why = r.why;
		if (!run_of(k->ctx))
			return REFUTED_SILENT;
		return replays(j, k, seed, at, out) ? REFUTED : WRONG;
	default:
		return UNDECIDED;
	}
}

/* ------------------------------------------------------------------ mutants */
static void print_kernel(const Kernel *k, const char *name)
{
	Buf b = {0};
	FILE *f = fopen(name, "w");
	kernel_print(k, &b);
	if (f) {
		fwrite(b.s, 1, b.n, f);
		fclose(f);
	}
	buf_free(&b);
}

static Kernel *read_kernel(Ctx *c, const Base *b)
{
	Module *m = module_parse(c, ctx_src(c, b->file, b->text, b->size));
	return m && m->kernels.n ? m->kernels.at[0] : NULL;
}

/* number: of the mutant; -1: none, the kernel is as it stands. */
static Verdict one(Judge *j, const Base *b, int number, Random *r)
{
	Ctx *c = ctx_new();
	Kernel *k = read_kernel(c, b);
	Buf text = {0};
	Verdict v = NO_KERNEL;
	const char *why = NULL;
	bool ok = k != NULL;
	for (int i = number < 0 ? 0 : random_under(r, 4) ? 1 : 2; i > 0 && ok; i--)
		ok = change_random(k, r, j->kind, number % FORMS == FORMS - 1, &text);
	Sizes at = {0};
	Finding found = {0};
	j->proof = 0;
	if (j->only >= 0 && ok)
		print_kernel(k, "mutant.ir"); /* also of one that takes for ever */
	if (ok && kernel_verify(k, &why))
		v = judge(j, k, b, r->state >> 8, &at, &found, &why);
	if (j->proof > j->slowest) {
		j->slowest = j->proof;
		j->slowest_number = number;
	}
	if (v == WRONG || j->verbose)
		printf("%s mutant %d of seed %llu, %.2f s, %s: %s: %s\n",
		       v == WRONG ? "WRONG" : "     ", number, (unsigned long long)j->seed,
		       j->proof, b->file, verdict_names[v], text.n ? text.s : "as it stands");
	if (v == WRONG) {
		printf("  %s: %s %s; at", why, found.what ? found.what : "and nothing fails",
		       found.what ? found.text : "");
		print_sizes(&at);
		printf("\n");
		fflush(stdout);
	}
	buf_free(&text);
	ctx_free(c);
	return v;
}

static Verdict one_mutant(Judge *j, int number)
{
	Random r = {j->seed * 1000003u + (uint64_t)number};
	for (int i = 0; i < 3; i++)
		random_under(&r, 2);
	return one(j, &j->base[random_under(&r, j->kernels)], number, &r);
}

/* ------------------------------------------------------------------ all */
static int most_slots(const Kernel *k)
{
	int64_t most = 1;
	for (const Op *op = k->body.first; op; op = op->next)
		if (op->kind == OP_MBARRIER && attrs_int(&op->attrs, A_SLOTS, 1) > most)
			most = attrs_int(&op->attrs, A_SLOTS, 1);
	return most > MOST_SLOTS ? MOST_SLOTS : (int)most;
}

/* Text that is no kernel has no sizes either. */
static bool read_base(Judge *j, const char *file)
{
	enum { MOST = 1 << 20 };
	Base *b = &j->base[j->kernels];
	FILE *f = j->kernels < KERNELS ? fopen(file, "r") : NULL;
	if (!f) {
		fprintf(stderr, "%s: not read; up to %d kernels are\n", file, KERNELS);
		return false;
	}
	*b = (Base){.file = file, .text = malloc(MOST), .c = ctx_new()};
	b->size = fread(b->text, 1, MOST - 1, f);
	fclose(f);
	Kernel *k = read_kernel(b->c, b);
	if (k) {
		b->slots = most_slots(k);
		make_sizes(b, k, j->seed, j->unchanged ? SIZES : POOL);
	}
	j->kernels++;
	return true;
}

/* Of a kernel that is wrong as it stands mutants say nothing. */
static bool judge_bases(Judge *j)
{
	Random r = {j->seed};
	for (int i = 0; i < j->kernels; i++)
		j->total[one(j, &j->base[i], -1, &r)]++;
	return j->total[PROVED] == j->kernels;
}

static void print_total(const Judge *j, int n, double seconds)
{
	printf("%d of %d kernels, seed %llu, %.0f s:", n, j->kernels, (unsigned long long)j->seed,
	       seconds);
	for (int v = 0; v < VERDICTS; v++)
		printf("%s %d %s", v ? "," : "", j->total[v], verdict_names[v]);
	printf("; the slowest proof, of %d, took %.1f s\n", j->slowest_number, j->slowest);
}

static bool read_options(Judge *j, int argc, char **argv)
{
	bool good = true;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-v") == 0)
			j->verbose = true;
		else if (strcmp(argv[i], "-u") == 0)
			j->unchanged = true;
		else if (strcmp(argv[i], "-h") == 0 && i + 1 < argc)
			j->half = atoi(argv[++i]);
		else if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
			j->mutants = atoi(argv[++i]);
		else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc)
			j->seconds = atof(argv[++i]);
		else if (strcmp(argv[i], "-r") == 0 && i + 1 < argc)
			j->seed = (uint64_t)atoll(argv[++i]);
		else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
			j->only = atoi(argv[++i]);
		else if (strcmp(argv[i], "-k") == 0 && i + 1 < argc)
			j->kind = argv[++i];
		else if (in_half(j->half, j->given++))
			good &= read_base(j, argv[i]);
	}
	return good && j->kernels;
}

static bool judge_mutants(Judge *j, double start)
{
	int n = 0;
	if (!judge_bases(j))
		return false;
	memset(j->total, 0, sizeof j->total);
	for (; n < j->mutants && now(CLOCK_MONOTONIC) - start < j->seconds; n++)
		j->total[one_mutant(j, n)]++;
	print_total(j, n, now(CLOCK_MONOTONIC) - start);
	/* Most mutants are kernels, and both judges have their say on many of many. */
	bool both = 5 * j->total[PROVED] >= n / 2 && 5 * j->total[REFUTED] >= n / 2;
	return !j->total[WRONG] && (both || j->kind || n < MANY);
}

int main(int argc, char **argv)
{
	static Judge j = {.mutants = 1000, .half = WHOLE, .seed = 1, .only = -1, .seconds = 1e9};
	double start = now(CLOCK_MONOTONIC);
	setvbuf(stdout, NULL, _IOLBF, 0); /* so that one that takes long is the next */
	j.arena = arena_new();
	bool good = read_options(&j, argc, argv);
	if (good && j.only >= 0)
		good = one_mutant(&j, j.only) != WRONG;
	else if (good && !j.unchanged)
		good = judge_mutants(&j, start);
	else if (good) {
		judge_bases(&j);
		print_total(&j, j.kernels, now(CLOCK_MONOTONIC) - start);
		good = !j.total[WRONG] && 4 * j.total[PROVED] >= j.kernels / 2 &&
		       4 * j.total[REFUTED] >= j.kernels / 2;
	}
	for (int i = 0; i < j.kernels; i++) {
		ctx_free(j.base[i].c);
		free(j.base[i].text);
	}
	arena_free(j.arena);
	return !good;
}
