/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* options.c - from argv to Options. Which options there are is options.def; here stand how each
 * kind of spelling is matched, and one setter per row.
 *     -DbM=64 --emit=ptx -o - a.gemm  ->  defines {"bM=64"}, emit PTX, out "-", inputs {"a.gemm"}
 */
#include "driver/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const OptRow opt_rows[OPT_COUNT] = {
#define OPT(id, spelling, how, arg, who, category, help) \
	[OPT_##id] = {spelling, HOW_##how, arg, CMD_##who, CAT_##category, help},
#include "driver/options.def"
};

const CommandRow command_rows[COMMAND_COUNT] = {
#define COMMAND(id, word, form, help) {CMD_##id, word, form, help},
#include "driver/commands.def"
};

typedef struct {
	Options *o;
	const char *why; /* set by the setter that refuses */
} Parse;

#define refuse(p, ...) ((p)->why = arena_printf((p)->o->arena, __VA_ARGS__))

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
	p->o->target = arg;
	if (target_by_name(arg))
		return;
	if (strcmp(arg, "sm_90") == 0)
		refuse(p, "--target=sm_90 has no wgmma and no setmaxnreg: use --target=sm_90a");
	else
		refuse(p, "--target accepts sm_90a, not '%s'", arg);
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
	set_int(p, value, 0, INT64_C(1) << 40, arena_printf(p->o->arena, "size %s", name),
		&s.value);
	vec_push(p->o->arena, &p->o->sizes, s);
}

static void set_SIZE(Parse *p, const char *arg)
{
	each_piece(p, arg, take_size);
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

static void (*const setters[OPT_COUNT])(Parse *p, const char *arg) = {
#define OPT(id, ...) [OPT_##id] = set_##id,
#include "driver/options.def"
};

/* ------------------------------------------------------------------ matching */
/* How much of `word` spells row i: 0 when it does not. */
static size_t match(const char *word, const OptRow *row)
{
	size_t n = strlen(row->spelling);
	if (strncmp(word, row->spelling, n) != 0)
		return 0;
	char next = word[n];
	switch (row->how) {
	case HOW_FLAG:
		return next ? 0 : n;
	case HOW_EQUAL:
	case HOW_MAYBE:
		return next && next != '=' ? 0 : n;
	case HOW_JOINED:
		return n;
	case HOW_PREFIX:
		return next ? n : 0;
	}
	return 0;
}

/* The row with the longest spelling that fits; of two that do, the one of this command. */
static int find_option(const char *word, Command here)
{
	int best = -1;
	size_t length = 0;
	for (int i = 0; i < OPT_COUNT; i++) {
		size_t n = match(word, &opt_rows[i]);
		bool ours = best >= 0 && n == length && opt_rows[i].who & here;
		if (n && (n > length || ours)) {
			length = n;
			best = i;
		}
	}
	return best;
}

/* The argument of an option whose word is argv[*i]; *i moves over what was taken. */
static const char *option_arg(Parse *p, const OptRow *row, int argc, char *const *argv, int *i)
{
	const char *rest = argv[*i] + strlen(row->spelling);
	if (row->how == HOW_FLAG || (row->how == HOW_MAYBE && !*rest))
		return NULL;
	if ((row->how == HOW_EQUAL || row->how == HOW_MAYBE) && *rest == '=')
		rest++;
	else if (!*rest && *i + 1 < argc)
		return argv[++*i];
	if (!*rest)
		refuse(p, "%s needs an argument: %s", row->spelling, row->arg);
	return rest;
}

static void unknown_option(Parse *p, const char *word)
{
	const char *names[OPT_COUNT];
	for (int i = 0; i < OPT_COUNT; i++)
		names[i] = opt_rows[i].spelling;
	const char *bare = arena_strndup(p->o->arena, word, strcspn(word, "="));
	const char *near = nearest(bare, names, OPT_COUNT);
	if (near)
		refuse(p, "unknown option '%s'; did you mean '%s'?", word, near);
	else
		refuse(p, "unknown option '%s'", word);
}

static const char *command_name(const Parse *p, Command c)
{
	for (int i = 1; i < COMMAND_COUNT; i++)
		if (command_rows[i].id == c)
			return arena_printf(p->o->arena, "dslc %s", command_rows[i].word);
	return "dslc";
}

/* One that takes this spelling: the first of these. */
static Command taker_of(const OptRow *row)
{
	static const Command order[] = {CMD_RUN,   CMD_LAYOUT, CMD_EXPLAIN,
					CMD_BENCH, CMD_FMT,    CMD_LSP};
	unsigned who = 0;
	size_t at = 0;
	for (int i = 0; i < OPT_COUNT; i++)
		if (!strcmp(opt_rows[i].spelling, row->spelling))
			who |= opt_rows[i].who;
	while (at + 1 < COUNTOF(order) && !(who & order[at]))
		at++;
	return order[at];
}

static void wrong_command(Parse *p, const OptRow *row)
{
	Command taker = taker_of(row);
	const char *here = command_name(p, p->o->command);
	if (p->o->command == CMD_COMPILE)
		refuse(p, "%s is not an option of %s; %s takes it", row->spelling, here,
		       command_name(p, taker));
	else
		refuse(p, "%s is not an option of %s", row->spelling, here);
}

static void take_option(Parse *p, int argc, char *const *argv, int *i)
{
	int id = find_option(argv[*i], p->o->command);
	if (id < 0) {
		unknown_option(p, argv[*i]);
		return;
	}
	const OptRow *row = &opt_rows[id];
	const char *arg = option_arg(p, row, argc, argv, i);
	if (!p->why && !(row->who & p->o->command))
		wrong_command(p, row);
	if (!p->why)
		setters[id](p, arg);
}

/* ------------------------------------------------------------------ what does not go together */
static int bits(unsigned x)
{
	int n = 0;
	for (; x; x &= x - 1)
		n++;
	return n;
}

static const char *ending_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	return dot && dot != base ? dot : "";
}

