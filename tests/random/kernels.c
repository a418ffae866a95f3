/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random_kernels - kernels and schedules made at random: each is compiled, must be proved, and runs
 * on the simulator at random sizes, with guards around its tensors, against the reference
 * interpreter: integers in every bit, normal numbers within the bounds of dslc run. Then each other
 * tensor gets the address of each output: where that is read in place the result must be the same,
 * elsewhere the launch must be refused.
 *     random_kernels SECONDS [SEED]       as many as there is time for
 *     random_kernels --count N [SEED]
 *     random_kernels --prove N [SEED]     not run: at least 99 in 100 are proved, none is refuted
 *     random_kernels --show SEED          the kernel and its sizes
 *     random_kernels --write DIR N [SEED] N kernels with their sizes, for tests/gpu
 * Kernel i has the seed SEED + i. What is wrong is printed with all that makes it again. */
#include "chance.h"
#include "driver/compile.h"
#include "check/problem.h"
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { RIGHT, OPEN, TOO_LARGE, NOT_LAUNCHED, WRONG, VERDICTS } Outcome;
static const char *const outcome_names[VERDICTS] = {"right", "right but not proved",
						    "beyond registers or shared memory",
						    "refused at the launch", "wrong"};

typedef struct {
	uint64_t seed;
	Made made;
	Ctx *ctx;
	CompileOut out;
	char why[512];
	bool only_proved; /* not run */
	int aliases[2];   /* launches that must be refused, and that must run */
	bool is_full;     /* by the compiler's estimate, a consumer thread has no register left */
} Trial;

/* ------------------------------------------------------------------ one kernel */
static bool says(const Trial *t, DiagId id)
{
	const DiagMsg *m = diag_first(t->ctx);
	while (m && m->id != id)
		m = m->next;
	return m;
}

/* What a random schedule may ask for in vain: room, and staging where there is none. Local memory
 * that ptxas does not count as spills is want of room only where the estimate says so, products
 * that wait for each other where it spills as well. */
static bool may_be_refused(const Trial *t)
{
	bool spills = says(t, D_E0504);
	static const DiagId room[] = {D_E0401, D_E0402, D_E0403, D_E0406, D_E0407, D_E0504};
	for (const DiagMsg *m = diag_first(t->ctx); m; m = m->next) {
		bool may = diag_rows[m->id].severity != SEV_ERROR ||
			   (m->id == D_E0507 && t->is_full) || (m->id == D_E0505 && spills);
		for (size_t i = 0; i < COUNTOF(room); i++)
			may |= m->id == room[i];
		if (!may)
			return false;
	}
	return true;
}

/* What the verifier did not decide. */
static void said_open(Trial *t)
{
	for (const DiagMsg *m = diag_first(t->ctx); m; m = m->next)
		if (m->id == D_W0411 || m->id == D_W0412)
			snprintf(t->why, sizeof t->why, "%s", m->text);
}

/* "192 of register tiles and 50 for addresses", of 240 */
static void note_registers(void *user, const Kernel *k, const char *pass, bool changed)
{
	Trial *t = user;
	const Reason *r = kernel_why_find(k, REASON_REGISTERS, NULL);
	int tiles, beside;
	(void)pass, (void)changed;
	if (r && sscanf(r->text, "%d of register tiles and %d", &tiles, &beside) == 2)
		t->is_full = tiles + beside > r->value;
}

static SizeArgs made_sizes(Arena *a, const Trial *t)
{
	SizeArgs all = {0};
	for (int i = 0; i < t->made.nsizes; i++)
		vec_push(a, &all, ((SizeArg){t->made.sizes[i].name, t->made.sizes[i].value}));
	return all;
}

