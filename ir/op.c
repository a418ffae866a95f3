/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* op.c - the tables of ops.def, operands.def, elementwise.def, attrs.def and completes.def, as
 * data. */
#include "ir/ir.h"

#include <float.h>
#include <limits.h>
#include <string.h>
#include <tgmath.h>

enum { ANY = ST_ANY, TILE = ST_TILE, WARP = ST_WARP, PTX = ST_PTX };
enum {
	SYMS = OPF_SYMS,
	BODY = OPF_BODY,
	DECL = OPF_DECL,
	PURE = OPF_PURE,
	ALIGNED = OPF_ALIGNED,
	ELT = OPF_ELT,
	NAME = OPF_NAME,
#define FEATURE(id, ...) id = FT_##id * OPF_FEATURE,
#include "ir/targets.def"
	GLOBAL = OPF_GLOBAL,
	EACH = OPF_EACH,
	ONE = FX_ONE,
	SYNC = FX_SYNC,
	PEER = FX_PEER
};
/* Names of operands, as rows have them. */
enum {
#define OPERAND(id) id = ON_##id,
#include "ir/operands.def"
};
#define R(i)           (FX_R << 4 * (i))
#define W(i)           (FX_W << 4 * (i))
#define AR(i)          (FX_AR << 4 * (i))
#define AW(i)          (FX_AW << 4 * (i))
#define BY(x)          FX_DONE_##x
#define RELEASE(scope) FX_RELEASE_##scope
#define ACQUIRE(scope) FX_ACQUIRE_##scope

#define NAMES(...)    {0, __VA_ARGS__}
#define COUNT_OF(...) (int)sizeof((uint8_t[])NAMES(__VA_ARGS__)) - 1
#define WITH(...)     .in_hi = COUNT_OF(__VA_ARGS__), .in = NAMES(__VA_ARGS__)
#define AT(...)       .nix = COUNT_OF(__VA_ARGS__), .ix = NAMES(__VA_ARGS__)
#define AT_LEAST(...) .nix = -1, .ix = NAMES(__VA_ARGS__)
#define OPERANDS_1    X
#define OPERANDS_2    X, Y
#define OPERANDS_3    X, Y, Z

