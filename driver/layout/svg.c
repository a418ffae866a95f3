/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* svg.c - a grid of cells as a picture: one file, no script, no font of its own. Each cell
 * says more when pointed at (its <title>). Colours repeat every 8. */
#include "driver/layout/layout_view.h"

#include <inttypes.h>
#include <string.h>

enum { HEIGHT = 18, MARGIN = 34, GLYPH = 6 };

void svg_escaped(const char *s, Buf *out)
{
	for (; *s; s++) {
		if (*s == '&')
			buf_printf(out, "&amp;");
		else if (*s == '<')
			buf_printf(out, "&lt;");
		else if (*s == '>')
			buf_printf(out, "&gt;");
		else
			buf_add(out, s, 1);
	}
}

static int width_of(const View *v)
{
	size_t most = 2;
	for (int64_t i = 0; i < v->rows * v->cols; i++) {
		size_t n = strlen(v->at[i].text);
		most = n > most ? n : most;
	}
	return (int)most * GLYPH + 8;
}

static void label(int64_t x, int64_t y, const char *anchor, int64_t n, Buf *out)
{
	buf_printf(out,
		   "<text class=\"l\" x=\"%" PRId64 "\" y=\"%" PRId64
		   "\" style=\"text-anchor:%s\">%" PRId64 "</text>\n",
		   x, y, anchor, n);
}

static void draw_cell(const Cell *cell, int64_t x, int64_t y, int width, Buf *out)
{
	buf_printf(out, "<g><title>");
	svg_escaped(cell->hint, out);
	buf_printf(out,
		   "</title><rect class=\"c%d\" x=\"%" PRId64 "\" y=\"%" PRId64
		   "\" width=\"%d\" height=\"%d\"/>",
		   cell->color < 0 ? 8 : (int)(cell->color % 8), x, y, width, HEIGHT);
	buf_printf(out, "<text x=\"%" PRId64 "\" y=\"%" PRId64 "\">", x + width / 2, y + 13);
	svg_escaped(cell->text, out);
	buf_printf(out, "</text></g>\n");
}

static void head(const View *v, int64_t width, int64_t height, Buf *out)
{
	static const char *const fills[] = {"#a6cee3", "#b2df8a", "#fb9a99", "#fdbf6f", "#cab2d6",
					    "#ffff99", "#d9d9d9", "#ccebc5", "#ffffff"};
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRId64
		   "\" height=\"%" PRId64 "\" viewBox=\"0 0 %" PRId64 " %" PRId64 "\">\n<style>\n",
		   width, height, width, height);
	buf_printf(out,
		   "text{font:10px monospace;text-anchor:middle;fill:#000}\n"
		   ".l{fill:#555}.t{font-size:12px;text-anchor:start}\n"
		   "rect{stroke:#666;stroke-width:.5}g:hover rect{stroke:#000;stroke-width:2}\n");
	for (size_t i = 0; i < COUNTOF(fills); i++)
		buf_printf(out, ".c%zu{fill:%s}", i, fills[i]);
	buf_printf(out, "\n</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
			"<text class=\"t\" x=\"6\" y=\"14\">");
	svg_escaped(v->title, out);
	buf_printf(out, "</text>\n");
}

void view_svg(const View *v, Buf *out)
{
	int cell = width_of(v);
	int64_t width = MARGIN + v->cols * cell + 8, height = MARGIN + v->rows * HEIGHT + 8;
	int64_t title = (int64_t)strlen(v->title) * 8 + 12;
	head(v, width > title ? width : title, height, out);
	for (int64_t k = 0; k < v->cols; k++)
		label(MARGIN + k * cell + cell / 2, MARGIN - 5, "middle", k, out);
	for (int64_t r = 0; r < v->rows; r++) {
		label(MARGIN - 4, MARGIN + r * HEIGHT + 13, "end", r, out);
		for (int64_t k = 0; k < v->cols; k++)
			draw_cell(&v->at[r * v->cols + k], MARGIN + k * cell, MARGIN + r * HEIGHT,
				  cell, out);
	}
	buf_printf(out, "</svg>\n");
}
