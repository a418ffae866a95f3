# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs rms_norm.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
M, N = 5, 1032
x, weight, y, rstd = normal((M, N)), normal((N,), "f32"), empty((M, N), "bf16"), empty((M,), "f32")

dslc.load(source, bN=2048)(x, weight, each=1 / N, eps=1e-5, out=(y, rstd))
r = 1 / np.sqrt((f32(x) ** 2).mean(-1) + 1e-5)
compare("rms_norm", y, f32(x) * r[:, None] * f32(weight))
compare("rstd", rstd, r, 1e-5)
