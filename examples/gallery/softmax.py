# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs softmax.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
M, N = 5, 4104
z = f32(normal((M, N)))
z[1, :2048], z[2, 7:] = -np.inf, -np.inf  # a first tile of -inf, a row that ends early
x, y, lse = array(z, "bf16"), empty((M, N), "bf16"), empty((M,), "f32")

dslc.load(source)(x, out=(y, lse))
e = np.exp(z - z.max(-1, keepdims=True))
compare("softmax", y, e / e.sum(-1, keepdims=True))
compare("lse", lse, z.max(-1) + np.log(e.sum(-1)), 1e-5)
