/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rig.c - buffers, graphs and events on a GPU. The buffers of a problem are there several times: as
 * many sets as hold four times the L2 in their inputs. Launches take them in turn, so that when a
 * set comes round its inputs have left the cache.
 *     L2 of 50 MiB, inputs of 67 MB  ->  5 sets; a graph of 20 launches is four turns */
#include "driver/bench/machine.h"

#include <math.h>
#include <time.h>

enum { POISON = 0xff, ALIGN = 256, SETS_LO = 2, SETS_HI = 4096, TIMES_L2 = 4 };
static const double batch_us[REGIMES] = {4000, 2000};
static const struct timespec rest = {0, 200000000};

/* ------------------------------------------------------------------ buffers */
static size_t up(size_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static void lay_out(Rig *r)
{
	for (int i = 0; i < r->p->nt; i++) {
		const Tensor *t = &r->p->t[i];
		r->offset[i] = r->set_bytes;
		r->set_bytes += t->is_scalar ? 0 : up(t->bytes);
		r->read_bytes += t->is_scalar || t->is_out ? 0 : t->bytes;
	}
}

/* Within nine tenths of the memory that is free. */
static dsl_status choose_sets(Rig *r)
{
	size_t room = r->facts.free_bytes / 10 * 9 / (r->set_bytes ? r->set_bytes : 1);
	size_t n = r->read_bytes ? TIMES_L2 * r->facts.l2_bytes / r->read_bytes + 1 : SETS_LO;
	n = n < SETS_LO ? SETS_LO : n > SETS_HI ? SETS_HI : n;
	r->sets = (int)(n < room ? n : room);
	return r->sets ? DSL_OK : DSL_ERR_DEVICE_MEMORY;
}

dsl_addr rig_tensor(const Rig *r, int set, int tensor)
{
	return r->slab + (size_t)set * r->set_bytes + r->offset[tensor];
}

static dsl_status fill(Rig *r)
{
	dsl_status st = DSL_OK;
	for (int set = 0; set < r->sets; set++)
		for (int i = 0; i < r->p->nt && !st; i++) {
			const Tensor *t = &r->p->t[i];
			if (!t->is_scalar && !t->is_out && t->bytes)
				st = dsl_copy_in(r->dev, rig_tensor(r, set, i), t->host, t->bytes);
		}
	return st;
}

dsl_status rig_open(Rig *r, dsl_device *dev, Problem *p)
{
	*r = (Rig){.p = p, .dev = dev};
	lay_out(r);
	dsl_status st = gpu_facts(dev, &r->facts);
	if (!st)
		st = choose_sets(r);
	if (!st)
		st = dsl_stream_create(dev, &r->stream);
	if (!st)
		st = dsl_pool_create(dev, r->stream, &r->pool);
	if (!st)
		st = dsl_event_create(dev, &r->from);
	if (!st)
		st = dsl_event_create(dev, &r->to);
	if (!st)
		st = dsl_mem_alloc(dev, (size_t)r->sets * r->set_bytes, &r->slab);
	nvml_open(&r->nvml, r->facts.bus);
	return st ? st : fill(r);
}

void rig_close(Rig *r)
{
	if (!r->dev)
		return;
	nvml_close(&r->nvml);
	dsl_pool_destroy(r->pool);
	dsl_event_destroy(r->from);
	dsl_event_destroy(r->to);
	dsl_stream_destroy(r->dev, r->stream);
	dsl_mem_free(r->dev, r->slab);
	*r = (Rig){0};
}

/* ------------------------------------------------------------------ one launch */
dsl_status runner_ours(const Runner *x, const Rig *r, int set)
{
	dsl_arg args[64];
	dsl_launch_opts opts = {.size = sizeof opts, .sms = r->p->sms};
	int n = problem_args(r->p, args);
	for (int i = 0; i < r->p->nt; i++)
		if (!r->p->t[i].is_scalar)
			args[i].v.ptr = rig_tensor(r, set, i);
	return dsl_pool_launch(r->pool, x->self, x->kernel, args, (size_t)n, &opts);
}

static dsl_status poison(Rig *r)
{
	dsl_status st = DSL_OK;
	for (int i = 0; i < r->p->nt && !st; i++)
		if (r->p->t[i].is_kept && r->p->t[i].bytes)
			st = dsl_copy_in(r->dev, rig_tensor(r, 0, i), r->p->t[i].start,
					 r->p->t[i].bytes);
		else if (r->p->t[i].is_out && r->p->t[i].bytes)
			st = dsl_mem_set(r->dev, rig_tensor(r, 0, i), POISON, r->p->t[i].bytes);
	return st;
}

static dsl_status fetch(Rig *r)
{
	dsl_status st = dsl_stream_sync(r->dev, r->stream);
	for (int i = 0; i < r->p->nt && !st; i++)
		if (r->p->t[i].is_out && r->p->t[i].bytes)
			st = dsl_copy_out(r->dev, r->p->t[i].host, rig_tensor(r, 0, i),
					  r->p->t[i].bytes);
	return st;
}

dsl_status rig_first(Rig *r, const Runner *x)
{
	dsl_status st = poison(r);
	if (!st)
		st = x->launch(x, r, 0);
	return st ? st : fetch(r);
}

dsl_status rig_after(Rig *r, const Runner *x)
{
	dsl_status st = poison(r);
	if (!st)
		st = gpu_replay(r->dev, x->graph[STEADY], r->stream);
	return st ? st : fetch(r);
}

/* ------------------------------------------------------------------ graphs */
static dsl_status capture(Rig *r, Runner *x, Regime regime, int turns)
{
	dsl_status st = gpu_capture(r->dev, r->stream), ended;
	if (st)
		return st;
	for (int i = 0; i < turns * r->sets && !st; i++)
		st = x->launch(x, r, i % r->sets);
	ended = gpu_captured(r->dev, r->stream, &x->graph[regime]);
	x->launches[regime] = turns * r->sets;
	return st ? st : ended;
}

static dsl_status elapsed(Rig *r, const Runner *x, Regime regime, Sample *out)
{
	float ms = 0;
	dsl_status st = dsl_event_record(r->from, r->stream);
	if (!st)
		st = gpu_replay(r->dev, x->graph[regime], r->stream);
	if (!st)
		st = dsl_event_record(r->to, r->stream);
	if (st)
		return st;
	nvml_read(&r->nvml, out); /* while it runs */
	st = dsl_event_elapsed(r->from, r->to, &ms);
	out->us = (double)ms * 1e3 / x->launches[regime];
	return st;
}

/* A turn of all sets says how many make a sample. */
dsl_status rig_graphs(Rig *r, Runner *x)
{
	Sample s = {0};
	dsl_status st = capture(r, x, STEADY, 1);
	for (int i = 0; i < 2 && !st; i++)
		st = elapsed(r, x, STEADY, &s);
	if (!st)
		st = gpu_forget(r->dev, x->graph[STEADY]);
	x->graph[STEADY] = st ? x->graph[STEADY] : NULL;
	for (int i = 0; i < REGIMES && !st; i++) {
		double turns = s.us > 0 ? round(batch_us[i] / (s.us * r->sets)) : 1;
		st = capture(r, x, (Regime)i, turns < 1 ? 1 : turns > 1000 ? 1000 : (int)turns);
	}
	return st;
}

dsl_status rig_forget(Rig *r, Runner *x)
{
	dsl_status st = DSL_OK;
	for (int i = 0; i < REGIMES; i++) {
		dsl_status s = gpu_forget(r->dev, x->graph[i]);
		st = st ? st : s;
		x->graph[i] = NULL;
	}
	return st;
}

dsl_status rig_sample(Rig *r, const Runner *x, Regime regime, Sample *out)
{
	*out = (Sample){0};
	if (regime == BURST)
		nanosleep(&rest, NULL);
	return elapsed(r, x, regime, out);
}
