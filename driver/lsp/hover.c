/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* hover.c - what is shown beside a word: of a name its type, and what was derived of it, as
 * explain has it; of the words of the language a line from their tables.
 *     sA
 *  -> sA : shared bf16 (128,64):(1,128)
 *     16384 bytes a stage, 4 stages, ... */
#include "driver/lsp/lsp.h"

#include <inttypes.h>
#include <string.h>

/* ------------------------------------------------------------------ derived */
/* The kernel that a name is of, if it was compiled; a kernel's own name is of it too. */
static const Facts *facts_at(const Know *k, const Named *n)
{
	for (int i = 0; i < k->facts.n; i++) {
		Loc loc = k->facts.at[i].k->loc;
		if (loc.begin == n->at.begin ||
		    (n->within.src >= 0 && n->within.begin <= loc.begin &&
		     loc.end <= n->within.end))
			return &k->facts.at[i];
	}
	return NULL;
}

static void say_copy(const FactCopy *c, Buf *out)
{
	buf_printf(out, "- %s%s: TMA box ", c->barrier ? "loaded from " : "stored to ", c->tensor);
	for (int i = 0; i < c->rank; i++)
		buf_printf(out, "%s%" PRId64, i ? " x " : "", c->box[i]);
	if (c->swizzle)
		buf_printf(out, ", swizzle of %" PRId64 " bytes", c->swizzle);
	buf_printf(out, ", %d a stage, by the role %s\n", c->copies, c->role);
}

static void say_buffer(const Facts *f, const char *name, Buf *out)
{
	const FactBuffer *b = facts_buffer(f, name);
	const FactCopy *load = facts_load(f, name);
	if (!b)
		return;
	buf_printf(out, "- layout `%s`\n", layout_str(f->k->ctx, b->type->layout));
	buf_printf(out,
		   "- %" PRId64 " bytes a stage, %" PRId64 " stages, at byte %" PRId64
		   " of shared memory\n",
		   b->bytes, b->slots, b->offset);
	if (load)
		say_copy(load, out);
}

static void say_pipeline(const Facts *f, const char *name, Buf *out)
{
	const FactRing *r = facts_ring(f, name);
	if (!r)
		return;
	buf_printf(out, "- %" PRId64 " stages of %" PRId64 " bytes: %s\n", r->slots, r->bytes,
		   facts_reason(f, REASON_STAGES, name, A_STAGES));
	for (int i = 0; i < f->barriers.n; i++)
		if (!strcmp(f->barriers.at[i].ring, name))
			buf_printf(out, "- barrier %s: %" PRId64 " arrivals a phase\n",
				   f->barriers.at[i].name, f->barriers.at[i].count);
}

static void say_mma(const Facts *f, const char *name, Buf *out)
{
	(void)name;
	EACH(const FactMma, m, f->mmas)
		buf_printf(out, "- %s, %d a stage for each %s, by the role %s\n", m->atom,
			   m->instructions, m->b_in_registers ? "warp" : "warpgroup", m->role);
	if (!f->mmas.n)
		return;
	buf_printf(out, "- %" PRId64 " registers a thread for the accumulators\n", f->acc_regs);
}

static void say_tensor(const Facts *f, const char *name, Buf *out)
{
	for (int i = 0; i < f->loads.n; i++)
		if (!strcmp(f->loads.at[i].tensor, name))
			buf_printf(out, "- fills %s by TMA, %" PRId64 " bytes a stage\n",
				   f->loads.at[i].buffer, f->loads.at[i].tile_bytes);
	for (int i = 0; i < f->stores.n; i++)
		if (!strcmp(f->stores.at[i].tensor, name))
			say_copy(&f->stores.at[i], out);
}

static void say_kernel(const Facts *f, const char *name, Buf *out)
{
	(void)name;
	buf_printf(out, "- %" PRId64 " threads, %" PRId64 " registers each at the start\n",
		   f->threads, f->launch_regs);
	buf_printf(out, "- %" PRId64 " of %" PRId64 " bytes of shared memory\n", f->smem,
		   f->smem_limit);
	buf_printf(out, "- CTAs: `%s`\n", f->grid);
	for (int i = 0; i < f->role.n; i++)
		buf_printf(out, "- role %s: %" PRId64 " warps, %" PRId64 " registers a thread\n",
			   f->role.at[i].name, f->role.at[i].warps, f->role.at[i].regs);
}

