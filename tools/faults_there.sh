#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs what `tools/faults.sh pack` packed, on a machine without a compiler, one fault and generator on a core:
#   tar -xJf faults.tar.xz; cd faults; sh faults_there.sh SECONDS CORES [NAME...]
# Each generator gets 5 seconds, then 60, then SECONDS. The rows are printed, and lie under rows.out, one in a file, for
# `tools/faults.sh table`, which takes them from build/faults/results. The control, `none`, runs where it is named or all are.
set -eu
here=$(cd "$(dirname -- "$0")" && pwd)

# One row in a folder of its own, with what is common to all beside the faulty binary.
look()
{
	name=$1 generator=$2 seed=$3 text=$4 seconds=$5 said= code=0
	row=$name.$generator.$seed.row
	mkdir -p "$here/looks/$name.$generator"
	cd "$here/looks/$name.$generator"
	ln -sf "$here/texts" "$here/ir" "$here/mutated" "$here/kernels" "$here/$name/"* .
	for took in 5 60 "$seconds"; do
		[ "$took" -le "$seconds" ] || continue
		code=0
		LD_LIBRARY_PATH=$here timeout $((took + 20)) sh "$here/hours.sh" generator "$generator" "$took" "$seed" >log 2>&1 || code=$?
		[ $code = 0 ] || [ $code = 124 ] || break
	done
	case $code in
	0 | 124) said="not found in $took s" ;;
	*) said="found within $took s" ;;
	esac
	tail -n 400 log | head -c 20000 >"$here/rows.out/${row%.row}.log"
	echo "| $text | \`$generator\`, seed $seed | $said |" | tee "$here/rows.out/$row"
}

if [ "${1:-}" = look ]; then
	shift
	look "$@"
	exit
fi
[ $# -ge 2 ] || { sed -n '3,/^set/{/^set/d;s/^# //p}' "$0" >&2; exit 2; }
seconds=$1 cores=$2
shift 2
mkdir -p "$here/rows.out"
while IFS='|' read -r name generator seed text; do
	case " ${*:-$name} " in
	*" $name "*) printf '%s\0%s\0%s\0%s\0%s\0' "$name" "$generator" "$seed" "$text" "$seconds" ;;
	esac
done <"$here/rows" | xargs -0 -n 5 -P "$cores" sh "$here/faults_there.sh" look
