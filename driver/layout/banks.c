/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* banks.c - what layout/banks.h finds of an access to shared memory, in words. */
#include "driver/layout/layout_view.h"
#include "layout/banks.h"

#include <inttypes.h>

static void report(const BankUse *u, int64_t threads, Buf *out)
{
	int64_t end = u->thread + u->group < threads ? u->thread + u->group : threads;
	buf_printf(out,
		   "%" PRId64 " threads, %" PRId64 " bytes each at a time, %" PRId64
		   " threads together: %" PRId64 " turns of the banks, %" PRId64
		   " without conflicts\n",
		   threads, u->wide, u->group, u->total, u->parts);
	if (u->worst > 1)
		buf_printf(out,
			   "worst: %" PRId64 "-way, threads %" PRId64 "..%" PRId64
			   ", value %" PRId64 "\n",
			   u->worst, u->thread, end - 1, u->value);
	else
		buf_printf(out, "no conflicts\n");
}

bool layout_banks(Ctx *c, const Layout *l, Elem elem, Buf *out, const char **why)
{
	int64_t size, bytes = elem_rows[elem].bits / 8;
	*why = bytes < 1 ? "banks are of elements of whole bytes: count pairs of these as u8"
			 : "banks are of static layouts with threads in mode 0 and at most 65536 "
			   "places";
	if (layout_rank(l) < 1 || !layout_is_static(l) || !ix_is_const(layout_size(c, l), &size) ||
	    size < 1 || size > CELLS_MAX || bytes < 1)
		return false;
	for (int64_t i = 0; i < size; i++)
		if (layout_at_int(l, i) < 0 || layout_at_int(l, i) > INT64_C(1) << 48)
			return *why = "an offset is below 0 or beyond all memory", false;
	BankUse use = bank_use(c, l, bytes);
	report(&use, layout_size_int(layout_mode(c, l, 0)), out);
	return true;
}
