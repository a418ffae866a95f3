/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fake_tensor.c - an array library for tests: tensors at any address that say they are on any
 * device, lent by DLPack's table of C functions (Fast), or by capsules (capsule). stream(n) sets
 * what the library says is its current stream.
 *   t = fake_tensor.Fast(address, (64, 72), 4, 16, 2, 0)      bf16 on cuda:0 */
#include "dlpack.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdlib.h>

typedef struct {
	PyObject ob_base;
	DLTensor t;
	int64_t shape[8];
} Fast;

static void *current;
static long lent; /* capsules whose tensor is not given back */

static int lend(void *object, DLTensor *out)
{
	*out = ((Fast *)object)->t;
	return 0;
}

static int stream_now(int32_t type, int32_t id, void **out)
{
	(void)type;
	(void)id;
	*out = current;
	return 0;
}

static DLExchange api = {.version = {DL_MAJOR, DL_MINOR}, .tensor = lend, .stream = stream_now};
/* What a library of the future has: its own major version first, the one we know after it. */
static DLExchange newer = {.version = {DL_MAJOR + 1, 0}, .older = &api};

static PyObject *fast_new(PyTypeObject *type, PyObject *args, PyObject *words)
{
	PyObject *shape;
	unsigned long long address;
	int code, bits, device, id, lanes = 1;
	(void)words;
	if (!PyArg_ParseTuple(args, "KOiiii|i", &address, &shape, &code, &bits, &device, &id,
			      &lanes))
		return NULL;
	Fast *f = (Fast *)(void *)PyType_GenericAlloc(type, 0);
	if (!f)
		return NULL;
	f->t = (DLTensor){.data = (void *)(uintptr_t)address,
			  .device = {device, id},
			  .ndim = (int32_t)PyTuple_Size(shape),
			  .dtype = {(uint8_t)code, (uint8_t)bits, (uint16_t)lanes},
			  .shape = f->shape};
	for (int i = 0; i < f->t.ndim && i < 8; i++)
		f->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
	return &f->ob_base;
}

static void give_back(DLVersioned *v)
{
	lent--;
	free(v);
}

static void unused(PyObject *capsule)
{
	DLVersioned *v = PyCapsule_GetPointer(capsule, "dltensor_versioned");
	if (v)
		v->deleter(v);
}

/* capsule(fast, flags) -> a capsule "dltensor_versioned" of the same tensor */
static PyObject *make_capsule(PyObject *self, PyObject *args)
{
	PyObject *fast;
	int flags;
	(void)self;
	if (!PyArg_ParseTuple(args, "Oi", &fast, &flags))
		return NULL;
	DLVersioned *v = calloc(1, sizeof *v);
	if (!v)
		return PyErr_NoMemory();
	*v = (DLVersioned){.version = {DL_MAJOR, DL_MINOR},
			   .deleter = give_back,
			   .flags = (uint64_t)flags,
			   .tensor = ((Fast *)fast)->t};
	lent++;
	return PyCapsule_New(v, "dltensor_versioned", unused);
}

static PyObject *set_stream(PyObject *self, PyObject *n)
{
	(void)self;
	current = PyLong_AsVoidPtr(n);
	return PyErr_Occurred() ? NULL : Py_BuildValue("");
}

static PyObject *count_lent(PyObject *self, PyObject *none)
{
	(void)self;
	(void)none;
	return PyLong_FromLong(lent);
}

static PyMethodDef functions[] = {
	{"capsule", make_capsule, METH_VARARGS, ""},
	{"stream", set_stream, METH_O, ""},
	{"lent", count_lent, METH_NOARGS, ""},
	{NULL, NULL, 0, NULL},
};

static int add_type(PyObject *m, const char *name, DLExchange *table)
{
	PyType_Slot slots[] = {{Py_tp_new, (void *)(uintptr_t)fast_new}, {0, NULL}};
	PyType_Spec spec = {.name = name,
			    .basicsize = sizeof(Fast),
			    .flags = Py_TPFLAGS_DEFAULT,
			    .slots = slots};
	PyObject *type = PyType_FromSpec(&spec);
	PyObject *capsule = PyCapsule_New(table, "dlpack_exchange_api", NULL);
	int bad = !type || !capsule ||
		  PyObject_SetAttrString(type, "__dlpack_c_exchange_api__", capsule);
	Py_XDECREF(capsule);
	return bad ? -1 : PyModule_AddObject(m, name + sizeof "fake_tensor", type);
}

PyMODINIT_FUNC PyInit_fake_tensor(void);
PyMODINIT_FUNC PyInit_fake_tensor(void)
{
	static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, .m_name = "fake_tensor",
					 .m_size = -1, .m_methods = functions};
	PyObject *m = PyModule_Create(&def);
	if (!m || add_type(m, "fake_tensor.Fast", &api) || add_type(m, "fake_tensor.Newer", &newer))
		return NULL;
	return m;
}
