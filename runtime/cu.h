/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cu.h - the CUDA device, private to the cuda_*.c; the only header that needs
 * cuda.h. libcuda is found by dlopen, its entry points by cuGetProcAddress from the rows of
 * cuda.def. */
#ifndef DSL_RUNTIME_CU_H
#define DSL_RUNTIME_CU_H

#include "runtime/rt.h"

#include <cuda.h>
#include <cudaTypedefs.h>

typedef struct {
#define CU(name, version) PFN_cu##name##_v##version name;
#include "runtime/cuda.def"
#undef CU
} Cu;

typedef struct {
	dsl_device base; /* first: a dsl_device is the address of this */
	Cu cu;
	void *lib;
	CUdevice device;
	CUcontext context;
	int smem_limit; /* dynamic shared memory of a CTA, bytes */
} CudaDevice;

static inline CudaDevice *cuda_of(dsl_device *dev)
{
	return (CudaDevice *)(void *)dev;
}

/* cuda_device.c: the device's context current on this thread for the length of one call */
typedef struct {
	CudaDevice *d;
	bool pushed;
} Scope;
dsl_status cuda_scope_enter(Scope *s, CudaDevice *d);
void cuda_scope_leave(Scope *s);
/* Leaves, and makes a status of what `call` returned. */
dsl_status scope_end(Scope *s, const char *call, CUresult r);
/* A function that is one driver call in the context of the device dev. */
#define DRIVER_CALL(id, params, name, args)                                    \
	dsl_status id params                                                   \
	{                                                                      \
		Scope s;                                                       \
		dsl_status st = cuda_scope_enter(&s, cuda_of(dev));            \
		return st ? st : scope_end(&s, "cu" #name, s.d->cu.name args); \
	}
dsl_status cuda_status(const CudaDevice *d, const char *call, CUresult r);
const char *cuda_error(const CudaDevice *d, CUresult r); /* "CUDA_ERROR_INVALID_VALUE" */
bool cuda_sticky(CUresult r); /* the context is lost: something before this call failed */

/* cuda_launch.c */
dsl_status cuda_module_load(dsl_device *dev, dsl_module *mod);
void cuda_module_unload(dsl_device *dev, dsl_module *mod);
dsl_status cuda_launch(dsl_device *dev, const Launch *l);

/* The driver's words for a launch of this shape; a has room for its attributes. */
enum { LAUNCH_ATTRIBUTES = 2 };
CUlaunchConfig cuda_config(const dsl_raw *raw, bool pdl, CUlaunchAttribute *a);
CUresult cuda_map_encode(const CudaDevice *d, Elem e, const dsl_map *m, CUtensorMap *out);

/* cuda_raw.c */
dsl_status cuda_launch_raw(dsl_device *dev, dsl_module *mod, const char *kernel, const dsl_raw *raw,
			   bool pdl);
dsl_status cuda_ready(dsl_device *dev, dsl_module *mod, const char *kernel);
dsl_status cuda_variable(dsl_device *dev, dsl_module *mod, const char *name, dsl_addr *addr,
			 size_t *size);
dsl_status cuda_map(dsl_device *dev, const dsl_map *m, void *out);

#endif
