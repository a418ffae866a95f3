// soak.cu - many kernels at real sizes, launched again and again, whole outputs compared bit for bit.
//   nvcc -std=c++17 -O2 -arch=sm_90a soak.cu -I../../runtime -L DIR -ldsl_runtime -ldl
//   soak DIR [--launches 8] [--only NAME]
// DIR/soak.txt (soak_cases.sh) has a line a kernel: NAME EPILOGUE OUTPUT MAJORS BM BN. All data are integers from -4 to 4,
// so that every sum is exact in f32 in any order; the products are computed here once a size by integer
// arithmetic, the epilogue for each comparison. Data races show as elements that differ in some launches: each line of
// the summary says in how many. Exits with 1 after a difference or where nothing ran.
#include "dsl.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
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
enum Epilogue { ACC, C, BLEND, RELU, CMAX, TWICE, BIAS, VECTORS, PLACE, TWO, GATE, JOINS, PARTS, LINES, EPILOGUES };
static const char *const epilogue_names[] = {"acc",  "c",     "blend", "relu", "cmax",  "twice", "bias",
					     "vectors", "place", "two",   "gate", "joins", "parts", "lines"};
static const float alpha = 2, beta = -3;

// Whether C is read as a matrix; else its first elements are the vectors.
__host__ __device__ inline bool reads_c(int what)
{
	return (what >= C && what <= TWICE) || what == PLACE || what == TWO;
}

// What an epilogue is computed from: products, C, and the largest of each row and column of a tile.
struct From {
	const int *acc, *up;
	const bf16 *c;
	const int *row_most, *col_most;
	int M, N, bM, bN;
};

enum Output { BF16, F16, F32, S8, E4M3, OUTPUTS };
static const char *const output_names[] = {"bf16", "f16", "f32", "s8", "e4m3"};
static const int output_bytes[] = {2, 2, 4, 1, 1};

__host__ __device__ inline unsigned bits_of(float x, int type)
{
	switch (type) {
	case BF16: return __bfloat16_as_ushort(__float2bfloat16(x));
	case F16: return __half_as_ushort(__float2half(x));
	case S8: return (unsigned char)(signed char)fminf(fmaxf(rintf(x), -128.0f), 127.0f);
	case E4M3: return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
	default: break;
	}
	union { float f; unsigned u; } w = {x};
	return w.u;
}

__device__ inline float float_of(unsigned bits, int type)
{
	switch (type) {
	case BF16: return __bfloat162float(__ushort_as_bfloat16((unsigned short)bits));
	case F16: return __half2float(__ushort_as_half((unsigned short)bits));
	case S8: return (float)(signed char)bits;
	case E4M3: return __half2float(__half(__nv_cvt_fp8_to_halfraw((unsigned char)bits, __NV_E4M3)));
	default: return __uint_as_float(bits);
	}
}

__device__ inline float epilogue(const From &f, int what, int type, size_t m, size_t n)
{
	size_t i = m * f.N + n;
	float acc = float(f.acc[i]), c = __bfloat162float(f.c[reads_c(what) ? i : n]);
	switch (what) {
	case C: case BIAS: case TWO: return acc + c;
	case BLEND: return 2.0f * acc + -3.0f * c;
	case RELU: return fmaxf(acc + c, 0.0f);
	case CMAX: return fmaxf(acc, c);
	case TWICE: return (acc + c) * 2 - c;
	case VECTORS: return __bfloat162float(f.c[m]) * acc + c;
	case PLACE: return acc + float_of(bits_of(c, type), type);
	case GATE: return fmaxf(acc, 0.0f) * float(f.up[i]);
	case LINES:
		return acc - f.col_most[m / f.bM * f.N + n] + f.row_most[n / f.bN * f.M + m];
	default: return acc;
	}
}

__device__ inline unsigned load_bits(const void *d, size_t i, int bytes)
{
	return bytes == 4   ? ((const unsigned *)d)[i]
	       : bytes == 2 ? ((const unsigned short *)d)[i]
			    : ((const unsigned char *)d)[i];
}

// Where D, or E, has (m,n): pitch elements from row to row, or from column to column where it is 0.
__host__ __device__ inline size_t place_of(size_t m, size_t n, size_t row, size_t col)
{
	return m * row + n * col;
}

