/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* json.c - json-c's calls, checked. */
#include "codegen/json.h"

#include <stdio.h>

static json_object *must(json_object *o)
{
	if (!o)
		panic("out of memory");
	return o;
}

json_object *json_new(void)
{
	return must(json_object_new_object());
}

void json_end(json_object *o, Buf *out)
{
	const char *s = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
								  JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!s)
		panic("out of memory");
	buf_printf(out, "%s\n", s);
	json_object_put(o);
}

static void json_put(json_object *o, const char *key, json_object *v)
{
	if (json_object_object_add(o, key, v))
		panic("out of memory");
}

void json_put_text(json_object *o, const char *key, const char *s)
{
	json_put(o, key, s ? must(json_object_new_string(s)) : NULL);
}

void json_put_int(json_object *o, const char *key, int64_t v)
{
	json_put(o, key, must(json_object_new_int64(v)));
}

void json_put_real(json_object *o, const char *key, double v)
{
	char text[32];
	snprintf(text, sizeof text, "%.9g", v);
	json_put(o, key, must(json_object_new_double_s(v, text)));
}

void json_put_bool(json_object *o, const char *key, bool v)
{
	json_put(o, key, must(json_object_new_boolean(v)));
}

json_object *json_put_object(json_object *o, const char *key)
{
	json_object *v = json_new();
	json_put(o, key, v);
	return v;
}

json_object *json_put_array(json_object *o, const char *key)
{
	json_object *v = must(json_object_new_array());
	json_put(o, key, v);
	return v;
}

static void json_add(json_object *array, json_object *v)
{
	if (json_object_array_add(array, v))
		panic("out of memory");
}

void json_add_text(json_object *array, const char *s)
{
	json_add(array, must(json_object_new_string(s)));
}

void json_add_int(json_object *array, int64_t v)
{
	json_add(array, must(json_object_new_int64(v)));
}

json_object *json_add_object(json_object *array)
{
	json_object *o = json_new();
	json_add(array, o);
	return o;
}

json_object *json_add_array(json_object *array)
{
	json_object *a = must(json_object_new_array());
	json_add(array, a);
	return a;
}
