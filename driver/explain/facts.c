/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* facts.c - from a kernel at the ptx stage to the tables that explain prints: one walk over
 * its operations.
 *     %ab.full = mbarrier ring=ab slots=4 offset=229376 count=1 : mbar
 *  -> barriers { "ab.full", "ab", slots 4, count 1, offset 229376, bytes 49152 } */
#include "driver/explain/explain.h"

#include <string.h>

/* Bytes: what strides of a map are multiples of, and what rows are that come at full speed. */
enum { MAP_UNIT = 16, MAP_LINE = 128 };

static Arena *arena_of(const Facts *f)
{
	return ctx_arena(f->k->ctx);
}

/* ------------------------------------------------------------------ finding */
#define FIND(T, function, rows, member)                          \
	const T *function(const Facts *f, const char *name)      \
	{                                                        \
		for (int i = 0; i < f->rows.n; i++)              \
			if (!strcmp(f->rows.at[i].member, name)) \
				return &f->rows.at[i];           \
		return NULL;                                     \
	}
FIND(FactRing, facts_ring, rings, name)
FIND(FactBuffer, facts_buffer, buffers, name)
FIND(FactCopy, facts_load, loads, buffer)

bool facts_has_one_source(const Facts *f, const char *buffer)
{
	const FactCopy *first = facts_load(f, buffer);
	for (int i = 0; i < f->loads.n; i++)
		if (!strcmp(f->loads.at[i].buffer, buffer) &&
		    strcmp(f->loads.at[i].tensor, first->tensor) != 0)
			return false;
	return first;
}

const FactRing *facts_main_ring(const Facts *f)
{
	for (int i = 0; i < f->mmas.n; i++)
		if (!f->mmas.at[i].b_in_registers)
			return facts_ring(f, f->mmas.at[i].ring);
	return NULL;
}

/* ------------------------------------------------------------------ declarations */
static FactRing *ring_of(Facts *f, const char *name)
{
	const FactRing *r = facts_ring(f, name);
	if (!r) {
		vec_push(arena_of(f), &f->rings,
			 ((FactRing){.name = name,
				     .staging = true,
				     .why = kernel_why_find(f->k, REASON_RELEASES, name)}));
		r = &f->rings.at[f->rings.n - 1];
	}
	return (FactRing *)(uintptr_t)r;
}

static void take_buffer(Facts *f, const Op *op)
{
	const Attrs *a = &op->attrs;
	FactBuffer b = {.name = op->out->name,
			.ring = attrs_str(a, A_RING, ""),
			.over = attrs_str(a, A_OVER, NULL),
			.type = op->out->type,
			.slots = attrs_int(a, A_SLOTS, 1),
			.groups = attrs_int(a, A_GROUPS, 1),
			.offset = attrs_int(a, A_OFFSET, 0),
			.bytes = type_slot_bytes(op->out->type)};
	FactRing *r = ring_of(f, b.ring);
	r->slots = b.slots;
	r->bytes += b.bytes;
	vec_push(arena_of(f), &f->buffers, b);
}

static void take_barrier(Facts *f, const Op *op)
{
	const Attrs *a = &op->attrs;
	FactBarrier b = {.name = op->out->name,
			 .ring = attrs_str(a, A_RING, ""),
			 .slots = attrs_int(a, A_SLOTS, 1),
			 .count = attrs_int(a, A_COUNT, 1),
			 .offset = attrs_int(a, A_OFFSET, 0)};
	ring_of(f, b.ring)->staging = false;
	vec_push(arena_of(f), &f->barriers, b);
}

/* The condition on the warp that it stands in. */
static const Ix *warp_around(const Op *op)
{
	const Ix *x = NULL;
	for (const Op *up = op_parent(op); up; up = op_parent(up))
		if (up->kind == OP_IF && up->nix == 1 && ix_uses(IX(up, COND), "warp"))
			x = IX(up, COND);
	return x;
}

/* Of warps that load a part each, each announces its own. */
static void take_expect(Facts *f, const Op *op)
{
	const Ix *warp = warp_around(op);
	EACH(FactBarrier, b, f->barriers) {
		if (strcmp(b->name, IN(op, BARRIER).val->name) != 0)
			continue;
		b->before = b->warp == warp ? b->before : b->bytes;
		b->bytes = b->before + attrs_int(&op->attrs, A_BYTES, 0);
		b->warp = warp;
	}
}

