/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_ops.c - the rules of single ops: kinds of operands, needed attributes, shapes.
 * A row says all that fits in one, "operands=result" with a letter each:
 *   g s r  tile in global, shared memory, registers   t  any tile
 *   e  scalar   v  register tile or scalar   a  tile in registers or shared memory
 *   m  mbarrier   p  tensor map
 * and up to four attributes that the op must have from a stage on. */
#include "base/ptrmap.h"
#include "ir/schedule.h"
#include "ir/verify_rules.h"

#include <string.h>

enum { MAX_TILE = 1 << 24 };

typedef struct {
	const char *kinds;
	const char *(*rule)(const Kernel *k, const Op *op); /* what does not fit in a row */
	struct {
		AttrId id;
		int stages;
	} needs[4];
} Rule;

/* ------------------------------------------------------------------ kinds */
typedef struct {
	char letter, also; /* also: another kind that does too */
	int kind, spaces;  /* of tiles, a bit for each */
	const char *name;
} KindRow;
static const KindRow kind_rows[] = {
	{'g', 0, TY_TILE, 1 << SP_GLOBAL, "a global tile"},
	{'s', 0, TY_TILE, 1 << SP_SHARED, "a shared buffer"},
	{'r', 0, TY_TILE, 1 << SP_REG, "a register tile"},
	{'t', 0, TY_TILE, ~0, "a tile"},
	{'e', 0, TY_ELEM, 0, "a scalar"},
	{'v', 'e', TY_TILE, 1 << SP_REG, "a register tile or a scalar"},
	{'a', 0, TY_TILE, 1 << SP_REG | 1 << SP_SHARED, "a register tile or a shared buffer"},
	{'m', 0, TY_MBAR, 0, "an mbarrier"},
	{'p', 0, TY_TMAP, 0, "a tensor map"},
};

static const KindRow *kind_row(char letter)
{
	for (size_t i = 0; i < COUNTOF(kind_rows); i++)
		if (kind_rows[i].letter == letter)
			return &kind_rows[i];
	panic("no kind '%c'", letter);
}

static bool is_kind(const Type *t, char letter)
{
	const KindRow *r = kind_row(letter);
	bool space = t->kind != TY_TILE || r->spaces >> t->space & 1;
	return ((int)t->kind == r->kind && space) || (r->also && is_kind(t, r->also));
}

static const char *check_kinds(const Kernel *k, const Op *op, const char *kinds)
{
	for (int i = 0; i < op->nin && kinds[i] && kinds[i] != '='; i++)
		if (!is_kind(op->in[i].val->type, kinds[i]))
			return ctx_strf(k->ctx, "operand %d is %s", i + 1,
					kind_row(kinds[i])->name);
	const char *out = strchr(kinds, '=');
	if (out && !is_kind(op->out->type, out[1]))
		return ctx_strf(k->ctx, "the result is %s", kind_row(out[1])->name);
	return NULL;
}

/* ------------------------------------------------------------------ attributes */
static const char *check_needs(const Kernel *k, const Op *op, const Rule *r)
{
	for (size_t i = 0; i < COUNTOF(r->needs); i++)
		if ((r->needs[i].stages & (int)k->stage) && !attrs_get(&op->attrs, r->needs[i].id))
			return ctx_strf(k->ctx, "%s needs the attribute '%s'",
					op_rows[op->kind].name, attr_rows[r->needs[i].id].name);
	return NULL;
}

/* ------------------------------------------------------------------ tiles */
/* Multiplies *size by the extents of a tuple; where strides are given, adds their reach to
 * *last. */
static bool tuple_fits(const Tup *shape, const Tup *stride, int64_t *size, int64_t *last)
{
	int64_t extent, step;
	for (int i = 0; !tup_is_leaf(shape) && i < shape->n; i++)
		if (!tuple_fits(shape->at[i], stride ? stride->at[i] : NULL, size, last))
			return false;
	if (!tup_is_leaf(shape))
		return true;
	if (!ix_is_const(shape->leaf, &extent) || extent < 1 || extent > MAX_TILE)
		return false;
	*size *= extent;
	if (!stride)
		return *size <= MAX_TILE;
	if (!ix_is_const(stride->leaf, &step) || step < 0 || step > MAX_TILE)
		return false;
	*last += (extent - 1) * step;
	return *size <= MAX_TILE && *last < MAX_TILE;
}

