/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* check.c - whether a kernel may run on these numbers, and the geometry of its tensor maps. What
 * the hardware would answer with a wrong result or an unexplained error becomes a sentence here.
 * Needs a bound launch (bind.c); fills empty, grid, nothing and maps. Rules: PTX ISA, tensor maps;
 * CUDA driver API, cuTensorMapEncodeTiled and the limits of a grid. */
#include "runtime/rt.h"

#include <string.h>

static const int64_t max_map_dim = INT64_C(1) << 32, max_map_stride = INT64_C(1) << 40;

/* "M = 512, N = 0" */
static void syms_line(const Launch *l, Line *out)
{
	const KDesc *k = l->plan->k;
	for (int i = 0; i < k->nsyms; i++)
		line_add(out, "%s%s = %lld", i ? ", " : "", k->syms[i], (long long)l->env[i]);
}

static dsl_status eval(const Why *w, const Launch *l, Expr e, const char *text, int64_t *out)
{
	ExprResult r = expr_eval(e, l->env, out);
	if (r == EXPR_OK)
		return DSL_OK;
	Line infix = {.n = 0}, syms = {.n = 0};
	expr_infix(text, &infix);
	syms_line(l, &syms);
	return why_fail(w, DSL_ERR_OVERFLOW, "kernel %s: %s %s with %s", l->plan->k->name, infix.at,
			r == EXPR_ZERO ? "divides by less than 1" : "leaves signed 64 bits",
			syms.at);
}

/* "extent M = 512": a value beside what it was computed from; a number alone stays alone. */
static Line named_value(const char *text, int64_t v)
{
	Line l = {.n = 0};
	expr_infix(text, &l);
	if (*text < '0' || *text > '9' || strchr(text, ' '))
		line_add(&l, " = %lld", (long long)v);
	return l;
}

static dsl_status negative_fail(const Why *w, const KArg *a, int dim, bool stride, int64_t v)
{
	return why_fail(w, stride ? DSL_ERR_STRIDE : DSL_ERR_EXTENT,
			"tensor %s: %s %d is negative: %s", a->name, stride ? "stride" : "extent",
			dim, named_value(stride ? a->stride[dim] : a->shape[dim], v).at);
}

/* Values of a tensor's extents or strides, each at least 0. */
static dsl_status sizes_eval(const Why *w, const Launch *l, int i, bool stride, int64_t *out)
{
	const KArg *a = &l->plan->k->args[i];
	const Expr *e = stride ? l->plan->stride[i] : l->plan->shape[i];
	for (int d = 0; d < a->rank; d++) {
		dsl_status st = eval(w, l, e[d], stride ? a->stride[d] : a->shape[d], &out[d]);
		if (st)
			return st;
		if (out[d] < 0)
			return negative_fail(w, a, d, stride, out[d]);
	}
	return DSL_OK;
}

/* The mode that steps least of those from `from` on comes first. */
static void least_first(int64_t *extent, int64_t *stride, int *mode, int from, int rank)
{
	int least = from;
	for (int d = from + 1; d < rank; d++)
		if (stride[d] < stride[least])
			least = d;
	int64_t e = extent[least], s = stride[least];
	int m = mode[least];
	extent[least] = extent[from];
	stride[least] = stride[from];
	mode[least] = mode[from];
	extent[from] = e;
	stride[from] = s;
	mode[from] = m;
}

/* No two elements of an output lie in one place: each mode steps beyond all that those with smaller
 * steps reach. */
static dsl_status apart_check(const Why *w, const KArg *a, const int64_t *extents,
			      const int64_t *strides)
{
	int mode[KD_MAX_RANK], rank = 0;
	int64_t extent[KD_MAX_RANK], stride[KD_MAX_RANK], reach = 0;
	for (int d = 0; d < a->rank; d++)
		if (extents[d] > 1) {
			extent[rank] = extents[d];
			stride[rank] = strides[d];
			mode[rank++] = d;
		}
	for (int d = 0; d < rank; d++) {
		least_first(extent, stride, mode, d, rank);
		if (stride[d] <= reach)
			return why_fail(w, DSL_ERR_FACT,
					"tensor %s: elements overlap: stride %d is %s, and what "
					"lies between two steps of it reaches %lld elements",
					a->name, mode[d],
					named_value(a->stride[mode[d]], stride[d]).at,
					(long long)reach + 1);
		reach += (extent[d] - 1) * stride[d];
	}
	return DSL_OK;
}

