/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* abi.c - uses everything that dsl.h and dslc.h of 0.2 declare, as a program does that was compiled
 * long ago. abi-0.2.x86_64 is this file, built when 0.2 was made (abi.sh says how), and is never
 * built again: each later version must run it. What a later version adds is not used here. */
#include <dsl.h>
#include <dslc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 72, N = 40, K = 24 };

static const char source[] =
	"kernel product(A : f16 (M,K):(K,1), B : f16 (N,K):(K,1), D : out f32 (M,N):(N,1)) {\n"
	"    const bM = 64, bN = 128, bK = 64;\n"
	"    let gA = A / (bM,bK), gB = B / (bN,bK), gD = D / (bM,bN);\n"
	"    mma      mm = wgmma<64,bN,16>(f16, f16, f32);\n"
	"    smem     sA : f16 (bM,bK), sB : f16 (bN,bK);\n"
	"    pipeline ab(3) { sA, sB }\n"
	"    for (m,n) in gD {\n"
	"        acc : f32 mm.C(bM,bN) = 0;\n"
	"        for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }\n"
	"        gD[m,n] <- acc;\n"
	"    }\n"
	"    schedule { roles none; }\n"
	"}\n";

static const char scale[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
			    ".visible .entry scale(.param .u64 x)\n{\n"
			    "\t.reg .b64 %rd<3>;\n\t.reg .b32 %r<3>;\n"
			    "\tld.param.u64 %rd1, [x];\n\tmov.u32 %r1, %tid.x;\n"
			    "\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd1, %rd1, %rd2;\n"
			    "\tld.global.u32 %r2, [%rd1];\n\tadd.u32 %r2, %r2, %r1;\n"
			    "\tst.global.u32 [%rd1], %r2;\n\tret;\n}\n";

static void expect(int good, const char *what, int line)
{
	if (good)
		return;
	printf("abi.c:%d: %s; detail: %s\n", line, what, dsl_detail());
	exit(1);
}
#define EXPECT(x) expect(!!(x), #x, __LINE__)
#define OK(x)     EXPECT((x) == DSL_OK)

static dslc_result *compile(void)
{
	static const char *const defines[] = {"bN=8", "bN=64"}, *const args[] = {"-v"};
	dslc_options o = {.size = sizeof o,
			  .name = "abi.gemm",
			  .target = "sm_90a",
			  .defines = defines,
			  .ndefines = 2,
			  .ptxas_args = args,
			  .nptxas_args = 1,
			  .opt_level = 1,
			  .ptxas_timeout_s = 60,
			  .emit = DSLC_CUBIN | DSLC_PTX | DSLC_LLVM | DSLC_MANIFEST | DSLC_IR |
				  DSLC_HEADER | DSLC_C};
	dslc_result *r = dslc_compile(source, strlen(source), &o);
	for (int bit = DSLC_CUBIN; bit <= DSLC_C; bit *= 2) {
		size_t size = 0;
		EXPECT(dslc_output(r, bit, &size) && size);
	}
	EXPECT(dslc_ok(r) && dslc_exit_code(r) == 0 && !*dslc_diagnostics(r, 0));
	EXPECT(strstr((const char *)dslc_output(r, DSLC_HEADER, NULL), "product_launch"));
	return r;
}

static void refuse(void)
{
	dslc_options o = {.size = sizeof o, .name = "bad.gemm"};
	dslc_result *r = dslc_compile("kernel", 6, &o);
	EXPECT(!dslc_ok(r) && dslc_exit_code(r) == 1 && !dslc_output(r, DSLC_CUBIN, NULL));
	EXPECT(strstr(dslc_diagnostics(r, 0), "bad.gemm:1:") && *dslc_diagnostics(r, 1) == '{');
	dslc_result_free(r);
	dslc_result_free(NULL);
}

static void launch(dsl_device *dev, dsl_module *mod)
{
	static uint16_t a[M * K], b[N * K];
	static float d[M * N];
	dsl_addr at[3];
	dsl_stream stream;
	dsl_event *first, *last;
	float ms = -1;
	char why[128];
	dsl_launch_opts opts = {.size = sizeof opts, .sms = 1, .pdl = -1};
	for (int i = 0; i < M * K; i++)
		a[i] = i % 3 ? 0x3c00 : 0x4000; /* 1, 2 */
	for (int i = 0; i < N * K; i++)
		b[i] = 0x3c00;
	OK(dsl_mem_alloc(dev, sizeof a, &at[0]));
	OK(dsl_mem_alloc(dev, sizeof b, &at[1]));
	OK(dsl_mem_alloc(dev, sizeof d, &at[2]));
	OK(dsl_copy_in(dev, at[0], a, sizeof a));
	OK(dsl_copy_in(dev, at[1], b, sizeof b));
	OK(dsl_mem_set(dev, at[2], 0xff, sizeof d));
	dsl_arg args[] = {dsl_arg_ptr("A", at[0]), dsl_arg_ptr("B", at[1]), dsl_arg_ptr("D", at[2]),
			  dsl_arg_int("M", M),     dsl_arg_int("N", N),     dsl_arg_int("K", K)};
	OK(dsl_stream_create(dev, &stream));
	OK(dsl_event_create(dev, &first));
	OK(dsl_event_create(dev, &last));
	OK(dsl_event_record(first, stream));
	OK(dsl_can_run(mod, "product", args, 6, why, sizeof why));
	OK(dsl_launch(mod, "product", args, 6, stream, &opts));
	OK(dsl_event_record(last, stream));
	OK(dsl_stream_sync(dev, stream));
	OK(dsl_sync(dev));
	OK(dsl_event_elapsed(first, last, &ms));
	OK(dsl_copy_out(dev, d, at[2], sizeof d));
	for (int i = 0; i < M * N; i++)
		EXPECT(d[i] == K + K / 3);
	args[5].v.i = 23;
	EXPECT(dsl_launch(mod, "product", args, 6, stream, NULL) == DSL_ERR_STRIDE ||
	       dsl_launch(mod, "product", args, 6, stream, NULL) == DSL_ERR_FACT);
	OK(dsl_event_destroy(first));
	OK(dsl_event_destroy(last));
	OK(dsl_stream_destroy(dev, stream));
	for (int i = 0; i < 3; i++)
		OK(dsl_mem_free(dev, at[i]));
}

static void launch_raw(dsl_device *dev)
{
	dsl_module *mod;
	dsl_addr x;
	uint32_t words[64] = {0};
	unsigned char map[128];
	OK(dsl_module_load_data(dev, scale, sizeof scale, &mod));
	OK(dsl_mem_alloc(dev, sizeof words, &x));
	OK(dsl_copy_in(dev, x, words, sizeof words));
	dsl_raw raw = {.size = sizeof raw,
		       .grid = {1, 1, 1},
		       .block = {64, 1, 1},
		       .params = &x,
		       .param_bytes = sizeof x};
	OK(dsl_launch_raw(mod, "scale", &raw));
	OK(dsl_copy_out(dev, words, x, sizeof words));
	EXPECT(words[63] == 63);
	dsl_map m = {.size = sizeof m,
		     .elem = "f32",
		     .base = x,
		     .rank = 2,
		     .dims = {8, 8},
		     .strides = {32},
		     .box = {8, 8}};
	OK(dsl_tensor_map(dev, &m, map));
	EXPECT(dsl_module_ptx(mod) != NULL);
	OK(dsl_module_unload(mod));
}

int main(void)
{
	dsl_device *dev;
	dsl_module *mod;
	const char *manifest;
	size_t size, n;
	dsl_arg none = dsl_arg_float("x", 1);
	EXPECT(*dsl_version() && *dslc_version());
	dslc_result *r = compile();
	const void *cubin = dslc_output(r, DSLC_CUBIN, &size);
	refuse();
	OK(dsl_device_open("sim", &dev));
	EXPECT(*dsl_device_name(dev) && strcmp(dsl_device_arch(dev), "sm_90") == 0);
	EXPECT(dsl_device_sms(dev) > 0 && dsl_device_driver(dev) > 0);
	OK(dsl_cubin_section(cubin, size, ".dslc.manifest", &manifest, &n));
	EXPECT(dsl_manifest_can_run(manifest, n, "product", &none, 1, NULL, 0) == DSL_ERR_ARG_NAME);
	OK(dsl_module_load_data(dev, cubin, size, &mod));
	EXPECT(strcmp(dsl_module_manifest(mod), manifest) == 0);
	launch(dev, mod);
	launch_raw(dev);
	EXPECT(dsl_module_load(dev, "/nowhere/x.cubin", &mod) == DSL_ERR_FILE && *dsl_detail());
	EXPECT(strcmp(dsl_status_name(DSL_ERR_FILE), "DSL_ERR_FILE") == 0);
	EXPECT(*dsl_status_text(DSL_ERR_FILE) && *dsl_status_remedy(DSL_ERR_FILE));
	OK(dsl_device_close(dev));
	dslc_result_free(r);
	puts("abi: every call of 0.2 does what it did");
	return 0;
}
