/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* partial.c - reductions over a tile that is only a part of a row or a column. The result depends
 * on the tile's width. So a loop over the tiles carries it, tiles join it to an output, or an
 * output has an element for each tile; anything else is an error.
 *     gD[m,n] <- exp(x - rowmax(x));   an error, unless N <= 256 or D is (M,(256,T)): tiles of 256
 *     gS[m,n] <- rowmax(x);            right: S has an element for each tile
 *     S[m] <- max(S[m], rowmax(x));    right: tiles are joined */
#include "frontend/sema.h"

#include <inttypes.h>

/* The mode of a tensor that one dimension of a value lies along; tile NULL: none is known. */
typedef struct {
	const Op *tile;
	int mode;
} Span;

/* What a value has of a reduction over a part of a mode. */
typedef struct Part Part;
struct Part {
	const Op *reduce;
	Span span;
	const CombineRow *by; /* joins the values of all tiles to that of the mode; NULL: nothing
				 does */
	Part *next;
};

typedef struct {
	Span along[BUFFER_RANK];
	Part *parts;
} Origin;

typedef struct {
	Sema *s;
	PtrMap origins; /* Val -> Origin */
	PtrMap ended;   /* names of loops that are over; reductions that were reported */
} Walk;

/* ------------------------------------------------------------------ modes */
static int64_t extent_of(const Type *t, int mode)
{
	bool has = t->kind == TY_TILE && mode < layout_rank(t->layout);
	const Tup *extent = has ? tup_get(t->layout->shape, mode) : NULL;
	return extent && tup_is_leaf(extent) ? extent->leaf->value : 1;
}

static const Tup *mode_of(const Span *p)
{
	return tup_get(IN(p->tile, OF).val->type->layout->shape, p->mode);
}

const char *tensor_name(const Val *tile)
{
	while (tile->def)
		tile = IN(tile->def, OF).val;
	return tile->name;
}

/* A tile lies in the first part of a mode that has parts. */
static const Ix *first_part(const Span *p)
{
	const Tup *mode = mode_of(p);
	while (!tup_is_leaf(mode))
		mode = tup_get(mode, 0);
	return mode->leaf;
}

static bool is_whole(Sema *s, const Span *p)
{
	return !p->tile || ix_most(first_part(p), facts_seen(&s->facts)) <=
				   extent_of(p->tile->out->type, p->mode);
}

/* Along rows that indices name, the tile has as much as the tile of indices. */
static Span span_of(Sema *s, const Op *tile, int dim)
{
	ModeList matrix = type_modes(s->ctx, tile->out->type);
	int mode = matrix.at[dim < matrix.n ? dim : 0];
	if (attrs_int(&tile->attrs, A_GATHER, -1) != mode)
		return (Span){tile, mode};
	const Op *names = IN(tile, INDEX).val->def;
	return (Span){names, layout_rank(names->out->type->layout) - 1};
}

/* ------------------------------------------------------------------ where values come from */
static Origin *origin_of(Walk *w, const Val *v)
{
	Origin *o = ptrmap_get(&w->origins, v);
	if (!o) {
		o = NEW(w->s->arena, Origin);
		ptrmap_set(&w->origins, v, o);
	}
	return o;
}

/* Of several spans, that of which a value has only a part. */
static void add_span(Walk *w, Span *to, const Span *from)
{
	if (!to->tile || (is_whole(w->s, to) && !is_whole(w->s, from)))
		*to = *from;
}

static void add_part(Walk *w, Origin *to, const Part *p, const CombineRow *by)
{
	Part **at = &to->parts;
	while (*at && ((*at)->reduce != p->reduce || (*at)->span.mode != p->span.mode))
		at = &(*at)->next;
	if (!*at) {
		*at = NEW(w->s->arena, Part);
		**at = (Part){p->reduce, p->span, by, NULL};
	}
	(*at)->by = (*at)->by == by ? by : NULL;
}

