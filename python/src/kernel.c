/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernel.c - type Kernel: a kernel of a cubin that is called with tensors.
 *   k = Kernel(cubin, "gemm", "sim");  k(a, b, out=d)
 * Tensors of a GPU are launched on, in the stream that their library works in; tensors of the host
 * run on the simulator. */
#include "py.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = KD_MAX_ARGS + KD_MAX_SYMS, DEVICES_MAX = 64 };

/* Devices are opened when first used and stay open. */
static struct {
	char name[64];
	dsl_device *dev;
} devices[DEVICES_MAX];
static int ndevices;

typedef struct {
	dsl_module *mod; /* NULL: not loaded there yet */
	const KDesc *desc;
} Loaded;

typedef struct {
	PyObject ob_base;
	PyObject *cubin, *manifest;
	KModuleDesc *module;
	const KDesc *desc;
	char sim[64];
	PyObject *names[SLOTS];
	int in[KD_MAX_ARGS], out[KD_MAX_ARGS], nin, nout;
	Loaded at[DEVICES_MAX];
	PyObject *known; /* kernels to take for some sizes and devices, by key_of; NULL: none */
} Kernel;

static PyObject *kernel_type;
static PyObject *word_out, *word_stream, *word_sms;
static PyObject *no_stream; /* for __dlpack__: nothing waits */

/* ------------------------------------------------------------------ where */
/* Number of a device among devices; -1 with an exception. */
static int device_number(const char *name)
{
	int i = 0;
	while (i < ndevices && strcmp(devices[i].name, name) != 0)
		i++;
	if (i < ndevices)
		return i;
	if (i == DEVICES_MAX) {
		PyErr_SetString(PyExc_RuntimeError, "too many devices are open");
		return -1;
	}
	dsl_status st = dsl_device_open(name, &devices[i].dev);
	if (st) {
		py_fail(st);
		return -1;
	}
	snprintf(devices[i].name, sizeof devices[i].name, "%s", name);
	ndevices++;
	return i;
}

static int find_device(const Kernel *k, DLDevice device)
{
	static signed char gpus[DEVICES_MAX]; /* number + 1 of cuda:id, found without its name */
	char name[32];
	if (device.type == DL_CPU || device.type == DL_CUDA_HOST)
		return device_number(k->sim);
	if (device.type != DL_CUDA && device.type != DL_CUDA_MANAGED) {
		PyErr_Format(py_error,
			     "expected tensors on the host or on an NVIDIA GPU, not on "
			     "device type %d of DLPack",
			     (int)device.type);
		return -1;
	}
	bool small = device.id >= 0 && device.id < DEVICES_MAX;
	if (small && gpus[device.id])
		return gpus[device.id] - 1;
	snprintf(name, sizeof name, "cuda:%d", (int)device.id);
	int i = device_number(name);
	if (small && i >= 0)
		gpus[device.id] = (signed char)(i + 1);
	return i;
}

static const KDesc *desc_named(const KModuleDesc *m, const char *name)
{
	for (int i = 0; i < m->nkernels; i++)
		if (strcmp(m->kernels[i].name, name) == 0)
			return &m->kernels[i];
	return NULL;
}

static Loaded *loaded_at(Kernel *k, int device)
{
	Loaded *l = &k->at[device];
	char *bytes;
	Py_ssize_t size;
	if (l->mod)
		return l;
	if (PyBytes_AsStringAndSize(k->cubin, &bytes, &size))
		return NULL;
	dsl_status st = dsl_module_load_data(devices[device].dev, bytes, (size_t)size, &l->mod);
	if (st) {
		l->mod = NULL;
		py_fail(st);
		return NULL;
	}
	l->desc = desc_named(dsl_module_desc(l->mod), k->desc->name);
	return l;
}

