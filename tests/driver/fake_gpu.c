/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fake_gpu.c - a libcuda that "runs" the kernel of small.gemm by three loops on the host, so that
 * dslc run can be seen to accept what is right and to refuse what is not. FAKE_GPU in the
 * environment says how the kernel behaves:
 *   right     computes D                      ulp     all elements one unit in the last place off
 *   wrong     one element off                 short   one element is not written
 *   before    also writes just before D       behind   also writes just behind D
 *   refused   the launch fails                lost    the GPU fails while it runs
 *   slow      computes D, the first time after 2.2 seconds */
#include "runtime/number.h"

#include <cuda.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOM = 1 << 26 };

typedef struct {
	uint16_t *at;
	size_t rows, cols, stride; /* elements */
} Matrix;

static _Thread_local Matrix maps[8];
static _Thread_local int nmaps;
static void *last_stream;
static char *room;
static size_t used;
static char a_handle;

static int acts(const char *how)
{
	const char *s = getenv("FAKE_GPU");
	return s && strcmp(s, how) == 0;
}

/* ------------------------------------------------------------------ the kernel */
static uint16_t product(const Matrix *a, const Matrix *b, size_t m, size_t n)
{
	float sum = 0;
	for (size_t k = 0; k < a->cols; k++)
		sum += bf16_to_f32(a->at[m * a->stride + k]) *
		       bf16_to_f32(b->at[n * b->stride + k]);
	return bf16_from_f32(sum);
}

static void gemm(const Matrix *a, const Matrix *b, uint16_t *d)
{
	size_t rows = a->rows, cols = b->rows;
	for (size_t m = 0; m < rows; m++) {
		for (size_t n = 0; n < cols; n++) {
			int last = m == rows - 1 && n == cols - 1;
			uint16_t v = product(a, b, m, n);
			if (acts("ulp") || (acts("wrong") && last))
				v = (uint16_t)(v + (acts("wrong") ? 64 : 1));
			if (!(acts("short") && last))
				d[m * cols + n] = v;
		}
	}
	if (acts("before"))
		d[-3] = 0;
	if (acts("behind"))
		d[rows * cols + 5] = 0;
}

/* A is allocated before B and B before D, and addresses grow. */
static int by_address(const void *a, const void *b)
{
	const Matrix *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

static void wait_once(void)
{
	static int waited;
	if (!waited++)
		nanosleep(&(struct timespec){2, 200000000}, NULL);
}

static CUresult fake_LaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params,
				    void **extra)
{
	uint64_t d;
	last_stream = c->hStream;
	(void)f;
	(void)extra;
	if (acts("refused"))
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	if (acts("slow"))
		wait_once();
	memcpy(&d, params[2], sizeof d); /* its address, or a map where D is stored by TMA */
	qsort(maps, (size_t)nmaps, sizeof *maps, by_address);
	gemm(&maps[0], &maps[1], nmaps == 3 ? maps[2].at : (uint16_t *)(uintptr_t)d);
	nmaps = 0;
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
	(void)box;
	(void)steps;
	(void)interleave;
	(void)swizzle;
	(void)promotion;
	(void)fill;
	if (type != CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 || rank != 2 || nmaps == 8)
		return CUDA_ERROR_INVALID_VALUE;
	maps[nmaps] = (Matrix){address, (size_t)dims[1], (size_t)dims[0], (size_t)strides[0] / 2};
	memset(map, 0, sizeof *map);
	map->opaque[0] = (cuuint64_t)nmaps++;
	return CUDA_SUCCESS;
}

/* For tests of who launches where. */
void *fake_gpu_stream(void);
void *fake_gpu_stream(void)
{
	return last_stream;
}

/* ------------------------------------------------------------------ memory */
static CUresult fake_MemAlloc(CUdeviceptr *out, size_t size)
{
	size = (size + 255) / 256 * 256;
	if (!room)
		room = aligned_alloc(256, ROOM);
	if (!room || used + size > ROOM)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = (uintptr_t)(room + used);
	used += size;
	return CUDA_SUCCESS;
}

static CUresult fake_MemFree(CUdeviceptr p)
{
	(void)p;
	return CUDA_SUCCESS;
}

static CUresult fake_MemcpyHtoD(CUdeviceptr to, const void *from, size_t size)
{
	memcpy((void *)(uintptr_t)to, from, size);
	return CUDA_SUCCESS;
}

static CUresult fake_MemcpyDtoH(void *to, CUdeviceptr from, size_t size)
{
	memcpy(to, (void *)(uintptr_t)from, size);
	return CUDA_SUCCESS;
}

