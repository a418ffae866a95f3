// bench.cu - TFLOP/s of our kernels beside cuBLASLt and other kernels, in one process, interleaved.
//   nvcc -std=c++17 -O2 -arch=sm_90a bench.cu -I../../runtime -L DIR -ldsl_runtime -lcublasLt -ldl
//   bench [--sizes 8192,4096x4096x14336] [--rounds 30] [--ours LABEL=CUBIN]... [--plugin LABEL=SO]...
// D = A B', bf16, f32 accumulation, A and B K-major. Normal random data; buffers change from launch to
// launch and together exceed four times the L2; a sample is a graph of launches of about 4 ms, samples
// of all kernels alternate in random order, medians are reported with the SM clock and the power that
// NVML saw meanwhile. Each kernel's result is checked before and after. A plugin is a shared object
// with  void *peer_make(int dtype, int M, int N, int K, const void *A, const void *B, void *D, char *err,
// int len), int peer_run(void *, cudaStream_t), void peer_free(void *).
#include "dsl.h"

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

using bf16 = __nv_bfloat16;

static void die(const char *what, const std::string &why)
{
	std::printf("bench: %s: %s\n", what, why.c_str());
	std::exit(1);
}

#define CUDA(call)                                                                                 \
	do {                                                                                       \
		cudaError_t e_ = (call);                                                           \
		if (e_ != cudaSuccess)                                                             \
			die(#call, cudaGetErrorString(e_));                                        \
	} while (0)

// ------------------------------------------------------------------ data and checks
__device__ inline unsigned long long mix(unsigned long long z)
{
	z += 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

__global__ void fill_normal(bf16 *p, size_t n, unsigned long long seed)
{
	size_t step = size_t(gridDim.x) * blockDim.x;
	for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
		unsigned long long h = mix(mix(seed) + i);
		float u = (float(h >> 40) + 0.5f) * 0x1p-24f, v = float(h & 0xffffff) * 0x1p-24f;
		p[i] = __float2bfloat16(sqrtf(-2 * logf(u)) * cospif(2 * v));
	}
}

// Counts sampled elements that are further from the f64 sum than one unit in the last place of bf16
// and the rounding of a sum in f32 explain; a NaN, such as the poison, counts.
__global__ void check_samples(const bf16 *A, const bf16 *B, const bf16 *D, int M, int N, int K,
			      int samples, unsigned *bad)
{
	int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	if (s >= samples)
		return;
	unsigned long long h = mix(s);
	size_t i = (h & 0xffffffff) % M, j = (h >> 32) % N;
	double sum = 0, amount = 0;
	for (int k = lane; k < K; k += 32) {
		double p = double(__bfloat162float(A[i * K + k])) * __bfloat162float(B[j * K + k]);
		sum += p;
		amount += fabs(p);
	}
	for (int o = 16; o; o /= 2) {
		sum += __shfl_down_sync(~0u, sum, o);
		amount += __shfl_down_sync(~0u, amount, o);
	}
	double allowed = ldexp(1.0, max(ilogb(sum), -126) - 7) + K / 8.0 * 0x1p-23 * amount;
	if (lane == 0 && !(fabs(double(__bfloat162float(D[i * N + j])) - sum) <= allowed))
		atomicAdd(bad, 1);
}

// ------------------------------------------------------------------ clock and power
struct Nvml {
	void *device = nullptr;
	int (*clock)(void *, int, unsigned *) = nullptr;
	int (*power)(void *, unsigned *) = nullptr;

	Nvml()
	{
		void *so = dlopen("libnvidia-ml.so.1", RTLD_NOW);
		if (!so)
			return;
		auto init = (int (*)())dlsym(so, "nvmlInit_v2");
		auto get = (int (*)(unsigned, void **))dlsym(so, "nvmlDeviceGetHandleByIndex_v2");
		if (!init || !get || init() || get(0, &device))
			return;
		clock = (int (*)(void *, int, unsigned *))dlsym(so, "nvmlDeviceGetClockInfo");
		power = (int (*)(void *, unsigned *))dlsym(so, "nvmlDeviceGetPowerUsage");
	}
	double mhz() const
	{
		unsigned v = 0;
		return clock && !clock(device, 1, &v) ? v : 0;
	}
	double watts() const
	{
		unsigned v = 0;
		return power && !power(device, &v) ? v / 1e3 : 0;
	}
};

// ------------------------------------------------------------------ one size
struct Set {
	bf16 *A, *B, *D;
};

struct Size {
	int M, N, K;
};

struct Problem {
	Size n;
	std::vector<Set> sets;
	unsigned *bad;
	cudaStream_t stream;
};

// A kernel under test: enqueues D = A B' of one buffer set; false when it cannot.
struct Entry {
	std::string name;
	std::function<bool(int set)> run;
	std::function<void()> drop = [] {};
	cudaGraphExec_t graph = nullptr;
	int batch = 0;
	double screen_us = 0;
	std::vector<double> us, mhz, watts;
};

static Problem make_problem(Size n, cudaStream_t stream)
{
	cudaDeviceProp prop;
	Problem p{n, {}, nullptr, stream};
	CUDA(cudaGetDeviceProperties(&prop, 0));
	size_t a = size_t(n.M) * n.K, b = size_t(n.N) * n.K, d = size_t(n.M) * n.N;
	size_t in = (a + b) * sizeof(bf16);
	size_t count = std::max<size_t>(2, (4 * size_t(prop.l2CacheSize) + in - 1) / in + 1);
	count = std::min<size_t>(count, 128);
	for (size_t i = 0; i < count; i++) {
		Set s;
		CUDA(cudaMalloc(&s.A, a * sizeof(bf16)));
		CUDA(cudaMalloc(&s.B, b * sizeof(bf16)));
		CUDA(cudaMalloc(&s.D, d * sizeof(bf16)));
		fill_normal<<<1024, 256, 0, stream>>>(s.A, a, 2 * i + 1);
		fill_normal<<<1024, 256, 0, stream>>>(s.B, b, 2 * i + 2);
		p.sets.push_back(s);
	}
	CUDA(cudaMalloc(&p.bad, sizeof *p.bad));
	CUDA(cudaStreamSynchronize(stream));
	return p;
}

static void drop_problem(Problem &p)
{
	for (auto &s : p.sets) {
		cudaFree(s.A);
		cudaFree(s.B);
		cudaFree(s.D);
	}
	cudaFree(p.bad);
}

static bool check(const Problem &p, int set)
{
	const Set &s = p.sets[set];
	unsigned bad = 1;
	const int samples = 16384;
	CUDA(cudaMemsetAsync(p.bad, 0, sizeof bad, p.stream));
	check_samples<<<samples * 32 / 256, 256, 0, p.stream>>>(s.A, s.B, s.D, p.n.M, p.n.N, p.n.K, samples,
								 p.bad);
	CUDA(cudaMemcpyAsync(&bad, p.bad, sizeof bad, cudaMemcpyDeviceToHost, p.stream));
	CUDA(cudaStreamSynchronize(p.stream));
	return bad == 0;
}

static void poison(const Problem &p, int set)
{
	CUDA(cudaMemsetAsync(p.sets[set].D, 0xff, size_t(p.n.M) * p.n.N * sizeof(bf16), p.stream));
}

// ------------------------------------------------------------------ kinds of entries
struct Lt {
	cublasLtHandle_t handle;
	cublasLtMatmulDesc_t op;
	cublasLtMatrixLayout_t a, b, d;
	void *space;
	size_t space_size = size_t(64) << 20;
	std::vector<cublasLtMatmulHeuristicResult_t> choices;
};

static void lt(cublasStatus_t st, const char *what)
{
	if (st != CUBLAS_STATUS_SUCCESS)
		die(what, cublasLtGetStatusString(st));
}

// Row-major D = A B' is column-major D' = B A'.
static Lt lt_open(Size n)
{
	Lt l;
	cublasOperation_t transposed = CUBLAS_OP_T;
	cublasLtMatmulPreference_t pref;
	int found = 0;
	lt(cublasLtCreate(&l.handle), "cublasLtCreate");
	lt(cublasLtMatmulDescCreate(&l.op, CUBLAS_COMPUTE_32F, CUDA_R_32F), "desc");
	lt(cublasLtMatmulDescSetAttribute(l.op, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
	   "transpose");
	lt(cublasLtMatrixLayoutCreate(&l.a, CUDA_R_16BF, n.K, n.N, n.K), "layout");
	lt(cublasLtMatrixLayoutCreate(&l.b, CUDA_R_16BF, n.K, n.M, n.K), "layout");
	lt(cublasLtMatrixLayoutCreate(&l.d, CUDA_R_16BF, n.N, n.M, n.N), "layout");
	CUDA(cudaMalloc(&l.space, l.space_size));
	lt(cublasLtMatmulPreferenceCreate(&pref), "preference");
	lt(cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &l.space_size,
						sizeof l.space_size),
	   "workspace");
	l.choices.resize(8);
	lt(cublasLtMatmulAlgoGetHeuristic(l.handle, l.op, l.a, l.b, l.d, l.d, pref, int(l.choices.size()),
					  l.choices.data(), &found),
	   "heuristic");
	cublasLtMatmulPreferenceDestroy(pref);
	l.choices.resize(found);
	return l;
}

static bool lt_run(Lt *l, const Problem *p, int choice, int set)
{
	float one = 1, zero = 0;
	const Set &s = p->sets[set];
	return cublasLtMatmul(l->handle, l->op, &one, s.B, l->a, s.A, l->b, &zero, s.D, l->d, s.D, l->d,
			      &l->choices[choice].algo, l->space, l->space_size, p->stream) ==
	       CUBLAS_STATUS_SUCCESS;
}

static void add_lt(std::vector<Entry> &entries, Lt *l, const Problem *p)
{
	for (int i = 0; i < int(l->choices.size()); i++)
		entries.push_back({"cublaslt " + std::to_string(i),
				   [l, p, i](int set) { return lt_run(l, p, i, set); }});
}

static bool ours_run(dsl_module *mod, const Problem *p, int set)
{
	const Set &s = p->sets[set];
	dsl_arg args[] = {dsl_arg_ptr("A", (dsl_addr)s.A), dsl_arg_ptr("B", (dsl_addr)s.B),
			  dsl_arg_ptr("D", (dsl_addr)s.D), dsl_arg_int("M", p->n.M),
			  dsl_arg_int("N", p->n.N),	   dsl_arg_int("K", p->n.K)};
	if (dsl_launch(mod, "gemm", args, 6, p->stream, nullptr) == DSL_OK)
		return true;
	std::printf("  %s\n", dsl_detail());
	return false;
}

static void add_ours(std::vector<Entry> &entries, dsl_device *dev, const std::string &label,
		     const std::string &path, const Problem *p)
{
	dsl_module *mod;
	if (dsl_module_load(dev, path.c_str(), &mod) != DSL_OK)
		die(path.c_str(), dsl_detail());
	entries.push_back({"dslc " + label, [mod, p](int set) { return ours_run(mod, p, set); },
			   [mod] { dsl_module_unload(mod); }});
}

struct Plugin {
	void *(*make)(int, int, int, int, const void *, const void *, void *, char *, int);
	int (*run)(void *, cudaStream_t);
	void (*free)(void *);
};

static void add_plugin(std::vector<Entry> &entries, const std::string &label, const std::string &path,
		       const Problem *p)
{
	char err[512] = "";
	void *so = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
	Plugin g{};
	std::vector<void *> made;
	if (so) {
		g.make = (decltype(g.make))dlsym(so, "peer_make");
		g.run = (decltype(g.run))dlsym(so, "peer_run");
		g.free = (decltype(g.free))dlsym(so, "peer_free");
	}
	for (auto &s : p->sets)
		if (g.make)
			made.push_back(g.make(0, p->n.M, p->n.N, p->n.K, s.A, s.B, s.D, err, sizeof err));
	if (made.empty() || !made.back() || !g.run || !g.free) {
		std::printf("  left out: %s: %s\n", label.c_str(), so ? err : dlerror());
		return;
	}
	entries.push_back({label, [g, made, p](int set) { return g.run(made[set], p->stream) == 0; },
			   [g, made] {
				   for (void *m : made)
					   g.free(m);
			   }});
}

// ------------------------------------------------------------------ timing
static bool capture(Entry &e, const Problem &p, int batch)
{
	cudaGraph_t graph;
	bool ok = true;
	if (e.graph)
		cudaGraphExecDestroy(e.graph);
	e.graph = nullptr;
	CUDA(cudaStreamBeginCapture(p.stream, cudaStreamCaptureModeRelaxed));
	for (int i = 0; i < batch && ok; i++)
		ok = e.run(i % int(p.sets.size()));
	if (cudaStreamEndCapture(p.stream, &graph) != cudaSuccess || !ok)
		return false;
	CUDA(cudaGraphInstantiate(&e.graph, graph, 0));
	CUDA(cudaGraphDestroy(graph));
	e.batch = batch;
	return true;
}

static double sample(Entry &e, const Problem &p, cudaEvent_t from, cudaEvent_t to, const Nvml *nvml)
{
	float ms;
	CUDA(cudaEventRecord(from, p.stream));
	CUDA(cudaGraphLaunch(e.graph, p.stream));
	CUDA(cudaEventRecord(to, p.stream));
	if (nvml) {
		e.mhz.push_back(nvml->mhz());
		e.watts.push_back(nvml->watts());
	}
	CUDA(cudaEventSynchronize(to));
	CUDA(cudaEventElapsedTime(&ms, from, to));
	return double(ms) * 1e3 / e.batch;
}

static double median(std::vector<double> v)
{
	if (v.empty())
		return 0;
	std::sort(v.begin(), v.end());
	size_t n = v.size();
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

// Runs once on a poisoned output, checks, and finds how many launches make a sample.
static bool prepare(Entry &e, const Problem &p, cudaEvent_t from, cudaEvent_t to)
{
	poison(p, 0);
	if (!e.run(0) || cudaStreamSynchronize(p.stream) != cudaSuccess || !check(p, 0)) {
		std::printf("  WRONG, left out: %s\n", e.name.c_str());
		cudaGetLastError();
		return false;
	}
	int sets = int(p.sets.size());
	if (!capture(e, p, sets))
		return false;
	sample(e, p, from, to, nullptr);
	e.screen_us = sample(e, p, from, to, nullptr);
	return capture(e, p, std::max(1, int(4000 / (e.screen_us * sets) + 0.5)) * sets);
}

// Of cuBLASLt's choices the first and the quickest go on.
static void screen_lt(std::vector<Entry> &entries)
{
	auto is_lt = [](const Entry &e) { return e.name.rfind("cublaslt ", 0) == 0; };
	double best = 1e30;
	for (auto &e : entries)
		if (is_lt(e))
			best = std::min(best, e.screen_us);
	for (auto &e : entries) {
		if (is_lt(e) && e.name == "cublaslt 0")
			e.name = "cublaslt first";
		else if (is_lt(e) && e.screen_us == best)
			e.name = "cublaslt best";
	}
	entries.erase(std::remove_if(entries.begin(), entries.end(),
				     [&](const Entry &e) {
					     return is_lt(e) && e.name != "cublaslt first" &&
						    e.name != "cublaslt best";
				     }),
		      entries.end());
}

static bool report(const std::vector<Entry> &entries, const Problem &p)
{
	double flops = 2.0 * p.n.M * p.n.N * p.n.K, base = 0;
	bool ok = true;
	for (auto &e : entries)
		if (e.name == "cublaslt first")
			base = median(e.us);
	std::printf("%dx%dx%d, %zu buffer sets\n", p.n.M, p.n.N, p.n.K, p.sets.size());
	for (auto &e : entries) {
		double us = median(e.us);
		poison(p, 0);
		CUDA(cudaGraphLaunch(e.graph, p.stream));
		bool right = cudaStreamSynchronize(p.stream) == cudaSuccess && check(p, 0);
		std::printf("  %-24s %7.1f TFLOP/s %9.2f us  (min %9.2f, %zu samples of %d)  %.3f of cublaslt "
			    "first  %4.0f MHz %4.0f W%s\n",
			    e.name.c_str(), flops / us * 1e-6, us, *std::min_element(e.us.begin(), e.us.end()),
			    e.us.size(), e.batch, base / us, median(e.mhz), median(e.watts),
			    right ? "" : "  WRONG AFTERWARDS");
		ok = ok && right;
	}
	std::fflush(stdout);
	return ok;
}

struct Named {
	std::string label, path;
};

static bool bench_size(Size n, int rounds, dsl_device *dev, const std::vector<Named> &ours,
		       const std::vector<Named> &plugins, cudaStream_t stream, const Nvml &nvml)
{
	Problem p = make_problem(n, stream);
	Lt l = lt_open(n);
	std::vector<Entry> all, entries;
	cudaEvent_t from, to;
	CUDA(cudaEventCreate(&from));
	CUDA(cudaEventCreate(&to));
	add_lt(all, &l, &p);
	for (auto &o : ours)
		add_ours(all, dev, o.label, o.path, &p);
	for (auto &g : plugins)
		add_plugin(all, g.label, g.path, &p);
	bool ok = true;
	for (auto &e : all) {
		if (prepare(e, p, from, to))
			entries.push_back(e);
		else
			ok = ok && e.name.rfind("dslc ", 0) != 0;
	}
	screen_lt(entries);
	std::vector<size_t> order(entries.size());
	for (size_t i = 0; i < order.size(); i++)
		order[i] = i;
	for (int r = 0; r < rounds + 2; r++) {
		std::shuffle(order.begin(), order.end(), std::mt19937(unsigned(r)));
		for (size_t i : order) {
			double us = sample(entries[i], p, from, to, r < 2 ? nullptr : &nvml);
			if (r >= 2)
				entries[i].us.push_back(us);
		}
	}
	ok = report(entries, p) && ok;
	for (auto &e : all)
		e.drop();
	cudaFree(l.space);
	cublasLtDestroy(l.handle);
	drop_problem(p);
	return ok;
}

static Named named(const char *arg)
{
	const char *eq = std::strchr(arg, '=');
	if (!eq)
		die(arg, "LABEL=FILE is wanted");
	return {std::string(arg, eq), eq + 1};
}

// 4096 is 4096x4096x4096
static Size size_of(const char *s)
{
	Size n{};
	int found = std::sscanf(s, "%dx%dx%d", &n.M, &n.N, &n.K);
	if (found == 1)
		n.N = n.K = n.M;
	if (found == 2 || n.M < 1 || n.N < 1 || n.K < 1)
		die(s, "a size is N or MxNxK");
	return n;
}

int main(int argc, char **argv)
{
	std::vector<Named> ours, plugins;
	std::vector<Size> sizes;
	int rounds = 30;
	for (int i = 1; i + 1 < argc; i += 2) {
		std::string a = argv[i];
		if (a == "--ours")
			ours.push_back(named(argv[i + 1]));
		else if (a == "--plugin")
			plugins.push_back(named(argv[i + 1]));
		else if (a == "--rounds")
			rounds = std::atoi(argv[i + 1]);
		else if (a == "--sizes")
			for (char *s = std::strtok(argv[i + 1], ","); s; s = std::strtok(nullptr, ","))
				sizes.push_back(size_of(s));
		else
			die(argv[i], "unknown option");
	}
	if (sizes.empty())
		sizes = {{8192, 8192, 8192}, {4096, 4096, 4096}, {2048, 2048, 2048}};
	cudaDeviceProp prop;
	CUDA(cudaSetDevice(0));
	CUDA(cudaGetDeviceProperties(&prop, 0));
	int driver = 0;
	CUDA(cudaDriverGetVersion(&driver));
	std::printf("%s, %d SMs, L2 %d MiB, driver %d, cuBLASLt %zu\n", prop.name, prop.multiProcessorCount,
		    prop.l2CacheSize >> 20, driver, cublasLtGetVersion());
	dsl_device *dev;
	if (dsl_device_open("cuda:0", &dev) != DSL_OK)
		die("device", dsl_detail());
	cudaStream_t stream;
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	Nvml nvml;
	bool ok = true;
	for (Size n : sizes)
		ok = bench_size(n, rounds, dev, ours, plugins, stream, nvml) && ok;
	dsl_device_close(dev);
	return ok ? 0 : 1;
}
