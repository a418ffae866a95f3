/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* build.c - the only way to make IR. Everything lives in the ctx's arena; a frozen kernel
 * refuses. */
#include "base/ctx.h"
#include "base/ptrmap.h"
#include "ir/verify.h"

#include <string.h>

static Arena *open_arena(Kernel *k)
{
	if (k->frozen)
		panic("kernel %s is frozen", k->name);
	return ctx_arena(k->ctx);
}

Module *module_new(Ctx *c)
{
	Module *m = NEW(ctx_arena(c), Module);
	m->ctx = c;
	return m;
}

Kernel *kernel_new(Module *m, const char *name, Loc loc)
{
	Kernel *k = NEW(ctx_arena(m->ctx), Kernel);
	k->ctx = m->ctx;
	k->name = ctx_str(m->ctx, name);
	k->target = ctx_str(m->ctx, "sm_90a");
	k->stage = ST_TILE;
	k->loc = loc;
	k->names = NEW(ctx_arena(m->ctx), InternSet);
	k->numbers = NEW(ctx_arena(m->ctx), PtrMap);
	k->numbers->arena = ctx_arena(m->ctx);
	vec_push(ctx_arena(m->ctx), &m->kernels, k);
	return k;
}

/* ------------------------------------------------------------------ names */
static bool name_eq(const void *entry, const void *key)
{
	return entry == key;
}

static uint64_t name_hash(const void *entry)
{
	return hash_mix(0, (uint64_t)(uintptr_t)entry);
}

static bool name_take(Kernel *k, const char *name)
{
	void **where;
	if (intern_find(k->names, name_hash(name), name_eq, name_hash, name, ctx_arena(k->ctx),
			&where))
		return false;
	*where = (void *)(uintptr_t)name;
	return true;
}

/* Without its ".7": what a fresh name is made from. */
static int stem_length(const char *name)
{
	const char *dot = strrchr(name, '.');
	if (!dot || dot == name || !dot[1] || dot[1 + strspn(dot + 1, "0123456789")])
		return (int)strlen(name);
	return (int)(dot - name);
}

const char *kernel_fresh(Kernel *k, const char *stem)
{
	const char *name = ctx_str(k->ctx, stem);
	if (name_take(k, name))
		return name;
	int n = stem_length(stem);
	const char *key = ctx_strn(k->ctx, stem, (size_t)n);
	intptr_t i = (intptr_t)ptrmap_get(k->numbers, key); /* all up to it are taken */
	do
		name = ctx_strf(k->ctx, "%.*s.%d", n, stem, (int)++i);
	while (!name_take(k, name));
	ptrmap_set(k->numbers, key, (void *)i);
	return name;
}

/* ------------------------------------------------------------------ kernels */
static Val *val_new(Kernel *k, const char *name, const Type *t, Op *def, int arg)
{
	Val *v = NEW(open_arena(k), Val);
	*v = (Val){kernel_fresh(k, name), t, def, arg};
	return v;
}

Val *kernel_arg(Kernel *k, const char *name, const Type *t, bool is_out)
{
	Val *v = val_new(k, name, t, NULL, k->args.n);
	vec_push(open_arena(k), &k->args, ((Arg){.val = v, .is_out = is_out}));
	return v;
}

Val *kernel_workspace(Kernel *k, const char *name, const Type *t)
{
	Val *v = kernel_arg(k, name, t, true);
	k->args.at[v->arg].is_workspace = true;
	return v;
}

void kernel_arg_inout(Kernel *k, const Val *arg)
{
	k->args.at[arg->arg].is_out = k->args.at[arg->arg].is_inout = true;
}

void kernel_arg_constant(Kernel *k, const Val *arg)
{
	k->args.at[arg->arg].is_constant = true;
}

void kernel_sym(Kernel *k, const char *name, int64_t lo, int64_t hi, int64_t div)
{
	name = ctx_str(k->ctx, name);
	EACH(IxFact, f, k->syms) {
		if (f->name != name)
			continue;
		f->lo = lo > f->lo ? lo : f->lo;
		f->hi = hi < f->hi ? hi : f->hi;
		f->div = div > f->div ? div : f->div;
		return;
	}
	name_take(k, name);
	vec_push(open_arena(k), &k->syms, ((IxFact){name, lo, hi, div}));
}

typedef struct {
	Kernel *k;
	int64_t hi;
} Most;

static void hold_name(void *user, const char *name)
{
	Most *m = user;
	kernel_sym(m->k, name, INT64_MIN, m->hi, 1);
}

