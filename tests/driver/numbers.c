/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* numbers.c - dslc bench without a GPU: what medians, noise and ranks say of times that a table
 * gives, and how that is written; the schedules file; what is asked of BLAS. */
#include "driver/bench/candidate.h"
#include "driver/bench/machine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void assert_near(double got, double wanted)
{
	if (fabs(got - wanted) > 1e-9 * (fabs(wanted) + 1))
		fail_msg("%.12g is not %.12g", got, wanted);
}

static void assert_has(const char *text, const char *words)
{
	if (!text || !strstr(text, words))
		fail_msg("\"%s\" is not in:\n%s", words, text ? text : "(nothing)");
}

static void assert_lacks(const char *text, const char *words)
{
	if (strstr(text, words))
		fail_msg("\"%s\" is in:\n%s", words, text);
}

/* ------------------------------------------------------------------ statistics */
static void medians(void **state)
{
	(void)state;
	Arena *a = arena_new();
	const double odd[] = {9, 2, 3, 4, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
	assert_near(stat_median(a, odd, 5), 3);
	assert_near(stat_median(a, even, 4), 2.5);
	assert_near(stat_median(a, one, 1), 7);
	assert_near(stat_median(a, one, 0), 0);
	assert_near(stat_spread(a, odd, 5), 0.5 / 3);
	assert_near(stat_spread(a, one, 1), 0);
	assert_near(odd[0], 9); /* not sorted in place */
	arena_free(a);
}

/* The interval goes from the 10th to the 21st of 30 ratios, from the 2nd to the 8th of 9, and over
 * all of 5: what a fair coin shows at most with 2.5 % is cut off at either end. */
static void intervals(void **state)
{
	(void)state;
	static const struct {
		int n, lo, hi;
	} rows[] = {{30, 10, 21}, {9, 2, 8}, {6, 1, 6}, {5, 1, 5}, {1, 1, 1}};
	Arena *a = arena_new();
	double base[30], times[30];
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		int n = rows[i].n;
		for (int k = 0; k < n; k++) {
			base[k] = 1000 + k * 7 % n; /* each number once, in no order */
			times[k] = 1;
		}
		Ratio r = stat_ratio(a, base, times, n);
		double median = stat_median(a, base, n);
		assert_near(r.ratio, median);
		double below = median - (999 + rows[i].lo), above = 999 + rows[i].hi - median;
		assert_near(r.noise, below > above ? below : above);
	}
	arena_free(a);
}

/* ------------------------------------------------------------------ rounds */
typedef struct {
	double us[4]; /* of each entry */
	double swing; /* part by which a time goes up and down */
	double drift; /* part by which all get slower in each round */
	int fail_at;  /* this call fails; -1: none */
	int calls, seen[4][REGIMES];
	int order[1000];
} Table;

static bool table_sample(void *user, int entry, Regime r, Sample *out)
{
	Table *t = user;
	int round = t->seen[entry][r]++;
	int up = (round + entry) % 2 ? 1 : -1; /* two neighbours swing against each other */
	t->order[t->calls % 1000] = entry;
	*out = (Sample){t->us[entry] * (1 + up * t->swing) * (1 + t->drift * round), 1500, 700};
	if (r == BURST)
		out->us *= 0.5;
	return t->calls++ != t->fail_at;
}

static Bench bench_of(Arena *a, const char *const *names, int n, bool control)
{
	Bench b = {.arena = a,
		   .kernel = "gemm",
		   .file = "gemm.gemm",
		   .sizes = "M=1 N=2 K=3",
		   .device = "a card",
		   .flops = 2e9,
		   .bytes = 3e6,
		   .rounds = {30, 9},
		   .seed = 1,
		   .control = -1};
	for (int i = 0; i < n; i++) {
		BenchEntry e = {.name = names[i], .what = "-Dx=\"1\", y", .ours = i > 0};
		e.line = i;
		vec_push(a, &b.entries, e);
	}
	if (control) {
		b.control = n;
		BenchEntry e = b.entries.at[0];
		vec_push(a, &b.entries, e);
	}
	return b;
}

static const char *const three[] = {"cublaslt", "ping", "coop"};

