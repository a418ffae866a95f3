# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs swiglu.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal

sizes = dict(M=100, N=136, K=72)
M, N, K = sizes.values()
a, g, u, d = normal((M, K)), normal((N, K), scale=0.1), normal((N, K)), empty((M, N), "bf16")
swiglu = dslc.load(pathlib.Path(__file__).with_suffix(".gemm"), sizes=sizes)
swiglu(a, g, u, out=d)

gate, up = f32(a) @ f32(g).T, f32(a) @ f32(u).T
compare("swiglu", d, gate / (1 + np.exp(-gate)) * up)
