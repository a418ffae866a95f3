# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs rope_cache.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, f32, normal, zeros

source = pathlib.Path(__file__).with_suffix(".gemm")
T, H, D, P, S = 37, 3, 40, 100, 90  # tokens, heads, half of a head, positions, slots of the cache
random = np.random.default_rng(1)
position, slot = random.integers(0, P, T), random.permutation(S)[:T]
slot[5] = -1  # padding
x, keys = normal((T, H, 2 * D)), zeros((S, H, 2 * D), "bf16")
angle = np.arange(P)[:, None] / 10000 ** (np.arange(D) / D)
cosine, sine = array(np.cos(angle), "f32"), array(np.sin(angle), "f32")
dslc.load(source, "rope_cache")(x[..., :D], x[..., D:], array(position, "s32"), array(slot, "s32"), cosine, sine,
                                out=(keys[..., :D], keys[..., D:]))
a, b, c, s = f32(x)[..., :D], f32(x)[..., D:], f32(cosine)[position, None], f32(sine)[position, None]
want, live = np.zeros((S, H, 2 * D), np.float32), slot >= 0
want[slot[live]] = np.concatenate((a * c - b * s, b * c + a * s), -1)[live]
compare("rope_cache", keys, want)

v, values = normal((T, H * 2 * D)), zeros((S, H * 2 * D), "bf16")
dslc.load(source, "append")(v, array(slot, "s32"), out=values)
want = np.zeros((S, H * 2 * D), np.float32)
want[slot[live]] = f32(v)[live]
compare("append", values, want)
