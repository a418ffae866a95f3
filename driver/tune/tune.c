/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tune.c - dslc tune: the cost model's first few candidates are lines for dslc bench; the fastest
 * is kept in FILE.tune, where later compilations find it.
 *     dslc tune gemm.gemm --for M=16,N=4096,K=4096 --for M=4096,N=4096,K=4096
 *  -> NVIDIA H200; gemm; K=4096,M=16,N=4096; -DbM=16 -Dschedule="roles cooperative; swap;"; 9.31 us
 * A process of its own measures. If it dies with a candidate, the others are measured again. */
#include "driver/bench/made.h"
#include "driver/choose/choose.h"
#include "driver/files.h"
#include "driver/tool.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOP_MOST = 32, GRACE = 5 /* seconds more than --seconds, for one launch */ };

/* What a process that measures tells its parent, each time that it changes. */
typedef struct {
	int at, best; /* candidates, from 1; 0: none */
	double us;    /* of the best */
	bool lost;    /* the GPU failed */
	char card[128];
} Told;

typedef struct {
	const Options *o; /* of one set of sizes */
	Ctx *ctx;
	Buf text;
	Source source;
	const char *card;
	TunedVec tuned; /* the lines of FILE.tune */
	int code;       /* the worst so far */
	/* of these sizes: */
	RankedVec ranked;
	bool dead[TOP_MOST];
	Told told;
	int to; /* in the child: the parent */
} Tune;

static void worsen(Tune *t, int code)
{
	t->code = code > t->code ? code : t->code;
}

/* ------------------------------------------------------------------ in a process of its own */
/* If nobody hears it, there is nothing more to do. */
static void tell(const Tune *t)
{
	const Told told = t->told;
	if (write(t->to, &told, sizeof told) < 0)
		_exit(EXIT_INTERNAL);
}

static int tell_card(Tune *t)
{
	const char *card = tool_card(ctx_arena(t->ctx), t->o);
	snprintf(t->told.card, sizeof t->told.card, "%s", card ? card : "");
	tell(t);
	return EXIT_OK;
}

/* A launch that does not end ends the process. */
static void tell_at(void *user, int line)
{
	Tune *t = user;
	t->told.at = line;
	tell(t);
	alarm((unsigned)t->o->seconds + GRACE);
}

/* The first of those that none of ours is faster than, above the noise. */
static void tell_best(void *user, Bench *b)
{
	Tune *t = user;
	BenchFigures best = {.rank = INT_MAX}, f;
	alarm(0);
	for (int i = 0; i < b->entries.n; i++) {
		f = bench_figures(b, i, STEADY);
		if (i == b->control || !b->entries.at[i].ours || f.rank >= best.rank)
			continue;
		best = f;
		t->told.best = b->entries.at[i].line;
		t->told.us = f.us;
	}
	tell(t);
}

/* Those that are dead keep their numbers. */
static int measure(Tune *t)
{
	Buf lines = {0};
	double us[TOP_MOST];
	for (int i = 0; i < t->ranked.n; i++) {
		us[i] = t->ranked.at[i].us;
		buf_printf(&lines, "%s%d: ", t->dead[i] ? "# " : "", i + 1);
		defines_put(&t->ranked.at[i].defines, &lines);
		buf_printf(&lines, "\n");
	}
	BenchMade made = {lines.s, us, t->o->seconds, tell_at, tell_best, t, false};
	int code = bench_made(t->o, &made);
	t->told.lost = made.lost;
	tell(t);
	buf_free(&lines);
	return code;
}

/* The status that waitpid gives. The parent must not have opened a GPU: a context does not survive
 * fork. */
static int in_child(Tune *t, int (*work)(Tune *t))
{
	int ends[2], status = 0;
	fflush(NULL); /* or the child prints it too */
	pid_t pid = pipe(ends) ? -1 : fork();
	if (!pid) {
		close(ends[0]);
		t->to = ends[1];
		int code = work(t);
		fflush(NULL);
		_exit(code);
	}
	if (pid < 0)
		return SIGABRT;
	close(ends[1]);
	while (read(ends[0], &t->told, sizeof t->told) == sizeof t->told)
		;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	close(ends[0]);
	return status;
}

/* Whether a candidate took the process, or the GPU, with it: it is not tried again. */
static bool drop_dead(Tune *t, int status)
{
	if (t->told.best || !(WIFSIGNALED(status) || t->told.lost))
		return false;
	Ctx *c = tool_ctx(t->o);
	const char *why = t->told.lost ? "it lost the GPU" : strsignal(WTERMSIG(status));
	if (t->told.at)
		diag(c, NOLOC, D_E0631,
		     "candidate %d is not timed: %s; the others are measured again", t->told.at,
		     WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "it does not end" : why);
	else
		diag(c, NOLOC, D_E0631, "no candidate is timed: the compilation ended: %s", why);
	tool_messages(c, t->o);
	ctx_free(c);
	worsen(t, EXIT_DIAGS);
	if (t->told.at)
		t->dead[t->told.at - 1] = true;
	return t->told.at != 0;
}

