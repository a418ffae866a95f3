/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sync_exchange.c - buffers through which the threads of a CTA tell each other what they hold:
 * generic writes by all, then generic reads by all.
 *     before a read of a position    all meet, behind the writes of it
 *     before a write of a position   nothing: of two slots or more, the one that is written was
 *                                    read before the meeting of the position ahead; of one, all
 *                                    meet, unless it is the first
 *     store.shared %sR[t] ; load.shared %sR[t]   ->   store.shared ; bar.cta ; load.shared */
#include "passes/sync.h"

void sync_exchange(Kernel *k, const Op *ring)
{
	const char *name = ring->sym[0];
	int64_t slots = attrs_int(&ring->attrs, A_SLOTS, 1);
	IxFacts facts = kernel_facts(k);
	bool written = false;
	for (Op *op = kernel_first(k); op; op = op_next(op)) {
		if (op_touches(op, name, FX_W)) {
			if (!written && slots == 1 && !on_first_lap(facts, op->in[0].at, slots))
				op_before(k, op, OP_BAR_CTA);
			written = true;
		} else if (op_touches(op, name, FX_R)) {
			if (written)
				op_before(k, op, OP_BAR_CTA);
			written = false;
		} else if (op->kind == OP_BAR_CTA) { /* of another ring */
			written = false;
		}
	}
}
