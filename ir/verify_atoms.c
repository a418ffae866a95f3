/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_atoms.c - the rules of what copies and multiplies: shapes and element types that belong
 * together, boxes of tensor maps, registers of a tile.
 *     mma %acc, %sA, %sB    of (128,256), (128,64), (256,32)    "(M,N), (M,K) and (N,K)"
 *     ld.global %c[15], %A (0) n=2     of 16 registers          "registers 15 to 16 of 16" */
#include "ir/verify_rules.h"
#include "runtime/swizzle.h"

#include <inttypes.h>
#include <string.h>

static int ints_count(const Op *op, AttrId id)
{
	const Attr *a = attrs_get(&op->attrs, id);
	return a ? a->n : 0;
}

static const char *check_pair(const Kernel *k, const Op *op, AttrId id)
{
	return ints_count(op, id) == 2 ? NULL
				       : ctx_strf(k->ctx, "'%s' has two numbers, of A and of B",
						  attr_rows[id].name);
}

/* Each a swizzle that TMA and wgmma have, in bytes; 0: none. */
static const char *check_swizzles(const Op *op, AttrId id)
{
	const Attr *a = attrs_get(&op->attrs, id);
	for (int i = 0; a && i < a->n; i++)
		if (!swizzle_row(a->i[i]))
			return "a swizzle has 0, 32, 64 or 128 bytes";
	return NULL;
}

/* ------------------------------------------------------------------ shapes */
static const Ix *mode_size(Ctx *c, const Type *t, int i)
{
	return tup_product(c, tup_get(t->layout->shape, i));
}

/* Rows and columns that the buffer has, each a number; of an op that reads a part of one. */
static const char *check_window(const Kernel *k, const Op *op, int i)
{
	const Attr *a = op_window_attr(op, i);
	if (!a)
		return NULL;
	const Type *t = op->in[i].val->type;
	if (t->space != SP_SHARED || layout_rank(t->layout) != 2)
		return ctx_strf(k->ctx, "'%s' is of a matrix in shared memory",
				attr_rows[a->id].name);
	Window all = type_window(k->ctx, t), w;
	bool moves = a->n == 6 && a->i[5] <= 1 && HAS_IX(op, BEGIN_B);
	bool fits = (a->n == 5 || moves) && a->i[4] <= 1;
	for (int m = 0; fits && m < 2; m++) {
		w = op_window(k->ctx, op, i);
		fits = w.n[m] >= 1 && w.at[m] <= all.n[m] && w.n[m] <= all.n[m] - w.at[m];
	}
	return fits ? NULL
		    : ctx_strf(k->ctx,
			       "'%s' is the first row, rows, the first column and columns that "
			       "the buffer has, and 0 or 1",
			       attr_rows[a->id].name);
}

/* Of what the op reads of an operand that is a matrix. */
static const Ix *read_size(const Kernel *k, const Op *op, int i, int mode)
{
	return op_window_attr(op, i)
		       ? ix_const(k->ctx, window_extent(op_window(k->ctx, op, i), mode))
		       : mode_size(k->ctx, op->in[i].val->type, mode);
}

/* A tile of a batch and a matrix are alike. */
static bool same_shape(Ctx *c, const Type *a, const Type *b)
{
	ModeList x = type_modes(c, a), y = type_modes(c, b);
	if (x.n != y.n || x.n > MODES_MOST)
		return false;
	for (int i = 0; i < x.n; i++)
		if (mode_size(c, a, x.at[i]) != mode_size(c, b, y.at[i]))
			return false;
	return true;
}

/* What is copied is a part of a buffer. */
static bool same_as_window(const Kernel *k, const Op *op)
{
	const Type *to = IN(op, TO).val->type;
	for (int i = 0; i < 2; i++)
		if (layout_rank(to->layout) != 2 ||
		    mode_size(k->ctx, to, i) != read_size(k, op, 1, i))
			return false;
	return true;
}

const char *rule_alike(const Kernel *k, const Op *op)
{
	const Type *a = IN(op, TO).val->type, *b = IN(op, FROM).val->type;
	const char *why = check_window(k, op, 1);
	if (why)
		return why;
	if (op_window_attr(op, 1) ? !same_as_window(k, op) : !same_shape(k->ctx, a, b))
		return ctx_strf(k->ctx, "the shapes %s and %s differ",
				layout_str(k->ctx, a->layout), layout_str(k->ctx, b->layout));
	if (a->elem != b->elem)
		return ctx_strf(k->ctx, "the element types %s and %s differ",
				elem_rows[a->elem].name, elem_rows[b->elem].name);
	return NULL;
}

