/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* eval.c - the meaning of an expression: one function per kind of node, chosen by the kinds of the
 * operands. Integers go to arith.c, layouts to algebra.c, tiles of tensors to tiles.c, atoms to
 * atom.c, and what runs on the device to elt.c, which builds IR. */
#include "frontend/sema.h"

#include <math.h>
#include <string.h>

bool eval_int(Sema *s, const Node *n, int64_t lo, int64_t hi, const char *what, int64_t *out)
{
	Value v = eval(s, n);
	return want_int(s, &v, lo, hi, what, out);
}

static Value eval_number(Sema *s, const Node *n)
{
	return value_int(s, n->num);
}

static Value eval_str(Sema *s, const Node *n)
{
	(void)s;
	Value v = value_of(V_STR);
	v.str = n->name;
	return v;
}

static Value eval_real(Sema *s, const Node *n)
{
	(void)s;
	Value v = value_of(V_REAL);
	v.real = n->real;
	return v;
}

static Value unknown_name(Sema *s, const char *name, Loc loc)
{
	Suggest g = suggest_begin(name);
	DiagMsg *m = diag(s->ctx, loc, D_E0201, "unknown name '%s'", name);
	if (help_habit(s, name, m))
		return value_bad();
	if (ptrmap_get(&s->left, name)) {
		diag_remedy(s->ctx, m, "it ended with its block: declare it in front of that");
		return value_bad();
	}
	suggest_names(s, &g);
	sched_suggest(&g);
	suggest_end(s, &g, m);
	return value_bad();
}

static void known_elem(Sema *s, Loc loc, Elem e)
{
	if (s->kernel)
		target_takes_elem(s, loc, e);
}

bool function_named(const char *name)
{
	return elt_by_name(name) || reduction_named(name, NULL) || scan_named(name) ||
	       layout_op_find(name) >= 0;
}

static Value eval_name(Sema *s, const Node *n)
{
	Value v;
	int bytes;
	Symbol *sym = scope_find(s, n->name);
	if (sym) {
		name_used(s, sym, n->loc);
		sym->unread = NULL;
		s->pick = sym->value.pick ? sym->value.pick : s->pick;
		return sym->value;
	}
	if (!strcmp(n->name, "_"))
		return value_of(V_ANY);
	if (!strcmp(n->name, "inf")) {
		v = value_of(V_REAL);
		v.real = INFINITY;
		return v;
	}
	if (elem_is(n->name, &v.elem)) {
		Elem e = v.elem;
		known_elem(s, n->loc, e);
		v = value_of(V_ELEM);
		v.elem = e;
		return v;
	}
	if (swizzle_named(n->name, &bytes))
		return swizzle_bytes(s, n->loc, bytes);
	if (sched_word(n->name)) {
		v = value_of(V_WORD);
		v.str = n->name;
		return v;
	}
	if (function_named(n->name))
		return rejected(s, n->loc, D_E0203, "'%s' is a function: %s(...)", n->name,
				n->name);
	if (s->free_names)
		return value_ix(ix_sym(s->ctx, n->name));
	return unknown_name(s, n->name, n->loc);
}

/* False when one of them is bad. */
static bool eval_all(Sema *s, Node *const *at, int n, Value *out)
{
	bool good = true;
	for (int i = 0; i < n; i++) {
		out[i] = eval(s, at[i]);
		good &= out[i].kind != V_BAD;
	}
	return good;
}

static Value eval_list(Sema *s, const Node *n)
{
	Value *v = NEWN(s->arena, Value, n->kids.n + 1);
	if (!eval_all(s, n->kids.at, n->kids.n, v))
		return value_bad();
	return (n->kind == N_TUPLE ? layout_tuple : layout_chain)(s, n->loc, v, n->kids.n);
}

static Value eval_basis(Sema *s, const Node *n)
{
	Value v = eval(s, n->kids.at[0]);
	return v.kind == V_BAD ? v : layout_basis(s, n->loc, &v, n->kids.at[1]->num);
}

