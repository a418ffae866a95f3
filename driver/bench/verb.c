/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verb.c - dslc bench: compiles the candidates, compares their results with the reference, times
 * those that are right, and says what the times allow to say. What is wrong with one candidate does
 * not stop the others.
 *     dslc bench gemm.gemm --size M=4096,N=4096,K=4096 --schedules tries.txt --against cublaslt */
#include "driver/bench/candidate.h"
#include "driver/bench/machine.h"
#include "driver/bench/made.h"
#include "driver/dslc.h"
#include "driver/files.h"
#include "driver/tool.h"

#include <stdio.h>
#include <string.h>

enum { PARTS = 2 + REGIMES /* compiling, checking */, FEW_TILES = 3 };
static const double MANY_MACS = 1 << 29; /* that the reference is slow for */
static const double WARM_US = 2e6;       /* of load, before the first round */

typedef struct {
	const Options *o;
	BenchMade *made; /* NULL: lines are read */
	Ctx *ctx, *late; /* messages that are of no candidate: before the times, and after */
	Buf text, lines_text;
	BenchSource source;
	BenchLines lines;
	Candidate *at; /* one for each line */
	int n, worst;  /* worst: exit code so far */
	Problem p;
	const char *signature; /* that all candidates have */
	bool opened, stopped;  /* stopped: there is nothing more to try */
	Product product;
	Rig rig;
	Lt *lt;
	VEC(Runner) runners;
	VEC(int) runner_of; /* each entry's */
	VEC(const char *) notes;
	Bench b;
	Progress bar;
} Verb;

static void worsen(Verb *v, int code)
{
	v->worst = code > v->worst ? code : v->worst;
}

/* ------------------------------------------------------------------ candidates */
static bool read_lines(Verb *v)
{
	static const BenchLine as_it_is = {.name = "as it is", .text = ""};
	const char *found = "candidates";
	if (v->made) {
		buf_printf(&v->lines_text, "%s", v->made->lines);
	} else if (!v->o->candidates) {
		vec_push(ctx_arena(v->ctx), &v->lines, as_it_is);
		return true;
	} else if (!file_read(v->ctx, v->o->candidates, NULL, 0, &v->lines_text, &found)) {
		return false;
	}
	const char *text = v->lines_text.s ? v->lines_text.s : "";
	v->source.lines = text;
	v->source.lines_name = found;
	bench_lines(v->ctx, ctx_src(v->ctx, found, text, strlen(text)), &v->lines);
	return v->lines.n > 0;
}

static bool read_all(Verb *v)
{
	BenchSource *s = &v->source;
	s->o = v->o;
	return tool_read(v->ctx, v->o, v->o->inputs.at[0], &v->text, &s->source) && read_lines(v);
}

static bool open_problem(Verb *v, const Candidate *x)
{
	const char *why = NULL;
	if (v->opened)
		return true;
	v->opened = true;
	v->signature = x->signature;
	if (!problem_open(&v->p, x->out.reference.s, &v->o->problem, &why)) {
		tool_usage("%s", why);
		v->worst = EXIT_USAGE;
		return false;
	}
	for (int i = 0; i < v->p.nt; i++) {
		if (v->p.t[i].is_out && !v->p.t[i].count) {
			tool_usage("output %s has no elements: there is nothing to time",
				   v->p.t[i].name);
			v->worst = EXIT_USAGE;
			return false;
		}
	}
	return true;
}

static void check_sizes(Verb *v, Candidate *x)
{
	char why[512];
	dsl_arg args[64];
	size_t n = (size_t)problem_args(&v->p, args);
	const Buf *m = &x->out.manifest;
	for (size_t i = 0; i < n; i++) /* nothing is allocated yet: far apart */
		if (args[i].kind == DSL_PTR)
			args[i].v.ptr = (i + 1) << 48;
	if (strcmp(x->signature, v->signature) != 0) {
		candidate_drop(x, "its arguments are not those of the first candidate");
		return;
	}
	dsl_status st = dsl_manifest_can_run(m->s, m->n, v->p.k->name, args, n, why, sizeof why);
	if (!st)
		return;
	DiagMsg *d = diag(x->ctx, NOLOC, D_E0606, "%s: %s", dsl_status_text(st), why);
	diag_remedy(x->ctx, d, "%s", dsl_status_remedy(st));
	candidate_drop(x, "it cannot run with these sizes");
}

static bool compile_all(Verb *v)
{
	v->at = NEWN(ctx_arena(v->ctx), Candidate, v->lines.n + 1);
	for (; v->n < v->lines.n; v->n++) {
		Candidate *x = &v->at[v->n];
		progress_at(&v->bar, v->n, v->lines.n);
		candidate_compile(x, &v->source, &v->lines.at[v->n]);
		if (x->ok && !open_problem(v, x)) {
			v->n++;
			return false;
		}
		if (x->ok)
			check_sizes(v, x);
	}
	progress_next(&v->bar);
	return true;
}

