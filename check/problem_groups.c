/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* problem_groups.c - what dslc run puts into a tensor of the ends of groups: of normal numbers,
 * groups of random lengths, about every fourth of them empty, that have all rows; among integers
 * also ends smaller than the one before or larger than all rows, unless the kernel checks them, and
 * rows of no group.
 *     1000 rows   ->   ends: 310, 310, 640, 1000;   ends: 270, -3, 560, 875 */
#include "check/problem.h"

const Op *groups_grid(const Kernel *k)
{
	for (const Op *op = kernel_first(k); op; op = op_next(op))
		if (op->kind == OP_GRID && op->nin)
			return op;
	return NULL;
}

/* A group has all rows, at most. */
IxFact groups_length(const Problem *p, const Op *loop)
{
	return (IxFact){loop->sym[loop->nsym - 1], 0, problem_eval(p, IX(loop, ROWS)), 1};
}

bool groups_heights(const Problem *p, const Op *grid, int64_t *heights)
{
	int64_t tile = attrs_int(&grid->attrs, A_ROWS, 1),
		groups = problem_eval(p, IX(grid, GROUPS));
	*heights = problem_eval(p, IX(grid, ROWS)) / tile;
	return !attrs_get(&grid->attrs, A_COUNTS)
		       ? !__builtin_add_overflow(*heights, groups, heights)
		       : !__builtin_mul_overflow(*heights + 1, groups, heights);
}

/* What reads the list of ends. */
static const Op *reader_of(const Kernel *k)
{
	const Op *grid = groups_grid(k);
	return grid ? grid : kernel_find(k, OP_GROUPS_AT);
}

bool groups_end_by(const Problem *p, const Val *arg)
{
	const Op *reader = reader_of(p->k);
	return reader && IN(reader, ENDS).val == arg;
}

/* How long group i is, as a part of what all of them are. */
static int64_t weight(uint64_t seed, int64_t i)
{
	uint64_t draw = problem_mix(seed + (uint64_t)i) % 8;
	return draw < 2 ? 0 : (int64_t)draw;
}

/* What no list of ends should hold, nor one of counts. */
static int64_t odd_end(uint64_t draw, int64_t rows, int64_t end)
{
	return draw % 9 == 0 ? -3 : draw % 9 == 1 ? rows + 5 : end;
}

/* How many of a group's rows are used: none of some, all of some. */
static int64_t count_of(uint64_t seed, int64_t i, int64_t rows)
{
	int64_t draw = (int64_t)(problem_mix(seed + (uint64_t)i) % (uint64_t)(rows + rows / 4 + 1));
	return weight(seed, i) == 0 ? 0 : draw < rows ? draw : rows;
}

void groups_fill(const Problem *p, const Tensor *t, bool all, uint64_t seed)
{
	const Op *grid = reader_of(p->k);
	int64_t rows = problem_eval(p, IX(grid, ROWS)), sum = 0, so_far = 0;
	bool counts = attrs_get(&grid->attrs, A_COUNTS);
	for (int64_t i = 0; i < t->count; i++)
		sum += weight(seed, i);
	for (int64_t i = 0; i < t->count; i++) {
		so_far += weight(seed, i);
		double part = sum ? (double)so_far / (double)sum : 1;
		int64_t end = (int64_t)(part * (double)(all ? rows : rows - rows / 8));
		end = counts ? count_of(seed, i, rows) : end;
		if (!all && !p->check_indices)
			end = odd_end(problem_mix(seed ^ (uint64_t)(i + 1)), rows, end);
		elem_put(t->elem, t->host, i, (double)end);
	}
}
