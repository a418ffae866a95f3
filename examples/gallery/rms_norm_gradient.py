# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs rms_norm_gradient.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
M, N = 77, 200
x, dy, weight = normal((M, N)), normal((M, N)), normal((N,), "f32")
r = 1 / np.sqrt((f32(x) ** 2).mean(-1) + 1e-5)
rstd = array(r, "f32")  # an output of rms_norm.gemm
dx, dweight = empty((M, N), "bf16"), empty((N,), "f32")

dslc.load(source, "input", bN=256)(x, dy, weight, rstd, each=1 / N, out=dx)
dslc.load(source, "weights")(x.T, dy.T, rstd, out=dweight)
z, g = f32(x) * r[:, None], f32(dy) * f32(weight)
compare("dx", dx, r[:, None] * (g - z * (g * z).mean(-1, keepdims=True)))
compare("dweight", dweight, (f32(dy) * z).sum(0), 1e-5)
