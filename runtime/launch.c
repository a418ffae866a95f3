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

static dsl_status kernel_fail(const KModuleDesc *d, const char *name)
{
	Line l = {.n = 0};
	for (int i = 0; i < d->nkernels; i += kdesc_variants(d, i))
		line_add(&l, "%s%s", i ? ", " : "", d->kernels[i].name);
	return detail_fail(DSL_ERR_KERNEL_NAME, "%s has no kernel %.60s; it has %s", d->source,
			   name, l.at);
}

/* By its name, a family or a kernel alone; by its symbol, one kernel. */
static dsl_status variants_named(const dsl_module *mod, const char *name, Variants *out)
{
	for (int i = 0; i < mod->desc->nkernels; i++) {
		const Plan *p = &mod->plans[i];
		bool named = strcmp(p->k->name, name) == 0;
		*out = (Variants){p, named && p->family ? p->family->n : 1};
		if (named || strcmp(p->k->symbol, name) == 0)
			return DSL_OK;
	}
	return kernel_fail(mod->desc, name);
}

dsl_status variants_of(const dsl_module *mod, const char *name, Variants *out)
{
	dsl_status st = module_check(mod);
	return st ? st : variants_named(mod, name, out);
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

/* The bound launch as one of plan p. */
static dsl_status check_as(const Why *w, Launch *l, const Plan *p, int sms)
{
	l->plan = p;
	l->nothing = false;
	l->ncopies = 0;
	l->workspace = 0;
	memset(l->empty, 0, sizeof l->empty);
	memset(l->bytes, 0, sizeof l->bytes);
	l->env[EXPR_SMS] = whole_clusters(p, sms);
	if (p->too_large)
		return why_fail(w, DSL_ERR_RESOURCES,
				"kernel %s: the device cannot hold a CTA or cluster of it",
				p->k->name);
	dsl_status st = packed_check(w, l);
	if (!st)
		st = launch_check(w, l);
	return st || l->nothing ? st : together_check(w, l);
}

/* Whether the variant takes this launch, on all SMs. A launch without workspace has no semaphores
 * either. */
static bool is_taken(Launch *l, const Plan *p)
{
	const Why nobody = {NULL, 0};
	const KDesc *k = p->k;
	bool served = l->copying || !(k->nworks || k->together || k->tickets);
	return served && !check_as(&nobody, l, p, p->sms);
}

/* As the cheapest variant that takes the launch, or else the cheapest, which says why not. The
 * number of SMs that it may fill has no part in the choice: dsl_workspace_size does not know it. */
static dsl_status check_cheapest(const Why *w, Launch *l, const Variants *v, int sms)
{
	const uint8_t *order = family_order(v->first, l->env);
	int i = 0;
	while (i < v->n && !is_taken(l, &v->first[order[i]]))
		i++;
	bool taken = i < v->n;
	const Plan *p = &v->first[order[taken ? i : 0]];
	return taken && sms >= p->sms ? DSL_OK : check_as(w, l, p, sms);
}

/* Only what is read before it is written is cleared: the rest of a Launch is large. */
static dsl_status prepare(const Why *w, Launch *l, const Variants *v, const dsl_arg *args, size_t n,
			  int sms, bool copying)
{
	l->plan = v->first;
	l->copying = copying;
	memset(l->packed, 0, sizeof l->packed);
	dsl_status st = launch_bind(w, l, args, n);
	if (!st)
		st = v->n > 1 ? check_cheapest(w, l, v, sms) : check_as(w, l, v->first, sms);
	return st;
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
	Variants v;
	dsl_status st = variants_of(mod, kernel, &v);
	if (!st && opts)
		st = launch_opts_read(opts, &o);
	if (!st)
		st = sms_of(&w, mod->dev, &o, &sms);
	if (!st)
		st = prepare(&w, &l, &v, args, n, sms, knows);
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
	Variants v;
	dsl_status st = variants_of(mod, kernel, &v);
	if (!st)
		st = prepare(&w, &l, &v, args, n, mod->dev->sms, true);
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

/* The caller gets what was said, or of a failure the sentence that dsl_detail gives. */
static dsl_status answer(dsl_status st, const Line *said, char *why, size_t len)
{
	Why w = {why, len};
	return st || said ? why_fail(&w, st, "%s", st ? dsl_detail() : said->at) : DSL_OK;
}

/* A launch of which only questions are asked; said may be NULL. */
static dsl_status ask(const dsl_module *mod, const char *kernel, const dsl_arg *args, size_t n,
		      const char **name, Line *said)
{
	Why w = why_thread();
	Launch l;
	Variants v;
	dsl_status st = variants_named(mod, kernel, &v);
	if (!st)
		st = prepare(&w, &l, &v, args, n, mod->dev ? mod->dev->sms : 1, said);
	if (!st && said)
		family_explain(&v, l.plan, l.env, said);
	if (!st && name)
		*name = l.plan->k->symbol;
	return st;
}

static dsl_status ask_module(const char *call, const dsl_module *mod, const char *kernel,
			     const dsl_arg *args, size_t n, const char **name, Line *said)
{
	if (!mod || !kernel || (!args && n))
		return detail_null(call, !mod ? "mod" : !kernel ? "kernel" : "args");
	dsl_status st = module_check(mod);
	return st ? st : ask(mod, kernel, args, n, name, said);
}

static dsl_status ask_manifest(const char *call, const void *manifest, size_t size,
			       const char *kernel, const dsl_arg *args, size_t n, Line *said)
{
	Why w = why_thread();
	dsl_module *m;
	if (!manifest || !kernel || (!args && n))
		return detail_null(call, !manifest ? "manifest" : !kernel ? "kernel" : "args");
	dsl_status st = module_dry(&w, manifest, size, &m);
	if (st)
		return st;
	st = ask(m, kernel, args, n, NULL, said);
	module_free(m);
	return st;
}

dsl_status dsl_can_run(const dsl_module *mod, const char *kernel, const dsl_arg *args, size_t n,
		       char *why, size_t len)
{
	return answer(ask_module("dsl_can_run", mod, kernel, args, n, NULL, NULL), NULL, why, len);
}

dsl_status dsl_manifest_can_run(const void *manifest, size_t size, const char *kernel,
				const dsl_arg *args, size_t n, char *why, size_t len)
{
	return answer(ask_manifest("dsl_manifest_can_run", manifest, size, kernel, args, n, NULL),
		      NULL, why, len);
}

dsl_status dsl_choice(const dsl_module *mod, const char *kernel, const dsl_arg *args, size_t n,
		      const char **name, char *why, size_t len)
{
	Line said = {.n = 0};
	return answer(ask_module("dsl_choice", mod, kernel, args, n, name, &said), &said, why, len);
}

dsl_status dsl_manifest_choice(const void *manifest, size_t size, const char *kernel,
			       const dsl_arg *args, size_t n, char *why, size_t len)
{
	Line said = {.n = 0};
	return answer(ask_manifest("dsl_manifest_choice", manifest, size, kernel, args, n, &said),
		      &said, why, len);
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
	st = prepare(&w, &l, &(Variants){&p, 1}, args, n, 1, false);
	plan_free(&p);
	return st;
}
