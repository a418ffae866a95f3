/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* extract.c - from a kernel to a machine: barriers and buffers by slot, warps that behave alike as
 * one agent (agents.c), and each of its steps within the loops that roles share.
 *     role consumer { for.ring k (0, T) { mbar.wait %full[slot] (phase) } }
 *  -> agent "consumer warps 0-7", inner loop: wait full[position % 4], parity position / 4 % 2
 */
#include "verify/read/read.h"
#include "verify/tree/tree.h"

enum { NAMED_BARRIERS = 16, SHORT_TRIPS = 16 };

bool read_problem(Reader *r, DiagId code, Loc loc, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (!r->p->problem) {
		r->p->code = code;
		r->p->loc = loc;
		r->p->problem = ctx_vstrf(r->p->k->ctx, fmt, ap);
	}
	va_end(ap);
	return false;
}

bool read_limit(Reader *r, LimitId limit, Loc loc)
{
	if (!r->p->problem)
		r->p->limit = limit;
	return read_problem(r, D_W0412, loc, "%s", limit_text(r->p->k->ctx, limit));
}

/* ------------------------------------------------------------------ what counts */
static bool is_acc(const Reader *r, const Val *v)
{
	for (int i = 0; i < r->accs.n; i++)
		if (r->accs.at[i] == v)
			return true;
	return false;
}

/* A part is the registers that it is of. */
static const Val *whole_of(const Val *v)
{
	while (v->def && v->def->kind == OP_PART)
		v = IN(v->def, OF).val;
	return v;
}

uint32_t read_acc_mask(const Reader *r, const Op *op)
{
	uint32_t mask = 0;
	for (int i = 0; i < r->accs.n; i++) {
		mask |= op->out && op->out == r->accs.at[i] ? 1u << i : 0;
		for (int j = 0; j < op->nin; j++)
			mask |= whole_of(op->in[j].val) == r->accs.at[i] ? 1u << i : 0;
	}
	return mask;
}

bool read_is_tile(const Val *v, Space s)
{
	return v->type->kind == TY_TILE && v->type->space == s;
}

/* A let that stays where it stands is an exchange between all lanes. */
bool read_is_aligned(const Op *op)
{
	return op_rows[op->kind].flags & OPF_ALIGNED ||
	       (op->kind == OP_LET && attrs_get(&op->attrs, A_HERE));
}

/* Nothing writes it while the kernel runs, or while the launch ahead ran. */
bool read_is_constant(const Kernel *k, const Operand *in)
{
	const Val *v = in->val->type->kind == TY_TMAP ? IN(in->val->def, OF).val : in->val;
	return v->arg >= 0 && k->args.at[v->arg].is_constant;
}

bool read_counts(const Reader *r, const Op *op)
{
	const OpRow *row = &op_rows[op->kind];
	if (row->flags & OPF_DECL)
		return false;
	if (read_is_aligned(op))
		return true;
	if (row->effects & FX_SYNC)
		return op->kind != OP_GRID_LAUNCH;
	for (int i = 0; i < op->nin; i++)
		if (op_effect(op, i) && (read_is_tile(op->in[i].val, SP_SHARED) ||
					 read_is_tile(op->in[i].val, SP_GLOBAL)))
			return true;
	if (read_acc_mask(r, op))
		return true;
	for (const Op *in = op->body ? op->body->first : NULL; in; in = in->next)
		if (read_counts(r, in))
			return true;
	return false;
}

/* Registers that an operation in flight reads or writes, each of its operands. */
static bool find_accs(Reader *r)
{
	for (const Op *op = kernel_first(r->p->k); op; op = op_next(op))
		for (int i = 0; op_done_by(op, DONE_BY_WARPGROUP) && i < op->nin; i++) {
			const Val *v = whole_of(op->in[i].val);
			if (!read_is_tile(v, SP_REG) || !(op_effect(op, i) & (FX_AR | FX_AW)) ||
			    is_acc(r, v))
				continue;
			if (r->accs.n == MAX_ACCS)
				return read_limit(r, LIMIT_ACCS, op->loc);
			vec_push(r->p->arena, &r->accs, v);
		}
	return true;
}

