/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* shadow.c - who touched which shared memory when. Each 2 bytes remember the last write and the
 * reads since; an access that conflicts with one that is not known to have happened before is a
 * race; one that is ordered but through the other proxy without a fence is reported as that.
 *   TMA writes a tile, clock "phase 3 of full[1]"; wgmma reads it knowing phase 3  ->  ordered */
#include "sim/machine.h"

#include <stdlib.h>

struct Rec {
	const Ins *in;
	Warp *warp;
	const char *what;
	u32 actor, clock;
	bool write, async;
	bool kept; /* by the sweep */
	u32 id;
};

/* Sets of reads are slices of one pool: count, then records. */
struct Records {
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

static bool records_start(Cluster *c)
{
	if (c->records)
		return true;
	c->records = calloc(1, sizeof *c->records);
	if (c->records) {
		c->records->most = SWEEP_RECORDS;
		c->records->pool_most = SWEEP_POOL;
	}
	return c->records;
}

bool shadow_start(Cta *cta)
{
	u32 n = (cta->smem_end - SMEM_BASE) / 2 + 8;
	cta->cells = calloc(n, sizeof *cta->cells);
	cta->masks = calloc(n, 1);
	cta->written = calloc(n, 1);
	return cta->cells && cta->masks && cta->written && records_start(cta->cluster);
}

void shadow_free(Cta *cta)
{
	free(cta->cells);
	free(cta->masks);
	free(cta->written);
}

void records_free(Cluster *c)
{
	struct Records *r = c->records;
	if (!r)
		return;
	for (u32 i = 1; i < r->n; i++)
		free(r->recs[i]);
	free(r->recs);
	free(r->free_ids);
	free(r->pool);
	free(r);
	c->records = NULL;
}

static bool grow(void **at, u32 *cap, u32 need, size_t each)
{
	if (need <= *cap)
		return true;
	u32 more = need * 2 + 64;
	void *p = realloc(*at, more * each);
	if (!p)
		return false;
	*at = p;
	*cap = more;
	return true;
}

static void set_mark(struct Records *r, u32 set)
{
	for (u32 i = 0; i < r->pool[set]; i++)
		r->recs[r->pool[set + 1 + i]]->kept = true;
}

static void cells_mark(struct Records *r, const Cta *cta)
{
	u32 n = (cta->smem_end - SMEM_BASE) / 2, last = 0;
	for (u32 i = 0; i < n; i++) {
		if (cta->cells[i].write)
			r->recs[cta->cells[i].write]->kept = true;
		if (cta->cells[i].reads && cta->cells[i].reads != last)
			set_mark(r, last = cta->cells[i].reads);
	}
}

/* Copies the sets that cells still name to a new pool. */
static void pool_compact(Cluster *c)
{
	struct Records *r = c->records;
	u32 *old = r->pool, *moved = calloc(r->pool_n + 1, sizeof *moved), n = 1;
	u32 *pool = malloc((size_t)r->pool_cap * sizeof *pool);
	if (!moved || !pool) {
		free(moved);
		free(pool);
		return;
	}
	for (u32 t = 0; t < c->nctas; t++) {
		Cta *cta = &c->ctas[t];
		for (u32 i = 0; i < (cta->smem_end - SMEM_BASE) / 2; i++) {
			u32 set = cta->cells[i].reads;
			if (!set)
				continue;
			if (!moved[set]) {
				memcpy(pool + n, old + set, (old[set] + 1) * sizeof *pool);
				moved[set] = n;
				n += old[set] + 1;
			}
			cta->cells[i].reads = moved[set];
		}
	}
	free(moved);
	free(old);
	r->pool = pool;
	r->pool_n = n;
}

static void sweep(Cluster *c)
{
	struct Records *r = c->records;
	for (u32 t = 0; t < c->nctas; t++)
		cells_mark(r, &c->ctas[t]);
	for (Async *as = c->pending; as; as = as->next) {
		if (as->rec)
			as->rec->kept = true;
		if (as->rec_read)
			as->rec_read->kept = true;
	}
	u32 *ids = realloc(r->free_ids, r->n * sizeof *ids);
	if (!ids)
		return;
	r->free_ids = ids;
	r->nfree = 0;
	for (u32 i = 1; i < r->n; i++) {
		if (!r->recs[i]->kept)
			r->free_ids[r->nfree++] = i;
		r->recs[i]->kept = false;
	}
	r->last = NULL;
	r->memo.me = 0;
	pool_compact(c);
	/* Where little was free the next sweep would come at once. */
	if (r->nfree < r->n / 2)
		r->most = r->n * 2;
	if (r->pool_n > r->pool_most / 2)
		r->pool_most = r->pool_n * 2;
}

static Rec *rec_place(Cluster *c)
{
	struct Records *r = c->records;
	if ((!r->nfree && r->n > r->most) || r->pool_n > r->pool_most)
		sweep(c);
	if (r->nfree)
		return r->recs[r->free_ids[--r->nfree]];
	u32 id = r->n ? r->n : 1;
	Rec *rec = calloc(1, sizeof *rec);
	if (!rec || !grow((void **)&r->recs, &r->cap, id + 1, sizeof *r->recs)) {
		free(rec);
		return NULL;
	}
	rec->id = id;
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

static Rec *rec_of(const Access *a)
{
	Cluster *c = a->w->cluster;
	u32 actor = a->actor ? a->actor : a->w->actor;
	u32 clock = a->actor ? a->clock : clock_of(&a->w->know.seen, actor);
	Rec *r = c->records->last;
	if (r && shares(a) && r->in == a->in && r->warp == a->w && r->actor == actor &&
	    r->clock == clock && r->write == a->write)
		return r;
	r = rec_place(c);
	if (!r)
		return NULL;
	u32 id = r->id;
	*r = (Rec){.in = a->in,
		   .warp = a->w,
		   .what = a->what,
		   .actor = actor,
		   .clock = clock,
		   .write = a->write,
		   .async = a->async,
		   .id = id};
	c->records->last = r;
	return r;
}

static void place_name(const Access *a, const Cta *cta, u32 offset, Text *t)
{
	shared_name(a->w->cluster, offset, t);
	if (a->w->cluster->nctas > 1)
		text_add(t, " of CTA rank %u", cta->rank);
}

static const char *verb(bool write)
{
	return write ? "write" : "read";
}

static void conflict(const Access *a, const Cta *cta, u32 offset, const Rec *r, SimKind kind)
{
	Text t = {0}, line = {0};
	Warp *v = r->warp;
	place_name(a, cta, offset, &t);
	line_name(a->w->cluster, (u32)r->in->line, &line);
	if (kind == SIM_PROXY)
		report(a->w, a->in, (s32)a->lane, kind,
		       "%s %ss %s, which warp %u of CTA rank %u %s through the generic proxy "
		       "(%s) with no fence.proxy.async in between",
		       a->what ? a->what : "async proxy", verb(a->write), t.at, v->id, v->cta->rank,
		       r->write ? "wrote" : "read", line.at);
	else
		report(a->w, a->in, (s32)a->lane, kind,
		       "%s%s of %s is not ordered after the %s%s%s of warp %u of CTA rank %u at "
		       "%s",
		       a->what ? a->what : "",
		       a->what ? a->write ? " write" : " read" : verb(a->write), t.at,
		       r->what ? r->what : "", r->what ? " " : "", verb(r->write), v->id,
		       v->cta->rank, line.at);
	text_free(&t);
	text_free(&line);
}

/* Whether what r says happened before a; reports what does not. Asynchronous accesses need a fence
 * behind the generic ones that they conflict with, reads as well, by whoever knows of them. */
static void order(const Access *a, const Cta *cta, u32 offset, const Rec *r)
{
	const Know *k = &a->w->know;
	if (!checked(a->w->cluster, CHECK_RACE))
		return;
	if (a->what == strong_access && r->what == a->what)
		return;
	if (clock_of(&k->seen, r->actor) < r->clock)
		conflict(a, cta, offset, r, SIM_RACE);
	else if (a->async && !r->async && clock_of(&k->fenced, r->actor) < r->clock)
		conflict(a, cta, offset, r, SIM_PROXY);
}

/* Whether who is ordered after me, a read of a, is ordered after old too. A fence behind an
 * asynchronous read need not be one behind a generic read before it. */
static bool covers(const Access *a, const Rec *me, const Rec *old)
{
	const Know *k = &a->w->know;
	if (old->actor == me->actor)
		return old->clock <= me->clock;
	return clock_of(me->async && !old->async ? &k->fenced : &k->seen, old->actor) >= old->clock;
}

/* The set with me added; reads that it covers are left out. */
static u32 set_add(const Access *a, u32 set, const Rec *me)
{
	struct Records *r = a->w->cluster->records;
	u32 n = set ? r->pool[set] : 0;
	if (!grow((void **)&r->pool, &r->pool_cap, r->pool_n + n + 3, sizeof *r->pool))
		return set;
	u32 at = r->pool_n ? r->pool_n : 1, *to = r->pool + at, k = 0;
	for (u32 i = 0; i < n; i++) {
		const Rec *old = r->recs[r->pool[set + 1 + i]];
		if (old == me)
			return set;
		if (!covers(a, me, old) && k + 1 < MOST_READERS)
			to[++k] = old->id;
	}
	to[++k] = me->id;
	to[0] = k;
	r->pool_n = at + k + 1;
	return at;
}

static void readers_order(const Access *a, const Cta *cta, u32 offset, u32 set)
{
	const struct Records *r = a->w->cluster->records;
	for (u32 i = 0; i < r->pool[set]; i++)
		order(a, cta, offset, r->recs[r->pool[set + 1 + i]]);
}

static void storage_check(const Access *a, Cta *cta, u32 offset, u32 bytes)
{
	for (u32 i = 0; i < cta->nmbars; i++) {
		const Mbar *b = &cta->mbars[i];
		if (!b->live || b->offset + 8 <= offset || b->offset >= offset + bytes)
			continue;
		Text t = {0};
		place_name(a, cta, b->offset, &t);
		report(a->w, a->in, (s32)a->lane, SIM_BARRIER,
		       "%s overwrites the mbarrier %s, which is live (initialised at line %u)",
		       a->what ? a->what : "a store", t.at, b->init_line);
		text_free(&t);
		return;
	}
}

static void unwritten(const Access *a, const Cta *cta, u32 offset)
{
	Text t = {0};
	place_name(a, cta, offset, &t);
	report(a->w, a->in, (s32)a->lane, SIM_UNINIT, "%s reads %s, which was never written",
	       a->what ? a->what : "a load", t.at);
	text_free(&t);
}

/* Bytes of cell i (2 bytes) that [offset, offset + bytes) covers. */
static u8 cell_mask(u32 i, u32 first, u32 last, u32 offset, u32 end)
{
	u8 m = FULL_CELL;
	if (i == first && offset & 1)
		m &= 2;
	if (i == last && end & 1)
		m &= 1;
	return m;
}

typedef struct {
	u32 write, reads;  /* the last cell's */
	u32 offset, bytes; /* of the whole access */
} Memo;

static bool is_store(const char *what)
{
	return !what || what == strong_access;
}

/* Whether a thread writes what another wrote before it, so that their order does not matter. */
static bool equal_stores(const Access *a, const Cta *cta, const Rec *r, const Memo *m)
{
	return a->stored && is_store(r->what) && !r->async &&
	       clock_of(&a->w->know.seen, r->actor) < r->clock &&
	       !memcmp(cta->smem + (m->offset - SMEM_BASE), a->stored, m->bytes);
}

static void order_write(const Access *a, const Cta *cta, u32 offset, const Rec *r, const Memo *m)
{
	if (checked(a->w->cluster, CHECK_RACE) && equal_stores(a, cta, r, m))
		conflict(a, cta, offset, r, SIM_EQUAL);
	else
		order(a, cta, offset, r);
}

/* The set made of reads by me; rows of one operand have the same. */
static u32 set_next(const Access *a, u32 reads, const Rec *me)
{
	struct Records *r = a->w->cluster->records;
	if (r->memo.me != me->id || r->memo.reads != reads) {
		r->memo.next = set_add(a, reads, me);
		r->memo.reads = reads;
		r->memo.me = me->id;
	}
	return r->memo.next;
}

/* The order of a after who wrote cell i. */
static void write_before(const Cta *cta, u32 i, u8 m, const Access *a, const Rec *me, Memo *memo)
{
	u32 write = cta->cells[i].write;
	if (!write || write == memo->write || write == me->id || !(cta->masks[i] & m))
		return;
	memo->write = write;
	order_write(a, cta, SMEM_BASE + i * 2, a->w->cluster->records->recs[write], memo);
}

static void cell_touch(Cta *cta, u32 i, u8 m, const Access *a, const Rec *me, Memo *memo)
{
	Cell *cell = &cta->cells[i];
	u32 offset = SMEM_BASE + i * 2;
	write_before(cta, i, m, a, me, memo);
	if (a->write) {
		if (cell->reads && cell->reads != memo->reads) {
			memo->reads = cell->reads;
			readers_order(a, cta, offset, cell->reads);
		}
		cta->masks[i] = cell->write == me->id ? cta->masks[i] | m : m;
		*cell = (Cell){.write = me->id};
		cta->written[i] |= m;
		return;
	}
	cell->reads = set_next(a, cell->reads, me);
}

/* Whether all bytes of n cells were written. */
static bool all_written(const Cta *cta, u32 first, u32 n)
{
	const u8 *at = cta->written + first;
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
 * shadow_touch has asked, so ASan need not for each, here and below. */
__attribute__((no_sanitize("address"))) static void
cells_read(Cta *cta, u32 first, u32 n, const Access *a, const Rec *me, Memo *memo)
{
	Cell *cells = cta->cells + first, was = cells[0];
	u32 next = set_next(a, was.reads, me);
	for (u32 i = 0; i < n; i++) {
		Cell now = cells[i];
		if (now.write != was.write || !i)
			write_before(cta, first + i, FULL_CELL, a, me, memo);
		if (now.reads != was.reads)
			next = set_next(a, now.reads, me);
		if (now.reads != next)
			cells[i].reads = next;
		was = now;
	}
}

/* Writes n cells whole: cell_touch for each. */
__attribute__((no_sanitize("address"))) static void
cells_write(Cta *cta, u32 first, u32 n, const Access *a, const Rec *me, Memo *memo)
{
	Cell *cells = cta->cells + first;
	for (u32 i = 0; i < n; i++) {
		Cell was = cells[i];
		if (was.write != memo->write)
			write_before(cta, first + i, FULL_CELL, a, me, memo);
		if (was.reads && was.reads != memo->reads) {
			memo->reads = was.reads;
			readers_order(a, cta, SMEM_BASE + (first + i) * 2, was.reads);
		}
		cells[i] = (Cell){.write = me->id};
	}
	memset(cta->masks + first, FULL_CELL, n);
	memset(cta->written + first, FULL_CELL, n);
}

Rec *shadow_touch(Cta *cta, u32 offset, u32 bytes, const Access *a)
{
	if (!bytes || offset < SMEM_BASE || offset + bytes > cta->smem_end)
		return NULL;
	Rec *me = rec_of(a);
	if (!me)
		return NULL;
	u32 first = (offset - SMEM_BASE) / 2, last = (offset + bytes - 1 - SMEM_BASE) / 2;
	u32 n = last + 1 - first;
	bool missing = false, whole = bytes == n * 2 && (a->write || all_written(cta, first, n));
	Memo memo = {.offset = offset, .bytes = bytes};
	if (a->write && checked(cta->cluster, CHECK_MBAR))
		storage_check(a, cta, offset, bytes);
	if (whole && a->write)
		cells_write(cta, first, n, a, me, &memo);
	else if (whole)
		cells_read(cta, first, n, a, me, &memo);
	for (u32 i = first; i <= last && !whole; i++) {
		u8 m = cell_mask(i, first, last, offset, offset + bytes);
		if (!a->write && !missing && (cta->written[i] & m) != m &&
		    checked(cta->cluster, CHECK_UNINIT)) {
			missing = true;
			unwritten(a, cta, SMEM_BASE + i * 2);
		}
		cell_touch(cta, i, m, a, me, &memo);
	}
	if (cta != a->w->cta && !a->actor)
		shadow_remote(a->w, a->in, a->lane, cta, a->w->actor,
			      clock_of(&a->w->know.seen, a->w->actor));
	return me;
}

/* When an asynchronous access is known to have happened. */
void shadow_settle(Cluster *c, Rec *r, u32 clock)
{
	(void)c;
	r->clock = clock;
}
