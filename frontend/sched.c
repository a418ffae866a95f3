/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sched.c - the schedule: clauses are words to the grammar; here is what each one means. They
 * become attributes of the kernel and never change what it computes.
 *     schedule { roles cooperative; stages 4; group(16); }
 *  -> kernel gemm tile sm_90a roles=cooperative stages=4 group=16 */
#include "frontend/sema.h"
#include "ir/schedule.h"

#include <inttypes.h>
#include <string.h>

enum { THREADS_WG = 128, PINGPONG = 2, REGS_MIN = 24, REGS_MAX = 240, WARPS_MAX = 32 };

bool sched_word(const char *name)
{
	for (int i = 0; i < clause_words_count; i++)
		if (!strcmp(clause_words[i].word, name))
			return true;
	return false;
}

void sched_suggest(Suggest *g)
{
	for (int i = 0; i < clause_words_count; i++)
		suggest_try(g, clause_words[i].word);
}

static const ClauseWord *word_of(ClauseId clause, const char *word)
{
	for (int i = 0; i < clause_words_count; i++)
		if (clause_words[i].clause == clause && !strcmp(clause_words[i].word, word))
			return &clause_words[i];
	return NULL;
}

static ClauseId clause_find(const char *name)
{
	ClauseId id = 0;
	while (id < CLAUSE_COUNT && strcmp(clause_rows[id].word, name) != 0)
		id++;
	return id;
}

/* ------------------------------------------------------------------ words of a clause */
static const Node *word_at(const Node *n, int i)
{
	return i >= 0 && i < n->kids.n ? n->kids.at[i] : NULL;
}

static bool is_word(const Node *n, const char *word)
{
	return n && n->kind == N_NAME && !strcmp(n->name, word);
}

static void bad_form(Sema *s, const Node *n, const char *form)
{
	for (int i = 0; i < n->kids.n; i++) {
		const Node *word = n->kids.at[i];
		const char *help = word->kind == N_NAME ? habit_of(word->name) : NULL;
		if (help) {
			reject(s, word->loc, D_E0308, "the schedule has no '%s'\n%s", word->name,
			       help);
			return;
		}
	}
	reject(s, n->loc, D_E0308,
	       "'%s' cannot be written like this\n"
	       "write %s",
	       n->name, form);
}

/* "auto, slice, leader or off" */
static const char *words_text(Sema *s, ClauseId clause)
{
	const char *text = NULL, *last = NULL;
	for (int i = 0; i < clause_words_count; i++) {
		if (clause_words[i].clause != clause)
			continue;
		if (last)
			text = text ? ctx_strf(s->ctx, "%s, %s", text, last) : last;
		last = clause_words[i].word;
	}
	return ctx_strf(s->ctx, "%s or %s", text, last);
}

/* Not one of the clause's; the nearest of these may be meant. */
static const ClauseWord *no_word(Sema *s, Loc loc, ClauseId clause, const char *name)
{
	Suggest g = suggest_begin(name);
	for (int i = 0; i < clause_words_count; i++)
		if (clause_words[i].clause == clause && !sched_word(name))
			suggest_try(&g, clause_words[i].word);
	DiagMsg *m = diag(s->ctx, loc, D_E0308, "%s is %s, not %s", clause_rows[clause].word,
			  words_text(s, clause), name);
	const char *habit = habit_of(name);
	if (habit)
		diag_remedy(s->ctx, m, "%s", habit);
	else
		suggest_end(s, &g, m);
	return NULL;
}

/* The row of a word of the clause, or of a const that is one; NULL: reported. */
static const ClauseWord *clause_word(Sema *s, const Node *n, ClauseId clause)
{
	if (n->kind == N_NAME && !scope_find(s, n->name) && !sched_word(n->name))
		return no_word(s, n->loc, clause, n->name);
	Value v = eval(s, n);
	if (!want(s, &v, V_WORD, ctx_strf(s->ctx, "'%s'", clause_rows[clause].word)))
		return NULL;
	const ClauseWord *w = word_of(clause, v.str);
	return w ? w : no_word(s, n->loc, clause, v.str);
}

