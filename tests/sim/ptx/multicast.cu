// A ring of two tiles that rank 0 of a cluster fills in both CTAs by multicast copies; the consumers of both
// release a tile by an arrive on rank 0's barrier. Each thread sums its column of six tiles.
#include <cuda/ptx>
namespace ptx = cuda::ptx;

constexpr int TILES = 6, RING = 2, N = 128;

__device__ void wait(uint64_t *bar, unsigned parity)
{
	while (!ptx::mbarrier_try_wait_parity(bar, parity))
		;
}

__device__ void arrive_at_rank_0(uint64_t *bar)
{
	asm volatile("{\n.reg .b32 a;\nmapa.shared::cluster.u32 a, %0, 0;\n"
		     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a];\n}"
		     :: "r"((unsigned)__cvta_generic_to_shared(bar)) : "memory");
}

extern "C" __global__ void __cluster_dims__(2) multicast_sum(const int *x, int *y)
{
	__shared__ alignas(128) int tile[RING][N];
	__shared__ uint64_t full[RING], empty[RING];
	unsigned rank = ptx::get_sreg_cluster_ctarank(), t = threadIdx.x;

	if (t == 0) {
		for (int i = 0; i < RING; i++) {
			ptx::mbarrier_init(&full[i], 1);
			ptx::mbarrier_init(&empty[i], 2);
		}
		ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
	}
	ptx::barrier_cluster_arrive(ptx::sem_relaxed);
	ptx::barrier_cluster_wait();

	if (t == N) {
#pragma unroll 1
		for (int k = 0; k < TILES; k++) {
			int s = k % RING;
			unsigned phase = k / RING % 2;
			if (k >= RING)
				wait(rank == 0 ? &empty[s] : &full[s], phase ^ 1);
			ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s],
						       sizeof tile[s]);
			if (rank == 0)
				ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[s], x + k * N,
						   sizeof tile[s], &full[s], uint16_t(3));
		}
	} else if (t < N) {
		int sum = 0;
#pragma unroll 1
		for (int k = 0; k < TILES; k++) {
			int s = k % RING;
			wait(&full[s], k / RING % 2);
			sum += tile[s][t];
			ptx::fence_proxy_async(ptx::space_shared);
			asm volatile("bar.sync 1, 128;" ::: "memory");
			if (t == 0)
				arrive_at_rank_0(&empty[s]);
		}
		y[rank * N + t] = sum;
	}
	ptx::barrier_cluster_arrive();
	ptx::barrier_cluster_wait();
}
