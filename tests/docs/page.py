#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does what a page of the documents says: writes its files, runs its commands, compares what they print.

    page.py PAGE         in an empty folder, with dslc and whatever else the page uses in PATH
    page.py --all PAGE   each program is proved, too, and a block of no language has one of these marks

    <!-- file: a.c -->   the fenced block after it is written to a.c
    <!-- in: NAME -->    the block is a part of a program: it is proved in place of the line @@ of frames/NAME.gemm
    ```console           each `$ command` prints exactly the lines below it, stdout and stderr together;
                         `...` stands for any text in a line, a line of it for one line or more; a command
                         that is shown to print nothing may not fail
    ```sh                a script, which may print anything and may not fail
    <!-- not run: WHY -->   the block after it is for reading only
"""
import os
import re
import subprocess
import sys

COMMENT = re.compile(r"<!-- (file|in|not run): (.+) -->")
FRAMES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "frames")


def fail(where, text):
    sys.exit(f"{where}: {text}")


def blocks(page):
    """(line, language, mark or None, its words, text) of each fenced block that is not only to be read."""
    mark, fence, body = None, None, []
    for number, line in enumerate(open(page, encoding="utf-8").read().split("\n"), 1):
        if fence is None:
            comment = COMMENT.fullmatch(line)
            if line.lstrip().startswith("```"):
                indent = line[:line.index("`")]
                fence, body = (number, line.strip()[3:]), []
            elif comment:
                mark = comment.groups()
            elif line and mark:
                fail(f"{page}:{number}", f"no block follows <!-- {mark[0]}: {mark[1]} -->")
        elif line == indent + "```":
            if not mark or mark[0] != "not run":
                yield *fence, *(mark or (None, None)), "".join(text + "\n" for text in body)
            mark, fence = None, None
        else:
            body.append(line.removeprefix(indent))


def run(script):
    """Exit code and output of a script."""
    done = subprocess.run(["sh", "-eu", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout.decode()


def pattern(shown):
    """What an output must match: the shown lines, where ... is any text, and a line of it one line or more."""
    lines = ("(?:.*\n)+" if line == "...\n" else ".*".join(map(re.escape, line.split("..."))) for line in shown)
    return "".join(lines)


def run_session(where, text):
    """A console block: commands with what they print. How many there were."""
    shown = re.split(r"^\$ ", text, flags=re.MULTILINE)
    if shown[0]:
        fail(where, "the block does not begin with a command")
    for part in shown[1:]:
        command, *output = part.splitlines(keepends=True)
        while command.endswith("\\\n"):
            command += output.pop(0)
        code, printed = run(command)
        if code and not output:
            fail(where, f"{command.strip()} exits with {code}\n{printed}")
        if not re.fullmatch(pattern(output), printed):
            fail(where, f"{command.strip()} prints\n{printed}not\n{''.join(output)}")
    return len(shown) - 1


def run_script(where, text):
    """A block for the shell. How many lines it has."""
    code, printed = run(text)
    if code:
        fail(where, f"the script exits with {code}\n{printed}")
    return len(text.splitlines())


def write(file, text):
    with open(file, "w", encoding="utf-8") as out:
        out.write(text)


def framed(name, text):
    """The frame with the text in place of its line @@, indented as that line is."""
    frame = open(os.path.join(FRAMES, name + ".gemm"), encoding="utf-8").read()
    return re.sub("^( *)@@\n", lambda m: re.sub("^(?=.)", m[1], text, flags=re.MULTILINE), frame, flags=re.MULTILINE)


def prove(where, file):
    """Compiles the program and proves it."""
    code, printed = run(f"dslc check -q -Werror {file}")
    if code:
        fail(where, f"{file} is not proved\n{printed}")
    return 1


def main(page, strict):
    count = 0
    for number, language, mark, name, text in blocks(page):
        where = f"{page}:{number}"
        if mark == "in":
            write("part.gemm", framed(name, text))
            count += prove(where, "part.gemm")
        elif mark:
            write(name, text)
            count += prove(where, name) if strict and name.endswith(".gemm") else 0
        elif strict and not language:
            fail(where, "the block has neither a language nor a mark")
        elif language == "console":
            count += run_session(where, text)
        elif language == "sh":
            count += run_script(where, text)
    if not count and not strict:
        fail(page, "has no command")
    print(f"{page}: {count} lines of commands")


main(sys.argv[-1], "--all" in sys.argv[1:-1])
