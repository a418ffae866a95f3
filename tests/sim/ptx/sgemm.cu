// A tiled f32 GEMM: C[n,n] = A[n,n] B[n,n], 16 x 16 tiles in static shared memory.
extern "C" __global__ void sgemm(const float *A, const float *B, float *C, int n)
{
	__shared__ float a[16][16], b[16][17];
	int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
	float sum = 0;
	for (int k = 0; k < n; k += 16) {
		a[ty][tx] = row < n && k + tx < n ? A[row * n + k + tx] : 0;
		b[ty][tx] = col < n && k + ty < n ? B[(k + ty) * n + col] : 0;
		__syncthreads();
		for (int i = 0; i < 16; i++)
			sum += a[ty][i] * b[i][tx];
		__syncthreads();
	}
	if (row < n && col < n)
		C[row * n + col] = sum;
}
