/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* passes.same - which CTAs of a cluster load the same, against plain evaluation of the coordinates:
 * random clusters, orders and grids; for every rank pair of sampled iterations and clusters the
 * groups, masks, predicates, slices and releases. "Same" must never be wrong; "different" must be
 * right unless the answer says that it is narrowed, which it never is where a cluster computes a
 * box of tiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "passes/multicast/masks.h"

/* Sanitizers make each some ten times slower: CMakeLists.txt. */
#ifndef CONFIGS
#define CONFIGS 10000
#endif
enum { PER_CTX = 250, POINTS = 2, SEED = 20270 };

/* Tiles in the order of their numbers: RM x RN boxes of CM x CN tiles, boxes n first; tiles of a
 * box m first (as ranks are) or n first. */
typedef struct {
	int ranks, clusters, cm, cn, rn;
	bool m_first;
	int known; /* of clusters: 0 nothing, 1 a divisor, 2 the number */
} Config;

typedef struct {
	Ctx *c;
	uint64_t seed;
	int64_t t, cluster, clusters, rank;
	int exact, shared;
} World;

static int below(World *w, int n)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((w->seed >> 33) % (uint64_t)n);
}

static Config config_draw(World *w)
{
	static const int ranks[] = {1, 2, 2, 2, 3, 4, 4, 4, 4, 5, 6, 8, 8};
	Config g = {.ranks = ranks[below(w, COUNTOF(ranks))],
		    .cm = 1 + below(w, 4),
		    .cn = 1 + below(w, 4),
		    .rn = 1 + below(w, 5),
		    .m_first = below(w, 2),
		    .known = below(w, 3)};
	g.clusters = 1 + below(w, 12);
	if (below(w, 32) == 0)
		g.ranks = 9 + below(w, 8);
	else if (below(w, 2)) /* as the pass tiles has it */
		g.ranks = g.cm * g.cn;
	return g;
}

/* ------------------------------------------------------------------ plain numbers */
static int64_t plain(const Config *g, bool b, int64_t t, int64_t cluster, int rank)
{
	int64_t i = (t * g->clusters + cluster) * g->ranks + rank;
	int64_t box = i / (g->cm * g->cn), in = i % (g->cm * g->cn);
	int64_t m = g->m_first ? in % g->cm : in / g->cn;
	int64_t n = g->m_first ? in / g->cm : in % g->cn;
	return b ? box % g->rn * g->cn + n : box / g->rn * g->cm + m;
}

static uint16_t plain_mask(const Config *g, bool b, int64_t t, int64_t cluster, int rank)
{
	unsigned mask = 0;
	for (int q = 0; q < g->ranks; q++)
		if (plain(g, b, t, cluster, q) == plain(g, b, t, cluster, rank))
			mask |= 1u << q;
	return (uint16_t)mask;
}

/* ------------------------------------------------------------------ expressions */
static const Ix *number(World *w, int64_t v)
{
	return ix_const(w->c, v);
}

static const Ix *origin(World *w, const Config *g, bool b)
{
	Ctx *c = w->c;
	const Ix *clusters = g->known == 2 ? number(w, g->clusters) : ix_sym(c, "clusters");
	const Ix *i = ix_add(c, ix_mul(c, ix_sym(c, "t"), clusters), ix_sym(c, "cluster"));
	i = ix_add(c, ix_mul(c, i, number(w, g->ranks)), ix_sym(c, "rank"));
	const Ix *tiles = number(w, g->cm * g->cn), *cm = number(w, g->cm), *cn = number(w, g->cn);
	const Ix *box = ix_div(c, i, tiles), *in = ix_mod(c, i, tiles);
	const Ix *m = g->m_first ? ix_mod(c, in, cm) : ix_div(c, in, cn);
	const Ix *n = g->m_first ? ix_div(c, in, cm) : ix_mod(c, in, cn);
	const Ix *rn = number(w, g->rn);
	const Ix *at = b ? ix_add(c, ix_mul(c, ix_mod(c, box, rn), cn), n)
			 : ix_add(c, ix_mul(c, ix_div(c, box, rn), cm), m);
	return ix_mul(c, at, number(w, 128));
}

