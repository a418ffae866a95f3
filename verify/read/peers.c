/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* peers.c - what CTAs of a cluster have to do with each other.
 *     tma.load .. shared=1   ->   its buffer and its barrier are reached from other CTAs
 *     ld.peer %x, %s (rank)  ->   its buffer is read from other CTAs
 */
#include "verify/read/extract.h"

bool program_goes_out(const Op *op)
{
	return op_rows[op->kind].effects & FX_PEER || (op->kind == OP_MBAR_ARRIVE && op->nix) ||
	       attrs_int(&op->attrs, A_SHARED, 0);
}

bool program_is_local(const Kernel *k, const Val *v)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		for (int i = 0; program_goes_out(op) && i < op->nin; i++)
			if (op->in[i].val == v)
				return false;
	return true;
}

int program_peers(const Kernel *k, int *ctas)
{
	const Attr *cluster = attrs_get(&k->attrs, A_CLUSTER);
	*ctas = 1;
	for (int i = 0; cluster && i < cluster->n; i++)
		*ctas *= (int)cluster->i[i];
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op->kind == OP_BAR_CLUSTER || program_goes_out(op))
			return *ctas;
	return 1;
}
