/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify.c - is this kernel IR of its stage? Asks the tables for counts, and says for the rest:
 *   a value is used below its definition, inside the body that defines it;
 *   names of indices are bound; names are unique;
 *   declarations stand at the top; what is written may be written.
 * Rules of single ops (shapes, types, attributes) are in verify_ops.c. */
#include "base/ptrmap.h"
#include "ir/verify.h"

#include <string.h>

typedef struct {
	const Kernel *k;
	Ctx *c;
	PtrMap vals;  /* visible: Val -> itself */
	PtrMap names; /* visible: name -> itself */
	PtrMap taken; /* every value's name */
	PtrMap right; /* types of results that were found right */
	Arena *arena;
	Scope scope;
	const char *why;
	Loc where;
} Verifier;

static bool broken(Verifier *v, const Op *op, const char *fmt, ...) PRINTF(3, 4);
static bool broken(Verifier *v, const Op *op, const char *fmt, ...)
{
	Buf b = {0};
	va_list ap;
	if (op) {
		op_print(op, &b);
		buf_printf(&b, ": ");
	}
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	v->why = ctx_buf(v->c, &b);
	v->where = op ? op->loc : v->k->loc;
	return false;
}

/* ------------------------------------------------------------------ names */
typedef struct {
	Verifier *v;
	const char *unbound;
} NameWalk;

static void visit_name(void *user, const char *name)
{
	NameWalk *w = user;
	if (!ptrmap_get(&w->v->names, name))
		w->unbound = name;
}

static bool check_ix(Verifier *v, const Op *op, const Ix *x)
{
	NameWalk w = {v, NULL};
	ix_names(x, visit_name, &w);
	if (w.unbound)
		return broken(v, op, "the name '%s' is not bound here", w.unbound);
	return !op || op->kind == OP_LAUNCH || !ix_uses(x, "sms") ||
	       broken(v, op, "'sms' is the host's: only a launch knows it");
}

static bool check_tup(Verifier *v, const Op *op, const Tup *t)
{
	if (tup_is_leaf(t))
		return check_ix(v, op, t->leaf);
	for (int i = 0; i < t->n; i++)
		if (!check_tup(v, op, t->at[i]))
			return false;
	return true;
}

static bool check_type_names(Verifier *v, const Op *op, const Type *t)
{
	return t->kind != TY_TILE ||
	       (check_tup(v, op, t->layout->shape) && check_tup(v, op, t->layout->stride) &&
		check_ix(v, op, t->layout->offset));
}

static bool bind_name(Verifier *v, const Op *op, const char *name)
{
	if (ptrmap_get(&v->names, name))
		return broken(v, op, "the name '%s' is already bound", name);
	ptrmap_set(&v->names, name, (void *)(uintptr_t)name);
	return true;
}

static bool bind_val(Verifier *v, const Op *op, Val *val)
{
	if (ptrmap_get(&v->taken, val->name))
		return broken(v, op, "two values are called '%%%s'", val->name);
	ptrmap_set(&v->taken, val->name, val);
	ptrmap_set(&v->vals, val, val);
	return true;
}

/* ------------------------------------------------------------------ one op against its row */
static int syms_of_row(const Op *op)
{
	const OpRow *row = &op_rows[op->kind];
	if (op->kind == OP_GRID)
		return op->nix;
	if (op->kind == OP_FOR_RING)
		return 3;
	if (op->kind == OP_FOR)
		return op->nix / 2; /* its own, and of each number that it carries */
	if (op->kind == OP_GROUPS_FIND)
		return 4;
	if (op->kind == OP_GROUPS_AT)
		return 3;
	if (op->kind == OP_TMAP)
		return op->nsym ? 1 : 0; /* without one it is always made */
	return row->flags & (OPF_SYMS | OPF_NAME) || op->kind == OP_RING ? 1 : 0;
}

static bool check_counts(Verifier *v, const Op *op)
{
	const OpRow *row = &op_rows[op->kind];
	if (!(row->stages & (int)v->k->stage))
		return broken(v, op, "%s is not an op of this stage", row->name);
	if (op->nin < row->in_lo || op->nin > row->in_hi)
		return broken(v, op, "%s takes %d operand%s, not %d", row->name, row->in_lo,
			      row->in_lo == 1 ? "" : "s", op->nin);
	if (row->nix >= 0 && op->nix != row->nix)
		return broken(v, op, "%s takes %d index operand%s, not %d", row->name, row->nix,
			      row->nix == 1 ? "" : "s", op->nix);
	if (op->nsym != syms_of_row(op))
		return broken(v, op, "%s takes %d name%s, not %d", row->name, syms_of_row(op),
			      syms_of_row(op) == 1 ? "" : "s", op->nsym);
	if (!op->out != !row->nout)
		return broken(v, op, row->nout ? "%s has a result" : "%s has no result", row->name);
	if (!op->body != !(row->flags & OPF_BODY))
		return broken(v, op, op->body ? "%s has no body" : "%s has a body", row->name);
	if ((row->flags & OPF_DECL) && op_parent(op))
		return broken(v, op, "%s may stand only at the top level of a kernel", row->name);
	return true;
}

