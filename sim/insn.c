/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* insn.c - the table of instructions: an opcode as written finds its row, which says what modifiers
 * and operands there may be and who runs it.
 *   "add.sat.s32"  ->  row add, mods {sat}, types {s32}, operands "D d d", run_add */
#include "sim/handlers.h"

#include <stdlib.h>

const u8 type_bytes[T_COUNT] = {
#define TYPE(id, word, bytes, kind) [T_##id] = bytes,
#include "sim/types.def"
};
const char *const type_words[T_COUNT] = {
#define TYPE(id, word, bytes, kind) [T_##id] = word,
#include "sim/types.def"
};
const char type_class[T_COUNT] = {
#define TYPE(id, word, bytes, kind) [T_##id] = #kind[0],
#include "sim/types.def"
};
const u8 sreg_bytes[SR_COUNT] = {
#define SREG(id, word, bytes, value) [SR_##id] = bytes,
#include "sim/sregs.def"
};

static const char *const mod_words[M_COUNT] = {
#define MOD(id, word) [M_##id] = word,
#include "sim/mods.def"
};

enum { ROW_C = F_CONVERGED, ROW_E = F_END, ROW_K = F_CLUSTERED, ROW_0 = 0 };
typedef struct {
	Handler run;
	const char *op, *mods, *args;
	Prepare prepare;
	u8 flags;
} Row;
static const Row rows[] = {
#define INSN(handler, op, mods, args, prepare, flags) \
	{handler, op, mods, args, prepare, ROW_##flags},
#include "sim/insn.def"
};

/* A word of the opcode or of a row: from at, n characters. */
typedef struct {
	const char *at;
	size_t n;
} Word;

static Word word_next(const char **s, char end)
{
	Word w = {*s, 0};
	while (w.at[w.n] && w.at[w.n] != end)
		w.n++;
	*s = w.at + w.n + (w.at[w.n] == end);
	return w;
}

static bool word_is(Word w, const char *s)
{
	return strlen(s) == w.n && memcmp(w.at, s, w.n) == 0;
}

static bool word_same(Word a, Word b)
{
	return a.n == b.n && memcmp(a.at, b.at, a.n) == 0;
}

/* Whether w is one of "a|b|c". */
static bool word_among(Word w, const char *at, size_t n)
{
	const char *end = at + n;
	while (at < end) {
		size_t k = 0;
		while (at + k < end && at[k] != '|')
			k++;
		if (word_same(w, (Word){at, k}))
			return true;
		at += k + 1;
	}
	return false;
}

Type type_named(const char *word, size_t n)
{
	for (int t = 1; t < T_COUNT; t++)
		if (word_is((Word){word, n}, type_words[t]))
			return (Type)t;
	return T_NONE;
}

u32 type_width(u8 t)
{
	return t == T_PRED ? 1 : type_bytes[t] < 2 ? 2 : type_bytes[t];
}

static bool word_shape(Word w, u16 shape[3])
{
	char buf[24];
	const char *key = "mnk";
	if (!w.n || w.n >= sizeof buf)
		return false;
	memcpy(buf, w.at, w.n);
	buf[w.n] = 0;
	char *s = buf;
	for (int i = 0; i < 3; i++) {
		if (*s != key[i])
			return false;
		unsigned long v = strtoul(s + 1, &s, 10);
		if (!v || v > 256)
			return false;
		shape[i] = (u16)v;
	}
	return !*s;
}

static bool mod_add(Ins *in, Word w)
{
	for (int m = 1; m < M_COUNT; m++) {
		if (word_is(w, mod_words[m])) {
			in->mods[m >> 6] |= UINT64_C(1) << (m & 63);
			return true;
		}
	}
	return false;
}

/* Whether one slot of a row takes the word. */
static bool slot_takes(Ins *in, Word slot, Word w)
{
	if (slot.at[0] == '#')
		return word_shape(w, in->shape);
	if (slot.at[0] != '<')
		return word_among(w, slot.at, slot.n) && mod_add(in, w);
	if (!word_among(w, slot.at + 1, slot.n - 2))
		return false;
	in->type[in->ntypes++] = (u8)type_named(w.at, w.n);
	return true;
}

/* The first free slot that takes the word; of types the next one alone, since their order says
 * which is which. */
static bool word_place(Ins *in, const char *mods, Word w, u32 *used)
{
	bool typed = false;
	for (u32 bit = 1; *mods; bit <<= 1) {
		Word slot = word_next(&mods, ' ');
		bool optional = slot.at[0] == '?', type = slot.at[optional] == '<';
		if (*used & bit || (type && typed))
			continue;
		typed |= type;
		if (!slot_takes(in, (Word){slot.at + optional, slot.n - optional}, w))
			continue;
		*used |= bit;
		return true;
	}
	return false;
}

static bool slots_filled(const char *mods, u32 used)
{
	for (u32 bit = 1; *mods; bit <<= 1)
		if (word_next(&mods, ' ').at[0] != '?' && !(used & bit))
			return false;
	return true;
}

/* Whether the words of op after the row's name are its modifiers, in any order: so does ptxas read
 * them. *stuck is the furthest word that no row took, or the end where one is missing. */
static bool row_match(Ins *in, const Row *r, const char *op, const char **stuck)
{
	const char *name = r->op;
	u32 used = 0;
	while (*name) {
		Word want = word_next(&name, '.'), got = word_next(&op, '.');
		if (!word_same(want, got))
			return false;
	}
	memset(in->mods, 0, sizeof in->mods);
	memset(in->type, 0, sizeof in->type);
	in->ntypes = 0;
	while (*op) {
		const char *at = op;
		if (!word_place(in, r->mods, word_next(&op, '.'), &used)) {
			*stuck = at > *stuck ? at : *stuck;
			return false;
		}
	}
	*stuck = op;
	return slots_filled(r->mods, used);
}

/* Finds the next row from *at on that op fits; NULL when there is none. */
const char *insn_next(Ins *in, u32 *at, const char *op, const char **stuck)
{
	for (; *at < SIM_COUNT(rows); ++*at) {
		const Row *r = &rows[*at];
		if (!row_match(in, r, op, stuck))
			continue;
		in->run = r->run;
		in->flags = r->flags;
		return rows[(*at)++].args;
	}
	return NULL;
}

void insn_prepare(Pool *a, Ins *in, u32 row)
{
	if (rows[row].prepare)
		rows[row].prepare(a, in);
}

bool opcode_word_is(const Ins *in, int n, const char *word)
{
	const char *s = in->text;
	Word w = word_next(&s, '.');
	while (n-- > 0)
		w = word_next(&s, '.');
	return word_is(w, word);
}

void lack(Ins *in, const char *what)
{
	in->run = run_unknown;
	in->flags = 0;
	in->lacks = what;
}

void refuse(Pool *a, const Ins *in, const char *what)
{
	load_fail(a, in->line, "%s: %s", in->text, what);
}
