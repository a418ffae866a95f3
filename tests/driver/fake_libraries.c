/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fake_libraries.c - cuBLASLt and NVML for fake_gpu.c. The product is computed by three loops from
 * what the caller says of it, so that a wrong description gives a wrong result. FAKE_LT in the
 * environment: "none" knows no algorithm, "wrong" is one element off. A launch takes 50 us. */
#include "fake_gpu.h"
#include "runtime/number.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BF16 = 14, F32 = 0, COMPUTE_32F = 68, TRANSA = 3, TRANSB = 4, OK = 0, REFUSED = 7 };

typedef struct {
	int type, transposed;
	size_t rows, cols, ld;
	void *at;
} Columns;
typedef struct {
	int transposed[2];
} Desc;
typedef struct {
	uint64_t algorithm[8];
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
} Choice;
typedef struct {
	Columns a, b, d;
} Product;

static int acts(const char *how)
{
	const char *s = getenv("FAKE_LT");
	return s && strcmp(s, how) == 0;
}

/* ------------------------------------------------------------------ the product */
static float at(const Columns *m, size_t row, size_t col)
{
	size_t i = m->transposed ? col + row * m->ld : row + col * m->ld;
	return bf16_to_f32(((const uint16_t *)m->at)[i]);
}

static void compute(const void *data)
{
	Product p;
	memcpy(&p, data, sizeof p);
	size_t depth = p.a.transposed ? p.a.rows : p.a.cols;
	for (size_t col = 0; col < p.d.cols; col++)
		for (size_t row = 0; row < p.d.rows; row++) {
			float sum = 0;
			for (size_t k = 0; k < depth; k++)
				sum += at(&p.a, row, k) * at(&p.b, k, col);
			((uint16_t *)p.d.at)[row + col * p.d.ld] = bf16_from_f32(sum);
		}
	if (acts("wrong"))
		*(uint16_t *)p.d.at ^= 0x40;
}

#define EXPORT __attribute__((visibility("default")))

/* ------------------------------------------------------------------ cuBLASLt */
EXPORT size_t cublasLtGetVersion(void);
EXPORT int cublasLtCreate(void **out);
EXPORT int cublasLtDestroy(void *h);
EXPORT int cublasLtMatmulDescCreate(void **out, int compute_type, int scale_type);
EXPORT int cublasLtMatmulDescDestroy(void *d);
EXPORT int cublasLtMatmulDescSetAttribute(void *d, int what, const void *v, size_t size);
EXPORT int cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows, uint64_t cols,
				      int64_t ld);
EXPORT int cublasLtMatrixLayoutDestroy(void *l);
EXPORT int cublasLtMatmulPreferenceCreate(void **out);
EXPORT int cublasLtMatmulPreferenceDestroy(void *p);
EXPORT int cublasLtMatmulPreferenceSetAttribute(void *p, int what, const void *v, size_t size);
EXPORT int cublasLtMatmulAlgoGetHeuristic(void *h, void *op, void *a, void *b, void *c, void *d,
					  void *preference, int wanted, Choice *out, int *found);
EXPORT int cublasLtMatmulAlgoConfigGetAttribute(const void *algorithm, int what, void *out,
						size_t size, size_t *written);
EXPORT int cublasLtMatmul(void *h, void *op, const void *alpha, const void *a, void *la,
			  const void *b, void *lb, const void *beta, const void *c, void *lc,
			  void *d, void *ld, const void *algorithm, void *space, size_t size,
			  void *stream);

size_t cublasLtGetVersion(void)
{
	return 130101;
}

static int make(void **out, size_t size)
{
	*out = calloc(1, size);
	return *out ? OK : REFUSED;
}

int cublasLtCreate(void **out)
{
	return make(out, 1);
}

int cublasLtDestroy(void *h)
{
	free(h);
	return OK;
}

int cublasLtMatmulDescCreate(void **out, int compute_type, int scale_type)
{
	return compute_type == COMPUTE_32F && scale_type == F32 ? make(out, sizeof(Desc)) : REFUSED;
}

int cublasLtMatmulDescDestroy(void *d)
{
	free(d);
	return OK;
}

int cublasLtMatmulDescSetAttribute(void *d, int what, const void *v, size_t size)
{
	if ((what != TRANSA && what != TRANSB) || size != sizeof(int))
		return REFUSED;
	memcpy(&((Desc *)d)->transposed[what - TRANSA], v, size);
	return OK;
}

int cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows, uint64_t cols, int64_t ld)
{
	Columns c = {.type = type, .rows = rows, .cols = cols, .ld = (size_t)ld};
	if (type != BF16 || ld < (int64_t)rows || make(out, sizeof c))
		return REFUSED;
	memcpy(*out, &c, sizeof c);
	return OK;
}

int cublasLtMatrixLayoutDestroy(void *l)
{
	free(l);
	return OK;
}

int cublasLtMatmulPreferenceCreate(void **out)
{
	return make(out, 1);
}

int cublasLtMatmulPreferenceDestroy(void *p)
{
	free(p);
	return OK;
}

int cublasLtMatmulPreferenceSetAttribute(void *p, int what, const void *v, size_t size)
{
	(void)p;
	(void)v;
	return what == 1 && size == sizeof(uint64_t) ? OK : REFUSED;
}

int cublasLtMatmulAlgoGetHeuristic(void *h, void *op, void *a, void *b, void *c, void *d,
				   void *preference, int wanted, Choice *out, int *found)
{
	(void)h, (void)op, (void)a, (void)b, (void)c, (void)d, (void)preference;
	*found = wanted > 0 && !acts("none");
	*out = (Choice){.workspace = 1000};
	return OK;
}

int cublasLtMatmulAlgoConfigGetAttribute(const void *algorithm, int what, void *out, size_t size,
					 size_t *written)
{
	int v = 60 + what;
	(void)algorithm;
	if (size != sizeof v)
		return REFUSED;
	memcpy(out, &v, *written = size);
	return OK;
}

int cublasLtMatmul(void *h, void *op, const void *alpha, const void *a, void *la, const void *b,
		   void *lb, const void *beta, const void *c, void *lc, void *d, void *ld,
		   const void *algorithm, void *space, size_t size, void *stream)
{
	(void)h, (void)alpha, (void)beta, (void)c, (void)lc;
	(void)algorithm, (void)space, (void)size, (void)stream;
	static void (*work)(double us, FakeWork *f, const void *data, size_t n);
	Product p = {*(Columns *)la, *(Columns *)lb, *(Columns *)ld};
	void *gpu = dlopen(getenv("DSL_LIBCUDA"), RTLD_NOW),
	     *f = gpu ? dlsym(gpu, "fake_gpu_work") : NULL;
	memcpy(&work, &f, sizeof f);
	p.a.transposed = ((Desc *)op)->transposed[0];
	p.b.transposed = ((Desc *)op)->transposed[1];
	memcpy(&p.a.at, &a, sizeof a);
	memcpy(&p.b.at, &b, sizeof b);
	p.d.at = d;
	if (f)
		work(50, compute, &p, sizeof p);
	return f ? OK : REFUSED;
}

/* ------------------------------------------------------------------ NVML */
EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **out);
EXPORT int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz);
EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);

int nvmlInit_v2(void)
{
	return OK;
}

int nvmlShutdown(void)
{
	return OK;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **out)
{
	*out = NULL;
	return strcmp(bus, "0000:65:00.0") != 0;
}

int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz)
{
	(void)device;
	*mhz = which == 1 ? 1470 : 0;
	return OK;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
	(void)device;
	*milliwatts = 698500;
	return OK;
}