__global__ void compare(From f, const void *d, size_t row, size_t col, int what, int type, int bytes, int second,
			unsigned long long *bad)
{
	size_t step = size_t(gridDim.x) * blockDim.x, all = size_t(f.M) * f.N;
	unsigned long long wrong = 0;
	for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < all; i += step) {
		size_t m = i / f.N, n = i % f.N;
		float want = second ? float(f.acc[i]) - __bfloat162float(f.c[i]) : epilogue(f, what, type, m, n);
		wrong += load_bits(d, place_of(m, n, row, col), bytes) != bits_of(want, type);
	}
	if (wrong)
		atomicAdd(bad, wrong);
}

// What D holds before a kernel that adds to it in place.
__global__ void put_c(From f, void *d, size_t row, size_t col, int type, int bytes)
{
	size_t step = size_t(gridDim.x) * blockDim.x, all = size_t(f.M) * f.N;
	for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < all; i += step) {
		unsigned bits = bits_of(__bfloat162float(f.c[i]), type);
		size_t at = place_of(i / f.N, i % f.N, row, col);
		if (bytes == 4)
			((unsigned *)d)[at] = bits;
		else if (bytes == 2)
			((unsigned short *)d)[at] = (unsigned short)bits;
		else
			((unsigned char *)d)[at] = (unsigned char)bits;
	}
}

// ------------------------------------------------------------------ values for rows and columns
// Of each row and each column: how many are above 0; of all: the largest size.
__global__ void count_lines(const int *acc, int M, int N, float *rows, float *cols, unsigned *most)
{
	size_t step = size_t(gridDim.x) * blockDim.x, all = size_t(M) * N;
	for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < all; i += step) {
		if (acc[i] > 0)
			atomicAdd(&rows[i / N], 1.0f), atomicAdd(&cols[i % N], 1.0f);
		atomicMax(most, (unsigned)abs(acc[i]));
	}
}

// The largest of each row and column of a tile.
__global__ void most_of_lines(const int *acc, int M, int N, int bM, int bN, int *row_most, int *col_most)
{
	size_t step = size_t(gridDim.x) * blockDim.x, all = size_t(M) * N;
	for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < all; i += step) {
		int m = int(i / N), n = int(i % N);
		atomicMax(&row_most[size_t(n / bN) * M + m], acc[i]);
		atomicMax(&col_most[size_t(m / bM) * N + n], acc[i]);
	}
}

// Parts, `parts` of them `apart` elements from each other, that add up to what is wanted.
__global__ void compare_parts(const float *d, const float *want, int n, int parts, size_t apart, unsigned long long *bad)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (int p = 0; i < n && p < parts; p++)
		sum += d[size_t(p) * apart + i];
	if (i < n && !(sum == want[i]))
		atomicAdd(bad, 1);
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
	bf16 *A, *B, *C, *U;
	bf16 *At, *Bt; // the same, contiguous along M and N; columns are a multiple of 8 elements apart
	int *acc, *up;
	float *rows, *cols;          // how many of each are above 0
	unsigned *most;              // the largest size
	int *row_most, *col_most;    // of each tile
	float *row_parts, *col_parts; // what a kernel writes
	char *out, *second;          // guard, output, guard
	size_t count, row_room, col_room;
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

template <typename T> static void allocate(T **p, size_t bytes)
{
	CUDA(cudaMalloc((void **)p, bytes));
}

static size_t out_bytes(const Problem &p)
{
	return pitch(p.n.M) * pitch(p.n.N) * 4;
}

static void fill_problem(Problem &p, int seed)
{
	Size n = p.n;
	size_t a = size_t(n.M) * n.K, b = size_t(n.N) * n.K;
	dim3 tiles((n.N + 63) / 64, (n.M + 63) / 64);
	fill<<<1024, 256>>>(p.A, a, seed * 4 + 1);
	fill<<<1024, 256>>>(p.B, b, seed * 4 + 2);
	fill<<<1024, 256>>>(p.C, p.count, seed * 4 + 3);
	fill<<<1024, 256>>>(p.U, b, seed * 4 + 4);
	turn<<<2048, 256>>>(p.A, p.At, n.M, n.K, pitch(n.M));
	turn<<<2048, 256>>>(p.B, p.Bt, n.N, n.K, pitch(n.N));
	product<<<tiles, 256>>>(p.A, p.B, p.acc, n.M, n.N, n.K);
	product<<<tiles, 256>>>(p.A, p.U, p.up, n.M, n.N, n.K);
	CUDA(cudaMemset(p.rows, 0, size_t(n.M) * 4));
	CUDA(cudaMemset(p.cols, 0, size_t(n.N) * 4));
	CUDA(cudaMemset(p.most, 0, 4));
	count_lines<<<2048, 256>>>(p.acc, n.M, n.N, p.rows, p.cols, p.most);
	CUDA(cudaDeviceSynchronize());
}

