/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* chunks.c - a tile's value computed and stored chunk by chunk. What is done with the
 * whole tile's registers is done with those of each chunk, between reading what it is computed from
 * and handing it on.
 *     %x = mul %c, %acc ; store %t, %x
 * ->  %p = part %acc[0] ; load.shared %c.1, %sC[e] ; %x.1 = mul %c.1, %p
 *     store.shared %sD[e], %x.1 ... */
#include "passes/epilogue/epilogue.h"
#include "passes/why.h"

enum { MOST_SOURCES = 3 }; /* each has a warp of the producer, and so has the main loop */

/* Whether op, or what is in it, fills a ring of the program's own. */
static bool fills_rings(const Op *op)
{
	for (const Op *in = op; in && op_inside(in, op); in = op_next(in))
		for (int i = 0; i < in->nin; i++)
			if ((op_effect(in, i) & FX_AW) && in->in[i].val->type->space == SP_SHARED &&
			    !attrs_get(&in->in[i].val->def->attrs, A_SLOTS))
				return true;
	return false;
}

bool one_tile(const Epilogue *e)
{
	for (const Op *op = e->store->next; op; op = op->next)
		if (fills_rings(op))
			return false;
	return !attrs_int(&e->k->attrs, A_PERSISTENT, 0) && !program_loop(e);
}

const Op *program_loop(const Epilogue *e)
{
	const Op *up = op_parent(e->store);
	while (up && (up->kind != OP_FOR || loop_is_of_tiles(e->k, up)))
		up = op_parent(up);
	return up;
}

/* A ring of `slots` buffers beside the main loop's. */
Val *buffer_new(Kernel *k, Loc loc, const Val *tensor, const char *ring_name, SlotForm m, int slots)
{
	Op *ring = ring_new(k, ring_name, slots, loc), *first = kernel_find(k, OP_RING);
	Elem e = tensor->type->elem;
	op_insert_after(first ? first : kernel_first(k), ring);
	return ring_buffer(k, ring, ctx_strf(k->ctx, "s%s", tensor->name),
			   type_tile(k->ctx, SP_SHARED, e, slot_layout(k->ctx, m, e)));
}

/* The iteration of the loop over tiles that the store stands in. */
const Ix *turn_of(const Epilogue *e)
{
	const Op *up = op_parent(e->store);
	return up && up->kind == OP_FOR ? ix_sym(e->k->ctx, up->sym[0]) : ix_int(e->k, 0);
}

static const Ix *plus(const Epilogue *e, const Ix *a, const Ix *group, int64_t step, int64_t more)
{
	Ctx *c = e->k->ctx;
	return ix_add(c, ix_add(c, a, ix_mul(c, group, ix_int(e->k, step))), ix_int(e->k, more));
}

/* ------------------------------------------------------------------ places of a chunk */
/* Of the one slot that each warpgroup has then. */
static const Ix *one_of_turn(const Epilogue *e)
{
	const Op *up = program_loop(e);
	while (!loop_is_of_tiles(e->k, up))
		up = op_parent(up);
	return ix_sym(e->k->ctx, up->sym[0]);
}

/* Its position in a ring: chunks follow each other, tile after tile. In a loop of the program
 * positions.c counts them. */
static const Ix *position(const Epilogue *e, Chunk c)
{
	if (program_loop(e))
		return kernel_pingpong(e->k) ? one_of_turn(e) : NULL;
	return plus(e, ix_int(e->k, c.n), turn_of(e), e->chunks, 0);
}

/* The first register of the chunk, of a tile or of its rows. */
static int chunk_reg(const Epilogue *e, Chunk c, const Type *t)
{
	int first = (c.i + e->t.repeat_m * c.j) * tiled_mma_registers(e->t) +
		    c.col * e->rows / GROUP_THREADS;
	return tv_source(IN(e->store, FROM).val->type, first, t);
}

