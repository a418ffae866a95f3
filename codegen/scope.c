/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* scope.c - what is known at a point of the kernel: names, values, and index expressions that were
 * computed and still dominate. A body opens a scope with cg_mark and closes it with cg_release. */
#include "codegen/cg.h"

Mark cg_mark(const Cg *g)
{
	return (Mark){g->names.n, g->facts.n, g->vals.n, g->terms.n};
}

void cg_release(Cg *g, Mark m)
{
	for (int i = m.nterms; i < g->terms.n; i++)
		g->term_at[g->terms.at[i].ix->id] = 0;
	g->names.n = m.nnames;
	g->facts.n = m.nfacts;
	g->vals.n = m.nvals;
	g->terms.n = m.nterms;
}

/* What passes know of the name counts too: they may know more than its expression shows. */
void cg_bind_name(Cg *g, const char *name, IxFact fact, LLVMValueRef v)
{
	EACH(const IxFact, known, g->k->syms) {
		if (known->name != name)
			continue;
		fact.lo = known->lo > fact.lo ? known->lo : fact.lo;
		fact.hi = known->hi < fact.hi ? known->hi : fact.hi;
		fact.div = known->div > fact.div ? known->div : fact.div;
	}
	fact.name = name;
	vec_push(g->arena, &g->names, ((Name){name, v}));
	vec_push(g->arena, &g->facts, fact);
}

LLVMValueRef cg_find_name(const Cg *g, const char *name)
{
	for (int i = g->names.n; i-- > 0;)
		if (g->names.at[i].name == name)
			return g->names.at[i].value;
	return NULL;
}

LLVMValueRef cg_name(const Cg *g, const char *name)
{
	LLVMValueRef v = cg_find_name(g, name);
	if (!v)
		panic("name %s is not bound", name);
	return v;
}

Bound *cg_bind(Cg *g, const Val *v, int n, LLVMTypeRef type)
{
	Bound b = {.val = v, .n = n, .type = type, .reg = NEWN(g->arena, LLVMValueRef, n)};
	vec_push(g->arena, &g->vals, b);
	return &g->vals.at[g->vals.n - 1];
}

Bound *cg_val(Cg *g, const Val *v)
{
	for (int i = g->vals.n; i-- > 0;)
		if (g->vals.at[i].val == v)
			return &g->vals.at[i];
	panic("%%%s has no value in %s", v->name, op_rows[g->op->kind].name);
}

static LLVMValueRef *reg_place(const Bound *v, int i)
{
	if (v->n == 1)
		i = 0; /* a scalar is the same in every register */
	if (i < 0 || i >= v->n)
		panic("%%%s has no register %d", v->val->name, i);
	return &v->reg[i];
}

/* ------------------------------------------------------------------ words */
int cg_words(const Bound *v)
{
	return v->packed ? v->n / v->packed : v->n;
}

LLVMTypeRef cg_word_type(const Cg *g, const Bound *v)
{
	int bits = v->packed * elem_rows[v->val->type->elem].bits;
	return v->packed ? LLVMIntTypeInContext(g->m->lc, (unsigned)bits) : v->type;
}

LLVMValueRef cg_word(Cg *g, const Bound *v, int i)
{
	return v->packed ? LLVMBuildLoad2(g->b, cg_word_type(g, v), v->reg[i], "")
			 : cg_reg(g, v, i);
}

void cg_set_word(Cg *g, const Bound *v, int i, LLVMValueRef x)
{
	if (v->packed)
		LLVMBuildStore(g->b, x, v->reg[i]);
	else
		cg_set_reg(g, v, i, x);
}

/* The word that holds element i, as its elements. */
static LLVMValueRef elements(Cg *g, const Bound *v, int i)
{
	LLVMTypeRef type = LLVMVectorType(v->type, (unsigned)v->packed);
	return LLVMBuildBitCast(g->b, cg_word(g, v, i / v->packed), type, "");
}

/* ------------------------------------------------------------------ elements */
LLVMValueRef cg_reg(Cg *g, const Bound *v, int i)
{
	if (v->packed)
		return LLVMBuildExtractElement(g->b, elements(g, v, i), cg_int32(g, i % v->packed),
					       "");
	LLVMValueRef r = *reg_place(v, i);
	return v->mutable ? LLVMBuildLoad2(g->b, v->type, r, "") : r;
}

void cg_set_reg(Cg *g, const Bound *v, int i, LLVMValueRef x)
{
	if (!v->mutable)
		panic("%%%s is not storage", v->val->name);
	if (v->packed) {
		x = LLVMBuildInsertElement(g->b, elements(g, v, i), x, cg_int32(g, i % v->packed),
					   "");
		cg_set_word(g, v, i / v->packed, LLVMBuildBitCast(g->b, x, cg_word_type(g, v), ""));
	} else {
		LLVMBuildStore(g->b, x, *reg_place(v, i));
	}
}