/* Where arrivals differ by rank, they are an operand. */
static void take_init(Facts *f, const Op *op)
{
	for (int i = 0; i < f->barriers.n && op->nix; i++)
		if (!strcmp(f->barriers.at[i].name, IN(op, BARRIER).val->name))
			f->barriers.at[i].by_rank = IX(op, COUNT);
}

static void take_role(Facts *f, const Op *op)
{
	const Attrs *a = &op->attrs;
	FactRole r = {.name = op->sym[0],
		      .first = attrs_int(a, A_FIRST, 0),
		      .warps = attrs_int(a, A_WARPS, 0),
		      .active = attrs_int(a, A_ACTIVE, 0),
		      .regs = attrs_int(a, A_REGS, 0),
		      .turns = attrs_int(a, A_TURNS, 1)};
	for (const Op *in = op->body->first; in; in = in->next)
		r.moves |= in->kind == OP_SETMAXNREG;
	vec_push(arena_of(f), &f->role, r);
}

static void take_launch(Facts *f, const Op *op)
{
	f->ctas = IX(op, X);
	f->grid = ix_text(f->k->ctx, IX(op, X));
}

/* ------------------------------------------------------------------ copies */
static const char *role_name(const Op *op)
{
	const Op *role = op_role(op);
	return role ? role->sym[0] : "";
}

static FactCopy copy_of(const Op *op, const Val *buffer, const Val *map)
{
	const Op *def = map->def;
	const Attr *box = attrs_get(&def->attrs, A_BOX);
	FactCopy c = {.buffer = buffer->name,
		      .tensor = IN(def, OF).val->name,
		      .map = map->name,
		      .asks = def->nsym ? def->sym[0] : NULL,
		      .role = role_name(op),
		      .elem = IN(def, OF).val->type->elem,
		      .rank = box->n,
		      .ragged = attrs_get(&def->attrs, A_RAGGED),
		      .adds = combine_of(op),
		      .copies = 1,
		      .swizzle = attrs_int(&def->attrs, A_SWIZZLE, 0)};
	int64_t n = 1;
	for (int i = 0; i < box->n && i < BOX_MAX; i++) {
		c.box[i] = box->i[i];
		n *= box->i[i];
	}
	c.bytes = elem_span(c.elem, n);
	return c;
}

static bool is_known(const Facts *f, const char *buffer, const char *map)
{
	for (int i = 0; i < f->loads.n; i++)
		if (!strcmp(f->loads.at[i].buffer, buffer) && !strcmp(f->loads.at[i].map, map))
			return true;
	return false;
}

/* "K * 2, lda * 2": the distances in bytes along the map's modes that may be no multiples of n. */
static const char *not_multiples(const Facts *f, const Val *tensor, int64_t n)
{
	Ctx *ctx = f->k->ctx;
	const Layout *l = tensor->type->layout;
	ModeList modes = layout_map_modes(l);
	const char *all = "";
	for (int i = 1; i < modes.n; i++) {
		const Ix *bytes = elem_bytes_of(ctx, tensor->type->elem,
						tup_get(l->stride, modes.at[i])->leaf);
		if (ix_divisor(bytes, kernel_facts(f->k)) % n)
			all = ctx_strf(ctx, "%s%s%s", all, *all ? ", " : "", ix_text(ctx, bytes));
	}
	return all;
}

static bool is_out(const Facts *f, const Val *tensor)
{
	for (int i = 0; i < f->k->args.n; i++)
		if (f->k->args.at[i].val == tensor && f->k->args.at[i].is_out)
			return true;
	return false;
}

/* Boxes of rows by indices: of each warp the same number, as a pass counted all. */
static void take_boxes(const Facts *f, const Op *op, FactCopy *c)
{
	const Reason *all = kernel_why_find(f->k, REASON_BOXES, c->buffer);
	if (!HAS_IN(op, INDEX))
		return;
	c->copies *= (int)attrs_int(&op->attrs, A_N, 1);
	c->warps = all && !all->rejected ? (int)all->value / c->copies : 1;
	c->copies *= c->warps;
}

