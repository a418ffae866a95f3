/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_defined.c - at the ptx stage, each register of a frag is written before it is read, on
 * every path, also where a loop has no iteration. For each register there is a condition under
 * which it is written; a read asks whether the conditions around it imply that one.
 *     for k (0, T) { wgmma %acc[0], .. (0, 0, k) }   written where 0 < T; a scale of 0 reads none
 *     if (T <= 0) { fill %acc value=0 }              written where 0 < T || T <= 0: always
 * A condition around nothing but loads from global memory counts as true: it asks which elements
 * a tensor has, and what is computed of the others is not stored. */
#include "base/ptrmap.h"
#include "ir/verify.h"

enum { MOST_CASES = 8, MOST_KNOWN = 64 };

typedef struct {
	const Val *val;
	int n, depth;    /* registers; conditions around the frag */
	const Ix **when; /* of each register; NULL: never */
} Frag;

typedef struct {
	const Kernel *k;
	Ctx *c;
	Arena *arena;
	IxFacts facts;
	PtrMap of, implied; /* Val -> Frag; conditions that hold for all sizes */
	VEC(Frag *) frags;
	VEC(const Ix *) around; /* conditions */
	VEC(SymSub) turns;      /* of unrolled loops */
	bool silent;            /* the first look at a loop's body: what it writes */
	const Op *bad;
	const char *why;
} Paths;

static const Ix *in_turn(const Paths *p, const Ix *x)
{
	for (int i = 0; i < p->turns.n; i++)
		x = ix_subst(p->c, x, p->turns.at[i].name, p->turns.at[i].by);
	return x;
}

/* ------------------------------------------------------------------ what implies what */
static const Ix *opposite(const Paths *p, const Ix *x)
{
	if (x->kind == IX_LT || x->kind == IX_LE)
		return ix_new(p->c, x->kind == IX_LT ? IX_LE : IX_LT, x->b, x->a);
	if (x->kind == IX_EQ || x->kind == IX_NE)
		return ix_new(p->c, x->kind == IX_EQ ? IX_NE : IX_EQ, x->a, x->b);
	return ix_new(p->c, IX_EQ, x, ix_const(p->c, 0));
}

/* Whether x, less y if there is one, is never below 0; each is what a comparison says of that. */
static bool is_natural(const Paths *p, const Ix *x, const Ix *y)
{
	x = ix_simplify(p->c, y ? ix_sub(p->c, x, y) : x, p->facts);
	return ix_least(x, p->facts) >= 0;
}

/* What is no less than 0 where a comparison holds; NULL: no one thing. */
static const Ix *natural(const Paths *p, const Ix *x)
{
	if (x->kind != IX_LT && x->kind != IX_LE)
		return NULL;
	return ix_sub(p->c, ix_sub(p->c, x->b, x->a), ix_const(p->c, x->kind == IX_LT));
}

typedef struct {
	const Ix *at[MOST_KNOWN]; /* they hold */
	int n;
} Known;

static bool is_known(const Paths *p, const Known *k, const Ix *x)
{
	const Ix *want = natural(p, x), *have;
	bool known = want && is_natural(p, want, NULL);
	for (int i = 0; i < k->n && !known; i++)
		known = k->at[i] == x ||
			(want && (have = natural(p, k->at[i])) && is_natural(p, want, have));
	return known;
}

/* As it stands and as the pass simplify leaves it: m + 1 <= m / 2 is m * 2 + 2 <= m. */
static void know(const Paths *p, Known *k, const Ix *x)
{
	if (x->kind == IX_AND) {
		know(p, k, x->a);
		know(p, k, x->b);
	} else if (k->n + 2 <= MOST_KNOWN) {
		const Ix *simple = ix_simplify(p->c, x, p->facts);
		k->at[k->n++] = x;
		if (simple != x)
			k->at[k->n++] = simple;
	}
}

/* With what is known put in; *open is a comparison that is not known. */
static const Ix *with_known(const Paths *p, const Known *k, const Ix *x, const Ix **open)
{
	if (x->kind == IX_AND || x->kind == IX_OR)
		return ix_new(p->c, x->kind, with_known(p, k, x->a, open),
			      with_known(p, k, x->b, open));
	bool holds = is_known(p, k, x);
	if (holds || is_known(p, k, opposite(p, x)))
		return ix_const(p->c, holds);
	*open = ix_is_const(x, NULL) ? *open : x;
	return x;
}

