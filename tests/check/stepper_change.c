/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_change.c - one random change of a kernel: ops dropped, doubled, moved, put in a branch of
 * some lanes or in a loop; numbers, slots, parities, barriers, masks, bounds and conditions
 * changed; writes and reads put where there were none; a trip peeled off a loop. Changes of several
 * ops at once are stepper_forms.c's. The table of changes is at the end. */
#include "stepper_forms.h"

#include <string.h>

enum { FAR = 8 };

int random_under(Random *r, int n)
{
	r->state = r->state * 6364136223846793005u + 1442695040888963407u;
	return (int)((r->state >> 33) % (uint64_t)n);
}

/* ------------------------------------------------------------------ changes */
static bool drop(Change *c, Op *op)
{
	(void)c;
	op_remove(op);
	return true;
}

static bool twice(Change *c, Op *op)
{
	op_insert_after(op, copy_of(c, op));
	return true;
}

static bool move(Change *c, Op *op)
{
	Op *s = random_under(c->r, 2) ? statement(op) : op;
	bool up = random_under(c->r, 2);
	int steps = 1 + (random_under(c->r, 2) ? random_under(c->r, FAR) : 0);
	Op *to = s;
	for (int i = 0; i < steps; i++) {
		Op *next = up ? to->prev : to->next;
		if (!next)
			break;
		to = next;
	}
	if (to == s)
		return false;
	op_remove(s);
	if (up)
		op_insert_before(to, s);
	else
		op_insert_after(to, s);
	return true;
}

/* Out of its branch or loop, or into the next one. */
static bool lift(Change *c, Op *op)
{
	Op *s = random_under(c->r, 2) ? statement(op) : op, *up = op_parent(s);
	bool before = random_under(c->r, 2);
	Op *next = before ? s->prev : s->next;
	if (next && next->body && random_under(c->r, 2)) {
		op_remove(s);
		if (next->body->first && before)
			op_insert_after(next->body->last, s);
		else if (next->body->first)
			op_insert_before(next->body->first, s);
		return next->body->first != NULL;
	}
	if (!up || up->kind == OP_ROLE)
		return false;
	op_remove(s);
	if (before)
		op_insert_before(up, s);
	else
		op_insert_after(up, s);
	return true;
}

static Operand *pick_slot(Change *c, Op *op)
{
	Operand *found = NULL;
	for (int i = 0, n = 0; i < op->nin; i++)
		if (op->in[i].at && op->in[i].val->def &&
		    attrs_int(&op->in[i].val->def->attrs, A_SLOTS, 0) > 1 &&
		    random_under(c->r, ++n) == 0)
			found = &op->in[i];
	return found;
}

static bool slot(Change *c, Op *op)
{
	Operand *in = pick_slot(c, op);
	int64_t slots = attrs_int(&in->val->def->attrs, A_SLOTS, 1);
	Ctx *x = c->k->ctx;
	switch (random_under(c->r, 5)) {
	case 0:
		in->at = ix_mod(x, ix_plus(c, in->at, 1 + random_under(c->r, (int)slots)),
				ix_num(c, slots));
		return true;
	case 1:
		in->at = ix_plus(c, in->at, random_under(c->r, 2) ? 1 : -1);
		return true;
	case 2: /* the modulo is left out, or is another */
		if (in->at->kind != IX_MOD)
			return false;
		in->at = random_under(c->r, 2) ? in->at->a
					       : ix_mod(x, in->at->a, ix_num(c, slots - 1));
		return true;
	case 3:
		in->at = ix_num(c, random_under(c->r, (int)slots));
		return true;
	default:
		in->at = ix_mod(x, ix_add(x, in->at, something(c, op)), ix_num(c, slots));
		return true;
	}
}

/* With another modulo, or with none: right in the first lap at most. */
static const Ix *of_laps(Change *c, const Ix *p, bool none)
{
	Ctx *x = c->k->ctx;
	if (none)
		return p->kind == IX_MOD ? p->a : ix_plus(c, ix_mul(x, p, ix_num(c, -1)), 1);
	return p->kind == IX_MOD ? ix_mod(x, p->a, ix_num(c, 4)) : ix_mul(x, p, ix_num(c, 2));
}

static bool parity(Change *c, Op *op)
{
	Ctx *x = c->k->ctx;
	const Ix *p = op->ix[0];
	int how = random_under(c->r, 7);
	switch (how) {
	case 0:
		op->ix[0] = ix_num(c, random_under(c->r, 4));
		break;
	case 1:
		op->ix[0] = ix_plus(c, p, 1 + random_under(c->r, 2));
		break;
	case 2:
	case 3:
		op->ix[0] = of_laps(c, p, how == 3);
		break;
	case 4:
		op->ix[0] = ix_mod(x, ix_add(x, p, something(c, op)), ix_num(c, 2));
		break;
	default:
		op->ix[0] = ix_mod(x, ix_plus(c, p, 1), ix_num(c, 2));
	}
	return true;
}

