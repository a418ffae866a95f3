/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* answer.c - what the server answers of an open file, in the forms of the protocol. */
#include "driver/lsp/lsp.h"

#include <string.h>

/* ------------------------------------------------------------------ places */
static void put_position(json_object *range, const char *key, const Buf *text, int offset)
{
	int64_t line, character;
	json_object *o = json_put_object(range, key);
	text_position(text, (size_t)offset, &line, &character);
	json_put_int(o, "line", line);
	json_put_int(o, "character", character);
}

static void put_range(json_object *o, const char *key, const Buf *text, int begin, int end)
{
	json_object *range = json_put_object(o, key);
	put_position(range, "start", text, begin);
	put_position(range, "end", text, end);
}

/* A message about something else than the file stands at its start. */
static void put_loc(json_object *o, const Doc *d, Loc loc)
{
	bool here = loc.src == 0;
	put_range(o, "range", &d->text, here ? loc.begin : 0, here ? loc.end : 0);
}

static size_t offset_of(const Doc *d, json_object *position)
{
	return text_offset(&d->text, json_get_int(position, "line", 0),
			   json_get_int(position, "character", 0));
}

static size_t offset_asked(const Doc *d, json_object *params)
{
	return offset_of(d, json_get(params, "position"));
}

/* ------------------------------------------------------------------ diagnostics */
static void put_note(json_object *list, const Doc *d, const DiagMsg *n)
{
	json_object *o = json_add_object(list), *where = json_put_object(o, "location");
	json_put_text(where, "uri", d->uri);
	put_loc(where, d, n->loc);
	json_put_text(o, "message", n->text);
}

static void put_message(json_object *o, const Doc *d, const DiagMsg *m)
{
	static const int severities[SEV_COUNT] = {[SEV_ERROR] = 1,
						  [SEV_WARNING] = 2,
						  [SEV_NOTE] = 3};
	Buf text = {0};
	put_loc(o, d, m->loc);
	json_put_int(o, "severity", severities[m->severity]);
	json_put_text(o, "code", diag_rows[m->id].code);
	json_put_text(o, "source", "dslc");
	buf_printf(&text, "%s", m->text);
	if (m->remedy)
		buf_printf(&text, "\nhelp: %s", m->remedy);
	json_put_text(o, "message", text.s);
	buf_free(&text);
	if (!m->notes)
		return;
	json_object *notes = json_put_array(o, "relatedInformation");
	for (const DiagMsg *n = m->notes; n; n = n->next)
		put_note(notes, d, n);
}

json_object *answer_diagnostics(const Doc *d)
{
	json_object *o = json_new(), *list = json_put_array(o, "diagnostics");
	json_put_text(o, "uri", d->uri);
	json_put_int(o, "version", d->version);
	for (const DiagMsg *m = d->know ? diag_first(d->know->c) : NULL; m; m = m->next)
		put_message(json_add_object(list), d, m);
	return o;
}

/* ------------------------------------------------------------------ fixes */
static bool touches(const Doc *d, const DiagMsg *m, json_object *range)
{
	size_t begin = offset_of(d, json_get(range, "start")),
	       end = offset_of(d, json_get(range, "end"));
	return m->loc.src == 0 && begin <= (size_t)m->loc.end && (size_t)m->loc.begin <= end;
}

static void put_edits(json_object *action, const Doc *d, const DiagEdit *fix)
{
	json_object *changes = json_put_object(json_put_object(action, "edit"), "changes"),
		    *list = json_put_array(changes, d->uri);
	for (const DiagEdit *e = fix; e; e = e->next) {
		json_object *o = json_add_object(list);
		put_range(o, "range", &d->text, e->loc.begin, e->loc.end);
		json_put_text(o, "newText", e->text);
	}
}

/* The list alone, taken out of the object that made it. */
static json_object *only(json_object *o, const char *key)
{
	json_object *list = json_object_get(json_get(o, key));
	json_object_put(o);
	return list;
}

json_object *answer_actions(const Doc *d, json_object *params)
{
	json_object *o = json_new(), *list = json_put_array(o, "actions");
	for (const DiagMsg *m = d->know ? diag_first(d->know->c) : NULL; m; m = m->next) {
		if (!m->fix || !touches(d, m, json_get(params, "range")))
			continue;
		json_object *action = json_add_object(list);
		json_put_text(action, "title", m->remedy);
		json_put_text(action, "kind", "quickfix");
		put_message(json_add_object(json_put_array(action, "diagnostics")), d, m);
		json_put_bool(action, "isPreferred", true);
		put_edits(action, d, m->fix);
	}
	return only(o, "actions");
}

/* ------------------------------------------------------------------ hover, definition */
json_object *answer_hover(const Doc *d, json_object *params)
{
	Buf text = {0};
	size_t offset = offset_asked(d, params), begin, end;
	hover_text(d->know, &d->text, offset, &text);
	json_object *o = text.n ? json_new() : NULL;
	if (o) {
		json_object *contents = json_put_object(o, "contents");
		json_put_text(contents, "kind", "markdown");
		json_put_text(contents, "value", text.s);
		if (text_word(&d->text, offset, &begin, &end))
			put_range(o, "range", &d->text, (int)begin, (int)end);
	}
	buf_free(&text);
	return o;
}

