/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* wgmma.c - warpgroup matrix products (PTX ISA: Asynchronous Warpgroup Level Matrix Instructions).
 * Each warp of the four computes its 16 rows; operands are read through real matrix descriptors,
 * when the operation happens, which is at the latest when its group is waited for. Products of
 * 16-bit and narrower floats are exact; sums are f32, in order of k, fused.
 *   D[64 x n] (+)= A[64 x k] B[k x n], one group per commit */
#include "sim/lanes.h"
#include "sim/matrix.h"

#include <stdlib.h>

typedef struct {
	u32 start, lead, stride, swizzle, base;
	bool bad;
} Desc;

static Desc desc_of(u64 d)
{
	static const u8 spans[] = {0, 128, 64, 32};
	return (Desc){.start = (u32)(d & 0x3fff) << 4,
		      .lead = (u32)(d >> 16 & 0x3fff) << 4,
		      .stride = (u32)(d >> 32 & 0x3fff) << 4,
		      .swizzle = spans[d >> 62],
		      .base = (u32)(d >> 49 & 7)};
}

/* Byte offset of element (mn, k) of an operand with elements of size bytes, before the swizzle.
 * CuTe's canonical layouts; T elements are 16 bytes, a span is the swizzle's bytes. */
static u32 desc_offset(const Desc *d, u32 mn, u32 k, u32 size, bool trans)
{
	u32 t = 16 / size, at;
	if (!trans) {
		if (!d->swizzle)
			at = mn / 8 * d->stride + mn % 8 * 16 + k / t * d->lead + k % t * size;
		else
			at = mn / 8 * d->stride + mn % 8 * d->swizzle + k * size;
	} else if (!d->swizzle) {
		at = mn / t * d->stride + mn % t * size + k / 8 * d->lead + k % 8 * 16;
	} else {
		u32 span = d->swizzle / size;
		at = mn / span * d->lead + mn % span * size + k / 8 * d->stride +
		     k % 8 * d->swizzle;
	}
	return d->start + at;
}

/* One 16-byte chunk of elements along the contiguous direction, at (mn, k). */
static const u8 *desc_chunk(const Wgmma *op, Warp *w, const Desc *d, u32 mn, u32 k, u32 size,
			    bool trans)
{
	u32 at = (u32)swizzled(desc_offset(d, mn, k, size, trans), d->swizzle);
	if (at < SMEM_BASE || at + 16 > w->cta->smem_end) {
		report(w, op->in, -1, SIM_BOUNDS, "a matrix descriptor reaches shared address 0x%x",
		       at);
		return NULL;
	}
	return w->cta->smem + (at - SMEM_BASE);
}

enum { OPERAND_A = 1, OPERAND_B = 2 };

static bool is_trans(const Ins *in, int operand)
{
	bool wide = type_bytes[in->type[1]] == 2;
	bool regs = in->args[1].n > 1;
	if (!wide || (regs && operand == OPERAND_A))
		return false;
	const Arg *a = &in->args[operand == OPERAND_A ? 6 : regs ? 6 : 7];
	return a->kind == A_IMM && a->imm;
}

/* Rows [row, row + rows) of an operand in shared memory as floats, k fastest: to[r * 32 + k], or
 * for B as to[k * 256 + n]. */
static bool operand_load(Wgmma *op, Warp *w, u64 desc, int which, u32 row, u32 rows, f32 *to)
{
	const Ins *in = op->in;
	Type t = (Type)in->type[which];
	u32 size = type_bytes[t], chunk = 16 / size, kk = in->shape[2];
	bool trans = is_trans(in, which);
	Desc d = desc_of(desc);
	f32 line[16];
	u32 step_mn = trans ? chunk : 1, step_k = trans ? 1 : chunk;
	u32 s_mn = which == OPERAND_B ? 1 : 32, s_k = which == OPERAND_B ? 256 : 1;
	for (u32 mn = 0; mn < rows; mn += step_mn) {
		for (u32 k = 0; k < kk; k += step_k) {
			const u8 *from = desc_chunk(op, w, &d, row + mn, k, size, trans);
			if (!from)
				return false;
			elements_widen(t, from, chunk, line);
			f32 *out = to + mn * s_mn + k * s_k;
			u32 s = trans ? s_mn : s_k;
			for (u32 i = 0; i < chunk; i++)
				out[i * s] = line[i];
		}
	}
	return true;
}

