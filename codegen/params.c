/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* params.c - what a kernel is passed, in order: tensor maps, which of the optional ones were made,
 * pointers of tensors that are accessed directly, sizes, scalars; only what its body uses. The
 * signature and the manifest both read it.
 *     tma.load %sA, %A.map ... ; st.global %D, ... (m * N)   ->   A.map, D, N */
#include "codegen/cg.h"

bool name_is_hardware(const char *name)
{
	static const char *const names[] = {
#define SYM(id, name, lo, hi, sreg) name,
#include "ir/syms.def"
#undef SYM
	};
	for (size_t i = 0; i < COUNTOF(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool kernel_binds(const Kernel *k, const char *name)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; op_rows[op->kind].flags & OPF_SYMS && i < op->nsym; i++)
			if (op->sym[i] == name)
				return true;
	return false;
}

typedef struct {
	const Kernel *k;
	Params made, ptrs, works, syms, scalars, sems;
} Use;

static void use_name(void *user, const char *name)
{
	Use *u = user;
	if (name_is_hardware(name) || kernel_binds(u->k, name))
		return;
	for (int i = 0; i < u->syms.n; i++)
		if (u->syms.at[i].sym == name)
			return;
	vec_push(ctx_arena(u->k->ctx), &u->syms, ((Param){.kind = KP_SYM, .sym = name}));
}

static void use_arg(Use *u, const Val *v)
{
	bool scalar = v->type->kind == TY_ELEM;
	if (v->def)
		return;
	bool work = u->k->args.at[v->arg].is_workspace;
	Params *to = scalar ? &u->scalars : work ? &u->works : &u->ptrs;
	for (int i = 0; i < to->n; i++)
		if (to->at[i].arg == v)
			return;
	Param p = {.kind = scalar ? KP_SCALAR : work ? KP_WORK : KP_PTR, .arg = v};
	vec_push(ctx_arena(u->k->ctx), to, p);
}

/* An access by an index steps along a mode, as far as the tensor has it; what is checked is held to
 * that. */
static void use_mode(Use *u, const Val *tensor, const Attr *mode)
{
	const Layout *l = tensor->type->layout;
	ix_names(tup_get(l->shape, (int)mode->i[0])->leaf, use_name, u);
	ix_names(tup_get(l->stride, (int)mode->i[0])->leaf, use_name, u);
}

static void use_semaphores(Use *u)
{
	Arena *a = ctx_arena(u->k->ctx);
	if (u->sems.n)
		return;
	vec_push(a, &u->sems,
		 ((Param){.kind = KP_SEMAPHORES, .sym = ctx_str(u->k->ctx, PARAM_SEMAPHORES)}));
	vec_push(a, &u->sems, ((Param){.kind = KP_EPOCH, .sym = ctx_str(u->k->ctx, PARAM_EPOCH)}));
}

static void use_op(Use *u, const Op *op)
{
	if (op_rows[op->kind].flags & OPF_GLOBAL)
		use_semaphores(u);
	if (op->kind == OP_LAUNCH)
		return; /* the host's */
	if (attrs_get(&op->attrs, A_GATHER) && op->kind != OP_TMA_LOAD)
		use_mode(u, op->in[op->kind != OP_ST_GLOBAL].val, attrs_get(&op->attrs, A_GATHER));
	if (attrs_get(&op->attrs, A_CHECKS))
		use_mode(u, IN(op, CHECKED).val, attrs_get(&op->attrs, A_CHECKS));
	for (int i = 0; i < op->nin; i++) {
		use_arg(u, op->in[i].val);
		if (op->in[i].at)
			ix_names(op->in[i].at, use_name, u);
	}
	for (int i = 0; i < op->nix; i++)
		ix_names(op->ix[i], use_name, u);
}

static void use_map(Use *u, Params *maps, const Op *op)
{
	Arena *a = ctx_arena(u->k->ctx);
	vec_push(a, maps, ((Param){.kind = KP_TMAP, .map = op}));
	if (op->nsym)
		vec_push(a, &u->made, ((Param){.kind = KP_MADE, .map = op, .sym = op->sym[0]}));
}

static void append(Arena *a, Params *to, const Params *from)
{
	for (int i = 0; i < from->n; i++)
		vec_push(a, to, from->at[i]);
}

void params_collect(const Kernel *k, Params *out)
{
	Use u = {.k = k};
	Arena *a = ctx_arena(k->ctx);
	*out = (Params){0};
	for (const Op *op = kernel_first(k); op; op = op_next(op)) {
		if (op->kind == OP_TMAP)
			use_map(&u, out, op);
		else if (op->kind != OP_LAUNCH)
			use_op(&u, op);
	}
	append(a, out, &u.made);
	append(a, out, &u.ptrs);
	append(a, out, &u.works);
	append(a, out, &u.syms);
	append(a, out, &u.scalars);
	append(a, out, &u.sems);
}
