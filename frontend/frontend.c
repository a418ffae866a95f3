/* frontend.c - text, tree, IR. The tree and all that sema knows live in one arena that ends here,
 * so nothing of the IR can point back. */
#include "frontend/sema.h"

#include <string.h>

static void collect_consts(const Node *n, Suggest *g, bool *found)
{
	for (int i = 0; i < n->kids.n; i++) {
		const Node *k = n->kids.at[i];
		if (n->kind == N_CONST) {
			*found |= !strcmp(k->name, g->want);
			suggest_try(g, k->name);
		}
		collect_consts(k, g, found);
	}
}

static void warn_unused_defines(Sema *s, const Node *file)
{
	for (int i = 0; i < s->opt->ndefines; i++) {
		const Define *d = &s->opt->defines[i];
		Suggest g = suggest_begin(d->name);
		bool found = false;
		collect_consts(file, &g, &found);
		if (!found)
			suggest_end(s, &g,
				    diag(s->ctx, NOLOC, D_W0201, "-D%s=%s: no const of this name",
					 d->name, d->value));
	}
}

static void needs_kernels(Sema *s, const Node *file)
{
	for (int i = 0; i < file->kids.n; i++)
		if (file->kids.at[i]->kind == N_KERNEL || file->kids.at[i]->kind == N_ERROR)
			return;
	diag(s->ctx, file->loc, D_E0313, "there is no kernel in this file");
}

static Module *compile(Sema *s, int src)
{
	if (s->opt->target && !target_fits(s, s->opt->target, NOLOC))
		return NULL;
	const Node *file = parse_file(s->ctx, s->arena, src);
	if (!file)
		return NULL;
	if (s->opt->ast)
		ast_print(file, s->opt->ast);
	sema_file(s, file);
	warn_unused_defines(s, file);
	if (!s->opt->syntax_only && diag_errors(s->ctx) == s->errors_before)
		needs_kernels(s, file);
	if (diag_errors(s->ctx) > s->errors_before)
		return NULL;
	return s->opt->syntax_only ? module_new(s->ctx) : s->module;
}

Module *frontend_compile(Ctx *c, int src, FrontendOpt *opt)
{
	FrontendOpt none = {0};
	Sema s = {.ctx = c, .arena = arena_new(), .opt = opt ? opt : &none};
	s.errors_before = diag_errors(c);
	s.module = module_new(c);
	Module *m = compile(&s, src);
	arena_free(s.arena);
	return m;
}

/* ------------------------------------------------------------------ one layout */
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
	if (v->kind == V_MMA) {
		Buf name = {0};
		out->value = (Alg){.kind = ALG_LAYOUT,
				   .layout = mma_tv(s, v->mma, &out->rows, &out->cols)};
		atom_print(v->mma->atom, &name);
		out->mma = ctx_str(s->ctx, name.s);
		buf_free(&name);
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
