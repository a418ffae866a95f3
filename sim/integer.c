/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* integer.c - integer arithmetic of PTX, 32 lanes at a time (PTX ISA: Integer Arithmetic
 * Instructions, Extended-Precision Integer Arithmetic Instructions). Overflow wraps; only .sat
 * clamps. Division by zero gives all ones, as the hardware does. */
#include "sim/lanes.h"

static bool is_signed(const Ins *in)
{
	return type_class[in->type[0]] == 'S';
}

static bool is_pair(const Ins *in)
{
	return in->type[0] == T_U16X2 || in->type[0] == T_S16X2;
}

static u32 halves(u32 a, u32 b, u32 (*f)(u32, u32))
{
	return (f(a & 0xffff, b & 0xffff) & 0xffff) | f(a >> 16, b >> 16) << 16;
}

static u32 half_add(u32 a, u32 b)
{
	return a + b;
}

Run run_add(Warp *w, const Ins *in, u32 mask)
{
	if (has(in, M_SAT))
		OP2(s32, clamp32((s64)x[l] + y[l]));
	else if (is_pair(in))
		OP2(u32, halves(x[l], y[l], half_add));
	else
		BY_SIZE(OP2, x[l] + y[l]);
	return RUN_NEXT;
}

Run run_sub(Warp *w, const Ins *in, u32 mask)
{
	if (has(in, M_SAT))
		OP2(s32, clamp32((s64)x[l] - y[l]));
	else
		BY_SIZE(OP2, x[l] - y[l]);
	return RUN_NEXT;
}

/* extra: 1 subtract, 2 take the carry in */
void prepare_carry(Pool *a, Ins *in)
{
	(void)a;
	in->extra = (in->text[0] == 's') | (in->text[3] == 'c' ? 2u : 0);
}

static u64 with_carry(u64 x, u64 y, bool in, u32 bits, bool *out)
{
	u128 sum = (u128)x + y + in;
	*out = sum >> bits & 1;
	return (u64)sum;
}

/* A borrow is the absence of a carry of x + ~y + 1. */
Run run_carry(Warp *w, const Ins *in, u32 mask)
{
	bool wide = type_bytes[in->type[0]] == 8, sub = in->extra & 1, out;
	EACH_LANE(l, mask)
	{
		u64 x = arg_get(w, &in->args[1], l), y = arg_get(w, &in->args[2], l);
		bool cin = in->extra & 2 ? w->carry >> l & 1 : 0;
		if (sub) {
			y = wide ? ~y : ~y & 0xffffffff;
			cin = !cin;
		}
		u64 r = with_carry(x, y, cin, wide ? 64 : 32, &out);
		arg_set(w, &in->args[0], l, r);
		if (has(in, M_CC))
			w->carry = (w->carry & ~(1u << l)) | (u32)(out != sub) << l;
	}
	return RUN_NEXT;
}

/* Products of 64 bits need 128; modulo that, the sign of a factor is in its upper bits. */
static u64 product_half(const Ins *in, u64 x, u64 y)
{
	u32 bits = 8 * type_bytes[in->type[0]];
	u128 p = (u128)(s64)extended(in->type[0], x) * (u128)(s64)extended(in->type[0], y);
	if (in->type[0] == T_U64)
		p = (u128)x * y;
	u64 half = (u64)(has(in, M_LO) ? p : p >> bits);
	return bits == 64 ? half : half & 0xffffffff;
}

Run run_mad_carry(Warp *w, const Ins *in, u32 mask)
{
	u32 bits = 8 * type_bytes[in->type[0]];
	bool out;
	EACH_LANE(l, mask)
	{
		u64 half =
			product_half(in, arg_get(w, &in->args[1], l), arg_get(w, &in->args[2], l));
		bool cin = in->extra & 2 ? w->carry >> l & 1 : 0;
		arg_set(w, &in->args[0], l,
			with_carry(half, arg_get(w, &in->args[3], l), cin, bits, &out));
		if (has(in, M_CC))
			w->carry = (w->carry & ~(1u << l)) | (u32)out << l;
	}
	return RUN_NEXT;
}

/* Modulo 2^128 the product of a signed type is that of its extensions. */
#define HIGH ((u128)x[l] * (u128)y[l] >> (8 * sizeof *d))

Run run_mul(Warp *w, const Ins *in, u32 mask)
{
	if (has(in, M_HI))
		BY_TYPE(OP2, HIGH);
	else
		BY_SIZE(OP2, x[l] * (u64)y[l]);
	return RUN_NEXT;
}

Run run_mad(Warp *w, const Ins *in, u32 mask)
{
	if (has(in, M_SAT))
		OP3(s32, clamp32(((s64)x[l] * y[l] >> 32) + z[l]));
	else if (has(in, M_HI))
		BY_TYPE(OP3, HIGH + (u128)z[l]);
	else
		BY_SIZE(OP3, x[l] * (u64)y[l] + z[l]);
	return RUN_NEXT;
}

/* TO is unsigned: the low half of a product does not depend on the sign. */
#define WIDE(TO, FROM, ADD)                                            \
	do {                                                           \
		TO *d = lanes(w, in, 0);                               \
		const FROM *x = lanes(w, in, 1), *y = lanes(w, in, 2); \
		const TO *z = lanes(w, in, 3);                         \
		(void)z;                                               \
		LANES_DO(d[l] = (TO)x[l] * (TO)y[l] ADD);              \
	} while (0)
