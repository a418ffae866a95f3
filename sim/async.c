/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* async.c - work that is on its way: it starts when an instruction is issued (copies.c) and happens
 * later, when the seed says so or when nothing else can go on.
 *   issue -> Async in the cluster's list -> async_run -> bytes moved, barrier or group completed */
#include "sim/lanes.h"

#include <stdlib.h>

Async *async_new(Warp *w, const Ins *in, u32 lane, const Async *proto)
{
	Cluster *c = w->cluster;
	Async *as = malloc(sizeof *as), **end = &c->pending;
	if (!as)
		return NULL;
	*as = *proto;
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

static bool in_bulk_group(const Async *as)
{
	return as->kind == AS_TMA_STORE || as->kind == AS_BULK_STORE;
}

bool bulk_pending(const Warp *w, u32 lane, u32 group)
{
	for (const Async *as = w->cluster->pending; as; as = as->next)
		if (as->warp == w && as->lane == lane && in_bulk_group(as) && as->group <= group)
			return true;
	return false;
}

bool cp_pending(const Warp *w, u32 group)
{
	for (const Async *as = w->cluster->pending; as; as = as->next)
		if (as->warp == w && as->kind == AS_CP && as->group <= group)
			return true;
	return false;
}

/* ------------------------------------------------------------------ what completes */
/* Its own files' halves of a completed operation. */
static void bulk_reduce(const Ins *in, u8 *to, const u8 *from, u32 bytes)
{
	u32 each = type_bytes[in->type[0]];
	for (u32 i = 0; i < bytes; i += each) {
		u64 v = 0;
		memcpy(&v, from + i, each);
		atom_exchange(in, to + i, v, 0);
	}
}

static const char *const kind_words[] = {
	[AS_TMA_LOAD] = "TMA load",     [AS_TMA_STORE] = "TMA store", [AS_BULK_LOAD] = "bulk load",
	[AS_BULK_STORE] = "bulk store", [AS_DSMEM] = "cluster copy",  [AS_CP] = "cp.async",
	[AS_CP_ARRIVE] = "arrive",      [AS_ST] = "st.async"};

/* It is known to have happened by the barrier or the group that says so; a reduction is atomic. */
void async_touch(const Async *as, const u8 *host, u64 bytes, bool write)
{
	Warp *w = as->warp;
	const Mbar *b = as->bar_cta ? mbar_at(as->bar_cta, as->bar_offset) : NULL;
	bool group = in_bulk_group(as);
	u32 actor = b ? b->actor : group ? w->bulk[as->lane].actor : w->cp.actor;
	Place p = {.host = (u8 *)(uintptr_t)host, .shadow = globals_shadow(w)};
	if (checked(w->cluster, CHECK_GLOBAL))
		place_touch(&p, (u32)bytes,
			    (Access){.w = w,
				     .in = as->in,
				     .lane = as->lane,
				     .write = write,
				     .actor = actor,
				     .clock = b ? (u32)b->phase + 1 : as->group,
				     .what = write && as->in->text[3] == 'r'
						     ? strong_access
						     : kind_words[as->kind]});
}

static void cp_finish(Async *as)
{
	EACH_LANE(l, as->mask)
	{
		u8 *to = as->cta->smem + (as->offsets[l] - SMEM_BASE);
		u32 n = as->sizes[l];
		memset(to, 0, as->bytes);
		if (!n)
			continue;
		const u8 *from = global_at(as->warp, as->in, l, (*as->globals)[l], n, "cp.async");
		async_touch(as, from, n, false);
		memcpy(to, from, n);
	}
}

static void move(Cluster *c, Async *as)
{
	u8 *shared = as->cta ? as->cta->smem + (as->offset - SMEM_BASE) : NULL, *global = NULL;
	if (as->kind == AS_BULK_LOAD || as->kind == AS_BULK_STORE)
		global = global_at(as->warp, as->in, as->lane, as->global, as->bytes, "bulk copy");
	if (global)
		async_touch(as, global, as->bytes, as->kind == AS_BULK_STORE);
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
