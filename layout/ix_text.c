/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ix_text.c - index expressions as text: infix with least parentheses, postfix, and the parser.
 *     x * 3 - min(M, 4) / 2        postfix: x 3 * M 4 min 2 / -1 * +
 * ix_parse(ix_print(x)) is x, whatever was made in the Ctx before. */
#include "layout/ixp.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { MAX_OPERATORS = 4000, MAX_DEPTH = 200 };

/* ------------------------------------------------------------------ printing */
/* A negative coefficient prints as a subtraction when reading it back merges nothing else. */
static const Ix *subtracted(const Ix *x, int64_t *coef)
{
	IxTerm t = ix_term(x);
	if (t.coef >= 0 || t.coef == INT64_MIN)
		return NULL;
	if (t.base &&
	    (t.base->kind == IX_ADD || (t.base->kind == IX_MUL && t.base->b->kind == IX_CONST)))
		return NULL;
	*coef = -t.coef;
	return t.base ? t.base : x;
}

static void print_at(const Ix *x, int prec, Buf *out);

static void print_sum(const Ix *x, Buf *out)
{
	int64_t coef;
	const Ix *base = subtracted(x->b, &coef);
	print_at(x->a, 5, out);
	if (!base) {
		buf_printf(out, " + ");
		print_at(x->b, 6, out);
	} else if (base->kind == IX_CONST) {
		buf_printf(out, " - %" PRId64, coef);
	} else {
		buf_printf(out, " - ");
		print_at(base, coef == 1 ? 7 : 6, out);
		if (coef != 1)
			buf_printf(out, " * %" PRId64, coef);
	}
}

static void print_call(const Ix *x, Buf *out)
{
	buf_printf(out, "%s(", ix_rows[x->kind].text);
	print_at(x->a, 0, out);
	buf_printf(out, ", ");
	print_at(x->b, 0, out);
	buf_printf(out, ")");
}

static void print_bare(const Ix *x, Buf *out)
{
	int prec = ix_rows[x->kind].prec;
	if (x->kind == IX_CONST) {
		buf_printf(out, "%" PRId64, x->value);
	} else if (x->kind == IX_SYM) {
		buf_printf(out, "%s", x->name);
	} else if (x->kind >= IX_MIN && x->kind <= IX_SHR) {
		print_call(x, out);
	} else if (x->kind == IX_ADD) {
		print_sum(x, out);
	} else {
		print_at(x->a, ix_is_comparison(x->kind) ? prec + 1 : prec, out);
		buf_printf(out, " %s ", ix_rows[x->kind].text);
		print_at(x->b, prec + 1, out);
	}
}

static void print_at(const Ix *x, int prec, Buf *out)
{
	bool wrap = ix_rows[x->kind].prec < prec;
	if (wrap)
		buf_add(out, "(", 1);
	print_bare(x, out);
	if (wrap)
		buf_add(out, ")", 1);
}

void ix_print(const Ix *x, Buf *out)
{
	print_at(x, 0, out);
}

void ix_postfix(const Ix *x, Buf *out)
{
	if (x->kind == IX_CONST) {
		buf_printf(out, "%" PRId64, x->value);
	} else if (x->kind == IX_SYM) {
		buf_printf(out, "%s", x->name);
	} else {
		ix_postfix(x->a, out);
		buf_add(out, " ", 1);
		ix_postfix(x->b, out);
		buf_printf(out, " %s", ix_rows[x->kind].post);
	}
}

/* ------------------------------------------------------------------ parsing */
typedef struct {
	Ctx *c;
	const char *s;
	const char *why;
	int operators, depth;
} IxParser;

static const Ix *fail(IxParser *p, const char *why)
{
	if (!p->why)
		p->why = why;
	return NULL;
}

static void skip_space(IxParser *p)
{
	while (*p->s == ' ' || *p->s == '\t' || *p->s == '\n' || *p->s == '\r')
		p->s++;
}

static bool is_name_start(char ch)
{
	return isalpha((unsigned char)ch) || ch == '_';
}

/* A name, with the ".7" that makes it fresh. */
static size_t name_length(const char *s)
{
	size_t n = 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	while (s[n] == '.' && isdigit((unsigned char)s[n + 1]))
		for (n++; isdigit((unsigned char)s[n]);)
			n++;
	return n;
}

static const Ix *parse_expr(IxParser *p, int prec);

static const Ix *parse_number(IxParser *p, bool negative)
{
	int64_t v = 0;
	for (; isdigit((unsigned char)*p->s); p->s++) {
		int digit = *p->s - '0';
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, negative ? -digit : digit, &v))
			return fail(p, "the number does not fit in 64 bits");
	}
	if (is_name_start(*p->s))
		return fail(p, "a letter follows the number");
	return ix_const(p->c, v);
}

