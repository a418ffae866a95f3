/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* help.c - what the tool says about itself: --help[=category], --explain CODE, and the word that
 * was probably meant. All of it comes from tables. */
#include "driver/options/options.h"

#include <stdio.h>
#include <string.h>

const CategoryRow category_rows[CAT_COUNT] = {
#define CATEGORY(id, name, title) [CAT_##id] = {name, title},
#include "driver/options/options.def"
};

enum { HELP_COLUMN = 30, HELP_WIDTH = 96 };

static void trim(Buf *out)
{
	while (out->n && out->s[out->n - 1] == ' ')
		out->s[--out->n] = 0;
}

/* Adds words to the line, breaking it so that it stays within HELP_WIDTH. */
static void add_wrapped(Buf *out, const char *text, int column)
{
	int at = column;
	while (*text) {
		int n = (int)strcspn(text, " ");
		if (at > column && at + n > HELP_WIDTH) {
			trim(out);
			buf_printf(out, "\n%*s", column, "");
			at = column;
		}
		buf_printf(out, "%.*s", n, text);
		at += n;
		text += n;
		if (*text == ' ') {
			buf_add(out, " ", 1);
			at++;
			text++;
		}
	}
	trim(out);
	buf_add(out, "\n", 1);
}

static void add_row(Buf *out, const char *left, const char *right)
{
	int n = (int)strlen(left);
	buf_printf(out, "  %s", left);
	if (n + 2 >= HELP_COLUMN)
		buf_printf(out, "\n%*s", HELP_COLUMN, "");
	else
		buf_printf(out, "%*s", HELP_COLUMN - n - 2, "");
	add_wrapped(out, right, HELP_COLUMN);
}

/* "--emit=KIND,...", "-o FILE", "--keep[=DIR]" */
void option_spell(const OptRow *row, Buf *out)
{
	static const char *const before[] = {"", " ", "=", "[=", ""}, *const after[] = {"", "", "",
											"]", ""};
	buf_printf(out, "%s%s%s%s", row->spelling, before[row->how], row->arg, after[row->how]);
}

/* Rows whose help ends in a colon go on with the words of their table. */
static void add_words(OptId id, Buf *out)
{
	if (id == OPT_TARGET) {
		Arena *a = arena_new();
		buf_printf(out, "%s", target_names(a, FT_BASE));
		arena_free(a);
	}
	if (id == OPT_EMIT)
		for (int i = 0; i < EMIT_COUNT; i++)
			buf_printf(out, "%s%s", i ? ", " : "", emit_rows[i].name);
}

void option_text(OptId id, Buf *out)
{
	buf_printf(out, "%s", opt_rows[id].help);
	add_words(id, out);
}

static bool is_shown(const OptRow *row, OptCategory category, Command who)
{
	return row->category == category && row->who & who;
}

/* The rows of a category that the commands take. */
static void help_category(Buf *out, OptCategory category, Command who)
{
	buf_printf(out, "%s (--help=%s)\n", category_rows[category].title,
		   category_rows[category].name);
	for (int i = 0; i < OPT_COUNT; i++) {
		Buf left = {0}, right = {0};
		if (!is_shown(&opt_rows[i], category, who))
			continue;
		option_spell(&opt_rows[i], &left);
		option_text((OptId)i, &right);
		add_row(out, left.s, right.s);
		buf_free(&left);
		buf_free(&right);
	}
}

static void help_emit(Buf *out)
{
	buf_printf(out, "Kinds of output (--help=emit)\n");
	for (int i = 0; i < EMIT_COUNT; i++)
		add_row(out, emit_rows[i].name, emit_rows[i].help);
}

static void help_passes(Buf *out)
{
	buf_printf(out, "Passes, in the order in which they run (--help=passes)\n");
	for (int i = 0; i < pass_count; i++) {
		if (!i || pass_rows[i].stage != pass_rows[i - 1].stage)
			buf_printf(out, "%s stage:\n", stage_name(pass_rows[i].stage));
		add_row(out, pass_rows[i].name, pass_rows[i].help);
	}
}

static void help_line(Buf *out, const CommandRow *r)
{
	int n = (int)(strlen(r->word) + strlen(r->form)) + !!*r->word;
	buf_printf(out, "dslc %s%s%s%*s%s\n", r->word, *r->word ? " " : "", r->form,
		   n < 26 ? 26 - n : 1, "", r->help);
}

