/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sched.c - the schedule: clauses are words to the grammar; here is what each one means. They
 * become attributes of the kernel and never change what it computes.
 *     schedule { roles cooperative; stages 4; group(16); }
 *  -> kernel gemm tile sm_90a roles=cooperative stages=4 group=16 */
#include "frontend/sema.h"

#include <inttypes.h>
#include <string.h>

enum {
	STAGES_MIN = 2,
	STAGES_MAX = 8,
	STAGING_MAX = 8,
	SUBTILE_MIN = 8,
	SUBTILE_MAX = 64,
	INFLIGHT_MAX = 7,
	GROUP_MAX = 65536,
	THREADS_WG = 128,
	CLUSTER_MAX = 16,
	PINGPONG = 2
};

/* Words that may be values of a const: word, built. */
static const struct {
	const char *word;
	bool built;
} words[] = {
	{"none", true},      {"cooperative", true}, {"pingpong", true},
	{"stream_k", false}, {"auto", true},        {"on", true},
	{"off", true},       {"slice", true},       {"leader", true},
};

bool sched_word(const char *name)
{
	for (size_t i = 0; i < COUNTOF(words); i++)
		if (!strcmp(words[i].word, name))
			return true;
	return false;
}

void sched_suggest(Suggest *g)
{
	for (size_t i = 0; i < COUNTOF(words); i++)
		suggest_try(g, words[i].word);
}

/* ------------------------------------------------------------------ words of a clause */
static const Node *word_at(const Node *n, int i)
{
	return i < n->kids.n ? n->kids.at[i] : NULL;
}

static bool is_word(const Node *n, const char *word)
{
	return n && n->kind == N_NAME && !strcmp(n->name, word);
}

static void bad_form(Sema *s, const Node *n, const char *form)
{
	diag_remedy(s->ctx, diag(s->ctx, n->loc, D_E0308, "'%s' is not written so", n->name),
		    "write %s", form);
}

static bool clause_int(Sema *s, const Node *n, int64_t lo, int64_t hi, const char *form,
		       int64_t *out)
{
	if (n->kids.n != 1) {
		bad_form(s, n, form);
		return false;
	}
	Value v = eval(s, n->kids.at[0]);
	return want_int(s, &v, lo, hi, ctx_strf(s->ctx, "'%s'", n->name), out);
}

/* ------------------------------------------------------------------ roles */
typedef struct {
	const Node *at;
	int64_t count, regs; /* 0: not given */
} Role;

static bool role_fits(Sema *s, const Node *n, const char *unit, const char *form, Role *r)
{
	const Node *count = word_at(n, 0), *u = word_at(n, 1);
	bool plural = u && u->kind == N_NAME && !strncmp(u->name, unit, strlen(unit)) &&
		      !strcmp(u->name + strlen(unit), "s");
	bool regs = n->kids.n == 4 && is_word(n->kids.at[2], "regs");
	if (r->at) {
		diag(s->ctx, n->loc, D_E0308, "'%s' is given twice", n->name);
		return false;
	}
	if (!count || !(plural || is_word(u, unit)) || (n->kids.n != 2 && !regs)) {
		bad_form(s, n, form);
		return false;
	}
	r->at = n;
	Value v = eval(s, count);
	if (!want_int(s, &v, 1, 32, "a number of warps or warpgroups", &r->count))
		return false;
	if (!regs)
		return true;
	v = eval(s, n->kids.at[3]);
	if (!want_int(s, &v, 24, 240, "'regs'", &r->regs))
		return false;
	if (r->regs % 8 == 0)
		return true;
	diag(s->ctx, v.loc, D_E0211, "'regs' is %" PRId64 ", no multiple of 8", r->regs);
	return false;
}

/* setmaxnreg works on warpgroups: the producer's warp takes a whole one. What one gives others
 * take; what is left of the SM is not the CTA's. PTX ISA: setmaxnreg */
