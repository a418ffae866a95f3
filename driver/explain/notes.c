/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* notes.c - what a program cannot say, as comments after each kernel: the launch, roles,
 * copies with their boxes, barriers with counts and bytes, shared memory with offsets.
 *     //: barriers    ab.full[4]  1 arrival and 49152 bytes a phase, at 229376 */
#include "driver/explain/explain.h"

#include <inttypes.h>
#include <string.h>

void note(Buf *out, const char *title, const char *fmt, ...)
{
	va_list ap;
	buf_printf(out, "%s   %-9s ", explain_mark, title);
	va_start(ap, fmt);
	buf_vprintf(out, fmt, ap);
	va_end(ap);
}

static const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

static void note_constants(const Facts *f, Buf *out)
{
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, REASON_CONSTANT, w));)
		note(out, "", "constant %s: %s\n", w->subject, w->text);
}

static void note_grid(const Facts *f, Buf *out)
{
	static const char *const turns[] = {"one tile each", "each computes tile after tile",
					    "each computes a tile, then those that it draws"};
	note(out, "grid", "%s CTAs of %" PRId64 " threads, %s\n", f->grid, f->threads,
	     turns[f->clause[CLAUSE_PERSISTENT].v[0]]);
	if (f->threads)
		fill_note(f, out);
	note(out, "", "programmatic dependent launch %s\n",
	     f->clause[CLAUSE_PDL].v[0]
		     ? "on: grid.launch first, grid.wait before global memory is touched"
		     : "off");
	note_constants(f, out);
}

static void note_tile(const Facts *f, Buf *out)
{
	for (int i = 0; i < f->tile.n; i++) {
		note(out, i ? "" : "tile", "%s\n", f->tile.at[i]);
	}
}

static void note_checks(const Facts *f, Buf *out)
{
	for (int i = 0; i < f->checks.n; i++) {
		note(out, i ? "" : "launch", "checks %s: %s\n", f->checks.at[i].text,
		     f->checks.at[i].rule);
	}
}

static void note_descriptors(const FactMma *m, Buf *out)
{
	if (m->b_in_registers)
		note(out, "", "A and B in registers\n");
	else if (m->a_in_registers)
		note(out, "",
		     "A in registers; descriptor: leading bytes %" PRId64 ", stride bytes %" PRId64
		     " of B\n",
		     m->lbo[1], m->sbo[1]);
	else
		note(out, "",
		     "descriptors: leading bytes %" PRId64 " and %" PRId64 ", stride bytes %" PRId64
		     " and %" PRId64 " of A and B\n",
		     m->lbo[0], m->lbo[1], m->sbo[0], m->sbo[1]);
}

static void note_reason(const Facts *f, ReasonId id, const char *of, Buf *out)
{
	const Reason *w = kernel_why_find(f->k, id, NULL);
	if (!w)
		return;
	note(out, "", "%s%s\n", of, w->text);
}

static void note_promotions(const Facts *f, Buf *out)
{
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, REASON_PROMOTE, w));)
		note(out, "", "%s takes the sums of %" PRId64 " elements of K, in f32: %s\n",
		     w->subject, w->value, w->text);
}

static void note_mma(const Facts *f, Buf *out)
{
	for (int i = 0; i < f->mmas.n; i++) {
		const FactMma *m = &f->mmas.at[i];
		note(out, i ? "" : "mma", "%d x %s a stage and %s, by %s\n", m->instructions,
		     m->atom, m->b_in_registers ? "warp" : "warpgroup", m->role);
		note_descriptors(m, out);
		if (m->tv) {
			note(out, "", "accumulator: (thread, register) -> %s\n",
			     layout_str(f->k->ctx, m->tv));
		}
	}
	note_reason(f, REASON_SWAP, "swap: ", out);
	note_promotions(f, out);
}

static void note_roles(const Facts *f, Buf *out)
{
	for (int i = 0; i < f->role.n; i++) {
		const FactRole *r = &f->role.at[i];
		note(out, i ? "" : "roles", "%-8s warps %" PRId64 "..%" PRId64, r->name, r->first,
		     r->first + r->warps - 1);
		if (r->active != r->warps)
			buf_printf(out, ", of which %" PRId64 " work%s", r->active,
				   r->active == 1 ? "s" : "");
		buf_printf(out, "; %" PRId64 " registers a thread%s", r->regs,
			   r->moves ? " by setmaxnreg" : "");
		if (r->turns > 1)
			buf_printf(out, "; %" PRId64 " warpgroups take tiles in turn", r->turns);
		buf_printf(out, "\n");
	}
	note(out, "", "%" PRId64 " registers a thread at launch; the %s %" PRId64 "\n",
	     f->launch_regs,
	     !f->mmas.n    ? "tiles take"
	     : f->accs > 1 ? "accumulators and row vectors take"
			   : "accumulator takes",
	     f->acc_regs);
}

