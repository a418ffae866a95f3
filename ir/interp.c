/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* interp.c - the meaning of a kernel: runs the tile stage op by op, tile by tile, as if one thread
 * did it in order. No schedule, no layouts, no pipeline. A sum of products is kept in f64 from its
 * fill on and rounded to f32 where it is read; every other op rounds as its row says. After the
 * pass `tiles` there is a launch in place of the grid: then the body runs once for every CTA. */
#include "ir/interp.h"
#include "base/ptrmap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
	const char *name; /* interned */
	int64_t value;
} Bound;

struct Interp {
	const Kernel *k;
	const InterpRun *run;
	Arena *arena, *scratch;
	PtrMap slots, joined;
	VEC(Bound) env; /* innermost last */
	double *wide;   /* scratch of mma */
	int64_t nwide;
	const char *why;
};

bool interp_fail(Interp *in, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	in->why = ctx_vstrf(in->k->ctx, fmt, ap);
	va_end(ap);
	return false;
}

/* ------------------------------------------------------------------ names */
void interp_bind(Interp *in, const char *name, int64_t value)
{
	vec_push(in->arena, &in->env, ((Bound){name, value}));
}

static bool lookup(void *user, const char *name, int64_t *v)
{
	const Interp *in = user;
	for (int i = in->env.n; i-- > 0;)
		if (in->env.at[i].name == name) {
			*v = in->env.at[i].value;
			return true;
		}
	return false;
}

static bool eval(Interp *in, const Ix *x, int64_t *v)
{
	if (ix_eval(x, lookup, in, v))
		return true;
	Buf b = {0};
	ix_print(x, &b);
	interp_fail(in,
		    "'%s' has no value: a name in it is unknown, it overflows 64 bits or "
		    "divides by zero",
		    b.s);
	buf_free(&b);
	return false;
}

bool interp_eval(Interp *in, const Ix *x, int64_t *v)
{
	return eval(in, x, v);
}

/* ------------------------------------------------------------------ values */
static void slot_shape(Slot *s, Ctx *c)
{
	s->n = 1;
	if (s->type->kind != TY_TILE)
		return;
	s->rank = layout_rank(s->type->layout);
	for (int i = 0; i < s->rank; i++) {
		const Ix *size = tup_product(c, tup_get(s->type->layout->shape, i));
		if (!ix_is_const(size, &s->dim[i]))
			panic("a tile's extents are constants");
		s->n *= s->dim[i];
	}
}

static Elements elements_new(Interp *in, int64_t n)
{
	Elements e = {.f = NEWN(in->arena, double, n)};
	if (in->run->lo) {
		e.lo = NEWN(in->arena, double, n);
		e.hi = NEWN(in->arena, double, n);
	}
	return e;
}

/* Element i is exactly v. */
void element_is(const Elements *e, int64_t i, double v)
{
	e->f[i] = v;
	if (e->lo)
		e->lo[i] = e->hi[i] = v;
}

/* Made when the value is first defined; later rounds of a loop use it again. */
static Slot *slot_of(Interp *in, const Val *v)
{
	Slot *s = ptrmap_get(&in->slots, v);
	if (s)
		return s;
	s = NEW(in->arena, Slot);
	s->type = v->type;
	slot_shape(s, in->k->ctx);
	s->at = elements_new(in, s->n);
	ptrmap_set(&in->slots, v, s);
	return s;
}

/* Sums of integers wrap, as those of wgmma do (PTX ISA: wgmma without .satfinite). They are exact:
 * doubles hold integers up to 2^53. */
static double sum_round(Elem e, double x)
{
	if (elem_is_float(e))
		return elem_round(e, x);
	double range = ldexp(1, elem_rows[e].bits), turn = floor(x / range + 0.5);
	return elem_rows[e].cls == 'S' ? x - turn * range : x - floor(x / range) * range;
}

static void sums_round(Elem e, double *to, const double *from, int64_t n)
{
	for (int64_t i = 0; i < n && to; i++)
		to[i] = sum_round(e, from[i]);
}

