/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* half.c - rows of halves.def, and which integers numbers of 16 bits hold.
 *     half_plus(EL_U4, EL_BF16)   ->   -31
 *     half_holds(EL_BF16, EL_U8, -31), whose fraction has 7 bits: -31 .. 224 lie in -256 .. 256 */
#include "ir/ir.h"

#include <math.h>

static const double pluses[EL_COUNT][EL_COUNT] = {
#define PLUS(from, to, plus) [EL_##from][EL_##to] = plus,
#include "ir/halves.def"
};

static const bool made[EL_COUNT][EL_COUNT] = {
#define PLUS(from, to, plus) [EL_##from][EL_##to] = true,
#include "ir/halves.def"
};

static const bool paired[EL_COUNT] = {
#define PAIRED(elem, feature) [EL_##elem] = true,
#include "ir/halves.def"
};

const double *half_plus(Elem from, Elem to)
{
	return made[from][to] ? &pluses[from][to] : NULL;
}

bool elem_pairs(Elem e)
{
	return paired[e];
}

bool elem_computes(Elem e)
{
	return e == EL_F32 || elem_is_wide(e) || paired[e] || elem_is_word(e);
}

bool elt_computes(OpKind op, Elem e)
{
	const EltRow *row = elt_by_op(op);
	if (!row || !elem_computes(e))
		return false;
	if (elem_is_word(e))
		return row->whole;
	return (e == EL_F32 && row->value) || row->types == ELT_FLOATS ||
	       (row->types == ELT_WIDE && !paired[e]);
}

/* -2^(bits - 1) .. 2^(bits - 1) - 1, or 0 .. 2^bits - 1 */
Integers elem_integers(Elem e)
{
	int sign = elem_rows[e].cls == 'S', bits = elem_rows[e].bits - sign;
	return (Integers){sign ? -ldexp(1, bits) : 0, ldexp(1, bits) - 1};
}

bool half_holds(Elem half, Integers x)
{
	double most = ldexp(1, elem_rows[half].mantissa + 1);
	return x.least >= -most && x.most <= most;
}

Integers integers_plus(Integers x, double y)
{
	return (Integers){x.least + y, x.most + y};
}
