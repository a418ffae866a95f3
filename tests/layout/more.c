/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout.more - laws that join operations of the algebra, by brute force through the table by
 * name: associativity, divide after product, forms of divides, inverses of swizzled layouts, casts,
 * slices. Random layouts up to 4096 places; DSL_SEED in the environment gives another run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "layout/layout.h"

#ifndef ROUNDS
#define ROUNDS 6000
#endif
enum { PER_CTX = 200, LARGE_EVERY = 50, SMALL = 64, LARGE = 4096 };

typedef struct {
	Ctx *c;
	uint64_t seed;
	const Layout *a, *b, *d;
	const char *why;
} Case;

static int below(Case *k, int n)
{
	k->seed = k->seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((k->seed >> 33) % (uint64_t)n);
}

static const Layout *random_layout(Case *k, int64_t most)
{
	static const int64_t extents[] = {1, 2, 2, 3, 4, 4, 6, 8, 16};
	const Layout *at[4];
	int64_t next = 1 + (below(k, 5) == 0), size = 1;
	int n = 1 + below(k, 4);
	for (int i = 0; i < n; i++) {
		int64_t s = extents[below(k, COUNTOF(extents))];
		s = size * s > most ? 1 : s;
		int64_t d = below(k, 4) ? next : below(k, 13);
		at[i] = layout_new(k->c, tup_int(k->c, s), tup_int(k->c, d));
		next = d ? s * d : next;
		size *= s;
	}
	for (int i = n - 1; i > 0 && below(k, 2); i--) {
		int j = below(k, i + 1);
		const Layout *t = at[i];
		at[i] = at[j];
		at[j] = t;
	}
	if (n > 2 && below(k, 2)) {
		at[1] = layout_cat(k->c, at + 1, n - 1);
		n = 2;
	}
	return layout_cat(k->c, at, n);
}

static void check(const Case *k, bool holds, int line, const char *condition)
{
	if (!holds)
		fail_msg("line %d: %s\n  a = %s\n  b = %s\n  d = %s", line, condition,
			 layout_str(k->c, k->a), layout_str(k->c, k->b), layout_str(k->c, k->d));
}
#define CHECK(k, condition) check(k, condition, __LINE__, #condition)

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

static int64_t size(const Layout *l)
{
	return layout_size_int(l);
}

static bool same(const Layout *a, const Layout *b)
{
	if (size(a) != size(b))
		return false;
	for (int64_t i = 0; i < size(a); i++)
		if (layout_at_int(a, i) != layout_at_int(b, i))
			return false;
	return true;
}

static bool injective(const Layout *l)
{
	static unsigned char seen[1 << 16];
	bool ok = layout_cosize_int(l) < (int64_t)sizeof seen;
	int64_t n = 0, all = size(l);
	for (; ok && n < all; n++)
		ok = !seen[layout_at_int(l, n)]++;
	while (n-- > 0)
		seen[layout_at_int(l, n)] = 0;
	return ok;
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
	if (!left || !right || layout_cosize_int(k->d) > size(k->b) ||
	    layout_cosize_int(k->b) > size(k->a))
		return false;
	CHECK(k, same(left, right));
	return true;
}

/* (A * B) / size(A) has A for its tile and B's copies for the rest. */
static bool law_product_divide(Case *k)
{
	const Layout *p = apply(k, LAYOUT_OP_logical_product, k->a, k->b);
	if (!p)
		return false;
	const Layout *tile = layout_left(k->c, tup_int(k->c, size(k->a)));
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
	for (int64_t i = 0; i < size(k->a); i++)
		CHECK(k, layout_at_int(r, layout_at_int(k->a, i)) == i);
	return true;
}

static bool law_swizzled_inverse(Case *k)
{
	Swizzle sw = {1 + below(k, 3), below(k, 3), 3};
	const Layout *l = layout_swizzled(k->c, sw, ix_const(k->c, 0), k->a);
	const Layout *r = apply(k, LAYOUT_OP_right_inverse, l, NULL);
	const Layout *q = apply(k, LAYOUT_OP_left_inverse, l, NULL);
	const Layout *plain = apply(k, LAYOUT_OP_right_inverse, k->a, NULL);
	CHECK(k, r != NULL);
	for (int64_t i = 0; i < size(r) && size(plain) >= size(r); i++)
		CHECK(k, layout_at_int(l, layout_at_int(r, i)) == i);
	for (int64_t i = 0; q && injective(k->a) && i < size(l); i++)
		CHECK(k, layout_at_int(q, layout_at_int(l, i)) == i);
	return size(r) > 1;
}

static bool law_nullspace(Case *k)
{
	const Layout *n = apply(k, LAYOUT_OP_nullspace, k->a, NULL);
	const Layout *f = apply(k, LAYOUT_OP_filter_zeros, k->a, NULL);
	for (int64_t i = 0; i < size(n); i++)
		CHECK(k, layout_at_int(k->a, layout_at_int(n, i)) == 0);
	CHECK(k, size(n) * size(f) == size(k->a));
	return size(n) > 1;
}

static bool law_max_common(Case *k)
{
	const Layout *n = apply(k, LAYOUT_OP_max_common_layout, k->a, k->b);
	CHECK(k, n != NULL);
	for (int64_t i = 0; i < size(n); i++) {
		CHECK(k, layout_at_int(k->a, layout_at_int(n, i)) == i);
		CHECK(k, layout_at_int(k->b, layout_at_int(n, i)) == i);
	}
	return size(n) > 1;
}

