# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs split_k.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
from check import compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
sizes = dict(M=100, N=72, K=1000)
M, N, K = sizes.values()
a, b = normal((M, K)), normal((N, K))

for name in ("split_k", "split_k_workspace"):
    d = empty((M, N), "bf16")
    dslc.load(source, name, sizes=sizes)(a, b, out=d)
    compare(name, d, f32(a) @ f32(b).T)
