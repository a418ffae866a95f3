/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rings.c - each buffer of a pipeline gets the pipeline's slots, as many as it is given or as fit
 * beside all others, and each access its position in the ring (positions.c). Roles are split later,
 * so a position is true of the program, whoever runs it.
 *     ring ab ; %sA = shared ring=ab ; for k (0, T) { load.tma %sA }
 * ->  ring ab slots=4 ; %sA = shared ring=ab slots=4 ; for k (0, T) { load.tma %sA[k] } */
#include "passes/smem/rings.h"
#include "passes/why.h"

enum {
	MOST_STAGES = 8, /* of large slots: more in flight gain nothing, and take room */
	MOST_SMALL = 16,
	SMALL = 16384, /* bytes of a slot, without its barriers */
	FEW_CTAS = 8,
	BARRIER_BYTES = 8,
	ALIGN = 1024
};

/* ------------------------------------------------------------------ what is given */
static int64_t slot_bytes(const Kernel *k, const Op *ring)
{
	int64_t bytes = 0;
	for (const Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		if (attrs_str(&op->attrs, A_RING, "") == ring->sym[0])
			bytes += type_slot_bytes(op->out->type);
	return bytes;
}

bool ring_is_settled(const Kernel *k, const Op *ring)
{
	for (const Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		if (attrs_str(&op->attrs, A_RING, "") == ring->sym[0] &&
		    attrs_get(&op->attrs, A_SLOTS))
			return true;
	return false;
}

/* That the program or the schedule says; 0: as many as fit. One slot is what a buffer has that is
 * in no pipeline: by turns, one for each. */
static int given_slots(const Kernel *k, const Op *ring)
{
	int own = (int)attrs_int(&ring->attrs, A_SLOTS, 0);
	int stages = (int)attrs_int(&k->attrs, A_STAGES, 0);
	if (attrs_get(&ring->attrs, A_EARLY))
		return own;
	if (attrs_get(&ring->attrs, A_PUT))
		return 1;
	if (own == 1)
		return kernel_pingpong(k) ? TURNS : 1;
	return stages ? stages : own;
}

/* ------------------------------------------------------------------ what fits */
/* `over` as well: what takes the memory of others. */
static int64_t aligned_bytes(const Kernel *k, const Op *ring, int64_t slots, bool over)
{
	int64_t bytes = 0;
	for (const Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		if (attrs_str(&op->attrs, A_RING, "") == ring->sym[0] &&
		    (over || !attrs_get(&op->attrs, A_OVER)))
			bytes += round_up(type_slot_bytes(op->out->type) * slots *
						  attrs_int(&op->attrs, A_GROUPS, 1),
					  ALIGN);
	return bytes;
}

static int64_t barrier_bytes(int64_t slots)
{
	return 2 * BARRIER_BYTES * slots;
}

bool rings_are_given(const Kernel *k)
{
	bool given = true;
	for (const Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING))
		given &= ring_is_settled(k, ring) || given_slots(k, ring);
	return given;
}

int64_t rings_bytes(const Kernel *k)
{
	int64_t bytes = 0;
	for (const Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		int given = given_slots(k, ring);
		if (ring_is_settled(k, ring))
			bytes += aligned_bytes(k, ring, attrs_int(&ring->attrs, A_SLOTS, 1), true);
		else
			bytes += aligned_bytes(k, ring, given ? given : 2, true) +
				 barrier_bytes(given ? given : 2);
	}
	return bytes;
}

/* What is left for rings of which nobody says how many slots they have: all get as many. */
typedef struct {
	int64_t left, one; /* bytes, of a slot of each with its barriers */
	int rings;
} Room;

static Room room_of(const Kernel *k)
{
	Room r = {.left = kernel_smem(k)};
	for (const Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		bool settled = ring_is_settled(k, ring);
		int slots =
			settled ? (int)attrs_int(&ring->attrs, A_SLOTS, 0) : given_slots(k, ring);
		if (slots) {
			r.left -= aligned_bytes(k, ring, slots, false);
			r.left -= settled ? 0 : barrier_bytes(slots);
		} else {
			r.one += slot_bytes(k, ring) + barrier_bytes(1);
			r.rings++;
		}
	}
	return r;
}

/* Each stage has barriers in each CTA of a cluster, and the proof follows all of them. */
static int most_stages(const Kernel *k, int64_t slot)
{
	bool small = slot <= SMALL || attrs_int(&k->attrs, A_SWAP, 0);
	return small && kernel_cluster_ctas(k) <= FEW_CTAS ? MOST_SMALL : MOST_STAGES;
}

static int stages_that_fit(Kernel *k, const char *ring, Room r)
{
	int most = most_stages(k, r.one - r.rings * barrier_bytes(1));
	int64_t fit = r.left / r.one;
	int stages = fit > most ? most : fit < 1 ? 1 : (int)fit;
	why_stages(k, ring, stages, r.one, r.left, most);
	return stages;
}

static void set_slots(Kernel *k, Op *ring, int slots)
{
	op_int(k, ring, A_SLOTS, slots);
	for (Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		if (attrs_str(&op->attrs, A_RING, "") == ring->sym[0])
			op_int(k, op, A_SLOTS, slots);
}

/* ------------------------------------------------------------------ in flight */
/* Whether a slot is released only when the groups of later iterations have been waited for. */
static bool is_released_late(const Kernel *k, const char *ring)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op)) {
		const Op *loop = op_parent(op);
		for (int i = 0; i < op->nin && loop && loop_keeps_groups(loop); i++)
			if (op_done_by(op, DONE_BY_WARPGROUP) &&
			    operand_on_ring(&op->in[i], ring) && varies_in(op->in[i].at, loop))
				return true;
	}
	return false;
}

