/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* grid_waits.c - what CTAs of the grid tell each other through the launch's workspace. It stands in
 * one role, outside of loops, in this order:
 *     writes of a workspace      each CTA its own part of it
 *     all threads of the role meet
 *     sem.arrive, sem.wait       by one thread, of a semaphore that so many CTAs name
 *     all threads of the role meet
 *     reads of a workspace       parts of CTAs that name the same semaphore
 * So every CTA of a semaphore arrives, whatever others do, and who has waited knows all that they
 * have written. That they all run is up to the launch. */
#include "verify/read/read.h"
#include "verify/report/find_sizes.h"

typedef struct {
	Reader *r;
	const Kernel *k;
	const Op *arrive, *wait, *role;
	const Op *one;       /* of the role's body: what has both */
	int64_t count, ctas; /* CTAs of a semaphore; of a cluster */
} Grid;

static bool is_workspace(const Kernel *k, const Val *v)
{
	if (v->type->kind == TY_TMAP && v->def)
		v = IN(v->def, OF).val;
	return v->arg >= 0 && k->args.at[v->arg].is_workspace;
}

/* The workspace that the op goes to; NULL: none. */
static const Val *workspace_of(const Kernel *k, const Op *op)
{
	for (int i = 0; i < op->nin; i++)
		if (op_effect(op, i) && is_workspace(k, op->in[i].val))
			return op->in[i].val;
	return NULL;
}

/* By threads, whose first index is the element, and complete in program order. */
static bool is_access(const Op *op)
{
	bool access = false;
	for (int i = 0; i < COPY_COUNT; i++)
		access |= copy_rows[i].op == (int)op->kind;
	for (int i = 0; i < op->nin; i++)
		access &= !(op_effect(op, i) & (FX_AR | FX_AW));
	return access && !op_done_by(op, DONE_BY_LANES);
}

/* Of the role's body, what has the op in it. */
static const Op *top_of(const Op *op)
{
	while (op_parent(op) && op_parent(op)->kind != OP_ROLE)
		op = op_parent(op);
	return op;
}

static bool is_ahead(const Op *a, const Op *b)
{
	for (const Op *op = a->next; op; op = op->next)
		if (op == b)
			return true;
	return false;
}

/* ------------------------------------------------------------------ meetings */
static bool meets_all(const Grid *g, const Op *op)
{
	return op->kind == OP_BAR_SYNC &&
	       attrs_int(&op->attrs, A_THREADS, 0) ==
		       32 * attrs_int(&g->role->attrs, A_ACTIVE,
				      attrs_int(&g->role->attrs, A_WARPS, 0));
}

/* Whether all threads of the role meet between the two, of its body. */
static bool meet_between(const Grid *g, const Op *from, const Op *to)
{
	for (const Op *op = from->next; op && op != to; op = op->next)
		if (meets_all(g, op))
			return true;
	return false;
}

static bool in_order(const Grid *g, const Op *op, const Val *w, bool writes)
{
	const Op *top = top_of(op);
	if (op_role(op) != g->role)
		return read_problem(g->r, D_W0411, op->loc, "a workspace that several roles go to");
	if (writes && !is_ahead(top, g->one))
		return read_problem(g->r, D_E0412, op->loc,
				    "%%%s is written when the other CTAs were told already that it "
				    "is there",
				    w->name);
	if (writes && !meet_between(g, top, g->one))
		return read_problem(g->r, D_E0412, op->loc,
				    "the other CTAs are told of %%%s before all threads that write "
				    "it have met",
				    w->name);
	if (!writes && (!is_ahead(g->one, top) || !meet_between(g, g->one, top)))
		return read_problem(
			g->r, D_E0412, op->loc,
			"%%%s is read, and nothing orders that after what the other CTAs "
			"write",
			w->name);
	return true;
}

/* ------------------------------------------------------------------ which CTAs */
/* The kernel's lets put in, the CTA as part `part` of group `group`, this rank. */
static const Ix *of_cta(const Grid *g, const Ix *x, const Ix *group, const Ix *part)
{
	Ctx *c = g->k->ctx;
	const Ix *rank = ix_sym(c, "rank");
	const Ix *cluster = ix_add(c, ix_mul(c, group, ix_const(c, g->count)), part);
	const Ix *cta = ix_add(c, ix_mul(c, cluster, ix_const(c, g->ctas)), rank);
	for (bool more = true; more;) {
		more = false;
		for (const Op *op = kernel_first(g->k); op; op = op_next(op)) {
			if (op->kind != OP_LET || !ix_uses(x, op->sym[0]))
				continue;
			x = ix_subst(c, x, op->sym[0], IX(op, VALUE));
			more = true;
		}
	}
	x = ix_subst(c, x, ctx_str(c, "cluster"), cluster);
	return ix_subst(c, x, ctx_str(c, "cta"), g->ctas == 1 ? cluster : cta);
}

