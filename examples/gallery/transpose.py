# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs transpose.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
from check import compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
M, N = 136, 72
x, y = normal((M, N)), empty((N, M), "bf16")

dslc.load(source)(x, out=y.T)
compare("transpose", y, f32(x).T, 0)
