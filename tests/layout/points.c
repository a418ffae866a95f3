/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout.points - random expressions of the layout algebra against a model that only evaluates: a
 * layout is the list of its values, an operation says what its result's values are, and a refusal
 * is wrong where the model finds a layout with these values.
 *     (8,8):(16,2) o 6:3  ->  0 48 96 18 66 114, which are those of (3,2):(48,18)
 * DSL_SEED in the environment gives another run, DSL_ROUNDS its length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "layout/layout.h"

#ifndef ROUNDS
#define ROUNDS 3000
#endif
enum { PER_CTX = 200, LEAVES = 8, MOST = 512, VALUES = 1 << 14 };

/* A layout as the model has it: leaves, leftmost fastest, in up to LEAVES modes. */
typedef struct {
	int n;
	int64_t extent[LEAVES], stride[LEAVES];
	int mode[LEAVES]; /* of the leaf */
} Flat;

typedef struct {
	Ctx *c;
	uint64_t seed;
	Buf text; /* the expression */
	const char *why;
	int accepted;
} Case;

static int below(Case *k, int n)
{
	k->seed = k->seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((k->seed >> 33) % (uint64_t)n);
}

/* ------------------------------------------------------------------ values */
static int64_t flat_size(const Flat *f, int from, int to)
{
	int64_t n = 1;
	for (int i = from; i < to; i++)
		n *= f->extent[i];
	return n;
}

static int64_t flat_at(const Flat *f, int64_t x, bool endless)
{
	int64_t sum = 0;
	for (int i = 0; i < f->n; i++) {
		sum += (endless && i + 1 == f->n ? x : x % f->extent[i]) * f->stride[i];
		x /= f->extent[i];
	}
	return sum;
}

static bool flatten(const Tup *shape, const Tup *stride, int mode, Flat *to)
{
	if (!tup_is_leaf(shape)) {
		for (int i = 0; i < shape->n; i++)
			if (!flatten(shape->at[i], stride->at[i], mode < 0 ? i : mode, to))
				return false;
		return true;
	}
	if (to->n == LEAVES)
		return false;
	to->extent[to->n] = shape->leaf->value;
	to->stride[to->n] = stride->leaf->value;
	to->mode[to->n++] = mode < 0 ? 0 : mode;
	return true;
}

static bool flat_of(const Layout *l, Flat *to)
{
	*to = (Flat){0};
	return flatten(l->shape, l->stride, -1, to);
}

/* ------------------------------------------------------------------ layouts, tilers */
static int64_t random_extent(Case *k)
{
	static const int64_t extents[] = {1, 1, 2, 2, 3, 4, 4, 5, 6, 8};
	return extents[below(k, COUNTOF(extents))];
}

static int64_t random_stride(Case *k, int64_t next)
{
	static const int64_t strides[] = {0, 1, 2, 3, 4, 5, 6, 8, 9, 16};
	return below(k, 2) ? next : strides[below(k, COUNTOF(strides))];
}

/* Flat modes, or with `pairs` some of two leaves. */
static const Layout *random_layout(Case *k, int rank, bool pairs)
{
	const Layout *at[LEAVES];
	int64_t next = 1, size = 1;
	for (int i = 0; i < rank; i++) {
		int n = pairs && !below(k, 3) ? 2 : 1;
		const Layout *leaf[2];
		for (int j = 0; j < n; j++) {
			int64_t s = random_extent(k), d = random_stride(k, next);
			s = size * s > MOST ? 1 : s;
			leaf[j] = layout_new(k->c, tup_int(k->c, s), tup_int(k->c, d));
			next = s * d > 0 ? s * d : next;
			size *= s;
		}
		at[i] = n == 2 ? layout_cat(k->c, leaf, 2) : leaf[0];
	}
	return rank == 1 && below(k, 2) ? at[0] : layout_cat(k->c, at, rank);
}

static Alg of_layout(const Layout *l)
{
	return (Alg){.kind = ALG_LAYOUT, .layout = l};
}

