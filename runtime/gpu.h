/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gpu.h - what timing asks of a GPU beyond dsl.h, for the driver; not installed.
 *   gpu_capture(dev, s);  dsl_launch(.., s, ..) 20 times;  gpu_captured(dev, s, &graph)
 *   gpu_replay(dev, graph, s)  ->  the 20 launches, which cost the host one call
 * dev is a GPU, no simulator. A failure is a status with dsl_detail. */
#ifndef DSL_RUNTIME_GPU_H
#define DSL_RUNTIME_GPU_H

#include "runtime/dsl.h"

/* cuda_graph.c */
typedef struct {
	size_t l2_bytes, free_bytes; /* of the second-level cache; of memory that is free now */
	char bus[32];                /* "0000:65:00.0", by which NVML knows it; "" where unknown */
} GpuFacts;
dsl_status gpu_facts(dsl_device *dev, GpuFacts *out);
/* Its context is this thread's from here on, for libraries that ask for the current one. */
dsl_status gpu_current(dsl_device *dev);

/* What is enqueued in the stream between the two becomes a graph; it does not run meanwhile. */
dsl_status gpu_capture(dsl_device *dev, dsl_stream stream);
dsl_status gpu_captured(dsl_device *dev, dsl_stream stream, void **graph);
dsl_status gpu_replay(dsl_device *dev, void *graph, dsl_stream stream);
dsl_status gpu_forget(dsl_device *dev, void *graph); /* NULL: nothing */

#endif
