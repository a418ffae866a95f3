/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* atom.c - mma declarations: wgmma<M,N,K>(a,b,c) looked up in atoms.def, * (x,y,z) its arrangement
 * of warpgroups, mm.C(m,n) the shape of its accumulator. What does not exist is answered with the
 * nearest that does:
 *     wgmma<64,260,16>(bf16,bf16,f32)   ->   help: the nearest is wgmma<64,256,16> */
#include "frontend/sema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MMA_EXTENT_MAX = 1 << 20, MOST_GROUPS = 3 };

/* Whether a row before has the same name and types: its K is another. */
static bool is_named_before(int row)
{
	const AtomRow *r = &atom_rows[row];
	EACH_OF(const AtomRow, o, atom_rows, row)
		if (!strcmp(o->name, r->name) && o->a == r->a && o->b == r->b && o->c == r->c)
			return true;
	return false;
}

/* "(bf16, bf16, f32), (f16, f16, f32)" */
static const char *types_of(Sema *s, const char *name)
{
	const char *all = NULL;
	for (int i = 0; i < ATOM_COUNT; i++) {
		const AtomRow *r = &atom_rows[i];
		if (!strcmp(r->name, name) && !is_named_before(i))
			all = ctx_strf(s->ctx, "%s%s(%s, %s, %s)", all ? all : "", all ? ", " : "",
				       elem_rows[r->a].name, elem_rows[r->b].name,
				       elem_rows[r->c].name);
	}
	return all;
}

/* Of those types the one whose K is nearest. They are the program's: swap exchanges the first
 * two. */
static const AtomRow *row_by_types(Sema *s, const Node *at, const Value *types, int64_t k)
{
	const AtomRow *best = NULL;
	bool swap = sched_swaps(s);
	for (int i = 0; i < ATOM_COUNT; i++) {
		const AtomRow *r = &atom_rows[i];
		if (strcmp(r->name, at->name) || r->a != types[swap].elem ||
		    r->b != types[!swap].elem || r->c != types[2].elem)
			continue;
		if (!best || llabs(r->k - k) < llabs(best->k - k))
			best = r;
	}
	if (!best)
		reject(s, at->loc, D_E0302,
		       "there is no %s of (%s, %s, %s)\n"
		       "there are %s",
		       at->name, elem_rows[types[0].elem].name, elem_rows[types[1].elem].name,
		       elem_rows[types[2].elem].name, types_of(s, at->name));
	return best;
}

static int64_t nearest(int64_t v, int64_t step)
{
	return v <= step ? step : (v + step / 2) / step * step;
}

/* The next N of the row from v on, upwards or downwards; 0: none. */
static int next_n(const AtomRow *r, int64_t v, int step)
{
	int n = v < 1 ? 1 : v > ATOM_N ? ATOM_N : (int)v;
	while (n >= 1 && n <= ATOM_N && !r->has_n(n))
		n += step;
	return n >= 1 && n <= ATOM_N ? n : 0;
}

static bool shape_exists(Sema *s, const Node *at, const AtomRow *r, const int64_t *v)
{
	int below = next_n(r, v[1], -1), above = next_n(r, v[1], 1);
	if (v[0] == r->m && v[1] == below && v[2] == r->k)
		return true;
	DiagMsg *m = diag(s->ctx, at->loc, D_E0302,
			  "there is no %s<%" PRId64 ",%" PRId64 ",%" PRId64 "> of %s", at->name,
			  v[0], v[1], v[2], elem_rows[r->a].name);
	if (below && above && below != above)
		diag_remedy(s->ctx, m, "the nearest are %s<%d,%d,%d> and %s<%d,%d,%d>", at->name,
			    r->m, below, r->k, at->name, r->m, above, r->k);
	else
		diag_remedy(s->ctx, m, "the nearest is %s<%d,%d,%d>", at->name, r->m,
			    below ? below : above, r->k);
	return false;
}

/* Atoms that the warps of a warpgroup make. */
static int64_t atoms_of_group(Sema *s, const Mma *m)
{
	return GROUP_THREADS / atom_threads(s->ctx, m->atom);
}

