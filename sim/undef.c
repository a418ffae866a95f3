/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* undef.c - registers that nothing wrote. Definite assignment at load finds those that a path reads
 * unwritten; instructions that touch these, or what is computed from them, are watched. Each bit is
 * defined or not. Arithmetic is run with ones and with zeros for what is undefined; where results
 * differ they are. Other reads of an undefined bit are faults: address, guard, global store.
 *   add.f32 %f2, %f1, 0f3f800000; st.global.f32 [%rd1], %f2;  ->  %f2, of %f1 */
#include "sim/handlers.h"
#include "sim/machine.h"

#include <stdlib.h>

enum {
	UNIT = 64,
	MOST_WORDS = 1 << 22,
	MOST_PASSES = 64,
	MOST_RESULTS = 8,
	SLOT_MOST = 16 * LANES
};
enum { UNWRITTEN = 1, COMPUTED }; /* suspects */

typedef bool (*Visit)(void *ctx, const Arg *a);

static bool visit(const Arg *a, Visit each, void *ctx)
{
	bool list = a->kind == A_VEC || a->kind == A_MEM, any = false;
	if ((a->kind == A_SLOT || a->kind == A_MEM) && !a->isconst)
		any = each(ctx, a);
	for (u16 i = 0; list && i < a->n && !any; i++)
		any = visit(&a->list[i], each, ctx);
	return any;
}

/* Until one says yes; an accumulator of wgmma is both. */
static bool visit_all(const Ins *in, bool written, Visit each, void *ctx)
{
	for (int i = 0; i < in->nargs; i++) {
		bool both = in->run == run_wgmma && !i;
		if ((both || (in->written >> i & 1) == written) && visit(&in->args[i], each, ctx))
			return true;
	}
	return false;
}

static bool visit_reads(const Ins *in, Visit each, void *ctx)
{
	const Arg guard = {.kind = A_SLOT, .width = 1, .slot = in->guard};
	return (in->guarded && each(ctx, &guard)) || visit_all(in, false, each, ctx);
}

/* Computes a result of its operands alone, which may be other lanes'. */
static bool is_pure(const Ins *in)
{
	bool meets = has(in, M_SYNC) && in->run != run_shfl;
	bool memory = in->run == run_mapa || meets || in->lacks;
	for (int i = 0; i < in->nargs; i++)
		memory |= in->args[i].kind == A_MEM;
	return in->written && !memory;
}

/* How many bytes of a result of width are defined together: of moves each bit is by itself (0), of
 * pairs each half; where a bit of another result may be wrong none can be relied on. */
static u32 unit_of(const Ins *in, u32 width)
{
	static const Handler movers[] = {run_mov,  run_mov_pred, run_pack,    run_unpack,
					 run_and,  run_or,       run_xor,     run_not,
					 run_pred, run_lop3,     run_shl,     run_shr,
					 run_shf,  run_prmt,     run_bfi,     run_bfe,
					 run_selp, run_slct,     run_cvt_int, run_cvt_pack_int};
	for (u32 i = 0; i < SIM_COUNT(movers); i++)
		if (in->run == movers[i])
			return 0;
	return strstr(type_words[in->type[0]], "x2") ? width / 2 : width;
}

/* ------------------------------------------------------------------ definite assignment */
typedef struct {
	Code *c;
	u64 *set; /* by slot / UNIT: written on each path so far */
} Paths;

static bool now_set(void *ctx, const Arg *a)
{
	u64 *set = ((Paths *)ctx)->set;
	set[a->slot / UNIT / 64] |= UINT64_C(1) << a->slot / UNIT % 64;
	return false;
}

static bool suspect_unset(void *ctx, const Arg *a)
{
	Paths *p = ctx;
	if (!(p->set[a->slot / UNIT / 64] >> a->slot / UNIT % 64 & 1))
		p->c->suspect[a->slot / UNIT] = UNWRITTEN;
	return false;
}

