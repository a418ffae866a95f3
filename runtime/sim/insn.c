/* insn.c - the table of instructions: an opcode as written finds its row, which says what modifiers
 * and operands there may be and who runs it.
 *   "add.sat.s32"  ->  row add, mods {sat}, types {s32}, operands "D d d", run_add */
#include "runtime/sim/handlers.h"

#include <stdlib.h>

const u8 type_bytes[T_COUNT] = {
#define TYPE(id, word, bytes, kind) [T_##id] = bytes,
#include "runtime/sim/types.def"
};
const char *const type_words[T_COUNT] = {
#define TYPE(id, word, bytes, kind) [T_##id] = word,
#include "runtime/sim/types.def"
};
const char type_class[T_COUNT] = {
#define TYPE(id, word, bytes, kind) [T_##id] = #kind[0],
#include "runtime/sim/types.def"
};
const u8 sreg_bytes[SR_COUNT] = {
#define SREG(id, word, bytes) [SR_##id] = bytes,
#include "runtime/sim/sregs.def"
};

static const char *const mod_words[M_COUNT] = {
#define MOD(id, word) [M_##id] = word,
#include "runtime/sim/mods.def"
};

enum { ROW_C = F_CONVERGED, ROW_E = F_END, ROW_0 = 0 };
typedef struct {
	Handler run;
	const char *op, *mods, *args;
	Prepare prepare;
	u8 flags;
} Row;
static const Row rows[] = {
#define INSN(handler, op, mods, args, prepare, flags) \
	{handler, op, mods, args, prepare, ROW_##flags},
#include "runtime/sim/insn.def"
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

static Type word_type(Word w)
{
	for (int t = 1; t < T_COUNT; t++)
		if (word_is(w, type_words[t]))
			return (Type)t;
	return T_NONE;
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

/* One slot of a row against the word at *op; *op advances where it is taken. False: it must be
 * there and is not. */
static bool slot_match(Ins *in, Word slot, const char **op)
{
	const char *next = *op;
	Word w = word_next(&next, '.');
	bool optional = slot.at[0] == '?', taken;
	if (optional)
		slot = (Word){slot.at + 1, slot.n - 1};
	if (slot.at[0] == '<') {
		taken = w.n && word_among(w, slot.at + 1, slot.n - 2);
		if (taken)
			in->type[in->ntypes++] = (u8)word_type(w);
	} else if (slot.at[0] == '#') {
		taken = word_shape(w, in->shape);
	} else {
		taken = w.n && word_among(w, slot.at, slot.n) && mod_add(in, w);
	}
	if (taken)
		*op = next;
	return taken || optional;
}

/* How many words of op the row takes: all of them, or the row does not fit. */
static bool row_match(Ins *in, const Row *r, const char *op, const char **stuck)
{
	const char *name = r->op, *mods = r->mods;
	while (*name) {
		Word want = word_next(&name, '.'), got = word_next(&op, '.');
		if (!word_same(want, got))
			return false;
	}
	if (!*stuck)
		*stuck = op;
	memset(in->mods, 0, sizeof in->mods);
	memset(in->type, 0, sizeof in->type);
	in->ntypes = 0;
	while (*mods) {
		if (!slot_match(in, word_next(&mods, ' '), &op)) {
			*stuck = op > *stuck ? op : *stuck;
			return false;
		}
	}
	*stuck = op > *stuck ? op : *stuck;
	return !*op;
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

u32 insn_count(void)
{
	return SIM_COUNT(rows);
}

bool opcode_word_is(const Ins *in, int n, const char *word)
{
	const char *s = in->text;
	Word w = word_next(&s, '.');
	while (n-- > 0)
		w = word_next(&s, '.');
	return word_is(w, word);
}

void refuse(Pool *a, const Ins *in, const char *what)
{
	load_fail(a, in->line, "%s: %s", in->text, what);
}