const char *rule_load_shared(const Kernel *k, const Op *op)
{
	return op_window_attr(op, 1) ? rule_alike(k, op) : NULL;
}

/* A tile is reduced along each mode of which the place has one element; its rows are by reduce. */
static const char *rule_joined(const Kernel *k, const Op *op)
{
	Ctx *c = k->ctx;
	const Type *to = IN(op, TO).val->type, *from = IN(op, FROM).val->type;
	int rank = layout_rank(from->layout), skip = layout_rank(to->layout) - rank;
	if (rank != 2 || skip < 0 || !ix_is(mode_size(c, to, skip), 1))
		return rule_alike(k, op);
	for (int i = 0; i < rank; i++) {
		const Ix *n = mode_size(c, to, skip + i);
		if (!ix_is(n, 1) && n != mode_size(c, from, i))
			return rule_alike(k, op);
	}
	return from->elem == to->elem ? NULL
				      : "what is joined has the type of what it is joined to";
}

/* `combine` joins a tile, or a value for each row or for all of one, to what a tensor holds. */
static const char *rule_join(const Kernel *k, const Op *op)
{
	const Type *to = IN(op, TO).val->type;
	int n = (int)attrs_int(&op->attrs, A_N, 1);
	if (to->space != SP_GLOBAL)
		return "what is joined to lies in global memory";
	if (!join_row(combine_of(op), to->elem, 1))
		return ctx_strf(k->ctx, "nothing joins %s to memory by %s",
				elem_rows[to->elem].name, combine_of(op)->name);
	if (k->stage == ST_PTX && !join_row(combine_of(op), to->elem, n))
		return ctx_strf(k->ctx, "%d elements of %s are not joined at a time", n,
				elem_rows[to->elem].name);
	return NULL;
}

/* Registers that hold coordinates along gather=. */
static const char *check_index(const Kernel *k, const Op *op)
{
	int64_t mode = attrs_int(&op->attrs, A_GATHER, -1);
	const Layout *tensor = op->in[IN(op, TO).val->type->space == SP_SHARED].val->type->layout;
	if (!HAS_IN(op, INDEX))
		return mode < 0 ? NULL : "gather= needs the register of an index";
	if (IN(op, INDEX).val->type->elem != EL_I32)
		return "an index is of s32";
	if (k->stage != ST_PTX)
		return NULL;
	if (mode < 0 || mode >= layout_rank(tensor) ||
	    !tup_is_leaf(tup_get(tensor->stride, (int)mode)))
		return "an access by an index has gather=, a mode of the tensor";
	return check_registers(k, op, 2);
}

const char *rule_store(const Kernel *k, const Op *op)
{
	const char *why = combine_of(op) ? rule_join(k, op) : NULL;
	if (!why)
		why = rule_in_place(k, op);
	if (why)
		return why;
	why = k->stage == ST_PTX ? rule_vector(k, op)
	      : combine_of(op)   ? rule_joined(k, op)
				 : rule_alike(k, op);
	if (!why)
		why = check_index(k, op);
	if (why || !combine_of(op))
		return why;
	return rule_joins_in_order(k, op);
}

/* ------------------------------------------------------------------ mma and tensor maps */
static bool accumulates(const Kernel *k, const Val *v)
{
	bool storage = v->def && v->def->kind == OP_FRAG;
	for (const Op *op = storage ? kernel_first(k) : NULL; op; op = op_next(op))
		if (attrs_get(&op->attrs, A_ATOM) && IN(op, TO).val == v)
			return true;
	return false;
}

static const char *check_atom(const Kernel *k, const Op *op)
{
	const AtomRow *r = &atom_rows[attrs_get(&op->attrs, A_ATOM)->atom.id];
	const Elem want[] = {r->c, r->a, r->b};
	for (int i = 0; i < 3; i++)
		if (op->in[i].val->type->elem != want[i])
			return ctx_strf(k->ctx, "operand %d is %s for this atom", i + 1,
					elem_rows[want[i]].name);
	if (is_reg(IN(op, A).val->type) && !*r->tv_a)
		return "this atom reads its A from shared memory";
	if (is_reg(IN(op, B).val->type) && !*r->tv_b)
		return "this atom reads its B from shared memory";
	if (accumulates(k, IN(op, A).val))
		return "what an mma accumulates in is no operand of one: cvt makes a value of it";
	return NULL;
}

