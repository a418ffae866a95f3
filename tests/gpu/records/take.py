#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes a run into a record, in place of what it had of the same works, and writes the tables of README.md and the pages of performance anew.

    take.py h200-2026-11-28 mm=picks.tsv constant=few.tsv works=epilogues.log

picks.tsv is what tests/gpu/picks.py writes: M, N, K, label and microseconds a line; torch is torch.mm, 1 .. 5 are what the model takes
first. A file whose name ends in .log is what tests/gpu/against_torch.py prints: its works replace those of the same names.
A record that is new begins with the heads of the newest record of that card, with its own date, and the tables of these works
(tables.txt) are made from it from then on.
"""
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
PAGES = [os.path.join(ROOT, name) for name in ("README.md", "docs/performance.md", "docs/performance-by-hand.md")]
LABELS = {"torch": "torch.mm", **{str(i): f"pick{i}" for i in range(1, 6)}}
LINE = re.compile(r"(\w+) +(\d[\dx]*) +(\S+) +([\d.]+) us +([\d.]+) TF/s(.*)")


def of_picks(work, path):
    for line in open(path, encoding="utf-8"):
        if not line.startswith("#"):
            m, n, k, label, us = line.split()
            yield work, f"{m} {n} {k}", LABELS.get(label, label), "us", us


def of_log(path):
    for line in open(path, encoding="utf-8"):
        match = LINE.match(line)
        if match:
            work, size, kernel, us, _, ratios = match.groups()
            size = size.replace("x", " ")
            kernel = {"pick": "pick1"}.get(kernel, kernel)
            yield work, size, kernel, "us", us
            for base, ratio in re.findall(r"(\w+) / this ([\d.]+)", ratios):
                if base != "floor":
                    yield work, size, kernel, f"over torch.{base}", ratio


def old(path):
    """Heads and rows."""
    lines = open(path, encoding="utf-8").read().splitlines()
    return [x for x in lines if x.startswith("#")], [tuple(x.split("\t")) for x in lines if x[0] != "#" and not x.startswith("work\t")]


def main():
    name, *files = sys.argv[1:]
    path, rows = os.path.join(HERE, name + ".tsv"), []
    for file in files:
        work, file = file.split("=", 1)
        rows += of_log(file) if file.endswith(".log") else of_picks(work, file)
    works = {row[0] for row in rows}
    if os.path.exists(path):
        heads, others = old(path)
    else:
        card, date = re.fullmatch(r"(\w+)-(\d{4}-\d\d-\d\d)", name).groups()
        heads, others = old(max(glob.glob(os.path.join(HERE, card + "-*.tsv")))) [0], []
        heads = [f"# date: {date}" if x.startswith("# date:") else x for x in heads if x[2:].split(":")[0] in works | {"card", "date", "software"}]
    rows = [row for row in others if row[0] not in works] + rows
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join([*heads, "work\tsize\tkernel\tmeasure\tvalue", *map("\t".join, rows)]) + "\n")
    path = os.path.join(HERE, "tables.txt")
    text = open(path, encoding="utf-8").read()
    for work in works:
        text = re.sub(rf"^(\S+): {name.split('-')[0]}-\S+ {work}$", rf"\1: {name} {work}", text, flags=re.M)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    subprocess.run([sys.executable, os.path.join(ROOT, "tests", "docs", "figures.py"), "--write", HERE, *PAGES], check=True)


main()
