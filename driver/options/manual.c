/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* manual.c - writes what is installed beside the tool, all from the tables that --help reads:
 *   dslc_manual man > dslc.1        the manual page
 *   dslc_manual bash > dslc         completion for bash; zsh > _dslc and fish > dslc.fish alike */
#include "driver/dslc.h"
#include "driver/options/options.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ manual page */
/* roff reads a backslash and a first dot; a minus is not a hyphen. */
static void roff(Buf *out, const char *text)
{
	for (const char *s = text; *s; s++) {
		if (*s == '\\')
			buf_printf(out, "\\e");
		else if (*s == '-')
			buf_printf(out, "\\-");
		else if (*s == '\'' || (*s == '.' && s == text))
			buf_printf(out, "\\&%c", *s);
		else
			buf_add(out, s, 1);
	}
}

static void item(Buf *out, const char *bold, const char *text)
{
	buf_printf(out, ".TP\n.B ");
	roff(out, bold);
	buf_printf(out, "\n");
	roff(out, text);
	buf_printf(out, "\n");
}

static void man_head(Buf *out)
{
	buf_printf(out, ".TH DSLC 1 \"\" \"dslc %s\" \"dslc\"\n", dslc_version());
	buf_printf(out,
		   ".SH NAME\ndslc \\- compiler for a small language of Hopper GEMM kernels\n");
	buf_printf(out, ".SH SYNOPSIS\n.nf\n");
	for (int i = 0; i < COMMAND_COUNT; i++) {
		buf_printf(out, "\\fBdslc %s\\fR ", command_rows[i].word);
		roff(out, command_rows[i].form);
		buf_printf(out, "\n");
	}
	buf_printf(out,
		   ".fi\n.SH DESCRIPTION\n"
		   "A .gemm file holds sequential tile programs and a line of schedule; dslc makes "
		   "a cubin of it,\nwhich carries its own description and is launched by "
		   "libdsl_runtime.\n.SH COMMANDS\n");
	for (int i = 0; i < COMMAND_COUNT; i++)
		item(out, *command_rows[i].word ? command_rows[i].word : "(none)",
		     command_rows[i].help);
}

static void man_options(Buf *out)
{
	for (int c = 0; c < CAT_COUNT; c++) {
		buf_printf(out, "%s.SS \"", c ? "" : ".SH OPTIONS\n");
		roff(out, category_rows[c].title);
		buf_printf(out, "\"\n");
		for (int i = 0; i < OPT_COUNT; i++) {
			Buf left = {0}, right = {0};
			if ((int)opt_rows[i].category != c)
				continue;
			option_spell(&opt_rows[i], &left);
			option_text((OptId)i, &right);
			item(out, left.s, right.s);
			buf_free(&left);
			buf_free(&right);
		}
	}
}

static void man_rest(Buf *out)
{
	static const char *const rest[][2] = {
		{"0", "done"},
		{"1", "diagnostics"},
		{"2", "usage"},
		{"3", "ptxas failed"},
		{"4", "a kernel is neither proved nor refuted"},
		{"70", "internal error"},
		{"124", "time limit"},
		{"DSLC_PTXAS",
		 "the assembler to use; by default $CUDA_HOME/bin, PATH, /usr/local/cuda*/bin. The "
		 "word none: there "
		 "is none, and dslc run --device sim does without, as it does where none is found"},
		{"DSL_LIBCUDA", "the libcuda that dslc run and bench use instead of libcuda.so.1"},
		{"DSLC_CUBLASLT", "another library than libcublasLt.so.13 or .12, for dslc bench"},
		{"DSLC_NVML", "another library than libnvidia-ml.so.1, for dslc bench"},
		{"NO_COLOR", "if set, messages have no colour"},
	};
	buf_printf(out, ".SH OUTPUTS\n");
	for (int i = 0; i < EMIT_COUNT; i++)
		item(out, emit_rows[i].name, emit_rows[i].help);
	buf_printf(out, ".SH PASSES\n");
	for (int i = 0; i < pass_count; i++)
		item(out, pass_rows[i].name, pass_rows[i].help);
	for (size_t i = 0; i < COUNTOF(rest); i++) {
		if (i == 0 || i == 7)
			buf_printf(out, ".SH %s\n", i ? "ENVIRONMENT" : "EXIT STATUS");
		item(out, rest[i][0], rest[i][1]);
	}
}