static const char *check_divides(const Kernel *k, const Ix *extent, int64_t by, const char *what)
{
	int64_t size;
	if (by > 0 && ix_is_const(extent, &size) && size % by == 0)
		return NULL;
	return ctx_strf(k->ctx, "the tile's %s is not a multiple of %" PRId64, what, by);
}

/* Columns from .. to of the operands, in steps of the atom's K. */
static const char *check_depth(const Kernel *k, const Op *op, int64_t by)
{
	const Attr *d = attrs_get(&op->attrs, A_DEPTH);
	int64_t size;
	if (!d)
		return NULL;
	if (d->n != 2)
		return "'depth' has two numbers, the first column and the one after the last";
	if (d->i[0] < 0 || d->i[0] >= d->i[1] || d->i[0] % by || d->i[1] % by ||
	    !ix_is_const(read_size(k, op, 1, 1), &size) || d->i[1] > size)
		return ctx_strf(
			k->ctx,
			"'depth' is of columns that the operands have, in steps of %" PRId64, by);
	return NULL;
}

/* C (M,N) += A (M,K) * B (N,K); with swap, C (N,M) */
const char *rule_mma(const Kernel *k, const Op *op)
{
	const Type *c = IN(op, TO).val->type, *a = IN(op, A).val->type, *b = IN(op, B).val->type;
	const Attr *at = attrs_get(&op->attrs, A_ARRANGE);
	int64_t arrange[3] = {1, 1, 1};
	const char *why;
	for (int i = 0; at && i < at->n && i < 3; i++)
		arrange[i] = at->i[i];
	if (layout_rank(c->layout) != 2 || layout_rank(a->layout) != 2 ||
	    layout_rank(b->layout) != 2)
		return "an mma's operands have two modes";
	if (op->nix == 2 || op->nix > 3 || (op->nix == 1 && op->kind == OP_MMA))
		return "an mma takes a scale, and where its operands begin";
	if ((why = check_window(k, op, 1)) || (why = check_window(k, op, 2)))
		return why;
	bool swap = attrs_int(&op->attrs, A_SWAP, 0);
	if (swap && k->stage != ST_TILE)
		return "an accumulator is transposed at the tile stage";
	if (mode_size(k->ctx, c, swap) != read_size(k, op, 1, 0) ||
	    mode_size(k->ctx, c, !swap) != read_size(k, op, 2, 0) ||
	    read_size(k, op, 1, 1) != read_size(k, op, 2, 1))
		return swap ? "an mma's operands are (M,N), (M,K) and (N,K); with swap the "
			      "accumulator is (N,M)"
			    : "an mma's operands are (M,N), (M,K) and (N,K)";
	if ((why = check_atom(k, op)))
		return why;
	Atom atom = attrs_get(&op->attrs, A_ATOM)->atom;
	const AtomRow *r = &atom_rows[atom.id];
	if ((why = check_divides(k, mode_size(k->ctx, c, swap), r->m * arrange[0], "M")) ||
	    (why = check_divides(k, mode_size(k->ctx, c, !swap), atom.n * arrange[1], "N")))
		return why;
	why = check_divides(k, read_size(k, op, 1, 1), r->k * arrange[2], "K");
	return why ? why : check_depth(k, op, r->k * arrange[2]);
}

static const char *check_box(const Kernel *k, const Attr *box, int modes)
{
	int max = target_by_name(k->target)->box_max;
	if (box && box->n != modes)
		return ctx_strf(k->ctx, "the box of a map of %d modes has %d numbers", modes,
				modes);
	for (int i = 0; box && i < box->n; i++)
		if (box->i[i] < 1 || box->i[i] > max)
			return ctx_strf(k->ctx, "a box has 1 to %d elements along a mode", max);
	return NULL;
}

