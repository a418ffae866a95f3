/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* module.c - PTX text becomes a module: parsed, its global and constant variables placed in the
 * device's memory, its kernels decoded.
 *   sim_load(memory, text, size, why, room)  ->  SimModule, or NULL and "line 7: unknown ..." */
#include "sim/decode.h"
#include "sim/machine.h"
#include "sim/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void value_put(SimModule *m, const PtxVar *v, const PtxOperand *o, u8 *at, u32 size)
{
	u64 bits = (u64)o->imm;
	s64 global;
	if (o->kind == PO_NAME) {
		if (!map_get(&m->global_names, o->name, &global) || size != 8)
			load_fail(&m->pool, v->line, "%s: the initialiser names %s", v->name,
				  o->name);
		bits += m->globals[global].addr;
	} else if (o->kind == PO_F64 && size == 4) {
		bits = num_bits32((f32)num_double(bits));
	}
	memcpy(at, &bits, size);
}

static void init_put(SimModule *m, const PtxVar *v, const PtxOperand *o, u8 *host, u64 *at, u64 end,
		     u32 size)
{
	for (; o; o = o->next) {
		if (o->kind == PO_VEC) {
			init_put(m, v, o->list, host, at, end, size);
			continue;
		}
		if (*at + size > end)
			load_fail(&m->pool, v->line, "%s: too many initialisers", v->name);
		value_put(m, v, o, host + *at, size);
		*at += size;
	}
}

static u32 element_size(const PtxVar *v)
{
	Type t = type_named(v->type + 1, strlen(v->type + 1));
	return t ? type_bytes[t] : 4;
}

static bool is_global(const PtxVar *v)
{
	return strcmp(v->space, ".global") == 0 || strcmp(v->space, ".const") == 0;
}

/* A variable of zeros in the device's memory. */
static u64 global_new(SimModule *m, int line, const char *name, u64 bytes)
{
	Pool *a = &m->pool;
	POOL_PUSH(a, m->globals, m->nglobals, m->globals_cap, (GlobalVar){0});
	GlobalVar *g = &m->globals[--m->nglobals];
	u64 addr = sim_alloc(m->memory, bytes ? bytes : 1);
	if (!addr)
		load_fail(a, line, "%s: no memory for %llu bytes", name, (unsigned long long)bytes);
	*g = (GlobalVar){name, addr, bytes};
	m->nglobals++;
	memset(sim_host(m->memory, addr, bytes), 0, bytes);
	return addr;
}

/* What the driver hands to cooperative launches: the size of it, a word for the barrier. */
static void workspace_place(SimModule *m)
{
	const u32 size = 8;
	for (const PtxFunc *f = m->ptx.funcs; f && !m->workspace; f = f->next)
		if (func_names(f, "%envreg1") || func_names(f, "%envreg2"))
			m->workspace = global_new(m, f->line, "%envreg1", size);
	if (m->workspace)
		memcpy(sim_host(m->memory, m->workspace, size), &size, sizeof size);
}

static void globals_place(SimModule *m)
{
	Pool *a = &m->pool;
	workspace_place(m);
	for (const PtxVar *v = m->ptx.vars; v; v = v->next) {
		if (!is_global(v))
			continue;
		global_new(m, v->line, v->name, var_bytes(a, v));
		map_put(a, &m->global_names, v->name, m->nglobals - 1);
	}
	for (const PtxVar *v = m->ptx.vars; v; v = v->next) {
		s64 at;
		u64 filled = 0;
		if (!is_global(v) || !v->init || !map_get(&m->global_names, v->name, &at))
			continue;
		const GlobalVar *g = &m->globals[at];
		init_put(m, v, v->init, sim_host(m->memory, g->addr, g->size), &filled, g->size,
			 element_size(v));
	}
}

static bool module_build(SimModule *m, const char *ptx, size_t size)
{
	if (setjmp(m->pool.fail))
		return false;
	ptx_parse(&m->ptx, ptx, strnlen(ptx, size));
	globals_place(m);
	module_decode(m);
	return true;
}