/* The first block that fills a slot through a map says how many copies a slot takes. */
static void take_load(Facts *f, const Op *op)
{
	if (!is_known(f, IN(op, TO).val->name, IN(op, MAP).val->name)) {
		FactCopy c = copy_of(op, IN(op, TO).val, IN(op, MAP).val);
		c.barrier = IN(op, BARRIER).val->name;
		for (const Op *o = op->next; o; o = o->next)
			c.copies += o->kind == OP_TMA_LOAD && IN(o, TO).val == IN(op, TO).val &&
				    IN(o, TO).at == IN(op, TO).at;
		take_boxes(f, op, &c);
		c.bytes *= c.copies;
		c.tile_bytes = facts_buffer(f, c.buffer)->bytes;
		c.why = kernel_why_find(f->k, REASON_MULTICAST, c.buffer);
		const Val *tensor = IN(IN(op, MAP).val->def, OF).val;
		c.uneven =
			c.ragged || is_out(f, tensor) ? NULL : not_multiples(f, tensor, MAP_UNIT);
		c.slow = not_multiples(f, tensor, MAP_LINE);
		vec_push(arena_of(f), &f->loads, c);
	}
}

static void take_lanes(Facts *f, const Op *op)
{
	const Type *tensor = IN(op, FROM).val->type;
	int64_t n = attrs_int(&op->attrs, A_N, 1);
	FactLanes l = {IN(op, TO).val->name, IN(op, FROM).val->name, role_name(op),
		       elem_span(tensor->elem, n)};
	for (int i = 0; i < f->lanes.n; i++)
		if (!strcmp(f->lanes.at[i].buffer, l.buffer) &&
		    !strcmp(f->lanes.at[i].tensor, l.tensor))
			return;
	vec_push(arena_of(f), &f->lanes, l);
}

static void take_store(Facts *f, const Op *op)
{
	EACH(FactCopy, old, f->stores) {
		if (strcmp(old->map, IN(op, MAP).val->name) != 0 ||
		    strcmp(old->buffer, IN(op, FROM).val->name) != 0)
			continue;
		old->copies++;
		return;
	}
	vec_push(arena_of(f), &f->stores, copy_of(op, IN(op, FROM).val, IN(op, MAP).val));
}

/* ------------------------------------------------------------------ mma and meetings */
static FactMma mma_of(Facts *f, const Op *op)
{
	const Attr *lbo = attrs_get(&op->attrs, A_LBO), *sbo = attrs_get(&op->attrs, A_SBO);
	Buf atom = {0};
	atom_print(attrs_get(&op->attrs, A_ATOM)->atom, &atom);
	FactMma m = {.atom = ctx_str(f->k->ctx, atom.s),
		     .role = role_name(op),
		     .ring = attrs_str(&IN(op, B).val->def->attrs, A_RING, ""),
		     .tv = IN(op, TO).val->type->tv,
		     .a_in_registers = IN(op, A).val->type->space == SP_REG,
		     .b_in_registers = IN(op, B).val->type->space == SP_REG};
	buf_free(&atom);
	for (int i = 0; i < 2; i++) {
		m.lbo[i] = lbo && i < lbo->n ? lbo->i[i] : 0;
		m.sbo[i] = sbo && i < sbo->n ? sbo->i[i] : 0;
	}
	return m;
}

static bool is_alike(const FactMma *a, const FactMma *b)
{
	return a->atom == b->atom && a->tv == b->tv && a->a_in_registers == b->a_in_registers &&
	       !memcmp(a->lbo, b->lbo, sizeof a->lbo) && !memcmp(a->sbo, b->sbo, sizeof a->sbo);
}

/* Accumulators and row vectors are; what comes from memory is not. */
static bool is_filled(const Kernel *k, const Val *frag)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if ((op->kind == OP_FILL || op->kind == OP_WGMMA || op->kind == OP_MOVE) &&
		    IN(op, TO).val == frag)
			return true;
	return false;
}

static void take_mma(Facts *f, const Op *op)
{
	FactMma m = mma_of(f, op);
	int i = 0;
	while (i < f->mmas.n && !is_alike(&f->mmas.at[i], &m))
		i++;
	if (i == f->mmas.n)
		vec_push(arena_of(f), &f->mmas, m);
	f->mmas.at[i].instructions++;
}

static void take_named(Facts *f, const Op *op)
{
	int64_t threads = attrs_int(&op->attrs, A_THREADS, 0);
	const char *id = ix_text(f->k->ctx, IX(op, NUMBER));
	for (int i = 0; i < f->named.n; i++)
		if (f->named.at[i].id == id && f->named.at[i].threads == threads)
			return;
	vec_push(arena_of(f), &f->named, ((FactNamed){id, threads}));
}

static void take_direct(Facts *f, const Op *op)
{
	(void)op;
	f->direct_stores++;
}

