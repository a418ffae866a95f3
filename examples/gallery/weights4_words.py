# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs weights4_words.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, expand, f32, integers, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
M, N, K = 10, 136, 640
G = K // 128
AWQ = [0, 2, 4, 6, 1, 3, 5, 7]  # the column that each nibble of a word is of


def pack(codes, order):
    """Eight neighbours along the last mode in a word, nibble i the one that order names."""
    codes = codes.reshape(*codes.shape[:-1], -1, 8)[..., order].astype(np.uint32)
    return np.bitwise_or.reduce(codes << (4 * np.arange(8, dtype=np.uint32)), -1)



w, z = (np.random.default_rng(2).integers(0, 16, shape) for shape in ((K, N), (G, N)))
x, scales = normal((M, K)), array(np.linspace(0.1, 0.2, G * N).reshape(G, N), "bf16")
each = expand(scales.T[:, None], N, 128, G)
want = f32(x) @ ((w - np.repeat(z, 128, 0)) * np.repeat(f32(scales), 128, 0))
for name, order in (("gptq", range(8)), ("awq", AWQ)):
    # Each word eight times, or 8 * 128 times: modes of stride 0.
    if name == "gptq":  # words of eight rows of K
        words = expand(array(pack(w.T, order).T, "u32").T[:, None], N, 8, K // 8)
    else:  # words of eight columns
        words = expand(array(pack(w, order), "u32").T[None], 8, N // 8, K)
    zeros = expand(array(pack(z, order), "u32").T[None, :, None], 8, N // 8, 128, G)
    d = empty((M, N), "bf16")
    dslc.load(source, name)(words, zeros, each, x, out=d.T)
    compare(name, d, want)
