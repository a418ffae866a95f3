// constant.cu - weights that are constant, read while the launch ahead still runs, compared bit for bit.
//   nvcc -std=c++17 -O2 -arch=sm_90a constant.cu -I../../runtime -L DIR -ldsl_runtime -ldl
//   constant DIR [--launches 10000]
// DIR has early.cubin, tests/e2e/constant.gemm, and plain.cubin, the same without the word. Each launch of a chain
// has other weights and other activations, all of them integers from -4 to 4, so that the sums are exact:
//   a slow writer of B, which lets the next launch begin at once and writes when it has spun a while;
//   a dependent kernel, which does the same with A: launched as usual, so B was complete before it began;
//   the GEMM by programmatic dependent launch: B goes before the wait, A after it;
//   a comparison with what the same kernel gave for these inputs, launched alone.
// Chains: kept    as above;
//         packed  B of odd rows, and dsl_pack after its writer; the GEMM follows at once
//         copied  B of odd rows, which the launch copies into workspace
//         broken  the dependent kernel begins while B is written: the promise is broken, and this must be seen in
//                 early.cubin, or the other chains show nothing; plain.cubin is right all the same.
// Exits with 1 where a chain is not as it must be. At the end, microseconds of a launch after a dependent kernel.
#include "dsl.h"

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using bf16 = __nv_bfloat16;

static void die(const char *what, const char *why)
{
	std::printf("constant: %s: %s\n", what, why);
	std::exit(1);
}

