# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs gated_linear_attention.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
H, F, chunk = 3, 72, 64


def recurrence(state, q, k, v, a):
    """Token by token, in f64: the results of all tokens, and the state after the last."""
    o = np.zeros(v.shape)
    for t in range(v.shape[1]):
        state = state * np.exp(np.float64(a[:, t, None])) + f32(v)[:, t, :, None] * f32(k)[:, t, None]
        o[:, t] = (state @ f32(q)[:, t, :, None])[..., 0]
    return o, state


for name, E, lengths in ("gated", 96, (64, 128, 192, 200)), ("gated", 64, (130,)), ("channels", 96, (64, 200)):
    kernel = dslc.load(source, name, bE=64 if E <= 64 else 128)
    for L in lengths:
        q, k, v = normal((H, L, E), scale=E ** -0.5), normal((H, L, E)), normal((H, L, F))
        a = -abs(f32(normal((H, L, E if name == "channels" else 1), "f32", 0.1)))  # logarithms of decays
        g = np.concatenate([np.cumsum(a[:, c:c + chunk], 1) for c in range(0, L, chunk)], 1)
        o, s = empty((H, L, F), "bf16"), normal((H, F, E), "f32")
        wanted = recurrence(np.float64(f32(s)), q, k, v, a)
        kernel(q, k, v.swapaxes(1, 2), array(g if name == "channels" else g[..., 0], "f32"), s, out=o)
        for which, got, want in zip("os", (o, s), wanted):
            compare(f"{name}_{which}_{E}_{L}", got, want)
