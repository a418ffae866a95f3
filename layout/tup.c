/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tup.c - integer tuples: interned trees with index expressions as leaves, and their text.
 *     tup_parse("(4,(2,K))")  has rank 2, product 8*K, and prints as it was read. */
#include "layout/ixp.h"
#include "layout/layoutp.h"

#include <string.h>

enum { MAX_RANK = 64, MAX_DEPTH = 32, RECENT = 256 };

typedef struct {
	InternSet set;
	const Tup *recent[RECENT]; /* leaves without a basis, by the id of what they hold */
} TupTable;

static uint64_t tup_hash(const void *entry)
{
	const Tup *t = entry;
	uint64_t h = hash_mix((uint64_t)(int64_t)t->n ^ t->basis, t->leaf ? t->leaf->id + 1 : 0);
	for (int i = 0; i < t->n; i++)
		h = hash_mix(h, t->at[i]->id);
	return h;
}

static bool tup_eq(const void *entry, const void *key)
{
	const Tup *t = entry, *u = key;
	if (t->n != u->n || t->leaf != u->leaf || t->basis != u->basis)
		return false;
	for (int i = 0; i < t->n; i++)
		if (t->at[i] != u->at[i])
			return false;
	return true;
}

static TupTable *table_of(Ctx *c)
{
	return ctx_table(c, CTX_TUP, sizeof(TupTable));
}

static const Tup *tup_intern(Ctx *c, Tup key)
{
	Arena *a = ctx_arena(c);
	void **where;
	TupTable *table = table_of(c);
	Tup *t = intern_find(&table->set, tup_hash(&key), tup_eq, tup_hash, &key, a, &where);
	if (t)
		return t;
	*where = t = NEW(a, Tup);
	*t = key;
	t->id = (uint32_t)table->set.n - 1;
	if (key.n > 0) {
		const Tup **at = NEWN(a, const Tup *, key.n);
		memcpy(at, key.at, sizeof(*at) * (size_t)key.n);
		t->at = at;
	}
	return t;
}

const Tup *tup_leaf(Ctx *c, const Ix *x)
{
	const Tup **recent = &table_of(c)->recent[x->id % RECENT];
	if (!*recent || (*recent)->leaf != x)
		*recent = tup_intern(c, (Tup){.n = -1, .leaf = x});
	return *recent;
}

const Tup *tup_basis(Ctx *c, const Ix *x, uint64_t basis)
{
	if (!basis || ix_is(x, 0))
		return tup_leaf(c, x);
	return tup_intern(c, (Tup){.n = -1, .leaf = x, .basis = basis});
}

const Tup *tup_any(Ctx *c)
{
	return tup_leaf(c, ix_sym(c, "_"));
}

bool tup_is_any(const Tup *t)
{
	return t->n < 0 && t->leaf->kind == IX_SYM && !strcmp(t->leaf->name, "_");
}

bool tup_has_basis(const Tup *t)
{
	if (t->n < 0)
		return t->basis != 0;
	for (int i = 0; i < t->n; i++)
		if (tup_has_basis(t->at[i]))
			return true;
	return false;
}

const Tup *tup_int(Ctx *c, int64_t v)
{
	return tup_leaf(c, ix_const(c, v));
}

const Tup *tup_new(Ctx *c, const Tup *const *at, int n)
{
	return tup_intern(c, (Tup){.n = n, .at = at});
}

bool tup_is_leaf(const Tup *t)
{
	return t->n < 0;
}

int tup_rank(const Tup *t)
{
	return t->n < 0 ? 1 : t->n;
}

const Tup *tup_get(const Tup *t, int i)
{
	if (i < 0 || i >= tup_rank(t))
		panic("mode %d of a tuple of rank %d", i, tup_rank(t));
	return t->n < 0 ? t : t->at[i];
}

bool tup_congruent(const Tup *a, const Tup *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++)
		if (!tup_congruent(a->at[i], b->at[i]))
			return false;
	return true;
}

const Ix *tup_product(Ctx *c, const Tup *t)
{
	if (t->n < 0)
		return t->leaf;
	const Ix *x = ix_const(c, 1);
	for (int i = 0; i < t->n; i++)
		x = ix_mul(c, x, tup_product(c, t->at[i]));
	return x;
}

