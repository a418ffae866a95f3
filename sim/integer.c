/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* integer.c - integer arithmetic of PTX, 32 lanes at a time (PTX ISA: Integer Arithmetic
 * Instructions, Extended-Precision Integer Arithmetic Instructions). Overflow wraps; only .sat
 * clamps. Division by zero gives all ones, as the hardware does. */
#include "sim/lanes.h"

#define BY_TYPE(OP, ...)              \
	switch (in->type[0]) {        \
	case T_U16:                   \
		OP(u16, __VA_ARGS__); \
		break;                \
	case T_S16:                   \
		OP(s16, __VA_ARGS__); \
		break;                \
	case T_U32:                   \
		OP(u32, __VA_ARGS__); \
		break;                \
	case T_S32:                   \
		OP(s32, __VA_ARGS__); \
		break;                \
	case T_U64:                   \
		OP(u64, __VA_ARGS__); \
		break;                \
	default:                      \
		OP(s64, __VA_ARGS__); \
	}                             \
	return RUN_NEXT

static bool is_signed(const Ins *in)
{
	return type_class[in->type[0]] == 'S';
}

static u32 halves(u32 a, u32 b, u32 (*f)(u32, u32))
{
	return (f(a & 0xffff, b & 0xffff) & 0xffff) | f(a >> 16, b >> 16) << 16;
}

static u32 half_add(u32 a, u32 b)
{
	return a + b;
}

static u32 half_umin(u32 a, u32 b)
{
	return a < b ? a : b;
}

static u32 half_umax(u32 a, u32 b)
{
	return a > b ? a : b;
}

static u32 half_smin(u32 a, u32 b)
{
	return (s16)a < (s16)b ? a : b;
}

static u32 half_smax(u32 a, u32 b)
{
	return (s16)a > (s16)b ? a : b;
}

static s32 clamp32(s64 v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (s32)v;
}

Run run_add(Warp *w, const Ins *in, u32 mask)
{
	if (has(in, M_SAT)) {
		OP2(s32, clamp32((s64)x[l] + y[l]));
		return RUN_NEXT;
	}
	if (in->type[0] == T_U16X2 || in->type[0] == T_S16X2) {
		OP2(u32, halves(x[l], y[l], half_add));
		return RUN_NEXT;
	}
	BY_SIZE(OP2, x[l] + y[l]);
}

Run run_sub(Warp *w, const Ins *in, u32 mask)
{
	if (has(in, M_SAT)) {
		OP2(s32, clamp32((s64)x[l] - y[l]));
		return RUN_NEXT;
	}
	BY_SIZE(OP2, x[l] - y[l]);
}

/* extra: 1 subtract, 2 take the carry in */
void prepare_carry(Pool *a, Ins *in)
{
	(void)a;
	in->extra = (in->text[0] == 's') | (in->text[3] == 'c' ? 2u : 0);
}

static u64 with_carry(u64 x, u64 y, bool in, u32 bits, bool *out)
{
	u128 sum = (u128)x + y + in;
	*out = sum >> bits & 1;
	return (u64)sum;
}

/* A borrow is the absence of a carry of x + ~y + 1. */
Run run_carry(Warp *w, const Ins *in, u32 mask)
{
	bool wide = type_bytes[in->type[0]] == 8, sub = in->extra & 1, out;
	EACH_LANE(l, mask)
	{
		u64 x = arg_get(w, &in->args[1], l), y = arg_get(w, &in->args[2], l);
		bool cin = in->extra & 2 ? w->carry >> l & 1 : 0;
		if (sub) {
			y = wide ? ~y : ~y & 0xffffffff;
			cin = !cin;
		}
		u64 r = with_carry(x, y, cin, wide ? 64 : 32, &out);
		arg_set(w, &in->args[0], l, r);
		if (has(in, M_CC))
			w->carry = (w->carry & ~(1u << l)) | (u32)(out != sub) << l;
	}
	return RUN_NEXT;
}

static u64 high64(u64 x, u64 y)
{
	return (u64)((u128)x * y >> 64);
}

static u64 high64s(u64 x, u64 y)
{
	return high64(x, y) - (x >> 63 ? y : 0) - (y >> 63 ? x : 0);
}

static u32 high16s(u16 x, u16 y)
{
	return (u32)((s32)(s16)x * (s16)y) >> 16;
}

static u32 high32s(u32 x, u32 y)
{
	return (u32)((u64)((s64)(s32)x * (s32)y) >> 32);
}

static u64 product_half(const Ins *in, u64 x, u64 y)
{
	bool wide = type_bytes[in->type[0]] == 8, is_signed = in->type[0] == T_S32;
	if (has(in, M_LO))
		return wide ? x * y : (u32)x * (u64)(u32)y & 0xffffffff;
	if (wide)
		return in->type[0] == T_S64 ? high64s(x, y) : high64(x, y);
	return is_signed ? high32s((u32)x, (u32)y) : (u64)(u32)x * (u32)y >> 32;
}

