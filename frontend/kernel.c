/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernel.c - a kernel's head: arguments become typed values and symbols, `where` becomes facts that
 * the launcher checks and, where it is simple, ranges and divisors that every pass may use.
 *     kernel f(A : bf16 (M,K):(K,1)) where K % 8 == 0 { ... }
 *  -> sym M 0..2147483647
 *     sym K 0..2147483647 div=8
 *     fact (K % 8 == 0) "K % 8 == 0" "where clause, line 1"
 *     arg %A : global bf16 (M,K):(K,1) */
#include "frontend/sema.h"

#include <string.h>

enum { ARGS_MAX = 32, SYMBOLS_MAX = 32, CONDITIONS_MAX = 32 };

bool elem_is(const char *name, Elem *out)
{
	for (int e = 0; e < EL_COUNT; e++) {
		if (!elem_rows[e].spoken || !elem_is_called((Elem)e, name))
			continue;
		*out = (Elem)e;
		return true;
	}
	return false;
}

static const char *elems_built(Ctx *c)
{
	const char *all = NULL;
	for (int e = 0; e < EL_COUNT; e++)
		if (elem_rows[e].spoken)
			all = all ? ctx_strf(c, "%s, %s", all, elem_rows[e].name)
				  : elem_rows[e].name;
	return ctx_strf(c, "built are %s", all);
}

bool elem_by_name(Sema *s, const char *name, Loc loc, Elem *out)
{
	Suggest g = suggest_begin(name);
	if (elem_is(name, out))
		return true;
	DiagMsg *m = diag(s->ctx, loc, D_E0210, "unknown element type '%s'", name);
	if (help_habit(s, name, m))
		return false;
	for (int e = 0; e < EL_COUNT; e++)
		if (elem_rows[e].spoken)
			suggest_try(&g, elem_rows[e].name);
	if (g.best)
		suggest_end(s, &g, m);
	else
		diag_remedy(s->ctx, m, "%s", elems_built(s->ctx));
	return false;
}

/* ------------------------------------------------------------------ symbols */
static void bind_symbol(Sema *s, const Node *n, bool extent)
{
	Symbol *old = scope_find(s, n->name);
	bool ours = old && old->value.kind == V_INT && old->value.ix->kind == IX_SYM;
	if (old && old->value.kind == V_BAD)
		return;
	if (old && old->value.kind != V_INT) {
		name_is_free(s, n->name, n->loc);
		return;
	}
	if (!old) {
		bool fits = name_fits_ir(s, n->name, n->loc);
		scope_add(s, n, fits ? value_ix(ix_sym(s->ctx, n->name)) : value_bad());
		if (!fits)
			return;
	}
	if (!old || ours)
		kernel_sym(s->kernel, n->name, 0, extent ? INT32_MAX : INT64_MAX, 1);
}

static void bind_symbols(Sema *s, const Node *n, bool extent)
{
	if (n->kind == N_NAME)
		bind_symbol(s, n, extent);
	for (int i = 0; n->kind == N_TUPLE && i < n->kids.n; i++)
		bind_symbols(s, n->kids.at[i], extent);
}

static bool is_product(const Node *n)
{
	if (n->kind != N_BINARY)
		return n->kind == N_NAME || n->kind == N_INT;
	return n->op == OPER_MUL && is_product(n->kids.at[0]) && is_product(n->kids.at[1]);
}

/* Names and integers only: what a caller can bind and a launcher can check; a stride may be a
 * product of what is bound elsewhere. */
static bool is_plain(Sema *s, const Node *n, bool stride)
{
	if (n->kind == N_NAME || n->kind == N_INT || n->kind == N_ERROR ||
	    (stride && is_product(n)))
		return true;
	if (n->kind != N_TUPLE)
		return reject(s, n->loc, D_E0203,
			      "%s\n"
			      "name it here, and say more in a where clause",
			      stride ? "a stride of an argument is a name, an integer or a "
				       "product of these"
				     : "an extent of an argument is a name or an integer");
	for (int i = 0; i < n->kids.n; i++)
		if (!is_plain(s, n->kids.at[i], stride))
			return false;
	return true;
}

/* ------------------------------------------------------------------ arguments */
static const Layout *arg_layout(Sema *s, const Node *n)
{
	const Node *shape = n, *stride = NULL;
	if (n->kind == N_COLON) {
		shape = n->kids.at[0];
		stride = n->kids.at[1];
	}
	if (!is_plain(s, shape, false) || (stride && !is_plain(s, stride, true)))
		return NULL;
	bind_symbols(s, shape, true);
	if (stride)
		bind_symbols(s, stride, false);
	Value v = eval(s, n);
	return v.kind == V_BAD ? NULL : value_layout(s, &v);
}

