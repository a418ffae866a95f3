/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_cells.c - what need not be told apart is one: bytes that the same steps touch are a cell,
 * lanes that always go together a class. A clock has a part for each class of each warp, for the
 * groups of each that stores or copies, each warp's wgmmas, each mbarrier, and for grid.wait. */
#include "stepper.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	PtxTrace *t;
	int unit, units;
	uint64_t *sum; /* of each unit: of what touches it */
	int *cell;     /* of each unit */
	int *stamp, now;
} Cells;

static int gcd(int a, int b)
{
	return b ? gcd(b, a % b) : a;
}

static int places(const Foot *f)
{
	return f->together ? 1 : LANES;
}

static uint64_t random_of(uint64_t n)
{
	uint64_t h = (n + 1) * 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 27) * 0x94d049bb133111ebu;
	return h ^ h >> 31;
}

static void find_unit(Cells *c)
{
	PtxTrace *t = c->t;
	c->unit = (int)attrs_int(&t->k->attrs, A_SMEM, 0);
	for (int i = 0; i < t->feet.n; i++) {
		const Foot *f = &t->feet.at[i];
		c->unit = gcd(c->unit, f->bytes);
		for (int j = 0; j < places(f); j++)
			c->unit = gcd(c->unit, f->at[j]);
	}
	c->unit = c->unit ? c->unit : 1;
	c->units = (int)attrs_int(&t->k->attrs, A_SMEM, 0) / c->unit;
}

static int class_of(const PtxTrace *t, const Foot *f, int lane)
{
	if (f->together)
		return 0;
	const PtxWarp *w = &t->warp[f->warp];
	for (int i = 0; i < w->nclasses; i++)
		if (w->classes[i] >> lane & 1)
			return i;
	return 0;
}

static void add_foot(Cells *c, int i)
{
	const Foot *f = &c->t->feet.at[i];
	for (int j = 0; j < places(f); j++) {
		if (!(f->lanes >> j & 1))
			continue;
		uint64_t mine = random_of((uint64_t)i * LANES + (uint64_t)class_of(c->t, f, j));
		for (int u = 0; u < f->bytes / c->unit; u++)
			c->sum[f->at[j] / c->unit + u] += mine;
	}
}

static void number_cells(Cells *c)
{
	int size = 1;
	while (size < 2 * c->units + 2)
		size *= 2;
	int *table = calloc((size_t)size, sizeof *table);
	for (int u = 0; u < c->units; u++) {
		uint64_t at = c->sum[u] & (uint64_t)(size - 1);
		while (table[at] && c->sum[table[at] - 1] != c->sum[u])
			at = (at + 1) & (uint64_t)(size - 1);
		if (!table[at]) {
			table[at] = u + 1;
			c->cell[u] = c->t->ncells++;
		} else {
			c->cell[u] = c->cell[table[at] - 1];
		}
	}
	free(table);
}

static void list_cells(Cells *c, Foot *f, int class)
{
	VEC(int) found = {0};
	c->now++;
	for (int j = 0; j < places(f); j++) {
		if (!(f->lanes >> j & 1) || class_of(c->t, f, j) != class)
			continue;
		for (int u = 0; u < f->bytes / c->unit; u++) {
			int cell = c->cell[f->at[j] / c->unit + u];
			if (c->stamp[cell] == c->now)
				continue;
			c->stamp[cell] = c->now;
			vec_push(c->t->arena, &found, cell);
		}
	}
	f->cells[class] = found.at;
	f->ncells[class] = found.n;
}

static bool does(const PtxWarp *w, uint32_t lanes, int kind)
{
	for (int i = 0; i < w->steps.n; i++)
		if (w->steps.at[i].kind == kind && w->steps.at[i].lanes & lanes)
			return true;
	return false;
}

static void number_parts(PtxTrace *t)
{
	for (int i = 0; i < t->warps; i++) {
		PtxWarp *w = &t->warp[i];
		w->first_part = t->parts;
		t->parts += w->nclasses;
		for (int c = 0; c < w->nclasses; c++)
			w->bulk_part[c] = does(w, w->classes[c], OP_TMA_STORE) ? t->parts++ : -1;
		for (int c = 0; c < w->nclasses; c++)
			w->copy_part[c] = does(w, w->classes[c], OP_CP_ASYNC) ? t->parts++ : -1;
		w->mma_part = does(w, ALL_LANES, OP_WGMMA) ? t->parts++ : -1;
	}
	t->bar_part = t->parts;
	t->parts += t->ctas * t->bars;
	t->grid_part = t->parts++;
}

void stepper_cells(PtxTrace *t)
{
	Cells c = {.t = t};
	find_unit(&c);
	c.sum = calloc((size_t)c.units + 1, sizeof *c.sum);
	c.cell = calloc((size_t)c.units + 1, sizeof *c.cell);
	c.stamp = calloc((size_t)c.units + 1, sizeof *c.stamp);
	for (int i = 0; i < t->feet.n; i++)
		add_foot(&c, i);
	number_cells(&c);
	for (int i = 0; i < t->feet.n; i++) {
		Foot *f = &t->feet.at[i];
		int classes = f->together ? 1 : t->warp[f->warp].nclasses;
		for (int j = 0; j < classes; j++)
			list_cells(&c, f, j);
	}
	free(c.sum);
	free(c.cell);
	free(c.stamp);
	number_parts(t);
}
