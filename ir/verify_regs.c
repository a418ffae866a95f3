/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_regs.c - the rules of register tiles: how they are spread over threads, what may be
 * computed from which, row vectors.
 *     %x = sub %S, %m : reg f32 (64,32):(1,64)     right where %m is (64,32) or (64,1)
 *     %r = reduce %S combine=max : reg f32 (64,2):(1,64)   "a reduction leaves one column, .." */
#include "ir/verify.h"
#include "ir/verify_rules.h"

#include <inttypes.h>
#include <math.h>

bool is_reg(const Type *t)
{
	return t->kind == TY_TILE && t->space == SP_REG;
}

/* Made of plain modes, as what the passes make is. */
static bool is_plain(const Type *t)
{
	return t->tv && tup_is_flat(tup_get(t->tv->shape, 0)) &&
	       tup_is_flat(tup_get(t->tv->shape, 1)) && tup_is_flat(t->layout->shape) &&
	       tup_is_flat(t->layout->stride) && tup_rank(tup_get(t->tv->shape, 0)) <= TV_MODES &&
	       tup_rank(tup_get(t->tv->shape, 1)) <= TV_MODES;
}

/* Each element is held; those of a vector by several threads. */
const char *reg_type_rule(const Kernel *k, const Type *t)
{
	const Layout *tv = t->tv;
	if (!tv)
		return k->stage == ST_PTX ? "a register tile of the ptx stage has a tv layout"
					  : NULL;
	if (layout_rank(tv) != 2 || !layout_is_static(tv))
		return "a tv layout is static and has two modes, threads and values";
	int64_t places = is_plain(t) ? tv_places(tv) : layout_size_int(tv);
	if (places != layout_size_int(t->layout))
		return ctx_strf(k->ctx,
				"the tv layout has %" PRId64 " places for %" PRId64 " elements",
				places, layout_size_int(t->layout));
	return NULL;
}

/* Whether the part's elements lie where the threads that hold the whole's need them. */
static bool spread_as_part(const Kernel *k, const Type *part, const Type *whole)
{
	if (part->layout == whole->layout || !part->tv || !whole->tv)
		return part->tv == whole->tv;
	return is_plain(whole) && is_plain(part) &&
	       part->tv == tv_of_part(k->ctx, whole->tv, whole->layout, part->layout);
}

static const Ix *extent(const Kernel *k, const Type *t, int mode)
{
	return layout_size(k->ctx, layout_mode(k->ctx, t->layout, mode));
}

/* f32, or another type that the row is computed in. */
static bool is_computed(const Kernel *k, const Op *op)
{
	Elem e = op->out->type->elem;
	return elt_computes(op->kind, e) && target_has(k->target, feature_computes(e));
}

/* What a select asks, and how far a shift goes, have types of their own. */
static bool has_own_type(const Op *op, int i, Elem e)
{
	bool word = elem_is_word(e);
	return op->kind == OP_CVT ||
	       (op->kind == OP_SELECT && !i && (word || e == EL_F32 || elem_is_wide(e))) ||
	       ((op->kind == OP_SHL || op->kind == OP_SHR) && i == 1 && word);
}

static const char *operand_rule(const Kernel *k, const Op *op, int i)
{
	const Type *out = op->out->type, *in = op->in[i].val->type;
	if (in->kind != TY_ELEM && !is_reg(in))
		return ctx_strf(k->ctx, "operand %d is a register tile or a scalar", i + 1);
	Elem e = is_computed(k, op) ? out->elem : EL_F32;
	if (in->elem != e && !has_own_type(op, i, in->elem))
		return ctx_strf(k->ctx, "operand %d is %s: convert it", i + 1, elem_rows[e].name);
	if (!is_reg(in) || !is_reg(out))
		return NULL;
	bool fits = in->layout == out->layout || type_broadcasts(k->ctx, in, out);
	if (!fits || !spread_as_part(k, in, out))
		return ctx_strf(k->ctx, "operand %d is not spread as the result is", i + 1);
	return NULL;
}

/* Along each mode, some operand has as many elements as the result. */
static bool is_as_large(const Kernel *k, const Op *op)
{
	Ctx *c = k->ctx;
	for (int i = 0; i < op->nin; i++)
		if (is_reg(op->in[i].val->type) &&
		    op->in[i].val->type->layout == op->out->type->layout)
			return true;
	for (int m = 0; m < layout_rank(op->out->type->layout); m++) {
		const Ix *n = tup_product(c, tup_get(op->out->type->layout->shape, m));
		bool found = false;
		for (int i = 0; i < op->nin; i++) {
			const Type *t = op->in[i].val->type;
			found |= is_reg(t) && tup_product(c, tup_get(t->layout->shape, m)) == n;
		}
		if (!found)
			return false;
	}
	return true;
}

