/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit.c - from an op to its emitter, and the emitters of control flow, names and storage. The
 * table is made of ops.def: an op of the ptx stage without an emitter does not link. */
#include "codegen/cg.h"

/* The stages as ops.def writes them. */
enum { ANY = ST_ANY, TILE = ST_TILE, WARP = ST_WARP, PTX = ST_PTX };

typedef void (*Emit)(Cg *g, const Op *op);
static const Emit emitters[OP_COUNT] = {
#define OP(id, name, stages, ...) [OP_##id] = ((stages) & PTX) ? emit_##id : NULL,
#include "ir/ops.def"
};

LLVMValueRef cg_int32(const Cg *g, int64_t v)
{
	return LLVMConstInt(g->m->i32, (uint64_t)v, true);
}

LLVMValueRef cg_call(Cg *g, const char *intrinsic, LLVMTypeRef overload, LLVMValueRef *args, int n)
{
	CgMod *m = g->m;
	unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
	if (!id)
		panic("LLVM has no %s", intrinsic);
	size_t noverload = overload ? 1 : 0;
	LLVMValueRef f = LLVMGetIntrinsicDeclaration(m->mod, id, &overload, noverload);
	LLVMTypeRef type = LLVMIntrinsicGetType(m->lc, id, &overload, noverload);
	return LLVMBuildCall2(g->b, type, f, args, (unsigned)n, "");
}

static LLVMTypeRef *types_of(Cg *g, LLVMValueRef *of, int n)
{
	LLVMTypeRef *types = NEWN(g->arena, LLVMTypeRef, n + 1);
	for (int i = 0; i < n; i++)
		types[i] = LLVMTypeOf(of[i]);
	return types;
}

LLVMTypeRef cg_types(Cg *g, LLVMValueRef *of, int n)
{
	return LLVMStructTypeInContext(g->m->lc, types_of(g, of, n), (unsigned)n, false);
}

LLVMValueRef cg_asm(Cg *g, AsmEffect effect, LLVMTypeRef result, const char *text, const char *ties,
		    LLVMValueRef *args, int n)
{
	LLVMTypeRef type = LLVMFunctionType(result, types_of(g, args, n), (unsigned)n, false);
	LLVMValueRef f =
		LLVMGetInlineAsm(type, text, strlen(text), ties, strlen(ties), effect == ASM_ACTS,
				 false, LLVMInlineAsmDialectATT, false);
	return LLVMBuildCall2(g->b, type, f, args, (unsigned)n, "");
}

LLVMBasicBlockRef cg_new_block(Cg *g, const char *name)
{
	return LLVMAppendBasicBlockInContext(g->m->lc, g->fn, name);
}

void cg_branch(Cg *g, LLVMValueRef cond, LLVMBasicBlockRef yes, LLVMBasicBlockRef no,
	       LLVMBasicBlockRef here)
{
	LLVMBuildCondBr(g->b, cond, yes, no);
	LLVMPositionBuilderAtEnd(g->b, here);
}

void cg_leave(Cg *g, LLVMBasicBlockRef to, LLVMBasicBlockRef here)
{
	LLVMBuildBr(g->b, to);
	LLVMPositionBuilderAtEnd(g->b, here);
}

void cg_goto(Cg *g, LLVMBasicBlockRef to)
{
	LLVMBuildBr(g->b, to);
	LLVMPositionBuilderAtEnd(g->b, to);
}

static void set_location(Cg *g, Loc loc)
{
	int line = 0, col = 0;
	if (loc.src < 0 || loc.src != g->k->loc.src)
		loc = g->k->loc;
	if (loc.src >= 0)
		loc_line(g->m->ctx, loc, &line, &col);
	LLVMMetadataRef at = LLVMDIBuilderCreateDebugLocation(g->m->lc, (unsigned)line,
							      (unsigned)col, g->sub, NULL);
	LLVMSetCurrentDebugLocation2(g->b, at);
}

static bool in_role(const Op *op)
{
	return op && op->kind == OP_ROLE;
}

