/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pass.h - private to passes/: small things that two passes need. */
#ifndef DSL_PASS_H
#define DSL_PASS_H

#include "passes/passes.h"
#include "passes/smem/operand_layout.h"

enum { WARP_THREADS = 32, GROUP_WARPS = GROUP_THREADS / WARP_THREADS };
enum { WARP_ROWS = 16 /* rows that lie in the same registers of a warp's sums */ };
enum { VECTOR_BYTES = 16 }; /* that a thread loads or stores at once */

/* The function of a row of passes.def. */
#define PASS_OF(id)                \
	void pass_##id(Kernel *k); \
	void pass_##id(Kernel *k)

/* tile/expected.c: what the pass cannot take, and where (NULL: the kernel); NULL: it can. */
const char *pass_expects(const Kernel *k, int pass, const Op **where);

bool pass_failed(const Kernel *k); /* the pass that runs has reported an error of this kernel */

/* op.c's neighbours: what several passes ask */
bool loop_is_of_tiles(const Kernel *k, const Op *loop); /* of those that a CTA has, or may have */
Op *op_after(Kernel *k, Op *at, OpKind kind); /* a new op right after / before / at the end */
Op *op_before(Kernel *k, Op *at, OpKind kind);
Op *op_append(Kernel *k, Block *b, OpKind kind, Loc loc);
const Ix *op_let(Kernel *k, Op *at, const char *name, const Ix *x); /* before it; the name */
/* Of a new OP_FOR: turns 0 .. n. Its name. */
const Ix *op_turns(Kernel *k, Op *loop, const char *name, const Ix *n, int unroll);
Op *ring_new(Kernel *k, const char *stem, int64_t slots, Loc loc); /* to be inserted */
Val *ring_buffer(Kernel *k, Op *ring, const char *name, const Type *t);
const Ix *ix_int(const Kernel *k, int64_t v);
/* The coordinate along a part of a mode, of the mode's element x. */
const Ix *ix_in_part(const Kernel *k, const Ix *x, const Tup *parts, int part);
bool op_is_mma(const Op *op);                       /* of any stage */
bool op_is_atom(const Op *op);                      /* of the warp stage: mma or copy of tiles */
bool kernel_multiplies(const Kernel *k);            /* has an mma */
Op *kernel_mma(const Kernel *k, const Op *after);   /* the next; after NULL: the first */
Op *kernel_ring(const Kernel *k, const char *name); /* its ring op */
enum { TURNS = 2 /* warpgroups that take tiles in turn, under pingpong */ };
bool kernel_pingpong(const Kernel *k);
bool kernel_has_roles(const Kernel *k); /* warps of their own load */
bool operand_on_ring(const Operand *in, const char *ring);
/* Whether op has one of `effects` on a buffer of the ring. */
bool op_touches(const Op *op, const char *ring, int effects);
/* Whether op writes to the ring, or to any, what its row says is complete later. */
bool op_fills(const Op *op, const char *ring);
bool op_fills_shared(const Op *op);
bool ring_is_filled(const Kernel *k, const Op *ring); /* by some op */
bool ring_is_put(const Kernel *k, const Op *buffer);  /* threads write the buffer from registers */
bool ring_is_own(const Kernel *k, const char *ring);  /* each warpgroup has its slots */
bool ring_filled_by_lanes(const Kernel *k, const char *ring); /* by one that threads issue */
/* Named barriers: 0 is the whole CTA's. */
enum {
	NAMED_TURN = 1,
	NAMED_STAGING = 3,
	NAMED_READ = 6 /* one for each warpgroup */,
	NAMED_OVER = 8,
	NAMED_READ_MORE = 9, /* pairs */
	NAMED_LAST = 14,
	NAMED_EXCHANGE = 15
};
/* Whether wgmma groups that a loop's body issues are left in flight from iteration to iteration. */
bool loop_keeps_groups(const Op *loop);
int64_t buffer_align(const Type *t); /* smem/placement.c: bytes; a buffer begins at a multiple */
void drop_unused(Kernel *k, OpKind kind); /* those whose value nothing takes */
void op_unwrap(Op *region);               /* its body takes its place */
/* A warpgroup of the consumers, which are the first warps of the CTA. */
const Ix *ix_warpgroup(const Kernel *k);
int val_extent(const Val *v, int mode); /* of a static tile */
bool val_is_vector(const Val *v);       /* one row or one column of it */
bool val_is_registers(const Val *v);    /* a tile in registers; NULL: none */
bool val_is_one(const Val *v);          /* a scalar that a tensor holds */
int64_t round_up(int64_t x, int64_t to);

enum { TMA_STRIDE = 16 }; /* bytes that a tensor's strides and address are multiples of */
bool tma_takes_stride(const Ix *stride, int bytes); /* false: it is a number that TMA never takes */

