/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* json.h - JSON with json-c: building it, an object, a key, a value, and reading what may be of any
 * form. The object owns what is put into it. Lack of memory panics.
 *     json_put_int(o, "bytes", 49152)  ->  {"bytes":49152} */
#ifndef DSL_CODEGEN_JSON_H
#define DSL_CODEGEN_JSON_H

#include "base/base.h"

#include <json-c/json.h>

json_object *json_new(void);
void json_end(json_object *o, Buf *out);                            /* its text, and it is gone */
void json_line(json_object *o, Buf *out);                           /* likewise, on one line */
void json_put_text(json_object *o, const char *key, const char *s); /* s NULL: null */
void json_put_int(json_object *o, const char *key, int64_t v);
void json_put_real(json_object *o, const char *key, double v); /* to nine digits */
void json_put_bool(json_object *o, const char *key, bool v);
json_object *json_put_object(json_object *o, const char *key); /* a new one */
json_object *json_put_array(json_object *o, const char *key);
void json_add_text(json_object *array, const char *s);
void json_add_int(json_object *array, int64_t v);
json_object *json_add_object(json_object *array);
json_object *json_add_array(json_object *array);
void json_put(json_object *o, const char *key, json_object *v); /* takes v */

/* Reading: o may be NULL or no object; then, and where the value is of another kind: NULL, none. */
json_object *json_get(json_object *o, const char *key);
json_object *json_get_array(json_object *o, const char *key, size_t *n);  /* n 0: none */
const char *json_get_text(json_object *o, const char *key, size_t *size); /* size may be NULL */
int64_t json_get_int(json_object *o, const char *key, int64_t otherwise);

/* A text that is one JSON value and nothing else, at most this deep; NULL: it is not. */
json_object *json_read(const char *text, size_t size, int depth);

#endif
