/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* problem.c - random data for a kernel, its run on a device, and its meaning by the reference
 * interpreter. Sizes and shapes come from the tile-stage IR alone, so any kernel will do.
 *     gemm, M=512,N=512,K=512  ->  A, B random; D poisoned; 8 tiles, sums of 512 */
#include "check/problem.h"
#include "ir/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	POISON = 0xff,
	SUM_STEPS = 8,
	SPREAD = 32 /* of integers of 8 bits */,
	PERIOD = (1 << 20) - 3
};
#define MOST_ELEMENTS (INT64_C(1) << 56)

size_t elem_bytes(Elem e)
{
	return (size_t)elem_rows[e].bits / 8;
}

/* ------------------------------------------------------------------ sizes */
static bool sym_value(void *user, const char *name, int64_t *v)
{
	const Problem *p = user;
	for (int i = 0; i < p->nsyms; i++) {
		if (strcmp(p->syms[i].name, name) == 0) {
			*v = p->syms[i].value;
			return true;
		}
	}
	*v = 0; /* a coordinate: the first tile */
	return true;
}

int64_t problem_eval(const Problem *p, const Ix *x)
{
	int64_t v = 0;
	return ix_eval(x, sym_value, (void *)(uintptr_t)p, &v) ? v : 0;
}

static const int64_t *size_given(const ProblemSpec *spec, const char *name)
{
	const int64_t *v = NULL;
	for (int i = 0; i < spec->sizes.n; i++)
		if (strcmp(spec->sizes.at[i].name, name) == 0)
			v = &spec->sizes.at[i].value;
	return v;
}