static bool bounded(Sema *s, const Node *n, const ClauseRow *row, int64_t *out)
{
	return eval_int(s, n, row->least, row->most, ctx_strf(s->ctx, "'%s'", row->word), out);
}

/* ------------------------------------------------------------------ roles */
typedef struct {
	const Node *at;
	int64_t count, regs; /* 0: not given */
} Role;

static bool role_fits(Sema *s, const Node *n, Word unit, Word units, const char *form, Role *r)
{
	const Node *count = word_at(n, 0), *u = word_at(n, 1);
	bool counted = u && (u->word == unit || u->word == units);
	bool regs = n->kids.n == 4 && n->kids.at[2]->word == W_REGS;
	if (r->at)
		return reject(s, n->loc, D_E0308, "'%s' is given twice", n->name);
	if (!count || !counted || (n->kids.n != 2 && !regs)) {
		bad_form(s, n, form);
		return false;
	}
	r->at = n;
	if (!eval_int(s, count, 1, WARPS_MAX, "a number of warps or warpgroups", &r->count))
		return false;
	if (!regs)
		return true;
	if (!eval_int(s, n->kids.at[3], REGS_MIN, REGS_MAX, "'regs'", &r->regs))
		return false;
	if (r->regs % 8 == 0)
		return true;
	return reject(s, n->kids.at[3]->loc, D_E0211, "'regs' is %" PRId64 ", not a multiple of 8",
		      r->regs);
}

/* setmaxnreg works on warpgroups: the producer's warp takes a whole one. What one gives others
 * take; what is left of the SM is not the CTA's. PTX ISA: setmaxnreg */
static bool registers_fit(Sema *s, const Node *n, const Role *p, const Role *c)
{
	const Target *t = target_by_name(s->kernel->target);
	int threads = THREADS_WG * (1 + (int)c->count),
	    entry = t ? kernel_entry_regs(s->kernel, threads) : 0;
	int64_t sum = THREADS_WG * (p->regs + c->count * c->regs);
	if (p->regs && !target_takes(s, n->loc, FT_SETMAXNREG, "leave regs out"))
		return false;
	if (!p->regs != !c->regs)
		return reject(s, n->loc, D_E0308, "regs are given for all roles or for none");
	if (p->regs && t && sum > entry * threads)
		return reject(s, n->loc, D_E0308,
			      "%d * (%" PRId64 " + %" PRId64 " * %" PRId64 ") = %" PRId64
			      " registers, and a CTA of %d threads has %d",
			      THREADS_WG, p->regs, c->count, c->regs, sum, threads,
			      entry * threads);
	if (p->regs && t && (p->regs > entry || c->regs < entry))
		return reject(s, n->loc, D_E0308,
			      "each of %d threads begins with %d registers: a producer's only "
			      "become fewer, a consumer's more\n"
			      "leave regs out, or give the producer at most %d and the consumer at "
			      "least that",
			      threads, entry, entry);
	return true;
}

static void roles_spelled(Sema *s, const Node *n, const char *roles)
{
	const Node *list = n->kids.at[n->kids.n - 1];
	Role p = {0}, c = {0};
	for (int i = 0; i < list->kids.n; i++) {
		const Node *r = list->kids.at[i];
		bool good = true;
		if (r->word == W_PRODUCER)
			good = role_fits(s, r, W_WARP, W_WARPS, "producer 1 warp regs 40;", &p);
		else if (r->word == W_CONSUMER)
			good = role_fits(s, r, W_WARPGROUP, W_WARPGROUPS,
					 "consumer 2 warpgroups regs 232;", &c);
		else if (r->kind == N_CLAUSE)
			reject(s, r->name_loc, D_E0308,
			       "unknown role '%s'; roles are producer "
			       "and consumer",
			       r->name);
		if (!good)
			return;
	}
	if (!p.at || !c.at) {
		reject(s, n->loc, D_E0308, "roles need a producer and a consumer");
		return;
	}
	if (p.count != 1) {
		reject(s, p.at->loc, D_E0301,
		       "not built yet: a producer of several warps; 1 warp is");
		return;
	}
	if (!registers_fit(s, n, &p, &c))
		return;
	kernel_str(s->kernel, A_ROLES, roles);
	if (p.regs)
		kernel_ints(s->kernel, A_ROLE_REGS, (int64_t[]){p.regs, c.regs}, 2);
	s->schedule.consumers = c.count;
	s->schedule.consumers_loc = c.at->loc;
}

