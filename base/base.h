/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* base.h - what every room stands on: arenas, growing buffers, interned strings, places in source
 * text and diagnostics. Nothing here knows of kernels. No globals: a Ctx owns all of one
 * compilation. */
#ifndef DSL_BASE_H
#define DSL_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTOF(a)        (sizeof(a) / sizeof(*(a)))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

typedef struct Arena Arena;
typedef struct Ctx Ctx;
typedef struct Src Src;

/* arena.c: memory that is released as a whole; zeroed; never NULL (panics when there is none) */
Arena *arena_new(void);
void arena_free(Arena *a);
void arena_reset(Arena *a);
void *arena_alloc(Arena *a, size_t size);
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *fmt, ...) PRINTF(2, 3);
size_t arena_bytes(const Arena *a); /* handed out since arena_new or the last reset */
/* What is handed out after a mark goes back with arena_release; marks nest. */
typedef struct {
	void *chunk;
	size_t used, handed;
} ArenaMark;
ArenaMark arena_mark(const Arena *a);
void arena_release(Arena *a, ArenaMark mark);

#define NEW(arena, T)     ((T *)arena_alloc(arena, sizeof(T)))
#define NEWN(arena, T, n) ((T *)arena_alloc(arena, sizeof(T) * (size_t)(n)))

/* A growing array in an arena: struct { T *at; int n, cap; }. Old storage is left to the arena. */
#define VEC(T)              \
	struct {            \
		T *at;      \
		int n, cap; \
	}
#define vec_push(arena, v, x)                                                                \
	((v)->n == (v)->cap ? vec_grow(arena, (void **)&(v)->at, &(v)->cap, sizeof *(v)->at) \
			    : (void)0,                                                       \
	 (v)->at[(v)->n++] = (x))