/* ------------------------------------------------------------------ the arguments of a call */
typedef struct {
	Kernel *k;
	PyObject *object[SLOTS]; /* borrowed */
	Tensor tensor[KD_MAX_ARGS];
	int first;             /* slot of the first tensor that was taken, or -1 */
	PyObject *stream_word; /* for __dlpack__; NULL: none */
	dsl_stream stream;
	bool stream_known;
	bool asks;   /* outputs may be left out */
	Library own; /* whose current stream it is */
	int device;
	PyObject *args, *words;
	dsl_launch_opts opts;
	TensorCall c;
} Call;

/* None is as good as nothing. */
static bool give(Call *c, int slot, PyObject *o)
{
	if (o == Py_None)
		return true;
	if (c->object[slot]) {
		PyErr_Format(PyExc_TypeError, "kernel %s was given %U twice", c->k->desc->name,
			     c->k->names[slot]);
		return false;
	}
	c->object[slot] = o;
	return true;
}

static bool give_outputs(Call *c, PyObject *o)
{
	const Kernel *k = c->k;
	bool several = PyTuple_Check(o) || PyList_Check(o);
	if (!several && k->nout == 1)
		return give(c, k->out[0], o);
	if (!k->nout) {
		PyErr_Format(PyExc_TypeError,
			     "kernel %s has no tensor for out=: what it changes in place is passed "
			     "by position or name",
			     k->desc->name);
		return false;
	}
	if (!several || PySequence_Size(o) != k->nout) {
		PyErr_Format(PyExc_TypeError, "kernel %s takes %d tensor%s as out=", k->desc->name,
			     k->nout, k->nout > 1 ? "s" : "");
		return false;
	}
	for (int i = 0; i < k->nout; i++) {
		PyObject *item = PySequence_GetItem(o, i);
		Py_XDECREF(item); /* the sequence holds it */
		if (!item || !give(c, k->out[i], item))
			return false;
	}
	return true;
}

static bool give_stream(Call *c, PyObject *o)
{
	c->stream_known = true;
	c->stream = PyLong_Check(o) ? PyLong_AsVoidPtr(o) : NULL;
	if (!PyLong_Check(o) && o != Py_None)
		PyErr_Format(PyExc_TypeError,
			     "stream is the address of a CUDA stream, an integer (of torch: "
			     "s.cuda_stream; of CuPy: s.ptr), not %R",
			     (PyObject *)Py_TYPE(o));
	return !PyErr_Occurred();
}

static bool give_sms(Call *c, PyObject *o)
{
	long n = PyLong_AsLong(o);
	c->opts.sms = (int)n;
	if (!PyErr_Occurred() && n != c->opts.sms)
		PyErr_Format(PyExc_OverflowError, "sms is %ld", n);
	return !PyErr_Occurred();
}

static bool is_word(PyObject *key, PyObject *word)
{
	return key == word || PyUnicode_Compare(key, word) == 0;
}

static bool give_word(Call *c, PyObject *key, PyObject *o)
{
	Kernel *k = c->k;
	int slots = k->desc->nargs + k->desc->nsyms;
	if (is_word(key, word_out))
		return o == Py_None || give_outputs(c, o);
	for (int i = 0; i < slots; i++)
		if (is_word(key, k->names[i]))
			return give(c, i, o);
	if (is_word(key, word_stream))
		return give_stream(c, o);
	if (is_word(key, word_sms))
		return give_sms(c, o);
	PyErr_Format(PyExc_TypeError,
		     "kernel %s has no argument %U; it has its tensors, scalars and "
		     "sizes, out, stream and sms",
		     k->desc->name, key);
	return false;
}

