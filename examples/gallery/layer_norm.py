# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs layer_norm.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
M, N = 5, 1032
x, weight, bias, y = normal((M, N)), normal((N,), "f32"), normal((N,), "f32"), empty((M, N), "bf16")
mean, rstd = empty((M,), "f32"), empty((M,), "f32")

dslc.load(source, bN=2048)(x, weight, bias, each=1 / N, eps=1e-5, out=(y, mean, rstd))
z = f32(x)
mu, r = z.mean(-1, keepdims=True), 1 / np.sqrt(z.var(-1, keepdims=True) + 1e-5)
compare("layer_norm", y, (z - mu) * r * f32(weight) + f32(bias))
compare("mean", mean, mu[:, 0], 1e-5)
compare("rstd", rstd, r[:, 0], 1e-5)
