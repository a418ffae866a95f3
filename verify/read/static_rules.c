/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* static_rules.c - what needs no run: barriers whose storage is not their own, boxes that do not
 * fill their slots, counts that contradict each other; which slots have bytes in common.
 *     %sA offset=0 (65536 bytes), %full offset=32768  ->  "%sA and %full share bytes"
 */
#include "verify/read/read.h"

/* ------------------------------------------------------------------ storage */
enum { MBAR_BYTES = 8 };

typedef struct {
	int64_t lo, hi;
} Extent;

static bool extent_of(const Op *op, Extent *e)
{
	int64_t n = attrs_int(&op->attrs, A_SLOTS, 1) * attrs_int(&op->attrs, A_GROUPS, 1);
	if (op->kind != OP_SHARED && op->kind != OP_MBARRIER)
		return false;
	e->lo = attrs_int(&op->attrs, A_OFFSET, 0);
	e->hi = e->lo + n * (op->kind == OP_SHARED ? type_slot_bytes(op->out->type) : MBAR_BYTES);
	return true;
}

static void note_overlap(Reader *r, const Op *p, Extent a, const Op *q, Extent b)
{
	const Place *x = read_place(r, p->out), *y = read_place(r, q->out);
	Machine *m = &r->p->m;
	int64_t each_x = (a.hi - a.lo) / x->slots, each_y = (b.hi - b.lo) / y->slots;
	for (int i = 0; i < x->slots; i++)
		for (int j = 0; j < y->slots; j++) {
			int u = x->first + i, v = y->first + j;
			if (a.lo + each_x * i >= b.lo + each_y * (j + 1) ||
			    b.lo + each_y * j >= a.lo + each_x * (i + 1))
				continue;
			for (int cta = 0; cta < m->nc; cta += r->cta_cells) {
				m->cells[cta + u].over[v / 64] |= (uint64_t)1 << (v % 64);
				m->cells[cta + v].over[u / 64] |= (uint64_t)1 << (u % 64);
			}
		}
}

/* Buffers may have bytes in common: a run shows whether they are used in turn. */
static bool storage_apart(Reader *r)
{
	Extent a, b;
	int64_t all = attrs_int(&r->p->k->attrs, A_SMEM, 0); /* what the launch gives */
	for (const Op *p = kernel_first(r->p->k); p; p = p->next) {
		if (!extent_of(p, &a))
			continue;
		if (a.lo < 0 || a.hi > all)
			return read_problem(r, D_E0412, p->loc, "%%%s lies outside shared memory",
					    p->out->name);
		for (const Op *q = p->next; q; q = q->next) {
			if (!extent_of(q, &b) || b.lo >= a.hi || a.lo >= b.hi)
				continue;
			if (p->kind == OP_MBARRIER || q->kind == OP_MBARRIER)
				return read_problem(r, D_E0412, q->loc, "%%%s and %%%s share bytes",
						    p->out->name, q->out->name);
			note_overlap(r, p, a, q, b);
		}
	}
	return true;
}

/* ------------------------------------------------------------------ boxes */
int64_t read_box_bytes(const Op *op)
{
	if (op_done_by(op, DONE_BY_BARRIER) && !HAS_IN(op, MAP)) /* all of the slot */
		return type_slot_bytes(IN(op, TO).val->type);
	for (int i = 0; i < op->nin; i++) {
		const Op *map = op->in[i].val->def;
		const Attr *box =
			map && map->kind == OP_TMAP ? attrs_get(&map->attrs, A_BOX) : NULL;
		if (!box)
			continue;
		int64_t n = 1;
		for (int j = 0; j < box->n; j++)
			n *= box->i[j];
		n *= op_done_by(op, DONE_BY_BARRIER) ? attrs_int(&op->attrs, A_N, 1) : 1;
		return elem_span(IN(map, OF).val->type->elem, n);
	}
	return 0;
}

static bool is_load(const Op *op)
{
	return op_done_by(op, DONE_BY_BARRIER) && op->nix;
}

const Ix *read_seen(const Reader *r, const Ix *x, int rank)
{
	return stage(&r->of_rank[rank - r->p->rank], x);
}

static const Ix *mask_of(const Reader *r, const Op *op, int rank)
{
	return attrs_int(&op->attrs, A_SHARED, 0) ? read_seen(r, op->ix[op->nix - 1], rank) : NULL;
}

/* Whether a CTA of this rank comes to the op, as far as is known. */
static bool comes_to(const Reader *r, const Op *op, int rank)
{
	for (const Op *up = op_parent(op); up; up = op_parent(up))
		for (int i = 0; up->kind == OP_IF && i < up->nix; i++)
			if (ix_is(read_seen(r, up->ix[i], rank), 0))
				return false;
	return true;
}

bool read_goes_to(const Reader *r, const Op *op, int rank, int to)
{
	const Ix *mask = mask_of(r, op, rank);
	int64_t v = INT64_C(1) << rank;
	if (!comes_to(r, op, rank))
		return false;
	if (mask)
		ix_is_const(mask, &v);
	return v >> to & 1;
}

static bool mask_right(Reader *r, const Op *op, int rank)
{
	const Ix *mask = mask_of(r, op, rank);
	int64_t v;
	if (!mask || !comes_to(r, op, rank))
		return true;
	if (!ix_is_const(mask, &v))
		return read_problem(r, D_W0411, op->loc,
				    "a load into CTAs that are known only at run time");
	if (v > 0 && v < INT64_C(1) << r->p->ctas)
		return true;
	return read_problem(r, D_E0413, op->loc,
			    "rank %d loads into the CTAs of mask %lld, and ranks are 0 to %d", rank,
			    (long long)v, r->p->ctas - 1);
}

