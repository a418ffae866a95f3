/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* epilogue.c - how results leave. A warpgroup's fragment goes chunk by chunk through staging
 * buffers of its own in shared memory, from which TMA stores it in whole lines and clips what lies
 * outside. What TMA cannot take, every thread stores from its registers, under a guard (`store`
 * stays). Where only the arguments decide, the tensor map has a name, and the threads copy the
 * chunks where it is 0: the launcher sees addresses, and knows the rules of TMA. Both ways share
 * the buffers, since unrolled stores from registers beside them made ptxas spill.
 *     store %t, %c   ->   store.shared %sD[e], %c[0]
 *                         if (D_by_tma == 1) { store.tma %t.1, %sD[e], %D.map }
 *                         if (D_by_tma == 0) { store.staged %t.1, %sD[e] } ... */
#include "passes/epilogue/epilogue.h"
#include "passes/atoms/registers.h"
#include "passes/tile/split.h"
#include "passes/why.h"

enum { ALIGN = 1024, COLUMNS = 8 /* of a chunk, at least */ };

/* ------------------------------------------------------------------ chunks */
/* Registers of a thread that hold accumulators. */
static int accumulated(const Kernel *k)
{
	int regs = 0;
	for (const Op *op = kernel_first(k); op; op = op_next(op)) {
		bool sums = false;
		for (const Op *mma = kernel_mma(k, NULL); mma && op->kind == OP_FRAG && !sums;
		     mma = kernel_mma(k, mma))
			sums = IN(mma, TO).val == op->out;
		regs += sums ? type_regs(op->out->type) : 0;
	}
	return regs;
}

/* Functions of many instructions, or values that are joined to an output: ptxas computes several
 * at a time. */
static bool computes_much(const Kernel *k)
{
	bool some = false;
	for (const Op *op = kernel_first(k); op && !some; op = op_next(op))
		some = (elt_by_op(op->kind) && elt_by_op(op->kind)->error.ulps > 0) ||
		       (op->kind == OP_STORE && combine_of(op));
	return some;
}

static bool is_crowded(const Epilogue *e)
{
	enum { CROWDED = 192 };
	return joins_columns(e) || (accumulated(e->k) >= CROWDED && computes_much(e->k));
}

/* Columns of a tile that make a chunk for each of the CTAs that share its k; all where it is small.
 */
static int columns_of_part(const Epilogue *e)
{
	int64_t parts = split_parts(e->k);
	int columns = (int)(e->t.n * e->t.repeat_m / parts);
	int least = e->m_fast ? COLUMNS : SWIZZLE_LEAST / e->bytes;
	if (parts == 1 || type_regs(IN(e->store, FROM).val->type) <= SPLIT_SMALL)
		return e->t.n;
	return columns < least ? least : columns;
}

/* How often ptxas spilled with wider chunks. */
static int thrift(const Epilogue *e)
{
	return (int)attrs_int(&e->k->attrs, A_THRIFT, 0);
}

/* Columns of a chunk, at most: as the schedule says, else half of the widest where these would
 * spill beside so many accumulators, as bias and GELU of 128x192 under pingpong did, or where
 * columns are reduced (tests/gpu/records/decisions.md). */
static int most_columns(const Epilogue *e)
{
	int widest = SWIZZLE_WIDEST / e->bytes, part = columns_of_part(e);
	int few = is_crowded(e) && !combine_of(e->store) ? widest / 2 : widest;
	int least = TMA_STRIDE / e->bytes > COLUMNS ? TMA_STRIDE / e->bytes : COLUMNS;
	least = tiled_mma_unit(e->t) > least ? tiled_mma_unit(e->t) : least;
	few = few < least ? least : few;
	int given = (int)attrs_int(&e->k->attrs, A_SUBTILE, few < part ? few : part);
	return given < widest ? given : widest;
}

/* Rows of an odd number of 16 bytes begin in different banks without a swizzle. A fragment of an
 * accumulator has eight columns. */
static bool is_plain(const Epilogue *e, int cols)
{
	int bytes = cols * e->bytes;
	return e->t.cols % cols == 0 && cols % COLUMNS == 0 && cols % tiled_mma_unit(e->t) == 0 &&
	       cols <= target_by_name(e->k->target)->box_max && bytes % TMA_STRIDE == 0 &&
	       bytes / TMA_STRIDE % 2;
}

