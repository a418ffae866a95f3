#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every help that frontend/ and passes/ give is tried: a row of tests/remedies has it, applies it and compiles. So has every code.
    helps.py ROOT
The lint starts at each call of diag_remedy, and at each cause that has its help after a line break, and follows what the help is
made of: macros, strings that `?:` chooses, values that functions return, variables, parameters, columns of tables. A row has the format, where %s and the like print anything; and for each
text that a %s may print, a row has both. A help printed by "%s" alone of which no text is found is an error.
Not tried: a help that only names an option of the command line (-Wno-), and messages that no program of a user brings."""

import glob
import json
import re
import sys

STRING = r'"(?:[^"\\\n]|\\.)*"'
TEXT = rf"{STRING}(?:\s*(?:PRI\w+\s*)?{STRING})*"  # neighbours are one
EXPRESSION = rf"((?:{STRING}|[^;\"])*);"
FUNCTION = re.compile(r"^([a-zA-Z][\w *]*?)\b(\w+)\(([^;{}]*?)\)\n\{.*?^\}", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"struct \{([^{}]*)\} \w+(?:\[\w*\])+ = \{")
# A file of 16 MiB; -D; IR; faults of the compiler, which the verifier finds. A token that is no word.
UNTRIED = r"E0107|W0201|E0420|[EW]041[1-6]|end of input"
root = sys.argv[1]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def without_comments(text):
    return re.sub(rf"({STRING})|/\*.*?\*/", lambda m: m[1] or "\n" * m[0].count("\n"), text, flags=re.DOTALL)


def with_macros(text):
    """The names of strings are replaced by the strings."""
    macros = dict(re.findall(rf"^#define (\w+)\s+({TEXT})$", text, re.MULTILINE))
    return re.sub(rf"{STRING}|\b\w+\b", lambda m: macros.get(m[0], m[0]), text)


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
    return found + [(m.end(), "")]


class Room:
    """The files of a directory, and the texts that an expression in one of them may be: (path, place, text, texts printed by its %s)."""

    def __init__(self, room):
        self.own, self.tables = ({p: with_macros(without_comments(read(p))) for p in sorted(glob.glob(f"{root}/{files}"))}
                                 for files in (f"{room}/*.*", "ir/*.[cd]*"))
        self.files = self.own | self.tables
        self.functions = [(p, m) for p, text in self.files.items() for m in FUNCTION.finditer(text)]
        self.known = {}

    def once(self, find, *what):
        """What find gives; while it is being found, nothing."""
        key = (find.__name__, *what)
        if key not in self.known:
            self.known[key] = []
            self.known[key] = list(dict.fromkeys(find(*what)))
        return self.known[key]

    def of(self, path, at, code):
        """The texts of the expression `code` at `at`; those in the arguments of calls are none."""
        end = 0
        for m in re.finditer(rf"({TEXT})|(\w*(?:->|\.))?\b([a-zA-Z_]\w*)(\()?", code):
            if m.start() < end:
                continue
            if m[1]:
                yield path, at + m.start(), m[1], ()
            elif m[4]:
                args = [(at + place, arg) for place, arg in arguments(code, m.end() - 1)]
                end = args[-1][0] - at
                yield from self.of_call(path, m[3], args[:-1])
            elif m[2] and m[3] == "s":
                yield from self.once(self.of_buffer, path, self.scope(path, at), m[2][:-1])
            elif m[2]:
                yield from self.once(self.of_member, path, m[3])
            else:
                yield from self.once(self.of_variable, path, self.scope(path, at), m[3])

    def scope(self, path, at):
        return next((f for where, f in self.functions if where == path and f.start() <= at < f.end()), None)

    def of_call(self, path, name, args):
        """What a format makes of its arguments, or what the function returns."""
        if name == "ctx_strf":
            parts = tuple(dict.fromkeys(text for arg in args[2:] for text in self.of(path, *arg)))
            yield from ((*text[:3], text[3] + parts) for text in self.of(path, *args[1]))
        elif name == "ctx_str":
            yield from self.of(path, *args[1])
        else:
            yield from self.once(self.of_function, name)

    def of_function(self, name):
        for path, f in self.functions:
            if f[2] == name and f[1].endswith("const char *"):
                for m in re.finditer(rf"\breturn\b{EXPRESSION}", f[0]):
                    yield from self.of(path, f.start() + m.start(1), m[1])

    def of_buffer(self, path, f, name):
        """What is printed into the buffer."""
        for m in re.finditer(rf"\bbuf_printf(\(&{name},)", f[0]):
            yield from self.of_call(path, "ctx_strf", arguments(self.files[path], f.start() + m.start(1))[:-1])

    def of_variable(self, path, f, name):
        """What is assigned to it in the function, or in the file outside of functions; of a parameter, what callers give."""
        start, text = (f.start(), f[0]) if f else (0, "")
        local = re.search(rf"\bchar [^;(]*\b{name}\b", text)
        for m in re.finditer(rf"[^.>]\b{name}(?:\[\])* =(?!=){EXPRESSION}", text) if local else ():
            yield from self.of(path, start + m.start(1), m[1])
        for m in re.finditer(rf"^static const char \*?(?:const )?{name}(?:\[\])* ={EXPRESSION}", self.files[path], re.MULTILINE):
            yield from self.of(path, m.start(1), m[1])
        if f:
            yield from self.of_parameter(f, name)

    def of_parameter(self, f, name):
        """What callers of the function give for it."""
        params = [p.strip() for p in f[3].split(",")]
        if f"const char *{name}" not in params:
            return
        index = params.index(f"const char *{name}")
        for path, text in self.own.items():
            for m in re.finditer(rf"\b{f[2]}\(", text):
                args = arguments(text, m.end() - 1)
                if index + 1 < len(args) and "const char *" not in args[index][1]:
                    yield from self.of(path, *args[index])

    def of_member(self, path, name):
        """The column of that name in tables of the file, or else of the IR; what is assigned to it anywhere."""
        if name in ("name", "word"):  # what the program says
            return
        own = list(self.of_column(path, name))
        yield from own or (text for table in self.tables for text in self.of_column(table, name))
        if name in ("help", "remedy"):
            yield from self.once(self.of_assigned, name)

    def of_column(self, path, name):
        """In a table of the file, or in rows of a .def that it includes as such a table."""
        text = self.files[path]
        for table in TABLE.finditer(text):
            columns = re.findall(r"(\w+)[,;)]", re.sub(r"\)\([^()]*\)", ")", table[1]))
            for at, row in arguments(text, table.end() - 1) if name in columns else ():
                yield from self.of_row(path, at, row, columns.index(name))
        for macro, params, file in re.findall(r'^#define (\w+)\(([^()]*)\) (?:.*\\\n)*.*\n#include "(.*)"', text, re.MULTILINE):
            rows, params = self.files.get(f"{root}/{file}", ""), re.split(r",\s*", params)
            for m in re.finditer(rf"^{macro}\(", rows, re.MULTILINE) if name in params else ():
                yield from self.of(f"{root}/{file}", *arguments(rows, m.end() - 1)[params.index(name)])

    def of_assigned(self, name):
        """What any file has in a column of that name, assigns to such a member, or gives for a parameter that is called so too."""
        for path, text in self.own.items():
            yield from self.of_column(path, name)
            for m in re.finditer(rf"(?:->|\.){name}\s*=(?!=){EXPRESSION}", text):
                yield from self.of(path, m.start(1), m[1])
        for _, f in self.functions:
            yield from self.of_parameter(f, name)

    def of_row(self, path, at, row, index):
        """Of a row of a table; rows of a table of two dimensions are in rows."""
        cells = [(at + place, cell) for place, cell in arguments(row, row.index("{"))[:-1]] if re.match(r"\s*\{", row) else []
        if any("{" in re.sub(STRING, "", cell) for _, cell in cells):
            for cell in cells:
                yield from self.of_row(path, *cell, index)
        elif index < len(cells):
            yield from self.of(path, *cells[index])

    def of_cause(self, path, args):
        """The helps that follow the causes of a message, with what is printed in them."""
        for *where, text, _ in self.of(path, *args[3]):
            cause, _, help_ = literal(text).partition("\n")
            first = 4 + len(re.findall("%[^%]", cause.replace("%%", "")))
            parts = dict.fromkeys(part for arg in args[first:] for part in self.of(path, *arg))
            if help_:
                yield *where, json.dumps(help_), tuple(parts)

    def helps(self):
        for path, text in self.own.items():
            for m in re.finditer(r"\b(diag_remedy|diag|reject|rejected|way_refuse)\(", text):
                args = arguments(text, m.end() - 1)
                if m[1] == "diag_remedy":
                    made = list(self.of_call(path, "ctx_strf", args[1:-1]))
                elif "const char *" in args[3][1] or not (made := list(self.of_cause(path, args[:-1]))):
                    continue
                whole = [t for t in made if t[2] != '"%s"'] + [p for t in made if t[2] == '"%s"' for p in t[3]]
                yield from whole or [(path, m.start(), None, ())]


def literal(text):
    """The text that neighbouring strings of C are."""
    text = re.sub(r'%"\s*PRI\w+', '%d"', text)
    return "".join(eval(s) for s in re.findall(STRING, text))  # pylint: disable=eval-used


def printed(text):
    """The text, and a pattern of what it prints."""
    whole = literal(text)
    parts = re.split(r"%(?:[-+ #0]*[\d.*]*(?:ll|l|z)?[a-z])?", whole.replace("%%", "\0"))
    return whole, ".*".join(re.escape(p.replace("\0", "%")) for p in parts)


def untried(help_, helps):
    """What no row has: the help, or with it a text that one of its %s prints."""
    whole, pattern = printed(help_[2])
    having = [h for h in helps if re.fullmatch(pattern, h)]
    if re.fullmatch(r"[^;]*-Wno-\w+ silences it", whole):
        return
    if not having:
        yield help_, whole
    for part in help_[3] if having else ():
        text, pattern = printed(part[2])
        if re.search(r"\w", text) and not re.fullmatch(UNTRIED, text) and not any(re.search(pattern, h) for h in having):
            yield part, text


def main():
    said, rows = [], "\n".join(read(path) for path in glob.glob(f"{root}/tests/remedies/*.rows"))
    rows = [re.split(r"(?<!\S)\|(?!\S)", row) for row in re.sub("\n\t", " ", re.sub(r"(?ms)^program \S+ = \S+$|^program .*?^end$", "", rows)).split("\n")]
    helps, codes = {row[-1].strip().replace("`", "") for row in rows}, {row[0].strip()[:5] for row in rows}
    for name in ("frontend", "passes"):
        for code in re.findall(r"^DIAG\((\w+)", read(f"{root}/base/diags_{name}.def"), re.MULTILINE):
            if code not in codes and not re.fullmatch(UNTRIED, code):
                said.append(f"base/diags_{name}.def: {code}: no row of tests/remedies")
        room, found = Room(name), set()
        for help_ in room.helps():
            if help_[2] is None:
                found.add((help_[0], help_[1], "no text of this help is found"))
            else:
                found |= {(at[0], at[1], f"no row of tests/remedies has this help: {text}") for at, text in untried(help_, helps)}
        for path, at, what in sorted(found):
            line = room.files[path].count("\n", 0, at) + 1
            said.append(f"{path[len(root) + 1:]}:{line}: {what}")
    print("\n".join(said), end="\n" if said else "")
    return bool(said)


sys.exit(main())
