/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_forms.c - random changes of a kernel that are of several ops at once: forms that no pass
 * makes and that one dropped or moved op does not come to.
 *     wgmma reads %sA[slot]  ->  half of the lanes of each warp read some of it, and fence, before
 */
#include "stepper_forms.h"

#include <string.h>

bool sets_registers(const Op *op)
{
	return op->kind == OP_SETMAXNREG;
}

/* By some warps of each warpgroup, or again with no meeting between. */
bool registers_apart(Change *c, Op *op)
{
	Ctx *x = c->k->ctx;
	const Ix *warp = ix_mod(x, ix_name(c, "warp"), ix_num(c, 4));
	if (random_under(c->r, 2)) {
		op_insert_after(op, copy_of(c, op));
		return true;
	}
	put_into(c,
		 branch_before(c, op, ix_new(x, IX_LT, warp, ix_num(c, 1 + random_under(c->r, 3)))),
		 op);
	return true;
}

/* All that take registers take as many more: together they may do only in some order. */
bool registers_alike(Change *c, Op *op)
{
	int64_t n = attrs_int(&op->attrs, A_REGS, 24) + (random_under(c->r, 5) + 1) * 8;
	if (!attrs_int(&op->attrs, A_N, 0) || n > 240)
		return false;
	for (Op *o = kernel_first(c->k); o; o = op_next(o))
		if (sets_registers(o) && attrs_int(&o->attrs, A_N, 0))
			op_int(c->k, o, A_REGS, n);
	return true;
}

bool is_proxy_fence(const Op *op)
{
	return op->kind == OP_FENCE_ASYNC;
}

/* By one half, or by one and then by the other, which is as good as by all. */
bool half_a_fence(Change *c, Op *op)
{
	Ctx *x = c->k->ctx;
	const Ix *lane = ix_name(c, "lane"), *half = ix_num(c, 16);
	const Ix *halves[] = {ix_new(x, IX_LT, lane, half), ix_new(x, IX_LE, half, lane)};
	int first = random_under(c->r, 2);
	if (random_under(c->r, 2))
		put_into(c, branch_before(c, op, halves[!first]), copy_of(c, op));
	put_into(c, branch_before(c, op, halves[first]), op);
	return true;
}

bool is_read_of_lanes(const Op *op)
{
	return op->kind == OP_LDMATRIX || op->kind == OP_LD_SHARED;
}

/* One lane reads the slot before all do, and they do not meet behind that. */
bool one_reads_first(Change *c, Op *op)
{
	Op *one = op_new(c->k, OP_LD_SHARED, op->loc), *meeting = op;
	op_in(c->k, one, op->in[0].val, op->in[0].at);
	op_in(c->k, one, op->in[1].val, op->in[1].at);
	op_ix(c->k, one, ix_num(c, 0));
	op_int(c->k, one, A_N, 2);
	Op *by = op_new(c->k, OP_ELECT, op->loc);
	op_insert_before(op, by);
	put_into(c, by, one);
	while (meeting && meeting->kind != OP_BAR_WARP)
		meeting = meeting->next;
	if (meeting)
		op_remove(meeting);
	return meeting != NULL;
}

bool is_role_of_warps(const Op *op)
{
	return op->kind == OP_ROLE && attrs_int(&op->attrs, A_WARPS, 0) > 1;
}

static void meet_in_loop(Change *c, Op *role, const Ix *who, int barrier)
{
	static const int turns[] = {0, 2, 33};
	const IxFact *size = c->k->syms.n ? &c->k->syms.at[random_under(c->r, c->k->syms.n)] : NULL;
	Op *branch = op_new(c->k, OP_IF, role->loc), *f = op_new(c->k, OP_FOR, role->loc);
	Op *bar = op_new(c->k, OP_BAR_SYNC, role->loc);
	const Ix *n = ix_num(c, turns[random_under(c->r, 3)]);
	if (size && random_under(c->r, 2))
		n = ix_ceil_div(c->k->ctx, ix_sym(c->k->ctx, size->name), ix_num(c, 64));
	op_ix(c->k, branch, who);
	op_sym(c->k, f, kernel_fresh(c->k, "again"));
	op_ix(c->k, f, ix_num(c, 0));
	op_ix(c->k, f, n);
	op_ix(c->k, bar, ix_num(c, barrier));
	op_int(c->k, bar, A_THREADS, 32 * attrs_int(&role->attrs, A_WARPS, 0));
	block_append(op_body(c->k, role), branch);
	put_into(c, branch, f);
	put_into(c, f, bar);
}

