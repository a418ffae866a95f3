/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* multicast.c - CTAs of a cluster that load the same load it once. For each load, the groups of
 * whose tile begins at the same place are derived from its index expressions (cluster_groups.h);
 * who issues for whom follows (masks.h), and with it, for each ring, into whose slots a CTA's loads
 * go.
 *     load.tma %sA[k], %t, %A.map
 * ->  load.tma %sA[k], %t, %A.map.1 (3, rank, 1) slices=2 ; ring ab into=(3,3) from=(3,3)
 * A CTA arrives on the barriers of all that fill its slots. */
#include "passes/why.h"

#include <string.h>

enum { ATOM_ROWS = 8 /* after which a swizzle repeats */ };

/* As the load says, else the schedule. */
static Issue issue_wanted(const Kernel *k, const Op *load)
{
	static const char *const words[] = {"auto", "off", "leader", "slice"};
	const char *word = attrs_str(&k->attrs, A_MULTICAST, "auto");
	word = attrs_str(&load->attrs, A_MULTICAST, word);
	for (int i = 0; i < (int)COUNTOF(words); i++)
		if (!strcmp(word, words[i]))
			return (Issue)i;
	panic("multicast %s", word);
}

static void share(Kernel *k, Op *load, const Share *s, SlotForm m)
{
	op_ixs(k, load, s->mask, s->slice, s->issues);
	op_int(k, load, A_SLICES, s->slices);
	attrs_drop(&load->attrs, A_MULTICAST);
	m.rows /= s->slices;
	IN(load, MAP).val = kernel_map(k, load->loc, IN(load, FROM).val, m)->out;
}

/* Whether a loop that fills the ring runs as often as the CTA's own tile says: CTAs are then not at
 * one position of it together. */
static bool runs_by_rank(const Kernel *k, const Op *loop, const char *ring)
{
	bool by_rank = false, fills = false;
	for (const Op *op = loop->body->first; op && op_inside(op, loop); op = op_next(op))
		fills |= op_touches(op, ring, FX_W | FX_AW);
	for (int i = 0; i < 2 && fills; i++) {
		const Ix *bound = same_resolve(k, loop, loop->ix[i]);
		by_rank |= ix_uses(bound, "rank") || ix_uses(bound, "cta");
	}
	return by_rank;
}

static bool goes_by_rank(const Kernel *k, const char *ring)
{
	for (const Op *loop = kernel_find(k, OP_FOR); loop; loop = op_find_next(loop, OP_FOR))
		if (runs_by_rank(k, loop, ring))
			return true;
	return false;
}

/* Where its tile begins and ends, and where the indices do that name its rows. */
static Same same_load(const Kernel *k, const Op *load)
{
	SameFrame f = {k->ctx, kernel_facts(k), kernel_cluster_ctas(k)};
	const Val *tile = IN(load, FROM).val, *indices = tile_indices(tile);
	const Ix *origin[2 * MODES_MOST + 1], *end = IN(tile->def, OF).at;
	const Layout *l = IN(tile->def, OF).val->type->layout;
	ModeList modes = layout_map_modes(l);
	int n = 0;
	for (int i = 0; i < modes.n; i++) {
		int mode = layout_part(l, modes.at[i]).mode;
		origin[n++] = same_resolve(k, load, tile->def->ix[mode]);
	}
	if (end)
		origin[n++] = same_resolve(k, load, end);
	for (int i = 0; indices && i < indices->def->nix; i++)
		origin[n++] = same_resolve(k, load, indices->def->ix[i]);
	return same_bulk(&f, origin, n);
}

static SlotForm form_of(const Kernel *k, const Op *load)
{
	SlotForm m;
	const char *why = slot_form(k->ctx, IN(load, TO).val->type, &m);
	if (why)
		panic("%s: %s", IN(load, TO).val->name, why);
	return m;
}

/* Whether some CTAs of the cluster leave it out: nobody loads for those who do. */
static bool is_of_some(const Op *load)
{
	bool some = false;
	for (const Op *up = op_parent(load); up; up = op_parent(up))
		for (int i = 0; up->kind == OP_IF && i < up->nix; i++)
			some |= ix_uses(up->ix[i], "rank");
	return some;
}

/* Whether each CTA loads for itself, whatever others load. */
static bool loads_apart(const Kernel *k, const Op *load)
{
	const char *ring = attrs_str(&IN(load, TO).val->def->attrs, A_RING, "");
	return goes_by_rank(k, ring) || is_of_some(load) ||
	       ring_filled_by_lanes(k, ring); /* of this CTA alone: nobody fills for another */
}

/* Rows of a swizzle that a slice may begin at; 1: slices would be no boxes of the tensor. */
static int parts_of(Kernel *k, const Op *load, const Same *same, Issue wanted)
{
	SlotForm m = form_of(k, load);
	int parts = m.rows / ATOM_ROWS, n = share_load(k->ctx, same, wanted, parts).slices;
	return tile_is_box(k, IN(load, FROM).val, 1 - m.fast, m.rows / n) ? parts : 1;
}

int slices_of(Kernel *k, const Op *load)
{
	if (kernel_cluster_ctas(k) == 1 || loads_apart(k, load))
		return 1;
	Same same = same_load(k, load);
	Issue wanted = issue_wanted(k, load);
	return share_load(k->ctx, &same, wanted, parts_of(k, load, &same, wanted)).slices;
}

static void share_load_op(Kernel *k, Op *load, bool apart, Releases *all)
{
	SlotForm m = form_of(k, load);
	Same same = same_load(k, load);
	Issue wanted = apart ? ISSUE_EACH : issue_wanted(k, load);
	int parts = parts_of(k, load, &same, wanted);
	Share s = share_load(k->ctx, &same, wanted, parts);
	why_share(k, load, &same, &s, wanted, parts, apart);
	releases_add(all, same.ranks, &s);
	if (s.issue != ISSUE_EACH)
		share(k, load, &s, m);
}

static void share_ring(Kernel *k, Op *ring)
{
	Releases all = {0};
	int64_t into[CLUSTER_CTAS], from[CLUSTER_CTAS];
	bool shared = false;
	for (Op *op = kernel_first(k); op; op = op_next(op))
		if (op_done_by(op, DONE_BY_BARRIER) && operand_on_ring(&IN(op, TO), ring->sym[0]))
			share_load_op(k, op, loads_apart(k, op), &all);
	for (int r = 0; r < all.ranks; r++) {
		into[r] = all.into[r];
		from[r] = all.from[r];
		shared |= into[r] != INT64_C(1) << r;
	}
	if (!shared)
		return;
	op_ints(k, ring, A_INTO, into, all.ranks);
	op_ints(k, ring, A_FROM, from, all.ranks);
	why_releases(k, ring->sym[0], &all);
}

PASS_OF(multicast)
{
	if (kernel_cluster_ctas(k) == 1)
		return;
	for (Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING))
		if (!attrs_get(&ring->attrs, A_INTO)) /* said already */
			share_ring(k, ring);
	drop_unused(k, OP_TMAP);
}
