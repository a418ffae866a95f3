/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_ops.c - the operations by name: the table, arguments and results, and the rows that are a
 * function of layout.h.
 *     layout_op_apply(coalesce, {(2,4):(1,2)})  ->  8:1
 * Adding an operation is a row of layout_ops.def, a function alg_NAME and a test. */
#include "layout/layoutops.h"

#include <inttypes.h>
#include <string.h>

const LayoutOpRow layout_op_rows[LAYOUT_OP_COUNT] = {
#define LAYOUT_OP(name, lo, hi, args, doc) [LAYOUT_OP_##name] = {#name, lo, hi, args, doc},
#include "layout/layout_ops.def"
};

static bool (*const functions[LAYOUT_OP_COUNT])(Call *k) = {
#define LAYOUT_OP(name, ...) [LAYOUT_OP_##name] = alg_##name,
#include "layout/layout_ops.def"
};

int layout_op_find(const char *name)
{
	for (int i = 0; i < LAYOUT_OP_COUNT; i++)
		if (!strcmp(layout_op_rows[i].name, name))
			return i;
	return -1;
}

static const Ix *leaf_plain(Ctx *c, void *user, const Ix *x)
{
	(void)user;
	return ix_plain(c, x);
}

/* With what is known of names. */
static const Layout *layout_plain(Ctx *c, const Layout *l)
{
	if (tup_is_static(l->shape) && tup_is_static(l->stride))
		return l;
	const Tup *shape = tup_map(c, l->shape, leaf_plain, NULL);
	const Tup *stride = tup_map(c, l->stride, leaf_plain, NULL);
	return layout_wrap(c, l, layout_new(c, shape, stride));
}

bool layout_op_apply(Ctx *c, int op, const Alg *args, int n, AlgResult *out, const char **why)
{
	Call k = {.c = c,
		  .name = layout_op_rows[op].name,
		  .arg = args,
		  .n = n,
		  .out = &out->value,
		  .list = out->list};
	ArenaMark mark = arena_mark(ctx_tmp(c));
	bool ok = functions[op](&k);
	if (ok && out->value.kind == ALG_LAYOUT)
		out->value.layout = layout_plain(c, out->value.layout);
	arena_release(ctx_tmp(c), mark);
	if (!ok && why)
		*why = k.why ? k.why : ctx_strf(c, "%s: these operands do not fit", k.name);
	return ok;
}

void alg_print(const Alg *v, Buf *out)
{
	if (v->kind == ALG_TUP)
		tup_print(v->tup, out);
	if (v->kind == ALG_LAYOUT)
		layout_print(v->layout, out);
	if (v->kind != ALG_LIST)
		return;
	for (int i = 0; i < v->n; i++) {
		buf_printf(out, "%s", i ? ", " : "(");
		alg_print(&v->at[i], out);
	}
	buf_printf(out, ")");
}

/* ------------------------------------------------------------------ arguments */
bool call_refuse(Call *k, const char *fmt, ...)
{
	Buf b = {0};
	va_list ap;
	buf_printf(&b, "%s: ", k->name);
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	k->why = ctx_buf(k->c, &b);
	return false;
}

bool is_layout(const Call *k, int i)
{
	return i < k->n && k->arg[i].kind == ALG_LAYOUT;
}

bool is_list(const Call *k, int i)
{
	return i < k->n && k->arg[i].kind == ALG_LIST;
}

static bool has_any(const Tup *t)
{
	if (tup_is_leaf(t))
		return tup_is_any(t);
	for (int i = 0; i < t->n; i++)
		if (has_any(t->at[i]))
			return true;
	return false;
}

const Layout *arg_layout(Call *k, int i)
{
	const Alg *a = &k->arg[i];
	const Layout *l = a->layout;
	if (a->kind == ALG_LIST || (a->kind == ALG_TUP && has_any(a->tup)))
		return call_refuse(k, "argument %d is not a layout", i + 1), NULL;
	if (a->kind == ALG_TUP)
		l = layout_left(k->c, a->tup);
	return layout_usable(k->c, k->name, l, &k->why) ? l : NULL;
}

const Tup *arg_tup(Call *k, int i)
{
	if (k->arg[i].kind == ALG_TUP)
		return k->arg[i].tup;
	return call_refuse(k, "argument %d is not a tuple of integers", i + 1), NULL;
}