static void take_copied(Facts *f, const Op *op)
{
	(void)op;
	f->copied_stores++;
}

static void take_pdl(Facts *f, const Op *op)
{
	(void)op;
	f->clause[CLAUSE_PDL].v[0] = 1;
}

static void take_frag(Facts *f, const Op *op)
{
	bool accumulates = op->out->type->tv && is_filled(f->k, op->out);
	f->acc_regs += accumulates ? type_words(op->out->type) : 0;
	f->accs += accumulates;
}

static void (*const take[OP_COUNT])(Facts *f, const Op *op) = {
	[OP_SHARED] = take_buffer,      [OP_MBARRIER] = take_barrier, [OP_MBAR_INIT] = take_init,
	[OP_MBAR_EXPECT] = take_expect, [OP_ROLE] = take_role,        [OP_LAUNCH] = take_launch,
	[OP_TMA_LOAD] = take_load,      [OP_CP_ASYNC] = take_lanes,   [OP_TMA_STORE] = take_store,
	[OP_WGMMA] = take_mma,          [OP_MMA_SYNC] = take_mma,     [OP_BAR_SYNC] = take_named,
	[OP_BAR_ARRIVE] = take_named,   [OP_ST_GLOBAL] = take_direct, [OP_ST_STAGED] = take_copied,
	[OP_ST_UNIT] = take_copied,     [OP_GRID_LAUNCH] = take_pdl,  [OP_FRAG] = take_frag,
};

/* ------------------------------------------------------------------ the schedule */
static const char *first_word(ClauseId id)
{
	for (int i = 0; i < clause_words_count; i++)
		if (clause_words[i].clause == id)
			return clause_words[i].word;
	return NULL;
}

/* As the attribute has it, else as a pass decided, else what the row says. */
static void take_clause(Facts *f, ClauseId id)
{
	const ClauseRow *row = &clause_rows[id];
	FactClause *to = &f->clause[id];
	const Attr *a = attrs_get(&f->k->attrs, row->attr);
	const Reason *why =
		row->reason < REASON_COUNT ? kernel_why_find(f->k, row->reason, NULL) : NULL;
	to->there = true;
	for (int i = 0; i < 2; i++)
		to->v[i] = a && attr_rows[row->attr].kind == AK_INTS && i < a->n ? a->i[i]
			   : a                                                   ? a->i[0]
			   : why                                                 ? why->value
										 : row->otherwise;
	if (attr_rows[row->attr].kind == AK_STR)
		to->word = attrs_str(&f->k->attrs, row->attr, first_word(id));
}

/* Groups in flight are those of wgmma; loads that a loop makes ahead leave out their slots. */
static bool is_about_groups(const Kernel *k)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op->kind == OP_WGMMA)
			return true;
	return kernel_why_find(k, REASON_AHEAD, NULL);
}

/* What the code has, whatever was asked for: the slots and columns that results leave by. */
/* One clause cannot say that outputs have other numbers of slots: these are derived again. */
static void take_slots(Facts *f, int store)
{
	FactClause *staging = &f->clause[CLAUSE_STAGING];
	int64_t slots = facts_buffer(f, f->stores.at[store].buffer)->slots;
	staging->there &= !store || staging->v[0] == slots;
	staging->v[0] = slots;
}

/* Of outputs with elements of different sizes, the most columns: others have fewer in 128 bytes. */
static const Reason *widest_subtile(const Kernel *k)
{
	const Reason *widest = NULL;
	for (const Reason *w = NULL; (w = kernel_why_next(k, REASON_SUBTILE, w));)
		if (!w->rejected && (!widest || w->value > widest->value))
			widest = w;
	return widest;
}

/* Nor that they have other numbers of columns, unless the schedule said the most of them. */
static bool subtiles_alike(const Facts *f, const Reason *widest)
{
	for (const Reason *w = NULL; (w = kernel_why_next(f->k, REASON_SUBTILE, w));)
		if (!w->rejected && w->value != widest->value)
			return attrs_get(&f->given, A_SUBTILE);
	return true;
}

/* Nor that some leave by way of slots, and others, for a reason, from registers. */
static bool some_from_registers(const Kernel *k)
{
	for (const Reason *w = NULL; (w = kernel_why_next(k, REASON_STAGING, w));)
		if (!w->rejected && !w->value)
			return true;
	return false;
}

