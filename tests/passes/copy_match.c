/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copy_match.c - which atoms copy registers to a slot, and that every element comes where the
 * slot's layout has it: by what the PTX ISA says of ldmatrix and stmatrix, thread by thread. */
#include "passes/smem/offset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* after the four above, which it needs */
#include <cmocka.h>

enum { THREADS = 128 };

typedef struct {
	Elem elem;
	OpKind of;
	bool columns;
	int rows, cols, swizzle; /* of the tile; bytes */
	CopyId first, last;      /* atoms of the first and the last registers */
} Case;

static const Case cases[] = {
	{EL_BF16, OP_STORE_SHARED, false, 64, 64, 128, COPY_STMATRIX_4, COPY_STMATRIX_4},
	{EL_BF16, OP_LOAD_SHARED, false, 64, 32, 64, COPY_LDMATRIX_4, COPY_LDMATRIX_4},
	{EL_BF16, OP_STORE_SHARED, true, 64, 40, 128, COPY_STMATRIX_T4, COPY_STMATRIX_T2},
	{EL_BF16, OP_LOAD_SHARED, true, 64, 40, 128, COPY_LDMATRIX_T4, COPY_LDMATRIX_T2},
	{EL_F32, OP_STORE_SHARED, false, 64, 32, 128, COPY_ST_SHARED_2, COPY_ST_SHARED_2},
	{EL_F32, OP_LOAD_SHARED, false, 64, 64, 128, COPY_LD_SHARED_2, COPY_LD_SHARED_2},
	{EL_F32, OP_STORE_SHARED, true, 64, 24, 128, COPY_ST_SHARED_1, COPY_ST_SHARED_1},
	{EL_F32, OP_STORE_SHARED, false, 64, 8, 32, COPY_ST_SHARED_2, COPY_ST_SHARED_2},
	{EL_E4M3, OP_STORE_SHARED, false, 64, 64, 64, COPY_ST_SHARED_2, COPY_ST_SHARED_2},
};

static const Type *buffer_of(Ctx *c, const Case *t)
{
	int size = elem_rows[t->elem].bits / 8, fast = t->columns ? t->rows : t->cols;
	SlotForm f = {1, t->columns ? t->cols : t->rows, fast, t->swizzle / size, t->swizzle};
	return type_tile(c, SP_SHARED, t->elem, slot_layout(c, f, t->elem));
}

static const Type *accumulator(Ctx *c, const Case *t)
{
	const Layout *tv = atom_tv_c(c, (Atom){ATOM_WGMMA_BF16, t->cols});
	return type_frag(c, t->elem, layout_2d(c, t->rows, t->cols, 1, t->rows), tv);
}

static int64_t number(Ctx *c, const Ix *x, int thread)
{
	int64_t v;
	x = ix_subst(c, x, "lane", ix_const(c, thread % 32));
	x = ix_simplify(c, ix_subst(c, x, "warp", ix_const(c, thread / 32)), (IxFacts){0});
	assert_true(ix_is_const(x, &v));
	return v;
}

/* Byte of the slot that register i of the instruction is at: of the thread's own address, or of
 * the address that a lane gives for the row (PTX ISA, stmatrix: row, then pairs of its columns). */
static int64_t byte_of(Ctx *c, const CopyRow *row, const Ix *address, int thread, int i, int size)
{
	int lane = thread % 32, first = thread - lane;
	if (row->op != OP_STMATRIX && row->op != OP_LDMATRIX)
		return number(c, address, thread) + (int64_t)i * size;
	int at = row->trans ? lane % 4 * 2 + i % 2 : lane / 4;
	int column = row->trans ? lane / 4 : lane % 4 * 2 + i % 2;
	return number(c, address, first + i / 2 * 8 + at) + (int64_t)column * 2;
}

static int64_t expected(const Case *t, const Type *buffer, const Type *frag, int thread, int reg)
{
	int64_t offset = layout_at_int(frag->tv, thread + (int64_t)THREADS * reg);
	int64_t row = offset % t->rows, col = offset / t->rows;
	int64_t linear = t->columns ? col + row * t->cols : row + col * t->rows;
	return layout_at_int(buffer->layout, linear) * elem_rows[t->elem].bits / 8;
}

static void check_atom(Kernel *k, const Case *t, const Spread *h, const CopyMatch *m, int reg)
{
	Ctx *c = k->ctx;
	const Type *buffer = buffer_of(c, t), *frag = accumulator(c, t);
	Place p = place_in(c, buffer);
	place_add(&p, h->warps, ix_sym(c, "warp"));
	place_add(&p, m->lanes, ix_sym(c, "lane"));
	place_add(&p, h->values, ix_const(c, reg));
	for (int thread = 0; thread < THREADS; thread += 7)
		for (int i = 0; i < m->row->regs; i++) {
			int64_t byte = byte_of(c, m->row, place_byte(&p), thread, i,
					       elem_rows[t->elem].bits / 8);
			assert_int_equal(byte, expected(t, buffer, frag, thread, reg + i));
		}
}

static void every_element_has_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNTOF(cases); i++) {
		Ctx *c = ctx_new();
		const Case *t = &cases[i];
		Kernel *k = kernel_new(module_new(c), "k", (Loc){0});
		k->target = "sm_90a";
		Spread h;
		assert_null(spread_in_slot(k, buffer_of(c, t), accumulator(c, t), t->columns, &h));
		CopyMatches all = copy_matches(k, &h, t->of, elem_rows[t->elem].bits);
		const CopyMatch *m = NULL;
		int n = spread_values(c, &h);
		assert_int_equal(n, t->rows * t->cols / THREADS);
		assert_ptr_equal(copy_first(&all, &h, 0, n)->row, &copy_rows[t->first]);
		for (int reg = 0; reg < n; reg += m->row->regs) {
			assert_non_null(m = copy_first(&all, &h, reg, n));
			check_atom(k, t, &h, m, reg);
		}
		assert_ptr_equal(m->row, &copy_rows[t->last]);
		ctx_free(c);
	}
}

/* Pairs that a slot does not hold side by side go one by one, and matrices not at all. */
static void what_is_not_contained(void **state)
{
	Ctx *c = ctx_new();
	Case t = cases[0];
	Kernel *k = kernel_new(module_new(c), "k", (Loc){0});
	(void)state;
	k->target = "sm_90a";
	t.columns = true;
	Spread h;
	assert_null(spread_in_slot(k, buffer_of(c, &t), accumulator(c, &t), true, &h));
	CopyMatches all = copy_matches(k, &h, OP_LOAD_SHARED, 8);
	assert_ptr_equal(copy_first(&all, &h, 0, 32)->row, &copy_rows[COPY_LD_SHARED_1]);
	t.columns = false;
	t.rows = 128;
	const Type *larger = buffer_of(c, &t);
	t.rows = 64;
	assert_string_equal(spread_in_slot(k, larger, accumulator(c, &t), false, &h),
			    "the tile in registers is no whole number of the buffer's");
	ctx_free(c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_element_has_its_place),
		cmocka_unit_test(what_is_not_contained),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
