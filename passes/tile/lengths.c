/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lengths.c - tiles whose loops have different numbers of trips take different times. The longest
 * begin first: if later tiles have more trips, the order is reversed.
 *     for k (0, min((K + 63) / 64, m + 1))   ->   m = rows - 1 - block */
#include "passes/tile/tiles.h"

enum { UNKNOWN = 2 };

static int slope(const Ix *x, const char *name);

/* Of a sum, or of the lesser or larger, of two. */
static int both(int a, int b)
{
	return !a || a == b ? b : !b ? a : UNKNOWN;
}

static int times(const Ix *x, const Ix *factor, const char *name)
{
	int64_t by;
	int s = slope(x, name);
	if (!s || s == UNKNOWN || !ix_is_const(factor, &by))
		return s && !ix_is(factor, 0) ? UNKNOWN : 0;
	return by < 0 ? -s : s;
}

/* 1: x grows with the name; -1: it falls; 0: it does not depend on it. */
static int slope(const Ix *x, const char *name)
{
	if (!ix_uses(x, name))
		return 0;
	switch (x->kind) {
	case IX_SYM:
		return 1;
	case IX_ADD:
	case IX_MIN:
	case IX_MAX:
		return both(slope(x->a, name), slope(x->b, name));
	case IX_MUL:
		return times(x->a, x->b, name);
	case IX_DIV: /* a divisor is positive */
		return ix_uses(x->b, name) ? UNKNOWN : slope(x->a, name);
	default:
		return UNKNOWN;
	}
}

/* The slope of the first loop's trips that has one; 0: none has. */
static int trips(Ctx *c, const char *name, const Block *b)
{
	int more = 0;
	for (const Op *op = b->first; op && !more; op = op->next) {
		if (op->kind == OP_FOR)
			more = slope(ix_sub(c, IX(op, TO), IX(op, FROM)), name);
		if (more == UNKNOWN)
			more = 0;
		if (op->body && !more)
			more = trips(c, name, op->body);
	}
	return more;
}

/* Under plain persistent each CTA has its tiles from the start: no order is better. */
static int growth(const Kernel *k, const Plane *p, int mode)
{
	bool settled = attrs_int(&k->attrs, A_PERSISTENT, 0) == 1;
	return settled || p->name[mode] == NONE
		       ? 0
		       : trips(k->ctx, p->grid->sym[p->name[mode]], p->grid->body);
}

int lengths_differ_along(const Kernel *k, const Plane *p)
{
	for (int mode = 0; mode < 2; mode++)
		if (growth(k, p, mode))
			return mode;
	return NONE;
}

/* Spelled for range analysis, as tiles_below is. */
const Ix *longest_first(const Kernel *k, const Plane *p, int mode, const Ix *block)
{
	if (growth(k, p, mode) <= 0)
		return tiles_below(k, block, p->extent[mode]);
	const Ix *last = ix_sub(k->ctx, p->extent[mode], ix_int(k, 1));
	return ix_new(k->ctx, IX_MAX, ix_sub(k->ctx, last, block), ix_int(k, 0));
}
