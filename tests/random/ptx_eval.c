/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptx_eval.c - what a random program does, statement by statement for all threads of a CTA at once,
 * written from the PTX ISA alone.
 *   if (p0) A else B  ->  A for the threads with p0, then B for the others */
#include "ptx.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

/* ------------------------------------------------------------------ values */
static float number(uint64_t b)
{
	uint32_t low = (uint32_t)b;
	float x;
	memcpy(&x, &low, sizeof x);
	return x;
}

static uint64_t bits(float x)
{
	uint32_t b;
	memcpy(&b, &x, sizeof b);
	return isnan(x) ? 0x7fffffff : b;
}

static float flushed(float x)
{
	return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static float saturated(float x)
{
	return x > 1 ? 1 : x > 0 ? x : 0;
}

static float least(float x, float y)
{
	if (isnan(x) || isnan(y))
		return isnan(x) ? y : x;
	if (x == y)
		return signbit(x) ? x : y;
	return x < y ? x : y;
}

static uint64_t to_s32(float x)
{
	if (isnan(x))
		return 0;
	return x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? (uint64_t)INT32_MIN : (uint64_t)(int32_t)x;
}

static uint64_t clamp_s32(int64_t v)
{
	return (uint64_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

static uint64_t reversed(uint64_t v, int n)
{
	uint64_t r = 0;
	for (int i = 0; i < n; i++)
		r |= (v >> i & 1) << (n - 1 - i);
	return r;
}

static uint64_t permuted(uint64_t bytes, uint32_t how)
{
	uint64_t r = 0;
	for (int i = 0; i < 4; i++) {
		uint32_t which = how >> 4 * i & 15;
		uint64_t byte = bytes >> 8 * (which & 7) & 255;
		if (which & 8)
			byte = byte & 128 ? 255 : 0;
		r |= byte << 8 * i;
	}
	return r;
}

static uint64_t dot4(uint64_t a, uint64_t b)
{
	uint64_t sum = 0;
	for (int i = 0; i < 32; i += 8)
		sum += (a >> i & 255) * (b >> i & 255);
	return sum;
}

const OpRow op_rows[] = {
#define OP(op, form, value) {op, form},
#include "ptx_ops.def"
};
const int op_count = sizeof op_rows / sizeof *op_rows;

uint64_t op_value(int row, const uint64_t in[3])
{
	const uint64_t a = in[0], b = in[1], c = in[2];
	const int32_t A = (int32_t)a, B = (int32_t)b;
	const float x = number(a), y = number(b), z = number(c);
	int at = 0;
#define OP(op, form, value) \
	if (at++ == row)    \
		return (uint64_t)(value);
#include "ptx_ops.def"
	return 0;
}

/* ------------------------------------------------------------------ threads */
typedef struct {
	uint64_t v[KINDS][REGS];
	uint8_t *memory, local[PRIVATE], shared[16];
	uint32_t word;
} Thread;

typedef struct {
	Thread t[MOST_THREADS];
	int threads;
	uint64_t *sums;
} Cta;

static int kind_of(char letter)
{
	return letter == 'R' ? KIND_R : (int)(strchr(kind_letters, letter) - kind_letters);
}

static void set(Thread *t, int kind, int reg, uint64_t v)
{
	t->v[kind][reg] = kind == KIND_P ? v != 0 : kind == KIND_D ? v : v & 0xffffffff;
}

static bool guarded(const Thread *t, const Stmt *s)
{
	return s->guard < 0 || !t->v[KIND_P][s->guard] == s->guard_not;
}

static void op_eval(Thread *t, const Stmt *s)
{
	const char *form = op_rows[s->row].form;
	uint64_t in[3] = {0};
	for (int i = 0; i < 3 && form[2 + i]; i++)
		in[i] = form[2 + i] == 'i' ? (uint64_t)s->from[i]
					   : t->v[kind_of(form[2 + i])][s->from[i]];
	set(t, kind_of(form[0]), s->to, op_value(s->row, in));
}

static void memory_eval(Thread *t, const Stmt *s)
{
	uint8_t *at = (s->space == SPACE_LOCAL    ? t->local
		       : s->space == SPACE_SHARED ? t->shared
						  : t->memory) +
		      s->at;
	int kind = s->size == 8 ? KIND_D : KIND_R, n = 64 - 8 * s->size;
	for (int i = 0; i < s->count; i++, at += s->size) {
		int reg = (s->to + i) % kind_regs[kind];
		uint64_t v = t->v[kind][reg];
		if (s->store) {
			memcpy(at, &v, (size_t)s->size);
			continue;
		}
		v = 0;
		memcpy(&v, at, (size_t)s->size);
		set(t, kind, reg, s->sign ? (uint64_t)((int64_t)(v << n) >> n) : v);
	}
}

static void sum_eval(Cta *c, const Thread *t, const Stmt *s)
{
	uint64_t *sum = &c->sums[s->row], v = t->v[s->row == 7 ? KIND_D : KIND_R][s->from[0]];
	uint32_t old = (uint32_t)*sum, w = (uint32_t)v;
	const uint32_t next[] = {old + w,
				 w < old ? w : old,
				 w > old ? w : old,
				 old & w,
				 old | w,
				 old ^ w,
				 (int32_t)w > (int32_t)old ? w : old};
	*sum = s->row == 7 ? *sum + v : next[s->row];
}

/* ------------------------------------------------------------------ warps */
static uint64_t folded(int op, uint64_t a, uint64_t b)
{
	switch (op) {
	case WARP_ADD:
		return a + b;
	case WARP_MIN:
		return (int32_t)a < (int32_t)b ? a : b;
	case WARP_MAX:
		return a > b ? a : b;
	case WARP_AND:
		return a & b;
	case WARP_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

/* The lane that a shuffle reads; its own where the source is outside, and *inside says so. */
static int source(const Stmt *s, int lane, bool *inside)
{
	int segment = s->clamp >> 8, clamp = s->clamp & 31, from = lane;
	int most = (lane & segment) | (clamp & ~segment), first = lane & segment;
	if (s->row == WARP_UP)
		from = lane - s->lanes;
	else if (s->row == WARP_DOWN)
		from = lane + s->lanes;
	else if (s->row == WARP_BFLY)
		from = lane ^ s->lanes;
	else
		from = first | (s->lanes & ~segment);
	*inside = s->row == WARP_UP ? from >= most : from <= most;
	return *inside ? from : lane;
}

/* Lane l of a warp, with the lanes it votes with. */
static uint64_t warp_value(const Thread *was, const Stmt *s, int l, uint32_t members)
{
	const int kind = s->row <= WARP_UNI ? KIND_P : KIND_R, k = s->from[0];
	uint32_t yes = 0, alike = 0;
	uint64_t sum = 0;
	bool first = true;
	for (int i = 0; i < 32; i++) {
		if (!(members >> i & 1))
			continue;
		uint64_t v = was[i].v[kind][k];
		yes |= (uint32_t)(v != 0) << i;
		alike |= (uint32_t)((v & 3) == (was[l].v[kind][k] & 3)) << i;
		sum = first ? v : folded(s->row, sum, v);
		first = false;
	}
	switch (s->row) {
	case WARP_BALLOT:
		return yes;
	case WARP_ALL:
		return yes == members;
	case WARP_ANY:
		return yes != 0;
	case WARP_UNI:
		return yes == members || !yes;
	case WARP_MATCH:
		return alike;
	case WARP_LEADER:
		return was[__builtin_ctz(members)].v[KIND_R][k];
	default:
		return sum;
	}
}

static void warp_eval(Thread *t, const bool *here, const Stmt *s)
{
	Thread was[32];
	uint32_t active = 0;
	memcpy(was, t, sizeof was);
	for (int l = 0; l < 32; l++)
		active |= (uint32_t)here[l] << l;
	for (int l = 0; l < 32; l++) {
		bool inside;
		if (!here[l])
			continue;
		if (s->row >= WARP_IDX) {
			int from = source(s, l, &inside);
			set(&t[l], KIND_R, s->to, was[from].v[KIND_R][s->from[0]]);
			set(&t[l], KIND_P, 3, inside);
			continue;
		}
		uint32_t group = s->width == 32 ? UINT32_MAX : (1u << s->width) - 1;
		uint32_t members = active & group << (l & ~(s->width - 1) & 31);
		bool pred = s->row >= WARP_ALL && s->row <= WARP_UNI;
		set(&t[l], pred ? KIND_P : KIND_R, s->to, warp_value(was, s, l, members));
	}
}

/* ------------------------------------------------------------------ statements */
static void block_eval(Cta *c, const Stmt *s, const bool *here);

static void warps_eval(Cta *c, const Stmt *s, const bool *here)
{
	for (int w = 0; w < c->threads; w += 32)
		warp_eval(c->t + w, here + w, s);
}

static void if_eval(Cta *c, const Stmt *s, const bool *here)
{
	bool yes[MOST_THREADS], no[MOST_THREADS];
	for (int i = 0; i < c->threads; i++) {
		bool p = c->t[i].v[KIND_P][s->from[0]];
		yes[i] = here[i] && p;
		no[i] = here[i] && !p;
	}
	block_eval(c, s->body, yes);
	block_eval(c, s->other, no);
	if (!s->meet)
		return;
	warps_eval(c, s->meet, here);
	block_eval(c, s->then, yes);
	block_eval(c, s->or, no);
}

static void loop_eval(Cta *c, const Stmt *s, const bool *here)
{
	bool still[MOST_THREADS];
	int turns[MOST_THREADS];
	for (int i = 0; i < c->threads; i++)
		turns[i] = s->turns < 0 ? (int)(c->t[i].v[KIND_R][s->from[0]] & 3) : s->turns;
	for (int turn = 0; turn < 4; turn++) {
		for (int i = 0; i < c->threads; i++)
			still[i] = here[i] && turn < turns[i];
		block_eval(c, s->body, still);
	}
}

static void shared_eval(Cta *c, const Stmt *s)
{
	for (int i = 0; i < c->threads; i++)
		c->t[i].word = (uint32_t)c->t[i].v[KIND_R][s->from[0]];
	for (int i = 0; i < c->threads; i++)
		set(&c->t[i], KIND_R, s->to, c->t[(i * s->lanes + s->at) & (c->threads - 1)].word);
}

static void each_eval(Cta *c, const Stmt *s, const bool *here)
{
	for (int i = 0; i < c->threads; i++) {
		if (!here[i] || !guarded(&c->t[i], s))
			continue;
		if (s->kind == ST_OP)
			op_eval(&c->t[i], s);
		else if (s->kind == ST_SUM)
			sum_eval(c, &c->t[i], s);
		else
			memory_eval(&c->t[i], s);
	}
}

static void block_eval(Cta *c, const Stmt *s, const bool *here)
{
	for (; s; s = s->next) {
		if (s->kind == ST_IF || s->kind == ST_MEET)
			if_eval(c, s, here);
		else if (s->kind == ST_LOOP)
			loop_eval(c, s, here);
		else if (s->kind == ST_SHARED)
			shared_eval(c, s);
		else if (s->kind == ST_WARP)
			warps_eval(c, s, here);
		else
			each_eval(c, s, here);
	}
}

static void thread_start(Thread *t, const State *in, uint8_t *memory, int tid)
{
	*t = (Thread){.memory = memory};
	for (int i = 0; i < REGS; i++)
		t->v[KIND_R][i] = in->r[i];
	for (int i = 0; i < 4; i++) {
		t->v[KIND_D][i] = in->d[i];
		t->v[KIND_F][i] = in->f[i];
		t->v[KIND_P][i] = in->p[i] != 0;
		memcpy(t->shared + 4 * i, &tid, 4);
	}
}

static void thread_end(const Thread *t, State *out)
{
	for (int i = 0; i < REGS; i++)
		out->r[i] = (uint32_t)t->v[KIND_R][i];
	for (int i = 0; i < 4; i++) {
		out->d[i] = t->v[KIND_D][i];
		out->f[i] = (uint32_t)t->v[KIND_F][i];
		out->p[i] = (uint32_t)t->v[KIND_P][i];
	}
}

void program_eval(const Program *p, Data *data)
{
	static Cta c;
	bool here[MOST_THREADS];
	memset(here, 1, sizeof here);
	c.threads = p->threads;
	c.sums = data->sums;
	for (int cta = 0; cta < p->ctas; cta++) {
		int first = cta * p->threads;
		for (int i = 0; i < p->threads; i++)
			thread_start(&c.t[i], &data->in[first + i], data->memory[first + i], i);
		block_eval(&c, p->body, here);
		for (int i = 0; i < p->threads; i++)
			thread_end(&c.t[i], &data->out[first + i]);
	}
}
