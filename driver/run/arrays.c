/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* arrays.c - a tensor and an array of its shape, element by element, whatever the tensor's strides:
 * the bits of its type, or floats, which are rounded to it.
 *     --in A=x.npy     A : bf16 (M,K):(1,M), x of '<u2' (M,K): bits; of '<f4': rounded
 *                      A : s4 (M,K):(K,1), x of '|u1' (M,K): an element each in its low half
 *     --out D=d.npy    D : e4m3, d of '|u1'
 *     --expect D=e.npy D's elements as somebody else computed them */
#include "driver/run/arrays.h"
#include "driver/run/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY = 512 };

/* The modes of a tensor, parts of modes as modes of their own, and where the next element of the
 * array is in it: the last mode first. */
typedef struct {
	int n;
	int64_t extent[MODES_MOST], step[MODES_MOST], at[MODES_MOST], offset;
} Walk;

static bool walk_begin(const Problem *p, int tensor, Walk *w)
{
	const Layout *l = layout_flat(p->ctx, p->k->args.at[tensor].val->type->layout);
	*w = (Walk){.n = layout_rank(l)};
	for (int i = 0; i < w->n && w->n <= MODES_MOST; i++) {
		w->extent[i] = problem_eval(p, tup_get(l->shape, i)->leaf);
		w->step[i] = problem_eval(p, tup_get(l->stride, i)->leaf);
	}
	return w->n <= MODES_MOST;
}

static void walk_on(Walk *w)
{
	for (int i = w->n; i-- > 0;) {
		w->offset += w->step[i];
		if (++w->at[i] < w->extent[i])
			return;
		w->offset -= w->extent[i] * w->step[i];
		w->at[i] = 0;
	}
}

/* What an output holds before the launch is an input, where it counts. */
static bool is_input(const Tensor *t)
{
	return !t->is_out || t->is_kept;
}

static int tensor_named(const Problem *p, const char *name, bool is_out)
{
	for (int i = 0; i < p->nt; i++)
		if (!p->t[i].is_scalar && (is_out ? p->t[i].is_out : is_input(&p->t[i])) &&
		    !strcmp(p->t[i].name, name))
			return i;
	return -1;
}

/* Its elements as a file has them: tf32 is f32 in memory. */
static const NpyType *stored_type(Elem e)
{
	const char *name = e == EL_TF32 ? "f32" : elem_rows[e].name;
	return npy_type(name, strlen(name));
}

static bool is_bits(const NpyType *type, Elem e)
{
	const char *bits = elem_rows[e].bits <= 8    ? "|u1"
			   : elem_rows[e].bits == 16 ? "<u2"
			   : elem_rows[e].bits == 32 ? "<u4"
						     : "<u8";
	return !strcmp(type->code, stored_type(e)->code) || !strcmp(type->code, bits);
}

/* The element type of an array of floats that are rounded; EL_COUNT: it is none. */
static Elem rounded_from(const NpyType *type)
{
	return type->code[1] != 'f' ? EL_COUNT
	       : type->bytes == 8   ? EL_F64
	       : type->bytes == 4   ? EL_F32
				    : EL_F16;
}

static bool shape_fits(const Npy *a, const Walk *w)
{
	bool same = a->rank == w->n;
	for (int i = 0; i < w->n && same; i++)
		same = (int64_t)a->shape[i] == w->extent[i];
	return same;
}

static const char *fits(const Problem *p, int tensor, const char *file, const Npy *a, const Walk *w)
{
	const Tensor *t = &p->t[tensor];
	Buf b = {0};
	const char *why = NULL;
	if (!shape_fits(a, w)) {
		for (int i = 0; i < w->n; i++)
			buf_printf(&b, "%s%lld", i ? "," : "", (long long)w->extent[i]);
		why = ctx_strf(p->ctx, "%s has another shape than %s, which is (%s)", file, t->name,
			       b.s);
	} else if (!is_bits(a->type, t->elem) && rounded_from(a->type) == EL_COUNT) {
		why = ctx_strf(p->ctx,
			       "%s has elements of '%s': %s takes '%s', the bits of %s, or floats, "
			       "which are rounded",
			       file, a->type->code, t->name, stored_type(t->elem)->code,
			       elem_rows[t->elem].name);
	}
	buf_free(&b);
	return why;
}

static void place(const Tensor *t, const Npy *a, Walk *w, void *to)
{
	size_t size = elem_bytes(t->elem);
	Elem from = rounded_from(a->type);
	for (size_t i = 0; i < a->count; i++, walk_on(w))
		if (is_bits(a->type, t->elem) && !size)
			elem_put(t->elem, to, w->offset,
				 elem_rows[t->elem].unpack(((const uint8_t *)a->data)[i]));
		else if (is_bits(a->type, t->elem))
			memcpy((char *)to + (size_t)w->offset * size, (char *)a->data + i * size,
			       size);
		else
			elem_put(t->elem, to, w->offset, elem_get(from, a->data, (int64_t)i));
}