static bool give_all(Call *c, PyObject *args, PyObject *words)
{
	Kernel *k = c->k;
	Py_ssize_t n = PyTuple_Size(args), at = 0;
	PyObject *key, *value;
	if (n > k->nin) {
		PyErr_Format(PyExc_TypeError, "kernel %s takes %d arguments and out=, not %zd",
			     k->desc->name, k->nin, n);
		return false;
	}
	for (Py_ssize_t i = 0; i < n; i++)
		c->object[k->in[i]] = PyTuple_GetItem(args, i);
	while (words && PyDict_Next(words, &at, &key, &value))
		if (!give_word(c, key, value))
			return false;
	for (int i = 0; i < k->desc->nargs; i++)
		if (!c->object[i] && !(c->asks && k->desc->args[i].dir == KD_OUT)) {
			PyErr_Format(PyExc_TypeError, "kernel %s was not given %U%s", k->desc->name,
				     k->names[i],
				     k->desc->args[i].dir == KD_OUT ? ", which it writes: out="
								    : "");
			return false;
		}
	return true;
}

/* ------------------------------------------------------------------ tensors and numbers */
static bool is_gpu(DLDevice d)
{
	return d.type == DL_CUDA || d.type == DL_CUDA_MANAGED;
}

/* Before the first tensor is asked for by __dlpack__, which wants to know for which stream. DLPack
 * has 1 for the default stream of CUDA. */
static bool find_stream(Call *c, PyObject *o, DLDevice d)
{
	if (!is_gpu(d))
		return true;
	if (!c->stream_known) {
		if (!tensor_stream(o, d, &c->stream))
			return false;
		c->own = tensor_library(o);
	}
	c->stream_known = true;
	if (!c->stream_word && !tensor_api(o))
		c->stream_word = PyLong_FromVoidPtr(c->stream ? c->stream : (void *)1);
	return c->stream_word || tensor_api(o);
}

/* A library whose own stream it is need not make its data ready: that takes torch 3 us a tensor. */
static PyObject *stream_told(const Call *c, PyObject *o)
{
	bool own = c->stream_word && c->own >= LIB_TORCH && tensor_library(o) == c->own;
	return own ? no_stream : c->stream_word;
}

/* Where it is the library that knows the stream, the tensor is taken first, and says which device
 * that is on. */
static bool take(Call *c, int slot)
{
	PyObject *o = c->object[slot];
	Tensor *t = &c->tensor[slot];
	bool table = tensor_api(o) != NULL;
	bool own = !table && !c->stream_known && tensor_library(o) >= LIB_TORCH;
	DLDevice d = {0, 0};
	if (!table && !own && !c->stream_word && (!tensor_device(o, &d) || !find_stream(c, o, d)))
		return false;
	if (!tensor_take(t, o, own ? no_stream : stream_told(c, o)))
		return false;
	return !(table || own) || c->stream_known || find_stream(c, o, t->t.device);
}

static void view(Call *c, int slot)
{
	const DLTensor *t = &c->tensor[slot].t;
	c->c.view[slot] = (TensorView){.base = (uintptr_t)t->data + t->byte_offset,
				       .elem = c->tensor[slot].elem,
				       .rank = t->ndim,
				       .extent = t->shape,
				       .stride = t->strides};
}

static bool same_device(const Call *c, int slot)
{
	const DLDevice a = c->tensor[c->first].t.device, b = c->tensor[slot].t.device;
	if (is_gpu(a) == is_gpu(b) && (!is_gpu(a) || a.id == b.id))
		return true;
	PyErr_Format(py_error, "tensors %s and %s of kernel %s are on different devices",
		     c->k->desc->args[c->first].name, c->k->desc->args[slot].name,
		     c->k->desc->name);
	return false;
}

static bool number(Call *c, int slot)
{
	const KDesc *k = c->k->desc;
	const KArg *a = slot < k->nargs ? &k->args[slot] : NULL;
	const char *name = a ? a->name : k->syms[slot - k->nargs];
	bool real = a && elem_is_float(a->elem);
	if (real)
		c->c.args[slot] = dsl_arg_float(name, PyFloat_AsDouble(c->object[slot]));
	else
		c->c.args[slot] = dsl_arg_int(name, PyLong_AsLongLong(c->object[slot]));
	c->c.given[slot] = true;
	return !PyErr_Occurred();
}