Run run_mad_carry(Warp *w, const Ins *in, u32 mask)
{
	u32 bits = 8 * type_bytes[in->type[0]];
	bool out;
	EACH_LANE(l, mask)
	{
		u64 half =
			product_half(in, arg_get(w, &in->args[1], l), arg_get(w, &in->args[2], l));
		bool cin = in->extra & 2 ? w->carry >> l & 1 : 0;
		arg_set(w, &in->args[0], l,
			with_carry(half, arg_get(w, &in->args[3], l), cin, bits, &out));
		if (has(in, M_CC))
			w->carry = (w->carry & ~(1u << l)) | (u32)out << l;
	}
	return RUN_NEXT;
}

#define HIGH(OP, ADD)                                  \
	switch (in->type[0]) {                         \
	case T_U16:                                    \
		OP(u16, ((u32)x[l] * y[l] >> 16) ADD); \
		break;                                 \
	case T_S16:                                    \
		OP(u16, high16s(x[l], y[l]) ADD);      \
		break;                                 \
	case T_U32:                                    \
		OP(u32, ((u64)x[l] * y[l] >> 32) ADD); \
		break;                                 \
	case T_S32:                                    \
		OP(u32, high32s(x[l], y[l]) ADD);      \
		break;                                 \
	case T_U64:                                    \
		OP(u64, high64(x[l], y[l]) ADD);       \
		break;                                 \
	default:                                       \
		OP(u64, high64s(x[l], y[l]) ADD);      \
	}                                              \
	return RUN_NEXT

Run run_mul(Warp *w, const Ins *in, u32 mask)
{
	if (has(in, M_HI)) {
		HIGH(OP2, );
	}
	BY_SIZE(OP2, x[l] * (u64)y[l]);
}

Run run_mad(Warp *w, const Ins *in, u32 mask)
{
	if (has(in, M_SAT)) {
		OP3(s32, clamp32((s64)(s32)high32s((u32)x[l], (u32)y[l]) + z[l]));
		return RUN_NEXT;
	}
	if (has(in, M_HI)) {
		HIGH(OP3, +z[l]);
	}
	BY_SIZE(OP3, x[l] * (u64)y[l] + z[l]);
}

#define WIDE(TO, FROM, ADD)                                            \
	do {                                                           \
		TO *d = lanes(w, in, 0);                               \
		const FROM *x = lanes(w, in, 1), *y = lanes(w, in, 2); \
		LANES_DO(d[l] = (TO)((TO)x[l] * (TO)y[l] ADD));        \
	} while (0)

Run run_mul_wide(Warp *w, const Ins *in, u32 mask)
{
	switch (in->type[0]) {
	case T_U16:
		WIDE(u32, u16, );
		break;
	case T_S16:
		WIDE(s32, s16, );
		break;
	case T_U32:
		WIDE(u64, u32, );
		break;
	default:
		WIDE(s64, s32, );
	}
	return RUN_NEXT;
}

Run run_mad_wide(Warp *w, const Ins *in, u32 mask)
{
	const u32 *z32 = lanes(w, in, 3);
	const u64 *z64 = lanes(w, in, 3);
	switch (in->type[0]) {
	case T_U16:
		WIDE(u32, u16, +z32[l]);
		break;
	case T_S16: {
		u32 *d = lanes(w, in, 0);
		const s16 *x = lanes(w, in, 1), *y = lanes(w, in, 2);
		LANES_DO(d[l] = (u32)(x[l] * y[l]) + z32[l]);
		break;
	}
	case T_U32:
		WIDE(u64, u32, +z64[l]);
		break;
	default: {
		u64 *d = lanes(w, in, 0);
		const s32 *x = lanes(w, in, 1), *y = lanes(w, in, 2);
		LANES_DO(d[l] = (u64)((s64)x[l] * y[l]) + z64[l]);
	}
	}
	return RUN_NEXT;
}

/* The low 24 bits of each, as a 48-bit product; its high or low 32 bits. */
Run run_mul24(Warp *w, const Ins *in, u32 mask)
{
	u32 *d = lanes(w, in, 0);
	const u32 *x = lanes(w, in, 1), *y = lanes(w, in, 2);
	const u32 *z = in->nargs > 3 ? lanes(w, in, 3) : NULL;
	int shift = has(in, M_HI) ? 16 : 0;
	bool s = is_signed(in);
	LANES_DO(u64 p = s ? (u64)((s64)((s32)(x[l] << 8) >> 8) * ((s32)(y[l] << 8) >> 8))
			   : (u64)(x[l] & 0xffffff) * (y[l] & 0xffffff);
		 d[l] = (u32)(p >> shift) + (z ? z[l] : 0));
	return RUN_NEXT;
}

RUN(sad, BY_TYPE(OP3, z[l] + (x[l] < y[l] ? (u64)y[l] - (u64)x[l] : (u64)x[l] - (u64)y[l])))

