/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fake_cuda.c - see fake_cuda.h. Only cuGetProcAddress_v2 and fake_state are exported; every other
 * entry point is handed out by name, like the driver's own. */
#include "fake_cuda.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#undef cuGetProcAddress

static Fake state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local CUcontext current;
static char the_context, the_module, the_function, no_params, a_stream, an_event, a_graph;

__attribute__((visibility("default"))) Fake *fake_state(void);
Fake *fake_state(void)
{
	return &state;
}

/* Counts a call; what it must answer. */
static CUresult call(const char *name)
{
	pthread_mutex_lock(&lock);
	state.calls++;
	CUresult r = CUDA_SUCCESS;
	if (state.fail && strcmp(state.fail, name) == 0 && state.after-- <= 0)
		r = state.code;
	pthread_mutex_unlock(&lock);
	return r;
}

#define CALL(name)                        \
	do {                              \
		CUresult r_ = call(name); \
		if (r_ != CUDA_SUCCESS)   \
			return r_;        \
	} while (0)
#define IN_CONTEXT()                                            \
	do {                                                    \
		if (current != (CUcontext)(void *)&the_context) \
			return CUDA_ERROR_INVALID_CONTEXT;      \
	} while (0)

static void count(int *what, int by)
{
	pthread_mutex_lock(&lock);
	*what += by;
	pthread_mutex_unlock(&lock);
}

