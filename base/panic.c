/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* panic.c - the end of work that met a fault of ours: of the process, or of the work alone where a
 * rescue is on, which gives back what the work held.
 *     rescue(compile, &job, why, sizeof why)  ->  false, "tile/tiles.c:300: kernel k has no grid"
 * The rescue that is on is the one thing of the compiler that is the thread's and no Ctx's: memory
 * can be out anywhere, also where no Ctx is known. */
#include "base/base.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
	jmp_buf back;
	Held *held;
	char *why;
	size_t size;
} Rescue;

static _Thread_local Rescue *on;

void hold(Held *h, void (*drop)(Held *))
{
	*h = (Held){.drop = drop};
	if (!on)
		return;
	h->next = on->held;
	h->from = &on->held;
	if (h->next)
		h->next->from = &h->next;
	on->held = h;
}

void hold_end(Held *h)
{
	if (!h->from)
		return;
	*h->from = h->next;
	if (h->next)
		h->next->from = h->from;
	h->from = NULL;
}

/* What outlives the work is its caller's. */
static void let_go(Rescue *r)
{
	while (r->held)
		hold_end(r->held);
}

/* The latest first, while the frames that hold them still stand. */
static void drop_all(Rescue *r)
{
	while (r->held) {
		Held *h = r->held;
		hold_end(h);
		h->drop(h);
	}
}

bool rescue(void (*work)(void *user), void *user, char *why, size_t size)
{
	Rescue r = {.why = why, .size = size}, *before = on;
	if (setjmp(r.back)) {
		on = before;
		return false;
	}
	on = &r;
	work(user);
	let_go(&r);
	on = before;
	return true;
}

static _Noreturn void go_back(Rescue *r, const char *file, int line, const char *fmt, va_list ap)
{
	int n = snprintf(r->why, r->size, "%s:%d: ", file, line);
	if (n > 0 && (size_t)n < r->size)
		vsnprintf(r->why + n, r->size - (size_t)n, fmt, ap);
	drop_all(r);
	longjmp(r->back, 1);
}

void panic_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (on)
		go_back(on, file, line, fmt, ap);
	fprintf(stderr, "dslc: internal error at %s:%d: ", file, line);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}
