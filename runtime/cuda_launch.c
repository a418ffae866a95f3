/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cuda_launch.c - modules and launches on a GPU: loads the cubin, sets what a kernel needs once,
 * and for each launch encodes its tensor maps on the stack and calls cuLaunchKernelEx. A launch
 * neither allocates nor waits, so it may run while a stream is captured. */
#include "runtime/cu.h"

#include <string.h>

static dsl_status attribute_set(Scope *s, const KDesc *k, CUfunction f, CUfunction_attribute a,
				int v)
{
	CUresult r = s->d->cu.FuncSetAttribute(f, a, v);
	if (r == CUDA_ERROR_INVALID_VALUE)
		return detail_fail(
			DSL_ERR_RESOURCES,
			"kernel %s: %s refuses %d bytes of shared memory and clusters of %d CTAs",
			k->name, s->d->base.name, k->smem, kernel_cluster(k));
	return cuda_status(s->d, "cuFuncSetAttribute", r);
}

CUlaunchConfig cuda_config(const dsl_raw *raw, bool pdl, CUlaunchAttribute *a)
{
	CUlaunchConfig config = {
		.gridDimX = raw->grid[0],
		.gridDimY = raw->grid[1],
		.gridDimZ = raw->grid[2],
		.blockDimX = raw->block[0],
		.blockDimY = raw->block[1],
		.blockDimZ = raw->block[2],
		.sharedMemBytes = raw->smem,
		.hStream = raw->stream,
		.attrs = a,
	};
	if (raw->cluster[0]) {
		a->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
		a->value.clusterDim.x = raw->cluster[0];
		a->value.clusterDim.y = raw->cluster[1];
		a->value.clusterDim.z = raw->cluster[2];
		config.numAttrs++;
	}
	if (pdl) {
		a += config.numAttrs++;
		a->id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
		a->value.programmaticStreamSerializationAllowed = 1;
	}
	return config;
}

static dsl_status held_alone(Scope *s, Plan *p)
{
	int ctas = 0;
	CUresult r =
		s->d->cu.OccupancyMaxActiveBlocksPerMultiprocessor(&ctas, p->function, p->k->block,
								   (size_t)p->k->smem);
	p->held = ctas * s->d->base.sms;
	return cuda_status(s->d, "cuOccupancyMaxActiveBlocksPerMultiprocessor", r);
}

/* Clusters need neighbouring SMs: some may be left over, more than sms % cluster. */
static dsl_status occupancy(Scope *s, Plan *p)
{
	const KDesc *k = p->k;
	int ctas = kernel_cluster(k), clusters = 0;
	CUlaunchAttribute attributes[LAUNCH_ATTRIBUTES];
	dsl_raw shape = kernel_shape(k);
	p->sms = s->d->base.sms;
	if (ctas == 1)
		return k->together ? held_alone(s, p) : DSL_OK;
	shape.grid[0] = (unsigned)(s->d->base.sms / ctas * ctas);
	shape.grid[1] = shape.grid[2] = 1;
	CUlaunchConfig config = cuda_config(&shape, false, attributes);
	CUresult r = s->d->cu.OccupancyMaxActiveClusters(&clusters, p->function, &config);
	if (r == CUDA_SUCCESS && clusters == 0)
		return detail_fail(DSL_ERR_RESOURCES,
				   "kernel %s: %s cannot hold a cluster of %d CTAs", k->name,
				   s->d->base.name, ctas);
	p->held = clusters * ctas;
	if (clusters * ctas < p->sms * k->ctas)
		p->sms = clusters * ctas / k->ctas;
	return cuda_status(s->d, "cuOccupancyMaxActiveClusters", r);
}

