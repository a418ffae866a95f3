/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sm80.cu - what tests/gpu/sm80/sm80.py times beside us: CUTLASS's multistage kernels for sm_80 in
 * its usual tiles, and the simplest product that CuTe can say, global memory to registers. A is
 * (M,K):(K,1), B (N,K):(K,1), D (M,N):(N,1), all of f16; M, N and K are multiples of 256. */
#include <cute/tensor.hpp>
#include <cutlass/gemm/device/gemm.h>
#include <cutlass/gemm/threadblock/threadblock_swizzle.h>

using Half = cutlass::half_t;

struct Problem {
	const void *a, *b;
	void *d;
	int m, n, k;
	cudaStream_t stream;
};

using Run = int (*)(const Problem &);

struct Row {
	const char *name;
	Run run;
};

/* ------------------------------------------------------------------ CUTLASS, multistage */
template <int M, int N, int K, int WM, int WN, int S, int G> int multi(const Problem &p)
{
	using namespace cutlass;
	using Gemm = gemm::device::Gemm<
		Half, layout::RowMajor, Half, layout::ColumnMajor, Half, layout::RowMajor, float,
		arch::OpClassTensorOp, arch::Sm80, gemm::GemmShape<M, N, K>,
		gemm::GemmShape<WM, WN, K>, gemm::GemmShape<16, 8, 16>,
		epilogue::thread::LinearCombination<Half, 8, float, float,
						    epilogue::thread::ScaleType::OnlyAlphaScaling>,
		gemm::threadblock::GemmIdentityThreadblockSwizzle<G>, S>;
	auto a = static_cast<const Half *>(p.a), b = static_cast<const Half *>(p.b);
	auto d = static_cast<Half *>(p.d);
	Gemm gemm;
	typename Gemm::Arguments args({p.m, p.n, p.k}, {a, p.k}, {b, p.k}, {d, p.n}, {d, p.n},
				      {1.0f, 0.0f});
	Status status = gemm.initialize(args, nullptr, p.stream);
	return status == Status::kSuccess ? (int)gemm.run(p.stream) : (int)status;
}

/* ------------------------------------------------------------------ CuTe, no shared memory */
template <class Mma, int M, int N, int K>
__global__ void straight(const cute::half_t *a, const cute::half_t *b, cute::half_t *d, int m,
			int n, int k)
{
	using namespace cute;
	auto A = make_tensor(make_gmem_ptr(a), make_shape(m, k), make_stride(k, Int<1>{}));
	auto B = make_tensor(make_gmem_ptr(b), make_shape(n, k), make_stride(k, Int<1>{}));
	auto D = make_tensor(make_gmem_ptr(d), make_shape(m, n), make_stride(n, Int<1>{}));
	auto tileA = local_tile(A, Shape<Int<M>, Int<K>>{}, make_coord(blockIdx.y, _));
	auto tileB = local_tile(B, Shape<Int<N>, Int<K>>{}, make_coord(blockIdx.x, _));
	auto tileD = local_tile(D, Shape<Int<M>, Int<N>>{}, make_coord(blockIdx.y, blockIdx.x));
	auto mine = Mma{}.get_slice(threadIdx.x);
	auto fromA = mine.partition_A(tileA);
	auto fromB = mine.partition_B(tileB);
	auto toD = mine.partition_C(tileD);
	auto rA = mine.partition_fragment_A(tileA(_, _, 0));
	auto rB = mine.partition_fragment_B(tileB(_, _, 0));
	auto sums = mine.partition_fragment_C(tileD);
	clear(sums);
	for (int i = 0; i < size<2>(tileA); i++) {
		copy(fromA(_, _, _, i), rA);
		copy(fromB(_, _, _, i), rB);
		gemm(Mma{}, sums, rA, rB, sums);
	}
	copy(sums, toD);
}

template <int WM, int WN, int M, int N, int K> int simple(const Problem &p)
{
	using namespace cute;
	using Mma = decltype(make_tiled_mma(SM80_16x8x16_F16F16F16F16_TN{},
					    Layout<Shape<Int<WM>, Int<WN>, _1>>{},
					    Tile<Int<16 * WM>, Int<16 * WN>, _16>{}));
	dim3 grid(p.n / N, p.m / M);
	straight<Mma, M, N, K><<<grid, static_cast<int>(size(Mma{})), 0, p.stream>>>(
		static_cast<const cute::half_t *>(p.a), static_cast<const cute::half_t *>(p.b),
		static_cast<cute::half_t *>(p.d), p.m, p.n, p.k);
	return (int)cudaGetLastError();
}

/* ------------------------------------------------------------------ all of them */
static const Row rows[] = {
	{"multi.128x256x32.3", multi<128, 256, 32, 64, 64, 3, 8>},
	{"multi.128x256x32.4", multi<128, 256, 32, 64, 64, 4, 8>},
	{"multi.256x128x32.3", multi<256, 128, 32, 64, 64, 3, 8>},
	{"multi.256x128x32.4", multi<256, 128, 32, 64, 64, 4, 8>},
	{"multi.128x256x64.3", multi<128, 256, 64, 64, 64, 3, 8>},
	{"multi.256x128x64.3", multi<256, 128, 64, 64, 64, 3, 8>},
	{"multi.128x128x32.5", multi<128, 128, 32, 64, 64, 5, 8>},
	{"multi.128x128x64.4", multi<128, 128, 64, 64, 64, 4, 8>},
	{"simple.128x128x16", simple<2, 2, 128, 128, 16>},
	{"simple.128x128x32", simple<2, 2, 128, 128, 32>},
	{"simple.128x256x16", simple<2, 4, 128, 256, 16>},
	{"simple.128x256x32", simple<2, 4, 128, 256, 32>},
	{"simple.256x128x16", simple<4, 2, 256, 128, 16>},
};

extern "C" int sm80_count(void)
{
	return sizeof rows / sizeof *rows;
}

extern "C" const char *sm80_name(int i)
{
	return rows[i].name;
}

extern "C" int sm80_run(int i, const void *a, const void *b, void *d, int m, int n, int k,
			void *stream)
{
	return rows[i].run({a, b, d, m, n, k, static_cast<cudaStream_t>(stream)});
}
