/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* shadow.c - who touched which memory when, shared or global. Each 2 bytes remember the last write
 * and the reads since; an access that conflicts with one that is not known to have happened before
 * is a race; one that is ordered but through the other proxy without a fence is reported as that.
 *   TMA writes a tile, clock "phase 3 of full[1]"; wgmma reads it knowing phase 3  ->  ordered */
#include "sim/handlers.h"
#include "sim/machine.h"

#include <stdlib.h>

struct Rec {
	const Ins *in;
	const Warp *warp;     /* may have ended */
	u32 id, rank, cta[3]; /* of the warp */
	const char *what;
	u32 actor, clock;
	bool write, async;
	bool kept; /* by the sweep */
	u32 number;
};

/* Sets of reads are slices of one pool: count, then records. */
struct Records {
	Shadow **shadows; /* that have them */
	u32 nshadows, shadows_cap;
	Rec **recs;
	u32 n, cap;
	u32 *free_ids, nfree;
	u32 *pool, pool_n, pool_cap;
	u32 most, pool_most; /* how far they may grow before the next sweep */
	Rec *last;
	struct {
		u32 me, reads, next; /* the set made of reads by adding me */
	} memo;
};

enum { SWEEP_RECORDS = 1 << 17, SWEEP_POOL = 1 << 21, MOST_READERS = 64, FULL_CELL = 3 };

bool shadow_start(Shadow *s, struct Records **at)
{
	size_t n = (size_t)s->bytes / 2 + 8;
	struct Records *r = *at = *at ? *at : calloc(1, sizeof *r);
	if (!r || s->bytes >= UINT32_MAX ||
	    !list_grow(&r->shadows, &r->shadows_cap, r->nshadows + 1, sizeof s))
		return false;
	r->most = r->most ? r->most : SWEEP_RECORDS;
	r->pool_most = r->pool_most ? r->pool_most : SWEEP_POOL;
	s->records = r;
	s->cells = calloc(n, sizeof *s->cells);
	s->masks = calloc(n, 1);
	s->written = calloc(n, 1);
	bool ok = s->cells && s->masks && s->written;
	if (ok)
		r->shadows[r->nshadows++] = s;
	return ok;
}

void shadow_free(Shadow *s)
{
	free(s->cells);
	free(s->masks);
	free(s->written);
	flags_free(s);
}

void records_free(struct Records *r)
{
	for (u32 i = 1; r && i < r->n; i++)
		free(r->recs[i]);
	if (r) {
		free(r->recs);
		free(r->free_ids);
		free(r->pool);
		free(r->shadows);
	}
	free(r);
}

static void set_mark(struct Records *r, u32 set)
{
	for (u32 i = 0; i < r->pool[set]; i++)
		r->recs[r->pool[set + 1 + i]]->kept = true;
}

static u32 cell_count(const Shadow *s)
{
	return (u32)((s->bytes + 1) / 2);
}

static void cells_mark(struct Records *r, const Shadow *s)
{
	u32 n = cell_count(s), last = 0;
	for (u32 i = 0; i < n; i++) {
		if (s->cells[i].write)
			r->recs[s->cells[i].write]->kept = true;
		if (s->cells[i].reads && s->cells[i].reads != last)
			set_mark(r, last = s->cells[i].reads);
	}
}

/* Copies the sets that cells still name to a new pool. */
static void pool_compact(struct Records *r)
{
	u32 *old = r->pool, *moved = calloc(r->pool_n + 1, sizeof *moved), n = 1;
	u32 *pool = malloc((size_t)r->pool_cap * sizeof *pool);
	if (!moved || !pool) {
		free(moved);
		free(pool);
		return;
	}
	for (u32 t = 0; t < r->nshadows; t++) {
		const Shadow *s = r->shadows[t];
		for (u32 i = 0; i < cell_count(s); i++) {
			u32 set = s->cells[i].reads;
			if (!set)
				continue;
			if (!moved[set]) {
				memcpy(pool + n, old + set, (old[set] + 1) * sizeof *pool);
				moved[set] = n;
				n += old[set] + 1;
			}
			s->cells[i].reads = moved[set];
		}
	}
	free(moved);
	free(old);
	r->pool = pool;
	r->pool_n = n;
}

