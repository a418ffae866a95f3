/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* matrix - the programs of programs.txt under the schedules, tiles, elements and operands of
 * words.txt. Each two of these meet in a row unless a rule keeps them apart. A row is proved, and
 * right on the simulator without another message: on integers or normal numbers, against the
 * reference interpreter, at one of the program's sizes and then at the next. Of each rule one
 * program is compiled, and refused with the code that the rule says.
 *     matrix ROOT [--part I/N] [--only PROGRAM]
 *     matrix ROOT --device cuda:0      on a GPU, for which rows of newer targets are compiled too;
 *                                      every kernel is assembled, as with EVERY=1
 *     matrix ROOT --text PROGRAM       the program before a row changes it
 * A wrong row is printed with its source and sizes. */
#include "driver/compile.h"
#include "check/problem.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	const char *root, *device, *only, *text;
	const char *arch; /* of the device; NULL: the simulator, which runs all targets */
	int part, parts;
	bool every;
} Options;

typedef struct {
	const Options *o;
	const Table *t;
	const Row *row;
	const Value *program;
	int number;
	Ctx *ctx;
	Buf text; /* of the program as the row has it */
	const char *defines[16];
	int ndefines;
	const char *target;
	bool odd, packed; /* inputs at odd addresses; packed by the host, once */
	CompileOut out;
	Problem p;
	dsl_device *dev;
	dsl_module *mod;
	int packs;
	dsl_addr kept[64]; /* what is packed */
	const char *code;  /* "" where it is right */
	char why[1024];
} Trial;

static const char *const status_names[] = {
#define DSL_STATUS(id, number, ...) [number] = "DSL_" #id,
#include "runtime/status.def"
};

static bool wrong(Trial *t, const char *code, const char *what)
{
	t->code = code;
	snprintf(t->why, sizeof t->why, "%s", what);
	return false;
}

_Noreturn static void stop(const char *what, const char *name)
{
	fprintf(stderr, "matrix: %s: %s\n", what, name);
	exit(2);
}

/* ------------------------------------------------------------------ text */
static void take_file(Trial *t, const char *name)
{
	char path[1024], bytes[4096];
	size_t n;
	snprintf(path, sizeof path, "%s/%s", t->o->root, name);
	FILE *f = fopen(path, "r");
	if (!f)
		stop("cannot be read", path);
	while ((n = fread(bytes, 1, sizeof bytes, f)))
		buf_add(&t->text, bytes, n);
	fclose(f);
}

/* Each `from`; how many there were. */
static int replace(Buf *text, const char *from, const char *to)
{
	Buf now = {0};
	int n = 0;
	const char *at = text->s, *end;
	for (; (end = strstr(at, from)); at = end + strlen(from), n++) {
		buf_add(&now, at, (size_t)(end - at));
		buf_printf(&now, "%s", to);
	}
	buf_printf(&now, "%s", at);
	buf_free(text);
	*text = now;
	return n;
}

/* "A : bf16 (M,K)" becomes "A : constant bf16 (M,K)" */
static void make_constant(Buf *text)
{
	Buf now = {0};
	const char *at = text->s, *head = strchr(strstr(at, "kernel "), '{');
	for (; at < head; at++) {
		size_t word = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz0123456789");
		buf_add(&now, at, 1);
		if (at[0] == ':' && at[1] == ' ' && word && !strncmp(at + 2 + word, " (", 2))
			buf_printf(&now, " constant");
	}
	buf_printf(&now, "%s", at);
	buf_free(text);
	*text = now;
}

/* Whether a GPU of this architecture, "sm_90", cannot run what is compiled for the target. */
static bool newer(const char *target, const char *arch)
{
	return arch && strtol(target + 3, NULL, 10) > strtol(arch + 3, NULL, 10);
}

/* One of "none;", "-DbM=64", "@odd". */
static void take_word(Trial *t, Buf *clauses, const char *word)
{
	if (!strcmp(word, "@odd"))
		t->odd = true;
	else if (!strcmp(word, "@packed"))
		t->packed = true;
	else if (!strcmp(word, "@dynamic"))
		replace(clauses, "persistent;", "persistent dynamic;");
	else if (!strncmp(word, "@target=", 8))
		t->target = newer(word + 8, t->o->arch) ? t->o->arch : word + 8;
	else if (!strcmp(word, "@constant"))
		make_constant(&t->text);
	else if (!strcmp(word, "@f16"))
		replace(&t->text, "bf16", "f16");
	else if (!strncmp(word, "-D", 2))
		t->defines[t->ndefines++] = word + 2;
	else
		buf_printf(clauses, " %s", word);
}

