/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fake_gpu.h - what the stand-in for libcuda offers to other stand-ins, by dlsym. */
#ifndef FAKE_GPU_H
#define FAKE_GPU_H

#include <stddef.h>

/* Does the work and lets so many microseconds pass; or, while a stream is captured, when the graph
 * is launched. data is copied, at most 1024 bytes. */
typedef void FakeWork(const void *data);
void fake_gpu_work(double us, FakeWork *work, const void *data, size_t size);

#endif
