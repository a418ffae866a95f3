# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs convolution.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal, strided

source = pathlib.Path(__file__).with_suffix(".gemm")
L, P, Q, R, C, F = 2, 7, 70, 3, 16, 40
SC, H, W = 3 * C, P + R - 1, Q + 2  # the image is padded already
x, w, bias, y = normal((L, H, W, C)), normal((F, R, 3, C), scale=0.1), normal((F,), "f32"), empty((L, P, Q, F), "bf16")

windows = strided(x, (L, P, Q, R, SC), (H * W * C, W * C, C, W * C, 1))
kernel = dslc.load(source, specialize=True)
kernel(windows, w.reshape(F, R, SC), bias, out=y)
want = sum(f32(x)[:, r:r + P, s:s + Q] @ f32(w)[:, r, s].T for r in range(R) for s in range(3))
compare("convolution", y, np.maximum(want + f32(bias), 0))

# Stride 2 both ways: other strides of the same array.
P, Q = 4, 35
windows = strided(x, (L, P, Q, R, SC), (H * W * C, 2 * W * C, 2 * C, W * C, 1))
y = empty((L, P, Q, F), "bf16")
kernel(windows, w.reshape(F, R, SC), bias, out=y)
want = sum(f32(x)[:, r:r + 2 * P - 1:2, s:s + 2 * Q - 1:2] @ f32(w)[:, r, s].T for r in range(R) for s in range(3))
compare("stride_2", y, np.maximum(want + f32(bias), 0))
