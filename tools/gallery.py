#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/gallery.md: from tools/gallery.rows, the first comment of each kernel, and what dslc explain says of it.

    tools/gallery.py build/release/dslc docs/gallery.md
    tools/gallery.py build/release/dslc docs/gallery.md --check    # writes nothing; status 1 if the page is old
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GALLERY = ROOT / "examples/gallery"
HEAD = """# Gallery

<!-- Written by tools/gallery.py; its test is docs.gallery. -->

Each kernel is one file in `examples/gallery`: `NAME.gemm`. The program `NAME.py` beside it calls the kernel and compares the result with NumPy.
Copy both and `check.py`, and change what you need. A program runs on the GPU if PyTorch sees one. Otherwise it runs on the simulator, in about a second:

```sh
python3 examples/gallery/bias_act.py
```

The Debian package has the folder in `/usr/share/doc/dslc/examples/gallery`, the wheel in `dslc/gallery` of Python's packages.

The tables below say what `dslc explain` derives for an H200. *Sizes* are those that the tool chose tile and schedule for. A kernel without sizes
is closed: its source says what it needs. *Registers* are those of a thread that computes; a producer has fewer. *Stages* are those of each pipeline.
"""


def rows():
    """Sections, each a list of (file, look, sizes, time)."""
    sections = {}
    for line in (ROOT / "tools/gallery.rows").read_text().splitlines():
        if line.startswith("## "):
            sections[line[3:]] = []
        elif line and not line.startswith("#"):
            sections[list(sections)[-1]].append([cell.strip() for cell in line.split("|")])
    return {title: rows for title, rows in sections.items() if rows}


def comment(name):
    """The lines of a kernel's first comment."""
    lines = []
    for line in (GALLERY / f"{name}.gemm").read_text().splitlines():
        if not line.startswith("//"):
            return lines
        lines.append(line[2:].strip())


def explained(dslc, name, sizes):
    said = subprocess.run([dslc, "explain", GALLERY / f"{name}.gemm", "--json=-", "-o", "/dev/null",
                           *(["--for", sizes] if sizes else [])], check=True, capture_output=True, text=True)
    return json.loads(said.stdout)["kernels"]


def registers(kernel):
    of = {r["name"]: r["registers"] for r in kernel["roles"] if r["setmaxnreg"]}
    return f"{of['consumer']}, producer {of['producer']}" if of else str(kernel["launch"]["registers"])


def stages(kernel):
    rings = [p for p in kernel["pipelines"] if not p["staging"]]
    return ", ".join(f"`{p['name']}` {p['stages']}" for p in rings) or "-"


def chosen(kernel):
    """Tile and schedule in a few words."""
    s = kernel["schedule"]
    words = [f"{c['name']} {c['value']}" for c in kernel["consts"] if c["name"] in ("bM", "bN")]
    words += [s["roles"], "dynamic" if s["dynamic"] else "persistent" if s["persistent"] else None]
    words += ["cluster {} x {}".format(*s["cluster"]) if s["cluster"] != [1, 1] else None, "swap" if s.get("swap") else None]
    return ", ".join(w for w in words if w and w != "none")


def table(dslc, name, sizes):
    yield "| kernel | sizes | tile and schedule | threads | registers | shared memory | stages |"
    yield "|---|---|---|---|---|---|---|"
    for k in explained(dslc, name, sizes):
        yield (f"| `{k['name']}` | {sizes.replace(',', ', ') or 'all'} | {chosen(k)} | {k['launch']['threads']} | {registers(k)} "
               f"| {k['launch']['shared_bytes']} bytes | {stages(k)} |")


def section(dslc, name, sizes, time):
    yield from ("", f"### {name}", "", *comment(name), "")
    yield f"[{name}.gemm](../examples/gallery/{name}.gemm), [{name}.py](../examples/gallery/{name}.py)"
    yield from ("", *table(dslc, name, sizes))
    if time:
        yield from ("", f"Time: {time}.")


def page(dslc):
    yield HEAD
    yield "| kernel | computes | look at |\n|---|---|---|"
    for files in rows().values():
        yield from (f"| [{name}](#{name}) | {comment(name)[0].rstrip('.')} | {look} |" for name, look, _, _ in files)
    for title, files in rows().items():
        yield from ("", f"## {title}")
        for name, _, sizes, time in files:
            yield from section(dslc, name, sizes, time)


def main(dslc, path, check=None):
    text, path = "\n".join(page(dslc)) + "\n", pathlib.Path(path)
    if not check:
        path.write_text(text)
    elif path.read_text() != text:
        raise SystemExit(f"{path} is old: run tools/gallery.py {dslc} {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
