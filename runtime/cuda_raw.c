/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cuda_raw.c - what no manifest describes, on a GPU: dsl_launch_raw, dsl_tensor_map,
 * dsl_module_global. */
#include "runtime/cu.h"

#include <string.h>

/* Where the kernel's parameters lie in the caller's buffer. ptxas may leave a gap before the first
 * one for the sake of its alignment, which the buffer does not have. */
static CUresult params_find(CudaDevice *d, CUfunction f, const dsl_raw *raw, void **params)
{
	size_t first = 0, at, size;
	for (size_t i = 0; i < KD_MAX_PARAMS; i++) {
		CUresult r = d->cu.FuncGetParamInfo(f, i, &at, &size);
		if (r == CUDA_ERROR_INVALID_VALUE)
			return CUDA_SUCCESS;
		if (r != CUDA_SUCCESS)
			return r;
		first = i ? first : at;
		if (at - first + size > raw->param_bytes)
			return CUDA_ERROR_INVALID_VALUE;
		params[i] = (char *)(uintptr_t)raw->params + (at - first);
	}
	return CUDA_ERROR_INVALID_VALUE;
}

static unsigned raw_attributes(const dsl_raw *raw, bool pdl, CUlaunchAttribute *a)
{
	unsigned n = 0;
	if (raw->cluster[0]) {
		a[n].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
		a[n].value.clusterDim.x = raw->cluster[0];
		a[n].value.clusterDim.y = raw->cluster[1];
		a[n++].value.clusterDim.z = raw->cluster[2];
	}
	if (pdl) {
		a[n].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
		a[n++].value.programmaticStreamSerializationAllowed = 1;
	}
	return n;
}

static CUresult raw_call(CudaDevice *d, CUfunction f, const dsl_raw *raw, bool pdl)
{
	void *params[KD_MAX_PARAMS + 1] = {NULL};
	CUlaunchAttribute attributes[2];
	CUlaunchConfig config = {
		.gridDimX = raw->grid[0],
		.gridDimY = raw->grid[1],
		.gridDimZ = raw->grid[2],
		.blockDimX = raw->block[0],
		.blockDimY = raw->block[1],
		.blockDimZ = raw->block[2],
		.sharedMemBytes = raw->smem,
		.hStream = raw->stream,
		.attrs = attributes,
		.numAttrs = raw_attributes(raw, pdl, attributes),
	};
	CUresult r = params_find(d, f, raw, params);
	if (r == CUDA_SUCCESS)
		r = d->cu.FuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
					   (int)raw->smem);
	return r == CUDA_SUCCESS ? d->cu.LaunchKernelEx(&config, f, params, NULL) : r;
}

/* The driver loads functions when they are first asked for, which a capture may not allow. */
dsl_status cuda_ready(dsl_device *dev, dsl_module *mod, const char *kernel)
{
	Scope s;
	CUfunction f = NULL;
	dsl_status st = cuda_scope_enter(&s, cuda_of(dev));
	if (st)
		return st;
	CUresult r = s.d->cu.ModuleGetFunction(&f, mod->handle, kernel);
	if (r == CUDA_SUCCESS)
		r = s.d->cu.FuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0);
	return scope_end(&s, "cuModuleGetFunction", r);
}

dsl_status cuda_launch_raw(dsl_device *dev, dsl_module *mod, const char *kernel, const dsl_raw *raw,
			   bool pdl)
{
	Scope s;
	CUfunction f = NULL;
	dsl_status st = cuda_scope_enter(&s, cuda_of(dev));
	if (st)
		return st;
	CUresult r = s.d->cu.ModuleGetFunction(&f, mod->handle, kernel);
	if (r == CUDA_SUCCESS)
		r = raw_call(s.d, f, raw, pdl);
	else if (r == CUDA_ERROR_NOT_FOUND)
		st = detail_fail(DSL_ERR_KERNEL_NAME, "the module has no entry %.80s", kernel);
	cuda_scope_leave(&s);
	return st ? st : cuda_status(cuda_of(dev), "cuLaunchKernelEx", r);
}

