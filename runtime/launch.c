/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* launch.c - the public launch and its dry runs: find the kernel, bind, check, hand to the device.
 * All state of a launch is on the stack. */
#include "runtime/rt.h"

#include <string.h>

/* The structs of 0.2, the shortest that callers can have; what a later version adds is read only
 * where the caller's size covers it. */
#define COVERS(s, type, member) ((s)->size >= offsetof(type, member) + sizeof(s)->member)
enum {
	OPTS_0_2 = offsetof(dsl_launch_opts, pdl) + sizeof(int),
	RAW_0_2 = offsetof(dsl_raw, stream) + sizeof(dsl_stream),
	MAP_0_2 = offsetof(dsl_map, swizzle) + sizeof(uint32_t)
};

static const KDesc *desc_find(const KModuleDesc *d, const char *name)
{
	for (int i = 0; i < d->nkernels; i++)
		if (strcmp(d->kernels[i].name, name) == 0)
			return &d->kernels[i];
	return NULL;
}

/* NULL: there is none. */
static Plan *plan_find(const dsl_module *mod, const char *name)
{
	const KDesc *k = desc_find(mod->desc, name);
	return k ? &mod->plans[k - mod->desc->kernels] : NULL;
}

static dsl_status kernel_fail(const KModuleDesc *d, const char *name)
{
	Line l = {.n = 0};
	for (int i = 0; i < d->nkernels; i++)
		line_add(&l, "%s%s", i ? ", " : "", d->kernels[i].name);
	return detail_fail(DSL_ERR_KERNEL_NAME, "%s has no kernel %.60s; it has %s", d->source,
			   name, l.at);
}

dsl_status plan_of(const dsl_module *mod, const char *name, const Plan **out)
{
	dsl_status st = module_check(mod);
	*out = st ? NULL : plan_find(mod, name);
	return st || *out ? st : kernel_fail(mod->desc, name);
}

dsl_status launch_opts_read(const dsl_launch_opts *given, dsl_launch_opts *out)
{
	dsl_status st = size_check("dsl_launch_opts", given->size, OPTS_0_2);
	size_t known = given->size < sizeof *out ? given->size : sizeof *out;
	*out = (dsl_launch_opts){.size = 0};
	if (!st)
		memcpy(out, given, known);
	out->size = sizeof *out;
	return st;
}

/* Of the SMs that may be filled, those that clusters can fill; one cluster at least. */
static int whole_clusters(const Plan *p, int sms)
{
	int ctas = kernel_cluster(p->k);
	sms = (sms < p->sms ? sms : p->sms) / ctas * ctas;
	return sms > ctas ? sms : ctas;
}

/* Only what is read before it is written is cleared: the rest of a Launch is large. */
static dsl_status prepare(const Why *w, Launch *l, const Plan *p, const dsl_arg *args, size_t n,
			  int sms, bool copying)
{
	l->plan = p;
	l->nothing = false;
	l->copying = copying;
	l->ncopies = 0;
	l->workspace = 0;
	memset(l->empty, 0, sizeof l->empty);
	memset(l->bytes, 0, sizeof l->bytes);
	memset(l->packed, 0, sizeof l->packed);
	l->env[EXPR_SMS] = whole_clusters(p, sms);
	dsl_status st = launch_bind(w, l, args, n);
	if (!st)
		st = launch_check(w, l);
	return st || l->nothing ? st : together_check(w, l);
}

static dsl_status sms_of(const Why *w, const dsl_device *dev, const dsl_launch_opts *opts, int *sms)
{
	*sms = dev->sms;
	if (opts->sms == 0)
		return DSL_OK;
	if (opts->sms < 0)
		return why_fail(w, DSL_ERR_INVALID, "dsl_launch_opts: sms is %d", opts->sms);
	*sms = opts->sms < dev->sms ? opts->sms : dev->sms;
	return DSL_OK;
}

