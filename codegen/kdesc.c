/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kdesc.c - the kernel description that becomes the manifest: arguments as declared, parameters in
 * the order of the signature, tensor maps, grid, shared memory, and every condition that the code
 * stands on: what the source states, the ranges of sizes, and TMA's rules where they are not
 * proved.
 *     tmap %A box=(64,128) of bf16 (M,K):(K,1)
 * ->  dims K M, strides K*2, fact K * 2 % 16 == 0 */
#include "codegen/kdesc.h"
#include "codegen/cg.h"
#include "ir/schedule.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct {
	Ctx *c;
	const Kernel *k;
	KDesc *d;
	bool ok;
} Fill;

static bool room(Fill *f, int have, int max, const char *what)
{
	if (have < max)
		return true;
	if (f->ok)
		diag(f->c, f->k->loc, D_E0508, "%s has more than %d %s", f->k->name, max, what);
	f->ok = false;
	return false;
}

/* ------------------------------------------------------------------ conditions */
static void first_name(void *user, const char *name)
{
	const char **to = user;
	*to = *to ? *to : name;
}

static void add_fact(Fill *f, const Ix *cond, const char *text, const char *field, const char *rule)
{
	KDesc *d = f->d;
	const char *name = NULL, *post = ix_postfix_text(f->c, cond);
	ix_names(cond, first_name, &name);
	for (int i = 0; i < d->nfacts; i++)
		if (strcmp(d->facts[i].cond, post) == 0)
			return;
	if (ix_is_const(cond, NULL) && !ix_is(cond, 0))
		return;
	if (!room(f, d->nfacts, KD_MAX_FACTS, "conditions"))
		return;
	d->facts[d->nfacts++] = (KFact){.cond = post,
					.text = text ? text : ix_text(f->c, cond),
					.field = name ? name : field,
					.rule = rule};
}

static const Ix *below(Ctx *c, const Ix *x, int64_t limit)
{
	return ix_new(c, IX_LT, x, ix_const(c, limit));
}

static const Ix *multiple(Ctx *c, const Ix *x, int64_t of)
{
	return ix_new(c, IX_EQ, ix_mod(c, x, ix_const(c, of)), ix_const(c, 0));
}

static void fill_source_facts(Fill *f)
{
	EACH(const Fact, x, f->k->facts)
		add_fact(f, x->cond, x->text, "", x->rule ? x->rule : "where clause");
}

static bool is_caller_sym(const Kernel *k, const char *name)
{
	return !name_is_hardware(name) && !kernel_binds(k, name);
}

static void fill_ranges(Fill *f)
{
	static const char rule[] = "range that the kernel is compiled for";
	EACH(const IxFact, s, f->k->syms) {
		if (!is_caller_sym(f->k, s->name))
			continue;
		const Ix *x = ix_sym(f->c, s->name);
		if (s->lo != INT64_MIN)
			add_fact(f, ix_new(f->c, IX_LE, ix_const(f->c, s->lo), x), NULL, s->name,
				 rule);
		if (s->hi != INT64_MAX)
			add_fact(f, below(f->c, x, s->hi + 1), NULL, s->name, rule);
		if (s->div > 1)
			add_fact(f, multiple(f->c, x, s->div), NULL, s->name, rule);
	}
}

/* ------------------------------------------------------------------ arguments */
static int leaves(const Tup *t, const Ix **at, int n)
{
	if (tup_is_leaf(t)) {
		if (n < KD_MAX_RANK)
			at[n] = t->leaf;
		return n + 1;
	}
	for (int i = 0; i < t->n; i++)
		n = leaves(t->at[i], at, n);
	return n;
}

/* Bytes of the widest access to the argument that is not TMA's. */
static int widest_access(const Kernel *k, const Val *v)
{
	int64_t n = 0;
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (((op->kind == OP_ST_GLOBAL && IN(op, TO).val == v) ||
		     ((op->kind == OP_LD_GLOBAL || op->kind == OP_LD_GATHER ||
		       op->kind == OP_CP_ASYNC) &&
		      IN(op, FROM).val == v)) &&
		    attrs_int(&op->attrs, A_N, 1) > n)
			n = attrs_int(&op->attrs, A_N, 1);
	return n > 1 ? (int)n * elem_rows[v->type->elem].bits / 8 : 0;
}

/* Results are joined to what the caller put there. */
static bool is_joined(const Kernel *k, const Val *v)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (combine_of(op) &&
		    ((op->kind == OP_ST_GLOBAL && IN(op, TO).val == v) ||
		     (op->kind == OP_TMA_STORE && IN(IN(op, MAP).val->def, OF).val == v)))
			return true;
	return false;
}