static void add_part(Reader *r, BoxPart part)
{
	EACH(const BoxPart, p, r->parts)
		if (p->buffer == part.buffer && p->offset == part.offset &&
		    p->bytes == part.bytes && p->rank == part.rank)
			return;
	vec_push(r->p->arena, &r->parts, part);
}

static bool find_parts_of(Reader *r, const Op *op, int rank)
{
	BoxPart part = {.buffer = IN(op, TO).val, .bytes = read_box_bytes(op)};
	if (!mask_right(r, op, rank))
		return false;
	if (!ix_is_const(read_seen(r, IX(op, BYTE), rank), &part.offset))
		return true;
	for (part.rank = 0; part.rank < r->p->ctas; part.rank++)
		if (read_goes_to(r, op, rank, part.rank))
			add_part(r, part);
	return true;
}

static bool find_parts(Reader *r)
{
	for (const Op *op = kernel_first(r->p->k); op; op = op_next(op))
		for (int i = 0; is_load(op) && i < r->p->m.ranks; i++)
			if (!find_parts_of(r, op, r->p->rank + i))
				return false;
	return true;
}

static int count_parts(const Reader *r, const Op *buffer, int rank)
{
	int n = 0;
	for (int i = 0; i < r->parts.n; i++)
		n += r->parts.at[i].buffer == buffer->out && r->parts.at[i].rank == rank;
	return n;
}

/* The boxes of a buffer fill its slot, and none lies on another. */
static bool parts_fill(Reader *r, const Op *buffer, int rank, PartSet *full)
{
	int64_t sum = 0, slot = type_slot_bytes(buffer->out->type);
	*full = 0;
	for (int i = 0, n = 0; i < r->parts.n; i++) {
		const BoxPart *a = &r->parts.at[i];
		if (a->buffer != buffer->out || a->rank != rank)
			continue;
		*full |= (PartSet)1 << n++;
		sum += a->bytes;
		EACH_OF(const BoxPart, b, r->parts.at, i)
			if (b->buffer == a->buffer && b->rank == rank &&
			    a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes)
				sum = -1;
		if (a->offset < 0 || a->offset + a->bytes > slot || sum < 0)
			return false;
	}
	return !*full || sum == slot;
}

static bool boxes_fill(Reader *r, int rank)
{
	for (const Op *op = kernel_first(r->p->k); op; op = op->next) {
		PartSet full;
		if (op->kind != OP_SHARED)
			continue;
		if (count_parts(r, op, rank) > MAX_PARTS)
			return read_limit(r, LIMIT_PARTS, op->loc);
		if (!parts_fill(r, op, rank, &full))
			return read_problem(r, D_E0413, op->loc,
					    "the boxes loaded into %%%s do not cover its %d bytes, "
					    "each once",
					    op->out->name, (int)type_slot_bytes(op->out->type));
		const Place *at = read_place(r, op->out);
		for (int i = 0; i < at->slots; i++)
			r->p->m.cells[read_first(r, at, rank) + i].full = full;
	}
	return true;
}

PartSet read_part(const Reader *r, const Op *op, int from, int to, int64_t *bytes)
{
	int64_t offset;
	*bytes = read_box_bytes(op);
	if (!op->nix || !ix_is_const(read_seen(r, IX(op, BYTE), from), &offset))
		return 0;
	for (int i = 0, n = 0; i < r->parts.n; i++) {
		const BoxPart *a = &r->parts.at[i];
		if (a->buffer != IN(op, TO).val || a->rank != to)
			continue;
		if (a->offset == offset && a->bytes == *bytes)
			return (PartSet)1 << n;
		n++;
	}
	return 0;
}

/* ------------------------------------------------------------------ counts */
static bool counts_agree(Reader *r)
{
	for (const Op *op = kernel_first(r->p->k); op; op = op_next(op)) {
		if (op->kind != OP_MBAR_INIT)
			continue;
		int64_t n = attrs_int(&op->attrs, A_COUNT, 1);
		int64_t said = attrs_int(&IN(op, BARRIER).val->def->attrs, A_COUNT, n);
		if (n != said)
			return read_problem(r, D_E0411, op->loc,
					    "%%%s has count %d and is initialised with %d",
					    IN(op, BARRIER).val->name, (int)said, (int)n);
	}
	return true;
}

/* ------------------------------------------------------------------ tensor maps */
/* The name that the launch has made 0, as it can have no such map; NULL: it has. */
static const char *map_missing(const Reader *r, const Val *v)
{
	for (int i = 0; v->def && v->def->kind == OP_TMAP && i < v->def->nsym; i++)
		for (int j = 0; j < r->p->nchoices; j++)
			if (r->p->choices[j].name == v->def->sym[i] &&
			    ix_is(r->p->choices[j].by, 0))
				return r->p->choices[j].name;
	return NULL;
}

static bool maps_there(Reader *r)
{
	for (const Op *op = kernel_first(r->p->k); op; op = op_next(op))
		for (int i = 0; i < op->nin; i++) {
			const char *name = map_missing(r, op->in[i].val);
			for (int j = 0; name && j < r->p->m.ranks; j++)
				if (comes_to(r, op, r->p->rank + j))
					return read_problem(r, D_E0412, op->loc,
							    "%%%s is used where %s is 0, and the "
							    "launch has no such map then",
							    op->in[i].val->name, name);
		}
	return true;
}

bool read_statics(Reader *r)
{
	if (!read_tickets(r) || !read_grid(r) || !maps_there(r) || !storage_apart(r) ||
	    !counts_agree(r) || !find_parts(r))
		return false;
	for (int i = 0; i < r->p->m.ranks; i++)
		if (!boxes_fill(r, r->p->rank + i))
			return false;
	return true;
}
