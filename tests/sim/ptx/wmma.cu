// D = A B with wmma fragments, one warp a 16 x 16 tile; A row-major, B column-major, f16 to f32.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_gemm(const half *A, const half *B, float *D, int n, int k)
{
	int row = blockIdx.y * 16, col = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
	wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
	wmma::fill_fragment(c, 0.0f);
	for (int i = 0; i < k; i += 16) {
		wmma::load_matrix_sync(a, A + row * k + i, k);
		wmma::load_matrix_sync(b, B + col * k + i, k);
		wmma::mma_sync(c, a, b, c);
	}
	wmma::store_matrix_sync(D + row * n + col, c, n, wmma::mem_row_major);
}
