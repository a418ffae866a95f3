/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* set.c - what each option does to Options: one setter for each row of options.def.
 *     --size M=64,N=8  ->  sizes {{"M", 64}, {"N", 8}}
 */
#include "driver/choose/sizes.h"
#include "driver/options/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ pieces of arguments */
static bool read_int(const char *s, int64_t lo, int64_t hi, int64_t *out)
{
	char *end;
	errno = 0;
	long long v = strtoll(s, &end, 0);
	if (end == s || *end || errno || v < lo || v > hi)
		return false;
	*out = v;
	return true;
}

static void set_int(Parse *p, const char *arg, int64_t lo, int64_t hi, const char *what,
		    int64_t *out)
{
	if (!read_int(arg, lo, hi, out))
		refuse(p, "%s is a number from %lld to %lld, not '%s'", what, (long long)lo,
		       (long long)hi, arg);
}

static const char *listed(Arena *a, const char *const *words, int n)
{
	const char *all = words[0];
	for (int i = 1; i < n; i++)
		all = arena_printf(a, "%s, %s", all, words[i]);
	return all;
}

/* Number of `arg` among the words, else -1 with a reason. */
static int set_word(Parse *p, const char *arg, const char *const *words, int n, const char *what)
{
	for (int i = 0; i < n; i++)
		if (strcmp(arg, words[i]) == 0)
			return i;
	const char *near = nearest(arg, words, n);
	if (near)
		refuse(p, "%s does not accept '%s'; did you mean '%s'?", what, arg, near);
	else
		refuse(p, "%s does not accept '%s'; it takes %s", what, arg,
		       listed(p->o->arena, words, n));
	return -1;
}

static int set_pass(Parse *p, const char *arg, const char *what, bool frontend)
{
	const char *names[PASSES_MOST + 1];
	for (int i = 0; i < pass_count; i++)
		names[i] = pass_rows[i].name;
	names[pass_count] = "frontend";
	return set_word(p, arg, names, pass_count + frontend, what);
}

/* Passes as CompileOpt counts them. */
static int pass_or_frontend(int i)
{
	return i == pass_count ? AFTER_FRONTEND : i;
}

/* Splits at commas and hands each piece over, until one is refused. */
static void each_piece(Parse *p, const char *list, void (*take)(Parse *p, const char *piece))
{
	while (!p->why) {
		size_t n = strcspn(list, ",");
		take(p, arena_strndup(p->o->arena, list, n));
		if (!list[n])
			return;
		list += n + 1;
	}
}

/* NAME=VALUE: the name, and *value after the sign; NULL with a reason. */
static const char *split_name(Parse *p, const char *arg, const char *what, const char **value)
{
	const char *eq = strchr(arg, '=');
	if (!eq || eq == arg || !eq[1]) {
		refuse(p, "%s takes NAME=VALUE, not '%s'", what, arg);
		return NULL;
	}
	*value = eq + 1;
	return arena_strndup(p->o->arena, arg, (size_t)(eq - arg));
}

/* "W0201" or "0201"; D_COUNT with a reason. */
static int find_warning(Parse *p, const char *code)
{
	const char *names[D_COUNT];
	int n = 0;
	for (int i = 0; i < D_COUNT; i++) {
		if (diag_rows[i].severity == SEV_ERROR)
			continue;
		if (strcmp(code, diag_rows[i].code) == 0 ||
		    strcmp(code, diag_rows[i].code + 1) == 0)
			return i;
		names[n++] = diag_rows[i].code;
	}
	const char *near = nearest(code, names, n);
	refuse(p, "there is no warning '%s'%s%s%s", code, near ? "; did you mean '" : "",
	       near ? near : "", near ? "'?" : "");
	return D_COUNT;
}

static void set_level(Parse *p, const char *code, DiagLevel level)
{
	int id = code ? find_warning(p, code) : -1;
	if (!p->why)
		vec_push(p->o->arena, &p->o->levels, ((LevelSet){id, level}));
}

/* ------------------------------------------------------------------ setters, one a row */
#define SETTER(id) static void set_##id(Parse *p, const char *arg)
#define DOES(id, ...)        \
	SETTER(id)           \
	{                    \
		(void)p;     \
		(void)arg;   \
		__VA_ARGS__; \
	}

#define FLAG(id, member) DOES(id, p->o->member = true)
FLAG(SYNTAX_ONLY, syntax_only)
FLAG(MD, depend)
FLAG(MP, depend_phony)
FLAG(LINEINFO, lineinfo)
FLAG(CHECK_INDICES, problem.check_indices)
FLAG(VERBOSE, verbose)
FLAG(DRY_RUN, dry_run)
FLAG(UNPROVED, unproved)
FLAG(QUIET, quiet)
FLAG(TIME_REPORT, time_report)
FLAG(TABLE, table)
FLAG(TV, tv)
FLAG(BANKS, banks)
FLAG(LOOK, only_look)
FLAG(VERSION, version)

