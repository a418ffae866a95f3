/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* transpose.c - tensors that have their neighbours along the other mode than the threads their
 * vectors, as of a transposition: threads load such a tile, or store it, as the tensor lies, and
 * change to how they compute, or back, through shared memory. sync/exchange.c has them meet.
 *     load %x, %t                           columns of %x in each thread, rows of %t in memory
 * ->  load %y, %t ; store.shared %sX[t], %y ; load.shared %x, %sX[t] */
#include "layout/banks.h"
#include "passes/epilogue/exchange.h"
#include "passes/smem/operand_layout.h"
#include "passes/atoms/copy_choice.h"
#include "passes/why.h"

/* ------------------------------------------------------------------ the buffer's layout */
/* Of tiles that are written and read so, the layout with the fewest turns of the banks. */
typedef struct {
	Kernel *k;
	const Type *held;
	const Layout *put, *get;
	const Layout *best;
	BankUse put_use, get_use;
} Search;

static bool is_free(const Search *s)
{
	return s->best && s->put_use.worst == 1 && s->get_use.worst == 1;
}

static void try_layout(Search *s, const Layout *l)
{
	Ctx *c = s->k->ctx;
	const char *why = NULL;
	const Layout *put = layout_composition(c, l, s->put, &why);
	const Layout *get = layout_composition(c, l, s->get, &why);
	int64_t bytes = elem_rows[s->held->elem].bits / 8;
	if (!put || !get)
		return;
	BankUse p = bank_use(c, put, bytes), g = bank_use(c, get, bytes);
	if (s->best && p.total + g.total >= s->put_use.total + s->get_use.total)
		return;
	s->best = l;
	s->put_use = p;
	s->get_use = g;
}

/* Whether a number of elements is whole rows of a swizzle, or a part of one: smem/offset.c. */
static bool is_of_rows(int64_t n, int64_t row)
{
	return n % row == 0 || row % n == 0;
}

/* Rows, then columns, one after the other; units of 16 bytes are exchanged by bits of any place
 * above them. The first that is free of conflicts. */
static void search(Search *s)
{
	enum { MOST_BITS = 3 };
	Ctx *c = s->k->ctx;
	int64_t rows = layout_size_int(layout_mode(c, s->held->layout, 0));
	int64_t cols = layout_size_int(layout_mode(c, s->held->layout, 1));
	int unit = log2_of(8 * VECTOR_BYTES / elem_rows[s->held->elem].bits);
	for (int along = 1; along >= 0; along--) {
		const Layout *plain = along ? layout_2d(c, rows, cols, cols, 1)
					    : layout_2d(c, rows, cols, 1, rows);
		if (!is_free(s))
			try_layout(s, plain);
		for (int b = 1; b <= MOST_BITS; b++)
			for (int up = b; up <= log2_of(rows * cols) - unit - b && !is_free(s) &&
					 is_of_rows(along ? cols : rows, 1 << (unit + b));
			     up++)
				try_layout(s, layout_swizzled(c, (Swizzle){b, unit, up},
							      ix_int(s->k, 0), plain));
	}
}

/* ------------------------------------------------------------------ which tiles */
/* A load or a store of registers that goes through a buffer; as its tensor lies. */
typedef struct {
	Op *op;
	const Layout *tv;
	Val *buffer;
	const Ix *at;
} Change;
typedef VEC(Change) Changes;

static int regs_at(const Op *op)
{
	return IN(op, TO).val->type->space != SP_REG;
}

/* Along which mode the tensor has neighbours; -1: along neither that is known. */
static int mode_of_tensor(const Kernel *k, const Val *tile)
{
	for (int m = 1; m >= 0; m--)
		if (ix_is(tile_stride(k, tile, m), 1))
			return m;
	return -1;
}

/* Along which mode the first elements of a thread, or of a warp, lie side by side. */
static int mode_of_threads(Ctx *c, const Val *v)
{
	const Layout *values = layout_mode(c, v->type->tv, 1),
		     *lanes = layout_mode(c, v->type->tv, 0);
	int64_t next = layout_at_int(values, 1);
	if (type_regs(v->type) == 1 || (next != 1 && next != val_extent(v, 0)))
		next = layout_at_int(lanes, 1);
	return next % val_extent(v, 0) == 0;
}

static bool is_in_loops(const Op *op)
{
	const Op *up = op_parent(op);
	while (up && up->kind == OP_FOR)
		up = op_parent(up);
	return !up;
}

/* How threads hold the tile of a load or a store where it is to be as its tensor lies; NULL: it is,
 * or nobody knows how that lies. */
static const Layout *other_tv(Kernel *k, const Op *op)
{
	bool moves = (op->kind == (OpKind)way_rows[WAY_LOAD].first ||
		      op->kind == (OpKind)way_rows[WAY_STORE].first) &&
		     !combine_of(op);
	const Val *v = moves ? op->in[regs_at(op)].val : NULL;
	const Val *tile = moves ? op->in[1 - regs_at(op)].val : NULL;
	if (!v || !v->type->tv || val_is_vector(v) || elem_rows[v->type->elem].bits < 8 ||
	    !is_in_loops(op))
		return NULL;
	int along = mode_of_tensor(k, tile);
	return along < 0 || along == mode_of_threads(k->ctx, v) ? NULL
								: simt_along(k, v, tile, along);
}

