/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_scan.c - running sums along the rows of a register tile. A row is in steps (tv_row), each of
 * registers or of lanes, from neighbours on. After a step each register holds the sum of its block
 * up to itself; blocks grow by the extent of the step.
 *     %y = scan %x       4 registers side by side, 32 lanes of them, 2 registers far apart
 * ->  3 fadd                               blocks of 4
 *     5 (shfl.up, fadd, select) ; shfl.up, 4 fadd ; shfl.idx           of 128, each with its total
 *     4 fadd                               of 256
 * Where several warps hold a row, each adds what %parts says of those before it.
 * (PTX ISA: shfl.sync.up, shfl.sync.idx) */
#include "codegen/cg.h"

/* The steps that are done cut registers into blocks, of neighbours in a row. */
typedef struct {
	Cg *g;
	Value add;
	LLVMTypeRef type;
	int n;
	LLVMValueRef *sum;   /* of each register: of all in its block up to it */
	LLVMValueRef *total; /* of each block, at its first register */
	int *first;          /* of the block of each register */
} Scan;

/* -0 + x is x, and 0 + -0 is not. */
static LLVMValueRef nothing(const Scan *s)
{
	bool words = s->type == s->g->m->i32;
	return words ? cg_int32(s->g, 0) : LLVMConstReal(s->type, -0.0);
}

static LLVMValueRef added(const Scan *s, LLVMValueRef x, LLVMValueRef y)
{
	LLVMValueRef both[2] = {x, y};
	return s->add(s->g, both);
}

/* Another block before that of register r, whose total is then of both. */
static void follow(const Scan *s, int r, int before)
{
	LLVMValueRef own = s->sum[r], *total = &s->total[r];
	s->sum[r] = added(s, s->total[before], own);
	if (s->first[r] == r)
		*total = *total == own ? s->sum[r] : added(s, s->total[before], *total);
}

static void scan_registers(const Scan *s, const TvRow *row)
{
	for (int r = 0; r < s->n; r++)
		if (r / row->step % row->extent)
			follow(s, r, s->first[r - row->step]);
	for (int r = 0; r < s->n; r++) {
		int place = r / row->step % row->extent, after = row->extent - 1 - place;
		if (s->first[r] == r && !place)
			s->total[r] = s->total[r + after * row->step];
	}
	for (int r = 0; r < s->n; r++)
		s->first[r] -= r / row->step % row->extent * row->step;
}

/* ------------------------------------------------------------------ lanes */
static LLVMValueRef of_below(const Scan *s, LLVMValueRef x, int lanes)
{
	Cg *g = s->g;
	LLVMValueRef word = LLVMBuildBitCast(g->b, x, g->m->i32, "");
	LLVMValueRef args[4] = {cg_int32(g, -1), word, cg_int32(g, lanes), cg_int32(g, 0)};
	word = cg_call(g, "llvm.nvvm.shfl.sync.up.i32", NULL, args, 4);
	return LLVMBuildBitCast(g->b, word, s->type, "");
}

/* The place of the thread is at least so much. */
static LLVMValueRef has_before(const Scan *s, const TvRow *row, int places)
{
	Cg *g = s->g;
	LLVMValueRef bits =
		LLVMBuildAnd(g->b, cg_thread(g), cg_int32(g, (row->extent - 1) * row->step), "");
	return LLVMBuildICmp(g->b, LLVMIntUGE, bits, cg_int32(g, places * row->step), "");
}

static LLVMValueRef of_last(const Scan *s, const TvRow *row, LLVMValueRef x)
{
	Cg *g = s->g;
	LLVMValueRef last =
		LLVMBuildOr(g->b, cg_lane(g), cg_int32(g, (row->extent - 1) * row->step), "");
	x = cg_of_lane(g, LLVMBuildBitCast(g->b, x, g->m->i32, ""), last);
	return LLVMBuildBitCast(g->b, x, s->type, "");
}

/* The total of the blocks of lanes before; in the first, what changes no number. */
static LLVMValueRef scan_block(const Scan *s, const TvRow *row, LLVMValueRef *total)
{
	LLVMValueRef up_to = *total;
	for (int n = 1; n < row->extent; n *= 2) {
		LLVMValueRef more = added(s, of_below(s, up_to, n * row->step), up_to);
		up_to = LLVMBuildSelect(s->g->b, has_before(s, row, n), more, up_to, "");
	}
	*total = of_last(s, row, up_to);
	return LLVMBuildSelect(s->g->b, has_before(s, row, 1), of_below(s, up_to, row->step),
			       nothing(s), "");
}

static void scan_lanes(const Scan *s, const TvRow *row)
{
	LLVMValueRef *before = NEWN(s->g->arena, LLVMValueRef, s->n);
	for (int r = 0; r < s->n; r++) {
		if (s->first[r] == r)
			before[r] = scan_block(s, row, &s->total[r]);
		s->sum[r] = added(s, before[s->first[r]], s->sum[r]);
	}
}

/* ------------------------------------------------------------------ warps */
/* Of the block that begins at register `first`: what the warps before have of its row. */
static LLVMValueRef of_warps_before(const Scan *s, const Op *op, const TvRow *row, int first)
{
	Cg *g = s->g;
	const Bound *parts = cg_val(g, IN(op, PARTS).val);
	const Type *t = parts->val->type;
	int64_t rows = layout_size_int(layout_mode(g->m->ctx, t->layout, 0));
	int64_t at = tv_register_offset(t->tv, tv_source(op->out->type, first, t));
	LLVMValueRef sum = nothing(s);
	for (int w = 0; w < row->extent - 1; w++) {
		LLVMValueRef part = cg_reg(g, parts, tv_register_at(t, at + w * rows));
		sum = LLVMBuildSelect(g->b, has_before(s, row, w + 1), added(s, sum, part), sum,
				      "");
	}
	return sum;
}

static void scan_warps(const Scan *s, const Op *op, const TvRow *row)
{
	LLVMValueRef *before = NEWN(s->g->arena, LLVMValueRef, s->n);
	for (int r = 0; r < s->n; r++) {
		if (s->first[r] == r)
			before[r] = of_warps_before(s, op, row, r);
		s->sum[r] = added(s, before[s->first[r]], s->sum[r]);
	}
}

/* ------------------------------------------------------------------ */
void emit_SCAN(Cg *g, const Op *op)
{
	TvRow row[2 * TV_MODES];
	int n = type_regs(op->out->type), steps;
	const Bound from = *cg_val(g, IN(op, X).val);
	Bound *out = cg_bind(g, op->out, n, from.type);
	Scan s = {.g = g,
		  .add = cg_value(OP_ADD, op->out->type->elem),
		  .type = from.type,
		  .n = n,
		  .sum = out->reg,
		  .total = NEWN(g->arena, LLVMValueRef, n),
		  .first = NEWN(g->arena, int, n)};
	if (!tv_row(op->out->type, row, &steps))
		panic("the rows of %s overlap", op->out->name);
	for (int r = 0; r < n; r++) {
		s.sum[r] = s.total[r] = cg_reg(g, &from, r);
		s.first[r] = r;
	}
	for (int i = 0; i < steps; i++)
		if (row[i].of == TV_WARPS)
			scan_warps(&s, op, &row[i]);
		else
			(row[i].of == TV_LANES ? scan_lanes : scan_registers)(&s, &row[i]);
}
