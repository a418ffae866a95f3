/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* print.c - IR to text. Every op has one shape, so the tables are all that is needed:
 *     [%res =] mnemonic [sym, ...] [%in[at], ...] [(index, ...)] [attr=value ...] [: type]
 *     [{ body }]
 * Attributes come in the order of attrs.def. parse.c reads this very text back. */
#include "ir/ir.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *stage_name(Stage s)
{
	return s == ST_TILE ? "tile" : s == ST_WARP ? "warp" : "ptx";
}

static void print_indent(Buf *out, int depth)
{
	for (int i = 0; i < depth; i++)
		buf_add(out, "  ", 2);
}

/* The fewest digits that read back as the same number. */
static void print_real(double v, Buf *out)
{
	char text[40];
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (isnan(v) || strtod(text, NULL) == v)
			break;
	}
	buf_printf(out, "%s", isnan(v) ? "nan" : text);
}

static void print_ints(const Attr *a, Buf *out)
{
	for (int i = 0; i < a->n; i++)
		buf_printf(out, "%s%" PRId64, i ? "," : "(", a->i[i]);
	buf_printf(out, ")");
}

static void print_attr(const Attr *a, Buf *out)
{
	buf_printf(out, " %s=", attr_rows[a->id].name);
	switch (attr_rows[a->id].kind) {
	case AK_INT:
		buf_printf(out, "%" PRId64, a->i[0]);
		break;
	case AK_INTS:
		print_ints(a, out);
		break;
	case AK_REAL:
		print_real(a->real, out);
		break;
	case AK_STR:
		buf_printf(out, "%s", a->str);
		break;
	case AK_ATOM:
		atom_print(a->atom, out);
		break;
	}
}

static void print_attrs(const Attrs *attrs, Buf *out)
{
	for (int i = 0; i < attrs->n; i++)
		print_attr(&attrs->at[i], out);
}

static void print_operands(const Op *op, Buf *out)
{
	for (int i = 0; i < op->nin; i++) {
		buf_printf(out, "%s%%%s", i ? ", " : " ", op->in[i].val->name);
		if (!op->in[i].at)
			continue;
		buf_printf(out, "[");
		ix_print(op->in[i].at, out);
		buf_printf(out, "]");
	}
}

static void print_indices(const Op *op, Buf *out)
{
	for (int i = 0; i < op->nix; i++) {
		buf_printf(out, "%s", i ? ", " : " (");
		ix_print(op->ix[i], out);
	}
	if (op->nix)
		buf_printf(out, ")");
}

void op_print(const Op *op, Buf *out)
{
	if (op->out)
		buf_printf(out, "%%%s = ", op->out->name);
	buf_printf(out, "%s", op_rows[op->kind].name);
	for (int i = 0; i < op->nsym; i++)
		buf_printf(out, "%s%s", i ? ", " : " ", op->sym[i]);
	print_operands(op, out);
	print_indices(op, out);
	print_attrs(&op->attrs, out);
	if (op->out) {
		buf_printf(out, " : ");
		type_print(op->out->type, out);
	}
}

static void print_block(const Block *b, int depth, Buf *out)
{
	for (const Op *op = b->first; op; op = op->next) {
		print_indent(out, depth);
		op_print(op, out);
		if (op->body) {
			buf_printf(out, " {\n");
			print_block(op->body, depth + 1, out);
			print_indent(out, depth);
			buf_printf(out, "}");
		}
		buf_printf(out, "\n");
	}
}

static void print_quoted(const char *s, Buf *out)
{
	buf_printf(out, " \"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_printf(out, "\\%c", *s);
		else if ((unsigned char)*s < ' ')
			buf_printf(out, "\\x%02x", (unsigned char)*s);
		else
			buf_add(out, s, 1);
	}
	buf_printf(out, "\"");
}

static void print_sym(const IxFact *f, Buf *out)
{
	buf_printf(out, "  sym %s ", f->name);
	if (f->lo != INT64_MIN)
		buf_printf(out, "%" PRId64, f->lo);
	buf_printf(out, "..");
	if (f->hi != INT64_MAX)
		buf_printf(out, "%" PRId64, f->hi);
	if (f->div != 1)
		buf_printf(out, " div=%" PRId64, f->div);
	buf_printf(out, "\n");
}

static void print_fact(const Fact *f, Buf *out)
{
	buf_printf(out, "  fact (");
	ix_print(f->cond, out);
	buf_printf(out, ")");
	print_quoted(f->text ? f->text : "", out);
	print_quoted(f->rule ? f->rule : "", out);
	buf_printf(out, "\n");
}

void kernel_print(const Kernel *k, Buf *out)
{
	buf_printf(out, "kernel %s %s %s", k->name, stage_name(k->stage), k->target);
	print_attrs(&k->attrs, out);
	buf_printf(out, " {\n");
	for (int i = 0; i < k->syms.n; i++)
		print_sym(&k->syms.at[i], out);
	for (int i = 0; i < k->facts.n; i++)
		print_fact(&k->facts.at[i], out);
	EACH(const Arg, a, k->args) {
		buf_printf(out, "  arg %s%%%s : ",
			   a->is_workspace  ? "workspace "
			   : a->is_inout    ? "inout "
			   : a->is_out      ? "out "
			   : a->is_constant ? "constant "
			   : a->is_in_place ? "in_place "
					    : "",
			   a->val->name);
		type_print(a->val->type, out);
		buf_printf(out, "\n");
	}
	print_block(&k->body, 1, out);
	buf_printf(out, "}\n");
}

void module_print(const Module *m, Buf *out)
{
	for (int i = 0; i < m->kernels.n; i++) {
		if (i)
			buf_printf(out, "\n");
		kernel_print(m->kernels.at[i], out);
	}
}
