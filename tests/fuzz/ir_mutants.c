/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ir_mutants - changed IR text of all three stages through passes, proof and code generation. Every
 * mutant is refused with a message or compiled; what panics, crashes, hangs or leaks is a fault.
 *     ir_mutants SEED COUNT KERNEL.gemm...   seeds from SEED on; COUNT 0: until SECONDS are up
 *     ir_mutants -s SECONDS ...              stop after so long
 *     ir_mutants -p SEED KERNEL.gemm...      print the mutant of this seed
 * A kernel may be followed by consts: schedules.gemm:R=pingpong,P=on
 * Each kernel is compiled, and the text after each pass is what mutants are made of: up to three
 * changes of a number, name, list, attribute, statement or block, which come from others too. */
#include "driver/compile.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXTS_MAX = 4096, LINES_MAX = 4096, HANG_SECONDS = 60, CHANGES = 3 };

typedef struct {
	const char *at[LINES_MAX];
	int n;
} Lines;

static const char *texts[TEXTS_MAX];
static int ntexts;
static Arena *arena; /* of one mutant */
static uint64_t state;
static volatile uint64_t current;

/* ------------------------------------------------------------------ random numbers */
static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static int below(int n)
{
	return (int)(next() % (uint64_t)n);
}

/* ------------------------------------------------------------------ texts */
static Lines lines_of(const char *text)
{
	Lines l = {.n = 0};
	while (*text && l.n < LINES_MAX) {
		size_t n = strcspn(text, "\n");
		if (n)
			l.at[l.n++] = arena_strndup(arena, text, n);
		text += n + (text[n] == '\n');
	}
	return l;
}

static const char *join(const Lines *l)
{
	Buf b = {0};
	for (int i = 0; i < l->n; i++)
		buf_printf(&b, "%s\n", l->at[i]);
	const char *s = arena_strndup(arena, b.s ? b.s : "", b.n);
	buf_free(&b);
	return s;
}

static char last_of(const char *line)
{
	size_t n = strlen(line);
	return n ? line[n - 1] : 0;
}

/* The line after the statement that begins at i: its whole block, if it has one. */
static int end_of(const Lines *l, int i)
{
	int depth = 0;
	do {
		depth += last_of(l->at[i]) == '{';
		depth -= last_of(l->at[i]) == '}';
		i++;
	} while (depth > 0 && i < l->n);
	return i;
}

/* A statement: no closing brace, and not the kernel's own line. */
static int pick(const Lines *l)
{
	for (int tries = 0; tries < 20 && l->n > 2; tries++) {
		int i = 1 + below(l->n - 1);
		if (last_of(l->at[i]) != '}')
			return i;
	}
	return 0;
}

static void cut(Lines *l, int from, int to)
{
	memmove(&l->at[from], &l->at[to], sizeof l->at[0] * (size_t)(l->n - to));
	l->n -= to - from;
}

static void paste(Lines *l, int at, const char *const *lines, int n)
{
	if (l->n + n > LINES_MAX)
		return;
	memmove(&l->at[at + n], &l->at[at], sizeof l->at[0] * (size_t)(l->n - at));
	memcpy(&l->at[at], lines, sizeof l->at[0] * (size_t)n);
	l->n += n;
}

/* ------------------------------------------------------------------ words of a line */
typedef struct {
	int begin, n;
} Word;

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '%';
}

/* A random word for which `fits`; n == 0 where there is none. */
static Word word_of(const char *line, bool (*fits)(const char *s, int n))
{
	Word found = {0, 0};
	int seen = 0;
	for (int i = 0; line[i];) {
		int n = 0;
		while (line[i + n] && in_word(line[i + n]))
			n++;
		if (n && fits(line + i, n) && below(++seen) == 0)
			found = (Word){i, n};
		i += n ? n : 1;
	}
	return found;
}

static bool is_number(const char *s, int n)
{
	for (int i = 0; i < n; i++)
		if (!isdigit((unsigned char)s[i]))
			return false;
	return true;
}

static bool is_name(const char *s, int n)
{
	(void)n;
	return !isdigit((unsigned char)*s);
}

