# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hopper GEMM kernels, compiled by dslc and called with the tensors of any array library.

    import dslc
    k = dslc.load("gemm.gemm")
    d = k(a, b)                   # torch, CuPy, JAX on a GPU; NumPy and host tensors on the simulator

What the source leaves open (const bN = pick(64, 128), no schedule) is chosen: see load. Inputs go by position or name,
outputs by ``out=``; sizes follow from the tensors. On a GPU the kernel works on their memory; the launch goes into the
stream in which the tensors' library works (``stream=`` names another).
"""
from __future__ import annotations

import array
import contextlib
import functools
import html
import inspect
import json
import keyword
import os
import re
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Dict, Literal, NoReturn, Optional, Union, overload

from . import _arrays, _cache, _dslc, _explain, _tune
from ._dslc import CUBIN, IR, MANIFEST, PTX, Error, version as __version__
from ._types import Argument, Choice, Const, Explained, Sizes, Tensor, Times, Tuned

__all__ = ["load", "loads", "compile", "describe", "Kernel", "Choice", "Times", "Tuned", "Error", "CompileError",
           "CompileWarning", "__version__"]


class CompileError(Exception):
    """The source was refused; the text is that of the compiler's messages."""


class CompileWarning(UserWarning):
    """The compiler warns; the text is that of its messages. What comes from the cache is not warned about again."""


_EMIT = {"cubin": CUBIN, "ptx": PTX, "manifest": MANIFEST, "ir": IR}


def _define(name: str, value: Const) -> str:
    if isinstance(value, bool):
        value = "on" if value else "off"
    return f"{name}={value}"


def _name(define: str) -> str:
    return define.partition("=")[0]


