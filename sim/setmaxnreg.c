/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* setmaxnreg.c - registers that warps give back and take (PTX ISA: setmaxnreg). All warps of a
 * warpgroup execute the same one, and a barrier before the next.
 *   setmaxnreg.dec 40 (four warps); setmaxnreg.inc 232 (eight)  ->  waits until the pool has enough
 */
#include "sim/lanes.h"

enum { GROUP = 4 }; /* warps of a warpgroup */

static Warp *group_of(Warp *w, u32 *n)
{
	u32 first = w->id / GROUP * GROUP, rest = w->cta->nwarps - first;
	*n = rest < GROUP ? rest : GROUP;
	return w->cta->warps + first;
}

/* Whether w knows that the other has executed the one before. */
static bool has_met(const Warp *w, const Warp *other)
{
	bool clocks = checked(w->cluster, CHECK_RACE | CHECK_EXIT);
	u32 seen = clock_of(&w->know.seen, other->actor);
	return other->regset.n > w->regset.n ||
	       (other->regset.n == w->regset.n && (!clocks || seen >= other->regset.clock));
}

/* The manual asks for one instruction and a barrier before the next; GPUs do without. */
static void sibling_check(Warp *w, const Ins *in, const Warp *other)
{
	const Ins *its = other->regset.in;
	if (w->regset.n && !has_met(w, other))
		report(w, in, -1, SIM_AGAIN,
		       "setmaxnreg again, and no barrier with warp %u of the warpgroup since the "
		       "one at line %d",
		       other->id, w->regset.in->line);
	bool same = its && its->args[0].imm == in->args[0].imm && has(its, M_DEC) == has(in, M_DEC);
	if (other->regset.n == w->regset.n + 1 && its != in)
		report(w, in, -1, same ? SIM_AGAIN : SIM_REGS,
		       "warp %u of the warpgroup executes another setmaxnreg, at line %d: all four "
		       "must execute the same",
		       other->id, its->line);
}

static void group_check(Warp *w, const Ins *in)
{
	u32 n;
	Warp *first = group_of(w, &n);
	if (n < GROUP)
		report(w, in, -1, SIM_REGS,
		       "setmaxnreg needs four warps, the last warpgroup has %u", n);
	for (u32 i = 0; i < n; i++)
		if (&first[i] != w)
			sibling_check(w, in, &first[i]);
	w->regset.in = in;
	w->regset.n++;
	w->regset.clock = thread_clock(w, 0);
}

void regs_left(Warp *w)
{
	u32 n, same = 0;
	Warp *first = group_of(w, &n), *most = first;
	for (u32 i = 0; i < n; i++) {
		if (first[i].live)
			return;
		if (first[i].regset.n > most->regset.n)
			most = &first[i];
	}
	for (u32 i = 0; i < n; i++)
		same += first[i].regset.n == most->regset.n;
	if (same < n)
		report(most, most->regset.in, -1, SIM_REGS,
		       "%u of %u warps of the warpgroup executed this: all must", same, n);
}

/* The pool of a CTA has what its warps gave back; inc waits until it has enough. */
Run run_setmaxnreg(Warp *w, const Ins *in, u32 mask)
{
	u32 want = (u32)in->args[0].imm;
	(void)mask;
	if (!w->cur->blocked)
		group_check(w, in);
	if (want < 24 || want > 256 || want % 8) {
		report(w, in, -1, SIM_OPERAND,
		       "setmaxnreg %u: a multiple of 8 from 24 to 256 is needed", want);
		return RUN_FAIL;
	}
	if (has(in, M_DEC) ? want > w->regs : want < w->regs) {
		report(w, in, -1, SIM_OPERAND,
		       "setmaxnreg.%s to %u, but each thread has %u registers",
		       has(in, M_DEC) ? "dec" : "inc", want, w->regs);
		return RUN_FAIL;
	}
	if (has(in, M_DEC)) {
		w->cta->pool += (w->regs - want) * LANES;
		w->regs = want;
		cluster_event(w->cluster);
		return RUN_NEXT;
	}
	u32 need = (want - w->regs) * LANES;
	if (need > w->cta->pool)
		return wait_for(w, in, (Wait){.kind = W_REGS, .phase = want});
	w->cta->pool -= need;
	w->regs = want;
	return RUN_NEXT;
}
