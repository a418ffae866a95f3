/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* spread.c - which thread holds which elements of a register tile. Accumulators are spread as their
 * mma has it; all that is computed from one, combined with one or assigned to one is spread alike,
 * along as many steps as it takes.
 *     mma %acc, %sA, %sB ; copy %c, %t ; %x = add %acc, %c
 * ->  %acc, %c, %x : reg f32 (64,256):(1,64) tv ((4,8,4),(2,2,32)):((128,1,16),(64,8,512))
 *     %r = reduce %x combine=max   ->   reg f32 (64,1):(1,0) tv ((4,8,4),(2)):((0,1,16),(8)) */
#include "base/ptrmap.h"
#include "passes/pass.h"

/* Whether the register tiles that op names are spread over threads alike: computed from each other,
 * assigned to each other, or one the rows of the other. */
static bool spreads_alike(const Op *op)
{
	return op_rows[op->kind].flags & OPF_ELT || op->kind == OP_REDUCE || op->kind == OP_SCAN ||
	       (op->kind == OP_COPY && val_is_registers(IN(op, TO).val) &&
		val_is_registers(IN(op, FROM).val));
}

enum { MOST_TILES = 4 }; /* of one op: operands and a result */

static int tiles_of(const Op *op, Val **at)
{
	int n = 0;
	for (int i = 0; i < op->nin; i++)
		if (val_is_registers(op->in[i].val))
			at[n++] = op->in[i].val;
	if (val_is_registers(op->out))
		at[n++] = op->out;
	return n;
}

/* How `to` is spread beside `from`, which is: alike, or as its rows are; NULL where that says
 * nothing. */
static const Layout *spread_beside(Kernel *k, const Type *from, const Type *to)
{
	if (from->layout == to->layout)
		return from->tv;
	return type_broadcasts(k->ctx, to, from)
		       ? tv_of_part(k->ctx, from->tv, from->layout, to->layout)
		       : NULL;
}

/* What is known of one tile of the op holds for the others; true where that is new. */
static bool pass_on(Kernel *k, Op *op)
{
	Val *at[MOST_TILES];
	int n = tiles_of(op, at);
	bool news = false;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n && at[i]->type->tv; j++) {
			const Type *t = at[j]->type;
			const Layout *tv = t->tv ? NULL : spread_beside(k, at[i]->type, t);
			if (tv)
				at[j]->type = type_frag(k->ctx, t->elem, t->layout, tv);
			news |= tv != NULL;
		}
	return news;
}

static void pass_on_all(Kernel *k)
{
	for (bool news = true; news;) {
		news = false;
		for (Op *op = kernel_first(k); op; op = op_next(op))
			news |= spreads_alike(op) && pass_on(k, op);
	}
}

/* ------------------------------------------------------------------ what the others go by */
typedef VEC(Val *) Tiles;

/* The accumulators; without an mma, the largest tile. */
static Tiles first_tiles(Kernel *k)
{
	Tiles t = {0};
	for (Op *op = kernel_mma(k, NULL); op; op = kernel_mma(k, op)) {
		Val *acc = IN(op, TO).val;
		acc->type = type_frag(k->ctx, acc->type->elem, acc->type->layout,
				      tiled_mma_tv(k->ctx, op_tiled_mma(k->ctx, op)));
		vec_push(ctx_arena(k->ctx), &t, acc);
	}
	Val *largest = t.n ? NULL : spread_simt(k);
	if (largest)
		vec_push(ctx_arena(k->ctx), &t, largest);
	return t;
}

/* What has to do with none of them is spread beside the first that it can be. */
static bool adopt(Kernel *k, const Tiles *t, Val *v)
{
	const Layout *tv = NULL;
	for (int i = 0; i < t->n && !tv; i++)
		if (val_is_vector(v) || v->type->layout == t->at[i]->type->layout)
			tv = spread_beside(k, t->at[i]->type, v->type);
	if (tv)
		v->type = type_frag(k->ctx, v->type->elem, v->type->layout, tv);
	return tv;
}

/* Their layouts, each once. */
static const char *tiles_str(const Kernel *k, const Tiles *t)
{
	const char *all = "";
	PtrMap seen = {.arena = ctx_arena(k->ctx)};
	for (int i = 0; i < t->n; i++) {
		const char *text = layout_str(k->ctx, t->at[i]->type->layout);
		if (!ptrmap_get(&seen, text))
			all = *all ? ctx_strf(k->ctx, "%s, %s", all, text) : text;
		ptrmap_set(&seen, text, (void *)(uintptr_t)text);
	}
	return all;
}

static void other_shape(Kernel *k, const Tiles *t, const Op *op)
{
	bool mma = kernel_multiplies(k);
	diag(k->ctx, op->loc, D_E0405, "a tile of %s is read, %s is %s\n%s",
	     layout_str(k->ctx, op->out->type->layout), mma ? "the accumulator's" : "the largest",
	     tiles_str(k, t),
	     mma ? "an epilogue reads tiles of the accumulator's shape"
		 : "read tiles of that shape, or of one row or one column of it");
}

