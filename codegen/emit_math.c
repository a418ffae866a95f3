/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_math.c - the functions of elementwise.def, with the errors that it states. What no one
 * instruction computes is made of ex2.approx, rcp.approx, fma and polynomials, fitted to the least
 * relative error (tests/functions/fit.py) over the range that each names.
 *     exp(x) = 2^t (1 + h ln 2),  t = x log2 e rounded, h what that leaves */
#include "codegen/cg.h"

#include <math.h>

typedef LLVMValueRef V;

enum { COEFFICIENTS = 10 };

typedef struct {
	double at[COEFFICIENTS]; /* of x^0, x^1, ... */
	int n;
} Poly;

/* (log(1 + x) - x + x^2 / 2) / x^3 on -1/3 .. 1/3 */
static const Poly log_poly = {{0x1.555558p-2, -0x1.ffff0ep-3, 0x1.9995f6p-3, -0x1.55993ap-3,
			       0x1.25207ap-3, -0x1.f384cep-4, 0x1.b4b0e8p-4, -0x1.071bf0p-3,
			       0x1.fa2da0p-4},
			      9};
/* (tanh(x) - x) / x^3, of x^2 on 0 .. 0.36 */
static const Poly tanh_poly = {{-0x1.55553ep-2, 0x1.1109dcp-3, -0x1.b89ed8p-5, 0x1.54e016p-6,
				-0x1.830beep-8},
			       5};
/* (atanh(s) - s - s^3 / 3) / s^5, of s^2 on 0 .. 0.04 */
static const Poly atanh_poly = {{0x1.999996p-3, 0x1.24954ap-3, 0x1.c5ac0ap-4, 0x1.98c33ep-4}, 4};
/* log(1 + x) / x on 0 .. 1 */
static const Poly log1p_poly = {{0x1.000000p+0, -0x1.ffffbep-2, 0x1.554c80p-2, -0x1.ff0f86p-3,
				 0x1.92f68ep-3, -0x1.39754cp-3, 0x1.b25316p-4, -0x1.d29c38p-5,
				 0x1.453e72p-6, -0x1.a93252p-9},
				10};
/* erf(x) / x, of x^2 on 0 .. 0.81 */
static const Poly erf_poly = {{0x1.20dd76p+0, -0x1.812744p-2, 0x1.ce2e54p-4, -0x1.b81524p-6,
			       0x1.550a44p-8, -0x1.aca392p-11, 0x1.6510c0p-14},
			      7};
/* P(normal > t) exp(t^2 / 2) / u, of u = 1 / (1 + 0.3 t) where t is 0 .. 14.5 */
static const Poly tail_poly = {{0x1.ea3ca6p-4, 0x1.e9c312p-4, 0x1.c38ef0p-4, 0x1.40eda4p-4,
				0x1.8a4c46p-4, -0x1.461da4p-4, 0x1.893da4p-3, -0x1.d3b8aap-3,
				0x1.ccd14ep-4, -0x1.5218c4p-6},
			       10};

static const double log2_e = 0x1.715476p+0, log2_e_low = 0x1.4ae0cp-26; /* their sum is log2 e */
static const double third = 0x1.555556p-2, third_low = -0x1.555556p-27;
static const double ln_2 = 0x1.62e43p-1, ln_2_low = -0x1.05c61p-29, most = 0x1.fffffep+127;

/* ------------------------------------------------------------------ words */
static V num(Cg *g, double x)
{
	return LLVMConstReal(g->m->f32, x);
}

/* Of the type of another. */
static V like(V of, double x)
{
	return LLVMConstReal(LLVMTypeOf(of), x);
}

static V add(Cg *g, V a, V b)
{
	return LLVMBuildFAdd(g->b, a, b, "");
}

static V sub(Cg *g, V a, V b)
{
	return LLVMBuildFSub(g->b, a, b, "");
}

static V mul(Cg *g, V a, V b)
{
	return LLVMBuildFMul(g->b, a, b, "");
}

