/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* number.c - rounding by hand. A value is first made with a sticky last bit (round to odd), which
 * makes any later rounding to fewer bits right (Boldo and Melquiond 2008). */
#include "sim/number.h"
#include "sim/machine.h"

Rounding rounding_of(const Ins *in)
{
	if (has(in, M_RZ) || has(in, M_RZI))
		return RND_ZERO;
	if (has(in, M_RM) || has(in, M_RMI))
		return RND_DOWN;
	return has(in, M_RP) || has(in, M_RPI) ? RND_UP : RND_NEAREST;
}

NumFormat format_of(Type t)
{
	switch (t) {
	case T_BF16:
	case T_BF16X2:
		return NUM_BF16;
	case T_E4M3X2:
		return NUM_E4M3;
	case T_E5M2X2:
		return NUM_E5M2;
	default:
		return NUM_F16;
	}
}

f64 float_value(Type t, u64 bits)
{
	if (t == T_F64)
		return num_double(bits);
	return t == T_F32 ? (f64)f32_of((u32)bits) : num_unpack(bits & 0xffff, format_of(t));
}

f64 clamp01(f64 x)
{
	return x > 0 ? (x < 1 ? x : 1) : 0;
}

f64 relu_of(const Ins *in, f64 x)
{
	return has(in, M_RELU) && x <= 0 ? 0 : x;
}

/* hi + lo where |lo| is below half a unit of hi: hi, odd when lo is not 0. */
static f64 make_odd(f64 hi, f64 lo)
{
	u64 u = num_bits64(hi);
	if (lo == 0 || !isfinite(hi) || u & 1)
		return hi;
	bool away = (lo > 0) == (hi > 0);
	if (hi == 0)
		return lo;
	return num_double(away ? u | 1 : u - 1);
}

f64 add_rest(f64 a, f64 b, f64 s)
{
	f64 t = s - a;
	return (a - (s - t)) + (b - t);
}

f64 add_odd(f64 a, f64 b)
{
	f64 s = a + b;
	return isfinite(s) ? make_odd(s, add_rest(a, b, s)) : s;
}

f64 mul_odd(f64 a, f64 b)
{
	f64 p = a * b;
	return isfinite(p) ? make_odd(p, fma(a, b, -p)) : p;
}

/* Error of fma after Boldo and Muller: exact where nothing under- or overflows. */
f64 fma_odd(f64 a, f64 b, f64 c)
{
	f64 r = fma(a, b, c);
	if (!isfinite(r))
		return r;
	return make_odd(r, fma_rest(a, b, c, r));
}

/* The same where the product or the result is so small that error terms underflow. */
static f64 fma_rest_small(f64 a, f64 b, f64 c, f64 r)
{
	if (a == 0 || b == 0)
		return 0;
	if (r == c)
		return copysign(1.0, a) * copysign(1.0, b);
	f64 x = fabs(a) < fabs(b) ? ldexp(a, 500) : a, y = fabs(a) < fabs(b) ? b : ldexp(b, 500);
	f64 p = x * y, q = fma(x, y, -p), sc = ldexp(c, 500), sr = ldexp(r, 500);
	return fabs(p) > fabs(sc) ? ((p - sr) + sc) + q : ((sc - sr) + p) + q;
}

f64 fma_rest(f64 a, f64 b, f64 c, f64 r)
{
	f64 p = a * b, q = fma(a, b, -p); /* p + q = a b */
	if (fabs(p) < 0x1p-900 && (r == c || fabs(r) < 0x1p-900))
		return fma_rest_small(a, b, c, r);
	f64 s = c + q, ts = s - c, es = (c - (s - ts)) + (q - ts);
	f64 v = p + s, tv = v - p, ev = (p - (v - tv)) + (s - tv);
	return ((v - r) + ev) + es;
}

/* The two neighbours of x in f that enclose it, toward zero and away, as magnitudes. */
u32 round_to(f64 x, NumFormat f, Rounding r)
{
	if (r == RND_NEAREST || x != x || isinf(x))
		return num_pack(x, f);
	u32 sign = signbit(x) ? 1u << (f.ebits + f.mbits) : 0;
	f64 mag = fabs(x);
	u32 near = num_pack(mag, f);
	if (near > f.max)
		near = f.max;
	if (num_unpack(near, f) > mag)
		near--;
	bool away = r == (sign ? RND_DOWN : RND_UP) && num_unpack(near, f) < mag;
	if (away && near == f.max)
		return sign | f.over;
	return sign | (near + away);
}

f32 f32_round(f64 x, Rounding r)
{
	f32 n = (f32)x;
	if (r == RND_NEAREST || x != x || isinf(x) || (f64)n == x)
		return n;
	f32 low = (f64)n > x ? nextafterf(n, -INFINITY) : n;
	f32 high = (f64)n < x ? nextafterf(n, INFINITY) : n;
	if (r == RND_ZERO)
		return x > 0 ? low : high;
	return r == RND_DOWN ? low : high;
}

f64 double_toward(f64 r, f64 rest, Rounding mode)
{
	if (mode == RND_NEAREST || r != r)
		return r;
	if (isinf(r))
		return mode == RND_ZERO || mode == (r > 0 ? RND_DOWN : RND_UP) ? nextafter(r, 0)
									       : r;
	if (rest == 0)
		return r;
	bool above = rest > 0;
	if (mode == RND_UP)
		return above ? nextafter(r, INFINITY) : r;
	if (mode == RND_DOWN)
		return above ? r : nextafter(r, -INFINITY);
	return r == 0 || above == (r > 0) ? r : nextafter(r, 0);
}