static bool read_all(Call *c)
{
	const KDesc *k = c->k->desc;
	for (int i = 0; i < k->nargs + k->nsyms; i++) {
		if (i >= k->nargs || k->args[i].kind == KA_SCALAR) {
			if (c->object[i] && !number(c, i))
				return false;
			continue;
		}
		if (!c->object[i]) { /* lies anywhere */
			c->c.view[i] = (TensorView){.base = (dsl_addr)(i + 1) << 46, .rank = -1};
			continue;
		}
		const Use use = {k->name, k->args[i].name, k->args[i].dir != KD_IN};
		if (!tensor_may(c->object[i], &use))
			return false;
		if (!take(c, i))
			return tensor_refused(&use);
		if (!tensor_fits(&c->tensor[i], &use))
			return false;
		view(c, i);
		c->first = c->first < 0 ? i : c->first;
		if (!same_device(c, i))
			return false;
	}
	if (c->first >= 0)
		return true;
	PyErr_Format(PyExc_TypeError, "kernel %s has no tensor", k->name);
	return false;
}

/* ------------------------------------------------------------------ the launch */
static bool py_ok(dsl_status st)
{
	return !st || py_fail(st);
}

/* Sizes and addresses for the runtime. */
static bool bind(Call *c)
{
	c->device = find_device(c->k, c->tensor[c->first].t.device);
	Loaded *l = c->device < 0 ? NULL : loaded_at(c->k, c->device);
	return l && py_ok(dsl_tensors_bind(l->mod, l->desc, &c->c));
}

/* The sizes, 8 bytes each, then the name of the GPU. */
static PyObject *key_of(const Call *c)
{
	const KDesc *k = c->k->desc;
	bool on_gpu = is_gpu(c->tensor[c->first].t.device);
	const char *card = on_gpu ? dsl_device_name(devices[c->device].dev) : "";
	char key[(KD_MAX_SYMS + 16) * sizeof(int64_t)], *end = key;
	for (int i = 0; i < k->nsyms; i++, end += sizeof(int64_t))
		memcpy(end, &c->c.args[k->nargs + i].v.i, sizeof(int64_t));
	size_t n = strnlen(card, 16 * sizeof(int64_t));
	memcpy(end, card, n);
	return PyBytes_FromStringAndSize(key, end - key + (Py_ssize_t)n);
}

/* What a call runs: a new reference, as other threads may change what is known. */
static Kernel *taken(const Call *c)
{
	PyObject *known = c->k->known, *found = NULL;
	Py_XINCREF(known);
	PyObject *key = known ? key_of(c) : NULL;
	if (key)
		found = PyObject_GetItem(known, key);
	Py_XDECREF(key);
	if (!known || found == Py_None) {
		Py_XDECREF(found);
		found = &c->k->ob_base;
		Py_INCREF(found);
	}
	Py_XDECREF(known);
	return (Kernel *)found;
}

static bool launch_here(Call *c, const Loaded *l)
{
	DLDevice where = c->tensor[c->first].t.device;
	size_t n = (size_t)(l->desc->nargs + l->desc->nsyms);
	const SpaceLaunch what = {l->mod, l->desc->name, c->c.args, n, c->stream, &c->opts};
	dsl_device *dev = devices[c->device].dev;
	PyThreadState *other = PyEval_SaveThread();
	dsl_status st =
		is_gpu(where) ? dsl_launch(l->mod, l->desc->name, c->c.args, n, c->stream, &c->opts)
			      : simulate(dev, l->desc, &c->c, &what);
	PyEval_RestoreThread(other);
	if (st == DSL_ERR_WORKSPACE || st == DSL_ERR_SEMAPHORES)
		return space_launch(dev, where.id, c->own, &what);
	return py_ok(st);
}

