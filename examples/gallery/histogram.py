# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs histogram.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, f32

source = pathlib.Path(__file__).with_suffix(".gemm")
T, B = 700, 12
bins = np.random.default_rng(0).integers(-1, B + 2, T)
counts = array(np.arange(B)[:, None], "s32")
dslc.load(source)(array(bins, "s32"), counts)
compare("counts", counts, np.arange(B)[:, None] + np.bincount(bins[(bins >= 0) & (bins < B)], minlength=B)[:, None], 0)