/* Keeps what a cell names, and what is settled later. */
static void sweep(struct Records *r)
{
	for (u32 t = 0; t < r->nshadows; t++)
		cells_mark(r, r->shadows[t]);
	u32 *ids = realloc(r->free_ids, r->n * sizeof *ids);
	if (!ids)
		return;
	r->free_ids = ids;
	r->nfree = 0;
	for (u32 i = 1; i < r->n; i++) {
		if (!r->recs[i]->kept && r->recs[i]->clock != UINT32_MAX)
			r->free_ids[r->nfree++] = i;
		r->recs[i]->kept = false;
	}
	r->last = NULL;
	r->memo.me = 0;
	pool_compact(r);
	/* Where little was free the next sweep would come at once. */
	if (r->nfree < r->n / 2)
		r->most = r->n * 2;
	if (r->pool_n > r->pool_most / 2)
		r->pool_most = r->pool_n * 2;
}

static Rec *rec_place(struct Records *r)
{
	if ((!r->nfree && r->n > r->most) || r->pool_n > r->pool_most)
		sweep(r);
	if (r->nfree)
		return r->recs[r->free_ids[--r->nfree]];
	u32 id = r->n ? r->n : 1;
	Rec *rec = calloc(1, sizeof *rec);
	if (!rec || !list_grow(&r->recs, &r->cap, id + 1, sizeof *r->recs)) {
		free(rec);
		return NULL;
	}
	rec->number = id;
	r->recs[id] = rec;
	r->n = id + 1;
	return rec;
}

/* Whether an access may have the record of the one before: of the instruction's other threads, or
 * of more that the same asynchronous operation reads. A record that is settled later is its own. */
static bool shares(const Access *a)
{
	return !a->actor || (!a->write && a->clock != UINT32_MAX);
}

static Rec *rec_of(const Shadow *s, const Access *a)
{
	const Warp *w = a->w;
	u32 actor = a->actor ? a->actor : thread_actor(w, a->lane);
	u32 clock = a->actor ? a->clock : thread_clock(w, a->lane);
	Rec *r = s->records->last;
	if (r && shares(a) && r->in == a->in && r->warp == w && r->actor == actor &&
	    r->clock == clock && r->write == a->write)
		return r;
	r = rec_place(s->records);
	if (!r)
		return NULL;
	*r = (Rec){.in = a->in,
		   .warp = w,
		   .id = w->id,
		   .rank = w->cta->rank,
		   .what = a->what,
		   .actor = actor,
		   .clock = clock,
		   .write = a->write,
		   .async = a->async,
		   .number = r->number};
	memcpy(r->cta, w->cta->id, sizeof r->cta);
	s->records->last = r;
	return r;
}

static void place_name(const Access *a, const Shadow *s, u64 at, Text *t)
{
	if (!s->cta) {
		text_add(t, "global memory 0x%llx", (unsigned long long)(s->from + at));
		return;
	}
	shared_name(a->w->cluster, (u32)(s->from + at), t);
	if (a->w->cluster->nctas > 1)
		text_add(t, " of CTA rank %u", s->cta->rank);
}

/* "warp 3 of CTA rank 0", "lane 5 of this warp", "warp 0 of CTA 7,0,0" */
static void actor_name(const Access *a, const Shadow *s, const Rec *r, Text *t)
{
	u32 lane = r->actor - a->w->actor;
	if (a->w->own && lane < LANES)
		text_add(t, "lane %u of this warp", lane);
	else if (s->cta)
		text_add(t, "warp %u of CTA rank %u", r->id, r->rank);
	else
		text_add(t, "warp %u of CTA %u,%u,%u", r->id, r->cta[0], r->cta[1], r->cta[2]);
}

static const char *verb(bool write)
{
	return write ? "write" : "read";
}

