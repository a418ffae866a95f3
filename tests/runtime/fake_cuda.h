/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fake_cuda.h - a stand-in for libcuda that records calls and fails on demand, so that the runtime
 * can be tested without a GPU. Built as a shared library; the runtime finds it through DSL_LIBCUDA,
 * the test through fake_reset (sample.h). Device memory is host memory. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

enum { FAKE_PARAMS = 16, FAKE_MAPS = 8, FAKE_LAUNCHES = 8 };

/* What cuTensorMapEncodeTiled was told. */
typedef struct {
	CUtensorMapDataType type;
	unsigned rank;
	uint64_t address, dims[5], strides[4];
	unsigned box[5];
	CUtensorMapSwizzle swizzle;
	CUtensorMapL2promotion promotion;
	bool aligned; /* the map's own address */
} FakeMap;

typedef struct {
	/* settings */
	int devices, driver, major, minor, sms, smem;
	const char *fail; /* "cuMemAlloc": this call fails with `code` ... */
	CUresult code;
	int after;           /* ... once this many have succeeded */
	const char *missing; /* "cuLaunchKernelEx": cuGetProcAddress does not know it */
	bool sticky;         /* cuStreamQuery gives an earlier failure */
	CUstreamCaptureStatus capture;
	unsigned kernel_params; /* how many parameters the kernel of the cubin has */
	/* records */
	bool text; /* the last module was PTX */
	int calls, allocs, modules, contexts, launches, syncs, nmaps, graphs;
	int depth; /* contexts pushed */
	FakeMap maps[FAKE_MAPS];
	CUlaunchConfig config;
	CUlaunchAttribute attributes[4];
	CUlaunchConfig launch[FAKE_LAUNCHES]; /* the first ones */
	uint64_t params[FAKE_PARAMS];         /* first 8 bytes of each */
	uint64_t map_word[FAKE_PARAMS];       /* second 64-bit word, of maps */
	int smem_set, cluster_set;            /* function attributes; -1 is not set */
	int clusters_lost;                    /* that the SMs have no room for */
} Fake;

/* The state of the loaded library. */
typedef Fake *(*FakeState)(void);

#endif
