/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* run.c - the manager: runs the rows of passes.def in order, checks what each needs and gives, and
 * verifies the IR after every one. */
#include "passes/pass.h"

#include <string.h>
#include <time.h>

enum { ANY = ST_ANY, TILE = ST_TILE, WARP = ST_WARP, PTX = ST_PTX, SAME = 0 };

const PassRow pass_rows[PASS_COUNT] = {
#define PASS(id, from, to, needs, gives, help) \
	[PASS_##id] = {#id, help, from, to, needs, gives, pass_##id},
#include "passes/passes.def"
};

static const PassId order[] = {
#define PASS(id, ...) PASS_##id,
#define AGAIN(id)     PASS_##id,
#include "passes/passes.def"
};

int pass_by_name(const char *name)
{
	for (int i = 0; i < PASS_COUNT; i++)
		if (!strcmp(pass_rows[i].name, name))
			return i;
	return -1;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What the pass cannot take: of text, that the text is wrong; else a pass or the frontend is. */
static bool refuse(const Kernel *k, Loc loc, const PassRow *p, const PassOpt *opt, const char *when,
		   const char *why)
{
	Buf dump = {0};
	if (opt->given) {
		diag(k->ctx, loc, D_E0420, "%s pass %s: %s", when, p->name, why);
		return false;
	}
	kernel_print(k, &dump);
	panic("%s pass %s: %s\n%s", when, p->name, why, dump.s);
}

static bool expect(const Kernel *k, PassId id, const PassOpt *opt)
{
	const Op *where;
	const char *why = opt->given ? pass_expects(k, id, &where) : NULL;
	return !why || refuse(k, where ? where->loc : k->loc, &pass_rows[id], opt, "before", why);
}

static bool verify(const Kernel *k, const PassRow *p, const PassOpt *opt)
{
	const char *why = NULL;
	Loc where;
	return kernel_check(k, &why, &where) || refuse(k, where, p, opt, "after", why);
}

bool pass_failed(const Kernel *k)
{
	return diag_errors(k->ctx) > k->errors_before;
}

static bool run_one(Kernel *k, PassId id, const PassOpt *opt)
{
	const PassRow *p = &pass_rows[id];
	Buf before = {0}, after = {0};
	if (!expect(k, id, opt))
		return false;
	if (opt->compares)
		kernel_print(k, &before);
	double start = now();
	k->errors_before = diag_errors(k->ctx);
	layout_assume(k->ctx, kernel_facts(k));
	p->run(k);
	layout_assume(k->ctx, (IxFacts){0});
	double seconds = now() - start;
	if (pass_failed(k)) {
		buf_free(&before);
		return false;
	}
	k->props |= p->gives;
	if (p->to)
		k->stage = (Stage)p->to;
	kernel_str(k, A_AFTER, p->name);
	bool ok = verify(k, p, opt);
	if (ok && opt->compares)
		kernel_print(k, &after);
	if (ok && opt->after) {
		bool changed = !opt->compares || strcmp(before.s, after.s) != 0;
		opt->after(opt->user, k, id, changed, seconds);
		ok = !pass_failed(k);
	}
	buf_free(&before);
	buf_free(&after);
	return ok;
}

/* Where to go on: after the pass that the kernel names, and with what the passes up to there
 * gave. */
static size_t resume(Kernel *k)
{
	const char *after = attrs_str(&k->attrs, A_AFTER, NULL);
	size_t start = 0;
	for (size_t i = 0; after && i < COUNTOF(order); i++)
		if (!strcmp(pass_rows[order[i]].name, after) && (!start || k->stage == ST_PTX))
			start = i + 1;
	k->props = 0;
	for (size_t i = 0; i < start; i++)
		k->props |= pass_rows[order[i]].gives;
	return start;
}

bool passes_run(Kernel *k, const PassOpt *opt)
{
	if (opt->only >= 0)
		return run_one(k, (PassId)opt->only, opt);
	for (size_t i = resume(k); i < COUNTOF(order); i++) {
		const PassRow *p = &pass_rows[order[i]];
		if (!(k->stage & p->from) || (k->props & p->needs) != p->needs)
			panic("pass %s: what it needs was not given", p->name);
		if (!run_one(k, order[i], opt))
			return false;
		if ((int)order[i] == opt->stop_after)
			return true;
	}
	return true;
}