static void emit_ops(Cg *g, const Block *b)
{
	for (const Op *op = b->first; op; op = op->next) {
		if (in_role(op) && in_role(op->prev))
			continue; /* emitted with the first of the chain */
		if (!emitters[op->kind])
			panic("%s in the ptx stage", op_rows[op->kind].name);
		g->op = op;
		set_location(g, op->loc);
		emitters[op->kind](g, op);
	}
}

void cg_block(Cg *g, const Block *b)
{
	Mark mark = cg_mark(g);
	emit_ops(g, b);
	cg_release(g, mark);
}

/* ------------------------------------------------------------------ control flow */
LLVMValueRef cg_global_ptr(Cg *g, const Val *tensor, const Ix *offset)
{
	LLVMTypeRef elem = cg_elem(g->m, tensor->type->elem);
	Sum s = cg_split(g, offset);
	LLVMValueRef p = cg_val(g, tensor)->reg[0], at = cg_sum(g, &s, 64);
	if (at)
		p = LLVMBuildGEP2(g->b, elem, p, &at, 1, "");
	LLVMValueRef rest = LLVMConstInt(g->m->i64, (uint64_t)s.constant, true);
	return s.constant ? LLVMBuildGEP2(g->b, elem, p, &rest, 1, "") : p;
}

static LLVMValueRef global_address(Cg *g, const Op *op)
{
	const Operand *tensor = op->kind == OP_ST_GLOBAL ? &IN(op, TO) : &IN(op, FROM);
	return cg_global_ptr(g, tensor->val, IX(op, ELEMENT));
}

static void body_if(Cg *g, LLVMValueRef cond, const Block *body)
{
	LLVMBasicBlockRef yes = cg_new_block(g, "then"), after = cg_new_block(g, "after");
	cg_branch(g, cond, yes, after, yes);
	cg_block(g, body);
	cg_goto(g, after);
}

/* Where a store goes is computed before the test, once for all stores that share it: in an unrolled
 * epilogue the tests dominate each other and their bodies do not. */
static void addresses_first(Cg *g, const Block *body)
{
	for (const Op *op = body->first; op; op = op->next)
		if (op->kind == OP_ST_GLOBAL || op->kind == OP_LD_GLOBAL)
			global_address(g, op);
}

void emit_IF(Cg *g, const Op *op)
{
	addresses_first(g, op->body);
	LLVMValueRef all = LLVMConstInt(g->m->i1, 1, false);
	for (int i = 0; i < op->nix; i++) {
		LLVMValueRef c = cg_cond(g, op->ix[i]);
		all = i ? LLVMBuildAnd(g->b, all, c, "") : c;
	}
	body_if(g, all, op->body);
}

void emit_ELECT(Cg *g, const Op *op)
{
	LLVMValueRef mask = cg_int32(g, -1), r;
	if (!target_has(g->k->target, FT_ELECT)) {
		r = LLVMBuildICmp(g->b, LLVMIntEQ, cg_lane(g), cg_int32(g, 0), "");
		body_if(g, r, op->body);
		return;
	}
	r = cg_call(g, "llvm.nvvm.elect.sync", NULL, &mask, 1);
	body_if(g, LLVMBuildExtractValue(g->b, r, 1, ""), op->body);
}

static void unrolled(Cg *g, const Op *op)
{
	int64_t from, to, hi;
	cg_range(g, IX(op, FROM), &from, &hi);
	cg_range(g, IX(op, TO), &to, &hi);
	if (to != hi)
		panic("for %s is unrolled but its end is not constant", op->sym[0]);
	for (int64_t i = from; i < to; i++) {
		Mark mark = cg_mark(g);
		cg_bind_name(g, op->sym[0], (IxFact){.lo = i, .hi = i, .div = 1}, cg_int32(g, i));
		cg_block(g, op->body);
		cg_release(g, mark);
	}
}

/* A loop while it is made: from < to is tested before it, i + 1 < to at its end. */
typedef struct {
	LLVMBasicBlockRef before, body, after;
	LLVMTypeRef type;
	LLVMValueRef to, i;
	const Ix *end;
	IxFact fact; /* of i */
	Mark mark;
} Loop;

