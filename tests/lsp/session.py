# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A session with the language server, as an editor has it.  session.py DSLC ROOT"""
import sys

from client import Client, applied, at, frame, place

dslc, root = sys.argv[1:3]
URI = "file:///tmp/a%20b/gemm.gemm"
with open(root + "/examples/gemm/gemm.gemm", encoding="ascii") as f:
    GEMM = f.read()
UNDECIDED = """
kernel gemm(A : bf16 (M,K):(K,1), B : bf16 (N,K):(K,1), C : bf16 (M,N):(N,1), D : out bf16 (M,N):(N,1))
{
    const bM = 192, bN = 64, bK = 64;
    let gA = A / (bM,bK), gB = B / (bN,bK), gC = C / (bM,bN), gD = D / (bM,bN);
    mma      mm = wgmma<64,bN,16>(bf16, bf16, f32) * (3,1,1);
    smem     sA : bf16 (bM,bK), sB : bf16 (bN,bK);
    pipeline ab(2) { sA, sB }
    for (m,n) in gD {
        acc : f32 mm.C(bM,bN) = 0;
        for k in gA[m] { sA <- gA[m,k]; sB <- gB[n,k]; acc += mm(sA, sB); }
        gD[m,n] <- bf16(acc + gC[m,n]);
    }
    schedule { roles cooperative; cluster (4,4); }
}
"""


def labels(result):
    return {i["label"] for i in result["items"]}


def test_start():
    c = Client(dslc, "--stdio")
    assert c.error("textDocument/hover", at(URI, GEMM, "sA")) == -32002
    c.tell("textDocument/didOpen", {"textDocument": {"uri": URI, "text": "const a = ;"}})
    result = c.start()
    can = result["capabilities"]
    assert can["textDocumentSync"] == {"openClose": True, "change": 1}
    for key in "hoverProvider", "definitionProvider", "documentFormattingProvider":
        assert can[key] is True
    assert can["positionEncoding"] == "utf-16"
    assert can["completionProvider"] == {}
    assert can["codeActionProvider"] == {"codeActionKinds": ["quickfix"]}
    assert result["serverInfo"]["name"] == "dslc"
    assert c.error("initialize", {}) == -32600
    assert c.error("workspace/nothing") == -32601
    assert c.error("textDocument/hover", at(URI, GEMM, "sA")) == -32602  # not open: told too early
    assert c.error("textDocument/hover") == -32602
    c.tell("$/anything", {})
    assert c.request("shutdown") is None
    assert c.error("textDocument/hover", at(URI, GEMM, "sA")) == -32600
    c.tell("exit", None)
    assert c.close() == (0, b"", b"")


def test_hover():
    c = Client(dslc)
    c.start()
    assert c.open(URI, GEMM) == []

    def hover(word, nth=1):
        result = c.request("textDocument/hover", at(URI, GEMM, word, nth))
        if result is None:
            return ""
        begin = place(GEMM, word, nth)
        assert result["range"]["start"] == begin, (word, result)
        assert result["contents"]["kind"] == "markdown"
        return result["contents"]["value"]

    for word, nth, *texts in [
            ("A : bf16", 1, "A : bf16 (M,K):(K,1)", "a tensor", "fills sA by TMA, 16384 bytes"),
            ("D : out", 1, "D : out bf16 (M,N):(N,1)", "stored to D: TMA box"),
            ("gemm(", 1, "gemm : sm_90a", "a kernel", "384 threads", "of 232448 bytes", "role "),
            ("bM =", 1, "bM : 128", "an integer"),
            ("bN,16", 1, "bN : 256"),
            ("gA =", 1, "gA : bf16 (M,K):(K,1) in tiles of (128,64)", "a tiled tensor"),
            ("gA[m,k]", 1, "in tiles of (128,64)"),
            ("mm =", 1, "wgmma.m64n256k16", "* (2,1,1)", "registers a thread"),
            ("sA :", 1, "sA : shared bf16 (128,64)", "Sw<3,3,3>", "16384 bytes a stage, 4 stages",
             "loaded from A: TMA box"),
            ("sB <-", 1, "sB : shared bf16", "32768 bytes a stage"),
            ("ab(4)", 1, "4 stages, sA, sB", "a pipeline", "4 stages of 49152 bytes", "barrier "),
            ("acc :", 1, "acc : reg f32 (128,256)", "an accumulator", "128 registers a thread"),
            ("k in", 1, "counts tiles of 64 along K"),
            ("M,K", 1, "M", "an integer"),
            ("pipeline", 1, "`pipeline`: a ring of stages"),
            ("wgmma", 1, "`wgmma`: one instruction of a warpgroup"),
            ("bf16(acc", 1, "an element type of 16 bits"),
            ("roles", 1, "roles cooperative;"),
    ]:
        value = hover(word, nth)
        for text in texts:
            assert text in value, (word, nth, text, value)
    assert hover("sum over") == ""  # in a comment
    assert c.request("textDocument/hover", at(URI, GEMM, " = 128", 1, 1)) is None
    # positions outside of the text are moved into it
    for line, character in (9999, 0), (0, 9999), (-1, -1), (1 << 60, 1 << 60):
        c.request("textDocument/hover", {"textDocument": {"uri": URI}, "position":
                                         {"line": line, "character": character}})
    assert c.end() == (0, b"", b"")