/* keep: the value has not changed. */
static void add_parts(Walk *w, Origin *to, const Origin *from, bool keep)
{
	for (const Part *p = from->parts; p; p = p->next)
		add_part(w, to, p, keep ? p->by : NULL);
}

enum { SUMS = 1, MOSTS = 2 };
/* What may be done to a part, as the first or the second operand, before tiles are joined: a sum
 * takes what is linear, the largest and the least what only grows. */
static const struct {
	OpKind op;
	int may[2];
} keeps[] = {
	{OP_CVT, {SUMS | MOSTS}}, {OP_NEG, {SUMS}},          {OP_MUL, {SUMS | MOSTS, SUMS | MOSTS}},
	{OP_DIV, {SUMS | MOSTS}}, {OP_ADD, {MOSTS, MOSTS}},  {OP_SUB, {MOSTS}},
	{OP_MIN, {MOSTS, MOSTS}}, {OP_MAX, {MOSTS, MOSTS}},  {OP_CLAMP, {MOSTS}},
	{OP_RELU, {MOSTS}},       {OP_SQRT, {MOSTS}},        {OP_EXP, {MOSTS}},
	{OP_EXP2, {MOSTS}},       {OP_EXP2_APPROX, {MOSTS}}, {OP_LOG, {MOSTS}},
	{OP_LOG2, {MOSTS}},
};

/* A factor above 0: a number. Of others nothing is known. */
static bool is_positive(const Val *v)
{
	const Attr *value = v->def ? attrs_get(&v->def->attrs, A_VALUE) : NULL;
	return value && v->def->kind == OP_CONST && value->real > 0;
}

static bool keeps_one(const Op *op, int operand, int kind)
{
	bool scales = op->kind == OP_MUL || op->kind == OP_DIV;
	if (scales && kind == MOSTS && !is_positive(op->in[1 - operand].val))
		return false;
	for (size_t i = 0; i < COUNTOF(keeps) && operand < 2; i++)
		if (keeps[i].op == op->kind)
			return keeps[i].may[operand] & kind;
	return false;
}

/* Two parts are combined as tiles are joined. */
static bool keeps_both(const Op *op, const CombineRow *by)
{
	return op->kind == by->op || (op->kind == OP_SUB && by->op == OP_ADD);
}

/* Whether the values of all tiles are joined to that of the mode after op as before it. */
static bool keeps_part(Walk *w, const Op *op, int operand, const Part *p)
{
	int parts = 0;
	for (int i = 0; i < op->nin; i++)
		parts += origin_of(w, op->in[i].val)->parts != NULL;
	for (int d = 0; d < BUFFER_RANK; d++)
		if (extent_of(op->in[operand].val->type, d) != extent_of(op->out->type, d))
			return false;
	return p->by && (parts > 1 ? keeps_both(op, p->by)
				   : keeps_one(op, operand, p->by->op == OP_ADD ? SUMS : MOSTS));
}

/* The names in the index of a part's tile, and what they are to the tile that is written. */
typedef struct {
	const Walk *w;
	const Op *to;
	int names, named; /* all; those for each of which `to` has an element of its own */
	bool ended;       /* a loop went through the tiles */
} Indices;

static void see_name(void *user, const char *name)
{
	Indices *x = user;
	const Kernel *k = x->w->s->kernel;
	for (int i = 0; i < k->syms.n; i++)
		if (k->syms.at[i].name == name)
			return;
	x->ended |= ptrmap_get(&x->w->ended, name) != NULL;
	x->names++;
	for (int i = 0; i < x->to->nix; i++)
		if (extent_of(x->to->out->type, i) == 1 && ix_uses(x->to->ix[i], name)) {
			x->named++;
			return;
		}
}

/* Each tile along the part's mode has one of its own. */
static bool has_each(const Walk *w, const Op *tile, const Part *p)
{
	Indices x = {.w = w, .to = tile};
	ix_names(p->span.tile->ix[p->span.mode], see_name, &x);
	return x.names && x.named == x.names;
}

/* cumsum(x) + before: a value for each row, which a loop carries, declared as rows(..), or which
 * was read for each tile. */
