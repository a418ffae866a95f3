/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* epilogue.h - private to epilogue*.c: one store of a tile, and how it leaves. */
#ifndef DSL_EPILOGUE_H
#define DSL_EPILOGUE_H

#include "layout/ptrmap.h"
#include "passes/rings.h"
#include "passes/ways.h"

enum { MOST_SLOTS = 4 };

/* A tile of a tensor that the value is computed from: `load %c, %t`. */
typedef struct {
	Op *load;
	WayId way;
	Val *buffer, *map;
} Source;

struct Epilogue {
	Kernel *k;
	Op *store;
	const Op *tile;
	TiledMma t;
	const char *name; /* 1 where TMA can take the tensor; NULL: it always can */
	bool m_fast;      /* the tensor's columns are contiguous, not its rows */
	SlotForm chunk;   /* of the staging buffer; its rows are columns of the tile where m_fast */
	int rows;         /* of a warpgroup: of one atom */
	int cols;         /* of the tile in a chunk */
	int bytes;        /* of an element */
	int warpgroups;   /* each with slots of its own */
	int chunks;       /* times that a warpgroup fills a slot for one tile */
	PtrMap origins;   /* of values before the store; find_sources makes it */
	const Layout *tv; /* of a chunk's registers; NULL: not asked yet */
	VEC(Source) sources;
	int source_slots; /* of the ring that each source comes through */
	int slots;        /* of the ring of staging buffers */
	WayChoice way;
};

/* epilogue_chunks.c */
void find_sources(Epilogue *e); /* those that the value is computed from and TMA can bring */
int64_t source_bytes(const Epilogue *e); /* a slot of every source */
void by_chunks(Epilogue *e);             /* takes the store's place */
bool reads_columns(Epilogue *e);         /* of tensors that have an element for each */
void by_pieces(Epilogue *e);      /* takes the store's place, from registers; after reads_columns */
bool one_tile(const Epilogue *e); /* a CTA computes one, and all its loops are done */

#endif
