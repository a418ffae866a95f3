/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* table.c - a layout as a grid of cells, and the grid as text.
 *     (2,3):(3,1)   ->       0 1 2
 *                          0 0 1 2
 *                          1 3 4 5
 * Rows are mode 0, columns all other modes; of a thread-value layout, rows and columns are the
 * tile's and cells say T12V3. */
#include "driver/layout/layout_view.h"

#include <inttypes.h>
#include <string.h>

static bool sides(Ctx *c, const Layout *l, int64_t *rows, int64_t *cols, const char **why)
{
	int64_t size;
	*cols = 1;
	*why = "tables are of layouts with at most 65536 places, all extents known";
	if (layout_rank(l) == 0 || !ix_is_const(layout_size(c, l), &size) || size < 1 ||
	    size > CELLS_MAX)
		return false;
	if (layout_rank(l) == 1) {
		*rows = 1;
		*cols = size;
		return true;
	}
	*rows = layout_size_int(layout_mode(c, l, 0));
	*cols = size / *rows;
	return true;
}

static View *view_new(Ctx *c, const char *title, int64_t rows, int64_t cols)
{
	View *v = NEW(ctx_arena(c), View);
	*v = (View){title, "row", "column", rows, cols, NULL};
	v->at = NEWN(ctx_arena(c), Cell, rows * cols);
	for (int64_t i = 0; i < rows * cols; i++)
		v->at[i] = (Cell){"", -1, ""};
	return v;
}

static Cell cell_at(Ctx *c, const Layout *l, int64_t i)
{
	int64_t at;
	const Tup *to = layout_eval(c, l, tup_int(c, i));
	Cell cell = {"?", -1, ""};
	if (!to)
		return cell;
	cell.text = tup_text(c, to);
	if (tup_is_leaf(to) && ix_is_const(to->leaf, &at))
		cell.color = at;
	return cell;
}

const View *view_offsets(Ctx *c, const Layout *l, const char **why)
{
	int64_t rows, cols;
	if (!sides(c, l, &rows, &cols, why))
		return NULL;
	View *v = view_new(c, layout_str(c, l), rows, cols);
	for (int64_t r = 0; r < rows; r++)
		for (int64_t k = 0; k < cols; k++) {
			Cell *cell = &v->at[r * cols + k];
			*cell = cell_at(c, l, r + k * rows);
			cell->hint =
				ctx_strf(c, "(%" PRId64 ",%" PRId64 ") -> %s", r, k, cell->text);
		}
	return v;
}

/* ------------------------------------------------------------------ threads and values */
static void put(Ctx *c, View *v, int64_t at, int64_t thread, int64_t value)
{
	Cell *cell = &v->at[at % v->rows * v->cols + at / v->rows];
	const char *also = cell->color < 0 ? "" : ctx_strf(c, "%s, ", cell->hint);
	const char *where = ctx_strf(c, "thread %" PRId64 ", value %" PRId64, thread, value);
	cell->hint = ctx_strf(c, "%s%s", also, where);
	if (cell->color >= 0)
		return;
	cell->text = ctx_strf(c, "T%" PRId64 "V%" PRId64, thread, value);
	cell->color = thread;
}

static const View *view_places(Ctx *c, const Layout *tv, int64_t threads, int64_t values)
{
	View *v = view_new(c, layout_str(c, tv), threads, values);
	v->row_name = "thread";
	v->col_name = "value";
	for (int64_t i = 0; i < threads * values; i++) {
		Cell *cell = &v->at[i % threads * values + i / threads];
		*cell = cell_at(c, tv, i);
		cell->hint = ctx_strf(c, "thread %" PRId64 ", value %" PRId64 " -> %s", i % threads,
				      i / threads, cell->text);
	}
	return v;
}

const View *view_tv(Ctx *c, const Layout *tv, int64_t rows, int64_t cols, const char **why)
{
	int64_t threads, values;
	if (!sides(c, tv, &threads, &values, why))
		return NULL;
	*why = "a thread-value layout has two modes, threads and values, and maps to numbers";
	if (layout_rank(tv) != 2 || !layout_is_static(tv))
		return NULL;
	if (!rows)
		return view_places(c, tv, threads, values);
	*why = "the layout reaches beyond its tile";
	if (rows * cols > CELLS_MAX)
		return NULL;
	View *v = view_new(c, layout_str(c, tv), rows, cols);
	for (int64_t i = 0; i < threads * values; i++) {
		int64_t at = layout_at_int(tv, i);
		if (at < 0 || at >= rows * cols)
			return NULL;
		put(c, v, at, i % threads, i / threads);
	}
	return v;
}

/* ------------------------------------------------------------------ text */
static int digits(int64_t n)
{
	int d = 1;
	for (; n >= 10; n /= 10)
		d++;
	return d;
}

void view_table(const View *v, Buf *out)
{
	int side = digits(v->rows - 1), width = digits(v->cols - 1);
	for (int64_t i = 0; i < v->rows * v->cols; i++) {
		int n = (int)strlen(v->at[i].text);
		width = n > width ? n : width;
	}
	buf_printf(out, "%*s |", side, "");
	for (int64_t k = 0; k < v->cols; k++)
		buf_printf(out, " %*" PRId64, width, k);
	buf_printf(out, "\n");
	for (int64_t k = 0; k < side + 2 + v->cols * (width + 1); k++)
		buf_add(out, k == side + 1 ? "+" : "-", 1);
	buf_printf(out, "\n");
	for (int64_t r = 0; r < v->rows; r++) {
		buf_printf(out, "%*" PRId64 " |", side, r);
		for (int64_t k = 0; k < v->cols; k++)
			buf_printf(out, " %*s", width, v->at[r * v->cols + k].text);
		buf_printf(out, "\n");
	}
}
