# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_gradient_q.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
B, G, R, M, L, E = 1, 1, 2, 130, 100, 64
q, do, k, v = normal((B, G, R, M, E)), normal((B, G, R, M, E)), normal((B, G, L, E)), normal((B, G, L, E))
query, key = np.arange(M) - M, np.arange(L) - L

# Forward, as in attention_causal.gemm
s = f32(q) @ f32(k).swapaxes(2, 3)[:, :, None] * E ** -0.5
p = np.where(key <= query[:, None], np.exp(s), 0)
with np.errstate(divide="ignore"):
    lse = np.log(p.sum(-1))
p = p / np.maximum(p.sum(-1, keepdims=True), 1e-30)
o = array(p @ f32(v)[:, :, None], "bf16")
delta = (f32(o) * f32(do)).sum(-1)
ds = p * (f32(do) @ f32(v).swapaxes(2, 3)[:, :, None] - delta[..., None]) * E ** -0.5

rows, dq = empty((B * G * R * M,), "f32"), empty((B, G, R, M, E), "bf16")
dslc.load(source, "delta")(o.reshape(-1, E), do.reshape(-1, E), out=rows)
compare("delta", rows, delta.reshape(-1), 1e-5)
dslc.load(source, "queries")(q, do, k, v, k.swapaxes(2, 3), array(lse, "f32"),
                             rows.reshape(B, G, R, M), scale=E ** -0.5, out=dq)
compare("dq", dq, ds @ f32(k)[:, :, None])
