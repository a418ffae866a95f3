/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tma.c - tensor copies: cp.async.bulk.tensor and its reductions, tiled mode (PTX ISA: Tensors).
 * A box is copied row by row; shared memory is dense, 16-byte chunks permuted by the swizzle, which
 * works on address bits; elements outside the tensor are filled, or not stored.
 *   swizzle 128: bits 4..6 of the address ^= bits 7..9 */
#include "sim/lanes.h"
#include "sim/number.h"

u64 swizzled(u64 offset, u32 bytes)
{
	u64 keep = bytes == 128 ? 7 : bytes == 64 ? 3 : bytes == 32 ? 1 : 0;
	return offset ^ (offset >> 7 & keep) << 4;
}

static u32 box_rows(const TensorMap *m)
{
	return (u32)m->box[1] * m->box[2] * m->box[3] * m->box[4];
}

static u32 box_bytes(const TensorMap *m)
{
	return ((u32)m->box[0] << m->log2_bytes) * box_rows(m);
}

/* Where row r of the box starts in the tensor; false: it is outside. */
static bool row_at(const Async *as, u32 r, u64 *addr)
{
	const TensorMap *m = &as->map;
	*addr = m->base;
	for (int d = 1; d < 5; d++) {
		s64 x = (s64)as->at[d] + (s64)(r % m->box[d]) * m->step[d];
		r /= m->box[d];
		if (d >= m->rank)
			continue;
		if (x < 0 || x > (s64)m->dim[d])
			return false;
		*addr += (u64)x * m->stride[d - 1];
	}
	return true;
}

/* The part of a row inside the tensor: elements [first, end) of the box. */
static void row_range(const Async *as, u32 *first, u32 *end)
{
	const TensorMap *m = &as->map;
	s64 x = as->at[0], size = (s64)m->dim[0] + 1, step = m->step[0];
	*first = x >= 0 ? 0 : (u32)((-x + step - 1) / step);
	s64 last = (size - x + step - 1) / step;
	*end = last < 0 ? 0 : last > m->box[0] ? m->box[0] : (u32)last;
	if (*first > *end)
		*first = *end;
}

static void row_fill(const TensorMap *m, u8 *row, u32 bytes)
{
	memset(row, 0, bytes);
	if (!m->fill)
		return;
	u64 nan = m->type == T_F32 || m->type == T_TF32 ? 0x7fffffff
		  : m->type == T_F64                    ? UINT64_C(0x7fffffffffffffff)
							: 0x7fff;
	for (u32 i = 0; i < bytes; i += 1u << m->log2_bytes)
		memcpy(row + i, &nan, 1u << m->log2_bytes);
}

/* Global bytes of the row's elements [first, end), stepped. */
static u8 *row_host(const Async *as, u64 addr, u32 first, u32 end, const char *what)
{
	const TensorMap *m = &as->map;
	s64 x = (s64)as->at[0] + (s64)first * m->step[0];
	u64 bytes = ((u64)(end - first - 1) * m->step[0] + 1) << m->log2_bytes;
	u8 *host = global_at(as->warp, as->in, as->lane, addr + ((u64)x << m->log2_bytes), bytes,
			     what);
	if (host)
		async_touch(as, host, bytes, as->kind == AS_TMA_STORE);
	return host;
}

/* A map of tf32 rounds what it loads to nearest even, as an H200 does
 * (tests/gpu/records/hardware.md). */
static void row_round(const TensorMap *m, u8 *row, u32 first, u32 end)
{
	for (u32 i = first; m->type == T_TF32 && i < end; i++) {
		float x;
		memcpy(&x, row + i * sizeof x, sizeof x);
		x = tf32_nearest(x);
		memcpy(row + i * sizeof x, &x, sizeof x);
	}
}

