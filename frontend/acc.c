/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* acc.c - what changes in registers: accumulators and row vectors, products added to them, values
 * assigned to them.
 *     mx : f32 rows(S) = -inf;   ->   %mx = frag : reg f32 (128,1):(1,0) ; fill %mx value=-inf
 *     O += pv(P, sV);            ->   mma %O, %P, %sV atom=...
 *     O <- a * O;                ->   %x = mul %a, %O ; copy %O, %x */
#include "frontend/sema.h"

#include <inttypes.h>
#include <string.h>

enum { PROMOTED_EVERY = 128 /* elements of K, where nothing is said */, PROMOTED_MOST = 1 << 24 };

static bool acc_shape(Sema *s, const Node *type, Value *shape)
{
	Elem e;
	if (!elem_by_name(s, type->name, type->name_loc, &e))
		return false;
	if (type->kids.at[0]->kind == N_NONE)
		return reject(s, type->loc, D_E0204, "an accumulator has the shape of a fragment");
	*shape = eval(s, type->kids.at[0]);
	if (!want(s, shape, V_SHAPE, "the shape of an accumulator"))
		return false;
	if (shape->elem == e)
		return true;
	if (!shape->mma)
		return reject(s, type->name_loc, D_E0205,
			      "values that a loop carries are of f32, not of %s\n"
			      "write f32 here",
			      elem_rows[e].name);
	DiagMsg *m =
		diag(s->ctx, type->name_loc, D_E0205,
		     "the mma accumulates in %s, not in %s\n"
		     "write %s here",
		     elem_rows[shape->elem].name, elem_rows[e].name, elem_rows[shape->elem].name);
	diag_fix(s->ctx, m, type->name_loc, "%s", elem_rows[shape->elem].name);
	return false;
}

static bool number_of(Sema *s, const Value *v, const char *what, double *out)
{
	int64_t i;
	if (v->kind == V_INT && ix_is_const(v->ix, &i)) {
		*out = (double)(float)i;
		return true;
	}
	*out = (double)(float)v->real;
	return want(s, v, V_REAL, what);
}

static bool initial_value(Sema *s, const Node *n, double *out)
{
	Value v = eval(s, n);
	return number_of(s, &v, "the initial value", out);
}

static bool value_exists(Sema *s, const Node *n, Elem e, double v)
{
	if (elem_is_float(e) || elem_round(e, v) == v)
		return true;
	return reject(s, n->loc, D_E0205, "%g is no value of %s", v, elem_rows[e].name);
}

/* Registers that all hold the number. */
Val *build_number(Sema *s, const Node *n, const Value *v, const Type *t)
{
	double number;
	if (!number_of(s, v, "what is joined", &number) || !value_exists(s, n, t->elem, number))
		return NULL;
	Val *x = op_result(s->kernel, build(s, OP_FRAG, n->loc), "x", t);
	build_fill(s, n->loc, x, number);
	return x;
}

Value bind_acc(Sema *s, const Node *n)
{
	Value shape, v = value_of(V_ACC);
	double init;
	if (!acc_shape(s, n->kids.at[0], &shape) || !initial_value(s, n->kids.at[1], &init) ||
	    !value_exists(s, n->kids.at[1], shape.elem, init))
		return value_bad();
	Op *op = build(s, OP_FRAG, n->loc);
	v.val = op_result(s->kernel, op, n->name,
			  type_tile(s->ctx, SP_REG, shape.elem, shape.layout));
	v.mma = shape.mma;
	build_fill(s, n->loc, v.val, init);
	return v;
}

/* ------------------------------------------------------------------ products */
MmaOperand mma_operand(Sema *s, const Value *v)
{
	bool shared = is_buffer(v);
	const Type *t = shared ? v->buffer->type : v->val->type;
	Window w = shared ? value_window(s, v) : type_window(s->ctx, t);
	return (MmaOperand){shared ? v->buffer->name : v->val->name, t->elem, window_extent(w, 0),
			    window_extent(w, 1)};
}