static bool value_of(void *user, const char *name, int64_t *v)
{
	const World *w = user;
	*v = !strcmp(name, "t")          ? w->t
	     : !strcmp(name, "cluster")  ? w->cluster
	     : !strcmp(name, "clusters") ? w->clusters
	     : !strcmp(name, "rank")     ? w->rank
					 : -1;
	return *v >= 0;
}

static int64_t eval(World *w, const Ix *x, int rank)
{
	int64_t v = -1;
	w->rank = rank;
	assert_true(ix_eval(x, value_of, w, &v));
	return v;
}

static const char *show(Ctx *c, const Ix *x)
{
	Buf b = {0};
	ix_print(x, &b);
	const char *s = ctx_str(c, b.s);
	buf_free(&b);
	return s;
}

/* ------------------------------------------------------------------ checks */
#define MUST(x) ((x) ? (void)0 : failed(w, g, b, #x, __LINE__))

static void failed(World *w, const Config *g, bool b, const char *what, int line)
{
	fail_msg("line %d: %s: ranks %d clusters %d box (%d,%d) rn %d m_first %d known %d operand "
		 "%c at t %d cluster %d: %s",
		 line, what, g->ranks, g->clusters, g->cm, g->cn, g->rn, g->m_first, g->known,
		 b ? 'B' : 'A', (int)w->t, (int)w->cluster, show(w->c, origin(w, g, b)));
}

typedef struct {
	SameFrame frame;
	Same same;
	Share leader, slice;
	Releases release;
} Answer;

static void check_share(World *w, const Config *g, bool b, const Same *s, const Share *share)
{
	uint16_t mask[CLUSTER_CTAS];
	int parts[CLUSTER_CTAS] = {0};
	for (int r = 0; r < g->ranks; r++)
		mask[r] = (uint16_t)eval(w, share->mask, r);
	for (int r = 0; r < g->ranks; r++) {
		uint16_t truth = plain_mask(g, b, w->t, w->cluster, r);
		bool each = share->issue == ISSUE_EACH;
		MUST(mask[r] >> r & 1);
		MUST(!(mask[r] & ~truth));
		MUST(s->narrowed || s->with[r] == truth);
		MUST(!(s->with[r] & ~truth) && (each || s->with[r] == mask[r]));
		int64_t issues = eval(w, share->issues, r), slice = eval(w, share->slice, r);
		int lower = __builtin_popcount(mask[r] & ((1u << r) - 1));
		if (share->issue == ISSUE_LEADER)
			MUST(issues == (lower == 0) && slice == 0 && share->slices == 1);
		else
			MUST(issues == 1 && slice == lower &&
			     share->slices == __builtin_popcount(mask[r]));
		for (int q = 0; q < g->ranks; q++) {
			MUST(!(mask[r] >> q & 1) || mask[q] == mask[r]);
			if (issues && mask[r] >> q & 1) {
				parts[q]++;
				MUST(share->into[r] >> q & 1);
			}
		}
	}
	for (int r = 0; r < g->ranks; r++)
		MUST(parts[r] == share->slices);
}

static void check_releases(World *w, const Config *g, bool b, const Answer *a)
{
	for (int r = 0; r < g->ranks; r++)
		for (int q = 0; q < g->ranks; q++) {
			unsigned writes = a->leader.into[r] | a->slice.into[r] | 1u << r;
			MUST((a->release.into[r] >> q & 1) == (writes >> q & 1));
			MUST((a->release.from[q] >> r & 1) == (writes >> q & 1));
		}
}

