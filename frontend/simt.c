/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* simt.c - a copy by all threads of a kernel without an mma: how many bytes each takes at a time,
 * and how many threads there are. Which of them has what is derived.
 *     copy vec = simt(16 bytes) * threads(128);   tz[i] <- a * tx[i] via vec;
 *  -> kernel axpby .. vector=16 block=128 */
#include "frontend/sema.h"
#include "ir/schedule.h"

#include <inttypes.h>

enum { VECTOR_MOST = 16 };

static const char form[] = "write simt(16 bytes) * threads(128), or simt(16 bytes)";

static Value wrong(Sema *s, Loc loc, const char *what)
{
	return rejected(s, loc, D_E0312,
			"%s\n"
			"%s",
			what, form);
}

/* 16 bytes */
static bool bytes_of(Sema *s, const Node *n, int64_t *bytes)
{
	if (n->kind != N_PHRASE || n->kids.at[1]->word != W_BYTES) {
		wrong(s, n->loc, "what a thread copies at a time is so many bytes");
		return false;
	}
	if (!eval_int(s, n->kids.at[0], 1, VECTOR_MOST, "bytes that a thread copies at a time",
		      bytes))
		return false;
	if (!(*bytes & (*bytes - 1)))
		return true;
	return reject(s, n->loc, D_E0312,
		      "no instruction copies %" PRId64 " bytes: they are 1, 2, 4, 8 or 16\n"
		      "%s",
		      *bytes, form);
}

static bool threads_of(Sema *s, const Node *n, int64_t *threads)
{
	const ClauseRow *row = &clause_rows[CLAUSE_THREADS];
	return eval_int(s, n->kids.at[1], row->least, row->most, "the threads of a CTA", threads);
}

Value simt_copy(Sema *s, const Node *n, const char *name)
{
	Value v = value_of(V_SIMT);
	bool times = n->op == OPER_MUL;
	const Node *simt = times ? n->kids.at[0] : n, *threads = times ? n->kids.at[1] : NULL;
	if (!node_calls(simt, W_SIMT) || simt->kids.n != 2)
		return wrong(s, n->loc, "a copy is cp_async(A, sA), or one by threads");
	if (threads && (!node_calls(threads, W_THREADS) || threads->kids.n != 2))
		return wrong(s, threads->loc,
			     "a copy by threads is repeated over so many of them; which has what "
			     "is derived");
	Simt *c = NEW(s->arena, Simt);
	c->name = name;
	if (!bytes_of(s, simt->kids.at[1], &c->bytes) ||
	    (threads && !threads_of(s, threads, &c->threads)))
		return value_bad();
	v.simt = c;
	return v;
}

bool is_simt_copy(const Node *n)
{
	const Node *simt = n->kind == N_BINARY ? n->kids.at[0] : n;
	const Node *head = simt->kind == N_CALL ? simt->kids.at[0] : simt;
	return head->word == W_SIMT;
}

static bool report(Sema *s, const Node *via, const char *remedy, const char *what)
{
	return reject(s, via->loc, D_E0312,
		      "%s\n"
		      "%s",
		      what, remedy);
}

/* Of tz[i] <- x via vec. */
bool simt_fits(Sema *s, const Node *via, const Simt *c, const Value *to)
{
	const char *taken = s->simt ? s->simt->name : NULL;
	if (to->kind != V_TILE)
		return report(s, via, "name cp_async(A, sA), or leave it out",
			      "a copy by threads goes from and to registers, not into a buffer");
	if (s->mma_loc.src >= 0)
		return report(s, via, "leave it out: how tiles leave is derived",
			      "threads share out tiles in kernels without an mma; here the mma "
			      "decides who has what");
	if (taken && s->simt != c)
		return report(
			s, via, ctx_strf(s->ctx, "write via %s", taken),
			ctx_strf(s->ctx,
				 "the threads of a kernel share out its tiles in one way, and "
				 "'%s' says which",
				 taken));
	const Tensor *t = tiling_tensor(to->tile->tiling);
	int64_t bits = elem_rows[t->elem].bits;
	if (8 * c->bytes < bits)
		return report(s, via, form,
			      ctx_strf(s->ctx, "%" PRId64 " bytes do not hold an element of '%s'",
				       c->bytes, t->name));
	s->simt = c;
	kernel_int(s->kernel, A_VECTOR, c->bytes);
	return true;
}

void simt_finish(Sema *s)
{
	int64_t said = attrs_int(&s->kernel->attrs, A_BLOCK, 0);
	if (!s->simt || !s->simt->threads)
		return;
	if (said && said != s->simt->threads)
		reject(s, s->schedule.loc, D_E0308,
		       "%" PRId64 " threads, and the copy '%s' is by %" PRId64 "\n"
		       "leave one of them out",
		       said, s->simt->name, s->simt->threads);
	kernel_int(s->kernel, A_BLOCK, s->simt->threads);
}
