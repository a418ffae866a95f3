/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* convert.c - cvt (PTX ISA: Data Movement and Conversion Instructions: cvt). Integers go through 64
 * bits, floats through f64, each rounded once. */
#include "sim/lanes.h"
#include "sim/number.h"

u64 extended(Type t, u64 v)
{
	switch (t) {
	case T_S8:
		return (u64)(s64)(s8)v;
	case T_S16:
		return (u64)(s64)(s16)v;
	case T_S32:
		return (u64)(s64)(s32)v;
	case T_U8:
		return (u8)v;
	case T_U16:
		return (u16)v;
	case T_U32:
		return (u32)v;
	default:
		return v;
	}
}

static u64 clamped(Type to, Type from, u64 v)
{
	u32 bits = type_bytes[to] * 8u;
	bool negative = type_class[from] == 'S' && (s64)v < 0;
	if (type_class[to] == 'U') {
		u64 top = bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
		return negative ? 0 : v > top ? top : v;
	}
	u64 top = (UINT64_C(1) << (bits - 1)) - 1;
	if (negative)
		return (s64)v < -(s64)top - 1 ? ~top : v;
	return v > top ? top : v;
}

/* Results narrower than their register are extended to it, by their own sign. */
static u64 int_to_int(const Ins *in, u64 bits)
{
	Type to = in->type[0], from = in->type[1];
	u64 v = extended(from, bits);
	return extended(to, has(in, M_SAT) ? clamped(to, from, v) : v);
}

static f64 to_whole(f64 x, const Ins *in)
{
	switch (rounding_of(in)) {
	case RND_ZERO:
		return trunc(x);
	case RND_DOWN:
		return floor(x);
	case RND_UP:
		return ceil(x);
	default:
		return nearbyint(x);
	}
}

/* Out of range clamps; NaN is 0, or the lowest 64-bit integer. */
static u64 whole_bits(Type to, f64 x)
{
	u32 bits = type_bytes[to] * 8u;
	bool s = type_class[to] == 'S';
	if (x != x)
		return bits == 64 ? UINT64_C(1) << 63 : 0;
	f64 top = ldexp(1.0, (int)bits - s), low = s ? -top : 0;
	if (x >= top)
		return s            ? (UINT64_C(1) << (bits - 1)) - 1
		       : bits == 64 ? ~UINT64_C(0)
				    : (UINT64_C(1) << bits) - 1;
	if (x <= low)
		return s ? 0 - (UINT64_C(1) << (bits - 1)) : 0;
	return s ? (u64)(s64)x : (u64)x;
}

static u64 float_to_int(const Ins *in, u64 bits)
{
	f64 x = float_value(in->type[1], bits);
	if (has(in, M_FTZ) && in->type[1] == T_F32)
		x = (f64)f32_flush((f32)x);
	return extended(in->type[0], whole_bits(in->type[0], to_whole(x, in)));
}

static u64 float_bits(Type t, f64 x, Rounding r)
{
	if (t == T_F64)
		return num_bits64(x);
	return t == T_F32 ? f32_bits(f32_round(x, r)) : round_to(x, format_of(t), r);
}

/* A 64-bit integer as f64 whose last bit is sticky, so that it can be rounded again. */
static f64 whole_odd(u64 v, bool negative)
{
	u64 mag = negative ? 0 - v : v;
	int shift = mag >> 53 ? 64 - __builtin_clzll(mag) - 53 : 0;
	u64 kept = mag >> shift;
	if (shift && mag & ((UINT64_C(1) << shift) - 1))
		kept |= 1;
	f64 x = ldexp((f64)kept, shift);
	return negative ? -x : x;
}

static f64 whole_double(u64 v, bool negative, Rounding r)
{
	s128 exact = negative ? (s64)v : (s128)v;
	f64 x = (f64)exact;
	return double_toward(x, (f64)(exact - (s128)x), r);
}

static u64 int_to_float(const Ins *in, u64 bits)
{
	Type to = in->type[0], from = in->type[1];
	Rounding r = rounding_of(in);
	u64 v = extended(from, bits);
	bool negative = type_class[from] == 'S' && (s64)v < 0;
	f64 x = to == T_F64 ? whole_double(v, negative, r) : whole_odd(v, negative);
	return float_bits(to, has(in, M_SAT) ? clamp01(x) : x, r);
}

static bool to_integer(const Ins *in)
{
	return has(in, M_RNI) || has(in, M_RZI) || has(in, M_RMI) || has(in, M_RPI);
}

