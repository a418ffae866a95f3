/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* atom.c - rows of atoms.def; those of an mma with an N: wgmma.m64n256k16.f32.bf16.bf16. */
#include "ir/ir.h"
#include "base/ctx.h"
#include "base/ptrmap.h"

#include <stdio.h>
#include <string.h>

static bool has_EIGHT(int n)
{
	return n == 8;
}

static bool has_EIGHTS(int n)
{
	return n >= 8 && n <= ATOM_N && n % 8 == 0;
}

static bool has_SIXTEENS(int n)
{
	return n == 8 || n == 24 || (n >= 16 && n <= ATOM_N && n % 16 == 0);
}

const AtomRow atom_rows[ATOM_COUNT] = {
#define MMA(id, warp, op, name, m, n, k, a, b, c, immediates, fraction, tv, tv_a, tv_b) \
	[ATOM_##id] = {OP_##warp, OP_##op, name,       m,        has_##n, k,    EL_##a, \
		       EL_##b,    EL_##c,  immediates, fraction, tv,      tv_a, tv_b},
#include "ir/atoms.def"
};

const CopyRow copy_rows[COPY_COUNT] = {
#define COPY(id, of, op, bits, n, trans, regs, columns, tv) \
	[COPY_##id] = {OP_##of, OP_##op, bits, n, trans, regs, columns, tv},
#include "ir/atoms.def"
};

void atom_print(Atom a, Buf *out)
{
	const AtomRow *r = &atom_rows[a.id];
	buf_printf(out, "%s.m%dn%dk%d.%s.%s.%s", r->name, r->m, a.n, r->k, elem_rows[r->c].name,
		   elem_rows[r->a].name, elem_rows[r->b].name);
}

static bool atom_is(Atom a, const char *s, size_t n)
{
	Buf b = {0};
	atom_print(a, &b);
	bool same = b.n == n && !memcmp(b.s, s, n);
	buf_free(&b);
	return same;
}

bool atom_parse(const char *s, size_t n, Atom *out)
{
	for (int id = 0; id < ATOM_COUNT; id++) {
		for (int w = 1; w <= ATOM_N; w++) {
			*out = (Atom){(AtomId)id, w};
			if (atom_rows[id].has_n(w) && atom_is(*out, s, n))
				return true;
		}
	}
	return false;
}

/* The row's text has one letter, N, standing in N/8: the number of 8-column steps. */
static const Layout *read_tv(Ctx *c, const char *row, int n)
{
	const char *at = strstr(row, "N/8"), *why = NULL, *text = row;
	if (at)
		text = ctx_strf(c, "%.*s%d%s", (int)(at - row), row, n / 8, at + 3);
	const Layout *l = layout_parse(c, &text, &why);
	if (!l)
		panic("atoms.def: %s: %s", row, why);
	return l;
}

/* A row's text is read once for each N in a context. */
static const Layout *tv_of_row(Ctx *c, const char *row, int n)
{
	PtrMap *rows = ctx_table(c, CTX_ATOM, sizeof *rows);
	const Layout **of_n = ptrmap_get(rows, row);
	rows->arena = ctx_arena(c);
	if (!of_n) {
		of_n = NEWN(ctx_arena(c), const Layout *, ATOM_N + 1);
		ptrmap_set(rows, row, of_n);
	}
	if (!of_n[n])
		of_n[n] = read_tv(c, row, n);
	return of_n[n];
}

const CopyRow *copy_row_of(int op)
{
	for (int id = 0; id < COPY_COUNT; id++)
		if (copy_rows[id].of == op)
			return &copy_rows[id];
	return NULL;
}

const CopyRow *copy_row_with(int op, int n)
{
	for (int id = 0; id < COPY_COUNT; id++)
		if (copy_rows[id].of == op && copy_rows[id].n == n)
			return &copy_rows[id];
	return NULL;
}

const Layout *copy_tv(Ctx *c, const CopyRow *row)
{
	return tv_of_row(c, row->tv, 1);
}

const Layout *atom_tv_c(Ctx *c, Atom a)
{
	return tv_of_row(c, atom_rows[a.id].tv, a.n);
}

const Layout *atom_tv_a(Ctx *c, Atom a)
{
	const char *row = atom_rows[a.id].tv_a;
	return *row ? tv_of_row(c, row, a.n) : NULL;
}

const Layout *atom_tv_b(Ctx *c, Atom a)
{
	const char *row = atom_rows[a.id].tv_b;
	return *row ? tv_of_row(c, row, a.n) : NULL;
}

bool atom_holds_b(Atom a)
{
	return *atom_rows[a.id].tv_b;
}

int atom_threads(Ctx *c, Atom a)
{
	return (int)layout_size_int(layout_mode(c, atom_tv_c(c, a), 0));
}
