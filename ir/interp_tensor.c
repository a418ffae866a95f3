/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* interp_tensor.c - tiles of the caller's tensors: 64-bit offsets, bounds, element formats. */
#include "ir/interp.h"

/* Offset of a coordinate of one mode; -1 out of range (strides are not negative). */
static int64_t mode_offset(const Mode *m, int64_t x)
{
	int64_t offset = 0;
	if (x < 0 || x >= m->size)
		return -1;
	for (int i = 0; i < m->n; i++) {
		offset += (i + 1 < m->n ? x % m->extent[i] : x) * m->stride[i];
		x /= m->extent[i];
	}
	return offset;
}

/* Coordinate x of the tile along mode i, as the tensor counts it. */
static int64_t coordinate(const Slot *t, int i, int64_t x)
{
	return t->named && t->gather == i ? (int64_t)t->named[x] : t->origin[i] + x;
}

/* The rows of the tile's matrix: of its modes of more than one element the first, or the last but
 * one. */
int interp_rows_of(const Slot *t)
{
	int row = 0;
	while (row < t->rank - 2 && t->dim[row] == 1)
		row++;
	return row;
}

/* Whether the tile ends before coordinate x along mode i. */
static bool is_behind(const Slot *t, int i, int64_t x)
{
	return i == t->ends - 1 && coordinate(t, i, x) >= t->end;
}

/* For every mode of the tile, the offset of each of its coordinates. */
static void tile_offsets(const Slot *t, int64_t *at[MAX_RANK], Arena *scratch)
{
	for (int i = 0; i < t->rank; i++) {
		at[i] = NEWN(scratch, int64_t, t->dim[i]);
		for (int64_t x = 0; x < t->dim[i]; x++)
			at[i][x] = is_behind(t, i, x)
					   ? -1
					   : mode_offset(&t->tensor->mode[i], coordinate(t, i, x));
	}
}

/* Calls row(offsets of the last mode, base) for each row of the tile; base < 0: out of range. */
typedef struct {
	const Slot *t;
	int64_t *at[MAX_RANK];
	int64_t x[MAX_RANK];
} Rows;

static int64_t rows_base(const Rows *r)
{
	int64_t base = r->t->tensor->offset;
	for (int i = 0; i + 1 < r->t->rank; i++) {
		int64_t o = r->at[i][r->x[i]];
		if (o < 0)
			return -1;
		base += o;
	}
	return base;
}

static bool rows_next(Rows *r)
{
	for (int i = r->t->rank - 2; i >= 0; i--) {
		if (++r->x[i] < r->t->dim[i])
			return true;
		r->x[i] = 0;
	}
	return false;
}

void tensor_load(const Slot *t, double *out, Arena *scratch)
{
	Rows r = {.t = t};
	int64_t width = t->dim[t->rank - 1];
	tile_offsets(t, r.at, scratch);
	const int64_t *last = r.at[t->rank - 1];
	do {
		int64_t base = rows_base(&r);
		for (int64_t i = 0; i < width; i++, out++)
			*out = base < 0 || last[i] < 0
				       ? 0.0
				       : elem_get(t->tensor->elem, t->tensor->data, base + last[i]);
	} while (rows_next(&r));
	arena_reset(scratch);
}

/* Where the tensor of indices ends, nothing is named. */
void tensor_names(const Slot *t, double *out, Arena *scratch)
{
	Elements at = {.f = out};
	tensor_load(t, out, scratch);
	tensor_inside(t, &at, -1, (const int64_t[]){1, 1}, scratch);
}

void tensor_inside(const Slot *t, const Elements *of, double outside, const int64_t *edges,
		   Arena *scratch)
{
	Rows r = {.t = t};
	int64_t width = t->dim[t->rank - 1], n = 0;
	tile_offsets(t, r.at, scratch);
	const int64_t *last = r.at[t->rank - 1];
	do {
		bool row = edges[0] && rows_base(&r) < 0;
		for (int64_t i = 0; i < width; i++, n++)
			if (row || (edges[1] && last[i] < 0))
				element_is(of, n, outside);
	} while (rows_next(&r));
	arena_reset(scratch);
}

static void put(const Tensor *t, int64_t at, const Elements *from, int64_t i)
{
	elem_put(t->elem, t->data, at, from->f[i]);
	if (t->lo && from->lo) {
		elem_put(t->elem, t->lo, at, from->lo[i]);
		elem_put(t->elem, t->hi, at, from->hi[i]);
	}
	if (t->wrote)
		t->wrote[at] = true;
}

