// cuda::barrier and a bulk copy: each block takes 1024 ints, adds 1, writes them back by a bulk store.
#include <cuda/barrier>
#include <cuda/ptx>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace ptx = cuda::ptx;
extern "C" __global__ void bulk_add(int *data)
{
	__shared__ alignas(128) int tile[1024];
#pragma nv_diag_suppress static_var_with_dynamic_init
	__shared__ barrier bar;
	int *from = data + blockIdx.x * 1024;
	barrier::arrival_token token;
	if (threadIdx.x == 0) {
		init(&bar, blockDim.x);
		ptx::fence_proxy_async(ptx::space_shared);
	}
	__syncthreads();
	if (threadIdx.x == 0) {
		cuda::memcpy_async(tile, from, cuda::aligned_size_t<16>(sizeof tile), bar);
		token = bar.arrive();
	} else {
		token = bar.arrive();
	}
	bar.wait(std::move(token));
	for (int i = threadIdx.x; i < 1024; i += blockDim.x)
		tile[i] += 1;
	ptx::fence_proxy_async(ptx::space_shared);
	__syncthreads();
	if (threadIdx.x == 0) {
		ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, from, tile, sizeof tile);
		ptx::cp_async_bulk_commit_group();
		ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
	}
}
