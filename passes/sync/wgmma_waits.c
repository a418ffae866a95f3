/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* wgmma_waits.c - a group is waited for where something first needs its end: before an op that uses
 * its accumulators or writes what it reads as A, before a read of its ring by threads, and before
 * any loop or branch that has groups of its own. n is the number of groups committed since, on the
 * path that commits the fewest. A group may end in the next iteration of its loop.
 *     for j { mma.wgmma %s ; mma.wgmma %acc ; %x = exp2 %s ; %y = mul %acc, %c }
 * ->  for j { mma.wgmma %s ; wgmma.commit ; mma.wgmma %acc ; wgmma.commit
 *             wgmma.wait n=1 ; %x = exp2 %s ; wgmma.wait n=0 ; %y = mul %acc, %c } */
#include "passes/smem/rings.h"
#include "passes/sync/sync.h"

enum { MOST_FLYING = 4 };

/* Groups that have not been waited for, in the order of their commits. */
typedef struct {
	struct {
		int group;   /* its number in Groups */
		int since;   /* groups committed after it, at least */
		bool before; /* in the iteration before this one */
	} at[MOST_FLYING];
	int n;
	bool ended; /* none was left in flight at some point of this iteration */
} Flight;

typedef struct {
	Kernel *k;
	Groups *all;
	bool dry; /* only finds what is in flight at the end */
} Walk;

/* ------------------------------------------------------------------ what needs a group's end */
static const Val *whole_of(const Val *v)
{
	while (v->def && v->def->kind == OP_PART)
		v = IN(v->def, OF).val;
	return v;
}

enum { READS = 1, ADDS = 2 };

/* What the group does to the registers. */
static int use_of(const Group *g, const Val *v)
{
	int use = 0;
	for (const Op *op = g->first; op != g->last->next; op = op->next)
		for (int i = 0; i < op->nin; i++)
			if (op_effect(op, i) && whole_of(op->in[i].val) == v)
				use |= op_effect(op, i) & FX_AW ? ADDS : READS;
	return use;
}

static bool uses_registers(const Op *op, const Group *g)
{
	if (op->out && use_of(g, whole_of(op->out)))
		return true;
	for (int i = 0; i < op->nin; i++)
		if (op->in[i].val->type->space == SP_REG && use_of(g, whole_of(op->in[i].val)))
			return true;
	return false;
}

static const char *ring_of(const Operand *in)
{
	const Op *def = in->val->type->space == SP_SHARED ? in->val->def : NULL;
	return def ? attrs_str(&def->attrs, A_RING, NULL) : NULL;
}

/* A slot is released once, for the threads that read it too; a role that loads for itself waits for
 * the slot before the load. */
static bool uses_ring(const Op *op, const Group *g)
{
	for (const Op *of = g->first; of != g->last->next; of = of->next)
		for (int i = 0; i < of->nin; i++)
			if (ring_of(&of->in[i]) && op_touches(op, ring_of(&of->in[i]), ~0))
				return true;
	return false;
}

/* Writes to memory that a ring has left: all that read the ring must have ended. */
static bool writes_over(const Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		const Op *def = op->in[i].val->def;
		if (def && op_effect(op, i) & (FX_W | FX_AW) && attrs_get(&def->attrs, A_OVER))
			return true;
	}
	return false;
}

static bool needs_end(const Op *op, const Group *g)
{
	if (uses_registers(op, g) || uses_ring(op, g) || writes_over(op))
		return true;
	for (const Op *in = op->body ? op->body->first : NULL; in; in = in->next)
		if (needs_end(in, g))
			return true;
	return false;
}

/* Whether both read slots of a ring, and not the same one. */
static bool other_slots(const Group *a, const Group *b, const char **ring)
{
	for (const Op *x = a->first; x != a->last->next; x = x->next)
		for (int i = 0; i < x->nin; i++)
			for (int j = 0; j < b->first->nin; j++) {
				*ring = ring_of(&x->in[i]);
				if (*ring && operand_on_ring(&b->first->in[j], *ring) &&
				    b->first->in[j].at != x->in[i].at)
					return true;
			}
	return false;
}

