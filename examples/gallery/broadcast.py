# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs broadcast.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
L, M, N = 2, 37, 136
x, bias, gate, r = normal((L, M, N)), normal((N,), "f32"), normal((L, M), "f32"), normal((M, N))
y = empty((L, M, N), "bf16")

dslc.load(source)(x, bias, gate, r, alpha=0.5, out=y)
z = f32(x) + f32(bias)
compare("broadcast", y, f32(r) + 0.5 * f32(gate)[..., None] * z / (1 + np.exp(-z)))
