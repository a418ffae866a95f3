/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* occupancy.c - how many CTAs run at one time, and in how many rounds those of a launch come:
 * what an SM holds of each resource, how many SMs clusters fill, what the last round leaves idle.
 *     196672 bytes a CTA, --size M=4096,N=4096,K=64
 * ->  an SM holds 1 at a time, by shared memory; 132 SMs hold 132
 *     M = 4096, N = 4096, K = 64: 512 CTAs in 4 rounds of 132, 116 in the last */
#include "driver/explain/explain.h"

#include <inttypes.h>
#include <string.h>

enum { CTAS_OF_SM = 32, NO_BOUND = 1 << 20 };

/* Each thread begins with as many as it moves; a kernel that moves none takes what ptxas needs. */
static bool moves_registers(const Facts *f)
{
	bool moves = false;
	for (int i = 0; i < f->role.n; i++)
		moves |= f->role.at[i].moves;
	return moves;
}

static int64_t by_registers(const Facts *f, const Target *t)
{
	return moves_registers(f) ? t->regs / (f->launch_regs * f->threads) : NO_BOUND;
}

static int64_t by_shared_memory(const Facts *f, const Target *t)
{
	return (t->smem_bytes + SMEM_KEPT) / (f->smem + SMEM_KEPT);
}

static int64_t by_threads(const Facts *f, const Target *t)
{
	return t->sm_threads / f->threads;
}

static int64_t by_number(const Facts *f, const Target *t)
{
	(void)f;
	(void)t;
	return CTAS_OF_SM;
}

static const struct {
	const char *what;
	int64_t (*held)(const Facts *f, const Target *t);
} limits[] = {
	{"shared memory", by_shared_memory},
	{"registers", by_registers},
	{"threads", by_threads},
	{"what it counts", by_number},
};

static int cluster_of(const Facts *f)
{
	const Attr *a = attrs_get(&f->k->attrs, A_CLUSTER);
	int ctas = 1;
	for (int i = 0; a && i < a->n; i++)
		ctas *= (int)a->i[i];
	return ctas;
}

Fill fill_of(const Facts *f)
{
	const Target *t = target_by_name(f->k->target);
	int cluster = cluster_of(f);
	Fill to = {.of_sm = NO_BOUND, .at_most = !moves_registers(f)};
	for (size_t i = 0; i < COUNTOF(limits); i++) {
		int64_t held = limits[i].held(f, t);
		to.by = held < to.of_sm ? limits[i].what : to.by;
		to.of_sm = held < to.of_sm ? held : to.of_sm;
	}
	to.at_most &= to.of_sm > kernel_ctas(f->k);
	to.clusters = target_clusters(t, cluster, (int)to.of_sm);
	to.ctas = to.clusters * cluster;
	to.all = t->sms * to.of_sm;
	return to;
}

/* ------------------------------------------------------------------ rounds */
static bool is_persistent(const Facts *f)
{
	return f->clause[CLAUSE_PERSISTENT].v[0];
}

typedef struct {
	const Facts *f;
	int64_t sms;
	bool lacks;
} Env;

static bool value_of(void *user, const char *name, int64_t *v)
{
	Env *e = user;
	bool found = !strcmp(name, "sms");
	*v = e->sms;
	for (int i = 0; i < e->f->nsizes; i++) {
		if (strcmp(e->f->sizes[i].name, name) != 0)
			continue;
		*v = e->f->sizes[i].value;
		found = true;
	}
	e->lacks |= !found;
	return found;
}

/* A persistent launch has a CTA for each tile if there are SMs enough, and on these, so many. */
bool rounds_of(const Facts *f, Rounds *r)
{
	enum { ENOUGH = 1 << 30 };
	Fill fill = fill_of(f);
	Env all = {.f = f, .sms = ENOUGH}, some = {.f = f, .sms = fill.ctas / kernel_ctas(f->k)};
	int64_t launched = 0;
	*r = (Rounds){0};
	if (!f->nsizes || !f->ctas || !ix_eval(f->ctas, value_of, &all, &r->units) ||
	    !ix_eval(f->ctas, value_of, &some, &launched) || all.lacks || some.lacks)
		return false;
	r->at_once = is_persistent(f) && launched < fill.ctas ? launched : fill.ctas;
	return r->units > 0 && r->at_once > 0;
}

static void sizes_print(const Facts *f, Buf *out)
{
	for (int i = 0; i < f->nsizes; i++)
		buf_printf(out, "%s%s = %" PRId64, i ? ", " : "", f->sizes[i].name,
			   f->sizes[i].value);
}

static void rounds_note(const Facts *f, Buf *out)
{
	Rounds r;
	if (!rounds_of(f, &r))
		return;
	int64_t rounds = (r.units + r.at_once - 1) / r.at_once;
	note(out, "", "%s", "");
	sizes_print(f, out);
	buf_printf(out,
		   ": %" PRId64 " %s in %" PRId64 " round%s of %" PRId64 ", %" PRId64
		   " in the last; %" PRId64 " %% of what these hold\n",
		   r.units, is_persistent(f) ? "tiles" : "CTAs", rounds, rounds == 1 ? "" : "s",
		   r.at_once, r.units - (rounds - 1) * r.at_once,
		   100 * r.units / (rounds * r.at_once));
}

void fill_note(const Facts *f, Buf *out)
{
	Fill fill = fill_of(f);
	const Target *t = target_by_name(f->k->target);
	int cluster = cluster_of(f);
	note(out, "", "an SM holds %s%" PRId64 " at a time, by %s; ",
	     fill.at_most ? "at most " : "", fill.of_sm, fill.by);
	if (cluster > 1)
		buf_printf(out,
			   "%d SMs hold %" PRId64 " clusters of %d, %" PRId64 " CTAs of %" PRId64
			   "\n",
			   t->sms, fill.clusters, cluster, fill.ctas, fill.all);
	else
		buf_printf(out, "%d SMs hold %" PRId64 "\n", t->sms, fill.ctas);
	rounds_note(f, out);
}
