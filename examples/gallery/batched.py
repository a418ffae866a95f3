# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs batched.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
from check import compare, empty, expand, f32, normal

L, M, N, K = 3, 72, 104, 64
bmm = dslc.load(pathlib.Path(__file__).with_suffix(".gemm"))

a, b, d = normal((L, M, K)), normal((L, N, K)), empty((L, M, N), "bf16")
bmm(a, b, out=d)
compare("bmm", d, f32(a) @ f32(b).transpose(0, 2, 1))

heads = normal((M, L, K))  # element k of head l in row m, as (S,H,D) of attention has it
a, d = heads.swapaxes(0, 1), empty((L, M, N), "bf16")
bmm(a, b, out=d)
compare("bmm_heads", d, f32(a) @ f32(b).transpose(0, 2, 1))

b, d = expand(normal((1, N, K)), L, N, K), empty((L, M, N), "bf16")
bmm(a, b, out=d)
compare("bmm_one_b", d, f32(a) @ f32(b).transpose(0, 2, 1))
