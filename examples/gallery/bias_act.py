# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs bias_act.gemm and compares with NumPy: on the GPU where PyTorch sees one, else on the simulator."""
import math
import pathlib

import dslc
import numpy as np
from check import compare, empty, f32, normal

source = pathlib.Path(__file__).with_suffix(".gemm")
sizes = dict(M=100, N=136, K=72)
M, N, K = sizes.values()
x, w, bias, y = normal((M, K)), normal((N, K), scale=0.1), normal((N,), "f32"), empty((M, N), "bf16")
z = f32(x) @ f32(w).T + f32(bias)

dslc.load(source, sizes=sizes)(x, w, bias, out=y)
compare("bias_gelu", y, z / 2 * (1 + np.vectorize(math.erf)(z / 2 ** 0.5)))

dslc.load(source, sizes=sizes, RELU=1)(x, w, bias, out=y)
compare("bias_relu", y, np.maximum(z, 0))
