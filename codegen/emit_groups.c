/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_groups.c - groups of rows, whose ends the device reads. A warp counts tiles of 128 groups at
 * a time, and finds that of a tile by looking at 32, a lane each, from where it was.
 *     groups.find g, first, last, before %ends (G, M, x) rows=128
 * ->  while x is not in these 32 and there are more: load 32 ends, the largest so far, the tiles so
 *     far (shfl.up); vote which lanes have passed x; the first of these has the group (shfl.idx) */
#include "codegen/cg.h"

enum { LANES = 32 };

/* What a warp knows of 32 groups. x grows from turn to turn, so they lie before it or around it. */
typedef enum {
	BASE,  /* the first of the groups */
	FIRST, /* a lane's: first row, the one after its last, tiles up to there */
	LAST,
	TILES,
	KEPT
} Keep;

typedef struct {
	Cg *g;
	const Op *op;
	LLVMValueRef at[KEPT]; /* storage */
	LLVMValueRef groups, rows;
	bool counts; /* rows are those of each group, of which so many are used */
} Walk;

static LLVMValueRef get(const Walk *w, Keep i)
{
	return LLVMBuildLoad2(w->g->b, w->g->m->i32, w->at[i], "");
}

static void put(const Walk *w, Keep i, LLVMValueRef v)
{
	LLVMBuildStore(w->g->b, v, w->at[i]);
}

/* Storage that each of the op's turns finds as the one before left it. */
static Walk walk_begin(Cg *g, const Op *op)
{
	Walk w = {.g = g, .op = op};
	LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
	LLVMPositionBuilderAtEnd(g->b, g->entry);
	for (int i = 0; i < KEPT; i++) {
		w.at[i] = LLVMBuildAlloca(g->b, g->m->i32, "");
		put(&w, (Keep)i, cg_int32(g, i == BASE ? -LANES : 0));
	}
	LLVMPositionBuilderAtEnd(g->b, here);
	w.groups = cg_i32(g, IX(op, GROUPS));
	w.rows = cg_i32(g, IX(op, ROWS));
	w.counts = attrs_int(&op->attrs, A_COUNTS, 0);
	return w;
}

static LLVMValueRef choose(Cg *g, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildSelect(g->b, LLVMBuildICmp(g->b, p, a, b, ""), a, b, "");
}

/* Of the lane so many below; lanes below those keep their own. */
static LLVMValueRef of_below(Cg *g, LLVMValueRef x, int by)
{
	LLVMValueRef args[4] = {cg_int32(g, -1), x, cg_int32(g, by), cg_int32(g, 0)};
	return cg_call(g, "llvm.nvvm.shfl.sync.up.i32", NULL, args, 4);
}

/* The largest, or the sum, of a lane's and of those below. */
static LLVMValueRef joined_below(Cg *g, LLVMValueRef x, bool largest)
{
	LLVMValueRef zero = cg_int32(g, 0);
	for (int by = 1; by < LANES; by *= 2) {
		LLVMValueRef below = of_below(g, x, by), some;
		some = LLVMBuildICmp(g->b, LLVMIntUGE, cg_lane(g), cg_int32(g, by), "");
		below = LLVMBuildSelect(g->b, some, below, zero, "");
		x = largest ? choose(g, LLVMIntSGT, x, below) : LLVMBuildAdd(g->b, x, below, "");
	}
	return x;
}

static LLVMValueRef tiles_of(const Walk *w, LLVMValueRef first, LLVMValueRef last)
{
	Cg *g = w->g;
	LLVMValueRef n = cg_int32(g, attrs_int(&w->op->attrs, A_ROWS, 1)), one = cg_int32(g, 1);
	LLVMValueRef up = LLVMBuildAdd(g->b, LLVMBuildSub(g->b, last, first, ""),
				       LLVMBuildSub(g->b, n, one, ""), "");
	return LLVMBuildUDiv(g->b, up, n, "");
}

/* The group, or after the last group that. */
static LLVMValueRef held(const Walk *w, LLVMValueRef group)
{
	LLVMValueRef last = LLVMBuildSub(w->g->b, w->groups, cg_int32(w->g, 1), "");
	return choose(w->g, LLVMIntSLT, group, last);
}

