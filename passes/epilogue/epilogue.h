/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* epilogue.h - private to passes/epilogue/: one store of a tile, and how it leaves. */
#ifndef DSL_EPILOGUE_H
#define DSL_EPILOGUE_H

#include "base/ptrmap.h"
#include "passes/smem/rings.h"
#include "passes/atoms/copy_choice.h"

enum { MOST_SLOTS = 4 };

/* A tile of a tensor that the value is computed from: `load %c, %t`. */
typedef struct {
	Op *load;
	WayId way;
	bool vector; /* of an element for each row or column, whole in a slot */
	Val *buffer, *map;
} Source;

/* Of a value: where it stands in the text, counted from 1; where what it is computed from is last
 * assigned or added to before the store; the first load that brings it. */
typedef struct {
	int at, changed;
	Op *load;
	int asked; /* by find_sources: for a matrix, for vectors */
} Origin;

typedef struct {
	int n;         /* its number */
	int i, j, col; /* repeat along m and n, column in the atom */
} Chunk;

/* A tile that is reduced as it is joined, after the store. */
typedef struct {
	Op *op;
	Val *kept; /* what each warp has of the chunks so far; NULL: nothing */
} Join;

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
	VEC(Join) joins;
	bool late;        /* each chunk loads its part of what TMA does not bring */
	int source_slots; /* of the ring that each source comes through */
	int slots;        /* of the ring of staging buffers */
	WayChoice way;
};

/* chunks.c */
void find_sources(Epilogue *e); /* those that the value is computed from and TMA can bring */
int64_t source_bytes(const Epilogue *e); /* a slot of every source that comes chunk by chunk */
void by_chunks(Epilogue *e);             /* takes the store's place */
void by_pieces(Epilogue *e);      /* takes the store's place, from registers; after reads_columns */
bool one_tile(const Epilogue *e); /* a CTA computes one, and all its loops are done */
const Op *program_loop(const Epilogue *e); /* around the store, not that over tiles; or NULL */

void find_origins(Epilogue *e);
Origin *origin_of(const Epilogue *e, const Val *v);
const Ix *turn_of(const Epilogue *e); /* the iteration of the loop over tiles */
Val *buffer_new(Kernel *k, Loc loc, const Val *tensor, const char *ring_name, SlotForm m,
		int slots);
#define NO_BOX          "a chunk's rows begin or end within a part of a mode"
#define NO_LINES        "neither its rows nor its columns are contiguous"
#define BEGINS_ANYWHERE "a group begins at any row, and TMA at multiples of 16 bytes"

/* atoms/copy_source.c */
bool is_sure(const Kernel *k, const Ix *stride, int bytes);
bool begins_anywhere(const Kernel *k, const Val *tile, int fast);
SlotForm source_form(const Epilogue *e, const Val *tile); /* of the slots of what the tile is of */

/* Of the chunk: where it begins in the tile of a tensor, its part of that, its registers of v. */
const Ix *chunk_row(const Epilogue *e, Chunk c, const Op *tile, const Ix *group);
const Ix *chunk_col(const Epilogue *e, Chunk c, const Op *tile, const Ix *group);
Val *part_tile(const Epilogue *e, Op *at, const Op *tile, const Ix *row, const Ix *col, int rows);
const Type *chunk_type(Epilogue *e, const Val *v);

typedef struct {
	Epilogue *e;
	const Chunk *all;
	Chunk c;
	PtrMap part; /* of a value of the tile: what of it is in this chunk */
} Parts;
Val *part_of(Parts *p, Val *v);

Source *source_of(Epilogue *e, const Val *frag); /* NULL: TMA does not bring it */
bool reads_too_much(Epilogue *e);                /* epilogue.c: for the registers of a thread */

/* joins.c */
bool writes_registers(const Op *op);
bool joins_columns(const Epilogue *e); /* a value for each, of what is stored beside it */
void find_joins(Epilogue *e);
void put_joins(Parts *p); /* of this chunk; the last takes the place of what was joined */

/* vectors.c */
Fit fits_vector(Copying *c, Refusal *why);
bool reads_columns(Epilogue *e); /* of tensors that have an element for each */
/* What brings a vector, and nothing else changes it; NULL: v is something else. */
Op *vector_load(const Epilogue *e, const Val *v);
Op *chunk_load(const Epilogue *e, const Val *v); /* the same of what each chunk loads itself */
Val *loaded_chunk(Epilogue *e, const Op *whole, Chunk c);     /* by each thread */
Val *vector_part(Epilogue *e, const Source *s, Chunk c);      /* out of its slot */
void vector_buffer(const Epilogue *e, Source *s, Op *reader); /* its slots, and what fills them */
int64_t vector_bytes(const Epilogue *e);                      /* of all slots of vectors */
void drop_sources(Epilogue *e, bool vectors); /* these, or those that come chunk by chunk */

#endif