static const char *stem_of(const Parse *p, const char *path)
{
	return arena_strndup(p->o->arena, path, strlen(path) - strlen(ending_of(path)));
}

/* What several outputs can be named after: it has no ending, or that of one of them. */
static bool is_stem(const Options *o)
{
	const char *ending = ending_of(o->out);
	bool fits = !*ending;
	for (int i = 0; i < EMIT_COUNT; i++)
		fits |= o->emit & EMIT_BIT(i) && !strcmp(ending, emit_rows[i].ending);
	return fits;
}

static void check_compile(Parse *p)
{
	Options *o = p->o;
	unsigned ir = EMIT_BIT(EMIT_IR) | EMIT_BIT(EMIT_AST);
	bool partial = o->only >= 0 || o->stop_after != AFTER_LAST;
	if (o->out && o->inputs.n > 1)
		refuse(p, "-o names one output, but there are %d inputs", o->inputs.n);
	else if (o->depfile && o->inputs.n > 1)
		refuse(p, "-MF names one file, but there are %d inputs", o->inputs.n);
	else if (o->out && strcmp(o->out, "-") == 0 && bits(o->emit) > 1)
		refuse(p, "-o - takes one kind of output, but --emit asks for %d", bits(o->emit));
	else if (o->out && bits(o->emit) > 1 && !is_stem(o))
		refuse(p,
		       "--emit asks for %d kinds of output, each with its ending: -o names them "
		       "without one, as %s",
		       bits(o->emit), stem_of(p, o->out));
	else if (partial && o->emit & ~ir)
		refuse(p, "--stop-after and --only end in IR: nothing else can be written");
	else if (o->only >= 0 && o->stop_after != AFTER_LAST)
		refuse(p, "--only and --stop-after exclude each other");
	else if (o->syntax_only && (o->out || (o->emit & ~EMIT_BIT(EMIT_AST))))
		refuse(p, "-fsyntax-only writes nothing: leave out -o, -S, -c and --emit");
}

static void check_run(Parse *p)
{
	if (p->o->inputs.n > 1)
		refuse(p, "dslc run takes one file, not %d", p->o->inputs.n);
}

static bool is_simulator(const char *device)
{
	return device && strncmp(device, "sim", 3) == 0 && (!device[3] || device[3] == ':');
}

