/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptxas.c - finding and running ptxas, with shell scripts in its place that say and do what a test
 * needs: each message of ptxas must come back as the right diagnostic at the right line. */
#include "load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char kernel[] = "kernel k ptx sm_90a inflight=1 block=32 smem=0 {\n"
			     "  arg out %D : global f32 (1024):(1)\n"
			     "  launch (1, 1, 1)\n"
			     "  %x = frag : reg f32 (32,1):(1,32) tv (32,1):(1,32)\n"
			     "  fill %x value=2\n"
			     "  st.global %D, %x[0] (tid) n=1\n"
			     "}\n";

typedef struct {
	Ctx *c;
	char dir[64];
	char path[96]; /* of the script */
	CgOut out;
	Buf log;
} Fake;

static void script_write(const char *path, const char *body)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f,
		"#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; in=$prev; "
		"prev=$1; shift; done\n%s\n",
		body);
	fclose(f);
	chmod(path, 0700);
}

static Fake fake_new(const char *body)
{
	Fake f = {.c = ctx_new()};
	snprintf(f.dir, sizeof f.dir, "/tmp/fake-ptxas-XXXXXX");
	assert_non_null(mkdtemp(f.dir));
	snprintf(f.path, sizeof f.path, "%s/ptxas", f.dir);
	script_write(f.path, body);
	return f;
}

static bool fake_run(Fake *f, CgOpt opt)
{
	Module *m = load_text(f->c, "k.gemm", kernel);
	assert_non_null(m);
	opt.source_name = "k.gemm";
	opt.ptxas_path = opt.ptxas_path ? opt.ptxas_path : f->path;
	opt.log = &f->log;
	return codegen_module(m, CG_CUBIN, &opt, &f->out);
}

static void fake_free(Fake *f)
{
	cg_out_free(&f->out);
	buf_free(&f->log);
	unlink(f->path);
	rmdir(f->dir);
	ctx_free(f->c);
}

/* Runs the script as ptxas and wants one message: its id, a piece of its text, its line. */
static void expect(const char *body, CgOpt opt, bool ok, const char *code, const char *text,
		   int line)
{
	Fake f = fake_new(body);
	assert_int_equal(fake_run(&f, opt), ok);
	assert_int_equal(f.out.ptxas_failed, !ok);
	assert_int_equal(f.out.timed_out, strcmp(code, "E0503") == 0);
	const DiagMsg *d = diag_first(f.c);
	assert_non_null(d);
	assert_string_equal(diag_rows[d->id].code, code);
	if (!strstr(d->text, text))
		fail_msg("'%s' is not in '%s'", text, d->text);
	int got = 0, col;
	if (d->loc.src >= 0)
		loc_line(f.c, d->loc, &got, &col);
	assert_int_equal(got, line);
	bool serial = d->id == D_E0505 || (d->id == D_W0503 && strstr(d->text, "C7510"));
	assert_int_equal(d->remedy && strstr(d->remedy, "'inflight 0'"), serial);
	assert_null(d->next);
	fake_free(&f);
}

static const CgOpt plain = {.opt_level = 3};

/* A cubin of its own, so that the run gets past the message. */
#define REAL "\"$DSLC_PTXAS\" -arch=sm_90a \"$in\" -o \"$out\" >/dev/null 2>&1\n"

static void test_errors(void **state)
{
	(void)state;
	expect("n=$(grep -n st.global \"$in\" | cut -d: -f1)\n"
	       "echo \"ptxas $in, line $n; error   : Arguments mismatch for instruction 'st'\"\n"
	       "exit 255",
	       plain, false, "E0502", "Arguments mismatch for instruction 'st'", 6);
	expect("echo 'ptxas fatal   : Unsupported .version 8.7; current version is 7.8'; exit 255",
	       plain, false, "E0502", "Unsupported .version 8.7", 0);
	expect("exit 3", plain, false, "E0502", "status 3", 0);
	expect("kill -9 $$", plain, false, "E0502", "status 137", 0);
	expect("exit 0", plain, false, "E0502", "ptxas reported success, but wrote no output", 0);
}

