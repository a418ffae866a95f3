# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_fp8.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

B, H, M, L, E = 1, 2, 130, 256, 64


def quantise(x):
    """e4m3 and one scale, so that the largest element is 448."""
    scale = abs(x).max() / 448
    return array(x / scale, "e4m3"), float(scale)


(q, sq), (k, sk) = quantise(f32(normal((B, H, M, E), "f32"))), quantise(f32(normal((B, H, L, E), "f32")))
v, sv = quantise(f32(normal((B, H, E, L), "f32")))  # keys lie side by side, as the mma reads operand B of 8 bits
o = empty((B, H, M, E), "bf16")
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))(q, k, v, qk_scale=sq * sk * E ** -0.5, v_scale=sv, out=o)
s = f32(q) @ f32(k).swapaxes(2, 3) * (sq * sk * E ** -0.5)
p = np.exp(s - s.max(-1, keepdims=True))
compare("attention_fp8", o, p / p.sum(-1, keepdims=True) @ f32(v).swapaxes(2, 3) * sv, 0.03)