void tma_load(Cluster *c, Async *as)
{
	const TensorMap *m = &as->map;
	u32 size = 1u << m->log2_bytes, inner = (u32)m->box[0] << m->log2_bytes, first, end;
	u8 row[256 * 8];
	(void)c;
	row_range(as, &first, &end);
	for (u32 r = 0; r < box_rows(m); r++) {
		u64 addr;
		row_fill(m, row, inner);
		const u8 *from = first < end && row_at(as, r, &addr)
					 ? row_host(as, addr, first, end, "TMA load")
					 : NULL;
		if (from && m->step[0] == 1)
			memcpy(row + first * size, from, (end - first) * size);
		else if (from)
			for (u32 i = first; i < end; i++)
				memcpy(row + i * size,
				       from + (size_t)(i - first) * m->step[0] * size, size);
		if (from)
			row_round(m, row, first, end);
		for (u32 i = 0; i < inner; i += 16) {
			u64 to = swizzled(as->offset + r * inner + i, m->swizzle);
			memcpy(as->cta->smem + (to - SMEM_BASE), row + i, 16);
		}
	}
}

static void element_store(const Ins *in, const TensorMap *m, u8 *to, const u8 *from)
{
	Ins typed = *in;
	u64 v = 0;
	typed.type[0] = m->type;
	memcpy(&v, from, 1u << m->log2_bytes);
	atom_exchange(&typed, to, v, 0);
}

static bool reduces(const Ins *in)
{
	return in->text[3] == 'r'; /* cp.reduce */
}

static void row_store(const Async *as, u8 *to, const u8 *row, u32 n)
{
	const TensorMap *m = &as->map;
	u32 size = 1u << m->log2_bytes;
	if (m->step[0] == 1 && !reduces(as->in)) {
		memcpy(to, row, (size_t)n * size);
		return;
	}
	for (u32 i = 0; i < n; i++) {
		u8 *at = to + (size_t)i * m->step[0] * size;
		if (reduces(as->in))
			element_store(as->in, m, at, row + i * size);
		else
			memcpy(at, row + i * size, size);
	}
}

/* An H200 writes whole units of 16 bytes, also after the end of a row: measured, as
 * tests/gpu/records/hardware.md says. */
static void row_end_check(const Async *as, u32 end)
{
	const TensorMap *m = &as->map;
	u64 bytes = ((u64)m->dim[0] + 1) << m->log2_bytes;
	if (end == 0 || end == m->box[0] || bytes % 16 == 0)
		return;
	report(as->warp, as->in, (s32)as->lane, SIM_BOUNDS,
	       "a store to a tensor with rows of %llu bytes writes %llu bytes beyond them: the "
	       "hardware "
	       "writes whole units of 16",
	       (unsigned long long)bytes, (unsigned long long)(16 - bytes % 16));
}

void tma_store(Cluster *c, Async *as)
{
	const TensorMap *m = &as->map;
	u32 size = 1u << m->log2_bytes, inner = (u32)m->box[0] << m->log2_bytes, first, end;
	u8 row[256 * 8];
	(void)c;
	row_range(as, &first, &end);
	row_end_check(as, end);
	for (u32 r = 0; r < box_rows(m) && first < end; r++) {
		u64 addr;
		if (!row_at(as, r, &addr))
			continue;
		for (u32 i = 0; i < inner; i += 16) {
			u64 from = swizzled(as->offset + r * inner + i, m->swizzle);
			memcpy(row + i, as->cta->smem + (from - SMEM_BASE), 16);
		}
		u8 *to = row_host(as, addr, first, end, "TMA store");
		if (to)
			row_store(as, to, row + first * size, end - first);
	}
}

static u32 rank_of(const Ins *in)
{
	for (u32 d = 0; d < 5; d++)
		if (has(in, (Mod)(M_DIM1D + d)))
			return d + 1;
	return 0;
}

