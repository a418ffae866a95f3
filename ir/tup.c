/* tup.c - integer tuples: interned trees with index expressions as leaves, and their text.
 *     tup_parse("(4,(2,K))")  has rank 2, product 8*K, and prints as it was read. */
#include "ir/ixp.h"
#include "ir/layout.h"

#include <string.h>

enum { MAX_RANK = 64, MAX_DEPTH = 32 };

typedef struct {
	InternSet set;
	uint32_t ids;
} TupTable;

static uint64_t tup_hash(const void *entry)
{
	const Tup *t = entry;
	uint64_t h = hash_mix((uint64_t)(int64_t)t->n, t->leaf ? t->leaf->id + 1 : 0);
	for (int i = 0; i < t->n; i++)
		h = hash_mix(h, t->at[i]->id);
	return h;
}

static bool tup_eq(const void *entry, const void *key)
{
	const Tup *t = entry, *u = key;
	if (t->n != u->n || t->leaf != u->leaf)
		return false;
	for (int i = 0; i < t->n; i++)
		if (t->at[i] != u->at[i])
			return false;
	return true;
}

static const Tup *tup_intern(Ctx *c, Tup key)
{
	Arena *a = ctx_arena(c);
	void **slot = ctx_slot(c, CTX_TUP), **where;
	if (!*slot)
		*slot = NEW(a, TupTable);
	TupTable *table = *slot;
	Tup *t = intern_find(&table->set, tup_hash(&key), tup_eq, tup_hash, &key, a, &where);
	if (t)
		return t;
	*where = t = NEW(a, Tup);
	*t = key;
	t->id = table->ids++;
	if (key.n > 0) {
		const Tup **at = NEWN(a, const Tup *, key.n);
		memcpy(at, key.at, sizeof(*at) * (size_t)key.n);
		t->at = at;
	}
	return t;
}

const Tup *tup_leaf(Ctx *c, const Ix *x)
{
	return tup_intern(c, (Tup){.n = -1, .leaf = x});
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
void tup_print(const Tup *t, Buf *out)
{
	if (t->n < 0) {
		ix_print(t->leaf, out);
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

static const char *skip_space(const char *s)
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
	return !ix_infix_at(skip_space(end));
}

static const Tup *parse_tuple(Ctx *c, const char **s, const char **why, int depth)
{
	const Tup *at[MAX_RANK];
	int n = 0;
	*s = skip_space(*s);
	if (**s != '(' || !opens_tuple(*s)) {
		const Ix *x = ix_parse(c, s, why);
		return x ? tup_leaf(c, x) : NULL;
	}
	if (depth > MAX_DEPTH)
		return *why = "the tuple is nested too deeply", NULL;
	*s = skip_space(*s + 1);
	while (**s != ')') {
		if (n == MAX_RANK)
			return *why = "the tuple has more than 64 modes", NULL;
		if (!(at[n++] = parse_tuple(c, s, why, depth + 1)))
			return NULL;
		*s = skip_space(*s);
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
