/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* decl.c - declarations: const (with -D from outside), let, layout, smem, tma, copy, pipeline.
 * Buffers and rings are collected and built where the grid begins:
 *     smem sA : bf16 (128,64); pipeline ab(4) { sA }
 *  -> ring ab slots=4
 *     %sA = shared ring=ab auto=1 : shared bf16 (128,64):(1,128) */
#include "frontend/sema.h"
#include "ir/schedule.h"

#include <inttypes.h>
#include <string.h>

/* ------------------------------------------------------------------ const */
static Define *define_named(Sema *s, const char *name)
{
	for (int i = s->opt->ndefines; i-- > 0;)
		if (!strcmp(s->opt->defines[i].name, name))
			return &s->opt->defines[i];
	return NULL;
}

Define *define_of(Sema *s, const char *name)
{
	const char *own = s->kernel ? ctx_strf(s->ctx, "%s.%s", s->kernel->name, name) : name;
	Define *one = define_named(s, own), *all = define_named(s, name);
	if (one && all) {
		all->used = true;
		one->under = one->under ? one->under : all->value;
	}
	return one ? one : all;
}

/* What is given outside is read as a source of its own, so that messages point at it. */
const Node *define_read(Sema *s, Define *d, const char *end, ParseText *parse)
{
	const char *text = ctx_strf(s->ctx, "%s%s", d->value ? d->value : "1", end);
	d->used = true;
	int src = ctx_src(s->ctx, ctx_strf(s->ctx, "<-D%s>", d->name), text, strlen(text));
	return parse(s->ctx, s->arena, src);
}

/* A number is written exactly, and so that it is not read again as an integer. */
const char *const_text(Sema *s, const Value *v)
{
	const char *text = ctx_strf(s->ctx, "%.17g", v->real);
	if (v->kind != V_REAL)
		return value_str(s, v);
	return strpbrk(text, ".e") ? text : ctx_strf(s->ctx, "%s.0", text);
}

bool is_of_const(const Value *v)
{
	return v->kind == V_REAL || v->kind == V_WORD || v->kind == V_BAD ||
	       (v->kind == V_INT && ix_is_const(v->ix, NULL));
}

static Value const_value(Sema *s, const Node *n, const Node *e)
{
	if (e && node_calls(e, W_PICK))
		return pick_const(s, n, e);
	Value v = e ? eval(s, e) : value_bad();
	if (is_of_const(&v))
		return v;
	return rejected(s, v.loc, D_E0203,
			"a const is a number or a word of the schedule, this is %s\n"
			"let names anything",
			v.kind == V_INT ? "known only at run time" : value_text(&v));
}

Value bind_const(Sema *s, const Node *n)
{
	Define *d = define_of(s, n->name);
	Value v = const_value(s, n, d ? define_read(s, d, "", parse_expr) : n->kids.at[0]);
	if (d && node_calls(n->kids.at[0], W_PICK)) /* what depends on it is told, closed or not */
		v.pick = n;
	said(s, SAID_CONST, n->name, n->kids.at[0]->loc,
	     d || v.pick == n ? const_text(s, &v) : NULL);
	return v;
}

/* ------------------------------------------------------------------ let, layout, mma */
Value bind_let(Sema *s, const Node *n)
{
	Value v = eval(s, n->kids.at[0]);
	if (v.kind == V_ACC)
		return rejected(s, v.loc, D_E0203,
				"an accumulator has a name already and still changes\n"
				"name an expression of it, after the loop");
	v.coord = NULL;
	return v;
}

Value bind_layout(Sema *s, const Node *n)
{
	Value v = eval(s, n->kids.at[0]);
	if (v.kind == V_BAD || v.kind == V_SWIZZLE)
		return v;
	const Layout *l = value_layout(s, &v);
	v = value_of(l ? V_LAYOUT : V_BAD);
	v.layout = l;
	return v;
}