static bool is_key(const char *s, int n)
{
	return s[n] == '=' && s[n + 1] != ' ' && s[n + 1] != '=';
}

static void replace(Lines *l, int i, Word w, const char *with)
{
	l->at[i] =
		arena_printf(arena, "%.*s%s%s", w.begin, l->at[i], with, l->at[i] + w.begin + w.n);
}

/* ------------------------------------------------------------------ changes */
static void change_number(Lines *l)
{
	static const char *const odd[] = {"0",
					  "1",
					  "2",
					  "3",
					  "5",
					  "7",
					  "8",
					  "16",
					  "24",
					  "31",
					  "32",
					  "63",
					  "64",
					  "127",
					  "128",
					  "192",
					  "255",
					  "256",
					  "512",
					  "1023",
					  "4096",
					  "2147483647",
					  "2147483648",
					  "4294967296",
					  "65536",
					  "-1",
					  "-2147483649",
					  "4611686018427387904",
					  "9223372036854775807"};
	int i = below(l->n);
	Word w = word_of(l->at[i], is_number);
	long long n = w.n ? strtoll(l->at[i] + w.begin, NULL, 10) : 0;
	if (!w.n)
		return;
	switch (below(5)) {
	case 0:
		replace(l, i, w, arena_printf(arena, "%lld", n / 2));
		break;
	case 1:
		replace(l, i, w, arena_printf(arena, "%lld", n > 1000000 ? n - 1 : n * 2));
		break;
	case 2:
		replace(l, i, w, arena_printf(arena, "%lld", n - 1));
		break;
	default:
		replace(l, i, w, odd[below(COUNTOF(odd))]);
	}
}

static void change_name(Lines *l)
{
	int i = below(l->n), j = below(l->n);
	Word w = word_of(l->at[i], is_name), from = word_of(l->at[j], is_name);
	if (w.n && from.n)
		replace(l, i, w, arena_strndup(arena, l->at[j] + from.begin, (size_t)from.n));
}

/* The first word of a statement, or the one after '=', by any op of any stage. */
static void change_op(Lines *l)
{
	int i = pick(l);
	const char *eq = strstr(l->at[i], " = ");
	int begin = eq ? (int)(eq + 3 - l->at[i]) : (int)strspn(l->at[i], " "), n = 0;
	while (in_word(l->at[i][begin + n]))
		n++;
	replace(l, i, (Word){begin, n}, op_rows[below(OP_COUNT)].name);
}

static void change_kind(Lines *l)
{
	static const char *const words[] = {"tile", "warp", "ptx",    "bf16", "f16",    "f32",
					    "i32",  "i64",  "global", "reg",  "shared", "out"};
	int i = below(l->n);
	Word w = word_of(l->at[i], is_name);
	if (w.n)
		replace(l, i, w, words[below(COUNTOF(words))]);
}

static void drop_attribute(Lines *l)
{
	int i = below(l->n);
	Word w = word_of(l->at[i], is_key);
	int depth = 0, n = w.n;
	if (!w.n)
		return;
	for (const char *s = l->at[i] + w.begin; s[n]; n++) {
		depth += s[n] == '(';
		depth -= s[n] == ')';
		if (depth < 0 || (depth == 0 && s[n] == ' '))
			break;
	}
	replace(l, i, (Word){w.begin, n}, "");
}

static void add_attribute(Lines *l)
{
	static const char *const values[] = {"0",          "1",  "3", "128",  "(1,2)", "(0,0)",
					     "(64,64,64)", "on", "m", "sync", "ab"};
	int i = below(l->n);
	const char *s = l->at[i], *more;
	more = arena_printf(arena, " %s=%s", attr_rows[below(A_COUNT)].name,
			    values[below(COUNTOF(values))]);
	if (last_of(s) == '{')
		l->at[i] = arena_printf(arena, "%.*s%s {", (int)strlen(s) - 2, s, more);
	else
		l->at[i] = arena_printf(arena, "%s%s", s, more);
}

