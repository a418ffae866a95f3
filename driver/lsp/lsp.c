/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lsp.c - dslc lsp: a language server (LSP 3.17) on stdin and stdout. Requests are answered in
 * order; what an editor cancels while it waits is answered so; files are looked at when nothing
 * waits, so that fast typing costs one look. Nothing that comes in ends it but exit and the end. */
#include "driver/dslc.h"
#include "driver/lsp/lsp.h"
#include "driver/tool.h"

#include <signal.h>
#include <string.h>

/* Of JSON-RPC and of the protocol. */
enum {
	RPC_PARSE = -32700,
	RPC_REQUEST = -32600,
	RPC_METHOD = -32601,
	RPC_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	LSP_NOT_STARTED = -32002,
	LSP_CANCELLED = -32800
};

typedef struct {
	json_object *message;
	bool cancelled;
} Waiting;

typedef struct {
	const Options *o;
	Arena *arena;
	Wire wire;
	VEC(Waiting) queue; /* from `head` on */
	int head;
	VEC(Doc *) docs;
	bool started, stopped, gone; /* initialize, shutdown; the other end does not read */
} Server;

/* ------------------------------------------------------------------ sending */
static void send(Server *s, json_object *message)
{
	json_put_text(message, "jsonrpc", "2.0");
	s->gone |= !wire_send(message);
}

static void reply_error(Server *s, json_object *id, int code, const char *why)
{
	json_object *o = json_new(), *error = json_put_object(o, "error");
	json_put(o, "id", json_object_get(id));
	json_put_int(error, "code", code);
	json_put_text(error, "message", why);
	send(s, o);
}

static void reply(Server *s, json_object *id, json_object *result)
{
	json_object *o = json_new();
	json_put(o, "id", json_object_get(id));
	json_put(o, "result", result);
	send(s, o);
}

/* ------------------------------------------------------------------ open files */
static Doc *doc_find(const Server *s, const char *uri)
{
	for (int i = 0; uri && i < s->docs.n; i++)
		if (!strcmp(s->docs.at[i]->uri, uri))
			return s->docs.at[i];
	return NULL;
}

static void doc_forget(Doc *d)
{
	if (d->good != d->know)
		know_free(d->good);
	know_free(d->know);
	d->know = d->good = NULL;
}

static void doc_free(Doc *d)
{
	doc_forget(d);
	buf_free(&d->text);
	heap_free(d->uri);
	heap_free(d->path);
	heap_free(d);
}

static void doc_set(Doc *d, json_object *from, int64_t version)
{
	size_t size = 0;
	const char *text = json_get_text(from, "text", &size);
	if (!text)
		return;
	d->text.n = 0;
	buf_add(&d->text, text, size);
	d->version = version;
	d->changed = true;
}

static Doc *doc_new(Server *s, const char *uri)
{
	Doc *d = heap_alloc(sizeof *d);
	d->uri = heap_alloc(strlen(uri) + 1);
	memcpy(d->uri, uri, strlen(uri) + 1);
	d->path = text_path(uri);
	vec_push(s->arena, &s->docs, d);
	return d;
}

/* The messages of a file that is looked at, or that is closed: then none. */
static void publish(Server *s, const Doc *d)
{
	json_object *o = json_new();
	json_put_text(o, "method", "textDocument/publishDiagnostics");
	json_put(o, "params", answer_diagnostics(d));
	send(s, o);
}

/* Names of a text that does not parse are those of the last that did. */
static void doc_look(Server *s, Doc *d)
{
	Know *k = know_new(s->o, d->path, &d->text);
	if (k->names.n || !d->good) {
		doc_forget(d);
		d->good = k;
	} else if (d->know != d->good) {
		know_free(d->know);
	}
	d->know = k;
	d->changed = false;
	publish(s, d);
}

static bool look_at_one(Server *s)
{
	for (int i = 0; i < s->docs.n; i++)
		if (s->docs.at[i]->changed) {
			doc_look(s, s->docs.at[i]);
			return true;
		}
	return false;
}

/* ------------------------------------------------------------------ notifications */
static json_object *document_of(json_object *params)
{
	return json_get(params, "textDocument");
}

