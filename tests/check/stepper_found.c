/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_found.c - what operations find in lists of lengths, which a run is given as it is its
 * sizes: a number for each group, of which the last goes on; and how many tiles there are.
 *     groups.at first, last, rows %ends (G, T, g), lengths 0, 65, 64   ->   g = 1: rows is 65 */
#include "stepper.h"

static bool finds(const Op *op)
{
	return op->kind == OP_GROUPS_COUNT || op->kind == OP_GROUPS_FIND ||
	       op->kind == OP_GROUPS_AT;
}

bool found_in(const Kernel *k)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (finds(op))
			return true;
	return false;
}

/* The last of its names is a number of tiles, or a length; the others are places. */
static void bind_found(LaneNames *n, const Op *op, const Sizes *s)
{
	static const LaneValue none = {.bad = ALL_LANES};
	int64_t asked = 0;
	bool known = op->nix < 3 || names_int(n, op->ix[2], &asked);
	asked = asked < 0 ? 0 : asked < MOST_LENGTHS ? asked : MOST_LENGTHS - 1;
	int64_t v = op->nix < 3 ? s->heights : s->length[asked];
	for (int i = 0; i < op->nsym; i++) {
		names_bind_int(n, op->sym[i], i + 1 < op->nsym ? 0 : v);
		if (!known)
			names_bind(n, op->sym[i], &none);
	}
}

void names_bind_found(LaneNames *n, const Op *op, const Sizes *s)
{
	if (finds(op))
		bind_found(n, op, s);
}

int64_t found_length(int draw)
{
	static const int64_t some[] = {64, 0, 65, 1, 128, 0, 200, 320};
	return some[draw % (int)COUNTOF(some)];
}