// Tiles have 32 columns and 64 rows at least.
static Problem make_problem(Size n, int seed)
{
	Problem p{};
	p.n = n;
	p.count = size_t(n.M) * n.N;
	p.row_room = size_t(n.M) * (n.N / 32 + 1) * 4;
	p.col_room = size_t(n.N) * (n.M / 64 + 1) * 4;
	size_t a = size_t(n.M) * n.K, b = size_t(n.N) * n.K;
	allocate(&p.A, a * 2), allocate(&p.B, b * 2), allocate(&p.U, b * 2), allocate(&p.C, p.count * 2);
	allocate(&p.At, pitch(n.M) * n.K * 2), allocate(&p.Bt, pitch(n.N) * n.K * 2);
	allocate(&p.acc, p.count * 4), allocate(&p.up, p.count * 4);
	allocate(&p.rows, size_t(n.M) * 4), allocate(&p.cols, size_t(n.N) * 4), allocate(&p.most, 4);
	allocate(&p.row_most, p.row_room), allocate(&p.col_most, p.col_room);
	allocate(&p.row_parts, p.row_room), allocate(&p.col_parts, p.col_room);
	allocate(&p.out, out_bytes(p) + 2 * guard), allocate(&p.second, pitch(n.M) * n.N * 2 + 2 * guard);
	fill_problem(p, seed);
	return p;
}

static void drop_problem(Problem &p)
{
	for (void *x : {(void *)p.A, (void *)p.B, (void *)p.U, (void *)p.C, (void *)p.At, (void *)p.Bt, (void *)p.acc,
			(void *)p.up, (void *)p.rows, (void *)p.cols, (void *)p.most, (void *)p.row_most,
			(void *)p.col_most, (void *)p.row_parts, (void *)p.col_parts, (void *)p.out, (void *)p.second})
		CUDA(cudaFree(x));
}

// ------------------------------------------------------------------ kernels
struct Kernel {
	std::string name;
	int what, type;
	std::string majors;
	int bM, bN;
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
	int bM, bN;
	while (list >> name >> what >> type >> majors >> bM >> bN) {
		if (!only.empty() && name != only)
			continue;
		Kernel k{name, find(epilogue_names, EPILOGUES, what), find(output_names, OUTPUTS, type), majors,
			 bM, bN, nullptr};
		if (dsl_module_load(dev, (dir + "/" + name + ".cubin").c_str(), &k.mod))
			die(name.c_str(), dsl_detail());
		all.push_back(k);
	}
	return all;
}

static int tiles(int n, int b)
{
	return (n + b - 1) / b;
}

// Elements from row to row, and from column to column, of D.
static size_t row_pitch(const Kernel &k, const Problem &p)
{
	return k.majors[2] == 'm' ? 1 : p.n.N;
}

static size_t col_pitch(const Kernel &k, const Problem &p)
{
	return k.majors[2] == 'm' ? pitch(p.n.M) : 1;
}

// All that some kernel takes; a kernel gets those that its manifest names.
static dsl_status launch(const Kernel &k, const Problem &p)
{
	bool m_major = k.majors[0] == 'm', n_major = k.majors[1] == 'n';
	float *rows = p.row_parts, *cols = p.col_parts;
	const dsl_arg every[] = {dsl_arg_ptr("A", (dsl_addr)(m_major ? p.At : p.A)),
				 dsl_arg_ptr("B", (dsl_addr)(n_major ? p.Bt : p.B)),
				 dsl_arg_ptr("D", (dsl_addr)(p.out + guard)), dsl_arg_ptr("E", (dsl_addr)(p.second + guard)),
				 dsl_arg_ptr("C", (dsl_addr)p.C), dsl_arg_ptr("U", (dsl_addr)p.U),
				 dsl_arg_ptr("bias", (dsl_addr)p.C), dsl_arg_ptr("scale", (dsl_addr)p.C),
				 dsl_arg_ptr("rows", (dsl_addr)rows), dsl_arg_ptr("cols", (dsl_addr)cols),
				 dsl_arg_ptr("top", (dsl_addr)(p.second + guard)),
				 dsl_arg_int("M", p.n.M), dsl_arg_int("N", p.n.N), dsl_arg_int("K", p.n.K),
				 dsl_arg_int("lda", pitch(p.n.M)), dsl_arg_int("ldb", pitch(p.n.N)),
				 dsl_arg_int("ldd", pitch(p.n.M)), dsl_arg_int("lde", pitch(p.n.M)),
				 dsl_arg_int("T", tiles(p.n.N, k.bN)), dsl_arg_int("H", tiles(p.n.M, k.bM)),
				 dsl_arg_float("alpha", alpha), dsl_arg_float("beta", beta)};
	std::vector<dsl_arg> args;
	for (const dsl_arg &a : every)
		if (std::strstr(dsl_module_manifest(k.mod), ("\"" + std::string(a.name) + "\"").c_str()))
			args.push_back(a);
	return dsl_launch(k.mod, "soak", args.data(), args.size(), nullptr, nullptr);
}

