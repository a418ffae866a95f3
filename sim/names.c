/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* names.c - what names mean in a function: slots of registers and constants, addresses of
 * variables, offsets of parameters. A register gets its slot when it is first used.
 *   .reg .b32 %r<318>;  ->  a family
 *   %r7                 ->  slot 0x1c0, 4 bytes a lane */
#include "sim/decode.h"

#include <stdio.h>
#include <stdlib.h>

enum { FILE_LIMIT = 64 << 20, LOCAL_LIMIT = 512 << 10, PARAM_LIMIT = 32764 };

u32 slot_new(Dec *d, u32 width)
{
	u32 at = d->used;
	d->used += width < 2 ? 64 : (width * LANES + 63) & ~63u;
	if (d->used > FILE_LIMIT)
		load_fail(d->a, 0, "%s uses too many registers", d->c->name);
	if (d->used > d->init_cap) {
		u32 cap = d->used * 2 + 4096;
		d->c->init = pool_grow(d->a, d->c->init, at, cap);
		d->init_cap = cap;
	}
	return at;
}

static void slot_fill(Dec *d, u32 slot, u32 width, u64 bits)
{
	for (u32 l = 0; l < LANES; l++)
		memcpy(d->c->init + slot + l * width, &bits, width);
}

u32 slot_const(Dec *d, u32 width, u64 bits)
{
	char key[32];
	s64 found;
	if (width < 8)
		bits &= (UINT64_C(1) << (width * 8)) - 1;
	int n = snprintf(key, sizeof key, "%u:%llx", width, (unsigned long long)bits);
	if (map_get(&d->consts, key, &found))
		return (u32)found;
	u32 slot = slot_new(d, width);
	slot_fill(d, slot, width, bits);
	map_put(d->a, &d->consts, pool_text(d->a, key, (size_t)n), slot);
	return slot;
}

Scope *scope_push(Dec *d, Scope *parent)
{
	Scope *s = pool_new(d->a, sizeof *s);
	s->parent = parent;
	d->scope = s;
	return s;
}

void scope_define(Dec *d, const char *name, Def def)
{
	POOL_PUSH(d->a, d->defs, d->ndefs, d->defs_cap, def);
	map_put(d->a, &d->scope->names, name, d->ndefs - 1);
}

static Def register_new(Dec *d, const char *name, u8 width)
{
	Def def = {.kind = D_REG, .width = width, .slot = slot_new(d, width)};
	POOL_PUSH(d->a, d->c->regs, d->c->nregs, d->c->regs_cap, (Reg){name, def.slot, width});
	return def;
}

/* %r12 out of the family %r<318>: defined in the scope that has the family. */
static Def *family_member(Dec *d, Scope *s, const char *name)
{
	size_t n = strlen(name), cut = n;
	while (cut > 0 && name[cut - 1] >= '0' && name[cut - 1] <= '9')
		cut--;
	if (cut == n || n - cut > 8)
		return NULL;
	char prefix[128];
	s64 at;
	if (cut >= sizeof prefix)
		return NULL;
	memcpy(prefix, name, cut);
	prefix[cut] = 0;
	if (!map_get(&s->names, prefix, &at) || d->defs[at].kind != D_FAMILY)
		return NULL;
	Def family = d->defs[at];
	if (strtol(name + cut, NULL, 10) >= family.count)
		return NULL;
	Scope *here = d->scope;
	d->scope = s;
	scope_define(d, name, register_new(d, name, family.width));
	d->scope = here;
	return &d->defs[d->ndefs - 1];
}

Def *scope_look(Dec *d, const char *name)
{
	s64 at;
	for (Scope *s = d->scope; s; s = s->parent) {
		if (map_get(&s->names, name, &at))
			return &d->defs[at];
		Def *member = family_member(d, s, name);
		if (member)
			return member;
	}
	return NULL;
}

static Type var_type(Pool *a, const PtxVar *v)
{
	Type t = type_named(v->type + 1, strlen(v->type + 1));
	if (!t)
		load_fail(a, v->line, "%s: no variable can have the type %s", v->name, v->type);
	return t;
}