Value bind_mma(Sema *s, const Node *n)
{
	const Node *e = n->kids.at[0];
	Value v = eval(s, e);
	if (s->mma_loc.src < 0)
		s->mma_loc = s->stmt;
	if (!want(s, &v, V_MMA, "the value"))
		return value_bad();
	if (v.mma->open)
		said(s, SAID_OPEN, n->name, v.mma->loc, NULL);
	else
		said(s, SAID_MMA, n->name, e->loc,
		     e->kind == N_BINARY ? NULL : mma_arrangement(s, v.mma));
	return v;
}

/* ------------------------------------------------------------------ smem */
enum { BUFFER_MAX = 1 << 24 };

static bool buffer_layout_fits(Sema *s, const Node *at, const Layout *l)
{
	int64_t cosize;
	if (!layout_in_memory(s, l, at->loc))
		return false;
	if (!layout_is_static(l))
		return reject(s, at->loc, D_E0203,
			      "the layout of a buffer is known only at run time");
	if (layout_rank(l) != BUFFER_RANK)
		return reject(s, at->loc, D_E0301, "not built yet: buffers of rank %d; rank %d is",
			      layout_rank(l), BUFFER_RANK);
	if (!ix_is_const(layout_cosize(s->ctx, l), &cosize) || cosize > BUFFER_MAX)
		return reject(s, at->loc, D_E0211, "a buffer has at most %d elements", BUFFER_MAX);
	return true;
}

static const Layout *buffer_layout(Sema *s, const Node *type, Elem e, bool *is_auto)
{
	const Node *n = type->kids.at[0];
	if (n->kind == N_NONE) {
		reject(s, type->loc, D_E0204, "a buffer needs a shape, %s (bM,bK)",
		       elem_rows[e].name);
		return NULL;
	}
	s->has_elem = true;
	s->elem = e;
	Value v = eval(s, n);
	s->has_elem = false;
	if (v.kind == V_BAD)
		return NULL;
	*is_auto = v.kind == V_TUPLE;
	const Layout *l = value_layout(s, &v);
	return l && buffer_layout_fits(s, n, l) ? l : NULL;
}

Value bind_buffer(Sema *s, const Node *n)
{
	const Node *type = n->kids.at[0];
	Value v = value_of(V_BUFFER);
	Elem e;
	bool is_auto = false, known = elem_by_name(s, type->name, type->name_loc, &e);
	const Layout *l = known ? buffer_layout(s, type, e, &is_auto) : NULL;
	if (!l)
		return value_bad();
	Buffer *b = NEW(s->arena, Buffer);
	*b = (Buffer){
		.name = n->name, .decl = n, .is_auto = is_auto, .filled = NOLOC, .ever = NOLOC};
	b->type = type_tile(s->ctx, SP_SHARED, e, l);
	vec_push(s->arena, &s->buffers, b);
	v.buffer = b;
	said(s, SAID_BUFFER, n->name, type->kids.at[0]->loc, is_auto ? "auto" : NULL);
	return v;
}

/* ------------------------------------------------------------------ tma */
static bool cache_option(Sema *s, const Node *n, const Node *word, TmaLoad *t)
{
	static const char *const words[] = {
#define CACHE(id, name) name,
#include "ir/cache.def"
	};
	for (size_t i = 0; i < COUNTOF(words) && !t->cache; i++)
		if (word->kind == N_NAME && !strcmp(word->name, words[i])) {
			t->cache = ctx_str(s->ctx, words[i]);
			return true;
		}
	if (t->cache)
		reject(s, n->loc, D_E0308, "what L2 keeps of a load is said already: %s", t->cache);
	else
		reject(s, word->loc, D_E0308, "cache is %s, %s or %s", words[0], words[1],
		       words[2]);
	return false;
}

static bool tma_option(Sema *s, const Node *n, const char *copy, TmaLoad *t)
{
	const Node *key = n->kind == N_PHRASE ? n->kids.at[0] : n, *word = NULL;
	if (n->kind == N_PHRASE)
		word = n->kids.at[1];
	if (word && key->word == W_MULTICAST) {
		t->multicast = sched_multicast(s, word);
		said(s, SAID_MULTICAST, copy, n->loc, t->multicast);
		return t->multicast != NULL;
	}
	if (word && key->word == W_CACHE)
		return cache_option(s, n, word, t);
	return reject(s, n->loc, D_E0308, "a tma copy has the options multicast and cache");
}

