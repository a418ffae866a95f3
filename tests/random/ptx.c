/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptx.c - random PTX programs on the simulator: each is taken by ptxas (where there is one), runs
 * without a report under several orders, and leaves what its evaluation in C leaves. Then its text
 * is damaged, word by word: whatever that is, it is refused or runs, and never crashes or hangs.
 *   random_ptx --count N SEED      N programs
 *   random_ptx SECONDS SEED        as many as there is time for
 *   random_ptx --print SEED        one program */
#include "ptx.h"
#include "sim/sim.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ORDERS = 3, DAMAGES = 12, BATCH = 20, TEXT = 1 << 18, SPARE = 4096, SECONDS_EACH = 60 };

static const char head[] = ".version 8.7\n.target sm_90a\n.address_size 64\n";
static uint64_t current;
static const char *doing = "making";

static void died(int sig)
{
	char text[128];
	int n = snprintf(text, sizeof text, "random_ptx: seed %llu: %s ended by signal %d%s\n",
			 (unsigned long long)current, doing, sig, sig == SIGALRM ? " (hangs)" : "");
	if (write(2, text, (size_t)n) < 0)
		_exit(3);
	_exit(2);
}

/* ------------------------------------------------------------------ data */
static uint32_t some_float(uint64_t *s)
{
	static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000,
					   0x7fc00000, 0x3f800000, 0x00000001, 0x807fffff,
					   0x00800000, 0x7f7fffff};
	int i = random_below(s, 40);
	if (i < 10)
		return special[i];
	return i < 20 ? (uint32_t)random_next(s)
		      : (uint32_t)(random_next(s) & 0x83ffffff) | 0x3c000000;
}

static void data_fill(Data *d, uint64_t seed)
{
	uint64_t s = seed * 77 + 1;
	memset(d, 0, sizeof *d);
	for (int t = 0; t < MOST_THREADS; t++) {
		State *in = &d->in[t];
		for (int i = 0; i < 8; i++)
			in->r[i] = (uint32_t)random_next(&s) >> random_below(&s, 32);
		for (int i = 0; i < 4; i++) {
			in->d[i] = random_next(&s) >> random_below(&s, 64);
			in->f[i] = some_float(&s);
			in->p[i] = (uint32_t)random_next(&s) & 1;
		}
		for (int i = 0; i < PRIVATE; i++)
			d->memory[t][i] = (uint8_t)random_next(&s);
	}
	for (int i = 0; i < ACCUMULATORS; i++)
		d->sums[i] = i == 7 ? random_next(&s) : (uint32_t)random_next(&s);
}

static bool float_same(uint32_t a, uint32_t b)
{
	bool nan_a = (a & 0x7fffffff) > 0x7f800000, nan_b = (b & 0x7fffffff) > 0x7f800000;
	return a == b || (nan_a && nan_b);
}

static bool state_same(const State *a, const State *b)
{
	bool same = !memcmp(a->r, b->r, sizeof a->r) && !memcmp(a->d, b->d, sizeof a->d) &&
		    !memcmp(a->p, b->p, sizeof a->p);
	for (int i = 0; i < 4; i++)
		same &= float_same(a->f[i], b->f[i]);
	return same;
}

static bool data_same(const Program *p, const Data *want, const Data *got)
{
	bool same = !memcmp(want->memory, got->memory, sizeof want->memory) &&
		    !memcmp(want->sums, got->sums, sizeof want->sums);
	for (int i = 0; i < p->threads * p->ctas; i++)
		same &= state_same(&want->out[i], &got->out[i]);
	return same;
}

/* ------------------------------------------------------------------ runs */
typedef struct {
	struct Memory *m;
	struct SimModule *mod;
	u64 at;
	char why[600];
} Bench;

static bool bench_open(Bench *b, const char *text, size_t size)
{
	b->m = sim_memory_new();
	b->mod = sim_load(b->m, text, size, b->why, sizeof b->why);
	b->at = sim_alloc(b->m, sizeof(Data) + SPARE);
	return b->mod;
}

static void bench_close(Bench *b)
{
	sim_unload(b->mod);
	sim_memory_free(b->m);
}

