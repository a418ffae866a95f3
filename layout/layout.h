/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout.h - CuTe's layouts: hierarchical shape:stride, optionally after a swizzle and an offset,
 *     inner o swizzle o offset o outer  =  x -> inner(swizzle(offset + outer(x))).
 * Leaves are index expressions, so extents and strides may be symbolic. Interned: equality is ==.
 * Offsets and strides are in elements of whatever type the layout is used with. */
#ifndef DSL_LAYOUT_H
#define DSL_LAYOUT_H

#include "ix.h"

/* An integer tuple: a leaf (n < 0, leaf set) or n >= 0 children. `4`, `(4,(2,K))`. Interned.
 * A leaf may be scaled by a basis element, `2@0@1`: 2 at place 0 of place 1 of a coordinate. The
 * lowest byte of `basis` is the first number after @, plus 1; 0 is no basis. */
typedef struct Tup Tup;
struct Tup {
	int n;
	const Ix *leaf;
	const Tup *const *at;
	uint64_t basis;
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
	const Ix *offset;    /* 0 unless composed */
	const Tup *origin;   /* in its place, where outer gives coordinates; else NULL */
	const Layout *inner; /* applied last; else NULL */
	uint32_t id;
};

const Tup *tup_leaf(Ctx *c, const Ix *x);
const Tup *tup_int(Ctx *c, int64_t v);
const Tup *tup_basis(Ctx *c, const Ix *x, uint64_t basis); /* 0@k is 0 */
bool basis_add(uint64_t *basis, int index);                /* one more @index; false: no room */
bool tup_has_basis(const Tup *t);
const Tup *tup_any(Ctx *c); /* `_`: all of a mode */
bool tup_is_any(const Tup *t);
const Tup *tup_new(Ctx *c, const Tup *const *at, int n);
bool tup_is_leaf(const Tup *t);
int tup_rank(const Tup *t);     /* a leaf has rank 1 */
bool tup_is_flat(const Tup *t); /* one level of modes */
const Tup *tup_get(const Tup *t, int i);
bool tup_congruent(const Tup *a, const Tup *b);
const Ix *tup_product(Ctx *c, const Tup *t);
bool tup_is_static(const Tup *t);
bool tup_is_positive(const Tup *t); /* no number in it is known to be below 1 */
void tup_print(const Tup *t, Buf *out);
const Tup *tup_parse(Ctx *c, const char **s, const char **why);

/* tup_algebra.c. Those that give NULL do so where the forms of their operands differ (shape_div:
 * or where no division is exact). A coordinate beyond its shape continues in the last mode. */
const Tup *tup_add(Ctx *c, const Tup *a, const Tup *b);
const Tup *tup_sub(Ctx *c, const Tup *a, const Tup *b);
const Tup *tup_flatten(Ctx *c, const Tup *t);
int tup_depth(const Tup *t); /* 0 for a leaf */
const Tup *tup_product_each(Ctx *c, const Tup *t);
const Tup *tup_slice(Ctx *c, const Tup *t, const Tup *coord); /* the places where coord is _ */
const Tup *tup_dice(Ctx *c, const Tup *t, const Tup *coord);  /* the others */
const Tup *tup_ceil_div(Ctx *c, const Tup *a, const Tup *b);
const Tup *tup_shape_div(Ctx *c, const Tup *a, const Tup *b);
const Tup *tup_idx2crd(Ctx *c, const Ix *x, const Tup *shape);
const Tup *tup_crd2crd(Ctx *c, const Tup *at, const Tup *shape);
const Tup *tup_increment(Ctx *c, const Tup *at, const Tup *shape);
const Ix *tup_elem_less(Ctx *c, const Tup *a, const Tup *b);
bool tup_weakly_congruent(const Tup *a, const Tup *b);
bool tup_compatible(Ctx *c, const Tup *a, const Tup *b); /* surely */
/* NULL where f gives NULL for a leaf */
const Tup *tup_map(Ctx *c, const Tup *t, const Ix *(*f)(Ctx *c, void *user, const Ix *x),
		   void *user);