const Ix *chunk_row(const Epilogue *e, Chunk c, const Op *tile, const Ix *group)
{
	const Ix *at = tile_at(e->k, tile->out, 0);
	return plus(e, at, group, e->rows, (int64_t)c.i * e->rows * e->t.along_m);
}

const Ix *chunk_col(const Epilogue *e, Chunk c, const Op *tile, const Ix *group)
{
	return plus(e, tile_at(e->k, tile->out, 1), group, e->t.cols,
		    (int64_t)c.j * e->t.cols * e->t.along_n + c.col);
}

Val *part_tile(const Epilogue *e, Op *at, const Op *tile, const Ix *row, const Ix *col, int rows)
{
	int cols = val_extent(tile->out, tile_mode(e->k, tile->out, 1)) == 1 ? 1 : e->cols;
	Kernel *k = e->k;
	Ctx *c = k->ctx;
	const Tup *shape[MODES_MOST];
	const Ix *begin[MODES_MOST];
	Op *part = op_before(k, at, OP_TILE);
	op_of_tensor(k, part, IN(tile, OF).val, tile->out, NULL);
	for (int i = 0; i < tile->nix; i++) {
		shape[i] = tup_int(c, 1);
		begin[i] = tile->ix[i];
	}
	for (int m = 0; m < 2; m++) {
		int mode = tile_mode(k, tile->out, m);
		shape[mode] = tup_int(c, m ? cols : rows);
		begin[mode] = m ? col : row;
	}
	for (int i = 0; i < tile->nix; i++)
		op_ix(k, part, begin[i]);
	const Layout *l =
		layout_new(c, tup_new(c, shape, tile->nix), tile->out->type->layout->stride);
	return op_result(k, part, "t", type_tile(c, SP_GLOBAL, tile->out->type->elem, l));
}

/* Registers of one chunk of a tile, spread over all warpgroups as the accumulator is, or of what
 * has one element for each of its rows or columns. */
const Type *chunk_type(Epilogue *e, const Val *v)
{
	Ctx *c = e->k->ctx;
	TiledMma t = tiled_mma_part(e->t, e->cols);
	Elem elem = v->type->elem;
	const Layout *tile = layout_2d(c, t.m, t.n, 1, t.m);
	const Layout *part = val_extent(v, 1) == 1   ? layout_2d(c, t.m, 1, 1, 0)
			     : val_extent(v, 0) == 1 ? layout_2d(c, 1, t.n, 0, 1)
						     : tile;
	e->tv = e->tv ? e->tv : tiled_mma_tv(c, t);
	return type_frag(c, elem, part, part == tile ? e->tv : tv_of_part(c, e->tv, tile, part));
}

/* ------------------------------------------------------------------ sources */
Source *source_of(Epilogue *e, const Val *frag)
{
	for (int i = 0; i < e->sources.n; i++)
		if (IN(e->sources.at[i].load, TO).val == frag)
			return &e->sources.at[i];
	return NULL;
}

Origin *origin_of(const Epilogue *e, const Val *v)
{
	return v->type->kind == TY_TILE ? ptrmap_get(&e->origins, v) : NULL;
}

static void note_writes(Epilogue *e, Op *op, int at)
{
	for (int i = 0; i < op->nin; i++) {
		Origin *o = origin_of(e, op->in[i].val);
		if (!o || op->in[i].val->def->kind != OP_FRAG)
			continue;
		if (op_effect(op, i) & (FX_W | FX_AW))
			o->changed = at;
		if (op->kind == OP_LOAD && i == 0 && !o->load)
			o->load = op;
	}
}

static void join_changes(Epilogue *e, const Op *op)
{
	Origin *o = op->out && op->kind != OP_FRAG ? origin_of(e, op->out) : NULL;
	for (int i = 0; o && i < op->nin; i++) {
		const Origin *in = origin_of(e, op->in[i].val);
		if (in && in->changed > o->changed)
			o->changed = in->changed;
	}
}

static void set_origin(Epilogue *e, const Val *v, int at)
{
	Origin *o = NEW(e->origins.arena, Origin);
	o->at = at;
	ptrmap_set(&e->origins, v, o);
}