/* Extents and strides at least 0, and every byte offset within 63 bits. */
static dsl_status tensor_check(const Why *w, Launch *l, int i)
{
	const KArg *a = &l->plan->k->args[i];
	int64_t *extent = l->extent[i], *stride = l->stride[i], reach,
		last = 0; /* the last element's offset */
	bool fits = true;
	dsl_status st = sizes_eval(w, l, i, false, extent);
	if (!st)
		st = sizes_eval(w, l, i, true, stride);
	if (st)
		return st;
	for (int d = 0; d < a->rank; d++) {
		l->empty[i] = l->empty[i] || extent[d] == 0;
		if (extent[d] == 1) /* no step is taken, however long */
			stride[d] = 0;
		fits = fits && !__builtin_mul_overflow(extent[d] - 1, stride[d], &reach) &&
		       !__builtin_add_overflow(last, reach, &last);
	}
	if (l->empty[i])
		return DSL_OK;
	if (fits && last < INT64_MAX / 8) {
		l->bytes[i] = (uint64_t)elem_span(a->elem, last + 1);
		return a->dir == KD_OUT ? apart_check(w, a, extent, stride) : DSL_OK;
	}
	Line syms = {.n = 0};
	syms_line(l, &syms);
	return why_fail(w, DSL_ERR_EXTENT, "tensor %s: its size leaves 63 bits with %s", a->name,
			syms.at);
}

/* Whether the name is a token of the postfix text. */
static bool names(const char *postfix, const char *name)
{
	size_t n = strlen(name);
	for (const char *s = postfix; *s; s += strcspn(s, " "), s += *s == ' ')
		if (strncmp(s, name, n) == 0 && (!s[n] || s[n] == ' '))
			return true;
	return false;
}

/* With the value of every size that the condition names. */
static dsl_status fact_fail(const Why *w, const Launch *l, const KFact *f)
{
	const KDesc *k = l->plan->k;
	Line value = {.n = 0};
	for (int i = 0; i < k->nsyms; i++)
		if (names(f->cond, k->syms[i]))
			line_add(&value, "%s%s = %lld", value.n ? ", " : ", but ", k->syms[i],
				 (long long)l->env[i]);
	return why_fail(w, DSL_ERR_FACT, "kernel %s needs %s%s (%s)", k->name, f->text, value.at,
			f->rule);
}

static dsl_status facts_check(const Why *w, const Launch *l)
{
	for (int i = 0; i < l->plan->k->nfacts; i++) {
		int64_t holds;
		const KFact *f = &l->plan->k->facts[i];
		dsl_status st = eval(w, l, l->plan->facts[i], f->cond, &holds);
		if (st)
			return st;
		if (!holds)
			return fact_fail(w, l, f);
	}
	return DSL_OK;
}

static dsl_status grid_check(const Why *w, Launch *l)
{
	static const int64_t limits[3] = {INT32_MAX, 65535, 65535};
	const KDesc *k = l->plan->k;
	for (int i = 0; i < 3; i++) {
		int64_t v;
		dsl_status st = eval(w, l, l->plan->grid[i], k->grid[i], &v);
		if (st)
			return st;
		if (v < 0 || v > limits[i])
			return why_fail(w, DSL_ERR_GRID,
					"kernel %s: grid.%c is outside 0 .. %lld: %s", k->name,
					"xyz"[i], (long long)limits[i],
					named_value(k->grid[i], v).at);
		if (v % k->cluster[i])
			return why_fail(
				w, DSL_ERR_GRID,
				"kernel %s: grid.%c is not a multiple of the cluster's %d: %s",
				k->name, "xyz"[i], k->cluster[i], named_value(k->grid[i], v).at);
		l->grid[i] = (uint32_t)v;
		l->nothing = l->nothing || v == 0;
	}
	return DSL_OK;
}

