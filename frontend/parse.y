/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
%code top {
/* parse.y - tokens to nodes: each action is one node_* call; meaning is sema's.
 * docs/book/reference.md has this grammar.
 * After a mistake it goes on after the next ; or }, so that one run reports several. */
}
%code requires {
#include "frontend/ast.h"
#include "frontend/lex.h"
}
%code {
#include "ir/ir.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define YYLLOC_DEFAULT(cur, rhs, n) ((cur) = loc_of_rule(rhs, n))
#define YYMAXDEPTH                  8000

static Loc loc_of_rule(const Loc *rhs, int n);
static Node *none(Parser *p, Loc loc);
static Node *tuple(Parser *p, Loc loc, Node *list);
static void yyerror(Loc *loc, Scanner scanner, Parser *p, const char *what);
}

%define api.pure full
%define api.prefix {dsl_yy}
%define api.token.prefix {TOK_}
%define api.value.type {Node *}
%define parse.error custom
%define parse.lac full
%define api.location.type {Loc}
%locations
%expect 0
%param {Scanner scanner}
%parse-param {Parser *p}

%token START_FILE "a file" START_EXPR "an expression" START_QUERY "a layout"
%token START_CLAUSES "clauses of a schedule"
%token KERNEL "'kernel'" CONST "'const'" LET "'let'" LAYOUT "'layout'" MMA "'mma'" SMEM "'smem'"
%token TMA "'tma'" COPY "'copy'" PIPELINE "'pipeline'" FOR "'for'" IN "'in'" OUT "'out'" VIA "'via'"
%token WHERE "'where'" TARGET "'target'" SCHEDULE "'schedule'" ASSERT "'static_assert'"
%token FROM "'from'" INOUT "'inout'" CONSTANT "'constant'" PRINT "'print'" O "'o'"
%token NAME "a name" TEMPLATE "a name with <...>" INT "an integer" REAL "a number" STR "a string"
%token ARROW "'<-'" PLUSEQ "'+='" DOTDOT "'..'" AND "'&&'" OR "'||'" EQ "'=='" NE "'!='"
%token LE "'<='" GE "'>='" SHL "'<<'" SHR "'>>'"

%%

start:
  START_FILE items              { p->result = $2; }
| START_EXPR expr               { p->result = $2; }
| START_QUERY expr              { p->result = node2(p, N_LIST, @$, $2, none(p, @$)); }
| START_QUERY expr WHERE conds  { p->result = node2(p, N_LIST, @$, $2, $4); }
| START_CLAUSES given_clauses   { p->result = $2; }
;

items:
  %empty                        { $$ = node_new(p, N_FILE, @$); }
| items item                    { $$ = node_add(p, $1, $2); }
| items ';'
| items error ';'               { yyerrok; }
| items error '}'               { yyerrok; }
;

item: /* a statement too: sema says where it belongs */
  kernel
| stmt
;

/* ---------------------------------------------------------------- kernels */
kernel:
  KERNEL NAME '(' args ')' clauses_of_kernel block
	{ $$ = node_add(p, node_add(p, node_add(p, node_named(p, N_KERNEL, @$, $2), $4), $6), $7); }
| KERNEL error block            { $$ = node_new(p, N_ERROR, @$); yyerrok; }
;

args:
  %empty                        { $$ = node_new(p, N_LIST, @$); }
| arg_list
;

arg_list:
  arg                           { $$ = node1(p, N_LIST, @$, $1); }
| arg_list ',' arg              { $$ = node_add(p, $1, $3); }
;

arg:
  NAME ':' type                 { $$ = node_add(p, node_named(p, N_ARG, @$, $1), $3); }
| NAME ':' ways type
	{ $$ = node_take(p, node_add(p, node_named(p, N_ARG, @$, $1), $4), $3); }
;

ways:
  way                           { $$ = node1(p, N_LIST, @$, $1); }
| ways way                      { $$ = node_add(p, $1, $2); }
;

