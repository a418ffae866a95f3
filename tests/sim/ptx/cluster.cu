// A sum over a cluster of four blocks through distributed shared memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const int *in, int *out)
{
	__shared__ int sum;
	cg::cluster_group cluster = cg::this_cluster();
	int v = in[blockIdx.x * blockDim.x + threadIdx.x];
	if (threadIdx.x == 0)
		sum = 0;
	__syncthreads();
	atomicAdd(&sum, v);
	cluster.sync();
	if (cluster.block_rank() == 0 && threadIdx.x == 0) {
		int total = 0;
		for (unsigned r = 0; r < cluster.num_blocks(); r++)
			total += *cluster.map_shared_rank(&sum, r);
		out[blockIdx.x / cluster.num_blocks()] = total;
	}
	cluster.sync();
}
