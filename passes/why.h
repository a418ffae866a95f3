/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* why.h - private to passes/: the reasons of decisions, one call where each is taken. The
 * sentences stand in why.c, so that a pass holds the decision and nothing about telling it.
 *     why_stages(k, ring, 4, 49168, 199680)  ->  "4 x 49168 bytes fit in the 199680 that are left"
 */
#ifndef DSL_PASSES_WHY_H
#define DSL_PASSES_WHY_H

#include "passes/pass.h"
#include "passes/multicast/masks.h"

/* widest first */
void why_swizzle(Kernel *k, const Op *buffer, int row_bytes, int swizzle, int fast);
/* From registers. */
void why_put(Kernel *k, const char *buffer, int64_t threads, bool fenced, bool turns);
void why_view(Kernel *k, const Val *buffer, Window w);        /* once */
void why_copies(Kernel *k, const Op *copy, int bytes);        /* by threads */
void why_boxes(Kernel *k, const Op *copy, int64_t boxes);     /* rows by indices, of a CTA */
void why_masked(Kernel *k, const Val *tile, const Ix *whole); /* whole: where nothing is masked */
void why_swap(Kernel *k);
void why_overlap(Kernel *k);
void why_flight(Kernel *k, const Val *first, const Val *second, const char *loop);
void why_no_overlap(Kernel *k, const char *text);
typedef enum { GROUP_SQUARE, GROUP_LENGTHS, GROUP_SECTIONS, GROUP_MOVES } GroupReason;
void why_group(Kernel *k, int64_t group, GroupReason reason);
/* slots of `one` byte each in `left`; 0: why_direct says it */
/* half: as many would spill; part: so that each CTA that shares the tile's k has a chunk;
 * plain: no swizzle divides them; spills: ptxas spilled with more */
typedef enum {
	SUBTILE_WIDEST,
	SUBTILE_HALF,
	SUBTILE_PART,
	SUBTILE_PLAIN,
	SUBTILE_SPILLS
} SubtileLimit;
void why_subtile(Kernel *k, int columns, SubtileLimit limit);
/* so many of the CTAs add up, each so many bytes of each of the others */
void why_parts(Kernel *k, const Ix *trips, int owners, int64_t bytes);
void why_staging(Kernel *k, const Val *tensor, int slots, int most, int64_t one, int64_t left);
void why_no_source(Kernel *k, const Val *tensor, const char *why); /* once */
void why_direct(Kernel *k, const Val *tensor, const char *why);
void why_stages(Kernel *k, const char *ring, int stages, int64_t one, int64_t left, int most);
void why_threads(Kernel *k, int threads, int elements);
/* turns of the banks, of which so many are needed whatever the layout is */
void why_turned(Kernel *k, const char *tensor, const Layout *l, int64_t turns, int64_t least);
void why_parts_of(Kernel *k, const char *what, int parts, int times); /* rows, columns */
void why_registers(Kernel *k, int producer, int consumer, int accumulators, int overhead);
void why_few_registers(Kernel *k, int consumer, int needed); /* tried and not taken */
/* multicast/why_multicast.c: wanted, and the parts that the tile could be cut into; before the load
 * changes */
void why_share(Kernel *k, const Op *load, const Same *same, const Share *s, Issue wanted, int parts,
	       bool apart);
void why_releases(Kernel *k, const char *ring, const Releases *all);
void why_ahead(Kernel *k, const char *ring, int ahead);

#endif