static int count_ok(const Verb *v)
{
	int n = 0;
	for (int i = 0; i < v->n; i++)
		n += v->at[i].ok;
	return n;
}

/* ------------------------------------------------------------------ the GPU */
static bool device_ok(Verb *v, Ctx *c, dsl_status st)
{
	if (!st)
		return true;
	DiagMsg *m = diag(c, NOLOC, D_E0606, "%s: %s", dsl_status_text(st), dsl_detail());
	diag_remedy(c, m, "%s", dsl_status_remedy(st));
	v->stopped |= st == DSL_ERR_STICKY;
	return false;
}

static bool open_device(Verb *v)
{
	const char *name = v->o->device ? v->o->device : "cuda:0";
	dsl_status st = dsl_device_open(name, &v->p.dev);
	if (!st)
		return true;
	DiagMsg *m = diag(v->ctx, NOLOC, D_E0608, "cannot open device %s: %s: %s", name,
			  dsl_status_text(st), dsl_detail());
	diag_note(v->ctx, m, NOLOC, "%d of %d candidates compiled; none was timed", count_ok(v),
		  v->n);
	diag_remedy(v->ctx, m, "%s", dsl_status_remedy(st));
	return false;
}

/* The device has the inputs; the reference needs them too, and changes them and the scalars. */
static bool make_reference(Verb *v)
{
	double scalars[COUNTOF(v->p.t)];
	const char *why = NULL;
	ProblemSpec few = v->o->problem;
	if (!few.tiles && (double)v->p.grid * (double)v->p.tile_macs > MANY_MACS)
		few.tiles = FEW_TILES;
	for (int i = 0; i < v->p.nt; i++)
		scalars[i] = v->p.t[i].scalar;
	problem_choose(&v->p, &few);
	bool ok = problem_reference(&v->p, &why);
	for (int i = 0; i < v->p.nt; i++)
		v->p.t[i].scalar = scalars[i];
	if (!ok)
		diag(v->ctx, NOLOC, D_E0609, "%s", why);
	return ok;
}

static bool is_right(Verb *v, Ctx *c, const char *name)
{
	for (int i = 0; i < v->p.nt; i++) {
		Verdict verdict = {.checked = 0};
		if (v->p.t[i].is_out && !v->p.t[i].is_kept)
			verdict = compare(&v->p, &v->p.t[i]);
		if (!verdict.wrong[0])
			continue;
		diag(c, NOLOC, D_E0607, "%s, normal inputs, seed %llu: %s", name,
		     (unsigned long long)v->o->problem.seed, verdict.wrong);
		return false;
	}
	return true;
}

static void add_entry(Verb *v, int runner, const char *name, const BenchLine *line)
{
	Arena *a = v->b.arena;
	BenchEntry e = {.name = name, .what = line ? line->text : "", .ours = line};
	e.line = line ? line->number : 0;
	e.estimate = v->made && line ? v->made->us[line->number - 1] : 0;
	vec_push(a, &v->b.entries, e);
	vec_push(a, &v->runner_of, runner);
}

static void say_at(const Verb *v, int line)
{
	if (v->made && line)
		v->made->at(v->made->user, line);
}

static void try_candidate(Verb *v, Candidate *x)
{
	dsl_module *mod = NULL;
	const Buf *cubin = &x->out.out[EMIT_CUBIN];
	Runner run = {.launch = runner_ours, .kernel = v->p.k->name};
	dsl_status st = dsl_module_load_data(v->p.dev, cubin->s, cubin->n, &mod);
	run.self = mod;
	say_at(v, x->line->number);
	if (!st)
		st = rig_first(&v->rig, &run);
	if (!device_ok(v, x->ctx, st)) {
		candidate_drop(x, "it could not be run");
	} else if (!is_right(v, x->ctx, x->line->name)) {
		candidate_drop(x, "its result is wrong");
	} else if (!device_ok(v, x->ctx, rig_graphs(&v->rig, &run))) {
		candidate_drop(x, "it could not be run");
	} else {
		vec_push(v->b.arena, &v->runners, run);
		add_entry(v, v->runners.n - 1, x->line->name, x->line);
	}
}

/* What the library does with the rest of the kernel's work, nobody asks it. */
static bool try_library(Verb *v)
{
	char why[256] = "it cannot be run";
	Runner run = {.launch = lt_launch};
	if (!v->o->against_cublaslt)
		return true;
	run.self = v->lt = lt_open(&v->rig, &v->product, why, sizeof why);
	bool ok = v->lt && !rig_first(&v->rig, &run) &&
		  (!v->product.pure || is_right(v, v->ctx, "cublaslt")) &&
		  !rig_graphs(&v->rig, &run);
	if (!ok) {
		diag(v->ctx, NOLOC, D_E0632, "cuBLASLt is not timed: %s", why);
		return false;
	}
	vec_push(v->b.arena, &v->runners, run);
	add_entry(v, v->runners.n - 1, "cublaslt", NULL);
	v->b.base = v->b.entries.n - 1;
	v->b.entries.at[v->b.base].what = lt_text(v->lt);
	return true;
}

