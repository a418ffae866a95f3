# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as operators of PyTorch (2.4 or later), which torch.compile and autograd can look through.

    import dslc, dslc.torch
    gemm = dslc.torch.custom_op("mine::gemm", dslc.load("gemm.gemm"))
    d = gemm(a, b)                # allocates its output; works under torch.compile and in CUDA graphs
"""
import re

import torch

from . import describe

_DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f64": torch.float64,
           "tf32": torch.float32, "i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32,
           "i64": torch.int64, "e4m3": getattr(torch, "float8_e4m3fn", torch.uint8),
           "e5m2": getattr(torch, "float8_e5m2", torch.uint8)}
_FLOATS = ("bf16", "f16", "f32", "f64", "tf32", "e4m3", "e5m2")


def _postfix(text, sizes):
    """The manifest's expressions, on numbers or on symbols of a trace."""
    stack = []
    for word in text.split():
        if re.fullmatch(r"-?\d+", word):
            stack.append(int(word))
        elif word in sizes:
            stack.append(sizes[word])
        else:
            b, a = stack.pop(), stack.pop()
            stack.append({"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a // b,
                          "%": lambda: a % b, "min": lambda: min(a, b), "max": lambda: max(a, b)}[word]())
    return stack.pop()


def outputs(kernel, *tensors):
    """Empty tensors of the shapes and strides that the kernel writes for these inputs."""
    d = describe(kernel)
    ins = [a for a in d["args"] if a["kind"] == "tensor" and a["dir"] != "out"]
    sizes = {}
    for a, t in zip(ins, tensors):
        for text, extent in zip(a["shape"], t.shape):
            sizes.setdefault(text, extent)
    sizes = {s: sizes[s] for s in d["syms"] if s in sizes}
    made = []
    for a in d["args"]:
        if a["kind"] == "tensor" and a["dir"] == "out":
            shape = [_postfix(e, sizes) for e in a["shape"]]
            stride = [_postfix(e, sizes) for e in a["stride"]]
            made.append(torch.empty_strided(shape, stride, dtype=_DTYPES[a["elem"]],
                                            device=tensors[0].device))
    return made


def custom_op(name, kernel):
    """The kernel as torch.ops operator NAME ("library::op"): tensors and scalars in, new tensors out."""
    if not hasattr(torch.library, "custom_op"):
        raise RuntimeError(f"operators need PyTorch 2.4 or later, this is {torch.__version__}")
    if not re.fullmatch(r"\w+::\w+", name):
        raise ValueError(f"an operator is called library::name, not {name!r}")
    args = [a for a in describe(kernel)["args"] if not (a["kind"] == "tensor" and a["dir"] == "out")]
    if any(a["dir"] == "inout" for a in args if a["kind"] == "tensor"):
        raise TypeError(f"kernel {kernel.name} changes an input in place: call it as it is")
    words = ["Tensor" if a["kind"] == "tensor" else "float" if a["elem"] in _FLOATS else "int" for a in args]
    count = len(describe(kernel)["args"]) - len(args)
    schema = "(%s) -> %s" % (", ".join(f"{w} {a['name']}" for w, a in zip(words, args)),
                             "Tensor" if count == 1 else "(%s)" % ", ".join(["Tensor"] * count))

    def tensors_of(values):
        return [v for v, w in zip(values, words) if w == "Tensor"]

    def give(made):
        return made[0] if count == 1 else tuple(made)

    def run(*values):
        made = outputs(kernel, *tensors_of(values))
        values = [v.detach() if w == "Tensor" else v for v, w in zip(values, words)]  # __dlpack__ wants that
        kernel(*values, out=made[0] if count == 1 else made)
        return give(made)

    def fake(*values):
        return give(outputs(kernel, *tensors_of(values)))

    op = torch.library.custom_op(name, run, mutates_args=(), schema=schema)
    op.register_fake(fake)
    return op
