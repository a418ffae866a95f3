// soak.cu - many kernels at real sizes, launched again and again, whole outputs compared bit for bit.
//   nvcc -std=c++17 -O2 -arch=sm_90a soak.cu -I../../runtime -L DIR -ldsl_runtime -ldl
//   soak DIR [--launches 8] [--only NAME]
// DIR/soak.txt (soak_cases.sh) has a line a kernel: NAME EPILOGUE OUTPUT MAJORS. All data are integers from -4 to 4,
// so that every sum is exact in f32 in any order; the product is computed here once a size by integer
// arithmetic, the epilogue for each comparison. Data races show as elements that differ in some launches: each line of
// the summary says in how many. Exits with 1 after a difference or where nothing ran.
#include "dsl.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

using bf16 = __nv_bfloat16;

static void die(const char *what, const char *why)
{
	std::printf("soak: %s: %s\n", what, why);
	std::exit(1);
}

#define CUDA(call)                                                                                 \
	do {                                                                                       \
		cudaError_t e_ = (call);                                                           \
		if (e_ != cudaSuccess)                                                             \
			die(#call, cudaGetErrorString(e_));                                        \
	} while (0)

// ------------------------------------------------------------------ data and the product
__device__ inline unsigned mix(unsigned long long z)
{
	z += 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return unsigned(z ^ (z >> 31));
}

__global__ void fill(bf16 *p, size_t n, unsigned long long seed)
{
	size_t step = size_t(gridDim.x) * blockDim.x;
	for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
		p[i] = __float2bfloat16(float(int(mix(seed * 0x100000001ull + i) % 9) - 4));
}

// acc = A B', 64x64 elements a CTA of 256 threads, all of them integers below 2^24.
__global__ void product(const bf16 *A, const bf16 *B, int *acc, int M, int N, int K)
{
	__shared__ int a[16][65], b[16][65];
	int m0 = blockIdx.y * 64, n0 = blockIdx.x * 64, x = threadIdx.x % 16, y = threadIdx.x / 16;
	int sum[4][4] = {};
	for (int k0 = 0; k0 < K; k0 += 16) {
		for (int i = threadIdx.x; i < 64 * 16; i += 256) {
			int r = i / 16, k = i % 16;
			bool in = k0 + k < K;
			a[k][r] = in && m0 + r < M ? int(__bfloat162float(A[size_t(m0 + r) * K + k0 + k])) : 0;
			b[k][r] = in && n0 + r < N ? int(__bfloat162float(B[size_t(n0 + r) * K + k0 + k])) : 0;
		}
		__syncthreads();
		for (int k = 0; k < 16; k++)
			for (int i = 0; i < 4; i++)
				for (int j = 0; j < 4; j++)
					sum[i][j] += a[k][y + 16 * i] * b[k][x + 16 * j];
		__syncthreads();
	}
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			if (m0 + y + 16 * i < M && n0 + x + 16 * j < N)
				acc[size_t(m0 + y + 16 * i) * N + n0 + x + 16 * j] = sum[i][j];
}

// ------------------------------------------------------------------ the epilogues of soak_cases.sh
enum Epilogue { ACC, C, BLEND, RELU, CMAX, TWICE, BIAS, VECTORS, EPILOGUES };
static const char *const epilogue_names[] = {"acc", "c", "blend", "relu", "cmax", "twice", "bias", "vectors"};
static const float alpha = 2, beta = -3;

// Whether C is read as a matrix; else its first elements are the vectors.
__host__ __device__ inline bool reads_c(int what)
{
	return what != ACC && what != BIAS && what != VECTORS;
}

__device__ inline float epilogue(int what, float acc, float c, float scale)
{
	switch (what) {
	case C: return acc + c;
	case BLEND: return 2.0f * acc + -3.0f * c;
	case RELU: return fmaxf(acc + c, 0.0f);
	case CMAX: return fmaxf(acc, c);
	case TWICE: return (acc + c) * 2 - c;
	case BIAS: return acc + c;
	case VECTORS: return scale * acc + c;
	default: return acc;
	}
}

enum Output { BF16, F16, F32, OUTPUTS };
static const char *const output_names[] = {"bf16", "f16", "f32"};
static const int output_bytes[] = {2, 2, 4};

__device__ inline bool equal(const void *d, size_t i, int type, float want)
{
	if (type == BF16)
		return ((const unsigned short *)d)[i] == __bfloat16_as_ushort(__float2bfloat16(want));
	if (type == F16)
		return ((const unsigned short *)d)[i] == __half_as_ushort(__float2half(want));
	return ((const unsigned *)d)[i] == __float_as_uint(want);
}

__global__ void compare(const int *acc, const bf16 *c, const void *d, size_t n, int columns, int what, int type,
			unsigned long long *bad)
{
	size_t step = size_t(gridDim.x) * blockDim.x;
	unsigned long long wrong = 0;
	for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
		float x = __bfloat162float(c[reads_c(what) ? i : i % columns]);
		float row = __bfloat162float(c[i / columns]);
		wrong += !equal(d, i, type, epilogue(what, float(acc[i]), x, row));
	}
	if (wrong)
		atomicAdd(bad, wrong);
}

