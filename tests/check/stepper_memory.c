/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_memory.c - who touched each cell of shared memory, and what orders the next who does.
 * Ordered: the part of his clock is at or after the time. From the generic proxy to the async
 * one a proxy fence must stand between, by who read where that was a read (on an H200 another's
 * was not seen to help; PTX leaves it open); what is async orders by its completion.
 */
#include "stepper_memory.h"

#include <stdlib.h>
#include <string.h>

static bool is_ordered(const Touch *before, const Touch *after, Clock by)
{
	const int *known = !before->generic || after->generic ? by.known
			   : before->write                    ? by.fenced
							      : by.own;
	return known[before->part] >= before->time;
}

static void add(CellNow *c, const Touch *t)
{
	for (int i = 0; i < c->n; i++)
		if (c->at[i].part == t->part && c->at[i].write == t->write) {
			c->at[i] = *t;
			return;
		}
	if (c->n == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 4;
		c->at = realloc(c->at, sizeof *c->at * (size_t)c->cap);
	}
	c->at[c->n++] = *t;
}

/* For a copy it is not enough that others wrote or read after a read of what was there before. */
static void grow_old(CellNow *c, bool reads)
{
	int n = 0;
	for (int i = 0; i < c->n; i++) {
		c->at[i].old = true;
		if (reads && c->at[i].generic && !c->at[i].write)
			c->at[n++] = c->at[i];
	}
	c->n = n;
}

/* Who reads what is there now stands for all who read before, but not for his own warp. */
static void forget_old(CellNow *c, const Touch *t)
{
	int n = 0;
	for (int i = 0; i < c->n; i++)
		if (!c->at[i].old || (t->generic && c->at[i].warp == t->warp))
			c->at[n++] = c->at[i];
	c->n = n;
}

static const char *race_name(const Touch *before, const Touch *after, Clock by)
{
	if (by.known[before->part] >= before->time)
		return before->write ? after->write ? "race: no proxy fence from a write to a write"
						    : "race: no proxy fence from a write to a read"
				     : "race: no proxy fence from a read to a write";
	return before->write
		       ? after->write ? "race: a write after a write" : "race: a read after a write"
		       : "race: a write after a read";
}

/* Who fenced what he wrote has it read before he writes there again. */
static bool fills_anew(const CellNow *c, Clock by, const Touch *t)
{
	if (c->loaded || !t->generic)
		return false;
	for (int i = 0; i < c->n; i++)
		if (c->at[i].write && c->at[i].part == t->part && by.own[t->part] > c->at[i].time)
			return true;
	return false;
}

static bool write_cell(Run *r, CellNow *c, Clock by, const Touch *t, int slot)
{
	bool unread = c->written && r->slots[c->slot].read < c->written;
	if (unread && fills_anew(c, by, t))
		return run_fail(r, "what was written is written again before anyone read it", t->op,
				NULL);
	grow_old(c, t->generic);
	add(c, t);
	c->written = r->now;
	c->slot = slot;
	c->loaded = !t->generic;
	return true;
}

static bool touch_cell(Run *r, CellNow *c, Clock by, const Touch *t, int slot)
{
	for (int i = 0; i < c->n; i++) {
		const Touch *b = &c->at[i];
		if ((b->write || t->write) && !is_ordered(b, t, by))
			return run_fail(r, race_name(b, t, by), t->op, b->op);
	}
	if (t->write)
		return write_cell(r, c, by, t, slot);
	if (!c->written && !r->slots[slot].by_threads) /* those need not fill a slot whole */
		return run_fail(r, "a read of what nobody wrote", t->op, NULL);
	const SlotNow *now = &r->slots[slot]; /* filled by threads alone it need not be whole */
	if (c->loaded && c->slot == slot && c->written < now->filled && now->loaded >= now->filled)
		return run_fail(r, "a read of a slot of which a part was not loaded", t->op, NULL);
	forget_old(c, t);
	add(c, t);
	return true;
}