void kernel_syms_most(Kernel *k, const Ix *x, int64_t hi)
{
	ix_names(x, hold_name, &(Most){k, hi});
}

void kernel_fact(Kernel *k, const Ix *cond, const char *text, const char *rule, Loc loc)
{
	vec_push(open_arena(k), &k->facts,
		 ((Fact){cond, ctx_str(k->ctx, text), ctx_str(k->ctx, rule), loc}));
}

void kernel_freeze(Kernel *k)
{
	k->frozen = true;
}

static void facts_add(FactList *v, Arena *a, IxFact f)
{
	vec_push(a, v, f);
	if (v->places)
		ptrmap_set(v->places, f.name, (void *)(intptr_t)v->n);
}

bool op_is_of_groups(const Op *op)
{
	return op_only_names(op) && HAS_IN(op, ENDS);
}

IxFact groups_fact(const Op *op, int i, IxFacts known)
{
	enum { GROUP, FIRST, LAST, BEFORE };
	int64_t groups = ix_most(IX(op, GROUPS), known), rows = ix_most(IX(op, ROWS), known), most;
	if (__builtin_add_overflow(rows / attrs_int(&op->attrs, A_ROWS, 1), groups, &most))
		most = INT64_MAX;
	if (op->kind == OP_GROUPS_AT)
		most = rows;
	else if (op->kind == OP_GROUPS_FIND && i != BEFORE)
		most = i == GROUP ? groups - (groups > 0) : rows;
	return (IxFact){op->sym[i], 0, most, 1};
}

IxFact ticket_fact(const Op *op, IxFacts known)
{
	int64_t tiles = ix_most(IX(op, TILES), known);
	return (IxFact){op->sym[0], 0, tiles - (op->kind == OP_TICKET_AT && tiles > 0), 1};
}

void facts_of_op(const Op *op, FactList *v, Arena *a)
{
	IxFacts known = facts_seen(v);
	int64_t lo, hi, from, to;
	for (int i = 0; i < op->nsym; i++) {
		if (op->kind == OP_NUMBER) {
			facts_add(v, a, (IxFact){op->sym[i], INT32_MIN, INT32_MAX, 1});
		} else if (op->kind == OP_FOR) {
			if (i) { /* carried: it may grow */
				facts_add(v, a, (IxFact){op->sym[i], INT64_MIN, INT64_MAX, 1});
				continue;
			}
			from = ix_least(IX(op, FROM), known);
			to = ix_most(IX(op, TO), known);
			facts_add(v, a, (IxFact){op->sym[i], from, to > from ? to - 1 : from, 1});
		} else if (op->kind == OP_FOR_RING) {
			int64_t last[3] = {0, attrs_int(&op->attrs, A_SLOTS, 1) - 1, 1};
			from = ix_least(IX(op, FROM), known);
			to = ix_most(IX(op, TO), known);
			last[0] = to > from ? to - 1 : from;
			facts_add(v, a, (IxFact){op->sym[i], i ? 0 : from, last[i], 1});
		} else if (op->kind == OP_GRID) {
			to = ix_most(op->ix[i], known);
			facts_add(v, a, (IxFact){op->sym[i], 0, to > 0 ? to - 1 : 0, 1});
		} else if (op->kind == OP_LET) {
			int64_t div = ix_divisor(IX(op, VALUE), known);
			ix_range(IX(op, VALUE), known, &lo, &hi);
			facts_add(v, a, (IxFact){op->sym[i], lo, hi, div ? div : 1});
		} else if (op_is_of_groups(op)) {
			facts_add(v, a, groups_fact(op, i, known));
		} else if (op->kind == OP_TICKETS || op->kind == OP_TICKET_AT) {
			facts_add(v, a, ticket_fact(op, known));
		} else if (op->kind == OP_TMAP) {
			facts_add(v, a, (IxFact){op->sym[i], 0, 1, 1});
		}
	}
}

/* From its first multiple to its last: 26..428, of 384  ->  384..384 */
static IxFact tightened(IxFact f)
{
	int64_t lo = f.lo < 0 ? f.lo : (f.lo + f.div - 1) / f.div * f.div;
	int64_t hi = f.hi < 0 || f.hi == INT64_MAX ? f.hi : f.hi / f.div * f.div;
	return (IxFact){f.name, lo, hi, f.div};
}

