/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tv.c - thread-value layouts of register tiles: which thread holds which element in which
 * register. The layout maps (thread, register) to the element's offset in the tile, column-major.
 *     a row vector of a tile: threads that hold the same rows hold the same elements of it
 *     (64,256) tv ((4,8,4),(2,2,32)):((128,1,16),(64,8,512))
 * ->  (64,1)   tv ((4,8,4),(2)):((0,1,16),(8))
 * ->  (64,4)   tv ((4,8,4),(2,4)):((0,1,16),(8,64)), where 64 columns share an element
 * ->  (4,32)   tv ((4,2,2,2,4),(1)):((8,16,32,64,1),(4)), shared out: no lanes hold the same */
#include "ir/ir.h"

/* Modes of threads (0) or registers (1), flat and static. */
typedef struct {
	int64_t extent[TV_MODES], stride[TV_MODES];
	int n;
} Modes;

int64_t tv_leaf(const Tup *t)
{
	int64_t v;
	if (!tup_is_leaf(t) || !ix_is_const(t->leaf, &v))
		panic("a thread-value layout has static, flat modes");
	return v;
}

static Modes modes_of(const Layout *tv, int which)
{
	const Tup *shape = tup_get(tv->shape, which), *stride = tup_get(tv->stride, which);
	Modes m = {.n = tup_rank(shape)};
	if (m.n > TV_MODES)
		panic("a thread-value layout of more than %d modes", TV_MODES);
	for (int i = 0; i < m.n; i++) {
		m.extent[i] = tv_leaf(tup_get(shape, i));
		m.stride[i] = tv_leaf(tup_get(stride, i));
	}
	return m;
}

/* Of an element at `offset` of the whole tile, that of the part that is broadcast to it: neighbours
 * along a mode share one, where the part has fewer. */
static int64_t part_offset(const Layout *whole, const Layout *part, int64_t offset)
{
	int64_t at = 0;
	for (int i = 0; i < layout_rank(whole); i++) {
		int64_t n = tv_leaf(tup_get(whole->shape, i)),
			of = tv_leaf(tup_get(part->shape, i));
		if (of != 1)
			at += offset % n / (n / of) * tv_leaf(tup_get(part->stride, i));
		offset /= n;
	}
	return at;
}

static void push(Modes *m, int64_t extent, int64_t stride)
{
	m->extent[m->n] = extent;
	m->stride[m->n++] = stride;
}

static const Layout *layout_of(Ctx *c, const Modes *m)
{
	const Tup *shape[2], *stride[2];
	for (int w = 0; w < 2; w++) {
		const Tup *extents[TV_MODES], *steps[TV_MODES];
		for (int i = 0; i < m[w].n; i++) {
			extents[i] = tup_int(c, m[w].extent[i]);
			steps[i] = tup_int(c, m[w].stride[i]);
		}
		shape[w] = tup_new(c, extents, m[w].n);
		stride[w] = tup_new(c, steps, m[w].n);
	}
	return layout_new(c, tup_new(c, shape, 2), tup_new(c, stride, 2));
}

/* How many steps of a mode stay with one element of the part; 0: they leave it in between. */
static int64_t steps_within(const Layout *whole, const Layout *part, int64_t extent, int64_t stride)
{
	int64_t within = extent;
	for (int i = 0; i < layout_rank(whole); i++) {
		int64_t n = tv_leaf(tup_get(whole->shape, i)),
			of = tv_leaf(tup_get(part->shape, i));
		int64_t share = n / of, step = stride % n;
		if (of != 1 && step && share % step && step % share)
			return 0;
		if (of != 1 && step)
			within = step >= share ? 1 : share / step < within ? share / step : within;
		stride /= n;
	}
	return extent % within ? 0 : within;
}

static bool push_part(Modes *to, bool thread, const Layout *whole, const Layout *part,
		      int64_t extent, int64_t stride)
{
	int64_t within = steps_within(whole, part, extent, stride);
	if (!within)
		return false;
	int64_t on = part_offset(whole, part, stride * within);
	bool one = within == extent && extent > 1;
	if (thread && within > 1 && !one)
		push(to, within, 0);
	if (one && thread)
		push(to, extent, 0);
	else if (!one && (thread || on))
		push(to, extent / within, on);
	return true;
}

