/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* async.c - work that is on its way: it starts when an instruction is issued and happens later,
 * when the seed says so or when nothing else can go on. cp.async, bulk copies and their groups,
 * st.async (PTX ISA: Data Movement and Conversion Instructions: Asynchronous copy).
 *   issue -> Async in the cluster's list -> async_run -> bytes moved, barrier or group completed */
#include "sim/lanes.h"

#include <stdlib.h>

Async *async_new(Warp *w, const Ins *in, AsyncKind kind, u32 lane)
{
	Cluster *c = w->cluster;
	Async *as = calloc(1, sizeof *as), **end = &c->pending;
	if (!as)
		return NULL;
	as->kind = kind;
	as->in = in;
	as->warp = w;
	as->lane = lane;
	as->started = c->steps;
	u32 dice = c->job->opt->seed ? rng_below(&c->rng, 8) : 2;
	as->due = c->steps + (dice < 2 ? 1 : dice < 6 ? 1 + rng_below(&c->rng, 2000) : 20000);
	while (*end)
		end = &(*end)->next;
	*end = as;
	c->npending++;
	return as;
}

static void async_free(Async *as)
{
	free(as->globals);
	free(as);
}

void async_drop(Cluster *c)
{
	while (c->pending) {
		Async *next = c->pending->next;
		async_free(c->pending);
		c->pending = next;
	}
}

Groups *bulk_groups(Warp *w, u32 lane)
{
	if (!w->bulk)
		w->bulk = calloc(LANES, sizeof *w->bulk);
	if (!w->bulk)
		return NULL;
	if (!w->bulk[lane].actor)
		w->bulk[lane].actor = actor_new(w->cluster);
	return &w->bulk[lane];
}

static bool in_bulk_group(const Async *as)
{
	return as->kind == AS_TMA_STORE || as->kind == AS_BULK_STORE;
}

static bool bulk_pending(const Warp *w, u32 lane, u32 group)
{
	for (const Async *as = w->cluster->pending; as; as = as->next)
		if (as->warp == w && as->lane == lane && in_bulk_group(as) && as->group <= group)
			return true;
	return false;
}

static bool cp_pending(const Warp *w, u32 group)
{
	for (const Async *as = w->cluster->pending; as; as = as->next)
		if (as->warp == w && as->kind == AS_CP && as->group <= group)
			return true;
	return false;
}

Mbar *copy_barrier(Warp *w, const Ins *in, u32 lane, Cta *cta, u32 offset)
{
	Mbar *b = mbar_find(w, in, lane, cta, offset, in->text);
	if (!b)
		return NULL;
	if (checked(w->cluster, CHECK_RACE) && !mbar_init_known(w, b))
		report(w, in, (s32)lane, SIM_RACE,
		       "the copy's mbarrier is used, not ordered after its initialisation at line "
		       "%u",
		       b->init_line);
	else if (checked(w->cluster, CHECK_RACE) && !b->fenced)
		report(w, in, (s32)lane, SIM_INIT,
		       "the copy's mbarrier was initialised at line %u without fence.mbarrier_init "
		       "or "
		       "fence.proxy.async",
		       b->init_line);
	return b;
}

bool copy_operand(Warp *w, const Ins *in, const Arg *a, u32 lane, bool cluster, u32 align, Place *p)
{
	u64 addr = mem_address(w, a, lane);
	if (addr >> 32 && addr - GEN_SHARED < GEN_WINDOW)
		addr -= GEN_SHARED;
	return place_at(w, in, lane, cluster ? SP_CLUSTER : SP_SHARED, addr, 1, align, p);
}

Rec *copy_touch(Warp *w, const Ins *in, u32 lane, Cta *cta, u32 offset, u32 bytes, bool write,
		u32 actor, u32 clock, const char *what)
{
	if (!w->cluster->job->opt->checks)
		return NULL;
	return shadow_touch(cta, offset, bytes,
			    &(Access){.w = w,
				      .in = in,
				      .lane = lane,
				      .write = write,
				      .async = in->run != run_cp_async && in->run != run_st_async,
				      .actor = actor,
				      .clock = clock,
				      .what = what});
}

/* A copy that ends in shared memory and completes on an mbarrier there. */
static bool lands(Warp *w, const Ins *in, Async *as, Cta *cta, u32 offset, u32 bytes, u32 bar,
		  const char *what)
{
	Mbar *b = copy_barrier(w, in, as->lane, cta, bar);
	if (!b || !shared_span(w, in, as->lane, cta, offset, bytes, 16, what))
		return false;
	as->cta = as->bar_cta = cta;
	as->offset = offset;
	as->bytes = bytes;
	as->bar_offset = bar;
	as->rec = copy_touch(w, in, as->lane, cta, offset, bytes, true, b->actor, UINT32_MAX, what);
	if (cta != w->cta)
		shadow_remote(w, in, as->lane, cta, b->actor, (u32)b->phase + 1);
	cta->inbound++;
	return true;
}

