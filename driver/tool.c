/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tool.c - the dslc program: the command line, then each input through compile_run, then its
 * outputs to their files. Only here, in run.c and in crash.c does anything of the project print. */
#include "driver/tool.h"
#include "driver/dslc.h"
#include "driver/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STDOUT_BUFFER = 1 << 20 };

/* ------------------------------------------------------------------ shared by the commands */
void tool_usage(const char *fmt, ...)
{
	va_list ap;
	fputs("dslc: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static bool colored(const Options *o)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
	if (o->color != WHEN_AUTO)
		return o->color == WHEN_ALWAYS;
	return isatty(STDERR_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

static void flush(FILE *to, Buf *b)
{
	if (b->n)
		fwrite(b->s, 1, b->n, to);
	if (to != stdout)
		fflush(to);
	buf_free(b);
}

void tool_messages(const Ctx *c, const Options *o)
{
	Buf text = {0};
	if (o->json)
		diag_json(c, &text);
	else
		diag_text(c, &text, colored(o));
	flush(stderr, &text);
}

Ctx *tool_ctx(const Options *o)
{
	Ctx *c = ctx_new();
	for (int i = 0; i < o->levels.n; i++) {
		LevelSet set = o->levels.at[i];
		for (int id = 0; id < D_COUNT; id++)
			if (set.id == id || (set.id < 0 && diag_rows[id].severity == SEV_WARNING))
				diag_level(c, (DiagId)id, set.level);
	}
	return c;
}

static bool ends_in(const char *s, const char *ending)
{
	size_t n = strlen(s), m = strlen(ending);
	return n > m && strcmp(s + n - m, ending) == 0;
}

/* The file is named even where it does not exist. */
static bool read_tuned(Ctx *c, const Options *o, Source *source)
{
	bool named = o->command == CMD_TUNE && o->out;
	const char *found,
		*path = named ? o->out : with_ending(ctx_arena(c), source->name, ".tune");
	Buf text = {0};
	if (o->command == CMD_FMT || source->is_ir || !strcmp(source->name, "<stdin>"))
		return true;
	source->tuned_name = path;
	if (access(path, F_OK) != 0 || !strcmp(path, "-"))
		return true;
	bool ok = file_read(c, path, NULL, 0, &text, &found);
	source->tuned = ctx_buf(c, &text);
	return ok;
}

bool tool_read(Ctx *c, const Options *o, const char *input, Buf *text, Source *source)
{
	const char *found;
	if (!file_read(c, input, o->includes.at, o->includes.n, text, &found))
		return false;
	*source = (Source){
		.name = strcmp(found, "-") == 0 ? "<stdin>" : found,
		.text = text->s ? text->s : "",
		.size = text->n,
		.is_ir = o->lang == X_IR || (o->lang == X_BY_ENDING && ends_in(found, ".ir")),
	};
	return read_tuned(c, o, source);
}

/* -ffile-prefix-map */
static const char *mapped(Ctx *c, const Options *o, const char *name)
{
	size_t n = o->map_old ? strlen(o->map_old) : 0;
	if (!o->map_old || strncmp(name, o->map_old, n) != 0)
		return name;
	return ctx_strf(c, "%s%s", o->map_new, name + n);
}

/* Sizes that choices are for: --for, each line of --for-many, or else those of the problem. */
SizeArgsVec tool_sizes(Ctx *c, const Options *o)
{
	SizeArgsVec all = {0};
	for (int i = 0; i < o->wanted.n; i++)
		vec_push(ctx_arena(c), &all, o->wanted.at[i]);
	if (o->many)
		sizes_read(c, o->many, &all);
	SizeArgs first = o->problem.sizes;
	if (o->then.n)
		first.n = o->then.at[0];
	if (!all.n && first.n)
		vec_push(ctx_arena(c), &all, first);
	return all;
}

const char *tool_card(Arena *a, const Options *o)
{
	const char *name = o->device ? o->device : "cuda:0";
	dsl_device *dev;
	if (o->card || strncmp(name, "cuda", 4) != 0 || dsl_device_open(name, &dev))
		return o->card;
	const char *card = arena_printf(a, "%s", dsl_device_name(dev));
	dsl_device_close(dev);
	return card;
}

CompileOpt tool_compile_opt(Ctx *c, const Options *o, Buf *log)
{
	SizeArgsVec sizes = tool_sizes(c, o);
	return (CompileOpt){
		.emit = o->emit,
		.ir_after = o->ir_after,
		.stop_after = o->stop_after,
		.only = o->only,
		.syntax_only = o->syntax_only,
		.only_check = o->command == CMD_CHECK,
		.verify = o->verify,
		.unproved = o->unproved,
		.check_indices = o->problem.check_indices,
		.target = o->target,
		.defines = o->defines.at,
		.ndefines = o->defines.n,
		.sizes = sizes.at,
		.nsizes = sizes.n,
		.card = o->card,
		.kernel = o->problem.kernel,
		.one = o->command != CMD_COMPILE && o->command != CMD_CHECK,
		.cg = {.opt_level = o->opt_level,
		       .lineinfo = o->lineinfo,
		       .ptxas_path = o->ptxas_path,
		       .ptxas_args = o->ptxas_args.at,
		       .nptxas_args = o->ptxas_args.n,
		       .ptxas_timeout_s = o->ptxas_timeout_s,
		       .verbose = o->verbose,
		       .dry_run = o->dry_run,
		       .log = log,
		       .litter = crash_litter()},
	};
}

/* ------------------------------------------------------------------ one input */
typedef struct {
	const Options *o;
	Ctx *ctx;
	const char *input; /* as it was found */
	Source source;
	CompileOpt opt;
	CompileOut out;
	const char *keep_dir;
	int step; /* of the kernel that is on its way */
} Job;

/* Where an output of this kind goes. */
static const char *output_name(const Job *j, EmitId kind)
{
	const Options *o = j->o;
	Arena *a = ctx_arena(j->ctx);
	const char *ending = emit_rows[kind].ending;
	if (kind == EMIT_IR && j->opt.ir_after >= 0)
		ending = arena_printf(a, ".%s.ir", pass_rows[j->opt.ir_after].name);
	if (kind == EMIT_IR && j->opt.ir_after == AFTER_FRONTEND)
		ending = ".frontend.ir";
	if (o->out && (strcmp(o->out, "-") == 0 || !(j->opt.emit & (j->opt.emit - 1))))
		return o->out;
	if (o->out)
		return with_ending(a, o->out, ending);
	if (strcmp(j->input, "-") == 0 || o->only >= 0 || o->stop_after != AFTER_LAST)
		return "-";
	return with_ending(a, j->input, ending);
}

/* The output that a dependency file is about and --keep puts files next to; stdout has no name, so
 * that the one counts which the output would have had. */
static const char *main_output(const Job *j)
{
	EmitId kind = EMIT_CUBIN;
	for (int i = EMIT_COUNT - 1; i >= 0; i--)
		if (j->opt.emit & EMIT_BIT(i))
			kind = (EmitId)i;
	const char *name = output_name(j, kind);
	return j->opt.emit && strcmp(name, "-") != 0
		       ? name
		       : with_ending(ctx_arena(j->ctx), j->input, emit_rows[kind].ending);
}

static bool write_output(Job *j, const char *path, const Buf *b)
{
	if (strcmp(path, "-") != 0 && strcmp(j->input, "-") != 0 && same_file(path, j->input)) {
		DiagMsg *m = diag(j->ctx, NOLOC, D_E0604, "the output '%s' is the input", path);
		diag_remedy(j->ctx, m, "name another with -o");
		return false;
	}
	return file_write(j->ctx, path, b->s ? b->s : "", b->n);
}

static const char *keep_path(const Job *j, const char *name)
{
	return ctx_strf(j->ctx, "%s/%s", j->keep_dir, name);
}

static void keep_ir(Job *j, const Kernel *k, const char *pass)
{
	Buf text = {0};
	kernel_print(k, &text);
	file_write(j->ctx, keep_path(j, ctx_strf(j->ctx, "%s.%02d-%s.ir", k->name, j->step, pass)),
		   text.s, text.n);
	buf_free(&text);
}

static bool print_wanted(const Options *o, const char *pass)
{
	int i = pass_by_name(pass);
	return o->print_after >> (i < 0 ? pass_count : i) & 1;
}

static void after(void *user, const Kernel *k, const char *pass, bool changed)
{
	Job *j = user;
	Buf text = {0};
	j->step = strcmp(pass, "frontend") == 0 ? 0 : j->step + 1;
	if (j->keep_dir)
		keep_ir(j, k, pass);
	if (!print_wanted(j->o, pass))
		return;
	buf_printf(&text, "# kernel %s after %s%s\n", k->name, pass, changed ? "" : " (unchanged)");
	if (changed)
		kernel_print(k, &text);
	flush(stderr, &text);
}

static bool keep_open(Job *j)
{
	const char *dir = j->o->keep_dir;
	if (!j->o->keep)
		return true;
	if (!dir) {
		const char *out = main_output(j), *base = base_name(out);
		dir = base == out ? "." : ctx_strn(j->ctx, out, (size_t)(base - out - 1));
	}
	if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
		diag(j->ctx, NOLOC, D_E0603, "cannot make the folder '%s': %s", dir,
		     strerror(errno));
		return false;
	}
	j->keep_dir = dir;
	return true;
}

static void keep_rest(Job *j)
{
	static const EmitId kinds[] = {EMIT_LLVM, EMIT_PTX, EMIT_MANIFEST};
	Arena *a = ctx_arena(j->ctx);
	for (size_t i = 0; j->keep_dir && i < COUNTOF(kinds); i++) {
		const Buf *b = &j->out.out[kinds[i]];
		const char *name =
			with_ending(a, base_name(main_output(j)), emit_rows[kinds[i]].ending);
		if (b->n)
			file_write(j->ctx, keep_path(j, name), b->s, b->n);
	}
}

static void job_options(Job *j, Buf *log)
{
	const Options *o = j->o;
	j->opt = tool_compile_opt(j->ctx, o, log);
	j->opt.after = o->print_after || o->keep ? after : NULL;
	j->opt.compares = o->print_after != 0;
	j->opt.user = j;
	j->opt.cg.source_name = mapped(j->ctx, o, j->source.name);
	if (!o->emit && !o->syntax_only && !j->opt.only_check)
		j->opt.emit = o->only >= 0 || o->stop_after != AFTER_LAST ? EMIT_BIT(EMIT_IR)
									  : EMIT_BIT(EMIT_CUBIN);
}

static bool write_dependencies(Job *j)
{
	const Options *o = j->o;
	Arena *a = ctx_arena(j->ctx);
	Buf text = {0};
	const char *target = main_output(j);
	const char *path = o->depfile ? o->depfile : with_ending(a, target, ".d");
	if (!o->depend)
		return true;
	const char *inputs[] = {j->input, j->source.tuned_name};
	depend_write(&text, o->targets.n ? o->targets.at : &target, o->targets.n ? o->targets.n : 1,
		     inputs, j->source.tuned ? 2 : 1, o->depend_phony);
	bool ok = write_output(j, path, &text);
	buf_free(&text);
	return ok;
}

static bool is_terminal(const char *path)
{
	return strcmp(path, "-") == 0 && isatty(STDOUT_FILENO);
}

static bool write_outputs(Job *j)
{
	bool ok = true;
	if ((j->opt.emit & EMIT_BIT(EMIT_SASS)) &&
	    !sass_write(j->ctx, j->o->ptxas_path, &j->out.out[EMIT_CUBIN], &j->out.out[EMIT_SASS]))
		return false;
	for (int i = 0; i < EMIT_COUNT && ok; i++) {
		const char *path = output_name(j, (EmitId)i);
		if (!(j->opt.emit & EMIT_BIT(i)))
			continue;
		if (emit_rows[i].binary && is_terminal(path)) {
			diag(j->ctx, NOLOC, D_E0603,
			     "a cubin is not text: it is not written to a terminal");
			ok = false;
		} else {
			ok = write_output(j, path, &j->out.out[i]);
		}
	}
	keep_rest(j);
	return ok && write_dependencies(j);
}

/* What a compilation must make besides what was asked for. */
static unsigned emit_besides(const Job *j)
{
	unsigned more = 0;
	if (j->opt.emit & EMIT_BIT(EMIT_SASS))
		more |= EMIT_BIT(EMIT_CUBIN);
	if (j->keep_dir && j->o->only < 0 && j->o->stop_after == AFTER_LAST && !j->o->syntax_only)
		more |= EMIT_BIT(EMIT_LLVM) | EMIT_BIT(EMIT_PTX) | EMIT_BIT(EMIT_MANIFEST);
	return more;
}

static bool compile_job(Job *j)
{
	CompileOpt opt = j->opt;
	opt.emit |= emit_besides(j);
	return compile_run(j->ctx, &j->source, &opt, &j->out) &&
	       (j->o->dry_run || j->o->syntax_only || write_outputs(j));
}

static int compile_one(const Options *o, const char *input)
{
	Buf text = {0}, log = {0}, times = {0};
	Job j = {.o = o, .ctx = tool_ctx(o), .input = input};
	bool ok = tool_read(j.ctx, o, input, &text, &j.source);
	if (ok) {
		j.input = strcmp(input, "-") == 0 ? input : j.source.name;
		job_options(&j, &log);
		ok = keep_open(&j) && compile_job(&j);
	}
	flush(stderr, &j.out.printed);
	flush(stderr, &log);
	tool_messages(j.ctx, o);
	if (ok && o->report_resources && j.out.manifest.n)
		resource_report(j.out.manifest.s, &times);
	if (ok && o->time_report)
		time_report(&j.out.times, &times);
	flush(stderr, &times);
	bool asked = o->verbose || o->command == CMD_CHECK;
	if (ok && asked && !o->quiet && !o->json) { /* last: what failed later says nothing of it */
		flush(stderr, &j.out.chosen);
		flush(stderr, &j.out.verified);
	}
	int code = ok ? EXIT_OK : j.out.exit_code ? j.out.exit_code : EXIT_DIAGS;
	compile_out_free(&j.out);
	buf_free(&text);
	ctx_free(j.ctx);
	return code;
}

/* Of a kernel that is refuted more is known than of one that is neither. */
static bool is_worse(int code, int than)
{
	return than == EXIT_UNPROVED ? code != EXIT_OK
				     : code > than && (code != EXIT_UNPROVED || than == EXIT_OK);
}

static int tool_compile(const Options *o)
{
	int worst = EXIT_OK;
	for (int i = 0; i < o->inputs.n; i++) {
		int code = compile_one(o, o->inputs.at[i]);
		worst = is_worse(code, worst) ? code : worst;
	}
	return worst;
}

/* ------------------------------------------------------------------ what ends at once */
static void print_versions(const Options *o, FILE *to)
{
	Ctx *c = ctx_new();
	const char *ptxas = ptxas_find(c, o->ptxas_path);
	const char *version = ptxas ? ptxas_version(c, ptxas, crash_litter()) : NULL;
	fprintf(to, "dslc %s\nLLVM %s\n", dslc_version(), codegen_llvm_version(c));
	if (ptxas)
		fprintf(to, "ptxas %s (%s)\n", version ? version : "of unknown version", ptxas);
	else
		fprintf(to, "ptxas not found\n");
	fprintf(to, "target sm_90a\n");
	ctx_free(c);
}

static int say_help(const Options *o)
{
	Buf text = {0};
	if (!options_help(&text, o->command, o->help_category)) {
		tool_usage("--help has no category '%s'; see dslc --help", o->help_category);
		return EXIT_USAGE;
	}
	flush(stdout, &text);
	return EXIT_OK;
}

static int say_explanation(const Options *o)
{
	Buf text = {0};
	if (!explain_code(&text, o->explain)) {
		tool_usage("there is no message '%s'; codes look like E0201 and W0601; verify says "
			   "what is proved",
			   o->explain);
		return EXIT_USAGE;
	}
	flush(stdout, &text);
	return EXIT_OK;
}

static int tool_main(const Options *o)
{
	if (o->help)
		return say_help(o);
	if (o->explain)
		return say_explanation(o);
	if (o->version || o->verbose)
		print_versions(o, o->version ? stdout : stderr);
	if (o->version)
		return EXIT_OK;
	if (o->command == CMD_LAYOUT)
		return tool_layout(o);
	if (o->command == CMD_EXPLAIN)
		return tool_explain(o);
	if (o->command == CMD_LSP)
		return tool_lsp(o);
	if (o->command == CMD_FMT)
		return tool_fmt(o);
	if (o->command == CMD_BENCH)
		return tool_bench(o);
	if (o->command == CMD_TUNE)
		return tool_tune(o);
	if (o->command == CMD_NEW)
		return tool_new(o);
	if (o->command == CMD_SIM)
		return tool_sim(o);
	return o->command == CMD_RUN ? tool_run(o) : tool_compile(o);
}

/* A full disk or a closed pipe at the very end is a failure too. The buffer is large, so that it
 * shows here and errno is the reason. */
static int close_stdout(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	tool_usage("cannot write to stdout: %s", strerror(errno));
	return code ? code : EXIT_DIAGS;
}

int main(int argc, char **argv)
{
	Options o;
	Arena *a = arena_new();
	const char *why;
	int code = EXIT_USAGE;
	crash_install();
	setvbuf(stdout, malloc(STDOUT_BUFFER), isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF,
		STDOUT_BUFFER);
	if (options_parse(&o, a, argc, argv, &why))
		code = close_stdout(tool_main(&o));
	else
		tool_usage("%s", why);
	arena_free(a);
	return code;
}