way:
  OUT                           { $$ = node_named(p, N_WAY, @$, $1); }
| INOUT                         { $$ = node_named(p, N_WAY, @$, $1); }
| CONSTANT                      { $$ = node_named(p, N_WAY, @$, $1); }
;

type:
  NAME                          { $$ = node_add(p, node_named(p, N_TYPE, @$, $1), none(p, @$)); }
| NAME expr                     { $$ = node_add(p, node_named(p, N_TYPE, @$, $1), $2); }
;

clauses_of_kernel:
  %empty                        { $$ = node_new(p, N_LIST, @$); }
| clauses_of_kernel TARGET NAME { $$ = node_add(p, $1, node_named(p, N_TARGET, @3, $3)); }
| clauses_of_kernel WHERE conds { $$ = node_take(p, $1, $3); }
;

conds:
  expr                          { $$ = node1(p, N_LIST, @$, node1(p, N_WHERE, @1, $1)); }
| conds ',' expr                { $$ = node_add(p, $1, node1(p, N_WHERE, @3, $3)); }
;

/* ---------------------------------------------------------------- statements */
block:
  '{' stmts '}'                 { $$ = $2; $$->loc = @$; }
| '{' stmts error '}'           { $$ = $2; $$->loc = @$; yyerrok; }
;

stmts:
  %empty                        { $$ = node_new(p, N_BLOCK, @$); }
| stmts stmt                    { $$ = node_add(p, $1, $2); }
| stmts ';'
| stmts error ';'               { yyerrok; }
| stmts error block             { yyerrok; }
;

stmt:
  binding
| check
| FOR names IN expr block       { $$ = node3(p, N_FOR, @$, $2, $4, $5); }
| FOR names IN sum DOTDOT sum block
	{
		Node *range = node3(p, N_RANGE, loc_join(@4, @6), $4, $6, none(p, @5));
		$$ = node3(p, N_FOR, @$, $2, range, $7);
	}
| FOR error block               { $$ = node_new(p, N_ERROR, @$); yyerrok; }
| NAME ':' type '=' expr ';'
	{ $$ = node_add(p, node_add(p, node_named(p, N_DECL, @$, $1), $3), $5); }
| NAME ':' buffer_type ARROW expr ';'
	{ $$ = node_add(p, node_add(p, node_named(p, N_DECLCOPY, @$, $1), $3), $5); }
| place ARROW expr ';'          { $$ = node3(p, N_COPY, @$, $1, $3, none(p, @4)); }
| place ARROW expr VIA name ';' { $$ = node3(p, N_COPY, @$, $1, $3, $5); }
| place PLUSEQ expr ';'         { $$ = node2(p, N_ACCUM, @$, $1, $3); }
| place '=' expr ';'            { $$ = node2(p, N_ASSIGN, @$, $1, $3); }
| SCHEDULE '{' clauses '}'      { $$ = $3; $$->kind = N_SCHEDULE; $$->loc = @$; }
| SCHEDULE '{' clauses error '}' { $$ = node_new(p, N_ERROR, @$); yyerrok; }
| SCHEDULE NAME ';'             { $$ = node_named(p, N_SCHEDULE, @$, $2); }
;

buffer_type:
  NAME '.' NAME                 { $$ = node_add(p, node_named(p, N_FIELD, @$, $3), $1); }
;

binding:
  CONST binds ';'               { $$ = node_take(p, node_new(p, N_CONST, @$), $2); }
| LET binds ';'                 { $$ = node_take(p, node_new(p, N_LET, @$), $2); }
| LAYOUT binds ';'              { $$ = node_take(p, node_new(p, N_LAYOUT, @$), $2); }
| MMA binds ';'                 { $$ = node_take(p, node_new(p, N_MMA, @$), $2); }
| TMA binds ';'                 { $$ = node_take(p, node_new(p, N_TMA, @$), $2); }
| COPY binds ';'                { $$ = node_take(p, node_new(p, N_COPYATOM, @$), $2); }
| SMEM buffers ';'              { $$ = node_take(p, node_new(p, N_SMEM, @$), $2); }
| PIPELINE NAME slots '{' members '}'
	{ $$ = node_add(p, node_add(p, node_named(p, N_PIPELINE, @$, $2), $3), $5); }
