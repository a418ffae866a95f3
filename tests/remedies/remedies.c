/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* remedies.c - what a message advises is done, and the program compiles: all rows in one process.
 *     remedies FILE.rows...
 * A file has programs, and after each program rows, which are mistakes in it:
 *     program gemm
 *     kernel gemm(..) .. { .. gD[m,n] <- bf16(acc); .. }
 *     end
 *     E0205 | <- bf16(acc) | <- acc | = | convert it: `bf16(`...)
 * "program gemm = FILE" takes the text of a file, without comments; its path begins where this file
 * is. A row is the code, maybe with the whole message; a text of the program, the mistake in its
 * place and the remedy in its place ("=": the program's own text), as often as needed; and the
 * whole help. A line that begins with a
 * tab continues the row before it. With the mistakes, the message must come. With the remedies, the
 * program must compile up to code generation, its pipeline must be proved, no message may have the
 * code, and the program must contain what stands in `backquotes` in the help; blanks do not count.
 */
#include "driver/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 32, TEXT_MAX = 1 << 18 };

typedef struct {
	const char *file;
	int line;
	char *program;
	const char *at[FIELDS_MAX];
	int n;
} Row;

static int rows, failures;

/* ------------------------------------------------------------------ texts */
/* The program with one field of each triple in the place of its first; NULL: that is not there. */
static char *with(const Row *r, int field)
{
	char *text = strdup(r->program);
	for (int i = 1; i + 3 < r->n; i += 3) {
		const char *old = r->at[i], *new = r->at[i + field];
		char *at = strstr(text, old);
		Buf b = {0};
		if (!at) {
			free(text);
			return NULL;
		}
		buf_add(&b, text, (size_t)(at - text));
		buf_printf(&b, "%s%s", strcmp(new, "=") ? new : old, at + strlen(old));
		free(text);
		text = strdup(b.s);
		buf_free(&b);
	}
	return text;
}

static char *without(const char *s, const char *set)
{
	char *kept = calloc(1, strlen(s) + 1);
	for (char *to = kept; *s; s++)
		if (!strchr(set, *s))
			*to++ = *s;
	return kept;
}

/* Whether the text has all that stands between `` in the help. */
static bool has_quoted(const char *help, const char *text)
{
	bool all = true;
	char *dense = without(text, " \t\n"), *h = without(help, " "), *rest = NULL;
	bool quoted = *h == '`';
	for (char *s = strtok_r(h, "`", &rest); s; s = strtok_r(NULL, "`", &rest)) {
		all &= !quoted || strstr(dense, s);
		quoted = !quoted;
	}
	free(dense);
	free(h);
	return all;
}

/* ------------------------------------------------------------------ compilations */
static Ctx *compiled(const char *text)
{
	Ctx *c = ctx_new();
	bool is_ir = strstr(text, " warp sm_") || strstr(text, " tile sm_");
	Source source = {is_ir ? "x.ir" : "x.gemm", text, strlen(text), .is_ir = is_ir};
	CompileOpt opt = {.ir_after = AFTER_LAST,
			  .stop_after = AFTER_LAST,
			  .only = -1,
			  .only_check = true};
	CompileOut out = {0};
	compile_run(c, &source, &opt, &out);
	compile_out_free(&out);
	return c;
}

/* code: "E0205", or "E0205 and what the message says" */
static bool says(const Ctx *c, const char *code, const char *help)
{
	const char *text = strchr(code, ' ');
	size_t n = text ? (size_t)(text - code) : strlen(code);
	for (const DiagMsg *m = diag_first(c); m; m = m->next)
		if (!strncmp(diag_rows[m->id].code, code, n) &&
		    (!help || !strcmp(m->remedy ? m->remedy : "", help)) &&
		    (!help || !text || !strcmp(m->text, text + 1)))
			return true;
	return false;
}

static void fail(const Row *r, const Ctx *c, const char *what)
{
	Buf b = {0};
	if (c)
		diag_text(c, &b, false);
	printf("%s:%d: %s\n%s", r->file, r->line, what, b.s ? b.s : "");
	buf_free(&b);
	failures++;
}

static void try_texts(const Row *r, const char *wrong, const char *right)
{
	const char *written = r->at[r->n - 1];
	char *help = without(written, "`");
	Ctx *c = compiled(wrong), *d = compiled(right);
	if (!says(c, r->at[0], help))
		fail(r, c, "the mistake does not bring this message");
	if (!has_quoted(written, right))
		fail(r, NULL, "the remedy is not what the help says");
	if (diag_errors(d) || says(d, r->at[0], NULL))
		fail(r, d, "the remedy does not compile");
	ctx_free(c);
	ctx_free(d);
	free(help);
}

static void try_row(const Row *r)
{
	char *wrong = NULL, *right = NULL;
	rows++;
	if (r->n < 5 || r->n % 3 != 2 || !r->program)
		fail(r, NULL, "not CODE | TEXT | MISTAKE | REMEDY | HELP after a program");
	else if (!(wrong = with(r, 1)) || !(right = with(r, 2)))
		fail(r, NULL, "the program does not have such a text");
	else
		try_texts(r, wrong, right);
	free(wrong);
	free(right);
}

/* ------------------------------------------------------------------ files */
/* Between two fields stands a bar by itself; blanks around a field are none of it. */
static bool is_bar(const char *s)
{
	return *s == '|' && (s[-1] == ' ' || !s[-1]) && (s[1] == ' ' || !s[1]);
}

static const char *trimmed(char *s)
{
	char *end = s + strlen(s);
	while (end > s && end[-1] == ' ')
		*--end = 0;
	return s + strspn(s, " ");
}

static void cut_fields(Row *r, char *line)
{
	char *from = line, *s = line;
	for (r->n = 0; r->n < FIELDS_MAX; s++) {
		bool end = !*s;
		if (!end && !is_bar(s))
			continue;
		*s = 0;
		r->at[r->n++] = trimmed(from);
		from = s + 1;
		if (end)
			break;
	}
}

/* The end of the row that begins at s; lines of it become one. */
static char *row_end(char *s)
{
	for (; *s && !(*s == '\n' && s[1] != '\t'); s++)
		if (*s == '\n' || *s == '\t')
			*s = ' ';
	return s;
}

static char *file_text(const char *path)
{
	char *text = calloc(1, TEXT_MAX);
	FILE *f = fopen(path, "rb");
	if (!f || fread(text, 1, TEXT_MAX - 1, f) == TEXT_MAX - 1) {
		fprintf(stderr, "remedies: %s cannot be read\n", path);
		exit(2);
	}
	fclose(f);
	return text;
}

/* "NAME = FILE": the text of the file, comments left out; else NULL. */
static char *program_of(const char *beside, const char *head)
{
	const char *name = strstr(head, " = "), *slash = strrchr(beside, '/');
	Buf path = {0};
	if (!name)
		return NULL;
	buf_printf(&path, "%.*s%s", slash ? (int)(slash + 1 - beside) : 0, beside, name + 3);
	char *text = file_text(path.s), *to = text;
	buf_free(&path);
	for (const char *s = text; *s;)
		if (s[0] == '/' && s[1] == '/')
			s += strcspn(s, "\n");
		else
			*to++ = *s++;
	*to = 0;
	return text;
}

static int line_of(const char *text, const char *at)
{
	int line = 1;
	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

/* Cuts the text as it goes; `whole` is a second copy, where lines still end. */
static void try_file(const char *path)
{
	static const char program[] = "program ", end[] = "\nend\n";
	char *text = file_text(path), *whole = file_text(path), *own = NULL;
	Row r = {.file = path};
	for (char *s = text, *next; *s; s = next) {
		char *head = s + strcspn(s, "\n"), *equals = strstr(s, " = ");
		bool is_program = !strncmp(s, program, strlen(program));
		bool is_file = is_program && equals && equals < head;
		char *stop = is_file ? head : is_program ? strstr(s, end) : row_end(s);
		r.line = line_of(whole, whole + (s - text));
		next = stop + (is_program && !is_file ? strlen(end) : *stop != 0);
		*stop = 0;
		if (is_program) {
			free(own);
			own = is_file ? program_of(path, s) : NULL;
			r.program = own ? own : strchr(s, '\n') + 1;
		} else if (*s && *s != '#') {
			cut_fields(&r, s);
			try_row(&r);
		}
	}
	free(own);
	free(text);
	free(whole);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		try_file(argv[i]);
	printf("%d remedies, %d faults\n", rows, failures);
	return failures || !rows;
}
