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

static CUresult raw_call(CudaDevice *d, CUfunction f, const dsl_raw *raw, bool pdl)
{
	void *params[KD_MAX_PARAMS + 1] = {NULL};
	CUlaunchAttribute attributes[LAUNCH_ATTRIBUTES];
	CUlaunchConfig config = cuda_config(raw, pdl, attributes);
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

dsl_status cuda_map(dsl_device *dev, const dsl_map *m, void *out)
{
	CUtensorMap map;
	Elem e;
	Scope s;
	if (!elem_find(m->elem, &e))
		return detail_fail(DSL_ERR_TENSOR_MAP, "no tensor has elements of type %.20s",
				   m->elem);
	dsl_status st = cuda_scope_enter(&s, cuda_of(dev));
	if (st)
		return st;
	CUresult r = cuda_map_encode(s.d, e, m, &map);
	if (r == CUDA_SUCCESS)
		memcpy(out, &map, sizeof map);
	return scope_end(&s, "cuTensorMapEncodeTiled", r);
}

dsl_status cuda_variable(dsl_device *dev, dsl_module *mod, const char *name, dsl_addr *addr,
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