static Alg of_tup(const Tup *t)
{
	return (Alg){.kind = ALG_TUP, .tup = t};
}

static const Layout *apply(Case *k, LayoutOpId op, const Alg *args, int n)
{
	AlgResult r;
	k->text.n = 0;
	buf_printf(&k->text, "%s(", layout_op_rows[op].name);
	for (int i = 0; i < n; i++) {
		buf_printf(&k->text, "%s", i ? ", " : "");
		alg_print(&args[i], &k->text);
	}
	buf_printf(&k->text, ")");
	k->why = NULL;
	bool ok = layout_op_apply(k->c, (int)op, args, n, &r, &k->why);
	k->accepted += ok;
	if (ok)
		assert_int_equal(r.value.kind, ALG_LAYOUT);
	return ok ? r.value.layout : NULL;
}

static void wrong(const Case *k, const Layout *r, const char *what)
{
	fail_msg("%s -> %s: %s", k->text.s, r ? layout_str(k->c, r) : k->why, what);
}

/* ------------------------------------------------------------------ composition */
typedef struct {
	const Flat *a;
	int64_t step;
} Walk; /* i -> a(i step) */

static int64_t walk_at(const Walk *w, int64_t i)
{
	return flat_at(w->a, i * w->step, true);
}

/* Whether i -> a(i step), i < n, is a layout whose first mode has s elements. */
static bool is_layout(const Walk *w, int64_t n);

static bool begins_with(const Walk *w, int64_t n, int64_t s)
{
	for (int64_t i = 0; i < n; i++)
		if (walk_at(w, i) != i % s * walk_at(w, 1) + walk_at(w, i / s * s))
			return false;
	return is_layout(&(Walk){w->a, w->step * s}, n / s);
}

static bool is_layout(const Walk *w, int64_t n)
{
	for (int64_t s = 2; s <= n; s++)
		if (n % s == 0 && begins_with(w, n, s))
			return true;
	return n == 1;
}

/* a after b is a layout of b's leaves, and these add up. */
static bool composes(const Flat *a, const Flat *b)
{
	int64_t size = flat_size(b, 0, b->n);
	for (int i = 0; i < b->n; i++)
		if (!is_layout(&(Walk){a, b->stride[i]}, b->extent[i]))
			return false;
	for (int64_t x = 0; x < size; x++) {
		int64_t rest = x, sum = 0;
		for (int i = 0; i < b->n; rest /= b->extent[i++])
			sum += flat_at(a, rest % b->extent[i] * b->stride[i], true);
		if (sum != flat_at(a, flat_at(b, x, false), true))
			return false;
	}
	return true;
}

static void check_composition(Case *k)
{
	const Layout *a = random_layout(k, 1 + below(k, 3), true);
	const Layout *b = random_layout(k, 1 + below(k, 2), below(k, 2));
	const Layout *r = apply(k, LAYOUT_OP_composition, (Alg[]){of_layout(a), of_layout(b)}, 2);
	Flat fa, fb, fr;
	flat_of(a, &fa);
	flat_of(b, &fb);
	if (!r && composes(&fa, &fb))
		wrong(k, r, "there is a layout");
	if (!r || !flat_of(r, &fr))
		return;
	int64_t size = flat_size(&fb, 0, fb.n);
	if (flat_size(&fr, 0, fr.n) != size)
		wrong(k, r, "its size");
	for (int64_t x = 0; x < size; x++)
		if (flat_at(&fr, x, false) != flat_at(&fa, flat_at(&fb, x, false), true))
			wrong(k, r, "its values");
}