static const char *cvt_rule(const Kernel *k, const Op *op)
{
	Elem from = IN(op, X).val->type->elem, to = op->out->type->elem;
	const Attr *plus = attrs_get(&op->attrs, A_PLUS);
	if (!elem_converts(from, to))
		return ctx_strf(k->ctx, "%s becomes %s by way of f32, a conversion each",
				elem_rows[from].name, elem_rows[to].name);
	if (!plus)
		return NULL;
	if (!elem_pairs(to))
		return "plus= is of a conversion to f16 or bf16";
	if (elem_is_float(from) || elem_rows[from].bits > 8 || plus->real != rint(plus->real) ||
	    !half_holds(to, integers_plus(elem_integers(from), plus->real)))
		return ctx_strf(k->ctx, "%s plus %g is rounded to %s", elem_rows[from].name,
				plus->real, elem_rows[to].name);
	return NULL;
}

/* Of integers by a constant alone: others would need a check of each element. */
static const char *divisor_rule(const Op *op)
{
	bool divides = op->kind == OP_DIV || op->kind == OP_MODULO;
	if (!divides || elem_is_float(op->out->type->elem))
		return NULL;
	const Op *by = IN(op, Y).val->def;
	return by && by->kind == OP_CONST && attrs_get(&by->attrs, A_VALUE)->real >= 1
		       ? NULL
		       : "integers are divided by constants of 1 and more";
}

const char *elt_rule(const Kernel *k, const Op *op)
{
	const Type *out = op->out->type;
	const char *why;
	bool tiles = false;
	for (int i = 0; i < op->nin; i++)
		tiles |= is_reg(op->in[i].val->type);
	for (int i = 0; i < op->nin; i++)
		if ((why = operand_rule(k, op, i)))
			return why;
	if (tiles ? !is_reg(out) : out->kind != TY_ELEM)
		return ctx_strf(k->ctx, "the result is %s", tiles ? "a register tile" : "a scalar");
	if (tiles && !is_as_large(k, op))
		return "the result is as large as its largest operand";
	if (op->kind == OP_CVT)
		return cvt_rule(k, op);
	if (!is_computed(k, op))
		return elt_computes(op->kind, EL_F32) ? "the result is f32"
						      : "the result is s32 or u32";
	return divisor_rule(op);
}

const char *sizeval_rule(const Kernel *k, const Op *op)
{
	Elem e = op->out->type->elem;
	(void)k;
	return e == EL_F32 || elem_is_wide(e) || elem_is_word(e)
		       ? NULL
		       : "a size is computed with as f32, f64, s32 or u32";
}

/* An integer is one of its type. */
const char *const_rule(const Kernel *k, const Op *op)
{
	Elem e = op->out->type->elem;
	double v = attrs_get(&op->attrs, A_VALUE)->real;
	return elem_is_float(e) || elem_round(e, v) == v
		       ? NULL
		       : ctx_strf(k->ctx, "%g is no value of %s", v, elem_rows[e].name);
}

const char *series_rule(const Kernel *k, const Op *op)
{
	const Type *t = op->out->type;
	bool vector = layout_rank(t->layout) == 2 &&
		      (ix_is(extent(k, t, 0), 1) || ix_is(extent(k, t, 1), 1));
	if (t->elem != EL_I32)
		return "a series is of s32";
	return vector ? NULL : "a series is one row or one column";
}

/* Lanes may share out what a reduction leaves. */
static bool spread_as_rows(const Kernel *k, const Type *part, const Type *whole)
{
	return spread_as_part(k, part, whole) ||
	       (part->tv && is_plain(whole) && is_plain(part) &&
		part->tv == tv_shared_out(k->ctx, whole, part->layout));
}

/* Threads that hold parts of one row meet by shuffles, which are of one warp. */
static const char *exchange_rule(const Type *from, const Type *to)
{
	enum { MOST = 16, LANES = 32 };
	TvExchange all[MOST];
	int n = tv_exchanges(from, to, all, MOST);
	for (int i = 0; i < n; i++)
		if (all[i].step >= LANES)
			return "a row lies within one warp: arrange warpgroups along m";
	return NULL;
}

/* A value for each row, or for each column of a group of rows. At the ptx stage also what one warp
 * holds of all rows: rows that several warps hold went through shared memory before. */
