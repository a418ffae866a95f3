/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* residue.c - what residues decide, whatever names stand for: where trip counts are numbers, few
 * residues are left of the names that they are made of, and all are tried.
 *     (m + n) % 3 is 1   ->   2 * m - n is 2 modulo 3 if n is 0, 1 or 2: (1, 0), (0, 1), (2, 2)
 */
#include "verify/tree/tree.h"

enum { MAX_ATOMS = 8, MOST_MOD = 96, MOST_TRIED = 1 << 13 };

/* Of what expressions are made: no more than the residue of each is asked for. */
typedef struct {
	const Ix *atom[MAX_ATOMS];
	int64_t mod[MAX_ATOMS], value[MAX_ATOMS];
	int n;
	bool many;
} Atoms;

/* Modulo what operands must be known, so that x is modulo q; false: it is an atom. */
static bool is_made(const Ix *x, int64_t q, int64_t *of)
{
	int64_t c = 0;
	bool by = x->b && ix_is_const(x->b, &c) && c != 0;
	*of = q;
	if (x->kind == IX_ADD)
		return true;
	if (x->kind == IX_MUL)
		*of = by ? q / num_gcd(q, c) : q;
	else if (x->kind == IX_DIV && by && c > 0 && c <= MOST_MOD / q)
		*of = q * c;
	else if (x->kind == IX_MOD && by && c > 0 && (c % q == 0 || c <= MOST_MOD))
		*of = c % q ? c : q;
	else
		return false;
	return true;
}

static void add_atoms(Atoms *a, const Ix *x, int64_t q)
{
	int64_t of;
	int i = 0;
	if (x->kind == IX_CONST || q == 1 || a->many)
		return;
	if (is_made(x, q, &of)) {
		add_atoms(a, x->a, of);
		add_atoms(a, x->b, of);
		return;
	}
	while (i < a->n && a->atom[i] != x)
		i++;
	a->many |= i == MAX_ATOMS;
	if (a->many)
		return;
	a->atom[i] = x;
	a->mod[i] = i < a->n ? lcm(a->mod[i], q) : q;
	a->n += i == a->n;
}

static int64_t residue(int64_t v, int64_t q)
{
	return (v % q + q) % q;
}

/* x modulo q. */
static int64_t value_of(const Atoms *a, const Ix *x, int64_t q)
{
	int64_t of, left, right;
	if (x->kind == IX_CONST)
		return residue(x->value, q);
	if (q == 1)
		return 0;
	for (int i = 0; i < a->n; i++)
		if (a->atom[i] == x)
			return a->value[i] % q;
	is_made(x, q, &of);
	left = value_of(a, x->a, of);
	if (x->kind == IX_DIV)
		return left / x->b->value;
	if (x->kind == IX_MOD)
		return left % q;
	right = value_of(a, x->b, q);
	return residue(x->kind == IX_ADD ? left + right : left * right, q);
}

static int64_t tries_of(const Atoms *a)
{
	int64_t n = 1;
	for (int i = 0; i < a->n && n <= MOST_TRIED; i++)
		n *= a->mod[i];
	return a->many ? MOST_TRIED + 1 : n;
}

static bool next_try(Atoms *a)
{
	for (int i = 0; i < a->n; i++) {
		if (++a->value[i] < a->mod[i])
			return true;
		a->value[i] = 0;
	}
	return false;
}

static bool is_allowed(const Atoms *a, const Zeros *z, int64_t q)
{
	for (int i = 0; i < z->n; i++)
		if (value_of(a, z->at[i], q))
			return false;
	return true;
}

static void find_atoms(Atoms *a, const Residue *of, int n, const Zeros *z, int64_t q)
{
	a->n = 0;
	a->many = false;
	for (int i = 0; i < n; i++)
		add_atoms(a, of[i].x, of[i].mod);
	for (int i = 0; i < z->n; i++)
		add_atoms(a, z->at[i], q);
	for (int i = 0; i < a->n; i++)
		a->value[i] = 0;
}

bool residues_try(const Residue *of, int n, const Zeros *z, ResiduesSeen *seen, void *user)
{
	Atoms a;
	int64_t q = of[0].mod, v[MAX_RESIDUES];
	find_atoms(&a, of, n, z, 1);
	for (int i = 0; i < a.n; i++)
		q = lcm(q, a.mod[i]);
	find_atoms(&a, of, n, z, q);
	if (tries_of(&a) > MOST_TRIED)
		find_atoms(&a, of, n, z, q = of[0].mod);
	if (tries_of(&a) > MOST_TRIED)
		return false;
	do {
		if (!is_allowed(&a, z, q))
			continue;
		for (int i = 0; i < n; i++)
			v[i] = value_of(&a, of[i].x, of[i].mod);
		if (!seen(user, v))
			return false;
	} while (next_try(&a));
	return true;
}

/* ------------------------------------------------------------------ counts */
/* Of which remainders it is made. */
static void find_moduli(const Ix *x, int64_t *q)
{
	int64_t m;
	if (!x->a)
		return;
	if (x->kind == IX_MOD && ix_is_const(x->b, &m) && m > 0 && m <= MOST_MOD)
		*q = lcm(*q, m);
	if (x->kind != IX_MIN && x->kind != IX_MAX) {
		find_moduli(x->a, q);
		find_moduli(x->b, q);
	}
}

/* Whether there are residues with which counts are what they are said to be. */
bool residues_agree(const Tree *t, const Where *at)
{
	Atoms a;
	Zeros z;
	int64_t q = 1;
	int some = 0;
	for (int i = 0; i < t->ncounts; i++)
		some += at->count[i] >= CLASS_EXACT && t->counts[i].rests;
	if (!some)
		return true;
	zeros_at(t, at, &z);
	for (int i = 0; i < z.n; i++)
		find_moduli(z.at[i], &q);
	find_atoms(&a, NULL, 0, &z, q);
	if (tries_of(&a) > MOST_TRIED)
		return true;
	do {
		if (is_allowed(&a, &z, q))
			return true;
	} while (next_try(&a));
	return false;
}

/* Which are made of remainders. */
void find_rests(Tree *t)
{
	for (int i = 0; i < t->ncounts; i++) {
		int64_t q = 1;
		find_moduli(t->counts[i].trip, &q);
		t->counts[i].rests = q > 1;
	}
}
