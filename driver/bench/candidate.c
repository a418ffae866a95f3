/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* candidate.c - a line of the schedules file and the source make a cubin. The line's block is a
 * define that takes the place of the kernel's own:
 *     schedule { roles pingpong; }  ->  -Dschedule="{ roles pingpong; }" */
#include "driver/bench/candidate.h"
#include "driver/tool.h"

#include <string.h>

/* ------------------------------------------------------------------ one candidate */
/* What a caller of the kernel sees. */
static const char *signature_of(Ctx *c, const Kernel *k)
{
	Buf b = {0};
	EACH(const Arg, a, k->args) {
		buf_printf(&b, "%s%s : ",
			   a->is_inout ? "inout "
			   : a->is_out ? "out "
				       : "",
			   a->val->name);
		type_print(a->val->type, &b);
		buf_printf(&b, "; ");
	}
	for (int i = 0; i < k->syms.n; i++)
		buf_printf(&b, "%s ", k->syms.at[i].name);
	return ctx_buf(c, &b);
}

static void after(void *user, const Kernel *k, const char *pass, bool changed)
{
	Candidate *x = user;
	const char *kernel = x->source->o->problem.kernel;
	(void)changed;
	if (!strcmp(pass, "frontend") && !x->signature && (!kernel || !strcmp(k->name, kernel)))
		x->signature = signature_of(x->ctx, k);
}

static StrVec all_defines(Ctx *c, const Options *o, const BenchLine *line)
{
	const char *kernel = o->problem.kernel;
	StrVec all = {0};
	for (int i = 0; i < o->defines.n; i++)
		vec_push(ctx_arena(c), &all, o->defines.at[i]);
	for (int i = 0; i < line->defines.n; i++)
		vec_push(ctx_arena(c), &all, line->defines.at[i]);
	if (line->block)
		vec_push(ctx_arena(c), &all,
			 ctx_strf(c, "%s%sschedule=%s", kernel ? kernel : "", kernel ? "." : "",
				  line->block));
	return all;
}

void candidate_compile(Candidate *x, const BenchSource *s, const BenchLine *line)
{
	Buf log = {0};
	*x = (Candidate){.source = s, .line = line, .ctx = tool_ctx(s->o)};
	CompileOpt opt = tool_compile_opt(x->ctx, s->o, &log);
	StrVec all = all_defines(x->ctx, s->o, line);
	if (all.n > s->o->defines.n) { /* the name of a line says what is tried: it must be that */
		diag_level(x->ctx, D_W0201, DL_ERROR);
		diag_level(x->ctx, D_W0601, DL_ERROR);
	}
	opt.emit = EMIT_BIT(EMIT_CUBIN);
	opt.defines = all.at;
	opt.ndefines = all.n;
	opt.after = after;
	opt.user = x;
	x->ok = compile_run(x->ctx, &s->source, &opt, &x->out);
	if (!x->ok)
		candidate_drop(x, "it does not compile");
	buf_add(&x->out.printed, log.s ? log.s : "", log.n);
	buf_free(&log);
}

void candidate_drop(Candidate *x, const char *why)
{
	const BenchSource *s = x->source;
	if (s->lines) {
		Loc loc = x->line->loc;
		loc.src = ctx_src(x->ctx, s->lines_name, s->lines, strlen(s->lines));
		diag(x->ctx, loc, D_E0631, "candidate '%s' is not timed: %s", x->line->name, why);
	}
	if (!x->out.exit_code)
		x->out.exit_code = EXIT_DIAGS;
	x->ok = false;
}

void candidate_free(Candidate *x)
{
	compile_out_free(&x->out);
	ctx_free(x->ctx);
}
