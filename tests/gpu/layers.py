# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""32 layers in one CUDA graph, each result the next one's activations, beside torch in a graph of its own.

    python3 layers.py DIR [--rounds 30] [--rows 1,16,64]

DIR/layers has cubins of tests/gpu/swap.gemm, by swap_cases.sh: TOKENSxDEPTHsSTAGESxPARTS, weights `constant`. Layers are 8192 to 8192, or 4096 to 14336
and back; each layer has weights of its own, so that none is in the L2. With 8192 each cubin runs all layers; of the others each
cubin runs one kind of layer, the fastest of the other kind beside it. Reported: the median over rounds of torch's time over ours, interleaved in random order.
"""
import argparse
import glob
import os
import random
import statistics
import time

import torch

from against_torch import DEV, Runtime, normal

LAYERS = 32
KINDS = {"8192 8192": [(8192, 8192)], "4096 14336": [(14336, 4096), (4096, 14336)]}  # N, K of a layer, in turn


class Chain:
    """Weights and the activations between layers; torch's way and ours write the same ones."""

    def __init__(self, rows, kinds):
        self.shapes = [kinds[i % len(kinds)] for i in range(LAYERS)]
        self.weights = [(torch.randn(n, k, device=DEV) * k ** -0.5).to(torch.bfloat16) for n, k in self.shapes]
        self.first = normal(rows, self.shapes[0][1])
        self.between = [torch.empty(rows, n, device=DEV, dtype=torch.bfloat16) for n, _ in self.shapes]

    def steps(self):
        return zip([self.first, *self.between], self.weights, self.between)

    def torch(self):
        return [lambda a=a, w=w, d=d: torch.mm(a, w.t(), out=d) for a, w, d in self.steps()]

    def ours(self, binds):
        """binds: for each kind of layer, what launches it."""
        calls = []
        for i, (a, w, d) in enumerate(self.steps()):
            calls.append(binds[i % len(binds)](A=a, B=w, D=d, M=a.shape[0], N=w.shape[0], K=w.shape[1]))
        return calls


class Graph:
    def __init__(self, name, calls):
        self.name, self.us, stream = name, [], torch.cuda.Stream()
        for f in calls:
            f()
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream):
            for f in calls:
                f()

    def sample(self):
        start, end = torch.cuda.Event(True), torch.cuda.Event(True)
        start.record()
        self.graph.replay()
        self.graph.replay()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) * 500


def race(entries, rounds, seconds=1.0):
    for e in entries:
        e.us = []
    until = time.time() + seconds
    while time.time() < until:
        for e in entries:
            e.sample()
    for _ in range(rounds):
        for e in random.sample(entries, len(entries)):
            e.us.append(e.sample())


def checked(name, chain, calls, want):
    chain.between[-1].fill_(float("nan"))
    for f in calls:
        f()
    torch.cuda.synchronize()
    error = ((chain.between[-1].float() - want).norm() / want.norm()).item()
    if not error < 0.03:
        print(f"WRONG {name}: {error}", flush=True)
    return Graph(name, calls)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("dir")
    ap.add_argument("--rounds", type=int, default=30)
    ap.add_argument("--rows", default="1,16,64")
    o = ap.parse_args()
    runtime, ratios = Runtime(o.dir), []
    for rows in map(int, o.rows.split(",")):
        tokens = max(8, rows)
        cubins = {os.path.basename(p)[:-6]: runtime.kernel(p) for p in sorted(glob.glob(os.path.join(o.dir, "layers", f"{tokens}x*.cubin")))}
        for kind, shapes in KINDS.items():
            chain = Chain(rows, shapes)
            theirs = Graph("torch", chain.torch())
            theirs.sample()
            want = chain.between[-1].float()
            entries, best = [theirs], []
            for i in range(len(shapes)):  # the fastest of each kind, beside the ones found
                tried = []
                for name, bind in cubins.items():
                    binds = [cubins[b] for b in best] + [bind] * (len(shapes) - i)
                    tried.append(checked("+".join([*best, name]), chain, chain.ours(binds), want))
                race(tried, 8, 0.5)
                entries += tried if i == len(shapes) - 1 else []
                best.append(min(tried, key=lambda e: statistics.median(e.us)).name.split("+")[-1])
            race(entries, o.rounds)
            for e in sorted(entries, key=lambda e: statistics.median(e.us))[:8] + [theirs]:
                ratio = statistics.median(t / u for t, u in zip(theirs.us, e.us))
                print(f"{rows:3} rows, {kind:12} {e.name:44} {statistics.median(e.us):9.2f} us  torch / this {ratio:.3f}", flush=True)
            ratios.append(max(statistics.median(t / u for t, u in zip(theirs.us, e.us)) for e in entries))
            del chain, theirs, entries, tried
            torch.cuda.empty_cache()
    print(f"geometric mean {statistics.geometric_mean(ratios):.3f}")


if __name__ == "__main__":
    main()
