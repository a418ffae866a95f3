# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_causal.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
B, G, R, wide = 1, 2, 2, 1 << 29
full, window, around = dict(right=wide), dict(left=69), dict(left=20, right=30)
for M, L, E, F, consts in ((130, 200, 64, 64, {}), (130, 40, 64, 64, {}), (130, 200, 64, 64, full), (130, 200, 64, 64, window),
                           (97, 97, 64, 64, around), (70, 131, 192, 128, dict(bE=192, bF=128))):
    kernel = dslc.load(source, **consts)
    q, k, v = normal((B, G, R, M, E)), normal((B, G, L, E)), normal((B, G, L, F))
    o, lse = empty((B, G, R, M, F), "bf16"), empty((B, G, R, M), "f32")
    kernel(q, k, v.swapaxes(2, 3), scale=E ** -0.5, out=(o, lse))
    s = f32(q) @ f32(k).swapaxes(2, 3)[:, :, None] * E ** -0.5
    far = np.arange(L) - (np.arange(M)[:, None] + L - M)
    p = np.where((far >= -consts.get("left", wide)) & (far <= consts.get("right", 0)), np.exp(s), 0)
    some = p.sum(-1)
    compare("attention", o, p / np.maximum(some, 1e-30)[..., None] @ f32(v)[:, :, None])
    compare("sums", np.exp(f32(lse)), some, 1e-5)
