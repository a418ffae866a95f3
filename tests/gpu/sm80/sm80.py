# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What others make of mma.sync: CUTLASS's and CuTe's kernels of libsm80.so, and Triton's, which takes wgmma on Hopper unless
DISABLE_MMA_V3=1 is in the environment: a kernel with another instruction is not timed."""
import ctypes
import os

import torch
import triton
import triton.language as tl

TILES = [(128, 256, 32, 8, 3), (128, 256, 32, 8, 4), (256, 128, 32, 8, 3), (256, 128, 64, 8, 3), (128, 256, 64, 8, 3), (128, 128, 32, 4, 4),
         (128, 128, 64, 4, 3), (128, 128, 64, 8, 3)]


@triton.jit
def product(a, b, d, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pid, rows, cols = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (G * cols) * G
    high = min(rows - first, G)
    m, n = first + pid % (G * cols) % high, pid % (G * cols) // high
    im, ik, jn = m * BM + tl.arange(0, BM), tl.arange(0, BK), n * BN + tl.arange(0, BN)
    pa, pb = a + im[:, None] * K + ik[None, :], b + jn[None, :] * K + ik[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK
    tl.store(d + im[:, None] * N + jn[None, :], acc.to(tl.float16))


def of_triton(A, B, D):
    """A call for each tile whose PTX has mma.sync and no wgmma."""
    (M, K), N, calls = A.shape, B.shape[0], {}
    for BM, BN, BK, warps, stages in TILES:
        def call(BM=BM, BN=BN, BK=BK, warps=warps, stages=stages):
            return product[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](A, B, D, M, N, K, BM=BM, BN=BN, BK=BK, G=8, num_warps=warps,
                                                                     num_stages=stages)
        ptx = call().asm["ptx"]
        if "wgmma" not in ptx and "mma.sync" in ptx:
            calls[f"triton.{BM}x{BN}x{BK}.{stages}"] = call
    return calls


def of_library(folder, kind, A, B, D):
    """A call for each kernel of the library whose name begins with kind."""
    lib, calls = ctypes.CDLL(os.path.join(folder, "libsm80.so")), {}
    lib.sm80_name.restype = ctypes.c_char_p
    (M, K), N = A.shape, B.shape[0]
    pointers = [ctypes.c_void_p(x.data_ptr()) for x in (A, B, D)]
    for i in range(lib.sm80_count()):
        def call(i=i):
            status = lib.sm80_run(i, *pointers, M, N, K, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
            if status:
                raise RuntimeError(f"{lib.sm80_name(i).decode()}: {status}")
        name = lib.sm80_name(i).decode()
        if name.startswith(kind):
            calls[name] = call
    return calls
