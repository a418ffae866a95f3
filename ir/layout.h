/* layout.h - CuTe's layouts: hierarchical shape:stride, optionally behind a swizzle and an offset,
 *     inner o offset o outer  =  x -> swizzle(offset + outer(x)).
 * Leaves are index expressions, so extents and strides may be symbolic. Interned: equality is ==.
 * Offsets and strides are in elements of whatever type the layout is used with. */
#ifndef DSL_LAYOUT_H
#define DSL_LAYOUT_H

#include "ix.h"

/* An integer tuple: a leaf (n < 0, leaf set) or n >= 0 children. `4`, `(4,(2,K))`. Interned. */
typedef struct Tup Tup;
struct Tup {
	int n;
	const Ix *leaf;
	const Tup *const *at;
	uint32_t id;
};

/* Sw<B,M,S>: x ^ ((x & (((1 << B) - 1) << (M + S))) >> S), S >= 0. B = 0 is no swizzle. */
typedef struct {
	int b, m, s;
} Swizzle;

typedef struct Layout Layout;
struct Layout {
	const Tup *shape, *stride; /* congruent */
	Swizzle swizzle;
	const Ix *offset; /* 0 unless composed */
	uint32_t id;
};

const Tup *tup_leaf(Ctx *c, const Ix *x);
const Tup *tup_int(Ctx *c, int64_t v);
const Tup *tup_new(Ctx *c, const Tup *const *at, int n);
bool tup_is_leaf(const Tup *t);
int tup_rank(const Tup *t); /* a leaf has rank 1 */
const Tup *tup_get(const Tup *t, int i);
bool tup_congruent(const Tup *a, const Tup *b);
const Ix *tup_product(Ctx *c, const Tup *t);
bool tup_is_static(const Tup *t);
void tup_print(const Tup *t, Buf *out);
const Tup *tup_parse(Ctx *c, const char **s, const char **why);

const Layout *layout_new(Ctx *c, const Tup *shape, const Tup *stride); /* panics unless congruent */
const Layout *layout_left(Ctx *c, const Tup *shape);  /* compact, leftmost fastest */
const Layout *layout_right(Ctx *c, const Tup *shape); /* compact, rightmost fastest */
const Layout *layout_2d(Ctx *c, int64_t m, int64_t n, int64_t dm, int64_t dn);
const Layout *layout_swizzled(Ctx *c, Swizzle sw, const Ix *offset, const Layout *outer);
const Layout *layout_mode(Ctx *c, const Layout *l, int i);           /* mode i, no swizzle */
const Layout *layout_cat(Ctx *c, const Layout *const *modes, int n); /* (m0, m1, ...) */
int layout_rank(const Layout *l);
bool layout_is_static(const Layout *l);
const Ix *layout_size(Ctx *c, const Layout *l);
const Ix *layout_cosize(Ctx *c, const Layout *l);
/* These two panic unless the layout is static and the number fits; where a user chose the extents,
 * ask ix_is_const(layout_size(c, l), &n) instead, which says no to both. */
int64_t layout_size_int(const Layout *l);
int64_t layout_cosize_int(const Layout *l);

/* layout_algebra.c. On a violated condition they return NULL and set *why to a sentence (in the
 * ctx's arena) that names the operation, the operands, the mode and the condition. */
const Layout *layout_coalesce(Ctx *c, const Layout *l);
const Layout *layout_composition(Ctx *c, const Layout *a, const Layout *b, const char **why);
const Layout *layout_complement(Ctx *c, const Layout *a, const Ix *cotarget, const char **why);
const Layout *layout_logical_divide(Ctx *c, const Layout *a, const Layout *b, const char **why);
const Layout *layout_logical_product(Ctx *c, const Layout *a, const Layout *b, const char **why);
const Layout *layout_blocked_product(Ctx *c, const Layout *a, const Layout *b, const char **why);
/* Repeats the atom until it covers shape, tiles in column-major order: CuTe's tile_to_shape. */
const Layout *layout_tile_to_shape(Ctx *c, const Layout *atom, const Tup *shape, const char **why);
const Layout *layout_right_inverse(Ctx *c, const Layout *l, const char **why);

/* Offset of a coordinate: linear index (leftmost fastest), or one index per top-level mode. */
const Ix *layout_at(Ctx *c, const Layout *l, const Ix *linear);
const Ix *layout_at_coord(Ctx *c, const Layout *l, const Ix *const *coord, int n);
int64_t layout_at_int(const Layout *l, int64_t linear); /* static; swizzle and offset applied */
int64_t swizzle_apply(Swizzle sw, int64_t x);

void layout_print(const Layout *l, Buf *out);
const char *layout_str(Ctx *c, const Layout *l); /* in the ctx's arena */
const Layout *layout_parse(Ctx *c, const char **s, const char **why);

#endif
