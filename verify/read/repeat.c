/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* repeat.c - steps that say what one before them said.
 *     read sA[0], read sA[0], write sA[0], read sA[0]  ->  read sA[0], write sA[0], read sA[0]
 */
#include "verify/read/read.h"

bool read_repeats(StepKind kind)
{
	return kind == STEP_READ || kind == STEP_PASS || kind == STEP_WRITE || kind == STEP_COPY ||
	       kind == STEP_TOUCH || kind == STEP_GLOBAL;
}

/* Whether slots of two buffers may have bytes in common. */
static bool may_share(const Machine *m, const Item *x, const Item *y)
{
	for (int i = 0; i < x->cell_slots; i++)
		for (int j = 0; j < y->cell_slots; j++) {
			int a = x->step.cell + i, b = y->step.cell + j;
			int own = m->nc / m->ranks, of = b % own;
			if (a == b || m->cells[a].over[of / 64] >> (of % 64) & 1)
				return true;
		}
	return false;
}

static bool writes(const Item *it)
{
	return it->step.kind == STEP_WRITE || it->step.kind == STEP_COPY;
}

static bool may_write(const Item *x, const Item *y)
{
	return x->step.cell >= 0 && y->step.cell >= 0 && (writes(x) || writes(y));
}

/* Many stores to one slot by the same lanes are one, and so are many reads of it with no store to
 * any of its bytes between. */
bool read_said(const Machine *m, const Items *list, const Item *it)
{
	for (int i = list->n - 1; i >= 0; i--) {
		const Item *old = list->at[i];
		if (old->kind != ITEM_STEP || !read_repeats((StepKind)old->step.kind))
			return false;
		bool same = old->step.kind == it->step.kind;
		if (same && old->at_cell == it->at_cell && old->step.cell == it->step.cell &&
		    old->step.mask == it->step.mask && old->which == it->which &&
		    old->at_byte == it->at_byte)
			return true;
		if (!same && may_write(old, it) && may_share(m, old, it))
			return false;
	}
	return false;
}