static Slot *slot_read(Interp *in, Slot *s)
{
	if (s->tensor && s->n) {
		if (!s->at.f)
			s->at = elements_new(in, s->n);
		tensor_load(s, s->at.f, in->scratch);
		for (int64_t i = 0; i < s->n && s->at.lo; i++)
			element_is(&s->at, i, s->at.f[i]);
	}
	if (s->wide.f) {
		Elem e = s->type->elem;
		sums_round(e, s->at.f, s->wide.f, s->n);
		sums_round(e, s->at.lo, s->wide.lo, s->n);
		sums_round(e, s->at.hi, s->wide.hi, s->n);
	}
	return s;
}

static void copy_all(double *to, const double *from, int64_t n)
{
	if (to)
		memmove(to, from, (size_t)n * sizeof *from);
}

static void elements_copy(const Elements *to, const Elements *from, int64_t n)
{
	copy_all(to->f, from->f, n);
	copy_all(to->lo, from->lo, n);
	copy_all(to->hi, from->hi, n);
}

static void slot_write(Interp *in, const Slot *s, const Elements *from)
{
	if (s->tensor && s->n)
		tensor_store(s, from, in->scratch);
	else
		elements_copy(s->wide.f ? &s->wide : &s->at, from, s->n);
	sums_begin(s, from);
}

static Slot *operand(Interp *in, const Op *op, int i)
{
	return slot_of(in, op->in[i].val);
}

const Slot *interp_operand(Interp *in, const Op *op, int i)
{
	return operand(in, op, i);
}

double *interp_elements(Interp *in, const Slot *tensor)
{
	double *at = NEWN(in->arena, double, tensor->n + 1);
	if (tensor->n)
		tensor_load(tensor, at, in->scratch);
	return at;
}

/* ------------------------------------------------------------------ control */
static bool run_block(Interp *in, const Block *b);

enum { MAX_CARRIED = 16 };

static bool add_steps(Interp *in, const Op *loop, int64_t *carried)
{
	int64_t step;
	for (int c = 1; c < loop->nsym; c++) {
		if (!eval(in, for_step(loop, c), &step))
			return false;
		if (__builtin_add_overflow(carried[c], step, &carried[c]))
			return interp_fail(in, "a number that a loop carries overflows 64 bits");
	}
	return true;
}

static bool run_for(Interp *in, const Op *op)
{
	int64_t from, to;
	if (!eval(in, IX(op, FROM), &from) || !eval(in, IX(op, TO), &to))
		return false;
	int n = in->env.n;
	int64_t carried[MAX_CARRIED];
	bool ok = op->nsym <= MAX_CARRIED || interp_fail(in, "a loop carries more than 16 numbers");
	for (int c = 1; c < op->nsym && ok; c++)
		ok = eval(in, for_start(op, c), &carried[c]);
	for (int64_t i = from; i < to && ok; i++) {
		interp_bind(in, op->sym[0], i);
		for (int c = 1; c < op->nsym; c++)
			interp_bind(in, op->sym[c], carried[c]);
		ok = run_block(in, op->body) && add_steps(in, op, carried);
		in->env.n = n;
	}
	return ok;
}

static bool run_if(Interp *in, const Op *op)
{
	for (int i = 0; i < op->nix; i++) {
		int64_t holds;
		if (!eval(in, op->ix[i], &holds))
			return false;
		if (!holds)
			return true;
	}
	return run_block(in, op->body);
}

static bool run_let(Interp *in, const Op *op)
{
	int64_t v;
	if (!eval(in, IX(op, VALUE), &v))
		return false;
	interp_bind(in, op->sym[0], v);
	return true;
}

static int64_t last_offset(const Tensor *t)
{
	int64_t last = 0;
	for (int i = 0; i < t->rank; i++)
		for (int j = 0; j < t->mode[i].n; j++)
			last += (t->mode[i].extent[j] - 1) * t->mode[i].stride[j];
	return last;
}