/* ------------------------------------------------------------------ operators */
static bool is_algebra(const Value *v)
{
	return v->kind == V_LAYOUT || v->kind == V_TUPLE || v->kind == V_BUFFER ||
	       v->kind == V_LIST;
}

static Value no_operator(Sema *s, const Node *n, const Value *a, const Value *b)
{
	bool tiles = is_elementwise(a) || is_elementwise(b);
	return rejected(s, n->loc, D_E0203, "%s and %s have no '%s'\n%s", value_text(a),
			value_text(b), operator_rows[n->op].name,
			tiles ? help_operator(s, n->op, a, b) : "");
}

static Value layout_binary(Sema *s, const Node *n, const Value *a, const Value *b)
{
	int op = operator_rows[n->op].layout;
	if (op < LAYOUT_OP_COUNT)
		return layout_call(s, n->loc, op, (Value[]){*a, *b}, 2);
	if (n->op != OPER_EQ && n->op != OPER_NE)
		return no_operator(s, n, a, b);
	const Layout *x = value_layout(s, a), *y = x ? value_layout(s, b) : NULL;
	return y ? value_int(s, (x == y) == (n->op == OPER_EQ)) : value_bad();
}

static bool is_order(const Node *n)
{
	return operator_rows[n->op].ix == IX_LT || operator_rows[n->op].ix == IX_LE;
}

/* 0 < x < 1 would compare 1 or 0 with 1. */
static Value report_chain(Sema *s, const Node *n)
{
	const char *op = operator_rows[n->op].name, *first = operator_rows[n->kids.at[0]->op].name;
	return rejected(s, n->loc, D_E0203,
			"'%s' would compare what '%s' gives, 1 or 0\n"
			"both hold where x %s y && y %s z",
			op, first, first, op);
}

static bool compares(const Node *n)
{
	IxKind ix = n->kind == N_BINARY ? operator_rows[n->op].ix : IX_CONST;
	return ix == IX_LT || ix == IX_LE || ix == IX_EQ || ix == IX_NE;
}

/* a > 0 & b > 0, which is (a > (0 & b)) > 0: an operator of bits between two comparisons. */
static bool bits_between(const Node *n)
{
	const Node *first = n->kids.at[0], *bits = compares(first) ? first->kids.at[1] : NULL;
	return bits && compares(n) && !first->parens && !bits->parens && bits->kind == N_BINARY &&
	       operator_rows[bits->op].ix == IX_CONST;
}

static Value report_bits(Sema *s, const Node *n)
{
	const Node *bits = n->kids.at[0]->kids.at[1];
	bool both = bits->op == OPER_BIT_AND;
	return rejected(s, bits->loc, D_E0203,
			"'%s' binds tighter than '%s' and '%s'\n"
			"conditions are joined by %s, which does not",
			operator_rows[bits->op].name, operator_rows[n->kids.at[0]->op].name,
			operator_rows[n->op].name, both ? "&&" : "||");
}

/* A call of the word, and not of something that the file calls so. */
static bool calls_word(Sema *s, const Node *n, Word word)
{
	return node_calls(n, word) && !scope_find(s, n->kids.at[0]->name);
}

