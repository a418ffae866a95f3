/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sim.c - dslc sim: runs a kernel of any compiler, PTX text or cubin with PTX, on the simulator,
 * with arrays in .npy files.
 *   dslc sim k.ptx --grid 4 --block 128 --arg in:x.npy --arg out:f32:512:y.npy --arg u32:512 */
#include "driver/tool.h"
#include "driver/run/npy.h"
#include "runtime/dsl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 4096 };

typedef struct {
	Npy array;
	dsl_addr addr;
	const char *save; /* file, "" to print, NULL for inputs */
} Buffer;

typedef struct {
	const Options *o;
	const char *kernel;
	/* while it runs */
	dsl_device *dev;
	dsl_module *mod;
	Buffer buffers[SIM_MOST_ARGS];
	int nbuffers;
	_Alignas(64) unsigned char params[MAX_PARAMS];
	size_t param_bytes;
	bool noted; /* notes were printed: once is enough */
} Sim;

static bool dims_read(const char *text, char apart, uint64_t *to, int most, int *n)
{
	for (*n = 0; *n < most;) {
		char *end;
		errno = 0;
		to[(*n)++] = strtoull(text, &end, 10);
		if (end == text || errno || *text == '-')
			return false;
		if (!*end)
			return true;
		if (*end != apart)
			return false;
		text = end + 1;
	}
	return false;
}

static bool number(const char *text, int64_t most, int64_t *to)
{
	uint64_t v = 0;
	int n;
	bool ok = text && dims_read(text, ',', &v, 1, &n) && v <= (uint64_t)most;
	*to = (int64_t)v;
	return ok;
}

static bool runtime_ok(dsl_status st)
{
	if (st)
		fprintf(stderr, "dslc sim: %s\n%s\n", dsl_status_text(st), dsl_detail());
	return !st;
}

/* What could not be loaded or started is told by its detail alone: no driver had a part in it. */
static bool started(dsl_status st)
{
	if (st != DSL_ERR_RESOURCES && st != DSL_ERR_LOAD)
		return runtime_ok(st);
	fprintf(stderr, "dslc sim: %s\n", dsl_detail());
	return false;
}

static bool wrong(const char *arg, const char *why)
{
	fprintf(stderr, "dslc sim: --arg %s: %s\n", arg, why);
	return false;
}

/* ------------------------------------------------------------------ parameters */
static bool param_add(Sim *s, const void *bytes, size_t size, size_t align)
{
	size_t at = (s->param_bytes + align - 1) / align * align;
	if (at + size > MAX_PARAMS)
		return false;
	memcpy(s->params + at, bytes, size);
	s->param_bytes = at + size;
	return true;
}

static bool buffer_add(Sim *s, Buffer b, bool hidden)
{
	if (!runtime_ok(dsl_mem_alloc(s->dev, b.array.bytes ? b.array.bytes : 1, &b.addr)))
		return false;
	s->buffers[s->nbuffers++] = b;
	if (b.array.bytes && !runtime_ok(dsl_copy_in(s->dev, b.addr, b.array.data, b.array.bytes)))
		return false;
	return hidden || param_add(s, &b.addr, 8, 8);
}

static bool arg_in(Sim *s, const char *arg, bool hidden)
{
	Buffer b = {0};
	char path[1024], why[1200];
	bool both = arg[2] == 'o';
	const char *from = strchr(arg, ':') + 1, *colon = both ? strchr(from, ':') : NULL;
	snprintf(path, sizeof path, "%.*s", colon ? (int)(colon - from) : 1000, from);
	if (both)
		b.save = colon ? colon + 1 : "";
	return npy_read(path, &b.array, why, sizeof why) ? buffer_add(s, b, hidden)
							 : wrong(arg, why);
}

static bool arg_out(Sim *s, const char *arg, bool hidden)
{
	Buffer b = {.save = ""};
	const char *type = arg + 4, *colon = strchr(type, ':');
	b.array.type = colon ? npy_type(type, (size_t)(colon - type)) : NULL;
	char *end = NULL;
	uint64_t count = colon ? strtoull(colon + 1, &end, 10) : 0;
	if (!b.array.type || end == colon + 1 || (*end && *end != ':') || count > UINT64_C(1) << 36)
		return wrong(arg, "out:TYPE:COUNT[:FILE] is the form");
	if (*end)
		b.save = end + 1;
	b.array.count = b.array.shape[0] = (size_t)count;
	b.array.rank = 1;
	b.array.bytes = b.array.count * b.array.type->bytes;
	b.array.data = malloc(b.array.bytes + 1);
	if (!b.array.data)
		return wrong(arg, "no memory for it");
	memset(b.array.data, 0xcd, b.array.bytes);
	return buffer_add(s, b, hidden);
}

