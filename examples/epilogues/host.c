/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs the kernel of one of these files on random numbers and checks every element by hand.
 *   host NAME NAME.cubin [cuda:0|sim] */
#include <dsl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 200, N = 120, K = 144, ARGS = 8 };

typedef enum { NONE, BF16, E4M3, F32 } Elem;

/* What a tensor is to the kernel, and its shape. */
typedef enum {
	LEFT,    /* (M,K), of both products */
	RIGHT,   /* (N,K), of the first */
	SECOND,  /* (N,K), of the second */
	TILE,    /* (M,N): c */
	GATE,    /* (M,N): gate */
	COLUMN,  /* (N): column */
	ROW,     /* (M): row */
	QUANTUM, /* (M): quantum */
	SCALE,   /* (1): scale */
	FIRST,   /* (M,N): the result */
	OTHER,   /* (M,N): the second result */
	SUM,     /* (M): the sum of what is joined */
	MOST,    /* (M): the largest of it */
	ALL,     /* (1): the largest of all */
	ROLES
} Role;

typedef struct {
	const char *name;
	Elem elem;
	Role role;
} Tensor;

typedef struct {
	double acc, up, c, gate, column, row, quantum, scale;
} Element;

typedef double Result(const Element *e);
typedef struct {
	const char *name;
	Tensor tensors[ARGS];
	Result *first, *other, *joined;
} Case;

static const double alpha = 0.5, beta = -2;

static double silu(double x)
{
	return x / (1 + exp(-x));
}
static double bias_gelu(const Element *e)
{
	double x = e->acc + e->column;
	return x * erfc(-x / sqrt(2)) / 2;
}
static double residual(const Element *e)
{
	return e->acc + e->c;
}
static double in_place(const Element *e)
{
	return alpha * e->acc + beta * e->c;
}
static double swiglu(const Element *e)
{
	return silu(e->acc) * e->up;
}
static double of_gate(const Element *e)
{
	double s = 1 / (1 + exp(-e->gate));
	return e->acc * e->c * s * (1 + e->gate * (1 - s));
}
static double of_up(const Element *e)
{
	return e->acc * silu(e->gate);
}
static double product(const Element *e)
{
	return e->acc;
}
static double square(const Element *e)
{
	return e->acc * e->acc;
}
static double one_scale(const Element *e)
{
	return e->scale * e->acc;
}
static double size(const Element *e)
{
	return fabs(e->acc);
}
static double row_scaled(const Element *e)
{
	return e->quantum * e->row * e->column * e->acc;
}
static double row_size(const Element *e)
{
	return fabs(e->row * e->column * e->acc);
}
static double own_scale(const Element *e)
{
	return e->acc * 448 / fmax(e->row, 1e-30); /* row: the largest size of it */
}

static const Case cases[] = {
	{"bias_gelu",
	 {{"A", BF16, LEFT}, {"B", BF16, RIGHT}, {"bias", F32, COLUMN}, {"D", BF16, FIRST}},
	 bias_gelu,
	 NULL,
	 NULL},
	{"residual",
	 {{"A", BF16, LEFT}, {"B", BF16, RIGHT}, {"C", BF16, TILE}, {"D", BF16, FIRST}},
	 residual,
	 NULL,
	 NULL},
	{"in_place",
	 {{"A", BF16, LEFT}, {"B", BF16, RIGHT}, {"C", F32, TILE}, {"D", F32, FIRST}},
	 in_place,
	 NULL,
	 NULL},
	{"swiglu",
	 {{"A", BF16, LEFT}, {"G", BF16, RIGHT}, {"U", BF16, SECOND}, {"D", BF16, FIRST}},
	 swiglu,
	 NULL,
	 NULL},
	{"swiglu_backward",
	 {{"A", BF16, LEFT},
	  {"B", BF16, RIGHT},
	  {"G", BF16, GATE},
	  {"U", BF16, TILE},
	  {"DG", BF16, FIRST},
	  {"DU", BF16, OTHER}},
	 of_gate,
	 of_up,
	 NULL},
	{"squares",
	 {{"A", BF16, LEFT}, {"B", BF16, RIGHT}, {"squares", F32, SUM}, {"D", BF16, FIRST}},
	 product,
	 NULL,
	 square},
	{"amax",
	 {{"A", E4M3, LEFT},
	  {"B", E4M3, RIGHT},
	  {"scale", F32, SCALE},
	  {"amax", F32, ALL},
	  {"D", E4M3, FIRST}},
	 one_scale,
	 NULL,
	 size},
	{"row_scaled",
	 {{"A", E4M3, LEFT},
	  {"B", E4M3, RIGHT},
	  {"rows", F32, ROW},
	  {"columns", F32, COLUMN},
	  {"quantise", F32, QUANTUM},
	  {"most", F32, MOST},
	  {"D", E4M3, FIRST}},
	 row_scaled,
	 NULL,
	 row_size},
	{"row_own",
	 {{"A", BF16, LEFT}, {"B", BF16, RIGHT}, {"most", F32, MOST}, {"D", E4M3, FIRST}},
	 own_scale,
	 NULL,
	 size},
};