/* Operands are called A and B as the program has them. */
typedef struct {
	const AtomRow *row;
	char which;
	bool first; /* of the atom: swap makes it the second */
} OperandOf;

static Elem elem_of(const OperandOf *o)
{
	return o->first ? o->row->a : o->row->b;
}

static bool not_in_registers(Sema *s, const Value *v, const OperandOf *o)
{
	bool swap = o->first != (o->which == 'A');
	return reject(s, v->loc, D_E0203,
		      "operand %c of %s is read from shared memory (PTX ISA, "
		      "wgmma.mma_async), this is in registers\n"
		      "%s",
		      o->which, o->row->name,
		      swap ? "swap makes B the atom's first operand, which alone may be in "
			     "registers: write mm(sA, P), or leave swap out"
			   : "A alone may be in registers: write mm(P, sB), or write the "
			     "value to a buffer, sP <- .., and mm(sA, sP)");
}

static bool may_be_held(const OperandOf *o)
{
	return *(o->first ? o->row->tv_a : o->row->tv_b);
}

/* A tile of a tensor comes into registers where the atom may read it there. */
static bool operand_read(Sema *s, Value *v, const OperandOf *o)
{
	return v->kind != V_TILE || !may_be_held(o) || elt_read(s, v);
}

/* Where an operand may lie: in a buffer, or in registers where the atom's row says so. */
static bool home_fits(Sema *s, const Value *v, const OperandOf *o)
{
	bool in_registers = v->kind == V_FRAG || v->kind == V_ACC;
	if (v->kind == V_TILE)
		return reject(s, v->loc, D_E0203,
			      "operand %c of %s is read from shared memory (PTX ISA, "
			      "wgmma.mma_async), this is in global memory\n"
			      "copy it to a buffer, sB <- gB[n,k]",
			      o->which, o->row->name);
	if (!in_registers)
		return v->kind == V_VIEW || want(s, v, V_BUFFER, "an operand of mma");
	return may_be_held(o) || not_in_registers(s, v, o);
}

/* A buffer of A can be converted on its way through registers. */
static bool report_type(Sema *s, const Value *v, const MmaOperand *o, const OperandOf *of)
{
	Elem e = elem_of(of);
	bool computed = v->kind == V_FRAG;
	DiagMsg *m = diag(s->ctx, v->loc, D_E0205, "the mma reads %s, %s", elem_rows[e].name,
			  computed ? ctx_strf(s->ctx, "this is %s", elem_rows[o->elem].name)
				   : ctx_strf(s->ctx, "'%s' holds %s", o->name,
					      elem_rows[o->elem].name));
	if (computed)
		diag_remedy(s->ctx, m, "convert it: %s(%s...)", elem_rows[e].name,
			    elem_converts(o->elem, e) ? "" : "f32(");
	else if (v->kind == V_ACC)
		diag_remedy(s->ctx, m, "write %s(%s)", elem_rows[e].name, o->name);
	else if (may_be_held(of) && v->kind != V_VIEW)
		diag_remedy(s->ctx, m, "write %s(f32(%s))", elem_rows[e].name, o->name);
	return false;
}

/* Of an accumulator (m,n), operand A is (m,k) and operand B (n,k). */
static bool report_rows(Sema *s, const Value *v, const MmaOperand *o, const OperandOf *of,
			int64_t rows)
{
	DiagMsg *m = diag(s->ctx, v->loc, D_E0204,
			  "operand %c has %" PRId64 " rows, the accumulator asks for %" PRId64,
			  of->which, o->rows, rows);
	if (o->depth == rows && is_buffer(v))
		diag_remedy(s->ctx, m, "multiply its transpose: write %s'", source_text(s, v->loc));
	else
		diag_remedy(s->ctx, m,
			    "declare the accumulator with %" PRId64 " %s, or take %c of (%" PRId64
			    ",k)",
			    o->rows, of->which == 'A' ? "rows" : "columns", of->which, rows);
	return false;
}

