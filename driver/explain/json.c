/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* json.c - what was derived, for tools: the schema of docs/explain.md. Keys are added in
 * later versions, never changed; a change of meaning changes "schema".
 *     {"schema":"dslc-explain/2","kernels":[{"name":"gemm","schedule":{"roles":"none",...}}]} */
#include "codegen/json.h"
#include "driver/dslc.h"
#include "driver/explain/explain.h"

#include <string.h>

static void put_ints(json_object *o, const char *key, const int64_t *v, int n)
{
	json_object *a = json_put_array(o, key);
	for (int i = 0; i < n; i++)
		json_add_int(a, v[i]);
}

/* n objects, each made by put. */
static void put_list(json_object *o, const char *key, const Facts *f, int n,
		     void (*put)(json_object *o, const Facts *f, int i))
{
	json_object *a = json_put_array(o, key);
	for (int i = 0; i < n; i++)
		put(json_add_object(a), f, i);
}

/* ------------------------------------------------------------------ the parts of a kernel */
static void put_schedule(json_object *k, const Facts *f)
{
	json_object *o = json_put_object(k, "schedule");
	const FactClause *c = f->clause;
	json_put_text(o, "roles", c[CLAUSE_ROLES].word);
	json_put_bool(o, "persistent", c[CLAUSE_PERSISTENT].v[0]);
	json_put_bool(o, "dynamic", c[CLAUSE_PERSISTENT].v[0] == 2);
	json_put_int(o, "group", c[CLAUSE_GROUP].v[0]);
	json_put_text(o, "along", f->along);
	json_put_int(o, "inflight", c[CLAUSE_INFLIGHT].v[0]);
	json_put_int(o, "staging", c[CLAUSE_STAGING].v[0]);
	json_put_int(o, "subtile", c[CLAUSE_SUBTILE].v[0]);
	json_put_bool(o, "pdl", c[CLAUSE_PDL].v[0]);
	json_put_bool(o, "deterministic", c[CLAUSE_DETERMINISTIC].v[0]);
	put_ints(o, "cluster", c[CLAUSE_CLUSTER].v, 2);
	json_put_text(o, "multicast", c[CLAUSE_MULTICAST].word);
}

static void put_fill(json_object *o, const Facts *f)
{
	Rounds r;
	if (!f->threads)
		return;
	Fill fill = fill_of(f);
	json_put_int(o, "ctas_of_sm", fill.of_sm);
	json_put_int(o, "ctas_at_once", fill.ctas);
	if (!rounds_of(f, &r))
		return;
	json_put_int(o, "units", r.units);
	json_put_int(o, "units_at_once", r.at_once);
}

static void put_launch(json_object *k, const Facts *f)
{
	json_object *o = json_put_object(k, "launch");
	json_put_text(o, "ctas", f->grid);
	json_put_int(o, "threads", f->threads);
	json_put_int(o, "registers", f->launch_regs);
	json_put_int(o, "accumulator_registers", f->acc_regs);
	json_put_int(o, "shared_bytes", f->smem);
	json_put_int(o, "shared_limit", f->smem_limit);
	put_fill(o, f);
	json_object *tile = json_put_array(o, "tile"), *checks = json_put_array(o, "checks");
	for (int i = 0; i < f->tile.n; i++)
		json_add_text(tile, f->tile.at[i]);
	for (int i = 0; i < f->checks.n; i++) {
		json_object *c = json_add_object(checks);
		json_put_text(c, "condition", f->checks.at[i].text);
		json_put_text(c, "rule", f->checks.at[i].rule);
	}
}

static void put_role(json_object *o, const Facts *f, int i)
{
	const FactRole *r = &f->role.at[i];
	json_put_text(o, "name", r->name);
	json_put_int(o, "first_warp", r->first);
	json_put_int(o, "warps", r->warps);
	json_put_int(o, "active_warps", r->active);
	json_put_int(o, "registers", r->regs);
	json_put_bool(o, "setmaxnreg", r->moves);
	json_put_int(o, "turns", r->turns);
}

/* Lists of ranks; only those of a group's lowest where `once`. */
static void put_sets(json_object *o, const char *key, const ReasonShare *w, const uint16_t *sets,
		     bool once)
{
	json_object *a = json_put_array(o, key);
	for (int r = 0; w && r < w->ranks; r++) {
		if (once && !share_mates(sets, r))
			continue;
		json_object *set = json_add_array(a);
		for (int q = 0; q < w->ranks; q++)
			if (sets[r] >> q & 1)
				json_add_int(set, q);
	}
}

