/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random_read.c - random role programs: how a slot of a ring is read and given back.
 *     wait full, wgmma, commit, wait 0, arrive empty
 */
#include "random.h"

Way way_random(bool groups)
{
	return groups && chance(75) ? (Way)(1 + random_below(2)) : BY_READ;
}

static void put_frees(Source *s, int role, const Reader *r, BodyPart part)
{
	for (int rank = 0; rank < s->ctas; rank++) {
		Move m = move_on(STEP_ARRIVE, AT_EMPTY, r->ring, rank);
		m.off = r->late ? -1 : 0;
		m.late = r->late;
		m.lanes = r->each ? 32 : 1;
		if (r->free[rank])
			move_put(s, role, part, m);
	}
}

/* What loads fill again, its readers fence. */
void reading_generic(Source *s, int role, int ring, int lanes, bool each)
{
	bool meets = lanes > 1 && !each;
	move_put(s, role, LOOP, move_on(STEP_READ, AT_FULL, ring, s->role[role].rank))->lanes =
		lanes;
	if (meets && chance(20))
		move_put(s, role, LOOP, move_plain(STEP_WARP, 0));
	if (s->ring[ring].parts || chance(20))
		move_put(s, role, LOOP, move_plain(STEP_FENCE, 0));
	if (meets)
		move_put(s, role, LOOP, move_plain(STEP_WARP, 0));
}

/* The read, to its end but for a late one. */
void reading_put(Source *s, int role, const Reader *r)
{
	int rank = s->role[role].rank;
	StepKind read[] = {STEP_READ, STEP_MMA, STEP_STORE};
	bool mma = r->way == BY_MMA;
	if (r->fences)
		move_put(s, role, LOOP, move_plain(STEP_FENCE, 0));
	if (mma)
		move_put(s, role, LOOP, move_plain(STEP_MMA_FENCE, 0));
	if (r->way == BY_READ) {
		int lanes = r->each || chance(40) ? 32 : 1;
		reading_generic(s, role, r->ring, lanes, r->each);
		return;
	}
	StepKind wait = mma ? STEP_MMA_WAIT : chance(50) ? STEP_BULK_READ : STEP_BULK_WAIT;
	int groups = 1 + chance(15) + chance(15); /* which may be empty */
	for (int i = 0; i < groups; i++) {
		if (!i || chance(50))
			move_put(s, role, LOOP, move_on(read[r->way], AT_FULL, r->ring, rank));
		move_put(s, role, LOOP, move_plain(mma ? STEP_MMA_COMMIT : STEP_BULK_COMMIT, 0));
	}
	move_put(s, role, LOOP, move_plain(wait, r->late ? groups : 0));
	if (r->late)
		move_put(s, role, POST, move_plain(wait, 0));
	if (mma && chance(40))
		move_put(s, role, r->late ? POST : LOOP,
			 move_on(STEP_TOUCH, AT_FULL, r->ring, rank));
}

void reader_put(Source *s, int role, const Reader *r)
{
	int rank = s->role[role].rank;
	Ring *ring = &s->ring[r->ring];
	move_put(s, role, LOOP, move_on(STEP_WAIT, AT_FULL, r->by, rank));
	reading_put(s, role, r);
	put_frees(s, role, r, LOOP);
	if (r->late)
		put_frees(s, role, r, POST);
	for (int to = 0; to < s->ctas; to++)
		ring->count[AT_EMPTY][to] +=
			r->free[to] ? s->role[role].warps * (r->each ? 32 : 1) : 0;
}
