/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sema.c - a file: consts and layouts of its own, kernels. Which statement may stand where is the
 * table below; what it means is its function. */
#include "frontend/sema.h"

#include <string.h>

enum { ERRORS_MAX = 50 };

bool sema_tired(const Sema *s)
{
	return diag_errors(s->ctx) - s->errors_before >= ERRORS_MAX;
}

void said(Sema *s, SaidKind kind, const char *name, Loc loc, const char *value)
{
	const char *kernel = s->kernel ? s->kernel->name : NULL;
	if (s->opt->said)
		vec_push(ctx_arena(s->ctx), s->opt->said,
			 ((Said){kind, kernel, name, value, s->stmt, loc}));
}

/* ------------------------------------------------------------------ checks of the author */
static void stmt_assert(Sema *s, const Node *n)
{
	Value v = eval(s, n->kids.at[0]);
	const Node *why = n->kids.at[1];
	int64_t known;
	if (!want(s, &v, V_INT, "a condition"))
		return;
	if (s->kernel)
		v.ix = ix_simplify(s->ctx, v.ix, facts_seen(&s->facts));
	if (!ix_is_const(v.ix, &known)) {
		reject(s, v.loc, D_E0208,
		       "this is known only at run time\n"
		       "a where clause is checked at launch");
	} else if (!known) {
		reject(s, n->loc, D_E0208, "assertion failed%s%s", why->kind == N_STR ? ": " : "",
		       why->kind == N_STR ? why->name : "");
	}
}

static void stmt_print(Sema *s, const Node *n)
{
	Buf line = {0};
	bool good = true;
	for (int i = 0; i < n->kids.n; i++) {
		Value v = eval(s, n->kids.at[i]);
		good &= v.kind != V_BAD;
		buf_printf(&line, "%s%s", i ? " " : "", value_str(s, &v));
	}
	if (good && s->opt->printed)
		buf_printf(s->opt->printed, "%s\n", line.s);
	buf_free(&line);
}

static void stmt_assign(Sema *s, const Node *n)
{
	reject(s, n->loc, D_E0105,
	       "'=' stands in declarations alone\n"
	       "write sA <- gA[m,k] for a copy, acc += mm(sA, sB) for a product, acc <- 0.5 * "
	       "acc for what changes, let y = alpha * acc for a value");
}

/* ------------------------------------------------------------------ statements */
static const struct {
	int places;
	const char *what;
	void (*read)(Sema *s, const Node *n);
	Value (*bind)(Sema *s, const Node *bind); /* of statements that only name values */
} rows[N_COUNT] = {
	[N_KERNEL] = {AT_FILE, "a kernel", .read = sema_kernel},
	[N_CONST] = {AT_ANY, "const", .bind = bind_const},
	[N_LET] = {AT_ANY, "let", .bind = bind_let},
	[N_LAYOUT] = {AT_ANY, "layout", .bind = bind_layout},
	[N_ASSERT] = {AT_ANY, "static_assert", .read = stmt_assert},
	[N_PRINT] = {AT_ANY, "print", .read = stmt_print},
	[N_MMA] = {AT_FILE | AT_KERNEL, "mma", .bind = bind_mma},
	[N_SMEM] = {AT_KERNEL, "smem", .bind = bind_buffer},
	[N_TMA] = {AT_KERNEL, "tma", .bind = bind_tma},
	[N_COPYATOM] = {AT_ANY, "copy", .bind = bind_copy},
	[N_PIPELINE] = {AT_KERNEL, "pipeline", .bind = bind_pipeline},
	[N_SCHEDULE] = {AT_KERNEL, "schedule", .read = sched_block},
	[N_FOR] = {AT_KERNEL | AT_GRID | AT_LOOP, "a loop", .read = stmt_for},
	[N_DECL] = {AT_GRID | AT_LOOP, "an accumulator", .bind = bind_acc},
	[N_DECLCOPY] = {AT_GRID | AT_LOOP, "an operand in registers", .bind = bind_operand},
	[N_COPY] = {AT_GRID | AT_LOOP, "a copy", .read = stmt_copy},
	[N_ACCUM] = {AT_GRID | AT_LOOP, "+=", .read = stmt_accumulate},
	[N_ASSIGN] = {AT_GRID | AT_LOOP, "an assignment", .read = stmt_assign},
};

static const char *place_text(int places)
{
	if (places & AT_KERNEL)
		return "in a kernel, outside the grid";
	if (places & AT_FILE)
		return "in a file, outside kernels";
	return places & AT_LOOP ? "in the grid" : "in the grid, outside the loop over k";
}

static bool comes_too_late(const Sema *s, const Node *n)
{
	bool decl = n->kind == N_SMEM || n->kind == N_PIPELINE || n->kind == N_TMA;
	return decl && s->grid_loc.src >= 0;
}

static void misplaced(Sema *s, const Node *n)
{
	int places = rows[n->kind].places;
	bool outside = s->place == AT_KERNEL && places & AT_GRID;
	reject(s, n->loc, D_E0309, "%s belongs %s\n%s", rows[n->kind].what, place_text(places),
	       outside ? "write it in the loop over the output's tiles: for (m,n) in gD { .. }"
		       : "");
}

/* One name, which is the statement's, or several bindings. */
static void bind_one(Sema *s, NodeKind kind, const Node *n)
{
	s->pick = NULL;
	Value v = rows[kind].bind(s, n);
	v.pick = v.pick ? v.pick : s->pick;
	scope_add(s, n, v);
}

static void bind_all(Sema *s, const Node *n)
{
	if (n->name)
		bind_one(s, n->kind, n);
	for (int i = 0; i < n->kids.n && !n->name; i++)
		bind_one(s, n->kind, n->kids.at[i]);
}

static void sema_stmt(Sema *s, const Node *n)
{
	if (n->kind == N_ERROR)
		return;
	if (!rows[n->kind].places)
		panic("a statement of kind %d", n->kind);
	if (!(rows[n->kind].places & s->place))
		misplaced(s, n);
	else if (comes_too_late(s, n))
		reject(s, n->loc, D_E0309, "%s belongs before the grid", rows[n->kind].what);
	else {
		s->stmt = n->loc;
		(rows[n->kind].bind ? bind_all : rows[n->kind].read)(s, n);
	}
}

void sema_block(Sema *s, const Node *block)
{
	int mark = scope_mark(s);
	for (int i = 0; i < block->kids.n && !sema_tired(s); i++)
		sema_stmt(s, block->kids.at[i]);
	scope_leave(s, mark);
}

void sema_file(Sema *s, const Node *file)
{
	s->place = AT_FILE;
	for (int i = 0; i < file->kids.n && !sema_tired(s); i++)
		if (!s->opt->kernel || file->kids.at[i]->kind != N_KERNEL ||
		    !strcmp(s->opt->kernel, file->kids.at[i]->name))
			sema_stmt(s, file->kids.at[i]);
	scope_leave(s, 0);
}
