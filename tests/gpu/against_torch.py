# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our kernels beside torch's, in one process, interleaved.

    python3 against_torch.py DIR [--rounds 30] [--works NAME,...] [--out FILE.json]

DIR/works.txt has a line a kernel of ours: WORK SIZES LABEL CUBIN, where SIZES are M N K, or L M N K of a batch
(tests/gpu/batch_cases.sh writes those), or G M N K of M rows in G groups (grouped_cases.sh). WORK is a row of WORKS below, which says what
the tensors are and what torch does for the same result. Every line of the table is one WORK and size: all entries run in CUDA graphs
of about 4 ms, over buffers that together exceed four times the L2, in fresh random order each round; before the
first round everything runs for two seconds, so that the card is at its power cap. Reported: the median time, and
the median over the rounds of torch's time divided by ours. "again" is torch's first entry a second time: what it differs from
itself by is noise. A kernel whose LABEL begins with plain_ has no epilogue; "plain" of another is that one's time over
its own. Where a work names a neighbour, the same kernel on tensors that TMA takes as they lie, it is an entry too, LABEL.aligned. Each of our results is compared with a product in f32 before it is timed: off by what
bf16 and sums in f32 explain, or by no more than a quarter above what torch's own is (sums of 8-bit floats lose bits).
"""
import argparse
import ctypes
import itertools
import json
import math
import os
import random
import re
import statistics
import sys
import time

import torch

DEV = "cuda"
FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."


# ---------------------------------------------------------------- the runtime
class Arg(ctypes.Structure):
    class V(ctypes.Union):
        _fields_ = [("ptr", ctypes.c_uint64), ("i", ctypes.c_int64), ("f", ctypes.c_double)]
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int), ("v", V)]


class Opts(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("sms", ctypes.c_int), ("pdl", ctypes.c_int), ("workspace", ctypes.c_uint64),
                ("workspace_size", ctypes.c_size_t), ("semaphores", ctypes.c_uint64), ("semaphores_size", ctypes.c_size_t)]


def arg(name, x):
    if isinstance(x, Arg):
        return x
    if isinstance(x, torch.Tensor):
        return Arg(name.encode(), 1, Arg.V(ptr=x.data_ptr()))
    if isinstance(x, int):
        return Arg(name.encode(), 2, Arg.V(i=x))
    return Arg(name.encode(), 3, Arg.V(f=x))


class Runtime:
    def __init__(self, folder):
        self.lib = ctypes.CDLL(os.path.join(folder, "libdsl_runtime.so"))
        self.lib.dsl_detail.restype = ctypes.c_char_p
        self.dev = ctypes.c_void_p()
        self.check(self.lib.dsl_device_open(b"cuda:0", ctypes.byref(self.dev)))
        self.spaces = [torch.empty(0, device=DEV, dtype=torch.uint8)]
        self.semaphores = torch.zeros(16384, device=DEV, dtype=torch.uint8)

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.dsl_detail().decode())

    def space(self, size):
        """Workspace that all launches share, since all are in one stream at a time; what was given before stays."""
        if self.spaces[-1].nbytes < size:
            self.spaces.append(torch.empty(size, device=DEV, dtype=torch.uint8))
        return self.spaces[-1].data_ptr()

    def kernel(self, path):
        """A function from arguments by name to a function that launches in torch's current stream; pack names
        tensors that are packed once, before."""
        mod = ctypes.c_void_p()
        self.check(self.lib.dsl_module_load(self.dev, path.encode(), ctypes.byref(mod)))
        self.lib.dsl_module_manifest.restype = ctypes.c_char_p
        desc = json.loads(self.lib.dsl_module_manifest(mod))["kernels"][0]
        name = desc["name"].encode()
        takes = {a["name"] for a in desc["args"]} | set(desc["syms"])

        def stream():
            return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

        def packed(tensor, c, n):
            size, made = ctypes.c_size_t(), Arg()
            self.check(self.lib.dsl_pack_size(mod, name, tensor, c, n, ctypes.byref(size)))
            self.spaces.insert(0, torch.empty(size.value, device=DEV, dtype=torch.uint8))
            at = ctypes.c_uint64(self.spaces[0].data_ptr())
            self.check(self.lib.dsl_pack(mod, name, tensor, c, n, at, size, stream(), ctypes.byref(made)))
            return made

        def bind(pack=(), space=None, **args):
            args = {x: y for x, y in args.items() if x in takes}
            n, size = ctypes.c_size_t(len(args)), ctypes.c_size_t()
            c = (Arg * len(args))(*(arg(x, y) for x, y in args.items()))
            for tensor in pack:
                c[list(args).index(tensor)] = packed(tensor.encode(), c, n)
            self.check(self.lib.dsl_workspace_size(mod, name, c, n, ctypes.byref(size)))
            at = (space or self.space)(size.value) if size.value else 0
            opts = Opts(ctypes.sizeof(Opts), 0, 0, at, size.value, self.semaphores.data_ptr(), self.semaphores.nbytes)

            def launch():
                self.check(self.lib.dsl_launch(mod, name, c, n, stream(), ctypes.byref(opts)))
            launch.opts = opts
            return launch
        return bind


# ---------------------------------------------------------------- works
def normal(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device=DEV, dtype=torch.float32).to(dtype)


def matrices(M, N, K):
    return dict(A=normal(M, K), B=normal(N, K), D=torch.full((M, N), float("nan"), device=DEV, dtype=torch.bfloat16))


def mm(M, N, K):
    t = matrices(M, N, K)
    return dict(args=dict(t, M=M, N=N, K=K), want=lambda: t["A"].float() @ t["B"].float().t(), out=t["D"],
                torch={"mm": lambda: torch.mm(t["A"], t["B"].t(), out=t["D"])})


def majors(a, b):
    """mm where A is contiguous along a ("m" or "k") and B along b ("n" or "k")."""
    def work(M, N, K):
        t = matrices(M, N, K)
        A, B = t["A"], t["B"]
        args = dict(t, M=M, N=N, K=K, lda=K, ldb=K)
        if a == "m":
            A = t["A"].t().contiguous().t()
            args.update(A=A, lda=M)
        if b == "n":
            B = t["B"].t().contiguous().t()
            args.update(B=B, ldb=N)
        return dict(args=args, want=lambda: A.float() @ B.float().t(), out=t["D"],
                    torch={"mm": lambda: torch.mm(A, B.t(), out=t["D"])})
    return work


def residual(M, N, K):
    t = dict(matrices(M, N, K), C=normal(M, N))
    return dict(args=dict(t, M=M, N=N, K=K), want=lambda: t["A"].float() @ t["B"].float().t() + t["C"].float(),
                out=t["D"],
                torch={"addmm": lambda: torch.addmm(t["C"], t["A"], t["B"].t(), out=t["D"]),
                       "mm": lambda: torch.mm(t["A"], t["B"].t(), out=t["D"])})


def gelu(M, N, K):
    """gelu_tanh(A B' + bias): cuBLASLt's own epilogue, and two kernels."""
    t = dict(matrices(M, N, K), bias=normal(N))
    product, x = lambda: t["A"].float() @ t["B"].float().t(), torch.empty_like(t["D"])

    def two():
        torch.addmm(t["bias"], t["A"], t["B"].t(), out=x)
        torch.ops.aten.gelu.out(x, approximate="tanh", out=t["D"])

    def one():
        torch.ops.aten._addmm_activation.out(t["bias"], t["A"], t["B"].t(), use_gelu=True, out=t["D"])
    return dict(args=dict(t, M=M, N=N, K=K), plain=product, out=t["D"], torch={"epilogue": one, "two": two},
                want=lambda: torch.nn.functional.gelu(product() + t["bias"].float(), approximate="tanh"))


def swiglu(M, N, K):
    """N counts both halves: one product with both, then one kernel of Triton's; and torch's own two for the second step."""
    from gate import gate
    H = N // 2
    t = dict(A=normal(M, K), D=torch.full((M, H), float("nan"), device=DEV, dtype=torch.bfloat16))
    both, x = normal(N, K), torch.empty(M, N, device=DEV, dtype=torch.bfloat16)

    def fused():
        torch.mm(t["A"], both.t(), out=x)
        gate(x, t["D"])

    def eager():
        torch.mm(t["A"], both.t(), out=x)
        torch.mul(torch.nn.functional.silu(x[:, :H]), x[:, H:], out=t["D"])

    def want():
        y = t["A"].float() @ both.float().t()
        return torch.nn.functional.silu(y[:, :H]) * y[:, H:]
    return dict(args=dict(t, B=both[:H], U=both[H:], M=M, N=H, K=K), want=want, out=t["D"],
                torch={"fused": fused, "eager": eager, "mm": lambda: torch.mm(t["A"], both.t(), out=x)})


def scaled(M, N, K):
    """e4m3 with a scale for each row of A and of B."""
    t = dict(A=normal(M, K, dtype=torch.float8_e4m3fn), B=normal(N, K, dtype=torch.float8_e4m3fn),
             rows=torch.rand(M, device=DEV) + 0.5, cols=torch.rand(N, device=DEV) + 0.5,
             D=torch.full((M, N), float("nan"), device=DEV, dtype=torch.bfloat16))
    product = lambda: t["A"].float() @ t["B"].float().t()
    return dict(args=dict(t, M=M, N=N, K=K), plain=product, out=t["D"],
                want=lambda: product() * t["rows"][:, None] * t["cols"],
                torch={"rowwise": lambda: torch._scaled_mm(t["A"], t["B"].t(), scale_a=t["rows"][:, None],
                                                           scale_b=t["cols"][None, :], out_dtype=torch.bfloat16,
                                                           use_fast_accum=True, out=t["D"])})


def blocks(M, N, K):
    """e4m3 with a scale for each 128 elements of K of each row of A, and for each 128 x 128 of B; torch has that since 2.8,
    and one scale for the whole tensor, summed by the tensor core, before that."""
    KB, NB = -(-K // 128), -(-N // 128)
    t = dict(A=normal(M, K, dtype=torch.float8_e4m3fn), B=normal(N, K, dtype=torch.float8_e4m3fn),
             rows=(torch.rand(KB, M, device=DEV) + 0.5), cols=torch.rand(NB, KB, device=DEV) + 0.5,
             D=torch.full((M, N), float("nan"), device=DEV, dtype=torch.bfloat16))
    one = torch.ones((), device=DEV)

    def product():
        return t["A"].float() @ t["B"].float().t()

    def want():
        a = t["A"].float() * t["rows"].t().repeat_interleave(128, 1)[:, :K]
        b = t["B"].float() * t["cols"].repeat_interleave(128, 0).repeat_interleave(128, 1)[:N, :K]
        return a @ b.t()

    def whole():
        torch._scaled_mm(t["A"], t["B"].t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True, out=t["D"])

    def scaled():
        torch._scaled_mm(t["A"], t["B"].t(), scale_a=t["rows"].t(), scale_b=t["cols"].t(), out_dtype=torch.bfloat16, out=t["D"])
    theirs = {"fast": whole}
    try:
        scaled()
        theirs["blocks"] = scaled
    except (RuntimeError, ValueError) as e:
        print(f"torch {torch.__version__} has no scales of blocks: {str(e).splitlines()[0]}", flush=True)
    return dict(args=dict(t, M=M, N=N, K=K, KB=KB, NB=NB), want=want, plain=product, out=t["D"], torch=theirs)


def weights(bits, signed=False):
    """M x K weights of 4 or 8 bits, with a scale for each 128 elements of K of a row and, where they are unsigned, a zero, times N rows
    of activations; torch has them in bf16."""
    def work(M, N, K):
        KB, G = -(-K // 128), 128
        codes = torch.randint(0, 256, (M, K * bits // 8), device=DEV, dtype=torch.uint8)
        zeros = torch.randint(0, 1 << bits, (KB, M), device=DEV, dtype=torch.uint8)
        scales, X = (torch.rand(KB, M, device=DEV) + 0.5).to(torch.bfloat16), normal(N, K)
        D = torch.full((N, M), float("nan"), device=DEV, dtype=torch.bfloat16)
        W = (torch.stack((codes & 15, codes >> 4), 2).view(M, K) if bits == 4 else codes).float()
        if signed:
            W = torch.where(W >= 1 << bits - 1, W - (1 << bits), W)
        else:
            W -= zeros.t().repeat_interleave(G, 1)[:, :K]
        W = (W * scales.t().repeat_interleave(G, 1)[:, :K]).to(torch.bfloat16)
        return dict(args=dict(W=codes, A=codes, X=X, B=X, zeros=zeros, scales=scales, D=D, M=M, N=N, K=K, KB=KB), out=D,
                    want=lambda: X.float() @ W.float().t(), torch={"mm": lambda: torch.mm(X, W.t(), out=D)})
    return work


def joined(M, N, K):
    """A value for each row or column of D, or one for all, beside D: the kernel's label begins with which."""
    t = dict(matrices(M, N, K), row=torch.zeros(M, device=DEV), col=torch.zeros(N, device=DEV),
             all=torch.zeros(1, device=DEV), part=torch.zeros(-(-M // 128), N, device=DEV))
    product = lambda: t["A"].float() @ t["B"].float().t()
    joins = {"sum": ("row", lambda: product().square().sum(1)), "max": ("row", lambda: product().abs().amax(1)),
             "col": ("col", lambda: product().square().sum(0)), "amax": ("all", lambda: product().abs().amax()),
             "part": ("part", lambda: product().square().view(-1, 128, N).sum(1))}
    return dict(args=dict(t, M=M, N=N, K=K, H=len(t["part"])), want=product, plain=product, out=t["D"], joins=joins,
                torch={"mm": lambda: torch.mm(t["A"], t["B"].t(), out=t["D"])})


def floats8(M, N, K):
    """e4m3, sums as the tensor core has them (use_fast_accum), scales of 1."""
    t = dict(A=normal(M, K, dtype=torch.float8_e4m3fn), B=normal(N, K, dtype=torch.float8_e4m3fn),
             D=torch.full((M, N), float("nan"), device=DEV, dtype=torch.bfloat16))
    one = torch.ones((), device=DEV)

    def scaled(fast):
        return lambda: torch._scaled_mm(t["A"], t["B"].t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16,
                                        use_fast_accum=fast, out=t["D"])
    return dict(args=dict(t, M=M, N=N, K=K), want=lambda: t["A"].float() @ t["B"].float().t(), out=t["D"],
                torch={"fast": scaled(True), "promoted": scaled(False)})


def integers8(M, N, K):
    def integers(*shape):
        return torch.randint(-127, 128, shape, device=DEV, dtype=torch.int8)
    t = dict(A=integers(M, K), B=integers(N, K), D=torch.zeros(M, N, device=DEV, dtype=torch.int32))
    return dict(args=dict(t, M=M, N=N, K=K), want=lambda: t["A"].float() @ t["B"].float().t(), out=t["D"],
                torch={"_int_mm": lambda: torch._int_mm(t["A"], t["B"].t(), out=t["D"])})


def bmm(L, M, N, K):
    t = dict(A=normal(L, M, K), B=normal(L, N, K), D=torch.full((L, M, N), float("nan"), device=DEV, dtype=torch.bfloat16))
    return dict(args=dict(t, L=L, M=M, N=N, K=K, sA=M * K, sB=N * K), out=t["D"],
                want=lambda: torch.bmm(t["A"].float(), t["B"].float().transpose(1, 2)),
                torch={"bmm": lambda: torch.bmm(t["A"], t["B"].transpose(1, 2), out=t["D"])})


def bmm_one(L, M, N, K):
    """All matrices of A by one B: a stride of 0."""
    t = dict(A=normal(L, M, K), B=normal(N, K), D=torch.full((L, M, N), float("nan"), device=DEV, dtype=torch.bfloat16))
    one = t["B"].t().expand(L, K, N)
    return dict(args=dict(t, L=L, M=M, N=N, K=K, sA=M * K, sB=0), out=t["D"],
                want=lambda: t["A"].float() @ t["B"].float().t(),
                torch={"bmm": lambda: torch.bmm(t["A"], one, out=t["D"]),
                       "mm": lambda: torch.mm(t["A"].view(-1, K), t["B"].t(), out=t["D"].view(-1, N))})


def apart(rows, cols, step):
    """A matrix whose rows are step elements apart."""
    return normal(rows, step)[:, :cols]


def odd(more_a, more_b, pack=()):
    """mm of operands whose rows are so many elements longer than K, the packed ones copied once; beside the next
    multiples of 64 with dense rows."""
    def work(M, N, K):
        A, B = apart(M, K, K + more_a), apart(N, K, K + more_b)
        D = torch.full((M, N), float("nan"), device=DEV, dtype=torch.bfloat16)
        m, n, k = (round(x / 64) * 64 for x in (M, N, K))
        t = matrices(m, n, k)
        return dict(args=dict(A=A, B=B, D=D, M=M, N=N, K=K, lda=K + more_a, ldb=K + more_b, ldd=N, pack=pack),
                    aligned=dict(t, M=m, N=n, K=k, lda=k, ldb=k, ldd=n), want=lambda: A.float() @ B.float().t(), out=D,
                    torch={"mm": lambda: torch.mm(A, B.t(), out=D)})
    return work


def streamed(args, want, moved, theirs):
    """Work at the speed of memory: beside torch's, a copy of as many bytes as are read and written."""
    a, b = (torch.empty(moved // 2, device=DEV, dtype=torch.uint8) for _ in range(2))
    return dict(args=args, want=want, out=args["D"], moved=moved, torch=dict(theirs, copy=lambda: a.copy_(b)))


def axpby(N):
    x, y, z = (normal(N, dtype=torch.float16) for _ in range(3))

    def two():
        torch.mul(y, -0.75, out=z)
        torch.add(z, x, alpha=1.5, out=z)
    return streamed(dict(x=x, y=y, z=z, D=z, a=1.5, b=-0.75, N=N), lambda: 1.5 * x.float() - 0.75 * y.float(),
                    3 * x.nbytes, {"two": two})


def transpose(M, N):
    X, D = normal(M, N), normal(N, M)
    return streamed(dict(X=X, D=D, M=M, N=N), lambda: X.t().float(), 2 * X.nbytes, {"copy_": lambda: D.copy_(X.t())})


def softmax(M, N):
    X, D = normal(M, N), normal(M, N)
    return streamed(dict(X=X, D=D, M=M, N=N), lambda: X.float().softmax(1), 2 * X.nbytes,
                    {"softmax": lambda: torch.softmax(X, 1, out=D)})


def norm(M, N):
    """RMS norm with weights."""
    X, w, D = normal(M, N), normal(N), normal(M, N)

    def want():
        return X.float() * torch.rsqrt(X.float().square().mean(1, keepdim=True) + 1e-6) * w.float()
    return streamed(dict(X=X, w=w, D=D, eps=1e-6, M=M, N=N), want, 2 * X.nbytes,
                    {"rms_norm": lambda: torch.nn.functional.rms_norm(X, (N,), w, 1e-6)})


def residual_norm(M, N):
    """The same of a sum, which goes on to the next layer."""
    X, R, w, S, D = normal(M, N), normal(M, N), normal(N), normal(M, N), normal(M, N)

    def want():
        x = X.float() + R.float()
        return x * torch.rsqrt(x.square().mean(1, keepdim=True) + 1e-6) * w.float()

    def two():
        torch.add(X, R, out=S)
        return torch.nn.functional.rms_norm(S, (N,), w, 1e-6)
    return streamed(dict(X=X, R=R, w=w, S=S, D=D, eps=1e-6, M=M, N=N), want, 4 * X.nbytes, {"two": two})


def gather(M, N, K, Q=65536):
    """M rows of Q, picked by indices: torch copies them first. Of a kernel whose label begins with plain_, the first M rows."""
    t = dict(A=normal(Q, K), B=normal(N, K), rows=torch.randperm(Q, device=DEV)[:M].to(torch.int32),
             D=torch.full((M, N), float("nan"), device=DEV, dtype=torch.bfloat16))
    index, picked = t["rows"].long(), torch.empty(M, K, device=DEV, dtype=torch.bfloat16)

    def both():
        torch.index_select(t["A"], 0, index, out=picked)
        torch.mm(picked, t["B"].t(), out=t["D"])
    return dict(args=dict(t, M=M, N=N, K=K, Q=Q), out=t["D"], plain=lambda: t["A"][:M].float() @ t["B"].float().t(),
                want=lambda: t["A"][index].float() @ t["B"].float().t(),
                torch={"select+mm": both, "mm": lambda: torch.mm(t["A"][:M], t["B"].t(), out=t["D"])})


def triangular(M, N, K):
    """Of A the lower triangle, in blocks of 128: tile row m has trips for its columns alone. torch multiplies with zeros above."""
    t = matrices(M, N, K)
    rows, columns = torch.arange(M, device=DEV) // 128, torch.arange(K, device=DEV) // 64
    A = torch.where(columns[None, :] <= rows[:, None], t["A"], torch.zeros_like(t["A"]))
    return dict(args=dict(t, M=M, N=N, K=K), want=lambda: A.float() @ t["B"].float().t(), out=t["D"],
                flop=2 * N * 64 * 128 * sum(min(m + 1, K // 64) for m in range(M // 128)),
                torch={"mm": lambda: torch.mm(A, t["B"].t(), out=t["D"])})


def equal(G, M):
    return [(g + 1) * M // G for g in range(G)]


def zipf(G, M):
    """Each row belongs to a group by Zipf's law, exponent 1, groups in no order: the same rows each time."""
    draw = random.Random(18)
    weights = [1 / (g + 1) for g in range(G)]
    draw.shuffle(weights)
    counts = [0] * G
    for g in draw.choices(range(G), weights, k=M):
        counts[g] += 1
    return list(itertools.accumulate(counts))


def grouped(lengths):
    """M rows of A in G groups, one after the other, each by the K x N weights of its group. "floor" is what memory needs: rows once,
    weights of the groups that have rows once, at 4.4 TB/s."""
    def work(G, M, N, K):
        t = dict(A=normal(M, K), B=normal(G, N, K), D=torch.full((M, N), float("nan"), device=DEV, dtype=torch.bfloat16))
        cuts = [0, *lengths(G, M)]
        ends = torch.tensor(cuts[1:], dtype=torch.int32, device=DEV)
        used = sum(a < b for a, b in itertools.pairwise(cuts))

        def want():
            return torch.cat([t["A"][a:b].float() @ t["B"][g].float().t() for g, (a, b) in enumerate(itertools.pairwise(cuts))])
        return dict(args=dict(t, ends=ends, G=G, M=M, N=N, K=K), want=want, out=t["D"], flop=2 * M * N * K,
                    floor=2 * (M * K + used * N * K + M * N) / 4.4e6,
                    torch={"grouped": lambda: torch._grouped_mm(t["A"], t["B"].transpose(1, 2), offs=ends)})
    return work


def gradients(lengths):
    """M rows of A and of B in G groups: a product of each group's, N x K, along its rows. The floor is of rows and results, once each."""
    def work(G, M, N, K):
        t = dict(A=normal(M, N), B=normal(M, K), D=torch.full((G, N, K), float("nan"), device=DEV, dtype=torch.bfloat16))
        cuts = [0, *lengths(G, M)]
        ends = torch.tensor(cuts[1:], dtype=torch.int32, device=DEV)

        def want():
            return torch.stack([t["A"][a:b].float().t() @ t["B"][a:b].float() for a, b in itertools.pairwise(cuts)])
        return dict(args=dict(t, ends=ends, G=G, T=M, M=N, N=K), want=want, out=t["D"], flop=2 * M * N * K,
                    floor=2 * (M * K + M * N + G * N * K) / 4.4e6,
                    torch={"grouped": lambda: torch._grouped_mm(t["A"].t(), t["B"], offs=ends)})
    return work


def sm80(kind):
    """What tests/gpu/sm80 built, by mma.sync; sums of "simple" are of f16, of "multi" of f32, which torch and Triton do too."""
    def work(M, N, K):
        from sm80 import of_library, of_triton
        A, B, D = (normal(*shape, dtype=torch.float16) for shape in ((M, K), (N, K), (M, N)))
        theirs = of_library(FOLDER, kind, A, B, D)
        if kind == "multi":
            theirs = dict(mm=lambda: torch.mm(A, B.t(), out=D), **theirs, **of_triton(A, B, D))
        return dict(args=dict(A=A, B=B, D=D, M=M, N=N, K=K), want=lambda: A.float() @ B.float().t(), out=D, torch=theirs)
    return work


WORKS = dict(multi=sm80("multi"), simple=sm80("simple"), axpby=axpby, transpose=transpose, softmax=softmax, norm=norm, residual_norm=residual_norm,
             gather=gather, e4m3=floats8, s8=integers8, mm=mm, residual=residual, bmm=bmm, bmm_one=bmm_one,
             gelu=gelu, swiglu=swiglu, scaled=scaled, joined=joined, blocks=blocks, weights_u4=weights(4),
             weights_s4=weights(4, True), weights_u8=weights(8), weights_s8=weights(8, True),
             kk=majors("k", "k"), mk=majors("m", "k"), kn=majors("k", "n"), mn=majors("m", "n"),
             triangular=triangular, grouped=grouped(equal), zipf=grouped(zipf), wgrad=gradients(equal), wgrad_zipf=gradients(zipf),
             odd=odd(0, 0), odd_lda=odd(1, 1), odd_once=odd(0, 1, ("B",)))


# ---------------------------------------------------------------- timing
class Entry:
    def __init__(self, name, calls):
        self.name, self.calls, self.us = name, calls, []

    def capture(self):
        start, end = torch.cuda.Event(True), torch.cuda.Event(True)
        for f in self.calls:
            f()
        torch.cuda.synchronize()
        start.record()
        for f in self.calls:
            f()
        end.record()
        torch.cuda.synchronize()
        turns = max(1, round(4.0 / max(start.elapsed_time(end), 1e-3)))
        self.launches = turns * len(self.calls)
        stream, self.graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream):
            for _ in range(turns):
                for f in self.calls:
                    f()

    def sample(self):
        start, end = torch.cuda.Event(True), torch.cuda.Event(True)
        start.record()
        self.graph.replay()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) * 1e3 / self.launches


def right(data, call, want="want"):
    """The largest error against f32, in parts of what bf16 and sums in f32 explain."""
    data["out"].fill_(float("nan") if data["out"].is_floating_point() else -1)
    made = call()
    torch.cuda.synchronize()
    want = data[want]()
    scale = want.abs() * 2 ** -8 + want.abs().mean() * 2 ** -8
    return (((data["out"] if made is None else made).float() - want).abs() / scale).nan_to_num(1e9).max().item()


def right_joins(data, call, label):
    """Of what is joined to, in the same parts; sums in f32 and their order explain a 2^-12."""
    name, wanted = data["joins"][label.partition("_")[0]]
    data["args"][name].zero_()
    call()
    want = wanted()
    return ((data["args"][name] - want).abs() / (want * 2 ** -12)).nan_to_num(1e9).max().item()


def measure(runtime, work, size, ours, rounds):
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    torch.backends.cuda.matmul.allow_tf32 = False
    sets = [WORKS[work](*size)]
    read = sets[0].get("moved") or sum(sets[0]["args"][x].nbytes for x in "AB")
    sets += [WORKS[work](*size) for _ in range(min(24, max(2, -(-4 * l2 // read))) - 1)]
    names = list(sets[0]["torch"])
    entries = [Entry("torch." + n, [s["torch"][n] for s in sets]) for n in names]
    entries.append(Entry("again", [s["torch"][names[0]] for s in sets]))
    for label, path in ours:
        bind = runtime.kernel(path)
        calls = [bind(**s["args"]) for s in sets]
        error = right(sets[0], calls[0], "plain" if label.startswith("plain_") else "want")
        if "joins" in sets[0] and not label.startswith("plain_"):
            error = max(error, right_joins(sets[0], calls[0], label))
        theirs = 0 if "moved" in sets[0] else right(sets[0], sets[0]["torch"][names[0]])
        if not error <= max(1, 1.25 * theirs):
            print(f"WRONG {work} {'x'.join(map(str, size))} {label}: {error:g} times what is allowed", flush=True)
        entries.append(Entry(label, calls))
        if "aligned" in sets[0]:
            entries.append(Entry(label + ".aligned", [bind(**s["aligned"]) for s in sets]))
    for e in entries:
        e.capture()
    burst = {e.name: e.sample() for e in entries}
    until = time.time() + 2
    while time.time() < until:
        for e in entries:
            e.sample()
    for _ in range(rounds):
        for e in random.sample(entries, len(entries)):
            e.us.append(e.sample())
    return entries, names, burst, sets[0]


def over(e, other):
    """The time of another entry over this one's, round by round."""
    return round(statistics.median(t / u for t, u in zip(other.us, e.us)), 4)


def report(work, size, entries, names, burst, data):
    rows, moved, floor = [], data.get("moved"), data.get("floor")
    by = {e.name: e for e in entries}
    plain = min((e for e in entries if e.name.startswith("plain_")), key=lambda e: statistics.median(e.us), default=None)
    work_done, unit = (moved / 1e3, "GB/s") if moved else (data.get("flop", 2.0 * math.prod(size)) / 1e6, "TF/s")
    for e in entries:
        us = statistics.median(e.us)
        row = dict(work=work, size=size, entry=e.name, us=round(us, 2), rate=round(work_done / us, 1), unit=unit,
                   burst_us=round(burst[e.name], 2))
        for n in names:
            row[n] = over(e, by["torch." + n])
        rows.append(row)
        if floor:
            row["floor"] = round(floor / us, 4)
        if e.name + ".aligned" in by:
            row["aligned"] = over(e, by[e.name + ".aligned"])
        twin = "plain_" + re.sub("^(approx|sum|max|col|amax)_", "", e.name)
        if twin in by:
            row["plain"] = over(e, by[twin])
        if plain:
            row["best plain"] = over(e, plain)
        ratios = "  ".join(f"{n} / this {row[n]:.3f}" for n in [*names, "floor", "aligned", "plain", "best plain"] if n in row)
        print(f"{work:10} {'x'.join(map(str, size)):18} {e.name:28} {us:9.2f} us {row['rate']:7.1f} {unit}  {ratios}",
              flush=True)
    return rows


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("dir")
    ap.add_argument("--rounds", type=int, default=30)
    ap.add_argument("--works", default="")
    ap.add_argument("--out", default="")
    o = ap.parse_args()
    runtime, rows, kernels = Runtime(o.dir), [], {}
    with open(os.path.join(o.dir, "works.txt")) as f:
        for line in f:
            work, *size, label, cubin = line.split()
            if not o.works or work in o.works.split(","):
                kernels.setdefault((work, *map(int, size)), []).append((label, os.path.join(o.dir, cubin)))
    for (work, *size), ours in kernels.items():
        try:
            rows += report(work, tuple(size), *measure(runtime, work, size, ours, o.rounds))
        except (RuntimeError, NotImplementedError) as e:
            print(f"WRONG {work} {'x'.join(map(str, size))}: {e}", flush=True)
        torch.cuda.empty_cache()
    if o.out:
        with open(o.out, "w") as f:
            json.dump(rows, f)
    return not rows


if __name__ == "__main__":
    sys.exit(main())
