# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types that the package's annotations name."""
from __future__ import annotations

from typing import Any, Dict, Mapping, NamedTuple, Optional, Protocol, Sequence, Union


class Tensor(Protocol):
    """A tensor of PyTorch, NumPy, CuPy or JAX, or another object that DLPack lends."""

    def __dlpack__(self, *args: Any, **words: Any) -> Any:
        """Gives the capsule that DLPack describes."""


Argument = Union[Tensor, float]  #: what a kernel is called with: a tensor, or the value of a scalar
Const = Union[int, float, str]  #: of a source: a number, True and False, a word of the schedule
Sizes = Union[Mapping[str, int], Sequence[Mapping[str, int]]]  #: one problem, or several


class Choice(NamedTuple):
    """What a call runs."""

    name: str  #: of the kernel
    us: Optional[float]  #: its time: an estimate in microseconds, or what tune measured; None: nothing was open
    why: str  #: how it was chosen


class Times(NamedTuple):
    """Microseconds of a launch, of the rounds of bench."""

    us: float  #: the median
    least: float
    most: float


class Tuned(NamedTuple):
    """A way to close what a source leaves open, as tune measured it."""

    us: float  #: the median of the rounds
    estimate_us: float  #: what the cost model expected
    defines: Dict[str, str]


class Explained(NamedTuple):
    """What dslc explain says of a source."""

    text: str
    picture: str  #: SVG
    kernels: Dict[str, Any]  #: its JSON, by the name of the kernel