static u64 element_bytes(Pool *a, const PtxVar *v)
{
	return type_bytes[var_type(a, v)] * (u64)(v->vector4 ? 4 : v->vector2 ? 2 : 1);
}

u64 var_bytes(Pool *a, const PtxVar *v)
{
	u64 each = element_bytes(a, v);
	if (v->count < 0)
		return 0;
	if (v->count > INT32_MAX)
		load_fail(a, v->line, "%s: an array of %lld elements is too large", v->name,
			  (long long)v->count);
	return each * (u64)v->count;
}

static u64 var_align(Pool *a, const PtxVar *v)
{
	u64 align = v->align > 0 ? (u64)v->align : element_bytes(a, v);
	if (align & (align - 1) || align > 4096)
		load_fail(a, v->line, "%s: .align %lld is not a power of two up to 4096", v->name,
			  (long long)v->align);
	return align;
}

static u32 place(u32 *end, u64 align, u64 bytes)
{
	u32 at = (u32)((*end + align - 1) & ~(align - 1));
	*end = (u32)(at + bytes);
	return at;
}

static void declare_register(Dec *d, const PtxVar *v)
{
	Type t = var_type(d->a, v);
	if (v->vector2 || v->vector4)
		load_fail(d->a, v->line, "%s: vector registers are not simulated", v->name);
	Def def = {.kind = v->family ? D_FAMILY : D_REG,
		   .width = (u8)type_width((u8)t),
		   .count = v->count};
	if (!v->family)
		def = register_new(d, v->name, def.width);
	scope_define(d, v->name, def);
}

static u32 local_place(Dec *d, const PtxVar *v)
{
	u64 bytes = var_bytes(d->a, v);
	u32 at = place(&d->c->local_bytes, var_align(d->a, v), bytes);
	if (bytes > LOCAL_LIMIT || d->c->local_bytes > LOCAL_LIMIT)
		load_fail(d->a, v->line, "%s: more than 512 KiB of local memory a thread", v->name);
	return at;
}

static u32 shared_place(Dec *d, const PtxVar *v)
{
	Code *c = d->c;
	u64 bytes = var_bytes(d->a, v);
	if (bytes > SMEM_LIMIT || c->shared_bytes + bytes > SMEM_LIMIT)
		load_fail(d->a, v->line, "%s: more than %d bytes of shared memory", v->name,
			  SMEM_LIMIT);
	u32 end = SMEM_BASE + c->shared_bytes;
	u32 at = place(&end, var_align(d->a, v), bytes);
	c->shared_bytes = end - SMEM_BASE;
	POOL_PUSH(d->a, c->shared, c->nshared, c->shared_cap, (SharedVar){v->name, at, (u32)bytes});
	return at;
}

void declare(Dec *d, const PtxVar *v)
{
	if (strcmp(v->space, ".reg") == 0)
		declare_register(d, v);
	else if (strcmp(v->space, ".local") == 0)
		scope_define(d, v->name, (Def){.kind = D_CONST, .value = local_place(d, v)});
	else if (strcmp(v->space, ".param") == 0)
		scope_define(d, v->name,
			     (Def){.kind = D_BODY_PARAM,
				   .value = (s64)GEN_LOCAL + local_place(d, v)});
	else if (strcmp(v->space, ".shared") == 0 && v->count >= 0)
		return; /* shared_layout has placed it */
	else
		load_fail(d->a, v->line, "%s: %s cannot be declared in a function", v->name,
			  v->space);
}

void declare_params(Dec *d, const PtxFunc *f)
{
	Code *c = d->c;
	for (const PtxVar *v = f->params; v; v = v->next) {
		u64 bytes = var_bytes(d->a, v);
		u32 at = place(&c->param_bytes, var_align(d->a, v), bytes);
		if (bytes > PARAM_LIMIT || c->param_bytes > PARAM_LIMIT)
			load_fail(d->a, v->line, "%s: more than %d bytes of parameters", f->name,
				  PARAM_LIMIT);
		POOL_PUSH(d->a, c->params, c->nparams, c->params_cap,
			  (Param){v->name, at, (u32)bytes, (u32)var_align(d->a, v)});
		scope_define(d, v->name, (Def){.kind = D_PARAM, .value = at});
	}
}

