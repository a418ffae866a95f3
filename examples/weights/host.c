/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loads weights.cubin, packs random weights of 4 bits and multiplies a batch by them; checks every
 * element by hand.
 *   host [weights.cubin [cuda:0|sim]] */
#include <dsl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 200, N = 16, K = 520, GROUP = 128, KB = (K + GROUP - 1) / GROUP };

static uint8_t w[M * K / 2];    /* (M,K), two in a byte: element 2 i in the low half of byte i */
static uint8_t zeros[KB * M];   /* (M,KB) with neighbours along M, as the kernel declares it */
static uint16_t scales[KB * M]; /* likewise; bf16: the upper half of an f32 */
static uint16_t x[N * K], d[N * M]; /* D is (M,N) with neighbours along M: a row for each of N */

static float value(uint16_t bf16)
{
	uint32_t bits = (uint32_t)bf16 << 16;
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

static uint16_t bf16(float f) /* of few bits: exact */
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return (uint16_t)(bits >> 16);
}

static int weight(int m, int k)
{
	int i = m * K + k;
	return w[i / 2] >> i % 2 * 4 & 15;
}

static void fill(void)
{
	for (int i = 0; i < M * K / 2; i++)
		w[i] = (uint8_t)rand();
	for (int i = 0; i < M * KB; i++) {
		zeros[i] = (uint8_t)(rand() % 16);
		scales[i] = bf16(ldexpf(1, rand() % 4 - 6));
	}
	for (int i = 0; i < N * K; i++)
		x[i] = bf16((float)(rand() % 33 - 16) / 16);
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

static float expected(int m, int n)
{
	float sum = 0;
	for (int k = 0; k < K; k++) {
		int group = k / GROUP * M + m;
		float a = (float)(weight(m, k) - zeros[group]) * value(scales[group]);
		sum += a * value(x[n * K + k]);
	}
	return sum;
}

static int wrong_elements(void)
{
	int wrong = 0;
	for (int i = 0; i < M * N; i++) {
		float y = expected(i % M, i / M);
		wrong += !(fabsf(value(d[i]) - y) <= fabsf(y) / 256); /* also where d is NaN */
	}
	return wrong;
}

int main(int argc, char **argv)
{
	dsl_device *dev;
	dsl_module *mod;
	fill();
	memset(d, 0xff, sizeof d); /* NaN: an element never written is wrong */
	check(dsl_device_open(argc > 2 ? argv[2] : "cuda:0", &dev));
	check(dsl_module_load(dev, argc > 1 ? argv[1] : "weights.cubin", &mod));
	dsl_addr D = on_device(dev, d, sizeof d);
	dsl_arg args[] = {dsl_arg_ptr("W", on_device(dev, w, sizeof w)),
			  dsl_arg_ptr("zeros", on_device(dev, zeros, sizeof zeros)),
			  dsl_arg_ptr("scales", on_device(dev, scales, sizeof scales)),
			  dsl_arg_ptr("X", on_device(dev, x, sizeof x)),
			  dsl_arg_ptr("D", D),
			  dsl_arg_int("M", M),
			  dsl_arg_int("K", K),
			  dsl_arg_int("KB", KB),
			  dsl_arg_int("N", N)};
	size_t bytes;
	check(dsl_workspace_size(mod, "weights", args, 9,
				 &bytes)); /* rows of W may be odd for TMA */
	dsl_launch_opts opts = {.size = sizeof opts, .workspace_size = bytes};
	check(dsl_mem_alloc(dev, bytes + 128, &opts.workspace));
	check(dsl_launch(mod, "weights", args, 9, NULL, &opts));
	check(dsl_sync(dev));
	check(dsl_copy_out(dev, d, D, sizeof d));
	int wrong = wrong_elements();
	printf("%s: %d of %d elements are wrong\n", dsl_device_name(dev), wrong, M * N);
	dsl_device_close(dev); /* and all memory of it */
	return wrong != 0;
}