const Tup *arg_shape(Call *k, int i)
{
	return is_layout(k, i) ? k->arg[i].layout->shape : arg_tup(k, i);
}

bool arg_int(Call *k, int i, int64_t lo, int64_t hi, int64_t *out)
{
	const Alg *a = &k->arg[i];
	if (a->kind != ALG_TUP || !tup_is_leaf(a->tup) || !ix_is_const(a->tup->leaf, out))
		return call_refuse(k, "argument %d is not a number", i + 1);
	if (*out >= lo && *out <= hi)
		return true;
	return call_refuse(k, "argument %d is %" PRId64 ", not in %" PRId64 "..%" PRId64, i + 1,
			   *out, lo, hi);
}

static const Tiler *tile_of_tup(Call *k, const Tup *t)
{
	Tiler *r = NEW(ctx_tmp(k->c), Tiler);
	r->n = t->n;
	if (tup_is_leaf(t)) {
		r->layout = tup_is_any(t) ? NULL : layout_left(k->c, t);
		return r;
	}
	const Tiler **at = NEWN(ctx_tmp(k->c), const Tiler *, t->n + 1);
	for (int i = 0; i < t->n; i++)
		at[i] = tile_of_tup(k, t->at[i]);
	r->at = at;
	return r;
}

static const Tiler *tile_of(Call *k, const Alg *a)
{
	if (a->kind == ALG_TUP)
		return tile_of_tup(k, a->tup);
	Tiler *r = NEW(ctx_tmp(k->c), Tiler);
	*r = (Tiler){-1, a->layout, NULL};
	if (a->kind == ALG_LAYOUT)
		return r;
	const Tiler **at = NEWN(ctx_tmp(k->c), const Tiler *, a->n + 1);
	for (int i = 0; i < a->n; i++)
		at[i] = tile_of(k, &a->at[i]);
	*r = (Tiler){a->n, NULL, at};
	return r;
}

/* ------------------------------------------------------------------ results */
bool give_layout(Call *k, const Layout *l)
{
	*k->out = (Alg){.kind = ALG_LAYOUT, .layout = l};
	return l != NULL;
}

bool give_tup(Call *k, const Tup *t)
{
	*k->out = (Alg){.kind = ALG_TUP, .tup = t};
	return t || k->why || call_refuse(k, "the forms of the operands differ") ? t != NULL
										 : false;
}

static void note_name(void *user, const char *name)
{
	(void)name;
	*(bool *)user = true;
}

/* Numbers alone that are no number yet were too large to be folded. */
bool give_ix(Call *k, const Ix *x)
{
	bool named = false;
	x = x ? ix_plain(k->c, x) : NULL;
	if (x)
		ix_names(x, note_name, &named);
	if (x && !named && !ix_is_const(x, NULL))
		return call_refuse(k, "the result does not fit 64 bits");
	return give_tup(k, x ? tup_leaf(k->c, x) : NULL);
}

bool give_list(Call *k, const Alg *at, int n)
{
	bool tups = true;
	for (int i = 0; i < n; i++)
		tups &= at[i].kind == ALG_TUP;
	if (n > 8 || tups)
		return call_refuse(k, "the result is not a list of 1 to 8 layouts");
	for (int i = 0; i < n; i++)
		k->list[i] = at[i];
	*k->out = (Alg){.kind = ALG_LIST, .at = k->list, .n = n};
	return true;
}

bool give_pair(Call *k, Alg a, Alg b)
{
	return give_list(k, (Alg[]){a, b}, 2);
}

/* ------------------------------------------------------------------ layouts alone */
ALG_ONE(filter_zeros, layout, l, give_layout(k, layout_filter_zeros(k->c, l)))
ALG_ONE(filter, layout, l, give_layout(k, layout_coalesce(k->c, layout_filter_zeros(k->c, l))))
ALG_ONE(make_layout_like, layout, l, give_layout(k, layout_like(k->c, l, &k->why)))
ALG_ONE(right_inverse, layout, l, give_layout(k, layout_right_inverse(k->c, l, &k->why)))
ALG_ONE(left_inverse, layout, l, give_layout(k, layout_left_inverse(k->c, l, &k->why)))
ALG_ONE(nullspace, layout, l, give_layout(k, layout_nullspace(k->c, l, &k->why)))
ALG_TWO(blocked_product, layout, a, layout, b,
	give_layout(k, layout_blocked_product(k->c, a, b, &k->why)))
