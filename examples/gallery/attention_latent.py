# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_latent.gemm and combine.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
lengths = np.array([0, 1, 129])
B, H, N, L, T, S = len(lengths), 70, 5, 64, 3, 2
q, c = normal((B, H, 576)), normal((N, L, 576))
table = (np.arange(B)[:, None] * 3 + np.arange(T) * 2) % N  # pages are shared, and in no order
part, weight = empty((S, B, H, 512), "f32"), empty((S, B, H), "f32")
o, lse = empty((B * H, 512), "bf16"), empty((B * H,), "f32")

dslc.load(source)(q, c, array(lengths, "s32"), array(table, "s32"), scale=576 ** -0.5, out=(part, weight))
dslc.load(source.with_name("combine.gemm"))(part.reshape(S, -1, 512), weight.reshape(S, -1), out=(o, lse))
want = np.zeros((B, H, 512), np.float32)
for b, n in enumerate(lengths):
    rows = f32(c)[table[b]].reshape(T * L, 576)[:n]
    p = np.exp(f32(q)[b] @ rows.T * 576 ** -0.5)
    want[b] = p @ rows[:, :512] / np.maximum(p.sum(-1, keepdims=True), 1e-30)
compare("attention_latent", o, want.reshape(-1, 512))
