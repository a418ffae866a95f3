/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* places.c - where the elements of an argument lie in memory: those of an output apart, those that
 * share a byte within their line. What is not known here is a fact that the launcher checks.
 *     D : out bf16 (M,N):(ldd,1)   ->   fact (N <= ldd) "N <= ldd" "rows of 'D' must not overlap"
 *     W : s4 (M,K):(K,1)           ->   fact (K % 2 == 0) "K % 2 == 0" "elements of 'W' lie .." */
#include "frontend/sema.h"

static const Ix *extent_at(const Tensor *t, int mode)
{
	return tup_get(t->layout->shape, mode)->leaf;
}

static const Ix *stride_at(const Tensor *t, int mode)
{
	return tup_get(t->layout->stride, mode)->leaf;
}

/* Each of its elements lies in a place of its own; false, reported: surely not. */
static bool has_places(Sema *s, const Tensor *t, int mode, const char *what)
{
	if (!ix_is(stride_at(t, mode), 0) || ix_is(extent_at(t, mode), 1))
		return true;
	return reject(s, t->decl->loc, D_E0306,
		      "the %s of '%s' overlap: its stride is 0, so that all lie in one place", what,
		      t->name);
}

/* Two rows of an output never share an element, nor two columns where these are contiguous; one row
 * shares none, whatever its stride. What is not plain is left to the launcher. */
static void rows_apart(Sema *s, const Tensor *t)
{
	int64_t holds;
	int fast = ix_is(stride_at(t, 1), 1) ? 1 : 0;
	const char *lines = fast == 1 ? "rows" : "columns";
	const Ix *row = stride_at(t, 1 - fast), *n = extent_at(t, fast);
	bool is_one = ix_is(extent_at(t, 1 - fast), 1);
	if (is_one || row == n || !ix_is(stride_at(t, fast), 1) ||
	    !has_places(s, t, 1 - fast, lines))
		return;
	const Ix *apart = ix_new(s->ctx, IX_LE, n, row);
	if (!ix_is_const(apart, &holds))
		kernel_fact(s->kernel, apart, ix_text(s->ctx, apart),
			    ctx_strf(s->ctx, "%s of '%s' must not overlap", lines, t->name),
			    t->decl->loc);
	else if (!holds)
		reject(s, t->decl->loc, D_E0306, "the %s of '%s' overlap", lines, t->name);
}

static bool has_lines(const Tensor *t)
{
	return ix_is(stride_at(t, 0), 1) || ix_is(stride_at(t, 1), 1);
}

/* Of more modes, or of none that is contiguous, the order of the strides is the launcher's to
 * find. */
static void elements_apart(Sema *s, const Tensor *t)
{
	Tensor flat = *t;
	flat.layout = layout_flat(s->ctx, t->layout);
	int rank = layout_rank(flat.layout);
	bool is_matrix = rank == 2 && has_lines(&flat);
	if (t->is_out && is_matrix)
		rows_apart(s, &flat);
	for (int i = 0; i < rank && t->is_out && !is_matrix; i++)
		if (!has_places(s, &flat, i, ctx_strf(s->ctx, "elements along mode %d", i)))
			return;
}

/* Of elements that share a byte, lines begin where bytes do, and end so. */
static void bytes_whole(Sema *s, const Tensor *t)
{
	const Layout *flat = layout_flat(s->ctx, t->layout);
	const Ix *per = ix_const(s->ctx, elem_count(t->elem, 1));
	for (int i = 0; i < layout_rank(flat) && !ix_is(per, 1) && !ix_is(per, 0); i++) {
		const Ix *step = tup_get(flat->stride, i)->leaf;
		const Ix *n = ix_is(step, 1) ? tup_get(flat->shape, i)->leaf : step;
		const Ix *whole =
			ix_new(s->ctx, IX_EQ, ix_mod(s->ctx, n, per), ix_const(s->ctx, 0));
		int64_t holds;
		if (!ix_is_const(whole, &holds))
			kernel_fact(s->kernel, whole, ix_text(s->ctx, whole),
				    ctx_strf(s->ctx, "elements of '%s' lie two in a byte", t->name),
				    t->decl->loc);
		else if (!holds)
			reject(s, t->decl->loc, D_E0211,
			       "a line of '%s' begins or ends inside a byte: %s lies two in a byte",
			       t->name, elem_rows[t->elem].name);
		if (n->kind == IX_SYM)
			kernel_sym(s->kernel, n->name, INT64_MIN, INT64_MAX,
				   elem_count(t->elem, 1));
	}
}

/* Of several modes, the rows of which most programs elsewhere have side by side. */
static void warn_of_columns(Sema *s, const Tensor *t)
{
	const Layout *l = t->layout;
	const Node *type = t->decl->kids.at[0];
	int modes = 0;
	for (int i = 0; i < layout_rank(l); i++)
		modes += !ix_is(layout_size(s->ctx, layout_mode(s->ctx, l, i)), 1);
	if (type->kids.at[0]->kind == N_COLON || modes < 2)
		return;
	diag(s->ctx, type->loc, D_W0206,
	     "'%s' has no strides, and is column-major: %s\n"
	     "write %s, if rows lie side by side, or the strides that it has",
	     t->name, layout_str(s->ctx, l), layout_str(s->ctx, layout_right(s->ctx, l->shape)));
}

void tensor_places(Sema *s, const Tensor *t)
{
	warn_of_columns(s, t);
	elements_apart(s, t);
	bytes_whole(s, t);
}
