# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_scores.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, expand, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
B, G, R, E, scale, cap = 2, 1, 2, 64, 0.125, 5.0
slopes, sinks, none = normal((G, R), "f32"), normal((G, R), "f32"), array(np.full((G, R), -np.inf), "f32")
for M, L, sink, terms in ((130, 200, sinks, "softcap alibi additive"), (130, 40, none, "softcap"), (97, 97, sinks, ""),
                          (1, 131, none, "alibi"), (70, 70, none, "additive")):
    kernel = dslc.load(source, left=69, **{name: int(name in terms) for name in ("softcap", "alibi", "additive")})
    q, k, v, bias = normal((B, G, R, M, E)), normal((B, G, L, E)), normal((B, G, L, E)), normal((B, 1, 1, M, L))
    o, lse = empty((B, G, R, M, E), "bf16"), empty((B, G, R, M), "f32")
    kernel(q, k, v.swapaxes(2, 3), expand(bias, B, G, R, M, L), slopes, sink, scale=scale, cap=cap, out=(o, lse))
    far = np.arange(L) - (np.arange(M)[:, None] + L - M)
    s = f32(q) @ f32(k).swapaxes(2, 3)[:, :, None] * scale
    s = cap * np.tanh(s / cap) if "softcap" in terms else s
    s = s + f32(slopes)[:, :, None, None] * far if "alibi" in terms else s
    s = s + f32(bias) if "additive" in terms else s
    p, beside = np.where((far <= 0) & (far >= -69), np.exp(s), 0), np.exp(f32(sink))[..., None]
    some = p.sum(-1) + beside
    compare("attention_scores", o, p @ f32(v)[:, :, None] / np.maximum(some, 1e-30)[..., None])
    compare("sums", np.exp(f32(lse)), some, 2.0 ** -8)  # tanh_approx
