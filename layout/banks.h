/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* banks.h - bank conflicts of an access to shared memory.
 * Mode 0 of the layout is the threads, all other modes what each thread accesses, as offsets in
 * elements. Elements that lie side by side for every thread go in one instruction, up to 16 bytes.
 * Shared memory has 32 banks of 4 bytes (CUDA C++ Programming Guide, 16.4.3 of compute capability
 * 5.x, which 9.0 keeps). A warp's access of 8 bytes a thread is served for 16 threads at a time, of
 * 16 bytes for 8; each such part takes as many turns as the fullest bank has different words.
 *     (32):(2) of 4 bytes   ->   1 part of 32 threads, 2 turns, worst 2 */
#ifndef DSL_LAYOUT_BANKS_H
#define DSL_LAYOUT_BANKS_H

#include "layout/layout.h"

typedef struct {
	int64_t wide, group;          /* bytes of a thread at a time; threads together */
	int64_t parts, total;         /* accesses of a group; turns that they take */
	int64_t worst, thread, value; /* turns of the worst; where it is */
} BankUse;

/* Of a static layout with offsets of 0 and more, of elements of so many bytes. */
BankUse bank_use(Ctx *c, const Layout *l, int64_t bytes);

#endif
