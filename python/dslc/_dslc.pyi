# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extension: compiler, runtime and simulator."""
from typing import Any, Optional, TypeVar, overload

from ._types import Argument

_T = TypeVar("_T")

CUBIN: int
PTX: int
MANIFEST: int
IR: int
version: str

class Error(RuntimeError):
    """The runtime refused a call; status is the name of the reason, or None."""

    status: Optional[str]

class Kernel:
    """What dslc.Kernel is made of."""

    _known: Any
    def __new__(cls, cubin: bytes, name: Optional[str] = ..., sim: str = ...) -> Kernel: ...
    @property
    def name(self) -> str: ...
    @property
    def manifest(self) -> str: ...
    @property
    def cubin(self) -> bytes: ...
    @overload
    def __call__(self, *args: Argument, out: None = ..., stream: Optional[int] = ..., sms: int = ...,
                 **words: Optional[Argument]) -> Any: ...
    @overload
    def __call__(self, *args: Argument, out: _T, stream: Optional[int] = ..., sms: int = ...,
                 **words: Optional[Argument]) -> _T: ...
    def _key(self, *args: Any, **words: Any) -> tuple[bytes, bool]: ...
    def _choice(self, *args: Any, **words: Any) -> tuple[Any, str, str]: ...
    def _time(self, *args: Any, **words: Any) -> float: ...

def compile(text: bytes, name: str, target: str, defines: list[str], ptxas: Optional[str], ptxas_args: list[str], opt_level: int,
            emit: int, unproved: bool, sizes: list[str], card: Optional[str], one: bool, ranked: int,
            kernel: Optional[str]) -> tuple[Optional[bytes], str, str]: ...
def main(argv: list[str]) -> int: ...