static void conflict(const Access *a, const Shadow *s, u64 at, const Rec *r, SimKind kind)
{
	Text t = {0}, line = {0}, who = {0};
	place_name(a, s, at, &t);
	actor_name(a, s, r, &who);
	line_name(a->w->cluster, (u32)r->in->line, &line);
	if (kind == SIM_PROXY)
		report(a->w, a->in, (s32)a->lane, kind,
		       "%s %ss %s, which %s %s through the generic proxy "
		       "(%s) with no fence.proxy.async in between",
		       a->what ? a->what : "async proxy", verb(a->write), t.at, who.at,
		       r->write ? "wrote" : "read", line.at);
	else
		report(a->w, a->in, (s32)a->lane, kind,
		       "%s%s of %s is not ordered after the %s%s%s of %s at %s",
		       a->what ? a->what : "",
		       a->what ? a->write ? " write" : " read" : verb(a->write), t.at,
		       r->what ? r->what : "", r->what ? " " : "", verb(r->write), who.at, line.at);
	text_free(&t);
	text_free(&who);
	text_free(&line);
}

static bool is_update(const Ins *in)
{
	return in->run == run_atom;
}

/* What it is that nothing orders a after r; SIM_KINDS: nothing, as strong accesses do not race. Of
 * what CHECK_GLOBAL alone looks at, some is there on purpose: volatile accesses within a warp hope
 * for lockstep, and a plain read is the first guess of a loop of atom.cas. */
__attribute__((cold)) static SimKind race_kind(const Access *a, const Shadow *s, const Rec *r)
{
	bool same_warp = a->w->own && r->actor - a->w->actor < LANES;
	bool guess = (!a->write && is_update(r->in)) || (!r->write && is_update(a->in));
	if (a->what == strong_access && r->what == a->what)
		return same_warp && has(a->in, M_VOLATILE) && has(r->in, M_VOLATILE) ? SIM_LOCKSTEP
										     : SIM_KINDS;
	return guess && (same_warp || (a->w->own && !s->cta)) ? SIM_GUESS : SIM_RACE;
}

/* Whether what r says happened before a; reports what does not. Asynchronous accesses need a fence
 * after the generic ones that they conflict with, reads as well, by whoever knows of them. */
static void order(const Access *a, const Shadow *s, u64 at, const Rec *r)
{
	bool known = knows(a->w, a->lane, r->actor, r->clock);
	SimKind kind = known ? SIM_PROXY : race_kind(a, s, r);
	bool fenced = !a->async || r->async || clock_of(&a->w->know.fenced, r->actor) >= r->clock;
	if (checked(a->w->cluster, CHECK_RACE) && kind != SIM_KINDS && (!known || !fenced))
		conflict(a, s, at, r, kind);
}

/* Whether who is ordered after me, a read of a, is ordered after old too. A fence after an
 * asynchronous read need not be one after a generic read before it. */
static bool covers(const Access *a, const Rec *me, const Rec *old)
{
	const Know *k = &a->w->know;
	if (old->actor == me->actor)
		return old->clock <= me->clock;
	if (me->async && !old->async)
		return clock_of(&k->fenced, old->actor) >= old->clock;
	return knows(a->w, a->lane, old->actor, old->clock);
}

/* The set with me added; reads that it covers are left out. */
static u32 set_add(const Access *a, struct Records *r, u32 set, const Rec *me)
{
	u32 n = set ? r->pool[set] : 0;
	if (!list_grow(&r->pool, &r->pool_cap, r->pool_n + n + 3, sizeof *r->pool))
		return set;
	u32 at = r->pool_n ? r->pool_n : 1, *to = r->pool + at, k = 0;
	for (u32 i = 0; i < n; i++) {
		const Rec *old = r->recs[r->pool[set + 1 + i]];
		if (old == me)
			return set;
		if (!covers(a, me, old) && k + 1 < MOST_READERS)
			to[++k] = old->number;
	}
	to[++k] = me->number;
	to[0] = k;
	r->pool_n = at + k + 1;
	return at;
}

static void readers_order(const Access *a, const Shadow *s, u64 at, u32 set)
{
	const struct Records *r = s->records;
	for (u32 i = 0; i < r->pool[set]; i++)
		order(a, s, at, r->recs[r->pool[set + 1 + i]]);
}

