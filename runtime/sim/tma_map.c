/* tma_map.c - tensor maps in this device's own format: a plain struct of 128 bytes that says what
 * the encoder was told. What the driver would refuse is refused here (CUDA driver API:
 * cuTensorMapEncodeTiled).
 *   {base, 2D, bf16, dims {K, M}, strides {2K}, box {64, 128}, swizzle 128}  ->  128 bytes */
#include "runtime/sim/machine.h"

static const struct {
	u8 log2_bytes;
	u8 type;
} elems[] = {[SIM_U8] = {0, T_U8},    [SIM_U16] = {1, T_U16}, [SIM_U32] = {2, T_U32},
	     [SIM_S32] = {2, T_S32},  [SIM_U64] = {3, T_U64}, [SIM_S64] = {3, T_S64},
	     [SIM_F16] = {1, T_F16},  [SIM_F32] = {2, T_F32}, [SIM_F64] = {3, T_F64},
	     [SIM_BF16] = {1, T_BF16}};

static const char *dims_check(const SimMap *m)
{
	for (u32 i = 0; i < m->rank; i++) {
		if (!m->dims[i] || m->dims[i] > UINT64_C(1) << 32)
			return "each dimension must have 1 to 2^32 elements";
		if (!m->box[i] || m->box[i] > 256)
			return "each dimension of the box must be 1 to 256";
		if (m->steps[i] > 8)
			return "each element stride must be 1 to 8";
		if (i + 1 < m->rank && (m->strides[i] % 16 || m->strides[i] >= UINT64_C(1) << 40))
			return "each stride must be a multiple of 16 bytes, below 2^40";
	}
	return NULL;
}

static const char *map_check(const SimMap *m)
{
	if (m->rank < 1 || m->rank > 5)
		return "the rank must be 1 to 5";
	if (m->elem > SIM_BF16)
		return "the element type is not known";
	if (m->base % 16)
		return "the address must be a multiple of 16";
	if (m->swizzle != 0 && m->swizzle != 32 && m->swizzle != 64 && m->swizzle != 128)
		return "the swizzle must be 0, 32, 64 or 128 bytes";
	u32 inner = m->box[0] << elems[m->elem].log2_bytes;
	if (inner % 16)
		return "the inner box dimension must be a multiple of 16 bytes";
	if (m->swizzle && inner > m->swizzle)
		return "the inner box dimension must not exceed the swizzle span";
	return dims_check(m);
}

const char *sim_map_encode(const SimMap *m, void *bytes128)
{
	const char *wrong = map_check(m);
	if (wrong)
		return wrong;
	TensorMap t = {.base = m->base,
		       .rank = (u8)m->rank,
		       .type = elems[m->elem].type,
		       .log2_bytes = elems[m->elem].log2_bytes,
		       .swizzle = (u8)m->swizzle,
		       .fill = m->nan_fill};
	memcpy(t.magic, "DSLSIM1", 8);
	for (u32 i = 0; i < 5; i++) {
		t.dim[i] = i < m->rank ? (u32)(m->dims[i] - 1) : 0;
		t.box[i] = (u16)(i < m->rank ? m->box[i] : 1);
		t.step[i] = (u8)(i < m->rank && m->steps[i] ? m->steps[i] : 1);
		if (i < 4)
			t.stride[i] = i + 1 < m->rank ? m->strides[i] : 0;
	}
	memcpy(bytes128, &t, sizeof t);
	return NULL;
}
