/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* explain.c - dslc explain FILE: the program written out in full, with reasons; --json and --svg
 * say the same to tools and to eyes. Runs the passes, writes no code, and writes nothing at all
 * after an error.
 *     dslc explain gemm.gemm -DbN=128 -o full.gemm --svg pipeline.svg --json - */
#include "codegen/json.h"
#include "driver/explain/explain.h"
#include "driver/files.h"
#include "driver/tool.h"

#include <stdio.h>
#include <string.h>

/* The schedule as the frontend left it: passes add to the list that the kernel has. */
static Attrs attrs_copy(Ctx *c, const Attrs *a)
{
	Attrs copy = {NEWN(ctx_arena(c), Attr, a->n + 1), a->n};
	if (a->n)
		memcpy(copy.at, a->at, sizeof *a->at * (size_t)a->n);
	return copy;
}

/* The names that lead from the CTA to its tile. */
static void see_tile(Explained *e, TextVec *tile, const Kernel *k)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op)) {
		Buf b = {0};
		bool loop = op->kind == OP_FOR && op->body->first->kind == OP_LET;
		if (op->kind != OP_LET && !loop)
			continue;
		buf_printf(&b, loop ? "%s from 0 below " : "%s = ", op->sym[0]);
		ix_print(op->ix[loop], &b);
		vec_push(ctx_arena(e->c), tile, ctx_buf(e->c, &b));
	}
}

/* What the launcher will check beside ranges and where clauses, as the manifest says it. */
static void see_checks(Explained *e, Facts *f, json_object *manifest, int kernel)
{
	json_object *list = json_get(manifest, "kernels");
	list = list ? json_get(json_object_array_get_idx(list, (size_t)kernel), "facts") : NULL;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		json_object *fact = json_object_array_get_idx(list, i);
		const char *text = json_object_get_string(json_get(fact, "text"));
		const char *rule = json_object_get_string(json_get(fact, "rule"));
		if (text && rule && strncmp(rule, "range ", 6) != 0 &&
		    strncmp(rule, "where ", 6) != 0)
			vec_push(ctx_arena(e->c), &f->checks,
				 ((FactCheck){ctx_str(e->c, text), ctx_str(e->c, rule)}));
	}
}

void explained_facts(Explained *e, const CompileOut *out, FactsVec *all)
{
	const Buf *text = &out->out[EMIT_MANIFEST];
	json_object *manifest = text->n ? json_tokener_parse(text->s) : NULL;
	for (int i = 0; i < e->kernels.n; i++) {
		const Seen *s = &e->kernels.at[i];
		Facts f = facts_of(s->k, s->given);
		f.tile = s->tile;
		f.sizes = e->sizes;
		f.nsizes = e->nsizes;
		see_checks(e, &f, manifest, i);
		vec_push(ctx_arena(e->c), all, f);
	}
	json_object_put(manifest);
}

static void after(void *user, const Kernel *k, const char *pass, bool changed)
{
	Explained *e = user;
	(void)changed;
	if (!strcmp(pass, "frontend"))
		vec_push(ctx_arena(e->c), &e->kernels,
			 ((Seen){.k = k, .given = attrs_copy(e->c, &k->attrs)}));
	else if (!strcmp(pass, "tiles"))
		see_tile(e, &e->kernels.at[e->kernels.n - 1].tile, k);
}

static void put_chosen(const Buf *chosen, Buf *out)
{
	for (const char *at = chosen->s; at && *at;) {
		size_t n = strcspn(at, "\n");
		buf_printf(out, "%s %.*s\n", explain_mark, (int)n, at);
		at += n + (at[n] == '\n');
	}
}