static bool continues(const Walk *w, const Op *op, int operand, const Part *p)
{
	if (p->reduce->kind != OP_SCAN || op->kind != OP_ADD)
		return false;
	const Val *before = op->in[1 - operand].val;
	const Op *def = before->def, *set = def && def->kind == OP_FRAG ? def->next : NULL;
	if (!set || extent_of(before->type, 1) != 1)
		return false;
	return set->kind == OP_FILL ||
	       (set->kind == OP_COPY && IN(set, TO).val == before &&
		IN(set, FROM).val->def->kind == OP_TILE && has_each(w, IN(set, FROM).val->def, p));
}

static bool same_elements(const Span *a, const Span *b)
{
	return a->tile && b->tile && first_part(a) == first_part(b) &&
	       a->tile->ix[a->mode] == b->tile->ix[b->mode];
}

/* A vector along one mode of a square tile, of the elements that the other mode has. */
static void warn_of_side(Walk *w, Loc loc, const Val *v, const Val *tile)
{
	int d = extent_of(v->type, 0) == 1;
	int64_t n = extent_of(v->type, d);
	const Span *own = &origin_of(w, v)->along[d], *along = origin_of(w, tile)->along;
	if (extent_of(v->type, 1 - d) != 1 || n == 1 || extent_of(tile->type, 0) != n ||
	    extent_of(tile->type, 1) != n || !same_elements(own, &along[1 - d]) ||
	    same_elements(own, &along[d]))
		return;
	static const char *const side[] = {"rows", "columns"};
	const char *name = tensor_name(own->tile->out);
	diag(w->s->ctx, loc, D_W0212,
	     "this vector of '%s' lies along the %s of a tile, and is indexed as its %s are\n"
	     "transpose it: %s[..]'; if this is meant, -Wno-W0212 silences it",
	     name, side[d], side[1 - d], name);
}

static void walk_elementwise(Walk *w, const Op *op)
{
	Origin *out = origin_of(w, op->out);
	for (int i = 0; op->nin == 2 && i < 2; i++)
		warn_of_side(w, op->loc, op->in[i].val, op->in[1 - i].val);
	for (int i = 0; i < op->nin; i++) {
		const Origin *in = origin_of(w, op->in[i].val);
		const Type *t = op->in[i].val->type;
		for (int d = 0; d < BUFFER_RANK; d++)
			if (in->along[d].tile && extent_of(t, d) == extent_of(op->out->type, d))
				add_span(w, &out->along[d], &in->along[d]);
		for (const Part *p = in->parts; p; p = p->next)
			if (!continues(w, op, i, p))
				add_part(w, out, p, keeps_part(w, op, i, p) ? p->by : NULL);
	}
}

static void lie_along(Walk *w, const Val *v, const Op *tile)
{
	for (int d = 0; d < BUFFER_RANK; d++)
		origin_of(w, v)->along[d] = span_of(w->s, tile, d);
}

/* Its elements lie where those of the tile do. */
static void walk_inside(Walk *w, const Op *op)
{
	add_parts(w, origin_of(w, op->out), origin_of(w, IN(op, X).val), true);
	lie_along(w, op->out, IN(op, FROM).val->def);
}

static void walk_reduce(Walk *w, const Op *op)
{
	const Val *x = IN(op, X).val;
	const Origin *in = origin_of(w, x);
	Origin *out = origin_of(w, op->out);
	const CombineRow *by = combine_of(op);
	for (const Part *p = in->parts; p; p = p->next)
		add_part(w, out, p, p->by == by ? by : NULL);
	for (int d = 0; d < BUFFER_RANK; d++) {
		out->along[d] = in->along[d];
		if (!attrs_get(&op->attrs, A_N) && extent_of(op->out->type, d) == 1 &&
		    extent_of(x->type, d) > 1 && !is_whole(w->s, &in->along[d]))
			add_part(w, out, &(Part){.reduce = op, .span = in->along[d]}, by);
	}
}

