# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs conv1d.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
from check import compare, empty, f32, normal, strided

source = pathlib.Path(__file__).with_suffix(".gemm")
B, M, S, C, F = 2, 133, 5, 24, 40
x, w, y = normal((B, M + S - 1, C)), normal((F, S, C), scale=0.1), empty((B, M, F), "bf16")

windows = strided(x, (B, M, S * C), ((M + S - 1) * C, C, 1))
dslc.load(source, specialize=True)(windows, w.reshape(F, S * C), out=y)
compare("conv1d", y, sum(f32(x)[:, s:s + M] @ f32(w)[:, s].T for s in range(S)))
