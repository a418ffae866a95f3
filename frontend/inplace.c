/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* inplace.c - tensors that are inout: a tile is read, after the loops, before it is written, by
 * the iteration of the grid that writes it. So no iteration reads what another writes, whatever
 * their order; and what has been written is read by nobody.
 *     gD[m,n] <- bf16(alpha * acc + beta * gD[m,n]); */
#include "frontend/sema.h"

static bool read_elsewhere(Sema *s, const Value *v, int mode)
{
	const Tensor *t = v->tile->tiling->tensor;
	return reject(s, v->loc, D_E0306,
		      "'%s' is inout, and other iterations write this tile: index %d is not "
		      "the grid's name for that mode, or the tile is not as the grid's\n"
		      "read the tile that is written, by the names of the grid; what other tiles "
		      "hold is read from a tensor of its own",
		      t->name, mode);
}

static bool read_in_loop(Sema *s, const Value *v)
{
	return reject(s, v->loc, D_E0306,
		      "'%s' is inout, and read in a loop: a tile of it is read once it is about "
		      "to be written\n"
		      "move the statement after the loop",
		      v->tile->tiling->tensor->name);
}

static bool read_late(Sema *s, const Value *v)
{
	const char *name = v->tile->tiling->tensor->name;
	return reject(s, v->loc, D_E0306,
		      "'%s' is inout, and this tile of it has been written: what it held is gone\n"
		      "write '%s' after everything that reads it",
		      name, name);
}

bool reads_in_place(Sema *s, const Value *v)
{
	Tensor *t = v->tile->tiling->tensor;
	if (s->place != AT_GRID)
		return read_in_loop(s, v);
	for (int i = 0; i < v->tile->tiling->rank; i++)
		if (!mode_at_grid(s, v->tile, i))
			return read_elsewhere(s, v, i);
	if (t->writes)
		return read_late(s, v);
	t->reads++;
	return true;
}

/* Of an inout tensor that has been written; NULL: op brings no tile of one. */
static const Tensor *written_source(Sema *s, const Op *op)
{
	const Val *from = op->kind == OP_COPY ? IN(op, FROM).val : NULL;
	if (!from || from->type->space != SP_GLOBAL)
		return NULL;
	while (from->def)
		from = IN(from->def, OF).val;
	for (int i = 0; i < s->tensors.n; i++) {
		const Tensor *t = s->tensors.at[i];
		if (t->is_inout && t->writes && t->val == from)
			return t;
	}
	return NULL;
}

/* What is computed from what the map has is in it, too. */
static void pass_on(PtrMap *from, Op *op)
{
	bool any = false;
	for (int i = 0; i < op->nin; i++)
		any |= op->in[i].val && ptrmap_get(from, op->in[i].val);
	if (any && op->out)
		ptrmap_set(from, op->out, op);
	if (any && op->kind == OP_COPY)
		ptrmap_set(from, IN(op, TO).val, op);
}

/* A value leaves chunk by chunk, and what it is made of comes so: it would come too late. */
bool reads_before(Sema *s, const Value *v, const Val *x)
{
	PtrMap all = {.arena = s->arena};
	const Tensor *late = NULL;
	for (Op *op = s->block->first; op; op = op->next) {
		const Tensor *t = written_source(s, op);
		late = t ? t : late;
		if (t)
			ptrmap_set(&all, IN(op, TO).val, op);
		else
			pass_on(&all, op);
	}
	if (!late || !ptrmap_get(&all, x))
		return true;
	return reject(s, v->loc, D_E0306,
		      "this is computed from '%s', which is inout and has been written by now\n"
		      "write '%s' after everything that is computed from it",
		      late->name, late->name);
}