static void check_coalesce(Case *k)
{
	const Layout *l = random_layout(k, 1 + below(k, 4), true);
	const Layout *r = apply(k, LAYOUT_OP_coalesce, (Alg[]){of_layout(l)}, 1);
	Flat f, to;
	flat_of(l, &f);
	if (!r || !flat_of(r, &to))
		wrong(k, r, "refused");
	for (int64_t x = 0; x < flat_size(&f, 0, f.n); x++)
		if (flat_at(&f, x, false) != flat_at(&to, x, false))
			wrong(k, r, "its values");
	for (int i = 0; to.n > 1 && i < to.n; i++)
		if (to.extent[i] == 1 || (i && to.stride[i] == to.extent[i - 1] * to.stride[i - 1]))
			wrong(k, r, "it has a mode too many");
	if (!tup_is_leaf(l->shape) && to.extent[0] == 1 && to.stride[0] != 0)
		wrong(k, r, "1:0 is the one of size 1");
}

/* ------------------------------------------------------------------ casts */
static unsigned char seen[2][VALUES];

/* The values of a layout, those below VALUES. */
static void note_values(const Flat *f, int set, int64_t times, int64_t parts, int64_t per)
{
	memset(seen[set], 0, VALUES);
	for (int64_t x = 0; x < flat_size(f, 0, f->n); x++)
		for (int64_t j = 0; j < parts; j++) {
			int64_t v = (flat_at(f, x, false) * times + j) / per;
			if (v < VALUES)
				seen[set][v] = 1;
		}
}

static bool has_place_for_parts(const Flat *f)
{
	for (int i = 0; i < f->n; i++)
		if (f->extent[i] == 1 || f->stride[i] == 1)
			return true;
	return false;
}

static void check_downcast(Case *k)
{
	const Layout *l = random_layout(k, 1 + below(k, 3), true);
	int64_t n = 2 + below(k, 4);
	bool recast = below(k, 2);
	const Tup *bits = tup_int(k->c, recast ? 8 : n), *old = tup_int(k->c, 8 * n);
	const Layout *r = apply(k, recast ? LAYOUT_OP_recast_layout : LAYOUT_OP_downcast,
				(Alg[]){of_layout(l), of_tup(bits), of_tup(old)}, 2 + recast);
	Flat f, to;
	flat_of(l, &f);
	if (!r != !has_place_for_parts(&f))
		wrong(k, r, "a mode of stride 1 or of size 1 decides");
	if (!r || !flat_of(r, &to))
		return;
	note_values(&f, 0, n, n, 1);
	note_values(&to, 1, 1, 1, 1);
	if (memcmp(seen[0], seen[1], VALUES) != 0 ||
	    flat_size(&to, 0, to.n) != n * flat_size(&f, 0, f.n))
		wrong(k, r, "it does not cover the parts of all elements");
}

/* Its modes one by one: those of size 1 move nothing. */
static bool casts_up(const Flat *f, int64_t n)
{
	for (int i = 0; i < f->n; i++) {
		int64_t d = f->stride[i];
		if (f->extent[i] > 1 && d % n && (n % d || f->extent[i] % (n / d)))
			return false;
	}
	return true;
}

/* The values are looked at where no two elements overlap and all new elements are whole. */
static void check_upcast(Case *k)
{
	const Layout *l = random_layout(k, 1 + below(k, 3), true);
	int64_t n = 2 + below(k, 3);
	const Layout *r =
		apply(k, LAYOUT_OP_upcast, (Alg[]){of_layout(l), of_tup(tup_int(k->c, n))}, 2);
	Flat f, to;
	int64_t all = 0, covered = 0;
	flat_of(l, &f);
	if (!r != !casts_up(&f, n))
		wrong(k, r, "modes of more than one element decide");
	if (!r || !flat_of(r, &to))
		return;
	note_values(&f, 0, 1, 1, 1);
	for (int64_t v = 0; v < VALUES; v++)
		all += seen[0][v];
	note_values(&f, 0, 1, 1, n);
	note_values(&to, 1, 1, 1, 1);
	for (int64_t v = 0; v < VALUES; v++)
		covered += seen[0][v];
	if (all == flat_size(&f, 0, f.n) && all == covered * n &&
	    memcmp(seen[0], seen[1], VALUES) != 0)
		wrong(k, r, "its values");
}