ALG_TWO(raked_product, layout, a, layout, b,
	give_layout(k, layout_raked_product(k->c, a, b, &k->why)))
ALG_TWO(max_common_layout, layout, a, layout, b,
	give_layout(k, layout_max_common(k->c, a, b, &k->why)))

bool alg_coalesce(Call *k)
{
	const Layout *l = arg_layout(k, 0);
	const Tup *profile = l && k->n == 2 ? arg_tup(k, 1) : NULL;
	if (!l || k->n == 1)
		return l && give_layout(k, layout_coalesce(k->c, l));
	return profile && give_layout(k, layout_coalesce_by(k->c, l, profile, &k->why));
}

bool alg_complement(Call *k)
{
	const Layout *l = arg_layout(k, 0);
	if (!l || k->n == 1)
		return l && give_layout(k, layout_gaps(k->c, l, &k->why));
	const Tup *in = arg_shape(k, 1);
	return in && give_layout(k, layout_complement_in(k->c, l, in, &k->why));
}

bool alg_max_common_vector(Call *k)
{
	return alg_max_common_layout(k) && give_ix(k, layout_size(k->c, k->out->layout));
}

/* ------------------------------------------------------------------ by a tiler */
typedef const Layout *(*ByTile)(Ctx *c, const Layout *a, const Tiler *t, const char **why);

static bool by_tile(Call *k, ByTile f, TileForm form)
{
	const Layout *l = arg_layout(k, 0);
	const Tiler *t = tile_of(k, &k->arg[1]);
	const Layout *r = l ? f(k->c, l, t, &k->why) : NULL;
	return r && give_layout(k, layout_reform(k->c, r, t, form));
}

#define BY_TILE(name, f, form)              \
	bool alg_##name(Call *k)            \
	{                                   \
		return by_tile(k, f, form); \
	}
BY_TILE(composition, layout_composition_by, FORM_LOGICAL)
BY_TILE(logical_divide, layout_divide_by, FORM_LOGICAL)
BY_TILE(zipped_divide, layout_divide_by, FORM_ZIPPED)
BY_TILE(tiled_divide, layout_divide_by, FORM_TILED)
BY_TILE(flat_divide, layout_divide_by, FORM_FLAT)
BY_TILE(logical_product, layout_product_by, FORM_LOGICAL)
BY_TILE(zipped_product, layout_product_by, FORM_ZIPPED)
BY_TILE(tiled_product, layout_product_by, FORM_TILED)
BY_TILE(flat_product, layout_product_by, FORM_FLAT)

ALG_TWO(with_shape, layout, l, shape, shape,
	give_layout(k, layout_composition(k->c, l, layout_left(k->c, shape), &k->why)))

bool alg_tile_to_shape(Call *k)
{
	const Layout *l = arg_layout(k, 0);
	const Tup *shape = l ? arg_shape(k, 1) : NULL, *order = NULL;
	if (!shape || !layout_usable(k->c, k->name, layout_left(k->c, shape), &k->why))
		return false;
	if (k->n == 3 && !(order = arg_tup(k, 2)))
		return false;
	return give_layout(k, layout_tile_to_shape(k->c, l, shape, order, &k->why));
}

/* ------------------------------------------------------------------ parts of a tensor */
/* The tiler and coordinate of a projection: only the places where proj is not `_`. */
static bool project(Call *k, int at, Alg *tiler, Alg *room, const Tup **coord)
{
	const Tup *proj = k->n > at ? arg_tup(k, at) : NULL;
	int n = 0;
	if (k->n <= at)
		return true;
	if (!proj || tup_is_leaf(proj) || proj->n > 8)
		return call_refuse(k, "the projection is not a tuple");
	int rank = tiler->kind == ALG_LIST ? tiler->n : tiler->tup ? tup_rank(tiler->tup) : 0;
	if (rank != proj->n || (*coord && (*coord)->n != proj->n))
		return call_refuse(k, "the projection has another rank than tiler or coordinate");
	for (int i = 0; i < proj->n; i++) {
		if (tup_is_any(proj->at[i]))
			continue;
		room[n++] = tiler->kind == ALG_LIST
				    ? tiler->at[i]
				    : (Alg){.kind = ALG_TUP, .tup = tup_get(tiler->tup, i)};
	}
	*tiler = (Alg){.kind = ALG_LIST, .at = room, .n = n};
	if (*coord)
		*coord = tup_dice(k->c, *coord, proj);
	return true;
}