static Answer ask(World *w, const Config *g, bool b)
{
	IxFact *facts = NEWN(ctx_arena(w->c), IxFact, 3);
	Answer a = {.frame = {w->c, {.at = facts, .n = 3}, g->ranks}};
	const Ix *at[2] = {origin(w, g, b), ix_mul(w->c, ix_sym(w->c, "k"), number(w, 64))};
	facts[0] = (IxFact){"cluster", 0, INT32_MAX - 1, 1};
	facts[1] = (IxFact){"clusters", 1, INT32_MAX, g->known == 1 ? g->clusters : 1};
	facts[2] = (IxFact){"t", 0, 1 << 20, 1};
	a.same = same_bulk(&a.frame, at, 2);
	a.leader = share_load(w->c, &a.same, ISSUE_LEADER, 16);
	a.slice = share_load(w->c, &a.same, ISSUE_AUTO, 48);
	releases_add(&a.release, g->ranks, &a.leader);
	releases_add(&a.release, g->ranks, &a.slice);
	return a;
}

static void check_config(World *w, const Config *g, bool b)
{
	Answer a = ask(w, g, b);
	const Same *s = &a.same;
	w->exact += !s->narrowed;
	w->shared += a.leader.issue != ISSUE_EACH;
	w->clusters = g->clusters;
	for (int i = 0; i < POINTS; i++) {
		w->t = below(w, 40);
		w->cluster = below(w, g->clusters);
		check_share(w, g, b, s, &a.leader);
		check_share(w, g, b, s, &a.slice);
	}
	check_releases(w, g, b, &a);
	if (g->ranks == g->cm * g->cn)
		MUST(!s->narrowed);
}

static void test_random(void **state)
{
	World *w = *state;
	print_message("seed %d\n", SEED);
	for (int i = 0; i < CONFIGS; i++) {
		if (i % PER_CTX == 0) {
			ctx_free(w->c);
			w->c = ctx_new();
		}
		Config g = config_draw(w);
		check_config(w, &g, false);
		check_config(w, &g, true);
	}
	print_message("%d analyses: exact %d, shared %d\n", 2 * CONFIGS, w->exact, w->shared);
	assert_true(w->exact > CONFIGS && w->exact < 2 * CONFIGS && w->shared > CONFIGS / 2);
}

/* ------------------------------------------------------------------ clusters of tiles */
static const struct {
	int cm, cn;
	bool b;
	const char *mask, *slice, *leads;
} shapes[] = {
	{2, 1, false, "shl(1, rank)", "0", "1"},
	{2, 1, true, "3", "rank", "rank == 0"},
	{1, 2, false, "3", "rank", "rank == 0"},
	{1, 2, true, "shl(1, rank)", "0", "1"},
	{2, 2, false, "shl(5, rank % 2)", "rank / 2", "rank / 2 == 0"},
	{2, 2, true, "shl(3, rank / 2 * 2)", "rank % 2", "rank % 2 == 0"},
	{4, 2, false, "shl(17, rank % 4)", "rank / 4", "rank / 4 == 0"},
	{4, 2, true, "shl(15, rank / 4 * 4)", "rank % 4", "rank % 4 == 0"},
	{2, 4, false, "shl(85, rank % 2)", "rank / 2", "rank / 2 == 0"},
	{2, 4, true, "shl(3, rank / 2 * 2)", "rank % 2", "rank % 2 == 0"},
	{8, 1, true, "255", "rank", "rank == 0"},
	{4, 4, false, "shl(4369, rank % 4)", "rank / 4", "rank / 4 == 0"},
	{4, 4, true, "shl(15, rank / 4 * 4)", "rank % 4", "rank % 4 == 0"},
};

static const Ix *read_ix(World *w, const char *text)
{
	const char *why = "";
	const Ix *x = ix_parse(w->c, &text, &why);
	if (!x || *text)
		fail_msg("%s at '%s'", why, text);
	return x;
}

static void test_shapes(void **state)
{
	World *w = *state;
	IxFact facts[] = {{"cluster", 0, INT32_MAX - 1, 1}, {"rows", 1, INT32_MAX, 1}};
	for (size_t i = 0; i < COUNTOF(shapes); i++) {
		int cm = shapes[i].cm, cn = shapes[i].cn;
		SameFrame f = {w->c, {.at = facts, .n = 2}, cm * cn};
		const Ix *at =
			read_ix(w, shapes[i].b ? ctx_strf(w->c, "cluster / rows * %d + rank / %d",
							  cn, cm)
					       : ctx_strf(w->c, "cluster %% rows * %d + rank %% %d",
							  cm, cm));
		Same s = same_bulk(&f, &at, 1);
		Share slice = share_load(w->c, &s, ISSUE_AUTO, 16);
		Share leader = share_load(w->c, &s, ISSUE_LEADER, 16);
		assert_false(s.narrowed);
		assert_string_equal(show(w->c, slice.mask), shapes[i].mask);
		assert_string_equal(show(w->c, slice.slice), shapes[i].slice);
		assert_string_equal(show(w->c, leader.issues), shapes[i].leads);
		assert_int_equal(slice.loads, shapes[i].b ? cn : cm);
	}
}

