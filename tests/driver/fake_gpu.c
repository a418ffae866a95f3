/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fake_gpu.c - a libcuda that "runs" the kernel of small.gemm by three loops on the host, so that
 * dslc run can be seen to accept what is right and to refuse what is not. FAKE_GPU in the
 * environment says how the kernel behaves:
 *   right     computes D                      ulp     all elements one unit in the last place off
 *   wrong     one element off                 short   one element is not written
 *   before    also writes just before D       after   also writes just after D
 *   refused   the launch fails                lost    the GPU fails while it runs
 *   slow      computes D, the first time after 2.2 seconds
 *   picky     one element off where a CTA has more than 60000 bytes of shared memory
 *   tired     one element off in graphs
 *   hangs, dies, lost_large  the launch never ends, ends the process, or the GPU fails, where a CTA
 *             has more than 60000 bytes of shared memory
 * Its clock goes on only while it works: a launch takes 20 us and one for each 4000 bytes of shared
 * memory, a few tenths of a percent more or less; with FAKE_NOISE=loud up to a tenth. */
#include "fake_gpu.h"

#include "runtime/number.h"

#include <cuda.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 3 << 26 };

typedef struct {
	uint16_t *at;
	size_t rows, cols, stride; /* elements */
} Matrix;

typedef struct {
	Matrix map[8];
	int nmaps;
	uint64_t d; /* its address, or a map where D is stored by TMA */
	unsigned smem;
} Kernel;
typedef struct {
	double us;
	FakeWork *work; /* of the first launch, which stands for all */
	_Alignas(16) char data[1024];
} Graph;

static _Thread_local Kernel next;
static void *last_stream;
static Graph *capturing;
static double now_us;
static bool in_graph;
static char *room;
static size_t used;
static char a_handle, a_copier;

/* What the environment says, asked once: bench replays a kernel many times. */
static const char *said(const char **asked, const char *name)
{
	if (!*asked)
		*asked = getenv(name);
	if (!*asked)
		*asked = "";
	return *asked;
}

static int acts(const char *how)
{
	static const char *s;
	return strcmp(said(&s, "FAKE_GPU"), how) == 0;
}

/* ------------------------------------------------------------------ the kernel */
/* ------------------------------------------------------------------ time */
/* Noise that is the same in every run. */
static double noisy(double us)
{
	static uint32_t state = 1;
	static const char *asked;
	const char *noise = said(&asked, "FAKE_NOISE");
	state = state * 1664525u + 1013904223u;
	double x = (double)(state >> 8) / (1 << 24);
	return us * (1 + (*noise == 'l' ? 0.1 : 0.004) * x);
}

void fake_gpu_work(double us, FakeWork *work, const void *data, size_t size)
{
	if (!capturing) {
		work(data);
		now_us += noisy(us);
		return;
	}
	if (!capturing->work)
		memcpy(capturing->data, data, size);
	capturing->work = work;
	capturing->us += us;
}

static uint16_t product(const Matrix *a, const Matrix *b, size_t m, size_t n)
{
	const uint16_t *of_a = &a->at[m * a->stride], *of_b = &b->at[n * b->stride];
	size_t cols = a->cols;
	float sum = 0;
	for (size_t k = 0; k < cols; k++)
		sum += bf16_to_f32(of_a[k]) * bf16_to_f32(of_b[k]);
	return bf16_from_f32(sum);
}

static bool one_off(const Kernel *k)
{
	return acts("wrong") || (acts("picky") && k->smem > 60000) || (acts("tired") && in_graph);
}

static void gemm(const Kernel *k, const Matrix *a, const Matrix *b, uint16_t *d)
{
	size_t rows = a->rows, cols = b->rows;
	int off = one_off(k), ulp = acts("ulp"), brief = acts("short");
	for (size_t m = 0; m < rows; m++) {
		for (size_t n = 0; n < cols; n++) {
			int last = m == rows - 1 && n == cols - 1;
			uint16_t v = product(a, b, m, n);
			if (ulp || (off && last))
				v = (uint16_t)(v + (off ? 64 : 1));
			if (!(brief && last))
				d[m * cols + n] = v;
		}
	}
	if (acts("before"))
		d[-3] = 0;
	if (acts("after"))
		d[rows * cols + 5] = 0;
}

