/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_elt.c - elementwise operations: each row of elementwise.def has one function value_ROW of
 * scalars in emit_math.c, which is applied register by register. Conversions to 16 bits go by
 * pairs, as the hardware has them (PTX ISA: cvt.rn.bf16x2.f32).
 *     %c = add %a, %b : reg f32 ...   ->   one fadd a register */
#include "codegen/cg.h"

/* Register of operand i for the result's register r: of a row vector, that of its row. */
static int register_of(const Op *op, int i, int r)
{
	const Type *in = op->in[i].val->type;
	return in->kind == TY_TILE ? tv_source(op->out->type, r, in) : 0;
}

/* Registers i and j, of 16 bits, as a vector: the one that they came from, where there is one. */
static LLVMValueRef pair_of(Cg *g, const Bound *v, int i, int j)
{
	if (v->pair && i % 2 == 0 && j == i + 1)
		return v->pair[i / 2];
	LLVMValueRef pair = LLVMGetPoison(LLVMVectorType(v->type, 2));
	pair = LLVMBuildInsertElement(g->b, pair, cg_reg(g, v, i), cg_int32(g, 0), "");
	return LLVMBuildInsertElement(g->b, pair, cg_reg(g, v, j), cg_int32(g, 1), "");
}

/* The pair's register split again; that of two halves is kept as it is too, for what stores it. */
static void split_pair(Cg *g, Bound *to, int i, LLVMValueRef pair, Elem elem)
{
	if (elem_pairs(elem)) {
		to->pair[i / 2] = pair;
		for (int j = 0; j < 2; j++)
			to->reg[i + j] = LLVMBuildExtractElement(g->b, pair, cg_int32(g, j), "");
		return;
	}
	LLVMValueRef eight = LLVMConstInt(LLVMTypeOf(pair), 8, false);
	to->reg[i] = LLVMBuildTrunc(g->b, pair, to->type, "");
	to->reg[i + 1] = LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, pair, eight, ""), to->type, "");
}

/* Operands of the result's registers r .. r + n: one, or pairs. */
static LLVMValueRef applied(Cg *g, const Op *op, const Bound *in, Value value, int r, int n)
{
	LLVMValueRef x[3];
	for (int i = 0; i < op->nin; i++)
		x[i] = n == 1 ? cg_reg(g, &in[i], register_of(op, i, r))
			      : pair_of(g, &in[i], register_of(op, i, r),
					register_of(op, i, r + 1));
	return value(g, x);
}

static const Value of_floats[OP_COUNT] = {
#undef VALUE_OF_FLOATS
#define VALUE_OF_FLOATS(id)                                 [OP_##id] = value_##id,
#define ELT(id, name, n, error, shape, small, types, value) VALUE_OF_##types(id)
#include "ir/elementwise.def"
};

Value cg_value(OpKind op, Elem e)
{
	Value value = elem_is_word(e) ? cg_int_value(op, elem_rows[e].cls == 'S') : of_floats[op];
	if (!value)
		panic("%s is not computed in %s", op_rows[op].name, elem_rows[e].name);
	return value;
}

/* The result is as long as the longest operand: a scalar counts for every register. */
static void elementwise(Cg *g, const Op *op)
{
	Value value = cg_value(op->kind, op->out->type->elem);
	Bound in[3];
	int n = op->out->type->kind == TY_TILE ? type_regs(op->out->type) : 1, r = 0;
	Elem elem = op->out->type->elem;
	for (int i = 0; i < op->nin; i++)
		in[i] = *cg_val(g, op->in[i].val);
	Bound *out = cg_bind(g, op->out, n, cg_elem(g->m, elem));
	if (elem_pairs(elem))
		out->pair = NEWN(g->arena, LLVMValueRef, n / 2);
	for (; out->pair && r + 1 < n; r += 2)
		split_pair(g, out, r, applied(g, op, in, value, r, 2), elem);
	for (; r < n; r++)
		out->reg[r] = applied(g, op, in, value, r, 1);
}

#define ELT(id, ...)                        \
	void emit_##id(Cg *g, const Op *op) \
	{                                   \
		elementwise(g, op);         \
	}
