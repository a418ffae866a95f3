#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What explain writes is the same program: compiled again it gives the same LLVM IR, of which PTX is made, and the same
# manifest, but for source path, hash and lines; and explained again, but for reasons, itself.
# With EVERY=1 it is explained once more, and then the same in every letter.
#   explain.sh DSLC SCRATCH FILE [-D...]     [EVERY=1]
set -eu
dslc=$1 scratch=$2 file=$3 code=$(dirname "$0")/code.awk
shift 3
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

manifest()
{
	sed -e '/"source":/d' -e '/"source_hash":/d' -e 's/, line [0-9]*"/"/' "$1"
}

"$dslc" explain "$file" "$@" -o full.gemm
"$dslc" explain --verify=off full.gemm -o again.gemm
if [ "${EVERY:-0}" = 1 ]; then
	"$dslc" explain --verify=off again.gemm -o third.gemm
	cmp again.gemm third.gemm
fi
bare='s/[ 	]*\/\/:.*//; /^[ 	]*$/d'
sed -e "$bare" full.gemm >full.bare
sed -e "$bare" again.gemm | cmp full.bare -
"$dslc" --verify=off "$file" "$@" --emit=llvm,manifest -o a
"$dslc" --verify=off full.gemm --emit=llvm,manifest -o b
awk -f "$code" a.ll a.ll >a.code
grep -q '^define ptx_kernel ' a.code || { echo "a.ll has no kernel"; exit 1; }
awk -f "$code" b.ll b.ll | diff a.code -
manifest a.json >a.manifest
manifest b.json | diff a.manifest -
echo "$(wc -l <a.code) lines of LLVM IR"
