# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs embedding.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, integers, normal

V, Q, T, E = 50, 20, 37, 520
w, p, weight, y = normal((V, E)), normal((Q, E)), normal((V,), "f32"), empty((T, E), "bf16")
ids, at = f32(integers((T,), 0, V - 1)).astype(int), np.arange(T) % Q
ids[3] = -1  # padding: a row of zeros
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))(w, p, weight, array(ids, "s32"), array(at, "s32"), out=y)

rows = np.where(ids[:, None] < 0, 0, f32(w)[ids] * f32(weight)[ids, None])
compare("embedding", y, rows + f32(p)[at])
