/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_staged.c - from a staging buffer to rows that TMA does not take. A row of units of 16 bytes
 * lies anywhere in memory; u is stored by its own lane, as the aligned 16 bytes that begin in it:
 *     units of the row      |0       |1       |2       |3       |
 *     aligned in memory  |0  :    |1 :     |2 :     |3 :     |4 :     |
 * Lane u > 0 stores 16 bytes of the units u - 1 and u. What is no whole 16 of 0 and of the one
 * after the last are as many elements together as a unit has: each lane stores its share. */
#include "codegen/cg.h"

enum { UNIT = 16, WORDS = UNIT / 4 };

/* One element of a buffer to tensor + element offset. */
void emit_ST_STAGED(Cg *g, const Op *op)
{
	Elem e = IN(op, TO).val->type->elem;
	unsigned bytes = (unsigned)elem_rows[e].bits / 8;
	LLVMValueRef from = cg_smem_ptr(g, IN(op, FROM), IX(op, BYTE));
	LLVMValueRef v = LLVMBuildLoad2(g->b, cg_elem(g->m, e), from, "");
	LLVMSetAlignment(v, bytes);
	LLVMSetAlignment(LLVMBuildStore(g->b, v, cg_global_ptr(g, IN(op, TO).val, IX(op, ELEMENT))),
			 bytes);
}

typedef struct {
	Cg *g;
	const Op *op;
	int bytes; /* of an element */
	LLVMValueRef unit,
		ahead;   /* ahead: bytes from the multiple of 16 at or before the row to it */
	LLVMValueRef to; /* that multiple of 16 */
	LLVMValueRef first, last;   /* units of the buffer */
	LLVMValueRef inside, whole; /* the row is; and it begins at a multiple of 16 */
} Row;

static LLVMValueRef bytes_on(Cg *g, LLVMValueRef p, LLVMValueRef bytes)
{
	return LLVMBuildGEP2(g->b, g->m->i8, p, &bytes, 1, "");
}

static LLVMValueRef times(Cg *g, LLVMValueRef x, int64_t by)
{
	return LLVMBuildMul(g->b, x, cg_int32(g, by), "");
}

static Row row_of(Cg *g, const Op *op)
{
	LLVMValueRef at = cg_global_ptr(g, IN(op, TO).val, IX(op, ELEMENT));
	LLVMValueRef low =
		LLVMBuildTrunc(g->b, LLVMBuildPtrToInt(g->b, at, g->m->i64, ""), g->m->i32, "");
	Row r = {.g = g,
		 .op = op,
		 .bytes = elem_rows[IN(op, TO).val->type->elem].bits / 8,
		 .unit = cg_i32(g, IX(op, OWN)),
		 .inside = LLVMConstInt(g->m->i1, 1, false)};
	r.ahead = LLVMBuildAnd(g->b, low, cg_int32(g, UNIT - 1), "");
	r.whole = LLVMBuildICmp(g->b, LLVMIntEQ, r.ahead, cg_int32(g, 0), "");
	r.to = bytes_on(g, at, LLVMBuildNeg(g->b, r.ahead, ""));
	r.first = cg_smem_ptr(g, IN(op, FROM), IX(op, FIRST));
	r.last = cg_smem_ptr(g, IN(op, FROM), IX(op, LAST));
	for (int i = IX_PLACE(op, COND); i < op->nix; i++)
		r.inside = LLVMBuildAnd(g->b, r.inside, cg_cond(g, op->ix[i]), "");
	return r;
}

/* ------------------------------------------------------------------ whole 16 bytes */
static void words_load(const Row *r, const Ix *byte, LLVMValueRef *out)
{
	Cg *g = r->g;
	LLVMTypeRef all = LLVMVectorType(g->m->i32, WORDS);
	LLVMValueRef from = cg_smem_ptr(g, IN(r->op, FROM), byte);
	LLVMValueRef v = LLVMBuildLoad2(g->b, all, from, "");
	LLVMSetAlignment(v, UNIT);
	for (int i = 0; i < WORDS; i++)
		out[i] = LLVMBuildExtractElement(g->b, v, cg_int32(g, i), "");
}

/* From so many words before on, where the row is so many further ahead. */
static void words_back(const Row *r, LLVMValueRef *w, int words)
{
	Cg *g = r->g;
	LLVMValueRef bit = LLVMBuildAnd(g->b, r->ahead, cg_int32(g, 4 * words), "");
	LLVMValueRef is = LLVMBuildICmp(g->b, LLVMIntNE, bit, cg_int32(g, 0), "");
	for (int i = 2 * WORDS - 1; i >= words; i--)
		w[i] = LLVMBuildSelect(g->b, is, w[i - words], w[i], "");
}

