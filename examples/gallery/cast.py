# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs cast.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
from check import array, compare, empty, f32, normal, zeros

source = pathlib.Path(__file__).with_suffix(".gemm")
M, N = 37, 272
wide = normal((M, N + 8), "f32")
x, y = wide[:, :N], empty((M, N), "bf16")  # rows of x are N + 8 elements apart
dslc.load(source, "cast")(x, out=y)
compare("cast", y, f32(array(f32(x), "bf16")), 0)

x, scale, y, amax = normal((M, N)), array([100.0], "f32"), empty((M, N), "e4m3"), zeros((1,), "f32")
dslc.load(source, "quantise")(x, scale, amax, out=y)
compare("quantise", y, f32(array(100 * f32(x), "e4m3")), 0)
compare("amax", amax, [abs(f32(x)).max()], 0)
