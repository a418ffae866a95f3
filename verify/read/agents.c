/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* agents.c - warps that behave alike as one agent: those of one role for which each condition,
 * bound, slot and number is the same.
 *     role consumer warps=8, if (warp % 4 == 0) in it  ->  consumer warps 0,4; 1-3,5-7
 */
#include "verify/read/read.h"

enum { WARP_REGS_UNIT = 8, SM_REGS = 65536 };

const Op *read_role_of(const Kernel *k, int warp)
{
	for (const Op *op = kernel_first(k); op; op = op->next) {
		int64_t first = attrs_int(&op->attrs, A_FIRST, 0);
		if (op->kind == OP_ROLE && warp >= first &&
		    warp < first + attrs_int(&op->attrs, A_WARPS, 0))
			return op;
	}
	return NULL;
}

/* What the launch decides for all, in this program, and what facts do. */
void read_put_choices(Reader *r, View *v)
{
	read_put_equals(r, v);
	for (int i = 0; i < r->p->nchoices; i++)
		vec_push(r->p->arena, &v->names, r->p->choices[i]);
	for (int i = 0; i < r->p->nsizes; i++)
		vec_push(r->p->arena, &v->names, r->p->sizes[i]);
}

static void look_at(Reader *r, const Ix *x, bool open)
{
	x = stage(&r->lets, x);
	if (!ix_uses(x, r->warp) && !ix_uses(x, r->tid))
		return;
	for (int i = 0; i < r->by_warp.n; i++)
		if (r->by_warp.at[i].x == x && r->by_warp.at[i].open == open)
			return;
	vec_push(r->p->arena, &r->by_warp, ((ByWarp){x, open}));
}

/* Nothing in it is written but registers and global memory, nor waited for. */
bool read_only_reads(const Op *op)
{
	for (const Op *in = op->body->first; in; in = in->next) {
		for (int i = 0; i < in->nin; i++)
			if (op_effect(in, i) & FX_W && read_is_tile(in->in[i].val, SP_SHARED))
				return false;
		if (in->body && !read_only_reads(in))
			return false;
	}
	return read_is_plain(op);
}

/* What tells warps apart: every condition, bound, slot, barrier number, parity, count and rank
 * that has the warp in it. */
void read_by_warp(Reader *r)
{
	read_put_choices(r, &r->lets);
	for (const Op *op = kernel_first(r->p->k); op; op = op_next(op)) {
		read_put_names(r, op, &r->lets);
		if (op->kind == OP_LET || op->kind == OP_ROLE || !read_counts(r, op))
			continue;
		for (int i = 0; i < op->nin; i++)
			if (op->in[i].at && op->in[i].val->type->space != SP_REG)
				look_at(r, op->in[i].at, false);
		if (!op->nin || op_rows[op->kind].effects & FX_SYNC ||
		    op_done_by(op, DONE_BY_BARRIER))
			for (int i = 0; i < op->nix; i++)
				look_at(r, op->ix[i], op->kind == OP_IF && read_only_reads(op));
	}
}

void read_put_warp(Reader *r, View *v, int warp)
{
	Ctx *c = r->p->k->ctx;
	const Ix *lane = ix_sym(c, "lane");
	const Ix *tid = ix_add(c, lane, ix_const(c, 32 * warp));
	vec_push(r->p->arena, &v->names, ((Named){r->warp, ix_const(c, warp)}));
	vec_push(r->p->arena, &v->names, ((Named){r->tid, tid}));
}

/* What the expressions of by_warp are for all threads of a warp, for each warp of a CTA. */
static const Ix **of_warps(Reader *r, int rank, int warps)
{
	int n = r->by_warp.n, all = warps * n;
	Ctx *c = r->p->k->ctx;
	const Ix **of = NEWN(r->p->arena, const Ix *, all + 1);
	for (int w = 0; w < warps; w++) {
		View v = {.ctx = c, .before = &r->made};
		ptrmap_clear(&r->made);
		read_put_warp(r, &v, w);
		vec_push(r->p->arena, &v.names, ((Named){ctx_str(c, "rank"), ix_const(c, rank)}));
		for (int i = 0; i < n; i++)
			of[w * n + i] = stage(&v, r->by_warp.at[i].x);
	}
	return of;
}

static bool alike(Reader *r, const Ix **of, int v, int w)
{
	int n = r->by_warp.n;
	if (read_role_of(r->p->k, v) != read_role_of(r->p->k, w))
		return false;
	for (int i = 0; i < n; i++) {
		const Ix *x = of[v * n + i], *y = of[w * n + i];
		if (x == y || read_same_by_lane(r, x, y))
			continue;
		if (!r->by_warp.at[i].open || read_is_by_lane(r, x) || read_is_by_lane(r, y))
			return false;
	}
	return true;
}

static const char *agent_name(Reader *r, int agent, int warps)
{
	Ctx *c = r->p->k->ctx;
	const Script *s = &r->p->scripts[agent];
	const char *role = s->role ? s->role->sym[0] : "outside", *list = "";
	const int *of = r->p->agent_of_warp[s->rank - r->p->rank];
	for (int w = 0; w < warps; w++) {
		int end = w;
		if (of[w] != agent)
			continue;
		while (end + 1 < warps && of[end + 1] == agent)
			end++;
		const char *comma = *list ? "," : "";
		list = end > w ? ctx_strf(c, "%s%s%d-%d", list, comma, w, end)
			       : ctx_strf(c, "%s%s%d", list, comma, w);
		w = end;
	}
	const char *name = ctx_strf(c, "%s %s %s", role,
				    r->p->m.agents[agent].warps > 1 ? "warps" : "warp", list);
	return r->p->m.ranks > 1 ? ctx_strf(c, "%s@%d", name, s->rank) : name;
}

static bool find_agents_of(Reader *r, int cta, int warps)
{
	Program *p = r->p;
	int first = p->m.na;
	const Ix **of = of_warps(r, p->rank + cta, warps);
	for (int w = 0; w < warps; w++) {
		int a = first;
		while (a < p->m.na && !alike(r, of, p->scripts[a].warp, w))
			a++;
		p->agent_of_warp[cta][w] = a;
		if (a == MAX_AGENTS)
			return read_limit(r, LIMIT_AGENTS, p->k->loc);
		if (a == p->m.na) {
			p->scripts[a] = (Script){.warp = w, .turns = 1, .rank = p->rank + cta};
			p->scripts[a].role = read_role_of(p->k, w);
			p->m.agents[a].rank = cta;
			p->m.na++;
		}
		p->m.agents[a].warps++;
	}
	return true;
}

bool read_agents(Reader *r)
{
	Program *p = r->p;
	int64_t threads = attrs_int(&p->k->attrs, A_BLOCK, 0);
	int warps = (int)(threads / 32);
	if (threads <= 0 || threads % 32 || warps > MAX_WARPS)
		return read_problem(r, D_W0411, p->k->loc,
				    "a CTA of 32 to 1024 threads is expected");
	int regs = (int)(SM_REGS / (threads * kernel_ctas(p->k)) / WARP_REGS_UNIT * WARP_REGS_UNIT);
	for (int cta = 0; cta < p->m.ranks; cta++)
		if (!find_agents_of(r, cta, warps))
			return false;
	for (int a = 0; a < p->m.na; a++) {
		p->m.agents[a].regs = regs;
		p->m.agents[a].name = agent_name(r, a, warps);
	}
	return true;
}
