/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* select.c - chooses atoms. Operand buffers get the swizzled K-major layout of the widest row that
 * divides them; copies become TMA loads through tensor maps, or stores; mma becomes wgmma. What the
 * hardware cannot do is an error.
 *     copy %sA, %t           ->   %A.map = tmap %A box=(64,128) swizzle=128
 *                                 load.tma %sA, %t, %A.map */
#include "passes/atoms/copy_choice.h"
#include "passes/atoms/views.h"
#include "passes/why.h"

#include <string.h>

/* Roles are for buffers that one fills and others read. */
PASS_OF(fit)
{
	const char *roles = attrs_str(&k->attrs, A_ROLES, "none");
	if (!strcmp(roles, "none") || !kernel_multiplies(k) || kernel_find(k, OP_SHARED))
		return;
	diag(k->ctx, k->loc, D_E0407,
	     "roles %s split loads into buffers from an mma, and kernel %s has no buffer\n"
	     "write: roles none; or copy operands to buffers, sA <- gA[m,k]",
	     roles, k->name);
}

/* ------------------------------------------------------------------ buffers */
/* The mode of the buffer along which its source has neighbours side by side: k unless it is known
 * to be the other one. */
static int fast_mode(const Kernel *k, const Val *buffer)
{
	for (const Op *op = kernel_find(k, OP_COPY); op; op = op_find_next(op, OP_COPY))
		if (IN(op, TO).val == buffer && tile_of(IN(op, FROM).val))
			return !ix_is(tile_stride(k, IN(op, FROM).val, 0), 1);
	return 1;
}

static bool is_operand(const Kernel *k, const Val *buffer)
{
	for (const Op *op = kernel_mma(k, NULL); op; op = kernel_mma(k, op))
		if (op_takes(op, buffer))
			return true;
	return false;
}

/* A vector that threads read lies as it is. */
static void layout_auto(Kernel *k, Op *op)
{
	const Type *t = op->out->type;
	int fast = fast_mode(k, op->out);
	int rows = val_extent(op->out, 1 - fast), cols = val_extent(op->out, fast);
	int side = side_of_readers(k, op->out, fast);
	int bytes = (int)elem_span(t->elem, side), swizzle = slot_swizzle(bytes);
	bool plain = rows == 1 && !is_operand(k, op->out);
	if (!plain && (!swizzle || rows % 8 || cols % side)) {
		diag(k->ctx, op->loc, D_E0408,
		     "%s: a row of %d %s is %d bytes, not a multiple of 32, the narrowest swizzle\n"
		     "make the tile's %s extent a multiple of %d",
		     op->out->name, side, elem_rows[t->elem].name, bytes, fast ? "k" : "m or n",
		     (int)elem_count(t->elem, 32));
		return;
	}
	SlotForm f = {fast, rows, cols, (int)elem_count(t->elem, swizzle), plain ? 0 : swizzle};
	op->out->type = type_tile(k->ctx, SP_SHARED, t->elem, slot_layout(k->ctx, f, t->elem));
	attrs_drop(&op->attrs, A_AUTO);
	if (!plain)
		why_swizzle(k, op, bytes, swizzle, fast);
}

PASS_OF(buffers)
{
	SlotForm f;
	for (Op *op = kernel_find(k, OP_SHARED); op; op = op_find_next(op, OP_SHARED)) {
		const char *why = NULL;
		if (attrs_int(&op->attrs, A_AUTO, 0))
			layout_auto(k, op);
		else if ((why = slot_form(k->ctx, op->out->type, &f)))
			diag(k->ctx, op->loc, D_E0404,
			     "%s: TMA and the mma cannot use the layout %s: %s", op->out->name,
			     layout_str(k->ctx, op->out->type->layout), why);
	}
	if (!pass_failed(k))
		views_fit(k);
}

static const char *unreadable_remedy(const Kernel *k, const Op *mma, int i, const SlotDesc *d)
{
	bool turned = op_window(k->ctx, mma, i).turned;
	int bits = elem_rows[mma->in[i].val->type->elem].bits;
	if (!d->mn_major || (turned && bits == 16))
		return "write the buffer's extents alone";
	return turned ? "fill a buffer of its own with the transposed tile, from a tensor with "
			"neighbours along k"
		      : "store the tensor with neighbours along k, as (M,K):(lda,1)";
}

/* Whether instructions of `rows` can read the operand as it lies. */
static void check_operand(Kernel *k, SlotsAsked *asked, const Op *mma, int i, int rows)
{
	const Val *v = mma->in[i].val;
	SlotDesc d;
	const AtomRow *atom = &atom_rows[attrs_get(&mma->attrs, A_ATOM)->atom.id];
	const char *why = v->type->space == SP_REG /* spread.c's question */
				  ? NULL
				  : slot_desc_once(k->ctx, asked, v->type,
						   op_window(k->ctx, mma, i), rows, atom->k, &d);
	if (!why)
		return;
	diag(k->ctx, mma->loc, D_E0404, "%s cannot be read by %s of %s: %s\n%s", v->name,
	     atom->name, elem_rows[v->type->elem].name, why, unreadable_remedy(k, mma, i, &d));
}

