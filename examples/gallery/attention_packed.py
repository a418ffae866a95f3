# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_packed.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
queries, keys = np.array([3, 0, 70, 1, 5, 64, 2]), np.array([127, 9, 1, 128, 0, 129, 65])
H, E = 2, 64
ends, last = queries.cumsum(), keys.cumsum()
T, S, N = ends[-1], last[-1], H * E
q, k, v, o = normal((T, N)), normal((S, N)), normal((S, N)), empty((T, N), "bf16")

lists = [array(x, "s32") for x in (ends, last - keys, last)]
dslc.load(source)(q, k, v, *lists, scale=E ** -0.5, out=o)
want = np.zeros((T, H, E), np.float32)
for b in range(len(queries)):
    rows, own = slice(ends[b] - queries[b], ends[b]), slice(last[b] - keys[b], last[b])
    for h in range(H):
        columns = slice(h * E, h * E + E)
        if keys[b]:
            p = np.exp(f32(q)[rows, columns] @ f32(k)[own, columns].T * E ** -0.5)
            want[rows, h] = p / p.sum(-1, keepdims=True) @ f32(v)[own, columns]
compare("attention_packed", o, want.reshape(T, N))
