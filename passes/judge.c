/* judge.c - layouts and conditions as isl's text, isl's maps, and the questions.
 *     (4,2):(1,8)  ->  { [i] -> [((i) mod 4) * 1 + (floor((i) / 4)) * 8] : 0 <= i < 8 }
 * isl gives up with a NULL map when its allowance is spent; a NULL of any kind is "unknown". */
#include "passes/judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <isl/ctx.h>
#include <isl/map.h>
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

static Verdict verdict(isl_bool b)
{
	return b == isl_bool_error ? JUDGED_UNKNOWN : b ? JUDGED_YES : JUDGED_NO;
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
	char param[128];
	if (snprintf(param, sizeof param, "n_%s", name) >= (int)sizeof param)
		w->fits = false;
	buf_printf(&w->text, "%s", param);
	if (!named(w->params.s, param))
		buf_printf(&w->params, "%s%s", w->params.n ? "," : "", param);
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

/* The sum over the modes of shape and stride, of index `at`; *before is the product of extents that
 * came already. `last` has no end. */
static bool write_modes(Buf *out, const Tup *shape, const Tup *stride, const char *at,
			int64_t *before, bool last)
{
	int64_t s, d;
	for (int i = 0; i < shape->n; i++)
		if (!write_modes(out, shape->at[i], stride->at[i], at, before,
				 last && i == shape->n - 1))
			return false;
	if (!tup_is_leaf(shape))
		return true;
	if (stride->basis || !ix_is_const(shape->leaf, &s) || !ix_is_const(stride->leaf, &d) ||
	    s < 1)
		return false;
	if (last)
		buf_printf(out, " + floor((%s) / %" PRId64 ") * %" PRId64, at, *before, d);
	else
		buf_printf(out, " + (floor((%s) / %" PRId64 ") mod %" PRId64 ") * %" PRId64, at,
			   *before, s, d);
	return !__builtin_mul_overflow(*before, s, before);
}

/* x ^ (y << to) for bits y and z of x: z becomes (y + z) mod 2. */
static void write_swizzle(Buf *out, Swizzle sw, const char *x)
{
	buf_printf(out, "(%s)", x);
	for (int i = 0; i < sw.b; i++) {
		int64_t y = INT64_C(1) << (sw.m + sw.s + i), z = INT64_C(1) << (sw.m + i);
		buf_printf(out,
			   " + ((floor((%s) / %" PRId64 ") + floor((%s) / %" PRId64
			   ")) mod 2 - floor((%s) / %" PRId64 ") mod 2) * %" PRId64,
			   x, y, x, z, x, z, z);
	}
}

enum { TEXT_MAX = 1 << 16 };

/* What l gives at `at`, as isl's text. */
static bool write_layout(Buf *out, const Layout *l, const char *at)
{
	Buf outer = {0}, moved = {0};
	int64_t before = 1;
	buf_printf(&outer, "0");
	bool fits = ix_is_const(l->offset, NULL) && !l->origin && strlen(at) < TEXT_MAX &&
		    write_modes(&outer, l->shape, l->stride, at, &before, true);
	if (fits && !ix_is(l->offset, 0))
		buf_printf(&outer, " + %" PRId64, l->offset->value);
	write_swizzle(&moved, l->swizzle, outer.s);
	if (fits && l->inner)
		fits = write_layout(out, l->inner, moved.s);
	else
		buf_printf(out, "%s", moved.s);
	buf_free(&outer);
	buf_free(&moved);
	return fits;
}

/* ------------------------------------------------------------------ maps */
static isl_map *map_of(Judge *j, const Layout *l, bool endless)
{
	Buf out = {0};
	int64_t size = 0;
	isl_map *m = NULL;
	buf_printf(&out, "{ [i] -> [");
	bool fits = layout_is_static(l) && write_layout(&out, l, "i");
	size = fits ? layout_size_int(l) : 0;
	if (endless)
		buf_printf(&out, "] : i >= 0 }");
	else
		buf_printf(&out, "] : 0 <= i < %" PRId64 " }", size);
	if (fits)
		m = isl_map_read_from_str(j->isl, out.s);
	buf_free(&out);
	return m;
}

static Verdict same(isl_map *a, isl_map *b)
{
	Verdict v = a && b ? verdict(isl_map_is_equal(a, b)) : JUDGED_UNKNOWN;
	isl_map_free(a);
	isl_map_free(b);
	return v;
}

Verdict judge_equal(Judge *j, const Layout *a, const Layout *b)
{
	begin(j);
	return same(map_of(j, a, false), map_of(j, b, false));
}

Verdict judge_composed(Judge *j, const Layout *r, const Layout *a, const Layout *b)
{
	begin(j);
	isl_map *first = map_of(j, b, false), *then = map_of(j, a, true);
	return same(map_of(j, r, false), isl_map_apply_range(first, then));
}

Verdict judge_inverse(Judge *j, const Layout *a, const Layout *b)
{
	begin(j);
	isl_map *first = map_of(j, b, false), *then = map_of(j, a, true);
	isl_set *domain = first ? isl_map_domain(isl_map_copy(first)) : NULL;
	return same(isl_set_identity(domain), isl_map_apply_range(first, then));
}

Verdict judge_injective(Judge *j, const Layout *l)
{
	begin(j);
	isl_map *m = map_of(j, l, false);
	Verdict v = m ? verdict(isl_map_is_injective(m)) : JUDGED_UNKNOWN;
	isl_map_free(m);
	return v;
}

/* Pairs of places whose images are the wrong way round: there must be none. */
Verdict judge_ordered(Judge *j, const Layout *l)
{
	begin(j);
	isl_map *m = map_of(j, l, false);
	isl_map *later = isl_map_read_from_str(j->isl, "{ [i] -> [k] : i < k }");
	isl_map *wrong = isl_map_read_from_str(j->isl, "{ [x] -> [y] : y <= x }");
	wrong = isl_map_apply_range(isl_map_copy(m), wrong);
	wrong = isl_map_apply_range(wrong, isl_map_reverse(m));
	wrong = isl_map_intersect(wrong, later);
	Verdict v = wrong ? verdict(isl_map_is_empty(wrong)) : JUDGED_UNKNOWN;
	isl_map_free(wrong);
	return v;
}

static isl_set *image_of(Judge *j, const Layout *l)
{
	return isl_map_range(map_of(j, l, false));
}

static Verdict same_set(isl_set *a, isl_set *b)
{
	Verdict v = a && b ? verdict(isl_set_is_equal(a, b)) : JUDGED_UNKNOWN;
	isl_set_free(a);
	isl_set_free(b);
	return v;
}

Verdict judge_disjoint(Judge *j, const Layout *a, const Layout *b)
{
	begin(j);
	isl_set *both = isl_set_intersect(image_of(j, a), image_of(j, b));
	return same_set(both, isl_set_read_from_str(j->isl, "{ [0] }"));
}

Verdict judge_covers(Judge *j, const Layout *a, const Layout *b, int64_t n)
{
	Buf all = {0};
	begin(j);
	isl_map *sum = isl_map_read_from_str(j->isl, "{ [x, y] -> [x + y] }");
	isl_set *pairs = isl_set_flat_product(image_of(j, a), image_of(j, b));
	buf_printf(&all, "{ [x] : 0 <= x < %" PRId64 " }", n);
	isl_set *want = isl_set_read_from_str(j->isl, all.s);
	buf_free(&all);
	return same_set(isl_set_apply(pairs, sum), want);
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
