/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* options_set.c - what each option does to Options: one setter for each row of options.def.
 *     --size M=64,N=8  ->  sizes {{"M", 64}, {"N", 8}}
 */
#include "driver/options_parse.h"

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
	const char *names[PASS_COUNT + 1];
	for (int i = 0; i < PASS_COUNT; i++)
		names[i] = pass_rows[i].name;
	names[PASS_COUNT] = "frontend";
	return set_word(p, arg, names, PASS_COUNT + frontend, what);
}

/* Passes as CompileOpt counts them. */
static int pass_or_frontend(int i)
{
	return i == PASS_COUNT ? AFTER_FRONTEND : i;
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

/* NAME=VALUE: the name, and *value behind the sign; NULL with a reason. */
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
static void set_OUT(Parse *p, const char *arg)
{
	p->o->out = arg;
}

static void set_ASM(Parse *p, const char *arg)
{
	(void)arg;
	p->o->emit |= EMIT_BIT(EMIT_PTX);
}

static void set_OBJECT(Parse *p, const char *arg)
{
	(void)arg;
	p->o->emit |= EMIT_BIT(EMIT_CUBIN);
}

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

static void set_EMIT(Parse *p, const char *arg)
{
	each_piece(p, arg, take_emit);
}

static void set_SYNTAX_ONLY(Parse *p, const char *arg)
{
	(void)arg;
	p->o->syntax_only = true;
}

static void set_MD(Parse *p, const char *arg)
{
	(void)arg;
	p->o->depend = true;
}

static void set_MF(Parse *p, const char *arg)
{
	p->o->depend = true;
	p->o->depfile = arg;
}

static void set_MT(Parse *p, const char *arg)
{
	vec_push(p->o->arena, &p->o->targets, arg);
}

static void set_MP(Parse *p, const char *arg)
{
	(void)arg;
	p->o->depend_phony = true;
}

static void set_KEEP(Parse *p, const char *arg)
{
	p->o->keep = true;
	p->o->keep_dir = arg;
}

static void set_DEFINE(Parse *p, const char *arg)
{
	const char *value;
	if (split_name(p, arg, "-D", &value))
		vec_push(p->o->arena, &p->o->defines, arg);
}

static void set_INCLUDE(Parse *p, const char *arg)
{
	vec_push(p->o->arena, &p->o->includes, arg);
}

static void set_LANG(Parse *p, const char *arg)
{
	static const char *const words[] = {"gemm", "ir"};
	int i = set_word(p, arg, words, COUNTOF(words), "-x");
	p->o->lang = i == 1 ? X_IR : X_GEMM;
}

static void set_TARGET(Parse *p, const char *arg)
{
	Buf names = {0};
	p->o->target = arg;
	if (target_by_name(arg))
		return;
	target_names(&names);
	refuse(p, "--target accepts %s, not '%s'", names.s, arg);
	buf_free(&names);
}

static void set_LEVEL(Parse *p, const char *arg)
{
	int64_t level = 0;
	set_int(p, arg, 0, 3, "-O", &level);
	p->o->opt_level = (int)level;
}

static void set_LINEINFO(Parse *p, const char *arg)
{
	(void)arg;
	p->o->lineinfo = true;
}

static void set_CHECK_INDICES(Parse *p, const char *arg)
{
	(void)arg;
	p->o->check_indices = true;
}

static void set_PREFIX_MAP(Parse *p, const char *arg)
{
	const char *eq = strchr(arg, '=');
	if (!eq) {
		refuse(p, "-ffile-prefix-map takes OLD=NEW, not '%s'", arg);
		return;
	}
	p->o->map_old = arena_strndup(p->o->arena, arg, (size_t)(eq - arg));
	p->o->map_new = eq + 1;
}

static void set_PTXAS_PATH(Parse *p, const char *arg)
{
	p->o->ptxas_path = arg;
}

static void set_PTXAS_ARG(Parse *p, const char *arg)
{
	vec_push(p->o->arena, &p->o->ptxas_args, arg);
}

static void set_PTXAS_TIMEOUT(Parse *p, const char *arg)
{
	int64_t s = 0;
	set_int(p, arg, 1, 86400, "--ptxas-timeout", &s);
	p->o->ptxas_timeout_s = (int)s;
}

static void set_DIAGNOSTICS(Parse *p, const char *arg)
{
	static const char *const words[] = {"text", "json"};
	p->o->json = set_word(p, arg, words, COUNTOF(words), "--diagnostics") == 1;
}

static void set_COLOR(Parse *p, const char *arg)
{
	static const char *const words[] = {"auto", "always", "never"};
	p->o->color = (When)set_word(p, arg, words, COUNTOF(words), "--color");
}

static void set_WERROR(Parse *p, const char *arg)
{
	set_level(p, arg, DL_ERROR);
}

static void set_WNO(Parse *p, const char *arg)
{
	if (strncmp(arg, "error=", 6) == 0)
		set_level(p, arg + 6, DL_WARNING);
	else if (strcmp(arg, "error") == 0)
		set_level(p, NULL, DL_WARNING);
	else
		set_level(p, arg, DL_OFF);
}

static void set_WARN(Parse *p, const char *arg)
{
	set_level(p, arg, DL_WARNING);
}

static void set_EXPLAIN(Parse *p, const char *arg)
{
	p->o->explain = arg;
}

static void set_VERBOSE(Parse *p, const char *arg)
{
	(void)arg;
	p->o->verbose = true;
}

static void set_DRY_RUN(Parse *p, const char *arg)
{
	(void)arg;
	p->o->dry_run = true;
}

static void take_print_after(Parse *p, const char *name)
{
	if (strcmp(name, "all") == 0) {
		p->o->print_after = ~0u;
		return;
	}
	int i = set_pass(p, name, "--print-after", true);
	if (i >= 0)
		p->o->print_after |= 1u << i;
}

static void set_PRINT_AFTER(Parse *p, const char *arg)
{
	each_piece(p, arg, take_print_after);
}

static void set_STOP_AFTER(Parse *p, const char *arg)
{
	p->o->stop_after = pass_or_frontend(set_pass(p, arg, "--stop-after", true));
}

static void set_ONLY(Parse *p, const char *arg)
{
	p->o->only = set_pass(p, arg, "--only", false);
}

static void set_REPORT(Parse *p, const char *arg)
{
	static const char *const words[] = {"resources"};
	p->o->report_resources = set_word(p, arg, words, COUNTOF(words), "--report") == 0;
}

static void set_VERIFY(Parse *p, const char *arg)
{
	static const char *const words[] = {"fast", "full", "off"};
	p->o->verify = (CheckLevel)set_word(p, arg, words, COUNTOF(words), "--verify");
}

static void set_UNPROVED(Parse *p, const char *arg)
{
	(void)arg;
	p->o->unproved = true;
}

static void set_QUIET(Parse *p, const char *arg)
{
	(void)arg;
	p->o->quiet = true;
}

static void set_TIME_REPORT(Parse *p, const char *arg)
{
	(void)arg;
	p->o->time_report = true;
}

static void take_size(Parse *p, const char *piece)
{
	const char *value, *name = split_name(p, piece, "--size", &value);
	SizeArg s = {name, 0};
	if (!name)
		return;
	set_int(p, value, 0, INT32_MAX, arena_printf(p->o->arena, "size %s", name), &s.value);
	vec_push(p->o->arena, &p->o->sizes, s);
}

/* A later option may give a size again, but not the same one. */
static void take_sizes(Parse *p, const char *arg)
{
	int from = p->o->sizes.n;
	each_piece(p, arg, take_size);
	for (int i = from; i < p->o->sizes.n; i++)
		for (int j = from; j < i; j++)
			if (!strcmp(p->o->sizes.at[i].name, p->o->sizes.at[j].name))
				refuse(p, "'%s' gives %s twice: leave one out", arg,
				       p->o->sizes.at[i].name);
}

static void set_SIZE(Parse *p, const char *arg)
{
	take_sizes(p, arg);
}

static void set_THEN(Parse *p, const char *arg)
{
	vec_push(p->o->arena, &p->o->then, p->o->sizes.n);
	take_sizes(p, arg);
}

static void set_DEVICE(Parse *p, const char *arg)
{
	p->o->device = arg;
}

static void set_SCHEDULES(Parse *p, const char *arg)
{
	int64_t n = 0;
	set_int(p, arg, 1, 1000000, "--schedules", &n);
	p->o->schedules = (int)n;
}

static void set_CHECKS(Parse *p, const char *arg)
{
	p->o->checks = arg;
}

static void set_TRACE(Parse *p, const char *arg)
{
	p->o->trace = arg;
}

static void set_KERNEL(Parse *p, const char *arg)
{
	p->o->kernel = arg;
}

static void set_ARG(Parse *p, const char *arg)
{
	const char *value, *name = split_name(p, arg, "--arg", &value);
	if (!name)
		return;
	char *end;
	ScalarArg s = {name, strtod(value, &end)};
	if (*end)
		refuse(p, "--arg %s takes a number, not '%s'", name, value);
	vec_push(p->o->arena, &p->o->scalars, s);
}

static void take_file(Parse *p, const char *arg, const char *option, FileArgs *to)
{
	FileArg f = {0};
	f.name = split_name(p, arg, option, &f.file);
	vec_push(p->o->arena, to, f);
}

static void set_ARRAY_IN(Parse *p, const char *arg)
{
	take_file(p, arg, "--in", &p->o->arrays_in);
}

static void set_ARRAY_OUT(Parse *p, const char *arg)
{
	take_file(p, arg, "--out", &p->o->arrays_out);
}

static void set_ARRAY_EXPECTED(Parse *p, const char *arg)
{
	take_file(p, arg, "--expect", &p->o->arrays_expected);
}

static void set_NUMBERS(Parse *p, const char *arg)
{
	static const char *const words[] = {"both", "integers", "normal"};
	p->o->numbers = (Numbers)set_word(p, arg, words, COUNTOF(words), "--numbers");
}

static void set_SEED(Parse *p, const char *arg)
{
	int64_t seed = 0;
	set_int(p, arg, 0, INT64_MAX, "--seed", &seed);
	p->o->seed = (uint64_t)seed;
}

static void set_SMS(Parse *p, const char *arg)
{
	set_int(p, arg, 1, 1024, "--sms", &p->o->sms);
}

static void set_TILES(Parse *p, const char *arg)
{
	if (strcmp(arg, "all") == 0)
		p->o->tiles = -1;
	else
		set_int(p, arg, 1, INT64_C(1) << 40, "--tiles", &p->o->tiles);
}

static void set_CANDIDATES(Parse *p, const char *arg)
{
	p->o->candidates = arg;
}

static void set_AGAINST(Parse *p, const char *arg)
{
	static const char *const words[] = {"cublaslt"};
	p->o->against_cublaslt = set_word(p, arg, words, COUNTOF(words), "--against") == 0;
}

static void set_ROUNDS(Parse *p, const char *arg)
{
	int64_t n = 0;
	set_int(p, arg, 5, 1000, "--rounds", &n);
	p->o->rounds = (int)n;
}

static void set_CSV(Parse *p, const char *arg)
{
	p->o->csv = arg;
}

static void set_BENCH_JSON(Parse *p, const char *arg)
{
	p->o->json_out = arg;
}

static void set_TABLE(Parse *p, const char *arg)
{
	(void)arg;
	p->o->table = true;
}

static void set_TV(Parse *p, const char *arg)
{
	(void)arg;
	p->o->tv = true;
}

static void set_BANKS(Parse *p, const char *arg)
{
	(void)arg;
	p->o->banks = true;
}

static void set_ELEM(Parse *p, const char *arg)
{
	const char *names[EL_COUNT];
	for (int i = 0; i < EL_COUNT; i++)
		names[i] = elem_rows[i].name;
	p->o->elem = (Elem)set_word(p, arg, names, EL_COUNT, "--elem");
}

static void set_SVG(Parse *p, const char *arg)
{
	p->o->svg = arg;
}

static void set_JSON(Parse *p, const char *arg)
{
	p->o->json_out = arg;
}

static void set_LOOK(Parse *p, const char *arg)
{
	(void)arg;
	p->o->only_look = true;
}

static void set_STDIO(Parse *p, const char *arg)
{
	(void)p;
	(void)arg;
}

static void set_HELP(Parse *p, const char *arg)
{
	p->o->help = true;
	p->o->help_category = arg;
}

static void set_VERSION(Parse *p, const char *arg)
{
	(void)arg;
	p->o->version = true;
}

Setter *const option_setters[OPT_COUNT] = {
#define OPT(id, ...) [OPT_##id] = set_##id,
#include "driver/options.def"
};
