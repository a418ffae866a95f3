# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs cross_entropy_fused_gradient.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
hidden, weights = dslc.load(source, kernel="hidden"), dslc.load(source, kernel="weights")
V = 1000
for T, H in (1, 64), (127, 128), (129, 328):
    x, w = normal((T, H)), normal((V, H), scale=H ** -0.5)
    dx, dw = empty((T, H), "bf16"), empty((V, H), "bf16")
    label = np.random.default_rng(T).integers(0, V, T)
    label[T // 3:-1:50] = -100  # ignored
    each = 1 / (label >= 0).sum()

    s = f32(x) @ f32(w).T
    lse = np.log(np.exp(s).sum(-1))
    g = (np.exp(s - lse[:, None]) - (np.arange(V) == label[:, None])) * (label >= 0)[:, None] * each
    labels, sums = array(label, "s32"), array(lse, "f32")
    hidden(x, w, labels, sums, each=each, out=dx)
    weights(x, w, labels[None], sums[None], each=each, out=dw)
    compare(f"dx_{T}", dx, g @ f32(w))
    compare(f"dw_{T}", dw, g.T @ f32(x))
