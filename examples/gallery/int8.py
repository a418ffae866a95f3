# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs int8.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, integers

sizes = dict(M=100, N=144, K=208)
M, N, K = sizes.values()
a, b, d = integers((M, K), -128, 127, "s8"), integers((N, K), -128, 127, "s8"), empty((M, N), "bf16")
sa, sb = array(np.linspace(0.01, 0.02, M), "f32"), array(np.linspace(0.03, 0.01, N), "f32")
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"), sizes=sizes)(a, b, sa, sb, out=d)
compare("int8", d, np.outer(f32(sa), f32(sb)) * (f32(a) @ f32(b).T))