static bool registers_fit(Sema *s, const Node *n, const Role *p, const Role *c)
{
	const Target *t = target_by_name(s->kernel->target);
	int threads = THREADS_WG * (1 + (int)c->count),
	    entry = t ? target_entry_regs(t, threads) : 0;
	int64_t sum = THREADS_WG * (p->regs + c->count * c->regs);
	DiagMsg *m = NULL;
	if (!p->regs != !c->regs)
		m = diag(s->ctx, n->loc, D_E0308, "regs are given for all roles or for none");
	else if (p->regs && t && sum > entry * threads)
		m = diag(s->ctx, n->loc, D_E0308,
			 "%d * (%" PRId64 " + %" PRId64 " * %" PRId64 ") = %" PRId64
			 " registers, and a CTA of %d threads has %d",
			 THREADS_WG, p->regs, c->count, c->regs, sum, threads, entry * threads);
	else if (p->regs && t && (p->regs > entry || c->regs < entry))
		m = diag_remedy(
			s->ctx,
			diag(s->ctx, n->loc, D_E0308,
			     "each of %d threads begins with %d registers: a producer's only "
			     "become fewer, a consumer's more",
			     threads, entry),
			"leave regs out, or give the producer at most %d and the consumer at "
			"least that",
			entry);
	return !m;
}