static bool parity_of_laps(Change *c, Op *op)
{
	op->ix[0] = of_laps(c, op->ix[0], random_under(c->r, 2));
	return true;
}

static bool number(Change *c, Op *op)
{
	static const AttrId ids[] = {A_COUNT, A_BYTES, A_N, A_THREADS};
	for (size_t i = 0; i < COUNTOF(ids); i++) {
		const Attr *a = attrs_get(&op->attrs, ids[i]);
		int64_t step = ids[i] == A_THREADS ? 32 : ids[i] == A_BYTES ? 16 : 1;
		int64_t v = a ? a->i[0] : 0;
		if (!a || op->kind == OP_SETMAXNREG)
			continue;
		switch (random_under(c->r, 5)) {
		case 0:
			v += step;
			break;
		case 1:
			v -= step;
			break;
		case 2:
			v *= 2;
			break;
		case 3:
			v = v / 2 / step * step;
			break;
		default:
			v = ids[i] == A_COUNT || ids[i] == A_N ? random_under(c->r, 4)
							       : v + 2 * step;
		}
		if (v < 0 || v == a->i[0])
			return false;
		op_int(c->k, op, ids[i], v);
		return true;
	}
	return false;
}

static bool count(Change *c, Op *op)
{
	op_int(c->k, op, A_COUNT, random_under(c->r, 3));
	return true;
}

static bool barrier(Change *c, Op *op)
{
	op->ix[0] = random_under(c->r, 3) ? ix_plus(c, op->ix[0], random_under(c->r, 2) ? 1 : -1)
					  : ix_num(c, random_under(c->r, 16));
	return true;
}

/* Another barrier, or another buffer, of the same kind. */
static bool retarget(Change *c, Op *op)
{
	int n = 0, which = op->kind == OP_TMA_LOAD && random_under(c->r, 2) ? 2 : 0;
	Val *found = NULL, *old;
	if (op->kind == OP_LDMATRIX || op->kind == OP_LD_SHARED || op->kind == OP_ST_STAGED ||
	    op->kind == OP_ST_UNIT)
		which = 1;
	if (op->kind == OP_WGMMA)
		which = 1 + random_under(c->r, 2);
	if (which >= op->nin)
		return false;
	old = op->in[which].val;
	for (Op *d = c->k->body.first; d; d = d->next)
		if (d->out && d->out != old && d->out->type->kind == old->type->kind &&
		    (d->kind == OP_SHARED || d->kind == OP_MBARRIER) &&
		    (old->type->kind != TY_TILE || d->out->type->elem == old->type->elem) &&
		    random_under(c->r, ++n) == 0)
			found = d->out;
	if (!found || (old->def->kind != OP_SHARED && old->def->kind != OP_MBARRIER))
		return false;
	op->in[which].val = found;
	return true;
}

static bool mask(Change *c, Op *op)
{
	const Ix **x = &op->ix[op->nix - 1];
	Ctx *k = c->k->ctx;
	*x = random_under(c->r, 2) ? ix_mul(k, *x, ix_num(c, 2))
				   : ix_num(c, 1 + random_under(c->r, 15));
	return true;
}

static bool rank(Change *c, Op *op)
{
	const Ix *ranks[] = {ix_num(c, 0), ix_num(c, 1), ix_name(c, "rank"), ix_name(c, "lane")};
	if (!attrs_get(&c->k->attrs, A_CLUSTER))
		return false;
	if (op->nix)
		op->ix[0] = ranks[random_under(c->r, 4)];
	else
		op_ix(c->k, op, ranks[random_under(c->r, 4)]);
	return true;
}

static bool lanes(Change *c, Op *op)
{
	Op *s = random_under(c->r, 2) ? statement(op) : op;
	put_into(c, branch_before(c, s, some_lanes(c)), s);
	return true;
}

static bool unbranch(Change *c, Op *op)
{
	Op *in = op->body->first;
	(void)c;
	op_remove(in);
	op_insert_before(op, in);
	op_remove(op);
	return true;
}

