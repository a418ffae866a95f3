# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs state_space.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, expand, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
H, Z, T, D, N = 2, 3, 72, 40, 80  # heads, chunks of T steps, elements of v, elements of k and q
q, k, v = normal((H, Z, T, N)), normal((H, Z, T, N), scale=0.2), normal((H, Z, T, D))
a = -abs(f32(normal((H, Z, T), "f32", 0.1)))  # logarithms of decays
decay = np.cumsum(a, -1, dtype=np.float32)    # from a chunk's start to each step
s, b, y = empty((H, Z, D, N), "f32"), empty((H, Z, D, N), "bf16"), empty((H, Z, T, D), "bf16")

left = expand(array((decay[..., -1:] - decay)[:, :, None], "f32"), H, Z, D, T)
dslc.load(source, "states")(v.swapaxes(2, 3), k.swapaxes(2, 3), left, out=s)
dslc.load(source, "before")(s.reshape(H, Z, D * N).swapaxes(1, 2), array(decay[..., -1], "f32"),
                            out=b.reshape(H, Z, D * N).swapaxes(1, 2))
dslc.load(source, "outputs")(q, k, v.swapaxes(2, 3), b, array(decay, "f32"), array(decay[:, :, None], "f32"),
                             out=y)
h, want = np.zeros((H, D, N)), np.zeros((H, Z, T, D))
for z, t in np.ndindex(Z, T):
    h = np.exp(a[:, z, t, None, None]) * h + f32(v)[:, z, t, :, None] * f32(k)[:, z, t, None]
    want[:, z, t] = (h @ f32(q)[:, z, t, :, None])[..., 0]
compare("state_space", y, want)
