/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout.laws - the laws of the algebra by brute force: a static layout is a finite function, so
 * each result is compared with its definition at every point. Laws that join operations are tried
 * on each tenth case. 180,000 random layouts up to 4096 places, a fixed seed unless DSL_SEED gives
 * one; each operation must also have succeeded on a good part of them, so that no law holds by
 * silence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <stdio.h>

#include "layout/layout.h"

/* Fewer with sanitizers: CMakeLists.txt. */
#ifndef ROUNDS
#define ROUNDS 60000
#endif
enum { PER_CTX = 500, MAX_POINTS = 512 };

static uint64_t seed = 20251;

static int random_below(int n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % (uint64_t)n);
}

/* ------------------------------------------------------------------ the independent meaning */
static int64_t leaf(const Tup *t)
{
	assert_int_equal(t->leaf->kind, IX_CONST);
	return t->leaf->value;
}

static int64_t size_of(const Tup *t)
{
	int64_t n = 1;
	if (t->n < 0)
		return leaf(t);
	for (int i = 0; i < t->n; i++)
		n *= size_of(t->at[i]);
	return n;
}

/* A layout as plain numbers, leftmost mode first; the last mode takes what is left of an index. */
typedef struct {
	const Layout *of;
	int64_t size;
	int n;
	int64_t shape[128], stride[128];
} Flat;

static void flat_add(Flat *f, const Tup *shape, const Tup *stride)
{
	if (shape->n < 0) {
		assert_true(f->n < (int)COUNTOF(f->shape));
		f->shape[f->n] = leaf(shape);
		f->stride[f->n++] = leaf(stride);
	}
	for (int i = 0; i < shape->n; i++)
		flat_add(f, shape->at[i], stride->at[i]);
}

static Flat recent[8]; /* of the Ctx in use; emptied with it */

static const Flat *flat_of(const Layout *l)
{
	Flat *f = &recent[l->id % COUNTOF(recent)];
	if (f->of == l)
		return f;
	f->of = l;
	f->size = size_of(l->shape);
	f->n = 0;
	flat_add(f, l->shape, l->stride);
	return f;
}

static int64_t offset(const Layout *l, int64_t i)
{
	const Flat *f = flat_of(l);
	int64_t sum = 0;
	for (int k = 0; k < f->n; k++) {
		bool last = k == f->n - 1;
		sum += (last ? i : i % f->shape[k]) * f->stride[k];
		i /= f->shape[k];
	}
	return sum;
}

static int64_t points(const Layout *l)
{
	return flat_of(l)->size;
}

/* ------------------------------------------------------------------ random layouts */
static int64_t size_most = 64; /* now and then 4096 */

static const Layout *random_mode(Ctx *c, int depth, int64_t *next, int64_t *size)
{
	static const int64_t strides[] = {0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32};
	static const int64_t extents[] = {1, 2, 2, 3, 4, 4, 5, 6, 8};
	if (depth > 0 && random_below(4) == 0) {
		const Layout *at[3];
		int n = 1 + random_below(3);
		for (int i = 0; i < n; i++)
			at[i] = random_mode(c, depth - 1, next, size);
		return layout_cat(c, at, n);
	}
	int64_t s = extents[random_below(COUNTOF(extents))], d;
	if (*size * s > size_most)
		s = 1;
	d = random_below(3) ? *next : strides[random_below(COUNTOF(strides))];
	*next = random_below(8) ? s * d : 2 * s * d;
	if (!*next)
		*next = 1;
	*size *= s;
	return layout_new(c, tup_int(c, s), tup_int(c, d));
}

static const Layout *random_layout(Ctx *c)
{
	const Layout *at[4];
	int64_t next = random_below(4) ? 1 : 2, size = 1;
	int n = random_below(4);
	if (n == 0)
		return random_mode(c, 2, &next, &size);
	for (int i = 0; i < n; i++)
		at[i] = random_mode(c, 2, &next, &size);
	for (int i = n - 1; i > 0 && random_below(2); i--) {
		int j = random_below(i + 1);
		const Layout *t = at[i];
		at[i] = at[j];
		at[j] = t;
	}
	return layout_cat(c, at, n);
}

