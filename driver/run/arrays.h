/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* arrays.h - private to driver/: inputs of dslc run from .npy files, and outputs to them. */
#ifndef DSL_DRIVER_ARRAYS_H
#define DSL_DRIVER_ARRAYS_H

#include "driver/options/options.h"

typedef struct {
	const char *name; /* of the tensor */
	const char *type; /* of its elements, where they are rounded to the tensor's; else NULL */
	int at;           /* the tensor's number */
	void *data;       /* as the tensor lies in memory */
} GivenArray;

typedef VEC(GivenArray) GivenArrays;

/* Reads the inputs that --in names and the outputs that --expect does, and looks whether --out
 * names outputs. False, and *why says what is wrong; they are freed all the same. */
bool arrays_read(const Problem *p, const Options *o, GivenArrays *given, GivenArrays *expected,
		 const char **why);
void arrays_give(const Problem *p, const GivenArrays *given); /* over what problem_fill made */
void arrays_free(GivenArrays *given);
bool arrays_write(const Problem *p, const Options *o, const char **why);

#endif
