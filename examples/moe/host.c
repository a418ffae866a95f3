/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A layer of a mixture of experts, forward: each token goes to its two best experts, in three
 * launches, and some of the tokens are checked by hand.
 *   host [moe_up.cubin moe_down.cubin moe_sum.cubin [cuda:0|sim [TOKENS LENGTH HIDDEN EXPERTS]]] */
#include <dsl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BEST = 2, CHECKED = 40 };

typedef struct {
	int64_t tokens, length, hidden, experts;
	uint16_t *x, *u, *v, *w, *y; /* bf16 */
	int32_t *expert;             /* of each token, BEST */
	int32_t *ends, *row_of, *to; /* of each expert; of each row, its token and its place */
	float *share, *weight;       /* of each token's experts; of each row */
} Layer;

static float value(uint16_t bf16)
{
	uint32_t bits = (uint32_t)bf16 << 16;
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

static uint16_t rounded(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void *memory(int64_t n, size_t size)
{
	void *at = calloc((size_t)n + 1, size);
	if (!at)
		exit(1);
	return at;
}

/* Multiples of 1/64. */
static uint16_t *numbers(int64_t n)
{
	uint16_t *to = memory(n, sizeof *to);
	uint32_t state = (uint32_t)n;
	for (int64_t i = 0; i < n; i++) {
		state = state * 1664525 + 1013904223;
		to[i] = rounded((float)((int)(state >> 16) % 17 - 8) / 64);
	}
	return to;
}

static void check(dsl_status st)
{
	if (st == DSL_OK)
		return;
	fprintf(stderr, "%s: %s\nhelp: %s\n", dsl_status_text(st), dsl_detail(),
		dsl_status_remedy(st));
	exit(1);
}

static dsl_addr on_device(dsl_device *dev, const void *from, int64_t n, size_t size)
{
	dsl_addr to;
	check(dsl_mem_alloc(dev, (size_t)n * size, &to));
	check(dsl_copy_in(dev, to, from, (size_t)n * size));
	return to;
}

/* ------------------------------------------------------------------ the router */
/* Some experts are liked more; a token's two are different ones, and share 1. */
static void choose(Layer *l)
{
	for (int64_t t = 0; t < l->tokens; t++) {
		int32_t *to = l->expert + t * BEST;
		double luck = (double)rand() / ((double)RAND_MAX + 1);
		to[0] = (int32_t)(luck * luck * (double)l->experts);
		to[1] = (int32_t)((to[0] + 1 + rand() % (l->experts - 1)) % l->experts);
		l->share[t * BEST] = (float)(rand() % 32 + 32) / 64;
		l->share[t * BEST + 1] = 1 - l->share[t * BEST];
	}
}

/* Rows by expert, those of one after those of the one before. */
static void sort(Layer *l)
{
	int64_t rows = l->tokens * BEST;
	int32_t *next = memory(l->experts, sizeof *next);
	for (int64_t i = 0; i < rows; i++)
		l->ends[l->expert[i]]++;
	for (int64_t e = 1; e < l->experts; e++) {
		l->ends[e] += l->ends[e - 1];
		next[e] = l->ends[e - 1];
	}
	for (int64_t i = 0; i < rows; i++) {
		int32_t row = next[l->expert[i]]++;
		l->row_of[row] = (int32_t)(i / BEST);
		l->to[row] = (int32_t)i;
		l->weight[row] = l->share[i];
	}
	free(next);
}

static Layer layer_new(int64_t tokens, int64_t length, int64_t hidden, int64_t experts)
{
	int64_t rows = tokens * BEST, each = length * hidden;
	Layer l = {.tokens = tokens, .length = length, .hidden = hidden, .experts = experts};
	l.x = numbers(tokens * length);
	l.u = numbers(experts * each);
	l.v = numbers(experts * each + 1);
	l.w = numbers(experts * each + 2);
	l.y = memory(tokens * length, sizeof *l.y);
	l.expert = memory(rows, sizeof *l.expert);
	l.ends = memory(experts, sizeof *l.ends);
	l.row_of = memory(rows, sizeof *l.row_of);
	l.to = memory(rows, sizeof *l.to);
	l.share = memory(rows, sizeof *l.share);
	l.weight = memory(rows, sizeof *l.weight);
	choose(&l);
	sort(&l);
	return l;
}

static void layer_free(Layer *l)
{
	void *all[] = {l->x,    l->u,      l->v,  l->w,     l->y,     l->expert,
		       l->ends, l->row_of, l->to, l->share, l->weight};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
}

/* ------------------------------------------------------------------ by hand */
static float dot(const uint16_t *a, const uint16_t *b, int64_t n)
{
	float sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += value(a[i]) * value(b[i]);
	return sum;
}

/* What an expert makes of a token, added to `to`; the size of what is added up, to `size`. */
static void add_expert(const Layer *l, int64_t t, int slot, float *to, float *size)
{
	int64_t e = l->expert[t * BEST + slot], each = l->length * l->hidden;
	uint16_t *h = memory(l->hidden, sizeof *h);
	const uint16_t *x = l->x + t * l->length;
	for (int64_t n = 0; n < l->hidden; n++) {
		float u = dot(l->u + e * each + n * l->length, x, l->length);
		float v = dot(l->v + e * each + n * l->length, x, l->length);
		h[n] = rounded(v / (1 + expf(-v)) * u);
	}
	for (int64_t k = 0; k < l->length; k++) {
		const uint16_t *w = l->w + e * each + k * l->hidden;
		for (int64_t n = 0; n < l->hidden; n++)
			size[k] += fabsf(value(h[n]) * value(w[n]));
		to[k] += l->share[t * BEST + slot] * dot(h, w, l->hidden);
	}
	free(h);
}

static int wrong_of(const Layer *l, int64_t t)
{
	float *y = memory(l->length, sizeof *y), *size = memory(l->length, sizeof *size);
	int wrong = 0;
	for (int slot = 0; slot < BEST; slot++)
		add_expert(l, t, slot, y, size);
	for (int64_t k = 0; k < l->length; k++)
		wrong += !(fabsf(value(l->y[t * l->length + k]) - y[k]) <=
			   size[k] / 1024 + fabsf(y[k]) / 64);
	free(y);
	free(size);
	return wrong;
}

/* ------------------------------------------------------------------ on the device */
typedef struct {
	dsl_device *dev;
	dsl_module *up, *down, *sum;
	dsl_addr x, u, v, w, ends, row_of, to, weight, h, o, y;
} Device;

static Device device_open(const Layer *l, char **files, const char *name)
{
	int64_t rows = l->tokens * BEST, each = l->length * l->hidden;
	Device d = {0};
	check(dsl_device_open(name, &d.dev));
	check(dsl_module_load(d.dev, files[0], &d.up));
	check(dsl_module_load(d.dev, files[1], &d.down));
	check(dsl_module_load(d.dev, files[2], &d.sum));
	d.x = on_device(d.dev, l->x, l->tokens * l->length, sizeof *l->x);
	d.u = on_device(d.dev, l->u, l->experts * each, sizeof *l->u);
	d.v = on_device(d.dev, l->v, l->experts * each, sizeof *l->v);
	d.w = on_device(d.dev, l->w, l->experts * each, sizeof *l->w);
	d.ends = on_device(d.dev, l->ends, l->experts, sizeof *l->ends);
	d.row_of = on_device(d.dev, l->row_of, rows, sizeof *l->row_of);
	d.to = on_device(d.dev, l->to, rows, sizeof *l->to);
	d.weight = on_device(d.dev, l->weight, rows, sizeof *l->weight);
	check(dsl_mem_alloc(d.dev, (size_t)(rows * l->hidden) * 2, &d.h));
	check(dsl_mem_alloc(d.dev, (size_t)(rows * l->length) * 2, &d.o));
	check(dsl_mem_alloc(d.dev, (size_t)(l->tokens * l->length) * 2, &d.y));
	check(dsl_mem_set(d.dev, d.y, 0xff, (size_t)(l->tokens * l->length) * 2));
	return d;
}

/* Where the sizes come from is the host's: only `ends` says how many rows each expert has. */
static void launch(const Device *d, const Layer *l)
{
	int64_t rows = l->tokens * BEST;
	dsl_arg up[] = {dsl_arg_ptr("X", d->x),       dsl_arg_ptr("tokens", d->row_of),
			dsl_arg_ptr("ends", d->ends), dsl_arg_ptr("U", d->u),
			dsl_arg_ptr("V", d->v),       dsl_arg_ptr("H", d->h),
			dsl_arg_int("T", l->tokens),  dsl_arg_int("M", rows),
			dsl_arg_int("E", l->experts), dsl_arg_int("N", l->hidden),
			dsl_arg_int("K", l->length)};
	dsl_arg down[] = {dsl_arg_ptr("H", d->h),       dsl_arg_ptr("to", d->to),
			  dsl_arg_ptr("ends", d->ends), dsl_arg_ptr("weight", d->weight),
			  dsl_arg_ptr("W", d->w),       dsl_arg_ptr("O", d->o),
			  dsl_arg_int("M", rows),       dsl_arg_int("P", rows),
			  dsl_arg_int("E", l->experts), dsl_arg_int("N", l->hidden),
			  dsl_arg_int("K", l->length)};
	dsl_arg sum[] = {dsl_arg_ptr("O", d->o), dsl_arg_ptr("Y", d->y),
			 dsl_arg_int("T", l->tokens), dsl_arg_int("K", l->length)};
	check(dsl_launch(d->up, "moe_up", up, 11, NULL, NULL));
	check(dsl_launch(d->down, "moe_down", down, 11, NULL, NULL));
	check(dsl_launch(d->sum, "moe_sum", sum, 4, NULL, NULL));
}

/* Microseconds of one forward pass, of many after each other. */
static double time_of(const Device *d, const Layer *l)
{
	enum { PASSES = 100 };
	struct timespec from, to;
	check(dsl_sync(d->dev));
	timespec_get(&from, TIME_UTC);
	for (int i = 0; i < PASSES; i++)
		launch(d, l);
	check(dsl_sync(d->dev));
	timespec_get(&to, TIME_UTC);
	return ((double)(to.tv_sec - from.tv_sec) * 1e6 +
		(double)(to.tv_nsec - from.tv_nsec) / 1e3) /
	       (double)PASSES;
}

int main(int argc, char **argv)
{
	static char *const files[] = {"moe_up.cubin", "moe_down.cubin", "moe_sum.cubin"};
	const char *name = argc > 4 ? argv[4] : "cuda:0";
	int64_t size[] = {90, 136, 200, 5}, wrong = 0, checked = 0;
	for (int i = 0; i < 4 && argc > 8; i++)
		size[i] = atoll(argv[5 + i]);
	Layer l = layer_new(size[0], size[1], size[2], size[3]);
	Device d = device_open(&l, argc > 3 ? argv + 1 : (char **)files, name);
	launch(&d, &l);
	check(dsl_sync(d.dev));
	check(dsl_copy_out(d.dev, l.y, d.y, (size_t)(l.tokens * l.length) * 2));
	int64_t step = (l.tokens + CHECKED - 1) / CHECKED;
	for (int64_t t = 0; t < l.tokens; t += step, checked += l.length)
		wrong += wrong_of(&l, t);
	printf("%s: %lld of %lld elements are wrong\n", dsl_device_name(d.dev), (long long)wrong,
	       (long long)checked);
	if (strcmp(name, "sim")) {
		double us = time_of(&d, &l);
		double flop = 6.0 * (double)BEST * (double)(l.tokens * l.length) * (double)l.hidden;
		printf("%.1f us, %.1f TFLOP/s\n", us, flop / us / 1e6);
	}
	dsl_device_close(d.dev); /* and all memory of it */
	layer_free(&l);
	return wrong != 0;
}
