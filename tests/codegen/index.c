/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* index.c - index expressions as LLVM integers: random expressions over names of random ranges,
 * made with the names bound to constants, so that LLVM folds each to a number, which must be
 * ix_eval's. What codegen sees are the ranges; so widths, divisions and cuts are the ones of real
 * kernels. */
#include "codegen/cg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { NAMES = 6, ROUNDS = 20000, DEPTH = 4 };

typedef struct {
	Ctx *c;
	uint64_t seed;
	const char *name[NAMES];
	IxFact fact[NAMES];
	int64_t value[NAMES];
} World;

static uint64_t random_next(World *w)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return w->seed;
}

static int64_t random_in(World *w, int64_t lo, int64_t hi)
{
	uint64_t span = (uint64_t)hi - (uint64_t)lo + 1;
	return (int64_t)((uint64_t)lo + (span ? random_next(w) % span : random_next(w)));
}

static int64_t random_bound(World *w)
{
	static const int64_t at[] = {
		0,        1, 2, 7, 31, 255, 4096, 65535, 8388607, INT32_MAX, (int64_t)INT32_MAX + 1,
		1LL << 40};
	return at[random_next(w) % COUNTOF(at)];
}

/* Every third name can be negative; the first is always positive, for divisors. */
static void names_draw(World *w)
{
	static const char *const names[NAMES] = {"a", "b", "c", "d", "e", "f"};
	for (int i = 0; i < NAMES; i++) {
		int64_t lo = i % 3 == 2 ? -random_bound(w) : i == 0 ? 1 : 0;
		int64_t hi = lo + random_bound(w);
		w->name[i] = ctx_str(w->c, names[i]);
		w->value[i] = random_in(w, lo, hi);
		w->fact[i] = (IxFact){.name = w->name[i], .lo = lo, .hi = hi, .div = 1};
	}
}

static const Ix *expr_draw(World *w, int depth)
{
	static const IxKind kinds[] = {IX_ADD, IX_ADD, IX_MUL, IX_MUL, IX_DIV, IX_MOD,
				       IX_MIN, IX_SHL, IX_SHR, IX_MAX, IX_LT,  IX_LE,
				       IX_EQ,  IX_NE,  IX_AND, IX_OR};
	if (depth == 0 || random_next(w) % 5 == 0)
		return random_next(w) % 3 ? ix_sym(w->c, w->name[random_next(w) % NAMES])
					  : ix_const(w->c, random_in(w, -40, 300));
	IxKind kind = kinds[random_next(w) % COUNTOF(kinds)];
	const Ix *a = expr_draw(w, depth - 1), *b = expr_draw(w, depth - 1);
	if (kind == IX_DIV || kind == IX_MOD)
		b = random_next(w) % 2 ? ix_sym(w->c, w->name[0])
				       : ix_const(w->c, random_in(w, 1, 200));
	if (kind == IX_SHL || kind == IX_SHR)
		b = ix_mod(w->c, b, ix_const(w->c, random_in(w, 1, kind == IX_SHL ? 20 : 62)));
	return ix_new(w->c, kind, a, b);
}

static bool name_value(void *user, const char *name, int64_t *v)
{
	const World *w = user;
	for (int i = 0; i < NAMES; i++)
		if (w->name[i] == name) {
			*v = w->value[i];
			return true;
		}
	return false;
}

static void names_bind(World *w, Cg *g)
{
	for (int i = 0; i < NAMES; i++) {
		bool narrow = w->fact[i].lo >= INT32_MIN && w->fact[i].hi <= INT32_MAX;
		LLVMTypeRef type = narrow && i % 2 ? g->m->i32 : g->m->i64;
		LLVMValueRef v = LLVMConstInt(type, (uint64_t)w->value[i], true);
		cg_bind_name(g, w->name[i], w->fact[i], v);
	}
}

static void expect(const Ix *x, int64_t want, LLVMValueRef got)
{
	Buf b = {0};
	ix_print(x, &b);
	if (!LLVMIsAConstantInt(got))
		fail_msg("%s is no constant", b.s);
	if (LLVMConstIntGetSExtValue(got) != want)
		fail_msg("%s is %lld, not %lld", b.s, (long long)LLVMConstIntGetSExtValue(got),
			 (long long)want);
	buf_free(&b);
}

static int check_one(World *w, Cg *g)
{
	int64_t want;
	names_draw(w);
	const Ix *x = expr_draw(w, DEPTH);
	if (!ix_eval(x, name_value, w, &want))
		return 0; /* beyond 64 bits */
	Mark mark = cg_mark(g);
	names_bind(w, g);
	expect(x, want, cg_i64(g, x));
	if (cg_fits32(g, x))
		expect(x, want, cg_i32(g, x));
	expect(x, want ? -1 : 0, cg_cond(g, x)); /* an i1, sign extended */
	cg_release(g, mark);
	return 1;
}

static void test_random(void **state)
{
	World w = {.c = ctx_new(), .seed = 0x9e3779b97f4a7c15u};
	CgOpt opt = {.source_name = "index", .opt_level = 3};
	CgMod m;
	Kernel *k = kernel_new(module_new(w.c), "k", NOLOC);
	int checked = 0;
	(void)state;
	cg_module_open(&m, w.c, &opt, "sm_90a");
	Cg g = {.m = &m, .k = k, .arena = m.arena, .b = LLVMCreateBuilderInContext(m.lc)};
	g.fn = LLVMAddFunction(m.mod, "k", LLVMFunctionType(m.tvoid, NULL, 0, false));
	LLVMPositionBuilderAtEnd(g.b, cg_new_block(&g, "entry"));
	for (int i = 0; i < ROUNDS; i++)
		checked += check_one(&w, &g);
	assert_true(checked > ROUNDS / 2);
	LLVMDisposeBuilder(g.b);
	cg_module_close(&m);
	ctx_free(w.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
