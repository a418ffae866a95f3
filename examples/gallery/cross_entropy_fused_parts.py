# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs cross_entropy_fused_parts.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
parts, total = dslc.load(source, kernel="parts"), dslc.load(source, kernel="loss")
V = 1000
for T, H in (1, 64), (127, 128), (129, 256):
    x, w, loss, lse = normal((T, H)), normal((V, H), scale=H ** -0.5), empty((T,), "f32"), empty((T,), "f32")
    label = np.random.default_rng(T).integers(0, V, T)
    label[T // 3::50] = -100  # ignored
    label[-1] = V - 1
    labels, tiles = array(label, "s32"), [empty((8, T), "f32").T for _ in range(3)]
    parts(x, w, labels, out=tiles)
    total(*tiles, labels, out=(loss, lse))

    s = f32(x) @ f32(w).T
    want = np.log(np.exp(s).sum(-1))
    compare(f"lse_{T}", lse, want, 1e-5)
    compare(f"loss_{T}", loss, np.where(label < 0, 0, want - s[np.arange(T), label]), 1e-5)
