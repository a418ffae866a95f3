/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* memory.c - global memory of the device and where any address of any space is on the host.
 * Addresses grow and are never given twice; gaps lie between allocations; so a stray address is
 * noticed.
 *   place_at(w, in, lane, SP_GENERIC, 0x700000000400, ..)
 *                                           ->  shared memory of the CTA, offset 0x400 */
#include "sim/machine.h"

#include <stdlib.h>

enum { GAP = 4096 };
static const u64 first_address = UINT64_C(0x0000100000000000);

struct Memory *sim_memory_new(void)
{
	Memory *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	m->next = first_address;
	spare_start(&m->files);
	return m;
}

void sim_memory_free(struct Memory *m)
{
	if (!m)
		return;
	for (u32 i = 0; i < m->n; i++)
		free(m->allocs[i].host);
	free(m->allocs);
	spare_end(&m->files);
	free(m);
}

u64 sim_alloc(struct Memory *m, u64 bytes)
{
	if (bytes > UINT64_C(1) << 40 ||
	    !list_grow(&m->allocs, &m->cap, m->n + 1, sizeof *m->allocs))
		return 0;
	u64 room = (bytes + 255) & ~UINT64_C(255);
	u8 *host = aligned_alloc(256, room ? room : 256);
	if (!host)
		return 0;
	memset(host, 0xcd, room);
	m->allocs[m->n++] = (Alloc){m->next, bytes, host};
	u64 at = m->next;
	m->next += room + GAP;
	m->total += bytes;
	return at;
}

