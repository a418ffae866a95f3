/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loads up.cubin and down.cubin, sends each token through one of three experts, and checks every
 * element by hand.
 *   host [up.cubin down.cubin [cuda:0|sim]] */
#include <dsl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T = 300, K = 136, N = 200, E = 3, C = 160 }; /* tokens, their length; places of an expert */

static uint16_t x[T * K], w[E * N * K], v[E * K * N], h[E * C * N], y[T * K]; /* bf16 */
static int32_t rows[E * C];
static float gate[E * C];

static float value(uint16_t bf16)
{
	uint32_t bits = (uint32_t)bf16 << 16;
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

/* Multiples of 1/64, exact in bf16: small, so that sums stay where silu is no line. */
static void fill(uint16_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float f = (float)(rand() % 17 - 8) / 64;
		uint32_t bits;
		memcpy(&bits, &f, sizeof bits);
		to[i] = (uint16_t)(bits >> 16);
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

/* Each token to an expert, in the order of a router that knows nothing; the rest stays empty. */
static void route(void)
{
	int taken[E] = {0};
	for (int i = 0; i < E * C; i++)
		rows[i] = -1;
	for (int t = 0; t < T; t++) {
		int e = rand() % E;
		while (taken[e] == C)
			e = (e + 1) % E;
		gate[e * C + taken[e]] = (float)(rand() % 64 + 1) / 64;
		rows[e * C + taken[e]++] = t;
	}
}

static float dot(const uint16_t *a, const uint16_t *b, int n)
{
	float sum = 0;
	for (int i = 0; i < n; i++)
		sum += value(a[i]) * value(b[i]);
	return sum;
}

/* Of one place: what the first kernel made of its token, and from that what the second did. */
static int wrong_of(int e, int at)
{
	const uint16_t *mine = h + (e * C + at) * N;
	int token = rows[e * C + at], wrong = 0;
	for (int n = 0; n < N; n++) {
		float s = token < 0 ? 0 : dot(x + token * K, w + (e * N + n) * K, K);
		wrong += !(fabsf(value(mine[n]) - s / (1 + expf(-s))) <= fabsf(s) / 128);
	}
	for (int k = 0; k < K && token >= 0; k++) {
		float s = gate[e * C + at] * dot(mine, v + (e * K + k) * N, N);
		wrong += !(fabsf(value(y[token * K + k]) - s) <= fabsf(s) / 128 + 1e-4f);
	}
	return wrong;
}

static void launch(dsl_module *up, dsl_module *down, dsl_addr X, dsl_addr R, dsl_addr G, dsl_addr W,
		   dsl_addr V, dsl_addr H, dsl_addr Y)
{
	dsl_arg all[] = {dsl_arg_ptr("X", X), dsl_arg_ptr("rows", R), dsl_arg_ptr("W", W),
			 dsl_arg_ptr("H", H), dsl_arg_int("T", T),    dsl_arg_int("K", K),
			 dsl_arg_int("E", E), dsl_arg_int("C", C),    dsl_arg_int("N", N)};
	check(dsl_launch(up, "up", all, 9, NULL, NULL));
	for (size_t e = 0; e < E; e++) {
		dsl_arg one[] = {dsl_arg_ptr("H", H + e * C * N * sizeof *h),
				 dsl_arg_ptr("to", R + e * C * sizeof *rows),
				 dsl_arg_ptr("gate", G + e * C * sizeof *gate),
				 dsl_arg_ptr("V", V + e * K * N * sizeof *v),
				 dsl_arg_ptr("Y", Y),
				 dsl_arg_int("T", T),
				 dsl_arg_int("K", K),
				 dsl_arg_int("C", C),
				 dsl_arg_int("N", N)};
		check(dsl_launch(down, "down", one, 9, NULL, NULL));
	}
}

int main(int argc, char **argv)
{
	dsl_device *dev;
	dsl_module *up, *down;
	int wrong = 0;
	fill(x, T * K);
	fill(w, E * N * K);
	fill(v, E * K * N);
	route();
	memset(h, 0xff, sizeof h); /* NaN: an element never written is wrong */
	memset(y, 0xff, sizeof y);
	check(dsl_device_open(argc > 3 ? argv[3] : "cuda:0", &dev));
	check(dsl_module_load(dev, argc > 1 ? argv[1] : "up.cubin", &up));
	check(dsl_module_load(dev, argc > 2 ? argv[2] : "down.cubin", &down));
	dsl_addr H = on_device(dev, h, sizeof h), Y = on_device(dev, y, sizeof y);
	launch(up, down, on_device(dev, x, sizeof x), on_device(dev, rows, sizeof rows),
	       on_device(dev, gate, sizeof gate), on_device(dev, w, sizeof w),
	       on_device(dev, v, sizeof v), H, Y);
	check(dsl_sync(dev));
	check(dsl_copy_out(dev, h, H, sizeof h));
	check(dsl_copy_out(dev, y, Y, sizeof y));
	for (int i = 0; i < E * C; i++)
		wrong += wrong_of(i / C, i % C);
	printf("%s: %d of %d elements are wrong\n", dsl_device_name(dev), wrong, E * C * N + T * K);
	dsl_device_close(dev); /* and all memory of it */
	return wrong != 0;
}
