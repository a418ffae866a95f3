# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes that no editor sends: after each the server still answers, and it has said nothing on stderr.
   garbage.py DSLC ROOT [ROUNDS]"""
import json
import random
import sys

from client import Client, at, frame

dslc, root = sys.argv[1:3]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 300
URI = "file:///gemm.gemm"
with open(root + "/examples/gemm/gemm.gemm", encoding="ascii") as f:
    GEMM = f.read()
METHODS = ["textDocument/hover", "textDocument/definition", "textDocument/completion",
           "textDocument/formatting", "textDocument/codeAction", "textDocument/didOpen",
           "textDocument/didChange", "textDocument/didClose", "$/cancelRequest", "initialized",
           "nothing", "", "initialize"]


def started():
    c = Client(dslc)
    c.start()
    c.open(URI, GEMM)
    return c


def lives(c, number):
    """Whatever was said before, this is answered."""
    c.write(frame({"jsonrpc": "2.0", "id": number, "method": "textDocument/didOpen"}))
    while True:
        message = c.read()
        assert message is not None, c.process.stderr.read()
        if message.get("id") == number:
            assert message["error"]["code"] == -32601
            return


def end(c):
    code, _, errors = c.close()
    assert code in (0, 1) and errors == b"", (code, errors)


def test_frames():
    c = started()
    huge = 65 << 20
    for i, data in enumerate([
            b"\r\n\r\n", b"hello\r\n\r\n", b"Content-Length: x\r\n\r\n", b"Content-Length: -5\r\n\r\n",
            b"Content-Length:\r\n\r\n", b"content-length: 2\r\n\r\n{}", b"Content-Length: 0\r\n\r\n",
            b"Content-Type: x\r\nContent-Length: 2\r\n\r\n[]", b"X-Content-Length: 3\r\n\r\n",
            b"A" * 9000, b"\0\0\0\0\r\n\r\n", b"Content-Length: 3\r\n\r\n{}}",
            b"Content-Length: %d\r\n\r\n" % huge + b" " * huge]):
        c.write(data)
        # what follows bytes without an end of their own is dropped with them
        c.write(b"\r\n\r\n")
        lives(c, f"f{i}")
    end(c)
    for data in (b"Content-Length: 99999999999999999999999\r\n\r\n{}", b"Content-Le", b"\xff" * 100000):
        c = started()
        c.write(data)
        end(c)


def test_json():
    c = started()
    deep = b"[" * 100000
    for i, body in enumerate([
            b"", b"{", b"null", b"1", b'"x"', b"[]", b"[[]]", b"{}", b'{"id":1}', b'{"method":1,"id":2}',
            b'{"id":{},"method":"x"}', b'{"id":1.5,"method":"x"}', b'{"id":null,"method":"x"}',
            b'{"id":[1,[2]],"method":"shutdowm","params":3}', b'{"id":1,"result":null}',
            b'{"id":1,"result":{}}', b'{"id":1,"error":{}}', b'{"method":"\\ud800"}', b'{"a":"\xff"}',
            b'{"method":"exit\\u0000x"}', b'{"method":"$/cancelRequest","params":[]}', deep,
            b'{"method":"x","params":' + deep, b'{"id":1,"method":"' + b"x" * 100000 + b'"}',
            b'{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"%%zz%4","text":"a"}}}',
            b'{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"file://%","text":"a"}}}',
            b'{"method":"textDocument/didOpen","params":{"textDocument":{"uri":"","text":""}}}']):
        c.write(frame(body))
        lives(c, f"j{i}")
    end(c)


def anything(r, depth=0):
    """A random value; often one that is almost right."""
    kind = r.randrange(12 if depth < 4 else 8)
    if kind < 8:
        return [None, True, -1, 3, 1 << 62, 0.5, "x", URI][kind]
    if kind == 8:
        return [anything(r, depth + 1) for _ in range(r.randrange(4))]
    keys = ["textDocument", "uri", "position", "line", "character", "text", "contentChanges", "range",
            "start", "end", "version", "id"]
    return {r.choice(keys): anything(r, depth + 1) for _ in range(r.randrange(4))}


def test_wrong_types():
    r = random.Random(1)
    c = started()
    for i in range(rounds * 4):
        message = {"jsonrpc": "2.0", "method": r.choice(METHODS), "params": anything(r)}
        if r.randrange(2):
            message["params"] = {"textDocument": {"uri": URI}, "position": anything(r),
                                 "range": {"start": anything(r), "end": anything(r)},
                                 "contentChanges": [anything(r)]}
        if r.randrange(2):
            message["id"] = anything(r)
        c.write(frame(message))
        if i % 50 == 0:
            lives(c, f"w{i}")
    end(c)


def test_broken_sessions():
    """A right session of which some bytes are other ones, or gone."""
    messages = [{"id": i, "method": m, "params": at(URI, GEMM, "sA")} for i, m in enumerate(METHODS)]
    whole = b"".join(frame(json.dumps({"jsonrpc": "2.0", **m}).encode()) for m in messages)
    r = random.Random(2)
    for _ in range(max(rounds // 15, 5)):
        data = bytearray(whole)
        for _ in range(r.randrange(1, 6)):
            where = r.randrange(len(data))
            if r.randrange(2):
                data[where] = r.randrange(256)
            else:
                del data[where:where + r.randrange(1, 40)]
        c = started()
        c.write(bytes(data))
        end(c)


def test_typing():
    """A file as it is typed, with requests at the end of what is there; and random text."""
    r = random.Random(3)
    c = started()
    alphabet = "abkmnKMAsD012 (){}[]<>:;,.=+-*/%!@|&\"\n\t#\u00e4\U0001f600"
    for i in range(rounds):
        if r.randrange(4):
            text = GEMM[:r.randrange(len(GEMM))]
        else:
            text = "".join(r.choice(alphabet) for _ in range(r.randrange(200)))
            text = r.choice(["", "schedule { ", "kernel f(", "/*", "// "]) + text
        c.tell("textDocument/didChange", {"textDocument": {"uri": URI, "version": i},
                                          "contentChanges": [{"text": text}]})
        where = {"line": text.count("\n"), "character": len(text) - text.rfind("\n") - 1}
        params = {"textDocument": {"uri": URI}, "position": where,
                  "range": {"start": {"line": 0, "character": 0}, "end": where}}
        for method in METHODS[:5]:
            c.ask(method, params)
        while c.read().get("id") != c.count:
            pass
    end(c)


def test_large():
    c = started()
    text = "// " + "x" * 2000000 + "\n" + GEMM
    assert c.change(URI, text) == []
    assert c.request("textDocument/hover", at(URI, text, "sA :")) is not None
    assert c.change(URI, "const a = " + "(" * 100000)[0]["code"] in ("E0105", "E0106")
    assert c.change(URI, "x" * (17 << 20))[0]["code"] == "E0107"
    end(c)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(name)