void prepare_bulk(Pool *a, Ins *in)
{
	int k = in->run == run_tma_load ? 3 : 4;
	if (!has(in, M_MULTICAST_CLUSTER) && has(in, M_L2_CACHE_HINT) && !in->args[k + 1].kind) {
		in->args[k + 1] = in->args[k];
		in->args[k] = (Arg){0};
	}
	if (has(in, M_MULTICAST_CLUSTER) != (in->args[k].kind != A_NONE))
		refuse(a, in, "the CTA mask and .multicast::cluster go together");
	if (has(in, M_L2_CACHE_HINT) != (in->args[k + 1].kind != A_NONE))
		refuse(a, in, "the cache policy and .L2::cache_hint go together");
}

/* Calls start for each CTA that the copy goes to. */
bool copy_targets(Warp *w, const Ins *in, u32 lane, const Arg *mask_arg, const Place *dst,
		  const Place *bar, CopyStart start, void *ctx)
{
	if (mask_arg->kind == A_NONE) {
		if (bar->cta != dst->cta) {
			report(w, in, (s32)lane, SIM_OPERAND,
			       "destination and mbarrier are in different CTAs, ranks %u and %u",
			       dst->cta->rank, bar->cta->rank);
			return false;
		}
		return start(w, in, lane, dst->cta, ctx);
	}
	u32 ranks = (u32)arg_get(w, mask_arg, lane);
	if (!ranks || ranks >> w->cluster->nctas) {
		report(w, in, (s32)lane, SIM_BOUNDS,
		       "the multicast mask 0x%x has a bit for a rank outside the cluster of %u",
		       ranks, w->cluster->nctas);
		return false;
	}
	for (u32 r = 0; r < w->cluster->nctas; r++)
		if (ranks >> r & 1 && !start(w, in, lane, &w->cluster->ctas[r], ctx))
			return false;
	return true;
}

typedef struct {
	u32 offset, bytes, bar;
	u64 global;
} Bulk;

static bool bulk_start(Warp *w, const Ins *in, u32 lane, Cta *cta, void *ctx)
{
	const Bulk *b = ctx;
	Async *as = async_new(w, in, AS_BULK_LOAD, lane);
	if (!as)
		return false;
	as->global = b->global;
	return lands(w, in, as, cta, b->offset, b->bytes, b->bar, "bulk copy");
}

static bool bulk_size(Warp *w, const Ins *in, u32 lane, u32 bytes)
{
	if (bytes % 16 == 0)
		return true;
	report(w, in, (s32)lane, SIM_ALIGN, "a bulk copy of %u bytes: a multiple of 16 is needed",
	       bytes);
	return false;
}

/* [dst], [src], size, [mbar]{, mask}{, policy} */
Run run_bulk_load(Warp *w, const Ins *in, u32 mask)
{
	Place dst, bar;
	EACH_LANE(l, mask)
	{
		Bulk b = {.bytes = (u32)arg_get(w, &in->args[2], l),
			  .global = mem_address(w, &in->args[1], l)};
		if (!bulk_size(w, in, l, b.bytes) ||
		    !copy_operand(w, in, &in->args[0], l, true, 16, &dst) ||
		    !copy_operand(w, in, &in->args[3], l, true, 8, &bar))
			return RUN_FAIL;
		b.offset = dst.offset;
		b.bar = bar.offset;
		if (b.global % 16) {
			report(w, in, (s32)l, SIM_ALIGN,
			       "global address 0x%llx is not a multiple of 16",
			       (unsigned long long)b.global);
			return RUN_FAIL;
		}
		grid_check(w, in, l);
		if (!global_at(w, in, l, b.global, b.bytes, "bulk copy") ||
		    !copy_targets(w, in, l, &in->args[4], &dst, &bar, bulk_start, &b))
			return RUN_FAIL;
	}
	return RUN_NEXT;
}