static bool set_up(Verb *v)
{
	if (!read_all(v) || !compile_all(v) || !count_ok(v) || !open_device(v))
		return false;
	progress_at(&v->bar, 0, 1);
	problem_fill(&v->p, DATA_NORMAL, v->o->problem.seed);
	v->product = product_of(&v->p);
	if (!device_ok(v, v->ctx, rig_open(&v->rig, v->p.dev, &v->p)) || !make_reference(v))
		return false;
	for (int i = 0; i < v->n && !v->stopped; i++)
		if (v->at[i].ok)
			try_candidate(v, &v->at[i]);
	if (v->stopped || !v->runners.n)
		return false;
	if (!try_library(v))
		worsen(v, EXIT_DIAGS);
	progress_next(&v->bar);
	return !v->stopped;
}

/* ------------------------------------------------------------------ times */
#define note(v, ...) vec_push((v)->b.arena, &(v)->notes, arena_printf((v)->b.arena, __VA_ARGS__))

static void note_method(Verb *v)
{
	const Rig *r = &v->rig;
	size_t all = (size_t)r->sets * r->read_bytes;
	note(v,
	     "steady: %d rounds of all candidates in random order (seed %llu), samples of about 4 "
	     "ms back to back after 2 s of load",
	     v->b.rounds[STEADY], (unsigned long long)v->b.seed);
	note(v, "burst: %d rounds, samples of about 2 ms, each after 200 ms of rest",
	     v->b.rounds[BURST]);
	note(v,
	     "us is the median, spread half the distance between the quartiles; GB/s counts each "
	     "tensor once");
	note(v, "%d sets of buffers take turns, %.1f MB of inputs: %s", r->sets, (double)all / 1e6,
	     all >= 4 * r->facts.l2_bytes ? "each launch finds its own outside the L2"
					  : "less than four times the L2, which may hold some");
	note(v, "each result is right in %lld of %lld tiles, on normal random numbers",
	     (long long)v->p.nchosen, (long long)v->p.grid);
	for (int i = 0; v->made && i < v->lines.n; i++)
		note(v, "candidate %s: %s", v->lines.at[i].name, v->lines.at[i].text);
	if (r->nvml.why)
		note(v, "clock and power are not known: %s", r->nvml.why);
	if (v->lt)
		note(v, "cublaslt: %s%s", lt_text(v->lt),
		     v->product.pure ? ""
				     : "; the product alone, without what else the kernel does");
}

static void describe(Verb *v)
{
	Bench *b = &v->b;
	Buf sizes = {0};
	for (int i = 0; i < v->p.nsyms; i++)
		buf_printf(&sizes, "%s%s=%lld", i ? " " : "", v->p.syms[i].name,
			   (long long)v->p.syms[i].value);
	b->kernel = v->p.k->name;
	b->file = v->source.source.name;
	b->sizes = arena_printf(b->arena, "%s", sizes.s ? sizes.s : "no sizes");
	buf_free(&sizes);
	int driver = dsl_device_driver(v->p.dev);
	b->device =
		arena_printf(b->arena, "%s, %d SMs, L2 of %zu MiB, driver for CUDA %d.%d; dslc %s",
			     dsl_device_name(v->p.dev), dsl_device_sms(v->p.dev),
			     v->rig.facts.l2_bytes >> 20, driver / 1000, driver % 1000 / 10,
			     dslc_version());
	b->flops = v->product.flops;
	for (int i = 0; i < v->p.nt; i++)
		b->bytes += (double)v->p.t[i].bytes;
	note_method(v);
	b->notes = v->notes.at;
	b->nnotes = v->notes.n;
}

static bool take_sample(void *user, int entry, Regime regime, Sample *out)
{
	Verb *v = user;
	say_at(v, v->b.entries.at[entry].line);
	dsl_status st = rig_sample(&v->rig, &v->runners.at[v->runner_of.at[entry]], regime, out);
	return device_ok(v, v->late, st);
}

static bool warm_up(Verb *v)
{
	Sample s;
	double us = 0;
	for (int i = 0; us < WARM_US; i = (i + 1) % v->runners.n) {
		if (!device_ok(v, v->late, rig_sample(&v->rig, &v->runners.at[i], STEADY, &s)))
			return false;
		us += s.us * v->runners.at[i].launches[STEADY] + 1;
	}
	return true;
}

