/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copies.c - instructions that start asynchronous work, and those that wait for it: cp.async, bulk
 * copies and their groups, st.async (PTX ISA: Data Movement and Conversion Instructions:
 * Asynchronous copy).
 *   cp.async.bulk.shared::cluster.global [%r1], [%rd1], 64, [%r2]
 *   ->  Async {BULK_LOAD, 64 bytes to %r1 of this CTA, then the barrier at %r2} */
#include "sim/lanes.h"

#include <stdlib.h>

static Groups *bulk_groups(Warp *w, u32 lane)
{
	if (!w->bulk)
		w->bulk = calloc(LANES, sizeof *w->bulk);
	if (!w->bulk)
		return NULL;
	if (!w->bulk[lane].actor)
		w->bulk[lane].actor = actor_new(w->cluster);
	return &w->bulk[lane];
}

/* The barrier of a copy: live, and its initialisation visible to the async proxy. */
static Mbar *copy_barrier(Warp *w, const Ins *in, u32 lane, Cta *cta, u32 offset)
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

/* Bytes of shared memory that an operation will write or read; the record to settle. */
static Rec *copy_touch(Warp *w, const Ins *in, u32 lane, Cta *cta, u32 offset, u32 bytes,
		       bool write, u32 actor, u32 clock, const char *what)
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

static const char *copy_word(const Async *as)
{
	return as->kind == AS_TMA_LOAD    ? "TMA load"
	       : as->kind == AS_TMA_STORE ? "TMA store"
	       : as->kind == AS_ST        ? "st.async"
					  : "bulk copy";
}

static bool copy_span(Warp *w, const Ins *in, u32 lane, const Async *as, const Cta *cta, u32 offset)
{
	u32 align = as->kind == AS_TMA_LOAD || as->kind == AS_TMA_STORE ? 128 : 16;
	return shared_span(w, in, lane, cta, offset, as->bytes, align, copy_word(as));
}

/* An operation that writes shared memory of cta and completes on b there. */
static Async *lands(Warp *w, const Ins *in, u32 lane, Cta *cta, const Mbar *b, const Async *proto)
{
	Async *as = b ? async_new(w, in, lane, proto) : NULL;
	if (!as)
		return NULL;
	as->cta = as->bar_cta = cta;
	as->bar_offset = b->offset;
	as->rec = copy_touch(w, in, lane, cta, as->offset, as->bytes, true, b->actor, UINT32_MAX,
			     copy_word(as));
	if (cta != w->cta)
		shadow_remote(w, in, lane, cta, b->actor, (u32)b->phase + 1);
	cta->inbound++;
	return as;
}