/* The words of the aligned 16 bytes that begin in the lane's unit. */
static void shifted(const Row *r, LLVMValueRef *out)
{
	Cg *g = r->g;
	LLVMValueRef w[2 * WORDS], bits = times(g, r->ahead, 8);
	words_load(r, IX(r->op, BEFORE), w);
	words_load(r, IX(r->op, BYTE), w + WORDS);
	words_back(r, w, 1);
	words_back(r, w, 2);
	for (int i = 0; i < WORDS; i++) {
		LLVMValueRef args[] = {w[WORDS + i], w[WORDS + i - 1],
				       LLVMBuildAnd(g->b, bits, cg_int32(g, 31), "")};
		out[i] = cg_call(g, "llvm.fshl.i32", g->m->i32, args, 3);
	}
}

/* By predicate, so that the loads of one unit pass the stores of another. */
static void unit_store(const Row *r)
{
	Cg *g = r->g;
	LLVMValueRef args[2 + WORDS];
	LLVMValueRef later = LLVMBuildICmp(g->b, LLVMIntNE, r->unit, cg_int32(g, 0), "");
	LLVMValueRef has = LLVMBuildOr(g->b, r->whole, later, "");
	args[0] = LLVMBuildAnd(g->b, r->inside, has, "");
	args[1] = bytes_on(g, r->to, times(g, r->unit, UNIT));
	shifted(r, args + 2);
	cg_asm(g, ASM_ACTS, g->m->tvoid, "@$0 st.global.v4.b32 [$1], {$2, $3, $4, $5};",
	       "b,l,r,r,r,r,~{memory}", args, 2 + WORDS);
}

/* ------------------------------------------------------------------ the others */
/* Byte `at` of them: after the last whole ones, or before the first. */
static void share_store(const Row *r, LLVMValueRef at, LLVMValueRef where, int units)
{
	Cg *g = r->g;
	LLVMTypeRef bits =
		LLVMIntTypeInContext(LLVMGetTypeContext(g->m->i32), (unsigned)r->bytes * 8);
	LLVMValueRef behind = LLVMBuildICmp(g->b, LLVMIntULT, at, r->ahead, "");
	LLVMValueRef in_unit =
		LLVMBuildAnd(g->b, LLVMBuildSub(g->b, at, r->ahead, ""), cg_int32(g, UNIT - 1), "");
	LLVMValueRef from = LLVMBuildSelect(g->b, behind, r->last, r->first, "");
	LLVMValueRef on =
		LLVMBuildSelect(g->b, behind, cg_int32(g, UNIT * units), cg_int32(g, 0), "");
	LLVMValueRef v = LLVMBuildLoad2(g->b, bits, bytes_on(g, from, in_unit), "");
	LLVMSetAlignment(v, (unsigned)r->bytes);
	LLVMValueRef args[] = {where, bytes_on(g, r->to, LLVMBuildAdd(g->b, on, at, "")),
			       LLVMBuildZExtOrBitCast(g->b, v, g->m->i32, "")};
	const char *text = ctx_strf(g->m->ctx, "@$0 st.global.b%d [$1], $2;", r->bytes * 8);
	cg_asm(g, ASM_ACTS, g->m->tvoid, text, "b,l,r,~{memory}", args, 3);
}

static void shares_store(const Row *r)
{
	Cg *g = r->g;
	int units = (int)attrs_int(&r->op->attrs, A_COUNT, 1), each = UNIT / r->bytes;
	LLVMValueRef some = LLVMBuildAnd(g->b, r->inside, LLVMBuildNot(g->b, r->whole, ""), "");
	LLVMValueRef at = times(g, r->unit, r->bytes);
	for (int i = 0; i < each; i += units) {
		LLVMValueRef mine =
			LLVMBuildICmp(g->b, LLVMIntULT, r->unit, cg_int32(g, each - i), "");
		share_store(r, LLVMBuildAdd(g->b, at, cg_int32(g, i * r->bytes), ""),
			    LLVMBuildAnd(g->b, some, mine, ""), units);
	}
}

void emit_ST_UNIT(Cg *g, const Op *op)
{
	Row r = row_of(g, op);
	unit_store(&r);
	shares_store(&r);
}
