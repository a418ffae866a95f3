/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* select.c - comparison, selection, moves, packing of registers (PTX ISA: Comparison and Selection
 * Instructions, Half Precision Comparison Instructions, mov). */
#include "sim/lanes.h"
#include "sim/number.h"

typedef enum { C_EQ, C_NE, C_LT, C_LE, C_GT, C_GE, C_NUM, C_NAN } Cmp;
enum { CMP_UNORDERED = 8 };

/* extra: the comparison, and whether it holds for NaN. lo, ls, hi, hs are unsigned lt, le, gt, ge.
 */
void prepare_setp(Pool *a, Ins *in)
{
	static const struct {
		Mod mod;
		u32 cmp;
	} table[] = {
		{M_EQ, C_EQ},
		{M_NE, C_NE},
		{M_LT, C_LT},
		{M_LE, C_LE},
		{M_GT, C_GT},
		{M_GE, C_GE},
		{M_LO, C_LT},
		{M_LS, C_LE},
		{M_HI, C_GT},
		{M_HS, C_GE},
		{M_NUM, C_NUM},
		{M_NAN, C_NAN},
		{M_EQU, C_EQ | CMP_UNORDERED},
		{M_NEU, C_NE | CMP_UNORDERED},
		{M_LTU, C_LT | CMP_UNORDERED},
		{M_LEU, C_LE | CMP_UNORDERED},
		{M_GTU, C_GT | CMP_UNORDERED},
		{M_GEU, C_GE | CMP_UNORDERED},
	};
	(void)a;
	for (u32 i = 0; i < SIM_COUNT(table); i++)
		if (has(in, table[i].mod))
			in->extra = table[i].cmp;
}

#define COMPARE(T)                                                      \
	do {                                                            \
		const T *x = lanes(w, in, k), *y = lanes(w, in, k + 1); \
		switch (in->extra & 7) {                                \
		case C_EQ:                                              \
			for (u32 l = 0; l < LANES; l++)                 \
				r |= (u32)(x[l] == y[l]) << l;          \
			break;                                          \
		case C_NE:                                              \
			for (u32 l = 0; l < LANES; l++)                 \
				r |= (u32)(x[l] != y[l]) << l;          \
			break;                                          \
		case C_LT:                                              \
			for (u32 l = 0; l < LANES; l++)                 \
				r |= (u32)(x[l] < y[l]) << l;           \
			break;                                          \
		case C_LE:                                              \
			for (u32 l = 0; l < LANES; l++)                 \
				r |= (u32)(x[l] <= y[l]) << l;          \
			break;                                          \
		case C_GT:                                              \
			for (u32 l = 0; l < LANES; l++)                 \
				r |= (u32)(x[l] > y[l]) << l;           \
			break;                                          \
		default:                                                \
			for (u32 l = 0; l < LANES; l++)                 \
				r |= (u32)(x[l] >= y[l]) << l;          \
		}                                                       \
	} while (0)

static bool compare_f(u32 cmp, f64 x, f64 y)
{
	bool nan = x != x || y != y;
	if ((cmp & 7) >= C_NUM)
		return nan == ((cmp & 7) == C_NAN);
	if (nan)
		return cmp & CMP_UNORDERED;
	switch (cmp & 7) {
	case C_EQ:
		return x == y;
	case C_NE:
		return x != y;
	case C_LT:
		return x < y;
	case C_LE:
		return x <= y;
	case C_GT:
		return x > y;
	default:
		return x >= y;
	}
}

static f64 operand(const Ins *in, Type t, u64 v)
{
	switch (t) {
	case T_F64:
		return num_double(v);
	case T_F32:
		return (f64)(has(in, M_FTZ) ? f32_flush(f32_of((u32)v)) : f32_of((u32)v));
	case T_BF16:
	case T_BF16X2:
		return bf16_value((u32)v & 0xffff);
	default:
		return f16_value((u32)v);
	}
}

