/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* index.c - index expressions to LLVM integers. Each is computed once for where it dominates, in 32
 * bits where its range shows that it fits, else in 64; what cannot be negative is divided unsigned,
 * and constants of a sum are added last, so that addresses which differ by a constant share the
 * rest.
 *     k % 4, 0 <= k < 2^25   ->   urem i32 %k, 4 */
#include "codegen/cg.h"

static IxFacts facts(const Cg *g)
{
	return (IxFacts){.at = g->facts.at, .n = g->facts.n};
}

void cg_range(const Cg *g, const Ix *x, int64_t *lo, int64_t *hi)
{
	ix_range(x, facts(g), lo, hi);
}

static int bits_of(int64_t lo, int64_t hi)
{
	return lo >= INT32_MIN && hi <= INT32_MAX ? 32 : 64;
}

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

static LLVMTypeRef int_type(const Cg *g, int bits)
{
	return bits == 32 ? g->m->i32 : g->m->i64;
}

static LLVMValueRef int_const(const Cg *g, int bits, int64_t v)
{
	return LLVMConstInt(int_type(g, bits), (uint64_t)v, true);
}

static const Term *term_of(Cg *g, const Ix *x);

/* The term's value in so many bits. */
static LLVMValueRef widen(Cg *g, const Term *t, int bits)
{
	if (t->lo == t->hi)
		return int_const(g, bits, t->lo);
	if (t->bits == bits)
		return t->value;
	if (bits == 32)
		return LLVMBuildTrunc(g->b, t->value, g->m->i32, "");
	if (t->lo < 0)
		return LLVMBuildSExt(g->b, t->value, g->m->i64, "");
	LLVMValueRef v = LLVMBuildZExt(g->b, t->value, g->m->i64, "");
	if (LLVMIsAInstruction(v))
		LLVMSetNNeg(v, true);
	return v;
}

static LLVMValueRef value_of(Cg *g, const Ix *x, int bits)
{
	Term t = *term_of(g, x);
	return widen(g, &t, bits);
}

static void no_wrap(LLVMValueRef v, const Term *t)
{
	if (!LLVMIsAInstruction(v))
		return;
	LLVMSetNSW(v, true);
	if (t->lo >= 0)
		LLVMSetNUW(v, true);
}

static void split_into(const Cg *g, const Ix *x, Sum *s)
{
	int64_t lo, hi;
	cg_range(g, x, &lo, &hi);
	if (lo == hi) {
		s->constant += lo;
	} else if (x->kind == IX_ADD) {
		split_into(g, x->a, s);
		split_into(g, x->b, s);
	} else {
		if (s->n == SUM_MAX)
			panic("a sum of more than %d terms", SUM_MAX);
		s->at[s->n++] = x;
	}
}

Sum cg_split(const Cg *g, const Ix *x)
{
	Sum s = {.n = 0};
	split_into(g, x, &s);
	return s;
}

LLVMValueRef cg_sum(Cg *g, const Sum *s, int bits)
{
	LLVMValueRef v = NULL;
	for (int i = 0; i < s->n; i++) {
		LLVMValueRef t = value_of(g, s->at[i], bits);
		v = v ? LLVMBuildAdd(g->b, v, t, "") : t;
	}
	return v;
}

static LLVMValueRef emit_add(Cg *g, const Ix *x, int bits)
{
	Sum s = cg_split(g, x);
	LLVMValueRef v = cg_sum(g, &s, bits);
	return s.constant ? LLVMBuildAdd(g->b, v, int_const(g, bits, s.constant), "") : v;
}

/* A factor that is 32 bits wide may be cut: the product of the low halves is the low half. */
static LLVMValueRef emit_mul(Cg *g, const Ix *x, const Term *t)
{
	LLVMValueRef v =
		LLVMBuildMul(g->b, value_of(g, x->a, t->bits), value_of(g, x->b, t->bits), "");
	if (term_of(g, x->a)->bits <= t->bits && term_of(g, x->b)->bits <= t->bits &&
	    t->lo != INT64_MIN && t->hi != INT64_MAX)
		no_wrap(v, t);
	return v;
}

