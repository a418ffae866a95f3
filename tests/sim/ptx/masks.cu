// Warp operations by member mask: each result is of the threads that a thread's own mask names, also where
// several masks meet in one instruction. Rows of 32 results, one per operation.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void mask_halves(int *o)
{
	int l = threadIdx.x;
	unsigned m = l & 1 ? 0xaaaaaaaau : 0x55555555u;
	o[l] = __reduce_max_sync(m, l);
	o[32 + l] = __ballot_sync(m, 1);
	o[64 + l] = __any_sync(m, l == 0);
	o[96 + l] = __all_sync(m, l & 1);
	o[128 + l] = __match_any_sync(m, l / 4);
	o[160 + l] = __reduce_add_sync(m, 1);
	o[192 + l] = __shfl_xor_sync(m, l, 2);
}

extern "C" __global__ void mask_groups(int *o)
{
	int l = threadIdx.x;
	auto thirds = cg::labeled_partition(cg::coalesced_threads(), l % 3);
	o[l] = cg::reduce(thirds, l, cg::greater<int>());
	o[32 + l] = thirds.size();
	o[64 + l] = thirds.thread_rank();
	auto tile = cg::tiled_partition<8>(cg::this_thread_block());
	o[96 + l] = cg::reduce(tile, l, cg::plus<int>());
	o[128 + l] = tile.ballot(l & 1);
	o[160 + l] = tile.any(l == 9);
}

// One atomic for all threads that add to the same counter: o[b] counts, o[32 + l] is what thread l got.
extern "C" __global__ void mask_aggregate(int *o)
{
	int l = threadIdx.x, b = l % 5;
	if (l % 7 == 3)
		return;
	unsigned same = __match_any_sync(__activemask(), b);
	int leader = __ffs(same) - 1, before = __popc(same & ((1u << l) - 1)), base = 0;
	if (l == leader)
		base = atomicAdd(&o[b], __popc(same));
	o[32 + l] = __shfl_sync(same, base, leader) + before;
}