/* From a comma to the end of its list. */
static int rest_of_list(const char *s)
{
	int n = 0;
	for (int depth = 0; s[n] && (depth || s[n] != ')'); n++)
		depth += (s[n] == '(') - (s[n] == ')');
	return n;
}

/* What stands before a comma once less, once more or many times more, or nothing after it. */
static void change_list(Lines *l)
{
	int i = below(l->n), comma = -1, seen = 0, depth = 0;
	const char *s = l->at[i];
	for (int k = 0; s[k]; k++)
		if (s[k] == ',' && below(++seen) == 0)
			comma = k;
	int from = comma;
	for (; from > 0 && (depth || (s[from - 1] != '(' && s[from - 1] != ',')); from--)
		depth += (s[from - 1] == ')') - (s[from - 1] == '(');
	Word w = {from, comma + 1 - from};
	const char *item = comma < 0 ? "" : arena_printf(arena, "%.*s", w.n, s + from);
	const char *instead[] = {"", arena_printf(arena, "%s%s", item, item),
				 arena_printf(arena, "%s%s%s%s%s", item, item, item, item, item)};
	int how = below(4);
	if (comma >= 0 && how == 3)
		replace(l, i, (Word){comma, rest_of_list(s + comma)}, "");
	else if (comma >= 0)
		replace(l, i, w, instead[how]);
}

static void drop_statement(Lines *l)
{
	int i = pick(l);
	if (i)
		cut(l, i, end_of(l, i));
}

/* Its body stays. */
static void unwrap_statement(Lines *l)
{
	int i = pick(l), end = end_of(l, i);
	if (!i || end - i < 2)
		return;
	cut(l, end - 1, end);
	cut(l, i, i + 1);
}

static void move_statement(Lines *l, const Lines *from, bool keep)
{
	Lines part = {.n = 0};
	int i = pick(from), end = i ? end_of(from, i) : 0;
	for (int j = i; j < end; j++)
		part.at[part.n++] = from->at[j];
	if (!keep)
		cut(l, i, end);
	if (i && l->n > 1)
		paste(l, 1 + below(l->n - 1), part.at, part.n);
}

static void change(Lines *l)
{
	Lines other;
	switch (below(15)) {
	case 0:
	case 1:
	case 2:
		change_number(l);
		break;
	case 3:
	case 4:
		change_name(l);
		break;
	case 5:
		change_op(l);
		break;
	case 6:
		change_kind(l);
		break;
	case 7:
		drop_attribute(l);
		break;
	case 8:
		add_attribute(l);
		break;
	case 9:
		drop_statement(l);
		break;
	case 10:
		unwrap_statement(l);
		break;
	case 11:
		move_statement(l, l, false);
		break;
	case 12:
		move_statement(l, l, true);
		break;
	case 13:
		change_list(l);
		break;
	default:
		other = lines_of(texts[below(ntexts)]);
		move_statement(l, &other, true);
	}
}

static const char *mutant(uint64_t seed)
{
	state = seed * 0x2545f4914f6cdd1du;
	Lines l = lines_of(texts[below(ntexts)]);
	for (int n = 1 + below(CHANGES); n > 0 && l.n > 2; n--)
		change(&l);
	return join(&l);
}

/* ------------------------------------------------------------------ a run */
typedef struct {
	Ctx *ctx;
	Source source;
	CompileOpt opt;
	CompileOut out;
} Run;

static void compile(void *user)
{
	Run *r = user;
	compile_run(r->ctx, &r->source, &r->opt, &r->out);
}

static Run run_new(const char *name, const char *text, bool is_ir)
{
	return (Run){.ctx = ctx_new(),
		     .source = {name, text, strlen(text), .is_ir = is_ir},
		     .opt = {.emit = EMIT_BIT(EMIT_PTX),
			     .ir_after = AFTER_LAST,
			     .stop_after = AFTER_LAST,
			     .only = -1,
			     .cg = {.opt_level = 2}}};
}

