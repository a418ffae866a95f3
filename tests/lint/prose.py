#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages that people read can be read: README.md and docs/.

    no line above 140 characters; tables, code and addresses apart
    no paragraph and no item of a list above 120 words
    no table cell above 12 words; code between ` is one word
    no link into tests/, which packages leave out
    chapters of docs/book have fewer than 250 lines

    prose.py ROOT
"""
import glob
import os
import re
import sys

# Pages that do not comply yet. A page that does leaves the list.
EXCEPTIONS = """
docs/programs.md
"""
LINE, PARAGRAPH, CELL, CHAPTER = 140, 120, 12, 250


def words(text):
    """How many words a reader sees: of a link its text, of code one."""
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return len(re.findall(r"[^\s,;:.()]*\w[^\s]*", text))


def cells(row):
    """The cells of a row of a table; | between ` or after a backslash is none of its borders."""
    row = re.sub(r"`[^`]*`", "code", row.strip()).replace("\\|", "")
    return row.strip("|").split("|")


class Page:
    def __init__(self, root, name):
        self.name, self.said = name, []
        with open(os.path.join(root, name), encoding="utf-8") as f:
            self.lines = f.read().split("\n")

    def say(self, number, text):
        self.said.append(f"{self.name}:{number}: {text}")

    def line(self, number, line):
        shown = re.sub(r"https?://\S+|\]\([^)]*\)", "", line)
        if len(shown) > LINE:
            self.say(number, f"{len(shown)} characters, {LINE} allowed")

    def links(self, number, line):
        for target in re.findall(r"\]\(([^)#]*)", re.sub(r"`[^`]*`", "", line)):
            path = os.path.normpath(os.path.join(os.path.dirname(self.name), target))
            if path.split(os.sep)[0] == "tests" and "://" not in target:
                self.say(number, f"a link into tests/: {target}")

    def table(self, number, row):
        for cell in cells(row):
            if words(cell) > CELL:
                self.say(number, f"a table cell of {words(cell)} words, {CELL} allowed")

    def paragraph(self, number, text):
        if words(text) > PARAGRAPH:
            self.say(number, f"a paragraph of {words(text)} words, {PARAGRAPH} allowed")

    def check(self):
        fence, start, text = False, 0, ""
        for number, line in enumerate(self.lines + [""], 1):
            mark = re.match(r" *```", line)
            fence ^= bool(mark)
            plain = not mark and not fence and line.strip()
            if text and (not plain or re.match(r" *([-*|#<]|\d+\.) ?", line)):
                self.paragraph(start, text)
                text = ""
            if not plain:
                continue
            self.links(number, line)
            if line.lstrip().startswith("|"):
                self.table(number, line)
                continue
            self.line(number, line)
            if not text:
                start = number
            text += line + " "
        if self.name.startswith("docs/book/") and len(self.lines) > CHAPTER:
            self.say(len(self.lines) - 1, f"a chapter has fewer than {CHAPTER} lines")
        return self.said


def main(root):
    names = ["README.md"] + [os.path.relpath(p, root) for p in glob.glob(f"{root}/docs/**/*.md", recursive=True)]
    said = []
    for name in sorted(set(names)):
        found = Page(root, name).check()
        if name not in EXCEPTIONS.split():
            said += found
        elif not found:
            said.append(f"{name}: complies: prose.py need not name it")
    print("\n".join(said), end="\n" if said else "")
    return bool(said)


sys.exit(main(sys.argv[1]))