/* The most columns up to the limit that need no swizzle; where these are a unit alone and nothing
 * limits them, the fewest beyond it; 0: none. */
static int plain_columns(const Epilogue *e, int most, bool limited)
{
	int best = 0, unit = TMA_STRIDE / e->bytes;
	for (int cols = unit; cols <= e->t.cols; cols += unit)
		if (is_plain(e, cols) && (cols <= most || (best <= unit && !limited)))
			best = cols;
	return best;
}

static SubtileLimit limit_of(const Epilogue *e)
{
	int widest = SWIZZLE_WIDEST / e->bytes, part = columns_of_part(e);
	if (thrift(e))
		return SUBTILE_SPILLS;
	if (!e->chunk.swizzle)
		return SUBTILE_PLAIN;
	bool crowded = is_crowded(e);
	return part < widest && part < e->t.n && !(crowded && widest / 2 <= part) ? SUBTILE_PART
	       : crowded                                                          ? SUBTILE_HALF
										  : SUBTILE_WIDEST;
}

/* Rows of the widest swizzle that divides the columns of one atom, or of what needs none. */
static int columns_of_rows(const Epilogue *e, int most, bool limited)
{
	int given = (int)attrs_int(&e->k->attrs, A_SUBTILE, 0);
	if (given && is_plain(e, given))
		return given;
	for (int w = slot_swizzle(e->t.cols * e->bytes); w >= SWIZZLE_LEAST; w /= 2)
		if (w / e->bytes <= most && w / e->bytes % tiled_mma_unit(e->t) == 0)
			return w / e->bytes;
	return plain_columns(e, most, limited);
}

/* Of a chunk that is added in each iteration, which takes two meetings: as many as fit in 24 KiB of
 * each warpgroup, in two spans of a swizzle where rows are contiguous. */
static int columns_added(const Epilogue *e)
{
	enum { WIDEST = 96 };
	int span = SWIZZLE_WIDEST / e->bytes;
	if (e->m_fast)
		return tiled_mma_columns(e->t, WIDEST);
	return e->cols == span && e->t.cols % (2 * span) == 0 ? 2 * span : e->cols;
}

/* The most columns in eights that divide those of one atom, each of 64 elements in spans of a
 * swizzle; or of rows. As often as ptxas spilled, the next fewer that there are. */
static bool choose_chunk(Epilogue *e)
{
	bool given = attrs_get(&e->k->attrs, A_SUBTILE);
	int most = most_columns(e), swizzle = slot_swizzle(e->rows * e->bytes);
	for (int i = 0; i <= (given ? 0 : thrift(e)); i++) {
		int cols = most < COLUMNS ? 0
			   : e->m_fast    ? tiled_mma_columns(e->t, most)
					  : columns_of_rows(e, most, given || i);
		e->cols = cols || !i ? cols : e->cols;
		most = e->cols - 1;
	}
	e->cols = combine_of(e->store) && !given && e->cols ? columns_added(e) : e->cols;
	e->chunk = e->m_fast ? (SlotForm){1, e->cols, e->rows, swizzle / e->bytes, swizzle}
			     : slot_rows(1, e->rows, e->cols, e->bytes);
	return e->cols > 0;
}

/* Whether so many elements are whole units of TMA; *bytes gets their number, for a message. */
static Fit whole_units(const Epilogue *e, const Ix *elements, const Ix **bytes)
{
	Ctx *c = e->k->ctx;
	IxFacts facts = kernel_facts(e->k);
	*bytes = ix_simplify(c, ix_mul(c, elements, ix_int(e->k, e->bytes)), facts);
	const Ix *rest = ix_mod(c, *bytes, ix_int(e->k, TMA_STRIDE));
	const Ix *holds = ix_simplify(c, ix_new(c, IX_EQ, rest, ix_int(e->k, 0)), facts);
	int64_t v;
	if (!ix_is_const(holds, &v))
		return FIT_LAUNCH;
	return v ? FIT_YES : FIT_NO;
}

static Fit both(Fit a, Fit b)
{
	return a == FIT_NO || b == FIT_NO ? FIT_NO : a == FIT_LAUNCH ? a : b;
}