/* The categories in which the command has options. */
static void help_command(Buf *out, const CommandRow *r)
{
	help_line(out, r);
	for (int c = 0; c < CAT_COUNT; c++)
		for (int i = 0; i < OPT_COUNT; i++)
			if (is_shown(&opt_rows[i], (OptCategory)c, r->id)) {
				buf_printf(out, "\n");
				help_category(out, (OptCategory)c, r->id);
				break;
			}
}

static void help_all(Buf *out)
{
	for (int i = 0; i < COMMAND_COUNT; i++)
		help_line(out, &command_rows[i]);
	buf_printf(out, "dslc %-25s the options of one command, or this\n\n", "help [COMMAND]");
	for (int i = 0; i < CAT_COUNT; i++) {
		help_category(out, (OptCategory)i, CMD_EVERY);
		buf_printf(out, "\n");
	}
	help_emit(out);
	buf_printf(out, "\n");
	help_passes(out);
	buf_printf(out, "\nExit codes: 0 done, 1 diagnostics, 2 usage, 3 ptxas failed, 4 neither "
			"proved nor "
			"refuted,\n70 internal error, 124 time limit\n");
}

bool options_help(Buf *out, Command command, const char *category)
{
	if (!category && command == CMD_COMPILE) {
		help_all(out);
		return true;
	}
	for (int i = 0; i < COMMAND_COUNT && !category; i++)
		if (command_rows[i].id == command) {
			help_command(out, &command_rows[i]);
			return true;
		}
	if (strcmp(category, "emit") == 0) {
		help_emit(out);
		return true;
	}
	if (strcmp(category, "passes") == 0) {
		help_passes(out);
		return true;
	}
	for (int i = 0; i < CAT_COUNT; i++) {
		if (strcmp(category, category_rows[i].name) == 0) {
			help_category(out, (OptCategory)i, CMD_EVERY);
			return true;
		}
	}
	return false;
}

static void add_claim(Buf *out, const char *text)
{
	buf_printf(out, "- ");
	add_wrapped(out, text, 2);
}

/* What a proof says and what it takes for granted. */
static void explain_verify(Buf *out)
{
	add_wrapped(out,
		    "verify: A kernel that is verified has these properties, for every value of "
		    "its sizes that its where clauses allow, every number of tiles and every order "
		    "in which its warps and copies run.",
		    0);
	buf_printf(out, "\n");
#define PROVED(text) add_claim(out, text);
#include "driver/explain/claims.def"
	buf_printf(out, "\nThe proof is about the IR of the kernel. It assumes the following:\n\n");
#define ASSUMED(text) add_claim(out, text);
#include "driver/explain/claims.def"
}

bool explain_code(Buf *out, const char *code)
{
	bool all = strcmp(code, "all") == 0;
	for (int i = 0; i < D_COUNT && all; i++)
		buf_printf(out, "%s  %s\n", diag_rows[i].code, diag_rows[i].title);
	if (strcmp(code, "verify") == 0) {
		explain_verify(out);
		return true;
	}
	if (all)
		return true;
	for (int i = 0; i < D_COUNT; i++) {
		if (strcmp(diag_rows[i].code, code) != 0)
			continue;
		buf_printf(out, "%s: %s\n\n", code, diag_rows[i].title);
		add_wrapped(out, diag_rows[i].help, 0);
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------ the nearest word */
enum { NEAREST_MAX = 40 };

static int min3(int a, int b, int c)
{
	int m = a < b ? a : b;
	return m < c ? m : c;
}

/* Insertions, deletions and replacements that turn a into b. */
static int edit_distance(const char *a, const char *b)
{
	int row[NEAREST_MAX + 1], n = (int)strlen(b);
	if (n > NEAREST_MAX || strlen(a) > NEAREST_MAX)
		return NEAREST_MAX;
	for (int j = 0; j <= n; j++)
		row[j] = j;
	for (int i = 1; a[i - 1]; i++) {
		int diagonal = row[0];
		row[0] = i;
		for (int j = 1; j <= n; j++) {
			int above = row[j];
			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[n];
}

const char *nearest(const char *word, const char *const *words, int n)
{
	const char *best = NULL;
	int least = (int)strlen(word) / 3 + 1;
	for (int i = 0; i < n; i++) {
		int d = edit_distance(word, words[i]);
		if (d <= least && (!best || d < least)) {
			least = d;
			best = words[i];
		}
	}
	return best;
}