static void every_entry_has_its_turn_in_each_round(void **state)
{
	(void)state;
	Arena *a = arena_new();
	Bench b = bench_of(a, three, 3, false);
	Table t = {.us = {100, 90, 80}, .fail_at = -1};
	const Timer timer = {table_sample, &t};
	int others = 0;
	assert_true(bench_measure(&b, &timer, NULL));
	assert_int_equal(t.calls, 3 * (30 + 9));
	for (int i = 0; i < t.calls; i += 3) {
		const int *o = &t.order[i];
		assert_int_equal((1 << o[0]) | (1 << o[1]) | (1 << o[2]), 7);
		others += memcmp(o, t.order, 3 * sizeof *o) != 0;
	}
	assert_true(others > 20); /* fresh orders */
	assert_near(b.entries.at[1].at[STEADY][29].us, 90);
	assert_near(b.entries.at[1].at[BURST][8].us, 45);
	t.calls = 0;
	t.fail_at = 50;
	assert_false(bench_measure(&b, &timer, NULL));
	assert_int_equal(t.calls, 51);
	arena_free(a);
}

/* What drifts meets all alike: ratios stand, where medians alone would not. */
static void figures(void **state)
{
	(void)state;
	Arena *a = arena_new();
	Bench b = bench_of(a, three, 3, true);
	Table t = {.us = {100, 90, 80, 100}, .drift = 0.01, .fail_at = -1};
	const Timer timer = {table_sample, &t};
	assert_true(bench_measure(&b, &timer, NULL));
	BenchFigures f = bench_figures(&b, 1, STEADY);
	assert_near(f.us, 90 * 1.145);
	assert_near(f.tflops, 2e9 / f.us * 1e-6);
	assert_near(f.gbps, 3e6 / f.us * 1e-3);
	assert_near(f.mhz, 1500);
	assert_near(f.watts, 700);
	assert_near(f.to_base.ratio, 100.0 / 90);
	assert_near(f.to_base.noise, 0);
	assert_true(f.differs && f.spread > 0.05);
	assert_int_equal(f.rank, 2);
	assert_int_equal(bench_figures(&b, 2, STEADY).rank, 1);
	assert_int_equal(bench_figures(&b, 0, BURST).rank, 3);
	arena_free(a);
}

/* ------------------------------------------------------------------ decisions */
static Buf table_of(double first, double second, double swing, double control)
{
	Arena *a = arena_new();
	Bench b = bench_of(a, three, 2, true);
	Table t = {.us = {first, second, control}, .swing = swing, .fail_at = -1};
	const Timer timer = {table_sample, &t};
	Buf out = {0};
	assert_true(bench_measure(&b, &timer, NULL));
	bench_table(&b, &out);
	arena_free(a);
	return out;
}

static void a_difference_above_the_noise(void **state)
{
	(void)state;
	Buf out = table_of(100, 98, 0.001, 100);
	assert_has(out.s, "1.020 (noise 0.20 %)\n");
	assert_has(out.s, "   1  ping ");
	assert_has(out.s, "   2  cublaslt ");
	assert_has(out.s, "steady: fastest ping\nburst: fastest ping\n");
	assert_has(out.s, "differs from itself by 0.00 % (steady)");
	assert_lacks(out.s, "no difference");
	buf_free(&out);
}

/* 1 % faster by the medians, but each of two swings by 2 %. */
static void a_difference_below_the_noise(void **state)
{
	(void)state;
	Buf out = table_of(100, 99, 0.02, 100);
	assert_has(out.s, "no difference above the noise of 4.0");
	assert_has(out.s, "   1  ping ");
	assert_has(out.s, "   1  cublaslt ");
	assert_has(out.s, "steady: fastest cublaslt, ping: no difference above the noise of 4.");
	assert_lacks(out.s, "1.010");
	buf_free(&out);
}

/* No noise within an entry, but the same entry twice differs by more than the two do. */
static void a_difference_below_that_of_equals(void **state)
{
	(void)state;
	Buf out = table_of(100, 99, 0, 97);
	assert_has(out.s, "no difference above the noise of 3.09 %");
	assert_has(out.s,
		   "cublaslt a second time differs from itself by 3.09 % (steady), 3.09 % (burst)");
	assert_lacks(out.s, "(noise");
	buf_free(&out);
	out = table_of(100, 90, 0, 97);
	assert_has(out.s, "1.111 (noise 3.09 %)");
	buf_free(&out);
}

