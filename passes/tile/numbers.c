/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* numbers.c - integers from memory that are the same in all that a CTA does, read before the roles
 * part: those of a CTA that has one tile, whose number says which they are.
 *     let b (cta / H)  number n %len (b, b < B)   ->   number n %len (cta / H, cta / H < B)
 * Those of a loop, or of one of several tiles, each role reads where it needs them. */
#include "passes/tile/tiles.h"

#include "base/ptrmap.h"

bool numbers_bound(const Kernel *k, const Op *loop)
{
	bool bound = false;
	for (const Op *op = kernel_find(k, OP_NUMBER); op; op = op_find_next(op, OP_NUMBER))
		bound |= ix_uses(IX(loop, FROM), op->sym[0]) || ix_uses(IX(loop, TO), op->sym[0]);
	return bound;
}

typedef struct {
	PtrMap *bound; /* names that stay where they stand */
	bool some;
} Names;

static void note_bound(void *user, const char *name)
{
	Names *n = user;
	n->some |= ptrmap_get(n->bound, name) != NULL;
}

/* With what lets name in the place of their names. */
static const Ix *unlet(const Kernel *k, const Op *at, const Ix *x)
{
	for (const Op *up = at->prev; up; up = up->prev)
		if (up->kind == OP_LET)
			x = ix_subst(k->ctx, x, up->sym[0], IX(up, VALUE));
	return x;
}

static bool goes_first(const Kernel *k, PtrMap *bound, Op *op)
{
	Names n = {bound, false};
	if (op_parent(op))
		return false;
	for (int i = 0; i < op->nix; i++) {
		op->ix[i] = unlet(k, op, op->ix[i]);
		ix_names(op->ix[i], note_bound, &n);
	}
	return !n.some;
}

/* After the names at the head of its block: what it is read by is among them. */
static void read_early(Op *op)
{
	Op *at = op->block->first;
	while (at != op && op_only_names(at))
		at = at->next;
	if (at == op)
		return;
	op_insert_before(at, op);
}

/* Where a tile begins that the number by itself is the index of (frontend/numbers.c). */
static const Ix *origin_by(Kernel *k, const Op *op, const Ix *extent, int64_t tile)
{
	Ctx *c = k->ctx;
	const Ix *x = ix_sym(c, op->sym[0]), *zero = ix_int(k, 0);
	const Ix *tiles = ix_ceil_div(c, extent, ix_int(k, tile));
	const Ix *after = ix_mul(c, ix_new(c, IX_LT, x, zero), tiles);
	const Ix *at = ix_new(c, IX_MIN, ix_new(c, IX_MAX, x, after), tiles);
	return ix_simplify(c, ix_mul(c, at, ix_int(k, tile)), kernel_facts(k));
}

/* What the number counts tiles of, the first that there is. */
static void check_number(Kernel *k, Op *op)
{
	for (Op *t = kernel_find(k, OP_TILE); t && !HAS_IN(op, CHECKED);
	     t = op_find_next(t, OP_TILE)) {
		Val *of = IN(t, OF).val;
		for (int i = 0; i < t->nix && of->arg >= 0 && !IN(t, OF).at; i++) {
			int64_t tile =
				layout_size_int(layout_mode(k->ctx, t->out->type->layout, i));
			const Ix *all =
				layout_size(k->ctx, layout_mode(k->ctx, of->type->layout, i));
			if (!ix_uses(t->ix[i], op->sym[0]) || HAS_IN(op, CHECKED) ||
			    t->ix[i] != origin_by(k, op, all, tile))
				continue;
			op_in(k, op, of, NULL);
			op_int(k, op, A_CHECKS, i);
			op_int(k, op, A_ROWS, tile);
		}
	}
}

static void check_numbers(Kernel *k)
{
	for (Op *op = kernel_find(k, OP_NUMBER); op; op = op_find_next(op, OP_NUMBER))
		if (attrs_int(&k->attrs, A_CHECKS, 0))
			check_number(k, op);
}

void numbers_read_first(Kernel *k)
{
	check_numbers(k);
	PtrMap bound = {.arena = ctx_arena(k->ctx)};
	Op *first = kernel_first(k);
	while (first && (op_rows[first->kind].flags & OPF_DECL || first->kind == OP_LAUNCH ||
			 first->kind == OP_GROUPS_AT))
		first = first->next;
	for (Op *op = kernel_first(k), *next; op; op = next) {
		next = op_next(op);
		bool moves = op->kind == OP_NUMBER && goes_first(k, &bound, op);
		for (int i = 0; i < op->nsym && !moves && !(op_rows[op->kind].flags & OPF_DECL);
		     i++)
			ptrmap_set(&bound, op->sym[i], op);
		if (op->kind == OP_NUMBER && !moves)
			read_early(op);
		if (!moves || op == first)
			continue;
		op_insert_before(first, op);
	}
}