static bool follows(const Walk *w, const Group *g, const Group *before, int flying)
{
	const char *ring;
	for (const Op *op = g->first; op != g->last->next; op = op->next)
		for (int i = 0; i < op->nin; i++) {
			const Val *v = whole_of(op->in[i].val);
			int use = v->type->space == SP_REG ? use_of(before, v) : 0;
			if (use && use != use_of(g, v))
				return false;
		}
	return !other_slots(g, before, &ring) ||
	       flying < attrs_int(&kernel_ring(w->k, ring)->attrs, A_SLOTS, 1);
}

/* ------------------------------------------------------------------ waits */
static Group *group_at(const Walk *w, int i)
{
	return &w->all->at.at[i];
}

/* Groups with so many after them, or more, have ended at `at`; NULL: at the end of the block. */
static void end_groups(Walk *w, Flight *f, Block *b, Op *at, int since)
{
	Op *wait = NULL;
	int kept = 0;
	for (int i = 0; i < f->n; i++) {
		Group *g = group_at(w, f->at[i].group);
		if (f->at[i].since < since) {
			f->at[kept++] = f->at[i];
			continue;
		}
		if (!wait && !w->dry) {
			wait = sync_groups_wait(w->k, g->done, g->last->loc, since);
			at ? op_insert_before(at, wait) : block_append(b, wait);
		}
		g->wait = wait;
		g->later = f->at[i].before;
	}
	f->n = kept;
	f->ended |= !kept;
}

static void end_all(Walk *w, Flight *f, Block *b, Op *at)
{
	end_groups(w, f, b, at, 0);
}

static bool adds_before(const Walk *w, const Op *op, const Val *v)
{
	bool adds = false;
	for (const Op *at = op->prev; at && !adds; at = at->prev) {
		const Group *g = group_of(w->all, at);
		adds = g && use_of(g, v) & ADDS;
	}
	return adds;
}

/* Whether the iteration before this one was the last to add to what the op reads. */
static bool reads_last_turn(const Walk *w, const Op *op)
{
	const Group *g = NULL;
	for (const Op *at = op->next; at; at = g ? g->last->next : at->next) {
		g = group_of(w->all, at);
		for (int i = 0; g && i < op->nin; i++)
			if (!(op_effect(op, i) & (FX_W | FX_AW)) &&
			    use_of(g, whole_of(op->in[i].val)) & ADDS)
				return !adds_before(w, op, whole_of(op->in[i].val));
	}
	return false;
}

/* ptxas serialises all groups (C7514, C7517) where an accumulator of the iteration before is read
 * and a group of this iteration has never been waited for. */
static void before_op(Walk *w, Flight *f, Op *op)
{
	if (f->n && !f->ended && reads_last_turn(w, op)) {
		end_all(w, f, op->block, op);
		return;
	}
	for (int i = f->n; i-- > 0;)
		if (needs_end(op, group_at(w, f->at[i].group))) {
			end_groups(w, f, op->block, op, f->at[i].since);
			return;
		}
}

/* The latest group that this one may not follow ends before it. */
static void add_group(Walk *w, Flight *f, int number)
{
	const Group *g = group_at(w, number);
	for (int i = f->n; i-- > 0;)
		if (!follows(w, g, group_at(w, f->at[i].group), f->n) || f->n == MOST_FLYING) {
			end_groups(w, f, g->first->block, g->fence, f->at[i].since);
			break;
		}
	for (int i = 0; i < f->n; i++)
		f->at[i].since++;
	f->at[f->n].group = number;
	f->at[f->n].since = 0;
	f->at[f->n++].before = false;
}

/* ------------------------------------------------------------------ loops */
/* Whether the loop's name alone gives the position of the slot in the next iteration, the slot is
 * released for its groups only, and the last release does not depend on the tile. */
