/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* swizzle.h - swizzles of shared memory: the rows of swizzles.def.
 *   swizzle_row(64)->code == 2        swizzle_row(96) == NULL
 * No state. */
#ifndef DSL_RUNTIME_SWIZZLE_H
#define DSL_RUNTIME_SWIZZLE_H

#include <stddef.h>
#include <stdint.h>

enum { /* bytes of a row */
#define SWIZZLE(id, bytes, ...) SWIZZLE_##id = bytes,
#include "runtime/swizzles.def"
};

typedef struct {
	int bytes;
	int bits;         /* of an address that change */
	unsigned code;    /* of a matrix descriptor */
	const char *name; /* in .gemm text */
} SwizzleRow;

static const SwizzleRow swizzle_rows[] = {
#define SWIZZLE(id, bytes, bits, code, tma) {bytes, bits, code, "swizzle" #bytes},
#include "runtime/swizzles.def"
};

/* NULL: there is none of so many bytes. 0 is one that changes nothing. */
static inline const SwizzleRow *swizzle_row(int64_t bytes)
{
	for (size_t i = 0; i < sizeof swizzle_rows / sizeof *swizzle_rows; i++)
		if (swizzle_rows[i].bytes == bytes)
			return &swizzle_rows[i];
	return NULL;
}

#endif