static const struct {
	const char *word;
	CUtensorMapDataType type;
} elems[] = {
	{"u8", CU_TENSOR_MAP_DATA_TYPE_UINT8},      {"i8", CU_TENSOR_MAP_DATA_TYPE_UINT8},
	{"e4m3", CU_TENSOR_MAP_DATA_TYPE_UINT8},    {"e5m2", CU_TENSOR_MAP_DATA_TYPE_UINT8},
	{"u16", CU_TENSOR_MAP_DATA_TYPE_UINT16},    {"u32", CU_TENSOR_MAP_DATA_TYPE_UINT32},
	{"i32", CU_TENSOR_MAP_DATA_TYPE_INT32},     {"u64", CU_TENSOR_MAP_DATA_TYPE_UINT64},
	{"i64", CU_TENSOR_MAP_DATA_TYPE_INT64},     {"f16", CU_TENSOR_MAP_DATA_TYPE_FLOAT16},
	{"bf16", CU_TENSOR_MAP_DATA_TYPE_BFLOAT16}, {"f32", CU_TENSOR_MAP_DATA_TYPE_FLOAT32},
	{"tf32", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32}, {"f64", CU_TENSOR_MAP_DATA_TYPE_FLOAT64},
};

static CUresult raw_encode(const CudaDevice *d, const dsl_map *m, CUtensorMapDataType type,
			   CUtensorMap *out)
{
	static const cuuint32_t ones[5] = {1, 1, 1, 1, 1};
	cuuint64_t dims[5] = {0}, strides[5] = {0};
	cuuint32_t box[5] = {0};
	for (uint32_t i = 0; i < m->rank && i < 5; i++) {
		dims[i] = m->dims[i];
		strides[i] = i + 1 < m->rank ? m->strides[i] : 0;
		box[i] = m->box[i];
	}
	return d->cu.TensorMapEncodeTiled(out, type, m->rank, (void *)(uintptr_t)m->base, dims,
					  strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
					  cuda_map_swizzle(m->swizzle),
					  CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
					  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

dsl_status cuda_map(dsl_device *dev, const dsl_map *m, void *out)
{
	CUtensorMap map;
	size_t e = 0;
	Scope s;
	while (e < COUNTOF(elems) && strcmp(elems[e].word, m->elem) != 0)
		e++;
	if (e == COUNTOF(elems))
		return detail_fail(DSL_ERR_TENSOR_MAP, "no tensor has elements of type %.20s",
				   m->elem);
	dsl_status st = cuda_scope_enter(&s, cuda_of(dev));
	if (st)
		return st;
	CUresult r = raw_encode(s.d, m, elems[e].type, &map);
	uint64_t bytes = m->rank > 1 ? m->strides[m->rank - 2] * m->dims[m->rank - 1] : 0;
	cuda_map_repair(s.d, &map, bytes);
	cuda_scope_leave(&s);
	if (r == CUDA_SUCCESS)
		memcpy(out, &map, sizeof map);
	return cuda_status(cuda_of(dev), "cuTensorMapEncodeTiled", r);
}

dsl_status cuda_global(dsl_device *dev, dsl_module *mod, const char *name, dsl_addr *addr,
		       size_t *size)
{
	Scope s;
	CUdeviceptr at = 0;
	dsl_status st = cuda_scope_enter(&s, cuda_of(dev));
	if (st)
		return st;
	CUresult r = s.d->cu.ModuleGetGlobal(&at, size, mod->handle, name);
	*addr = at;
	if (r != CUDA_ERROR_NOT_FOUND)
		return scope_end(&s, "cuModuleGetGlobal", r);
	cuda_scope_leave(&s);
	return detail_fail(DSL_ERR_GLOBAL_NAME, "the module has no variable %.80s", name);
}
