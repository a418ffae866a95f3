/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* svg.c - two pictures a kernel, in one file without script or font of its own: the
 * pipeline in its steady state (roles are rows, slots are colours, one period is framed), and
 * shared memory to scale with a table below it.
 *     consumer | k | k+1 | k+2 | k+3 |      each in the colour of its slot */
#include "driver/explain/explain.h"
#include "driver/layout/layout_view.h"

#include <inttypes.h>
#include <string.h>

enum { WIDTH = 1120, ROW = 26, GAP = 10, LANE = 12, COLORS = 8 };
static const double LEFT = 190, RIGHT = 1080, GLYPH = 7;

typedef struct {
	Buf *out;
	const Facts *f;
	double unit; /* pixels of one iteration */
	int y;
	int slots, inflight, steps; /* of one period */
} Draw;

/* ------------------------------------------------------------------ shapes */
static void words(const Draw *d, double x, double y, const char *class, const char *text)
{
	buf_printf(d->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
	svg_escaped(text, d->out);
	buf_printf(d->out, "</text>\n");
}

/* A box with its text inside where it fits, and in full when pointed at. */
static void box(const Draw *d, double x, double y, double w, double h, const char *class,
		const char *text, const char *hint)
{
	buf_printf(d->out, "<g><title>");
	svg_escaped(hint, d->out);
	buf_printf(d->out,
		   "</title><rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		   "height=\"%.1f\"/>",
		   class, x, y, w, h);
	if ((double)strlen(text) * GLYPH + 4 <= w && h > LANE - 1)
		words(d, x + w / 2, y + h / 2 + 4, "m", text);
	buf_printf(d->out, "</g>\n");
}

static const char *color(const Draw *d, int position)
{
	int slot = ((position % d->slots) + d->slots) % d->slots;
	return ctx_strf(d->f->k->ctx, "c%d", slot % COLORS);
}

static double at(const Draw *d, double time)
{
	return LEFT + (time + 1) * d->unit;
}

static const char *step(const Draw *d, int position)
{
	Ctx *c = d->f->k->ctx;
	return position == 0  ? "k"
	       : position > 0 ? ctx_strf(c, "k+%d", position)
			      : ctx_strf(c, "k-%d", -position);
}

static void row_name(const Draw *d, int height, const char *name, const char *more)
{
	words(d, 8, d->y + height / 2.0 + (more ? -2 : 4), "n", name);
	if (more)
		words(d, 8, d->y + height / 2.0 + 11, "s", more);
}

/* ------------------------------------------------------------------ rows of a timeline */
/* One box an iteration: what happens in [time, time + 1) is position time + shift. */
static void row_steps(const Draw *d, double from, double to, int shift, const char *verb)
{
	for (int t = -1; t <= d->steps; t++)
		box(d, at(d, t + from), d->y, d->unit * (to - from) - 1, ROW, color(d, t + shift),
		    step(d, t + shift),
		    ctx_strf(d->f->k->ctx, "%s %s, slot of its colour", verb, step(d, t + shift)));
}

/* Copies in flight: each has from its issue until the wgmma that needs it; those that overlap lie
 * in lanes. */
static int row_flight(const Draw *d, double issue, int need)
{
	int lanes = need > 1 ? need : 1;
	row_name(d, lanes * LANE, "TMA", "time to land");
	for (int t = -need; t <= d->steps; t++) {
		double from = t + issue < -1 ? -1 : t + issue;
		double to = t + need > d->steps + 1 ? d->steps + 1 : t + need;
		int lane = ((t % lanes) + lanes) % lanes;
		if (to > from)
			box(d, at(d, from), d->y + lane * LANE, d->unit * (to - from) - 1, LANE - 2,
			    color(d, t + need), "",
			    ctx_strf(d->f->k->ctx, "load of %s, issued at %s", step(d, t + need),
				     step(d, t)));
	}
	return lanes * LANE;
}

static const FactRole *role_named(const Facts *f, const char *name)
{
	for (int i = 0; i < f->role.n; i++)
		if (!strcmp(f->role.at[i].name, name))
			return &f->role.at[i];
	return NULL;
}

static const char *warps_text(const Draw *d, const char *role)
{
	const FactRole *r = role_named(d->f, role);
	if (!r)
		return "";
	if (r->active == 1)
		return ctx_strf(d->f->k->ctx, "warp %" PRId64 ", 1 thread", r->first);
	return ctx_strf(d->f->k->ctx, "warps %" PRId64 "..%" PRId64, r->first,
			r->first + r->active - 1);
}

static void next_row(Draw *d, int height)
{
	d->y += height + GAP;
}

static void rows_producer(Draw *d)
{
	row_name(d, ROW, "producer: loads", warps_text(d, "producer"));
	row_steps(d, 0, 1, d->slots - 1, "load");
	next_row(d, ROW);
	next_row(d, row_flight(d, 0, d->slots - 1));
}

static void rows_cooperative(Draw *d)
{
	rows_producer(d);
	row_name(d, ROW, "consumer: wgmma", warps_text(d, "consumer"));
	row_steps(d, 0, 1, 0, "wgmma");
	next_row(d, ROW);
}

static void rows_none(Draw *d)
{
	int ahead = d->slots - d->inflight;
	row_name(d, ROW, "wgmma", warps_text(d, "main"));
	row_steps(d, 0, 0.62, 0, "wgmma");
	next_row(d, ROW);
	row_name(d, ROW, "then a load", "one thread of it");
	row_steps(d, 0.62, 1, ahead, "load");
	next_row(d, ROW);
	next_row(d, row_flight(d, 0.62, ahead));
}

/* ------------------------------------------------------------------ pingpong */
static void ping_main(const Draw *d, int from, int n)
{
	for (int i = from; i < from + n; i++)
		box(d, at(d, i), d->y, d->unit - 1, ROW, color(d, i), step(d, i),
		    "main loop: wgmma in the turn of this warpgroup");
}

static void ping_store(const Draw *d, double from, double to, const char *text)
{
	box(d, at(d, from), d->y, d->unit * (to - from) - 1, ROW, "e", text,
	    "epilogue, while the other warpgroup multiplies");
}

static void rows_pingpong(Draw *d)
{
	int n = d->slots;
	rows_producer(d);
	row_name(d, ROW, "consumer 0: tile t", "warps 0..3");
	ping_store(d, -1, 0, "");
	ping_main(d, 0, n);
	ping_store(d, n, 2 * n, "epilogue of tile t");
	ping_main(d, 2 * n, 1);
	next_row(d, ROW);
	row_name(d, ROW, "consumer 1: t + 1", "warps 4..7");
	box(d, at(d, -1), d->y, d->unit - 1, ROW, color(d, -1), "", "the last of tile t - 1");
	ping_store(d, 0, n, "epilogue of tile t - 1");
	ping_main(d, n, n);
	ping_store(d, 2 * n, 2 * n + 1, "");
	next_row(d, ROW);
	words(d, at(d, 0) + 4, d->y + 4, "s", "turn of consumer 0");
	words(d, at(d, n) + 4, d->y + 4, "s", "turn of consumer 1, by a named barrier");
	next_row(d, 4);
}

/* ------------------------------------------------------------------ a timeline */
/* What lies outside the period is pale; it goes on in the same way. */
static void frame(const Draw *d, int top, int bottom)
{
	double a = at(d, 0), b = at(d, d->steps), end = at(d, d->steps + 1);
	buf_printf(d->out,
		   "<rect class=\"w\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>"
		   "<rect class=\"w\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n"
		   "<rect class=\"f\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
		   LEFT, top, a - LEFT, bottom - top, b, top, end - b + 1, bottom - top, a, top,
		   b - a, bottom - top);
}

static void legend(Draw *d)
{
	double x = LEFT;
	for (int i = 0; i < d->slots; i++, x += 78) {
		box(d, x, d->y, 14, 14, color(d, i), "", "");
		words(d, x + 19, d->y + 11, "n", ctx_strf(d->f->k->ctx, "slot %d", i));
	}
	if (!strcmp(d->f->clause[CLAUSE_ROLES].word, "pingpong")) {
		box(d, x, d->y, 14, 14, "e", "", "");
		words(d, x + 19, d->y + 11, "n", "epilogue");
	}
	next_row(d, 14);
	words(d, LEFT, d->y + 8, "s",
	      !strcmp(d->f->clause[CLAUSE_ROLES].word, "pingpong")
		      ? "framed: one period, two tiles, each drawn with one lap of the ring"
		      : "framed: one period, a lap of the ring");
	next_row(d, 4);
	words(d, LEFT, d->y + 8, "s",
	      ctx_strf(d->f->k->ctx,
		       "time runs to the right, schematic; a box is an iteration of the main loop, "
		       "in the colour of its slot%s",
		       d->f->clause[CLAUSE_INFLIGHT].there
			       ? ctx_strf(d->f->k->ctx, "; inflight %d", d->inflight)
			       : ""));
	next_row(d, 12);
}

static void timeline(Draw *d)
{
	bool ping = !strcmp(d->f->clause[CLAUSE_ROLES].word, "pingpong");
	const FactRing *r = facts_main_ring(d->f);
	if (!r)
		return;
	d->slots = (int)r->slots;
	d->inflight = (int)d->f->clause[CLAUSE_INFLIGHT].v[0];
	d->steps = ping ? 2 * d->slots : d->slots;
	d->unit = (double)(RIGHT - LEFT) / (d->steps + 2);
	int top = d->y - 5;
	if (ping)
		rows_pingpong(d);
	else if (!strcmp(d->f->clause[CLAUSE_ROLES].word, "none"))
		rows_none(d);
	else
		rows_cooperative(d);
	frame(d, top, d->y - 4);
	d->y += 6;
	legend(d);
}

/* ------------------------------------------------------------------ shared memory */
static double byte_at(const Draw *d, int64_t offset)
{
	return LEFT + (double)offset / (double)d->f->smem_limit * (RIGHT - LEFT);
}

/* Above each buffer a line and, where it fits, its name. */
static void memory_names(Draw *d, bool over)
{
	EACH(const FactBuffer, b, d->f->buffers) {
		if (!b->over == over)
			continue;
		double from = byte_at(d, b->offset);
		double to = byte_at(d, b->offset + b->slots * b->groups * b->bytes);
		buf_printf(d->out, "<path class=\"b\" d=\"M%.1f %d v-4 H%.1f v4\"/>\n", from + 1,
			   d->y + 12, to - 1);
		if ((double)strlen(b->name) * GLYPH < to - from)
			words(d, (from + to) / 2, d->y + 4, "m", b->name);
	}
	d->y += 14;
}

/* What lies over the memory of others has a bar of its own. */
static void memory_bar(Draw *d, bool over)
{
	const Facts *f = d->f;
	Ctx *c = f->k->ctx;
	memory_names(d, over);
	row_name(d, ROW, over ? "then" : "shared memory", over ? "over the stages" : "to scale");
	EACH(const FactBuffer, b, f->buffers) {
		if (!b->over == over)
			continue;
		d->slots = (int)b->slots;
		for (int64_t s = 0; s < b->slots * b->groups; s++) {
			int64_t from = b->offset + s * b->bytes;
			box(d, byte_at(d, from), d->y,
			    byte_at(d, from + b->bytes) - byte_at(d, from), ROW,
			    color(d, (int)(s % b->slots)), ctx_strf(c, "%" PRId64, s % b->slots),
			    ctx_strf(c,
				     "%s, slot %" PRId64 " of group %" PRId64 ": %" PRId64
				     "..%" PRId64,
				     b->name, s % b->slots, s / b->slots, from,
				     from + b->bytes - 1));
		}
	}
	double used = byte_at(d, f->smem);
	if (!over)
		box(d, used, d->y, RIGHT - used > 1 ? RIGHT - used : 1, ROW, "w",
		    ctx_strf(c, "free %" PRId64, f->smem_limit - f->smem), "free");
	next_row(d, ROW);
}

static void memory_row(Draw *d, int64_t offset, const char *name, const char *what)
{
	words(d, LEFT + 52, d->y + 8, "r", ctx_strf(d->f->k->ctx, "%" PRId64, offset));
	words(d, LEFT + 70, d->y + 8, "n", name);
	words(d, LEFT + 190, d->y + 8, "n", what);
	d->y += 16;
}

static void memory_table(Draw *d)
{
	const Facts *f = d->f;
	Ctx *c = f->k->ctx;
	words(d, 8, d->y + 8, "s", "offset, name, slots");
	EACH(const FactBuffer, b, f->buffers) {
		const char *groups =
			b->groups > 1 ? ctx_strf(c, "%" PRId64 " warpgroups x ", b->groups) : "";
		memory_row(d, b->offset, b->name,
			   ctx_strf(c, "%s%" PRId64 " x %" PRId64 " bytes, %s, pipeline %s", groups,
				    b->slots, b->bytes, layout_str(c, b->type->layout), b->ring));
	}
	EACH(const FactBarrier, b, f->barriers)
		memory_row(d, b->offset, b->name,
			   ctx_strf(c,
				    "%" PRId64 " x 8 bytes; a phase: %" PRId64 " arrivals, %" PRId64
				    " bytes",
				    b->slots, b->count, b->bytes));
	memory_row(d, f->smem, "end", ctx_strf(c, "of %" PRId64 " bytes", f->smem_limit));
}

/* ------------------------------------------------------------------ all kernels */
static bool lies_over(const Facts *f)
{
	for (int i = 0; i < f->buffers.n; i++)
		if (f->buffers.at[i].over)
			return true;
	return false;
}

static void kernel(Draw *d)
{
	const Facts *f = d->f;
	words(d, 8, d->y + 14, "h",
	      ctx_strf(f->k->ctx, "%s: roles %s%s, %" PRId64 " threads", f->k->name,
		       f->clause[CLAUSE_ROLES].word,
		       f->clause[CLAUSE_PERSISTENT].v[0] ? ", persistent" : "", f->threads));
	d->y += 34;
	timeline(d);
	d->y += 14;
	memory_bar(d, false);
	if (lies_over(f))
		memory_bar(d, true);
	memory_table(d);
	d->y += 24;
}

void explain_svg(const FactsVec *all, Buf *out)
{
	static const char *const fills[COLORS] = {"#a6cee3", "#b2df8a", "#fb9a99", "#fdbf6f",
						  "#cab2d6", "#ffff99", "#80cdc1", "#d9b48f"};
	Buf body = {0};
	Draw d = {.out = &body, .y = 8};
	for (int i = 0; i < all->n; i++) {
		d.f = &all->at[i];
		kernel(&d);
	}
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		   "viewBox=\"0 0 %d %d\">\n<style>\n"
		   "text{font:11px monospace;fill:#000}.m{text-anchor:middle}.r{text-anchor:end}"
		   ".h{font-size:14px;font-weight:bold}.s{fill:#555;font-size:10px}"
		   ".b{fill:none;stroke:#000}\n"
		   "rect{stroke:#666;stroke-width:.5}.e{fill:#d9d9d9}"
		   ".w{fill:#fff;fill-opacity:.6;stroke:none}"
		   ".f{fill:none;stroke:#000;stroke-dasharray:4 3;stroke-width:1}\n",
		   WIDTH, d.y, WIDTH, d.y);
	for (int i = 0; i < COLORS; i++)
		buf_printf(out, ".c%d{fill:%s}", i, fills[i]);
	buf_printf(out, "\n</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
	buf_add(out, body.s ? body.s : "", body.n);
	buf_printf(out, "</svg>\n");
	buf_free(&body);
}