static Loop loop_open(Cg *g, const Op *op)
{
	Loop l;
	int64_t lo, hi, none;
	bool narrow = cg_fits32(g, IX(op, FROM)) && cg_fits32(g, IX(op, TO));
	LLVMValueRef from = narrow ? cg_i32(g, IX(op, FROM)) : cg_i64(g, IX(op, FROM));
	l.type = narrow ? g->m->i32 : g->m->i64;
	l.to = narrow ? cg_i32(g, IX(op, TO)) : cg_i64(g, IX(op, TO));
	cg_range(g, IX(op, FROM), &lo, &none);
	cg_range(g, IX(op, TO), &none, &hi);
	l.fact = (IxFact){.lo = lo, .hi = hi == INT64_MAX ? hi : hi - 1, .div = 1};
	l.end = IX(op, TO);
	l.before = LLVMGetInsertBlock(g->b);
	l.body = cg_new_block(g, "loop");
	l.after = cg_new_block(g, "done");
	LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntSLT, from, l.to, ""), l.body, l.after);
	LLVMPositionBuilderAtEnd(g->b, l.body);
	l.i = LLVMBuildPhi(g->b, l.type, op->sym[0]);
	LLVMAddIncoming(l.i, &from, &l.before, 1);
	l.mark = cg_mark(g);
	return l;
}

/* Whether the body runs at all; if so, it has the loop's name. */
static bool loop_runs(Cg *g, const Loop *l, const Op *op)
{
	if (l->fact.hi < l->fact.lo)
		return false;
	cg_bind_name(g, op->sym[0], l->fact, l->i);
	return true;
}

static void loop_body(Cg *g, const Loop *l, const Op *op)
{
	if (loop_runs(g, l, op))
		cg_block(g, op->body);
}

static LLVMValueRef loop_close(Cg *g, const Loop *l)
{
	cg_release(g, l->mark);
	LLVMValueRef next = LLVMBuildNSWAdd(g->b, l->i, LLVMConstInt(l->type, 1, false), "");
	LLVMBasicBlockRef last = LLVMGetInsertBlock(g->b);
	LLVMAddIncoming(l->i, &next, &last, 1);
	LLVMValueRef to = !cg_varies(g, l->end)  ? l->to
			  : l->type == g->m->i32 ? cg_i32(g, l->end)
						 : cg_i64(g, l->end);
	LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntSLT, next, to, "");
	LLVMValueRef back = LLVMBuildCondBr(g->b, more, l->body, l->after);
	LLVMPositionBuilderAtEnd(g->b, l->after);
	return back;
}

/* On the branch back: a node whose first operand is itself, and the words for ptxas, which else
 * unrolls short loops and computes early what all their rounds need. */
static void keep_rolled(Cg *g, LLVMValueRef branch)
{
	static const char words[] = "llvm.loop.unroll.disable";
	LLVMContextRef lc = g->m->lc;
	LLVMMetadataRef word = LLVMMDStringInContext2(lc, words, sizeof words - 1);
	LLVMMetadataRef self = LLVMTemporaryMDNode(lc, NULL, 0);
	LLVMMetadataRef both[2] = {self, LLVMMDNodeInContext2(lc, &word, 1)};
	LLVMMetadataRef loop = LLVMMDNodeInContext2(lc, both, 2);
	LLVMMetadataReplaceAllUsesWith(self, loop);
	LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(lc, "llvm.loop", 9),
			LLVMMetadataAsValue(lc, loop));
}

static LLVMValueRef simple_i32(Cg *g, const Ix *x)
{
	return cg_i32(g, ix_simplify(g->m->ctx, x, (IxFacts){.at = g->facts.at, .n = g->facts.n}));
}

/* A value carried by a loop: from before it, and from the end of its body. */
static LLVMValueRef carried(Cg *g, const Loop *l, const char *name, LLVMValueRef from)
{
	LLVMValueRef phi = LLVMBuildPhi(g->b, LLVMTypeOf(from), name);
	LLVMBasicBlockRef before = l->before;
	LLVMAddIncoming(phi, &from, &before, 1);
	return phi;
}

