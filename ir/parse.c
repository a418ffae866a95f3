/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* parse.c - text to IR: the inverse of print.c, byte for byte.
 * Needs no list of ops or attributes beyond their tables, and leaves every rule about them to
 * verify.c. Mistakes in the text become diagnostics; after one the rest of the line is skipped.
 * Words and their messages are in parse_text.c.
 *     %x = neg %acc : reg f32 (64,16):(1,64)  ->  an op NEG of %acc, with a result %x of that type
 */
#include "ir/parse.h"
#include "ir/verify.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 64 << 20, MAX_DEPTH = 64, MAX_INDICES = 16 };

/* ------------------------------------------------------------------ attributes */
static bool parse_ints(Parser *p, Attr *a)
{
	if (!line_expect(p, '('))
		return false;
	do {
		if (a->n == (int)COUNTOF(a->i))
			return line_expected(p, "at most sixteen numbers");
		if (!line_expect_int(p, &a->i[a->n++]))
			return false;
	} while (line_accept(p, ','));
	return line_expect(p, ')');
}

static bool parse_real(Parser *p, Attr *a)
{
	char *end;
	a->real = strtod(p->s, &end);
	if (end == p->s)
		return line_expected(p, "a number");
	p->s = end;
	return true;
}

static bool parse_atom(Parser *p, Attr *a)
{
	const char *begin = p->s;
	if (!line_expect_word(p, "an atom"))
		return false;
	return atom_parse(begin, (size_t)(p->s - begin), &a->atom) ||
	       line_unknown(
		       p, begin, p->s, "atom",
		       "atoms are spelled wgmma.m64nNk16.f32.bf16.bf16, N a multiple of 8 to 256");
}

static bool parse_value(Parser *p, Attr *a)
{
	line_skip_blanks(p);
	switch (attr_rows[a->id].kind) {
	case AK_INT:
		a->n = 1;
		return line_expect_int(p, &a->i[0]);
	case AK_INTS:
		return parse_ints(p, a);
	case AK_REAL:
		return parse_real(p, a);
	case AK_STR:
		a->str = line_expect_word(p, "a word");
		return a->str;
	case AK_ATOM:
		return parse_atom(p, a);
	}
	return false;
}

static bool parse_attr(Parser *p, Attrs *attrs)
{
	const char *begin = p->s, *name = line_word(p), *end = p->s;
	int id = 0;
	while (id < ATTR_COUNT && strcmp(attr_rows[id].name, name) != 0)
		id++;
	if (id == ATTR_COUNT)
		return line_unknown(p, begin, end, "attribute", NULL);
	Attr a = {.id = (AttrId)id};
	if (attrs_get(attrs, a.id))
		return line_duplicate(p, begin, "attribute", name);
	if (!line_expect(p, '=') || !parse_value(p, &a))
		return false;
	attrs_set(p->c, attrs, a);
	return true;
}

static bool parse_attrs(Parser *p, Attrs *attrs)
{
	while (line_at_attr(p))
		if (!parse_attr(p, attrs))
			return false;
	return true;
}

/* ------------------------------------------------------------------ ops */
static bool parse_syms(Parser *p, Op *op)
{
	line_skip_blanks(p);
	while (line_begins_word(*p->s) && !line_at_attr(p)) {
		if (op->nsym == MAX_INDICES)
			return line_fail(p, line_place(p, p->s, line_token_end(p->s)), D_E0705,
					 "an op defines at most 16 names", NULL);
		op_sym(p->k, op, line_word(p));
		if (line_accept(p, ',') && (line_skip_blanks(p), !line_begins_word(*p->s)))
			return line_expected(p, "a name");
	}
	return true;
}

static bool parse_operand(Parser *p, Op *op)
{
	const Ix *at = NULL;
	const char *begin = p->s - 1, *name = line_value_name(p);
	if (!name)
		return false;
	Val *v = ptrmap_get(&p->vals, name);
	if (!v)
		return line_unknown(p, begin, p->s, "value", "define it above its first use");
	if (*p->s == '[') {
		p->s++;
		at = line_expect_ix(p);
		if (!at || !line_expect(p, ']'))
			return false;
	}
	op_in(p->k, op, v, at);
	return true;
}

static bool parse_operands(Parser *p, Op *op)
{
	if (!line_accept(p, '%'))
		return true;
	for (;;) {
		if (op->nin == op_rows[op->kind].in_hi)
			return line_fail(p, line_place(p, p->s - 1, line_token_end(p->s)), D_E0701,
					 arena_printf(ctx_arena(p->c), "%s takes %d operand%s",
						      op_rows[op->kind].name, op->nin,
						      op->nin == 1 ? "" : "s"),
					 NULL);
		if (!parse_operand(p, op))
			return false;
		if (!line_accept(p, ','))
			return true;
		if (!line_expect(p, '%'))
			return false;
	}
}