static bool few_choices(Reader *r)
{
	int n = 0;
	for (const Op *op = kernel_first(r->p->k); op; op = op_next(op)) {
		n += op->kind == OP_TMAP ? op->nsym : 0;
		if (n > MAX_CHOICES)
			return read_limit(r, LIMIT_CHOICES, op->loc);
	}
	return true;
}

/* ------------------------------------------------------------------ keys and cells */
enum { MOST_COPIES = 1 << 16 };

static int64_t copies(const Op *decl)
{
	int64_t n = attrs_int(&decl->attrs, A_SLOTS, 1) * attrs_int(&decl->attrs, A_GROUPS, 1);
	return n < MOST_COPIES ? n : MOST_COPIES;
}

static void add_place(Reader *r, const Op *decl, int first)
{
	vec_push(r->p->arena, &r->places, ((Place){decl->out, first, copies(decl)}));
}

static bool find_keys(Reader *r)
{
	Machine *m = &r->p->m;
	for (const Op *op = kernel_first(r->p->k); op; op = op_next(op))
		r->cta_keys += op->kind == OP_MBARRIER ? (int)copies(op) : 0;
	if (r->cta_keys >= MAX_KEYS / m->ranks)
		return read_limit(r, LIMIT_KEYS, r->p->k->loc);
	m->keys = NEWN(r->p->arena, Key, (r->cta_keys + NAMED_BARRIERS) * m->ranks + 1);
	for (int rank = 0; rank < m->ranks; rank++)
		for (const Op *op = kernel_first(r->p->k); op; op = op_next(op)) {
			if (op->kind != OP_MBARRIER)
				continue;
			if (!rank)
				add_place(r, op, m->nk);
			for (int i = 0; i < copies(op); i++)
				m->keys[m->nk++] =
					(Key){.name = op->out->name, .slot = i, .rank = rank};
		}
	r->first_named = m->nk;
	return true;
}

static bool find_cells(Reader *r)
{
	Machine *m = &r->p->m;
	for (const Op *op = kernel_first(r->p->k); op; op = op_next(op))
		r->cta_cells += op->kind == OP_SHARED ? (int)copies(op) : 0;
	if (r->cta_cells > MAX_CELLS)
		return read_limit(r, LIMIT_CELLS, r->p->k->loc);
	m->cells = NEWN(r->p->arena, Cell, r->cta_cells * m->ranks + 1);
	for (int rank = 0; rank < m->ranks; rank++)
		for (const Op *op = kernel_first(r->p->k); op; op = op_next(op)) {
			if (op->kind != OP_SHARED)
				continue;
			if (!rank)
				add_place(r, op, m->nc);
			for (int i = 0; i < copies(op); i++)
				m->cells[m->nc++] =
					(Cell){.name = op->out->name, .slot = i, .rank = rank};
		}
	return true;
}

int read_first(const Reader *r, const Place *at, int rank)
{
	bool barrier = at->val->type->kind == TY_MBAR;
	return at->first + (barrier ? r->cta_keys : r->cta_cells) * (rank - r->p->rank);
}

const Place *read_place(const Reader *r, const Val *v)
{
	for (int i = 0; i < r->places.n; i++)
		if (r->places.at[i].val == v)
			return &r->places.at[i];
	panic("%s is neither a barrier nor a buffer", v->name);
}

/* A barrier with a number is made when it is first used. */
int read_named(Reader *r, int64_t id, int warps, int rank)
{
	Machine *m = &r->p->m;
	for (int i = r->first_named; i < m->nk; i++)
		if (r->named_ids[i - r->first_named] == id && m->keys[i].rank == rank)
			return i;
	r->named_ids[m->nk - r->first_named] = (int)id;
	m->keys[m->nk] = (Key){.slot = -1, .named = true, .warps = warps, .rank = rank};
	m->keys[m->nk].name = rank < 0 ? "the cluster's barrier"
			      : id     ? ctx_strf(r->p->k->ctx, "barrier %d", (int)id)
				       : "the CTA's barrier";
	return m->nk++;
}

/* ------------------------------------------------------------------ loops that all share */
/* Run in full wherever it stands: a number of trips, or a number at most. */
static bool is_short(const Ix *trip, int64_t hi)
{
	return hi <= SHORT_TRIPS && (trip->kind == IX_CONST || trip->kind == IX_MIN);
}