static void carry(Cg *g, LLVMValueRef phi, LLVMValueRef next)
{
	LLVMBasicBlockRef last = LLVMGetInsertBlock(g->b);
	LLVMAddIncoming(phi, &next, &last, 1);
}

enum { MOST_CARRIED = 16 };

static void looped(Cg *g, const Op *op)
{
	LLVMValueRef start[MOST_CARRIED], phi[MOST_CARRIED];
	if (op->nsym > MOST_CARRIED)
		panic("for %s carries %d numbers", op->sym[0], op->nsym - 1);
	for (int i = 1; i < op->nsym; i++)
		start[i] = cg_i64(g, for_start(op, i));
	Loop l = loop_open(g, op);
	for (int i = 1; i < op->nsym; i++) {
		phi[i] = carried(g, &l, op->sym[i], start[i]);
		cg_bind_name(g, op->sym[i], (IxFact){.lo = INT64_MIN, .hi = INT64_MAX, .div = 1},
			     phi[i]);
	}
	Mark mark = cg_mark(g);
	bool runs = loop_runs(g, &l, op);
	if (runs)
		emit_ops(g, op->body);
	for (int i = 1; i < op->nsym; i++) {
		LLVMValueRef step =
			runs ? cg_i64(g, for_step(op, i)) : cg_i64(g, ix_const(g->m->ctx, 0));
		carry(g, phi[i], LLVMBuildAdd(g->b, phi[i], step, ""));
	}
	cg_release(g, mark);
	LLVMValueRef back = loop_close(g, &l);
	if (attrs_get(&op->attrs, A_UNROLL))
		keep_rolled(g, back);
}

enum { MOST_AGO = 2 };

/* The slot n iterations ago, as the IR writes it. */
static const Ix *slot_ago(Ctx *c, const Ix *slot, int64_t slots, int n)
{
	return ix_mod(c, ix_add(c, slot, ix_const(c, slots - n)), ix_const(c, slots));
}

/* Slot and phase are carried: one more, and at the ring's end back to 0 with the phase turned. So
 * are the slots of the last iterations, which are given back now: tensor cores wait for arithmetic
 * between a wgmma.wait and the next wgmma. */
void emit_FOR_RING(Cg *g, const Op *op)
{
	Ctx *c = g->m->ctx;
	int64_t slots = attrs_int(&op->attrs, A_SLOTS, 1);
	const Ix *n = ix_const(c, slots), *two = ix_const(c, 2),
		 *base = ix_mod(c, IX(op, OFFSET), n);
	LLVMValueRef slot0 = simple_i32(g, base), ago0[MOST_AGO + 1], ago[MOST_AGO + 1];
	LLVMValueRef phase0 = simple_i32(g, ix_mod(c, ix_div(c, IX(op, OFFSET), n), two));
	int nago = slots > MOST_AGO ? MOST_AGO : 0;
	for (int i = 1; i <= nago; i++)
		ago0[i] = simple_i32(g, slot_ago(c, base, slots, i));
	Loop l = loop_open(g, op);
	LLVMValueRef slot = ago[0] = carried(g, &l, op->sym[1], slot0);
	LLVMValueRef phase = carried(g, &l, op->sym[2], phase0);
	for (int i = 1; i <= nago; i++)
		ago[i] = carried(g, &l, "ago", ago0[i]);
	cg_bind_name(g, op->sym[1], (IxFact){.lo = 0, .hi = slots - 1, .div = 1}, slot);
	cg_bind_name(g, op->sym[2], (IxFact){.lo = 0, .hi = 1, .div = 1}, phase);
	for (int i = 1; i <= nago; i++)
		cg_bind_term(g, slot_ago(c, ix_sym(c, op->sym[1]), slots, i), ago[i]);
	loop_body(g, &l, op);
	LLVMValueRef more = LLVMBuildNUWAdd(g->b, slot, cg_int32(g, 1), "");
	LLVMValueRef end = LLVMBuildICmp(g->b, LLVMIntEQ, more, cg_int32(g, slots), "");
	LLVMValueRef turn = LLVMBuildZExt(g->b, end, g->m->i32, "");
	carry(g, phase, LLVMBuildXor(g->b, phase, turn, ""));
	carry(g, slot, LLVMBuildSelect(g->b, end, cg_int32(g, 0), more, ""));
	for (int i = 1; i <= nago; i++)
		carry(g, ago[i], ago[i - 1]);
	loop_close(g, &l);
}