static void on_open(Server *s, json_object *params)
{
	json_object *document = document_of(params);
	const char *uri = json_get_text(document, "uri", NULL);
	if (!uri || !json_get_text(document, "text", NULL))
		return;
	Doc *d = doc_find(s, uri);
	doc_set(d ? d : doc_new(s, uri), document, json_get_int(document, "version", 0));
}

/* The last change counts: each is the whole text. */
static void on_change(Server *s, json_object *params)
{
	size_t n;
	json_object *document = document_of(params),
		    *list = json_get_array(params, "contentChanges", &n);
	Doc *d = doc_find(s, json_get_text(document, "uri", NULL));
	if (d && n)
		doc_set(d, json_object_array_get_idx(list, n - 1),
			json_get_int(document, "version", d->version + 1));
}

static void on_close(Server *s, json_object *params)
{
	Doc *d = doc_find(s, json_get_text(document_of(params), "uri", NULL));
	for (int i = 0; d && i < s->docs.n; i++)
		if (s->docs.at[i] == d)
			s->docs.at[i] = s->docs.at[--s->docs.n];
	if (!d)
		return;
	doc_forget(d);
	publish(s, d);
	doc_free(d);
}

/* ------------------------------------------------------------------ requests */
static json_object *on_initialize(Server *s, json_object *params)
{
	json_object *o = json_new(), *can = json_put_object(o, "capabilities"),
		    *sync = json_put_object(can, "textDocumentSync"),
		    *info = json_put_object(o, "serverInfo");
	(void)params;
	s->started = true;
	json_put_text(can, "positionEncoding", "utf-16");
	json_put_bool(sync, "openClose", true);
	json_put_int(sync, "change", 1);
	json_put_bool(can, "hoverProvider", true);
	json_put_bool(can, "definitionProvider", true);
	json_put_bool(can, "documentFormattingProvider", true);
	json_put_object(can, "completionProvider");
	json_object *kinds =
		json_put_array(json_put_object(can, "codeActionProvider"), "codeActionKinds");
	json_add_text(kinds, "quickfix");
	json_put_text(info, "name", "dslc");
	json_put_text(info, "version", dslc_version());
	return o;
}

static json_object *on_shutdown(Server *s, json_object *params)
{
	(void)params;
	s->stopped = true;
	return NULL;
}

static json_object *answer_format(const Doc *d, json_object *params)
{
	(void)params;
	return answer_formatting(d);
}

/* A request is of the server or of an open file; a notification has neither answer. */
static const struct {
	const char *method;
	json_object *(*of_server)(Server *s, json_object *params);
	json_object *(*of_doc)(const Doc *d, json_object *params);
	void (*told)(Server *s, json_object *params);
} methods[] = {
	{"initialize", on_initialize, NULL, NULL},
	{"shutdown", on_shutdown, NULL, NULL},
	{"textDocument/hover", NULL, answer_hover, NULL},
	{"textDocument/definition", NULL, answer_definition, NULL},
	{"textDocument/completion", NULL, answer_completion, NULL},
	{"textDocument/formatting", NULL, answer_format, NULL},
	{"textDocument/codeAction", NULL, answer_actions, NULL},
	{"textDocument/didOpen", NULL, NULL, on_open},
	{"textDocument/didChange", NULL, NULL, on_change},
	{"textDocument/didClose", NULL, NULL, on_close},
};

static int find_method(const char *method)
{
	for (size_t i = 0; i < COUNTOF(methods); i++)
		if (!strcmp(methods[i].method, method))
			return (int)i;
	return -1;
}

typedef struct {
	Server *s;
	Doc *d;
	json_object *params, *result;
	int method;
} Request;

static void work(void *user)
{
	Request *r = user;
	r->result = r->d ? methods[r->method].of_doc(r->d, r->params)
			 : methods[r->method].of_server(r->s, r->params);
}

/* A fault of ours is an answer too. */
static void answer(Server *s, json_object *id, Request *r)
{
	char why[512];
	if (rescue(work, r, why, sizeof why))
		reply(s, id, r->result);
	else
		reply_error(s, id, RPC_INTERNAL, why);
}