#include "ir/elementwise.def"

/* A size, or a coordinate, is computed where it stands. */
void emit_SIZEVAL(Cg *g, const Op *op)
{
	bool real = elem_is_float(op->out->type->elem);
	LLVMValueRef x = real && !cg_fits32(g, IX(op, VALUE)) ? cg_i64(g, IX(op, VALUE))
							      : cg_i32(g, IX(op, VALUE));
	Bound *to = cg_bind(g, op->out, 1, cg_elem(g->m, op->out->type->elem));
	to->reg[0] = real ? LLVMBuildSIToFP(g->b, x, to->type, "") : x;
}

/* The thread's first element, and how far its registers lie after that one. */
void emit_SERIES(Cg *g, const Op *op)
{
	const Type *t = op->out->type;
	LLVMValueRef from = cg_i32(g, IX(op, FROM));
	Bound *to = cg_bind(g, op->out, type_regs(t), g->m->i32);
	for (int i = 0; i < to->n; i++)
		to->reg[i] =
			LLVMBuildAdd(g->b, from, cg_int32(g, tv_register_offset(t->tv, i)), "");
}

void emit_MOVE(Cg *g, const Op *op)
{
	const Bound *to = cg_val(g, IN(op, TO).val), *from = cg_val(g, IN(op, FROM).val);
	bool words = to->packed && !cg_by_pairs(to);
	for (int i = 0; i < (words ? cg_words(to) : to->n); i++)
		if (words)
			cg_set_word(g, to, i, cg_packed(g, from, i));
		else
			cg_set_reg(g, to, i, cg_reg(g, from, i));
}

void emit_ADD_TO(Cg *g, const Op *op)
{
	const Bound *to = cg_val(g, IN(op, TO).val), *from = cg_val(g, IN(op, FROM).val);
	int first = cg_first_register(g, &IN(op, TO));
	for (int i = 0; i < from->n; i++) {
		LLVMValueRef x[2] = {cg_reg(g, to, first + i), cg_reg(g, from, i)};
		cg_set_reg(g, to, first + i,
			   elem_is_float(IN(op, TO).val->type->elem)
				   ? value_ADD(g, x)
				   : LLVMBuildAdd(g->b, x[0], x[1], ""));
	}
}

/* ------------------------------------------------------------------ conversions */

/* What makes a pair of f32 one register of 32 or 16 bits, the first operand the high half, and what
 * makes the latter a pair of f16 again (PTX ISA: cvt). */
static const struct {
	const char *pack, *unpack;
} pairs[EL_COUNT] = {
	[EL_BF16] = {"llvm.nvvm.ff2bf16x2.rn", NULL},
	[EL_F16] = {"llvm.nvvm.ff2f16x2.rn", NULL},
	[EL_E4M3] = {"llvm.nvvm.ff.to.e4m3x2.rn", "llvm.nvvm.e4m3x2.to.f16x2.rn"},
	[EL_E5M2] = {"llvm.nvvm.ff.to.e5m2x2.rn", "llvm.nvvm.e5m2x2.to.f16x2.rn"},
};

const char *cg_unpack(Elem e)
{
	return pairs[e].unpack;
}

/* By the bits of a number: an infinity stays, and what is no number is the one that cvt makes, or
 * the tensor core would cut it off to an infinity. */
static LLVMValueRef nearest_tf32(Cg *g, LLVMValueRef x)
{
	LLVMBuilderRef b = g->b;
	LLVMValueRef bits = LLVMBuildBitCast(b, x, g->m->i32, ""),
		     exponent = cg_int32(g, 0x7f800000),
		     odd = LLVMBuildAnd(b, LLVMBuildLShr(b, bits, cg_int32(g, 13), ""),
					cg_int32(g, 1), ""),
		     half = LLVMBuildAdd(b, odd, cg_int32(g, 0xfff), ""),
		     up = LLVMBuildAnd(b, LLVMBuildAdd(b, bits, half, ""), cg_int32(g, -0x2000),
				       ""),
		     beyond = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildAnd(b, bits, exponent, ""),
					    exponent, "");
	LLVMValueRef none = LLVMBuildFCmp(b, LLVMRealUNO, x, x, ""),
		     most = LLVMBuildSelect(b, beyond, bits, up, "");
	most = LLVMBuildSelect(b, none, cg_int32(g, 0x7fffffff), most, "");
	return LLVMBuildBitCast(b, most, g->m->f32, "");
}

