/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* repack.c - copies that TMA can take of tensors that it cannot, made by a kernel of the runtime's
 * own (repack.ptx) before the kernel that reads them. Rows of a copy begin at multiples of 128:
 *   4095 rows of 8198 bytes, 8198 apart, at 0x..06  ->  4095 rows, 8320 apart, in the workspace
 * A batch that stands still is copied once. The kernel is the runtime's, not each module's: it
 * knows bytes, rows and strides alone, so modules and the proofs of their kernels stay as they are,
 * and a copy differs from its tensor only in a tensor map, which the launcher fills in anyway. */
#include "runtime/rt.h"

#include <string.h>

enum { PITCH = 128, UNIT = 16, THREADS = 256, CTAS_PER_SM = 5, ROW_MODES = 4, JOBS = 4 };
static const uint64_t most_rows = UINT64_C(1) << 31, most_bytes = UINT64_C(1) << 40;

#define ENTRY "dsl_repack"
#define LAST  "dsl_packed"

/* As repack.ptx has it. */
typedef struct {
	uint64_t src, dst, end, len, pitch, total, stride[ROW_MODES];
	uint32_t units, step_units;
	struct {
		uint32_t extent, step;
	} mode[ROW_MODES - 1];
	uint32_t step_last, step_rows, first, ctas;
} Job;
typedef struct {
	Job job[JOBS];
	uint32_t early; /* 1: the launch after may begin at once; it waits for the copies itself */
} Params;
_Static_assert(sizeof(Job) == 128 && offsetof(Params, early) == 512, "repack.ptx");

/* ------------------------------------------------------------------ geometry */
static uint64_t row_bytes(const Copy *c)
{
	return c->from.dims[0] * (uint64_t)c->bits / 8;
}

/* Rows of the copy along mode d of the map: one where the tensor stands still. */
static uint64_t rows_along(const Copy *c, int d)
{
	return c->from.strides[d - 1] ? c->from.dims[d] : 1;
}

static dsl_status size_fail(const Why *w, const Launch *l, const Copy *c)
{
	return why_fail(w, DSL_ERR_EXTENT,
			"tensor %s: TMA cannot take it where it lies, and a copy with padded rows "
			"would have 2^31 rows or 2^40 bytes",
			l->plan->k->args[c->arg].name);
}

dsl_status copy_of(const Why *w, const Launch *l, int i, Copy *c, uint64_t *bytes)
{
	const KMap *m = &l->plan->k->maps[i];
	*c = (Copy){.from = l->maps[i],
		    .to = l->maps[i],
		    .arg = m->arg,
		    .rank = m->rank,
		    .bits = elem_rows[m->elem].bits};
	uint64_t step = (row_bytes(c) + PITCH - 1) / PITCH * PITCH, rows = 1;
	c->to.base = 0;
	for (int d = 1; d < m->rank; d++) {
		c->to.strides[d - 1] = c->from.strides[d - 1] ? step : 0;
		if (rows_along(c, d) >= most_rows / rows || step >= most_bytes / rows_along(c, d))
			return size_fail(w, l, c);
		rows *= rows_along(c, d);
		step *= rows_along(c, d);
	}
	*bytes = step;
	return DSL_OK;
}

dsl_status copy_add(const Why *w, Launch *l, int i)
{
	uint64_t bytes;
	for (int j = 0; j < l->ncopies; j++)
		if (l->copies[j].arg == l->plan->k->maps[i].arg) {
			l->copied[i] = j;
			return DSL_OK;
		}
	Copy *c = &l->copies[l->ncopies];
	dsl_status st = copy_of(w, l, i, c, &bytes);
	if (st)
		return st;
	c->to.base = l->workspace;
	l->workspace += bytes;
	l->copied[i] = l->ncopies++;
	return DSL_OK;
}

/* ------------------------------------------------------------------ the kernel */
dsl_status repack_load(dsl_device *dev)
{
	dsl_module *m = dev->repack;
	dsl_status st = DSL_OK;
	if (!m)
		st = dsl_module_load_data(dev, repack_ptx, strlen(repack_ptx), &m);
	if (!st)
		st = dev->ops->ready(dev, m, ENTRY);
	if (!st)
		st = dev->ops->ready(dev, m, LAST);
	if (!st)
		dev->repack = m;
	return st;
}

/* After the last byte of the tensor. */
static uint64_t end_of(const Copy *c)
{
	uint64_t end = c->from.base + row_bytes(c);
	for (int d = 1; d < c->rank; d++)
		end += (c->from.dims[d] - 1) * c->from.strides[d - 1];
	return end;
}

