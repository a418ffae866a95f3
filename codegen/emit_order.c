/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_order.c - wgmma.fence and wgmma.wait_group say which registers they order. To LLVM they are
 * instructions with an effect and no operands, around which it may move arithmetic: an accumulator
 * could be scaled after the fence, or read before the wait. Where a loop's other instructions use
 * the registers of its wgmma, these pass through the instruction.
 *     %x = mul %a, %acc ; move %acc, %x ; wgmma.fence ; wgmma %acc[0], %P[0], %sV ...
 * ->  asm volatile ("wgmma.fence.sync.aligned;" : "+f"(acc[0]), ..., "+r"(P[0 .. 1]), ...) */
#include "codegen/cg.h"

#include <limits.h>

typedef VEC(const Val *) Vals;

static void add(Cg *g, Vals *v, const Val *val)
{
	for (int i = 0; i < v->n; i++)
		if (v->at[i] == val)
			return;
	vec_push(g->arena, v, val);
}

static bool names(const Op *op, const Val *v)
{
	return op->out == v || op_takes(op, v);
}

static bool is_used_in(const Block *b, const Val *v)
{
	for (const Op *op = b->first; op; op = op->next)
		if ((op->kind != OP_WGMMA && names(op, v)) || (op->body && is_used_in(op->body, v)))
			return true;
	return false;
}

/* Whether what runs as often as op does, beside the wgmma, uses the registers. */
static bool is_used_beside(const Op *op, const Val *v)
{
	const Op *up = op_parent(op);
	while (up && up->kind != OP_FOR && up->kind != OP_FOR_RING && up->kind != OP_ROLE)
		up = op_parent(up);
	return up && is_used_in(up->body, v);
}

/* Registers that pass through the instruction: accumulators as they are, operands as words. */
typedef struct {
	LLVMValueRef *at;
	int n;
	Buf ties;
} Through;

static void pass(Cg *g, Through *t, LLVMValueRef x)
{
	t->at[t->n++] = x;
	buf_printf(&t->ties, LLVMTypeOf(x) == g->m->f32 ? "=f," : "=r,");
}

static int words_of(const Bound *v)
{
	return v->n * elem_rows[v->val->type->elem].bits / 32;
}

static int count(Cg *g, const Vals *v)
{
	int n = 0;
	for (int i = 0; i < v->n; i++)
		n += cg_words(cg_val(g, v->at[i]));
	return n;
}

static void pass_all(Cg *g, Through *t, const Vals *accs, const Vals *operands)
{
	int n = count(g, accs) + count(g, operands);
	t->at = NEWN(g->arena, LLVMValueRef, n + 1);
	for (int i = 0; i < accs->n; i++)
		for (int r = 0; r < cg_words(cg_val(g, accs->at[i])); r++)
			pass(g, t, cg_word(g, cg_val(g, accs->at[i]), r));
	for (int i = 0; i < operands->n; i++)
		for (int w = 0; w < words_of(cg_val(g, operands->at[i])); w++)
			pass(g, t, cg_packed(g, cg_val(g, operands->at[i]), w));
}

/* What came through stands for them from here on. */
static void take(Cg *g, LLVMValueRef result, int n, const Vals *accs, const Vals *operands)
{
	int at = 0;
	for (int i = 0; i < accs->n; i++)
		for (int r = 0; r < cg_words(cg_val(g, accs->at[i])); r++, at++)
			cg_set_word(g, cg_val(g, accs->at[i]), r,
				    n == 1 ? result
					   : LLVMBuildExtractValue(g->b, result, (unsigned)at, ""));
	for (int i = 0; i < operands->n; i++) {
		Bound *v = cg_val(g, operands->at[i]);
		LLVMValueRef *words = NEWN(g->arena, LLVMValueRef, words_of(v));
		for (int w = 0; w < words_of(v); w++, at++)
			words[w] = n == 1 ? result
					  : LLVMBuildExtractValue(g->b, result, (unsigned)at, "");
		for (int w = 0; v->mutable && w < words_of(v); w++)
			cg_set_bits(g, v, w * (v->n / words_of(v)), words[w]);
		v->bits = v->mutable ? NULL : words;
	}
}

