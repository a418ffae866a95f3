# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs dropout.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")


def exact(name, got, want):
    got = np.asarray(got.cpu() if hasattr(got, "cpu") else got)
    if not (got == want).all():
        raise SystemExit(f"{name}: differs in {(got != want).sum()} elements")
    print(f"{name}: max error 0 (allowed 0)")


def philox(x, key, rounds=10):
    """Philox4x32 of Salmon et al., 2011: x has four words, key two."""
    x, key = [np.uint64(w) for w in x], [np.uint64(w) for w in key]
    low, wide = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(rounds):
        a, b = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [b >> wide ^ x[1] ^ key[0], b & low, a >> wide ^ x[3] ^ key[1], a & low]
        key = [key[0] + np.uint64(0x9E3779B9) & low, key[1] + np.uint64(0xBB67AE85) & low]
    return [np.asarray(w).astype(np.uint32) for w in x]


# Random123's known answers (kat_vectors): counter, key, words
known = np.array([[0] * 6, [0xFFFFFFFF] * 6,
                  [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0]], np.uint32)
words = np.array([[0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8], [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD],
                  [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]], np.uint32)
out = [empty((1, 3), "u32") for _ in range(4)]
dslc.load(source, "words")(*[array(known[None, :, i], "u32") for i in range(6)], out=out)
for i in range(4):
    exact("words", out[i], words[:, i])

M, N, seed, p = 9, 200, 0x80012345, 0.3
r = empty((M, N), "f32")
dslc.load(source, "rand")(seed=seed, out=r)
bits = philox([np.arange(M * N).reshape(M, N), 0, 0, 0], [seed, 0])[0].view(np.int32)
u = np.where(bits < 0, -bits - 1, bits).astype(np.float32) * np.float32(4.6566127342e-10)  # uint_to_uniform_float
exact("rand", r, u)
x, d = normal((M, N)), empty((M, N), "bf16")
dslc.load(source, "dropout")(x, seed=seed, p=p, out=d)
compare("dropout", d, np.where(u > p, f32(x) / (1 - p), 0))
