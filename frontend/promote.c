/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* promote.c - sums of which the tensor core adds up only so many elements of K by itself, because
 * it keeps few bits; the rest is added up in f32, in the program itself:
 *     acc += promote(mm(sA, sB), every 128);      of operands that are 64 deep, in a loop over k
 * ->  %acc.part = frag
 *     for k.1 (0, (T + 1) / 2) {
 *       fill %acc.part value=0
 *       for k (k.1 * 2, k.1 * 2 + 2) { ... mma %acc.part, %sA, %sB }
 *       %x = add %acc, %acc.part ; copy %acc, %x }
 * Operands that are deeper are multiplied in several steps, mma .. depth=(0,128). */
#include "frontend/sema.h"

#include <string.h>

static const SumRow sum_rows[] = {
#define SUM(text, form, every, what) {text, form, every},
#include "frontend/words.def"
};

const SumRow *sum_by_name(const char *name)
{
	for (size_t i = 0; i < COUNTOF(sum_rows); i++)
		if (!strcmp(sum_rows[i].name, name))
			return &sum_rows[i];
	return NULL;
}

static void say(Sema *s, const Promotion *p, int64_t elements, const char *why)
{
	kernel_why(s->kernel, REASON_PROMOTE, p->acc->name, elements, "%s", why);
}

/* The columns from .. to of the operands; all of them where to is their depth and from is 0. */
static void step(Sema *s, const Node *n, const Value *v, Promotion *p, const int64_t *columns,
		 bool all)
{
	Val *acc = v[0].val, *part = p->part;
	p->fill = build_fill(s, n->loc, part, 0);
	Op *mma = mma_build(s, n, v, part);
	if (!all)
		op_ints(s->kernel, mma, A_DEPTH, columns, 2);
	p->add = build_in(s, build_in(s, build(s, OP_ADD, n->loc), acc), part);
	Val *x = op_result(s->kernel, p->add, "x", acc->type);
	p->copy = build_copy(s, n->loc, acc, x);
}

/* The accumulator's second set of registers. One does for all statements that add to it, but for
 * those that a loop leaves open at one time. */
static Val *part_of(Sema *s, Val *acc)
{
	bool open = false;
	for (int i = 0; i < s->promotions.n; i++)
		open |= s->promotions.at[i].acc == acc;
	for (Op *op = open ? NULL : acc->def->next; op; op = op->next)
		if (op->kind == OP_FRAG && ptrmap_get(&s->parts, op->out) == acc)
			return op->out;
	Op *frag = op_new(s->kernel, OP_FRAG, acc->def->loc);
	op_insert_after(acc->def, frag);
	op_result(s->kernel, frag, ctx_strf(s->ctx, "%s.part", acc->name), acc->type);
	s->parts.arena = s->arena;
	ptrmap_set(&s->parts, frag->out, acc);
	return frag->out;
}

void promote_build(Sema *s, const Node *n, const Value *v, int64_t every)
{
	int64_t depth = mma_operand(s, &v[2]).depth;
	Promotion p = {.acc = v[0].val,
		       .part = part_of(s, v[0].val),
		       .block = s->block,
		       .trips = every / depth,
		       .depth = depth};
	for (int64_t from = 0; from < depth; from += every) {
		int64_t to = from + every < depth ? from + every : depth;
		step(s, n, v, &p, (const int64_t[]){from, to}, every >= depth);
	}
	if (p.trips > 1 && s->place == AT_LOOP)
		vec_push(s->arena, &s->promotions, p);
	else
		say(s, &p, every < depth ? every : depth, "its mma keeps few bits of a sum");
}

/* acc += x * mm(sA, sB) */
void scaled_build(Sema *s, const Node *n, const Value *v, const Node *scale)
{
	Value part = value_of(V_FRAG), sum[2] = {v[0], value_bad()}, product[2];
	part.val = part_of(s, v[0].val);
	part.loc = n->kids.at[1]->loc;
	build_fill(s, n->loc, part.val, 0);
	mma_build(s, n, v, part.val);
	product[0] = eval(s, scale);
	product[1] = part;
	if (product[0].kind == V_BAD)
		return;
	if (!is_elementwise(&product[0])) {
		want(s, &product[0], V_FRAG, "what scales a product");
		return;
	}
	sum[1] = elt_apply(s, n->loc, elt_by_op(OP_MUL), product);
	sum[1].loc = n->loc;
	if (sum[1].kind != V_BAD)
		sum[1] = elt_apply(s, n->loc, elt_by_op(OP_ADD), sum);
	if (sum[1].kind != V_BAD)
		build_copy(s, n->loc, v[0].val, sum[1].val);
}

/* ------------------------------------------------------------------ several iterations */
static bool is_step(const Sema *s, const Block *b, const Op *op)
{
	EACH(const Promotion, p, s->promotions)
		if (p->block == b && (p->add == op || p->copy == op))
			return true;
	return false;
}

/* Whether nothing in the loop sees what the accumulator is in between. */
static bool may_wait(const Sema *s, const Promotion *p, const Op *loop)
{
	if (p->block != loop->body)
		return false;
	for (const Op *op = loop->body->first; op && op_inside(op, loop); op = op_next(op))
		if ((op->out == p->acc || op_takes(op, p->acc)) && !is_step(s, p->block, op))
			return false;
	return true;
}