const char *rule_tmap(const Kernel *k, const Op *op)
{
	const Layout *layout = IN(op, OF).val->type->layout;
	if (IN(op, OF).val->arg < 0)
		return "a tensor map describes an argument";
	if (tup_rank(layout_flat(k->ctx, layout)->shape) != layout_rank(layout))
		return "a tensor map describes plain modes, none of several";
	ModeList modes = layout_map_modes(layout);
	if (!modes.n)
		return "a tensor map needs a mode of stride 1";
	if (modes.n > MODES_MOST)
		return ctx_strf(k->ctx, "a tensor map has at most %d modes", MODES_MOST);
	const Attr *ragged = attrs_get(&op->attrs, A_RAGGED);
	if (ragged && (ragged->i[0] < 0 || ragged->i[0] >= layout_rank(layout) ||
		       !map_may_be_ragged(layout, (int)ragged->i[0])))
		return "ragged= is a mode of the tensor whose stride is not 1, and of at most "
		       "three";
	modes = layout_map_modes(map_layout(k->ctx, op));
	const char *why = check_box(k, attrs_get(&op->attrs, A_BOX), modes.n);
	return why ? why : check_swizzles(op, A_SWIZZLE);
}

/* Modes of the map; those that the op has coordinates for, where there is none to ask. */
static int map_rank(const Kernel *k, const Op *map, int otherwise)
{
	return map && map->nin ? layout_map_modes(map_layout(k->ctx, map)).n : otherwise;
}

/* Boxes whose coordinates along gather= registers hold, one each. */
static const char *check_named_boxes(const Kernel *k, const Op *op)
{
	int64_t mode = attrs_int(&op->attrs, A_GATHER, -1), n = attrs_int(&op->attrs, A_N, 0);
	const Op *map = IN(op, MAP).val->def;
	const Attr *box = map ? attrs_get(&map->attrs, A_BOX) : NULL;
	if (!HAS_IN(op, INDEX))
		return mode < 0 && !n ? NULL : "gather= needs the registers of indices";
	if (IN(op, INDEX).val->type->elem != EL_I32)
		return "an index is of s32";
	int at = map && map->nin ? map_coordinate(IN(map, OF).val->type->layout, (int)mode) : -1;
	if (at < 1 || !box || box->i[at] != 1)
		return "boxes by indices have gather=, a mode of the map along which they have one "
		       "element";
	if (n < 1)
		return "boxes by indices have n=, how many there are";
	return check_registers(k, op, 3);
}

const char *rule_tma_load(const Kernel *k, const Op *op)
{
	int rank = map_rank(k, IN(op, MAP).val->def, op->nix - 1);
	bool shared = attrs_int(&op->attrs, A_SHARED, 0);
	if (op->nix != 1 + rank + shared)
		return ctx_strf(k->ctx,
				"a load of rank %d takes the byte in the slot and %d coordinates%s",
				rank, rank, shared ? ", and a mask" : "");
	return check_named_boxes(k, op);
}

const char *rule_tma_store(const Kernel *k, const Op *op)
{
	int rank = map_rank(k, IN(op, MAP).val->def, op->nix - 1);
	Elem elem = IN(op, FROM).val->type->elem;
	if (combine_of(op) && !join_row(combine_of(op), elem, 0))
		return ctx_strf(k->ctx, "TMA does not join %s by %s", elem_rows[elem].name,
				combine_of(op)->name);
	return op->nix == 1 + rank && rank > 0
		       ? NULL
		       : ctx_strf(
				 k->ctx,
				 "a store of rank %d takes the byte in the slot and %d coordinates",
				 rank, rank);
}

const char *rule_load_tma(const Kernel *k, const Op *op)
{
	int64_t slices = attrs_int(&op->attrs, A_SLICES, 1), size;
	if (op->nix != 0 && op->nix != 3)
		return "a load for several CTAs takes mask, part and whether this CTA issues";
	int most = target_cluster_max(target_by_name(k->target));
	if (slices < 1 || slices > most)
		return ctx_strf(k->ctx, "slices= is 1 to %d, one of each CTA", most);
	if (!ix_is_const(layout_size(k->ctx, IN(op, TO).val->type->layout), &size) || size % slices)
		return "slices= divides the buffer";
	return rule_alike(k, op);
}

/* ------------------------------------------------------------------ registers */
enum { MAX_LOOPS = 16 };