int64_t mma_warpgroups(Sema *s, const Mma *m)
{
	return m->arrange[0] * m->arrange[1] * m->arrange[2] / atoms_of_group(s, m);
}

bool mma_exists(const char *name)
{
	for (int i = 0; i < ATOM_COUNT; i++)
		if (!strcmp(atom_rows[i].name, name))
			return true;
	return false;
}

/* open: its N is the least until it has a tile. */
static Value mma_of(Sema *s, Loc loc, const AtomRow *r, int n, bool open)
{
	Value v = value_of(V_MMA);
	Mma *m = NEW(s->arena, Mma);
	*m = (Mma){.atom = {(AtomId)(r - atom_rows), n},
		   .arrange = {1, 1, 1},
		   .loc = loc,
		   .swap = sched_swaps(s),
		   .open = open,
		   .values = {1, 1, 1}};
	m->arrange[0] = atoms_of_group(s, m);
	v.mma = m;
	return v;
}

static bool are_types(Sema *s, const Value *types)
{
	bool all = true;
	for (int i = 0; i < 3 && all; i++)
		all = want(s, &types[i], V_ELEM, "an operand of an mma");
	return all;
}

Value mma_template(Sema *s, const Node *at, Value *types, int n)
{
	static const char *const what[] = {"M of an mma", "N of an mma", "K of an mma"};
	int64_t shape[3];
	if (n != 3 || at->kids.n != 3)
		return rejected(s, at->loc, D_E0206,
				"an mma has three extents and three types, "
				"wgmma<M,N,K>(a, b, accumulator)");
	for (int i = 0; i < 3; i++)
		if (!eval_int(s, at->kids.at[i], 1, MMA_EXTENT_MAX, what[i], &shape[i]))
			return value_bad();
	const AtomRow *r = are_types(s, types) ? row_by_types(s, at, types, shape[2]) : NULL;
	if (!r || !shape_exists(s, at, r, shape))
		return value_bad();
	return mma_of(s, at->loc, r, (int)shape[1], false);
}

/* ------------------------------------------------------------------ without numbers */
/* Of several K the largest. */
Value mma_open(Sema *s, const Node *call, Value *types, int n)
{
	const Node *at = call->kids.at[0];
	if (n != 3)
		return rejected(s, call->loc, D_E0206,
				"an mma has three types\n"
				"write %s(a, b, accumulator), as in wgmma(bf16, bf16, f32)",
				at->name);
	const AtomRow *r = are_types(s, types) ? row_by_types(s, at, types, MMA_EXTENT_MAX) : NULL;
	return r ? mma_of(s, call->loc, r, next_n(r, 1, 1), true) : value_bad();
}

const char *mma_text(Sema *s, const Mma *m)
{
	const AtomRow *r = &atom_rows[m->atom.id];
	const char *numbers = m->open ? "" : ctx_strf(s->ctx, "<%d,%d,%d>", r->m, m->atom.n, r->k);
	return ctx_strf(s->ctx, "%s%s(%s, %s, %s)", r->name, numbers,
			elem_rows[m->swap ? r->b : r->a].name,
			elem_rows[m->swap ? r->a : r->b].name, elem_rows[r->c].name);
}

const char *mma_arrangement(Sema *s, const Mma *m)
{
	const int64_t *a = m->arrange;
	return ctx_strf(s->ctx, "(%" PRId64 ",%" PRId64 ",%" PRId64 ")", a[0], a[1], a[2]);
}

bool mma_has_numbers(Sema *s, const Value *v)
{
	Mma with = *v->mma;
	with.open = false;
	with.atom.n = next_n(&atom_rows[with.atom.id], 128, -1);
	return !v->mma->open || reject(s, v->loc, D_E0203,
				       "this mma has no numbers: they follow the tile of an "
				       "accumulator\n"
				       "write them, as %s",
				       mma_text(s, &with));
}

