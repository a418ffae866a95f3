/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* decode.c - from the tree of ptx.y to arrays of instructions that can be run: one Code per kernel,
 * calls inlined, labels resolved, reconvergence points set. What it does not know it refuses here.
 *   call.uni (r), f, (a);  ->  the body of f, its parameters bound to r and a, ret a jump */
#include "sim/decode.h"
#include "sim/handlers.h"
#include "sim/machine.h"

#include <stdio.h>

enum { INS_LIMIT = 1 << 20 };

static void body_decode(Dec *d, const PtxStmt *s);

static Ins *ins_new(Dec *d, const PtxStmt *s)
{
	Code *c = d->c;
	if (c->nins >= INS_LIMIT)
		load_fail(d->a, s->line, "%s has more than %d instructions, calls inlined", c->name,
			  INS_LIMIT);
	POOL_PUSH(d->a, c->ins, c->nins, c->ins_cap, (Ins){0});
	Ins *in = &c->ins[c->nins - 1];
	in->line = s->line;
	in->loc_file = (u16)s->loc.file;
	in->loc_line = s->loc.line;
	in->target = in->reconv = -1;
	in->text = s->op ? s->op : "";
	return in;
}

static void guard_set(Dec *d, Ins *in, const PtxStmt *s)
{
	if (!s->guard)
		return;
	Def *p = scope_look(d, s->guard);
	if (!p || p->kind != D_REG || p->width != 1)
		load_fail(d->a, s->line, "@%s: not a predicate", s->guard);
	in->guarded = true;
	in->guard = p->slot;
	in->guard_not = s->guard_not;
}

static void fixup_add(Dec *d, const Ins *in, u32 arg, const char *name)
{
	POOL_PUSH(d->a, d->fixups, d->nfixups, d->fixups_cap,
		  (Fixup){(u32)(in - d->c->ins), arg, d->scope, name, in->line});
}

static void labels_fix(Dec *d)
{
	for (u32 i = 0; i < d->nfixups; i++) {
		const Fixup *f = &d->fixups[i];
		s64 at = -1;
		for (Scope *s = f->scope; s && at < 0; s = s->parent)
			if (!map_get(&s->labels, f->name, &at))
				at = -1;
		if (at < 0)
			load_fail(d->a, f->line, "there is no label %s", f->name);
		d->c->ins[f->ins].target = (s32)at;
	}
}

/* A branch to a label that the decoder makes up itself. */
static void jump_to(Dec *d, const PtxStmt *s, const char *label)
{
	Ins *in = ins_new(d, s);
	in->run = run_bra;
	in->text = "bra";
	guard_set(d, in, s);
	fixup_add(d, in, 0, label);
}

static const char *text_of(Dec *d, const char *fmt, ...) SIM_PRINTF(2, 3);
static const char *text_of(Dec *d, const char *fmt, ...)
{
	char text[160];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return pool_text(d->a, text, strlen(text));
}

/* What is not simulated of an instruction that no row fits, by the last row that came close: the
 * text may be wrong, or right and unknown here; the kernel may never reach it. */
static const char *insn_lacks(Dec *d, const char *stuck, const char *why)
{
	if (d->no_sreg)
		return text_of(d, "unknown special register %.60s", d->no_sreg);
	if (why)
		return why;
	if (stuck && !*stuck)
		return "a modifier or type is missing";
	return stuck ? text_of(d, "not known here: .%.40s", stuck) : "unknown instruction";
}

static void insn_decode(Dec *d, const PtxStmt *s)
{
	const char *stuck = NULL, *why = NULL, *classes;
	u32 row = 0;
	Ins *in = ins_new(d, s);
	d->no_sreg = NULL;
	while ((classes = insn_next(in, &row, s->op, &stuck)) != NULL)
		if (operands_decode(d, in, classes, s->args, &why))
			break;
	guard_set(d, in, s);
	if (!classes) {
		in->nargs = 0;
		lack(in, insn_lacks(d, stuck, why));
		return;
	}
	if (in->run == run_bra)
		fixup_add(d, in, 0, s->args->name);
	insn_prepare(d->a, in, row - 1);
	d->c->uses_wgmma |= in->run == run_wgmma;
	bool global = mem_space(in) == SP_GLOBAL || mem_space(in) == SP_GENERIC;
	if (in->run == run_atom) {
		d->c->global_atomics |= global;
		d->c->draws |= global && has(in, M_ADD) && in->args[0].kind != A_MEM;
	}
	if (in->run == run_ld)
		d->c->waits |= has(in, M_ACQUIRE) && global;
}

static const PtxFunc *func_find(Dec *d, const char *name)
{
	const PtxFunc *found = NULL;
	for (const PtxFunc *f = d->m->ptx.funcs; f; f = f->next)
		if (strcmp(f->name, name) == 0 && (!found || f->has_body))
			found = f;
	return found;
}

/* Names of parameters or results mean the variables that the caller passes. */
static void bind(Dec *d, const PtxStmt *s, Scope *caller, const PtxVar *formals,
		 const PtxOperand *actuals)
{
	const PtxOperand *o = actuals ? actuals->list : NULL;
	for (const PtxVar *v = formals; v; v = v->next, o = o->next) {
		Scope *callee = d->scope;
		d->scope = caller;
		const Def *def = o && o->kind == PO_NAME ? scope_look(d, o->name) : NULL;
		d->scope = callee;
		if (!def)
			load_fail(d->a, s->line, "%s: an argument for %s is missing", s->op,
				  v->name);
		scope_define(d, v->name, *def);
	}
}