/* Of what is computed after the store, nothing else comes from there. */
static bool is_computed_before(const Epilogue *e, const Op *op)
{
	bool all = op_rows[op->kind].flags & OPF_ELT;
	for (int i = 0; i < op->nin && all; i++) {
		const Val *v = op->in[i].val;
		bool place = v->type->kind == TY_TILE && v->type->space == SP_GLOBAL;
		all = place || !v->def || ptrmap_get(&e->origins, v);
	}
	return all;
}

/* Computed from no value: a number, a size, coordinates. */
static bool needs_nothing(const Op *op)
{
	return op->kind == OP_CONST || op->kind == OP_SIZEVAL || op->kind == OP_SERIES;
}

/* Numbers need nothing, and may stand before the store; so may values that need no more. */
static void find_behind(Epilogue *e, int at)
{
	for (Op *op = e->store->next, *next; op && !writes_registers(op); op = next) {
		next = op->next;
		if (needs_nothing(op)) {
			op_insert_before(e->store, op);
		}
		if (needs_nothing(op) || (op->out && is_computed_before(e, op)))
			set_origin(e, op->out, at);
	}
}

void find_origins(Epilogue *e)
{
	Op *op = kernel_first(e->k);
	int at = 1;
	for (; op && op != e->store; op = op_next(op), at++) {
		if (op->out)
			set_origin(e, op->out, at);
		note_writes(e, op, at);
	}
	find_behind(e, at);
	for (op = kernel_first(e->k); op && op != e->store; op = op_next(op))
		join_changes(e, op);
	for (op = e->store; op && !writes_registers(op); op = op->next)
		join_changes(e, op);
}

/* Whether an operand has one element for each group of columns. */
static bool is_of_groups(const Val *v)
{
	for (int i = 0; i < v->def->nin; i++) {
		const Val *in = v->def->in[i].val;
		if (val_is_registers(in) && !val_is_vector(in) &&
		    val_extent(in, 1) != val_extent(v, 1))
			return true;
	}
	return false;
}

/* Whether the value may be computed where it is stored, from what it is computed from: that is
 * still the same there. */
static bool may_wait(const Epilogue *e, const Val *v)
{
	const Origin *o = origin_of(e, v);
	bool apart =
		v->def->kind == OP_INSIDE && e->t.along_n != 1; /* no tile has a chunk's columns */
	apart |= v->def->kind == OP_SERIES; /* its registers are parts of the whole tile's */
	return op_rows[v->def->kind].flags & OPF_ELT && op_parent(v->def) == op_parent(e->store) &&
	       o->changed < o->at && !apart && !is_of_groups(v);
}

/* Rows after a group's end may come too: nothing that is made of them leaves. But not what others
 * write meanwhile. */
static void read_on(const Epilogue *e, Op *load)
{
	const Op *tile = IN(load, FROM).val->def;
	if (!IN(tile, OF).at || e->k->args.at[tensor_arg(IN(tile, OF).val)->arg].is_out)
		return;
	Op *whole = op_in(e->k, op_before(e->k, load, OP_TILE), IN(tile, OF).val, NULL);
	for (int i = 0; i < tile->nix; i++)
		op_ix(e->k, whole, tile->ix[i]);
	IN(load, FROM).val = op_result(e->k, whole, "t", tile->out->type);
}

static void add_source(Epilogue *e, Op *load)
{
	Copying c = {.k = e->k, .op = load, .e = e};
	WayChoice w = way_choose(&c);
	if (way_has_map(w.way))
		read_on(e, load);
	if (way_has_map(w.way))
		vec_push(ctx_arena(e->k->ctx), &e->sources,
			 ((Source){.load = load,
				   .way = w.way,
				   .vector = val_is_vector(IN(load, TO).val)}));
	else
		why_no_source(e->k, tensor_arg(IN(IN(load, FROM).val->def, OF).val), w.why[0].text);
}