/* The data after a run under one order; false: a report, or it could not be started. */
static bool bench_run(Bench *b, const Program *p, const char *kernel, Data *d, u64 seed, u64 steps)
{
	void *host = sim_host(b->m, b->at, sizeof *d);
	u64 params[] = {b->at + offsetof(Data, in), b->at + offsetof(Data, out),
			b->at + offsetof(Data, memory), b->at + offsetof(Data, sums)};
	SimLaunch l = {.module = b->mod,
		       .kernel = kernel,
		       .grid = {(u32)p->ctas, 1, 1},
		       .block = {(u32)p->threads, 1, 1},
		       .params = params,
		       .param_bytes = sizeof params};
	SimOptions o = {.seed = seed, .checks = CHECK_ALL, .threads = 1, .max_steps = steps};
	SimResult r;
	memcpy(host, d, sizeof *d);
	if (!sim_run(b->m, &l, &o, &r, b->why, sizeof b->why))
		return false;
	bool clean = !r.n;
	if (!clean)
		snprintf(b->why, sizeof b->why, "line %d: %s: %s", r.reports[0].ptx_line,
			 sim_kind_word(r.reports[0].kind), r.reports[0].text);
	sim_result_free(&r);
	memcpy(d, host, sizeof *d);
	return clean;
}

static size_t program_text(const Program *p, const char *name, char *to)
{
	FILE *f = fmemopen(to, TEXT, "w");
	fputs(head, f);
	program_print(p, name, f);
	long n = ftell(f);
	fclose(f);
	return (size_t)n;
}

static bool differs(const Program *p, const Data *want, const Data *got, char *why, size_t room)
{
	if (data_same(p, want, got))
		return false;
	snprintf(why, room, "another result");
	for (int t = p->threads * p->ctas - 1; t >= 0; t--)
		if (!state_same(&want->out[t], &got->out[t]))
			snprintf(why, room, "thread %d leaves other registers", t);
	return true;
}

static bool program_holds(const Program *p, const char *text, size_t size)
{
	static Data want, got;
	Bench b = {0};
	data_fill(&want, current);
	program_eval(p, &want);
	bool ok = bench_open(&b, text, size);
	for (u64 seed = 0; seed < ORDERS && ok; seed++) {
		data_fill(&got, current);
		ok = bench_run(&b, p, "k", &got, seed, 0) &&
		     !differs(p, &want, &got, b.why, sizeof b.why);
	}
	if (!ok)
		printf("seed %llu: %s\n", (unsigned long long)current, b.why);
	bench_close(&b);
	return ok;
}

/* ------------------------------------------------------------------ damage */
static bool word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '%' || c == '_' || c == '.';
}

static size_t word_at(const char *text, size_t size, size_t *at)
{
	while (*at < size && text[*at] <= ' ')
		++*at;
	size_t n = *at < size;
	while (*at + n < size && word_char(text[*at]) && word_char(text[*at + n]))
		n++;
	return n;
}

/* A word is dropped, said twice, or takes the place of another, or of one from outside. */
static size_t damage(uint64_t *s, const char *text, size_t size, char *to)
{
	static const char *const outside[] = {"-1",         "0",     "18446744073709551615",
					      "4294967296", "%r7",   "%p9",
					      ";",          "{",     "}",
					      "[",          "]",     ",",
					      ".v4",        ".reg",  "ret",
					      "bra LOOP0",  ".b128", ".pred",
					      "bar.sync",   "call",  "|",
					      "0f7fc00000"};
	size_t a = (size_t)random_below(s, (int)size), b = (size_t)random_below(s, (int)size);
	size_t n = word_at(text, size, &a), m = word_at(text, size, &b);
	const char *by = text + b;
	int how = random_below(s, 4);
	if (how == 0)
		m = 0;
	else if (how == 1)
		by = text + a, m = 0;
	else if (how == 2)
		by = outside[random_below(s, 22)], m = strlen(by);
	memcpy(to, text, a + (how == 1 ? n : 0));
	size_t end = a + (how == 1 ? n : 0);
	memcpy(to + end, by, m);
	end += m;
	size_t rest = a + (how == 1 ? 0 : n);
	memcpy(to + end, text + rest, size - rest);
	return end + size - rest;
}

