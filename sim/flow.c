/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* flow.c - where the threads of a warp that a branch parts come together again: the branch's
 * immediate postdominator, found on basic blocks with the dominator algorithm of Cooper, Harvey
 * and Kennedy run backwards. Where that is the end, since some threads may end on the way, it is
 * the one place by which both sides enter what they have in common, or else the postdominator of
 * those threads that go on.
 *   if (p) A else B; C   ->  the branch of the if reconverges at the first instruction of C
 *   if (p) { if (q) return; A } C   ->  the branch on p at C, the branch on q nowhere
 *   while (p) { if (q) trap; A } C  ->  the branch on p at C */
#include "sim/handlers.h"

typedef struct {
	Pool *a;
	const Code *c;
	s32 *block_of; /* by instruction */
	u32 *first;    /* by block; first[n] is the end */
	s32 n;         /* blocks; block n is the exit */
	s32 *order;    /* blocks in postorder of the reversed graph, the exit last */
	s32 *rank;     /* by block, -1: cannot reach the exit */
	s32 *ipdom;
	s32 *preds, *pred_at; /* predecessors of each block, as ranges */
	/* of the branch that is looked at: which of its sides, 1 or 2, reach a block */
	u8 *sides;
	s32 *seen, *stack; /* blocks that one reaches; to be visited */
	s32 nseen;
	s64 left;   /* visits before no more is looked for */
	bool alive; /* no edges to where threads end that others go past */
} Flow;

enum { BOTH_SIDES = 3, VISITS = 50000000 };

static bool ends_block(const Ins *in)
{
	return in->run == run_bra || (in->flags & F_END) || in->run == run_trap;
}

static void blocks_find(Flow *f)
{
	const Code *c = f->c;
	u8 *leader = pool_new(f->a, c->nins + 1);
	leader[0] = 1;
	for (u32 i = 0; i < c->nins; i++) {
		if (ends_block(&c->ins[i]))
			leader[i + 1] = 1;
		if (c->ins[i].target >= 0)
			leader[c->ins[i].target] = 1;
	}
	f->block_of = pool_new(f->a, (c->nins + 1) * sizeof *f->block_of);
	f->first = pool_new(f->a, (c->nins + 2) * sizeof *f->first);
	for (u32 i = 0; i < c->nins; i++) {
		if (leader[i])
			f->first[f->n++] = i;
		f->block_of[i] = f->n - 1;
	}
	f->first[f->n] = c->nins;
	f->block_of[c->nins] = f->n;
}

/* Whether a thread that comes to block b ends there: at once, or in a trap. */
static bool ends_in(const Flow *f, s32 b)
{
	const Ins *last = b == f->n ? NULL : &f->c->ins[f->first[b + 1] - 1];
	bool alone = last && f->first[b] + 1 == f->first[b + 1];
	return !last || (!last->guarded && last->run != run_bra && ends_block(last) &&
			 (alone || last->run == run_trap));
}

/* The one or two blocks that may follow b. */
static int successors(const Flow *f, s32 b, s32 out[2])
{
	const Ins *last = &f->c->ins[f->first[b + 1] - 1];
	int n = 0;
	if (last->run == run_bra)
		out[n++] = f->block_of[last->target];
	else if (ends_block(last))
		out[n++] = f->n;
	if (!n || last->guarded)
		out[n++] = f->block_of[f->first[b + 1]];
	if (f->alive && n == 2 && ends_in(f, out[0]) != ends_in(f, out[1])) {
		out[0] = out[ends_in(f, out[0])];
		n = 1;
	}
	return n;
}

static void preds_find(Flow *f)
{
	s32 next[2];
	f->pred_at = pool_new(f->a, ((size_t)f->n + 2) * sizeof(s32));
	f->preds = pool_new(f->a, ((size_t)f->n * 2 + 1) * sizeof(s32));
	for (s32 b = 0; b < f->n; b++)
		for (int k = successors(f, b, next); k-- > 0;)
			f->pred_at[next[k] + 1]++;
	for (s32 b = 0; b <= f->n; b++)
		f->pred_at[b + 1] += f->pred_at[b];
	s32 *fill = pool_new(f->a, ((size_t)f->n + 1) * sizeof(s32));
	for (s32 b = 0; b < f->n; b++)
		for (int k = successors(f, b, next); k-- > 0;)
			f->preds[f->pred_at[next[k]] + fill[next[k]]++] = b;
}

static void order_find(Flow *f)
{
	s32 *stack = pool_new(f->a, ((size_t)f->n + 2) * sizeof(s32));
	s32 *at = pool_new(f->a, ((size_t)f->n + 2) * sizeof(s32));
	s32 depth = 0, count = 0;
	f->order = pool_new(f->a, ((size_t)f->n + 1) * sizeof(s32));
	f->rank = pool_new(f->a, ((size_t)f->n + 1) * sizeof(s32));
	for (s32 b = 0; b <= f->n; b++)
		f->rank[b] = -1;
	stack[depth++] = f->n;
	f->rank[f->n] = 0;
	while (depth) {
		s32 b = stack[depth - 1];
		if (f->pred_at[b] + at[b] == f->pred_at[b + 1]) {
			f->rank[b] = count;
			f->order[count++] = b;
			depth--;
			continue;
		}
		s32 p = f->preds[f->pred_at[b] + at[b]++];
		if (f->rank[p] < 0) {
			f->rank[p] = 0;
			stack[depth++] = p;
		}
	}
}