/* True unless it panicked, or failed without a word. */
static bool survives(uint64_t seed, const char *text)
{
	char why[512];
	Buf said = {0};
	Run r = run_new("mutant.ir", text, true);
	bool ok = rescue(compile, &r, why, sizeof why);
	if (!ok) {
		why[strcspn(why, "\n")] = 0;
		printf("seed %llu: %s\n", (unsigned long long)seed, why);
	} else {
		diag_text(r.ctx, &said, false);
		diag_json(r.ctx, &said);
		compile_out_free(&r.out);
	}
	if (ok && r.out.exit_code && !said.n) {
		printf("seed %llu: failed without a word\n", (unsigned long long)seed);
		ok = false;
	}
	buf_free(&said);
	ctx_free(r.ctx);
	fflush(stdout);
	return ok;
}

static void take_text(void *user, const Kernel *k, const char *pass, bool changed)
{
	Buf b = {0};
	(void)user;
	if ((!changed && strcmp(pass, "frontend") != 0) || ntexts == TEXTS_MAX)
		return;
	kernel_print(k, &b);
	texts[ntexts++] = strdup(b.s);
	buf_free(&b);
}

static char *read_text(const char *path)
{
	char *text = calloc(1, 1 << 20);
	FILE *f = fopen(path, "r");
	if (!text || !f || fread(text, 1, (1 << 20) - 1, f) == 0) {
		fprintf(stderr, "%s cannot be read\n", path);
		exit(2);
	}
	fclose(f);
	return text;
}

/* "schedules.gemm:R=pingpong,P=on" */
static void take_texts(char *path)
{
	const char *defines[16];
	int n = 0;
	for (char *s = strpbrk(path, ":,"); s && n < 16; s = strchr(s, ',')) {
		*s++ = 0;
		defines[n++] = s;
	}
	char *text = read_text(path);
	const char *dot = strrchr(path, '.');
	Run r = run_new(path, text, dot && !strcmp(dot, ".ir"));
	r.opt.after = take_text;
	r.opt.compares = true;
	r.opt.defines = defines;
	r.opt.ndefines = n;
	compile(&r);
	compile_out_free(&r.out);
	ctx_free(r.ctx);
	free(text);
}

static void on_end(int sig)
{
	char line[64];
	int n = snprintf(line, sizeof line, "seed %llu: signal %d\n", (unsigned long long)current,
			 sig);
	ssize_t w = write(STDOUT_FILENO, line, (size_t)n);
	(void)w;
	_exit(3);
}

/* What a sanitizer finds ends in SIGABRT, so that the seed is named. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "abort_on_error=1:handle_sigill=1";
}

const char *__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

static void watch(void)
{
	signal(SIGALRM, on_end);
	signal(SIGABRT, on_end);
#ifndef __SANITIZE_ADDRESS__
	signal(SIGSEGV, on_end);
	signal(SIGFPE, on_end);
#endif
}

int main(int argc, char **argv)
{
	double limit = 1e9, start = now_seconds();
	bool show = false;
	int at = 1, failed = 0;
	for (; at < argc && argv[at][0] == '-'; at++) {
		show = show || !strcmp(argv[at], "-p");
		if (!strcmp(argv[at], "-s") && at + 1 < argc)
			limit = atof(argv[++at]);
	}
	uint64_t seed = at < argc ? strtoull(argv[at++], NULL, 0) : 0;
	uint64_t count = show || at >= argc ? 1 : strtoull(argv[at++], NULL, 0), done = 0;
	for (; at < argc; at++)
		take_texts(argv[at]);
	if (!ntexts)
		return 2;
	watch();
	for (; (!count || done < count) && now_seconds() - start < limit; done++) {
		arena = arena_new();
		current = seed + done;
		const char *text = mutant(seed + done);
		alarm(HANG_SECONDS);
		if (show)
			fputs(text, stdout);
		fflush(stdout);
		failed += !survives(seed + done, text);
		arena_free(arena);
	}
	for (int i = 0; i < ntexts; i++)
		free((void *)(uintptr_t)texts[i]);
	printf("%llu mutants of %d texts, %d failed\n", (unsigned long long)done, ntexts, failed);
	return failed != 0;
}