static bool parse_indices(Parser *p, Op *op)
{
	if (!line_accept(p, '('))
		return true;
	do {
		if (op->nix == MAX_INDICES)
			return line_fail(p, line_place(p, p->s, p->s + 1), D_E0705,
					 "an op has at most 16 index operands", NULL);
		const Ix *x = line_expect_ix(p);
		if (!x)
			return false;
		op_ix(p->k, op, x);
	} while (line_accept(p, ','));
	return line_expect(p, ')');
}

/* : type, of a new value of that name. */
static const Type *parse_value_type(Parser *p, const char *name, const char *begin)
{
	const Type *t = line_expect(p, ':') ? line_expect_type(p) : NULL;
	bool twice = t && ptrmap_get(&p->vals, name);
	if (twice)
		line_duplicate(p, begin, "value", name);
	return twice ? NULL : t;
}

/* [: type], where the op was given a result's name. Values and symbols may share a name in text. */
static bool parse_result(Parser *p, Op *op, const char *name, const char *begin)
{
	if (!name)
		return true;
	const Type *t = parse_value_type(p, name, begin);
	if (!t)
		return false;
	Val *v = op_result(p->k, op, name, t);
	v->name = name;
	ptrmap_set(&p->vals, name, v);
	return true;
}

/* Up to, not including, the body. */
static Op *parse_head(Parser *p)
{
	const char *begin = p->s, *name = NULL;
	if (line_accept(p, '%') && (!(name = line_value_name(p)) || !line_expect(p, '=')))
		return NULL;
	line_skip_blanks(p);
	const char *at = p->s, *mnemonic = line_expect_word(p, "an operation");
	if (!mnemonic)
		return NULL;
	int kind = 0;
	while (kind < OP_COUNT && strcmp(op_rows[kind].name, mnemonic) != 0)
		kind++;
	if (kind == OP_COUNT)
		return line_unknown(p, at, p->s, "operation", NULL), NULL;
	Op *op = op_new(p->k, (OpKind)kind, line_place(p, begin, p->s));
	bool ok = parse_syms(p, op) && parse_operands(p, op) && parse_indices(p, op) &&
		  parse_attrs(p, &op->attrs) && parse_result(p, op, name, begin);
	op->loc = line_place(p, begin, p->s);
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
	if (line_accept(p, '{')) {
		if (depth == MAX_DEPTH)
			return line_fail(p, line_place(p, begin, p->s), D_E0705,
					 "bodies are nested more than 64 deep", NULL);
		if (!parse_block(p, op_body(p->k, op), depth + 1))
			return false;
	}
	if (!line_expect_eol(p))
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
	const char *begin = p->s, *name = line_expect_word(p, "a name");
	if (!name)
		return false;
	if (has_sym(p->k, name))
		return line_duplicate(p, begin, "symbol", name);
	line_skip_blanks(p);
	if (*p->s != '.' && !line_expect_int(p, &lo))
		return false;
	if (strncmp(p->s, "..", 2) != 0)
		return line_expected(p, "'..'");
	p->s += 2;
	if (((*p->s >= '0' && *p->s <= '9') || *p->s == '-') && !line_expect_int(p, &hi))
		return false;
	line_skip_blanks(p);
	if (!strncmp(p->s, "div=", 4)) {
		p->s += 4;
		if (!line_expect_int(p, &div))
			return false;
	}
	if (div < 1 || lo > hi)
		return line_fail(p, line_place(p, begin, p->s), D_E0701,
				 lo > hi ? "the range is empty" : "a divisor is at least 1", NULL);
	kernel_sym(p->k, name, lo, hi, div);
	return true;
}

/* fact (condition) "text" "rule" */
static bool parse_fact(Parser *p)
{
	const char *begin = p->s, *text, *rule;
	if (!line_expect(p, '('))
		return false;
	const Ix *cond = line_expect_ix(p);
	if (!cond || !line_expect(p, ')') || !(text = line_expect_quoted(p)) ||
	    !(rule = line_expect_quoted(p)))
		return false;
	kernel_fact(p->k, cond, text, rule, line_place(p, begin, p->s));
	return true;
}

