/* why.c - reasons beside the IR: what a pass decided, why, and what it tried before. They are no
 * part of the text form and no pass reads them.
 *     kernel_why_not(k, WHY_STAGES, "ab", 5, "245840 bytes, over the %d left", 199680);
 *     kernel_why(k, WHY_STAGES, "ab", 4, "as many as fit"); */
#include "ir/ir.h"

const WhyRow why_rows[WHY_COUNT] = {
#define WHY(id, name, what) [WHY_##id] = {name, what},
#include "ir/why.def"
};

static void add(Kernel *k, Why why, const char *fmt, va_list ap)
{
	Buf b = {0};
	buf_vprintf(&b, fmt, ap);
	why.text = ctx_str(k->ctx, b.s ? b.s : "");
	buf_free(&b);
	vec_push(ctx_arena(k->ctx), &k->whys, why);
}

void kernel_why(Kernel *k, WhyId id, const char *subject, int64_t value, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add(k, (Why){.id = id, .subject = subject, .value = value}, fmt, ap);
	va_end(ap);
}

void kernel_why_not(Kernel *k, WhyId id, const char *subject, int64_t value, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add(k, (Why){.id = id, .subject = subject, .value = value, .rejected = true}, fmt, ap);
	va_end(ap);
}

const Why *kernel_why_find(const Kernel *k, WhyId id, const char *subject)
{
	for (int i = 0; i < k->whys.n; i++) {
		const Why *w = &k->whys.at[i];
		if (w->id == id && !w->rejected && (!subject || w->subject == subject))
			return w;
	}
	return NULL;
}
