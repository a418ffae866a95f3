/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* simulate.c - a call with tensors of the host: copies in, a launch on the simulator, copies out.
 * Tensors that overlap on the host are parts of one copy, so that they overlap there as well.
 *   a = x[:, :64], d = x[:, 64:]  ->  one copy of x; a at its beginning, d 64 elements further on
 */
#include "py.h"

/* The host's bytes that a tensor lies in, with all that overlap it, and their copy. */
typedef struct {
	uintptr_t from, to; /* alike: none */
	dsl_addr at;
} Storage;

static size_t span(const TensorView *v)
{
	int64_t last = 0, dense = 1;
	for (int d = v->rank - 1; d >= 0; d--) {
		if (v->extent[d] == 0)
			return 0;
		last += (v->extent[d] - 1) * (v->stride ? v->stride[d] : dense);
		dense *= v->extent[d];
	}
	return last < 0 ? 0 : (size_t)elem_span(v->elem, last + 1);
}

static bool is_same(const Storage *a, const Storage *b)
{
	return a->from == b->from && a->to == b->to;
}

/* Of two that overlap and differ, both become their union. */
static bool join(Storage *a, Storage *b)
{
	if (a->from >= b->to || b->from >= a->to || is_same(a, b))
		return false;
	a->from = b->from = a->from < b->from ? a->from : b->from;
	a->to = b->to = a->to > b->to ? a->to : b->to;
	return true;
}

static void storages_find(const KDesc *k, const TensorCall *c, Storage *s)
{
	for (int i = 0; i < k->nargs; i++) {
		uintptr_t at = k->args[i].kind == KA_TENSOR ? c->view[i].base : 0;
		s[i] = (Storage){.from = at, .to = at ? at + span(&c->view[i]) : 0};
	}
	for (int i = 0; i < k->nargs; i++)
		for (int j = 0; j < i; j++)
			if (join(&s[i], &s[j]))
				i = j = 0; /* once more: it may overlap others now */
}

/* The first of those that share a storage makes the copy. */
static dsl_status copies_in(dsl_device *dev, int n, TensorCall *c, Storage *s)
{
	dsl_status st = DSL_OK;
	for (int i = 0, first; i < n && !st; i++) {
		size_t size = s[i].to - s[i].from;
		for (first = 0; !is_same(&s[first], &s[i]);)
			first++;
		if (first == i && size)
			st = dsl_mem_alloc(dev, size, &s[i].at);
		if (first == i && size && !st)
			st = dsl_copy_in(dev, s[i].at, (void *)s[i].from, size);
		if (size)
			c->args[i].v.ptr = s[first].at + (c->view[i].base - s[i].from);
	}
	return st;
}

dsl_status simulate(dsl_device *dev, const KDesc *k, TensorCall *c, const SpaceLaunch *l)
{
	Storage s[KD_MAX_ARGS];
	dsl_pool *pool = NULL;
	storages_find(k, c, s);
	dsl_status st = copies_in(dev, k->nargs, c, s);
	if (!st)
		st = dsl_pool_create(dev, NULL, &pool);
	if (!st)
		st = dsl_pool_launch(pool, l->mod, l->kernel, l->args, l->n, l->opts);
	if (!st)
		st = dsl_sync(dev);
	dsl_pool_destroy(pool);
	for (int i = 0; i < k->nargs && !st; i++)
		if (k->args[i].dir != KD_IN && s[i].from != s[i].to)
			st = dsl_copy_out(dev, (void *)(uintptr_t)c->view[i].base, c->args[i].v.ptr,
					  span(&c->view[i]));
	for (int i = 0; i < k->nargs; i++)
		dsl_mem_free(dev, s[i].at);
	return st;
}