/* A fragment in registers: 16 x k of this warp (PTX ISA: register fragments of wgmma). */
static void operand_regs(const Wgmma *op, Warp *w, f32 *to)
{
	const Arg *v = &op->in->args[1];
	Type t = (Type)op->in->type[1];
	u32 size = type_bytes[t], per = 4 / size;
	f32 line[4];
	for (u32 r = 0; r < 4; r++) {
		const u32 *reg = r32(w, v->list[r].slot);
		for (u32 l = 0; l < LANES; l++) {
			elements_widen(t, (const u8 *)&reg[l], per, line);
			u32 row = l / 4 + (r & 1) * 8, k = (l % 4) * per + (r >> 1) * 4 * per;
			for (u32 i = 0; i < per; i++)
				to[row * 32 + k + i] = line[i];
		}
	}
}

/* The accumulator: register r of lane l holds row l/4 + 8 (r/2 % 2), column 8 (r/4) + 2 (l%4) +
 * r%2; f16 packs two columns into one register. */
static void acc_load(const Wgmma *op, Warp *w, f32 *acc)
{
	const Arg *v = &op->in->args[0];
	bool half = op->in->type[0] == T_F16;
	for (u32 r = 0; r < v->n; r++) {
		const u32 *reg = r32(w, v->list[r].slot);
		u32 row = (half ? r : r / 2) % 2 * 8,
		    col = (half ? r / 2 : r / 4) * 8 + (half ? 0 : r % 2);
		for (u32 l = 0; l < LANES; l++) {
			f32 *at = &acc[(row + l / 4) * 256 + col + l % 4 * 2];
			if (half)
				elements_widen(T_F16, (const u8 *)&reg[l], 2, at);
			else
				memcpy(at, &reg[l], 4);
		}
	}
}

static void acc_store(const Wgmma *op, Warp *w, const f32 *acc)
{
	const Arg *v = &op->in->args[0];
	bool half = op->in->type[0] == T_F16;
	for (u32 r = 0; r < v->n; r++) {
		u32 *reg = r32(w, v->list[r].slot);
		u32 row = (half ? r : r / 2) % 2 * 8,
		    col = (half ? r / 2 : r / 4) * 8 + (half ? 0 : r % 2);
		for (u32 l = 0; l < LANES; l++) {
			const f32 *at = &acc[(row + l / 4) * 256 + col + l % 4 * 2];
			if (half)
				reg[l] = halves_pack(at[0], at[1]);
			else
				memcpy(&reg[l], at, 4);
		}
	}
}

/* Operands of one instruction. The four warps of a warpgroup mostly have the same B, which is kept
 * from one to the next, and one operation after another adds to the same sums. */
typedef struct Tiles {
	_Alignas(64) f32 a[16 * 32];
	_Alignas(64) f32 b[32 * 256];
	_Alignas(64) f32 acc[4][16 * 256];
	const Ins *b_of; /* NULL: none is held */
	u64 b_desc;
	const Wgmma *acc_of[4]; /* each warp's last operation, whose sums its registers lack */
} Tiles;

static Tiles *tiles_of(Cluster *c)
{
	if (!c->tiles)
		c->tiles = aligned_alloc(64, sizeof *c->tiles);
	return c->tiles;
}

static void scale(f32 *at, u32 n, s64 by)
{
	if (by == -1)
		for (u32 i = 0; i < n; i++)
			at[i] = -at[i];
}

