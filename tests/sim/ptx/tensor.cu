// A tensor map: each block copies a 32 x 8 tile of an f32 matrix, scales it, stores it by TMA.
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda.h>
namespace ptx = cuda::ptx;
extern "C" __global__ void tensor_scale(const __grid_constant__ CUtensorMap in,
					const __grid_constant__ CUtensorMap out, float by)
{
	__shared__ alignas(128) float tile[8][32];
	__shared__ alignas(8) uint64_t bar;
	int x = blockIdx.x * 32, y = blockIdx.y * 8;
	if (threadIdx.x == 0) {
		ptx::mbarrier_init(&bar, 1);
		ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
	}
	__syncthreads();
	if (threadIdx.x == 0) {
		int at[2] = {x, y};
		ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &in, at, &bar);
		ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar,
					       sizeof tile);
	}
	while (!ptx::mbarrier_try_wait_parity(&bar, 0))
		;
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		tile[i / 32][i % 32] *= by;
	ptx::fence_proxy_async(ptx::space_shared);
	__syncthreads();
	if (threadIdx.x == 0) {
		int at[2] = {x, y};
		ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at, tile);
		ptx::cp_async_bulk_commit_group();
		ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
	}
}
