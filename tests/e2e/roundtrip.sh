#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The IR is text at every moment: for a source and some -D, what each pass leaves prints, after it is
# read back, as it was; and the passes go on from there to the same LLVM IR, of which PTX is made: from each second pass, the
# odd ones and the even ones of each second program, or from each with EVERY=1.
#   roundtrip.sh DSLC_MANY SCRATCH LIST     LIST has a line NAME FILE [-D...] for each program     [EVERY=1 TURN=1]
set -eu
many=$1 scratch=$2 list=$3 code=$(cd "$(dirname "$0")" && pwd)/code.awk turn=${TURN:-0}
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
sed 's,\([^ ]*\) \(.*\),--emit=llvm \2 --keep=\1/ir -o \1/end.ll,' "$list" >commands
sed 's,\([^ ]*\) .*,\1/again \1/ll,' "$list" | xargs mkdir -p
"$many" <commands
rm */ir/end.*
for name in */; do
	n=0 turn=$((turn + 1))
	for file in "$name"ir/*.ir; do
		n=$((n + 1)) base=${file##*/}
		echo "--emit=ir:frontend $file -o ${name}again/$base"
		[ "${EVERY:-0}" = 1 ] || [ $(((n + turn) % 2)) = 0 ] || continue
		echo "--emit=llvm --verify=off $file -o ${name}ll/${base%.ir}.ll" # the same code is proved above
	done
	[ $n -ge 9 ] || { echo "$name: only $n files of IR" >&2; exit 1; }
done >commands
"$many" <commands
for file in */end.ll */ll/*.ll; do
	echo "$file" "$file"
done | xargs -n 10000 -x awk -f "$code"
for name in */; do
	diff -r "${name}ir" "${name}again"
	grep -q '^define ptx_kernel ' "${name}end.code" || { echo "$name has no kernel"; exit 1; }
	for file in "$name"ll/*.code; do
		cmp "${name}end.code" "$file"
	done
done
[ "$(echo */ | wc -w)" = "$(wc -l <"$list")" ] || { echo "a name stands twice in $list"; exit 1; }
