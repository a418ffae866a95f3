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
for right in (None, 0):
    dslc.load(source, **({} if right is None else {"right": right}))(q, k, v, *lists, scale=E ** -0.5, out=o)
    want = np.zeros((T, H, E), np.float32)
    for b in range(len(queries)):
        rows, own = slice(ends[b] - queries[b], ends[b]), slice(last[b] - keys[b], last[b])
        seen = np.arange(keys[b]) <= (np.arange(queries[b])[:, None] + keys[b] - queries[b] if right == 0 else keys[b])
        for h in range(H):
            columns = slice(h * E, h * E + E)
            p = np.exp(f32(q)[rows, columns] @ f32(k)[own, columns].T * E ** -0.5) * seen
            want[rows, h] = p / np.maximum(p.sum(-1, keepdims=True), 1e-30) @ f32(v)[own, columns]
    compare("attention_packed" if right is None else "attention_packed_causal", o, want.reshape(T, N))
