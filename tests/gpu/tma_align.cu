// tma_align.cu - where along its innermost dimension may a tensor copy start? Loads, stores,
// reductions and prefetches of bf16 boxes, each copy in a process of its own, since a fault is the end
// of a context. What it prints belongs in sim/tma_starts.def.
//   nvcc -std=c++17 -O2 -gencode arch=compute_90a,code=sm_90a -o tma_align tma_align.cu
//   tma_align            the table
//   tma_align COPY SWIZZLE COORDINATE      one copy, e.g. load 128 4
// An entry is "right" (no fault, and each element is where it belongs), "moved" (no fault, other data
// than the coordinate says), or the driver's word for the fault. The exit code of the table is 0.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using bf16 = __nv_bfloat16;

enum { ROWS = 64, COLS = 128, BOX_ROWS = 8, BOX_COLS = 64, BOX = BOX_ROWS * BOX_COLS };

static const char *const copies[] = {"load", "store", "reduce", "prefetch"};
static const int swizzles[] = {0, 32, 64, 128};
static const int starts[] = {0, 1, 2, 4, 8, 12, 16, -4, -8};

static void die(const char *what, const char *why)
{
	std::printf("%s: %s\n", what, why);
	std::fflush(stdout);
	std::_Exit(1);
}

#define CUDA(call)                                                   \
	do {                                                         \
		cudaError_t e_ = (call);                             \
		if (e_ != cudaSuccess)                               \
			die(cudaGetErrorName(e_), cudaGetErrorString(e_)); \
	} while (0)

// ------------------------------------------------------------------ the copies
__device__ static uint32_t shared_address(const void *p)
{
	return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ static void load(uint32_t tile, const CUtensorMap *map, int x, uint32_t bar, int bytes)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
		     "[%0], [%1, {%2, 0}], [%3];" ::"r"(tile), "l"(map), "r"(x), "r"(bar) : "memory");
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
		     "r"(bytes) : "memory");
	asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
		     "@!p bra W;\n}" ::"r"(bar) : "memory");
}

__device__ static void finish()
{
	asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ static void store(uint32_t tile, const CUtensorMap *map, int x)
{
	asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, 0}], [%2];" ::
		     "l"(map), "r"(x), "r"(tile) : "memory");
	finish();
}

__device__ static void reduce(uint32_t tile, const CUtensorMap *map, int x)
{
	asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group "
		     "[%0, {%1, 0}], [%2];" ::"l"(map), "r"(x), "r"(tile) : "memory");
	finish();
}

__device__ static void prefetch(const CUtensorMap *map, int x)
{
	asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, 0}];" ::"l"(map),
		     "r"(x) : "memory");
}

__global__ void copy_box(const __grid_constant__ CUtensorMap map, int copy, int x, int bytes,
			 bf16 *box)
{
	__shared__ alignas(1024) bf16 tile[BOX];
	__shared__ alignas(8) uint64_t bar;
	uint32_t at = shared_address(tile), done = shared_address(&bar);
	for (int i = 0; i < BOX; i++)
		tile[i] = box[i];
	asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;\n"
		     "fence.proxy.async;" ::"r"(done) : "memory");
	switch (copy) {
	case 0:
		load(at, &map, x, done, bytes);
		break;
	case 1:
		store(at, &map, x);
		break;
	case 2:
		reduce(at, &map, x);
		break;
	default:
		prefetch(&map, x);
	}
	for (int i = 0; i < BOX; i++)
		box[i] = tile[i];
}

// ------------------------------------------------------------------ one of them
static CUtensorMap map_make(void *tensor, int swizzle)
{
	void *entry = nullptr;
	cudaDriverEntryPointQueryResult found;
	CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
					      cudaEnableDefault, &found));
	CUtensorMap map;
	cuuint64_t dims[] = {COLS, ROWS}, strides[] = {COLS * 2};
	cuuint32_t box[] = {cuuint32_t(swizzle ? swizzle / 2 : BOX_COLS), BOX_ROWS}, steps[] = {1, 1};
	CUtensorMapSwizzle way = swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
				 : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
				 : swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
						 : CU_TENSOR_MAP_SWIZZLE_NONE;
	CUresult r = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
		&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, tensor, dims, strides, box, steps,
		CU_TENSOR_MAP_INTERLEAVE_NONE, way, CU_TENSOR_MAP_L2_PROMOTION_NONE,
		CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
	if (r != CUDA_SUCCESS)
		die("cuTensorMapEncodeTiled", "refused");
	return map;
}