static bool tiles_load(Wgmma *op, Warp *w, Tiles *t)
{
	const Ins *in = op->in;
	if (in->args[1].n > 1)
		operand_regs(op, w, t->a);
	else if (!operand_load(op, w, op->a, OPERAND_A, w->id % 4 * 16, 16, t->a))
		return false;
	bool signs = in->type[0] != T_S32;
	if (signs)
		scale(t->a, 16 * 32, in->args[4].imm);
	if (t->b_of == in && t->b_desc == op->b)
		return true;
	t->b_of = NULL;
	if (!operand_load(op, w, op->b, OPERAND_B, 0, in->shape[1], t->b))
		return false;
	if (signs)
		scale(t->b, 32 * 256, in->args[5].imm);
	t->b_of = in;
	t->b_desc = op->b;
	return true;
}

static void integer_product(const Wgmma *op, Warp *w, Tiles *t)
{
	const Ins *in = op->in;
	const Arg *v = &in->args[0];
	for (u32 r = 0; r < v->n; r++) {
		u32 *reg = r32(w, v->list[r].slot);
		for (u32 l = 0; l < LANES; l++) {
			u32 row = r / 2 % 2 * 8 + l / 4, col = r / 4 * 8 + l % 4 * 2 + r % 2;
			s64 sum = op->scale ? (s32)reg[l] : 0;
			for (u32 k = 0; k < in->shape[2]; k++)
				sum += (s64)t->a[row * 32 + k] * (s64)t->b[k * 256 + col];
			reg[l] = (u32)(has(in, M_SATFINITE) ? clamp32(sum) : sum);
		}
	}
}

/* Registers get what is held for them. */
static void acc_settle(Warp *w, Tiles *t)
{
	const Wgmma **of = &t->acc_of[w->id % 4];
	if (*of)
		acc_store(*of, w, t->acc[w->id % 4]);
	*of = NULL;
}

static bool same_registers(const Arg *a, const Arg *b)
{
	bool same = a->n == b->n;
	for (u32 i = 0; i < a->n && same && a != b; i++)
		same = a->list[i].slot == b->list[i].slot;
	return same;
}

/* Where the sums are that op adds to. Those of f16 are rounded at each operation. */
static f32 *acc_take(Warp *w, Wgmma *op, Tiles *t)
{
	const Wgmma **of = &t->acc_of[w->id % 4];
	f32 *acc = t->acc[w->id % 4];
	bool held = *of && op->in->type[0] == T_F32 && (*of)->in->type[0] == T_F32 &&
		    same_registers(&(*of)->in->args[0], &op->in->args[0]);
	if (!held)
		acc_settle(w, t);
	if (!op->scale)
		memset(acc, 0, sizeof t->acc[0]);
	else if (!held)
		acc_load(op, w, acc);
	*of = op;
	return acc;
}

static void execute(Warp *w, Wgmma *op, Tiles *t)
{
	const Ins *in = op->in;
	if (in->args[1].n > 1 || in->type[0] == T_S32)
		acc_settle(w, t);
	if (!tiles_load(op, w, t))
		return;
	if (in->type[0] == T_S32)
		integer_product(op, w, t);
	else
		matrix_product(acc_take(w, op, t), t->a, t->b, 16, in->shape[1], in->shape[2]);
}

static void slots_mark(Warp *w, const Arg *v, u8 to)
{
	for (u32 i = 0; i < v->n; i++)
		w->busy[v->list[i].slot >> 6] = to;
}

/* Finishes the next operation of one warp up to a group. */
static bool queue_step(Warp *w, u32 group, Tiles *t)
{
	WgmmaQueue *q = &w->wgmma;
	if (q->head == q->n || q->ops[q->head].group > group)
		return false;
	execute(w, &q->ops[q->head++], t);
	if (q->head == q->n)
		q->head = q->n = 0;
	return true;
}

/* Which registers operations that are still in flight own, after a wait of the warp itself. */
static void busy_refresh(Warp *w)
{
	WgmmaQueue *q = &w->wgmma;
	q->flying = q->head < q->n;
	if (!w->busy)
		return;
	memset(w->busy, 0, (w->code->file_bytes >> 6) + 1);
	for (u32 i = q->head; i < q->n; i++) {
		slots_mark(w, &q->ops[i].in->args[0], 1);
		if (q->ops[i].in->args[1].n > 1)
			slots_mark(w, &q->ops[i].in->args[1], 1);
	}
}