typedef struct {
	const IxFact *at;
	int n;
	bool all; /* names that were seen are of these loops */
} Turns;

static void check_turn(void *user, const char *name)
{
	Turns *t = user;
	bool some = false;
	for (int i = 0; i < t->n; i++)
		some |= t->at[i].name == name;
	t->all &= some;
}

/* Whether registers of a tile that an op names are there; the first is a number, or in an unrolled
 * loop one in each turn. */
const char *check_registers(const Kernel *k, const Op *op, int i)
{
	IxFact turns[MAX_LOOPS];
	int loops = 0;
	const Operand *regs = &op->in[i];
	int64_t lo, hi, from, to, all = type_regs(regs->val->type), n = op_regs(k, op, i);
	if (!regs->at)
		return "the operand names its first register";
	for (const Op *up = op_parent(op); up && loops < MAX_LOOPS; up = op_parent(up))
		if (up->kind == OP_FOR && attrs_int(&up->attrs, A_UNROLL, 0) &&
		    ix_is_const(IX(up, FROM), &from) && ix_is_const(IX(up, TO), &to) && from < to)
			turns[loops++] = (IxFact){up->sym[0], from, to - 1, 1};
	ix_range(regs->at, (IxFacts){.at = turns, .n = loops}, &lo, &hi);
	Turns of = {turns, loops, true};
	ix_names(regs->at, check_turn, &of);
	if (!of.all)
		return "a register is a number, or one in each turn of an unrolled loop";
	if (lo < 0 || hi > all - n)
		return ctx_strf(k->ctx, "registers %lld to %lld of %d", (long long)lo,
				(long long)(hi < all ? hi + n - 1 : hi), (int)all);
	return NULL;
}

/* Only operands of 16 bits may have neighbours along m or n (PTX ISA, wgmma: imm-trans). */
static const char *check_mn_major(const Kernel *k, const Op *op)
{
	const Attr *a = attrs_get(&op->attrs, A_MN_MAJOR);
	const char *why = a ? check_pair(k, op, A_MN_MAJOR) : NULL;
	for (int i = 0; a && !why && i < 2; i++)
		if (a->i[i] != 0 && a->i[i] != 1)
			why = "'mn_major' has 0 or 1 for each operand";
		else if (a->i[i] && elem_rows[op->in[1 + i].val->type->elem].bits != 16)
			why = "only elements of 16 bits have neighbours along m or n side by side";
	return why;
}

const char *rule_wgmma(const Kernel *k, const Op *op)
{
	const char *why = check_atom(k, op);
	if (!why && (op->nix < 2 || op->nix > 3))
		why = "wgmma takes the bytes in A's and B's slot, and perhaps a scale";
	if (why || (why = check_pair(k, op, A_LBO)) || (why = check_pair(k, op, A_SBO)) ||
	    (why = check_pair(k, op, A_SWIZZLES)) || (why = check_swizzles(op, A_SWIZZLES)) ||
	    (why = check_mn_major(k, op)))
		return why;
	if (is_reg(IN(op, A).val->type) && (why = check_registers(k, op, 1)))
		return why;
	return check_registers(k, op, 0);
}

const char *rule_mma_sync(const Kernel *k, const Op *op)
{
	const char *why = check_atom(k, op);
	for (int i = 0; i < 3 && !why; i++)
		why = check_registers(k, op, i);
	return why;
}

/* Between registers and a tensor or a buffer: one vector, of equal elements. */
const char *rule_vector(const Kernel *k, const Op *op)
{
	int i = !is_reg(IN(op, TO).val->type);
	const Operand *regs = &op->in[i];
	int64_t n = attrs_int(&op->attrs, A_N, 1), bits = n * elem_rows[regs->val->type->elem].bits;
	if (IN(op, TO).val->type->elem != IN(op, FROM).val->type->elem)
		return "the tensor's and the registers' element types differ";
	if (bits % 8)
		return "an access is of whole bytes";
	if (n < 1 || n > 16 || (n & (n - 1)) || bits > 128)
		return ctx_strf(k->ctx, "a vector has 1, 2, 4 or 8 elements and at most 16 bytes");
	return check_registers(k, op, i);
}