static Value eval_binary(Sema *s, const Node *n)
{
	Value v[2];
	if (n->op == OPER_MUL && calls_word(s, n->kids.at[1], W_VALUES))
		return mma_values(s, n);
	if (bits_between(n))
		return report_bits(s, n);
	if (!eval_all(s, n->kids.at, 2, v))
		return value_bad();
	const EltRow *row = elt_by_op(operator_rows[n->op].op);
	bool word = v[0].kind == V_WORD && v[1].kind == V_WORD;
	if (is_order(n) && is_order(n->kids.at[0]) && v[0].kind == V_FRAG)
		return report_chain(s, n);
	if (v[0].kind == V_INT && v[1].kind == V_INT && operator_rows[n->op].ix != IX_CONST)
		return int_binary(s, n->loc, n->op, &v[0], &v[1]);
	if (v[0].kind == V_TENSOR && n->op == OPER_DIV)
		return tiles_divide(s, n->loc, &v[0], &v[1]);
	if (v[0].kind == V_MMA && n->op == OPER_MUL)
		return mma_arrange(s, n->loc, &v[0], &v[1]);
	if (word && (n->op == OPER_EQ || n->op == OPER_NE))
		return value_int(s, (v[0].str == v[1].str) == (n->op == OPER_EQ));
	if (is_algebra(&v[0]) || (is_algebra(&v[1]) && v[0].kind == V_INT))
		return layout_binary(s, n, &v[0], &v[1]);
	if (row && is_elementwise(&v[0]) && is_elementwise(&v[1]))
		return elt_apply(s, n->loc, row, v);
	return no_operator(s, n, &v[0], &v[1]);
}

static Value eval_unary(Sema *s, const Node *n)
{
	const EltRow *row = elt_by_op(operator_rows[n->op].op);
	Value v = eval(s, n->kids.at[0]), zero = value_int(s, 0);
	zero.loc = n->loc;
	if (v.kind == V_BAD)
		return v;
	if (v.kind == V_INT && operator_rows[n->op].ix != IX_CONST)
		return int_binary(s, n->loc, n->op, &zero, &v);
	if (row && is_elementwise(&v))
		return elt_apply(s, n->loc, row, &v);
	return rejected(s, n->loc, D_E0203, "%s has no '%s'\n%s", value_text(&v),
			operator_rows[n->op].name, help_operator(s, n->op, &v, NULL));
}

static Value eval_colon(Sema *s, const Node *n)
{
	Value v[2];
	return eval_all(s, n->kids.at, 2, v) ? layout_colon(s, n, &v[0], &v[1]) : value_bad();
}

/* ------------------------------------------------------------------ calls */
static bool counts(Sema *s, Loc loc, const char *name, int n, int lo, int hi)
{
	if (n >= lo && n <= hi)
		return true;
	if (lo < hi)
		return reject(s, loc, D_E0206, "%s takes %d to %d arguments, not %d", name, lo, hi,
			      n);
	return reject(s, loc, D_E0206, "%s takes %d argument%s, not %d\n%s", name, lo,
		      lo == 1 ? "" : "s", n, help_call(s, name, n, lo));
}

static Value call_cast(Sema *s, const Node *call, Elem to, Value *args, int n)
{
	if (!counts(s, call->loc, elem_rows[to].name, n, 1, 1))
		return value_bad();
	number_to_tile(&args[0]);
	return elt_cast(s, call->loc, to, &args[0]);
}

static Value call_elementwise(Sema *s, const Node *call, const EltRow *row, Value *args, int n)
{
	bool ints = true;
	int64_t c;
	if (!counts(s, call->loc, row->name, n, row->arity, row->arity))
		return value_bad();
	for (int i = 0; i < n; i++)
		ints &= args[i].kind == V_INT;
	if (ints && (row->op == OP_MIN || row->op == OP_MAX))
		return int_new(s, call->loc, row->op == OP_MIN ? IX_MIN : IX_MAX, &args[0],
			       &args[1]);
	if (ints && row->op == OP_SELECT)
		return ix_is_const(args[0].ix, &c)
			       ? args[c ? 1 : 2]
			       : rejected(s, args[0].loc, D_E0203,
					  "select chooses between integers while the kernel is "
					  "compiled, and this is known only at run time\n"
					  "a size or an index is c * x + (1 - c) * y, as "
					  "comparisons are 1 or 0; what tiles are combined with is "
					  "an argument, x : f32");
	for (int i = 0; i < n; i++)
		if (!is_elementwise(&args[i]))
			return rejected(s, args[i].loc, D_E0203,
					"%s takes tiles and numbers, this is %s\n%s", row->name,
					value_text(&args[i]), help_value(s, &args[i]));
	return elt_apply(s, call->loc, row, args);
}