static dsl_status address_check(const Why *w, const Launch *l, int i, int align, const char *rule)
{
	const KArg *a = &l->plan->k->args[i];
	if (l->empty[i])
		return DSL_OK;
	if (!l->value[i])
		return why_fail(w, DSL_ERR_NULL,
				"tensor %s of kernel %s has elements and a null address", a->name,
				l->plan->k->name);
	if (l->value[i] % (uint64_t)align)
		return why_fail(w, DSL_ERR_ALIGN,
				"tensor %s: address 0x%llx is not a multiple of %d bytes, which %s "
				"asks for",
				a->name, (unsigned long long)l->value[i], align, rule);
	return DSL_OK;
}

static dsl_status addresses_check(const Why *w, const Launch *l)
{
	const KDesc *k = l->plan->k;
	for (int i = 0; i < k->nargs; i++) {
		const KArg *a = &k->args[i];
		int bytes = (int)elem_span(a->elem, 1);
		bool wide = a->align > bytes;
		dsl_status st = DSL_OK;
		if (a->kind == KA_TENSOR)
			st = address_check(w, l, i, wide ? a->align : bytes,
					   wide ? "the kernel's widest access"
						: "its element type");
		if (st)
			return st;
	}
	return DSL_OK;
}

/* Loads of a tensor without elements begin beyond element 0 (passes/tile/inside_tensor.c), but its
 * map must encode: it has one element, at the address of any other tensor. */
static MapGeom empty_geom(const Launch *l)
{
	MapGeom g = {.base = 16};
	for (int i = 0; i < l->plan->k->nargs; i++)
		if (l->plan->k->args[i].kind == KA_TENSOR && !l->empty[i])
			g.base = l->value[i] & ~UINT64_C(15);
	for (int d = 0; d < KD_MAX_RANK; d++)
		g.dims[d] = 1;
	for (int d = 0; d < KD_MAX_RANK - 1; d++)
		g.strides[d] = 16;
	return g;
}

static dsl_status map_dim(const Why *w, const Launch *l, int i, int d, MapGeom *g)
{
	const KMap *m = &l->plan->k->maps[i];
	int64_t v;
	dsl_status st = eval(w, l, l->plan->dims[i][d], m->dims[d], &v);
	if (st)
		return st;
	g->dims[d] = (uint64_t)v;
	if (v >= 1 && v <= max_map_dim)
		return DSL_OK;
	return why_fail(w, DSL_ERR_EXTENT,
			"tensor %s: %s is outside 1 .. 2^32 elements, what a tensor map describes",
			l->plan->k->args[m->arg].name, named_value(m->dims[d], v).at);
}

/* What a copy would mend. */
static const char *copy_hint(const KMap *m)
{
	return m->copy ? "; a launch that is given workspace copies it first" : "";
}

/* What a copy mends is no refusal where copied says so: *copied instead. */
static dsl_status map_stride(const Why *w, const Launch *l, int i, int d, MapGeom *g, bool *copied)
{
	const KMap *m = &l->plan->k->maps[i];
	int64_t v;
	dsl_status st = eval(w, l, l->plan->strides[i][d], m->strides[d], &v);
	if (st)
		return st;
	g->strides[d] = (uint64_t)v;
	/* All matrices of a batch that is read may be one, and so is the one of a batch of one. */
	bool batch = m->box[d + 1] == 1 && (!m->store || g->dims[d + 1] == 1);
	bool uneven = v % 16;
	const char *rule = uneven && !copied     ? "not a multiple of 16"
			   : v < !batch          ? "not positive"
			   : v >= max_map_stride ? "not under 2^40"
						 : NULL;
	if (copied)
		*copied = *copied || uneven;
	if (!rule)
		return DSL_OK;
	return why_fail(w, DSL_ERR_STRIDE,
			"tensor %s: stride of %s bytes is %s, as TMA requires (PTX ISA, tensor "
			"maps)%s",
			l->plan->k->args[m->arg].name, named_value(m->strides[d], v).at, rule,
			uneven ? copy_hint(m) : "");
}