static void move_to(Block *b, Op *op)
{
	block_append(b, op);
}

/* The part begins before the iterations of a group, and is added after them. */
static void widen(const Promotion *p, Op *loop, Op *group)
{
	op_insert_before(loop, p->fill);
	move_to(group->body, p->add);
	move_to(group->body, p->copy);
}

/* for k (from, to) { ... }  ->  for g (0, n) { for k (from + g * trips, .. + trips) { ... } } */
static Op *group_new(Sema *s, Op *loop, const Ix *trips)
{
	Ctx *c = s->ctx;
	Kernel *k = s->kernel;
	Op *group = op_new(k, OP_FOR, loop->loc);
	op_sym(k, group, kernel_fresh(k, loop->sym[0]));
	op_ix(k, group, ix_const(c, 0));
	op_ix(k, group, ix_ceil_div(c, ix_sub(c, IX(loop, TO), IX(loop, FROM)), trips));
	op_insert_before(loop, group);
	IX(loop, FROM) = ix_add(c, IX(loop, FROM), ix_mul(c, ix_sym(c, group->sym[0]), trips));
	IX(loop, TO) = ix_add(c, IX(loop, FROM), trips);
	move_to(op_body(k, group), loop);
	return group;
}

/* Whether the iterations are a multiple of so many, whatever the sizes. */
static bool divides(Sema *s, const Op *loop, const Ix *trips)
{
	const Ix *n = ix_sub(s->ctx, IX(loop, TO), IX(loop, FROM));
	IxFacts known = kernel_facts(s->kernel);
	return ix_is(ix_simplify(s->ctx, ix_mod(s->ctx, n, trips), known), 0);
}

static bool is_step_of(const Op *op, const Promotion *p, int n)
{
	for (int i = 0; i < n; i++)
		if (op == p[i].fill || op == p[i].add || op == p[i].copy)
			return true;
	return false;
}

static bool is_filled_in(const Op *loop, const Val *buffer)
{
	for (const Op *op = loop->body->first; op; op = op->next)
		if (op->kind == OP_COPY && IN(op, TO).val == buffer)
			return true;
	return false;
}

/* Whether the tile of an iteration after the last lies beyond the edge, and reads as zeros. */
static bool ends_with(Ctx *c, const Op *tile, const Op *loop, const LoopMode *over)
{
	const Layout *l = IN(tile, OF).val->type->layout;
	const Ix *at = ix_mul(c, ix_sym(c, loop->sym[0]), ix_const(c, over->tile));
	for (int i = 0; i < tile->nix; i++)
		if (tile->ix[i] == at && layout_size(c, layout_mode(c, l, i)) == over->extent)
			return true;
	return false;
}

/* Whether iterations after the last would change nothing: they multiply zeros by zeros. */
static bool may_go_on(Ctx *c, const Op *loop, const LoopMode *over, const Promotion *p, int n)
{
	for (const Op *op = loop->body->first; op && over; op = op->next) {
		bool none = op->kind == OP_TILE   ? ends_with(c, op, loop, over)
			    : op->kind == OP_MMA  ? is_filled_in(loop, IN(op, A).val) &&
							    is_filled_in(loop, IN(op, B).val)
			    : op->kind == OP_COPY ? IN(op, TO).val->type->space == SP_SHARED
						  : false;
		if (!none && !is_step_of(op, p, n))
			return false;
	}
	return over;
}

/* Takes those of the loop's body out of the list, and calls out the ones that may wait. */
static int take_waiting(Sema *s, const Op *loop, Promotion *waiting)
{
	int n = 0, kept = 0;
	EACH(const Promotion, p, s->promotions)
		if (may_wait(s, p, loop))
			waiting[n++] = *p;
		else if (p->block == loop->body)
			say(s, p, p->depth, "the loop uses it in each iteration");
	for (int i = 0; i < s->promotions.n; i++)
		if (s->promotions.at[i].block != loop->body)
			s->promotions.at[kept++] = s->promotions.at[i];
	s->promotions.n = kept;
	return n;
}

/* Where iterations cannot be taken together, a sum is promoted in each. */
void promote_group(Sema *s, Op *loop, const LoopMode *over)
{
	Promotion *waiting = NEWN(s->arena, Promotion, s->promotions.n + 1);
	int64_t most = INT64_MAX;
	int n = take_waiting(s, loop, waiting);
	for (int i = 0; i < n; i++)
		most = waiting[i].trips < most ? waiting[i].trips : most;
	const Ix *trips = ix_const(s->ctx, most);
	bool may = n && (divides(s, loop, trips) || may_go_on(s->ctx, loop, over, waiting, n));
	Op *group = may ? group_new(s, loop, trips) : NULL;
	for (int i = 0; i < n; i++) {
		if (group)
			widen(&waiting[i], loop, group);
		say(s, &waiting[i], waiting[i].depth * (group ? most : 1),
		    group ? "its mma keeps few bits of a sum"
			  : "the number of iterations is not known to be a multiple of more");
	}
}