static bool may_cross(const Walk *w, const Group *g, const Op *loop)
{
	Ctx *c = w->k->ctx;
	if (trips_vary(loop))
		return false;
	for (const Op *op = g->first; op != g->last->next; op = op->next)
		for (int i = 0; i < op->nin; i++) {
			const Ix *at = ring_of(&op->in[i]) ? op->in[i].at : NULL;
			if (at && varies_in(ix_subst(c, at, loop->sym[0], ix_const(c, 0)), loop))
				return false;
		}
	for (const Op *op = loop->body->first; op && op_inside(op, loop); op = op_next(op))
		if (!group_of(w->all, op) && uses_ring(op, g))
			return false;
	return true;
}

static void walk_block(Walk *w, Block *b, Flight *f);

static void end_of_body(Walk *w, Op *loop, Flight *f, bool keeps)
{
	for (int i = f->n; i-- > 0;)
		if (f->at[i].before || !keeps || !may_cross(w, group_at(w, f->at[i].group), loop)) {
			end_groups(w, f, loop->body, NULL, f->at[i].since);
			break;
		}
	for (int i = 0; i < f->n; i++)
		f->at[i].before = true;
	f->ended = false;
}

static bool same_flight(const Flight *a, const Flight *b)
{
	bool same = a->n == b->n;
	for (int i = 0; same && i < a->n; i++)
		same = a->at[i].group == b->at[i].group && a->at[i].since == b->at[i].since;
	return same;
}

/* What the iteration before leaves in flight, found by walking twice. */
static bool find_flight(const Walk *w, Op *loop, Flight *in)
{
	Walk dry = *w;
	dry.dry = true;
	for (int tries = 0; tries < 3 && !attrs_int(&loop->attrs, A_ONCE, 0); tries++) {
		Flight out = *in;
		walk_block(&dry, loop->body, &out);
		end_of_body(&dry, loop, &out, true);
		if (same_flight(&out, in))
			return true;
		*in = out;
	}
	*in = (Flight){0};
	return false;
}

static void walk_loop(Walk *w, Op *loop)
{
	Flight f = {0};
	bool keeps = find_flight(w, loop, &f);
	walk_block(w, loop->body, &f);
	end_of_body(w, loop, &f, keeps);
	for (int i = 0; i < f.n; i++)
		group_at(w, f.at[i].group)->loop = loop;
	if (f.n)
		sync_drain(w->k, w->all, loop, group_at(w, f.at[0].group)->done);
}

static bool has_groups(const Walk *w, const Op *op)
{
	for (const Op *in = op->body ? op->body->first : NULL; in; in = in->next)
		if (group_of(w->all, in) || has_groups(w, in))
			return true;
	return false;
}

/* A loop or a branch with groups begins and ends without any in flight. */
static void walk_body(Walk *w, Op *op, Flight *f)
{
	Flight none = {0};
	end_all(w, f, op->block, op);
	if (w->dry || loop_is_kept(w->all, op))
		return;
	if (op->kind == OP_FOR) {
		walk_loop(w, op);
		return;
	}
	walk_block(w, op->body, &none);
	end_all(w, &none, op->body, NULL);
}

static void walk_block(Walk *w, Block *b, Flight *f)
{
	for (Op *op = b->first; op; op = op->next) {
		const Group *g = group_of(w->all, op);
		if (g && g->first == op)
			add_group(w, f, (int)(g - w->all->at.at));
		else if (!g && has_groups(w, op))
			walk_body(w, op, f);
		else if (!g)
			before_op(w, f, op);
	}
}

void sync_group_waits(Kernel *k, Groups *all)
{
	Walk w = {k, all, false};
	for (Op *role = kernel_find(k, OP_ROLE); role; role = op_find_next(role, OP_ROLE)) {
		Flight f = {0};
		walk_block(&w, role->body, &f);
		end_all(&w, &f, role->body, NULL);
	}
}
