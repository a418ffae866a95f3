/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* run.c - the manager: runs the rows of passes.def in order, and verifies the IR after those whose
 * result obeys all rules of the IR. */
#include "passes/pass.h"

#include <string.h>

#define PASS(id, ...) void pass_##id(Kernel *k);
#include "passes/passes.def"

enum { OPEN, WHOLE };
const PassRow pass_rows[] = {
#define PASS(id, stage, whole, help) {#id, help, ST_##stage, whole, pass_##id},
#include "passes/passes.def"
	{.stage = ST_PTX}};

const int pass_count = COUNTOF(pass_rows) - 1;
_Static_assert(COUNTOF(pass_rows) - 1 <= PASSES_MOST, "more passes than PASSES_MOST");

int pass_by_name(const char *name)
{
	for (int i = 0; i < pass_count; i++)
		if (!strcmp(pass_rows[i].name, name))
			return i;
	return -1;
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

static bool expect(const Kernel *k, int id, const PassOpt *opt)
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

static bool run_one(Kernel *k, int id, const PassOpt *opt)
{
	const PassRow *p = &pass_rows[id];
	Buf before = {0}, after = {0};
	if (!expect(k, id, opt))
		return false;
	if (opt->compares)
		kernel_print(k, &before);
	double start = now_seconds();
	k->errors_before = diag_errors(k->ctx);
	layout_assume(k->ctx, kernel_facts(k));
	p->run(k);
	layout_assume(k->ctx, (IxFacts){0});
	double seconds = now_seconds() - start;
	if (pass_failed(k)) {
		buf_free(&before);
		return false;
	}
	k->stage = p[1].stage;
	kernel_str(k, A_AFTER, p->name);
	bool ok = !p->whole || verify(k, p, opt);
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

bool passes_run(Kernel *k, const PassOpt *opt)
{
	const char *after = attrs_str(&k->attrs, A_AFTER, NULL);
	if (opt->only >= 0)
		return run_one(k, opt->only, opt);
	for (int i = after ? pass_by_name(after) + 1 : 0; i < pass_count; i++) {
		if (!run_one(k, i, opt))
			return false;
		if (i == opt->stop_after)
			return true;
	}
	return true;
}