/* Reads, writes, copies of one group and arithmetic only: straight-line code, however often it
 * runs. */
bool read_is_plain(const Op *op)
{
	for (const Op *in = op->body ? op->body->first : NULL; in; in = in->next)
		if ((op_rows[in->kind].effects & FX_SYNC && in->kind != OP_BAR_WARP) ||
		    (op_done(in) && !op_done_by(in, DONE_BY_LANES) &&
		     !op_done_by(in, DONE_BY_LANE)) ||
		    !read_is_plain(in))
			return false;
	return true;
}

Simple read_simple(Reader *r, const Ix *x)
{
	for (int i = 0; i < r->simple.n; i++)
		if (r->simple.at[i].of == x)
			return r->simple.at[i];
	Simple s = {x, ix_simplify(r->p->k->ctx, x, r->facts), 0, 0};
	ix_range(s.x, r->facts, &s.lo, &s.hi);
	vec_push(r->p->arena, &r->simple, s);
	return s;
}

/* to - from, of the smaller of two the smaller difference. */
const Ix *read_trips(Reader *r, const Ix *from, const Ix *to)
{
	Ctx *c = r->p->k->ctx;
	if (to->kind != IX_MIN)
		return ix_sub(c, to, from);
	return ix_new(c, IX_MIN, read_trips(r, from, to->a), read_trips(r, from, to->b));
}

/* Whether a loop of so few trips is one of the tree in some role, as others are in it. */
static bool is_outer(const Reader *r, const Ix *trip, int depth)
{
	const Tree *t = r->p->tree;
	for (int i = 0; t && i < t->outer.n; i++)
		if (t->outer.at[i].trip == trip && t->outer.at[i].depth == depth)
			return true;
	return false;
}

static void note_loop(Reader *r, Loops *at, const Op *op, int depth)
{
	if (read_is_plain(op) || r->p->sized)
		return;
	const Ix *from = stage(&r->lets, IX(op, FROM)), *to = stage(&r->lets, IX(op, TO));
	Simple trip = read_simple(r, read_trips(r, from, to));
	bool shared = r->p->tree && trip.x->kind == IX_MIN; /* unless another leads it */
	if (shared || !is_short(trip.x, trip.hi) || (op_role(op) && is_outer(r, trip.x, depth)))
		vec_push(r->p->arena, at, ((Loop){op, trip.x, depth, trip.lo, trip.hi}));
}

static bool reads_shared(const Block *b)
{
	bool reads = false;
	for (const Op *op = b->first; op && !reads; op = op->next) {
		reads = op->body && reads_shared(op->body);
		for (int i = 0; i < op->nin; i++)
			reads |= (op_effect(op, i) & (FX_R | FX_AR)) &&
				 read_is_tile(op->in[i].val, SP_SHARED);
	}
	return reads;
}

/* The loop of whose trips another has as many, but no more than so many; NULL: there is none. */
static const Op *leader_of(Reader *r, const Loop *l)
{
	const Loop *by = NULL;
	EACH(const Loop, of, r->loops) {
		const Ix *most = ix_new(r->p->k->ctx, IX_MIN, of->trip, l->trip->b);
		bool other = of->trip != l->trip ||
			     (reads_shared(of->op->body) && !reads_shared(l->op->body));
		if (other && read_simple(r, most).x == l->trip && (!by || of->hi >= by->hi))
			by = of;
	}
	return by ? by->op : NULL;
}

/* Of few trips, as the trips of another loop say: run in full. */
static void drop_led(Reader *r)
{
	int n = 0;
	r->led.n = 0;
	for (int i = 0; i < r->loops.n; i++) {
		const Loop *l = &r->loops.at[i];
		bool few = l->trip->kind == IX_MIN && is_short(l->trip, l->hi) &&
			   (i + 1 == r->loops.n || l[1].depth <= l->depth);
		bool may = few && r->loops.n <= MAX_BRANCHES && ix_is_const(l->trip->b, NULL);
		const Op *by = may ? leader_of(r, l) : NULL;
		if (by)
			vec_push(r->p->arena, &r->led, ((Led){l->op, by, l->trip->b}));
	}
	for (int i = 0; i < r->loops.n; i++)
		if (!read_led(r, r->loops.at[i].op))
			r->loops.at[n++] = r->loops.at[i];
	r->loops.n = n;
}