// Element (r, c) of a box in shared memory: rows lie one behind the other, units of 16 bytes exchanged.
static int in_tile(int r, int c, int width, int swizzle)
{
	int byte = (r * width + c) * 2, keep = swizzle ? swizzle / 16 - 1 : 0;
	return (byte ^ (((byte >> 7) & keep) << 4)) / 2;
}

static bool as_expected(int copy, int swizzle, int x, const std::vector<bf16> &was,
			const std::vector<bf16> &tensor, const std::vector<bf16> &had,
			const std::vector<bf16> &box)
{
	int width = swizzle ? swizzle / 2 : BOX_COLS;
	std::vector<bf16> want = was;
	for (int r = 0; r < BOX_ROWS; r++)
		for (int c = 0; c < width; c++) {
			bool inside = x + c >= 0 && x + c < COLS;
			int at = r * COLS + x + c, t = in_tile(r, c, width, swizzle);
			if (copy == 0 && float(box[t]) != (inside ? float(was[at]) : 0.0f))
				return false;
			if (copy == 1 && inside)
				want[at] = had[t];
			if (copy == 2 && inside)
				want[at] = bf16(float(was[at]) + float(had[t]));
		}
	for (size_t i = 0; i < want.size(); i++)
		if (float(want[i]) != float(tensor[i]))
			return false;
	return true;
}

static int one(int copy, int swizzle, int x)
{
	std::vector<bf16> was(ROWS * COLS), tensor(ROWS * COLS), had(BOX), box(BOX);
	bf16 *dev_tensor, *dev_box;
	for (size_t i = 0; i < was.size(); i++)
		was[i] = bf16(float(i * 7 % 127 + 1));
	for (size_t i = 0; i < had.size(); i++)
		had[i] = bf16(float(i * 5 % 113 + 1));
	CUDA(cudaMalloc(&dev_tensor, was.size() * 2));
	CUDA(cudaMalloc(&dev_box, BOX * 2));
	CUDA(cudaMemcpy(dev_tensor, was.data(), was.size() * 2, cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(dev_box, had.data(), BOX * 2, cudaMemcpyHostToDevice));
	copy_box<<<1, 1>>>(map_make(dev_tensor, swizzle), copy, x,
			   (swizzle ? swizzle / 2 : BOX_COLS) * BOX_ROWS * 2, dev_box);
	CUDA(cudaGetLastError());
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemcpy(tensor.data(), dev_tensor, was.size() * 2, cudaMemcpyDeviceToHost));
	CUDA(cudaMemcpy(box.data(), dev_box, BOX * 2, cudaMemcpyDeviceToHost));
	std::puts(as_expected(copy, swizzle, x, was, tensor, had, box) ? "right" : "moved");
	return 0;
}

// ------------------------------------------------------------------ all of them
static std::string apart(const char *self, const char *copy, int swizzle, int x)
{
	char command[4096], line[256] = "";
	std::snprintf(command, sizeof command, "timeout 60 '%s' %s %d %d 2>&1", self, copy, swizzle, x);
	FILE *f = popen(command, "r");
	if (!f || !std::fgets(line, sizeof line, f))
		std::strcpy(line, "no answer");
	if (f)
		pclose(f);
	return std::string(line).substr(0, std::strcspn(line, ":\n"));
}

static void table(const char *self)
{
	std::printf("%-9s %-8s", "copy", "swizzle");
	for (int x : starts)
		std::printf(" %-30d", x);
	std::puts("");
	for (const char *copy : copies)
		for (int swizzle : swizzles) {
			std::printf("%-9s %-8d", copy, swizzle);
			for (int x : starts) {
				std::printf(" %-30s", apart(self, copy, swizzle, x).c_str());
				std::fflush(stdout);
			}
			std::puts("");
		}
}

int main(int argc, char **argv)
{
	if (argc == 1) {
		table(argv[0]);
		return 0;
	}
	for (int copy = 0; copy < 4 && argc >= 4; copy++)
		if (!std::strcmp(argv[1], copies[copy]))
			return one(copy, std::atoi(argv[2]), std::atoi(argv[3]));
	std::puts("usage: tma_align [load|store|reduce|prefetch SWIZZLE COORDINATE]");
	return 2;
}
