/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compile.c - the table of contents of the compiler: text -> frontend -> passes -> codegen ->
 * bytes. Needs every room; knows no file system and prints nothing.
 *     {"gemm.gemm", "kernel gemm(...) {...}"}  ->  out[EMIT_CUBIN], times, diagnostics in the Ctx
 */
#include "driver/compile.h"
#include "driver/dslc.h"

#include <ctype.h>
#include <string.h>

_Static_assert(EMIT_BIT(EMIT_CUBIN) == DSLC_CUBIN && EMIT_BIT(EMIT_PTX) == DSLC_PTX &&
		       EMIT_BIT(EMIT_LLVM) == DSLC_LLVM &&
		       EMIT_BIT(EMIT_MANIFEST) == DSLC_MANIFEST && EMIT_BIT(EMIT_IR) == DSLC_IR &&
		       EMIT_BIT(EMIT_HEADER) == DSLC_HEADER && EMIT_BIT(EMIT_C) == DSLC_C,
	       "emits.def and dslc.h agree");

const EmitRow emit_rows[EMIT_COUNT] = {
#define EMIT(id, name, ending, binary, help) [EMIT_##id] = {name, ending, binary, help},
#include "driver/options/emits.def"
};

/* What was done so that ptxas does not spill a kernel. */
typedef struct {
	int times;       /* how often it did */
	int64_t columns; /* of the chunks that spilled last */
} Thrift;

typedef struct {
	Ctx *ctx;
	const Source *source;
	const CompileOpt *opt;
	CompileOut *out;
	Module *module;
	VEC(KCost) costs;   /* of each kernel; none: textual IR */
	VEC(Thrift) thrift; /* of each kernel */
	int spilled;        /* the kernel that did last; -1: none */
} Compile;

static bool wants(const Compile *c, EmitId id)
{
	return c->opt->emit & EMIT_BIT(id);
}

/* ------------------------------------------------------------------ text to tile stage */
static void define_set(Ctx *c, FrontendOpt *fo, const char *text)
{
	const char *eq = strchr(text, '=');
	const char *name = ctx_strn(c, text, eq ? (size_t)(eq - text) : strlen(text));
	int i = 0;
	while (i < fo->ndefines && fo->defines[i].name != name)
		i++;
	fo->defines[i] = (Define){.name = name,
				  .value = eq ? ctx_str(c, eq + 1) : "1",
				  .under = fo->defines[i].value};
	if (i == fo->ndefines)
		fo->ndefines++;
}

FrontendOpt compile_frontend(Ctx *c, const CompileOpt *opt, const char *const *more, int n)
{
	FrontendOpt fo = {.defines = NEWN(ctx_arena(c), Define, opt->ndefines + n + 1),
			  .target = opt->target,
			  .kernel = opt->kernel};
	for (int i = 0; i < opt->ndefines; i++)
		define_set(c, &fo, opt->defines[i]);
	for (int i = 0; i < n; i++)
		define_set(c, &fo, more[i]);
	return fo;
}

/* Whether it is the first of its kernel. */
static bool is_first(const CompileOpt *opt, int variant)
{
	for (int i = 0; i < variant; i++)
		if (!strcmp(opt->variants[i].kernel, opt->variants[variant].kernel))
			return false;
	return true;
}

/* The file with the first variant of each kernel. */
static Module *read_first(Compile *c, int src)
{
	VEC(const char *) more = {0};
	for (int i = 0; i < c->opt->nvariants; i++)
		for (int j = 0; is_first(c->opt, i) && j < c->opt->variants[i].ndefines; j++)
			vec_push(ctx_arena(c->ctx), &more, c->opt->variants[i].defines[j]);
	FrontendOpt fo = compile_frontend(c->ctx, c->opt, more.at, more.n);
	fo.printed = &c->out->printed;
	fo.ast = wants(c, EMIT_AST) ? &c->out->out[EMIT_AST] : NULL;
	fo.said = c->opt->said;
	fo.names = c->opt->names;
	fo.syntax_only = c->opt->syntax_only;
	return frontend_compile(c->ctx, src, &fo);
}

const char *variant_name(Ctx *c, const char *kernel, int number)
{
	return ctx_strf(c, "%s__%d", kernel, number);
}

static Kernel *read_again(Compile *c, int src, const Variant *v)
{
	FrontendOpt fo = compile_frontend(c->ctx, c->opt, v->defines, v->ndefines);
	fo.kernel = v->kernel; /* of others, the first values need not be legal */
	const Module *file = frontend_compile(c->ctx, src, &fo);
	for (int i = 0; file && i < file->kernels.n; i++)
		if (!strcmp(file->kernels.at[i]->name, v->kernel))
			return file->kernels.at[i];
	return NULL;
}

