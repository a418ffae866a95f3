/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* elementwise.c - every row of elementwise.def may be written by its name, with no edit to the
 * frontend, and every operator: the op is in the IR that comes out. */
#include "frontend/ast.h"
#include "frontend/frontend.h"

#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static const char kernel_text[] =
	"kernel f(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), D : out f32 (M,N):(N,1)) {\n"
	"  mma mm = wgmma<64,64,16>(bf16, bf16, f32);\n"
	"  smem sA : bf16 (64,64), sB : bf16 (64,64);\n"
	"  pipeline ab(2) { sA, sB }\n"
	"  let gA = A / (64,64), gB = B / (64,64), gD = D / (64,64);\n"
	"  for (m,n) in gD {\n"
	"    acc : f32 mm.C(64,64) = 0;\n"
	"    for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }\n"
	"    gD[m,n] <- %s;\n"
	"  }\n"
	"}\n";

static const Op *find(const Module *m, OpKind kind)
{
	for (const Op *op = kernel_first(m->kernels.at[0]); op; op = op_next(op))
		if (op->kind == kind)
			return op;
	return NULL;
}

static Module *compile(Ctx *c, const char *value)
{
	Buf text = {0}, diags = {0};
	for (const char *p = kernel_text; *p; p++)
		if (p[0] == '%' && p[1] == 's')
			buf_printf(&text, "%s", value), p++;
		else
			buf_add(&text, p, 1);
	Module *m = frontend_compile(c, ctx_src(c, value, text.s, text.n), NULL);
	diag_text(c, &diags, false);
	if (!m)
		fail_msg("%s: %s", value, diags.s);
	buf_free(&text);
	buf_free(&diags);
	return m;
}

static void expect_op(const EltRow *row, const char *value)
{
	Ctx *c = ctx_new();
	const Op *op = find(compile(c, value), row->op);
	assert_non_null(op);
	assert_int_equal(op->nin, row->arity);
	assert_true(op->out->type == op->in[0].val->type);
	ctx_free(c);
}

/* A number decides && and || with a condition, or leaves the condition; another value is tested. */
static void numbers_decide(void **state)
{
	static const struct {
		const char *condition;
		OpKind op; /* what select takes */
		double value;
	} rows[] = {{"acc > 0 && 1", OP_GT, 0},    {"5 && acc > 0", OP_GT, 0},
		    {"acc > 0 && 0", OP_CONST, 0}, {"acc > 0 || 0", OP_GT, 0},
		    {"3 || acc > 0", OP_CONST, 1}, {"acc && 1", OP_BOTH, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		Ctx *c = ctx_new();
		Buf value = {0};
		buf_printf(&value, "select(%s, acc, acc * 2)", rows[i].condition);
		const Op *from = find(compile(c, value.s), OP_SELECT)->in[0].val->def;
		assert_int_equal(from->kind, rows[i].op);
		if (from->kind == OP_CONST)
			assert_true(attrs_get(&from->attrs, A_VALUE)->real == rows[i].value);
		buf_free(&value);
		ctx_free(c);
	}
}

static void each_row(void **state)
{
	static const char *const args[] = {"acc", "acc, acc", "acc, acc, 0.5"};
	static const char *const ints[] = {"s32(acc)", "s32(acc), 3"};
	Buf value = {0};
	(void)state;
#define ELT(id, name, ...) names[OP_##id] = name;
	const char *names[OP_COUNT] = {0};
#include "ir/elementwise.def"
	for (int i = 0; i < OP_COUNT; i++) {
		const EltRow *row = names[i] ? elt_by_name(names[i]) : NULL;
		if (!row)
			continue;
		value.n = 0;
		if (row->value)
			buf_printf(&value, "%s(%s)", row->name, args[row->arity - 1]);
		else
			buf_printf(&value, "f32(%s(%s))", row->name, ints[row->arity - 1]);
		expect_op(row, value.s);
	}
	for (int i = 0; i < OPER_COUNT; i++) {
		const EltRow *row = elt_by_op(operator_rows[i].op);
		if (!row)
			continue;
		value.n = 0;
		const char *x = row->arity == 2 ? "acc" : "",
			   *first = row->arity == 2 ? "s32(acc)" : "";
		if (row->value)
			buf_printf(&value, "%s %s acc", x, operator_rows[i].name);
		else
			buf_printf(&value, "f32(%s %s %s)", first, operator_rows[i].name,
				   row->arity == 2 ? "3" : "s32(acc)");
		expect_op(row, value.s);
	}
	buf_free(&value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_row),
					   cmocka_unit_test(numbers_decide)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
