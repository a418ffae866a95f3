/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* joins.c - what is joined to outputs for columns, or for all of a tile, goes chunk by
 * chunk with the store of the tile: of the whole tile it would take registers beside it. Chunks of
 * the same columns, or all of a tile, are joined together, after the last of them.
 *     store %D, %y ; store %S, %x combine=sum
 * ->  store.. %D, %y0 ; %s0 = reduce %x0 combine=sum ; store %S, %s0 combine=sum
 *     store.. %D, %y1 ; ... */
#include "passes/epilogue/epilogue.h"

bool writes_registers(const Op *op)
{
	bool some = op->body;
	for (int i = 0; i < op->nin; i++)
		some |= op->in[i].val->type->space == SP_REG && (op_effect(op, i) & (FX_W | FX_AW));
	return some;
}

static bool is_of_columns(const Epilogue *e, const Op *join)
{
	const Val *to = IN(join, TO).val;
	return val_extent(to, tile_mode(e->k, to, 1)) > 1;
}

/* A value of the store's shape that is there before the store, and is reduced as it is joined. What
 * is joined for rows stays whole: chunk by chunk it took more registers, not fewer. */
static bool joins_tile(const Epilogue *e, const Op *op)
{
	if (op->kind != OP_STORE || !combine_of(op) || e->t.along_n != 1)
		return false;
	const Val *x = IN(op, FROM).val, *to = IN(op, TO).val, *v = IN(e->store, FROM).val;
	return x->type->layout == v->type->layout && x->type->tv == v->type->tv &&
	       origin_of(e, x) && val_extent(to, tile_mode(e->k, to, 0)) == 1;
}

bool joins_columns(const Epilogue *e)
{
	for (const Op *op = e->store->next; op && !writes_registers(op); op = op->next)
		if (op->kind == OP_STORE && combine_of(op) && is_of_columns(e, op) &&
		    IN(op, FROM).val->type->layout == IN(e->store, FROM).val->type->layout)
			return true;
	return false;
}

void find_joins(Epilogue *e)
{
	for (Op *op = e->store->next; op && !writes_registers(op); op = op->next)
		if (joins_tile(e, op))
			vec_push(ctx_arena(e->k->ctx), &e->joins, ((Join){op, NULL}));
}

/* ------------------------------------------------------------------ of a chunk */
/* What each warp has of it, each lane other columns. */
static Val *of_warps(const Epilogue *e, const Op *join, Val *x)
{
	Ctx *c = e->k->ctx;
	int rows = val_extent(x, 0) / WARP_ROWS, cols = is_of_columns(e, join) ? e->cols : 1;
	const Layout *part = layout_2d(c, rows, cols, 1, rows);
	Op *op = op_before(e->k, e->store, OP_REDUCE);
	op_in(e->k, op, x, NULL);
	op_str(e->k, op, A_COMBINE, combine_of(join)->name);
	return op_result(e->k, op, "s",
			 type_frag(c, EL_F32, part, tv_shared_out(c, x->type, part)));
}

static Val *with(const Epilogue *e, const Op *join, Val *kept, Val *v)
{
	if (!kept)
		return v;
	Op *op = op_before(e->k, e->store, combine_of(join)->op);
	op_in(e->k, op, kept, NULL);
	op_in(e->k, op, v, NULL);
	return op_result(e->k, op, "s", v->type);
}

static void join(const Epilogue *e, const Join *j, Chunk c)
{
	const Op *tile = IN(j->op, TO).val->def;
	const Ix *zero = ix_int(e->k, 0), *row = tile_at(e->k, tile->out, 0);
	const Ix *col =
		is_of_columns(e, j->op) ? chunk_col(e, c, tile, zero) : tile_at(e->k, tile->out, 1);
	Val *to = part_tile(e, e->store, tile, row, col, 1);
	Op *op = op_before(e->k, e->store, OP_STORE);
	op_in(e->k, op, to, NULL);
	op_in(e->k, op, j->kept, NULL);
	op_str(e->k, op, A_COMBINE, combine_of(j->op)->name);
}

void put_joins(Parts *p)
{
	Epilogue *e = p->e;
	for (int i = 0; i < e->joins.n; i++) {
		Join *j = &e->joins.at[i];
		bool columns = is_of_columns(e, j->op);
		Val *v = of_warps(e, j->op, part_of(p, IN(j->op, FROM).val));
		j->kept = with(e, j->op, j->kept, v);
		if (columns ? p->c.i < e->t.repeat_m - 1 : p->c.n < e->chunks - 1)
			continue;
		join(e, j, p->c);
		j->kept = NULL;
		if (p->c.n == e->chunks - 1)
			op_remove(j->op);
	}
}
