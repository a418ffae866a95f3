/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* access.c - loads, stores, atomics and address arithmetic of threads (PTX ISA: ld, st, atom, red,
 * cvta, isspacep, mapa, getctarank). Shared accesses are shown to the checks; global atomics are
 * atomic between host threads too. */
#include "sim/lanes.h"
#include "sim/number.h"

enum { STORE_BYTES = 8 * 16 }; /* at most, by one thread */

void prepare_vector(Pool *a, Ins *in)
{
	int want = has(in, M_V2) ? 2 : has(in, M_V4) ? 4 : has(in, M_V8) ? 8 : 1;
	for (int i = 0; i < in->nargs; i++)
		if (in->args[i].kind == A_VEC && in->args[i].n != want)
			refuse(a, in,
			       "the number of elements between braces is not that of the opcode");
}

/* stored: what will be written; NULL: a read. */
static void touch(Warp *w, const Ins *in, u32 lane, const Place *p, u32 bytes, const void *stored)
{
	bool strong = is_strong(in), write = stored;
	if (write)
		w->cluster->progress = w->cluster->steps;
	w->acting = 1u << lane;
	if (strong && p->shadow) {
		if (write)
			flag_write(w, in, p, false);
		else
			flag_read(w, in, p);
	}
	place_touch(p, bytes,
		    (Access){.w = w,
			     .in = in,
			     .lane = lane,
			     .write = write,
			     .what = strong ? strong_access : NULL,
			     .stored = stored});
	if (p->global && write)
		grid_check(w, in, lane);
}

/* An atomic operation reads and writes. */
static void atom_touch(Warp *w, const Ins *in, u32 lane, const Place *p, u32 bytes)
{
	w->cluster->progress = w->cluster->steps;
	w->acting = 1u << lane;
	if (p->global)
		grid_check(w, in, lane);
	if (p->shadow) {
		flag_read(w, in, p);
		flag_write(w, in, p, true);
	}
	place_touch(p, bytes,
		    (Access){.w = w, .in = in, .lane = lane, .write = true, .what = strong_access});
}

void grid_check(Warp *w, const Ins *in, u32 lane)
{
	Cluster *c = w->cluster;
	if (!c->job->l->dependent || !checked(c, CHECK_GRID) ||
	    clock_of(&w->know.seen, c->grid_actor))
		return;
	report(w, in, (s32)lane, SIM_GRID,
	       "%s touches global memory that the previous kernel may still use: nothing orders it "
	       "after a griddepcontrol.wait",
	       in->text);
}

void grid_check_read(Warp *w, const Ins *in, u32 lane, u64 addr)
{
	const SimLaunch *l = w->cluster->job->l;
	for (u32 i = 0; i < l->nconstants; i++)
		if (addr - l->constants[i].from < l->constants[i].bytes)
			return;
	grid_check(w, in, lane);
}

static Run load(Warp *w, const Ins *in, u32 mask, Space space)
{
	const Arg *v = &in->args[0];
	Type t = in->type[0];
	u32 each = type_bytes[t], bytes = each * v->n;
	Place p;
	EACH_LANE(l, mask)
	{
		u64 addr = mem_address(w, &in->args[1], l);
		if (!place_at(w, in, l, space, addr, bytes, bytes, &p))
			return RUN_FAIL;
		touch(w, in, l, &p, bytes, NULL);
		if (p.global)
			grid_check_read(w, in, l, addr);
		for (u32 i = 0; i < v->n; i++) {
			const Arg *to = &v->list[i];
			u64 x = 0;
			if (each == 16) {
				memcpy(w->file + to->slot + l * 16, p.host + i * 16, 16);
				continue;
			}
			memcpy(&x, p.host + i * each, each);
			if (to->kind == A_SLOT)
				arg_set(w, to, l, extended(t, x));
		}
	}
	return RUN_NEXT;
}

Run run_ld(Warp *w, const Ins *in, u32 mask)
{
	return load(w, in, mask, mem_space(in));
}

Run run_ld_param(Warp *w, const Ins *in, u32 mask)
{
	return load(w, in, mask, SP_PARAM);
}

