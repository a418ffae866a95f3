/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stepper_registers.c - a warp's registers in program order: which a wgmma in flight writes, or
 * reads as its A, which were used since the last wgmma.fence. Views are what they view.
 *     wgmma %acc[0] ; %v = part %acc[0]  ->  "uses a register of a wgmma in flight" */
#include "stepper.h"

#include "base/ptrmap.h"

typedef struct {
	const Val *val;
	int n;
	int *group; /* of the last wgmma that has it, from 1 */
	bool *used;
} Storage;
typedef struct {
	Storage *of;
	int first, n;
} Place;
struct PtxRegisters {
	Arena *arena;
	PtrMap storage, views;
	VEC(Storage *) all;
	int committed, done, last; /* groups; last: of the last wgmma */
};

PtxRegisters *registers_new(Arena *arena)
{
	PtxRegisters *r = NEW(arena, PtxRegisters);
	r->arena = r->storage.arena = r->views.arena = arena;
	return r;
}

static Storage *storage_of(PtxRegisters *r, const Val *v)
{
	Storage *s = ptrmap_get(&r->storage, v);
	if (s)
		return s;
	s = NEW(r->arena, Storage);
	s->val = v;
	s->n = type_regs(v->type);
	s->group = NEWN(r->arena, int, s->n + 1);
	s->used = NEWN(r->arena, bool, s->n + 1);
	for (int i = 0; i < s->n; i++)
		s->used[i] = true; /* no fence was there yet */
	ptrmap_set(&r->storage, v, s);
	vec_push(r->arena, &r->all, s);
	return s;
}

static bool is_tile(const Val *v)
{
	return v->type->kind == TY_TILE && v->type->space == SP_REG && v->type->tv;
}

/* The registers of v, from `at` on; of is NULL where v is no storage. */
static Place place_of(PtxRegisters *r, const Val *v, const Ix *at, const LaneNames *n)
{
	Place none = {NULL, 0, 0};
	int64_t first = 0;
	if (!is_tile(v) || !v->def)
		return none;
	if (at && !names_int(n, at, &first))
		return none;
	if (v->def->kind == OP_PART) {
		Place p = place_of(r, v->def->in[0].val, v->def->in[0].at, n);
		return (Place){p.of, p.first + (int)first, type_regs(v->type) - (int)first};
	}
	return (Place){storage_of(r, v), (int)first, type_regs(v->type) - (int)first};
}

static const char *use(PtxRegisters *r, Place p)
{
	for (int i = p.first; p.of && i < p.first + p.n && i < p.of->n; i++) {
		if (p.of->group[i] > r->done)
			return "uses a register of a wgmma in flight";
		p.of->used[i] = true;
	}
	return NULL;
}

/* The accumulator, and A where it is in registers; what lies in shared memory has no place. */
static const char *start(PtxRegisters *r, const Op *op, const LaneNames *n)
{
	const Attr *a = attrs_get(&op->attrs, A_ATOM);
	int m = a ? atom_rows[a->atom.id].m : 0;
	int columns[] = {a ? a->atom.n : 0, a ? atom_rows[a->atom.id].k : 0};
	for (int which = 0; which < 2; which++) {
		Place p = place_of(r, op->in[which].val, op->in[which].at, n);
		int regs = a ? m * columns[which] / (GROUP_WARPS * LANES) : p.n;
		for (int i = p.first; p.of && i < p.first + regs && i < p.of->n; i++) {
			if (p.of->used[i])
				return "starts a wgmma on registers used since its last "
				       "wgmma.fence";
			p.of->group[i] = r->committed + 1;
		}
	}
	r->last = r->committed + 1;
	return NULL;
}

/* How many registers an access takes. */
static int access_regs(const Op *op)
{
	int n = (int)attrs_int(&op->attrs, A_N, 1);
	int word = 32 / elem_rows[op->in[0].val->type->elem].bits;
	return op->kind == OP_LDMATRIX || op->kind == OP_STMATRIX ? word * n : n;
}

static const char *use_all(PtxRegisters *r, const Op *op, const LaneNames *n)
{
	bool vector = op->kind == OP_LDMATRIX || op->kind == OP_STMATRIX ||
		      op->kind == OP_LD_SHARED || op->kind == OP_ST_SHARED ||
		      op->kind == OP_LD_PEER || op->kind == OP_LD_GLOBAL ||
		      op->kind == OP_ST_GLOBAL;
	const char *why = NULL;
	for (int i = 0; i < op->nin && !why; i++) {
		Place p = place_of(r, op->in[i].val, op->in[i].at, n);
		int regs = vector ? access_regs(op) : p.n;
		if (op->kind == OP_PART)
			regs = type_regs(op->out->type);
		p.n = regs < p.n ? regs : p.n;
		why = use(r, p);
	}
	bool made = op->out && op->kind != OP_PART && !why;
	return made ? use(r, place_of(r, op->out, NULL, n)) : why;
}

const char *registers_step(PtxRegisters *r, const Op *op, const LaneNames *n)
{
	int left = (int)attrs_int(&op->attrs, A_N, 0);
	switch ((int)op->kind) {
	case OP_WGMMA:
		return start(r, op, n);
	case OP_WGMMA_FENCE:
		for (int i = 0; i < r->all.n; i++)
			for (int j = 0; j < r->all.at[i]->n; j++)
				r->all.at[i]->used[j] = false;
		return NULL;
	case OP_WGMMA_COMMIT:
		r->committed++;
		return NULL;
	case OP_WGMMA_WAIT:
		r->done = r->committed - left > r->done ? r->committed - left : r->done;
		return NULL;
	case OP_FRAG:
		storage_of(r, op->out);
		return NULL;
	default:
		return use_all(r, op, n);
	}
}

const char *registers_exit(const PtxRegisters *r)
{
	return r->last > r->done ? "exits with a wgmma in flight" : NULL;
}
