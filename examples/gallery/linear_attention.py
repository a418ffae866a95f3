# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs linear_attention.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
H, L, E, F, chunk = 2, 200, 64, 72, 64
q, k, v = normal((H, L, E)), normal((H, L, E)), normal((H, L, F))
o, s = empty((H, L, F), "bf16"), empty((H, F, E), "f32")
dslc.load(source)(q, k.swapaxes(1, 2), v.swapaxes(1, 2), out=(o.swapaxes(1, 2), s))

state, want = np.zeros((H, F, E), np.float32), np.zeros((H, L, F), np.float32)
for c in range(0, L, chunk):
    rows = slice(c, c + chunk)
    want[:, rows] = f32(q)[:, rows] @ f32(array(state, "bf16")).swapaxes(1, 2)
    state = state + f32(v)[:, rows].swapaxes(1, 2) @ f32(k)[:, rows]
compare("o", o, want)
compare("s", s, state)
