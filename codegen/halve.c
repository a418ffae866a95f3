/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* halve.c - two small numbers that were loaded together become a pair of 16-bit numbers, with what
 * a row PLUS of halves.def adds to them: integers in the high bits of a fraction.
 *     u4:  byte b1 b0  ->  0xc180 | (15 - b0) << 3 below 0xc180 | (15 - b1) << 3, and
 *          0xc180 | x << 3 is -(16 + x) as bf16 */
#include "codegen/cg.h"

#include <math.h>

typedef LLVMValueRef V;

/* x in both halves; a row's words. */
static uint32_t both(uint32_t x)
{
	return x << 16 | x;
}

/* The byte's halves at bit `at` of both halves of a word. What each leaves above is masked. */
static V spread(Cg *g, V byte, int at)
{
	return LLVMBuildMul(g->b, byte, cg_int32(g, 1 << at | 1 << (at + 12)), "");
}

/* Bytes 0 and 1 of x, each below a byte of `high` (PTX ISA: prmt). */
static V bytes_below(Cg *g, V x, uint32_t high)
{
	V in[3] = {x, cg_int32(g, (int32_t)high), cg_int32(g, 0x4140)};
	return cg_call(g, "llvm.nvvm.prmt", NULL, in, 3);
}

static V as_pair(Cg *g, V word, Elem e)
{
	return LLVMBuildBitCast(g->b, word, LLVMVectorType(cg_elem(g->m, e), 2), "");
}

/* ------------------------------------------------------------------ of 4 bits */
#define HALVE(name, of)                   \
	static V halve_##name(Cg *g, V x) \
	{                                 \
		return of;                \
	}
HALVE(U4_BF16, as_pair(g, cg_masked(g, spread(g, x, 3), both(0x78), both(0xc1f8)), EL_BF16))
HALVE(S4_BF16, as_pair(g, cg_masked(g, spread(g, x, 3), both(0x78), both(0xc1b8)), EL_BF16))
HALVE(U4_F16, as_pair(g, cg_masked(g, spread(g, x, 0), both(15), both(0x6400)), EL_F16))
HALVE(S4_F16, as_pair(g, cg_masked(g, spread(g, x, 0), both(15), both(0x6408)), EL_F16))

/* ------------------------------------------------------------------ of 8 bits
 * A fraction of bf16 has 7: they are 128 + x % 128, and bit 7 chooses between a power of 2 and its
 * double: 128 and 256, or -256 and -128. */
static V low_bits(Cg *g, V x)
{
	return as_pair(g, cg_masked(g, x, both(0x7f), both(0x4300)), EL_BF16);
}

static V halve_I8_BF16(Cg *g, V x)
{
	x = bytes_below(g, x, 0);
	V high = as_pair(g, cg_masked(g, x, both(0x80), both(0x4300)), EL_BF16);
	return LLVMBuildFSub(g->b, low_bits(g, x), high, "");
}

static V halve_U8_BF16(Cg *g, V x)
{
	x = bytes_below(g, x, 0);
	V high = as_pair(g, cg_masked(g, x, both(0x80), both(0xc380)), EL_BF16);
	return LLVMBuildFAdd(g->b, low_bits(g, x), high, "");
}

HALVE(U8_F16, as_pair(g, bytes_below(g, x, 0x64646464), EL_F16))
HALVE(I8_F16, halve_U8_F16(g, LLVMBuildXor(g->b, x, cg_int32(g, 0x8080), "")))

/* ------------------------------------------------------------------ floating point
 * Exponent and fraction at bit `at` of each half, below the sign, and 2^up times that: subnormal
 * numbers, too. */
static V small_float(Cg *g, V byte, int at, int up, Elem e)
{
	V size = LLVMBuildAnd(g->b, spread(g, byte, at), cg_int32(g, both(7u << at)), "");
	V sign = LLVMBuildAnd(g->b, spread(g, byte, 12), cg_int32(g, (int32_t)both(0x8000)), "");
	V times = LLVMConstReal(cg_elem(g->m, e), ldexp(1, up)), two[2] = {times, times};
	V x = as_pair(g, LLVMBuildOr(g->b, size, sign, ""), e);
	return LLVMBuildFMul(g->b, x, LLVMConstVector(two, 2), "");
}

HALVE(E2M1_BF16, small_float(g, x, 6, 126, EL_BF16))
HALVE(E2M1_F16, small_float(g, x, 9, 14, EL_F16))

static V unpacked(Cg *g, V x, Elem e)
{
	x = LLVMBuildTrunc(g->b, x, g->m->i16, "");
	return cg_call(g, cg_unpack(e), NULL, &x, 1);
}

HALVE(E4M3_F16, unpacked(g, x, EL_E4M3))
HALVE(E5M2_F16, unpacked(g, x, EL_E5M2))

/* ------------------------------------------------------------------ */
static V (*const halves[EL_COUNT][EL_COUNT])(Cg *g, V x) = {
#define PLUS(from, to, plus) [EL_##from][EL_##to] = halve_##from##_##to,
#include "ir/halves.def"
};

bool cg_halves(const Op *cvt)
{
	Elem from = IN(cvt, X).val->type->elem, to = cvt->out->type->elem;
	const double *plus = half_plus(from, to);
	const Attr *a = attrs_get(&cvt->attrs, A_PLUS);
	return plus && *plus == (a ? a->real : 0);
}

V cg_halved(Cg *g, V word, Elem from, Elem to)
{
	return halves[from][to](g, LLVMBuildZExt(g->b, word, g->m->i32, ""));
}
