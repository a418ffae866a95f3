/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_maps.c - layouts as isl's text and isl's maps.
 *     (4,2):(1,8)  ->  { [i] -> [((i) mod 4) * 1 + (floor((i) / 4)) * 8] : 0 <= i < 8 }
 * isl gives up with a NULL map when its allowance is spent; a NULL of any kind is "unknown". */
#include "layout_maps.h"

#include <inttypes.h>
#include <string.h>

#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>

Maps *maps_new(unsigned long operations)
{
	isl_ctx *isl = isl_ctx_alloc();
	if (!isl)
		panic("no memory for isl");
	isl_options_set_on_error(isl, ISL_ON_ERROR_CONTINUE);
	isl_ctx_set_max_operations(isl, operations);
	return isl;
}

void maps_free(Maps *m)
{
	isl_ctx_free(m);
}

/* Each question has the whole allowance. */
static void begin(Maps *m)
{
	isl_ctx_reset_error(m);
	isl_ctx_reset_operations(m);
}

static Verdict verdict(isl_bool b)
{
	return b == isl_bool_error ? JUDGED_UNKNOWN : b ? JUDGED_YES : JUDGED_NO;
}

/* ------------------------------------------------------------------ text */
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
static isl_map *map_of(Maps *m, const Layout *l, bool endless)
{
	Buf out = {0};
	int64_t size = 0;
	isl_map *map = NULL;
	buf_printf(&out, "{ [i] -> [");
	bool fits = layout_is_static(l) && write_layout(&out, l, "i");
	size = fits ? layout_size_int(l) : 0;
	if (endless)
		buf_printf(&out, "] : i >= 0 }");
	else
		buf_printf(&out, "] : 0 <= i < %" PRId64 " }", size);
	if (fits)
		map = isl_map_read_from_str(m, out.s);
	buf_free(&out);
	return map;
}

static Verdict same(isl_map *a, isl_map *b)
{
	Verdict v = a && b ? verdict(isl_map_is_equal(a, b)) : JUDGED_UNKNOWN;
	isl_map_free(a);
	isl_map_free(b);
	return v;
}

Verdict maps_equal(Maps *m, const Layout *a, const Layout *b)
{
	begin(m);
	return same(map_of(m, a, false), map_of(m, b, false));
}

Verdict maps_composed(Maps *m, const Layout *r, const Layout *a, const Layout *b)
{
	begin(m);
	isl_map *first = map_of(m, b, false), *then = map_of(m, a, true);
	return same(map_of(m, r, false), isl_map_apply_range(first, then));
}

Verdict maps_inverse(Maps *m, const Layout *a, const Layout *b)
{
	begin(m);
	isl_map *first = map_of(m, b, false), *then = map_of(m, a, true);
	isl_set *domain = first ? isl_map_domain(isl_map_copy(first)) : NULL;
	return same(isl_set_identity(domain), isl_map_apply_range(first, then));
}

Verdict maps_injective(Maps *m, const Layout *l)
{
	begin(m);
	isl_map *map = map_of(m, l, false);
	Verdict v = map ? verdict(isl_map_is_injective(map)) : JUDGED_UNKNOWN;
	isl_map_free(map);
	return v;
}

/* Pairs of places whose images are the wrong way round: there must be none. */
Verdict maps_ordered(Maps *m, const Layout *l)
{
	begin(m);
	isl_map *map = map_of(m, l, false);
	isl_map *later = isl_map_read_from_str(m, "{ [i] -> [k] : i < k }");
	isl_map *wrong = isl_map_read_from_str(m, "{ [x] -> [y] : y <= x }");
	wrong = isl_map_apply_range(isl_map_copy(map), wrong);
	wrong = isl_map_apply_range(wrong, isl_map_reverse(map));
	wrong = isl_map_intersect(wrong, later);
	Verdict v = wrong ? verdict(isl_map_is_empty(wrong)) : JUDGED_UNKNOWN;
	isl_map_free(wrong);
	return v;
}

static isl_set *image_of(Maps *m, const Layout *l)
{
	return isl_map_range(map_of(m, l, false));
}

static Verdict same_set(isl_set *a, isl_set *b)
{
	Verdict v = a && b ? verdict(isl_set_is_equal(a, b)) : JUDGED_UNKNOWN;
	isl_set_free(a);
	isl_set_free(b);
	return v;
}

Verdict maps_disjoint(Maps *m, const Layout *a, const Layout *b)
{
	begin(m);
	isl_set *both = isl_set_intersect(image_of(m, a), image_of(m, b));
	return same_set(both, isl_set_read_from_str(m, "{ [0] }"));
}

Verdict maps_covers(Maps *m, const Layout *a, const Layout *b, int64_t n)
{
	Buf all = {0};
	begin(m);
	isl_map *sum = isl_map_read_from_str(m, "{ [x, y] -> [x + y] }");
	isl_set *pairs = isl_set_flat_product(image_of(m, a), image_of(m, b));
	buf_printf(&all, "{ [x] : 0 <= x < %" PRId64 " }", n);
	isl_set *want = isl_set_read_from_str(m, all.s);
	buf_free(&all);
	return same_set(isl_set_apply(pairs, sum), want);
}
