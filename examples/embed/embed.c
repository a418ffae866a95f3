/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that carries the compiler: a kernel in a C string is compiled, loaded and launched, and
 * the result is checked by three loops. f16 inputs, f32 output, so that nothing needs converting.
 */
#include <dsl.h>
#include <dslc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 200, N = 136, K = 72 };

static const char source[] =
	"kernel product(A : f16 (M,K):(K,1), B : f16 (N,K):(K,1), D : out f32 (M,N):(N,1)) {\n"
	"    const bM = 64, bN = 64, bK = 64;\n"
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

static uint16_t a[M * K], b[N * K];
static float d[M * N];

/* f16 of a whole number from 0 to 3. */
static const uint16_t f16_of[] = {0, 0x3c00, 0x4000, 0x4200};

static void check(dsl_status st)
{
	if (st == DSL_OK)
		return;
	fprintf(stderr, "%s: %s\n", dsl_status_text(st), dsl_detail());
	exit(1);
}

static dsl_addr to_device(dsl_device *dev, const void *data, size_t size)
{
	dsl_addr addr;
	check(dsl_mem_alloc(dev, size, &addr));
	check(dsl_copy_in(dev, addr, data, size));
	return addr;
}

static dslc_result *compile(void)
{
	dslc_options o = {.size = sizeof o, .name = "product.gemm"};
	dslc_result *r = dslc_compile(source, strlen(source), &o);
	if (r && dslc_ok(r))
		return r;
	fputs(r ? dslc_diagnostics(r, 0) : "out of memory\n", stderr);
	exit(1);
}

static int expected(int m, int n)
{
	int sum = 0;
	for (int k = 0; k < K; k++)
		sum += (m * K + k) % 4 * ((n * 7 + k * 3) % 4);
	return sum;
}

int main(int argc, char **argv)
{
	size_t size;
	dsl_device *dev;
	dsl_module *mod;
	dslc_result *r = compile();
	const void *cubin = dslc_output(r, DSLC_CUBIN, &size);
	printf("compiled to %zu bytes\n", size);
	for (int i = 0; i < M * K; i++)
		a[i] = f16_of[i % 4];
	for (int i = 0; i < N * K; i++)
		b[i] = f16_of[(i / K * 7 + i % K * 3) % 4];
	check(dsl_device_open(argc > 1 ? argv[1] : "cuda:0", &dev));
	check(dsl_module_load_data(dev, cubin, size, &mod));
	dsl_addr out = to_device(dev, d, sizeof d);
	dsl_arg args[] = {dsl_arg_ptr("A", to_device(dev, a, sizeof a)),
			  dsl_arg_ptr("B", to_device(dev, b, sizeof b)),
			  dsl_arg_ptr("D", out),
			  dsl_arg_int("M", M),
			  dsl_arg_int("N", N),
			  dsl_arg_int("K", K)};
	check(dsl_launch(mod, "product", args, 6, NULL, NULL));
	check(dsl_copy_out(dev, d, out, sizeof d));
	int wrong = 0;
	for (int i = 0; i < M * N; i++)
		wrong += d[i] != (float)expected(i / N, i % N);
	printf("%s: %d of %d elements are wrong\n", dsl_device_name(dev), wrong, M * N);
	check(dsl_device_close(dev));
	dslc_result_free(r);
	return wrong != 0;
}
