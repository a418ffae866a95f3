/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ptxas_log.c - reads what ptxas -v says: registers of each kernel, and messages that become
 * diagnostics at the line of the source, found through the last .loc before the line of PTX.
 *     ptxas kernel.ptx, line 90; error : ...    ->   gemm.gemm:12: error[E0502]: ...
 *     ptxas info : (C7510) ... serialized ...   ->   error[E0505] */
#include "codegen/ptxas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	const Module *m;
	const CgOpt *opt;
	const Buf *ptx;
	Assembled *out;
	int kernel; /* that ptxas speaks of; -1 */
	int errors;
	DiagMsg *slow, *registers; /* the kernel's E0505 and E0506: what follows is a note */
} Reader;

enum { NOTES_MAX = 3 };

/* Slow code is no error where the user allows it, or asked for none of the optimisations. */
static bool slow_is_fine(const Reader *r)
{
	return r->opt->allow_spills || r->opt->opt_level == 0;
}

static const Kernel *kernel_at(const Reader *r)
{
	return r->kernel < 0 ? NULL : r->m->kernels.at[r->kernel];
}

static Loc loc_of(const Ctx *c, int src, int line, int col)
{
	const Src *s = src >= 0 ? ctx_src_at(c, src) : NULL;
	if (!s || line < 1 || line > s->lines.n)
		return NOLOC;
	int at = s->lines.at[line - 1] + (col > 0 ? col - 1 : 0);
	return (Loc){src, at, at};
}

/* The source line of a line of PTX. */
static Loc loc_of_ptx(const Reader *r, int ptx_line)
{
	int line = 0, col = 0, n = 1;
	if (r->m->kernels.n == 0)
		return NOLOC;
	for (const char *s = r->ptx->s; s && *s && n <= ptx_line; n++) {
		int l, k;
		if (sscanf(s, " .loc 1 %d %d", &l, &k) == 2 && l > 0) {
			line = l;
			col = k;
		}
		s = strchr(s, '\n');
		s = s ? s + 1 : NULL;
	}
	return loc_of(r->m->ctx, r->m->kernels.at[0]->loc.src, line, col);
}

static Loc loc_of_kernel(const Reader *r)
{
	const Kernel *k = kernel_at(r);
	return k ? k->loc : NOLOC;
}

static void set_kernel(Reader *r, const char *line)
{
	const char *at = strchr(line, '\'');
	size_t n = at ? strcspn(at + 1, "'") : 0;
	for (int i = 0; at && i < r->m->kernels.n; i++) {
		const char *name = r->m->kernels.at[i]->name;
		if (strlen(name) != n || memcmp(name, at + 1, n) != 0 || r->kernel == i)
			continue;
		r->kernel = i;
		r->slow = r->registers = NULL;
	}
}

static const char *kernel_name(const Reader *r)
{
	const Kernel *k = kernel_at(r);
	return k ? k->name : "the kernel";
}

/* Which value is in the way: the tile in the most registers. */
static void say_largest(const Reader *r, DiagMsg *d)
{
	const Kernel *k = kernel_at(r);
	const Op *most = NULL;
	for (const Op *op = k ? kernel_first(k) : NULL; op; op = op_next(op))
		if (op->kind == OP_FRAG && op->out->type->tv &&
		    (!most || type_regs(op->out->type) > type_regs(most->out->type)))
			most = op;
	if (most)
		diag_note(r->m->ctx, d, most->loc,
			  "'%.*s' takes the most, %d registers of a thread",
			  (int)strcspn(most->out->name, "."), most->out->name,
			  type_regs(most->out->type));
}

static void say_no_room(Reader *r, DiagMsg *d, bool fine)
{
	diag_remedy(r->m->ctx, d,
		    "a smaller subtile or tile, or more threads: warpgroups of the mma, or "
		    "threads of the schedule");
	say_largest(r, d);
	r->errors += !fine;
	r->out->spilled = fine ? -1 : r->kernel;
}

static void read_spills(Reader *r, int stack, int stores, int loads)
{
	Ctx *c = r->m->ctx;
	bool fine = slow_is_fine(r);
	if (stores || loads) {
		DiagMsg *d = diag(c, loc_of_kernel(r), fine ? D_W0502 : D_E0504,
				  "%s spills %d bytes of registers a thread", kernel_name(r),
				  stores > loads ? stores : loads);
		say_no_room(r, d, fine);
	} else if (stack && !fine) {
		diag(c, loc_of_kernel(r), D_E0507, "%s keeps %d bytes a thread in local memory",
		     kernel_name(r), stack);
		r->errors++;
	}
}

