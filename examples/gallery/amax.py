# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs amax.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal, zeros

sizes = dict(M=100, N=144, K=208)
M, N, K = sizes.values()
a, b, d = normal((M, K), "e4m3"), normal((N, K), "e4m3"), empty((M, N), "e4m3")
scale, amax = array([4.0], "f32"), zeros((1,), "f32")
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"), sizes=sizes)(a, b, scale, amax, out=d)

want = f32(a) @ f32(b).T
compare("amax", amax, abs(want).max(keepdims=True).reshape(1), 1e-3)
compare("amax_result", d, np.clip(4 * want, -448, 448), 2 ** -4)  # e4m3 keeps three bits after the first
