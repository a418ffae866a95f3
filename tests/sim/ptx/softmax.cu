// Softmax of rows of 256, a warp a row, with shuffles.
extern "C" __global__ void softmax(const float *in, float *out, int rows)
{
	int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
	float v[8], most = -1e30f, sum = 0;
	if (row >= rows)
		return;
	for (int i = 0; i < 8; i++) {
		v[i] = in[row * 256 + i * 32 + lane];
		most = fmaxf(most, v[i]);
	}
	for (int d = 16; d; d /= 2)
		most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
	for (int i = 0; i < 8; i++)
		sum += v[i] = __expf(v[i] - most);
	for (int d = 16; d; d /= 2)
		sum += __shfl_xor_sync(~0u, sum, d);
	for (int i = 0; i < 8; i++)
		out[row * 256 + i * 32 + lane] = v[i] / sum;
}