/* What is said of a group. */
static LLVMValueRef load_said(const Walk *w, LLVMValueRef group)
{
	Cg *g = w->g;
	const Val *ends = IN(w->op, ENDS).val;
	const Ix *step = tup_get(layout_flat(g->m->ctx, ends->type->layout)->stride, 0)->leaf;
	LLVMValueRef at = LLVMBuildSExt(g->b, held(w, group), g->m->i64, "");
	LLVMValueRef base = cg_global_ptr(g, ends, ix_const(g->m->ctx, 0));
	at = LLVMBuildMul(g->b, at, cg_i64(g, step), "");
	LLVMValueRef from = LLVMBuildGEP2(g->b, g->m->i32, base, &at, 1, "");
	LLVMValueRef end = LLVMBuildLoad2(g->b, g->m->i32, from, "");
	LLVMSetAlignment(end, 4);
	return end;
}

/* Rows of the group, of which so many are used; none after the last group. */
static LLVMValueRef rows_used(const Walk *w, LLVMValueRef group, LLVMValueRef said)
{
	Cg *g = w->g;
	LLVMValueRef zero = cg_int32(g, 0);
	LLVMValueRef is = LLVMBuildICmp(g->b, LLVMIntSLT, group, w->groups, "");
	said = choose(g, LLVMIntSGT, choose(g, LLVMIntSLT, said, w->rows), zero);
	return LLVMBuildSelect(g->b, is, said, zero, "");
}

/* What the groups up to here have together. */
static LLVMValueRef so_far(const Walk *w, Keep i)
{
	return cg_of_lane(w->g, get(w, i), cg_int32(w->g, LANES - 1));
}

/* The largest end of the lanes below, or what was the largest before. */
static LLVMValueRef before_lane(const Walk *w, LLVMValueRef largest, LLVMValueRef before)
{
	Cg *g = w->g;
	LLVMValueRef below = of_below(g, largest, 1);
	LLVMValueRef lowest = LLVMBuildICmp(g->b, LLVMIntEQ, cg_lane(g), cg_int32(g, 0), "");
	return LLVMBuildSelect(g->b, lowest, before, below, "");
}

/* The rows of a lane's group lie after those of the lanes below. */
static void rows_to_end(const Walk *w, LLVMValueRef end, LLVMValueRef *first, LLVMValueRef *last)
{
	Cg *g = w->g;
	LLVMValueRef rows = so_far(w, LAST);
	end = choose(g, LLVMIntSLT, end, w->rows);
	*last = joined_below(g, choose(g, LLVMIntSGT, end, rows), true);
	*first = before_lane(w, *last, rows);
}

/* The next 32 groups. */
static void look_on(const Walk *w)
{
	Cg *g = w->g;
	LLVMValueRef base = LLVMBuildAdd(g->b, get(w, BASE), cg_int32(g, LANES), ""), first, last;
	LLVMValueRef group = LLVMBuildAdd(g->b, base, cg_lane(g), "");
	LLVMValueRef said = load_said(w, group), before = so_far(w, TILES);
	first = cg_int32(g, 0);
	if (w->counts)
		last = rows_used(w, group, said);
	else
		rows_to_end(w, said, &first, &last);
	LLVMValueRef tiles = joined_below(g, tiles_of(w, first, last), false);
	tiles = LLVMBuildAdd(g->b, tiles, before, "");
	put(w, BASE, base);
	put(w, FIRST, first);
	put(w, LAST, last);
	put(w, TILES, tiles);
}

static LLVMValueRef has_more(const Walk *w)
{
	LLVMBuilderRef b = w->g->b;
	LLVMValueRef next = LLVMBuildAdd(b, get(w, BASE), cg_int32(w->g, LANES), "");
	return LLVMBuildICmp(b, LLVMIntSLT, next, w->groups, "");
}

/* Until tile x is among them. */
static void walk_to(const Walk *w, LLVMValueRef x)
{
	Cg *g = w->g;
	LLVMBasicBlockRef test = cg_new_block(g, "groups"), next = cg_new_block(g, "next"),
			  found = cg_new_block(g, "found");
	cg_goto(g, test);
	LLVMValueRef beyond = LLVMBuildICmp(g->b, LLVMIntSLE, so_far(w, TILES), x, "");
	LLVMValueRef more = LLVMBuildAnd(g->b, has_more(w), beyond, "");
	cg_branch(g, more, next, found, next);
	look_on(w);
	cg_leave(g, test, found);
}

