# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands that TMA cannot take where they lie, on a GPU: every result has the bits of the same kernel on aligned
copies of its operands.

    python3 ways.py DIR          DIR/ways/*.cubin are ways_cases.sh's; the exit code is the number of failures

Sizes, distances between rows and addresses, of 1, 2 and 4 bytes an element; one workspace for launch after launch
after a slow writer; a graph, replayed 100 times with other inputs; two streams; one byte short. Last, how fast the
copy is.
"""
import os
import sys

import torch

from against_torch import DEV, Runtime

NAN = {torch.bfloat16: float("nan"), torch.float32: float("nan"), torch.int32: -7}
KERNELS = dict(ping_128=(torch.bfloat16, torch.bfloat16), ping_128_c2x1=(torch.bfloat16, torch.bfloat16),
               coop_256=(torch.bfloat16, torch.bfloat16), e4m3=(torch.float8_e4m3fn, torch.bfloat16),
               s8=(torch.int8, torch.int32), tf32=(torch.float32, torch.float32))
SIZES = [(1, 1, 1), (77, 71, 41), (131, 259, 137), (129, 1003, 67), (300, 200, 1003), (1, 4096, 4099), (1000, 1001, 4095)]
failures = 0


def check(what, ok):
    global failures
    if not ok:
        failures += 1
        print("WRONG", what, flush=True)


def values(count, dtype):
    if dtype == torch.int8:
        return torch.randint(-127, 128, (count,), device=DEV, dtype=dtype)
    return torch.randn(count, device=DEV).to(dtype)


def matrix(rows, cols, step, offset, dtype):
    """Rows step elements apart, offset elements after an aligned address; the tensor ends where its memory does."""
    return values(offset + (rows - 1) * step + cols, dtype).as_strided((rows, cols), (step, 1), offset)


def bits(x):
    return x.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[x.element_size()])


def refill(x):
    bits(x).copy_(bits(values(x.numel(), x.dtype)).view(x.shape))


class Problem:
    """One product, of operands as they lie and of aligned copies."""

    def __init__(self, bind, kinds, size, more, offset, space=None):
        m, n, k = self.size = size
        self.a, self.b = (matrix(rows, k, k + more, at, kinds[0]) for rows, at in ((m, offset), (n, 2 * offset)))
        step = -(-k // 64) * 64
        self.copies = [torch.zeros(rows, step, device=DEV, dtype=kinds[0]) for rows in (m, n)]
        self.want = torch.full((m, n), NAN[kinds[1]], device=DEV, dtype=kinds[1])
        self.room = torch.full((2 * offset + m * (n + more) + 8,), NAN[kinds[1]], device=DEV, dtype=kinds[1])
        self.d = self.room.as_strided((m, n), (n + more, 1), offset)
        sizes = dict(M=m, N=n, K=k)
        self.launch = bind(space=space, A=self.a, B=self.b, D=self.d, lda=k + more, ldb=k + more, ldd=n + more, **sizes)
        self.aligned = bind(A=self.copies[0], B=self.copies[1], D=self.want, lda=step, ldb=step, ldd=n, **sizes)
        check("aligned operands ask for workspace", self.aligned.opts.workspace_size == 0)

    def same(self):
        """Whether D is what the aligned kernel computes of what a and b hold now."""
        for to, x in zip(self.copies, (self.a, self.b)):
            bits(to)[:, :self.size[2]] = bits(x)
        self.aligned()
        torch.cuda.synchronize()
        return torch.equal(bits(self.d), bits(self.want)) and self.alone()

    def alone(self):
        """Whether nothing but D was written."""
        rest = self.room.clone()
        rest.as_strided(self.d.shape, self.d.stride(), self.d.storage_offset()).fill_(self.room[-1])
        return torch.equal(bits(rest), bits(self.room[-1:].expand(rest.shape).contiguous()))


def every_place(kernels):
    n = 0
    for name, (bind, kinds) in kernels.items():
        for size in SIZES:
            for more in 0, 1, 8:
                for offset in 0, 1, 3, 8:
                    p = Problem(bind, kinds, size, more, offset)
                    p.launch()
                    n += 1
                    check(f"{name} {size} rows {size[2] + more} apart, from element {offset}", p.same())
    print(f"{n} sizes and places", flush=True)


def one_space_many_launches(bind, kinds):
    """Each launch reads what a slow kernel before it writes, and the workspace that the launch before it reads."""
    ps = [Problem(bind, kinds, (512, 520, 1000 + i), 1, i) for i in range(3)]
    kept = [[(values(p.a.numel(), kinds[0]).view(p.a.shape), torch.empty_like(p.d)) for _ in range(4)] for p in ps]
    for p in ps:
        for a, d in kept[ps.index(p)]:
            bits(p.a).copy_(bits(a))
            p.launch()
            check("the first of many launches", p.same())
            d.copy_(p.d)
    for i in range(3000):
        p, (a, d) = ps[i % 3], kept[i % 3][i // 3 % 4]
        if i % 10 == 0:
            torch.cuda._sleep(200000)
        bits(p.a).copy_(bits(a))
        p.launch()
        if i % 7 == 0:
            check(f"launch {i} of many", torch.equal(bits(p.d), bits(d)))
    print("3000 launches after each other", flush=True)


def graphs(bind, kinds):
    ps = [Problem(bind, kinds, (300, 257, 999 + i), 0, 1) for i in range(2)]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for p in ps * 2:
            p.launch()
    for i in range(100):
        for p in ps:
            refill(p.a)
            refill(p.b)
        graph.replay()
        check(f"replay {i}", all([p.same() for p in ps]))
    print("100 replays", flush=True)


def streams(bind, kinds):
    ps, both = [], [torch.cuda.Stream() for _ in range(2)]
    for i in range(2):
        own = torch.empty(16 << 20, device=DEV, dtype=torch.uint8)
        ps.append((own, Problem(bind, kinds, (700, 600, 2001 + 2 * i), 0, 1, space=lambda size, own=own: own.data_ptr())))
    torch.cuda.synchronize()
    for i in range(200):
        for stream, (_, p) in zip(both, ps):
            with torch.cuda.stream(stream):
                p.launch()
        if i % 20 == 0:
            torch.cuda.synchronize()
            check(f"two streams, launch {i}", all([p.same() for _, p in ps]))
    torch.cuda.synchronize()
    print("200 launches in each of two streams", flush=True)


def short(bind, kinds):
    p = Problem(bind, kinds, (100, 64, 33), 0, 0)
    p.launch.opts.workspace_size -= 1
    try:
        p.launch()
        check("one byte short is launched", False)
    except RuntimeError as e:
        check(f"one byte short says {e}", f"{p.launch.opts.workspace_size + 1} bytes of workspace" in str(e))


def rate(runtime, path):
    """The copy alone, of both operands as a launch makes them, and of one."""
    for rows, k in (4096, 4099), (8192, 8195), (8192, 100), (1 << 20, 33):
        x = values(rows * k, torch.bfloat16).view(rows, k)
        d = torch.empty(1, rows, device=DEV, dtype=torch.bfloat16)
        bind = runtime.kernel(path)
        graph, turns = torch.cuda.CUDAGraph(), 20
        args = dict(A=x[:1], B=x, D=d, M=1, N=rows, K=k, lda=k, ldb=k, ldd=rows)
        for _ in range(2):
            bind(pack=("B",), **args)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            for _ in range(turns):
                bind(pack=("B",), **args)
        start, end = torch.cuda.Event(True), torch.cuda.Event(True)
        best = 1e9
        for _ in range(20):
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            best = min(best, start.elapsed_time(end) * 1e-3 / turns)
        print(f"copy of {rows} x {k} bf16: {best * 1e6:.1f} us, {2 * x.nbytes / best / 1e12:.2f} TB/s read and written",
              flush=True)


def main():
    folder = sys.argv[1]
    runtime = Runtime(folder)
    path = {name: os.path.join(folder, "ways", name + ".cubin") for name in KERNELS}
    kernels = {name: (runtime.kernel(path[name]), kinds) for name, kinds in KERNELS.items()}
    every_place(kernels)
    for name in "ping_128", "s8":
        one_space_many_launches(*kernels[name])
        graphs(*kernels[name])
        streams(*kernels[name])
    short(*kernels["ping_128"])
    rate(runtime, path["ping_128"])
    print(f"{failures} failures")
    return min(failures, 100)


if __name__ == "__main__":
    sys.exit(main())