bool tup_is_flat(const Tup *t)
{
	for (int i = 0; i < tup_rank(t); i++)
		if (!tup_is_leaf(tup_get(t, i)))
			return false;
	return true;
}

bool tup_is_static(const Tup *t)
{
	if (t->n < 0)
		return t->leaf->kind == IX_CONST;
	for (int i = 0; i < t->n; i++)
		if (!tup_is_static(t->at[i]))
			return false;
	return true;
}

/* ------------------------------------------------------------------ text */
/* A sum in front of @ stands in parentheses. */
static void print_leaf(const Tup *t, Buf *out)
{
	bool group = t->basis && t->leaf->kind != IX_CONST && t->leaf->kind != IX_SYM;
	buf_add(out, "(", group);
	ix_print(t->leaf, out);
	buf_add(out, ")", group);
	for (uint64_t b = t->basis; b; b >>= 8)
		buf_printf(out, "@%d", (int)(b & 255) - 1);
}

void tup_print(const Tup *t, Buf *out)
{
	if (t->n < 0) {
		print_leaf(t, out);
		return;
	}
	buf_add(out, "(", 1);
	for (int i = 0; i < t->n; i++) {
		if (i)
			buf_add(out, ",", 1);
		tup_print(t->at[i], out);
	}
	buf_add(out, ")", 1);
}

const char *text_skip_space(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

/* The first byte after the parenthesis that closes the one at s, and whether a comma stands
 * directly inside: `(M+1)*2` is an expression, `(M,2)` and `(M)` alone are tuples. */
static const char *closing(const char *s, bool *comma)
{
	int depth = 0;
	*comma = false;
	for (; *s; s++) {
		if (*s == '(') {
			depth++;
		} else if (*s == ')' && --depth == 0) {
			return s + 1;
		} else if (*s == ',' && depth == 1) {
			*comma = true;
		}
	}
	return NULL;
}

static bool opens_tuple(const char *s)
{
	bool comma;
	const char *end = closing(s, &comma);
	if (!end || comma)
		return true;
	end = text_skip_space(end);
	return *end != '@' && !ix_infix_at(end);
}

bool basis_add(uint64_t *basis, int index)
{
	int shift = 0;
	while (shift < 64 && *basis >> shift)
		shift += 8;
	if (shift >= 64 || index < 0 || index > 254)
		return false;
	*basis |= (uint64_t)(index + 1) << shift;
	return true;
}

static const Tup *parse_leaf(Ctx *c, const char **s, const char **why)
{
	const Ix *x = ix_parse(c, s, why);
	uint64_t basis = 0;
	while (x && *text_skip_space(*s) == '@') {
		const char *p = text_skip_space(text_skip_space(*s) + 1);
		int index = *p >= '0' && *p <= '9' ? 0 : -1;
		for (; *p >= '0' && *p <= '9' && index < 1000; p++)
			index = 10 * index + (*p - '0');
		if (!basis_add(&basis, index))
			return *why = "up to 8 numbers in 0..254 follow '@'", NULL;
		*s = p;
	}
	return x ? tup_basis(c, x, basis) : NULL;
}

static const Tup *parse_tuple(Ctx *c, const char **s, const char **why, int depth)
{
	const Tup *at[MAX_RANK];
	int n = 0;
	*s = text_skip_space(*s);
	if (**s != '(' || !opens_tuple(*s))
		return parse_leaf(c, s, why);
	if (depth > MAX_DEPTH)
		return *why = "the tuple is nested too deeply", NULL;
	*s = text_skip_space(*s + 1);
	while (**s != ')') {
		if (n == MAX_RANK)
			return *why = "the tuple has more than 64 modes", NULL;
		if (!(at[n++] = parse_tuple(c, s, why, depth + 1)))
			return NULL;
		*s = text_skip_space(*s);
		if (**s == ',')
			++*s;
		else if (**s != ')')
			return *why = "expected ',' or ')' in a tuple", NULL;
	}
	++*s;
	return tup_new(c, at, n);
}

const Tup *tup_parse(Ctx *c, const char **s, const char **why)
{
	const char *unused;
	return parse_tuple(c, s, why ? why : &unused, 0);
}
