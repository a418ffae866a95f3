/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* elem.c - element types by name, and integers as the bits of a scalar.
 *   elem_int_bits(EL_I8, 200, &bits) == false */
#include "runtime/rt.h"

bool elem_find(const char *name, Elem *out)
{
	for (int i = 0; i < EL_COUNT; i++)
		if (elem_is_called((Elem)i, name)) {
			*out = (Elem)i;
			return true;
		}
	return false;
}

bool elem_int_bits(Elem e, int64_t v, uint64_t *bits)
{
	int n = elem_rows[e].bits;
	*bits = (uint64_t)v;
	if (elem_rows[e].cls == 'S')
		return n == 64 || (v >= -(INT64_C(1) << (n - 1)) && v < INT64_C(1) << (n - 1));
	return v >= 0 && (n == 64 || v < INT64_C(1) << n);
}