/* Whether rows, and matrices of a batch, are whole units apart. */
static Fit strides_legal(const Epilogue *e, const char **why)
{
	const Layout *l = layout_flat(e->k->ctx, IN(e->tile, OF).val->type->layout);
	ModeList modes = layout_map_modes(l);
	Fit all = FIT_YES;
	for (int i = 1; i < modes.n; i++) {
		const Ix *apart;
		Fit one = whole_units(e, tup_get(l->stride, modes.at[i])->leaf, &apart);
		if (one == FIT_NO && !*why)
			*why = ctx_strf(e->k->ctx,
					"its stride of %s bytes is not a multiple of 16 (PTX ISA, "
					"tensor maps)",
					ix_text(e->k->ctx, apart));
		all = both(all, one);
	}
	return all;
}

/* Whether TMA can store the tensor: rows are whole units apart, and whole units long, since what a
 * unit holds after a row's end is written too (sim/tma.c). *why where it never can. */
static Fit legal(const Epilogue *e, const char **why)
{
	const Ix *length;
	Fit strides = strides_legal(e, why);
	Fit row = whole_units(e, tile_extent(e->k, e->tile->out, !e->m_fast), &length);
	if (row == FIT_NO && !*why)
		*why = ctx_strf(e->k->ctx,
				"its rows of %s bytes are not a multiple of 16, which TMA stores "
				"whole",
				ix_text(e->k->ctx, length));
	return both(strides, row);
}

/* Slots that the schedule asks for; -1: it does not say. */
static int64_t given_slots(const Epilogue *e)
{
	return attrs_int(&e->k->attrs, A_STAGING, -1);
}

/* From registers, as the rules have it: slots that were asked for are refused. */
static void direct(const Epilogue *e, const char *why)
{
	Ctx *c = e->k->ctx;
	const Val *tensor = tensor_arg(IN(e->tile, OF).val);
	int64_t given = given_slots(e);
	why_direct(e->k, tensor, why);
	if (given > 0)
		diag(c, e->store->loc, D_E0407,
		     "staging %lld, but %s is stored from registers, without TMA: %s\n"
		     "write staging 0",
		     (long long)given, tensor->name, why);
	else if (target_has(e->k->target, FT_TMA))
		diag(c, e->store->loc, D_N0401, "%s is stored from registers, without TMA: %s",
		     tensor->name, why);
}

/* Warpgroups that take tiles in turn have a slot each: how many each has filled before is not
 * known. */
static bool stores_in_turn(const Epilogue *e)
{
	return kernel_pingpong(e->k) && program_loop(e);
}

static const char *too_many_slots(const Epilogue *e)
{
	if (!stores_in_turn(e) || given_slots(e) <= 1)
		return NULL;
	return "it is stored in a loop, and under pingpong each warpgroup has one slot then";
}

/* ------------------------------------------------------------------ room in shared memory */
static int slots_in(int64_t bytes, int64_t slot, int64_t most)
{
	int64_t fit = bytes < 0 || !slot ? 0 : bytes / slot;
	return (int)(fit > most ? most : fit);
}

/* Who still waits for a free slot has not exited, and the cluster, which meets for the sums of the
 * parts of k before the first is free, would wait for him. */
static bool waits_in_cluster(const Epilogue *e, int slots)
{
	return split_parts(e->k) > 1 && !split_by_workspace(e->k) && slots < e->chunks;
}

/* What slots may take beside the stages, where the parts of a shared k lie once these are free. */
static int64_t left_by_stages(const Epilogue *e, int64_t all)
{
	int64_t stages = rings_bytes(e->k), parts = split_bytes(e->k);
	if (!one_tile(e))
		return all - stages - parts;
	return all - (stages > parts ? stages : parts);
}

/* How many staging slots a warpgroup gets: with one tile a CTA from all memory, which the stages do
 * not need any more, else from what they leave; 0: none. Sources take what slots that the schedule
 * asks for leave them. */
