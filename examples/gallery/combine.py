# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs combine.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal

S, M, E = 5, 37, 104
p, l, o, lse = normal((S, M, E), "f32"), normal((S, M), "f32", 3.0), empty((M, E), "bf16"), empty((M,), "f32")
l[1, :9] = l[:, 0] = -np.inf  # a part without keys for nine rows, and a row without keys
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))(p, l, out=(o, lse))

want = np.logaddexp.reduce(f32(l), 0)
compare("lse", np.exp(f32(lse)), np.exp(want))
weight = np.exp(f32(l) - np.where(want == -np.inf, 0, want))
compare("combine", o, (f32(p) * weight[..., None]).sum(0))
