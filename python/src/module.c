/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* module.c - the extension module dslc._dslc: compile, main, Kernel, Error.
 *   _dslc.compile(text, name, target, ["bN=128"], ptxas, [], 0, 1, 0, [], None, 0, 0)
 *   ->  (bytes or None, messages, how choices were closed) */
#include "driver/dslc.h"
#include "py.h"

#include <stdlib.h>

PyObject *py_error;

PyObject *py_fail(dsl_status st)
{
	PyObject *text = PyUnicode_FromFormat("%s\nhelp: %s", dsl_detail(), dsl_status_remedy(st));
	PyObject *error = text ? PyObject_CallFunctionObjArgs(py_error, text, NULL) : NULL;
	PyObject *name = error ? PyUnicode_FromString(dsl_status_name(st)) : NULL;
	if (name && PyObject_SetAttrString(error, "status", name) == 0)
		PyErr_SetObject(py_error, error);
	Py_XDECREF(text);
	Py_XDECREF(error);
	Py_XDECREF(name);
	return NULL;
}

/* ["a", "b"] as an array that *keep keeps alive. */
static const char **texts(PyObject *list, PyObject **keep, size_t *n)
{
	Py_ssize_t count = PySequence_Size(list);
	if (count < 0)
		return NULL;
	const char **all = calloc((size_t)count + 1, sizeof *all);
	*keep = PyList_New(0);
	for (Py_ssize_t i = 0; all && *keep && i < count && !PyErr_Occurred(); i++) {
		PyObject *item = PySequence_GetItem(list, i);
		PyObject *utf8 = item ? PyUnicode_AsUTF8String(item) : NULL;
		if (utf8 && PyList_Append(*keep, utf8) == 0)
			all[i] = PyBytes_AsString(utf8);
		Py_XDECREF(item);
		Py_XDECREF(utf8);
	}
	*n = (size_t)count;
	if (all && *keep && !PyErr_Occurred())
		return all;
	free(all);
	return NULL;
}

static PyObject *answer(dslc_result *r, int emit)
{
	size_t size;
	if (!r)
		return PyErr_NoMemory();
	const char *bytes = dslc_output(r, emit, &size);
	PyObject *all = Py_BuildValue("(y#ss)", bytes, (Py_ssize_t)size, dslc_diagnostics(r, 0),
				      dslc_chosen(r));
	dslc_result_free(r);
	return all;
}

static PyObject *compile(PyObject *self, PyObject *args)
{
	const char *text;
	Py_ssize_t size;
	PyObject *defines, *ptxas_args, *sizes, *keep[3] = {NULL, NULL, NULL};
	int unproved, one, ranked;
	dslc_options o = {.size = sizeof o};
	(void)self;
	if (!PyArg_ParseTuple(args, "y#szOzOiipOzpiz", &text, &size, &o.name, &o.target, &defines,
			      &o.ptxas_path, &ptxas_args, &o.opt_level, &o.emit, &unproved, &sizes,
			      &o.card, &one, &ranked, &o.kernel))
		return NULL;
	o.unproved = (size_t)unproved;
	o.one = (size_t)one;
	o.ranked = (size_t)ranked;
	o.simulated = !o.ptxas_path;
	o.all_defines = 1;
	const char **d = texts(defines, &keep[0], &o.ndefines);
	const char **p = d ? texts(ptxas_args, &keep[1], &o.nptxas_args) : NULL;
	const char **s = p ? texts(sizes, &keep[2], &o.nsizes) : NULL;
	PyObject *all = NULL;
	if (s) {
		o.defines = d;
		o.ptxas_args = p;
		o.sizes = s;
		PyThreadState *other = PyEval_SaveThread();
		dslc_result *r = dslc_compile(text, (size_t)size, &o);
		PyEval_RestoreThread(other);
		all = answer(r, o.emit);
	}
	free(d);
	free(p);
	free(s);
	for (int i = 0; i < 3; i++)
		Py_XDECREF(keep[i]);
	return all;
}

int dslc_main(int argc, char **argv); /* main of driver/tool.c */

/* The tool, once a process: it writes to the process's streams and takes its signals. */
static PyObject *tool(PyObject *self, PyObject *list)
{
	PyObject *keep = NULL;
	size_t n;
	const char **argv = texts(list, &keep, &n);
	(void)self;
	int code = argv ? dslc_main((int)n, (char **)(uintptr_t)argv) : 0;
	bool ok = argv != NULL;
	free(argv);
	Py_XDECREF(keep);
	return ok ? PyLong_FromLong(code) : NULL;
}

static PyMethodDef functions[] = {
	{"compile", compile, METH_VARARGS,
	 "compile($module, text, name, target, defines, ptxas, ptxas_args, opt_level, emit, "
	 "unproved, sizes, card, one, ranked, kernel)\n--\n\n-> (output, messages, chosen)"},
	{"main", tool, METH_O,
	 "main($module, argv)\n--\n\nThe tool dslc, once a process: its exit code."},
	{NULL, NULL, 0, NULL},
};

PyMODINIT_FUNC PyInit__dslc(void);
PyMODINIT_FUNC PyInit__dslc(void)
{
	static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, .m_name = "dslc._dslc",
					 .m_size = -1, .m_methods = functions};
	PyObject *m = PyModule_Create(&def), *none = Py_BuildValue("{sO}", "status", Py_None);
	py_error = PyErr_NewExceptionWithDoc(
		"dslc.Error",
		"The runtime refused a call; status is the name of the reason, or None.",
		PyExc_RuntimeError, none);
	Py_XDECREF(none);
	if (!m || !py_error)
		return NULL;
	Py_INCREF(py_error);
	if (PyModule_AddObject(m, "Error", py_error) || tensor_init(m) || kernel_init(m) ||
	    PyModule_AddStringConstant(m, "version", dslc_version()) ||
	    PyModule_AddIntConstant(m, "CUBIN", DSLC_CUBIN) ||
	    PyModule_AddIntConstant(m, "PTX", DSLC_PTX) ||
	    PyModule_AddIntConstant(m, "MANIFEST", DSLC_MANIFEST) ||
	    PyModule_AddIntConstant(m, "IR", DSLC_IR))
		return NULL;
	return m;
}
