/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The correctness grid on a GPU: each case's cubin on random inputs, integers and normal numbers,
 * against the reference interpreter (every element) and against cuBLAS (every element).
 *   gpu_check DIR [PART PARTS [DEVICE]]
 * Reads DIR/cases.txt: lines NAME M N K SMS; or NAME SMS M=1,N=2,... of a kernel of any sizes
 * and tensors (random_kernels --write), which gets integers only and no cuBLAS. With PART of PARTS,
 * every PARTS-th case. DEVICE is cuda:0 or sim, where cuBLAS is left out; or two devices,
 * cuda:0+sim, for which "both" is short: each case runs on both with the same cubin and inputs, and
 * the outputs are compared with each other by compare()'s bounds: integers in every bit, normal
 * numbers within one unit in the last place of the output's type and K / 8 * 2^-23 * sum |a b|.
 * Prints a line per failure and a count at the end; exits with 1 after a failure or with no case.
 */
#include "check/problem.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ cuBLAS, found at run time */
/* Values of library_types.h and cublas_api.h. */
enum {
	R_16F = 2,
	R_32F = 0,
	R_16BF = 14,
	COMPUTE_32F = 68,
	OP_NONE = 0,
	OP_TRANSPOSE = 1,
	ALGO_DEFAULT = -1
};

typedef struct {
	void *handle;
	int (*gemm)(void *h, int ta, int tb, int m, int n, int k, const void *alpha, const void *a,
		    int at, int lda, const void *b, int bt, int ldb, const void *beta, void *c,
		    int ct, int ldc, int compute, int algo);
} Cublas;

static void *find(void *so, const char *name)
{
	void *f = dlsym(so, name);
	if (!f) {
		printf("cuBLAS has no %s\n", name);
		exit(1);
	}
	return f;
}

static Cublas cublas_open(void)
{
	static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so",
					    "/usr/local/cuda/lib64/libcublas.so"};
	Cublas b = {0};
	int (*create)(void **);
	void *so = NULL, *f;
	for (size_t i = 0; i < COUNTOF(names) && !so; i++)
		so = dlopen(names[i], RTLD_NOW);
	if (!so) {
		printf("no cuBLAS: %s\n", dlerror());
		exit(1);
	}
	f = find(so, "cublasCreate_v2");
	memcpy(&create, &f, sizeof f);
	f = find(so, "cublasGemmEx");
	memcpy(&b.gemm, &f, sizeof f);
	if (create(&b.handle)) {
		printf("cublasCreate failed\n");
		exit(1);
	}
	return b;
}

/* D = A B' in f32, column-major. */
static int cublas_gemm(const Cublas *b, Elem in, int m, int n, int k, dsl_addr A, dsl_addr B,
		       dsl_addr D)
{
	float one = 1, zero = 0;
	int type = in == EL_BF16 ? R_16BF : R_16F;
	return b->gemm(b->handle, OP_TRANSPOSE, OP_NONE, m, n, k, &one, (void *)(uintptr_t)A, type,
		       k, (void *)(uintptr_t)B, type, k, &zero, (void *)(uintptr_t)D, R_32F, m,
		       COMPUTE_32F, ALGO_DEFAULT);
}

/* ------------------------------------------------------------------ one case */
typedef struct {
	char name[128];
	int m, n, k, sms;
	char sizes[256]; /* "M=1,N=2": any kernel; empty: a plain product of m, n, k */
} Case;

static Tensor *output_of(Problem *p)
{
	int i = 0;
	while (!p->t[i].is_out)
		i++;
	return &p->t[i];
}

static int64_t elements_of(const Problem *p, const Tensor *t)
{
	const Layout *l = p->k->args.at[t - p->t].val->type->layout;
	int64_t n = 1;
	for (int i = 0; i < layout_rank(l); i++)
		n *= problem_eval(p, layout_size(p->ctx, layout_mode(p->ctx, l, i)));
	return n;
}

/* As the kernel stores it: D row-major is D' = B A' column-major. */
static int cublas_like(const Cublas *b, const Case *c, const Problem *p, dsl_addr out)
{
	dsl_addr a = p->t[0].alloc + GUARD, bt = p->t[1].alloc + GUARD;
	const Layout *d = p->k->args.at[2].val->type->layout;
	Elem in = p->t[0].elem;
	return ix_is(tup_get(d->stride, 0)->leaf, 1)
		       ? cublas_gemm(b, in, c->m, c->n, c->k, a, bt, out)
		       : cublas_gemm(b, in, c->n, c->m, c->k, bt, a, out);
}

typedef struct {
	const char *dir;
	dsl_device *dev, *second; /* NULL: one device and the reference */
	Cublas blas;
	int cases, checks, failures, equal; /* equal: checks with no bit that differs */
	long long elements, differ;
	double ulps; /* largest seen */
} Grid;

