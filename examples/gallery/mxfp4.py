# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs mxfp4.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, expand, f32, integers, normal

rows, N, K = 10, 136, 320  # rows of activations, rows of weights
KB = -(-K // 32)
w, x, d = normal((N, K), "e2m1", scale=2), normal((rows, K)), empty((rows, N), "bf16")
scales = integers((KB, N), 124, 130, "u8").T
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))(w, expand(scales[:, None, :], N, 32, KB), x, out=d.T)

scale = np.repeat(np.exp2(f32(scales, "u8") - 127), 32, 1)[:, :K]
compare("mxfp4", d, f32(x) @ (f32(w, "e2m1") * scale).T)
