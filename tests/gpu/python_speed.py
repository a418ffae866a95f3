#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host time of a call from Python, on a machine with a GPU and PyTorch.

    PYTHONPATH=build/release/python python3 tests/gpu/python_speed.py [--launch-overhead ./launch_overhead gemm.cubin]

Calls with three torch tensors of a problem so small that the GPU keeps up (128 x 128 x 64); the median of
runs of 1000 calls, each after a synchronisation. Beside it torch.mm with out=, and the same call where the
tensors have no C table and go by __dlpack__. Bars: 3 us over dsl_launch (which tests/gpu/launch_overhead
measures) by the table, 10 us by __dlpack__. Then what must hold on a GPU: results, streams, graphs, no growth
of memory in 10000 launches of four threads.
"""
import pathlib
import statistics
import subprocess
import sys
import threading
import time

import torch

import dslc

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "examples/gemm/gemm.gemm"


class Capsule:
    """A torch tensor without its C table."""

    def __init__(self, t):
        self.t = t

    def __dlpack_device__(self):
        return self.t.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.t.__dlpack__(stream=stream)


def matrices(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def microseconds(call, calls=1000, runs=31):
    times = []
    for _ in range(runs):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
    torch.cuda.synchronize()
    return statistics.median(times), min(times), max(times)


def row(name, call):
    median, low, high = microseconds(call)
    print(f"{name:44s} {median:7.2f} us   ({low:.2f} .. {high:.2f})", flush=True)
    return median


def holds(name, truth):
    print(f"{name:44s} {'holds' if truth else 'DOES NOT HOLD'}", flush=True)
    return truth


def right(k):
    a, b, d = matrices(1000, 520), matrices(264, 520), matrices(1000, 264)
    k(a, b, out=d)
    wanted = a.float() @ b.float().T
    return ((d.float() - wanted).abs() <= wanted.abs() / 128 + 0.1).all().item()


def in_a_stream(k):
    """Work that is before the call in its stream is done before it, and only there."""
    s, a, b = torch.cuda.Stream(), matrices(4096, 4096), matrices(256, 4096)
    d = matrices(4096, 256)
    with torch.cuda.stream(s):
        torch.cuda._sleep(50_000_000)
        a.fill_(1)
        b.fill_(1)
        k(a, b, out=d)
        by_capsule = matrices(4096, 256)
        k(Capsule(a), b, out=by_capsule)
        return bool((d == 4096).all() and (by_capsule == 4096).all())


def in_a_graph(k):
    a, b, d = matrices(512, 256), matrices(512, 256), matrices(512, 512)
    k(a, b, out=d)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        k(a, b, out=d)
    a.fill_(1)
    b.fill_(2)
    graph.replay()
    torch.cuda.synchronize()
    return bool((d == 512).all())


def four_threads(k):
    def work(count):
        a, b, d = matrices(128, 64), matrices(256, 64), matrices(128, 256)
        for _ in range(count):
            k(a, b, out=d)
        torch.cuda.synchronize()

    def all_threads(count):
        threads = [threading.Thread(target=work, args=(count,)) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return sys.getallocatedblocks(), torch.cuda.memory_allocated()
    all_threads(100)
    before = all_threads(100)
    after = all_threads(2500)
    return after[0] - before[0] < 1000 and after[1] == before[1]


def main():
    k = dslc.load(SOURCE)
    table = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, tensors "
          f"{'have' if table else 'have no'} C table, dslc {dslc.__version__}")
    a, b, d = matrices(128, 64), matrices(256, 64), matrices(128, 256)
    bt = b.T.contiguous()
    if "--launch-overhead" in sys.argv:
        at = sys.argv.index("--launch-overhead")
        print(subprocess.run(sys.argv[at + 1:], check=True, capture_output=True, text=True).stdout, end="")
    row("k(a, b, out=d)" + ("" if table else ", by __dlpack__"), lambda: k(a, b, out=d))
    stream = torch.cuda.current_stream().cuda_stream
    row("the same, stream= given", lambda: k(a, b, out=d, stream=stream))
    ca, cb, cd = Capsule(a), Capsule(b), Capsule(d)
    row("by __dlpack__ (through a wrapper in Python)", lambda: k(ca, cb, out=cd))
    row("torch.mm(a, bt, out=d)", lambda: torch.mm(a, bt, out=d))
    checks = [holds("result", right(k)), holds("stream", in_a_stream(k)), holds("graph", in_a_graph(k)),
              holds("10000 launches of four threads leak nothing", four_threads(k))]
    return not all(checks)


if __name__ == "__main__":
    raise SystemExit(main())
