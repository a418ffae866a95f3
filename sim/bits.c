/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* bits.c - logic, shifts and bit fields of PTX (PTX ISA: Logic and Shift Instructions, and popc,
 * clz, bfind, fns, brev, bfe, bfi, bmsk, szext, prmt). Shifts clamp at the width. */
#include "sim/lanes.h"

RUN(and, BY_SIZE(OP2, x[l] & y[l]))
RUN(or, BY_SIZE(OP2, x[l] | y[l]))
RUN(xor, BY_SIZE(OP2, x[l] ^ y[l]))
RUN(not, BY_SIZE(OP1, ~x[l]))
RUN(cnot, BY_SIZE(OP1, x[l] == 0))

void prepare_pred(Pool *a, Ins *in)
{
	(void)a;
	in->extra = (u32)in->text[0];
}

Run run_pred(Warp *w, const Ins *in, u32 mask)
{
	u32 x = pred_get(w, &in->args[1]), y = pred_get(w, &in->args[2]);
	pred_set(w, &in->args[0], mask,
		 in->extra == 'a'   ? x & y
		 : in->extra == 'o' ? x | y
				    : x ^ y);
	return RUN_NEXT;
}

RUN(pred_not, pred_set(w, &in->args[0], mask, ~pred_get(w, &in->args[1])))

static u32 lop3(u32 a, u32 b, u32 c, u32 table)
{
	u32 r = 0;
	for (u32 i = 0; i < 8; i++)
		if (table >> i & 1)
			r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
	return r;
}

/* d, a, b, c, table; or d|p, a, b, c, table, q: p = (d != 0) op q */
Run run_lop3(Warp *w, const Ins *in, u32 mask)
{
	bool pair = has(in, M_AND) || has(in, M_OR);
	int k = pair ? 2 : 1;
	u32 *d = lanes(w, in, 0), set = 0;
	const u32 *x = lanes(w, in, k), *y = lanes(w, in, k + 1), *z = lanes(w, in, k + 2);
	u32 table = (u32)in->args[k + 3].imm;
	LANES_DO(d[l] = lop3(x[l], y[l], z[l], table));
	if (!pair)
		return RUN_NEXT;
	EACH_BIT(set, d[l] != 0);
	u32 q = pred_get(w, &in->args[k + 4]);
	pred_set(w, &in->args[1], mask, has(in, M_AND) ? set & q : set | q);
	return RUN_NEXT;
}

#define SHIFT(T, ...)                              \
	do {                                       \
		T *d = lanes(w, in, 0);            \
		const T *x = lanes(w, in, 1);      \
		const u32 *y = lanes(w, in, 2);    \
		LANES_DO(d[l] = (T)(__VA_ARGS__)); \
	} while (0)

RUN(shl, BY_SIZE(SHIFT, y[l] < 8 * sizeof *d ? 1u * x[l] << y[l] : 0))
RUN(shr, BY_TYPE(SHIFT, y[l] < 8 * sizeof *d ? x[l] >> y[l] : x[l] >> (8 * sizeof *d - 1) >> 1))

static u32 funnel(const Ins *in, u32 lo, u32 hi, u32 n)
{
	u64 both = (u64)hi << 32 | lo;
	n = has(in, M_CLAMP) ? (n > 32 ? 32 : n) : n & 31;
	return has(in, M_L) ? (u32)(both << n >> 32) : (u32)(both >> n);
}

RUN(shf, OP3(u32, funnel(in, x[l], y[l], z[l])))

static u32 prmt_selector(const Ins *in, u32 s)
{
	u32 r = 0;
	s &= 3;
	for (u32 i = 0; i < 4; i++) {
		u32 pick = i;
		if (has(in, M_F4E))
			pick = s + i;
		else if (has(in, M_B4E))
			pick = (s - i) & 7;
		else if (has(in, M_RC8))
			pick = s;
		else if (has(in, M_ECL))
			pick = i > s ? i : s;
		else if (has(in, M_ECR))
			pick = i < s ? i : s;
		else
			pick = (s & 1) * 2 + (i & 1);
		r |= pick << (4 * i);
	}
	return r;
}