static V neg(Cg *g, V a)
{
	return LLVMBuildFNeg(g->b, a, "");
}

static V fma_of(Cg *g, V a, V b, V c)
{
	V x[3] = {a, b, c};
	return cg_call(g, "llvm.fma", LLVMTypeOf(a), x, 3);
}

static V least(Cg *g, V a, V b)
{
	V x[2] = {a, b};
	return cg_call(g, "llvm.minnum", LLVMTypeOf(a), x, 2);
}

static V largest(Cg *g, V a, V b)
{
	V x[2] = {a, b};
	return cg_call(g, "llvm.maxnum", LLVMTypeOf(a), x, 2);
}

static V size_of(Cg *g, V a)
{
	return cg_call(g, "llvm.fabs", LLVMTypeOf(a), &a, 1);
}

static V signed_as(Cg *g, V size, V sign)
{
	V x[2] = {size, sign};
	return cg_call(g, "llvm.copysign", g->m->f32, x, 2);
}

static V power_of_2(Cg *g, V a)
{
	return cg_call(g, "llvm.nvvm.ex2.approx", g->m->f32, &a, 1);
}

/* 0 in place of what is subnormal */
static V normal_power_of_2(Cg *g, V a)
{
	return cg_call(g, "llvm.nvvm.ex2.approx.ftz", g->m->f32, &a, 1);
}

static V inverse(Cg *g, V a)
{
	return cg_call(g, "llvm.nvvm.rcp.approx.ftz.f", NULL, &a, 1);
}

static V is(Cg *g, LLVMRealPredicate how, V a, V b)
{
	return LLVMBuildFCmp(g->b, how, a, b, "");
}

static V either(Cg *g, V some, V then, V otherwise)
{
	return LLVMBuildSelect(g->b, some, then, otherwise, "");
}

/* x, where a factor vanishes as x goes to an end: the product does too */
static V finite(Cg *g, V x)
{
	return largest(g, least(g, x, num(g, most)), num(g, -most));
}

static V poly(Cg *g, const Poly *p, V x)
{
	V sum = num(g, p->at[p->n - 1]);
	for (int i = p->n - 2; i >= 0; i--)
		sum = fma_of(g, sum, x, num(g, p->at[i]));
	return sum;
}

/* ------------------------------------------------------------------ instructions */
#define VALUE(name, of)             \
	V value_##name(Cg *g, V *x) \
	{                           \
		return of;          \
	}
VALUE(NEG, neg(g, x[0]))
VALUE(ABS, size_of(g, x[0]))
VALUE(ADD, add(g, x[0], x[1]))
VALUE(SUB, sub(g, x[0], x[1]))
VALUE(MUL, mul(g, x[0], x[1]))
VALUE(DIV, LLVMBuildFDiv(g->b, x[0], x[1], ""))
VALUE(MIN, least(g, x[0], x[1]))
VALUE(MAX, largest(g, x[0], x[1]))
VALUE(FMA, fma_of(g, x[0], x[1], x[2]))

V value_SQRT(Cg *g, V *x)
{
	bool wide = LLVMTypeOf(x[0]) != g->m->f32;
	return cg_call(g, wide ? "llvm.nvvm.sqrt.rn.d" : "llvm.nvvm.sqrt.rn.f", NULL, x, 1);
}

VALUE(RSQRT, cg_call(g, "llvm.nvvm.rsqrt.approx.f", NULL, x, 1))
VALUE(EXP2, power_of_2(g, x[0]))
VALUE(EXP2_APPROX, normal_power_of_2(g, x[0]))

/* max.f32 gives the operand that is a number, and 0 of the two zeros that is not negative. */
VALUE(RELU, largest(g, x[0], like(x[0], 0)))