/* By what the frontend calls the value. */
static const struct {
	const char *kind;
	void (*say)(const Facts *f, const char *name, Buf *out);
} sayers[] = {
	{"a shared-memory buffer", say_buffer},
	{"a pipeline", say_pipeline},
	{"an mma", say_mma},
	{"an accumulator", say_mma},
	{"a tensor", say_tensor},
	{"a kernel", say_kernel},
};

/* The buffer that a tma copy fills. */
static const char *filled_by(const Know *k, const char *copy)
{
	const SaidVec *said = &k->explained.said;
	for (int i = 0; i < said->n; i++)
		if (said->at[i].kind == SAID_LOAD && !strcmp(said->at[i].name, copy))
			return said->at[i].value;
	return NULL;
}

static void say_derived(const Know *k, const Named *n, Buf *out)
{
	const Facts *f = facts_at(k, n);
	const char *buffer = strcmp(n->kind, "a tma copy") ? NULL : filled_by(k, n->name);
	for (size_t i = 0; f && i < COUNTOF(sayers); i++)
		if (!strcmp(sayers[i].kind, n->kind))
			sayers[i].say(f, n->name, out);
	if (f && buffer)
		say_buffer(f, buffer, out);
}

/* ------------------------------------------------------------------ words */
typedef struct {
	const char *text, *what;
} Word;
static const Word words[] = {
#define KEYWORD(id, text, what)      {text, what},
#define TEMPLATE(text, what)         {text, what},
#define INNER(id, text, what)        {text, what},
#define CALL(id, text, what)         {text, what},
#define SUM(text, form, every, what) {text, what},
#include "frontend/words.def"
};

static void say_code(const char *code, Buf *out)
{
	buf_printf(out, "```gemm\n%s\n```\n", code);
}

static bool say_clause(const char *word, Buf *out)
{
	for (int i = 0; i < CLAUSE_COUNT; i++) {
		if (strcmp(clause_rows[i].word, word) != 0)
			continue;
		say_code(clause_rows[i].example, out);
		if (clause_rows[i].form == CF_INT || clause_rows[i].form == CF_PAIR)
			buf_printf(out, "%" PRId64 " to %" PRId64 "\n", clause_rows[i].least,
				   clause_rows[i].most);
		return true;
	}
	return false;
}

static bool say_function(const char *word, Buf *out)
{
	for (int i = 0; i < LAYOUT_OP_COUNT; i++)
		if (!strcmp(layout_op_rows[i].name, word)) {
			buf_printf(out, "`%s%s`: %s\n", word, layout_op_rows[i].args,
				   layout_op_rows[i].doc);
			return true;
		}
	return false;
}

static bool say_elem(const char *word, Buf *out)
{
	for (int e = 0; e < EL_COUNT; e++)
		if (!strcmp(elem_rows[e].name, word) && elem_rows[e].spoken) {
			buf_printf(out, "`%s`: an element type of %d bits; `%s(x)` converts\n",
				   word, elem_rows[e].bits, word);
			return true;
		}
	return false;
}

static void say_word(const char *word, bool in_schedule, Buf *out)
{
	if (in_schedule && say_clause(word, out))
		return;
	if (say_function(word, out) || say_elem(word, out))
		return;
	for (size_t i = 0; i < COUNTOF(words); i++)
		if (!strcmp(words[i].text, word)) {
			buf_printf(out, "`%s`: %s\n", word, words[i].what);
			return;
		}
}

/* ------------------------------------------------------------------ all */
static void say_name(const Know *k, const Named *n, Buf *out)
{
	Buf line = {0};
	bool is_value = *n->text && strcmp(n->text, n->kind) != 0;
	buf_printf(&line, "%s%s%s", n->name, is_value ? " : " : "", is_value ? n->text : "");
	say_code(line.s, out);
	buf_printf(out, "%s\n", n->kind);
	buf_free(&line);
	Buf derived = {0};
	say_derived(k, n, &derived);
	if (derived.n)
		buf_printf(out, "\n%s", derived.s);
	buf_free(&derived);
}

void hover_text(const Know *k, const Buf *text, size_t offset, Buf *out)
{
	size_t begin, end;
	Buf word = {0}, clause = {0};
	const Named *n = k ? know_name(k, offset) : NULL;
	if (n) {
		say_name(k, &k->names.at[n->decl], out);
	} else if (text_word(text, offset, &begin, &end)) {
		TextPlace place = text_place(text, begin, &clause);
		buf_add(&word, text->s + begin, end - begin);
		if (place != IN_COMMENT)
			say_word(word.s, place == IN_SCHEDULE || place == IN_CLAUSE, out);
	}
	buf_free(&word);
	buf_free(&clause);
}
