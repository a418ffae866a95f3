/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* query.c - one expression of the layout algebra, outside any file: what it is, as the algebra sees
 * it.
 *     M:1 / 128 where M % 128 == 0  ->  (128,M / 128):(1,128)
 * An mma stands for the thread-value layout of its accumulator. */
#include "frontend/sema.h"

/* Warps or warpgroups have rows or columns of their own: one more mode of threads. */
static const Layout *along(Ctx *c, const Layout *tv, int64_t groups, int64_t stride)
{
	const Layout *group = layout_new(c, tup_int(c, groups), tup_int(c, stride));
	const Layout *threads = layout_cat(c, (const Layout *[]){layout_mode(c, tv, 0), group}, 2);
	return groups == 1 ? tv
			   : layout_cat(c, (const Layout *[]){threads, layout_mode(c, tv, 1)}, 2);
}

static const Layout *mma_tv(Ctx *c, const Mma *m, int64_t *rows, int64_t *cols)
{
	const AtomRow *r = &atom_rows[m->atom.id];
	const char *why = NULL;
	*rows = r->m * m->arrange[0];
	*cols = m->atom.n * m->arrange[1];
	const Layout *tv = layout_composition(c, layout_2d(c, r->m, m->atom.n, 1, *rows),
					      atom_tv_c(c, m->atom), &why);
	if (!tv)
		panic("the accumulator of an atom: %s", why);
	return along(c, along(c, tv, m->arrange[0], r->m), m->arrange[1], m->atom.n * *rows);
}

static Alg alg_kept(Ctx *c, const Alg *a)
{
	Alg r = *a, *at = NEWN(ctx_arena(c), Alg, a->n + 1);
	for (int i = 0; a->kind == ALG_LIST && i < a->n; i++)
		at[i] = alg_kept(c, &a->at[i]);
	r.at = at;
	return r;
}

static bool layout_found(Sema *s, const Value *v, FrontendLayout *out)
{
	*out = (FrontendLayout){.mma = NULL};
	if (v->kind == V_MMA && !mma_has_numbers(s, v))
		return false;
	if (v->kind == V_MMA) {
		Buf name = {0};
		out->value = (Alg){.kind = ALG_LAYOUT,
				   .layout = mma_tv(s->ctx, v->mma, &out->rows, &out->cols)};
		atom_print(v->mma->atom, &name);
		out->mma = ctx_buf(s->ctx, &name);
		return true;
	}
	if (v->kind != V_BAD && to_alg(s, v, &out->value)) {
		out->value = alg_kept(s->ctx, &out->value);
		return true;
	}
	return false;
}

bool frontend_layout(Ctx *c, int src, FrontendLayout *out)
{
	FrontendOpt none = {0};
	Sema s = {.ctx = c, .arena = arena_new(), .opt = &none};
	Value v = value_bad();
	s.errors_before = diag_errors(c);
	s.module = module_new(c);
	const Node *query = parse_query(c, s.arena, src);
	if (query)
		sema_query(&s, query, &v);
	bool ok = layout_found(&s, &v, out) && diag_errors(c) == s.errors_before;
	arena_free(s.arena);
	return ok;
}