/* Which elements are joined to one: n, so far apart, from that of its number times each on. */
typedef struct {
	int64_t n, apart, each;
} Group;

static Group group_of(const Slot *to, const Slot *from)
{
	int64_t cols = from->dim[1], n = from->n / to->n;
	if (n == 1)
		return (Group){1, 0, 1};
	return to->dim[to->rank - 1] == cols ? (Group){n, cols, 1} : (Group){n, 1, cols};
}

/* group NULL: each takes the place of what the tensor holds */
static void tensor_put(const Joining *j, const Group *group, const Slot *t, const Elements *from,
		       Arena *scratch)
{
	Rows r = {.t = t};
	int64_t width = t->dim[t->rank - 1], n = 0;
	tile_offsets(t, r.at, scratch);
	const int64_t *last = r.at[t->rank - 1];
	do {
		int64_t base = rows_base(&r);
		for (int64_t i = 0; i < width; i++, n++)
			if (base >= 0 && last[i] >= 0 && group)
				for (int64_t e = 0; e < group->n; e++)
					element_join(j, t->tensor, base + last[i], from,
						     n * group->each + e * group->apart);
			else if (base >= 0 && last[i] >= 0)
				put(t->tensor, base + last[i], from, n);
	} while (rows_next(&r));
	arena_reset(scratch);
}

void tensor_store(const Slot *t, const Elements *from, Arena *scratch)
{
	tensor_put(NULL, NULL, t, from, scratch);
}

void tensor_join(const Joining *j, const Slot *t, const Slot *from, Arena *scratch)
{
	Group group = group_of(t, from);
	tensor_put(j, &group, t, &from->at, scratch);
}

/* ------------------------------------------------------------------ sizes */
static bool bind_leaves(Interp *in, const Tup *shape, const Tup *stride, Mode *m)
{
	int64_t extent, step;
	for (int i = 0; !tup_is_leaf(shape) && i < shape->n; i++)
		if (!bind_leaves(in, shape->at[i], stride->at[i], m))
			return false;
	if (!tup_is_leaf(shape))
		return true;
	if (m->n == MAX_LEAVES)
		return interp_fail(in, "a mode of a tensor has more than 16 factors");
	if (!interp_eval(in, shape->leaf, &extent) || !interp_eval(in, stride->leaf, &step))
		return false;
	if (extent < 0 || step < 0)
		return interp_fail(in, "extents and strides are not negative");
	if (__builtin_mul_overflow(m->size, extent, &m->size))
		return interp_fail(in, "a tensor has more than 2^63 elements");
	m->extent[m->n] = extent;
	m->stride[m->n++] = step;
	return true;
}

/* The last offset of a tensor must be a 64-bit number of bytes. */
static bool check_offsets(Interp *in, const Tensor *t)
{
	int64_t last = t->offset, term;
	for (int i = 0; i < t->rank; i++)
		for (int j = 0; j < t->mode[i].n; j++)
			if (__builtin_mul_overflow(t->mode[i].extent[j], t->mode[i].stride[j],
						   &term) ||
			    __builtin_add_overflow(last, term, &last) || last > INT64_MAX / 8)
				return interp_fail(in, "a tensor has more than 2^63 bytes");
	return true;
}

static bool bind_modes(Interp *in, const Layout *l, Tensor *t, Slot *s)
{
	s->n = 1;
	for (int i = 0; i < t->rank; i++) {
		Mode *m = &t->mode[i];
		m->size = 1;
		if (!bind_leaves(in, tup_get(l->shape, i), tup_get(l->stride, i), m))
			return false;
		s->dim[i] = m->size;
		if (__builtin_mul_overflow(s->n, m->size, &s->n))
			return interp_fail(in, "a tensor has more than 2^63 elements");
	}
	return true;
}

bool tensor_bind(Interp *in, const Layout *l, Tensor *t, Slot *s)
{
	if (t->rank > MAX_RANK || l->swizzle.b)
		return interp_fail(in, "a tensor has at most five modes and no swizzle");
	return bind_modes(in, l, t, s) && interp_eval(in, l->offset, &t->offset) &&
	       check_offsets(in, t);
}