/* ------------------------------------------------------------------ exponentials */
/* 2^(t + h), where h is what t was rounded by. For infinite t, h is no number: 1 does as well. */
static V power_of_2_sum(Cg *g, V t, V h)
{
	V y = power_of_2(g, t);
	h = largest(g, least(g, h, num(g, 1)), num(g, -1));
	return fma_of(g, least(g, y, num(g, most)), mul(g, h, num(g, ln_2)), y);
}

static V exp_of(Cg *g, V x)
{
	V t = mul(g, x, num(g, log2_e));
	V h = fma_of(g, x, num(g, log2_e), neg(g, t));
	return power_of_2_sum(g, t, fma_of(g, x, num(g, log2_e_low), h));
}

/* 1 / (1 + exp(-x)) and 1 / (1 + exp(x)), neither with cancellation */
typedef struct {
	V of_x, of_minus_x;
} Logistic;

static Logistic logistic(Cg *g, V x)
{
	V e = exp_of(g, neg(g, size_of(g, x)));
	V large = inverse(g, add(g, num(g, 1), e)), small = mul(g, e, large);
	V below = is(g, LLVMRealOLT, x, num(g, 0));
	return (Logistic){either(g, below, small, large), either(g, below, large, small)};
}

VALUE(EXP, exp_of(g, x[0]))
VALUE(SIGMOID, logistic(g, x[0]).of_x)

V value_DSIGMOID(Cg *g, V *x)
{
	Logistic s = logistic(g, x[0]);
	return mul(g, s.of_x, s.of_minus_x);
}

VALUE(SILU, mul(g, largest(g, x[0], num(g, -most)), logistic(g, x[0]).of_x))

V value_DSILU(Cg *g, V *x)
{
	Logistic s = logistic(g, x[0]);
	return mul(g, s.of_x, fma_of(g, finite(g, x[0]), s.of_minus_x, num(g, 1)));
}

V value_TANH(Cg *g, V *x)
{
	V size = size_of(g, x[0]), square = mul(g, x[0], x[0]);
	V small = fma_of(g, mul(g, x[0], square), poly(g, &tanh_poly, square), x[0]);
	V e = exp_of(g, mul(g, size, num(g, 2)));
	V large = fma_of(g, num(g, -2), inverse(g, add(g, e, num(g, 1))), num(g, 1));
	V near = is(g, LLVMRealOLT, size, num(g, 0.55));
	return either(g, near, small, signed_as(g, large, x[0]));
}

V value_TANH_APPROX(Cg *g, V *x)
{
	V y = cg_call(g, "llvm.tanh", g->m->f32, x, 1);
	LLVMSetFastMathFlags(y, LLVMFastMathApproxFunc);
	return y;
}

/* 4 s(2x) s(-2x) */
V value_DTANH(Cg *g, V *x)
{
	Logistic s = logistic(g, mul(g, x[0], num(g, 2)));
	return mul(g, mul(g, num(g, 4), s.of_x), s.of_minus_x);
}

V value_SOFTPLUS(Cg *g, V *x)
{
	V e = exp_of(g, neg(g, size_of(g, x[0])));
	V above = either(g, is(g, LLVMRealOLT, x[0], num(g, 0)), num(g, 0), x[0]);
	return fma_of(g, e, poly(g, &log1p_poly, e), above);
}

/* ------------------------------------------------------------------ logarithms */
/* x = 2^power (1 + rest) with 1 + rest in 2/3 .. 4/3 */
typedef struct {
	V power, rest;
} Parts;

static Parts parts_of(Cg *g, V x)
{
	LLVMTypeRef i32 = g->m->i32;
	V tiny = is(g, LLVMRealOLT, x, num(g, 0x1p-126));
	x = either(g, tiny, mul(g, x, num(g, 0x1p23)), x);
	V bits = LLVMBuildBitCast(g->b, x, i32, "");
	V above = LLVMBuildSub(g->b, bits, LLVMConstInt(i32, 0x3f2aaaab, false), "");
	V power = LLVMBuildAnd(g->b, above, LLVMConstInt(i32, 0xff800000, false), "");
	V one = LLVMBuildBitCast(g->b, LLVMBuildSub(g->b, bits, power, ""), g->m->f32, "");
	V n = LLVMBuildSIToFP(g->b, power, g->m->f32, "");
	n = fma_of(g, n, num(g, 0x1p-23), either(g, tiny, num(g, -23), num(g, 0)));
	return (Parts){n, sub(g, one, num(g, 1))};
}