/* What a load of indices holds them to. */
static const char *check_checks(const Op *op)
{
	int64_t mode = attrs_int(&op->attrs, A_CHECKS, -1);
	if (!HAS_IN(op, CHECKED))
		return mode < 0 ? NULL : "checks= needs a tensor, whose coordinates are loaded";
	if (mode < 0 || mode >= layout_rank(IN(op, CHECKED).val->type->layout))
		return "a load of a tensor's coordinates has checks=, a mode of the tensor";
	return IN(op, TO).val->type->elem == EL_I32 ? NULL : "coordinates of a tensor are s32";
}

const char *rule_load(const Kernel *k, const Op *op)
{
	const char *why = check_checks(op);
	return why ? why : rule_alike(k, op);
}

const char *rule_load_vector(const Kernel *k, const Op *op)
{
	const char *why = check_checks(op);
	return why ? why : rule_vector(k, op);
}

const char *rule_load_gather(const Kernel *k, const Op *op)
{
	const char *why = k->stage == ST_PTX ? rule_vector(k, op) : rule_alike(k, op);
	return why ? why : check_index(k, op);
}

/* All registers, or one where a condition holds. */
const char *rule_fill(const Kernel *k, const Op *op)
{
	if (!IN(op, TO).at)
		return op->nix ? "conditions are of a register that is named" : NULL;
	if (!op->nix || k->stage != ST_PTX)
		return "a register that is named is one of a thread's, with a condition";
	return check_registers(k, op, 0);
}

/* The tile says only where the elements lie. */
const char *rule_inside(const Kernel *k, const Op *op)
{
	const Type *v = IN(op, X).val->type, *tile = IN(op, FROM).val->type;
	const Attr *edges = attrs_get(&op->attrs, A_EDGES);
	if (edges->n != 2 || edges->i[0] + edges->i[1] < 1 || (edges->i[0] | edges->i[1]) != 1)
		return "'edges' is (1,0), (0,1) or (1,1)";
	if (op->out->type->layout != v->layout || op->out->type->elem != v->elem)
		return "the result has the type of its first operand";
	if (!IN(op, FROM).val->def || IN(op, FROM).val->def->kind != OP_TILE)
		return "the second operand is a tile of a tensor";
	return same_shape(k->ctx, v, tile)
		       ? NULL
		       : ctx_strf(k->ctx, "the shapes %s and %s differ",
				  layout_str(k->ctx, v->layout), layout_str(k->ctx, tile->layout));
}

/* Between registers and a buffer: matrices of 8 x 8, of each two registers. */
const char *rule_matrices(const Kernel *k, const Op *op)
{
	int i = !is_reg(IN(op, TO).val->type);
	int64_t n = attrs_int(&op->attrs, A_N, 4);
	int bits = elem_rows[op->in[i].val->type->elem].bits;
	bool bytes = bits == 8 && op->kind == OP_LDMATRIX && !attrs_int(&op->attrs, A_TRANS, 0);
	if (IN(op, TO).val->type->elem != IN(op, FROM).val->type->elem || (bits != 16 && !bytes))
		return "matrices have elements of 16 bits, in the buffer and in registers alike, "
		       "or are "
		       "loaded as rows of bytes";
	if (n != 1 && n != 2 && n != 4)
		return "an instruction moves 1, 2 or 4 matrices";
	return check_registers(k, op, i);
}

/* Registers of a larger tile, as many as the result has. */
const char *rule_part(const Kernel *k, const Op *op)
{
	const Type *from = IN(op, OF).val->type, *to = op->out->type;
	int64_t first;
	if (from->elem != to->elem || !from->tv || !to->tv)
		return "a part and the whole are spread tiles of equal elements";
	if (!IN(op, OF).at || !ix_is_const(IN(op, OF).at, &first))
		return "the operand names its first register, a constant";
	if (first < 0 || first > type_regs(from) - type_regs(to))
		return ctx_strf(k->ctx, "%d registers from %lld of %d", type_regs(to),
				(long long)first, type_regs(from));
	return NULL;
}

/* One element of a buffer to one of a tensor, at either stage. */
const char *rule_staged(const Kernel *k, const Op *op)
{
	(void)k;
	return IN(op, TO).val->type->elem == IN(op, FROM).val->type->elem
		       ? NULL
		       : "the tensor's and the buffer's element types differ";
}

