/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* random_words.c - the steps of each warp for a number of trips, and what holds before each of them
 * whatever the others do: groups in flight, what its lanes may still read and write, what it has
 * read or written and not fenced.
 *     MMA COMMIT MMA COMMIT WAIT(1) READ  ->  flight: {}, a, a, a b, a b, b  */
#include "random_run.h"

#include <string.h>

static void append(Runs *r, int a, const Letter *l)
{
	const Part *part = &l->of[r->role[a]];
	if (r->length[a] + part->n > WORD)
		panic("a role of more than %d steps", WORD);
	for (int i = 0; i < part->n; i++)
		r->word[a][r->length[a]++] = part->steps[i];
}

static void find_words(Runs *r, int trips)
{
	const Prog *p = r->p;
	r->warps = 0;
	for (int role = 0; role < p->src.roles; role++)
		for (int i = 0; i < p->src.role[role].warps; i++) {
			r->role[r->warps] = role;
			r->rank[r->warps] = p->src.role[role].rank;
			r->copy[r->warps++] = i;
		}
	for (int a = 0; a < r->warps; a++) {
		r->length[a] = 0;
		append(r, a, &p->letters[L_START]);
		for (int k = 0; k < trips; k++)
			append(r, a, &p->letters[k ? L_TRIP + k % PERIOD : L_FIRST]);
		append(r, a, &p->letters[trips ? L_END + trips % PERIOD : L_NONE]);
		for (int i = 0; i < r->length[a]; i++)
			if (r->word[a][i].kind == STEP_INIT)
				r->need[r->word[a][i].key] = r->word[a][i].n;
	}
	for (int k = 0; k < p->m.nk; k++)
		if (p->m.keys[k].named)
			r->need[k] = p->m.keys[k].warps;
}

/* Which slots the groups of a role read before each of its steps: `wait n` leaves the last n. */
static void find_flight(Runs *r, int a, StepKind reads, StepKind commit, StepKind wait)
{
	uint32_t group[WORD + 1] = {0}; /* the last one is open */
	int first = 0, n = 0;
	for (int i = 0; i <= r->length[a]; i++) {
		const Step *st = &r->word[a][i];
		for (int g = first; g <= n; g++)
			r->flight[a][i] |= group[g];
		if (i == r->length[a])
			return;
		if (st->kind == (int)reads)
			group[n] |= 1u << st->cell | (uint32_t)st->mask << ACC;
		else if (st->kind == (int)commit)
			n++;
		else if (st->kind == (int)wait ||
			 (wait == STEP_BULK_READ && st->kind == STEP_BULK_WAIT))
			first = n - st->n > first ? n - st->n : first;
	}
}

static bool meets(const Step *st)
{
	int kind = st->kind;
	return kind == STEP_WARP || kind == STEP_BAR || kind == STEP_BAR_RELAXED ||
	       kind == STEP_BAR_ARRIVE || (kind == STEP_ARRIVE && st->lanes == 32);
}

/* What all lanes of a warp read is read until they meet; so is what they write written. */
static void find_loose(Runs *r, int a)
{
	uint32_t loose = 0, wrote = 0;
	for (int i = 0; i < r->length[a]; i++) {
		const Step *st = &r->word[a][i];
		r->loose[a][i] = loose;
		r->wrote[a][i] = wrote;
		if (meets(st))
			loose = wrote = 0;
		if (st->kind == STEP_READ && st->lanes == 32)
			loose |= 1u << st->cell;
		if (st->kind == STEP_WRITE && st->lanes == 32)
			wrote |= 1u << st->cell;
	}
}

/* What a warp read through the generic proxy, until its lanes have fenced that and met; what one
 * lane read, until it has fenced that. */
static void find_bare(Runs *r, int a)
{
	uint32_t bare = 0, one = 0, shut = 0;
	for (int i = 0; i < r->length[a]; i++) {
		const Step *st = &r->word[a][i];
		r->bare[a][i] = bare | one | shut;
		if (meets(st))
			shut = 0;
		if (st->kind == STEP_READ)
			*(st->lanes == 32 ? &bare : &one) |= 1u << st->cell;
		if (st->kind != STEP_FENCE)
			continue;
		shut |= bare;
		bare = one = 0;
	}
	r->bare[a][r->length[a]] = bare | one | shut;
}

/* What a warp wrote and has fenced since, itself. */
static void find_handed(Runs *r, int a)
{
	uint32_t wrote = 0;
	for (int i = 0; i < r->length[a]; i++) {
		const Step *st = &r->word[a][i];
		r->handed[a][i + 1] = r->handed[a][i];
		if (st->kind == STEP_WRITE) {
			wrote |= 1u << st->cell;
			r->handed[a][i + 1] &= ~(1u << st->cell);
		}
		if (st->kind != STEP_FENCE)
			continue;
		r->handed[a][i + 1] |= wrote;
		wrote = 0;
	}
}

/* Registers are the role's alone: no wgmma in flight has those it uses, and a fence comes first. */
static void check_registers(Runs *r, int a)
{
	uint32_t used = ~0u;
	for (int i = 0; i < r->length[a]; i++) {
		const Step *st = &r->word[a][i];
		if (st->kind == STEP_MMA_FENCE)
			used = 0;
		if (st->kind == STEP_TOUCH)
			used |= (uint32_t)st->mask;
		wrong(r, st->kind == STEP_TOUCH && r->flight[a][i] >> ACC & st->mask, "in use");
		wrong(r, st->kind == STEP_MMA && used & st->mask, "no wgmma fence");
	}
}

void runs_read(Runs *r, int trips)
{
	memset(r->flight, 0, sizeof r->flight);
	memset(r->loose, 0, sizeof r->loose);
	memset(r->wrote, 0, sizeof r->wrote);
	find_words(r, trips);
	for (int a = 0; a < r->warps; a++) {
		find_flight(r, a, STEP_MMA, STEP_MMA_COMMIT, STEP_MMA_WAIT);
		find_flight(r, a, STEP_STORE, STEP_BULK_COMMIT, STEP_BULK_READ);
		find_loose(r, a);
		find_bare(r, a);
		find_handed(r, a);
		check_registers(r, a);
	}
}
