/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* elt_types.c - in which type tiles and scalars are computed: f32, unless they are f64, values of
 * 16 bits that no one widened, or integers of 32 bits alone.
 *     a * gX[m,n]         of a : f16 and f16 (M,N)   ->   %x = mul %a, %X : reg f16
 *     2 * gX[m,n]                                    ->   %x = cvt %X : reg f32 ; mul %z, %x
 *     gW[m,n] >> 4        of u32 (M,N)               ->   %x = shr %W, %z : reg u32 */
#include "frontend/sema.h"

Elem elt_elem(const Value *v)
{
	return v->kind == V_TILE ? v->tile->tiling->tensor->elem
	       : v->val          ? v->val->type->elem
				 : EL_F32;
}

/* Of no type of its own: a number, a size, a condition, which is 1 or 0 in each. */
static bool is_free(const Value *v)
{
	return is_number(v) || is_size(v) || v->is_condition;
}

/* Of a type that it keeps: also no tile of a tensor, which is widened. */
static bool is_typed(const Value *v)
{
	return !is_free(v) && (v->kind != V_TILE || elem_is_wide(elt_elem(v)));
}

/* Of several typed values the type that all have; EL_COUNT: none is typed. */
static Elem typed_elem(const Value *args, int n)
{
	Elem all = EL_COUNT;
	for (int i = 0; i < n; i++) {
		Elem e = elt_elem(&args[i]);
		if (!is_typed(&args[i]))
			continue;
		if (elem_is_wide(e) || !elem_computes(e))
			return elem_is_wide(e) ? e : EL_F32;
		all = all == EL_COUNT || all == e ? e : elem_is_word(all) ? all : EL_F32;
		if (all != e && elem_is_word(e) && !elem_is_word(all))
			all = EL_F32;
	}
	return all;
}

/* Of tiles, or of conditions alone: words, if all are and no number has a point; EL_COUNT: none. */
static Elem words_of(const Value *args, int n, bool conditions)
{
	Elem all = EL_COUNT;
	for (int i = 0; i < n; i++) {
		Elem e = elt_elem(&args[i]);
		if (args[i].kind == V_REAL)
			return EL_F32;
		if (args[i].kind == V_INT || args[i].is_condition != conditions)
			continue;
		if (!elem_is_word(e))
			return EL_F32;
		all = e;
	}
	return all;
}

/* Where none is typed: the integers of a tensor stay what they are beside integers. */
static Elem untyped_elem(const Value *args, int n)
{
	Elem e = words_of(args, n, false);
	e = e == EL_COUNT ? words_of(args, n, true) : e;
	return e == EL_COUNT ? EL_F32 : e;
}

Elem elt_computed_in(const Value *args, int n)
{
	Elem e = typed_elem(args, n);
	return e == EL_COUNT ? untyped_elem(args, n) : e;
}

/* A select asks in any type, and a shift goes as far as any integer says. */
static bool has_own_type(const EltRow *row, const Value *args, int i)
{
	bool shift = row->op == OP_SHL || row->op == OP_SHR;
	return (row->op == OP_SELECT && i == 0) || (shift && i == 1 && !is_free(&args[0]));
}

Elem elt_type_of(const EltRow *row, const Value *args)
{
	const Value *from = row->op == OP_SELECT ? args + 1 : args;
	int n = row->op == OP_SELECT ? 2 : has_own_type(row, args, 1) ? 1 : row->arity;
	Elem e = elt_computed_in(from, n);
	bool functions = elem_is_word(e) && !elt_computes(row->op, e);
	return functions && typed_elem(from, n) == EL_COUNT ? EL_F32 : e;
}

Elem elt_operand_type(const EltRow *row, const Value *args, int i, Elem e)
{
	if (!has_own_type(row, args, i))
		return e;
	if (is_number(&args[i]))
		return row->op == OP_SELECT ? EL_F32 : EL_I32;
	Elem own = args[i].is_condition ? elt_elem(&args[i]) : elt_computed_in(&args[i], 1);
	return elem_pairs(own) ? EL_F32 : own;
}

/* Of types that convert to no other. */
const char *help_copied(void)
{
	return "declare the tensor s32, and convert it before the launch: x.int() of PyTorch";
}

static bool report_elem(Sema *s, const char *what, Elem e, const Value *v)
{
	const char *to = elem_rows[e].name;
	const char *help = ctx_strf(s->ctx, "write %s(...) around it%s", to,
				    e == EL_F32 ? ", or convert what comes out" : "");
	if (v->kind == V_SCALAR && v->val->arg >= 0)
		help = ctx_strf(s->ctx, "declare %s : %s", v->val->name, to);
	else if (elt_elem(v) != EL_F32 && !elem_converts(elt_elem(v), EL_F32))
		help = help_copied();
	else if (!elem_converts(elt_elem(v), e))
		help = ctx_strf(s->ctx, "write %s(f32(...)) around it", to);
	return reject(s, v->loc, D_E0205, "%s computes in %s, this is %s\n%s", what, to,
		      elem_rows[elt_elem(v)].name, help);
}

bool elt_is_f32(Sema *s, const char *what, const Value *v)
{
	return elt_elem(v) == EL_F32 || report_elem(s, what, EL_F32, v);
}

