// ragged.cu - may one tensor map be clipped at the end of any group of rows? Two modes more than the tensor has do it: along
// the rows' own, of BIG rows, a box begins where as many are left as the group has from there, and what that is wrong by the
// other two put right, modulo 2^64:
//     (N, BIG, BIG, BIG + 1) : (1, s, s, 2^34 - s), box at (column, BIG - (end - row), end, BIG)
//     address: base + (BIG - end + row) s + end s + BIG (2^34 - s) = base + row s + 2^64
// So rows before `end` are in the tensor and those behind it are not, whatever lies there. What it prints are the rules of the
// ragged maps of runtime/ and sim/: copies of each kind at groups of many lengths and places, a tensor of more than 4 GiB,
// and how fast boxes come by either map.
//   nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a -o ragged ragged.cu
//   ./ragged; compute-sanitizer ./ragged small
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

enum { COLS = 64, ROWS = 32, LOAD = 0, STORE = 1, ADD = 2 };
static const uint64_t BIG = 1ull << 30, WRAP = 1ull << 34;

#define CUDA(call)                                                              \
	do {                                                                    \
		cudaError_t e_ = (call);                                        \
		if (e_ != cudaSuccess) {                                        \
			std::printf("%s: %s\n", #call, cudaGetErrorString(e_)); \
			std::exit(1);                                           \
		}                                                               \
	} while (0)

__device__ static void wait_for(uint32_t bar, uint32_t parity)
{
	asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(bar), "r"(parity)
		     : "memory");
}

__device__ static void load_box(uint32_t to, const CUtensorMap *map, int col, int row, int end, uint32_t bar)
{
	asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
		     "l"(map), "r"(col), "r"((1 << 30) - (end - row)), "r"(end), "r"(1 << 30), "r"(bar)
		     : "memory");
}

__global__ void copy_box(const __grid_constant__ CUtensorMap map, int copy, int col, int row, int end, uint32_t *box)
{
	__shared__ alignas(1024) uint32_t tile[COLS * ROWS];
	__shared__ alignas(8) uint64_t bar;
	uint32_t at = uint32_t(__cvta_generic_to_shared(tile)), done = uint32_t(__cvta_generic_to_shared(&bar)), bytes = sizeof tile;
	for (int i = 0; i < COLS * ROWS; i++)
		tile[i] = box[i];
	asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::"r"(done) : "memory");
	if (copy == LOAD) {
		load_box(at, &map, col, row, end, done);
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(done), "r"(bytes) : "memory");
		wait_for(done, 0);
	} else if (copy == STORE) {
		asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map), "r"(at),
			     "r"(col), "r"((1 << 30) - (end - row)), "r"(end), "r"(1 << 30)
			     : "memory");
	} else {
		asm volatile("cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
			     "r"(at), "r"(col), "r"((1 << 30) - (end - row)), "r"(end), "r"(1 << 30)
			     : "memory");
	}
	asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
	for (int i = 0; i < COLS * ROWS; i++)
		box[i] = tile[i];
}

static CUtensorMap map_make(void *tensor, uint64_t n, uint64_t pitch, CUtensorMapDataType type, int cols, int rows, CUtensorMapSwizzle swizzle)
{
	void *entry = nullptr;
	cudaDriverEntryPointQueryResult found;
	cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
	CUtensorMap map;
	cuuint64_t dims[] = {n, BIG, BIG, BIG + 1}, strides[] = {pitch, pitch, WRAP - pitch};
	cuuint32_t box[] = {cuuint32_t(cols), cuuint32_t(rows), 1, 1}, steps[] = {1, 1, 1, 1};
	CUresult r = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
		&map, type, 4, tensor, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
		CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	if (r != CUDA_SUCCESS)
		std::printf("the driver refuses the map: %d\n", int(r)), std::exit(1);
	return map;
}

// The tensor's element (r, c) is r * 1000 + c + 1; the box's i is -i - 1.
static int wrong(int copy, int rows, int n, int pitch, int col, int row, int end)
{
	size_t bytes = size_t(rows) * pitch * 4, tile = COLS * ROWS * 4;
	std::vector<uint32_t> was(size_t(rows) * pitch), now(was.size()), box(COLS * ROWS), came(box.size());
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < pitch; c++)
			was[size_t(r) * pitch + c] = uint32_t(r * 1000 + c + 1);
	for (size_t i = 0; i < box.size(); i++)
		box[i] = uint32_t(-int(i) - 1);
	uint32_t *dev, *dev_box;
	CUDA(cudaMalloc(&dev, bytes));
	CUDA(cudaMalloc(&dev_box, tile));
	CUDA(cudaMemcpy(dev, was.data(), bytes, cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(dev_box, box.data(), tile, cudaMemcpyHostToDevice));
	copy_box<<<1, 1>>>(map_make(dev, n, pitch * 4, CU_TENSOR_MAP_DATA_TYPE_INT32, COLS, ROWS, CU_TENSOR_MAP_SWIZZLE_NONE), copy, col, row, end,
			   dev_box);
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemcpy(now.data(), dev, bytes, cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(came.data(), dev_box, tile, cudaMemcpyDeviceToHost));
	cudaFree(dev);
	cudaFree(dev_box);
	int bad = 0;
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < COLS; c++) {
			bool in = row + r < end && col + c < n;
			size_t to = size_t(row + r) * pitch + col + c;
			uint32_t mine = box[r * COLS + c];
			if (copy == LOAD)
				bad += came[r * COLS + c] != (in ? was[to] : 0);
			else if (in)
				was[to] = copy == STORE ? mine : was[to] + mine;
		}
	for (size_t i = 0; i < was.size() && copy != LOAD; i++)
		bad += now[i] != was[i];
	return bad;
}

