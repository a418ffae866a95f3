# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs weights4_many.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, expand, f32, integers, normal

rows, N, K = 150, 136, 320  # rows of activations, rows of weights
KB = -(-K // 128)
x, w, d = normal((rows, K)), integers((N, K), 0, 15, "u4"), empty((rows, N), "bf16")
zeros, scales = integers((KB, N), 5, 10, "u8").T, array(np.linspace(0.1, 0.2, KB * N).reshape(KB, N), "bf16").T
each = [expand(t[:, None, :], N, 128, KB) for t in (zeros, scales)]  # 128 elements share one: stride 0
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))(x, w, *each, out=d)

zero, scale = (np.repeat(f32(t, type), 128, 1)[:, :K] for t, type in ((zeros, "u8"), (scales, "bf16")))
compare("weights4_many", d, f32(x) @ ((f32(w, "u4") - zero) * scale).T)
