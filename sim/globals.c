/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* globals.c - what CTAs of a grid know of each other: words of global memory that were written with
 * release carry what their writers knew, and each word of the launch's works remembers its last
 * write and its last read of this launch. An access that conflicts with one that is not known to
 * have happened before is a race; a read of what this launch has not written is an earlier one's.
 *     st.global w; bar.sync; red.release.gpu s | ld.acquire.gpu s; bar.sync; ld.global w
 * ->  ordered */
#include "sim/machine.h"

#include <stdlib.h>

enum { WORD = 4 };

typedef struct {
	const Ins *in;
	u32 actor, clock, cta[3], warp;
} Touch;

typedef struct {
	u32 write, read; /* touches; 0: none of this launch */
} Word;

typedef struct {
	const void *word;
	Know know;
} Flag;

struct Globals {
	Word **words; /* of each of the launch's works */
	Touch *touches;
	u32 n, cap;
	Flag *flags;
	u32 nflags, flags_cap;
};

bool globals_start(Job *j)
{
	struct Globals *g = j->globals = calloc(1, sizeof *g);
	if (!g || !(g->words = calloc(j->l->nworks + 1, sizeof(Word *))))
		return false;
	for (u32 i = 0; i < j->l->nworks; i++)
		if (!(g->words[i] = calloc(j->l->works[i].bytes / WORD + 1, sizeof(Word))))
			return false;
	return true;
}

void globals_end(Job *j)
{
	struct Globals *g = j->globals;
	for (u32 i = 0; g && g->words && i < j->l->nworks; i++)
		free(g->words[i]);
	for (u32 i = 0; g && i < g->nflags; i++)
		know_free(&g->flags[i].know);
	if (g) {
		free(g->words);
		free(g->touches);
		free(g->flags);
	}
	free(g);
	j->globals = NULL;
}

/* ------------------------------------------------------------------ flags */
Know *globals_flag(Job *j, const void *word, bool make)
{
	struct Globals *g = j->globals;
	for (u32 i = 0; g && i < g->nflags; i++)
		if (g->flags[i].word == word)
			return &g->flags[i].know;
	if (!g || !make)
		return NULL;
	if (g->nflags == g->flags_cap) {
		u32 cap = g->flags_cap * 2 + 8;
		Flag *more = realloc(g->flags, cap * sizeof *more);
		if (!more)
			return NULL;
		g->flags = more;
		g->flags_cap = cap;
	}
	g->flags[g->nflags] = (Flag){.word = word};
	return &g->flags[g->nflags++].know;
}

/* ------------------------------------------------------------------ touches */
/* That of the instruction's other threads, or a new one; 0: no memory. */
static u32 touch_of(const Warp *w, const Ins *in)
{
	struct Globals *g = w->cluster->job->globals;
	u32 clock = clock_of(&w->know.seen, w->actor);
	const Touch *last = g->n ? &g->touches[g->n - 1] : NULL;
	if (last && last->in == in && last->actor == w->actor && last->clock == clock)
		return g->n;
	if (g->n == g->cap) {
		u32 cap = g->cap * 2 + 256;
		Touch *more = realloc(g->touches, cap * sizeof *more);
		if (!more)
			return 0;
		g->touches = more;
		g->cap = cap;
	}
	g->touches[g->n++] = (Touch){.in = in,
				     .actor = w->actor,
				     .clock = clock,
				     .cta = {w->cta->id[0], w->cta->id[1], w->cta->id[2]},
				     .warp = w->id};
	return g->n;
}

/* Whether the touch happened before what w does now; says so where it is not known. */
static void order(Warp *w, const Ins *in, u32 lane, u64 addr, u32 touch, bool writes, bool wrote)
{
	if (!touch)
		return;
	const Touch *t = &w->cluster->job->globals->touches[touch - 1];
	if (clock_of(&w->know.seen, t->actor) >= t->clock)
		return;
	Text line = {0};
	line_name(w->cluster, (u32)t->in->line, &line);
	report(w, in, (s32)lane, SIM_RACE,
	       "%s of global memory 0x%llx is not ordered after the %s of warp %u of CTA %u,%u,%u "
	       "at "
	       "%s",
	       writes ? "write" : "read", (unsigned long long)addr, wrote ? "write" : "read",
	       t->warp, t->cta[0], t->cta[1], t->cta[2], line.at);
	text_free(&line);
}

static void word_touch(Warp *w, const Ins *in, u32 lane, u64 addr, Word *word, bool write)
{
	u32 me = touch_of(w, in);
	if (!write && !word->write && checked(w->cluster, CHECK_UNINIT))
		report(w, in, (s32)lane, SIM_UNINIT,
		       "%s reads workspace that no thread of this launch has written", in->text);
	if (checked(w->cluster, CHECK_RACE)) {
		order(w, in, lane, addr, word->write, write, true);
		if (write)
			order(w, in, lane, addr, word->read, write, false);
	}
	if (write)
		*word = (Word){.write = me};
	else
		word->read = me;
}

void globals_touch(Warp *w, const Ins *in, u32 lane, u64 addr, u32 bytes, bool write)
{
	const Job *j = w->cluster->job;
	for (u32 i = 0; j->globals && i < j->l->nworks; i++) {
		u64 at = addr - j->l->works[i].from;
		if (at >= j->l->works[i].bytes)
			continue;
		for (u64 k = at / WORD; k <= (at + bytes - 1) / WORD; k++)
			word_touch(w, in, lane, addr, &j->globals->words[i][k], write);
	}
}
