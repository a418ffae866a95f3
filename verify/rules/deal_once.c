/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* deal_once.c - tiles that CTAs draw: that each is some CTA's, and once, whoever draws how many.
 *     launch (n, 1, 1), n <= 1024 ; tickets turns (cta, tiles, ctas) ; draw (ctas, tiles, listed)
 * The CTAs are numbered from 0 on, each begins with the tile of its number, or with those of two
 * rounds, and what is drawn begins after these. All of them say the same of tiles, and 32 bits
 * count them. In clusters these numbers are the clusters'. */
#include "verify/read/read.h"
#include "verify/rules/tickets.h"

#include <string.h>

enum { MOST_TILES = 1 << 30 };

typedef struct {
	Reader *r;
	const Op *tickets, *draw;
	const Ix *first, *listed; /* of the draw */
	const Ix *own, *all;      /* the CTA's number, or its cluster's; how many there are */
	IxFacts facts;
} Deals;

static const Ix *seen(const Deals *d, const Ix *x)
{
	return ix_simplify(d->r->p->k->ctx, read_seen(d->r, x, d->r->p->rank), d->facts);
}

static bool is_seen(const Deals *d, const Ix *x, const Ix *y)
{
	return ix_is(seen(d, ix_sub(d->r->p->k->ctx, x, y)), 0);
}

/* ------------------------------------------------------------------ the launch */
/* Numbers are in one row, as long as the launch says at most. */
static bool read_launch(Deals *d)
{
	Ctx *c = d->r->p->k->ctx;
	const Op *launch = kernel_find(d->r->p->k, OP_LAUNCH);
	int64_t ctas = d->r->p->ctas;
	if (!launch || !ix_is(IX(launch, Y), 1) || !ix_is(IX(launch, Z), 1))
		return read_problem(d->r, D_W0411, d->tickets->loc,
				    "tickets of CTAs that are not in one row");
	int64_t most = ix_most(IX(launch, X), d->r->facts);
	IxFact *at = NEWN(d->r->p->arena, IxFact, d->r->facts.n + 2);
	memcpy(at, d->r->facts.at, sizeof *at * (size_t)d->r->facts.n);
	d->own = ix_sym(c, ctas == 1 ? "cta" : "cluster");
	d->all = ix_sym(c, ctas == 1 ? "ctas" : "clusters");
	at[d->r->facts.n] = (IxFact){d->own->name, 0, most / ctas - 1, 1};
	at[d->r->facts.n + 1] = (IxFact){d->all->name, 1, most / ctas, 1};
	d->facts = (IxFacts){.at = at, .n = d->r->facts.n + 2};
	return true;
}

/* ------------------------------------------------------------------ what all say alike */
static const Op *binder_of(const Kernel *k, const char *name)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; i < op->nsym; i++)
			if (op->sym[i] == name)
				return op;
	return NULL;
}

typedef struct {
	const Deals *d;
	bool alike;
} Alike;

static void note_alike(void *user, const char *name);

static bool is_alike(const Deals *d, const Ix *x)
{
	Alike a = {d, true};
	ix_names(x, note_alike, &a);
	return a.alike;
}

/* A size, how many CTAs there are, or what an operation on such makes of them before all loops. */
static void note_alike(void *user, const char *name)
{
	Alike *a = user;
	const Kernel *k = a->d->r->p->k;
	const Op *by = binder_of(k, name);
	bool size = name == a->d->all->name;
	for (int i = 0; i < k->syms.n; i++)
		size |= k->syms.at[i].name == name;
	if (by)
		size = by->kind == OP_LET || (op_only_names(by) && !op_parent(by));
	for (int i = 0; by && size && i < by->nix; i++)
		size = is_alike(a->d, by->ix[i]);
	a->alike &= size;
}

/* ------------------------------------------------------------------ the tiles */
static bool is_no_less(const Deals *d, const Ix *x, const Ix *least)
{
	if (ix_least(seen(d, ix_sub(d->r->p->k->ctx, x, least)), d->facts) >= 0)
		return true;
	return x->kind == IX_MAX && (is_no_less(d, x->a, least) || is_no_less(d, x->b, least));
}

static bool counts_tiles(const Deals *d)
{
	const Ix *tiles = IX(d->tickets, TILES);
	if (!is_alike(d, tiles) || !is_alike(d, d->listed))
		return read_problem(d->r, D_W0411, d->draw->loc,
				    "tickets of which CTAs, or turns, count other tiles");
	return ix_most(seen(d, tiles), d->facts) <= MOST_TILES ||
	       read_problem(d->r, D_W0411, d->tickets->loc, "tickets of more than 2^30 tiles");
}

/* Those that CTAs begin with are all below the first that is drawn, which is no list's and none's
 * of what one counter deals out. */
static bool begins_apart(const Deals *d, int64_t turns)
{
	Ctx *c = d->r->p->k->ctx;
	const Ix *begun = ix_mul(c, d->all, ix_const(c, turns));
	if (!is_seen(d, IX(d->tickets, FIRST), d->own))
		return read_problem(d->r, D_W0411, d->tickets->loc,
				    "a first tile that is not that of the CTA's number");
	if (!is_seen(d, IX(d->tickets, STEP), d->all))
		return read_problem(d->r, D_W0411, d->tickets->loc,
				    "turns that are not as far apart as there are CTAs");
	if (!is_seen(d, d->first, begun))
		return read_problem(d->r, D_W0411, d->draw->loc,
				    "tickets of other tiles than the turns are");
	return is_no_less(d, d->listed, d->first) ||
	       read_problem(d->r, D_W0411, d->draw->loc,
			    "lists that end before the first tile that is drawn");
}

bool read_deals(Reader *r, const Op *tickets, const Op *draw)
{
	Deals d = {.r = r, .tickets = tickets, .draw = draw};
	d.first = IX(draw, FIRST);
	d.listed = IX(draw, LISTED);
	if (IX(draw, TILES) != IX(tickets, TILES))
		return read_problem(d.r, D_W0411, draw->loc,
				    "tickets of other tiles than the turns are");
	return read_launch(&d) && counts_tiles(&d) &&
	       begins_apart(&d, attrs_int(&tickets->attrs, A_TURNS, 1));
}
