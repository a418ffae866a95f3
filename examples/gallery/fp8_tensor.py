# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs fp8_tensor.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
from check import array, compare, empty, f32, normal

sizes = dict(M=100, N=144, K=208)
M, N, K = sizes.values()
a, b, d = normal((M, K), "e4m3"), normal((N, K), "e4m3"), empty((M, N), "bf16")
sa, sb = array([0.5], "f32"), array([0.03], "f32")
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"), sizes=sizes)(a, b, sa, sb, out=d)
compare("fp8_tensor", d, f32(sa) * f32(sb) * (f32(a) @ f32(b).T))