static void man_page(Buf *out)
{
	man_head(out);
	man_options(out);
	man_rest(out);
}

/* ------------------------------------------------------------------ completion */
/* Writes one word that may stand on a command line. */
typedef void Offer(Buf *out, const char *word, const char *help);

static bool is_word(const char *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (w[i] >= 'A' && w[i] <= 'Z')
			return false;
	return n > 0;
}

/* The values of an option, apart by spaces: words that a table has; else those of
 * "auto|always|never", but not NUMBER. */
static void values_of(Buf *out, OptId id)
{
	const OptRow *row = &opt_rows[id];
	int n = 0;
	if (row->how != HOW_EQUAL)
		return;
	if (id == OPT_EMIT)
		for (; n < EMIT_COUNT; n++)
			buf_printf(out, "%s ", emit_rows[n].name);
	if (id == OPT_PRINT_AFTER || id == OPT_STOP_AFTER || id == OPT_ONLY)
		for (; n < pass_count; n++)
			buf_printf(out, "%s ", pass_rows[n].name);
	for (const char *w = row->arg; !n && *w; w += strcspn(w, "|") + (w[strcspn(w, "|")] == '|'))
		if (strchr(row->arg, '|') && is_word(w, strcspn(w, "|")))
			buf_printf(out, "%.*s ", (int)strcspn(w, "|"), w);
}

/* "--verify=fast", "--verify=full" ..; "--size="; "-S" */
static void offer_option(Buf *out, OptId id, Offer *offer)
{
	const OptRow *row = &opt_rows[id];
	Buf values = {0}, word = {0}, help = {0};
	values_of(&values, id);
	option_text(id, &help);
	for (const char *v = values.n ? values.s : " "; *v; v += strcspn(v, " ") + 1) {
		word.n = 0;
		buf_printf(&word, "%s%s%.*s", row->spelling, row->how == HOW_EQUAL ? "=" : "",
			   (int)strcspn(v, " "), v);
		offer(out, word.s, help.s);
	}
	buf_free(&values);
	buf_free(&word);
	buf_free(&help);
}

static void offer_options(Buf *out, Command command, Offer *offer)
{
	for (int i = 0; i < OPT_COUNT; i++)
		if (opt_rows[i].who & command)
			offer_option(out, (OptId)i, offer);
}

static void offer_commands(Buf *out, Offer *offer)
{
	for (int i = 1; i < COMMAND_COUNT; i++)
		offer(out, command_rows[i].word, command_rows[i].help);
}

static void bash_word(Buf *out, const char *word, const char *help)
{
	(void)help;
	buf_printf(out, " %s", word);
}

static void bash(Buf *out)
{
	buf_printf(out, "# bash completion for dslc, written by dslc_manual\n"
			"_dslc()\n{\n"
			"\tlocal word=${COMP_LINE:0:COMP_POINT} command= words\n"
			"\tword=${word##* }\n"
			"\t[ \"$COMP_CWORD\" -gt 1 ] && command=${COMP_WORDS[1]}\n"
			"\tcase $command in\n");
	for (int i = COMMAND_COUNT - 1; i >= 0; i--) {
		const CommandRow *c = &command_rows[i];
		buf_printf(out, "\t%s) words=\"", *c->word ? c->word : "*");
		offer_options(out, c->id, bash_word);
		buf_printf(out, "\" ;;\n");
	}
	buf_printf(out, "\tesac\n\t[ \"$COMP_CWORD\" = 1 ] && words=\"$words");
	offer_commands(out, bash_word);
	/* Bash cuts words at '=': what stands before it is not given again. */
	buf_printf(out,
		   "\"\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
		   "\tcase $word in *=*) COMPREPLY=(\"${COMPREPLY[@]#*=}\") ;; esac\n"
		   "\t[[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} = *= ]] && compopt -o nospace\n"
		   "\t[ -n \"${COMPREPLY[*]}\" ] && return\n"
		   "\tcompopt -o filenames\n"
		   "\tCOMPREPLY=($(compgen -f -- \"${word##*=}\"))\n"
		   "}\ncomplete -F _dslc dslc\n");
}