/* Whether x holds where all that is known does; else *where is known of a case where it may not. */
static bool holds_in(const Paths *p, Known k, const Ix *x, int cases, Known *where)
{
	const Ix *open = NULL;
	Known not = k;
	x = with_known(p, &k, x, &open);
	if (!open || !cases) {
		*where = k;
		return !open && !ix_is(x, 0);
	}
	know(p, &k, open);
	know(p, &not, opposite(p, open));
	return holds_in(p, not, x, cases - 1, where) && holds_in(p, k, x, cases - 1, where);
}

/* ------------------------------------------------------------------ reads and writes */
static bool unwritten(Paths *p, const Op *op, const Frag *f, int reg, const Known *k, int first)
{
	Buf b = {0};
	buf_printf(&b, "register %d of '%%%s' is read", reg, f->val->name);
	for (int i = first; i < k->n; i++) {
		buf_printf(&b, i == first ? " where " : " and ");
		ix_print(k->at[i], &b);
	}
	buf_printf(&b, ", and nothing has written it%s: a fill is missing before",
		   f->when[reg] ? " then" : "");
	p->bad = op;
	p->why = ctx_buf(p->c, &b);
	return false;
}

/* The conditions around, but for the first ones. */
static const Ix *here(const Paths *p, int from)
{
	const Ix *all = ix_const(p->c, 1);
	for (int i = from; i < p->around.n; i++)
		all = ix_new(p->c, IX_AND, all, p->around.at[i]);
	return all;
}

static bool read_reg(Paths *p, const Op *op, const Frag *f, int reg, const Ix *only)
{
	Known k = {.n = 0}, where;
	const Ix *when = f->when[reg] ? f->when[reg] : ix_const(p->c, 0);
	const Ix *all = ix_new(p->c, IX_AND, here(p, 0), only ? only : ix_const(p->c, 1));
	const Ix *implied = ix_new(p->c, IX_LE, all, when);
	if (ix_is(all, 0) || ix_is(implied, 1) || ptrmap_get(&p->implied, implied))
		return true;
	know(p, &k, all);
	if (!holds_in(p, k, when, MOST_CASES, &where))
		return unwritten(p, op, f, reg, &where, k.n);
	ptrmap_set(&p->implied, implied, f->when);
	return true;
}

/* An mma that may overwrite what it adds to reads it where it adds; what always adds leaves written
 * what was. A fill with conditions, of registers that hold no element, counts for none. */
static bool access(Paths *p, const Op *op, int i, bool writes)
{
	Frag *f = ptrmap_get(&p->of, op->in[i].val);
	bool some = op->kind == OP_FILL && op->nix,
	     adds = op->kind == OP_WGMMA && HAS_IX(op, SCALE);
	int reads = op_effect(op, i) & (FX_R | FX_AR), wrote = op_effect(op, i) & (FX_W | FX_AW);
	int64_t first = 0;
	if (!f || some || !(writes ? wrote && (!reads || adds) : reads))
		return true;
	int64_t n = op_regs(p->k, op, i);
	const Ix *only =
		adds ? ix_new(p->c, IX_LT, ix_const(p->c, 0), in_turn(p, IX(op, SCALE))) : NULL;
	if (op->in[i].at)
		ix_is_const(in_turn(p, op->in[i].at), &first);
	const Ix *last = NULL, *now = writes ? here(p, f->depth) : NULL;
	for (int r = (int)first; r < first + n; last = f->when[r++])
		if (writes)
			f->when[r] = f->when[r] ? ix_new(p->c, IX_OR, f->when[r], now) : now;
		else if (!p->silent && (!last || f->when[r] != last) &&
			 !read_reg(p, op, f, r, wrote ? only : NULL))
			return false;
	return true;
}

static void begin_frag(Paths *p, const Op *op)
{
	Frag *f = ptrmap_get(&p->of, op->out), *new = f ? f : NEW(p->arena, Frag);
	int n = type_regs(op->out->type);
	if (!f)
		vec_push(p->arena, &p->frags, new);
	ptrmap_set(&p->of, op->out, new);
	*new = (Frag){op->out, n, p->around.n, NEWN(p->arena, const Ix *, n)};
}

/* ------------------------------------------------------------------ loops */
/* Whether x has a name that a loop binds, but for its first, or an op in it. */
static bool is_of_body(const Op *loop, const Ix *x)
{
	for (int i = 1; i < loop->nsym; i++)
		if (ix_uses(x, loop->sym[i]))
			return true;
	for (const Op *op = loop->body->first; op; op = op->next)
		for (int i = 0; i < op->nsym; i++)
			if (ix_uses(x, op->sym[i]))
				return true;
	return false;
}