static s32 meet(const Flow *f, s32 a, s32 b)
{
	while (a != b) {
		while (f->rank[a] < f->rank[b])
			a = f->ipdom[a];
		while (f->rank[b] < f->rank[a])
			b = f->ipdom[b];
	}
	return a;
}

static bool ipdom_update(Flow *f, s32 b)
{
	s32 next[2], found = -1;
	for (int k = successors(f, b, next); k-- > 0;) {
		if (f->rank[next[k]] < 0 || f->ipdom[next[k]] < 0)
			continue;
		found = found < 0 ? next[k] : meet(f, found, next[k]);
	}
	bool changed = found >= 0 && f->ipdom[b] != found;
	if (changed)
		f->ipdom[b] = found;
	return changed;
}

static void ipdom_find(Flow *f)
{
	f->ipdom = pool_new(f->a, ((size_t)f->n + 1) * sizeof(s32));
	for (s32 b = 0; b < f->n; b++)
		f->ipdom[b] = -1;
	f->ipdom[f->n] = f->n;
	for (bool changed = true; changed;) {
		changed = false;
		for (s32 i = f->rank[f->n] - 1; i >= 0; i--)
			changed |= ipdom_update(f, f->order[i]);
	}
}

/* Whether a thread that comes to block b ends without doing anything. */
static bool just_ends(const Flow *f, s32 b)
{
	if (b == f->n)
		return true;
	const Ins *in = &f->c->ins[f->first[b]];
	return !in->guarded && in->run != run_bra && ends_block(in);
}

static void visit(Flow *f, s32 *depth, s32 b, s32 branch, u8 side)
{
	if (b == branch || just_ends(f, b) || f->sides[b] & side)
		return;
	if (!f->sides[b])
		f->seen[f->nseen++] = b;
	f->sides[b] |= side;
	f->stack[(*depth)++] = b;
	f->left--;
}

/* Marks what can be reached from b without the branch itself. */
static void side_mark(Flow *f, s32 b, s32 branch, u8 side)
{
	s32 depth = 0, next[2];
	visit(f, &depth, b, branch, side);
	while (depth && f->left > 0) {
		s32 at = f->stack[--depth];
		for (int k = successors(f, at, next); k-- > 0;)
			visit(f, &depth, next[k], branch, side);
	}
}

/* Whether b is entered by the branch, or from what only one side reaches. */
static bool is_entry(const Flow *f, s32 b, const s32 next[2])
{
	bool entry = b == next[0] || b == next[1];
	for (s32 i = f->pred_at[b]; i < f->pred_at[b + 1]; i++) {
		u8 sides = f->sides[f->preds[i]];
		entry |= sides && sides != BOTH_SIDES;
	}
	return entry;
}

/* The block by which both sides of the branch enter what they share; -1: none, or several. */
static s32 common_entry(Flow *f, s32 branch)
{
	s32 next[2], found = -1, entries = 0;
	if (f->left <= 0 || successors(f, branch, next) < 2)
		return -1;
	f->nseen = 0;
	side_mark(f, next[0], branch, 1);
	side_mark(f, next[1], branch, 2);
	for (s32 i = 0; i < f->nseen; i++) {
		s32 b = f->seen[i];
		if (f->sides[b] != BOTH_SIDES || !is_entry(f, b, next))
			continue;
		found = b;
		entries++;
	}
	for (s32 i = 0; i < f->nseen; i++)
		f->sides[f->seen[i]] = 0;
	return entries == 1 && f->left > 0 ? found : -1;
}

static void branch_reconverge(Flow *f, Ins *in, s32 block)
{
	s32 p = f->ipdom[block];
	if (p < 0 || just_ends(f, p)) {
		p = common_entry(f, block);
		in->flags |= F_SOFT;
	}
	in->reconv = p >= 0 ? (s32)f->first[p] : -1;
}

static void graph_find(Flow *f)
{
	preds_find(f);
	order_find(f);
	ipdom_find(f);
}

/* Of loops that some threads may end in: both sides have nothing in common but the loop. */
static void rest_reconverge(Flow *f, Code *c)
{
	s32 next[2];
	f->alive = true;
	graph_find(f);
	for (u32 i = 0; i < c->nins; i++) {
		Ins *in = &c->ins[i];
		s32 block = f->block_of[i], p = f->ipdom[block];
		bool rest = in->run == run_bra && in->flags & F_SOFT && in->reconv < 0;
		if (rest && successors(f, block, next) == 2 && p >= 0 && !ends_in(f, p))
			in->reconv = (s32)f->first[p];
	}
}

static void suspects_find(Flow *f, Code *c)
{
	s32(*next)[2] = pool_new(f->a, ((size_t)f->n + 1) * sizeof *next);
	for (s32 b = 0; b < f->n; b++)
		if (successors(f, b, next[b]) == 1)
			next[b][1] = -1;
	undef_find(f->a, c, f->first, f->n, next);
}

void code_flow(Pool *a, Code *c)
{
	Flow f = {.a = a, .c = c, .left = VISITS};
	bool rest = false;
	blocks_find(&f);
	graph_find(&f);
	f.sides = pool_new(a, (size_t)f.n + 1);
	f.seen = pool_new(a, ((size_t)f.n + 1) * sizeof *f.seen);
	f.stack = pool_new(a, ((size_t)f.n + 1) * sizeof *f.stack);
	for (u32 i = 0; i < c->nins; i++) {
		if (c->ins[i].run != run_bra || !c->ins[i].guarded)
			continue;
		branch_reconverge(&f, &c->ins[i], f.block_of[i]);
		rest |= c->ins[i].reconv < 0;
	}
	suspects_find(&f, c);
	if (rest)
		rest_reconverge(&f, c);
}