#define CUDA(call)                                                                                 \
	do {                                                                                       \
		cudaError_t e_ = (call);                                                           \
		if (e_ != cudaSuccess)                                                             \
			die(#call, cudaGetErrorString(e_));                                        \
	} while (0)
#define DSL(call)                                                                                  \
	do {                                                                                       \
		if (call)                                                                          \
			die(#call, dsl_detail());                                                  \
	} while (0)

// ------------------------------------------------------------------ kernels around the GEMM
__device__ inline unsigned mix(unsigned long long z)
{
	z += 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return unsigned(z ^ (z >> 31));
}

// Few CTAs, so that the next launch finds room. wait: only then has the launch ahead ended.
__global__ void write(bf16 *p, size_t n, unsigned seed, long long spin, bool wait)
{
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
	long long begin = clock64();
	while (clock64() - begin < spin)
		;
	if (wait)
		asm volatile("griddepcontrol.wait;" ::: "memory");
	size_t step = size_t(gridDim.x) * blockDim.x;
	for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
		p[i] = __float2bfloat16(float(int(mix(seed * 0x100000001ull + i) % 9) - 4));
}

__global__ void compare(const unsigned short *d, const unsigned short *want, size_t n, unsigned long long *bad)
{
	size_t step = size_t(gridDim.x) * blockDim.x;
	unsigned long long wrong = 0;
	for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
		wrong += d[i] != want[i];
	if (__syncthreads_or(wrong != 0) && threadIdx.x == 0)
		atomicAdd(bad, 1); // CTAs of this comparison that saw a difference
}

// ------------------------------------------------------------------ one problem
enum { M = 512, N = 512, WEIGHTS = 4, ACTIVATIONS = 3, WRITERS = 8, THREADS = 512 };
enum Chain { KEPT, PACKED, COPIED, BROKEN };
static const char *const chain_names[] = {"kept", "packed", "copied", "broken"};
static const long long spin_cycles = 20000; // about 10 microseconds

struct Problem {
	dsl_device *dev;
	int K;
	bf16 *A, *B;
	float *bias;
	unsigned short *D, *want; // want: for each pair of inputs
	void *packed, *workspace;
	size_t packed_bytes, workspace_bytes;
	unsigned long long *bad;
};

static void write_some(bf16 *p, size_t n, unsigned seed, long long spin, bool pdl, cudaStream_t stream)
{
	cudaLaunchAttribute a = {};
	a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	a.val.programmaticStreamSerializationAllowed = 1;
	cudaLaunchConfig_t c = {};
	c.gridDim = dim3(WRITERS);
	c.blockDim = dim3(THREADS);
	c.stream = stream;
	c.attrs = &a;
	c.numAttrs = pdl;
	CUDA(cudaLaunchKernelEx(&c, write, p, n, seed, spin, pdl));
}

static int arguments(const Problem &p, dsl_arg *args)
{
	int n = 0;
	args[n++] = dsl_arg_ptr("A", (dsl_addr)p.A);
	args[n++] = dsl_arg_ptr("B", (dsl_addr)p.B);
	args[n++] = dsl_arg_ptr("bias", (dsl_addr)p.bias);
	args[n++] = dsl_arg_ptr("D", (dsl_addr)p.D);
	args[n++] = dsl_arg_int("M", M);
	args[n++] = dsl_arg_int("N", N);
	args[n++] = dsl_arg_int("K", p.K);
	return n;
}

static dsl_launch_opts options(const Problem &p, int pdl)
{
	dsl_launch_opts o = {};
	o.size = sizeof o;
	o.pdl = pdl;
	o.workspace = (dsl_addr)p.workspace;
	o.workspace_size = p.workspace_bytes;
	return o;
}

static Problem make_problem(dsl_device *dev, dsl_module *mod, int K)
{
	Problem p = {dev, K};
	dsl_arg args[8];
	size_t out = size_t(M) * N;
	CUDA(cudaMalloc(&p.A, size_t(M) * K * 2));
	CUDA(cudaMalloc(&p.B, size_t(N) * K * 2));
	CUDA(cudaMalloc(&p.bias, N * sizeof(float)));
	CUDA(cudaMalloc(&p.D, out * 2));
	CUDA(cudaMalloc(&p.want, out * 2 * WEIGHTS * ACTIVATIONS));
	CUDA(cudaMalloc(&p.bad, sizeof *p.bad));
	CUDA(cudaMemset(p.bias, 0, N * sizeof(float)));
	int n = arguments(p, args);
	DSL(dsl_workspace_size(mod, "constant_b", args, n, &p.workspace_bytes));
	if (p.workspace_bytes)
		CUDA(cudaMalloc(&p.workspace, p.workspace_bytes));
	DSL(dsl_pack_size(mod, "constant_b", "B", args, n, &p.packed_bytes));
	CUDA(cudaMalloc(&p.packed, p.packed_bytes));
	dsl_launch_opts alone = options(p, -1);
	for (int i = 0; i < WEIGHTS * ACTIVATIONS; i++) {
		write_some(p.B, size_t(N) * K, 2 * (i / ACTIVATIONS), 0, false, nullptr);
		write_some(p.A, size_t(M) * K, 2 * (i % ACTIVATIONS) + 1, 0, false, nullptr);
		CUDA(cudaDeviceSynchronize());
		DSL(dsl_launch(mod, "constant_b", args, n, nullptr, &alone));
		CUDA(cudaDeviceSynchronize());
		CUDA(cudaMemcpy(p.want + i * out, p.D, out * 2, cudaMemcpyDeviceToDevice));
	}
	return p;
}

static void drop_problem(Problem &p)
{
	for (void *x : {(void *)p.A, (void *)p.B, (void *)p.bias, (void *)p.D, (void *)p.want, (void *)p.bad, p.packed,
			p.workspace})
		CUDA(cudaFree(x));
}

// ------------------------------------------------------------------ chains
static void link(const Problem &p, dsl_module *mod, Chain chain, int i, cudaStream_t stream)
{
	dsl_arg args[8];
	int n = arguments(p, args), weights = i % WEIGHTS, activations = i % ACTIVATIONS;
	dsl_launch_opts o = options(p, 0);
	// The comparison ahead has read D, and nothing runs any more.
	CUDA(cudaMemsetAsync(p.D, 0xff, size_t(M) * N * 2, stream));
	if (chain == PACKED) { // activations first, so that nothing is between the copy and its reader
		write_some(p.A, size_t(M) * p.K, 2 * activations + 1, 0, false, stream);
		write_some(p.B, size_t(N) * p.K, 2 * weights, spin_cycles, false, stream);
		DSL(dsl_pack(mod, "constant_b", "B", args, n, (dsl_addr)p.packed, p.packed_bytes, stream, &args[1]));
	} else {
		write_some(p.B, size_t(N) * p.K, 2 * weights, spin_cycles, false, stream);
		write_some(p.A, size_t(M) * p.K, 2 * activations + 1, spin_cycles, chain == BROKEN, stream);
	}
	DSL(dsl_launch(mod, "constant_b", args, n, stream, &o));
	const unsigned short *want = p.want + size_t(weights * ACTIVATIONS + activations) * M * N;
	compare<<<64, 256, 0, stream>>>(p.D, want, size_t(M) * N, p.bad);
}

// Launches are not waited for one by one: only so do they overlap. bad counts CTAs of comparisons.
static bool run(Problem &p, dsl_module *mod, const char *name, Chain chain, int launches, cudaStream_t stream)
{
	unsigned long long bad;
	bool must_differ = chain == BROKEN && !std::strcmp(name, "early");
	CUDA(cudaMemset(p.bad, 0, sizeof *p.bad));
	for (int i = 0; i < launches; i++)
		link(p, mod, chain, i, stream);
	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaGetLastError());
	CUDA(cudaMemcpy(&bad, p.bad, sizeof bad, cudaMemcpyDeviceToHost));
	bool right = must_differ ? bad != 0 : bad == 0;
	std::printf("%-5s %-6s K = %d: %d launches, %llu parts of outputs differ: %s\n", name, chain_names[chain], p.K,
		    launches, bad, right ? must_differ ? "seen, as it must be" : "right" : "WRONG");
	return right;
}

// Microseconds of a dependent kernel and the GEMM after it, weights standing still.
static float time_of(const Problem &p, dsl_module *mod, int pdl, cudaStream_t stream)
{
	enum { TIMES = 2000 };
	dsl_arg args[8];
	int n = arguments(p, args);
	dsl_launch_opts o = options(p, pdl);
	cudaEvent_t from, to;
	float ms;
	CUDA(cudaEventCreate(&from));
	CUDA(cudaEventCreate(&to));
	for (int i = -100; i < TIMES; i++) {
		if (i == 0)
			CUDA(cudaEventRecord(from, stream));
		write_some(p.A, size_t(M) * p.K, 1, spin_cycles / 4, true, stream);
		DSL(dsl_launch(mod, "constant_b", args, n, stream, &o));
	}
	CUDA(cudaEventRecord(to, stream));
	CUDA(cudaEventSynchronize(to));
	CUDA(cudaEventElapsedTime(&ms, from, to));
	CUDA(cudaEventDestroy(from));
	CUDA(cudaEventDestroy(to));
	return ms * 1000 / TIMES;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"early", "plain"};
	dsl_device *dev;
	dsl_module *mod[2];
	cudaStream_t stream;
	if (argc < 2)
		die("usage", "constant DIR [--launches N]");
	int launches = argc > 3 && !std::strcmp(argv[2], "--launches") ? std::atoi(argv[3]) : 10000;
	if (dsl_device_open("cuda:0", &dev))
		die("cuda:0", dsl_detail());
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int i = 0; i < 2; i++)
		DSL(dsl_module_load(dev, (std::string(argv[1]) + "/" + names[i] + ".cubin").c_str(), &mod[i]));
	Problem even = make_problem(dev, mod[1], 1024), odd = make_problem(dev, mod[1], 1028);
	bool right = true;
	for (int i = 0; i < 2; i++) {
		right &= run(even, mod[i], names[i], KEPT, launches, stream);
		right &= run(odd, mod[i], names[i], PACKED, launches, stream);
		right &= run(odd, mod[i], names[i], COPIED, launches, stream);
		right &= run(even, mod[i], names[i], BROKEN, launches, stream);
	}
	for (int round = 0; round < 3; round++)
		std::printf("us of a dependent kernel and the GEMM: early %.2f, plain %.2f, without pdl %.2f\n",
			    time_of(even, mod[0], 0, stream), time_of(even, mod[1], 0, stream),
			    time_of(even, mod[1], -1, stream));
	drop_problem(even);
	drop_problem(odd);
	return !right;
}
