# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of NumPy, CuPy and PyTorch: outputs of the shapes that a manifest names, and what NumPy does not lend.

    empty(x, {"elem": "bf16", "shape": ["M", "N"], "stride": ["N", "1"]}, {"M": 16, "N": 32})
    ->  torch.empty(16, 32, dtype=torch.bfloat16, device=x.device), where x is a tensor of torch
"""
from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, Iterator, Mapping, Optional

# For each element type: its dtype; the integer type that holds its bits, for NumPy without ml_dtypes and torch without fp8
_TYPES = {"bf16": "bfloat16 uint16", "e4m3": "float8_e4m3fn uint8", "e5m2": "float8_e5m2 uint8", "f16": "float16", "f32": "float32",
          "tf32": "float32", "f64": "float64", **{f"{s}{n}": f"{w}{n}" for s, w in (("s", "int"), ("u", "uint")) for n in (8, 16, 32, 64)}}
FLOATS = ("bf16", "f16", "f32", "f64", "tf32", "e4m3", "e5m2")
_CODES = {name: code for code, name in enumerate(
    "float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
    "float8_e8m0fnu".split(), 7)}  # of DLPack, as the next ones
_KINDS = {"bfloat16": (4, 16), **{name: (code, 8) for name, code in _CODES.items()}}
_PACKED = ("int4", "uint4", "float4_e2m1fn")


class _Alias:
    """An array of NumPy as another type, that may be written."""

    def __init__(self, array: Any) -> None:
        self.array = array  # is kept alive
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def alias(array: Any) -> Optional[tuple[Any, bool, int, int]]:
    """A NumPy array that can be lent, of the memory of one that cannot: the array, whether the given one is read-only,
    code and bits of its type in DLPack, 0 bits where it is that of the new one. None: NumPy's refusal has another reason.
    """
    name, read_only = array.dtype.name, not array.flags.writeable
    if name in _PACKED:
        raise TypeError(f"an array of {name} has an element a byte, and kernels read two: give uint8, the first in the "
                        "low half: x = x.view('uint8') & 15; x[..., ::2] | x[..., 1::2] << 4")
    code, bits = _KINDS.get(name, (0, 0))
    if not bits and not read_only:
        return None
    return sys.modules["numpy"].asarray(_Alias(array.view(f"u{array.itemsize}") if bits else array)), read_only, code, bits


def number(text: str, sizes: Mapping[str, Any]) -> Any:
    """A postfix expression of a manifest, on numbers or on symbols of a trace."""
    ways: dict[str, Callable[[Any, Any], Any]] = {
        "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a // b,
        "%": lambda a, b: a % b, "min": min, "max": max}
    stack: list[Any] = []
    for word in text.split():
        if word in ways:
            b, a = stack.pop(), stack.pop()
            stack.append(ways[word](a, b))
        else:
            stack.append(sizes[word] if word in sizes else int(word))
    return stack.pop()


def library(x: Any) -> str:
    """The package that the type of an array is of: "numpy"."""
    return type(x).__module__.partition(".")[0]


def is_of_ml_dtypes(x: Any) -> bool:
    """Whether the elements of an array of NumPy have a type of ml_dtypes."""
    return library(x) == "numpy" and x.dtype.type.__module__.partition(".")[0] == "ml_dtypes"


def of_torch(elem: str) -> Any:
    """Return the torch dtype of an element type."""
    torch, (own, *bits) = sys.modules["torch"], _TYPES[elem].split()
    return getattr(torch, own, None) or getattr(torch, bits[0] if bits else own)


def _of_numpy(elem: str, ml_dtypes: bool) -> Any:
    own, *bits = _TYPES[elem].split()
    return getattr(sys.modules["ml_dtypes"], own) if bits and ml_dtypes else bits[0] if bits else own


@contextlib.contextmanager
def _allocating(like: Any, stream: Optional[int]) -> Iterator[Any]:
    """What is allocated belongs to the device of an array, and to a stream if one is named."""
    package = sys.modules[library(like)]
    with contextlib.ExitStack() as held:
        if package.__name__ == "cupy":
            held.enter_context(package.cuda.Device(like.device.id))
        if package.__name__ == "cupy" and stream is not None:
            held.enter_context(package.cuda.ExternalStream(stream))
        if package.__name__ == "torch" and stream is not None and like.is_cuda:
            held.enter_context(package.cuda.stream(package.cuda.ExternalStream(stream, device=like.device)))
        yield package


def _dense(shape: list[int], stride: list[int]) -> bool:
    count = 1
    for extent, step in zip(reversed(shape), reversed(stride)):
        if extent > 1 and step != count:
            return False
        count *= extent
    return True


def empty(like: Any, arg: Mapping[str, Any], sizes: Mapping[str, Any], stream: Optional[int] = None, ml_dtypes: bool = False) -> Any:
    """An output of a manifest, of the library and the device of an array; its elements are undefined."""
    shape, stride = ([number(e, sizes) for e in arg[which]] for which in ("shape", "stride"))
    with _allocating(like, stream) as package:
        if package.__name__ == "torch":
            return package.empty_strided(shape, stride, dtype=of_torch(arg["elem"]), device=like.device)
        dtype = _of_numpy(arg["elem"], ml_dtypes)
        if _dense(shape, stride):
            return package.empty(shape, dtype)
        count = 1 + sum((extent - 1) * step for extent, step in zip(shape, stride)) if 0 not in shape else 0
        flat = package.empty(count, dtype)
        return package.lib.stride_tricks.as_strided(flat, shape, [s * flat.itemsize for s in stride])


def can_allocate(x: Any) -> bool:
    """Whether empty has arrays of its library."""
    return library(x) in ("torch", "numpy", "cupy")


def shown(arg: Mapping[str, Any]) -> str:
    """An argument of a manifest: "bf16 (M, K)"."""
    if arg["kind"] != "tensor":
        return str(arg["elem"])
    return f"{arg['elem']} ({', '.join(arg['shape'])})"