static int small()
{
	static const char *const copies[] = {"load", "store", "reduce"};
	int failed = 0;
	for (int copy = 0; copy < 3; copy++) {
		int bad = 0, tried = 0;
		for (int pitch : {64, 68, 132})
			for (int row : {0, 1, 31, 60, 95, 96})
				for (int end : {0, 1, 2, 31, 32, 33, 64, 91, 96})
					for (int col : {0, 32})
						bad += wrong(copy, 96, pitch - 4, pitch, col, row, end) != 0, tried++;
		std::printf("%-6s %d of %d boxes are wrong\n", copies[copy], bad, tried);
		failed += bad;
	}
	return failed;
}

// Rows 5 GiB behind the first.
static int far()
{
	const size_t pitch = 16384, first = (5ull << 30) / (pitch * 4);
	uint32_t *dev, *dev_box, got[3][4];
	CUDA(cudaMalloc(&dev, (first + 64) * pitch * 4));
	CUDA(cudaMalloc(&dev_box, COLS * ROWS * 4));
	CUDA(cudaMemset(dev_box, 0x22, COLS * ROWS * 4));
	uint32_t *at = dev + first * pitch;
	CUDA(cudaMemset(at, 0x11, 64 * pitch * 4));
	int r = int(first);
	copy_box<<<1, 1>>>(map_make(dev, pitch, pitch * 4, CU_TENSOR_MAP_DATA_TYPE_INT32, COLS, ROWS, CU_TENSOR_MAP_SWIZZLE_NONE), STORE, 0, r, r + 2,
			   dev_box);
	CUDA(cudaDeviceSynchronize());
	for (int i = 0; i < 3; i++)
		CUDA(cudaMemcpy(got[i], at + i * pitch, 16, cudaMemcpyDeviceToHost));
	bool good = got[0][0] == 0x22222222 && got[1][3] == 0x22222222 && got[2][0] == 0x11111111;
	std::printf("row %d, %zu bytes behind the first: %s\n", r, size_t(r) * pitch * 4, good ? "right" : "WRONG");
	cudaFree(dev);
	cudaFree(dev_box);
	return !good;
}

// Each CTA loads boxes of 128 x 64 of bf16 along K, six at a time.
__global__ void stream(const __grid_constant__ CUtensorMap map, int ragged, int boxes, int tiles, int length)
{
	extern __shared__ uint8_t slots[];
	__shared__ alignas(8) uint64_t bar[6];
	if (threadIdx.x)
		return;
	uint32_t at = uint32_t(__cvta_generic_to_shared(slots)), b = uint32_t(__cvta_generic_to_shared(bar));
	at = (at + 1023) / 1024 * 1024;
	for (int i = 0; i < 6; i++)
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b + i * 8) : "memory");
	asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
	int n = 0;
	for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
		for (int k = 0; k < boxes; k++, n++) {
			uint32_t full = b + n % 6 * 8;
			int row = tile % 64 * 128;
			if (n >= 6)
				wait_for(full, (n / 6 + 1) % 2);
			asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full), "r"(128 * 64 * 2) : "memory");
			if (ragged)
				load_box(at + n % 6 * 16384, &map, k * 64, row, row + length, full);
			else
				asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
						     at + n % 6 * 16384),
					     "l"(&map), "r"(k * 64), "r"(row), "r"(full)
					     : "memory");
		}
	for (int i = n > 6 ? n - 6 : 0; i < n; i++)
		wait_for(b + i % 6 * 8, i / 6 % 2);
}

static void rates()
{
	const int rows = 8192, k = 4096;
	void *dev;
	CUDA(cudaMalloc(&dev, size_t(rows) * k * 2));
	CUDA(cudaMemset(dev, 0, size_t(rows) * k * 2));
	CUDA(cudaFuncSetAttribute(stream, cudaFuncAttributeMaxDynamicSharedMemorySize, 6 * 16384 + 1024));
	void *entry = nullptr;
	cudaDriverEntryPointQueryResult found;
	cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
	CUtensorMap plain, ragged = map_make(dev, k, k * 2, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 64, 128, CU_TENSOR_MAP_SWIZZLE_128B);
	cuuint64_t dims[] = {k, rows}, strides[] = {k * 2};
	cuuint32_t box[] = {64, 128}, steps[] = {1, 1};
	reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(&plain, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, dev, dims, strides, box, steps,
								   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
								   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	cudaEvent_t a, b;
	cudaEventCreate(&a), cudaEventCreate(&b);
	for (int length : {-1, 128, 127, 125, 120, 112, 100, 96, 64, 33, 32, 8, 1, 0, 128, -1}) {
		for (int warm = 0; warm < 2; warm++) {
			cudaEventRecord(a);
			for (int i = 0; i < 20; i++)
				stream<<<132, 32, 6 * 16384 + 1024>>>(length < 0 ? plain : ragged, length >= 0, k / 64, rows / 16, length);
			cudaEventRecord(b);
			CUDA(cudaDeviceSynchronize());
		}
		float ms;
		cudaEventElapsedTime(&ms, a, b);
		std::printf(length < 0 ? "plain:" : "clipped to %3d rows:", length);
		std::printf(" %.2f us\n", ms * 50);
	}
}

int main(int argc, char **argv)
{
	int bad = small();
	if (argc > 1 && !std::strcmp(argv[1], "small"))
		return bad != 0;
	bad += far();
	rates();
	return bad != 0;
}