const Layout *layout_new(Ctx *c, const Tup *shape, const Tup *stride); /* panics unless congruent */
const Layout *layout_left(Ctx *c, const Tup *shape);  /* compact, leftmost fastest */
const Layout *layout_right(Ctx *c, const Tup *shape); /* compact, rightmost fastest */
const Layout *layout_2d(Ctx *c, int64_t m, int64_t n, int64_t dm, int64_t dn);
const Layout *layout_ordered(Ctx *c, const Tup *shape, const Tup *order, const char **why);
const Layout *layout_like(Ctx *c, const Layout *l, const char **why);
const Layout *layout_identity(Ctx *c, const Tup *shape);
const Layout *layout_swizzled(Ctx *c, Swizzle sw, const Ix *offset, const Layout *outer);
const Layout *layout_composed(Ctx *c, const Layout *inner, const Tup *offset, const Layout *outer);
bool layout_is_plain(const Layout *l);                     /* no swizzle, offset or inner layout */
const Layout *layout_mode(Ctx *c, const Layout *l, int i); /* mode i, no swizzle */
const Layout *layout_cat(Ctx *c, const Layout *const *modes, int n); /* (m0, m1, ...) */
int layout_rank(const Layout *l);
bool layout_gives_numbers(const Layout *l); /* not coordinates: no basis in strides or offset */
bool layout_is_static(const Layout *l);     /* all offsets are numbers known now */
const Ix *layout_size(Ctx *c, const Layout *l);
const Ix *layout_cosize(Ctx *c, const Layout *l);
/* These two panic unless the layout is static and the number fits; where a user chose the extents,
 * ask ix_is_const(layout_size(c, l), &n) instead, which says no to both. */
int64_t layout_size_int(const Layout *l);
int64_t layout_cosize_int(const Layout *l);

/* What the algebra may take as known of names until the next call, which gives it back; the caller
 * keeps the rows. Extents and strides that are names are positive in any case. */
IxFacts layout_assume(Ctx *c, IxFacts facts);

/* The algebra. On a violated condition operations return NULL and set *why to a sentence (interned
 * in the ctx) that names the operation, the operands, the mode and the condition. What stands in
 * front of the left operand (swizzle, offset, inner layout) is carried through. */
const Layout *layout_coalesce(Ctx *c, const Layout *l);
const Layout *layout_coalesce_by(Ctx *c, const Layout *l, const Tup *profile, const char **why);
const Layout *layout_filter_zeros(Ctx *c, const Layout *l);
const Layout *layout_flat(Ctx *c, const Layout *l);
const Layout *layout_complement(Ctx *c, const Layout *a, const Ix *cotarget, const char **why);
/* The gaps alone, with a tail of extent 1; strides may carry a basis. */
const Layout *layout_gaps(Ctx *c, const Layout *a, const char **why);
const Layout *layout_composition(Ctx *c, const Layout *a, const Layout *b, const char **why);
const Layout *layout_logical_divide(Ctx *c, const Layout *a, const Layout *b, const char **why);
const Layout *layout_logical_product(Ctx *c, const Layout *a, const Layout *b, const char **why);
const Layout *layout_blocked_product(Ctx *c, const Layout *a, const Layout *b, const char **why);
const Layout *layout_raked_product(Ctx *c, const Layout *a, const Layout *b, const char **why);
/* Repeats the atom until it covers shape; order of the tiles as in layout_ordered, NULL:
 * column-major. */
const Layout *layout_tile_to_shape(Ctx *c, const Layout *atom, const Tup *shape, const Tup *order,
				   const char **why);
const Layout *layout_right_inverse(Ctx *c, const Layout *l, const char **why);
const Layout *layout_left_inverse(Ctx *c, const Layout *l,
				  const char **why);                       /* L(R(L(i))) = L(i) */