static CUresult fake_Init(unsigned flags)
{
	(void)flags;
	CALL("cuInit");
	return state.devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

static CUresult fake_GetErrorName(CUresult e, const char **out)
{
	*out = e == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
	       : e == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
					       : NULL;
	return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult fake_GetErrorString(CUresult e, const char **out)
{
	*out = "a fake error";
	return e == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult fake_DriverGetVersion(int *v)
{
	CALL("cuDriverGetVersion");
	*v = state.driver;
	return CUDA_SUCCESS;
}

static CUresult fake_DeviceGet(CUdevice *out, int n)
{
	CALL("cuDeviceGet");
	*out = n;
	return CUDA_SUCCESS;
}

static CUresult fake_DeviceGetCount(int *n)
{
	CALL("cuDeviceGetCount");
	*n = state.devices;
	return CUDA_SUCCESS;
}

static CUresult fake_DeviceGetName(char *name, int len, CUdevice d)
{
	(void)d;
	CALL("cuDeviceGetName");
	strncpy(name, "Fake H200", (size_t)len);
	return CUDA_SUCCESS;
}

static CUresult fake_DeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d)
{
	(void)d;
	CALL("cuDeviceGetAttribute");
	*v = a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? state.major
	     : a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? state.minor
	     : a == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? state.sms
	     : a == CU_DEVICE_ATTRIBUTE_CLOCK_RATE               ? 1980000
	     : a == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE        ? 3201000
	     : a == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH  ? 6144
								 : state.smem;
	return CUDA_SUCCESS;
}

static CUresult fake_DevicePrimaryCtxRetain(CUcontext *out, CUdevice d)
{
	(void)d;
	CALL("cuDevicePrimaryCtxRetain");
	*out = (CUcontext)(void *)&the_context;
	count(&state.contexts, 1);
	return CUDA_SUCCESS;
}

static CUresult fake_DevicePrimaryCtxRelease(CUdevice d)
{
	(void)d;
	count(&state.contexts, -1);
	return CUDA_SUCCESS;
}

static CUresult fake_CtxGetCurrent(CUcontext *out)
{
	CALL("cuCtxGetCurrent");
	*out = current;
	return CUDA_SUCCESS;
}

static CUresult fake_CtxPushCurrent(CUcontext c)
{
	CALL("cuCtxPushCurrent");
	current = c;
	count(&state.depth, 1);
	return CUDA_SUCCESS;
}

static CUresult fake_CtxPopCurrent(CUcontext *out)
{
	*out = current;
	current = NULL;
	count(&state.depth, -1);
	return CUDA_SUCCESS;
}

static CUresult fake_CtxSynchronize(void)
{
	IN_CONTEXT();
	CALL("cuCtxSynchronize");
	state.syncs++;
	return CUDA_SUCCESS;
}

static CUresult fake_ModuleLoadData(CUmodule *out, const void *image)
{
	IN_CONTEXT();
	CALL("cuModuleLoadData");
	if (memcmp(image, "\177ELF", 4) != 0 && memcmp(image, ".version", 8) != 0)
		return CUDA_ERROR_INVALID_IMAGE;
	*out = (CUmodule)(void *)&the_module;
	state.text = memcmp(image, ".version", 8) == 0;
	count(&state.modules, 1);
	return CUDA_SUCCESS;
}

static CUresult fake_ModuleUnload(CUmodule m)
{
	(void)m;
	count(&state.modules, -1);
	return CUDA_SUCCESS;
}

static CUresult fake_ModuleGetFunction(CUfunction *out, CUmodule m, const char *name)
{
	(void)m;
	CALL("cuModuleGetFunction");
	if (strcmp(name, "absent") == 0)
		return CUDA_ERROR_NOT_FOUND;
	*out = (CUfunction)(strcmp(name, "dsl_packed") ? (void *)&the_function : &no_params);
	return CUDA_SUCCESS;
}

static CUresult fake_ModuleGetGlobal(CUdeviceptr *out, size_t *size, CUmodule m, const char *name)
{
	(void)m;
	CALL("cuModuleGetGlobal");
	if (strcmp(name, "absent") == 0)
		return CUDA_ERROR_NOT_FOUND;
	*out = 0x7000;
	*size = 48;
	return CUDA_SUCCESS;
}

static CUresult fake_FuncSetAttribute(CUfunction f, CUfunction_attribute a, int v)
{
	(void)f;
	CALL("cuFuncSetAttribute");
	if (a == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
		state.smem_set = v;
	if (a == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
		state.cluster_set = v;
	return CUDA_SUCCESS;
}

static CUresult fake_OccupancyMaxActiveClusters(int *clusters, CUfunction f,
						const CUlaunchConfig *config)
{
	(void)f;
	CALL("cuOccupancyMaxActiveClusters");
	*clusters =
		(int)(config->gridDimX / config->attrs[0].value.clusterDim.x) - state.clusters_lost;
	return CUDA_SUCCESS;
}

/* One. */
static CUresult fake_OccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, CUfunction f, int threads,
							       size_t smem)
{
	(void)f;
	CALL("cuOccupancyMaxActiveBlocksPerMultiprocessor");
	*ctas = threads > 0 && smem < 1 << 20;
	return CUDA_SUCCESS;
}

/* Two parameters of 8 bytes, after the gap that an alignment of 128 makes. */
static CUresult fake_FuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *size)
{
	CALL("cuFuncGetParamInfo");
	if (i > 1 || f == (CUfunction)(void *)&no_params)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = 112 + 8 * i;
	*size = 8;
	return CUDA_SUCCESS;
}

static CUresult fake_TensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type,
					  cuuint32_t rank, void *address, const cuuint64_t *dims,
					  const cuuint64_t *strides, const cuuint32_t *box,
					  const cuuint32_t *steps, CUtensorMapInterleave interleave,
					  CUtensorMapSwizzle swizzle,
					  CUtensorMapL2promotion promotion,
					  CUtensorMapFloatOOBfill fill)
{
	CALL("cuTensorMapEncodeTiled");
	FakeMap m = {type,    rank,      (uintptr_t)address,      {0}, {0}, {0},
		     swizzle, promotion, (uintptr_t)map % 64 == 0};
	if (rank < 1 || rank > 5 || (uintptr_t)address % 16 || !address || !m.aligned)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < rank; i++) {
		if (!dims[i] || dims[i] > UINT64_C(1) << 32 || !box[i] || box[i] > 256 ||
		    steps[i] != 1)
			return CUDA_ERROR_INVALID_VALUE;
		m.dims[i] = dims[i];
		m.box[i] = box[i];
	}
	for (unsigned i = 0; i + 1 < rank; i++) {
		if (strides[i] % 16 || strides[i] >= UINT64_C(1) << 40)
			return CUDA_ERROR_INVALID_VALUE;
		m.strides[i] = strides[i];
	}
	if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
	    fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	if (state.nmaps < FAKE_MAPS)
		state.maps[state.nmaps] = m;
	state.nmaps++;
	pthread_mutex_unlock(&lock);
	memset(map, 0, sizeof *map);
	map->opaque[0] = (uintptr_t)address;
	map->opaque[1] = UINT64_MAX;
	return CUDA_SUCCESS;
}