static Outcome compile_once(Trial *t)
{
	Source source = {"random.gemm", t->made.text.s, t->made.text.n, .is_ir = false};
	CompileOpt opt = {.emit = EMIT_BIT(t->only_proved ? EMIT_PTX : EMIT_CUBIN),
			  .ir_after = AFTER_LAST,
			  .stop_after = AFTER_LAST,
			  .only = -1,
			  .unproved = true,
			  .after = note_registers,
			  .user = t,
			  .cg = {.opt_level = 2}};
	Buf text = {0};
	t->ctx = ctx_new();
	SizeArgs sizes = made_sizes(ctx_arena(t->ctx), t);
	opt.sizes = &sizes;
	opt.nsizes = t->made.open;
	bool ok = compile_run(t->ctx, &source, &opt, &t->out);
	if (ok && t->out.verified.n)
		return RIGHT;
	if (ok) {
		said_open(t);
		return OPEN;
	}
	if (may_be_refused(t))
		return TOO_LARGE;
	diag_text(t->ctx, &text, false);
	snprintf(t->why, sizeof t->why, "does not compile\n%s", text.s ? text.s : "");
	buf_free(&text);
	return WRONG;
}

/* ptxas cannot keep all products in flight; then the remedy that E0505 names must help. */
static bool take_remedy(Trial *t)
{
	char *inflight = strstr(t->made.text.s, "inflight ");
	if (!says(t, D_E0505) || !inflight || inflight[9] == '0')
		return false;
	inflight[9] = '0';
	compile_out_free(&t->out);
	ctx_free(t->ctx);
	t->out = (CompileOut){0};
	return true;
}

static Outcome compile(Trial *t)
{
	Outcome outcome = compile_once(t);
	return outcome == WRONG && take_remedy(t) ? compile_once(t) : outcome;
}

static ProblemSpec trial_options(Arena *a, const Trial *t)
{
	return (ProblemSpec){.sms = t->made.sms, .seed = t->seed, .sizes = made_sizes(a, t)};
}

static bool wrong(Trial *t, const char *kind, const char *what)
{
	snprintf(t->why, sizeof t->why, "%s: %s", kind, what);
	return false;
}

static bool check_kind(Trial *t, Problem *p, dsl_module *mod, DataKind kind)
{
	const char *why = "", *label = kind == DATA_INTEGERS ? "integers" : "normal";
	char beside[256] = "";
	problem_fill(p, kind, t->seed);
	if (problem_launch(p, mod))
		return wrong(t, label, dsl_detail());
	if (!problem_reference(p, &why))
		return wrong(t, label, why);
	const Tensor *d = &p->t[p->nt - 1];
	while (!d->is_out)
		d--;
	Verdict v = compare(p, d);
	if (v.wrong[0])
		return wrong(t, label, v.wrong);
	if (problem_guards(p, beside, sizeof beside) || *beside)
		return wrong(t, label, *beside ? beside : dsl_detail());
	return true;
}

static bool check_data(Trial *t, Problem *p, dsl_module *mod)
{
	return check_kind(t, p, mod, DATA_INTEGERS) &&
	       (!t->made.linear || check_kind(t, p, mod, DATA_NORMAL));
}

/* ------------------------------------------------------------------ aliases */
/* Whether input i may have the address of output o: the IR says that each tile is read first. */
static bool may_alias(const Problem *p, int i, int o)
{
	const Val *in = p->k->args.at[i].val, *out = p->k->args.at[o].val;
	return !p->t[i].is_out && in->type == out->type && kernel_reads_in_place(p->k, in);
}

/* Nothing is copied in: the launch must be refused before anything runs. */
static dsl_status launch_alone(const Problem *p, dsl_module *mod)
{
	dsl_arg args[64];
	dsl_launch_opts opts = {.size = sizeof opts, .sms = p->sms};
	return dsl_launch(mod, p->k->name, args, (size_t)problem_args(p, args), 0, &opts);
}

/* The output holds the input before the launch, for the reference too. */
static dsl_status launch_in_place(Problem *p, dsl_module *mod, int i, int o, Verdict *v)
{
	const char *why = "";
	Tensor out = p->t[o];
	p->t[o].is_kept = true;
	p->t[o].start = p->t[i].host;
	dsl_status st = problem_launch(p, mod);
	if (!problem_reference(p, &why))
		snprintf(v->wrong, sizeof v->wrong, "%s", why);
	else if (!st)
		*v = compare(p, &p->t[o]);
	p->t[o] = out;
	return st;
}

