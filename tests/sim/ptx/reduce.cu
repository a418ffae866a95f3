// A sum of doubles: grid-stride loop, warp and block reduction, atomics in global memory; and a
// histogram with shared atomics.
extern "C" __global__ void reduce(const double *in, double *out, unsigned *bins, int n)
{
	__shared__ double part[32];
	__shared__ unsigned bin[16];
	double sum = 0;
	if (threadIdx.x < 16)
		bin[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		sum += in[i];
		atomicAdd(&bin[(int)in[i] & 15], 1u);
	}
	for (int d = 16; d; d /= 2)
		sum += __shfl_down_sync(~0u, sum, d);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = sum;
	__syncthreads();
	if (threadIdx.x < 32) {
		sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
		for (int d = 16; d; d /= 2)
			sum += __shfl_down_sync(~0u, sum, d);
		if (threadIdx.x == 0)
			atomicAdd(out, sum);
	}
	if (threadIdx.x < 16)
		atomicAdd(&bins[threadIdx.x], bin[threadIdx.x]);
}