/* Whether some value of the table says this clause of a schedule. */
static bool is_ruled(const Table *t, const char *clause)
{
	size_t n = strspn(clause, "abcdefghijklmnopqrstuvwxyz_");
	for (int i = 0; i < t->nvalues; i++)
		for (int j = 0; j < t->value[i].nwords; j++)
			if (!strncmp(t->value[i].word[j], clause, n) &&
			    strchr(";", t->value[i].word[j][n]))
				return true;
	return false;
}

/* The program's own clauses stay where no value says them. */
static void set_schedule(Trial *t, const char *clauses)
{
	char *at = strstr(t->text.s, "schedule {"), *end = at ? strchr(at, '}') : NULL, *rest;
	Buf now = {0};
	if (!at)
		at = end = strrchr(t->text.s, '}');
	else
		*end++ = '\0';
	buf_add(&now, t->text.s, (size_t)(at - t->text.s));
	buf_printf(&now, "schedule {%s", clauses);
	char *own = at == end ? NULL : strtok_r(at + strlen("schedule {"), ";", &rest);
	for (; own; own = strtok_r(NULL, ";", &rest)) {
		own += strspn(own, " \n\t");
		if (*own && !is_ruled(t->t, own))
			buf_printf(&now, " %s;", own);
	}
	buf_printf(&now, " }\n%s", end);
	buf_free(&t->text);
	t->text = now;
}

static void make_program(Trial *t)
{
	take_file(t, t->program->file);
	for (int i = 0; i < t->program->nedits; i++)
		if (!replace(&t->text, t->program->from[i], t->program->to[i]))
			stop(t->program->name, t->program->from[i]);
}

static void make_text(Trial *t)
{
	Buf clauses = {0};
	make_program(t);
	for (int f = 0; f < t->t->nfactors; f++) {
		const Value *v = &t->t->value[t->row->at[f]];
		for (int i = 0; i < v->nwords; i++)
			take_word(t, &clauses, v->word[i]);
	}
	set_schedule(t, clauses.s ? clauses.s : "");
	buf_free(&clauses);
}

/* ------------------------------------------------------------------ compilation */
/* The code of the first message that is no note. */
static bool silent(Trial *t)
{
	Buf text = {0};
	for (const DiagMsg *m = diag_first(t->ctx); m; m = m->next)
		if (m->severity == SEV_ERROR || m->severity == SEV_WARNING) {
			diag_text(t->ctx, &text, false);
			wrong(t, diag_rows[m->id].code, text.s);
			buf_free(&text);
			return false;
		}
	return true;
}

/* ------------------------------------------------------------------ a run */
static const char *sizes_of(const Trial *t, int turn)
{
	return t->program->sizes[(t->number + turn) % t->program->nsizes];
}

static ProblemSpec spec_of(Trial *t, Arena *a, int turn)
{
	static const int sms[] = {0, 3, 5};
	ProblemSpec spec = {.seed = (uint64_t)t->number + 1, .sms = sms[t->number % 3]};
	char text[512], *rest;
	snprintf(text, sizeof text, "%s", sizes_of(t, turn));
	for (char *at = strtok_r(text, ",", &rest); at; at = strtok_r(NULL, ",", &rest)) {
		char *eq = strchr(at, '=');
		*eq = '\0';
		vec_push(a, &spec.sizes, ((SizeArg){ctx_str(t->ctx, at), atoll(eq + 1)}));
	}
	return spec;
}

static bool compile(Trial *t, bool assembled)
{
	Source source = {"matrix.gemm", t->text.s, t->text.n, .is_ir = false};
	CompileOpt opt = {.emit = EMIT_BIT(EMIT_CUBIN),
			  .ir_after = AFTER_LAST,
			  .stop_after = AFTER_LAST,
			  .only = -1,
			  .target = t->target,
			  .defines = t->defines,
			  .ndefines = t->ndefines,
			  .cg = {.opt_level = 2, .unassembled = !assembled}};
	ProblemSpec spec = spec_of(t, ctx_arena(t->ctx), 0);
	opt.sizes = &spec.sizes; /* what is open is chosen for them */
	opt.nsizes = 1;
	bool ok = compile_run(t->ctx, &source, &opt, &t->out);
	if (!silent(t))
		return false;
	return (ok && t->out.verified.n) || wrong(t, "unproved", "it is not proved");
}

