/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* wire.c - JSON-RPC messages on stdin and stdout, each preceded by its length. Bytes that are no
 * message are dropped up to the next one that is.
 *     "Content-Length: 2\r\n\r\n{}"  ->  {} */
#include "driver/lsp/lsp.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { HEAD_MAX = 8192, MESSAGE_MAX = 64 << 20, DEPTH_MAX = 128 };

/* ------------------------------------------------------------------ bytes */
static bool is_ready(void)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	return poll(&p, 1, 0) > 0;
}

/* Reads what is there; waits for it where that is asked for. */
static bool read_more(Wire *w, bool wait)
{
	char block[65536];
	if (w->ended || (!wait && !is_ready()))
		return false;
	ssize_t n = read(STDIN_FILENO, block, sizeof block);
	while (n < 0 && errno == EINTR)
		n = read(STDIN_FILENO, block, sizeof block);
	w->ended = n <= 0;
	if (n > 0)
		buf_add(&w->in, block, (size_t)n);
	return n > 0;
}

static void drop(Wire *w, size_t n)
{
	w->at += n;
	if (w->at < w->in.n)
		return;
	w->in.n = w->at = 0;
}

/* What was read goes, so that the buffer does not grow. */
static void compact(Wire *w)
{
	if (w->at <= w->in.n / 2)
		return;
	memmove(w->in.s, w->in.s + w->at, w->in.n - w->at);
	w->in.n -= w->at;
	w->at = 0;
}

/* ------------------------------------------------------------------ frames */
/* The number after "Content-Length:" in a head; -1: none. */
static int64_t length_in(const char *head, size_t n)
{
	static const char key[] = "Content-Length:";
	size_t k = sizeof key - 1;
	for (size_t i = 0; i + k <= n; i++) {
		if (strncasecmp(head + i, key, k) != 0 || (i && head[i - 1] != '\n'))
			continue;
		i += k;
		while (i < n && (head[i] == ' ' || head[i] == '\t'))
			i++;
		int64_t v = i < n && isdigit((unsigned char)head[i]) ? 0 : -1;
		for (; i < n && isdigit((unsigned char)head[i]); i++)
			v = v > INT64_C(1) << 50 ? v : v * 10 + (head[i] - '0');
		return v;
	}
	return -1;
}

/* Where a head ends: after its empty line; 0: it has not ended. */
static size_t head_end(const Wire *w)
{
	const char *s = w->in.s + w->at;
	size_t n = w->in.n - w->at;
	for (size_t i = 0; i + 3 < n; i++)
		if (!memcmp(s + i, "\r\n\r\n", 4))
			return i + 4;
	return 0;
}

static bool skip(Wire *w)
{
	size_t n = w->in.n - w->at < w->skip ? w->in.n - w->at : w->skip;
	w->skip -= n;
	drop(w, n);
	return w->skip == 0;
}

/* One message of what was read; NOTHING: more must be. */
static WireKind take(Wire *w, json_object **out)
{
	if (w->skip && !skip(w))
		return WIRE_NOTHING;
	size_t head = head_end(w), there = w->in.n - w->at;
	if (!head && there <= HEAD_MAX)
		return WIRE_NOTHING;
	int64_t length = head ? length_in(w->in.s + w->at, head) : -1;
	if (length < 0) {
		drop(w, head ? head : there);
		return WIRE_BAD;
	}
	if (length > MESSAGE_MAX) {
		drop(w, head);
		w->skip = (size_t)length;
		return WIRE_LONG;
	}
	if (there < head + (size_t)length)
		return WIRE_NOTHING;
	*out = json_read(w->in.s + w->at + head, (size_t)length, DEPTH_MAX);
	drop(w, head + (size_t)length);
	return *out ? WIRE_MESSAGE : WIRE_BAD;
}

WireKind wire_next(Wire *w, bool wait, json_object **out)
{
	for (;;) {
		WireKind kind = w->in.n > w->at ? take(w, out) : WIRE_NOTHING;
		if (kind != WIRE_NOTHING)
			return kind;
		compact(w);
		if (!read_more(w, wait))
			return w->ended ? WIRE_END : WIRE_NOTHING;
	}
}

bool wire_send(json_object *message)
{
	Buf text = {0};
	json_line(message, &text);
	bool ok = printf("Content-Length: %zu\r\n\r\n", text.n) > 0 &&
		  fwrite(text.s, 1, text.n, stdout) == text.n && fflush(stdout) == 0;
	buf_free(&text);
	return ok;
}