const Layout *layout_nullspace(Ctx *c, const Layout *l, const char **why); /* L(N(i)) = 0 */
/* N such that A(N(i)) is B's i-th place: the longest run that both keep contiguous. */
const Layout *layout_max_common(Ctx *c, const Layout *a, const Layout *b, const char **why);
const Layout *layout_upcast(Ctx *c, const Layout *l, int64_t n, const char **why);
const Layout *layout_downcast(Ctx *c, const Layout *l, int64_t n, const char **why);

/* A tiler: a layout, or one per mode, or `_` (n < 0 and no layout), which leaves a mode alone. */
typedef struct Tiler Tiler;
struct Tiler {
	int n; /* < 0: a leaf */
	const Layout *layout;
	const Tiler *const *at;
};
const Layout *layout_composition_by(Ctx *c, const Layout *a, const Tiler *t, const char **why);
/* ((TM,RM),(TN,RN),L..) for divide; product: the same with what is repeated */
const Layout *layout_divide_by(Ctx *c, const Layout *a, const Tiler *t, const char **why);
const Layout *layout_product_by(Ctx *c, const Layout *a, const Tiler *t, const char **why);
typedef enum { FORM_LOGICAL, FORM_ZIPPED, FORM_TILED, FORM_FLAT } TileForm;
/* zipped ((TM,TN),(RM,RN,L..)), tiled ((TM,TN),RM,RN,L..), flat (TM,TN,RM,RN,L..) of a logical
 * result */
const Layout *layout_reform(Ctx *c, const Layout *l, const Tiler *t, TileForm form);

/* The operations by name: rows of layout_ops.def. What they take and give: */
typedef enum { ALG_TUP, ALG_LAYOUT, ALG_LIST } AlgKind;
typedef struct Alg Alg;
struct Alg {
	AlgKind kind;
	const Tup *tup;       /* an integer is a leaf, `_` is tup_any */
	const Layout *layout; /* a swizzle alone: in front of 1:0 */
	const Alg *at;        /* a tuple with layouts in it */
	int n;
};
typedef struct {
	const char *name;
	int lo, hi; /* arguments */
	const char *args, *doc;
} LayoutOpRow;
typedef enum {
#define LAYOUT_OP(name, ...) LAYOUT_OP_##name,
#include "layout/layout_ops.def"
	LAYOUT_OP_COUNT
} LayoutOpId;
extern const LayoutOpRow layout_op_rows[LAYOUT_OP_COUNT];
typedef struct {
	Alg value, list[8]; /* value.at is list where the result is one */
} AlgResult;
int layout_op_find(const char *name); /* -1: none */
/* n within the row's bounds. False: *why says what does not hold. */
bool layout_op_apply(Ctx *c, int op, const Alg *args, int n, AlgResult *out, const char **why);
void alg_print(const Alg *v, Buf *out);

/* Offset of a linear index, leftmost mode fastest. These panic where strides carry a basis. */
const Ix *layout_at(Ctx *c, const Layout *l, const Ix *linear);
int64_t layout_at_int(const Layout *l, int64_t linear); /* static; swizzle and offset applied */
/* Of a linear index for each mode of the rank; static; before the swizzle, without offset. */
int64_t layout_plain_at(const Layout *l, const int64_t *at);
/* Any coordinate, any layout: a number or coordinates; NULL where the forms differ. */
const Tup *layout_eval(Ctx *c, const Layout *l, const Tup *at);
int64_t swizzle_apply(Swizzle sw, int64_t x);

void layout_print(const Layout *l, Buf *out);
/* In the ctx's arena. */
const char *layout_str(Ctx *c, const Layout *l);
const char *tup_text(Ctx *c, const Tup *t);
const char *ix_text(Ctx *c, const Ix *x);
const char *ix_postfix_text(Ctx *c, const Ix *x);
const Layout *layout_parse(Ctx *c, const char **s, const char **why);

#endif
