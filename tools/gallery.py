#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/gallery.md: from tools/gallery.rows, the first comment of each kernel, and what dslc explain says of it.

    tools/gallery.py build/release/dslc docs/gallery.md
    tools/gallery.py build/release/dslc docs/gallery.md --check    # writes nothing; status 1 if the page is old
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
GALLERY = ROOT / "examples/gallery"
HEAD = """# Gallery

<!-- Written by tools/gallery.py; its test is docs.gallery. -->

Each kernel is one file in `examples/gallery`: `NAME.gemm`. The program `NAME.py` beside it calls the kernel and compares the result
with NumPy. Copy both and `check.py`, and change what you need. A program runs on the GPU if PyTorch sees one. Otherwise it runs
on the simulator, which takes a few seconds:

```sh
python3 examples/gallery/bias_act.py
```

The Debian package installs the folder as `/usr/share/doc/dslc/examples/gallery`. The wheel has it as the folder `gallery` of the package
`dslc`.

The tables below show what `dslc explain` derives for an H200:

- *Sizes* are those given to `--for`. With `all`, no size is given: the source has the numbers of the tile, and the tool chooses only
  the clauses that the source omits.
- *Registers* are those of a thread. Where producer and consumer differ, the first number is the consumer's.
- *Stages* are those of each pipeline. A pipeline `NAME.in` loads an operand of the epilogue.

*Time* is a figure of [performance.md](performance.md) for the same work. A ratio above 1 means that dslc was faster.
The timed kernel may have had another tile or schedule than the one in the table.
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
    """Of each kernel of a file what --json says, and the program with every choice written out."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "text")
        json_text = subprocess.run([dslc, "explain", GALLERY / f"{name}.gemm", "-o", out, "--json=-", *(["--for", sizes] if sizes else [])],
                                   check=True, capture_output=True, text=True).stdout
        text = out.read_text()
    kernels = json.loads(json_text)["kernels"]
    programs = re.split(r"^kernel (?=\w+ *\()", text, flags=re.MULTILINE)[1:]
    return list(zip(kernels, programs, strict=True))


def registers(kernel):
    of = {r["name"]: r["registers"] for r in kernel["roles"] if r["setmaxnreg"]}
    return f"{of['consumer']}, producer {of['producer']}" if of else f"at most {kernel['launch']['registers']}"


def stages(kernel):
    rings = [p for p in kernel["pipelines"] if not p["staging"]]
    return ", ".join(f"`{p['name']}` {p['stages']}" for p in rings) or "-"


def chosen(program):
    """Tile and schedule in a few words."""
    tile = [f"{name} {value}" for name, value in re.findall(r"\b(bM|bN) = (\d+)", program)]
    block = re.search(r"^ *schedule \{\n(.*?)^    \}", program, re.MULTILINE | re.DOTALL)[1]
    clause = {line.split()[0]: re.sub(r" \{.*|;.*", "", line).split(None, 1)[1] for line in block.splitlines()
              if "//:" not in line.split(";")[0]}
    says = [("roles", "{}"), ("persistent", "persistent {}"), ("split_k", "split_k {}"), ("sums", "{}"), ("ctas", "ctas {}"),
            ("swap", "swap"), ("cluster", "cluster {}")]
    default = {"roles": "none", "persistent": "off", "sums": "cluster", "swap": "off", "cluster": "(1,1)"}
    words = [form.format(clause[name]) for name, form in says if name in clause and clause[name] != default.get(name)]
    return ", ".join(tile + [w.removesuffix(" on") for w in words]) or "-"


def table(dslc, name, sizes):
    yield "| kernel | sizes | tile and schedule | threads | registers | shared memory | stages |"
    yield "|---|---|---|---|---|---|---|"
    for one in sizes.split(";"):
        for k, program in explained(dslc, name, one.strip()):
            yield (f"| `{k['name']}` | {one.strip().replace(',', ', ') or 'all'} | {chosen(program)} | {k['launch']['threads']} "
                   f"| {registers(k)} | {k['launch']['shared_bytes']} bytes | {stages(k)} |")


def section(dslc, name, sizes, time):
    title, *rest = comment(name)
    yield from ("", f"### {name}", "", title, "", *rest, "")
    yield f"[{name}.gemm](../examples/gallery/{name}.gemm), [{name}.py](../examples/gallery/{name}.py)"
    yield from ("", *table(dslc, name, sizes))
    if time:
        yield from ("", textwrap.fill(f"Time: {time}.", 120))


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