const char *rule_unit(const Kernel *k, const Op *op)
{
	int64_t units = attrs_int(&op->attrs, A_COUNT, 0), n = attrs_int(&op->attrs, A_N, 0);
	if (!HAS_IX(op, LAST))
		return "st.unit needs a row's offset, a unit and four bytes in the slot";
	if (n < 4 || n > 16 || n * elem_rows[IN(op, FROM).val->type->elem].bits != 128)
		return "a unit is 16 bytes of elements of 4 bytes at most";
	if (units < 1 || units > 32 || 32 % units)
		return "the units of a row are stored by lanes of one warp";
	return rule_staged(k, op);
}

static void visit_foreign(void *user, const char *name)
{
	const Kernel **k = user;
	if (!strcmp(name, "sms"))
		return;
	for (int i = 0; *k && i < (*k)->syms.n; i++)
		if ((*k)->syms.at[i].name == name)
			return;
	*k = NULL;
}

/* The host evaluates the grid, so it knows arguments only. */
const char *rule_launch(const Kernel *k, const Op *op)
{
	const Kernel *known = k;
	if (kernel_find(k, OP_LAUNCH) != op)
		return "a kernel has one launch";
	for (int i = 0; i < op->nix && known; i++)
		ix_names(op->ix[i], visit_foreign, &known);
	return known ? NULL : "launch names the arguments' symbols only";
}

const char *rule_tickets(const Kernel *k, const Op *op)
{
	int64_t turns = attrs_int(&op->attrs, A_TURNS, 1);
	if (kernel_find(k, OP_TICKETS) != op)
		return "a kernel counts its turns once";
	return turns == 1 || turns == 2 ? NULL : "one or two warpgroups take tiles in turn";
}

const char *rule_load_async(const Kernel *k, const Op *op)
{
	int64_t bytes = attrs_int(&op->attrs, A_BYTES, 0);
	if (bytes != 4 && bytes != 8 && bytes != 16)
		return "cp.async copies 4, 8 or 16 bytes at a time";
	const char *why = check_index(k, op);
	return why ? why : rule_staged(k, op);
}

const char *rule_cp_async(const Kernel *k, const Op *op)
{
	int64_t bits = attrs_int(&op->attrs, A_N, 1) * elem_rows[IN(op, TO).val->type->elem].bits;
	if (!HAS_IX(op, ELEMENT))
		return "cp.async needs a byte in the slot and an element offset";
	if (bits != 32 && bits != 64 && bits != 128)
		return "cp.async copies 4, 8 or 16 bytes at a time";
	const char *why = check_index(k, op);
	return why ? why : rule_staged(k, op);
}

/* Where indices name the coordinates along a mode. */
static const char *check_gather(const Kernel *k, const Op *op)
{
	int64_t mode = attrs_int(&op->attrs, A_GATHER, -1);
	const Layout *to = op->out->type->layout;
	const Val *names = HAS_IN(op, INDEX) ? IN(op, INDEX).val : NULL;
	if (!names)
		return mode < 0 ? NULL : "gather= needs a tile of indices";
	if (mode < 0 || mode >= layout_rank(to))
		return "a tile with indices has gather=, a mode of the tensor";
	if (names->type->elem != EL_I32 || !names->def || names->def->kind != OP_TILE)
		return "indices are a tile of an s32 tensor";
	if (layout_size(k->ctx, layout_left(k->ctx, names->type->layout->shape)) !=
	    layout_size(k->ctx, layout_mode(k->ctx, to, (int)mode)))
		return "there is an index for each coordinate of the tile along gather=";
	return ix_is(op->ix[mode], 0) ? NULL : "the tile begins at 0 along gather=";
}

const char *rule_tile(const Kernel *k, const Op *op)
{
	const Type *from = IN(op, OF).val->type, *to = op->out->type;
	int rank = layout_rank(from->layout);
	if (op->nix != rank || layout_rank(to->layout) != rank)
		return ctx_strf(k->ctx, "a tile of a tensor of rank %d has %d indices and modes",
				rank, rank);
	if (from->elem != to->elem)
		return "a tile has its tensor's element type";
	if (tup_is_flat(from->layout->stride) && tup_is_flat(to->layout->stride) &&
	    from->layout->stride != to->layout->stride)
		return "a tile has its tensor's strides";
	return check_gather(k, op);
}
