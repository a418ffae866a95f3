/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_clock.c - who knows what in one interleaving: clocks of the parts of warps, and what is
 * found to hang on the order.
 *     w arrives: the barrier learns what w knows; v waits for it: v learns that
 */
#include "stepper_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ clocks */
bool run_fail(Run *r, const char *what, const Op *op, const Op *other)
{
	Buf a = {0}, b = {0};
	if (r->wrong)
		return false;
	r->wrong = true;
	r->out->what = what;
	r->out->op = op;
	r->out->other = other;
	if (op)
		op_print(op, &a);
	if (other)
		op_print(other, &b);
	snprintf(r->out->text, sizeof r->out->text, "%.70s%s%.70s", op ? a.s : "",
		 other ? " | " : "", other ? b.s : "");
	buf_free(&a);
	buf_free(&b);
	return false;
}

Clock clock_new(Run *r)
{
	int n = r->t->parts;
	int *at = calloc((size_t)(n * CLOCKS), sizeof *at);
	return (Clock){at, at + n, at + 2 * n, at + 3 * n};
}

void clock_free(Clock c)
{
	free(c.known);
}

void clock_join(const Run *r, Clock to, Clock from)
{
	int n = CLOCKS * r->t->parts;
	for (int i = 0; i < n; i++)
		if (from.known[i] > to.known[i])
			to.known[i] = from.known[i];
}

void clock_copy(const Run *r, Clock to, Clock from)
{
	memcpy(to.known, from.known, sizeof *to.known * (size_t)(CLOCKS * r->t->parts));
}

void run_give(Run *r, int w, uint32_t lanes, Clock to)
{
	EACH_CLASS(c, run_warp(r, w), lanes)
	clock_join(r, to, run_clock(r, w, c));
}

/* What each lane knows. */
void run_give_common(Run *r, int w, Clock to)
{
	int n = CLOCKS * r->t->parts;
	clock_copy(r, to, run_clock(r, w, 0));
	for (int c = 1; c < run_warp(r, w)->nclasses; c++) {
		const int *known = run_clock(r, w, c).known;
		for (int i = 0; i < n; i++)
			if (known[i] < to.known[i])
				to.known[i] = known[i];
	}
}

void run_take(Run *r, int w, uint32_t lanes, Clock from)
{
	EACH_CLASS(c, run_warp(r, w), lanes)
	clock_join(r, run_clock(r, w, c), from);
}

/* ------------------------------------------------------------------ what hangs on the order */
bool run_same_phase(Run *r, int *seen, int phase, const Op *op)
{
	if (*seen && *seen != phase + 1)
		return run_fail(r, "the phase that a step meets depends on the order", op, NULL);
	*seen = phase + 1;
	return true;
}

int *run_seen(const Run *r, int w)
{
	return &run_warp(r, w)->seen[r->warp[w].at * r->t->ctas];
}
