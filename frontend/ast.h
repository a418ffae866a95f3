/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ast.h - the syntax tree, private to the frontend. All nodes are of one shape: a kind (ast.def
 * says what the children are), a place, a name, an operator or a number. They live in an arena of
 * their own, which frontend_compile frees; names are interned in the Ctx. */
#ifndef DSL_AST_H
#define DSL_AST_H

#include "ir/ir.h"

typedef enum {
#define NODE(id, text) N_##id,
#include "frontend/ast.def"
	N_COUNT
} NodeKind;

typedef enum {
#define OPERATOR(id, ...) OPER_##id,
#include "frontend/operators.def"
	OPER_COUNT
} Operator;

typedef struct {
	const char *name;
	IxKind ix; /* of integers */
	enum { PLAIN, SWAPPED, LESS } order;
	OpKind op;        /* of tiles; OP_COUNT: none */
	int layout;       /* of layouts: a row of layout_ops.def; LAYOUT_OP_COUNT: none */
	const char *help; /* where tiles have none; or "" */
} OperatorRow;
extern const OperatorRow operator_rows[OPER_COUNT];

/* The words of words.def; W_NONE: of a name that is none. */
typedef enum {
	W_NONE,
#define KEYWORD(id, ...) W_##id,
#define INNER(id, ...)   W_##id,
#define CALL(id, ...)    W_##id,
#include "frontend/words.def"
	W_COUNT
} Word;

typedef struct Node Node;
struct Node {
	NodeKind kind;
	Operator op; /* UNARY, BINARY */
	Word word;   /* that the name is */
	int depth;   /* of the tree below, itself included */
	int parens;  /* how many pairs of parentheses stand around it */
	Loc loc, name_loc;
	const char *name;
	int64_t num;
	double real;
	VEC(Node *) kids;
};

/* The state of one parse: lexer and grammar share it. */
typedef struct {
	Ctx *ctx;
	Arena *arena;
	int src, at;  /* source, byte offset of the next token */
	int start;    /* the token that chooses what is parsed: a file or an expression */
	Loc comment;  /* where the comment being read began */
	bool lexical; /* an error of the lexer, from which one of the grammar may follow */
	bool stopped; /* too many errors, or one after which nothing can follow */
	int errors;
	Node *result;
} Parser;

enum { AST_DEPTH_MAX = 200, PARSE_ERRORS_MAX = 20 };

Node *node_new(Parser *p, NodeKind kind, Loc loc);
Node *node_named(Parser *p, NodeKind kind, Loc loc, const Node *name); /* name: a NAME node */
Node *node_add(Parser *p, Node *parent, Node *kid);                    /* gives parent */
Node *node_take(Parser *p, Node *parent, Node *list);                  /* adds all kids of list */
Node *node1(Parser *p, NodeKind kind, Loc loc, Node *a);
Node *node2(Parser *p, NodeKind kind, Loc loc, Node *a, Node *b);
Node *node3(Parser *p, NodeKind kind, Loc loc, Node *a, Node *b, Node *c);
Node *node_op(Parser *p, Loc loc, Operator op, Node *a, Node *b); /* b NULL: unary */
Node *node_chain(Parser *p, Loc loc, Node *a, Node *b);           /* a o b */
bool node_calls(const Node *n, Word word);                        /* word(..) */
void ast_print(const Node *n, Buf *out);

/* parser.c: NULL after errors were reported */
typedef Node *ParseText(Ctx *c, Arena *a, int src);
Node *parse_file(Ctx *c, Arena *a, int src);
Node *parse_expr(Ctx *c, Arena *a, int src);
Node *parse_query(Ctx *c, Arena *a, int src);   /* LIST of an expression, LIST of WHERE or NONE */
Node *parse_clauses(Ctx *c, Arena *a, int src); /* BLOCK of CLAUSE */

/* Before each report: false when no more should be made. */
bool parse_error_counts(Parser *p);
bool lex_error_counts(Parser *p);

#endif
