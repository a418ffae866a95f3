# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs grouped.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

rows = [70, 0, 5, 133]  # of each group; one is empty
G, M, N, K = len(rows), sum(rows), 136, 72
ends = np.cumsum(rows)
a, b, d = normal((M, K)), normal((G, N, K)), empty((M, N), "bf16")
grouped = dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))
grouped(a, array(ends, "s32"), b, out=d)

a, b = f32(a), f32(b)
compare("grouped", d, np.concatenate([a[end - n:end] @ b[g].T for g, (n, end) in enumerate(zip(rows, ends))]))