bool tile_named(const Op *tile, const char *name); /* its place depends on the name */
Val *tile_indices(const Val *tile);  /* what names its coordinates along gather=; NULL: nothing */
enum { INDICES_MOST = 32 };          /* registers that a lane has for them */
bool op_loads_rows(const Op *op);    /* by TMA, a box for each row that indices name */
int64_t rows_issued(const Op *load); /* of those, by this CTA and warp */
int slices_of(Kernel *k, const Op *load); /* multicast.c: CTAs of a cluster that load a part each */
Val *tensor_arg(const Val *tensor);       /* that it is a view of; itself else */
/* modes.c: the tensor with its modes in an order; one view for each */
Val *tensor_view(Kernel *k, Val *tensor, const Layout *l);
const Layout *layout_in_order(Ctx *c, const Layout *l, const int *at);
/* A tile of a tensor as its matrix: modes of the tensor. */
int tile_mode(const Kernel *k, const Val *tile, int mode);
const Ix *tile_at(const Kernel *k, const Val *tile, int mode); /* where it begins */
/* Of a mode of parts, the first that is not 1: its elements are not contiguous. */
const Ix *tile_stride(const Kernel *k, const Val *tile, int mode);
/* Whether rows of the tile, so many from a multiple of their number on, are one box of a map. */
bool tile_is_box(const Kernel *k, const Val *tile, int mode, int64_t rows);
/* Of all modes but one. */
bool strides_are_multiples(const Kernel *k, const Layout *l, int except, int64_t n);
bool tile_in_vectors(const Kernel *k, const Val *tile, int fast, int n);
bool tile_ends_whole(const Kernel *k, const Val *tile, int fast, int n); /* its tensor does */
int64_t widest_access(const Kernel *k); /* that a thread loads or stores at once, at most */
const Ix *tile_extent(const Kernel *k, const Val *tile, int mode); /* the tensor's */
Op *tile_of(const Val *v);                                         /* that defines it; NULL */
bool tile_lies_inside(const Kernel *k, const Op *tile, int mode);
/* Whether what is outside along the mode is outside each output, too. */
bool tile_ends_as_outputs(const Kernel *k, const Op *tile, int mode);
/* What TMA loads, outside its tensor along a mode of stride 0, becomes a tile outside the map. */
void tile_outside_map(Kernel *k, Op *tile);
/* So does what an epilogue loads of a tensor without elements: its map has one (check.c). */
void tile_outside_empty(Kernel *k, Op *tile);
/* A tensor map for tiles like this one whose box is a span of the slot's rows, which lie along the
 * map's first mode; made once. */
/* The mode of its tensor that ends where the tile says; -1. */
int tile_end_mode(const Kernel *k, const Val *tile);
/* Of the tensor, which ends where it does for the other tile: mode i of that is its mode at[i], or
 * they are the same. */
void op_of_tensor(Kernel *k, Op *tile, Val *tensor, const Val *other, const int *at);
Op *kernel_map(Kernel *k, Loc loc, const Val *tile, SlotForm f);
/* The coordinates of a box: the tile's, and more along the modes of its matrix. */
void op_box(Kernel *k, Op *op, const Val *tile, const Ix *const more[2]);

/* Modes of a thread-value layout: of threads, of values. */
typedef struct {
	int64_t shape[2][5], stride[2][5];
	int n[2];
} TvModes;
const Layout *tv_layout(Ctx *c, const TvModes *tv);

/* How a tiled mma covers its accumulator. */
typedef struct {
	Atom atom;
	int m, n, k;            /* of the tile */
	int from, to;           /* of k, what is multiplied */
	int rows, cols;         /* what a warpgroup's atoms beside each other cover, a block */
	int warps, beside;      /* warps of a block along m; along n, an atom of each in turn */
	int steps;              /* atoms of a warp along n */
	int along_m, along_n;   /* warpgroups */
	int repeat_m, repeat_n; /* blocks of a warpgroup */
} TiledMma;
TiledMma op_tiled_mma(Ctx *c, const Op *mma);
/* Of its blocks the part of so many columns, as a tile. */
TiledMma tiled_mma_part(TiledMma t, int cols);
int tiled_mma_warpgroups(TiledMma t);
int tiled_mma_unit(TiledMma t); /* columns of which each thread has some, where warps lie beside */
/* Over how many warps a row of the reduction's operand is spread (exchange.c). */
int64_t warps_of_row(const Op *op);
int tiled_mma_columns(TiledMma t, int most); /* so many at most that divide a block's, in eights */
int tiled_mma_registers(TiledMma t);         /* elements that a thread holds of a block */
/* Thread-value layouts: of the accumulator; of A and B as atoms read them from registers. */
const Layout *tiled_mma_tv(Ctx *c, TiledMma t);
const Layout *tiled_mma_tv_of(Ctx *c, TiledMma t, int operand); /* 1: A, 2: B */
/* Register of A where the atom of repeat i along m finds column col, of A as it lies in registers;
 * -1: it does not lie as the atom reads it. */
int tiled_mma_a(Ctx *c, TiledMma t, const Type *a, int i, int col);
int tiled_mma_b(TiledMma t, const Type *b, int j, int step, int col); /* of B as tv_b has it */
bool tiled_mma_reads(Ctx *c, TiledMma t, const Type *a);              /* all of it */
/* The first mma, of either stage, whose accumulator is spread as v is; NULL: none. */
const Op *mma_spread_as(const Kernel *k, const Val *v);
/* .. as a buffer that they are written to has neighbours, over so many threads */
const Layout *simt_into(Kernel *k, const Val *v, const Val *buffer, int64_t threads);
Val *spread_simt(Kernel *k); /* simt.c: the largest tile, where there is no mma */
/* simt.c: as one whose tensor has neighbours along the mode; NULL: the threads cannot share it */
const Layout *simt_along(Kernel *k, const Val *v, const Val *tile, int fast);

#endif