/* The second way of a tensor: of the conditions, those that no where clause has settled. */
static void note_uneven(const FactCopy *c, Buf *out)
{
	if (!c->uneven)
		return;
	note(out, "",
	     "where %s%sthe address of %s is no multiple of 16 bytes, the launcher copies it "
	     "into workspace first\n",
	     c->uneven, *c->uneven ? " or " : "", c->tensor);
}

/* Measured on an H200: 5.4 TB/s where rows begin anywhere in a line of 128 bytes, 10.6 else. */
static void note_slow(const FactCopy *c, Buf *out)
{
	if (c->why || !*c->slow)
		return;
	note(out, "",
	     "where %s is no multiple of 128 bytes, TMA is half as fast: a cluster that "
	     "shares %s loads it once\n",
	     c->slow, c->tensor);
}

/* Where indices name rows, several warps have a box for each of theirs. */
static const char *threads_of(const Facts *f, const FactCopy *c)
{
	return c->warps ? ctx_strf(f->k->ctx, "each of %d warp%s of ", c->warps, plural(c->warps))
			: "";
}

static void note_copy(const Facts *f, const FactCopy *c, const char *title, Buf *out)
{
	note(out, title, c->barrier ? "%s <- %s" : "%s -> %s", c->buffer, c->tensor);
	buf_printf(out, c->adds ? "  added by TMA, box (" : "  TMA box (");
	for (int i = 0; i < c->rank && i < BOX_MAX; i++)
		buf_printf(out, "%s%" PRId64, i ? "," : "", c->box[i]);
	buf_printf(out, ") of %s, fastest mode first, swizzle %" PRId64 "%s; ",
		   elem_rows[c->elem].name, c->swizzle,
		   c->ragged ? ", clipped at its group's end by the last two modes" : "");
	if (!c->barrier) {
		buf_printf(out, "%d a tile, by one thread of %s\n", c->copies, c->role);
		if (c->asks) {
			note(out, "",
			     "where %s is 1: address, stride and row are multiples of 16 bytes, "
			     "as the launcher decides; else the threads copy %s\n",
			     c->asks, c->buffer);
		}
		return;
	}
	buf_printf(out, "%d a stage, %" PRId64 " bytes, by one thread of %s%s, on %s\n", c->copies,
		   c->bytes, threads_of(f, c), c->role, c->barrier);
	note_uneven(c, out);
	note_slow(c, out);
	share_note(f, c, out);
}

static void note_exchanges(const Facts *f, Buf *out)
{
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, REASON_EXCHANGE, w));)
		note(out, w->subject, "%" PRId64 " %s\n", w->value, w->text);
}

static void note_lanes(const FactLanes *l, const char *title, Buf *out)
{
	note(out, title, "%s <- %s  by cp.async, %" PRId64 " bytes at a time, by threads of %s\n",
	     l->buffer, l->tensor, l->bytes, l->role);
}

static void note_puts(const Facts *f, Buf *out)
{
	bool first = true;
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, REASON_PUT, w)); first = false)
		note(out, first ? "writes" : "", "%s  %" PRId64 " %s\n", w->subject, w->value,
		     w->text);
}

static void note_masks(const Facts *f, Buf *out)
{
	bool first = true;
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, REASON_MASKED, w)); first = false)
		note(out, first ? "masks" : "", "%" PRId64 " %s\n", w->value, w->text);
}

static void note_flight(const Facts *f, Buf *out)
{
	static const char *const who[] = {"tensor cores", "threads"};
	int row = 0;
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, REASON_FLIGHT, w)); row++)
		note(out, row ? "" : "overlap", "%-12s %s\n", who[row % 2], w->text);
}

/* Loads that go before the loop that they belong to. */
static void note_ahead(const Facts *f, Buf *out)
{
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, REASON_AHEAD, w));)
		note(out, "", "the first %" PRId64 " before the loop: %s\n", w->value, w->text);
}

static void note_copies(const Facts *f, Buf *out)
{
	for (int i = 0; i < f->loads.n; i++)
		note_copy(f, &f->loads.at[i], i ? "" : "loads", out);
	for (int i = 0; i < f->lanes.n; i++)
		note_lanes(&f->lanes.at[i], f->loads.n + i ? "" : "loads", out);
	note_ahead(f, out);
	note_puts(f, out);
	note_flight(f, out);
	note_masks(f, out);
	for (int i = 0; i < f->stores.n; i++)
		note_copy(f, &f->stores.at[i], i ? "" : "stores", out);
	if (f->direct_stores) {
		note(out, f->stores.n ? "" : "stores",
		     "from registers, under a guard: %d instruction%s a thread\n", f->direct_stores,
		     plural(f->direct_stores));
	}
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, REASON_SOURCE, w));)
		note(out, "", "%s by each thread: %s\n", w->subject, w->text);
}