/* The variants of a kernel follow each other; the first is k. */
static void add_variants(Compile *c, int src, Module *m, Kernel *k)
{
	const char *name = k->name;
	int number = 0;
	for (int i = 0; k && i < c->opt->nvariants; i++) {
		const Variant *v = &c->opt->variants[i];
		if (strcmp(v->kernel, name) != 0)
			continue;
		k = number++ ? read_again(c, src, v) : k;
		bool last = i + 1 == c->opt->nvariants || strcmp(v[1].kernel, name) != 0;
		if (k && v->cost.family && (number > 1 || !last))
			k->name = variant_name(c->ctx, name, number);
		if (k)
			vec_push(ctx_arena(c->ctx), &m->kernels, k);
		vec_push(ctx_arena(c->ctx), &c->costs, v->cost);
	}
	if (!number) {
		vec_push(ctx_arena(c->ctx), &m->kernels, k);
		vec_push(ctx_arena(c->ctx), &c->costs, (KCost){0});
	}
}

static Module *read_gemm(Compile *c, int src)
{
	const Module *file = read_first(c, src);
	Module *m = file ? module_new(c->ctx) : NULL;
	c->costs.n = 0;
	for (int i = 0; m && i < file->kernels.n; i++)
		add_variants(c, src, m, file->kernels.at[i]);
	return m;
}

static Module *read_ir(Compile *c, int src)
{
	if (c->opt->ndefines)
		diag(c->ctx, NOLOC, D_W0601, "'%s' is textual IR: -D%s changes nothing in it",
		     c->source->name, c->opt->defines[0]);
	Module *m = module_parse(c->ctx, src);
	int n = 0;
	for (int i = 0; m && i < m->kernels.n; i++)
		if (!c->opt->kernel || !strcmp(m->kernels.at[i]->name, c->opt->kernel))
			m->kernels.at[n++] = m->kernels.at[i];
	if (m && !(m->kernels.n = n))
		diag(c->ctx, NOLOC, D_E0313, "there is no kernel %s in this file", c->opt->kernel);
	return m;
}

static bool read_source(Compile *c)
{
	double start = now_seconds();
	int src = ctx_src(c->ctx, c->source->name, c->source->text, c->source->size);
	c->module = c->source->is_ir ? read_ir(c, src) : read_gemm(c, src);
	c->out->times.frontend = now_seconds() - start;
	return c->module && !diag_errors(c->ctx);
}

/* ------------------------------------------------------------------ passes */
static void snapshot(Compile *c, const Kernel *k, int pass, bool changed)
{
	Buf *ir = &c->out->out[EMIT_IR];
	if (c->opt->after)
		c->opt->after(c->opt->user, k, pass < 0 ? "frontend" : pass_rows[pass].name,
			      changed);
	if (wants(c, EMIT_IR) && c->opt->ir_after == pass) {
		buf_printf(ir, "%s", ir->n ? "\n" : "");
		kernel_print(k, ir);
	}
}

static void after_pass(void *user, const Kernel *k, int pass, bool changed, double seconds)
{
	Compile *c = user;
	c->out->times.passes[pass] += seconds;
	snapshot(c, k, pass, changed);
}

/* Text that a user wrote may be at any stage: what runs next must be known and possible. */
static bool passes_fit(Compile *c, const Kernel *k)
{
	const PassRow *only = c->opt->only >= 0 ? &pass_rows[c->opt->only] : NULL;
	const char *after = attrs_str(&k->attrs, A_AFTER, NULL);
	int ran = after ? pass_by_name(after) : -1;
	DiagMsg *m = NULL;
	if (after ? ran < 0 || pass_rows[ran + 1].stage != k->stage
		  : !only && k->stage == ST_WARP) {
		m = diag(c->ctx, k->loc, D_E0610, "kernel %s is at the %s stage, but not after %s",
			 k->name, stage_name(k->stage), after ? after : "a pass that it names");
		diag_remedy(c->ctx, m,
			    "write after=PASS, the pass that ran last, after its target");
	} else if (only && only->stage != k->stage) {
		m = diag(c->ctx, k->loc, D_E0610,
			 "pass %s does not run on the %s stage, where kernel %s is", only->name,
			 stage_name(k->stage), k->name);
	}
	return !m;
}

/* The ptx stage written by hand is what codegen takes. */
static bool is_done(const Compile *c, const Kernel *k)
{
	return c->opt->stop_after == AFTER_FRONTEND ||
	       (k->stage == ST_PTX && c->opt->only < 0 && !attrs_get(&k->attrs, A_AFTER));
}

