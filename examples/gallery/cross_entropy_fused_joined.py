# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs cross_entropy_fused_joined.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, f32, normal, zeros

kernel = dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))
V = 1000
for T, H in (1, 64), (127, 128), (129, 328):
    x, w = normal((T, H)), normal((V, H), scale=H ** -0.5)
    dx, dw = zeros((T, H), "f32"), zeros((V, H), "f32")
    label = np.random.default_rng(T).integers(0, V, T)
    label[T // 3:-1:50] = -100  # ignored
    each = 1 / (label >= 0).sum()

    s = f32(x) @ f32(w).T
    lse = np.log(np.exp(s).sum(-1))
    g = (np.exp(s - lse[:, None]) - (np.arange(V) == label[:, None])) * (label >= 0)[:, None] * each
    kernel(x, w, array(label[:, None], "s32"), array(lse[:, None], "f32"), dx, dw, each=each)
    compare(f"dx_{T}", dx, g @ f32(w))
    compare(f"dw_{T}", dw, g.T @ f32(x))
