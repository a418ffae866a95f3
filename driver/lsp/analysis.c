/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* analysis.c - what the compiler knows of an open file: its messages, its names, and what was
 * derived of its kernels. No code is made; a fault of the compiler is one more message. */
#include "driver/lsp/lsp.h"
#include "driver/tool.h"

typedef struct {
	Know *k;
	const Source *source;
	const Options *o;
} Work;

static void look(void *user)
{
	const Work *w = user;
	Know *k = w->k;
	Buf log = {0};
	CompileOpt opt = tool_compile_opt(k->c, w->o, &log);
	opt.only_check = true;
	opt.names = &k->names;
	explained_watch(&k->explained, &opt);
	bool ok = compile_run(k->c, w->source, &opt, &k->out);
	if (ok && !w->source->is_ir && explained_done(&k->explained))
		explained_facts(&k->explained, &k->out, &k->facts);
	buf_free(&log);
}

Know *know_new(const Options *o, const char *path, const Buf *text)
{
	char why[512];
	Know *k = heap_alloc(sizeof *k);
	Source source = {.name = path, .text = text->s ? text->s : "", .size = text->n};
	Work w = {k, &source, o};
	k->c = k->explained.c = tool_ctx(o);
	if (rescue(look, &w, why, sizeof why))
		return k;
	k->out = (CompileOut){0};
	k->names = (NamedVec){0};
	k->facts = (FactsVec){0};
	diag(k->c, NOLOC, D_E0699, "internal error at %s", why);
	return k;
}

void know_free(Know *k)
{
	if (!k)
		return;
	compile_out_free(&k->out);
	ctx_free(k->c);
	heap_free(k);
}

/* The last one counts: a name may be tried before it is declared. */
const Named *know_name(const Know *k, size_t offset)
{
	for (int i = k->names.n; i-- > 0;) {
		const Named *n = &k->names.at[i];
		if (n->at.src == 0 && (size_t)n->at.begin <= offset && offset <= (size_t)n->at.end)
			return n;
	}
	return NULL;
}

bool know_sees(const Know *k, const Named *n, size_t offset)
{
	Loc within = n->within;
	bool is_decl = &k->names.at[n->decl] == n;
	if (!is_decl || n->at.src != 0 || (size_t)n->at.begin >= offset)
		return false;
	return within.src < 0 || ((size_t)within.begin <= offset && offset <= (size_t)within.end);
}