static bool operand_fits(Sema *s, const Value *v, const OperandOf *of, int64_t rows)
{
	Elem e = elem_of(of);
	if (!home_fits(s, v, of) || !elt_whole(s, v))
		return false;
	MmaOperand o = mma_operand(s, v);
	if (o.elem != e)
		return report_type(s, v, &o, of);
	if (v->kind == V_ACC)
		return reject(s, v->loc, D_E0203,
			      "operand %c is a value, and '%s' is what an mma writes\n"
			      "write %s(f32(%s))",
			      of->which, o.name, elem_rows[e].name, o.name);
	if (o.rows != rows)
		return report_rows(s, v, &o, of, rows);
	if (o.depth % of->row->k)
		return reject(s, v->loc, D_E0303,
			      "%s is %" PRId64 " deep, not a multiple of the mma's K, %d\n"
			      "take tiles that are a multiple of %d deep",
			      v->kind == V_FRAG ? "this value" : ctx_strf(s->ctx, "'%s'", o.name),
			      o.depth, of->row->k, of->row->k);
	return !is_buffer(v) || fill_is_seen(s, v->buffer, v->loc);
}

/* Of which operand mm.A or mm.B is the fragment. */
static bool fragment_of(Sema *s, const Node *type, OperandOf *of)
{
	Value mma = eval(s, type->kids.at[0]);
	if (!want(s, &mma, V_MMA, "what has fragments"))
		return false;
	char name = strlen(type->name) == 1 ? type->name[0] : 0;
	*of = (OperandOf){&atom_rows[mma.mma->atom.id], name, (name == 'A') != mma.mma->swap};
	if (name == 'A' || name == 'B')
		return true;
	return reject(s, type->name_loc, D_E0203,
		      "an mma reads A and B, not '%s'\n"
		      "%s",
		      type->name,
		      name == 'C' ? "write acc : f32 mm.C(bM,bN) = 0 for an accumulator"
				  : "write rA : mm.A <- gA[m,k]");
}

/* rA : mm.A <- gA[m,k]: what each thread holds of an operand, read here and multiplied where it is
 * named. */
Value bind_operand(Sema *s, const Node *n)
{
	OperandOf of;
	Value v = fragment_of(s, n->kids.at[0], &of) ? eval(s, n->kids.at[1]) : value_bad();
	bool read = v.kind != V_BAD && operand_read(s, &v, &of) && home_fits(s, &v, &of);
	return read && operand_fits(s, &v, &of, mma_operand(s, &v).rows) ? v : value_bad();
}

/* All mma of a kernel are of the same warpgroups: each runs the whole body. */
static bool warpgroups_fit(Sema *s, const Value *mma)
{
	if (!s->mma || mma_warpgroups(s, s->mma) == mma_warpgroups(s, mma->mma))
		return true;
	DiagMsg *m =
		diag(s->ctx, mma->loc, D_E0204,
		     "this mma is arranged over %" PRId64 " warpgroup%s, another of the kernel "
		     "over %" PRId64 ", and each warpgroup runs the whole body\n"
		     "arrange both alike, * (%" PRId64 ",%" PRId64 ",%" PRId64 ")",
		     mma_warpgroups(s, mma->mma), mma_warpgroups(s, mma->mma) == 1 ? "" : "s",
		     mma_warpgroups(s, s->mma), s->mma->arrange[0], s->mma->arrange[1],
		     s->mma->arrange[2]);
	diag_note(s->ctx, m, s->mma->loc, "the other one is here");
	return false;
}

/* Whether the row multiplies tiles of such types as the program has them. */
static bool multiplies(const Mma *m, const AtomRow *r, Elem a, Elem b)
{
	const AtomRow *own = &atom_rows[m->atom.id];
	return !strcmp(r->name, own->name) && r->a == (m->swap ? b : a) &&
	       r->b == (m->swap ? a : b) && r->c == own->c && r->has_n(m->atom.n);
}