static const int extents[ROLES][2] = {
	[LEFT] = {M, K},   [RIGHT] = {N, K}, [SECOND] = {N, K},  [TILE] = {M, N},  [GATE] = {M, N},
	[COLUMN] = {1, N}, [ROW] = {M, 1},   [QUANTUM] = {M, 1}, [SCALE] = {1, 1}, [FIRST] = {M, N},
	[OTHER] = {M, N},  [SUM] = {M, 1},   [MOST] = {M, 1},    [ALL] = {1, 1},
};

/* ------------------------------------------------------------------ numbers of 8, 16, 32 bits */
static const size_t bytes_of[] = {[BF16] = 2, [E4M3] = 1, [F32] = 4};
/* Half a unit in the last place, and what sums in f32 lose beside it. */
static const double error_of[] = {[BF16] = 1.1 / 256, [E4M3] = 1.1 / 16, [F32] = 1e-5};

static double value(Elem e, const void *p)
{
	uint32_t bits = 0;
	float f;
	memcpy(&bits, p, bytes_of[e]);
	if (e == E4M3) {
		int power = (int)(bits >> 3 & 15), fraction = (int)(bits & 7);
		double size = power ? ldexp(8 + fraction, power - 10) : ldexp(fraction, -9);
		return (bits & 127) == 127 ? NAN : bits & 128 ? -size : size;
	}
	bits = e == BF16 ? bits << 16 : bits;
	memcpy(&f, &bits, sizeof f);
	return f;
}

/* A number in -2 .. 2 that every type has: 1 to 1.875, doubled or halved a few times. */
static void put_some(Elem e, void *p)
{
	float f = ldexpf((float)(8 + rand() % 8), rand() % 4 - 6) * (rand() % 2 ? 1 : -1);
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	if (e == E4M3)
		bits = bits >> 31 << 7 | ((bits >> 23 & 255) - 120) << 3 | (bits >> 20 & 7);
	bits = e == BF16 ? bits >> 16 : bits;
	memcpy(p, &bits, bytes_of[e]);
}

/* ------------------------------------------------------------------ the launch */
static const Case *kernel;
static unsigned char *data[ARGS]; /* as the tensors of the kernel */

static void check(dsl_status st)
{
	if (st == DSL_OK)
		return;
	fprintf(stderr, "%s: %s\nhelp: %s\n", dsl_status_text(st), dsl_detail(),
		dsl_status_remedy(st));
	exit(1);
}

static size_t elements(const Tensor *t)
{
	return (size_t)extents[t->role][0] * (size_t)extents[t->role][1];
}

/* What is joined begins with 0; a result that is never written is a NaN. */
static void fill(int i)
{
	const Tensor *t = &kernel->tensors[i];
	size_t n = elements(t), bytes = bytes_of[t->elem];
	data[i] = malloc(n * bytes);
	if (!data[i])
		exit(1);
	memset(data[i], t->role < SUM ? 0xff : 0, n * bytes);
	for (size_t k = 0; k < n && t->role < FIRST; k++)
		put_some(t->elem, data[i] + k * bytes);
}

static int tensors(void)
{
	int n = 0;
	while (n < ARGS && kernel->tensors[n].name)
		n++;
	return n;
}

/* In place, D is where C is. */
static dsl_addr on_device(dsl_device *dev, int i, const dsl_addr *before)
{
	const Tensor *t = &kernel->tensors[i];
	size_t bytes = elements(t) * bytes_of[t->elem];
	dsl_addr to;
	if (t->role == FIRST && !strcmp(kernel->name, "in_place"))
		return before[i - 1];
	check(dsl_mem_alloc(dev, bytes, &to));
	check(dsl_copy_in(dev, to, data[i], bytes));
	return to;
}