/* Numbers are of any type, and tiles of what holds all that theirs does. */
static bool is_of(const Value *v, Elem e)
{
	Elem has = elt_elem(v);
	return has == e || is_free(v) ||
	       (!is_typed(v) && elem_is_float(e) && !elem_pairs(e) && elem_converts(has, e));
}

/* A number among integers is one of them. */
static bool constant_fits(Sema *s, const Value *v, Elem e)
{
	double x = is_number(v) ? value_number(v) : 0;
	if (!elem_is_word(e) || !is_number(v))
		return true;
	if (v->kind == V_REAL)
		return reject(s, v->loc, D_E0205,
			      "%g is no number of %s\n"
			      "write f32(...) around what it is combined with",
			      x, elem_rows[e].name);
	if (elem_round(e, x) == x)
		return true;
	double low = elem_wrap(e, x);
	return reject(s, v->loc, D_E0205, "%.0f is no number of %s\n%s", x, elem_rows[e].name,
		      x >= -0x1p32 && x <= 0x1p32
			      ? ctx_strf(s->ctx, "its low 32 bits are %.0f", low)
			      : "");
}

/* A size is one, whatever the caller binds; what is made of numbers from memory wraps as these. */
bool elt_size_fits(Sema *s, const Value *v, Elem e)
{
	int64_t lo, hi;
	Integers all = elem_is_word(e) ? elem_integers(e) : (Integers){-0x1p53, 0x1p53};
	if (!is_size(v) || (elem_is_word(e) && is_from_memory(s, v->ix)))
		return true;
	ix_range(v->ix, facts_seen(&s->facts), &lo, &hi);
	if ((double)lo >= all.least && (double)hi <= all.most)
		return true;
	return reject(s, v->loc, D_E0211,
		      "'%s' may be no number of %s\n"
		      "bound it in a where clause, or compute with each size by itself: "
		      "%s(M) * %s(N)",
		      ix_spelled(s, v->ix), elem_rows[e].name, elem_rows[e].name,
		      elem_rows[e].name);
}

/* As it is written; NONE: as a function. */
static Operator operator_of(OpKind op)
{
	Operator by = OPER_COUNT;
	while (--by > OPER_NONE && operator_rows[by].op != op)
		;
	return by;
}

static bool report_no_bits(Sema *s, const EltRow *row, const Value *args)
{
	Operator by = operator_of(row->op);
	int i = 0;
	while (i + 1 < row->arity && (is_free(&args[i]) || elem_is_word(elt_elem(&args[i]))))
		i++;
	return reject(s, args[i].loc, D_E0203, "'%s' is of s32 and u32, and this is %s\n%s",
		      by ? operator_rows[by].name : row->name,
		      is_free(&args[i]) ? value_text(&args[i]) : elem_rows[elt_elem(&args[i])].name,
		      by ? help_operator(s, by, &args[i], NULL) : "write u32(...) around it");
}

/* By what is known while the kernel is compiled. */
static bool divisor_fits(Sema *s, const EltRow *row, const Value *args, Elem e)
{
	const Value *by = &args[row->arity - 1];
	if ((row->op != OP_DIV && row->op != OP_MODULO) || !elem_is_word(e))
		return true;
	if (is_number(by) && value_number(by) >= 1)
		return true;
	return reject(s, by->loc, D_E0203,
		      "integers are divided by constants of 1 and more\n"
		      "shift it right, x >> n, or divide numbers: f32(x) / y");
}

/* (x * y) >> 32: the product has 32 bits. */
static void warn_of_shift(Sema *s, Loc loc, const EltRow *row, const Value *args)
{
	enum { BITS = 32 };
	bool shifts = row->op == OP_SHL || row->op == OP_SHR;
	if (shifts && is_number(&args[1]) && value_number(&args[1]) >= (int)BITS)
		diag(s->ctx, loc, D_W0211,
		     "a shift of an integer of %d bits by %.0f leaves none of them\n"
		     "the high half of a product is mulhi(x, y); if this is meant, -Wno-W0211 "
		     "silences it",
		     BITS, value_number(&args[1]));
}

bool elt_types_fit(Sema *s, Loc loc, const EltRow *row, const Value *args, Elem e)
{
	if (!row->value && !elem_is_word(e))
		return report_no_bits(s, row, args);
	Elem has = elt_computes(row->op, e) ? e : EL_F32;
	for (int i = 0; i < row->arity; i++) {
		Elem own = elt_operand_type(row, args, i, has);
		bool shift = own != has && row->op != OP_SELECT;
		if (!is_of(&args[i], own) || (shift && !elem_is_word(own)))
			return report_elem(s, row->name, shift ? EL_U32 : has, &args[i]);
		if (!constant_fits(s, &args[i], own) || !elt_size_fits(s, &args[i], own))
			return false;
	}
	if (!divisor_fits(s, row, args, has))
		return false;
	warn_of_shift(s, loc, row, args);
	Feature f = feature_computes(e);
	return target_takes(s, loc, f,
			    ctx_strf(s->ctx,
				     "write f32(...) around tiles of %s and declare scalars f32, "
				     "or write target %s",
				     elem_rows[e].name, target_names(ctx_arena(s->ctx), f)));
}
