# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs cross_entropy.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
M, N = 5, 4104
x, loss, dx = normal((M, N)), empty((M,), "f32"), empty((M, N), "bf16")
label = np.array([0, 4103, -100, 2048, 17])  # the third row is ignored

dslc.load(source)(x, array(label, "s32"), each=1 / 4, out=(loss, dx))
z, counts = f32(x), label >= 0
lse = np.log(np.exp(z).sum(-1))
one = np.arange(N) == label[:, None]
compare("loss", loss, np.where(counts, lse - (z * one).sum(-1), 0), 1e-5)
compare("dx", dx, np.where(counts[:, None], (np.exp(z - lse[:, None]) - one) / 4, 0))
