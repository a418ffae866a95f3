/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* interp_window.c - the elements of a view, as a matrix of their own.
 *     rows 0 and 1, columns 1 and 2 of (2,4), transposed:   a b c d    ->   b f
 *                                                           e f g h         c g */
#include "ir/interp.h"

static double *window_copy(const Slot *from, Window w, const double *all, Arena *scratch)
{
	int64_t n[2] = {window_extent(w, 0), window_extent(w, 1)}, of[2];
	double *to = all ? NEWN(scratch, double, n[0] * n[1]) : NULL;
	for (int64_t i = 0; to && i < n[0] * n[1]; i++) {
		window_place(w, (const int64_t[]){i / n[1], i % n[1]}, of);
		to[i] = all[of[0] * from->dim[1] + of[1]];
	}
	return to;
}

Slot slot_window(const Slot *from, Window w, Arena *scratch)
{
	Slot s = *from;
	s.dim[0] = window_extent(w, 0);
	s.dim[1] = window_extent(w, 1);
	s.n = s.dim[0] * s.dim[1];
	s.at = (Elements){window_copy(from, w, from->at.f, scratch),
			  window_copy(from, w, from->at.lo, scratch),
			  window_copy(from, w, from->at.hi, scratch)};
	return s;
}