/* ------------------------------------------------------------------ tilers */
/* A mode of l cut into tiles: how many leaves it has, the size of a tile, and that of the rest. */
typedef struct {
	int first, end;
	int64_t tile, rest;
} Cut;

static int64_t mode_at(const Flat *f, const Cut *cut, int64_t x)
{
	int64_t sum = 0;
	for (int i = cut->first; i < cut->end; x /= f->extent[i++])
		sum += x % f->extent[i] * f->stride[i];
	return sum;
}

/* `_` keeps a mode: one tile, or of a pair the tile is the first. */
static const Tup *random_tiler(Case *k, const Flat *f, Cut *cuts, int rank)
{
	const Tup *at[LEAVES];
	for (int m = 0; m < rank; m++) {
		Cut *cut = &cuts[m];
		cut->first = m ? cuts[m - 1].end : 0;
		for (cut->end = cut->first; cut->end < f->n && f->mode[cut->end] == m;)
			cut->end++;
		int64_t size = flat_size(f, cut->first, cut->end), tile = size;
		at[m] = tup_any(k->c);
		if (below(k, 2)) {
			for (tile = 1 + below(k, (int)size); size % tile;)
				tile++;
			at[m] = tup_int(k->c, tile);
		} else if (cut->end - cut->first == 2)
			tile = f->extent[cut->first];
		cut->tile = tile;
		cut->rest = size / tile;
	}
	return tup_new(k->c, at, rank);
}

/* All tiles' coordinates, then all rests', leftmost fastest. */
static int64_t tiled_at(const Flat *f, const Cut *cuts, int rank, int64_t x)
{
	int64_t in_tile[LEAVES], sum = 0;
	for (int m = 0; m < rank; x /= cuts[m++].tile)
		in_tile[m] = x % cuts[m].tile;
	for (int m = 0; m < rank; x /= cuts[m++].rest)
		sum += mode_at(f, &cuts[m], in_tile[m] + x % cuts[m].rest * cuts[m].tile);
	return sum;
}

static void check_divide(Case *k)
{
	static const LayoutOpId ops[] = {LAYOUT_OP_zipped_divide, LAYOUT_OP_tiled_divide,
					 LAYOUT_OP_flat_divide};
	static const int extra[] = {0, 1, 1}; /* rank of the result: 2, 1 + rank, 2 rank */
	Cut cuts[LEAVES];
	int rank = 2 + below(k, 2), form = below(k, COUNTOF(ops));
	const Layout *l = random_layout(k, rank, true);
	Flat f, to;
	flat_of(l, &f);
	const Tup *tiler = random_tiler(k, &f, cuts, rank);
	const Layout *r = apply(k, ops[form], (Alg[]){of_layout(l), of_tup(tiler)}, 2);
	if (!r && f.n == rank)
		wrong(k, r, "each mode has one leaf, which the tile divides");
	if (!r || !flat_of(r, &to))
		return;
	if (layout_rank(r) != (form == 2 ? 2 * rank : 2 + extra[form] * (rank - 1)) && f.n == rank)
		wrong(k, r, "its rank");
	for (int64_t x = 0; x < flat_size(&f, 0, f.n); x++)
		if (flat_at(&to, x, false) != tiled_at(&f, cuts, rank, x))
			wrong(k, r, "its values");
}

static void check_local_tile(Case *k)
{
	Cut cuts[LEAVES];
	const Layout *l = random_layout(k, 2, true);
	Flat f, to;
	flat_of(l, &f);
	const Tup *tiler = random_tiler(k, &f, cuts, 2);
	int64_t at[2] = {below(k, (int)cuts[0].rest), below(k, (int)cuts[1].rest)};
	const Tup *place =
		tup_new(k->c, (const Tup *[]){tup_int(k->c, at[0]), tup_int(k->c, at[1])}, 2);
	const Layout *r = apply(k, LAYOUT_OP_local_tile,
				(Alg[]){of_layout(l), of_tup(tiler), of_tup(place)}, 3);
	if (!r && f.n == 2)
		wrong(k, r, "each mode has one leaf, which the tile divides");
	if (!r || !flat_of(r, &to))
		return;
	int64_t tile = cuts[0].tile * cuts[1].tile, first = at[0] + at[1] * cuts[0].rest;
	for (int64_t x = 0; x < tile; x++)
		if (flat_at(&to, x, false) + r->offset->value !=
		    tiled_at(&f, cuts, 2, x + tile * first))
			wrong(k, r, "its values");
}

