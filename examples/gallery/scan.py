# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs scan.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, integers, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
C, T = 136, 17
a, x, h = normal((T, C), "f32", 0.5), normal((T, C), "f32"), empty((T, C), "f32")  # step by step, channels adjacent

dslc.load(source)(a.T, x.T, out=h.T)
want = np.zeros((T + 1, C), np.float32)
for t in range(T):
    want[t + 1] = f32(a)[t] * want[t] + f32(x)[t]
compare("scan", h, want[1:], 1e-5)
