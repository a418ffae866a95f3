/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* options.c - from argv to Options. Which options there are is options.def; here stands how
 * each kind of spelling is matched. What a row sets is in set.c, what goes together in
 * fit.c.
 *     -DbM=64 --emit=ptx -o - a.gemm  ->  defines {"bM=64"}, emit PTX, out "-", inputs {"a.gemm"}
 */
#include "driver/options/parse.h"

#include <string.h>
#include <unistd.h>

const OptRow opt_rows[OPT_COUNT] = {
#define OPT(id, spelling, how, arg, who, category, help) \
	[OPT_##id] = {spelling, HOW_##how, arg, CMD_##who, CAT_##category, help},
#include "driver/options/options.def"
};

const CommandRow command_rows[COMMAND_COUNT] = {
#define COMMAND(id, word, form, help) {CMD_##id, word, form, help},
#include "driver/options/commands.def"
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

/* The nearest spelling among those that these commands take. */
static const char *nearest_option(const char *bare, Command who)
{
	const char *names[OPT_COUNT];
	int n = 0;
	for (int i = 0; i < OPT_COUNT; i++)
		if (opt_rows[i].who & who)
			names[n++] = opt_rows[i].spelling;
	return nearest(bare, names, n);
}

static void unknown_option(Parse *p, const char *word)
{
	const char *bare = arena_strndup(p->o->arena, word, strcspn(word, "="));
	const char *near = nearest_option(bare, p->o->command);
	if (!near)
		near = nearest_option(bare, CMD_EVERY);
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
	static const Command order[] = {CMD_RUN, CMD_LAYOUT, CMD_EXPLAIN, CMD_BENCH, CMD_FMT,
					CMD_LSP, CMD_TUNE,   CMD_SIM,     CMD_NEW};
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
		option_setters[id](p, arg);
}

/* ------------------------------------------------------------------ commands */
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
	for (int i = 1; argc > 1 && i < COMMAND_COUNT; i++)
		if (strcmp(argv[1], command_rows[i].word) == 0)
			p->o->command = command_rows[i].id;
	if (argc > 1 && p->o->command == CMD_COMPILE && is_plain_word(argv[1]))
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
		       .top = 5,
		       .seconds = 60,
		       .problem.seed = 1};
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
		options_fit(&p);
	*why = p.why;
	return !p.why;
}
