# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_latent.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
lengths = np.array([0, 1, 129])
B, H, P, L, T = len(lengths), 70, 5, 64, 3
q, c = normal((B, H, 576)), normal((P, L, 576))
table = (np.arange(B)[:, None] * 3 + np.arange(T) * 2) % P  # pages are shared, and in no order
o = empty((B, H, 512), "bf16")

dslc.load(source)(q, c, array(lengths, "s32"), array(table, "s32"), scale=576 ** -0.5, out=o)
want = np.zeros((B, H, 512), np.float32)
for b, n in enumerate(lengths):
    rows = f32(c)[table[b]].reshape(T * L, 576)[:n]
    if n:
        s = f32(q)[b] @ rows.T * 576 ** -0.5
        p = np.exp(s - s.max(-1, keepdims=True))
        want[b] = p / p.sum(-1, keepdims=True) @ rows[:, :512]
compare("attention_latent", o, want)
