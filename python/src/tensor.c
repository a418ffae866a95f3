/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tensor.c - takes tensors of any array library by DLPack: by the table of C functions where the
 * type has __dlpack_c_exchange_api__, else by __dlpack__ and its capsule. Nothing is copied.
 *   torch.Tensor (2.10)  ->  api->tensor(object, &t)
 *   numpy.ndarray        ->  object.__dlpack__(), a capsule that holds t */
#include "py.h"

#include <string.h>

enum { TYPES_MAX = 16 };

/* How tensors of a type are asked; types are kept alive. A call holds the GIL while it looks here.
 * */
typedef struct {
	PyTypeObject *type;
	const DLExchange *api;
	bool versioned; /* __dlpack__ takes max_version */
	Library library;
} Known;
static Known known[TYPES_MAX];
static int nknown;
static PyObject *str_dlpack, *str_device, *str_stream, *str_version, *version_pair, *str_api;
static PyObject *torch_stream; /* torch._C._cuda_getCurrentRawStream */

int tensor_init(PyObject *module)
{
	(void)module;
	str_dlpack = PyUnicode_InternFromString("__dlpack__");
	str_device = PyUnicode_InternFromString("__dlpack_device__");
	str_stream = PyUnicode_InternFromString("stream");
	str_version = PyUnicode_InternFromString("max_version");
	str_api = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
	version_pair = Py_BuildValue("(ii)", DL_MAJOR, DL_MINOR);
	return str_dlpack && str_device && str_stream && str_version && str_api && version_pair
		       ? 0
		       : -1;
}