/* A text within single quotes of a shell; each character of `escaped` gets a backslash. */
static void quoted(Buf *out, const char *text, const char *escaped)
{
	for (const char *s = text; *s; s++)
		if (*s == '\'')
			buf_printf(out, "'\\''");
		else
			buf_printf(out, "%s%c", strchr(escaped, *s) ? "\\" : "", *s);
}

/* _describe takes 'word:help'; after a sign of equality no space is added. */
static void zsh_word(Buf *out, const char *word, const char *help)
{
	buf_printf(out, "\n\t\t%s+=('", word[strlen(word) - 1] == '=' ? "open" : "whole");
	quoted(out, word, ":");
	buf_printf(out, ":");
	quoted(out, help, "");
	buf_printf(out, "')");
}

static void zsh(Buf *out)
{
	buf_printf(out, "#compdef dslc\n# zsh completion for dslc, written by dslc_manual\n"
			"_dslc()\n{\n\tlocal -a whole open\n\tlocal command=\n"
			"\t(( CURRENT > 2 )) && command=$words[2]\n\tcase $command in\n");
	for (int i = COMMAND_COUNT - 1; i >= 0; i--) {
		buf_printf(out, "\t(%s)", i ? command_rows[i].word : "*");
		offer_options(out, command_rows[i].id, zsh_word);
		buf_printf(out, " ;;\n");
	}
	buf_printf(out, "\tesac\n\tif (( CURRENT == 2 )); then");
	offer_commands(out, zsh_word);
	buf_printf(
		out,
		"\n\tfi\n\t_describe -o option whole -- open -S ''\n\t_files\n}\n_dslc \"$@\"\n");
}

static void fish_word(Buf *out, const char *word, const char *help)
{
	buf_printf(out, "complete -c dslc -n 'test (count (commandline -opc)) = 1' -a %s -d '",
		   word);
	quoted(out, help, "");
	buf_printf(out, "'\n");
}

/* -s D, -o lineinfo, -l size: one letter, one dash, two dashes */
static void fish_option(Buf *out, OptId id)
{
	const OptRow *row = &opt_rows[id];
	const char *name = row->spelling + strspn(row->spelling, "-");
	char kind = row->spelling[1] == '-' ? 'l' : name[1] ? 'o' : 's';
	Buf values = {0}, help = {0};
	option_text(id, &help);
	buf_printf(out, "complete -c dslc -n '__dslc_is");
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (row->who & command_rows[i].id)
			buf_printf(out, " %s", i ? command_rows[i].word : "compile");
	values_of(&values, id);
	buf_printf(out, "' -%c '%s'", kind, name);
	if (values.n)
		buf_printf(out, " -x -a '%s'", values.s);
	else if (row->how == HOW_JOINED || row->how == HOW_EQUAL)
		buf_printf(out, " -r");
	buf_printf(out, " -d '");
	quoted(out, help.s, "");
	buf_printf(out, "'\n");
	buf_free(&values);
	buf_free(&help);
}

static void fish(Buf *out)
{
	buf_printf(out, "# fish completion for dslc, written by dslc_manual\n"
			"function __dslc_is\n\tset -l words (commandline -opc)\n"
			"\tset -l command compile\n\tif contains -- \"$words[2]\"");
	offer_commands(out, bash_word);
	buf_printf(out, "\n\t\tset command $words[2]\n\tend\n\tcontains -- $command $argv\nend\n");
	offer_commands(out, fish_word);
	for (int i = 0; i < OPT_COUNT; i++)
		fish_option(out, (OptId)i);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*write)(Buf *out);
	} kinds[] = {{"man", man_page}, {"bash", bash}, {"zsh", zsh}, {"fish", fish}};
	Buf out = {0};
	for (size_t i = 0; i < COUNTOF(kinds); i++)
		if (argc == 2 && strcmp(argv[1], kinds[i].word) == 0)
			kinds[i].write(&out);
	if (!out.n)
		return 2;
	bool ok = fwrite(out.s, 1, out.n, stdout) == out.n && fflush(stdout) == 0;
	buf_free(&out);
	return !ok;
}