static bool run_number(Interp *in, const Op *op)
{
	const Slot *of = operand(in, op, 0);
	const Tensor *t = of->tensor;
	int64_t at, holds = of->n > 0;
	for (int i = IX_PLACE(op, COND); i < op->nix && holds; i++)
		if (!eval(in, op->ix[i], &holds))
			return false;
	if (!eval(in, IX(op, WHICH), &at))
		return false;
	if (holds && (at < 0 || at > last_offset(t)))
		return interp_fail(in, "a number lies outside of its tensor");
	interp_bind(in, op->sym[0],
		    holds ? (int64_t)elem_get(t->elem, t->data, t->offset + at) : 0);
	return true;
}

bool interp_wanted(const Interp *in, int64_t tile)
{
	return !in->run->tile || in->run->tile(in->run->user, tile);
}

bool interp_with(Interp *in, const char *const *names, const int64_t *values, int n, const Block *b)
{
	int before = in->env.n;
	for (int i = 0; i < n; i++)
		interp_bind(in, names[i], values[i]);
	bool ok = run_block(in, b);
	in->env.n = before;
	return ok;
}

/* ------------------------------------------------------------------ data */
/* Memory starts out as NaN, so that reading what nobody wrote shows. */
static bool run_shared(Interp *in, const Op *op)
{
	Slot *s = slot_of(in, op->out);
	for (int64_t i = 0; i < s->n; i++)
		element_is(&s->at, i, NAN);
	return true;
}

static bool run_frag(Interp *in, const Op *op)
{
	Slot *s = slot_of(in, op->out);
	if (!s->wide.f)
		s->wide = elements_new(in, s->n);
	if (in->run->lo && !s->sums.unit)
		s->sums = (Sums){NEWN(in->arena, double, s->n), NEWN(in->arena, double, s->n),
				 NEWN(in->arena, double, s->n)};
	for (int64_t i = 0; i < s->n; i++)
		element_is(&s->wide, i, NAN);
	return true;
}

static bool run_const(Interp *in, const Op *op)
{
	element_is(&slot_of(in, op->out)->at, 0,
		   elem_round(op->out->type->elem, attrs_get(&op->attrs, A_VALUE)->real));
	return true;
}

/* Rounded once to a float, or its low bits. */
static bool run_sizeval(Interp *in, const Op *op)
{
	int64_t v;
	if (!eval(in, IX(op, VALUE), &v))
		return false;
	Elem e = op->out->type->elem;
	double x = elem_is_float(e) ? (double)v : (double)(int32_t)v;
	x = e == EL_F32 ? (double)(float)v : elem_is_float(e) ? x : elem_wrap(e, x);
	element_is(&slot_of(in, op->out)->at, 0, x);
	return true;
}

static bool run_series(Interp *in, const Op *op)
{
	const Slot *s = slot_of(in, op->out);
	int64_t from;
	if (!eval(in, IX(op, FROM), &from))
		return false;
	for (int64_t i = 0; i < s->n; i++)
		element_is(&s->at, i, elem_wrap(s->type->elem, (double)(from + i)));
	return true;
}

static bool run_fill(Interp *in, const Op *op)
{
	Slot *s = operand(in, op, 0);
	double v = elem_round(s->type->elem, attrs_get(&op->attrs, A_VALUE)->real);
	for (int64_t i = 0; i < s->n; i++)
		element_is(&s->wide, i, v);
	sums_begin(s, &s->wide);
	return true;
}

/* Its slot is the whole tensor as one tile. */
static bool bind_tensor(Interp *in, const Val *v, Tensor of)
{
	Tensor *t = NEW(in->arena, Tensor);
	Slot *s = NEW(in->arena, Slot);
	*t = of;
	t->elem = v->type->elem;
	t->rank = layout_rank(v->type->layout);
	*s = (Slot){.type = v->type, .rank = t->rank, .tensor = t};
	ptrmap_set(&in->slots, v, s);
	return tensor_bind(in, v->type->layout, t, s) &&
	       (t->data || !s->n || interp_fail(in, "the tensor '%s' has no data", v->name));
}