static CUresult fake_MemsetD8(CUdeviceptr to, unsigned char byte, size_t size)
{
	memset((void *)(uintptr_t)to, byte, size);
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ the rest of the driver */
static CUresult fake_Init(unsigned flags)
{
	(void)flags;
	return CUDA_SUCCESS;
}

static CUresult fake_GetErrorName(CUresult e, const char **out)
{
	*out = e == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
	return CUDA_SUCCESS;
}

static CUresult fake_GetErrorString(CUresult e, const char **out)
{
	(void)e;
	*out = "a fake error";
	return CUDA_SUCCESS;
}

static CUresult fake_DriverGetVersion(int *v)
{
	*v = 13000;
	return CUDA_SUCCESS;
}

static CUresult fake_DeviceGet(CUdevice *out, int n)
{
	*out = n;
	return CUDA_SUCCESS;
}

static CUresult fake_DeviceGetCount(int *n)
{
	*n = 1;
	return CUDA_SUCCESS;
}

static CUresult fake_DeviceGetName(char *name, int len, CUdevice d)
{
	(void)d;
	strncpy(name, "Fake GPU", (size_t)len);
	return CUDA_SUCCESS;
}

static CUresult fake_DeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d)
{
	(void)d;
	*v = a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
	     : a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
	     : a == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? 132
								 : 232448;
	return CUDA_SUCCESS;
}

static CUresult fake_DevicePrimaryCtxRetain(CUcontext *out, CUdevice d)
{
	(void)d;
	*out = (CUcontext)(void *)&a_handle;
	return CUDA_SUCCESS;
}

static CUresult fake_DevicePrimaryCtxRelease(CUdevice d)
{
	(void)d;
	free(room);
	room = NULL;
	return CUDA_SUCCESS;
}

static CUresult fake_CtxGetCurrent(CUcontext *out)
{
	*out = (CUcontext)(void *)&a_handle;
	return CUDA_SUCCESS;
}

static CUresult fake_CtxPushCurrent(CUcontext c)
{
	(void)c;
	return CUDA_SUCCESS;
}

static CUresult fake_CtxPopCurrent(CUcontext *out)
{
	return fake_CtxGetCurrent(out);
}

static CUresult fake_CtxSynchronize(void)
{
	return acts("lost") ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

static CUresult fake_ModuleLoadData(CUmodule *out, const void *image)
{
	(void)image;
	*out = (CUmodule)(void *)&a_handle;
	return CUDA_SUCCESS;
}

static CUresult fake_ModuleUnload(CUmodule m)
{
	(void)m;
	return CUDA_SUCCESS;
}

static CUresult fake_ModuleGetFunction(CUfunction *out, CUmodule m, const char *name)
{
	(void)m;
	(void)name;
	*out = (CUfunction)(void *)&a_handle;
	return CUDA_SUCCESS;
}

static CUresult fake_FuncSetAttribute(CUfunction f, CUfunction_attribute a, int v)
{
	(void)f;
	(void)a;
	(void)v;
	return CUDA_SUCCESS;
}

static CUresult unsupported(void)
{
	return CUDA_ERROR_NOT_SUPPORTED;
}

typedef void (*Entry)(void);

#define ROW(name) {"cu" #name, (Entry)fake_##name}
static const struct {
	const char *name;
	Entry entry;
} entries[] = {
	ROW(Init),
	ROW(GetErrorName),
	ROW(GetErrorString),
	ROW(DriverGetVersion),
	ROW(DeviceGet),
	ROW(DeviceGetCount),
	ROW(DeviceGetName),
	ROW(DeviceGetAttribute),
	ROW(DevicePrimaryCtxRetain),
	ROW(DevicePrimaryCtxRelease),
	ROW(CtxGetCurrent),
	ROW(CtxPushCurrent),
	ROW(CtxPopCurrent),
	ROW(CtxSynchronize),
	ROW(ModuleLoadData),
	ROW(ModuleUnload),
	ROW(ModuleGetFunction),
	ROW(FuncSetAttribute),
	ROW(TensorMapEncodeTiled),
	ROW(LaunchKernelEx),
	ROW(MemAlloc),
	ROW(MemFree),
	ROW(MemcpyHtoD),
	ROW(MemcpyDtoH),
	ROW(MemsetD8),
};

/* cuda.h makes cuGetProcAddress a name of the _v2 function. */
CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
				  CUdriverProcAddressQueryResult *symbolStatus)
{
	Entry entry = (Entry)unsupported;
	(void)cudaVersion;
	(void)flags;
	(void)symbolStatus;
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
		if (strcmp(entries[i].name, symbol) == 0)
			entry = entries[i].entry;
	memcpy(pfn, &entry, sizeof entry);
	return CUDA_SUCCESS;
}