static void job_fill(Job *j, const Copy *c, dsl_addr workspace)
{
	uint64_t len = row_bytes(c), rows = 1;
	*j = (Job){.src = c->from.base,
		   .dst = workspace + c->to.base,
		   .end = end_of(c),
		   .len = len,
		   .pitch = (len + PITCH - 1) / PITCH * PITCH,
		   .units = (uint32_t)((len + UNIT - 1) / UNIT)};
	for (int d = 1; d <= ROW_MODES; d++) {
		uint64_t n = d < c->rank ? rows_along(c, d) : 1;
		j->stride[d - 1] = d < c->rank ? c->from.strides[d - 1] : 0;
		if (d < ROW_MODES)
			j->mode[d - 1].extent = (uint32_t)n;
		rows *= n;
	}
	j->total = rows * j->units;
}

/* How far a step of the grid moves each digit of a unit's number. */
static void job_steps(Job *j)
{
	uint64_t step = (uint64_t)j->ctas * THREADS;
	j->step_units = (uint32_t)(step % j->units);
	step /= j->units;
	j->step_rows = (uint32_t)step;
	for (int d = 0; d < ROW_MODES - 1; d++) {
		j->mode[d].step = (uint32_t)(step % j->mode[d].extent);
		step /= j->mode[d].extent;
	}
	j->step_last = (uint32_t)step;
}

/* As many CTAs as the device holds, shared out by units; each job has one, and none more than it
 * can use. */
static uint32_t jobs_share(const dsl_device *dev, Job *jobs, int n)
{
	uint64_t all = 0, held = (uint64_t)dev->sms * CTAS_PER_SM;
	uint32_t ctas = 0;
	for (int i = 0; i < n; i++)
		all += jobs[i].total;
	all = all ? all : 1; /* rows of nothing */
	for (int i = 0; i < n; i++) {
		uint64_t use = (jobs[i].total + THREADS - 1) / THREADS;
		uint64_t share = (uint64_t)((double)held * (double)jobs[i].total / (double)all);
		uint64_t mine = share < use ? share : use;
		jobs[i].first = ctas;
		jobs[i].ctas = (uint32_t)(mine ? mine : 1);
		ctas += jobs[i].ctas;
		job_steps(&jobs[i]);
	}
	return ctas;
}

/* Whether each thread copies two units, at most. */
static bool jobs_brief(const Job *jobs, int n)
{
	bool brief = true;
	for (int i = 0; i < n; i++)
		brief &= jobs[i].total <= 2 * (uint64_t)jobs[i].ctas * THREADS;
	return brief;
}

/* After copies that take long no launch begins early: it would gain a microsecond, and its CTAs
 * would lie on the SMs in the order in which these fall free, so that those that read the same
 * tiles are no neighbours (15 % of 8192^3 without clusters). */
static dsl_status jobs_launch(dsl_device *dev, Params *p, int n, dsl_stream stream, bool pdl)
{
	dsl_raw raw = {.size = sizeof raw,
		       .block = {THREADS, 1, 1},
		       .params = p,
		       .param_bytes = offsetof(Params, early) + sizeof p->early,
		       .stream = stream,
		       .pdl = pdl};
	raw.grid[0] = jobs_share(dev, p->job, n);
	raw.grid[1] = raw.grid[2] = 1;
	p->early &= jobs_brief(p->job, n);
	return dsl_launch_raw(dev->repack, ENTRY, &raw);
}

static dsl_status copies_launch(dsl_device *dev, const Launch *l, dsl_addr to, bool pdl, bool early)
{
	dsl_status st = DSL_OK;
	for (int first = 0; first < l->ncopies && !st; first += JOBS) {
		Params p = {.early = early};
		int n = l->ncopies - first < JOBS ? l->ncopies - first : JOBS;
		for (int i = 0; i < n; i++)
			job_fill(&p.job[i], &l->copies[first + i], to);
		st = jobs_launch(dev, &p, n, l->stream, pdl);
	}
	return st;
}

/* A launch that may begin early does so while the one ahead runs: that is the empty one, which
 * itself begins when the copies are complete. */
dsl_status pack_launch(dsl_device *dev, Launch *l, dsl_addr memory)
{
	dsl_raw last = {.size = sizeof last,
			.grid = {1, 1, 1},
			.block = {1, 1, 1},
			.stream = l->stream};
	dsl_status st = copies_launch(dev, l, memory, true, false);
	return st || !l->ncopies ? st : dsl_launch_raw(dev->repack, LAST, &last);
}

dsl_status repack_launch(dsl_device *dev, Launch *l, dsl_addr workspace, bool pdl)
{
	dsl_status st = copies_launch(dev, l, workspace, pdl, true);
	for (int i = 0; i < l->plan->k->nmaps && !st; i++)
		if (l->made[i] && l->copied[i] >= 0) {
			l->maps[i] = l->copies[l->copied[i]].to;
			l->maps[i].base += workspace;
		}
	return st;
}