static void fill_arg(Fill *f, const Arg *a)
{
	KDesc *d = f->d;
	const Type *t = a->val->type;
	const Ix *shape[KD_MAX_RANK], *stride[KD_MAX_RANK];
	if (!room(f, d->nargs, KD_MAX_ARGS, "arguments"))
		return;
	KArg *to = &d->args[d->nargs++];
	*to = (KArg){.name = a->val->name,
		     .kind = t->kind == TY_ELEM ? KA_SCALAR : KA_TENSOR,
		     .elem = t->elem,
		     .dir = !a->is_out                               ? KD_IN
			    : a->is_inout || is_joined(f->k, a->val) ? KD_INOUT
								     : KD_OUT};
	if (t->kind == TY_ELEM)
		return;
	to->constant = a->is_constant;
	to->in_place = a->is_in_place;
	to->align = widest_access(f->k, a->val);
	to->rank = leaves(t->layout->shape, shape, 0);
	leaves(t->layout->stride, stride, 0);
	if (!room(f, to->rank - 1, KD_MAX_RANK, "modes in an argument"))
		return;
	for (int i = 0; i < to->rank; i++) {
		to->shape[i] = ix_postfix_text(f->c, shape[i]);
		to->stride[i] = ix_postfix_text(f->c, stride[i]);
	}
}

/* Among the tensors and scalars, or among the workspaces. */
static int arg_index(const Kernel *k, const Val *v)
{
	int n[2] = {0};
	EACH(const Arg, a, k->args) {
		if (a->val == v)
			return n[a->is_workspace];
		n[a->is_workspace]++;
	}
	panic("%%%s is not an argument", v->name);
}

/* For each CTA as much as the first mode steps over, whose extent is that of the largest launch. */
static void fill_work(Fill *f, const Arg *a)
{
	Ctx *c = f->c;
	const Op *launch = kernel_find(f->k, OP_LAUNCH);
	const Layout *l = a->val->type->layout;
	if (!launch || !room(f, f->d->nworks, KD_MAX_WORKS, "workspaces"))
		return;
	const Ix *bytes = elem_bytes_of(c, a->val->type->elem, tup_get(l->stride, 0)->leaf);
	f->d->works[f->d->nworks++] = ix_postfix_text(c, ix_mul(c, IX(launch, X), bytes));
}

static void fill_args(Fill *f)
{
	for (int i = 0; i < f->k->args.n; i++)
		if (f->k->args.at[i].is_workspace)
			fill_work(f, &f->k->args.at[i]);
		else
			fill_arg(f, &f->k->args.at[i]);
	for (int i = 0; i < f->k->syms.n; i++) {
		const char *name = f->k->syms.at[i].name;
		if (is_caller_sym(f->k, name) && room(f, f->d->nsyms, KD_MAX_SYMS, "sizes"))
			f->d->syms[f->d->nsyms++] = name;
	}
}

/* ------------------------------------------------------------------ tensor maps */
static void map_facts(Fill *f, const KMap *map, const Ix *const *dims, const Ix *const *bytes)
{
	IxFacts facts = kernel_facts(f->k);
	const char *name = f->d->args[map->arg].name;
	for (int i = 0; i < map->rank; i++)
		if (ix_most(dims[i], facts) > INT32_MAX)
			add_fact(f, below(f->c, dims[i], INT64_C(1) << 31), NULL, name,
				 "TMA coordinates are 32-bit (PTX ISA, cp.async.bulk.tensor)");
	const Ix *row = ix_mul(f->c, dims[0], ix_const(f->c, elem_rows[map->elem].bits / 8));
	if (map->store && ix_divisor(row, facts) % 16)
		add_fact(f, multiple(f->c, row, 16), NULL, name,
			 "TMA stores whole units of 16 bytes, even beyond the end of a row");
	for (int i = 0; i + 1 < map->rank; i++) {
		if (ix_divisor(bytes[i], facts) % 16 && !map->copy)
			add_fact(f, multiple(f->c, bytes[i], 16), NULL, name,
				 "TMA byte strides are multiples of 16 (PTX ISA, tensor maps)");
		if (ix_most(bytes[i], facts) >= INT64_C(1) << 40)
			add_fact(f, below(f->c, bytes[i], INT64_C(1) << 40), NULL, name,
				 "TMA byte strides are below 2^40 (PTX ISA, tensor maps)");
	}
}

static bool is_stored(const Kernel *k, const Val *map)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op->kind == OP_TMA_STORE && IN(op, MAP).val == map)
			return true;
	return false;
}

