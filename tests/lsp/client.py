# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A client of the language server: starts it, sends messages, waits for answers."""
import json
import subprocess


def frame(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Client:
    def __init__(self, dslc, *options):
        self.process = subprocess.Popen([dslc, "lsp", *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.count = 0
        self.told = []

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self):
        """The next message; None at the end."""
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                return None
            if line == b"\r\n":
                break
            key, value = line.split(b":")
            assert key == b"Content-Length", line
            length = int(value)
        message = json.loads(self.process.stdout.read(length))
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, method, params=None):
        """Sends a request; gives its number."""
        self.count += 1
        message = {"jsonrpc": "2.0", "id": self.count, "method": method}
        if params is not None:
            message["params"] = params
        self.write(frame(message))
        return self.count

    def tell(self, method, params):
        self.write(frame({"jsonrpc": "2.0", "method": method, "params": params}))

    def answer(self, number):
        """The answer to a request; what the server tells before is kept in told."""
        while True:
            message = self.read()
            assert message is not None, "the server ended"
            if "id" in message and "method" not in message:
                assert message["id"] == number, (message, number)
                return message
            self.told.append(message)

    def request(self, method, params=None):
        message = self.answer(self.ask(method, params))
        assert "error" not in message, message
        return message["result"]

    def error(self, method, params=None):
        return self.answer(self.ask(method, params))["error"]["code"]

    def diagnostics(self, uri):
        """The next messages about a file."""
        while True:
            message = self.told.pop(0) if self.told else self.read()
            assert message is not None, "the server ended"
            assert message.get("method") == "textDocument/publishDiagnostics", message
            if message["params"]["uri"] == uri:
                return message["params"]["diagnostics"]

    def start(self):
        result = self.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.tell("initialized", {})
        return result

    def open(self, uri, text):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "gemm",
                                                            "version": 1, "text": text}})
        return self.diagnostics(uri)

    def change(self, uri, text, version=2):
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": version},
                                             "contentChanges": [{"text": text}]})
        return self.diagnostics(uri)

    def end(self):
        """Ends the session as an editor does; the exit code must be 0."""
        assert self.request("shutdown") is None
        self.tell("exit", None)
        return self.close()

    def close(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        errors = self.process.stderr.read()
        code = self.process.wait()
        return code, rest, errors


def place(text, word, nth=1, after=0):
    """The position of the nth occurrence of a word, or after so many of its letters."""
    at = -1
    for _ in range(nth):
        at = text.index(word, at + 1)
    before = text[:at + after]
    line = before.count("\n")
    last = before[before.rfind("\n") + 1:]
    return {"line": line, "character": len(last.encode("utf-16-le")) // 2}


def at(uri, text, word, nth=1, after=0):
    return {"textDocument": {"uri": uri}, "position": place(text, word, nth, after)}


def applied(text, edits):
    """A text after edits, each with a range in UTF-16 units."""
    lines = text.split("\n")

    def offset(p):
        units = lines[p["line"]].encode("utf-16-le")[:2 * p["character"]]
        return sum(len(x) + 1 for x in lines[:p["line"]]) + len(units.decode("utf-16-le"))

    spans = sorted(((offset(e["range"]["start"]), offset(e["range"]["end"]), e["newText"])
                    for e in edits), reverse=True)
    for begin, end, new in spans:
        text = text[:begin] + new + text[end:]
    return text