Run run_st(Warp *w, const Ins *in, u32 mask)
{
	const Arg *v = &in->args[1];
	u32 each = type_bytes[in->type[0]], bytes = each * v->n;
	Space space = mem_space(in);
	u8 value[STORE_BYTES];
	Place p;
	EACH_LANE(l, mask)
	{
		u64 addr = mem_address(w, &in->args[0], l);
		if (!place_at(w, in, l, space, addr, bytes, bytes, &p))
			return RUN_FAIL;
		for (u32 i = 0; i < v->n; i++) {
			u64 x = each == 16 ? 0 : arg_get(w, &v->list[i], l);
			const void *from =
				each == 16 ? w->file + v->list[i].slot + l * 16 : (u8 *)&x;
			memcpy(value + i * each, from, each);
		}
		touch(w, in, l, &p, bytes, value);
		memcpy(p.host, value, bytes);
	}
	return RUN_NEXT;
}

void prepare_atom(Pool *a, Ins *in)
{
	bool cas = has(in, M_CAS);
	if (cas != (in->args[3].kind != A_NONE) && !in->args[0].list && in->args[0].kind != A_MEM)
		refuse(a, in, cas ? "cas needs two values" : "there are too many operands");
	if (in->type[0] == T_B128)
		lack(in, "128-bit atomics are not simulated");
}

static f64 combined(const Ins *in, f64 a, f64 b)
{
	return has(in, M_ADD) ? a + b : (a < b) == has(in, M_MIN) ? a : b;
}

static u64 float_op(const Ins *in, u64 old, u64 v)
{
	Type t = in->type[0];
	u64 r = 0;
	if (t == T_F64)
		return num_bits64(combined(in, num_double(old), num_double(v)));
	if (t == T_F32)
		return f32_bits((f32)combined(in, float_value(t, old), float_value(t, v)));
	for (u32 i = 0; i < 8u * type_bytes[t]; i += 16)
		r |= (u64)num_pack(combined(in, float_value(t, old >> i), float_value(t, v >> i)),
				   format_of(t))
		     << i;
	return r;
}

static bool below(const Ins *in, u64 a, u64 b)
{
	if (in->type[0] == T_S32)
		return (s32)a < (s32)b;
	return in->type[0] == T_S64 ? (s64)a < (s64)b : a < b;
}

/* What the operation makes of the old value; b is the second value of cas. */
static u64 atom_result(const Ins *in, u64 old, u64 v, u64 b)
{
	if (has(in, M_EXCH))
		return v;
	if (has(in, M_CAS))
		return old == v ? b : old;
	if (has(in, M_AND))
		return old & v;
	if (has(in, M_OR))
		return old | v;
	if (has(in, M_XOR))
		return old ^ v;
	if (type_class[in->type[0]] == 'F')
		return float_op(in, old, v);
	if (has(in, M_ADD))
		return old + v;
	if (has(in, M_INC))
		return old >= v ? 0 : old + 1;
	if (has(in, M_DEC))
		return old == 0 || old > v ? v : old - 1;
	return below(in, old, v) == has(in, M_MIN) ? old : v;
}

