/* explain.c - dslc explain FILE: the program written out in full, with reasons; --json and --svg
 * say the same to tools and to eyes. Runs the passes, writes no code, and writes nothing at all
 * after an error.
 *     dslc explain gemm.gemm -DbN=128 -o full.gemm --svg pipeline.svg --json - */
#include "driver/explain.h"
#include "driver/files.h"
#include "driver/tool.h"

#include <stdio.h>
#include <string.h>

typedef struct {
	Ctx *c;
	SaidVec said;
	VEC(const Kernel *) kernels;
	VEC(Attrs) given;
} Explained;

/* The schedule as the frontend left it: passes add to the list that the kernel has. */
static Attrs attrs_copy(Ctx *c, const Attrs *a)
{
	Attrs copy = {NEWN(ctx_arena(c), Attr, a->n + 1), a->n};
	if (a->n)
		memcpy(copy.at, a->at, sizeof *a->at * (size_t)a->n);
	return copy;
}

static void after(void *user, const Kernel *k, const char *pass, bool changed)
{
	Explained *e = user;
	(void)changed;
	if (strcmp(pass, "frontend") != 0)
		return;
	vec_push(ctx_arena(e->c), &e->kernels, k);
	vec_push(ctx_arena(e->c), &e->given, attrs_copy(e->c, &k->attrs));
}

static bool write_text(Explained *e, const Options *o, const Source *source, const FactsVec *all)
{
	Buf text = {0};
	const char *path = o->out ? o->out : "-";
	if (!o->out && (o->json_out || o->svg))
		return true;
	if (source->is_ir)
		for (int i = 0; i < all->n; i++)
			notes_print(&all->at[i], &text);
	else
		explain_program(ctx_src_at(e->c, e->kernels.at[0]->loc.src), &e->said, all, e->c,
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

static bool all_done(const Explained *e)
{
	for (int i = 0; i < e->kernels.n; i++)
		if (e->kernels.at[i]->stage != ST_PTX)
			return false;
	return true;
}

static bool explain(Explained *e, const Options *o, const Source *source, CompileOut *out)
{
	Buf log = {0};
	FactsVec all = {0};
	CompileOpt opt = tool_compile_opt(e->c, o, &log);
	opt.emit = 0;
	opt.said = &e->said;
	opt.after = after;
	opt.user = e;
	bool ok = compile_run(e->c, source, &opt, out) && all_done(e);
	buf_free(&log);
	for (int i = 0; ok && i < e->kernels.n; i++)
		vec_push(ctx_arena(e->c), &all, facts_of(e->kernels.at[i], e->given.at[i]));
	return ok && spares_input(e, o) && write_text(e, o, source, &all) &&
	       write_others(e, o, source, &all);
}

int tool_explain(const Options *o)
{
	Explained e = {.c = tool_ctx(o)};
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