/* Tensor i `offset` bytes after the start of output o, whose bytes are all elements. */
static bool check_alias(Trial *t, Problem *p, dsl_module *mod, int i, int o, uint64_t offset)
{
	bool may = !offset && may_alias(p, i, o);
	dsl_addr own = p->t[i].alloc;
	Verdict v = {0};
	char what[128];
	p->t[i].alloc = p->t[o].alloc + offset;
	dsl_status st = may ? launch_in_place(p, mod, i, o, &v) : launch_alone(p, mod);
	p->t[i].alloc = own;
	t->aliases[may]++;
	snprintf(what, sizeof what, "%s, %llu bytes after the start of %s", p->t[i].name,
		 (unsigned long long)offset, p->t[o].name);
	if (st != (may ? DSL_OK : DSL_ERR_OVERLAP))
		return wrong(t, what, st ? dsl_detail() : "was launched");
	return !v.wrong[0] || wrong(t, what, v.wrong);
}

/* Each other tensor at the start of each output, and somewhere in it. */
static bool check_aliases(Trial *t, Problem *p, dsl_module *mod)
{
	uint64_t state = t->seed;
	for (int n = 0; n < p->nt * p->nt; n++) {
		int i = n / p->nt, o = n % p->nt, units = (int)(p->t[o].bytes / 16);
		if (i == o || !p->t[i].bytes || !p->t[o].bytes || !p->t[o].is_out || !p->t[o].dense)
			continue;
		if (!check_alias(t, p, mod, i, o, 0) ||
		    (units > 1 && !check_alias(t, p, mod, i, o,
					       16 * (uint64_t)chance_within(&state, 1, units - 1))))
			return false;
	}
	return true;
}

/* Sizes that the facts allow may still be some that the launcher does not take. */
static bool can_launch(Problem *p, dsl_module *mod, char *why, size_t n)
{
	dsl_arg args[64];
	for (int i = 0; i < p->nt; i++)
		p->t[i].alloc = (((uint64_t)i + 1) << 40) - GUARD; /* aligned, and apart */
	dsl_status st = dsl_can_run(mod, p->k->name, args, (size_t)problem_args(p, args), why, n);
	for (int i = 0; i < p->nt; i++)
		p->t[i].alloc = 0;
	return !st;
}

static Outcome run(Trial *t, bool only_launch)
{
	Arena *a = arena_new();
	ProblemSpec o = trial_options(a, t);
	Problem p = {0};
	dsl_module *mod = NULL;
	const Buf *cubin = &t->out.out[EMIT_CUBIN];
	const char *why = NULL;
	char device[64];
	Outcome outcome = WRONG;
	snprintf(device, sizeof device, "sim:seed=%u", (unsigned)(t->seed % 1000));
	if (!problem_open(&p, t->out.reference.s, &o, &why))
		wrong(t, "sizes", why);
	else if (dsl_device_open(device, &p.dev) ||
		 dsl_module_load_data(p.dev, cubin->s, cubin->n, &mod))
		wrong(t, "load", dsl_detail());
	else if (!can_launch(&p, mod, t->why, sizeof t->why))
		outcome = NOT_LAUNCHED;
	else if (only_launch || (check_data(t, &p, mod) && check_aliases(t, &p, mod)))
		outcome = RIGHT;
	if (mod)
		dsl_module_unload(mod);
	problem_close(&p);
	arena_free(a);
	return outcome;
}

static void trial_close(Trial *t)
{
	kernel_made_free(&t->made);
	compile_out_free(&t->out);
	if (t->ctx)
		ctx_free(t->ctx);
}

static void show(const Trial *t)
{
	printf("%s// seed %llu:", t->made.text.s, (unsigned long long)t->seed);
	for (int i = 0; i < t->made.nsizes; i++)
		printf("%s%s=%lld", i ? "," : " --size ", t->made.sizes[i].name,
		       (long long)t->made.sizes[i].value);
	printf(" --sms %d --seed %llu\n", t->made.sms, (unsigned long long)t->seed);
}

/* ------------------------------------------------------------------ many */
typedef struct {
	double seconds;
	int count, n[VERDICTS], written, aliases[2];
	bool only_proved;
	const char *dir; /* NULL: nothing is written */
	FILE *list;
} Many;

