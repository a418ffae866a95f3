/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* multicast.c - how the CTAs of a cluster share loads, for the notes after a kernel: which
 * load the same and what proves it, who issues for whom, what is saved, who hears of a free slot.
 *     sB <- B ...
 *         the same tile: {0,1}, exact
 *         slice: each CTA loads part rank of 2 for mask 3 */
#include "driver/explain/explain.h"

#include <inttypes.h>

uint16_t share_mates(const uint16_t *sets, int rank)
{
	return sets[rank] & ((1u << rank) - 1) ? 0 : sets[rank];
}

static void put_set(uint16_t set, Buf *out)
{
	const char *between = "{";
	for (int r = 0; r < SHARE_CTAS; r++)
		if (set >> r & 1) {
			buf_printf(out, "%s%d", between, r);
			between = ",";
		}
	buf_printf(out, "}");
}

/* ------------------------------------------------------------------ groups */
static void note_groups(const ReasonShare *w, Buf *out)
{
	note(out, "", "load the same:");
	for (int r = 0; r < w->ranks; r++)
		if (share_mates(w->with, r)) {
			buf_printf(out, " ");
			put_set(w->with[r], out);
		}
	buf_printf(out,
		   w->narrowed ? "; narrowed: others may, and are not known to\n" : "; exact\n");
	for (int i = 0; i < w->nproofs; i++) {
		note(out, "", "  by %s\n", w->proofs[i]);
	}
}

/* ------------------------------------------------------------------ issue */
static void note_issue(const FactCopy *c, const Reason *why, Buf *out)
{
	const ReasonShare *w = why->share;
	Buf mask = {0}, who = {0};
	ix_print(w->mask, &mask);
	ix_print(w->slices > 1 ? w->part : w->issues, &who);
	note(out, "", "multicast %s: %s\n", w->issue, why->text);
	if (w->slices > 1)
		note(out, "",
		     "each CTA issues part %s of %d, %" PRId64 " bytes, to the CTAs of mask %s\n",
		     who.s, w->slices, c->bytes, mask.s);
	else if (ix_is(w->issues, 1))
		note(out, "", "each CTA issues its own, mask %s\n", mask.s);
	else
		note(out, "", "issued where %s, to the CTAs of mask %s\n", who.s, mask.s);
	buf_free(&mask);
	buf_free(&who);
}

static void note_saved(const FactCopy *c, const ReasonShare *w, Buf *out)
{
	note(out, "",
	     "a stage of the cluster reads %d of %d tiles: saves %" PRId64 " of %" PRId64
	     " bytes\n",
	     w->loads, w->ranks, (w->ranks - w->loads) * c->tile_bytes, w->ranks * c->tile_bytes);
}

static void note_rejected(const Facts *f, const FactCopy *c, Buf *out)
{
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, REASON_MULTICAST, w));)
		if (w->rejected && w->subject == c->why->subject)
			note(out, "", "rejected %s\n", w->text);
}

void share_note(const Facts *f, const FactCopy *load, Buf *out)
{
	if (!load->why || !load->why->share)
		return;
	note_groups(load->why->share, out);
	note_rejected(f, load, out);
	note_issue(load, load->why, out);
	note_saved(load, load->why->share, out);
}

/* ------------------------------------------------------------------ rings */
/* Ranks with equal sets together: "{0,1} to {0,1}". */
static void put_sets(const ReasonShare *w, const uint16_t *sets, Buf *out)
{
	for (int r = 0; r < w->ranks; r++) {
		uint16_t alike = 0;
		for (int q = 0; q < w->ranks; q++)
			if (sets[q] == sets[r])
				alike |= (uint16_t)(1u << q);
		if (alike & ((1u << r) - 1))
			continue;
		buf_printf(out, r ? ", " : " ");
		put_set(alike, out);
		buf_printf(out, " to ");
		put_set(sets[r], out);
	}
}

void share_ring_note(const FactRing *ring, Buf *out)
{
	const ReasonShare *w = ring->why ? ring->why->share : NULL;
	if (!w)
		return;
	note(out, "", "%s: readers release a slot to the CTAs that fill it:", ring->name);
	put_sets(w, w->from, out);
	buf_printf(out, "\n");
}