typedef bool LoadOption(Sema *s, const Node *n, const char *copy, TmaLoad *t);

static Value load_of(Sema *s, const Node *call, const char *name, LoadOption *option)
{
	Value v = value_of(V_TMA);
	const char *head = call->kids.at[0]->name;
	if (call->kids.n < 3)
		return rejected(s, call->loc, D_E0206, "%s takes a tensor and a buffer, %s(A, sA)",
				head, head);
	Value a = eval(s, call->kids.at[1]), b = eval(s, call->kids.at[2]);
	if (!want(s, &a, V_TENSOR, "the source") || !want(s, &b, V_BUFFER, "the target"))
		return value_bad();
	TmaLoad *t = NEW(s->arena, TmaLoad);
	*t = (TmaLoad){.tensor = a.tensor, .buffer = b.buffer};
	if (option == tma_option) /* what explain adds to */
		said(s, SAID_LOAD, name, call->loc, b.buffer->name);
	else
		t->via = ctx_str(s->ctx, "cp.async");
	for (int i = 3; i < call->kids.n; i++)
		if (!option(s, call->kids.at[i], name, t))
			return value_bad();
	v.load = t;
	return v;
}

static Value tma_load(Sema *s, const Node *call, const char *name)
{
	bool has = target_takes(s, call->loc, FT_TMA,
				"write copy ld = cp_async(A, sA), or leave it out");
	return has ? load_of(s, call, name, tma_option) : value_bad();
}

static Value tma_store(Sema *s, const Node *call)
{
	bool has = target_takes(s, call->loc, FT_TMA, "leave it out: tiles leave from registers");
	return has ? staged_store(s, call) : value_bad();
}

Value bind_tma(Sema *s, const Node *n)
{
	const Node *call = n->kids.at[0];
	if (node_calls(call, W_LOAD))
		return tma_load(s, call, n->name);
	if (node_calls(call, W_STORE))
		return tma_store(s, call);
	return rejected(s, call->loc, D_E0203,
			"a tma copy is load(tensor, buffer) or store(buffer, tensor)");
}

/* ------------------------------------------------------------------ copy */
static bool copy_option(Sema *s, const Node *n, const char *copy, TmaLoad *t)
{
	static const int64_t most = 16;
	(void)copy;
	if (n->kind == N_PHRASE && n->kids.at[0]->word == W_BYTES) {
		if (!eval_int(s, n->kids.at[1], 4, most, "bytes of a copy", &t->bytes))
			return false;
		if (!(t->bytes & (t->bytes - 1)))
			return true;
	}
	return reject(s, n->loc, D_E0308,
		      "a copy by cp_async has the option bytes, which is 4, 8 or 16\n"
		      "leave it out: as many are taken as lie side by side for all sizes");
}

Value bind_copy(Sema *s, const Node *n)
{
	const Node *call = n->kids.at[0];
	if (node_calls(call, W_CP_ASYNC))
		return load_of(s, call, n->name, copy_option);
	if (is_simt_copy(call))
		return simt_copy(s, call, n->name);
	return rejected(s, call->loc, D_E0301,
			"not built yet: copy atoms of your own\n"
			"built are copy ld = cp_async(A, sA) and, without an mma, copy vec = "
			"simt(16 bytes) * threads(128); what names no copy is derived");
}

/* ------------------------------------------------------------------ pipeline */
static void member_via(Sema *s, const Node *n, Buffer *b)
{
	if (n->kind == N_NONE)
		return;
	Value v = eval(s, n);
	if (!want(s, &v, V_TMA, "what follows via"))
		return;
	if (v.load->buffer != b)
		reject(s, n->loc, D_E0312, "'%s' fills '%s', not '%s'", n->name,
		       v.load->buffer->name, b->name);
	b->load = v.load;
}