const Led *read_led(const Reader *r, const Op *op)
{
	for (int i = 0; i < r->led.n; i++)
		if (r->led.at[i].op == op)
			return &r->led.at[i];
	return NULL;
}

/* A loop of few trips with others in it, from the n-th on, is one of a tree too. */
static void note_outer(Reader *r, const Op *op, int depth, int n)
{
	if (!r->p->tree || r->loops.n == n || r->loops.at[n].op == op || read_is_once(r, op))
		return;
	const Ix *from = stage(&r->lets, IX(op, FROM)), *to = stage(&r->lets, IX(op, TO));
	Simple trip = read_simple(r, read_trips(r, from, to));
	for (int i = n; i < r->loops.n; i++)
		r->loops.at[i].depth++;
	vec_push(r->p->arena, &r->loops, ((Loop){op, trip.x, depth, trip.lo, trip.hi}));
	if (!is_outer(r, trip.x, depth) && trip.x->kind == IX_CONST)
		vec_push(r->p->arena, &r->p->tree->outer, r->loops.at[r->loops.n - 1]);
}

static void bind_names(Reader *r, const Op *op)
{
	for (int i = 0; i < op->nsym; i++)
		ptrmap_set(&r->bound, op->sym[i], (void *)op);
}

static void find_bound(Reader *r)
{
	ptrmap_clear(&r->bound);
	for (int i = 0; i < r->loops.n; i++) {
		const Op *loop = r->loops.at[i].op, *op = loop->body->first;
		bind_names(r, loop);
		while (op && op->kind != OP_TICKET_AT)
			op = op->next;
		if (op)
			bind_names(r, op);
	}
}

bool read_is_shared_loop(const Reader *r, const Op *op)
{
	for (int i = 0; i < r->loops.n; i++)
		if (r->loops.at[i].op == op)
			return true;
	return false;
}

/* Whether this agent leaves the if out. */
static bool never(const Reader *r, const Op *op)
{
	for (int i = 0; op->kind == OP_IF && i < op->nix; i++)
		if (ix_is(stage(&r->lets, op->ix[i]), 0))
			return true;
	return false;
}

static void find_loops(Reader *r, const Block *b, int depth)
{
	for (const Op *op = b->first; op; op = op->next) {
		int n = r->loops.n;
		read_put_names(r, op, &r->lets);
		if (!op->body || (op->kind == OP_ROLE && op != r->s->role) || !read_counts(r, op) ||
		    never(r, op))
			continue;
		if (op->kind == OP_FOR || op->kind == OP_FOR_RING)
			note_loop(r, &r->loops, op, depth);
		find_loops(r, op->body, depth + (r->loops.n > n));
		if (op->kind == OP_FOR || op->kind == OP_FOR_RING)
			note_outer(r, op, depth, n);
	}
}

static void read_put_rank(Reader *r, View *v, int rank)
{
	Ctx *c = r->p->k->ctx;
	const Ix *ctas = ix_const(c, r->p->ctas), *at = ix_const(c, rank);
	if (r->p->ctas == 1)
		return;
	const Ix *cluster = stage(v, ix_sym(c, "cluster"));
	const Ix *cta = ix_add(c, ix_mul(c, cluster, ctas), at);
	vec_push(r->p->arena, &v->names, ((Named){ctx_str(c, "rank"), at}));
	vec_push(r->p->arena, &v->names, ((Named){ctx_str(c, "cta"), cta}));
}

void read_begin(Reader *r, Script *s)
{
	r->s = s;
	r->lets.names.n = 0;
	r->lets.before = &r->made; /* no name is used before it is put in */
	ptrmap_clear(&r->made);
	read_put_choices(r, &r->lets);
	r->loops.n = 0;
	read_put_warp(r, &r->lets, s->warp);
	read_put_rank(r, &r->lets, s->rank);
	find_loops(r, &r->p->k->body, 0);
	drop_led(r);
	find_bound(r);
}

/* ------------------------------------------------------------------ the whole */
bool read_is_loop(const Op *op)
{
	return op->kind == OP_FOR || op->kind == OP_FOR_RING;
}