/* [dst in the cluster], [src in the CTA], size, [mbar] */
Run run_bulk_dsmem(Warp *w, const Ins *in, u32 mask)
{
	Place dst, src, bar;
	EACH_LANE(l, mask)
	{
		u32 bytes = (u32)arg_get(w, &in->args[2], l);
		if (!bulk_size(w, in, l, bytes) ||
		    !copy_operand(w, in, &in->args[0], l, true, 16, &dst) ||
		    !copy_operand(w, in, &in->args[1], l, false, 16, &src) ||
		    !copy_operand(w, in, &in->args[3], l, true, 8, &bar) ||
		    !shared_span(w, in, l, src.cta, src.offset, bytes, 16, "bulk copy"))
			return RUN_FAIL;
		Async *as = async_new(w, in, AS_DSMEM, l);
		if (!as)
			return RUN_FAIL;
		as->from = src.cta;
		as->from_offset = src.offset;
		if (bar.cta != dst.cta) {
			report(w, in, (s32)l, SIM_OPERAND,
			       "destination and mbarrier are in different CTAs");
			return RUN_FAIL;
		}
		if (!lands(w, in, as, dst.cta, dst.offset, bytes, bar.offset, "bulk copy"))
			return RUN_FAIL;
		Mbar *b = mbar_at(bar.cta, bar.offset);
		as->rec_read = copy_touch(w, in, l, src.cta, src.offset, bytes, false, b->actor,
					  UINT32_MAX, "bulk copy");
		src.cta->outbound++;
	}
	return RUN_NEXT;
}

/* [dst], [src], size{, policy}; with reduction too */
Run run_bulk_store(Warp *w, const Ins *in, u32 mask)
{
	Place src;
	EACH_LANE(l, mask)
	{
		u32 bytes = (u32)arg_get(w, &in->args[2], l);
		u64 global = mem_address(w, &in->args[0], l);
		Groups *g = bulk_groups(w, l);
		if (!g || !bulk_size(w, in, l, bytes) ||
		    !copy_operand(w, in, &in->args[1], l, false, 16, &src) ||
		    !shared_span(w, in, l, src.cta, src.offset, bytes, 16, "bulk copy") ||
		    !global_at(w, in, l, global, bytes, "bulk copy"))
			return RUN_FAIL;
		Async *as = async_new(w, in, AS_BULK_STORE, l);
		if (!as)
			return RUN_FAIL;
		grid_check(w, in, l);
		as->global = global;
		as->cta = src.cta;
		as->offset = src.offset;
		as->bytes = bytes;
		as->group = g->committed + 1;
		g->open++;
		g->used = g->committed + 1;
		src.cta->outbound++;
		as->rec = copy_touch(w, in, l, src.cta, src.offset, bytes, false, g->actor,
				     as->group, "bulk store");
	}
	return RUN_NEXT;
}

Run run_bulk_commit(Warp *w, const Ins *in, u32 mask)
{
	(void)in;
	EACH_LANE(l, mask)
	{
		Groups *g = bulk_groups(w, l);
		if (!g)
			return RUN_FAIL;
		g->committed++;
		g->open = 0;
	}
	return RUN_NEXT;
}

Run run_bulk_wait(Warp *w, const Ins *in, u32 mask)
{
	u32 keep = (u32)in->args[0].imm;
	EACH_LANE(l, mask)
	{
		Groups *g = bulk_groups(w, l);
		u32 need = g && g->committed > keep ? g->committed - keep : 0;
		if (!need)
			continue;
		if (bulk_pending(w, l, need))
			return wait_for(w, in, (Wait){.kind = W_BULK, .lane = l, .phase = need});
		if (w->cluster->job->opt->checks)
			clock_raise(&w->know.seen, g->actor, need);
		g->waited = need > g->waited ? need : g->waited;
	}
	return RUN_NEXT;
}

/* Bytes that a lane reads: the operand is their number, or a predicate that says none. */
static u32 cp_source(Warp *w, const Ins *in, u32 lane, u32 size)
{
	const Arg *a = &in->args[3];
	if (!a->kind)
		return size;
	if (a->width == 1)
		return pred_get(w, a) >> lane & 1 ? 0 : size;
	return (u32)arg_get(w, a, lane);
}

/* [dst], [src], cp-size{, src-size or predicate}: one operation for the warp. */
Run run_cp_async(Warp *w, const Ins *in, u32 mask)
{
	u32 size = (u32)in->args[2].imm;
	Place p;
	Async *as = async_new(w, in, AS_CP, lane_first(mask));
	if (!as || !(as->globals = calloc(1, sizeof *as->globals)))
		return RUN_FAIL;
	if (!w->cp.actor)
		w->cp.actor = actor_new(w->cluster);
	as->cta = w->cta;
	as->bytes = size;
	as->group = ++w->cp.seq;
	as->mask = mask;
	EACH_LANE(l, mask)
	{
		u64 addr = mem_address(w, &in->args[0], l);
		u32 src = cp_source(w, in, l, size);
		u64 global = mem_address(w, &in->args[1], l);
		if (src > size)
			src = size;
		if (!place_at(w, in, l, SP_SHARED, addr, size, size, &p) ||
		    (src && (global % size || !global_at(w, in, l, global, src, "cp.async")))) {
			if (src && global % size)
				report(w, in, (s32)l, SIM_ALIGN,
				       "global address 0x%llx is not a multiple of %u",
				       (unsigned long long)global, size);
			return RUN_FAIL;
		}
		grid_check(w, in, l);
		(*as->globals)[l] = global;
		as->offsets[l] = p.offset;
		as->sizes[l] = src;
		copy_touch(w, in, l, w->cta, p.offset, size, true, w->cp.actor, as->group,
			   "cp.async");
	}
	w->cta->outbound++;
	return RUN_NEXT;
}

