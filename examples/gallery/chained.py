# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs chained.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

M, L, N, K = 100, 200, 136, 56
a, b, c, d = normal((M, K)), normal((L, K)), normal((L, N)), empty((M, N), "bf16")
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))(a, b, c.T, out=d)

hidden = f32(array(np.maximum(f32(a) @ f32(b).T, 0), "bf16"))  # rounded as the kernel rounds it
compare("chained", d, hidden @ f32(c))
