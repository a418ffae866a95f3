# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_causal.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
B, G, R, E = 1, 2, 2, 64
kernel = dslc.load(source)
for M, L in ((130, 200), (130, 40)):  # the first 90 queries of the second see no key
    q, k, v = normal((B, G, R, M, E)), normal((B, G, L, E)), normal((B, G, L, E))
    o, lse = empty((B, G, R, M, E), "bf16"), empty((B, G, R, M), "f32")
    kernel(q, k, v.swapaxes(2, 3), scale=E ** -0.5, out=(o, lse))
    s = f32(q) @ f32(k).swapaxes(2, 3)[:, :, None] * E ** -0.5
    p = np.where(np.arange(L) <= np.arange(M)[:, None] + L - M, np.exp(s), 0)
    some = p.sum(-1)
    compare("attention", o, p / np.maximum(some, 1e-30)[..., None] @ f32(v)[:, :, None])
    compare("sums", np.exp(f32(lse)), some, 1e-5)