struct SimModule *sim_load(struct Memory *memory, const char *ptx, size_t size, char *why,
			   size_t room)
{
	SimModule *m = calloc(1, sizeof *m);
	if (!m) {
		snprintf(why, room, "no memory for a module");
		return NULL;
	}
	m->memory = memory;
	m->ptx.pool = &m->pool;
	if (module_build(m, ptx, size))
		return m;
	if (m->pool.line)
		snprintf(why, room, "line %d: %s", m->pool.line, m->pool.error);
	else
		snprintf(why, room, "%s", m->pool.error);
	sim_unload(m);
	return NULL;
}

void sim_unload(struct SimModule *m)
{
	if (!m)
		return;
	for (u32 i = 0; i < m->nglobals; i++)
		sim_release(m->memory, m->globals[i].addr);
	pool_free(&m->pool);
	free(m);
}

static const Code *code_find(const SimModule *m, const char *name)
{
	for (u32 i = 0; i < m->ncodes; i++)
		if (strcmp(m->codes[i]->name, name) == 0)
			return m->codes[i];
	return NULL;
}

const char *sim_kernel_name(const struct SimModule *m, u32 i)
{
	return i < m->ncodes ? m->codes[i]->name : NULL;
}

bool sim_kernel_find(const struct SimModule *m, const char *name)
{
	return code_find(m, name) != NULL;
}

const char *sim_kernel_lacks(const struct SimModule *m, const char *kernel, const char **what,
			     int *line)
{
	const Code *c = code_find(m, kernel);
	for (u32 i = 0; c && i < c->nins; i++) {
		if (!c->ins[i].lacks)
			continue;
		*what = c->ins[i].lacks;
		*line = c->ins[i].line;
		return c->ins[i].text;
	}
	return NULL;
}

bool sim_global(const struct SimModule *m, const char *name, u64 *addr, u64 *size)
{
	s64 at;
	if (!map_get(&m->global_names, name, &at))
		return false;
	*addr = m->globals[at].addr;
	*size = m->globals[at].size;
	return true;
}

u32 sim_param_count(const struct SimModule *m, const char *kernel)
{
	const Code *c = code_find(m, kernel);
	return c ? c->nparams : 0;
}

void sim_param(const struct SimModule *m, const char *kernel, u32 i, u32 *offset, u32 *size)
{
	const Code *c = code_find(m, kernel);
	*offset = c && i < c->nparams ? c->params[i].offset : 0;
	*size = c && i < c->nparams ? c->params[i].size : 0;
}

void sim_kernel_bounds(const struct SimModule *m, const char *kernel, u32 block[3], u32 cluster[3])
{
	const Code *c = code_find(m, kernel);
	for (int i = 0; i < 3; i++) {
		block[i] = c ? c->block[i] : 0;
		cluster[i] = c && c->has_cluster ? c->cluster[i] : 0;
	}
}

/* What ptxas gives a thread where nothing says less: the register file over the CTA's threads. */
static u32 default_regs(const Code *c, u32 threads)
{
	u32 bound = c->block[0] ? c->block[0] * c->block[1] * c->block[2] : threads;
	u32 ctas = c->minctas ? c->minctas : 1, warps = (bound + LANES - 1) / LANES;
	u32 regs = 65536 / (ctas * warps * LANES) & ~7u;
	regs = regs > 255 ? 255 : regs;
	return c->maxnreg && c->maxnreg < regs ? c->maxnreg : regs;
}

static bool refused(char *why, size_t room, const char *fmt, ...) SIM_PRINTF(3, 4);
static bool refused(char *why, size_t room, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why, room, fmt, ap);
	va_end(ap);
	return false;
}

