/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loads bias.cubin, runs a linear layer on random numbers and checks every element by hand.
 *   host [bias.cubin [cuda:0|sim]] */
#include <dsl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 300, N = 392, K = 136 }; /* no multiples of the 128 x 192 x 64 tile */

static uint16_t a[M * K], b[N * K], d[M * N]; /* bf16: the upper half of an f32 */
static float bias[N], scale[M];

static float value(uint16_t bf16)
{
	uint32_t bits = (uint32_t)bf16 << 16;
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

/* A multiple of 1/64 in -2 .. 2: exact in bf16, and so are all products and sums in f32. */
static float some(void)
{
	return (float)(rand() % 257 - 128) / 64;
}

static void fill(uint16_t *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float f = some();
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

static dsl_addr on_device(dsl_device *dev, const void *from, size_t bytes)
{
	dsl_addr to;
	check(dsl_mem_alloc(dev, bytes, &to));
	check(dsl_copy_in(dev, to, from, bytes));
	return to;
}

static float expected(int i, int j)
{
	float sum = 0;
	for (int k = 0; k < K; k++)
		sum += value(a[i * K + k]) * value(b[j * K + k]);
	return fmaxf(scale[i] * sum + bias[j], 0);
}

static int wrong_elements(void)
{
	int wrong = 0;
	for (int i = 0; i < M * N; i++) {
		float x = expected(i / N, i % N);
		wrong += !(fabsf(value(d[i]) - x) <= x / 256); /* also where d is NaN */
	}
	return wrong;
}

int main(int argc, char **argv)
{
	dsl_device *dev;
	dsl_module *mod;
	fill(a, M * K);
	fill(b, N * K);
	for (int i = 0; i < N; i++)
		bias[i] = 8 * some();
	for (int i = 0; i < M; i++)
		scale[i] = some();
	memset(d, 0xff, sizeof d); /* NaN: an element never written is wrong */
	check(dsl_device_open(argc > 2 ? argv[2] : "cuda:0", &dev));
	check(dsl_module_load(dev, argc > 1 ? argv[1] : "bias.cubin", &mod));
	dsl_addr D = on_device(dev, d, sizeof d);
	dsl_arg args[] = {dsl_arg_ptr("A", on_device(dev, a, sizeof a)),
			  dsl_arg_ptr("B", on_device(dev, b, sizeof b)),
			  dsl_arg_ptr("bias", on_device(dev, bias, sizeof bias)),
			  dsl_arg_ptr("scale", on_device(dev, scale, sizeof scale)),
			  dsl_arg_ptr("D", D),
			  dsl_arg_int("M", M),
			  dsl_arg_int("N", N),
			  dsl_arg_int("K", K)};
	check(dsl_launch(mod, "linear", args, 8, NULL, NULL));
	check(dsl_sync(dev));
	check(dsl_copy_out(dev, d, D, sizeof d));
	int wrong = wrong_elements();
	printf("%s: %d of %d elements are wrong\n", dsl_device_name(dev), wrong, M * N);
	dsl_device_close(dev); /* and all memory of it */
	return wrong != 0;
}
