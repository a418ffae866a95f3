// Threads of a warp that a branch parts and that meet by a member mask: each waits for the threads that its
// mask names, wherever they are. Legal since Volta; a is 5.
#include <cassert>

extern "C" __global__ void part_return(int *o, int a)
{
	int l = threadIdx.x, v = l;
	if (l == 0) {
		if (a == 7)
			return;
		v = 100;
		__threadfence_block();
		o[32] = a;
	}
	v += __shfl_xor_sync(0xffffffff, v, 1);
	o[l] = v;
}

extern "C" __global__ void part_trap(int *o, int a)
{
	int l = threadIdx.x, v = l;
	if (l == 0) {
		if (a == 7)
			__trap();
		v = 100;
		o[32] = a;
	}
	v += __shfl_xor_sync(0xffffffff, v, 1);
	o[l] = v;
}

extern "C" __global__ void part_assert(int *o, int a)
{
	int l = threadIdx.x, v = l;
	if (l == 0) {
		assert(a != 7);
		v = 100;
		o[32] = a;
	}
	v += __shfl_xor_sync(0xffffffff, v, 1);
	o[l] = v;
}

extern "C" __global__ void part_sync(int *o, int a)
{
	int l = threadIdx.x;
	__shared__ int s[32];
	if (l == 0) {
		if (a == 7)
			__trap();
		s[5] = a;
		o[32] = a;
	}
	__syncwarp();
	o[l] = s[5];
}

// Two shuffles in the text, one party.
extern "C" __global__ void part_two(int *o, int a)
{
	int l = threadIdx.x, v = l;
	if (l & 1) {
		v += __shfl_xor_sync(0xffffffff, v, 1) * 2;
		o[32] = a;
	} else {
		v += __shfl_xor_sync(0xffffffff, v, 1) * 3;
		o[33] = a;
	}
	o[l] = v;
}

// The whole block meets after a branch that some threads could have left by an early return.
extern "C" __global__ void part_block(int *o, int a)
{
	int l = threadIdx.x;
	__shared__ int s[32];
	if (l < 7) {
		if (a == 7)
			return;
		s[l] = a;
	} else {
		s[l] = l;
	}
	__syncthreads();
	o[l] = s[31 - l];
}
