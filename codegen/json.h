/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* json.h - building JSON with json-c: an object, a key, a value. The object owns what is put into
 * it. Lack of memory panics.
 *     json_put_int(o, "bytes", 49152)  ->  {"bytes":49152} */
#ifndef DSL_CODEGEN_JSON_H
#define DSL_CODEGEN_JSON_H

#include "ir/base.h"

#include <json-c/json.h>

json_object *json_new(void);
void json_end(json_object *o, Buf *out);                            /* its text, and it is gone */
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

#endif