const OpRow op_rows[OP_COUNT] = {
#define OP(id, name, stages, lo, with, at, nout, flags, fx) \
	[OP_##id] = {name, stages, lo, with, at, nout, flags, fx},
#include "ir/ops.def"
};

static const char *const operand_names[] = {
#define OPERAND(id) [ON_##id] = #id,
#include "ir/operands.def"
};

/* INT_MAX: the row has none of that name. A row's first stands for none. */
static int place_of(const uint8_t *names, OperandName name)
{
	for (int i = 1; i <= OPERANDS_NAMED; i++)
		if (names[i] == name)
			return i - 1;
	return INT_MAX;
}

static int place_in(const Op *op, const uint8_t *names, OperandName name, int n)
{
	int i = place_of(names, name);
	if (i >= n)
		panic("%s has no %s", op_rows[op->kind].name, operand_names[name]);
	return i;
}

Operand *op_operand(const Op *op, OperandName name)
{
	return &op->in[place_in(op, op_rows[op->kind].in, name, op->nin)];
}

const Ix **op_index(const Op *op, OperandName name)
{
	return &op->ix[place_in(op, op_rows[op->kind].ix, name, op->nix)];
}

bool op_has_operand(const Op *op, OperandName name)
{
	return place_of(op_rows[op->kind].in, name) < op->nin;
}

int op_index_place(OpKind kind, OperandName name)
{
	return place_of(op_rows[kind].ix, name);
}

bool op_has_index(const Op *op, OperandName name)
{
	return op_index_place(op->kind, name) < op->nix;
}

#define OP_NOTHING OP_COUNT

static const DoneRow done_rows[DONE_COUNT] = {
#define DONE(id, how, fence, commit, wait_read, wait, arrive)   \
	[DONE_##id] = {DONE_BY_##how,  OP_##fence, OP_##commit, \
		       OP_##wait_read, OP_##wait,  OP_##arrive},
#include "ir/completes.def"
};

const DoneRow *op_done(const Op *op)
{
	for (int id = 0; id < DONE_COUNT; id++)
		if (op_rows[op->kind].effects & FX_DONE_MBAR << id)
			return &done_rows[id];
	return NULL;
}

bool op_done_by(const Op *op, DoneHow how)
{
	const DoneRow *row = op_done(op);
	return row && row->how == how;
}

const DoneRow *done_of_wait(OpKind kind)
{
	for (int id = 0; id < DONE_COUNT; id++)
		if (kind == done_rows[id].commit || kind == done_rows[id].wait ||
		    kind == done_rows[id].wait_read)
			return &done_rows[id];
	return NULL;
}

const AttrRow attr_rows[ATTR_COUNT] = {
#define ATTR(id, name, kind, help) [A_##id] = {name, AK_##kind, help},
#include "ir/attrs.def"
};

/* ------------------------------------------------------------------ what functions are */
/* Of a number and what is none, the number. */
#define EXTREMES(T)                                \
	static T least_##T(T x, T y)               \
	{                                          \
		if (x == y)                        \
			return signbit(x) ? x : y; \
		return isnan(x) || y < x ? y : x;  \
	}                                          \
                                                   \
	static T largest_##T(T x, T y)             \
	{                                          \
		if (x == y)                        \
			return signbit(x) ? y : x; \
		return isnan(x) || y > x ? y : x;  \
	}
EXTREMES(float)
EXTREMES(double)
/* What integers of 32 bits are computed in: it holds each product of two. */
__extension__ typedef __int128 Int;
__extension__ typedef unsigned __int128 Bits;

static Int least_int(Int x, Int y)
{
	return y < x ? y : x;
}

static Int largest_int(Int x, Int y)
{
	return y > x ? y : x;
}

static Int size_int(Int x)
{
	return x < 0 ? -x : x;
}

/* The verifier refuses other divisors than positive constants. */
static Int quotient_int(Int x, Int y)
{
	return y == 0 ? 0 : x / y - (x % y < 0);
}

static float size_float(float x)
{
	return fabsf(x);
}

static double size_double(double x)
{
	return (fabs)(x);
}

static float quotient_float(float x, float y)
{
	return x / y;
}

static double quotient_double(double x, double y)
{
	return x / y;
}

#define OF_TYPE(x, name)  _Generic((x), float: name##_float, double: name##_double, Int: name##_int)
#define least_of(x, y)    OF_TYPE(x, least)(x, y)
#define largest_of(x, y)  OF_TYPE(x, largest)(x, y)
#define quotient_of(x, y) OF_TYPE(x, quotient)(x, y)
#define size_of(x)        OF_TYPE(x, size)(x)

/* Where a factor of an infinite one vanishes, it vanishes sooner. */
static double times(double x, double factor)
{
	return factor == 0 ? copysign(0, x) : x * factor;
}

static double finite(float x)
{
	return isinf(x) ? copysign((double)FLT_MAX, (double)x) : (double)x;
}

static double logistic(double x)
{
	return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double normal(double x)
{
	return 0.5 * erfc(-x * 0.70710678118654752440);
}

static double density(double x)
{
	return 0.39894228040143267794 * exp(-0.5 * x * x);
}

/* Hendrycks and Gimpel, 2016: gelu by tanh(sqrt(2 / pi) (x + 0.044715 x^3)) */
static const double gelu_scale = 2 * 0.79788456080286535588, gelu_cube = 0.044715;

static double gelu_argument(double x)
{
	return gelu_scale * (x + gelu_cube * x * x * x);
}

static double gelu_tanh_slope(double x)
{
	double w = gelu_argument(x), slope = gelu_scale * (1 + 3 * gelu_cube * x * x);
	return logistic(w) * (1 + x * slope * logistic(-w));
}

/* The low bits of x, as the type has them. */
static double wrapped(Elem e, Int x)
{
	return elem_rows[e].unpack((uint64_t)(Bits)x);
}

/* What is no number may stand where nothing reads it. */
static Int integer(double x)
{
	return isfinite(x) ? (Int)x : 0;
}

double elem_wrap(Elem e, double x)
{
	return wrapped(e, integer(x));
}

#define VALUE_IN(type, prefix, id, of)                    \
	static type prefix##_##id(type x, type y, type z) \
	{                                                 \
		(void)x, (void)y, (void)z;                \
		return of;                                \
	}
#define IN_INTS(id, of)                                                \
	static double whole_##id(Elem e, double a, double b, double c) \
	{                                                              \
		Int x = integer(a), y = integer(b), z = integer(c);    \
		(void)x, (void)y, (void)z;                             \
		return wrapped(e, of);                                 \
	}
#define IN_F32(id, of)         VALUE_IN(float, value, id, of)
#define IN_WIDE(id, of)        IN_F32(id, of) VALUE_IN(double, wide, id, of)
#define IN_FLOATS(id, of)      IN_WIDE(id, of)
#define IN_WIDE_INTS(id, of)   IN_WIDE(id, of) IN_INTS(id, of)
#define IN_FLOATS_INTS(id, of) IN_WIDE(id, of) IN_INTS(id, of)
#define ELT(id, name, n, error, shape, small, types, of) IN_##types(id, of)
#include "ir/elementwise.def"

enum { KEPT, MAYBE_0, STEADY, TURNS };
#define EXACT              {false, 0, 0}
#define ROUNDED            {true, 0, 0}
#define ULPS(n)            {true, n, 0}
#define ULPS_AND(n, m)     {true, n, m}
#define OF_F32(id)         value_##id, ELT_F32, NULL, NULL
#define OF_WIDE(id)        value_##id, ELT_WIDE, wide_##id, NULL
#define OF_FLOATS(id)      value_##id, ELT_FLOATS, wide_##id, NULL
#define OF_INTS(id)        NULL, ELT_NONE, NULL, whole_##id
#define OF_WIDE_INTS(id)   value_##id, ELT_WIDE, wide_##id, whole_##id
#define OF_FLOATS_INTS(id) value_##id, ELT_FLOATS, wide_##id, whole_##id

static const EltRow elt_rows[] = {
#define ELT(id, name, n, error, shape, small, types, of) \
	{OP_##id, name, n, error, shape == TURNS, small == MAYBE_0, OF_##types(id)},
#include "ir/elementwise.def"
};

const EltRow *elt_by_op(OpKind op)
{
	for (size_t i = 0; i < COUNTOF(elt_rows); i++)
		if (elt_rows[i].op == op)
			return &elt_rows[i];
	return NULL;
}

const EltRow *elt_by_name(const char *name)
{
	for (size_t i = 0; i < COUNTOF(elt_rows); i++)
		if (!strcmp(elt_rows[i].name, name))
			return &elt_rows[i];
	return NULL;
}

static const CombineRow combine_rows[] = {
#define COMBINE(id, name, op, neutral) {name, OP_##op, neutral},
#include "ir/combine.def"
};

const CombineRow *combine_by_name(const char *name)
{
	for (size_t i = 0; i < COUNTOF(combine_rows); i++)
		if (!strcmp(combine_rows[i].name, name))
			return &combine_rows[i];
	return NULL;
}

const CombineRow *combine_by_op(OpKind op)
{
	for (size_t i = 0; i < COUNTOF(combine_rows); i++)
		if (combine_rows[i].op == op)
			return &combine_rows[i];
	return NULL;
}

const CombineRow *combine_of(const Op *reduce)
{
	return combine_by_name(attrs_str(&reduce->attrs, A_COMBINE, ""));
}

static const JoinRow join_rows[] = {
#define JOINED(op, elem, n, feature) {OP_##op, EL_##elem, n, FT_##feature},
#include "ir/combine.def"
};

const JoinRow *join_row(const CombineRow *by, Elem e, int n)
{
	for (size_t i = 0; i < COUNTOF(join_rows); i++)
		if (join_rows[i].by == by->op && join_rows[i].elem == e && join_rows[i].n == n)
			return &join_rows[i];
	return NULL;
}

int op_effect(const Op *op, int operand)
{
	return operand < 4 ? FX_OF(op_rows[op->kind].effects, operand) : 0;
}

bool op_has(const Op *op, int effects)
{
	return op_rows[op->kind].effects & effects;
}