static bool write_file(const char *dir, const char *name, const char *ending, const Buf *b)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s.%s", dir, name, ending);
	FILE *f = fopen(path, "wb");
	if (!f)
		return false;
	bool ok = fwrite(b->s, 1, b->n, f) == b->n;
	return !fclose(f) && ok;
}

/* A line of cases.txt: NAME SMS M=1,N=2. */
static bool write_case(Many *all, const Trial *t)
{
	char name[64];
	all->written++;
	snprintf(name, sizeof name, "random%llu", (unsigned long long)t->seed);
	fprintf(all->list, "%s %d ", name, t->made.sms);
	for (int i = 0; i < t->made.nsizes; i++)
		fprintf(all->list, "%s%s=%lld", i ? "," : "", t->made.sizes[i].name,
			(long long)t->made.sizes[i].value);
	fprintf(all->list, "%s\n", t->made.nsizes ? "" : "-");
	return write_file(all->dir, name, "cubin", &t->out.out[EMIT_CUBIN]) &&
	       write_file(all->dir, name, "frontend.ir", &t->out.reference) &&
	       write_file(all->dir, name, "gemm", &t->made.text);
}

static Outcome one(Many *all, uint64_t seed)
{
	Trial t = {.seed = seed, .only_proved = all->only_proved};
	kernel_make(seed, &t.made);
	Outcome outcome = compile(&t), ran;
	if (outcome <= OPEN && !t.only_proved && (ran = run(&t, all->dir)) != RIGHT)
		outcome = ran;
	if (outcome == NOT_LAUNCHED || outcome == OPEN)
		printf("seed %llu: %s: %s\n", (unsigned long long)seed, outcome_names[outcome],
		       t.why);
	if (outcome == WRONG) {
		show(&t);
		printf("WRONG: %s\n\n", t.why);
	} else if (outcome <= OPEN && all->dir && !t.made.approximate && !write_case(all, &t)) {
		printf("%s cannot be written\n", all->dir);
		outcome = WRONG;
	}
	for (int i = 0; i < 2; i++)
		all->aliases[i] += t.aliases[i];
	fflush(stdout);
	trial_close(&t);
	return outcome;
}

static int many(Many *all, uint64_t seed)
{
	double end = now_seconds() + all->seconds;
	int tried = 0;
	for (; all->dir     ? all->written < all->count && all->n[WRONG] < 10
	       : all->count ? tried < all->count
			    : now_seconds() < end;
	     tried++)
		all->n[one(all, seed + (uint64_t)tried)]++;
	printf("%d kernels from seed %llu on:", tried, (unsigned long long)seed);
	for (int i = 0; i < VERDICTS; i++)
		printf("%s %d %s", i ? "," : "", all->n[i], outcome_names[i]);
	printf(", %d aliases run, %d refused\n", all->aliases[1], all->aliases[0]);
	if (all->only_proved && 99 * all->n[OPEN] > all->n[RIGHT])
		return 1;
	return all->n[WRONG] || !all->n[RIGHT];
}

static int write_all(Many *all, uint64_t seed)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/cases.txt", all->dir);
	all->list = fopen(path, "w");
	if (!all->list) {
		printf("%s cannot be written\n", path);
		return 1;
	}
	int code = many(all, seed);
	return fclose(all->list) || code;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	Many all = {0};
	uint64_t seed = 1;
	int at = strcmp(word, "--write") == 0                                   ? 4
		 : strcmp(word, "--count") == 0 || strcmp(word, "--prove") == 0 ? 3
										: 2;
	if (argc < at || (strcmp(word, "--show") == 0 && argc < 3)) {
		printf("usage: random_kernels SECONDS | --count N | --prove N | --write DIR N | "
		       "--show  "
		       "[SEED]\n");
		return 2;
	}
	if (argc > at)
		seed = strtoull(argv[at], NULL, 10);
	if (strcmp(word, "--show") == 0) {
		Trial t = {.seed = seed};
		kernel_make(seed, &t.made);
		show(&t);
		trial_close(&t);
		return 0;
	}
	all.only_proved = strcmp(word, "--prove") == 0;
	if (at == 2)
		all.seconds = atof(word);
	else
		all.count = atoi(argv[at - 1]);
	if (at == 4) {
		all.dir = argv[2];
		return write_all(&all, seed);
	}
	return many(&all, seed);
}
