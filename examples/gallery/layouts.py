# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs layouts.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
from check import compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
sizes = dict(M=136, N=200, K=72)
M, N, K = sizes.values()

for name in ("nn", "nt", "tn", "tt"):
    a = normal((M, K)) if name[0] == "n" else normal((K, M)).T  # of shape (M, K), row-major or column-major
    b = normal((K, N)) if name[1] == "n" else normal((N, K)).T  # of shape (K, N)
    d = empty((M, N), "bf16")
    dslc.load(source, name, sizes=sizes)(a, b.T, out=d)
    compare(name, d, f32(a) @ f32(b))