static void call_inline(Dec *d, const PtxStmt *s, const PtxFunc *f, const PtxOperand *results,
			const PtxOperand *params)
{
	Scope *caller = d->scope, *outer = caller;
	const char *ret = d->ret;
	char label[32];
	while (outer->parent)
		outer = outer->parent;
	int n = snprintf(label, sizeof label, "return %u", d->inlined++);
	char *skip = pool_text(d->a, label, (size_t)n + 1);
	skip[n] = '+';
	if (s->guard) {
		PtxStmt around = *s;
		around.guard_not = !s->guard_not;
		jump_to(d, &around, skip);
	}
	d->ret = pool_text(d->a, label, (size_t)n);
	scope_push(d, outer);
	Scope *inside = d->scope;
	bind(d, s, caller, f->params, params);
	bind(d, s, caller, f->results, results);
	d->calls[d->depth++] = f;
	body_decode(d, f->body);
	d->depth--;
	map_put(d->a, &inside->labels, d->ret, d->c->nins);
	d->scope = caller;
	d->ret = ret;
	map_put(d->a, &caller->labels, skip, d->c->nins);
}

static bool calls_itself(const Dec *d, const PtxFunc *f)
{
	for (int i = 0; i < d->depth; i++)
		if (d->calls[i] == f)
			return true;
	return d->depth == CALL_DEPTH;
}

static void call_lacks(Dec *d, const PtxStmt *s, const char *what)
{
	Ins *in = ins_new(d, s);
	guard_set(d, in, s);
	lack(in, what);
}

/* Functions of the device's own library that need no body. */
static bool call_known(Dec *d, const PtxStmt *s, const char *name)
{
	bool trap = strcmp(name, "__assertfail") == 0;
	if (!trap && strcmp(name, "vprintf") != 0)
		return false;
	Ins *in = ins_new(d, s);
	in->run = trap ? run_trap : run_nop;
	in->text = name;
	guard_set(d, in, s);
	return true;
}

static void call_decode(Dec *d, const PtxStmt *s)
{
	const PtxOperand *o = s->args, *results = NULL;
	if (o && o->kind == PO_PAREN) {
		results = o;
		o = o->next;
	}
	if (!o || o->kind != PO_NAME)
		load_fail(d->a, s->line, "%s: a function is needed here", s->op);
	const PtxFunc *f = func_find(d, o->name);
	if (f && f->has_body && calls_itself(d, f))
		call_lacks(d, s, text_of(d, "recursion of %.80s is not simulated", o->name));
	else if (f && f->has_body)
		call_inline(d, s, f, results, o->next);
	else if (o->name[0] == '%')
		call_lacks(d, s, "calls through pointers are not simulated");
	else if (!call_known(d, s, o->name))
		call_lacks(d, s, text_of(d, "%.80s has no body in this module", o->name));
}

static void stmt_decode(Dec *d, const PtxStmt *s)
{
	switch (s->kind) {
	case PS_OPEN:
		scope_push(d, d->scope);
		break;
	case PS_CLOSE:
		d->scope = d->scope->parent;
		break;
	case PS_LABEL:
		map_put(d->a, &d->scope->labels, s->op, d->c->nins);
		break;
	case PS_VAR:
	case PS_REG:
		declare(d, s->var);
		break;
	case PS_INSN:
		if (strncmp(s->op, "call", 4) == 0)
			call_decode(d, s);
		else if (d->ret && strncmp(s->op, "ret", 3) == 0)
			jump_to(d, s, d->ret);
		else
			insn_decode(d, s);
		break;
	}
}

static void body_decode(Dec *d, const PtxStmt *s)
{
	for (; s; s = s->next)
		stmt_decode(d, s);
}

static void bounds_take(Code *c, const PtxFunc *f)
{
	const s64 *block = f->reqntid[0] ? f->reqntid : f->maxntid;
	for (int i = 0; i < 3; i++) {
		c->block[i] = (u32)block[i];
		c->cluster[i] = (u32)f->cluster[i];
	}
	c->block_fixed = f->reqntid[0] != 0;
	c->has_cluster = f->has_cluster;
	c->maxnreg = (u32)f->maxnreg;
	c->minctas = (u32)f->minctas;
}

static Code *func_decode(SimModule *m, const PtxFunc *f)
{
	Code *c = pool_new(&m->pool, sizeof *c);
	Dec d = {.m = m, .a = &m->pool, .c = c};
	PtxStmt end = {.kind = PS_INSN, .line = f->line, .op = "ret"};
	c->name = f->name;
	bounds_take(c, f);
	scope_push(&d, NULL);
	shared_layout(&d, f);
	declare_params(&d, f);
	scope_push(&d, d.scope);
	body_decode(&d, f->body);
	insn_decode(&d, &end);
	labels_fix(&d);
	c->file_bytes = d.used;
	code_flow(&m->pool, c);
	return c;
}

void module_decode(SimModule *m)
{
	for (const PtxFunc *f = m->ptx.funcs; f; f = f->next) {
		if (!f->entry || !f->has_body)
			continue;
		POOL_PUSH(&m->pool, m->codes, m->ncodes, m->codes_cap, func_decode(m, f));
	}
}