static u64 quotient(u64 x, u64 y, bool s)
{
	if (!y)
		return ~UINT64_C(0);
	if (!s)
		return x / y;
	return y == ~UINT64_C(0) ? 0 - x : (u64)((s64)x / (s64)y);
}

static u64 remainder_of(u64 x, u64 y, bool s)
{
	if (!y)
		return ~UINT64_C(0);
	if (!s)
		return x % y;
	return y == ~UINT64_C(0) ? 0 : (u64)((s64)x % (s64)y);
}

Run run_div(Warp *w, const Ins *in, u32 mask)
{
	bool s = is_signed(in);
	BY_TYPE(OP2, quotient((u64)x[l], (u64)y[l], s));
}

Run run_rem(Warp *w, const Ins *in, u32 mask)
{
	bool s = is_signed(in);
	BY_TYPE(OP2, remainder_of((u64)x[l], (u64)y[l], s));
}

static u64 magnitude(s64 v)
{
	return v < 0 ? 0 - (u64)v : (u64)v;
}

RUN(abs, BY_TYPE(OP1, magnitude((s64)x[l])))
RUN(neg, BY_SIZE(OP1, 0 - (u64)x[l]))

static u32 relu2(u32 v)
{
	return (v & 0x8000 ? 0 : v & 0xffff) | (v & 0x80000000 ? 0 : v & 0xffff0000);
}

static Run extreme(Warp *w, const Ins *in, u32 mask, u32 (*u)(u32, u32), u32 (*s)(u32, u32))
{
	bool relu = has(in, M_RELU);
	if (in->type[0] == T_U16X2)
		OP2(u32, halves(x[l], y[l], u));
	else if (relu)
		OP2(u32, relu2(halves(x[l], y[l], s)));
	else
		OP2(u32, halves(x[l], y[l], s));
	return RUN_NEXT;
}

Run run_min(Warp *w, const Ins *in, u32 mask)
{
	if (in->type[0] == T_U16X2 || in->type[0] == T_S16X2)
		return extreme(w, in, mask, half_umin, half_smin);
	if (has(in, M_RELU)) {
		OP2(s32, (x[l] < y[l] ? x[l] : y[l]) < 0 ? 0 : x[l] < y[l] ? x[l] : y[l]);
		return RUN_NEXT;
	}
	BY_TYPE(OP2, x[l] < y[l] ? x[l] : y[l]);
}

Run run_max(Warp *w, const Ins *in, u32 mask)
{
	if (in->type[0] == T_U16X2 || in->type[0] == T_S16X2)
		return extreme(w, in, mask, half_umax, half_smax);
	if (has(in, M_RELU)) {
		OP2(s32, (x[l] > y[l] ? x[l] : y[l]) < 0 ? 0 : x[l] > y[l] ? x[l] : y[l]);
		return RUN_NEXT;
	}
	BY_TYPE(OP2, x[l] > y[l] ? x[l] : y[l]);
}

static s64 dot_part(const Ins *in, int type, u32 v, int i, int bits)
{
	u32 field = v >> (i * bits) & ((1u << bits) - 1);
	bool s = in->type[type] == T_S32 && field >> (bits - 1);
	return s ? (s64)field - (1 << bits) : (s64)field;
}

/* The differences of four bytes; with .add the sum of them and z. */
Run run_vabsdiff4(Warp *w, const Ins *in, u32 mask)
{
	u32 *d = lanes(w, in, 0);
	const u32 *x = lanes(w, in, 1), *y = lanes(w, in, 2), *z = lanes(w, in, 3);
	bool add = has(in, M_ADD);
	LANES_DO(u32 r = add ? z[l] : 0; for (int i = 0; i < 32; i += 8) {
		u32 a = x[l] >> i & 0xff, b = y[l] >> i & 0xff;
		r += (a < b ? b - a : a - b) << (add ? 0 : i);
	} d[l] = r);
	return RUN_NEXT;
}

Run run_dp4a(Warp *w, const Ins *in, u32 mask)
{
	u32 *d = lanes(w, in, 0);
	const u32 *x = lanes(w, in, 1), *y = lanes(w, in, 2), *z = lanes(w, in, 3);
	LANES_DO(s64 sum = z[l]; for (int i = 0; i < 4; i++) sum +=
				 dot_part(in, 0, x[l], i, 8) * dot_part(in, 1, y[l], i, 8);
		 d[l] = (u32)sum);
	return RUN_NEXT;
}

Run run_dp2a(Warp *w, const Ins *in, u32 mask)
{
	u32 *d = lanes(w, in, 0);
	const u32 *x = lanes(w, in, 1), *y = lanes(w, in, 2), *z = lanes(w, in, 3);
	int first = has(in, M_HI) ? 2 : 0;
	LANES_DO(s64 sum = z[l]; for (int i = 0; i < 2; i++) sum +=
				 dot_part(in, 0, x[l], i, 16) * dot_part(in, 1, y[l], first + i, 8);
		 d[l] = (u32)sum);
	return RUN_NEXT;
}