/* A tensor's strides are its caller's. */
static bool layout_fits(const Layout *l, Space space)
{
	int64_t size = 1, last = 0;
	return tuple_fits(l->shape, space == SP_GLOBAL ? NULL : l->stride, &size, &last);
}

/* What is defined inside a kernel is a tile: its extents are known, and not absurd. */
static const char *check_tile_type(const Type *t)
{
	if (t->kind != TY_TILE)
		return NULL;
	if (!tup_is_static(t->layout->shape))
		return "the tile's extents are constants";
	if (t->space != SP_GLOBAL && !layout_is_static(t->layout))
		return "the tile's strides are constants";
	if (!layout_fits(t->layout, t->space) ||
	    (t->tv && layout_is_static(t->tv) && !layout_fits(t->tv, SP_REG)))
		return "a tile has 1 to 2^24 elements, with strides of at most that";
	return NULL;
}

/* ------------------------------------------------------------------ ops */
enum { MOST_TURNS = 4096 };

/* Copies of its body that an unrolled loop makes, as far as they may be. */
static int64_t turns_of(const Op *op)
{
	int64_t from, to, n;
	if (op->kind != OP_FOR || !attrs_int(&op->attrs, A_UNROLL, 0) ||
	    !ix_is_const(IX(op, FROM), &from) || !ix_is_const(IX(op, TO), &to) || to <= from)
		return 1;
	return __builtin_sub_overflow(to, from, &n) || n > MOST_TURNS ? MOST_TURNS + 1 : n;
}

static const char *rule_for(const Kernel *k, const Op *op)
{
	int64_t turns = 1;
	if (op->nix < 2 || op->nix % 2)
		return "for takes where it begins and ends, and a start and a step for each number "
		       "that it carries";
	if (!attrs_int(&op->attrs, A_UNROLL, 0))
		return NULL;
	if (op->nsym > 1)
		return "a loop that is unrolled carries no number";
	if (!(ix_is_const(IX(op, FROM), NULL) && ix_is_const(IX(op, TO), NULL)))
		return "a loop that is unrolled has constant bounds";
	for (const Op *up = op; up && turns <= MOST_TURNS; up = op_parent(up))
		turns *= turns_of(up);
	return turns <= MOST_TURNS
		       ? NULL
		       : ctx_strf(k->ctx, "unrolled loops make at most %d turns", MOST_TURNS);
}

static const char *rule_for_ring(const Kernel *k, const Op *op)
{
	(void)k;
	return attrs_int(&op->attrs, A_SLOTS, 1) < 1 ? "a ring has at least one slot" : NULL;
}

const char *rule_some(const Kernel *k, const Op *op)
{
	return op->nix ? NULL
		       : ctx_strf(k->ctx, "%s takes at least one index", op_rows[op->kind].name);
}

/* Before roles part, a kernel has said how many turns it makes. */
static const char *rule_ticket(const Kernel *k, const Op *op)
{
	const Op *first = kernel_first(k);
	const Type *t = op->nin ? op->in->val->type : NULL;
	while (first && first->kind != OP_TICKETS)
		first = first->next;
	return !first ? "a kernel without tickets has none to look at"
	       : t && (t->elem != EL_I32 || type_slot_bytes(t) != 4) ? "a ticket is one s32"
								     : NULL;
}

static const Op *find_named(const Kernel *k, OpKind kind, const char *name)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op->kind == kind && op->nsym == 1 && op->sym[0] == name)
			return op;
	return NULL;
}

static const char *rule_unique(const Kernel *k, const Op *op)
{
	return find_named(k, op->kind, op->sym[0]) == op
		       ? NULL
		       : ctx_strf(k->ctx, "there are two of the name '%s'", op->sym[0]);
}

/* Sets of CTAs of the cluster, one for each rank. */
static bool are_sets(const Kernel *k, const Attr *sets)
{
	const Attr *cluster = attrs_get(&k->attrs, A_CLUSTER);
	int64_t ctas = 1;
	for (int i = 0; cluster && i < cluster->n; i++)
		ctas *= cluster->i[i];
	if (!sets)
		return true;
	for (int r = 0; r < sets->n; r++)
		if (sets->i[r] < 0 || sets->i[r] >> ctas)
			return false;
	return sets->n == ctas;
}