Run run_cp_commit(Warp *w, const Ins *in, u32 mask)
{
	(void)in;
	(void)mask;
	w->cp.committed++;
	w->cp.last[w->cp.committed % SIM_COUNT(w->cp.last)] = w->cp.seq;
	return RUN_NEXT;
}

Run run_cp_wait(Warp *w, const Ins *in, u32 mask)
{
	bool all = in->args[0].kind == A_NONE;
	u32 keep = all ? 0 : (u32)in->args[0].imm, need = w->cp.seq;
	(void)mask;
	if (!all) {
		if (keep >= w->cp.committed)
			return RUN_NEXT;
		need = w->cp.last[(w->cp.committed - keep) % SIM_COUNT(w->cp.last)];
	}
	if (cp_pending(w, need))
		return wait_for(w, in, (Wait){.kind = W_CP, .phase = need});
	if (w->cp.actor && w->cluster->job->opt->checks)
		clock_raise(&w->know.seen, w->cp.actor, need);
	return RUN_NEXT;
}

Run run_cp_arrive(Warp *w, const Ins *in, u32 mask)
{
	Place p;
	EACH_LANE(l, mask)
	{
		if (!place_at(w, in, l, mem_space(in), mem_address(w, &in->args[0], l), 8, 8, &p) ||
		    !p.cta)
			return RUN_FAIL;
		Mbar *b = mbar_find(w, in, l, p.cta, p.offset, in->text);
		Async *as = b ? async_new(w, in, AS_CP_ARRIVE, l) : NULL;
		if (!as)
			return RUN_FAIL;
		if (!has(in, M_NOINC))
			b->pending++;
		as->bar_cta = p.cta;
		as->bar_offset = p.offset;
		as->group = w->cp.seq;
	}
	return RUN_NEXT;
}

/* [dst], value(s), [mbar] */
Run run_st_async(Warp *w, const Ins *in, u32 mask)
{
	const Arg *v = &in->args[1];
	u32 each = type_bytes[in->type[0]], bytes = each * v->n;
	Place dst, bar;
	EACH_LANE(l, mask)
	{
		if (!copy_operand(w, in, &in->args[0], l, true, bytes, &dst) ||
		    !copy_operand(w, in, &in->args[2], l, true, 8, &bar) || bar.cta != dst.cta)
			return RUN_FAIL;
		Mbar *b = mbar_find(w, in, l, bar.cta, bar.offset, in->text);
		Async *as = b ? async_new(w, in, AS_ST, l) : NULL;
		if (!as)
			return RUN_FAIL;
		for (u32 i = 0; i < v->n; i++) {
			u64 x = arg_get(w, &v->list[i], l);
			memcpy(as->data + i * each, &x, each);
		}
		as->cta = as->bar_cta = dst.cta;
		as->offset = dst.offset;
		as->bytes = bytes;
		as->bar_offset = bar.offset;
		as->rec = copy_touch(w, in, l, dst.cta, dst.offset, bytes, true, b->actor,
				     UINT32_MAX, "st.async");
		if (dst.cta != w->cta)
			shadow_remote(w, in, l, dst.cta, b->actor, (u32)b->phase + 1);
		dst.cta->inbound++;
	}
	return RUN_NEXT;
}

/* Its own files' halves of a completed operation. */
static void bulk_reduce(const Ins *in, u8 *to, const u8 *from, u32 bytes)
{
	u32 each = type_bytes[in->type[0]];
	for (u32 i = 0; i < bytes; i += each) {
		u64 old = 0, v = 0;
		memcpy(&old, to + i, each);
		memcpy(&v, from + i, each);
		old = atom_result(in, old, v, 0);
		memcpy(to + i, &old, each);
	}
}