static void read_error(Reader *r, const char *line, const char *text)
{
	const char *at = strstr(line, ", line ");
	Loc loc = at && at < text ? loc_of_ptx(r, atoi(at + 7)) : NOLOC;
	text += strspn(text, " :");
	if (strstr(text, "(C7602)")) { /* an instruction alone has more operands */
		DiagMsg *d = diag(r->m->ctx, loc, D_E0504,
				  "%s does not fit into the registers of a thread: ptxas: %s",
				  kernel_name(r), text);
		say_no_room(r, d, false);
	} else if (!r->errors || !strstr(text, "aborted due to errors")) {
		diag(r->m->ctx, loc, D_E0502, "ptxas: %s", text);
		r->errors++;
	}
}

static int count_notes(const DiagMsg *d)
{
	int n = 0;
	for (const DiagMsg *at = d->notes; at; at = at->next)
		n++;
	return n;
}

/* Where products stay in flight, ptxas may have to move an accumulator under them. */
static void say_remedy(const Reader *r, DiagMsg *slow)
{
	const Kernel *k = kernel_at(r);
	if (k && attrs_int(&k->attrs, A_INFLIGHT, 0) > 0)
		diag_remedy(r->m->ctx, slow,
			    "'inflight 0' in the schedule waits for each group of products "
			    "before the next begins");
}

/* C7507 and C7508: setmaxnreg; other C75xx: wgmma in sequence. The first of a kernel is the
 * diagnostic, the next ones are its notes. */
static bool read_code(Reader *r, const char *line)
{
	const char *code = strstr(line, "(C75"), *at = code ? strstr(code, " line ") : NULL;
	if (!code)
		return false;
	bool regs = strstr(code, "setmaxnreg") != NULL, fine = slow_is_fine(r);
	const char *quoted = strstr(code, "function '");
	if (quoted)
		set_kernel(r, quoted);
	Loc loc = at ? loc_of_ptx(r, atoi(at + 6)) : loc_of_kernel(r);
	DiagMsg **first = regs ? &r->registers : &r->slow;
	if (!*first) {
		DiagId id = fine ? D_W0503 : regs ? D_E0506 : D_E0505;
		*first = diag(r->m->ctx, loc, id, "in %s ptxas reports %s", kernel_name(r), code);
		if (!regs)
			say_remedy(r, *first);
	} else if (count_notes(*first) < NOTES_MAX)
		diag_note(r->m->ctx, *first, loc, "%s", code);
	r->errors += !fine;
	return true;
}

static void read_line(Reader *r, const char *line)
{
	int a, b, c;
	const char *used = strstr(line, "Used "), *at;
	if (read_code(r, line))
		return;
	if (strstr(line, "Compiling entry function"))
		set_kernel(r, line);
	if (sscanf(line, " %d bytes stack frame, %d bytes spill stores, %d bytes spill loads", &a,
		   &b, &c) == 3)
		read_spills(r, a, b, c);
	if (used && r->kernel >= 0 && sscanf(used, "Used %d registers", &a) == 1)
		r->out->regs[r->kernel] = a;
	if ((at = strstr(line, "error   :")) || (at = strstr(line, "fatal   :")))
		read_error(r, line, at + 5);
	else if ((at = strstr(line, "warning :")))
		diag(r->m->ctx, NOLOC, D_W0501, "ptxas: %s", at + 10);
}

bool ptxas_read(const Module *m, const CgOpt *opt, const Buf *ptx, const Buf *said, Assembled *out)
{
	Reader r = {.m = m, .opt = opt, .ptx = ptx, .out = out};
	r.kernel = m->kernels.n == 1 ? 0 : -1;
	char *text = arena_strndup(ctx_arena(m->ctx), said->s ? said->s : "", said->n);
	while (*text) {
		size_t n = strcspn(text, "\n");
		bool last = text[n] == '\0';
		text[n] = '\0';
		read_line(&r, text);
		text += n + !last;
	}
	return r.errors == 0;
}
