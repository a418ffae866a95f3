/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* parse.c - text to IR: the inverse of print.c, byte for byte. One op a line; `#` starts a comment.
 * Needs no list of ops or attributes beyond their tables, and leaves every rule about them to
 * verify.c. Mistakes in the text become diagnostics; after one the rest of the line is skipped. */
#include "ir/ir.h"
#include "layout/ptrmap.h"
#include "ir/verify.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 64 << 20, MAX_DEPTH = 64, MAX_INDICES = 16, MAX_ERRORS = 20 };

typedef struct {
	Ctx *c;
	Module *m;
	Kernel *k;
	int src;
	const char *text, *s; /* the whole, NUL-terminated, and where we are */
	PtrMap vals;          /* name -> Val, of the kernel being read */
	int errors;
	bool ended; /* the text stopped too early: said once */
} Parser;

/* ------------------------------------------------------------------ places and messages */
static Loc place(const Parser *p, const char *begin, const char *end)
{
	return (Loc){p->src, (int)(begin - p->text), (int)(end - p->text)};
}

static bool is_word_start(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';
}

static bool is_word(char ch)
{
	return is_word_start(ch) || (ch >= '0' && ch <= '9') || ch == '.';
}

/* The token at s, for messages. */
static const char *token_end(const char *s)
{
	const char *e = s;
	while (is_word(*e))
		e++;
	return e > s || !*s ? e : s + 1;
}

static bool fail_at(Parser *p, Loc at, DiagId id, const char *text, const char *remedy)
{
	if (p->errors++ >= MAX_ERRORS)
		return false;
	DiagMsg *m = diag(p->c, at, id, "%s", text);
	if (remedy)
		diag_remedy(p->c, m, "%s", remedy);
	return false;
}

static bool expected(Parser *p, const char *what)
{
	const char *e = token_end(p->s);
	const char *text =
		!*p->s || *p->s == '\n' || *p->s == '\r'
			? arena_printf(ctx_arena(p->c), "expected %s before the end of the %s",
				       what, *p->s ? "line" : "text")
			: arena_printf(ctx_arena(p->c), "expected %s, found '%.*s'", what,
				       (int)(e - p->s > 40 ? 40 : e - p->s), p->s);
	return fail_at(p, place(p, p->s, e), D_E0701, text, NULL);
}

static bool unknown(Parser *p, const char *begin, const char *end, const char *what,
		    const char *remedy)
{
	const char *text =
		arena_printf(ctx_arena(p->c), "unknown %s '%.*s'", what, (int)(end - begin), begin);
	return fail_at(p, place(p, begin, end), D_E0702, text, remedy);
}

static bool duplicate(Parser *p, const char *begin, const char *what, const char *name)
{
	const char *text = arena_printf(ctx_arena(p->c), "%s '%s' is defined twice", what, name);
	return fail_at(p, place(p, begin, p->s), D_E0703, text, "give it another name");
}

/* ------------------------------------------------------------------ tokens */
static void skip_blanks(Parser *p)
{
	while (*p->s == ' ' || *p->s == '\t' || *p->s == '\r')
		p->s++;
	if (*p->s == '#')
		p->s += strcspn(p->s, "\n");
}

static void skip_lines(Parser *p)
{
	skip_blanks(p);
	while (*p->s == '\n') {
		p->s++;
		skip_blanks(p);
	}
}

static bool accept(Parser *p, char ch)
{
	skip_blanks(p);
	if (*p->s != ch)
		return false;
	p->s++;
	return true;
}

static bool expect(Parser *p, char ch)
{
	char what[] = {'\'', ch, '\'', 0};
	return accept(p, ch) || expected(p, what);
}

/* A subparser may have eaten the newline already. */
static bool expect_eol(Parser *p)
{
	skip_blanks(p);
	if (!*p->s || *p->s == '\n' || *p->s == '}')
		return true;
	for (const char *s = p->s; s > p->text && strchr(" \t\r\n", s[-1]); s--)
		if (s[-1] == '\n')
			return true;
	return expected(p, "the end of the line");
}

static const char *word(Parser *p)
{
	skip_blanks(p);
	const char *begin = p->s;
	if (!is_word_start(*begin))
		return NULL;
	while (is_word(*p->s))
		p->s++;
	return ctx_strn(p->c, begin, (size_t)(p->s - begin));
}