static void one_alone_has_figures_and_no_ratio(void **state)
{
	(void)state;
	Arena *a = arena_new();
	Bench b = bench_of(a, three, 1, false);
	Table t = {.us = {100}, .fail_at = -1};
	const Timer timer = {table_sample, &t};
	Buf out = {0};
	b.flops = 0;
	b.notes = three;
	b.nnotes = 2;
	assert_true(bench_measure(&b, &timer, NULL));
	for (int i = 0; i < 30; i++)
		b.entries.at[0].at[STEADY][i].watts = 0;
	bench_table(&b, &out);
	assert_has(out.s, "gemm of gemm.gemm, M=1 N=2 K=3\na card\ncublaslt\nping\n\n");
	assert_has(out.s,
		   "   1  cublaslt     100.00    0.00 %        -     30  1500    -     50.00    "
		   "0.00 %        -  1500\n");
	assert_lacks(out.s, "over this");
	assert_lacks(out.s, "fastest");
	buf_free(&out);
	arena_free(a);
}

/* ------------------------------------------------------------------ for other programs */
static Bench measured(Arena *a, Table *t)
{
	Bench b = bench_of(a, three, 3, true);
	const Timer timer = {table_sample, t};
	b.rounds[STEADY] = 5;
	b.rounds[BURST] = 5;
	assert_true(bench_measure(&b, &timer, NULL));
	return b;
}

static void csv(void **state)
{
	(void)state;
	Arena *a = arena_new();
	Table t = {.us = {100, 80, 99.5, 99}, .fail_at = -1};
	Bench b = measured(a, &t);
	Buf out = {0};
	bench_csv(&b, &out);
	assert_has(out.s, "kernel,sizes,candidate,what,regime,rounds,rank,median_us,");
	assert_has(out.s,
		   "\ngemm,M=1 N=2 K=3,cublaslt,\"-Dx=\"\"1\"\", y\",steady,5,2,100.000,0.0000,"
		   "20.00,30.0,1500,700.0,cublaslt,1.00000,");
	assert_has(out.s, "ping,\"-Dx=\"\"1\"\", y\",burst,5,1,40.000,0.0000,50.00,75.0,1500,700.0,"
			  "cublaslt,1.25000,1.0101\n");
	assert_has(out.s, ",coop,\"-Dx=\"\"1\"\", y\",steady,5,2,99.500,");
	assert_has(out.s, "cublaslt,,1.0101\n"); /* no ratio: within the noise */
	assert_has(out.s, ",control,\"-Dx=\"\"1\"\", y\",steady,5,,99.000,");
	int lines = 0;
	for (const char *s = out.s; *s; s++)
		lines += *s == '\n';
	assert_int_equal(lines, 1 + 4 * 2);
	buf_free(&out);
	arena_free(a);
}

static void json(void **state)
{
	(void)state;
	Arena *a = arena_new();
	Table t = {.us = {100, 80, 99.5, 99}, .fail_at = -1};
	Bench b = measured(a, &t);
	Buf out = {0};
	b.entries.at[1].at[BURST][3].mhz = 0;
	bench_json(&b, &out);
	assert_has(out.s, "\"schema\":\"dslc-bench/1\"");
	assert_has(out.s, "\"what\":\"-Dx=\\\"1\\\", y\"");
	assert_has(out.s, "\"rank\":1,\n        \"median_us\":80,");
	assert_has(out.s, "\"ratio\":1.25,\n        \"noise\":0.0101010101");
	assert_has(out.s, "\"ratio\":null");
	assert_has(out.s, "\"mhz\":null");
	assert_has(out.s, "\"control\":true");
	buf_free(&out);
	arena_free(a);
}

/* ------------------------------------------------------------------ the schedules file */
static Ctx *lines_of(const char *text, BenchLines *out)
{
	Ctx *c = ctx_new();
	*out = (BenchLines){0};
	bench_lines(c, ctx_src(c, "tries.txt", text, strlen(text)), out);
	return c;
}

static void lines(void **state)
{
	(void)state;
	BenchLines l;
	Ctx *c = lines_of("# a comment\n"
			  "\n"
			  "  ping.128+x: -DbN=128  -D S=6 schedule { roles { a } ; }  \r\n"
			  "as-is:\n"
			  "-Dscheduled=1\n"
			  "schedule{group(8);}",
			  &l);
	assert_int_equal(diag_errors(c), 0);
	assert_int_equal(l.n, 4);
	assert_string_equal(l.at[0].name, "ping.128+x");
	assert_int_equal(l.at[0].defines.n, 2);
	assert_string_equal(l.at[0].defines.at[0], "bN=128");
	assert_string_equal(l.at[0].defines.at[1], "S=6");
	assert_string_equal(l.at[0].block, "{ roles { a } ; }");
	assert_string_equal(l.at[0].text, "-DbN=128  -D S=6 schedule { roles { a } ; }");
	assert_int_equal(l.at[0].number, 3);
	assert_string_equal(l.at[1].name, "as-is");
	assert_null(l.at[1].block);
	assert_string_equal(l.at[2].name, "line 5");
	assert_string_equal(l.at[2].defines.at[0], "scheduled=1");
	assert_string_equal(l.at[3].block, "{group(8);}");
	ctx_free(c);
}