const char *reduce_rule(const Kernel *k, const Op *op)
{
	const Type *from = IN(op, X).val->type, *to = op->out->type;
	if (from->elem != EL_F32 || to->elem != EL_F32)
		return "a reduction is of f32, and gives f32";
	bool plain = layout_rank(to->layout) == 2 && layout_rank(from->layout) == 2;
	bool rows = plain && !ix_is(extent(k, to, 0), 1);
	bool some = plain && !ix_is(extent(k, to, 1), 1) && extent(k, to, 1) != extent(k, from, 1);
	if (!plain || (k->stage == ST_TILE && some && extent(k, to, 0) != extent(k, from, 0)))
		return "a reduction leaves one column, or all of them, or of each row so many";
	if (!type_broadcasts(k->ctx, to, from) || !spread_as_rows(k, to, from))
		return "the result is spread as the rows of the operand";
	bool meets = from->tv && from->tv != to->tv && rows && k->stage == ST_PTX;
	return meets ? exchange_rule(from, to) : NULL;
}

/* Each thread holds what each warp has of its rows. */
static bool holds_parts(const Kernel *k, const Op *op, int warps)
{
	Ctx *c = k->ctx;
	const Type *whole = op->out->type, *parts = IN(op, PARTS).val->type;
	int64_t rows = layout_size_int(layout_mode(c, whole->layout, 0));
	const Layout *row = layout_2d(c, rows, 1, 1, 0);
	if (parts->elem != whole->elem || parts->layout != layout_2d(c, rows, warps, 1, rows) ||
	    !is_plain(parts))
		return false;
	const Layout *own = tv_of_part(c, whole->tv, whole->layout, row);
	return own && own == tv_of_part(c, parts->tv, parts->layout, row) &&
	       type_regs(parts) == warps * (int64_t)layout_size_int(layout_mode(c, own, 1));
}

/* Lanes exchange what they have of a row by shuffles; what warps have of it is given. */
const char *scan_rule(const Kernel *k, const Op *op)
{
	const Type *from = IN(op, X).val->type, *to = op->out->type;
	bool adds = to->elem == EL_F32 || elem_is_word(to->elem), given = HAS_IN(op, PARTS);
	if (from != to || !adds || layout_rank(to->layout) != 2)
		return "a scan is of a matrix of f32, s32 or u32, and gives one like it";
	if (!to->tv)
		return given ? "warps have parts of what is spread over them" : NULL;
	int warps = is_plain(to) ? tv_row_warps(to) : 0;
	if (!warps)
		return "lanes and registers do not lie one after the other along a row";
	if (warps == 1 || (!given && k->stage != ST_PTX))
		return given ? "the lanes of one warp hold a row" : NULL;
	return given && holds_parts(k, op, warps)
		       ? NULL
		       : "several warps hold a row, and each thread needs what each has of it";
}

const char *quads_rule(const Kernel *k, const Op *op)
{
	const Type *from = IN(op, X).val->type, *to = op->out->type;
	(void)k;
	return from->elem == to->elem && elem_rows[to->elem].bits == 8 && from->tv && to->tv &&
			       tv_quads(from, to)
		       ? NULL
		       : "quads turn an accumulator's pairs of columns, of 8 bits, into A's fours";
}

const char *move_rule(const Kernel *k, const Op *op)
{
	const Type *to = IN(op, TO).val->type, *from = IN(op, FROM).val->type;
	(void)k;
	return to == from ? NULL : "a move is between tiles of one type";
}

const char *rule_add_to(const Kernel *k, const Op *op)
{
	const Type *to = IN(op, TO).val->type, *from = IN(op, FROM).val->type;
	if (to->elem != from->elem || elem_rows[to->elem].bits != 32)
		return "registers of 32 bits are added to such of the same type";
	return check_registers(k, op, 0);
}

int64_t op_regs(const Kernel *k, const Op *op, int i)
{
	const Type *t = op->in[i].val->type;
	int64_t n = attrs_int(&op->attrs, A_N, 1);
	const Attr *a = attrs_get(&op->attrs, A_ATOM);
	if (!op->in[i].at)
		return type_regs(t);
	if (a) {
		const AtomRow *r = &atom_rows[a->atom.id];
		int all[] = {r->m * a->atom.n, r->m * r->k, a->atom.n * r->k};
		return all[i] / atom_threads(k->ctx, a->atom);
	}
	if (op->kind == OP_ADD_TO || op->kind == OP_PART)
		return type_regs(op->kind == OP_PART ? op->out->type : IN(op, FROM).val->type);
	if (op->kind == OP_LDMATRIX || op->kind == OP_STMATRIX)
		return 32 / elem_rows[t->elem].bits * n;
	return op->kind == OP_FILL || i == 2 ? 1 : n;
}

/* ------------------------------------------------------------------ how many a thread has */
const char *rule_setmaxnreg(const Kernel *k, const Op *op)
{
	int64_t regs = attrs_int(&op->attrs, A_REGS, 0);
	(void)k;
	if (regs < 24 || regs > 256 || regs % 8)
		return "setmaxnreg takes a multiple of 8 from 24 to 256";
	return attrs_int(&op->attrs, A_N, 0) <= 1 ? NULL
						  : "n is 1 where registers are added, else 0";
}