/* ------------------------------------------------------------------ products */
/* The offsets of copies of a leaf, each the least that no copy before it has. */
static int64_t copy_at(const Flat *f, int leaf, int64_t copy)
{
	static unsigned char taken[VALUES];
	int64_t offset = 0;
	memset(taken, 0, VALUES);
	for (int64_t i = 0;; i++) {
		for (int64_t x = 0; x < f->extent[leaf]; x++)
			taken[offset + x * f->stride[leaf]] = 1;
		if (i == copy)
			return offset;
		while (taken[offset])
			offset++;
	}
}

/* Modes of one leaf that moves, each repeated a few times, or kept by `_`. */
static void check_product(Case *k)
{
	static const LayoutOpId ops[] = {LAYOUT_OP_zipped_product, LAYOUT_OP_tiled_product,
					 LAYOUT_OP_flat_product};
	const Layout *l = random_layout(k, 2, false);
	Flat f, to;
	flat_of(l, &f);
	int64_t times[2];
	const Tup *at[2];
	for (int m = 0; m < 2; m++) {
		bool keeps = below(k, 2);
		times[m] = keeps ? 1 : 1 + below(k, 6);
		at[m] = keeps ? tup_any(k->c) : tup_int(k->c, times[m]);
		if (f.extent[m] < 2 || f.stride[m] < 1)
			return;
	}
	const Layout *r = apply(k, ops[below(k, COUNTOF(ops))],
				(Alg[]){of_layout(l), of_tup(tup_new(k->c, at, 2))}, 2);
	if (!r || !flat_of(r, &to))
		return;
	int64_t block = f.extent[0] * f.extent[1];
	for (int64_t x = 0; x < block * times[0] * times[1]; x++) {
		int64_t copy = x / block;
		int64_t want = flat_at(&f, x % block, false) + copy_at(&f, 0, copy % times[0]) +
			       copy_at(&f, 1, copy / times[0]);
		if (flat_at(&to, x, false) != want)
			wrong(k, r, "its values");
	}
}

/* ------------------------------------------------------------------ all */
static const struct {
	void (*check)(Case *k);
	int least; /* of a hundred, how many are accepted at least */
} checks[] = {{check_composition, 30}, {check_coalesce, 100}, {check_downcast, 30},
	      {check_upcast, 10},      {check_divide, 50},    {check_local_tile, 50},
	      {check_product, 20}};

static int64_t from_environment(const char *name, int64_t otherwise)
{
	const char *s = getenv(name);
	return s ? strtoll(s, NULL, 0) : otherwise;
}

static void test_points(void **state)
{
	(void)state;
	int64_t rounds = from_environment("DSL_ROUNDS", ROUNDS);
	Case k = {.seed = (uint64_t)from_environment("DSL_SEED", 20271)};
	for (size_t i = 0; i < COUNTOF(checks); i++) {
		k.accepted = 0;
		for (int64_t n = 0; n < rounds; n++) {
			if (n % PER_CTX == 0)
				k.c = ctx_new();
			checks[i].check(&k);
			if (n % PER_CTX == PER_CTX - 1 || n + 1 == rounds)
				ctx_free(k.c);
		}
		if (k.accepted * 100 < checks[i].least * rounds)
			fail_msg("check %zu: %d of %lld were accepted", i, k.accepted,
				 (long long)rounds);
	}
	buf_free(&k.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_points)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