/* The map's strides: as given, from dimension 1 on, or those of a dense array. */
static bool tma_strides(dsl_map *m, const char *given)
{
	const NpyType *type = npy_type(m->elem, strlen(m->elem));
	uint64_t pitch = type ? type->bytes : 0;
	int n;
	if (given)
		return dims_read(given, 'x', m->strides, 4, &n) && n + 1 == (int)m->rank;
	for (uint32_t i = 0; i + 1 < m->rank; i++)
		m->strides[i] = pitch *= m->dims[i];
	return true;
}

/* tma:ELEM:BUFFER:DIMS:BOX[:SWIZZLE[:STRIDES]] */
static bool arg_tma(Sim *s, const char *arg)
{
	char text[256], *field[6] = {NULL};
	unsigned char map[128];
	uint64_t box[5];
	int n = 0, rank, boxes;
	snprintf(text, sizeof text, "%s", arg + 4);
	for (char *p = text; p && n < 6; n++) {
		field[n] = p;
		p = strchr(p, ':');
		if (p)
			*p++ = 0;
	}
	dsl_map m = {.size = sizeof m, .elem = field[0]};
	int64_t buffer = 0, swizzle = 0;
	bool read = n >= 4 && s->nbuffers && number(field[1], s->nbuffers - 1, &buffer) &&
		    (n == 4 || number(field[4], 128, &swizzle)) &&
		    dims_read(field[2], 'x', m.dims, 5, &rank) &&
		    dims_read(field[3], 'x', box, 5, &boxes) && boxes == rank;
	m.rank = read ? (uint32_t)rank : 0;
	if (!read || !tma_strides(&m, field[5]))
		return wrong(arg, "tma:ELEM:BUFFER:DIMxDIM:BOXxBOX[:SWIZZLE[:STRIDE]] is the form, "
				  "after the arrays");
	m.base = s->buffers[buffer].addr;
	m.swizzle = (uint32_t)swizzle;
	for (int i = 0; i < rank; i++)
		m.box[i] = (uint32_t)box[i];
	if (dsl_tensor_map(s->dev, &m, map))
		return wrong(arg, dsl_detail());
	return param_add(s, map, sizeof map, 64);
}

static bool int_fits(const NpyType *type, uint64_t v, bool negative)
{
	unsigned bits = 8 * (unsigned)type->bytes;
	bool is_signed = type->code[1] == 'i';
	if (negative)
		return is_signed && (int64_t)v < 0 && (int64_t)v >= INT64_MIN >> (64 - bits);
	return bits == 64 ? !is_signed || v <= INT64_MAX : !(v >> (bits - is_signed));
}

static bool arg_number(Sim *s, const char *arg)
{
	const char *colon = strchr(arg, ':');
	const NpyType *type = colon ? npy_type(arg, (size_t)(colon - arg)) : NULL;
	char *end;
	if (!type)
		return wrong(arg, "TYPE:VALUE, in:, out:, inout: or tma: is needed");
	double f = strtod(colon + 1, &end);
	float single = (float)f;
	bool read = *end == 0 && end > colon + 1;
	if (read && strcmp(type->word, "f64") == 0)
		return param_add(s, &f, 8, 8);
	if (read && strcmp(type->word, "f32") == 0)
		return param_add(s, &single, 4, 4);
	errno = 0;
	uint64_t v = colon[1] == '-' ? (uint64_t)strtoll(colon + 1, &end, 0) : 0;
	if (colon[1] != '-')
		v = strtoull(colon + 1, &end, 0);
	if (*end || errno || !colon[1] || strchr("fbe", type->word[0]) ||
	    !int_fits(type, v, colon[1] == '-'))
		return wrong(arg, "the value is not a number of that type");
	return param_add(s, &v, type->bytes, type->bytes);
}

static bool arg_any(Sim *s, RawArg arg)
{
	const char *a = arg.text;
	if (strncmp(a, "in:", 3) == 0 || strncmp(a, "inout:", 6) == 0)
		return arg_in(s, a, arg.hidden);
	if (strncmp(a, "out:", 4) == 0)
		return arg_out(s, a, arg.hidden);
	if (arg.hidden)
		return wrong(a, "--buffer takes in:, out: or inout:");
	return strncmp(a, "tma:", 4) == 0 ? arg_tma(s, a) : arg_number(s, a);
}

/* ------------------------------------------------------------------ results */
static void value_print(const Npy *a, size_t i)
{
	const unsigned char *p = (const unsigned char *)a->data + i * a->type->bytes;
	float f;
	double d;
	uint64_t u = 0;
	memcpy(&u, p, a->type->bytes);
	if (strcmp(a->type->word, "f32") == 0) {
		memcpy(&f, p, 4);
		printf(" %g", (double)f);
	} else if (strcmp(a->type->word, "f64") == 0) {
		memcpy(&d, p, 8);
		printf(" %g", d);
	} else if (a->type->code[1] == 'i') {
		unsigned shift = 64 - 8 * (unsigned)a->type->bytes;
		printf(" %lld", (long long)((int64_t)(u << shift) >> shift));
	} else {
		printf(" %llu", (unsigned long long)u);
	}
}

