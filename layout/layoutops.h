/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layoutops.h - private to layout_ops*.c: how a row of layout_ops.def is written. */
#ifndef DSL_LAYOUTOPS_H
#define DSL_LAYOUTOPS_H

#include "layout/layoutp.h"

/* One application. The function sets *out and gives true, or sets why and gives false. */
typedef struct {
	Ctx *c;
	const char *name;
	const Alg *arg;
	int n;
	Alg *out;
	Alg *list; /* room for a result that is a list */
	const char *why;
} Call;

/* Arguments; NULL or false after a reason is set. */
const Layout *arg_layout(Call *k, int i);
const Tup *arg_tup(Call *k, int i);
const Tup *arg_shape(Call *k, int i); /* of a layout, its shape */
bool arg_int(Call *k, int i, int64_t lo, int64_t hi, int64_t *out);
bool is_layout(const Call *k, int i);

bool give_layout(Call *k, const Layout *l); /* NULL: false, why is set already */
bool give_tup(Call *k, const Tup *t);       /* NULL: "the forms differ" unless why is set */
bool give_ix(Call *k, const Ix *x);
bool give_list(Call *k, const Alg *at, int n); /* at most 8 */
bool give_pair(Call *k, Alg a, Alg b);
bool is_list(const Call *k, int i);
bool call_refuse(Call *k, const char *fmt, ...) PRINTF(2, 3);

/* A function of one or two arguments, each a layout, a tup or a shape, that gives this. */
typedef const Layout *Arg_layout;
typedef const Tup *Arg_tup, *Arg_shape;
#define ALG_ONE(name, kind, x, give)             \
	bool alg_##name(Call *k)                 \
	{                                        \
		Arg_##kind x = arg_##kind(k, 0); \
		return x && (give);              \
	}
#define ALG_TWO(name, kind_a, a, kind_b, b, give)               \
	bool alg_##name(Call *k)                                \
	{                                                       \
		Arg_##kind_a a = arg_##kind_a(k, 0);            \
		Arg_##kind_b b = a ? arg_##kind_b(k, 1) : NULL; \
		return b && (give);                             \
	}

#define LAYOUT_OP(name, ...) bool alg_##name(Call *k);
#include "layout/layout_ops.def"

#endif
