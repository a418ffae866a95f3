# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tool dslc, with the arguments that it takes.

    python3 -m dslc run gemm.gemm --size M=512,N=512,K=512
"""
from __future__ import annotations

import os
import signal
import sys

from . import _cache, _dslc


def main() -> int:
    """Runs the tool on sys.argv and gives its exit code."""
    for name in ("SIGINT", "SIGPIPE", "SIGXFSZ"):  # Python has taken these, and the tool has its own ways
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    ptxas = _cache.find_ptxas()  # of a wheel, too, where the tool does not look
    if ptxas:
        os.environ["DSLC_PTXAS"] = ptxas
    return _dslc.main(["dslc", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
