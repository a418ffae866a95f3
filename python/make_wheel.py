#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs the extension and the package into a wheel: the same bytes from the same files, whenever and wherever.

    make_wheel.py build/release/python/dslc/_dslc.abi3.so FOLDER VERSION [LEVEL]
"""
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def stripped(library):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "stripped.so")
        subprocess.run(["strip", "-o", copy, library], check=True)
        return copy.read_bytes()


def glibc(library):
    """The oldest glibc that has all that the library asks for."""
    said = subprocess.run(["objdump", "-T", library], check=True, capture_output=True, text=True).stdout
    return max((int(a), int(b)) for a, b in re.findall(r"GLIBC_(\d+)\.(\d+)", said))


def metadata(version):
    return f"""Metadata-Version: 2.1
Name: dslc
Version: {version}
Summary: Hopper GEMM kernels from a small language, called with the tensors of any array library
License: Apache-2.0 WITH LLVM-exception
Requires-Python: >=3.9
Provides-Extra: ptxas
Requires-Dist: nvidia-cuda-nvcc-cu12 ==12.9.* ; extra == 'ptxas'
Description-Content-Type: text/markdown

{(ROOT / "docs/python.md").read_text()}"""


def pack(path, files, level):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as z:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            z.writestr(info, data)


def make_wheel(library, folder, version, level=6):
    tag = "cp39-abi3-manylinux_{}_{}_x86_64".format(*glibc(library))
    info = f"dslc-{version}.dist-info"
    files = {f"dslc/{p.name}": p.read_bytes() for p in sorted((HERE / "dslc").glob("*.py*")) if p.is_file()}
    files |= {f"dslc/gallery/{p.name}": p.read_bytes() for p in sorted((ROOT / "examples/gallery").iterdir()) if p.is_file()}
    files["dslc/_dslc.abi3.so"] = stripped(library)
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: dslc\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\ndslc = dslc.__main__:main\n"
    for name in ("LICENSE", "NOTICE"):
        files[f"{info}/licenses/{name}"] = (ROOT / name).read_bytes()
    rows = [f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(d).digest()).rstrip(b'=').decode()},{len(d)}\n"
            for n, d in files.items()]
    files[f"{info}/RECORD"] = ("".join(rows) + f"{info}/RECORD,,\n").encode()
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    path = pathlib.Path(folder, f"dslc-{version}-{tag}.whl")
    pack(path, files, int(level))
    return path


if __name__ == "__main__":
    print(make_wheel(*sys.argv[1:]))
