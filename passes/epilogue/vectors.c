/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* vectors.c - what an epilogue reads of a tensor that has an element for each row or
 * column. TMA brings all that belongs to a tile into one slot, a tile ahead, and each chunk reads
 * its own out of it; where TMA cannot, each thread loads what a chunk needs of it. So it does with
 * matrices, where whole tiles of them are too many for its registers.
 *     %x = add %acc, %bias     ->   load.tma %sbias[t], %t, %bias.map ; for k { ... }
 *                                   load.shared %c[0], %sbias[t] skip=64 ; %x.1 = add %p, %c */
#include "ir/schedule.h"
#include "passes/epilogue/epilogue.h"

/* In bytes; a box begins with a line of shared memory, as long as the widest swizzle. */
enum { LINE = SWIZZLE_WIDEST, ALIGN = 1024, BARRIER = 8 };

/* The mode along which it lies. */
static int mode_of(const Val *v)
{
	return val_extent(v, 0) == 1;
}

/* The load that brings v, beside the store, where nothing else changes v. */
static Op *only_load(const Epilogue *e, const Val *v)
{
	const Origin *o = origin_of(e, v);
	Op *load = o && !val_is_one(v) ? o->load : NULL;
	if (!load || e->t.along_n != 1 || op_parent(load) != op_parent(e->store))
		return NULL;
	for (const Op *op = kernel_first(e->k); op; op = op_next(op))
		for (int i = 0; i < op->nin; i++)
			if (op != load && op->kind != OP_FILL && op->in[i].val == v &&
			    (op_effect(op, i) & (FX_W | FX_AW)))
				return NULL;
	return load;
}

Op *vector_load(const Epilogue *e, const Val *v)
{
	return val_is_vector(v) ? only_load(e, v) : NULL;
}

Op *chunk_load(const Epilogue *e, const Val *v)
{
	return val_is_vector(v) || e->late ? only_load(e, v) : NULL;
}

bool reads_columns(Epilogue *e)
{
	bool any = false;
	find_origins(e);
	for (const Op *op = kernel_find(e->k, OP_LOAD); op; op = op_find_next(op, OP_LOAD))
		any |= vector_load(e, IN(op, TO).val) == op && mode_of(IN(op, TO).val) == 1;
	return any;
}

/* ------------------------------------------------------------------ loaded by each thread */
/* What the chunk needs, loaded where it is needed: of the whole tile it would take registers all
 * the time. */
Val *loaded_chunk(Epilogue *e, const Op *whole, Chunk c)
{
	Kernel *k = e->k;
	const Val *v = IN(whole, TO).val;
	const Op *tile = IN(whole, FROM).val->def;
	bool one_row = val_extent(v, 0) == 1, one_col = val_extent(v, 1) == 1;
	const Ix *zero = ix_int(k, 0);
	const Ix *row = one_row ? tile_at(k, tile->out, 0) : chunk_row(e, c, tile, zero);
	const Ix *col = one_col ? tile_at(k, tile->out, 1) : chunk_col(e, c, tile, zero);
	Op *frag = op_before(k, e->store, OP_FRAG);
	op_result(k, frag, "c", chunk_type(e, v));
	Val *t = part_tile(e, e->store, tile, row, col, one_row ? 1 : e->rows * e->t.along_m);
	Op *none = op_before(k, e->store, OP_FILL), *load = op_before(k, e->store, OP_LOAD);
	op_real(k, none, A_VALUE, 0);
	op_in(k, none, frag->out, NULL);
	op_ins(k, load, frag->out, t);
	return frag->out;
}

/* ------------------------------------------------------------------ out of a slot */
static SlotForm form_of(const Val *v)
{
	int fast = mode_of(v), n = val_extent(v, fast);
	return (SlotForm){fast, 1, n, n, 0};
}

/* Other strides than its own are sure to be what TMA takes. */
static bool strides_fit(const Epilogue *e, const Val *tile, int bytes)
{
	const Layout *l = layout_flat(e->k->ctx, IN(tile->def, OF).val->type->layout);
	ModeList modes = layout_map_modes(l);
	for (int i = 1; i < modes.n; i++)
		if (!is_sure(e->k, tup_get(l->stride, modes.at[i])->leaf, bytes))
			return false;
	return true;
}