/* Nothing is asked of what comes out but that it comes to an end. */
static void damaged_run(const Program *p, const char *text, size_t size)
{
	static char other[2][TEXT + SPARE];
	static Data data;
	uint64_t s = current ^ 0x5555;
	for (int i = 0; i < DAMAGES; i++) {
		size_t n = damage(&s, text, size, other[0]);
		for (int more = random_below(&s, 3); more > 0; more--) {
			n = damage(&s, other[0], n, other[1]);
			memcpy(other[0], other[1], n);
		}
		Bench b = {0};
		data_fill(&data, current);
		if (bench_open(&b, other[0], n) && sim_kernel_find(b.mod, "k") && b.at)
			bench_run(&b, p, "k", &data, 1, 20000);
		bench_close(&b);
	}
}

/* ------------------------------------------------------------------ ptxas */
static FILE *batch;
static char batch_path[64];

static bool batch_end(const char *ptxas)
{
	char command[256];
	if (!batch)
		return true;
	fclose(batch);
	batch = NULL;
	snprintf(command, sizeof command, "'%s' -arch=sm_90a -O0 -o /dev/null '%s' >/dev/null 2>&1",
		 ptxas, batch_path);
	bool ok = system(command) == 0;
	if (ok)
		unlink(batch_path);
	else
		printf("ptxas refuses %s, of programs up to seed %llu\n", batch_path,
		       (unsigned long long)current);
	return ok;
}

static void batch_add(const Program *p)
{
	char name[32];
	if (!batch) {
		snprintf(batch_path, sizeof batch_path, "/tmp/random_ptx.XXXXXX");
		int fd = mkstemp(batch_path);
		batch = fd >= 0 ? fdopen(fd, "w") : NULL;
		if (!batch)
			return;
		fputs(head, batch);
	}
	snprintf(name, sizeof name, "k%llu", (unsigned long long)current);
	program_print(p, name, batch);
}

/* ------------------------------------------------------------------ */
static bool one(const char *ptxas)
{
	static char text[TEXT];
	doing = "making";
	alarm(SECONDS_EACH);
	Program *p = program_make(current);
	size_t size = program_text(p, "k", text);
	doing = "the program";
	bool ok = program_holds(p, text, size);
	doing = "a damaged text";
	damaged_run(p, text, size);
	alarm(0);
	if (ptxas)
		batch_add(p);
	program_free(p);
	return ok;
}

static int all(long count, double seconds, uint64_t seed)
{
	const char *named = getenv("RANDOM_PTX_PTXAS"), *ptxas = named && *named ? named : NULL;
	struct timespec from, now;
	long n = 0, bad = 0;
	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		current = seed + (uint64_t)n++;
		bad += !one(ptxas);
		if (n % BATCH == 0)
			bad += !batch_end(ptxas);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (count ? n < count : (double)(now.tv_sec - from.tv_sec) < seconds);
	bad += !batch_end(ptxas);
	printf("%ld programs, %d orders and %d damaged texts each, %ld failures\n", n, ORDERS,
	       DAMAGES, bad);
	return bad != 0;
}

int main(int argc, char **argv)
{
	signal(SIGALRM, died);
#ifndef __SANITIZE_ADDRESS__
	signal(SIGSEGV, died);
	signal(SIGABRT, died);
	signal(SIGFPE, died);
#endif
	if (argc == 3 && strcmp(argv[1], "--print") == 0) {
		Program *p = program_make(strtoull(argv[2], NULL, 0));
		fputs(head, stdout);
		program_print(p, "k", stdout);
		program_free(p);
		return 0;
	}
	if (argc == 4 && strcmp(argv[1], "--count") == 0)
		return all(strtol(argv[2], NULL, 0), 0, strtoull(argv[3], NULL, 0));
	if (argc == 3)
		return all(0, strtod(argv[1], NULL), strtoull(argv[2], NULL, 0));
	fputs("usage: random_ptx --count N SEED | SECONDS SEED | --print SEED\n", stderr);
	return 2;
}
