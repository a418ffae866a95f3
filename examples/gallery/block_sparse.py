# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs block_sparse.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
R, T, N, K = 4, 3, 136, 200
a, b, d = normal((R, T, 128, 64)), normal((N, K)), empty((R, 128, N), "bf16")
count = np.array([2, 0, 3, 7])  # no more than T blocks are there
cols = np.array([[3, 0, 9], [1, 1, 1], [2, -1, 2], [4, 1, 0]])  # -1 and 4 are no columns of b

dslc.load(source)(a, array(count, "s32"), array(cols, "s32"), b, out=d)
padded = np.zeros((N, 256), np.float32)
padded[:, :K] = f32(b)
want = np.zeros((R, 128, N), np.float32)
for r in range(R):
    for j in range(min(count[r], T)):
        if 0 <= cols[r, j] < 4:
            want[r] += f32(a)[r, j] @ padded[:, cols[r, j] * 64:][:, :64].T
compare("block_sparse", d, want)
