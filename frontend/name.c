/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* name.c - names and what they are, for editors: each declaration with its type or value as text,
 * and each use with its declaration.
 *     let gA = A / (128,64);
 *  -> gA, "a tiled tensor", "bf16 (M,K):(K,1) in tiles of (128,64)"; A, a use */
#include "frontend/sema.h"

#include <inttypes.h>

static void print_tile(Sema *s, const Tiling *t, Buf *out)
{
	buf_printf(out, "%s ", elem_rows[t->tensor->elem].name);
	layout_print(t->tensor->layout, out);
	buf_printf(out, " in tiles of %s", shape_str(s, tiling_shape(s, t)));
}

static void print_mma(const Mma *m, Buf *out)
{
	atom_print(m->atom, out);
	buf_printf(out, " * (%" PRId64 ",%" PRId64 ",%" PRId64 ")", m->arrange[0], m->arrange[1],
		   m->arrange[2]);
}

static void print_coord(const Coord *c, Buf *out)
{
	buf_printf(out, "counts tiles of %" PRId64 " along ", c->tile);
	ix_print(c->extent, out);
}

static void print_ring(const Ring *r, Buf *out)
{
	if (r->slots)
		buf_printf(out, "%" PRId64 " stages", r->slots);
	for (int i = 0; i < r->buffers.n; i++)
		buf_printf(out, "%s%s", i || r->slots ? ", " : "", r->buffers.at[i]->name);
}

static void print_value(Sema *s, const Value *v, Buf *out)
{
	if (v->kind == V_MMA && v->mma->open)
		buf_printf(out, "%s", mma_text(s, v->mma));
	else if (v->kind == V_TILES)
		print_tile(s, v->tiling, out);
	else if (v->kind == V_TILE)
		print_tile(s, v->tile->tiling, out);
	else if (v->kind == V_MMA)
		print_mma(v->mma, out);
	else if (v->kind == V_PIPELINE)
		print_ring(v->ring, out);
	else if (v->kind == V_TMA)
		buf_printf(out, "load(%s, %s)", v->load->tensor->name, v->load->buffer->name);
	else if (v->kind == V_INT && v->coord)
		print_coord(v->coord, out);
	else if (v->val)
		type_print(v->val->type, out);
	else
		buf_printf(out, "%s", value_str(s, v));
}

static int add(Sema *s, Named n)
{
	if (!s->opt->names)
		return 0;
	n.decl = n.decl < 0 ? s->opt->names->n : n.decl;
	n.within = s->kernel ? s->kernel_loc : NOLOC;
	vec_push(ctx_arena(s->ctx), s->opt->names, n);
	return s->opt->names->n - 1;
}

int name_declared(Sema *s, const Node *at, const Value *v)
{
	Buf text = {0};
	if (!s->opt->names)
		return 0;
	if (v->kind == V_TENSOR && v->tensor->is_out)
		buf_printf(&text, v->tensor->is_inout ? "inout " : "out ");
	if (v->kind != V_BAD)
		print_value(s, v, &text);
	if (v->pick == at)
		buf_printf(&text, " of %s", pick_text(s, v));
	return add(s, (Named){.name = at->name,
			      .at = at->name_loc,
			      .decl = -1,
			      .kind = value_text(v),
			      .text = ctx_buf(s->ctx, &text)});
}

void name_used(Sema *s, const Symbol *sym, Loc at)
{
	add(s, (Named){.name = sym->name, .at = at, .decl = sym->named, .kind = "", .text = ""});
}

void name_kernel(Sema *s, const Node *kernel)
{
	add(s, (Named){.name = kernel->name,
		       .at = kernel->name_loc,
		       .decl = -1,
		       .kind = "a kernel",
		       .text = s->kernel->target ? s->kernel->target : ""});
}
