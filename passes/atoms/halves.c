/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* halves.c - small integers that become 16-bit numbers of an mma, less integers and times one
 * number of that type, are computed with in 16 bits, two in a register; small floats likewise.
 *     %x = cvt %q ; %z = cvt %zero ; %d = sub %x, %z ; %s = cvt %scale ; %p = mul %d, %s
 *     %a = cvt %p : bf16
 * ->  %x = cvt %q plus=-31 : bf16 ; %z = cvt %zero plus=-31 : bf16 ; %d = sub %x, %z : bf16
 *     %a = mul %d, %scale : bf16
 * Each result is the same in every bit: the numbers, what is added to them, and their difference
 * are held exactly by 16 bits (holds); so the product in 16 bits is that of the numbers, rounded
 * once. So is the one in f32, which holds it exactly (is_exact), and is then rounded. */
#include "passes/pass.h"

#include <math.h>

typedef struct {
	Val *x;      /* integers, as they are loaded */
	Val *zero;   /* integers that they are less; NULL: 0 */
	Val *scale;  /* of the result's type; NULL: 1 */
	double plus; /* with which x becomes 16 bits */
} Product;

/* What a conversion to f32 is of; NULL: v is none. */
static Val *widened(const Val *v)
{
	bool is = v->def && v->def->kind == OP_CVT && v->type->elem == EL_F32;
	return is ? IN(v->def, X).val : NULL;
}

static bool is_integers(const Val *v)
{
	return v && v->type->kind == TY_TILE && !elem_is_float(v->type->elem);
}

static Integers integers_of(const Product *p)
{
	Integers x = elem_integers(p->x->type->elem);
	if (!p->zero)
		return x;
	Integers y = elem_integers(p->zero->type->elem);
	return (Integers){x.least - y.most, x.most - y.least};
}

/* ------------------------------------------------------------------ what is the same in 16 bits */
static bool find_difference(const Val *v, Product *p)
{
	const Op *sub = v->def && v->def->kind == OP_SUB ? v->def : NULL;
	p->x = widened(sub ? IN(sub, X).val : v);
	p->zero = sub ? widened(IN(sub, Y).val) : NULL;
	return sub ? is_integers(p->x) && is_integers(p->zero)
		   : p->x && p->x->type->kind == TY_TILE;
}

static bool find_product(const Val *v, Elem half, Product *p)
{
	const Op *mul = v->def && v->def->kind == OP_MUL ? v->def : NULL;
	for (int i = 0; mul && i < mul->nin; i++) {
		p->scale = widened(mul->in[i].val);
		if (p->scale && p->scale->type->elem == half)
			return find_difference(mul->in[1 - i].val, p);
	}
	p->scale = NULL;
	return !mul && find_difference(v, p);
}

/* Bits of a number, from the highest to the lowest that any has; and what the lowest is worth. */
typedef struct {
	int bits, lowest;
} Digits;

static Digits digits_of_elem(Elem e)
{
	const ElemRow *row = &elem_rows[e];
	return (Digits){row->mantissa + 1, row->exponent - row->mantissa};
}

static Digits digits_of(const Product *p)
{
	if (elem_is_float(p->x->type->elem))
		return digits_of_elem(p->x->type->elem);
	Integers x = integers_of(p);
	return (Digits){(int)ceil(log2(fmax(-x.least, x.most) + 1)), 0};
}

/* Whether f32 holds each product: as many bits, and none below its smallest. */
static bool is_exact(const Product *p, Elem half)
{
	Digits x = digits_of(p), s = digits_of_elem(half), f = digits_of_elem(EL_F32);
	return x.bits + s.bits <= f.bits && x.lowest + s.lowest >= f.lowest;
}

/* Those with a row PLUS, if they are floats: it says so. */
static bool holds(const Product *p, Elem half)
{
	if (elem_is_float(p->x->type->elem))
		return true;
	return half_holds(half, integers_of(p)) &&
	       (!p->zero ||
		half_holds(half, integers_plus(elem_integers(p->zero->type->elem), p->plus)));
}

/* All elements of the result, with numbers that may be fewer. */
static bool finds(const Kernel *k, const Op *cvt, Product *p)
{
	Elem half = cvt->out->type->elem;
	const Type *out = cvt->out->type;
	if (!elem_pairs(half) || !target_has(k->target, feature_computes(half)) ||
	    !find_product(IN(cvt, X).val, half, p) || p->x->type->layout != out->layout)
		return false;
	const double *plus = half_plus(p->x->type->elem, half);
	p->plus = plus ? *plus : 0;
	return plus && holds(p, half) && is_exact(p, half);
}

/* ------------------------------------------------------------------ */
static Val *converted(Kernel *k, Op *at, const Product *p, Val *v, Elem half)
{
	Op *cvt = op_in(k, op_before(k, at, OP_CVT), v, NULL);
	if (p->plus != 0)
		op_real(k, cvt, A_PLUS, p->plus);
	return op_result(k, cvt, v->name, type_frag(k->ctx, half, v->type->layout, v->type->tv));
}

/* What x has more than it should. */
static Val *rest_of(Kernel *k, Op *at, const Product *p, Elem half)
{
	if (p->zero)
		return converted(k, at, p, p->zero, half);
	Op *number = op_before(k, at, OP_CONST);
	op_real(k, number, A_VALUE, p->plus);
	return op_result(k, number, "plus", type_elem(k->ctx, half));
}

static Val *computed(Kernel *k, Op *at, OpKind kind, Val *x, Val *y)
{
	Op *op = op_ins(k, op_before(k, at, kind), x, y);
	return op_result(k, op, x->name, x->type);
}

static void compute(Kernel *k, Op *cvt, const Product *p)
{
	Elem half = cvt->out->type->elem;
	Val *x = converted(k, cvt, p, p->x, half);
	if (p->zero || p->plus != 0)
		x = computed(k, cvt, OP_SUB, x, rest_of(k, cvt, p, half));
	if (p->scale)
		x = computed(k, cvt, OP_MUL, x, p->scale);
	kernel_replace(k, cvt->out, x);
}

PASS_OF(halves)
{
	Product p;
	for (Op *mma = kernel_mma(k, NULL); mma; mma = kernel_mma(k, mma)) {
		Op *cvt = IN(mma, A).val->def;
		if (cvt && cvt->kind == OP_CVT && finds(k, cvt, &p))
			compute(k, cvt, &p);
	}
	kernel_sweep(k);
}