static void put_pipeline(json_object *o, const Facts *f, int i)
{
	const FactRing *r = &f->rings.at[i];
	json_put_text(o, "name", r->name);
	json_put_int(o, "stages", r->slots);
	json_put_int(o, "stage_bytes", r->bytes);
	json_put_bool(o, "staging", r->staging);
	const ReasonShare *w = r->why ? r->why->share : NULL;
	put_sets(o, "fills", w, w ? w->into : NULL, false);
	put_sets(o, "filled_by", w, w ? w->from : NULL, false);
}

static void put_buffer(json_object *o, const Facts *f, int i)
{
	const FactBuffer *b = &f->buffers.at[i];
	json_put_text(o, "name", b->name);
	json_put_text(o, "pipeline", b->ring);
	json_put_text(o, "elem", elem_rows[b->type->elem].name);
	json_put_text(o, "layout", layout_str(f->k->ctx, b->type->layout));
	json_put_int(o, "offset", b->offset);
	json_put_int(o, "bytes", b->bytes);
	json_put_int(o, "slots", b->slots);
	json_put_int(o, "groups", b->groups);
	json_put_text(o, "over", b->over);
}

static void put_formula(json_object *o, const char *key, const Facts *f, const Ix *x)
{
	json_put_text(o, key, ix_text(f->k->ctx, x));
}

/* Of a load in a cluster; null elsewhere. */
static void put_multicast(json_object *o, const Facts *f, const FactCopy *c)
{
	const ReasonShare *w = c->why ? c->why->share : NULL;
	if (!w) {
		json_put_text(o, "multicast", NULL);
		return;
	}
	json_object *m = json_put_object(o, "multicast");
	json_put_text(m, "issue", w->issue);
	json_put_text(m, "reason", c->why->text);
	put_sets(m, "load_same", w, w->with, true);
	json_put_bool(m, "exact", !w->narrowed);
	json_object *proofs = json_put_array(m, "proofs");
	for (int i = 0; i < w->nproofs; i++)
		json_add_text(proofs, w->proofs[i]);
	put_formula(m, "mask", f, w->mask);
	put_formula(m, "issued_where", f, w->issues);
	put_formula(m, "part", f, w->part);
	json_put_int(m, "parts", w->slices);
	json_put_int(m, "tiles_read", w->loads);
	json_put_int(m, "saved_bytes", (w->ranks - w->loads) * c->tile_bytes);
}

static void put_copy(json_object *array, const Facts *f, const FactCopy *c)
{
	json_object *o = json_add_object(array);
	json_put_text(o, "buffer", c->buffer);
	json_put_text(o, "tensor", c->tensor);
	json_put_text(o, "map", c->map);
	json_put_text(o, "elem", elem_rows[c->elem].name);
	put_ints(o, "box", c->box, c->rank);
	json_put_int(o, "swizzle", c->swizzle);
	json_put_int(o, "copies", c->copies);
	json_put_int(o, "bytes", c->bytes);
	json_put_text(o, "role", c->role);
	json_put_bool(o, "clipped", c->ragged);
	if (!c->barrier) {
		json_put_text(o, "asks", c->asks);
		return;
	}
	json_put_text(o, "barrier", c->barrier);
	json_put_bool(o, "copied", c->uneven);
	json_put_text(o, "uneven", c->uneven);
	put_multicast(o, f, c);
}

static void put_copies(json_object *k, const Facts *f)
{
	json_object *loads = json_put_array(k, "loads"), *stores = json_put_array(k, "stores");
	for (int i = 0; i < f->loads.n; i++)
		put_copy(loads, f, &f->loads.at[i]);
	for (int i = 0; i < f->stores.n; i++)
		put_copy(stores, f, &f->stores.at[i]);
	json_object *lanes = json_put_array(k, "copies");
	EACH(const FactLanes, l, f->lanes) {
		json_object *o = json_add_object(lanes);
		json_put_text(o, "buffer", l->buffer);
		json_put_text(o, "tensor", l->tensor);
		json_put_text(o, "role", l->role);
		json_put_int(o, "bytes", l->bytes);
	}
	json_put_int(k, "copied_stores", f->copied_stores);
	json_put_int(k, "direct_stores", f->direct_stores);
}

