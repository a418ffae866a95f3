/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* judge.c - conditions as isl's text, isl's sets, and the question.
 *     M % 64 < 64, 8 <= M  ->  [n_M] -> { [] : not (((n_M) mod 64) < 64) and 8 <= n_M }, empty: yes
 * isl gives up with a NULL set when its allowance is spent; a NULL of any kind is "unknown". */
#include "passes/judge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/set.h>

struct Judge {
	Held held;
	isl_ctx *isl;
};

static void judge_drop(Held *h)
{
	judge_free((Judge *)h);
}

Judge *judge_new(unsigned long operations)
{
	Judge *j = calloc(1, sizeof *j);
	if (!j || !(j->isl = isl_ctx_alloc()))
		panic("no memory for isl");
	hold(&j->held, judge_drop);
	isl_options_set_on_error(j->isl, ISL_ON_ERROR_CONTINUE);
	isl_ctx_set_max_operations(j->isl, operations);
	return j;
}

void judge_free(Judge *j)
{
	hold_end(&j->held);
	isl_ctx_free(j->isl);
	free(j);
}

/* Each question has the whole allowance. */
static void begin(Judge *j)
{
	isl_ctx_reset_error(j->isl);
	isl_ctx_reset_operations(j->isl);
}

/* ------------------------------------------------------------------ text */
typedef struct {
	Buf text, params;
	bool fits; /* quasi-affine so far */
} Writer;

static void writer_free(Writer *w)
{
	buf_free(&w->text);
	buf_free(&w->params);
}

static void write_ix(Writer *w, const Ix *x);

static void write_two(Writer *w, const char *before, const Ix *a, const char *between, const Ix *b)
{
	buf_printf(&w->text, "%s(", before);
	write_ix(w, a);
	bool number = b->kind == IX_CONST && b->value >= 0;
	buf_printf(&w->text, ")%s%s", between, number ? "" : "(");
	write_ix(w, b);
	buf_printf(&w->text, "%s%s", number ? "" : ")", *before ? ")" : "");
}

/* Whether the list "n_M,n_N" has the name. */
static bool named(const char *list, const char *name)
{
	size_t n = strlen(name);
	while (list && *list) {
		size_t m = strcspn(list, ",");
		if (m == n && !memcmp(list, name, n))
			return true;
		list += m + (list[m] == ',');
	}
	return false;
}

static void write_name(Writer *w, const char *name)
{
	Buf param = {0};
	buf_printf(&param, "n_%s", name);
	buf_printf(&w->text, "%s", param.s);
	if (!named(w->params.s, param.s))
		buf_printf(&w->params, "%s%s", w->params.n ? "," : "", param.s);
	buf_free(&param);
}

/* Quotients and remainders by constants, products with one. */
static void write_ix(Writer *w, const Ix *x)
{
	static const char *const infix[IX_COUNT] = {
		[IX_ADD] = " + ", [IX_MUL] = " * ",   [IX_LT] = " < ",    [IX_LE] = " <= ",
		[IX_EQ] = " = ",  [IX_NE] = " != ",   [IX_AND] = " and ", [IX_OR] = " or ",
		[IX_DIV] = " / ", [IX_MOD] = " mod ", [IX_MIN] = ",",     [IX_MAX] = ","};
	static const char *const prefix[IX_COUNT] = {[IX_DIV] = "floor(",
						     [IX_MIN] = "min(",
						     [IX_MAX] = "max("};
	if (x->kind == IX_CONST) {
		buf_printf(&w->text, "%" PRId64, x->value);
	} else if (x->kind == IX_SYM) {
		write_name(w, x->name);
	} else {
		bool quotient = x->kind == IX_DIV || x->kind == IX_MOD;
		if (x->kind == IX_MUL || quotient)
			w->fits &= x->b->kind == IX_CONST;
		if (quotient && x->b->kind == IX_CONST)
			w->fits &= x->b->value > 0;
		w->fits &= infix[x->kind] != NULL;
		if (!w->fits)
			return;
		write_two(w, prefix[x->kind] ? prefix[x->kind] : "", x->a, infix[x->kind], x->b);
	}
}

/* ------------------------------------------------------------------ conditions */
static void write_facts(Writer *w, IxFacts facts)
{
	for (int i = 0; i < facts.n; i++) {
		const IxFact *f = &facts.at[i];
		if (f->lo != INT64_MIN) {
			buf_printf(&w->text, " and %" PRId64 " <= ", f->lo);
			write_name(w, f->name);
		}
		if (f->hi != INT64_MAX) {
			buf_printf(&w->text, " and ");
			write_name(w, f->name);
			buf_printf(&w->text, " <= %" PRId64, f->hi);
		}
		if (f->div > 1) {
			buf_printf(&w->text, " and (");
			write_name(w, f->name);
			buf_printf(&w->text, ") mod %" PRId64 " = 0", f->div);
		}
	}
}

static bool is_condition(const Ix *x)
{
	if (x->kind == IX_AND || x->kind == IX_OR)
		return is_condition(x->a) && is_condition(x->b);
	bool compares =
		x->kind == IX_LT || x->kind == IX_LE || x->kind == IX_EQ || x->kind == IX_NE;
	return compares && x->a->kind < IX_LT && x->b->kind < IX_LT;
}

/* Whether no values that the facts allow make the condition `wanted`. */
static isl_bool never(Judge *j, const Ix *x, IxFacts facts, bool wanted)
{
	Writer w = {.fits = true};
	Buf all = {0};
	isl_bool r = isl_bool_error;
	buf_printf(&w.text, "%s(", wanted ? "" : "not ");
	write_ix(&w, x);
	buf_printf(&w.text, ")");
	write_facts(&w, facts);
	buf_printf(&all, "[%s] -> { [] : %s }", w.params.s ? w.params.s : "", w.text.s);
	isl_set *s = w.fits ? isl_set_read_from_str(j->isl, all.s) : NULL;
	if (s)
		r = isl_set_is_empty(s);
	isl_set_free(s);
	buf_free(&all);
	writer_free(&w);
	return r;
}

Verdict judge_holds(Judge *j, const Ix *condition, IxFacts facts)
{
	int64_t v;
	if (ix_is_const(condition, &v))
		return v ? JUDGED_YES : JUDGED_NO;
	if (!is_condition(condition))
		return JUDGED_UNKNOWN;
	begin(j);
	if (never(j, condition, facts, false) == isl_bool_true)
		return JUDGED_YES;
	return never(j, condition, facts, true) == isl_bool_true ? JUDGED_NO : JUDGED_UNKNOWN;
}