/* What the launch holds its CTAs to; 0: nothing. */
static int64_t most_ctas(const Grid *g, const Op *launch)
{
	int64_t most = 0, v;
	for (int i = 0; i < g->k->facts.n; i++) {
		const Ix *cond = g->k->facts.at[i].cond;
		if (cond->kind == IX_LE && cond->a == IX(launch, X) && ix_is_const(cond->b, &v))
			most = v;
	}
	return most;
}

enum { RANGES = 64 };

/* Names that the access stands among, and the two of the CTA. */
static IxFacts ranges_of(const Grid *g, const Op *op, int64_t groups, IxFact *at)
{
	Ctx *c = g->k->ctx;
	int64_t first = 32 * attrs_int(&g->role->attrs, A_FIRST, 0),
		warps = attrs_int(&g->role->attrs, A_ACTIVE,
				  attrs_int(&g->role->attrs, A_WARPS, 0));
	int n = 0;
	at[n++] = (IxFact){ctx_str(c, SIZES_GROUP), 0, groups - 1, 1};
	at[n++] = (IxFact){ctx_str(c, "a part"), 0, g->count - 1, 1};
	at[n++] = (IxFact){ctx_str(c, "rank"), 0, g->ctas - 1, 1};
	at[n++] = (IxFact){ctx_str(c, "tid"), first, first + 32 * warps - 1, 1};
	at[n++] = (IxFact){ctx_str(c, "lane"), 0, 31, 1};
	at[n++] = (IxFact){ctx_str(c, "warp"), first / 32, first / 32 + warps - 1, 1};
	for (const Op *up = op_parent(op); up && n < RANGES; up = op_parent(up)) {
		int64_t lo, hi;
		if (up->kind == OP_FOR && ix_is_const(IX(up, FROM), &lo) &&
		    ix_is_const(IX(up, TO), &hi) && hi > lo)
			at[n++] = (IxFact){up->sym[0], lo, hi - 1, 1};
	}
	return (IxFacts){.at = at, .n = n};
}

static bool is_same(const Grid *g, const Ix *x, const Ix *y, IxFacts facts)
{
	return ix_is(ix_simplify(g->k->ctx, ix_sub(g->k->ctx, x, y), facts), 0);
}

/* A CTA's bytes of the workspace: as many as its first mode steps over, in the order of CTAs. */
static bool in_place(const Grid *g, const Op *op, const Val *w, bool writes, int64_t groups)
{
	Ctx *c = g->k->ctx;
	IxFact at[RANGES];
	IxFacts facts = ranges_of(g, op, groups, at);
	int64_t step;
	const Ix *group = ix_sym(c, at[0].name), *part = ix_sym(c, at[1].name);
	const Ix *rank = ix_sym(c, at[2].name);
	if (!ix_is_const(tup_get(w->type->layout->stride, 0)->leaf, &step) || step < 1)
		return read_problem(g->r, D_W0411, op->loc,
				    "a workspace whose parts are not of a known size");
	const Ix *offset = of_cta(g, IX(op, ELEMENT), group, part);
	const Ix *whose = ix_simplify(c, ix_div(c, offset, ix_const(c, step)), facts);
	const Ix *cluster = ix_div(c, whose, ix_const(c, g->ctas));
	const Ix *of = ix_div(c, cluster, ix_const(c, g->count));
	bool beside = is_same(g, ix_mod(c, whose, ix_const(c, g->ctas)), rank, facts) &&
		      is_same(g, of, group, facts);
	if (beside && writes)
		beside = is_same(g, ix_mod(c, cluster, ix_const(c, g->count)), part, facts);
	return beside || read_problem(g->r, D_W0411, op->loc,
				      writes ? "a write of %%%s that may be another CTA's part"
					     : "a read of %%%s that may be of a CTA with another "
					       "semaphore",
				      w->name);
}

/* ------------------------------------------------------------------ the semaphore */
/* By one thread of the role, whatever the CTA. */
static bool is_of_one(const Grid *g, const Op *some)
{
	int64_t tid, first = 32 * attrs_int(&g->role->attrs, A_FIRST, 0);
	int64_t all =
		32 * attrs_int(&g->role->attrs, A_ACTIVE, attrs_int(&g->role->attrs, A_WARPS, 0));
	return some->kind == OP_IF && some->nix == 1 && IX(some, COND)->kind == IX_EQ &&
	       IX(some, COND)->a == ix_sym(g->k->ctx, "tid") &&
	       ix_is_const(IX(some, COND)->b, &tid) && tid >= first && tid < first + all;
}