/* Neither buffer has the type that the mma reads, and an mma of their types exists: that one is
 * meant. */
static bool types_are_meant(Sema *s, const Mma *m, const Value *a, const Value *b)
{
	const AtomRow *own = &atom_rows[m->atom.id];
	if (a->kind != V_BUFFER || b->kind != V_BUFFER)
		return true;
	Elem of_a = a->buffer->type->elem, of_b = b->buffer->type->elem;
	if (of_a == (m->swap ? own->b : own->a) || of_b == (m->swap ? own->a : own->b))
		return true;
	for (const AtomRow *r = atom_rows; r < atom_rows + ATOM_COUNT; r++) {
		if (!multiplies(m, r, of_a, of_b))
			continue;
		Mma meant = {.atom = {(AtomId)(r - atom_rows), m->atom.n},
			     .swap = m->swap,
			     .open = m->of};
		return reject(s, loc_join(a->loc, b->loc), D_E0205,
			      "the mma reads %s and %s, '%s' holds %s and '%s' %s\n"
			      "write %s",
			      elem_rows[own->a].name, elem_rows[own->b].name, a->buffer->name,
			      elem_rows[of_a].name, b->buffer->name, elem_rows[of_b].name,
			      mma_text(s, &meant));
	}
	return true;
}

static bool mma_fits(Sema *s, const Value *acc, const Value *mma, Value *a, Value *b)
{
	const AtomRow *r = &atom_rows[mma->mma->atom.id];
	const Tup *shape = acc->val->type->layout->shape;
	int64_t m = shape->at[0]->leaf->value, n = shape->at[1]->leaf->value;
	if (mma->mma != acc->mma)
		return reject(s, mma->loc, D_E0204, "the accumulator has the shape of another mma");
	if (!warpgroups_fit(s, mma) || !types_are_meant(s, mma->mma, a, b))
		return false;
	bool swap = mma->mma->swap;
	OperandOf of_a = {r, 'A', !swap}, of_b = {r, 'B', swap};
	if (!operand_read(s, a, &of_a) || !operand_read(s, b, &of_b))
		return false;
	bool good = operand_fits(s, a, &of_a, m);
	good &= operand_fits(s, b, &of_b, n);
	if (!good)
		return false;
	int64_t depth[2] = {mma_operand(s, a).depth, mma_operand(s, b).depth};
	if (depth[0] != depth[1])
		reject(s, b->loc, D_E0204, "operand A is %" PRId64 " deep, operand B %" PRId64,
		       depth[0], depth[1]);
	return depth[0] == depth[1];
}

Op *mma_build(Sema *s, const Node *n, const Value *v, Val *acc)
{
	Kernel *k = s->kernel;
	Op *op = build_in(s, build(s, OP_MMA, n->loc), acc);
	bool swap = v[1].mma->swap;
	for (int i = 0; i < 2; i++) {
		const Value *operand = &v[2 + (i ^ swap)];
		build_in(s, op, is_buffer(operand) ? operand->buffer->val : operand->val);
		if (is_buffer(operand))
			operand->buffer->read = true;
		if (operand->kind == V_VIEW)
			op_read_window(k, op, 1 + i, *operand->window);
	}
	if (swap)
		op_int(k, op, A_SWAP, 1);
	op_atom(k, op, v[1].mma->atom);
	op_ints(k, op, A_ARRANGE, v[1].mma->arrange, 3);
	s->mma = s->mma ? s->mma : v[1].mma;
	return op;
}

/* What += adds: how long the tensor core adds up by itself is a matter of sums that lose bits. */
typedef struct {
	const Node *call;   /* mm(sA, sB) */
	const SumRow *word; /* around it; NULL: none */
	const Node *at;     /* the word's */
	const Node *every;  /* every n; NULL: not written */
	const Node *scale;  /* what it is multiplied by; NULL: nothing */
} Product;