/* log(1 + f) */
static V log_of_rest(Cg *g, V f)
{
	V q = fma_of(g, poly(g, &log_poly, f), f, num(g, -0.5));
	return fma_of(g, q, mul(g, f, f), f);
}

/* -inf at 0, inf at inf, no number below 0 */
static V log_at_ends(Cg *g, V x, V log)
{
	V inf = LLVMConstReal(g->m->f32, INFINITY), zero = num(g, 0);
	log = either(g, is(g, LLVMRealOLT, x, inf), log, x);
	log = either(g, is(g, LLVMRealOGE, x, zero), log, LLVMConstReal(g->m->f32, NAN));
	return either(g, is(g, LLVMRealOEQ, x, zero), LLVMConstReal(g->m->f32, -INFINITY), log);
}

V value_LOG(Cg *g, V *x)
{
	Parts p = parts_of(g, x[0]);
	V log = fma_of(g, p.power, num(g, ln_2_low), log_of_rest(g, p.rest));
	return log_at_ends(g, x[0], fma_of(g, p.power, num(g, ln_2), log));
}

V value_LOG2(Cg *g, V *x)
{
	Parts p = parts_of(g, x[0]);
	V log = log_of_rest(g, p.rest);
	log = fma_of(g, log, num(g, log2_e_low), mul(g, log, num(g, log2_e)));
	return log_at_ends(g, x[0], add(g, p.power, log));
}

/* ------------------------------------------------------------------ powers */
/* A number as a sum: low is what high was rounded by (Dekker, 1971). */
typedef struct {
	V high, low;
} Pair;

static Pair product(Cg *g, V a, V b)
{
	V high = mul(g, a, b);
	return (Pair){high, fma_of(g, a, b, neg(g, high))};
}

/* Where a is 0, or no smaller than b */
static Pair sum_of(Cg *g, V a, V b)
{
	V high = add(g, a, b);
	return (Pair){high, sub(g, b, sub(g, high, a))};
}

/* f / (2 + f) */
static Pair atanh_argument(Cg *g, V f)
{
	Pair below = sum_of(g, num(g, 2), f);
	V part = inverse(g, below.high), s = mul(g, f, part);
	V left = fma_of(g, neg(g, s), below.high, f);
	return (Pair){s, mul(g, fma_of(g, neg(g, s), below.low, left), part)};
}

/* atanh(s) = s + s^3 / 3 + .., within 2^-33 of it */
static Pair atanh_of(Cg *g, Pair s)
{
	Pair square = product(g, s.high, s.high), cube = product(g, square.high, num(g, third));
	V low = fma_of(g, mul(g, num(g, 2), s.high), s.low, square.low);
	V more = mul(g, square.high, poly(g, &atanh_poly, square.high));
	V rest = fma_of(g, square.high, add(g, more, num(g, third_low)), cube.low);
	rest = fma_of(g, low, num(g, third), rest);
	Pair p = product(g, s.high, cube.high), sum = sum_of(g, s.high, p.high);
	low = add(g, fma_of(g, s.high, rest, p.low), fma_of(g, s.low, cube.high, s.low));
	return (Pair){sum.high, add(g, sum.low, low)};
}

/* log2(x), of x that is not negative; low is finite */
static Pair log2_of(Cg *g, V x)
{
	Parts p = parts_of(g, x);
	Pair half = atanh_of(g, atanh_argument(g, p.rest));
	Pair log = product(g, half.high, num(g, 2 * log2_e));
	V low = fma_of(g, half.low, num(g, 2 * log2_e), log.low);
	low = fma_of(g, half.high, num(g, 2 * log2_e_low), low);
	Pair sum = sum_of(g, p.power, log.high);
	sum = sum_of(g, sum.high, add(g, sum.low, low));
	return (Pair){log_at_ends(g, x, sum.high), sum.low};
}