static bool injective(const Layout *l)
{
	static unsigned char seen[1 << 16];
	bool ok = true;
	int64_t n = 0;
	for (; n < points(l) && ok; n++) {
		int64_t at = offset(l, n);
		ok = at >= 0 && at < (int64_t)sizeof seen && !seen[at]++;
	}
	while (n-- > 0) {
		int64_t at = offset(l, n);
		if (at >= 0 && at < (int64_t)sizeof seen)
			seen[at] = 0;
	}
	return ok;
}

/* ------------------------------------------------------------------ laws */
typedef struct {
	Ctx *c;
	const Layout *a, *b, *d;
	const char *why;
} Case;

static void check(const Case *k, bool holds, int line, const char *condition)
{
	if (!holds)
		fail_msg("line %d: %s\n  a = %s\n  b = %s\n  d = %s", line, condition,
			 layout_str(k->c, k->a), layout_str(k->c, k->b), layout_str(k->c, k->d));
}
#define CHECK(k, condition) check(k, condition, __LINE__, #condition)

static void law_text(Case *k)
{
	const char *s = layout_str(k->c, k->a);
	CHECK(k, layout_parse(k->c, &s, &k->why) == k->a);
	CHECK(k, !*s);
}

static void law_sizes(Case *k)
{
	int64_t last = 0;
	for (int64_t i = 0; i < points(k->a); i++)
		last = offset(k->a, i) > last ? offset(k->a, i) : last;
	CHECK(k, layout_size_int(k->a) == points(k->a));
	CHECK(k, layout_cosize_int(k->a) == last + 1);
	CHECK(k, ix_is(layout_size(k->c, k->a), points(k->a)));
	CHECK(k, ix_is(layout_cosize(k->c, k->a), last + 1));
}

static bool get_i(void *user, const char *name, int64_t *v)
{
	*v = *(int64_t *)user;
	return !strcmp(name, "i");
}

/* The symbolic offset is the static one, swizzle and offset included. */
static void law_at(Case *k)
{
	Swizzle sw = {random_below(4), random_below(4), 3 + random_below(2)};
	const Ix *start = ix_const(k->c, random_below(64));
	const Layout *l = layout_swizzled(k->c, sw, start, k->a);
	const Ix *x = layout_at(k->c, l, ix_sym(k->c, "i"));
	const char *s = layout_str(k->c, l);
	CHECK(k, layout_parse(k->c, &s, &k->why) == l);
	for (int64_t i = 0, v; i < points(k->a); i += 1 + points(k->a) / 16) {
		int64_t plain = start->value + offset(k->a, i);
		CHECK(k, ix_eval(x, get_i, &i, &v));
		CHECK(k, v == layout_at_int(l, i));
		CHECK(k, v == swizzle_apply(sw, plain));
		CHECK(k, swizzle_apply(sw, v) == plain);
		CHECK(k, ix_is(layout_at(k->c, l, ix_const(k->c, i)), v));
	}
}

static bool law_coalesce(Case *k)
{
	const Layout *r = layout_coalesce(k->c, k->a);
	CHECK(k, points(r) == points(k->a));
	for (int64_t i = 0; i < points(r); i++)
		CHECK(k, offset(r, i) == offset(k->a, i));
	CHECK(k, layout_coalesce(k->c, r) == r);
	return r != k->a;
}

/* R(i) = A(B(i)); the last mode of A has no end. */
static bool law_composition(Case *k)
{
	const Layout *r = layout_composition(k->c, k->a, k->b, &k->why);
	if (!r)
		return CHECK(k, strstr(k->why, "composition: ")), false;
	CHECK(k, points(r) == points(k->b));
	for (int64_t i = 0; i < points(r); i++)
		CHECK(k, offset(r, i) == offset(k->a, offset(k->b, i)));
	return true;
}

/* The largest extent * stride of a mode, at least 1. */
static int64_t period(const Tup *shape, const Tup *stride)
{
	int64_t most = 1;
	if (shape->n < 0)
		return leaf(stride) ? leaf(shape) * leaf(stride) : 1;
	for (int i = 0; i < shape->n; i++) {
		int64_t p = period(shape->at[i], stride->at[i]);
		most = p > most ? p : most;
	}
	return most;
}

