/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cuda_device.c - a GPU as a device of the runtime: finds libcuda, its entry points and the GPU,
 * and wraps memory, streams and events. Works in the primary context, which the CUDA runtime uses
 * too. Needs nothing of CUDA at link time; without a driver, opening is a status. */
#include "runtime/cu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cuda_sticky(CUresult r)
{
	static const int codes[] = {
		CUDA_ERROR_ECC_UNCORRECTABLE,    CUDA_ERROR_NVLINK_UNCORRECTABLE,
		CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_ILLEGAL_ADDRESS,
		CUDA_ERROR_LAUNCH_TIMEOUT,       CUDA_ERROR_ASSERT,
		CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
		CUDA_ERROR_MISALIGNED_ADDRESS,   CUDA_ERROR_INVALID_ADDRESS_SPACE,
		CUDA_ERROR_INVALID_PC,           CUDA_ERROR_LAUNCH_FAILED,
	};
	for (size_t i = 0; i < COUNTOF(codes); i++)
		if ((int)r == codes[i])
			return true;
	return false;
}

const char *cuda_error(const CudaDevice *d, CUresult r)
{
	const char *name = NULL;
	if (d->cu.GetErrorName(r, &name) != CUDA_SUCCESS || !name)
		return "an unknown error";
	return name;
}

dsl_status cuda_status(const CudaDevice *d, const char *call, CUresult r)
{
	if (r == CUDA_SUCCESS)
		return DSL_OK;
	dsl_status st = r == CUDA_ERROR_OUT_OF_MEMORY ? DSL_ERR_DEVICE_MEMORY
			: cuda_sticky(r)              ? DSL_ERR_STICKY
						      : DSL_ERR_CUDA;
	const char *text = NULL;
	if (d->cu.GetErrorString(r, &text) != CUDA_SUCCESS || !text)
		text = "no text";
	return detail_fail(st, "%s gave %s (%d): %s", call, cuda_error(d, r), (int)r, text);
}

dsl_status cuda_scope_enter(Scope *s, CudaDevice *d)
{
	CUcontext now = NULL;
	*s = (Scope){d, false};
	CUresult r = d->cu.CtxGetCurrent(&now);
	if (r != CUDA_SUCCESS)
		return cuda_status(d, "cuCtxGetCurrent", r);
	if (now == d->context)
		return DSL_OK;
	r = d->cu.CtxPushCurrent(d->context);
	s->pushed = r == CUDA_SUCCESS;
	return cuda_status(d, "cuCtxPushCurrent", r);
}

void cuda_scope_leave(Scope *s)
{
	CUcontext old;
	if (s->pushed)
		s->d->cu.CtxPopCurrent(&old);
}

dsl_status scope_end(Scope *s, const char *call, CUresult r)
{
	cuda_scope_leave(s);
	return cuda_status(s->d, call, r);
}

#define IN_CONTEXT(id, params, name, args) static DRIVER_CALL(id, params, name, args)

static dsl_status cuda_mem_alloc(dsl_device *dev, size_t size, dsl_addr *out)
{
	CUdeviceptr p = 0;
	Scope s;
	dsl_status st = cuda_scope_enter(&s, cuda_of(dev));
	if (st)
		return st;
	CUresult r = s.d->cu.MemAlloc(&p, size);
	*out = p;
	cuda_scope_leave(&s);
	if (r == CUDA_ERROR_OUT_OF_MEMORY)
		return detail_fail(DSL_ERR_DEVICE_MEMORY, "%s has no %zu bytes left", dev->name,
				   size);
	return cuda_status(s.d, "cuMemAlloc", r);
}

IN_CONTEXT(cuda_mem_free, (dsl_device * dev, dsl_addr addr), MemFree, (addr))
IN_CONTEXT(cuda_copy_in, (dsl_device * dev, dsl_addr to, const void *from, size_t size), MemcpyHtoD,
	   (to, from, size))
IN_CONTEXT(cuda_copy_out, (dsl_device * dev, void *to, dsl_addr from, size_t size), MemcpyDtoH,
	   (to, from, size))
IN_CONTEXT(cuda_mem_set, (dsl_device * dev, dsl_addr to, unsigned char byte, size_t size), MemsetD8,
	   (to, byte, size))
IN_CONTEXT(cuda_sync, (dsl_device * dev), CtxSynchronize, ())
IN_CONTEXT(cuda_stream_create, (dsl_device * dev, dsl_stream *out), StreamCreate,
	   ((CUstream *)out, CU_STREAM_DEFAULT))
IN_CONTEXT(cuda_stream_sync, (dsl_device * dev, dsl_stream stream), StreamSynchronize, (stream))

static dsl_status cuda_stream_capturing(dsl_device *dev, dsl_stream stream, bool *out)
{
	CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE;
	Scope s;
	dsl_status st = cuda_scope_enter(&s, cuda_of(dev));
	if (st)
		return st;
	CUresult r = s.d->cu.StreamIsCapturing(stream, &now);
	*out = now != CU_STREAM_CAPTURE_STATUS_NONE;
	return scope_end(&s, "cuStreamIsCapturing", r);
}

IN_CONTEXT(cuda_stream_destroy, (dsl_device * dev, dsl_stream stream), StreamDestroy, (stream))
IN_CONTEXT(cuda_event_create, (dsl_device * dev, void **out), EventCreate,
	   ((CUevent *)out, CU_EVENT_DEFAULT))
IN_CONTEXT(cuda_event_record, (dsl_device * dev, void *event, dsl_stream stream), EventRecord,
	   (event, stream))

