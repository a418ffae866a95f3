/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* status.c - texts of the statuses, and the sentence about the last failure of a thread.
 * The sentence lives in thread-local storage, because opening a device can fail before there is a
 * handle to keep it in. */
#include "runtime/rt.h"

#include <stdio.h>

typedef struct {
	const char *name, *text, *remedy;
} StatusRow;

static const StatusRow rows[DSL_STATUS_LIMIT] = {
#define DSL_STATUS(id, number, text, remedy) [number] = {"DSL_" #id, text, remedy},
#include "runtime/status.def"
};

static const StatusRow *status_row(dsl_status st)
{
	static const StatusRow unknown = {"DSL_?", "not a status of this runtime", ""};
	size_t i = (size_t)st;
	return i < COUNTOF(rows) && rows[i].name ? &rows[i] : &unknown;
}

const char *dsl_version(void)
{
	return DSLC_VERSION;
}

const char *dsl_status_name(dsl_status st)
{
	return status_row(st)->name;
}

const char *dsl_status_text(dsl_status st)
{
	return status_row(st)->text;
}

const char *dsl_status_remedy(dsl_status st)
{
	return status_row(st)->remedy;
}

static _Thread_local char detail[8192];

const char *dsl_detail(void)
{
	return detail;
}

Why why_thread(void)
{
	return (Why){detail, sizeof detail};
}

static void why_vprint(const Why *w, const char *fmt, va_list ap) PRINTF(2, 0);
static void why_vprint(const Why *w, const char *fmt, va_list ap)
{
	if (w->at && w->size)
		vsnprintf(w->at, w->size, fmt, ap);
}

dsl_status why_fail(const Why *w, dsl_status st, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	why_vprint(w, fmt, ap);
	va_end(ap);
	return st;
}

dsl_status detail_fail(dsl_status st, const char *fmt, ...)
{
	Why w = why_thread();
	va_list ap;
	va_start(ap, fmt);
	why_vprint(&w, fmt, ap);
	va_end(ap);
	return st;
}

dsl_status detail_null(const char *call, const char *parameter)
{
	return detail_fail(DSL_ERR_INVALID, "%s: %s is NULL", call, parameter);
}

dsl_status size_check(const char *name, size_t given, size_t known)
{
	if (given >= known)
		return DSL_OK;
	return detail_fail(DSL_ERR_INVALID, "the size in %s is %zu: set it to sizeof(%s)", name,
			   given, name);
}