/* Where not one stage fits, the budget of shared memory says so. */
static bool check_stages(Kernel *k, const Op *ring, int64_t fit, int inflight)
{
	int stages = (int)attrs_int(&ring->attrs, A_SLOTS, 0);
	if (stages > inflight || fit < 1)
		return true;
	int more = inflight + 1, fewer = stages - 1;
	diag(k->ctx, ring->loc, D_E0406,
	     "pipeline %s has %d stage%s with %d wgmma group%s in flight: a load would wait for a "
	     "slot that is never released\n%s",
	     ring->sym[0], stages, stages > 1 ? "s" : "", inflight, inflight > 1 ? "s" : "",
	     fit > inflight
		     ? ctx_strf(k->ctx, "use at least %d stages, or inflight %d", more, fewer)
		     : ctx_strf(k->ctx, "use inflight %d: %d stages do not fit", fewer, more));
	return false;
}

/* Whether a tile is stored through the ring in a loop, and nothing says yet which slot it takes. */
static bool ring_is_uncounted(const Kernel *k, const char *ring)
{
	for (const Op *op = kernel_first(k); op && ring_is_own(k, ring); op = op_next(op))
		for (int i = 0; i < op->nin; i++)
			if (operand_on_ring(&op->in[i], ring) && !op->in[i].at)
				return true;
	return false;
}

/* Values that threads write alternate between two slots where there is room: the threads then meet
 * once for each, not twice. */
static void second_slots(Kernel *k)
{
	int64_t left = kernel_smem(k);
	for (const Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		int64_t slots = attrs_int(&ring->attrs, A_SLOTS, 1);
		left -= aligned_bytes(k, ring, slots, false) + barrier_bytes(slots);
	}
	for (Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		int64_t one = aligned_bytes(k, ring, 1, false);
		if (!attrs_get(&ring->attrs, A_PUT))
			continue;
		bool two = !kernel_pingpong(k) && one <= left && ring_takes_turns(k, ring->sym[0]);
		if (two)
			set_slots(k, ring, 2);
		left -= two ? one : 0;
		ring_positions(k, ring->sym[0]);
	}
}

PASS_OF(rings)
{
	int inflight = (int)attrs_int(&k->attrs, A_INFLIGHT, 1);
	Room room = room_of(k);
	kernel_int(k, A_INFLIGHT, inflight);
	for (Op *ring = kernel_find(k, OP_RING); ring; ring = op_find_next(ring, OP_RING)) {
		if (ring_is_settled(k, ring)) {
			if (ring_is_uncounted(k, ring->sym[0]))
				ring_positions(k, ring->sym[0]);
			continue;
		}
		int slots = given_slots(k, ring);
		int64_t one = slots ? slot_bytes(k, ring) + barrier_bytes(1) : room.one;
		set_slots(k, ring, slots ? slots : stages_that_fit(k, ring->sym[0], room));
		if (!attrs_get(&ring->attrs, A_PUT))
			ring_positions(k, ring->sym[0]);
		if (pass_failed(k) || (is_released_late(k, ring->sym[0]) &&
				       !check_stages(k, ring, slots + room.left / one, inflight)))
			return;
	}
	second_slots(k);
}