PASS_OF(operands)
{
	SlotsAsked asked = {0};
	for (const Op *op = kernel_mma(k, NULL); op; op = kernel_mma(k, op)) {
		TiledMma t = op_tiled_mma(k->ctx, op);
		check_operand(k, &asked, op, 1, t.rows);
		check_operand(k, &asked, op, 2, t.cols);
	}
}

/* ------------------------------------------------------------------ copies */
/* Where warpgroups take tiles by turns, each multiplies a whole one. */
PASS_OF(arrange)
{
	for (Op *op = kernel_mma(k, NULL); op && kernel_pingpong(k); op = kernel_mma(k, op)) {
		TiledMma t = op_tiled_mma(k->ctx, op);
		op_ints(k, op, A_ARRANGE, (const int64_t[]){t.warps, t.beside, 1}, 3);
	}
}

/* The same place of the same tensor, by the same indices. */
static bool same_place(const Op *x, const Op *y)
{
	if (IN(x, OF).val != IN(y, OF).val || x->nix != y->nix || x->nin != y->nin ||
	    x->out->type != y->out->type)
		return false;
	for (int i = 0; i < x->nix; i++)
		if (x->ix[i] != y->ix[i])
			return false;
	return !HAS_IN(x, INDEX) ||
	       (attrs_int(&x->attrs, A_GATHER, 0) == attrs_int(&y->attrs, A_GATHER, 0) &&
		same_place(IN(x, INDEX).val->def, IN(y, INDEX).val->def));
}

/* Of a tensor that nothing writes. */
static bool same_read(const Op *a, const Op *b)
{
	const Op *x = tile_of(IN(a, FROM).val), *y = tile_of(IN(b, FROM).val);
	return x && y && IN(a, TO).val->type == IN(b, TO).val->type && same_place(x, y);
}

/* A tile that an epilogue names twice is read once. */
PASS_OF(merge)
{
	for (Op *a = kernel_first(k); a; a = op_next(a)) {
		if (a->kind != OP_COPY || IN(a, TO).val->type->space != SP_REG)
			continue;
		for (Op *b = a->next, *next; b; b = next) {
			next = b->next;
			if (b->kind != OP_COPY || IN(b, TO).val->type->space != SP_REG ||
			    !same_read(a, b))
				continue;
			Val *again = IN(b, TO).val;
			op_remove(b);
			kernel_replace(k, again, IN(a, TO).val);
		}
	}
	kernel_sweep(k);
}

/* Whether elements of a tile come to bear on others: what is outside a tensor on what is inside. */
static bool joins_elements(const Kernel *k)
{
	for (const Op *op = kernel_mma(k, NULL); op; op = kernel_mma(k, op))
		if (IN(op, A).val->type->space == SP_REG)
			return true;
	for (const Op *op = kernel_find(k, OP_RING); op; op = op_find_next(op, OP_RING))
		if (attrs_get(&op->attrs, A_PUT))
			return true;
	return kernel_find(k, OP_REDUCE) || kernel_find(k, OP_SCAN);
}

/* Whether an element of the tile that lies outside its tensor lies outside each output as well,
 * where nothing is stored. */
static bool ends_as_outputs(const Kernel *k, const Op *tile)
{
	for (int i = 0; i < tile->nix; i++)
		if (!tile_lies_inside(k, tile, i) && !tile_ends_as_outputs(k, tile, i))
			return false;
	return true;
}

/* Elements outside a tensor are 0, as the language says: threads that load none of them would keep
 * what was there before. Of a vector, a register that is not always set is never free. */
static void zero_outside(Kernel *k, Op *copy)
{
	const Val *to = IN(copy, TO).val;
	const Op *tile = tile_of(IN(copy, FROM).val);
	if (!tile || to->type->space != SP_REG ||
	    (!val_is_vector(to) && !joins_elements(k) && !HAS_IN(tile, INDEX) &&
	     ends_as_outputs(k, tile)))
		return;
	Op *none = op_in(k, op_before(k, copy, OP_FILL), IN(copy, TO).val, NULL);
	op_real(k, none, A_VALUE, 0);
}

/* Threads write the slot from their registers: by turns, each warpgroup has a slot of its own. */
static void put_registers(Kernel *k, Op *copy)
{
	Op *op = op_in(k, op_before(k, copy, way_rows[WAY_PUT].first), IN(copy, TO).val, NULL);
	op_in(k, op, IN(copy, FROM).val, ix_int(k, 0));
	if (kernel_pingpong(k))
		op_int(k, IN(copy, TO).val->def, A_GROUPS, TURNS);
	op_remove(copy);
}

