/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tensormap.c - tensor maps that a kernel makes itself: one field is replaced in shared or global
 * memory, all 128 bytes are copied to where the copies find them (PTX ISA: tensormap.replace,
 * tensormap.cp_fenceproxy).
 *   tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 1, %r2;  ->  dim[1] = %r2 - 1 */
#include "sim/lanes.h"

static bool bytes_at(Warp *w, const Ins *in, u32 lane, Space space, const Arg *a, bool write,
		     Place *p)
{
	u32 size = sizeof(TensorMap);
	if (!place_at(w, in, lane, space, mem_address(w, a, lane), size, 128, p))
		return false;
	if (write)
		w->cluster->progress = w->cluster->steps;
	place_touch(p, size, (Access){.w = w, .in = in, .lane = lane, .write = write});
	if (p->global)
		grid_check(w, in, lane);
	return true;
}

static Mod field_of(const Ins *in)
{
	static const Mod fields[] = {M_GLOBAL_ADDRESS,    M_RANK,          M_ELEMTYPE,
				     M_INTERLEAVE_LAYOUT, M_SWIZZLE_MODE,  M_FILL_MODE,
				     M_GLOBAL_DIM,        M_GLOBAL_STRIDE, M_BOX_DIM,
				     M_ELEMENT_STRIDE};
	for (u32 i = 0; i < SIM_COUNT(fields); i++)
		if (has(in, fields[i]))
			return fields[i];
	return M_NONE;
}

/* [map]{, dimension}, value */
static bool each_map_replace(Warp *w, const Ins *in, u32 l)
{
	const Arg *value = &in->args[in->nargs - 1];
	u32 along = in->nargs == 3 ? (u32)in->args[1].imm : 0;
	TensorMap m;
	Place p;
	if (!bytes_at(w, in, l, mem_space(in), &in->args[0], true, &p))
		return false;
	memcpy(&m, p.host, sizeof m);
	const char *wrong = map_set(&m, field_of(in), along, arg_get(w, value, l));
	if (wrong) {
		report(w, in, (s32)l, SIM_OPERAND, "%s: %s", in->text, wrong);
		return false;
	}
	memcpy(p.host, &m, sizeof m);
	return true;
}

PER_LANE(map_replace)

/* [to], [from], 128: once for the warp */
Run run_map_copy(Warp *w, const Ins *in, u32 mask)
{
	u32 lane = lane_first(mask);
	Place from, to;
	if (in->args[2].imm != sizeof(TensorMap)) {
		report(w, in, -1, SIM_OPERAND, "%s: 128 bytes are copied", in->text);
		return RUN_FAIL;
	}
	if (!bytes_at(w, in, lane, SP_SHARED, &in->args[1], false, &from) ||
	    !bytes_at(w, in, lane, SP_GLOBAL, &in->args[0], true, &to))
		return RUN_FAIL;
	memcpy(to.host, from.host, sizeof(TensorMap));
	return RUN_NEXT;
}