/* Of the same memory. */
static bool run_view(Interp *in, const Op *op)
{
	const Tensor *t = operand(in, op, 0)->tensor;
	Tensor of = {.data = t->data, .lo = t->lo, .hi = t->hi, .wrote = t->wrote};
	return bind_tensor(in, op->out, of);
}

static void name_coordinates(Interp *in, const Op *op, Slot *s)
{
	const Slot *indices = operand(in, op, 1);
	if (!s->named)
		s->named = NEWN(in->arena, double, indices->n);
	tensor_names(indices, s->named, in->scratch);
	s->gather = (int)attrs_int(&op->attrs, A_GATHER, 0);
}

static bool run_tile(Interp *in, const Op *op)
{
	Slot *s = slot_of(in, op->out), *from = operand(in, op, 0);
	for (int i = 0; i < op->nix; i++) {
		if (!eval(in, op->ix[i], &s->origin[i]))
			return false;
		if (__builtin_add_overflow(s->origin[i], from->origin[i], &s->origin[i]))
			return interp_fail(in, "the origin of a tile overflows 64 bits");
	}
	s->tensor = from->tensor;
	int rows = (int)attrs_int(&op->attrs, A_RAGGED, interp_rows_of(s));
	s->ends = IN(op, OF).at ? 1 + rows : 0;
	if (s->ends && !eval(in, IN(op, OF).at, &s->end))
		return false;
	if (op->nin > 1)
		name_coordinates(in, op, s);
	return true;
}

/* Of an operand that was read, what the op reads; scratch holds it where that is a part. */
static bool operand_part(Interp *in, const Op *op, int i, Slot *out)
{
	int64_t begin;
	*out = *operand(in, op, i);
	if (!op_window_attr(op, i))
		return true;
	Window w = op_window(in->k->ctx, op, i);
	if (w.begin && !interp_eval(in, w.begin, &begin))
		return false;
	int64_t most = window_room(in->k->ctx, out->type, w);
	if (w.begin)
		w.at[w.moves] += begin < 0 ? 0 : begin > most ? most : begin;
	*out = slot_window(out, w, in->scratch);
	return true;
}

static bool run_copy(Interp *in, const Op *op)
{
	slot_read(in, operand(in, op, 1));
	const Slot *to = operand(in, op, 0);
	Slot from;
	const Joining j = {combine_of(op), &in->joined};
	if (!operand_part(in, op, 1, &from))
		return false;
	if (j.by && to->n)
		tensor_join(&j, to, &from, in->scratch);
	else
		slot_write(in, to, &from.at);
	return true;
}

static bool run_mma(Interp *in, const Op *op)
{
	bool swap = attrs_int(&op->attrs, A_SWAP, 0);
	Slot *c = operand(in, op, 0);
	slot_read(in, operand(in, op, 1));
	slot_read(in, operand(in, op, 2));
	Slot a, b;
	if (!operand_part(in, op, 1 + swap, &a) || !operand_part(in, op, 2 - swap, &b))
		return false;
	const AtomRow *atom = &atom_rows[attrs_get(&op->attrs, A_ATOM)->atom.id];
	int64_t need = a.n + b.n;
	if (need > in->nwide) {
		in->wide = NEWN(in->arena, double, need);
		in->nwide = need;
	}
	const Attr *depth = attrs_get(&op->attrs, A_DEPTH);
	int64_t from = depth ? depth->i[0] : 0, k = depth ? depth->i[1] - from : a.dim[1];
	if (in->run->lo)
		mma_bounds(c, &a, &b, from, k, atom->fraction, in->scratch);
	else
		mma_f64(c->wide.f, a.at.f + from, b.at.f + from, c->dim[0], c->dim[1], k, a.dim[1],
			in->wide);
	arena_reset(in->scratch);
	return true;
}

