# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs dequant4.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, expand, f32, normal

K, N = 384, 200
G = K // 128
words = np.random.default_rng(3).integers(0, 2**32, (K // 8, N), np.uint32)
zeros = np.random.default_rng(4).integers(0, 2**32, (G, N // 8), np.uint32)
scales, d = normal((G, N), "f16", 0.1), empty((K, N), "bf16")
dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))(
    expand(array(words, "u32")[None], 8, K // 8, N), expand(array(zeros, "u32")[None, :, None], 128, G, 8, N // 8),
    expand(scales[None], 128, G, N), out=d)

nibbles = 4 * np.arange(8, dtype=np.uint32)
w = (words[:, None] >> nibbles[:, None] & 15).reshape(K, N).astype(np.float32)
z = (zeros[:, :, None] >> nibbles & 15).reshape(G, N).astype(np.float32)
compare("dequant4", d, (w - np.repeat(z, 128, 0)) * np.repeat(f32(scales), 128, 0))
