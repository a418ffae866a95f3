/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lsp.h - private to driver/lsp*.c: the language server, in four layers: messages on a stream,
 * the text of open files, what the compiler knows of it, and answers. */
#ifndef DSL_DRIVER_LSP_H
#define DSL_DRIVER_LSP_H

#include "codegen/json.h"
#include "driver/explain/explain.h"
#include "driver/options/options.h"

/* ------------------------------------------------------------------ wire.c: messages */
typedef struct {
	Buf in;
	size_t at;   /* what is read of it */
	size_t skip; /* bytes that still come of a message that is too long */
	bool ended;
} Wire;
typedef enum { WIRE_MESSAGE, WIRE_BAD, WIRE_LONG, WIRE_NOTHING, WIRE_END } WireKind;

/* The next message, as JSON that the caller owns; NOTHING: none is there, and wait is false. BAD:
 * bytes that are none, which are dropped; LONG: one above the limit. */
WireKind wire_next(Wire *w, bool wait, json_object **out);
bool wire_send(json_object *message); /* takes it; false: the other end is gone */

/* ------------------------------------------------------------------ text.c: positions */
/* A position counts lines and UTF-16 units; what lies outside is moved to the nearest place. */
size_t text_offset(const Buf *text, int64_t line, int64_t character);
void text_position(const Buf *text, size_t offset, int64_t *line, int64_t *character);
/* The word around an offset; false: there is none. */
bool text_word(const Buf *text, size_t offset, size_t *begin, size_t *end);
char *text_path(const char *uri); /* "file:///a%20b" -> "/a b"; another uri as it is; to free */

/* What is being written at an offset. */
typedef enum { IN_CODE, IN_COMMENT, IN_SCHEDULE, IN_CLAUSE, IN_TYPE } TextPlace;
TextPlace text_place(const Buf *text, size_t offset, Buf *clause); /* clause: its first word */

/* ------------------------------------------------------------------ analysis.c: the compiler */
typedef struct {
	Ctx *c; /* the file is its source 0 */
	NamedVec names;
	Explained explained;
	FactsVec facts; /* of its kernels, if they compile */
	CompileOut out;
} Know;

Know *know_new(const Options *o, const char *path, const Buf *text);
void know_free(Know *k);                              /* may be NULL */
const Named *know_name(const Know *k, size_t offset); /* the name there, or NULL */
/* Whether a name is visible at an offset: of the file, or of the kernel around it. */
bool know_sees(const Know *k, const Named *n, size_t offset);

/* ------------------------------------------------------------------ hover.c */
/* Markdown: what the name or the word at an offset is, and what was derived of it. */
void hover_text(const Know *k, const Buf *text, size_t offset, Buf *out);

/* ------------------------------------------------------------------ answer.c */
typedef struct {
	char *uri, *path;
	Buf text;
	int64_t version;
	bool changed;      /* since it was last looked at */
	Know *know, *good; /* of the last text; of the last that had names, if another */
} Doc;

json_object *answer_hover(const Doc *d, json_object *params);
json_object *answer_definition(const Doc *d, json_object *params);
json_object *answer_completion(const Doc *d, json_object *params);
json_object *answer_formatting(const Doc *d);
json_object *answer_actions(const Doc *d, json_object *params);
json_object *answer_diagnostics(const Doc *d); /* a list */

#endif
