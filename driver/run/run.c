/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* run.c - dslc run: compiles, runs on random inputs, compares with the reference interpreter.
 * Nobody writes a reference: the tile-stage IR of the same source is one.
 *     dslc run gemm.gemm --size M=512,N=512,K=512
 *     gemm: integers: D: 262144 elements (all 8 of 8 tiles) equal in every bit
 *     ...
 *     gemm: right as the source says: integers and normal numbers, 8 of 8 tiles, ...
 *     dslc run gemm.gemm --size M=512,N=512,K=512 --then K=8       compiled once, run at both */
#include "driver/run/arrays.h"
#include "driver/run/progress.h"
#include "check/problem.h"
#include "driver/tool.h"
#include "sim/watch.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
	const Options *o; /* those of one problem */
	Ctx *ctx;
	CompileOut out;
	Problem p;
	GivenArrays given, expected; /* by --in and --expect */
	dsl_module *mod;
	Progress bar;
	int turn;          /* of --schedules */
	bool lost;         /* there is nothing more to try */
	double ulps;       /* largest error so far, */
	double allowed;    /* and what is right there */
	const char *name;  /* of the kernel */
	char verdict[512]; /* the last line of stdout; "" when nothing was launched */
} Run;

static const char *kind_word(const Run *r, DataKind kind)
{
	return r->given.n ? "given" : kind == DATA_INTEGERS ? "integers" : "normal";
}

/* The first thing that is wrong is the summary. */
static void say_wrong(Run *r, const char *fmt, ...) PRINTF(2, 3);
static void say_wrong(Run *r, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (!r->verdict[0])
		vsnprintf(r->verdict, sizeof r->verdict, fmt, ap);
	va_end(ap);
}

static const char *numbers_word(const Run *r)
{
	static const char *const words[] = {
		[NUMBERS_BOTH] = "integers and normal numbers",
		[NUMBERS_INTEGERS] = "integers",
		[NUMBERS_NORMAL] = "normal numbers",
	};
	return r->given.n ? "the given numbers" : words[r->o->numbers];
}

/* An error may be large where terms cancel: beside it stands the bound of that element. */
static const char *error_text(double ulps, double allowed, char *out, size_t n)
{
	int at = snprintf(out, n, "largest error %.3g ulp", ulps);
	if (ulps > 0)
		snprintf(out + at, n - (size_t)at, " (bound: %.3g)", allowed);
	return out;
}

static void say_right(Run *r)
{
	char more[32] = "", error[64];
	if (r->turn)
		snprintf(more, sizeof more, "%d schedules, ", r->turn + 1);
	snprintf(r->verdict, sizeof r->verdict,
		 "right as the source says%s: %s, %s%lld of %lld tiles, %s",
		 r->o->arrays_expected.n ? " and as expected" : "", numbers_word(r), more,
		 (long long)r->p.nchosen, (long long)r->p.grid,
		 error_text(r->ulps, r->allowed, error, sizeof error));
}

static void show_progress(void *user, int64_t done, int64_t all)
{
	Run *r = user;
	progress_at(&r->bar, done, all);
}

static bool runtime_ok(Run *r, dsl_status st)
{
	if (!st)
		return true;
	r->lost = true;
	DiagMsg *m = diag(r->ctx, NOLOC, D_E0606, "%s: %s", dsl_status_text(st), dsl_detail());
	diag_remedy(r->ctx, m, "%s", dsl_status_remedy(st));
	return false;
}

static bool is_simulator(const char *name)
{
	return name && strncmp(name, "sim", 3) == 0 && (!name[3] || name[3] == ':');
}

static bool has_gpu(void)
{
	dsl_device *dev;
	return !dsl_device_open("cuda:0", &dev) && !dsl_device_close(dev);
}

/* The simulator runs PTX. */
static bool compile(Run *r, Buf *text, Buf *log)
{
	Source source;
	CompileOpt opt = tool_compile_opt(r->ctx, r->o, log);
	opt.emit = EMIT_BIT(EMIT_CUBIN);
	opt.cg.unassembled = ptxas_is_spared(r->ctx, r->o->ptxas_path) &&
			     (r->o->device ? is_simulator(r->o->device) : !has_gpu());
	if (opt.cg.unassembled)
		printf("no ptxas: simulated, but not assembled\n");
	return tool_read(r->ctx, r->o, r->o->inputs.at[0], text, &source) &&
	       compile_run(r->ctx, &source, &opt, &r->out);
}