static bool run_cvt(Interp *in, const Op *op)
{
	if (attrs_get(&op->attrs, A_PLUS))
		return interp_fail(in,
				   "the interpreter runs what programs say: plus= is of a pass");
	cvt_run(slot_of(in, op->out), slot_read(in, operand(in, op, 0)));
	return true;
}

static bool run_elementwise(Interp *in, const Op *op)
{
	Slot *operands[3] = {NULL};
	for (int i = 0; i < op->nin; i++)
		operands[i] = slot_read(in, operand(in, op, i));
	elt_run(op, slot_of(in, op->out), operands);
	return true;
}

static bool run_reduce(Interp *in, const Op *op)
{
	reduce_run(combine_of(op), slot_of(in, op->out), slot_read(in, operand(in, op, 0)));
	return true;
}

static bool run_scan(Interp *in, const Op *op)
{
	scan_run(slot_of(in, op->out), slot_read(in, operand(in, op, 0)));
	return true;
}

static bool run_inside(Interp *in, const Op *op)
{
	const Slot *out = slot_of(in, op->out);
	double v = elem_round(out->type->elem, attrs_get(&op->attrs, A_VALUE)->real);
	cvt_run(out, slot_read(in, operand(in, op, 0)));
	tensor_inside(operand(in, op, 1), &out->at, v, attrs_get(&op->attrs, A_EDGES)->i,
		      in->scratch);
	return true;
}

static bool run_nothing(Interp *in, const Op *op)
{
	(void)in, (void)op;
	return true;
}

static bool (*const runs[OP_COUNT])(Interp *, const Op *) = {
	[OP_FOR] = run_for,          [OP_IF] = run_if,
	[OP_LET] = run_let,          [OP_CONST] = run_const,
	[OP_FRAG] = run_frag,        [OP_FILL] = run_fill,
	[OP_CVT] = run_cvt,          [OP_SHARED] = run_shared,
	[OP_GRID] = run_grid,        [OP_RING] = run_nothing,
	[OP_TILE] = run_tile,        [OP_COPY] = run_copy,
	[OP_SIZEVAL] = run_sizeval,  [OP_SERIES] = run_series,
	[OP_LAUNCH] = run_nothing,   [OP_MMA] = run_mma,
	[OP_REDUCE] = run_reduce,    [OP_VIEW] = run_view,
	[OP_INSIDE] = run_inside,    [OP_GROUPS_COUNT] = run_count,
	[OP_GROUPS_FIND] = run_find, [OP_GROUPS_AT] = run_at,
	[OP_TICKETS] = run_tickets,  [OP_TICKET_AT] = run_ticket,
	[OP_NUMBER] = run_number,    [OP_SCAN] = run_scan,
};

static bool run_op(Interp *in, const Op *op)
{
	if (elt_by_op(op->kind))
		return run_elementwise(in, op);
	if (runs[op->kind])
		return runs[op->kind](in, op);
	return interp_fail(in, "the interpreter runs the tile stage; '%s' is not of it",
			   op_rows[op->kind].name);
}

static bool run_block(Interp *in, const Block *b)
{
	int n = in->env.n;
	bool ok = true;
	for (const Op *op = b->first; op && ok; op = op->next)
		ok = run_op(in, op);
	in->env.n = n;
	return ok;
}

