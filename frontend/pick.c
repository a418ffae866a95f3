/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pick.c - consts that are open: the values that one may have, of which the first holds where no
 * define says which.
 *     const bM = pick(64, 128), bN = pick(32 .. 256 by 8);
 *  -> bM is 64, bN is 32; the driver gets bM: 64 128, bN: 32 40 48 .. 256 */
#include "frontend/sema.h"

#include <inttypes.h>
#include <string.h>

enum { VALUES_MOST = 256 };

typedef struct {
	const Node *call;
	Value first;
	VEC(const char *) texts; /* the ctx's */
} Pick;

void choice_add(Sema *s, Choice what)
{
	what.kernel = s->kernel ? s->kernel->name : NULL;
	if (s->opt->choices)
		vec_push(ctx_arena(s->ctx), s->opt->choices, what);
}

const char *pick_text(Sema *s, const Value *v)
{
	return source_text(s, v->pick->kids.at[0]->loc);
}

const Node *pick_of(const Node *at)
{
	const Node *value = at->kind == N_BIND ? at->kids.at[0] : NULL;
	return value && node_calls(value, W_PICK) ? value : NULL;
}

void pick_is_read(Sema *s, const Symbol *sym)
{
	bool of_all = s->kernel || !s->opt->kernel;
	if (sym->unread && of_all && diag_errors(s->ctx) == s->errors_before)
		diag(s->ctx, sym->loc, D_W0207,
		     "'%s' is picked, and nothing depends on it: each of its values makes the "
		     "same kernel\n"
		     "leave it out",
		     sym->name);
}

/* ------------------------------------------------------------------ the values */
/* A value that comes again counts once. */
static bool add(Sema *s, Pick *p, Value v)
{
	const char *text = const_text(s, &v);
	for (int i = 0; i < p->texts.n; i++)
		if (!strcmp(p->texts.at[i], text))
			return true;
	if (p->texts.n == VALUES_MOST)
		return reject(s, p->call->loc, D_E0211,
			      "a pick has at most %d values, and this one has more\n"
			      "take a larger step, or leave some out",
			      VALUES_MOST);
	if (!p->texts.n)
		p->first = v;
	vec_push(ctx_arena(s->ctx), &p->texts, text);
	return true;
}

static bool bound(Sema *s, const Node *n, int64_t *out)
{
	return eval_int(s, n, INT32_MIN, INT32_MAX, "a number of a range", out);
}

/* 32 .. 256 by 8; the step goes into *by. */
static bool range_fits(Sema *s, const Node *n, int64_t *from, int64_t *to, int64_t *by)
{
	const Node *step = n->kids.at[2];
	*by = 1;
	if (n->name && n->word != W_BY)
		return reject(s, n->name_loc, D_E0203,
			      "a range has a step, not '%s'\n"
			      "write by",
			      n->name);
	if (!bound(s, n->kids.at[0], from) || !bound(s, n->kids.at[1], to) ||
	    (n->name && !bound(s, step, by)))
		return false;
	if (*by < 1)
		return reject(s, step->loc, D_E0211,
			      "a range counts up, and by %" PRId64 " it does not\n"
			      "write a step of 1 or more, or leave it out",
			      *by);
	if (*from <= *to)
		return true;
	return reject(s, n->loc, D_E0211,
		      "this range is empty: it begins at %" PRId64 ", and ends at %" PRId64 "\n"
		      "write the smaller number first: %" PRId64 " .. %" PRId64,
		      *from, *to, *to, *from);
}

static bool add_range(Sema *s, Pick *p, const Node *n)
{
	int64_t from, to, by;
	if (!range_fits(s, n, &from, &to, &by))
		return false;
	for (; from <= to; from += by)
		if (!add(s, p, value_int(s, from)))
			return false;
	return true;
}

static bool add_value(Sema *s, Pick *p, const Node *n)
{
	Value v = eval(s, n);
	if (v.kind == V_BAD)
		return false;
	if (is_of_const(&v))
		return add(s, p, v);
	return reject(s, v.loc, D_E0203,
		      "a pick is of numbers and of words of the schedule, this is %s\n"
		      "write numbers or words: pick(64, 128), pick(cooperative, pingpong)",
		      v.kind == V_INT ? "known only at run time" : value_text(&v));
}

/* What other values follow from is no list: each of them would have one of its own. */
static bool is_fixed(Sema *s, const Pick *p)
{
	if (!s->pick)
		return true;
	DiagMsg *m = diag(s->ctx, p->call->loc, D_E0203,
			  "these values depend on '%s', which is picked itself\n"
			  "pick a factor, const f = pick(1, 2), and multiply by it",
			  s->pick->name);
	diag_note(s->ctx, m, s->pick->name_loc, "it is picked here");
	return false;
}

Value pick_const(Sema *s, const Node *bind, const Node *call)
{
	Pick p = {.call = call};
	bool good = call->kids.n > 1;
	if (!good)
		reject(s, call->loc, D_E0206, "a pick has values\nwrite pick(64, 128)");
	for (int i = 1; i < call->kids.n && good; i++) {
		const Node *n = call->kids.at[i];
		good = n->kind == N_RANGE ? add_range(s, &p, n) : add_value(s, &p, n);
	}
	if (!good || !is_fixed(s, &p))
		return value_bad();
	choice_add(s, (Choice){.name = bind->name,
			       .values = p.texts.at,
			       .n = p.texts.n,
			       .loc = bind->name_loc});
	p.first.pick = bind;
	p.first.loc = call->loc;
	return p.first;
}
