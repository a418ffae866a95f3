#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Whether two builds of dslc make the same code, and the same manifest (boxes of tensor maps are only there), of the grid's kernels, the benchmark's, the soak's, and of
# every example and test program under every schedule:
#   same_ptx.sh OLD NEW [SCRATCH]        OLD and NEW are two dslc; some minutes on two cores
# Of a manifest, what names the tools and the source, the checksum and "in_place", which no old dslc wrote, are left out.
# PTX is compared after normal.pl: comments, line tables and debug sections are left out; virtual registers,
# labels and named barriers are numbered by first use. Prints each kernel that differs, and a count; exits with 1 if any does.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
old=$(realpath "$1") new=$(realpath "$2")
scratch=${3:-$(mktemp -d)}
mkdir -p "$scratch/old" "$scratch/new"

# FILE NAME -D...: one program with both
one()
{
	"$dslc" -q -Wno-N0401 --emit=ptx,manifest -o "$out/$1.ptx" "$2" $3 2>"$out/$1.log" || echo "refused: $(head -n 1 "$out/$1.log")" >"$out/$1.ptx"
	rm -f "$out/$1.log"
}

programs()
{
	for roles in none-off none-on cooperative-off cooperative-on pingpong-on; do
		schedule="-DR=${roles%-*} -DP=${roles#*-}"
		for more in "" "-DbN=96 -DS=3" "-DbN=64 -DS=6 -DI=2" "-DbN=64 -DbK=32 -DS=8" "-DCM=2 -DbN=64 -DX=slice" \
			"-DCN=2 -DbN=64 -DX=leader" "-DbN=40" "-DW=1 -DbM=64 -DbN=208"; do
			for file in "$root"/tests/e2e/schedules.gemm "$root"/tests/e2e/blend.gemm; do
				one "$(basename "$file" .gemm)$(echo "$roles$more" | tr ' =' '__')" "$file" "$schedule $more"
			done
		done
	done
	for file in "$root"/examples/*/*.gemm; do
		one "example-$(basename "$file" .gemm)" "$file" ""
	done
}

for side in old new; do
	case $side in old) dslc=$old ;; new) dslc=$new ;; esac
	out=$scratch/$side
	EMIT=ptx "$root/tests/gpu/build_cases.sh" "$dslc" "$root" "$out" >"$out.log"
	rm -rf "$out/src" "$out/jobs.txt" "$out/cases.txt"
	programs
done

differ=0 all=0
for file in "$scratch"/old/*.ptx "$scratch"/old/bench/*.ptx; do
	name=${file#"$scratch"/old/}
	all=$((all + 1))
	"$root/tests/gpu/normal.pl" "$file" >"$scratch/a"
	"$root/tests/gpu/normal.pl" "$scratch/new/$name" >"$scratch/b"
	for side in old new; do
		sed -E '/"(tool|llvm|ptxas|source|checksum|in_place)"/d; s/,$//' "$scratch/$side/${name%.ptx}.json" >"$scratch/$side.json" 2>/dev/null || true
	done
	if ! cmp -s "$scratch/old.json" "$scratch/new.json"; then
		echo "manifest of $name ($(diff "$scratch/old.json" "$scratch/new.json" | grep -c '^[<>]') lines)"
		cmp -s "$scratch/a" "$scratch/b" && differ=$((differ + 1))
	fi
	cmp -s "$scratch/a" "$scratch/b" && continue
	differ=$((differ + 1))
	echo "differs: $name ($(diff "$scratch/a" "$scratch/b" | grep -c '^[<>]') lines)"
done
[ $# -gt 2 ] || rm -rf "$scratch"
echo "$all kernels, $differ differ"
[ $differ = 0 ] && [ $all -gt 600 ]
