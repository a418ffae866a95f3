/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tensors.c - sizes from the tensors of a call. A size that is alone in an extent is that extent;
 * one that is alone in a stride, and in no extent, is that stride; every other expression must
 * then give what the tensor has.
 *   kernel gemm(A : bf16 (M,K):(K,1), ...) on a 128 x 72 tensor  ->  M = 128, K = 72 */
#include "runtime/rt.h"

#include "runtime/tensors.h"

#include <string.h>

typedef struct {
	const Why *w;
	const KDesc *k;
	const Plan *plan;
	TensorCall *c;
	TensorView view[KD_MAX_ARGS]; /* in the kernel's elements */
	int64_t extent[KD_MAX_ARGS][KD_MAX_RANK], stride[KD_MAX_ARGS][KD_MAX_RANK];
	bool known[KD_MAX_SYMS];
	int64_t env[EXPR_ENV];
} Bind;

static bool is_there(const Bind *b, int i)
{
	return b->k->args[i].kind == KA_TENSOR && b->c->view[i].rank >= 0;
}

/* The symbol that an expression consists of, or -1. */
static int lone_sym(Expr e)
{
	return expr_is_sym(e) ? e.ins[0].sym : -1;
}

static int64_t stride_of(const TensorView *v, int dim)
{
	if (v->stride)
		return v->stride[dim];
	int64_t stride = 1;
	for (int d = v->rank - 1; d > dim; d--)
		stride *= v->extent[d];
	return stride;
}

/* Elements of 4 bits are given by their bytes: of neighbours there are twice as many. */
static void view_take(Bind *b, int i)
{
	const KArg *a = &b->k->args[i];
	TensorView *v = &b->view[i];
	int64_t per = elem_count(a->elem, 1);
	*v = b->c->view[i];
	if (per < 2 || v->elem != EL_U8 || v->rank != a->rank)
		return;
	for (int d = 0; d < v->rank; d++) {
		bool fast = !strcmp(a->stride[d], "1");
		b->extent[i][d] = v->extent[d] * (fast ? per : 1);
		b->stride[i][d] = stride_of(v, d) * (fast ? 1 : per);
	}
	v->elem = a->elem;
	v->extent = b->extent[i];
	v->stride = b->stride[i];
}

/* "128 x 64" */
static void shape_line(const TensorView *v, Line *out)
{
	if (v->rank == 0)
		line_add(out, "none");
	for (int d = 0; d < v->rank; d++)
		line_add(out, "%s%lld", d ? " x " : "", (long long)v->extent[d]);
}

/* Array libraries without bf16 or fp8 have their bits in unsigned integers; tf32 is f32 in memory.
 * */
static bool elem_fits(Elem wants, Elem got)
{
	bool bits = elem_rows[wants].bits == elem_rows[got].bits;
	return wants == got || (wants == EL_TF32 && got == EL_F32) ||
	       (bits && wants == EL_BF16 && got == EL_U16) ||
	       (bits && (wants == EL_E4M3 || wants == EL_E5M2) && got == EL_U8);
}

static dsl_status form_check(const Bind *b, int i)
{
	const KArg *a = &b->k->args[i];
	const TensorView *v = &b->view[i];
	Line l = {.n = 0};
	if (!elem_fits(a->elem, v->elem))
		return why_fail(b->w, DSL_ERR_ARG_TYPE, "tensor %s of kernel %s is %s; got %s",
				a->name, b->k->name, elem_rows[a->elem].name,
				elem_rows[v->elem].name);
	if (v->rank == a->rank)
		return DSL_OK;
	for (int d = 0; d < a->rank; d++) {
		line_add(&l, d ? ", " : "");
		expr_infix(a->shape[d], &l);
	}
	line_add(&l, "); got ");
	shape_line(v, &l);
	return why_fail(b->w, DSL_ERR_SHAPE, "tensor %s of kernel %s has %d dimensions (%s",
			a->name, b->k->name, a->rank, l.at);
}

static void learn(Bind *b, int sym, int64_t value)
{
	if (sym < 0 || b->known[sym])
		return;
	b->known[sym] = true;
	b->env[sym] = value;
}