static Value call_value(Sema *s, const Node *call, const Value *callee)
{
	bool indexed = callee->kind == V_TENSOR || callee->kind == V_TILES;
	if (callee->kind == V_BAD)
		return value_bad();
	if (callee->kind == V_MMA)
		return rejected(s, call->loc, D_E0309,
				"an mma stands alone on the right of +=\n"
				"write acc += mm(sA, sB);");
	return rejected(s, call->loc, D_E0203, "%s cannot be called\n%s", value_text(callee),
			indexed ? ctx_strf(s->ctx, "indices stand in [ ]: write %s[...]",
					   call->kids.at[0]->name)
				: "");
}

/* select is a function of layouts, too; of integers it chooses, as of numbers. */
static bool are_of_layout(const Value *args, int n)
{
	for (int i = 0; i < n; i++)
		if (!is_layoutish(&args[i]))
			return false;
	return n && args[0].kind != V_INT;
}

static bool can_be_called(Sema *s, const char *name)
{
	Elem e;
	return scope_find(s, name) || elem_is(name, &e) || mma_exists(name) || function_named(name);
}

static Value call_named(Sema *s, const Node *call, const Node *callee, Value *args, int n)
{
	Elem e;
	Reduction by;
	const EltRow *row = elt_by_name(callee->name);
	int op = layout_op_find(callee->name);
	const Symbol *sym = scope_find(s, callee->name);
	if (sym)
		return call_value(s, call, &sym->value);
	if (elem_is(callee->name, &e)) {
		known_elem(s, callee->loc, e);
		return call_cast(s, call, e, args, n);
	}
	if (mma_exists(callee->name))
		return mma_open(s, call, args, n);
	if (row && !(op >= 0 && are_of_layout(args, n)))
		return call_elementwise(s, call, row, args, n);
	if (scan_named(callee->name))
		return counts(s, call->loc, callee->name, n, 1, 1) ? elt_scan(s, call, args)
								   : value_bad();
	if (reduction_named(callee->name, &by))
		return counts(s, call->loc, callee->name, n, 1, 2)
			       ? elt_reduce(s, call, &by, args, n)
			       : value_bad();
	return counts(s, call->loc, callee->name, n, layout_op_rows[op].lo, layout_op_rows[op].hi)
		       ? layout_call(s, call->loc, op, args, n)
		       : value_bad();
}

static Value call_template(Sema *s, const Node *call, const Node *callee, Value *args, int n)
{
	if (mma_exists(callee->name))
		return mma_template(s, callee, args, n);
	return rejected(s, call->loc, D_E0203, "a swizzle cannot be called");
}

static Value eval_call(Sema *s, const Node *n)
{
	const Node *callee = n->kids.at[0];
	int count = n->kids.n - 1;
	Value *args = NEWN(s->arena, Value, count + 1);
	if (calls_word(s, n, W_ROWS) || calls_word(s, n, W_TILE))
		return elt_shape(s, n, calls_word(s, n, W_ROWS));
	if (calls_word(s, n, W_COORD))
		return coord_call(s, n);
	if (calls_word(s, n, W_GROUPS))
		return rejected(s, n->loc, D_E0307,
				"groups are what a grid runs over, or a loop\n"
				"write for (g,m,n) in groups(gD, ends)");
	if (callee->kind == N_NAME && !can_be_called(s, callee->name))
		return unknown_name(s, callee->name, callee->loc);
	if (!eval_all(s, n->kids.at + 1, count, args))
		return value_bad();
	if (callee->kind == N_NAME)
		return call_named(s, n, callee, args, count);
	if (callee->kind == N_TEMPLATE)
		return call_template(s, n, callee, args, count);
	if (callee->kind == N_FIELD)
		return mma_shape(s, n);
	Value v = eval(s, callee);
	return call_value(s, n, &v);
}

