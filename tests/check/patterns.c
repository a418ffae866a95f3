/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* patterns - what dslc check says of kernels, all in one process.
 *     patterns KERNEL.ir...
 * A kernel, as pattern.sh makes it, says in its comments what must come, each from its start:
 *     # verified
 *     # error E0411: no role can go on ..
 *     # warning W0411: ..       or W0412: what comes with --unproved, and is E0415 or E0416 without
 * Of those with a warning every eighth is looked at with --unproved too, with EVERY=1 in the
 * environment each. Prints the name of each as it comes to it, so that the last is the one that
 * ended the process, and what is wrong with what was said. */
#include "driver/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 60, UNPROVED_EACH = 8 };

typedef struct {
	const char *code, *text; /* how a message begins */
} Expected;

typedef struct {
	const char *file;
	Buf text;
	Arena *arena;
	bool verified, unknown;
	VEC(Expected) said;
} Pattern;

typedef struct {
	Ctx *ctx;
	CompileOut out;
	bool ok;
} Run;

/* ------------------------------------------------------------------ what must come */
static const char *after(const char *line, const char *start)
{
	size_t n = strlen(start);
	return strncmp(line, start, n) == 0 ? line + n : NULL;
}

/* "E0411: text"; a part of a code, and none of the text, where it may be any. */
static void expect(Pattern *p, const char *line)
{
	size_t n = strcspn(line, ":");
	Expected s = {arena_strndup(p->arena, line, n), line + n};
	s.text += strspn(s.text, ": ");
	vec_push(p->arena, &p->said, s);
}

static void read_line(Pattern *p, const char *line)
{
	const char *warning = after(line, "# warning "), *error = after(line, "# error ");
	p->verified |= strcmp(line, "# verified") == 0;
	p->unknown |= warning != NULL;
	if (warning || error)
		expect(p, warning ? warning : error);
}

static bool read_text(Pattern *p)
{
	char part[1 << 14];
	FILE *f = fopen(p->file, "rb");
	for (size_t n; f && (n = fread(part, 1, sizeof part, f));)
		buf_add(&p->text, part, n);
	if (f)
		fclose(f);
	for (const char *s = p->text.n ? p->text.s : ""; *s;) {
		size_t n = strcspn(s, "\n");
		read_line(p, arena_strndup(p->arena, s, n));
		s += n + (s[n] == '\n');
	}
	return p->text.n;
}

/* ------------------------------------------------------------------ what came */
static Run run(const Pattern *p, bool unproved)
{
	Run r = {.ctx = ctx_new()};
	Source source = {p->file, p->text.s, p->text.n, .is_ir = true};
	CompileOpt opt = {.ir_after = AFTER_LAST,
			  .stop_after = AFTER_LAST,
			  .only = -1,
			  .only_check = true,
			  .unproved = unproved};
	alarm(SECONDS);
	r.ok = compile_run(r.ctx, &source, &opt, &r.out);
	alarm(0);
	return r;
}

static void run_free(Run *r)
{
	compile_out_free(&r->out);
	ctx_free(r->ctx);
}

static int code_of(const Run *r)
{
	return r->ok ? EXIT_OK : r->out.exit_code ? r->out.exit_code : EXIT_DIAGS;
}

static int messages(const Run *r)
{
	int n = 0;
	for (const DiagMsg *m = diag_first(r->ctx); m; m = m->next)
		n++;
	return n;
}

static const DiagMsg *find(const Run *r, const char *code, const char *text)
{
	const DiagMsg *m = diag_first(r->ctx);
	while (m && !(after(diag_rows[m->id].code, code) && after(m->text, text)))
		m = m->next;
	return m;
}

static bool has_timeline(const DiagMsg *m)
{
	Buf shown = {0};
	for (const DiagMsg *n = m->notes; n; n = n->next)
		buf_printf(&shown, "%s\n", n->text);
	bool has = shown.n && strstr(shown.s, "   IR  line  ");
	buf_free(&shown);
	return has;
}

/* What a run refutes comes with that run. */
static bool needs_timeline(const Expected *s)
{
	static const char *const words[] = {"no role", "known", "in flight", "exits"};
	bool needs = false;
	for (size_t i = 0; i < COUNTOF(words); i++)
		needs |= strstr(s->text, words[i]) != NULL;
	return needs && (strcmp(s->code, "E0411") == 0 || strcmp(s->code, "E0412") == 0);
}

