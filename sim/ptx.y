/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
%{
/* ptx.y - the grammar of PTX modules (PTX ISA: Syntax, Directives). It knows no instruction: an
 * opcode is a word, and decode.c asks the table whether it exists. */
#include "sim/ptx.h"
#include "ptx_parse.h"

int ptx_yylex(YYSTYPE *value, YYLTYPE *line, void *scanner);
static void ptx_yyerror(const YYLTYPE *line, PtxModule *m, const char *message);
%}

%code requires { #include "sim/ptx.h" }
%define api.pure full
%define api.prefix {ptx_yy}
%define api.location.type {int}
%define parse.error detailed
%locations
%initial-action { @$ = 1; }
%param { PtxModule *m }
%code {
#define YYMALLOC(size) pool_new(m->pool, (size_t)(size))
#define YYFREE(at)     ((void)(at))
#define YYLLOC_DEFAULT(cur, rhs, n) ((cur) = (n) ? YYRHSLOC(rhs, 1) : YYRHSLOC(rhs, 0))
#define ptx_yylex(v, l, m) (ptx_yylex)(v, l, (m)->scanner)
}
%expect 0

%union {
	const char *name;
	s64 number;
	PtxOperand *operand;
	PtxVar *var;
	PtxFunc *func;
	PtxPlace place;
	bool flag;
}
%token ENTRY ".entry" FUNC ".func" VERSION ".version" TARGET ".target" ADDRESS_SIZE ".address_size"
%token FILE_ ".file" LOC ".loc" ALIGN ".align" PTR ".ptr" PRAGMA ".pragma" V2 ".v2" V4 ".v4"
%token EXTERN ".extern" LINKAGE ".visible" FLAG
%token <name> SPACE "state space" BOUND TYPE "type" STRING "string" NAME "name"
%token <number> NUMBER "number" FLOAT32 FLOAT64
%type <number> integer align_opt
%type <operand> operand operands operands_opt address inner inners numbers init inits init_opt value
%type <var> declarator declarators param params params_opt results_opt variable
%type <func> head
%type <place> place
%type <flag> extern_opt

%%
module: | module item ;

item: VERSION FLOAT64
    | TARGET inners { ptx_target(m, @1, $2); }
    | ADDRESS_SIZE NUMBER {
	if ($2 != 64)
		load_fail(m->pool, @1, "only 64-bit PTX is simulated");
    }
    | file
    | loc
    | pragma
    | extern_opt variable ';' {
	for (PtxVar *v = $2; v; v = v->next)
		v->external = $1;
	*m->var_end = $2;
	while (*m->var_end)
		m->var_end = &(*m->var_end)->next;
    }
    | extern_opt head bounds ';' { }
    | extern_opt head bounds '{' { m->depth = 1; } body '}' { $2->has_body = true; }
    ;

extern_opt: { $$ = false; } | EXTERN { $$ = true; } | LINKAGE { $$ = false; } ;

file: FILE_ NUMBER STRING { ptx_file(m, $2, $3); }
    | FILE_ NUMBER STRING ',' NUMBER ',' NUMBER { ptx_file(m, $2, $3); }
    ;
loc: LOC place { ptx_loc(m, $2, NULL); }
   | LOC place ',' NAME operand ',' NAME place { ptx_loc(m, $2, &$8); }
   ;
place: NUMBER NUMBER NUMBER { $$ = (PtxPlace){(int)$1, (int)$2, (int)$3}; } ;
pragma: PRAGMA STRING ';' ;

head: ENTRY NAME { $<func>$ = ptx_func(m, @2, $2, true); } params_opt {
	$$ = $<func>3;
	$$->params = $4;
    }
    | FUNC noreturn results_opt NAME { $<func>$ = ptx_func(m, @4, $4, false); } params_opt {
	$$ = $<func>5;
	$$->results = $3;
	$$->params = $6;
    }
    ;
noreturn: | FLAG ;
results_opt: { $$ = NULL; } | '(' params ')' { $$ = $2; } ;
params_opt: { $$ = NULL; } | '(' ')' { $$ = NULL; } | '(' params ')' { $$ = $2; } ;
params: param | param ',' params { $$ = $1; $$->next = $3; } ;
param: SPACE align_opt TYPE ptr_opt declarator {
	$$ = $5;
	$$->space = $1;
	$$->type = $3;
	$$->align = $2;
    }
    ;
ptr_opt: | PTR ptr_space ptr_align ;
ptr_space: | SPACE ;
ptr_align: | ALIGN NUMBER ;

bounds: | bounds BOUND numbers { ptx_bound(m, *m->func_end, @2, $2, $3); } | bounds FLAG ;
numbers: NUMBER { $$ = ptx_operand(m, PO_INT, NULL, $1); }
       | numbers ',' NUMBER { $$ = ptx_append($1, ptx_operand(m, PO_INT, NULL, $3)); }
       ;

variable: SPACE align_opt TYPE declarators init_opt {
	$$ = $4;
	for (PtxVar *v = $4; v; v = v->next) {
		v->space = $1;
		v->type = $3;
		v->align = $2;
	}
	$4->init = $5;
    }
    | SPACE align_opt V2 TYPE declarators {
	$$ = $5;
	for (PtxVar *v = $5; v; v = v->next) {
		v->space = $1;
		v->type = $4;
		v->align = $2;
		v->vector2 = true;
	}
    }
    | SPACE align_opt V4 TYPE declarators {
	$$ = $5;
	for (PtxVar *v = $5; v; v = v->next) {
		v->space = $1;
		v->type = $4;
		v->align = $2;
		v->vector4 = true;
	}
    }
    ;
align_opt: { $$ = 0; } | ALIGN NUMBER { $$ = $2; } ;
declarators: declarator | declarator ',' declarators { $$ = $1; $$->next = $3; } ;
declarator: NAME { $$ = ptx_var(m, @1, $1); $$->count = 1; }
	  | NAME '<' NUMBER '>' { $$ = ptx_var(m, @1, $1); $$->count = $3; $$->family = true; }
	  | NAME '[' ']' { $$ = ptx_var(m, @1, $1); $$->count = -1; }
	  | NAME '[' NUMBER ']' { $$ = ptx_var(m, @1, $1); $$->count = $3; }
	  | NAME '[' NUMBER ']' '[' NUMBER ']' {
	$$ = ptx_var(m, @1, $1);
	if ($3 < 0 || $6 < 0 || $3 > INT32_MAX || $6 > INT32_MAX)
		load_fail(m->pool, @1, "array %s is too large", $1);
	$$->count = $3 * $6;
    }
	  ;
init_opt: { $$ = NULL; } | '=' init { $$ = $2; } ;
init: value | '{' inits '}' { $$ = ptx_list(m, PO_VEC, $2); } ;
inits: init | inits ',' init { $$ = ptx_append($1, $3); } ;

body: | body statement ;
statement: file | loc | pragma
	 | variable ';' {
	for (PtxVar *v = $1, *next; v; v = next) {
		next = v->next;
		v->next = NULL;
		ptx_stmt(m, v->space[1] == 'r' ? PS_REG : PS_VAR, @1, NULL, NULL);
		((PtxStmt *)((char *)m->stmt_end - offsetof(PtxStmt, next)))->var = v;
	}
    }
	 | NAME ':' { ptx_stmt(m, PS_LABEL, @1, $1, NULL); }
	 | '{' { ptx_stmt(m, PS_OPEN, @1, NULL, NULL); m->depth++; } body '}' {
	ptx_stmt(m, PS_CLOSE, @4, NULL, NULL);
	m->depth--;
    }
	 | NAME operands_opt ';' { ptx_guarded(m, @1, NULL, false, $1, $2); }
	 | '@' NAME NAME operands_opt ';' { ptx_guarded(m, @3, $2, false, $3, $4); }
	 | '@' '!' NAME NAME operands_opt ';' { ptx_guarded(m, @4, $3, true, $4, $5); }
	 | ';'
	 ;

operands_opt: { $$ = NULL; } | operands ;
operands: operand | operands ',' operand { $$ = ptx_append($1, $3); } ;
operand: value
       | '!' NAME { $$ = ptx_operand(m, PO_NAME, $2, 0); $$->negated = true; }
       | address
       | '{' inners '}' { $$ = ptx_list(m, PO_VEC, $2); }
       | '(' inners ')' { $$ = ptx_list(m, PO_PAREN, $2); }
       | '(' ')' { $$ = ptx_list(m, PO_PAREN, NULL); }
       | inner '|' inner { $$ = ptx_list(m, PO_PAIR, ptx_append($1, $3)); }
       | '_' { $$ = ptx_operand(m, PO_SINK, "_", 0); }
       ;
address: '[' operands ']' { $$ = ptx_list(m, PO_MEM, $2); } ;
inner: value | '_' { $$ = ptx_operand(m, PO_SINK, "_", 0); } ;
inners: inner | inners ',' inner { $$ = ptx_append($1, $3); } ;
value: NAME { $$ = ptx_operand(m, PO_NAME, $1, 0); }
     | NAME '+' integer { $$ = ptx_operand(m, PO_NAME, $1, $3); }
     | NAME '-' integer { $$ = ptx_operand(m, PO_NAME, $1, (s64)(0 - (u64)$3)); }
     | NAME '(' NAME ')' { $$ = ptx_operand(m, PO_NAME, $3, 0); }
     | integer { $$ = ptx_operand(m, PO_INT, NULL, $1); }
     | FLOAT32 { $$ = ptx_operand(m, PO_F32, NULL, $1); }
     | FLOAT64 { $$ = ptx_operand(m, PO_F64, NULL, $1); }
     | '-' FLOAT64 { $$ = ptx_operand(m, PO_F64, NULL, $2 ^ INT64_MIN); }
     ;
integer: NUMBER | '-' NUMBER { $$ = (s64)(0 - (u64)$2); } ;
%%

static void ptx_yyerror(const YYLTYPE *line, PtxModule *m, const char *message)
{
	load_fail(m->pool, *line, "%s", message);
}