static bool open_named(Run *r, const char *name)
{
	dsl_status st = dsl_device_open(name, &r->p.dev);
	if (!st)
		return true;
	DiagMsg *m = diag(r->ctx, NOLOC, D_E0608, "cannot open device %s: %s: %s", name,
			  dsl_status_text(st), dsl_detail());
	if (r->out.out[EMIT_CUBIN].n)
		diag_note(r->ctx, m, NOLOC,
			  "the kernel compiled and ptxas accepted it; it was not run");
	diag_remedy(r->ctx, m, "%s", dsl_status_remedy(st));
	return false;
}

/* The simulator, in the order of warps that belongs to this turn. */
static bool open_simulator(Run *r)
{
	const Options *o = r->o;
	const char *name = o->device ? o->device : "sim";
	const char *more = strchr(name, ':');
	char text[1024];
	snprintf(text, sizeof text, "sim:seed=%d%s%s%s%s%s%s", r->turn, o->checks ? ",checks=" : "",
		 o->checks ? o->checks : "", o->trace ? ",trace=" : "", o->trace ? o->trace : "",
		 more && more[1] ? "," : "", more ? more + 1 : "");
	if (!open_named(r, text))
		return false;
	sim_watch(r->p.dev, show_progress, r);
	return true;
}

static bool open_device(Run *r)
{
	const char *name = r->o->device;
	if (is_simulator(name))
		return open_simulator(r);
	if (name)
		return open_named(r, name);
	dsl_status st = dsl_device_open("cuda:0", &r->p.dev);
	if (st == DSL_OK)
		return true;
	if (r->turn == 0)
		printf("no GPU (%s): on the simulator\n", dsl_status_text(st));
	return open_simulator(r);
}

/* A wrong name of a device, or a wrong option of the simulator, is reported before the kernel is
 * compiled; a GPU that is missing is reported after that. */
static bool knows_device(Run *r)
{
	const char *name = r->o->device;
	bool gpu = name && !strncmp(name, "cuda", 4);
	bool ok = gpu || (name && !is_simulator(name) ? open_named(r, name) : open_simulator(r));
	dsl_device_close(r->p.dev);
	r->p.dev = NULL;
	return ok;
}

/* An --out file that cannot be written is reported before the runs, not after them. */
static bool knows_outputs(Run *r)
{
	for (int i = 0; i < r->o->arrays_out.n; i++) {
		const char *file = r->o->arrays_out.at[i].file, *slash = strrchr(file, '/');
		size_t n = slash ? (size_t)(slash - file) + 1 : 0;
		const char *folder = n ? ctx_strn(r->ctx, file, n) : ".";
		if (access(access(file, F_OK) ? folder : file, W_OK)) {
			diag(r->ctx, NOLOC, D_E0603, "%s: %s", file, strerror(errno));
			return false;
		}
	}
	return true;
}

static bool load(Run *r)
{
	const Buf *cubin = &r->out.out[EMIT_CUBIN];
	return runtime_ok(r, dsl_module_load_data(r->p.dev, cubin->s, cubin->n, &r->mod));
}

/* ------------------------------------------------------------------ one kind of inputs */
static void print_right(Run *r, const Tensor *t, DataKind kind, const Verdict *v)
{
	progress_hide(&r->bar);
	printf("%s: %s: %s: %lld elements (%s%lld of %lld tiles) ", r->p.k->name,
	       kind_word(r, kind), t->name, (long long)v->checked, r->p.chosen ? "" : "all ",
	       (long long)r->p.nchosen, (long long)r->p.grid);
	char error[64];
	if (!v->open)
		printf("equal in every bit\n");
	else
		printf("within bounds: %s\n", error_text(v->ulps, v->allowed, error, sizeof error));
}