/* ------------------------------------------------------------------ CTAs */
static bool run_ctas(Interp *in, const Op *launch)
{
	Ctx *c = in->k->ctx;
	const Attr *a = attrs_get(&in->k->attrs, A_CLUSTER);
	int64_t ctas = 1, cluster = 1, tiles = a ? a->i[0] * a->i[1] : 1;
	for (int i = 0; i < launch->nix; i++) {
		int64_t n;
		if (!eval(in, launch->ix[i], &n))
			return false;
		ctas *= n;
	}
	for (int i = 0; a && i < a->n; i++)
		cluster *= a->i[i];
	int n = in->env.n;
	bool ok = true;
	for (int64_t cta = 0; cta < ctas && ok; cta++) {
		if (cta % cluster >= tiles) /* of the same tile, which is whole at this stage */
			continue;
		if (!interp_wanted(in, cta))
			continue;
		interp_bind(in, ctx_str(c, "cta"), cta);
		interp_bind(in, ctx_str(c, "ctas"), ctas);
		interp_bind(in, ctx_str(c, "rank"), cta % cluster);
		interp_bind(in, ctx_str(c, "cluster"), cta / cluster);
		interp_bind(in, ctx_str(c, "clusters"), ctas / cluster);
		ok = run_block(in, &in->k->body);
		in->env.n = n;
	}
	return ok;
}

static bool run_kernel(Interp *in)
{
	const Op *launch = kernel_find(in->k, OP_LAUNCH);
	return launch ? run_ctas(in, launch) : run_block(in, &in->k->body);
}

/* ------------------------------------------------------------------ what the caller binds */
static bool bind_sym(Interp *in, const IxFact *f)
{
	for (int i = 0; i < in->run->nsyms; i++) {
		int64_t v = in->run->syms[i].value;
		if (strcmp(in->run->syms[i].name, f->name) != 0)
			continue;
		if (v < f->lo || v > f->hi)
			return interp_fail(in, "%s = %" PRId64 " is not in %" PRId64 "..%" PRId64,
					   f->name, v, f->lo, f->hi);
		if (v % f->div)
			return interp_fail(in, "%s = %" PRId64 " is not a multiple of %" PRId64,
					   f->name, v, f->div);
		interp_bind(in, f->name, v);
		return true;
	}
	return interp_fail(in, "the symbol '%s' has no value", f->name);
}

static bool check_fact(Interp *in, const Fact *f)
{
	int64_t holds;
	if (!eval(in, f->cond, &holds))
		return false;
	return holds || interp_fail(in, "'%s' does not hold (%s)", f->text, f->rule);
}

static Tensor tensor_of(const InterpRun *run, int i)
{
	return (Tensor){.data = run->args[i].data,
			.lo = run->lo ? run->lo[i] : NULL,
			.hi = run->hi ? run->hi[i] : NULL,
			.wrote = run->wrote ? run->wrote[i] : NULL};
}

static bool bind_arg(Interp *in, const Val *v)
{
	for (int i = 0; i < in->run->nargs; i++) {
		void *data = in->run->args[i].data;
		if (strcmp(in->run->args[i].name, v->name) != 0)
			continue;
		if (v->type->kind == TY_TILE)
			return bind_tensor(in, v, tensor_of(in->run, i));
		if (!data)
			return interp_fail(in, "the scalar '%s' has no value", v->name);
		element_is(&slot_of(in, v)->at, 0,
			   elem_round(v->type->elem, *(const double *)data));
		return true;
	}
	return interp_fail(in, "the argument '%s' is missing", v->name);
}

static bool bind_all(Interp *in)
{
	const Kernel *k = in->k;
	if (k->stage != ST_TILE)
		return interp_fail(in, "the interpreter runs kernels of the tile stage");
	for (int i = 0; i < k->syms.n; i++)
		if (!bind_sym(in, &k->syms.at[i]))
			return false;
	for (int i = 0; i < k->facts.n; i++)
		if (!check_fact(in, &k->facts.at[i]))
			return false;
	for (int i = 0; i < k->args.n; i++)
		if (!bind_arg(in, k->args.at[i].val))
			return false;
	return true;
}

bool kernel_interp(const Kernel *k, const InterpRun *run, const char **why)
{
	Arena *a = arena_new(), *scratch = arena_new();
	Interp in = {.k = k,
		     .run = run,
		     .arena = a,
		     .scratch = scratch,
		     .slots.arena = a,
		     .joined.arena = a};
	bool ok = bind_all(&in) && run_kernel(&in);
	arena_free(scratch);
	arena_free(a);
	if (!ok)
		*why = in.why;
	return ok;
}
