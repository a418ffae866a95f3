/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Launches product.gemm by its typed launcher and checks every element.
 *   ./product            on the GPU
 *   ./product sim        on the simulator */
#include "product.h"

#include <stdio.h>
#include <stdlib.h>

enum { M = 200, N = 136, K = 72 };

static uint16_t a[M * K], b[N * K];
static float d[M * N];

/* f16 of the whole numbers from 0 to 3. */
static const uint16_t f16_of[] = {0, 0x3c00, 0x4000, 0x4200};

static void check(dsl_status st)
{
	if (st == DSL_OK)
		return;
	fprintf(stderr, "%s: %s\nhelp: %s\n", dsl_status_text(st), dsl_detail(),
		dsl_status_remedy(st));
	exit(1);
}

static dsl_addr to_device(dsl_device *dev, const void *data, size_t size)
{
	dsl_addr addr;
	check(dsl_mem_alloc(dev, size, &addr));
	check(dsl_copy_in(dev, addr, data, size));
	return addr;
}

static float expected(int m, int n)
{
	int sum = 0;
	for (int k = 0; k < K; k++)
		sum += (m * K + k) % 4 * ((n * 7 + k * 3) % 4);
	return (float)sum;
}

int main(int argc, char **argv)
{
	dsl_device *dev;
	dsl_module *mod;
	char why[256];
	int wrong = 0;
	for (int i = 0; i < M * K; i++)
		a[i] = f16_of[i % 4];
	for (int i = 0; i < N * K; i++)
		b[i] = f16_of[(i / K * 7 + i % K * 3) % 4];
	check(dsl_device_open(argc > 1 ? argv[1] : "cuda:0", &dev));
	check(dsl_module_load_data(dev, product_cubin, product_cubin_size, &mod));
	product_args args = {.A = to_device(dev, a, sizeof a),
			     .B = to_device(dev, b, sizeof b),
			     .D = to_device(dev, d, sizeof d),
			     .M = M,
			     .N = N,
			     .K = K};
	if (!product_can_run(&args, why, sizeof why)) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
	check(product_launch(mod, &args, NULL, NULL));
	check(dsl_copy_out(dev, d, args.D, sizeof d));
	for (int i = 0; i < M * N; i++)
		wrong += d[i] != expected(i / N, i % N);
	printf("%s: %d of %d elements are wrong\n", dsl_device_name(dev), wrong, M * N);
	dsl_device_close(dev);
	return wrong != 0;
}
