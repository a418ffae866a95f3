/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* library.c - dslc.h over compile_run. A result owns its Ctx, so that messages can be rendered as
 * long as it lives. */
#include "driver/choose/choose.h"
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

/* Where each member ends. */
static const size_t ends[] = {
#define END(member) offsetof(dslc_options, member) + sizeof((dslc_options){0}.member)
	END(size),       END(name),       END(target),        END(defines),   END(ndefines),
	END(ptxas_path), END(ptxas_args), END(nptxas_args),   END(opt_level), END(ptxas_timeout_s),
	END(emit),       END(unproved),   END(check_indices), END(simulated), END(all_defines),
	END(sizes),      END(nsizes),     END(card),          END(one),       END(ranked),
	END(tuned),      END(kernel),
#undef END
};

/* The whole members that `size` bytes hold. */
static size_t covered(size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < COUNTOF(ends) && ends[i] <= size; i++)
		n = ends[i];
	return n;
}

static bool any_set(const dslc_options *given)
{
	const unsigned char *bytes = (const unsigned char *)given;
	for (size_t i = sizeof *given; i < given->size; i++)
		if (bytes[i])
			return true;
	return false;
}

/* The caller's struct may be of an earlier version, shorter than ours, or of a later one that uses
 * none of its new members. */
static bool read_options(Ctx *c, const dslc_options *given, dslc_options *o)
{
	*o = (dslc_options){.size = sizeof *o};
	if (!given)
		return true;
	if (given->size < ends[1])
		diag_remedy(c,
			    diag(c, NOLOC, D_E0611,
				 "dslc_options.size is %zu: it is not known which members are set",
				 given->size),
			    "dslc_options opt = {.size = sizeof opt}");
	else if (given->size > sizeof *o && any_set(given))
		diag(c, NOLOC, D_E0611,
		     "dslc_options has %zu bytes and sets some beyond the %zu that this version "
		     "of the library knows",
		     given->size, sizeof *o);
	else
		memcpy(o, given, covered(given->size));
	if (o->opt_level < -1 || o->opt_level > 3)
		diag(c, NOLOC, D_E0611, "dslc_options.opt_level is %d, it must be in -1..3",
		     o->opt_level);
	return !diag_errors(c);
}

static CompileOpt compile_opt(const dslc_options *o)
{
	return (CompileOpt){
		.emit = (unsigned)o->emit & EMIT_PUBLIC ? (unsigned)o->emit & EMIT_PUBLIC
							: DSLC_CUBIN,
		.ir_after = AFTER_LAST,
		.stop_after = AFTER_LAST,
		.only = -1,
		.unproved = o->unproved != 0,
		.check_indices = o->check_indices != 0,
		.target = o->target,
		.defines = o->defines,
		.ndefines = (int)o->ndefines,
		.kernel = o->kernel,
		.cg = {.unassembled = o->simulated != 0,
		       .opt_level = o->opt_level == 0  ? 2
				    : o->opt_level < 0 ? 0
						       : o->opt_level,
		       .ptxas_path = o->ptxas_path,
		       .ptxas_args = o->ptxas_args,
		       .nptxas_args = (int)o->nptxas_args,
		       .ptxas_timeout_s = o->ptxas_timeout_s},
	};
}

static bool read_sizes(Ctx *c, const dslc_options *o, CompileOpt *co)
{
	SizeArgs *all = NEWN(ctx_arena(c), SizeArgs, o->nsizes + 1);
	for (size_t i = 0; i < o->nsizes; i++) {
		const char *wrong = sizes_parse(ctx_arena(c), o->sizes[i], &all[i]);
		if (wrong) {
			diag(c, NOLOC, D_E0611, "dslc_options.sizes[%zu]: %s\n%s", i, wrong,
			     "write M=16,N=4096,K=4096");
			return false;
		}
	}
	co->sizes = all;
	co->nsizes = (int)o->nsizes;
	co->card = o->card;
	co->one = o->one != 0;
	return true;
}

typedef struct {
	dslc_result *r;
	const Source *source;
	const CompileOpt *opt;
	int ranked;
} Call;

static void put_ranked(const RankedVec *all, Buf *out)
{
	EACH(const Ranked, x, *all) {
		buf_printf(out, "%s\t%.1f", x->kernel, x->us);
		for (int j = 0; j < x->defines.n; j++)
			buf_printf(out, "\t%s", x->defines.at[j]);
		buf_printf(out, "\n");
	}
}

static void compile(void *user)
{
	const Call *w = user;
	RankedVec ranked = {0};
	if (!w->ranked)
		compile_run(w->r->ctx, w->source, w->opt, &w->r->out);
	else if (choose_ranked(w->r->ctx, w->source, w->opt, w->ranked, &ranked))
		put_ranked(&ranked, &w->r->out.chosen);
	else
		w->r->out.exit_code = EXIT_DIAGS;
}

/* A fault of ours is an answer too: the host goes on. */
static void compile_rescued(Call *w)
{
	char why[1024];
	dslc_result *r = w->r;
	if (rescue(compile, w, why, sizeof why))
		return;
	r->out = (CompileOut){.exit_code = EXIT_INTERNAL};
	DiagMsg *m = diag(r->ctx, NOLOC, D_E0699, "internal error at %s", why);
	diag_remedy(r->ctx, m,
		    "this is a bug in dslc, not in your program: please report it "
		    "with the input");
}

dslc_result *dslc_compile(const char *source, size_t size, const dslc_options *opt)
{
	dslc_options o;
	dslc_result *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	r->ctx = ctx_new();
	bool ok = read_options(r->ctx, opt, &o);
	const char *name = o.name ? o.name : "<memory>";
	size_t n = strlen(name);
	Source s = {.name = name,
		    .text = source ? source : "",
		    .size = source ? size : 0,
		    .is_ir = n > 3 && strcmp(name + n - 3, ".ir") == 0,
		    .tuned = o.tuned,
		    .tuned_name = "dslc_options.tuned"};
	CompileOpt co = compile_opt(&o);
	ok = ok && read_sizes(r->ctx, &o, &co);
	diag_level(r->ctx, D_W0201, o.all_defines ? DL_ERROR : DL_ROW);
	diag_level(r->ctx, D_W0601, o.all_defines ? DL_ERROR : DL_ROW);
	r->emit = co.emit;
	if (ok && size > SOURCE_MAX)
		diag(r->ctx, NOLOC, D_E0602, "the source is larger than %d MiB", SOURCE_MAX >> 20);
	if (diag_errors(r->ctx))
		r->out.exit_code = EXIT_DIAGS;
	else
		compile_rescued(&(Call){r, &s, &co, (int)o.ranked});
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

const char *dslc_chosen(const dslc_result *r)
{
	return r->out.chosen.s ? r->out.chosen.s : "";
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
