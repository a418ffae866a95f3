# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
B, H, M, L, E = 2, 1, 130, 200, 64
q, k, v = normal((B, H, M, E)), normal((B, H, L, E)), normal((B, H, L, E))
counts = np.arange(L) < np.array([[L], [77]])  # the second batch has 77 keys
counts[0, :96] = False                         # a whole tile of keys takes no part
o, lse = empty((B, H, M, E), "bf16"), empty((B, H, M), "f32")

mask = array(np.where(counts, -1, 0), "f32")
dslc.load(source)(q, k, v.swapaxes(2, 3), mask, scale=E ** -0.5, out=(o, lse))
s = f32(q) @ f32(k).swapaxes(2, 3) * E ** -0.5
p = np.where(counts[:, None, None], np.exp(s), 0)
compare("attention", o, p / p.sum(-1, keepdims=True) @ f32(v))
compare("lse", lse, np.log(p.sum(-1)), 1e-5)
