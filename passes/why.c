/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* why.c - reasons of decisions as sentences, with the numbers that decided. Nothing is decided
 * here.
 *     why_swizzle(k, "sA", 64, 64)
 * ->  swizzle sA 128 rejected: "a row of 64 bytes is not a multiple of 128"
 *     swizzle sA 64: "the widest that divides a row of 64 bytes" */
#include "passes/why.h"

#include "ir/schedule.h"

#include <string.h>

void why_swizzle(Kernel *k, const Op *buffer, int row_bytes, int swizzle, int fast)
{
	const char *name = buffer->out->name;
	for (int w = SWIZZLE_WIDEST; w > swizzle; w /= 2)
		kernel_why_not(k, REASON_SWIZZLE, name, w,
			       "a row of %d bytes is not a multiple of %d", row_bytes, w);
	kernel_why(
		k, REASON_SWIZZLE, name, swizzle,
		"the widest that divides a row of %d bytes: %s it and the mma reads it, %s-major",
		row_bytes, ring_is_put(k, buffer) ? "threads write" : "TMA writes",
		fast == 1 ? "K" : "MN");
}

void why_put(Kernel *k, const char *buffer, int64_t threads, bool fenced, bool turns)
{
	kernel_why(k, REASON_PUT, buffer, threads,
		   "threads write it from registers%s; they meet before it is read%s",
		   fenced ? ", and fence that for the async proxy" : "",
		   turns ? ", and write two slots in turn" : ", and before it is written again");
}

void why_masked(Kernel *k, const Val *tile, const Ix *whole)
{
	Buf text = {0};
	ix_print(whole, &text);
	kernel_why(k, REASON_MASKED, NULL, layout_size_int(tile->type->layout),
		   "elements are masked only in tiles for which this does not hold: %s", text.s);
	buf_free(&text);
}

void why_view(Kernel *k, const Val *buffer, Window w)
{
	const char *text =
		ctx_strf(k->ctx,
			 "rows %lld to %lld, columns %lld to %lld%s: the mma reads "
			 "them where they lie, and nothing is copied",
			 (long long)w.at[0], (long long)(w.at[0] + w.n[0] - 1), (long long)w.at[1],
			 (long long)(w.at[1] + w.n[1] - 1), w.turned ? ", transposed" : "");
	for (const Reason *r = kernel_why_find(k, REASON_VIEW, buffer->name); r;
	     r = kernel_why_next(k, REASON_VIEW, r))
		if (!strcmp(r->text, text))
			return;
	kernel_why(k, REASON_VIEW, buffer->name, w.n[0] * w.n[1], "%s", text);
}

void why_copies(Kernel *k, const Op *copy, int bytes)
{
	const Val *tile = IN(copy, FROM).val, *indices = tile_indices(tile);
	const char *tensor = tensor_arg(IN(tile->def, OF).val)->name;
	if (indices)
		kernel_why(k, REASON_COPIES, IN(copy, TO).val->name, bytes,
			   "%s names the rows of %s, which no box of TMA does; so many bytes lie "
			   "side by side",
			   tensor_arg(IN(indices->def, OF).val)->name, tensor);
	else
		kernel_why(k, REASON_COPIES, IN(copy, TO).val->name, bytes,
			   "%s; so many bytes of %s lie side by side",
			   attrs_get(&copy->attrs, A_VIA)
				   ? "as written"
				   : ctx_strf(k->ctx, "%s has no TMA", k->target),
			   tensor);
}

void why_boxes(Kernel *k, const Op *copy, int64_t boxes)
{
	const char *list = tensor_arg(IN(tile_indices(IN(copy, FROM).val)->def, OF).val)->name;
	kernel_why(k, REASON_BOXES, IN(copy, TO).val->name, boxes,
		   "a box of TMA for each row that %s names, as written", list);
}

void why_swap(Kernel *k)
{
	kernel_why(k, REASON_SWAP, NULL, 1, "rows of B are the M of an mma, rows of A its N");
}

void why_overlap(Kernel *k)
{
	kernel_why(k, REASON_OVERLAP, NULL, 1,
		   "the second product of an iteration is in flight while the values of the next "
		   "are computed");
}

static int width(const char *above, const char *below)
{
	size_t a = strlen(above), b = strlen(below);
	return (int)(a > b ? a : b);
}

/* What the tensor cores multiply, above what threads compute meanwhile. */
void why_flight(Kernel *k, const Val *first, const Val *second, const char *loop)
{
	Ctx *c = k->ctx;
	const char *rows[2][4] = {{ctx_strf(c, "%s of %s", first->name, loop),
				   ctx_strf(c, "%s of %s - 1", second->name, loop),
				   ctx_strf(c, "%s of %s + 1", first->name, loop),
				   ctx_strf(c, "%s of %s", second->name, loop)},
				  {"", ctx_strf(c, "values of %s", loop), "",
				   ctx_strf(c, "values of %s + 1", loop)}};
	for (int row = 0; row < 2; row++) {
		Buf b = {0};
		for (int i = 0; i < 4; i++)
			buf_printf(&b, "| %-*s ", width(rows[0][i], rows[1][i]), rows[row][i]);
		kernel_why(k, REASON_FLIGHT, NULL, 2, "%s|", b.s);
		buf_free(&b);
	}
}

void why_no_overlap(Kernel *k, const char *text)
{
	kernel_why(k, REASON_OVERLAP, NULL, 0, "%s", text);
}

void why_group(Kernel *k, int64_t group, GroupReason reason)
{
	static const char *const texts[] = {
		"the default: what runs at one time is about a square, which reads the fewest "
		"rows of A and of B",
		"the default where tiles are dealt out and differ in length: the longest first, "
		"and those of one length together",
		"matrices of a batch whose tiles differ in length: these share a sweep, the "
		"longest tiles first",
		"the default without an mma: tiles that run at one time are neighbours along the "
		"mode in which the output is contiguous",
	};
	kernel_why(k, REASON_GROUP, NULL, group, "%s", texts[reason]);
}