/* Each input that may be is packed, and its own elements are gone. */
static dsl_status pack(Trial *t, dsl_arg *args, int n)
{
	const char *kernel = t->p.k->name;
	for (int i = 0; i < t->p.nt; i++) {
		const Tensor *x = &t->p.t[i];
		size_t bytes;
		dsl_arg packed;
		if (x->is_scalar || x->is_out || !x->bytes ||
		    dsl_pack_size(t->mod, kernel, x->name, args, (size_t)n, &bytes) || !bytes)
			continue;
		dsl_status st = dsl_mem_alloc(t->p.dev, bytes, &t->kept[t->packs++]);
		st = st ? st
			: dsl_pack(t->mod, kernel, x->name, args, (size_t)n, t->kept[t->packs - 1],
				   bytes, NULL, &packed);
		st = st ? st : dsl_sync(t->p.dev);
		st = st ? st : dsl_mem_set(t->p.dev, x->alloc + GUARD, 0xff, x->bytes);
		if (st)
			return st;
		args[i] = packed;
	}
	return DSL_OK;
}

/* Before the launch: what needs workspace is refused with a byte less. */
static dsl_status bind(void *user, dsl_arg *args, int n)
{
	Trial *t = user;
	size_t bytes;
	dsl_launch_opts less = {.size = sizeof less};
	dsl_status st = t->packed ? pack(t, args, n) : DSL_OK;
	if (st || (st = dsl_workspace_size(t->mod, t->p.k->name, args, (size_t)n, &bytes)))
		return st;
	if (!bytes || (st = dsl_mem_alloc(t->p.dev, bytes, &less.workspace)))
		return st;
	less.workspace_size = bytes - 1;
	st = dsl_launch(t->mod, t->p.k->name, args, (size_t)n, NULL, &less);
	dsl_mem_free(t->p.dev, less.workspace);
	return st == DSL_ERR_WORKSPACE ? DSL_OK : DSL_ERR_INVALID;
}

/* Inputs that begin one element after an address that TMA takes. */
static dsl_status shift(Trial *t, int sign)
{
	for (int i = 0; i < t->p.nt; i++) {
		Tensor *x = &t->p.t[i];
		dsl_addr by = elem_bytes(x->elem) ? elem_bytes(x->elem) : 1;
		if (x->is_scalar || x->is_out)
			continue;
		if (sign > 0 &&
		    dsl_mem_alloc(t->p.dev, x->bytes + 2 * (size_t)GUARD + by, &x->alloc))
			return DSL_ERR_DEVICE_MEMORY;
		x->alloc = sign > 0 ? x->alloc + by : x->alloc - by;
	}
	return DSL_OK;
}

static bool check(Trial *t, DataKind kind)
{
	const char *why = "", *label = kind == DATA_INTEGERS ? "integers" : "normal";
	char beside[256] = "";
	problem_fill(&t->p, kind, (uint64_t)t->number + 1);
	dsl_status st = problem_launch(&t->p, t->mod);
	if (st)
		return wrong(t, status_names[st], dsl_detail());
	if (!problem_reference(&t->p, &why))
		return wrong(t, "reference", why);
	for (int i = 0; i < t->p.nt; i++) {
		Verdict v = {0};
		if (t->p.t[i].is_out)
			v = compare(&t->p, &t->p.t[i]);
		if (v.wrong[0])
			return wrong(t, label, v.wrong);
	}
	if (problem_guards(&t->p, beside, sizeof beside) || *beside)
		return wrong(t, "guards", *beside ? beside : dsl_detail());
	return true;
}

static bool run_kinds(Trial *t, bool first)
{
	bool both = t->o->every || first;
	t->p.bind = bind;
	t->p.binder = t;
	t->packs = 0;
	if (t->odd && shift(t, 1))
		return wrong(t, "shift", dsl_detail());
	bool ok = (!both && t->number % 2) || check(t, DATA_INTEGERS);
	if (ok && (both || t->number % 2))
		ok = check(t, DATA_NORMAL);
	if (ok && t->packed && !t->packs && t->p.t[0].bytes)
		ok = wrong(t, "unpacked", "no tensor is packed");
	if (t->odd)
		shift(t, -1);
	for (int i = 0; i < t->packs; i++)
		dsl_mem_free(t->p.dev, t->kept[i]);
	return ok;
}

