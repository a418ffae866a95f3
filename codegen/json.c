/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* json.c - json-c's calls, checked. */
#include "codegen/json.h"

#include <stdio.h>
#include <string.h>

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

static void print(json_object *o, int form, Buf *out)
{
	const char *s = json_object_to_json_string_ext(o, form | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!s)
		panic("out of memory");
	buf_printf(out, "%s", s);
	json_object_put(o);
}

void json_end(json_object *o, Buf *out)
{
	print(o, JSON_C_TO_STRING_PRETTY, out);
	buf_printf(out, "\n");
}

void json_line(json_object *o, Buf *out)
{
	print(o, JSON_C_TO_STRING_PLAIN, out);
}

void json_put(json_object *o, const char *key, json_object *v)
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

/* ------------------------------------------------------------------ reading */
json_object *json_get(json_object *o, const char *key)
{
	json_object *v = NULL;
	if (!json_object_is_type(o, json_type_object))
		return NULL;
	return json_object_object_get_ex(o, key, &v) ? v : NULL;
}

json_object *json_get_array(json_object *o, const char *key, size_t *n)
{
	json_object *v = json_get(o, key);
	bool is = json_object_is_type(v, json_type_array);
	*n = is ? json_object_array_length(v) : 0;
	return is ? v : NULL;
}

const char *json_get_text(json_object *o, const char *key, size_t *size)
{
	json_object *v = json_get(o, key);
	if (!json_object_is_type(v, json_type_string))
		return NULL;
	if (size)
		*size = (size_t)json_object_get_string_len(v);
	return json_object_get_string(v);
}

int64_t json_get_int(json_object *o, const char *key, int64_t otherwise)
{
	json_object *v = json_get(o, key);
	return json_object_is_type(v, json_type_int) ? json_object_get_int64(v) : otherwise;
}

json_object *json_read(const char *text, size_t size, int depth)
{
	json_tokener *tok = size && size < INT32_MAX ? json_tokener_new_ex(depth) : NULL;
	if (!tok)
		return NULL;
	while (size && strchr(" \t\r\n", text[size - 1]) && text[size - 1])
		size--;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	json_object *o = json_tokener_parse_ex(tok, text, (int)size);
	if (json_tokener_get_error(tok) != json_tokener_success ||
	    json_tokener_get_parse_end(tok) != size) {
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(tok);
	return o;
}
