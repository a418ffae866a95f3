/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* float.c - floating-point arithmetic of PTX (PTX ISA: Floating Point Instructions, Half Precision
 * Floating Point Instructions). f32 and f64 to nearest are the host's; everything else goes through
 * number.c. The approximate functions are computed in f64 and rounded, which is within their
 * bounds.
 */
#include "sim/lanes.h"
#include "sim/number.h"

#define CANON(x) f32_of(f32_bits(x))

static bool is_pair(const Ins *in)
{
	return in->type[0] == T_F16X2 || in->type[0] == T_BF16X2;
}

typedef enum { OP_ADD, OP_SUB, OP_MUL, OP_FMA } Op;

/* The result with a sticky last bit. */
static f64 odd(Op op, f64 x, f64 y, f64 z)
{
	if (op == OP_FMA)
		return fma_odd(x, y, z);
	return op == OP_MUL ? mul_odd(x, y) : add_odd(x, op == OP_SUB ? -y : y);
}

static f64 after(const Ins *in, f64 x)
{
	if (has(in, M_SAT))
		return clamp01(x);
	return has(in, M_RELU) && !(x > 0) && x == x ? 0 : x;
}

static f64 half_flush(f64 x, bool ftz)
{
	return ftz && fabs(x) < 0x1p-14 ? copysign(0.0, x) : x;
}

static u32 half_op(const Ins *in, Op op, NumFormat f, u32 a, u32 b, u32 c)
{
	a &= 0xffff;
	b &= 0xffff;
	c &= 0xffff;
	bool ftz = has(in, M_FTZ) && f.mbits == 10;
	f64 x = half_flush(num_unpack(a, f), ftz), y = half_flush(num_unpack(b, f), ftz);
	f64 r = half_flush(after(in, odd(op, x, y, half_flush(num_unpack(c, f), ftz))), ftz);
	return round_to(r, f, rounding_of(in));
}

static void halves_op(Warp *w, const Ins *in, u32 mask, Op op)
{
	NumFormat f = format_of(in->type[0]);
	EACH_LANE(l, mask)
	{
		u32 a = (u32)GET(1), b = (u32)GET(2), c = in->nargs > 3 ? (u32)GET(3) : 0;
		u32 r = half_op(in, op, f, a, b, c);
		if (is_pair(in))
			r |= half_op(in, op, f, a >> 16, b >> 16, c >> 16) << 16;
		arg_set(w, &in->args[0], l, r);
	}
}

/* Rounding down, terms that cancel give -0. */
static f64 zero_down(Op op, f64 x, f64 y, f64 z, f64 r)
{
	f64 a = op == OP_FMA ? x * y : x, b = op == OP_FMA ? z : op == OP_SUB ? -y : y;
	if (op == OP_MUL || signbit(a) == signbit(b))
		return r;
	return -0.0;
}

static f32 single_op(const Ins *in, Op op, f32 x, f32 y, f32 z)
{
	bool ftz = has(in, M_FTZ);
	if (ftz) {
		x = f32_flush(x);
		y = f32_flush(y);
		z = f32_flush(z);
	}
	f64 exact = odd(op, (f64)x, (f64)y, (f64)z);
	f32 r = f32_round(exact, rounding_of(in));
	if (exact == 0 && rounding_of(in) == RND_DOWN)
		r = (f32)zero_down(op, (f64)x, (f64)y, (f64)z, (f64)r);
	if (has(in, M_SAT))
		r = (f32)clamp01((f64)r);
	return ftz ? f32_flush(r) : r;
}

/* The sign of x y - p, without underflow on the way. */
static f64 product_rest(f64 x, f64 y, f64 p)
{
	int ex, ey;
	f64 mx = frexp(x, &ex), my = frexp(y, &ey);
	return fma(mx, my, -ldexp(p, -ex - ey));
}