/* The 10 bits of fraction that tf32 has, to nearest even: also of what is read as tf32. */
static LLVMValueRef to_tf32(Cg *g, LLVMValueRef x)
{
	if (!target_has(g->k->target, FT_TF32))
		return nearest_tf32(g, x);
	LLVMValueRef bits = cg_call(g, "llvm.nvvm.f2tf32.rn", NULL, &x, 1);
	return LLVMBuildBitCast(g->b, bits, g->m->f32, "");
}

/* Exact but for integers of 32 bits and more, which are rounded to nearest even. */
static LLVMValueRef to_f32(Cg *g, LLVMValueRef x, Elem from)
{
	LLVMTypeRef f32 = g->m->f32;
	if (from == EL_F32)
		return x;
	if (elem_is_wide(from))
		return LLVMBuildFPTrunc(g->b, x, f32, "");
	if (from == EL_TF32)
		return to_tf32(g, x);
	if (elem_rows[from].cls == 'S')
		return LLVMBuildSIToFP(g->b, x, f32, "");
	if (elem_rows[from].cls == 'U')
		return LLVMBuildUIToFP(g->b, x, f32, "");
	if (pairs[from].unpack) {
		LLVMValueRef low = LLVMBuildZExt(g->b, x, LLVMInt16TypeInContext(g->m->lc), "");
		LLVMValueRef two = cg_call(g, pairs[from].unpack, NULL, &low, 1);
		x = LLVMBuildExtractElement(g->b, two, cg_int32(g, 0), "");
	}
	return LLVMBuildFPExt(g->b, x, f32, "");
}

/* An integer of 32 bits as one of fewer: what lies beyond becomes the nearest that is there. */
static LLVMValueRef saturate(Cg *g, LLVMValueRef x, Elem from, Elem to)
{
	const char *most = elem_rows[from].cls == 'S' ? "llvm.smin" : "llvm.umin";
	int bits = elem_rows[to].bits, low = elem_rows[to].cls == 'S';
	if (bits >= 32)
		return x;
	int64_t lo = low ? -(INT64_C(1) << (bits - 1)) : 0, hi = (INT64_C(1) << (bits - low)) - 1;
	LLVMValueRef in[2] = {x, cg_int32(g, lo)};
	if (elem_rows[from].cls == 'S')
		in[0] = cg_call(g, "llvm.smax", g->m->i32, in, 2);
	in[1] = cg_int32(g, hi);
	x = cg_call(g, most, g->m->i32, in, 2);
	return LLVMBuildTrunc(g->b, x, cg_elem(g->m, to), "");
}

/* Registers i and i + 1, f32, as one; the first is the low half. */
static LLVMValueRef narrow_pair(Cg *g, const Bound *from, int i, Elem to)
{
	LLVMValueRef x[2] = {cg_reg(g, from, i + 1), cg_reg(g, from, i)};
	return cg_call(g, pairs[to].pack, NULL, x, 2);
}

/* Integers: to nearest even, saturated, 0 of what is no number (cvt.rni.s32.f32). */
static LLVMValueRef from_f32(Cg *g, LLVMValueRef x, Elem to)
{
	if (to == EL_F32)
		return x;
	if (elem_is_wide(to))
		return LLVMBuildFPExt(g->b, x, cg_elem(g->m, to), "");
	if (to == EL_TF32)
		return to_tf32(g, x);
	if (!elem_is_float(to))
		return saturate(g,
				cg_call(g, to == EL_U32 ? "llvm.nvvm.f2ui.rn" : "llvm.nvvm.f2i.rn",
					NULL, &x, 1),
				to == EL_U32 ? EL_U32 : EL_I32, to);
	if (!pairs[to].unpack)
		return LLVMBuildFPTrunc(g->b, x, cg_elem(g->m, to), "");
	LLVMValueRef in[2] = {LLVMConstReal(g->m->f32, 0), x};
	LLVMValueRef two = cg_call(g, pairs[to].pack, NULL, in, 2);
	return LLVMBuildTrunc(g->b, two, cg_elem(g->m, to), "");
}

