# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_decode.gemm and combine.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
lengths = np.array([0, 1, 64, 65, 300])
B, G, R, E, L, S = len(lengths), 2, 4, 128, 300, 3  # the sequence of 1 key leaves two parts without keys
q, k, v = normal((B, G, R, E)), normal((B, G, L, E)), normal((B, G, L, E))
part, weight = empty((S, B, G, R, E), "f32"), empty((S, B, G, R), "f32")
o, lse = empty((B * G * R, E), "bf16"), empty((B * G * R,), "f32")

dslc.load(source)(q, k, v.swapaxes(2, 3), array(lengths, "s32"), scale=E ** -0.5, out=(part, weight))
dslc.load(source.with_name("combine.gemm"))(part.reshape(S, -1, E), weight.reshape(S, -1), out=(o, lse))
want, some = np.zeros((B, G, R, E), np.float32), np.zeros((B, G, R), np.float32)
for b, n in enumerate(lengths):
    p = np.exp(f32(q)[b] @ f32(k)[b, :, :n].swapaxes(1, 2) * E ** -0.5)
    some[b] = p.sum(-1)
    want[b] = p @ f32(v)[b, :, :n] / np.maximum(some[b], 1e-30)[..., None]
compare("attention_decode", o, want.reshape(-1, E))
compare("sums", np.exp(f32(lse)), some.reshape(-1), 1e-5)