static const char *rule_ring(const Kernel *k, const Op *op)
{
	const Attr *into = attrs_get(&op->attrs, A_INTO), *from = attrs_get(&op->attrs, A_FROM);
	if (!into != !from)
		return "a ring that CTAs share has into= and from=";
	if (!are_sets(k, into) || !are_sets(k, from))
		return "into= and from= have a set for each rank, of CTAs of the cluster";
	return rule_unique(k, op);
}

/* It is 0 or 1. */
static bool is_condition(const Ix *x)
{
	return ix_within(x, (IxFacts){0}, 0, 1);
}

static const char *rule_number(const Kernel *k, const Op *op)
{
	const Val *list = IN(op, FROM).val;
	if (list->type->elem != EL_I32 || list->arg < 0)
		return "numbers are elements of an s32 tensor";
	if (k->args.at[list->arg].is_out)
		return "a tensor whose numbers say where tiles lie is not written";
	for (int i = IX_PLACE(op, COND); i < op->nix; i++)
		if (!is_condition(op->ix[i]))
			return "what must hold is a comparison";
	return op->nix ? NULL : "a number has an offset";
}

/* Where a buffer begins, in bytes: TMA writes whole lines of 128, and a swizzle is of addresses, so
 * that it must be at its beginning there. */
static int64_t shared_align(const Type *t)
{
	Swizzle sw = t->layout->swizzle;
	int64_t repeat = sw.b ? ((int64_t)elem_rows[t->elem].bits << (sw.b + sw.m + sw.s)) / 8 : 0;
	return repeat > 128 ? repeat : 128;
}

static const char *rule_shared(const Kernel *k, const Op *op)
{
	const char *ring = attrs_str(&op->attrs, A_RING, NULL);
	const Type *t = op->out->type;
	int64_t smem = attrs_int(&k->attrs, A_SMEM, INT64_MAX);
	if (k->stage != ST_PTX)
		return !ring || find_named(k, OP_RING, ring)
			       ? NULL
			       : ctx_strf(k->ctx, "there is no ring '%s'", ring);
	if (attrs_int(&op->attrs, A_SLOTS, 0) < 1)
		return "a buffer has at least one slot";
	if (attrs_int(&op->attrs, A_OFFSET, 0) % shared_align(t))
		return ctx_strf(k->ctx, "the buffer begins at a multiple of %d bytes",
				(int)shared_align(t));
	if (attrs_int(&op->attrs, A_OFFSET, 0) +
		    attrs_int(&op->attrs, A_SLOTS, 0) * type_slot_bytes(t) >
	    smem)
		return "the buffer ends beyond the kernel's shared memory";
	return NULL;
}

static const char *rule_mbarrier(const Kernel *k, const Op *op)
{
	if (k->stage == ST_PTX && attrs_int(&op->attrs, A_SLOTS, 0) < 1)
		return "an mbarrier has at least one slot";
	if (k->stage == ST_PTX && attrs_int(&op->attrs, A_OFFSET, 0) % 8)
		return "an mbarrier begins at a multiple of 8 bytes";
	if (attrs_int(&op->attrs, A_COUNT, 1) < 1)
		return "an mbarrier expects at least one arrival";
	return NULL;
}

/* Whether each mode of `some` that is longer than 1 is one of `all`. */
static bool modes_among(const Layout *some, const Layout *all)
{
	uint64_t taken = 0;
	for (int i = 0; i < layout_rank(some); i++) {
		const Tup *n = tup_get(some->shape, i), *d = tup_get(some->stride, i);
		int j = 0;
		while (j < layout_rank(all) && (taken >> j & 1 || tup_get(all->shape, j) != n ||
						tup_get(all->stride, j) != d))
			j++;
		if (j < layout_rank(all))
			taken |= UINT64_C(1) << j;
		else if (!tup_is_leaf(n) || !ix_is(n->leaf, 1))
			return false;
	}
	return true;
}