/* What was written in iteration `to` of a loop, of which there is one where `some` holds. */
static const Ix *moved(Paths *p, const Op *loop, const Ix *x, const Ix *to, const Ix *some)
{
	if (x->kind == IX_OR)
		return ix_new(p->c, IX_OR, moved(p, loop, x->a, to, some),
			      moved(p, loop, x->b, to, some));
	if (is_of_body(loop, x))
		return ix_const(p->c, 0);
	if (!ix_uses(x, loop->sym[0]))
		return x;
	x = ix_simplify(p->c, ix_subst(p->c, x, loop->sym[0], to), p->facts);
	return ix_new(p->c, IX_AND, some, x);
}

static void move_all(Paths *p, const Op *loop, const Ix *to, const Ix *some)
{
	for (int i = 0; i < p->frags.n; i++) {
		const Frag *f = p->frags.at[i];
		const Ix *last = NULL, *is = NULL; /* neighbours are mostly alike */
		for (int r = 0; r < f->n; r++) {
			if (f->when[r] != last)
				is = (last = f->when[r]) ? moved(p, loop, last, to, some) : NULL;
			f->when[r] = is;
		}
	}
}

static bool walk(Paths *p, const Block *b);

static bool walk_around(Paths *p, const Block *b, const Ix *in)
{
	vec_push(p->arena, &p->around, in);
	bool ok = walk(p, b);
	p->around.n--;
	return ok;
}

/* Any number of iterations: what one writes, the next and those after the loop know. */
static bool walk_loop(Paths *p, const Op *op)
{
	Ctx *c = p->c;
	const Ix *k = ix_sym(c, op->sym[0]), *from = in_turn(p, IX(op, FROM)),
		 *to = in_turn(p, IX(op, TO)), *one = ix_const(c, 1);
	const Ix *in = ix_new(c, IX_LT, k, to);
	bool silent = p->silent;
	p->silent = true;
	walk_around(p, op->body, in);
	p->silent = silent;
	move_all(p, op, ix_sub(c, k, one), ix_new(c, IX_LT, from, k));
	bool ok = walk_around(p, op->body, in);
	move_all(p, op, ix_sub(c, to, one), ix_new(c, IX_LT, from, to));
	return ok;
}

static bool walk_turns(Paths *p, const Op *op, int64_t from, int64_t to)
{
	bool ok = true;
	for (int64_t i = from; i < to && ok; i++) {
		vec_push(p->arena, &p->turns, ((SymSub){op->sym[0], ix_const(p->c, i)}));
		ok = walk(p, op->body);
		p->turns.n--;
	}
	return ok;
}

/* ------------------------------------------------------------------ ops */
/* Whether all that is done with registers here are loads from global memory. */
static bool only_loads(const Block *b)
{
	for (const Op *op = b->first; op; op = op->next)
		if (op->body ? !only_loads(op->body)
			     : op->kind != OP_LD_GLOBAL && op->kind != OP_LD_GATHER)
			return false;
	return true;
}

static bool walk_body(Paths *p, const Op *op)
{
	int64_t from, to;
	const Ix *all = ix_const(p->c, 1);
	bool loop = op->kind == OP_FOR || op->kind == OP_FOR_RING;
	bool fixed = loop && ix_is_const(IX(op, FROM), &from) && ix_is_const(IX(op, TO), &to);
	if (fixed && (from >= to || attrs_int(&op->attrs, A_UNROLL, 0)))
		return walk_turns(p, op, from, to);
	if (loop)
		return walk_loop(p, op);
	if (op->kind == OP_ELECT)
		return walk_around(p, op->body, ix_sym(p->c, "elected"));
	for (int i = 0; op->kind == OP_IF && !only_loads(op->body) && i < op->nix; i++)
		all = ix_new(p->c, IX_AND, all, in_turn(p, op->ix[i]));
	return ix_is(all, 0) || walk_around(p, op->body, all);
}

static bool walk(Paths *p, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		if (op->kind == OP_FRAG)
			begin_frag(p, op);
		if (op->body && !walk_body(p, op))
			return false;
		for (int writes = 0; writes < 2; writes++)
			for (int i = 0; i < op->nin; i++)
				if (!access(p, op, i, writes))
					return false;
	}
	return true;
}

const char *defined_rule(const Kernel *k, const Op **at)
{
	Arena *a = arena_new();
	Paths p = {.k = k,
		   .c = k->ctx,
		   .arena = a,
		   .facts = kernel_facts(k),
		   .of.arena = a,
		   .implied.arena = a};
	if (k->stage == ST_PTX)
		walk(&p, &k->body);
	*at = p.bad;
	arena_free(a);
	return p.why;
}
