// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extension for Visual Studio Code, in an editor that is not there: a module `vscode` with the classes
// that it uses.   node extension.js DSLC ROOT
"use strict";
const assert = require("assert");
const fs = require("fs");
const Module = require("module");
const [dslc, root] = process.argv.slice(2);

/* ---------------------------------------------------------------- the editor */
const struct = (...names) => class {
	constructor(...values) { names.forEach((n, i) => { this[n] = values[i]; }); }
};
const providers = {};
const listeners = {};
const messages = new Map();
const errors = [];
const register = (name) => (selector, provider) => { providers[name] = provider; return {}; };
const listen = (name) => (f) => { listeners[name] = f; return {}; };
const vscode = {
	Position: struct("line", "character"), Range: struct("start", "end"), TextEdit: struct("range", "newText"),
	Diagnostic: struct("range", "message", "severity"), Location: struct("uri", "range"),
	DiagnosticRelatedInformation: struct("location", "message"), CompletionItem: struct("label", "kind"),
	CodeAction: struct("title", "kind"), CodeActionKind: { QuickFix: "quickfix" },
	WorkspaceEdit: class { constructor() { this.edits = new Map(); } set(uri, edits) { this.edits.set(String(uri), edits); } },
	Hover: struct("contents", "range"), MarkdownString: struct("value"),
	Uri: { parse: (s) => ({ toString: () => s }) },
	workspace: {
		getConfiguration: () => ({ get: (key) => ({ path: dslc, arguments: ["-DbK=32"] })[key] }), textDocuments: [],
		onDidOpenTextDocument: listen("open"), onDidChangeTextDocument: listen("change"), onDidCloseTextDocument: listen("close"),
	},
	window: { showErrorMessage: (m) => errors.push(m) },
	languages: {
		createDiagnosticCollection: () => ({ set: (uri, list) => messages.set(String(uri), list) }),
		registerHoverProvider: register("hover"), registerDefinitionProvider: register("definition"),
		registerCompletionItemProvider: register("completion"), registerDocumentFormattingEditProvider: register("formatting"),
		registerCodeActionsProvider: register("actions"),
	},
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const extension = require(`${root}/editors/vscode/extension.js`);

/* ---------------------------------------------------------------- a session */
const text = fs.readFileSync(`${root}/examples/gemm/gemm.gemm`, "utf8").replace("bf16(acc)", "bf16(akk)");
const document = { languageId: "gemm", version: 1, uri: vscode.Uri.parse("file:///gemm.gemm"), getText: () => text };
const token = { onCancellationRequested: () => {} };

function place(word) {
	const before = text.slice(0, text.indexOf(word)).split("\n");
	return new vscode.Position(before.length - 1, before[before.length - 1].length);
}

async function session() {
	vscode.workspace.textDocuments.push(document, { languageId: "c" });
	await extension.activate({ subscriptions: [] });
	const hover = await providers.hover.provideHover(document, place("sA :"), token);
	assert(hover.contents.value.includes("shared bf16 (128,32)"), hover.contents.value);
	const [d] = messages.get("file:///gemm.gemm");
	assert.strictEqual(d.code, "E0201");
	assert.strictEqual(d.severity, 0);
	assert.deepStrictEqual(d.range.start, place("akk"));
	const range = new vscode.Range(place("akk"), place("akk"));
	const [action] = await providers.actions.provideCodeActions(document, range, {}, token);
	assert.strictEqual(action.edit.edits.get("file:///gemm.gemm")[0].newText, "acc");
	const where = await providers.definition.provideDefinition(document, place("sA <-"), token);
	assert.deepStrictEqual(where.range.start, place("sA :"));
	assert.strictEqual(await providers.definition.provideDefinition(document, place("kernel"), token), null);
	const items = await providers.completion.provideCompletionItems(document, place("roles"), token);
	assert(items.some((i) => i.label === "stages" && i.kind === 13));
	assert.deepStrictEqual(await providers.formatting.provideDocumentFormattingEdits(document, {}, token), []);
	listeners.change({ document: { ...document, version: 2, getText: () => "kernel (" }, contentChanges: [{}] });
	await providers.hover.provideHover(document, place("sA :"), token); // looks at the new text
	await assert.rejects(providers.hover.provideHover({ uri: vscode.Uri.parse("file:///other") }, place("sA"), token));
	assert.strictEqual(messages.get("file:///gemm.gemm")[0].code, "E0105");
	listeners.close(document);
	await extension.deactivate();
	assert.deepStrictEqual(messages.get("file:///gemm.gemm"), []);
	assert.deepStrictEqual(errors, []);
}

session().then(() => process.exit(0), (e) => { console.error(e); process.exit(1); });
