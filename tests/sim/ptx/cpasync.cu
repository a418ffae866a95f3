// C = A B in f32, 32 x 32 tiles, cp.async into two buffers; n a multiple of 32.
#include <cuda_pipeline.h>
extern "C" __global__ void cpasync_gemm(const float *A, const float *B, float *C, int n)
{
	__shared__ alignas(16) float a[2][32][32], b[2][32][32];
	int t = threadIdx.x, row = blockIdx.y * 32, col = blockIdx.x * 32, r = t / 8, c = t % 8 * 4;
	float sum[4] = {0, 0, 0, 0};
	auto fetch = [&](int k, int s) {
		__pipeline_memcpy_async(&a[s][r][c], A + (row + r) * n + k + c, 16);
		__pipeline_memcpy_async(&b[s][r][c], B + (k + r) * n + col + c, 16);
		__pipeline_commit();
	};
	fetch(0, 0);
	for (int k = 0, s = 0; k < n; k += 32, s ^= 1) {
		if (k + 32 < n) {
			fetch(k + 32, s ^ 1);
			__pipeline_wait_prior(1);
		} else {
			__pipeline_wait_prior(0);
		}
		__syncthreads();
		for (int i = 0; i < 32; i++)
			for (int j = 0; j < 4; j++)
				sum[j] += a[s][r][i] * b[s][i][c + j];
		__syncthreads();
	}
	for (int j = 0; j < 4; j++)
		C[(row + r) * n + col + c + j] = sum[j];
}
