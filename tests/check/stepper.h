/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper.h - a third judge of ptx-stage IR: it runs the kernel of one cluster for sizes that are
 * numbers, in random interleavings, and watches what orders what. It shares the IR's parser and
 * data structures with the rest, nothing of the verifier, of the simulator, nor of the effects in
 * ops.def. Nothing in a kernel's control flow depends on data, so that each warp's steps are
 * known before any run:
 *     kernel, sizes -> stepper_trace (steps of each warp) -> stepper_run (one interleaving)
 */
#ifndef DSL_TESTS_CHECK_STEPPER_H
#define DSL_TESTS_CHECK_STEPPER_H

#include "ir/ir.h"

enum { LANES = 32, MOST_NAMES = 24, MOST_LENGTHS = 4, GROUP_WARPS = 4, NAMED_BARRIERS = 16 };
#define ALL_LANES 0xffffffffu

/* What the caller binds, what the launch chooses, and which cluster is looked at. */
typedef struct {
	struct {
		const char *name;
		int64_t value;
	} at[MOST_NAMES];
	int n;
	int64_t sms, cluster;
	int64_t length[MOST_LENGTHS], heights; /* what operations find; stepper_found.c */
	int leader;                            /* the lane that elect chooses */
	int tiles, trips; /* that these make, of the cluster; see sizes_count */
} Sizes;

/* Bytes of shared memory that one step touches: of each lane, or all together. */
typedef struct {
	int warp;
	uint32_t lanes;
	int bytes;     /* of each lane */
	int at[LANES]; /* bytes from the start of shared memory; together: at[0] alone */
	bool together;
	uint32_t hash;
	int *cells[LANES], ncells[LANES]; /* of each class of lanes */
} Foot;

/* A kind is an OpKind or one of these. */
enum { PTX_TOGETHER = OP_COUNT, PTX_LOOK, PTX_EXIT };
typedef struct {
	int kind;
	const Op *op;
	uint32_t lanes;
	int cta;         /* whose barrier or slots; of a load the mask of CTAs */
	int bar;         /* mbarrier of that CTA, or the named barrier */
	int n;           /* arrivals, parity, groups, threads, registers */
	int64_t bytes;   /* announced, or of a box */
	int foot, foot2; /* -1: none */
	int slot;        /* of all buffers' slots */
	bool global;     /* accesses global memory */
	bool relaxed;
} PtxStep;

typedef struct {
	int cta, number; /* in its CTA */
	VEC(PtxStep) steps;
	int nclasses;
	uint32_t classes[LANES]; /* lanes that always go together */
	int first_part;          /* of clocks: its classes, then their groups, then its wgmmas */
	int bulk_part[LANES], copy_part[LANES], mma_part;
	int *seen; /* 1 + the phase that a step met, in any run before */
} PtxWarp;

/* Of a CTA's shared memory. */
typedef struct {
	int64_t start, bytes;
} PtxSlot;

typedef struct {
	Arena *arena;
	const Kernel *k;
	const Sizes *sizes;
	int ctas, warps, cta_warps, bars, slots;
	PtxWarp *warp;
	PtxSlot *slot; /* of all buffers, in order */
	VEC(Foot) feet;
	int ncells; /* of a CTA: bytes that the same steps touch */
	int bar_part, grid_part, parts;
	bool waits_for_grid;
	const char *wrong; /* in program order: no run is needed; NULL: nothing */
	const Op *wrong_at;
} PtxTrace;

/* NULL: these sizes launch nothing, or take too long, or an expression has no value; see *why. */
PtxTrace *stepper_trace(Arena *arena, const Kernel *k, const Sizes *sizes, const char **why);

/* One interleaving; false: it fails. */
typedef struct {
	const char *what;     /* hang, race, .. */
	const Op *op, *other; /* may be NULL */
	char text[160];
} Finding;
bool stepper_run(PtxTrace *t, uint64_t seed, Finding *out);

/* stepper_sizes.c: random sizes that the kernel's facts allow, with about as many tiles and
 * trips. */
bool stepper_sizes(const Kernel *k, uint64_t seed, int tiles, int trips, Sizes *out);

/* Whether sizes have a part in a condition; whether the thread does, and no loop. */
bool sizes_decide(const Kernel *k, const Op *op);
bool thread_decides(const Op *op);

/* Private to stepper_*.c */
typedef struct {
	uint32_t bad; /* lanes for which it has no value */
	bool varies;
	int64_t at[LANES];
} LaneValue;
typedef struct LaneNames LaneNames;
LaneNames *names_new(Arena *arena);
void names_bind(LaneNames *n, const char *name, const LaneValue *v);
void names_bind_int(LaneNames *n, const char *name, int64_t v);
void names_eval(const LaneNames *n, const Ix *x, LaneValue *out);
bool names_int(const LaneNames *n, const Ix *x, int64_t *out); /* false: none, or it varies */
void names_of_sizes(LaneNames *n, Ctx *c, const Sizes *s);
/* What the launch makes of the sizes; 0: nothing is launched. */
int64_t launch_ctas(const Kernel *k, const LaneNames *n);
int cluster_ctas(const Kernel *k);
void names_of_cta(LaneNames *n, Ctx *c, const Sizes *s, int64_t ctas, int cluster_size, int rank);
void names_of_warp(LaneNames *n, Ctx *c, int warp);

/* stepper_found.c */
bool found_in(const Kernel *k); /* whether operations find something */
void names_bind_found(LaneNames *n, const Op *op, const Sizes *s);
int64_t found_length(int draw);

/* stepper_registers.c: what each warp does with its registers, in program order. */
typedef struct PtxRegisters PtxRegisters;
PtxRegisters *registers_new(Arena *arena);
const char *registers_step(PtxRegisters *r, const Op *op, const LaneNames *n); /* what is wrong */
const char *registers_exit(const PtxRegisters *r);

void stepper_cells(PtxTrace *t); /* stepper_cells.c: classes of lanes, cells of memory, parts */

#endif