static bool is_suspect(void *ctx, const Arg *a)
{
	return ((Paths *)ctx)->c->suspect[a->slot / UNIT];
}

static bool now_suspect(void *ctx, const Arg *a)
{
	u8 *at = &((Paths *)ctx)->c->suspect[a->slot / UNIT];
	((Paths *)ctx)->c->tracked |= !*at;
	*at = *at ? *at : COMPUTED;
	return false;
}

/* One pass over block b. in: by block, what is set where it begins; look: marks reads of others. */
static void block_pass(Paths *p, const u64 *in, const u32 *first, s32 b, u32 words, bool look)
{
	memcpy(p->set, in + (size_t)b * words, words * sizeof *in);
	for (u32 i = first[b]; i < first[b + 1]; i++) {
		const Ins *ins = &p->c->ins[i];
		if (look)
			visit_reads(ins, suspect_unset, p);
		if (!ins->guarded)
			visit_all(ins, true, now_set, p);
	}
}

/* to: what is set where a block begins, on all paths so far; true: one more path leaves less. */
static bool path_join(u64 *to, const u64 *set, u32 words)
{
	u64 lost = 0;
	for (u32 i = 0; i < words; i++) {
		lost |= to[i] & ~set[i];
		to[i] &= set[i];
	}
	return lost;
}

/* False: it takes too long. */
static bool paths_walk(Paths *p, u64 *in, const u32 *first, s32 n, s32 (*next)[2], u32 words)
{
	bool changed = true;
	memset(in, 0xff, (size_t)n * words * sizeof *in);
	memset(in, 0, words * sizeof *in);
	for (int pass = 0; changed && pass < MOST_PASSES; pass++) {
		changed = false;
		for (s32 b = 0; b < n; b++) {
			block_pass(p, in, first, b, words, false);
			for (int k = 0; k < 2; k++)
				if (next[b][k] >= 0 && next[b][k] < n)
					changed |= path_join(in + (size_t)next[b][k] * words,
							     p->set, words);
		}
	}
	for (s32 b = 0; b < n && !changed; b++)
		block_pass(p, in, first, b, words, true);
	return !changed;
}

/* What is computed from suspects is suspect, and who touches one is watched. */
static void suspects_close(Paths *p)
{
	Code *c = p->c;
	c->tracked = true;
	for (int pass = 0; c->tracked; pass++) {
		c->tracked = false;
		if (pass == MOST_PASSES)
			memset(c->suspect, UNWRITTEN, c->file_bytes / UNIT + 1);
		for (u32 i = 0; i < c->nins; i++)
			if (is_pure(&c->ins[i]) && visit_reads(&c->ins[i], is_suspect, p))
				visit_all(&c->ins[i], true, now_suspect, p);
	}
	for (u32 i = 0; i < c->nins; i++) {
		Ins *in = &c->ins[i];
		if (!in->lacks &&
		    (visit_reads(in, is_suspect, p) || visit_all(in, true, is_suspect, p))) {
			in->flags |= F_TRACKED;
			c->tracked = true;
		}
	}
}

void undef_find(Pool *a, Code *c, const u32 *first, s32 n, s32 (*next)[2])
{
	u32 units = c->file_bytes / UNIT + 1, words = units / 64 + 1;
	bool small = (u64)words * (u64)(n + 1) < MOST_WORDS;
	u64 *in = small ? malloc((size_t)words * (size_t)(n + 1) * sizeof *in) : NULL;
	Paths p = {c, in ? in + (size_t)n * words : NULL};
	c->suspect = pool_new(a, units);
	if (!in || !paths_walk(&p, in, first, n, next, words))
		memset(c->suspect, UNWRITTEN, units);
	free(in);
	suspects_close(&p);
}

/* ------------------------------------------------------------------ while it runs */
typedef struct {
	Warp *w;
	u32 mask;
	bool all; /* bits of a thread are looked for, not one */
	const Arg *found;
	u8 ones; /* what undefined bits are taken for: 0xff or 0 */
	u32 n;
	const Arg *to[MOST_RESULTS];
} Look;

