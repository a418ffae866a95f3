/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* operand_layout.c - layouts of shared memory as the hardware sees them.
 *     (128,64), rows of 64 along the second mode  ->  K-major, SBO 1024: rows in eights
 *     (128,64), rows of 64 along the first mode   ->  MN-major, LBO 8192: the next 64; SBO 1024
 * Nothing here is a formula for an address: offsets are read off the layout, a form is the guess
 * that explains the first ones, and it holds where it explains every one. */
#include "passes/smem/operand_layout.h"

enum {
	EIGHT = 8,       /* rows after which a swizzle repeats */
	UNIT = 16,       /* bytes that a swizzle moves together */
	IGNORED_LBO = 16 /* of a K-major operand after a swizzle */
};

static const char no_swizzle[] = "it has no swizzle of 32, 64 or 128 bytes";
static const char rows_cross[] = "an instruction's rows are not a multiple of its swizzle's width";

static int extent(Ctx *c, const Layout *l, int mode)
{
	int64_t n;
	if (!ix_is_const(tup_product(c, tup_get(l->shape, mode)), &n))
		panic("a slot has constant extents");
	return (int)n;
}

int log2_of(int64_t x)
{
	return 63 - __builtin_clzll((unsigned long long)x);
}

/* ------------------------------------------------------------------ rows after a swizzle */
int slot_swizzle(int row_bytes)
{
	for (int w = SWIZZLE_WIDEST; w >= SWIZZLE_LEAST; w /= 2)
		if (row_bytes % w == 0)
			return w;
	return 0;
}

SlotForm slot_rows(int fast, int rows, int cols, int bytes)
{
	int swizzle = slot_swizzle(cols * bytes);
	return (SlotForm){fast, rows, cols, swizzle ? swizzle / bytes : cols, swizzle};
}

/* One after the other, as they are. */
static const Layout *plain_rows(Ctx *c, SlotForm f)
{
	int apart = f.rows == 1 ? 0 : f.cols;
	return f.fast == 1 ? layout_2d(c, f.rows, f.cols, apart, 1)
			   : layout_2d(c, f.cols, f.rows, 1, apart);
}

/* Of eight rows; then all rows before the next span. */
const Layout *slot_layout(Ctx *c, SlotForm f, Elem e)
{
	const char *why = NULL;
	int64_t rows_at = f.span, span_at = 1;
	if (!f.swizzle)
		return plain_rows(c, f);
	Swizzle sw = {log2_of(f.swizzle / UNIT), log2_of((int)elem_count(e, UNIT)), 3};
	const Layout *rows = f.fast == 1 ? layout_2d(c, EIGHT, f.span, rows_at, span_at)
					 : layout_2d(c, f.span, EIGHT, span_at, rows_at);
	const Tup *shape[2], *order[2] = {tup_int(c, f.fast == 0), tup_int(c, f.fast == 1)};
	shape[f.fast] = tup_int(c, f.cols);
	shape[1 - f.fast] = tup_int(c, f.rows);
	const Layout *l = layout_tile_to_shape(c, layout_swizzled(c, sw, ix_const(c, 0), rows),
					       tup_new(c, shape, 2), tup_new(c, order, 2), &why);
	if (!l)
		panic("%s", why);
	return l;
}

static bool same_places(const Layout *a, const Layout *b)
{
	int64_t n = layout_size_int(a);
	if (a == b)
		return true;
	if (n != layout_size_int(b))
		return false;
	for (int64_t i = 0; i < n; i++)
		if (layout_at_int(a, i) != layout_at_int(b, i))
			return false;
	return true;
}

/* Whether that is so by the modes: slot_layout's places, each mode's alone, after its swizzle. */
static bool is_plainly(const Type *t, SlotForm f)
{
	const Layout *l = t->layout;
	int64_t at[2] = {0}, of_row = f.span, of_span = (int64_t)f.rows * f.span;
	bool same = !l->inner && ix_is(l->offset, 0) && l->swizzle.s == 3 &&
		    l->swizzle.m == log2_of((int)elem_count(t->elem, UNIT));
	for (int i = 0; i < f.rows && same; i++) {
		at[1 - f.fast] = i;
		same = layout_plain_at(l, at) == i * of_row;
	}
	at[1 - f.fast] = 0;
	for (int i = 0; i < f.cols && same; i++) {
		at[f.fast] = i;
		same = layout_plain_at(l, at) == i % f.span + i / f.span * of_span;
	}
	return same;
}

