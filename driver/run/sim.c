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

enum { MAX_ARGS = 64, MAX_PARAMS = 4096 };

typedef struct {
	Npy array;
	dsl_addr addr;
	const char *save; /* file, "" to print, NULL for inputs */
} Buffer;

typedef struct {
	const char *file, *kernel, *checks, *trace;
	uint32_t grid[3], block[3], cluster[3], smem;
	int64_t seed, schedules;
	const char *args[MAX_ARGS];
	bool hidden[MAX_ARGS]; /* --buffer: memory, no parameter */
	int nargs;
	/* while it runs */
	dsl_device *dev;
	dsl_module *mod;
	Buffer buffers[MAX_ARGS];
	int nbuffers;
	_Alignas(64) unsigned char params[MAX_PARAMS];
	size_t param_bytes;
	bool noted; /* notes were printed: once is enough */
} Sim;

static const char usage[] =
	"usage: dslc sim FILE --grid X[,Y[,Z]] --block X[,Y[,Z]] [options]\n"
	"Runs one kernel of a PTX text, or of a cubin that dslc wrote, on the simulator.\n"
	"  --kernel NAME         which kernel; required if the file has several\n"
	"  --cluster X[,Y[,Z]]   CTAs of a cluster, if the kernel does not state it\n"
	"  --smem BYTES          dynamic shared memory\n"
	"  --arg u32:7           a number: u8 .. u64, i8 .. i64, f32, f64\n"
	"  --arg in:FILE.npy     the address of an array from a file\n"
	"  --arg out:f32:COUNT[:FILE.npy]  of an array that is written to a file, or printed\n"
	"  --arg inout:FILE.npy:OUT.npy    of an array that is read and written\n"
	"  --arg tma:ELEM:BUFFER:DIMxDIM..:BOXxBOX..[:SWIZZLE[:STRIDExSTRIDE..]]  a tensor map,\n"
	"                        fastest dimension first, over array BUFFER (0 is the first);\n"
	"                        strides in bytes, from the second dimension on\n"
	"  --buffer in:.. | out:..  an array that is not a parameter, for maps\n"
	"  --seed S              order of warps and copies; 0 is the plain order\n"
	"  --schedules N         run with seeds S .. S + N - 1\n"
	"  --checks LIST         all, none, races, uninit, wgmma, barriers, exit, grid, warps,\n"
	"                        portability, global; the last three are not part of all;\n"
	"                        -word turns one off\n"
	"  --trace FILE          write what each warp did, as a Chrome trace\n";

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

static bool three(const char *text, uint32_t to[3])
{
	uint64_t v[3] = {1, 1, 1};
	int n;
	if (!text || !dims_read(text, ',', v, 3, &n))
		return false;
	for (int i = 0; i < 3; i++)
		to[i] = (uint32_t)v[i];
	return v[0] <= UINT32_MAX && v[1] <= UINT32_MAX && v[2] <= UINT32_MAX && v[0] && v[1] &&
	       v[2];
}

static bool number(const char *text, int64_t most, int64_t *to)
{
	uint64_t v = 0;
	int n;
	bool ok = text && dims_read(text, ',', &v, 1, &n) && v <= (uint64_t)most;
	*to = (int64_t)v;
	return ok;
}

static bool keep_arg(Sim *s, const char *value, bool hidden)
{
	if (!value || s->nargs == MAX_ARGS)
		return false;
	s->hidden[s->nargs] = hidden;
	s->args[s->nargs++] = value;
	return true;
}

static bool option(Sim *s, const char *name, const char *value)
{
	int64_t n = 0;
	if (strcmp(name, "--grid") == 0)
		return three(value, s->grid);
	if (strcmp(name, "--block") == 0)
		return three(value, s->block);
	if (strcmp(name, "--cluster") == 0)
		return three(value, s->cluster);
	if (strcmp(name, "--smem") == 0) {
		bool ok = number(value, 1 << 20, &n);
		s->smem = (uint32_t)n;
		return ok;
	}
	if (strcmp(name, "--seed") == 0)
		return number(value, INT64_MAX, &s->seed);
	if (strcmp(name, "--schedules") == 0)
		return number(value, 1000000, &s->schedules) && s->schedules;
	if (strcmp(name, "--arg") == 0 || strcmp(name, "--buffer") == 0)
		return keep_arg(s, value, name[2] == 'b');
	const char **text = strcmp(name, "--kernel") == 0   ? &s->kernel
			    : strcmp(name, "--checks") == 0 ? &s->checks
			    : strcmp(name, "--trace") == 0  ? &s->trace
							    : NULL;
	if (text)
		*text = value;
	return text && value;
}

