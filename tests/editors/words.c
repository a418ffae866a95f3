/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* words.c - the words of the language's tables, a line each: class and word, for words.py. */
#include "ir/schedule.h"

#include <stdio.h>

static void say(const char *class, const char *word)
{
	printf("%s %s\n", class, word);
}

int main(void)
{
#define KEYWORD(id, text, what)      say("keyword", text);
#define TEMPLATE(text, what)         say("template", text);
#define INNER(id, text, what)        say("inner", text);
#define CALL(id, text, what)         say("call", text);
#define SUM(text, form, every, what) say("sum", text);
#include "frontend/words.def"
	for (int i = 0; i < CLAUSE_COUNT; i++)
		say("clause", clause_rows[i].word);
	for (int i = 0; i < clause_words_count; i++)
		say("word", clause_words[i].word);
	for (int i = 0; i < EL_COUNT; i++)
		say("type", elem_rows[i].name);
	for (int i = 0; i < EL_COUNT; i++)
		if (elem_rows[i].also)
			say("type", elem_rows[i].also);
	for (int i = 0; i < LAYOUT_OP_COUNT; i++)
		say("layout", layout_op_rows[i].name);
#define ELT(id, name, ...) say("elementwise", name);
#include "ir/elementwise.def"
	return 0;
}