/* Forms of a divide by a shape hold the same modes; a tile's place is where the tiler says. */
static bool law_forms(Case *k)
{
	int rank = layout_rank(k->a);
	const Tup *tile[8], *coord[8];
	for (int i = 0; i < rank; i++) {
		int64_t n = size(layout_mode(k->c, k->a, i)), t = n;
		while (t > 1 && (n % t || below(k, 3)))
			t--;
		tile[i] = tup_int(k->c, t);
		coord[i] = tup_int(k->c, below(k, (int)(n / t)));
	}
	const Tup *by = tup_new(k->c, tile, rank);
	const Layout *z = apply_tup(k, LAYOUT_OP_zipped_divide, k->a, by);
	const Layout *t = apply_tup(k, LAYOUT_OP_tiled_divide, k->a, by);
	const Layout *f = apply_tup(k, LAYOUT_OP_flat_divide, k->a, by);
	if (!z)
		return false;
	CHECK(k, t && f && same(z, t) && same(z, f));
	CHECK(k, layout_rank(z) == 2 && layout_rank(t) == 1 + rank && layout_rank(f) == 2 * rank);
	Alg args[3] = {{.kind = ALG_LAYOUT, .layout = k->a},
		       {.kind = ALG_TUP, .tup = by},
		       {.kind = ALG_TUP, .tup = tup_new(k->c, coord, rank)}};
	AlgResult r;
	CHECK(k, layout_op_apply(k->c, LAYOUT_OP_local_tile, args, 3, &r, &k->why));
	for (int64_t i = 0; i < size(r.value.layout); i++) {
		const Tup *in = tup_idx2crd(k->c, ix_const(k->c, i), by), *at[8];
		for (int m = 0; m < rank; m++)
			at[m] = tup_int(k->c, in->at[m]->leaf->value +
						      tile[m]->leaf->value * coord[m]->leaf->value);
		const Tup *to = layout_eval(k->c, k->a, tup_new(k->c, at, rank));
		CHECK(k, ix_is(to->leaf, layout_at_int(r.value.layout, i)));
	}
	return size(z) > 1;
}

static bool law_casts(Case *k)
{
	int64_t n = INT64_C(1) << below(k, 4);
	const Layout *down = layout_downcast(k->c, k->a, n, &k->why);
	if (!down)
		return false;
	const Layout *up = layout_upcast(k->c, down, n, &k->why);
	CHECK(k, up != NULL);
	CHECK(k, same(up, k->a));
	const Layout *wide = layout_upcast(k->c, k->a, n, &k->why);
	if (!wide || size(wide) * n != size(k->a))
		return n == 1;
	for (int64_t i = 0; i < size(wide); i++)
		CHECK(k, layout_at_int(wide, i) >= 0);
	return true;
}

/* L(c) = offset + slice(the open places), for a swizzled L without the offset. */
static bool law_slices(Case *k)
{
	int rank = layout_rank(k->a);
	const Tup *fixed[8], *open[8], *place[8];
	int n = 0;
	Swizzle sw = {below(k, 3), below(k, 3), 3};
	const Layout *l = layout_swizzled(k->c, sw, ix_const(k->c, below(k, 8)), k->a);
	for (int i = 0; i < rank; i++) {
		place[i] = tup_int(k->c, below(k, (int)size(layout_mode(k->c, k->a, i))));
		fixed[i] = below(k, 2) ? tup_any(k->c) : place[i];
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
	CHECK(k, size(r) == size(p));
	if (injective(p))
		CHECK(k, injective(r));
	return true;
}

/* Compact in the order of the strides: each offset below the size is taken once. */
static bool law_like(Case *k)
{
	const Layout *l = apply(k, LAYOUT_OP_make_layout_like, k->a, NULL);
	const Layout *f = apply(k, LAYOUT_OP_filter_zeros, l, NULL);
	CHECK(k, layout_cosize_int(f) == size(f));
	CHECK(k, injective(f));
	CHECK(k, l->shape == k->a->shape);
	return size(f) > 1;
}

static const struct {
	const char *name;
	bool (*holds)(Case *k);
	int least; /* of 100 cases, how many must have given a result worth the name */
} laws[] = {
	{"associative", law_associative, 2},
	{"product_divide", law_product_divide, 25},
	{"left_inverse", law_left_inverse, 25},
	{"swizzled_inverse", law_swizzled_inverse, 30},
	{"nullspace", law_nullspace, 2},
	{"max_common", law_max_common, 20},
	{"forms", law_forms, 30},
	{"casts", law_casts, 30},
	{"slices", law_slices, 25},
	{"raked", law_raked, 25},
	{"like", law_like, 50},
};

static void test_laws(void **state)
{
	int done[COUNTOF(laws)] = {0};
	const char *seed = getenv("DSL_SEED");
	Case k = {.seed = seed ? strtoull(seed, NULL, 0) : 20264};
	(void)state;
	print_message("seed %llu\n", (unsigned long long)k.seed);
	for (int round = 0; round < ROUNDS; round += PER_CTX) {
		k.c = ctx_new();
		for (int i = 0; i < PER_CTX; i++) {
			int64_t most = i % LARGE_EVERY ? SMALL : LARGE;
			k.a = random_layout(&k, most);
			k.b = random_layout(&k, SMALL / 4);
			k.d = random_layout(&k, SMALL / 8);
			for (size_t n = 0; n < COUNTOF(laws); n++)
				done[n] += laws[n].holds(&k);
		}
		ctx_free(k.c);
	}
	for (size_t n = 0; n < COUNTOF(laws); n++) {
		print_message("%s: %d of %d\n", laws[n].name, done[n], ROUNDS);
		assert_true(done[n] >= ROUNDS / 100 * laws[n].least);
	}
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
		cmocka_unit_test(test_no_growth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
