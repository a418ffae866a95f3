# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs quantise.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal

M, N = 37, 1264
T = -(-N // 128)
x, scale, d = normal((M, N)), empty((M, T), "f32"), empty((M, N), "e4m3")
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))(x, out=(scale, d))

padded = np.zeros((M, T * 128), np.float32)
padded[:, :N] = f32(x)
want = abs(padded).reshape(M, T, 128).max(-1) / 448
compare("scale", scale, want)
compare("quantise", f32(d) * np.repeat(f32(scale), 128, 1)[:, :N], f32(x), 1 / 16)
