/* passes.same - which CTAs of a cluster load the same, against plain evaluation of the coordinates:
 * random clusters, boxes, rasters and grids; for every rank pair of sampled iterations and clusters
 * the groups, masks, predicates, slices and releases. "Same" must never be wrong; "different" must
 * be right unless the answer says that it is narrowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "passes/share.h"

enum { CONFIGS = 10000, PER_CTX = 250, POINTS = 4, SEED = 20270 };

/* Tiles in the order of their numbers: RM x RN boxes of CM x CN tiles, boxes n first; tiles of a box
 * m first (as ranks are) or n first (as in nvFuser's issue 3667). */
typedef struct {
	int ranks, clusters, cm, cn, rn;
	bool m_first;
	int known; /* of clusters: 0 nothing, 1 a divisor, 2 the number */
} Config;

typedef struct {
	Ctx *c;
	Judge *j;
	uint64_t seed;
	int64_t t, cluster, clusters, rank;
	int constant, launch, cluster_only, iteration, narrowed, isl, shared, finer;
} World;

static int below(World *w, int n)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((w->seed >> 33) % (uint64_t)n);
}

static Config config_draw(World *w)
{
	static const int ranks[] = {1, 2, 2, 3, 4, 4, 4, 6, 8, 8, 12, 16};
	Config g = {.ranks = ranks[below(w, COUNTOF(ranks))],
		    .cm = 1 + below(w, 4),
		    .cn = 1 + below(w, 4),
		    .rn = 1 + below(w, 5),
		    .m_first = below(w, 2),
		    .known = below(w, 3)};
	g.clusters = 1 + below(w, 12);
	if (below(w, 2)) { /* as in practice: the cluster is a box or whole boxes */
		g.ranks = g.cm * g.cn * (g.cm * g.cn <= 8 ? 1 + below(w, 2) : 1);
	}
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
		MUST(s->narrowed || each || mask[r] == truth);
		MUST(!(s->always[r] & ~truth) && (each || !(s->always[r] & ~mask[r])));
		MUST(!(mask[r] & ~s->ever[r]));
		MUST(eval(w, share->members, r) == __builtin_popcount(mask[r]));
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

/* What the relation is said not to depend on, it does not depend on. */
static void check_depends(World *w, const Config *g, bool b, const Answer *a)
{
	int64_t t = w->t, cluster = w->cluster;
	for (int r = 0; r < g->ranks; r++) {
		int64_t here = eval(w, a->leader.mask, r);
		w->t = a->same.depends < SAME_BY_ITERATION ? below(w, 50) : t;
		w->cluster = a->same.depends < SAME_BY_CLUSTER ? below(w, g->clusters) : cluster;
		MUST(eval(w, a->leader.mask, r) == here);
		w->t = t;
		w->cluster = cluster;
	}
	if (a->same.depends == SAME_CONSTANT)
		MUST(!memcmp(a->same.always, a->same.ever, sizeof a->same.ever));
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
	static const char *const loops[] = {"t"};
	IxFact *facts = NEWN(ctx_arena(w->c), IxFact, 3);
	Answer a = {.frame = {w->c, w->j, {facts, 3}, g->ranks, loops, 1}};
	const Ix *at[2] = {origin(w, g, b), ix_mul(w->c, ix_sym(w->c, "k"), number(w, 64))};
	facts[0] = (IxFact){"cluster", 0, INT32_MAX - 1, 1};
	facts[1] = (IxFact){"clusters", 1, INT32_MAX, g->known == 1 ? g->clusters : 1};
	facts[2] = (IxFact){"t", 0, 1 << 20, 1};
	a.same = same_bulk(&a.frame, at, 2);
	a.leader = share_load(&a.frame, &a.same, ISSUE_LEADER, 16);
	a.slice = share_load(&a.frame, &a.same, ISSUE_AUTO, 48);
	releases_add(&a.release, &a.frame, &a.leader);
	releases_add(&a.release, &a.frame, &a.slice);
	return a;
}

/* Pairs that the answer leaves open and that no sample tells apart. */
static void count_finer(World *w, const Config *g, bool b, const Same *s)
{
	uint16_t all = 0xffff, some = 0;
	for (int t = 0; t < 12; t++)
		for (int cluster = 0; cluster < g->clusters; cluster++)
			for (int r = 0; r < g->ranks; r++) {
				uint16_t truth = plain_mask(g, b, t, cluster, r);
				if (r == 0) {
					all &= truth;
					some |= truth;
				}
			}
	w->finer += all == some && s->depends != SAME_CONSTANT;
}

static void check_config(World *w, const Config *g, bool b)
{
	Answer a = ask(w, g, b);
	const Same *s = &a.same;
	w->constant += s->depends == SAME_CONSTANT;
	w->launch += s->depends == SAME_BY_LAUNCH;
	w->cluster_only += s->depends == SAME_BY_CLUSTER;
	w->iteration += s->depends == SAME_BY_ITERATION;
	w->narrowed += s->narrowed;
	w->isl += s->by_isl;
	w->shared += a.leader.issue != ISSUE_EACH;
	w->clusters = g->clusters;
	for (int i = 0; i < POINTS; i++) {
		w->t = below(w, 40);
		w->cluster = below(w, g->clusters);
		check_share(w, g, b, s, &a.leader);
		check_share(w, g, b, s, &a.slice);
	}
	check_depends(w, g, b, &a);
	check_releases(w, g, b, &a);
	count_finer(w, g, b, s);
	/* A box is the cluster, or several are, with what is known: nothing is left to run time. */
	if (g->ranks % (g->cm * g->cn) == 0 && g->ranks == g->cm * g->cn)
		MUST(s->depends == SAME_CONSTANT);
	bool whole = g->known && g->clusters * g->ranks % (g->cm * g->cn) == 0;
	if (whole && !s->narrowed)
		MUST(s->depends <= SAME_BY_CLUSTER || g->rn > 1);
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
	print_message("%d analyses: groups constant %d, by launch %d, by cluster %d, by iteration "
		      "%d; narrowed %d, isl asked with success %d, shared %d, "
		      "constant but not seen to be %d\n",
		      2 * CONFIGS, w->constant, w->launch, w->cluster_only, w->iteration,
		      w->narrowed, w->isl, w->shared, w->finer);
	assert_true(w->constant > CONFIGS / 2 && w->cluster_only > CONFIGS / 50 &&
		    w->iteration > CONFIGS / 2 && w->isl > 0);
}

static int setup(void **state)
{
	static World w;
	w = (World){.c = ctx_new(), .j = judge_new(100000), .seed = SEED};
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	World *w = *state;
	judge_free(w->j);
	ctx_free(w->c);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
