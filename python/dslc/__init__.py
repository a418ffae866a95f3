# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hopper GEMM kernels, compiled by dslc and called with the tensors of any array library.

    import dslc
    k = dslc.load("gemm.gemm", bN=128)
    k(a, b, out=d)                # torch, CuPy, JAX on a GPU; NumPy and host tensors on the simulator

Inputs go by position or name, outputs by ``out=``; sizes follow from the tensors. On a GPU the kernel works on their memory;
the launch goes into the stream in which the tensors' library works (``stream=`` names another).
"""
import json
import sys
import warnings

from . import _cache
from ._dslc import CUBIN, IR, MANIFEST, PTX, Error, Kernel, version as __version__
from . import _dslc

__all__ = ["load", "loads", "compile", "describe", "Kernel", "Error", "CompileError", "CompileWarning", "__version__"]


class CompileError(Exception):
    """The source was refused; the text is that of the compiler's messages."""


class CompileWarning(UserWarning):
    """The compiler warns; the text is that of its messages. What comes from the cache is not warned about again."""


_EMIT = {"cubin": CUBIN, "ptx": PTX, "manifest": MANIFEST, "ir": IR}


def _define(name, value):
    if isinstance(value, bool):
        value = "on" if value else "off"
    return f"{name}={value}"


def _name(define):
    return define.partition("=")[0]


def _outside():
    """How many frames above its caller this package was called."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    return level + 1


def compile(text, *, name="<memory>", defines=None, target="sm_90a", emit="cubin", opt_level=0,
            ptxas=None, ptxas_args=(), unproved=False):
    """Compiles a source text; gives the bytes of a cubin, or the text of "ptx", "manifest", "ir".

    unproved=True accepts a kernel that the verifier neither proves nor refutes, with a CompileWarning.
    """
    if not isinstance(text, (str, bytes, bytearray)):
        raise TypeError(f"a source text is str or bytes, not {type(text).__name__}")
    if emit not in _EMIT:
        raise ValueError(f"emit is {emit!r}, not one of {', '.join(_EMIT)}")
    if isinstance(ptxas_args, (str, bytes)):
        raise TypeError(f"ptxas_args is a list of arguments: [{ptxas_args!r}]")
    data = text.encode() if isinstance(text, str) else bytes(text)
    words = sorted((_define(n, v) for n, v in dict(defines or {}).items()), key=_name)
    request = _cache.Request(data, str(name), target, tuple(words), emit, opt_level,
                             ptxas or _cache.find_ptxas(), tuple(ptxas_args), bool(unproved))
    output = _cache.get(request, lambda: _compile(request))
    return output if emit == "cubin" else output.decode()


def _compile(r):
    output, messages = _dslc.compile(r.text, r.name, r.target, list(r.defines), r.ptxas,
                                     list(r.ptxas_args), r.opt_level, _EMIT[r.emit], r.unproved)
    if output is None:
        given = f"note: compiled with {', '.join(r.defines)}" if r.defines else ""
        raise CompileError((messages + given).rstrip())
    if not r.ptxas and r.emit == "cubin":
        messages += "no ptxas was found, so only the simulator runs this kernel: pip install 'dslc[ptxas]'"
    if messages:
        warnings.warn(messages.rstrip(), CompileWarning, stacklevel=_outside())
    return output


def loads(text, *, kernel=None, name="<memory>", defines=None, sim="", **options):
    """A kernel of a source text. sim: options of the simulator, "seed=7,checks=all"."""
    return Kernel(compile(text, name=name, defines=defines, **options), kernel, sim)


def load(path, kernel=None, *, defines=None, target="sm_90a", sim="", unproved=False, **words):
    """A kernel of a file, a .gemm or a .cubin. Other words are consts of the source: bN=128, roles="pingpong".

    kernel names one where the file has several; defines takes consts whose names are words of this call;
    unproved is as for compile.
    """
    with open(path, "rb") as f:
        data = f.read()
    if data[:4] == b"\x7fELF":
        if words or defines:
            raise TypeError(f"{path} is compiled: {', '.join([*words, *(defines or {})])} cannot be changed")
        return Kernel(data, kernel, sim)
    return loads(data, kernel=kernel, name=path, defines={**(defines or {}), **words}, target=target, sim=sim,
                 unproved=unproved)


def describe(k):
    """What the manifest says of a kernel: arguments, sizes, facts, tiles, shared memory; as a dict."""
    if not isinstance(k, Kernel):
        raise TypeError(f"describe takes a kernel that load or loads gave, not {type(k).__name__}")
    return next(d for d in json.loads(k.manifest)["kernels"] if d["name"] == k.name)