static const char *rule_view(const Kernel *k, const Op *op)
{
	const Type *of = IN(op, OF).val->type, *to = op->out->type;
	const Layout *modes = layout_flat(k->ctx, of->layout);
	const Layout *view = layout_flat(k->ctx, to->layout);
	if (IN(op, OF).val->arg < 0)
		return "a view is of an argument";
	if (of->elem != to->elem)
		return "a view has its tensor's element type";
	if (layout_rank(modes) > MODES_MOST || layout_rank(view) > MODES_MOST ||
	    of->layout->offset != to->layout->offset || of->layout->swizzle.b ||
	    to->layout->swizzle.b || !modes_among(modes, view) || !modes_among(view, modes))
		return "a view has its tensor's modes, and else modes of one element";
	return NULL;
}

static const char *rule_init(const Kernel *k, const Op *op)
{
	(void)k;
	return op->nix <= 1 ? NULL : "an init takes at most a count";
}

static const char *rule_wait(const Kernel *k, const Op *op)
{
	int64_t parity;
	if (k->stage == ST_PTX && op->nix != 1)
		return "a wait of the ptx stage takes the phase";
	if (k->stage == ST_PTX && ix_is_const(IX(op, PHASE), &parity) && (parity < 0 || parity > 1))
		return "a phase has the parity 0 or 1";
	if (k->stage == ST_PTX)
		return NULL;
	return op->nix == 0 ? NULL : "a wait of the warp stage takes lap= and no phase";
}

static const char *rule_arrive(const Kernel *k, const Op *op)
{
	(void)k;
	if (attrs_int(&op->attrs, A_COUNT, 1) < 1)
		return "an arrive counts at least 1";
	return op->nix <= 1 ? NULL : "an arrive takes at most the rank of another CTA";
}

static bool share_warps(const Op *a, const Op *b)
{
	int64_t x = attrs_int(&a->attrs, A_FIRST, 0), y = attrs_int(&b->attrs, A_FIRST, 0);
	return attrs_get(&a->attrs, A_FIRST) && x < y + attrs_int(&b->attrs, A_WARPS, 0) &&
	       y < x + attrs_int(&a->attrs, A_WARPS, 0);
}

static const char *rule_role(const Kernel *k, const Op *op)
{
	int64_t end = attrs_int(&op->attrs, A_FIRST, 0) + attrs_int(&op->attrs, A_WARPS, 0);
	if (op_parent(op))
		return "a role may stand only at the top level of a kernel";
	if (attrs_int(&op->attrs, A_WARPS, 1) < 1)
		return "a role has at least one warp";
	if (attrs_int(&op->attrs, A_TURNS, 1) < 1)
		return "at least one warpgroup of a role takes turns";
	if (end * 32 > attrs_int(&k->attrs, A_BLOCK, INT64_MAX))
		return "the role ends beyond the CTA's last warp";
	for (const Op *old = kernel_first(k); old != op; old = op_next(old))
		if (old->kind == OP_ROLE && attrs_get(&op->attrs, A_FIRST) && share_warps(old, op))
			return ctx_strf(k->ctx, "role %s has some of its warps", old->sym[0]);
	return rule_unique(k, op);
}

