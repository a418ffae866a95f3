/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_sizes.c - sizes for a run: small ones, such that every fact of the kernel holds and its
 * CTAs go through about as many tiles and trips as asked.
 *     5 tiles of 3 trips  ->  M = 300, N = 128, K = 160, two SMs */
#include "stepper.h"

#include <string.h>

enum { TRIES = 400, PATIENCE = 50, MOST_SIZE = 1536, FAR = 1 << 20 };

typedef struct {
	const Kernel *k;
	const Sizes *sizes;
	Arena *arena; /* of the names */
	LaneNames *names;
	int tiles, trips;
	bool nested; /* tiles are a loop */
	uint64_t random;
} Count;

static int below(Count *c, int n)
{
	c->random = c->random * 6364136223846793005u + 1442695040888963407u;
	return (int)((c->random >> 33) % (uint64_t)n);
}

/* ------------------------------------------------------------------ what sizes make */
static bool waits(const Op *op)
{
	for (const Op *in = op->body ? op->body->first : NULL; in; in = in->next)
		if (in->kind == OP_MBAR_WAIT || waits(in))
			return true;
	return false;
}

static void count_block(Count *c, const Block *b, int depth);

static void count_loop(Count *c, const Op *op, int depth)
{
	int64_t from, to;
	if (!waits(op) || !names_int(c->names, op->ix[0], &from) ||
	    !names_int(c->names, op->ix[1], &to))
		return;
	int turns = to - from > FAR ? FAR : to < from ? 0 : (int)(to - from);
	int *most = c->nested && !depth ? &c->tiles : &c->trips;
	*most = turns > *most ? turns : *most;
	names_bind_int(c->names, op->sym[0], from);
	for (int i = 1; op->kind == OP_FOR && i < op->nsym; i++) {
		int64_t start = 0;
		names_int(c->names, op->ix[2 * i], &start);
		names_bind_int(c->names, op->sym[i], start);
	}
	if (op->kind == OP_FOR_RING) {
		names_bind_int(c->names, op->sym[1], 0);
		names_bind_int(c->names, op->sym[2], 0);
	}
	count_block(c, op->body, depth + 1);
}

static void count_let(Count *c, const Op *op)
{
	LaneValue v;
	names_eval(c->names, op->ix[0], &v);
	names_bind(c->names, op->sym[0], &v);
}

static void count_block(Count *c, const Block *b, int depth)
{
	for (const Op *op = b->first; op; op = op->next) {
		names_bind_found(c->names, op, c->sizes);
		if (op->kind == OP_LET) {
			count_let(c, op);
		} else if (op->kind == OP_FOR || op->kind == OP_FOR_RING) {
			count_loop(c, op, depth);
		} else if (op->body && waits(op)) {
			count_block(c, op->body, depth);
		}
	}
}

static bool facts_hold(const Count *c)
{
	for (int i = 0; i < c->k->facts.n; i++) {
		int64_t v;
		if (!names_int(c->names, c->k->facts.at[i].cond, &v) || !v)
			return false;
	}
	return true;
}

/* How far from what was asked; FAR: not allowed, or nothing is launched. */
static int judge(Count *c, Sizes *s, int tiles, int trips)
{
	int far = FAR;
	arena_reset(c->arena);
	c->sizes = s;
	c->names = names_new(c->arena);
	names_of_sizes(c->names, c->k->ctx, s);
	int size = cluster_ctas(c->k);
	int64_t ctas = launch_ctas(c->k, c->names);
	c->tiles = c->trips = 0;
	if (facts_hold(c) && ctas >= size * (s->cluster + 1)) {
		int warps = (int)(attrs_int(&c->k->attrs, A_BLOCK, 32) / LANES);
		names_of_cta(c->names, c->k->ctx, s, ctas, size, 0);
		for (int w = 0; w < warps; w += warps > 3 * GROUP_WARPS ? GROUP_WARPS : 1) {
			names_of_warp(c->names, c->k->ctx, w);
			for (const Op *op = c->k->body.first; op; op = op->next) {
				names_bind_found(c->names, op, s);
				int64_t first = attrs_int(&op->attrs, A_FIRST, 0);
				bool other = op->kind == OP_ROLE &&
					     (w < first ||
					      w >= first + attrs_int(&op->attrs, A_WARPS, 0));
				Block one = {(Op *)(uintptr_t)op, NULL, NULL};
				if (op->body && !other)
					count_block(c, op->kind == OP_ROLE ? op->body : &one, 0);
				if (op->kind == OP_FOR || op->kind == OP_FOR_RING)
					break;
			}
		}
		s->tiles = c->nested ? c->tiles : 1;
		s->trips = c->trips;
		far = 2 * (s->tiles > tiles ? s->tiles - tiles : tiles - s->tiles) +
		      (s->trips > trips ? s->trips - trips : trips - s->trips);
	}
	return far;
}

