// tma_edge.cu - what of a box that hangs over the end of a row does a tensor copy touch? Rows of n elements in a
// pitch of 64; boxes of 32 columns from column 0. What it prints is the rule of runtime/check.c for maps
// that are stored through.
//   nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a -o tma_edge tma_edge.cu
// A line a copy, element size and tensor size: for each n, how many columns behind the row were
// overwritten (store, reduce) or came in as other than zero (load).
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { PITCH = 64, BOX_COLS = 32, BOX_ROWS = 8, MOST = 33 };

#define CUDA(call)                                                              \
	do {                                                                    \
		cudaError_t e_ = (call);                                        \
		if (e_ != cudaSuccess) {                                        \
			std::printf("%s: %s\n", #call, cudaGetErrorString(e_)); \
			std::exit(1);                                           \
		}                                                               \
	} while (0)

__global__ void copy_box(const __grid_constant__ CUtensorMap map, int copy, int bytes, uint8_t *box)
{
	__shared__ alignas(1024) uint8_t tile[BOX_COLS * BOX_ROWS * 4];
	__shared__ alignas(8) uint64_t bar;
	uint32_t at = uint32_t(__cvta_generic_to_shared(tile)), done = uint32_t(__cvta_generic_to_shared(&bar));
	for (int i = 0; i < bytes; i++)
		tile[i] = box[i];
	asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;\n"
		     "fence.proxy.async;" ::"r"(done) : "memory");
	if (copy == 0) {
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
			     "[%0], [%1, {0, 0}], [%2];" ::"r"(at), "l"(&map), "r"(done) : "memory");
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(done), "r"(bytes)
			     : "memory");
		asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
			     "@!p bra W;\n}" ::"r"(done) : "memory");
	} else if (copy == 1) {
		asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {0, 0}], [%1];" ::
			     "l"(&map), "r"(at) : "memory");
	} else {
		asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
			     "[%0, {0, 0}], [%1];" ::"l"(&map), "r"(at) : "memory");
	}
	asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
	for (int i = 0; i < bytes; i++)
		box[i] = tile[i];
}

static CUtensorMap map_make(void *tensor, int size, int n, int rows)
{
	void *entry = nullptr;
	cudaDriverEntryPointQueryResult found;
	cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
	CUtensorMap map;
	cuuint64_t dims[] = {cuuint64_t(n), cuuint64_t(rows)}, strides[] = {cuuint64_t(PITCH * size)};
	cuuint32_t box[] = {BOX_COLS, BOX_ROWS}, steps[] = {1, 1};
	if (reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
		    &map, size == 4 ? CU_TENSOR_MAP_DATA_TYPE_INT32 : size == 2 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_UINT8,
		    2, tensor, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
		    CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
		std::printf("refused "), std::exit(1);
	return map;
}

// Columns from n on, of any of the first rows, whose bytes were touched or are not zero.
static int beyond(int copy, int size, int n, int rows)
{
	size_t bytes = size_t(rows) * PITCH * size, tile = BOX_COLS * BOX_ROWS * size;
	std::vector<uint8_t> was(bytes, 0x11), now(bytes), box(tile, 0x22);
	uint8_t *dev, *dev_box;
	CUDA(cudaMalloc(&dev, bytes));
	CUDA(cudaMalloc(&dev_box, tile));
	CUDA(cudaMemcpy(dev, was.data(), bytes, cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(dev_box, box.data(), tile, cudaMemcpyHostToDevice));
	copy_box<<<1, 1>>>(map_make(dev, size, n, rows), copy, int(tile), dev_box);
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemcpy(now.data(), dev, bytes, cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(box.data(), dev_box, tile, cudaMemcpyDeviceToHost));
	cudaFree(dev);
	cudaFree(dev_box);
	int most = 0;
	for (int r = 0; r < BOX_ROWS; r++)
		for (int c = n; c < (copy ? PITCH : BOX_COLS); c++)
			for (int b = 0; b < size; b++)
				if (copy ? now[(size_t(r) * PITCH + c) * size + b] != 0x11 : box[(r * BOX_COLS + c) * size + b] != 0)
					most = c - n + 1 > most ? c - n + 1 : most;
	return most;
}

int main()
{
	static const char *const copies[] = {"load", "store", "reduce"};
	for (int copy = 0; copy < 3; copy++)
		for (int size : {1, 2, 4})
			for (int rows : {8, 16384}) {
				if (copy == 2 && size == 1)
					continue;
				std::printf("%-6s %d bytes, %5d rows:", copies[copy], size, rows);
				for (int n = 1; n < MOST; n++)
					std::printf(" %d", beyond(copy, size, n, rows));
				std::printf("\n");
			}
	return 0;
}