static int staging_slots(Epilogue *e)
{
	int64_t all = kernel_smem(e->k) - vector_bytes(e);
	int64_t left = left_by_stages(e, all);
	int64_t one = round_up((int64_t)e->rows * e->cols * e->bytes, ALIGN) * e->warpgroups;
	int64_t most = rings_are_given(e->k) ? MOST_SLOTS : MOST_SLOTS / 2, read = source_bytes(e);
	int64_t given = given_slots(e);
	if (combine_of(e->store) && !rings_are_given(e->k) && most > e->chunks)
		most = e->chunks; /* of one iteration: the stages need the rest */
	if (stores_in_turn(e))
		return 1;
	if (one_tile(e)) {
		most = e->chunks < MOST_SLOTS ? e->chunks : MOST_SLOTS;
		e->source_slots = slots_in(left, read, most);
		e->source_slots *= !waits_in_cluster(e, e->source_slots);
		left = all - split_bytes(e->k) - read * e->source_slots;
	} else if (given < 0) {
		one += read;
		e->source_slots = slots_in(left, one, most);
	} else {
		e->source_slots = slots_in(left - given * one, read, given);
	}
	if (given >= 0)
		return (int)given;
	int slots = slots_in(left, one, most);
	why_staging(e->k, tensor_arg(IN(e->tile, OF).val), slots, (int)most, one, left);
	return slots;
}

/* Whether so many bytes leave two slots of each warpgroup and source, or as many as there are
 * without. */
static bool has_room(const Epilogue *e, int64_t bytes)
{
	enum { ENOUGH = 2 };
	int64_t left = kernel_smem(e->k) - rings_bytes(e->k);
	int64_t out = round_up((int64_t)e->rows * e->cols * e->bytes, ALIGN) * e->warpgroups;
	int64_t one = source_bytes(e) + (one_tile(e) ? 0 : out); /* a tile leaves over the stages */
	int64_t slots = given_slots(e) > ENOUGH ? given_slots(e) : ENOUGH;
	if (one_tile(e) && slots > e->chunks)
		slots = e->chunks;
	if (!one)
		return left >= bytes;
	return slots_in(left - bytes, one, slots) >= slots_in(left, one, slots);
}

/* ------------------------------------------------------------------ registers */
/* Whether what is read of whole tiles leaves too few registers: of what TMA brings, and of vectors,
 * there is a chunk at a time. */
bool reads_too_much(Epilogue *e)
{
	int regs = needs_all(needs_of(e->k));
	for (const Op *op = kernel_find(e->k, OP_LOAD); op; op = op_find_next(op, OP_LOAD)) {
		const Val *v = IN(op, TO).val;
		if (vector_load(e, v) == op || source_of(e, v))
			regs += type_regs(chunk_type(e, v)) - type_regs(v->type);
	}
	return regs > registers_of_tiles(e->k, e->t);
}

/* ------------------------------------------------------------------ which way */
/* What a chunk of the tile is; why there is none. */
static const char *cut(Epilogue *e)
{
	Ctx *c = e->k->ctx;
	int most = most_columns(e) * e->bytes, unit = tiled_mma_unit(e->t);
	if (!e->m_fast && most_columns(e) < unit)
		return ctx_strf(c,
				"subtile %d is less than the %d columns that warps side by side "
				"take in turn",
				most_columns(e), unit);
	if (!e->m_fast && most < TMA_STRIDE)
		return ctx_strf(c,
				"subtile %d is %d bytes of a row, and TMA stores whole units of %d",
				most_columns(e), most, TMA_STRIDE);
	if (!choose_chunk(e))
		return ctx_strf(c,
				"the %d columns of an mma are not a multiple of %d bytes, which "
				"TMA stores whole",
				e->t.cols, TMA_STRIDE);
	e->chunks = e->t.repeat_m * e->t.repeat_n * (e->t.cols / e->cols);
	return NULL;
}

/* What lies in registers as an accumulator goes through shared memory in chunks of whole rows of a
 * swizzle, if the tensor's rows are what TMA can store and there is room. */