static u32 compare_floats(Warp *w, const Ins *in, u32 mask, Type t, int k)
{
	u32 r = 0;
	EACH_LANE(l, mask)
	{
		f64 x = operand(in, t, arg_get(w, &in->args[k], l));
		f64 y = operand(in, t, arg_get(w, &in->args[k + 1], l));
		r |= (u32)compare_f(in->extra, x, y) << l;
	}
	return r;
}

/* Which lanes meet the comparison of arguments k and k + 1, of type t. */
static u32 compare(Warp *w, const Ins *in, u32 mask, Type t, int k)
{
	u32 r = 0;
	if (type_class[t] == 'F')
		return compare_floats(w, in, mask, t, k);
	bool s = type_class[t] == 'S' && !has(in, M_LO) && !has(in, M_LS) && !has(in, M_HI) &&
		 !has(in, M_HS);
	if (type_bytes[t] == 2 && s)
		COMPARE(s16);
	else if (type_bytes[t] == 2)
		COMPARE(u16);
	else if (type_bytes[t] == 4 && s)
		COMPARE(s32);
	else if (type_bytes[t] == 4)
		COMPARE(u32);
	else if (s)
		COMPARE(s64);
	else
		COMPARE(u64);
	return r;
}

static u32 combine(Warp *w, const Ins *in, u32 r, int k)
{
	if (in->nargs <= k)
		return r;
	u32 q = pred_get(w, &in->args[k]);
	return has(in, M_AND) ? r & q : has(in, M_OR) ? r | q : r ^ q;
}

/* p|q, a, b, c: p = (a cmp b) op c, q = !(a cmp b) op c */
Run run_setp(Warp *w, const Ins *in, u32 mask)
{
	u32 r = compare(w, in, mask, in->type[0], 2);
	u32 p = combine(w, in, r, 4), q = combine(w, in, ~r, 4);
	pred_set(w, &in->args[0], mask, p);
	if (in->args[1].kind)
		pred_set(w, &in->args[1], mask, q);
	return RUN_NEXT;
}

/* Halves of packed operands: shift 0 or 16. */
static u32 compare_half(Warp *w, const Ins *in, u32 mask, Type t, int k, int shift)
{
	u32 r = 0;
	EACH_LANE(l, mask)
	{
		f64 x = operand(in, t, arg_get(w, &in->args[k], l) >> shift);
		f64 y = operand(in, t, arg_get(w, &in->args[k + 1], l) >> shift);
		r |= (u32)compare_f(in->extra, x, y) << l;
	}
	return r;
}

Run run_setp2(Warp *w, const Ins *in, u32 mask)
{
	pred_set(w, &in->args[0], mask, compare_half(w, in, mask, in->type[0], 2, 0));
	if (in->args[1].kind)
		pred_set(w, &in->args[1], mask, compare_half(w, in, mask, in->type[0], 2, 16));
	return RUN_NEXT;
}

Run run_set(Warp *w, const Ins *in, u32 mask)
{
	u32 r = combine(w, in, compare(w, in, mask, in->type[1], 1), 3);
	u32 yes = in->type[0] == T_F32 ? 0x3f800000 : FULL;
	EACH_LANE(l, mask)
	arg_set(w, &in->args[0], l, r >> l & 1 ? yes : 0);
	return RUN_NEXT;
}

Run run_set2(Warp *w, const Ins *in, u32 mask)
{
	u32 low = compare_half(w, in, mask, in->type[1], 1, 0);
	u32 high = compare_half(w, in, mask, in->type[1], 1, 16);
	u32 yes = in->type[0] == T_F16X2 ? 0x3c00 : 0x3f80;
	EACH_LANE(l, mask)
	arg_set(w, &in->args[0], l, (low >> l & 1 ? yes : 0) | (high >> l & 1 ? yes << 16 : 0));
	return RUN_NEXT;
}