#define TEXT(id, member) DOES(id, p->o->member = arg)
TEXT(OUT, out)
TEXT(PTXAS_PATH, ptxas_path)
TEXT(EXPLAIN, explain)
TEXT(DEVICE, device)
TEXT(GPU, device)
TEXT(CHECKS, checks)
TEXT(TRACE, trace)
TEXT(KERNEL, problem.kernel)
TEXT(CANDIDATES, candidates)
TEXT(CSV, csv)
TEXT(BENCH_JSON, json_out)
TEXT(SVG, svg)
TEXT(JSON, json_out)

#define LIST(id, member) DOES(id, vec_push(p->o->arena, &p->o->member, arg))
LIST(MT, targets)
LIST(INCLUDE, includes)
LIST(PTXAS_ARG, ptxas_args)

#define NUMBER(id, member, type, lo, hi, option) \
	DOES(id, int64_t n = 0; set_int(p, arg, lo, hi, option, &n); p->o->member = (type)n)
NUMBER(LEVEL, opt_level, int, 0, 3, "-O")
NUMBER(PTXAS_TIMEOUT, ptxas_timeout_s, int, 1, 86400, "--ptxas-timeout")
NUMBER(SCHEDULES, schedules, int, 1, 1000000, "--schedules")
NUMBER(SEED, problem.seed, uint64_t, 0, INT64_MAX, "--seed")
NUMBER(ROUNDS, rounds, int, 5, 1000, "--rounds")
NUMBER(TOP, top, int, 2, 32, "--top")
NUMBER(SECONDS, seconds, int, 1, 86400, "--seconds")

/* The number of the word; whether it is word number `is`. */
#define WORDS(option, ...)                                   \
	set_word(p, arg, (const char *const[]){__VA_ARGS__}, \
		 COUNTOF(((const char *const[]){__VA_ARGS__})), option)
#define WORD(id, member, type, ...) DOES(id, p->o->member = (type)WORDS(__VA_ARGS__))
WORD(COLOR, color, When, "--color", "auto", "always", "never")
WORD(VERIFY, verify, CheckLevel, "--verify", "fast", "full", "off")
WORD(NUMBERS, numbers, Numbers, "--numbers", "both", "integers", "normal")

#define IS_WORD(id, member, is, ...) DOES(id, p->o->member = WORDS(__VA_ARGS__) == (is))
IS_WORD(DIAGNOSTICS, json, 1, "--diagnostics", "text", "json")
IS_WORD(REPORT, report_resources, 0, "--report", "resources")
IS_WORD(AGAINST, against_cublaslt, 0, "--against", "cublaslt")

IS_WORD(HOST, host_c, 1, "--host", "python", "c")

DOES(ASM, p->o->emit |= EMIT_BIT(EMIT_PTX))
DOES(OBJECT, p->o->emit |= EMIT_BIT(EMIT_CUBIN))

static void take_emit(Parse *p, const char *kind)
{
	const char *names[EMIT_COUNT];
	for (int i = 0; i < EMIT_COUNT; i++)
		names[i] = emit_rows[i].name;
	if (strncmp(kind, "ir:", 3) == 0) {
		int pass = set_pass(p, kind + 3, "--emit=ir:", true);
		p->o->ir_after = pass_or_frontend(pass);
		kind = "ir";
	}
	int id = set_word(p, kind, names, EMIT_COUNT, "--emit");
	if (id >= 0)
		p->o->emit |= EMIT_BIT(id);
}

DOES(EMIT, each_piece(p, arg, take_emit))

SETTER(MF)
{
	p->o->depend = true;
	p->o->depfile = arg;
}

SETTER(KEEP)
{
	p->o->keep = true;
	p->o->keep_dir = arg;
}

SETTER(DEFINE)
{
	const char *value;
	if (split_name(p, arg, "-D", &value))
		vec_push(p->o->arena, &p->o->defines, arg);
}

SETTER(LANG)
{
	static const char *const words[] = {"gemm", "ir"};
	int i = set_word(p, arg, words, COUNTOF(words), "-x");
	p->o->lang = i == 1 ? X_IR : X_GEMM;
}

SETTER(TARGET)
{
	p->o->target = arg;
	if (!target_by_name(arg))
		refuse(p, "--target accepts %s, not '%s'", target_names(p->o->arena, FT_BASE), arg);
}

SETTER(PREFIX_MAP)
{
	const char *eq = strchr(arg, '=');
	if (!eq) {
		refuse(p, "-ffile-prefix-map takes OLD=NEW, not '%s'", arg);
		return;
	}
	p->o->map_old = arena_strndup(p->o->arena, arg, (size_t)(eq - arg));
	p->o->map_new = eq + 1;
}

DOES(WERROR, set_level(p, arg, DL_ERROR))
DOES(WARN, set_level(p, arg, DL_WARNING))

