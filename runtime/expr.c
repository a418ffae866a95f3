/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* expr.c - the integer expressions of a manifest: postfix text, compiled once, evaluated in checked
 * signed 64 bits: no parser is needed. Needs the names of the kernel's symbols; "$sms" is always
 * known.
 *   "M 127 + 128 /" with M = 300  ->  3 */
#include "runtime/desc.h"
#include "runtime/rt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
	EX_INT,
	EX_SYM,
	EX_ADD,
	EX_SUB,
	EX_MUL,
	EX_DIV,
	EX_MOD,
	EX_MIN,
	EX_MAX,
	EX_LT,
	EX_LE,
	EX_EQ,
	EX_NE,
	EX_AND,
	EX_OR,
	EX_COUNT
} ExprOp;

/* Spelling, and how tightly it binds when written infix; 0 is a function. */
static const struct {
	const char *text;
	int level;
} ops[EX_COUNT] = {
	[EX_ADD] = {"+", 4}, [EX_SUB] = {"-", 4},   [EX_MUL] = {"*", 5},   [EX_DIV] = {"/", 5},
	[EX_MOD] = {"%", 5}, [EX_MIN] = {"min", 0}, [EX_MAX] = {"max", 0}, [EX_LT] = {"<", 3},
	[EX_LE] = {"<=", 3}, [EX_EQ] = {"==", 3},   [EX_NE] = {"!=", 3},   [EX_AND] = {"and", 2},
	[EX_OR] = {"or", 1},
};

static int op_find(const char *s, size_t n)
{
	for (int i = EX_ADD; i < EX_COUNT; i++)
		if (strlen(ops[i].text) == n && memcmp(ops[i].text, s, n) == 0)
			return i;
	return -1;
}

static int sym_find(const char *s, size_t n, const char *const *syms, int nsyms)
{
	for (int i = 0; i < nsyms; i++)
		if (strlen(syms[i]) == n && memcmp(syms[i], s, n) == 0)
			return i;
	return n == 4 && memcmp(s, "$sms", 4) == 0 ? EXPR_SMS : -1;
}

static bool int_read(const char *s, size_t n, int64_t *out)
{
	char digits[24];
	if (n >= sizeof digits ||
	    !(*s == '-' ? n > 1 && s[1] >= '0' && s[1] <= '9' : *s >= '0' && *s <= '9'))
		return false;
	memcpy(digits, s, n);
	digits[n] = 0;
	char *end;
	errno = 0;
	*out = strtoll(digits, &end, 10);
	return !errno && !*end;
}

/* One token; how many values it leaves more than it takes, or -2. */
static int token_compile(const char *s, size_t n, const char *const *syms, int nsyms, ExprIns *ins)
{
	*ins = (ExprIns){.op = EX_INT};
	if (int_read(s, n, &ins->imm))
		return 1;
	ins->op = op_find(s, n);
	if (ins->op >= 0)
		return -1;
	ins->op = EX_SYM;
	ins->sym = sym_find(s, n, syms, nsyms);
	return ins->sym >= 0 ? 1 : -2;
}

