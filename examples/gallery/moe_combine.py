# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs moe_combine.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, f32, normal, zeros

source = pathlib.Path(__file__).with_suffix(".gemm")
T, K, N, ends = 90, 72, 136, [70, 70, 131, 180]  # each token chose two experts; the second got none
P = ends[-1]
token = np.random.default_rng(2).permutation(np.repeat(np.arange(T), 2))
x, w, weight = normal((P, K)), normal((len(ends), N, K)), normal((P,), "f32")
y = zeros((T, N), "f32")
dslc.load(source)(x, w, array(ends, "s32"), weight, array(token, "s32"), y)

want = np.zeros((T, N), np.float32)
for g, (begin, end) in enumerate(zip([0, *ends], ends)):
    np.add.at(want, token[begin:end], f32(weight)[begin:end, None] * (f32(x)[begin:end] @ f32(w)[g].T))
compare("y", y, want)
