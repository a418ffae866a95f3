/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* py.h - what the files of the extension dslc._dslc say to each other. Limited API of Python 3.9.
 * */
#ifndef DSL_PYTHON_PY_H
#define DSL_PYTHON_PY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "dlpack.h"
#include "runtime/tensors.h"

/* Exceptions of the package; made by module.c. */
extern PyObject *py_error;
/* Sets the exception of a failed call of the runtime; NULL for the caller to return. */
PyObject *py_fail(dsl_status st);

/* tensor.c: libraries; from LIB_TORCH on those whose current stream can be asked for. */
typedef enum { LIB_OTHER, LIB_JAX, LIB_NUMPY, LIB_TORCH, LIB_CUPY } Library;
/* An argument while a call lasts. */
typedef struct {
	DLTensor t;
	Elem elem;
	bool read_only;
	PyObject *capsule; /* of __dlpack__; NULL where the library's table lent the tensor */
	const DLExchange *api;
} Tensor;
/* The table of the object's type, or NULL. */
const DLExchange *tensor_api(PyObject *object);
Library tensor_library(PyObject *object);
/* By __dlpack_device__; false with an exception. */
bool tensor_device(PyObject *object, DLDevice *out);
/* stream: what __dlpack__ is told, NULL for nothing. False with an exception. */
bool tensor_take(Tensor *t, PyObject *object, PyObject *stream);
void tensor_drop(Tensor *t);
/* What an argument is for. */
typedef struct {
	const char *kernel, *name;
	bool written;
} Use;
/* facts.c: what its library says of an object and DLPack does not carry. False with an exception
 * that names the argument. */
bool tensor_may(PyObject *object, const Use *use);
/* After its library refused to lend it: names the argument in the exception. False. */
bool tensor_refused(const Use *use);
/* Tells its library that an object was written: autograd may have saved it. */
void tensor_written(PyObject *object);
/* Of what was taken: elements of a type of ours, memory, permission to write. */
bool tensor_fits(Tensor *t, const Use *use);
/* The stream that the library of this tensor works in now; false with an exception. */
bool tensor_stream(PyObject *object, DLDevice device, dsl_stream *out);
int tensor_init(PyObject *module);

/* space.c: a launch that needs workspace, in a stream whose library is own. False with an
 * exception. */
typedef struct {
	dsl_module *mod;
	const char *kernel;
	const dsl_arg *args;
	size_t n;
	dsl_stream stream;
	const dsl_launch_opts *opts;
} SpaceLaunch;
bool space_launch(dsl_device *dev, int id, Library own, const SpaceLaunch *l);

/* simulate.c: tensors of the host; without the GIL. */
dsl_status simulate(dsl_device *dev, const KDesc *k, TensorCall *c, const SpaceLaunch *l);

/* kernel.c: types Module and Kernel. */
int kernel_init(PyObject *module);

#endif