int expr_compile(const char *text, const char *const *syms, int nsyms, ExprIns *ins,
		 const char **reason)
{
	int count = 0, depth = 0;
	for (const char *s = text;; s++) {
		size_t n = strcspn(s, " ");
		*reason = "it has too many tokens";
		if (count == KD_MAX_EXPR)
			return -1;
		int change = token_compile(s, n, syms, nsyms, &ins[count++]);
		*reason = "it has a token that is not a number, an operator or a symbol";
		if (change < -1)
			return -1;
		*reason = "an operator lacks operands";
		if (change < 0 && depth < 2)
			return -1;
		depth += change;
		s += n;
		if (!*s)
			break;
	}
	*reason = "it leaves more than one value";
	return depth == 1 ? count : -1;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static int64_t floor_mod(int64_t a, int64_t b)
{
	int64_t r = a % b;
	return r < 0 ? r + b : r;
}

static ExprResult op_eval(int op, int64_t a, int64_t b, int64_t *out)
{
	switch ((ExprOp)op) {
	case EX_ADD:
		return __builtin_add_overflow(a, b, out) ? EXPR_OVERFLOW : EXPR_OK;
	case EX_SUB:
		return __builtin_sub_overflow(a, b, out) ? EXPR_OVERFLOW : EXPR_OK;
	case EX_MUL:
		return __builtin_mul_overflow(a, b, out) ? EXPR_OVERFLOW : EXPR_OK;
	case EX_DIV:
	case EX_MOD:
		if (b < 1)
			return EXPR_ZERO;
		*out = op == EX_DIV ? floor_div(a, b) : floor_mod(a, b);
		return EXPR_OK;
	case EX_MIN:
		*out = a < b ? a : b;
		return EXPR_OK;
	case EX_MAX:
		*out = a > b ? a : b;
		return EXPR_OK;
	case EX_LT:
		*out = a < b;
		return EXPR_OK;
	case EX_LE:
		*out = a <= b;
		return EXPR_OK;
	case EX_EQ:
		*out = a == b;
		return EXPR_OK;
	case EX_NE:
		*out = a != b;
		return EXPR_OK;
	case EX_AND:
		*out = a && b;
		return EXPR_OK;
	case EX_OR:
		*out = a || b;
		return EXPR_OK;
	case EX_INT:
	case EX_SYM:
	case EX_COUNT:
		break;
	}
	return EXPR_OVERFLOW;
}

int expr_unknown(Expr e, uint64_t known)
{
	for (int i = 0; i < e.n; i++)
		if (e.ins[i].op == EX_SYM && e.ins[i].sym != EXPR_SMS &&
		    !(known >> e.ins[i].sym & 1))
			return e.ins[i].sym;
	return -1;
}

bool expr_is_sym(Expr e)
{
	return e.n == 1 && e.ins->op == EX_SYM;
}

ExprResult expr_eval(Expr e, const int64_t env[EXPR_ENV], int64_t *out)
{
	int64_t stack[KD_MAX_EXPR];
	int top = 0;
	for (int i = 0; i < e.n; i++) {
		const ExprIns *ins = &e.ins[i];
		if (ins->op <= EX_SYM) {
			stack[top++] = ins->op == EX_INT ? ins->imm : env[ins->sym];
			continue;
		}
		top--;
		ExprResult r = op_eval(ins->op, stack[top - 1], stack[top], &stack[top - 1]);
		if (r != EXPR_OK)
			return r;
	}
	*out = stack[0];
	return EXPR_OK;
}

/* The start of the operand whose last token ends before `end`, walking back over whole operands. */
static const char *operand_start(const char *text, const char *end)
{
	int need = 1;
	const char *s = end;
	for (;;) {
		while (s > text && s[-1] != ' ')
			s--;
		need += op_find(s, strcspn(s, " ")) >= 0 ? 1 : -1;
		if (need == 0 || s == text)
			return s;
		s--;
	}
}

static void infix(const char *from, const char *end, int outer, Line *out)
{
	const char *last = end;
	while (last > from && last[-1] != ' ')
		last--;
	int op = op_find(last, (size_t)(end - last));
	if (op < 0 || last == from) {
		line_add(out, "%.*s", (int)(end - last), last);
		return;
	}
	const char *right = operand_start(from, last - 1);
	if (right == from) {
		line_add(out, "%.*s", (int)(end - from), from); /* not well formed: as it is */
		return;
	}
	int level = ops[op].level;
	bool paren = level < outer;
	line_add(out, "%s%s", level ? "" : ops[op].text, paren || !level ? "(" : "");
	infix(from, right - 1, level, out);
	line_add(out, "%s%s ", level ? " " : ",", level ? ops[op].text : "");
	infix(right, last - 1, level ? level + 1 : 0, out);
	line_add(out, "%s", paren || !level ? ")" : "");
}

void expr_infix(const char *text, Line *out)
{
	infix(text, text + strlen(text), 0, out);
}

void dsl_desc_infix(const char *postfix, char *out, size_t n)
{
	Line l = {.n = 0};
	expr_infix(postfix, &l);
	snprintf(out, n, "%s", l.at);
}
