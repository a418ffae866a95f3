/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rests.c - copies of operands that the kernel itself finishes: what is loaded of one is there, and
 * who waits for rows waits for nobody who waits.
 *     rest.copy   nothing that waits stands before it, and a warp of each CTA comes to it. Rows are
 *                 drawn one by one, so all are copied if one CTA runs, whichever it is
 *     rest.wait   for a map of which rows are copied
 *     a load      through such a map, behind a wait for all of its rows */
#include "verify/read.h"

typedef VEC(const Op *) Copies;

static bool wrong(Reader *r, const Op *op, DiagId code, const char *text)
{
	const char *name =
		op->in[0].val->type->kind == TY_TMAP ? op->in[0].val->name : op->in[1].val->name;
	return read_problem(r, code, op->loc, ctx_strf(r->p->k->ctx, text, name));
}

/* The first of the map. */
static const Op *copy_of(const Copies *all, const Val *map)
{
	for (int i = 0; i < all->n; i++)
		if (all->at[i]->in[0].val == map)
			return all->at[i];
	return NULL;
}

/* ------------------------------------------------------------------ who copies */
/* Whether the warp comes to what is in op; false, too: a run decides it. */
static bool comes_in(Reader *r, const Op *op, int warp, bool *known)
{
	bool comes = true;
	View v = {.ctx = r->p->k->ctx};
	read_put_warp(r, &v, warp);
	*known = op->kind == OP_IF;
	for (int i = 0; i < op->nix && *known; i++) {
		int64_t is = 0;
		*known = ix_is_const(read_simple(r, stage(&v, op->ix[i])).x, &is);
		comes &= is != 0;
	}
	return comes && *known;
}

static bool waits_for_none(const Op *op)
{
	return op->kind == OP_REST_COPY || op->kind == OP_GRID_WAIT || op->kind == OP_SETMAXNREG ||
	       op->kind == OP_LET;
}

/* Whether the warp passes what stands before op in its block, and waits for none of the launch. */
static bool passes(Reader *r, const Op *op, int warp)
{
	for (const Op *before = op->prev; before; before = before->prev) {
		bool known;
		if (waits_for_none(before))
			continue;
		if (comes_in(r, before, warp, &known) || !known)
			return false;
	}
	return true;
}

/* Whether the warp, all of it, comes to the copy in every run. */
static bool warp_copies(Reader *r, const Op *copy, int warp)
{
	for (const Op *op = copy; op && op->kind != OP_ROLE; op = op_parent(op)) {
		bool known, in = op == copy || comes_in(r, op, warp, &known);
		if (!in || !passes(r, op, warp))
			return false;
	}
	return true;
}

static bool is_copied(Reader *r, const Copies *all, const Op *copy)
{
	int warps = (int)(attrs_int(&r->p->k->attrs, A_BLOCK, 0) / LANES);
	if (copy_of(all, copy->in[0].val) != copy)
		return wrong(r, copy, D_W0411, "copies of rows of %%%s in several places");
	for (int w = 0; w < warps; w++)
		if (read_role_of(r->p->k, w) == read_role(copy) && warp_copies(r, copy, w))
			return true;
	return wrong(r, copy, D_W0411,
		     "rows of %%%s that no warp copies before it waits for others");
}

/* ------------------------------------------------------------------ what is loaded */
/* How much x is, at least, in any CTA of the cluster, if that is known and so little that no bound
 * passes 64 bits. */
static bool least_of(Reader *r, const Ix *x, int64_t *least)
{
	*least = INT64_MAX;
	for (int rank = 0; rank < r->p->ctas; rank++) {
		int64_t n;
		View v = {.ctx = r->p->k->ctx};
		read_put_rank(r, &v, rank);
		if (!ix_is_const(read_simple(r, stage(&v, x)).x, &n) || n > INT32_MAX)
			return false;
		*least = n < *least ? n : *least;
	}
	return true;
}

/* Whether the wait is for all rows of the load's box; which of them are not may be open. */
static bool covers(Reader *r, const Op *wait, const Op *load, bool *open)
{
	Ctx *c = r->p->k->ctx;
	const Attr *box = attrs_get(&load->in[1].val->def->attrs, A_BOX);
	const Ix *end = ix_add(c, load->ix[2], ix_const(c, box->i[1]));
	int64_t before, behind;
	if (!least_of(r, ix_sub(c, load->ix[2], wait->ix[0]), &before) ||
	    !least_of(r, ix_sub(c, wait->ix[1], end), &behind)) {
		*open = true;
		return false;
	}
	return before >= 0 && behind >= 0;
}

/* Of those who load, all have come by what stands before them in the blocks around them. */
static bool has_waited(Reader *r, const Op *load)
{
	bool open = false;
	for (const Op *op = load; op && op->kind != OP_ROLE; op = op_parent(op))
		for (const Op *wait = op->prev; wait; wait = wait->prev)
			if (wait->kind == OP_REST_WAIT && wait->in[0].val == load->in[1].val &&
			    covers(r, wait, load, &open))
				return true;
	if (open)
		return wrong(r, load, D_W0411,
			     "rows of %%%s of which it is not known whether they were waited for");
	return wrong(r, load, D_E0412,
		     "rows of %%%s are loaded that may not have been copied yet: nothing waits for "
		     "them");
}

/* Through a tensor map. */
static bool is_load(const Op *op)
{
	return op_done_by(op, DONE_BY_BARRIER) && op->in[1].val->type->kind == TY_TMAP;
}

static bool is_plain_box(const Op *load)
{
	const Attr *box = attrs_get(&load->in[1].val->def->attrs, A_BOX);
	return box && box->n == 2 && !attrs_get(&load->attrs, A_GATHER);
}

static bool op_right(Reader *r, const Copies *all, const Op *op)
{
	if (op->kind == OP_REST_COPY)
		return is_copied(r, all, op);
	if (op->kind == OP_REST_WAIT)
		return copy_of(all, op->in[0].val) ||
		       wrong(r, op, D_E0411, "it waits for ever: no warp copies rows of %%%s");
	if (!is_load(op) || !copy_of(all, op->in[1].val))
		return true;
	if (!is_plain_box(op))
		return wrong(r, op, D_W0411,
			     "a load of %%%s, whose rows are copied, by more modes or by indices");
	return has_waited(r, op);
}

bool read_rests(Reader *r)
{
	Copies all = {0};
	bool right = true;
	for (const Op *op = kernel_first(r->p->k); op; op = op_next(op))
		if (op->kind == OP_REST_COPY)
			vec_push(r->p->arena, &all, op);
	for (const Op *op = kernel_first(r->p->k); op && right; op = op_next(op))
		right = op_right(r, &all, op);
	return right;
}