static bool condition(Change *c, Op *op)
{
	const Ix **x = &op->ix[random_under(c->r, op->nix)];
	Ctx *k = c->k->ctx;
	switch (random_under(c->r, 4)) {
	case 0:
		*x = ix_new(k, IX_EQ, *x, ix_num(c, 0));
		break;
	case 1:
		if (!(*x)->a)
			return false;
		*x = ix_new(k, (*x)->kind, ix_plus(c, (*x)->a, random_under(c->r, 2) ? 1 : -1),
			    (*x)->b);
		break;
	case 2:
		*x = some_lanes(c);
		break;
	default:
		*x = ix_new(k, IX_LE, ix_num(c, 1), something(c, op));
	}
	return true;
}

static bool bounds(Change *c, Op *op)
{
	int i = random_under(c->r, op->nix);
	int by = random_under(c->r, 4) ? (random_under(c->r, 2) ? 1 : -1) : 2;
	op->ix[i] = ix_plus(c, op->ix[i], by);
	return true;
}

/* A loop around what was done once. */
static bool loop(Change *c, Op *op)
{
	Op *s = statement(op), *f = op_new(c->k, OP_FOR, op->loc);
	static const int turns[] = {0, 2, 3, 33};
	const Ix *n = ix_num(c, turns[random_under(c->r, 4)]);
	const IxFact *size = c->k->syms.n ? &c->k->syms.at[random_under(c->r, c->k->syms.n)] : NULL;
	if (size && random_under(c->r, 2))
		n = ix_ceil_div(c->k->ctx, ix_sym(c->k->ctx, size->name), ix_num(c, 64));
	op_sym(c->k, f, kernel_fresh(c->k, "again"));
	op_ix(c->k, f, ix_num(c, 0));
	op_ix(c->k, f, n);
	op_insert_before(s, f);
	put_into(c, f, s);
	return true;
}

static bool keep_all(void *user, const Op *op)
{
	(void)user, (void)op;
	return true;
}

/* The last trip behind the loop, whether there is one or not. */
static bool peel(Change *c, Op *op)
{
	Ctx *k = c->k->ctx;
	const Ix *last = ix_plus(c, op->ix[1], -1), *at, *n;
	SymSub sub[3] = {{op->sym[0], last}};
	int nsub = 1;
	if (op->kind == OP_FOR_RING) {
		at = ix_sub(k, ix_add(k, op->ix[2], last), op->ix[0]);
		n = ix_num(c, attrs_int(&op->attrs, A_SLOTS, 1));
		sub[nsub++] = (SymSub){op->sym[1], ix_mod(k, at, n)};
		sub[nsub++] = (SymSub){op->sym[2], ix_mod(k, ix_div(k, at, n), ix_num(c, 2))};
	}
	Op *branch = op_new(c->k, OP_IF, op->loc);
	op_ix(c->k, branch, ix_num(c, 1));
	op_insert_after(op, branch);
	block_copy(c->k, op->body, op_body(c->k, branch), sub, nsub, keep_all, NULL);
	op->ix[1] = last;
	while (branch->body->last) {
		Op *in = branch->body->last;
		op_remove(in);
		op_insert_after(branch, in);
	}
	op_remove(branch);
	return true;
}

/* What TMA takes begins elsewhere in its slot. */
static bool offset(Change *c, Op *op)
{
	static const int steps[] = {16, 128, 1024, 2048, 4096};
	const Ix *by = ix_num(c, steps[random_under(c->r, 5)]);
	if (random_under(c->r, 2))
		by = ix_mul(c->k->ctx, by, something(c, op));
	op->ix[0] = ix_add(c->k->ctx, op->ix[0], by);
	return true;
}

/* The same read or write, by some lanes, before that of all. */
static bool by_some(Change *c, Op *op)
{
	Op *o = copy_of(c, op);
	put_into(c, branch_before(c, random_under(c->r, 2) ? op : statement(op), some_lanes(c)), o);
	return true;
}

/* A write by threads of what something else fills, before some other op. */
static bool write_there(Change *c, Op *op)
{
	Op *at = pick(c, random_under(c->r, 2) ? is_arrive : acts), *o = copy_of(c, op), *load;
	load = pick(c, is_tma);
	if (!at || !load || load->in[0].val->type->elem != op->in[0].val->type->elem)
		return false;
	o->in[0].val = load->in[0].val;
	o->in[0].at = at->nin && at->in[0].at ? at->in[0].at : ix_num(c, 0);
	op_insert_before(statement(at), o);
	return true;
}

