# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tool says of a source, from a process of its own, and the choices in what the compiler said.

    "gemm for 16 x 4096 x 4096 on NVIDIA H200: -DbM=16 -Dschedule="swap;""  ->  {"gemm": {"bM": "16", "schedule": "swap;"}}
"""
from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Dict, Iterable

from . import _cache
from ._types import Explained


def chosen(text: str, kernel: str) -> Dict[str, Dict[str, str]]:
    """What the compiler chose: of each variant of a kernel, its defines."""
    rows = re.finditer(rf'^ *({re.escape(kernel)}(?:__\d+)?)(?: for .*)?: .*?((?: ?-D\S+?=(?:"[^"]*"|\S+))+)$', text, re.MULTILINE)
    return {row[1]: {n: v.strip('"') for n, v in re.findall(r'-D(\S+?)=("[^"]*"|\S+)', row[2])} for row in rows}


def tool(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Runs the tool of this package, wherever this process found it."""
    path = os.pathsep.join(filter(None, (str(pathlib.Path(__file__).parent.parent), os.environ.get("PYTHONPATH"))))
    return subprocess.run([sys.executable, "-m", __package__, *arguments], text=True, stdin=subprocess.DEVNULL, capture_output=True,
                          env={**os.environ, "PYTHONPATH": path})


def explain(request: _cache.Request, defines: Iterable[str]) -> Explained:
    """What explain writes of a source, closed by defines; ValueError: what it says instead."""
    with tempfile.TemporaryDirectory() as folder:
        source, *outputs = (os.path.join(folder, name) for name in ("kernel", "text", "svg", "json"))
        pathlib.Path(source).write_bytes(request.text)
        run = tool("explain", source, "-x", "ir" if request.name.endswith(".ir") else "gemm", f"--target={request.target}",
                   *(f"-D{d}" for d in (*request.defines, *defines)), *(["--unproved"] if request.unproved else []),
                   *(f"--card={request.card}" for _ in range(bool(request.card))),
                   "-o", outputs[0], "--svg", outputs[1], "--json", outputs[2])
        if run.returncode:
            raise ValueError(run.stderr.replace(source, request.name))
        text, picture, facts = (pathlib.Path(path).read_text() for path in outputs)
    return Explained(text, picture, {k["name"]: k for k in json.loads(facts)["kernels"]})
