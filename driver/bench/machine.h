/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* machine.h - private to driver/: where times come from. A Rig is a GPU with buffers for one
 * problem; a Runner is something that computes the problem there, a kernel of ours or cuBLASLt.
 *   rig_open(&rig, dev, &problem);  rig_first(&rig, &x)  ->  outputs are on the host, to compare
 *   rig_graphs(&rig, &x);  rig_sample(&rig, &x, STEADY, &sample) */
#ifndef DSL_DRIVER_MACHINE_H
#define DSL_DRIVER_MACHINE_H

#include "driver/bench/bench.h"
#include "check/problem.h"
#include "runtime/gpu.h"

/* product.c: what is computed, D = A B', as the tile stage says it. A is rows x cols with `down`
 * from row to row and `along` from column to column, in elements. */
typedef struct {
	int tensor; /* of the problem */
	int64_t rows, cols, down, along;
} Matrix;
typedef struct {
	bool known;   /* one product of two matrices to one output */
	bool pure;    /* and nothing else */
	double flops; /* of all products; 0: not known */
	Matrix a, b, d;
} Product;
Product product_of(const Problem *p);

/* nvml.c: clock and power, where there is NVML for the GPU on this bus ($DSLC_NVML: another
 * library); why says what is not there. */
typedef struct {
	void *lib, *device;
	int (*clock)(void *device, int which, unsigned *mhz);
	int (*power)(void *device, unsigned *milliwatts);
	int (*end)(void);
	const char *why; /* NULL: it can be read */
} Nvml;
void nvml_open(Nvml *n, const char *bus);
void nvml_read(const Nvml *n, Sample *out);
void nvml_close(Nvml *n);

/* rig.c */
typedef struct {
	Problem *p;
	dsl_device *dev;
	dsl_stream stream;
	dsl_event *from, *to;
	GpuFacts facts;
	Nvml nvml;
	dsl_addr slab;                /* all buffers */
	dsl_pool *pool;               /* of the stream */
	int sets;                     /* of buffers, that take turns */
	size_t set_bytes, read_bytes; /* of one set; of its inputs */
	size_t offset[32];            /* of each tensor in its set */
} Rig;
typedef struct Runner Runner;
struct Runner {
	dsl_status (*launch)(const Runner *x, const Rig *r, int set);
	void *self;
	const char *kernel;
	void *graph[REGIMES];
	int launches[REGIMES]; /* in the graph */
};
/* The problem's inputs go to each set of buffers. */
dsl_status rig_open(Rig *r, dsl_device *dev, Problem *p);
void rig_close(Rig *r);
dsl_addr rig_tensor(const Rig *r, int set, int tensor);
/* One launch over poisoned outputs, which go to the problem's host memory; after: all that the
 * steady graph launches. */
dsl_status rig_first(Rig *r, const Runner *x);
dsl_status rig_after(Rig *r, const Runner *x);
dsl_status rig_graphs(Rig *r, Runner *x);
dsl_status rig_forget(Rig *r, Runner *x);
dsl_status rig_sample(Rig *r, const Runner *x, Regime regime, Sample *out);
dsl_status runner_ours(const Runner *x, const Rig *r, int set); /* self: a dsl_module */

/* cublaslt.c: by dlopen ($DSLC_CUBLASLT: another library), its heuristics' first algorithm. */
typedef struct Lt Lt;
/* NULL with a reason in why. The device's context is this thread's from here on. */
Lt *lt_open(const Rig *r, const Product *p, char *why, size_t size);
dsl_status lt_launch(const Runner *x, const Rig *r, int set); /* self: an Lt */
const char *lt_text(const Lt *l);                             /* version and algorithm */
void lt_close(Lt *l);
/* x, or its transpose, as BLAS says it: columns `ld` apart, transposed or not. False: neither its
 * rows nor its columns are contiguous. */
typedef struct {
	int transposed;
	int64_t rows, cols, ld;
} LtMatrix;
bool lt_matrix(const Matrix *x, bool transpose, LtMatrix *out);

/* An entry point of a library into the function pointer at f. */
bool entry_find(void *lib, const char *name, void *f);
void *library_open(const char *variable, const char *const *names, int n);

#endif