static bool launch(Call *c)
{
	Kernel *k = taken(c);
	const Loaded *l = k ? loaded_at(k, c->device) : NULL;
	bool ok = l && launch_here(c, l);
	Py_XDECREF((PyObject *)k);
	return ok;
}

static PyObject *result(const Call *c)
{
	PyObject *o = c->words ? PyDict_GetItem(c->words, word_out) : NULL;
	const Kernel *k = c->k;
	if ((!o || o == Py_None) && k->nout > 1) {
		o = PyTuple_New(k->nout);
		for (int i = 0; o && i < k->nout; i++) {
			Py_INCREF(c->object[k->out[i]]);
			PyTuple_SetItem(o, i, c->object[k->out[i]]);
		}
		return o;
	}
	if ((!o || o == Py_None) && k->nout)
		o = c->object[k->out[0]];
	o = o ? o : Py_None;
	Py_INCREF(o);
	return o;
}

/* Python's Kernel makes the outputs that are missing, and calls again. */
static PyObject *then_allocate(Call *c)
{
	PyObject *key = key_of(c), *words = c->words ? c->words : PyDict_New();
	PyObject *given = key && words ? PyObject_CallMethod(&c->k->ob_base, "_allocate", "OOO",
							     key, c->args, words)
				       : NULL;
	Py_XDECREF(key);
	if (!c->words)
		Py_XDECREF(words);
	return given;
}

static PyObject *then_launch(Call *c)
{
	for (int i = 0; i < c->k->nout; i++)
		if (!c->object[c->k->out[i]])
			return then_allocate(c);
	if (!launch(c))
		return NULL;
	for (int i = 0; i < c->k->desc->nargs; i++)
		if (c->k->desc->args[i].dir != KD_IN)
			tensor_written(c->object[i]);
	return result(c);
}

/* What then does with the arguments. */
static PyObject *with_call(PyObject *self, PyObject *args, PyObject *words, bool asks,
			   PyObject *(*then)(Call *))
{
	Call c;
	c.k = (Kernel *)self;
	int slots = c.k->desc->nargs + c.k->desc->nsyms;
	memset(c.object, 0, sizeof *c.object * (size_t)slots);
	memset(c.c.given, 0, sizeof *c.c.given * (size_t)slots);
	memset(c.tensor, 0, sizeof *c.tensor * (size_t)c.k->desc->nargs);
	c.first = -1;
	c.stream = NULL;
	c.stream_word = NULL;
	c.stream_known = false;
	c.asks = asks;
	c.own = LIB_OTHER;
	c.args = args;
	c.words = words;
	c.opts = (dsl_launch_opts){.size = sizeof c.opts};
	bool ok = give_all(&c, args, words) && read_all(&c) && bind(&c);
	PyObject *given = ok ? then(&c) : NULL;
	for (int i = 0; i < c.k->desc->nargs; i++)
		tensor_drop(&c.tensor[i]);
	Py_XDECREF(c.stream_word);
	return given;
}

/* ------------------------------------------------------------------ what Python's Kernel asks */
static PyObject *then_key(Call *c)
{
	bool on_gpu = is_gpu(c->tensor[c->first].t.device);
	return Py_BuildValue("(NO)", key_of(c), on_gpu ? Py_True : Py_False);
}

static PyObject *then_choice(Call *c)
{
	const char *name;
	char why[512];
	Kernel *k = taken(c);
	const Loaded *l = k ? loaded_at(k, c->device) : NULL;
	size_t n = l ? (size_t)(l->desc->nargs + l->desc->nsyms) : 0;
	bool ok =
		l && py_ok(dsl_choice(l->mod, l->desc->name, c->c.args, n, &name, why, sizeof why));
	PyObject *given = ok ? Py_BuildValue("(Oss)", (PyObject *)k, name, why) : NULL;
	Py_XDECREF((PyObject *)k);
	return given;
}

