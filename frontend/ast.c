/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ast.c - makes nodes and prints them, one a line, children indented (--emit=ast):
 *     const bM = 64;    ->    const
 *                               bind bM
 *                                 int 64
 * A tree deeper than AST_DEPTH_MAX is reported and cut, so that every later walk may recurse. */
#include "frontend/ast.h"

#include <string.h>

static const char *const node_texts[N_COUNT] = {
#define NODE(id, text) [N_##id] = text,
#include "frontend/ast.def"
};

const OperatorRow operator_rows[OPER_COUNT] = {
#define OPERATOR(id, name, ix, order, op, layout, help) \
	[OPER_##id] = {name, IX_##ix, order, OP_##op, LAYOUT_OP_##layout, help},
#include "frontend/operators.def"
};

Node *node_new(Parser *p, NodeKind kind, Loc loc)
{
	Node *n = NEW(p->arena, Node);
	n->kind = kind;
	n->depth = 1;
	n->loc = n->name_loc = loc;
	return n;
}

Node *node_named(Parser *p, NodeKind kind, Loc loc, const Node *name)
{
	Node *n = node_new(p, kind, loc);
	n->name = name->name;
	n->word = name->word;
	n->name_loc = name->loc;
	return n;
}

static void cut(Parser *p, Node *n)
{
	if (parse_error_counts(p))
		diag(p->ctx, n->loc, D_E0106, "nested deeper than %d levels", AST_DEPTH_MAX);
	p->stopped = true;
	n->kind = N_ERROR;
	n->depth = 1;
	n->kids.n = 0;
}

Node *node_add(Parser *p, Node *parent, Node *kid)
{
	vec_push(p->arena, &parent->kids, kid);
	if (kid->depth >= parent->depth)
		parent->depth = kid->depth + 1;
	if (parent->depth > AST_DEPTH_MAX)
		cut(p, parent);
	return parent;
}

Node *node_take(Parser *p, Node *parent, Node *list)
{
	for (int i = 0; i < list->kids.n; i++)
		node_add(p, parent, list->kids.at[i]);
	return parent;
}

Node *node1(Parser *p, NodeKind kind, Loc loc, Node *a)
{
	return node_add(p, node_new(p, kind, loc), a);
}

Node *node2(Parser *p, NodeKind kind, Loc loc, Node *a, Node *b)
{
	return node_add(p, node1(p, kind, loc, a), b);
}

Node *node3(Parser *p, NodeKind kind, Loc loc, Node *a, Node *b, Node *c)
{
	return node_add(p, node2(p, kind, loc, a, b), c);
}

Node *node_op(Parser *p, Loc loc, Operator op, Node *a, Node *b)
{
	Node *n = b ? node2(p, N_BINARY, loc, a, b) : node1(p, N_UNARY, loc, a);
	n->op = op;
	return n;
}

Node *node_chain(Parser *p, Loc loc, Node *a, Node *b)
{
	if (a->kind != N_COMPOSE)
		return node2(p, N_COMPOSE, loc, a, b);
	a->loc = loc;
	return node_add(p, a, b);
}

bool node_calls(const Node *n, Word word)
{
	return n->kind == N_CALL && n->kids.at[0]->kind == N_NAME && n->kids.at[0]->word == word;
}

static void print_quoted(const char *s, Buf *out)
{
	buf_printf(out, " \"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_add(out, "\\", 1);
		if (*s == '\n')
			buf_add(out, "\\n", 2);
		else
			buf_add(out, s, 1);
	}
	buf_printf(out, "\"");
}

static void print_at(const Node *n, int indent, Buf *out)
{
	buf_printf(out, "%*s%s", indent, "", node_texts[n->kind]);
	if (n->kind == N_STR)
		print_quoted(n->name, out);
	else if (n->name || n->op)
		buf_printf(out, " %s", n->name ? n->name : operator_rows[n->op].name);
	if (n->kind == N_INT)
		buf_printf(out, " %lld", (long long)n->num);
	if (n->kind == N_REAL)
		buf_printf(out, " %.17g", n->real);
	buf_printf(out, "\n");
	for (int i = 0; i < n->kids.n; i++)
		print_at(n->kids.at[i], indent + 2, out);
}

void ast_print(const Node *n, Buf *out)
{
	print_at(n, 0, out);
}