const Layout *tv_of_part(Ctx *c, const Layout *tv, const Layout *whole, const Layout *part)
{
	Modes to[2] = {{.n = 0}, {.n = 0}};
	for (int w = 0; w < 2; w++) {
		Modes from = modes_of(tv, w);
		for (int i = 0; i < from.n; i++)
			if (to[w].n + 2 > TV_MODES ||
			    !push_part(&to[w], w == 0, whole, part, from.extent[i], from.stride[i]))
				return NULL;
	}
	if (!to[1].n)
		push(&to[1], 1, 0);
	return layout_of(c, to);
}

int64_t tv_register_offset(const Layout *tv, int reg)
{
	Modes m = modes_of(tv, 1);
	int64_t offset = 0;
	for (int i = 0; i < m.n; i++) {
		offset += reg % m.extent[i] * m.stride[i];
		reg /= (int)m.extent[i];
	}
	return offset;
}

int tv_register_at(const Type *t, int64_t offset)
{
	for (int r = 0; r < type_regs(t); r++)
		if (tv_register_offset(t->tv, r) == offset)
			return r;
	return -1;
}

int tv_source(const Type *whole, int reg, const Type *part)
{
	if (part->tv == whole->tv)
		return reg;
	int64_t offset = tv_register_offset(whole->tv, reg);
	return tv_register_at(part, part_offset(whole->layout, part->layout, offset));
}

/* Lane q of a quad has columns 2q, 2q + 1, 2q + 8 and 2q + 9, and gets 4q .. 4q + 3. */
bool tv_quad(const Type *from, const Type *to, int word, int reg[4])
{
	int64_t column = tv_leaf(tup_get(to->layout->stride, 1));
	int64_t first = tv_register_offset(to->tv, 4 * word);
	for (int i = 0; i < 4; i++) {
		reg[i] = tv_register_at(from, first + (i / 2 * 8 + i % 2) * column);
		if (reg[i] < 0 || tv_register_offset(to->tv, 4 * word + i) != first + i * column)
			return false;
	}
	return true;
}

/* The lanes of a quad are the first mode of threads; others hold the same rows of both. */
static bool quads_of_threads(const Type *from, const Type *to)
{
	int64_t column = tv_leaf(tup_get(to->layout->stride, 1));
	Modes a = modes_of(from->tv, 0), b = modes_of(to->tv, 0);
	bool same = a.n == b.n;
	for (int i = 0; i < a.n && same; i++)
		same = a.extent[i] == b.extent[i] &&
		       (i ? a.stride[i] == b.stride[i]
			  : a.extent[0] == 4 && a.stride[0] == 2 * column &&
					b.stride[0] == 4 * column);
	return same;
}

bool tv_quads(const Type *from, const Type *to)
{
	int reg[4], words = type_regs(to) / 4;
	bool fits = from->layout == to->layout && type_regs(from) == type_regs(to) &&
		    words * 4 == type_regs(to) && quads_of_threads(from, to);
	for (int i = 0; i < words && fits; i++)
		fits = tv_quad(from, to, i, reg);
	return fits;
}

int64_t tv_places(const Layout *tv)
{
	int64_t n = 1;
	for (int w = 0; w < 2; w++) {
		Modes m = modes_of(tv, w);
		for (int i = 0; i < m.n; i++)
			n *= m.stride[i] ? m.extent[i] : 1;
	}
	return n;
}

static int64_t thread_offset(const Modes *m, int64_t thread)
{
	int64_t offset = 0;
	for (int i = 0; i < m->n; i++) {
		offset += thread % m->extent[i] * m->stride[i];
		thread /= m->extent[i];
	}
	return offset;
}

