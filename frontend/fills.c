/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fills.c - which copy a read of a buffer sees: the last one, in its own block or in one around it,
 * until the buffer's pipeline is filled again. A pipeline goes on by a slot with each fill, so its
 * buffers are filled together.
 *     sQ <- gQ[m];  for k in gK { sK <- gK[k]; s += mm(sQ, sK); }      each trip sees the one sQ
 *     for k in gA[m] { sA <- gA[m,k]; }  acc += mm(sA, sB);            sA went with its loop */
#include "frontend/sema.h"

void region_enter(Sema *s)
{
	vec_push(s->arena, &s->regions, ++s->last_region);
}

static void forget(Ring *r, const char *gone)
{
	r->depth = 0;
	for (int i = 0; i < r->buffers.n; i++) {
		Buffer *b = r->buffers.at[i];
		if (b->filled.src >= 0)
			b->gone = gone;
		b->filled = NOLOC;
	}
}

void region_leave(Sema *s)
{
	for (int i = 0; i < s->rings.n; i++)
		if (s->rings.at[i]->depth == s->regions.n)
			forget(s->rings.at[i], "the loop that fills it has ended");
	s->regions.n--;
}

/* The region inside that of the last fill; 0: this one is that of the fill. */
static int region_inside(const Sema *s, const Ring *r)
{
	return r->depth && r->depth < s->regions.n ? s->regions.at[r->depth] : 0;
}

/* Whether this copy belongs to the fill that the ring is in. */
static bool goes_on(const Sema *s, const Buffer *b)
{
	return b->ring->depth == s->regions.n && b->filled.src < 0;
}

/* A copy in a loop is the one that a read before it sees in the next iteration. */
static bool is_read_before(Sema *s, const Ring *r, Loc loc)
{
	int inside = region_inside(s, r);
	for (int i = 0; i < r->buffers.n && inside; i++) {
		const Buffer *b = r->buffers.at[i];
		if (b->filled.src < 0 || b->used != inside)
			continue;
		diag_note(s->ctx,
			  diag(s->ctx, loc, D_E0305,
			       "'%s' is read before this in the loop, which would be what this "
			       "filled an iteration ago\n"
			       "move this before the read",
			       b->name),
			  b->filled, "it is filled here");
		return true;
	}
	return false;
}

bool fill_fits(Sema *s, const Buffer *b, Loc loc)
{
	if (!b->ring || goes_on(s, b))
		return true;
	if (b->filled.src < 0 || b->used)
		return !is_read_before(s, b->ring, loc);
	diag_note(s->ctx,
		  diag(s->ctx, loc, D_E0305, "'%s' is filled %s\n%s", b->name,
		       b->ring->depth == s->regions.n ? "twice in one iteration"
						      : "again before it is read",
		       "leave one of them out, or fill another buffer here"),
		  b->filled, "the first time is here");
	return false;
}

void fill(Sema *s, Buffer *b, Loc loc)
{
	if (!goes_on(s, b))
		forget(b->ring, "its pipeline is filled again since, without it");
	b->ring->depth = s->regions.n;
	b->filled = loc;
	b->ever = b->ever.src < 0 ? loc : b->ever;
	b->used = 0;
}

/* Whether nothing around here runs where the extent is 0. */
static bool skips_without(const Sema *s, const char *extent)
{
	const Ix *zero = ix_const(s->ctx, 0);
	int64_t trips;
	for (const Op *op = s->block->owner; op; op = op_parent(op))
		for (int i = op->kind == OP_FOR; i < op->nix; i++) {
			const Ix *n = op->ix[i];
			if (op->kind == OP_FOR)
				n = ix_sub(s->ctx, n, IX(op, FROM));
			n = ix_simplify(s->ctx, ix_subst(s->ctx, n, extent, zero),
					facts_seen(&s->facts));
			if (ix_is_const(n, &trips) && trips <= 0)
				return true;
		}
	return false;
}

static bool has_fact(const Kernel *k, const Ix *cond)
{
	for (int i = 0; i < k->facts.n; i++)
		if (k->facts.at[i].cond == cond)
			return true;
	return false;
}

void needs_some(Sema *s, const char *size, const char *why, Loc loc)
{
	const Ix *some = ix_new(s->ctx, IX_LE, ix_const(s->ctx, 1), ix_sym(s->ctx, size));
	if (!has_fact(s->kernel, some))
		kernel_fact(s->kernel, some, ctx_strf(s->ctx, "1 <= %s", size), why, loc);
}

/* A tensor map describes no empty tensor: a load that runs whatever its extents are needs some. */
void fill_needs_elements(Sema *s, const Tensor *t, Loc loc)
{
	Kernel *k = s->kernel;
	const Ix *size = layout_size(s->ctx, t->layout);
	for (int i = 0; i < k->syms.n; i++) {
		const char *name = k->syms.at[i].name;
		if (k->syms.at[i].lo > 0 || !ix_uses(size, name) || skips_without(s, name))
			continue;
		needs_some(s, name,
			   ctx_strf(s->ctx, "'%s' is loaded whatever %s is, and must not be empty",
				    t->name, name),
			   loc);
	}
}

/* One slot alone, filled and read in each iteration of one loop, is never free in time. */
static bool has_slots(Sema *s, const Buffer *b)
{
	if (!b->ring->own || b->put || s->regions.n < 2 || region_inside(s, b->ring))
		return true;
	return reject(s, b->filled, D_E0305,
		      "'%s' is in no pipeline\n"
		      "declare one: pipeline ab(4) { %s }",
		      b->name, b->name);
}

bool fill_is_seen(Sema *s, Buffer *b, Loc loc)
{
	if (b->broken)
		return b->read = true;
	if (b->filled.src < 0 && !b->gone)
		reject(s, loc, D_E0305,
		       "'%s' is read before it is filled in this %s\n"
		       "fill it before this, %s <- .., with a tile of a tensor or with a value",
		       b->name, s->regions.n > 1 ? "loop" : "tile", b->name);
	else if (b->filled.src < 0)
		reject(s, loc, D_E0305,
		       "'%s' is read here, and %s\n"
		       "%s",
		       b->name, b->gone,
		       b->put ? "write it again before this"
			      : "fill all buffers of a pipeline together, before their reads");
	else if (has_slots(s, b)) {
		int inside = region_inside(s, b->ring);
		b->used = inside ? inside : b->used ? b->used : s->regions.at[s->regions.n - 1];
		return b->read = true;
	}
	return false;
}