/* An accumulator is read through a view of its own, before some wgmma.wait or behind it. */
static bool view(Change *c, Op *op)
{
	const Op *part = op->in[0].val->def;
	Op *frag = part->in[0].val->def, *at = pick(c, is_mma_step), *p = copy_of(c, part);
	Op *o = op_new(c->k, OP_CVT, op->loc);
	if (!at || !frag || frag->kind != OP_FRAG)
		return false;
	op_insert_after(frag, p);
	op_in(c->k, o, p->out, NULL);
	op_result(c->k, o, kernel_fresh(c->k, op->out->name), op->out->type);
	op_insert_after(at, o);
	return true;
}

/* An op that orders, put before another. */
static bool insert(Change *c, Op *op)
{
	Op *at = pick(c, acts);
	op_insert_before(at, copy_of(c, op));
	return true;
}

static bool exchange(Change *c, Op *op)
{
	Op *other = pick(c, acts), *a = copy_of(c, op), *b;
	if (!other || other == op)
		return false;
	b = copy_of(c, other);
	op_insert_before(op, b);
	op_insert_before(other, a);
	op_remove(op);
	op_remove(other);
	return true;
}

static bool registers(Change *c, Op *op)
{
	int64_t n = attrs_int(&op->attrs, A_REGS, 24);
	if (random_under(c->r, 3) == 0) {
		op_int(c->k, op, A_N, !attrs_int(&op->attrs, A_N, 0));
		return true;
	}
	n += (random_under(c->r, 2) ? 8 : -8) * (1 + random_under(c->r, 5));
	if (n < 24 || n > 240)
		return false;
	op_int(c->k, op, A_REGS, n);
	return true;
}

static const struct {
	const char *what;
	Wanted wanted;
	bool (*change)(Change *c, Op *op);
	int often, form; /* of all changes; of those that are a form */
} changes[] = {
	{"dropped", acts, drop, 6, 0},
	{"twice", acts, twice, 4, 0},
	{"moved", is_statement, move, 10, 0},
	{"moved out or in", is_statement, lift, 5, 0},
	{"another slot", has_slot, slot, 12, 0},
	{"another parity", is_wait, parity, 8, 0},
	{"another parity, of laps", is_wait, parity_of_laps, 0, 4},
	{"another number", has_number, number, 6, 0},
	{"another count", is_arrive, count, 3, 0},
	{"another barrier", is_named, barrier, 3, 0},
	{"another buffer or barrier", acts, retarget, 4, 0},
	{"another mask", is_shared_load, mask, 3, 0},
	{"another rank", is_arrive, rank, 2, 0},
	{"for some lanes", is_statement, lanes, 8, 0},
	{"for all lanes", is_branch, unbranch, 4, 0},
	{"another condition", is_if, condition, 6, 0},
	{"other bounds", is_loop, bounds, 4, 0},
	{"in a loop", acts, loop, 3, 0},
	{"meetings in a loop", is_meeting, loop, 3, 0},
	{"last trip peeled", is_loop, peel, 4, 0},
	{"elsewhere in its slot", is_tma, offset, 4, 0},
	{"by some lanes before", is_read, by_some, 3, 0},
	{"by some lanes before", acts, by_some, 2, 0},
	{"written by threads", is_fill, write_there, 4, 0},
	{"through a view", is_cvt, view, 4, 0},
	{"put elsewhere too", orders, insert, 4, 0},
	{"exchanged", acts, exchange, 2, 0},
	{"other registers", sets_registers, registers, 2, 0},
	{"registers set apart, or again", sets_registers, registers_apart, 2, 2},
	{"more registers for all that take", sets_registers, registers_alike, 0, 4},
	{"fenced by half of the lanes", is_proxy_fence, half_a_fence, 2, 2},
	{"read by one lane before, unmet", is_read_of_lanes, one_reads_first, 2, 1},
	{"two more loops of meetings", is_role_of_warps, two_loops, 2, 1},
	{"read by threads, too", is_load, read_by_threads, 0, 4},
};

static int often(size_t row, const char *kind, bool form)
{
	if (kind)
		return strstr(changes[row].what, kind) ? changes[row].often + changes[row].form : 0;
	return form ? changes[row].form : changes[row].often;
}

bool change_random(Kernel *k, Random *r, const char *kind, bool form, Buf *text)
{
	Change c = {k, r};
	int all = 0, n;
	size_t i = 0;
	for (size_t j = 0; j < COUNTOF(changes); j++)
		all += often(j, kind, form);
	if (!all)
		return false;
	for (n = random_under(r, all); n >= often(i, kind, form); i++)
		n -= often(i, kind, form);
	Op *op = pick(&c, changes[i].wanted);
	if (!op)
		return false;
	buf_printf(text, "%s%s: ", text->n ? "; " : "", changes[i].what);
	op_print(op, text);
	return changes[i].change(&c, op);
}