| PIPELINE error '}'            { $$ = node_new(p, N_ERROR, @$); yyerrok; }
;

check:
  ASSERT '(' expr ')' ';'       { $$ = node2(p, N_ASSERT, @$, $3, none(p, @4)); }
| ASSERT '(' expr ',' STR ')' ';' { $$ = node2(p, N_ASSERT, @$, $3, $5); }
| PRINT '(' exprs ')' ';'       { $$ = node_take(p, node_new(p, N_PRINT, @$), $3); }
;

binds:
  bind                          { $$ = node1(p, N_LIST, @$, $1); }
| binds ',' bind                { $$ = node_add(p, $1, $3); }
;

bind:
  NAME '=' expr                 { $$ = node_add(p, node_named(p, N_BIND, @$, $1), $3); }
| NAME '=' expr FROM sum DOTDOT sum
	{
		Node *rows = node3(p, N_FROM, loc_join(@3, @7), $3, $5, $7);
		$$ = node_add(p, node_named(p, N_BIND, @$, $1), rows);
	}
;

buffers:
  buffer                        { $$ = node1(p, N_LIST, @$, $1); }
| buffers ',' buffer            { $$ = node_add(p, $1, $3); }
;

buffer:
  NAME ':' type                 { $$ = node_add(p, node_named(p, N_BIND, @$, $1), $3); }
;

slots:
  %empty                        { $$ = none(p, @$); }
| '(' expr ')'                  { $$ = $2; }
;

members:
  member                        { $$ = node1(p, N_LIST, @$, $1); }
| members ',' member            { $$ = node_add(p, $1, $3); }
;

member:
  NAME                          { $$ = node_add(p, node_named(p, N_MEMBER, @$, $1), none(p, @1)); }
| NAME VIA name                 { $$ = node_add(p, node_named(p, N_MEMBER, @$, $1), $3); }
;

names:
  name                          { $$ = node1(p, N_LIST, @$, $1); }
| '(' name_list ')'             { $$ = $2; }
;

name_list:
  name                          { $$ = node1(p, N_LIST, @$, $1); }
| name_list ',' name            { $$ = node_add(p, $1, $3); }
;

name:
  NAME                          { $$ = $1; }
;

/* -------------------------------------------------------- schedules: words; sema knows them */
given_clauses:
  clauses
| '{' clauses '}' ';'           { $$ = $2; }
;

clauses:
  %empty                        { $$ = node_new(p, N_BLOCK, @$); }
| clauses clause                { $$ = node_add(p, $1, $2); }
| clauses ';'
| clauses error ';'             { yyerrok; }
;

clause:
  NAME words ';'                { $$ = node_take(p, node_named(p, N_CLAUSE, @$, $1), $2); }
| NAME words '{' clauses '}'
	{ $$ = node_add(p, node_take(p, node_named(p, N_CLAUSE, @$, $1), $2), $4); }
;

words:
  %empty                        { $$ = node_new(p, N_LIST, @$); }
| words word                    { $$ = node_add(p, $1, $2); }
;

word:
  name
| INT
| '-' INT                       { $$ = node_op(p, @$, OPER_NEG, $2, NULL); }
| '(' exprs ')'                 { $$ = tuple(p, @$, $2); }
;

/* ---------------------------------------------------------------- expressions */
exprs:
  expr                          { $$ = node1(p, N_LIST, @$, $1); }
| exprs ',' expr                { $$ = node_add(p, $1, $3); }
;

expr:
  conj
| expr OR conj                  { $$ = node_op(p, @$, OPER_OR, $1, $3); }
;

