# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention_gradient.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import pathlib

import dslc
import numpy as np
from check import array, compare, empty, f32, normal, zeros

source = pathlib.Path(__file__).with_suffix(".gemm")
H, M, L, E = 2, 130, 150, 64
q, do, k, v = normal((H, M, E)), normal((H, M, E)), normal((H, L, E)), normal((H, L, E))
scale = E ** -0.5

# Forward
s = f32(q) @ f32(k).swapaxes(1, 2) * scale
lse = np.log(np.exp(s).sum(-1))
p = np.exp(s - lse[..., None])
o = array(p @ f32(v), "bf16")
delta = (f32(o) * f32(do)).sum(-1)
ds = p * (f32(do) @ f32(v).swapaxes(1, 2) - delta[..., None]) * scale

dq, dk, dv = zeros((H, M, E), "f32"), empty((H, L, E), "bf16"), empty((H, L, E), "bf16")
rows, columns = [array(x[:, None], "f32") for x in (lse, delta)], [array(x[..., None], "f32") for x in (lse, delta)]
dslc.load(source)(q, k, v, do, q.swapaxes(1, 2), do.swapaxes(1, 2), k.swapaxes(1, 2), rows[0], columns[0], rows[1],
                  columns[1], dq, scale=scale, out=(dk, dv))
compare("dq", dq, ds @ f32(k))
compare("dk", dk, ds.swapaxes(1, 2) @ f32(q))
compare("dv", dv, p.swapaxes(1, 2) @ f32(do))