/* mm(sA, sB), or fast(mm(sA, sB)) */
static bool is_product(Sema *s, const Node *n)
{
	const Node *head = n->kind == N_CALL ? n->kids.at[0] : NULL;
	const Symbol *sym = head && head->kind == N_NAME ? scope_find(s, head->name) : NULL;
	return head && head->kind == N_NAME &&
	       (sym ? sym->value.kind == V_MMA : !!sum_by_name(head->name));
}

static bool product_of(Sema *s, const Node *n, Product *p)
{
	bool scaled = n->op == OPER_MUL && is_product(s, n->kids.at[1]);
	const Node *scale = scaled ? n->kids.at[0] : NULL;
	n = scaled ? n->kids.at[1] : n;
	const Node *name = n->kind == N_CALL ? n->kids.at[0] : NULL;
	*p = (Product){.call = n, .at = n, .scale = scale};
	p->word = name && name->kind == N_NAME ? sum_by_name(name->name) : NULL;
	if (!p->word)
		return true;
	int args = n->kids.n - 1;
	p->every = args > 1 ? n->kids.at[2] : NULL;
	if (args == 1 + p->word->every &&
	    (!p->every || (p->every->kind == N_PHRASE && p->every->kids.at[0]->word == W_EVERY))) {
		p->call = n->kids.at[1];
		return true;
	}
	return reject(s, n->loc, D_E0206,
		      "%s takes a product%s\n"
		      "write %s",
		      p->word->name,
		      p->word->every ? " and how many elements of K it is added up over" : "",
		      p->word->form);
}

/* Who adds up a sum of 8-bit floats: the tensor core loses bits of long ones. *every gets how many
 * elements of K at most it adds up by itself; 0: all. */
static bool sum_is_meant(Sema *s, const Product *p, const AtomRow *r, int64_t *every)
{
	bool loses = r->fraction && r->fraction < elem_rows[r->c].mantissa;
	*every = loses && !p->word ? PROMOTED_EVERY : 0;
	if (!loses && p->word)
		return reject(s, p->at->loc, D_E0203,
			      "%s is for sums that lose bits, and those of %s in %s do not\n"
			      "write mm(sA, sB)",
			      p->word->name, elem_rows[r->a].name, elem_rows[r->c].name);
	if (!p->every)
		return true;
	const Node *n = p->every->kids.at[1];
	if (!eval_int(s, n, 1, PROMOTED_MOST, "how often sums are promoted", every))
		return false;
	int64_t below = *every / r->k * r->k;
	if (*every == below)
		return true;
	return reject(s, n->loc, D_E0303,
		      "sums are promoted every %" PRId64
		      " elements of K, which is not a multiple of the mma's K, %d\n%s",
		      *every, r->k,
		      below ? ctx_strf(s->ctx, "the nearest are %" PRId64 " and %" PRId64, below,
				       below + r->k)
			    : ctx_strf(s->ctx, "the nearest is %d", r->k));
}

/* A product is scaled as a whole: of sums that lose bits, it is no longer than one of them. */
static bool scale_is_meant(Sema *s, const Product *p, const Value *a, int64_t every)
{
	if ((!every || mma_operand(s, a).depth <= every) && !(p->word && p->word->every))
		return true;
	return reject(s, p->at->loc, D_E0203,
		      "a product that is scaled is added up by the tensor core as a whole, "
		      "which keeps few bits of more than %d elements of K\n"
		      "give A and B %d columns, or write x * fast(mm(sA, sB))",
		      PROMOTED_EVERY, PROMOTED_EVERY);
}

