/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_trace.h - private to stepper_trace.c and stepper_trace_op.c: a warp being traced. */
#ifndef DSL_TESTS_CHECK_STEPPER_TRACE_H
#define DSL_TESTS_CHECK_STEPPER_TRACE_H

#include "stepper.h"

#include "base/ptrmap.h"

enum {
	MOST_STEPS = 60000, /* of all warps, and turns of their loops */
	MOST_TURNS = 4096,  /* of one loop */
	MOST_COUNTERS = 8,
	MOST_COUNT = (1 << 20) - 1,
	TABLE = 1 << 14
};

typedef struct {
	PtxTrace *t;
	Ctx *c;
	LaneNames *names;
	PtxWarp *w;
	int warp; /* of all */
	PtxRegisters *regs;
	PtrMap first_bar, first_slot, buffer_end; /* Val -> 1 + number of slot 0 */
	VEC(uint32_t) masks;
	const char *give_up;
	int total, turns;
	uint64_t together; /* what the warps of a warpgroup must do alike */
	uint64_t registers;
	int64_t regs_left;        /* of a thread */
	int *table;               /* of feet: 1 + number */
	int meet[NAMED_BARRIERS]; /* threads */
} Tracer;

/* stepper_trace.c */
void trace_wrong(Tracer *r, const Op *op, const char *what);
uint64_t trace_mix(uint64_t h, uint64_t v);
int64_t trace_value(Tracer *r, const Op *op, const Ix *x, uint32_t lanes);
int trace_slot(Tracer *r, const Op *op, const Operand *in, uint32_t lanes);
int trace_number(const PtrMap *m, const Val *v);
PtxStep *trace_push(Tracer *r, const Op *op, int kind, uint32_t lanes);
int trace_foot(Tracer *r, const Op *op, const Operand *in, int slot, int64_t byte, int64_t bytes,
	       bool within);
bool trace_is_matrix(const Op *op);
bool trace_is_staged(const Op *op); /* from a staging buffer to a tensor */
int trace_lanes_foot(Tracer *r, const Op *op, const Operand *in, int slot, const Ix *byte,
		     uint32_t lanes);

/* stepper_trace_op.c */
bool trace_is_aligned(OpKind kind);
void trace_step(Tracer *r, const Op *op, uint32_t lanes);

#endif
