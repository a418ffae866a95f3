/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loads gemm.cubin, multiplies random bf16 matrices and checks every element by hand.
 *   host [gemm.cubin [cuda:0|sim]] */
#include <dsl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 500, N = 520, K = 264 }; /* no multiples of the 128 x 256 x 64 tile */

static uint16_t a[M * K], b[N * K], d[M * N]; /* bf16: the upper half of an f32 */

static float value(uint16_t bf16)
{
	uint32_t bits = (uint32_t)bf16 << 16;
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

/* Multiples of 1/64 in -2 .. 2: exact in bf16, and so are all products and sums in f32. */
static void fill(uint16_t *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float f = (float)(rand() % 257 - 128) / 64;
		uint32_t bits;
		memcpy(&bits, &f, sizeof bits);
		x[i] = (uint16_t)(bits >> 16);
	}
}

static void check(dsl_status st)
{
	if (st == DSL_OK)
		return;
	fprintf(stderr, "%s: %s\nhelp: %s\n", dsl_status_text(st), dsl_detail(),
		dsl_status_remedy(st));
	exit(1);
}

static int wrong_elements(void)
{
	int wrong = 0;
	for (int i = 0; i < M * N; i++) {
		float sum = 0;
		for (int k = 0; k < K; k++)
			sum += value(a[i / N * K + k]) * value(b[i % N * K + k]);
		wrong += !(fabsf(value(d[i]) - sum) <= fabsf(sum) / 256); /* also where d is NaN */
	}
	return wrong;
}

int main(int argc, char **argv)
{
	dsl_device *dev;
	dsl_module *mod;
	dsl_addr A, B, D;
	fill(a, M * K);
	fill(b, N * K);
	check(dsl_device_open(argc > 2 ? argv[2] : "cuda:0", &dev));
	check(dsl_module_load(dev, argc > 1 ? argv[1] : "gemm.cubin", &mod));
	check(dsl_mem_alloc(dev, sizeof a, &A));
	check(dsl_mem_alloc(dev, sizeof b, &B));
	check(dsl_mem_alloc(dev, sizeof d, &D));
	check(dsl_copy_in(dev, A, a, sizeof a));
	check(dsl_copy_in(dev, B, b, sizeof b));
	check(dsl_mem_set(dev, D, 0xff, sizeof d)); /* NaN: an element never written is wrong */
	dsl_arg args[] = {dsl_arg_ptr("A", A), dsl_arg_ptr("B", B), dsl_arg_ptr("D", D),
			  dsl_arg_int("M", M), dsl_arg_int("N", N), dsl_arg_int("K", K)};
	check(dsl_launch(mod, "gemm", args, 6, NULL, NULL));
	check(dsl_sync(dev));
	check(dsl_copy_out(dev, d, D, sizeof d));
	int wrong = wrong_elements();
	printf("%s: %d of %d elements are wrong\n", dsl_device_name(dev), wrong, M * N);
	dsl_mem_free(dev, A);
	dsl_mem_free(dev, B);
	dsl_mem_free(dev, D);
	dsl_device_close(dev);
	return wrong != 0;
}
