/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* steps.c - a role's steps in a segment, with slots and parities as numbers.
 *     wait full[position % 4] (position / 4 % 2), with the ring at 5   ->   wait full[1] 1
 */
#include "verify/read/extract.h"

#include <string.h>

enum { LAST = 16 };

typedef struct {
	Program *p;
	Env env;
	bool vague;
	const Framer *framer;
	bool framed; /* this step's phase is */
	struct {
		const Ix *x;
		Num is;
	} last[LAST]; /* that were evaluated with these names */
} Maker;

/* ------------------------------------------------------------------ values */
/* Names of where a run is, by how they begin. */
static const struct {
	const char *begins, *word, *is;
} run_names[] = {
	{"#own", "trip", "the trip of a loop"},
	{"#rest", "left", "the number of its trips left"},
	{"#count", "trips", "the number of trips of a loop"},
	{"#drawn", "tile", "the tile that is drawn"},
};

typedef struct {
	Ctx *c;
	const Ix *x;
	Buf where;
} Vague;

static void put_word(void *user, const char *name)
{
	Vague *v = user;
	for (size_t i = 0; i < COUNTOF(run_names); i++) {
		size_t n = strlen(run_names[i].begins);
		if (strncmp(name, run_names[i].begins, n) != 0 || !ix_uses(v->x, name))
			continue;
		const char *word = ctx_strf(v->c, "%s%s", run_names[i].word,
					    strcmp(name + n, "0") ? name + n : "");
		buf_printf(&v->where, "%s %s is %s", v->where.n ? " and" : ", where", word,
			   run_names[i].is);
		v->x = ix_subst(v->c, v->x, name, ix_sym(v->c, word));
	}
}

/* In words that a user knows: #own0 * M  ->  "trip * M, where trip is the trip of a loop" */
const char *program_vague(const Program *p)
{
	Vague v = {.c = p->k->ctx, .x = p->vague_x};
	Buf b = {0};
	if (p->vague)
		return p->vague;
	ix_names(p->vague_x, put_word, &v);
	ix_print(v.x, &b);
	if (v.where.n)
		buf_add(&b, v.where.s, v.where.n);
	buf_free(&v.where);
	return ctx_buf(v.c, &b);
}

static void put_name(Maker *mk, const char *name, Num v)
{
	env_put(&mk->env, name, v);
	memset(mk->last, 0, sizeof mk->last);
}

/* Steps have much in common. */
static Num eval(Maker *mk, const Ix *x)
{
	int at = (int)(x->id % LAST);
	if (mk->last[at].x != x) {
		mk->last[at].x = x;
		mk->last[at].is = num_eval(x, &mk->env);
	}
	return mk->last[at].is;
}

static int64_t value(Maker *mk, const Ix *x, const Op *op)
{
	int64_t v = 0;
	if (!num_is_exact(eval(mk, x), &v) && !mk->vague) {
		mk->vague = true;
		mk->p->vague = NULL;
		mk->p->vague_x = x;
		mk->p->vague_in = mk->env;
		mk->p->loc = op ? op->loc : mk->p->k->loc;
	}
	return v;
}

/* No count and no parity is beyond. */
static int32_t in_32_bits(int64_t v)
{
	return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : (int32_t)v;
}

static int16_t place(Maker *mk, const Item *it, int16_t first, int64_t slots, const Ix *at,
		     bool barrier, Step *st)
{
	int64_t v, phase = 0;
	int framed = 0;
	if (!at || first < 0)
		return first;
	if (mk->framer) {
		bool waits = barrier && st->kind == STEP_WAIT;
		framed = mk->framer->slot(mk->framer->user, &mk->env, first, barrier, at,
					  waits ? it->number : NULL, &v, &phase);
		if (framed && waits)
			st->n = (int32_t)phase;
		mk->framed |= framed && waits;
	}
	mk->vague |= framed < 0;
	if (!framed)
		v = value(mk, at, it->op);
	if (v >= 0 && v < slots)
		return (int16_t)(first + v);
	st->kind = STEP_NOWHERE;
	st->n = in_32_bits(v);
	return first;
}

/* What a copy takes from a slot lies within it. */
static void check_byte(Maker *mk, const Item *it, Step *st)
{
	Num n = eval(mk, it->at_byte);
	if (st->kind == STEP_NOWHERE || (n.lo >= 0 && n.hi <= it->last_byte))
		return;
	int64_t v = value(mk, it->at_byte, it->op);
	st->kind = STEP_BEYOND;
	st->n = in_32_bits(v);
}

static void make_items(Maker *mk, const Items *items);

static void make_step(Maker *mk, const Item *it)
{
	Step st;
	memcpy(&st, &it->step, sizeof st);
	mk->framed = false;
	st.key = place(mk, it, st.key, it->key_slots, it->at_key, true, &st);
	st.cell = place(mk, it, st.cell, it->cell_slots, it->at_cell, false, &st);
	st.cell2 = place(mk, it, st.cell2, it->cell2_slots, it->at_cell2, false, &st);
	if (it->step.kind == STEP_PASS && st.kind == STEP_NOWHERE)
		return;
	if (it->at_byte && (st.kind == STEP_WRITE || st.kind == STEP_COPY || st.kind == STEP_READ))
		st.mask = (PartSet)foot_make(mk->p, it->op, it->at_byte, it->which, &mk->env);
	else if (it->at_byte)
		check_byte(mk, it, &st);
	if (it->number && !mk->framed && st.kind != STEP_NOWHERE)
		st.n = in_32_bits(value(mk, it->number, it->op));
	vec_push(mk->p->arena, &mk->p->steps, st);
}

/* Reads, and accesses to registers and global memory only, at least: to do more of these is to ask
 * for more. */
static bool is_mild_step(StepKind kind)
{
	return kind == STEP_TOUCH || kind == STEP_GLOBAL || kind == STEP_READ || kind == STEP_PASS;
}

bool items_are_mild(const Items *items)
{
	for (int i = 0; i < items->n; i++) {
		const Item *it = items->at[i];
		bool mild = it->kind == ITEM_STEP ? is_mild_step((StepKind)it->step.kind)
						  : items_are_mild(&it->body);
		if (!mild)
			return false;
	}
	return true;
}

static void make_if(Maker *mk, const Item *it)
{
	for (int i = 0; i < it->nconds; i++) {
		int64_t v = value(mk, it->conds[i], it->op);
		if (!mk->vague && !v)
			return;
	}
	if (!mk->vague)
		make_items(mk, &it->body);
}

static void make_loop(Maker *mk, const Item *it)
{
	int names = mk->env.n;
	int64_t from = value(mk, it->from, it->op);
	if (!mk->vague && eval(mk, it->to).hi <= from)
		return;
	int64_t to = value(mk, it->to, it->op);
	for (int64_t i = from; i < to && !mk->vague; i++) {
		put_name(mk, it->op->sym[0], num_exact(i));
		make_items(mk, &it->body);
		mk->env.n = names;
	}
	memset(mk->last, 0, sizeof mk->last);
}

static void make_items(Maker *mk, const Items *items)
{
	for (int i = 0; i < items->n && !mk->vague; i++) {
		const Item *it = items->at[i];
		if (it->kind == ITEM_STEP)
			make_step(mk, it);
		else if (it->kind == ITEM_IF)
			make_if(mk, it);
		else
			make_loop(mk, it);
	}
}

bool program_make(Program *p, const Env *env, const Items *items, const Framer *framer)
{
	Maker mk = {.p = p, .env = *env, .framer = framer};
	p->vague_x = NULL;
	p->vague = NULL;
	make_items(&mk, items);
	return !mk.vague;
}