static void storage_check(const Access *a, Cta *cta, u32 offset, u32 bytes)
{
	for (u32 i = 0; i < cta->nmbars; i++) {
		const Mbar *b = &cta->mbars[i];
		if (!b->live || b->offset + 8 <= offset || b->offset >= offset + bytes)
			continue;
		Text t = {0};
		place_name(a, &cta->shadow, b->offset - SMEM_BASE, &t);
		report(a->w, a->in, (s32)a->lane, SIM_BARRIER,
		       "%s overwrites the mbarrier %s, which is live (initialised at line %u)",
		       a->what ? a->what : "a store", t.at, b->init_line);
		text_free(&t);
		return;
	}
}

static void unwritten(const Access *a, const Shadow *s, u64 at)
{
	Text t = {0};
	place_name(a, s, at, &t);
	report(a->w, a->in, (s32)a->lane, SIM_UNINIT,
	       s->cta ? "%s reads %s, which was never written"
		      : "%s reads %s: workspace that no thread of this launch has written",
	       a->what ? a->what : "a load", t.at);
	text_free(&t);
}

/* Bytes of cell i (2 bytes) that [offset, offset + bytes) covers. */
static u8 cell_mask(u32 i, u32 first, u32 last, u64 offset, u64 end)
{
	u8 m = FULL_CELL;
	if (i == first && offset & 1)
		m &= 2;
	if (i == last && end & 1)
		m &= 1;
	return m;
}

typedef struct {
	u32 write, reads; /* the last cell's */
	u64 at;           /* of the whole access */
	u32 bytes;
} Memo;

static bool is_store(const char *what)
{
	return !what || what == strong_access;
}

/* Whether a thread writes what another wrote before it, so that their order does not matter. */
static bool equal_stores(const Access *a, const Shadow *s, const Rec *r, const Memo *m)
{
	return a->stored && is_store(r->what) && !r->async &&
	       !knows(a->w, a->lane, r->actor, r->clock) &&
	       !memcmp(s->host + m->at, a->stored, m->bytes);
}

static void order_write(const Access *a, const Shadow *s, u64 at, const Rec *r, const Memo *m)
{
	if (checked(a->w->cluster, CHECK_RACE) && equal_stores(a, s, r, m))
		conflict(a, s, at, r, SIM_EQUAL);
	else
		order(a, s, at, r);
}

/* The set made of reads by me; rows of one operand have the same. */
static u32 set_next(const Access *a, struct Records *r, u32 reads, const Rec *me)
{
	if (r->memo.me != me->number || r->memo.reads != reads) {
		r->memo.next = set_add(a, r, reads, me);
		r->memo.reads = reads;
		r->memo.me = me->number;
	}
	return r->memo.next;
}

/* The order of a after who wrote cell i. */
static void write_before(const Shadow *s, u32 i, u8 m, const Access *a, const Rec *me, Memo *memo)
{
	u32 write = s->cells[i].write;
	if (!write || write == memo->write || write == me->number || !(s->masks[i] & m))
		return;
	memo->write = write;
	order_write(a, s, i * UINT64_C(2), s->records->recs[write], memo);
}

static void cell_touch(Shadow *s, u32 i, u8 m, const Access *a, const Rec *me, Memo *memo)
{
	Cell *cell = &s->cells[i];
	write_before(s, i, m, a, me, memo);
	if (a->write) {
		if (cell->reads && cell->reads != memo->reads) {
			memo->reads = cell->reads;
			readers_order(a, s, i * UINT64_C(2), cell->reads);
		}
		s->masks[i] = cell->write == me->number ? s->masks[i] | m : m;
		*cell = (Cell){.write = me->number};
		s->written[i] |= m;
		return;
	}
	cell->reads = set_next(a, s->records, cell->reads, me);
}

/* Whether all bytes of n cells were written. */
static bool all_written(const Shadow *s, u32 first, u32 n)
{
	const u8 *at = s->written + first;
	u64 eight;
	for (; n >= 8; n -= 8, at += 8) {
		memcpy(&eight, at, sizeof eight);
		if (eight != FULL_CELL * (UINT64_MAX / UINT8_MAX))
			return false;
	}
	for (; n; n--)
		if (*at++ != FULL_CELL)
			return false;
	return true;
}

