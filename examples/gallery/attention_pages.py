# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_pages.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
lengths = np.array([0, 1, 127, 128, 129, 200])
B, H, M, E, P, L, T = len(lengths), 2, 3, 64, 9, 64, 4
q, k, v = normal((B, H, M, E)), normal((P, H, L, E)), normal((P, H, L, E))
table = (np.arange(B)[:, None] * 3 + np.arange(T) * 5) % P  # pages are shared, and in no order
o = empty((B, H, M, E), "bf16")

dslc.load(source)(q, k, v.swapaxes(2, 3), array(lengths, "s32"), array(table, "s32"), scale=E ** -0.5, out=o)
want = np.zeros((B, H, M, E), np.float32)
for b, n in enumerate(lengths):
    keys = f32(k)[table[b]].swapaxes(0, 1).reshape(H, T * L, E)[:, :n]
    values = f32(v)[table[b]].swapaxes(0, 1).reshape(H, T * L, E)[:, :n]
    if n:
        p = np.exp(f32(q)[b] @ keys.swapaxes(1, 2) * E ** -0.5)
        want[b] = p / p.sum(-1, keepdims=True) @ values
compare("attention_pages", o, want)