/* *at of C type T becomes what the operation makes of it; the value before goes into old. */
#define EXCHANGE(T)                                                                       \
	do {                                                                              \
		T was = __atomic_load_n((T *)(void *)at, __ATOMIC_SEQ_CST), next;         \
		do                                                                        \
			next = (T)atom_result(in, was, (T)v, b);                          \
		while (!__atomic_compare_exchange_n((T *)(void *)at, &was, next, false,   \
						    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
		old = was;                                                                \
	} while (0)

u64 atom_exchange(const Ins *in, u8 *at, u64 v, u64 b)
{
	u64 old;
	switch (type_bytes[in->type[0]]) {
		CASE(2, EXCHANGE(u16));
		CASE(4, EXCHANGE(u32));
	default:
		EXCHANGE(u64);
	}
	return old;
}

/* Element i of a vector; another operand is one element. */
static const Arg *element(const Arg *a, u32 i)
{
	return a->kind == A_VEC ? &a->list[i] : a;
}

/* atom d, [a], b{, c}; red [a], b; d and b may be vectors, whose elements are atomic one by one. */
Run run_atom(Warp *w, const Ins *in, u32 mask)
{
	bool red = in->args[0].kind == A_MEM;
	int k = red ? 0 : 1;
	const Arg *to = &in->args[0], *v = &in->args[k + 1];
	u32 n = v->kind == A_VEC ? v->n : 1, each = type_bytes[in->type[0]];
	Space space = mem_space(in);
	Place p;
	EACH_LANE(l, mask)
	{
		u64 addr = mem_address(w, &in->args[k], l);
		if (!place_at(w, in, l, space, addr, each * n, each * n, &p))
			return RUN_FAIL;
		atom_touch(w, in, l, &p, each * n);
		u64 b = has(in, M_CAS) ? GET(k + 2) : 0;
		for (u32 i = 0; i < n; i++) {
			u64 old = atom_exchange(in, p.host + i * each, arg_get(w, element(v, i), l),
						b);
			if (!red && element(to, i)->kind == A_SLOT)
				arg_set(w, element(to, i), l, old);
		}
	}
	return RUN_NEXT;
}

static u64 window_of(const Ins *in)
{
	if (has(in, M_SHARED) || has(in, M_SHARED_CTA) || has(in, M_SHARED_CLUSTER))
		return GEN_SHARED;
	if (has(in, M_LOCAL))
		return GEN_LOCAL;
	return has(in, M_PARAM) ? GEN_PARAM : 0;
}

RUN(cvta, u64 base = window_of(in); OP1(u64, has(in, M_TO) ? x[l] - base : x[l] + base))

static bool in_window(const Ins *in, u64 a, u64 base)
{
	if (!base)
		return a - GEN_SHARED >= GEN_WINDOW && a - GEN_LOCAL >= GEN_WINDOW &&
		       a - GEN_PARAM >= GEN_WINDOW;
	bool own = has(in, M_SHARED_CTA) || has(in, M_SHARED);
	return a - base < GEN_WINDOW && !(own && (a - GEN_SHARED) >> RANK_SHIFT);
}

Run run_isspacep(Warp *w, const Ins *in, u32 mask)
{
	u32 r = 0;
	EACH_BIT(r, in_window(in, GET(1), window_of(in)));
	pred_set(w, &in->args[0], mask, r);
	return RUN_NEXT;
}

/* A shared address of the own CTA as the same place in CTA rank of the cluster. */
static bool each_mapa(Warp *w, const Ins *in, u32 l)
{
	u64 base = has(in, M_SHARED_CLUSTER) ? 0 : GEN_SHARED;
	u64 a = arg_get(w, &in->args[1], l) - base;
	u64 rank = (u32)arg_get(w, &in->args[2], l);
	if (rank >= w->cluster->nctas) {
		report(w, in, (s32)l, SIM_BOUNDS, "the cluster has no CTA of rank %llu",
		       (unsigned long long)rank);
		return false;
	}
	u64 offset = a & ((UINT64_C(1) << RANK_SHIFT) - 1);
	arg_set(w, &in->args[0], l, base + ((rank + 1) << RANK_SHIFT) + offset);
	return true;
}

PER_LANE(mapa)

static u32 rank_of(const Warp *w, const Ins *in, u64 a)
{
	u64 base = has(in, M_SHARED_CLUSTER) ? 0 : GEN_SHARED;
	u32 rank = (u32)((a - base) >> RANK_SHIFT) & 0xff;
	return rank ? rank - 1 : w->cta->rank;
}

RUN(getctarank, EACH_SET(rank_of(w, in, GET(1))))
RUN(nop, )
RUN(policy, EACH_SET(UINT64_C(0x1000000000000000)))
/* Moves nothing here; of a line of global memory the address must be one. */
static bool each_prefetch(Warp *w, const Ins *in, u32 l)
{
	u64 addr = mem_address(w, &in->args[0], l);
	if (!has(in, M_GLOBAL))
		return true;
	if (!global_at(w, in, l, addr, 1, "prefetch"))
		return false;
	grid_check_read(w, in, l, addr);
	return true;
}

PER_LANE(prefetch)