/* What a unit of 16 bytes holds after a row's end is written too (sim/tma.c). */
static dsl_status map_row(const Why *w, const Launch *l, int i, const MapGeom *g)
{
	const KMap *m = &l->plan->k->maps[i];
	uint64_t bytes = g->dims[0] * (uint64_t)elem_rows[m->elem].bits / 8;
	if (!m->store || bytes % 16 == 0)
		return DSL_OK;
	return why_fail(w, DSL_ERR_EXTENT,
			"tensor %s: rows of %s elements are %llu bytes, and TMA stores whole units "
			"of 16 bytes, even beyond the end of a row",
			l->plan->k->args[m->arg].name,
			named_value(m->dims[0], (int64_t)g->dims[0]).at, (unsigned long long)bytes);
}

/* The address is that of a copy already, whose rows lie as dsl_pack put them. */
static dsl_status packed_geom(const Why *w, Launch *l, int i)
{
	Copy c;
	uint64_t bytes, base = l->maps[i].base;
	dsl_status st = copy_of(w, l, i, &c, &bytes);
	l->maps[i] = c.to;
	l->maps[i].base = base;
	l->bytes[c.arg] = bytes;
	return st;
}

static dsl_status map_check(const Why *w, Launch *l, int i)
{
	const KMap *m = &l->plan->k->maps[i];
	MapGeom *g = &l->maps[i];
	l->copied[i] = -1;
	if (l->empty[m->arg]) {
		*g = empty_geom(l);
		return DSL_OK;
	}
	g->base = l->value[m->arg];
	bool able = m->copy && (l->copying || l->packed[m->arg]);
	bool copied = able && g->base % 16 && !l->packed[m->arg];
	dsl_status st = copied ? DSL_OK : address_check(w, l, m->arg, 16, "TMA");
	for (int d = 0; d < m->rank && !st; d++)
		st = map_dim(w, l, i, d, g);
	for (int d = 0; d < m->rank - 1 && !st; d++)
		st = map_stride(w, l, i, d, g, able ? &copied : NULL);
	if (!st && l->packed[m->arg])
		return packed_geom(w, l, i);
	if (!st && copied)
		return copy_add(w, l, i);
	return st ? st : map_row(w, l, i, g);
}

dsl_status map_measure(const Why *w, Launch *l, int i)
{
	const KMap *m = &l->plan->k->maps[i];
	bool any = false;
	l->maps[i].base = l->value[m->arg];
	dsl_status st = tensor_check(w, l, m->arg);
	if (st || l->empty[m->arg])
		return st;
	st = address_check(w, l, m->arg, elem_rows[m->elem].bits / 8, "its element type");
	for (int d = 0; d < m->rank && !st; d++)
		st = map_dim(w, l, i, d, &l->maps[i]);
	for (int d = 0; d < m->rank - 1 && !st; d++)
		st = map_stride(w, l, i, d, &l->maps[i], &any);
	return st;
}

/* What TMA cannot take, the kernel stores without it. */
static dsl_status map_make(const Why *w, Launch *l, int i)
{
	Why nobody = {NULL, 0};
	bool optional = l->plan->k->maps[i].optional;
	dsl_status st = map_check(optional ? &nobody : w, l, i);
	l->made[i] = st == DSL_OK;
	return optional ? DSL_OK : st;
}

dsl_status launch_check(const Why *w, Launch *l)
{
	const KDesc *k = l->plan->k;
	dsl_status st = DSL_OK;
	for (int i = 0; i < k->nargs && !st; i++)
		if (k->args[i].kind == KA_TENSOR)
			st = tensor_check(w, l, i);
	if (!st)
		st = facts_check(w, l);
	if (!st)
		st = grid_check(w, l);
	if (st || l->nothing)
		return st;
	st = addresses_check(w, l);
	for (int i = 0; i < k->nmaps && !st; i++)
		st = map_make(w, l, i);
	return st ? st : overlap_check(w, l);
}
