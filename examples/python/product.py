# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel called with arrays: on the GPU where PyTorch sees one, else on the simulator with NumPy's.

    python3 product.py
"""
import pathlib

import dslc

SOURCE = pathlib.Path(__file__).parent.parent / "with-cmake/product.gemm"


def on_the_simulator(k):
    import numpy as np
    a = np.random.randint(-3, 4, (200, 72)).astype(np.float16)
    b = np.random.randint(-3, 4, (136, 72)).astype(np.float16)
    d = k(a, b)
    return (d != a.astype(np.float32) @ b.astype(np.float32).T).sum()


def on_the_gpu(k):
    import torch
    a = torch.randint(-3, 4, (4096, 1024), device="cuda").half()
    b = torch.randint(-3, 4, (2048, 1024), device="cuda").half()
    d = k(a, b)
    return int((d != a.float() @ b.float().T).sum())


def gpu_is_there():
    try:
        import torch
        return torch.cuda.is_available()
    except ImportError:
        return False


kernel = dslc.load(SOURCE, bN=64)
wrong = on_the_gpu(kernel) if gpu_is_there() else on_the_simulator(kernel)
print(f"{kernel}: {wrong} elements are wrong")
raise SystemExit(1 if wrong else 0)
