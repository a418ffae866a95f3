/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* emit_quads.c - an accumulator's values of 8 bits as operand A has them. Lane q of four holds
 * columns 2q, 2q + 1, 2q + 8 and 2q + 9 of 16, and gets 4q .. 4q + 3: two bytes of lane 2q % 4 and
 * two of the next (PTX ISA: shfl.sync.idx, prmt).
 *     %y = quads %x : reg e4m3 ... tv A's      ->   a word: 2 shfl, prmt */
#include "codegen/cg.h"

enum { LOW = 0x5410, HIGH = 0x7632 /* two bytes of each of two words */ };

/* Whose words a lane reads, and which bytes of them: the same for all words. */
typedef struct {
	LLVMValueRef lane[2], bytes;
} Sources;

static Sources sources(Cg *g)
{
	LLVMBuilderRef b = g->b;
	LLVMValueRef lane = cg_lane(g), quad = LLVMBuildAnd(b, lane, cg_int32(g, 28), ""),
		     first = LLVMBuildAnd(b, LLVMBuildShl(b, lane, cg_int32(g, 1), ""),
					  cg_int32(g, 2), ""),
		     half = LLVMBuildAnd(b, lane, cg_int32(g, 2), ""),
		     is_low = LLVMBuildICmp(b, LLVMIntEQ, half, cg_int32(g, 0), "");
	LLVMValueRef from = LLVMBuildOr(b, quad, first, "");
	return (Sources){{from, LLVMBuildOr(b, from, cg_int32(g, 1), "")},
			 LLVMBuildSelect(b, is_low, cg_int32(g, LOW), cg_int32(g, HIGH), "")};
}

void emit_QUADS(Cg *g, const Op *op)
{
	const Bound from = *cg_val(g, IN(op, X).val);
	int reg[4], n = type_regs(op->out->type);
	Sources s = sources(g);
	Bound *to = cg_bind(g, op->out, n, from.type);
	to->bits = NEWN(g->arena, LLVMValueRef, n / 4);
	for (int w = 0; w < n / 4; w++) {
		tv_quad(from.val->type, op->out->type, w, reg);
		LLVMValueRef own = cg_pack(g, &from, reg);
		LLVMValueRef in[3] = {cg_of_lane(g, own, s.lane[0]), cg_of_lane(g, own, s.lane[1]),
				      s.bytes};
		to->bits[w] = cg_call(g, "llvm.nvvm.prmt", NULL, in, 3);
		for (int i = 0; i < 4; i++)
			to->reg[4 * w + i] = LLVMBuildTrunc(g->b,
							    LLVMBuildLShr(g->b, to->bits[w],
									  cg_int32(g, i * 8), ""),
							    from.type, "");
	}
}
