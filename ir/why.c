/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* why.c - reasons beside the IR: what a pass decided, why, and what it tried before. They are no
 * part of the text form and no pass reads them.
 *     kernel_why_not(k, REASON_STAGES, "ab", 5, "245840 bytes, over the %d left", 199680);
 *     kernel_why(k, REASON_STAGES, "ab", 4, "as many as fit"); */
#include "ir/ir.h"

const WhyRow why_rows[REASON_COUNT] = {
#define REASON(id, name, what) [REASON_##id] = {name, what},
#include "ir/why.def"
};

static void add(Kernel *k, Reason why, const char *fmt, va_list ap)
{
	why.text = ctx_vstrf(k->ctx, fmt, ap);
	vec_push(ctx_arena(k->ctx), &k->whys, why);
}

void kernel_why(Kernel *k, ReasonId id, const char *subject, int64_t value, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add(k, (Reason){.id = id, .subject = subject, .value = value}, fmt, ap);
	va_end(ap);
}

void kernel_why_not(Kernel *k, ReasonId id, const char *subject, int64_t value, const char *fmt,
		    ...)
{
	va_list ap;
	va_start(ap, fmt);
	add(k, (Reason){.id = id, .subject = subject, .value = value, .rejected = true}, fmt, ap);
	va_end(ap);
}

const Reason *kernel_why_next(const Kernel *k, ReasonId id, const Reason *after)
{
	for (int i = after ? (int)(after - k->whys.at) + 1 : 0; i < k->whys.n; i++)
		if (k->whys.at[i].id == id)
			return &k->whys.at[i];
	return NULL;
}

const Reason *kernel_why_find(const Kernel *k, ReasonId id, const char *subject)
{
	const Reason *w = NULL;
	while ((w = kernel_why_next(k, id, w)) &&
	       (w->rejected || (subject && w->subject != subject)))
		;
	return w;
}