static void cp_finish(Async *as)
{
	EACH_LANE(l, as->mask)
	{
		u8 *to = as->cta->smem + (as->offsets[l] - SMEM_BASE);
		memset(to, 0, as->bytes);
		if (as->sizes[l])
			memcpy(to,
			       global_at(as->warp, as->in, l, (*as->globals)[l], as->sizes[l],
					 "cp.async"),
			       as->sizes[l]);
	}
}

static void move(Cluster *c, Async *as)
{
	u8 *shared = as->cta ? as->cta->smem + (as->offset - SMEM_BASE) : NULL, *global = NULL;
	if (as->kind == AS_BULK_LOAD || as->kind == AS_BULK_STORE)
		global = global_at(as->warp, as->in, as->lane, as->global, as->bytes, "bulk copy");
	switch (as->kind) {
	case AS_TMA_LOAD:
		tma_load(c, as);
		break;
	case AS_TMA_STORE:
		tma_store(c, as);
		break;
	case AS_BULK_LOAD:
		if (global)
			memcpy(shared, global, as->bytes);
		break;
	case AS_BULK_STORE:
		if (global && as->in->ntypes)
			bulk_reduce(as->in, global, shared, as->bytes);
		else if (global)
			memcpy(global, shared, as->bytes);
		break;
	case AS_DSMEM:
		memmove(shared, as->from->smem + (as->from_offset - SMEM_BASE), as->bytes);
		break;
	case AS_ST:
		memcpy(shared, as->data, as->bytes);
		break;
	case AS_CP:
		cp_finish(as);
		break;
	case AS_CP_ARRIVE:
		break;
	}
}

static const char *const kind_words[] = {
	[AS_TMA_LOAD] = "TMA load",     [AS_TMA_STORE] = "TMA store", [AS_BULK_LOAD] = "bulk load",
	[AS_BULK_STORE] = "bulk store", [AS_DSMEM] = "cluster copy",  [AS_CP] = "cp.async",
	[AS_CP_ARRIVE] = "arrive",      [AS_ST] = "st.async"};

static void late_check(Async *as)
{
	Cta *gone = as->cta && as->cta->exited     ? as->cta
		    : as->from && as->from->exited ? as->from
						   : NULL;
	if (gone && checked(gone->cluster, CHECK_EXIT))
		report(as->warp, as->in, (s32)as->lane, in_bulk_group(as) ? SIM_LEFT : SIM_EXIT,
		       "CTA rank %u exited while this %s was still on its way %s it", gone->rank,
		       kind_words[as->kind], in_bulk_group(as) || as->from == gone ? "from" : "to");
}

static void finish(Cluster *c, Async *as)
{
	late_check(as);
	move(c, as);
	if (as->cta && in_bulk_group(as))
		as->cta->outbound--;
	else if (as->kind == AS_CP)
		as->cta->outbound--;
	else if (as->cta)
		as->cta->inbound--;
	if (as->from)
		as->from->outbound--;
	trace_span(c, as->warp, kind_words[as->kind], "copy", as->started, c->steps);
	cluster_event(c);
	if (!as->bar_cta)
		return;
	Mbar *b = mbar_find(as->warp, as->in, as->lane, as->bar_cta, as->bar_offset,
			    "completion of a copy");
	if (!b)
		return;
	if (as->kind == AS_CP_ARRIVE) {
		if (as->warp->cp.actor)
			clock_raise(&b->gather.seen, as->warp->cp.actor, as->group);
		mbar_arrived(c, as->warp, as->in, as->lane, as->bar_cta, b, 1);
		return;
	}
	if (as->rec_read)
		shadow_settle(c, as->rec_read, (u32)b->phase + 1);
	mbar_complete(c, as, b, as->bytes);
}

static bool ready(const Async *as)
{
	return as->kind != AS_CP_ARRIVE || !cp_pending(as->warp, as->group);
}

/* Unlinks and finishes what *at points to. */
static void take(Cluster *c, Async **at)
{
	Async *as = *at;
	*at = as->next;
	c->npending--;
	finish(c, as);
	async_free(as);
}

/* Completes what is due; when the warps have nothing to do, one that is not due yet. */
void async_run(Cluster *c, bool idle)
{
	bool any = false;
	Async **at = &c->pending;
	while (*at) {
		if ((*at)->due <= c->steps && ready(*at)) {
			take(c, at);
			any = true;
		} else {
			at = &(*at)->next;
		}
	}
	if (!idle || any || !c->pending)
		return;
	u32 skip = c->job->opt->seed ? rng_below(&c->rng, c->npending) : 0;
	at = &c->pending;
	while (skip-- && (*at)->next)
		at = &(*at)->next;
	if (!ready(*at))
		for (at = &c->pending; !ready(*at);)
			at = &(*at)->next;
	take(c, at);
}