static CUresult fake_LaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params,
				    void **extra)
{
	(void)f;
	IN_CONTEXT();
	CALL("cuLaunchKernelEx");
	if (extra || c->numAttrs > 4)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	if (state.launches < FAKE_LAUNCHES)
		state.launch[state.launches] = *c;
	state.launches++;
	state.config = *c;
	memcpy(state.attributes, c->attrs, sizeof *c->attrs * c->numAttrs);
	for (unsigned i = 0; i < state.kernel_params && i < FAKE_PARAMS && params[i]; i++) {
		memcpy(&state.params[i], params[i], 8);
		if ((int)i < state.nmaps)
			memcpy(&state.map_word[i], (char *)params[i] + 8, 8);
	}
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

static CUresult fake_MemAlloc(CUdeviceptr *out, size_t size)
{
	IN_CONTEXT();
	CALL("cuMemAlloc");
	void *p = aligned_alloc(256, (size + 255) / 256 * 256);
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = (uintptr_t)p;
	count(&state.allocs, 1);
	return CUDA_SUCCESS;
}

static CUresult fake_MemFree(CUdeviceptr p)
{
	IN_CONTEXT();
	CALL("cuMemFree");
	free((void *)(uintptr_t)p);
	count(&state.allocs, -1);
	return CUDA_SUCCESS;
}

static CUresult fake_MemcpyHtoD(CUdeviceptr to, const void *from, size_t size)
{
	IN_CONTEXT();
	CALL("cuMemcpyHtoD");
	memcpy((void *)(uintptr_t)to, from, size);
	return CUDA_SUCCESS;
}

static CUresult fake_MemcpyDtoH(void *to, CUdeviceptr from, size_t size)
{
	IN_CONTEXT();
	CALL("cuMemcpyDtoH");
	memcpy(to, (void *)(uintptr_t)from, size);
	return CUDA_SUCCESS;
}

static CUresult fake_MemsetD8(CUdeviceptr to, unsigned char byte, size_t size)
{
	IN_CONTEXT();
	CALL("cuMemsetD8");
	memset((void *)(uintptr_t)to, byte, size);
	return CUDA_SUCCESS;
}

static CUresult fake_StreamCreate(CUstream *out, unsigned flags)
{
	(void)flags;
	IN_CONTEXT();
	CALL("cuStreamCreate");
	*out = (CUstream)(void *)&a_stream;
	return CUDA_SUCCESS;
}

static CUresult fake_StreamDestroy(CUstream s)
{
	CALL("cuStreamDestroy");
	return s == (CUstream)(void *)&a_stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult fake_StreamSynchronize(CUstream s)
{
	(void)s;
	CALL("cuStreamSynchronize");
	return CUDA_SUCCESS;
}

static CUresult fake_StreamQuery(CUstream s)
{
	(void)s;
	CALL("cuStreamQuery");
	return state.sticky ? CUDA_ERROR_LAUNCH_FAILED : CUDA_SUCCESS;
}

static CUresult fake_StreamIsCapturing(CUstream s, CUstreamCaptureStatus *out)
{
	(void)s;
	CALL("cuStreamIsCapturing");
	*out = state.capture;
	return CUDA_SUCCESS;
}

static CUresult fake_EventCreate(CUevent *out, unsigned flags)
{
	(void)flags;
	IN_CONTEXT();
	CALL("cuEventCreate");
	*out = (CUevent)(void *)&an_event;
	return CUDA_SUCCESS;
}

static CUresult fake_EventRecord(CUevent e, CUstream s)
{
	(void)s;
	CALL("cuEventRecord");
	return e == (CUevent)(void *)&an_event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult fake_EventSynchronize(CUevent e)
{
	(void)e;
	CALL("cuEventSynchronize");
	return CUDA_SUCCESS;
}

static CUresult fake_EventElapsedTime(float *ms, CUevent a, CUevent b)
{
	(void)a;
	(void)b;
	CALL("cuEventElapsedTime");
	*ms = 1.5f;
	return CUDA_SUCCESS;
}

static CUresult fake_EventDestroy(CUevent e)
{
	(void)e;
	CALL("cuEventDestroy");
	return CUDA_SUCCESS;
}

static CUresult fake_DeviceGetPCIBusId(char *out, int size, CUdevice d)
{
	(void)d;
	CALL("cuDeviceGetPCIBusId");
	strncpy(out, "0000:65:00.0", (size_t)size);
	return CUDA_SUCCESS;
}

static CUresult fake_MemGetInfo(size_t *left, size_t *total)
{
	IN_CONTEXT();
	CALL("cuMemGetInfo");
	*left = 1 << 30;
	*total = (size_t)1 << 31;
	return CUDA_SUCCESS;
}

static CUresult fake_StreamBeginCapture(CUstream s, CUstreamCaptureMode mode)
{
	(void)s;
	(void)mode;
	CALL("cuStreamBeginCapture");
	state.capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	return CUDA_SUCCESS;
}

static CUresult fake_StreamEndCapture(CUstream s, CUgraph *out)
{
	(void)s;
	CALL("cuStreamEndCapture");
	state.capture = CU_STREAM_CAPTURE_STATUS_NONE;
	*out = (CUgraph)(void *)&a_graph;
	count(&state.graphs, 1);
	return CUDA_SUCCESS;
}

static CUresult fake_GraphInstantiateWithFlags(CUgraphExec *out, CUgraph g,
					       unsigned long long flags)
{
	(void)g;
	(void)flags;
	CALL("cuGraphInstantiateWithFlags");
	*out = (CUgraphExec)(void *)&a_graph;
	count(&state.graphs, 1);
	return CUDA_SUCCESS;
}

static CUresult fake_GraphLaunch(CUgraphExec g, CUstream s)
{
	(void)s;
	IN_CONTEXT();
	CALL("cuGraphLaunch");
	state.launches++;
	return g == (CUgraphExec)(void *)&a_graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult fake_GraphDestroy(CUgraph g)
{
	(void)g;
	count(&state.graphs, -1);
	return CUDA_SUCCESS;
}

static CUresult fake_GraphExecDestroy(CUgraphExec g)
{
	(void)g;
	CALL("cuGraphExecDestroy");
	count(&state.graphs, -1);
	return CUDA_SUCCESS;
}

typedef void (*AnyFunction)(void);
static const struct {
	const char *name;
	int version;
	AnyFunction f;
} entries[] = {
#define CU(name, version) {"cu" #name, version, (AnyFunction)fake_##name},
#include "runtime/cuda.def"
#undef CU
};

__attribute__((visibility("default"))) CUresult
cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
		    CUdriverProcAddressQueryResult *why);
CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *why)
{
	(void)flags;
	(void)why;
	*out = NULL;
	if (state.missing && strcmp(state.missing, name) == 0)
		return CUDA_ERROR_NOT_FOUND;
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
		if (strcmp(entries[i].name, name) == 0 && entries[i].version == version) {
			memcpy(out, &entries[i].f, sizeof *out);
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_NOT_FOUND;
}
