/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* device.c - the device "sim" of the runtime: memory, modules and launches of the simulator behind
 * DevOps. Launches run at once and to the end; streams, which are all one, and events are there so
 * that programs need no change. Options stand after the name, or in DSL_SIM, which is read first:
 *   dsl_device_open("sim:seed=7,checks=all,-races,threads=1,sms=8,trace=out.json", &dev) */
#include "runtime/rt.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
	dsl_device base; /* first: a dsl_device is the address of this */
	struct Memory *memory;
	SimOptions opt;
	char trace[256];
	pthread_mutex_t run; /* memory, copies, loads and launches, one at a time */
} SimDevice;

static SimDevice *sim_of(dsl_device *dev)
{
	return (SimDevice *)(void *)dev;
}

static void sim_close(dsl_device *dev)
{
	SimDevice *s = sim_of(dev);
	sim_memory_free(s->memory);
	pthread_mutex_destroy(&s->run);
	free(s);
}

static dsl_status sim_mem_alloc(dsl_device *dev, size_t size, dsl_addr *out)
{
	SimDevice *s = sim_of(dev);
	pthread_mutex_lock(&s->run);
	*out = sim_alloc(s->memory, size);
	pthread_mutex_unlock(&s->run);
	return *out ? DSL_OK
		    : detail_fail(DSL_ERR_DEVICE_MEMORY, "the simulator has no %zu bytes", size);
}

static dsl_status sim_mem_free(dsl_device *dev, dsl_addr addr)
{
	SimDevice *s = sim_of(dev);
	pthread_mutex_lock(&s->run);
	bool ok = sim_release(s->memory, addr);
	pthread_mutex_unlock(&s->run);
	return ok ? DSL_OK
		  : detail_fail(DSL_ERR_INVALID, "0x%llx is not an address from dsl_mem_alloc",
				(unsigned long long)addr);
}

/* The bytes at addr, with the device held so that they stay where they are, until span_leave. */
static dsl_status span_enter(SimDevice *s, dsl_addr addr, size_t size, void **host)
{
	pthread_mutex_lock(&s->run);
	*host = sim_host(s->memory, addr, size);
	if (*host)
		return DSL_OK;
	pthread_mutex_unlock(&s->run);
	return detail_fail(DSL_ERR_INVALID, "%zu bytes at 0x%llx are not inside one allocation",
			   size, (unsigned long long)addr);
}

static dsl_status span_leave(SimDevice *s)
{
	pthread_mutex_unlock(&s->run);
	return DSL_OK;
}

/* A device function that does one thing with the bytes at an address. */
#define ON_SPAN(id, params, at, ...)                                      \
	static dsl_status id params                                       \
	{                                                                 \
		void *host;                                               \
		dsl_status st = span_enter(sim_of(dev), at, size, &host); \
		if (st)                                                   \
			return st;                                        \
		__VA_ARGS__;                                              \
		return span_leave(sim_of(dev));                           \
	}

ON_SPAN(sim_copy_in, (dsl_device * dev, dsl_addr to, const void *from, size_t size), to,
	memcpy(host, from, size))
ON_SPAN(sim_copy_out, (dsl_device * dev, void *to, dsl_addr from, size_t size), from,
	memcpy(to, host, size))
ON_SPAN(sim_mem_set, (dsl_device * dev, dsl_addr to, unsigned char byte, size_t size), to,
	memset(host, byte, size))

/* A device function that is over at once: launches are when they return. */
#define AT_ONCE(id, params, ...)    \
	static dsl_status id params \
	{                           \
		(void)dev;          \
		__VA_ARGS__;        \
		return DSL_OK;      \
	}
AT_ONCE(sim_sync, (dsl_device * dev), )
AT_ONCE(sim_stream_create, (dsl_device * dev, dsl_stream *out), *out = dev)
AT_ONCE(sim_stream_sync, (dsl_device * dev, dsl_stream stream), (void)stream)
AT_ONCE(sim_stream_capturing, (dsl_device * dev, dsl_stream stream, bool *out), (void)stream,
	*out = false)