/* The map at an operand's address, read when the copy is issued. */
static bool map_read(Warp *w, const Ins *in, u32 lane, const Arg *a, TensorMap *m)
{
	Place p;
	if (!place_at(w, in, lane, SP_GENERIC, mem_address(w, a, lane), sizeof *m, 64, &p))
		return false;
	memcpy(m, p.host, sizeof *m);
	const char *wrong = map_wrong(m);
	if (!wrong)
		return true;
	report(w, in, (s32)lane, SIM_OPERAND, "the tensor map of 128 bytes at 0x%llx: %s",
	       (unsigned long long)mem_address(w, a, lane), wrong);
	return false;
}

typedef enum { START_LOAD, START_STORE, START_REDUCE, START_PREFETCH, START_KINDS } Start;

static Start start_of(const Ins *in)
{
	if (in->run == run_tma_prefetch)
		return START_PREFETCH;
	return in->run == run_tma_load ? START_LOAD : reduces(in) ? START_REDUCE : START_STORE;
}

/* The hardware takes some first coordinates only. */
static bool start_check(Warp *w, const Ins *in, u32 lane, const Async *as)
{
	static const struct {
		u8 multiple;
		bool below_zero;
	} rows[START_KINDS] = {
#define TMA_START(what, bytes, below_zero) [START_##what] = {bytes, below_zero},
#include "sim/tma_starts.def"
	};
	s64 at = (s64)as->at[0] * (1 << as->map.log2_bytes);
	Start start = start_of(in);
	bool below = at < 0 && !rows[start].below_zero;
	if (at % rows[start].multiple == 0 && !below)
		return true;
	report(w, in, (s32)lane, SIM_ALIGN,
	       "the box starts at coordinate %d of its innermost dimension, byte %lld: this is an "
	       "illegal instruction where that is %s",
	       as->at[0], (long long)at, below ? "below 0" : "not a multiple of 16 bytes");
	return false;
}

static bool map_operand(Warp *w, const Ins *in, u32 lane, const Arg *a, Async *out)
{
	if (!map_read(w, in, lane, a, &out->map))
		return false;
	u32 rank = rank_of(in);
	if (out->map.rank != rank || a->n != rank) {
		report(w, in, (s32)lane, SIM_OPERAND,
		       "a copy of rank %u, a map of rank %u, %u coordinates", rank, out->map.rank,
		       a->n);
		return false;
	}
	for (u32 i = 0; i < rank; i++)
		out->at[i] = (s32)arg_get(w, &a->list[i], lane);
	out->bytes = box_bytes(&out->map);
	if (!start_check(w, in, lane, out))
		return false;
	if (in->run == run_tma_load)
		grid_check_read(w, in, lane, out->map.base);
	else if (in->run != run_tma_prefetch)
		grid_check(w, in, lane);
	return true;
}

/* [dst], [map, {coordinates}], [mbar]{, mask}{, policy} */
static bool each_tma_load(Warp *w, const Ins *in, u32 l)
{
	Place dst, bar;
	Async copy = {.kind = AS_TMA_LOAD};
	return map_operand(w, in, l, &in->args[1], &copy) &&
	       copy_operand(w, in, &in->args[0], l, true, 128, &dst) &&
	       copy_operand(w, in, &in->args[2], l, true, 8, &bar) &&
	       copy_lands(w, in, l, &in->args[3], &dst, &bar, &copy);
}

PER_LANE(tma_load)

/* [map, {coordinates}], [src]{, policy} */
static bool each_tma_store(Warp *w, const Ins *in, u32 l)
{
	Place src;
	Async copy = {.kind = AS_TMA_STORE};
	return map_operand(w, in, l, &in->args[0], &copy) &&
	       copy_operand(w, in, &in->args[1], l, false, 128, &src) &&
	       copy_leaves(w, in, l, &src, &copy);
}

PER_LANE(tma_store)

static bool each_tma_prefetch(Warp *w, const Ins *in, u32 l)
{
	Async proto = {0};
	return map_operand(w, in, l, &in->args[0], &proto);
}

PER_LANE(tma_prefetch)

static bool each_prefetch_map(Warp *w, const Ins *in, u32 l)
{
	TensorMap m;
	return map_read(w, in, l, &in->args[0], &m);
}

PER_LANE(prefetch_map)
