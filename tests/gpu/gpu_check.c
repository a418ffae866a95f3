/* The correctness grid on a GPU: each case's cubin on random inputs, integers and normal numbers,
 * against the reference interpreter (every element) and against cuBLAS (every element).
 *   gpu_check DIR [PART PARTS [DEVICE]]
 * Reads DIR/cases.txt; with PART of PARTS, every PARTS-th case. DEVICE is cuda:0 or sim, where
 * cuBLAS is left out.
 * Prints a line per failure and a count at the end; exits with 1 after a failure or with no case.
 */
#include "driver/problem.h"

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
} Case;

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
	dsl_device *dev;
	Cublas blas;
	int cases, checks, failures;
	double ulps, share; /* largest seen */
} Grid;

static void failed(Grid *g, const Case *c, const char *kind, const char *what)
{
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

/* The reference takes the place of cuBLAS's result, so that compare() judges it by the same
 * bounds. */
static dsl_status check_cublas(Grid *g, const Case *c, Problem *p, DataKind kind, const char *label)
{
	Tensor *d = &p->t[2];
	size_t n = (size_t)c->m * (size_t)c->n, bytes = n * sizeof(float);
	dsl_addr out = 0;
	float *blas = malloc(bytes);
	void *ref = malloc(d->bytes);
	dsl_status st = blas && ref ? dsl_mem_alloc(p->dev, bytes, &out) : DSL_ERR_MEMORY;
	if (!st && cublas_like(&g->blas, c, p, out))
		failed(g, c, label, "cublasGemmEx failed");
	if (!st)
		st = dsl_sync(p->dev);
	if (!st)
		st = dsl_copy_out(p->dev, blas, out, bytes);
	for (size_t i = 0; i < n && !st; i++)
		elem_store(d->elem, ref, (int64_t)i, blas[i]);
	if (!st) {
		void *own = d->ref;
		d->ref = ref;
		Verdict v = compare(p, d, kind);
		d->ref = own;
		g->checks++;
		if (v.wrong[0])
			failed(g, c, "against cuBLAS", v.wrong);
	}
	dsl_mem_free(p->dev, out);
	free(blas);
	free(ref);
	return st;
}

static void check_reference(Grid *g, const Case *c, Problem *p, DataKind kind, const char *label)
{
	char wrong[256] = "";
	Verdict v = compare(p, &p->t[2], kind);
	g->checks++;
	g->ulps = fmax(g->ulps, v.ulps);
	g->share = fmax(g->share, v.share);
	if (v.wrong[0])
		failed(g, c, label, v.wrong);
	else if (v.checked != (int64_t)c->m * c->n)
		failed(g, c, label, "not every element has a reference");
	if (problem_guards(p, wrong, sizeof wrong) || *wrong)
		failed(g, c, label, *wrong ? wrong : dsl_detail());
}

static void check_kind(Grid *g, const Case *c, Problem *p, dsl_module *mod, DataKind kind)
{
	const char *why = "", *label = kind == DATA_INTEGERS ? "integers" : "normal";
	problem_fill(p, kind, (uint64_t)g->cases);
	dsl_status st = problem_launch(p, mod);
	if (!st && !problem_reference(p, kind, &why)) {
		failed(g, c, label, why);
		return;
	}
	if (!st) {
		check_reference(g, c, p, kind, label);
		if (g->blas.handle && c->k > 0) /* cuBLAS refuses sums of nothing */
			st = check_cublas(g, c, p, kind, label);
	}
	if (st)
		failed(g, c, label, dsl_detail());
}

static Options case_options(Arena *a, const Case *c)
{
	Options o = {.arena = a, .sms = c->sms};
	vec_push(a, &o.sizes, ((SizeArg){"M", c->m}));
	vec_push(a, &o.sizes, ((SizeArg){"N", c->n}));
	vec_push(a, &o.sizes, ((SizeArg){"K", c->k}));
	return o;
}

static void check_case(Grid *g, const Case *c)
{
	char path[512];
	const char *why = "no IR";
	dsl_module *mod = NULL;
	Problem p = {0};
	Arena *a = arena_new();
	Options o = case_options(a, c);
	snprintf(path, sizeof path, "%s/%s.frontend.ir", g->dir, c->name);
	char *ir = read_text(path);
	snprintf(path, sizeof path, "%s/%s.cubin", g->dir, c->name);
	g->cases++;
	if (!ir || !problem_open(&p, ir, &o, &why)) {
		failed(g, c, "reference", why);
	} else if (dsl_module_load(g->dev, path, &mod)) {
		failed(g, c, "load", dsl_detail());
	} else {
		p.dev = g->dev;
		check_kind(g, c, &p, mod, DATA_INTEGERS);
		check_kind(g, c, &p, mod, DATA_NORMAL);
		dsl_module_unload(mod);
	}
	problem_free_device(&p);
	p.dev = NULL;
	problem_close(&p);
	free(ir);
	arena_free(a);
}

int main(int argc, char **argv)
{
	int part = argc > 3 ? atoi(argv[2]) : 0, parts = argc > 3 ? atoi(argv[3]) : 1;
	char path[512];
	Grid g = {.dir = argc > 1 ? argv[1] : "."};
	Case c;
	const char *device = argc > 4 ? argv[4] : "cuda:0";
	bool gpu = strncmp(device, "cuda", 4) == 0;
	snprintf(path, sizeof path, "%s/cases.txt", g.dir);
	FILE *list = fopen(path, "r");
	if (!list || dsl_device_open(device, &g.dev)) {
		printf("gpu_check: %s\n", list ? dsl_detail() : path);
		return 1;
	}
	if (gpu)
		g.blas = cublas_open();
	for (int i = 0; fscanf(list, "%127s %d %d %d %d", c.name, &c.m, &c.n, &c.k, &c.sms) == 5;
	     i++)
		if (i % parts == part)
			check_case(&g, &c);
	fclose(list);
	printf("part %d of %d: %d cases, %d checks, %d failures; largest error %.3g ulp, %.0f %% "
	       "of what "
	       "is allowed\n",
	       part, parts, g.cases, g.checks, g.failures, g.ulps, 100 * g.share);
	dsl_device_close(g.dev);
	return g.failures || !g.cases;
}