static u64 float_to_float(const Ins *in, u64 v)
{
	Type to = in->type[0], from = in->type[1];
	f64 x = float_value(from, v);
	if (x != x && to == T_F32 && from == T_BF16)
		return v << 16;
	if (x != x && to == T_F32 && from == T_F64)
		return num_bits32((f32)x);
	if (has(in, M_FTZ) && from == T_F32)
		x = (f64)f32_flush((f32)x);
	if (to_integer(in))
		x = to_whole(x, in);
	if (has(in, M_SAT))
		x = clamp01(x);
	u64 r = float_bits(to, relu_of(in, x), to_integer(in) ? RND_NEAREST : rounding_of(in));
	if (has(in, M_FTZ) && to == T_F32)
		r = num_bits32(f32_flush(f32_of((u32)r)));
	return r;
}

RUN(cvt_int, EACH_SET(int_to_int(in, GET(1))))
RUN(cvt_f2i, EACH_SET(float_to_int(in, GET(1))))
RUN(cvt_i2f, EACH_SET(int_to_float(in, GET(1))))
RUN(cvt_f2f, EACH_SET(float_to_float(in, GET(1))))

static const NumFormat tf32_format = {8, 10, 0x3ffff, 0x3fbff, 0x3fc00};

/* As an H100 does: .rn makes one NaN of all, .rna cuts bits off, and an infinity of 0x7f800001. */
static u32 tf32_nan(f32 x, bool cut)
{
	return cut ? num_bits32(x) & 0xffffe000 : 0x7fffe000;
}

Run run_cvt_tf32(Warp *w, const Ins *in, u32 mask)
{
	bool nearest_even = has(in, M_RN), zero = has(in, M_RZ), relu = has(in, M_RELU);
	u32 *d = lanes(w, in, 0);
	const f32 *x = lanes(w, in, 1);
	LANES_DO(f32 v = relu && x[l] < 0 ? 0 : x[l];
		 if (v != v) d[l] = tf32_nan(v, !nearest_even && !zero);
		 else if (nearest_even || zero) d[l] =
			 round_to((f64)v, tf32_format, zero ? RND_ZERO : RND_NEAREST) << 13;
		 else d[l] = num_bits32(tf32_from_f32(v)));
	return RUN_NEXT;
}

/* d = both values in the format of its elements, side by side; h is the format of x's. */
static u32 pair(const Ins *in, f64 high, f64 low)
{
	NumFormat f = format_of(in->type[0]);
	u32 bits = 4u * type_bytes[in->type[0]];
	if (has(in, M_SATFINITE))
		f.over = f.max;
	return round_to(relu_of(in, high), f, rounding_of(in)) << bits |
	       round_to(relu_of(in, low), f, rounding_of(in));
}

#define PAIR_OF(TO, FROM, ...)                                         \
	do {                                                           \
		TO *d = lanes(w, in, 0);                               \
		const FROM *x = lanes(w, in, 1), *y = lanes(w, in, 2); \
		NumFormat h = format_of(in->type[1]);                  \
		(void)y, (void)h;                                      \
		LANES_DO(d[l] = (TO)(__VA_ARGS__));                    \
	} while (0)
#define PAIR(TO, FROM, HIGH, LOW) PAIR_OF(TO, FROM, pair(in, HIGH, LOW))

/* cvt.rn.bf16x2.f32 d, a, b: a in the upper half */
Run run_cvt_pack(Warp *w, const Ins *in, u32 mask)
{
	if (in->type[0] == T_BF16X2 && rounding_of(in) == RND_NEAREST && !has(in, M_RELU))
		PAIR_OF(u32, f32, (u32)bf16_from_f32(x[l]) << 16 | bf16_from_f32(y[l]));
	else
		PAIR(u32, f32, (f64)x[l], (f64)y[l]);
	return RUN_NEXT;
}

RUN(cvt_pack8, PAIR(u16, f32, (f64)x[l], (f64)y[l]))
RUN(cvt_half8, PAIR(u16, u32, num_unpack(x[l] >> 16, h), num_unpack(x[l] & 0xffff, h)))
RUN(cvt_8half, PAIR(u32, u16, num_unpack(x[l] >> 8, h), num_unpack(x[l] & 0xff, h)))

/* d = c << 2 n | a << n | b, of n bits each */
static u32 pack_int(const Ins *in, u64 a, u64 b, u32 c)
{
	Type to = in->type[0];
	u32 n = type_bytes[to] * 8u, low = (1u << n) - 1;
	u32 high = (u32)clamped(to, T_S32, extended(T_S32, a)) & low;
	return c << n << n | high << n | ((u32)clamped(to, T_S32, extended(T_S32, b)) & low);
}

RUN(cvt_pack_int, EACH_SET(pack_int(in, GET(1), GET(2), in->nargs == 4 ? (u32)GET(3) : 0)))
