#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The mutation test on each example under each schedule: minutes, so not among the tests. Prints the
# table of docs/simulator-inside.md.
#   mutate_all.sh DSLC MUTATE ROOT SCRATCH
# Each line: example, schedule, consts, sizes, deletions refuted. Exits with the number of lines
# with a survivor.
set -eu
dslc=$1 mutate=$2 root=$3 scratch=$4
export EVERY=1
bad=0
mkdir -p "$scratch"
printf '| example | schedule | refuted | of | seconds |\n|---|---|---|---|---|\n'

one()
{
	source=$1 schedule=$2 sizes=$3
	shift 3
	case $source in
	*/weights.gemm) sizes=$(echo "$sizes" | sed 's/\(.*\),\(.*\),\(.*\),\(.*\)/\4,M=\1,N=\2,K=1152,KB=9/') ;;
	esac
	start=$(date +%s)
	code=0
	"$root/tests/sim/mutate.sh" "$dslc" "$mutate" "$source" "$scratch/kernel" "$sizes" \
		"$schedule" "$@" >"$scratch/log" 2>&1 || code=$?
	[ $code = 0 ] || { bad=$((bad + 1)); sed 's/^/    /' "$scratch/log" >&2; }
	counts=$(sed -n 's/^\([0-9]*\) of \([0-9]*\) deletions refuted$/\1 | \2/p' "$scratch/log")
	printf '| %s | `%s`%s | %s | %s |\n' "$(basename "$source" .gemm)" "$schedule" \
		"${1:+ \`$1\`}" "${counts:-not run |}" $(($(date +%s) - start))
}

for source in "$root"/examples/*/*.gemm; do
	for depth in 2 3 4; do
		one "$source" "roles none; stages $depth;" 136,264,320,2
		one "$source" "roles none; persistent; stages $depth;" 136,264,320,1
		one "$source" "roles cooperative; stages $depth;" 136,264,320,2
		one "$source" "roles cooperative; persistent; stages $depth;" 136,264,320,1
		one "$source" "roles pingpong; persistent; stages $depth;" 264,264,320,1 -DbN=128
	done
	one "$source" "roles cooperative; persistent group(2) along n;" 264,264,128,1
	one "$source" "roles cooperative; inflight 0;" 136,264,320,1
	one "$source" "roles cooperative; inflight 2;" 136,264,320,1
	one "$source" "roles none; pdl off;" 136,264,320,1
	one "$source" "roles pingpong; persistent; pdl off;" 264,264,320,1 -DbN=128
done
exit $bad