/* The call with the numbers of its tile; where several differ, it stays as it is. */
static void said_numbers(Sema *s, const Mma *m)
{
	const char *text = mma_text(s, m);
	if (!m->arranged)
		text = ctx_strf(s->ctx, "%s * %s", text, mma_arrangement(s, m));
	for (int i = 0; s->opt->said && i < s->opt->said->n; i++) {
		Said *d = &s->opt->said->at[i];
		if (d->kind == SAID_OPEN && d->loc.begin == m->loc.begin)
			d->value = !d->value || !strcmp(d->value, text) ? text : mma_text(s, m->of);
	}
}

/* As many warpgroups as share the atoms of a tile's rows evenly. */
static int64_t groups_that_share(int64_t atoms)
{
	int64_t n = MOST_GROUPS;
	while (n > 1 && (atoms < n || atoms % n))
		n--;
	return n;
}

/* The widest N that divides the columns; the least where none does. */
static int widest(const AtomRow *r, int64_t columns)
{
	int n = next_n(r, columns, -1);
	while (n && columns % n)
		n = next_n(r, n - 1, -1);
	return n ? n : next_n(r, 1, 1);
}

/* For a tile of the program's rows and columns, which swap exchanges. */
static const Mma *mma_for(Sema *s, const Mma *open, const int64_t *tile)
{
	const AtomRow *r = &atom_rows[open->atom.id];
	int64_t groups = atoms_of_group(s, open);
	Mma *m = NEW(s->arena, Mma);
	*m = *open;
	m->open = false;
	m->of = open;
	if (!m->arranged)
		m->arrange[0] = groups * groups_that_share(tile[m->swap] / (r->m * groups));
	m->atom.n = widest(r, tile[!m->swap] / m->arrange[1]);
	said_numbers(s, m);
	return m;
}

/* ------------------------------------------------------------------ arrangements */

/* Warpgroups side by side along one mode; or the warps of one side by side along both. */
static bool is_arranged(Sema *s, const Mma *m)
{
	int64_t group = atoms_of_group(s, m), *a = (int64_t *)(uintptr_t)m->arrange;
	int64_t all = a[0] * a[1];
	if (a[2] > 1 || all % group || all > MOST_GROUPS * group)
		return false;
	return a[0] % group == 0 || (all == group && group % a[0] == 0);
}

Value mma_arrange(Sema *s, Loc loc, const Value *mma, const Value *by)
{
	Value v = *mma, e = {.kind = V_INT, .loc = by->loc};
	Mma *m = NEW(s->arena, Mma);
	*m = *mma->mma;
	(void)loc;
	if (!want(s, by, V_TUPLE, "an arrangement of warpgroups"))
		return value_bad();
	for (int i = 0; i < 3; i++) {
		if (by->tup->n != 3 || !tup_is_leaf(by->tup->at[i]))
			return rejected(s, by->loc, D_E0206,
					"an arrangement has three extents, (m,n,k)");
		e.ix = by->tup->at[i]->leaf;
		if (!want_int(s, &e, 1, 1024, "an arrangement's extent", &m->arrange[i]))
			return value_bad();
	}
	if (!is_arranged(s, m)) {
		int group = (int)atoms_of_group(s, m);
		return rejected(s, by->loc, D_E0301,
				"not built yet: this arrangement of %s; one, two and three "
				"warpgroups along m, (%d,1,1), "
				"(%d,1,1) and (%d,1,1), or along n, (%d,2,1) and (%d,3,1)%s, are",
				group == 1 ? "warpgroups" : "warps", group, 2 * group, 3 * group,
				group, group, group == 1 ? "" : ", and (2,2,1) and (1,4,1) of one");
	}
	m->arranged = true;
	v.mma = m;
	return v;
}

/* How many atoms of a warp a step has along each mode: a tile has a multiple of it. */
Value mma_values(Sema *s, const Node *n)
{
	static const char *const modes[] = {"values along m", "values along n", "values along k"};
	static const int64_t most[] = {ATOM_N, ATOM_N, 1};
	const Node *call = n->kids.at[1];
	Value v = eval(s, n->kids.at[0]);
	if (!want(s, &v, V_MMA, "what has values") || !mma_has_numbers(s, &v))
		return value_bad();
	if (call->kids.n != 4)
		return rejected(s, call->loc, D_E0206, "values has three extents, values(m,n,k)");
	Mma *m = NEW(s->arena, Mma);
	*m = *v.mma;
	for (int i = 0; i < 3; i++) {
		if (!eval_int(s, call->kids.at[i + 1], 1, most[i], modes[i], &m->values[i]))
			return value_bad();
	}
	v.mma = m;
	return v;
}