static const Alloc *memory_find(const Memory *m, u64 addr)
{
	u32 lo = 0, hi = m->n;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;
		if (m->allocs[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &m->allocs[lo - 1] : NULL;
}

bool sim_release(struct Memory *m, u64 addr)
{
	Alloc *a = (Alloc *)memory_find(m, addr);
	if (!a || a->addr != addr || !a->host)
		return false;
	free(a->host);
	a->host = NULL;
	m->total -= a->size;
	return true;
}

static bool inside(const Alloc *a, u64 addr, u64 bytes)
{
	return a && a->host && addr >= a->addr && bytes <= a->size &&
	       addr - a->addr <= a->size - bytes;
}

void *sim_host(struct Memory *m, u64 addr, u64 bytes)
{
	const Alloc *a = memory_find(m, addr);
	return inside(a, addr, bytes) ? a->host + (addr - a->addr) : NULL;
}

static void global_report(Warp *w, const Ins *in, u32 lane, u64 addr, u64 bytes, const char *what)
{
	const Alloc *a = memory_find(w->cluster->job->memory, addr);
	if (!a || addr - a->addr >= a->size + GAP)
		report(w, in, (s32)lane, SIM_BOUNDS,
		       "%s of %llu bytes at global address 0x%llx, which is in no allocation", what,
		       (unsigned long long)bytes, (unsigned long long)addr);
	else if (!a->host)
		report(w, in, (s32)lane, SIM_BOUNDS,
		       "%s of %llu bytes at global address 0x%llx, in an allocation that was freed",
		       what, (unsigned long long)bytes, (unsigned long long)addr);
	else
		report(w, in, (s32)lane, SIM_BOUNDS,
		       "%s of %llu bytes at byte %llu of an allocation of %llu bytes (0x%llx)",
		       what, (unsigned long long)bytes, (unsigned long long)(addr - a->addr),
		       (unsigned long long)a->size, (unsigned long long)addr);
}

u8 *global_at(Warp *w, const Ins *in, u32 lane, u64 addr, u64 bytes, const char *what)
{
	if (!inside(w->near, addr, bytes)) {
		const Alloc *a = memory_find(w->cluster->job->memory, addr);
		if (!inside(a, addr, bytes)) {
			global_report(w, in, lane, addr, bytes, what);
			return NULL;
		}
		w->near = a;
	}
	return w->near->host + (addr - w->near->addr);
}

bool shared_span(Warp *w, const Ins *in, u32 lane, const Cta *cta, u32 offset, u64 bytes, u32 align,
		 const char *what)
{
	if (offset < SMEM_BASE || offset > cta->smem_end || bytes > cta->smem_end - offset) {
		report(w, in, (s32)lane, SIM_BOUNDS,
		       "%s of %llu bytes at shared address 0x%x; the CTA has [0x%x, 0x%x)", what,
		       (unsigned long long)bytes, offset, SMEM_BASE, cta->smem_end);
		return false;
	}
	if (offset & (align - 1)) {
		report(w, in, (s32)lane, SIM_ALIGN,
		       "%s at shared address 0x%x, which is not a multiple of %u", what, offset,
		       align);
		return false;
	}
	return true;
}

static bool shared_place(Warp *w, const Ins *in, u32 lane, u64 addr, bool cluster, u32 bytes,
			 Place *out)
{
	u32 rank = (u32)(addr >> RANK_SHIFT);
	Cta *cta = w->cta;
	if (rank && !cluster) {
		report(w, in, (s32)lane, SIM_BOUNDS,
		       "shared::cta address 0x%llx is outside the CTA's window",
		       (unsigned long long)addr);
		return false;
	}
	if (rank > w->cluster->nctas) {
		report(w, in, (s32)lane, SIM_BOUNDS,
		       "shared::cluster address 0x%llx: the cluster has no CTA %u",
		       (unsigned long long)addr, rank - 1);
		return false;
	}
	if (rank)
		cta = &w->cluster->ctas[rank - 1];
	u32 offset = (u32)addr & ((1u << RANK_SHIFT) - 1);
	if (!shared_span(w, in, lane, cta, offset, bytes, 1, "access"))
		return false;
	if (cta->exited)
		report(w, in, (s32)lane, SIM_EXIT,
		       "access to shared memory of CTA rank %u, which has exited", cta->rank);
	*out = (Place){.host = cta->smem + (offset - SMEM_BASE),
		       .cta = cta,
		       .offset = offset,
		       .shadow = cta->shadow.cells ? &cta->shadow : NULL};
	return true;
}

static bool window_place(Warp *w, const Ins *in, u32 lane, Space space, u64 addr, u32 bytes,
			 Place *out)
{
	const SimLaunch *l = w->cluster->job->l;
	u64 size = space == SP_PARAM ? l->param_bytes : w->code->local_bytes;
	u8 *base = space == SP_PARAM ? (u8 *)(uintptr_t)l->params
				     : w->local + (size_t)lane * w->code->local_bytes;
	if (addr > size || bytes > size - addr) {
		report(w, in, (s32)lane, SIM_BOUNDS,
		       "access of %u bytes at byte %llu of %llu bytes of %s", bytes,
		       (unsigned long long)addr, (unsigned long long)size,
		       space == SP_PARAM ? "parameters" : "local memory");
		return false;
	}
	*out = (Place){.host = base + addr};
	return true;
}

static Space generic_space(u64 addr, u64 *offset)
{
	static const struct {
		u64 base;
		Space space;
	} windows[] = {{GEN_SHARED, SP_CLUSTER}, {GEN_LOCAL, SP_LOCAL}, {GEN_PARAM, SP_PARAM}};
	for (u32 i = 0; i < SIM_COUNT(windows); i++) {
		if (addr - windows[i].base < GEN_WINDOW) {
			*offset = addr - windows[i].base;
			return windows[i].space;
		}
	}
	*offset = addr;
	return SP_GLOBAL;
}

bool place_at(Warp *w, const Ins *in, u32 lane, Space space, u64 addr, u32 bytes, u32 align,
	      Place *out)
{
	if (addr & (align - 1)) {
		report(w, in, (s32)lane, SIM_ALIGN, "address 0x%llx is not a multiple of %u",
		       (unsigned long long)addr, align);
		return false;
	}
	if (space == SP_GENERIC || space == SP_PARAM || space == SP_LOCAL) {
		Space was = space;
		space = generic_space(addr, &addr);
		if (was != SP_GENERIC && space == SP_GLOBAL)
			space = was;
	}
	switch (space) {
	case SP_SHARED:
		return shared_place(w, in, lane, addr, false, bytes, out);
	case SP_CLUSTER:
		return shared_place(w, in, lane, addr, true, bytes, out);
	case SP_LOCAL:
	case SP_PARAM:
		return window_place(w, in, lane, space, addr, bytes, out);
	default:
		*out = (Place){.host = global_at(w, in, lane, addr, bytes, "access"),
			       .global = true};
		out->shadow = out->host ? globals_shadow(w) : NULL;
		return out->host != NULL;
	}
}

u64 mem_address(Warp *w, const Arg *a, u32 lane)
{
	u64 base = a->width == 4 ? r32(w, a->slot)[lane] : r64(w, a->slot)[lane];
	return base + (u64)a->imm;
}

Space mem_space(const Ins *in)
{
	if (has(in, M_SHARED) || has(in, M_SHARED_CTA))
		return SP_SHARED;
	if (has(in, M_SHARED_CLUSTER))
		return SP_CLUSTER;
	if (has(in, M_LOCAL))
		return SP_LOCAL;
	if (has(in, M_PARAM))
		return SP_PARAM;
	return has(in, M_GLOBAL) || has(in, M_CONST) ? SP_GLOBAL : SP_GENERIC;
}

u64 arg_get(Warp *w, const Arg *a, u32 lane)
{
	switch (a->width) {
	case 2:
		return r16(w, a->slot)[lane];
	case 4:
		return r32(w, a->slot)[lane];
	default:
		return r64(w, a->slot)[lane];
	}
}

void arg_set(Warp *w, const Arg *a, u32 lane, u64 value)
{
	switch (a->width) {
	case 2:
		r16(w, a->slot)[lane] = (u16)value;
		break;
	case 4:
		r32(w, a->slot)[lane] = (u32)value;
		break;
	default:
		r64(w, a->slot)[lane] = value;
	}
}

u32 pred_get(Warp *w, const Arg *a)
{
	u32 v = r32(w, a->slot)[0];
	return a->negated ? ~v : v;
}

void pred_set(Warp *w, const Arg *a, u32 mask, u32 value)
{
	u32 *p = r32(w, a->slot);
	*p = (*p & ~mask) | (value & mask);
}