void emit_FOR(Cg *g, const Op *op)
{
	if (attrs_int(&op->attrs, A_UNROLL, 0))
		unrolled(g, op);
	else
		looped(g, op);
}

static void narrow(Cg *g, const char *name, int64_t lo, int64_t hi)
{
	name = ctx_str(g->m->ctx, name);
	LLVMValueRef v = cg_find_name(g, name);
	if (v)
		cg_bind_name(g, name, (IxFact){.lo = lo, .hi = hi, .div = 1}, v);
}

/* In a role the warp's number is known to be one of the role's, and so is the thread's. */
static void role_body(Cg *g, const Op *op, int64_t first, int64_t warps)
{
	Mark mark = cg_mark(g);
	narrow(g, "warp", first, first + warps - 1);
	narrow(g, "tid", first * 32, (first + warps) * 32 - 1);
	cg_block(g, op->body);
	cg_release(g, mark);
}

/* A warp has one role: role after role is a chain of else-ifs. */
void emit_ROLE(Cg *g, const Op *op)
{
	LLVMBasicBlockRef end = cg_new_block(g, "end");
	LLVMValueRef warp = cg_name(g, ctx_str(g->m->ctx, "warp"));
	for (; in_role(op); op = op->next) {
		int64_t first = attrs_int(&op->attrs, A_FIRST, 0);
		int64_t warps = attrs_int(&op->attrs, A_WARPS, 1);
		LLVMValueRef rel = LLVMBuildSub(g->b, warp, cg_int32(g, first), "");
		LLVMValueRef mine = LLVMBuildICmp(g->b, LLVMIntULT, rel, cg_int32(g, warps), "");
		LLVMBasicBlockRef role = cg_new_block(g, op->nsym ? op->sym[0] : "role");
		LLVMBasicBlockRef other = cg_new_block(g, "else");
		cg_branch(g, mine, role, other, role);
		role_body(g, op, first, warps);
		cg_leave(g, end, other);
	}
	cg_goto(g, end);
}

/* x, from the lane that has it: what exchanges values between lanes is never moved. */
LLVMValueRef cg_pinned(Cg *g, LLVMValueRef x)
{
	return cg_of_lane(g, x, cg_call(g, "llvm.nvvm.read.ptx.sreg.laneid", NULL, NULL, 0));
}

void emit_LET(Cg *g, const Op *op)
{
	const Ix *x = IX(op, VALUE);
	IxFact fact = {.div = ix_divisor(x, (IxFacts){.at = g->facts.at, .n = g->facts.n})};
	cg_range(g, x, &fact.lo, &fact.hi);
	fact.div = fact.div > 0 ? fact.div : 1;
	bool here = attrs_get(&op->attrs, A_HERE);
	LLVMValueRef v = here || cg_fits32(g, x) ? cg_i32(g, x) : cg_i64(g, x);
	cg_bind_name(g, op->sym[0], fact, here ? cg_pinned(g, v) : v);
}

/* ------------------------------------------------------------------ storage */

/* Parameters and places in shared memory are known without an instruction. */
void emit_LAUNCH(Cg *g, const Op *op)
{
	(void)g, (void)op;
}

void emit_SHARED(Cg *g, const Op *op)
{
	(void)g, (void)op;
}

void emit_MBARRIER(Cg *g, const Op *op)
{
	(void)g, (void)op;
}

/* Floats of 8 bits are integers to LLVM. */
static LLVMValueRef constant_of(LLVMTypeRef type, Elem e, double x)
{
	uint64_t bits = 0;
	if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
		return LLVMConstReal(type, x);
	if (!elem_is_float(e))
		return LLVMConstInt(type, (uint64_t)(int64_t)x, true);
	elem_put(e, &bits, 0, x);
	return LLVMConstInt(type, bits, false);
}

