/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* expected.c - what the passes rely on beyond the IR's rules. What the frontend and the passes
 * before leave is so; text that a person wrote may not be, and is refused here.
 *     load.tma %sA, %A, %A.map   ->   "operand 2 is a tile of an argument, made by the op tile"
 * A row says from which pass to which it holds. */
#include "passes/smem/offset.h"

#include <string.h>

/* ------------------------------------------------------------------ operands */
/* A tile of an argument, or of a view of one: rows and columns, each with one number as stride, and
 * of other modes one element. */
static bool is_plain_tile(Ctx *c, const Val *v)
{
	const Op *def = v->def;
	const Layout *l = def && def->kind == OP_TILE ? IN(def, OF).val->type->layout : NULL;
	return l && tensor_arg(IN(def, OF).val)->arg >= 0 && layout_rank(l) <= MODES_MOST &&
	       tup_depth(l->shape) <= 2 && type_modes(c, v->type).n == 2;
}

static const char *plain_modes(const Kernel *k, const Op *op)
{
	const Layout *l = IN(op, OF).val->type->layout;
	(void)k;
	return tup_depth(l->shape) <= 1 + (IN(op, OF).val->def != NULL)
		       ? NULL
		       : "modes have no parts: pass modes makes them modes of their own";
}

static const char *plain_tiles(const Kernel *k, const Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		const Type *t = op->in[i].val->type;
		if (t->kind == TY_TILE && t->space == SP_GLOBAL &&
		    !is_plain_tile(k->ctx, op->in[i].val))
			return ctx_strf(k->ctx,
					"operand %d is a tile of a matrix argument, made by the op "
					"tile",
					i + 1);
	}
	return NULL;
}

static const char *on_barrier(const Kernel *k, const Op *op)
{
	(void)k;
	return op->in[op->nin - 1].val->type->kind == TY_MBAR
		       ? NULL
		       : "a load names the mbarrier on which its bytes arrive";
}

/* Whether only threads leave values there, for each other or for peers: in the order of threads. */
static bool is_of_threads(const Kernel *k, const Val *buffer)
{
	bool plain = true;
	for (const Op *op = kernel_first(k); op; op = op_next(op)) {
		if (op_rows[op->kind].effects & FX_PEER && op_takes(op, buffer))
			return true;
		for (int i = 0; i < op->nin; i++)
			plain &= op->in[i].val != buffer || !(op_effect(op, i) & (FX_AR | FX_AW));
	}
	return plain;
}

static const char *swizzled_buffer(const Kernel *k, const Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		const Type *t = op->in[i].val->type;
		SlotForm f;
		if (t->kind == TY_TILE && t->space == SP_SHARED &&
		    (slot_form(k->ctx, t, &f) ||
		     (op_is_mma(op) && op_effect(op, i) & FX_AR && !f.swizzle)) &&
		    !is_of_threads(k, op->in[i].val))
			return ctx_strf(k->ctx,
					"the layout of '%%%s' is swizzled rows, as TMA and "
					"wgmma require",
					op->in[i].val->name);
	}
	return NULL;
}

/* ------------------------------------------------------------------ register tiles */
static bool is_spread(const Type *t)
{
	return t->tv && layout_rank(t->tv) == 2 && tup_is_flat(tup_get(t->tv->shape, 0)) &&
	       tup_is_flat(tup_get(t->tv->shape, 1));
}

static const char *spread(const Kernel *k, const Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		const Type *t = op->in[i].val->type;
		if (t->kind == TY_TILE && t->space == SP_REG && !is_spread(t))
			return ctx_strf(k->ctx, "'%%%s' is spread over threads (tv ...)",
					op->in[i].val->name);
	}
	return NULL;
}

/* Registers and the slot that they are copied to or from. */
static const char *of_slot(const Kernel *k, const Op *op)
{
	if (op_is_mma(op))
		return NULL;
	const Operand *to = &IN(op, TO), *from = &IN(op, FROM);
	bool loads = to->val->type->space == SP_REG && from->val->type->space == SP_SHARED;
	bool stores = from->val->type->space == SP_REG && to->val->type->space == SP_SHARED;
	int64_t skip = attrs_int(&op->attrs, A_SKIP, 0);
	Spread unused;
	if (!loads && !stores)
		return NULL;
	if (skip && (stores || from->val->type->layout->swizzle.b ||
		     skip + layout_size_int(to->val->type->layout) >
			     layout_size_int(from->val->type->layout)))
		return "skip= is of loads out of a slot of one row, and what they read lies in it";
	return spread_of_copy((Kernel *)(uintptr_t)k, op, &unused);
}

