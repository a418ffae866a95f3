/* panic.c - the end of a run that met a fault of ours. */
#include "ir/base.h"

#include <stdio.h>
#include <stdlib.h>

void panic_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	fprintf(stderr, "dslc: internal error at %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}
