# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs residual.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
from check import compare, f32, normal

sizes = dict(M=100, N=136, K=72)
M, N, K = sizes.values()
h, w, x = normal((M, K)), normal((N, K)), normal((M, N), scale=8)
want = f32(x) + f32(h) @ f32(w).T
residual = dslc.load(pathlib.Path(__file__).with_suffix(".gemm"), sizes=sizes)
residual(h, w, x)  # an inout tensor is passed as an input
compare("residual", x, want)