static void learn_extents(Bind *b, int i)
{
	for (int d = 0; d < b->k->args[i].rank; d++)
		learn(b, lone_sym(b->plan->shape[i][d]), b->view[i].extent[d]);
}

static void learn_strides(Bind *b, int i, bool real)
{
	const TensorView *v = &b->view[i];
	for (int d = 0; d < b->k->args[i].rank; d++)
		if (!real || v->extent[d] > 1)
			learn(b, lone_sym(b->plan->stride[i][d]), stride_of(v, d));
}

/* The stride along an extent of 1 is whatever a library left there: it is the last to be asked. */
static void learn_all(Bind *b)
{
	for (int pass = 0; pass < 3; pass++)
		for (int i = 0; i < b->k->nargs; i++)
			if (!is_there(b, i))
				continue;
			else if (pass == 0)
				learn_extents(b, i);
			else
				learn_strides(b, i, pass == 1);
}

static bool empty(const TensorView *v)
{
	for (int d = 0; d < v->rank; d++)
		if (v->extent[d] == 0)
			return true;
	return false;
}

/* What the tensor has, against what the kernel's expression gives; a stride along an extent of 1 is
 * never used. */
static dsl_status dim_check(const Bind *b, int i, int d, bool stride)
{
	const KArg *a = &b->k->args[i];
	const TensorView *v = &b->view[i];
	int64_t wants, has = stride ? stride_of(v, d) : v->extent[d];
	const char *text = stride ? a->stride[d] : a->shape[d];
	if (stride && (v->extent[d] <= 1 || empty(v)))
		return DSL_OK;
	if (expr_eval(stride ? b->plan->stride[i][d] : b->plan->shape[i][d], b->env, &wants) !=
		    EXPR_OK ||
	    wants == has)
		return DSL_OK; /* what cannot be evaluated is said by the launch */
	Line l = {.n = 0};
	expr_infix(text, &l);
	if (*text < '0' || *text > '9' || strchr(text, ' '))
		line_add(&l, " = %lld", (long long)wants);
	return why_fail(b->w, DSL_ERR_SHAPE,
			"tensor %s of kernel %s: %s %d is %lld, but the kernel takes %s", a->name,
			b->k->name, stride ? "stride" : "extent", d, (long long)has, l.at);
}

static dsl_status tensor_check(const Bind *b, int i)
{
	dsl_status st = DSL_OK;
	for (int d = 0; d < b->k->args[i].rank && !st; d++)
		st = dim_check(b, i, d, false);
	for (int d = 0; d < b->k->args[i].rank && !st; d++)
		st = dim_check(b, i, d, true);
	return st;
}

static dsl_status sizes_set(Bind *b)
{
	for (int i = 0; i < b->k->nsyms; i++) {
		if (!b->known[i])
			return why_fail(
				b->w, DSL_ERR_ARG_MISSING,
				"size %s of kernel %s follows from no tensor: give it by name",
				b->k->syms[i], b->k->name);
		b->c->args[b->k->nargs + i] = dsl_arg_int(b->k->syms[i], b->env[i]);
	}
	return DSL_OK;
}

dsl_status dsl_tensors_bind(const dsl_module *mod, const KDesc *k, TensorCall *c)
{
	Why w = why_thread();
	Bind b = {.w = &w, .k = k, .plan = &mod->plans[k - mod->desc->kernels], .c = c};
	dsl_status st = DSL_OK;
	b.env[EXPR_SMS] = 1;
	for (int i = 0; i < k->nsyms; i++)
		if (c->given[k->nargs + i])
			learn(&b, i, c->args[k->nargs + i].v.i);
	for (int i = 0; i < k->nargs && !st; i++) {
		if (k->args[i].kind == KA_TENSOR)
			c->args[i] = dsl_arg_ptr(k->args[i].name, c->view[i].base);
		if (!is_there(&b, i))
			continue;
		view_take(&b, i);
		st = form_check(&b, i);
	}
	if (st)
		return st;
	learn_all(&b);
	st = sizes_set(&b);
	for (int i = 0; i < k->nargs && !st; i++)
		if (is_there(&b, i))
			st = tensor_check(&b, i);
	return st;
}
