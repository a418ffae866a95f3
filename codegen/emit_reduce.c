/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_reduce.c - rows or columns of a register tile reduced: a thread's registers first, then
 * those of the lanes that hold the rest (PTX ISA: shfl.sync.bfly). What other warps hold is theirs.
 *     %r = reduce %x combine=sum       4 registers of a row, 4 lanes
 * ->  3 fadd ; shfl 1, fadd ; shfl 2, fadd
 * Where lanes share out the result (tv_shared_out), of two each gives what the other keeps:
 *     8 columns in as many registers, 8 lanes   ->   4 + 2 + 1 shfl, not 24 */
#include "codegen/cg.h"

#include <inttypes.h>

/* What a lane has of elements of the result, each at its offset. */
typedef struct {
	Value value;
	LLVMValueRef *x;
	int64_t *at;
	int n;
} Share;

/* Of x[0 .. n), halves first: sums of few steps each, which do not wait for each other. */
static LLVMValueRef combined(Cg *g, Value value, LLVMValueRef *x, int n)
{
	if (n == 1)
		return x[0];
	LLVMValueRef half[2] = {combined(g, value, x, n / 2),
				combined(g, value, x + n / 2, n - n / 2)};
	return value(g, half);
}

static LLVMValueRef with_lane(Cg *g, Value value, LLVMValueRef mine, LLVMValueRef theirs, int step)
{
	LLVMValueRef args[4] = {cg_int32(g, -1), theirs, cg_int32(g, step), cg_int32(g, 31)};
	LLVMValueRef both[2] = {mine, cg_call(g, "llvm.nvvm.shfl.sync.bfly.f32", NULL, args, 4)};
	return value(g, both);
}

/* ------------------------------------------------------------------ halves */
static LLVMValueRef is_higher(Cg *g, int step)
{
	LLVMValueRef lane = cg_call(g, "llvm.nvvm.read.ptx.sreg.laneid", NULL, NULL, 0);
	LLVMValueRef bit = LLVMBuildAnd(g->b, lane, cg_int32(g, step), "");
	return LLVMBuildICmp(g->b, LLVMIntNE, bit, cg_int32(g, 0), "");
}

static int find(const Share *s, int64_t at)
{
	for (int i = 0; i < s->n; i++)
		if (s->x[i] && s->at[i] == at)
			return i;
	panic("no register of a reduction holds the element at %" PRId64, at);
}

/* Pairs of elements, the first of which the lower lane keeps. */
static void exchange_halves(Cg *g, const TvExchange *e, Share *s)
{
	LLVMValueRef higher = is_higher(g, e->step);
	int kept = 0;
	for (int i = 0; i < s->n; i++) {
		if (!s->x[i])
			continue;
		int j = find(s, s->at[i] + e->behind);
		LLVMValueRef mine = LLVMBuildSelect(g->b, higher, s->x[j], s->x[i], "");
		LLVMValueRef theirs = LLVMBuildSelect(g->b, higher, s->x[i], s->x[j], "");
		s->x[i] = s->x[j] = NULL;
		s->at[kept] = s->at[i];
		s->x[kept++] = with_lane(g, s->value, mine, theirs, e->step);
	}
	s->n = kept;
}

static void exchange(Cg *g, const Op *op, Share *s)
{
	enum { MOST = 16, LANES = 32 };
	TvExchange all[MOST];
	int n = tv_exchanges(IN(op, X).val->type, op->out->type, all, MOST);
	for (int e = 0; e < n && all[e].step < LANES; e++) {
		if (all[e].behind)
			exchange_halves(g, &all[e], s);
		for (int i = 0; i < s->n && !all[e].behind; i++)
			s->x[i] = with_lane(g, s->value, s->x[i], s->x[i], all[e].step);
	}
}

/* ------------------------------------------------------------------ */
/* The thread's own registers of an element of the result. */
static LLVMValueRef of_thread(Cg *g, const Op *op, Value value, const Type *whole, int element)
{
	const Bound *from = cg_val(g, IN(op, X).val);
	LLVMValueRef *x = NEWN(g->arena, LLVMValueRef, from->n);
	int n = 0;
	for (int i = 0; i < from->n; i++)
		if (tv_source(IN(op, X).val->type, i, whole) == element)
			x[n++] = cg_reg(g, from, i);
	return combined(g, value, x, n);
}

/* A lane keeps what it has of each element, or all lanes share them out. */
void emit_REDUCE(Cg *g, const Op *op)
{
	const Type *from = IN(op, X).val->type, *to = op->out->type;
	Type all = *to;
	all.tv = tv_of_part(g->m->ctx, from->tv, from->layout, to->layout);
	int n = type_regs(&all), kept = 0, together = all.tv == to->tv ? 1 : n;
	Bound *out = cg_bind(g, op->out, type_regs(to), cg_val(g, IN(op, X).val)->type);
	Share s = {.value = cg_value(combine_of(op)->op, to->elem),
		   .x = NEWN(g->arena, LLVMValueRef, n),
		   .at = NEWN(g->arena, int64_t, n)};
	for (int r = 0; r < n; r++) {
		s.at[s.n] = tv_register_offset(all.tv, r);
		s.x[s.n++] = of_thread(g, op, s.value, &all, r);
		if (s.n < together)
			continue;
		exchange(g, op, &s);
		for (int i = 0; i < s.n; i++)
			out->reg[kept++] = s.x[i];
		s.n = 0;
	}
}
