/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* banks.c - which words of which banks each part of an access touches. */
#include "layout/banks.h"
#include "base/ctx.h"

enum { BANKS = 32, WARP = 32, VECTOR_MAX = 16 };

typedef struct {
	int64_t *at;                    /* of each thread, value by value: the offset */
	int64_t threads, values, bytes; /* of one element */
	int64_t vector;                 /* elements of one instruction */
} Access;

static int64_t offset(const Access *a, int64_t thread, int64_t value)
{
	return a->at[thread + value * a->threads];
}

static void find_offsets(Ctx *c, Access *a, const Layout *l)
{
	int64_t n = layout_size_int(l);
	a->at = NEWN(ctx_tmp(c), int64_t, n);
	for (int64_t i = 0; i < n; i++)
		a->at[i] = layout_at_int(l, i);
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
	for (int64_t t = first; t < first + n && t < a->threads; t++) {
		int64_t byte = offset(a, t, value) * a->bytes;
		int64_t last = (byte + a->vector * a->bytes - 1) / 4;
		for (int64_t word = byte / 4; word <= last; word++) {
			int i = 0;
			while (i < used && words[i] != word)
				i++;
			if (i < used)
				continue;
			words[used++] = word;
			if (++count[word % BANKS] > most)
				most = count[word % BANKS];
		}
	}
	return most;
}

BankUse bank_use(Ctx *c, const Layout *l, int64_t bytes)
{
	ArenaMark mark = arena_mark(ctx_tmp(c));
	Access a = {.bytes = bytes, .threads = layout_size_int(layout_mode(c, l, 0))};
	BankUse use = {0};
	find_offsets(c, &a, l);
	a.values = layout_size_int(l) / a.threads;
	a.vector = vector_of(&a);
	use.wide = a.vector * a.bytes;
	use.group = use.wide > 8 ? 8 : use.wide > 4 ? 16 : WARP;
	for (int64_t v = 0; v < a.values; v += a.vector)
		for (int64_t t = 0; t < a.threads; t += use.group) {
			int n = turns(&a, t, use.group, v);
			use.parts++;
			use.total += n;
			if (n > use.worst) {
				use.worst = n;
				use.thread = t;
				use.value = v;
			}
		}
	arena_release(ctx_tmp(c), mark);
	return use;
}
