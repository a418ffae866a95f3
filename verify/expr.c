/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* expr.c - expressions as the agent that is being read sees them, and as each of its lanes does.
 *     tid % 128 == 0, in warp 4  ->  lane == 0: holds in lane 0
 */
#include "verify/read.h"

static bool get_named(void *user, const char *name, int64_t *v)
{
	const View *s = user;
	for (int i = s->names.n - 1; i >= 0; i--)
		if (s->names.at[i].name == name)
			return ix_is_const(s->names.at[i].by, v);
	return false;
}

/* In a replay most are numbers, of which no expression need be made. */
const Ix *read_expr(Reader *r, const Ix *x)
{
	View *v = &r->view;
	int64_t value;
	x = stage(&r->lets, x);
	if (r->p->sized && !v->core && !v->trips && !v->counts.n &&
	    ix_eval(x, get_named, v, &value))
		return ix_const(v->ctx, value);
	return stage(v, x);
}

void read_put_name(Reader *r, const char *name, const Ix *by)
{
	vec_push(r->p->arena, &r->view.names, ((Named){name, by}));
}

void read_put_ring(Reader *r, const Op *op, const Ix *position)
{
	Ctx *c = r->p->k->ctx;
	const Ix *slots = ix_const(c, attrs_int(&op->attrs, A_SLOTS, 1));
	if (op->kind != OP_FOR_RING)
		return;
	read_put_name(r, op->sym[1], ix_mod(c, position, slots));
	read_put_name(r, op->sym[2], ix_mod(c, ix_div(c, position, slots), ix_const(c, 2)));
}

/* ------------------------------------------------------------------ lanes */
bool read_of_lane(const Reader *r, const Ix *x)
{
	return ix_uses(x, ctx_str(r->p->k->ctx, "lane"));
}

enum { LANES_KNOWN = 1, LANES_MORE = 2 };

/* The lanes in which a condition holds << 2 | LANES_KNOWN, or LANES_MORE: the lane alone does not
 * decide it. */
static uintptr_t find_lanes(Reader *r, const Ix *x)
{
	const char *lane = ctx_str(r->p->k->ctx, "lane");
	uint64_t which = 0;
	if (!read_of_lane(r, x))
		return LANES_MORE;
	for (int i = 0; i < 32; i++) {
		int64_t v;
		if (!ix_value_at(r->p->k->ctx, x, lane, i, &v))
			return LANES_MORE;
		which |= (uint64_t)(v != 0) << i;
	}
	return which << 2 | LANES_KNOWN;
}

bool read_lanes_of(Reader *r, const Ix *x, uint32_t *which)
{
	uintptr_t found = (uintptr_t)ptrmap_get(&r->lanes_of, x);
	if (!found) {
		found = find_lanes(r, x);
		r->lanes_of.arena = r->p->arena;
		ptrmap_set(&r->lanes_of, x, (void *)found);
	}
	*which = (uint32_t)(found >> 2);
	return found & LANES_KNOWN;
}

bool read_same_by_lane(Reader *r, const Ix *x, const Ix *y)
{
	Ctx *c = r->p->k->ctx;
	const char *lane = ctx_str(c, "lane");
	bool same = ix_uses(x, lane) || ix_uses(y, lane);
	for (int i = 0; i < 32 && same; i++) {
		int64_t a, b;
		same = ix_value_at(c, x, lane, i, &a) && ix_value_at(c, y, lane, i, &b) && a == b;
	}
	return same;
}

bool read_is_by_lane(Reader *r, const Ix *x)
{
	Ctx *c = r->p->k->ctx;
	const char *lane = ctx_str(c, "lane");
	bool known = true;
	int64_t v;
	for (int i = 0; i < 32 && known; i++)
		known = ix_value_at(c, x, lane, i, &v);
	return known;
}
