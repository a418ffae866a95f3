# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times what dslc chooses for many sizes beside torch.mm, D = A B' in bf16: how good choices are, and points to fit the model.

    python3 picks.py DIR --out FILE.tsv [--rounds 22] [--seconds 300]

DIR/picks.txt has a line for each kernel and size: M N K LABEL CUBIN, in the order of the sizes (tests/gpu/picks_cases.sh writes it), and
DIR/libdsl_runtime.so loads them. All kernels of a size and torch.mm take turns in a random order, each in a CUDA graph of about
0.7 ms, over operands that together exceed the L2; the first two rounds are not counted. Written: M N K LABEL and the median in
microseconds. Each result is compared with torch's before it is timed. What is wrong is said, and the exit status is 1.
"""
import argparse
import os
import random
import statistics
import sys
import time

import torch

from against_torch import Runtime

POOL = 1 << 30  # elements


def pool():
    x = torch.empty(POOL, device="cuda", dtype=torch.bfloat16)
    for i in range(0, POOL, 1 << 26):
        x[i:i + (1 << 26)].copy_(torch.randn(1 << 26, device="cuda"))
    return x


def views(x, rows, columns, most=48):
    """Matrices one after the other, each on a multiple of 512 bytes."""
    step = (rows * columns + 255) // 256 * 256
    n = max(1, min(most, POOL // step))
    return [x[i * step:i * step + rows * columns].view(rows, columns) for i in range(n)]


def graph(launch, n, stream):
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g, stream=stream, capture_error_mode="relaxed"):
        for i in range(n):
            launch(i)
    return g


def sample(g, stream):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record(stream)
    g.replay()
    end.record(stream)
    end.synchronize()
    return begin.elapsed_time(end) * 1000


def entries(kernels, A, B, D, M, N, K, n):
    """Name -> what launches number i of n."""
    def turn(x, i):
        return x[i % len(x)]
    all_of = {"torch": lambda i: torch.mm(turn(A, i), turn(B, i).t(), out=turn(D, i))}
    for label, bind in kernels:
        try:
            bound = [bind(A=turn(A, i), B=turn(B, i), D=turn(D, i), M=M, N=N, K=K) for i in range(n)]
        except RuntimeError as error:
            print(M, N, K, label, error)
            continue
        all_of[label] = lambda i, bound=bound: bound[i]()
    return all_of


def time_size(kernels, pools, M, N, K, rounds, stream, order):
    A, B, D = views(pools[0], M, K), views(pools[1], N, K), views(pools[2], M, N)
    about = max(2 * M * N * K / 6.5e8, (M * K + N * K + M * N) * 2 / 2.6e6) + 4
    n = max(2, min(60, int(700 / about)))
    want = torch.mm(A[0], B[0].t()).float()
    graphs, wrong = {}, 0
    for label, launch in entries(kernels, A, B, D, M, N, K, n).items():
        D[0].fill_(float("nan"))
        launch(0)
        if torch.allclose(D[0].float(), want, rtol=2e-2, atol=0.02 * K ** 0.5):
            graphs[label] = graph(launch, n, stream)
        else:
            print(M, N, K, label, "is wrong")
            wrong += 1
    times = {label: [] for label in graphs}
    for _ in range(rounds):
        turns = list(graphs)
        order.shuffle(turns)
        for label in turns:
            times[label].append(sample(graphs[label], stream) / n)
    return {label: statistics.median(t[2:]) for label, t in times.items()}, wrong


def main():
    p = argparse.ArgumentParser()
    p.add_argument("dir")
    p.add_argument("--out", required=True)
    p.add_argument("--rounds", type=int, default=22)
    p.add_argument("--seconds", type=float, default=300)
    a = p.parse_args()
    began, wrong, sizes = time.time(), 0, {}
    for line in open(os.path.join(a.dir, "picks.txt")):
        M, N, K, label, cubin = line.split()
        sizes.setdefault((int(M), int(N), int(K)), []).append((label, cubin))
    runtime, order, stream = Runtime(a.dir), random.Random(1), torch.cuda.Stream()
    pools = [pool(), pool(), torch.empty(POOL, device="cuda", dtype=torch.bfloat16)]
    loaded = {}
    with open(a.out, "w") as out, torch.cuda.stream(stream):
        print(f"# {torch.cuda.get_device_name()}, {time.strftime('%Y-%m-%d')}; M N K kernel us", file=out)
        for (M, N, K), kernels in sizes.items():
            if time.time() - began > a.seconds:
                print("time is up before", M, N, K)
                break
            for _, cubin in kernels:
                if cubin not in loaded:
                    loaded[cubin] = runtime.kernel(os.path.join(a.dir, cubin))
            of_size = [(label, loaded[cubin]) for label, cubin in kernels]
            times, bad = time_size(of_size, pools, M, N, K, a.rounds, stream, order)
            wrong += bad
            for label, us in times.items():
                print(M, N, K, label, f"{us:.3f}", sep="\t", file=out)
            out.flush()
    print(f"{len(sizes)} sizes, {wrong} wrong, {time.time() - began:.0f} s")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