/* (A, C) is injective and reaches the target's last period; C alone is sorted. */
static bool law_complement(Case *k)
{
	int64_t target = 1 + random_below(128);
	const Layout *r = layout_complement(k->c, k->a, ix_const(k->c, target), &k->why);
	if (!r)
		return CHECK(k, strstr(k->why, "complement: ")), false;
	int64_t last = -1;
	for (int64_t i = 0; i < points(r); i++) {
		CHECK(k, offset(r, i) > last);
		last = offset(r, i);
	}
	const Layout *both = layout_cat(k->c, (const Layout *[]){k->a, r}, 2);
	CHECK(k, layout_cosize_int(both) > target - period(k->a->shape, k->a->stride));
	if (layout_cosize_int(both) == points(both))
		CHECK(k, points(both) >= target);
	if (injective(k->a) && points(both) <= MAX_POINTS && layout_cosize_int(both) < 1 << 16)
		CHECK(k, injective(both));
	return true;
}

static bool law_divide(Case *k)
{
	const Layout *r = layout_logical_divide(k->c, k->a, k->b, &k->why);
	if (!r)
		return CHECK(k, k->why), false;
	int64_t inner = points(k->b), rest = points(r) / inner;
	const Layout *tile = layout_mode(k->c, r, 0);
	CHECK(k, layout_rank(r) == 2);
	CHECK(k, points(tile) == inner);
	const Layout *gaps = layout_complement(k->c, k->b, layout_size(k->c, k->a), &k->why);
	for (int64_t i = 0; i < rest; i++)
		CHECK(k, offset(layout_mode(k->c, r, 1), i) == offset(k->a, offset(gaps, i)));
	if (layout_cosize_int(layout_cat(k->c, (const Layout *[]){k->b, gaps}, 2)) == inner * rest)
		CHECK(k, inner * rest >= points(k->a));
	for (int64_t i = 0; i < inner; i++)
		CHECK(k, offset(tile, i) == offset(k->a, offset(k->b, i)));
	return true;
}

/* Mode 0 is A; mode 1 places copies of A as B says, and the copies do not meet. */
static bool law_product(Case *k)
{
	const Layout *r = layout_logical_product(k->c, k->a, k->b, &k->why);
	if (!r)
		return CHECK(k, k->why), false;
	const Layout *again = layout_mode(k->c, r, 1);
	CHECK(k, layout_mode(k->c, r, 0) == k->a);
	CHECK(k, points(again) == points(k->b));
	if (injective(k->a) && injective(k->b) && points(r) <= MAX_POINTS &&
	    layout_cosize_int(r) < 1 << 16)
		CHECK(k, injective(r));
	return true;
}

/* The blocked product is the logical one with the coordinates taken mode by mode. */
static bool law_blocked(Case *k)
{
	const Layout *r = layout_blocked_product(k->c, k->a, k->b, &k->why);
	const Layout *l = layout_logical_product(k->c, k->a, k->b, &k->why);
	if (!r || !l)
		return false;
	bool leaves = tup_is_leaf(k->a->shape) && tup_is_leaf(k->b->shape);
	CHECK(k, points(r) == points(l));
	for (int i = 0; i < layout_rank(r) && !leaves; i++) {
		const Layout *m = layout_mode(k->c, r, i);
		CHECK(k, layout_rank(m) == 2);
		if (i < layout_rank(k->a))
			CHECK(k, layout_mode(k->c, m, 0) == layout_mode(k->c, k->a, i));
	}
	if (injective(l) && points(r) <= MAX_POINTS)
		CHECK(k, injective(r));
	return true;
}

static bool law_tile(Case *k)
{
	const Tup *shape[4];
	int rank = layout_rank(k->a) + random_below(2);
	if (rank == 0 || rank > 4)
		return false;
	for (int i = 0; i < rank; i++)
		shape[i] = tup_int(k->c, 1 + random_below(16));
	bool leaves = rank == 1 && tup_is_leaf(k->a->shape);
	const Tup *target = leaves ? shape[0] : tup_new(k->c, shape, rank);
	const Layout *r = layout_tile_to_shape(k->c, k->a, target, NULL, &k->why);
	if (!r)
		return false;
	for (int i = 0; i < rank && !leaves; i++) {
		bool inside = i < layout_rank(k->a);
		int64_t atom = inside ? points(layout_mode(k->c, k->a, i)) : 1;
		int64_t want = leaf(shape[i]), have = points(layout_mode(k->c, r, i));
		CHECK(k, have == (want + atom - 1) / atom * atom);
		if (inside)
			CHECK(k, layout_mode(k->c, layout_mode(k->c, r, i), 0) ==
					 layout_mode(k->c, k->a, i));
	}
	if (injective(k->a) && points(r) <= MAX_POINTS && layout_cosize_int(r) < 1 << 16)
		CHECK(k, injective(r));
	return true;
}