/* Behind all else, two parts of a role meet in loops of their own, as long or not. */
bool two_loops(Change *c, Op *role)
{
	Ctx *x = c->k->ctx;
	int64_t first = attrs_int(&role->attrs, A_FIRST, 0);
	int64_t half = first + attrs_int(&role->attrs, A_WARPS, 0) / 2;
	const Ix *warp = ix_name(c, "warp"), *from = ix_num(c, half);
	int barrier = 8 + random_under(c->r, 8);
	meet_in_loop(c, role, ix_new(x, IX_LT, warp, from), barrier);
	meet_in_loop(c, role, ix_new(x, IX_LE, from, warp), barrier);
	return true;
}

bool is_load(const Op *op)
{
	return op->kind == OP_TMA_LOAD;
}

/* One that waits for what is loaded. */
static Op *wait_of(Change *c, const Op *load)
{
	int n = 0;
	Op *found = NULL;
	for (Op *op = kernel_first(c->k); op; op = op_next(op))
		if (is_wait(op) && op->in[0].val == load->in[2].val && random_under(c->r, ++n) == 0)
			found = op;
	return found;
}

/* Registers for 16 bytes of each thread. */
static Val *new_registers(Change *c, Elem e, Op *before)
{
	const char *text =
		ctx_strf(c->k->ctx,
			 "kernel x ptx sm_90a block=32 smem=0 after=simplify {\n"
			 "  %%r = frag : reg %s (%d,32):(1,%d) tv (32,%d):(%d,1)\n}\n",
			 elem_rows[e].name, 128 / elem_rows[e].bits, 128 / elem_rows[e].bits,
			 128 / elem_rows[e].bits, 128 / elem_rows[e].bits);
	Module *m = module_parse(c->k->ctx, ctx_src(c->k->ctx, "registers", text, strlen(text)));
	if (!m || !m->kernels.n)
		return NULL;
	Op *frag = op_new(c->k, OP_FRAG, before->loc);
	op_result(c->k, frag, kernel_fresh(c->k, "own"), m->kernels.at[0]->body.first->out->type);
	op_insert_before(before, frag);
	return frag->out;
}

static void read_here(Change *c, Op *region, const Op *load, const Op *wait, Val *to)
{
	Op *o = op_new(c->k, OP_LD_SHARED, wait->loc);
	op_in(c->k, o, to, ix_num(c, 0));
	op_in(c->k, o, load->in[0].val, wait->in[0].at);
	op_ix(c->k, o, ix_mul(c->k->ctx, ix_name(c, "lane"), ix_num(c, 16)));
	op_int(c->k, o, A_N, 128 / elem_rows[load->in[0].val->type->elem].bits);
	put_into(c, region, o);
}

/* Some lanes read what TMA loaded; they, or others, or none, or all fence; they meet, or not. */
bool read_by_threads(Change *c, Op *load)
{
	Ctx *x = c->k->ctx;
	Op *wait = wait_of(c, load);
	const Ix *lane = ix_name(c, "lane"), *n = ix_num(c, 1 + random_under(c->r, 32));
	const Ix *who[] = {ix_new(x, IX_LT, lane, n), ix_new(x, IX_LE, n, lane), ix_num(c, 1)};
	const Ix *read = who[random_under(c->r, 3)];
	int how = random_under(c->r, 8);
	if (!wait || !wait->next)
		return false;
	Val *to = new_registers(c, load->in[0].val->type->elem, wait);
	if (!to)
		return false;
	Op *meet = op_new(c->k, OP_BAR_WARP, wait->loc);
	op_insert_after(wait, meet);
	read_here(c, branch_before(c, meet, read), load, wait, to);
	if (how)
		put_into(c, branch_before(c, meet, how < 6 ? read : who[how - 6]),
			 op_new(c->k, OP_FENCE_ASYNC, wait->loc));
	if (!random_under(c->r, 6))
		op_remove(meet);
	return true;
}