static void order(Cg *g, const char *text, const Vals *accs, const Vals *operands)
{
	Through t = {0};
	pass_all(g, &t, accs, operands);
	LLVMTypeRef out = t.n == 0   ? g->m->tvoid
			  : t.n == 1 ? LLVMTypeOf(t.at[0])
				     : cg_types(g, t.at, t.n);
	for (int i = 0; i < t.n; i++)
		buf_printf(&t.ties, "%d,", i);
	buf_printf(&t.ties, "~{memory}");
	take(g, cg_asm(g, ASM_ACTS, out, text, t.ties.s, t.at, t.n), t.n, accs, operands);
	buf_free(&t.ties);
}

static bool overwrites(const Op *op)
{
	return HAS_IX(op, SCALE) && ix_is(IX(op, SCALE), 0);
}

/* Between the wait of the group before and the fence, what was computed from registers that this
 * group overwrites: were that moved after the group, the registers would be copied, in flight. */
static void add_readers(Cg *g, Vals *v, const Op *fence, const Val *acc)
{
	const Op *wait = fence->prev;
	bool read = false;
	for (; wait && wait->kind != OP_WGMMA_WAIT; wait = wait->prev)
		read |= names(wait, acc);
	for (const Op *op = wait; read && op && op != fence; op = op->next)
		if (op->kind == OP_MOVE)
			add(g, v, IN(op, TO).val);
}

bool cg_order_before(Cg *g, const Op *fence, const char *text)
{
	Vals accs = {0}, operands = {0};
	for (const Op *op = fence->next; op && op->kind == OP_WGMMA; op = op->next) {
		if (is_used_beside(op, IN(op, TO).val))
			add(g, &accs, IN(op, TO).val);
		if (overwrites(op))
			add_readers(g, &accs, fence, IN(op, TO).val);
		if (IN(op, A).val->type->space == SP_REG)
			add(g, &operands, IN(op, A).val);
	}
	if (accs.n + operands.n)
		order(g, text, &accs, &operands);
	return accs.n + operands.n;
}

/* Going back from a wait: what it is the first to wait for. */
typedef struct {
	const Op *wait;
	int n;       /* groups that it leaves in flight */
	int commits; /* met so far */
	int ended;   /* groups farther back than so many have ended before */
} Back;

static bool has_mma(const Block *b)
{
	for (const Op *op = b->first; op; op = op->next)
		if (op->kind == OP_WGMMA || (op->body && has_mma(op->body)))
			return true;
	return false;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* From op to the beginning of its block, or to where nothing more ends; declared: outside it. */
static bool add_ended(Cg *g, Vals *v, Back *b, const Op *op, const Block *outside)
{
	for (; op && op != b->wait && b->commits <= b->ended; op = op->prev) {
		const Val *acc = op->kind == OP_WGMMA ? IN(op, TO).val : NULL;
		if (op->body && has_mma(op->body))
			return false;
		b->commits += op->kind == OP_WGMMA_COMMIT;
		if (op->kind == OP_WGMMA_WAIT)
			b->ended = least(b->ended, b->commits + (int)attrs_int(&op->attrs, A_N, 0));
		if (acc && b->commits > b->n && b->commits <= b->ended && is_used_beside(op, acc) &&
		    (!outside || acc->def->block != outside))
			add(g, v, acc);
	}
	return !op && b->commits <= b->ended;
}

bool cg_order_behind(Cg *g, const Op *wait, const char *text)
{
	Vals accs = {0}, none = {0};
	Back b = {wait, (int)attrs_int(&wait->attrs, A_N, 0), 0, INT_MAX};
	const Op *up = op_parent(wait);
	if (add_ended(g, &accs, &b, wait->prev, NULL) && up &&
	    (up->kind == OP_FOR || up->kind == OP_FOR_RING))
		add_ended(g, &accs, &b, up->body->last, up->body);
	if (accs.n)
		order(g, text, &accs, &none);
	return accs.n;
}
