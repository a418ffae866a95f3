/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* spare.c - memory of warps that have ended, for those that begin. A register file of half a
 * megabyte that is new costs a page fault for each 4 KiB, more than what the warp computes.
 * All blocks have one size, that of the last kernel's. */
#include "sim/machine.h"

#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define CLOSE(at, n) ASAN_POISON_MEMORY_REGION(at, n)
#define OPEN(at, n)  ASAN_UNPOISON_MEMORY_REGION(at, n)
#else
#define CLOSE(at, n) ((void)(at))
#define OPEN(at, n)  ((void)(at))
#endif

void spare_start(Spare *s)
{
	*s = (Spare){0};
	pthread_mutex_init(&s->lock, NULL);
}

static void spare_drop(Spare *s)
{
	while (s->n) {
		u8 *at = s->at[--s->n];
		OPEN(at, s->bytes);
		free(at);
	}
}

void spare_end(Spare *s)
{
	spare_drop(s);
	pthread_mutex_destroy(&s->lock);
}

u8 *spare_take(Spare *s, size_t bytes)
{
	u8 *at = NULL;
	pthread_mutex_lock(&s->lock);
	if (s->bytes != bytes)
		spare_drop(s);
	s->bytes = bytes;
	if (s->n) {
		at = s->at[--s->n];
		OPEN(at, bytes);
	}
	pthread_mutex_unlock(&s->lock);
	return at ? at : aligned_alloc(SPARE_ALIGN, bytes);
}

void spare_give(Spare *s, u8 *at, size_t bytes)
{
	pthread_mutex_lock(&s->lock);
	if (at && bytes == s->bytes && s->n < SPARE_MOST) {
		CLOSE(at, bytes);
		s->at[s->n++] = at;
		at = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	free(at);
}
