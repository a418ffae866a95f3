# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs row_sums.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
M, N = 9, 9204
T = (N + 8191) // 8192
x, sums, parts = normal((M, N), "f32"), empty((M,), "f32"), empty((M, T), "f32")
want = f32(x).astype(np.float64).sum(-1)

dslc.load(source, "rows")(x, out=sums)
compare("rows", sums, want, 1e-5)

sums = empty((M,), "f32")
dslc.load(source, "parts")(x, out=parts)
dslc.load(source, "total")(parts, out=sums)
compare("parts", sums, want, 1e-5)
