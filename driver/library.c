/* library.c - dslc.h over compile_run. A result owns its Ctx, so that messages can be rendered as
 * long as it lives. */
#include "driver/compile.h"
#include "driver/dslc.h"

#include <stdlib.h>
#include <string.h>

struct dslc_result {
	Ctx *ctx;
	CompileOut out;
	unsigned emit;
	Buf messages[2]; /* text, JSON: rendered when first asked for */
};

enum {
	EMIT_PUBLIC =
		DSLC_CUBIN | DSLC_PTX | DSLC_LLVM | DSLC_MANIFEST | DSLC_IR | DSLC_HEADER | DSLC_C
};

/* The caller's struct may be of an earlier version, shorter than ours. */
static dslc_options read_options(const dslc_options *given)
{
	dslc_options o = {.size = sizeof o};
	if (given)
		memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
	return o;
}

static CompileOpt compile_opt(const dslc_options *o)
{
	return (CompileOpt){
		.emit = (unsigned)o->emit & EMIT_PUBLIC ? (unsigned)o->emit & EMIT_PUBLIC
							: DSLC_CUBIN,
		.ir_after = AFTER_LAST,
		.stop_after = AFTER_LAST,
		.only = -1,
		.target = o->target,
		.defines = o->defines,
		.ndefines = (int)o->ndefines,
		.cg = {.opt_level = o->opt_level == 0  ? 2
				    : o->opt_level < 0 ? 0
						       : o->opt_level,
		       .ptxas_path = o->ptxas_path,
		       .ptxas_args = o->ptxas_args,
		       .nptxas_args = (int)o->nptxas_args,
		       .ptxas_timeout_s = o->ptxas_timeout_s},
	};
}

dslc_result *dslc_compile(const char *source, size_t size, const dslc_options *opt)
{
	dslc_options o = read_options(opt);
	dslc_result *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	const char *name = o.name ? o.name : "<memory>";
	size_t n = strlen(name);
	Source s = {name, source ? source : "", source ? size : 0,
		    n > 3 && strcmp(name + n - 3, ".ir") == 0};
	CompileOpt co = compile_opt(&o);
	r->ctx = ctx_new();
	r->emit = co.emit;
	if (opt && opt->size < offsetof(dslc_options, target))
		diag(r->ctx, NOLOC, D_E0611, "the size in dslc_options is %zu", opt->size);
	else if (size > SOURCE_MAX)
		diag(r->ctx, NOLOC, D_E0602, "the source is larger than %d MiB", SOURCE_MAX >> 20);
	if (diag_errors(r->ctx))
		r->out.exit_code = EXIT_DIAGS;
	else
		compile_run(r->ctx, &s, &co, &r->out);
	return r;
}

int dslc_ok(const dslc_result *r)
{
	return r->out.exit_code == EXIT_OK;
}

int dslc_exit_code(const dslc_result *r)
{
	return r->out.exit_code;
}

const void *dslc_output(const dslc_result *r, int what, size_t *size)
{
	const Buf *b = NULL;
	for (int i = 0; i < EMIT_COUNT; i++)
		if ((int)EMIT_BIT(i) == what && what & (int)r->emit && dslc_ok(r))
			b = &r->out.out[i];
	if (size)
		*size = b ? b->n : 0;
	return b ? b->s : NULL;
}

const char *dslc_diagnostics(dslc_result *r, int json)
{
	Buf *b = &r->messages[!!json];
	if (!b->s && json)
		diag_json(r->ctx, b);
	else if (!b->s)
		diag_text(r->ctx, b, false);
	return b->s ? b->s : "";
}

void dslc_result_free(dslc_result *r)
{
	if (!r)
		return;
	compile_out_free(&r->out);
	buf_free(&r->messages[0]);
	buf_free(&r->messages[1]);
	ctx_free(r->ctx);
	free(r);
}

const char *dslc_version(void)
{
	return DSLC_VERSION;
}
