/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify.h - private to ir/: the verifier's parts. */
#ifndef DSL_VERIFY_H
#define DSL_VERIFY_H

#include "ir/ir.h"

/* What holds at an op: what is known of the names that are bound there, and the conditions of the
 * bodies that it stands in. */
typedef struct {
	FactList facts;
	VEC(const Ix *) guards;
} Scope;

/* verify_ops.c: the rule that the op breaks, or NULL. Counts and names are right already. `right`:
 * types of results that were found to be right at this stage. */
const char *op_rule(const Kernel *k, const Op *op, struct PtrMap *right);
const char *kernel_rule(const Kernel *k); /* of its attributes */

/* verify_regs.c: register tiles: where distributed, every element is in one register; what is
 * computed from tiles, exchanged and moved */
const char *reg_type_rule(const Kernel *k, const Type *t);
const char *elt_rule(const Kernel *k, const Op *op);
const char *const_rule(const Kernel *k, const Op *op);
const char *sizeval_rule(const Kernel *k, const Op *op);
const char *series_rule(const Kernel *k, const Op *op);
const char *scan_rule(const Kernel *k, const Op *op);
const char *reduce_rule(const Kernel *k, const Op *op);
const char *quads_rule(const Kernel *k, const Op *op);
const char *move_rule(const Kernel *k, const Op *op);
int64_t op_regs(const Kernel *k, const Op *op, int i); /* that an op touches of its i-th operand */

/* verify_access.c: whether all elements of an access to a tensor lie inside it; NULL, or why not */
const char *access_rule(Ctx *c, const Scope *s, const Op *op);
const Ix *access_index(Ctx *c); /* the name of what an access by an index has along gather= */

/* verify_boxes.c: whether a TMA box starts where the hardware can start one; NULL, or why not */
const char *box_rule(Ctx *c, const Scope *s, const Op *op);

/* verify_reach.c: whether what wgmma reads by descriptors lies in its slots; NULL, or why not */
const char *reach_rule(Ctx *c, const Scope *s, const Op *op);

/* verify_defined.c: whether each register is written before it is read; NULL, or why not and at */
const char *defined_rule(const Kernel *k, const Op **at);

#endif
