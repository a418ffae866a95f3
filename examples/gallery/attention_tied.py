# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_tied.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
B, H, L, E = 2, 130, 200, 128
q, c = normal((B, H, E)), normal((B, L, E))
counts = np.arange(L) < np.array([[L], [77]])  # the second batch has 77 rows
counts[0, :96] = False                         # a whole tile takes no part
o = empty((B, H, E), "bf16")

mask = array(np.where(counts, -1, 0), "f32")
dslc.load(source)(q, c, mask, scale=E ** -0.5, out=o)
s = f32(q) @ f32(c).swapaxes(1, 2) * E ** -0.5
p = np.where(counts[:, None], np.exp(s - s.max(-1, keepdims=True)), 0)
compare("attention", o, p / p.sum(-1, keepdims=True) @ f32(c))
