#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What frontend/ and passes/ advise is about the program, and is tried: each text that they give to diag_remedy is the help of a row
in tests/remedies (what is printed by %s and the like may be anything), which is done and compiled; and each code of theirs has a row.
    helps.py ROOT
A text is one in a call of diag_remedy; of a table with a member `help`, the last of a row; what a parameter or a variable `remedy` gets.
Not tried: options of the command line (-Wno-), and what no program of a user brings."""

import glob
import re
import sys

STRING = r'"(?:[^"\\\n]|\\.)*"'
TEXT = rf"{STRING}(?:\s*(?:PRI\w+\s*)?{STRING})*"  # neighbours are one
# A file of 16 MiB; -D; IR; faults of the compiler, which the verifier finds.
UNTRIED = r"E0107|W0201|E0420|[EW]041[1-6]"
root = sys.argv[1]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def without_comments(text):
    return re.sub(rf"({STRING})|/\*.*?\*/", lambda m: m[1] or "\n" * m[0].count("\n"), text, flags=re.DOTALL)


def arguments(text, at):
    """Between the bracket that opens at `at` and the one that closes it: place and text of each argument."""
    start, depth, found = at + 1, 0, []
    for m in re.compile(rf"{STRING}|'.'|[(){{}}\[\],]").finditer(text, at + 1):
        depth += (m[0] in tuple("({[")) - (m[0] in tuple(")}]"))
        if (m[0] == "," and not depth) or depth < 0:
            found.append((start, text[start:m.start()]))
            start = m.end()
        if depth < 0:
            break
    return found


def texts(at, code):
    """Of what a format makes the format alone."""
    found = [(at + m.start(), m[0]) for m in re.finditer(TEXT, code)]
    return found[:1] if "ctx_strf(" in code else found


def of_calls(text):
    for m in re.finditer(r"\bdiag_remedy\(", text):
        args = arguments(text, m.end() - 1)[2:]
        given = texts(*args[0])
        yield from given if [t for _, t in given] != ['"%s"'] else (t for arg in args[1:] for t in texts(*arg))


def of_tables(text):
    for m in re.finditer(r"struct \{[^}]*\*help;\s*\} \w+(?:\[\w*\])+ = \{", text):
        for at, row in arguments(text, m.end() - 1):
            if row.rstrip("} \n\t").endswith('"') and "#include" not in row:
                yield texts(at, row)[-1]
    for m in re.finditer(rf"^HABIT\({STRING},\s*({STRING})\)", text, re.MULTILINE):
        yield m.start(1), m[1]


def takers(text):
    """Functions with a parameter `remedy`, and which it is."""
    found = re.finditer(r"\b(\w+)(\([^(){};]*const char \*remedy[^(){};]*\))", text)
    return {m[1]: m[2][:m[2].index("remedy")].count(",") for m in found}


def of_remedies(text, functions):
    for name, index in functions.items():
        for m in re.finditer(rf"\b{name}\(", text):
            yield from texts(*(arguments(text, m.end() - 1) + [(0, "")] * 9)[index])
    for m in re.finditer(rf"\bremedy\s*=([^=][^;]*);|\bchar (?:remedy|form|help|whole)\w*\[\] =\s*({TEXT});", text):
        yield from texts(m.start(m.lastindex), m[m.lastindex])


def printed(text):
    """The text, and a pattern of what it prints."""
    text = re.sub(r'%"\s*PRI\w+', '%d"', text)
    whole = "".join(eval(s) for s in re.findall(STRING, text))  # pylint: disable=eval-used
    parts = re.split(r"%(?:[-+ #0]*[\d.]*(?:ll|l|z)?[a-z])?", whole.replace("%%", "\0"))
    return whole, ".*".join(re.escape(p.replace("\0", "%")) for p in parts)


def main():
    said, rows = [], "\n".join(read(path) for path in glob.glob(f"{root}/tests/remedies/*.rows"))
    rows = [re.split(r"(?<!\S)\|(?!\S)", row) for row in re.sub("\n\t", " ", re.sub(r"(?ms)^program .*?^end$", "", rows)).split("\n")]
    helps, codes = {row[-1].strip().replace("`", "") for row in rows}, {row[0].strip() for row in rows}
    for room in ("frontend", "passes"):
        for code in re.findall(r"^DIAG\((\w+)", read(f"{root}/layout/diags_{room}.def"), re.MULTILINE):
            if code not in codes and not re.fullmatch(UNTRIED, code):
                said.append(f"layout/diags_{room}.def: {code}: no row of tests/remedies")
        files = {path: without_comments(read(path)) for path in sorted(glob.glob(f"{root}/{room}/*.*"))}
        shared = takers("\n".join(text for path, text in files.items() if path.endswith(".h")))
        for path, text in files.items():
            for at, found in sorted({*of_calls(text), *of_tables(text), *of_remedies(text, shared | takers(text))}):
                whole, pattern = printed(found)
                if "-Wno-" not in whole and not any(re.fullmatch(pattern, h) for h in helps):
                    line = text.count("\n", 0, at) + 1
                    said.append(f"{path[len(root) + 1:]}:{line}: no row of tests/remedies has this help: {whole}")
    print("\n".join(said), end="\n" if said else "")
    return bool(said)


sys.exit(main())