static bool find_ops(Grid *g)
{
	for (const Op *op = kernel_first(g->k); op; op = op_next(op)) {
		const Op **to = op_has(op, FX_RELEASE_GRID)   ? &g->arrive
				: op_has(op, FX_ACQUIRE_GRID) ? &g->wait
							      : NULL;
		if (to && *to)
			return read_problem(g->r, D_W0411, op->loc,
					    "several meetings of a tile's CTAs");
		if (to)
			*to = op;
	}
	return true;
}

static bool arrives_first(Grid *g)
{
	if (!g->arrive)
		return read_problem(g->r, D_E0411, g->wait->loc,
				    "it waits for ever: no CTA arrives at the semaphore");
	g->role = op_role(g->arrive);
	g->one = g->role ? top_of(g->arrive) : NULL;
	g->count = attrs_int(&g->wait->attrs, A_COUNT, 0);
	if (!g->one || op_parent(g->arrive) != op_parent(g->wait) ||
	    op_parent(g->arrive) != g->one || !is_of_one(g, g->one))
		return read_problem(g->r, D_W0411, g->arrive->loc,
				    "an arrival and a wait that are not one thread's of each CTA");
	if (!is_ahead(g->arrive, g->wait))
		return read_problem(g->r, D_E0411, g->wait->loc,
				    "it waits for ever: each CTA arrives after its wait");
	if (attrs_int(&g->arrive->attrs, A_COUNT, 0) != g->count)
		return read_problem(g->r, D_E0411, g->wait->loc,
				    "the arrival and the wait are of other counts");
	return true;
}

/* count CTAs name each semaphore, and one of them is told to take the arrivals back. */
static bool shares(Grid *g, int64_t *groups)
{
	Ctx *c = g->k->ctx;
	IxFact at[RANGES];
	const Op *launch = kernel_find(g->k, OP_LAUNCH);
	int64_t each = g->count * g->ctas, most = launch ? most_ctas(g, launch) : 0;
	*groups = most / each;
	if (*groups < 1 || ix_divisor(IX(launch, X), kernel_facts(g->k)) % each)
		return read_problem(
			g->r, D_W0411, g->wait->loc,
			"a launch whose CTAs are not known to be whole groups of those that "
			"meet");
	IxFacts facts = ranges_of(g, g->wait, *groups, at);
	const Ix *group = ix_sym(c, at[0].name), *part = ix_sym(c, at[1].name);
	const Ix *want = ix_add(c, ix_mul(c, group, ix_const(c, g->ctas)), ix_sym(c, at[2].name));
	if (!is_same(g, of_cta(g, IX(g->arrive, WHICH), group, part), want, facts) ||
	    !is_same(g, of_cta(g, IX(g->wait, WHICH), group, part), want, facts))
		return read_problem(g->r, D_W0411, g->wait->loc,
				    "a semaphore of which other CTAs are not known");
	return is_same(g, of_cta(g, IX(g->wait, WHO), group, part), part, facts) ||
	       read_problem(g->r, D_W0411, g->wait->loc,
			    "a wait that may have no first, or several");
}

bool read_grid(Reader *r)
{
	Grid g = {.r = r, .k = r->p->k, .ctas = r->p->ctas};
	int64_t groups;
	if (!find_ops(&g))
		return false;
	for (const Op *op = kernel_first(g.k); op; op = op_next(op)) {
		const Val *w = workspace_of(g.k, op);
		if (w && !g.wait)
			return read_problem(g.r, D_E0412, op->loc,
					    "no CTA waits for what others write to %%%s", w->name);
		if (w && !is_access(op) && op != g.arrive && op != g.wait)
			return read_problem(g.r, D_W0411, op->loc,
					    "a workspace that is not accessed by threads");
	}
	if (!g.wait)
		return true;
	if (!arrives_first(&g) || !shares(&g, &groups))
		return false;
	for (const Op *op = kernel_first(g.k); op; op = op_next(op)) {
		const Val *w = op == g.arrive || op == g.wait ? NULL : workspace_of(g.k, op);
		bool writes = w && HAS_IN(op, TO) && IN(op, TO).val == w;
		if (w && (!in_order(&g, op, w, writes) || !in_place(&g, op, w, writes, groups)))
			return false;
	}
	return true;
}
