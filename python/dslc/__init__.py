# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hopper GEMM kernels, compiled by dslc and called with the tensors of any array library.

    import dslc
    k = dslc.load("gemm.gemm")
    k(a, b, out=d)                # torch, CuPy, JAX on a GPU; NumPy and host tensors on the simulator

What the source leaves open (const bN = pick(64, 128), no schedule) is chosen: see load. Inputs go by position or name,
outputs by ``out=``; sizes follow from the tensors. On a GPU the kernel works on their memory; the launch goes into the
stream in which the tensors' library works (``stream=`` names another).
"""
import array
import collections.abc
import contextlib
import json
import re
import sys
import warnings

from . import _cache, _dslc, _tune
from ._dslc import CUBIN, IR, MANIFEST, PTX, Error, version as __version__
from ._tune import Tuned

Choice = collections.namedtuple("Choice", "name us why")
__all__ = ["load", "loads", "compile", "describe", "Kernel", "Choice", "Tuned", "Error", "CompileError",
           "CompileWarning", "__version__"]


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


def _sizes(sizes):
    """As the compiler reads them: ("K=4096,M=16",)."""
    if sizes is None:
        return ()
    sets = [sizes] if isinstance(sizes, collections.abc.Mapping) else list(sizes)
    if not sets or not all(isinstance(s, collections.abc.Mapping) for s in sets):
        raise TypeError(f"sizes is a dict, {{'M': 16, 'N': 4096, 'K': 4096}}, or a list of dicts, not {sizes!r}")
    return tuple(",".join(f"{n}={v}" for n, v in sorted(s.items())) for s in sets)


def _request(text, *, defines=None, emit="cubin", ptxas=None, ptxas_args=(), unproved=False, sizes=None, **rest):
    if not isinstance(text, (str, bytes, bytearray)):
        raise TypeError(f"a source text is str or bytes, not {type(text).__name__}")
    if emit not in _EMIT:
        raise ValueError(f"emit is {emit!r}, not one of {', '.join(_EMIT)}")
    if isinstance(ptxas_args, (str, bytes)):
        raise TypeError(f"ptxas_args is a list of arguments: [{ptxas_args!r}]")
    words = sorted((_define(n, v) for n, v in dict(defines or {}).items()), key=_name)
    return _cache.Request(text.encode() if isinstance(text, str) else bytes(text), defines=tuple(words), emit=emit,
                          ptxas=ptxas or _cache.find_ptxas(), ptxas_args=tuple(ptxas_args), unproved=bool(unproved),
                          sizes=_sizes(sizes), **rest)


def compile(text, *, name="<memory>", defines=None, target="sm_90a", emit="cubin", opt_level=0,
            ptxas=None, ptxas_args=(), unproved=False, sizes=None, card=None):
    """Compiles a source text; gives the bytes of a cubin, or the text of "ptx", "manifest", "ir".

    unproved=True accepts a kernel that the verifier neither proves nor refutes, with a CompileWarning.
    sizes and card are those that choices are made for, as for load.
    """
    output = _built(_request(text, name=str(name), defines=defines, target=target, emit=emit, opt_level=opt_level,
                             ptxas=ptxas, ptxas_args=ptxas_args, unproved=unproved, sizes=sizes, card=card))[1]
    return output if emit == "cubin" else output.decode()


def _built(request):
    """How choices were closed, and the output."""
    chosen, _, output = _cache.get(request, lambda: _compile(request)).partition(b"\0")
    return chosen.decode(), output


def _said(r, ranked=0):
    return _dslc.compile(r.text, r.name, r.target, list(r.defines), r.ptxas, list(r.ptxas_args), r.opt_level,
                         _EMIT[r.emit], r.unproved, list(r.sizes), r.card, r.one, ranked, r.kernel)


def _refuse(r, messages):
    given = f"note: compiled with {', '.join(r.defines)}" if r.defines else ""
    raise CompileError((messages + given).rstrip())


def _compile(r):
    output, messages, chosen = _said(r)
    if output is None:
        _refuse(r, messages)
    if not r.ptxas and r.emit == "cubin":
        messages += "no ptxas was found, so only the simulator runs this kernel: pip install 'dslc[ptxas]'"
    if messages:
        warnings.warn(messages.rstrip(), CompileWarning, stacklevel=_outside())
    return chosen.encode() + b"\0" + output


def _ranked(r, kernel):
    """Of the first ways to close what a kernel leaves open: the estimate in us, and its defines."""
    _, messages, chosen = _said(r, _tune.CANDIDATES)
    rows = [line.split("\t") for line in chosen.splitlines()]
    return [(float(us), defines) for name, us, *defines in rows if name == kernel] or _refuse(
        r, messages or f"kernel {kernel} leaves nothing open that can be chosen")


class _Known(dict):
    """Kernels by sizes and device, as Kernel._key has them; make gives one that is missing."""

    def __init__(self, make):
        self.make = make

    def __missing__(self, key):
        return self.setdefault(key, self.make(key))


def _open(request, kernel, sim):
    chosen, cubin = _built(request)
    k = Kernel(cubin, kernel, sim)
    own = re.search(rf"^{k.name}(?: for|:).*\n?(?: .*\n?)*", chosen, re.MULTILINE)
    k.chosen, k._request, k._sim = own[0] if own else "", request, sim
    return k


def _at(request, names, key):
    """The request for the sizes and the device of a call."""
    values, card = key[:8 * len(names)], key[8 * len(names):].decode()
    return request._replace(sizes=_sizes(dict(zip(names, array.array("q", values)))), card=request.card or card or None)


class Kernel(_dslc.Kernel):
    """Kernel(cubin, name=None, sim=""): a kernel that is called with tensors.

    chosen: what the compiler said when it chose; "" of a cubin, and where the source leaves nothing open.
    """
    chosen, _request = "", None

    def choice(self, *args, **words):
        """What a call with these arguments runs; out= may be left out. A Choice: the name of the kernel; us, the
        estimate of its time in microseconds, or what tune measured, None if there is neither; and why, a text.

        A kernel that specializes is compiled for sizes that are new.
        """
        kernel, name, why = self._choice(*args, **words)
        why = why if kernel is self else kernel.chosen or why
        us = re.search(r"(?:about|estimate|measured) ([0-9.]+) us", why)
        return Choice(name, us and float(us[1]), why)

    def tune(self, *args, **words):
        """Measures the five most promising ways to close what the source leaves open, with the tensors of a call.

        Gives a list of Tuned(us, estimate_us, defines), that first which later calls with these sizes take: of this
        kernel, and of those that are loaded with specialize=True and the same options, in any process. us is the
        median of 20 rounds. The estimate's first is taken unless another is faster in 16 of them. A round runs each
        20 times, on tensors that may stay in the L2 cache; outputs hold the result afterwards. Error: the tensors
        are on the host. CompileError: nothing is open. TypeError: a cubin, or an input is changed in place.
        """
        key, on_gpu = self._key(*args, **words)
        manifest = describe(self)
        _tune.check(self, manifest["args"], on_gpu)
        request = _at(self._request, manifest["syms"], key)
        ways = list(self._ways(request, args, words))
        if not ways:
            raise Error(f"kernel {self.name}: none of the ways that were tried takes these arguments")
        table, best = _tune.measure(ways, args, words)
        best.chosen = f"{self.name} for {request.sizes[0]} on {request.card}: {_tune.report(table)}"
        _cache.put(request, best.chosen.encode() + b"\0" + best.cubin)
        if self._known is None:
            self._known = _Known(lambda key: None)
        self._known[key] = best
        self(*args, **words)
        return table

    def _ways(self, request, args, words):
        """Estimate, defines and kernel of those that compile and run; each ran, so that the next time counts."""
        for us, defines in _ranked(request, self.name):
            with contextlib.suppress(CompileError, Error):  # ptxas spills; CTAs do not fit
                k = _open(request._replace(defines=request.defines + tuple(defines)), self.name, self._sim)
                k._time(*args, **words)
                yield us, dict(d.split("=", 1) for d in defines), k


def loads(text, *, kernel=None, name="<memory>", sim="", specialize=False, **options):
    """A kernel of a source text. sim: options of the simulator, "seed=7,checks=all"; others as for load and compile."""
    request = _request(text, name=str(name), kernel=kernel, **options)
    if specialize and request.sizes:
        raise TypeError("specialize=True chooses for the sizes of each call: leave out sizes=")
    k = _open(request._replace(one=bool(specialize)), kernel, sim)
    if specialize:
        names = describe(k)["syms"]
        k._request, k._known = request, _Known(lambda key: _open(_at(request, names, key), kernel, sim))
    return k


def load(path, kernel=None, *, defines=None, target="sm_90a", sim="", unproved=False, sizes=None, card=None,
         specialize=False, **words):
    """A kernel of a file, a .gemm or a .cubin. Other words are consts of the source: bN=128, roles="pingpong".

    kernel names one where the file has several, and only that is compiled; defines takes consts whose names are words of this call;
    unproved is as for compile. What the source leaves open is chosen
      - without sizes for likely ones: a family of kernels, of which a call takes the fastest for its sizes;
      - with sizes=dict(M=16, N=4096, K=4096), numbers of elements, for these, as one kernel; with a list of
        dicts, as a family that is fast for each of them;
      - with specialize=True for the sizes of each call: the first call with new ones compiles, which takes a
        second or so, and the kernel is kept in the cache.
    A size that is missing, or that no kernel has, is a CompileError. card is the GPU that is chosen for, by its
    name ("NVIDIA H200"): without, that of the tensors where the kernel specializes, else an H200.
    """
    with open(path, "rb") as f:
        data = f.read()
    if data[:4] != b"\x7fELF":
        return loads(data, kernel=kernel, name=path, defines={**(defines or {}), **words}, target=target, sim=sim,
                     unproved=unproved, sizes=sizes, card=card, specialize=specialize)
    given = [*words, *(defines or {}), *(n for n, v in (("sizes", sizes), ("specialize", specialize)) if v)]
    if given:
        raise TypeError(f"{path} is compiled: {', '.join(given)} cannot be changed")
    return Kernel(data, kernel, sim)


def describe(k):
    """What the manifest says of a kernel: arguments, sizes, facts, tiles, shared memory; as a dict."""
    if not isinstance(k, Kernel):
        raise TypeError(f"describe takes a kernel that load or loads gave, not {type(k).__name__}")
    return next(d for d in json.loads(k.manifest)["kernels"] if d["name"] == k.name)