// ------------------------------------------------------------------ sizes
struct Size {
	int M, N, K;
};

// Thousands of tiles, residues in each direction, short and long sums; N odd only without C.
static const Size sizes[] = {{4096, 4096, 4096}, {8192, 14336, 4096}, {2048, 8192, 2048}, {8192, 8192, 256},
			     {16384, 4096, 64},  {4095, 4104, 1032},  {4000, 5000, 520},   {3001, 4097, 776}};
static const size_t guard = 1 << 16;

struct Problem {
	Size n;
	bf16 *A, *B, *C;
	bf16 *At, *Bt; // the same, contiguous along M and N; columns are a multiple of 8 elements apart
	int *acc;
	char *out; // guard, output, guard
	size_t count;
};

static size_t pitch(int n)
{
	return (size_t(n) + 7) / 8 * 8;
}

__global__ void turn(const bf16 *from, bf16 *to, int rows, int cols, size_t pitch)
{
	size_t step = size_t(gridDim.x) * blockDim.x;
	for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < size_t(rows) * cols; i += step)
		to[i % cols * pitch + i / cols] = from[i];
}

static Problem make_problem(Size n, int seed)
{
	Problem p{n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, size_t(n.M) * n.N};
	size_t a = size_t(n.M) * n.K, b = size_t(n.N) * n.K;
	CUDA(cudaMalloc(&p.A, a * 2));
	CUDA(cudaMalloc(&p.B, b * 2));
	CUDA(cudaMalloc(&p.C, p.count * 2));
	CUDA(cudaMalloc(&p.At, pitch(n.M) * n.K * 2));
	CUDA(cudaMalloc(&p.Bt, pitch(n.N) * n.K * 2));
	CUDA(cudaMalloc(&p.acc, p.count * 4));
	CUDA(cudaMalloc(&p.out, p.count * 4 + 2 * guard));
	fill<<<1024, 256>>>(p.A, a, seed * 3 + 1);
	fill<<<1024, 256>>>(p.B, b, seed * 3 + 2);
	fill<<<1024, 256>>>(p.C, p.count, seed * 3 + 3);
	turn<<<2048, 256>>>(p.A, p.At, n.M, n.K, pitch(n.M));
	turn<<<2048, 256>>>(p.B, p.Bt, n.N, n.K, pitch(n.N));
	product<<<dim3((n.N + 63) / 64, (n.M + 63) / 64), 256>>>(p.A, p.B, p.acc, n.M, n.N, n.K);
	CUDA(cudaDeviceSynchronize());
	return p;
}

static void drop_problem(Problem &p)
{
	for (void *x : {(void *)p.A, (void *)p.B, (void *)p.C, (void *)p.At, (void *)p.Bt, (void *)p.acc, (void *)p.out})
		CUDA(cudaFree(x));
}

// ------------------------------------------------------------------ kernels
struct Kernel {
	std::string name;
	int what, type;
	std::string majors;
	dsl_module *mod;
	int pairs = 0, wrong_pairs = 0, launches = 0, wrong_launches = 0;
	unsigned long long most = 0; // wrong elements of one launch
};

static int find(const char *const *names, int n, const std::string &name)
{
	for (int i = 0; i < n; i++)
		if (name == names[i])
			return i;
	die("no such word in soak.txt", name.c_str());
	return -1;
}

static std::vector<Kernel> read_kernels(dsl_device *dev, const std::string &dir, const std::string &only)
{
	std::vector<Kernel> all;
	std::ifstream list(dir + "/soak.txt");
	std::string name, what, type, majors;
	while (list >> name >> what >> type >> majors) {
		if (!only.empty() && name != only)
			continue;
		Kernel k{name, find(epilogue_names, EPILOGUES, what), find(output_names, OUTPUTS, type), majors,
			 nullptr};
		if (dsl_module_load(dev, (dir + "/" + name + ".cubin").c_str(), &k.mod))
			die(name.c_str(), dsl_detail());
		all.push_back(k);
	}
	return all;
}

