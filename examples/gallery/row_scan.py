# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs row_scan.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, integers, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
scan, starts = dslc.load(source, "row_scan"), dslc.load(source, "starts")
for M, N in (5, 2500), (1, 1), (3, 127), (4, 128), (9, 129), (2, 1024), (0, 70):
    x, y = normal((M, N)), empty((M, N), "f32")
    scan(x, out=y)
    want = f32(x).astype(np.float64).cumsum(-1)
    if M:
        compare(f"row_scan {M} x {N}", y, want, 1e-5)

for large in False, True:
    x = integers((7, 190), 0, 2**31 - 1 if large else 9)
    n = np.asarray(x.cpu() if hasattr(x, "cpu") else x)
    first = empty((7, 190), "s32")
    starts(x, out=first)
    got = np.asarray(first.cpu() if hasattr(first, "cpu") else first)
    want = np.cumsum(n, -1, dtype=np.int32) - n
    if (got != want).any():
        raise SystemExit("starts: wrong")
print("starts: equal")
