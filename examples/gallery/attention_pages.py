# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_pages.gemm and combine.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
lengths = np.array([0, 1, 127, 128, 129, 200])
B, G, R, E, N, L, T, S = len(lengths), 2, 3, 64, 9, 64, 4, 2
q, k, v = normal((B, G, R, E)), normal((N, G, L, E)), normal((N, G, L, E))
table = (np.arange(B)[:, None] * 3 + np.arange(T) * 5) % N  # pages are shared, and in no order
part, weight = empty((S, B, G, R, E), "f32"), empty((S, B, G, R), "f32")
o, lse = empty((B * G * R, E), "bf16"), empty((B * G * R,), "f32")

dslc.load(source)(q, k, v.swapaxes(2, 3), array(lengths, "s32"), array(table, "s32"), scale=E ** -0.5,
                  out=(part, weight))
dslc.load(source.with_name("combine.gemm"))(part.reshape(S, -1, E), weight.reshape(S, -1), out=(o, lse))
want, some = np.zeros((B, G, R, E), np.float32), np.zeros((B, G, R), np.float32)
for b, n in enumerate(lengths):
    keys, values = (f32(x)[table[b]].swapaxes(0, 1).reshape(G, T * L, E)[:, :n] for x in (k, v))
    p = np.exp(f32(q)[b] @ keys.swapaxes(1, 2) * E ** -0.5)
    some[b] = p.sum(-1)
    want[b] = p @ values / np.maximum(some[b], 1e-30)[..., None]
compare("attention_pages", o, want.reshape(-1, E))
compare("sums", np.exp(f32(lse)), some.reshape(-1), 1e-5)
