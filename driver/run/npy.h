/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* npy.h - private to driver/: arrays in NumPy's .npy files, version 1.0 to 3.0, C order, of the
 * little-endian types that a kernel can have. bf16 and fp8 travel as u16 and u8. */
#ifndef DSL_DRIVER_NPY_H
#define DSL_DRIVER_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An element type: its word on the command line, NumPy's code, bytes. */
typedef struct {
	const char *word, *code;
	size_t bytes;
} NpyType;
const NpyType *npy_type(const char *word, size_t n); /* NULL: there is none */

typedef struct {
	const NpyType *type;
	size_t count, bytes;
	int rank;
	size_t shape[8];
	void *data; /* malloc */
} Npy;
/* False, and why (size bytes) says what is wrong. The caller frees data. */
bool npy_read(const char *path, Npy *out, char *why, size_t size);
bool npy_write(const char *path, const Npy *a, char *why, size_t size);

#endif
