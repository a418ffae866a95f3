# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Persistent kernels while another kernel has some of the SMs for a while: tiles at fixed distances beside tiles that are dealt out.

    python3 beside.py DIR [--rounds 30]

DIR/beside.txt has a line a kernel: M N K LABEL CUBIN; DIR also has libdsl_runtime.so and against_torch.py. The neighbour is a kernel of
CTAS CTAs that takes an SM each (its shared memory leaves none to others) for so many microseconds. A CUDA graph starts it, and 3 us
later the product; what is timed is the graph, so until both are done, in fresh random order each round; medians in microseconds. The
neighbour ends first. "alone" is the product without it; "best" what all SMs together would take for both.
"""
import argparse
import ctypes
import os
import random
import statistics
import subprocess
import sys

import torch

from against_torch import WORKS, Runtime, right

SPIN = r"""
#include <cstdint>
__global__ void spin(uint64_t ns)
{
	uint64_t begin, now;
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
	do {
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	} while (now - begin < ns);
}
extern "C" int spin_launch(void *stream, int ctas, int bytes, uint64_t ns)
{
	cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	spin<<<ctas, 128, bytes, (cudaStream_t)stream>>>(ns);
	return cudaGetLastError();
}
"""
WHOLE = 200 * 1024  # bytes of shared memory that leave an SM to nobody else


def spinner(folder):
    path = os.path.join(folder, "spin")
    with open(path + ".cu", "w") as f:
        f.write(SPIN)
    subprocess.run(["nvcc", "-arch=sm_90a", "-shared", "-Xcompiler", "-fPIC", "-o", path + ".so", path + ".cu"], check=True)
    lib = ctypes.CDLL(path + ".so")

    def launch(ctas, us, whole=WHOLE):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        if lib.spin_launch(stream, ctas, whole, ctypes.c_uint64(int(us * 1000))):
            raise RuntimeError("spin was not launched")
    return launch


def graph_of(call, spin, ctas, us):
    """Both in one graph: the neighbour begins, and a little later the product."""
    main, side = torch.cuda.Stream(), torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=main):
        if ctas:
            side.wait_stream(main)
            with torch.cuda.stream(side):
                spin(ctas, us)
        spin(1, 3, 0)
        call()
        if ctas:
            main.wait_stream(side)
    return graph


def sample(graph):
    start, end = torch.cuda.Event(True), torch.cuda.Event(True)
    start.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) * 1e3


def measure(runtime, spin, size, kernels, neighbours, rounds):
    data = WORKS["mm"](*size)
    calls = {"torch.mm": data["torch"]["mm"]}
    for label, path in kernels:
        calls[label] = runtime.kernel(path)(**data["args"])
        error = right(data, calls[label])
        if not error <= 1:
            print(f"WRONG {size} {label}: {error:g} times what is allowed", flush=True)
    graphs = {(label, n): graph_of(call, spin, *n) for label, call in calls.items() for n in neighbours}
    times = {key: [] for key in graphs}
    for turn in range(rounds + 3):
        for key in random.sample(list(graphs), len(graphs)):
            us = sample(graphs[key])
            if turn >= 3:
                times[key].append(us)
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    for label in calls:
        alone = statistics.median(times[label, neighbours[0]])
        cells = [f"{alone:8.2f} alone"]
        for n in neighbours[1:]:
            us = statistics.median(times[label, n])
            cells.append(f"{n[0]} x {n[1]} us: {us:8.2f} (best {alone + n[0] * n[1] / sms:7.2f})")
        print(f"{'x'.join(map(str, size)):16} {label:20} {'  '.join(cells)}", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("dir")
    ap.add_argument("--rounds", type=int, default=30)
    o = ap.parse_args()
    runtime, spin, kernels = Runtime(o.dir), spinner(o.dir), {}
    with open(os.path.join(o.dir, "beside.txt")) as f:
        for line in f:
            *size, label, cubin = line.split()
            kernels.setdefault(tuple(map(int, size)), []).append((label, os.path.join(o.dir, cubin)))
    for size, ours in kernels.items():
        us = 2e-6 * size[0] * size[1] * size[2] / 650
        neighbours = [(0, 0)] + [(n, round(us * part)) for n in (8, 24) for part in (0.25, 0.6)]
        measure(runtime, spin, size, ours, neighbours, o.rounds)


if __name__ == "__main__":
    sys.exit(main())