/* One row, or rows of whole units, which TMA takes without a swizzle. */
static bool is_plain_rows(Ctx *c, const Type *t, SlotForm *out)
{
	for (int fast = 1; fast >= 0; fast--) {
		int n = extent(c, t->layout, fast), rows = extent(c, t->layout, 1 - fast);
		*out = (SlotForm){fast, rows, n, n, 0};
		if ((rows == 1 || elem_span(t->elem, n) % UNIT == 0) &&
		    t->layout == slot_layout(c, *out, t->elem))
			return true;
	}
	return false;
}

const char *slot_form(Ctx *c, const Type *t, SlotForm *out)
{
	const Layout *l = t->layout;
	if (!layout_is_static(l) || layout_rank(l) != 2)
		return "it is not a matrix of known extents";
	if (is_plain_rows(c, t, out))
		return NULL;
	if (l->swizzle.b < 1 || l->swizzle.b > 3)
		return no_swizzle;
	int n[2] = {extent(c, l, 0), extent(c, l, 1)}, swizzle = UNIT << l->swizzle.b;
	for (int fast = 1; fast >= 0; fast--) {
		*out = (SlotForm){.fast = fast,
				  .rows = n[1 - fast],
				  .cols = n[fast],
				  .span = (int)elem_count(t->elem, swizzle),
				  .swizzle = swizzle};
		if (out->rows % EIGHT == 0 && out->cols % out->span == 0 &&
		    (is_plainly(t, *out) || same_places(l, slot_layout(c, *out, t->elem))))
			return NULL;
	}
	*out = (SlotForm){0};
	return "it is not rows of the swizzle's width, one after the other";
}

int64_t slot_byte(const Type *t, int64_t i, int64_t j)
{
	return elem_span(t->elem, layout_plain_at(t->layout, (const int64_t[]){i, j}));
}

/* ------------------------------------------------------------------ views */
int64_t window_byte(const Type *t, Window w, int64_t i, int64_t j)
{
	int64_t at[2];
	window_place(w, (const int64_t[]){i, j}, at);
	return slot_byte(t, at[0], at[1]);
}

int window_step(SlotForm f, Window w, int mode, int k)
{
	bool whole = (f.fast == 0) != w.turned || !k || (w.begin && w.moves == mode);
	return mode != f.fast ? EIGHT : whole ? f.span : k;
}

/* By whole steps, each of as many bytes as the first. A CTA beyond the grid's last tile computes
 * one, too, and stores nothing of it. */
const Ix *window_moved(Ctx *c, const Type *t, Window w)
{
	SlotForm f;
	if (!w.begin)
		return ix_const(c, 0);
	const char *why = slot_form(c, t, &f);
	if (why)
		panic("%s", why);
	int64_t step = window_step(f, w, w.moves, 1), at[2] = {0, 0};
	const Ix *steps = ix_div(c, w.begin, ix_const(c, step));
	steps = ix_new(c, IX_MIN, steps, ix_const(c, window_room(c, t, w) / step));
	at[w.moves] = step;
	return ix_mul(c, ix_new(c, IX_MAX, steps, ix_const(c, 0)),
		      ix_const(c, slot_byte(t, at[0], at[1])));
}

/* The elements of mode i from the view's first on, as those from 0 on. */
static const Layout *window_mode(Ctx *c, const Type *t, Window w, int i)
{
	const char *why = NULL;
	const Layout *plain = layout_new(c, t->layout->shape, t->layout->stride);
	const Layout *run = layout_new(c, tup_int(c, w.n[i]), tup_int(c, 1));
	const Layout *mode = layout_composition(c, layout_mode(c, plain, i), run, &why);
	int64_t at[2] = {w.at[0], w.at[1]}, first = layout_plain_at(t->layout, at);
	for (int64_t x = 0; mode && x < w.n[i]; x++) {
		at[i] = w.at[i] + x;
		if (layout_plain_at(t->layout, at) - first != layout_at_int(mode, x))
			return NULL;
	}
	return mode;
}