bool sizes_decide(const Kernel *k, const Op *op)
{
	for (int i = 0; i < op->nix; i++)
		for (int n = 0; n < k->syms.n; n++)
			if (ix_uses(op->ix[i], k->syms.at[n].name))
				return true;
	return false;
}

bool thread_decides(const Op *op)
{
	static const char *const names[] = {"warp", "lane", "tid"};
	bool some = false;
	for (int i = 0; i < op->nix; i++)
		for (size_t n = 0; n < COUNTOF(names); n++)
			some |= ix_uses(op->ix[i], names[n]);
	for (const Op *up = op_parent(op); up && some; up = op_parent(up))
		for (int i = 0; i < op->nix; i++)
			for (int n = 0; n < up->nsym; n++)
				some &= !ix_uses(op->ix[i], up->sym[n]);
	return some;
}

/* ------------------------------------------------------------------ choosing */
static int64_t some_value(Count *c, const IxFact *f)
{
	static const int grains[] = {1, 8, 16, 32, 64, 64, 128};
	int64_t div = f->div > 1 ? f->div : 1, grain = grains[below(c, (int)COUNTOF(grains))];
	int64_t v = below(c, below(c, 8) ? MOST_SIZE : LANES) / grain * grain;
	v += below(c, 2) ? below(c, (int)grain) : 0;
	v += f->lo > 0 && f->lo < FAR ? f->lo : 0;
	v = v / div * div;
	if (v < f->lo)
		v = f->lo;
	return v > f->hi ? f->hi : v;
}

static void choose_found(Count *c, Sizes *s)
{
	s->heights = below(c, 7);
	for (int i = 0; i < MOST_LENGTHS; i++)
		s->length[i] = found_length(below(c, LANES));
}

static void choose(Count *c, Sizes *s)
{
	const Kernel *k = c->k;
	int size = cluster_ctas(k);
	for (int i = 0; i < k->syms.n && s->n < MOST_NAMES; i++) {
		s->at[s->n].name = k->syms.at[i].name;
		s->at[s->n++].value = some_value(c, &k->syms.at[i]);
	}
	for (const Op *op = k->body.first; op; op = op->next)
		for (int i = 0; op->kind == OP_TMAP && i < op->nsym && s->n < MOST_NAMES; i++) {
			s->at[s->n].name = op->sym[i];
			s->at[s->n++].value = below(c, 4) > 0;
		}
	s->sms = size * (1 + below(c, 3));
	s->cluster = below(c, 3) ? 0 : below(c, 4);
	s->leader = below(c, 3) ? 0 : below(c, LANES);
	if (found_in(k))
		choose_found(c, s);
}

static void change(Count *c, Sizes *s)
{
	int i = below(c, c->k->syms.n + 1 + found_in(c->k));
	if (i > c->k->syms.n)
		choose_found(c, s);
	else if (i == c->k->syms.n)
		s->cluster = below(c, 4);
	else
		s->at[i].value = some_value(c, &c->k->syms.at[i]);
}

bool stepper_sizes(const Kernel *k, uint64_t seed, int tiles, int trips, Sizes *out)
{
	Count c = {.k = k, .arena = arena_new(), .random = seed * 0x9e3779b97f4a7c15u + 1};
	c.nested = attrs_int(&k->attrs, A_PERSISTENT, 0);
	memset(out, 0, sizeof *out);
	choose(&c, out);
	int far = judge(&c, out, tiles, trips);
	for (int i = 0, better = 0; i < TRIES && i < better + PATIENCE && far; i++) {
		Sizes s = *out;
		change(&c, &s);
		int now = judge(&c, &s, tiles, trips);
		if (now <= far) {
			better = now < far ? i : better;
			far = now;
			*out = s;
		}
	}
	arena_free(c.arena);
	return far < FAR;
}
