/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pack.c - the copy of one input made once, for many launches to read.
 *   dsl_pack(mod, "gemm", "B", {B, N = 4096, K = 4099}, memory)  ->  the argument B, packed
 * Rows lie as those of a copy in a workspace, so the launch knows them from the sizes. */
#include "runtime/rt.h"

#include <string.h>

int pack_map(const KDesc *k, int arg)
{
	int map = -1;
	for (int i = 0; i < k->nparams; i++)
		if (k->params[i].kind == KP_PTR && k->params[i].index == arg)
			return -1;
	for (int i = 0; i < k->nmaps; i++)
		if (k->maps[i].arg == arg)
			map = k->maps[i].copy ? i : -1;
	return map;
}

/* A tensor that a copy can stand for, by its name. */
static dsl_status tensor_find(const Why *w, const KDesc *k, const char *name, int *map)
{
	for (int i = 0; i < k->nargs; i++)
		if (strcmp(k->args[i].name, name) == 0) {
			*map = pack_map(k, i);
			return *map >= 0 ? DSL_OK
					 : why_fail(w, DSL_ERR_ARG_TYPE,
						    "%s of kernel %s cannot be packed: it is no "
						    "input that is read through TMA only",
						    name, k->name);
		}
	return why_fail(w, DSL_ERR_ARG_NAME, "kernel %s has no tensor %.60s", k->name, name);
}

static int list_unknown(const Expr *e, int n, uint64_t known)
{
	int sym = -1;
	for (int i = 0; i < n && sym < 0; i++)
		sym = expr_unknown(e[i], known);
	return sym;
}

/* The tensor and every size that it names were given. */
static dsl_status given_check(const Why *w, const Plan *p, int map, uint64_t seen)
{
	const KDesc *k = p->k;
	int arg = k->maps[map].arg, rank = k->args[arg].rank, sym;
	uint64_t known = seen >> k->nargs;
	if (!(seen >> arg & 1))
		return why_fail(w, DSL_ERR_ARG_MISSING, "dsl_pack was not given tensor %s",
				k->args[arg].name);
	sym = list_unknown(p->shape[arg], rank, known);
	if (sym < 0)
		sym = list_unknown(p->stride[arg], rank, known);
	return sym < 0 ? DSL_OK
		       : why_fail(w, DSL_ERR_ARG_MISSING,
				  "dsl_pack was not given size %s of tensor %s", k->syms[sym],
				  k->args[arg].name);
}

/* A launch of nothing but the copy, which a tensor without elements does not need. */
static dsl_status measure(const Why *w, const Plan *p, const char *tensor, const dsl_arg *args,
			  size_t n, Launch *l)
{
	int map = 0;
	uint64_t seen;
	memset(l, 0, sizeof *l);
	l->plan = p;
	dsl_status st = tensor_find(w, p->k, tensor, &map);
	if (!st)
		st = launch_bind_some(w, l, args, n, &seen);
	if (!st)
		st = given_check(w, p, map, seen);
	if (!st)
		st = map_measure(w, l, map);
	return st || l->empty[p->k->maps[map].arg] ? st : copy_add(w, l, map);
}

/* By the first variant that takes it packed: the copy is that of each other one that does. */
static dsl_status measure_named(const char *call, dsl_module *mod, const char *kernel,
				const char *tensor, const dsl_arg *args, size_t n, Launch *l)
{
	Why w = why_thread();
	if (!mod || !kernel || !tensor || (!args && n))
		return detail_null(call, !mod      ? "mod"
					 : !kernel ? "kernel"
					 : !tensor ? "tensor"
						   : "args");
	Variants v;
	int i = 0, map;
	const Why nobody = {NULL, 0};
	dsl_status st = variants_of(mod, kernel, &v);
	if (st)
		return st;
	while (i < v.n - 1 && tensor_find(&nobody, v.first[i].k, tensor, &map))
		i++;
	return measure(&w, &v.first[i], tensor, args, n, l);
}

dsl_status dsl_pack_size(dsl_module *mod, const char *kernel, const char *tensor,
			 const dsl_arg *args, size_t n, size_t *bytes)
{
	Launch l;
	if (!bytes)
		return detail_null("dsl_pack_size", "bytes");
	*bytes = 0;
	dsl_status st = measure_named("dsl_pack_size", mod, kernel, tensor, args, n, &l);
	if (!st)
		*bytes = (size_t)l.workspace;
	return st;
}

dsl_status dsl_pack(dsl_module *mod, const char *kernel, const char *tensor, const dsl_arg *args,
		    size_t n, dsl_addr memory, size_t size, dsl_stream stream, dsl_arg *packed)
{
	Launch l;
	if (!packed)
		return detail_null("dsl_pack", "packed");
	dsl_status st = measure_named("dsl_pack", mod, kernel, tensor, args, n, &l);
	if (st)
		return st;
	if (size < l.workspace)
		return detail_fail(DSL_ERR_WORKSPACE,
				   "tensor %s packed takes %llu bytes; %zu were given", tensor,
				   (unsigned long long)l.workspace, size);
	if (l.ncopies && (!memory || memory % WORKSPACE_ALIGN))
		return detail_fail(DSL_ERR_ALIGN,
				   "tensor %s: memory 0x%llx for it packed is not a multiple of %d "
				   "bytes above 0",
				   tensor, (unsigned long long)memory, WORKSPACE_ALIGN);
	l.stream = stream;
	Why w = why_thread();
	st = overlap_check_memory(&w, &l, "the packed copy", memory, l.workspace);
	if (!st && l.ncopies)
		st = repack_load(mod->dev);
	if (!st)
		st = pack_launch(mod->dev, &l, memory);
	*packed = dsl_arg_ptr(tensor, memory);
	packed->kind = DSL_PACKED;
	return st;
}
