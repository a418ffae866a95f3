/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tma_map.c - tensor maps in this device's own format: a plain struct of 128 bytes that says what
 * the encoder was told. What the driver would refuse is refused here (CUDA driver API:
 * cuTensorMapEncodeTiled).
 *   {base, 2D, bf16, dims {K, M}, strides {2K}, box {64, 128}, swizzle 128}  ->  128 bytes */
#include "sim/machine.h"

static const struct {
	u8 log2_bytes;
	u8 type;
} elems[] = {[SIM_U8] = {0, T_U8},     [SIM_U16] = {1, T_U16},  [SIM_U32] = {2, T_U32},
	     [SIM_S32] = {2, T_S32},   [SIM_U64] = {3, T_U64},  [SIM_S64] = {3, T_S64},
	     [SIM_F16] = {1, T_F16},   [SIM_F32] = {2, T_F32},  [SIM_F64] = {3, T_F64},
	     [SIM_BF16] = {1, T_BF16}, [SIM_TF32] = {2, T_TF32}};

/* What does not fit in a TensorMap at all. */
static const char *ranges_check(const SimMap *m)
{
	if (m->rank < 1 || m->rank > 5)
		return "the rank must be 1 to 5";
	if (m->elem > SIM_TF32)
		return "the element type is not known";
	if (m->swizzle > 128)
		return "the swizzle must be 0, 32, 64 or 128 bytes";
	for (u32 i = 0; i < m->rank; i++) {
		if (!m->dims[i] || m->dims[i] > UINT64_C(1) << 32)
			return "each dimension must have 1 to 2^32 elements";
		if (!m->box[i] || m->box[i] > 256)
			return "each dimension of the box must be 1 to 256";
		if (m->steps[i] > 8)
			return "each element stride must be 1 to 8";
	}
	return NULL;
}

static const char *dims_check(TensorMap *t)
{
	u64 bytes = UINT64_C(1) << t->log2_bytes;
	for (u32 i = t->rank; i < 5; i++)
		t->box[i] = t->step[i] = 1;
	for (u32 i = 0; i < t->rank; i++) {
		if (t->box[i] < 1 || t->box[i] > 256)
			return "each dimension of the box must be 1 to 256";
		if (t->step[i] < 1 || t->step[i] > 8)
			return "each element stride must be 1 to 8";
		if (i + 1 < t->rank && (t->stride[i] % 16 || t->stride[i] >= UINT64_C(1) << 40))
			return "each stride must be a multiple of 16 bytes, below 2^40";
		bytes *= t->box[i];
	}
	return bytes > SMEM_LIMIT ? "the box must fit in shared memory" : NULL;
}

const char *map_wrong(TensorMap *t)
{
	static const u8 zeros[sizeof t->rest];
	if (memcmp(t->rest, zeros, sizeof zeros) != 0)
		return "these bytes are not a tensor map of this device: a kernel that builds one "
		       "starts from 128 zeros";
	if (t->rank < 1 || t->rank > 5)
		return "the rank must be 1 to 5";
	if (t->log2_bytes > 3 || t->type >= T_COUNT || type_bytes[t->type] != 1 << t->log2_bytes)
		return "the element type is not known";
	if (t->base % 16)
		return "the address must be a multiple of 16";
	if (t->swizzle != 0 && t->swizzle != 32 && t->swizzle != 64 && t->swizzle != 128)
		return "the swizzle must be 0, 32, 64 or 128 bytes";
	if (t->interleave)
		return "interleaved layouts are not simulated";
	u32 inner = (u32)t->box[0] << t->log2_bytes;
	if (inner % 16)
		return "the inner box dimension must be a multiple of 16 bytes";
	if (t->swizzle && inner > t->swizzle)
		return "the inner box dimension must not exceed the swizzle span";
	return dims_check(t);
}

const char *sim_map_encode(const SimMap *m, void *bytes128)
{
	const char *wrong = ranges_check(m);
	if (wrong)
		return wrong;
	TensorMap t = {.base = m->base,
		       .rank = (u8)m->rank,
		       .type = elems[m->elem].type,
		       .log2_bytes = elems[m->elem].log2_bytes,
		       .swizzle = (u8)m->swizzle,
		       .fill = m->nan_fill};
	for (u32 i = 0; i < m->rank; i++) {
		t.dim[i] = (u32)(m->dims[i] - 1);
		t.box[i] = (u16)m->box[i];
		t.step[i] = (u8)(m->steps[i] ? m->steps[i] : 1);
		if (i + 1 < m->rank)
			t.stride[i] = m->strides[i];
	}
	wrong = map_wrong(&t);
	if (!wrong)
		memcpy(bytes128, &t, sizeof t);
	return wrong;
}

/* ------------------------------------------------------------------ maps that a kernel changes */
/* The numbers of tensormap.replace (PTX ISA: Tensormap-replace). */
static const char *element_set(TensorMap *t, u64 v)
{
	static const u8 types[] = {T_U8,  T_U16, T_U32, T_S32,  T_U64,  T_S64, T_F16,
				   T_F32, T_F32, T_F64, T_BF16, T_TF32, T_TF32};
	if (v >= SIM_COUNT(types))
		return "the element type is 0 to 12";
	t->type = types[v];
	t->log2_bytes = (u8)__builtin_ctz(type_bytes[t->type]);
	return NULL;
}

static const char *mode_set(u8 *to, u64 v, u32 most, u32 unit)
{
	if (v > most)
		return "this mode is not known";
	*to = (u8)(v ? unit << (v - 1) : 0);
	return NULL;
}

static const char *along_set(TensorMap *t, Mod field, u32 i, u64 v)
{
	u32 most = field == M_GLOBAL_STRIDE ? 4 : 5;
	if (i >= most)
		return "there is no such dimension";
	if (field == M_GLOBAL_STRIDE)
		t->stride[i] = v;
	else if (field == M_GLOBAL_DIM)
		t->dim[i] = (u32)v - 1;
	else if (!v || v > 256)
		return "the value is out of range";
	else if (field == M_BOX_DIM)
		t->box[i] = (u16)v;
	else
		t->step[i] = (u8)(v > 8 ? 0 : v);
	return NULL;
}

const char *map_set(TensorMap *t, Mod field, u32 i, u64 v)
{
	switch (field) {
	case M_GLOBAL_ADDRESS:
		t->base = v;
		return NULL;
	case M_RANK: /* one less than it */
		t->rank = (u8)(v < 5 ? v + 1 : 0);
		return v < 5 ? NULL : "the rank must be 1 to 5";
	case M_ELEMTYPE:
		return element_set(t, v);
	case M_INTERLEAVE_LAYOUT:
		return mode_set(&t->interleave, v, 2, 16);
	case M_SWIZZLE_MODE:
		return mode_set(&t->swizzle, v, 3, 32);
	case M_FILL_MODE:
		return mode_set(&t->fill, v, 1, 1);
	default:
		return along_set(t, field, i, v);
	}
}
