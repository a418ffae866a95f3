/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Deletes synchronising instructions of a kernel, one at a time, and asks whether the simulator
 * refutes what is left: by a report or by a wrong result, under some of a few orders. Of each kind
 * that is the first, the sixth, the eleventh and so on, and the kernel as it is runs under three
 * orders; with EVERY=1 in the environment, each, and all.
 *   mutate CUBIN IR SMS NAME=SIZE...      prints each survivor, and a count; exits with 1 if any
 * The kernel runs as asked and, where there is a size K, with K = 0, where no copy orders anything.
 * A line of the cubin's PTX is blanked in place; a wait becomes "true", and a load 0. Not deleted
 * are what gives speed or room and orders nothing: griddepcontrol.launch_dependents and
 * setmaxnreg.inc. */
#include "check/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 8, FEW_SEEDS = 3, APART = 5 };

typedef struct {
	Problem p[2]; /* as asked, and with K = 0; their data and references are made once */
	int np;
	char *cubin, *ptx;
	size_t size;
	int mutants, refuted, survived;
	int apart, met[24]; /* of each row of ops */
} Mutate;

/* What may be deleted, by the start of the instruction. */
static const char *const ops[] = {
	"mbarrier.init",
	"mbarrier.try_wait",
	"mbarrier.arrive.expect_tx",
	"mbarrier.arrive",
	"mbarrier.",
	"fence.proxy",
	"fence.",
	"bar.sync",
	"bar.arrive",
	"barrier.cluster.",
	"wgmma.fence",
	"wgmma.commit_group",
	"wgmma.wait_group",
	"cp.async.mbarrier.",
	"cp.async.bulk.commit_group",
	"cp.async.bulk.wait_group",
	"setmaxnreg.dec",
	"griddepcontrol.wait",
	"red.release.gpu",
	"ld.acquire.gpu",
};
_Static_assert(COUNTOF(ops) <= COUNTOF(((Mutate *)0)->met), "a count for each row");

static char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	char *s = malloc(1 << 22);
	*size = f && s ? fread(s, 1, (1 << 22) - 1, f) : 0;
	if (f)
		fclose(f);
	if (s)
		s[*size] = 0;
	return s;
}

/* Where an instruction that may go starts in [line, end), and its row; NULL: there is none. */
static char *op_at(char *line, const char *end, size_t *row)
{
	char *s = line;
	while (s < end && (*s == ' ' || *s == '\t' || *s == '{'))
		s++;
	if (*s == '@')
		while (s < end && *s != ' ')
			s++;
	while (s < end && *s == ' ')
		s++;
	for (*row = 0; *row < COUNTOF(ops); ++*row)
		if (strncmp(s, ops[*row], strlen(ops[*row])) == 0)
			return s;
	return NULL;
}

/* One instruction from at on becomes blanks, or for a wait a predicate that is true. */
static void blank(char *at)
{
	char with[64] = "";
	size_t n = strcspn(at, ";") + 1;
	const char *p = strstr(at, "%p");
	if (strncmp(at, "mbarrier.try_wait", 17) == 0 && p && p < at + n)
		snprintf(with, sizeof with, "setp.eq.u32 %.*s, 0, 0;",
			 (int)strspn(p, "%p0123456789"), p);
	const char *loaded = strstr(at, "%rd");
	if (strncmp(at, "ld.acquire", 10) == 0 && loaded && loaded < at + n)
		snprintf(with, sizeof with, "mov.b64 %.*s, 0;",
			 (int)strspn(loaded, "%rd0123456789"), loaded);
	memset(at, ' ', n);
	memcpy(at, with, strlen(with));
}

/* One order of one problem; why is empty when nothing is wrong. */
static bool fails(Mutate *m, Problem *p, int seed, char *why, size_t room)
{
	char device[96];
	dsl_module *mod = NULL;
	snprintf(device, sizeof device,
		 "sim:seed=%d,steps=3000000,reports=1,checks=all,warps,portability", seed);
	if (dsl_device_open(device, &p->dev))
		return false;
	dsl_status st = dsl_module_load_data(p->dev, m->cubin, m->size, &mod);
	if (!st)
		st = problem_launch(p, mod);
	snprintf(why, room, "%s", st ? dsl_detail() : "");
	for (int i = 0; i < p->nt && !st && !*why; i++)
		if (p->t[i].is_out)
			snprintf(why, room, "%s", compare(p, &p->t[i]).wrong);
	problem_free_device(p);
	dsl_device_close(p->dev);
	p->dev = NULL;
	return *why != 0;
}

