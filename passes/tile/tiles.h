/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tiles.h - private to passes/tile/: the plane of tiles, and what gives a CTA its place there. */
#ifndef DSL_TILES_H
#define DSL_TILES_H

#include "passes/tile/split.h"

enum {
	MOST_TILES = 1 << 30,
	MOST_CTAS = 1024,
	NONE = -1,
	BEYOND = 1 << 21 /* elements that tiles beyond an edge may lie after it */
};

typedef struct {
	Kernel *k;
	Op *at; /* new ops go before it */
} Here;

/* What is ordered: tiles, or blocks of tiles that a cluster computes. */
typedef struct {
	const Op *grid;
	const Val *to;            /* an output's tile; NULL: nothing is stored */
	int name[2];              /* of the grid's: along m, n; NONE: one tile */
	int64_t tile[2];          /* elements of an output's tile */
	int64_t cluster[2], ctas; /* CTAs of a cluster along m, n; of all with tiles of their own */
	int64_t parts;       /* CTAs of a cluster that have the same tile, a part of its k each */
	int64_t shares;      /* CTAs, or clusters, beside each other that do */
	const Ix *extent[2]; /* in blocks */
	const Ix *row;    /* of a group: its first; NULL: tiles along m lie one after the other */
	const Ix *blocks; /* of one matrix */
	const Ix *all;    /* of a batch of them */
} Plane;

/* tiles.c */
const Ix *tiles_let(Here h, const char *stem, const Ix *x); /* a fresh name for x */
/* min(x, extent - 1) is x, but says to range analysis what a formula hides. */
const Ix *tiles_below(const Kernel *k, const Ix *x, const Ix *extent);
/* Names the tile that is `in` the block. */
void tiles_raster(Here h, const Plane *p, const Ix *block, const Ix *in);
void tiles_launch(Here h, const Plane *p, const Ix *clusters);
void tiles_limit(Kernel *k, const Ix *all, Loc loc);
const Ix *tiles_me(const Kernel *k, const Plane *p);      /* the CTA's number, or the cluster's */
const Ix *tiles_ctas(const Kernel *k, const Plane *p);    /* how many of these the grid has */
const Ix *tiles_at_once(const Kernel *k, const Plane *p); /* how many of these run */
const Ix *tiles_repeat(Kernel *k, Op *grid, const Ix *turns);
const Ix *tiles_by_turns(Here h, const Plane *p, Op *grid, const Ix *all);

/* dealt.c */
bool tickets_drawn(const Kernel *k); /* tiles are dealt out while they are computed */
void tickets_check(Kernel *k, const Plane *p);
const Ix *tiles_by_tickets(Here h, const Plane *p, Op *grid, const Ix *all);

/* lengths.c */
int lengths_differ_along(const Kernel *k, const Plane *p); /* m: 0, n: 1; or NONE */
/* The block of tiles along a mode that comes in the place of this one. */
const Ix *longest_first(const Kernel *k, const Plane *p, int mode, const Ix *block);

/* groups.c */
void groups_check(Kernel *k, const Plane *p);
void groups_tiles(Here h, const Plane *p, Op *grid);
void groups_read_first(Kernel *k);

/* numbers.c */
void numbers_read_first(Kernel *k);

#endif