def test_definition():
    c = Client(dslc)
    c.start()
    c.open(URI, GEMM)

    def definition(word, nth=1, after=0):
        result = c.request("textDocument/definition", at(URI, GEMM, word, nth, after))
        assert result is None or result["uri"] == URI
        return result and result["range"]["start"]

    assert definition("sA <-") == place(GEMM, "sA")
    assert definition("mm(sA") == place(GEMM, "mm =")
    assert definition("mm(sA", after=2) == place(GEMM, "mm =")
    assert definition("m,k]", 2) == place(GEMM, "m,n) in")
    assert definition("bK)") == place(GEMM, "bK =")
    assert definition("sA, sB }") == place(GEMM, "sA :")
    assert definition("K):(K", after=4) == place(GEMM, "K):")
    assert definition("gemm(") == place(GEMM, "gemm(")
    assert definition("kernel") is None
    assert definition("roles") is None
    assert c.end() == (0, b"", b"")


def test_diagnostics():
    c = Client(dslc)
    c.start()
    bad = GEMM.replace("bf16(acc)", "bf16(akk)").replace("roles cooperative", "roles coperative")
    got = c.open(URI, bad)
    by_code = {d["code"]: d for d in got}
    assert set(by_code) == {"E0201", "E0308"}, got
    d = by_code["E0201"]
    assert d["severity"] == 1 and d["source"] == "dslc"
    assert d["message"] == "unknown name 'akk'\nhelp: did you mean 'acc'?"
    assert d["range"] == {"start": place(bad, "akk"), "end": place(bad, "akk", 1, 3)}
    # each fix, and both
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}
    actions = c.request("textDocument/codeAction", {"textDocument": {"uri": URI}, "range": whole,
                                                    "context": {"diagnostics": got}})
    assert [a["title"] for a in actions] == ["did you mean 'acc'?", "did you mean 'cooperative'?"]
    assert all(a["kind"] == "quickfix" and a["isPreferred"] for a in actions)
    assert actions[0]["diagnostics"] == [d]
    edits = [e for a in actions for e in a["edit"]["changes"][URI]]
    fixed = applied(bad, edits)
    assert fixed == GEMM
    fixed = GEMM.replace("out bf16", "out f32", 1)
    here = {"start": place(bad, "akk", 1, 1), "end": place(bad, "akk", 1, 1)}
    actions = c.request("textDocument/codeAction", {"textDocument": {"uri": URI}, "range": here})
    assert [a["title"] for a in actions] == ["did you mean 'acc'?"]
    # conversions are two edits
    got = c.change(URI, fixed.replace("bf16(acc)", "bf16(acc) "))
    assert [d["code"] for d in got] == ["E0205"], got
    actions = c.request("textDocument/codeAction", {"textDocument": {"uri": URI}, "range": whole})
    assert "gD[m,n] <- f32(bf16(acc)) ;" in applied(fixed.replace("bf16(acc)", "bf16(acc) "),
                                                  actions[0]["edit"]["changes"][URI])
    # messages of the passes, with notes of other places
    got = c.change(URI, GEMM.replace("ab(4)", "ab(8)"))
    assert [d["code"] for d in got] == ["E0401"] and "stages fit" in got[0]["message"]
    got = c.change(URI, GEMM.replace("bK = 64", "bK = 64, bM = 3"))
    assert got[0]["code"] == "E0202"
    assert got[0]["relatedInformation"][0]["location"]["range"]["start"] == place(GEMM, "bM =")
    # a file that is closed has no messages; one that is opened again has
    c.tell("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert c.diagnostics(URI) == []
    assert c.error("textDocument/hover", at(URI, GEMM, "sA")) == -32602
    assert len(c.open(URI, bad)) == 2
    assert c.open("untitled:other", "kernel") != []
    assert c.open("file:///empty.gemm", "")[0]["code"] == "E0313"
    assert c.end() == (0, b"", b"")


def test_options():
    c = Client(dslc, "-DbK=32", "-Werror=W0201", "-Dnowhere=1")
    c.start()
    got = c.open(URI, GEMM)
    assert ["W0201"] == [d["code"] for d in got if d["severity"] == 1 and "nowhere" in d["message"]]
    assert got[0]["range"]["start"] == {"line": 0, "character": 0}
    c.end()
    # a kernel that is neither proved nor refuted: its cluster has more kinds of warps than the verifier follows
    for options, code in ([], "E0416"), (["--unproved"], "W0412"):
        c = Client(dslc, *options)
        c.start()
        assert [d["code"] for d in c.open(URI, UNDECIDED)] == [code]
        c.end()


def test_completion():
    c = Client(dslc)
    c.start()
    c.open(URI, GEMM)

    def complete(text, word, after=0, nth=1):
        c.change(URI, text)
        return labels(c.request("textDocument/completion", at(URI, text, word, nth, after)))

    here = complete(GEMM, "acc += mm")
    assert {"sA", "gB", "acc", "k", "m", "bM", "M", "const", "for", "coalesce", "relu", "bf16"} <= here
    assert "stages" not in here and "cooperative" not in here
    early = complete(GEMM, "const bM")
    assert {"A", "D", "K", "kernel"} <= early and "sA" not in early
    in_schedule = complete(GEMM, "roles cooperative")
    assert {"roles", "stages", "persistent", "cluster", "pdl", "split_k"} <= in_schedule
    assert "sA" not in in_schedule
    in_clause = complete(GEMM, "cooperative;")
    assert {"cooperative", "pingpong", "none", "bM"} <= in_clause and "slice" not in in_clause
    # text that is being written, and does not parse: names are those of the text before
    writing = GEMM.replace("gD[m,n] <- bf16(acc);", "gD[m,n] <- bf16(a")
    assert "acc" in complete(writing, "bf16(a", 6)
    writing = GEMM.replace("roles cooperative; }", "roles cooperative; multicast ")
    assert {"auto", "slice", "leader", "off"} <= complete(writing, "multicast ", 10)
    writing = GEMM.replace("roles cooperative; }", "ro")
    assert "roles" in complete(writing, "{ ro", 4)
    writing = GEMM.replace("sA : bf16 (bM,bK), ", "sA : b")
    assert {"bf16", "f16", "f32", "out"} <= complete(writing, "sA : b", 6)
    assert complete(GEMM, "sum over", 3) == set()  # in a comment
    assert complete('print("a b");', "a b", 1) == set()
    assert "kernel" in complete("", "")
    assert c.end() == (0, b"", b"")


def test_formatting():
    c = Client(dslc)
    c.start()
    options = {"textDocument": {"uri": URI}, "options": {"tabSize": 8, "insertSpaces": False}}
    c.open(URI, GEMM)
    assert c.request("textDocument/formatting", options) == []
    ugly = GEMM.replace("    ", "\t").replace(" <- ", "<-")
    c.change(URI, ugly)
    edits = c.request("textDocument/formatting", options)
    assert applied(ugly, edits) == GEMM
    c.change(URI, "kernel (")
    assert c.request("textDocument/formatting", options) is None
    assert c.end() == (0, b"", b"")


def test_open():
    """What is picked, and an mma without numbers."""
    c = Client(dslc)
    c.start()
    text = "const bM = pick(64,\n  128 .. 256 by 64), R = pick(none);\nmma mm = wgmma(bf16, bf16, f32);\n"
    got = [d["code"] for d in c.open(URI, text)]
    assert got == ["W0207", "W0207", "E0313"], got
    for word, shown in [("bM", "bM : 64 of pick(64, 128 .. 256 by 64)"), ("R =", "R : none of pick(none)"),
                        ("mm =", "mm : wgmma(bf16, bf16, f32)"), ("pick", "`pick`: the values that a const")]:
        result = c.request("textDocument/hover", at(URI, text, word))
        assert shown in result["contents"]["value"], result
    assert c.end() == (0, b"", b"")


def test_utf16():
    """Characters of one, two and four bytes, and line ends of each kind."""
    c = Client(dslc)
    c.start()
    for end in "\n", "\r\n":
        text = end.join(["// ä€😀", "/* 😀😀 */ const a = bb; // ß", "const bb = 1;", ""])
        got = c.open(URI, text) if end == "\n" else c.change(URI, text)
        assert got[0]["range"] == {"start": {"line": 1, "character": 21},
                                   "end": {"line": 1, "character": 23}}, got
        hover = c.request("textDocument/hover", {"textDocument": {"uri": URI},
                                                 "position": {"line": 1, "character": 17}})
        assert "a mistake" in hover["contents"]["value"]
        assert hover["range"]["start"] == {"line": 1, "character": 17}
        # in the middle of a pair
        c.request("textDocument/hover", {"textDocument": {"uri": URI},
                                         "position": {"line": 0, "character": 6}})
    got = c.change(URI, "const a = 1;\rconst b = zz;")
    assert got[0]["range"]["start"] == {"line": 1, "character": 10}
    got = c.change(URI, "const a = \u00e4;")
    assert got[0]["code"] == "E0101" and got[0]["range"]["end"]["character"] == 11
    got = c.change(URI, "const a = 1;\0")
    assert got[0]["code"] == "E0101"
    assert c.end() == (0, b"", b"")


def test_cancel():
    """What waits can be cancelled; what is answered cannot; the last text counts."""
    c = Client(dslc)
    c.start()
    c.open(URI, GEMM)
    hover = {"jsonrpc": "2.0", "method": "textDocument/hover", "params": at(URI, GEMM, "sA")}
    burst = b"".join([
        frame({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 7}}),
        *(frame({**hover, "id": i}) for i in ("a", "b", 7)),
        frame({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "b"}}),
        frame({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 99}}),
        frame({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": None})])
    c.write(burst)
    for number in "a", "b", 7:
        message = c.answer(number)
        if number == "b":
            assert message["error"]["code"] == -32800
        else:
            assert "sA" in message["result"]["contents"]["value"]
    # many changes at once are one look, with the last version
    c.told = []
    c.write(b"".join(frame({"jsonrpc": "2.0", "method": "textDocument/didChange", "params":
                            {"textDocument": {"uri": URI, "version": v},
                             "contentChanges": [{"text": "x"}, {"text": f"const a{v} = zz{v};"}]}})
                     for v in range(3, 40)))
    message = c.read()
    assert message["params"]["version"] == 39 and "zz39" in message["params"]["diagnostics"][0]["message"]
    assert c.end() == (0, b"", b"")


def test_end():
    """Without shutdown, exit is a failure; so is the end of the stream."""
    c = Client(dslc)
    c.start()
    c.tell("exit", None)
    assert c.close()[0] == 1
    c = Client(dslc)
    assert c.close()[0] == 1
    c = Client(dslc)
    c.start()
    c.write(b"Content-Length: 100\r\n\r\n{")
    assert c.close()[0] == 1


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(name)