static void bind(Cg *g, const Op *op, int i, LLVMValueRef v)
{
	IxFact fact = groups_fact(op, i, (IxFacts){.at = g->facts.at, .n = g->facts.n});
	cg_bind_name(g, op->sym[i], fact, v);
}

/* ------------------------------------------------------------------ all of them */
enum { EACH = 4 }; /* groups of a lane at a time, whose ends are loaded together */

/* A lane's, from `group` on, and what is said of them. */
typedef struct {
	LLVMValueRef group, said[EACH];
} Some;

/* Their tiles, where each group has rows of its own. */
static LLVMValueRef tiles_used(const Walk *w, const Some *s)
{
	Cg *g = w->g;
	LLVMValueRef all = cg_int32(g, 0);
	for (int i = 0; i < EACH; i++) {
		LLVMValueRef group = LLVMBuildAdd(g->b, s->group, cg_int32(g, i), "");
		cg_check_group(g, w->op, group, s->said[i], NULL);
		LLVMValueRef last = rows_used(w, group, s->said[i]);
		all = LLVMBuildAdd(g->b, all, tiles_of(w, cg_int32(g, 0), last), "");
	}
	return all;
}

/* Their tiles, where the rows of one lie after those of the one before. */
static LLVMValueRef tiles_to_ends(const Walk *w, const Some *s)
{
	Cg *g = w->g;
	LLVMValueRef all = cg_int32(g, 0), before = so_far(w, LAST), largest = before;
	for (int i = 0; i < EACH; i++) {
		LLVMValueRef end = choose(g, LLVMIntSLT, s->said[i], w->rows);
		largest = choose(g, LLVMIntSGT, end, largest);
	}
	largest = joined_below(g, largest, true);
	LLVMValueRef first = before_lane(w, largest, before);
	for (int i = 0; i < EACH; i++) {
		LLVMValueRef group = LLVMBuildAdd(g->b, s->group, cg_int32(g, i), "");
		cg_check_group(g, w->op, group, s->said[i], first);
		LLVMValueRef last = choose(g, LLVMIntSLT, s->said[i], w->rows);
		last = choose(g, LLVMIntSGT, last, first);
		all = LLVMBuildAdd(g->b, all, tiles_of(w, first, last), "");
		first = last;
	}
	put(w, LAST, largest);
	return all;
}

/* Those of each lane from `base` on: their tiles, on top of those before. */
static void count_some(const Walk *w, LLVMValueRef base)
{
	Cg *g = w->g;
	Some s;
	s.group = LLVMBuildMul(g->b, cg_lane(g), cg_int32(g, EACH), "");
	s.group = LLVMBuildAdd(g->b, base, s.group, "");
	for (int i = 0; i < EACH; i++)
		s.said[i] = load_said(w, LLVMBuildAdd(g->b, s.group, cg_int32(g, i), ""));
	LLVMValueRef tiles = w->counts ? tiles_used(w, &s) : tiles_to_ends(w, &s);
	LLVMValueRef args[2] = {tiles, cg_int32(g, -1)};
	tiles = cg_call(g, "llvm.nvvm.redux.sync.add", NULL, args, 2);
	put(w, TILES, LLVMBuildAdd(g->b, tiles, get(w, TILES), ""));
}

/* After the last group all are as the last, and have no tiles. */
void emit_GROUPS_COUNT(Cg *g, const Op *op)
{
	Walk w = walk_begin(g, op);
	LLVMBasicBlockRef test = cg_new_block(g, "groups"), next = cg_new_block(g, "next"),
			  done = cg_new_block(g, "counted");
	put(&w, BASE, cg_int32(g, 0));
	cg_goto(g, test);
	LLVMValueRef base = get(&w, BASE);
	cg_branch(g, LLVMBuildICmp(g->b, LLVMIntSLT, base, w.groups, ""), next, done, next);
	count_some(&w, base);
	put(&w, BASE, LLVMBuildAdd(g->b, base, cg_int32(g, LANES * EACH), ""));
	cg_leave(g, test, done);
	bind(g, op, 0, get(&w, TILES));
}

/* ------------------------------------------------------------------ one of them */

