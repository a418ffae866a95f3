/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mutate - changes one thing in a kernel's synchronisation, for each thing, and asks the
 * verifier.
 *     mutate [-v] [-a] [-e N] [-w DIR N] [-p SEED SECONDS] KERNEL.ir...
 * -a: these are all kernels; every row below is met; -e: one mutant in N, not all; -w: one in N of
 * those that are proved is written to DIR, for simulate.c; -p: instead of all, random mutants with
 * two changes each, for so long.
 * Every sync op, load and store is dropped, done twice, moved up and down by one statement;
 * every count, byte number, slot, parity and barrier number is changed by one, slots and parities
 * without the modulo too; every count of arrivals is made 0, every mask and rank of a cluster
 * doubled or made 0; accumulators in flight are read by way of a part; one warp of four goes past
 * what its warpgroup does; boxes are stored from beyond their slot. A mutant is refuted, or it is
 * harmless for a reason in the table below; anything else fails. Prints a line for each kind:
 *     drop | mbar.wait | 14 refuted | 0 harmless |
 */
#include "verify/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum {
	M_DROP,
	M_DOUBLE,
	M_UP,
	M_DOWN,
	M_SLOT,
	M_PARITY,
	M_NUMBER_MORE,
	M_NUMBER_LESS,
	M_BARRIER,
	M_MASK,
	M_RANK,
	M_NEXT,   /* slot + 1, with no modulo */
	M_BEFORE, /* slot - 1 */
	M_PLAIN,  /* the slot without its modulo */
	M_LATER,  /* parity + 1, with no modulo */
	M_FOUR,   /* (parity + 1) % 4 */
	M_NEVER,  /* parity + 2 */
	M_NONE,   /* count=0 */
	M_PART,   /* a part of an accumulator is read in flight */
	M_SOME,   /* by three warps of four */
	M_BYTE,   /* a box from after its slot */
	M_ALWAYS, /* whatever trip or tile it is */
	M_COUNT
} Mutation;
static const char *const names[M_COUNT] = {"drop",       "double",      "up",         "down",
					   "slot",       "parity",      "more",       "less",
					   "barrier",    "mask",        "rank",       "slot + 1",
					   "slot - 1",   "slot, plain", "parity + 1", "parity % 4",
					   "parity + 2", "count 0",     "part",       "some warps",
					   "byte",       "always"};

/* Mutants that the verifier proves, and why that is right. `next` is the statement that a move goes
 * past, or what has another slot, or the file where an op is dropped; NULL: any. */
static const struct {
	Mutation how;
	const char *op, *next, *why;
} harmless[] = {
#include "harmless.def"
};

enum { HARMLESS = COUNTOF(harmless) };
static int met[HARMLESS];

typedef struct {
	const char *op;
	Mutation how;
	int refuted, harmless;
} Row;
static Row rows[512];
static int nrows, nmutants, nfailed;
static bool verbose;
static int every = 1, turn; /* which mutants are judged */
static const char *written_to;
static int written_each, proved;

/* ------------------------------------------------------------------ places */
static bool is_candidate(const Op *op)
{
	int fx = op_rows[op->kind].effects;
	return fx & (FX_SYNC | FX_DONE_MBAR | FX_DONE_BULK);
}

static Op *candidate(const Kernel *k, int n)
{
	for (Op *op = kernel_first(k); op; op = op_next(op))
		if (is_candidate(op) && n-- == 0)
			return op;
	return NULL;
}

/* The statement that holds op alone, if and elect included. */
static Op *statement(Op *op)
{
	for (;;) {
		Op *up = op_parent(op);
		if (!up || op->prev || op->next || (up->kind != OP_IF && up->kind != OP_ELECT))
			return op;
		op = up;
	}
}

static Op *copy_of(Kernel *k, const Op *op)
{
	Op *o = op_new(k, op->kind, op->loc);
	for (int i = 0; i < op->nin; i++)
		op_in(k, o, op->in[i].val, op->in[i].at);
	for (int i = 0; i < op->nix; i++)
		op_ix(k, o, op->ix[i]);
	for (int i = 0; i < op->attrs.n; i++)
		attrs_set(k->ctx, &o->attrs, op->attrs.at[i]);
	return o;
}