static u32 prmt(const Ins *in, u32 a, u32 b, u32 s)
{
	u64 both = (u64)b << 32 | a;
	u32 r = 0;
	bool plain = !(has(in, M_F4E) || has(in, M_B4E) || has(in, M_RC8) || has(in, M_ECL) ||
		       has(in, M_ECR) || has(in, M_RC16));
	if (!plain)
		s = prmt_selector(in, s);
	for (u32 i = 0; i < 4; i++) {
		u32 pick = s >> (4 * i) & 15, byte = (u32)(both >> (8 * (pick & 7))) & 0xff;
		if (plain && pick & 8)
			byte = byte & 0x80 ? 0xff : 0;
		r |= byte << (8 * i);
	}
	return r;
}

RUN(prmt, OP3(u32, prmt(in, x[l], y[l], z[l])))

static u64 reverse(u64 v, u32 bits)
{
	u64 r = 0;
	for (u32 i = 0; i < bits; i++)
		r |= (v >> i & 1) << (bits - 1 - i);
	return r;
}

static u32 find_high(const Ins *in, u64 v, u32 bits)
{
	if (type_class[in->type[0]] == 'S' && v >> (bits - 1) & 1)
		v = ~v & (bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1);
	if (!v)
		return FULL;
	u32 at = 63 - (u32)__builtin_clzll(v);
	return has(in, M_SHIFTAMT) ? bits - 1 - at : at;
}

static u32 type_bits(const Ins *in)
{
	return type_bytes[in->type[0]] * 8u;
}

static u32 leading_zeros(u64 x, u32 bits)
{
	return x ? (u32)__builtin_clzll(x) - (64 - bits) : bits;
}

RUN(popc, EACH_SET(__builtin_popcountll(GET(1))))
RUN(clz, EACH_SET(leading_zeros(GET(1), type_bits(in))))
RUN(bfind, EACH_SET(find_high(in, GET(1), type_bits(in))))
RUN(brev, EACH_SET(reverse(GET(1), type_bits(in))))

/* The position of the n-th set bit from base on, upwards or downwards. */
static u32 fns(u32 v, u32 base, s32 n)
{
	if (n == 0)
		return base < 32 && v >> base & 1 ? base : FULL;
	s32 step = n > 0 ? 1 : -1, left = n > 0 ? n : -n;
	for (s32 i = (s32)base; i >= 0 && i < 32; i += step)
		if (v >> i & 1 && --left == 0)
			return (u32)i;
	return FULL;
}

RUN(fns, OP3(u32, fns(x[l], y[l] & 31, (s32)z[l])))

static u64 extract(const Ins *in, u64 v, u32 at, u32 n)
{
	u32 bits = type_bits(in);
	bool s = type_class[in->type[0]] == 'S';
	at &= 0xff;
	n &= 0xff;
	u32 top = n == 0 ? 0 : at + n - 1 < bits - 1 ? at + n - 1 : bits - 1;
	bool sign = s && n && v >> top & 1;
	u64 r = at < bits && n ? v >> at : 0;
	u32 have = at >= bits ? 0 : n < bits - at ? n : bits - at;
	u64 keep = have >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << have) - 1;
	return (r & keep) | (sign ? ~keep : 0);
}

RUN(bfe, EACH_SET(extract(in, GET(1), (u32)GET(2), (u32)GET(3))))

static u64 insert(u64 from, u64 into, u32 at, u32 n, u32 bits)
{
	at &= 0xff;
	n &= 0xff;
	if (at >= bits || !n)
		return into;
	u32 have = n < bits - at ? n : bits - at;
	u64 keep = (have >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << have) - 1) << at;
	return (into & ~keep) | (from << at & keep);
}

RUN(bfi, EACH_SET(insert(GET(1), GET(2), (u32)GET(3), (u32)GET(4), type_bits(in))))

static u32 bit_mask(const Ins *in, u32 at, u32 n)
{
	if (has(in, M_WRAP)) {
		at &= 31;
		n &= 31;
	}
	if (at > 31 || !n)
		return 0;
	u64 ones = n >= 32 ? 0xffffffff : (UINT64_C(1) << n) - 1;
	return (u32)(ones << at);
}

RUN(bmsk, OP2(u32, bit_mask(in, x[l], y[l])))

static u32 extend(const Ins *in, u32 v, u32 n)
{
	if (has(in, M_WRAP))
		n &= 31;
	if (n >= 32)
		return v;
	u32 keep = (1u << n) - 1;
	bool sign = in->type[0] == T_S32 && n && v >> (n - 1) & 1;
	return (v & keep) | (sign ? ~keep : 0);
}

RUN(szext, OP2(u32, extend(in, x[l], y[l])))