// Bytes around the output that are not the poison.
__global__ void guards(const char *out, size_t bytes, size_t size, unsigned long long *bad)
{
	size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
	if (i < size && (out[i] != char(0xff) || out[size + bytes + i] != char(0xff)))
		atomicAdd(bad, 1);
}

// ------------------------------------------------------------------ before and after a launch
static From inputs_of(const Kernel &k, const Problem &p)
{
	return {p.acc, p.up, p.C, p.row_most, p.col_most, p.n.M, p.n.N, k.bM, k.bN};
}

// Poison where a kernel writes, 0 where it joins.
static void prepare(const Kernel &k, const Problem &p, size_t bytes)
{
	int lines = k.what == JOINS ? 0 : 0xff;
	CUDA(cudaMemsetAsync(p.out, 0xff, bytes + 2 * guard));
	CUDA(cudaMemsetAsync(p.second, lines, pitch(p.n.M) * p.n.N * 2 + 2 * guard));
	CUDA(cudaMemsetAsync(p.row_parts, lines, p.row_room));
	CUDA(cudaMemsetAsync(p.col_parts, lines, p.col_room));
	if (k.what == PLACE)
		put_c<<<2048, 256>>>(inputs_of(k, p), p.out + guard, row_pitch(k, p), col_pitch(k, p), k.type,
				     output_bytes[k.type]);
}

__global__ void compare_most(const float *d, const unsigned *most, unsigned long long *bad)
{
	if (*d != float(*most))
		atomicAdd(bad, 1);
}

static void check(const Kernel &k, const Problem &p, size_t bytes, unsigned long long *bad)
{
	bool joins = k.what == JOINS, parts = joins || k.what == PARTS;
	int T = joins ? 1 : tiles(p.n.N, k.bN), H = joins ? 1 : tiles(p.n.M, k.bM);
	From from = inputs_of(k, p);
	compare<<<2048, 256>>>(from, p.out + guard, row_pitch(k, p), col_pitch(k, p), k.what, k.type,
			       output_bytes[k.type], 0, bad);
	guards<<<(guard + 255) / 256, 256>>>(p.out, bytes, guard, bad);
	if (k.what == TWO)
		compare<<<2048, 256>>>(from, p.second + guard, 1, pitch(p.n.M), k.what, F16, 2, 1, bad);
	if (parts)
		compare_parts<<<tiles(p.n.M, 256), 256>>>(p.row_parts, p.rows, p.n.M, T, p.n.M, bad);
	if (parts)
		compare_parts<<<tiles(p.n.N, 256), 256>>>(p.col_parts, p.cols, p.n.N, H, p.n.N, bad);
	if (joins)
		compare_most<<<1, 1>>>((const float *)(p.second + guard), p.most, bad);
}

static void run(Kernel &k, const Problem &p, int launches, unsigned long long *bad)
{
	size_t columns = k.majors[2] == 'm' ? pitch(p.n.M) * p.n.N : p.count, bytes = columns * output_bytes[k.type];
	bool wrong = false;
	if (k.what == LINES) {
		CUDA(cudaMemset(p.row_most, 0x80, p.row_room)); // far below 0
		CUDA(cudaMemset(p.col_most, 0x80, p.col_room));
		most_of_lines<<<2048, 256>>>(p.acc, p.n.M, p.n.N, k.bM, k.bN, p.row_most, p.col_most);
	}
	for (int i = 0; i < launches; i++) {
		CUDA(cudaMemsetAsync(bad, 0, sizeof *bad));
		prepare(k, p, bytes);
		if (launch(k, p))
			die(k.name.c_str(), dsl_detail());
		check(k, p, bytes, bad);
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
			if (!reads_c(k.what) || k.what == PLACE || p.n.N % 8 == 0)
				run(k, p, launches, bad);
		drop_problem(p);
		std::fflush(stdout);
	}
	return summary(kernels);
}