static void request(Server *s, json_object *id, const char *method, json_object *params)
{
	Request r = {.s = s, .params = params, .method = find_method(method)};
	bool known = r.method >= 0 && !methods[r.method].told;
	bool is_start = !strcmp(method, "initialize");
	if (!s->started && !is_start) {
		reply_error(s, id, LSP_NOT_STARTED, "initialize comes first");
	} else if (s->stopped || (s->started && is_start)) {
		reply_error(s, id, RPC_REQUEST,
			    s->stopped ? "shutdown came before" : "initialized already");
	} else if (!known) {
		reply_error(s, id, RPC_METHOD, method);
	} else if (methods[r.method].of_server) {
		answer(s, id, &r);
	} else {
		r.d = doc_find(s, json_get_text(document_of(params), "uri", NULL));
		if (r.d && r.d->changed)
			doc_look(s, r.d);
		if (r.d)
			answer(s, id, &r);
		else
			reply_error(s, id, RPC_PARAMS, "this file is not open");
	}
}

/* ------------------------------------------------------------------ the queue */
/* Its parameters; a method with a NUL inside is none that we know. */
static json_object *method_of(json_object *m, const char **method)
{
	size_t size = 0;
	*method = json_get_text(m, "method", &size);
	if (*method && strlen(*method) != size)
		*method = "";
	return json_get(m, "params");
}

static void cancel(Server *s, json_object *id)
{
	for (int i = s->head; id && i < s->queue.n; i++)
		if (json_object_equal(json_get(s->queue.at[i].message, "id"), id))
			s->queue.at[i].cancelled = true;
}

static void receive(Server *s, json_object *m)
{
	const char *method;
	json_object *params = method_of(m, &method);
	if (method && !strcmp(method, "$/cancelRequest"))
		cancel(s, json_get(params, "id"));
	vec_push(s->arena, &s->queue, ((Waiting){m, false}));
}

static void handle(Server *s, const Waiting *w)
{
	const char *method;
	json_object *params = method_of(w->message, &method), *id = NULL;
	bool is_request = json_object_is_type(w->message, json_type_object) &&
			  json_object_object_get_ex(w->message, "id", &id);
	if (!method && is_request &&
	    (json_get(w->message, "result") || json_get(w->message, "error")))
		return; /* an answer, and nothing was asked */
	if (!method)
		reply_error(s, id, RPC_REQUEST, "a message has a method");
	else if (is_request && w->cancelled)
		reply_error(s, id, LSP_CANCELLED, "cancelled");
	else if (is_request)
		request(s, id, method, params);
	else if (s->started && !s->stopped && find_method(method) >= 0 &&
		 methods[find_method(method)].told)
		methods[find_method(method)].told(s, params);
}

static bool is_exit(const Waiting *w)
{
	const char *method;
	method_of(w->message, &method);
	return method && !strcmp(method, "exit");
}

/* Takes in all that is there; waits for something where nothing is left to do. */
static bool fill(Server *s, bool wait)
{
	for (;;) {
		json_object *m = NULL;
		switch (wire_next(&s->wire, wait, &m)) {
		case WIRE_MESSAGE:
			receive(s, m);
			break;
		case WIRE_BAD:
			reply_error(s, NULL, RPC_PARSE, "this is no message");
			break;
		case WIRE_LONG:
			reply_error(s, NULL, RPC_REQUEST, "this message is too long");
			break;
		case WIRE_NOTHING:
			return true;
		case WIRE_END:
			return s->head < s->queue.n;
		}
		wait = false;
	}
}

static int serve(Server *s)
{
	while (!s->gone) {
		bool idle = s->head == s->queue.n;
		if (!fill(s, idle && !look_at_one(s)))
			return EXIT_DIAGS;
		if (s->head == s->queue.n)
			continue;
		Waiting w = s->queue.at[s->head++];
		bool ends = is_exit(&w);
		if (!ends)
			handle(s, &w);
		json_object_put(w.message);
		if (s->head == s->queue.n)
			s->head = s->queue.n = 0;
		if (ends)
			return s->stopped ? EXIT_OK : EXIT_DIAGS;
	}
	return EXIT_DIAGS;
}

int tool_lsp(const Options *o)
{
	Server s = {.o = o, .arena = arena_new()};
	signal(SIGPIPE, SIG_IGN);
	int code = serve(&s);
	for (int i = s.head; i < s.queue.n; i++)
		json_object_put(s.queue.at[i].message);
	for (int i = 0; i < s.docs.n; i++)
		doc_free(s.docs.at[i]);
	buf_free(&s.wire.in);
	arena_free(s.arena);
	return code;
}