/* Of runtime/repack.ptx: a job has bytes of rows and their pitch at these places, up to three ends
 * of modes at others, and CTAs last. What was copied where is kept: operands are told apart by
 * where they lay. */
static struct {
	const char *from, *to;
} copied[8];
static unsigned ncopied;

static void copy(const void *data)
{
	enum { SRC = 0, DST = 1, LEN = 3, PITCH = 4, TOTAL = 5, STRIDE = 6, BYTES = 128, JOBS = 4 };
	for (int i = 0; i < JOBS; i++) {
		uint64_t j[BYTES / 8];
		memcpy(j, (const char *)data + i * BYTES, sizeof j);
		const char *from = (const char *)(uintptr_t)j[SRC];
		char *to = (char *)(uintptr_t)j[DST];
		for (uint64_t r = 0; r < j[TOTAL] / ((j[LEN] + 15) / 16 + !j[LEN]); r++)
			memcpy(to + r * j[PITCH], from + r * j[STRIDE], j[LEN]);
		copied[ncopied % 8].from = from;
		copied[ncopied++ % 8].to = to;
	}
}

static const char *lay_at(const Matrix *m)
{
	for (int i = 0; i < 8; i++)
		if (m->at && copied[i].to == (const char *)m->at)
			return copied[i].from;
	return (const char *)m->at;
}

/* A is allocated before B and B before D, and addresses grow. */
static int by_address(const void *a, const void *b)
{
	const char *x = lay_at(a), *y = lay_at(b);
	return (x > y) - (x < y);
}

static void wait_once(void)
{
	static int waited;
	if (!waited++)
		nanosleep(&(struct timespec){2, 200000000}, NULL);
}

static void run(const void *data)
{
	Kernel k;
	memcpy(&k, data, sizeof k);
	qsort(k.map, (size_t)k.nmaps, sizeof *k.map, by_address);
	uint16_t *d = k.nmaps == 3 ? k.map[2].at : (uint16_t *)(uintptr_t)k.d;
	gemm(&k, &k.map[0], &k.map[1], d);
}

static bool fails_with(unsigned smem)
{
	if (smem <= 60000)
		return false;
	if (acts("hangs"))
		pause();
	if (acts("dies"))
		raise(SIGKILL);
	return acts("lost_large");
}

/* Clusters of any shape fit. */
static CUresult fake_OccupancyMaxActiveClusters(int *out, CUfunction f, const CUlaunchConfig *c)
{
	(void)f;
	(void)c;
	*out = 16;
	return CUDA_SUCCESS;
}

static CUresult fake_LaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params,
				    void **extra)
{
	last_stream = c->hStream;
	(void)extra;
	if (f == (CUfunction)(void *)&a_copier) {
		fake_gpu_work(1, copy, params[0], 4 * 128);
		return CUDA_SUCCESS;
	}
	if (acts("refused"))
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	if (acts("slow"))
		wait_once();
	memcpy(&next.d, params[2], sizeof next.d);
	next.smem = c->sharedMemBytes;
	if (fails_with(next.smem))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	fake_gpu_work(20 + next.smem / 4000.0, run, &next, sizeof next);
	next.nmaps = 0;
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
	if (type != CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 || rank != 2 || next.nmaps == 8)
		return CUDA_ERROR_INVALID_VALUE;
	next.map[next.nmaps] =
		(Matrix){address, (size_t)dims[1], (size_t)dims[0], (size_t)strides[0] / 2};
	memset(map, 0, sizeof *map);
	map->opaque[0] = (cuuint64_t)next.nmaps++;
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
	used = 0;
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
	*out = (CUfunction)(void *)(strcmp(name, "dsl_repack") == 0 ? &a_copier : &a_handle);
	return CUDA_SUCCESS;
}