static bool run_at(Trial *t, int turn, bool first)
{
	Arena *a = arena_new();
	ProblemSpec spec = spec_of(t, a, turn);
	const char *why = NULL;
	bool ok = problem_open(&t->p, t->out.reference.s, &spec, &why) || wrong(t, "sizes", why);
	t->p.dev = t->dev;
	if (ok)
		problem_choose(&t->p, &spec);
	ok = ok && run_kinds(t, first);
	problem_free_device(&t->p);
	t->p.dev = NULL; /* which problem_close would close, too */
	problem_close(&t->p);
	t->p = (Problem){0};
	arena_free(a);
	return ok;
}

/* One loaded kernel, at two sizes where the program has several. */
static void run(Trial *t, bool first)
{
	const Buf *cubin = &t->out.out[EMIT_CUBIN];
	char sim[64];
	snprintf(sim, sizeof sim, "sim:seed=%d", t->number);
	if (dsl_device_open(t->o->device ? t->o->device : sim, &t->dev) ||
	    dsl_module_load_data(t->dev, cubin->s, cubin->n, &t->mod))
		wrong(t, "load", dsl_detail());
	else if (run_at(t, 0, first) && t->program->nsizes > 1)
		run_at(t, 1, false);
	dsl_module_unload(t->mod);
	dsl_device_close(t->dev);
}

/* ------------------------------------------------------------------ rows */
static void show(const Trial *t)
{
	for (int f = 0; f < t->t->nfactors; f++)
		printf("%s ", t->t->value[t->row->at[f]].name);
	printf("at %s (row %d)\n%s\n%s\n", sizes_of(t, 0), t->number, t->text.s, t->why);
}

/* Whether it ends with one of these codes, "" where it is to be right; *instead: whether it has
 * the value that some rows have no room for, and ended with the code that says so. The first row of
 * a program that is not light is assembled, too, and runs on both kinds of numbers. */
static bool try(Trial t, const char *codes, bool first, bool *instead)
{
	t.ctx = ctx_new();
	diag_level(t.ctx, D_W0203, DL_OFF); /* rows have tiles of all sizes, some of them beyond */
	diag_level(t.ctx, D_W0210, DL_OFF);
	t.code = "";
	t.program = &t.t->value[t.row->at[0]];
	make_text(&t);
	if (compile(&t, t.o->every || first || *codes))
		run(&t, first);
	bool ok = *t.code ? strstr(codes, t.code) != NULL : !*codes;
	for (int f = 0; f < t.t->nfactors && *t.code && instead; f++)
		*instead |= value_is(&t.t->value[t.row->at[f]], t.t->instead.name) &&
			    strstr(t.t->instead.codes, t.code);
	if (!ok && !(instead && *instead)) {
		printf("%s, not %s: ", *t.code ? t.code : "right", *codes ? codes : "right");
		show(&t);
	}
	fflush(stdout);
	compile_out_free(&t.out);
	buf_free(&t.text);
	ctx_free(t.ctx);
	return ok;
}

/* The first value of each factor that goes with those before it. */
static bool fill(const Table *t, Row *r)
{
	for (int f = 0; f < t->nfactors; f++)
		for (int v = 0; v < t->nvalues && r->at[f] < 0; v++)
			if (t->value[v].at == f && row_fits(t, r, v))
				r->at[f] = v;
	for (int f = 0; f < t->nfactors; f++)
		if (r->at[f] < 0)
			return false;
	return true;
}

/* The first row with a value of this name beside `with`, which a rule keeps apart. */
static bool row_against(const Table *t, const char *name, const char *with, Row *r)
{
	for (int i = 0; i < t->nvalues; i++)
		for (int j = 0; j < t->nvalues && value_is(&t->value[i], name); j++) {
			if (!value_is(&t->value[j], with))
				continue;
			for (int f = 0; f < FACTORS_MOST; f++)
				r->at[f] = -1;
			r->at[t->value[i].at] = i;
			r->at[t->value[j].at] = j;
			if (fill(t, r))
				return true;
		}
	printf("%s and %s: no program for them\n", name, with);
	return false;
}