static void measure_all(Tune *t)
{
	int status, left = t->ranked.n;
	do {
		t->told = (Told){.at = 0};
		status = in_child(t, measure);
		worsen(t, WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_DIAGS);
	} while (drop_dead(t, status) && --left);
}

/* ------------------------------------------------------------------ one set of sizes */
static bool rank(Tune *t)
{
	Buf log = {0};
	CompileOpt opt = tool_compile_opt(t->ctx, t->o, &log);
	t->ranked = (RankedVec){0};
	bool ok = choose_ranked(t->ctx, &t->source, &opt, t->o->top, &t->ranked);
	buf_free(&log);
	for (int i = 1; i < t->ranked.n; i++)
		if (strcmp(t->ranked.at[0].kernel, t->ranked.at[i].kernel) != 0) {
			tool_usage("several kernels have choices: say which with --kernel");
			worsen(t, EXIT_USAGE);
			return false;
		}
	return ok;
}

/* "gemm.bM=16" -> "bM=16": the line names the kernel */
static Defines bare(Tune *t, const Ranked *r)
{
	Defines all = {0};
	size_t n = strlen(r->kernel);
	for (int i = 0; i < r->defines.n; i++) {
		const char *d = r->defines.at[i];
		bool named = !strncmp(d, r->kernel, n) && d[n] == '.';
		vec_push(ctx_arena(t->ctx), &all, named ? d + n + 1 : d);
	}
	return all;
}

static bool keep_best(Tune *t)
{
	Buf text = {0};
	const Ranked *r = &t->ranked.at[t->told.best - 1];
	tuned_set(t->ctx, &t->tuned,
		  (Tuned){.card = t->card,
			  .kernel = r->kernel,
			  .sizes = t->o->problem.sizes,
			  .defines = bare(t, r),
			  .us = t->told.us});
	tuned_put(&t->tuned, &text);
	bool ok = file_write(t->ctx, t->source.tuned_name, text.s, text.n);
	buf_free(&text);
	return ok;
}

static bool tune_sizes(Tune *t, const Options *all, const SizeArgs *sizes)
{
	Options one = *all;
	one.problem.sizes = *sizes;
	one.wanted.n = 0;
	one.many = NULL;
	one.card = t->card;
	t->o = &one;
	memset(t->dead, 0, sizeof t->dead);
	bool ok = rank(t);
	if (ok)
		measure_all(t);
	ok = ok && (!t->told.best || keep_best(t));
	t->o = all;
	return ok;
}

/* ------------------------------------------------------------------ the command */
static bool can_write(Tune *t)
{
	const char *to = t->source.tuned_name;
	if (to && !same_file(to, t->o->inputs.at[0]))
		return true;
	if (to)
		diag(t->ctx, NOLOC, D_E0604, "the output '%s' is the input\nname another with -o",
		     to);
	else
		diag(t->ctx, NOLOC, D_E0616, "there is no FILE.tune for '%s'\ntune a .gemm file",
		     t->source.name);
	return false;
}

static bool begin(Tune *t, SizeArgsVec *all)
{
	if (!tool_read(t->ctx, t->o, t->o->inputs.at[0], &t->text, &t->source) || !can_write(t) ||
	    !tuned_read(t->ctx, &t->source, &t->tuned))
		return false;
	*all = tool_sizes(t->ctx, t->o);
	if (!all->n && !diag_errors(t->ctx)) {
		tool_usage("dslc tune measures at given sizes: --size M=16,N=4096,K=4096");
		worsen(t, EXIT_USAGE);
	}
	in_child(t, tell_card);
	t->card = *t->told.card ? ctx_str(t->ctx, t->told.card) : NULL;
	return all->n > 0 && !diag_errors(t->ctx);
}

int tool_tune(const Options *o)
{
	Tune t = {.o = o, .ctx = tool_ctx(o)};
	SizeArgsVec all = {0};
	bool ok = begin(&t, &all);
	for (int i = 0; ok && i < all.n; i++)
		ok = tune_sizes(&t, o, &all.at[i]);
	tool_messages(t.ctx, o);
	if (!ok)
		worsen(&t, EXIT_DIAGS);
	int code = t.code;
	buf_free(&t.text);
	ctx_free(t.ctx);
	return code;
}
