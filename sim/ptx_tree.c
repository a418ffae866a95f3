/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptx_tree.c - what the grammar builds, one call per production. */
#include "sim/ptx.h"

PtxOperand *ptx_operand(PtxModule *m, PtxOperandKind kind, const char *name, s64 imm)
{
	PtxOperand *o = pool_new(m->pool, sizeof *o);
	o->kind = kind;
	o->name = name;
	o->imm = imm;
	return o;
}

PtxOperand *ptx_list(PtxModule *m, PtxOperandKind kind, PtxOperand *list)
{
	PtxOperand *o = ptx_operand(m, kind, NULL, 0);
	o->list = list;
	for (; list; list = list->next)
		o->n++;
	return o;
}

PtxOperand *ptx_append(PtxOperand *list, PtxOperand *more)
{
	(list->last ? list->last : list)->next = more;
	list->last = more;
	return list;
}

PtxVar *ptx_var(PtxModule *m, int line, const char *name)
{
	PtxVar *v = pool_new(m->pool, sizeof *v);
	v->name = name;
	v->line = line;
	return v;
}

void ptx_stmt(PtxModule *m, PtxStmtKind kind, int line, const char *op, PtxOperand *args)
{
	PtxStmt *s = pool_new(m->pool, sizeof *s);
	s->kind = kind;
	s->line = line;
	s->loc = m->loc;
	s->op = op;
	s->args = args;
	*m->stmt_end = s;
	m->stmt_end = &s->next;
}

void ptx_guarded(PtxModule *m, int line, const char *guard, bool negated, const char *op,
		 PtxOperand *args)
{
	ptx_stmt(m, PS_INSN, line, op, args);
	PtxStmt *s = (PtxStmt *)((char *)m->stmt_end - offsetof(PtxStmt, next));
	s->guard = guard;
	s->guard_not = negated;
}

void ptx_file(PtxModule *m, s64 number, const char *name)
{
	if (number < 0 || number > 4095)
		load_fail(m->pool, 0, ".file %lld: more than 4095 files", (long long)number);
	int need = (int)number + 1;
	if (need > m->nfiles) {
		m->files = pool_grow(m->pool, m->files, (size_t)m->nfiles * sizeof *m->files,
				     (size_t)need * sizeof *m->files);
		m->nfiles = need;
	}
	m->files[number] = name;
}

static PtxPlace outermost(const PtxModule *m, PtxPlace at)
{
	u32 n = m->ninlined < SIM_COUNT(m->inlined) ? m->ninlined : SIM_COUNT(m->inlined);
	for (u32 i = 1; i <= n; i++) {
		const PtxInlined *p = &m->inlined[(m->ninlined - i) % SIM_COUNT(m->inlined)];
		if (p->at.file == at.file && p->at.line == at.line && p->at.column == at.column)
			return p->outer;
	}
	return at;
}

/* .loc 8 62 3, inlined_at 7 35 13  after  .loc 7 35 13, inlined_at 1 24 3  is line 24 of 1. */
void ptx_loc(PtxModule *m, PtxPlace at, const PtxPlace *inlined_at)
{
	m->loc = at;
	if (!inlined_at)
		return;
	m->loc = outermost(m, *inlined_at);
	m->inlined[m->ninlined++ % SIM_COUNT(m->inlined)] = (PtxInlined){at, m->loc};
}

PtxFunc *ptx_func(PtxModule *m, int line, const char *name, bool entry)
{
	PtxFunc *f = pool_new(m->pool, sizeof *f);
	f->name = name;
	f->line = line;
	f->entry = entry;
	if (*m->func_end)
		m->func_end = &(*m->func_end)->next;
	*m->func_end = f;
	m->stmt_end = &f->body;
	m->loc = (PtxPlace){0};
	m->ninlined = 0;
	return f;
}

void ptx_target(PtxModule *m, int line, PtxOperand *list)
{
	for (PtxOperand *o = list; o; o = o->next)
		if (o->kind == PO_NAME && strncmp(o->name, "sm_", 3) == 0)
			m->target = o->name;
	if (!m->target)
		load_fail(m->pool, line, ".target names no sm_ architecture");
}

static void bound_three(s64 to[3], PtxOperand *list)
{
	to[0] = to[1] = to[2] = 1;
	for (int i = 0; list && i < 3; i++, list = list->next)
		to[i] = list->imm;
}

void ptx_bound(PtxModule *m, PtxFunc *f, int line, const char *directive, PtxOperand *list)
{
	for (PtxOperand *o = list; o; o = o->next)
		if (o->imm < 0 || o->imm > INT32_MAX)
			load_fail(m->pool, line, "%s %lld is out of range", directive,
				  (long long)o->imm);
	if (strcmp(directive, ".maxntid") == 0)
		bound_three(f->maxntid, list);
	else if (strcmp(directive, ".reqntid") == 0)
		bound_three(f->reqntid, list);
	else if (strcmp(directive, ".reqnctapercluster") == 0) {
		bound_three(f->cluster, list);
		f->has_cluster = true;
	} else if (strcmp(directive, ".maxnreg") == 0)
		f->maxnreg = list->imm;
	else if (strcmp(directive, ".minnctapersm") == 0)
		f->minctas = list->imm;
}
