/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pool.c - workspace that the launches of one stream share.
 *   a launch that needs 40 MB, one of 30, one of 50  ->  blocks of 40 and 80 MB
 * A block once given is kept: a captured graph may have its address. Each is twice the one before,
 * so that all of them are less than twice the last. */
#include "runtime/rt.h"

#include <stdlib.h>

enum { BLOCKS = 48, ROUND = 1 << 16 };

struct dsl_pool {
	dsl_device *dev;
	dsl_stream stream;
	dsl_addr block[BLOCKS]; /* the last is in use */
	size_t size;            /* its bytes */
	dsl_addr semaphores;    /* 0: no launch needed them */
	int n;
};

dsl_status dsl_pool_create(dsl_device *dev, dsl_stream stream, dsl_pool **out)
{
	if (!dev || !out)
		return detail_null("dsl_pool_create", !dev ? "dev" : "out");
	dsl_status st = repack_load(dev); /* not while a stream is captured */
	if (st)
		return st;
	dsl_pool *p = calloc(1, sizeof *p);
	if (!p)
		return detail_fail(DSL_ERR_MEMORY, "no memory for a pool");
	p->dev = dev;
	p->stream = stream;
	*out = p;
	return DSL_OK;
}

static dsl_status is_capturing(const dsl_pool *p, bool *capturing)
{
	*capturing = false;
	return p->dev->ops->stream_capturing(p->dev, p->stream, capturing);
}

static dsl_status grow(dsl_pool *p, size_t bytes)
{
	bool capturing;
	dsl_status st = is_capturing(p, &capturing);
	if (st)
		return st;
	if (capturing)
		return detail_fail(DSL_ERR_WORKSPACE,
				   "the pool has %zu bytes, %zu are needed, and it does not grow "
				   "while its stream is captured: launch once before, or reserve "
				   "them",
				   p->size, bytes);
	size_t want = bytes > 2 * p->size ? bytes : 2 * p->size;
	if (p->n == BLOCKS || want > SIZE_MAX - ROUND)
		return detail_fail(DSL_ERR_DEVICE_MEMORY, "a pool has no %zu bytes", bytes);
	want = (want + ROUND - 1) / ROUND * ROUND;
	st = dsl_mem_alloc(p->dev, want, &p->block[p->n]);
	if (!st) {
		p->n++;
		p->size = want;
	}
	return st;
}

dsl_status dsl_pool_reserve(dsl_pool *pool, size_t bytes)
{
	if (!pool)
		return detail_null("dsl_pool_reserve", "pool");
	return bytes > pool->size ? grow(pool, bytes) : DSL_OK;
}

static dsl_status get_semaphores(dsl_pool *p)
{
	bool capturing;
	dsl_addr at;
	dsl_status st = is_capturing(p, &capturing);
	if (st)
		return st;
	if (capturing)
		return detail_fail(DSL_ERR_SEMAPHORES,
				   "the pool has no semaphores, and gets none while its stream is "
				   "captured: launch once before");
	st = dsl_mem_alloc(p->dev, DSL_SEMAPHORES, &at);
	if (st)
		return st;
	st = dsl_mem_set(p->dev, at, 0, DSL_SEMAPHORES);
	if (st)
		dsl_mem_free(p->dev, at);
	else
		p->semaphores = at;
	return st;
}

static dsl_status launch_within(dsl_pool *pool, dsl_module *mod, const char *kernel,
				const dsl_arg *args, size_t n, dsl_launch_opts opts)
{
	opts.size = sizeof opts;
	opts.workspace = pool->n ? pool->block[pool->n - 1] : 0;
	opts.workspace_size = pool->size;
	opts.semaphores = pool->semaphores;
	opts.semaphores_size = pool->semaphores ? DSL_SEMAPHORES : 0;
	return dsl_launch(mod, kernel, args, n, pool->stream, &opts);
}

/* First with what there is: most launches need nothing, or what the one before did. */
dsl_status dsl_pool_launch(dsl_pool *pool, dsl_module *mod, const char *kernel, const dsl_arg *args,
			   size_t n, const dsl_launch_opts *opts)
{
	dsl_launch_opts with = {.size = sizeof with};
	size_t bytes;
	if (!pool)
		return detail_null("dsl_pool_launch", "pool");
	dsl_status st = opts ? launch_opts_read(opts, &with) : DSL_OK;
	if (!st)
		st = launch_within(pool, mod, kernel, args, n, with);
	if (st == DSL_ERR_WORKSPACE) {
		st = dsl_workspace_size(mod, kernel, args, n, &bytes);
		if (!st)
			st = dsl_pool_reserve(pool, bytes);
		if (!st)
			st = launch_within(pool, mod, kernel, args, n, with);
	}
	if (st == DSL_ERR_SEMAPHORES && !pool->semaphores) {
		st = get_semaphores(pool);
		if (!st)
			st = launch_within(pool, mod, kernel, args, n, with);
	}
	return st;
}

dsl_status dsl_pool_destroy(dsl_pool *pool)
{
	dsl_status st = DSL_OK;
	if (!pool)
		return DSL_OK;
	if (pool->semaphores)
		st = dsl_mem_free(pool->dev, pool->semaphores);
	for (int i = 0; i < pool->n; i++) {
		dsl_status one = dsl_mem_free(pool->dev, pool->block[i]);
		st = st ? st : one;
	}
	free(pool);
	return st;
}