/* Floors: a remainder below zero takes one more from the quotient. */
static LLVMValueRef emit_floor(Cg *g, bool quotient, LLVMValueRef a, LLVMValueRef b, int bits)
{
	LLVMValueRef zero = int_const(g, bits, 0);
	LLVMValueRef r = LLVMBuildSRem(g->b, a, b, "");
	LLVMValueRef below = LLVMBuildICmp(g->b, LLVMIntSLT, r, zero, "");
	if (!quotient)
		return LLVMBuildSelect(g->b, below, LLVMBuildAdd(g->b, r, b, ""), r, "");
	LLVMValueRef q = LLVMBuildSDiv(g->b, a, b, "");
	return LLVMBuildAdd(g->b, q, LLVMBuildSExt(g->b, below, int_type(g, bits), ""), "");
}

/* A power of two: the shift and the mask of two's complement floor by themselves. */
static LLVMValueRef emit_shift(Cg *g, bool quotient, LLVMValueRef a, int64_t by, int bits)
{
	if (!quotient)
		return LLVMBuildAnd(g->b, a, int_const(g, bits, by - 1), "");
	return LLVMBuildAShr(g->b, a, int_const(g, bits, __builtin_ctzll((uint64_t)by)), "");
}

static LLVMValueRef emit_div(Cg *g, const Ix *x, int bits)
{
	LLVMValueRef a = value_of(g, x->a, bits), b = value_of(g, x->b, bits);
	bool quotient = x->kind == IX_DIV;
	const Term *by = term_of(g, x->b);
	if (by->lo == by->hi && by->lo > 0 && (by->lo & (by->lo - 1)) == 0)
		return emit_shift(g, quotient, a, by->lo, bits);
	if (term_of(g, x->a)->lo < 0)
		return emit_floor(g, quotient, a, b, bits);
	return quotient ? LLVMBuildUDiv(g->b, a, b, "") : LLVMBuildURem(g->b, a, b, "");
}

/* A count of 32 and more shifts in 64 bits. */
static int shift_bits(Cg *g, const Ix *x, int bits)
{
	bool shift = x->kind == IX_SHL || x->kind == IX_SHR;
	return shift && term_of(g, x->b)->hi > 31 ? 64 : bits;
}

static LLVMValueRef emit_shifted(Cg *g, const Ix *x, int bits)
{
	LLVMValueRef a = value_of(g, x->a, bits), b = value_of(g, x->b, bits);
	if (x->kind == IX_SHL)
		return LLVMBuildShl(g->b, a, b, "");
	return LLVMBuildAShr(g->b, a, b, "");
}

static LLVMValueRef emit_choose(Cg *g, const Ix *x, int bits)
{
	LLVMValueRef a = value_of(g, x->a, bits), b = value_of(g, x->b, bits);
	LLVMIntPredicate p = x->kind == IX_MIN ? LLVMIntSLT : LLVMIntSGT;
	return LLVMBuildSelect(g->b, LLVMBuildICmp(g->b, p, a, b, ""), a, b, "");
}

static LLVMValueRef emit_compare(Cg *g, const Ix *x)
{
	LLVMIntPredicate p = x->kind == IX_LT   ? LLVMIntSLT
			     : x->kind == IX_LE ? LLVMIntSLE
			     : x->kind == IX_EQ ? LLVMIntEQ
						: LLVMIntNE;
	int bits = max_int(term_of(g, x->a)->bits, term_of(g, x->b)->bits);
	return LLVMBuildICmp(g->b, p, value_of(g, x->a, bits), value_of(g, x->b, bits), "");
}

static LLVMValueRef emit_sym(Cg *g, const Ix *x, int bits)
{
	LLVMValueRef v = x->name == g->turns ? LLVMBuildLoad2(g->b, g->m->i32, g->turns_at, "")
					     : cg_name(g, x->name);
	LLVMTypeRef t = int_type(g, bits);
	return LLVMTypeOf(v) == t ? v : LLVMBuildIntCast2(g->b, v, t, true, "");
}

static LLVMValueRef emit_two(Cg *g, const Ix *x, int bits)
{
	if (x->kind == IX_DIV || x->kind == IX_MOD)
		return emit_div(g, x, bits);
	if (x->kind == IX_SHL || x->kind == IX_SHR)
		return emit_shifted(g, x, bits);
	return x->kind == IX_XOR
		       ? LLVMBuildXor(g->b, value_of(g, x->a, bits), value_of(g, x->b, bits), "")
		       : emit_choose(g, x, bits);
}

