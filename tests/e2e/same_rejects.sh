#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# explain.sh and roundtrip.sh object to a dslc that compiles another program than it is given: of a .gemm that it wrote
# itself, or of IR, each with a change that shows nowhere but in the code; and to one that reads IR as another.
#   same_rejects.sh DSLC_MANY SCRATCH FILE
set -eu
here=$(cd "$(dirname "$0")" && pwd) scratch=$2 file=$3
export REAL="$1"
rm -rf "$scratch"
mkdir -p "$scratch"
echo "it $file" >"$scratch/list"
cat >"$scratch/liar" <<'END'
#!/bin/sh
# Of the files that it wrote itself those that $OF names are others where $WHERE stands in the command.
: >ready
while read -r line; do
	case $line in
	*"$WHERE"*)
		for at in $line; do
			case $at in
			$OF)
				[ -e "$at" ] || { "$REAL" <ready && : >ready; } || exit
				number=$((${number:-0} + 1)) to=changed.$number.${at##*.}
				sed -e "$CHANGE" "$at" >"$to"
				line=$(echo "$line" | sed "s,$at,$to,")
				break
				;;
			esac
		done
		;;
	esac
	echo "$line" >>ready
done
exec "$REAL" <ready
END
chmod +x "$scratch/liar"
# HOW OF WHERE CHANGE SAID [TURN]: it is seen
seen()
{
	export OF="$2" WHERE="$3" CHANGE="$4" TURN="${6:-0}"
	! "$here/$1.sh" "$scratch/liar" "$scratch/$1" "$scratch/list" >"$scratch/out" 2>&1 || { echo "$1.sh does not see $CHANGE"; exit 1; }
	grep -q "$5" "$scratch/out" || { echo "$1.sh, $CHANGE, says:"; cat "$scratch/out"; exit 1; }
}
for turn in 0 1; do
	seen roundtrip 'it/ir/*.ir' --emit=llvm 's/\(([0-9, ]*)\) unroll=0/\1 unroll=1/' 'end.code .* differ: ' $turn
	seen roundtrip 'it/ir/*.ir' --emit=llvm 's/wgmma.wait n=0/wgmma.wait n=1/' 'end.code .* differ: ' $turn
done
seen roundtrip 'it/ir/*.ir' --emit=ir 's/\(([0-9, ]*)\) unroll=0/\1 unroll=1/' '^diff -r it/ir/.* it/again/'
seen explain 'full/it.gemm' --emit=llvm 's/ab(4)/ab(3)/' '^diff -r a/it.code b/it.code'
seen explain 'full/it.gemm' 'explain --verify=off' 's/ab(4)/ab(3)/' '^diff -r full/it.gemm again/it.gemm'
