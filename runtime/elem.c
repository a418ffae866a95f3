/* elem.c - element types: their table, and scalars of each type as bits.
 *   elem_float_bits(KE_BF16, 1.0) == 0x3f80 */
#include "runtime/rt.h"
#include "runtime/number.h"

#include <string.h>

static const struct {
	const char *name;
	int bits;
} rows[KE_COUNT] = {
#define X(id, name, bits) [KE_##id] = {name, bits},
	KD_ELEMS(X)
#undef X
};

int elem_bits(KElem e)
{
	return rows[e].bits;
}

const char *elem_name(KElem e)
{
	return rows[e].name;
}

bool elem_find(const char *name, KElem *out)
{
	for (int i = 0; i < KE_COUNT; i++)
		if (strcmp(rows[i].name, name) == 0) {
			*out = (KElem)i;
			return true;
		}
	return false;
}

bool elem_is_float(KElem e)
{
	return e == KE_F16 || e == KE_BF16 || e == KE_TF32 || e == KE_F32 || e == KE_F64 ||
	       e == KE_E4M3 || e == KE_E5M2;
}

static bool elem_is_signed(KElem e)
{
	return e == KE_I8 || e == KE_I16 || e == KE_I32 || e == KE_I64;
}

bool elem_int_bits(KElem e, int64_t v, uint64_t *bits)
{
	int n = elem_bits(e);
	*bits = (uint64_t)v;
	if (elem_is_signed(e))
		return n == 64 || (v >= -(INT64_C(1) << (n - 1)) && v < INT64_C(1) << (n - 1));
	return v >= 0 && (n == 64 || v < INT64_C(1) << n);
}

uint64_t elem_float_bits(KElem e, double v)
{
	switch (e) {
	case KE_F64:
		return num_bits64(v);
	case KE_F32:
		return num_bits32((float)v);
	case KE_TF32:
		return num_bits32(tf32_from_f32((float)v));
	case KE_F16:
		return f16_from_f64(v);
	case KE_BF16:
		return bf16_from_f64(v);
	case KE_E4M3:
		return e4m3_from_f64(v);
	case KE_E5M2:
		return e5m2_from_f64(v);
	default:
		return 0; /* elem_is_float says no */
	}
}