static IxFact *fact_named(const FactList *v, const Ix *x)
{
	int place = x->kind == IX_SYM ? (int)(intptr_t)ptrmap_get(v->places, x->name) : 0;
	return place ? &v->at[place - 1] : NULL;
}

/* K == N, K < 512: N is below 512 too. */
static void share_bounds(const Kernel *k, FactList *v)
{
	for (int i = 0; i < k->facts.n; i++) {
		const Ix *x = k->facts.at[i].cond;
		IxFact *a = x->kind == IX_EQ ? fact_named(v, x->a) : NULL;
		IxFact *b = a ? fact_named(v, x->b) : NULL;
		if (!b)
			continue;
		a->lo = b->lo = a->lo > b->lo ? a->lo : b->lo;
		a->hi = b->hi = a->hi < b->hi ? a->hi : b->hi;
		if (a->div % b->div == 0)
			b->div = a->div;
		else if (b->div % a->div == 0)
			a->div = b->div;
	}
}

/* Each name once: those of a kernel differ. */
FactList facts_begin(const Kernel *k)
{
	Arena *a = ctx_arena(k->ctx);
	PtrMap *places = NEW(a, PtrMap);
	FactList v = {.places = places};
	places->arena = a;
	for (int i = 0; i < k->syms.n; i++)
		facts_add(&v, a, k->syms.at[i]);
	share_bounds(k, &v);
	for (int i = 0; i < v.n; i++)
		v.at[i] = tightened(v.at[i]);
#define SYM(id, text, low, high, reg) \
	facts_add(&v, a, (IxFact){ctx_str(k->ctx, text), low, high, 1});
#include "ir/syms.def"
	return v;
}

IxFacts facts_seen(const FactList *v)
{
	return (IxFacts){.at = v->at, .n = v->n, .places = v->places};
}

/* The last tile that a CTA takes where the grid has so many along a mode: those of a cluster may be
 * beyond it. */
static int64_t last_tile(const Kernel *k, int64_t tiles)
{
	const Attr *a = attrs_get(&k->attrs, A_CLUSTER);
	int64_t last = tiles - 1;
	for (int i = 0; a && i < a->n && i < 2 && tiles <= INT32_MAX; i++) {
		int64_t rounded = (tiles + a->i[i] - 1) / a->i[i] * a->i[i];
		last = rounded > last + 1 ? rounded - 1 : last;
	}
	return last;
}

IxFacts kernel_facts(const Kernel *k)
{
	FactList v = facts_begin(k);
	for (const Op *op = kernel_first(k); op; op = op_next(op)) {
		facts_of_op(op, &v, ctx_arena(k->ctx));
		for (int i = 0; op->kind == OP_GRID && i < op->nsym; i++) {
			IxFact *f = &v.at[v.n - 1 - i];
			f->hi = last_tile(k, f->hi + 1);
		}
	}
	return facts_seen(&v);
}

/* ------------------------------------------------------------------ ops */
Op *op_new(Kernel *k, OpKind kind, Loc loc)
{
	Op *op = NEW(open_arena(k), Op);
	op->kind = kind;
	op->loc = loc;
	return op;
}

static void room(Kernel *k, void **at, int n, int *cap, size_t size)
{
	Arena *a = open_arena(k);
	if (n == *cap)
		vec_grow(a, at, cap, size);
}

Op *op_in(Kernel *k, Op *op, Val *v, const Ix *at)
{
	room(k, (void **)&op->in, op->nin, &op->in_cap, sizeof *op->in);
	op->in[op->nin++] = (Operand){v, at};
	return op;
}

Op *op_ix(Kernel *k, Op *op, const Ix *x)
{
	room(k, (void **)&op->ix, op->nix, &op->ix_cap, sizeof(const Ix *));
	op->ix[op->nix++] = x;
	return op;
}

Op *op_in_all(Kernel *k, Op *op, Val *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		op_in(k, op, v[i], NULL);
	return op;
}

Op *op_ix_all(Kernel *k, Op *op, const Ix *const *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		op_ix(k, op, x[i]);
	return op;
}

void op_sym(Kernel *k, Op *op, const char *name)
{
	room(k, (void **)&op->sym, op->nsym, &op->sym_cap, sizeof(const char *));
	name = ctx_str(k->ctx, name);
	if (op_rows[op->kind].flags & OPF_SYMS)
		name_take(k, name);
	op->sym[op->nsym++] = name;
}

Val *op_result(Kernel *k, Op *op, const char *name, const Type *t)
{
	op->out = val_new(k, name, t, op, -1);
	return op->out;
}

