/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* table.c - values and rules as text; the head of words.txt says what its lines are. */
#include "table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool value_is(const Value *v, const char *name)
{
	bool is = !strcmp(v->name, name);
	for (int i = 0; i < v->nclasses; i++)
		is = is || !strcmp(v->class[i], name);
	return is;
}

static void stop(const char *what, const char *text)
{
	fprintf(stderr, "matrix: %s: %s\n", what, text);
	exit(2);
}

static void push(Ctx *c, const char **list, int *n, const char *text)
{
	if (*n == TEXTS_MOST)
		stop("too many words", text);
	list[(*n)++] = ctx_str(c, text);
}

/* "+wgmma", "tests/e2e/blend.gemm", "M=64,N=64", or a word of the schedule */
static void take(Ctx *c, Value *v, const char *word)
{
	if (*word == '+')
		push(c, v->class, &v->nclasses, word + 1);
	else if (strstr(word, ".gemm"))
		v->file = ctx_str(c, word);
	else if (isupper((unsigned char)*word))
		push(c, v->sizes, &v->nsizes, word);
	else
		push(c, v->word, &v->nwords, word);
}

/* "FACTOR NAME WORDS"; a factor's lines follow each other */
static void read_value(Ctx *c, Table *t, const char *factor, char *rest)
{
	if (t->nvalues == VALUES_MOST)
		stop("too many values", factor);
	Value *v = &t->value[t->nvalues++];
	*v = (Value){.factor = ctx_str(c, factor)};
	for (int i = 0; i < t->nvalues; i++)
		v->at = strcmp(t->value[i].factor, factor) ? v->at : t->value[i].at;
	if (v->at == 0 && strcmp(factor, "program"))
		v->at = ++t->nfactors;
	char *name = strtok_r(rest, " ", &rest), *word;
	v->name = ctx_str(c, name ? name : "");
	while ((word = strtok_r(NULL, " ", &rest)))
		take(c, v, word);
}

/* "OLD => NEW | OLD => NEW" of the program above */
static void read_edits(Ctx *c, Table *t, char *line)
{
	Value *v = &t->value[t->nvalues - 1];
	for (char *bar = line; bar; line = bar + 3) {
		char *arrow = strstr(line, " => ");
		if (!arrow || v->nedits == TEXTS_MOST)
			stop("not a change of a program, or too many", line);
		if ((bar = strstr(arrow, " | ")))
			*bar = '\0';
		v->from[v->nedits] = ctx_strn(c, line, (size_t)(arrow - line));
		v->to[v->nedits++] = ctx_str(c, arrow + 4);
		if (!bar)
			break;
	}
}

static void read_line(Ctx *c, Table *t, char *line)
{
	char *rest = line, *copy = line;
	if (*line == '\t') {
		read_edits(c, t, line + 1);
		return;
	}
	char *first = strtok_r(copy, " ", &rest);
	if (strcmp(first, "no") && strcmp(first, "instead")) {
		read_value(c, t, first, rest);
		return;
	}
	Rule *r = strcmp(first, "no") ? &t->instead : &t->rule[t->nrules++];
	r->codes = ctx_str(c, strtok_r(NULL, " ", &rest));
	r->name = ctx_str(c, strtok_r(NULL, " ", &rest));
	r->values = ctx_str(c, rest);
}

void table_read(Ctx *c, Table *t, const char *file)
{
	char line[2048];
	FILE *f = fopen(file, "r");
	if (!f)
		stop("cannot be read", file);
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && line[strspn(line, "\t")] != '#')
			read_line(c, t, line);
	}
	fclose(f);
}

static void keep_apart(Table *t, const Rule *r, const char *with)
{
	int met = 0;
	for (int i = 0; i < t->nvalues; i++)
		for (int j = 0; j < t->nvalues && value_is(&t->value[i], r->name); j++)
			if (value_is(&t->value[j], with)) {
				t->apart[i][j] = t->apart[j][i] = true;
				met++;
			}
	if (!met)
		stop("no such value or class", with);
}

void table_join(Table *t)
{
	for (int i = 0; i < t->nrules; i++) {
		char text[1024], *rest = text;
		snprintf(text, sizeof text, "%s", t->rule[i].values);
		for (char *with; (with = strtok_r(rest, " ", &rest));)
			keep_apart(t, &t->rule[i], with);
	}
	t->nfactors++;
}