json_object *answer_definition(const Doc *d, json_object *params)
{
	const Named *n = d->know ? know_name(d->know, offset_asked(d, params)) : NULL;
	if (!n || d->know->names.at[n->decl].at.src != 0)
		return NULL;
	json_object *o = json_new();
	json_put_text(o, "uri", d->uri);
	put_loc(o, d, d->know->names.at[n->decl].at);
	return o;
}

/* ------------------------------------------------------------------ formatting */
/* The whole file as one edit; none where nothing changes, null where it does not parse. */
json_object *answer_formatting(const Doc *d)
{
	Ctx *c = ctx_new();
	Buf text = {0};
	json_object *o = json_new(), *list = json_put_array(o, "edits");
	bool ok = frontend_format(c, ctx_src(c, d->path, d->text.s ? d->text.s : "", d->text.n),
				  &text);
	if (ok && (text.n != d->text.n || memcmp(text.s, d->text.s, text.n) != 0)) {
		json_object *edit = json_add_object(list);
		put_range(edit, "range", &d->text, 0, (int)d->text.n);
		json_put_text(edit, "newText", text.s);
	}
	buf_free(&text);
	ctx_free(c);
	list = only(o, "edits");
	if (ok)
		return list;
	json_object_put(list);
	return NULL;
}

/* ------------------------------------------------------------------ completion */
enum {
	ITEM_FUNCTION = 3,
	ITEM_VARIABLE = 6,
	ITEM_KEYWORD = 14,
	ITEM_CONSTANT = 21,
	ITEM_TYPE = 25
};

static void add_item(json_object *list, const char *label, int kind, const char *detail)
{
	json_object *o = json_add_object(list);
	json_put_text(o, "label", label);
	json_put_int(o, "kind", kind);
	if (detail && *detail)
		json_put_text(o, "detail", detail);
}

static void add_names(json_object *list, const Doc *d, size_t offset)
{
	const Know *k = d->good ? d->good : d->know;
	for (int i = 0; k && i < k->names.n; i++) {
		const Named *n = &k->names.at[i];
		Buf detail = {0};
		if (!know_sees(k, n, offset) || !strcmp(n->kind, "a mistake"))
			continue;
		buf_printf(&detail, "%s%s%s", n->kind, *n->text ? ": " : "", n->text);
		add_item(list, n->name,
			 strcmp(n->kind, "an integer") ? ITEM_VARIABLE : ITEM_CONSTANT, detail.s);
		buf_free(&detail);
	}
}

static void add_types(json_object *list)
{
	for (int e = 0; e < EL_COUNT; e++)
		if (elem_rows[e].spoken)
			add_item(list, elem_rows[e].name, ITEM_TYPE, "an element type");
}

static void add_functions(json_object *list)
{
	for (int i = 0; i < LAYOUT_OP_COUNT; i++)
		add_item(list, layout_op_rows[i].name, ITEM_FUNCTION, layout_op_rows[i].doc);
#define ELT(id, name, ...) add_item(list, name, ITEM_FUNCTION, "an elementwise operation");
#include "ir/elementwise.def"
#define TEMPLATE(text, what)         add_item(list, text, ITEM_FUNCTION, what);
#define CALL(id, text, what)         add_item(list, text, ITEM_FUNCTION, what);
#define SUM(text, form, every, what) add_item(list, text, ITEM_FUNCTION, what);
#include "frontend/words.def"
}

static void add_keywords(json_object *list)
{
#define KEYWORD(id, text, what) add_item(list, text, ITEM_KEYWORD, what);
#include "frontend/words.def"
}

static void add_clauses(json_object *list)
{
	for (int i = 0; i < CLAUSE_COUNT; i++)
		add_item(list, clause_rows[i].word, ITEM_KEYWORD, clause_rows[i].example);
}

/* The words of one clause; those that no table gives to a clause stand in each. */
static void add_clause_words(json_object *list, const char *clause)
{
	EACH_OF(const ClauseWord, w, clause_words, clause_words_count)
		if (!strcmp(clause_rows[w->clause].word, clause))
			add_item(list, w->word, ITEM_CONSTANT, "a word of the schedule");
#define INNER(id, text, what) add_item(list, text, ITEM_KEYWORD, what);
#include "frontend/words.def"
}

json_object *answer_completion(const Doc *d, json_object *params)
{
	Buf clause = {0};
	size_t offset = offset_asked(d, params);
	TextPlace place = text_place(&d->text, offset, &clause);
	json_object *o = json_new(), *list = json_put_array(o, "items");
	json_put_bool(o, "isIncomplete", false);
	if (place == IN_SCHEDULE)
		add_clauses(list);
	if (place == IN_CLAUSE)
		add_clause_words(list, clause.s);
	if (place == IN_TYPE || place == IN_CODE)
		add_types(list);
	if (place != IN_COMMENT && place != IN_SCHEDULE)
		add_names(list, d, offset);
	if (place == IN_CODE || place == IN_TYPE)
		add_functions(list);
	if (place == IN_CODE)
		add_keywords(list);
	else if (place == IN_TYPE)
		add_item(list, "out", ITEM_KEYWORD, "the kernel writes this tensor");
	buf_free(&clause);
	return o;
}
