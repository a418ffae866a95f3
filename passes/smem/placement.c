/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* placement.c - where buffers lie in shared memory, and whether they fit. Swizzles of TMA repeat
 * every 1024 bytes, so every buffer starts on a multiple of that, or of what its own repeats after;
 * barriers, placed by sync, follow the buffers. What lies over a ring begins where that ring does;
 * sync keeps the two apart in time.
 *     %sA = shared slots=4   ->   %sA = shared slots=4 offset=0 */
#include "passes/pass.h"

enum { ALIGN = 1024, BARRIER_BYTES = 8, KIB = 1024 };

/* A ring that gives its memory away, what takes it, all others. */
typedef enum { GIVES, TAKES, KEEPS } Part;

static Part part_of(const Kernel *k, const Op *buffer)
{
	const char *ring = attrs_str(&buffer->attrs, A_RING, "");
	if (attrs_get(&buffer->attrs, A_OVER))
		return TAKES;
	for (const Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		if (attrs_str(&op->attrs, A_OVER, NULL) == ring)
			return GIVES;
	const Op *declared = kernel_ring(k, ring);
	return declared && attrs_get(&declared->attrs, A_GIVES) ? GIVES : KEEPS;
}

/* A swizzle repeats after the highest of the bits by which it moves units. */
int64_t buffer_align(const Type *t)
{
	Swizzle s = t->layout->swizzle;
	int64_t period = s.b ? elem_span(t->elem, INT64_C(1) << (s.b + s.m + s.s)) : 1;
	return period > ALIGN ? period : ALIGN;
}

/* The buffers of one part, one after the other; gives their end. */
static int64_t place_part(Kernel *k, Part part, int64_t at)
{
	for (Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED)) {
		int64_t slots = attrs_int(&op->attrs, A_SLOTS, 1);
		if (part_of(k, op) != part)
			continue;
		op_int(k, op, A_SLOTS, slots);
		at = round_up(at, buffer_align(op->out->type));
		op_int(k, op, A_OFFSET, at);
		slots *= attrs_int(&op->attrs, A_GROUPS, 1);
		at = round_up(at + slots * type_slot_bytes(op->out->type), ALIGN);
	}
	return at;
}

static int64_t place(Kernel *k)
{
	int64_t given = place_part(k, GIVES, 0), taken = place_part(k, TAKES, 0);
	return place_part(k, KEEPS, given > taken ? given : taken);
}

static int64_t barriers(const Kernel *k)
{
	int64_t bytes = 0;
	for (const Op *r = kernel_find(k, OP_RING); r; r = op_find_next(r, OP_RING))
		if (ring_is_filled(k, r))
			bytes += 2 * BARRIER_BYTES * attrs_int(&r->attrs, A_SLOTS, 0);
	return bytes;
}

/* Of two that share memory, the larger: "sA 4 x 16384 + sB 4 x 32768 + barriers 64" */
static const char *sum(Kernel *k, int64_t barrier_bytes)
{
	Buf b = {0};
	Part hidden = place_part(k, GIVES, 0) < place_part(k, TAKES, 0) ? GIVES : TAKES;
	for (const Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED))
		if (part_of(k, op) != hidden)
			buf_printf(&b, "%s %lld x %lld + ", op->out->name,
				   (long long)(attrs_int(&op->attrs, A_SLOTS, 1) *
					       attrs_int(&op->attrs, A_GROUPS, 1)),
				   (long long)type_slot_bytes(op->out->type));
	buf_printf(&b, "barriers %lld", (long long)barrier_bytes);
	return ctx_buf(k->ctx, &b);
}

static int64_t slots_of(const Kernel *k)
{
	const Op *ring = kernel_find(k, OP_RING);
	return ring ? attrs_int(&ring->attrs, A_SLOTS, 1) : 1;
}

static void over_budget(Kernel *k, int64_t total, int64_t barrier_bytes, int64_t max)
{
	const Op *ring = kernel_find(k, OP_RING);
	int64_t slots = slots_of(k), fit = max * slots / total;
	int ctas = kernel_ctas(k);
	const char *remedy =
		fit >= 2 ? ctx_strf(k->ctx, "%lld stages fit", (long long)fit)
			 : ctx_strf(k->ctx, "use a smaller tile%s: not %s of this one fit%s",
				    ctas > 1 ? " or fewer ctas" : "",
				    fit ? "even 2 stages" : "one stage", fit ? "" : "s");
	diag(k->ctx, ring ? ring->loc : k->loc, D_E0401,
	     "%s = %lld bytes of shared memory, over the %lld (%lld KiB) of %s\n%s",
	     sum(k, barrier_bytes), (long long)total, (long long)max, (long long)max / KIB,
	     ctas > 1 ? ctx_strf(k->ctx, "each of %d CTAs of an SM", ctas) : "a CTA", remedy);
}

PASS_OF(smem)
{
	int64_t max = kernel_smem(k);
	int64_t bytes = place(k), barrier_bytes = barriers(k);
	if (bytes + barrier_bytes > max)
		over_budget(k, bytes + barrier_bytes, barrier_bytes, max);
	kernel_int(k, A_SMEM, bytes);
}
