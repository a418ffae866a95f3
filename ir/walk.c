/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* walk.c - going through a kernel, copying parts of it, dropping what nothing uses. */
#include "ir/ir.h"
#include "base/ctx.h"
#include "base/ptrmap.h"

Op *kernel_first(const Kernel *k)
{
	return k->body.first;
}

Op *op_parent(const Op *op)
{
	return op->block ? op->block->owner : NULL;
}

const Op *op_around(const Op *op, OpKind kind)
{
	while (op && op->kind != kind)
		op = op_parent(op);
	return op;
}

const Op *op_role(const Op *op)
{
	return op_around(op, OP_ROLE);
}

bool op_inside(const Op *op, const Op *region)
{
	while (op && op != region)
		op = op_parent(op);
	return op != NULL;
}

bool op_precedes(const Op *a, const Op *b)
{
	while (a && a != b)
		a = a->next;
	return a;
}

static Op *after(const Op *op)
{
	for (; op; op = op_parent(op))
		if (op->next)
			return op->next;
	return NULL;
}

Op *op_next(const Op *op)
{
	return op->body && op->body->first ? op->body->first : after(op);
}

Op *op_find_next(const Op *op, OpKind kind)
{
	for (op = op_next(op); op; op = op_next(op))
		if (op->kind == kind)
			return (Op *)(uintptr_t)op;
	return NULL;
}

Op *kernel_find(const Kernel *k, OpKind kind)
{
	Op *op = kernel_first(k);
	return !op || op->kind == kind ? op : op_find_next(op, kind);
}

Op *kernel_with(const Kernel *k, int effects)
{
	Op *op = kernel_first(k);
	while (op && !op_has(op, effects))
		op = op_next(op);
	return op;
}

void kernel_replace(Kernel *k, Val *v, Val *by)
{
	for (Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; i < op->nin; i++)
			if (op->in[i].val == v)
				op->in[i].val = by;
}

bool op_takes(const Op *op, const Val *v)
{
	int i = 0;
	while (i < op->nin && op->in[i].val != v)
		i++;
	return i < op->nin;
}

bool val_used(const Kernel *k, const Val *v)
{
	const Op *op = kernel_first(k);
	while (op && !op_takes(op, v))
		op = op_next(op);
	return op;
}

bool op_only_names(const Op *op)
{
	int flags = op_rows[op->kind].flags;
	return (flags & OPF_SYMS) && !(flags & (OPF_BODY | OPF_DECL));
}

/* ------------------------------------------------------------------ copy */
typedef struct {
	Kernel *k;
	PtrMap syms, vals; /* name -> Ix, Val -> Val */
	bool (*keep)(void *user, const Op *op);
	void *user;
} Copier;

static const Ix *copy_ix(const Copier *c, const Ix *x)
{
	if (!x || x->kind == IX_CONST)
		return x;
	if (x->kind == IX_SYM) {
		const Ix *to = ptrmap_get(&c->syms, x->name);
		return to ? to : x;
	}
	const Ix *a = copy_ix(c, x->a), *b = copy_ix(c, x->b);
	return a == x->a && b == x->b ? x : ix_new(c->k->ctx, x->kind, a, b);
}

static Val *copy_val(const Copier *c, Val *v)
{
	Val *to = ptrmap_get(&c->vals, v);
	return to ? to : v;
}

static void copy_syms(Copier *c, const Op *op, Op *new)
{
	bool defines = op_rows[op->kind].flags & OPF_SYMS;
	for (int i = 0; i < op->nsym; i++) {
		const char *name = op->sym[i];
		if (defines) {
			name = kernel_fresh(c->k, name);
			ptrmap_set(&c->syms, op->sym[i],
				   (void *)(uintptr_t)ix_sym(c->k->ctx, name));
		}
		op_sym(c->k, new, name);
	}
}

static Op *copy_op(Copier *c, const Op *op)
{
	Op *new = op_new(c->k, op->kind, op->loc);
	for (int i = 0; i < op->nin; i++)
		op_in(c->k, new, copy_val(c, op->in[i].val), copy_ix(c, op->in[i].at));
	for (int i = 0; i < op->nix; i++)
		op_ix(c->k, new, copy_ix(c, op->ix[i]));
	for (int i = 0; i < op->attrs.n; i++)
		attrs_set(c->k->ctx, &new->attrs, op->attrs.at[i]);
	copy_syms(c, op, new);
	if (op->out)
		ptrmap_set(&c->vals, op->out, op_result(c->k, new, op->out->name, op->out->type));
	return new;
}