/* The first lane whose tiles reach beyond x; the last where none does. */
static LLVMValueRef lane_of(const Walk *w, LLVMValueRef x)
{
	Cg *g = w->g;
	LLVMValueRef args[2] = {cg_int32(g, -1),
				LLVMBuildICmp(g->b, LLVMIntSGT, get(w, TILES), x, "")};
	LLVMValueRef mask = cg_call(g, "llvm.nvvm.vote.ballot.sync", NULL, args, 2);
	LLVMValueRef all[2] = {LLVMBuildOr(g->b, mask, cg_int32(g, INT32_MIN), ""),
			       LLVMConstInt(g->m->i1, 1, false)};
	return cg_call(g, "llvm.cttz", g->m->i32, all, 2);
}

void emit_GROUPS_FIND(Cg *g, const Op *op)
{
	Walk w = walk_begin(g, op);
	LLVMValueRef x = cg_i32(g, IX(op, WHICH));
	walk_to(&w, x);
	LLVMValueRef lane = lane_of(&w, x), first = cg_of_lane(g, get(&w, FIRST), lane),
		     last = cg_of_lane(g, get(&w, LAST), lane);
	LLVMValueRef before = LLVMBuildSub(g->b, cg_of_lane(g, get(&w, TILES), lane),
					   tiles_of(&w, first, last), "");
	LLVMValueRef group = LLVMBuildAdd(g->b, get(&w, BASE), lane, "");
	LLVMValueRef end = LLVMBuildSub(g->b, w.groups, cg_int32(g, 1), "");
	bind(g, op, 0, choose(g, LLVMIntSLT, group, end));
	bind(g, op, 1, first);
	bind(g, op, 2, last);
	bind(g, op, 3, before);
}

/* ------------------------------------------------------------------ one that is known */
/* The largest of the ends before the group's, of EACH groups of each lane from `base` on. */
static LLVMValueRef largest_before(const Walk *w, LLVMValueRef base, LLVMValueRef group,
				   LLVMValueRef x)
{
	Cg *g = w->g;
	LLVMValueRef at[EACH], said[EACH];
	for (int i = 0; i < EACH; i++) {
		at[i] = LLVMBuildAdd(g->b, base, cg_lane(g), "");
		at[i] = LLVMBuildAdd(g->b, at[i], cg_int32(g, i * LANES), "");
		said[i] = load_said(w, at[i]);
	}
	for (int i = 0; i < EACH; i++) {
		LLVMValueRef is = LLVMBuildICmp(g->b, LLVMIntSLT, at[i], group, "");
		x = choose(g, LLVMIntSGT, LLVMBuildSelect(g->b, is, said[i], x, ""), x);
	}
	return x;
}

/* Lanes look at the groups before it. */
void emit_GROUPS_AT(Cg *g, const Op *op)
{
	Walk w = walk_begin(g, op);
	LLVMBasicBlockRef test = cg_new_block(g, "groups"), next = cg_new_block(g, "next"),
			  done = cg_new_block(g, "ends");
	LLVMValueRef group = held(&w, cg_i32(g, IX(op, WHICH))), said = load_said(&w, group);
	put(&w, BASE, cg_int32(g, 0));
	put(&w, LAST, cg_int32(g, 0));
	cg_goto(g, test);
	LLVMValueRef base = get(&w, BASE);
	cg_branch(g, LLVMBuildICmp(g->b, LLVMIntSLT, base, group, ""), next, done, next);
	put(&w, LAST, largest_before(&w, base, group, get(&w, LAST)));
	put(&w, BASE, LLVMBuildAdd(g->b, base, cg_int32(g, LANES * EACH), ""));
	cg_leave(g, test, done);
	LLVMValueRef args[2] = {get(&w, LAST), cg_int32(g, -1)};
	LLVMValueRef first = cg_call(g, "llvm.nvvm.redux.sync.max", NULL, args, 2);
	first = choose(g, LLVMIntSLT, first, w.rows);
	cg_check_group(g, op, group, said, first);
	LLVMValueRef last = choose(g, LLVMIntSLT, said, w.rows);
	last = choose(g, LLVMIntSGT, last, first);
	bind(g, op, 0, first);
	bind(g, op, 1, last);
	bind(g, op, 2, LLVMBuildSub(g->b, last, first, ""));
}