static void take_ways_out(Facts *f)
{
	const Reason *subtile = widest_subtile(f->k);
	f->clause[CLAUSE_STAGING].v[0] = 0;
	for (int i = 0; i < f->stores.n; i++)
		take_slots(f, i);
	f->clause[CLAUSE_STAGING].there &= !f->stores.n || !some_from_registers(f->k);
	f->clause[CLAUSE_SUBTILE].there = subtile && subtiles_alike(f, subtile);
	f->clause[CLAUSE_SUBTILE].v[0] = subtile ? subtile->value : 0;
}

static void take_schedule(Facts *f)
{
	const Kernel *k = f->k;
	const Attrs *a = &k->attrs;
	bool pdl = f->clause[CLAUSE_PDL].v[0];
	for (int i = 0; i < CLAUSE_COUNT; i++)
		take_clause(f, (ClauseId)i);
	take_ways_out(f);
	f->clause[CLAUSE_PDL].v[0] = pdl;
	f->clause[CLAUSE_DETERMINISTIC].there = f->clause[CLAUSE_DETERMINISTIC].v[0];
	f->clause[CLAUSE_OVERLAP].there =
		attrs_get(a, A_OVERLAP) || kernel_why_find(k, REASON_OVERLAP, NULL);
	f->clause[CLAUSE_SPLIT_K].there = f->clause[CLAUSE_SPLIT_K].v[0] > 1;
	f->clause[CLAUSE_SUMS].there = f->clause[CLAUSE_SPLIT_K].there;
	f->clause[CLAUSE_CTAS].there = f->clause[CLAUSE_CTAS].v[0] > 1;
	f->clause[CLAUSE_GROUP].there = f->clause[CLAUSE_GROUP].v[0] >= 0;
	f->clause[CLAUSE_INFLIGHT].there = is_about_groups(k);
	f->clause[CLAUSE_STAGES].there = false; /* pipelines say it */
	f->clause[CLAUSE_SWAP].there = f->clause[CLAUSE_SWAP].v[0];
	f->clause[CLAUSE_THREADS].there = kernel_why_find(k, REASON_THREADS, NULL);
	f->along = attrs_str(a, A_ALONG, "m");
	f->threads = attrs_int(a, A_BLOCK, 0);
	f->smem = attrs_int(a, A_SMEM, 0);
	f->smem_limit = kernel_smem(k);
	f->launch_regs = f->threads ? kernel_entry_regs(k, (int)f->threads) : 0;
}

Facts facts_of(const Kernel *k, Attrs given)
{
	Facts f = {.k = k, .given = given, .grid = ""};
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (take[op->kind])
			take[op->kind](&f, op);
	take_schedule(&f);
	return f;
}

/* ------------------------------------------------------------------ sayings */
static bool same_places(const Layout *a, const Layout *b)
{
	int64_t n = layout_size_int(a), i = 0;
	if (n != layout_size_int(b))
		return false;
	while (i < n && layout_at_int(a, i) == layout_at_int(b, i))
		i++;
	return i == n;
}

const char *facts_layout(Ctx *c, const Type *t, const char *shape)
{
	const Layout *l = t->layout;
	Swizzle sw = l->swizzle;
	int span = (int)elem_count(t->elem, 16 << sw.b);
	const char *why = NULL;
	const Layout *atom = layout_swizzled(c, sw, ix_const(c, 0), layout_2d(c, 8, span, span, 1));
	const Tup *ext[2] = {tup_leaf(c, tup_product(c, tup_get(l->shape, 0))),
			     tup_leaf(c, tup_product(c, tup_get(l->shape, 1)))};
	const Layout *tiled =
		sw.b ? layout_tile_to_shape(c, atom, tup_new(c, ext, 2), NULL, &why) : NULL;
	Buf b = {0};
	if (tiled && same_places(tiled, l)) {
		buf_printf(&b, "tile_to_shape(%s, ", layout_str(c, atom));
		if (shape)
			buf_printf(&b, "%s", shape);
		else
			tup_print(tup_new(c, ext, 2), &b);
		buf_printf(&b, ")");
	} else {
		layout_print(l, &b);
	}
	return ctx_buf(c, &b);
}

const char *facts_reason(const Facts *f, ReasonId id, const char *subject, AttrId given)
{
	const Reason *w = id < REASON_COUNT ? kernel_why_find(f->k, id, subject) : NULL;
	if (given < ATTR_COUNT && attrs_get(&f->given, given))
		return "as written";
	return w ? w->text : "default";
}