static void member(Sema *s, Ring *r, const Node *n)
{
	Node name = *n;
	name.kind = N_NAME;
	name.loc = n->name_loc;
	Value v = eval(s, &name);
	if (!want(s, &v, V_BUFFER, "a member of a pipeline"))
		return;
	if (v.buffer->ring) {
		reject(s, n->loc, D_E0305, "'%s' is in pipeline '%s' already", n->name,
		       v.buffer->ring->name);
		return;
	}
	v.buffer->ring = r;
	if (!v.buffer->leaves) /* else its slots are all that it says */
		vec_push(s->arena, &r->buffers, v.buffer);
	const Node *via = n->kids.at[0];
	said(s, SAID_MEMBER, n->name, n->name_loc, via->kind == N_NONE ? NULL : via->name);
	member_via(s, via, v.buffer);
}

Value bind_pipeline(Sema *s, const Node *n)
{
	Value v = value_of(V_PIPELINE);
	const Node *slots = n->kids.at[0], *members = n->kids.at[1];
	Ring *r = NEW(s->arena, Ring);
	*r = (Ring){.name = n->name, .loc = n->name_loc};
	if (slots->kind != N_NONE) {
		const ClauseRow *row = &clause_rows[CLAUSE_STAGES];
		eval_int(s, slots, row->least, row->most, "the number of slots of a pipeline",
			 &r->slots);
	}
	for (int i = 0; i < members->kids.n; i++)
		member(s, r, members->kids.at[i]);
	said(s, SAID_PIPELINE, n->name,
	     slots->kind == N_NONE ? (Loc){n->name_loc.src, n->name_loc.end, n->name_loc.end}
				   : slots->loc,
	     r->slots ? ctx_strf(s->ctx, "%" PRId64, r->slots) : NULL);
	if (r->buffers.n || !members->kids.n)
		vec_push(s->arena, &s->rings, r);
	v.ring = r;
	return v;
}

/* ------------------------------------------------------------------ to the IR */
/* Before the grid; while it is read, too. */
static Op *declare(Sema *s, OpKind kind, Loc loc)
{
	Op *op = op_new(s->kernel, kind, loc);
	if (s->grid_op)
		op_insert_before(s->grid_op, op);
	else
		block_append(s->block, op);
	return op;
}

static void buffer_build(Sema *s, Buffer *b)
{
	Op *op = declare(s, OP_SHARED, b->decl->loc);
	op_str(s->kernel, op, A_RING, b->ring->name);
	if (b->is_auto)
		op_int(s->kernel, op, A_AUTO, 1);
	b->val = op_result(s->kernel, op, b->name, b->type);
}

void ring_build(Sema *s, const Ring *r)
{
	Op *op = declare(s, OP_RING, r->loc);
	op_sym(s->kernel, op, r->name);
	op_int(s->kernel, op, A_SLOTS, r->slots);
	if (r->put)
		op_int(s->kernel, op, A_PUT, 1);
	for (int j = 0; j < r->buffers.n; j++)
		buffer_build(s, r->buffers.at[j]);
}

void buffers_build(Sema *s)
{
	for (int i = 0; i < s->rings.n; i++)
		ring_build(s, s->rings.at[i]);
}

void buffers_check(Sema *s)
{
	for (int i = 0; i < s->buffers.n; i++) {
		const Buffer *b = s->buffers.at[i];
		if (b->leaves)
			continue;
		if (b->ring && !b->read && b->ever.src >= 0)
			reject(s, b->ever, D_E0305,
			       "'%s' is filled here and never read\n"
			       "multiply it, acc += mm(sA, sB), or leave it out",
			       b->name);
		else if (b->ring && b->ever.src < 0)
			reject(s, b->decl->name_loc, D_E0305,
			       "'%s' is in a pipeline and never filled\n"
			       "fill it with tiles, %s <- gA[m,k], or leave it out of the pipeline",
			       b->name, b->name);
	}
}