int tv_exchanges(const Type *whole, const Type *part, TvExchange *all, int most)
{
	Modes from = modes_of(whole->tv, 0), to = modes_of(part->tv, 0);
	int n = 0;
	int64_t before = 1;
	for (int i = 0; i < from.n; i++) {
		for (int64_t s = before; s < before * from.extent[i] && n < most; s *= 2) {
			int64_t offset = thread_offset(&from, s);
			if (offset && !part_offset(whole->layout, part->layout, offset))
				all[n++] = (TvExchange){(int)s, thread_offset(&to, s)};
		}
		before *= from.extent[i];
	}
	return n;
}

/* Leaves every second register: how far the others lie after them; 0: there are no pairs. */
static int64_t halve(Modes *registers)
{
	for (int i = registers->n - 1; i >= 0; i--) {
		int64_t stride = registers->stride[i];
		if (registers->extent[i] % 2)
			continue;
		registers->extent[i] /= 2;
		registers->stride[i] *= 2;
		return stride;
	}
	return 0;
}

const Layout *tv_shared_out(Ctx *c, const Type *whole, const Layout *part)
{
	enum { LANES = 32 };
	const Layout *tv = tv_of_part(c, whole->tv, whole->layout, part);
	if (!tv)
		return NULL;
	Modes lanes = modes_of(tv, 0), from = modes_of(whole->tv, 0);
	Modes to[2] = {{.n = 0}, modes_of(tv, 1)};
	int64_t before = 1;
	for (int i = 0; i < lanes.n; i++) {
		int64_t left = lanes.extent[i], stride = 0;
		bool alike = !lanes.stride[i] && before < LANES && thread_offset(&from, before);
		while (alike && left % 2 == 0 && to[0].n + lanes.n - i < TV_MODES &&
		       (stride = halve(&to[1]))) {
			push(&to[0], 2, stride);
			left /= 2;
		}
		if (left > 1 || lanes.extent[i] == 1)
			push(&to[0], left, lanes.stride[i]);
		before *= lanes.extent[i];
	}
	return layout_of(c, to);
}

/* Of the modes that go along rows, by their strides. */
static void add_steps(const Modes *m, bool threads, int64_t rows, TvRow *all, int64_t *stride,
		      int *n)
{
	enum { LANES = 32 };
	int64_t before = 1;
	for (int i = 0; i < m->n; before *= m->extent[i++]) {
		if (m->extent[i] == 1 || !m->stride[i] || m->stride[i] % rows)
			continue;
		int at = (*n)++;
		for (; at && stride[at - 1] > m->stride[i]; at--) {
			all[at] = all[at - 1];
			stride[at] = stride[at - 1];
		}
		TvRowOf of = before < LANES ? TV_LANES : TV_WARPS;
		all[at] = (TvRow){threads ? of : TV_REGISTERS, (int)m->extent[i], (int)before};
		stride[at] = m->stride[i];
	}
}

static bool is_bits(const TvRow *r)
{
	enum { LANES = 32 };
	bool bits = !(r->extent & (r->extent - 1)) && !(r->step & (r->step - 1));
	return r->of == TV_REGISTERS ||
	       (bits && (r->of == TV_WARPS || r->step * r->extent <= LANES));
}

bool tv_row(const Type *t, TvRow *all, int *n)
{
	int64_t rows = tv_leaf(tup_get(t->layout->shape, 0)),
		cols = tv_leaf(tup_get(t->layout->shape, 1));
	int64_t stride[2 * TV_MODES], next = rows;
	Modes threads = modes_of(t->tv, 0), registers = modes_of(t->tv, 1);
	*n = 0;
	add_steps(&threads, true, rows, all, stride, n);
	add_steps(&registers, false, rows, all, stride, n);
	for (int i = 0; i < *n; next *= all[i++].extent)
		if (stride[i] != next || !is_bits(&all[i]) || (all[i].of == TV_WARPS && i + 1 < *n))
			return false;
	return next == rows * cols;
}

int tv_row_warps(const Type *t)
{
	TvRow all[2 * TV_MODES];
	int n;
	if (!tv_row(t, all, &n))
		return 0;
	return n && all[n - 1].of == TV_WARPS ? all[n - 1].extent : 1;
}