static f64 double_op(const Ins *in, Op op, f64 x, f64 y, f64 z)
{
	if (op == OP_SUB)
		y = -y;
	bool sum = op == OP_ADD || op == OP_SUB;
	f64 near = sum ? x + y : op == OP_MUL ? x * y : fma(x, y, z);
	Rounding mode = rounding_of(in);
	bool finite = isfinite(x) && isfinite(y) && (isfinite(z) || op != OP_FMA);
	if (mode == RND_NEAREST || !finite)
		return near;
	if (near == 0 && mode == RND_DOWN && (sum || x * y == -z))
		return zero_down(sum ? OP_ADD : op, x, y, z, near);
	return double_toward(near,
			     sum            ? add_rest(x, y, near)
			     : op == OP_MUL ? product_rest(x, y, near)
					    : fma_rest(x, y, z, near),
			     mode);
}

/* All operands but the last are of 16 bits. PTX ISA: Mixed Precision Floating Point Instructions */
static void mixed_op(Warp *w, const Ins *in, u32 mask, Op op)
{
	f32 x[3] = {0}, *d = lanes(w, in, 0);
	int last = in->nargs - 2;
	EACH_LANE(l, mask)
	{
		for (int i = 0; i < last; i++)
			x[i] = (f32)float_value(in->type[1], GET(1 + i));
		x[last] = ((const f32 *)lanes(w, in, 1 + last))[l];
		d[l] = CANON(single_op(in, op, x[0], x[1], x[2]));
	}
}

static Run any_op(Warp *w, const Ins *in, u32 mask, Op op)
{
	if (in->type[1])
		mixed_op(w, in, mask, op);
	else if (in->type[0] == T_F32)
		OP3(f32, CANON(single_op(in, op, x[l], y[l], z[l])));
	else if (in->type[0] == T_F64)
		OP3(f64, double_op(in, op, x[l], y[l], z[l]));
	else
		halves_op(w, in, mask, op);
	return RUN_NEXT;
}

/* f32, to nearest, nothing flushed or clamped: what the host does by itself. */
static bool plain(const Ins *in)
{
	return in->type[0] == T_F32 && !in->type[1] && !has(in, M_FTZ) && !has(in, M_SAT) &&
	       !has(in, M_RZ) && !has(in, M_RM) && !has(in, M_RP);
}

#define PLAIN(name, OP, id)                              \
	Run run_##name(Warp *w, const Ins *in, u32 mask) \
	{                                                \
		if (!plain(in))                          \
			return any_op(w, in, mask, id);  \
		OP2(f32, CANON(x[l] OP y[l]));           \
		return RUN_NEXT;                         \
	}

