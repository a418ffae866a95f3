#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of the pages of performance are made from the recorded runs, and no figure is invented.

    figures.py RECORDS PAGE..                    the tables are those of the records; figures elsewhere are in a record or a table
    figures.py --write RECORDS PAGE..            writes the tables anew

A record is RECORDS/CARD-DATE.tsv: "# card", "# date", a line "# WORK: how it was measured" for each work, then rows of work, size,
kernel, measure and value. RECORDS/tables.txt says how each table is made. It lies between "<!-- table NAME -->" and "<!-- end -->".
"""
import math
import os
import re
import statistics
import sys
import textwrap

TABLE = re.compile(r"<!-- table (\S+) -->\n(.*?)<!-- end -->", re.S)
OTHERS = re.compile(r"torch|cublaslt|hand|again|family|many")


def figures(text):
    return set(re.findall(r"\d+(?:[.,]\d+)+|\d{2,}", text))


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Record:
    def __init__(self, path):
        self.heads, self.works = {}, {}
        for line in text_of(path).splitlines():
            if line.startswith("# "):
                key, text = line[2:].split(": ", 1)
                self.heads[key] = text
            elif not line.startswith("work\t"):
                work, size, kernel, measure, value = line.split("\t")
                self.works.setdefault(work, {}).setdefault(size, {})[kernel, measure] = value


def kernels_of(of, kernel):
    names = {name for name, _ in of}
    if kernel == "five":
        return {name for name in names if re.fullmatch("pick[1-5]", name)}
    return {name for name in names if not OTHERS.match(name)} if kernel == "best" else {kernel}


def over(of, kernel, base):
    if (kernel, "over " + base) in of:
        return float(of[kernel, "over " + base])
    if (kernel, "us") in of and (base, "us") in of:
        return float(of[base, "us"]) / float(of[kernel, "us"])
    return None


def value(of, kernel, measure):
    """What a cell has: a number, text, or None."""
    names = kernels_of(of, kernel)
    if measure.startswith("over ") and " at " not in measure:
        return max((r for r in (over(of, name, measure[5:]) for name in names) if r is not None), default=None)
    known = [of[name, measure] for name in names if (name, measure) in of]
    return min(known, key=float) if len(known) > 1 else known[0] if known else None


def spelled(x, measure):
    if x is None:
        return ""
    if isinstance(x, float):
        return f"{x:.3f}"
    if measure != "us":
        return x
    decimals = min(len(x.partition(".")[2]), max(0, 3 - int(math.log10(float(x)))))
    return f"{float(x):.{decimals}f}"


def cells(work, size, columns):
    row = []
    for kernel, measure in columns:
        measure, _, suffix = measure.partition(" @ ")
        of = work.get(f"{size} {suffix}" if suffix else size, {})
        row.append(spelled(value(of, kernel, measure), measure))
    return row


def geometric(x):
    return math.exp(statistics.fmean(map(math.log, x)))


STATISTICS = {
    "sizes": lambda x: str(len(x)),
    "mean": lambda x: f"{geometric(x):.3f}",
    "least": lambda x: f"{min(x):.3f}",
    "under 0.95": lambda x: str(sum(r < .95 for r in x)),
}


def by_m(work, bounds, columns):
    def label(low, high):
        return "all" if not low and not high else f"above {low}" if not high else f"{low + 1} to {high}" if low else f"up to {high}"
    rows, edges = [], [0, *map(int, bounds.split()), None]
    for low, high in [*zip(edges, edges[1:]), (0, None)]:
        some = [of for size, of in work.items() if low < int(size.split()[0]) <= (high or 1 << 40)]
        ratios = {kernel: [r for r in (value(of, kernel, "over torch.mm") for of in some) if r] for kernel, _ in columns}
        rows.append([label(low, high)] + [STATISTICS[what](ratios[kernel]) for kernel, what in columns])
    return rows


def slow(work, bound):
    ratio = {size: over(of, "pick1", "torch.mm") for size, of in work.items()}
    return sorted((size for size in ratio if ratio[size] < float(bound)), key=ratio.get)


def spec_of(lines):
    """Columns (head, kernel, measure) and options."""
    columns, options = [], {}
    for line in lines:
        head, _, what = line.partition(" = ")
        if what:
            columns.append((head, *what.split(": ", 1)))
        else:
            key, text = line.split(": ", 1)
            options[key] = f"{options[key]}; {text}" if key in options else text
    return columns, options


def rows_of(work, pairs, options):
    if "by M" in options:
        return by_m(work, options["by M"], pairs)
    sizes = options["rows"].split("; ") if "rows" in options else slow(work, options["below"]) if "below" in options else list(work)
    if any(" @ " in measure for _, measure in pairs):
        sizes = sorted({size.split()[0] for size in sizes}, key=int)
    return [[size] + cells(work, size, pairs) for size in sizes]


def table(record, name, lines):
    """A caption and a table, as the page has them."""
    columns, options = spec_of(lines[1:])
    rows = rows_of(record.works[name], [column[1:] for column in columns], options)
    heads = [lines[0], *(column[0] for column in columns)]
    caption = textwrap.wrap(f"*{record.heads['card']}, {record.heads['date']}.* {record.heads[name]}", 138)
    spelt = ["| " + " | ".join(row) + " |" for row in [heads, *rows]]
    return "\n".join([*caption, "", spelt[0], "|" + "---|" * len(heads), *spelt[1:]]) + "\n"


def tables_of(folder, records):
    """Name -> text."""
    text = re.sub(r"^#.*\n", "", text_of(os.path.join(folder, "tables.txt")), flags=re.M)
    made = {}
    for paragraph in filter(None, map(str.strip, text.split("\n\n"))):
        first, *lines = paragraph.splitlines()
        name, record, work = re.fullmatch(r"(\S+): (\S+) (\S+)", first).groups()
        made[name] = table(records[record], work, lines)
    return made


def differences(page, name, old, new):
    lines = [f"{page}: table {name}: the record says: {line}" for line in new.splitlines() if line not in old.splitlines()]
    return lines or ([f"{page}: table {name} is not as tests/docs/figures.py --write makes it"] if old != new else [])


def check(made, page, text):
    shown = TABLE.findall(text)
    wrong = [f"{page}: no record makes table {name}" for name, _ in shown if name not in made]
    return wrong + [line for name, old in shown if name in made for line in differences(page, name, old, made[name])]


def write(made, page, text):
    made = {**dict(TABLE.findall(text)), **made}
    with open(page, "w", encoding="utf-8") as file:
        file.write(TABLE.sub(lambda match: f"<!-- table {match[1]} -->\n{made[match[1]]}<!-- end -->", text))


def invented(text, known):
    """Figures of the text to which no known number rounds."""
    numbers = [float(x.replace(",", "")) for x in known if re.fullmatch(r"[\d,]+(\.\d+)?", x)]

    def is_known(x):
        digits = len(x.partition(".")[2])
        return x in known or re.fullmatch(r"[\d,]+(\.\d+)?", x) and any(f"{n:.{digits}f}" == x.replace(",", "") for n in numbers)
    return sorted(x for x in figures(text) if not is_known(x))


def main():
    wrong, anew = [], sys.argv[1] == "--write"
    folder, *pages = sys.argv[1 + anew:]
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".tsv"))
    made = tables_of(folder, {os.path.basename(path)[:-4]: Record(path) for path in paths})
    known = figures("".join([*map(text_of, paths), *made.values()]))
    for page in pages:
        text = text_of(page)
        if anew:
            write(made, page, text)
            continue
        wrong += check(made, page, text)
        unknown = invented(TABLE.sub("", text), known)
        wrong += [f"{page}: in no record: {' '.join(unknown)}"] if unknown else []
    if not anew and len(pages) > 1:
        shown = {name for page in pages for name, _ in TABLE.findall(text_of(page))}
        wrong += [f"no page has table {name}" for name in sorted(made.keys() - shown)]
    sys.exit("\n".join(wrong) if wrong else 0)


main()