static dsl_status workspace_check(const Why *w, const Launch *l, const dsl_launch_opts *opts)
{
	const KDesc *k = l->plan->k;
	Line what = {.n = 0};
	if (l->ncopies)
		line_add(&what, "what TMA cannot take where it lies (tensor %s)",
			 k->args[l->copies[0].arg].name);
	else
		line_add(&what, "what its CTAs tell each other");
	if (opts->workspace_size < l->workspace)
		return why_fail(w, DSL_ERR_WORKSPACE,
				"kernel %s: %llu bytes of workspace are needed, for %s; %zu were "
				"given",
				k->name, (unsigned long long)l->workspace, what.at,
				opts->workspace_size);
	if (!opts->workspace || opts->workspace % WORKSPACE_ALIGN)
		return why_fail(w, DSL_ERR_ALIGN,
				"kernel %s: workspace 0x%llx is not a multiple of %d bytes above 0",
				k->name, (unsigned long long)opts->workspace, WORKSPACE_ALIGN);
	if (opts->workspace_size > UINT64_MAX - opts->workspace)
		return why_fail(w, DSL_ERR_INVALID,
				"kernel %s: %zu bytes of workspace at 0x%llx leave the address "
				"space",
				k->name, opts->workspace_size, (unsigned long long)opts->workspace);
	return overlap_check_memory(w, l, "the workspace", opts->workspace, l->workspace);
}

/* The copies that the launch needs first, in the caller's workspace. */
static dsl_status copies_make(const Why *w, dsl_device *dev, Launch *l, const dsl_launch_opts *opts)
{
	const char *name = l->plan->k->name;
	if (!dev->repack)
		return why_fail(w, DSL_ERR_WORKSPACE,
				"kernel %s: what makes copies is not loaded on this device, and a "
				"launch loads nothing: call dsl_workspace_size once before",
				name);
	return repack_launch(dev, l, opts->workspace, opts->pdl >= 0);
}

/* Whether the launch reads a copy, which the copying kernel ahead of it writes, without waiting. */
static bool copies_constant(const Launch *l)
{
	for (int i = 0; i < l->ncopies; i++)
		if (l->plan->k->args[l->copies[i].arg].constant)
			return true;
	return false;
}

dsl_status dsl_launch(dsl_module *mod, const char *kernel, const dsl_arg *args, size_t n,
		      dsl_stream stream, const dsl_launch_opts *opts)
{
	if (!mod || !kernel || (!args && n))
		return detail_null("dsl_launch", !mod ? "mod" : !kernel ? "kernel" : "args");
	Why w = why_thread();
	Launch l;
	int sms;
	dsl_launch_opts o = {.size = sizeof o};
	bool knows = opts && COVERS(opts, dsl_launch_opts, workspace_size); /* of 0.2 does not */
	const Plan *p;
	dsl_status st = plan_of(mod, kernel, &p);
	if (!st && opts)
		st = launch_opts_read(opts, &o);
	if (!st)
		st = sms_of(&w, mod->dev, &o, &sms);
	if (!st)
		st = prepare(&w, &l, p, args, n, sms, knows);
	if (st || l.nothing)
		return st;
	l.stream = stream;
	l.pdl = l.plan->k->pdl && o.pdl >= 0 && !copies_constant(&l);
	if (l.workspace)
		st = workspace_check(&w, &l, &o);
	if (!st && (l.plan->k->together || l.plan->k->tickets))
		st = together_bind(&w, &l, &o);
	if (!st && l.ncopies)
		st = copies_make(&w, mod->dev, &l, &o);
	return st ? st : mod->dev->ops->launch(mod->dev, &l);
}

dsl_status dsl_workspace_size(dsl_module *mod, const char *kernel, const dsl_arg *args, size_t n,
			      size_t *bytes)
{
	if (!mod || !kernel || (!args && n) || !bytes)
		return detail_null("dsl_workspace_size", !mod      ? "mod"
							 : !kernel ? "kernel"
							 : !bytes  ? "bytes"
								   : "args");
	Why w = why_thread();
	Launch l;
	*bytes = 0;
	const Plan *p;
	dsl_status st = plan_of(mod, kernel, &p);
	if (!st)
		st = prepare(&w, &l, p, args, n, mod->dev->sms, true);
	if (!st && l.ncopies)
		st = repack_load(mod->dev);
	if (!st)
		*bytes = (size_t)l.workspace;
	return st;
}

