#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What explain writes is the same program: compiled again it gives the same LLVM IR, of which PTX is made, and the same
# manifest, but for source path, hash, lines and the cost of what was chosen; and explained again, but for reasons, itself.
# With EVERY=1 it is explained once more, and then the same in every letter.
#   explain.sh DSLC_MANY SCRATCH LIST     LIST has a line NAME FILE [-D...] for each program     [EVERY=1]
set -eu
many=$1 scratch=$2 list=$3 code=$(cd "$(dirname "$0")" && pwd)/code.awk
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
mkdir full again third a b
while read -r name file flags; do
	echo "explain $file $flags -o full/$name.gemm"
	echo "explain --verify=off full/$name.gemm -o again/$name.gemm"
	[ "${EVERY:-0}" != 1 ] || echo "explain --verify=off again/$name.gemm -o third/$name.gemm"
	echo "--verify=off $file $flags --emit=llvm,manifest -o a/$name"
	echo "--verify=off full/$name.gemm --emit=llvm,manifest -o b/$name"
done <"$list" >commands
"$many" <commands
[ "${EVERY:-0}" != 1 ] || diff -r again third
sed -i 's/[ 	]*\/\/:.*//; /^[ 	]*$/d' full/*.gemm again/*.gemm
diff -r full again
sed -i -e '/"source":/d' -e '/"source_hash":/d' -e 's/, line [0-9]*"/"/' a/*.json b/*.json
sed -z -i 's/,\n *"cost":{[^}]*}//g' a/*.json b/*.json
for file in a/*.ll b/*.ll; do
	echo "$file" "$file"
done | xargs -n 10000 -x awk -f "$code"
rm a/*.ll b/*.ll
grep -L '^define ptx_kernel ' a/*.code >without || true
[ ! -s without ] || { echo "there is no kernel in"; cat without; exit 1; }
diff -r a b
[ "$(echo a/*.code | wc -w)" = "$(wc -l <"$list")" ] || { echo "a name stands twice in $list"; exit 1; }
echo "$(cat a/*.code | wc -l) lines of LLVM IR"