#define BY_WIDE(ADD)                              \
	switch (in->type[0]) {                    \
		CASE(T_U16, WIDE(u32, u16, ADD)); \
		CASE(T_S16, WIDE(u32, s16, ADD)); \
		CASE(T_U32, WIDE(u64, u32, ADD)); \
	default:                                  \
		WIDE(u64, s32, ADD);              \
	}

RUN(mul_wide, BY_WIDE())
RUN(mad_wide, BY_WIDE(+z[l]))

/* The low 24 bits of each, as a 48-bit product; its high or low 32 bits. */
static u64 product24(u32 x, u32 y, bool s)
{
	return s ? (u64)((s64)((s32)(x << 8) >> 8) * ((s32)(y << 8) >> 8))
		 : (u64)(x & 0xffffff) * (y & 0xffffff);
}

RUN(mul24, OP3(u32, (product24(x[l], y[l], is_signed(in)) >> (has(in, M_HI) ? 16 : 0)) +
			    (in->nargs > 3 ? z[l] : 0)))

RUN(sad, BY_TYPE(OP3, z[l] + (x[l] < y[l] ? (u64)y[l] - (u64)x[l] : (u64)x[l] - (u64)y[l])))

static u64 quotient(u64 x, u64 y, bool s)
{
	if (!y)
		return ~UINT64_C(0);
	if (!s)
		return x / y;
	return y == ~UINT64_C(0) ? 0 - x : (u64)((s64)x / (s64)y);
}

static u64 remainder_of(u64 x, u64 y, bool s)
{
	if (!y)
		return ~UINT64_C(0);
	if (!s)
		return x % y;
	return y == ~UINT64_C(0) ? 0 : (u64)((s64)x % (s64)y);
}

RUN(div, bool s = is_signed(in); BY_TYPE(OP2, quotient((u64)x[l], (u64)y[l], s)))
RUN(rem, bool s = is_signed(in); BY_TYPE(OP2, remainder_of((u64)x[l], (u64)y[l], s)))

static u64 magnitude(s64 v)
{
	return v < 0 ? 0 - (u64)v : (u64)v;
}

RUN(abs, BY_TYPE(OP1, magnitude((s64)x[l])))
RUN(neg, BY_SIZE(OP1, 0 - (u64)x[l]))

static u32 relu2(u32 v)
{
	return (v & 0x8000 ? 0 : v & 0xffff) | (v & 0x80000000 ? 0 : v & 0xffff0000);
}

static s32 relu32(s32 v)
{
	return v < 0 ? 0 : v;
}

static Run extreme(Warp *w, const Ins *in, u32 mask, u32 (*u)(u32, u32), u32 (*s)(u32, u32))
{
	bool relu = has(in, M_RELU);
	if (in->type[0] == T_U16X2)
		OP2(u32, halves(x[l], y[l], u));
	else if (relu)
		OP2(u32, relu2(halves(x[l], y[l], s)));
	else
		OP2(u32, halves(x[l], y[l], s));
	return RUN_NEXT;
}

/* The one of two that is CMP the other. */
#define EXTREME(name, CMP)                                                       \
	static u32 half_u##name(u32 a, u32 b)                                    \
	{                                                                        \
		return (u16)a CMP(u16) b ? a : b;                                \
	}                                                                        \
	static u32 half_s##name(u32 a, u32 b)                                    \
	{                                                                        \
		return (s16)a CMP(s16) b ? a : b;                                \
	}                                                                        \
	Run run_##name(Warp *w, const Ins *in, u32 mask)                         \
	{                                                                        \
		if (is_pair(in))                                                 \
			return extreme(w, in, mask, half_u##name, half_s##name); \
		if (has(in, M_RELU))                                             \
			OP2(s32, relu32(x[l] CMP y[l] ? x[l] : y[l]));           \
		else                                                             \
			BY_TYPE(OP2, x[l] CMP y[l] ? x[l] : y[l]);               \
		return RUN_NEXT;                                                 \
	}

EXTREME(min, <)
EXTREME(max, >)
/* The differences of four bytes; with .add the sum of them and z. */
static u32 differences(u32 x, u32 y, u32 z, bool add)
{
	u32 r = add ? z : 0;
	for (int i = 0; i < 32; i += 8) {
		u32 a = x >> i & 0xff, b = y >> i & 0xff;
		r += (a < b ? b - a : a - b) << (add ? 0 : i);
	}
	return r;
}

RUN(vabsdiff4, OP3(u32, differences(x[l], y[l], z[l], has(in, M_ADD))))

static s64 dot_part(const Ins *in, int type, u32 v, int i, int bits)
{
	u32 field = v >> (i * bits) & ((1u << bits) - 1);
	bool s = in->type[type] == T_S32 && field >> (bits - 1);
	return s ? (s64)field - (1 << bits) : (s64)field;
}

/* n products of fields of x, of so many bits, and bytes of y from the first on */
static u32 dot(const Ins *in, u32 x, u32 y, int n, int first)
{
	s64 sum = 0;
	for (int i = 0; i < n; i++)
		sum += dot_part(in, 0, x, i, 32 / n) * dot_part(in, 1, y, first + i, 8);
	return (u32)sum;
}

RUN(dp4a, OP3(u32, z[l] + dot(in, x[l], y[l], 4, 0)))
RUN(dp2a, OP3(u32, z[l] + dot(in, x[l], y[l], 2, has(in, M_HI) ? 2 : 0)))
