/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* operand_layout.h - private to passes/: how TMA, matrix descriptors and threads see a slot of
 * shared memory. All of it is solved from the slot's layout; what has no such form is refused with
 * the reason. */
#ifndef DSL_SLOT_H
#define DSL_SLOT_H

#include "passes/passes.h"
#include "runtime/swizzle.h"

/* Rows of `span` elements after a swizzle: `rows` of them lie one after the other, then come
 * those of the next `span` elements of the fast mode, until `cols`. */
typedef struct {
	int fast;             /* the mode of the tile whose neighbours lie side by side */
	int rows, cols, span; /* elements: of the other mode, of the fast one, of the swizzle */
	int swizzle;          /* bytes: 32, 64, 128; 0: rows as they are, a span each */
} SlotForm;

/* The widest swizzle that divides so many bytes; 0: none. */
int slot_swizzle(int row_bytes);

/* Rows after the widest swizzle that divides them, as they are where none does. */
SlotForm slot_rows(int fast, int rows, int cols, int bytes);

/* NULL, or why the layout of t is not of that form. */
const char *slot_form(Ctx *c, const Type *t, SlotForm *out);
const Layout *slot_layout(Ctx *c, SlotForm f, Elem e);
/* The byte of element (i, j) of the tile in a slot, before the swizzle. */
int64_t slot_byte(const Type *t, int64_t i, int64_t j);
/* The same of element (i, j) of a view. */
int64_t window_byte(const Type *t, Window w, int64_t i, int64_t j);
const Ix *window_moved(Ctx *c, const Type *t, Window w); /* bytes by which it moves */
/* What a view may begin at multiples of, along a mode of the buffer: for instructions that read
 * k elements by a descriptor, or with k = 0 for copies to registers. */
int window_step(SlotForm f, Window w, int mode, int k);
/* The view as a buffer that begins with its first element, which lies `skip` into the slot. NULL:
 * its elements do not lie to each other as those of the first rows and columns do. */
const Type *window_slot(Ctx *c, const Type *t, Window w, int64_t *skip);

/* A matrix descriptor of a view of a slot, (mn, k) (PTX ISA: matrix descriptor, strides). */
typedef struct {
	bool mn_major;
	int64_t lbo, sbo; /* bytes */
	int swizzle;
} SlotDesc;

/* For instructions of mn by k elements; NULL, or what of the layout no descriptor says. */
const char *slot_desc(Ctx *c, const Type *t, Window w, int mn, int k, SlotDesc *out);

/* What was asked before. */
typedef struct {
	const Type *type;
	Window window;
	int mn, k;
	SlotDesc desc;
	const char *why;
} SlotAsked;
typedef VEC(SlotAsked) SlotsAsked;
const char *slot_desc_once(Ctx *c, SlotsAsked *asked, const Type *t, Window w, int mn, int k,
			   SlotDesc *out);
int log2_of(int64_t x); /* rounded down; x above 0 */

#endif