const Op *read_outer_loop(const Op *op)
{
	const Op *loop = NULL;
	for (const Op *up = op_parent(op); up; up = op_parent(up))
		loop = read_is_loop(up) ? up : loop;
	return loop;
}

/* The lets of the kernel, as each CTA sees them; outer loops count tiles. */
static void find_lets(Reader *r)
{
	for (int i = 0; i < r->p->m.ranks; i++) {
		View *v = &r->of_rank[i];
		v->ctx = r->p->k->ctx;
		read_put_choices(r, v);
		read_put_rank(r, v, r->p->rank + i);
		for (const Op *op = kernel_first(r->p->k); op; op = op_next(op))
			if (op_only_names(op))
				read_put_names(r, op, v);
			else if (read_is_loop(op) && !read_outer_loop(op))
				vec_push(r->p->arena, &v->names,
					 ((Named){op->sym[0], ix_add(v->ctx, stage(v, IX(op, FROM)),
								     ix_sym(v->ctx, r->p->tile))}));
		v->before = NEW(r->p->arena, PtrMap);
		v->before->arena = r->p->arena;
	}
}

/* Where a name stands does not matter to those who look one up. */
static bool names_differ(Reader *r)
{
	PtrMap names = {.arena = r->p->arena};
	for (const Op *op = kernel_first(r->p->k); op; op = op_next(op))
		for (int i = 0; (op_only_names(op) || read_is_loop(op)) && i < op->nsym; i++) {
			if (ptrmap_get(&names, op->sym[i]))
				return read_problem(r, D_W0411, op->loc,
						    "a kernel with two things called %s",
						    op->sym[i]);
			ptrmap_set(&names, op->sym[i], (void *)(uintptr_t)op);
		}
	return true;
}

/* What is the same for all sizes was read before. */
static bool read_same(Reader *r)
{
	Program *p = r->p;
	if (!p->sized)
		return read_statics(r);
	for (int i = 0; i < p->sized->nparts; i++)
		vec_push(p->arena, &r->parts, p->sized->parts[i]);
	return true;
}

static bool read_scripts(Reader *r)
{
	Program *p = r->p;
	p->m.pdl |= kernel_with(p->k, FX_ACQUIRE_LAUNCHES) != NULL;
	for (int a = 0; a < p->m.na; a++)
		if (!read_script(r, a))
			return false;
	return read_groups(r) && read_registers(r);
}

static void take_names(Reader *r, Ctx *c)
{
	Program *p = r->p;
	p->tile = ctx_str(c, "#tile");
	r->warp = ctx_str(c, "warp");
	r->tid = ctx_str(c, "tid");
	r->lane = ctx_str(c, "lane");
}

bool program_read(Program *p, const Kernel *k)
{
	Reader r = {.p = p};
	Ctx *c = k->ctx;
	p->k = k;
	p->arena = p->arena ? p->arena : ctx_arena(c);
	p->m.arena = p->arena;
	p->recall = p->recall ? p->recall : recall_new(p->arena);
	take_names(&r, c);
	r.lets.ctx = c;
	r.lets.core = p->once;
	r.lets.core_by = p->once_is;
	r.made.arena = r.seen.arena = r.bound.arena = p->arena;
	read_facts(&r, p->tree && p->tree->launched);
	read_equals(&r);
	p->m.ranks = program_peers(k, &p->ctas);
	p->m.inits_plain = !target_has(k->target, FT_MBAR_TX);
	if (p->ctas > MAX_RANKS)
		return read_limit(&r, LIMIT_RANKS, k->loc);
	read_found(&r);
	find_lets(&r);
	if (!find_accs(&r) || !few_choices(&r) || !names_differ(&r) || !find_keys(&r) ||
	    !find_cells(&r) || !read_same(&r))
		return false;
	p->parts = r.parts.at;
	p->nparts = r.parts.n;
	read_by_warp(&r);
	if (!read_agents(&r))
		return false;
	if (p->tree && !read_tree(&r))
		return false;
	if (!read_scripts(&r) || (p->tree && !read_merge(&r)))
		return false;
	machine_layout(&p->m);
	return true;
}