static void failed(Grid *g, const Case *c, const char *kind, const char *what)
{
	if (*c->sizes)
		printf("FAILED %s %s %s: %s\n", c->name, c->sizes, kind, what);
	else
		printf("FAILED %s M=%d N=%d K=%d %s: %s\n", c->name, c->m, c->n, c->k, kind, what);
	fflush(stdout);
	g->failures++;
}

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *s = NULL;
	long n;
	if (f && fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 &&
	    (s = calloc(1, (size_t)n + 1))) {
		rewind(f);
		if (fread(s, 1, (size_t)n, f) != (size_t)n)
			s[0] = 0;
	}
	if (f)
		fclose(f);
	return s;
}

/* cuBLAS's result takes the place of ours, so that compare() judges it by the same bounds. */
static dsl_status check_cublas(Grid *g, const Case *c, Problem *p, const char *label)
{
	Tensor *d = &p->t[2];
	size_t n = (size_t)c->m * (size_t)c->n, bytes = n * sizeof(float);
	dsl_addr out = 0;
	float *blas = malloc(bytes);
	void *theirs = malloc(d->bytes);
	dsl_status st = blas && theirs ? dsl_mem_alloc(p->dev, bytes, &out) : DSL_ERR_MEMORY;
	if (!st && cublas_like(&g->blas, c, p, out))
		failed(g, c, label, "cublasGemmEx failed");
	if (!st)
		st = dsl_sync(p->dev);
	if (!st)
		st = dsl_copy_out(p->dev, blas, out, bytes);
	for (size_t i = 0; i < n && !st; i++)
		elem_put(d->elem, theirs, (int64_t)i, (double)blas[i]);
	if (!st) {
		void *own = d->host;
		d->host = theirs;
		Verdict v = compare(p, d);
		d->host = own;
		g->checks++;
		if (v.wrong[0])
			failed(g, c, "by cuBLAS", v.wrong);
	}
	dsl_mem_free(p->dev, out);
	free(blas);
	free(theirs);
	return st;
}

static void check_verdict(Grid *g, const Case *c, Problem *p, const char *label)
{
	const Tensor *d = output_of(p);
	Verdict v = compare(p, d);
	g->checks++;
	g->ulps = fmax(g->ulps, v.ulps);
	if (v.wrong[0])
		failed(g, c, label, v.wrong);
	else if (!d->by_index && v.checked != elements_of(p, d))
		failed(g, c, label, "not every element has a reference");
}

static void check_guards(Grid *g, const Case *c, Problem *p, const char *label)
{
	char wrong[256] = "";
	if (problem_guards(p, wrong, sizeof wrong) || *wrong)
		failed(g, c, label, *wrong ? wrong : dsl_detail());
}

static void check_kind(Grid *g, const Case *c, Problem *p, dsl_module *mod, DataKind kind)
{
	const char *why = "", *label = kind == DATA_INTEGERS ? "integers" : "normal";
	problem_fill(p, kind, (uint64_t)g->cases);
	dsl_status st = problem_launch(p, mod);
	if (!st && !problem_reference(p, &why)) {
		failed(g, c, label, why);
		return;
	}
	if (!st) {
		check_verdict(g, c, p, label);
		check_guards(g, c, p, label);
		if (g->blas.handle && !*c->sizes && c->k > 0) /* cuBLAS refuses sums of nothing */
			st = check_cublas(g, c, p, label);
	}
	if (st)
		failed(g, c, label, dsl_detail());
}

/* ------------------------------------------------------------------ one case on two devices */
static void count_equal(Grid *g, const Tensor *d)
{
	size_t size = elem_bytes(d->elem);
	long long differ = 0;
	for (int64_t i = 0; i < d->count; i++)
		differ += memcmp((char *)d->host + (size_t)i * size,
				 (char *)d->ref + (size_t)i * size, size) != 0;
	g->elements += d->count;
	g->differ += differ;
	g->equal += !differ;
}

static bool launch_on(Grid *g, const Case *c, Problem *p, dsl_device *dev, dsl_module *mod,
		      const char *label)
{
	p->dev = dev;
	dsl_status st = problem_launch(p, mod);
	if (st)
		failed(g, c, label, dsl_detail());
	else
		check_guards(g, c, p, label);
	problem_free_device(p);
	return !st;
}

/* The second device's output takes the place of the reference; the reference interpreter only says
 * between which bounds the first is right. */
static void compare_both(Grid *g, const Case *c, Problem *p, dsl_module *const *mods, DataKind kind)
{
	const char *why = "", *label = kind == DATA_INTEGERS ? "integers, both" : "normal, both";
	Tensor *d = output_of(p);
	void *first = malloc(d->bytes + 1), *host = d->host, *ref = d->ref;
	problem_fill(p, kind, (uint64_t)g->cases);
	bool ran = first && launch_on(g, c, p, g->dev, mods[0], label);
	if (ran) {
		memcpy(first, host, d->bytes);
		ran = launch_on(g, c, p, g->second, mods[1], label);
	}
	if (ran && !problem_reference(p, &why)) {
		failed(g, c, label, why);
	} else if (ran) {
		for (int64_t i = 0; i < d->count; i++)
			d->wrote[i] = !is_poison(host, elem_bytes(d->elem), i);
		d->ref = host;
		d->host = first;
		count_equal(g, d);
		check_verdict(g, c, p, label);
	}
	d->host = host;
	d->ref = ref;
	free(first);
}

