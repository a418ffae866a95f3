/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* space.c - workspace of a launch that copies tensors first: torch's own memory where the launch is
 * in torch's stream, so that it is there for others afterwards and belongs to the graph that is
 * captured; else a pool for each stream.   space_launch(.., LIB_TORCH, ..)  ->  t =
 * torch.empty(98304, "uint8"), the launch, t is dropped */
#include "py.h"

#include <stdlib.h>

static struct {
	dsl_device *dev;
	dsl_stream stream;
	dsl_pool *pool;
} *pools;
static size_t npools;

static dsl_pool *pool_of(dsl_device *dev, dsl_stream stream)
{
	for (size_t i = 0; i < npools; i++)
		if (pools[i].dev == dev && pools[i].stream == stream)
			return pools[i].pool;
	void *more = realloc(pools, (npools + 1) * sizeof *pools);
	if (!more) {
		PyErr_NoMemory();
		return NULL;
	}
	pools = more;
	dsl_status st = dsl_pool_create(dev, stream, &pools[npools].pool);
	if (st) {
		py_fail(st);
		return NULL;
	}
	pools[npools].dev = dev;
	pools[npools].stream = stream;
	return pools[npools++].pool;
}

static bool launch_in_pool(dsl_device *dev, const SpaceLaunch *l)
{
	dsl_pool *pool = pool_of(dev, l->stream);
	if (!pool)
		return false;
	dsl_status st = dsl_pool_launch(pool, l->mod, l->kernel, l->args, l->n, l->opts);
	if (st)
		py_fail(st);
	return !st;
}

/* Bytes of torch's memory of a GPU, and where they begin. */
static PyObject *bytes_of_torch(size_t bytes, int id, dsl_addr *at)
{
	PyObject *torch = PyImport_ImportModule("torch");
	PyObject *empty = torch ? PyObject_GetAttrString(torch, "empty") : NULL;
	PyObject *type = torch ? PyObject_GetAttrString(torch, "uint8") : NULL;
	PyObject *args = Py_BuildValue("(n)", (Py_ssize_t)bytes), *made = NULL, *address = NULL;
	PyObject *device = PyUnicode_FromFormat("cuda:%d", id);
	PyObject *words =
		device && type ? Py_BuildValue("{sOsO}", "dtype", type, "device", device) : NULL;
	if (empty && args && words)
		made = PyObject_Call(empty, args, words);
	if (made)
		address = PyObject_CallMethod(made, "data_ptr", NULL);
	if (address)
		*at = PyLong_AsUnsignedLongLong(address);
	PyObject *used[] = {torch, empty, type, args, device, words, address};
	for (size_t i = 0; i < sizeof used / sizeof *used; i++)
		Py_XDECREF(used[i]);
	if (made && !PyErr_Occurred())
		return made;
	Py_XDECREF(made);
	return NULL;
}

static bool launch_in_torch(int id, const SpaceLaunch *l, dsl_status *out)
{
	size_t bytes;
	dsl_launch_opts opts = *l->opts;
	dsl_status st = dsl_workspace_size(l->mod, l->kernel, l->args, l->n, &bytes);
	PyObject *memory = st ? NULL : bytes_of_torch(bytes, id, &opts.workspace);
	if (memory) {
		opts.workspace_size = bytes;
		st = dsl_launch(l->mod, l->kernel, l->args, l->n, l->stream, &opts);
		Py_DECREF(memory);
	}
	*out = st;
	if (st && st != DSL_ERR_SEMAPHORES)
		py_fail(st);
	return memory && !st;
}

/* Semaphores stay where they are from launch to launch: no memory that torch takes back. */
bool space_launch(dsl_device *dev, int id, Library own, const SpaceLaunch *l)
{
	dsl_status st = DSL_OK;
	if (own != LIB_TORCH)
		return launch_in_pool(dev, l);
	bool done = launch_in_torch(id, l, &st);
	return st == DSL_ERR_SEMAPHORES ? launch_in_pool(dev, l) : done;
}