static void copy_block(Copier *c, const Block *from, Block *to)
{
	for (const Op *op = from->first; op; op = op->next) {
		if (!op->body && c->keep && !c->keep(c->user, op))
			continue;
		Op *new = copy_op(c, op);
		if (op->body)
			copy_block(c, op->body, op_body(c->k, new));
		for (int i = 3; op->kind == OP_FOR && i < op->nix; i += 2)
			new->ix[i] = copy_ix(c, op->ix[i]); /* names of the body */
		if (!op->body || new->body->first)
			block_append(to, new);
	}
}

void block_copy(Kernel *k, const Block *from, Block *to, const SymSub *sub, int nsub,
		bool (*keep)(void *user, const Op *op), void *user)
{
	Arena *a = arena_new();
	Copier c = {.k = k, .syms.arena = a, .vals.arena = a, .keep = keep, .user = user};
	for (int i = 0; i < nsub; i++)
		ptrmap_set(&c.syms, sub[i].name, (void *)(uintptr_t)sub[i].by);
	copy_block(&c, from, to);
	arena_free(a);
}

/* ------------------------------------------------------------------ sweep */
/* How often each value and each name is used, by pointer: names are interned. */
static void count(PtrMap *uses, const void *key, int by)
{
	ptrmap_set(uses, key, (void *)((intptr_t)ptrmap_get(uses, key) + by));
}

static void count_names(PtrMap *uses, const Ix *x, int by)
{
	if (x->kind == IX_SYM) {
		count(uses, x->name, by);
	} else if (x->kind != IX_CONST) {
		count_names(uses, x->a, by);
		count_names(uses, x->b, by);
	}
}

static void count_op(PtrMap *uses, const Op *op, int by)
{
	for (int i = 0; i < op->nix; i++)
		count_names(uses, op->ix[i], by);
	for (int i = 0; i < op->nin; i++) {
		count(uses, op->in[i].val, by);
		if (op->in[i].at)
			count_names(uses, op->in[i].at, by);
	}
}

static bool op_dead(const PtrMap *uses, const Op *op)
{
	int flags = op_rows[op->kind].flags;
	if (op_only_names(op)) {
		bool used = false;
		for (int i = 0; i < op->nsym; i++)
			used |= ptrmap_get(uses, op->sym[i]) != NULL;
		return !used;
	}
	if (flags & OPF_PURE)
		return op->out && !ptrmap_get(uses, op->out);
	return (flags & OPF_BODY) && (!op->body || !op->body->first);
}

/* Numbers that a loop carries and nothing reads, but for their own steps. */
static void drop_counters(PtrMap *uses, Op *op)
{
	int n = 1;
	for (int i = 1; i < op->nsym; i++) {
		bool used = ptrmap_get(uses, op->sym[i]);
		for (int j = 2 * i; j < 2 * i + 2; j++)
			if (used)
				op->ix[2 * n + j - 2 * i] = op->ix[j];
			else
				count_names(uses, op->ix[j], -1);
		if (used)
			op->sym[n++] = op->sym[i];
	}
	op->nsym = n;
	op->nix = 2 * n;
}

/* Backwards, so that what only the dead use is dead when its turn comes. */
void kernel_sweep(Kernel *k)
{
	Arena *tmp = ctx_tmp(k->ctx);
	ArenaMark mark = arena_mark(tmp);
	PtrMap uses = {.arena = tmp};
	VEC(Op *) ops = {0};
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		count_op(&uses, op, 1);
		vec_push(tmp, &ops, op);
	}
	for (int i = ops.n; i-- > 0;) {
		if (ops.at[i]->kind == OP_FOR && ops.at[i]->nsym > 1)
			drop_counters(&uses, ops.at[i]);
		if (!op_dead(&uses, ops.at[i]))
			continue;
		count_op(&uses, ops.at[i], -1);
		op_remove(ops.at[i]);
	}
	arena_release(tmp, mark);
}