static bool expect(IxParser *p, char ch, const char *why)
{
	skip_space(p);
	if (*p->s != ch)
		return fail(p, why), false;
	p->s++;
	return true;
}

static const Ix *parse_call(IxParser *p, IxKind kind)
{
	const Ix *a, *b;
	if (!expect(p, '(', "expected '('") || !(a = parse_expr(p, 0)) ||
	    !expect(p, ',', "expected ',' and a second operand") || !(b = parse_expr(p, 0)) ||
	    !expect(p, ')', "expected ')'"))
		return NULL;
	return ix_new(p->c, kind, a, b);
}

static const Ix *parse_name(IxParser *p)
{
	size_t n = name_length(p->s);
	const char *name = ctx_strn(p->c, p->s, n);
	p->s += n;
	for (int kind = IX_MIN; *p->s == '(' && kind <= IX_SHR; kind++)
		if (!strcmp(name, ix_rows[kind].text))
			return parse_call(p, (IxKind)kind);
	return ix_sym(p->c, name);
}

static const Ix *parse_operand(IxParser *p)
{
	const Ix *x;
	skip_space(p);
	if (isdigit((unsigned char)*p->s))
		return parse_number(p, false);
	if (is_name_start(*p->s))
		return parse_name(p);
	if (*p->s == '-') {
		p->s++;
		if (isdigit((unsigned char)*p->s))
			return parse_number(p, true);
		x = ++p->depth > MAX_DEPTH ? fail(p, "nested too deeply") : parse_operand(p);
		p->depth--;
		return x ? ix_mul(p->c, x, ix_const(p->c, -1)) : NULL;
	}
	if (*p->s == '(') {
		p->s++;
		x = parse_expr(p, 0);
		return x && expect(p, ')', "expected ')'") ? x : NULL;
	}
	return fail(p, "expected a number, a name or '('");
}

/* What may stand between two operands; > and >= are read as < and <= turned round. */
typedef struct {
	const char *text;
	IxKind kind;
	bool turned, minus;
} Infix;
static const Infix infixes[] = {
	{"<=", IX_LE, false, false}, {">=", IX_LE, true, false},   {"==", IX_EQ, false, false},
	{"!=", IX_NE, false, false}, {"&&", IX_AND, false, false}, {"||", IX_OR, false, false},
	{"<", IX_LT, false, false},  {">", IX_LT, true, false},    {"+", IX_ADD, false, false},
	{"-", IX_ADD, false, true},  {"*", IX_MUL, false, false},  {"/", IX_DIV, false, false},
	{"%", IX_MOD, false, false},
};

static const Infix *infix_at(const char *s)
{
	if ((s[0] == '%' && is_name_start(s[1])) || (s[0] == '-' && s[1] == '>'))
		return NULL;
	for (size_t i = 0; i < COUNTOF(infixes); i++)
		if (!strncmp(s, infixes[i].text, strlen(infixes[i].text)))
			return &infixes[i];
	return NULL;
}

bool ix_infix_at(const char *s)
{
	return infix_at(s);
}

static const Ix *combine(IxParser *p, const Infix *op, const Ix *a, const Ix *b)
{
	if ((op->kind == IX_DIV || op->kind == IX_MOD) && b->kind == IX_CONST && b->value <= 0)
		return fail(p, "the divisor is not positive");
	if (op->minus)
		return ix_sub(p->c, a, b);
	return op->turned ? ix_new(p->c, op->kind, b, a) : ix_new(p->c, op->kind, a, b);
}

static const Ix *parse_infix(IxParser *p, int prec)
{
	const Ix *a = parse_operand(p), *b;
	const Infix *op;
	while (a && (skip_space(p), op = infix_at(p->s)) && ix_rows[op->kind].prec >= prec) {
		if (++p->operators > MAX_OPERATORS)
			return fail(p, "the expression is too long");
		p->s += strlen(op->text);
		b = parse_expr(p, ix_rows[op->kind].prec + 1);
		a = b ? combine(p, op, a, b) : NULL;
	}
	return a;
}

static const Ix *parse_expr(IxParser *p, int prec)
{
	if (++p->depth > MAX_DEPTH)
		return fail(p, "nested too deeply");
	const Ix *x = parse_infix(p, prec);
	p->depth--;
	return x;
}

const Ix *ix_parse(Ctx *c, const char **s, const char **why)
{
	IxParser p = {.c = c, .s = *s};
	const Ix *x = parse_expr(&p, 0);
	*s = p.s;
	if (!x && why)
		*why = p.why;
	return x;
}