static Async *copy_start(Warp *w, const Ins *in, u32 lane, Cta *cta, u32 bar, const Async *proto)
{
	Mbar *b = copy_barrier(w, in, lane, cta, bar);
	if (!b || !copy_span(w, in, lane, proto, cta, proto->offset))
		return NULL;
	return lands(w, in, lane, cta, b, proto);
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

static bool same_cta(Warp *w, const Ins *in, u32 lane, const Place *dst, const Place *bar)
{
	if (bar->cta == dst->cta)
		return true;
	report(w, in, (s32)lane, SIM_OPERAND,
	       "destination and mbarrier are in different CTAs, ranks %u and %u", dst->cta->rank,
	       bar->cta->rank);
	return false;
}

bool copy_lands(Warp *w, const Ins *in, u32 lane, const Arg *mask_arg, const Place *dst,
		const Place *bar, Async *proto)
{
	proto->offset = dst->offset;
	if (mask_arg->kind == A_NONE)
		return same_cta(w, in, lane, dst, bar) &&
		       copy_start(w, in, lane, dst->cta, bar->offset, proto);
	u32 ranks = (u32)arg_get(w, mask_arg, lane);
	if (!ranks || ranks >> w->cluster->nctas) {
		report(w, in, (s32)lane, SIM_BOUNDS,
		       "the multicast mask 0x%x has a bit for a rank outside the cluster of %u",
		       ranks, w->cluster->nctas);
		return false;
	}
	for (u32 r = 0; r < w->cluster->nctas; r++)
		if (ranks >> r & 1 &&
		    !copy_start(w, in, lane, &w->cluster->ctas[r], bar->offset, proto))
			return false;
	return true;
}

bool copy_leaves(Warp *w, const Ins *in, u32 lane, const Place *src, Async *proto)
{
	Groups *g = bulk_groups(w, lane);
	bool fits = g && copy_span(w, in, lane, proto, src->cta, src->offset);
	Async *as = fits ? async_new(w, in, lane, proto) : NULL;
	if (!as)
		return false;
	as->cta = src->cta;
	as->offset = src->offset;
	as->group = g->used = g->committed + 1;
	g->open++;
	src->cta->outbound++;
	as->rec = copy_touch(w, in, lane, src->cta, src->offset, as->bytes, false, g->actor,
			     as->group, as->kind == AS_TMA_STORE ? "TMA store" : "bulk store");
	return true;
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
static bool each_bulk_load(Warp *w, const Ins *in, u32 l)
{
	Place dst, bar;
	Async copy = {.kind = AS_BULK_LOAD,
		      .bytes = (u32)GET(2),
		      .global = mem_address(w, &in->args[1], l)};
	if (!bulk_size(w, in, l, copy.bytes) ||
	    !copy_operand(w, in, &in->args[0], l, true, 16, &dst) ||
	    !copy_operand(w, in, &in->args[3], l, true, 8, &bar))
		return false;
	if (copy.global % 16) {
		report(w, in, (s32)l, SIM_ALIGN, "global address 0x%llx is not a multiple of 16",
		       (unsigned long long)copy.global);
		return false;
	}
	grid_check(w, in, l);
	return global_at(w, in, l, copy.global, copy.bytes, "bulk copy") &&
	       copy_lands(w, in, l, &in->args[4], &dst, &bar, &copy);
}

PER_LANE(bulk_load)

/* [dst in the cluster], [src in the CTA], size, [mbar] */
static bool each_bulk_dsmem(Warp *w, const Ins *in, u32 l)
{
	Place dst, src, bar;
	Async copy = {.kind = AS_DSMEM, .bytes = (u32)GET(2)};
	if (!bulk_size(w, in, l, copy.bytes) ||
	    !copy_operand(w, in, &in->args[0], l, true, 16, &dst) ||
	    !copy_operand(w, in, &in->args[1], l, false, 16, &src) ||
	    !copy_operand(w, in, &in->args[3], l, true, 8, &bar) ||
	    !copy_span(w, in, l, &copy, src.cta, src.offset) || !same_cta(w, in, l, &dst, &bar))
		return false;
	copy.offset = dst.offset;
	copy.from = src.cta;
	copy.from_offset = src.offset;
	Async *as = copy_start(w, in, l, dst.cta, bar.offset, &copy);
	if (!as)
		return false;
	as->rec_read = copy_touch(w, in, l, src.cta, src.offset, as->bytes, false,
				  mbar_at(bar.cta, bar.offset)->actor, UINT32_MAX, "bulk copy");
	src.cta->outbound++;
	return true;
}

PER_LANE(bulk_dsmem)

/* [dst], [src], size{, policy}; with reduction too */
static bool each_bulk_store(Warp *w, const Ins *in, u32 l)
{
	Place src;
	Async copy = {.kind = AS_BULK_STORE,
		      .bytes = (u32)GET(2),
		      .global = mem_address(w, &in->args[0], l)};
	if (!bulk_size(w, in, l, copy.bytes) ||
	    !copy_operand(w, in, &in->args[1], l, false, 16, &src) ||
	    !global_at(w, in, l, copy.global, copy.bytes, "bulk copy"))
		return false;
	grid_check(w, in, l);
	return copy_leaves(w, in, l, &src, &copy);
}

PER_LANE(bulk_store)

static bool each_bulk_commit(Warp *w, const Ins *in, u32 l)
{
	(void)in;
	Groups *g = bulk_groups(w, l);
	if (!g)
		return false;
	g->committed++;
	g->open = 0;
	return true;
}

PER_LANE(bulk_commit)

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
	Async *as = async_new(w, in, lane_first(mask),
			      &(Async){.kind = AS_CP,
				       .cta = w->cta,
				       .bytes = size,
				       .group = ++w->cp.seq,
				       .mask = mask});
	if (!as || !(as->globals = calloc(1, sizeof *as->globals)))
		return RUN_FAIL;
	if (!w->cp.actor)
		w->cp.actor = actor_new(w->cluster);
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

RUN(cp_commit, w->cp.last[++w->cp.committed % SIM_COUNT(w->cp.last)] = w->cp.seq)

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

static bool each_cp_arrive(Warp *w, const Ins *in, u32 l)
{
	Place p;
	if (!place_at(w, in, l, mem_space(in), mem_address(w, &in->args[0], l), 8, 8, &p) || !p.cta)
		return false;
	Mbar *b = mbar_find(w, in, l, p.cta, p.offset, in->text);
	const Async arrive = {.kind = AS_CP_ARRIVE,
			      .bar_cta = p.cta,
			      .bar_offset = p.offset,
			      .group = w->cp.seq};
	if (!b || !async_new(w, in, l, &arrive))
		return false;
	if (!has(in, M_NOINC))
		b->pending++;
	return true;
}

PER_LANE(cp_arrive)

/* [dst], value(s), [mbar] */
static bool each_st_async(Warp *w, const Ins *in, u32 l)
{
	const Arg *v = &in->args[1];
	u32 each = type_bytes[in->type[0]], bytes = each * v->n;
	Place dst, bar;
	if (!copy_operand(w, in, &in->args[0], l, true, bytes, &dst) ||
	    !copy_operand(w, in, &in->args[2], l, true, 8, &bar) || bar.cta != dst.cta)
		return false;
	Async store = {.kind = AS_ST, .offset = dst.offset, .bytes = bytes};
	for (u32 i = 0; i < v->n; i++) {
		u64 x = arg_get(w, &v->list[i], l);
		memcpy(store.data + i * each, &x, each);
	}
	Mbar *b = mbar_find(w, in, l, bar.cta, bar.offset, in->text);
	return lands(w, in, l, dst.cta, b, &store);
}

PER_LANE(st_async)
