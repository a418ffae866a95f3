/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* interp.h - private to ir/: what the parts of the reference interpreter share.
 * A tile is held dense, last mode fastest, whatever its layout: layouts are where things lie, not
 * what they are. Tensors of the caller are read through their layout, element by element.
 * Where bounds are asked for, each element comes with the least and the most that a device may
 * compute in its place. -inf and inf: anything, also what is no number. */
#ifndef DSL_INTERP_H
#define DSL_INTERP_H

#include "ir/ir.h"
#include "base/ptrmap.h"

enum { MAX_RANK = 5, MAX_LEAVES = 16 };

typedef struct Interp Interp;
bool interp_fail(Interp *in, const char *fmt, ...) PRINTF(2, 3); /* false */
bool interp_eval(Interp *in, const Ix *x, int64_t *v);
void interp_bind(Interp *in, const char *name, int64_t value); /* to the end of the block */
bool interp_wanted(const Interp *in, int64_t tile);
/* runs a block in which names have these values */
bool interp_with(Interp *in, const char *const *names, const int64_t *values, int n,
		 const Block *b);

/* One top-level mode of a tensor: extents and strides of its leaves, leftmost fastest. */
typedef struct {
	int n;
	int64_t size, extent[MAX_LEAVES], stride[MAX_LEAVES];
} Mode;

/* A tensor of the caller, its sizes known. */
typedef struct {
	Elem elem;
	void *data;
	void *lo, *hi; /* bounds of what is stored, or NULL */
	bool *wrote;   /* of each element, whether it was stored; or NULL */
	int rank;
	int64_t offset;
	Mode mode[MAX_RANK];
} Tensor;

/* Elements, and where bounds are asked for what they lie between; else lo and hi are NULL. */
typedef struct {
	double *f, *lo, *hi;
} Elements;

/* With bounds, of each element of a frag: how much was added up, the largest power of two that all
 * of it is a multiple of (0: none is known), and the largest sum on the way. A sum is exact if its
 * type holds it as a multiple of the unit. */
typedef struct {
	double *amount, *unit, *reach;
} Sums;

/* What a value holds while the kernel runs. */
typedef struct {
	const Type *type;
	int rank;
	int64_t dim[MAX_RANK], n; /* n elements; a scalar has 1 */
	Elements at;              /* each a value of the element type */
	Elements wide;            /* a frag's elements; `at` is then a copy for readers */
	Sums sums;                /* of a frag; NULL without bounds */
	const Tensor *tensor;     /* a tile of a tensor at an origin */
	int64_t origin[MAX_RANK];
	int ends; /* 1 + the mode of it that is outside from `end` on; 0: none is */
	int64_t end;
	double *named; /* along mode `gather`, the coordinates; -1: outside. NULL: none are */
	int gather;
} Slot;

void element_is(const Elements *e, int64_t i, double v); /* interp.c: exactly */
/* interp_elt.c: the largest power of two that element i, with bounds, is a multiple of. 0: it has
 * several values; inf: it is 0, or not finite */
double element_unit(const Elements *e, int64_t i);

/* interp_tensor.c: a tensor's modes, and the dims of its slot, from what the caller binds */
bool tensor_bind(Interp *in, const Layout *l, Tensor *t, Slot *whole);
/* elements out of range read as 0 and are not written */
void tensor_load(const Slot *tile, double *out, Arena *scratch);
void tensor_names(const Slot *tile, double *out, Arena *scratch); /* the same, but -1 there */
void tensor_store(const Slot *tile, const Elements *from, Arena *scratch);
void tensor_inside(const Slot *tile, const Elements *of, double outside, const int64_t *edges,
		   Arena *scratch); /* edges[i]: mode i's counts */

const Slot *interp_operand(Interp *in, const Op *op, int i);
double *interp_elements(Interp *in, const Slot *tensor); /* all of an argument */

int interp_rows_of(const Slot *t); /* interp_tensor.c: the mode of the rows of its matrix */
/* interp_window.c: its elements lie in scratch */
Slot slot_window(const Slot *from, Window w, Arena *scratch);
/* interp_grid.c */
bool run_grid(Interp *in, const Op *op);
bool run_count(Interp *in, const Op *op);
bool run_find(Interp *in, const Op *op);
bool run_tickets(Interp *in, const Op *op);
bool run_ticket(Interp *in, const Op *op);
bool run_at(Interp *in, const Op *op);

/* interp_join.c: joins element i to what the tensor holds */
typedef struct {
	const CombineRow *by;
	PtrMap *seen; /* of each element that was joined to, where bounds are asked for */
} Joining;
void tensor_join(const Joining *j, const Slot *tile, const Slot *from, Arena *scratch);
void element_join(const Joining *j, const Tensor *t, int64_t at, const Elements *from, int64_t i);

/* interp_elt.c: of operands that were read */
double combined(const CombineRow *by, double x, double y);
double moved(double v, double by); /* v + by; v if one is not finite, or by is 0 (-0 + 0 is 0) */
void elt_run(const Op *op, const Slot *out, Slot *const *in);
void scan_run(const Slot *out, const Slot *in);
void reduce_run(const CombineRow *row, const Slot *out, const Slot *in);
void cvt_run(const Slot *out, const Slot *in);

/* interp_mma.c: c[m][n] += sum over k of a[m][k] * b[n][k], in f64, of a and b whose rows are
 * `step` apart. scratch: (m + n) * k doubles; m and n are multiples of 4 */
void mma_f64(double *c, const double *a, const double *b, int64_t m, int64_t n, int64_t k,
	     int64_t step, double *scratch);
void sums_begin(const Slot *s, const Elements *from); /* of what was written */
/* The same of k columns from one on, for c and its bounds, where products are rounded to so many
 * bits of all that is added up, unless they hold each sum exactly; fraction 0: to none. */
void mma_bounds(const Slot *c, const Slot *a, const Slot *b, int64_t from, int64_t k, int fraction,
		Arena *scratch);

#endif
