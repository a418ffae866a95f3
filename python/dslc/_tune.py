# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which of several kernels is the fastest on the caller's tensors: in each round every one runs, so that all meet the
same clocks and neighbours, and noise is no winner.

    times of 20 rounds  ->  the third has the least median, and beats the first in 19 of 20: the third
"""
from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Dict, Tuple

from . import _cache
from ._dslc import Error
from ._types import Tuned

if TYPE_CHECKING:
    from . import Kernel

CANDIDATES, ROUNDS, SURE = 5, 20, 16  # by chance, one of four others wins 16 rounds of 20 once in 40 times
Way = Tuple[float, Dict[str, str], "Kernel"]  # the estimate, the defines, the kernel


def need_gpu(verb: str, kernel: Kernel, on_gpu: bool) -> None:
    """Refuses tensors of the host."""
    if not on_gpu:
        raise Error(f"{verb} measures kernel {kernel.name} and needs a GPU: these tensors are on the host")


def check(kernel: Kernel, args: Sequence[Mapping[str, Any]], on_gpu: bool) -> _cache.Request:
    """What the kernel was compiled from; refuses what cannot be tuned."""
    changed = [a["name"] for a in args if a.get("dir") == "inout"]
    if not kernel._request:
        raise TypeError(f"kernel {kernel.name} is of a cubin: tune compiles its source")
    if changed:
        raise TypeError(f"kernel {kernel.name} changes {', '.join(changed)} in place, and tune would run it often")
    need_gpu("tune", kernel, on_gpu)
    return kernel._request


def fastest(times: Sequence[Sequence[float]]) -> int:
    """The place of the kernel to take; times: of each, one a round, in the order of their estimates."""
    best = min(range(len(times)), key=lambda i: statistics.median(times[i]))
    return best if sum(x < y for x, y in zip(times[best], times[0])) >= SURE else 0


def measure(ways: Sequence[Way], args: Sequence[Any], words: Mapping[str, Any]) -> tuple[list[Tuned], Kernel]:
    """ways: of each the estimate, the defines and the kernel. A table, that to take first, and its kernel."""
    times = list(zip(*([k._time(*args, **words) for _, _, k in ways] for _ in range(ROUNDS))))
    best = fastest(times)
    rows = [Tuned(statistics.median(t), way[0], way[1]) for t, way in zip(times, ways)]
    return [rows[best]] + sorted((r for r in rows if r is not rows[best]), key=lambda r: r.us), ways[best][2]


def report(table: Sequence[Tuned]) -> str:
    """Of the first, in words; the cache keeps it."""
    defines = "".join(f' -D{n}="{v}"' for n, v in table[0].defines.items())
    return f"measured {table[0].us:.1f} us, taken of {len(table)};{defines}"