/* A part of a row has the sums of what is before it but not of what other tiles have. */
static void walk_scan(Walk *w, const Op *op)
{
	const Origin *in = origin_of(w, IN(op, X).val);
	Origin *out = origin_of(w, op->out);
	add_parts(w, out, in, false);
	for (int d = 0; d < BUFFER_RANK; d++)
		out->along[d] = in->along[d];
	if (!is_whole(w->s, &in->along[1]))
		add_part(w, out, &(Part){.reduce = op, .span = in->along[1]}, NULL);
}

static void walk_copy(Walk *w, const Op *op)
{
	const Origin *from = origin_of(w, IN(op, FROM).val);
	Origin *to = origin_of(w, IN(op, TO).val);
	if (IN(op, TO).val->type->space == SP_SHARED)
		*to = (Origin){0}; /* a buffer holds its last fill alone */
	for (int d = 0; d < BUFFER_RANK; d++)
		add_span(w, &to->along[d], &from->along[d]);
	add_parts(w, to, from, true);
}

/* A sum over one tile that a number names, where the mode has more. */
static void warn_of_rest(Walk *w, const Op *op, int operand)
{
	const Val *v = op->in[1 + operand].val;
	Span p = origin_of(w, v)->along[!op_window(w->s->ctx, op, 1 + operand).turned];
	if (is_whole(w->s, &p) || !ix_is_const(p.tile->ix[p.mode], NULL) ||
	    ptrmap_get(&w->ended, p.tile))
		return;
	ptrmap_set(&w->ended, p.tile, w);
	const char *extent = ix_text(w->s->ctx, first_part(&p));
	diag(w->s->ctx, p.tile->loc, D_W0210,
	     "the mma sums over this tile of %" PRId64 ", and mode %d of '%s' has %s elements: the "
	     "others are left out\n"
	     "write where %s <= %" PRId64 ", or go through its tiles in a loop; if this is meant, "
	     "-Wno-W0210 silences it",
	     extent_of(p.tile->out->type, p.mode), p.mode, tensor_name(p.tile->out), extent, extent,
	     extent_of(p.tile->out->type, p.mode));
}

/* Its rows are those of A, its columns the rows of B. */
static void walk_mma(Walk *w, const Op *op)
{
	for (int i = 0; i < 2; i++)
		warn_of_rest(w, op, i);
	Origin *acc = origin_of(w, IN(op, TO).val);
	bool swap = attrs_get(&op->attrs, A_SWAP);
	for (int i = 0; i < 2; i++) {
		const Origin *in = origin_of(w, op->in[1 + (i ^ swap)].val);
		add_span(w, &acc->along[i], &in->along[0]);
		add_parts(w, acc, in, false);
	}
}

/* ------------------------------------------------------------------ what is written */
static bool may_be_written(const Walk *w, const Op *copy, const Part *p)
{
	Indices x = {.w = w, .to = IN(copy, TO).val->def};
	const CombineRow *by = combine_of(copy);
	ix_names(p->span.tile->ix[p->span.mode], see_name, &x);
	return x.ended || (x.names && (x.named == x.names || (by && by == p->by)));
}

enum { MMA_COLUMNS = 256 };

/* How one tile is the mode, or its first part; "": after an mma none is so wide. Tiles have powers
 * of two, and may be wider than a mode without parts. */
static const char *say_one_tile(Walk *w, const Part *p, const char *first, int64_t tile)
{
	Ctx *c = w->s->ctx;
	int64_t extent, wide = 1;
	if (!ix_is_const(first_part(&p->span), &extent))
		return ctx_strf(c, "write where %s <= %" PRId64 "; or, ", first, tile);
	while (wide < extent)
		wide *= 2;
	wide = tup_is_leaf(mode_of(&p->span)) ? wide : extent;
	if (w->s->mma_loc.src >= 0 && wide > MMA_COLUMNS)
		return "";
	return ctx_strf(c, "divide it into tiles of %" PRId64 "; or, ", wide);
}