static void find_from(Epilogue *e, const Val *v, bool vectors)
{
	Origin *o = origin_of(e, v);
	if (!o || o->asked == 1 + vectors)
		return;
	o->asked = 1 + vectors;
	for (Op *op = o->load; op && !source_of(e, v); op = op_find_next(op, OP_LOAD))
		if (IN(op, TO).val == v && val_is_vector(v) == vectors &&
		    e->sources.n < MOST_SOURCES)
			add_source(e, op);
	for (int i = 0; i < v->def->nin && v->def->kind != OP_FRAG && may_wait(e, v); i++)
		find_from(e, v->def->in[i].val, vectors);
}

/* What takes more registers comes first. */
void find_sources(Epilogue *e)
{
	find_origins(e);
	find_from(e, IN(e->store, FROM).val, false);
	find_from(e, IN(e->store, FROM).val, true);
}

static int64_t source_slot(const Epilogue *e, const Source *s)
{
	int bytes = elem_rows[IN(s->load, TO).val->type->elem].bits / 8;
	return (int64_t)e->rows * e->t.along_m * e->cols * bytes;
}

int64_t source_bytes(const Epilogue *e)
{
	int64_t bytes = 0;
	for (int i = 0; i < e->sources.n; i++)
		if (!e->sources.at[i].vector)
			bytes += source_slot(e, &e->sources.at[i]);
	return bytes;
}

static void source_buffer(const Epilogue *e, Source *s)
{
	Kernel *k = e->k;
	const Val *tile = IN(s->load, FROM).val, *tensor = tensor_arg(IN(tile->def, OF).val);
	SlotForm f = source_form(e, tile);
	s->buffer = buffer_new(k, s->load->loc, tensor, ctx_strf(k->ctx, "%s.in", tensor->name), f,
			       e->source_slots);
	tile_outside_map(k, tile->def);
	tile_outside_empty(k, tile->def);
	s->map = kernel_map(k, s->load->loc, tile, f)->out;
	op_int(k, kernel_ring(k, attrs_str(&s->buffer->def->attrs, A_RING, "")), A_EARLY, 1);
}

/* Chunk c on its way into its slot: one copy for all warpgroups. */
static void source_load(const Epilogue *e, const Source *s, Op *at, Chunk c)
{
	Kernel *k = e->k;
	const Op *tile = IN(s->load, FROM).val->def;
	const Ix *zero = ix_int(k, 0);
	Val *t = part_tile(e, at, tile, chunk_row(e, c, tile, zero), chunk_col(e, c, tile, zero),
			   e->rows * e->t.along_m);
	Op *load = op_in(k, op_before(k, at, way_rows[s->way].first), s->buffer, position(e, c));
	op_ins(k, load, t, s->map);
}

/* Its registers, read where they are first needed; the slot then takes the chunk of a lap later. */
static Val *source_chunk(Epilogue *e, const Source *s, const Chunk *all, Chunk c)
{
	Kernel *k = e->k;
	Op *frag = op_before(k, e->store, OP_FRAG);
	Op *read = op_before(k, e->store, way_rows[s->way].last);
	op_result(k, frag, "c", chunk_type(e, IN(s->load, TO).val));
	op_in(k, read, frag->out, ix_int(k, 0));
	op_in(k, read, s->buffer, position(e, c));
	if (c.n + e->source_slots < e->chunks)
		source_load(e, s, e->store, all[c.n + e->source_slots]);
	return frag->out;
}

/* ------------------------------------------------------------------ values */
static Val *part_new(Parts *p, Val *v);

/* Where the chunk lies in its tensor, of all warpgroups. */
static Val *part_place(const Parts *p, const Op *tile)
{
	const Epilogue *e = p->e;
	const Ix *zero = ix_int(e->k, 0);
	return part_tile(e, e->store, tile, chunk_row(e, p->c, tile, zero),
			 chunk_col(e, p->c, tile, zero), e->rows * e->t.along_m);
}

