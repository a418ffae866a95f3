# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as operators of PyTorch (2.4 or later), which torch.compile and autograd can look through.

    import dslc, dslc.torch
    gemm = dslc.torch.custom_op("mine::gemm", dslc.load("gemm.gemm"))
    d = gemm(a, b)                # allocates its output; works under torch.compile and in CUDA graphs
"""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch

from . import Kernel, _arrays


def outputs(kernel: Kernel, *tensors: torch.Tensor) -> list[torch.Tensor]:
    """Empty tensors of the shapes and strides that the kernel writes for these inputs."""
    ins = [a for a in kernel._arguments(False) if a["kind"] == "tensor"]
    sizes: dict[str, Any] = {}
    for a, t in zip(ins, tensors):
        for text, extent in zip(a["shape"], t.shape):
            sizes.setdefault(text, extent)
    sizes = {s: sizes[s] for s in kernel.sizes if s in sizes}
    return [_arrays.empty(tensors[0], a, sizes) for a in kernel._arguments(True)]


def custom_op(name: str, kernel: Kernel) -> Any:
    """The kernel as torch.ops operator NAME ("library::op"): tensors and scalars in, new tensors out."""
    if not hasattr(torch.library, "custom_op"):
        raise RuntimeError(f"operators need PyTorch 2.4 or later, this is {torch.__version__}")
    if not re.fullmatch(r"\w+::\w+", name):
        raise ValueError(f"an operator is called library::name, not {name!r}")
    args = kernel._arguments(False)
    if any(a["dir"] == "inout" for a in args if a["kind"] == "tensor"):
        raise TypeError(f"kernel {kernel.name} changes an input in place: call it as it is")
    words = ["Tensor" if a["kind"] == "tensor" else "float" if a["elem"] in _arrays.FLOATS else "int" for a in args]
    count = len(kernel._arguments(True))
    schema = "(%s) -> %s" % (", ".join(f"{w} {a['name']}" for w, a in zip(words, args)),
                             "Tensor" if count == 1 else "(%s)" % ", ".join(["Tensor"] * count))

    def tensors_of(values: Sequence[Any]) -> list[torch.Tensor]:
        return [v for v, w in zip(values, words) if w == "Tensor"]

    def give(made: list[torch.Tensor]) -> Any:
        return made[0] if count == 1 else tuple(made)

    def run(*values: Any) -> Any:
        made = outputs(kernel, *tensors_of(values))
        values = tuple(v.detach() if w == "Tensor" else v for v, w in zip(values, words))  # __dlpack__ wants that
        kernel(*values, out=made[0] if count == 1 else made)
        return give(made)

    def fake(*values: Any) -> Any:
        return give(outputs(kernel, *tensors_of(values)))

    op = torch.library.custom_op(name, run, mutates_args=(), schema=schema)
    op.register_fake(fake)
    return op