static void adopt_rest(Kernel *k, const Tiles *t)
{
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		bool first = op->kind == OP_FRAG || op->kind == OP_SERIES;
		if (!first || op->out->type->tv)
			continue;
		if (!adopt(k, t, op->out)) {
			other_shape(k, t, op);
			return;
		}
		pass_on_all(k);
	}
}

static void two_orders(Kernel *k, const Op *op, bool vector)
{
	diag(k->ctx, op->loc, D_E0405,
	     "two tiles that are used together here are distributed over registers in two ways, "
	     "each as its mma requires\n"
	     "give both mma the same N and the same arrangement%s",
	     vector ? "; or write the vector's value beside each, in place of one name" : "");
}

static void check_alike(Kernel *k, const Op *op)
{
	Val *at[MOST_TILES];
	int n = tiles_of(op, at);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			const Layout *tv = spread_beside(k, at[i]->type, at[j]->type);
			if (tv && tv != at[j]->type->tv) {
				two_orders(k, op, val_is_vector(at[i]) || val_is_vector(at[j]));
				return;
			}
		}
}

/* Groups of columns whose edges are not those of what threads hold, as of 12. */
static void check_groups(Kernel *k, const Op *op)
{
	Val *at[MOST_TILES];
	int n = tiles_of(op, at);
	for (int i = 0; i < n * n; i++) {
		const Val *whole = at[i / n], *part = at[i % n];
		if (!whole->type->tv || spread_beside(k, whole->type, part->type) ||
		    !type_broadcasts(k->ctx, part->type, whole->type))
			continue;
		diag(k->ctx, op->loc, D_E0405,
		     "an element of one tile here is for %d columns of another, which threads do "
		     "not hold together\n"
		     "groups of 16, 32, 64 or 128 columns are",
		     val_extent(whole, 1) / val_extent(part, 1));
		return;
	}
}

/* How an mma that has warps along n is arranged with each row in one warp: by no more warpgroups,
 * which share the rows of its tile. */
static const char *along_m(const Kernel *k)
{
	TiledMma t = {0};
	for (const Op *mma = kernel_mma(k, NULL); mma && t.along_n * t.beside <= 1;
	     mma = kernel_mma(k, mma))
		t = op_tiled_mma(k->ctx, mma);
	int warps = t.warps * t.beside, groups = tiled_mma_warpgroups(t);
	int rows = t.rows * t.beside; /* of a warpgroup with all warps along m */
	while (groups > 1 && t.m % (groups * rows))
		groups--;
	return ctx_strf(k->ctx, "arrange %s along m, for a tile of %d rows: * (%d,1,1)",
			warps > 1 ? "warps" : "warpgroups", groups * rows, groups * warps);
}

/* Whether it reduces groups of columns of each row, not whole rows. */
static bool reduces_groups(const Op *op)
{
	return val_extent(op->out, 1) > 1 && val_extent(op->out, 1) < val_extent(IN(op, X).val, 1);
}

/* Beside an mma a row lies in the lanes of one warp, which can exchange registers, or of two
 * warpgroups side by side; columns, and without an mma rows, lie in several warps. They exchange
 * what they have of them through shared memory (exchange.c). */
static void check_rows(Kernel *k, const Op *op)
{
	enum { MOST = 16, LANES = 32 };
	TvExchange all[MOST];
	bool rows = val_extent(op->out, 0) > 1 || reduces_groups(op);
	int n = !rows ? 0 : tv_exchanges(IN(op, X).val->type, op->out->type, all, MOST), across = 0;
	for (int i = 0; i < n; i++)
		across += all[i].step >= LANES;
	for (int i = 0; i < n; i++)
		if (all[i].step >= LANES &&
		    (across > 1 || all[i].step != GROUP_THREADS || reduces_groups(op))) {
			diag(k->ctx, op->loc, D_E0405,
			     "a %s of this tile lies in the registers of several warps, and "
			     "shuffles exchange within one\n"
			     "%s",
			     reduces_groups(op) ? "group of columns" : "row",
			     kernel_multiplies(k) ? along_m(k) : "write schedule { threads 32; }");
			return;
		}
}

/* Warps exchange their sums of a row's parts, which are of f32, each held once (exchange.c). */
static void check_scan(Kernel *k, const Op *op)
{
	const Type *t = op->out->type;
	int warps = tv_row_warps(t);
	bool once = layout_size_int(t->tv) == layout_size_int(t->layout);
	if (warps == 1 || (warps > 1 && once && t->elem == EL_F32 && !kernel_multiplies(k)))
		return;
	diag(k->ctx, op->loc, D_E0405,
	     "a row of this tile lies in the registers of several warps, and this scan is of one\n"
	     "%s",
	     kernel_multiplies(k) ? along_m(k) : "give tiles more rows and fewer columns");
}

/* A in registers lies as the atom reads it: a value computed from an accumulator does, where its
 * warpgroups are those of this mma. B lies as nothing else does. */
