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
Run run_cvt_int(Warp *w, const Ins *in, u32 mask)
{
	Type to = in->type[0], from = in->type[1];
	bool sat = has(in, M_SAT);
	EACH_LANE(l, mask)
	{
		u64 v = extended(from, arg_get(w, &in->args[1], l));
		arg_set(w, &in->args[0], l, extended(to, sat ? clamped(to, from, v) : v));
	}
	return RUN_NEXT;
}

static f64 value_of(Type t, u64 v)
{
	switch (t) {
	case T_F16:
		return f16_value((u32)v);
	case T_BF16:
		return bf16_value((u32)v);
	case T_F32:
		return (f64)f32_of((u32)v);
	default:
		return num_double(v);
	}
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

Run run_cvt_f2i(Warp *w, const Ins *in, u32 mask)
{
	Type to = in->type[0], from = in->type[1];
	EACH_LANE(l, mask)
	{
		f64 x = value_of(from, arg_get(w, &in->args[1], l));
		if (has(in, M_FTZ) && from == T_F32)
			x = (f64)f32_flush((f32)x);
		arg_set(w, &in->args[0], l, extended(to, whole_bits(to, to_whole(x, in))));
	}
	return RUN_NEXT;
}

static u64 float_bits(Type t, f64 x, Rounding r)
{
	switch (t) {
	case T_F16:
		return round_to(x, NUM_F16, r);
	case T_BF16:
		return round_to(x, NUM_BF16, r);
	case T_F32:
		return f32_bits(f32_round(x, r));
	default:
		return num_bits64(x);
	}
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
	f64 x = negative ? (f64)(s64)v : (f64)v, odd = whole_odd(v, negative);
	if (r == RND_NEAREST || fabs(x) < 0x1p53)
		return x;
	u64 mag = negative ? 0 - v : v, got = x >= 0x1p64 ? 0 : (u64)fabs(x);
	bool above = got > mag || fabs(x) >= 0x1p64, exact = got == mag && fabs(x) < 0x1p64;
	f64 low = above ? nextafter(fabs(x), 0) : fabs(x);
	f64 high = above || exact ? fabs(x) : nextafter(fabs(x), INFINITY);
	(void)odd;
	bool up = r == RND_UP ? !negative : r == RND_DOWN ? negative : false;
	return copysign(exact ? fabs(x) : up ? high : low, x);
}

Run run_cvt_i2f(Warp *w, const Ins *in, u32 mask)
{
	Type to = in->type[0], from = in->type[1];
	Rounding r = rounding_of(in);
	EACH_LANE(l, mask)
	{
		u64 v = extended(from, arg_get(w, &in->args[1], l));
		bool negative = type_class[from] == 'S' && (s64)v < 0;
		f64 x = to == T_F64 ? whole_double(v, negative, r) : whole_odd(v, negative);
		if (has(in, M_SAT))
			x = x > 0 ? (x < 1 ? x : 1) : 0;
		arg_set(w, &in->args[0], l, float_bits(to, x, r));
	}
	return RUN_NEXT;
}

static bool to_integer(const Ins *in)
{
	return has(in, M_RNI) || has(in, M_RZI) || has(in, M_RMI) || has(in, M_RPI);
}

static u64 f2f(const Ins *in, u64 v)
{
	Type to = in->type[0], from = in->type[1];
	f64 x = value_of(from, v);
	if (x != x && to == T_F32 && from == T_BF16)
		return v << 16;
	if (x != x && to == T_F32 && from == T_F64)
		return num_bits32((f32)x);
	if (has(in, M_FTZ) && from == T_F32)
		x = (f64)f32_flush((f32)x);
	if (to_integer(in))
		x = to_whole(x, in);
	if (has(in, M_SAT))
		x = x > 0 ? (x < 1 ? x : 1) : 0;
	if (has(in, M_RELU) && x <= 0)
		x = 0;
	u64 r = float_bits(to, x, to_integer(in) ? RND_NEAREST : rounding_of(in));
	if (has(in, M_FTZ) && to == T_F32)
		r = num_bits32(f32_flush(f32_of((u32)r)));
	return r;
}

Run run_cvt_f2f(Warp *w, const Ins *in, u32 mask)
{
	EACH_LANE(l, mask)
	arg_set(w, &in->args[0], l, f2f(in, arg_get(w, &in->args[1], l)));
	return RUN_NEXT;
}

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

static f64 relu_of(const Ins *in, f64 x)
{
	return has(in, M_RELU) && x <= 0 ? 0 : x;
}

/* cvt.rn.bf16x2.f32 d, a, b: a in the upper half */
Run run_cvt_pack(Warp *w, const Ins *in, u32 mask)
{
	u32 *d = lanes(w, in, 0);
	const f32 *x = lanes(w, in, 1), *y = lanes(w, in, 2);
	Rounding r = rounding_of(in);
	if (in->type[0] == T_BF16X2 && r == RND_NEAREST && !has(in, M_RELU)) {
		LANES_DO(d[l] = (u32)bf16_from_f32(x[l]) << 16 | bf16_from_f32(y[l]));
		return RUN_NEXT;
	}
	NumFormat f = in->type[0] == T_BF16X2 ? NUM_BF16 : NUM_F16;
	if (has(in, M_SATFINITE))
		f.over = f.max;
	LANES_DO(d[l] = round_to(relu_of(in, (f64)x[l]), f, r) << 16 |
			round_to(relu_of(in, (f64)y[l]), f, r));
	return RUN_NEXT;
}

/* d = c << 2 n | a << n | b, of n bits each */
Run run_cvt_pack_int(Warp *w, const Ins *in, u32 mask)
{
	Type to = in->type[0];
	u32 n = type_bytes[to] * 8u, low = (1u << n) - 1;
	EACH_LANE(l, mask)
	{
		u64 a = clamped(to, T_S32, extended(T_S32, arg_get(w, &in->args[1], l)));
		u64 b = clamped(to, T_S32, extended(T_S32, arg_get(w, &in->args[2], l)));
		u32 r = ((u32)a & low) << n | ((u32)b & low);
		if (in->nargs == 4)
			r |= (u32)arg_get(w, &in->args[3], l) << 2 * n;
		arg_set(w, &in->args[0], l, r);
	}
	return RUN_NEXT;
}

static NumFormat format8(Type t)
{
	return t == T_E4M3X2 ? NUM_E4M3 : NUM_E5M2;
}

Run run_cvt_pack8(Warp *w, const Ins *in, u32 mask)
{
	u16 *d = lanes(w, in, 0);
	const f32 *x = lanes(w, in, 1), *y = lanes(w, in, 2);
	NumFormat f = format8(in->type[0]);
	LANES_DO(d[l] = (u16)(num_pack(relu_of(in, (f64)x[l]), f) << 8 |
			      num_pack(relu_of(in, (f64)y[l]), f)));
	return RUN_NEXT;
}

Run run_cvt_half8(Warp *w, const Ins *in, u32 mask)
{
	u16 *d = lanes(w, in, 0);
	const u32 *x = lanes(w, in, 1);
	NumFormat f = format8(in->type[0]), h = in->type[1] == T_F16X2 ? NUM_F16 : NUM_BF16;
	LANES_DO(d[l] = (u16)(num_pack(relu_of(in, num_unpack(x[l] >> 16, h)), f) << 8 |
			      num_pack(relu_of(in, num_unpack(x[l] & 0xffff, h)), f)));
	return RUN_NEXT;
}

Run run_cvt_8half(Warp *w, const Ins *in, u32 mask)
{
	u32 *d = lanes(w, in, 0);
	const u16 *x = lanes(w, in, 1);
	NumFormat f = format8(in->type[1]), h = in->type[0] == T_F16X2 ? NUM_F16 : NUM_BF16;
	LANES_DO(d[l] = num_pack(relu_of(in, num_unpack(x[l] >> 8, f)), h) << 16 |
			num_pack(relu_of(in, num_unpack(x[l] & 0xff, f)), h));
	return RUN_NEXT;
}
