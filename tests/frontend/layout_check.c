/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_check.c - expressions of the layout algebra against what they must give, and what they
 * must refuse.
 *     layout_check FILE    lines `EXPR -> RESULT` and `EXPR !! PART OF THE MESSAGE`;
 *                          # begins a note
 * --each: every operation must have a line of both kinds. A `?` in RESULT stands for any one
 * integer, where only the run time knows it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/frontend.h"

/* After one integer expression: at ',' ')' ':' '@' outside parentheses of its own, or at " o ". */
static const char *past_integer(const char *s)
{
	for (int depth = 0; *s; s++) {
		if (*s == '(')
			depth++;
		else if (depth == 0 && (strchr(",):@", *s) || !strncmp(s, " o ", 3)))
			break;
		else if (*s == ')')
			depth--;
	}
	return s;
}

static bool matches(const char *want, const char *got)
{
	for (; *want; want++)
		if (*want == '?') {
			const char *end = past_integer(got);
			if (end == got)
				return false;
			got = end;
		} else if (*want != *got++) {
			return false;
		}
	return !*got;
}

static bool evaluate(const char *expr, Buf *out)
{
	Ctx *c = ctx_new();
	FrontendLayout found;
	bool ok = frontend_layout(c, ctx_src(c, "fact", expr, strlen(expr)), &found);
	if (ok)
		alg_print(&found.value, out);
	else if (diag_first(c))
		buf_printf(out, "%s", diag_first(c)->text);
	ctx_free(c);
	return ok;
}

static bool check(char *line)
{
	char *sign = strstr(line, " -> "), *refused = strstr(line, " !! ");
	char *at = sign ? sign : refused;
	Buf got = {0};
	if (!at)
		return printf("no fact: %s\n", line), false;
	*at = '\0';
	bool ok = evaluate(line, &got);
	const char *want = at + 4, *text = got.s ? got.s : "";
	bool good = sign ? ok && matches(want, text) : !ok && strstr(text, want);
	if (!good)
		printf("%s\n  gave   %s%s\n  wanted %s%s\n", line, ok ? "" : "!! ", text,
		       sign ? "" : "!! ", want);
	buf_free(&got);
	return good;
}

/* Whether some line that begins with the operation's name has this sign. */
static bool covered(FILE *f, const char *name, const char *sign)
{
	char line[2048];
	size_t n = strlen(name);
	rewind(f);
	while (fgets(line, sizeof line, f))
		if (!strncmp(line, name, n) && line[n] == '(' && strstr(line, sign))
			return true;
	return false;
}

/* Every operation of the table has a fact and a refusal in this file. */
static int uncovered(FILE *f)
{
	int n = 0;
	for (int i = 0; i < LAYOUT_OP_COUNT; i++) {
		const char *name = layout_op_rows[i].name;
		bool both = covered(f, name, " -> ") && covered(f, name, " !! ");
		if (!both)
			printf("%s lacks a fact or a refusal\n", name);
		n += !both;
	}
	return n;
}

int main(int argc, char **argv)
{
	char line[2048];
	int n = 0, bad = 0;
	bool each = argc == 3 && !strcmp(argv[1], "--each");
	FILE *f = argc == 2 || each ? fopen(argv[argc - 1], "r") : NULL;
	if (!f)
		return printf("usage: layout_check [--each] FILE\n"), 2;
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		n++;
		bad += !check(line);
	}
	bad += each ? uncovered(f) : 0;
	fclose(f);
	printf("%d facts, %d wrong\n", n, bad);
	return bad || n == 0;
}
