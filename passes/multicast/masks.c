/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* masks.c - masks, predicates, slices and releases from groups. They are tables over at most 16
 * ranks, and what is emitted is the shortest expression of the rank that has the table's values,
 * found by trying:
 *     0011 0011 1100 1100  ->  shl(3, rank / 2 * 2)  */
#include "passes/multicast/masks.h"

/* ------------------------------------------------------------------ tables */
/* v0 + p * (rank / a) + q * (rank % b): the values at 1 and at a decide q and p. */
static bool fits_form(const int64_t *v, int n, int a, int b, int64_t *p, int64_t *q)
{
	*q = b > 1 ? v[1] - v[0] : 0;
	*p = a < n ? v[a] - v[0] - *q * (a % b) : 0;
	for (int r = 0; r < n; r++)
		if (v[r] != v[0] + *p * (r / a) + *q * (r % b))
			return false;
	return true;
}

static const Ix *form(Ctx *c, int64_t v, int64_t p, int a, int64_t q, int b)
{
	const Ix *rank = ix_sym(c, "rank"), *x = ix_const(c, v);
	const Ix *along = ix_div(c, rank, ix_const(c, a)),
		 *across = ix_mod(c, rank, ix_const(c, b));
	x = ix_add(c, x, ix_mul(c, along, ix_const(c, p)));
	return ix_add(c, x, ix_mul(c, across, ix_const(c, q)));
}

static const Ix *chosen(Ctx *c, const int64_t *v, int n)
{
	const Ix *x = ix_const(c, v[0]);
	for (int r = 1; r < n; r++) {
		const Ix *here = ix_new(c, IX_EQ, ix_sym(c, "rank"), ix_const(c, r));
		x = ix_add(c, x, ix_mul(c, here, ix_const(c, v[r] - v[0])));
	}
	return x;
}

/* NULL when the form fits for no a, b. One of rank / a and rank % b is better than both. */
static const Ix *of_form(Ctx *c, const int64_t *v, int n)
{
	int64_t p, q;
	for (int a = 1; a <= n; a++)
		if (fits_form(v, n, a, 1, &p, &q))
			return form(c, v[0], p, a, q, 1);
	for (int b = 2; b < n; b++)
		if (fits_form(v, n, n, b, &p, &q))
			return form(c, v[0], 0, 1, q, b);
	for (int a = 2; a < n; a++)
		for (int b = 2; b < n; b++)
			if (fits_form(v, n, a, b, &p, &q))
				return form(c, v[0], p, a, q, b);
	return NULL;
}

const Ix *ix_of_ranks(Ctx *c, const int64_t *values, int n)
{
	const Ix *x = of_form(c, values, n);
	return x ? x : chosen(c, values, n);
}

static int lowest(uint16_t set)
{
	return __builtin_ctz(set);
}

const Ix *ix_of_sets(Ctx *c, const uint16_t *sets, int n)
{
	int64_t v[CLUSTER_CTAS] = {0}, shift[CLUSTER_CTAS] = {0};
	bool moved = true;
	const Ix *x;
	for (int r = 0; r < n; r++) {
		v[r] = sets[r];
		shift[r] = sets[r] ? lowest(sets[r]) : 0;
		moved &= sets[0] && sets[r] && sets[r] >> shift[r] == sets[0] >> lowest(sets[0]);
	}
	if ((x = of_form(c, v, n)) && (!moved || ix_is_const(x, NULL)))
		return x;
	if (moved && (x = of_form(c, shift, n)))
		return ix_new(c, IX_SHL, ix_const(c, sets[0] >> lowest(sets[0])), x);
	return ix_of_ranks(c, v, n);
}

/* ------------------------------------------------------------------ issue */
int ranks_count(unsigned set)
{
	return __builtin_popcount(set);
}

static uint16_t only(int rank)
{
	return (uint16_t)(1u << rank);
}

/* The size of every group if they are alike, else 0. */
static int group_size(const Same *s)
{
	for (int r = 1; r < s->ranks; r++)
		if (ranks_count(s->with[r]) != ranks_count(s->with[0]))
			return 0;
	return ranks_count(s->with[0]);
}

static Issue issue_of(const Same *s, Issue wanted, int parts)
{
	int size = group_size(s);
	if (wanted == ISSUE_EACH || size == 1)
		return ISSUE_EACH;
	if (wanted == ISSUE_LEADER || !size || !parts || parts % size)
		return ISSUE_LEADER;
	return ISSUE_SLICE;
}

static void share_each(Ctx *c, const Same *s, Share *share)
{
	share->mask = ix_new(c, IX_SHL, ix_const(c, 1), ix_sym(c, "rank"));
	share->loads = s->ranks;
	for (int r = 0; r < s->ranks; r++)
		share->into[r] = only(r);
}

static void share_groups(Ctx *c, const Same *s, Share *share)
{
	int64_t place[CLUSTER_CTAS];
	bool slice = share->issue == ISSUE_SLICE;
	for (int r = 0; r < s->ranks; r++) {
		place[r] = ranks_count(s->with[r] & ((1u << r) - 1));
		share->loads += !place[r];
		share->into[r] = slice || !place[r] ? s->with[r] : only(r);
	}
	share->mask = ix_of_sets(c, s->with, s->ranks);
	const Ix *at = ix_of_ranks(c, place, s->ranks);
	if (slice)
		share->slice = at;
	else
		share->issues = ix_new(c, IX_EQ, at, ix_const(c, 0));
}

Share share_load(Ctx *c, const Same *s, Issue wanted, int parts)
{
	Share share = {.issue = issue_of(s, wanted, parts), .slices = 1};
	share.slice = ix_const(c, 0);
	share.issues = ix_const(c, 1);
	if (share.issue == ISSUE_SLICE)
		share.slices = group_size(s);
	if (share.issue == ISSUE_EACH)
		share_each(c, s, &share);
	else
		share_groups(c, s, &share);
	return share;
}

/* ------------------------------------------------------------------ releases */
void releases_add(Releases *all, int ranks, const Share *load)
{
	all->ranks = ranks;
	for (int r = 0; r < ranks; r++) {
		all->into[r] |= load->into[r];
		for (int q = 0; q < ranks; q++)
			if (load->into[r] >> q & 1)
				all->from[q] |= only(r);
	}
	for (int r = 0; r < ranks; r++) {
		all->into[r] |= only(r);
		all->from[r] |= only(r);
	}
}
