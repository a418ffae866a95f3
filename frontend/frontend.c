/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* frontend.c - text, tree, IR. The tree and all that sema knows live in one arena that ends here,
 * so nothing of the IR can point back. */
#include "frontend/sema.h"

#include <string.h>

static void try_name(const char *name, Suggest *g, bool *found)
{
	*found |= !strcmp(name, g->want);
	suggest_try(g, name);
}

/* kernel: around n; NULL: none */
static void collect_consts(Ctx *c, const Node *n, const char *kernel, Suggest *g, bool *found)
{
	kernel = n->kind == N_KERNEL ? n->name : kernel;
	for (int i = 0; i < n->kids.n; i++) {
		const Node *k = n->kids.at[i];
		if (n->kind == N_CONST)
			try_name(k->name, g, found);
		if (n->kind == N_CONST && kernel)
			try_name(ctx_strf(c, "%s.%s", kernel, k->name), g, found);
		collect_consts(c, k, kernel, g, found);
	}
}

/* schedule, or kernel.schedule */
static bool is_schedule(const char *name)
{
	const char *dot = strrchr(name, '.');
	return !strcmp(dot ? dot + 1 : name, "schedule");
}

static void warn_unused(Sema *s, const Define *d, const Node *file)
{
	Suggest g = suggest_begin(d->name);
	bool found = d->used;
	collect_consts(s->ctx, file, NULL, &g, &found);
	if (!found && is_schedule(d->name))
		diag(s->ctx, NOLOC, D_W0201,
		     "-D%s=%s: no schedule is open to it: a kernel that multiplies "
		     "has schedule auto; or none",
		     d->name, d->value);
	else if (!found)
		suggest_end(s, &g,
			    diag(s->ctx, NOLOC, D_W0201, "-D%s=%s: no const of this name", d->name,
				 d->value));
}

static void warn_unused_defines(Sema *s, const Node *file)
{
	for (int i = 0; i < s->opt->ndefines; i++)
		warn_unused(s, &s->opt->defines[i], file);
}

static void count_kernels(FrontendOpt *opt, const Node *file)
{
	for (int i = 0; i < file->kids.n; i++)
		if (file->kids.at[i]->kind == N_KERNEL && !opt->kernels++)
			opt->first = file->kids.at[i]->name;
}

static void needs_kernels(Sema *s, const Node *file)
{
	const char *name = s->opt->kernel;
	for (int i = 0; i < file->kids.n; i++) {
		const Node *n = file->kids.at[i];
		if (n->kind == N_ERROR ||
		    (n->kind == N_KERNEL && (!name || !strcmp(n->name, name))))
			return;
	}
	reject(s, file->loc, D_E0313, "there is no kernel%s%s in this file", name ? " " : "",
	       name ? name : "");
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
	count_kernels(s->opt, file);
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