SETTER(WNO)
{
	if (strncmp(arg, "error=", 6) == 0)
		set_level(p, arg + 6, DL_WARNING);
	else if (strcmp(arg, "error") == 0)
		set_level(p, NULL, DL_WARNING);
	else
		set_level(p, arg, DL_OFF);
}

static void take_print_after(Parse *p, const char *name)
{
	if (strcmp(name, "all") == 0) {
		p->o->print_after = UINT64_MAX;
		return;
	}
	int i = set_pass(p, name, "--print-after", true);
	if (i >= 0)
		p->o->print_after |= (uint64_t)1 << i;
}

DOES(PRINT_AFTER, each_piece(p, arg, take_print_after))
DOES(STOP_AFTER, p->o->stop_after = pass_or_frontend(set_pass(p, arg, "--stop-after", true)))
DOES(ONLY, p->o->only = set_pass(p, arg, "--only", false))

/* A later option may give a size again, but not the same one. */
static void take_sizes(Parse *p, const char *arg, const char *option, SizeArgs *out)
{
	const char *wrong = sizes_parse(p->o->arena, arg, out);
	if (wrong)
		refuse(p, "%s: %s: write M=16,N=4096,K=4096", option, wrong);
}

DOES(SIZE, take_sizes(p, arg, "--size", &p->o->problem.sizes))
DOES(FOR, SizeArgs one = {0}; take_sizes(p, arg, "--for", &one);
     vec_push(p->o->arena, &p->o->wanted, one))
DOES(FOR_MANY, p->o->many = arg)
DOES(CARD, p->o->card = arg)

SETTER(THEN)
{
	vec_push(p->o->arena, &p->o->then, p->o->problem.sizes.n);
	take_sizes(p, arg, "--then", &p->o->problem.sizes);
}

SETTER(ARG)
{
	const char *value, *name = split_name(p, arg, "--arg", &value);
	if (!name)
		return;
	char *end;
	ScalarArg s = {name, strtod(value, &end)};
	if (*end)
		refuse(p, "--arg %s takes a number, not '%s'", name, value);
	vec_push(p->o->arena, &p->o->problem.scalars, s);
}

static void take_file(Parse *p, const char *arg, const char *option, FileArgs *to)
{
	FileArg f = {0};
	f.name = split_name(p, arg, option, &f.file);
	vec_push(p->o->arena, to, f);
}

#define FILES(id, member, option) DOES(id, take_file(p, arg, option, &p->o->member))
FILES(ARRAY_IN, arrays_in, "--in")
FILES(ARRAY_OUT, arrays_out, "--out")
FILES(ARRAY_EXPECTED, arrays_expected, "--expect")

/* X[,Y[,Z]]: what is not said is 1 */
static void set_three(Parse *p, const char *arg, const char *option, uint32_t to[3])
{
	int i = 0;
	to[0] = to[1] = to[2] = 1;
	for (const char *at = arg; at; i++) {
		int64_t n;
		size_t length = strcspn(at, ",");
		if (i == 3 || !read_int(arena_strndup(p->o->arena, at, length), 1, INT32_MAX, &n)) {
			refuse(p, "%s takes X[,Y[,Z]], each 1 or more, not '%s'", option, arg);
			return;
		}
		to[i] = (uint32_t)n;
		at = at[length] ? at + length + 1 : NULL;
	}
}

DOES(GRID, set_three(p, arg, "--grid", p->o->grid))
DOES(BLOCK, set_three(p, arg, "--block", p->o->block))
DOES(CLUSTER, set_three(p, arg, "--cluster", p->o->cluster))
NUMBER(SMEM, smem, uint32_t, 0, 1 << 20, "--smem")
NUMBER(FIRST_SEED, first_seed, int64_t, 0, INT64_MAX, "--seed")
DOES(RAW_ARG, vec_push(p->o->arena, &p->o->raw, ((RawArg){arg, false})))
DOES(BUFFER, vec_push(p->o->arena, &p->o->raw, ((RawArg){arg, true})))

DOES(SMS, set_int(p, arg, 1, 1024, "--sms", &p->o->problem.sms))

SETTER(TILES)
{
	if (strcmp(arg, "all") == 0)
		p->o->problem.tiles = -1;
	else
		set_int(p, arg, 1, INT64_C(1) << 40, "--tiles", &p->o->problem.tiles);
}

SETTER(ELEM)
{
	const char *names[EL_COUNT];
	for (int i = 0; i < EL_COUNT; i++)
		names[i] = elem_rows[i].name;
	p->o->elem = (Elem)set_word(p, arg, names, EL_COUNT, "--elem");
}

DOES(STDIO, )

SETTER(HELP)
{
	p->o->help = true;
	p->o->help_category = arg;
}

Setter *const option_setters[OPT_COUNT] = {
#define OPT(id, ...) [OPT_##id] = set_##id,
#include "driver/options/options.def"
};