static dsl_status sim_stream_destroy(dsl_device *dev, dsl_stream stream)
{
	return stream == dev ? DSL_OK
			     : detail_fail(DSL_ERR_INVALID,
					   "stream %p is not one of dsl_stream_create", stream);
}

/* An event is the host's time when it was recorded. */
static dsl_status sim_event_create(dsl_device *dev, void **out)
{
	(void)dev;
	*out = calloc(1, sizeof(struct timespec));
	return *out ? DSL_OK : detail_fail(DSL_ERR_MEMORY, "no memory for an event");
}

AT_ONCE(sim_event_record, (dsl_device * dev, void *event, dsl_stream stream), (void)stream,
	clock_gettime(CLOCK_MONOTONIC, event))

static dsl_status sim_event_elapsed(dsl_device *dev, void *from, void *to, float *ms)
{
	const struct timespec *a = from, *b = to;
	(void)dev;
	*ms = (float)((double)(b->tv_sec - a->tv_sec) * 1e3 +
		      (double)(b->tv_nsec - a->tv_nsec) * 1e-6);
	return DSL_OK;
}

static dsl_status sim_event_destroy(dsl_device *dev, void *event)
{
	(void)dev;
	free(event);
	return DSL_OK;
}

/* ------------------------------------------------------------------ modules */
static dsl_status kernels_check(dsl_module *mod, const struct SimModule *m)
{
	for (int i = 0; i < mod->desc->nkernels; i++) {
		mod->plans[i].function = mod;
		mod->plans[i].sms = mod->dev->sms;
		if (!sim_kernel_find(m, mod->desc->kernels[i].symbol))
			return detail_fail(DSL_ERR_MANIFEST, "kernel %s: the PTX has no entry %s",
					   mod->desc->kernels[i].name,
					   mod->desc->kernels[i].symbol);
	}
	return DSL_OK;
}

static void sim_module_unload(dsl_device *dev, dsl_module *mod)
{
	SimDevice *s = sim_of(dev);
	pthread_mutex_lock(&s->run);
	sim_unload(mod->handle);
	pthread_mutex_unlock(&s->run);
}

static dsl_status sim_module_load(dsl_device *dev, dsl_module *mod)
{
	SimDevice *s = sim_of(dev);
	char why[640];
	if (!mod->ptx)
		return detail_fail(DSL_ERR_LOAD, "%s carries no PTX, which the simulator runs",
				   mod->desc->source);
	pthread_mutex_lock(&s->run);
	mod->handle = sim_load(s->memory, mod->ptx, mod->ptx_size, why, sizeof why);
	pthread_mutex_unlock(&s->run);
	if (!mod->handle)
		return detail_fail(DSL_ERR_LOAD, "%s: PTX %s", mod->desc->source, why);
	dsl_status st = kernels_check(mod, mod->handle);
	if (st)
		sim_module_unload(dev, mod);
	return st;
}

/* ------------------------------------------------------------------ launches */
static void place_add(Text *t, const SimReport *r)
{
	text_add(t, "%s%s: PTX line %d", t->n ? "\n" : "", sim_kind_word(r->kind), r->ptx_line);
	if (r->file && r->source_line)
		text_add(t, " (%s:%d)", r->file, r->source_line);
	text_add(t, ", CTA %u,%u,%u warp %u", r->cta[0], r->cta[1], r->cta[2], r->warp);
	if (r->lane >= 0)
		text_add(t, " lane %d", r->lane);
	text_add(t, ": %s", r->text);
	if (r->count > 1)
		text_add(t, " (%u times)", r->count);
}

/* Errors, or notes; where errors are, they are what is to be read. */
static void reports_add(Text *t, const SimResult *r, bool notes)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->reports[i].note == notes)
			place_add(t, &r->reports[i]);
}

static dsl_status result_status(const SimDevice *s, const SimResult *r)
{
	Text t = {0};
	reports_add(&t, r, !r->errors);
	if (r->errors >= reports_most(&s->opt))
		text_add(&t, "\nthe launch was stopped after %u errors (reports=)", r->errors);
	else if (r->times >= SIM_TIMES)
		text_add(&t, "\nthe launch was stopped after %d times that an error was seen",
			 SIM_TIMES);
	dsl_status st = detail_fail(r->errors ? DSL_ERR_SIM : DSL_OK, "%s", t.at ? t.at : "");
	text_free(&t);
	return st;
}