static u32 slot_bytes(const Arg *a)
{
	return a->width == 1 ? sizeof(u32) : a->width * (u32)LANES;
}

/* Which of the bits of byte i of the slot belong to threads of mask. */
static u8 byte_mask(const Arg *a, u32 mask, u32 i)
{
	return (u8)(a->width == 1 ? mask >> 8 * i : mask >> i / a->width & 1 ? 0xff : 0);
}

size_t undef_bytes(const Code *c)
{
	size_t origins = (c->file_bytes / UNIT * sizeof(u32) + UNIT - 1) & ~(UNIT - 1u);
	return c->tracked ? c->file_bytes + origins : 0;
}

/* Its bits lie after the warp's slots; those of registers without an origin are not looked at. */
void undef_start(Warp *w)
{
	const Code *c = w->code;
	if (!c->tracked || !checked(w->cluster, CHECK_UNINIT))
		return;
	w->undef = w->file + c->file_bytes;
	w->origin = (u32 *)(void *)(w->undef + c->file_bytes);
	memset(w->origin, 0, c->file_bytes / UNIT * sizeof(u32));
	for (u32 i = 0; i < c->nregs; i++) {
		const Arg a = {.width = c->regs[i].width, .slot = c->regs[i].slot};
		if (c->suspect[a.slot / UNIT] != UNWRITTEN)
			continue;
		w->undefs++;
		memset(w->undef + a.slot, 0xff, slot_bytes(&a));
		w->origin[a.slot / UNIT] = a.slot + 1;
	}
}

static bool undefined(void *ctx, const Arg *a)
{
	Look *k = ctx;
	const u8 *at = k->w->undef + a->slot;
	if (!k->w->origin[a->slot / UNIT])
		return false;
	bool some = false, every = true;
	for (u32 i = 0; i < slot_bytes(a); i++) {
		u8 m = byte_mask(a, k->mask, i);
		some |= at[i] & m;
		every &= (at[i] & m) == m;
	}
	k->found = a;
	return k->all ? every : some;
}

static const char *reg_name(const Code *c, u32 slot)
{
	for (u32 i = 0; i < c->nregs; i++)
		if (c->regs[i].slot == slot)
			return c->regs[i].name;
	return "a register";
}

static void undefined_report(const Look *k, const Ins *in)
{
	const Code *c = k->w->code;
	u32 slot = k->found->slot, origin = k->w->origin[slot / UNIT] - 1;
	report(k->w, in, (s32)lane_first(k->mask), SIM_UNINIT,
	       slot == origin
		       ? "%s of kernel %s reads %s, which nothing has written"
		       : "%s of kernel %s reads %s, computed from %s, which nothing has written",
	       in->text, c->name, reg_name(c, slot), reg_name(c, origin));
}

static bool fill(void *ctx, const Arg *a)
{
	const Look *k = ctx;
	u8 *at = k->w->file + a->slot, *undef = k->w->undef + a->slot;
	for (u32 i = 0; i < slot_bytes(a) && k->w->origin[a->slot / UNIT]; i++)
		at[i] = (u8)((at[i] & ~undef[i]) | (k->ones & undef[i]));
	return false;
}

static bool result(void *ctx, const Arg *a)
{
	Look *k = ctx;
	if (k->n < MOST_RESULTS)
		k->to[k->n++] = a;
	return false;
}

/* Bits of the threads of mask in which the result of a differs from other; NULL: none. */
static void mark(const Look *k, const Arg *a, const u8 *other, u32 unit)
{
	u8 *undef = k->w->undef + a->slot, *at = k->w->file + a->slot;
	for (u32 i = 0; i < slot_bytes(a); i++) {
		u8 m = byte_mask(a, k->mask, i), differs = (u8)(other ? at[i] ^ other[i] : 0);
		u32 from = unit ? i / unit * unit : i;
		if (other && unit && a->width > 1)
			differs = memcmp(at + from, other + from, unit) ? 0xff : 0;
		undef[i] = (u8)((undef[i] & ~m) | (differs & m));
	}
}

