/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptx_make.c - a random program. Barriers stand at the top only; threads of a warp that go apart
 * vote and shuffle by the mask of those who are there, or across the sides of a branch; what other
 * threads may see at any time is only added to, each accumulator by one operation.
 *   if (p1) { r3 = r1 + r2; r4 = ballot(p0) } sums[2] max= r4; sm[tid] = r4; sync; r5 = sm[..] */
#include "ptx.h"

#include <stdlib.h>
#include <string.h>

uint64_t random_next(uint64_t *s)
{
	uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

int random_below(uint64_t *s, int n)
{
	return (int)((random_next(s) >> 33) % (uint64_t)n);
}

const int kind_regs[KINDS] = {8, 4, 4, 4};
const char kind_letters[] = "rdfp";

typedef struct {
	uint64_t seed;
	int number, left; /* statements */
} Maker;

static int pick(Maker *m, int n)
{
	return random_below(&m->seed, n);
}

static int reg(Maker *m, Kind k)
{
	return pick(m, kind_regs[k]);
}

/* The words in a random order, each after a dot. */
static void shuffle(Maker *m, const char **words, int n, char *to)
{
	*to = 0;
	while (n) {
		int i = pick(m, n);
		if (*words[i])
			strcat(strcat(to, "."), words[i]);
		words[i] = words[--n];
	}
}

static void op_make(Maker *m, Stmt *s)
{
	s->row = pick(m, op_count);
	const char *form = op_rows[s->row].form;
	s->to = reg(m, (Kind)(strchr(kind_letters, form[0]) - kind_letters));
	for (int i = 0; form[2 + i] && i < 3; i++) {
		const char *k = strchr(kind_letters, form[2 + i]);
		s->from[i] = form[2 + i] == 'R' ? reg(m, KIND_R)
			     : k                ? reg(m, (Kind)(k - kind_letters))
						: pick(m, 32);
	}
	if (pick(m, 4) == 0)
		s->guard = reg(m, KIND_P);
	s->guard_not = pick(m, 2);
}

static void memory_make(Maker *m, Stmt *s)
{
	static const char *const types[4] = {"u8", "u16", "u32", "u64"};
	static const char *const signs[4] = {"s8", "s16", "s32", "s64"};
	static const char *const plain[4] = {"b8", "b16", "b32", "b64"};
	static const char *const vectors[] = {"", "", "v2", "", "v4"};
	static const char *const scopes[] = {"cta", "cluster", "gpu", "sys"};
	const char *words[5] = {"", "", "", "", ""};
	int log = pick(m, 4), room = 16;
	s->space = (MemSpace)pick(m, 4);
	s->store = pick(m, 2);
	s->size = 1 << log;
	s->count = 1 << pick(m, log == 3 ? 2 : 3);
	s->sign = pick(m, 2);
	room = s->space == SPACE_SHARED ? 16 : PRIVATE;
	s->at = pick(m, room / (s->size * s->count)) * s->size * s->count;
	s->to = reg(m, log == 3 ? KIND_D : KIND_R);
	words[0] = s->sign ? signs[log] : pick(m, 2) ? types[log] : plain[log];
	words[1] = vectors[s->count];
	words[2] = s->space == SPACE_GLOBAL   ? "global"
		   : s->space == SPACE_LOCAL  ? "local"
		   : s->space == SPACE_SHARED ? (pick(m, 2) ? "shared" : "shared::cta")
					      : "";
	int how = s->space == SPACE_LOCAL ? 0 : pick(m, 4);
	if (how == 1)
		words[3] = "volatile";
	if (how == 2) {
		words[3] = pick(m, 2) ? "relaxed" : s->store ? "release" : "acquire";
		words[4] = scopes[pick(m, 4)];
	}
	if (how == 3 && s->space == SPACE_GLOBAL)
		words[3] = s->store ? "cs" : "cg";
	shuffle(m, words, 5, s->mods);
}

static void sum_make(Maker *m, Stmt *s)
{
	static const char *const ops[ACCUMULATORS] = {"add", "min", "max", "and",
						      "or",  "xor", "max", "add"};
	static const char *const types[ACCUMULATORS] = {"u32", "u32", "u32", "b32",
							"b32", "b32", "s32", "u64"};
	static const char *const scopes[] = {"cta", "cluster", "gpu", "sys"};
	static const char *const orders[] = {"relaxed", "release", "acquire", "acq_rel"};
	s->row = pick(m, ACCUMULATORS);
	s->store = pick(m, 2); /* red */
	s->from[0] = reg(m, s->row == 7 ? KIND_D : KIND_R);
	const char *words[5] = {"global", ops[s->row], types[s->row], "", ""};
	if (pick(m, 2))
		words[3] = "gpu";
	if (pick(m, 3) == 0) {
		words[3] = scopes[2 + pick(m, 2)];
		words[4] = orders[pick(m, s->store ? 2 : 4)];
	}
	shuffle(m, words, 5, s->mods);
	if (pick(m, 3) == 0)
		s->guard = reg(m, KIND_P);
	s->guard_not = pick(m, 2);
}

static void warp_make(Maker *m, Stmt *s, bool whole)
{
	s->row = pick(m, whole ? WARP_KINDS : WARP_IDX);
	s->width = whole && s->row < WARP_LEADER ? 8 << pick(m, 3) : 32;
	bool pred = s->row >= WARP_ALL && s->row <= WARP_UNI;
	s->to = reg(m, pred ? KIND_P : KIND_R);
	s->from[0] = reg(m, s->row <= WARP_UNI ? KIND_P : KIND_R);
	s->lanes = pick(m, 32);
	int segment = 32 - (1 << pick(m, 6));
	s->clamp = segment << 8 | (s->row == WARP_UP ? 0 : 31);
}

static Stmt *block_make(Maker *m, int most, int depth);

static void if_make(Maker *m, Stmt *s, int depth)
{
	static const char *const ends[] = {"ret", "trap", "brkpt", "exit"};
	s->kind = ST_IF;
	s->from[0] = reg(m, KIND_P);
	s->never = pick(m, 4) ? NULL : ends[pick(m, 4)];
	s->body = block_make(m, 6, depth + 1);
	s->other = pick(m, 2) ? block_make(m, 6, depth + 1) : NULL;
}

static void meet_make(Maker *m, Stmt *s, int depth)
{
	s->kind = ST_MEET;
	s->from[0] = reg(m, KIND_P);
	s->twice = pick(m, 2);
	s->body = block_make(m, 3, depth + 1);
	s->other = block_make(m, 3, depth + 1);
	s->meet = calloc(1, sizeof *s->meet);
	s->meet->kind = ST_WARP;
	s->meet->guard = -1;
	warp_make(m, s->meet, false);
	s->then = block_make(m, 3, depth + 1);
	s->or = block_make(m, 3, depth + 1);
}

static void stmt_make(Maker *m, Stmt *s, int depth)
{
	int what = pick(m, 33);
	s->kind = ST_OP;
	if (what == 32 && depth < 3) {
		meet_make(m, s, depth);
	} else if (what < 4 && depth < 3) {
		if_make(m, s, depth);
	} else if (what < 6 && depth < 3) {
		s->kind = ST_LOOP;
		s->turns = pick(m, 2) ? 1 + pick(m, 4) : -1;
		s->from[0] = reg(m, KIND_R);
		s->body = block_make(m, 5, depth + 1);
	} else if (what < 8 && depth == 0) {
		s->kind = ST_SHARED;
		s->from[0] = reg(m, KIND_R);
		s->to = reg(m, KIND_R);
		s->lanes = 2 * pick(m, 64) + 1;
		s->at = pick(m, 128);
		s->row = pick(m, 4); /* of the barrier's spellings */
	} else if (what < 11) {
		s->kind = ST_WARP;
		warp_make(m, s, depth == 0);
	} else if (what < 13) {
		s->kind = ST_SUM;
		sum_make(m, s);
	} else if (what < 18) {
		s->kind = ST_MEMORY;
		memory_make(m, s);
	} else {
		op_make(m, s);
	}
}

static Stmt *block_make(Maker *m, int most, int depth)
{
	Stmt *first = NULL, **end = &first;
	for (int n = 1 + pick(m, most); n > 0 && m->left > 0; n--) {
		m->left--;
		*end = calloc(1, sizeof **end);
		(*end)->number = m->number++;
		(*end)->guard = -1;
		stmt_make(m, *end, depth);
		end = &(*end)->next;
	}
	return first;
}

Program *program_make(uint64_t seed)
{
	Maker m = {.seed = seed, .left = 90};
	Program *p = calloc(1, sizeof *p);
	p->threads = 32 << pick(&m, 3);
	p->ctas = 1 + pick(&m, 2);
	p->body = block_make(&m, 40, 0);
	return p;
}

static void block_free(Stmt *s)
{
	while (s) {
		Stmt *next = s->next;
		block_free(s->body);
		block_free(s->other);
		block_free(s->meet);
		block_free(s->then);
		block_free(s->or);
		free(s);
		s = next;
	}
}

void program_free(Program *p)
{
	block_free(p->body);
	free(p);
}