static bool run_passes(Compile *c)
{
	bool ok = true;
	PassOpt po = {.stop_after = c->opt->stop_after,
		      .only = c->opt->only,
		      .given = c->source->is_ir,
		      .after = after_pass,
		      .user = c,
		      .compares = c->opt->compares};
	module_print(c->module, &c->out->reference);
	for (int i = 0; i < c->module->kernels.n; i++) {
		Kernel *k = c->module->kernels.at[i];
		int errors = diag_errors(c->ctx);
		if (c->opt->check_indices)
			kernel_int(k, A_CHECKS, 1);
		if (i < c->thrift.n && c->thrift.at[i].times)
			kernel_int(k, A_THRIFT, c->thrift.at[i].times);
		snapshot(c, k, AFTER_FRONTEND, true);
		if (diag_errors(c->ctx) > errors)
			return false;
		if (!is_done(c, k))
			ok = passes_fit(c, k) && passes_run(k, &po) && ok;
	}
	if (ok && wants(c, EMIT_IR) && c->opt->ir_after == AFTER_LAST)
		module_print(c->module, &c->out->out[EMIT_IR]);
	return ok && !diag_errors(c->ctx);
}

/* ------------------------------------------------------------------ the proof */
/* "M, N and K"; "" where sizes are numbers */
static void put_names(const Kernel *k, Buf *b)
{
	for (int i = 0; i < k->syms.n; i++)
		buf_printf(b, "%s%s",
			   !i                  ? " for all "
			   : i + 1 < k->syms.n ? ", "
					       : " and ",
			   k->syms.at[i].name);
}

static void say_proved(Compile *c, const Kernel *k, const CheckResult *r)
{
	Buf *b = &c->out->verified;
	buf_printf(b, "%s: verified", k->name);
	put_names(k, b);
	buf_printf(b,
		   ": no hang, no race on slots, bytes as announced; not: which values, which "
		   "elements; --explain=verify says what that takes for granted (%d states, %.1f "
		   "ms)\n",
		   r->states, r->seconds * 1e3);
}

static void check_one(Compile *c, const Kernel *k)
{
	CheckOpt co = {c->opt->verify, c->opt->unproved};
	CheckResult r;
	CheckVerdict v = check_kernel(k, &co, &r);
	c->out->times.check += r.seconds;
	c->out->times.states += r.states;
	if (v == CHECK_PROVED)
		say_proved(c, k, &r);
}

/* What is at the ptx stage is proved; the other stages have no barriers to look at. */
static bool run_check(Compile *c)
{
	for (int i = 0; c->opt->verify != VERIFY_OFF && i < c->module->kernels.n; i++)
		if (c->module->kernels.at[i]->stage == ST_PTX)
			check_one(c, c->module->kernels.at[i]);
	return !diag_errors(c->ctx);
}

/* ------------------------------------------------------------------ spellings */
static const struct {
	EmitId emit;
	unsigned part;
} part_of[] = {
	{EMIT_LLVM, CG_LLVM},  {EMIT_PTX, CG_PTX},           {EMIT_CUBIN, CG_CUBIN},
	{EMIT_SASS, CG_CUBIN}, {EMIT_MANIFEST, CG_MANIFEST}, {EMIT_HEADER, CG_HEADER},
	{EMIT_C, CG_C},
};

static unsigned parts_wanted(const Compile *c)
{
	unsigned parts = 0;
	for (size_t i = 0; i < COUNTOF(part_of); i++)
		if (wants(c, part_of[i].emit))
			parts |= part_of[i].part;
	return parts & CG_CUBIN ? parts | CG_MANIFEST : parts;
}

static void move(Buf *to, Buf *from)
{
	buf_free(to);
	*to = *from;
	*from = (Buf){0};
}

static void take_outputs(Compile *c, CgOut *cg)
{
	Buf *out = c->out->out;
	buf_add(&c->out->manifest, cg->manifest.s ? cg->manifest.s : "", cg->manifest.n);
	move(&out[EMIT_LLVM], &cg->llvm);
	move(&out[EMIT_PTX], &cg->ptx);
	move(&out[EMIT_CUBIN], &cg->cubin);
	move(&out[EMIT_MANIFEST], &cg->manifest);
	move(&out[EMIT_HEADER], &cg->header);
	move(&out[EMIT_C], &cg->c);
	c->out->times.llvm = cg->llvm_s;
	c->out->times.ptxas = cg->ptxas_s;
}

