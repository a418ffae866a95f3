# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs row_scan.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, integers, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
names = "row_scan", "tile_sums", "tile_starts", "tiles", "starts"
row_scan, tile_sums, tile_starts, tiles, starts = (dslc.load(source, name) for name in names)

for M, N in (5, 2500), (1, 1), (3, 127), (4, 128), (9, 129), (2, 1024):
    x, y = normal((M, N)), empty((M, N), "f32")
    row_scan(x, out=y)
    compare("row_scan", y, f32(x).astype(np.float64).cumsum(-1), 1e-5)

M, N = 2, 9001
T = -(-N // 4096)
x, y, s, p = normal((M, N)), empty((M, N), "f32"), empty((M, T), "f32"), empty((M, T), "f32")
tile_sums(x, out=s)
tile_starts(s, out=p)
tiles(x, p, out=y)
compare("tiles", y, f32(x).astype(np.float64).cumsum(-1), 1e-5)

for most in 9, 2**31 - 1:
    x, first = integers((7, 190), 0, most), empty((7, 190), "s32")
    starts(x, out=first)
    x, first = (np.asarray(a.cpu() if hasattr(a, "cpu") else a) for a in (x, first))
    want = np.cumsum(x, -1, dtype=np.int32) - x
    compare("starts", first != want, np.zeros(want.shape), 0)
