/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* report.c - what was chosen, and why, in a few lines:
 *     gemm for 16 x 4096 x 4096 on NVIDIA H200: -DbM=16 -DbN=64 -Dschedule="roles none; swap;"
 *     estimate 9.1 us: memory 8.2, SMs 6.0, L2 3.3; of the SMs: fill 0.5, epilogue 0.1, exchange 0
 *     a step of k takes 410 clocks: mma 16, shared memory 80, loads 410
 *     64 tiles, 1 on the busiest SM
 *     next: 9.3 us with -DbM=16 -DbN=128 .. */
#include "driver/choose/choose.h"

void chosen_defines(const Choices *s, const Candidate *x, Buf *out)
{
	Defines d = {0};
	choices_defines(s, x, &d);
	buf_printf(out, " ");
	defines_put(&d, out);
}

static const Entry *runner_up(const Chooser *c)
{
	const Entry *best = NULL;
	for (int i = 0; i < c->pool.n; i++)
		if (!c->pool.at[i]->refused && !c->pool.at[i]->taken &&
		    (!best || c->pool.at[i]->us[0] < best->us[0]))
			best = c->pool.at[i];
	return best;
}

static void put_terms(const Chooser *c, const Entry *e, Buf *out)
{
	CostTerms t;
	cost_us(&choices_work(&c->of)->product, &e->x.v, &c->sizes.at[0], &c->device, &t);
	buf_printf(
		out,
		"  estimate %.1f us: SMs %.1f, memory %.1f, L2 %.1f; of the SMs' time fill %.1f, "
		"epilogue %.1f, exchange %.1f\n",
		t.us, t.sm, t.hbm, t.l2, t.fill, t.epilogue, t.exchange);
	buf_printf(out,
		   "  a step of k takes %.0f clocks: mma %.0f, shared memory %.0f, loads %.0f\n"
		   "  %.0f tiles, %.0f on the busiest SM\n",
		   t.step, t.mma, t.smem, t.load, t.tiles, t.per_sm);
}

static void put_one(const Chooser *c, Buf *out)
{
	const CostSizes *s = &c->sizes.at[0];
	/* of several products, whose sizes the model adds up, and of groups */
	const SizeArgs *given = choices_work(&c->of)->several ? c->of.opt->sizes : NULL;
	const Entry *next = runner_up(c);
	bool measured = c->measured == c->chosen.at[0];
	buf_printf(out, "%s for ", c->of.kernel);
	for (int i = 0; given && i < given->n; i++)
		buf_printf(out, "%s%s=%.0f", i ? "," : "", given->at[i].name,
			   (double)given->at[i].value);
	if (!given)
		buf_printf(out, "%.0f x %.0f x %.0f", s->m, s->n, s->k);
	buf_printf(out, " on %s%s:", measured ? c->line->card : c->device.name,
		   measured ? ", measured" : "");
	chosen_defines(&c->of, &c->chosen.at[0]->x, out);
	buf_printf(out, "\n");
	if (measured)
		buf_printf(out, "  %.2f us when dslc tune measured it\n", c->line->us);
	put_terms(c, c->chosen.at[0], out);
	if (!next)
		return;
	buf_printf(out, "  next: %.1f us with", (double)next->us[0]);
	chosen_defines(&c->of, &next->x, out);
	buf_printf(out, "\n");
}

static void put_family(const Chooser *c, Buf *out)
{
	buf_printf(out, "%s: %d variant%s for %d sizes on %s, %.1f %% over the best of each\n",
		   c->of.kernel, c->chosen.n, c->chosen.n > 1 ? "s" : "", c->sizes.n,
		   c->device.name, chooser_loss(c) * 100);
	for (int i = 0; i < c->chosen.n; i++) {
		buf_printf(out, "  %s:", chosen_name(c, i));
		chosen_defines(&c->of, &c->chosen.at[i]->x, out);
		buf_printf(out, "\n");
	}
}

void report_chosen(const Chooser *c, Buf *out)
{
	if (c->chosen.n && c->of.known && c->sizes.n == 1)
		put_one(c, out);
	else if (c->chosen.n && c->of.known)
		put_family(c, out);
	else if (!c->chosen.n)
		buf_printf(out, "%s: nothing that was tried compiles\n", c->of.kernel);
	else
		buf_printf(out, "%s: %s, as the model does not know what it computes\n",
			   c->of.kernel, c->of.schedule ? "warps that load" : "legal values");
}
