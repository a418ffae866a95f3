# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs fp8_blocks.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

M, N, K = 70, 144, 304
NB, KB = -(-N // 128), -(-K // 128)  # blocks, rounded up
a, b, d = normal((M, K), "e4m3"), normal((N, K), "e4m3"), empty((M, N), "bf16")
rows = array(1 + abs(f32(normal((KB, M), "f32"))), "f32").T  # of shape (M, KB), column-major
cols = array(1 + abs(f32(normal((NB, KB), "f32"))), "f32")
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))(a, b, rows, cols, out=d)

full_a = f32(a) * np.repeat(f32(rows), 128, 1)[:, :K]
full_b = f32(b) * np.repeat(np.repeat(f32(cols), 128, 0), 128, 1)[:N, :K]
compare("fp8_blocks", d, full_a @ full_b.T)