void emit_CONST(Cg *g, const Op *op)
{
	Elem e = op->out->type->elem;
	LLVMTypeRef type = cg_elem(g->m, e);
	const Attr *a = attrs_get(&op->attrs, A_VALUE);
	Bound *v = cg_bind(g, op->out, 1, type);
	v->reg[0] = constant_of(type, e, a ? a->real : 0);
}

/* One variable a register, all in the entry block, so that they become registers. */
/* Whether the mma's registers are words: of wgmma the accumulator's, of a warp's all. */
static bool takes_words(const Op *op, const Val *v)
{
	int n = op->kind == OP_WGMMA ? 1 : op->kind == OP_MMA_SYNC ? op->nin : 0;
	for (int i = 0; i < n; i++)
		if (op->in[i].val == v)
			return true;
	return false;
}

/* Loaded by pairs and only converted: the conversion takes them from what was loaded. */
static bool is_by_pairs(const Op *frag)
{
	Elem e = frag->out->type->elem;
	bool pairs = cg_widens(e);
	for (const Op *op = frag; op && pairs; op = op_next(op))
		for (int i = 0; i < op->nin; i++)
			pairs &= op->in[i].val != frag->out || op->kind == OP_CVT ||
				 (op->kind == OP_LD_SHARED && attrs_int(&op->attrs, A_N, 1) == 2);
	return pairs;
}

/* wgmma's A that other values are moved to, as from one iteration to the next. */
static bool is_carried_operand(const Op *frag)
{
	bool read = false, moved = false;
	for (const Op *op = frag; op; op = op_next(op)) {
		read |= op->kind == OP_WGMMA && IN(op, A).val == frag->out;
		moved |= op->kind == OP_MOVE && IN(op, TO).val == frag->out;
	}
	return read && moved;
}

/* 0: each is by itself. */
static int elements_of_word(const Op *frag)
{
	int per = 32 / elem_rows[frag->out->type->elem].bits;
	if (is_by_pairs(frag))
		return 2;
	if (per > 1 && is_carried_operand(frag))
		return per;
	for (const Op *op = per > 1 ? frag : NULL; op; op = op_next(op))
		if (takes_words(op, frag->out))
			return per;
	return 0;
}

void emit_FRAG(Cg *g, const Op *op)
{
	Bound *v =
		cg_bind(g, op->out, type_regs(op->out->type), cg_elem(g->m, op->out->type->elem));
	LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
	v->packed = elements_of_word(op);
	LLVMPositionBuilderAtEnd(g->b, g->entry);
	for (int i = 0; i < cg_words(v); i++)
		v->reg[i] = LLVMBuildAlloca(g->b, cg_word_type(g, v), "");
	v->mutable = true;
	LLVMPositionBuilderAtEnd(g->b, here);
	for (int i = 0; i < cg_words(v); i++) /* nothing is left of an earlier iteration's */
		cg_set_word(g, v, i, LLVMGetUndef(cg_word_type(g, v)));
}

/* Whether wgmma reads the registers after the fill: constants would move after its fence. */
static bool is_accumulated(const Op *fill)
{
	for (const Op *op = op_next(fill); op; op = op_next(op))
		if (op->kind == OP_WGMMA && IN(op, TO).val == IN(fill, TO).val)
			return true;
	return false;
}

/* x in a register, from here on. */
static LLVMValueRef settled(Cg *g, LLVMValueRef x)
{
	LLVMTypeRef of = LLVMTypeOf(x);
	return cg_asm(g, ASM_ACTS, of, "mov.b32 $0, $1;", of == g->m->i32 ? "=r,r" : "=f,f", &x, 1);
}

/* The register that is named, where one of the conditions holds. */
static void fill_where(Cg *g, const Op *op, const Bound *v, LLVMValueRef value)
{
	int reg = cg_first_register(g, &IN(op, TO));
	LLVMValueRef some = cg_cond(g, IX(op, COND));
	for (int i = 1; i < op->nix; i++)
		some = LLVMBuildOr(g->b, some, cg_cond(g, op->ix[i]), "");
	cg_set_reg(g, v, reg, LLVMBuildSelect(g->b, some, value, cg_reg(g, v, reg), ""));
}

