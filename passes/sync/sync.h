/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sync.h - private to passes/sync/: what its files do for PASS_OF(sync). */
#ifndef DSL_SYNC_H
#define DSL_SYNC_H

#include "base/ptrmap.h"
#include "passes/smem/rings.h"
#include "passes/multicast/masks.h"

/* A ring that an mbarrier tells of. */
typedef struct {
	Kernel *k;
	const char *ring;
	Val *full, *empty; /* no empty: no slot is filled twice */
	int64_t slots;
	const Attr *into, *from; /* where CTAs fill each other's slots */
	IxFacts facts;
	int64_t last; /* position that is written; -1: none */
	int effects;  /* of all ops on it */
} Sync;

enum { LAP_SAME = 0, LAP_BEFORE = 1 };

Op *sync_barrier_op(Kernel *k, OpKind kind, Loc loc, Val *barrier, const Ix *at);
Op *sync_wait(Kernel *k, Loc loc, Val *barrier, const Ix *at, int lap);
bool sync_is_elected(const Op *op); /* one lane comes to it */
/* The position that op reads; NULL: none. */
const Ix *sync_read_at(const Sync *s, const Op *op);

const Ix *sync_copy_at(const Sync *s, const Op *op); /* that lanes fill; NULL: none */
const Ix *sync_fill_at(const Sync *s, const Op *op); /* that anyone does */

/* copies.c: copies of each thread, which has the barrier told of them */
void sync_copies(const Sync *s);

/* launches.c: whether loads complete on a barrier */
bool sync_announces_loads(const Kernel *k, const Val *barrier);

/* wgmma_groups.c: ops of the async proxy that complete in wgmma groups */
typedef struct {
	Op *fence, *first, *last;
	Op *wait;  /* after which it has ended */
	int later; /* so many iterations later than it was committed */
	Op *loop;  /* in which groups stay in flight from iteration to iteration; NULL: none */
	int index; /* among those of one iteration */
	const DoneRow *done;
} Group;
typedef struct {
	Op *loop, *drain; /* after it all groups have ended: the wait; NULL: they have anyway */
	int groups;       /* of one iteration, where the loop's own instructions need no result */
	VEC(Op *) waits;  /* theirs */
	const DoneRow *done;
} GroupLoop;
typedef struct {
	VEC(Group) at;
	VEC(GroupLoop) loops;
	PtrMap of; /* of each op of a group: its number, from 1 */
	int inflight;
} Groups;
Groups sync_groups(Kernel *k);
const Group *group_of(const Groups *all, const Op *op); /* NULL: in none */
const GroupLoop *group_loop(const Groups *all, const Op *loop);
bool loop_is_kept(const Groups *all, const Op *loop); /* nothing but its groups needs registers */
Op *sync_groups_wait(Kernel *k, const DoneRow *done, Loc loc, int groups);
void sync_drain(Kernel *k, Groups *all, Op *loop, const DoneRow *done);

/* wgmma_waits.c: of all groups that no such loop has */
void sync_group_waits(Kernel *k, Groups *all);

/* reads.c: waits for what is read, and gives its slots back */
void sync_reads(const Sync *s, const Groups *groups);

/* puts.c: what threads write from registers, for an mma */
void sync_puts(Kernel *k, const Op *ring);
/* exchange.c: all that write and read the buffer, after what they do in front of op; own: those of
 * a warpgroup */
Op *sync_meeting(Kernel *k, const Op *op, bool own);
bool sync_is_meeting(const Op *op, const Op *like); /* of the same threads */

bool sync_staging(Kernel *k, const Op *ring); /* false: it is none */
Op *sync_meet_group(Kernel *k, Loc loc);      /* the threads of a warpgroup; stands nowhere yet */
/* Ahead of `at`, before op writes to memory that a ring has released: all who read that meet. */
void sync_take_over(Kernel *k, Op *at, const Op *op, const char *ring);
bool sync_reads_peers(const Op *op); /* another CTA's shared memory */
void sync_exchange(Kernel *k, const Op *ring);
/* Whether the position is one of the first `slots`: every slot is free then. */
bool on_first_lap(IxFacts facts, const Ix *at, int64_t slots);

#endif