static Warp *group_first(Warp *w)
{
	return w->cta->warps + w->id / 4 * 4;
}

/* Whose reads a wait of w speaks for. A group is the warpgroup's, and its reads are done together;
 * who asks for it is held to his own warp's, each of which then reads all of A. */
static WgmmaQueue *reads_of(Warp *w)
{
	return &(checked(w->cluster, CHECK_WARPS) ? w : group_first(w))->wgmma;
}

/* All four warps run their parts, an operation at a time: what one waits for has happened in
 * all. */
static bool wgmma_drain(Warp *w, u32 group)
{
	Warp *first = group_first(w);
	Tiles *t = tiles_of(w->cluster);
	if (!t)
		return false;
	t->b_of = NULL;
	memset(t->acc_of, 0, sizeof t->acc_of);
	for (bool more = true; more;) {
		more = false;
		for (u32 i = 0; i < 4; i++)
			more |= queue_step(&first[i], group, t);
	}
	for (u32 i = 0; i < 4; i++)
		acc_settle(&first[i], t);
	return true;
}

void prepare_wgmma(Pool *a, Ins *in)
{
	static const u8 depth[] = {0, 32, 16, 0, 8};
	u32 n = in->shape[1], size = type_bytes[in->type[1]];
	bool ints = in->type[0] == T_S32;
	if (in->shape[0] != 64 || n % 8 || in->shape[2] != depth[size])
		refuse(a, in, "the shape is m64nNkK with N a multiple of 8 and K 32 bytes");
	if (ints && n != 8 && n != 24 && n % 16)
		refuse(a, in, "integer products have N of 8, 24 or a multiple of 16");
	if ((in->type[0] == T_F16 ? n / 4 : n / 2) != in->args[0].n)
		refuse(a, in, "the accumulator has another number of registers");
	if (in->args[1].n != 1 && in->args[1].n != 4)
		refuse(a, in, "A is a descriptor or four registers");
	if (in->args[1].n == 1 && in->args[1].list[0].width != 8)
		refuse(a, in, "a matrix descriptor has 64 bits");
	if (in->type[1] != in->type[2] &&
	    (size == 2 || in->type[1] == T_TF32 || in->type[2] == T_TF32))
		refuse(a, in, "A and B have types that do not go together");
	for (u32 i = 0; i < in->args[0].n; i++)
		if (in->args[0].list[i].width != 4)
			refuse(a, in, "accumulator registers have 32 bits");
}

/* Bytes that one operation reads and that lie side by side. */
typedef struct {
	u32 from, bytes;
} Piece;

static void piece_touch(Warp *w, const Piece *p, const Access *a)
{
	if (p->bytes && p->from >= SMEM_BASE && p->from + p->bytes <= w->cta->smem_end)
		shadow_touch(w->cta, p->from, p->bytes, a);
}

/* Another 16 bytes: a swizzle turns neighbours round, but leaves them neighbours. */
static void piece_add(Warp *w, Piece *p, u32 at, const Access *a)
{
	if (at + 16 == p->from) {
		p->from = at;
	} else if (p->from + p->bytes != at) {
		piece_touch(w, p, a);
		*p = (Piece){at, 0};
	}
	p->bytes += 16;
}

static void operand_touch(Warp *w, const Ins *in, u64 desc, int which, u32 actor, u32 group)
{
	Desc d = desc_of(desc);
	bool own = which == OPERAND_A && !checked(w->cluster, CHECK_WARPS);
	u32 size = type_bytes[in->type[which]], chunk = 16 / size;
	u32 rows = own ? 16 : in->shape[which == OPERAND_A ? 0 : 1], row = own ? w->id % 4 * 16 : 0;
	bool trans = is_trans(in, which);
	const Access a = {.w = w,
			  .in = in,
			  .lane = 0,
			  .async = true,
			  .actor = actor,
			  .clock = group,
			  .what = "wgmma"};
	Piece p = {0};
	for (u32 mn = 0; mn < rows; mn += trans ? chunk : 1) {
		for (u32 k = 0; k < in->shape[2]; k += trans ? 1 : chunk) {
			u32 at = desc_offset(&d, row + mn, k, size, trans);
			piece_add(w, &p, (u32)swizzled(at, d.swizzle), &a);
		}
	}
	piece_touch(w, &p, &a);
}