void emit_FILL(Cg *g, const Op *op)
{
	const Attr *a = attrs_get(&op->attrs, A_VALUE);
	const Bound *v = cg_val(g, IN(op, TO).val);
	double x = a ? a->real : 0;
	LLVMValueRef value = constant_of(v->type, IN(op, TO).val->type->elem, x);
	bool settles = is_accumulated(op);
	if (v->packed) {
		LLVMValueRef all[] = {value, value, value, value};
		value = LLVMConstBitCast(LLVMConstVector(all, (unsigned)v->packed), g->m->i32);
	}
	if (IN(op, TO).at)
		fill_where(g, op, v, value);
	for (int i = 0; i < cg_words(v) && !IN(op, TO).at; i++)
		cg_set_word(g, v, i, settles ? settled(g, value) : value);
}

int cg_first_register(Cg *g, const Operand *regs)
{
	int64_t first = 0, hi = 0;
	if (regs->at)
		cg_range(g, regs->at, &first, &hi);
	if (first != hi)
		panic("%s of a register that is not constant", op_rows[g->op->kind].name);
	return (int)first;
}

/* What follows is done where the tensor has what the index names; the block after that. */
static LLVMBasicBlockRef where_index(Cg *g, const Op *op, LLVMValueRef *to)
{
	LLVMValueRef some;
	LLVMBasicBlockRef yes = cg_new_block(g, "there"), after = cg_new_block(g, "after");
	*to = cg_index_ptr(g, op, *to, &some);
	cg_branch(g, some, yes, after, yes);
	return after;
}

/* %regs[first] .. + n to or from tensor + element offset, as one access. */
void emit_ST_GLOBAL(Cg *g, const Op *op)
{
	const Bound *from = cg_val(g, IN(op, FROM).val);
	int n = (int)attrs_int(&op->attrs, A_N, 1), first = cg_first_register(g, &IN(op, FROM));
	LLVMValueRef v = combine_of(op) ? NULL : cg_vector(g, from, first, n);
	LLVMValueRef to = global_address(g, op);
	LLVMBasicBlockRef after = HAS_IN(op, INDEX) ? where_index(g, op, &to) : NULL;
	if (combine_of(op))
		cg_join(g, op, to);
	else
		LLVMSetAlignment(LLVMBuildStore(g->b, v, to),
				 (unsigned)elem_span(IN(op, TO).val->type->elem, n));
	if (after)
		cg_goto(g, after);
}

void emit_LD_GLOBAL(Cg *g, const Op *op)
{
	const Bound *to = cg_val(g, IN(op, TO).val);
	int n = (int)attrs_int(&op->attrs, A_N, 1), first = cg_first_register(g, &IN(op, TO));
	LLVMValueRef ld = LLVMBuildLoad2(g->b, cg_vector_type(g, to, n), global_address(g, op), "");
	LLVMSetAlignment(ld, (unsigned)elem_span(IN(op, FROM).val->type->elem, n));
	cg_set_vector(g, to, first, n, ld);
	if (attrs_get(&op->attrs, A_CHECKS))
		cg_check_indices(g, op);
}

void emit_LD_GATHER(Cg *g, const Op *op)
{
	const Bound *to = cg_val(g, IN(op, TO).val);
	int n = (int)attrs_int(&op->attrs, A_N, 1);
	LLVMValueRef from = global_address(g, op);
	LLVMBasicBlockRef after = where_index(g, op, &from);
	LLVMValueRef ld = LLVMBuildLoad2(g->b, cg_vector_type(g, to, n), from, "");
	LLVMSetAlignment(ld, (unsigned)elem_span(IN(op, FROM).val->type->elem, n));
	cg_set_vector(g, to, cg_first_register(g, &IN(op, TO)), n, ld);
	cg_goto(g, after);
}

/* LLVM 22.1 selects its intrinsic from sm_90 on; all targets have the instruction. */
void emit_PREFETCH_GLOBAL(Cg *g, const Op *op)
{
	LLVMValueRef at = global_address(g, op);
	cg_asm(g, ASM_ACTS, g->m->tvoid, "prefetch.global.L1 [$0];", "l", &at, 1);
}
