/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* manual.c - writes what is installed beside the tool, all from the tables that --help reads:
 *   dslc_manual man > dslc.1        the manual page
 *   dslc_manual bash > dslc         completion for bash */
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

/* ------------------------------------------------------------------ bash */
static bool is_word(const char *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (w[i] >= 'A' && w[i] <= 'Z')
			return false;
	return n > 0;
}

/* Words that a table has; else those of "auto|always|never", but not NUMBER. */
static void add_values(Buf *out, OptId id)
{
	const OptRow *row = &opt_rows[id];
	int n = 0;
	if (id == OPT_EMIT)
		for (; n < EMIT_COUNT; n++)
			buf_printf(out, " %s=%s", row->spelling, emit_rows[n].name);
	if (id == OPT_PRINT_AFTER || id == OPT_STOP_AFTER || id == OPT_ONLY)
		for (; n < pass_count; n++)
			buf_printf(out, " %s=%s", row->spelling, pass_rows[n].name);
	for (const char *w = row->arg; !n && *w; w += strcspn(w, "|") + (w[strcspn(w, "|")] == '|'))
		if (strchr(row->arg, '|') && is_word(w, strcspn(w, "|")))
			buf_printf(out, " %s=%.*s", row->spelling, (int)strcspn(w, "|"), w);
}

static void completed(Buf *out, OptId id)
{
	const OptRow *row = &opt_rows[id];
	size_t before = out->n;
	if (row->how == HOW_EQUAL)
		add_values(out, id);
	if (out->n == before)
		buf_printf(out, " %s%s", row->spelling, row->how == HOW_EQUAL ? "=" : "");
}

static void bash_words(Buf *out, Command command)
{
	for (int i = 0; i < OPT_COUNT; i++)
		if (opt_rows[i].who & command)
			completed(out, (OptId)i);
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
		bash_words(out, c->id);
		buf_printf(out, "\" ;;\n");
	}
	buf_printf(out, "\tesac\n\t[ \"$COMP_CWORD\" = 1 ] && words=\"$words");
	for (int i = 1; i < COMMAND_COUNT; i++)
		buf_printf(out, " %s", command_rows[i].word);
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

int main(int argc, char **argv)
{
	Buf out = {0};
	if (argc == 2 && strcmp(argv[1], "man") == 0)
		man_page(&out);
	else if (argc == 2 && strcmp(argv[1], "bash") == 0)
		bash(&out);
	else
		return 2;
	bool ok = fwrite(out.s, 1, out.n, stdout) == out.n && fflush(stdout) == 0;
	buf_free(&out);
	return !ok;
}