/* A CTA of a 2 x 2 cluster writes into its row and its column. */
static void test_releases(void **state)
{
	static const uint16_t slice[] = {7, 11, 13, 14}, leader[] = {7, 10, 12, 8};
	World *w = *state;
	IxFact facts[] = {{"cluster", 0, INT32_MAX - 1, 1}};
	SameFrame f = {w->c, {.at = facts, .n = 1}, 4};
	const Ix *a = read_ix(w, "cluster * 2 + rank % 2"), *b = read_ix(w, "rank / 2");
	for (int lead = 0; lead < 2; lead++) {
		Releases all = {0};
		Same of_a = same_bulk(&f, &a, 1), of_b = same_bulk(&f, &b, 1);
		Issue how = lead ? ISSUE_LEADER : ISSUE_SLICE;
		Share shares[] = {share_load(w->c, &of_a, how, 8), share_load(w->c, &of_b, how, 8)};
		releases_add(&all, 4, &shares[0]);
		releases_add(&all, 4, &shares[1]);
		for (int r = 0; r < 4; r++)
			assert_int_equal(all.into[r], (lead ? leader : slice)[r]);
		assert_int_equal(all.from[3], lead ? 14 : 14);
		assert_int_equal(all.from[0], lead ? 1 : 7);
		assert_int_equal(eval(w, ix_of_sets(w->c, all.into, 4), 2), all.into[2]);
	}
	Same s = same_bulk(&f, &b, 1);
	assert_int_equal(share_load(w->c, &s, ISSUE_SLICE, 3).issue, ISSUE_LEADER);
	assert_int_equal(share_load(w->c, &s, ISSUE_EACH, 8).issue, ISSUE_EACH);
}

/* cta is a function of the rank; a quotient by an extent is equal where its operands are. */
static void test_names(void **state)
{
	static const struct {
		const char *at;
		uint16_t with;
		bool narrowed;
	} rows[] = {
		{"cta", 1, false},
		{"cta / 4", 15, false},
		{"cta / 2 * 8 + t", 3, false},
		{"cluster / rows", 15, false},
		{"cta / rows", 1, true},
		{"cta / 2 / rows", 3, true},
		{"cta / 2 % rows * 2 + rank % 2", 1, true},
		{"cta / 4 % rows * 2 + rank % 2", 5, false},
		{"rank * rows", 1, false},
		{"(cta + rows) / 4", 1, true},
		{"(cta + t) / 4", 1, true},
		{"(cluster + rank) / 4", 1, true},
		{"min(cta, rows)", 1, true},
		{"max(min(rank, 1), 1)", 15, false},
		{"(t + rank) % rows + (t + rank) / rows * 2", 1, true},
	};
	World *w = *state;
	IxFact facts[] = {{"cluster", 0, INT32_MAX - 1, 1},
			  {"rows", 1, INT32_MAX, 1},
			  {"t", 0, INT32_MAX, 1}};
	SameFrame f = {w->c, {.at = facts, .n = 3}, 4};
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		const Ix *at = read_ix(w, rows[i].at);
		Same s = same_bulk(&f, &at, 1);
		if (s.with[0] != rows[i].with || s.narrowed != rows[i].narrowed)
			fail_msg("%s: with %x narrowed %d", rows[i].at, s.with[0], s.narrowed);
	}
}

static int setup(void **state)
{
	static World w;
	w = (World){.c = ctx_new(), .seed = SEED};
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	World *w = *state;
	ctx_free(w->c);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_releases),
		cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
