/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tensors.h - a launch by tensors as array libraries have them, for the Python package; not
 * installed. Sizes are read from extents and strides, and what does not agree becomes a sentence:
 *   "tensor B of kernel gemm: extent 1 is 64, but K = 72" */
#ifndef DSL_RUNTIME_TENSORS_H
#define DSL_RUNTIME_TENSORS_H

#include "runtime/desc.h"

#include <stdbool.h>

typedef struct {
	dsl_addr base;
	Elem elem;
	int rank; /* -1: of a tensor that is not there, whose address alone counts */
	const int64_t *extent, *stride; /* elements; stride NULL: dense, the last fastest */
} TensorView;

/* What a launch is given, a slot for each argument and size of the kernel, in the order of the
 * manifest. A tensor's slot of args gets its address; a scalar's is the caller's; a size is the
 * caller's where given says so, else it is found. */
typedef struct {
	TensorView view[KD_MAX_ARGS];
	dsl_arg args[KD_MAX_ARGS + KD_MAX_SYMS];
	bool given[KD_MAX_ARGS + KD_MAX_SYMS];
} TensorCall;

/* tensors.c: fills the sizes and addresses in c->args, which are ready for dsl_launch then. */
dsl_status dsl_tensors_bind(const dsl_module *mod, const KDesc *k, TensorCall *c);

#endif