/* Modes inside modes are modes of their own to TMA and to the launcher. */
static bool rank_is_built(Sema *s, const Node *n, const Layout *l)
{
	int parts = layout_rank(layout_flat(s->ctx, l));
	if (parts > RANK_MAX && parts > layout_rank(l))
		return reject(s, n->loc, D_E0301,
			      "not built yet: arguments of %d parts of modes; 1 to %d are", parts,
			      RANK_MAX);
	return parts <= RANK_MAX ||
	       reject(s, n->loc, D_E0301, "not built yet: arguments of rank %d; rank 1 to %d is",
		      parts, RANK_MAX);
}

/* TMA coordinates are 32-bit. */
static bool extents_fit(Sema *s, const Node *n, const Layout *l)
{
	for (int i = 0; i < layout_rank(l); i++) {
		int64_t v = 0;
		ix_is_const(layout_size(s->ctx, layout_mode(s->ctx, l, i)), &v);
		if (v > INT32_MAX)
			return reject(s, n->loc, D_E0211,
				      "an extent of an argument is at most 2147483647");
	}
	return true;
}

/* Of a mode with parts all but the last divide coordinates, and are not 0; where one name is
 * unknown, it is so small that all of the mode is counted in 32 bits. */
static void narrow_parts(Sema *s, const Tup *mode)
{
	const Layout *parts = layout_flat(s->ctx, layout_left(s->ctx, mode));
	int last = tup_rank(parts->shape) - 1;
	int64_t before = 1, v;
	for (int i = 0; i < last; i++) {
		const Ix *x = tup_get(parts->shape, i)->leaf;
		if (x->kind == IX_SYM)
			kernel_sym(s->kernel, x->name, 1, INT32_MAX, 1);
		before = ix_is_const(x, &v) ? before * v : 0;
	}
	const Ix *x = tup_get(parts->shape, last)->leaf;
	if (last && before && x->kind == IX_SYM)
		kernel_sym(s->kernel, x->name, 0, INT32_MAX / before, 1);
}

/* Where an argument says the word first, or NULL. */
static const Node *said_way(const Node *n, Word word)
{
	for (int i = 1; i < n->kids.n; i++)
		if (n->kids.at[i]->word == word)
			return n->kids.at[i];
	return NULL;
}

/* Each word once, and one of them. */
static bool ways_fit(Sema *s, const Node *n)
{
	if (n->kids.n < 3)
		return true;
	const Node *first = n->kids.at[1], *second = n->kids.at[2];
	if (first->word == second->word) {
		reject(s, second->loc, D_E0213,
		       "'%s' is %s already\n"
		       "say it once",
		       n->name, second->name);
	} else if (!said_way(n, W_CONSTANT)) {
		reject(s, second->loc, D_E0213,
		       "'%s' is out and inout\n"
		       "inout says both: leave out out",
		       n->name);
	} else {
		reject(s, second->loc, D_E0213,
		       "'%s' is written by the kernel, so it is not constant\n"
		       "leave constant out: it is for inputs",
		       n->name);
	}
	return false;
}

static Value arg_tensor(Sema *s, const Node *n, Elem e)
{
	const Node *type = n->kids.at[0];
	Value v = value_of(V_TENSOR);
	const Layout *l = arg_layout(s, type->kids.at[0]);
	if (!l || !layout_in_memory(s, l, type->loc) || !rank_is_built(s, type, l) ||
	    !extents_fit(s, type, l))
		return value_bad();
	Tensor *t = NEW(s->arena, Tensor);
	*t = (Tensor){.name = n->name, .decl = (Node *)(uintptr_t)n, .elem = e, .layout = l};
	t->is_inout = said_way(n, W_INOUT);
	t->is_out = t->is_inout || said_way(n, W_OUT);
	if (t->is_out && elem_rows[e].bits < 8)
		reject(s, type->loc, D_E0301,
		       "not built yet: outputs of %s; those of 8, 16 and 32 bits are",
		       elem_rows[e].name);
	for (int i = 0; i < layout_rank(l); i++)
		narrow_parts(s, tup_get(l->shape, i));
	vec_push(s->arena, &s->tensors, t);
	v.tensor = t;
	return v;
}