static const char *help_scan(const Walk *w, Elem e)
{
	if (w->s->mma_loc.src >= 0)
		return "let the next kernel sum what this one writes";
	if (e != EL_F32)
		return "add what an earlier kernel summed up before each tile, gP = P / (.., 1): "
		       "cumsum(x) + gP[m,n]";
	return "add what a loop over the tiles carries, before : f32 rows(..): cumsum(x) + before";
}

static const char *remedy(Walk *w, const Op *copy, const Part *p, const char *first)
{
	Ctx *c = w->s->ctx;
	int64_t tile = extent_of(p->span.tile->out->type, p->span.mode);
	if (combine_of(copy) && p->by && p->by != combine_of(copy))
		return ctx_strf(c, "join tiles by %s, too", p->by->name);
	if (p->reduce->kind == OP_SCAN)
		return ctx_strf(c, "%s%s", say_one_tile(w, p, first, tile),
				help_scan(w, p->reduce->out->type->elem));
	return ctx_strf(c,
			"%sfor a value of each %" PRId64 " elements, declare the mode as (%" PRId64
			",T) in each tensor that has it; or %s",
			say_one_tile(w, p, first, tile), tile, tile,
			w->s->mma_loc.src < 0
				? "go through its tiles in a loop, with row vectors"
				: "join what each tile leaves to an output, for the next launch");
}

static void report(Walk *w, const Op *copy, const Part *p)
{
	const char *first = ix_text(w->s->ctx, first_part(&p->span));
	const Op *tile = p->span.tile;
	DiagMsg *m =
		diag(w->s->ctx, p->reduce->loc, D_E0314,
		     "this %s is of a tile of %" PRId64 ", and %smode %d of '%s' has %s "
		     "elements: what is %s '%s' would depend on the tile's width",
		     p->reduce->kind == OP_SCAN ? "running sum" : combine_of(p->reduce)->name,
		     extent_of(tile->out->type, p->span.mode),
		     tup_is_leaf(mode_of(&p->span)) ? "" : "the first part of ", p->span.mode,
		     tensor_name(tile->out), first, combine_of(copy) ? "joined to" : "written to",
		     tensor_name(IN(copy, TO).val));
	diag_note(w->s->ctx, m, copy->loc, "it is written here");
	diag_remedy(w->s->ctx, m, "%s", remedy(w, copy, p, first));
}

/* Of several reductions that a value is made of, the first that was not reported. */
static void walk_store(Walk *w, const Op *op)
{
	const Part *p = origin_of(w, IN(op, FROM).val)->parts;
	while (p && (may_be_written(w, op, p) || ptrmap_get(&w->ended, p->reduce)))
		p = p->next;
	if (!p)
		return;
	ptrmap_set(&w->ended, p->reduce, w);
	report(w, op, p);
}

static void walk_op(Walk *w, const Op *op)
{
	bool copy = op->kind == OP_COPY;
	if (op->kind == OP_TILE)
		lie_along(w, op->out, op);
	else if (op->kind == OP_INSIDE)
		walk_inside(w, op);
	else if (op->kind == OP_REDUCE)
		walk_reduce(w, op);
	else if (op->kind == OP_SCAN)
		walk_scan(w, op);
	else if (op->kind == OP_MMA)
		walk_mma(w, op);
	else if (copy && IN(op, TO).val->type->space == SP_GLOBAL)
		walk_store(w, op);
	else if (copy)
		walk_copy(w, op);
	else if (op_rows[op->kind].flags & OPF_ELT)
		walk_elementwise(w, op);
}

static void walk_block(Walk *w, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		walk_op(w, op);
		if (!op->body)
			continue;
		walk_block(w, op->body);
		for (int i = 0; i < op->nsym; i++)
			ptrmap_set(&w->ended, op->sym[i], w);
	}
}

void reductions_fit(Sema *s)
{
	Walk w = {.s = s, .origins.arena = s->arena, .ended.arena = s->arena};
	walk_block(&w, &s->kernel->body);
}
