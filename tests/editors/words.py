# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The words of the grammars in editors/ and of docs/book/reference.md are those of the compiler's tables, no
more and no fewer; what the schedule's reader asks for by name is in a table.
   words.py WORDS ROOT        WORDS: the program words.c"""
import json
import re
import subprocess
import sys

program, root = sys.argv[1:3]
table = {}
for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines():
    kind, word = line.split()
    table.setdefault(kind, set()).add(word)
for kind, least in {"keyword": 19, "template": 4, "inner": 8, "call": 12, "clause": 14, "word": 9, "type": 6,
                    "layout": 40, "elementwise": 14, "sum": 2}.items():
    assert len(table[kind]) >= least, (kind, table[kind])
failed = []


def compare(where, got, want):
    for word in sorted(want - got):
        failed.append(f"{where}: lacks '{word}'")
    for word in sorted(got - want):
        failed.append(f"{where}: has '{word}', which no table has")


def read(name):
    with open(f"{root}/{name}", encoding="utf-8") as f:
        return f.read()


# ------------------------------------------------------------------ TextMate
grammar = json.loads(read("editors/gemm.tmLanguage.json"))
scopes = {}


def walk(node):
    if isinstance(node, list):
        for n in node:
            walk(n)
    elif isinstance(node, dict):
        for key in "match", "begin", "end":
            if key in node:
                re.compile(node[key])
        words = re.fullmatch(r"\\b\(([a-z0-9_|A-Z]+)\)\\b(\(\?=.*\))?", node.get("match", ""))
        if words:
            scopes.setdefault(node["name"], set()).update(words.group(1).split("|"))
        if "include" in node:
            assert node["include"][1:] in grammar["repository"], node
        for n in node.values():
            walk(n)


walk(grammar)
# The heads of blocks have patterns of their own.
assert re.match(grammar["repository"]["schedule"]["begin"], "schedule {")
assert re.match(grammar["repository"]["kernel"]["match"], "kernel gemm(").group(2) == "gemm"
textmate = [
    ("keyword", {"keyword.declaration.gemm", "keyword.control.gemm", "keyword.operator.word.gemm",
                 "support.function.check.gemm"}),
    ("template", {"support.type.template.gemm"}),
    ("inner", {"keyword.other.inner.gemm"}),
    ("clause", {"keyword.other.clause.gemm"}),
    ("word", {"constant.language.schedule.gemm"}),
    ("type", {"storage.type.gemm"}),
    ("layout", {"support.function.layout.gemm"}),
    ("elementwise", {"support.function.elementwise.gemm"}),
    ("call", {"support.function.call.gemm"}),
    ("sum", {"support.function.sum.gemm"}),
]
for kind, names in textmate:
    compare(f"editors/gemm.tmLanguage.json: {', '.join(sorted(names))}",
            set().union(*(scopes.pop(n, set()) for n in names)), table[kind])
assert not scopes, f"words of no class: {scopes}"

# ------------------------------------------------------------------ Vim
groups = {}
for line in read("editors/vim/syntax/gemm.vim").splitlines():
    words = line.split()
    if words[:2] == ["syn", "keyword"]:
        end = words.index("nextgroup=gemmClauses") if "nextgroup=gemmClauses" in words else len(words)
        groups.setdefault(words[2], set()).update(w for w in words[3:end] if w != "contained")
for kinds, names in [
        ({"keyword"}, {"gemmDeclaration", "gemmControl", "gemmCheck", "gemmCompose", "gemmSchedule"}),
        ({"template"}, {"gemmTemplate"}), ({"inner"}, {"gemmInner"}), ({"clause"}, {"gemmClause"}),
        ({"word"}, {"gemmWord"}), ({"type"}, {"gemmType"}),
        ({"layout", "elementwise", "call", "sum"}, {"gemmFunction"})]:
    compare(f"editors/vim/syntax/gemm.vim: {', '.join(sorted(names))}",
            set().union(*(groups.pop(n, set()) for n in names)),
            set().union(*(table[k] for k in kinds)))
assert not groups, f"words of no class: {groups}"

# ------------------------------------------------------------------ reference.md
page = read("docs/book/reference.md")
names = {"s4", "u4", "e2m1", "u64"}  # words only where a type is expected, or types of hosts
for row, words in [("keywords", table["keyword"]), ("heads of `<...>`", table["template"]), ("types", table["type"] - names),
                   ("sums", table["sum"]), ("values", table["elementwise"]), ("layouts", table["layout"]),
                   ("clauses", table["clause"]), ("words of clauses", table["word"]), ("words inside clauses", table["inner"])]:
    shown = re.search(rf"^\| {re.escape(row)} \| `([^`]*)`", page, re.M).group(1).split()
    compare(f"docs/book/reference.md: {row}", set(shown), words)
page = read("docs/book/tables.md")
functions = page[page.index("## Functions"):page.index("| reductions |")]
for word in sorted(table["elementwise"] - set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", functions))))):
    failed.append(f"docs/book/tables.md: lacks '{word}'")
clauses = page[page.index("## Clauses"):page.index("## Limits")]
compare("docs/book/tables.md: clauses", set(re.findall(r"^\| `(\w+)", clauses, re.M)), table["clause"])

# ------------------------------------------------------------------ the reader of schedules
asked = set(re.findall(r'(?:is_word|strcmp|word_of)\([^;"]*"([a-z_]+)"', read("frontend/sched.c")))
known = table["inner"] | table["clause"] | table["word"] | {"m", "n"}  # the modes
assert len(asked) >= 6, asked
for word in sorted(asked - known):
    failed.append(f"frontend/sched.c asks for '{word}', which frontend/words.def lacks")

# ------------------------------------------------------------------ the extension
package = json.loads(read("editors/vscode/package.json"))
json.loads(read("editors/vscode/language-configuration.json"))
assert package["contributes"]["grammars"][0]["scopeName"] == grammar["scopeName"]
version = re.search(r"project\(.*?VERSION (\d+\.\d+\.\d+)", read("CMakeLists.txt"), re.S).group(1)
assert package["version"] == version, (package["version"], version)

print("\n".join(failed))
sys.exit(bool(failed))