/* ------------------------------------------------------------------ changes */
static bool move(Op *op, bool up, const char **past)
{
	Op *s = statement(op), *other = up ? s->prev : s->next;
	if (!other || op_rows[other->kind].flags & (OPF_DECL | OPF_SYMS | OPF_NAME) || other->out)
		return false;
	*past = op_rows[other->kind].name;
	op_remove(s);
	if (up)
		op_insert_before(other, s);
	else
		op_insert_after(other, s);
	return true;
}

/* The next slot of the barrier, or of the buffer where there is none. */
static bool change_slot(Kernel *k, Op *op, const char **past)
{
	for (int i = op->nin - 1; i >= 0; i--) {
		const Val *v = op->in[i].val;
		int64_t slots = v->def ? attrs_int(&v->def->attrs, A_SLOTS, 0) : 0;
		if (!op->in[i].at || slots < 2 || op->kind == OP_MBAR_INIT)
			continue;
		const Ix *next = ix_add(k->ctx, op->in[i].at, ix_const(k->ctx, 1));
		op->in[i].at = ix_mod(k->ctx, next, ix_const(k->ctx, slots));
		*past = v->name;
		return true;
	}
	return false;
}

/* To a slot that there may not be: by so many, or as it is without its modulo. */
static bool leave_ring(Kernel *k, Op *op, Mutation how, const char **past)
{
	for (int i = op->nin - 1; i >= 0; i--) {
		const Ix **at = &op->in[i].at;
		if (!*at || op->in[i].val->type->space == SP_REG || op->kind == OP_MBAR_INIT)
			continue;
		if (how == M_PLAIN && (*at)->kind != IX_MOD)
			return false;
		*past = op->in[i].val->name;
		*at = how == M_PLAIN
			      ? (*at)->a
			      : ix_add(k->ctx, *at, ix_const(k->ctx, how == M_NEXT ? 1 : -1));
		return true;
	}
	return false;
}

static bool leave_parity(Kernel *k, Op *op, Mutation how)
{
	Ctx *c = k->ctx;
	if (op->kind != OP_MBAR_WAIT)
		return false;
	op->ix[0] = ix_add(c, op->ix[0], ix_const(c, how == M_NEVER ? 2 : 1));
	if (how == M_FOUR)
		op->ix[0] = ix_mod(c, op->ix[0], ix_const(c, 4));
	return true;
}

static bool count_none(Kernel *k, Op *op)
{
	if (op->kind != OP_MBAR_ARRIVE && op->kind != OP_MBAR_INIT)
		return false;
	op_int(k, op, A_COUNT, 0);
	return true;
}

/* After a wgmma's commit, by way of a view that is made where the accumulator is. */
static bool read_part(Kernel *k, Op *op)
{
	Op *mma = op;
	while (mma && mma->kind != OP_WGMMA)
		mma = mma->prev;
	if (op->kind != OP_WGMMA_COMMIT || !mma)
		return false;
	Val *acc = mma->in[0].val;
	Op *part = op_new(k, OP_PART, op->loc), *read = op_new(k, OP_CVT, op->loc);
	op_in(k, part, acc, ix_const(k->ctx, 0));
	op_in(k, read, op_result(k, part, "part", acc->type), NULL);
	op_result(k, read, "early", type_frag(k->ctx, EL_BF16, acc->type->layout, acc->type->tv));
	op_insert_after(acc->def, part);
	op_insert_after(op, read);
	return true;
}

static bool leave_warp_out(Kernel *k, Op *op)
{
	Ctx *c = k->ctx;
	Op *some = op_new(k, OP_IF, op->loc);
	const Ix *warp = ix_mod(c, ix_sym(c, ctx_str(c, "warp")), ix_const(c, 4));
	if (op->kind != OP_SETMAXNREG && op->kind != OP_WGMMA_COMMIT && op->kind != OP_WGMMA_WAIT &&
	    op->kind != OP_WGMMA_FENCE && op->kind != OP_FENCE_ASYNC)
		return false;
	for (const Op *up = op_parent(op); up; up = op_parent(up))
		for (int i = 0; i < up->nix && up->kind == OP_IF; i++)
			if (ix_uses(up->ix[i], warp->a->name))
				return false;
	op_ix(k, some, ix_new(c, IX_LT, warp, ix_const(c, 3)));
	op_insert_before(op, some);
	op_remove(op);
	block_append(op_body(k, some), op);
	return true;
}