static bool share_bytes(const PtxTrace *t, int a, int b)
{
	const PtxSlot *x = &t->slot[a], *y = &t->slot[b];
	return a != b && x->start < y->start + y->bytes && y->start < x->start + x->bytes;
}

static bool is_copy(const Touch *t)
{
	return t->op && t->op->kind == OP_CP_ASYNC;
}

/* Of buffers with bytes in common one is written when what threads stored in the other is read, and
 * is not read for the other. What was loaded or copied need only be there, which is no race. */
static bool write_slot(Run *r, int cta, int slot, const Touch *t)
{
	SlotNow *all = r->slots + cta * r->t->slots;
	for (int i = 0; i < r->t->slots; i++) {
		if (!share_bytes(r->t, i, slot))
			continue;
		if (all[i].read < all[i].written && all[i].stored)
			return run_fail(r, "written over another buffer that nobody has read",
					t->op, NULL);
		all[i].gone = true;
	}
	all[slot].gone = false;
	if (all[slot].read > all[slot].written || !all[slot].written) {
		all[slot].filled = r->now;
		all[slot].stored = false;
	}
	all[slot].stored |= t->generic && !is_copy(t);
	all[slot].by_threads |= t->generic;
	all[slot].loaded = t->generic ? all[slot].loaded : r->now;
	all[slot].written = r->now;
	return true;
}

static bool read_slot(Run *r, int cta, int slot, const Touch *t)
{
	SlotNow *s = &r->slots[cta * r->t->slots + slot];
	if (s->gone)
		return run_fail(r, "a read of bytes that are another buffer's by now", t->op, NULL);
	s->read = r->now;
	return true;
}

bool memory_touch(Run *r, int cta, const Foot *f, int class, Clock by, Touch touch, int slot)
{
	CellNow *cells = r->cells + (size_t)cta * (size_t)r->t->ncells;
	r->now++;
	for (int i = 0; i < f->ncells[class]; i++)
		if (!touch_cell(r, &cells[f->cells[class][i]], by, &touch,
				cta * r->t->slots + slot))
			return false;
	return touch.write ? write_slot(r, cta, slot, &touch) : read_slot(r, cta, slot, &touch);
}

/* As if all that is in the slot were read, where that is ordered. */
void memory_look(Run *r, int cta, int slot, Clock by)
{
	const CellNow *cells = r->cells + (size_t)cta * (size_t)r->t->ncells;
	int of = cta * r->t->slots + slot;
	bool known = true;
	if (r->slots[of].read > r->slots[of].written)
		return;
	for (int i = 0; i < r->t->ncells && known; i++)
		for (int j = 0; j < cells[i].n && cells[i].slot == of; j++)
			known &= !cells[i].at[j].write ||
				 by.known[cells[i].at[j].part] >= cells[i].at[j].time;
	if (known)
		r->slots[of].read = ++r->now;
}

/* What lanes copied, as some warp knows. */
static bool is_there(const Run *r, const CellNow *c)
{
	bool all = true;
	for (int i = 0; i < c->n && all; i++) {
		const Touch *t = &c->at[i];
		bool known = false;
		for (int w = 0; w < r->t->warps && t->write; w++)
			EACH_CLASS(k, run_warp(r, w), ~0u)
		known |= run_clock(r, w, k).known[t->part] >= t->time;
		all = !t->write || (known && is_copy(t));
	}
	return all;
}

/* What threads stored somebody read; what they copied is there. */
bool memory_end(Run *r)
{
	for (int i = 0; i < r->t->ctas * r->t->ncells; i++) {
		const CellNow *c = &r->cells[i];
		if (c->written && !c->loaded && r->slots[c->slot].read < c->written &&
		    !is_there(r, c))
			return run_fail(r, "what was written is never read",
					c->n ? c->at[0].op : NULL, NULL);
	}
	return true;
}

void memory_free(Run *r)
{
	for (int i = 0; i < r->t->ctas * r->t->ncells; i++)
		free(r->cells[i].at);
	free(r->cells);
}