static dsl_status launch(const Kernel &k, const Problem &p)
{
	bool m_major = k.majors[0] == 'm', n_major = k.majors[1] == 'n';
	dsl_arg args[11] = {dsl_arg_ptr("A", (dsl_addr)(m_major ? p.At : p.A)),
			   dsl_arg_ptr("B", (dsl_addr)(n_major ? p.Bt : p.B)),
			   dsl_arg_ptr("D", (dsl_addr)(p.out + guard)), dsl_arg_int("M", p.n.M),
			   dsl_arg_int("N", p.n.N), dsl_arg_int("K", p.n.K)};
	int n = 6;
	if (m_major)
		args[n++] = dsl_arg_int("lda", pitch(p.n.M));
	if (n_major)
		args[n++] = dsl_arg_int("ldb", pitch(p.n.N));
	if (reads_c(k.what))
		args[n++] = dsl_arg_ptr("C", (dsl_addr)p.C);
	if (k.what == BIAS || k.what == VECTORS)
		args[n++] = dsl_arg_ptr("bias", (dsl_addr)p.C);
	if (k.what == VECTORS)
		args[n++] = dsl_arg_ptr("scale", (dsl_addr)p.C);
	if (k.what == BLEND) {
		args[n++] = dsl_arg_float("alpha", alpha);
		args[n++] = dsl_arg_float("beta", beta);
	}
	return dsl_launch(k.mod, "soak", args, n, nullptr, nullptr);
}

// Bytes around the output that are not the poison.
__global__ void guards(const char *out, size_t bytes, size_t size, unsigned long long *bad)
{
	size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
	if (i < size && (out[i] != char(0xff) || out[size + bytes + i] != char(0xff)))
		atomicAdd(bad, 1);
}

static void run(Kernel &k, const Problem &p, int launches, unsigned long long *bad)
{
	size_t bytes = p.count * output_bytes[k.type];
	bool wrong = false;
	for (int i = 0; i < launches; i++) {
		CUDA(cudaMemsetAsync(bad, 0, sizeof *bad));
		CUDA(cudaMemsetAsync(p.out, 0xff, bytes + 2 * guard));
		if (launch(k, p))
			die(k.name.c_str(), dsl_detail());
		compare<<<2048, 256>>>(p.acc, p.C, p.out + guard, p.count, p.n.N, k.what, k.type, bad);
		guards<<<(guard + 255) / 256, 256>>>(p.out, bytes, guard, bad);
		CUDA(cudaDeviceSynchronize());
		k.launches++;
		k.wrong_launches += *bad != 0;
		k.most = *bad > k.most ? *bad : k.most;
		wrong |= *bad != 0;
	}
	k.pairs++;
	k.wrong_pairs += wrong;
}

static const char *argument(int argc, char **argv, const char *name, const char *otherwise)
{
	for (int i = 2; i + 1 < argc; i++)
		if (std::strcmp(argv[i], name) == 0)
			return argv[i + 1];
	return otherwise;
}

static int summary(const std::vector<Kernel> &all)
{
	int pairs = 0, wrong = 0, launches = 0, wrong_launches = 0;
	for (auto &k : all) {
		pairs += k.pairs, wrong += k.wrong_pairs;
		launches += k.launches, wrong_launches += k.wrong_launches;
		if (k.wrong_pairs)
			std::printf("WRONG %s %s %s %s: %d of %d sizes, %d of %d launches, up to %llu elements\n",
				    k.name.c_str(), epilogue_names[k.what], output_names[k.type], k.majors.c_str(),
				    k.wrong_pairs, k.pairs, k.wrong_launches, k.launches, k.most);
	}
	std::printf("soak: %zu kernels, %d of %d kernels and sizes wrong, %d of %d launches wrong\n", all.size(),
		    wrong, pairs, wrong_launches, launches);
	return wrong || !launches;
}

int main(int argc, char **argv)
{
	dsl_device *dev;
	unsigned long long *bad;
	if (argc < 2)
		die("usage", "soak DIR [--launches N] [--only NAME]");
	int launches = std::atoi(argument(argc, argv, "--launches", "8"));
	if (dsl_device_open("cuda:0", &dev))
		die("cuda:0", dsl_detail());
	CUDA(cudaHostAlloc(&bad, sizeof *bad, cudaHostAllocMapped));
	auto kernels = read_kernels(dev, argv[1], argument(argc, argv, "--only", ""));
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		Problem p = make_problem(sizes[s], int(s));
		for (auto &k : kernels)
			if (!reads_c(k.what) || p.n.N % 8 == 0)
				run(k, p, launches, bad);
		drop_problem(p);
		std::fflush(stdout);
	}
	return summary(kernels);
}
