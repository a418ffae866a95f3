# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_grouped.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, expand, f32, normal, strided

source = pathlib.Path(__file__).with_suffix(".gemm")
B, G, R, E = 2, 2, 8, 64
kernel = dslc.load(source)


def packed(x, M, *last):
    """(B,M,G * R,..) of a projection as (B,G,R,M,..): a view."""
    n = int(np.prod(last, dtype=int))
    return strided(x, (B, G, R, M, *last), (M * G * R * n, R * n, n, G * R * n, *(1 for _ in last)))


for M, L in ((1, 200), (11, 130), (30, 20)):  # the first ten queries of the third see no key
    q, k, v = normal((B, M, G * R, E)), normal((B, G, L, E)), normal((B, G, L, E))
    query, key = array(np.arange(M)[None] - M, "f32"), array(np.arange(L)[None] - L, "f32")
    o, lse = empty((B, M, G * R, E), "bf16"), empty((B, M, G * R), "f32")
    kernel(packed(q, M, E), k, v.swapaxes(2, 3), expand(query, R, M), key, scale=E ** -0.5,
           out=(packed(o, M, E), packed(lse, M)))
    s = f32(packed(q, M, E)) @ f32(k).swapaxes(2, 3)[:, :, None] * E ** -0.5
    p = np.where(f32(key) <= f32(query)[0, :, None], np.exp(s), 0)
    some = p.sum(-1)
    compare("attention", f32(packed(o, M, E)), p / np.maximum(some, 1e-30)[..., None] @ f32(v)[:, :, None])
    compare("sums", np.exp(f32(packed(lse, M))), some, 1e-5)
