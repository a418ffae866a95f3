# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs gather_scatter.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal, zeros

source = pathlib.Path(__file__).with_suffix(".gemm")
T, M, N, K = 200, 90, 136, 72
rows = np.random.default_rng(1).permutation(T)[:M]  # a scatter writes each row once at most
rows[7] = -1

x, w, h = normal((T, K)), normal((N, K)), empty((M, N), "bf16")
dslc.load(source, "gather")(x, array(rows, "s32"), w, out=h)
gathered = np.where(rows[:, None] < 0, 0, f32(x)[rows])
compare("gather", h, gathered @ f32(w).T)

h, y = normal((M, K)), zeros((T, N), "bf16")
dslc.load(source, "scatter")(h, array(rows, "s32"), w, out=y)
want = np.zeros((T, N), np.float32)
want[rows[rows >= 0]] = (f32(h) @ f32(w).T)[rows >= 0]
compare("scatter", y, want)  # a row that no index names keeps what it held