/* The copy as its way has it: through a tensor map of what lies in global memory, or as it is. */
static void put(Kernel *k, Op *copy, WayId way)
{
	if (way == WAY_PUT) {
		put_registers(k, copy);
		return;
	}
	SlotForm form;
	Copying of = {.k = k, .op = copy};
	zero_outside(k, copy);
	Op *map = NULL, *op = op_before(k, copy, way_rows[way].first);
	if (way_has_map(way) && !slot_form(k->ctx, IN(copy, TO).val->type, &form)) {
		tile_outside_map(k, IN(copy, FROM).val->def);
		map = kernel_map(k, copy->loc, IN(copy, FROM).val, form);
	}
	op_in(k, op, IN(copy, TO).val, IN(copy, TO).at);
	op_in(k, op, IN(copy, FROM).val, IN(copy, FROM).at);
	if (map)
		op_in(k, op, map->out, NULL);
	if (op_window_attr(copy, 1))
		op_read_window(k, op, 1, op_window(k->ctx, copy, 1));
	if (attrs_get(&copy->attrs, A_MULTICAST))
		op_str(k, op, A_MULTICAST, attrs_str(&copy->attrs, A_MULTICAST, ""));
	if (attrs_get(&copy->attrs, A_CACHE))
		op_str(k, op, A_CACHE, attrs_str(&copy->attrs, A_CACHE, ""));
	if (op_done_by(op, DONE_BY_LANES)) {
		op_int(k, op, A_BYTES, units_bytes(&of));
		why_copies(k, copy, units_bytes(&of));
	}
	if (combine_of(copy))
		op_str(k, op, A_COMBINE, combine_of(copy)->name);
	op_remove(copy);
}

static void copies(Kernel *k)
{
	for (Op *op = kernel_first(k), *next; op; op = next) {
		next = op_next(op);
		if (op->kind != OP_COPY)
			continue;
		Copying c = {.k = k, .op = op};
		WayChoice w = way_choose(&c);
		if (w.way == WAY_COUNT)
			way_none(&c, &w);
		else
			put(k, op, w.way);
	}
}

static void mmas(Kernel *k)
{
	for (Op *op = kernel_mma(k, NULL); op; op = kernel_mma(k, op))
		op->kind = (OpKind)atom_rows[op_tiled_mma(k->ctx, op).atom.id].warp;
}

PASS_OF(select)
{
	copies(k);
	mmas(k);
}

/* ------------------------------------------------------------------ zero accumulators */
static bool op_names(const Op *op, const Val *v)
{
	if (op_takes(op, v))
		return true;
	for (const Op *in = op->body ? op->body->first : NULL; in; in = in->next)
		if (op_names(in, v))
			return true;
	return false;
}

static Op *next_touching(Op *op, const Val *v)
{
	while (op && !op_names(op, v))
		op = op->next;
	return op;
}

/* The mma that begins the sum, and in `loop` what it stands in, where that is beside the fill. */
static Op *first_mma(Op *fill, Op **loop)
{
	const Val *acc = IN(fill, TO).val;
	Op *next = next_touching(fill->next, acc);
	*loop = next && next->kind == OP_FOR ? next : NULL;
	if (*loop)
		next = next_touching(next->body->first, acc);
	bool scaled = next && HAS_IX(next, SCALE) && !ix_is(IX(next, SCALE), 1);
	bool begins = next && op_is_mma(next) && !scaled && IN(next, TO).val == acc &&
		      IN(next, A).val != acc;
	return begins ? next : NULL;
}

/* An accumulator filled with 0 before its mma, or before a loop that begins with it, is overwritten
 * instead (scale-d), and filled only where the loop had no iteration.
 *     fill %acc value=0 ; for k (0, T) { mma.wgmma %acc, ... }
 *  -> for k (0, T) { mma.wgmma %acc, ... (k) } if (T <= 0) { fill %acc value=0 } */
static void overwrite_first(Kernel *k, Op *fill)
{
	Op *loop, *mma = first_mma(fill, &loop);
	if (!mma || !op_rows[mma->kind].nix || attrs_get(&fill->attrs, A_VALUE)->real != 0)
		return;
	const Ix *zero = ix_const(k->ctx, 0);
	if (!HAS_IX(mma, SCALE))
		op_ix(k, mma, zero);
	IX(mma, SCALE) = loop ? ix_sub(k->ctx, ix_sym(k->ctx, loop->sym[0]), IX(loop, FROM)) : zero;
	op_remove(fill);
	if (!loop)
		return;
	Op *none = op_after(k, loop, OP_IF);
	op_ix(k, none, ix_new(k->ctx, IX_LE, IX(loop, TO), IX(loop, FROM)));
	block_append(op_body(k, none), fill);
}

PASS_OF(zeros)
{
	for (Op *op = kernel_first(k), *next; op; op = next) {
		next = op_next(op);
		if (op->kind == OP_FILL)
			overwrite_first(k, op);
	}
}