static V is_whole(Cg *g, V x)
{
	return is(g, LLVMRealOEQ, cg_call(g, "llvm.floor", g->m->f32, &x, 1), x);
}

/* |x|^y, of y that is finite */
static V power_of_size(Cg *g, V x, V y)
{
	Pair log = log2_of(g, size_of(g, x));
	Pair t = product(g, y, log.high);
	return power_of_2_sum(g, t.high, fma_of(g, y, log.low, t.low));
}

/* As C has it (ISO C F.10.4.4): 1 where x is 1 or y is 0, whatever the other is; of x below 0,
 * the sign is x's where y is odd, and there is no power where y is not whole. */
V value_POW(Cg *g, V *x)
{
	V y = x[1], one = num(g, 1), none = LLVMConstReal(g->m->f32, NAN);
	V size = power_of_size(g, x[0], finite(g, y));
	V whole = is_whole(g, y), even = is_whole(g, mul(g, y, num(g, 0.5)));
	V odd = LLVMBuildAnd(g->b, whole, LLVMBuildNot(g->b, even, ""), "");
	V power = either(g, odd, signed_as(g, size, x[0]), size);
	V below = is(g, LLVMRealOLT, x[0], num(g, 0)), first = is(g, LLVMRealOEQ, x[0], one);
	V some = is(g, LLVMRealOGE, x[0], num(g, -most));
	V lacks = LLVMBuildAnd(g->b, LLVMBuildAnd(g->b, below, some, ""),
			       LLVMBuildNot(g->b, whole, ""), "");
	lacks = LLVMBuildOr(g->b, lacks, is(g, LLVMRealUNO, y, y), "");
	V always = LLVMBuildOr(g->b, first, is(g, LLVMRealOEQ, y, num(g, 0)), "");
	return either(g, always, one, either(g, lacks, none, power));
}

/* ------------------------------------------------------------------ the normal distribution */
/* P(normal > t) and exp(-t^2 / 2) for t of 0 and more */
typedef struct {
	V above, density;
} Tail;

static Tail tail_of(Cg *g, V t)
{
	V square = mul(g, t, t), left = fma_of(g, t, t, neg(g, square));
	V half = num(g, -0.5 * log2_e), power = mul(g, square, half);
	V h = fma_of(g, square, half, neg(g, power));
	h = fma_of(g, square, num(g, -0.5 * log2_e_low), h);
	V density = power_of_2_sum(g, power, fma_of(g, left, half, h));
	V u = inverse(g, fma_of(g, t, num(g, 0.3), num(g, 1)));
	return (Tail){mul(g, mul(g, u, poly(g, &tail_poly, u)), density), density};
}

V value_GELU(Cg *g, V *x)
{
	V part = mul(g, finite(g, x[0]), tail_of(g, size_of(g, x[0])).above);
	return either(g, is(g, LLVMRealOLT, x[0], num(g, 0)), part, sub(g, x[0], part));
}

V value_DGELU(Cg *g, V *x)
{
	Tail t = tail_of(g, size_of(g, x[0]));
	V below = is(g, LLVMRealOLT, x[0], num(g, 0));
	V p = either(g, below, t.above, sub(g, num(g, 1), t.above));
	return fma_of(g, finite(g, x[0]), mul(g, t.density, num(g, 0x1.988454p-2)), p);
}

/* Far out, 1 is near enough: 8 is far. */
V value_ERF(Cg *g, V *x)
{
	V size = size_of(g, x[0]), near = is(g, LLVMRealOLT, size, num(g, 0.9));
	V small = mul(g, x[0], poly(g, &erf_poly, mul(g, x[0], x[0])));
	V t = mul(g, least(g, size, num(g, 8)), num(g, 0x1.6a09e6p+0));
	V large = fma_of(g, num(g, -2), tail_of(g, t).above, num(g, 1));
	V some = is(g, LLVMRealUNO, size, size);
	return either(g, near, small, either(g, some, x[0], signed_as(g, large, x[0])));
}

