/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* candidate.c - a line of the schedules file and the source make a cubin. The line's block takes
 * the place of the kernel's own in the text, with as many line ends as that had, so that messages
 * name the lines of the file:
 *     ... gD[m,n] <- bf16(acc); } schedule {\n roles none;\n } }
 *  -> ... gD[m,n] <- bf16(acc); } schedule { roles pingpong; persistent; }\n\n } */
#include "driver/bench/candidate.h"
#include "driver/tool.h"

#include <string.h>

/* ------------------------------------------------------------------ where the schedule is */
static bool is_kernel(const BenchSource *s, const char *name)
{
	return !s->kernel || (name && !strcmp(name, s->kernel));
}

static void find_place(BenchSource *s, const SaidVec *said)
{
	for (int i = 0; i < said->n; i++) {
		const Said *x = &said->at[i];
		if (!is_kernel(s, x->kernel))
			continue;
		if (x->kind == SAID_KERNEL && !s->has_place) {
			s->at = s->end = x->loc.end - 1; /* before the brace */
			s->has_place = true;
		}
		if (x->kind == SAID_SCHEDULE) {
			s->at = x->stmt.begin;
			s->end = x->stmt.end;
			s->has_place = true;
		}
	}
}

static bool has_byte_order_mark(const Source *s)
{
	return s->size >= 3 && !memcmp(s->text, "\xef\xbb\xbf", 3);
}

bool bench_place(BenchSource *s)
{
	CompileOut out = {0};
	SaidVec said = {0};
	Buf log = {0};
	Ctx *c = tool_ctx(s->o);
	if (has_byte_order_mark(&s->source)) { /* places are counted without it */
		s->source.text += 3;
		s->source.size -= 3;
	}
	CompileOpt opt = tool_compile_opt(c, s->o, &log);
	opt.syntax_only = true;
	opt.said = &said;
	bool ok = compile_run(c, &s->source, &opt, &out);
	if (ok)
		find_place(s, &said);
	else
		tool_messages(c, s->o);
	buf_free(&log);
	compile_out_free(&out);
	ctx_free(c);
	return ok;
}

/* ------------------------------------------------------------------ the text */
static int count_lines(const char *s, int n)
{
	int lines = 0;
	for (int i = 0; i < n; i++)
		lines += s[i] == '\n';
	return lines;
}

static void put_in_place(const BenchSource *s, const char *block, Buf *out)
{
	const char *text = s->source.text;
	buf_add(out, text, (size_t)s->at);
	buf_printf(out, "%s", block);
	for (int i = count_lines(text + s->at, s->end - s->at); i > 0; i--)
		buf_printf(out, "\n");
	buf_add(out, text + s->end, s->source.size - (size_t)s->end);
}

/* ------------------------------------------------------------------ one candidate */
/* What a caller of the kernel sees. */
static const char *signature_of(Ctx *c, const Kernel *k)
{
	Buf b = {0};
	for (int i = 0; i < k->args.n; i++) {
		const Arg *a = &k->args.at[i];
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
	(void)changed;
	if (!strcmp(pass, "frontend") && !x->signature && is_kernel(x->source, k->name))
		x->signature = signature_of(x->ctx, k);
}

static const char *const *all_defines(Ctx *c, const Options *o, const BenchLine *line)
{
	StrVec all = {0};
	for (int i = 0; i < o->defines.n; i++)
		vec_push(ctx_arena(c), &all, o->defines.at[i]);
	for (int i = 0; i < line->defines.n; i++)
		vec_push(ctx_arena(c), &all, line->defines.at[i]);
	return all.at;
}

void candidate_compile(Candidate *x, const BenchSource *s, const BenchLine *line)
{
	Buf text = {0}, log = {0};
	Source source = s->source;
	*x = (Candidate){.source = s, .line = line, .ctx = tool_ctx(s->o)};
	CompileOpt opt = tool_compile_opt(x->ctx, s->o, &log);
	if (line->defines.n) /* the name of a line says what is tried: it must be that */
		diag_level(x->ctx, D_W0201, DL_ERROR);
	opt.emit = EMIT_BIT(EMIT_CUBIN);
	opt.defines = all_defines(x->ctx, s->o, line);
	opt.ndefines = s->o->defines.n + line->defines.n;
	opt.after = after;
	opt.user = x;
	if (line->block) {
		put_in_place(s, line->block, &text);
		source.text = text.s;
		source.size = text.n;
	}
	x->ok = compile_run(x->ctx, &source, &opt, &x->out);
	if (!x->ok)
		candidate_drop(x, "it does not compile");
	buf_add(&x->out.printed, log.s ? log.s : "", log.n);
	buf_free(&log);
	buf_free(&text);
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