/* ------------------------------------------------------------------ mma */
/* Threads that run it; 0: it does not say. */
static int64_t threads_of_mma(const Kernel *k, const Op *op)
{
	const Attr *a = attrs_get(&op->attrs, A_ARRANGE);
	if (!a || a->n != 3 || a->i[0] < 1 || a->i[1] < 1 || a->i[2] != 1)
		return 0;
	return a->i[0] * a->i[1] * atom_threads(k->ctx, attrs_get(&op->attrs, A_ATOM)->atom);
}

static const char *arranged(const Kernel *k, const Op *op)
{
	int64_t threads = threads_of_mma(k, op);
	int most = target_by_name(k->target)->max_threads;
	if (!threads || threads > most || threads % GROUP_THREADS)
		return ctx_strf(k->ctx,
				"arrange= is the atoms along m, n and k, 1 along k, and their "
				"threads are whole warpgroups, at most %d",
				most / GROUP_THREADS);
	for (const Op *mma = kernel_mma(k, NULL); mma != op; mma = kernel_mma(k, mma))
		if (threads_of_mma(k, mma) != threads)
			return ctx_strf(k->ctx,
					"it is arranged over %d warpgroups, an mma before it over "
					"%d, and each warpgroup runs the whole body",
					(int)threads / GROUP_THREADS,
					(int)threads_of_mma(k, mma) / GROUP_THREADS);
	return NULL;
}

static bool moves_by_steps(const Kernel *k, const Type *t, Window w)
{
	SlotForm f;
	return !w.begin ||
	       (!slot_form(k->ctx, t, &f) &&
		ix_divisor(w.begin, kernel_facts(k)) % window_step(f, w, w.moves, 1) == 0);
}

/* By a descriptor for each instruction. */
static const char *readable(const Kernel *k, const Op *op)
{
	TiledMma t = op_tiled_mma(k->ctx, op);
	SlotDesc unused;
	for (int i = 1; i <= 2; i++) {
		const Val *v = op->in[i].val;
		Window w = op_window(k->ctx, op, i);
		if (v->type->space == SP_SHARED &&
		    (slot_desc(k->ctx, v->type, w, i == 1 ? t.rows : t.cols, atom_rows[t.atom.id].k,
			       &unused) ||
		     !moves_by_steps(k, v->type, w)))
			return ctx_strf(k->ctx, "the mma can read '%%%s' as it lies", v->name);
	}
	return NULL;
}

static const char *moved_alone(const Kernel *k, const Op *op)
{
	bool held = atom_holds_b(attrs_get(&op->attrs, A_ATOM)->atom);
	bool moves = op_window(k->ctx, op, 1).begin || op_window(k->ctx, op, 2).begin;
	return held && moves ? "what is read by descriptors alone begins where an index says"
			     : NULL;
}

/* Until its accumulator is transposed. */
static const char *swapped_alike(const Kernel *k, const Op *op)
{
	int64_t swap = attrs_int(&op->attrs, A_SWAP, 0);
	for (const Op *mma = kernel_mma(k, NULL); mma != op; mma = kernel_mma(k, mma))
		if (attrs_int(&mma->attrs, A_SWAP, 0) != swap)
			return "all mma of a kernel have swap=1, or none";
	return NULL;
}

static const char *matrix_of_registers(const Kernel *k, const Op *op)
{
	(void)k;
	return layout_rank(op->out->type->layout) == 2 ? NULL : "a register tile has two modes";
}

/* ------------------------------------------------------------------ roles */
static const char *in_role(const Kernel *k, const Op *op)
{
	(void)k;
	return op_role(op) ? NULL : "it belongs in a role";
}

static const char *whole_role(const Kernel *k, const Op *op)
{
	(void)k;
	return attrs_get(&op->attrs, A_WARPS) && attrs_get(&op->attrs, A_FIRST)
		       ? NULL
		       : "a role says warps= and first=";
}

static const char *positioned(const Kernel *k, const Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		const Val *v = op->in[i].val;
		if (v->def && attrs_get(&v->def->attrs, A_RING) && !op->in[i].at)
			return ctx_strf(k->ctx,
					"'%%%s' is on a ring, and each access says at which "
					"position",
					v->name);
	}
	return NULL;
}

static const char *within_warp(const Kernel *k, const Op *op)
{
	const Type *from = IN(op, X).val->type;
	(void)k;
	return !from->tv || from->tv == op->out->type->tv || warps_of_row(op) == 1
		       ? NULL
		       : "a row lies within one warp: arrange warpgroups along m";
}

static const char *scans_within_warp(const Kernel *k, const Op *op)
{
	(void)k;
	return !op->out->type->tv || warps_of_row(op) == 1
		       ? NULL
		       : "a row that is scanned lies within one warp, or is given its parts";
}

static const char *made_here(const Kernel *k, const Op *op)
{
	return ctx_strf(k->ctx, "only this pass places %s", op_rows[op->kind].name);
}