Block *op_body(Kernel *k, Op *op)
{
	if (!op->body) {
		op->body = NEW(open_arena(k), Block);
		op->body->owner = op;
	}
	return op->body;
}

/* ------------------------------------------------------------------ order */
void block_append(Block *b, Op *op)
{
	if (op->block)
		op_remove(op);
	op->block = b;
	op->prev = b->last;
	op->next = NULL;
	if (b->last)
		b->last->next = op;
	else
		b->first = op;
	b->last = op;
}

void op_insert_before(Op *at, Op *op)
{
	if (op->block)
		op_remove(op);
	op->block = at->block;
	op->next = at;
	op->prev = at->prev;
	if (at->prev)
		at->prev->next = op;
	else
		at->block->first = op;
	at->prev = op;
}

void op_insert_after(Op *at, Op *op)
{
	if (op->block)
		op_remove(op);
	if (at->next)
		op_insert_before(at->next, op);
	else
		block_append(at->block, op);
}

void op_remove(Op *op)
{
	Block *b = op->block;
	if (op->prev)
		op->prev->next = op->next;
	else
		b->first = op->next;
	if (op->next)
		op->next->prev = op->prev;
	else
		b->last = op->prev;
	op->prev = op->next = NULL;
	op->block = NULL;
}

/* ------------------------------------------------------------------ attributes */
const Attr *attrs_get(const Attrs *a, AttrId id)
{
	for (int i = 0; i < a->n; i++)
		if (a->at[i].id == id)
			return &a->at[i];
	return NULL;
}

void attrs_set(Ctx *c, Attrs *a, Attr attr)
{
	Attr *old = (Attr *)(uintptr_t)attrs_get(a, attr.id);
	if (old) {
		*old = attr;
		return;
	}
	Attr *at = NEWN(ctx_arena(c), Attr, a->n + 1);
	int i = 0;
	for (; i < a->n && a->at[i].id < attr.id; i++)
		at[i] = a->at[i];
	at[i] = attr;
	for (; i < a->n; i++)
		at[i + 1] = a->at[i];
	*a = (Attrs){at, a->n + 1};
}

void attrs_drop(Attrs *a, AttrId id)
{
	int n = 0;
	for (int i = 0; i < a->n; i++)
		if (a->at[i].id != id)
			a->at[n++] = a->at[i];
	a->n = n;
}

int64_t attrs_int(const Attrs *a, AttrId id, int64_t otherwise)
{
	const Attr *at = attrs_get(a, id);
	return at ? at->i[0] : otherwise;
}

const char *attrs_str(const Attrs *a, AttrId id, const char *otherwise)
{
	const Attr *at = attrs_get(a, id);
	return at ? at->str : otherwise;
}

static Attr attr_ints(AttrId id, const int64_t *v, int n)
{
	Attr a = {.id = id, .n = n};
	if (n > ATTR_INTS)
		panic("%d numbers in the attribute %s", n, attr_rows[id].name);
	for (int i = 0; i < n; i++)
		a.i[i] = v[i];
	return a;
}

void op_int(Kernel *k, Op *op, AttrId id, int64_t v)
{
	attrs_set(k->ctx, &op->attrs, attr_ints(id, &v, 1));
}

void op_ints(Kernel *k, Op *op, AttrId id, const int64_t *v, int n)
{
	attrs_set(k->ctx, &op->attrs, attr_ints(id, v, n));
}

void op_real(Kernel *k, Op *op, AttrId id, double v)
{
	attrs_set(k->ctx, &op->attrs, (Attr){.id = id, .real = v});
}

void op_str(Kernel *k, Op *op, AttrId id, const char *v)
{
	attrs_set(k->ctx, &op->attrs, (Attr){.id = id, .str = ctx_str(k->ctx, v)});
}

void op_atom(Kernel *k, Op *op, Atom a)
{
	attrs_set(k->ctx, &op->attrs, (Attr){.id = A_ATOM, .atom = a});
}

void kernel_int(Kernel *k, AttrId id, int64_t v)
{
	attrs_set(k->ctx, &k->attrs, attr_ints(id, &v, 1));
}

void kernel_ints(Kernel *k, AttrId id, const int64_t *v, int n)
{
	attrs_set(k->ctx, &k->attrs, attr_ints(id, v, n));
}

void kernel_str(Kernel *k, AttrId id, const char *v)
{
	attrs_set(k->ctx, &k->attrs, (Attr){.id = id, .str = ctx_str(k->ctx, v)});
}