/* A map counts elements, or bytes, where elements are less. */
static void fill_modes(Fill *f, KMap *map, Elem elem, const Layout *l, const Attr *box)
{
	ModeList modes = layout_map_modes(l);
	const Ix *dims[KD_MAX_RANK], *bytes[KD_MAX_RANK];
	for (int i = 0; i < map->rank; i++) {
		bool whole = i || elem_rows[elem].bits >= 8;
		dims[i] = tup_get(l->shape, modes.at[i])->leaf;
		dims[i] = whole ? dims[i] : elem_bytes_of(f->c, elem, dims[i]);
		map->box[i] = (int)(whole ? box->i[i] : elem_span(elem, box->i[i]));
		map->dims[i] = ix_postfix_text(f->c, dims[i]);
		if (!i)
			continue;
		bytes[i - 1] = elem_bytes_of(f->c, elem, tup_get(l->stride, modes.at[i])->leaf);
		map->strides[i - 1] = ix_postfix_text(f->c, bytes[i - 1]);
	}
	if (!map->optional)
		map_facts(f, map, dims, bytes);
}

static void fill_map(Fill *f, const Op *op)
{
	const Val *arg = IN(op, OF).val;
	const Layout *l = map_layout(f->c, op);
	const Attr *box = attrs_get(&op->attrs, A_BOX);
	if (!room(f, f->d->nmaps, KD_MAX_MAPS, "tensor maps"))
		return;
	KMap *map = &f->d->maps[f->d->nmaps++];
	*map = (KMap){.arg = arg_index(f->k, arg),
		      .elem = elem_rows[arg->type->elem].bits < 8 ? EL_U8 : arg->type->elem,
		      .rank = layout_map_modes(l).n,
		      .swizzle = (int)attrs_int(&op->attrs, A_SWIZZLE, 0),
		      .store = is_stored(f->k, op->out),
		      .optional = op->nsym > 0};
	map->copy = !map->store && !map->optional && f->d->args[map->arg].dir == KD_IN &&
		    !attrs_get(&op->attrs, A_RAGGED);
	if (!room(f, map->rank - 1, KD_MAX_RANK, "modes in an argument"))
		return;
	if (!box || box->n != map->rank)
		panic("the box of %%%s does not have the rank of %%%s", op->out->name, arg->name);
	fill_modes(f, map, arg->type->elem, l, box);
}

/* ------------------------------------------------------------------ parameters, launch, memory */
static int sym_index(const KDesc *d, const char *name)
{
	for (int i = 0; i < d->nsyms; i++)
		if (d->syms[i] == name)
			return i;
	panic("%s is not a size of the kernel", name);
}

static int map_index(const Kernel *k, const Op *map)
{
	int i = 0;
	for (const Op *op = kernel_first(k); op && op != map; op = op_next(op))
		i += op->kind == OP_TMAP;
	return i;
}

static void fill_params(Fill *f)
{
	Params p;
	params_collect(f->k, &p);
	for (int i = 0; i < p.n && room(f, f->d->nparams, KD_MAX_PARAMS, "parameters"); i++) {
		const Param *x = &p.at[i];
		int index = x->map              ? map_index(f->k, x->map)
			    : x->kind == KP_SYM ? sym_index(f->d, x->sym)
			    : x->arg            ? arg_index(f->k, x->arg)
						: 0;
		f->d->params[f->d->nparams++] = (KParam){x->kind, index};
	}
}

static void fill_buffer(Fill *f, const Op *op)
{
	KDesc *d = f->d;
	bool bar = op->kind == OP_MBARRIER;
	if (!room(f, d->nsmem, KD_MAX_SMEM, "buffers in shared memory"))
		return;
	d->smem_map[d->nsmem++] = (KSmem){.name = op->out->name,
					  .offset = attrs_int(&op->attrs, A_OFFSET, 0),
					  .bytes = bar ? 8 : type_slot_bytes(op->out->type),
					  .slots = (int)(attrs_int(&op->attrs, A_SLOTS, 1) *
							 attrs_int(&op->attrs, A_GROUPS, 1))};
}

/* The runtime knows the device's SMs by another name than the kernel's sizes can have. */
static const Ix *on_host(Ctx *c, const Ix *x)
{
	return ix_subst(c, x, ctx_str(c, "sms"), ix_sym(c, "$sms"));
}