static void registers_dirty(Warp *w, const Ins *in, const Arg *v, const char *what)
{
	for (u32 i = 0; i < v->n; i++) {
		if (!w->dirty[v->list[i].slot >> 6])
			continue;
		report(w, in, -1, SIM_WGMMA,
		       "%s register %u was written after the last wgmma.fence: a fence must come "
		       "between",
		       what, i);
		return;
	}
}

static void issue_checks(Warp *w, const Ins *in, const Wgmma *op)
{
	if (w->busy) {
		registers_dirty(w, in, &in->args[0], "accumulator");
		slots_mark(w, &in->args[0], 1);
		if (in->args[1].n > 1) {
			registers_dirty(w, in, &in->args[1], "A");
			slots_mark(w, &in->args[1], 1);
		}
	}
	if (!w->cluster->job->opt->checks)
		return;
	WgmmaQueue *q = reads_of(w);
	if (!q->actor)
		q->actor = actor_new(w->cluster);
	if (in->args[1].n == 1)
		operand_touch(w, in, op->a, OPERAND_A, q->actor, op->group);
	operand_touch(w, in, op->b, OPERAND_B, q->actor, op->group);
}

Run run_wgmma(Warp *w, const Ins *in, u32 mask)
{
	WgmmaQueue *q = &w->wgmma;
	u32 lane = lane_first(mask);
	if (w->id / 4 * 4 + 4 > w->cta->nwarps) {
		report(w, in, -1, SIM_OPERAND, "wgmma needs four warps, the last warpgroup has %u",
		       w->cta->nwarps % 4);
		return RUN_FAIL;
	}
	if (!list_grow(&q->ops, &q->cap, q->n + 1, sizeof *q->ops))
		return RUN_FAIL;
	Wgmma op = {.in = in,
		    .group = q->committed + 1,
		    .b = arg_get(w, &in->args[2], lane),
		    .scale = pred_get(w, &in->args[3]) >> lane & 1};
	if (in->args[1].n == 1)
		op.a = arg_get(w, &in->args[1].list[0], lane);
	if (desc_of(op.b).base || (in->args[1].n == 1 && desc_of(op.a).base)) {
		report(w, in, -1, SIM_OPERAND,
		       "matrix descriptors with a base offset are not simulated");
		return RUN_FAIL;
	}
	issue_checks(w, in, &op);
	q->ops[q->n++] = op;
	q->flying = true;
	return RUN_NEXT;
}

RUN(wgmma_fence, if (w->busy) memset(w->dirty, 0, (w->code->file_bytes >> 6) + 1))

RUN(wgmma_commit, w->wgmma.committed++; cluster_event(w->cluster))

Run run_wgmma_wait(Warp *w, const Ins *in, u32 mask)
{
	WgmmaQueue *q = &w->wgmma;
	u32 keep = (u32)in->args[0].imm, need = q->committed > keep ? q->committed - keep : 0;
	Warp *first = group_first(w);
	(void)mask;
	if (need <= q->done)
		return RUN_NEXT;
	for (u32 i = 0; i < 4; i++)
		if (first[i].wgmma.committed < need)
			return wait_for(w, in, (Wait){.kind = W_WGMMA, .phase = need, .lane = i});
	if (!wgmma_drain(w, need))
		return RUN_FAIL;
	q->done = need;
	busy_refresh(w);
	if (reads_of(w)->actor)
		clock_raise(&w->know.seen, reads_of(w)->actor, need);
	trace_span(w->cluster, w, "wgmma", "mma", w->cluster->steps, w->cluster->steps + 1);
	return RUN_NEXT;
}
