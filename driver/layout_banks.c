/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* layout_banks.c - bank conflicts of an access to shared memory.
 * Mode 0 of the layout is the threads, all other modes what each thread accesses, as offsets in
 * elements. Elements that lie side by side for every thread go in one instruction, up to 16 bytes.
 * Shared memory has 32 banks of 4 bytes (CUDA C++ Programming Guide, 16.4.3 of compute capability
 * 5.x, which 9.0 keeps). A warp's access of 8 bytes a thread is served for 16 threads at a time, of
 * 16 bytes for 8; each such part takes as many turns as the fullest bank has different words. */
#include "driver/view.h"

#include <inttypes.h>

enum { BANKS = 32, WARP = 32, VECTOR_MAX = 16 };

typedef struct {
	const Layout *l;
	int64_t threads, values, bytes; /* of one element */
	int64_t vector;                 /* elements of one instruction */
} Access;

static int64_t offset(const Access *a, int64_t thread, int64_t value)
{
	return layout_at_int(a->l, thread + value * a->threads);
}

/* Whether values come in aligned runs of n elements for every thread. */
static bool runs_of(const Access *a, int64_t n)
{
	for (int64_t t = 0; t < a->threads; t++)
		for (int64_t v = 0; v < a->values; v++) {
			int64_t first = offset(a, t, v - v % n);
			if (offset(a, t, v) != first + v % n || first % n)
				return false;
		}
	return true;
}

static int64_t vector_of(const Access *a)
{
	int64_t n = 1;
	while (2 * n * a->bytes <= VECTOR_MAX && a->values % (2 * n) == 0 && runs_of(a, 2 * n))
		n *= 2;
	return n;
}

/* How many different words the fullest bank has; words are kept where they are new. */
static int turns(const Access *a, int64_t first, int64_t n, int64_t value)
{
	int64_t words[WARP * VECTOR_MAX];
	int used = 0, count[BANKS] = {0}, most = 0;
	for (int64_t t = first; t < first + n && t < a->threads; t++)
		for (int64_t b = 0; b < a->vector * a->bytes; b++) {
			int64_t word = (offset(a, t, value) * a->bytes + b) / 4;
			int i = 0;
			while (i < used && words[i] != word)
				i++;
			if (i < used)
				continue;
			words[used++] = word;
			if (++count[word % BANKS] > most)
				most = count[word % BANKS];
		}
	return most;
}

static void report(const Access *a, Buf *out)
{
	int64_t wide = a->vector * a->bytes;
	int64_t group = wide > 8 ? 8 : wide > 4 ? 16 : WARP, parts = 0, total = 0, worst = 0;
	int64_t where[2] = {0, 0};
	for (int64_t v = 0; v < a->values; v += a->vector)
		for (int64_t t = 0; t < a->threads; t += group) {
			int n = turns(a, t, group, v);
			parts++;
			total += n;
			if (n > worst) {
				worst = n;
				where[0] = t;
				where[1] = v;
			}
		}
	buf_printf(out,
		   "%" PRId64 " threads, %" PRId64 " bytes each at a time, %" PRId64
		   " threads together: %" PRId64 " turns of the banks, %" PRId64
		   " without conflicts\n",
		   a->threads, wide, group, total, parts);
	if (worst > 1)
		buf_printf(out,
			   "worst: %" PRId64 "-way, threads %" PRId64 "..%" PRId64
			   ", value %" PRId64 "\n",
			   worst, where[0],
			   (where[0] + group < a->threads ? where[0] + group : a->threads) - 1,
			   where[1]);
	else
		buf_printf(out, "no conflicts\n");
}

bool layout_banks(Ctx *c, const Layout *l, Elem elem, Buf *out, const char **why)
{
	Access a = {.l = l, .bytes = elem_rows[elem].bits / 8};
	int64_t size;
	*why = a.bytes < 1 ? "banks are of elements of whole bytes: count pairs of these as u8"
			   : "banks are of static layouts with threads in mode 0 and at most 65536 "
			     "places";
	if (layout_rank(l) < 1 || !layout_is_static(l) || !ix_is_const(layout_size(c, l), &size) ||
	    size < 1 || size > CELLS_MAX || a.bytes < 1)
		return false;
	a.threads = layout_size_int(layout_mode(c, l, 0));
	a.values = size / a.threads;
	for (int64_t i = 0; i < size; i++)
		if (layout_at_int(l, i) < 0 || layout_at_int(l, i) > INT64_C(1) << 48)
			return *why = "an offset is below 0 or beyond all memory", false;
	a.vector = vector_of(&a);
	report(&a, out);
	return true;
}