static const char *expect_word(Parser *p, const char *what)
{
	const char *w = word(p);
	if (!w)
		expected(p, what);
	return w;
}

/* Does a word with '=' behind it stand here: an attribute? */
static bool at_attr(Parser *p)
{
	skip_blanks(p);
	const char *s = p->s;
	if (!is_word_start(*s))
		return false;
	while (is_word(*s))
		s++;
	return *s == '=' && s[1] != '=';
}

static const char *value_name(Parser *p)
{
	const char *begin = p->s;
	while (is_word(*p->s))
		p->s++;
	if (p->s > begin)
		return ctx_strn(p->c, begin, (size_t)(p->s - begin));
	expected(p, "a value's name");
	return NULL;
}

static bool expect_int(Parser *p, int64_t *v)
{
	char *end;
	skip_blanks(p);
	if (!(*p->s >= '0' && *p->s <= '9') && *p->s != '-')
		return expected(p, "an integer");
	errno = 0;
	long long x = strtoll(p->s, &end, 10);
	if (end == p->s || (*p->s == '-' && end == p->s + 1))
		return expected(p, "an integer");
	if (errno)
		return fail_at(p, place(p, p->s, end), D_E0701,
			       "the integer does not fit in 64 bits", NULL);
	p->s = end;
	*v = x;
	return true;
}

