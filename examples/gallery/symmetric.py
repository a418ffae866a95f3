# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs symmetric.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal

M, K = 296, 72
a, d = normal((M, K)), empty((M, M), "bf16")
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))(a, out=d)

want = f32(a) @ f32(a).T
tile = np.arange(M) // 128
compare("symmetric", d, np.where(tile[:, None] >= tile, want, 0))
lower = np.tril(f32(d))
compare("symmetric_both", lower + np.tril(lower, -1).T, want)
