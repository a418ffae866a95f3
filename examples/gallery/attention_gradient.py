# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_gradient.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal, zeros

source = pathlib.Path(__file__).with_suffix(".gemm")


def gradients(M, L, E, causal, **consts):
    """Of heads of E numbers; with causal the last query sees all keys."""
    B, H, scale = 1, 2, E ** -0.5
    q, do, k, v = normal((B, H, M, E)), normal((B, H, M, E)), normal((B, H, L, E)), normal((B, H, L, E))

    # Forward
    s = f32(q) @ f32(k).swapaxes(2, 3) * scale
    if causal:
        s[..., np.arange(L) - L > np.arange(M)[:, None] - M] = -np.inf
    with np.errstate(divide="ignore"):
        lse = np.log(np.exp(s).sum(-1))
    p = np.exp(s - np.where(np.isinf(lse), 0, lse)[..., None])
    o = array(p @ f32(v), "bf16")
    delta = (f32(o) * f32(do)).sum(-1)
    ds = p * (f32(do) @ f32(v).swapaxes(2, 3) - delta[..., None]) * scale

    dq, dk, dv = zeros((B, H, M, E), "f32"), empty((B, H, L, E), "bf16"), empty((B, H, L, E), "bf16")
    kernel = dslc.load(source, causal=int(causal), **consts)
    kernel(q, k, v, do, *[array(x[:, :, None], "f32") for x in (lse, delta)], dq, scale=scale, out=(dk, dv))
    compare("dq", dq, ds @ f32(k))
    compare("dk", dk, ds.swapaxes(2, 3) @ f32(q))
    compare("dv", dv, p.swapaxes(2, 3) @ f32(do))


gradients(M=130, L=150, E=128, causal=True)
gradients(M=150, L=70, E=64, causal=True, bE=64)   # the first queries see no key
gradients(M=70, L=130, E=72, causal=False)