static const Rule rules[OP_COUNT] = {
	[OP_FOR] = {.kinds = "", .rule = rule_for},
	[OP_IF] = {.kinds = "", .rule = rule_some},
	[OP_CONST] = {.kinds = "=e", .rule = const_rule, .needs = {{A_VALUE, ST_ANY}}},
	[OP_SIZEVAL] = {.kinds = "=e", .rule = sizeval_rule},
	[OP_SERIES] = {.kinds = "=r", .rule = series_rule},
	[OP_LAUNCH] = {.kinds = "", .rule = rule_launch},
	[OP_FRAG] = {.kinds = "=r"},
	[OP_FILL] = {.kinds = "r", .rule = rule_fill, .needs = {{A_VALUE, ST_ANY}}},
	[OP_INSIDE] = {.kinds = "rg=r",
		       .rule = rule_inside,
		       .needs = {{A_VALUE, ST_ANY}, {A_EDGES, ST_ANY}}},
	[OP_SHARED] = {.kinds = "=s",
		       .rule = rule_shared,
		       .needs = {{A_SLOTS, ST_PTX}, {A_OFFSET, ST_PTX}}},
	[OP_GROUPS_COUNT] = {.kinds = "g", .rule = rule_groups, .needs = {{A_ROWS, ST_ANY}}},
	[OP_GROUPS_FIND] = {.kinds = "g", .rule = rule_groups, .needs = {{A_ROWS, ST_ANY}}},
	[OP_GROUPS_AT] = {.kinds = "g", .rule = rule_ends},
	[OP_NUMBER] = {.kinds = "gg", .rule = rule_number},
	[OP_GRID] = {.kinds = "g", .rule = rule_grid},
	[OP_TICKETS] = {.kinds = "", .rule = rule_tickets},
	[OP_TICKET_AT] = {.kinds = "", .rule = rule_ticket},
	[OP_TICKET_DRAW] = {.kinds = "s", .rule = rule_ticket},
	[OP_TICKET_DEAL] = {.kinds = "sm", .rule = rule_ticket},
	[OP_TICKET_GET] = {.kinds = "s", .rule = rule_ticket},
	[OP_RING] = {.kinds = "", .rule = rule_ring},
	[OP_VIEW] = {.kinds = "g=g", .rule = rule_view},
	[OP_TILE] = {.kinds = "gg=g", .rule = rule_tile},
	[OP_COPY] = {.kinds = "tt", .rule = rule_store},
	[OP_MMA] = {.kinds = "raa", .rule = rule_mma, .needs = {{A_ATOM, ST_ANY}}},
	[OP_ROLE] = {.kinds = "",
		     .rule = rule_role,
		     .needs = {{A_WARPS, ST_PTX}, {A_FIRST, ST_PTX}}},
	[OP_TMAP] = {.kinds = "g=p",
		     .rule = rule_tmap,
		     .needs = {{A_BOX, ST_ANY}, {A_SWIZZLE, ST_ANY}}},
	[OP_LOAD_TMA] = {.kinds = "sgpm", .rule = rule_load_tma},
	[OP_LOAD_ROWS] = {.kinds = "sgprm", .rule = rule_load_tma},
	[OP_MMA_WGMMA] = {.kinds = "ras", .rule = rule_mma, .needs = {{A_ATOM, ST_ANY}}},
	[OP_MMA_WARP] = {.kinds = "rrr", .rule = rule_mma, .needs = {{A_ATOM, ST_ANY}}},
	[OP_STORE] = {.kinds = "grr", .rule = rule_store},
	[OP_MBARRIER] = {.kinds = "=m",
			 .rule = rule_mbarrier,
			 .needs = {{A_SLOTS, ST_PTX}, {A_OFFSET, ST_PTX}, {A_COUNT, ST_PTX}}},
	[OP_MBAR_INIT] = {.kinds = "m", .rule = rule_init, .needs = {{A_COUNT, ST_PTX}}},
	[OP_MBAR_EXPECT] = {.kinds = "m", .needs = {{A_BYTES, ST_PTX}}},
	[OP_MBAR_ARRIVE] = {.kinds = "m", .rule = rule_arrive},
	[OP_MBAR_WAIT] = {.kinds = "m", .rule = rule_wait},
	[OP_BAR_SYNC] = {.kinds = "", .needs = {{A_THREADS, ST_ANY}}},
	[OP_BAR_ARRIVE] = {.kinds = "", .needs = {{A_THREADS, ST_ANY}}},
	[OP_BULK_WAIT_READ] = {.kinds = "", .needs = {{A_N, ST_ANY}}},
	[OP_BULK_WAIT] = {.kinds = "", .needs = {{A_N, ST_ANY}}},
	[OP_STORE_SHARED] = {.kinds = "sr"},
	[OP_STORE_TMA] = {.kinds = "gsp"},
	[OP_STORE_STAGED] = {.kinds = "gs", .rule = rule_staged},
	[OP_ST_STAGED] = {.kinds = "gs", .rule = rule_staged},
	[OP_ST_UNIT] = {.kinds = "gs",
			.rule = rule_unit,
			.needs = {{A_N, ST_ANY}, {A_COUNT, ST_ANY}}},
	[OP_FOR_RING] = {.kinds = "", .rule = rule_for_ring, .needs = {{A_SLOTS, ST_PTX}}},
	[OP_TMA_STORE] = {.kinds = "sp", .rule = rule_tma_store},
	[OP_STMATRIX] = {.kinds = "sr", .rule = rule_matrices, .needs = {{A_N, ST_PTX}}},
	[OP_ST_SHARED] = {.kinds = "sr", .rule = rule_vector, .needs = {{A_N, ST_PTX}}},
	[OP_WGMMA_WAIT] = {.kinds = "", .needs = {{A_N, ST_ANY}}},
	[OP_SETMAXNREG] = {.kinds = "",
			   .rule = rule_setmaxnreg,
			   .needs = {{A_REGS, ST_ANY}, {A_N, ST_ANY}}},
	[OP_TMAP_PREFETCH] = {.kinds = "p"},
	[OP_TMA_LOAD] = {.kinds = "spmr", .rule = rule_tma_load},
	[OP_WGMMA] = {.kinds = "ras",
		      .rule = rule_wgmma,
		      .needs = {{A_ATOM, ST_PTX},
				{A_LBO, ST_PTX},
				{A_SBO, ST_PTX},
				{A_SWIZZLES, ST_PTX}}},
	[OP_MMA_SYNC] = {.kinds = "rrr", .rule = rule_mma_sync, .needs = {{A_ATOM, ST_PTX}}},
	[OP_ST_GLOBAL] = {.kinds = "grr", .rule = rule_store, .needs = {{A_N, ST_PTX}}},
	[OP_LD_GLOBAL] = {.kinds = "rgg", .rule = rule_load_vector, .needs = {{A_N, ST_PTX}}},
	[OP_LDMATRIX] = {.kinds = "rs", .rule = rule_matrices, .needs = {{A_N, ST_PTX}}},
	[OP_LD_SHARED] = {.kinds = "rs", .rule = rule_vector, .needs = {{A_N, ST_PTX}}},
	[OP_LOAD_PEER] = {.kinds = "rs"},
	[OP_LD_PEER] = {.kinds = "rs", .rule = rule_vector, .needs = {{A_N, ST_PTX}}},
	[OP_SUM_PARTS] = {.kinds = "r"},
	[OP_PARTS_MEET] = {.kinds = "g", .rule = rule_workspace, .needs = {{A_COUNT, ST_ANY}}},
	[OP_SEM_ARRIVE] = {.kinds = "g", .rule = rule_workspace, .needs = {{A_COUNT, ST_ANY}}},
	[OP_SEM_WAIT] = {.kinds = "g", .rule = rule_workspace, .needs = {{A_COUNT, ST_ANY}}},
	[OP_PART] = {.kinds = "r=r", .rule = rule_part},
	[OP_ADD_TO] = {.kinds = "rr", .rule = rule_add_to},
	[OP_MOVE] = {.kinds = "rr", .rule = move_rule},
	[OP_QUADS] = {.kinds = "r=r", .rule = quads_rule},
	[OP_REDUCE] = {.kinds = "r=r", .rule = reduce_rule, .needs = {{A_COMBINE, ST_ANY}}},
	[OP_SCAN] = {.kinds = "rr=r", .rule = scan_rule},
	[OP_LOAD] = {.kinds = "rgg", .rule = rule_load},
	[OP_LOAD_SHARED] = {.kinds = "rs", .rule = rule_load_shared},
	[OP_LOAD_GATHER] = {.kinds = "rgr", .rule = rule_load_gather},
	[OP_LD_GATHER] = {.kinds = "rgr", .rule = rule_load_gather, .needs = {{A_N, ST_PTX}}},
	[OP_PREFETCH] = {.kinds = "rg", .rule = rule_alike},
	[OP_PREFETCH_GLOBAL] = {.kinds = "g"},
	[OP_LOAD_ASYNC] = {.kinds = "sgr", .rule = rule_load_async},
	[OP_CP_ASYNC] = {.kinds = "sgr", .rule = rule_cp_async, .needs = {{A_N, ST_PTX}}},
	[OP_COPY_WAIT] = {.kinds = "", .needs = {{A_N, ST_ANY}}},
	[OP_COPY_ARRIVE] = {.kinds = "m"},
};