Val *part_of(Parts *p, Val *v)
{
	if (v->type->kind != TY_TILE || val_is_one(v))
		return v;
	Val *part = ptrmap_get(&p->part, v);
	if (!part) {
		part = v->type->space == SP_GLOBAL ? part_place(p, v->def) : part_new(p, v);
		ptrmap_set(&p->part, v, part);
	}
	return part;
}

/* The same operation on one chunk, or its registers of what the main loop left. */
static Val *part_new(Parts *p, Val *v)
{
	Kernel *k = p->e->k;
	const Source *s = source_of(p->e, v);
	const Op *def = v->def;
	const Op *own = chunk_load(p->e, v);
	if (s)
		return s->vector ? vector_part(p->e, s, p->c) : source_chunk(p->e, s, p->all, p->c);
	if (own)
		return loaded_chunk(p->e, own, p->c);
	Val *in[3] = {0};
	bool computed = may_wait(p->e, v);
	for (int i = 0; i < def->nin && computed; i++)
		in[i] = part_of(p, def->in[i].val);
	Op *op = op_before(k, p->e->store, computed ? def->kind : OP_PART);
	for (int i = 0; i < def->nin && computed; i++)
		op_in(k, op, in[i], NULL);
	if (!computed)
		op_in(k, op, v, ix_int(k, chunk_reg(p->e, p->c, v->type)));
	for (int i = 0; i < def->attrs.n && computed; i++)
		attrs_set(k->ctx, &op->attrs, def->attrs.at[i]);
	return op_result(k, op, v->name, chunk_type(p->e, v));
}

/* ------------------------------------------------------------------ chunk by chunk */
/* The last step of a way, where the name of the map has that value, or always where the map has
 * none. */
static Op *last_step(const Epilogue *e, WayId way, int64_t is)
{
	Kernel *k = e->k;
	if (!e->name)
		return op_before(k, e->store, way_rows[way].last);
	Op *some = op_before(k, e->store, OP_IF);
	op_ix(k, some, ix_new(k->ctx, IX_EQ, ix_sym(k->ctx, e->name), ix_int(k, is)));
	return op_append(k, op_body(k, some), way_rows[way].last, e->store->loc);
}

static void put_last(const Epilogue *e, WayId way, Val *tile, Chunk c, Val *buffer, Val *map)
{
	Op *out = last_step(e, way, way_has_map(way));
	op_in(e->k, out, tile, NULL);
	op_in(e->k, out, buffer, position(e, c));
	if (way_has_map(way))
		op_in(e->k, out, map, NULL);
	if (combine_of(e->store))
		op_str(e->k, out, A_COMBINE, combine_of(e->store)->name);
}

static void put_chunk(Epilogue *e, const Chunk *all, Chunk c, Val *buffer, Val *map)
{
	Kernel *k = e->k;
	const Ix *wg = ix_warpgroup(k), *zero = ix_int(k, 0), *m = ix_int(k, e->t.along_m);
	const Ix *wm = e->t.along_m == 1 ? zero : ix_mod(k->ctx, wg, m);
	const Ix *wn = e->t.along_n == 1 ? zero : ix_div(k->ctx, wg, m);
	Parts parts = {.e = e, .all = all, .c = c, .part.arena = e->origins.arena};
	Val *v = part_of(&parts, IN(e->store, FROM).val);
	Op *put = op_before(k, e->store, way_rows[e->way.way].first);
	op_in(k, put, buffer, position(e, c));
	op_in(k, put, v, zero);
	if (e->m_fast)
		op_int(k, put, A_TRANS, 1);
	Val *tile = part_tile(e, e->store, e->tile, chunk_row(e, c, e->tile, wm),
			      chunk_col(e, c, e->tile, wn), e->rows);
	put_last(e, e->way.way, tile, c, buffer, map);
	if (e->way.other != WAY_COUNT)
		put_last(e, e->way.other, tile, c, buffer, map);
	put_joins(&parts);
}