conj:
  equality
| conj AND equality             { $$ = node_op(p, @$, OPER_AND, $1, $3); }
;

equality:
  relation
| equality EQ relation          { $$ = node_op(p, @$, OPER_EQ, $1, $3); }
| equality NE relation          { $$ = node_op(p, @$, OPER_NE, $1, $3); }
;

relation:
  bits
| relation '<' bits             { $$ = node_op(p, @$, OPER_LT, $1, $3); }
| relation '>' bits             { $$ = node_op(p, @$, OPER_GT, $1, $3); }
| relation LE bits              { $$ = node_op(p, @$, OPER_LE, $1, $3); }
| relation GE bits              { $$ = node_op(p, @$, OPER_GE, $1, $3); }
;

bits:
  odd_bits
| bits '|' odd_bits             { $$ = node_op(p, @$, OPER_BIT_OR, $1, $3); }
;

odd_bits:
  common_bits
| odd_bits '^' common_bits      { $$ = node_op(p, @$, OPER_BIT_XOR, $1, $3); }
;

common_bits:
  shift
| common_bits '&' shift         { $$ = node_op(p, @$, OPER_BIT_AND, $1, $3); }
;

shift:
  sum
| shift SHL sum                 { $$ = node_op(p, @$, OPER_SHL, $1, $3); }
| shift SHR sum                 { $$ = node_op(p, @$, OPER_SHR, $1, $3); }
;

sum:
  term
| sum '+' term                  { $$ = node_op(p, @$, OPER_ADD, $1, $3); }
| sum '-' term                  { $$ = node_op(p, @$, OPER_SUB, $1, $3); }
;

term:
  unary
| term '*' unary                { $$ = node_op(p, @$, OPER_MUL, $1, $3); }
| term '/' unary                { $$ = node_op(p, @$, OPER_DIV, $1, $3); }
| term '%' unary                { $$ = node_op(p, @$, OPER_MOD, $1, $3); }
;

unary:
  chain
| '-' unary                     { $$ = node_op(p, @$, OPER_NEG, $2, NULL); }
| '!' unary                     { $$ = node_op(p, @$, OPER_NOT, $2, NULL); }
| '~' unary                     { $$ = node_op(p, @$, OPER_BIT_NOT, $2, NULL); }
;

chain:
  layout
| chain O layout                { $$ = node_chain(p, @$, $1, $3); }
;

layout:
  postfix
| postfix ':' postfix           { $$ = node2(p, N_COLON, @$, $1, $3); }
| postfix ':' '-' postfix
	{ $$ = node2(p, N_COLON, @$, $1, node_op(p, @$, OPER_NEG, $4, NULL)); }
;

/* what a statement may write to */
place:
  NAME                          { $$ = $1; }
| NAME '[' exprs ']'            { $$ = node_take(p, node1(p, N_INDEX, @$, $1), $3); }
;

postfix:
  primary
| postfix '(' arguments ')'     { $$ = node_take(p, node1(p, N_CALL, @$, $1), $3); }
| postfix '[' indices ']'       { $$ = node_take(p, node1(p, N_INDEX, @$, $1), $3); }
| postfix '\''                  { $$ = node1(p, N_TURNED, @$, $1); }
| postfix '.' NAME              { $$ = node_add(p, node_named(p, N_FIELD, @$, $3), $1); }
| postfix '@' INT               { $$ = node2(p, N_BASIS, @$, $1, $3); }
;

indices:
  index                         { $$ = node1(p, N_LIST, @$, $1); }
| indices ',' index             { $$ = node_add(p, $1, $3); }
;

index:
  expr
| range
;

primary:
  NAME
| INT
| REAL
| STR
| TEMPLATE '<' targs '>'        { $$ = node_take(p, node_named(p, N_TEMPLATE, @$, $1), $3); }
| '(' exprs ')'                 { $$ = tuple(p, @$, $2); }
| '(' exprs ',' ')'             { $$ = node_take(p, node_new(p, N_TUPLE, @$), $2); }
| '(' ')'                       { $$ = node_new(p, N_TUPLE, @$); }
;