static void note_thread(void *user, const char *name)
{
	static const char *const thread[] = {"tid", "lane", "warp", "rank"};
	for (size_t i = 0; i < COUNTOF(thread); i++)
		*(bool *)user |= strcmp(name, thread[i]) == 0;
}

/* Who comes to a named barrier on a condition that is not about threads comes without it. */
static bool leave_condition(Kernel *k, Op *op)
{
	bool threads = false;
	Op *some = op_parent(op);
	if (op->kind != OP_BAR_SYNC && op->kind != OP_BAR_ARRIVE)
		return false;
	if (!some || some->kind != OP_IF || some->nix != 1)
		return false;
	ix_names(some->ix[0], note_thread, &threads);
	if (!threads)
		some->ix[0] = ix_const(k->ctx, 1);
	return !threads;
}

static bool leave_slot(Kernel *k, Op *op)
{
	Ctx *c = k->ctx;
	if (op->kind != OP_TMA_STORE)
		return false;
	const Ix *warps = ix_add(c, ix_sym(c, ctx_str(c, "warp")), ix_const(c, 1));
	op->ix[0] = ix_add(c, op->ix[0],
			   ix_mul(c, warps, ix_const(c, type_slot_bytes(op->in[0].val->type))));
	return true;
}

static bool change_number(Kernel *k, Op *op, int by)
{
	static const AttrId ids[] = {A_COUNT, A_BYTES, A_N, A_THREADS, A_REGS};
	for (size_t i = 0; i < COUNTOF(ids); i++) {
		int64_t step = ids[i] == A_THREADS ? 32 : ids[i] == A_REGS ? 8 : 1;
		const Attr *a = attrs_get(&op->attrs, ids[i]);
		if (!a || op->kind == OP_SETMAXNREG)
			continue;
		if (a->i[0] + by * step < 0)
			return false;
		op_int(k, op, ids[i], a->i[0] + by * step);
		return true;
	}
	return false;
}

static bool change_index(Kernel *k, Op *op, Mutation how)
{
	Ctx *c = k->ctx;
	if (!op->nix || (how == M_PARITY) != (op->kind == OP_MBAR_WAIT))
		return false;
	if (how == M_BARRIER && op->kind != OP_BAR_SYNC && op->kind != OP_BAR_ARRIVE)
		return false;
	op->ix[0] = ix_add(c, op->ix[0], ix_const(c, 1));
	if (how == M_PARITY)
		op->ix[0] = ix_mod(c, op->ix[0], ix_const(c, 2));
	return true;
}

/* Into the CTAs after those that are meant; at rank 0's barrier. */
static bool change_cluster(Kernel *k, Op *op, Mutation how)
{
	Ctx *c = k->ctx;
	bool mask = how == M_MASK;
	if (!op->nix || (mask ? !attrs_int(&op->attrs, A_SHARED, 0) : op->kind != OP_MBAR_ARRIVE))
		return false;
	const Ix **x = &op->ix[op->nix - 1];
	*x = ix_mul(c, *x, ix_const(c, mask ? 2 : 0));
	return true;
}

/* "a after b, n threads": a wait for a, the wait before it for b. */
static const char *wait_text(Kernel *k, const Op *wait)
{
	const char *last = "nothing";
	for (const Op *op = kernel_first(k); op != wait; op = op_next(op))
		if (op->kind == OP_MBAR_WAIT)
			last = op->in[0].val->name;
	return ctx_strf(k->ctx, "%s after %s, %d threads", wait->in[0].val->name, last,
			(int)attrs_int(&k->attrs, A_BLOCK, 0));
}

static bool mutate(Kernel *k, Op *op, Mutation how, const char **past)
{
	switch (how) {
	case M_DROP:
		*past = op->kind == OP_MBAR_WAIT ? wait_text(k, op) : NULL;
		op_remove(op);
		return true;
	case M_DOUBLE:
		op_insert_after(op, copy_of(k, op));
		return true;
	case M_UP:
	case M_DOWN:
		return move(op, how == M_UP, past);
	case M_SLOT:
		return change_slot(k, op, past);
	case M_NUMBER_MORE:
	case M_NUMBER_LESS:
		return change_number(k, op, how == M_NUMBER_MORE ? 1 : -1);
	case M_MASK:
	case M_RANK:
		return change_cluster(k, op, how);
	case M_NEXT:
	case M_BEFORE:
	case M_PLAIN:
		return leave_ring(k, op, how, past);
	case M_LATER:
	case M_FOUR:
	case M_NEVER:
		return leave_parity(k, op, how);
	case M_NONE:
		return count_none(k, op);
	case M_PART:
		return read_part(k, op);
	case M_SOME:
		return leave_warp_out(k, op);
	case M_BYTE:
		return leave_slot(k, op);
	case M_ALWAYS:
		return leave_condition(k, op);
	default:
		return change_index(k, op, how);
	}
}