void vec_grow(Arena *a, void **at, int *cap, size_t size);
/* Each element of a VEC that stays as long as it is; of so many from the first. */
#define EACH(T, e, v) EACH_OF(T, e, (v).at, (v).n)
#define EACH_OF(T, e, first, count) \
	for (T *e = (first), *e##_end = (count) ? e + (count) : e; e != e##_end; e++)

/* buf.c: text that grows on the heap; free with buf_free; s is always NUL-terminated once
 * written */
typedef struct {
	char *s;
	size_t n, cap;
} Buf;
void buf_printf(Buf *b, const char *fmt, ...) PRINTF(2, 3);
void buf_vprintf(Buf *b, const char *fmt, va_list ap) PRINTF(2, 0);
void buf_add(Buf *b, const char *s, size_t n);
void buf_free(Buf *b);

/* panic.c: our own fault; prints to stderr and aborts, or goes back to the rescue that is on. User
 * mistakes never come here. */
_Noreturn void panic_at(const char *file, int line, const char *fmt, ...) PRINTF(3, 4);
#define panic(...) panic_at(__FILE__, __LINE__, __VA_ARGS__)

/* Does the work; false where it panicked, with where and why. What was made in it and is held (a
 * Buf's text, an arena) is given back then; what was there before stays, and what that got since: a
 * Ctx with its messages. For a library, which must not end its host. */
bool rescue(void (*work)(void *user), void *user, char *why, size_t size);
/* The first member of what a panic must give back. A hold is ended before its owner is freed. */
typedef struct Held Held;
struct Held {
	Held *next, **from;
	void (*drop)(Held *);
};
void hold(Held *h, void (*drop)(Held *));
void hold_end(Held *h);
/* heap.c: malloc for what is held; zeroed when new; never NULL */
void *heap_alloc(size_t size);
void *heap_realloc(void *p, size_t size);
void heap_free(void *p);

/* A place: bytes begin..end of a source; src < 0 is "no place". */
typedef struct {
	int src;
	int begin, end;
} Loc;
#define NOLOC ((Loc){-1, 0, 0})
Loc loc_join(Loc a, Loc b); /* from the start of a to the end of b */

/* ctx.c: one compilation */
Ctx *ctx_new(void);
void ctx_free(Ctx *c);
Arena *ctx_arena(Ctx *c);
/* Interned: two equal strings are one pointer. */
const char *ctx_str(Ctx *c, const char *s);
const char *ctx_strn(Ctx *c, const char *s, size_t n);
const char *ctx_strf(Ctx *c, const char *fmt, ...) PRINTF(2, 3);
const char *ctx_vstrf(Ctx *c, const char *fmt, va_list ap) PRINTF(2, 0);
const char *ctx_buf(Ctx *c, Buf *b); /* its text; frees b */

/* src.c: a source text; offsets to line and column (both from 1, columns in bytes) */
struct Src {
	const char *name, *text;
	size_t size;
	VEC(int) lines; /* offset of each line's first byte */
};
int ctx_src(Ctx *c, const char *name, const char *text, size_t size); /* copies; gives its number */
const Src *ctx_src_at(const Ctx *c, int src);
void loc_line(const Ctx *c, Loc loc, int *line, int *col);

/* diag.c: collected, in order; rendered by the driver through diag_text or diag_json */
typedef enum { SEV_NOTE, SEV_WARNING, SEV_ERROR, SEV_COUNT } Severity;
typedef enum {
#define DIAG(id, sev, title, help) D_##id,
#include "diags.def"
	D_COUNT
} DiagId;
typedef struct {
	const char *code; /* "E0201", "W0601" */
	Severity severity;
	const char *title, *help; /* one line each; help is what --explain prints */
} DiagRow;
extern const DiagRow diag_rows[D_COUNT];

/* Bytes of a source to be replaced; none: an insertion. */
typedef struct DiagEdit {
	Loc loc;
	const char *text;
	struct DiagEdit *next;
} DiagEdit;

typedef struct DiagMsg {
	DiagId id;
	Severity severity;
	Loc loc;
	const char *text;
	const char *remedy; /* may be NULL */
	DiagEdit *fix; /* what does the remedy, in the order of the text; NULL: a person must */
	struct DiagMsg *notes; /* attached, in order */
	struct DiagMsg *next;
} DiagMsg;

/* What becomes of a message: its row says, or the user (-Werror=, -Wno-). Errors stay errors. */
typedef enum { DL_ROW, DL_OFF, DL_WARNING, DL_ERROR } DiagLevel;
void diag_level(Ctx *c, DiagId id, DiagLevel level);

/* Reports; the severity is the row's unless diag_level changed it. Returns the message, for
 * diag_remedy and diag_note. A line break in fmt ends the cause; the remedy follows it, "" if there
 * is none:
 *     diag(c, loc, D_E0213, "'%s' is an input\ndeclare it out", name); */
DiagMsg *diag(Ctx *c, Loc loc, DiagId id, const char *fmt, ...) PRINTF(4, 5);
DiagMsg *vdiag(Ctx *c, Loc loc, DiagId id, const char *fmt, va_list ap) PRINTF(4, 0);
DiagMsg *diag_remedy(Ctx *c, DiagMsg *m, const char *fmt, ...) PRINTF(3, 4); /* "help: ..." */
/* An edit that, with the others of the message, does what its remedy says; without a place in a
 * file, nothing. */
DiagMsg *diag_fix(Ctx *c, DiagMsg *m, Loc loc, const char *fmt, ...) PRINTF(4, 5);
DiagMsg *diag_note(Ctx *c, DiagMsg *m, Loc loc, const char *fmt, ...) PRINTF(4, 5);
int diag_errors(const Ctx *c);
const DiagMsg *diag_first(const Ctx *c);
void diag_forget(Ctx *c);                           /* all that was said */
void diag_text(const Ctx *c, Buf *out, bool color); /* all of them, with excerpts and carets */
void diag_json(const Ctx *c, Buf *out);             /* one JSON object a line */

double now_seconds(void); /* clock.c: since some moment; for differences */

#endif