static dsl_status function_load(Scope *s, CUmodule module, Plan *p)
{
	const KDesc *k = p->k;
	CUfunction f = NULL;
	CUresult r = s->d->cu.ModuleGetFunction(&f, module, k->symbol);
	if (r == CUDA_ERROR_NOT_FOUND)
		return detail_fail(DSL_ERR_MANIFEST, "kernel %s: the cubin has no symbol %s",
				   k->name, k->symbol);
	if (r != CUDA_SUCCESS)
		return cuda_status(s->d, "cuModuleGetFunction", r);
	if (k->smem > s->d->smem_limit)
		return detail_fail(DSL_ERR_RESOURCES,
				   "kernel %s needs %d bytes of shared memory, %s gives a CTA %d",
				   k->name, k->smem, s->d->base.name, s->d->smem_limit);
	p->function = f;
	dsl_status st =
		attribute_set(s, k, f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k->smem);
	if (!st && kernel_cluster(k) > 8)
		st = attribute_set(s, k, f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
	return st ? st : occupancy(s, p);
}

static dsl_status load_status(const CudaDevice *d, const dsl_module *mod, CUresult r)
{
	if (r == CUDA_ERROR_OUT_OF_MEMORY || cuda_sticky(r))
		return cuda_status(d, "cuModuleLoadData", r);
	const char *ptxas = mod->desc->ptxas;
	return detail_fail(DSL_ERR_LOAD, "%s, built by ptxas %s: cuModuleLoadData gave %s",
			   mod->desc->source, *ptxas ? ptxas : "none, for the simulator alone",
			   cuda_error(d, r));
}

dsl_status cuda_module_load(dsl_device *dev, dsl_module *mod)
{
	Scope s;
	CUmodule module = NULL;
	dsl_status st = cuda_scope_enter(&s, cuda_of(dev));
	if (st)
		return st;
	const void *code = mod->from_ptx ? (const void *)mod->ptx : mod->bytes;
	CUresult r = s.d->cu.ModuleLoadData(&module, code);
	if (r != CUDA_SUCCESS) {
		cuda_scope_leave(&s);
		return load_status(s.d, mod, r);
	}
	for (int i = 0; i < mod->desc->nkernels && !st; i++) {
		Plan *p = &mod->plans[i];
		st = function_load(&s, module, p);
		p->too_large = st == DSL_ERR_RESOURCES && kdesc_is_variant(p->k);
		st = p->too_large ? DSL_OK : st;
	}
	if (st)
		s.d->cu.ModuleUnload(module);
	mod->handle = module;
	cuda_scope_leave(&s);
	return st;
}

void cuda_module_unload(dsl_device *dev, dsl_module *mod)
{
	Scope s;
	if (cuda_scope_enter(&s, cuda_of(dev)))
		return;
	s.d->cu.ModuleUnload(mod->handle);
	cuda_scope_leave(&s);
}

static CUtensorMapDataType map_type(Elem e)
{
	static const CUtensorMapDataType types[EL_COUNT] = {
#define ELEM(id, name, also, bits, cls, number, mantissa, exponent, tma, ...) \
	[EL_##id] = CU_TENSOR_MAP_DATA_TYPE_##tma,
#include "runtime/elems.def"
	};
	return types[e];
}

static CUtensorMapSwizzle map_swizzle(uint32_t bytes)
{
	switch (bytes) {
#define SWIZZLE(id, bytes, bits, code, tma) \
	case bytes:                         \
		return CU_TENSOR_MAP_SWIZZLE_##tma;
#include "runtime/swizzles.def"
	default:
		return CU_TENSOR_MAP_SWIZZLE_NONE;
	}
}

/* Drivers up to CUDA 13.1 set a bit of tensors of 128 KiB and more, bit 21 of the second 64-bit
 * word, in the maps of small ones too. */
static void map_repair(const CudaDevice *d, CUtensorMap *t, uint64_t bytes)
{
	if (d->base.driver <= 13010 && bytes < 128 * 1024)
		t->opaque[1] &= ~(UINT64_C(1) << 21);
}

CUresult cuda_map_encode(const CudaDevice *d, Elem e, const dsl_map *m, CUtensorMap *out)
{
	static const cuuint32_t ones[KD_MAX_RANK] = {1, 1, 1, 1, 1};
	CUresult r =
		d->cu.TensorMapEncodeTiled(out, map_type(e), m->rank, (void *)(uintptr_t)m->base,
					   m->dims, m->strides, m->box, ones,
					   CU_TENSOR_MAP_INTERLEAVE_NONE, map_swizzle(m->swizzle),
					   CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
					   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	if (r == CUDA_SUCCESS)
		map_repair(d, out, map_span(e, m));
	return r;
}

static dsl_status map_fail(const CudaDevice *d, const Launch *l, int i, CUresult r)
{
	const KMap *m = &l->plan->k->maps[i];
	const MapGeom *g = &l->maps[i];
	Line f = {.n = 0};
	for (int j = 0; j < m->rank; j++)
		line_add(&f, "%s%llu", j ? " x " : "dims ", (unsigned long long)g->dims[j]);
	for (int j = 0; j < m->rank - 1; j++)
		line_add(&f, "%s%llu", j ? ", " : ", byte strides ",
			 (unsigned long long)g->strides[j]);
	for (int j = 0; j < m->rank; j++)
		line_add(&f, "%s%d", j ? " x " : ", box ", m->box[j]);
	return detail_fail(
		DSL_ERR_TENSOR_MAP,
		"tensor %s of kernel %s: cuTensorMapEncodeTiled gave %s for %s at 0x%llx, %s, "
		"swizzle %d",
		l->plan->k->args[m->arg].name, l->plan->k->name, cuda_error(d, r),
		elem_rows[m->elem].name, (unsigned long long)g->base, f.at, m->swizzle);
}

/* An encode that fails may only report what an earlier kernel did: ask the stream, unless it is
 * being captured, when a question would break the capture. */
static dsl_status encode_fail(const CudaDevice *d, const Launch *l, int i, CUresult r)
{
	CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
	CUresult earlier = r;
	if (!cuda_sticky(r) && d->cu.StreamIsCapturing(l->stream, &capture) == CUDA_SUCCESS &&
	    capture == CU_STREAM_CAPTURE_STATUS_NONE)
		earlier = d->cu.StreamQuery(l->stream);
	if (cuda_sticky(earlier))
		return cuda_status(d, "something before this launch", earlier);
	return map_fail(d, l, i, r);
}

static dsl_status map_encode(const CudaDevice *d, const Launch *l, int i, CUtensorMap *out)
{
	dsl_map m = launch_map(l, i);
	CUresult r = cuda_map_encode(d, l->plan->k->maps[i].elem, &m, out);
	return r == CUDA_SUCCESS ? DSL_OK : encode_fail(d, l, i, r);
}

/* Where each kernel parameter lies; a scalar's value is in the low bytes of its 64 bits. */
static void params_fill(const Launch *l, CUtensorMap *maps, void **params)
{
	const KDesc *k = l->plan->k;
	for (int i = 0; i < k->nparams; i++) {
		const KParam *param = &k->params[i];
		const void *p =
			param->kind == KP_TMAP ? &maps[param->index] : launch_param(l, param);
		memcpy(&params[i], &p, sizeof p); /* the driver's interface is not const */
	}
}

static dsl_status launch_status(const CudaDevice *d, const Launch *l, CUresult r)
{
	const KDesc *k = l->plan->k;
	if (r != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES && r != CUDA_ERROR_INVALID_CLUSTER_SIZE)
		return cuda_status(d, "cuLaunchKernelEx", r);
	return detail_fail(
		DSL_ERR_RESOURCES,
		"kernel %s: %s gave %s for %d threads, %d bytes of shared memory, cluster "
		"%d x %d x %d",
		k->name, d->base.name, cuda_error(d, r), k->block, k->smem, k->cluster[0],
		k->cluster[1], k->cluster[2]);
}

static CUresult launch_call(const CudaDevice *d, const Launch *l, CUtensorMap *maps)
{
	void *params[KD_MAX_PARAMS];
	CUlaunchAttribute attributes[LAUNCH_ATTRIBUTES];
	dsl_raw shape = kernel_shape(l->plan->k);
	memcpy(shape.grid, l->grid, sizeof shape.grid);
	shape.stream = l->stream;
	CUlaunchConfig config = cuda_config(&shape, l->pdl, attributes);
	params_fill(l, maps, params);
	return d->cu.LaunchKernelEx(&config, l->plan->function, params, NULL);
}

dsl_status cuda_launch(dsl_device *dev, const Launch *l)
{
	CUtensorMap maps[KD_MAX_MAPS]; /* 64-byte aligned by its type */
	Scope s;
	dsl_status st = cuda_scope_enter(&s, cuda_of(dev));
	if (st)
		return st;
	for (int i = 0; i < l->plan->k->nmaps && !st; i++)
		if (l->made[i])
			st = map_encode(s.d, l, i, &maps[i]);
		else
			memset(&maps[i], 0, sizeof maps[i]);
	CUresult r = st ? CUDA_SUCCESS : launch_call(s.d, l, maps);
	cuda_scope_leave(&s);
	return st ? st : launch_status(s.d, l, r);
}