/* ------------------------------------------------------------------ mm.C(bM,bN) */
/* What a tile of too few rows may do, beside having more; "": nothing. */
static const char *help_few(Sema *s, const Mma *m, int64_t v)
{
	int64_t rows = atom_rows[m->atom.id].m, all = atoms_of_group(s, m), warps = all;
	if (v < rows)
		return "; with swap in the schedule, rows of A are the mma's N, 8 or more";
	while (v % (rows * m->values[0] * warps) && warps > 1)
		warps /= 2;
	if (m->arrange[0] != all || m->arrange[1] != 1 || v % (rows * m->values[0] * warps))
		return "";
	return ctx_strf(s->ctx,
			"; or arrange warps of mma_sync along n, too: * (%" PRId64 ",%" PRId64
			",1)",
			warps, all / warps);
}

/* The tile's extent along its mode, of which swap makes the other of the mma. */
static bool divisible(Sema *s, const Node *call, const Mma *m, int mode, int64_t v)
{
	static const char names[2][2] = {"M", "N"};
	bool along_n = m->swap != (mode == 1);
	int64_t step = along_n ? m->atom.n * m->arrange[1] * m->values[1]
			       : atom_rows[m->atom.id].m * m->arrange[0] * m->values[0];
	if (v % step == 0)
		return true;
	return reject(s, call->kids.at[mode + 1]->loc, D_E0303,
		      "the tile's %s is %" PRId64 ", not a multiple of the %" PRId64
		      " that the mma covers%s\n"
		      "the nearest is %" PRId64 "%s",
		      names[mode], v, step,
		      !m->swap  ? ""
		      : along_n ? " with its N (swap)"
				: " with its M (swap)",
		      nearest(v, step), along_n || m->swap ? "" : help_few(s, m, v));
}

static bool shape_args(Sema *s, const Node *call, int64_t *v)
{
	if (call->kids.n != 3)
		return reject(s, call->loc, D_E0206,
			      "a fragment's shape has two extents, mm.C(m,n)");
	for (int i = 0; i < 2; i++) {
		if (!eval_int(s, call->kids.at[i + 1], 1, 65536, "the extent of a tile", &v[i]))
			return false;
	}
	return true;
}

static Value report_method(Sema *s, const Node *call, const Value *v)
{
	return rejected(s, call->loc, D_E0203,
			"%s has no functions of its own\n"
			"functions stand in front of what they take: bf16(x), relu(x)",
			value_text(v));
}

Value mma_shape(Sema *s, const Node *call)
{
	const Node *field = call->kids.at[0];
	Value mma = eval(s, field->kids.at[0]), v = value_of(V_SHAPE);
	int64_t e[2];
	if (mma.kind == V_ACC || mma.kind == V_FRAG)
		return report_method(s, call, &mma);
	if (!want(s, &mma, V_MMA, "what has fragments"))
		return value_bad();
	if (strcmp(field->name, "C")) {
		bool later = !strcmp(field->name, "A") || !strcmp(field->name, "B");
		if (later)
			reject(s, field->loc, D_E0203,
			       "'%s' is what an mma reads, and no accumulator's shape\n"
			       "write r%s : mm.%s <- a tile of it, and multiply that",
			       field->name, field->name, field->name);
		else
			reject(s, field->name_loc, D_E0201, "an mma has no fragment '%s'",
			       field->name);
		return value_bad();
	}
	if (!shape_args(s, call, e))
		return value_bad();
	const Mma *m = mma.mma->open ? mma_for(s, mma.mma, e) : mma.mma;
	const AtomRow *r = &atom_rows[m->atom.id];
	if (!divisible(s, call, m, 0, e[0]) || !divisible(s, call, m, 1, e[1]))
		return value_bad();
	v.layout = layout_2d(s->ctx, e[0], e[1], 1, e[0]);
	v.elem = r->c;
	v.mma = m;
	return v;
}
