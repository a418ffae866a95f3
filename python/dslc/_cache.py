# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What was compiled before: in memory, and in files that processes share.

A file is called by the hash of all that decides its content: text, name, defines, target, kernel, sizes and card that
choices are made for, version of dslc, ptxas. One process makes it while others wait. It is written under another name and renamed, and begins with the hash of what follows, so that readers
never see half of one. DSLC_CACHE_DIR is the folder; set and empty: no files.
"""
from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import importlib.util
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple, Optional, Tuple, Union

from . import _dslc


class Request(NamedTuple):
    """All that decides what is compiled."""

    text: bytes
    name: str = "<memory>"
    target: str = "sm_90a"
    defines: Tuple[str, ...] = ()
    emit: str = "cubin"
    opt_level: int = 0
    ptxas: Optional[str] = None
    ptxas_args: Tuple[str, ...] = ()
    unproved: bool = False
    sizes: Tuple[str, ...] = ()
    card: Optional[str] = None
    one: bool = False
    kernel: Optional[str] = None


_memory: dict[str, bytes] = {}
_lock = threading.Lock()
_busy: dict[str, threading.Lock] = {}


def _runs(path: Optional[str]) -> Optional[str]:
    return path if path and os.path.isfile(path) and os.access(path, os.X_OK) else None


def _of_wheel() -> Optional[str]:
    """The ptxas of nvidia-cuda-nvcc (cu13), or of nvidia-cuda-nvcc-cu12, which dslc[ptxas] installs."""
    spec = importlib.util.find_spec("nvidia")
    folders = [os.path.join(f, name) for name in ("cu[0-9]*", "cuda_nvcc")
               for f in (spec.submodule_search_locations or () if spec else ())]
    return next((p for f in folders for p in sorted(glob.glob(os.path.join(f, "bin", "ptxas")), reverse=True)
                 if _runs(p)), None)


def find_ptxas() -> Optional[str]:
    """$DSLC_PTXAS, whatever it names; $CUDA_HOME/bin, the wheel's, PATH, /usr/local/cuda*. None: there is none,
    or $DSLC_PTXAS is the word none."""
    named, home = os.environ.get("DSLC_PTXAS"), os.environ.get("CUDA_HOME")
    if named:
        return None if named == "none" else named
    return (_runs(home and os.path.join(home, "bin", "ptxas")) or _of_wheel() or shutil.which("ptxas")
            or next(filter(_runs, sorted(glob.glob("/usr/local/cuda*/bin/ptxas"))), None))


def _program(path: str) -> str:
    """A program that was replaced is another one."""
    try:
        s = os.stat(path)
        return f"{os.path.realpath(path)} {s.st_size} {s.st_mtime_ns}"
    except (OSError, TypeError):
        return "none"


def key(r: Request) -> str:
    """The name of the file of its output."""
    h = hashlib.sha256()
    parts: list[Union[str, bytes]] = [
        _dslc.version, _build(), r.text, r.name, r.target, *r.defines, "", *r.sizes, "", r.card or "", r.kernel or "", str(r.one), r.emit,
        str(r.opt_level), str(r.unproved), _program(r.ptxas) if r.ptxas else "", *r.ptxas_args]
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        h.update(b"%d:" % len(data))
        h.update(data)
    return h.hexdigest()


def _build() -> str:
    """Two builds of one version are two compilers."""
    return _program(_dslc.__file__)


def folder() -> str:
    """Where files are; "": there are none."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("DSLC_CACHE_DIR", os.path.join(base, "dslc"))


def _read(path: str) -> Optional[bytes]:
    try:
        with open(path, "rb") as f:
            data = f.read()
    except OSError:
        return None
    return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None


def _write(path: str, output: bytes) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as f:
            f.write(hashlib.sha256(output).digest() + output)
        os.replace(f.name, path)
    except OSError:
        pass  # a cache that cannot be written is no reason to fail


@contextlib.contextmanager
def _alone(path: str) -> Iterator[None]:
    """One process at a time in the folder of a file; a lock ends with the process that has it."""
    with contextlib.ExitStack() as held:
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            f = held.enter_context(open(os.path.join(os.path.dirname(path), "lock"), "ab"))
            fcntl.flock(f, fcntl.LOCK_EX)
            held.callback(fcntl.flock, f, fcntl.LOCK_UN)  # a process that was forked has it, too
        except OSError:
            pass  # nor is one without locks
        yield


def _path(name: str) -> str:
    return folder() and os.path.join(folder(), name[:2], name)


def _make(name: str, make: Callable[[], bytes]) -> bytes:
    path = _path(name)
    if not path:
        return make()
    with _alone(path):
        output = _read(path)
        if output is None:
            output = make()
            _write(path, output)
    return output


def get(request: Request, make: Callable[[], bytes]) -> bytes:
    """The output of a request; threads and processes that ask for one thing wait for the first of them."""
    name = key(request)
    with _lock:
        busy = _busy.setdefault(name, threading.Lock())
    with busy:
        if name not in _memory:
            _memory[name] = _make(name, make)
        return _memory[name]


def put(request: Request, output: bytes) -> None:
    """What the request has for output from now on."""
    name = key(request)
    _memory[name] = output
    if _path(name):
        _write(_path(name), output)