/* What a loop adds to a number that it carries: seen at the end of its body. */
static bool is_step(const Op *op, int i)
{
	return op->kind == OP_FOR && i > 1 && i % 2 == 1;
}

static bool check_steps(Verifier *v, const Op *op)
{
	for (int i = 0; op && i < op->nix; i++)
		if (is_step(op, i) && !check_ix(v, op, op->ix[i]))
			return false;
	return true;
}

static bool check_uses(Verifier *v, const Op *op)
{
	EACH_OF(const Operand, in, op->in, op->nin) {
		if (!ptrmap_get(&v->vals, in->val))
			return broken(v, op, "'%%%s' is not defined here", in->val->name);
		if (in->at && !check_ix(v, op, in->at))
			return false;
	}
	for (int i = 0; i < op->nix; i++)
		if (!is_step(op, i) && !check_ix(v, op, op->ix[i]))
			return false;
	return !op->out || check_type_names(v, op, op->out->type);
}

static bool check_block(Verifier *v, const Block *b);

/* ------------------------------------------------------------------ what holds where */
static void know(Verifier *v, const char *name, int64_t lo, int64_t hi)
{
	vec_push(v->arena, &v->scope.facts, ((IxFact){ctx_str(v->c, name), lo, hi, 1}));
}

/* Threads of the CTA, or of a role. */
static void know_warps(Verifier *v, int64_t first, int64_t warps)
{
	know(v, "warp", first, first + warps - 1);
	know(v, "tid", 32 * first, 32 * (first + warps) - 1);
}

/* Whether no thread runs where the size is 0. */
static bool runs_not_without(const Verifier *v, const char *size)
{
	const Op *op = kernel_find(v->k, OP_LAUNCH);
	IxFacts known = {.at = v->scope.facts.at, .n = v->scope.facts.n};
	for (int i = 0; op && i < op->nix; i++)
		if (ix_is(ix_simplify(v->c, ix_subst(v->c, op->ix[i], size, ix_const(v->c, 0)),
				      known),
			  0))
			return true;
	return false;
}

static void know_kernel(Verifier *v)
{
	for (int i = 0; i < v->k->syms.n; i++)
		vec_push(v->arena, &v->scope.facts, v->k->syms.at[i]);
#define SYM(id, text, lo, hi, reg) know(v, text, lo, hi);
#include "ir/syms.def"
	for (int i = 0; i < v->k->syms.n; i++)
		if (v->k->syms.at[i].lo == 0 && runs_not_without(v, v->k->syms.at[i].name))
			know(v, v->k->syms.at[i].name, 1, INT64_MAX);
	if (attrs_get(&v->k->attrs, A_BLOCK))
		know_warps(v, 0, attrs_int(&v->k->attrs, A_BLOCK, 32) / 32);
}

static void know_inside(Verifier *v, const Op *op)
{
	facts_of_op(op, &v->scope.facts, v->arena);
	for (int i = 0; op->kind == OP_IF && i < op->nix; i++)
		vec_push(v->arena, &v->scope.guards, op->ix[i]);
	if (op->kind == OP_ROLE && attrs_get(&op->attrs, A_FIRST))
		know_warps(v, attrs_int(&op->attrs, A_FIRST, 0), attrs_int(&op->attrs, A_WARPS, 1));
}

/* An access by an index is where that is one of the tensor's coordinates. */
static void know_index(Verifier *v, const Op *op)
{
	const Layout *l = op->in[op->kind != OP_ST_GLOBAL].val->type->layout;
	int mode = (int)attrs_int(&op->attrs, A_GATHER, 0);
	const Ix *index = access_index(v->c), *extent = tup_get(l->shape, mode)->leaf;
	vec_push(v->arena, &v->scope.facts, ((IxFact){index->name, 0, INT32_MAX, 1}));
	vec_push(v->arena, &v->scope.guards, ix_new(v->c, IX_LT, index, extent));
}

/* What cp.async reads its own conditions guard. */
static const char *check_vector(Verifier *v, const Op *op)
{
	int guards = v->scope.guards.n, facts = v->scope.facts.n;
	if (op->kind != OP_LD_GLOBAL && op->kind != OP_LD_GATHER && op->kind != OP_ST_GLOBAL &&
	    op->kind != OP_CP_ASYNC)
		return NULL;
	for (int i = IX_PLACE(op, COND); op->kind == OP_CP_ASYNC && i < op->nix; i++)
		vec_push(v->arena, &v->scope.guards, op->ix[i]);
	if (attrs_get(&op->attrs, A_GATHER))
		know_index(v, op);
	const char *why = access_rule(v->c, &v->scope, op);
	v->scope.guards.n = guards;
	v->scope.facts.n = facts;
	return why;
}