static const char *wrong_verified(const Run *r)
{
	const char *line = r->out.verified.n ? r->out.verified.s : "";
	const char *claim = strstr(line, ": no hang, no race on slots, bytes as announced");
	const char *verified = strstr(line, ": verified");
	bool one = *line && strchr(line, '\n') == line + strlen(line) - 1;
	return code_of(r) == EXIT_OK && verified && claim && verified < claim && one && !messages(r)
		       ? NULL
		       : "it is not verified";
}

/* The text of a warning and of the error that it is without --unproved are one. */
static const char *wrong_unknown(const Run *r, const Pattern *p, bool unproved)
{
	const Expected *s = &p->said.at[0];
	bool limited = strcmp(s->code, "W0412") == 0;
	const DiagMsg *m = find(r, unproved ? s->code : limited ? "E0416" : "E0415", s->text);
	if (messages(r) != 1 || !m)
		return "the message is missing";
	if (code_of(r) != (unproved ? EXIT_OK : EXIT_UNPROVED))
		return unproved ? "--unproved does not let it pass" : "it is not exit code 4";
	if (!unproved && (!m->remedy || !strstr(m->remedy, "--unproved compiles it all the same")))
		return "no remedy is named";
	return NULL;
}

static const char *wrong_refuted(const Run *r, const Pattern *p)
{
	bool shown = false, needed = false;
	if (messages(r) != p->said.n)
		return "there are more or fewer messages";
	for (int i = 0; i < p->said.n; i++) {
		const DiagMsg *m = find(r, p->said.at[i].code, p->said.at[i].text);
		if (!m)
			return "a message is missing";
		shown |= has_timeline(m);
		needed |= needs_timeline(&p->said.at[i]);
	}
	return code_of(r) != EXIT_DIAGS ? "it is not exit code 1"
	       : needed && !shown       ? "no timeline"
					: NULL;
}

static const char *wrong(const Run *r, const Pattern *p, bool unproved)
{
	if (p->verified)
		return wrong_verified(r);
	if (!p->said.n)
		return "the file expects nothing";
	if (r->out.verified.n)
		return "it must not be verified";
	return p->unknown ? wrong_unknown(r, p, unproved) : wrong_refuted(r, p);
}

/* ------------------------------------------------------------------ all of them */
static void complain(const Pattern *p, const Run *r, const char *what)
{
	Buf text = {0};
	diag_text(r->ctx, &text, false);
	printf("%s: %s\n", p->file, what);
	for (int i = 0; i < p->said.n; i++)
		printf("expected %s: %s\n", p->said.at[i].code, p->said.at[i].text);
	printf("exit code %d\n%s%s", code_of(r), text.n ? text.s : "",
	       r->out.verified.n ? r->out.verified.s : "");
	buf_free(&text);
}

static bool look(const Pattern *p, bool unproved)
{
	Run r = run(p, unproved);
	const char *what = wrong(&r, p, unproved);
	if (what)
		complain(p, &r, what);
	run_free(&r);
	return !what;
}

/* A name as the tests have it, folder and ending left out. */
static void say_name(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	printf("%.*s\n", (int)strcspn(name, "."), name);
	fflush(stdout);
}

static bool right(const char *file, bool every)
{
	static int unknowns;
	Pattern p = {.file = file, .arena = arena_new()};
	say_name(file);
	bool ok = read_text(&p) && look(&p, false);
	if (ok && p.unknown && (unknowns++ % UNPROVED_EACH == 0 || every))
		ok = look(&p, true);
	buf_free(&p.text);
	arena_free(p.arena);
	return ok;
}

int main(int argc, char **argv)
{
	const char *every = getenv("EVERY");
	Buf failed = {0};
	for (int i = 1; i < argc; i++)
		if (!right(argv[i], every && strcmp(every, "1") == 0))
			buf_printf(&failed, "alone: %s %s\n", argv[0], argv[i]);
	bool ok = argc > 1 && !failed.n;
	printf("%d kernels\n%s", argc - 1, failed.n ? failed.s : "");
	buf_free(&failed);
	return ok ? 0 : 1;
}