/* False: without the base there is nothing to compare with. */
static bool remove_entry(Verb *v, int i)
{
	Bench *b = &v->b;
	diag(v->late, NOLOC, D_E0631,
	     "the times of candidate '%s' count for nothing: its result was wrong when they had "
	     "been taken",
	     b->entries.at[i].name);
	worsen(v, EXIT_DIAGS);
	if (i == b->base)
		return false;
	b->base -= b->base > i;
	b->control--;
	b->entries.n = --v->runner_of.n;
	for (; i < b->entries.n; i++) {
		b->entries.at[i] = b->entries.at[i + 1];
		v->runner_of.at[i] = v->runner_of.at[i + 1];
	}
	return true;
}

/* A kernel that is right once may be wrong among its like. */
static bool check_again(Verb *v)
{
	for (int i = 0; i < v->b.entries.n;) {
		const BenchEntry *e = &v->b.entries.at[i];
		const Runner *x = &v->runners.at[v->runner_of.at[i]];
		bool shown = i != v->b.control && (e->ours || v->product.pure);
		if (shown && !device_ok(v, v->late, rig_after(&v->rig, x)))
			return false;
		if (!shown || is_right(v, v->late, e->name))
			i++;
		else if (!remove_entry(v, i))
			return false;
	}
	return true;
}

static bool time_all(Verb *v)
{
	const Timer timer = {take_sample, v};
	Bench *b = &v->b;
	b->seed = v->o->problem.seed;
	b->rounds[STEADY] = v->o->rounds ? v->o->rounds : ROUNDS;
	b->rounds[BURST] = b->rounds[STEADY] < BURST_ROUNDS ? b->rounds[STEADY] : BURST_ROUNDS;
	b->control = -1;
	if (b->entries.n > 1) {
		b->control = b->entries.n;
		BenchEntry again = b->entries.at[b->base];
		vec_push(b->arena, &b->entries, again);
		int same = v->runner_of.at[b->base];
		vec_push(b->arena, &v->runner_of, same);
	}
	if (!warm_up(v))
		return false;
	b->until = v->made ? now_seconds() + v->made->seconds : 0;
	bool ok = bench_measure(b, &timer, &v->bar);
	describe(v);
	return ok && check_again(v);
}

/* ------------------------------------------------------------------ what is written */
static bool write_one(Verb *v, const char *path, void (*print)(const Bench *b, Buf *out))
{
	Buf text = {0};
	if (!path)
		return true;
	print(&v->b, &text);
	bool ok = file_write(v->late, path, text.s, text.n);
	buf_free(&text);
	return ok;
}

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

static bool write_all(Verb *v)
{
	const Options *o = v->o;
	bool ok = is_stdout(o->csv) || is_stdout(o->json_out) || write_one(v, "-", bench_table);
	ok = write_one(v, o->csv, bench_csv) && ok;
	return write_one(v, o->json_out, bench_json) && ok;
}

/* Once, when all is known of the candidates but their times. */
static void say_candidates(Verb *v)
{
	progress_hide(&v->bar);
	tool_messages(v->ctx, v->o);
	if (diag_errors(v->ctx))
		worsen(v, EXIT_DIAGS);
	EACH(Candidate, x, *v) {
		if (x->out.printed.n)
			fwrite(x->out.printed.s, 1, x->out.printed.n, stderr);
		tool_messages(x->ctx, v->o);
		worsen(v, x->out.exit_code);
	}
}

static void close_all(Verb *v)
{
	for (int i = 0; i < v->runners.n; i++)
		rig_forget(&v->rig, &v->runners.at[i]);
	lt_close(v->lt);
	rig_close(&v->rig);
	if (v->opened)
		problem_close(&v->p); /* with the device, and what was loaded there */
	for (int i = 0; i < v->n; i++)
		candidate_free(&v->at[i]);
	buf_free(&v->text);
	buf_free(&v->lines_text);
	arena_free(v->b.arena);
	ctx_free(v->ctx);
	ctx_free(v->late);
}

int bench_made(const Options *o, BenchMade *made)
{
	Verb v = {.o = o,
		  .made = made,
		  .ctx = tool_ctx(o),
		  .late = tool_ctx(o),
		  .b.arena = arena_new()};
	progress_start(&v.bar, PARTS);
	bool ok = set_up(&v);
	say_candidates(&v);
	ok = ok && time_all(&v);
	progress_hide(&v.bar);
	if (ok && made)
		made->done(made->user, &v.b);
	ok = ok && write_all(&v);
	if (made)
		made->lost = v.stopped;
	tool_messages(v.late, o);
	if (!ok)
		worsen(&v, EXIT_DIAGS);
	int code = v.worst;
	close_all(&v);
	return code;
}

int tool_bench(const Options *o)
{
	Options here = *o;
	here.card = tool_card(o->arena, o);
	return bench_made(&here, NULL);
}