/* L(R(i)) = i, and when the layout is compact R undoes all of it. */
static bool law_right_inverse(Case *k)
{
	const Layout *r = layout_right_inverse(k->c, k->a, &k->why);
	CHECK(k, r != NULL);
	for (int64_t i = 0; i < points(r); i++)
		CHECK(k, offset(k->a, offset(r, i)) == i);
	if (injective(k->a) && layout_cosize_int(k->a) == points(k->a))
		CHECK(k, points(r) == points(k->a));
	return points(r) > 1;
}

/* ------------------------------------------------------------------ of several operations */
/* An operation on layouts by name; NULL where it is refused. */
static const Layout *apply(Case *k, LayoutOpId op, const Layout *a, const Layout *b)
{
	Alg args[2] = {{.kind = ALG_LAYOUT, .layout = a}, {.kind = ALG_LAYOUT, .layout = b}};
	AlgResult r;
	k->why = NULL;
	if (!layout_op_apply(k->c, (int)op, args, b ? 2 : 1, &r, &k->why)) {
		CHECK(k, k->why && strchr(k->why, ':'));
		return NULL;
	}
	CHECK(k, r.value.kind == ALG_LAYOUT);
	return r.value.layout;
}

static const Layout *apply_tup(Case *k, LayoutOpId op, const Layout *a, const Tup *t)
{
	Alg args[2] = {{.kind = ALG_LAYOUT, .layout = a}, {.kind = ALG_TUP, .tup = t}};
	AlgResult r;
	return layout_op_apply(k->c, (int)op, args, 2, &r, &k->why) ? r.value.layout : NULL;
}

static bool same(const Layout *a, const Layout *b)
{
	if (points(a) != points(b))
		return false;
	for (int64_t i = 0; i < points(a); i++)
		if (offset(a, i) != offset(b, i))
			return false;
	return true;
}

/* ------------------------------------------------------------------ laws */
static bool law_associative(Case *k)
{
	const Layout *ab = apply(k, LAYOUT_OP_composition, k->a, k->b);
	const Layout *bd = apply(k, LAYOUT_OP_composition, k->b, k->d);
	const Layout *left = ab ? apply(k, LAYOUT_OP_composition, ab, k->d) : NULL;
	const Layout *right = bd ? apply(k, LAYOUT_OP_composition, k->a, bd) : NULL;
	if (ab)
		CHECK(k, tup_compatible(k->c, k->b->shape, ab->shape));
	if (!left || !right || layout_cosize_int(k->d) > points(k->b) ||
	    layout_cosize_int(k->b) > points(k->a))
		return false;
	CHECK(k, same(left, right));
	return true;
}

/* (A * B) / points(A) has A for its tile and B's copies for the rest. */
static bool law_product_divide(Case *k)
{
	const Layout *p = apply(k, LAYOUT_OP_logical_product, k->a, k->b);
	if (!p)
		return false;
	const Layout *tile = layout_left(k->c, tup_int(k->c, points(k->a)));
	const Layout *q = apply(k, LAYOUT_OP_logical_divide, p, tile);
	if (!q)
		return false;
	CHECK(k, same(layout_mode(k->c, q, 0), k->a));
	CHECK(k, same(layout_mode(k->c, q, 1), layout_mode(k->c, p, 1)));
	return true;
}

static bool law_left_inverse(Case *k)
{
	const Layout *r = apply(k, LAYOUT_OP_left_inverse, k->a, NULL);
	if (!r || !injective(k->a))
		return false;
	for (int64_t i = 0; i < points(k->a); i++)
		CHECK(k, offset(r, offset(k->a, i)) == i);
	return true;
}

static bool law_swizzled_inverse(Case *k)
{
	Swizzle sw = {1 + random_below(3), random_below(3), 3};
	const Layout *l = layout_swizzled(k->c, sw, ix_const(k->c, 0), k->a);
	const Layout *r = apply(k, LAYOUT_OP_right_inverse, l, NULL);
	const Layout *q = apply(k, LAYOUT_OP_left_inverse, l, NULL);
	const Layout *plain = apply(k, LAYOUT_OP_right_inverse, k->a, NULL);
	CHECK(k, r != NULL);
	for (int64_t i = 0; i < points(r) && points(plain) >= points(r); i++)
		CHECK(k, layout_at_int(l, layout_at_int(r, i)) == i);
	for (int64_t i = 0; q && injective(k->a) && i < points(l); i++)
		CHECK(k, layout_at_int(q, layout_at_int(l, i)) == i);
	return points(r) > 1;
}