/* "M=1,N=2" */
static void add_sizes(Arena *a, ProblemSpec *o, const char *text)
{
	char name[64];
	long long v;
	for (int n; sscanf(text, "%63[^=]=%lld%n", name, &v, &n) == 2; text += text[n] ? n + 1 : n)
		vec_push(a, &o->sizes, ((SizeArg){arena_printf(a, "%s", name), v}));
}

static ProblemSpec case_options(Arena *a, const Case *c)
{
	ProblemSpec o = {.sms = c->sms};
	if (*c->sizes) {
		add_sizes(a, &o, c->sizes);
		return o;
	}
	vec_push(a, &o.sizes, ((SizeArg){"M", c->m}));
	vec_push(a, &o.sizes, ((SizeArg){"N", c->n}));
	vec_push(a, &o.sizes, ((SizeArg){"K", c->k}));
	return o;
}

/* On one device against the reference, or on two against each other. */
static void run_case(Grid *g, const Case *c, Problem *p, const char *path)
{
	dsl_module *mods[2] = {NULL, NULL};
	if (dsl_module_load(g->dev, path, &mods[0]) ||
	    (g->second && dsl_module_load(g->second, path, &mods[1]))) {
		failed(g, c, "load", dsl_detail());
	} else if (g->second) {
		compare_both(g, c, p, mods, DATA_INTEGERS);
		if (!*c->sizes)
			compare_both(g, c, p, mods, DATA_NORMAL);
	} else {
		p->dev = g->dev;
		check_kind(g, c, p, mods[0], DATA_INTEGERS);
		if (!*c->sizes)
			check_kind(g, c, p, mods[0], DATA_NORMAL);
	}
	for (int i = 0; i < 2; i++)
		if (mods[i])
			dsl_module_unload(mods[i]);
}

static void check_case(Grid *g, const Case *c)
{
	char path[512];
	const char *why = "no IR";
	Problem p = {0};
	Arena *a = arena_new();
	ProblemSpec o = case_options(a, c);
	snprintf(path, sizeof path, "%s/%s.frontend.ir", g->dir, c->name);
	char *ir = read_text(path);
	snprintf(path, sizeof path, "%s/%s.cubin", g->dir, c->name);
	g->cases++;
	if (!ir || !problem_open(&p, ir, &o, &why))
		failed(g, c, "reference", why);
	else
		run_case(g, c, &p, path);
	problem_free_device(&p);
	p.dev = NULL;
	problem_close(&p);
	free(ir);
	arena_free(a);
}

static bool read_case(FILE *list, Case *c)
{
	char line[512];
	*c = (Case){0};
	if (!fgets(line, sizeof line, list))
		return false;
	return sscanf(line, "%127s %d %d %d %d", c->name, &c->m, &c->n, &c->k, &c->sms) == 5 ||
	       sscanf(line, "%127s %d %255s", c->name, &c->sms, c->sizes) == 3;
}

static bool open_devices(Grid *g, const char *device)
{
	char first[128];
	if (strcmp(device, "both") == 0)
		device = "cuda:0+sim";
	size_t n = strcspn(device, "+");
	snprintf(first, sizeof first, "%.*s", (int)n, device);
	if (dsl_device_open(first, &g->dev) ||
	    (device[n] && dsl_device_open(device + n + 1, &g->second)))
		return false;
	if (strncmp(device, "cuda", 4) == 0 && !g->second)
		g->blas = cublas_open();
	return true;
}

static void print_summary(const Grid *g, int part, int parts)
{
	printf("part %d of %d: %d cases, %d checks, %d failures; ", part, parts, g->cases,
	       g->checks, g->failures);
	if (g->second)
		printf("%d equal in every bit, %lld of %lld elements differ; ", g->equal, g->differ,
		       g->elements);
	printf("largest error %.3g ulp\n", g->ulps);
}

int main(int argc, char **argv)
{
	int part = argc > 3 ? atoi(argv[2]) : 0, parts = argc > 3 ? atoi(argv[3]) : 1;
	char path[512];
	Grid g = {.dir = argc > 1 ? argv[1] : "."};
	Case c;
	snprintf(path, sizeof path, "%s/cases.txt", g.dir);
	FILE *list = fopen(path, "r");
	if (!list || !open_devices(&g, argc > 4 ? argv[4] : "cuda:0")) {
		printf("gpu_check: %s\n", list ? dsl_detail() : path);
		return 1;
	}
	for (int i = 0; read_case(list, &c); i++)
		if (i % parts == part)
			check_case(&g, &c);
	fclose(list);
	print_summary(&g, part, parts);
	dsl_device_close(g.dev);
	if (g.second)
		dsl_device_close(g.second);
	return g.failures || !g.cases;
}