dsl_status dsl_launch_raw(dsl_module *mod, const char *kernel, const dsl_raw *raw)
{
	if (!mod || !kernel || !raw || (!raw->params && raw->param_bytes))
		return detail_null("dsl_launch_raw", !mod      ? "mod"
						     : !kernel ? "kernel"
						     : !raw    ? "raw"
							       : "params");
	dsl_status st = module_check(mod);
	if (!st)
		st = size_check("dsl_raw", raw->size, RAW_0_2);
	bool pdl = !st && COVERS(raw, dsl_raw, pdl) && raw->pdl;
	if (st)
		return st;
	for (int i = 0; i < 3; i++)
		if (!raw->grid[i] || !raw->block[i] || !raw->cluster[i] != !raw->cluster[0])
			return detail_fail(
				DSL_ERR_GRID,
				"grid, block and cluster need three components above 0; a "
				"cluster may be 0, 0, 0");
	return mod->dev->ops->launch_raw(mod->dev, mod, kernel, raw, pdl);
}

dsl_status dsl_tensor_map(dsl_device *dev, const dsl_map *map, void *out)
{
	if (!dev || !map || !out)
		return detail_null("dsl_tensor_map", !dev ? "dev" : !out ? "out" : "map");
	dsl_status st = size_check("dsl_map", map->size, MAP_0_2);
	if (!st && !map->elem)
		st = detail_null("dsl_tensor_map", "map->elem");
	return st ? st : dev->ops->map(dev, map, out);
}

/* Of a failure, the sentence that dsl_detail gives is the caller's too. */
static dsl_status answer(dsl_status st, char *why, size_t len)
{
	Why w = {why, len};
	return st ? why_fail(&w, st, "%s", dsl_detail()) : DSL_OK;
}

dsl_status dsl_can_run(const dsl_module *mod, const char *kernel, const dsl_arg *args, size_t n,
		       char *why, size_t len)
{
	Why w = why_thread();
	Launch l;
	const Plan *p;
	dsl_status st = !mod || !kernel || (!args && n)
				? detail_null("dsl_can_run", !mod      ? "mod"
							     : !kernel ? "kernel"
								       : "args")
				: plan_of(mod, kernel, &p);
	if (!st)
		st = prepare(&w, &l, p, args, n, mod->dev->sms, false);
	return answer(st, why, len);
}

dsl_status dsl_desc_can_run(const KDesc *kernel, const dsl_arg *args, size_t n, char *why,
			    size_t len)
{
	Why w = {why, len};
	if (!kernel || (!args && n))
		return why_fail(&w, DSL_ERR_INVALID, "dsl_desc_can_run: %s is NULL",
				!kernel ? "kernel" : "args");
	Launch l;
	Plan p;
	dsl_status st = plan_init(&w, &p, kernel);
	if (st)
		return st;
	st = prepare(&w, &l, &p, args, n, 1, false);
	plan_free(&p);
	return st;
}

static dsl_status manifest_can_run(const void *manifest, size_t size, const char *kernel,
				   const dsl_arg *args, size_t n)
{
	Why w = why_thread();
	KModuleDesc *d;
	if (!manifest || !kernel)
		return detail_null("dsl_manifest_can_run", !manifest ? "manifest" : "kernel");
	dsl_status st = manifest_parse(&w, manifest, size, &d);
	if (st)
		return st;
	const KDesc *k = desc_find(d, kernel);
	st = k ? dsl_desc_can_run(k, args, n, w.at, w.size) : kernel_fail(d, kernel);
	dsl_desc_free(d);
	return st;
}

dsl_status dsl_manifest_can_run(const void *manifest, size_t size, const char *kernel,
				const dsl_arg *args, size_t n, char *why, size_t len)
{
	return answer(manifest_can_run(manifest, size, kernel, args, n), why, len);
}
