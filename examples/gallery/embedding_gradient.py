# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs embedding_gradient.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
T, V, E = 300, 40, 136
ids = np.random.default_rng(0).integers(0, V, T)
g, w = normal((T, E)), normal((V, E), "f32")
want = f32(w).astype("f8")
np.add.at(want, ids, f32(g))
dslc.load(source)(array(ids, "s32"), g, w)
compare("w", w, want, 1e-5)