targs:
  sum                           { $$ = node1(p, N_LIST, @$, $1); }
| targs ',' sum                 { $$ = node_add(p, $1, $3); }
;

arguments:
  %empty                        { $$ = node_new(p, N_LIST, @$); }
| argument_list
;

argument_list:
  argument                      { $$ = node1(p, N_LIST, @$, $1); }
| argument_list ',' argument    { $$ = node_add(p, $1, $3); }
;

argument:
  expr
| name NAME                     { $$ = node2(p, N_PHRASE, @$, $1, $2); }
| name INT                      { $$ = node2(p, N_PHRASE, @$, $1, $2); }
| INT NAME                      { $$ = node2(p, N_PHRASE, @$, $1, $2); }
| range
;

range:
  sum DOTDOT sum                { $$ = node3(p, N_RANGE, @$, $1, $3, none(p, @3)); }
| sum DOTDOT sum NAME sum
	{
		Node *ends = node_add(p, node_add(p, node_named(p, N_RANGE, @$, $4), $1), $3);
		$$ = node_add(p, ends, $5);
	}
;

%%

static Loc loc_of_rule(const Loc *rhs, int n)
{
	return n ? loc_join(rhs[1], rhs[n]) : (Loc){rhs[0].src, rhs[0].end, rhs[0].end};
}

static Node *none(Parser *p, Loc loc)
{
	return node_new(p, N_NONE, loc);
}

/* (x) is x, but remembers its parentheses: beside a ':' they make a tuple of one */
static Node *tuple(Parser *p, Loc loc, Node *list)
{
	if (list->kids.n != 1)
		return node_take(p, node_new(p, N_TUPLE, loc), list);
	list->kids.at[0]->parens++;
	return list->kids.at[0];
}

/* Called by the skeleton for its stack limit alone. */
static void yyerror(Loc *loc, Scanner scanner, Parser *p, const char *what)
{
	(void)scanner;
	(void)what;
	if (parse_error_counts(p))
		diag(p->ctx, *loc, D_E0106, "nested deeper than %d levels", AST_DEPTH_MAX);
	p->stopped = true;
}

/* The text of the token, as it stands in the file, cut to a sensible length. */
static const char *token_text(Parser *p, yysymbol_kind_t token, Loc loc)
{
	const Src *s = ctx_src_at(p->ctx, loc.src);
	if (token == YYSYMBOL_YYEOF)
		return "end of input";
	return ctx_strf(p->ctx, "'%.*s%s'", loc.end - loc.begin > 40 ? 40 : loc.end - loc.begin,
			s->text + loc.begin, loc.end - loc.begin > 40 ? "..." : "");
}

static bool is_expected(const yysymbol_kind_t *at, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(yysymbol_name(at[i]), name))
			return true;
	return false;
}

/* Of many tokens that could stand here, the one that is meant most often. */
static const char *most_likely(const yysymbol_kind_t *at, int n)
{
	if (is_expected(at, n, "'const'"))
		return is_expected(at, n, "'}'") ? "'}'" : NULL;
	if (is_expected(at, n, "';'"))
		return "';'";
	if (is_expected(at, n, "a number"))
		return "an expression";
	return is_expected(at, n, "')'") ? "')'" : NULL;
}

static void print_expected(const yysymbol_kind_t *at, int n, Buf *out)
{
	enum { FEW = 5 };
	if (n > FEW && most_likely(at, n))
		buf_printf(out, ", expected %s", most_likely(at, n));
	for (int i = 0; i < n && n <= FEW; i++)
		buf_printf(out, "%s%s", i == 0 ? ", expected " : i == n - 1 ? " or " : ", ",
			   yysymbol_name(at[i]));
}

