#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Whether two builds say the same of kernels: proved, refuted, which error, or not decided. Of all patterns and their bases, the
# kernels of the GPU's grid, random programs with where clauses, and the mutants of every schedule:
#   same_verdicts.sh OLD NEW [SCRATCH]       OLD and NEW are folders of release builds, e.g. build/release; 15 minutes on two cores
# Prints what differs, and a count of each kind; exits with 1 if anything that OLD proves or refutes has another answer.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
old=$(realpath "$1") new=$(realpath "$2")
scratch=${3:-$(mktemp -d)}
mkdir -p "$scratch/kernels" "$scratch/grid" "$scratch/mutants"

"$root/tests/check/pattern.sh" "$root/tests/check/patterns" "$scratch/kernels"
cp "$root"/tests/check/patterns/bases/*.ir "$scratch/kernels"
EMIT=ir "$root/tests/gpu/build_cases.sh" "$old/dslc" "$root" "$scratch/grid" >"$scratch/grid.log"
for seed in $(seq 1 200); do
	"$old/tests/random/random_sizes" --show "$seed" >"$scratch/kernels/sizes_$seed.gemm"
done

# FILE: the exit code of dslc check, and the code of its first message
verdict()
{
	code=0
	"$dslc" check "$1" >"$scratch/said" 2>&1 || code=$?
	echo "$code $(sed -n 's/.*\(error\|warning\)\[\([EW][0-9]*\)\].*/\2/p' "$scratch/said" | head -n 1)"
}

all=0 differ=0 worse=0
for file in "$scratch"/kernels/*.ir "$scratch"/kernels/*.gemm "$scratch"/grid/*.ir; do
	dslc=$old/dslc
	a=$(verdict "$file")
	dslc=$new/dslc
	b=$(verdict "$file")
	all=$((all + 1))
	[ "$a" != "$b" ] || continue
	differ=$((differ + 1))
	case $a in 4*) ;; *) worse=$((worse + 1)) ;; esac
	echo "$(basename "$file"): $a, now $b"
done
for side in "$old" "$new"; do
	"$root/tests/check/mutate.sh" "$old/dslc" "$side/tests/check/check_mutate" "$root" "$scratch/mutants" part \
		>"$scratch/mutants.$([ "$side" = "$old" ] && echo old || echo new)" || worse=$((worse + 1))
done
mutants=$(diff "$scratch/mutants.old" "$scratch/mutants.new" | grep -c '^[<>]') || true
diff "$scratch/mutants.old" "$scratch/mutants.new" || true
[ $# -gt 2 ] || rm -rf "$scratch"
echo "$all kernels, $differ differ; $mutants lines of the table of mutants differ"
[ $worse = 0 ] && [ "$mutants" = 0 ] && [ $all -gt 1000 ]