/* ------------------------------------------------------------------ the table */
static bool is_load(const Op *op)
{
	return op_is_atom(op) && op_done_by(op, DONE_BY_BARRIER);
}

static bool is_of_registers(const Op *op)
{
	return val_is_registers(op->out);
}

static bool is_of_tensor(const Op *op)
{
	return op->kind == OP_TILE || op->kind == OP_VIEW;
}

static bool is_threads_group(const Op *op)
{
	const DoneRow *row = done_of_wait(op->kind);
	return row && row->how == DONE_BY_THREAD;
}

typedef enum {
#define PASS(id, ...) PASS_##id,
#include "passes/passes.def"
} PassId;

typedef struct {
	PassId from, to;
	bool (*of)(const Op *op); /* NULL: of the kind */
	const char *(*rule)(const Kernel *k, const Op *op);
	OpKind kind;
} Row;

static bool is_of(const Row *r, const Op *op)
{
	return r->of ? r->of(op) : op->kind == r->kind;
}

static const Row rows[] = {
	{PASS_tiles, PASS_lower, op_is_mma, arranged, OP_COUNT},
	{PASS_swap, PASS_lower, is_of_tensor, plain_modes, OP_COUNT},
	{PASS_swap, PASS_swap, is_of_registers, matrix_of_registers, OP_COUNT},
	{PASS_swap, PASS_lower, op_is_mma, swapped_alike, OP_COUNT},
	{PASS_lower, PASS_lower, is_load, on_barrier, OP_COUNT},
	{PASS_epilogue, PASS_lower, op_is_atom, plain_tiles, OP_COUNT},
	{PASS_epilogue, PASS_lower, op_is_atom, swizzled_buffer, OP_COUNT},
	{PASS_arrange, PASS_fragments, op_is_mma, moved_alone, OP_COUNT},
	{PASS_epilogue, PASS_lower, op_is_mma, readable, OP_COUNT},
	{PASS_epilogue, PASS_lower, op_is_atom, spread, OP_COUNT},
	{PASS_epilogue, PASS_lower, NULL, within_warp, OP_REDUCE},
	{PASS_epilogue, PASS_lower, NULL, scans_within_warp, OP_SCAN},
	{PASS_lower, PASS_lower, op_is_atom, of_slot, OP_COUNT},
	{PASS_sync, PASS_sync, is_threads_group, made_here, OP_COUNT},
	{PASS_sync, PASS_sync, NULL, made_here, OP_MBARRIER},
	{PASS_init, PASS_init, NULL, made_here, OP_MBAR_INIT},
	{PASS_prefetch, PASS_prefetch, NULL, made_here, OP_TMAP_PREFETCH},
	{PASS_multicast, PASS_lower, op_is_atom, positioned, OP_COUNT},
	{PASS_pipeline, PASS_lower, NULL, whole_role, OP_ROLE},
	{PASS_pipeline, PASS_lower, op_is_atom, in_role, OP_COUNT},
};

/* ------------------------------------------------------------------ whole kernels */
static const char *one_grid(const Kernel *k)
{
	const Op *grid = kernel_find(k, OP_GRID);
	if (!grid || op_find_next(grid, OP_GRID) || op_parent(grid))
		return "a kernel has one grid, around its program";
	for (int i = 0; i < grid->nix; i++)
		if (ix_most(grid->ix[i], kernel_facts(k)) < 1)
			return "a grid has tiles along each of its modes, for some sizes";
	return kernel_find(k, OP_LAUNCH) ? "a kernel with a grid has no launch" : NULL;
}

static const char *no_roles(const Kernel *k)
{
	return kernel_find(k, OP_ROLE) ? "roles are made by this pass" : NULL;
}

static const char *some_role(const Kernel *k)
{
	return kernel_find(k, OP_ROLE) ? NULL : "a kernel of this stage has roles";
}

static const struct {
	PassId from, to;
	const char *(*rule)(const Kernel *k);
} kernel_rows[] = {
	{PASS_tiles, PASS_tiles, one_grid},
	{PASS_roles, PASS_roles, no_roles},
	{PASS_pipeline, PASS_lower, some_role},
};

const char *pass_expects(const Kernel *k, int pass, const Op **where)
{
	const char *why = NULL;
	*where = NULL;
	for (size_t i = 0; i < COUNTOF(kernel_rows) && !why; i++)
		if ((int)kernel_rows[i].from <= pass && pass <= (int)kernel_rows[i].to)
			why = kernel_rows[i].rule(k);
	for (const Op *op = kernel_first(k); op && !why; op = op_next(op))
		for (size_t i = 0; i < COUNTOF(rows) && !why; i++)
			if (is_of(&rows[i], op) && (int)rows[i].from <= pass &&
			    pass <= (int)rows[i].to && (why = rows[i].rule(k, op)))
				*where = op;
	return why;
}
