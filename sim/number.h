/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* number.h - rounding that the host's own arithmetic does not do: other modes than to nearest,
 * small formats without double rounding, flushing of subnormals, canonical NaN. (PTX ISA:
 * Floating-Point Instructions; NaN results of f32 are 0x7fffffff.) */
#ifndef DSL_SIM_NUMBER_H
#define DSL_SIM_NUMBER_H

#include "runtime/number.h"
#include "sim/code.h"

#include <math.h>

typedef enum { RND_NEAREST, RND_ZERO, RND_DOWN, RND_UP } Rounding;

static inline f32 f32_of(u32 bits)
{
	return num_float(bits);
}

/* With NaN made canonical. */
static inline u32 f32_bits(f32 x)
{
	return x != x ? 0x7fffffffu : num_bits32(x);
}

static inline f32 f32_flush(f32 x)
{
	return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

/* The format of each element of a type of 8 or 16 bits, or of a pair of them. */
NumFormat format_of(Type t);
/* The value of bits of a float type; of a pair, of the low element. */
f64 float_value(Type t, u64 bits);
f64 clamp01(f64 x);
/* As a .relu leaves it; -0 becomes 0. */
f64 relu_of(const Ins *in, f64 x);
/* r is a result to nearest of finite operands and exact - r has the sign of rest. */
f64 double_toward(f64 r, f64 rest, Rounding mode);
Rounding rounding_of(const Ins *in);
/* x rounded to format f by r; saturating where the format does or sat asks for it. */
u32 round_to(f64 x, NumFormat f, Rounding r);
f32 f32_round(f64 x, Rounding r);
/* a op b, a*b+c so that a second rounding to fewer bits is right: the last bit is sticky. */
f64 fma_odd(f64 a, f64 b, f64 c);
f64 add_odd(f64 a, f64 b);
f64 mul_odd(f64 a, f64 b);
/* What is exact less r, where r is the sum, or the fused product and sum, to nearest. */
f64 add_rest(f64 a, f64 b, f64 r);
f64 fma_rest(f64 a, f64 b, f64 c, f64 r);

#endif