static void put_barrier(json_object *o, const Facts *f, int i)
{
	const FactBarrier *b = &f->barriers.at[i];
	json_put_text(o, "name", b->name);
	json_put_text(o, "pipeline", b->ring);
	json_put_int(o, "slots", b->slots);
	json_put_int(o, "arrivals", b->count);
	json_put_text(o, "arrivals_by_rank", b->by_rank ? ix_text(f->k->ctx, b->by_rank) : NULL);
	json_put_int(o, "bytes", b->bytes);
	json_put_int(o, "offset", b->offset);
}

static void put_named(json_object *o, const Facts *f, int i)
{
	json_put_text(o, "id", f->named.at[i].id);
	json_put_int(o, "threads", f->named.at[i].threads);
}

static void put_mma(json_object *o, const Facts *f, const FactMma *m)
{
	json_put_text(o, "atom", m->atom);
	json_put_text(o, "role", m->role);
	json_put_int(o, "instructions", m->instructions);
	put_ints(o, "leading_bytes", m->lbo, 2);
	put_ints(o, "stride_bytes", m->sbo, 2);
	json_put_text(o, "thread_values", m->tv ? layout_str(f->k->ctx, m->tv) : NULL);
	if (m->a_in_registers)
		json_put_bool(o, "a_in_registers", true);
	if (m->b_in_registers)
		json_put_bool(o, "b_in_registers", true);
}

/* The first by itself, and where there are others, all. */
static void put_mmas(json_object *k, const Facts *f)
{
	if (f->mmas.n)
		put_mma(json_put_object(k, "mma"), f, &f->mmas.at[0]);
	json_object *all = f->mmas.n > 1 ? json_put_array(k, "mmas") : NULL;
	for (int i = 0; i < f->mmas.n && all; i++)
		put_mma(json_add_object(all), f, &f->mmas.at[i]);
}

static void put_decision(json_object *o, const Facts *f, int i)
{
	const Reason *w = &f->k->whys.at[i];
	json_put_text(o, "what", why_rows[w->id].name);
	json_put_text(o, "means", why_rows[w->id].what);
	json_put_text(o, "subject", w->subject);
	json_put_int(o, "value", w->value);
	json_put_bool(o, "taken", !w->rejected);
	json_put_text(o, "reason", w->text);
}

/* As closed, else as written. */
static void put_consts(json_object *k, const SaidVec *said, const Facts *f)
{
	Ctx *c = f->k->ctx;
	json_object *a = json_put_array(k, "consts");
	EACH(const Said, s, *said) {
		if (s->kind != SAID_CONST || (s->kernel && strcmp(s->kernel, f->k->name) != 0))
			continue;
		const char *text = ctx_src_at(c, s->loc.src)->text + s->loc.begin;
		size_t n = (size_t)(s->loc.end - s->loc.begin);
		json_object *o = json_add_object(a);
		json_put_text(o, "name", s->name);
		json_put_text(o, "value", s->value ? s->value : ctx_strn(c, text, n));
	}
}

static void put_kernel(json_object *array, const SaidVec *said, const Facts *f)
{
	json_object *k = json_add_object(array);
	json_put_text(k, "name", f->k->name);
	json_put_text(k, "target", f->k->target);
	put_consts(k, said, f);
	put_schedule(k, f);
	put_launch(k, f);
	put_list(k, "roles", f, f->role.n, put_role);
	put_list(k, "pipelines", f, f->rings.n, put_pipeline);
	put_list(k, "buffers", f, f->buffers.n, put_buffer);
	put_copies(k, f);
	put_list(k, "barriers", f, f->barriers.n, put_barrier);
	put_list(k, "named_barriers", f, f->named.n, put_named);
	put_mmas(k, f);
	put_list(k, "decisions", f, f->k->whys.n, put_decision);
}

void explain_json(const char *source, const SaidVec *said, const FactsVec *all, Buf *out)
{
	json_object *o = json_new();
	json_put_text(o, "schema", "dslc-explain/2");
	json_put_text(o, "tool", ctx_strf(all->at[0].k->ctx, "dslc %s", dslc_version()));
	json_put_text(o, "source", source);
	json_object *kernels = json_put_array(o, "kernels");
	for (int i = 0; i < all->n; i++)
		put_kernel(kernels, said, &all->at[i]);
	json_end(o, out);
}