/* Mode `which` of the zipped form at coord, all of the other. */
static bool part(Call *k, const Layout *l, const Alg *tiler, const Tup *coord, int which)
{
	const Tiler *t = tile_of(k, tiler);
	const Layout *r = layout_divide_by(k->c, l, t, &k->why);
	if (!r)
		return false;
	r = layout_reform(k->c, r, t, FORM_ZIPPED);
	int rank = tup_rank(tup_get(r->shape, which));
	const Tup **at = NEWN(ctx_tmp(k->c), const Tup *, rank + 1), *any = tup_any(k->c);
	for (int i = 0; !tup_is_leaf(coord) && i < rank; i++)
		at[i] = i < coord->n ? coord->at[i] : any;
	if (!tup_is_leaf(coord) && coord->n > rank)
		return call_refuse(k, "the coordinate has %d places, the tiles have %d", coord->n,
				   rank);
	if (!tup_is_leaf(coord))
		coord = tup_new(k->c, at, rank);
	const Tup *both[] = {which ? any : coord, which ? coord : any};
	const Tup *place = tup_new(k->c, both, 2), *off;
	const Tup *shape = tup_slice(k->c, r->shape, place);
	const Tup *stride = tup_slice(k->c, r->stride, place);
	off = shape ? layout_eval(k->c, layout_outer(k->c, r), place) : NULL;
	if (!off)
		return call_refuse(k, "the coordinate has another form than the tiles");
	if (shape->n == 1) {
		shape = shape->at[0];
		stride = stride->at[0];
	}
	return give_layout(k,
			   layout_shift(k->c, layout_wrap(k->c, r, layout_new(k->c, shape, stride)),
					off));
}

bool alg_local_tile(Call *k)
{
	Alg room[8], tiler = k->arg[1];
	const Layout *l = arg_layout(k, 0);
	const Tup *coord = l ? arg_tup(k, 2) : NULL;
	return coord && project(k, 3, &tiler, room, &coord) && part(k, l, &tiler, coord, 1);
}

/* Of a linear thread index: its place in each mode of the threads' layout. */
static const Tup *thread_place(Call *k, const Layout *threads, const Ix *index)
{
	Ctx *c = k->c;
	int rank = layout_rank(threads);
	const Tup **at = NEWN(ctx_tmp(c), const Tup *, rank + 1);
	for (int i = 0; i < rank; i++) {
		Modes m = {0};
		const Ix *sum = ix_const(c, 0), *before = ix_const(c, 1);
		layout_flatten(c, layout_mode(c, threads, i), &m);
		for (int j = 0; j < m.n; j++) {
			const Ix *d = m.at[j].stride;
			if (m.at[j].basis || (d->kind == IX_CONST && d->value < 0))
				return NULL;
			if (!ix_is(d, 0))
				sum = ix_add(c, sum,
					     ix_mul(c, before,
						    ix_mod(c, ix_div(c, index, d), m.at[j].shape)));
			before = ix_mul(c, before, m.at[j].shape);
		}
		at[i] = tup_leaf(c, ix_plain(c, sum));
	}
	return tup_is_leaf(threads->shape) ? at[0] : tup_new(c, at, rank);
}

bool alg_local_partition(Call *k)
{
	Alg room[8], tiler = {.kind = ALG_TUP};
	const Layout *l = arg_layout(k, 0), *threads = l ? arg_layout(k, 1) : NULL;
	const Tup *index = threads ? arg_tup(k, 2) : NULL, *place;
	if (!index)
		return false;
	if (!tup_is_leaf(index) || !layout_is_plain(threads) ||
	    !(place = thread_place(k, threads, index->leaf)))
		return call_refuse(k, "threads are a plain layout, and one index says which");
	tiler.tup = tup_product_each(k->c, threads->shape);
	if (tup_is_leaf(place))
		place = tup_new(k->c, &place, 1);
	return project(k, 3, &tiler, room, &place) && part(k, l, &tiler, place, 0);
}