#define SELECT(T) OP2(T, p >> l & 1 ? x[l] : y[l])

Run run_selp(Warp *w, const Ins *in, u32 mask)
{
	u32 p = pred_get(w, &in->args[3]);
	if (type_bytes[in->type[0]] == 2)
		SELECT(u16);
	else if (type_bytes[in->type[0]] == 4)
		SELECT(u32);
	else
		SELECT(u64);
	return RUN_NEXT;
}

/* d, a, b, c: c >= 0 ? a : b */
Run run_slct(Warp *w, const Ins *in, u32 mask)
{
	EACH_LANE(l, mask)
	{
		u32 c = (u32)arg_get(w, &in->args[3], l);
		bool first = in->type[1] == T_S32 ? (s32)c >= 0 : f32_of(c) >= 0.0f;
		arg_set(w, &in->args[0], l, arg_get(w, &in->args[first ? 1 : 2], l));
	}
	return RUN_NEXT;
}

Run run_mov_pred(Warp *w, const Ins *in, u32 mask)
{
	pred_set(w, &in->args[0], mask, pred_get(w, &in->args[1]));
	return RUN_NEXT;
}

static u64 clock_value(const Warp *w, s64 sreg)
{
	u64 t = w->cluster->steps;
	return sreg == SR_CLOCK_HI || sreg == SR_GLOBALTIMER_HI ? t >> 32 : t;
}

Run run_mov(Warp *w, const Ins *in, u32 mask)
{
	u32 bytes = type_bytes[in->type[0]];
	if (in->args[1].kind == A_CLOCK) {
		u64 t = clock_value(w, in->args[1].imm);
		EACH_LANE(l, mask)
		arg_set(w, &in->args[0], l, t);
	} else if (mask == FULL && in->args[1].width == bytes) {
		memmove(lanes(w, in, 0), lanes(w, in, 1), (size_t)bytes * LANES);
	} else if (bytes == 16) {
		EACH_LANE(l, mask)
		memmove((u8 *)lanes(w, in, 0) + l * 16, (u8 *)lanes(w, in, 1) + l * 16, 16);
	} else {
		EACH_LANE(l, mask)
		arg_set(w, &in->args[0], l, arg_get(w, &in->args[1], l));
	}
	return RUN_NEXT;
}

void prepare_pack(Pool *a, Ins *in)
{
	const Arg *v = in->args[0].kind == A_VEC ? &in->args[0] : &in->args[1];
	u32 each = type_bytes[in->type[0]] / (v->n ? v->n : 1u);
	for (int i = 0; i < v->n; i++)
		if (v->list[i].kind != A_SINK && v->list[i].width != each)
			refuse(a, in, "the elements between braces do not fill the type");
}

Run run_pack(Warp *w, const Ins *in, u32 mask)
{
	const Arg *v = &in->args[1];
	u32 bytes = type_bytes[in->type[0]], each = bytes / v->n;
	EACH_LANE(l, mask)
	{
		u8 all[16] = {0};
		for (u32 i = 0; i < v->n; i++) {
			u64 part = arg_get(w, &v->list[i], l);
			memcpy(all + i * each, &part, each);
		}
		memcpy((u8 *)lanes(w, in, 0) + l * bytes, all, bytes);
	}
	return RUN_NEXT;
}

Run run_unpack(Warp *w, const Ins *in, u32 mask)
{
	const Arg *v = &in->args[0];
	u32 bytes = type_bytes[in->type[0]], each = bytes / v->n;
	EACH_LANE(l, mask)
	{
		u8 all[16];
		memcpy(all, (u8 *)lanes(w, in, 1) + l * bytes, bytes);
		for (u32 i = 0; i < v->n; i++) {
			u64 part = 0;
			memcpy(&part, all + i * each, each);
			if (v->list[i].kind == A_SLOT)
				arg_set(w, &v->list[i], l, part);
		}
	}
	return RUN_NEXT;
}
