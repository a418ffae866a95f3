/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cublaslt.c - NVIDIA's library on the same buffers: what a program gets that asks its heuristics
 * once and takes the first answer. No header of it is needed: its interface is C and its enums do
 * not change (cublasLt.h of CUDA 12 and 13).
 *     D = A B', rows contiguous  ->  D' = B A', columns contiguous: T, N, ld K, K, N */
#include "driver/bench/machine.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	OP_T = 1,
	COMPUTE_32F = 68,
	TYPE_32F = 0,
	TYPE_16F = 2,
	TYPE_16BF = 14,
	TYPE_E4M3 = 28,
	TYPE_E5M2 = 29,
	DESC_TRANSA = 3,
	DESC_TRANSB = 4,
	DESC_FAST_SUMS = 25,
	PREF_WORKSPACE = 1,
	WORKSPACE = 64 << 20
};

typedef struct {
	uint64_t data[8];
} Algorithm;
typedef struct {
	Algorithm algorithm;
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
} Choice;

/* result, name after cublasLt, parameters */
#define ENTRIES(X)                                                                                 \
	X(size_t, GetVersion, (void))                                                              \
	X(int, Create, (void **))                                                                  \
	X(int, Destroy, (void *))                                                                  \
	X(int, MatmulDescCreate, (void **, int, int))                                              \
	X(int, MatmulDescDestroy, (void *))                                                        \
	X(int, MatmulDescSetAttribute, (void *, int, const void *, size_t))                        \
	X(int, MatrixLayoutCreate, (void **, int, uint64_t, uint64_t, int64_t))                    \
	X(int, MatrixLayoutDestroy, (void *))                                                      \
	X(int, MatmulPreferenceCreate, (void **))                                                  \
	X(int, MatmulPreferenceDestroy, (void *))                                                  \
	X(int, MatmulPreferenceSetAttribute, (void *, int, const void *, size_t))                  \
	X(int, MatmulAlgoGetHeuristic,                                                             \
	  (void *, void *, void *, void *, void *, void *, void *, int, Choice *, int *))          \
	X(int, MatmulAlgoConfigGetAttribute, (const Algorithm *, int, void *, size_t, size_t *))   \
	X(int, Matmul,                                                                             \
	  (void *, void *, const void *, const void *, void *, const void *, void *, const void *, \
	   const void *, void *, void *, void *, const Algorithm *, void *, size_t, void *))

struct Lt {
	void *lib, *handle, *op, *a, *b, *d;
	dsl_device *dev;
	dsl_addr space;
	Choice choice;
	int found;
	int first, second, out; /* tensors: what BLAS calls A, B and D */
	char text[256];
#define X(type, name, parameters) type(*name) parameters;
	ENTRIES(X)
#undef X
};

/* ------------------------------------------------------------------ shapes */
bool lt_matrix(const Matrix *x, bool transpose, LtMatrix *out)
{
	bool columns = x->down == 1;
	if (!columns && x->along != 1)
		return false;
	*out = columns ? (LtMatrix){0, x->rows, x->cols, x->along}
		       : (LtMatrix){1, x->cols, x->rows, x->down};
	if (out->ld < out->rows)
		out->ld = out->rows; /* of one column */
	out->transposed ^= transpose;
	return true;
}

static int type_of(Elem e)
{
	static const int types[EL_COUNT] = {[EL_BF16] = TYPE_16BF,
					    [EL_F16] = TYPE_16F,
					    [EL_E4M3] = TYPE_E4M3,
					    [EL_E5M2] = TYPE_E5M2};
	return types[e] ? types[e] : e == EL_F32 ? TYPE_32F : -1;
}

/* Operands of 8 bits are added up as wgmma does, without promotion to more digits. */
static int sums_set(const Lt *l, Elem e)
{
	int8_t fast = 1;
	if (elem_bytes(e) != 1)
		return 0;
	return l->MatmulDescSetAttribute(l->op, DESC_FAST_SUMS, &fast, sizeof fast);
}