static bool is_expected(Run *r, const Tensor *t)
{
	for (int i = 0; i < r->expected.n; i++) {
		if (&r->p.t[r->expected.at[i].at] != t)
			continue;
		Verdict v = compare_expected(&r->p, t, r->expected.at[i].data);
		if (!v.wrong[0])
			continue;
		diag(r->ctx, NOLOC, D_E0613, "%s: %s", r->p.k->name, v.wrong);
		say_wrong(r, "NOT AS EXPECTED: %s", v.wrong);
		return false;
	}
	return true;
}

static bool check_output(Run *r, const Tensor *t, DataKind kind)
{
	Verdict v = compare(&r->p, t);
	if (v.ulps > r->ulps) {
		r->ulps = v.ulps;
		r->allowed = v.allowed;
	}
	if (!v.wrong[0]) {
		print_right(r, t, kind, &v);
		return is_expected(r, t);
	}
	diag(r->ctx, NOLOC, D_E0607, "%s, %s inputs, seed %llu: %s", r->p.k->name,
	     r->given.n              ? "given"
	     : kind == DATA_INTEGERS ? "integer"
				     : "normal",
	     (unsigned long long)r->o->problem.seed, v.wrong);
	say_wrong(r, "WRONG: %s: %s", kind_word(r, kind), v.wrong);
	return false;
}

static bool check_guards(Run *r)
{
	char wrong[256] = "";
	if (!runtime_ok(r, problem_guards(&r->p, wrong, sizeof wrong)))
		return false;
	if (!*wrong)
		return true;
	diag(r->ctx, NOLOC, D_E0607, "%s: %s", r->p.k->name, wrong);
	say_wrong(r, "WRONG: %s", wrong);
	return false;
}

/* What the simulator reports is wrong with the kernel; what the launcher refuses was not run. */
static bool launch(Run *r, DataKind kind)
{
	dsl_status st = problem_launch(&r->p, r->mod);
	progress_next(&r->bar);
	if (!st && r->o->problem.check_indices && (indices_any(&r->p) || groups_grid(r->p.k)))
		st = dsl_status_of(r->mod, r->p.k->name);
	if (st == DSL_ERR_SIM || st == DSL_ERR_INDEX)
		say_wrong(r, "WRONG: %s: %s", kind_word(r, kind), dsl_status_text(st));
	else if (st)
		say_wrong(r, "not checked: %s", dsl_status_text(st));
	return runtime_ok(r, st);
}

static bool refer(Run *r)
{
	const char *why;
	bool ok = problem_reference(&r->p, &why);
	progress_next(&r->bar);
	if (ok)
		return true;
	diag(r->ctx, NOLOC, D_E0609, "%s", why);
	say_wrong(r, "not checked: the reference interpreter gives up");
	r->lost = true;
	return false;
}

static bool check_kind(Run *r, DataKind kind)
{
	bool ok = true;
	problem_fill(&r->p, kind, r->o->problem.seed);
	arrays_give(&r->p, &r->given);
	if (!launch(r, kind) || !refer(r))
		return false;
	for (int i = 0; i < r->p.nt; i++)
		if (r->p.t[i].is_out)
			ok = check_output(r, &r->p.t[i], kind) && ok;
	return check_guards(r) && ok;
}

static bool check_all(Run *r)
{
	problem_choose(&r->p, &r->o->problem);
	r->p.watch = show_progress;
	r->p.watcher = r;
	bool integers = !r->given.n && r->o->numbers != NUMBERS_NORMAL;
	bool normal = r->o->numbers != NUMBERS_INTEGERS;
	bool ok = !integers || check_kind(r, DATA_INTEGERS);
	return !r->lost && (!normal || check_kind(r, DATA_NORMAL)) && ok;
}

static void say_given(const Run *r)
{
	for (int i = 0; i < r->given.n && r->turn == 0; i++) {
		const GivenArray *g = &r->given.at[i];
		const char *to = elem_rows[r->p.t[g->at].elem].name;
		if (g->type)
			printf("%s: %s: %s rounded to %s\n", r->p.k->name, g->name, g->type, to);
		else
			printf("%s: %s: bits of %s\n", r->p.k->name, g->name, to);
	}
}

/* Which of several problems it is. */
static void say_sizes(const Run *r)
{
	if (!r->o->then.n || r->turn)
		return;
	printf("%s:", r->p.k->name);
	for (int i = 0; i < r->p.nsyms; i++)
		printf("%s%s=%lld", i ? "," : " ", r->p.syms[i].name,
		       (long long)r->p.syms[i].value);
	printf("\n");
}