Fit fits_chunks(Copying *c, Refusal *why)
{
	Epilogue *e = c->e;
	if (tile_indices(e->tile->out))
		why->text = "its rows lie where indices say";
	else if (!ix_is(tile_stride(e->k, e->tile->out, !e->m_fast), 1))
		why->text = NO_LINES;
	else if (IN(e->tile, OF).at && !map_may_be_ragged(IN(e->tile, OF).val->type->layout,
							  tile_end_mode(e->k, e->tile->out)))
		why->text = "its rows, which lie side by side, end where a group of them does";
	if (why->text)
		return FIT_NO;
	Fit tma = given_slots(e) == 0 ? FIT_NO : legal(e, &why->text);
	if (tma == FIT_LAUNCH && combine_of(e->store))
		return FIT_NO; /* threads add from their registers, not out of the buffer */
	if (tma == FIT_NO || (why->text = cut(e)) || (why->text = too_many_slots(e)))
		return FIT_NO;
	if (!tile_is_box(e->k, e->tile->out, e->m_fast, e->chunk.rows)) {
		why->text = NO_BOX;
		return FIT_NO;
	}
	if (program_loop(e))
		find_origins(e); /* what it is computed from is read in each iteration */
	else
		find_sources(e);
	if (!has_room(e, vector_bytes(e)))
		drop_sources(e, true);
	e->slots = staging_slots(e);
	if (!e->slots)
		why->text = "no shared memory is left besides the stages";
	return e->slots ? tma : FIT_NO;
}

static void by_tma(Epilogue *e)
{
	Kernel *k = e->k;
	Op *map = kernel_map(k, e->store->loc, e->tile->out, e->chunk);
	if (e->way.other != WAY_COUNT) {
		e->name = kernel_fresh(k, ctx_strf(k->ctx, "%s_by_tma",
						   tensor_arg(IN(e->tile, OF).val)->name));
		op_sym(k, map, e->name);
	}
	why_subtile(k, e->cols, limit_of(e));
	by_chunks(e);
}

static void store(Kernel *k, Op *op)
{
	const Op *mma = mma_spread_as(k, IN(op, FROM).val);
	if (!mma)
		return;
	Epilogue e = {.k = k,
		      .store = op,
		      .tile = IN(op, TO).val->def,
		      .t = op_tiled_mma(k->ctx, mma)};
	e.rows = e.t.rows;
	e.bytes = elem_rows[IN(op, FROM).val->type->elem].bits / 8;
	e.warpgroups = kernel_pingpong(k) ? 2 : tiled_mma_warpgroups(e.t);
	e.m_fast = ix_is(tile_stride(k, e.tile->out, 0), 1);
	e.origins.arena = arena_new();
	Copying c = {.k = k, .op = op, .e = &e};
	e.way = way_choose(&c);
	if (way_has_map(e.way.way))
		by_tma(&e);
	else if (e.way.why[0].text && !combine_of(op))
		direct(&e, e.way.why[0].text);
	if (!way_has_map(e.way.way) && !combine_of(op) && reads_columns(&e) &&
	    !tile_indices(e.tile->out))
		by_pieces(&e);
	arena_free(e.origins.arena);
}

static bool is_read(const Kernel *k, const Val *frag)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; i < op->nin; i++)
			if (op->in[i].val == frag && (op_effect(op, i) & (FX_R | FX_AR)))
				return true;
	return false;
}

/* What came chunk by chunk is not loaded as a whole too. */
static void drop_unread(Kernel *k)
{
	for (Op *op = kernel_first(k), *next; op; op = next) {
		next = op_next(op);
		if ((op->kind == OP_LOAD || op->kind == OP_FILL) && !is_read(k, IN(op, TO).val))
			op_remove(op);
	}
}

/* A tile that each iteration of the program's loop adds, of a type that TMA adds. */
static bool adds_in_loop(const Kernel *k, Op *op)
{
	const Epilogue e = {.k = (Kernel *)(uintptr_t)k, .store = op};
	const Val *to = IN(op, TO).val;
	return program_loop(&e) && join_row(combine_of(op), to->type->elem, 0) &&
	       layout_size(k->ctx, to->type->layout) ==
		       layout_size(k->ctx, IN(op, FROM).val->type->layout);
}

PASS_OF(epilogue)
{
	VEC(Op *) stores = {0}; /* what is joined after a loop goes with them */
	for (Op *op = kernel_first(k); op; op = op_next(op))
		if (op->kind == OP_STORE && (!combine_of(op) || adds_in_loop(k, op)))
			vec_push(ctx_arena(k->ctx), &stores, op);
	for (int i = 0; i < stores.n; i++)
		store(k, stores.at[i]);
	kernel_sweep(k);
	drop_unread(k);
	kernel_sweep(k);
}