/* "dir/my-gemm.gemm" -> "my_gemm" */
static const char *c_name_of(Ctx *c, const char *file)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	char *name = arena_printf(ctx_arena(c), "%s%.*s", isdigit((unsigned char)*base) ? "_" : "",
				  (int)strcspn(base, "."), base);
	for (char *s = name; *s; s++)
		if (!isalnum((unsigned char)*s))
			*s = '_';
	return *name ? name : "kernels";
}

static bool run_codegen(Compile *c)
{
	CgOut cg = {0};
	CgOpt co = c->opt->cg;
	unsigned parts = parts_wanted(c);
	if (!parts)
		return true;
	for (int i = 0; i < c->module->kernels.n; i++)
		kernel_freeze(c->module->kernels.at[i]);
	if (!co.source_name)
		co.source_name = c->source->name;
	if (!co.c_name)
		co.c_name = c_name_of(c->ctx, co.source_name);
	if (c->costs.n)
		co.costs = c->costs.at;
	bool ok = codegen_module(c->module, parts, &co, &cg);
	take_outputs(c, &cg);
	c->spilled = cg.spilled;
	c->out->spilled = c->spilled < 0 ? NULL : c->module->kernels.at[c->spilled]->name;
	if (!ok)
		c->out->exit_code = cg.timed_out      ? EXIT_TIME
				    : cg.ptxas_failed ? EXIT_PTXAS
						      : EXIT_DIAGS;
	cg_out_free(&cg);
	return ok;
}

/* What errors come to. */
static int code_of(const Ctx *c)
{
	for (const DiagMsg *m = diag_first(c); m; m = m->next)
		if (m->severity == SEV_ERROR && m->id != D_E0415 && m->id != D_E0416)
			return EXIT_DIAGS;
	return diag_errors(c) ? EXIT_UNPROVED : EXIT_DIAGS;
}

static bool compile_once(Compile *c)
{
	const CompileOpt *opt = c->opt;
	bool partial = opt->only >= 0 || opt->stop_after != AFTER_LAST;
	c->spilled = -1;
	return read_source(c) && (opt->syntax_only || run_passes(c)) &&
	       (opt->syntax_only || partial || run_check(c)) &&
	       (opt->syntax_only || partial || opt->only_check || run_codegen(c));
}

/* Whether the kernel that spilled can take less: in narrower chunks, where the schedule does not
 * say how wide they are and there are any, and by simpler stores, once. */
static bool take_less(Compile *c)
{
	enum { LEAST = 8 /* columns */ };
	const Kernel *k = c->spilled < 0 ? NULL : c->module->kernels.at[c->spilled];
	const Reason *columns = k ? kernel_why_find(k, REASON_SUBTILE, NULL) : NULL;
	while (k && c->thrift.n <= c->spilled)
		vec_push(ctx_arena(c->ctx), &c->thrift, (Thrift){0});
	if (!columns)
		return false;
	Thrift *t = &c->thrift.at[c->spilled];
	bool narrower = columns->value > LEAST && !attrs_get(&k->attrs, A_SUBTILE);
	if (t->times && (!narrower || t->columns == columns->value))
		return false;
	*t = (Thrift){t->times + 1, columns->value};
	diag_forget(c->ctx);
	compile_out_free(c->out);
	c->out->exit_code = 0;
	return true;
}

static void say_less(Compile *c)
{
	for (int i = 0; i < c->thrift.n; i++) {
		const Kernel *k = c->module->kernels.at[i];
		const Reason *columns = kernel_why_find(k, REASON_SUBTILE, NULL);
		bool given = attrs_get(&k->attrs, A_SUBTILE);
		if (c->thrift.at[i].times && columns)
			diag(c->ctx, k->loc, D_N0501,
			     given ? "ptxas spilled registers of %s: elements at the ends of rows "
				     "are stored one by one"
				   : "ptxas spilled registers of %s: it is compiled with subtile "
				     "%lld",
			     k->name, (long long)columns->value);
	}
}

bool compile_closed(Ctx *ctx, const Source *source, const CompileOpt *opt, CompileOut *out)
{
	Compile c = {.ctx = ctx, .source = source, .opt = opt, .out = out};
	double start = now_seconds();
	bool ok = compile_once(&c);
	while (!ok && take_less(&c))
		ok = compile_once(&c);
	if (ok)
		say_less(&c);
	out->times.total = now_seconds() - start;
	if ((!ok || diag_errors(ctx)) && !out->exit_code)
		out->exit_code = code_of(ctx);
	return !out->exit_code;
}

void compile_out_free(CompileOut *out)
{
	for (int i = 0; i < EMIT_COUNT; i++)
		buf_free(&out->out[i]);
	buf_free(&out->printed);
	buf_free(&out->verified);
	buf_free(&out->reference);
	buf_free(&out->manifest);
	buf_free(&out->chosen);
}