/* The table of a type, of the major version that is known here. */
static const DLExchange *api_of(PyTypeObject *type)
{
	PyObject *capsule = PyObject_GetAttr((PyObject *)type, str_api);
	if (!capsule) {
		PyErr_Clear();
		return NULL;
	}
	const DLExchange *api = NULL;
	if (PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
		api = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
	Py_DECREF(capsule); /* the table is static in its library */
	while (api && api->version.major != DL_MAJOR)
		api = api->older;
	return api && api->tensor ? api : NULL;
}

/* By the first word of the type's module. */
static Library library_of(PyTypeObject *type)
{
	PyObject *name = PyObject_GetAttrString((PyObject *)type, "__module__");
	PyObject *utf8 = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8String(name) : NULL;
	const char *text = utf8 ? PyBytes_AsString(utf8) : "";
	Library is = strncmp(text, "torch", 5) == 0   ? LIB_TORCH
		     : strncmp(text, "cupy", 4) == 0  ? LIB_CUPY
		     : strncmp(text, "jax", 3) == 0   ? LIB_JAX
		     : strncmp(text, "numpy", 5) == 0 ? LIB_NUMPY
						      : LIB_OTHER;
	Py_XDECREF(name);
	Py_XDECREF(utf8);
	PyErr_Clear();
	return is;
}

static const Known *known_of(PyObject *object)
{
	static Known other;
	PyTypeObject *type = Py_TYPE(object);
	for (int i = 0; i < nknown; i++)
		if (known[i].type == type)
			return &known[i];
	Known *k = nknown < TYPES_MAX ? &known[nknown++] : &other;
	*k = (Known){type, api_of(type), true, library_of(type)};
	if (k != &other)
		Py_INCREF(type);
	return k;
}

/* object.__dlpack__(stream=.., max_version=(1, 3)); older libraries know no max_version. */
static PyObject *ask(PyObject *object, PyObject *stream, bool versioned)
{
	PyObject *method = PyObject_GetAttr(object, str_dlpack), *none = PyTuple_New(0);
	PyObject *words = PyDict_New(), *capsule = NULL;
	bool ok = method && none && words &&
		  (!stream || !PyDict_SetItem(words, str_stream, stream)) &&
		  (!versioned || !PyDict_SetItem(words, str_version, version_pair));
	if (ok)
		capsule = PyObject_Call(method, none, words);
	Py_XDECREF(method);
	Py_XDECREF(none);
	Py_XDECREF(words);
	return capsule;
}

static bool read_capsule(Tensor *t)
{
	if (PyCapsule_IsValid(t->capsule, "dltensor_versioned")) {
		const DLVersioned *v = PyCapsule_GetPointer(t->capsule, "dltensor_versioned");
		t->read_only = v->flags & DL_READ_ONLY;
		t->t = v->tensor;
		if (v->version.major == DL_MAJOR)
			return true;
		PyErr_SetString(PyExc_BufferError, "the tensor uses another version of DLPack");
		return false;
	}
	const DLManaged *m = PyCapsule_GetPointer(t->capsule, "dltensor");
	if (m)
		t->t = m->tensor;
	return m != NULL;
}

const DLExchange *tensor_api(PyObject *object)
{
	return known_of(object)->api;
}

Library tensor_library(PyObject *object)
{
	return known_of(object)->library;
}

static bool not_a_tensor(PyObject *object)
{
	if (PyErr_ExceptionMatches(PyExc_AttributeError))
		PyErr_Format(PyExc_TypeError,
			     "expected a tensor (an object with __dlpack__), not %R",
			     (PyObject *)Py_TYPE(object));
	return false;
}

bool tensor_device(PyObject *object, DLDevice *out)
{
	PyObject *method = PyObject_GetAttr(object, str_device);
	if (!method)
		return not_a_tensor(object);
	PyObject *pair = PyObject_CallObject(method, NULL);
	bool ok = pair && PyTuple_Check(pair) && PyTuple_Size(pair) == 2;
	if (ok) {
		out->type = (int32_t)PyLong_AsLong(PyTuple_GetItem(pair, 0));
		out->id = (int32_t)PyLong_AsLong(PyTuple_GetItem(pair, 1));
	}
	Py_DECREF(method);
	Py_XDECREF(pair);
	return ok && !PyErr_Occurred();
}

/* An array that NumPy does not lend, since it is read-only or of a type of ml_dtypes, by another one
 * of the same memory. False with NumPy's exception where there is none. */
static bool take_alias(Tensor *t, PyObject *object)
{
	PyObject *type, *value, *trace, *alias = NULL;
	int read_only = 0;
	DLType real = {0, 0, 1}; /* bits 0: the alias's */
	PyErr_Fetch(&type, &value, &trace);
	PyObject *module = PyImport_ImportModule("dslc._arrays");
	PyObject *row = module ? PyObject_CallMethod(module, "alias", "O", object) : NULL;
	bool made = row && row != Py_None &&
		    PyArg_ParseTuple(row, "Opbb", &alias, &read_only, &real.code, &real.bits);
	t->capsule = made ? ask(alias, NULL, false) : NULL;
	bool taken = t->capsule && read_capsule(t);
	t->read_only = read_only;
	if (real.bits)
		t->t.dtype = real;
	Py_XDECREF(module);
	Py_XDECREF(row);
	if (taken || PyErr_Occurred()) {
		Py_XDECREF(type);
		Py_XDECREF(value);
		Py_XDECREF(trace);
	} else {
		PyErr_Restore(type, value, trace);
	}
	return taken;
}

bool tensor_take(Tensor *t, PyObject *object, PyObject *stream)
{
	const Known *k = known_of(object);
	*t = (Tensor){.api = k->api};
	if (k->api)
		return k->api->tensor(object, &t->t) == 0;
	t->capsule = ask(object, stream, k->versioned);
	if (!t->capsule && k->versioned && PyErr_ExceptionMatches(PyExc_TypeError)) {
		PyErr_Clear();
		t->capsule = ask(object, stream, false);
		if (t->capsule)
			((Known *)(uintptr_t)k)->versioned = false;
	}
	if (!t->capsule && k->library == LIB_NUMPY)
		return take_alias(t, object);
	return t->capsule && read_capsule(t);
}

/* A capsule that nobody renamed frees its tensor itself. */
void tensor_drop(Tensor *t)
{
	Py_XDECREF(t->capsule);
	t->capsule = NULL;
}

/* torch without the table: one C function of its own. */
static bool stream_of_torch(int id, dsl_stream *out)
{
	if (!torch_stream) {
		PyObject *c = PyImport_ImportModule("torch._C");
		torch_stream = c ? PyObject_GetAttrString(c, "_cuda_getCurrentRawStream") : NULL;
		Py_XDECREF(c);
	}
	PyObject *value = torch_stream ? PyObject_CallFunction(torch_stream, "i", id) : NULL;
	if (value)
		*out = PyLong_AsVoidPtr(value);
	Py_XDECREF(value);
	return value && !PyErr_Occurred();
}

static bool stream_of_cupy(dsl_stream *out)
{
	PyObject *cuda = PyImport_ImportModule("cupy.cuda");
	PyObject *now = cuda ? PyObject_CallMethod(cuda, "get_current_stream", NULL) : NULL;
	PyObject *ptr = now ? PyObject_GetAttrString(now, "ptr") : NULL;
	if (ptr)
		*out = PyLong_AsVoidPtr(ptr);
	Py_XDECREF(cuda);
	Py_XDECREF(now);
	Py_XDECREF(ptr);
	return ptr && !PyErr_Occurred();
}

/* Libraries that have no streams (jax) make their data ready for the one that __dlpack__ is told
 * of: the default stream. */
bool tensor_stream(PyObject *object, DLDevice device, dsl_stream *out)
{
	const DLExchange *api = tensor_api(object);
	*out = NULL;
	if (api && api->stream)
		return api->stream(device.type, device.id, out) == 0;
	switch (tensor_library(object)) {
	case LIB_TORCH:
		return stream_of_torch(device.id, out);
	case LIB_CUPY:
		return stream_of_cupy(out);
	default:
		return true;
	}
}