/* What the device computed, right or wrong. */
static bool write_outputs(Run *r)
{
	const char *why;
	if (r->lost || arrays_write(&r->p, r->o, &why))
		return true;
	diag(r->ctx, NOLOC, D_E0603, "%s", why);
	return false;
}

/* ------------------------------------------------------------------ the command */
static bool run_once(Run *r, int *code)
{
	const char *why = NULL;
	bool opened = problem_open(&r->p, r->out.reference.s, &r->o->problem, &why) &&
		      arrays_read(&r->p, r->o, &r->given, &r->expected, &why);
	if (!opened)
		tool_usage("%s", why);
	else
		r->name = ctx_str(r->ctx, r->p.k->name);
	r->verdict[0] = 0;
	bool began = opened && open_device(r) && load(r);
	if (began) {
		say_sizes(r);
		say_given(r);
	}
	bool ok = began && check_all(r);
	ok = (!began || write_outputs(r)) && ok;
	progress_hide(&r->bar);
	if (ok)
		say_right(r);
	if (r->mod)
		dsl_module_unload(r->mod);
	r->mod = NULL;
	arrays_free(&r->given);
	arrays_free(&r->expected);
	problem_close(&r->p);
	r->p = (Problem){0};
	*code = !opened ? EXIT_USAGE : ok ? EXIT_OK : EXIT_DIAGS;
	return ok;
}

enum { PARTS = 4 }; /* launch and reference, twice */

/* One problem, in each order of warps. */
static int run_turns(Run *r)
{
	int code = EXIT_OK, turns = r->o->schedules > 1 ? r->o->schedules : 1;
	progress_start(&r->bar, (r->o->numbers == NUMBERS_BOTH ? PARTS : PARTS / 2) * turns);
	r->ulps = 0;
	for (r->turn = 0; r->turn < turns && run_once(r, &code);)
		r->turn++;
	if (r->verdict[0])
		printf("%s: %s\n", r->name, r->verdict);
	return code;
}

/* The problems, up to the first that is wrong. */
static int run(Run *r, const Options *all, Buf *text, Buf *log)
{
	int code = EXIT_OK;
	if (!knows_device(r) || !knows_outputs(r) || !compile(r, text, log))
		return r->out.exit_code ? r->out.exit_code : EXIT_DIAGS;
	for (const char *at = r->out.chosen.s; at && *at;) {
		int n = (int)strcspn(at, "\n");
		if (*at != ' ')
			printf("%.*s\n", n, at);
		at += n + (at[n] == '\n');
	}
	for (int i = 0; i <= all->then.n && code == EXIT_OK; i++) {
		Options one = *all;
		if (i < all->then.n)
			one.problem.sizes.n = all->then.at[i];
		r->o = &one;
		code = run_turns(r);
	}
	r->o = all;
	return code;
}

static void print_log(Buf *log)
{
	if (log->n)
		fwrite(log->s, 1, log->n, stderr);
	buf_free(log);
}

/* Where the first error is explained at length. */
static void say_more(const Ctx *c)
{
	const DiagMsg *m = diag_first(c);
	while (m && m->severity != SEV_ERROR)
		m = m->next;
	if (m)
		fprintf(stderr, "dslc --explain=%s says more\n", diag_rows[m->id].code);
}

int tool_run(const Options *o)
{
	Run r = {.ctx = tool_ctx(o)};
	Options here = *o;
	Buf text = {0}, log = {0}, times = {0};
	here.card = tool_card(ctx_arena(r.ctx), o);
	r.o = &here;
	int code = run(&r, &here, &text, &log);
	int lost = fflush(stdout) == 0 ? 0 : errno;
	print_log(&r.out.printed);
	print_log(&log);
	tool_messages(r.ctx, o);
	if (!o->json)
		say_more(r.ctx);
	if (o->time_report)
		time_report(&r.out.times, &times);
	print_log(&times);
	compile_out_free(&r.out);
	buf_free(&text);
	ctx_free(r.ctx);
	errno = lost; /* for who closes stdout */
	return code;
}