static bool block_check(const SimLaunch *l, const Code *c, char *why, size_t room)
{
	u64 threads = (u64)l->block[0] * l->block[1] * l->block[2];
	u64 most = c->block[0] ? (u64)c->block[0] * c->block[1] * c->block[2] : 1024;
	if (!threads || threads > 1024 || l->block[2] > 64)
		return refused(why, room, "a block of %u x %u x %u threads: 1 to 1024 are possible",
			       l->block[0], l->block[1], l->block[2]);
	if (c->block_fixed ? threads != most : threads > most)
		return refused(why, room, "a block of %llu threads, the kernel says %llu",
			       (unsigned long long)threads, (unsigned long long)most);
	return true;
}

static bool shape_check(const SimLaunch *l, const Code *c, Job *j, char *why, size_t room)
{
	u32 *cluster = j->cluster;
	for (int i = 0; i < 3; i++) {
		u32 asked = l->cluster[i], fixed = c->has_cluster ? c->cluster[i] : 0;
		cluster[i] = asked ? asked : fixed ? fixed : 1;
		j->clustered |= asked || fixed;
		if (asked && fixed && asked != fixed)
			return refused(why, room,
				       "the kernel was compiled for clusters of %u x %u x %u",
				       c->cluster[0], c->cluster[1], c->cluster[2]);
		if (!l->grid[i] || l->grid[i] % cluster[i])
			return refused(why, room,
				       "grid component %d is %u, which is not a multiple of the "
				       "cluster's %u",
				       i, l->grid[i], cluster[i]);
	}
	if ((u64)cluster[0] * cluster[1] * cluster[2] > 16 || cluster[0] > 16 || cluster[1] > 16 ||
	    cluster[2] > 16)
		return refused(why, room, "a cluster has at most 16 CTAs");
	if ((u64)l->grid[0] * l->grid[1] * l->grid[2] > INT32_MAX)
		return refused(why, room, "the grid has too many CTAs");
	return true;
}

static bool job_prepare(Job *j, char *why, size_t room)
{
	const SimLaunch *l = j->l;
	const Code *c = code_find(l->module, l->kernel);
	if (!c)
		return refused(why, room, "the module has no kernel %.80s", l->kernel);
	j->code = c;
	if (!block_check(l, c, why, room) || !shape_check(l, c, j, why, room))
		return false;
	if (l->param_bytes < c->param_bytes)
		return refused(why, room, "%s takes %u bytes of parameters, %zu were given",
			       c->name, c->param_bytes, l->param_bytes);
	if ((u64)c->dynamic_offset - SMEM_BASE + l->dynamic_bytes > SMEM_LIMIT)
		return refused(
			why, room,
			"%u bytes of static and %u of dynamic shared memory: %d are possible",
			c->dynamic_offset - SMEM_BASE, l->dynamic_bytes, SMEM_LIMIT);
	u32 threads = l->block[0] * l->block[1] * l->block[2];
	j->entry_regs = l->entry_regs ? l->entry_regs : default_regs(c, threads);
	j->nclusters = l->grid[0] * l->grid[1] * l->grid[2] /
		       (j->cluster[0] * j->cluster[1] * j->cluster[2]);
	return true;
}

bool sim_run(struct Memory *m, const SimLaunch *l, const SimOptions *o, SimResult *result,
	     char *why, size_t room)
{
	SimOptions opt = *o;
	Job j = {.l = l, .m = l->module, .memory = m, .opt = &opt, .result = result};
	opt.sms = opt.sms ? opt.sms : 132;
	opt.checks |= opt.checks & CHECK_GLOBAL ? CHECK_RACE : 0;
	*result = (SimResult){0};
	if (!job_prepare(&j, why, room))
		return false;
	result->no_trace = o->trace && !(j.trace = trace_open(o->trace));
	if (result->no_trace)
		return refused(why, room, "%s cannot be written: %s", o->trace, strerror(errno));
	pthread_mutex_init(&j.lock, NULL);
	bool ok = job_run(&j);
	pthread_mutex_destroy(&j.lock);
	bool written = trace_close(j.trace);
	result->no_trace = ok && !written;
	if (result->no_trace)
		return refused(why, room, "%s cannot be written: %s", o->trace, strerror(errno));
	return ok ? true : refused(why, room, "no memory to simulate a cluster");
}