static int try_rules(const Trial *like, int *tried)
{
	const Table *t = like->t;
	int wrongs = 0;
	for (int i = like->o->part; i < t->nrules; i += like->o->parts) {
		char text[1024], *rest = text;
		snprintf(text, sizeof text, "%s", t->rule[i].values);
		for (char *with; (with = strtok_r(rest, " ", &rest)) && *t->rule[i].codes != '-';) {
			Row r;
			Trial trial = *like;
			trial.row = &r;
			wrongs += !row_against(t, t->rule[i].name, with, &r) ||
				  !try(trial, t->rule[i].codes, false, NULL);
			++*tried;
		}
	}
	return wrongs;
}

/* The first value of its factor in place of the one that there is no room for. */
static void set_back(const Table *t, Row *r)
{
	for (int v = t->nvalues - 1, at = 0; v >= 0; v--) {
		at = value_is(&t->value[v], t->instead.name) ? t->value[v].at : at;
		if (at && t->value[v].at == at)
			r->at[at] = v;
	}
}

static int try_all(const Options *o, const Table *t, Arena *a)
{
	Rows rows = {0};
	Trial trial = {.o = o, .t = t};
	int wrongs = !rows_cover(a, t, &rows), ran = 0, refused = 0, before = -1, replaced = 0;
	for (int i = 0; i < rows.n; i++) {
		int program = rows.at[i].at[0];
		bool first = program != before && !value_is(&t->value[program], "light");
		before = program;
		if (i % o->parts != o->part || (o->only && strcmp(o->only, t->value[program].name)))
			continue;
		bool instead = false, right;
		trial.row = &rows.at[i];
		trial.number = i;
		right = try(trial, "", first, &instead);
		if (instead) {
			set_back(t, &rows.at[i]);
			right = try(trial, "", first, NULL);
		}
		wrongs += !right;
		replaced += instead;
		ran++;
	}
	if (!o->only && !o->device)
		wrongs += try_rules(&trial, &refused);
	printf("%d of %d rows, %d of them without %s, %d refused, %d wrong\n", ran, rows.n,
	       replaced, t->instead.name, refused, wrongs);
	return wrongs || !ran;
}

static int show_text(const Options *o, const Table *t)
{
	for (int i = 0; i < t->nvalues; i++) {
		Trial it = {.o = o, .t = t, .program = &t->value[i]};
		if (!it.program->file || strcmp(it.program->name, o->text))
			continue;
		make_program(&it);
		printf("%s", it.text.s);
		buf_free(&it.text);
		return 0;
	}
	stop("no such program", o->text);
}

static bool option(Options *o, const char *word, const char *next)
{
	if (!strcmp(word, "--part"))
		return sscanf(next, "%d/%d", &o->part, &o->parts) == 2;
	const char **to = !strcmp(word, "--only")     ? &o->only
			  : !strcmp(word, "--device") ? &o->device
			  : !strcmp(word, "--text")   ? &o->text
						      : NULL;
	return to && *(*to = next);
}

int main(int argc, char **argv)
{
	Options o = {.parts = 1, .root = argv[1]};
	static Table t;
	char path[1024];
	bool ok = argc > 1 && argc % 2 == 0;
	for (int i = 2; i < argc && ok; i += 2)
		ok = option(&o, argv[i], argv[i + 1]);
	if (!ok)
		stop("usage", "matrix ROOT [--part I/N] [--only PROGRAM] "
			      "[--device D | --text PROGRAM]");
	o.every = o.device || (getenv("EVERY") && !strcmp(getenv("EVERY"), "1"));
	Ctx *c = ctx_new();
	Arena *a = arena_new();
	snprintf(path, sizeof path, "%s/tests/matrix/words.txt", o.root);
	table_read(c, &t, path);
	snprintf(path, sizeof path, "%s/tests/matrix/programs.txt", o.root);
	table_read(c, &t, path);
	table_join(&t);
	dsl_device *dev = NULL;
	if (o.device && dsl_device_open(o.device, &dev))
		stop(o.device, dsl_detail());
	o.arch = dev ? dsl_device_arch(dev) : NULL;
	int code = o.text ? show_text(&o, &t) : try_all(&o, &t, a);
	dsl_device_close(dev);
	arena_free(a);
	ctx_free(c);
	return code;
}
