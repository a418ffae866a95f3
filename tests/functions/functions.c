/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* functions - every row of elementwise.def on a device, within the error that it states:
 *     functions names                    a line for each function: its name, operands
 *     functions FOLDER DEVICE [SAMPLES [NAME]]
 *                        kernels of FOLDER/functions.cubin on all bf16 numbers, and on SAMPLES
 *                        of all f32 numbers (default 0), of each function or of the one named
 * Operands that are not the first are drawn from few numbers, infinities and NaN among them, and
 * with SAMPLES every other time from numbers of any size up to 2^8 and down to 2^-24. */
#include "ir/ir.h"
#include "runtime/dsl.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 256, COLS = 256, COUNT = ROWS * COLS, DEPTH = 16 };

static const float others[] = {0.0f, -0.0f, 1.0f,  -1.0f,    0.25f,    2.0f,
			       3.0f, -5.0f, -3.5f, 0x1p100f, INFINITY, NAN};

typedef struct {
	dsl_device *dev;
	dsl_module *mod;
	dsl_addr a, x[3], d;
} Device;

static float in[3][COUNT], out[COUNT];

static bool bad(dsl_status st)
{
	if (st)
		fprintf(stderr, "%s: %s\n", dsl_status_text(st), dsl_detail());
	return st != DSL_OK;
}

static bool open_device(Device *d, const char *name)
{
	size_t operands = (size_t)ROWS * DEPTH * sizeof(uint16_t);
	dsl_status st = dsl_device_open(name, &d->dev);
	st = st ? st : dsl_mem_alloc(d->dev, operands, &d->a);
	st = st ? st : dsl_mem_set(d->dev, d->a, 0, operands);
	st = st ? st : dsl_mem_alloc(d->dev, sizeof out, &d->d);
	for (int i = 0; i < 3; i++)
		st = st ? st : dsl_mem_alloc(d->dev, sizeof in[i], &d->x[i]);
	return !bad(st);
}

static bool compute(const Device *d, dsl_module *mod, const char *name)
{
	dsl_arg args[] = {dsl_arg_ptr("A", d->a),    dsl_arg_ptr("B", d->a),
			  dsl_arg_ptr("X", d->x[0]), dsl_arg_ptr("Y", d->x[1]),
			  dsl_arg_ptr("Z", d->x[2]), dsl_arg_ptr("D", d->d),
			  dsl_arg_int("M", ROWS),    dsl_arg_int("N", COLS),
			  dsl_arg_int("K", DEPTH)};
	dsl_status st = dsl_mem_set(d->dev, d->d, 0xff, sizeof out);
	for (int i = 0; i < 3; i++)
		st = st ? st : dsl_copy_in(d->dev, d->x[i], in[i], sizeof in[i]);
	st = st ? st : dsl_launch(mod, name, args, COUNTOF(args), NULL, NULL);
	st = st ? st : dsl_sync(d->dev);
	return !bad(st ? st : dsl_copy_out(d->dev, out, d->d, sizeof out));
}

static double ulp_of(double v)
{
	int exponent = v == 0 || ilogb(v) < FLT_MIN_EXP - 1 ? FLT_MIN_EXP - 1 : ilogb(v);
	return ldexp(1, exponent - (FLT_MANT_DIG - 1));
}

/* In parts of what the row allows; a wrong infinity, zero or NaN is infinitely wrong. */
static double error_of(const EltRow *row, float got, float want, float x)
{
	bool small = row->flushes && fabsf(want) < FLT_MIN && got == 0;
	double allowed = row->error.ulps * ulp_of((double)want) +
			 row->error.of_x * ldexp(fabs((double)x), -(FLT_MANT_DIG - 1));
	if (small || (isnan(got) && isnan(want)) || memcmp(&got, &want, sizeof got) == 0)
		return 0;
	if (!isfinite(got) || !isfinite(want) || allowed == 0)
		return INFINITY;
	return fabs((double)got - (double)want) / allowed;
}

typedef struct {
	double worst;
	float at, got;
	long long n;
} Seen;

static void judge(const EltRow *row, Seen *s)
{
	for (int i = 0; i < COUNT; i++) {
		float want = row->value(in[0][i], in[1][i], in[2][i]);
		double error = error_of(row, out[i], want, in[0][i]);
		s->n++;
		if (error > s->worst)
			*s = (Seen){error, in[0][i], out[i], s->n};
	}
}

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static float other(bool any, uint64_t *state)
{
	uint64_t r = next(state);
	if (!any || r & 1)
		return others[(r >> 1) % COUNTOF(others)];
	return (float)ldexp((double)(int32_t)(r >> 32), (int)(r >> 1 & 31) - 54);
}

/* Round 0 has each bf16 number once; later rounds are of all f32 numbers. */
static void fill(long long round, uint64_t *state)
{
	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t bits = round ? (uint32_t)next(state) : i << 16;
		memcpy(&in[0][i], &bits, sizeof bits);
		in[1][i] = other(round > 0, state);
		in[2][i] = other(round > 0, state);
	}
}

static bool load(Device *d, const char *folder)
{
	char path[512];
	snprintf(path, sizeof path, "%s/functions.cubin", folder);
	return !bad(dsl_module_load(d->dev, path, &d->mod));
}

static bool test(const Device *d, const EltRow *row, long long samples)
{
	Seen seen = {0, 0, 0, 0};
	uint64_t state = 1;
	for (long long round = 0; round <= (samples + COUNT - 1) / COUNT; round++) {
		fill(round, &state);
		if (!compute(d, d->mod, row->name))
			return false;
		judge(row, &seen);
	}
	bool right = seen.worst <= 1;
	printf("%-11s %lld values, largest error %.3g of what is allowed, at %a%s\n", row->name,
	       seen.n, seen.worst, (double)seen.at, right ? "" : ": WRONG");
	if (!right)
		printf("  got %a\n", (double)seen.got);
	fflush(stdout);
	return right;
}

int main(int argc, char **argv)
{
	Device d = {0};
	bool names = argc == 2 && !strcmp(argv[1], "names"), right = true;
	if (argc < 2 || (!names && (argc < 3 || !open_device(&d, argv[2]) || !load(&d, argv[1]))))
		return 2;
	for (int op = 0; op < OP_COUNT; op++) {
		const EltRow *row = elt_by_op((OpKind)op);
		if (row && !row->value)
			continue; /* of integers: tests/e2e/integers.gemm */
		if (row && names)
			printf("%s %d\n", row->name, row->arity);
		else if (row && (argc < 5 || !strcmp(argv[4], row->name)))
			right &= test(&d, row, argc > 3 ? atoll(argv[3]) : 0);
	}
	if (d.dev)
		right &= !bad(dsl_module_unload(d.mod));
	if (d.dev)
		dsl_device_close(d.dev);
	return !right;
}
