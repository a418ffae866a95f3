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

/* All lanes, so that the compiler can use vectors. */
#define COMPARED(KEY, CMP) CASE(KEY, for (u32 l = 0; l < LANES; l++) r |= (u32)(x[l] CMP y[l]) << l)
#define COMPARE(T)                                                      \
	do {                                                            \
		const T *x = lanes(w, in, k), *y = lanes(w, in, k + 1); \
		switch (in->extra & 7) {                                \
			COMPARED(C_EQ, ==);                             \
			COMPARED(C_NE, !=);                             \
			COMPARED(C_LT, <);                              \
			COMPARED(C_LE, <=);                             \
			COMPARED(C_GT, >);                              \
			COMPARED(C_GE, >=);                             \
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
	f64 x = float_value(t, v);
	return t == T_F32 && has(in, M_FTZ) ? (f64)f32_flush((f32)x) : x;
}

/* Of packed operands the halves at shift 0 or 16. */
static u32 compare_floats(Warp *w, const Ins *in, u32 mask, Type t, int k, int shift)
{
	u32 r = 0;
	EACH_BIT(r, compare_f(in->extra, operand(in, t, GET(k) >> shift),
			      operand(in, t, GET(k + 1) >> shift)));
	return r;
}

/* Which lanes meet the comparison of arguments k and k + 1, of type t. */
static u32 compare(Warp *w, const Ins *in, u32 mask, Type t, int k)
{
	u32 r = 0;
	if (type_class[t] == 'F')
		return compare_floats(w, in, mask, t, k, 0);
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

Run run_setp2(Warp *w, const Ins *in, u32 mask)
{
	pred_set(w, &in->args[0], mask, compare_floats(w, in, mask, in->type[0], 2, 0));
	if (in->args[1].kind)
		pred_set(w, &in->args[1], mask, compare_floats(w, in, mask, in->type[0], 2, 16));
	return RUN_NEXT;
}

Run run_set(Warp *w, const Ins *in, u32 mask)
{
	u32 r = combine(w, in, compare(w, in, mask, in->type[1], 1), 3);
	u32 yes = in->type[0] == T_F32 ? 0x3f800000 : FULL;
	EACH_SET(r >> l & 1 ? yes : 0);
	return RUN_NEXT;
}

Run run_set2(Warp *w, const Ins *in, u32 mask)
{
	u32 low = compare_floats(w, in, mask, in->type[1], 1, 0);
	u32 high = compare_floats(w, in, mask, in->type[1], 1, 16);
	u32 yes = in->type[0] == T_F16X2 ? 0x3c00 : 0x3f80;
	EACH_SET((low >> l & 1 ? yes : 0) | (high >> l & 1 ? yes << 16 : 0));
	return RUN_NEXT;
}

RUN(selp, u32 p = pred_get(w, &in->args[3]); BY_SIZE(OP2, p >> l & 1 ? x[l] : y[l]))

/* d, a, b, c: c >= 0 ? a : b */
static bool not_negative(Type t, u32 c)
{
	return t == T_S32 ? (s32)c >= 0 : f32_of(c) >= 0.0f;
}

RUN(slct, EACH_SET(not_negative(in->type[1], (u32)GET(3)) ? GET(1) : GET(2)))
RUN(mov_pred, pred_set(w, &in->args[0], mask, pred_get(w, &in->args[1])))

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
		EACH_SET(t);
	} else if (mask == FULL && in->args[1].width == bytes) {
		memmove(lanes(w, in, 0), lanes(w, in, 1), (size_t)bytes * LANES);
	} else if (bytes == 16) {
		EACH_LANE(l, mask)
		memmove((u8 *)lanes(w, in, 0) + l * 16, (u8 *)lanes(w, in, 1) + l * 16, 16);
	} else {
		EACH_SET(GET(1));
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