static bool buffer_save(Sim *s, const Buffer *b)
{
	char why[1200];
	if (!b->save)
		return true;
	if (b->array.bytes &&
	    !runtime_ok(dsl_copy_out(s->dev, b->array.data, b->addr, b->array.bytes)))
		return false;
	if (!*b->save) {
		size_t most = b->array.count < 16 ? b->array.count : 16;
		printf("%s[%zu]:", b->array.type->word, b->array.count);
		for (size_t i = 0; i < most; i++)
			value_print(&b->array, i);
		printf("%s\n", most < b->array.count ? " ..." : "");
		return true;
	}
	if (npy_write(b->save, &b->array, why, sizeof why))
		return true;
	fprintf(stderr, "dslc sim: %s\n", why);
	return false;
}

/* The only entry of the text; a second one makes the choice the user's. */
static bool entry_find(Sim *s, char *name, size_t size)
{
	const char *ptx = dsl_module_ptx(s->mod), *at = ptx ? strstr(ptx, ".entry") : NULL;
	if (s->kernel)
		return true;
	if (!at || strstr(at + 6, ".entry")) {
		tool_usage("dslc sim: say which kernel with --kernel");
		return false;
	}
	at += 6 + strspn(at + 6, " \t\r\n");
	snprintf(name, size, "%.*s", (int)strcspn(at, " \t\r\n({"), at);
	s->kernel = name;
	return true;
}

static void close_all(Sim *s)
{
	for (int i = 0; i < s->nbuffers; i++)
		free(s->buffers[i].array.data);
	s->nbuffers = 0;
	s->param_bytes = 0;
	if (s->dev)
		dsl_device_close(s->dev);
	s->dev = NULL;
}

/* What is not portable, of the first schedule that shows it. */
static void notes_print(Sim *s)
{
	const char *notes = dsl_detail();
	if (!*notes || s->noted)
		return;
	fprintf(stderr, "dslc sim: notes of portability (--checks=all,portability: errors)\n%s\n",
		notes);
	s->noted = true;
}

static int schedules(const Options *o)
{
	return o->schedules ? o->schedules : 1;
}

/* Files get what the kernel wrote also where errors were found. */
static bool run_seed(Sim *s, int64_t seed, bool last)
{
	char device[1024], name[256];
	const Options *o = s->o;
	snprintf(device, sizeof device, "sim:seed=%lld%s%s%s%s", (long long)seed,
		 o->checks ? ",checks=" : "", o->checks ? o->checks : "", o->trace ? ",trace=" : "",
		 o->trace ? o->trace : "");
	s->kernel = o->problem.kernel;
	bool ran = false, ok = runtime_ok(dsl_device_open(device, &s->dev)) &&
			       started(dsl_module_load(s->dev, o->inputs.at[0], &s->mod)) &&
			       entry_find(s, name, sizeof name);
	for (int i = 0; i < o->raw.n && ok; i++)
		ok = arg_any(s, o->raw.at[i]);
	if (ok) {
		dsl_raw raw = {.size = sizeof raw,
			       .smem = o->smem,
			       .params = s->params,
			       .param_bytes = s->param_bytes};
		memcpy(raw.grid, o->grid, sizeof raw.grid);
		memcpy(raw.block, o->block, sizeof raw.block);
		memcpy(raw.cluster, o->cluster, sizeof raw.cluster);
		dsl_status st = dsl_launch_raw(s->mod, s->kernel, &raw);
		ok = started(st);
		ran = ok || st == DSL_ERR_SIM;
	}
	if (ok)
		notes_print(s);
	if (ok && last)
		printf("%s: %d schedule%s, no fault\n", s->kernel, schedules(o),
		       schedules(o) == 1 ? "" : "s");
	for (int i = 0; i < s->nbuffers && ran && (last || !ok); i++)
		if (ok || (s->buffers[i].save && *s->buffers[i].save))
			ran = buffer_save(s, &s->buffers[i]);
	ok = ok && ran;
	if (!ok)
		fprintf(stderr, "dslc sim: seed %lld\n", (long long)seed);
	close_all(s);
	return ok;
}

int tool_sim(const Options *o)
{
	Sim s = {.o = o};
	for (int k = 0; k < schedules(o); k++)
		if (!run_seed(&s, o->first_seed + k, k + 1 == schedules(o)))
			return EXIT_DIAGS;
	return EXIT_OK;
}