/* A for binds inside its body only; a let from here to the end of its block. */
static bool check_op(Verifier *v, const Op *op)
{
	const char *why = NULL;
	if ((why = target_lacks(v->k->ctx, v->k->target, feature_of_op(op->kind))))
		return broken(v, op, "%s", why);
	if (!check_counts(v, op) || !check_uses(v, op))
		return false;
	if ((why = op_rule(v->k, op, &v->right)))
		return broken(v, op, "%s", why);
	bool binds = op_rows[op->kind].flags & OPF_SYMS;
	for (int i = 0; binds && i < op->nsym; i++)
		if (!bind_name(v, op, op->sym[i]))
			return false;
	if ((why = check_vector(v, op)))
		return broken(v, op, "%s", why);
	if ((op->kind == OP_TMA_LOAD || op->kind == OP_TMA_STORE) &&
	    (why = box_rule(v->c, &v->scope, op)))
		return broken(v, op, "%s", why);
	if (op->kind == OP_WGMMA && (why = reach_rule(v->c, &v->scope, op)))
		return broken(v, op, "%s", why);
	int guards = v->scope.guards.n, facts = v->scope.facts.n;
	know_inside(v, op);
	if (op->body && !check_block(v, op->body))
		return false;
	v->scope.guards.n = guards;
	v->scope.facts.n = op->body ? facts : v->scope.facts.n;
	for (int i = 0; binds && op->body && i < op->nsym; i++)
		ptrmap_set(&v->names, op->sym[i], NULL);
	return !op->out || bind_val(v, op, op->out);
}

static bool check_block(Verifier *v, const Block *b)
{
	const Op *prev = NULL;
	int facts = v->scope.facts.n;
	for (const Op *op = b->first; op; prev = op, op = op->next) {
		if (op->block != b || op->prev != prev)
			return broken(v, op, "the op is not linked into its block");
		if (!check_op(v, op))
			return false;
	}
	if (b->last != prev)
		return broken(v, b->owner, "the block's last op is not its last");
	if (!check_steps(v, b->owner))
		return false;
	for (const Op *op = b->first; op; op = op->next) {
		if (op->out)
			ptrmap_set(&v->vals, op->out, NULL);
		for (int i = 0; op_only_names(op) && i < op->nsym; i++)
			ptrmap_set(&v->names, op->sym[i], NULL);
	}
	v->scope.facts.n = facts;
	return true;
}

/* ------------------------------------------------------------------ the kernel */
static bool check_arg(Verifier *v, const Arg *a)
{
	const Type *t = a->val->type;
	if (!check_type_names(v, NULL, t) || !bind_val(v, NULL, a->val))
		return false;
	if (t->kind == TY_TILE ? t->space != SP_GLOBAL : t->kind != TY_ELEM)
		return broken(v, NULL,
			      "the argument '%%%s' is neither a global tensor nor a scalar",
			      a->val->name);
	if (t->kind == TY_TILE)
		return !a->is_out || !a->is_constant ||
		       broken(v, NULL, "the output '%%%s' cannot be constant", a->val->name);
	return (!a->is_out && !a->is_constant) ||
	       broken(v, NULL, "the scalar '%%%s' cannot be %s", a->val->name,
		      a->is_out ? "an output" : "constant");
}

static bool check_signature(Verifier *v)
{
	const Kernel *k = v->k;
	for (int i = 0; i < k->syms.n; i++)
		if (!bind_name(v, NULL, k->syms.at[i].name))
			return false;
	for (int i = 0; i < k->facts.n; i++)
		if (!check_ix(v, NULL, k->facts.at[i].cond))
			return false;
	for (int i = 0; i < k->args.n; i++)
		if (!check_arg(v, &k->args.at[i]))
			return false;
	if (!target_by_name(k->target))
		return broken(v, NULL, "unknown target '%s'", k->target);
	const char *why = kernel_rule(k);
	return !why || broken(v, NULL, "%s", why);
}

static bool bind_hardware(Verifier *v)
{
#define SYM(id, text, lo, hi, reg)                    \
	if (!bind_name(v, NULL, ctx_str(v->c, text))) \
		return false;
#include "ir/syms.def"
	return true;
}

bool kernel_check(const Kernel *k, const char **why, Loc *where)
{
	Arena *a = arena_new();
	Verifier v = {.k = k,
		      .c = k->ctx,
		      .vals.arena = a,
		      .names.arena = a,
		      .taken.arena = a,
		      .right.arena = a,
		      .arena = a};
	const Op *at;
	const char *open;
	know_kernel(&v);
	bool ok = check_signature(&v) && bind_hardware(&v) && check_block(&v, &k->body) &&
		  (!(open = defined_rule(k, &at)) || broken(&v, at, "%s", open));
	arena_free(a);
	if (ok)
		return true;
	*why = v.why;
	*where = v.where;
	return false;
}

bool kernel_verify(const Kernel *k, const char **why)
{
	Loc where;
	return kernel_check(k, why, &where);
}