static Value eval_template(Sema *s, const Node *n)
{
	int count = n->kids.n;
	Value *args = NEWN(s->arena, Value, count + 1);
	if (*n->name != 'S')
		return rejected(s, n->loc, D_E0206, "%s lacks its types: %s<...>(bf16, bf16, f32)",
				n->name, n->name);
	return eval_all(s, n->kids.at, count, args) ? swizzle_template(s, n->loc, args, count)
						    : value_bad();
}

static Value eval_index(Sema *s, const Node *n)
{
	Value v = eval(s, n->kids.at[0]);
	int count = n->kids.n - 1;
	Value *at = NEWN(s->arena, Value, count + 1);
	if (v.kind == V_BAD)
		return v;
	if (is_buffer(&v))
		return view_index(s, n, &v);
	if (!eval_all(s, n->kids.at + 1, count, at))
		return value_bad();
	if (v.kind == V_TENSOR && is_number_index(s, v.tensor, at, count))
		return number_index(s, n->loc, &v, at, count);
	if (v.kind == V_TENSOR && is_vector_index(s, v.tensor, at, count))
		return vector_index(s, n->loc, &v, at, count);
	if (v.kind == V_TILES)
		return tiles_index(s, n->loc, &v, at, count);
	if (v.kind == V_TENSOR)
		return number_missing(s, n->loc, &v, at, count);
	return rejected(s, v.loc, D_E0203, "what is indexed is %s, this is %s\n%s",
			value_rows[V_TILES].text, value_text(&v),
			is_elementwise(&v) ? "write it without an index: what is computed is of "
					     "all elements"
					   : "");
}

static Value eval_field(Sema *s, const Node *n)
{
	Value v = eval(s, n->kids.at[0]);
	if (v.kind == V_MMA && strlen(n->name) == 1 && strchr("ABC", *n->name))
		reject(s, n->loc, D_E0203, "an mma's %s is a type: it stands in a declaration",
		       n->name);
	else if (v.kind != V_BAD)
		reject(s, n->name_loc, D_E0201, "%s has no member '%s'", value_text(&v), n->name);
	return value_bad();
}

/* Two words side by side; only a clause of the schedule and an option of a copy have them. */
static Value eval_phrase(Sema *s, const Node *n)
{
	return rejected(s, n->loc, D_E0203,
			"two words side by side mean nothing here\n"
			"write an operator or a comma between them");
}

static Value eval_range(Sema *s, const Node *n)
{
	return rejected(
		s, n->loc, D_E0203,
		"a range is no value\n"
		"a loop runs over it, for k in 0 .. n; tiles are counted from it, let gKb = "
		"gK from start[b] .. end[b]; a const picks from it: const bM = pick(64 .. "
		"256 by 64)");
}

static Value (*const by_kind[N_COUNT])(Sema *s, const Node *n) = {
	[N_INT] = eval_number,  [N_REAL] = eval_real,     [N_STR] = eval_str,
	[N_NAME] = eval_name,   [N_TUPLE] = eval_list,    [N_TEMPLATE] = eval_template,
	[N_CALL] = eval_call,   [N_INDEX] = eval_index,   [N_FIELD] = eval_field,
	[N_UNARY] = eval_unary, [N_BINARY] = eval_binary, [N_BASIS] = eval_basis,
	[N_COLON] = eval_colon, [N_COMPOSE] = eval_list,  [N_PHRASE] = eval_phrase,
	[N_FROM] = tiles_from,  [N_RANGE] = eval_range,   [N_TURNED] = eval_turned,
};

Value eval(Sema *s, const Node *n)
{
	bool known = by_kind[n->kind] && !sema_tired(s);
	Value v = known ? by_kind[n->kind](s, n) : value_bad();
	v.loc = n->loc;
	return v;
}