/* ------------------------------------------------------------------ verdicts */
static bool is_about(int i, Mutation how, const char *op)
{
	return harmless[i].how == how && strcmp(harmless[i].op, op) == 0;
}

static bool is_harmless(Mutation how, const char *op, const char *past)
{
	for (int i = 0; i < HARMLESS; i++)
		if (is_about(i, how, op) &&
		    (!harmless[i].next || (past && strcmp(harmless[i].next, past) == 0)))
			return ++met[i];
	return false;
}

static Row *row_of(const char *op, Mutation how)
{
	for (int i = 0; i < nrows; i++)
		if (rows[i].how == how && strcmp(rows[i].op, op) == 0)
			return &rows[i];
	rows[nrows] = (Row){.op = op, .how = how};
	return &rows[nrows++];
}

static void write_mutant(const Kernel *k)
{
	char name[4096];
	Buf b = {0};
	if (!written_to || proved++ % written_each)
		return;
	snprintf(name, sizeof name, "%s/%d.ir", written_to, proved);
	FILE *f = fopen(name, "w");
	kernel_print(k, &b);
	if (!f || fwrite(b.s, 1, b.n, f) != b.n)
		panic("%s cannot be written", name);
	fclose(f);
	buf_free(&b);
}

static void judge(const char *file, const char *text, const char *op, Mutation how,
		  const char *past, const CheckResult *r)
{
	Row *row = row_of(op, how);
	bool right = r->verdict == CHECK_PROVED && is_harmless(how, op, past);
	nmutants++;
	row->refuted += r->verdict == CHECK_REFUTED;
	row->harmless += right;
	if (verbose)
		printf("%s: %s %s %s: %s\n", file, names[how], text, past ? past : "",
		       r->why ? r->why : "proved");
	if (right || r->verdict == CHECK_REFUTED)
		return;
	nfailed++;
	printf("FAILED %s: %s '%s'%s%s: %s\n", file, names[how], text, past ? " past or of " : "",
	       past ? past : "", r->verdict == CHECK_PROVED ? "proved" : r->why);
}

typedef struct {
	const char *file, *text;
	size_t size;
	Ctx *c;
	Kernel *k; /* as the text has it; NULL: it has none */
} Source;

static void read_anew(Source *s)
{
	ctx_free(s->c);
	s->c = ctx_new();
	Module *m = module_parse(s->c, ctx_src(s->c, s->file, s->text, s->size));
	s->k = m && m->kernels.n ? m->kernels.at[0] : NULL;
}

/* As it stands it is proved: of another kernel mutants say nothing. */
static void judge_whole(const Source *s)
{
	CheckResult r = {.verdict = CHECK_UNKNOWN, .why = "no kernel"};
	if (s->k)
		check_kernel(s->k, NULL, &r);
	nfailed += r.verdict != CHECK_PROVED;
	if (r.verdict != CHECK_PROVED)
		printf("FAILED %s: as it is: %s\n", s->file, r.why);
}

/* One mutant; false when there is no such op. A change that there is not leaves all as it was. */
static bool one(Source *s, int n, Mutation how)
{
	Op *op = s->k ? candidate(s->k, n) : NULL;
	const char *past = NULL;
	if (!op)
		return false;
	if (turn++ % every)
		return true;
	const char *name = op_rows[op->kind].name;
	Buf line = {0};
	CheckResult r;
	op_print(op, &line);
	if (mutate(s->k, op, how, &past)) {
		check_kernel(s->k, NULL, &r);
		judge(s->file, line.s, name, how, past, &r);
		if (r.verdict == CHECK_PROVED)
			write_mutant(s->k);
		read_anew(s);
	}
	buf_free(&line);
	return true;
}

static bool read_source(Source *s, const char *file)
{
	static char text[1 << 20];
	FILE *f = fopen(file, "r");
	if (!f)
		return false;
	*s = (Source){.file = file, .text = text, .size = fread(text, 1, sizeof text - 1, f)};
	fclose(f);
	text[s->size] = 0;
	read_anew(s);
	return true;
}

