# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hopper GEMM kernels, compiled by dslc and called with the tensors of any array library.

    import dslc
    k = dslc.load("gemm.gemm", bN=128)
    k(a, b, out=d)                # torch, CuPy, JAX on a GPU; NumPy and host tensors on the simulator

Inputs go by position or name, outputs by ``out=``; sizes follow from the tensors. Nothing is copied on a GPU;
the launch goes into the stream in which the tensors' library works (``stream=`` names another).
"""
import json

from . import _cache
from ._dslc import CUBIN, IR, MANIFEST, PTX, Error, Kernel, version as __version__
from . import _dslc

__all__ = ["load", "loads", "compile", "describe", "Kernel", "Error", "CompileError", "__version__"]


class CompileError(Exception):
    """The source was refused; the text is that of the compiler's messages."""


_EMIT = {"cubin": CUBIN, "ptx": PTX, "manifest": MANIFEST, "ir": IR}


def _define(name, value):
    if isinstance(value, bool):
        value = "on" if value else "off"
    return f"{name}={value}"


def _name(define):
    return define.partition("=")[0]


def compile(text, *, name="<memory>", defines=None, target="sm_90a", emit="cubin", opt_level=0,
            ptxas=None, ptxas_args=()):
    """Compiles a source text; gives the bytes of a cubin, or the text of "ptx", "manifest", "ir"."""
    data = text.encode() if isinstance(text, str) else bytes(text)
    words = sorted((_define(n, v) for n, v in (defines or {}).items()), key=_name)
    request = _cache.Request(data, str(name), target, tuple(words), emit, opt_level,
                             ptxas or _cache.find_ptxas(), tuple(ptxas_args))
    output = _cache.get(request, lambda: _compile(request))
    return output if emit == "cubin" else output.decode()


def _compile(r):
    output, messages = _dslc.compile(r.text, r.name, r.target, list(r.defines), r.ptxas,
                                     list(r.ptxas_args), r.opt_level, _EMIT[r.emit])
    if output is None:
        raise CompileError(messages.rstrip())
    return output


def loads(text, *, kernel=None, name="<memory>", defines=None, sim="", **options):
    """A kernel of a source text. sim: options of the simulator, "seed=7,checks=all"."""
    return Kernel(compile(text, name=name, defines=defines, **options), kernel, sim)


def load(path, kernel=None, *, defines=None, target="sm_90a", sim="", **words):
    """A kernel of a file, a .gemm or a .cubin. Other words are consts of the source: bN=128, roles="pingpong".

    kernel names one where the file has several; defines takes consts whose names are words of this call.
    """
    with open(path, "rb") as f:
        data = f.read()
    if data[:4] == b"\x7fELF":
        if words or defines:
            raise TypeError(f"{path} is compiled: {', '.join([*words, *(defines or {})])} cannot be changed")
        return Kernel(data, kernel, sim)
    return loads(data, kernel=kernel, name=path, defines={**(defines or {}), **words}, target=target, sim=sim)


def describe(k):
    """What the manifest says of a kernel: arguments, sizes, facts, tiles, shared memory; as a dict."""
    return next(d for d in json.loads(k.manifest)["kernels"] if d["name"] == k.name)