void why_subtile(Kernel *k, int columns, SubtileLimit limit)
{
	static const char *const texts[] = {
		"the widest that divides the columns of an mma: whole lines of 128 bytes",
		"half of the widest: functions or sums of more columns at a time would spill or "
		"wait for registers beside so many accumulators",
		"the widest that leaves each CTA that shares the tile's k a chunk to add up and "
		"store",
		"rows of an odd number of 16 bytes, which lie in different banks without a swizzle",
		"ptxas spilled registers with more",
	};
	bool given = limit != SUBTILE_PLAIN && attrs_get(&k->attrs, A_SUBTILE);
	kernel_why(k, REASON_SUBTILE, NULL, columns, "%s",
		   given ? "the widest up to the schedule's limit" : texts[limit]);
}

void why_parts(Kernel *k, const Ix *trips, int owners, int64_t bytes)
{
	int parts = (int)attrs_int(&k->attrs, A_SPLIT_K, 1);
	const char *each = ix_text(k->ctx, trips);
	bool far = schedule_by_workspace(k);
	const char *whose = far ? "" : "of a cluster ",
		   *through = far ? "the launch's workspace" : "their shared memory";
	if (owners == 1)
		kernel_why(
			k, REASON_EXCHANGE, "sum", parts,
			"CTAs %shave a part of k each, %s trips; the first adds the others' sums "
			"to its own, %lld bytes of each through %s, and stores the tile",
			whose, each, (long long)bytes, through);
	else
		kernel_why(k, REASON_EXCHANGE, "sum", parts,
			   "CTAs %shave a part of k each, %s trips; %d of them add up and store a "
			   "part of the tile each, of at most %lld bytes of each of the others "
			   "through %s",
			   whose, each, owners, (long long)bytes, through);
}

void why_staging(Kernel *k, const Val *tensor, int slots, int most, int64_t one, int64_t left)
{
	bool over = !attrs_int(&k->attrs, A_PERSISTENT, 0);
	const char *where = over ? "that the stages release" : "that the stages leave";
	if (slots && slots < most)
		kernel_why_not(k, REASON_STAGING, tensor->name, slots + 1,
			       "%lld bytes, over the %lld %s", (long long)((slots + 1) * one),
			       (long long)left, where);
	if (slots)
		kernel_why(k, REASON_STAGING, tensor->name, slots,
			   "by TMA: room for %d slot%s of each warpgroup (%lld bytes for all) in "
			   "the %lld %s, at most %d",
			   slots, slots > 1 ? "s" : "", (long long)(slots * one), (long long)left,
			   where, most);
}

void why_direct(Kernel *k, const Val *tensor, const char *why)
{
	kernel_why(k, REASON_STAGING, tensor->name, 0, "from registers: %s", why);
}

void why_no_source(Kernel *k, const Val *tensor, const char *why)
{
	if (!kernel_why_find(k, REASON_SOURCE, tensor->name))
		kernel_why(k, REASON_SOURCE, tensor->name, 0, "not by TMA: %s", why);
}

void why_stages(Kernel *k, const char *ring, int stages, int64_t one, int64_t left, int most)
{
	if (stages < most)
		kernel_why_not(k, REASON_STAGES, ring, stages + 1, "%lld bytes, over the %lld left",
			       (long long)((stages + 1) * one), (long long)left);
	kernel_why(k, REASON_STAGES, ring, stages,
		   "as many as fit: %d x %lld bytes with their barriers, of %lld; at most %d",
		   stages, (long long)one, (long long)left, most);
}

void why_threads(Kernel *k, int threads, int elements)
{
	kernel_why(k, REASON_THREADS, NULL, threads,
		   "no mma says how many; each has %d elements of a tile", elements);
}

void why_turned(Kernel *k, const char *tensor, const Layout *l, int64_t turns, int64_t least)
{
	const char *at = layout_str(k->ctx, l);
	kernel_why(k, REASON_EXCHANGE, tensor, (int64_t)turns,
		   turns > least
			   ? "turns of the banks, %lld without conflicts: it lies along the other "
			     "mode than the threads, which change through shared memory, %s"
			   : "turns of the banks, %lld without conflicts, which is all: it lies "
			     "along the other mode than the threads, which change through shared "
			     "memory, %s",
		   (long long)least, at);
}

void why_parts_of(Kernel *k, const char *what, int parts, int times)
{
	bool rows = !strcmp(what, "rows");
	kernel_why(k, REASON_EXCHANGE, what, parts, "%s through shared memory, %d time%s a tile",
		   rows ? "warps hold a row together, which is too long for one; they exchange "
			  "what each has of it"
			: "parts of 16 rows make a column; the warps that hold them exchange what "
			  "each has of it",
		   times, times > 1 ? "s" : "");
}

void why_registers(Kernel *k, int producer, int consumer, int accumulators, int overhead)
{
	const char *moved = producer ? ctx_strf(k->ctx, "the producer keeps %d", producer)
				     : "nothing is moved by setmaxnreg";
	kernel_why(k, REASON_REGISTERS, NULL, consumer,
		   "%d of register tiles and %d for addresses; %s", accumulators, overhead, moved);
}

void why_few_registers(Kernel *k, int consumer, int needed)
{
	kernel_why_not(k, REASON_REGISTERS, NULL, consumer, "%d are needed", needed);
}

void why_ahead(Kernel *k, const char *ring, int ahead)
{
	kernel_why(k, REASON_AHEAD, ring, ahead,
		   "the stages minus the wgmma groups left in flight");
}
