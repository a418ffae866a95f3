/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cuda_graph.c - gpu.h: what a GPU has, and launches gathered into a graph.
 *   capture, two launches, captured  ->  a CUgraphExec of two nodes */
#include "runtime/gpu.h"
#include "runtime/cu.h"

static size_t l2_of(const CudaDevice *d)
{
	int v = 0;
	CUresult r = d->cu.DeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, d->device);
	return r == CUDA_SUCCESS && v > 0 ? (size_t)v : 0;
}

dsl_status gpu_facts(dsl_device *dev, GpuFacts *out)
{
	Scope s;
	size_t total = 0;
	dsl_status st = cuda_scope_enter(&s, cuda_of(dev));
	if (st)
		return st;
	*out = (GpuFacts){.l2_bytes = l2_of(s.d)};
	if (s.d->cu.DeviceGetPCIBusId(out->bus, (int)sizeof out->bus, s.d->device) != CUDA_SUCCESS)
		out->bus[0] = 0;
	return scope_end(&s, "cuMemGetInfo", s.d->cu.MemGetInfo(&out->free_bytes, &total));
}

dsl_status gpu_current(dsl_device *dev)
{
	Scope s; /* is not left */
	return cuda_scope_enter(&s, cuda_of(dev));
}

DRIVER_CALL(gpu_capture, (dsl_device * dev, dsl_stream stream), StreamBeginCapture,
	    (stream, CU_STREAM_CAPTURE_MODE_RELAXED))

dsl_status gpu_captured(dsl_device *dev, dsl_stream stream, void **graph)
{
	Scope s;
	CUgraph nodes = NULL;
	CUgraphExec exec = NULL;
	*graph = NULL;
	dsl_status st = cuda_scope_enter(&s, cuda_of(dev));
	if (st)
		return st;
	CUresult r = s.d->cu.StreamEndCapture(stream, &nodes);
	if (r != CUDA_SUCCESS)
		return scope_end(&s, "cuStreamEndCapture", r);
	r = s.d->cu.GraphInstantiateWithFlags(&exec, nodes, 0);
	s.d->cu.GraphDestroy(nodes);
	*graph = r == CUDA_SUCCESS ? exec : NULL;
	return scope_end(&s, "cuGraphInstantiate", r);
}

DRIVER_CALL(gpu_replay, (dsl_device * dev, void *graph, dsl_stream stream), GraphLaunch,
	    (graph, stream))

dsl_status gpu_forget(dsl_device *dev, void *graph)
{
	Scope s;
	dsl_status st = graph ? cuda_scope_enter(&s, cuda_of(dev)) : DSL_OK;
	if (!graph || st)
		return st;
	return scope_end(&s, "cuGraphExecDestroy", s.d->cu.GraphExecDestroy(graph));
}
