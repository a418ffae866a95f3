#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The build's side of the arrows: with a room's include root, each public header of each room is
# found exactly where the architecture allows it, and private headers of others never are.
#   arrows.sh ROOT BUILD CC
set -eu
root=$1 build=$2 cc=$3
status=0
asked=$(mktemp) && trap 'rm -f "$asked" "$asked.said"' EXIT

# expect ROOM yes|no HEADER...
expect()
{
	room=$1 want=$2
	shift 2
	for header in "$@"; do
		[ -f "$root/$header" ] || { echo "$header: no such header" >&2; status=1; }
		printf '#if __has_include("%s")\n"%s" yes\n#else\n"%s" no\n#endif\n' "$header" "$header" "$header"
	done >"$asked"
	"$cc" -E -P -I"$build/include/$room" -x c "$asked" >"$asked.said"
	[ "$(grep -c '' "$asked.said")" = $# ] || { echo "$room: the compiler says nothing of some headers"; status=1; }
	if grep -v " $want\$" "$asked.said" | sed "s/^/$room, must be $want: /" | grep .; then status=1; fi
}

layout='base/base.h base/ptrmap.h layout/layout.h layout/ix.h layout/banks.h layout/layout_ops.def'
ir='ir/ir.h ir/schedule.h ir/ops.def'
rest='frontend/frontend.h passes/passes.h verify/check.h codegen/codegen.h codegen/json.h codegen/spawn.h'
# shellcheck disable=SC2086
{
	for room in frontend passes verify codegen driver; do
		expect $room yes $layout $ir
	done
	expect driver yes $rest sim/watch.h runtime/dsl.h runtime/kdesc.h runtime/cost.h
	expect codegen yes runtime/kdesc.h runtime/cost.h codegen/codegen.h
	expect layout no $ir $rest runtime/number.h runtime/elem.h runtime/dsl.h
	expect ir yes $layout base/ctx.h runtime/number.h runtime/elem.h runtime/held.def
	expect ir no layout/ixp.h layout/layoutp.h $rest runtime/dsl.h runtime/kdesc.h driver/dslc.h
	expect frontend no passes/passes.h verify/check.h codegen/codegen.h runtime/dsl.h driver/dslc.h
	expect passes no verify/check.h base/ctx.h frontend/frontend.h codegen/codegen.h runtime/dsl.h driver/dslc.h
	expect verify no $(cd "$root" && ls base/ctx.h passes/*.h frontend/*.h codegen/*.h runtime/dsl.h driver/*.h)
	expect codegen no verify/check.h frontend/frontend.h passes/passes.h runtime/dsl.h driver/dslc.h
	expect runtime no $layout $ir $rest sim/watch.h sim/sim.h driver/dslc.h
	expect sim yes runtime/rt.h runtime/dsl.h runtime/number.h
	expect sim no $layout $ir $rest runtime/cu.h driver/dslc.h
	expect passes no $(cd "$root" && ls frontend/*.h codegen/*.h driver/*.h)
	expect driver no $(cd "$root" && ls frontend/*.h passes/*.h verify/*.h codegen/*.h runtime/*.h sim/*.h |
		grep -v -e frontend.h -e passes.h -e verify/check.h -e codegen.h -e json.h -e spawn.h \
			-e runtime/dsl.h -e desc.h -e number.h -e elem.h -e tensors.h -e sim/watch.h -e gpu.h -e runtime/cost.h)
}
exit $status