static LLVMValueRef convert_one(Cg *g, LLVMValueRef x, Elem from, Elem to)
{
	if (from == to)
		return from == EL_TF32 ? to_tf32(g, x) : x;
	if (elem_is_word(to) && !elem_is_float(from))
		return LLVMBuildIntCast2(g->b, x, g->m->i32, elem_rows[from].cls == 'S', "");
	if (elem_is_word(from) && !elem_is_float(to))
		return saturate(g, x, from, to);
	return from_f32(g, to_f32(g, x, from), to);
}

bool cg_by_pairs(const Bound *v)
{
	return v->packed && v->packed * elem_rows[v->val->type->elem].bits < 32;
}

/* Each pair from the word that holds it. */
static void halved(Cg *g, const Bound *from, Bound *to)
{
	Elem elem = to->val->type->elem;
	to->pair = NEWN(g->arena, LLVMValueRef, to->n / 2);
	for (int i = 0; i + 1 < to->n; i += 2)
		split_pair(g, to, i,
			   cg_halved(g, cg_word(g, from, i / 2), from->val->type->elem, elem),
			   elem);
}

/* Of an integer, which f32 holds with what is added. */
static LLVMValueRef plus_one(Cg *g, LLVMValueRef x, Elem from, double plus, Elem to)
{
	LLVMValueRef sum[2] = {to_f32(g, x, from), LLVMConstReal(g->m->f32, plus)};
	return from_f32(g, value_ADD(g, sum), to);
}

static void convert_plus(Cg *g, const Bound *from, Bound *to, double plus)
{
	for (int i = 0; i < to->n; i++)
		to->reg[i] = plus_one(g, cg_reg(g, from, i), from->val->type->elem, plus,
				      to->val->type->elem);
}

static void convert(Cg *g, const Bound *from, Elem elem, Bound *to)
{
	Elem type = to->val->type->elem;
	int i = 0;
	if (elem == EL_F32 && pairs[type].pack && from->n > 1) {
		if (!pairs[type].unpack)
			to->pair = NEWN(g->arena, LLVMValueRef, to->n / 2);
		for (; i + 1 < to->n; i += 2)
			split_pair(g, to, i, narrow_pair(g, from, i, type), type);
	}
	for (; i < to->n; i++)
		to->reg[i] = convert_one(g, cg_reg(g, from, i), elem, type);
}

void emit_CVT(Cg *g, const Op *op)
{
	const Type *type = op->out->type;
	Elem elem = IN(op, X).val->type->elem;
	int n = type->kind == TY_TILE ? type_regs(type) : 1;
	const Attr *plus = attrs_get(&op->attrs, A_PLUS);
	Bound from = *cg_val(g, IN(op, X).val);
	bool by_pairs = cg_by_pairs(&from), halves = by_pairs && cg_halves(op);
	bool words = elem_is_word(type->elem) && !elem_is_float(elem);
	if (by_pairs && !halves && !plus && !words && cg_widens(elem)) {
		from = cg_widened(g, &from, elem);
		elem = EL_F32;
	}
	Bound *to = cg_bind(g, op->out, n, cg_elem(g->m, type->elem));
	if (halves)
		halved(g, &from, to);
	else if (plus)
		convert_plus(g, &from, to, plus->real);
	else
		convert(g, &from, elem, to);
}

static LLVMValueRef as_i32(Cg *g, LLVMValueRef pair)
{
	return LLVMBuildBitCast(g->b, pair, g->m->i32, "");
}

/* Two of them side by side are a register. */
static bool halves(const Bound *v)
{
	return elem_rows[v->val->type->elem].bits == 16;
}