/* arg [out | inout | constant | in_place | workspace] %name : type */
static bool parse_arg(Parser *p)
{
	line_skip_blanks(p);
	const char *begin = p->s, *way = line_word(p);
	bool out = way && !strcmp(way, "out"), constant = way && !strcmp(way, "constant");
	bool inout = way && !strcmp(way, "inout"), work = way && !strcmp(way, "workspace");
	bool place = way && !strcmp(way, "in_place");
	if ((way && !out && !inout && !constant && !place && !work) || !line_accept(p, '%'))
		return line_expected(p, "[out | inout | constant | in_place | workspace] %name : "
					"type");
	const char *name = line_value_name(p);
	const Type *t = name ? parse_value_type(p, name, begin) : NULL;
	if (!t)
		return false;
	Val *v = work ? kernel_workspace(p->k, name, t) : kernel_arg(p->k, name, t, out);
	v->name = name;
	if (inout)
		kernel_arg_inout(p->k, v);
	if (constant)
		kernel_arg_constant(p->k, v);
	p->k->args.at[v->arg].is_in_place = place;
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
	const char *end = line_token_end(p->s);
	for (size_t i = 0; depth == 0 && i < COUNTOF(lines); i++) {
		size_t n = strlen(lines[i].name);
		if ((size_t)(end - p->s) == n && !strncmp(p->s, lines[i].name, n)) {
			p->s = end;
			return lines[i].parse(p) && line_expect_eol(p);
		}
	}
	return parse_op(p, b, depth);
}

static bool text_ended(Parser *p)
{
	bool said = p->ended;
	p->ended = true;
	return !said && line_expected(p, "'}'");
}

/* After '{', through '}'. False only when the text ends too early or there are too many errors. */
static bool parse_block(Parser *p, Block *b, int depth)
{
	for (;;) {
		line_skip_lines(p);
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
	line_skip_blanks(p);
	const char *begin = p->s, *name = line_expect_word(p, "a stage");
	for (size_t i = 0; name && i < COUNTOF(stages); i++) {
		*out = stages[i].stage;
		if (!strcmp(name, stages[i].name))
			return true;
	}
	return name && line_unknown(p, begin, p->s, "stage", "stages are tile, warp and ptx");
}

static bool parse_target(Parser *p)
{
	line_skip_blanks(p);
	const char *begin = p->s, *name = line_expect_word(p, "a target");
	if (!name)
		return false;
	p->k->target = name;
	return target_by_name(name) ||
	       line_unknown(p, begin, p->s, "target", target_names(ctx_arena(p->c), FT_BASE));
}

static bool parse_header(Parser *p)
{
	Stage stage;
	line_skip_blanks(p);
	const char *begin = p->s, *kernel = line_word(p);
	if (!kernel || strcmp(kernel, "kernel") != 0) {
		p->s = begin;
		return line_expected(p, "'kernel'");
	}
	const char *name = line_expect_word(p, "the kernel's name");
	if (!name)
		return false;
	for (int i = 0; i < p->m->kernels.n; i++)
		if (!strcmp(p->m->kernels.at[i]->name, name))
			return line_duplicate(p, begin, "kernel", name);
	p->k = kernel_new(p->m, name, line_place(p, begin, p->s));
	p->vals = (PtrMap){.arena = ctx_arena(p->c)};
	if (!parse_stage(p, &stage))
		return false;
	p->k->stage = stage;
	return parse_target(p) && parse_attrs(p, &p->k->attrs) && line_expect(p, '{');
}

static void parse_verified(Parser *p)
{
	Loc where = line_place(p, p->s, p->s);
	const char *why = NULL;
	int before = p->errors;
	if (!parse_header(p) || !parse_block(p, &p->k->body, 0) || !line_expect_eol(p)) {
		p->s = p->text + strlen(p->text);
		return;
	}
	if (p->errors == before && !kernel_check(p->k, &why, &where))
		line_fail(p, where, D_E0704, why, NULL);
}

Module *module_parse(Ctx *c, int src)
{
	const Src *text = ctx_src_at(c, src);
	Parser p = {.c = c, .m = module_new(c), .src = src, .text = text->text, .s = text->text};
	if (text->size > MAX_TEXT)
		return line_fail(&p, line_place(&p, p.s, p.s), D_E0705, "the text is over 64 MiB",
				 NULL),
		       NULL;
	for (line_skip_lines(&p); *p.s && p.errors < MAX_ERRORS; line_skip_lines(&p))
		parse_verified(&p);
	if (!p.errors && p.s != p.text + text->size)
		line_fail(&p, line_place(&p, p.s, p.s + 1), D_E0701, "the text holds a NUL byte",
			  NULL);
	if (!p.errors && !p.m->kernels.n)
		line_fail(&p, line_place(&p, p.s, p.s), D_E0701, "the text holds no kernel", NULL);
	return p.errors ? NULL : p.m;
}