/* What it writes is blamed on the program, by its path. */
static void test_garbage(void **state)
{
	(void)state;
	expect("echo garbage >\"$out\"", plain, false, "E0510", "/ptxas wrote no ELF file", 0);
	expect("cp /bin/sh \"$out\"", plain, false, "E0510", "/ptxas wrote an ELF file that", 0);
	expect(REAL
	       "[ -z \"$out\" ] || { head -c 4000 \"$out\" >\"$out.1\"; mv \"$out.1\" \"$out\"; }",
	       plain, false, "E0510", "section headers lie beyond its end", 0);
}

static void test_slow_code(void **state)
{
	static const char serial[] = "echo \"ptxas info    : (C7510) Potential Performance Loss: "
				     "wgmma.mma_async instructions are serialized due to x in "
				     "function 'k'\"\n";
	static const char defined[] =
		"echo \"ptxas info    : (C7515) Potential Performance Loss: wgmma.mma_async "
		"instructions are serialized due to non wgmma instructions defining accumulator "
		"registers of a wgmma between start and end of the pipeline stage in the function "
		"'k'\"\n";
	static const char regs[] = "echo \"ptxas warning : (C7508) setmaxnreg ignored in function "
				   "'k'\"\n";
	static const char spill[] =
		"echo \"ptxas info    : Compiling entry function 'k' for 'sm_90a'\"\n"
		"echo '    16 bytes stack frame, 24 bytes spill stores, 32 "
		"bytes spill loads'\n";
	static const char stack[] =
		"echo \"ptxas info    : Compiling entry function 'k' for 'sm_90a'\"\n"
		"echo '    16 bytes stack frame, 0 bytes spill stores, 0 "
		"bytes spill loads'\n";
	(void)state;
	expect(serial, plain, false, "E0505", "(C7510)", 1);
	expect(defined, plain, false, "E0505", "(C7515)", 1);
	expect(regs, plain, false, "E0506", "(C7508)", 1);
	expect(spill, plain, false, "E0504", "32 bytes", 1);
	expect(stack, plain, false, "E0507", "16 bytes", 1);
}

static void allowed(const char *say, const char *code)
{
	char body[1024];
	CgOpt opt = {.opt_level = 3, .allow_spills = true};
	snprintf(body, sizeof body, "%s" REAL, say);
	expect(body, opt, true, code, "", strcmp(code, "W0501") ? 1 : 0);
}

static void test_allowed(void **state)
{
	(void)state;
	allowed("echo \"ptxas info    : (C7510) serialized in function 'k'\"\n", "W0503");
	allowed("echo \"ptxas info    : Compiling entry function 'k' for 'sm_90a'\"\n"
		"echo '    0 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads'\n",
		"W0502");
	allowed("echo 'ptxas warning : something else'\n", "W0501");
}

static void test_limit(void **state)
{
	CgOpt opt = {.opt_level = 3, .ptxas_timeout_s = 1};
	time_t start = time(NULL);
	(void)state;
	expect("exec sleep 30", opt, false, "E0503", "more than 1 s", 0);
	/* not the shell alone, but what it has started too */
	char lives[] = "/tmp/dslc-test-XXXXXX", body[128];
	close(mkstemp(lives));
	snprintf(body, sizeof body, "(sleep 2; rm %s) & wait", lives);
	expect(body, opt, false, "E0503", "1 s", 0);
	sleep(2);
	assert_int_equal(unlink(lives), 0);
	assert_true(time(NULL) - start < 10);
}

/* With a variable that names nothing: DSLC_PTXAS is all that counts, CUDA_HOME is not. */
static void expect_env(const char *var, const char *value, bool ok, const char *code,
		       const char *text)
{
	char *old = strdup(getenv("DSLC_PTXAS")), path[4096];
	const char *slash = strrchr(old, '/');
	char *list = strdup(getenv("PATH"));
	Ctx *c = ctx_new();
	Module *m = load_text(c, "k.gemm", kernel);
	CgOut out;
	snprintf(path, sizeof path, "%.*s:%s", (int)(slash - old), old, list);
	setenv("PATH", path, 1);
	unsetenv("DSLC_PTXAS");
	setenv(var, value, 1);
	CgOpt opt = {.opt_level = 3, .source_name = "k.gemm"};
	assert_int_equal(codegen_module(m, CG_CUBIN, &opt, &out), ok);
	assert_string_equal(diag_rows[diag_first(c)->id].code, code);
	assert_non_null(strstr(diag_first(c)->text, text));
	unsetenv(var);
	setenv("DSLC_PTXAS", old, 1);
	setenv("PATH", list, 1);
	cg_out_free(&out);
	ctx_free(c);
	free(old);
	free(list);
}

