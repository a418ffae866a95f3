/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* workspace.c - what the CTAs of a tile leave for each other in memory of the launch: a row for
 * each piece of an accumulator, after those of the CTA before. CTAs of a tile are neighbours; in
 * clusters, those of the same rank of neighbouring clusters.
 *     split_k 4, pieces of 16 registers of 256 threads
 * ->  CTA 6, part 2 of tile 1: piece p in row 6 * 4 + p, 4 elements of each thread at a time */
#include "passes/epilogue/split_owners.h"
#include "passes/smem/workspace.h"

enum { UNIT = 4 /* elements of 16 bytes */ };

const Layout *layout_in_units(Ctx *c, int threads, int regs)
{
	int unit = regs % UNIT ? 1 : UNIT;
	const Tup *shape[2] = {tup_int(c, unit), tup_int(c, regs / unit)};
	const Tup *stride[2] = {tup_int(c, 1), tup_int(c, (int64_t)unit * threads)};
	const Layout *modes[2] = {
		layout_new(c, tup_int(c, threads), tup_int(c, unit)),
		layout_new(c, tup_new(c, shape, 2), tup_new(c, stride, 2)),
	};
	return layout_cat(c, modes, 2);
}

const Type *workspace_row(Ctx *c, Elem elem, int threads, int regs)
{
	int64_t all = (int64_t)threads * regs;
	return type_frag(c, elem, layout_2d(c, 1, all, all, 1), layout_in_units(c, threads, regs));
}

/* That share tiles. */
static int64_t ctas_of_group(const Kernel *k)
{
	return split_tiles(k) * split_parts(k);
}

/* So many CTAs and rows of each, of a workspace that has `rows` of each CTA. */
static const Layout *layout_of(Ctx *c, int64_t ctas, int64_t n, int64_t rows, int64_t all)
{
	const Layout *modes[3] = {layout_new(c, tup_int(c, ctas), tup_int(c, rows * all)),
				  layout_new(c, tup_int(c, n), tup_int(c, all)),
				  layout_new(c, tup_int(c, all), tup_int(c, 1))};
	return layout_cat(c, modes, 3);
}

Val *workspace_of(Kernel *k, const Type *row, int rows)
{
	Ctx *c = k->ctx;
	int64_t ctas = ctas_of_group(k), most = (SPLIT_CTAS / ctas + 1) * ctas;
	const Layout *l = layout_of(c, most, rows, rows, layout_size_int(row->layout));
	return kernel_workspace(k, "parts", type_tile(c, SP_GLOBAL, row->elem, l));
}

/* Which of the groups of CTAs that share tiles this one is in. The launch has no more. */
static const Ix *group_of(const Kernel *k)
{
	Ctx *c = k->ctx;
	const Ix *cta = ix_new(c, IX_MIN, ix_sym(c, "cta"), ix_int(k, SPLIT_CTAS - 1));
	return ix_div(c, cta, ix_int(k, ctas_of_group(k)));
}

/* Of so many parts of each tile of the group, that of this rank's; all of the grid are numbered. */
static const Ix *number_of(const Kernel *k, const Ix *group, int64_t parts, const Ix *part)
{
	Ctx *c = k->ctx;
	const Ix *tiles = ix_int(k, split_tiles(k));
	const Ix *x = ix_add(c, ix_mul(c, group, ix_int(k, parts)), part);
	return split_tiles(k) == 1 ? x : ix_add(c, ix_mul(c, x, tiles), ix_sym(c, "rank"));
}

Val *workspace_tile(Kernel *k, Block *b, Val *workspace, const Type *row, int rows, const Ix *part,
		    int piece, Loc loc)
{
	Ctx *c = k->ctx;
	Op *tile = op_append(k, b, OP_TILE, loc);
	const Ix *cta = number_of(k, group_of(k), split_parts(k), part);
	op_in(k, tile, workspace, NULL);
	op_ixs(k, tile, cta, ix_int(k, piece), ix_int(k, 0));
	const Layout *l = layout_of(c, 1, 1, rows, layout_size_int(row->layout));
	return op_result(k, tile, "t", type_tile(c, SP_GLOBAL, row->elem, l));
}

void workspace_meet(Kernel *k, Op *at, Val *workspace)
{
	const Op *launch = kernel_find(k, OP_LAUNCH);
	Op *meet = op_before(k, at, OP_PARTS_MEET);
	kernel_fact(k, ix_new(k->ctx, IX_LE, IX(launch, X), ix_int(k, SPLIT_CTAS)), "CTAs <= 2048",
		    "sums by workspace: CTAs that share tiles run at one time", at->loc);
	op_in(k, meet, workspace, NULL);
	op_ixs(k, meet, number_of(k, group_of(k), 1, ix_int(k, 0)), owner_part(k));
	op_int(k, meet, A_COUNT, split_parts(k));
}