static bool find_change(Kernel *k, Op *op, Change *out)
{
	const Layout *tv = other_tv(k, op);
	if (!tv)
		return false;
	const Type *held = op->in[regs_at(op)].val->type;
	const char *tensor = IN(op->in[1 - regs_at(op)].val->def, OF).val->name;
	bool load = !regs_at(op);
	Search s = {.k = k, .held = held, .put = load ? tv : held->tv, .get = load ? held->tv : tv};
	search(&s);
	const Type *t = s.best ? type_tile(k->ctx, SP_SHARED, held->elem, s.best) : NULL;
	if (!t || !exchange_fits(k, op, t))
		return false;
	*out = (Change){op, tv, exchange_buffer(k, op, tensor, t, 1), exchange_at(k, op, 1, 0)};
	why_turned(k, tensor, s.best, s.put_use.total + s.get_use.total,
		   s.put_use.parts + s.get_use.parts);
	return true;
}

/* ------------------------------------------------------------------ through the buffer */
static Op *put_into(Kernel *k, const Change *c, Val *v)
{
	Op *put = op_new(k, way_rows[WAY_EXCHANGE].first, c->op->loc);
	op_in(k, put, c->buffer, c->at);
	op_in(k, put, v, ix_int(k, 0));
	return put;
}

static Op *get_from(Kernel *k, const Change *c, Val *v)
{
	Op *get = op_new(k, way_rows[WAY_EXCHANGE].last, c->op->loc);
	op_in(k, get, v, ix_int(k, 0));
	op_in(k, get, c->buffer, c->at);
	return get;
}

/* Registers like v's, held the other way. */
static Val *frag_like(Kernel *k, const Change *c, const Val *v, Op *before)
{
	Op *frag = op_before(k, before, OP_FRAG);
	return op_result(k, frag, "y", type_frag(k->ctx, v->type->elem, v->type->layout, c->tv));
}

static Op *zeros_before(const Op *load)
{
	Op *fill = load->prev;
	return fill && fill->kind == OP_FILL && IN(fill, TO).val == IN(load, TO).val ? fill : NULL;
}

static void change_store(Kernel *k, const Change *c)
{
	Operand *from = &IN(c->op, FROM);
	Val *y = frag_like(k, c, from->val, c->op);
	op_insert_before(c->op, put_into(k, c, from->val));
	op_insert_before(c->op, get_from(k, c, y));
	from->val = y;
}

/* The load into registers of its own; what puts them into the buffer follows `last`, and what gets
 * them out of it `*after`. */
static void change_load(Kernel *k, const Change *c, Op *last, Op **behind)
{
	Val *x = IN(c->op, TO).val;
	Op *zeros = zeros_before(c->op);
	Val *y = frag_like(k, c, x, zeros ? zeros : c->op);
	if (zeros)
		IN(zeros, TO).val = y;
	IN(c->op, TO).val = y;
	op_insert_after(last, put_into(k, c, y));
	Op *get = get_from(k, c, x);
	op_insert_after(*behind == last ? last->next : *behind, get);
	*behind = get;
}

/* ------------------------------------------------------------------ loads first */
/* The ops of a load with nothing between: tile, registers, zeros, load. NULL: there is something.
 */
static Op *begin_of(Op *load)
{
	Op *zeros = zeros_before(load), *frag = zeros ? zeros->prev : load->prev;
	Op *tile = frag && frag->out == IN(load, TO).val ? frag->prev : NULL;
	return tile && tile->out == IN(load, FROM).val ? tile : NULL;
}

/* Loads of the block after this one, which threads would issue after a meeting otherwise; gives
 * the last. */
static Op *gather_loads(Op *first)
{
	Op *last = first;
	for (Op *op = first->next, *next; op; op = next) {
		next = op->next;
		if (op->kind == OP_LET || op->body)
			break;
		Op *from = op->kind == first->kind && !val_is_vector(IN(op, TO).val) ? begin_of(op)
										     : NULL;
		for (Op *part = from, *after; part; part = after) {
			after = part == op ? NULL : part->next;
			op_insert_after(last, part);
			last = part;
		}
	}
	return last;
}

PASS_OF(transpose)
{
	Changes loads = {0}, stores = {0};
	Change c;
	for (Op *op = kernel_first(k); op && !kernel_multiplies(k); op = op_next(op))
		if (find_change(k, op, &c)) {
			if (regs_at(op))
				vec_push(ctx_arena(k->ctx), &stores, c);
			else
				vec_push(ctx_arena(k->ctx), &loads, c);
		}
	Op *last = NULL, *behind = NULL;
	for (int i = 0; i < loads.n; i++) {
		if (!i || loads.at[i].op->block != last->block)
			behind = last = gather_loads(loads.at[i].op);
		change_load(k, &loads.at[i], last, &behind);
	}
	for (int i = 0; i < stores.n; i++)
		change_store(k, &stores.at[i]);
}