/* Microseconds of a launch, the mean of those that the GPU gets while it runs others. */
static PyObject *then_time(Call *c)
{
	const int runs = 10;
	dsl_event *from = NULL, *to = NULL;
	dsl_device *dev = devices[c->device].dev;
	float ms = 0;
	bool ok = py_ok(dsl_event_create(dev, &from)) && py_ok(dsl_event_create(dev, &to));
	for (int i = 0; i < 2 * runs && ok; i++)
		ok = (i != runs || py_ok(dsl_event_record(from, c->stream))) && launch(c);
	ok = ok && py_ok(dsl_event_record(to, c->stream)) &&
	     py_ok(dsl_event_elapsed(from, to, &ms));
	dsl_event_destroy(from);
	dsl_event_destroy(to);
	return ok ? PyFloat_FromDouble((double)ms * 1000 / runs) : NULL;
}

/* Each takes the arguments of a call. */
#define TAKES_CALL(name, asks, then)                                           \
	static PyObject *name(PyObject *self, PyObject *args, PyObject *words) \
	{                                                                      \
		return with_call(self, args, words, asks, then);               \
	}
TAKES_CALL(kernel_call, true, then_launch)
TAKES_CALL(kernel_key, true, then_key)
TAKES_CALL(kernel_choice, true, then_choice)
TAKES_CALL(kernel_time, false, then_time)

#define METHOD(name, f) {name, (PyCFunction)(void (*)(void))(f), METH_VARARGS | METH_KEYWORDS, NULL}
static PyMethodDef kernel_methods[] = {
	METHOD("_key", kernel_key),       /* (key, whether on a GPU) */
	METHOD("_choice", kernel_choice), /* (kernel, name of the variant, why) */
	METHOD("_time", kernel_time),     /* us of a launch */
	{NULL, NULL, 0, NULL},
};

/* ------------------------------------------------------------------ the type */
static bool names_make(Kernel *k)
{
	const KDesc *d = k->desc;
	for (int i = 0; i < d->nargs + d->nsyms; i++) {
		const char *name = i < d->nargs ? d->args[i].name : d->syms[i - d->nargs];
		if (!(k->names[i] = PyUnicode_InternFromString(name)))
			return false;
	}
	for (int i = 0; i < d->nargs; i++)
		if (d->args[i].kind == KA_TENSOR && d->args[i].dir == KD_OUT)
			k->out[k->nout++] = i;
		else
			k->in[k->nin++] = i;
	return true;
}

static bool desc_choose(Kernel *k, const char *name)
{
	k->desc = name ? desc_named(k->module, name)
		       : (kdesc_variants(k->module, 0) == k->module->nkernels ? k->module->kernels
									      : NULL);
	if (k->desc)
		return true;
	PyErr_Format(py_error, name ? "%s has no kernel %s" : "%s has several kernels: say which%s",
		     k->module->source, name ? name : "");
	return false;
}

static bool kernel_open(Kernel *k, const char *name, const char *sim)
{
	char *bytes;
	Py_ssize_t size;
	const char *text;
	size_t n;
	if (PyBytes_AsStringAndSize(k->cubin, &bytes, &size))
		return false;
	snprintf(k->sim, sizeof k->sim, "sim%s%s", *sim ? ":" : "", sim);
	dsl_status st = dsl_cubin_section(bytes, (size_t)size, ".dslc.manifest", &text, &n);
	if (!st)
		st = dsl_desc_parse(text, n, &k->module);
	if (st) {
		py_fail(st);
		return false;
	}
	if (*sim && device_number(k->sim) < 0)
		return false;
	k->manifest = PyUnicode_FromStringAndSize(text, (Py_ssize_t)n);
	return k->manifest && desc_choose(k, name) && names_make(k);
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *words)
{
	PyObject *cubin;
	const char *name = NULL, *sim = "";
	(void)words;
	if (!PyArg_ParseTuple(args, "S|zs", &cubin, &name, &sim))
		return NULL;
	Kernel *k = (Kernel *)(void *)PyType_GenericAlloc(type, 0);
	if (!k)
		return NULL;
	Py_INCREF(cubin);
	k->cubin = cubin;
	if (kernel_open(k, name, sim))
		return &k->ob_base;
	Py_DECREF(&k->ob_base);
	return NULL;
}