static bool law_nullspace(Case *k)
{
	const Layout *n = apply(k, LAYOUT_OP_nullspace, k->a, NULL);
	const Layout *f = apply(k, LAYOUT_OP_filter_zeros, k->a, NULL);
	for (int64_t i = 0; i < points(n); i++)
		CHECK(k, offset(k->a, offset(n, i)) == 0);
	CHECK(k, points(n) * points(f) == points(k->a));
	return points(n) > 1;
}

static bool law_max_common(Case *k)
{
	const Layout *n = apply(k, LAYOUT_OP_max_common_layout, k->a, k->b);
	CHECK(k, n != NULL);
	for (int64_t i = 0; i < points(n); i++) {
		CHECK(k, offset(k->a, offset(n, i)) == i);
		CHECK(k, offset(k->b, offset(n, i)) == i);
	}
	return points(n) > 1;
}

/* L(c) = offset + slice(the open places), for a swizzled L without the offset. */
static bool law_slices(Case *k)
{
	int rank = layout_rank(k->a);
	const Tup *fixed[8], *open[8], *place[8];
	int n = 0;
	if (tup_is_leaf(k->a->shape))
		return false;
	Swizzle sw = {random_below(3), random_below(3), 3};
	const Layout *l = layout_swizzled(k->c, sw, ix_const(k->c, random_below(8)), k->a);
	for (int i = 0; i < rank; i++) {
		place[i] = tup_int(k->c, random_below((int)points(layout_mode(k->c, k->a, i))));
		fixed[i] = random_below(2) ? tup_any(k->c) : place[i];
		if (tup_is_any(fixed[i]))
			open[n++] = place[i];
	}
	const Layout *s = apply_tup(k, LAYOUT_OP_slice, l, tup_new(k->c, fixed, rank));
	CHECK(k, s != NULL);
	if (layout_is_plain(l))
		return false;
	const Tup *x = layout_eval(k->c, l, tup_new(k->c, place, rank));
	const Tup *y = layout_eval(k->c, s, tup_new(k->c, open, n));
	CHECK(k, x && x == y);
	return n > 0;
}

static bool law_raked(Case *k)
{
	const Layout *p = apply(k, LAYOUT_OP_logical_product, k->a, k->b);
	const Layout *r = apply(k, LAYOUT_OP_raked_product, k->a, k->b);
	CHECK(k, !p == !r);
	if (!r)
		return false;
	CHECK(k, points(r) == points(p));
	if (injective(p))
		CHECK(k, injective(r));
	return true;
}

/* Compact in the order of the strides: each offset below the size is taken once. */
static bool law_like(Case *k)
{
	const Layout *l = apply(k, LAYOUT_OP_make_layout_like, k->a, NULL);
	const Layout *f = apply(k, LAYOUT_OP_filter_zeros, l, NULL);
	CHECK(k, layout_cosize_int(f) == points(f));
	CHECK(k, injective(f));
	CHECK(k, l->shape == k->a->shape);
	return points(f) > 1;
}

/* ------------------------------------------------------------------ the run */
static const struct {
	const char *name;
	bool (*holds)(Case *k);
	int least; /* of 100 cases, how many must have given a result worth the name */
	int every; /* of so many cases one is tried */
} laws[] = {
	{"coalesce", law_coalesce, 30, 1},
	{"composition", law_composition, 30, 1},
	{"complement", law_complement, 30, 1},
	{"logical_divide", law_divide, 10, 1},
	{"logical_product", law_product, 30, 1},
	{"blocked_product", law_blocked, 30, 1},
	{"tile_to_shape", law_tile, 30, 1},
	{"right_inverse", law_right_inverse, 30, 1},
	{"associative", law_associative, 5, 10},
	{"product_divide", law_product_divide, 50, 10},
	{"left_inverse", law_left_inverse, 50, 10},
	{"swizzled_inverse", law_swizzled_inverse, 30, 10},
	{"nullspace", law_nullspace, 2, 10},
	{"max_common", law_max_common, 10, 10},
	{"slices", law_slices, 25, 10},
	{"raked", law_raked, 50, 10},
	{"like", law_like, 50, 10},
};

