/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* scope.c - names of a file, innermost last. A name means one thing: it may not be taken again
 * while it is visible, and not at all when the language or the hardware uses it. */
#include "frontend/sema.h"

#include <string.h>

Symbol *scope_find(Sema *s, const char *name)
{
	uintptr_t place = (uintptr_t)ptrmap_get(&s->places, name);
	return place ? &s->symbols.at[place - 1] : NULL;
}

/* Words that the lexer takes for the head of <...>; S is one only where three numbers follow. */
static bool is_template(const char *name)
{
	static const char *const words[] = {
#define TEMPLATE(text, what) text,
#include "frontend/words.def"
	};
	for (size_t i = 0; i < COUNTOF(words); i++)
		if (!strcmp(name, words[i]))
			return true;
	return false;
}

/* Types of memory alone convert nothing, so that they are words only where a type stands. */
static bool is_builtin(const char *name)
{
	Elem e;
	return (elem_is(name, &e) && elem_rows[e].bits >= 8) || !strcmp(name, "_") ||
	       !strcmp(name, "inf") || function_named(name) || swizzle_named(name, NULL) ||
	       is_template(name) || sum_by_name(name);
}

bool name_is_free(Sema *s, const char *name, Loc loc)
{
	Symbol *old = scope_find(s, name);
	if (is_builtin(name))
		return reject(s, loc, D_E0202, "'%s' is a word of the language\ntake another name",
			      name);
	if (!old)
		return true;
	DiagMsg *m = diag(s->ctx, loc, D_E0202,
			  "'%s' is declared twice\ntake another name: nothing is shadowed", name);
	diag_note(s->ctx, m, old->loc, "the first one is here");
	return false;
}

bool name_fits_ir(Sema *s, const char *name, Loc loc)
{
	if (!strcmp(name, "and") || !strcmp(name, "or"))
		return reject(s, loc, D_E0202,
			      "'%s' is an operator of manifests\ntake another name", name);
	static const char *const bound[] = {
#define SYM(id, text, lo, hi, reg) text,
#include "ir/syms.def"
	};
	for (size_t i = 0; i < COUNTOF(bound); i++)
		if (!strcmp(name, bound[i]))
			return reject(s, loc, D_E0202, "'%s' is a name that the hardware binds",
				      name);
	return true;
}

void scope_add(Sema *s, const Node *at, Value v)
{
	if (!name_is_free(s, at->name, at->name_loc))
		return;
	vec_push(s->arena, &s->symbols,
		 ((Symbol){at->name, at->name_loc, v, name_declared(s, at, &v), pick_of(at)}));
	s->places.arena = s->arena;
	ptrmap_set(&s->places, at->name, (void *)(uintptr_t)s->symbols.n);
}

int scope_mark(const Sema *s)
{
	return s->symbols.n;
}

void scope_leave(Sema *s, int mark)
{
	s->left.arena = s->arena;
	while (s->symbols.n > mark) {
		const char *name = s->symbols.at[--s->symbols.n].name;
		pick_is_read(s, &s->symbols.at[s->symbols.n]);
		ptrmap_set(&s->places, name, NULL);
		ptrmap_set(&s->left, name, (void *)(uintptr_t)name);
	}
}