/* roles none;  roles pingpong;  roles { .. }  roles pingpong { .. } */
static void clause_roles(Sema *s, const Node *n)
{
	const Node *last = word_at(n, n->kids.n - 1), *name = word_at(n, 0);
	bool spelled = last && last->kind == N_BLOCK, named = n->kids.n == 1 + spelled;
	if ((!named && n->kids.n != spelled) || !last || (named && name->kind != N_NAME)) {
		bad_form(s, n, "roles cooperative;");
		return;
	}
	const ClauseWord *w =
		named ? clause_word(s, name, CLAUSE_ROLES) : word_of(CLAUSE_ROLES, "cooperative");
	if (w && spelled && !w->value)
		bad_form(s, n, "roles none; it has no producer and no consumer");
	else if (w && spelled)
		roles_spelled(s, n, w->word);
	else if (w)
		kernel_str(s->kernel, A_ROLES, w->word);
}

/* Else it is of a define. */
static bool in_source(const Sema *s, const Node *n)
{
	return n->loc.src == s->kernel_loc.src;
}

/* ------------------------------------------------------------------ groups */
/* (8)   (8) along n: the words of a group from the i-th on */
static bool group_words(Sema *s, const Node *n, int i)
{
	int64_t v;
	const Node *size = word_at(n, i), *word = word_at(n, i + 1), *along = word_at(n, i + 2);
	if (!size)
		return false;
	if (s->schedule.group_loc.src == n->loc.src)
		reject(s, n->loc, D_E0308,
		       "persistent has a group, and group is a clause, too\ndelete one of them");
	s->schedule.group_loc = n->loc;
	if (in_source(s, n))
		said(s, SAID_CLAUSE, clause_rows[CLAUSE_GROUP].word, n->loc, NULL);
	if (bounded(s, size, &clause_rows[CLAUSE_GROUP], &v))
		kernel_int(s->kernel, A_GROUP, v);
	if (word && word->word == W_ALONG && (is_word(along, "m") || is_word(along, "n"))) {
		kernel_str(s->kernel, A_ALONG, along->name);
		i += 2;
	}
	return n->kids.n == i + 1;
}

static void clause_group(Sema *s, const Node *n)
{
	if (!group_words(s, n, 0))
		bad_form(s, n, clause_rows[CLAUSE_GROUP].example);
}

/* A pair of the numbers that the row allows; false where they are none. */
static bool pair(Sema *s, const Node *t, const ClauseRow *row)
{
	int64_t v[2];
	for (int i = 0; i < 2; i++)
		if (!bounded(s, t->kids.at[i], row, &v[i]))
			return false;
	kernel_ints(s->kernel, row->attr, v, 2);
	return true;
}

/* persistent;  persistent off;  persistent dynamic;  persistent group(8) along n; */
static void clause_persistent(Sema *s, const Node *n)
{
	const Node *first = word_at(n, 0), *turns = is_word(first, "group") ? NULL : first;
	const Node *order = word_at(n, turns != NULL);
	if (order && (!is_word(order, "group") || !group_words(s, n, 1 + (turns != NULL)))) {
		bad_form(s, n, clause_rows[CLAUSE_PERSISTENT].example);
		return;
	}
	const ClauseWord *w =
		turns ? clause_word(s, turns, CLAUSE_PERSISTENT) : word_of(CLAUSE_PERSISTENT, "on");
	if (w && w->value)
		kernel_int(s->kernel, A_PERSISTENT, w->value);
}

/* ------------------------------------------------------------------ clauses of one form */
static void read_int(Sema *s, const Node *n, const ClauseRow *row)
{
	int64_t v;
	if (bounded(s, n->kids.at[0], row, &v))
		kernel_int(s->kernel, row->attr, v);
}