/* ------------------------------------------------------------------ what every op obeys */
/* Whether no mode of several elements has one for all. */
static bool is_one_to_one(const Tup *shape, const Tup *stride)
{
	if (tup_is_leaf(shape))
		return ix_is(shape->leaf, 1) || !ix_is(stride->leaf, 0);
	for (int m = 0; m < shape->n; m++)
		if (!is_one_to_one(shape->at[m], stride->at[m]))
			return false;
	return true;
}

static const Val *tensor_of(const Val *v, bool joined)
{
	for (; v->def; v = IN(v->def, OF).val) {
		const Layout *l = v->type->layout;
		bool viewed =
			v->def->kind == OP_VIEW && (joined || is_one_to_one(l->shape, l->stride));
		if (v->def->kind != OP_TILE && !viewed)
			break;
	}
	return v;
}

/* Only frags, shared memory and outputs change; what has one element for several of a view is
 * joined to. */
static const char *check_writes(const Kernel *k, const Op *op)
{
	for (int i = 0; i < op->nin; i++) {
		if (!(op_effect(op, i) & (FX_W | FX_AW)))
			continue;
		const Val *v = op->in[i].val, *tensor = tensor_of(v, combine_of(op));
		if (is_kind(v->type, 'r') && v->def->kind != OP_FRAG)
			return ctx_strf(k->ctx, "'%%%s' is a value, not a frag: it cannot change",
					v->name);
		if (is_kind(v->type, 'g') && (tensor->arg < 0 || !k->args.at[tensor->arg].is_out))
			return ctx_strf(k->ctx, "'%%%s' is not an output", tensor->name);
	}
	return NULL;
}

