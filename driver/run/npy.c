/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* npy.c - reads and writes .npy files: a magic, a header that is a Python dict, raw elements.
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (64, 32), } */
#include "driver/run/npy.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const NpyType types[] = {
	{"f32", "<f4", 4},  {"f64", "<f8", 8},  {"f16", "<f2", 2},  {"u8", "|u1", 1},
	{"i8", "|i1", 1},   {"s8", "|i1", 1},   {"u16", "<u2", 2},  {"i16", "<i2", 2},
	{"s16", "<i2", 2},  {"u32", "<u4", 4},  {"i32", "<i4", 4},  {"s32", "<i4", 4},
	{"u64", "<u8", 8},  {"i64", "<i8", 8},  {"s64", "<i8", 8},  {"bf16", "<u2", 2},
	{"e4m3", "|u1", 1}, {"e5m2", "|u1", 1}, {"bool", "|b1", 1}, {"s4", "|u1", 1},
	{"u4", "|u1", 1},   {"e2m1", "|u1", 1},
};

static bool is_text(const char *s, const char *text, size_t n)
{
	return strlen(s) == n && memcmp(s, text, n) == 0;
}

const NpyType *npy_type(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (is_text(types[i].word, word, n))
			return &types[i];
	return NULL;
}

static bool fail(char *why, size_t size, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return false;
}

static bool header_shape(const char *header, Npy *a)
{
	const char *s = strstr(header, "'shape':");
	s = s ? strchr(s, '(') : NULL;
	a->count = 1;
	if (!s)
		return false;
	for (s++; *s && *s != ')';) {
		char *end;
		unsigned long long n = strtoull(s, &end, 10);
		if (end == s || a->rank == 8 || n > SIZE_MAX / 16 / (a->count ? a->count : 1))
			return false;
		a->shape[a->rank++] = (size_t)n;
		a->count *= (size_t)n;
		s = end + strspn(end, ", ");
	}
	return *s == ')';
}

static bool header_read(const char *header, Npy *a, const char *path, char *why, size_t size)
{
	const char *d = strstr(header, "'descr':");
	d = d ? strchr(d + 8, '\'') : NULL;
	const char *end = d ? strchr(d + 1, '\'') : NULL;
	if (!end || !header_shape(header, a))
		return fail(why, size, "%s: its header is not that of an array", path);
	if (!strstr(header, "'fortran_order': False"))
		return fail(why, size, "%s: only arrays in C order are read", path);
	for (size_t i = sizeof types / sizeof *types; i-- > 0;)
		if (is_text(types[i].code, d + 1, (size_t)(end - d - 1)))
			a->type = &types[i];
	if (!a->type)
		return fail(why, size, "%s: elements of type %.*s are not known", path,
			    (int)(end - d - 1), d + 1);
	a->bytes = a->count * a->type->bytes;
	return true;
}

static bool body_read(FILE *f, const char *path, Npy *a, char *why, size_t size)
{
	unsigned char magic[12];
	char header[65536];
	if (fread(magic, 1, 10, f) != 10 || memcmp(magic, "\x93NUMPY", 6) != 0)
		return fail(why, size, "%s is not a .npy file", path);
	size_t n = magic[8] | (size_t)magic[9] << 8;
	if (magic[6] > 1 && (fread(magic + 10, 1, 2, f) != 2 || magic[10] || magic[11]))
		return fail(why, size, "%s: its header is too long", path);
	if (n >= sizeof header || fread(header, 1, n, f) != n)
		return fail(why, size, "%s is cut short", path);
	header[n] = 0;
	if (!header_read(header, a, path, why, size))
		return false;
	a->data = malloc(a->bytes + 1);
	if (!a->data)
		return fail(why, size, "%s: no memory for %zu bytes", path, a->bytes);
	return fread(a->data, 1, a->bytes, f) == a->bytes
		       ? true
		       : fail(why, size, "%s is cut short", path);
}

bool npy_read(const char *path, Npy *out, char *why, size_t size)
{
	FILE *f = fopen(path, "rb");
	*out = (Npy){0};
	if (!f)
		return fail(why, size, "%s: %s", path, strerror(errno));
	bool ok = body_read(f, path, out, why, size);
	fclose(f);
	if (!ok) {
		free(out->data);
		out->data = NULL;
	}
	return ok;
}

bool npy_write(const char *path, const Npy *a, char *why, size_t size)
{
	char shape[256] = "", header[512];
	for (int i = 0; i < a->rank; i++)
		snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%zu,%s", a->shape[i],
			 i + 1 < a->rank ? " " : "");
	int n = snprintf(header, sizeof header,
			 "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", a->type->code,
			 shape);
	int padded = (10 + n + 1 + 63) / 64 * 64 - 10;
	FILE *f = fopen(path, "wb");
	if (!f)
		return fail(why, size, "%s: %s", path, strerror(errno));
	fprintf(f, "\x93NUMPY%c%c%c%c%-*s\n", 1, 0, padded & 255, padded >> 8, padded - 1, header);
	bool ok = fwrite(a->data, 1, a->bytes, f) == a->bytes;
	ok = fclose(f) == 0 && ok;
	return ok ? true : fail(why, size, "%s: %s", path, strerror(errno));
}