static Value arg_scalar(Sema *s, const Node *n, Elem e)
{
	Value v = value_of(V_SCALAR);
	const Node *constant = said_way(n, W_CONSTANT);
	if (said_way(n, W_OUT) || said_way(n, W_INOUT))
		return rejected(s, n->loc, D_E0213,
				"a scalar cannot be out: give it a shape\n"
				"write out f32 (1), and index it with 0");
	if (constant)
		return rejected(s, constant->loc, D_E0213,
				"a scalar is passed with the launch, so it is constant anyway\n"
				"leave constant out: it is for tensors");
	if (!elem_computes(e))
		return rejected(
			s, n->loc, D_E0301,
			"not built yet: scalar arguments of %s; f16, bf16, f32, f64, s32 and "
			"u32 are",
			elem_rows[e].name);
	v.val = kernel_arg(s->kernel, n->name, type_elem(s->ctx, e), false);
	return v;
}

/* The sizes of a wrong one are names all the same. */
static Value arg(Sema *s, const Node *n)
{
	const Node *type = n->kids.at[0], *shape = type->kids.at[0];
	Elem e;
	if (elem_by_name(s, type->name, type->name_loc, &e) && ways_fit(s, n))
		return shape->kind == N_NONE ? arg_scalar(s, n, e) : arg_tensor(s, n, e);
	if (shape->kind != N_NONE)
		arg_layout(s, shape);
	return value_bad();
}

static void build_tensor(Sema *s, const Node *n)
{
	Symbol *sym = scope_find(s, n->name);
	if (!sym || sym->value.kind != V_TENSOR || sym->value.tensor->decl != n)
		return;
	Tensor *t = sym->value.tensor;
	t->val = kernel_arg(s->kernel, t->name, type_tile(s->ctx, SP_GLOBAL, t->elem, t->layout),
			    t->is_out);
	if (t->is_inout)
		kernel_arg_inout(s->kernel, t->val);
	if (said_way(n, W_CONSTANT))
		kernel_arg_constant(s->kernel, t->val);
	tensor_places(s, t);
}

/* In the order of the file, scalars too: arguments keep their numbers. */
static void args(Sema *s, const Node *list)
{
	if (list->kids.n > ARGS_MAX) {
		reject(s, list->kids.at[ARGS_MAX]->loc, D_E0206,
		       "a kernel has at most %d arguments", ARGS_MAX);
		return;
	}
	for (int i = 0; i < list->kids.n; i++) {
		scope_add(s, list->kids.at[i], arg(s, list->kids.at[i]));
		build_tensor(s, list->kids.at[i]);
	}
	if (s->kernel->syms.n > SYMBOLS_MAX)
		reject(s, list->loc, D_E0206,
		       "the arguments have %d extents and strides by name, at most %d are bound",
		       s->kernel->syms.n, SYMBOLS_MAX);
}

/* ------------------------------------------------------------------ where */
/* The text of the source, each run of blanks one blank. */
const char *source_text(Sema *s, Loc loc)
{
	const Src *src = ctx_src_at(s->ctx, loc.src);
	Buf b = {0};
	for (int i = loc.begin; i < loc.end; i++) {
		bool blank = strchr(" \t\r\n\f\v", src->text[i]);
		if (!blank)
			buf_add(&b, &src->text[i], 1);
		else if (b.n && b.s[b.n - 1] != ' ')
			buf_add(&b, " ", 1);
	}
	return ctx_buf(s->ctx, &b);
}

static void narrow(Sema *s, const Ix *x, int64_t lo, int64_t hi)
{
	if (x->kind == IX_SYM)
		kernel_sym(s->kernel, x->name, lo, hi, 1);
}

static void learn_divisor(Sema *s, const Ix *x)
{
	int64_t div;
	if (x->kind == IX_MOD && x->a->kind == IX_SYM && ix_is_const(x->b, &div))
		kernel_sym(s->kernel, x->a->name, INT64_MIN, INT64_MAX, div);
}

/* `N % 8 == 0`, `M < 65536`, `1 <= K` */
static void learn(Sema *s, const Ix *x)
{
	bool less = x->kind == IX_LT, equal = x->kind == IX_EQ;
	int64_t v;
	if (x->kind == IX_AND) {
		learn(s, x->a);
		learn(s, x->b);
	}
	if (!less && !equal && x->kind != IX_LE)
		return;
	if (equal && (ix_is(x->a, 0) || ix_is(x->b, 0)))
		learn_divisor(s, ix_is(x->a, 0) ? x->b : x->a);
	if (ix_is_const(x->b, &v) && !(less && v == INT64_MIN))
		narrow(s, x->a, equal ? v : INT64_MIN, v - less);
	if (ix_is_const(x->a, &v) && !(less && v == INT64_MAX))
		narrow(s, x->b, v + less, equal ? v : INT64_MAX);
}

