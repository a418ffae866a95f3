# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_window.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal

B, H, E, window, cap = 1, 2, 64, 70, 5.0
kernel = dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))
for M, L in ((130, 200), (97, 97), (1, 131), (130, 40)):  # the first 90 queries of the last see no key
    q, k, v = normal((B, H, M, E)), normal((B, H, L, E)), normal((B, H, L, E))
    o = empty((B, H, M, E), "bf16")
    kernel(q, k, v.swapaxes(2, 3), scale=E ** -0.5, cap=cap, window=window, out=o)
    query, key = np.arange(M)[:, None] + L - M, np.arange(L)
    s = cap * np.tanh(f32(q) @ f32(k).swapaxes(2, 3) * E ** -0.5 / cap)
    p = np.where((key <= query) & (key > query - window), np.exp(s), 0)
    compare("attention_window", o, p @ f32(v) / np.maximum(p.sum(-1), 1e-30)[..., None])