static LLVMValueRef emit_term(Cg *g, const Ix *x, const Term *t)
{
	switch (x->kind) {
	case IX_SYM:
		return emit_sym(g, x, t->bits);
	case IX_ADD:
		return emit_add(g, x, t->bits);
	case IX_MUL:
		return emit_mul(g, x, t);
	case IX_DIV:
	case IX_MOD:
	case IX_XOR:
	case IX_SHL:
	case IX_SHR:
	case IX_MIN:
	case IX_MAX: {
		int bits =
			max_int(t->bits, max_int(term_of(g, x->a)->bits, term_of(g, x->b)->bits));
		bits = shift_bits(g, x, bits);
		LLVMValueRef v = emit_two(g, x, bits);
		return bits > t->bits ? LLVMBuildTrunc(g->b, v, g->m->i32, "") : v;
	}
	case IX_LT:
	case IX_LE:
	case IX_EQ:
	case IX_NE:
	case IX_AND:
	case IX_OR:
		return LLVMBuildZExt(g->b, cg_cond(g, x), g->m->i32, "");
	case IX_CONST:
	case IX_COUNT:
		break;
	}
	panic("an index expression of kind %d", (int)x->kind);
}

static int *term_place(Cg *g, uint32_t id)
{
	if (id >= g->nterm_at) {
		uint32_t n = id + 256;
		int *at = NEWN(g->arena, int, n);
		if (g->nterm_at)
			memcpy(at, g->term_at, g->nterm_at * sizeof *at);
		g->term_at = at;
		g->nterm_at = n;
	}
	return &g->term_at[id];
}

bool cg_varies(const Cg *g, const Ix *x)
{
	return g->turns && ix_uses(x, g->turns);
}

/* Valid until the next call. */
static const Term *term_of(Cg *g, const Ix *x)
{
	int at = *term_place(g, x->id);
	if (at)
		return &g->terms.at[at - 1];
	Term t = {.ix = x};
	cg_range(g, x, &t.lo, &t.hi);
	if (ix_is_const(x, &t.lo)) /* the largest number is the bound of an open range, too */
		t.hi = t.lo;
	t.bits = bits_of(t.lo, t.hi);
	if (t.lo != t.hi)
		t.value = emit_term(g, x, &t);
	vec_push(g->arena, &g->terms, t);
	if (!cg_varies(g, x))
		*term_place(g, x->id) = g->terms.n;
	return &g->terms.at[g->terms.n - 1];
}

void cg_bind_term(Cg *g, const Ix *x, LLVMValueRef value)
{
	Term t = {.ix = x, .bits = 32, .value = value};
	cg_range(g, x, &t.lo, &t.hi);
	if (t.lo == t.hi)
		return; /* a number */
	vec_push(g->arena, &g->terms, t);
	*term_place(g, x->id) = g->terms.n;
}

bool cg_fits32(const Cg *g, const Ix *x)
{
	int64_t lo, hi;
	cg_range(g, x, &lo, &hi);
	return bits_of(lo, hi) == 32;
}

LLVMValueRef cg_i32(Cg *g, const Ix *x)
{
	return value_of(g, x, 32);
}

LLVMValueRef cg_i64(Cg *g, const Ix *x)
{
	return value_of(g, x, 64);
}

LLVMValueRef cg_cond(Cg *g, const Ix *x)
{
	int64_t lo, hi;
	cg_range(g, x, &lo, &hi);
	if (lo == hi || lo > 0 || hi < 0)
		return LLVMConstInt(g->m->i1, lo != 0 || hi != 0, false);
	if (x->kind == IX_AND)
		return LLVMBuildAnd(g->b, cg_cond(g, x->a), cg_cond(g, x->b), "");
	if (x->kind == IX_OR)
		return LLVMBuildOr(g->b, cg_cond(g, x->a), cg_cond(g, x->b), "");
	if (x->kind == IX_LT || x->kind == IX_LE || x->kind == IX_EQ || x->kind == IX_NE)
		return emit_compare(g, x);
	Term t = *term_of(g, x);
	return LLVMBuildICmp(g->b, LLVMIntNE, t.value, int_const(g, t.bits, 0), "");
}
