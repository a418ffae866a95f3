/* verify.h - private to ir/: the verifier's two halves, and the form that also says where. */
#ifndef DSL_VERIFY_H
#define DSL_VERIFY_H

#include "ir/ir.h"

bool kernel_check(const Kernel *k, const char **why, Loc *where);

/* verify_ops.c: the rule that the op breaks, or NULL. Counts and names are right already. */
const char *op_rule(const Kernel *k, const Op *op);
const char *kernel_rule(const Kernel *k); /* of its attributes */

#endif