static bool reads_operand(Ctx *c, const Op *mma, int i)
{
	TiledMma t = op_tiled_mma(c, mma);
	const Type *v = mma->in[i].val->type;
	return i == 1 ? tiled_mma_reads(c, t, v) : v->tv == tiled_mma_tv_of(c, t, 2);
}

/* An accumulator of 8 bits has pairs of columns where A has fours, which the lanes of a quad
 * exchange. */
static void regroup(Kernel *k, Op *mma)
{
	Val *v = IN(mma, A).val;
	if (!val_is_registers(v) || !v->type->tv || elem_rows[v->type->elem].bits != 8)
		return;
	const Type *as = type_frag(k->ctx, v->type->elem, v->type->layout,
				   tiled_mma_tv_of(k->ctx, op_tiled_mma(k->ctx, mma), 1));
	if (as == v->type || !tv_quads(v->type, as))
		return;
	Op *quads = op_in(k, op_before(k, mma, OP_QUADS), v, NULL);
	IN(mma, A).val = op_result(k, quads, ctx_strf(k->ctx, "%s.a", v->name), as);
}

static void check_operand(Kernel *k, const Op *mma, int i)
{
	const char *remedy =
		i == 1 ? "A is a value of 8 or 16 bits computed from an accumulator whose mma "
			 "is arranged along m as this one"
		       : "B is a tile, or computed from tiles that are read here";
	const Val *v = mma->in[i].val;
	if (!val_is_registers(v) || reads_operand(k->ctx, mma, i))
		return;
	diag(k->ctx, mma->loc, D_E0405,
	     "operand %c lies in registers as %s, which is not as the mma reads it there\n"
	     "%s",
	     "?AB"[i], layout_str(k->ctx, v->type->tv), remedy);
}

/* An operand that no accumulator has to do with, as a tile, is spread as its mma reads it. */
static void spread_operands(Kernel *k)
{
	for (Op *op = kernel_mma(k, NULL); op; op = kernel_mma(k, op))
		for (int i = 1; i <= 2; i++) {
			Val *v = op->in[i].val;
			if (!val_is_registers(v) || v->type->tv)
				continue;
			v->type = type_frag(k->ctx, v->type->elem, v->type->layout,
					    tiled_mma_tv_of(k->ctx, op_tiled_mma(k->ctx, op), i));
			pass_on_all(k);
		}
}

/* Of the mma; every mma of a kernel has as many. 0: there is none. */
static int threads_of_mma(Kernel *k)
{
	int threads = 0;
	for (Op *op = kernel_mma(k, NULL); op && !threads; op = kernel_mma(k, op))
		threads = tiled_mma_warpgroups(op_tiled_mma(k->ctx, op)) * GROUP_THREADS;
	return threads;
}

static void report_put(Kernel *k, const Op *op, int threads)
{
	const char *to = IN(op, TO).val->name;
	diag(k->ctx, op->loc, D_E0405,
	     "%d threads do not share a value of %s, which is written to '%s': lanes and warps "
	     "take powers of two of its rows and columns\n"
	     "give '%s' extents like 64 and 128, and the mma one, two or four warpgroups",
	     threads, layout_str(k->ctx, IN(op, FROM).val->type->layout), to, to);
}

/* A value that no accumulator has to do with, and that goes to a buffer, is spread in vectors of
 * the buffer. */
static void spread_puts(Kernel *k)
{
	int threads = threads_of_mma(k);
	for (Op *op = kernel_find(k, OP_COPY); op && threads; op = op_find_next(op, OP_COPY)) {
		Val *v = IN(op, FROM).val, *to = IN(op, TO).val;
		if (!val_is_registers(v) || v->type->tv || to->type->space != SP_SHARED)
			continue;
		const Layout *tv = simt_into(k, v, to, threads);
		if (!tv) {
			report_put(k, op, threads);
			return;
		}
		v->type = type_frag(k->ctx, v->type->elem, v->type->layout, tv);
		pass_on_all(k);
	}
}

PASS_OF(spread)
{
	Tiles first = first_tiles(k);
	if (pass_failed(k))
		return;
	pass_on_all(k);
	spread_operands(k);
	spread_puts(k);
	for (Op *op = kernel_first(k); op && !pass_failed(k); op = op_next(op))
		if (spreads_alike(op))
			check_groups(k, op);
	if (!pass_failed(k))
		adopt_rest(k, &first);
	for (Op *op = kernel_first(k); op && !pass_failed(k); op = op_next(op)) {
		if (spreads_alike(op))
			check_alike(k, op);
		if (op->kind == OP_REDUCE && (kernel_multiplies(k) || reduces_groups(op)) &&
		    !pass_failed(k))
			check_rows(k, op);
		if (op->kind == OP_SCAN && !pass_failed(k))
			check_scan(k, op);
		if (op_is_mma(op))
			regroup(k, op);
		for (int i = 1; i <= 2 && op_is_mma(op) && !pass_failed(k); i++)
			check_operand(k, op, i);
	}
}
