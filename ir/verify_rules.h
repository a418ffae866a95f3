/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_rules.h - private to verify_*.c: rules that do not fit in a row; each gives what is
 * broken, or NULL. */
#ifndef DSL_VERIFY_RULES_H
#define DSL_VERIFY_RULES_H

#include "ir/verify.h"

/* verify_attrs.c */
const char *attrs_rule(const Kernel *k, const Attrs *attrs);

/* verify_joins.c */
const char *rule_joins_in_order(const Kernel *k, const Op *op);

/* verify_groups.c */
const char *rule_ends(const Kernel *k, const Op *op);
const char *rule_groups(const Kernel *k, const Op *op);
const char *rule_grid(const Kernel *k, const Op *op);

/* verify_ops.c */
const char *rule_some(const Kernel *k, const Op *op); /* at least one index */

/* verify_inout.c */
const char *rule_in_place(const Kernel *k, const Op *op);

/* verify_inout.c: what CTAs tell each other lies in the launch's workspace */
const char *rule_workspace(const Kernel *k, const Op *op);

/* verify_regs.c */
bool is_reg(const Type *t);

/* verify_atoms.c */
const char *rule_store(const Kernel *k, const Op *op); /* and of what combine= joins to */
const char *rule_alike(const Kernel *k, const Op *op); /* operands of one shape and type */
const char *rule_mma(const Kernel *k, const Op *op);
const char *rule_tmap(const Kernel *k, const Op *op);
const char *rule_tma_load(const Kernel *k, const Op *op);
const char *rule_tma_store(const Kernel *k, const Op *op);
const char *rule_load_shared(const Kernel *k, const Op *op);
const char *rule_load_tma(const Kernel *k, const Op *op);
const char *rule_mma_sync(const Kernel *k, const Op *op);
const char *rule_wgmma(const Kernel *k, const Op *op);
const char *rule_add_to(const Kernel *k, const Op *op);
const char *rule_setmaxnreg(const Kernel *k, const Op *op);
const char *rule_vector(const Kernel *k, const Op *op);
const char *rule_load(const Kernel *k, const Op *op); /* of indices that are checked, too */
const char *rule_load_gather(const Kernel *k, const Op *op);
const char *rule_load_vector(const Kernel *k, const Op *op);
const char *rule_fill(const Kernel *k, const Op *op);
const char *rule_inside(const Kernel *k, const Op *op);
/* Whether the i-th operand names the first of as many registers as the op takes. */
const char *check_registers(const Kernel *k, const Op *op, int i);
const char *rule_matrices(const Kernel *k, const Op *op);
const char *rule_part(const Kernel *k, const Op *op);
const char *rule_staged(const Kernel *k, const Op *op);
const char *rule_unit(const Kernel *k, const Op *op);
const char *rule_launch(const Kernel *k, const Op *op);
const char *rule_tickets(const Kernel *k, const Op *op);
const char *rule_tile(const Kernel *k, const Op *op);
const char *rule_load_async(const Kernel *k, const Op *op);
const char *rule_cp_async(const Kernel *k, const Op *op);

#endif
