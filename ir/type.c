/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* type.c - types, interned; and their text:
 *     global bf16 (M,K):(K,1)      reg f32 (128,256):(1,128) tv ((4,8,4,2),(2,2,32)):(...) */
#include "base/ctx.h"
#include "ir/ir.h"

#include <ctype.h>
#include <string.h>

const char *const space_names[SP_COUNT] = {
#define SPACE(id, name) [SP_##id] = name,
#include "ir/types.def"
};

static bool type_eq(const void *entry, const void *key)
{
	const Type *a = entry, *b = key;
	return a->kind == b->kind && a->elem == b->elem && a->space == b->space &&
	       a->layout == b->layout && a->tv == b->tv;
}

static uint64_t type_hash(const void *entry)
{
	const Type *t = entry;
	uint64_t h = hash_mix(t->kind, t->elem);
	h = hash_mix(h, t->space);
	h = hash_mix(h, (uint64_t)(uintptr_t)t->layout);
	return hash_mix(h, (uint64_t)(uintptr_t)t->tv);
}

static const Type *type_intern(Ctx *c, Type key)
{
	void **where;
	InternSet *set = ctx_table(c, CTX_TYPE, sizeof *set);
	Type *t = intern_find(set, type_hash(&key), type_eq, type_hash, &key, ctx_arena(c), &where);
	if (t)
		return t;
	t = NEW(ctx_arena(c), Type);
	*t = key;
	t->id = (uint32_t)set->n;
	*where = t;
	return t;
}

const Type *type_elem(Ctx *c, Elem e)
{
	return type_intern(c, (Type){.kind = TY_ELEM, .elem = e});
}

const Type *type_tile(Ctx *c, Space s, Elem e, const Layout *l)
{
	return type_intern(c, (Type){.kind = TY_TILE, .elem = e, .space = s, .layout = l});
}

const Type *type_frag(Ctx *c, Elem e, const Layout *shape, const Layout *tv)
{
	return type_intern(
		c, (Type){.kind = TY_TILE, .elem = e, .space = SP_REG, .layout = shape, .tv = tv});
}

const Type *type_tmap(Ctx *c)
{
	return type_intern(c, (Type){.kind = TY_TMAP});
}

const Type *type_mbar(Ctx *c)
{
	return type_intern(c, (Type){.kind = TY_MBAR});
}

void type_print(const Type *t, Buf *out)
{
	switch (t->kind) {
	case TY_ELEM:
		buf_printf(out, "%s", elem_rows[t->elem].name);
		break;
	case TY_TMAP:
		buf_printf(out, "tmap");
		break;
	case TY_MBAR:
		buf_printf(out, "mbar");
		break;
	case TY_TILE:
		buf_printf(out, "%s %s ", space_names[t->space], elem_rows[t->elem].name);
		layout_print(t->layout, out);
		if (t->tv) {
			buf_printf(out, " tv ");
			layout_print(t->tv, out);
		}
		break;
	}
}

/* ------------------------------------------------------------------ parse */
static bool word(const char **s, const char *w)
{
	const char *p = *s + strspn(*s, " \t");
	size_t n = strlen(w);
	if (strncmp(p, w, n) || isalnum((unsigned char)p[n]) || p[n] == '_')
		return false;
	*s = p + n;
	return true;
}

static bool elem_word(const char **s, Elem *e)
{
	for (int i = 0; i < EL_COUNT; i++) {
		*e = (Elem)i;
		if (!elem_rows[i].spoken)
			continue;
		if (word(s, elem_rows[i].name) || (elem_rows[i].also && word(s, elem_rows[i].also)))
			return true;
	}
	return false;
}

static const Type *tile_parse(Ctx *c, Space space, const char **s, const char **why)
{
	Elem e;
	const Layout *l, *tv = NULL;
	if (!elem_word(s, &e)) {
		*why = "expected an element type";
		return NULL;
	}
	if (!(l = layout_parse(c, s, why)))
		return NULL;
	if (word(s, "tv") && !(tv = layout_parse(c, s, why)))
		return NULL;
	if (!layout_gives_numbers(l) || l->inner ||
	    (tv && (!layout_gives_numbers(tv) || tv->inner))) {
		*why = "the layout of a tile has no basis and no inner layout";
		return NULL;
	}
	return type_intern(
		c, (Type){.kind = TY_TILE, .elem = e, .space = space, .layout = l, .tv = tv});
}

const Type *type_parse(Ctx *c, const char **s, const char **why)
{
	Elem e;
	for (int i = 0; i < SP_COUNT; i++)
		if (word(s, space_names[i]))
			return tile_parse(c, (Space)i, s, why);
	if (word(s, "tmap"))
		return type_tmap(c);
	if (word(s, "mbar"))
		return type_mbar(c);
	if (elem_word(s, &e))
		return type_elem(c, e);
	*why = "expected a type";
	return NULL;
}

const Ix *elem_bytes_of(Ctx *c, Elem e, const Ix *n)
{
	int64_t bits = elem_rows[e].bits;
	return bits < 8 ? ix_div(c, n, ix_const(c, 8 / bits)) : ix_mul(c, n, ix_const(c, bits / 8));
}

int64_t type_slot_bytes(const Type *t)
{
	return elem_span(t->elem, layout_cosize_int(t->layout));
}

int type_regs(const Type *t)
{
	if (!t->tv || tup_rank(t->tv->shape) != 2)
		panic("a register tile that is not distributed has no registers");
	int64_t n = 1;
	const Tup *v = tup_get(t->tv->shape, 1);
	for (int i = 0; i < tup_rank(v); i++) {
		int64_t x;
		const Tup *m = tup_get(v, i);
		if (!tup_is_leaf(m) || !ix_is_const(m->leaf, &x))
			panic("a thread-value layout has static, flat modes");
		n *= x;
	}
	return (int)n;
}

int type_words(const Type *t)
{
	return (type_regs(t) * elem_rows[t->elem].bits + 31) / 32;
}

bool type_broadcasts(Ctx *c, const Type *part, const Type *whole)
{
	if (layout_rank(part->layout) != layout_rank(whole->layout))
		return false;
	for (int i = 0; i < layout_rank(part->layout); i++) {
		int64_t n, all;
		if (!ix_is_const(tup_product(c, tup_get(part->layout->shape, i)), &n) ||
		    !ix_is_const(tup_product(c, tup_get(whole->layout->shape, i)), &all) ||
		    (n != all && n != 1 && all % n))
			return false;
	}
	return true;
}