def _outside() -> int:
    """How many frames above its caller this package was called."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    return level + 1


def _sizes(sizes: Optional[Sizes]) -> tuple[str, ...]:
    """As the compiler reads them: ("K=4096,M=16",)."""
    if sizes is None:
        return ()
    sets = [sizes] if isinstance(sizes, Mapping) else list(sizes)
    if not sets or not all(isinstance(s, Mapping) for s in sets):
        raise TypeError(f"sizes is a dict, {{'M': 16, 'N': 4096, 'K': 4096}}, or a list of dicts, not {sizes!r}")
    return tuple(",".join(f"{n}={v}" for n, v in sorted(s.items())) for s in sets)


def _request(text: Union[str, bytes], *, defines: Optional[Mapping[str, Const]] = None, emit: str = "cubin",
             ptxas: Optional[str] = None, ptxas_args: Sequence[str] = (), unproved: bool = False,
             sizes: Optional[Sizes] = None, **rest: Any) -> _cache.Request:
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


@overload
def compile(text: Union[str, bytes], *, name: str = ..., defines: Optional[Mapping[str, Const]] = ..., target: str = ...,
            emit: Literal["cubin"] = ..., opt_level: int = ..., ptxas: Optional[str] = ..., ptxas_args: Sequence[str] = ...,
            unproved: bool = ..., sizes: Optional[Sizes] = ..., card: Optional[str] = ...) -> bytes: ...
@overload
def compile(text: Union[str, bytes], *, name: str = ..., defines: Optional[Mapping[str, Const]] = ..., target: str = ...,
            emit: Literal["ptx", "manifest", "ir"], opt_level: int = ..., ptxas: Optional[str] = ...,
            ptxas_args: Sequence[str] = ..., unproved: bool = ..., sizes: Optional[Sizes] = ..., card: Optional[str] = ...) -> str: ...


def compile(text: Union[str, bytes], *, name: str = "<memory>", defines: Optional[Mapping[str, Const]] = None,
            target: str = "sm_90a", emit: str = "cubin", opt_level: int = 0, ptxas: Optional[str] = None,
            ptxas_args: Sequence[str] = (), unproved: bool = False, sizes: Optional[Sizes] = None,
            card: Optional[str] = None) -> Union[bytes, str]:
    """Compiles a source text; gives the bytes of a cubin, or the text of "ptx", "manifest", "ir".

    unproved=True accepts a kernel that the verifier neither proves nor refutes, with a CompileWarning.
    sizes and card are those that choices are made for, as for load.
    """
    output = _built(_request(text, name=str(name), defines=defines, target=target, emit=emit, opt_level=opt_level,
                             ptxas=ptxas, ptxas_args=ptxas_args, unproved=unproved, sizes=sizes, card=card))[1]
    return output if emit == "cubin" else output.decode()


def _built(request: _cache.Request) -> tuple[str, bytes]:
    """How choices were closed, and the output."""
    chosen, _, output = _cache.get(request, lambda: _compile(request)).partition(b"\0")
    return chosen.decode(), output


def _said(r: _cache.Request, ranked: int = 0) -> tuple[Optional[bytes], str, str]:
    return _dslc.compile(r.text, r.name, r.target, list(r.defines), r.ptxas, list(r.ptxas_args), r.opt_level,
                         _EMIT[r.emit], r.unproved, list(r.sizes), r.card, r.one, ranked, r.kernel)


def _refuse(r: _cache.Request, messages: str) -> NoReturn:
    given = f"note: compiled with {', '.join(r.defines)}" if r.defines else ""
    raise CompileError((messages + given).rstrip())


def _compile(r: _cache.Request) -> bytes:
    output, messages, chosen = _said(r)
    if output is None:
        _refuse(r, messages)
    if not r.ptxas and r.emit == "cubin":
        messages += "no ptxas was found, so only the simulator runs this kernel: pip install 'dslc[ptxas]'"
    if messages:
        warnings.warn(messages.rstrip(), CompileWarning, stacklevel=_outside())
    return chosen.encode() + b"\0" + output


def _ranked(r: _cache.Request, kernel: str) -> list[tuple[float, list[str]]]:
    """Of the first ways to close what a kernel leaves open: the estimate in us, and its defines."""
    _, messages, chosen = _said(r, _tune.CANDIDATES)
    rows = [line.split("\t") for line in chosen.splitlines()]
    return [(float(us), defines) for name, us, *defines in rows if name == kernel] or _refuse(
        r, messages or f"kernel {kernel} leaves nothing open that can be chosen")


class _Known(Dict[bytes, Optional["Kernel"]]):
    """Kernels by sizes and device, as Kernel._key has them; make gives one that is missing."""

    def __init__(self, make: Callable[[bytes], Optional["Kernel"]]) -> None:
        self.make = make

    def __missing__(self, key: bytes) -> Optional["Kernel"]:
        return self.setdefault(key, self.make(key))


def _open(request: _cache.Request, kernel: Optional[str], sim: str) -> Kernel:
    chosen, cubin = _built(request)
    k = Kernel(cubin, kernel, sim)
    own = re.search(rf"^{k.name}(?: for|:).*\n?(?: .*\n?)*", chosen, re.MULTILINE)
    k.chosen, k._request, k._sim = own[0] if own else "", request, sim
    return k


def _values(names: Sequence[str], key: bytes) -> dict[str, int]:
    """The sizes of a call, by name."""
    return dict(zip(names, array.array("q", key[:8 * len(names)])))


def _at(request: _cache.Request, names: Sequence[str], key: bytes) -> _cache.Request:
    """The request for the sizes and the device of a call."""
    card = key[8 * len(names):].decode()
    return request._replace(sizes=_sizes(_values(names, key)), card=request.card or card or None)


class _Signature:
    """What inspect.signature shows of a kernel; of the class, what it shows of any."""

    def __get__(self, kernel: Optional[Kernel], owner: type) -> Optional[inspect.Signature]:
        return None if kernel is None else kernel._signature()


class Kernel(_dslc.Kernel):
    """Kernel(cubin, name=None, sim=""): a kernel that is called with tensors.

    k(a, b, alpha=2.0, out=d) takes inputs and scalars by position or name, sizes by name where they follow from no
    tensor, stream= and sms=; inspect.signature(k) has the names. It returns out=, or new tensors where there is none.

    chosen: what the compiler said when it chose; "" of a cubin, and where the source leaves nothing open.
    """

    chosen: str = ""
    _request: Optional[_cache.Request] = None
    _sim: str = ""
    __signature__ = _Signature()

    @functools.cached_property
    def _described(self) -> dict[str, Any]:
        return describe(self)

    def _arguments(self, written: bool) -> list[dict[str, Any]]:
        """The outputs, or the other arguments."""
        return [a for a in self._described["args"] if (a["kind"] == "tensor" and a["dir"] == "out") == written]

    def _signature(self) -> inspect.Signature:
        made: dict[str, inspect.Parameter] = {}

        def add(name: str, kind: Any, **words: Any) -> None:
            if not keyword.iskeyword(name) or kind is inspect.Parameter.POSITIONAL_ONLY:
                made.setdefault(name, inspect.Parameter(name, kind, **words))
        by_name, outs = inspect.Parameter.KEYWORD_ONLY, [(a["name"], _arrays.shown(a)) for a in self._arguments(True)]
        ins = self._arguments(False)
        named = any(keyword.iskeyword(a["name"]) for a in ins)
        for a in ins:
            add(a["name"], inspect.Parameter.POSITIONAL_ONLY if named else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                annotation=_arrays.shown(a))
        gives = outs[0][1] if len(outs) == 1 else f"({', '.join(shown for _, shown in outs)})" if outs else None
        for name, shown in [("out", gives), *outs] if outs else []:
            add(name, by_name, default=None, annotation=shown)
        for name in self.sizes:
            add(name, by_name, default=None, annotation="int")
        add("stream", by_name, default=None, annotation="int")
        add("sms", by_name, default=0, annotation="int")
        return inspect.Signature(list(made.values()), return_annotation=gives)

    # ------------------------------------------------------------------ what was compiled
    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of its sizes: ("M", "K", "N")."""
        return tuple(self._described["syms"])

    @property
    def variants(self) -> dict[str, dict[str, str]]:
        """What was chosen: of each variant that a call may take, the values of what the source leaves open. {}: nothing was."""
        ways = _explain.chosen(self.chosen, self.name)
        return {name: {n.rpartition(".")[2]: v for n, v in way.items()} for name, way in ways.items()}

    def _same(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Without what differs between variants."""
        ways = list(self.variants.values())
        return {n: v for n, v in facts.items() if all(w.get(n) == ways[0].get(n) for w in ways)}

    @property
    def consts(self) -> dict[str, Const]:
        """The consts of the source, by name: chosen, given or as written. Without those in which its variants differ; {}: a cubin."""
        rows = self._explained().kernels[self.name]["consts"] if self._request else []
        return self._same({r["name"]: int(r["value"]) if re.fullmatch(r"-?\d+", r["value"]) else r["value"] for r in rows})

    @property
    def schedule(self) -> dict[str, Any]:
        """The clauses of its schedule, by name. {}: its variants have different ones, or it is of a cubin."""
        rows = self._explained().kernels[self.name]["schedule"] if self._request else {}
        return dict(rows) if self._same({"schedule": None}) else {}

    @functools.cached_property
    def _told(self) -> dict[str, Explained]:
        """What _explained gave before, by variant."""
        return {}

    def _explained(self, variant: str = "") -> Explained:
        """What the tool says of a variant, or of the first."""
        if not self._request:
            raise TypeError(f"kernel {self.name} is of a cubin: explain needs its source")
        variants = _explain.chosen(self.chosen, self.name)
        defines = variants[variant] if variant in variants else next(iter(variants.values()), {})
        try:
            if variant not in self._told:
                self._told[variant] = _explain.explain(self._request, (f"{n}={v}" for n, v in defines.items()))
        except ValueError as e:
            raise CompileError(str(e).rstrip()) from None
        return self._told[variant]

    def explain(self, *args: Argument, **words: Any) -> str:
        """The program in full with what was derived and why: the text of dslc explain.

        With the arguments of a call, of the kernel that the call runs; without, of the first variant.
        """
        kernel, name = self, next(iter(self.variants), "")
        if args or words:
            kernel, name, _ = self._choice(*args, **words)
        own = [line for line in kernel.chosen.splitlines()
               if len(kernel.variants) < 2 or not line.startswith(" ") or line.strip().startswith(f"{name}:")]
        return "".join(f"//: {line}\n" for line in own) + kernel._explained(name).text

    def _repr_html_(self) -> str:
        """The call, what was chosen, and the pipeline of the first variant, for notebooks."""
        head = html.escape(f"{self.name}{inspect.signature(self)}".replace("'", "")), html.escape(self.chosen)
        with contextlib.suppress(CompileError, TypeError):
            return "<pre>%s\n\n%s</pre>%s" % (*head, self._explained().picture)
        return "<pre>%s\n\n%s</pre>" % head

    # ------------------------------------------------------------------ what a call does
    def _complete(self, key: bytes, args: Sequence[Any], words: Mapping[str, Any]) -> dict[str, Any]:
        """The words of a call with all outputs in out=: new tensors where they are missing."""
        ins, outs = self._arguments(False), self._arguments(True)
        given = {**{a["name"]: x for a, x in zip(ins, args)}, **words}
        out = words.get("out")
        placed = list(out) if isinstance(out, (tuple, list)) else [out] * len(outs)
        tensors = [given[a["name"]] for a in ins if a["kind"] == "tensor"]
        made = [given.get(a["name"]) if x is None else x for a, x in zip(outs, placed)]
        for i, a in enumerate(outs):
            if made[i] is None and not _arrays.can_allocate(tensors[0]):
                raise TypeError(f"kernel {self.name} was not given {a['name']}, which it writes: out= (made only for tensors of "
                                f"torch, NumPy and CuPy, not for {type(tensors[0]).__name__} of {_arrays.library(tensors[0])})")
            if made[i] is None:
                made[i] = _arrays.empty(tensors[0], a, _values(self.sizes, key), words.get("stream"),
                                        any(map(_arrays.is_of_ml_dtypes, tensors)))
        rest = {n: x for n, x in words.items() if n not in ("out", *(a["name"] for a in outs))}
        return {**rest, "out": made[0] if len(made) == 1 else tuple(made)} if outs else rest

    def _allocate(self, key: bytes, args: Sequence[Any], words: Mapping[str, Any]) -> Any:
        """A call that lacks outputs; by the extension."""
        return self(*args, **self._complete(key, args, words))

    def choice(self, *args: Argument, **words: Any) -> Choice:
        """What a call with these arguments runs; out= may be left out. A Choice: the name of the kernel; us, the
        estimate of its time in microseconds, or what tune measured, None if there is neither; and why, a text.

        A kernel that specializes is compiled for sizes that are new.
        """
        kernel, name, why = self._choice(*args, **words)
        why = why if kernel is self else kernel.chosen or why
        us = re.search(r"(?:about|estimate|measured) ([0-9.]+) us", why)
        return Choice(name, float(us[1]) if us else None, why)

    def bench(self, *args: Argument, rounds: int = 20, **words: Any) -> Times:
        """Microseconds of a call with these arguments, by the events of a GPU: median, least and most of the rounds.

        A round is the mean of 10 launches, after 10 others; the tensors may stay in the L2 cache between them. A tensor that
        the kernel changes in place is changed each time. Error: the tensors are on the host.
        """
        key, on_gpu = self._key(*args, **words)
        _tune.need_gpu("bench", self, on_gpu)
        words = self._complete(key, args, words)
        times = [self._time(*args, **words) for _ in range(rounds)]
        return Times(statistics.median(times), min(times), max(times))

    def tune(self, *args: Argument, **words: Any) -> list[Tuned]:
        """Measures the five most promising ways to close what the source leaves open, with the tensors of a call.

        Gives a list of Tuned(us, estimate_us, defines), that first which later calls with these sizes take: of this
        kernel, and of those that are loaded with specialize=True and the same options, in any process. us is the
        median of 20 rounds. The estimate's first is taken unless another is faster in 16 of them. A round runs each
        20 times, on tensors that may stay in the L2 cache; outputs hold the result afterwards. Error: the tensors
        are on the host. CompileError: nothing is open. TypeError: a cubin, or an input is changed in place.
        """
        key, on_gpu = self._key(*args, **words)
        manifest = self._described
        opened = _tune.check(self, manifest["args"], on_gpu)
        words = self._complete(key, args, words)
        request = _at(opened, manifest["syms"], key)
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

    def _ways(self, request: _cache.Request, args: Sequence[Any], words: Mapping[str, Any]) -> Iterator[_tune.Way]:
        """Estimate, defines and kernel of those that compile and run; each ran, so that the next time counts."""
        for us, defines in _ranked(request, self.name):
            with contextlib.suppress(CompileError, Error):  # ptxas spills; CTAs do not fit
                k = _open(request._replace(defines=request.defines + tuple(defines)), self.name, self._sim)
                k._time(*args, **words)
                yield us, dict(d.split("=", 1) for d in defines), k


def loads(text: Union[str, bytes], kernel: Optional[str] = None, *, name: str = "<memory>",
          defines: Optional[Mapping[str, Const]] = None, target: str = "sm_90a", opt_level: int = 0,
          ptxas: Optional[str] = None, ptxas_args: Sequence[str] = (), unproved: bool = False, sizes: Optional[Sizes] = None,
          card: Optional[str] = None, specialize: bool = False, sim: str = "", **consts: Const) -> Kernel:
    """A kernel of a source text, by the words of load; name is the source's, for messages."""
    request = _request(text, name=str(name), kernel=kernel, defines={**(defines or {}), **consts}, target=target, opt_level=opt_level,
                       ptxas=ptxas, ptxas_args=ptxas_args, unproved=unproved, sizes=sizes, card=card)
    if specialize and request.sizes:
        raise TypeError("specialize=True chooses for the sizes of each call: leave out sizes=")
    k = _open(request._replace(one=bool(specialize)), kernel, sim)
    if specialize:
        names = k._described["syms"]
        k._request, k._known = request, _Known(lambda key: _open(_at(request, names, key), kernel, sim))
    return k


def load(path: Union[str, os.PathLike[str]], kernel: Optional[str] = None, *,
         defines: Optional[Mapping[str, Const]] = None, target: str = "sm_90a", opt_level: int = 0,
         ptxas: Optional[str] = None, ptxas_args: Sequence[str] = (), unproved: bool = False, sizes: Optional[Sizes] = None,
         card: Optional[str] = None, specialize: bool = False, sim: str = "", **consts: Const) -> Kernel:
    """A kernel of a file, a .gemm or a .cubin. Other words are consts of the source: bN=128, roles="pingpong".

    kernel names one where the file has several, and only that is compiled; defines takes consts whose names are words of this call;
    unproved, ptxas, ptxas_args and opt_level are as for compile. sim: options of the simulator, "seed=7,checks=all".
    What the source leaves open is chosen
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
        return loads(data, kernel, name=os.fspath(path), defines={**(defines or {}), **consts}, target=target,
                     opt_level=opt_level, ptxas=ptxas, ptxas_args=ptxas_args, unproved=unproved, sizes=sizes, card=card,
                     specialize=specialize, sim=sim)
    given = [*consts, *(defines or {}), *(n for n, v in (("sizes", sizes), ("specialize", specialize)) if v)]
    if given:
        raise TypeError(f"{path} is compiled: {', '.join(given)} cannot be changed")
    return Kernel(data, kernel, sim)


def describe(k: Kernel) -> dict[str, Any]:
    """What the manifest says of a kernel: arguments, sizes, facts, tiles, shared memory; as a dict."""
    if not isinstance(k, Kernel):
        raise TypeError(f"describe takes a kernel that load or loads gave, not {type(k).__name__}")
    found: dict[str, Any] = next(d for d in json.loads(k.manifest)["kernels"] if d["name"] == k.name)
    return found