/* Each wrong line is named with its place, and the others are there. */
static void wrong_lines(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"a: -O3",
		 "tries.txt:1:4: error[E0630]: neither -DNAME=VALUE nor a schedule block"},
		{"-DbN", "tries.txt:1:3: error[E0630]: -D takes NAME=VALUE"},
		{"-DbN=", "-D takes NAME=VALUE"},
		{"-D", "-D takes NAME=VALUE"},
		{"-D =3", "-D takes NAME=VALUE"},
		{"schedule { roles none;", "the schedule block is not closed on its line"},
		{"schedule", "neither -DNAME=VALUE nor a schedule block"},
		{"schedule }", "the schedule block is not closed on its line"},
		{"schedule { } -Dx=1", "tries.txt:1:14: error[E0630]: nothing may follow"},
		{"schedules { }", "neither -DNAME=VALUE nor a schedule block"},
		{"good:", "candidate 'good' is there twice"},
	};
	for (size_t i = 0; i < COUNTOF(rows); i++) {
		BenchLines l;
		Buf text = {0}, said = {0};
		buf_printf(&text, "%s\ngood: -Dx=1\n", rows[i].text);
		Ctx *c = lines_of(text.s, &l);
		assert_int_equal(diag_errors(c), 1);
		assert_int_equal(l.n, 1);
		assert_string_equal(l.at[0].name, "good");
		diag_text(c, &said, false);
		assert_has(said.s, rows[i].says);
		assert_has(said.s, "help: ");
		buf_free(&said);
		buf_free(&text);
		ctx_free(c);
	}
}

static void empty_files(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "\n \n", "# nothing\n"};
	for (size_t i = 0; i < COUNTOF(texts); i++) {
		BenchLines l;
		Buf said = {0};
		Ctx *c = lines_of(texts[i], &l);
		assert_int_equal(l.n, 0);
		diag_text(c, &said, false);
		assert_has(said.s, "error[E0630]: tries.txt has no candidate");
		buf_free(&said);
		ctx_free(c);
	}
}

/* ------------------------------------------------------------------ BLAS */
static void matrices(void **state)
{
	(void)state;
	const Matrix rows = {0, 100, 40, 48, 1}, columns = {0, 100, 40, 1, 104},
		     neither = {0, 100, 40, 2, 300}, row = {0, 1, 40, 1, 1};
	LtMatrix m;
	assert_true(lt_matrix(&rows, false, &m));
	assert_true(m.transposed == 1 && m.rows == 40 && m.cols == 100 && m.ld == 48);
	assert_true(lt_matrix(&rows, true, &m));
	assert_true(m.transposed == 0 && m.rows == 40 && m.cols == 100 && m.ld == 48);
	assert_true(lt_matrix(&columns, false, &m));
	assert_true(m.transposed == 0 && m.rows == 100 && m.cols == 40 && m.ld == 104);
	assert_true(lt_matrix(&columns, true, &m));
	assert_int_equal(m.transposed, 1);
	assert_true(lt_matrix(&row, false, &m));
	assert_true(m.ld >= m.rows);
	assert_false(lt_matrix(&neither, false, &m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(medians),
		cmocka_unit_test(intervals),
		cmocka_unit_test(every_entry_has_its_turn_in_each_round),
		cmocka_unit_test(figures),
		cmocka_unit_test(a_difference_above_the_noise),
		cmocka_unit_test(a_difference_below_the_noise),
		cmocka_unit_test(a_difference_below_that_of_equals),
		cmocka_unit_test(one_alone_has_figures_and_no_ratio),
		cmocka_unit_test(csv),
		cmocka_unit_test(json),
		cmocka_unit_test(lines),
		cmocka_unit_test(wrong_lines),
		cmocka_unit_test(empty_files),
		cmocka_unit_test(matrices),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