/* The word alone is on. */
static void read_switch(Sema *s, const Node *n, const ClauseRow *row)
{
	ClauseId id = (ClauseId)(row - clause_rows);
	const ClauseWord *w = n->kids.n ? clause_word(s, n->kids.at[0], id) : word_of(id, "on");
	if (w)
		kernel_int(s->kernel, row->attr, w->value);
}

static void read_word(Sema *s, const Node *n, const ClauseRow *row)
{
	const ClauseWord *w = clause_word(s, n->kids.at[0], (ClauseId)(row - clause_rows));
	if (w)
		kernel_str(s->kernel, row->attr, w->word);
}

const char *sched_multicast(Sema *s, const Node *word)
{
	const ClauseWord *w = clause_word(s, word, CLAUSE_MULTICAST);
	return w ? ctx_str(s->ctx, w->word) : NULL;
}

/* CTAs that share the k of a tile are in one cluster, or see each other's sums in workspace. */
static void check_split(Sema *s)
{
	int64_t parts = attrs_int(&s->kernel->attrs, A_SPLIT_K, 1), ctas = parts;
	const Attr *cluster = attrs_get(&s->kernel->attrs, A_CLUSTER);
	const Target *target = target_by_name(s->kernel->target);
	Loc loc = s->schedule.loc;
	if (parts == 1 && attrs_get(&s->kernel->attrs, A_SUMS))
		diag(s->ctx, loc, D_W0209,
		     "'sums' says where parts of k are added up, and split_k is 1\n"
		     "add split_k, as in split_k 4;, or leave sums out");
	if (parts == 1 || schedule_by_workspace(s->kernel) ||
	    !target_takes(s, loc, FT_CLUSTERS, "write sums workspace, or leave split_k out"))
		return;
	for (int i = 0; cluster && i < cluster->n; i++)
		ctas *= cluster->i[i];
	if (target && ctas > target_cluster_max(target))
		reject(s, loc, D_E0308,
		       "split_k %" PRId64 " makes clusters of %" PRId64
		       " CTAs, and at most %d run together\n"
		       "write sums workspace, a smaller split_k, or a smaller cluster",
		       parts, ctas, target_cluster_max(target));
}

/* What runs together is a cluster. */
static void read_pair(Sema *s, const Node *n, const ClauseRow *row)
{
	const Node *t = n->kids.at[0];
	const Target *target = target_by_name(s->kernel->target);
	int64_t most = target ? target_cluster_max(target) : row->most;
	if (t->kind != N_TUPLE || t->kids.n != 2) {
		bad_form(s, n, row->example);
		return;
	}
	if (!pair(s, t, row))
		return;
	const Attr *v = attrs_get(&s->kernel->attrs, row->attr);
	if (v->i[0] * v->i[1] <= most)
		return;
	if (!target_takes(s, t->loc, FT_CLUSTERS, "write cluster (1,1)"))
		return;
	reject(s, t->loc, D_E0308,
	       "a cluster of %" PRId64 " x %" PRId64 " has %" PRId64 " CTAs, and at most %" PRId64
	       " run together",
	       v->i[0], v->i[1], v->i[0] * v->i[1], most);
	attrs_drop(&s->kernel->attrs, row->attr);
}

/* Of clauses that are one word after their name. */
static void (*const read_form[])(Sema *s, const Node *n, const ClauseRow *row) = {
	[CF_INT] = read_int,
	[CF_PAIR] = read_pair,
	[CF_SWITCH] = read_switch,
	[CF_WORD] = read_word,
};

static void (*const read_own[CLAUSE_COUNT])(Sema *s, const Node *n) = {
	[CLAUSE_ROLES] = clause_roles,
	[CLAUSE_GROUP] = clause_group,
	[CLAUSE_PERSISTENT] = clause_persistent,
};

static bool is_auto(const Node *n)
{
	return n->name && !strcmp(n->name, "auto");
}