/* The word before a place, as far as it is this one. */
static bool is_behind(const Src *s, int at, const char *word)
{
	int n = (int)strlen(word);
	while (at > 0 && isspace((unsigned char)s->text[at - 1]))
		at--;
	int begin = at - n - 1;
	return begin >= -1 && !strncmp(s->text + begin + 1, word, (size_t)n) &&
	       (begin < 0 || !isalpha((unsigned char)*word) || s->text[begin] == '(' ||
		isspace((unsigned char)s->text[begin]));
}

#define KERNEL_FORM "a kernel is kernel f(A : bf16 (M,K):(K,1), D : out bf16 (M,K):(K,1)) { .. }"
#define LOOP_FORMS  "the loops are for (m,n) in gD, for k in gA[m] and for k in 0 .. n"
#define TENSOR_FORM "the name comes first, then type, shape and strides: A : f16 (M,K):(K,1)"

/* What is meant where other languages have it so: the token, the word before it, or a token that is
 * missing; NULL where a row does not ask. After "only", no more than one other may stand there. */
static const struct {
	const char *token, *before, *missing, *help;
} habits[] = {
	{"'<-'", NULL, "'<'", "'<-' is an arrow: with a blank between them, x < -1 compares"},
	{"','", NULL, "'..'", "a range has two ends: gK from first[b] .. last[b], for k in 0 .. n"},
	{"'..'", NULL, NULL,
	 "a range follows 'in', for k in 0 .. n, or stands in a pick: const bM = "
	 "pick(64 .. 256 by 64)"},
	{NULL, "def", NULL, KERNEL_FORM},
	{NULL, "void", NULL, KERNEL_FORM},
	{"'void'", NULL, NULL, KERNEL_FORM},
	{NULL, "import", NULL, "leave it out: all that a file needs is in the language"},
	{"'('", "__syncthreads", NULL, "leave it out: barriers are derived"},
	{"'('", "__syncwarp", NULL, "leave it out: barriers are derived"},
	{NULL, NULL, "only ':'", TENSOR_FORM},
	{"'['", NULL, "a number", TENSOR_FORM},
	{"'='", NULL, "only ')'", LOOP_FORMS},
	{"'='", NULL, "only 'in'", LOOP_FORMS},
	{"'o'", NULL, NULL, "o composes layouts: take another name"},
	{NULL, "if", NULL, "there is no if: edges are guarded, select(c, x, y) chooses"},
	{NULL, "else", NULL, "there is no else: edges are guarded, select(c, x, y) chooses"},
	{NULL, "(bf16)", NULL, "a type is a function: bf16(x)"},
	{NULL, "(f16)", NULL, "a type is a function: f16(x)"},
	{NULL, "(float)", NULL, "a type is a function: f32(x)"},
	{NULL, "float", NULL, "what is computed is named by let: let y = 2 * acc;"},
	{"'as'", NULL, NULL, "a type is a function: bf16(x)"},
	{"'where'", NULL, "a number", "select(c, x, y) is x where c is not 0, else y"},
	{"'('", "atomic_add", NULL, "tiles are joined: S[m] += rowsum(x)"},
	{"'('", "atomicAdd", NULL, "tiles are joined: S[m] += rowsum(x)"},
	{"'('", "atomicMax", NULL, "tiles are joined: S[m] <- max(S[m], rowmax(x))"},
	{"'='", "axis", NULL, "along which mode, the name says: rowsum(x), colsum(x)"},
	{"'='", "dim", NULL, "along which mode, the name says: rowsum(x), colsum(x)"},
	{"':'", "[", NULL, "an index is a name of the grid: bias[n]"},
	{"'*'", "*", NULL, "there is no **: square(x), pow(x, 3)"},
	{"'*'", NULL, "a number", TENSOR_FORM},
	{"'*'", NULL, "'<-'", "there is no *=: acc <- acc * x, or let y = acc * x"},
	{"'/'", NULL, "'<-'", "there is no /=: acc <- acc / x, or let y = acc / x"},
	{"'-'", NULL, "'<-'", "there is no -=: S[m] += -x, acc <- acc - x"},
	{"'.'", NULL, "a number", "numbers have a digit in front of the point: 0.5"},
	{NULL, "int", NULL, LOOP_FORMS},
	{"':'", NULL, "only '='", "what is named takes the type of its value: let q = u32(x);"},
	{"'and'", NULL, NULL, "conditions are joined by &&"},
	{"'or'", NULL, NULL, "conditions are joined by ||"},
	{"'xor'", NULL, NULL, "bits are those of an operator: x & y, x ^ y, ~x"},
	{"'='", NULL, "'=='", "equality is ==, as in where K == 128; arguments have no names"},
	{"'by'", NULL, NULL, "a range counts by 1: for k in 0 .. n, and k * step where it is used"},
	{NULL, "schedule auto", "';'", "write ;"},
	{NULL, "auto", NULL, "what is computed is named by let: let y = 2 * acc;"},
	{"'='", "schedule", NULL, "write schedule { roles cooperative; }, or leave it out"},
	{"'='", NULL, "'{'", "a clause is a word and its values: stages 4;"},
	{NULL, "while", NULL, LOOP_FORMS},
	{"';'", NULL, "'='", "an accumulator begins with a number: write = 0"},
};

