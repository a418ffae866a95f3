/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* why_multicast.c - what multicast found, kept for those who ask: the groups of CTAs, what proved
 * them, who issues for whom, and in a sentence why not otherwise.
 *     groups {0, 2} {1, 3} by slices  ->  multicast sB 2: "groups of 2 CTAs load the same, ..."
 * Nothing is decided here. */
#include "passes/why.h"

#include <string.h>

static const char *const issue_words[] = {"auto", "off", "leader", "slice"};

/* ------------------------------------------------------------------ proofs */
static const char *named(Kernel *k, const char *theorem)
{
	bool number = *theorem >= '0' && *theorem <= '9';
	return number ? ctx_strf(k->ctx, "theorem %s", theorem) : theorem;
}

/* Theorems of the rules that were applied. */
static void keep_proofs(Kernel *k, const Same *same, ReasonShare *w)
{
	int rules = 0;
	while (ix_rule_theorem(rules))
		rules++;
	w->proofs = NEWN(ctx_arena(k->ctx), const char *, rules + 1);
	for (int i = 0; i < rules; i++)
		if (same->rules >> i & 1)
			w->proofs[w->nproofs++] = named(k, ix_rule_theorem(i));
	if (!w->nproofs)
		w->proofs[w->nproofs++] =
			"formulas of where tiles begin, equal or a constant apart";
}

/* ------------------------------------------------------------------ sentences */
static int most(const uint16_t *sets, int n)
{
	int m = 0;
	for (int r = 0; r < n; r++)
		m = ranks_count(sets[r]) > m ? ranks_count(sets[r]) : m;
	return m;
}

static bool alike(const uint16_t *sets, int n)
{
	for (int r = 1; r < n; r++)
		if (ranks_count(sets[r]) != ranks_count(sets[0]))
			return false;
	return true;
}

/* Reason a leader and no slices, where these were not ruled out by the program. */
static const char *against_slices(Kernel *k, const Same *same, int parts)
{
	if (!alike(same->with, same->ranks))
		return "groups are not of one size";
	return ctx_strf(k->ctx,
			"the tile has %d times 8 rows, after which its swizzle repeats, and "
			"groups have %d CTAs",
			parts, ranks_count(same->with[0]));
}

static const char *sentence(Kernel *k, const Same *same, const Share *s, Issue wanted)
{
	Ctx *c = k->ctx;
	if (wanted == ISSUE_EACH)
		return "as requested: each CTA loads for itself";
	if (s->issue == ISSUE_EACH)
		return same->narrowed ? "no two CTAs of a cluster are known to load the same"
				      : "no two CTAs of a cluster load the same";
	if (wanted == s->issue)
		return "as asked";
	if (s->issue == ISSUE_SLICE)
		return ctx_strf(c, "groups of %d CTAs load the same, each a part for all",
				s->slices);
	return "the lowest CTA of a group loads for all";
}

/* ------------------------------------------------------------------ records */
static void keep(Kernel *k, const ReasonShare *w)
{
	k->whys.at[k->whys.n - 1].share = w;
}

void why_share(Kernel *k, const Op *load, const Same *same, const Share *s, Issue wanted, int parts,
	       bool apart)
{
	const char *buffer = IN(load, TO).val->name;
	ReasonShare *w = NEW(ctx_arena(k->ctx), ReasonShare);
	if (kernel_why_find(k, REASON_MULTICAST, buffer))
		return;
	*w = (ReasonShare){.ranks = same->ranks,
			   .issue = issue_words[s->issue],
			   .narrowed = same->narrowed,
			   .slices = s->slices,
			   .loads = s->loads,
			   .mask = s->mask,
			   .issues = s->issues,
			   .part = s->slice};
	memcpy(w->with, same->with, sizeof w->with);
	keep_proofs(k, same, w);
	bool against = s->issue == ISSUE_LEADER && wanted != ISSUE_LEADER;
	if (against)
		kernel_why_not(k, REASON_MULTICAST, buffer, most(same->with, same->ranks),
			       "by slices: %s", against_slices(k, same, parts));
	kernel_why(k, REASON_MULTICAST, buffer,
		   s->issue == ISSUE_EACH ? 1 : most(same->with, same->ranks), "%s",
		   apart ? "each CTA for itself: its loops run as often as its own tile says"
			 : sentence(k, same, s, against ? ISSUE_AUTO : wanted));
	keep(k, w);
}

void why_releases(Kernel *k, const char *ring, const Releases *all)
{
	ReasonShare *w = NEW(ctx_arena(k->ctx), ReasonShare);
	*w = (ReasonShare){.ranks = all->ranks};
	memcpy(w->into, all->into, sizeof w->into);
	memcpy(w->from, all->from, sizeof w->from);
	kernel_why(k, REASON_RELEASES, ring, most(all->from, all->ranks),
		   "a slot is free when the readers of all CTAs that a load goes to have released "
		   "it to the CTA that issues");
	keep(k, w);
}