static void clause_unknown(Sema *s, const Node *n)
{
	Suggest g = suggest_begin(n->name);
	for (int i = 0; i < CLAUSE_COUNT; i++)
		suggest_try(&g, clause_rows[i].word);
	DiagMsg *m = diag(s->ctx, n->name_loc, D_E0308, "the schedule has no '%s'", n->name);
	if (!help_habit(s, n->name, m))
		suggest_end(s, &g, m);
}

static void clause(Sema *s, const Node *n)
{
	ClauseId i = clause_find(n->name);
	if (in_source(s, n))
		said(s, SAID_CLAUSE, n->name, n->loc, NULL);
	if (is_auto(n) && !n->kids.n)
		return;
	if (i == CLAUSE_COUNT)
		clause_unknown(s, n);
	else if (clause_rows[i].form == CF_OWN)
		read_own[i](s, n);
	else if (n->kids.n != 1 && (n->kids.n || clause_rows[i].form != CF_SWITCH))
		bad_form(s, n, clause_rows[i].example);
	else
		read_form[clause_rows[i].form](s, n, &clause_rows[i]);
}

static bool repeated(Sema *s, const Node *block, int i)
{
	for (int j = 0; j < i; j++) {
		const Node *a = block->kids.at[j], *b = block->kids.at[i];
		if (a->kind != N_CLAUSE || a->name != b->name)
			continue;
		diag_note(s->ctx,
			  diag(s->ctx, b->name_loc, D_E0308, "'%s' is given twice", b->name),
			  a->name_loc, "the first time is here");
		return true;
	}
	return false;
}

void sched_block(Sema *s, const Node *n)
{
	if (s->schedule.loc.src >= 0) {
		diag_note(s->ctx, diag(s->ctx, n->loc, D_E0308, "a second schedule"),
			  s->schedule.loc, "the first one is here");
		return;
	}
	s->schedule.loc = n->loc;
	if (in_source(s, n))
		said(s, SAID_SCHEDULE, NULL, n->loc, NULL);
	if (n->name && !is_auto(n))
		diag_fix(s->ctx,
			 diag(s->ctx, n->name_loc, D_E0308,
			      "a schedule is a block\n"
			      "write schedule { roles cooperative; }"),
			 n->loc, "schedule { roles cooperative; }");
	/* Registers of roles come last: they are those of the CTAs that share an SM. */
	for (int last = 0; last < 2; last++)
		for (int i = 0; i < n->kids.n; i++) {
			const Node *at = n->kids.at[i];
			bool roles = at->kind == N_CLAUSE && clause_find(at->name) == CLAUSE_ROLES;
			if (at->kind == N_CLAUSE && roles == last && !repeated(s, n, i))
				clause(s, at);
		}
}

/* ------------------------------------------------------------------ what declarations ask */
/* It has an accumulator: acc : f32 mm.C(bM,bN) = 0 */
static bool multiplies(const Node *n)
{
	const Node *shape = n->kind == N_DECL ? n->kids.at[0]->kids.at[0] : NULL;
	bool is = shape && shape->kind == N_CALL && shape->kids.at[0]->kind == N_FIELD;
	for (int i = 0; i < n->kids.n && !is; i++)
		is = multiplies(n->kids.at[i]);
	return is;
}

/* The clause of the schedule; NULL: it has none. */
static const Node *clause_of(const Node *schedule, const char *name)
{
	for (int i = 0; i < schedule->kids.n; i++) {
		const Node *n = schedule->kids.at[i];
		if (n->kind == N_CLAUSE && !strcmp(n->name, name))
			return n;
	}
	return NULL;
}

/* The clauses that are given and not written; after them, so that they win, the written ones. */
static Node *merged(Sema *s, const Node *written, const Node *given)
{
	Node *all = NEW(s->arena, Node);
	all->kind = N_SCHEDULE;
	all->loc = written ? written->loc : given->loc;
	for (int i = 0; i < given->kids.n; i++)
		if (!written || !clause_of(written, given->kids.at[i]->name))
			vec_push(s->arena, &all->kids, given->kids.at[i]);
	for (int i = 0; written && i < written->kids.n; i++)
		vec_push(s->arena, &all->kids, written->kids.at[i]);
	return all;
}