static void note_arrivals(const Facts *f, const FactBarrier *b, Buf *out)
{
	Ctx *c = f->k->ctx;
	note(out, "", "at most; of ranks 0, 1, ..:");
	for (int64_t r = 0; r < f->clause[CLAUSE_CLUSTER].v[0] * f->clause[CLAUSE_CLUSTER].v[1];
	     r++) {
		buf_printf(out, " ");
		ix_print(ix_simplify(c, ix_subst(c, b->by_rank, "rank", ix_const(c, r)),
				     (IxFacts){0}),
			 out);
	}
	buf_printf(out, "\n");
}

/* Whether threads copy into slots of the ring. */
static bool is_copied_into(const Facts *f, const char *ring)
{
	for (int i = 0; i < f->lanes.n; i++)
		if (!strcmp(facts_buffer(f, f->lanes.at[i].buffer)->ring, ring))
			return true;
	return false;
}

/* A ring's first barrier tells of what fills it, the second of what has been read. */
static const char *who_arrives(const Facts *f, const FactBarrier *b)
{
	const FactBarrier *first = f->barriers.at;
	while (strcmp(first->ring, b->ring) != 0)
		first++;
	if (first == b && is_copied_into(f, b->ring))
		return b->bytes ? "the CTA announces what lands in its slot, each thread that "
				  "copies tells of its part"
				: "each thread that copies into the slot tells of its part";
	if (b->before)
		return "each warp that loads announces what of that lands in the CTA's slot";
	return b->bytes ? "the CTA announces what lands in its slot"
			: "each warp that reads the slot releases it";
}

static void note_barriers(const Facts *f, Buf *out)
{
	for (int i = 0; i < f->barriers.n; i++) {
		const FactBarrier *b = &f->barriers.at[i];
		note(out, i ? "" : "barriers", "%s[%" PRId64 "]  %" PRId64 " arrival%s", b->name,
		     b->slots, b->count, plural(b->count));
		if (b->bytes)
			buf_printf(out, " and %" PRId64 " bytes", b->bytes);
		buf_printf(out, " a phase: %s\n", who_arrives(f, b));
		if (b->by_rank)
			note_arrivals(f, b, out);
	}
	for (int i = 0; i < f->rings.n; i++)
		share_ring_note(&f->rings.at[i], out);
	for (int i = 0; i < f->named.n; i++) {
		note(out, f->barriers.n + i ? "" : "barriers",
		     "named barrier %s: %" PRId64 " threads meet\n", f->named.at[i].id,
		     f->named.at[i].threads);
	}
}

static void note_memory(const Facts *f, Buf *out)
{
	for (int i = 0; i < f->buffers.n; i++) {
		const FactBuffer *b = &f->buffers.at[i];
		note(out, i ? "" : "shared", "%7" PRId64 "  %-10s ", b->offset, b->name);
		if (b->groups > 1)
			buf_printf(out, "%" PRId64 " warpgroups x ", b->groups);
		buf_printf(out, "%" PRId64 " slot%s x %" PRId64 " bytes, of %s", b->slots,
			   plural(b->slots), b->bytes, b->ring);
		if (b->over)
			buf_printf(out, ", over %s: its loads are complete by then", b->over);
		buf_printf(out, "\n");
	}
	for (int i = 0; i < f->barriers.n; i++) {
		const FactBarrier *b = &f->barriers.at[i];
		note(out, f->buffers.n + i ? "" : "shared",
		     "%7" PRId64 "  %-10s %" PRId64 " x 8 bytes\n", b->offset, b->name, b->slots);
	}
	note(out, "",
	     "%7" PRId64 "  in all, of %" PRId64
	     "; buffers begin at multiples of 1024, where swizzles repeat\n",
	     f->smem, f->smem_limit);
}

void notes_print(const Facts *f, Buf *out)
{
	buf_printf(out, "%s %s: what the language cannot express\n", explain_mark, f->k->name);
	note_grid(f, out);
	note_tile(f, out);
	note_checks(f, out);
	note_roles(f, out);
	note_exchanges(f, out);
	note_mma(f, out);
	note_copies(f, out);
	note_barriers(f, out);
	note_memory(f, out);
}