static dsl_status run(SimDevice *s, const SimLaunch *l)
{
	SimResult result;
	char why[640];
	pthread_mutex_lock(&s->run);
	bool ok = sim_run(s->memory, l, &s->opt, &result, why, sizeof why);
	pthread_mutex_unlock(&s->run);
	dsl_status st = ok ? result_status(s, &result)
			   : detail_fail(result.no_trace ? DSL_ERR_FILE : DSL_ERR_RESOURCES,
					 "%s: %s", l->kernel, why);
	sim_result_free(&result);
	return st;
}

static SimElem map_elem(Elem e)
{
	static const SimElem of[EL_COUNT] = {
#define ELEM(id, name, also, bits, cls, number, mantissa, exponent, tma, sim, ...) \
	[EL_##id] = SIM_##sim,
#include "runtime/elems.def"
	};
	return of[e];
}

static const char *map_encode(Elem e, const dsl_map *m, void *out)
{
	SimMap s = {.base = m->base, .rank = m->rank, .elem = map_elem(e), .swizzle = m->swizzle};
	for (int i = 0; i < KD_MAX_RANK; i++) {
		s.dims[i] = m->dims[i];
		s.box[i] = m->box[i];
	}
	memcpy(s.strides, m->strides, sizeof s.strides);
	return sim_map_encode(&s, out);
}

static const char *desc_map(const Launch *l, int i, void *out)
{
	dsl_map m = launch_map(l, i);
	return map_encode(l->plan->k->maps[i].elem, &m, out);
}

static dsl_status param_put(const Launch *l, int i, unsigned char *at, uint32_t size)
{
	const KDesc *k = l->plan->k;
	const KParam *p = &k->params[i];
	if (p->kind == KP_TMAP && !l->made[p->index])
		return DSL_OK;
	if (p->kind == KP_TMAP) {
		const char *wrong =
			size == KD_MAP_BYTES ? desc_map(l, p->index, at) : "it needs 128 bytes";
		return wrong ? detail_fail(DSL_ERR_TENSOR_MAP, "tensor %s of kernel %s: %s",
					   k->args[k->maps[p->index].arg].name, k->name, wrong)
			     : DSL_OK;
	}
	memcpy(at, launch_param(l, p), size < sizeof(uint64_t) ? size : sizeof(uint64_t));
	return DSL_OK;
}

/* From the first byte of a tensor to its last. */
static SimRange range_of_map(const Launch *l, int i)
{
	dsl_map m = launch_map(l, i);
	return (SimRange){m.base, map_span(l->plan->k->maps[i].elem, &m)};
}

static SimRange range_of_arg(const Launch *l, int arg)
{
	const KArg *a = &l->plan->k->args[arg];
	uint64_t bits = (uint64_t)elem_rows[a->elem].bits, span = l->empty[arg] ? 0 : bits;
	for (int d = 0; d < a->rank; d++) {
		int64_t n = 0, by = 0;
		expr_eval(l->plan->shape[arg][d], l->env, &n);
		expr_eval(l->plan->stride[arg][d], l->env, &by);
		span += n ? (uint64_t)(n - 1) * (uint64_t)by * bits : 0;
	}
	return (SimRange){l->value[arg], (span + 7) / 8};
}

/* Where the kernel reads what is constant: through maps, or by address. */
static uint32_t constants_of(const Launch *l, SimRange *out)
{
	const KDesc *k = l->plan->k;
	uint32_t n = 0;
	for (int i = 0; i < k->nmaps; i++)
		if (k->args[k->maps[i].arg].constant)
			out[n++] = range_of_map(l, i);
	for (int i = 0; i < k->nparams; i++)
		if (k->params[i].kind == KP_PTR && k->args[k->params[i].index].constant)
			out[n++] = range_of_arg(l, k->params[i].index);
	return n;
}

/* Through which CTAs tell each other what they hold. */
static uint32_t works_of(const Launch *l, SimRange *out)
{
	for (int i = 0; i < l->plan->k->nworks; i++) {
		int64_t bytes = 0;
		expr_eval(l->plan->works[i], l->env, &bytes);
		out[i] = (SimRange){l->works[i], (uint64_t)bytes};
	}
	return (uint32_t)l->plan->k->nworks;
}

static void shape_take(SimLaunch *s, const dsl_raw *raw, const uint32_t *grid)
{
	memcpy(s->grid, grid, sizeof s->grid);
	memcpy(s->block, raw->block, sizeof s->block);
	memcpy(s->cluster, raw->cluster, sizeof s->cluster);
	s->dynamic_bytes = raw->smem;
}

static dsl_status sim_launch(dsl_device *dev, const Launch *l)
{
	SimRange constants[KD_MAX_MAPS + KD_MAX_PARAMS], works[KD_MAX_WORKS];
	_Alignas(64) unsigned char params[4096] = {0};
	const KDesc *k = l->plan->k;
	const dsl_module *mod = l->plan->function;
	SimArea areas[KD_MAX_SMEM];
	SimLaunch s = {.module = mod->handle,
		       .kernel = k->symbol,
		       .params = params,
		       .areas = areas,
		       .entry_regs = (uint32_t)k->entry_regs,
		       .nareas = (uint32_t)k->nsmem,
		       .dependent = l->pdl,
		       .constants = constants,
		       .nconstants = constants_of(l, constants),
		       .works = works,
		       .nworks = works_of(l, works)};
	dsl_raw shape = kernel_shape(k);
	shape_take(&s, &shape, l->grid);
	if (sim_param_count(s.module, k->symbol) != (uint32_t)k->nparams)
		return detail_fail(DSL_ERR_MANIFEST,
				   "kernel %s: the PTX takes %u parameters, the manifest %d",
				   k->name, sim_param_count(s.module, k->symbol), k->nparams);
	for (int i = 0; i < k->nsmem; i++)
		areas[i] =
			(SimArea){k->smem_map[i].name, (uint32_t)k->smem_map[i].offset,
				  (uint32_t)k->smem_map[i].bytes, (uint32_t)k->smem_map[i].slots};
	for (int i = 0; i < k->nparams; i++) {
		uint32_t at, size;
		sim_param(s.module, k->symbol, (uint32_t)i, &at, &size);
		if (at + size > sizeof params)
			return detail_fail(DSL_ERR_RESOURCES, "kernel %s: too many parameters",
					   k->name);
		dsl_status st = param_put(l, i, params + at, size);
		if (st)
			return st;
		s.param_bytes = at + size;
	}
	return run(sim_of(dev), &s);
}

static dsl_status sim_ready(dsl_device *dev, dsl_module *mod, const char *kernel)
{
	(void)dev;
	return sim_kernel_find(mod->handle, kernel)
		       ? DSL_OK
		       : detail_fail(DSL_ERR_KERNEL_NAME, "the module has no entry %.80s", kernel);
}

static dsl_status sim_launch_raw(dsl_device *dev, dsl_module *mod, const char *kernel,
				 const dsl_raw *raw, bool pdl)
{
	SimLaunch s = {.module = mod->handle,
		       .kernel = kernel,
		       .dependent = pdl,
		       .params = raw->params,
		       .param_bytes = raw->param_bytes};
	dsl_status st = sim_ready(dev, mod, kernel);
	if (st)
		return st;
	shape_take(&s, raw, raw->grid);
	return run(sim_of(dev), &s);
}

static dsl_status sim_variable(dsl_device *dev, dsl_module *mod, const char *name, dsl_addr *addr,
			       size_t *size)
{
	(void)dev;
	return sim_global(mod->handle, name, addr, size)
		       ? DSL_OK
		       : detail_fail(DSL_ERR_GLOBAL_NAME, "the module has no variable %.80s", name);
}

static dsl_status sim_map(dsl_device *dev, const dsl_map *m, void *out)
{
	Elem e;
	(void)dev;
	if (!elem_find(m->elem, &e))
		return detail_fail(DSL_ERR_TENSOR_MAP, "no tensor has elements of type %.20s",
				   m->elem);
	const char *wrong = map_encode(e, m, out);
	return wrong ? detail_fail(DSL_ERR_TENSOR_MAP, "%s", wrong) : DSL_OK;
}

static const DevOps sim_ops = {
#define DEV_OP(type, name, params) .name = sim_##name,
#include "runtime/device_ops.def"
};

/* ------------------------------------------------------------------ options */
static bool option_number(const char *v, uint64_t most, uint64_t *out)
{
	char *end;
	*out = strtoull(v, &end, 0);
	return *v >= '0' && *v <= '9' && !*end && *out <= most;
}

static bool option_set(SimDevice *s, const char *key, const char *value)
{
	uint64_t n = 0;
	if (strcmp(key, "checks") == 0)
		return sim_checks_parse(value, &s->opt.checks);
	if (strcmp(key, "trace") == 0) {
		snprintf(s->trace, sizeof s->trace, "%s", value);
		s->opt.trace = s->trace;
		return strlen(value) < sizeof s->trace;
	}
	if (!option_number(value, UINT64_MAX, &n))
		return false;
	if (strcmp(key, "seed") == 0)
		s->opt.seed = n;
	else if (strcmp(key, "starts") == 0)
		s->opt.starts = n;
	else if (strcmp(key, "steps") == 0)
		s->opt.max_steps = n;
	else if (strcmp(key, "threads") == 0 && n <= 64)
		s->opt.threads = (uint32_t)n;
	else if (strcmp(key, "resident") == 0 && n <= 4096)
		s->opt.resident = (uint32_t)n;
	else if (strcmp(key, "reports") == 0 && n <= 1000)
		s->opt.max_reports = (uint32_t)n;
	else if (strcmp(key, "sms") == 0 && n && n <= 1024)
		s->base.sms = (int)n;
	else
		return false;
	return true;
}

void sim_watch(dsl_device *dev, SimWatch *watch, void *user)
{
	sim_of(dev)->opt.watch = watch;
	sim_of(dev)->opt.watcher = user;
}

/* "seed=7,checks=all,-races": a word without '=' continues the list before it. from: where the user
 * wrote it, "sim" or "DSL_SIM". */
static dsl_status options_read(SimDevice *s, const char *from, const char *text)
{
	char option[272], *value;
	for (size_t n; *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		while (text[n] && !memchr(text + n + 1, '=', strcspn(text + n + 1, ",")) &&
		       text[n + 1])
			n += 1 + strcspn(text + n + 1, ",");
		snprintf(option, sizeof option, "%.*s", (int)n, text);
		if ((value = strchr(option, '=')))
			*value++ = 0;
		if (n >= sizeof option || !value || !option_set(s, option, value))
			return detail_fail(
				DSL_ERR_SIM_OPTION,
				"%s: \"%.*s\": options are seed=, starts= and steps= with "
				"a number, threads=0..64, resident=0..4096, "
				"reports=0..1000, sms=1..1024, trace=FILE, and checks= "
				"with all, none"
#define CHECK(id, bit, word, help) ", " word
#include "sim/checks.def"
				"; -word turns one off",
				from, (int)(n < 60 ? n : 60), text);
	}
	return DSL_OK;
}

dsl_status sim_open(const char *options, dsl_device **out)
{
	SimDevice *s = calloc(1, sizeof *s);
	const char *env = getenv("DSL_SIM");
	if (!s || !(s->memory = sim_memory_new())) {
		free(s);
		return detail_fail(DSL_ERR_MEMORY, "no memory for the simulator");
	}
	s->opt.checks = CHECK_ALL;
	s->base = (dsl_device){.ops = &sim_ops,
			       .name = "Hopper simulator",
			       .arch = "sm_90",
			       .any_target = true,
			       .cc_major = 9,
			       .sms = 132,
			       .driver = 13000};
	pthread_mutex_init(&s->base.lock, NULL);
	pthread_mutex_init(&s->run, NULL);
	dsl_status st = env ? options_read(s, "DSL_SIM", env) : DSL_OK;
	if (!st)
		st = options_read(s, "sim", options);
	if (st) {
		pthread_mutex_destroy(&s->base.lock);
		sim_close(&s->base);
		return st;
	}
	s->opt.sms = (uint32_t)s->base.sms;
	*out = &s->base;
	return DSL_OK;
}
