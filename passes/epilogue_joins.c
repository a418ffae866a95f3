/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* epilogue_joins.c - what is joined to outputs for columns, or for all of a tile, goes chunk by
 * chunk with the store of the tile: of the whole tile it would take registers beside it.
 *     store %D, %y ; store %S, %x combine=sum
 * ->  store.. %D, %y0 ; store %S, %x0 combine=sum ; store.. %D, %y1 ; store %S, %x1 .. */
#include "passes/epilogue.h"

bool writes_registers(const Op *op)
{
	bool some = op->body;
	for (int i = 0; i < op->nin; i++)
		some |= op->in[i].val->type->space == SP_REG && (op_effect(op, i) & (FX_W | FX_AW));
	return some;
}

/* A value of the store's shape that is there before the store, and is reduced as it is joined. What
 * is joined for rows stays whole: chunk by chunk it took more registers, not fewer. */
static bool joins_tile(const Epilogue *e, const Op *op)
{
	if (op->kind != OP_STORE || !combine_of(op) || e->t.along_n != 1)
		return false;
	const Val *x = op->in[1].val, *to = op->in[0].val, *v = e->store->in[1].val;
	return x->type->layout == v->type->layout && x->type->tv == v->type->tv &&
	       origin_of(e, x) && val_extent(to, tile_mode(e->k, to, 0)) == 1;
}

void find_joins(Epilogue *e)
{
	for (Op *op = e->store->next; op && !writes_registers(op); op = op->next)
		if (joins_tile(e, op))
			vec_push(ctx_arena(e->k->ctx), &e->joins, op);
}

/* ------------------------------------------------------------------ of a chunk */
static void join_chunk(Parts *p, const Op *join)
{
	Epilogue *e = p->e;
	const Op *tile = join->in[0].val->def;
	const Ix *row = tile_at(e->k, tile->out, 0), *zero = ix_int(e->k, 0);
	bool columns = val_extent(tile->out, tile_mode(e->k, tile->out, 1)) > 1;
	const Ix *col = columns ? chunk_col(e, p->c, tile, zero) : tile_at(e->k, tile->out, 1);
	Val *v = part_of(p, join->in[1].val), *to = part_tile(e, e->store, tile, row, col, 1);
	Op *op = op_before(e->k, e->store, OP_STORE);
	op_in(e->k, op, to, NULL);
	op_in(e->k, op, v, NULL);
	op_str(e->k, op, A_COMBINE, combine_of(join)->name);
}

void put_joins(Parts *p)
{
	for (int i = 0; i < p->e->joins.n; i++)
		join_chunk(p, p->e->joins.at[i]);
}