static int hex_digit(char ch)
{
	return ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

/* "text" with \" \\ and \xHH; NULL after a message. */
static const char *expect_quoted(Parser *p)
{
	skip_blanks(p);
	if (*p->s != '"')
		return expected(p, "a text in quotes"), NULL;
	const char *s = p->s + 1;
	char *text = arena_alloc(ctx_arena(p->c), strcspn(s, "\n") + 1), *t = text;
	for (; *s && *s != '\n' && *s != '"'; s++) {
		if (*s == '\\' && s[1] == 'x' && hex_digit(s[2]) >= 0 && hex_digit(s[3]) >= 0) {
			*t++ = (char)(hex_digit(s[2]) * 16 + hex_digit(s[3]));
			s += 3;
		} else {
			s += *s == '\\' && (s[1] == '"' || s[1] == '\\');
			*t++ = *s;
		}
	}
	const char *begin = p->s;
	p->s = s;
	if (*s != '"') {
		fail_at(p, place(p, begin, s), D_E0701, "the text has no closing quote", NULL);
		return NULL;
	}
	p->s++;
	return text;
}

static const Ix *expect_ix(Parser *p)
{
	const char *why = NULL, *begin = p->s;
	const Ix *x = ix_parse(p->c, &p->s, &why);
	if (!x)
		fail_at(p, place(p, begin, token_end(p->s)), D_E0701,
			why ? why : "expected an index expression", NULL);
	return x;
}

static const Type *expect_type(Parser *p)
{
	const char *why = NULL;
	skip_blanks(p);
	const char *begin = p->s;
	const Type *t = type_parse(p->c, &p->s, &why);
	if (!t)
		fail_at(p, place(p, begin, token_end(p->s)), D_E0701, why ? why : "expected a type",
			"types are: f32 | global|shared|reg ELEM LAYOUT [tv LAYOUT] | tmap | mbar");
	return t;
}

/* ------------------------------------------------------------------ attributes */
static bool parse_ints(Parser *p, Attr *a)
{
	if (!expect(p, '('))
		return false;
	do {
		if (a->n == (int)COUNTOF(a->i))
			return expected(p, "at most sixteen numbers");
		if (!expect_int(p, &a->i[a->n++]))
			return false;
	} while (accept(p, ','));
	return expect(p, ')');
}

static bool parse_real(Parser *p, Attr *a)
{
	char *end;
	a->real = strtod(p->s, &end);
	if (end == p->s)
		return expected(p, "a number");
	p->s = end;
	return true;
}

static bool parse_atom(Parser *p, Attr *a)
{
	const char *begin = p->s;
	if (!expect_word(p, "an atom"))
		return false;
	return atom_parse(begin, (size_t)(p->s - begin), &a->atom) ||
	       unknown(p, begin, p->s, "atom",
		       "atoms are spelled wgmma.m64nNk16.f32.bf16.bf16, N a multiple of 8 to 256");
}

static bool parse_value(Parser *p, Attr *a)
{
	skip_blanks(p);
	switch (attr_rows[a->id].kind) {
	case AK_INT:
		a->n = 1;
		return expect_int(p, &a->i[0]);
	case AK_INTS:
		return parse_ints(p, a);
	case AK_REAL:
		return parse_real(p, a);
	case AK_STR:
		a->str = expect_word(p, "a word");
		return a->str;
	case AK_ATOM:
		return parse_atom(p, a);
	}
	return false;
}

static bool parse_attr(Parser *p, Attrs *attrs)
{
	const char *begin = p->s, *name = word(p), *end = p->s;
	int id = 0;
	while (id < ATTR_COUNT && strcmp(attr_rows[id].name, name) != 0)
		id++;
	if (id == ATTR_COUNT)
		return unknown(p, begin, end, "attribute", NULL);
	Attr a = {.id = (AttrId)id};
	if (attrs_get(attrs, a.id))
		return duplicate(p, begin, "attribute", name);
	if (!expect(p, '=') || !parse_value(p, &a))
		return false;
	attrs_set(p->c, attrs, a);
	return true;
}

static bool parse_attrs(Parser *p, Attrs *attrs)
{
	while (at_attr(p))
		if (!parse_attr(p, attrs))
			return false;
	return true;
}

/* ------------------------------------------------------------------ ops */
static bool parse_syms(Parser *p, Op *op)
{
	skip_blanks(p);
	while (is_word_start(*p->s) && !at_attr(p)) {
		if (op->nsym == MAX_INDICES)
			return fail_at(p, place(p, p->s, token_end(p->s)), D_E0705,
				       "an op defines at most 16 names", NULL);
		op_sym(p->k, op, word(p));
		if (accept(p, ',') && (skip_blanks(p), !is_word_start(*p->s)))
			return expected(p, "a name");
	}
	return true;
}

static bool parse_operand(Parser *p, Op *op)
{
	const Ix *at = NULL;
	const char *begin = p->s - 1, *name = value_name(p);
	if (!name)
		return false;
	Val *v = ptrmap_get(&p->vals, name);
	if (!v)
		return unknown(p, begin, p->s, "value", "define it above its first use");
	if (*p->s == '[') {
		p->s++;
		at = expect_ix(p);
		if (!at || !expect(p, ']'))
			return false;
	}
	op_in(p->k, op, v, at);
	return true;
}

static bool parse_operands(Parser *p, Op *op)
{
	if (!accept(p, '%'))
		return true;
	for (;;) {
		if (op->nin == op_rows[op->kind].in_hi)
			return fail_at(p, place(p, p->s - 1, token_end(p->s)), D_E0701,
				       arena_printf(ctx_arena(p->c), "%s takes %d operand%s",
						    op_rows[op->kind].name, op->nin,
						    op->nin == 1 ? "" : "s"),
				       NULL);
		if (!parse_operand(p, op))
			return false;
		if (!accept(p, ','))
			return true;
		if (!expect(p, '%'))
			return false;
	}
}

static bool parse_indices(Parser *p, Op *op)
{
	if (!accept(p, '('))
		return true;
	do {
		if (op->nix == MAX_INDICES)
			return fail_at(p, place(p, p->s, p->s + 1), D_E0705,
				       "an op has at most 16 index operands", NULL);
		const Ix *x = expect_ix(p);
		if (!x)
			return false;
		op_ix(p->k, op, x);
	} while (accept(p, ','));
	return expect(p, ')');
}

/* [: type], where the op was given a result's name. Values and symbols may share a name in text. */
static bool parse_result(Parser *p, Op *op, const char *name, const char *begin)
{
	if (!name)
		return true;
	if (!expect(p, ':'))
		return false;
	const Type *t = expect_type(p);
	if (!t)
		return false;
	if (ptrmap_get(&p->vals, name))
		return duplicate(p, begin, "value", name);
	Val *v = op_result(p->k, op, name, t);
	v->name = name;
	ptrmap_set(&p->vals, name, v);
	return true;
}

/* Up to, not including, the body. */
static Op *parse_head(Parser *p)
{
	const char *begin = p->s, *name = NULL;
	if (accept(p, '%') && (!(name = value_name(p)) || !expect(p, '=')))
		return NULL;
	skip_blanks(p);
	const char *at = p->s, *mnemonic = expect_word(p, "an operation");
	if (!mnemonic)
		return NULL;
	int kind = 0;
	while (kind < OP_COUNT && strcmp(op_rows[kind].name, mnemonic) != 0)
		kind++;
	if (kind == OP_COUNT)
		return unknown(p, at, p->s, "operation", NULL), NULL;
	Op *op = op_new(p->k, (OpKind)kind, place(p, begin, p->s));
	bool ok = parse_syms(p, op) && parse_operands(p, op) && parse_indices(p, op) &&
		  parse_attrs(p, &op->attrs) && parse_result(p, op, name, begin);
	op->loc = place(p, begin, p->s);
	return ok ? op : NULL;
}

static bool parse_block(Parser *p, Block *b, int depth);

/* After a mistake: the rest of the line; a body that it opens is skipped with it. */
static void recover(Parser *p)
{
	int depth = 0;
	do {
		for (; *p->s && *p->s != '\n'; p->s++)
			depth += (*p->s == '{') - (*p->s == '}');
		if (depth > 0 && *p->s)
			p->s++;
	} while (depth > 0 && *p->s);
}

static bool parse_op(Parser *p, Block *b, int depth)
{
	const char *begin = p->s;
	Op *op = parse_head(p);
	if (!op)
		return false;
	if (accept(p, '{')) {
		if (depth == MAX_DEPTH)
			return fail_at(p, place(p, begin, p->s), D_E0705,
				       "bodies are nested more than 64 deep", NULL);
		if (!parse_block(p, op_body(p->k, op), depth + 1))
			return false;
	}
	if (!expect_eol(p))
		return false;
	block_append(b, op);
	return true;
}

/* ------------------------------------------------------------------ kernels */
static bool has_sym(const Kernel *k, const char *name)
{
	for (int i = 0; i < k->syms.n; i++)
		if (k->syms.at[i].name == name)
			return true;
	return false;
}

/* sym NAME lo..hi [div=D] */
static bool parse_sym(Parser *p)
{
	int64_t lo = INT64_MIN, hi = INT64_MAX, div = 1;
	const char *begin = p->s, *name = expect_word(p, "a name");
	if (!name)
		return false;
	if (has_sym(p->k, name))
		return duplicate(p, begin, "symbol", name);
	skip_blanks(p);
	if (*p->s != '.' && !expect_int(p, &lo))
		return false;
	if (strncmp(p->s, "..", 2) != 0)
		return expected(p, "'..'");
	p->s += 2;
	if (((*p->s >= '0' && *p->s <= '9') || *p->s == '-') && !expect_int(p, &hi))
		return false;
	skip_blanks(p);
	if (!strncmp(p->s, "div=", 4)) {
		p->s += 4;
		if (!expect_int(p, &div))
			return false;
	}
	if (div < 1 || lo > hi)
		return fail_at(p, place(p, begin, p->s), D_E0701,
			       lo > hi ? "the range is empty" : "a divisor is at least 1", NULL);
	kernel_sym(p->k, name, lo, hi, div);
	return true;
}

/* fact (condition) "text" "rule" */
static bool parse_fact(Parser *p)
{
	const char *begin = p->s, *text, *rule;
	if (!expect(p, '('))
		return false;
	const Ix *cond = expect_ix(p);
	if (!cond || !expect(p, ')') || !(text = expect_quoted(p)) || !(rule = expect_quoted(p)))
		return false;
	kernel_fact(p->k, cond, text, rule, place(p, begin, p->s));
	return true;
}

/* arg [out] %name : type */
static bool parse_arg(Parser *p)
{
	skip_blanks(p);
	const char *begin = p->s, *way = word(p);
	if ((way && strcmp(way, "out") != 0) || !accept(p, '%'))
		return expected(p, "[out] %name : type");
	const char *name = value_name(p);
	if (!name || !expect(p, ':'))
		return false;
	const Type *t = expect_type(p);
	if (!t)
		return false;
	if (ptrmap_get(&p->vals, name))
		return duplicate(p, begin, "value", name);
	Val *v = kernel_arg(p->k, name, t, way);
	v->name = name;
	ptrmap_set(&p->vals, name, v);
	return true;
}

/* sym, fact and arg lines stand at the top of a kernel only. */
static bool parse_line(Parser *p, Block *b, int depth)
{
	static const struct {
		const char *name;
		bool (*parse)(Parser *);
	} lines[] = {{"sym", parse_sym}, {"fact", parse_fact}, {"arg", parse_arg}};
	const char *end = token_end(p->s);
	for (size_t i = 0; depth == 0 && i < COUNTOF(lines); i++) {
		size_t n = strlen(lines[i].name);
		if ((size_t)(end - p->s) == n && !strncmp(p->s, lines[i].name, n)) {
			p->s = end;
			return lines[i].parse(p) && expect_eol(p);
		}
	}
	return parse_op(p, b, depth);
}

static bool text_ended(Parser *p)
{
	bool said = p->ended;
	p->ended = true;
	return !said && expected(p, "'}'");
}

/* Behind '{', through '}'. False only when the text ends too early or there are too many errors. */
static bool parse_block(Parser *p, Block *b, int depth)
{
	for (;;) {
		skip_lines(p);
		if (*p->s == '}') {
			p->s++;
			return true;
		}
		if (!*p->s)
			return text_ended(p);
		if (p->errors >= MAX_ERRORS)
			return false;
		if (!parse_line(p, b, depth))
			recover(p);
	}
}

static bool parse_stage(Parser *p, Stage *out)
{
	static const struct {
		const char *name;
		Stage stage;
	} stages[] = {{"tile", ST_TILE}, {"warp", ST_WARP}, {"ptx", ST_PTX}};
	skip_blanks(p);
	const char *begin = p->s, *name = expect_word(p, "a stage");
	for (size_t i = 0; name && i < COUNTOF(stages); i++) {
		*out = stages[i].stage;
		if (!strcmp(name, stages[i].name))
			return true;
	}
	return name && unknown(p, begin, p->s, "stage", "stages are tile, warp and ptx");
}

static bool parse_target(Parser *p)
{
	skip_blanks(p);
	const char *begin = p->s, *name = expect_word(p, "a target");
	if (!name)
		return false;
	p->k->target = name;
	return target_by_name(name) || unknown(p, begin, p->s, "target", "the target is sm_90a");
}

static bool parse_header(Parser *p)
{
	Stage stage;
	skip_blanks(p);
	const char *begin = p->s, *kernel = word(p);
	if (!kernel || strcmp(kernel, "kernel") != 0) {
		p->s = begin;
		return expected(p, "'kernel'");
	}
	const char *name = expect_word(p, "the kernel's name");
	if (!name)
		return false;
	for (int i = 0; i < p->m->kernels.n; i++)
		if (!strcmp(p->m->kernels.at[i]->name, name))
			return duplicate(p, begin, "kernel", name);
	p->k = kernel_new(p->m, name, place(p, begin, p->s));
	p->vals = (PtrMap){.arena = ctx_arena(p->c)};
	if (!parse_stage(p, &stage))
		return false;
	p->k->stage = stage;
	return parse_target(p) && parse_attrs(p, &p->k->attrs) && expect(p, '{');
}

static void parse_verified(Parser *p)
{
	Loc where = place(p, p->s, p->s);
	const char *why = NULL;
	int before = p->errors;
	if (!parse_header(p) || !parse_block(p, &p->k->body, 0) || !expect_eol(p)) {
		p->s = p->text + strlen(p->text);
		return;
	}
	if (p->errors == before && !kernel_check(p->k, &why, &where))
		fail_at(p, where, D_E0704, why, NULL);
}

Module *module_parse(Ctx *c, int src)
{
	const Src *text = ctx_src_at(c, src);
	Parser p = {.c = c, .m = module_new(c), .src = src, .text = text->text, .s = text->text};
	if (text->size > MAX_TEXT)
		return fail_at(&p, place(&p, p.s, p.s), D_E0705, "the text is over 64 MiB", NULL),
		       NULL;
	for (skip_lines(&p); *p.s && p.errors < MAX_ERRORS; skip_lines(&p))
		parse_verified(&p);
	if (!p.errors && p.s != p.text + text->size)
		fail_at(&p, place(&p, p.s, p.s + 1), D_E0701, "the text holds a NUL byte", NULL);
	if (!p.errors && !p.m->kernels.n)
		fail_at(&p, place(&p, p.s, p.s), D_E0701, "the text holds no kernel", NULL);
	return p.errors ? NULL : p.m;
}