/* Reads n cells whole, which were written: cell_touch for each. The CTA has these cells, as
 * bytes_touch has asked, so ASan need not for each, here and below. */
__attribute__((no_sanitize("address"))) static void
cells_read(Shadow *s, u32 first, u32 n, const Access *a, const Rec *me, Memo *memo)
{
	Cell *cells = s->cells + first, was = cells[0];
	u32 next = set_next(a, s->records, was.reads, me);
	for (u32 i = 0; i < n; i++) {
		Cell now = cells[i];
		if (now.write != was.write || !i)
			write_before(s, first + i, FULL_CELL, a, me, memo);
		if (now.reads != was.reads)
			next = set_next(a, s->records, now.reads, me);
		if (now.reads != next)
			cells[i].reads = next;
		was = now;
	}
}

/* Writes n cells whole: cell_touch for each. */
__attribute__((no_sanitize("address"))) static void
cells_write(Shadow *s, u32 first, u32 n, const Access *a, const Rec *me, Memo *memo)
{
	Cell *cells = s->cells + first;
	for (u32 i = 0; i < n; i++) {
		Cell was = cells[i];
		if (was.write != memo->write)
			write_before(s, first + i, FULL_CELL, a, me, memo);
		if (was.reads && was.reads != memo->reads) {
			memo->reads = was.reads;
			readers_order(a, s, (first + i) * UINT64_C(2), was.reads);
		}
		cells[i] = (Cell){.write = me->number};
	}
	memset(s->masks + first, FULL_CELL, n);
	memset(s->written + first, FULL_CELL, n);
}

/* at: from where the shadow begins. */
static inline Rec *bytes_touch(Shadow *s, u64 at, u32 bytes, const Access *a)
{
	if (!bytes || at + bytes > s->bytes)
		return NULL;
	Rec *me = rec_of(s, a);
	if (!me)
		return NULL;
	u32 first = (u32)(at / 2), last = (u32)((at + bytes - 1) / 2), n = last + 1 - first;
	bool missing = a->fresh;
	bool whole = bytes == n * 2 && (a->write || all_written(s, first, n));
	Memo memo = {.at = at, .bytes = bytes};
	if (whole && a->write)
		cells_write(s, first, n, a, me, &memo);
	else if (whole)
		cells_read(s, first, n, a, me, &memo);
	for (u32 i = first; i <= last && !whole; i++) {
		u8 m = cell_mask(i, first, last, at, at + bytes);
		if (!a->write && !missing && (s->written[i] & m) != m &&
		    checked(a->w->cluster, CHECK_UNINIT)) {
			missing = true;
			unwritten(a, s, i * UINT64_C(2));
		}
		cell_touch(s, i, m, a, me, &memo);
	}
	return me;
}

Rec *shadow_touch(Cta *cta, u32 offset, u32 bytes, const Access *a)
{
	if (offset < SMEM_BASE)
		return NULL;
	if (a->write && checked(cta->cluster, CHECK_MBAR))
		storage_check(a, cta, offset, bytes);
	Rec *me = bytes_touch(&cta->shadow, offset - SMEM_BASE, bytes, a);
	if (me && cta != a->w->cta && !a->actor)
		shadow_remote(a->w, a->in, a->lane, cta, me->actor, me->clock);
	return me;
}

void place_touch(const Place *p, u32 bytes, Access a)
{
	const Job *j = a.w->cluster->job;
	if (!p->shadow)
		return;
	if (p->cta) {
		shadow_touch(p->cta, p->offset, bytes, &a);
		return;
	}
	u64 at = (u64)(p->host - p->shadow->host);
	bool work = globals_work(j, p->shadow->from + at);
	a.fresh = !work;
	if (work || checked(a.w->cluster, CHECK_GLOBAL))
		bytes_touch(p->shadow, at, bytes, &a);
}

/* When an asynchronous access is known to have happened. */
void shadow_settle(Cluster *c, Rec *r, u32 clock)
{
	(void)c;
	r->clock = clock;
}