static bool defined(void *ctx, const Arg *a)
{
	const Look *k = ctx;
	u32 *origin = &k->w->origin[a->slot / UNIT];
	if (*origin && k->mask != FULL)
		mark(k, a, NULL, 0);
	else if (*origin && k->w->undefs--)
		memset(k->w->undef + a->slot, *origin = 0, slot_bytes(a));
	return false;
}

/* Runs it twice; operands that are results too have their old values again. */
static Run run_both(Look *k, const Ins *in)
{
	Warp *w = k->w;
	u8 was[MOST_RESULTS][SLOT_MOST], ones[MOST_RESULTS][SLOT_MOST];
	u32 carry = w->carry, origin = w->origin[k->found->slot / UNIT];
	visit_all(in, true, result, k);
	for (u32 i = 0; i < k->n; i++)
		memcpy(was[i], w->file + k->to[i]->slot, slot_bytes(k->to[i]));
	visit_all(in, false, fill, k);
	in->run(w, in, k->mask);
	for (u32 i = 0; i < k->n; i++) {
		memcpy(ones[i], w->file + k->to[i]->slot, slot_bytes(k->to[i]));
		memcpy(w->file + k->to[i]->slot, was[i], slot_bytes(k->to[i]));
	}
	w->carry = carry;
	k->ones = 0;
	visit_all(in, false, fill, k);
	Run run = in->run(w, in, k->mask);
	for (u32 i = 0; i < k->n; i++) {
		u32 *to = &w->origin[k->to[i]->slot / UNIT];
		if (!*to && ++w->undefs)
			memset(w->undef + k->to[i]->slot, 0, slot_bytes(k->to[i]));
		mark(k, k->to[i], ones[i], unit_of(in, k->to[i]->width));
		*to = origin;
	}
	return run;
}

/* Whether all that some thread stores is undefined: part of it may be padding. */
static bool stores_undefined(Look *k, const Arg *v)
{
	EACH_LANE(l, k->mask)
	{
		Look one = {.w = k->w, .mask = 1u << l, .all = true};
		u16 n = 0;
		while (n < v->n && visit(&v->list[n], undefined, &one))
			n++;
		if (n < v->n)
			continue;
		*k = one;
		return true;
	}
	return false;
}

/* wgmma adds to its accumulators only where its predicate says so; what is staged in shared memory
 * or passed to a function may be padding that nobody reads. */
static bool reads_undefined(Look *k, const Ins *in)
{
	if (in->run == run_wgmma && !(pred_get(k->w, &in->args[3]) & 1))
		return visit(&in->args[1], undefined, k);
	if (in->run != run_st && in->run != run_stmatrix)
		return visit_all(in, false, undefined, k);
	Space space = in->run == run_st ? mem_space(in) : SP_SHARED;
	bool staged = space != SP_GLOBAL && space != SP_GENERIC;
	return visit(&in->args[0], undefined, k) || (!staged && stores_undefined(k, &in->args[1]));
}

void undef_guard(Warp *w, const Ins *in, u32 mask)
{
	const Arg guard = {.kind = A_SLOT, .width = 1, .slot = in->guard};
	Look k = {.w = w, .mask = mask};
	if (w->undefs && undefined(&k, &guard))
		undefined_report(&k, in);
}

Run undef_run(Warp *w, const Ins *in, u32 mask)
{
	Look k = {.w = w, .mask = mask, .ones = 0xff};
	bool found = reads_undefined(&k, in), together = mask == FULL || !has(in, M_SYNC);
	if (found && is_pure(in) && together)
		return run_both(&k, in);
	if (found)
		undefined_report(&k, in);
	visit_all(in, true, defined, &k);
	return in->run(w, in, mask);
}