static dsl_status cuda_event_elapsed(dsl_device *dev, void *from, void *to, float *ms)
{
	Scope s;
	dsl_status st = cuda_scope_enter(&s, cuda_of(dev));
	if (st)
		return st;
	CUresult r = s.d->cu.EventSynchronize(to);
	if (r != CUDA_SUCCESS)
		return scope_end(&s, "cuEventSynchronize", r);
	return scope_end(&s, "cuEventElapsedTime", s.d->cu.EventElapsedTime(ms, from, to));
}

IN_CONTEXT(cuda_event_destroy, (dsl_device * dev, void *event), EventDestroy, (event))

static void cuda_close(dsl_device *dev)
{
	CudaDevice *d = cuda_of(dev);
	if (d->context)
		d->cu.DevicePrimaryCtxRelease(d->device);
	dlclose(d->lib);
	free(d);
}

static const DevOps cuda_ops = {
#define DEV_OP(type, name, params) .name = cuda_##name,
#include "runtime/device_ops.def"
};

typedef void (*AnyFunction)(void);

/* Data and function pointers have one size where dlsym exists (POSIX, dlsym). */
static AnyFunction function_of(void *p)
{
	AnyFunction f;
	memcpy(&f, &p, sizeof f);
	return f;
}

static void *lib_open(void)
{
	const char *path = getenv("DSL_LIBCUDA");
	return dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

/* Fills the table; a missing entry point means a driver older than its row. */
static dsl_status entries_find(CudaDevice *d)
{
	PFN_cuGetProcAddress_v12000 get =
		(PFN_cuGetProcAddress_v12000)function_of(dlsym(d->lib, "cuGetProcAddress_v2"));
	if (!get)
		return detail_fail(
			DSL_ERR_DRIVER_OLD,
			"libcuda has no cuGetProcAddress_v2: a driver for CUDA 12.0 is needed");
	void *p;
#define CU(name, version)                                                                          \
	p = NULL;                                                                                  \
	if (get("cu" #name, &p, version, CU_GET_PROC_ADDRESS_DEFAULT, NULL) != CUDA_SUCCESS || !p) \
		return detail_fail(DSL_ERR_DRIVER_OLD, "libcuda has no cu" #name " of CUDA %d.%d", \
				   version / 1000, version % 1000 / 10);                           \
	d->cu.name = (PFN_cu##name##_v##version)function_of(p);
#include "runtime/cuda.def"
#undef CU
	return DSL_OK;
}

static int attribute(const CudaDevice *d, CUdevice_attribute a)
{
	int v = 0;
	return d->cu.DeviceGetAttribute(&v, a, d->device) == CUDA_SUCCESS ? v : 0;
}

/* TB/s. The memory clock is in kHz, with two transfers each. */
static double bandwidth(const CudaDevice *d)
{
	return 2e-9 * attribute(d, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
	       attribute(d, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
}

static void facts_read(CudaDevice *d)
{
	dsl_device *b = &d->base;
	if (d->cu.DeviceGetName(b->name, (int)sizeof b->name, d->device) != CUDA_SUCCESS)
		b->name[0] = 0;
	b->cc_major = attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
	b->cc_minor = attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	b->sms = attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	b->cost = cost_device(b->name, b->sms, attribute(d, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * 1e-6,
			      bandwidth(d));
	d->smem_limit = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	snprintf(b->arch, sizeof b->arch, "sm_%d%d", b->cc_major, b->cc_minor);
}

static dsl_status gpu_find(CudaDevice *d, int number)
{
	int count = 0;
	CUresult r = d->cu.Init(0);
	if (r == CUDA_ERROR_NO_DEVICE)
		return detail_fail(DSL_ERR_NO_DEVICE, "the driver sees no GPU");
	if (r == CUDA_SUCCESS)
		r = d->cu.DriverGetVersion(&d->base.driver);
	if (r == CUDA_SUCCESS)
		r = d->cu.DeviceGetCount(&count);
	if (r != CUDA_SUCCESS)
		return cuda_status(d, "cuInit", r);
	if (number >= count)
		return detail_fail(DSL_ERR_NO_DEVICE, "cuda:%d: the driver sees %d GPU%s", number,
				   count, count == 1 ? "" : "s");
	r = d->cu.DeviceGet(&d->device, number);
	if (r != CUDA_SUCCESS)
		return cuda_status(d, "cuDeviceGet", r);
	facts_read(d);
	return cuda_status(d, "cuDevicePrimaryCtxRetain",
			   d->cu.DevicePrimaryCtxRetain(&d->context, d->device));
}

static dsl_status no_driver(void)
{
	const char *reason = dlerror();
	return detail_fail(DSL_ERR_NO_DRIVER, "%s",
			   reason ? reason : "libcuda.so.1 cannot be loaded");
}

dsl_status cuda_open(int number, dsl_device **out)
{
	CudaDevice *d = calloc(1, sizeof *d);
	if (!d)
		return detail_fail(DSL_ERR_MEMORY, "no memory for a device");
	d->base.ops = &cuda_ops;
	d->lib = lib_open();
	dsl_status st = d->lib ? entries_find(d) : no_driver();
	if (!st)
		st = gpu_find(d, number);
	if (!st && pthread_mutex_init(&d->base.lock, NULL))
		st = detail_fail(DSL_ERR_MEMORY, "no lock for a device");
	if (!st) {
		*out = &d->base;
		return DSL_OK;
	}
	if (d->lib)
		cuda_close(&d->base);
	else
		free(d);
	return st;
}
