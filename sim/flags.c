/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* flags.c - order through memory itself, shared and global: what a release writes an acquire reads,
 * and fences that make relaxed and volatile accesses do the same (PTX ISA: Memory Consistency
 * Model, Release and Acquire Patterns, Causality Order). Each word that was written so carries what
 * its writers knew.
 *   st.shared d; fence; st.volatile f | ld.volatile f; fence; ld.shared d  ->  ordered */
#include "sim/machine.h"

#include <stdlib.h>

const char strong_access[] = "atomic";

struct Flag {
	Know know;
};

struct Fences {
	Know released; /* what the warp knew at its last fence */
	Know read;     /* by strong reads since: an acquire pattern's first half */
	bool any;
};

bool is_strong(const Ins *in)
{
	return has(in, M_VOLATILE) || has(in, M_RELAXED) || has(in, M_ACQUIRE) ||
	       has(in, M_RELEASE) || has(in, M_ACQ_REL);
}

static u32 *flag_number(Cta *cta, u32 offset)
{
	if (!cta->flag_at)
		cta->flag_at = calloc((cta->smem_end - SMEM_BASE) / 4 + 1, sizeof *cta->flag_at);
	return cta->flag_at ? &cta->flag_at[(offset - SMEM_BASE) / 4] : NULL;
}

static Know *flag_new(Cta *cta, u32 offset)
{
	u32 *at = flag_number(cta, offset);
	if (!at || *at)
		return at ? &cta->flags[*at - 1].know : NULL;
	if (cta->nflags == cta->flags_cap) {
		u32 cap = cta->flags_cap * 2 + 8;
		struct Flag *more = realloc(cta->flags, cap * sizeof *more);
		if (!more)
			return NULL;
		cta->flags = more;
		cta->flags_cap = cap;
	}
	cta->flags[cta->nflags] = (struct Flag){0};
	*at = ++cta->nflags;
	return &cta->flags[*at - 1].know;
}

static Know *flag_find(const Cta *cta, u32 offset)
{
	u32 i = cta->flag_at ? cta->flag_at[(offset - SMEM_BASE) / 4] : 0;
	return i ? &cta->flags[i - 1].know : NULL;
}

/* Other CTAs of the grid are told only at the scope of the GPU, or of more. */
static Know *flag_at(Warp *w, const Ins *in, const Place *p, bool make)
{
	if (p->cta)
		return make ? flag_new(p->cta, p->offset) : flag_find(p->cta, p->offset);
	bool all = has(in, M_GPU) || has(in, M_SYS);
	return all ? globals_flag(w->cluster->job, p->host, make) : NULL;
}

static bool off(const Warp *w)
{
	return !(w->cluster->job->opt->checks & (CHECK_RACE | CHECK_EXIT));
}

static struct Fences *fences(Warp *w)
{
	if (!w->fences)
		w->fences = calloc(1, sizeof *w->fences);
	return w->fences;
}

/* update: the write is half of an atomic operation and continues what was there. */
void flag_write(Warp *w, const Ins *in, const Place *p, bool update)
{
	bool release = has(in, M_RELEASE) || has(in, M_ACQ_REL);
	bool fenced = w->fences && w->fences->any;
	Know *know = off(w) ? NULL : flag_at(w, in, p, release || fenced);
	if (!know)
		return;
	if (!update)
		know_forget(know);
	if (release)
		hb_release(w, know);
	else if (fenced)
		know_join(know, &w->fences->released);
}

void flag_read(Warp *w, const Ins *in, const Place *p)
{
	const Know *know = off(w) ? NULL : flag_at(w, in, p, false);
	if (!know)
		return;
	if (has(in, M_ACQUIRE) || has(in, M_ACQ_REL))
		hb_acquire(w, know);
	else if (fences(w))
		know_join(&w->fences->read, know);
}

void flags_fence(Warp *w)
{
	struct Fences *f = off(w) ? NULL : fences(w);
	if (!f)
		return;
	hb_acquire(w, &f->read);
	know_forget(&f->read);
	hb_release(w, &f->released);
	f->any = true;
}

void flags_free(Cta *cta)
{
	for (u32 i = 0; i < cta->nflags; i++)
		know_free(&cta->flags[i].know);
	free(cta->flags);
	free(cta->flag_at);
}

void fences_free(Warp *w)
{
	if (!w->fences)
		return;
	know_free(&w->fences->released);
	know_free(&w->fences->read);
	free(w->fences);
}
