# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the wheel for pip (PEP 517): cmake --preset release, then make_wheel.py."""
import pathlib
import re
import subprocess

import make_wheel

ROOT = pathlib.Path(__file__).resolve().parent.parent


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version = re.search(r"project\(dslc VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    subprocess.run(["cmake", "--preset", "package"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", "--preset", "package", "--target", "dslc_python"], cwd=ROOT, check=True)
    library = ROOT / "build/package/python/dslc/_dslc.abi3.so"
    return make_wheel.make_wheel(library, wheel_directory, version).name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the source is the repository: git archive")