PLAIN(fadd, +, OP_ADD)
PLAIN(fsub, -, OP_SUB)
PLAIN(fmul, *, OP_MUL)

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void fma_lanes(f32 *d, const f32 *x, const f32 *y,
							  const f32 *z)
{
	for (u32 l = 0; l < LANES; l++)
		d[l] = CANON(__builtin_fmaf(x[l], y[l], z[l]));
}
static bool fma_fast(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
static void fma_lanes(f32 *d, const f32 *x, const f32 *y, const f32 *z)
{
	for (u32 l = 0; l < LANES; l++)
		d[l] = CANON(fmaf(x[l], y[l], z[l]));
}
static bool fma_fast(void)
{
	return true;
}
#endif

Run run_fma(Warp *w, const Ins *in, u32 mask)
{
	if (!plain(in) || has(in, M_RELU))
		return any_op(w, in, mask, OP_FMA);
	if (mask == FULL && fma_fast())
		fma_lanes(lanes(w, in, 0), lanes(w, in, 1), lanes(w, in, 2), lanes(w, in, 3));
	else
		OP3(f32, CANON(fmaf(x[l], y[l], z[l])));
	return RUN_NEXT;
}

static f32 divide32(const Ins *in, f32 x, f32 y)
{
	bool ftz = has(in, M_FTZ);
	if (ftz) {
		x = f32_flush(x);
		y = f32_flush(y);
	}
	f64 q = (f64)x / (f64)y;
	/* the remainder's sign tells which side of q the exact quotient is on */
	if (isfinite(q) && q != 0)
		q = num_double(num_bits64(q) | (fma(q, (f64)y, -(f64)x) != 0));
	f32 r = f32_round(q, rounding_of(in));
	return ftz ? f32_flush(r) : r;
}

/* The sign of x / y - q, without under- or overflow on the way. */
static f64 quotient_rest(f64 x, f64 y, f64 q)
{
	int ex, ey, eq;
	f64 mx = frexp(x, &ex), my = frexp(y, &ey), mq = frexp(q, &eq);
	if (q == 0)
		return x == 0 ? 0 : copysign(1.0, x) * copysign(1.0, y);
	return -fma(mq, my, -ldexp(mx, ex - ey - eq)) * copysign(1.0, y);
}

static f64 divide64(const Ins *in, f64 x, f64 y)
{
	f64 q = x / y;
	if (q != q || !isfinite(x) || !isfinite(y) || y == 0)
		return q;
	return double_toward(q, quotient_rest(x, y, q), rounding_of(in));
}

Run run_fdiv(Warp *w, const Ins *in, u32 mask)
{
	if (in->type[0] == T_F32)
		OP2(f32, CANON(divide32(in, x[l], y[l])));
	else
		OP2(f64, divide64(in, x[l], y[l]));
	return RUN_NEXT;
}

/* Sign bits of each element of the type. */
static u64 sign_bits(const Ins *in)
{
	u64 top = UINT64_C(1) << (8 * type_bytes[in->type[0]] - 1);
	return is_pair(in) ? top | top >> 16 : top;
}

static u64 flushed(const Ins *in, u64 v)
{
	if (in->type[0] != T_F32)
		return v;
	f32 x = f32_of((u32)v);
	return has(in, M_FTZ) ? num_bits32(f32_flush(x)) : (u32)v;
}

/* NaN becomes the canonical one, of f64 alone it stays. */
static u64 canonical(const Ins *in, u64 v)
{
	u32 most = format_of(in->type[0]).over;
	if (in->type[0] == T_F32)
		return f32_bits(f32_of((u32)v));
	if (in->type[0] == T_F64)
		return v;
	if ((v & 0x7fff) > most)
		v = (v & ~UINT64_C(0xffff)) | 0x7fff;
	if (type_bytes[in->type[0]] == 4 && (v >> 16 & 0x7fff) > most)
		v = (v & 0xffff) | 0x7fff0000;
	return v;
}

RUN(fabs, u64 sign = sign_bits(in); EACH_SET(canonical(in, flushed(in, GET(1))) & ~sign))
RUN(fneg, u64 sign = sign_bits(in); EACH_SET(canonical(in, flushed(in, GET(1)) ^ sign)))
/* NaN loses, unless .NaN; -0 is below +0. */
static f64 extreme(const Ins *in, f64 x, f64 y, bool max)
{
	if (x != x || y != y) {
		if (has(in, M_PROPAGATE) || (x != x && y != y))
			return NAN;
		return x != x ? y : x;
	}
	if (x == y)
		return signbit(x) == max ? y : x;
	return (x < y) == max ? y : x;
}

static f64 extreme_mods(const Ins *in, f64 x, f64 y, bool max)
{
	if (!has(in, M_XORSIGN))
		return extreme(in, x, y, max);
	bool sign = signbit(x) != signbit(y);
	f64 r = fabs(extreme(in, fabs(x), fabs(y), max));
	return sign ? -r : r;
}

/* OP by type: the expression of f64, of f32, of the low or only half, of the high half. */
#define BY_FLOAT(OP, DOUBLE, SINGLE, LOW, UPPER) \
	if (in->type[0] == T_F64)                \
		OP(f64, DOUBLE);                 \
	else if (in->type[0] == T_F32)           \
		OP(f32, CANON((f32)(SINGLE)));   \
	else if (type_bytes[in->type[0]] == 2)   \
		OP(u16, LOW);                    \
	else                                     \
		OP(u32, (LOW) | (UPPER) << 16)

static u32 half_extreme(const Ins *in, NumFormat f, u32 a, u32 b, bool max)
{
	return num_pack(extreme_mods(in, num_unpack(a & 0xffff, f), num_unpack(b & 0xffff, f), max),
			f);
}

static Run extremes(Warp *w, const Ins *in, u32 mask, bool max)
{
	bool ftz = has(in, M_FTZ);
	NumFormat f = format_of(in->type[0]);
	BY_FLOAT(OP2, extreme_mods(in, x[l], y[l], max),
		 extreme_mods(in, (f64)(ftz ? f32_flush(x[l]) : x[l]),
			      (f64)(ftz ? f32_flush(y[l]) : y[l]), max),
		 half_extreme(in, f, x[l], y[l], max),
		 half_extreme(in, f, x[l] >> 16, y[l] >> 16, max));
	return RUN_NEXT;
}

RUN(fmin, return extremes(w, in, mask, false))
RUN(fmax, return extremes(w, in, mask, true))

enum { MATH_RCP, MATH_SQRT, MATH_RSQRT, MATH_SIN, MATH_COS, MATH_LG2, MATH_EX2, MATH_TANH };

void prepare_math(Pool *a, Ins *in)
{
	static const char *const names[] = {"rcp", "sqrt", "rsqrt", "sin",
					    "cos", "lg2",  "ex2",   "tanh"};
	(void)a;
	for (u32 i = 0; i < SIM_COUNT(names); i++)
		if (opcode_word_is(in, 0, names[i]))
			in->extra = i;
}

static f64 math(u32 f, f64 x)
{
	switch (f) {
	case MATH_RCP:
		return 1 / x;
	case MATH_SQRT:
		return sqrt(x);
	case MATH_RSQRT:
		return 1 / sqrt(x);
	case MATH_SIN:
		return sin(x);
	case MATH_COS:
		return cos(x);
	case MATH_LG2:
		return log2(x);
	case MATH_EX2:
		return exp2(x);
	default:
		return tanh(x);
	}
}

/* The sticky bit for the two that round as asked. */
static f64 math_exact(u32 f, f64 x)
{
	f64 r = math(f, x);
	if (f > MATH_SQRT || !isfinite(r) || r == 0)
		return r;
	f64 rest = f == MATH_RCP ? fma(r, x, -1) : fma(r, r, -x);
	return num_double(num_bits64(r) | (rest != 0));
}

static f32 math32(const Ins *in, f32 x)
{
	bool ftz = has(in, M_FTZ);
	f32 r = f32_round(math_exact(in->extra, (f64)(ftz ? f32_flush(x) : x)), rounding_of(in));
	return ftz ? f32_flush(r) : r;
}

static f64 math64(const Ins *in, f64 x)
{
	f64 r = math(in->extra, x);
	if (!isfinite(r) || isinf(x) || in->extra > MATH_SQRT)
		return r;
	f64 rest = in->extra == MATH_RCP ? quotient_rest(1, x, r) : -product_rest(r, r, x);
	return double_toward(r, rest, rounding_of(in));
}

static u32 math_half(const Ins *in, NumFormat f, u32 x)
{
	return num_pack(math(in->extra, num_unpack(x & 0xffff, f)), f);
}

Run run_fmath(Warp *w, const Ins *in, u32 mask)
{
	NumFormat f = format_of(in->type[0]);
	BY_FLOAT(OP1, math64(in, x[l]), math32(in, x[l]), math_half(in, f, x[l]),
		 math_half(in, f, x[l] >> 16));
	return RUN_NEXT;
}

/* copysign.f32 d, a, b: b with the sign of a */
RUN(copysign, u64 sign = sign_bits(in); EACH_SET((GET(2) & ~sign) | (GET(1) & sign)))

static bool test(const Ins *in, f64 x, f64 least)
{
	if (has(in, M_FINITE))
		return isfinite(x);
	if (has(in, M_INFINITE))
		return isinf(x);
	if (has(in, M_NUMBER))
		return x == x;
	if (has(in, M_NOTANUMBER))
		return x != x;
	bool small = fabs(x) < least && x != 0;
	return has(in, M_SUBNORMAL) ? small : isfinite(x) && !small && x != 0;
}

Run run_testp(Warp *w, const Ins *in, u32 mask)
{
	f64 least = in->type[0] == T_F64 ? 0x1p-1022 : 0x1p-126;
	u32 r = 0;
	EACH_BIT(r, test(in, float_value(in->type[0], GET(1)), least));
	pred_set(w, &in->args[0], mask, r);
	return RUN_NEXT;
}
