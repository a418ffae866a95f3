# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs experts_fp8.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

counts = [70, 0, 5, 61]  # rows of each expert
G, M, T, N, K = len(counts), sum(counts), 90, 144, 304
NB, KB = -(-N // 128), -(-K // 128)  # blocks, rounded up
ends, rows = np.cumsum(counts), np.random.default_rng(1).integers(0, T, M)
x, w, y = normal((T, K), "e4m3"), normal((G, N, K), "e4m3"), empty((M, N), "bf16")
sx = array(1 + abs(f32(normal((KB, T), "f32"))), "f32").T  # of shape (T, KB), column-major
sw = array(1 + abs(f32(normal((G, NB, KB), "f32"))), "f32")
experts = dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))
experts(x, sx, array(rows, "s32"), array(ends, "s32"), w, sw, out=y)

full_x = (f32(x) * np.repeat(f32(sx), 128, 1)[:, :K])[rows]
full_w = f32(w) * np.repeat(np.repeat(f32(sw), 128, 1), 128, 2)[:, :N, :K]
compare("experts_fp8", y, np.concatenate([full_x[end - n:end] @ full_w[g].T for g, (n, end) in enumerate(zip(counts, ends))]))