/* Whether the kernel as it stands is refuted by some order. */
static bool refuted(Mutate *m, int seeds, char *why, size_t room)
{
	for (int seed = 0; seed < seeds; seed++)
		for (int i = 0; i < m->np; i++)
			if (fails(m, &m->p[i], seed, why, room))
				return true;
	return false;
}

static void mutant(Mutate *m, char *at, int line)
{
	char saved[4096], why[512];
	size_t n = strcspn(at, ";") + 1;
	if (n > sizeof saved)
		return;
	memcpy(saved, at, n);
	blank(at);
	m->mutants++;
	bool found = refuted(m, SEEDS, why, sizeof why);
	m->refuted += found;
	m->survived += !found;
	if (!found || getenv("MUTATE_VERBOSE"))
		printf("%s: line %d: %.*s  %.120s\n", found ? "refuted" : "SURVIVED", line,
		       (int)(n < 90 ? n : 90), saved, found ? why : "");
	memcpy(at, saved, n);
}

static void each_mutant(Mutate *m)
{
	int number = 1;
	for (char *line = m->ptx; *line; number++) {
		char *end = line + strcspn(line, "\n");
		for (char *at = line; at && at < end;) {
			size_t row;
			char *op = op_at(at, end, &row);
			if (op && m->met[row]++ % m->apart == 0)
				mutant(m, op, number);
			at = memchr(op ? op : at, ';', (size_t)(end - (op ? op : at)));
			at = at ? at + 1 : NULL;
		}
		line = *end ? end + 1 : end;
	}
}

static bool sizes_read(Arena *a, ProblemSpec *o, char **args, int n)
{
	for (int i = 0; i < n; i++) {
		char *value = strchr(args[i], '=');
		if (!value)
			return false;
		*value++ = 0;
		vec_push(a, &o->sizes, ((SizeArg){args[i], atoi(value)}));
	}
	return n > 0;
}

/* With K = 0 too, where the kernel has a K. */
static bool problems_open(Mutate *m, const char *ir, ProblemSpec *o, const char **why)
{
	bool ok = problem_open(&m->p[m->np++], ir, o, why);
	for (int i = 0; i < o->sizes.n && ok && m->np == 1; i++) {
		if (strcmp(o->sizes.at[i].name, "K") != 0)
			continue;
		o->sizes.at[i].value = 0;
		ok = problem_open(&m->p[m->np++], ir, o, why);
	}
	for (int i = 0; i < m->np && ok; i++) {
		problem_choose(&m->p[i], o);
		problem_fill(&m->p[i], DATA_INTEGERS, 1);
		ok = problem_reference(&m->p[i], why);
	}
	return ok;
}

/* The mutants have another. */
static void forget_checksum(Mutate *m)
{
	const char *manifest = NULL;
	size_t n;
	dsl_cubin_section(m->cubin, m->size, ".dslc.manifest", &manifest, &n);
	const char *key = manifest ? strstr(manifest, "\"checksum\"") : NULL;
	if (key)
		m->cubin[key - m->cubin + 1] = 'x';
}

int main(int argc, char **argv)
{
	const char *every = getenv("EVERY");
	Mutate m = {.apart = every && !strcmp(every, "1") ? 1 : APART};
	const char *why = "no IR", *ptx = NULL;
	size_t n;
	char text[512];
	Arena *a = arena_new();
	ProblemSpec o = {.sms = argc > 3 ? atoi(argv[3]) : 0, .tiles = -1};
	if (argc < 5 || !sizes_read(a, &o, argv + 4, argc - 4)) {
		fprintf(stderr, "mutate CUBIN IR SMS NAME=SIZE...\n");
		return 255;
	}
	m.cubin = read_file(argv[1], &m.size);
	char *ir = read_file(argv[2], &n);
	bool ready = m.cubin && ir && problems_open(&m, ir, &o, &why);
	if (!ready || dsl_cubin_section(m.cubin, m.size, ".dslc.ptx", &ptx, &n)) {
		printf("%s: %s\n", argv[1], ready ? dsl_detail() : why);
		return 255;
	}
	m.ptx = m.cubin + (ptx - m.cubin);
	forget_checksum(&m);
	bool wrong = refuted(&m, m.apart == 1 ? SEEDS : FEW_SEEDS, text, sizeof text);
	if (wrong) {
		printf("%s: refuted as it is: %s\n", argv[1], text);
	} else {
		each_mutant(&m);
		printf("%d of %d deletions refuted\n", m.refuted, m.mutants);
	}
	for (int i = 0; i < m.np; i++)
		problem_close(&m.p[i]);
	free(m.cubin);
	free(ir);
	arena_free(a);
	return wrong ? 255 : m.survived || !m.mutants;
}