static void roles_spelled(Sema *s, const Node *n, const char *roles)
{
	const Node *list = n->kids.at[n->kids.n - 1];
	Role p = {0}, c = {0};
	for (int i = 0; i < list->kids.n; i++) {
		const Node *r = list->kids.at[i];
		bool good = true;
		if (!strcmp(r->name, "producer"))
			good = role_fits(s, r, "warp", "producer 1 warp regs 40;", &p);
		else if (!strcmp(r->name, "consumer"))
			good = role_fits(s, r, "warpgroup", "consumer 2 warpgroups regs 232;", &c);
		else if (r->kind == N_CLAUSE)
			diag(s->ctx, r->name_loc, D_E0308,
			     "unknown role '%s'; roles are producer "
			     "and consumer",
			     r->name);
		if (!good)
			return;
	}
	if (!p.at || !c.at) {
		diag(s->ctx, n->loc, D_E0308, "roles need a producer and a consumer");
		return;
	}
	if (p.count != 1) {
		not_yet(s, p.at->loc, "a producer of several warps; 1 warp is");
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

static bool is_roles(const char *word)
{
	return !strcmp(word, "none") || !strcmp(word, "cooperative") || !strcmp(word, "pingpong");
}

static void clause_roles(Sema *s, const Node *n)
{
	const Node *last = word_at(n, n->kids.n - 1);
	Suggest g;
	if (n->kids.n == 1 && last->kind == N_BLOCK) {
		roles_spelled(s, n, "cooperative");
		return;
	}
	bool spelled = n->kids.n == 2 && last->kind == N_BLOCK;
	if (spelled)
		last = n->kids.at[0];
	if ((n->kids.n != 1 && !spelled) || last->kind != N_NAME) {
		bad_form(s, n, "roles cooperative;");
		return;
	}
	const Symbol *sym = scope_find(s, last->name);
	if (!sym && !sched_word(last->name)) {
		g = suggest_begin(last->name);
		sched_suggest(&g);
		suggest_end(s, &g,
			    diag(s->ctx, last->loc, D_E0308,
				 "no roles are called '%s'; none, cooperative and pingpong are",
				 last->name));
		return;
	}
	Value v = eval(s, last);
	if (!want(s, &v, V_WORD, "'roles'"))
		return;
	if (!is_roles(v.str))
		not_yet(s, last->loc, "roles %s; none, cooperative and pingpong are", v.str);
	else if (spelled && !strcmp(v.str, "none"))
		bad_form(s, n, "roles none; it has no producer and no consumer");
	else if (spelled)
		roles_spelled(s, n, v.str);
	else
		kernel_str(s->kernel, A_ROLES, v.str);
}

/* ------------------------------------------------------------------ other clauses */
static void clause_stages(Sema *s, const Node *n)
{
	if (clause_int(s, n, STAGES_MIN, STAGES_MAX, "stages 4;", &s->schedule.stages))
		kernel_int(s->kernel, A_STAGES, s->schedule.stages);
}

static void clause_staging(Sema *s, const Node *n)
{
	int64_t slots;
	if (clause_int(s, n, 0, STAGING_MAX, "staging 2; or staging 0;", &slots))
		kernel_int(s->kernel, A_STAGING, slots);
}

static void clause_subtile(Sema *s, const Node *n)
{
	int64_t columns;
	if (clause_int(s, n, SUBTILE_MIN, SUBTILE_MAX, "subtile 32;", &columns))
		kernel_int(s->kernel, A_SUBTILE, columns);
}

static void clause_inflight(Sema *s, const Node *n)
{
	if (clause_int(s, n, 0, INFLIGHT_MAX, "inflight 1;", &s->schedule.inflight))
		kernel_int(s->kernel, A_INFLIGHT, s->schedule.inflight);
}

/* (8)   (8) along n   (8) along m serpentine: the words of a group from the i-th on */
static bool group_words(Sema *s, const Node *n, int i)
{
	int64_t v;
	const Node *size = word_at(n, i), *along = word_at(n, i + 2);
	if (!size)
		return false;
	Value e = eval(s, size);
	if (want_int(s, &e, 1, GROUP_MAX, "'group'", &v))
		kernel_int(s->kernel, A_GROUP, v);
	if (is_word(word_at(n, i + 1), "along") && (is_word(along, "m") || is_word(along, "n"))) {
		kernel_str(s->kernel, A_ALONG, along->name);
		i += 2;
	}
	if (is_word(word_at(n, i + 1), "serpentine")) {
		kernel_int(s->kernel, A_SERPENTINE, 1);
		i++;
	}
	return n->kids.n == i + 1;
}

static void clause_group(Sema *s, const Node *n)
{
	if (!group_words(s, n, 0))
		bad_form(s, n, "group(8); or group(8) along n; or group(8) along m serpentine;");
}

static bool on_or_off(Sema *s, const Node *word, bool *on)
{
	Value v = eval(s, word);
	if (!want(s, &v, V_WORD, "a switch"))
		return false;
	*on = !strcmp(v.str, "on");
	if (!*on && strcmp(v.str, "off"))
		diag(s->ctx, word->loc, D_E0308, "a switch is on or off, not %s", v.str);
	return *on || !strcmp(v.str, "off");
}

static bool is_pair(const Node *t)
{
	return t && t->kind == N_TUPLE && t->kids.n == 2;
}

static bool pair(Sema *s, const Node *t, int64_t most, const char *what, int64_t v[2])
{
	for (int i = 0; i < 2; i++) {
		Value e = eval(s, t->kids.at[i]);
		if (!want_int(s, &e, 1, most, what, &v[i]))
			return false;
	}
	return true;
}

/* box (2,1)   box (2,1) raster (4,8) */
static bool box_words(Sema *s, const Node *n)
{
	int64_t v[2];
	bool raster = is_word(word_at(n, 2), "raster");
	if (!is_pair(word_at(n, 1)) || n->kids.n != (raster ? 4 : 2))
		return false;
	if (pair(s, n->kids.at[1], CLUSTER_MAX, "'box'", v))
		kernel_ints(s->kernel, A_TILE_BOX, v, 2);
	if (raster && !is_pair(n->kids.at[3]))
		return false;
	if (raster && pair(s, n->kids.at[3], GROUP_MAX, "'raster'", v))
		kernel_ints(s->kernel, A_RASTER, v, 2);
	return true;
}

/* persistent;  persistent off;  persistent group(8);  persistent group(8) along n serpentine; */
static void clause_persistent(Sema *s, const Node *n)
{
	const Node *first = word_at(n, 0);
	bool on = true;
	if (first && is_word(first, "stream_k")) {
		not_yet(s, first->loc, "persistent %s; persistent and persistent group(8) are",
			first->name);
		return;
	}
	if (first && is_word(first, "box")) {
		if (!box_words(s, n))
			bad_form(s, n,
				 "persistent box (2,1); or persistent box (2,1) raster (4,8);");
	} else if (first && is_word(first, "group")) {
		if (!group_words(s, n, 1))
			bad_form(s, n, "persistent; or persistent group(8) along m;");
	} else if (n->kids.n > 1) {
		bad_form(s, n, "persistent; or persistent group(8) along m;");
	} else if (first && !on_or_off(s, first, &on)) {
		return;
	}
	if (on)
		kernel_int(s->kernel, A_PERSISTENT, 1);
}

const char *sched_multicast(Sema *s, const Node *word)
{
	static const char *const ways[] = {"auto", "slice", "leader", "off"};
	Value v = eval(s, word);
	if (!want(s, &v, V_WORD, "'multicast'"))
		return NULL;
	for (size_t i = 0; i < COUNTOF(ways); i++)
		if (!strcmp(ways[i], v.str))
			return v.str;
	diag(s->ctx, word->loc, D_E0308, "multicast is auto, slice, leader or off, not %s", v.str);
	return NULL;
}

static void clause_pdl(Sema *s, const Node *n)
{
	bool on;
	if (n->kids.n != 1)
		bad_form(s, n, "pdl on; or pdl off;");
	else if (on_or_off(s, n->kids.at[0], &on))
		kernel_int(s->kernel, A_PDL, on);
}

static void clause_cluster(Sema *s, const Node *n)
{
	int64_t v[2];
	const Node *t = word_at(n, 0);
	const Target *target = target_by_name(s->kernel->target);
	int most = target ? target->cluster_max : CLUSTER_MAX;
	if (n->kids.n != 1 || !is_pair(t)) {
		bad_form(s, n, "cluster (2,1);");
		return;
	}
	if (!pair(s, t, CLUSTER_MAX, "'cluster'", v))
		return;
	if (v[0] * v[1] > most)
		diag(s->ctx, t->loc, D_E0308,
		     "a cluster of %" PRId64 " x %" PRId64 " has %" PRId64
		     " CTAs, and at most %d run together",
		     v[0], v[1], v[0] * v[1], most);
	else
		kernel_ints(s->kernel, A_CLUSTER, v, 2);
}

static void clause_multicast(Sema *s, const Node *n)
{
	if (n->kids.n != 1) {
		bad_form(s, n, "multicast slice;");
		return;
	}
	const char *word = sched_multicast(s, n->kids.at[0]);
	if (word)
		kernel_str(s->kernel, A_MULTICAST, word);
}

/* A clause without a function is known and not built. */
static const struct {
	const char *word;
	void (*read)(Sema *s, const Node *n);
} clauses[] = {
	{"roles", clause_roles},
	{"stages", clause_stages},
	{"inflight", clause_inflight},
	{"group", clause_group},
	{"cluster", clause_cluster},
	{"persistent", clause_persistent},
	{"pdl", clause_pdl},
	{"multicast", clause_multicast},
	{"staging", clause_staging},
	{"subtile", clause_subtile},
	{"split_k", NULL},
	{"stream_k", NULL},
};

static void clause_unknown(Sema *s, const Node *n)
{
	Suggest g = suggest_begin(n->name);
	for (size_t i = 0; i < COUNTOF(clauses); i++)
		suggest_try(&g, clauses[i].word);
	suggest_end(s, &g, diag(s->ctx, n->name_loc, D_E0308, "the schedule has no '%s'", n->name));
}

static void clause(Sema *s, const Node *n)
{
	for (size_t i = 0; i < COUNTOF(clauses); i++) {
		if (strcmp(clauses[i].word, n->name))
			continue;
		if (clauses[i].read)
			clauses[i].read(s, n);
		else
			not_yet(s, n->loc, "'%s' in a schedule", n->name);
		return;
	}
	clause_unknown(s, n);
}

static bool repeated(Sema *s, const Node *block, int i)
{
	for (int j = 0; j < i; j++) {
		const Node *a = block->kids.at[j], *b = block->kids.at[i];
		if (a->kind != N_CLAUSE || a->name != b->name)
			continue;
		diag_note(s->ctx,
			  diag(s->ctx, b->name_loc, D_E0308, "'%s' is given twice", b->name),
			  a->name_loc, "the first time here");
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
	said(s, SAID_SCHEDULE, NULL, n->loc, NULL);
	if (n->name) {
		if (strcmp(n->name, "auto"))
			diag_remedy(s->ctx,
				    diag(s->ctx, n->name_loc, D_E0308, "a schedule is a block"),
				    "write schedule { roles cooperative; }");
		else
			not_yet(s, n->loc, "schedule auto");
		return;
	}
	for (int i = 0; i < n->kids.n; i++)
		if (n->kids.at[i]->kind == N_CLAUSE && !repeated(s, n, i))
			clause(s, n->kids.at[i]);
}

void sched_finish(Sema *s)
{
	const Schedule *d = &s->schedule;
	if (!attrs_get(&s->kernel->attrs, A_ROLES))
		kernel_str(s->kernel, A_ROLES, "none");
	if (!s->mma || !d->consumers)
		return;
	int64_t has = s->mma->arrange[0] * s->mma->arrange[1] * s->mma->arrange[2];
	if (!strcmp(attrs_str(&s->kernel->attrs, A_ROLES, ""), "pingpong")) {
		if (d->consumers != PINGPONG)
			diag(s->ctx, d->consumers_loc, D_E0308,
			     "%" PRId64 " consumer warpgroups, and pingpong has %d", d->consumers,
			     PINGPONG);
	} else if (has != d->consumers) {
		diag(s->ctx, d->consumers_loc, D_E0308,
		     "%" PRId64 " consumer warpgroups, and the mma is arranged over %" PRId64,
		     d->consumers, has);
	}
}