static void kernel_free(PyObject *self)
{
	Kernel *k = (Kernel *)self;
	PyTypeObject *type = Py_TYPE(self);
	for (int i = 0; i < DEVICES_MAX; i++)
		if (k->at[i].mod)
			dsl_module_unload(k->at[i].mod);
	for (int i = 0; i < SLOTS; i++)
		Py_XDECREF(k->names[i]);
	dsl_desc_free(k->module);
	Py_CLEAR(k->known);
	Py_XDECREF(k->cubin);
	Py_XDECREF(k->manifest);
	freefunc release = (freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free);
	release(self);
	Py_DECREF(type);
}

static PyObject *kernel_repr(PyObject *self)
{
	const Kernel *k = (Kernel *)self;
	return PyUnicode_FromFormat("<dslc kernel %s of %s>", k->desc->name, k->module->source);
}

static PyObject *get_name(PyObject *self, void *unused)
{
	(void)unused;
	return PyUnicode_FromString(((Kernel *)self)->desc->name);
}

static PyObject *get_object(PyObject *self, void *offset)
{
	PyObject *o = *(PyObject **)(void *)((char *)self + (size_t)offset);
	o = o ? o : Py_None;
	Py_INCREF(o);
	return o;
}

static int set_known(PyObject *self, PyObject *known, void *unused)
{
	PyObject *old = ((Kernel *)self)->known;
	(void)unused;
	Py_XINCREF(known);
	((Kernel *)self)->known = known;
	Py_XDECREF(old);
	return 0;
}

#define OBJECT(field) (void *)offsetof(Kernel, field)
static PyGetSetDef kernel_fields[] = {
	{"name", get_name, NULL, "name in the source", NULL},
	{"manifest", get_object, NULL, "manifest of the cubin, JSON", OBJECT(manifest)},
	{"cubin", get_object, NULL, "the cubin, bytes", OBJECT(cubin)},
	{"_known", get_object, set_known, "a mapping from keys to kernels or None", OBJECT(known)},
	{NULL, NULL, NULL, NULL, NULL},
};

/* A slot holds a function as a pointer to an object; both have one size where Python runs (PEP
 * 384). */
#define SLOT(id, f) {id, (void *)(uintptr_t)(f)}

int kernel_init(PyObject *module)
{
	static const char doc[] = "Kernel(cubin, name=None, sim=''): what dslc.Kernel is made of";
	static PyType_Slot slots[] = {
		SLOT(Py_tp_new, kernel_new),
		SLOT(Py_tp_dealloc, kernel_free),
		SLOT(Py_tp_call, kernel_call),
		SLOT(Py_tp_repr, kernel_repr),
		SLOT(Py_tp_getset, kernel_fields),
		SLOT(Py_tp_methods, kernel_methods),
		SLOT(Py_tp_doc, doc),
		{0, NULL},
	};
	static PyType_Spec spec = {.name = "dslc._dslc.Kernel",
				   .basicsize = sizeof(Kernel),
				   .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
				   .slots = slots};
	kernel_type = PyType_FromSpec(&spec);
	word_out = PyUnicode_InternFromString("out");
	word_stream = PyUnicode_InternFromString("stream");
	word_sms = PyUnicode_InternFromString("sms");
	no_stream = PyLong_FromLong(-1);
	if (!kernel_type || !word_out || !word_stream || !word_sms || !no_stream)
		return -1;
	return PyModule_AddObject(module, "Kernel", kernel_type);
}