static bool write_text(Explained *e, const Options *o, const Source *source, const FactsVec *all,
		       const Buf *chosen)
{
	Buf text = {0};
	put_chosen(chosen, &text);
	const char *path = o->out ? o->out : "-";
	if (!o->out && (o->json_out || o->svg))
		return true;
	if (source->is_ir)
		for (int i = 0; i < all->n; i++)
			notes_print(&all->at[i], &text);
	else
		explain_program(ctx_src_at(e->c, e->kernels.at[0].k->loc.src), &e->said, all, e->c,
				&text);
	bool ok = file_write(e->c, path, text.s ? text.s : "", text.n);
	buf_free(&text);
	return ok;
}

static bool write_others(Explained *e, const Options *o, const Source *source, const FactsVec *all)
{
	Buf text = {0};
	bool ok = true;
	if (o->json_out) {
		explain_json(source->name, &e->said, all, &text);
		ok = file_write(e->c, o->json_out, text.s, text.n);
		text.n = 0;
	}
	if (ok && o->svg) {
		explain_svg(all, &text);
		ok = file_write(e->c, o->svg, text.s, text.n);
	}
	buf_free(&text);
	return ok;
}

/* The program that is explained is not written over. */
static bool spares_input(Explained *e, const Options *o)
{
	const char *to[] = {o->out, o->json_out, o->svg};
	for (size_t i = 0; i < COUNTOF(to); i++) {
		if (!to[i] || !strcmp(to[i], "-") || !same_file(to[i], o->inputs.at[0]))
			continue;
		diag_remedy(e->c, diag(e->c, NOLOC, D_E0604, "the output '%s' is the input", to[i]),
			    "name another");
		return false;
	}
	return true;
}

void explained_watch(Explained *e, CompileOpt *opt)
{
	opt->said = &e->said;
	opt->after = after;
	opt->user = e;
}

bool explained_done(const Explained *e)
{
	for (int i = 0; i < e->kernels.n; i++)
		if (e->kernels.at[i].k->stage != ST_PTX)
			return false;
	return true;
}

static bool has_size(const Explained *e, const char *name)
{
	for (int i = 0; i < e->kernels.n; i++)
		for (int j = 0; j < e->kernels.at[i].k->syms.n; j++)
			if (!strcmp(e->kernels.at[i].k->syms.at[j].name, name))
				return true;
	return false;
}

static bool knows_sizes(Explained *e)
{
	for (int i = 0; i < e->nsizes; i++) {
		const char *name = e->sizes[i].name;
		if (has_size(e, name))
			continue;
		diag_remedy(e->c,
			    diag(e->c, NOLOC, D_E0612, "--size gives %s, which no kernel here has",
				 name),
			    "name extents of its tensors: --size M=4096,N=4096");
		return false;
	}
	return true;
}

static bool explain(Explained *e, const Options *o, const Source *source, CompileOut *out)
{
	Buf log = {0};
	FactsVec all = {0};
	CompileOpt opt = tool_compile_opt(e->c, o, &log);
	opt.emit = EMIT_BIT(EMIT_MANIFEST);
	explained_watch(e, &opt);
	bool ok = compile_run(e->c, source, &opt, out) && explained_done(e);
	buf_free(&log);
	if (ok)
		explained_facts(e, out, &all);
	return ok && knows_sizes(e) && spares_input(e, o) &&
	       write_text(e, o, source, &all, &out->chosen) && write_others(e, o, source, &all);
}

int tool_explain(const Options *o)
{
	Explained e = {.c = tool_ctx(o),
		       .sizes = o->problem.sizes.at,
		       .nsizes = o->problem.sizes.n};
	CompileOut out = {0};
	Source source;
	Buf text = {0};
	bool ok =
		tool_read(e.c, o, o->inputs.at[0], &text, &source) && explain(&e, o, &source, &out);
	if (out.printed.n)
		fwrite(out.printed.s, 1, out.printed.n, stderr);
	tool_messages(e.c, o);
	int code = ok ? EXIT_OK : out.exit_code ? out.exit_code : EXIT_DIAGS;
	compile_out_free(&out);
	buf_free(&text);
	ctx_free(e.c);
	return code;
}