/* Of the copier, whose parameter is one block. */
static CUresult fake_FuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *size)
{
	(void)f;
	*offset = 0;
	*size = 4 * 128;
	return i ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult fake_StreamIsCapturing(CUstream s, CUstreamCaptureStatus *out)
{
	(void)s;
	*out = capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

static CUresult fake_FuncSetAttribute(CUfunction f, CUfunction_attribute a, int v)
{
	(void)f;
	(void)a;
	(void)v;
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ streams, events, graphs */
static CUresult fake_StreamCreate(CUstream *out, unsigned flags)
{
	(void)flags;
	*out = (CUstream)(void *)&a_handle;
	return CUDA_SUCCESS;
}

static CUresult fake_StreamDestroy(CUstream s)
{
	(void)s;
	return CUDA_SUCCESS;
}

static CUresult fake_StreamSynchronize(CUstream s)
{
	(void)s;
	return fake_CtxSynchronize();
}

static CUresult fake_EventCreate(CUevent *out, unsigned flags)
{
	(void)flags;
	*out = calloc(1, sizeof(double));
	return CUDA_SUCCESS;
}

static CUresult fake_EventDestroy(CUevent e)
{
	free(e);
	return CUDA_SUCCESS;
}

static CUresult fake_EventRecord(CUevent e, CUstream s)
{
	(void)s;
	memcpy(e, &now_us, sizeof now_us);
	return CUDA_SUCCESS;
}

static CUresult fake_EventSynchronize(CUevent e)
{
	(void)e;
	return CUDA_SUCCESS;
}

static CUresult fake_EventElapsedTime(float *ms, CUevent from, CUevent to)
{
	double a, b;
	memcpy(&a, from, sizeof a);
	memcpy(&b, to, sizeof b);
	*ms = (float)((b - a) / 1000);
	return CUDA_SUCCESS;
}

static CUresult fake_StreamBeginCapture(CUstream s, CUstreamCaptureMode mode)
{
	(void)s;
	(void)mode;
	capturing = calloc(1, sizeof *capturing);
	return capturing ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult fake_StreamEndCapture(CUstream s, CUgraph *out)
{
	(void)s;
	*out = (CUgraph)(void *)capturing;
	capturing = NULL;
	return CUDA_SUCCESS;
}

static CUresult fake_GraphInstantiateWithFlags(CUgraphExec *out, CUgraph g,
					       unsigned long long flags)
{
	(void)flags;
	Graph *copy = malloc(sizeof *copy);
	memcpy(copy, g, sizeof *copy);
	*out = (CUgraphExec)(void *)copy;
	return CUDA_SUCCESS;
}

static CUresult fake_GraphLaunch(CUgraphExec exec, CUstream s)
{
	const Graph *g = (const Graph *)(void *)exec;
	(void)s;
	in_graph = true;
	g->work(g->data);
	in_graph = false;
	now_us += noisy(g->us);
	return CUDA_SUCCESS;
}

static CUresult fake_GraphDestroy(CUgraph g)
{
	free(g);
	return CUDA_SUCCESS;
}

static CUresult fake_GraphExecDestroy(CUgraphExec g)
{
	free(g);
	return CUDA_SUCCESS;
}

static CUresult fake_MemGetInfo(size_t *left, size_t *total)
{
	*left = *total = ROOM / 2;
	return CUDA_SUCCESS;
}

static CUresult fake_DeviceGetPCIBusId(char *out, int size, CUdevice d)
{
	(void)d;
	strncpy(out, "0000:65:00.0", (size_t)size);
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
	ROW(FuncGetParamInfo),
	ROW(StreamIsCapturing),
	ROW(TensorMapEncodeTiled),
	ROW(LaunchKernelEx),
	ROW(OccupancyMaxActiveClusters),
	ROW(MemAlloc),
	ROW(MemFree),
	ROW(MemcpyHtoD),
	ROW(MemcpyDtoH),
	ROW(MemsetD8),
	ROW(StreamCreate),
	ROW(StreamDestroy),
	ROW(StreamSynchronize),
	ROW(EventCreate),
	ROW(EventDestroy),
	ROW(EventRecord),
	ROW(EventSynchronize),
	ROW(EventElapsedTime),
	ROW(StreamBeginCapture),
	ROW(StreamEndCapture),
	ROW(GraphInstantiateWithFlags),
	ROW(GraphLaunch),
	ROW(GraphDestroy),
	ROW(GraphExecDestroy),
	ROW(MemGetInfo),
	ROW(DeviceGetPCIBusId),
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