static bool run_file(const char *file)
{
	Source s;
	if (!read_source(&s, file))
		return false;
	judge_whole(&s);
	read_anew(&s);
	for (int how = 0; how < M_COUNT; how++)
		for (int n = 0; one(&s, n, (Mutation)how); n++)
			;
	ctx_free(s.c);
	return true;
}

/* ------------------------------------------------------------------ two changes */
static int below(uint64_t *r, int n)
{
	*r = *r * 6364136223846793005u + 1442695040888963407u;
	return (int)((*r >> 33) % (uint64_t)n);
}

static void change_twice(Kernel *k, uint64_t *random)
{
	const char *past;
	for (int changed = 0, tries = 0; changed < 2 && tries < 100; tries++) {
		int n = 0;
		while (candidate(k, n))
			n++;
		if (n)
			changed += mutate(k, candidate(k, below(random, n)),
					  (Mutation)below(random, M_COUNT), &past);
	}
}

/* The kernels by turns. */
static bool run_pairs(char **files, int n, uint64_t seed, int seconds)
{
	time_t end = time(NULL) + seconds;
	uint64_t random = seed;
	for (int i = 0; time(NULL) < end; i++) {
		Source s;
		CheckResult r;
		const char *why;
		if (!n || !read_source(&s, files[i % n]))
			return false;
		change_twice(s.k, &random);
		nmutants += kernel_verify(s.k, &why);
		if (kernel_verify(s.k, &why) && check_kernel(s.k, NULL, &r) == CHECK_PROVED)
			write_mutant(s.k);
		ctx_free(s.c);
	}
	return true;
}

/* ------------------------------------------------------------------ the table */
/* How often the reasons that read like row i's were met by what i is about. */
static int times(int i, bool *first)
{
	int n = 0;
	*first = true;
	for (int j = 0; j < HARMLESS; j++) {
		if (!is_about(j, harmless[i].how, harmless[i].op) ||
		    strcmp(harmless[j].why, harmless[i].why) != 0)
			continue;
		*first &= j >= i || !met[j];
		n += met[j];
	}
	return n;
}

static void print_row(const Row *row)
{
	const char *before = "";
	printf("| %s | `%s` | %d | %d | ", names[row->how], row->op, row->refuted, row->harmless);
	for (int i = 0; i < HARMLESS; i++) {
		bool first;
		int n = times(i, &first);
		if (!met[i] || !first || !is_about(i, row->how, row->op))
			continue;
		if (n < row->harmless)
			printf("%s%d: %s", before, n, harmless[i].why);
		else
			printf("%s", harmless[i].why);
		before = "; ";
	}
	printf(" |\n");
}

/* A reason that no mutant needs is none. */
static void judge_reasons(void)
{
	for (int i = 0; i < HARMLESS; i++) {
		nfailed += !met[i];
		if (!met[i])
			printf("FAILED: no mutant is harmless as '%s %s': %s\n",
			       names[harmless[i].how], harmless[i].op, harmless[i].why);
	}
}

int main(int argc, char **argv)
{
	bool all = false;
	for (int i = 1; i < argc && every > 0; i++) {
		if (strcmp(argv[i], "-v") == 0) {
			verbose = true;
		} else if (strcmp(argv[i], "-a") == 0) {
			all = true;
		} else if (strcmp(argv[i], "-e") == 0 && i + 1 < argc) {
			every = atoi(argv[++i]);
		} else if (strcmp(argv[i], "-w") == 0 && i + 2 < argc) {
			written_to = argv[++i];
			written_each = atoi(argv[++i]);
		} else if (strcmp(argv[i], "-p") == 0 && i + 3 < argc) {
			bool ran = run_pairs(argv + i + 3, argc - i - 3,
					     strtoull(argv[i + 1], NULL, 10), atoi(argv[i + 2]));
			printf("%d mutants, %d proved\n", nmutants, proved);
			return !ran;
		} else if (!run_file(argv[i])) {
			printf("%s cannot be read\n", argv[i]);
			return 1;
		}
	}
	if (all)
		judge_reasons();
	for (int i = 0; i < nrows; i++)
		print_row(&rows[i]);
	printf("%d mutants, %d failed\n", nmutants, nfailed);
	return nfailed || !nmutants;
}
