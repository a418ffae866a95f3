// y[r] = x[r] * w for rows of 128 floats, one row a block. The two blocks of a cluster share w: each
// fetches half of it and multicasts that half to both.
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr unsigned N = 128, CLUSTER = 2, PART = N / CLUSTER;

extern "C" __global__ void __cluster_dims__(CLUSTER) scale(const float *x, const float *w, float *y)
{
	__shared__ alignas(128) float row[N], weight[N];
	__shared__ uint64_t full;
	unsigned i = threadIdx.x, part = PART * ptx::get_sreg_cluster_ctarank();

	if (i == 0) {
		ptx::mbarrier_init(&full, 1);
		ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
	}
	ptx::barrier_cluster_arrive();
	ptx::barrier_cluster_wait();

	if (i == 0) {
		unsigned bytes = sizeof row + CLUSTER * sizeof weight;
		ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, bytes);
		ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, row, x + N * blockIdx.x, sizeof row, &full);
		ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, weight + part, w + part, PART * sizeof *w,
				   &full, (1 << CLUSTER) - 1);
	}
	while (!ptx::mbarrier_try_wait_parity(&full, 0))
		;
	row[i] *= weight[i];
	__syncthreads();

	if (i == 0) {
		ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, y + N * blockIdx.x, row, sizeof row);
		ptx::cp_async_bulk_commit_group();
		ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
	}
}
