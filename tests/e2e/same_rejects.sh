#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# explain.sh and roundtrip.sh object to a dslc that compiles another program than it is given: of a .gemm that it wrote
# itself, or of IR, each with a change that shows nowhere but in the code.
#   same_rejects.sh DSLC SCRATCH FILE
set -eu
here=$(cd "$(dirname "$0")" && pwd) scratch=$2 file=$3
export REAL="$1"
rm -rf "$scratch"
mkdir -p "$scratch"
cat >"$scratch/liar" <<'END'
#!/bin/sh
case " $* " in
*" --emit=llvm"*)
	for at; do
		case $at in *.ir | full.gemm) sed -i -e "$CHANGE" "$at" ;; esac
	done
	;;
esac
exec "$REAL" "$@"
END
chmod +x "$scratch/liar"
# HOW CHANGE [TURN]: it is seen
seen()
{
	export CHANGE="$2"
	! "$here/$1.sh" "$scratch/liar" "$scratch/$1" "$file" ${3:-} >"$scratch/out" 2>&1 || { echo "$1.sh does not see $2"; exit 1; }
	grep -q '^end.code - differ: \|^[<>] ' "$scratch/out" || { echo "$1.sh, $2, says:"; cat "$scratch/out"; exit 1; }
}
for turn in 0 1; do
	seen roundtrip 's/unroll=0/unroll=1/' $turn
	seen roundtrip 's/wgmma.wait n=0/wgmma.wait n=1/' $turn
done
seen explain 's/ab(4)/ab(3)/'