static bool parse(Sim *s, int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i], *eq = strchr(a, '=');
		char name[32];
		if (a[0] != '-') {
			if (s->file) {
				tool_usage("dslc sim takes one file, not %s too", a);
				return false;
			}
			s->file = a;
			continue;
		}
		size_t n = eq ? (size_t)(eq - a) : strlen(a);
		snprintf(name, sizeof name, "%.*s", (int)(n < 31 ? n : 31), a);
		const char *value = eq ? eq + 1 : i + 1 < argc ? argv[++i] : NULL;
		if (!option(s, name, value)) {
			tool_usage("dslc sim: %s %s is not right; see dslc sim --help", name,
				   value ? value : "");
			return false;
		}
	}
	if (s->file && s->grid[0] && s->block[0])
		return true;
	tool_usage("dslc sim needs a file, --grid and --block; see dslc sim --help");
	return false;
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

static bool arg_any(Sim *s, int i)
{
	const char *a = s->args[i];
	if (strncmp(a, "in:", 3) == 0 || strncmp(a, "inout:", 6) == 0)
		return arg_in(s, a, s->hidden[i]);
	if (strncmp(a, "out:", 4) == 0)
		return arg_out(s, a, s->hidden[i]);
	if (s->hidden[i])
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

/* Files get what the kernel wrote also where errors were found. */
static bool run_seed(Sim *s, int64_t seed, bool last)
{
	char device[1024], name[256];
	const char *given = s->kernel;
	snprintf(device, sizeof device, "sim:seed=%lld%s%s%s%s", (long long)seed,
		 s->checks ? ",checks=" : "", s->checks ? s->checks : "", s->trace ? ",trace=" : "",
		 s->trace ? s->trace : "");
	bool ran = false, ok = runtime_ok(dsl_device_open(device, &s->dev)) &&
			       started(dsl_module_load(s->dev, s->file, &s->mod)) &&
			       entry_find(s, name, sizeof name);
	for (int i = 0; i < s->nargs && ok; i++)
		ok = arg_any(s, i);
	if (ok) {
		dsl_raw raw = {.size = sizeof raw,
			       .smem = s->smem,
			       .params = s->params,
			       .param_bytes = s->param_bytes};
		memcpy(raw.grid, s->grid, sizeof raw.grid);
		memcpy(raw.block, s->block, sizeof raw.block);
		memcpy(raw.cluster, s->cluster, sizeof raw.cluster);
		dsl_status st = dsl_launch_raw(s->mod, s->kernel, &raw);
		ok = started(st);
		ran = ok || st == DSL_ERR_SIM;
	}
	if (ok)
		notes_print(s);
	if (ok && last)
		printf("%s: %lld schedule%s, no fault\n", s->kernel, (long long)s->schedules,
		       s->schedules == 1 ? "" : "s");
	for (int i = 0; i < s->nbuffers && ran && (last || !ok); i++)
		if (ok || (s->buffers[i].save && *s->buffers[i].save))
			ran = buffer_save(s, &s->buffers[i]);
	ok = ok && ran;
	if (!ok)
		fprintf(stderr, "dslc sim: seed %lld\n", (long long)seed);
	close_all(s);
	s->kernel = given;
	return ok;
}

int tool_sim(int argc, char *const *argv)
{
	Sim s = {.schedules = 1};
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			fputs(usage, stdout);
			return EXIT_OK;
		}
	}
	if (!parse(&s, argc, argv))
		return EXIT_USAGE;
	for (int64_t k = 0; k < s.schedules; k++)
		if (!run_seed(&s, s.seed + k, k + 1 == s.schedules))
			return EXIT_DIAGS;
	return EXIT_OK;
}