void sched_ahead(Sema *s, Node *body)
{
	int at = 0;
	while (at < body->kids.n && body->kids.at[at]->kind != N_SCHEDULE)
		at++;
	Node *n = at < body->kids.n ? body->kids.at[at] : NULL;
	Define *d = define_of(s, "schedule");
	bool whole = d && d->value && *d->value == '{';
	bool open = multiplies(body) && (!n || is_auto(n) || clause_of(n, "auto"));
	if (open && d && d->under) { /* a schedule left open by -D, and what was chosen for it */
		Define first = {.name = d->name, .value = d->under};
		const Node *kept = define_read(s, &first, ";", parse_clauses);
		n = kept && clause_of(kept, "auto") ? merged(s, n, kept) : n;
	}
	const Node *given = d && (open || whole) ? define_read(s, d, ";", parse_clauses) : NULL;
	if (given && whole && clause_of(given, "auto"))
		reject(s, given->loc, D_E0308,
		       "auto leaves a schedule open, which -D closes: leave it out");
	if (given)
		n = merged(s, whole ? NULL : n, given);
	if (open && (!d || (given && !whole && clause_of(given, "auto"))))
		choice_add(s, (Choice){.name = "schedule", .loc = n ? n->loc : s->kernel->loc});
	if (given && at < body->kids.n)
		body->kids.at[at] = n;
	else if (given)
		vec_push(s->arena, &body->kids, n);
	s->schedule.swap = n ? clause_of(n, clause_rows[CLAUSE_SWAP].word) : NULL;
}

bool sched_swaps(Sema *s)
{
	const Node *n = s->schedule.swap, *word = n ? word_at(n, 0) : NULL;
	const Symbol *sym = word && word->kind == N_NAME ? scope_find(s, word->name) : NULL;
	const char *name = !sym                        ? word ? word->name : "on"
			   : sym->value.kind == V_WORD ? sym->value.str
						       : NULL;
	const ClauseWord *w = name ? word_of(CLAUSE_SWAP, name) : NULL;
	return n && w && w->value;
}

static void swap_fits(Sema *s)
{
	const Node *n = s->schedule.swap;
	if (!attrs_int(&s->kernel->attrs, A_SWAP, 0))
		return;
	if (s->mma_loc.src < 0)
		reject(s, n->loc, D_E0308,
		       "'swap' is of kernels with an mma, whose operands it exchanges\n"
		       "leave it out");
	else if (s->mma && !s->mma->swap)
		reject(s, n->loc, D_E0308,
		       "the constant that 'swap' is given by is declared after the mma\n"
		       "declare it before the mma");
}

void sched_finish(Sema *s)
{
	const Schedule *d = &s->schedule;
	if (!attrs_get(&s->kernel->attrs, A_ROLES))
		kernel_str(s->kernel, A_ROLES, "none");
	if (s->mma && attrs_get(&s->kernel->attrs, A_BLOCK))
		reject(s, d->loc, D_E0308,
		       "'threads' is of kernels without an mma: an mma's warpgroups decide\n"
		       "leave it out, or arrange the mma over more: * (2,1,1)");
	check_split(s);
	simt_finish(s);
	staged_finish(s);
	if (attrs_int(&s->kernel->attrs, A_DETERMINISTIC, 0))
		joins_in_order(s);
	swap_fits(s);
	if (!s->mma || !d->consumers)
		return;
	int64_t has = mma_warpgroups(s, s->mma);
	if (!strcmp(attrs_str(&s->kernel->attrs, A_ROLES, ""), "pingpong")) {
		if (d->consumers != PINGPONG)
			reject(s, d->consumers_loc, D_E0308,
			       "%" PRId64 " consumer warpgroups, and pingpong has %d", d->consumers,
			       PINGPONG);
	} else if (has != d->consumers) {
		reject(s, d->consumers_loc, D_E0308,
		       "%" PRId64 " consumer warpgroups, and the mma is arranged over %" PRId64,
		       d->consumers, has);
	}
}