static const char *read_one(const Problem *p, const FileArg *arg, bool is_out, GivenArray *g)
{
	char said[WHY];
	Npy a;
	Walk w;
	g->name = arg->name;
	g->at = tensor_named(p, arg->name, is_out);
	if (g->at < 0)
		return ctx_strf(p->ctx, "kernel %s has no %s %s", p->k->name,
				is_out ? "output" : "input tensor", arg->name);
	if (!walk_begin(p, g->at, &w))
		return ctx_strf(p->ctx, "%s has modes of several", arg->name);
	if (!npy_read(arg->file, &a, said, sizeof said))
		return ctx_str(p->ctx, said);
	const Tensor *t = &p->t[g->at];
	const char *why = fits(p, g->at, arg->file, &a, &w);
	g->data = why ? NULL : calloc(1, t->bytes + 1);
	if (g->data) {
		g->type = is_bits(a.type, t->elem) ? NULL : elem_rows[rounded_from(a.type)].name;
		place(t, &a, &w, g->data);
	} else if (!why) {
		why = ctx_strf(p->ctx, "no memory for %s", arg->name);
	}
	free(a.data);
	return why;
}

static const char *read_all(const Problem *p, const FileArgs *args, bool is_out, GivenArrays *to)
{
	const char *why = NULL;
	for (int i = 0; i < args->n && !why; i++) {
		GivenArray g = {0};
		why = read_one(p, &args->at[i], is_out, &g);
		vec_push(ctx_arena(p->ctx), to, g);
	}
	return why;
}

/* Of random numbers nobody knows what to expect. */
static const char *find_random(const Problem *p, const Options *o, const GivenArrays *given)
{
	for (int i = 0; i < p->nt && o->arrays_expected.n; i++) {
		bool known = p->t[i].given || !is_input(&p->t[i]);
		for (int j = 0; j < given->n; j++)
			known |= given->at[j].at == i;
		if (!known)
			return ctx_strf(p->ctx, "--expect: %s is random: give it with %s %s=..",
					p->t[i].name, p->t[i].is_scalar ? "--arg" : "--in",
					p->t[i].name);
	}
	return NULL;
}

bool arrays_read(const Problem *p, const Options *o, GivenArrays *given, GivenArrays *expected,
		 const char **why)
{
	*why = read_all(p, &o->arrays_in, false, given);
	*why = *why ? *why : read_all(p, &o->arrays_expected, true, expected);
	*why = *why ? *why : find_random(p, o, given);
	for (int i = 0; i < o->arrays_out.n && !*why; i++)
		if (tensor_named(p, o->arrays_out.at[i].name, true) < 0)
			*why = ctx_strf(p->ctx, "kernel %s has no output %s", p->k->name,
					o->arrays_out.at[i].name);
	return !*why;
}

void arrays_give(const Problem *p, const GivenArrays *given)
{
	for (int i = 0; i < given->n; i++) {
		const Tensor *t = &p->t[given->at[i].at];
		memcpy(t->is_kept ? t->start : t->host, given->at[i].data, t->bytes);
	}
}

void arrays_free(GivenArrays *given)
{
	for (int i = 0; i < given->n; i++)
		free(given->at[i].data);
	*given = (GivenArrays){0};
}

static bool write_one(const Problem *p, const FileArg *arg, char *said)
{
	int tensor = tensor_named(p, arg->name, true);
	const Tensor *t = &p->t[tensor];
	size_t size = elem_bytes(t->elem);
	Npy a = {.type = stored_type(t->elem), .count = 1};
	Walk w;
	if (!walk_begin(p, tensor, &w))
		return snprintf(said, WHY, "%s has modes of several", arg->name) < 0;
	a.rank = w.n;
	for (int i = 0; i < w.n; i++) {
		a.shape[i] = (size_t)w.extent[i];
		a.count *= a.shape[i];
	}
	a.bytes = a.count * size;
	a.data = malloc(a.bytes + 1);
	for (size_t i = 0; i < a.count && a.data; i++, walk_on(&w))
		memcpy((char *)a.data + i * size, (char *)t->host + (size_t)w.offset * size, size);
	bool ok = a.data ? npy_write(arg->file, &a, said, WHY)
			 : snprintf(said, WHY, "no memory for %s", arg->name) < 0;
	free(a.data);
	return ok;
}

bool arrays_write(const Problem *p, const Options *o, const char **why)
{
	char said[WHY];
	for (int i = 0; i < o->arrays_out.n; i++)
		if (!write_one(p, &o->arrays_out.at[i], said)) {
			*why = ctx_str(p->ctx, said);
			return false;
		}
	return true;
}