static void launch(dsl_device *dev, const char *cubin)
{
	dsl_module *mod;
	dsl_addr at[ARGS];
	int n = tensors(), args_n = n;
	dsl_arg args[ARGS + 5];
	for (int i = 0; i < n; i++) {
		fill(i);
		at[i] = on_device(dev, i, at);
		args[i] = dsl_arg_ptr(kernel->tensors[i].name, at[i]);
	}
	args[args_n++] = dsl_arg_int("M", M);
	args[args_n++] = dsl_arg_int("N", N);
	args[args_n++] = dsl_arg_int("K", K);
	if (!strcmp(kernel->name, "in_place")) {
		args[args_n++] = dsl_arg_float("alpha", alpha);
		args[args_n++] = dsl_arg_float("beta", beta);
	}
	check(dsl_module_load(dev, cubin, &mod));
	check(dsl_launch(mod, kernel->name, args, args_n, NULL, NULL));
	check(dsl_sync(dev));
	for (int i = 0; i < n; i++) {
		const Tensor *t = &kernel->tensors[i];
		if (t->role >= FIRST)
			check(dsl_copy_out(dev, data[i], at[i], elements(t) * bytes_of[t->elem]));
	}
}

/* ------------------------------------------------------------------ the reference */
/* The number of the tensor of that role, -1 where the kernel has none. */
static int of_role(Role role)
{
	for (int k = 0, n = tensors(); k < n; k++)
		if (kernel->tensors[k].role == role)
			return k;
	return -1;
}

static double element_of(int k, int i, int j)
{
	const Tensor *t = &kernel->tensors[k];
	return value(t->elem, data[k] + (size_t)(i * extents[t->role][1] + j) * bytes_of[t->elem]);
}

/* 0 where the kernel has none */
static double at(Role role, int i, int j)
{
	int k = of_role(role);
	return k < 0 ? 0 : element_of(k, i, j);
}

static double dot(Role right, int i, int j)
{
	int a = of_role(LEFT), b = of_role(right);
	double sum = 0;
	for (int k = 0; k < K && b >= 0; k++)
		sum += element_of(a, i, k) * element_of(b, j, k);
	return sum;
}

static Element element(int i, int j)
{
	return (Element){dot(RIGHT, i, j), dot(SECOND, i, j), at(TILE, i, j),    at(GATE, i, j),
			 at(COLUMN, 0, j), at(ROW, i, 0),     at(QUANTUM, i, 0), at(SCALE, 0, 0)};
}

static Element elements_of_d[M][N];
static double sums[M], largest[M], of_all; /* what is joined */

static void compute(void)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			Element *e = &elements_of_d[i][j];
			*e = element(i, j);
			double x = kernel->joined ? kernel->joined(e) : 0;
			sums[i] += x;
			largest[i] = fmax(largest[i], x);
			of_all = fmax(of_all, x);
		}
	for (int i = 0; i < M && kernel->first == own_scale; i++)
		for (int j = 0; j < N; j++)
			elements_of_d[i][j].row = largest[i];
}

static double expected(Role role, int i, int j)
{
	switch (role) {
	case FIRST:
		return kernel->first(&elements_of_d[i][j]);
	case OTHER:
		return kernel->other(&elements_of_d[i][j]);
	case SUM:
		return sums[i];
	case MOST:
		return largest[i];
	default:
		return of_all;
	}
}

/* Tensor cores keep 13 fraction bits of a sum of 8-bit floats. */
static double error_of_sums(void)
{
	return kernel->tensors[0].elem == E4M3 ? 0x1p-8 : 0;
}

/* An error in the last place, or of a sum whose terms cancel. The largest of e4m3 is 448. */
static int wrong_elements(int k)
{
	const Tensor *t = &kernel->tensors[k];
	int wrong = 0;
	for (int i = 0; i < extents[t->role][0]; i++)
		for (int j = 0; j < extents[t->role][1]; j++) {
			double x = expected(t->role, i, j), y = at(t->role, i, j);
			double close = fabs(x) * fmax(error_of[t->elem], error_of_sums()) +
				       (t->elem == E4M3 ? 0x1p-9 : 1e-3);
			x = t->elem == E4M3 ? fmax(fmin(x, 448), -448) : x;
			wrong += !(fabs(x - y) <= close); /* also where y is NaN */
		}
	return wrong;
}

int main(int argc, char **argv)
{
	dsl_device *dev;
	int wrong = 0;
	for (size_t i = 0; argc > 2 && i < sizeof cases / sizeof *cases; i++)
		if (!strcmp(cases[i].name, argv[1]))
			kernel = &cases[i];
	if (!kernel) {
		fprintf(stderr, "host NAME NAME.cubin [cuda:0|sim]\n");
		return 1;
	}
	check(dsl_device_open(argc > 3 ? argv[3] : "cuda:0", &dev));
	launch(dev, argv[2]);
	compute();
	for (int k = 0; k < tensors(); k++) {
		const Tensor *t = &kernel->tensors[k];
		if (t->role < FIRST)
			continue;
		int here = wrong_elements(k);
		printf("%s: %s: %d of %zu elements are wrong\n", dsl_device_name(dev), t->name,
		       here, elements(t));
		wrong += here;
	}
	dsl_device_close(dev); /* and all memory of it */
	return wrong != 0;
}
