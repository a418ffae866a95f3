// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A client of `dslc lsp` for Visual Studio Code, without dependencies: it starts the server, tells it of
// the open .gemm files, and asks it what the editor asks.
"use strict";
const vscode = require("vscode");
const { spawn } = require("child_process");

const LANGUAGE = { language: "gemm" };
let server = null;

/* ---------------------------------------------------------------- messages */
class Server {
	constructor(path, args, onNotification, onEnd) {
		this.asked = new Map();
		this.count = 0;
		this.data = Buffer.alloc(0);
		this.onNotification = onNotification;
		this.process = spawn(path, ["lsp", ...args], { stdio: ["pipe", "pipe", "inherit"] });
		this.process.stdin.on("error", () => {});
		this.process.on("error", onEnd);
		this.process.on("exit", (code) => this.end(code, onEnd));
		this.process.stdout.on("data", (data) => this.receive(data));
	}

	end(code, onEnd) {
		for (const { reject } of this.asked.values()) reject(new Error("the server ended"));
		this.asked.clear();
		if (code) onEnd(new Error(`dslc lsp ended with ${code}`));
	}

	send(message) {
		const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
		this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
		this.process.stdin.write(body);
	}

	tell(method, params) {
		this.send({ method, params });
	}

	ask(method, params, token) {
		const id = ++this.count;
		const answer = new Promise((resolve, reject) => this.asked.set(id, { resolve, reject }));
		if (token) token.onCancellationRequested(() => this.tell("$/cancelRequest", { id }));
		this.send({ id, method, params });
		return answer;
	}

	receive(data) {
		this.data = Buffer.concat([this.data, data]);
		for (;;) {
			const head = this.data.indexOf("\r\n\r\n");
			if (head < 0) return;
			const length = Number(/Content-Length: (\d+)/.exec(this.data.toString("ascii", 0, head))[1]);
			if (this.data.length < head + 4 + length) return;
			const message = JSON.parse(this.data.toString("utf8", head + 4, head + 4 + length));
			this.data = this.data.subarray(head + 4 + length);
			this.take(message);
		}
	}

	take(message) {
		if (message.method) return this.onNotification(message.method, message.params);
		const asked = this.asked.get(message.id);
		this.asked.delete(message.id);
		if (!asked) return;
		if (message.error) asked.reject(new Error(message.error.message));
		else asked.resolve(message.result);
	}
}

/* ---------------------------------------------------------------- forms of the two sides */
const toPosition = (p) => new vscode.Position(p.line, p.character);
const toRange = (r) => new vscode.Range(toPosition(r.start), toPosition(r.end));
const toEdit = (e) => new vscode.TextEdit(toRange(e.range), e.newText);
const position = (p) => ({ line: p.line, character: p.character });
const range = (r) => ({ start: position(r.start), end: position(r.end) });
const file = (document) => ({ uri: document.uri.toString() });
const place = (document, p) => ({ textDocument: file(document), position: position(p) });

function toDiagnostic(d) {
	const out = new vscode.Diagnostic(toRange(d.range), d.message, d.severity - 1);
	out.code = d.code;
	out.source = d.source;
	out.relatedInformation = (d.relatedInformation || []).map((n) => new vscode.DiagnosticRelatedInformation(
		new vscode.Location(vscode.Uri.parse(n.location.uri), toRange(n.location.range)), n.message));
	return out;
}

function toItem(i) {
	const item = new vscode.CompletionItem(i.label, i.kind - 1); // the protocol counts from 1
	item.detail = i.detail;
	return item;
}

function toAction(a) {
	const action = new vscode.CodeAction(a.title, vscode.CodeActionKind.QuickFix);
	action.edit = new vscode.WorkspaceEdit();
	for (const [uri, edits] of Object.entries(a.edit.changes))
		action.edit.set(vscode.Uri.parse(uri), edits.map(toEdit));
	action.diagnostics = a.diagnostics.map(toDiagnostic);
	action.isPreferred = a.isPreferred;
	return action;
}

/* ---------------------------------------------------------------- providers */
const hover = {
	async provideHover(document, p, token) {
		const h = await server.ask("textDocument/hover", place(document, p), token);
		return h && new vscode.Hover(new vscode.MarkdownString(h.contents.value), h.range && toRange(h.range));
	},
};
const definition = {
	async provideDefinition(document, p, token) {
		const l = await server.ask("textDocument/definition", place(document, p), token);
		return l && new vscode.Location(vscode.Uri.parse(l.uri), toRange(l.range));
	},
};
const completion = {
	async provideCompletionItems(document, p, token) {
		return (await server.ask("textDocument/completion", place(document, p), token)).items.map(toItem);
	},
};
const formatting = {
	async provideDocumentFormattingEdits(document, options, token) {
		const params = { textDocument: file(document), options: { ...options } };
		return ((await server.ask("textDocument/formatting", params, token)) || []).map(toEdit);
	},
};
const actions = {
	async provideCodeActions(document, r, context, token) {
		const params = { textDocument: file(document), range: range(r), context: { diagnostics: [] } };
		return (await server.ask("textDocument/codeAction", params, token)).map(toAction);
	},
};

/* ---------------------------------------------------------------- the session */
const isOurs = (document) => document.languageId === LANGUAGE.language;

function opened(document) {
	if (!isOurs(document)) return;
	server.tell("textDocument/didOpen", {
		textDocument: { ...file(document), languageId: "gemm", version: document.version, text: document.getText() },
	});
}

function changed(event) {
	if (!isOurs(event.document) || !event.contentChanges.length) return;
	server.tell("textDocument/didChange", {
		textDocument: { ...file(event.document), version: event.document.version },
		contentChanges: [{ text: event.document.getText() }],
	});
}

function closed(document) {
	if (isOurs(document)) server.tell("textDocument/didClose", { textDocument: file(document) });
}

async function activate(context) {
	const settings = vscode.workspace.getConfiguration("dslc");
	const messages = vscode.languages.createDiagnosticCollection("dslc");
	const notified = (method, params) => {
		if (method === "textDocument/publishDiagnostics")
			messages.set(vscode.Uri.parse(params.uri), params.diagnostics.map(toDiagnostic));
	};
	server = new Server(settings.get("path"), settings.get("arguments"), notified, (error) =>
		vscode.window.showErrorMessage(`dslc: ${error.message}`));
	await server.ask("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
	server.tell("initialized", {});
	vscode.workspace.textDocuments.forEach(opened);
	context.subscriptions.push(messages,
		vscode.workspace.onDidOpenTextDocument(opened),
		vscode.workspace.onDidChangeTextDocument(changed),
		vscode.workspace.onDidCloseTextDocument(closed),
		vscode.languages.registerHoverProvider(LANGUAGE, hover),
		vscode.languages.registerDefinitionProvider(LANGUAGE, definition),
		vscode.languages.registerCompletionItemProvider(LANGUAGE, completion),
		vscode.languages.registerDocumentFormattingEditProvider(LANGUAGE, formatting),
		vscode.languages.registerCodeActionsProvider(LANGUAGE, actions));
}

async function deactivate() {
	if (!server) return;
	await server.ask("shutdown");
	server.tell("exit");
	server = null;
}

module.exports = { activate, deactivate };