static void test_laws(void **state)
{
	int done[COUNTOF(laws)] = {0};
	const char *other = getenv("DSL_SEED");
	(void)state;
	seed = other ? strtoull(other, NULL, 0) : seed;
	print_message("seed %llu\n", (unsigned long long)seed);
	for (int round = 0; round < ROUNDS; round += PER_CTX) {
		Ctx *c = ctx_new();
		for (int i = 0; i < PER_CTX; i++) {
			size_most = i % 250 ? 64 : 4096;
			Case k = {c, random_layout(c), random_layout(c), NULL, NULL};
			size_most = 8;
			k.d = random_layout(c);
			law_text(&k);
			law_sizes(&k);
			if (i % 8 == 0)
				law_at(&k);
			for (size_t n = 0; n < COUNTOF(laws); n++)
				done[n] += i % laws[n].every == 0 && laws[n].holds(&k);
		}
		memset(recent, 0, sizeof recent);
		ctx_free(c);
	}
	for (size_t n = 0; n < COUNTOF(laws); n++) {
		int all = ROUNDS / laws[n].every;
		print_message("%s: %d of %d\n", laws[n].name, done[n], all);
		assert_true(done[n] >= all / 100 * laws[n].least);
	}
}

/* A swizzle is its own inverse and keeps each block of 2^(B+M+S). */
static void test_swizzle(void **state)
{
	static const Swizzle all[] = {{0, 4, 3}, {1, 4, 3}, {2, 4, 3},
				      {3, 4, 3}, {3, 3, 3}, {2, 0, 5}};
	(void)state;
	for (size_t i = 0; i < COUNTOF(all); i++) {
		int64_t block = INT64_C(1) << (all[i].b + all[i].m + all[i].s);
		int moved = 0;
		for (int64_t x = 0; x < 4 * block; x++) {
			int64_t y = swizzle_apply(all[i], x);
			assert_int_equal(swizzle_apply(all[i], y), x);
			assert_int_equal(y / block, x / block);
			moved += x != y;
		}
		assert_true(moved == 0 ? all[i].b == 0 : all[i].b > 0);
	}
	assert_int_equal(swizzle_apply((Swizzle){1, 4, 3}, 129), 145);
	assert_int_equal(swizzle_apply((Swizzle){3, 3, 3}, 64), 72);
}

/* ------------------------------------------------------------------ evaluation again */
static const char *const repeated[][3] = {
	{"composition", "(6,2):(8,2)", "(4,3):(3,1)"},
	{"logical_divide", "Sw<3,3,3> o ((8,16),(64,1)):((64,512),(1,0))", "(64,16):(1,64)"},
	{"composition", "(8,8):(8,1)", "5:3"},
	{"right_inverse", "(M,N):(N,1)", NULL},
	{"logical_divide", "(M,K):(K,1)", "128:1"},
	{"tile_to_shape", "Sw<3,3,3> o (8,64):(64,1)", "(128,64):(1,128)"},
	{"left_inverse", "Sw<3,3,3> o (8,64):(64,1)", NULL},
};

/* Results are interned and temporaries released: doing it again allocates nothing. */
static void test_no_growth(void **state)
{
	Ctx *c = ctx_new();
	(void)state;
	for (size_t i = 0; i < COUNTOF(repeated); i++) {
		Alg args[2] = {{.kind = ALG_LAYOUT}, {.kind = ALG_LAYOUT}};
		int n = repeated[i][2] ? 2 : 1;
		size_t before = 0;
		for (int a = 0; a < n; a++) {
			const char *s = repeated[i][1 + a], *why = NULL;
			args[a].layout = layout_parse(c, &s, &why);
			assert_non_null(args[a].layout);
		}
		for (int again = 0; again < 100; again++) {
			AlgResult r;
			const char *why;
			layout_op_apply(c, layout_op_find(repeated[i][0]), args, n, &r, &why);
			if (again == 1)
				before = arena_bytes(ctx_arena(c));
		}
		assert_int_equal(arena_bytes(ctx_arena(c)), before);
	}
	ctx_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_laws),
		cmocka_unit_test(test_swizzle),
		cmocka_unit_test(test_no_growth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