static bool same_name(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static void check_explain(Parse *p)
{
	Options *o = p->o;
	int stdouts = (o->out && !strcmp(o->out, "-")) + (o->svg && !strcmp(o->svg, "-")) +
		      (o->json_out && !strcmp(o->json_out, "-"));
	if (o->inputs.n > 1)
		refuse(p, "dslc explain takes one file, not %d", o->inputs.n);
	else if (stdouts > 1)
		refuse(p, "only one of -o, --json and --svg can be -");
	else if (same_name(o->out, o->svg) || same_name(o->out, o->json_out) ||
		 same_name(o->svg, o->json_out))
		refuse(p, "-o, --json and --svg name one file twice");
}

static void check_bench(Parse *p)
{
	Options *o = p->o;
	if (o->inputs.n > 1)
		refuse(p, "dslc bench takes one file, not %d", o->inputs.n);
	else if (is_simulator(o->device))
		refuse(p, "dslc bench needs a GPU: the simulator says what a kernel does, not how "
			  "long it takes; dslc run --device sim checks the result");
	else if (same_name(o->csv, o->json_out))
		refuse(p, "--csv and --json name one file");
}

static void check_layout(Parse *p)
{
	if (p->o->svg && p->o->inputs.n > 1)
		refuse(p, "--svg names one picture, but there are %d expressions", p->o->inputs.n);
	else if (p->o->svg && p->o->inputs.n == 0)
		refuse(p, "--svg needs the expression on the command line");
}

static void check_options(Parse *p)
{
	Options *o = p->o;
	if (o->help || o->version || o->explain)
		return;
	if (o->command == CMD_LAYOUT)
		check_layout(p);
	else if (o->command == CMD_LSP && o->inputs.n)
		refuse(p, "dslc lsp takes no files: an editor opens them");
	else if (o->command == CMD_LSP)
		return;
	else if (o->inputs.n == 0)
		refuse(p, "no input file; see dslc --help");
	else if (o->command == CMD_RUN)
		check_run(p);
	else if (o->command == CMD_BENCH)
		check_bench(p);
	else if (o->command == CMD_EXPLAIN)
		check_explain(p);
	else if (o->command != CMD_FMT)
		check_compile(p);
}

static const char *const unbuilt[] = {"tune"};

static bool is_plain_word(const char *s)
{
	return *s && !strpbrk(s, "-./") && access(s, F_OK) != 0;
}

/* A first word that is no file and no command was meant as one. */
static void refuse_command(Parse *p, const char *word)
{
	const char *words[COMMAND_COUNT] = {"help"};
	for (int i = 1; i < COMMAND_COUNT; i++)
		words[i] = command_rows[i].word;
	const char *near = nearest(word, words, COMMAND_COUNT);
	if (near)
		refuse(p, "there is no command '%s'; did you mean 'dslc %s'?", word, near);
	else
		refuse(p, "there is no command and no file '%s'; dslc --help lists the commands",
		       word);
}

/* dslc help [COMMAND] */
static void take_help(Parse *p, int argc, char *const *argv)
{
	p->o->help = true;
	for (int i = 0; argc > 2 && i < COMMAND_COUNT; i++)
		if (strcmp(argv[2], command_rows[i].word) == 0)
			p->o->command = command_rows[i].id;
	if (argc > 3)
		refuse(p, "dslc help takes one command");
	else if (argc == 3 && p->o->command == CMD_COMPILE)
		refuse_command(p, argv[2]);
}

/* A first word that names a command; 1 when it was one. */
static int take_command(Parse *p, int argc, char *const *argv)
{
	p->o->command = CMD_COMPILE;
	if (argc > 1 && strcmp(argv[1], "help") == 0) {
		take_help(p, argc, argv);
		return argc - 1;
	}
	for (size_t i = 0; argc > 1 && i < COUNTOF(unbuilt); i++)
		if (strcmp(argv[1], unbuilt[i]) == 0)
			refuse(p, "dslc %s is not built yet", argv[1]);
	for (int i = 1; argc > 1 && i < COMMAND_COUNT; i++)
		if (strcmp(argv[1], command_rows[i].word) == 0)
			p->o->command = command_rows[i].id;
	if (!p->why && argc > 1 && p->o->command == CMD_COMPILE && is_plain_word(argv[1]))
		refuse_command(p, argv[1]);
	return p->o->command != CMD_COMPILE;
}

bool options_parse(Options *o, Arena *a, int argc, char *const *argv, const char **why)
{
	*o = (Options){.arena = a,
		       .opt_level = 2,
		       .ir_after = AFTER_LAST,
		       .stop_after = AFTER_LAST,
		       .only = -1,
		       .elem = EL_BF16,
		       .seed = 1};
	Parse p = {o, NULL};
	bool only_files = false;
	for (int i = 1 + take_command(&p, argc, argv); i < argc && !p.why; i++) {
		if (only_files || argv[i][0] != '-' || !argv[i][1])
			vec_push(a, &o->inputs, argv[i]);
		else if (strcmp(argv[i], "--") == 0)
			only_files = true;
		else
			take_option(&p, argc, argv, &i);
	}
	if (!p.why)
		check_options(&p);
	*why = p.why;
	return !p.why;
}
