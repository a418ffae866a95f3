# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs rope.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
T, H, D = 37, 3, 40  # steps, heads, half of a head
x, y = normal((T, H, 2 * D)), empty((T, H, 2 * D), "bf16")
angle = np.arange(T)[:, None] / 10000 ** (np.arange(D) / D)
cosine, sine = array(np.cos(angle), "f32"), array(np.sin(angle), "f32")

dslc.load(source)(x[..., :D], x[..., D:], cosine, sine, out=(y[..., :D], y[..., D:]))
a, b, c, s = f32(x)[..., :D], f32(x)[..., D:], f32(cosine)[:, None], f32(sine)[:, None]
compare("rope", y, np.concatenate((a * c - b * s, b * c + a * s), -1))