/* Two sides that have no number in common: N % 8 == 16. */
static bool never(Sema *s, const Ix *x)
{
	int64_t known;
	IxFacts facts = kernel_facts(s->kernel);
	if (x->kind == IX_AND)
		return never(s, x->a) || never(s, x->b);
	if (x->kind != IX_EQ)
		return ix_is_const(x, &known) && !known;
	return ix_least(x->a, facts) > ix_most(x->b, facts) ||
	       ix_least(x->b, facts) > ix_most(x->a, facts);
}

static void condition(Sema *s, const Node *n)
{
	const Node *e = n->kids.at[0];
	Value v = eval(s, e);
	int64_t known;
	int line, col;
	if (!want(s, &v, V_INT, "a condition"))
		return;
	if (never(s, v.ix))
		reject(s, e->loc, D_E0311,
		       "this condition never holds\n"
		       "ask for what sizes can be, as K %% 8 == 0");
	if (ix_is_const(v.ix, &known))
		return;
	loc_line(s->ctx, e->loc, &line, &col);
	kernel_fact(s->kernel, v.ix, source_text(s, e->loc),
		    ctx_strf(s->ctx, "where clause, line %d", line), e->loc);
	learn(s, v.ix);
}

static bool symbols_have_values(Sema *s, const Node *n)
{
	bool all = true;
	FactList facts = facts_begin(s->kernel);
	EACH_OF(const IxFact, f, facts.at, s->kernel->syms.n)
		if (f->lo > f->hi)
			all = reject(s, n->name_loc, D_E0311,
				     "the where clauses leave no value for '%s'", f->name);
	return all;
}

bool target_fits(Sema *s, const char *name, Loc loc)
{
	if (target_by_name(name))
		return true;
	return reject(s, loc, D_E0301,
		      "not built yet: the target '%s'\n"
		      "write %s",
		      name, target_names(ctx_arena(s->ctx), FT_BASE));
}

bool target_takes(Sema *s, Loc loc, Feature f, const char *remedy)
{
	const char *why = target_lacks(s->ctx, s->kernel->target, f);
	if (why)
		reject(s, loc, D_E0304,
		       "%s\n"
		       "%s",
		       why, remedy);
	return !why;
}

void target_takes_elem(Sema *s, Loc loc, Elem e)
{
	Feature f = feature_converts(e);
	target_takes(s, loc, f,
		     ctx_strf(s->ctx, "store f16, bf16 or s8, or write target %s",
			      target_names(ctx_arena(s->ctx), f)));
}

static void tensors_fit(Sema *s)
{
	for (int i = 0; i < s->tensors.n; i++)
		target_takes_elem(s, s->tensors.at[i]->decl->loc, s->tensors.at[i]->elem);
}

static void target(Sema *s, const Node *n)
{
	if (target_fits(s, n->name, n->name_loc))
		s->kernel->target = ctx_str(s->ctx, n->name);
}

static void clauses(Sema *s, const Node *list)
{
	for (int i = 0; i < list->kids.n; i++) {
		const Node *n = list->kids.at[i];
		if (i >= CONDITIONS_MAX) {
			reject(s, n->loc, D_E0206, "a kernel has at most %d conditions",
			       CONDITIONS_MAX);
			return;
		}
		if (n->kind == N_TARGET)
			target(s, n);
		else
			condition(s, n);
	}
}

/* ------------------------------------------------------------------ the whole */
static void report_unwritten(Sema *s, const Tensor *t)
{
	bool vector = layout_rank(t->layout) == 1;
	reject(s, t->decl->name_loc, D_E0306, "'%s' is out, but never written\n%s", t->name,
	       vector ? ctx_strf(s->ctx,
				 "write it in the grid: %s[m] += rowsum(x), or %s[n] += colsum(x)",
				 t->name, t->name)
		      : ctx_strf(s->ctx,
				 "write a tile of it in the grid, after the loops: g%s[m,n] <- "
				 "%s(acc)",
				 t->name, elem_rows[t->elem].name));
}