static const char *list_syms(Problem *p)
{
	Buf b = {0};
	for (int i = 0; i < p->k->syms.n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", p->k->syms.at[i].name);
	const char *s = ctx_str(p->ctx, b.s ? b.s : "no sizes");
	buf_free(&b);
	return s;
}

static bool bind_sizes(Problem *p, const ProblemSpec *spec, const char **why)
{
	for (int i = 0; i < p->k->syms.n; i++) {
		const char *name = p->k->syms.at[i].name;
		const int64_t *v = size_given(spec, name);
		if (!v) {
			*why = ctx_strf(p->ctx, "--size does not give %s; kernel %s takes %s", name,
					p->k->name, list_syms(p));
			return false;
		}
		p->syms[p->nsyms++] = (InterpSym){name, *v};
	}
	for (int i = 0; i < spec->sizes.n; i++) {
		int at = 0;
		while (at < p->nsyms && strcmp(p->syms[at].name, spec->sizes.at[i].name) != 0)
			at++;
		if (at == p->nsyms) {
			*why = ctx_strf(p->ctx, "kernel %s has no size %s; it takes %s", p->k->name,
					spec->sizes.at[i].name, list_syms(p));
			return false;
		}
	}
	return true;
}

/* Elements, and the offset of the last one, of a shape and its strides; false: more than can be
 * counted. */
static bool measure(const Problem *p, const Tup *shape, const Tup *stride, int64_t *size,
		    int64_t *last)
{
	if (tup_is_leaf(shape)) {
		int64_t n = problem_eval(p, shape->leaf), reach;
		return !__builtin_mul_overflow(*size, n, size) &&
		       !__builtin_mul_overflow(n - 1, problem_eval(p, stride->leaf), &reach) &&
		       !__builtin_add_overflow(*last, reach, last) && *last < MOST_ELEMENTS &&
		       *size < MOST_ELEMENTS;
	}
	for (int i = 0; i < tup_rank(shape); i++)
		if (!measure(p, tup_get(shape, i), tup_get(stride, i), size, last))
			return false;
	return true;
}

/* What an output held before the launch counts. */
static bool is_kept(const Problem *p, const Val *arg)
{
	if (p->k->args.at[arg->arg].is_inout)
		return true;
	for (const Op *op = kernel_first(p->k); op; op = op_next(op)) {
		const Val *to = op->kind == OP_COPY && combine_of(op) ? IN(op, TO).val : NULL;
		while (to && to->def)
			to = IN(to->def, OF).val;
		if (to == arg)
			return true;
	}
	return false;
}

static bool open_arg(Problem *p, const Arg *arg, const char **why)
{
	const Type *type = arg->val->type;
	Tensor *t = &p->t[p->nt++];
	int64_t size = 1, last = 0;
	*t = (Tensor){.name = arg->val->name,
		      .elem = type->elem,
		      .is_out = arg->is_out,
		      .is_kept = is_kept(p, arg->val),
		      .is_scalar = type->kind == TY_ELEM};
	if (t->is_scalar)
		return true;
	if (!measure(p, type->layout->shape, type->layout->stride, &size, &last)) {
		*why = ctx_strf(p->ctx, "tensor %s has more elements than can be counted", t->name);
		return false;
	}
	t->count = size > 0 ? last + 1 : 0;
	t->by_index = indices_write(p, arg->val) || groups_grid(p->k);
	t->dense = t->count == size && !t->by_index;
	t->bytes = (size_t)elem_span(t->elem, t->count);
	return true;
}

static bool allocate(Problem *p, const char **why)
{
	EACH_OF(Tensor, t, p->t, p->nt) {
		t->host = malloc(t->bytes + 1);
		t->ref = t->is_out ? malloc(t->bytes + 1) : NULL;
		t->start = t->is_kept ? malloc(t->bytes + 1) : NULL;
		t->wrote = t->is_out ? calloc((size_t)t->count + 1, sizeof(bool)) : NULL;
		t->lo = t->is_out ? malloc(t->bytes + 1) : NULL;
		t->hi = t->is_out ? malloc(t->bytes + 1) : NULL;
		if (!t->host || (t->is_kept && !t->start) ||
		    (t->is_out && (!t->ref || !t->lo || !t->hi || !t->wrote))) {
			*why = ctx_strf(
				p->ctx,
				"tensor %s needs %zu bytes of host memory: pass smaller sizes",
				t->name, t->bytes);
			return false;
		}
	}
	return true;
}

/* ------------------------------------------------------------------ how much work it is */
/* x with the sizes in place of their names. */
static const Ix *sized(const Problem *p, const Ix *x)
{
	for (int i = 0; i < p->nsyms; i++)
		x = ix_subst(p->ctx, x, p->syms[i].name, ix_const(p->ctx, p->syms[i].value));
	return x;
}

typedef VEC(IxFact) Ranges;

/* Of the names of the loops and the grid around op, from the outermost inwards. */
static void add_ranges(const Problem *p, const Op *op, Ranges *v)
{
	if (!op)
		return;
	add_ranges(p, op_parent(op), v);
	bool loop = op->kind == OP_FOR;
	for (int i = 0; i < op->nsym && (op->kind == OP_GRID || (loop && !i)); i++) {
		IxFacts known = {.at = v->at, .n = v->n};
		IxFact f = {.name = op->sym[i], .div = 1};
		int64_t other;
		if (loop)
			ix_range(sized(p, IX(op, FROM)), known, &f.lo, &other);
		ix_range(sized(p, op->ix[loop ? 1 : i]), known, &other, &f.hi);
		f.hi = f.hi > f.lo ? f.hi - 1 : f.lo;
		vec_push(ctx_arena(p->ctx), v, f);
	}
}

/* The most that a tile has. */
static int64_t most_trips(const Problem *p, const Op *loop)
{
	Ranges v = {0};
	int64_t lo, hi;
	for (const Op *op = kernel_find(p->k, OP_GROUPS_AT); op;
	     op = op_find_next(op, OP_GROUPS_AT))
		vec_push(ctx_arena(p->ctx), &v, groups_length(p, op));
	add_ranges(p, op_parent(loop), &v);
	ix_range(sized(p, ix_sub(p->ctx, IX(loop, TO), IX(loop, FROM))),
		 (IxFacts){.at = v.at, .n = v.n}, &lo, &hi);
	return hi < 0 ? 0 : hi;
}

/* Columns of the operands that an mma multiplies. */
static int64_t mma_depth(const Problem *p, const Op *mma)
{
	const Attr *part = attrs_get(&mma->attrs, A_DEPTH);
	return part ? part->i[1] - part->i[0] : window_extent(op_window(p->ctx, mma, 1), 1);
}

/* The multiplications of a tile. */
static int64_t tile_work(const Problem *p, const Op *mma)
{
	const Layout *acc = IN(mma, TO).val->type->layout;
	int64_t trips = 1, macs;
	bool fits = true;
	for (const Op *up = op_parent(mma); up; up = op_parent(up))
		if (up->kind == OP_FOR)
			fits &= !__builtin_mul_overflow(trips, most_trips(p, up), &trips);
	fits &= !__builtin_mul_overflow(trips, mma_depth(p, mma), &trips) &&
		!__builtin_mul_overflow(trips, layout_size_int(acc), &macs) && macs < MOST_ELEMENTS;
	return fits ? macs : -MOST_ELEMENTS;
}

/* Of groups, as many as there may be. */
static bool count_tiles(Problem *p, const Op *grid)
{
	int64_t heights = 1;
	bool fits = !grid->nin || groups_heights(p, grid, &heights);
	fits &= !__builtin_mul_overflow(p->grid, heights, &p->grid);
	for (int i = grid->nin ? GROUP_NAMES : 0; i < grid->nix; i++)
		fits &= !__builtin_mul_overflow(p->grid, problem_eval(p, grid->ix[i]), &p->grid);
	return fits;
}

/* False: more than can be counted. */
static bool find_work(Problem *p, const char **why)
{
	bool fits = true;
	p->grid = 1;
	for (const Op *op = kernel_first(p->k); op; op = op_next(op)) {
		if (op->kind == OP_GRID)
			fits &= count_tiles(p, op);
		if (op->kind == OP_MMA)
			p->tile_macs += tile_work(p, op);
		p->joins |= op->kind == OP_COPY && combine_of(op);
	}
	if (!fits || p->tile_macs < 0)
		*why = "the problem has more tiles or steps than can be counted";
	return !*why;
}

static const Kernel *find_kernel(const Module *m, const char *name)
{
	for (int i = 0; i < m->kernels.n; i++)
		if (!name || strcmp(m->kernels.at[i]->name, name) == 0)
			return m->kernels.at[i];
	return NULL;
}

static bool open_kernel(Problem *p, const char *ir, const ProblemSpec *spec, const char **why)
{
	const Module *m = module_parse(p->ctx, ctx_src(p->ctx, "<reference>", ir, strlen(ir)));
	if (!m)
		panic("the printed IR of a compiled kernel does not parse");
	p->k = m->kernels.n == 1 || spec->kernel ? find_kernel(m, spec->kernel) : NULL;
	if (p->k && p->k->stage != ST_TILE && !spec->any_stage)
		*why = "dslc run needs the tile stage: the input is IR of a later stage";
	else if (!p->k && spec->kernel)
		*why = ctx_strf(p->ctx, "the file has no kernel %s", spec->kernel);
	else if (!p->k)
		*why = ctx_strf(p->ctx, "the file has %d kernels: say which with --kernel",
				m->kernels.n);
	else if (p->k->args.n > (int)COUNTOF(p->t) || p->k->syms.n > (int)COUNTOF(p->syms))
		*why = "the kernel has more arguments than dslc run takes";
	return !*why;
}

static bool give_scalars(Problem *p, const ProblemSpec *spec, const char **why)
{
	for (int i = 0; i < spec->scalars.n; i++) {
		const char *name = spec->scalars.at[i].name;
		int at = 0;
		while (at < p->nt && !(p->t[at].is_scalar && strcmp(p->t[at].name, name) == 0))
			at++;
		if (at == p->nt) {
			*why = ctx_strf(p->ctx, "kernel %s has no scalar argument %s", p->k->name,
					name);
			return false;
		}
		p->t[at].given = true;
		p->t[at].given_value = spec->scalars.at[i].value;
	}
	return true;
}

bool problem_open(Problem *p, const char *ir, const ProblemSpec *spec, const char **why)
{
	*p = (Problem){.ctx = ctx_new(),
		       .sms = (int)spec->sms,
		       .check_indices = spec->check_indices};
	*why = NULL;
	if (!open_kernel(p, ir, spec, why) || !bind_sizes(p, spec, why))
		return false;
	for (int i = 0; i < p->k->args.n; i++)
		if (!open_arg(p, &p->k->args.at[i], why))
			return false;
	if (!give_scalars(p, spec, why))
		return false;
	if (!find_work(p, why))
		return false;
	return allocate(p, why);
}

void problem_free_device(Problem *p)
{
	dsl_pool_destroy(p->pool);
	p->pool = NULL;
	for (int i = 0; i < p->nt && p->dev; i++) {
		dsl_mem_free(p->dev, p->t[i].alloc);
		p->t[i].alloc = 0;
	}
}

void problem_close(Problem *p)
{
	problem_free_device(p);
	for (int i = 0; i < p->nt; i++) {
		free(p->t[i].host);
		free(p->t[i].ref);
		free(p->t[i].start);
		free(p->t[i].lo);
		free(p->t[i].hi);
		free(p->t[i].wrote);
	}
	free(p->chosen);
	if (p->dev)
		dsl_device_close(p->dev);
	ctx_free(p->ctx);
}

/* ------------------------------------------------------------------ data */
uint64_t problem_mix(uint64_t z)
{
	z += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Box and Muller: two uniform numbers to a normal one. */
static double random_normal(uint64_t seed, int64_t i)
{
	uint64_t h = problem_mix(seed + (uint64_t)i);
	float u = ((float)(h >> 40) + 0.5f) * 0x1p-24f, v = (float)(h & 0xffffff) * 0x1p-24f;
	return (double)(sqrtf(-2 * logf(u)) * cosf(6.2831853f * v));
}

/* An element of such data. Of u32 each bit may be set: it holds codes, or counts. */
static double random_element(Elem e, DataKind kind, uint64_t seed, int64_t i)
{
	double spread = elem_is_float(e) ? 1 : elem_rows[e].bits < 8 ? 4 : (double)SPREAD;
	if (e == EL_U32 && kind == DATA_NORMAL)
		return (double)(uint32_t)(problem_mix(seed + (uint64_t)i) >> 32);
	if (kind == DATA_INTEGERS)
		return (double)((int)(problem_mix(seed + (uint64_t)i) % 9) - 4);
	return spread * random_normal(seed, i);
}

/* A prime number of elements, which repeat: so no row of a large tensor is another one. */
static void fill(const Tensor *t, void *data, DataKind kind, uint64_t seed)
{
	int64_t drawn = t->count < PERIOD ? t->count : PERIOD;
	size_t done = (size_t)elem_span(t->elem, drawn), n;
	for (int64_t i = 0; i < drawn; i++)
		elem_put(t->elem, data, i, random_element(t->elem, kind, seed, i));
	for (; done < t->bytes; done += n) {
		n = t->bytes - done < done ? t->bytes - done : done;
		memcpy((char *)data + done, data, n);
	}
}

void problem_fill(Problem *p, DataKind kind, uint64_t seed)
{
	for (int i = 0; i < p->nt; i++) {
		Tensor *t = &p->t[i];
		Indices of;
		DrawnNumbers numbers;
		uint64_t own = problem_mix(seed * 64 + (uint64_t)i * 2 + (kind == DATA_NORMAL));
		if (t->given)
			t->scalar = t->given_value;
		else if (t->is_scalar)
			t->scalar = elem_round(t->elem, random_element(t->elem, kind, own, 0));
		else if (indices_find(p, p->k->args.at[i].val, &of))
			indices_fill(&of, t, t->host, kind == DATA_NORMAL, own);
		else if (groups_end_by(p, p->k->args.at[i].val))
			groups_fill(p, t, kind == DATA_NORMAL, own);
		else if (numbers_find(p, p->k->args.at[i].val, &numbers))
			numbers_fill(&numbers, t, kind == DATA_NORMAL, own);
		else if (!t->is_out || t->is_kept)
			fill(t, t->is_kept ? t->start : t->host, kind, own);
	}
}

/* ------------------------------------------------------------------ which tiles are checked */
enum { ALL_MACS = 1 << 29, LEAST_TILES = 6 };

static void choose(Problem *p, int64_t tile)
{
	if (tile >= 0 && tile < p->grid && !p->chosen[tile]) {
		p->chosen[tile] = 1;
		p->nchosen++;
	}
}

/* All when that is quick, or elements come from several; else the ends of the grid and random ones.
 */
void problem_choose(Problem *p, const ProblemSpec *spec)
{
	int64_t per_tile = p->tile_macs > 0 ? p->tile_macs : 1, n = ALL_MACS / per_tile;
	if (n < LEAST_TILES)
		n = LEAST_TILES;
	if (spec->tiles)
		n = spec->tiles;
	p->nchosen = p->grid;
	if (n < 0 || n >= p->grid || (p->joins && !spec->tiles))
		return;
	p->chosen = calloc((size_t)p->grid, 1);
	if (!p->chosen)
		panic("out of memory");
	p->nchosen = 0;
	choose(p, p->grid - 1);
	for (uint64_t i = 0; p->nchosen < n; i++)
		choose(p, i == 0 ? 0 : (int64_t)(problem_mix(spec->seed + i) % (uint64_t)p->grid));
}

static bool tile_wanted(void *user, int64_t tile)
{
	Problem *p = user;
	bool wanted = !p->chosen || p->chosen[tile];
	if (wanted && p->watch)
		p->watch(p->watcher, p->ended++, p->awaited);
	return wanted;
}

/* ------------------------------------------------------------------ reference */
bool problem_reference(Problem *p, const char **why)
{
	InterpArg args[COUNTOF(p->t)];
	bool *wrote[COUNTOF(p->t)];
	void *lo[COUNTOF(p->t)], *hi[COUNTOF(p->t)];
	for (int i = 0; i < p->nt; i++) {
		Tensor *t = &p->t[i];
		void *in = t->is_scalar ? (void *)&t->scalar : t->host;
		args[i] = (InterpArg){t->name, t->is_out ? t->ref : in};
		wrote[i] = t->wrote;
		if (t->wrote)
			memset(t->wrote, 0, (size_t)t->count * sizeof(bool));
		lo[i] = t->lo;
		hi[i] = t->hi;
		if (t->is_kept)
			memcpy(t->ref, t->start, t->bytes);
		else if (t->is_out)
			memset(t->ref, POISON, t->bytes);
	}
	InterpRun run = {.args = args,
			 .nargs = p->nt,
			 .wrote = wrote,
			 .syms = p->syms,
			 .nsyms = p->nsyms,
			 .tile = tile_wanted,
			 .user = p,
			 .lo = lo,
			 .hi = hi};
	p->ended = 0;
	p->awaited = p->nchosen;
	return kernel_interp(p->k, &run, why);
}

/* ------------------------------------------------------------------ device */
int problem_args(const Problem *p, dsl_arg *args)
{
	int n = 0;
	EACH_OF(const Tensor, t, p->t, p->nt)
		if (!t->is_scalar)
			args[n++] = dsl_arg_ptr(t->name, t->alloc + GUARD);
		else if (!elem_is_float(t->elem))
			args[n++] = dsl_arg_int(t->name, (int64_t)t->scalar);
		else
			args[n++] = dsl_arg_float(t->name, t->scalar);
	for (int i = 0; i < p->nsyms; i++)
		args[n++] = dsl_arg_int(p->syms[i].name, p->syms[i].value);
	return n;
}

static dsl_status copy_in(Problem *p, Tensor *t)
{
	dsl_status st = DSL_OK;
	if (t->is_scalar)
		return st;
	size_t whole = t->bytes + 2 * (size_t)GUARD;
	if (!t->alloc)
		st = dsl_mem_alloc(p->dev, whole, &t->alloc);
	if (!st)
		st = dsl_mem_set(p->dev, t->alloc, POISON, whole);
	if (!st && (!t->is_out || t->is_kept) && t->bytes)
		st = dsl_copy_in(p->dev, t->alloc + GUARD, t->is_kept ? t->start : t->host,
				 t->bytes);
	return st;
}

dsl_status problem_launch(Problem *p, dsl_module *mod)
{
	dsl_arg args[64];
	dsl_launch_opts opts = {.size = sizeof opts, .sms = p->sms};
	dsl_status st = DSL_OK;
	for (int i = 0; i < p->nt && !st; i++)
		st = copy_in(p, &p->t[i]);
	int n = problem_args(p, args);
	if (!st && p->bind)
		st = p->bind(p->binder, args, n);
	if (!st && !p->pool)
		st = dsl_pool_create(p->dev, NULL, &p->pool);
	if (!st)
		st = dsl_pool_launch(p->pool, mod, p->k->name, args, (size_t)n, &opts);
	if (!st)
		st = dsl_sync(p->dev);
	for (int i = 0; i < p->nt && !st; i++)
		if (p->t[i].is_out && p->t[i].bytes)
			st = dsl_copy_out(p->dev, p->t[i].host, p->t[i].alloc + GUARD,
					  p->t[i].bytes);
	return st;
}

dsl_status problem_guards(Problem *p, char *wrong, size_t n)
{
	dsl_status st = DSL_OK;
	uint8_t *around = malloc(2 * (size_t)GUARD);
	if (!around)
		return DSL_ERR_MEMORY;
	for (int i = 0; i < p->nt && !st && !*wrong; i++) {
		const Tensor *t = &p->t[i];
		if (t->is_scalar)
			continue;
		st = dsl_copy_out(p->dev, around, t->alloc, GUARD);
		if (!st)
			st = dsl_copy_out(p->dev, around + GUARD, t->alloc + GUARD + t->bytes,
					  GUARD);
		if (!st)
			guards_intact(t->name, around, around + GUARD, wrong, n);
	}
	free(around);
	return st;
}