static void fill_ops(Fill *f)
{
	for (int i = 0; i < 3; i++)
		f->d->grid[i] = "1";
	for (const Op *op = kernel_first(f->k); op; op = op_next(op)) {
		if (op->kind == OP_TMAP)
			fill_map(f, op);
		else if (op->kind == OP_SHARED || op->kind == OP_MBARRIER)
			fill_buffer(f, op);
		for (int i = 0; op->kind == OP_LAUNCH && i < 3 && i < op->nix; i++)
			f->d->grid[i] = ix_postfix_text(f->c, on_host(f->c, op->ix[i]));
	}
}

static void fill_launch(Fill *f, int regs)
{
	const Attrs *a = &f->k->attrs;
	KDesc *d = f->d;
	d->cluster[0] = kernel_cluster_ctas(f->k);
	d->cluster[1] = d->cluster[2] = 1;
	d->block = (int)attrs_int(a, A_BLOCK, 0);
	d->smem = (int)attrs_int(a, A_SMEM, 0);
	d->ctas = kernel_ctas(f->k);
	d->regs = d->entry_regs = regs;
	d->pdl = kernel_with(f->k, FX_ACQUIRE_LAUNCHES) != NULL;
	d->together = kernel_with(f->k, FX_ACQUIRE_GRID) != NULL;
	d->tickets = kernel_find(f->k, OP_TICKETS) != NULL;
	d->schedule = attrs_str(a, A_ROLES, "none");
}

static bool kernel_fill(Ctx *c, const Kernel *k, int regs, KDesc *d)
{
	Fill f = {.c = c, .k = k, .d = d, .ok = true};
	d->name = d->symbol = k->name;
	fill_args(&f);
	fill_launch(&f, regs);
	fill_ops(&f);
	fill_source_facts(&f);
	fill_ranges(&f);
	if (f.ok)
		fill_params(&f);
	return f.ok;
}

/* The first kernel of a family has the name of the family. */
static void fill_cost(const CgOpt *opt, int i, KDesc *d)
{
	if (opt->costs)
		d->cost = opt->costs[i];
	const char *family = d->cost.family,
		   *before = i && family ? opt->costs[i - 1].family : NULL;
	if (family && (!before || strcmp(before, family) != 0))
		d->name = family;
}

/* ------------------------------------------------------------------ the module */

/* FNV-1a of 128 bits: the prime is 2^88 + 0x13b. */
static const char *hash(Ctx *c, const char *s, size_t n)
{
	uint64_t hi = UINT64_C(0x6c62272e07bb0142), lo = UINT64_C(0x62b821756295c58d);
	for (size_t i = 0; i < n; i++) {
		lo ^= (unsigned char)s[i];
		uint64_t a = (lo & 0xffffffff) * 0x13b, b = (lo >> 32) * 0x13b + (a >> 32);
		hi = hi * 0x13b + (b >> 32) + (lo << 24);
		lo = b << 32 | (a & 0xffffffff);
	}
	return ctx_strf(c, "%016" PRIx64 "%016" PRIx64, hi, lo);
}

static const char *source_hash(Ctx *c, const Module *m)
{
	int src = m->kernels.at[0]->loc.src;
	const Src *s = src >= 0 ? ctx_src_at(c, src) : NULL;
	return s ? hash(c, s->text, s->size) : hash(c, "", 0);
}

bool kdesc_fill(const Module *m, const CgOpt *opt, const int *regs, KModuleDesc *out)
{
	Ctx *c = m->ctx;
	const char *ptxas = opt->unassembled ? NULL : ptxas_find(c, opt->ptxas_path);
	const char *version = ptxas ? ptxas_version(c, ptxas, opt->litter) : NULL;
	if (m->kernels.n > KD_MAX_KERNELS) {
		diag(c, NOLOC, D_E0508, "more than %d kernels", KD_MAX_KERNELS);
		return false;
	}
	*out = (KModuleDesc){.abi = KDESC_ABI,
			     .tool = "dslc " DSLC_VERSION,
			     .llvm = codegen_llvm_version(c),
			     .ptxas = version ? version : "",
			     .source = opt->source_name ? opt->source_name : "",
			     .source_hash = source_hash(c, m),
			     .target = m->kernels.at[0]->target,
			     .min_driver = version ? atoi(version) * 1000 : 0,
			     .nkernels = m->kernels.n};
	out->kernels = NEWN(ctx_arena(c), KDesc, m->kernels.n);
	for (int i = 0; i < m->kernels.n; i++) {
		if (!kernel_fill(c, m->kernels.at[i], regs ? regs[i] : 0, &out->kernels[i]))
			return false;
		fill_cost(opt, i, &out->kernels[i]);
	}
	return true;
}