void stmt_accumulate(Sema *s, const Node *n)
{
	Product p;
	Value v[4] = {eval(s, n->kids.at[0])};
	int64_t every;
	if (v[0].kind == V_TILE) {
		stmt_add(s, n, &v[0]);
		return;
	}
	s->work_loc = n->loc;
	if (!want(s, &v[0], V_ACC, "what += adds to") || !product_of(s, n->kids.at[1], &p))
		return;
	const Node *call = p.call;
	if (call->kind != N_CALL || call->kids.n != 3 || call->kids.at[0]->kind != N_NAME) {
		Value other = eval(s, call);
		if (other.kind != V_BAD)
			reject(s, call->loc, D_E0203,
			       "what += adds to an accumulator is a product, mm(sA, sB)\n"
			       "write acc <- acc + x, or add where it is written: gD[m,n] <- "
			       "bf16(acc + x)");
		return;
	}
	v[1] = eval(s, call->kids.at[0]);
	if (v[0].mma && v[0].mma->of && v[0].mma->of == v[1].mma)
		v[1].mma = v[0].mma;
	if (!want(s, &v[1], V_MMA, "what is called") ||
	    !target_takes(s, v[1].mma->loc, feature_of_op(atom_rows[v[1].mma->atom.id].warp),
			  "multiply by mma_sync<16,8,16>, which all targets have"))
		return;
	v[2] = eval(s, call->kids.at[1]);
	v[3] = eval(s, call->kids.at[2]);
	const Tile *a = v[2].tile, *b = v[3].tile; /* NULL: values */
	if (v[2].kind == V_BAD || v[3].kind == V_BAD ||
	    !sum_is_meant(s, &p, &atom_rows[v[1].mma->atom.id], &every) ||
	    !mma_fits(s, &v[0], &v[1], &v[2], &v[3]))
		return;
	warn_of_transposed(s, v[2].loc, a, b, v[0].val);
	warn_of_transposed(s, v[3].loc, b, a, v[0].val);
	if (p.scale && scale_is_meant(s, &p, &v[2], every))
		scaled_build(s, n, v, p.scale);
	else if (p.scale)
		return;
	else if (every)
		promote_build(s, n, v, every);
	else
		mma_build(s, n, v, v[0].val);
}

/* ------------------------------------------------------------------ assignment */
static bool report_shape(Sema *s, const Value *to, const Value *v)
{
	const char *name = to->val->name;
	const Layout *is = v->val->type->layout, *wanted = to->val->type->layout;
	if (shape_extent(wanted, 1) == 1 && shape_extent(is, 0) == shape_extent(wanted, 0))
		return reject(s, v->loc, D_E0204,
			      "a tile of %s does not fit '%s' of %s\n"
			      "reduce each row to a value: rowsum(x) or rowmax(x)",
			      shape_str(s, is), name, shape_str(s, wanted));
	return reject(s, v->loc, D_E0204, "a tile of %s does not fit '%s' of %s", shape_str(s, is),
		      name, shape_str(s, wanted));
}

static bool assigned_fits(Sema *s, const Value *to, const Value *v)
{
	const Type *t = to->val->type;
	if (!is_held_whole(s, v, "what is assigned"))
		return false;
	if (v->val->type->layout != t->layout)
		return report_shape(s, to, v);
	return elem_fits(s, v, to->val->name, "is", t->elem);
}

/* acc <- 0.5 * acc: the value is computed from what acc holds, and takes its place. */
void acc_assign(Sema *s, const Node *n, const Value *to)
{
	Value from = eval(s, n->kids.at[1]);
	double number;
	if (from.kind == V_TILE && !elt_read(s, &from))
		return;
	if (from.kind == V_INT || from.kind == V_REAL) {
		if (number_of(s, &from, "what is assigned", &number) &&
		    value_exists(s, n->kids.at[1], to->val->type->elem, number))
			build_fill(s, n->loc, to->val, number);
	} else if (from.kind != V_BAD && via_fits(s, n->kids.at[2], to) &&
		   assigned_fits(s, to, &from)) {
		build_copy(s, n->loc, to->val, from.val);
	}
}