/* x s(w), w = 2 sqrt(2 / pi) (x + 0.044715 x^3) */
static const double gelu_1 = 0x1.988454p+0, gelu_3 = 0x1.2444f2p-4;

static V gelu_argument(Cg *g, V x, double more)
{
	return fma_of(g, mul(g, x, x), num(g, more * gelu_3), num(g, gelu_1));
}

/* x / (1 + 2^t), t = -w log2 e. What t is rounded by counts for less and less of x the further out
 * x is: |t| / (1 + 2^t) is at most 0.41. */
V value_GELU_TANH(Cg *g, V *x)
{
	V factor =
		fma_of(g, mul(g, x[0], x[0]), num(g, -log2_e * gelu_3), num(g, -log2_e * gelu_1));
	V e = normal_power_of_2(g, mul(g, x[0], factor));
	return mul(g, largest(g, x[0], num(g, -most)), inverse(g, add(g, num(g, 1), e)));
}

/* s (1 + x w' s(-w)); x w' grows without end, where s(-w) is 0 */
V value_DGELU_TANH(Cg *g, V *x)
{
	V w = mul(g, x[0], gelu_argument(g, x[0], 1));
	V d = mul(g, x[0], gelu_argument(g, x[0], 3));
	Logistic s = logistic(g, w);
	return mul(g, s.of_x, fma_of(g, finite(g, d), s.of_minus_x, num(g, 1)));
}

/* ------------------------------------------------------------------ pieces */
V value_HARDSWISH(Cg *g, V *x)
{
	V part = fma_of(g, x[0], num(g, 0x1.555556p-3), num(g, 0.5));
	V above = mul(g, x[0], least(g, part, num(g, 1)));
	return either(g, is(g, LLVMRealOLE, x[0], num(g, -3)), num(g, -0.0), above);
}

VALUE(LEAKY_RELU, either(g, is(g, LLVMRealOGT, x[0], like(x[0], 0)), x[0], mul(g, x[0], x[1])))

V value_DRELU(Cg *g, V *x)
{
	V zero = like(x[0], 0);
	return either(g, is(g, LLVMRealOGT, x[0], zero), like(x[0], 1), zero);
}

VALUE(SQUARE, mul(g, x[0], x[0]))
VALUE(CLAMP, least(g, largest(g, x[0], x[1]), x[2]))
VALUE(SELECT, cg_chosen(g, x))

/* 1 where it holds, else 0, of the type of x */
static V one_where(Cg *g, V x, V some)
{
	return either(g, some, like(x, 1), like(x, 0));
}

static V is_some(Cg *g, V x)
{
	return is(g, LLVMRealUNE, x, like(x, 0));
}

VALUE(BOTH, one_where(g, x[0], LLVMBuildAnd(g->b, is_some(g, x[0]), is_some(g, x[1]), "")))
VALUE(EITHER, one_where(g, x[0], LLVMBuildOr(g->b, is_some(g, x[0]), is_some(g, x[1]), "")))
VALUE(NEITHER, one_where(g, x[0], is(g, LLVMRealOEQ, x[0], like(x[0], 0))))

#define COMPARISON(id, how)                                        \
	V value_##id(Cg *g, V *x)                                  \
	{                                                          \
		return one_where(g, x[0], is(g, how, x[0], x[1])); \
	}
COMPARISON(LT, LLVMRealOLT)
COMPARISON(LE, LLVMRealOLE)
COMPARISON(GT, LLVMRealOGT)
COMPARISON(GE, LLVMRealOGE)
COMPARISON(EQ, LLVMRealOEQ)
COMPARISON(NE, LLVMRealUNE)