static void test_places(void **state)
{
	CgOpt opt = {.opt_level = 3, .ptxas_path = "/nowhere/ptxas"};
	(void)state;
	expect("exit 0", opt, false, "E0501", "/nowhere/ptxas", 0);
	opt.ptxas_path = "/tmp"; /* a folder */
	expect("exit 0", opt, false, "E0501", "/tmp", 0);
	expect_env("DSLC_PTXAS", "/nowhere/as", false, "E0501", "DSLC_PTXAS names /nowhere/as");
	expect_env("CUDA_HOME", "/nowhere", true, "W0504", "CUDA_HOME is /nowhere, where");
	opt = plain;
	opt.tmpdir = "/nowhere";
	expect("exit 0", opt, false, "E0509", "/nowhere", 0);
}

static void test_not_a_program(void **state)
{
	Fake f = fake_new("exit 0");
	FILE *file = fopen(f.path, "w");
	(void)state;
	fputs("\x7f"
	      "ELFno",
	      file);
	fclose(file);
	assert_false(fake_run(&f, plain));
	assert_string_equal(diag_rows[diag_first(f.c)->id].code, "E0509");
	fake_free(&f);
}

static void test_dry_run(void **state)
{
	static const char *const extra[] = {"--maxrregcount", "64"};
	CgOpt opt = {.opt_level = 2,
		     .dry_run = true,
		     .lineinfo = true,
		     .ptxas_args = extra,
		     .nptxas_args = 2};
	Fake f = fake_new("exit 1");
	(void)state;
	assert_true(fake_run(&f, opt));
	assert_int_equal(f.out.cubin.n, 0);
	assert_non_null(strstr(f.log.s, "-arch=sm_90a -v -O2 -lineinfo --maxrregcount 64 "));
	fake_free(&f);
}

static void test_nothing_left(void **state)
{
	Fake f = fake_new("echo \"ptxas info    : (C7510) serialized in function 'k'\"");
	CgOpt opt = plain;
	(void)state;
	opt.tmpdir = f.dir;
	assert_false(fake_run(&f, opt));
	unlink(f.path);
	assert_int_equal(rmdir(f.dir), 0); /* empty */
	fake_free(&f);
}

static void find_in(Ctx *c, const char *var, const char *value, const char *want)
{
	static const char *const all[] = {"DSLC_PTXAS", "CUDA_HOME", "PATH"};
	char *old[3];
	for (int i = 0; i < 3; i++) {
		old[i] = getenv(all[i]) ? strdup(getenv(all[i])) : NULL;
		if (strcmp(all[i], var) == 0)
			setenv(all[i], value, 1);
		else
			unsetenv(all[i]);
	}
	const char *got = ptxas_find(c, NULL);
	for (int i = 0; i < 3; i++) {
		if (old[i])
			setenv(all[i], old[i], 1);
		else
			unsetenv(all[i]);
		free(old[i]);
	}
	assert_non_null(got);
	assert_string_equal(got, want);
}

static void test_find(void **state)
{
	Fake f = fake_new("exit 0");
	char bin[96], path[128], list[256];
	(void)state;
	snprintf(bin, sizeof bin, "%s/bin", f.dir);
	snprintf(path, sizeof path, "%s/ptxas", bin);
	mkdir(bin, 0700);
	script_write(path, "echo 'Cuda compilation tools, release 13.0, V13.0.88'");
	find_in(f.c, "DSLC_PTXAS", f.path, f.path);
	find_in(f.c, "CUDA_HOME", f.dir, path);
	assert_string_equal(ptxas_find(f.c, path), path);
	assert_null(ptxas_find(f.c, "/nowhere"));
	assert_string_equal(ptxas_version(f.c, path, NULL), "13.0.88");
	assert_null(ptxas_version(f.c, f.path, NULL));
#ifndef DSLC_PTXAS_DIR
	snprintf(list, sizeof list, "/nowhere::%s", bin);
	find_in(f.c, "PATH", list, path);
#endif
	unlink(path);
	rmdir(bin);
	fake_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),        cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_slow_code),     cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_limit),         cmocka_unit_test(test_places),
		cmocka_unit_test(test_not_a_program), cmocka_unit_test(test_dry_run),
		cmocka_unit_test(test_nothing_left),  cmocka_unit_test(test_find),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
