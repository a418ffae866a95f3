# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs gated_linear_attention.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
H, E, F, chunk = 3, 96, 72, 64
gated = dslc.load(source)
for L in 64, 128, 192, 200:
    q, k, v = normal((H, L, E), scale=E ** -0.5), normal((H, L, E)), normal((H, L, F))
    a = -abs(f32(normal((H, L), "f32", 0.1)))  # logarithms of decays
    g = np.concatenate([np.cumsum(a[:, c:c + chunk], 1) for c in range(0, L, chunk)], 1)
    o, s = empty((H, L, F), "bf16"), empty((H, F, E), "f32")
    gated(q, k, v.swapaxes(1, 2), array(g, "f32"), out=(o, s))

    state, want = np.zeros((H, F, E)), np.zeros((H, L, F))
    for t in range(L):  # token by token, in f64
        decay = np.exp(a[:, t, None, None].astype(np.float64))
        state = decay * state + f32(v)[:, t, :, None] * f32(k)[:, t, None]
        want[:, t] = (state @ f32(q)[:, t, :, None])[..., 0]
    compare(f"o_{L}", o, want)
    compare(f"s_{L}", s, state)
