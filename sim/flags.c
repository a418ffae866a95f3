/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* flags.c - order through memory itself, shared and global: what a release writes an acquire reads,
 * and fences that make relaxed and volatile accesses do the same (PTX ISA: Memory Consistency
 * Model, Release and Acquire Patterns, Causality Order). Each word that was written so carries what
 * its writers knew.
 *   st.shared d; fence; st.volatile f | ld.volatile f; fence; ld.shared d  ->  ordered */
#include "sim/machine.h"

#include <stdlib.h>

const char strong_access[] = "atomic";

bool is_strong(const Ins *in)
{
	return has(in, M_VOLATILE) || has(in, M_RELAXED) || has(in, M_ACQUIRE) ||
	       has(in, M_RELEASE) || has(in, M_ACQ_REL);
}

/* What the writers of the word have handed on; NULL: nothing. Other CTAs of the grid are told at
 * the scope of the GPU or of more, which a volatile access and an atom without a scope have. */
static Know *flag_at(const Ins *in, const Place *p, bool make)
{
	Shadow *s = p->shadow;
	bool near = has(in, M_CTA) || has(in, M_CLUSTER);
	if (!s || (!p->cta && near))
		return NULL;
	if (!s->flag_at && make)
		s->flag_at = calloc(s->bytes / 4 + 1, sizeof *s->flag_at);
	u32 *at = s->flag_at ? &s->flag_at[(p->host - s->host) / 4] : NULL;
	if (!at || (!*at && !make))
		return NULL;
	if (!list_grow(&s->flags, &s->flags_cap, s->nflags + 1, sizeof *s->flags))
		return NULL;
	if (!*at)
		s->flags[(*at = ++s->nflags) - 1] = (Know){0};
	return &s->flags[*at - 1];
}

/* update: the write is half of an atomic operation and continues what was there. */
void flag_write(Warp *w, const Ins *in, const Place *p, bool update)
{
	bool release = has(in, M_RELEASE) || has(in, M_ACQ_REL);
	Know *know = hb_off(w) ? NULL : flag_at(in, p, release || w->know.strong.n);
	if (!know)
		return;
	if (!update)
		know_forget(know);
	if (release)
		hb_release(w, know);
	else
		know_join(know, &(Know){w->know.strong, w->know.fenced, w->know.strong});
}

void flag_read(Warp *w, const Ins *in, const Place *p)
{
	const Know *know = hb_off(w) ? NULL : flag_at(in, p, false);
	if (know && (has(in, M_ACQUIRE) || has(in, M_ACQ_REL)))
		hb_acquire(w, know);
	else if (know)
		know_join(&w->read, know);
}

void flags_free(Shadow *s)
{
	for (u32 i = 0; i < s->nflags; i++)
		know_free(&s->flags[i]);
	free(s->flags);
	free(s->flag_at);
}