static void outputs_written(Sema *s, const Node *n)
{
	int outs = 0;
	for (int i = 0; i < s->tensors.n; i++) {
		const Tensor *t = s->tensors.at[i];
		outs += t->is_out;
		if (t->is_inout && t->writes && !t->reads && !t->kept)
			reject(s, t->decl->name_loc, D_E0306,
			       "'%s' is inout, but what it holds is never read\n"
			       "declare it out",
			       t->name);
		if (t->is_out && !t->writes)
			report_unwritten(s, t);
	}
	if (!outs)
		reject(s, n->name_loc, D_E0306,
		       "kernel '%s' has no output\n"
		       "declare one: D : out bf16 (M,N):(N,1)",
		       n->name);
	else if (!s->mma && s->mma_loc.src >= 0)
		reject(s, s->mma_loc, D_E0309,
		       "an mma is declared and never used\n"
		       "write acc += mm(sA, sB); or leave it out");
}

static void kernel_reset(Sema *s, const Node *n)
{
	s->kernel = kernel_new(s->module, n->name, n->name_loc);
	s->kernel_loc = n->loc;
	s->block = &s->kernel->body;
	s->tensors.n = s->buffers.n = s->rings.n = s->promotions.n = s->stores.n = 0;
	s->mma = NULL;
	s->grid = NULL;
	s->grid_open = -1;
	s->turn = NULL;
	s->simt = NULL;
	s->mma_loc = s->grid_loc = s->work_loc = NOLOC;
	s->grid_op = NULL;
	s->groups = (GroupNames){0};
	s->along = (GroupLoop){0};
	s->numbers.n = 0;
	s->bounded = NULL;
	s->regions.n = 0;
	s->schedule = (Schedule){.loc = NOLOC, .consumers_loc = NOLOC, .group_loc = NOLOC};
}

static bool kernel_name_is_free(Sema *s, const Node *n)
{
	const char *name = ctx_str(s->ctx, n->name);
	for (int i = 0; i < s->module->kernels.n; i++) {
		const Kernel *k = s->module->kernels.at[i];
		if (k->name != name)
			continue;
		DiagMsg *m =
			diag(s->ctx, n->name_loc, D_E0202, "kernel '%s' is declared twice", name);
		diag_note(s->ctx, m, k->loc, "the first one is here");
		return false;
	}
	return true;
}

static void said_kernel(Sema *s, const Node *n)
{
	const Node *list = n->kids.at[1];
	const char *target = NULL;
	for (int i = 0; i < list->kids.n; i++)
		if (list->kids.at[i]->kind == N_TARGET)
			target = list->kids.at[i]->name;
	said(s, SAID_KERNEL, n->name, n->kids.at[2]->loc, target);
}

static void body(Sema *s, const Node *written)
{
	Node block = *written;
	sched_ahead(s, &block);
	sema_block(s, &block);
	sched_finish(s);
}

void sema_kernel(Sema *s, const Node *n)
{
	int mark = scope_mark(s);
	if (!kernel_name_is_free(s, n))
		return;
	kernel_reset(s, n);
	name_kernel(s, n);
	s->errors_before_kernel = diag_errors(s->ctx);
	s->place = AT_KERNEL;
	if (s->opt->target)
		s->kernel->target = ctx_str(s->ctx, s->opt->target);
	args(s, n->kids.at[0]);
	clauses(s, n->kids.at[1]);
	tensors_fit(s);
	said_kernel(s, n);
	s->body = n->kids.at[2];
	bool sizes = symbols_have_values(s, n);
	layout_assume(s->ctx, kernel_facts(s->kernel));
	s->facts = facts_begin(s->kernel);
	if (sizes) /* else every index would seem to leave its tensor */
		body(s, n->kids.at[2]);
	if (diag_errors(s->ctx) == s->errors_before_kernel) {
		outputs_written(s, n);
		reductions_fit(s);
		numbers_finish(s);
	}
	s->place = AT_FILE;
	s->kernel = NULL;
	layout_assume(s->ctx, (IxFacts){0});
	scope_leave(s, mark);
}

/* Conditions are facts of a kernel that has nothing else. */
void sema_query(Sema *s, const Node *query, Value *out)
{
	const Node *conditions = query->kids.at[1];
	s->kernel = kernel_new(s->module, "layout", query->loc);
	s->free_names = true;
	if (conditions->kind == N_LIST)
		clauses(s, conditions);
	symbols_have_values(s, query);
	layout_assume(s->ctx, kernel_facts(s->kernel));
	s->facts = facts_begin(s->kernel);
	*out = diag_errors(s->ctx) > s->errors_before ? value_bad() : eval(s, query->kids.at[0]);
	layout_assume(s->ctx, (IxFacts){0});
	s->kernel = NULL;
}