/* ------------------------------------------------------------------ the library */
static const char *entries_find(Lt *l)
{
	static const char *const names[] = {
		"libcublasLt.so.13",
		"libcublasLt.so.12",
		"/usr/local/cuda/lib64/libcublasLt.so.13",
		"/usr/local/cuda/lib64/libcublasLt.so.12",
		"libcublasLt.so",
	};
	l->lib = library_open("DSLC_CUBLASLT", names, COUNTOF(names));
	if (!l->lib)
		return "libcublasLt.so.13 and .12 cannot be loaded";
#define X(type, name, parameters)                            \
	if (!entry_find(l->lib, "cublasLt" #name, &l->name)) \
		return "the library has no cublasLt" #name;
	ENTRIES(X)
#undef X
	return NULL;
}

static int layout_make(const Lt *l, const Problem *p, int tensor, const LtMatrix *m, void **out)
{
	return l->MatrixLayoutCreate(out, type_of(p->t[tensor].elem), (uint64_t)m->rows,
				     (uint64_t)m->cols, m->ld);
}

static const char *describe(Lt *l, const Problem *p, const Matrix *a, const Matrix *b,
			    const Matrix *d)
{
	LtMatrix ma, mb, md;
	if (!lt_matrix(a, false, &ma) || !lt_matrix(b, true, &mb) || !lt_matrix(d, false, &md))
		return "a matrix has no contiguous rows or columns";
	if (type_of(p->t[a->tensor].elem) < 0 || type_of(p->t[b->tensor].elem) < 0 ||
	    type_of(p->t[d->tensor].elem) < 0)
		return "a matrix has a type that it is not asked for here";
	l->first = a->tensor;
	l->second = b->tensor;
	l->out = d->tensor;
	if (l->MatmulDescCreate(&l->op, COMPUTE_32F, TYPE_32F) ||
	    l->MatmulDescSetAttribute(l->op, DESC_TRANSA, &ma.transposed, sizeof(int)) ||
	    l->MatmulDescSetAttribute(l->op, DESC_TRANSB, &mb.transposed, sizeof(int)) ||
	    sums_set(l, p->t[l->first].elem) || layout_make(l, p, l->first, &ma, &l->a) ||
	    layout_make(l, p, l->second, &mb, &l->b) || layout_make(l, p, l->out, &md, &l->d))
		return "it refuses the description of the product";
	return NULL;
}

/* D with contiguous columns, or its transpose: D' = B A'. */
static const char *describe_product(Lt *l, const Problem *p, const Product *x)
{
	Matrix flipped = x->d;
	flipped.rows = x->d.cols;
	flipped.cols = x->d.rows;
	flipped.down = x->d.along;
	flipped.along = x->d.down;
	return x->d.down == 1 ? describe(l, p, &x->a, &x->b, &x->d)
			      : describe(l, p, &x->b, &x->a, &flipped);
}

static const char *ask(Lt *l)
{
	void *preference = NULL;
	uint64_t most = WORKSPACE;
	int r = l->MatmulPreferenceCreate(&preference);
	if (!r)
		r = l->MatmulPreferenceSetAttribute(preference, PREF_WORKSPACE, &most, sizeof most);
	if (!r)
		r = l->MatmulAlgoGetHeuristic(l->handle, l->op, l->a, l->b, l->d, l->d, preference,
					      1, &l->choice, &l->found);
	if (preference)
		l->MatmulPreferenceDestroy(preference);
	return r || !l->found || l->choice.state ? "its heuristics know no algorithm" : NULL;
}

static void put_text(Lt *l)
{
	static const struct {
		const char *name;
		int attribute;
	} rows[] = {{"algorithm", 0}, {"tile", 1}, {"stages", 6}, {"split-K", 2}};
	size_t n = (size_t)snprintf(l->text, sizeof l->text,
				    "version %zu, its heuristics' first:", l->GetVersion());
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		int v = 0;
		size_t size;
		if (!l->MatmulAlgoConfigGetAttribute(&l->choice.algorithm, rows[i].attribute, &v,
						     sizeof v, &size))
			n += (size_t)snprintf(l->text + n, sizeof l->text - n, " %s %d,",
					      rows[i].name, v);
	}
	snprintf(l->text + n, sizeof l->text - n, " %zu of %d MiB of workspace",
		 (l->choice.workspace + (1 << 20) - 1) >> 20, WORKSPACE >> 20);
}

static const char *prepare(Lt *l, const Rig *r, const Product *p)
{
	const char *why = entries_find(l);
	if (!why && (gpu_current(r->dev) || l->Create(&l->handle)))
		why = "it does not start";
	if (!why)
		why = describe_product(l, r->p, p);
	if (!why)
		why = ask(l);
	if (!why && dsl_mem_alloc(r->dev, WORKSPACE, &l->space))
		why = "there is no memory left for its workspace";
	if (!why)
		put_text(l);
	return why;
}

Lt *lt_open(const Rig *r, const Product *p, char *why, size_t size)
{
	Lt *l = calloc(1, sizeof *l);
	const char *failed = l ? NULL : "out of memory";
	if (l)
		l->dev = r->dev;
	if (l)
		failed = p->known ? prepare(l, r, p) : "the kernel is no single product";
	if (!failed)
		return l;
	snprintf(why, size, "%s", failed);
	lt_close(l);
	return NULL;
}

dsl_status lt_launch(const Runner *x, const Rig *r, int set)
{
	static const float one = 1, zero = 0;
	const Lt *l = x->self;
	void *a = (void *)(uintptr_t)rig_tensor(r, set, l->first);
	void *b = (void *)(uintptr_t)rig_tensor(r, set, l->second);
	void *d = (void *)(uintptr_t)rig_tensor(r, set, l->out);
	int failed =
		l->Matmul(l->handle, l->op, &one, a, l->a, b, l->b, &zero, d, l->d, d, l->d,
			  &l->choice.algorithm, (void *)(uintptr_t)l->space, WORKSPACE, r->stream);
	return failed ? DSL_ERR_CUDA : DSL_OK;
}

const char *lt_text(const Lt *l)
{
	return l->text;
}

void lt_close(Lt *l)
{
	if (!l)
		return;
	if (l->handle) {
		l->op ? l->MatmulDescDestroy(l->op) : 0;
		l->a ? l->MatrixLayoutDestroy(l->a) : 0;
		l->b ? l->MatrixLayoutDestroy(l->b) : 0;
		l->d ? l->MatrixLayoutDestroy(l->d) : 0;
		l->Destroy(l->handle);
	}
	dsl_mem_free(l->dev, l->space);
	free(l); /* the library stays: what it left with the driver is called at the end */
}