static bool is_missing(const yysymbol_kind_t *at, int n, const char *name)
{
	bool only = !strncmp(name, "only ", 5);
	return is_expected(at, n, only ? name + 5 : name) && (!only || n <= 2);
}

/* What the help says to write, before the token where something is missing. */
static void add_missing(Parser *p, DiagMsg *m, const char *help)
{
	const char *text = strstr(help, "write");
	if (text)
		diag_fix(p->ctx, m, (Loc){m->loc.src, m->loc.begin, m->loc.begin}, "%s",
			 text + strlen("write"));
}

/* A word of the language where only a name can stand. */
static bool is_taken(const char *token, yysymbol_kind_t kind, const yysymbol_kind_t *at, int n)
{
	return isalpha((unsigned char)token[1]) && !strcmp(token, yysymbol_name(kind)) &&
	       is_expected(at, n, "a name") && !is_expected(at, n, "a number") &&
	       !is_expected(at, n, "'}'");
}

static void add_habit(Parser *p, DiagMsg *m, const char *token, const yysymbol_kind_t *at, int n)
{
	const Src *s = ctx_src_at(p->ctx, m->loc.src);
	for (size_t i = 0; i < COUNTOF(habits); i++)
		if ((!habits[i].token || !strcmp(habits[i].token, token)) &&
		    (!habits[i].before || is_behind(s, m->loc.begin, habits[i].before)) &&
		    (!habits[i].missing || is_missing(at, n, habits[i].missing))) {
			diag_remedy(p->ctx, m, "%s", habits[i].help);
			if (habits[i].missing)
				add_missing(p, m, habits[i].help);
			return;
		}
}

static int yyreport_syntax_error(const yypcontext_t *at, Scanner scanner, Parser *p)
{
	yysymbol_kind_t expected[YYNTOKENS];
	Buf wanted = {0};
	Loc loc = *yypcontext_location(at);
	int n = yypcontext_expected_tokens(at, expected, YYNTOKENS);
	bool follows = p->lexical;
	(void)scanner;
	p->lexical = false;
	if (follows || !parse_error_counts(p))
		return 0;
	print_expected(expected, n, &wanted);
	const char *token = token_text(p, yypcontext_token(at), loc);
	DiagMsg *m = diag(p->ctx, loc, D_E0105, "unexpected %s%s", token, wanted.n ? wanted.s : "");
	add_habit(p, m, token, expected, n);
	if (!m->remedy && is_taken(token, yypcontext_token(at), expected, n))
		diag_remedy(p->ctx, m, "%s is a word of the language: take another name", token);
	buf_free(&wanted);
	return 0;
}
