/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* facts.c - whether an object can be an argument: what its library alone knows of it, and what
 * DLPack's struct says. Each refusal names the argument. torch: z.conj().imag  ->  "tensor A of
 * kernel gemm has torch's negative bit ..."   jax:   out=array      ->  "tensor D of kernel gemm is
 * written, and arrays of JAX are immutable" */
#include "py.h"

#include <stdio.h>

/* What an attribute of the object is, or what it gives when called; false where it has none. */
static bool is_true(PyObject *object, const char *name, bool call)
{
	PyObject *value = call ? PyObject_CallMethod(object, name, NULL)
			       : PyObject_GetAttrString(object, name);
	bool truth = value && PyObject_IsTrue(value) == 1;
	Py_XDECREF(value);
	PyErr_Clear();
	return truth;
}

static bool refuse(const Use *use, const char *why)
{
	PyErr_Format(py_error, "tensor %s of kernel %s %s", use->name, use->kernel, why);
	return false;
}

/* ------------------------------------------------------------------ libraries */
bool tensor_may(PyObject *object, const Use *use)
{
	Library library = tensor_library(object);
	if (library == LIB_JAX && use->written)
		return refuse(use,
			      "is written, and arrays of JAX are immutable: give a tensor of "
			      "another library, which jax.dlpack.from_dlpack takes afterwards");
	if (library == LIB_TORCH && is_true(object, "is_neg", true))
		return refuse(use, "has torch's negative bit: its memory holds the values with the "
				   "other sign; give resolve_neg() of it");
	if (library == LIB_TORCH && is_true(object, "requires_grad", false))
		return refuse(use, "requires grad, and no call is recorded by autograd: give "
				   "detach() of it, or make an operator (dslc.torch.custom_op)");
	return true;
}

/* Before PyTorch 2.1, object[:0].zero_() counts as a change and makes none. Nothing keeps count of
 * inference tensors. */
void tensor_written(PyObject *object)
{
	PyObject *graph, *none = NULL, *done = NULL;
	if (tensor_library(object) != LIB_TORCH)
		return;
	if ((graph = PyImport_ImportModule("torch.autograd.graph")))
		done = PyObject_CallMethod(graph, "increment_version", "O", object);
	PyErr_Clear();
	if (!done && (none = PySequence_GetSlice(object, 0, 0)))
		done = PyObject_CallMethod(none, "zero_", NULL);
	PyErr_Clear();
	Py_XDECREF(graph);
	Py_XDECREF(none);
	Py_XDECREF(done);
}

bool tensor_refused(const Use *use)
{
	PyObject *type, *value, *trace;
	if (PyErr_ExceptionMatches(PyExc_MemoryError))
		return false;
	PyErr_Fetch(&type, &value, &trace);
	bool wrong = PyErr_GivenExceptionMatches(type, PyExc_TypeError);
	PyErr_Format(wrong ? PyExc_TypeError : py_error, "tensor %s of kernel %s: %S", use->name,
		     use->kernel, value ? value : type);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(trace);
	return false;
}

/* ------------------------------------------------------------------ what DLPack says */
static bool elem_of(const DLTensor *t, Elem *out)
{
	static const struct {
		uint8_t code, bits;
		Elem elem;
	} rows[] = {
		{DL_INT, 8, EL_I8},      {DL_INT, 16, EL_I16},   {DL_INT, 32, EL_I32},
		{DL_INT, 64, EL_I64},    {DL_UINT, 8, EL_U8},    {DL_UINT, 16, EL_U16},
		{DL_UINT, 32, EL_U32},   {DL_UINT, 64, EL_U64},  {DL_FLOAT, 16, EL_F16},
		{DL_FLOAT, 32, EL_F32},  {DL_FLOAT, 64, EL_F64}, {DL_BFLOAT, 16, EL_BF16},
		{DL_E4M3FN, 8, EL_E4M3}, {DL_E5M2, 8, EL_E5M2},  {DL_E8M0, 8, EL_U8},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (t->dtype.code == rows[i].code && t->dtype.bits == rows[i].bits &&
		    t->dtype.lanes == 1) {
			*out = rows[i].elem;
			return true;
		}
	return false;
}

/* clang-format off */
static const char *const type_names[] = { /* by the codes of DLPack 1.3; %d: bits */
	"int%d", "uint%d", "float%d", "opaque%d", "bfloat%d", "complex%d: give its real and its imaginary part apart",
	"bool: give a view of it as uint8", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
	"float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn",
	"float4_e2m1fn: give a view of it as uint8",
};
/* clang-format on */

static bool elem_unknown(const DLType *type, const Use *use)
{
	char text[160], name[80] = "a type that DLPack 1.3 does not have";
	if (type->code < sizeof type_names / sizeof *type_names)
		snprintf(name, sizeof name, type_names[type->code], type->bits);
	snprintf(text, sizeof text, "has elements that no kernel takes: %s%s",
		 type->lanes == 1 ? "" : "several side by side of ", name);
	return refuse(use, text);
}

bool tensor_fits(Tensor *t, const Use *use)
{
	bool empty = false;
	for (int d = 0; d < t->t.ndim; d++)
		empty = empty || !t->t.shape[d];
	if (!elem_of(&t->t, &t->elem))
		return elem_unknown(&t->t.dtype, use);
	if (!t->t.data && !empty)
		return refuse(use, "has elements and no memory, as fake, meta and zero tensors of "
				   "torch have none: give one that holds values");
	if (t->read_only && use->written)
		return refuse(use, "is written, but the given one is read-only");
	return true;
}
