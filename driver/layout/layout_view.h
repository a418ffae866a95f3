/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_view.h - private to driver/layout*.c: a layout as a grid of cells, for tables and
 * pictures. */
#ifndef DSL_DRIVER_VIEW_H
#define DSL_DRIVER_VIEW_H

#include "frontend/frontend.h"

enum { CELLS_MAX = 1 << 16 };

typedef struct {
	const char *text; /* what stands in the cell; "" for one that nothing maps to */
	int64_t color;    /* what decides its colour; -1: none */
	const char *hint; /* shown when pointed at */
} Cell;
typedef struct {
	const char *title, *row_name, *col_name;
	int64_t rows, cols;
	Cell *at; /* rows * cols, row by row */
} View;

/* table.c. NULL from the first two: *why says what the layout lacks. */
const View *view_offsets(Ctx *c, const Layout *l, const char **why);
/* Which thread and value has each place of a tile; without a tile, the place of each. */
const View *view_tv(Ctx *c, const Layout *tv, int64_t rows, int64_t cols, const char **why);
void view_table(const View *v, Buf *out);

/* banks.c: false with *why */
bool layout_banks(Ctx *c, const Layout *l, Elem elem, Buf *out, const char **why);

/* svg.c */
void view_svg(const View *v, Buf *out);

/* svg.c: text as XML has it */
void svg_escaped(const char *s, Buf *out);

#endif