const Type *window_slot(Ctx *c, const Type *t, Window w, int64_t *skip)
{
	const Layout *modes[2] = {window_mode(c, t, w, w.turned), window_mode(c, t, w, !w.turned)};
	*skip = layout_plain_at(t->layout, w.at);
	if (!modes[0] || !modes[1])
		return NULL;
	return type_tile(c, SP_SHARED, t->elem,
			 layout_swizzled(c, t->layout->swizzle, ix_const(c, 0),
					 layout_cat(c, modes, 2)));
}

/* ------------------------------------------------------------------ matrix descriptors */
/* What the canonical layout says of (mn, k), before the swizzle: atoms of 8 rows of the swizzle's
 * width, the next along each mode at LBO or SBO. */
static int64_t desc_byte(const SlotDesc *d, int size, int mn, int k)
{
	int span = d->swizzle / size;
	if (d->mn_major)
		return mn / span * d->lbo + mn % span * size + k / EIGHT * d->sbo +
		       k % EIGHT * (int64_t)d->swizzle;
	return mn / EIGHT * d->sbo + mn % EIGHT * (int64_t)d->swizzle + (int64_t)k * size;
}

/* Both are sums of what each mode says, so that each mode is asked alone. */
static bool desc_holds(const Type *t, Window w, const SlotDesc *d, int mn, int k)
{
	int size = (int)elem_span(t->elem, 1);
	int64_t first = window_byte(t, w, 0, 0);
	for (int i = 0; i < mn; i++)
		if (window_byte(t, w, i, 0) - first != desc_byte(d, size, i, 0))
			return false;
	for (int j = 0; j < k; j++)
		if (window_byte(t, w, 0, j) - first != desc_byte(d, size, 0, j))
			return false;
	return true;
}

/* Instructions begin where the swizzle does, or k elements into a row of it. */
static const char *starts(SlotForm f, Window w, int mn, int k)
{
	bool mn_major = (f.fast == 0) != w.turned;
	for (int i = 0; i < 2; i++)
		if (w.at[i] % window_step(f, w, i, k))
			return "it begins within a swizzle";
	if (mn_major && window_extent(w, 0) > mn && mn % f.span)
		return rows_cross;
	return NULL;
}

static void strides(const Type *t, Window w, SlotForm f, int mn, SlotDesc *d)
{
	int64_t first = window_byte(t, w, 0, 0);
	if (d->mn_major)
		d->sbo = window_byte(t, w, 0, EIGHT) - first;
	else if (mn > EIGHT)
		d->sbo = window_byte(t, w, EIGHT, 0) - first;
	if (d->mn_major && mn > f.span)
		d->lbo = window_byte(t, w, f.span, 0) - first;
}

const char *slot_desc(Ctx *c, const Type *t, Window w, int mn, int k, SlotDesc *out)
{
	SlotForm f;
	const char *why = slot_form(c, t, &f);
	if (!why && !f.swizzle)
		why = no_swizzle;
	if (why)
		return why;
	*out = (SlotDesc){.mn_major = (f.fast == 0) != w.turned,
			  .swizzle = f.swizzle,
			  .lbo = IGNORED_LBO,
			  .sbo = EIGHT * (int64_t)f.swizzle};
	if (out->mn_major && elem_rows[t->elem].bits != 16)
		return "wgmma takes only elements of 16 bits with neighbours along m or n";
	if ((why = starts(f, w, mn, k)))
		return why;
	strides(t, w, f, mn, out);
	return desc_holds(t, w, out, mn, k) ? NULL : rows_cross;
}

const char *slot_desc_once(Ctx *c, SlotsAsked *asked, const Type *t, Window w, int mn, int k,
			   SlotDesc *out)
{
	SlotAsked now = {.type = t, .window = w, .mn = mn, .k = k};
	EACH(const SlotAsked, a, *asked)
		if (a->type == t && window_same(a->window, w) && a->mn == mn && a->k == k) {
			*out = a->desc;
			return a->why;
		}
	now.why = slot_desc(c, t, w, mn, k, &now.desc);
	vec_push(ctx_arena(c), asked, now);
	*out = now.desc;
	return now.why;
}
