# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_tied.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
lengths = np.array([0, 1, 200])
B, H, L, E = len(lengths), 130, 200, 128
q, c = normal((B, H, E)), normal((B, L, E))
o = empty((B, H, E), "bf16")

dslc.load(source)(q, c, array(lengths, "s32"), scale=E ** -0.5, out=o)
s = f32(q) @ f32(c).swapaxes(1, 2) * E ** -0.5
p = np.where(np.arange(L) < lengths[:, None, None], np.exp(s - s.max(-1, keepdims=True)), 0)
compare("attention", o, p / np.maximum(p.sum(-1, keepdims=True), 1e-30) @ f32(c))
