# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same numbers again and again: are the results the same in every bit?

    python3 repeat.py DIR [--runs 100] [--works NAME,...] [--joins]

DIR is as for against_torch.py: a line a kernel in DIR/works.txt. Each kernel runs so often on the same inputs, its
output overwritten in between, every second time while another stream keeps SMs and memory busy, so that CTAs start
and end in other orders. Exit code 1, and a line DIFFERS, where one run's bits are not the first one's; outputs that
joins write are compared only where the label begins with max or amax, which no order changes; with --joins, sums
too, which have no order and do differ: that shows that the comparison can.
"""
import argparse
import os
import sys

import torch

from against_torch import DEV, WORKS, Runtime


def bits(x):
    return x.contiguous().view(torch.uint8).clone()


class Noise:
    """Work of another stream, of a length that changes."""
    def __init__(self):
        self.stream = torch.cuda.Stream()
        self.a, self.d = (torch.randn(2048, 2048, device=DEV, dtype=torch.bfloat16) for _ in range(2))

    def make(self, i):
        with torch.cuda.stream(self.stream):
            for _ in range(i % 5):
                torch.mm(self.a, self.a[:, : 128 * (1 + i % 16)], out=self.d[:, : 128 * (1 + i % 16)])


def outputs(s, label, joins):
    of, join = [s["out"]], label.split("_")[0]
    if join in s.get("joins", ()) and (joins or join in ("max", "amax")):
        of.append(s["args"][s["joins"][join][0]])
    return of


def same(launch, of, runs, noise):
    """How many of the runs gave other bits than the first."""
    first, others = None, 0
    for i in range(runs):
        for x in of:
            x.fill_(float("nan") if x.is_floating_point() and len(of) == 1 else 0)
        torch.cuda.synchronize()
        if i % 2:
            noise.make(i)
        launch()
        torch.cuda.synchronize()
        now = [bits(x) for x in of]
        first = first or now
        others += not all(torch.equal(a, b) for a, b in zip(first, now))
    return others


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("dir")
    ap.add_argument("--runs", type=int, default=100)
    ap.add_argument("--works", default="")
    ap.add_argument("--joins", action="store_true")
    o = ap.parse_args()
    torch.manual_seed(1)
    runtime, noise, kernels, differ, sets = Runtime(o.dir), Noise(), 0, 0, {}
    with open(os.path.join(o.dir, "works.txt")) as f:
        lines = [line.split() for line in f]
    for work, *size, label, cubin in lines:
        if o.works and work not in o.works.split(","):
            continue
        key = (work, *map(int, size))
        if key not in sets:
            sets = {key: WORKS[work](*key[1:])}
        s = sets[key]
        launch = runtime.kernel(os.path.join(o.dir, cubin))(**s["args"])
        others = same(launch, outputs(s, label, o.joins), o.runs, noise)
        kernels += 1
        differ += others > 0
        if others:
            print(f"DIFFERS {work} {'x'.join(size)} {label}: {others} of {o.runs} runs", flush=True)
    print(f"{kernels} kernels and sizes, {o.runs} runs each: {differ} of them with other bits", flush=True)
    return 1 if differ or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
