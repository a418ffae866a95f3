/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* matrix.h - numbers of matrix operands and the product itself, shared by wgmma.c and mma.c. */
#ifndef DSL_SIM_MATRIX_H
#define DSL_SIM_MATRIX_H

#include "sim/code.h"

/* n elements of type t (packed, little-endian) as f32; tf32 drops its low 13 bits; exact. */
void elements_widen(Type t, const u8 *from, u32 n, f32 *to);
u32 halves_pack(f32 low, f32 high); /* f16x2, to nearest */
/* c[m][256] += a[m][32] b[k][256], fused, k ascending: the order is part of the result. */
void matrix_product(f32 *c, const f32 *a, const f32 *b, u32 m, u32 n, u32 k);

#endif