/* At the ptx stage a buffer or barrier of several slots says which. */
static const char *check_slots(const Kernel *k, const Op *op)
{
	for (int i = 0; k->stage == ST_PTX && i < op->nin; i++) {
		const Val *v = op->in[i].val;
		if (!op->in[i].at && v->def && attrs_int(&v->def->attrs, A_SLOTS, 1) > 1)
			return ctx_strf(k->ctx, "'%%%s' has several slots: name one", v->name);
	}
	return NULL;
}

/* ------------------------------------------------------------------ the kernel's own attributes */
enum { MOST_THREADS = 1024 };

const char *kernel_rule(const Kernel *k)
{
	const char *why = attrs_rule(k, &k->attrs);
	const Attr *regs = attrs_get(&k->attrs, A_ROLE_REGS);
	int64_t threads = attrs_int(&k->attrs, A_BLOCK, 32);
	if (why || (why = schedule_rule(k)))
		return why;
	if (regs && regs->n != 2)
		return "'role_regs' is two numbers, of the producer and the consumer";
	if (threads < 32 || threads > MOST_THREADS || threads % 32)
		return "a CTA has 32 to 1024 threads, in whole warps";
	return NULL;
}

/* Of the type alone; a view's may be of sizes. */
static const char *check_out(const Kernel *k, const Op *op, PtrMap *right)
{
	const Type *t = op->out->type;
	bool known = ptrmap_get(right, t) != NULL, view = op->kind == OP_VIEW;
	const char *why = known || view ? NULL : check_tile_type(t);
	if (!why && !known && is_kind(t, 'r'))
		why = reg_type_rule(k, t);
	if (!why && !view)
		ptrmap_set(right, t, (void *)(uintptr_t)t);
	return why;
}

const char *op_rule(const Kernel *k, const Op *op, PtrMap *right)
{
	const Rule *r = &rules[op->kind];
	const char *why;
	if ((why = attrs_rule(k, &op->attrs)) || (why = check_needs(k, op, r)))
		return why;
	if (attrs_get(&op->attrs, A_SHARED) && !op_done_by(op, DONE_BY_BARRIER))
		return "the attribute 'shared' is of tma.load, and of tickets";
	if (r->kinds && (why = check_kinds(k, op, r->kinds)))
		return why;
	if ((op->out && (why = check_out(k, op, right))) || (why = check_writes(k, op)) ||
	    (why = check_slots(k, op)))
		return why;
	if (r->rule)
		return r->rule(k, op);
	return op_rows[op->kind].flags & OPF_ELT ? elt_rule(k, op) : NULL;
}