LLVMValueRef cg_vector(Cg *g, const Bound *v, int first, int n)
{
	if (n == 1)
		return cg_reg(g, v, first);
	int step = halves(v) ? 2 : 1;
	if (halves(v) && n == 2)
		return as_i32(g, pair_of(g, v, first, first + 1));
	LLVMTypeRef unit = halves(v) ? g->m->i32 : v->type;
	LLVMValueRef out = LLVMGetPoison(LLVMVectorType(unit, (unsigned)(n / step)));
	for (int i = 0; i < n; i += step) {
		LLVMValueRef x = halves(v) ? as_i32(g, pair_of(g, v, first + i, first + i + 1))
					   : cg_reg(g, v, first + i);
		out = LLVMBuildInsertElement(g->b, out, x, cg_int32(g, i / step), "");
	}
	return out;
}

/* Registers of less than 16 bits, the first in the lowest. */
LLVMValueRef cg_pack(Cg *g, const Bound *v, const int *reg)
{
	int bits = elem_rows[v->val->type->elem].bits;
	LLVMValueRef all = NULL;
	for (int i = 0; i < 32 / bits; i++) {
		LLVMValueRef x = LLVMBuildZExt(g->b, cg_reg(g, v, reg[i]), g->m->i32, "");
		x = LLVMBuildShl(g->b, x, cg_int32(g, (int64_t)i * bits), "");
		all = all ? LLVMBuildOr(g->b, all, x, "") : x;
	}
	return all;
}

LLVMValueRef cg_packed(Cg *g, const Bound *v, int word)
{
	enum { MOST = 8 };
	int bits = elem_rows[v->val->type->elem].bits, per = 32 / bits, reg[MOST];
	if (v->bits)
		return v->bits[word];
	if (v->packed)
		return cg_word(g, v, word);
	if (bits == 16)
		return cg_vector(g, v, word * per, per);
	if (bits == 32)
		return LLVMBuildBitCast(g->b, cg_reg(g, v, word), g->m->i32, "");
	for (int i = 0; i < per; i++)
		reg[i] = word * per + i;
	return cg_pack(g, v, reg);
}

void cg_set_bits(Cg *g, const Bound *v, int first, LLVMValueRef bits)
{
	int per = 32 / elem_rows[v->val->type->elem].bits;
	if (v->packed) {
		cg_set_word(g, v, first / per, bits);
		return;
	}
	LLVMTypeRef type = LLVMVectorType(v->type, (unsigned)per);
	LLVMValueRef all = LLVMBuildBitCast(g->b, bits, type, "");
	for (int i = 0; i < per; i++)
		cg_set_reg(g, v, first + i, LLVMBuildExtractElement(g->b, all, cg_int32(g, i), ""));
}

void cg_set_vector(Cg *g, const Bound *v, int first, int n, LLVMValueRef x)
{
	if (cg_by_pairs(v)) {
		cg_set_word(g, v, first / v->packed, x);
		return;
	}
	int step = halves(v) && n > 1 ? 2 : 1;
	for (int i = 0; i < n; i += step) {
		LLVMValueRef unit =
			n == step ? x : LLVMBuildExtractElement(g->b, x, cg_int32(g, i / step), "");
		if (step == 2)
			cg_set_bits(g, v, first + i, unit);
		else
			cg_set_reg(g, v, first + i, unit);
	}
}

LLVMTypeRef cg_vector_type(const Cg *g, const Bound *v, int n)
{
	if (cg_by_pairs(v))
		return cg_word_type(g, v);
	LLVMTypeRef unit = halves(v) && n > 1 ? g->m->i32 : v->type;
	int units = halves(v) && n > 1 ? n / 2 : n;
	return units == 1 ? unit : LLVMVectorType(unit, (unsigned)units);
}

void emit_PART(Cg *g, const Op *op)
{
	int n = type_regs(op->out->type);
	int64_t first = 0, last;
	Bound from = *cg_val(g, IN(op, OF).val);
	cg_range(g, IN(op, OF).at, &first, &last);
	Bound *to = cg_bind(g, op->out, n, from.type);
	for (int i = 0; i < n; i++)
		to->reg[i] = cg_reg(g, &from, (int)first + i);
}
