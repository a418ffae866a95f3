/* later.c - words that the language has and this version does not build: they are known, so that
 * the message says so instead of calling them unknown. A row leaves when its word is built. */
#include "frontend/sema.h"

#include <string.h>

static const char *const functions[] = {
	"pick",   "promote", "rowmax",  "rowsum", "rowmin", "colmax", "colsum",
	"colmin", "simt",    "threads", "values", "select", "exp",    "log",
	"tanh",   "erf",     "gelu",    "silu",   "load",   "store",
};
bool later_function(const char *name)
{
	for (size_t i = 0; i < COUNTOF(functions); i++)
		if (!strcmp(functions[i], name))
			return true;
	return false;
}

bool later_elem(const char *name)
{
	for (int e = 0; e < EL_COUNT; e++)
		if (!elem_rows[e].spoken && !strcmp(elem_rows[e].name, name))
			return true;
	return false;
}

DiagMsg *not_yet(Sema *s, Loc loc, const char *fmt, ...)
{
	Buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	DiagMsg *m = diag(s->ctx, loc, D_E0301, "not built yet: %s", b.s);
	buf_free(&b);
	return m;
}