static bool names_it(const PtxOperand *o, const char *name)
{
	for (; o; o = o->next)
		if ((o->name && strcmp(o->name, name) == 0) || names_it(o->list, name))
			return true;
	return false;
}

bool func_names(const PtxFunc *f, const char *name)
{
	for (const PtxStmt *s = f->body; s; s = s->next)
		if (s->kind == PS_INSN && names_it(s->args, name))
			return true;
	return false;
}

static void shared_of_body(Dec *d, const PtxFunc *f)
{
	for (const PtxStmt *s = f->body; s; s = s->next)
		if (s->kind == PS_VAR && strcmp(s->var->space, ".shared") == 0 &&
		    s->var->count >= 0)
			scope_define(d, s->var->name,
				     (Def){.kind = D_CONST, .value = shared_place(d, s->var)});
}

/* A kernel and the functions that it calls, directly or not. */
typedef struct {
	const PtxFunc **at;
	u32 n, cap;
} Reached;

static void reached_add(Dec *d, Reached *r, const char *name)
{
	for (const PtxFunc *f = d->m->ptx.funcs; f; f = f->next) {
		bool known = !f->has_body || strcmp(f->name, name) != 0;
		for (u32 i = 0; !known && i < r->n; i++)
			known = r->at[i] == f;
		if (known)
			continue;
		POOL_PUSH(d->a, r->at, r->n, r->cap, f);
	}
}

static Reached reached_from(Dec *d, const PtxFunc *kernel)
{
	Reached r = {0};
	reached_add(d, &r, kernel->name);
	for (u32 i = 0; i < r.n; i++) {
		for (const PtxStmt *s = r.at[i]->body; s; s = s->next) {
			if (s->kind != PS_INSN || strncmp(s->op, "call", 4) != 0)
				continue;
			for (const PtxOperand *o = s->args; o; o = o->next)
				if (o->kind == PO_NAME)
					reached_add(d, &r, o->name);
		}
	}
	return r;
}

static bool any_uses(const Reached *r, const char *name)
{
	for (u32 i = 0; i < r->n; i++)
		if (func_names(r->at[i], name))
			return true;
	return false;
}

/* What the system keeps for cooperative groups; 288 bytes of it are promised. */
static void shared_reserved(Dec *d, const Reached *r)
{
	static const PtxVar var = {.space = ".shared",
				   .type = ".b8",
				   .name = "%reserved_smem_offset_1",
				   .align = 16,
				   .count = 288};
	if (any_uses(r, var.name))
		scope_define(d, var.name, (Def){.kind = D_CONST, .value = shared_place(d, &var)});
}

/* Shared variables of the bodies that f reaches, and those of the module that they name: static
 * ones first, then the dynamic block, where every extern one starts. */
void shared_layout(Dec *d, const PtxFunc *f)
{
	const PtxVar *first = d->m->ptx.vars;
	const Reached reached = reached_from(d, f);
	u64 align = 16;
	shared_reserved(d, &reached);
	for (u32 i = 0; i < reached.n; i++)
		shared_of_body(d, reached.at[i]);
	for (const PtxVar *v = first; v; v = v->next) {
		if (strcmp(v->space, ".shared") != 0 || !any_uses(&reached, v->name))
			continue;
		if (v->count >= 0)
			scope_define(d, v->name,
				     (Def){.kind = D_CONST, .value = shared_place(d, v)});
		else if (var_align(d->a, v) > align)
			align = var_align(d->a, v);
	}
	u32 end = SMEM_BASE + d->c->shared_bytes;
	d->c->dynamic_offset = place(&end, align, 0);
	const Def dynamic = {.kind = D_CONST, .value = d->c->dynamic_offset};
	for (const PtxVar *v = first; v; v = v->next)
		if (strcmp(v->space, ".shared") == 0 && v->count < 0)
			scope_define(d, v->name, dynamic);
}