/* Whether op, or what it holds, reads shared memory. */
static bool reads_shared(const Op *op)
{
	for (const Op *in = op; in && op_inside(in, op); in = op_next(in))
		for (int i = 0; i < in->nin; i++)
			if (in->in[i].val->type->space == SP_SHARED &&
			    (op_effect(in, i) & (FX_R | FX_AR)))
				return true;
	return false;
}

/* The first op beside the store that waits for what is loaded, or the store: what is loaded before
 * it is on its way while everything that leads to the store is computed. */
static Op *first_reader(const Epilogue *e)
{
	Op *op = e->store;
	while (op->prev)
		op = op->prev;
	while (op != e->store && !reads_shared(op))
		op = op->next;
	return op;
}

static Val *staging(const Epilogue *e)
{
	Kernel *k = e->k;
	const Val *tensor = tensor_arg(IN(e->tile, OF).val);
	const Op *ring = kernel_find(k, OP_RING);
	Val *buffer = buffer_new(k, e->store->loc, tensor, ctx_strf(k->ctx, "%s.out", tensor->name),
				 e->chunk, e->slots);
	op_int(k, buffer->def, A_GROUPS, e->warpgroups);
	if (!one_tile(e) || !ring)
		return buffer;
	const char *loads = ring->sym[0];
	op_str(k, buffer->def, A_OVER, loads);
	for (Op *r = kernel_find(k, OP_RING); r; r = op_find_next(r, OP_RING))
		if (r->sym[0] != loads && !ring_is_settled(k, r))
			op_int(k, r, A_GIVES, 1);
	return buffer;
}

static Chunk *chunks(const Epilogue *e)
{
	Chunk *all = NEWN(ctx_arena(e->k->ctx), Chunk, e->chunks);
	int per_atom = e->t.cols / e->cols, n = 0;
	for (int j = 0; j < e->t.repeat_n; j++)
		for (int q = 0; q < per_atom; q++)
			for (int i = 0; i < e->t.repeat_m; i++, n++)
				all[n] = (Chunk){n, i, j, q * e->cols};
	return all;
}

void by_chunks(Epilogue *e)
{
	const Chunk *all = chunks(e);
	Op *reader = first_reader(e);
	Val *buffer = staging(e);
	Val *map = kernel_map(e->k, e->store->loc, e->tile->out, e->chunk)->out;
	if (!e->source_slots)
		drop_sources(e, false); /* read by each thread */
	e->late = reads_too_much(e);
	EACH(Source, source, e->sources) {
		if (source->vector) {
			vector_buffer(e, source, reader);
			continue;
		}
		source_buffer(e, source);
		for (int i = 0; i < e->source_slots && i < e->chunks; i++)
			source_load(e, source, reader, all[i]);
	}
	find_joins(e);
	for (int i = 0; i < e->chunks; i++)
		put_chunk(e, all, all[i], buffer, map);
	op_remove(e->store);
}

/* ------------------------------------------------------------------ from registers */
enum { PIECE = 16 /* columns, at most */ };

void by_pieces(Epilogue *e)
{
	Kernel *k = e->k;
	const Ix *zero = ix_int(k, 0);
	e->cols = tiled_mma_columns(e->t, PIECE);
	e->chunks = e->t.repeat_m * e->t.repeat_n * (e->t.cols / e->cols);
	e->sources.n = 0;
	e->late = reads_too_much(e);
	const Chunk *all = chunks(e);
	for (int i = 0; i < e->chunks; i++) {
		Parts parts = {.e = e, .all = all, .c = all[i], .part.arena = e->origins.arena};
		Val *v = part_of(&parts, IN(e->store, FROM).val);
		Val *t = part_tile(e, e->store, e->tile, chunk_row(e, all[i], e->tile, zero),
				   chunk_col(e, all[i], e->tile, zero), e->rows * e->t.along_m);
		op_ins(k, op_before(k, e->store, OP_STORE), t, v);
	}
	op_remove(e->store);
}
