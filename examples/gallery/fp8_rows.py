# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs fp8_rows.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

sizes = dict(M=100, N=144, K=208)
M, N, K = sizes.values()


def quantise(x):
    """e4m3 and the scale of each row, so that the largest element of a row is 448."""
    scale = abs(x).max(1) / 448
    return array(x / scale[:, None], "e4m3"), array(scale, "f32")


(a, sa), (b, sb) = quantise(f32(normal((M, K), "f32"))), quantise(f32(normal((N, K), "f32")))
d = empty((M, N), "bf16")
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"), sizes=sizes)(a, b, sa, sb, out=d)
compare("fp8_rows", d, np.outer(f32(sa), f32(sb)) * (f32(a) @ f32(b).T))
