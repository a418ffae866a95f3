/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* atoms.c - kernels of each row of atoms.def, in one module a row: ptxas must take them all
 * without spills and without serialised wgmma, and the PTX must name each shape. Rows share the
 * work: each N is of every fourth row, or sixteenth with sanitizers, the narrowest and the
 * widest of all. */
#include "load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#ifndef APART /* CMakeLists.txt */
#define APART 4
#endif

static void kernel_text(const AtomRow *row, int n, Buf *out)
{
	const char *a = elem_rows[row->a].name, *b = elem_rows[row->b].name;
	int regs = row->m * n / 128, a_bytes = row->m * 32;
	int k = row->k, eight = 8 * k, unit = elem_rows[row->a].bits == 8 ? 4 : 3;
	const char *c = elem_rows[row->c].name;
	buf_printf(out, "kernel %s_%s_%s_n%d ptx sm_90a block=128 smem=%d {\n", row->name, a, b, n,
		   a_bytes + n * 32);
	buf_printf(out, "  arg out %%D : global %s (65536):(1)\n  launch (1, 1, 1)\n", c);
	buf_printf(out,
		   "  %%sA = shared slots=1 offset=0 : shared %s Sw<1,%d,3> o 0 o "
		   "((8,%d),(%d,1)):((%d,%d),(1,0))\n",
		   a, unit, row->m / 8, k, k, eight);
	buf_printf(out,
		   "  %%sB = shared slots=1 offset=%d : shared %s Sw<1,%d,3> o 0 o "
		   "((8,%d),(%d,1)):((%d,%d),(1,0))\n",
		   a_bytes, b, unit, n / 8, k, k, eight);
	buf_printf(out,
		   "  %%acc = frag : reg %s (%d,%d):(1,%d) tv "
		   "((4,8,4),(2,2,%d)):((128,1,16),(64,8,512))\n",
		   c, row->m, n, row->m, n / 8);
	buf_printf(out, "  fill %%acc value=0\n  for k (0, 8) {\n    wgmma.fence\n");
	buf_printf(out,
		   "    wgmma %%acc[0], %%sA, %%sB (0, 0) atom=%s.m%dn%dk%d.%s.%s.%s "
		   "lbo=(16,16) sbo=(256,256) swizzles=(32,32)\n",
		   row->name, row->m, n, row->k, elem_rows[row->c].name, a, b);
	buf_printf(out, "    wgmma.commit\n    wgmma.wait n=0\n  }\n");
	buf_printf(out, "  for r (0, %d) unroll=1 {\n", regs / 2);
	buf_printf(out, "    st.global %%D, %%acc[r * 2] (tid * %d + r * 2) n=2\n  }\n}\n", regs);
}

/* All operands in registers, filled with 1, of one warp. */
static void sync_text(const AtomRow *row, int n, Buf *out)
{
	const char *a = elem_rows[row->a].name, *b = elem_rows[row->b].name;
	const char *c = elem_rows[row->c].name;
	int regs = row->m * n / 32;
	buf_printf(out, "kernel %s_%s_%s_k%d ptx sm_90a block=32 {\n", row->name, a, b, row->k);
	buf_printf(out, "  arg out %%D : global %s (65536):(1)\n  launch (1, 1, 1)\n", c);
	buf_printf(out, "  %%acc = frag : reg %s (%d,%d):(1,%d) tv %s\n", c, row->m, n, row->m,
		   row->tv);
	buf_printf(out, "  %%a = frag : reg %s (%d,%d):(1,%d) tv %s\n", a, row->m, row->k, row->m,
		   row->tv_a);
	buf_printf(out, "  %%b = frag : reg %s (%d,%d):(1,%d) tv %s\n", b, n, row->k, n, row->tv_b);
	buf_printf(out, "  fill %%acc value=0\n  fill %%a value=1\n  fill %%b value=1\n");
	buf_printf(out,
		   "  for k (0, 8) {\n    mma.sync %%acc[0], %%a[0], %%b[0] "
		   "atom=%s.m%dn%dk%d.%s.%s.%s\n  }\n",
		   row->name, row->m, n, row->k, c, a, b);
	buf_printf(out, "  for r (0, %d) unroll=1 {\n", regs / 2);
	buf_printf(out, "    st.global %%D, %%acc[r * 2] (tid * %d + r * 2) n=2\n  }\n}\n", regs);
}

static bool is_tried(const AtomRow *row, int n)
{
	long turn = row - atom_rows;
	return row->has_n(n) && (n == 8 || n == ATOM_N || (n / 8 + turn) % APART == 0);
}

static void expect_shapes(const AtomRow *row, const char *ptx)
{
	char shape[64];
	for (int n = 1; n <= ATOM_N; n++) {
		if (!is_tried(row, n))
			continue;
		snprintf(shape, sizeof shape, "%s.sync.aligned.m%dn%dk%d.%s%s.%s.%s",
			 *row->tv_b ? "mma" : "wgmma.mma_async", row->m, n, row->k,
			 *row->tv_b ? "row.col." : "", elem_rows[row->c].name,
			 elem_rows[row->a].name, elem_rows[row->b].name);
		if (!strstr(ptx, shape))
			fail_msg("no %s", shape);
	}
}

static void check_row(const AtomRow *row)
{
	Ctx *c = ctx_new();
	Buf text = {0}, said = {0};
	CgOpt opt = {.source_name = "atoms", .opt_level = 3};
	CgOut out;
	int shapes = 0;
	for (int n = 1; n <= ATOM_N; n++)
		if (is_tried(row, n)) {
			(*row->tv_b ? sync_text : kernel_text)(row, n, &text);
			shapes++;
		}
	Module *m = load_text(c, "atoms", text.s);
	assert_non_null(m);
	assert_int_equal(m->kernels.n, shapes);
	bool ok = codegen_module(m, CG_PTX | CG_CUBIN, &opt, &out);
	diag_text(c, &said, false);
	if (!ok || said.n)
		fail_msg("%s", said.s ? said.s : "failed without a word");
	assert_true(out.cubin.n > 0);
	expect_shapes(row, out.ptx.s);
	cg_out_free(&out);
	buf_free(&text);
	buf_free(&said);
	ctx_free(c);
}

static void test_rows(void **state)
{
	(void)state;
	for (int i = 0; i < ATOM_COUNT; i++)
		check_row(&atom_rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