Fit fits_vector(Copying *c, Refusal *why)
{
	const Epilogue *e = c->e;
	const Val *v = IN(c->op, TO).val, *tile = IN(c->op, FROM).val;
	int bytes = elem_rows[tile->type->elem].bits / 8, n = form_of(v).cols;
	if (val_is_one(v))
		why->text = "it is one element";
	else if (vector_load(e, v) != c->op)
		why->text = "it is not read once for each tile";
	else if (!ix_is(tile_stride(e->k, tile, mode_of(v)), 1))
		why->text = "its elements are not contiguous";
	else if (n > target_by_name(e->k->target)->box_max || n * bytes % LINE)
		why->text =
			ctx_strf(e->k->ctx,
				 "its %d elements of a tile are no box of whole lines of %d bytes",
				 n, LINE);
	else if (!strides_fit(e, tile, bytes))
		why->text = "only the launch knows whether TMA takes its strides";
	else if (begins_anywhere(e->k, tile, mode_of(v)))
		why->text = BEGINS_ANYWHERE;
	return why->text ? FIT_NO : FIT_YES;
}

/* This tile's and the next one's. */
static int slots_of(const Epilogue *e)
{
	return one_tile(e) ? 1 : 2;
}

int64_t vector_bytes(const Epilogue *e)
{
	int64_t bytes = 0;
	for (int i = 0; i < e->sources.n; i++) {
		const Val *v = IN(e->sources.at[i].load, TO).val;
		int64_t slot = (int64_t)form_of(v).cols * elem_rows[v->type->elem].bits / 8;
		if (e->sources.at[i].vector)
			bytes += round_up(slots_of(e) * (slot + 2 * BARRIER), ALIGN);
	}
	return bytes;
}

void drop_sources(Epilogue *e, bool vectors)
{
	int n = 0;
	for (int i = 0; i < e->sources.n; i++)
		if (e->sources.at[i].vector != vectors)
			e->sources.at[n++] = e->sources.at[i];
	e->sources.n = n;
}

void vector_buffer(const Epilogue *e, Source *s, Op *reader)
{
	Kernel *k = e->k;
	Val *tile = IN(s->load, FROM).val;
	const Val *tensor = tensor_arg(IN(tile->def, OF).val);
	SlotForm f = form_of(IN(s->load, TO).val);
	s->buffer = buffer_new(k, s->load->loc, tensor, ctx_strf(k->ctx, "%s.in", tensor->name), f,
			       slots_of(e));
	tile_outside_map(k, tile->def);
	s->map = kernel_map(k, s->load->loc, tile, f)->out;
	op_int(k, kernel_ring(k, attrs_str(&s->buffer->def->attrs, A_RING, "")), A_EARLY, 1);
	Op *t = op_before(k, reader, OP_TILE), *load = op_before(k, reader, way_rows[s->way].first);
	op_of_tensor(k, t, IN(tile->def, OF).val, tile, NULL);
	for (int i = 0; i < tile->def->nix; i++)
		op_ix(k, t, tile->def->ix[i]);
	op_in(k, load, s->buffer, turn_of(e));
	op_ins(k, load, op_result(k, t, "t", tile->type), s->map);
	op_str(k, load, A_MULTICAST, "off");
}

Val *vector_part(Epilogue *e, const Source *s, Chunk c)
{
	Kernel *k = e->k;
	const Val *v = IN(s->load, TO).val;
	int64_t skip = mode_of(v) == 1 ? (int64_t)c.j * e->t.cols * e->t.along_n + c.col
				       : (int64_t)c.i * e->rows * e->t.along_m;
	Op *frag = op_before(k, e->store, OP_FRAG);
	Op *read = op_before(k, e->store, way_rows[s->way].last);
	op_result(k, frag, "c", chunk_type(e, v));
	op_in(k, read, frag->out, ix_int(k, 0));
	op_in(k, read, s->buffer, turn_of(e));
	if (skip)
		op_int(k, read, A_SKIP, skip);
	return frag->out;
}
