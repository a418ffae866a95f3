# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs gated_linear_attention.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
H, E, F, chunk = 3, 96, 72, 64


def recurrence(q, k, v, a):
    """Token by token, in f64: the results of all tokens, and the state after the last."""
    state, o = np.zeros((H, F, E)), np.zeros((H, q.shape[1], F))
    for t in range(q.shape[1]):
        state = state * np.exp(np.float64(a[:, t, None])) + f32(v)[:, t, :, None] * f32(k)[:, t, None]
        o[:, t] = (state @ f32(q)[:, t, :, None])[..., 0]
    return o, state


for name, gates, lengths in ("gated", 1, (64, 128, 192, 200)), ("channels", E, (64, 200)):
    kernel = dslc.load(source, name)
    for L in lengths:
        q, k, v = normal((H, L, E), scale=E ** -0.5), normal((H, L, E)), normal((H, L, F))
        a = -abs(f32(normal((H, L, gates), "f32", 0.1)))  # logarithms of decays
        g = np.concatenate([np.cumsum(a[:, c:c + chunk], 1) for c in range(0, L, chunk)], 1)
        o, s = empty((H, L, F), "bf16"), empty((H, F, E), "f32")
        kernel(q, k, v.swapaxes(1, 2), array(g[..., 0] if gates == 1 else g, "f32"), out=(o, s))
        for which, got, want in zip("os", (o, s), recurrence(q, k, v, a)):
            compare(f"{name}_{which}_{L}", got, want)
