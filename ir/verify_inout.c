/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_inout.c - an output is read in place or not at all: an argument that is inout, the tile
 * that is written, in the iteration of the grid that writes it, before it is. The tiles of two
 * iterations share no element, so nobody reads what another writes, in whatever order. An input
 * that is read so may have the address of the output.
 *     %t = tile %D (m * 64, n * 64) .. ; copy %c, %t ; .. ; copy %t.1, %x     right where the two
 *     tiles are one */
#include "ir/verify_rules.h"

static const Val *root_of(const Val *v)
{
	while (v->def && (v->def->kind == OP_TILE || v->def->kind == OP_VIEW))
		v = IN(v->def, OF).val;
	return v;
}

/* Of one type and at one place: where `loop` has the value that `other` has. */
static bool same_place(const Kernel *k, const Op *x, const Op *y, const Op *loop, const Op *other)
{
	bool same = x && y && x->kind == OP_TILE && y->kind == OP_TILE && !HAS_IN(x, INDEX) &&
		    !HAS_IN(y, INDEX) && x->out->type == y->out->type &&
		    IN(x, OF).at == IN(y, OF).at && IN(x, OF).val->type == IN(y, OF).val->type &&
		    x->nix == y->nix;
	for (int i = 0; same && i < x->nix; i++) {
		const Ix *at = x->ix[i];
		if (loop != other)
			at = ix_subst(k->ctx, at, loop->sym[0], ix_sym(k->ctx, other->sym[0]));
		same = at == y->ix[i];
	}
	return same;
}

/* Of one tensor, too. */
static bool same_tile(const Kernel *k, const Op *x, const Op *y, const Op *loop, const Op *other)
{
	return same_place(k, x, y, loop, other) && IN(x, OF).val == IN(y, OF).val;
}

/* The op that writes a tile of the argument: a kernel has one; NULL: none. */
static const Op *writer_of(const Kernel *k, const Val *arg)
{
	const Op *found = NULL;
	for (const Op *op = kernel_first(k); op && !found; op = op_next(op))
		if (op->kind == OP_COPY && root_of(IN(op, TO).val) == arg)
			found = op;
	return found;
}

/* Beside the write, or in a loop that is over when the loop around the write begins. */
static bool comes_first(const Op *read, const Op *write, const Op *loop, const Op *other)
{
	if (read->block == write->block)
		return op_precedes(read, write);
	return loop && other && loop->kind == OP_FOR && other->kind == OP_FOR &&
	       loop->block == other->block && op_precedes(loop, other);
}

/* Whether each name of the grid that has several values says which tile it is. */
static const char *check_place(const Kernel *k, const Op *read, const Op *write)
{
	const Op *loop = op_parent(read), *other = op_parent(write);
	const Op *from = IN(read, FROM).val->def, *to = IN(write, TO).val->def;
	if (!comes_first(read, write, loop, other))
		return "a tile that is inout is read before it is written, beside that or in a "
		       "loop before the one that writes it";
	if (!same_tile(k, from, to, loop, other))
		return "of a tensor that is inout, the tile is read that is written";
	const char *name = tiles_share(k, read, IN(read, FROM).val);
	return name ? ctx_strf(k->ctx, "tiles that differ in '%s' are one, and inout", name) : NULL;
}

const char *rule_in_place(const Kernel *k, const Op *op)
{
	const Val *from = IN(op, FROM).val, *arg = root_of(from);
	if (k->stage != ST_TILE || from->type->space != SP_GLOBAL || arg->arg < 0 ||
	    !k->args.at[arg->arg].is_out)
		return NULL;
	if (!k->args.at[arg->arg].is_inout)
		return ctx_strf(k->ctx, "'%%%s' is an output that is not inout: it is not read",
				arg->name);
	const Op *write = writer_of(k, arg);
	return write ? check_place(k, op, write) : NULL;
}

/* ------------------------------------------------------------------ two arguments */
/* The op reads a tile into registers where, later, the output is written; and no other output after
 * that, since it might be computed from what was read. */
static bool read_before(const Kernel *k, const Op *read, const Op *write)
{
	const Val *from = IN(read, FROM).val, *to = IN(write, TO).val;
	for (const Op *op = op_next(write); op; op = op_next(op))
		if (op->kind == OP_COPY && IN(op, TO).val->type->space == SP_GLOBAL)
			return false;
	return IN(read, TO).val->type->space == SP_REG &&
	       same_place(k, from->def, to->def, NULL, NULL) && from->def->nin == 1 &&
	       to->def->nin == 1 && !combine_of(write) && write->block == read->block &&
	       op_precedes(read, write) && !tiles_share(k, read, from);
}

/* Of each output of the type, and there is one. */
static bool read_before_all(const Kernel *k, const Type *type, const Op *read)
{
	bool any = false, all = true;
	EACH(const Arg, a, k->args) {
		const Op *write = a->is_out && a->val->type == type ? writer_of(k, a->val) : NULL;
		any = any || write;
		all = all && (!write || read_before(k, read, write));
	}
	return any && all;
}

bool kernel_reads_in_place(const Kernel *k, const Val *arg)
{
	bool any = false, constant = k->args.at[arg->arg].is_constant;
	for (const Op *op = kernel_first(k); op && !constant; op = op_next(op))
		for (int i = 0; op->kind != OP_TILE && op->kind != OP_VIEW && i < op->nin; i++) {
			if (!op->in[i].val || root_of(op->in[i].val) != arg)
				continue;
			if (op->kind != OP_COPY || !read_before_all(k, arg->type, op))
				return false;
			any = true;
		}
	return any;
}

const char *rule_workspace(const Kernel *k, const Op *op)
{
	const Val *v = IN(op, SPACE).val;
	int64_t count = attrs_int(&op->attrs, A_COUNT, 0);
	if (v->arg < 0 || !k->args.at[v->arg].is_workspace)
		return ctx_strf(k->ctx, "'%%%s' is no workspace: it has no semaphores", v->name);
	return count >= 1 && count <= 65535 ? NULL : "'count' is 1 to 65535 CTAs";
}
